"""`a + b`, `2 < a`, `-a`, `a *= 3`: the operators of arrays."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core

if TYPE_CHECKING:
    from ._array import Array
    from ._types import Operand

PLAIN = (builtins.bool, int, float, complex)


class Operators:
    """What an array can do beside another one, or beside a number."""

    __slots__ = ("_h",)
    _h: _core.Array

    @classmethod
    def _of(cls, handle: _core.Array) -> Array:
        raise NotImplementedError

    # fmt: off
    def __add__(self, other: Operand, /) -> Array: return _forward(self, "add", other)
    def __sub__(self, other: Operand, /) -> Array: return _forward(self, "subtract", other)
    def __mul__(self, other: Operand, /) -> Array: return _forward(self, "multiply", other)
    def __truediv__(self, other: Operand, /) -> Array: return _forward(self, "divide", other)
    def __floordiv__(self, other: Operand, /) -> Array: return _forward(self, "floor_divide", other)
    def __mod__(self, other: Operand, /) -> Array: return _forward(self, "remainder", other)
    def __pow__(self, other: Operand, /) -> Array: return _forward(self, "pow", other)
    def __and__(self, other: Operand, /) -> Array: return _forward(self, "bitwise_and", other)
    def __or__(self, other: Operand, /) -> Array: return _forward(self, "bitwise_or", other)
    def __xor__(self, other: Operand, /) -> Array: return _forward(self, "bitwise_xor", other)
    def __lshift__(self, other: Operand, /) -> Array: return _forward(self, "bitwise_left_shift", other)
    def __rshift__(self, other: Operand, /) -> Array: return _forward(self, "bitwise_right_shift", other)

    def __radd__(self, other: Operand, /) -> Array: return _backward(self, "add", other)
    def __rsub__(self, other: Operand, /) -> Array: return _backward(self, "subtract", other)
    def __rmul__(self, other: Operand, /) -> Array: return _backward(self, "multiply", other)
    def __rtruediv__(self, other: Operand, /) -> Array: return _backward(self, "divide", other)
    def __rfloordiv__(self, other: Operand, /) -> Array: return _backward(self, "floor_divide", other)
    def __rmod__(self, other: Operand, /) -> Array: return _backward(self, "remainder", other)
    def __rpow__(self, other: Operand, /) -> Array: return _backward(self, "pow", other)
    def __rand__(self, other: Operand, /) -> Array: return _backward(self, "bitwise_and", other)
    def __ror__(self, other: Operand, /) -> Array: return _backward(self, "bitwise_or", other)
    def __rxor__(self, other: Operand, /) -> Array: return _backward(self, "bitwise_xor", other)
    def __rlshift__(self, other: Operand, /) -> Array: return _backward(self, "bitwise_left_shift", other)
    def __rrshift__(self, other: Operand, /) -> Array: return _backward(self, "bitwise_right_shift", other)

    def __iadd__(self, other: Operand, /) -> Array: return _in_place(self, "add", other)
    def __isub__(self, other: Operand, /) -> Array: return _in_place(self, "subtract", other)
    def __imul__(self, other: Operand, /) -> Array: return _in_place(self, "multiply", other)
    def __itruediv__(self, other: Operand, /) -> Array: return _in_place(self, "divide", other)
    def __ifloordiv__(self, other: Operand, /) -> Array: return _in_place(self, "floor_divide", other)
    def __imod__(self, other: Operand, /) -> Array: return _in_place(self, "remainder", other)
    def __ipow__(self, other: Operand, /) -> Array: return _in_place(self, "pow", other)
    def __iand__(self, other: Operand, /) -> Array: return _in_place(self, "bitwise_and", other)
    def __ior__(self, other: Operand, /) -> Array: return _in_place(self, "bitwise_or", other)
    def __ixor__(self, other: Operand, /) -> Array: return _in_place(self, "bitwise_xor", other)
    def __ilshift__(self, other: Operand, /) -> Array: return _in_place(self, "bitwise_left_shift", other)
    def __irshift__(self, other: Operand, /) -> Array: return _in_place(self, "bitwise_right_shift", other)

    # Elements are compared one by one: the answer is an array, not a truth value.
    def __eq__(self, other: Operand, /) -> Array: return _forward(self, "equal", other)  # type: ignore[override]
    def __ne__(self, other: Operand, /) -> Array: return _forward(self, "not_equal", other)  # type: ignore[override]
    def __lt__(self, other: Operand, /) -> Array: return _forward(self, "less", other)
    def __le__(self, other: Operand, /) -> Array: return _forward(self, "less_equal", other)
    def __gt__(self, other: Operand, /) -> Array: return _forward(self, "greater", other)
    def __ge__(self, other: Operand, /) -> Array: return _forward(self, "greater_equal", other)

    def __neg__(self) -> Array: return self._of(self._h.unary("negative"))
    def __pos__(self) -> Array: return self._of(self._h.unary("positive"))
    def __abs__(self) -> Array: return self._of(self._h.unary("abs"))
    def __invert__(self) -> Array: return self._of(self._h.unary("bitwise_invert"))
    # fmt: on

    __hash__ = None  # type: ignore[assignment]  # what can change is no key


def operand(array: Operators, other: Any) -> Any:
    """What stands beside an array: a handle, or a number that takes the array's type."""
    if isinstance(other, Operators):
        return other._h
    if type(other) in PLAIN:
        return other
    if isinstance(other, (np.ndarray, np.generic)):
        from ._creation import asarray

        return asarray(other, dist=None)._h
    return NotImplemented


def _forward(array: Operators, name: str, other: Any) -> Any:
    """`array + other`."""
    if type(other) in PLAIN:  # the usual case first: small arrays feel every call
        return array._of(array._h.binary(name, other))
    other = operand(array, other)
    return NotImplemented if other is NotImplemented else array._of(array._h.binary(name, other))


def _backward(array: Operators, name: str, other: Any) -> Any:
    """`other + array`."""
    other = operand(array, other)
    if other is NotImplemented:
        return NotImplemented
    if isinstance(other, _core.Array):
        return array._of(other.binary(name, array._h))
    return array._of(array._h.binary(name, other, True))


def _in_place(array: Operators, name: str, other: Any) -> Any:
    """`array += other`."""
    result = _forward(array, name, other)
    if result is NotImplemented:
        return result
    shape, dtype = tuple(array._h.shape), np.dtype(array._h.dtype)
    if result.shape != shape:
        raise ValueError(f"got a result of shape {result.shape} for an array of {shape}")
    if not np.can_cast(result.dtype, dtype, "same_kind"):
        raise TypeError(f"got a result of {result.dtype} for an array of {dtype}")
    array._h.set([], result._h if result.dtype == dtype else result._h.cast(str(dtype)))
    return array
