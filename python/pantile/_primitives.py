"""Movements of tensors between partitions, each with its adjoint.

A tensor is one rank's own NumPy array. Ranks outside of the source give nothing (`None`, or any
array: it is not looked at), ranks outside of the target get an array without elements, and ranks
outside of both get a copy of what they gave.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _core
from ._dtypes import dtype_of
from ._partition import Ints, Partition, integers, team_of

Tensor = np.ndarray[Any, Any]
_Maker = Callable[[_core.Team, list[int], bool], _core.Movement]

#: Exceptions that travel by name.
_KINDS = {"TypeError": TypeError, "ValueError": ValueError}


class Primitive:
    """A movement with its adjoint."""

    __slots__ = ("_P_x", "_P_y", "_key", "_movement", "_union")
    _P_x: Partition
    _P_y: Partition
    _union: Partition
    _movement: _core.Movement | None
    #: What ranks have to agree on.
    _key: str

    def _set(self, P_x: Partition, P_y: Partition, movement: _core.Movement | None) -> None:
        self._P_x, self._P_y, self._movement = P_x, P_y, movement
        self._union = P_x if P_x is P_y else P_x.create_partition_union(P_y)
        self._key = f"{_text(P_x)} -> {_text(P_y)}"

    def __repr__(self) -> str:
        teams = f"{self._P_x}" if self._P_x is self._P_y else f"{self._P_x}, {self._P_y}"
        return f"{type(self).__name__}({teams})"

    def forward(self, x: Any = None) -> Tensor:
        """What `x` becomes. Collective among the ranks of both partitions."""
        return self._apply(x, self._P_x, back=False)

    def adjoint(self, y: Any = None) -> Tensor:
        """The adjoint of `forward`, from the target back to the source. Collective, as `forward`."""
        return self._apply(y, self._P_y, back=True)

    def _apply(self, x: Any, givers: Partition, back: bool) -> Tensor:
        if self._movement is None or not self._union.active:
            return _own(x)
        dtype, _ = self._agree(x, givers, back)
        given = _ready(x, dtype) if givers.active else np.empty(0, dtype)
        return run(self._movement, given, back)

    def _agree(self, x: Any, givers: Partition, back: bool, more: Any = None) -> tuple[str, list[Any]]:
        """The type of everybody's elements, and what else they say. What is wrong on one rank is an
        error on all of them.
        """
        says = _says(x) if givers.active else ("takes", "")
        if not isinstance(more, Exception):
            record = (*says, more)
        else:
            record = (type(more).__name__, str(more), None)
        name = f"{type(self).__name__}.{'adjoint' if back else 'forward'}"
        packed = self._union._team.gather(name, self._key, pickle.dumps(record))
        records = [pickle.loads(one) for one in packed]
        first: tuple[int, str] | None = None
        for rank, (kind, words, _) in zip(self._union.members, records):
            if kind in _KINDS:
                raise _KINDS[kind](f"{name}: rank {rank}: {words}")
            if kind == "gives" and first is None:
                first = rank, words
            if kind == "gives" and first is not None and words != first[1]:
                raise ValueError(
                    f"{name}: rank {first[0]} has elements of {first[1]}, but rank {rank} of {words}, "
                    "expected the same type"
                )
        assert first is not None  # somebody gives
        return first[1], [one[2] for one in records]


def run(movement: _core.Movement, given: Tensor, back: bool, out: Tensor | None = None) -> Tensor:
    """Moves a tensor into a new one, or into one that is there."""
    rooms: list[Tensor] = []

    def room(shape: list[int]) -> Tensor:
        rooms.append(np.empty(shape, given.dtype) if out is None else out)
        return _bytes(rooms[0])

    movement.run((given.dtype.name, list(given.shape), _bytes(given)), back, room)
    return rooms[0]


def _bytes(tensor: Tensor) -> Tensor:
    """The bytes of a contiguous tensor, without copying them."""
    return tensor.reshape(-1).view(np.uint8)


def _text(partition: Partition) -> str:
    return f"{partition.members} {partition._team.full_shape}"


def _own(x: Any) -> Tensor:
    """What a rank gets that takes no part."""
    return np.empty(0) if x is None else np.array(x, order="C")


def _says(x: Any) -> tuple[str, str]:
    """What a rank says about its tensor: its type, or what is wrong."""
    if x is None:
        return "ValueError", "got None, expected an array, because this rank is in the source"
    try:
        return "gives", dtype_of(np.asarray(x).dtype).name
    except Exception as error:
        return "TypeError", str(error)


def _ready(x: Any, dtype: str) -> Tensor:
    """A tensor as movements read it: contiguous, in the machine's order of bytes."""
    x = np.asarray(x)
    return np.asarray(x, dtype=np.dtype(dtype), order="C")


class _Grouped(Primitive):
    """Between tensors of a partition and those of a smaller one, each for a group of the larger one."""

    __slots__ = ()

    @staticmethod
    def _make(x: Any, y: Any, transpose: tuple[bool, bool], preserve_batch: bool) -> _core.Movement:
        raise NotImplementedError("made by those that know what is done within a group")

    def __init__(
        self,
        P_x: Partition,
        P_y: Partition,
        transpose_src: bool = False,
        transpose_dest: bool = False,
        preserve_batch: bool = True,
    ) -> None:
        flags = bool(transpose_src), bool(transpose_dest)
        teams = team_of(P_x), team_of(P_y)
        self._set(P_x, P_y, self._make(*teams, flags, bool(preserve_batch)))
        self._key += f" {flags}"


