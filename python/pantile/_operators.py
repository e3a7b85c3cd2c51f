"""`a + b`, `2 < a`, `-a`, `a *= 3`: the operators of arrays."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core

if TYPE_CHECKING:
    from ._array import Array
    from ._types import Operand

PLAIN = (builtins.bool, int, float, complex)

#: The class of results, which is made later: `_array` sets it.
array_class: type[Array]

_new = object.__new__


def _forward(name: str) -> Callable[[Any, Operand], Array]:
    """`array + other`."""

    def forward(self: Operators, other: Any, /) -> Array:
        if type(other) in PLAIN:  # the usual case first: small arrays feel every call, so `_of` is written out
            array = _new(array_class)
            array._h = self._h.binary(name, other)
            return array
        beside = operand(self, other)
        if beside is NotImplemented:
            return beside  # type: ignore[no-any-return]
        return self._of(self._h.binary(name, beside))

    return forward


def _backward(name: str) -> Callable[[Any, Operand], Array]:
    """`other + array`."""

    def backward(self: Operators, other: Operand, /) -> Array:
        beside = operand(self, other)
        if beside is NotImplemented:
            return beside  # type: ignore[no-any-return]
        if isinstance(beside, _core.Array):
            return self._of(beside.binary(name, self._h))
        return self._of(self._h.binary(name, beside, True))

    return backward


def _in_place(forward: Callable[[Any, Operand], Array]) -> Callable[[Any, Operand], Array]:
    """`array += other`."""

    def in_place(self: Operators, other: Operand, /) -> Array:
        result = forward(self, other)
        if result is NotImplemented:
            return result
        old, new = self._h, result._h
        if new.shape != old.shape:
            raise ValueError(f"got a result of shape {result.shape} for an array of {tuple(old.shape)}")
        if new.dtype != old.dtype:
            if not np.can_cast(new.dtype, old.dtype, "same_kind"):
                raise TypeError(f"got a result of {new.dtype} for an array of {old.dtype}")
            new = new.cast(old.dtype)
        old.set([], new)
        return self  # type: ignore[return-value]  # only arrays are such

    return in_place


def _power(plain: Callable[[Any, Operand], Array], backward: bool) -> Callable[[Any, Operand], Array]:
    """`array ** other`, which NumPy refuses for integers to negative powers."""

    def power(self: Operators, other: Operand, /) -> Array:
        refuse_negative_powers(other if backward else self, self if backward else other)
        return plain(self, other)

    return power


def refuse_negative_powers(base: Any, exponent: Any) -> None:
    """Integers to negative powers are no integers. The exponents of an array are computed for that, unless
    the base has no elements, or the results are floats: those of uint64 and signed integers."""
    if _kind(exponent) != "i" or _kind(base) not in "iub" or _is_empty(base):
        return
    if type(exponent) is not int and _dtype(base) == np.uint64:
        return
    if bool((exponent < 0).any() if isinstance(exponent, Operators) else np.any(np.less(exponent, 0))):
        raise ValueError(
            "got integers to negative powers, whose results are no integers: use a float base, "
            "such as a.astype(float)"
        )


def _kind(operand: Any) -> str:
    """The kind of elements, in NumPy's letters."""
    return _KINDS.get(type(operand)) or _dtype(operand).kind


def _dtype(operand: Any) -> np.dtype[Any]:
    return np.dtype(operand._h.dtype) if isinstance(operand, Operators) else np.asarray(operand).dtype


def _is_empty(operand: Any) -> bool:
    return 0 in (operand._h.shape if isinstance(operand, Operators) else np.shape(operand))


_KINDS: dict[type, str] = {builtins.bool: "b", int: "i", float: "f", complex: "c"}


def _matmul(self: Operators, other: Operand, /) -> Array:
    beside = operand(self, other)
    if not isinstance(beside, _core.Array):  # a number has no rows
        return NotImplemented
    return self._of(self._h.matmul(beside))


def _rmatmul(self: Operators, other: Operand, /) -> Array:
    beside = operand(self, other)
    if not isinstance(beside, _core.Array):
        return NotImplemented
    return self._of(beside.matmul(self._h))


class Operators:
    """What an array can do beside another one, or beside a number."""

    __slots__ = ("_h",)
    _h: _core.Array

    @staticmethod
    def _of(handle: _core.Array) -> Array:
        raise NotImplementedError

    # fmt: off
    __add__ = _forward("add")
    __sub__ = _forward("subtract")
    __mul__ = _forward("multiply")
    __truediv__ = _forward("divide")
    __floordiv__ = _forward("floor_divide")
    __mod__ = _forward("remainder")
    __pow__ = _power(_forward("pow"), False)
    __and__ = _forward("bitwise_and")
    __or__ = _forward("bitwise_or")
    __xor__ = _forward("bitwise_xor")
    __lshift__ = _forward("bitwise_left_shift")
    __rshift__ = _forward("bitwise_right_shift")
    __matmul__ = _matmul

    __radd__ = _backward("add")
    __rsub__ = _backward("subtract")
    __rmul__ = _backward("multiply")
    __rtruediv__ = _backward("divide")
    __rfloordiv__ = _backward("floor_divide")
    __rmod__ = _backward("remainder")
    __rpow__ = _power(_backward("pow"), True)
    __rand__ = _backward("bitwise_and")
    __ror__ = _backward("bitwise_or")
    __rxor__ = _backward("bitwise_xor")
    __rlshift__ = _backward("bitwise_left_shift")
    __rrshift__ = _backward("bitwise_right_shift")
    __rmatmul__ = _rmatmul

    __iadd__ = _in_place(_forward("add"))
    __isub__ = _in_place(_forward("subtract"))
    __imul__ = _in_place(_forward("multiply"))
    __itruediv__ = _in_place(_forward("divide"))
    __ifloordiv__ = _in_place(_forward("floor_divide"))
    __imod__ = _in_place(_forward("remainder"))
    __ipow__ = _in_place(_power(_forward("pow"), False))
    __iand__ = _in_place(_forward("bitwise_and"))
    __ior__ = _in_place(_forward("bitwise_or"))
    __ixor__ = _in_place(_forward("bitwise_xor"))
    __ilshift__ = _in_place(_forward("bitwise_left_shift"))
    __irshift__ = _in_place(_forward("bitwise_right_shift"))
    __imatmul__ = _in_place(_matmul)

    # Elements are compared one by one: the answer is an array, not a truth value.
    __eq__ = _forward("equal")  # type: ignore[assignment]
    __ne__ = _forward("not_equal")  # type: ignore[assignment]
    __lt__ = _forward("less")
    __le__ = _forward("less_equal")
    __gt__ = _forward("greater")
    __ge__ = _forward("greater_equal")

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
