"""Plans: who sends what to whom between two distributions. Planning needs no ranks."""

from __future__ import annotations

import html
import operator
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np

from . import _core
from ._array import Array
from ._dist import Distribution, Index, index_of
from ._progress import bytes_text

#: Cells of the largest matrix that is made.
MATRIX_MAX = 1 << 26


class Picture:
    """A picture (SVG). It shows itself in notebooks; `save` writes it to a file."""

    __slots__ = ("svg",)

    #: The text of the picture.
    svg: str

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it to a file that ends in `.svg`."""
        target = Path(path)
        if target.suffix != ".svg":
            raise ValueError(f"{target}: got the ending {target.suffix!r}, expected .svg")
        target.write_text(self.svg, encoding="utf-8")

    def __str__(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Picture({len(self.svg)} characters of SVG)"

    def _repr_svg_(self) -> str:
        return self.svg


@dataclass(frozen=True, eq=False)
class Transfer:
    """Elements that one rank gives another, or keeps."""

    #: The rank that has them before.
    source: int
    #: The rank that has them afterwards.
    target: int
    #: How many they are.
    elements: int
    #: Which they are: a slice for each axis, or an array where they are no range.
    index: Index
    #: Turns around periodic axes at the source, one per axis; empty if there are none.
    source_lifts: tuple[int, ...] = ()
    #: Turns around periodic axes at the target.
    target_lifts: tuple[int, ...] = ()

    @property
    def travels(self) -> bool:
        """True if they change rank."""
        return self.source != self.target


class Estimate(float):
    """What a plan costs: the seconds that the machine model says, with details.

    The model is that of `pantile plan`: round figures of a cluster with a fast network.
    """

    #: Bytes between ranks.
    bytes: int
    #: Bytes that ranks copy to themselves.
    kept_bytes: int
    #: Source, target and messages on the fullest rank, in bytes.
    peak_bytes: int
    #: Messages between ranks.
    messages: int
    #: The rank with the most to do.
    busiest: int
    #: Ranks that were looked at, if these were not all: then time and peak come from them.
    sampled: int | None
    #: Bytes and messages by class of link: within processes, within nodes, between nodes.
    links: dict[str, tuple[int, int]]

    @property
    def seconds(self) -> float:
        """The time of the slowest rank."""
        return float(self)

    def __repr__(self) -> str:
        moved, peak = bytes_text(self.bytes), bytes_text(self.peak_bytes)
        return f"Estimate({float(self):.3g} s: {moved} in {self.messages} messages, peak {peak})"


class Plan:
    """A movement as data: what `pt.plan` gives."""

    __slots__ = ("_p",)

    _p: _core.Plan

    def __init__(self, *_: Any) -> None:
        raise TypeError("plans are made by pt.plan(source, target)")

    @classmethod
    def _of(cls, made: _core.Plan) -> Plan:
        it = cls.__new__(cls)
        it._p = made
        return it

    @property
    def source(self) -> Distribution:
        """Where the elements are before."""
        return Distribution._of(self._p.source)

    @property
    def target(self) -> Distribution:
        """Where they are afterwards."""
        return Distribution._of(self._p.target)

    @property
    def moved(self) -> int:
        """Elements that change rank."""
        return self._p.totals[0]

    @property
    def kept(self) -> int:
        """Elements that ranks give themselves."""
        return self._p.totals[1]

    @property
    def messages(self) -> int:
        """Messages: pairs of different ranks of which one gives the other something."""
        return self._p.totals[2]

    def bytes(self, itemsize: SupportsIndex) -> int:
        """Bytes that change rank, for elements of so many bytes (or of a dtype).

        >>> import pantile as pt
        >>> pt.plan("8 on r=4: block(r)", "8 on r=4: block(r) halo 1").bytes(8)
        48
        """
        return self.moved * _itemsize(itemsize)

    def matrix(self, halo: bool = False) -> np.ndarray:
        """Elements by source rank (rows) and target rank (columns), those that stay included.

        Counted are the elements of the target's owned parts (each of several copies, too); with
        `halo` all that it holds.

        >>> import pantile as pt
        >>> pt.plan("10 on r=2: block(r)", "10 on r=3: block(r)").matrix()
        array([[4, 1, 0],
               [0, 2, 3]])
        """
        (rows, columns), cells = self._p.matrix(bool(halo))
        if rows * columns > MATRIX_MAX:
            raise ValueError(f"a matrix of {rows} times {columns} ranks is too large; see transfers")
        matrix = np.zeros((rows, columns), np.int64)
        for source, target, count in cells:
            matrix[source, target] = count
        return matrix

    @property
    def transfers(self) -> list[Transfer]:
        """Who gives what to whom, also what stays where it is (`travels` is then false).

        >>> import pantile as pt
        >>> plan = pt.plan("4 on r=2: block(r)", "4 on r=2: cyclic(r, 1)")
        >>> [(one.source, one.target, one.elements) for one in plan.transfers if one.travels]
        [(0, 1, 1), (1, 0, 1)]
        """
        found = []
        for source, target, elements, runs, before, after in self._p.transfers():
            index = tuple(index_of(axis) for axis in runs)
            found.append(Transfer(source, target, elements, index, tuple(before), tuple(after)))
        return found

    def estimate(
        self,
        itemsize: SupportsIndex = 8,
        *,
        ranks_per_process: int = 1,
        ranks_per_node: int = 64,
    ) -> Estimate:
        """The seconds that it takes by the machine model, with details.

        >>> import pantile as pt
        >>> cost = pt.plan("8 on r=4: block(r)", "8 on r=4: whole").estimate()
        >>> cost
        Estimate(3.01e-06 s: 192 B in 12 messages, peak 176 B)
        """
        per = ranks_per_process, ranks_per_node
        if any(one < 1 for one in per) or ranks_per_node % ranks_per_process:
            raise ValueError(
                f"got {ranks_per_process} ranks per process and {ranks_per_node} per node, "
                "expected whole processes on a node"
            )
        seconds, *volumes, busiest, sampled, links = self._p.estimate(_itemsize(itemsize), *per)
        cost = Estimate(seconds)
        cost.bytes, cost.kept_bytes, cost.peak_bytes, cost.messages = volumes
        cost.busiest, cost.sampled = busiest, sampled
        cost.links = dict(zip(("process", "node", "network"), links))
        return cost

    def adjoint(self) -> Plan:
        """The adjoint movement: every arrow turned around; sums where there were copies.

        >>> import pantile as pt
        >>> pt.plan("4 on rank 0: whole", "4 on r=2: whole").adjoint().source.text
        '4 on r=2: whole; sum(0, r)'
        """
        return Plan._of(self._p.adjoint())

    def draw(self, matrix: bool = False) -> Picture:
        """A picture: tiles before and after with arrows between ranks; or a table of ranks."""
        return Picture(self._p.svg(bool(matrix)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Plan):
            return NotImplemented
        ends = (self.source, self.target) == (other.source, other.target)
        return ends and self._rows() == other._rows()

    def __hash__(self) -> int:
        return hash((self.source, self.target))

    def __reduce__(self) -> Any:
        return plan, (self.source, self.target)  # these say all

    def _rows(self) -> Any:
        try:
            return self._p.transfers()
        except ValueError:  # too many to list: then the distributions say all
            return None

    def __str__(self) -> str:
        """All of it, as `pantile plan --text` prints it."""
        return self._p.text()

    def __repr__(self) -> str:
        return f"<Plan from {self.source.text!r} to {self.target.text!r}: {self._words()}>"

    def _words(self) -> str:
        moved, kept, messages, exact = self._p.totals
        about = "" if exact else "about "
        return f"{about}{moved} elements move in {messages} messages, {kept} stay"

    def _repr_html_(self) -> str:
        try:
            return f"<div>{self._p.svg(False)}</div>"  # it has all words
        except ValueError as error:
            ends = (f"<code>{html.escape(side.text)}</code>" for side in (self.source, self.target))
            why = html.escape(str(error))
            return f"<div>{' &rarr; '.join(ends)}<br/>{self._words()}<br/>({why})</div>"


def plan(source: Distribution | str | Array, target: Distribution | str | Array) -> Plan:
    """The movement between two distributions of one shape, or their texts; an array stands for
    where it lives. Nothing moves, and no ranks are needed.

    >>> import pantile as pt
    >>> rows, columns = "6x6 on r=3: block(r), whole", "6x6 on r=3: whole, block(r)"
    >>> turn = pt.plan(rows, columns)
    >>> turn.messages, turn.moved
    (6, 24)
    >>> turn.matrix()
    array([[4, 4, 4],
           [4, 4, 4],
           [4, 4, 4]])
    """
    return Plan._of(_core.Plan(_side(source, "source"), _side(target, "target")))


def _side(given: Any, name: str) -> _core.Distribution:
    if isinstance(given, Distribution):
        return given._d
    if isinstance(given, Array):
        return given.dist._d
    if isinstance(given, str):
        try:
            return _core.Distribution(given)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    raise TypeError(f"{name}: got {type(given).__name__}, expected a pt.Distribution or its text")


def _itemsize(itemsize: Any) -> int:
    if not hasattr(itemsize, "__index__"):
        try:
            if itemsize is None:  # NumPy would take it for float64
                raise TypeError
            return int(np.dtype(itemsize).itemsize)
        except TypeError:
            words = f"got itemsize={itemsize!r}, expected a number of bytes, or a dtype"
            raise TypeError(words) from None
    number = operator.index(itemsize)
    if number < 1:
        raise ValueError(f"got elements of {number} bytes, expected at least 1")
    return number
