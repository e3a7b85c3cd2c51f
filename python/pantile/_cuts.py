"""How one axis of an array is cut: `Block`, `Cyclic`, `Indexed`, `Whole`."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any, SupportsIndex

Pair = tuple[int, int]


class Cut:
    """How one axis of an array is cut over mesh axes."""

    __slots__ = ("over",)

    #: The mesh axes that cut it, taken together in this order.
    over: tuple[str, ...]

    def _text(self, length: int) -> str:
        """As distributions write it, for an axis of this length; without widths that differ."""
        raise NotImplementedError

    def _values(self) -> tuple[Any, ...]:
        return (self.over,)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._values()))


class Whole(Cut):
    """Not cut: every rank has the whole axis.

    >>> import pantile as pt
    >>> pt.Distribution((4, 2), pt.Mesh(2), [pt.Block("x"), pt.Whole()])
    Distribution('4x2 on x=2: block(x), whole')
    """

    __slots__ = ()

    def __init__(self) -> None:
        self.over = ()

    def _text(self, length: int) -> str:
        return "whole"

    def __repr__(self) -> str:
        return "Whole()"


class Block(Cut):
    """Contiguous parts.

    `over`: a mesh axis, or several taken together. `cuts`: where the parts begin, and the end of
    the last one; `"last"` and `"ceil"` put the remainder on the last ranks, or fill ranks until the
    axis ends; without them it is on the first ranks. `halo`: how many neighbours ranks hold beyond
    their own part: a number, a pair (low, high), or one pair per rank along the axis. `periodic`:
    halos at the ends of the axis come from its other end.

    >>> import pantile as pt
    >>> rows = pt.Distribution(10, pt.Mesh(3), [pt.Block("x", cuts=[0, 2, 2, 10], halo=(1, 0))])
    >>> rows.owned(2), rows.local_shape(2)
    ((slice(2, 10, None),), (9,))
    """

    __slots__ = ("cuts", "halo", "periodic")

    #: Where it is cut.
    cuts: tuple[int, ...] | str | None
    #: Low and high widths, or a pair for each rank along the axis.
    halo: Pair | tuple[Pair, ...]
    #: True if the axis is closed to a ring.
    periodic: bool

    def __init__(
        self,
        over: str | Iterable[str],
        cuts: Sequence[SupportsIndex] | str | None = None,
        halo: SupportsIndex | Sequence[SupportsIndex] | Sequence[Sequence[SupportsIndex]] = 0,
        periodic: bool = False,
    ) -> None:
        self.over = _over(over)
        self.cuts = _cuts(cuts)
        self.halo = _halo(halo)
        self.periodic = bool(periodic)

    def _text(self, length: int) -> str:
        rule = self.cuts
        if isinstance(rule, tuple):
            rule = "cuts " + " ".join(map(str, rule))
        text = f"block({'*'.join(self.over)}{f', {rule}' if rule else ''})"
        if self.periodic:
            text += " periodic"
        if self.halo and isinstance(self.halo[0], int) and self.halo != (0, 0):
            text += f" halo {self.halo[0]} {self.halo[1]}"
        return text

    def _held(self, owned: list[Pair], length: int) -> str:
        """The text of widths that differ, where ranks along the axis own these parts."""
        if not self.halo or isinstance(self.halo[0], int):
            return ""
        if len(self.halo) != len(owned):
            raise ValueError(
                f"got {len(self.halo)} pairs of halo widths, expected {len(owned)}: "
                f"one per rank along {'*'.join(self.over)}"
            )
        intervals = []
        for (low, high), pair in zip(owned, self.halo):
            before, after = pair
            first, last = low - before, high + after
            if not self.periodic:
                first, last = min(max(first, 0), length), min(max(last, 0), length)
            # Who owns nothing has no neighbours.
            empty = low == high or first >= last
            intervals.append(f"{low}:{low}" if empty else f"{first}:{last}")
        return " held " + " ".join(intervals)

    def _values(self) -> tuple[Any, ...]:
        return self.over, self.cuts, self.halo, self.periodic

    def __repr__(self) -> str:
        words = [_over_text(self.over)]
        if self.cuts is not None:
            words.append(f"cuts={self.cuts!r}")
        if self.halo != (0, 0):
            words.append(f"halo={self.halo!r}")
        if self.periodic:
            words.append("periodic=True")
        return f"Block({', '.join(words)})"


class Cyclic(Cut):
    """Blocks of `block` indices dealt round-robin.

    >>> import pantile as pt
    >>> dealt = pt.Distribution(7, pt.Mesh(2), [pt.Cyclic("x", block=2)])
    >>> dealt.owned(1)
    (array([2, 3, 6]),)
    """

    __slots__ = ("block",)

    #: Indices per block.
    block: int

    def __init__(self, over: str | Iterable[str], block: SupportsIndex = 1) -> None:
        self.over = _over(over)
        try:
            self.block = operator.index(block)
        except TypeError:
            raise TypeError(f"got block={block!r}, expected a whole number") from None
        if self.block < 1:
            raise ValueError(f"got cyclic blocks of {self.block}, expected at least 1")

    def _text(self, length: int) -> str:
        return f"cyclic({'*'.join(self.over)}, {self.block})"

    def _values(self) -> tuple[Any, ...]:
        return self.over, self.block

    def __repr__(self) -> str:
        return f"Cyclic({_over_text(self.over)}{f', block={self.block}' if self.block > 1 else ''})"


class Indexed(Cut):
    """A list of labels for each rank along the axis, in the order in which it stores them.

    Labels are indices of the axis. If some lie outside of it, they are names: the index of a label
    is then its place among all of them in order. `one_to_one` promises that every label is in
    exactly one list, and is checked.

    >>> import pantile as pt
    >>> mixed = pt.Distribution(5, pt.Mesh(2), [pt.Indexed("x", [[4, 0], [1, 3, 2]])])
    >>> mixed.owner(3), mixed.owned(0)
    (1, (array([4, 0]),))
    """

    __slots__ = ("labels", "one_to_one")

    #: A list for each rank along the axis.
    labels: tuple[tuple[int, ...], ...]
    #: True if no label is in two lists.
    one_to_one: bool

    def __init__(
        self,
        over: str | Iterable[str],
        labels: Sequence[Sequence[SupportsIndex]],
        one_to_one: bool = False,
    ) -> None:
        self.over = _over(over)
        self.one_to_one = bool(one_to_one)
        try:
            self.labels = tuple(tuple(operator.index(one) for one in own) for own in labels)
        except TypeError as error:
            words = f"labels: {error}, expected one list of whole numbers per rank"
            raise TypeError(words) from None
        for coordinate, own in enumerate(self.labels):
            if len(set(own)) < len(own):
                raise ValueError(f"got a label twice in list {coordinate}, expected different ones")
        every = [one for own in self.labels for one in own]
        if self.one_to_one and len(set(every)) < len(every):
            twice = next(one for one in sorted(every) if every.count(one) > 1)
            raise ValueError(f"label {twice} is in several lists, expected one with one_to_one=True")

    def _text(self, length: int) -> str:
        lists = " ".join(f"[{' '.join(map(str, own))}]" for own in self.labels)
        every = {one for own in self.labels for one in own}
        universe = ""
        if self.one_to_one and len(every) < length and all(0 <= one < length for one in every):
            missing = next(one for one in range(length) if one not in every)
            raise ValueError(f"nobody has label {missing}, expected one with one_to_one=True")
        if any(not 0 <= one < length for one in every):
            if len(every) != length:
                raise ValueError(
                    f"got {len(every)} different labels, some outside of 0 to {length - 1}, "
                    f"for an axis of length {length}"
                )
            universe = f" universe [{' '.join(map(str, sorted(every)))}]"
        return f"indexed({'*'.join(self.over)}, {lists}{universe})"

    def _values(self) -> tuple[Any, ...]:
        return self.over, self.labels

    def __repr__(self) -> str:
        more = ", one_to_one=True" if self.one_to_one else ""
        return f"Indexed({_over_text(self.over)}, {[list(own) for own in self.labels]}{more})"


def read(entry: Any, axis: int) -> Cut:
    """How an axis is cut: by a cut, by mesh axes in blocks, or not at all."""
    if isinstance(entry, Cut):
        return entry
    if entry is None:
        return Whole()
    names = (entry,) if isinstance(entry, str) else entry
    if isinstance(names, (tuple, list)) and all(isinstance(one, str) for one in names):
        return Block(names) if names else Whole()
    raise TypeError(
        f"axis {axis}: got {entry!r}, expected pt.Block, pt.Cyclic, pt.Indexed or pt.Whole, "
        "mesh axes or None"
    )


def _over(over: str | Iterable[str]) -> tuple[str, ...]:
    names = (over,) if isinstance(over, str) else tuple(over)
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"got over={over!r}, expected the name of a mesh axis, or several of them")
    return names


def _over_text(over: tuple[str, ...]) -> str:
    return repr(over[0]) if len(over) == 1 else repr(over)


def _cuts(cuts: Sequence[SupportsIndex] | str | None) -> tuple[int, ...] | str | None:
    if cuts is None or isinstance(cuts, str):
        if cuts not in (None, "last", "ceil"):
            raise ValueError(f'got cuts={cuts!r}, expected places, "last" or "ceil"')
        return cuts
    try:
        found = tuple(operator.index(one) for one in cuts)
    except TypeError:
        raise TypeError(f"got cuts={cuts!r}, expected whole numbers") from None
    if any(one < 0 for one in found) or any(a > b for a, b in zip(found, found[1:])):
        raise ValueError(f"got cuts {list(found)}, expected places from 0 on, in order")
    return found


def _halo(halo: Any) -> Pair | tuple[Pair, ...]:
    sentence = f"got halo={halo!r}, expected a width, a pair (low, high), or one pair per rank"
    try:
        width = operator.index(halo)
        return width, width
    except TypeError:
        pass
    try:
        entries = list(halo)
        if len(entries) == 2 and all(_is_index(one) for one in entries):
            return operator.index(entries[0]), operator.index(entries[1])
        pairs = [tuple(operator.index(one) for one in entry) for entry in entries]
    except TypeError:
        raise TypeError(sentence) from None
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise ValueError(sentence)
    return tuple((pair[0], pair[1]) for pair in pairs)


def _is_index(value: Any) -> bool:
    return hasattr(value, "__index__") and not hasattr(value, "__len__")
