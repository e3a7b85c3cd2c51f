"""New arrays. Every function takes `dist=` (where it lives) and `mesh=`; see `pt.Distribution`."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from . import _dist, _dtypes
from ._array import Array
from ._operators import PLAIN
from ._world import world

if TYPE_CHECKING:
    from ._types import ArrayLike, Dist, DTypeLike, Mesh, Number, Shape


def _shape(shape: Any) -> tuple[int, ...]:
    lengths = shape if isinstance(shape, (tuple, list)) else (shape,)
    found = tuple(operator.index(length) for length in lengths)
    if any(length < 0 for length in found):
        raise ValueError(f"got shape {found}, expected lengths of at least 0")
    return found


def _with_halo(array: Array, dist: Any) -> Array:
    """With halos, if a distribution says so."""
    if isinstance(dist, _dist.Distribution) and dist.has_halo:
        from ._halo import of_distribution

        return of_distribution(array, dist)
    return array


def _device(device: Any) -> None:
    if device not in (None, "cpu"):
        raise ValueError(f'got device {device!r}, expected "cpu"')


def full(
    shape: Shape,
    fill_value: Number | Array | np.generic,
    *,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    dist: Dist = "auto",
    mesh: Mesh | None = None,
) -> Array:
    """The same number everywhere.

    >>> import pantile as pt
    >>> pt.full((2,), 7).tolist()
    [7, 7]
    """
    _device(device)
    shape, ours = _shape(shape), world()
    if isinstance(fill_value, Array):
        fill_value = fill_value.item()
    dtype = _dtypes.usual(fill_value) if dtype is None else _dtypes.dtype_of(dtype)
    value: Any = fill_value.item() if isinstance(fill_value, np.generic) else fill_value
    if dtype.kind != "c" and isinstance(value, complex):
        raise TypeError(f"got {value} for an array of {dtype}")
    made = Array._of(ours.full(list(shape), value, str(dtype), _dist.text(dist, shape, mesh, ours)))
    return _with_halo(made, dist)


def zeros(
    shape: Shape,
    *,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    dist: Dist = "auto",
    mesh: Mesh | None = None,
) -> Array:
    """Zeros.

    >>> import pantile as pt
    >>> pt.zeros(2).tolist()
    [0.0, 0.0]
    """
    dtype = _dtypes.float64 if dtype is None else dtype
    return full(shape, 0, dtype=dtype, device=device, dist=dist, mesh=mesh)


def ones(
    shape: Shape,
    *,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    dist: Dist = "auto",
    mesh: Mesh | None = None,
) -> Array:
    """Ones.

    >>> import pantile as pt
    >>> pt.ones(2, dtype=pt.int8).tolist()
    [1, 1]
    """
    dtype = _dtypes.float64 if dtype is None else dtype
    return full(shape, 1, dtype=dtype, device=device, dist=dist, mesh=mesh)


def empty(
    shape: Shape,
    *,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    dist: Dist = "auto",
    mesh: Mesh | None = None,
) -> Array:
    """Any elements."""
    _device(device)
    shape, ours = _shape(shape), world()
    dtype = _dtypes.float64 if dtype is None else _dtypes.dtype_of(dtype)
    made = Array._of(ours.empty(list(shape), str(dtype), _dist.text(dist, shape, mesh, ours)))
    return _with_halo(made, dist)


def _like(x: Array, dtype: Any, device: Any, dist: Any, mesh: Any) -> dict[str, Any]:
    return {"dtype": x.dtype if dtype is None else dtype, "device": device, "dist": dist, "mesh": mesh}


def full_like(
    x: Array,
    /,
    fill_value: Number | Array | np.generic,
    *,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    dist: Dist = "auto",
    mesh: Mesh | None = None,
) -> Array:
    """The same number everywhere, in the shape and type of an array."""
    return full(x.shape, fill_value, **_like(x, dtype, device, dist, mesh))


def zeros_like(
    x: Array,
    /,
    *,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    dist: Dist = "auto",
    mesh: Mesh | None = None,
) -> Array:
    """Zeros in the shape and type of an array."""
    return zeros(x.shape, **_like(x, dtype, device, dist, mesh))


def ones_like(
    x: Array,
    /,
    *,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    dist: Dist = "auto",
    mesh: Mesh | None = None,
) -> Array:
    """Ones in the shape and type of an array."""
    return ones(x.shape, **_like(x, dtype, device, dist, mesh))


def empty_like(
    x: Array,
    /,
    *,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    dist: Dist = "auto",
    mesh: Mesh | None = None,
) -> Array:
    """Any elements in the shape and type of an array."""
    return empty(x.shape, **_like(x, dtype, device, dist, mesh))


def arange(
    start: float | Array | np.generic,
    /,
    stop: float | Array | np.generic | None = None,
    step: float | Array | np.generic = 1,
    *,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    dist: Dist = "auto",
    mesh: Mesh | None = None,
) -> Array:
    """Numbers from `start` up to and without `stop`.

    >>> import pantile as pt
    >>> pt.arange(5).tolist(), pt.arange(3, 0, -1).tolist()
    ([0, 1, 2, 3, 4], [3, 2, 1])
    """
    _device(device)
    if stop is None:
        start, stop = 0, start
    plain: list[Any] = [one.item() if isinstance(one, (Array, np.generic)) else one for one in (start, stop, step)]
    whole = all(isinstance(one, int) for one in plain)
    if plain[2] == 0:
        raise ValueError("got step 0")
    count = max(0, len(range(*plain)) if whole else int(np.ceil((plain[1] - plain[0]) / plain[2])))
    ours = world()
    where = _dist.text(dist, (count,), mesh, ours)
    # The end is put where rounding cannot add or lose an element.
    first, by = plain[0], plain[2]
    end = plain[1] if whole else first + (count - 0.5) * by if count else first
    made = Array._of(ours.arange(first, end, by, where))
    natural = _dtypes.int64 if whole else _dtypes.float64
    dtype = natural if dtype is None else _dtypes.dtype_of(dtype)
    made = made if made.dtype == dtype else Array._of(made._h.cast(str(dtype)))
    return _with_halo(made, dist)


def linspace(
    start: complex,
    stop: complex,
    /,
    num: SupportsIndex,
    *,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    endpoint: bool = True,
    dist: Dist = "auto",
    mesh: Mesh | None = None,
) -> Array:
    """`num` numbers from `start` to `stop`.

    >>> import pantile as pt
    >>> pt.linspace(0, 1, 5).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    _device(device)
    ours, num = world(), operator.index(num)
    where = _dist.text(dist, (num,), mesh, ours)
    if isinstance(start, complex) or isinstance(stop, complex):
        first, last = complex(start), complex(stop)
        parts = [
            linspace(a, b, num, endpoint=endpoint, dist=dist, mesh=mesh)
            for a, b in ((first.real, last.real), (first.imag, last.imag))
        ]
        made, natural = parts[0] + parts[1] * 1j, _dtypes.complex128
    else:
        made = Array._of(ours.linspace((float(start), float(stop)), num, endpoint, where))
        natural = _dtypes.float64
    dtype = natural if dtype is None else _dtypes.dtype_of(dtype)
    made = made if made.dtype == dtype else Array._of(made._h.cast(str(dtype)))
    return _with_halo(made, dist)


