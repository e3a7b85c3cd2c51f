"""What NumPy's own functions do when they meet arrays of ours.

NumPy says by its signatures what a caller gave; what has its default is left out. A function of ours
takes the rest by name. A keyword that it does not have is refused by name, never dropped.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _numpy_reductions as reductions
from ._array import Array

#: NumPy's names of functions whose name differs here.
NAMES = {
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh",
    "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh", "conjugate": "conj",
    "invert": "bitwise_invert", "left_shift": "bitwise_left_shift", "power": "pow", "rint": "round",
    "right_shift": "bitwise_right_shift", "true_divide": "divide", "amax": "max", "amin": "min",
    "around": "round", "concatenate": "concat",
}  # fmt: skip

#: What the methods of ufuncs are called here.
REDUCTIONS = {
    "add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all",
    "logical_or": "any",
}  # fmt: skip

#: Signatures of functions that older versions of NumPy keep to themselves.
SIGNATURES: dict[str, Callable[..., None]] = {
    "concatenate": lambda arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind": None,
    "where": lambda condition, x=None, y=None, /: None,
    "empty_like": lambda prototype, /, dtype=None, order="K", subok=True, shape=None, *, device=None: None,
    "dot": lambda a, b, out=None: None,
    "copyto": lambda dst, src, casting="same_kind", where=True: None,
}

_MISSING = inspect.Parameter.empty


def _ours(name: str) -> Any:
    import pantile

    return getattr(pantile, NAMES.get(name, name), None)


def unknown(name: str) -> TypeError:
    """There is no such function for arrays of ours."""
    return TypeError(f"np.{name} does not know distributed arrays; np.asarray(a) gathers one first")


def refused(name: str, keyword: str) -> TypeError:
    """A function of ours does not have a keyword that was given."""
    return TypeError(f"np.{name} of distributed arrays has no {keyword}=; np.asarray(a) gathers one first")


# ---- functions


def function(called: Any, args: tuple, kwargs: dict) -> Any:
    """`np.sum(a)`, `np.where(a > 0, a, 0)`, ..."""
    name = called.__name__
    handler = HANDLERS.get(name) or _plain(name)
    if handler is None:
        raise unknown(name)
    given = _given(called, args, kwargs)
    out = given.pop("out", None)
    result = handler(name, given)
    return result if out is None else _into(name, out, result)


def _given(called: Any, args: tuple, kwargs: dict) -> dict[str, Any]:
    """What a caller gave, by NumPy's names of it; what has its default is left out."""
    signature = inspect.signature(SIGNATURES.get(called.__name__, called))
    bound = signature.bind(*args, **kwargs)
    given: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        parameter = signature.parameters[name]
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            given.update({key: one for key, one in value.items() if not _is_usual(key, one, _MISSING)})
        elif not _is_usual(name, value, parameter.default):
            given[name] = value
    return given


def _is_usual(name: str, value: Any, default: Any) -> bool:
    """True if an argument says nothing: its default, or what is so for arrays of ours anyway."""
    if value is np._NoValue or value is default:
        return True
    if name == "order" and value in ("C", "K", "A"):
        return True
    if name == "subok" or (name == "where" and value is True):
        return True
    simple = (bool, int, float, str)
    return type(value) in simple and type(value) is type(default) and value == default


def _into(name: str, out: Any, result: Any) -> Array:
    """What `out=` asks for: the result in an array that is there."""
    if isinstance(out, tuple):
        (out,) = out
    if not isinstance(out, Array):
        raise TypeError(f"np.{name}: out= is a NumPy array, but the result is distributed: use np.asarray(...)")
    if out.shape != result.shape:
        raise ValueError(f"np.{name}: got out= of shape {out.shape} for a result of shape {result.shape}")
    out[...] = result
    return out


def _plain(name: str) -> Callable[[str, dict], Any] | None:
    """A function of ours that is called as NumPy's is: by place what it takes by place, the rest by
    name."""
    found = _ours(name)
    if not inspect.isfunction(found):
        return None

    def call(name: str, given: dict) -> Any:
        parameters = inspect.signature(found).parameters.values()
        if any(one.kind is one.VAR_POSITIONAL for one in parameters):
            raise unknown(name)
        places = sum(one.kind is not one.KEYWORD_ONLY for one in parameters)
        named = {one.name for one in parameters if one.kind is not one.POSITIONAL_ONLY}
        positional: list[Any] = []
        # Arguments that NumPy has in the same place; those with a default come by name.
        for key in list(given)[:places]:
            if key in named and positional:
                break
            positional.append(given.pop(key))
        for key in given:
            if key not in named:
                raise refused(name, key)
        return found(*positional, **given)

    return call


