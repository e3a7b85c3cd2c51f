"""Types of elements: NumPy's, as far as arrays here have them."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._array import Array
    from ._types import DTypeLike

bool = np.dtype("bool")
int8 = np.dtype("int8")
int16 = np.dtype("int16")
int32 = np.dtype("int32")
int64 = np.dtype("int64")
uint8 = np.dtype("uint8")
uint16 = np.dtype("uint16")
uint32 = np.dtype("uint32")
uint64 = np.dtype("uint64")
float32 = np.dtype("float32")
float64 = np.dtype("float64")
complex64 = np.dtype("complex64")
complex128 = np.dtype("complex128")

SIGNED = (int8, int16, int32, int64)
UNSIGNED = (uint8, uint16, uint32, uint64)
REAL = (float32, float64)
COMPLEX = (complex64, complex128)
ALL = (bool, *SIGNED, *UNSIGNED, *REAL, *COMPLEX)
BY_NAME = {str(dtype): dtype for dtype in ALL}

KINDS = {
    "bool": (bool,),
    "signed integer": SIGNED,
    "unsigned integer": UNSIGNED,
    "integral": SIGNED + UNSIGNED,
    "real floating": REAL,
    "complex floating": COMPLEX,
    "numeric": SIGNED + UNSIGNED + REAL + COMPLEX,
}


def dtype_of(dtype: Any) -> np.dtype:
    """The type that somebody names; `float` is `float64`, `int` is `int64`. The order of bytes is that
    of this machine, whatever is said.
    """
    found = np.dtype(dtype).newbyteorder("=")
    if found not in ALL:
        raise TypeError(f"there are no arrays of type {found}, expected one of {list(map(str, ALL))}")
    return found


def usual(value: Any) -> np.dtype:
    """The type of an array made of a Python number."""
    if isinstance(value, (builtins.bool, np.bool_)):
        return bool
    if isinstance(value, (int, np.integer)):
        return int64
    return complex128 if isinstance(value, (complex, np.complexfloating)) else float64


def isdtype(dtype: DTypeLike, kind: str | DTypeLike | tuple[str | DTypeLike, ...]) -> builtins.bool:
    """True if a type is of a kind.

    >>> import pantile as pt
    >>> pt.isdtype(pt.float32, "real floating"), pt.isdtype(pt.int8, ("bool", pt.int8))
    (True, True)
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, str):
        if kind not in KINDS:
            raise ValueError(f"got kind {kind!r}, expected one of {list(KINDS)}")
        return np.dtype(dtype) in KINDS[kind]
    return np.dtype(dtype) == np.dtype(kind)


def can_cast(from_: Array | DTypeLike, to: DTypeLike, /) -> builtins.bool:
    """True if a type, or an array's, goes into another one by the rules of promotion.

    >>> import pantile as pt
    >>> pt.can_cast(pt.int32, pt.float64), pt.can_cast(pt.float64, pt.int32)
    (True, False)
    """
    return builtins.bool(np.can_cast(getattr(from_, "dtype", from_), to))


def result_type(*arrays_and_dtypes: Array | DTypeLike | complex) -> np.dtype:
    """The type that arrays, types and numbers promote to.

    >>> import pantile as pt
    >>> pt.result_type(pt.int32, pt.uint8, 1)
    dtype('int32')
    """
    plain = (int, float, complex)
    given = [one if isinstance(one, plain) else getattr(one, "dtype", one) for one in arrays_and_dtypes]
    return np.result_type(*given)


class finfo:
    """Limits of a floating type.

    >>> import pantile as pt
    >>> pt.finfo(pt.float32).bits
    32
    """

    def __init__(self, type: Array | DTypeLike, /) -> None:
        found = np.finfo(getattr(type, "dtype", type))
        self.bits = int(found.bits)
        self.eps = float(found.eps)
        self.max = float(found.max)
        self.min = float(found.min)
        self.smallest_normal = float(found.smallest_normal)
        self.dtype = np.dtype(found.dtype)


class iinfo:
    """Limits of an integer type.

    >>> import pantile as pt
    >>> pt.iinfo(pt.int8).max
    127
    """

    def __init__(self, type: Array | DTypeLike, /) -> None:
        dtype = np.dtype(getattr(type, "dtype", type))
        found = np.iinfo(dtype)
        self.bits, self.max, self.min = int(found.bits), int(found.max), int(found.min)
        self.dtype = dtype
