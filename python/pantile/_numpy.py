"""What NumPy's own functions do when they meet arrays of ours."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._array import Array

#: NumPy's names of functions whose name differs here.
NAMES = {
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh",
    "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh", "conjugate": "conj",
    "invert": "bitwise_invert", "left_shift": "bitwise_left_shift", "power": "pow", "rint": "round",
    "right_shift": "bitwise_right_shift", "true_divide": "divide", "concatenate": "concat",
    "transpose": "permute_dims", "amax": "max", "amin": "min", "around": "round",
}  # fmt: skip


def _ours(name: str) -> Any:
    import pantile

    return getattr(pantile, NAMES.get(name, name), None)


def ufunc(called: np.ufunc, method: str, inputs: tuple, kwargs: dict) -> Any:
    """`np.sin(a)`, `ndarray + a`."""
    found = _ours(called.__name__)
    if found is None:
        return NotImplemented
    out = kwargs.pop("out", None)
    if method == "reduce":
        reductions = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"}
        name = reductions.get(called.__name__)
        if name is None:
            return NotImplemented
        kept = {key: kwargs[key] for key in ("axis", "keepdims", "dtype") if kwargs.get(key) is not None}
        return _ours(name)(inputs[0], **{"axis": 0, **kept} if "axis" not in kwargs else kept)
    if method != "__call__" or kwargs:
        return NotImplemented
    result = found(*inputs)
    if out is None:
        return result
    if not isinstance(out[0], Array):
        raise TypeError("out= is a NumPy array, but the result is distributed: use np.asarray(...)")
    out[0][...] = result
    return out[0]


def function(called: Any, args: tuple, kwargs: dict) -> Any:
    """`np.sum(a)`, `np.where(a > 0, a, 0)`, ..."""
    special = globals().get(f"_{called.__name__}")
    if special is not None:
        return special(*args, **kwargs)
    found = _ours(called.__name__)
    if found is None:
        raise TypeError(
            f"np.{called.__name__} does not know distributed arrays; np.asarray(a) gathers one first"
        )
    kept = {key: value for key, value in kwargs.items() if value is not np._NoValue}
    return found(*args, **kept)


def _reduction(name: str):
    def call(a, axis=None, dtype=None, out=None, keepdims=False, **rest):
        if out is not None:
            raise TypeError("out= is not there for distributed arrays")
        more = {} if dtype is None else {"dtype": dtype}
        if "ddof" in rest:
            more["correction"] = rest["ddof"]
        keepdims = False if keepdims is np._NoValue else keepdims
        return _ours(name)(a, axis=axis, keepdims=keepdims, **more)

    return call


for _name in ("sum", "prod", "mean", "std", "var", "max", "min", "any", "all", "count_nonzero"):
    globals()[f"_{_name}"] = _reduction(_name)
_amax, _amin = _reduction("max"), _reduction("min")


def _transpose(a, axes=None):
    return _ours("permute_dims")(a, tuple(reversed(range(a.ndim))) if axes is None else axes)


def _concatenate(arrays, axis=0):
    return _ours("concat")([_ours("asarray")(one) for one in arrays], axis=axis)


def _reshape(a, shape=None, order="C", **rest):
    shape = rest.get("newshape", shape)
    if order != "C":
        raise TypeError("only row-major order is there")
    return _ours("reshape")(a, shape)


def _clip(a, a_min=None, a_max=None, **rest):
    return _ours("clip")(a, rest.get("min", a_min), rest.get("max", a_max))


def _copy(a, **_):
    return a.copy()


def _shape(a):
    return a.shape


def _ndim(a):
    return a.ndim


def _size(a, axis=None):
    return a.size if axis is None else a.shape[axis]


def _argmax(a, axis=None, out=None, keepdims=False):
    return _ours("argmax")(a, axis=axis, keepdims=keepdims is True)


def _argmin(a, axis=None, out=None, keepdims=False):
    return _ours("argmin")(a, axis=axis, keepdims=keepdims is True)


def _array_equal(a, b, **_):
    a, b = _ours("asarray")(a), _ours("asarray")(b)
    return a.shape == b.shape and bool(_ours("all")(a == b))


def _allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    a, b = _ours("asarray")(a), _ours("asarray")(b)
    near = (abs(a - b) <= atol + rtol * abs(b)) | (a == b)
    if equal_nan:
        near = near | ((a != a) & (b != b))
    return bool(_ours("all")(near))
