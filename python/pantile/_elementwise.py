"""Functions of elements: the names of the array API."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import _dtypes
from ._array import Array
from ._operators import PLAIN
from ._operators import operand as _operand
from ._operators import refuse_negative_powers

if TYPE_CHECKING:
    from ._types import ArrayLike, DTypeLike

_UNARY = (
    "abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag "
    "isfinite isinf isnan log log10 log1p log2 logical_not negative positive real reciprocal round "
    "sign signbit sin sinh sqrt square tan tanh trunc"
).split()
_BINARY = (
    "add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign "
    "divide equal floor_divide greater greater_equal hypot less less_equal logaddexp logical_and "
    "logical_or logical_xor maximum minimum multiply nextafter not_equal pow remainder subtract"
).split()


def _unary(name: str) -> Callable[..., Array]:
    def function(x: Array | ArrayLike, /) -> Array:
        return Array._of(_array(x)._h.unary(name))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`{name}` of every element."
    return function


def _binary(name: str) -> Callable[..., Array]:
    def function(x1: Array | ArrayLike, x2: Array | ArrayLike, /) -> Array:
        if isinstance(x1, Array):
            other = _operand(x1, x2)
            if other is not NotImplemented:
                return Array._of(x1._h.binary(name, other))
        elif isinstance(x2, Array):
            other = _operand(x2, x1)
            if isinstance(other, PLAIN):
                return Array._of(x2._h.binary(name, other, True))
            if other is not NotImplemented:
                return Array._of(other.binary(name, x2._h))
        return Array._of(_array(x1)._h.binary(name, _array(x2)._h))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`{name}` of the elements of two arrays, or of an array and a number."
    return function


def _array(x: Any) -> Array:
    from ._creation import asarray

    return x if isinstance(x, Array) else asarray(x)


for _name in _UNARY:
    globals()[_name] = _unary(_name)
for _name in _BINARY:
    globals()[_name] = _binary(_name)


def pow(x1: Array | ArrayLike, x2: Array | ArrayLike, /) -> Array:
    """`x1` to the power of `x2`; integers have no negative powers."""
    refuse_negative_powers(x1, x2)
    return _pow(x1, x2)


_pow = _binary("pow")


def erf(x: Array | ArrayLike, /) -> Array:
    """The error function of every element (not part of the array API)."""
    return Array._of(_array(x)._h.unary("erf"))


def clip(
    x: Array, /, min: Array | ArrayLike | None = None, max: Array | ArrayLike | None = None
) -> Array:
    """Elements brought between two bounds.

    >>> import pantile as pt
    >>> pt.clip(pt.arange(5), 1, 3).tolist()
    [1, 1, 2, 3, 3]
    """
    result = x
    for name, bound in (("maximum", min), ("minimum", max)):
        if bound is None:
            continue
        bound = _bound(x, bound)
        result = Array._of(result._h.binary(name, bound))
    if result is x:
        return x.copy()
    return result if result.dtype == x.dtype else Array._of(result._h.cast(str(x.dtype)))


def _bound(x: Array, bound: Any) -> Any:
    """A bound in the type of the array: whole numbers beyond it are its ends."""
    if isinstance(bound, int) and not isinstance(bound, bool) and x.dtype.kind in "iu":
        limits = _dtypes.iinfo(x.dtype)
        return builtins.max(limits.min, builtins.min(limits.max, bound))
    other = _operand(x, bound)
    return _array(bound)._h if other is NotImplemented else other


def where(
    condition: Array | ArrayLike, x1: Array | ArrayLike, x2: Array | ArrayLike, /
) -> Array:
    """`x1` where the condition is true, else `x2`.

    >>> import pantile as pt
    >>> pt.where(pt.arange(3) > 0, 1.0, -1.0).tolist()
    [-1.0, 1.0, 1.0]
    """
    if not isinstance(x1, Array) and not isinstance(x2, Array):
        x1 = _array(x1)
    one = x1 if isinstance(x1, Array) else x2
    yes, no = _operand(one, x1), _operand(one, x2)
    return Array._of(_array(condition)._h.choose(yes, no))


def astype(
    x: Array, dtype: DTypeLike, /, *, copy: bool = True, device: str | None = None
) -> Array:
    """The elements in another type.

    >>> import pantile as pt
    >>> pt.astype(pt.asarray([1.5, 2.5]), pt.int64).tolist()
    [1, 2]
    """
    if device not in (None, "cpu"):
        raise ValueError(f'got device {device!r}, expected "cpu"')
    dtype = _dtypes.dtype_of(dtype)
    if dtype == x.dtype:
        return x.copy() if copy else x
    if x.dtype.kind == "c" and dtype.kind not in "cb":
        raise TypeError(f"got {x.dtype}, which {dtype} has no room for; take pt.real or pt.imag")
    return Array._of(x._h.cast(str(dtype)))


__all__ = [*_UNARY, *_BINARY, "erf", "clip", "where", "astype"]