def eye(
    n_rows: SupportsIndex,
    n_cols: SupportsIndex | None = None,
    /,
    *,
    k: SupportsIndex = 0,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    dist: Dist = "auto",
    mesh: Mesh | None = None,
) -> Array:
    """Ones on a diagonal, zeros elsewhere.

    >>> import pantile as pt
    >>> pt.eye(2, 3, k=1).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    _device(device)
    rows = operator.index(n_rows)
    columns = rows if n_cols is None else operator.index(n_cols)
    ours = world()
    made = Array._of(ours.eye(rows, columns, operator.index(k), _dist.text(dist, (rows, columns), mesh, ours)))
    dtype = _dtypes.float64 if dtype is None else _dtypes.dtype_of(dtype)
    made = made if made.dtype == dtype else Array._of(made._h.cast(str(dtype)))
    return _with_halo(made, dist)


def asarray(
    obj: Array | ArrayLike,
    /,
    *,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    copy: bool | None = None,
    dist: Dist = "auto",
    mesh: Mesh | None = None,
    check: bool = True,
) -> Array:
    """An array of elements that the caller has: NumPy arrays, numbers, nested lists. Under MPI every
    process gives the same: a hash of the elements travels with the next computation, which refuses
    different ones. `check=False` leaves that out.

    >>> import pantile as pt
    >>> pt.asarray([[1, 2], [3, 4]]).shape
    (2, 2)
    """
    _device(device)
    if isinstance(obj, Array):
        return _again(obj, dtype, copy, dist, mesh)
    if copy is False:
        raise ValueError("elements are copied to the ranks: copy=False cannot be")
    given = np.asarray(_plain(obj), dtype=None if dtype is None else _dtypes.dtype_of(dtype))
    if dtype is None and isinstance(obj, PLAIN):
        given = given.astype(_dtypes.usual(obj))
    kind = given.dtype.newbyteorder("=")
    if kind not in _dtypes.ALL:
        raise TypeError(f"there are no arrays of type {given.dtype}")
    given = given.astype(kind, copy=False)
    ours = world()
    where = _dist.text(dist, given.shape, mesh, ours)
    rows = np.ascontiguousarray(given).reshape(-1).view(np.uint8)
    made = ours.from_bytes(list(given.shape), str(given.dtype), rows, where, check)
    return _with_halo(Array._of(made), dist)


def _again(array: Array, dtype: Any, copy: bool | None, dist: Any, mesh: Any) -> Array:
    dtype = array.dtype if dtype is None else _dtypes.dtype_of(dtype)
    if dtype != array.dtype:
        if copy is False:
            raise ValueError("another type is a copy")
        array = Array._of(array._h.cast(str(dtype)))
    elif copy:
        array = array.copy()
    return array if isinstance(dist, str) and dist == "auto" else array.redistribute(dist, mesh=mesh)


def _plain(obj: Any) -> Any:
    """Nested lists with arrays of ours as NumPy's."""
    if isinstance(obj, (list, tuple)):
        return [_plain(one) for one in obj]
    return np.asarray(obj) if isinstance(obj, Array) else obj


