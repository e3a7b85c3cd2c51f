"""Halos of layers: what every worker needs from its neighbours."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _core
from ._partition import Ints, counts

IndexRange = Callable[[int], tuple[int, int]]

#: Outputs of a layer that are all asked what they look at.
ASKED_MAX = 1 << 16

#: What one axis of a window is: kernel, stride, padding, dilation.
_Window = tuple[int, int, int, int]


@dataclass(frozen=True)
class Halo:
    """What one worker has, computes, receives, sends and needs: one row of `halos`.

    Ranges are `(start, stop)` and widths `(left, right)`; for several axes a tuple with one of these
    per axis.
    """

    #: The block of the input that the worker has.
    x: Any
    #: The outputs that it computes: always balanced.
    y: Any
    #: Cells that it needs beyond its block; negative where it has cells that it does not need.
    signed: Any
    #: Cells that it receives on each side: the positive part of `signed`.
    recv: Any
    #: Cells that it sends to each side: what its neighbours receive from there.
    send: Any
    #: The part of the block with what it received that yields exactly the outputs.
    needed: Any
    #: Padding that counts as data of this worker, as with `layer=True`.
    pad: Any = field(repr=False)
    #: The cells of the input (without padding) that the outputs look at.
    cells: Any = field(repr=False)
    #: Cells that the outputs look at before the first and after the last cell of the input.
    beyond: Any = field(repr=False)


def halos(
    n: Ints | None,
    ranks: Ints | None,
    kernel: Ints | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    dilation: Ints = 1,
    extents: Iterable[Any] | None = None,
    index_range: IndexRange | Sequence[IndexRange | None] | None = None,
    layer: bool = False,
    *,
    outputs: Ints | None = None,
) -> list[Halo]:
    """The halos of a convolution, a pooling or any other layer: one row per rank.

    An input of extent `n` is cut over `ranks` workers, the larger blocks first, or into blocks of the
    given `extents`. Outputs are balanced over the same workers.

    Output i of a window looks at the inputs `stride * i - padding + dilation * range(kernel)`. Of any
    other layer `index_range(i)` says the first and the last input (both included) that it looks at. (Of
    more than 65,536 outputs only those at the ends of blocks are asked for: then neither goes down as i
    goes up.) It has `outputs` outputs; else as many as the window has, or, without a kernel, as look at no
    input past the last.

    With `layer=True` the padding is laid around the input first and counts as data of the workers at
    the edges.

    For several axes `n` and `ranks` are lists, the others numbers for all axes or lists; shorter lists
    belong to the last axes. `extents` and `index_range` then have an entry per axis (`None`: balanced,
    the window). Rows follow the ranks of the grid, row-major.

    >>> import pantile as pt
    >>> for row in pt.halos(10, 3, kernel=2, stride=2):
    ...     print(row)
    Halo(x=(0, 4), y=(0, 2), signed=(0, 0), recv=(0, 0), send=(0, 0), needed=(0, 4))
    Halo(x=(4, 7), y=(2, 4), signed=(0, 1), recv=(0, 1), send=(0, 0), needed=(0, 4))
    Halo(x=(7, 10), y=(4, 5), signed=(-1, 0), recv=(0, 0), send=(1, 0), needed=(1, 3))
    """
    lone = _is_lone(n, ranks, extents)
    cuts = _cuts(n, ranks, extents, lone)
    if kernel is None and index_range is None:
        raise TypeError("halos: got no kernel, expected one, or index_range")
    parts = [
        _spread(values, len(cuts), fill, what)
        for values, fill, what in (
            (1 if kernel is None else kernel, 1, "kernel"), (stride, 1, "stride"),
            (padding, 0, "padding"), (dilation, 1, "dilation"),
        )
    ]  # fmt: skip
    functions = _functions(index_range, len(cuts))
    totals: list[int | None] = [None] * len(cuts)
    if outputs is not None:
        totals = list(_spread(outputs, len(cuts), 0, "outputs"))
    elif kernel is None:
        totals = [
            None if one is None else _inside(one, sum(cut)) for one, cut in zip(functions, cuts)
        ]
    tables = [
        _table(cut, (kernel, stride, padding, dilation), function, total, bool(layer))
        for cut, kernel, stride, padding, dilation, function, total in zip(
            cuts, *parts, functions, totals, strict=True
        )
    ]
    if lone:
        return [Halo(*fields) for fields in tables[0]]
    return [Halo(*zip(*rows)) for rows in itertools.product(*tables)]


def _is_lone(n: Any, ranks: Any, extents: Any) -> bool:
    """True if there is one axis, said by numbers and not by lists."""
    told = n if n is not None else ranks
    if told is not None:
        return hasattr(told, "__index__") and np.ndim(told) == 0
    return extents is not None and all(np.ndim(one) == 0 for one in extents)


def _cuts(n: Any, ranks: Any, extents: Any, lone: bool) -> list[list[int]]:
    """The extents of the workers' blocks along each axis."""
    if extents is None and (n is None or ranks is None):
        raise TypeError("halos: got no n or no ranks, expected both, or extents")
    if extents is None:
        wholes, workers = counts(n, "n"), counts(ranks, "ranks")
        if len(wholes) != len(workers):
            raise ValueError(f"halos: got n for {len(wholes)} axes and ranks for {len(workers)}")
        return [_balanced(*pair) for pair in zip(wholes, workers)]
    each = [extents] if lone else list(extents)
    told = [None if one is None else counts(one, "n and ranks") for one in (n, ranks)]
    if any(one is not None and len(one) != len(each) for one in told):
        raise ValueError(
            f"halos: got extents for {len(each)} axes, but n or ranks for another number of them"
        )
    cuts = []
    for axis, given in enumerate(each):
        whole, count = (None if one is None else one[axis] for one in told)
        if given is None:
            if whole is None or count is None:
                raise TypeError("halos: got extents None without n and ranks")
            cuts.append(_balanced(whole, count))
            continue
        cut = counts(given, "extents")
        if count not in (None, len(cut)) or whole not in (None, sum(cut)):
            raise ValueError(f"halos: got extents {cut}, expected {count} that add up to {whole}")
        cuts.append(cut)
    return cuts


