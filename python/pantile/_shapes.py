"""The same elements in other shapes and orders."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING, SupportsIndex

import numpy as np

from . import _dtypes
from ._array import Array
from ._creation import _shape, asarray, empty

if TYPE_CHECKING:
    from ._types import Axes, Axis, Shape

__all__ = ["broadcast_arrays", "broadcast_to", "concat", "expand_dims", "flip", "moveaxis",
           "permute_dims", "matrix_transpose", "repeat", "reshape", "roll", "squeeze", "stack",
           "tile", "unstack"]  # fmt: skip


def reshape(x: Array, /, shape: Shape, *, copy: bool | None = None) -> Array:
    """The elements in another shape, in row-major order; one length may be -1.

    A view where NumPy's is one, unless `copy=True`; `copy=False` refuses to copy.

    >>> import pantile as pt
    >>> pt.reshape(pt.arange(6), (2, -1)).tolist()
    [[0, 1, 2], [3, 4, 5]]
    """
    lengths = [operator.index(n) for n in (shape if isinstance(shape, (tuple, list)) else (shape,))]
    if lengths.count(-1) > 1:
        raise ValueError(f"got shape {tuple(lengths)}, expected at most one -1")
    if -1 in lengths:
        known = int(np.prod([n for n in lengths if n != -1], dtype=object))
        if known == 0 or x.size % known:
            raise ValueError(f"got shape {tuple(lengths)} for {x.size} elements")
        lengths[lengths.index(-1)] = x.size // known
    if any_negative(lengths) or int(np.prod(lengths, dtype=object)) != x.size:
        raise ValueError(f"got shape {tuple(lengths)} for {x.size} elements")
    if copy is False and not x._h.reshapes_in_place(lengths):
        raise ValueError(f"a new shape {tuple(lengths)} of this view of shape {x.shape} is a copy")
    part = x._h.reshape(lengths)
    return Array._of(part.copy() if copy else part)


def any_negative(lengths: Iterable[int]) -> bool:
    """True if a length is below 0."""
    return builtins.any(n < 0 for n in lengths)


def _axis(axis: SupportsIndex, ndim: int) -> int:
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise IndexError(f"got axis {axis} of {ndim} axes")
    return axis % ndim


def permute_dims(x: Array, /, axes: Iterable[SupportsIndex]) -> Array:
    """The axes in another order."""
    order = [_axis(axis, x.ndim) for axis in axes]
    if sorted(order) != list(range(x.ndim)):
        raise ValueError(f"got axes {order}, expected each of {x.ndim} once")
    return Array._of(x._h.permute(order))


def matrix_transpose(x: Array, /) -> Array:
    """The last two axes exchanged."""
    return x.mT


def moveaxis(x: Array, source: Axes, destination: Axes, /) -> Array:
    """Axes moved to other places; the others keep their order."""
    origin, goal = (
        [_axis(axis, x.ndim) for axis in (axes if isinstance(axes, (tuple, list)) else (axes,))]
        for axes in (source, destination)
    )
    if not len(origin) == len(goal) == len(set(origin)) == len(set(goal)):
        raise ValueError(f"got axes {origin} and {goal}, expected as many different ones")
    order = [axis for axis in range(x.ndim) if axis not in origin]
    for to, axis in sorted(zip(goal, origin)):
        order.insert(to, axis)
    return permute_dims(x, order)


def broadcast_to(x: Array, /, shape: Shape) -> Array:
    """The elements seen at a larger shape.

    >>> import pantile as pt
    >>> pt.broadcast_to(pt.arange(2), (2, 2)).tolist()
    [[0, 1], [0, 1]]
    """
    return Array._of(x._h.broadcast_to(list(_shape(shape))))


def broadcast_arrays(*arrays: Array) -> list[Array]:
    """All arrays at their common shape."""
    shape = np.broadcast_shapes(*(one.shape for one in arrays))
    return [broadcast_to(one, shape) for one in arrays]


def expand_dims(x: Array, /, axis: Axis) -> Array:
    """A new axis of length 1."""
    axis = _axis(axis, x.ndim + 1)
    return Array._of(x._h.reshape([*x.shape[:axis], 1, *x.shape[axis:]]))


def squeeze(x: Array, /, axis: Axes) -> Array:
    """Without some axes of length 1."""
    axes = {_axis(one, x.ndim) for one in (axis if isinstance(axis, (tuple, list)) else (axis,))}
    if builtins.any(x.shape[one] != 1 for one in axes):
        raise ValueError(f"got axes {sorted(axes)} of shape {x.shape}, expected lengths of 1")
    return Array._of(x._h.reshape([n for i, n in enumerate(x.shape) if i not in axes]))


def flip(x: Array, /, *, axis: Axes | None = None) -> Array:
    """Axes backwards.

    >>> import pantile as pt
    >>> pt.flip(pt.arange(3)).tolist()
    [2, 1, 0]
    """
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    turned = {_axis(one, x.ndim) for one in axes}
    key = tuple(slice(None, None, -1) if i in turned else slice(None) for i in range(x.ndim))
    return x[key].copy()


def concat(arrays: Iterable[Array], /, *, axis: Axis | None = 0) -> Array:
    """Arrays one after the other along an axis.

    >>> import pantile as pt
    >>> pt.concat([pt.arange(2), pt.arange(3)]).tolist()
    [0, 1, 0, 1, 2]
    """
    arrays = [asarray(one) for one in arrays]
    if not arrays:
        raise ValueError("got no arrays, expected at least one")
    if axis is None:
        arrays, axis = [Array._of(one._h.reshape([one.size])) for one in arrays], 0
    ndim = arrays[0].ndim
    axis = _axis(axis, ndim)
    rest = [one.shape[:axis] + one.shape[axis + 1 :] for one in arrays]
    if builtins.any(one.ndim != ndim for one in arrays) or len(set(rest)) > 1:
        raise ValueError(f"got shapes {[one.shape for one in arrays]}, expected all but axis {axis} alike")
    dtype = _dtypes.result_type(*arrays)
    shape = list(arrays[0].shape)
    shape[axis] = builtins.sum(one.shape[axis] for one in arrays)
    whole, at = empty(tuple(shape), dtype=dtype), 0
    for one in arrays:
        key = [slice(None)] * ndim
        key[axis] = slice(at, at + one.shape[axis])
        whole[tuple(key)] = one if one.dtype == dtype else one.astype(dtype)
        at += one.shape[axis]
    return whole


def stack(arrays: Iterable[Array], /, *, axis: Axis = 0) -> Array:
    """Arrays of one shape along a new axis."""
    arrays = [asarray(one) for one in arrays]
    if len({one.shape for one in arrays}) != 1:
        raise ValueError(f"got shapes {[one.shape for one in arrays]}, expected one")
    axis = _axis(axis, arrays[0].ndim + 1)
    return concat([expand_dims(one, axis) for one in arrays], axis=axis)


def unstack(x: Array, /, *, axis: Axis = 0) -> tuple[Array, ...]:
    """The slices along an axis."""
    axis = _axis(axis, x.ndim)
    key = (slice(None),) * axis
    return tuple(x[(*key, i)] for i in range(x.shape[axis]))


def roll(x: Array, /, shift: Axes, *, axis: Axes | None = None) -> Array:
    """Elements moved along axes; what goes beyond the end comes in at the other.

    >>> import pantile as pt
    >>> pt.roll(pt.arange(4), 1).tolist()
    [3, 0, 1, 2]
    """
    if axis is None:
        return reshape(roll(reshape(x, (-1,)) if x.size else x, shift, axis=0), x.shape) if x.size else x.copy()
    shifts = shift if isinstance(shift, (tuple, list)) else (shift,)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    shifts = shifts * len(axes) if len(shifts) == 1 else shifts
    if len(shifts) != len(axes):
        raise ValueError(f"got {len(shifts)} shifts for {len(axes)} axes")
    x = x if axes else x.copy()
    for by, one in zip(shifts, axes):
        x = _rolled(x, operator.index(by), _axis(one, x.ndim))
    return x


def _rolled(x: Array, by: int, axis: int) -> Array:
    length = x.shape[axis]
    by = by % length if length else 0
    if by == 0:
        return x.copy()
    key = (slice(None),) * axis
    return concat([x[(*key, slice(length - by, None))], x[(*key, slice(None, length - by))]], axis=axis)


def tile(x: Array, repetitions: Iterable[SupportsIndex] | SupportsIndex, /) -> Array:
    """The array again and again along its axes."""
    listed = repetitions if isinstance(repetitions, Iterable) else (repetitions,)
    given = tuple(operator.index(n) for n in listed)
    ndim = builtins.max(x.ndim, len(given))
    turns = (1,) * (ndim - len(given)) + given
    shape = (1,) * (ndim - x.ndim) + x.shape
    inner = [n for length in shape for n in (1, length)]
    wide = [n for length, times in zip(shape, turns) for n in (times, length)]
    return Array._of(x._h.reshape(inner).broadcast_to(wide).reshape([n * t for n, t in zip(shape, turns)]))


def repeat(x: Array, repeats: int, /, *, axis: Axis | None = None) -> Array:
    """Every element several times."""
    if not isinstance(repeats, int):
        raise NotImplementedError("repeats as an array are not there yet: a number is")
    if axis is None:
        x, axis = Array._of(x._h.reshape([x.size])), 0
    axis = _axis(axis, x.ndim)
    shape = list(x.shape)
    thin, wide = [*shape[: axis + 1], 1, *shape[axis + 1 :]], [*shape[: axis + 1], repeats, *shape[axis + 1 :]]
    shape[axis] *= repeats
    return Array._of(x._h.reshape(thin).broadcast_to(wide).reshape(shape))
