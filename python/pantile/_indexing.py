"""Keys of `a[...]`: what they select."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

Item = int | tuple[int | None, int | None, int]


def read(key: Any, shape: tuple[int, ...]) -> tuple[list[Item], list[int] | None]:
    """One item per axis, and the shape of the result if the key makes new axes."""
    keys = key if isinstance(key, tuple) else (key,)
    fixed = sum(one is not None and one is not Ellipsis for one in keys)
    if sum(one is Ellipsis for one in keys) > 1:
        raise IndexError("got more than one ellipsis")
    if fixed > len(shape):
        raise IndexError(f"got {fixed} indices for an array of {len(shape)} axes")
    if not any(one is Ellipsis for one in keys):
        keys = (*keys, Ellipsis)
    items: list[Item] = []
    lengths: list[int] = []
    new = False
    for one in keys:
        if one is None:
            lengths.append(1)
            new = True
        elif one is Ellipsis:
            for _ in range(len(shape) - fixed):
                lengths.append(shape[len(items)])
                items.append((None, None, 1))
        else:
            item, length = _item(one, len(items), shape[len(items)])
            items.append(item)
            lengths.extend(length)
    if all(item == (None, None, 1) for item in items):
        items = []
    return items, lengths if new else None


def is_element(key: Any, ndim: int) -> bool:
    """True if a key has an index for every axis: it selects a value, not a view."""
    keys = key if isinstance(key, tuple) else (key,)
    return len(keys) == ndim and not any(one is Ellipsis or isinstance(one, slice) for one in keys)


def _item(one: Any, axis: int, length: int) -> tuple[Item, list[int]]:
    if isinstance(one, slice):
        start, stop, step = one.start, one.stop, 1 if one.step is None else operator.index(one.step)
        if step == 0:
            raise ValueError(f"axis {axis}: got a slice with step 0")
        start = None if start is None else operator.index(start)
        stop = None if stop is None else operator.index(stop)
        return (start, stop, step), [len(range(*slice(start, stop, step).indices(length)))]
    if isinstance(one, (list, np.ndarray)) or (hasattr(one, "ndim") and one.ndim > 0) or _is_truth(one):
        raise NotImplementedError(
            "arrays and lists as indices are not there yet: the result's shape or place depends on "
            "their elements; use slices, or pt.where"
        )
    try:
        index = operator.index(one)
    except TypeError:
        raise IndexError(f"axis {axis}: got {one!r}, expected a number, a slice, ... or None") from None
    if not -length <= index < length:
        raise IndexError(f"axis {axis}: index {index} is not among the {length} of the array")
    return index, []


def _is_truth(one: Any) -> bool:
    return isinstance(one, (bool, np.bool_)) or getattr(one, "dtype", None) == np.dtype(bool)


def assign_mask(array, mask, value) -> None:
    """`a[mask] = value`, for a value that can be everywhere."""
    from ._array import Array
    from ._operators import operand

    if mask.shape != array.shape[: mask.ndim]:
        raise IndexError(f"got a mask of shape {mask.shape} for an array of shape {array.shape}")
    value = operand(array, value)
    if value is NotImplemented or (not isinstance(value, (bool, int, float, complex)) and value.shape):
        raise NotImplementedError("a[mask] = value: the value has to be one number")
    wide = mask if mask.ndim == array.ndim else mask.reshape(
        mask.shape + (1,) * (array.ndim - mask.ndim)
    )
    chosen = Array._of(wide._h.choose(value, array._h))
    if chosen.dtype != array.dtype:
        chosen = Array._of(chosen._h.cast(str(array.dtype)))
    array._h.set([], chosen._h)


def fitted(array, items: list[Item], shape: list[int] | None, value):
    """A value in the type of the array, in the shape of the slice where the key made new axes."""
    if value.dtype != str(array.dtype):
        if not np.can_cast(value.dtype, array.dtype, "same_kind"):
            raise TypeError(f"got a value of {value.dtype} for an array of {array.dtype}")
        value = value.cast(str(array.dtype))
    if shape is not None:
        part = array._h.view(items) if items else array._h
        value = value.broadcast_to(shape).reshape(part.shape)
    return value
