"""Padding of arrays that came from other libraries: filling it anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._array import Array

Dim = dict[str, Any]


def globals_of(dim: Dim, extent: int) -> np.ndarray:
    """The global indices, or labels, of what a section has along a dimension."""
    kind = dim.get("dist_type", "b")
    if kind == "u":
        return np.asarray(dim["indices"])
    local = np.arange(extent)
    if kind == "c":
        block, places = dim.get("block_size", 1), dim["proc_grid_size"]
        first: int = dim["proc_grid_rank"]
        return np.asarray(((local // block) * places + first) * block + local % block)
    return np.asarray(local + dim.get("start", 0))


def widths_of(dim: Dim) -> tuple[int, int]:
    """How much of a section is padding that others own, on the left and on the right."""
    left, right = dim.get("padding", (0, 0))
    rank, places = dim.get("proc_grid_rank", 0), dim.get("proc_grid_size", 1)
    return (left if rank > 0 else 0), (right if rank < places - 1 else 0)


def owned_of(dim: Dim, extent: int) -> slice:
    """The places of a section that it owns."""
    left, right = widths_of(dim)
    return slice(left, extent - right)


def positions_of(dims: list[Any], shapes: list[Any]) -> list[list[np.ndarray]]:
    """For every section and axis the indices in the array: labels are counted in their order."""
    all_labels: dict[int, np.ndarray] = {}
    for axis, dim in enumerate(dims[0]):
        if dim.get("dist_type") == "u":
            all_labels[axis] = np.unique(np.concatenate([one[axis]["indices"] for one in dims]))
    found = []
    for own, shape in zip(dims, shapes):
        lists = []
        for axis, (dim, extent) in enumerate(zip(own, shape)):
            indices = globals_of(dim, extent)
            if axis in all_labels:
                indices = np.searchsorted(all_labels[axis], indices)
            lists.append(indices)
        found.append(lists)
    return found


def exchange(array: Array) -> None:
    """Fills the padding of an array that came from another library."""
    brought = array._h.brought()
    if brought is None:
        return
    dims, memories = brought
    padded = [
        axis
        for axis in range(array.ndim)
        if any(widths_of(own[axis]) != (0, 0) for own in dims)
    ]
    periodic = [axis for axis in range(array.ndim) if dims[0][axis].get("periodic")]
    if (padded or periodic) and array._h.read_only:
        raise ValueError("exchange: the padding is in memory that can only be read")
    for axis in periodic:
        _turn(array, dims, axis)
    array.compute()
    if not padded:
        return
    tiles = _tiles(array, dims)
    if tiles is not None:
        for number, memory in memories:
            if number in tiles:
                _take(memory, dims[number], tiles[number])
        return
    numbers = [number for number, _ in memories]
    places = positions_of(dims, [_extents(own) for own in dims])
    for axis in padded:
        wanted = [_padding(own[axis], lists[axis]) for own, lists in zip(dims, places)]
        indices = np.unique(np.concatenate(wanted))
        if not indices.size:
            continue
        strip = _strip(array, axis, indices)
        for number, (_, memory) in zip(numbers, memories):
            _fill(memory, dims[number][axis], places[number], axis, indices, strip)


def _tiles(array: Array, dims: list[Any]) -> dict[int, np.ndarray] | None:
    """What the ranks have with their padding, if section i is that of rank i: then only neighbours
    talk. None if it is not, or if labels say nothing of neighbours.
    """
    from ._dist import Distribution

    dealt = any(dim.get("dist_type") == "u" for dim in dims[0])
    if dealt or len(dims) > array._h.world.max_ranks:
        return None
    # The outer padding of a ring belongs to the ranks at its ends, and is filled already.
    open_ends = [
        tuple({key: one for key, one in dim.items() if key != "periodic"} for dim in own) for own in dims
    ]
    wide = Distribution.from_dim_data(open_ends).exchanged()
    tiles = {}
    for rank, elements in array._h.held(wide._d):
        shape = wide._d.local_shape(rank)
        if shape is not None and 0 not in shape:
            tiles[rank] = np.frombuffer(memoryview(elements), array.dtype).reshape(shape)
    return tiles


def _take(memory: np.ndarray, dims: tuple[Dim, ...], tile: np.ndarray) -> None:
    """Writes the padding of a section, which is that of a tile."""
    for axis, (dim, extent) in enumerate(zip(dims, memory.shape)):
        left, right = widths_of(dim)
        for low, high in ((0, left), (extent - right, extent)):
            there = (*(slice(None),) * axis, slice(low, high))
            memory[there] = tile[there]


def _extents(dims: tuple[Dim, ...]) -> list[int]:
    """The shape of a section, as far as its dictionaries say it; the rest follows from them."""
    return [_extent(dim) for dim in dims]


def _extent(dim: Dim) -> int:
    kind = dim.get("dist_type", "b")
    if kind == "u":
        return len(dim["indices"])
    if kind == "b":
        return int(dim["stop"] - dim["start"])
    size, block = dim["size"], dim.get("block_size", 1)
    rank, places = dim["proc_grid_rank"], dim["proc_grid_size"]
    full = max(0, -(-(size // block - rank) // places))
    return int(block * full + (size % block if (size // block) % places == rank else 0))


def _padding(dim: Dim, indices: np.ndarray) -> np.ndarray:
    left, right = widths_of(dim)
    return np.concatenate([indices[:left], indices[len(indices) - right :]])


def _strip(array: Array, axis: int, indices: np.ndarray) -> np.ndarray:
    """What an array has at some indices of an axis, on every process."""
    import pantile

    before = (slice(None),) * axis
    breaks = np.flatnonzero(np.diff(indices) > 1) + 1
    runs = np.split(indices, breaks)
    parts = [array[(*before, slice(int(run[0]), int(run[-1]) + 1))] for run in runs]
    return np.asarray(parts[0] if len(parts) == 1 else pantile.concat(parts, axis=axis))


def _fill(
    memory: np.ndarray,
    dim: Dim,
    places: list[np.ndarray],
    axis: int,
    indices: np.ndarray,
    strip: np.ndarray,
) -> None:
    """Writes the padding of a section along an axis, wherever the other axes are."""
    left, right = widths_of(dim)
    extent = memory.shape[axis]
    local = np.concatenate([np.arange(left), np.arange(extent - right, extent)])
    if not local.size or not memory.size:
        return
    there = [np.arange(length) for length in memory.shape]
    there[axis] = local
    here = [*places]
    here[axis] = np.searchsorted(indices, places[axis][local])
    memory[np.ix_(*there)] = strip[np.ix_(*here)]


def _turn(array: Array, dims: list[Any], axis: int) -> None:
    """The outer padding of a periodic axis becomes what the far ends of the inside are."""
    line = sorted((own[axis] for own in dims), key=lambda dim: int(dim["proc_grid_rank"]))
    left, right = line[0].get("padding", (0, 0))[0], line[-1].get("padding", (0, 0))[1]
    size = array.shape[axis]
    inside = size - left - right
    if inside <= 0:
        return

    def part(first: int, count: int) -> tuple[slice, ...]:
        return (*(slice(None),) * axis, slice(first, first + count))

    # Padding may be longer than the inside: then it goes around more than once.
    for first, count in ((0, left), (size - right, right)):
        at = first
        while at < first + count:
            source = (at - left) % inside + left
            step = min(first + count - at, left + inside - source)
            array[part(at, step)] = array[part(source, step)]
            at += step
