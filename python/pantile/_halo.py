"""Arrays whose ranks hold cells of their neighbours, too."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _core
from ._array import Array
from ._dist import Distribution
from ._sections import Section

Pair = tuple[int, int]


class Haloed(Array):
    """The same elements; sections have those of the neighbours around their own."""

    __slots__ = ("_wide",)

    _wide: Distribution

    @classmethod
    def made(cls, array: Array, wide: Distribution) -> Haloed:
        """The elements of an array, with the halos of a distribution."""
        made = cls.__new__(cls)
        made._h, made._wide = array._h.copy(), wide
        return made

    @property
    def dist(self) -> Distribution:
        """Where its elements live, with halos."""
        return self._wide

    @property
    def sections(self) -> list[Section]:
        """The parts that this process hosts, one per rank, with halos: `data` has them, `owned` has
        not. Computes it, and exchanges the halos.
        """
        dist = self._wide._d
        held = self._h.held(dist)
        return [section_of(self._h, rank, dist, elements) for rank, elements in held]


def section_of(
    handle: _core.Array, rank: int, dist: _core.Distribution, elements: _core.Buffer
) -> Section:
    """What a rank holds by a distribution with halos."""
    found, shape, own = dist.held(rank), dist.local_shape(rank), dist.owned(rank)
    if found is None or shape is None or own is None:  # this rank is not on the mesh
        nothing = [0] * len(dist.shape)
        return Section(handle, rank, nothing, [[] for _ in nothing], (0, nothing), elements)
    runs, before = found
    inner = tuple(
        slice(first, first + sum(high - low for low, high in axis)) for first, axis in zip(before, own)
    )
    strides = [int(np.prod(shape[axis + 1 :], dtype=np.int64)) for axis in range(len(shape))]
    made = Section(handle, rank, shape, runs, (0, strides), elements, inner)
    made._wide = dist
    return made


def widened(dist: Distribution, widths: list[Pair], periodic: list[bool]) -> Distribution:
    """The same blocks with halos of these widths along each axis."""
    cuts, texts = dist.axes, []
    for axis, (text, (low, high), around) in enumerate(zip(cuts, widths, periodic)):
        if (low, high) == (0, 0):
            texts.append(text)
            continue
        if not text.startswith(("block", "whole")):
            raise ValueError(
                f"axis {axis} is cut as {text}, expected blocks: only they have neighbours"
            )
        texts.append(f"{text}{' periodic' if around else ''} halo {low} {high}")
    head = dist.text.partition(":")[0]
    return Distribution(f"{head}: {', '.join(texts)}")


def with_halo(array: Array, width: Any, periodic: Any = False) -> Array:
    """See `Array.with_halo`."""
    widths, flags = widths_of(width, array.ndim, "width"), flags_of(periodic, array.ndim)
    return Haloed.made(array, widened(Array._of(array._h).dist, widths, flags))


def of_distribution(array: Array, dist: Distribution) -> Array:
    """The array with the halos of a distribution that it lives in; room is filled, too."""
    return Haloed.made(array, dist.exchanged())


# ---- what users write for widths


def widths_of(given: Any, ndim: int, name: str, *, by_axis: bool = False) -> list[Pair]:
    """A pair of widths for each axis: of a number, a pair (low, high), one of both per axis, or some
    by axis. Two numbers for two axes are a pair, or one per axis if `by_axis`.

    >>> widths_of(1, 2, "width"), widths_of((1, 0), 2, "width"), widths_of([1, (0, 2)], 2, "width")
    ([(1, 1), (1, 1)], [(1, 0), (1, 0)], [(1, 1), (0, 2)])
    >>> widths_of((1, 0), 2, "depth", by_axis=True), widths_of({-1: 3}, 2, "depth")
    ([(1, 1), (0, 0)], [(0, 0), (3, 3)])
    """
    sentence = (
        f"got {name}={given!r}, expected a number, a pair (low, high), "
        f"or one of them for each of {ndim} axes"
    )
    if isinstance(given, Mapping):
        found = [(0, 0)] * ndim
        for axis, one in given.items():
            found[axis_of(axis, ndim)] = _pair(one, sentence)
        return found
    if _is_number(given):
        return [_pair(given, sentence)] * ndim
    if not isinstance(given, (tuple, list, np.ndarray)):
        raise TypeError(sentence)
    entries = list(given)
    is_pair = len(entries) == 2 and all(_is_number(one) for one in entries)
    if is_pair and not (by_axis and ndim == 2):
        return [_pair(entries, sentence)] * ndim
    if len(entries) != ndim:
        raise ValueError(sentence)
    return [_pair(one, sentence) for one in entries]


def flags_of(periodic: Any, ndim: int) -> list[bool]:
    """A truth value for each axis."""
    if isinstance(periodic, Sequence):
        if len(periodic) != ndim:
            raise ValueError(f"got periodic={periodic!r}, expected one truth value, or {ndim}")
        return [bool(one) for one in periodic]
    return [bool(periodic)] * ndim


def _pair(given: Any, sentence: str) -> Pair:
    entries = list(given) if isinstance(given, (tuple, list)) else []
    if _is_number(given):
        entries = [given, given]
    if len(entries) != 2 or not all(_is_number(one) for one in entries):
        raise ValueError(sentence)
    low, high = (operator.index(one) for one in entries)
    if low < 0 or high < 0:
        raise ValueError(f"{sentence}, of at least 0")
    return low, high


def _is_number(value: Any) -> bool:
    return hasattr(value, "__index__") and not hasattr(value, "__len__")


def axis_of(axis: Any, ndim: int) -> int:
    """The number of an axis, counted from 0."""
    number = operator.index(axis)
    if not -ndim <= number < ndim:
        raise ValueError(f"got axis {number}, expected one of {ndim}")
    return number % ndim
