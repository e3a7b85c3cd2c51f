"""NumPy's reductions with all their keywords: `np.sum(a, where=mask, initial=1)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._array import Array


def _ours(name: str) -> Any:
    import pantile

    return getattr(pantile, name)


#: By reduction: the function of two numbers that goes on with it, and what changes nothing in it.
_IDENTITIES: dict[str, tuple[str, Any]] = {
    "sum": ("add", 0), "prod": ("multiply", 1), "any": ("logical_or", False),
    "all": ("logical_and", True), "max": ("maximum", None), "min": ("minimum", None),
}  # fmt: skip


def _folded(name: str) -> Callable[..., Array]:
    """A reduction that goes on from `initial`, over the elements that `where` selects."""
    join, identity = _IDENTITIES[name]

    def call(a, axis=None, dtype=None, keepdims=False, initial=None, where=None):
        more = {} if dtype is None else {"dtype": dtype}
        if where is not None:
            start = identity if initial is None or name in ("sum", "prod") else initial
            if start is None:
                raise ValueError(f"np.{name}: where= needs initial=, because nothing may be selected")
            a, where = _ours("broadcast_arrays")(a, _ours("asarray")(where))
            a = _ours("where")(where, a, start)
        empty = initial is not None and identity is None and _is_empty(a, axis)
        if empty:
            return _ours("full")(_reduced_shape(a, axis, keepdims), initial, dtype=a.dtype)
        made = _ours(name)(a, axis=axis, keepdims=bool(keepdims), **more)
        return made if initial is None else _ours(join)(made, initial)

    return call


def _axes(a: Array, axis: Any) -> set[int]:
    listed = range(a.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return {one % a.ndim for one in listed}


def _is_empty(a: Array, axis: Any) -> bool:
    """True if nothing is folded: then there is no largest element, only the initial one."""
    return any(a.shape[one] == 0 for one in _axes(a, axis))


def _reduced_shape(a: Array, axis: Any, keepdims: bool) -> tuple[int, ...]:
    axes = _axes(a, axis)
    return tuple(1 if i in axes else n for i, n in enumerate(a.shape) if keepdims or i not in axes)


def _as_floats(name: str, a: Array, dtype: Any) -> Array:
    """The elements in the type in which a mean is computed: one of floats."""
    if dtype is None:
        return a
    if np.dtype(dtype).kind not in "fc":
        raise TypeError(f"np.{name} of distributed arrays has no dtype= of integers, got {dtype}")
    return _ours("astype")(a, dtype)


def _mean(a, axis=None, dtype=None, keepdims=False):
    a = _as_floats("mean", a, dtype)
    return _ours("mean")(a, axis=axis, keepdims=bool(keepdims))


def _spread(name: str) -> Callable[..., Array]:
    """The variance or the standard deviation."""

    def call(a, axis=None, dtype=None, ddof=None, keepdims=False, correction=None):
        if ddof is not None and correction is not None:
            raise ValueError(f"np.{name}: got ddof= and correction=, expected one of them")
        given = [one for one in (ddof, correction) if one is not None]
        a = _as_floats(name, a, dtype)
        return _ours(name)(a, axis=axis, correction=given[0] if given else 0, keepdims=bool(keepdims))

    return call


def _place(name: str) -> Callable[..., Array]:
    def call(a, axis=None, keepdims=False):
        return _ours(name)(a, axis=axis, keepdims=bool(keepdims))

    return call


_PLACE = ("a", "axis", "keepdims")
_FOLD = (*_PLACE, "initial", "where")

#: Functions, and the keywords that each has.
FUNCTIONS: dict[str, tuple[Callable[..., Array], tuple[str, ...]]] = {
    "sum": (_folded("sum"), (*_FOLD, "dtype")),
    "prod": (_folded("prod"), (*_FOLD, "dtype")),
    "max": (_folded("max"), _FOLD),
    "min": (_folded("min"), _FOLD),
    "amax": (_folded("max"), _FOLD),
    "amin": (_folded("min"), _FOLD),
    "any": (_folded("any"), (*_PLACE, "where")),
    "all": (_folded("all"), (*_PLACE, "where")),
    "mean": (_mean, (*_PLACE, "dtype")),
    "std": (_spread("std"), (*_PLACE, "dtype", "ddof", "correction")),
    "var": (_spread("var"), (*_PLACE, "dtype", "ddof", "correction")),
    "argmax": (_place("argmax"), _PLACE),
    "argmin": (_place("argmin"), _PLACE),
    "count_nonzero": (_place("count_nonzero"), _PLACE),
}