class Broadcast(_Grouped):
    """Copies tensors from a partition to a larger one, as `create_broadcast_partition_to` groups
    them. The adjoint sums.

    `transpose_src` and `transpose_dest` reverse the shape of a partition before the two are compared.
    With `preserve_batch`, ranks that get nothing get shape `(b, 0)`, where b is the first extent of
    what they gave; else `(0,)`.

    >>> import numpy as np
    >>> import pantile as pt
    >>> def copies():
    ...     one = pt.world().create_partition_inclusive([1])
    ...     line = pt.world().create_cartesian_topology_partition([3])
    ...     broadcast = pt.Broadcast(one, line)
    ...     y = broadcast.forward(np.array([7, 8]) if one.active else None)
    ...     return y.tolist(), broadcast.adjoint(y).tolist()
    >>> pt.spmd(copies, ranks=3)
    [([7, 8], [[], []]), ([7, 8], [21, 24]), ([7, 8], [[], []])]
    """

    __slots__ = ()

    @staticmethod
    def _make(x: Any, y: Any, transpose: tuple[bool, bool], preserve_batch: bool) -> _core.Movement:
        return _core.Movement.broadcast(x, y, transpose, preserve_batch)


class SumReduce(_Grouped):
    """Sums tensors of a partition to a smaller one, as `create_reduction_partition_to` groups them.
    The adjoint copies. Arguments are those of `Broadcast`.
    """

    __slots__ = ()

    @staticmethod
    def _make(x: Any, y: Any, transpose: tuple[bool, bool], preserve_batch: bool) -> _core.Movement:
        return _core.Movement.sum_reduce(x, y, transpose, preserve_batch)


class Repartition(Primitive):
    """Moves the blocks of an array from one partition to another, whose number of axes is that of
    the array. Blocks may come in unbalanced; they go out balanced, the larger ones first. The adjoint
    moves them back to where the last `forward` took them from.
    """

    __slots__ = ()

    def __init__(self, P_x: Partition, P_y: Partition, preserve_batch: bool = True) -> None:
        teams = team_of(P_x), team_of(P_y)
        self._set(P_x, P_y, _core.Movement.repartition(*teams, bool(preserve_batch)))


class _Along(Primitive):
    """A movement in one partition along some of its axes."""

    __slots__ = ()

    def _choose(
        self, P_x: Partition, make: _Maker, reduced: tuple[str, Ints | None], kept: Ints | None
    ) -> None:
        what, axes = reduced
        if axes is not None and kept is not None:
            raise ValueError(f"{type(self).__name__}: got {what} and axes_keep, expected one of them")
        if team_of(P_x).is_null:
            self._set(P_x, P_x, None)
            return
        chosen = axes if axes is not None else kept if kept is not None else ()
        found = integers(chosen, "axes")
        self._set(P_x, P_x, make(P_x._team, found, axes is None))
        self._key += f" {axes is None} {found}"


class AllSumReduce(_Along):
    """Sums tensors over some axes of a partition; every rank gets its sum. It is its own adjoint.

    Either `axes_reduce` are summed over, or all but `axes_keep`; negative ones count from the end.

    >>> import numpy as np
    >>> import pantile as pt
    >>> def sums():
    ...     grid = pt.world().create_cartesian_topology_partition((2, 2))
    ...     return pt.AllSumReduce(grid, axes_reduce=1).forward(np.array([grid.rank])).tolist()
    >>> pt.spmd(sums, ranks=4)
    [[1], [1], [5], [5]]
    """

    __slots__ = ()

    def __init__(
        self, P_x: Partition, axes_reduce: Ints | None = None, axes_keep: Ints | None = None
    ) -> None:
        if axes_reduce is None and axes_keep is None:
            raise ValueError("AllSumReduce: got no axes, expected axes_reduce or axes_keep")
        self._choose(P_x, _core.Movement.all_sum_reduce, ("axes_reduce", axes_reduce), axes_keep)


class AllGather(_Along):
    """Puts blocks together along some axes of a partition, whose number of axes is that of the
    tensors: every rank then has the whole along these. The adjoint sums and takes apart.

    Either along `axes_gather`, or along all but `axes_keep`; along all axes if neither is said.

    >>> import numpy as np
    >>> import pantile as pt
    >>> def whole():
    ...     line = pt.world().create_cartesian_topology_partition([2])
    ...     return pt.AllGather(line).forward(np.full(2, line.rank)).tolist()
    >>> pt.spmd(whole, ranks=2)
    [[0, 0, 1, 1], [0, 0, 1, 1]]
    """

    __slots__ = ()

    def __init__(
        self, P_x: Partition, axes_gather: Ints | None = None, axes_keep: Ints | None = None
    ) -> None:
        self._choose(P_x, _core.Movement.all_gather, ("axes_gather", axes_gather), axes_keep)


class ReduceScatter(_Along):
    """Sums tensors along some axes of a partition and leaves each rank a balanced block of the sum
    along these: the adjoint of `AllGather`.

    Either along `axes_reduce`, or along all but `axes_keep`; along all axes if neither is said.
    """

    __slots__ = ()

    def __init__(
        self, P_x: Partition, axes_reduce: Ints | None = None, axes_keep: Ints | None = None
    ) -> None:
        self._choose(P_x, _core.Movement.reduce_scatter, ("axes_reduce", axes_reduce), axes_keep)

