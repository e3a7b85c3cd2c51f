"""Products of matrices, vectors and tensors: the same bits on any number of ranks."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from ._array import Array
from ._reductions import _axes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._types import Axis, Operand

__all__ = ["matmul", "vecdot", "tensordot"]


def _array(x: Any, what: str) -> Array:
    if isinstance(x, Array):
        return x
    if isinstance(x, (bool, int, float, complex)):
        raise TypeError(f"{what} takes arrays, got {x!r}")
    from ._creation import asarray

    return asarray(x, dist=None)


def matmul(x1: Operand, x2: Operand, /) -> Array:
    """The product of matrices, `x1 @ x2`: over the last two axes, those before are broadcast.

    A vector is a row on the left and a column on the right. Every element is a chain of fused
    multiply-adds in a fixed order; the product of two vectors is the exact sum of rounded products.
    Integers wrap; truth values have no products.

    >>> import pantile as pt
    >>> a = pt.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> (a @ a).tolist()
    [[7.0, 10.0], [15.0, 22.0]]
    >>> pt.matmul(a, pt.asarray([1.0, 0.0])).tolist()
    [1.0, 3.0]
    """
    return Array._of(_array(x1, "matmul")._h.matmul(_array(x2, "matmul")._h))


def _last(x: Array, axis: int) -> Array:
    """The array with an axis, counted from the end, as the last one."""
    if not -x.ndim <= axis < 0:
        raise IndexError(f"got axis {axis} of an array of {x.ndim} axes, expected one from -{x.ndim} to -1")
    order = [one for one in range(x.ndim) if one != x.ndim + axis] + [x.ndim + axis]
    return x if axis == -1 else Array._of(x._h.permute(order))


def vecdot(x1: Operand, x2: Operand, /, *, axis: Axis = -1) -> Array:
    """The sum of products along an axis; of complex numbers `x1` is conjugated.

    Of floats it is the exact sum of the products, each rounded once. The axis is counted from the end;
    the others are broadcast.

    >>> import pantile as pt
    >>> a = pt.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> pt.vecdot(a, a).tolist()
    [5.0, 25.0]
    """
    x1, x2, axis = _array(x1, "vecdot"), _array(x2, "vecdot"), operator.index(axis)
    return Array._of(_last(x1, axis)._h.vecdot(_last(x2, axis)._h))


def tensordot(
    x1: Operand, x2: Operand, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2
) -> Array:
    """The sum of products over pairs of axes: the last of `x1` with the first of `x2`, or those listed.

    >>> import pantile as pt
    >>> a = pt.asarray([[1, 2], [3, 4]])
    >>> int(pt.tensordot(a, a))
    30
    >>> pt.tensordot(a, a, axes=([1], [1])).tolist()
    [[5, 11], [11, 25]]
    """
    x1, x2 = _array(x1, "tensordot"), _array(x2, "tensordot")
    if isinstance(axes, (tuple, list)):
        if len(axes) != 2:
            raise ValueError(f"got {len(axes)} lists of axes, expected 2")
        one, other = _axes(x1, axes[0]) or [], _axes(x2, axes[1]) or []
    else:
        count = operator.index(axes)
        if not 0 <= count <= min(x1.ndim, x2.ndim):
            raise ValueError(
                f"got {count} axes of arrays with {x1.ndim} and {x2.ndim}, expected at most as many"
            )
        one, other = list(range(x1.ndim - count, x1.ndim)), list(range(count))
    return Array._of(x1._h.tensordot(x2._h, one, other))
