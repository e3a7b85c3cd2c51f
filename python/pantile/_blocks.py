"""Python functions on the tiles of arrays, and stencils.

Every process calls the function for the tiles of the ranks that it hosts; what it gives becomes an
array that lives where the first one does. Nothing is put together anywhere.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from . import _core, _dtypes, _halo, _shapes
from ._array import Array
from ._dist import Distribution
from ._halo import Pair
from ._sections import Section

#: What the tiles of a rank may be told to be beyond the ends of an axis.
BOUNDARIES = "none", "periodic", "reflect", "nearest"

FAILED = 255


class Tile(NamedTuple):
    """What a function gets of an array on one rank."""

    data: np.ndarray
    inner: tuple[slice, ...]  # the rank's own part of it
    key: Any  # equal for ranks that have the same: copies


Tiles = dict[int, Tile]


def map_blocks(f: Callable[..., Any], *arrays: Any, dtype: Any = None, **kwargs: Any) -> Array:
    """A function applied to the tile of each rank.

    `f` gets the tiles of all arrays as NumPy arrays, and gives one of the same shape. Arrays are
    broadcast to one shape, and live where the first one does; whatever else is among them, and
    `kwargs`, is handed over as it is. `f` is not called for ranks without elements, and once for
    ranks with copies; if nobody has elements it gets an empty tile to find out the `dtype`, unless
    that is given. What `f` gives must be of one type on all ranks.

    Where axes are cut depends on the number of ranks: a function of more than single elements may
    give other results on more ranks.

    >>> import numpy as np, pantile as pt
    >>> a = pt.arange(6, dist=0)
    >>> pt.map_blocks(lambda tile, by: tile * by, a, 2.5).tolist()
    [0.0, 2.5, 5.0, 7.5, 10.0, 12.5]
    """
    _check_function(f, "map_blocks")
    ours = _ours(arrays, "map_blocks")
    home = ours[0].dist
    tiles = [_plain_tiles(_aligned(one, home)) for one in ours]
    return _applied(f, arrays, tiles, home, (dtype, True, kwargs))


def map_overlap(
    f: Callable[..., Any],
    *arrays: Any,
    depth: Any = None,
    boundary: Any = "none",
    trim: bool = True,
    dtype: Any = None,
    **kwargs: Any,
) -> Array:
    """A function applied to the tile of each rank with cells of its neighbours around it.

    `depth`: how many cells; a number, one per axis, pairs (low, high), or some by axis:
    `{0: 1, 1: (2, 0)}`. It may also stand behind the arrays. `boundary`: what is beyond the ends of
    an axis: `"none"` (tiles end there), `"periodic"`, `"reflect"` (mirrored, the last cell
    included), `"nearest"`, or a number; or one of these per axis. `f` gives an array of the shape of
    what it gets, of which the cells around are cut off (`trim`), or one of the shape of its rank's
    own part. All else is as in `map_blocks`.

    A function that looks at cells up to `depth` away gives the same on any number of ranks. Axes
    with a depth that are not cut in blocks are so afterwards.

    >>> import numpy as np, pantile as pt
    >>> a = pt.arange(6.0, dist=0)
    >>> pt.map_overlap(lambda tile: tile[2:] - tile[:-2], a, 1, boundary="periodic").tolist()
    [-4.0, 2.0, 2.0, 2.0, 2.0, -4.0]
    """
    _check_function(f, "map_overlap")
    arrays, depth, boundary = _split(arrays, depth, boundary)
    ours = _ours(arrays, "map_overlap")
    widths = _halo.widths_of(depth, ours[0].ndim, "depth", by_axis=True)
    modes = _modes(boundary, ours[0].ndim)
    for one in ours:
        _check_numbers(modes, one.dtype)
    home = _in_blocks(ours[0].dist, widths)
    tiles = [_wide_tiles(_aligned(one, home), home, widths, modes) for one in ours]
    return _applied(f, arrays, tiles, home, (dtype, trim, kwargs))


def stencil(
    a: Array,
    points: Mapping[Any, float] | Iterable[tuple[Any, float]],
    boundary: Any = "zero",
) -> Array:
    """Neighbours times weights, added up in the order of the points; recorded, not run yet.

    `points`: offsets (a number, or one per axis) with their weights. `boundary`: what is beyond the
    ends: `"zero"` or `"periodic"`. Whole numbers become `float64`.

    >>> import pantile as pt
    >>> pt.stencil(pt.arange(5.0), {-1: 1.0, 1: -1.0}).tolist()
    [-1.0, -2.0, -2.0, -2.0, 3.0]
    """
    if not isinstance(a, Array):
        raise TypeError(f"got {type(a).__name__}, expected an array of pantile")
    if not (isinstance(boundary, str) and boundary in ("zero", "periodic")):
        if isinstance(boundary, str) or boundary != 0:
            raise ValueError(f'got boundary={boundary!r}, expected "zero" or "periodic"')
    given = points.items() if isinstance(points, Mapping) else points
    listed = [_point(point, a.ndim) for point in given]
    if not listed:
        raise ValueError("got no points, expected offsets with weights")
    if a.dtype.kind == "c":
        lanes = (Array._of(a._h.unary(name)) for name in ("real", "imag"))
        real, imag = (stencil(lane, listed, boundary) for lane in lanes)
        return (real + imag * 1j).astype(a.dtype)
    handle = a._h if a.dtype.kind == "f" else a._h.cast("float64")
    return Array._of(handle.stencil(listed, isinstance(boundary, str) and boundary == "periodic"))


def _point(point: Any, ndim: int) -> tuple[list[int], float]:
    sentence = f"got the point {point!r}, expected ({ndim} offsets, weight)"
    try:
        by, weight = point
        offsets = [operator.index(one) for one in (by if isinstance(by, (tuple, list)) else (by,))]
        found = float(weight)
    except (TypeError, ValueError):
        raise ValueError(sentence) from None
    if len(offsets) != ndim:
        raise ValueError(sentence)
    return offsets, found


# ---------------------------------------------------------------------------------------- arguments


def _split(arrays: tuple[Any, ...], depth: Any, boundary: Any) -> tuple[tuple[Any, ...], Any, Any]:
    """Arrays, then depth and boundary if they stand behind them."""
    count = next((at for at, one in enumerate(arrays) if not isinstance(one, Array)), len(arrays))
    rest = arrays[count:]
    if len(rest) > 2 or (rest and depth is not None):
        raise TypeError(f"got {rest} behind the arrays, expected depth and boundary at most")
    if rest:
        depth, boundary = rest[0], rest[1] if len(rest) > 1 else boundary
    if depth is None:
        raise TypeError("map_overlap needs a depth: how many cells a tile has around it")
    return arrays[:count], depth, boundary


def _check_function(f: Any, name: str) -> None:
    if not callable(f):
        raise TypeError(f"{name}: got {type(f).__name__}, expected a function of tiles")


def _ours(arrays: tuple[Any, ...], name: str) -> list[Array]:
    """The arrays of pantile among the arguments, in one shape."""
    ours = [Array._of(one._h) for one in arrays if isinstance(one, Array)]  # without their halos
    if not ours:
        raise TypeError(f"{name}: expected at least one array of pantile")
    shape = np.broadcast_shapes(*(one.shape for one in ours))
    return [one if one.shape == shape else _shapes.broadcast_to(one, shape) for one in ours]


def _modes(boundary: Any, ndim: int) -> list[Any]:
    if isinstance(boundary, Mapping):
        found: list[Any] = ["none"] * ndim
        for axis, one in boundary.items():
            found[_halo.axis_of(axis, ndim)] = one
    elif isinstance(boundary, (tuple, list)):
        found = list(boundary)
        if len(found) != ndim:
            raise ValueError(f"got {len(found)} boundaries, expected one, or {ndim}")
    else:
        found = [boundary] * ndim
    found = ["none" if one is None else one for one in found]
    for one in found:
        if one not in BOUNDARIES if isinstance(one, str) else not np.isscalar(one):
            known = ", ".join(BOUNDARIES)
            raise ValueError(f"got boundary={one!r}, expected a number or one of {known}")
    return found


def _check_numbers(modes: list[Any], kind: np.dtype) -> None:
    """Fails if a number cannot stand beside elements: on every process, not only where it would."""
    for mode in modes:
        if not isinstance(mode, str):
            room = np.zeros(1, kind)
            try:
                with np.errstate(invalid="ignore"), warnings.catch_warnings(action="ignore"):
                    room[:] = mode
            except (TypeError, ValueError, OverflowError) as error:
                raise ValueError(f"got boundary={mode!r} for elements of {kind}: {error}") from None
            # Numbers with a point are as near as they can be; whole numbers have to be the same.
            if (kind.kind in "iub" and room[0] != mode) or (kind.kind == "f" and np.iscomplexobj(mode)):
                raise ValueError(f"got boundary={mode!r}, expected one of the elements of {kind}")


def _in_blocks(home: Distribution, widths: list[Pair]) -> Distribution:
    """The same with blocks along axes that need neighbours."""
    texts = list(home.axes)
    for axis, own in enumerate(home._d.over or []):
        if widths[axis] != (0, 0) and not texts[axis].startswith(("block", "whole")):
            names = [home.mesh.axes[one] for one in own]
            texts[axis] = f"block({'*'.join(names)})"
    return Distribution(f"{home.text.partition(':')[0]}: {', '.join(texts)}")


def _aligned(array: Array, home: Distribution) -> Array:
    """The array living there."""
    plain = Array._of(array._h)
    return plain if plain.dist.text == home.text else plain.redistribute(home)


# -------------------------------------------------------------------------------------------- tiles


def _plain_tiles(array: Array) -> Tiles:
    tiles = {}
    for section in array.sections:
        everything = tuple(slice(0, length) for length in section.data.shape)
        tiles[section.rank] = Tile(section.data, everything, repr(section.runs))
    return tiles


def _wide_tiles(array: Array, home: Distribution, widths: list[Pair], modes: list[Any]) -> Tiles:
    if all(pair == (0, 0) for pair in widths):
        return _plain_tiles(array)
    # What is beyond the ends is made of cells that are near them, on whichever side.
    asked = [
        pair if mode in ("none", "periodic") else (max(pair), max(pair))
        for pair, mode in zip(widths, map(_word, modes))
    ]
    wide = _halo.widened(home, asked, [_word(mode) == "periodic" for mode in modes])
    held = array._h.held(wide._d)
    sections = [_halo.section_of(array._h, rank, wide._d, elements) for rank, elements in held]
    return {one.rank: _ended(one, array.shape, widths, modes) for one in sections}


def _ended(
    section: Section, shape: tuple[int, ...], widths: list[Pair], modes: list[Any]
) -> Tile:
    """The tile of a section that has enough cells, with those beyond the ends of the array."""
    data, inner = section.data, list(section.inner)
    for axis, mode in enumerate(modes if section.owned.size else []):
        if _word(mode) in ("none", "periodic") or widths[axis] == (0, 0):
            continue
        first, part = section.runs[axis][0][0], inner[axis]
        own = first + part.start, first + part.stop
        data = _beyond(data, axis, (own, first), (widths[axis], shape[axis], mode))
        low = widths[axis][0]
        inner[axis] = slice(low, low + part.stop - part.start)
    return Tile(data, tuple(inner), repr((section.runs, section.inner)))


def _word(mode: Any) -> str:
    return mode if isinstance(mode, str) else "constant"


def _beyond(
    data: np.ndarray, axis: int, place: tuple[Pair, int], wanted: tuple[Pair, int, Any]
) -> np.ndarray:
    """A tile with exactly the cells that are wanted along an axis: those beyond the ends made up.

    `place`: the indices that the rank owns, and the first one that `data` has.
    """
    ((start, stop), first), ((low, high), length, mode) = place, wanted
    positions = np.arange(start - low, stop + high)
    inside = np.clip(positions, 0, length - 1)
    if _word(mode) == "reflect":
        turned = positions % (2 * length)
        inside = np.minimum(turned, 2 * length - 1 - turned)
    taken = np.take(data, inside - first, axis)
    if _word(mode) == "constant":
        outside = (positions < 0) | (positions >= length)
        taken[(slice(None),) * axis + (outside,)] = mode
    return taken


# -------------------------------------------------------------------------------------- application


def _applied(
    f: Callable[..., Any],
    arrays: tuple[Any, ...],
    tiles: list[Tiles],
    home: Distribution,
    options: tuple[Any, bool, Any],
) -> Array:
    """An array made of what a function gives for the tiles of every rank."""
    dtype, trim, kwargs = options
    ours = [one for one in arrays if isinstance(one, Array)]
    world = ours[0]._h.world
    kind = None if dtype is None else _dtypes.dtype_of(dtype)

    def called(own: list[Tile]) -> np.ndarray:
        # Copies: a function may write to what it gets.
        rest = iter([np.array(tile.data) for tile in own])
        given = [next(rest) if isinstance(one, Array) else one for one in arrays]
        return np.asarray(f(*given, **kwargs))

    results, error = {}, None
    try:
        results = _called(called, tiles, kind, trim)
    except Exception as raised:
        error = raised
    found = _agreed(world, results, error)
    if kind is None:
        kind = found
    if kind is None:  # nobody has elements
        shape = [min(length, 1) for length in home.shape]
        kind = _known(called([Tile(np.empty(shape, one.dtype), (), None) for one in ours]).dtype)

    def elements(rank: int, _: Any) -> np.ndarray:
        given = results.get(rank, np.empty(0, kind))
        return np.ascontiguousarray(given, kind).reshape(-1).view(np.uint8)

    where = home.text.split(" on ", 1)[1]
    return Array._of(world.from_tiles(list(home.shape), kind.name, elements, where))


def _called(
    called: Callable[[list[Tile]], np.ndarray], tiles: list[Tiles], kind: np.dtype | None, trim: bool
) -> dict[int, np.ndarray]:
    """What the function gives for every hosted rank that has elements."""
    results: dict[int, np.ndarray] = {}
    known: dict[Any, np.ndarray] = {}
    for rank in tiles[0]:
        own = [one[rank] for one in tiles]
        expected = own[0].data[own[0].inner].shape
        if 0 in expected:
            continue
        key = tuple(tile.key for tile in own)
        if key not in known:
            given = _trimmed(called(own), own[0], rank, trim)
            if not np.can_cast(given.dtype, kind or _known(given.dtype), "same_kind"):
                raise TypeError(f"rank {rank}: the function gave {given.dtype}, expected {kind}")
            known[key] = given if kind is None else given.astype(kind, copy=False)
        results[rank] = known[key]
    return results


def _trimmed(given: np.ndarray, tile: Tile, rank: int, trim: bool) -> np.ndarray:
    expected, whole = tile.data[tile.inner].shape, tile.data.shape
    if given.shape == expected:
        return given
    if trim and given.shape == whole:
        return given[tile.inner]
    also = f" or {whole}" if trim and whole != expected else ""
    raise ValueError(
        f"rank {rank}: the function gave an array of shape {given.shape}, expected {expected}{also}"
    )


def _known(kind: np.dtype) -> np.dtype:
    native = kind.newbyteorder("=")
    if native not in _dtypes.ALL:
        raise TypeError(f"the function gave elements of {kind}: there are no arrays of that type")
    return native


def _agreed(
    world: _core.World, results: dict[int, np.ndarray], error: Exception | None
) -> np.dtype | None:
    """The type of what all ranks have; fails on every process if something failed on one."""
    kinds = [str(one) for one in _dtypes.ALL]
    codes = np.zeros(world.ranks, np.uint8)
    for rank in world.hosted:
        if error is not None:
            codes[rank] = FAILED
        elif rank in results:
            codes[rank] = 1 + kinds.index(str(results[rank].dtype.newbyteorder("=")))
    if len(world.hosted) < world.ranks:
        before = world.forbid(False)
        try:
            own = codes.copy()
            each = [world.ranks], "uint8", lambda rank, _: own[rank : rank + 1], "block(r)"
            world.from_tiles(*each).whole_into(codes)
        finally:
            world.forbid(before)
    if error is not None:
        raise error
    failed = np.flatnonzero(codes == FAILED)
    if failed.size:
        raise RuntimeError(f"this failed on another process: rank {failed[0]} says why")
    there = np.flatnonzero(codes)
    if not there.size:
        return None
    other = next((rank for rank in there if codes[rank] != codes[there[0]]), None)
    if other is not None:
        names = [f"{kinds[codes[rank] - 1]} on rank {rank}" for rank in (there[0], other)]
        raise TypeError(f"the function gave {names[0]} and {names[1]}, expected one type")
    found: np.dtype = np.dtype(kinds[codes[there[0]] - 1])
    return found
