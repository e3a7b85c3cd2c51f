"""Global and local indices, and arrays of tiles that ranks have."""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from . import _core, _dtypes
from ._world import records_of_all, world

if TYPE_CHECKING:
    from ._array import Array
    from ._dist import Distribution

#: Replaces numbers along an axis of a rank, -1 where there is nothing.
Along = Callable[["_core.Distribution", int, int, np.ndarray], None]


def local_of(dist: Distribution, rank: int, index: Any) -> Any:
    """See `Distribution.local_of`."""
    return _translated(dist, rank, index, dist.shape, _core.local_along, wraps=True)


def global_of(dist: Distribution, rank: int, local: Any) -> Any:
    """See `Distribution.global_of`."""
    lengths = dist.local_shape(rank)
    if lengths is None:
        raise ValueError(f"rank {rank} is not on the mesh of {dist.text!r}")
    return _translated(dist, rank, local, lengths, _core.global_along, wraps=False)


def _translated(
    dist: Distribution, rank: int, index: Any, lengths: Sequence[int], along: Along, wraps: bool
) -> Any:
    alone = not isinstance(index, (tuple, list))
    numbers = [_numbers(one) for one in ([index] if alone else index)]
    if len(numbers) != len(lengths):
        raise IndexError(f"got {len(numbers)} indices, expected one for each of {len(lengths)} axes")
    found = []
    for axis, (given, length) in enumerate(zip(numbers, lengths)):
        if given.size and not (-length if wraps else 0) <= given.min() <= given.max() < length:
            raise IndexError(f"axis {axis}: got {_out_of(given, length)}, expected numbers below {length}")
        counted = np.where(given < 0, given + length, given).reshape(-1)
        along(dist._d, rank, axis, counted.view(np.uint8))
        found.append(counted.reshape(given.shape))
    if not any(one.ndim for one in found):
        places = tuple(int(one) for one in found)
        return None if -1 in places else places[0] if alone else places
    found = [one.copy() for one in np.broadcast_arrays(*found)]
    missing = np.any([one < 0 for one in found], axis=0)
    for one in found:
        one[missing] = -1
    return found[0] if alone else tuple(found)


def _numbers(given: Any) -> np.ndarray:
    numbers = np.asarray(given)
    if numbers.dtype == object and numbers.size and all(type(one) is int for one in numbers.flat):
        raise IndexError(f"got {given!r} as an index, expected numbers of 64 bits")
    if numbers.size and numbers.dtype.kind not in "iu":
        raise TypeError(f"got {given!r} as an index, expected whole numbers or arrays of them")
    return numbers.astype(np.int64)


def _out_of(given: np.ndarray, length: int) -> int:
    return int(given.max() if given.max() >= length else given.min())


# ---- arrays of tiles


def from_locals(locals: Any, /, dist: Distribution | str | SupportsIndex = 0) -> Array:
    """An array of tiles that the ranks have already: a tile for each rank that this process hosts.

    `locals` is a list in the order of ranks, a dict of tiles by rank, or, where a process has a single
    tile, the tile itself: under MPI every process gives its own. `dist` says where the tiles are in
    the array. An axis: side by side along it, in the order of ranks, and cut where tiles end. A
    `Distribution`, or its text: what each rank owns, without halos. Ranks that are missing are made where ranks are
    threads of this process.

    The elements are copied; `pt.from_distarray` shares memory instead. All tiles have one type. What
    is wrong on one process is an error on all.

    >>> import numpy as np
    >>> import pantile as pt
    >>> a = pt.from_locals([np.arange(3), np.arange(5)])
    >>> a.tolist(), len(a.sections)
    ([0, 1, 2, 0, 1, 2, 3, 4], 2)
    """
    ours = world()
    mine: dict[int, np.ndarray] = {}
    whole, axis = _whole_or_axis(dist)
    digest = _digest if whole is not None and _has_copies(whole) else lambda _: b""

    def record() -> dict[int, tuple[tuple[int, ...], str, bytes]]:
        mine.update(_tiles(locals, ours, whole))
        return {rank: (one.shape, str(one.dtype), digest(one)) for rank, one in mine.items()}

    records = {rank: one for said in records_of_all(ours, "from_locals", record) for rank, one in said.items()}
    if not records:
        raise ValueError("from_locals: got no tiles, expected at least one")
    shapes = {rank: shape for rank, (shape, _, _) in records.items()}
    dtypes = {rank: dtype for rank, (_, dtype, _) in records.items()}
    other = next((rank for rank in dtypes if dtypes[rank] != dtypes[min(dtypes)]), None)
    if other is not None:
        first = min(dtypes)
        raise TypeError(
            f"from_locals: got elements of {dtypes[other]} on rank {other} and of {dtypes[first]} on "
            f"rank {first}, expected one type"
        )
    if whole is None:
        whole = _side_by_side(shapes, axis)
    _check(whole, shapes, {rank: digest for rank, (_, _, digest) in records.items()})
    return _array(ours, mine, whole, dtypes[min(dtypes)])


def _whole_or_axis(dist: Any) -> tuple[Distribution | None, int]:
    """The distribution, if it is one or the text of one, else the axis."""
    from ._dist import Distribution

    if isinstance(dist, str):
        dist = Distribution(dist)
    if isinstance(dist, Distribution):
        return dist, 0
    try:
        return None, operator.index(dist)
    except TypeError:
        raise TypeError(f"from_locals: got dist={dist!r}, expected a Distribution or an axis") from None


