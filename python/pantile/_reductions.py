"""Sums and other reductions: the same bits on any number of ranks."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from . import _dtypes
from ._array import Array

if TYPE_CHECKING:
    from ._types import Axes, Axis, DTypeLike

__all__ = ["sum", "prod", "max", "min", "mean", "var", "std", "any", "all", "argmax", "argmin",
           "count_nonzero", "diff", "vector_norm"]  # fmt: skip


#: Reductions of no elements that have no result.
_NEED_ELEMENTS = frozenset({"max", "min", "argmax", "argmin"})


def _axes(x: Array, axis: Any) -> list[int] | None:
    if axis is None:
        return None
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    found = []
    for one in axes:
        one = operator.index(one)
        if not -x.ndim <= one < x.ndim:
            raise IndexError(f"got axis {one} of an array of {x.ndim} axes")
        found.append(one % x.ndim)
    if len(set(found)) != len(found):
        raise ValueError(f"got axes {tuple(axes)}, expected different ones")
    return found


def _reduce(x: Array, name: str, axis: Any, keepdims: bool, correction: float = 0.0) -> Array:
    axes = _axes(x, axis)
    if name in _NEED_ELEMENTS and 0 in (x.shape if axes is None else [x.shape[one] for one in axes]):
        raise ValueError(f"{name} of no elements is not defined: got shape {x.shape}, axis={axis}")
    return Array._of(x._h.reduce(name, axes, keepdims, float(correction)))


#: The type of sums and products of narrower elements.
_WIDE = {"bool": "int64", "int8": "int64", "int16": "int64", "int32": "int64", "uint8": "uint64",
         "uint16": "uint64", "uint32": "uint64"}  # fmt: skip


def _total(x: Array, name: str, axis: Any, dtype: Any, keepdims: bool) -> Array:
    h = x._h
    own = h.dtype
    wide = _WIDE.get(own, own) if dtype is None else str(_dtypes.dtype_of(dtype))
    made = (h if own == wide else h.cast(wide)).reduce(name, _axes(x, axis), keepdims)
    return Array._of(made if made.dtype == wide else made.cast(wide))


def sum(
    x: Array, /, *, axis: Axes | None = None, dtype: DTypeLike | None = None, keepdims: bool = False
) -> Array:
    """The sum: of floats the exact one, rounded once.

    >>> import pantile as pt
    >>> float(pt.sum(pt.asarray([1e100, 1.0, -1e100])))
    1.0
    """
    return _total(x, "sum", axis, dtype, keepdims)


def prod(
    x: Array, /, *, axis: Axes | None = None, dtype: DTypeLike | None = None, keepdims: bool = False
) -> Array:
    """The product."""
    return _total(x, "prod", axis, dtype, keepdims)


def max(x: Array, /, *, axis: Axes | None = None, keepdims: bool = False) -> Array:
    """The largest; NaN if there is one."""
    return _reduce(x, "max", axis, keepdims)


def min(x: Array, /, *, axis: Axes | None = None, keepdims: bool = False) -> Array:
    """The smallest; NaN if there is one."""
    return _reduce(x, "min", axis, keepdims)


def mean(x: Array, /, *, axis: Axes | None = None, keepdims: bool = False) -> Array:
    """The mean: the exact sum divided by the count, rounded once.

    >>> import pantile as pt
    >>> pt.mean(pt.asarray([[1.0, 2.0], [3.0, 6.0]]), axis=0).tolist()
    [2.0, 4.0]
    """
    return _reduce(x, "mean", axis, keepdims)


def var(
    x: Array, /, *, axis: Axes | None = None, correction: float = 0.0, keepdims: bool = False
) -> Array:
    """The variance."""
    return _reduce(x, "var", axis, keepdims, correction)


def std(
    x: Array, /, *, axis: Axes | None = None, correction: float = 0.0, keepdims: bool = False
) -> Array:
    """The standard deviation."""
    return _reduce(x, "std", axis, keepdims, correction)


def any(x: Array, /, *, axis: Axes | None = None, keepdims: bool = False) -> Array:
    """True where one element is not zero."""
    return _reduce(x, "any", axis, keepdims)


def all(x: Array, /, *, axis: Axes | None = None, keepdims: bool = False) -> Array:
    """True where no element is zero."""
    return _reduce(x, "all", axis, keepdims)


def _place(x: Array, name: str, axis: Any, keepdims: bool) -> Array:
    if axis is not None:
        return _reduce(x, name, operator.index(axis), keepdims)
    found = _reduce(x, name, None, False)
    return Array._of(found._h.reshape([1] * x.ndim)) if keepdims else found


def argmax(x: Array, /, *, axis: Axis | None = None, keepdims: bool = False) -> Array:
    """The first place of the largest."""
    return _place(x, "argmax", axis, keepdims)


def argmin(x: Array, /, *, axis: Axis | None = None, keepdims: bool = False) -> Array:
    """The first place of the smallest."""
    return _place(x, "argmin", axis, keepdims)


def count_nonzero(x: Array, /, *, axis: Axes | None = None, keepdims: bool = False) -> Array:
    """How many elements are not zero."""
    return _reduce(x, "count_nonzero", axis, keepdims)


def vector_norm(
    x: Array, /, *, axis: Axes | None = None, keepdims: bool = False, ord: float = 2
) -> Array:
    """A norm: `ord` is 1, 2 or infinity."""
    names = {1: "norm1", 2: "norm2", float("inf"): "norminf"}
    if ord not in names:
        raise NotImplementedError(f"norms of order {ord} are not there yet: 1, 2 and inf are")
    return _reduce(x, names[ord], axis, keepdims)


def _beside(x: Array, part: Any, axis: int) -> Array:
    """What stands before or behind an array; a number stands beside all of its other axes."""
    from ._creation import asarray

    part = asarray(part)
    if part.ndim:
        return part
    return Array._of(part._h.broadcast_to([1 if i == axis else n for i, n in enumerate(x.shape)]))


def diff(
    x: Array,
    /,
    *,
    axis: Axis = -1,
    n: int = 1,
    prepend: Array | None = None,
    append: Array | None = None,
) -> Array:
    """Differences of neighbours, `n` times.

    >>> import pantile as pt
    >>> pt.diff(pt.asarray([1, 4, 9])).tolist()
    [3, 5]
    """
    from ._shapes import concat

    axis = (_axes(x, operator.index(axis)) or [0])[0]
    parts = [_beside(x, part, axis) for part in (prepend, x, append) if part is not None]
    x = concat(parts, axis=axis) if len(parts) > 1 else x
    for _ in range(n):
        front, back = [slice(None)] * x.ndim, [slice(None)] * x.ndim
        front[axis], back[axis] = slice(1, None), slice(None, -1)
        name = "not_equal" if x.dtype == _dtypes.bool else "subtract"
        x = Array._of(x[tuple(front)]._h.binary(name, x[tuple(back)]._h))
    return x