def _balanced(whole: int, workers: int) -> list[int]:
    if workers < 1:
        raise ValueError(f"halos: got {workers} ranks, expected at least 1")
    small, more = divmod(whole, workers)
    return [small + (worker < more) for worker in range(workers)]


def _spread(values: Any, axes: int, fill: int, what: str) -> list[int]:
    """One number per axis."""
    found = counts(values, what)
    if np.ndim(values) == 0:
        return found * axes
    if len(found) > axes:
        raise ValueError(f"halos: got {len(found)} entries of {what}, expected at most {axes}")
    return [fill] * (axes - len(found)) + found


def _functions(given: Any, axes: int) -> list[IndexRange | None]:
    if given is None or callable(given):
        return [given] * axes
    found = list(given) if isinstance(given, Sequence) else [given]
    if len(found) > axes or not all(one is None or callable(one) for one in found):
        raise TypeError(f"halos: got index_range {given!r}, expected at most {axes} functions")
    return [None] * (axes - len(found)) + found


def _table(
    cut: list[int], window: _Window, function: IndexRange | None, outputs: int | None, layer: bool
) -> list[tuple[Any, ...]]:
    """The rows along one axis, field by field."""
    custom = None
    if function is not None:
        kernel, stride, padding, dilation = window
        if min(kernel, stride, dilation) < 1:
            raise ValueError("halos: got kernel, stride or dilation 0, expected at least 1")
        if layer and padding:
            raise ValueError(
                "halos: got padding with layer=True and index_range, expected none: where padding is "
                "data, index_range counts it as input"
            )
        if outputs is None:
            outputs = (sum(cut) + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
        if outputs < 1:
            raise ValueError(f"halos: got {outputs} outputs, expected at least 1")
        custom = outputs, _looks(_checked(function), _balanced(outputs, len(cut)))
    rows = _core.halos(cut, window, layer, custom)
    return [(*row[:6], *row[6]) for row in rows]


def _looks(ask: Callable[[int], Any], blocks: list[int]) -> Callable[[int], Any]:
    """A function that says at the ends of each block of outputs what all of the block look at."""
    few = sum(blocks) <= ASKED_MAX
    table: dict[int, Any] = {}
    start, before = 0, None
    for count in blocks:
        if not count:
            continue
        asked = range(start, start + count) if few else sorted({start, start + count - 1})
        start += count
        ranges = [_pair(ask(output), output) for output in asked]
        if few:
            whole = min(first for first, _ in ranges), max(last for _, last in ranges)
            table[asked[0]] = table[asked[-1]] = whole
            continue
        for output, found in zip(asked, ranges):
            if before is not None and (found[0] < before[0] or found[1] < before[1]):
                raise ValueError(
                    f"halos: index_range({output}) gave {found} after {before}, which goes down, expected "
                    f"that it does not for more than {ASKED_MAX} outputs"
                )
            table[output] = before = found
    return lambda output: table[output] if output in table else ask(output)


def _pair(said: Any, output: int) -> tuple[int, int]:
    if isinstance(said, tuple) and len(said) == 2 and all(isinstance(one, int) for one in said):
        first, last = said
        if first <= last:
            return first, last
    raise ValueError(
        f"index_range({output}) gave {said}, expected the first and the last input index of output {output}"
    )


def _inside(function: IndexRange, n: int) -> int:
    """How many outputs look at no input past the last; none of them comes after one that does."""

    def fits(output: int) -> bool:
        try:
            return int(function(output)[1]) < n
        except IndexError:
            return False

    high = 1
    while fits(high - 1):
        high *= 2
        if high > 2**40:
            raise ValueError("halos: index_range never leaves the input: say outputs=, how many there are")
    low = high // 2
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle - 1) else (low, middle)
    return low


def _checked(function: IndexRange) -> Callable[[int], Any]:
    """A function whose answers are plain numbers if they can be."""

    def ask(output: int) -> Any:
        said: Any = function(output)
        try:
            first, last = (operator.index(one) for one in said)
        except (TypeError, ValueError):
            return said
        return first, last

    return ask