def _tiles(given: Any, ours: _core.World, dist: Distribution | None) -> dict[int, np.ndarray]:
    """The tiles of this process by rank."""
    spread = len(ours.hosted) < ours.ranks
    if isinstance(given, Mapping):
        tiles = {operator.index(rank): tile for rank, tile in given.items()}
    else:
        several = isinstance(given, (list, tuple))
        tiles = dict(zip(_ranks(ours, dist, len(given) if several else 1), given if several else [given]))
        if several and len(tiles) != len(given):
            raise ValueError(f"from_locals: got {len(given)} tiles for {len(tiles)} ranks")
    wrong = [rank for rank in tiles if rank not in ours.hosted] if spread else []
    if wrong:
        raise ValueError(f"from_locals: got a tile of rank {wrong[0]}, expected those hosted here: {ours.hosted}")
    return {rank: _tile(rank, tile) for rank, tile in tiles.items()}


def _ranks(ours: _core.World, dist: Distribution | None, count: int) -> Sequence[int]:
    """The ranks of a list of tiles."""
    if dist is not None:
        ranks = sorted(dist.mesh.team)
        return ranks if len(ours.hosted) == ours.ranks else [rank for rank in ranks if rank in ours.hosted]
    return range(count) if len(ours.hosted) == ours.ranks else ours.hosted


def _tile(rank: int, given: Any) -> np.ndarray:
    tile = np.asarray(given)
    if tile.dtype.newbyteorder("=") not in _dtypes.ALL:
        raise TypeError(f"from_locals, rank {rank}: there are no arrays of type {tile.dtype}")
    return np.ascontiguousarray(tile, tile.dtype.newbyteorder("=")).reshape(tile.shape)


def _digest(tile: np.ndarray) -> bytes:
    return hashlib.blake2b(tile.tobytes(), digest_size=16).digest()


def _part(dist: Distribution, rank: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    """What a rank owns along each axis, as runs."""
    return tuple(map(tuple, dist._d.owned(rank) or ()))


def _has_copies(dist: Distribution) -> bool:
    """True if several ranks own the same elements."""
    parts = [_part(dist, rank) for rank in dist.mesh.team]
    return len({*parts}) < len(parts)


def _side_by_side(shapes: dict[int, tuple[int, ...]], axis: int) -> Distribution:
    """Tiles in the order of ranks, cut where they end."""
    from ._cuts import Block, Whole
    from ._dist import Distribution
    from ._mesh import Mesh

    ranks = sorted(shapes)
    first = shapes[ranks[0]]
    if not -len(first) <= axis < len(first):
        raise ValueError(
            f"from_locals: got axis {axis} and tiles of shape {first}, expected an axis that tiles have"
        )
    axis %= len(first)
    for rank in ranks:
        shape = shapes[rank]
        if len(shape) != len(first) or any(a != b for i, (a, b) in enumerate(zip(shape, first)) if i != axis):
            raise ValueError(
                f"from_locals: tiles of shapes {first} (rank {ranks[0]}) and {shape} (rank {rank}) do "
                f"not fit side by side along axis {axis}"
            )
    ends = np.cumsum([0] + [shapes[rank][axis] for rank in ranks])
    whole = (*first[:axis], int(ends[-1]), *first[axis + 1 :])
    team = None if ranks == [*range(len(ranks))] else ranks
    cuts = [Block("x", cuts=ends.tolist()) if i == axis else Whole() for i in range(len(whole))]
    return Distribution(whole, Mesh(len(ranks), "x", team=team), cuts)


def _check(dist: Distribution, shapes: dict[int, tuple[int, ...]], digests: dict[int, bytes]) -> None:
    """Refuses tiles that are missing, too many, of another shape, and copies that differ."""
    copies: dict[Any, int] = {}
    for rank in dist.mesh.team:
        owned = _part(dist, rank)
        expected = tuple(sum(last - first for first, last in axis) for axis in owned)
        if rank not in shapes:
            raise ValueError(f"from_locals: rank {rank} has no tile, expected one of shape {expected}")
        if shapes[rank] != expected:
            raise ValueError(f"from_locals: rank {rank}: got a tile of shape {shapes[rank]}, expected {expected}")
        first = copies.setdefault(owned, rank) if prod(expected) else rank
        if digests[first] != digests[rank]:
            raise ValueError(f"from_locals: ranks {first} and {rank} gave other elements for the same part")
    outside = next((rank for rank in shapes if dist.local_shape(rank) is None), None)
    if outside is not None:
        raise ValueError(f"from_locals: got a tile of rank {outside}, which is not on the mesh of {dist.text!r}")


def _array(ours: _core.World, mine: dict[int, np.ndarray], dist: Distribution, dtype: str) -> Array:
    from . import _dist
    from ._array import Array
    from ._creation import _with_halo

    empty = np.empty(0, np.uint8)

    def tile(rank: int, _: Any) -> np.ndarray:
        return mine[rank].reshape(-1).view(np.uint8) if rank in mine else empty

    where = _dist.text(dist, dist.shape, None, ours)
    return _with_halo(Array._of(ours.from_tiles(list(dist.shape), dtype, tile, where)), dist)