def _takes(*keywords: str) -> Callable:
    """A function of NumPy's that has these keywords here."""

    def decorate(function: Callable) -> Callable[[str, dict], Any]:
        def call(name: str, given: dict) -> Any:
            for key in given:
                if key not in keywords:
                    raise refused(name, key)
            return function(**given)

        return call

    return decorate


@_takes("a", "axes")
def _transpose(a, axes=None):
    return _ours("permute_dims")(a, tuple(reversed(range(a.ndim))) if axes is None else axes)


def _joined(join: str) -> Callable[[str, dict], Any]:
    @_takes("arrays", "axis", "dtype")
    def call(arrays, axis=0, dtype=None):
        made = _ours(join)([_ours("asarray")(one) for one in arrays], axis=axis)
        return made if dtype is None else made.astype(dtype)

    return call


@_takes("a", "shape", "newshape", "copy")
def _reshape(a, shape=None, newshape=None, copy=None):
    return _ours("reshape")(a, newshape if shape is None else shape, copy=copy)


@_takes("a", "a_min", "a_max", "min", "max")
def _clip(a, a_min=None, a_max=None, min=None, max=None):
    return _ours("clip")(_array(a), a_min if min is None else min, a_max if max is None else max)


@_takes("a")
def _copy(a):
    return a.copy()


@_takes("a", "axis")
def _squeeze(a, axis=None):
    ones = tuple(i for i, length in enumerate(a.shape) if length == 1)
    return _ours("squeeze")(a, axis=ones if axis is None else axis)


@_takes("condition", "x", "y")
def _where(condition, x=None, y=None):
    if x is None or y is None:
        raise TypeError("np.where of distributed arrays needs x and y: the number of places is not known")
    return _ours("where")(condition, x, y)


@_takes("a", "axis")
def _size(a, axis=None):
    return a.size if axis is None else a.shape[axis]


@_takes("a1", "a2", "equal_nan")
def _array_equal(a1, a2, equal_nan=False):
    a, b = _array(a1), _array(a2)
    if a.shape != b.shape:
        return False
    same = a == b
    if equal_nan:
        same = same | ((a != a) & (b != b))
    return bool(_ours("all")(same))


@_takes("a", "b", "rtol", "atol", "equal_nan")
def _allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    a, b = _array(a), _array(b)
    near = (abs(a - b) <= atol + rtol * abs(b)) | (a == b)
    if equal_nan:
        near = near | ((a != a) & (b != b))
    return bool(_ours("all")(near))


def _array(value: Any) -> Array:
    return value if isinstance(value, Array) else _ours("asarray")(value)


#: Functions that are called in another way here.
HANDLERS: dict[str, Callable[[str, dict], Any]] = {
    "transpose": _transpose, "permute_dims": _transpose, "concatenate": _joined("concat"),
    "concat": _joined("concat"), "stack": _joined("stack"), "reshape": _reshape, "clip": _clip,
    "copy": _copy, "squeeze": _squeeze, "where": _where, "size": _size, "array_equal": _array_equal,
    "allclose": _allclose, "shape": _takes("a")(lambda a: a.shape),
    "ndim": _takes("a")(lambda a: a.ndim),
    **{name: _takes(*keywords)(call) for name, (call, keywords) in reductions.FUNCTIONS.items()},
}  # fmt: skip


# ---- ufuncs


def ufunc(called: np.ufunc, method: str, inputs: tuple, kwargs: dict) -> Any:
    """`np.sin(a)`, `ndarray + a`, `np.add.reduce(a)`."""
    if any(_is_stranger(one) for one in inputs):
        return NotImplemented
    name = called.__name__
    given = {key: value for key, value in kwargs.items() if not _is_usual(key, value, None)}
    out = given.pop("out", None)
    if given.get("casting") == "same_kind":
        del given["casting"]
    if method == "reduce":
        result = _reduced(name, inputs[0], given, "axis" in kwargs)
    elif method != "__call__" or _ours(name) is None:
        raise unknown(name if method == "__call__" else f"{name}.{method}")
    elif given:
        raise refused(name, next(iter(given)))
    else:
        result = _ours(name)(*inputs)
    return result if out is None else _into(name, out, result)


def _reduced(name: str, array: Any, given: dict, with_axis: bool) -> Array:
    """`np.add.reduce(a, axis)`; without an axis along the first."""
    if name not in REDUCTIONS:
        raise unknown(f"{name}.reduce")
    if not with_axis:
        given["axis"] = 0
    return HANDLERS[REDUCTIONS[name]](f"{name}.reduce", {"a": array, **given})


def _is_stranger(operand: Any) -> bool:
    """True for arrays of other libraries: they may know what to do."""
    known = isinstance(operand, (Array, np.ndarray, np.generic))
    return not known and hasattr(type(operand), "__array_ufunc__")