def meshgrid(*arrays: Array, indexing: str = "xy") -> list[Array]:
    """Grids of coordinates.

    >>> import pantile as pt
    >>> [g.shape for g in pt.meshgrid(pt.arange(2), pt.arange(3))]
    [(3, 2), (3, 2)]
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f'got indexing {indexing!r}, expected "xy" or "ij"')
    count = len(arrays)
    if any(one.ndim != 1 for one in arrays):
        raise ValueError("expected arrays of one axis")
    order = list(range(count))
    if indexing == "xy" and count > 1:
        order[:2] = 1, 0
    shape = [arrays[order.index(axis)].size for axis in range(count)]
    grids = []
    for array, axis in zip(arrays, order):
        own = [1] * count
        own[axis] = array.size
        grids.append(Array._of(array._h.reshape(own).broadcast_to(shape).copy()))
    return grids


def _triangle(x: Array, k: int, lower: bool) -> Array:
    if x.ndim < 2:
        raise ValueError(f"got {x.ndim} axes, expected at least 2")
    shape = list(x.shape)
    row, column = (Array._of(world().index(shape, x.ndim - i, None)) for i in (2, 1))
    kept = column <= row + k if lower else column >= row + k
    return Array._of(kept._h.choose(x._h, zeros_like(x)._h))


def tril(x: Array, /, *, k: int = 0) -> Array:
    """The lower triangle; zeros above."""
    return _triangle(x, k, True)


def triu(x: Array, /, *, k: int = 0) -> Array:
    """The upper triangle; zeros below."""
    return _triangle(x, k, False)
