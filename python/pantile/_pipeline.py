"""Functions of chunks of arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, overload

from . import _core, _world
from ._array import Array

Split: TypeAlias = int | None
Combine: TypeAlias = int | str


@overload
def pipeline(
    f: Callable[..., Array],
    *inputs: Array,
    split: Split | Sequence[Split] = 0,
    combine: Combine = 0,
    chunks: int | None = None,
) -> Array: ...
@overload
def pipeline(
    f: Callable[..., Sequence[Array]],
    *inputs: Array,
    split: Split | Sequence[Split] = 0,
    combine: Sequence[Combine],
    chunks: int | None = None,
) -> tuple[Array, ...]: ...
def pipeline(
    f: Callable[..., Any],
    *inputs: Array,
    split: Split | Sequence[Split] = 0,
    combine: Combine | Sequence[Combine] = 0,
    chunks: int | None = None,
) -> Array | tuple[Array, ...]:
    """A function applied to chunks of arrays, whose results are combined.

    `split`: for all inputs or for each of them the axis along which it is split, or `None` if every
    call gets all of it; split inputs have the same length there. `combine`: how the results become
    one array: an axis to concatenate them along, or `"sum"`, `"prod"`, `"min"`, `"max"`, `"any"` or
    `"all"`, element by element. A list or tuple of these says that `f` gives as many arrays, and the
    results are a tuple. `chunks`: how many; one per rank unless told otherwise. Lengths differ by
    one at most, longer ones first.

    `f` is called once for every chunk, with arrays of pantile; what it does to them is recorded as
    usual, and nothing moves until somebody looks. Chunks of length 0 are left out, except if all are:
    then `f` is called once. Inputs that are cut over the ranks as they are split do not move, and
    concatenated results stay with the ranks of their chunks. Under MPI every process calls `f` for
    all chunks. A sum of floats is that of the results, exact and rounded once.

    >>> import pantile as pt
    >>> a = pt.reshape(pt.arange(12.0), (4, 3))
    >>> weights = pt.asarray([1.0, 10.0, 100.0])
    >>> rows, least = pt.pipeline(
    ...     lambda chunk, w: (pt.sum(chunk * w, axis=1), pt.min(chunk, axis=0)),
    ...     a, weights, split=(0, None), combine=(0, "min"))
    >>> rows.tolist(), least.tolist()
    ([210.0, 543.0, 876.0, 1209.0], [0.0, 1.0, 2.0])
    """
    if not callable(f):
        raise TypeError(f"pipeline: got {type(f).__name__}, expected a function of chunks")
    for number, one in enumerate(inputs):
        if not isinstance(one, Array):
            words = f"pipeline: input {number} is {type(one).__name__}, expected an array of pantile"
            raise TypeError(words)
    single = not isinstance(combine, (tuple, list))
    rules = [_combine(one) for one in ([combine] if single else list(combine))]  # type: ignore[arg-type, list-item]
    axes = _splits(split, inputs)
    count = None if chunks is None else _world.whole(chunks, f"got chunks={chunks!r}, expected 1 or more")
    world = inputs[0]._h.world if inputs else _world.world()

    def called(chunks: list[_core.Array]) -> list[_core.Array]:
        given = f(*(Array._of(one) for one in chunks))
        if single:
            given = [given]
        elif not isinstance(given, (tuple, list)):
            words = f"pipeline: the function gave {type(given).__name__}, expected {len(rules)} arrays"
            raise TypeError(words)
        for number, one in enumerate(given):
            if not isinstance(one, Array):
                words = f"pipeline: output {number} is {type(one).__name__}, expected an array of pantile"
                raise TypeError(words)
        return [one._h for one in given]

    pairs = [(one._h, axis) for one, axis in zip(inputs, axes)]
    results = tuple(Array._of(one) for one in world.pipeline(pairs, rules, count, called))
    return results[0] if single else results


def _splits(split: Any, inputs: Sequence[Array]) -> list[int | None]:
    """The axis along which each input is split."""
    each = list(split) if isinstance(split, (tuple, list)) else [split] * len(inputs)
    if len(each) != len(inputs):
        raise ValueError(f"pipeline: got {len(each)} splits for {len(inputs)} inputs, expected one for each")
    return [_split(one, number, of.ndim) for number, (one, of) in enumerate(zip(each, inputs))]


def _split(axis: Any, number: int, ndim: int) -> int | None:
    if axis is None:
        return None
    sentence = f"pipeline: input {number} has {ndim} axes, got split={axis!r}, expected one of them or None"
    found = _index(axis, sentence)
    if not -ndim <= found < ndim:
        raise ValueError(sentence)
    return found % ndim


def _combine(rule: Any) -> int | str:
    if isinstance(rule, str):
        return rule
    sentence = f"pipeline: got combine={rule!r}, expected an axis from 0 on, or a name"
    axis = _index(rule, sentence)
    if axis < 0:
        raise ValueError(sentence)
    return axis


def _index(value: Any, sentence: str) -> int:
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise TypeError(sentence) from None
