"""Halo exchange on tensors that have room for their halos."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._halos import Halo
from ._partition import Partition, counts, team_of
from ._primitives import Primitive, Tensor, _own, _ready, run

Pair = tuple[int, int]
_Table = list[tuple[list[Pair], bool]]


class HaloExchange(Primitive):
    """Fills the halos of tensors with the neighbours' cells; the adjoint adds halo cells to the cells
    they came from, and leaves zeros in them.

    A tensor comes with room for its halos: along an axis `[left halo | own cells | right halo]`. It
    has as many axes as the partition. `halo` says how wide they are, in one of these forms:

    - a number: so wide on both sides of every axis;
    - one entry per axis (the last axes, if there are fewer): a number, a pair `(left, right)` of this
      rank, or a list of such pairs, one per coordinate on that axis. An array of shape `(axes, 2)` is
      that, too. Ranks tell each other their widths;
    - what `halos` gives: all rows, or the row of this rank.

    At the ends of an axis that is not `periodic` there is no neighbour, and no halo: whatever cells
    are there belong to the rank. Halos may be wider than the neighbour's block. `recv` and `send`,
    if given, are checked: `recv` is `halo` again, and `send` what the neighbours receive.

    With `in_place` the exchange writes into the tensor that it is given, and gives that back.

    >>> import numpy as np
    >>> import pantile as pt
    >>> def neighbours():
    ...     line = pt.world().create_cartesian_topology_partition([3])
    ...     x = np.pad([line.rank + 1] * 2, (int(line.rank > 0), int(line.rank < 2)))
    ...     return pt.HaloExchange(line, 1).forward(x).tolist()
    >>> pt.spmd(neighbours, ranks=3)
    [[1, 1, 2], [1, 2, 2, 3], [2, 3, 3]]
    """

    __slots__ = ("_in_place", "_known", "_periodic", "_says", "_sends")

    def __init__(
        self,
        P_x: Partition,
        halo: Any,
        recv: Any = None,
        send: Any = None,
        *,
        periodic: Any = False,
        in_place: bool = False,
    ) -> None:
        self._in_place = bool(in_place)
        self._known: tuple[_Table, _core.Movement] | None = None
        self._set(P_x, P_x, None)
        shape = team_of(P_x).full_shape if not team_of(P_x).is_null else []
        flags = [bool(periodic)] if np.ndim(periodic) == 0 else [bool(one) for one in periodic]
        self._periodic = flags * len(shape) if np.ndim(periodic) == 0 else flags
        if len(self._periodic) != len(shape) and shape:
            raise ValueError(f"got periodic for {len(flags)} axes, expected {len(shape)}")
        self._key += f" {self._periodic}"
        self._says: list[Pair] = []
        self._sends: list[Pair] | None = None
        if not P_x.active:
            return
        self._says = _own_widths(halo, P_x, "halo")
        if recv is not None and _own_widths(recv, P_x, "recv") != self._says:
            raise ValueError(f"got recv {recv!r}, expected it as halo is: {self._says}")
        if send is not None:
            self._sends = _own_widths(send, P_x, "send")

    def _apply(self, x: Any, givers: Partition, back: bool) -> Tensor:
        if not givers.active:
            return x if self._in_place and isinstance(x, np.ndarray) else _own(x)
        more: Any = (self._says, self._sends)
        if self._in_place and not (isinstance(x, np.ndarray) and x.flags.writeable):
            more = TypeError("in_place=True needs a NumPy array that can be written")
        dtype, told = self._agree(x, givers, back, more)
        movement = self._movement_of([widths for widths, _ in told])
        self._check_sends([sends for _, sends in told])
        given = _ready(x, dtype)
        if not self._in_place:
            return run(movement, given, back)
        if given is x:
            return run(movement, given, back, out=given)
        x[...] = run(movement, given, back)
        return x  # type: ignore[no-any-return]

    def _movement_of(self, told: list[list[Pair]]) -> _core.Movement:
        """The exchange for the widths that all ranks told; the same on each of them."""
        shape = self._P_x._team.full_shape
        table: _Table = []
        for axis, workers in enumerate(shape):
            sides: list[Pair | None] = [None] * workers
            for rank, widths in enumerate(told):
                place = self._P_x.cartesian_index(rank)[axis]
                if sides[place] not in (None, widths[axis]):
                    raise ValueError(
                        f"HaloExchange: rank {self._P_x.members[rank]} has halos {widths[axis]} on axis "
                        f"{axis}, expected {sides[place]}, as others at its coordinate {place} have"
                    )
                sides[place] = widths[axis]
            table.append(([one or (0, 0) for one in sides], self._periodic[axis]))
        if self._known is None or self._known[0] != table:
            self._known = table, _core.Movement.halo_exchange(self._P_x._team, table)
        return self._known[1]

    def _check_sends(self, told: list[list[Pair] | None]) -> None:
        """What ranks said they send is what their neighbours receive."""
        assert self._known is not None
        for rank, sends in enumerate(told):
            if sends is None:
                continue
            for axis, (sides, periodic) in enumerate(self._known[0]):
                place, count = self._P_x.cartesian_index(rank)[axis], len(sides)
                left = sides[place - 1][1] if place > 0 or periodic else 0
                right = sides[(place + 1) % count][0] if place + 1 < count or periodic else 0
                if sends[axis] != (left, right):
                    raise ValueError(
                        f"HaloExchange: rank {self._P_x.members[rank]} sends {sends[axis]} on axis "
                        f"{axis}, expected {(left, right)}, which its neighbours receive"
                    )


def _own_widths(halo: Any, P_x: Partition, what: str) -> list[Pair]:
    """Left and right width of this rank on each axis, found in any of the forms."""
    shape = P_x._team.full_shape
    axes = len(shape)
    if isinstance(halo, Halo):
        halo = _entries([halo.recv], axes) if _is_pair(halo.recv) else list(halo.recv)
    elif isinstance(halo, (list, tuple)) and halo and all(isinstance(one, Halo) for one in halo):
        halo = _of_rows(list(halo), P_x)
    if _depth(halo) == 0:
        halo = counts(halo, what) * axes
    entries = list(halo)
    line = axes == 1 and len(entries) > 1
    # On one axis the list over axes may be left out.
    if line and (_is_pair(entries) or all(_is_pair(one) for one in entries)):
        entries = [entries]
    if len(entries) > axes:
        raise ValueError(f"got {what} for {len(entries)} axes, expected {axes}, as the partition has")
    index = P_x._team.index or [0] * axes
    places = zip(_entries(entries, axes), shape, index)
    return [_side(entry, workers, place, what) for entry, workers, place in places]


def _entries(entries: list[Any], axes: int) -> list[Any]:
    return [0] * (axes - len(entries)) + entries


def _of_rows(rows: list[Halo], P_x: Partition) -> list[Any]:
    """The widths that rows of `halos` say."""
    axes, workers = len(P_x._team.full_shape), P_x._team.full_shape[-1]
    if _is_pair(rows[0].recv):
        if len(rows) != workers:
            raise ValueError(f"got {len(rows)} rows, expected {workers}, one per rank of the last axis")
        return _entries([[row.recv for row in rows]], axes)
    if len(rows) != len(P_x.members) or P_x.rank is None:
        raise ValueError(f"got {len(rows)} rows, expected {len(P_x.members)}, one per rank")
    return list(rows[P_x.rank].recv)


def _is_pair(value: Any) -> bool:
    return _depth(value) == 1 and len(value) == 2


def _depth(value: Any) -> int:
    """How many lists are in each other; lists of different lengths are no array."""
    if isinstance(value, np.ndarray):
        return value.ndim
    if not isinstance(value, (list, tuple)):
        return 0
    return 1 + max((_depth(one) for one in value), default=0)


def _side(entry: Any, workers: int, place: int, what: str) -> Pair:
    """Left and right at one coordinate of one axis."""
    if _depth(entry) == 0:
        width = counts(entry, what)[0]
        return width, width
    if _depth(entry) == 2 and len(entry) != workers:
        raise ValueError(f"got {what} for {len(entry)} workers on an axis, expected {workers}")
    pair = counts(entry[place] if _depth(entry) == 2 else entry, what)
    if len(pair) != 2:
        raise ValueError(f"got {what} {pair}, expected the left and the right width")
    return pair[0], pair[1]
