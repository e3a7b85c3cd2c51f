"""Arrays as text and as HTML.

Looking computes an array, but never puts more of it together than what is shown: an array that does
not fit into one process can be looked at.
"""

from __future__ import annotations

import html
import itertools
import re
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pantile._progress import bytes_text

if TYPE_CHECKING:
    from pantile._array import Array

# Pieces of an axis that a picture shows at most: more would be thinner than a line.
PIECES = 40
# Length of the longer and the shorter side of a picture, in pixels.
LONG, SHORT = 220, 36


# ------------------------------------------------------------------------------------ distributions


class Axis(NamedTuple):
    """How one axis of an array is cut."""

    length: int
    names: tuple[str, ...]  # the mesh axes that cut it, none if it is whole
    rule: str  # "whole", "block", "cyclic", or something that only the core knows
    detail: str  # what else the text says of it

    @property
    def cut(self) -> bool:
        """True if ranks have parts of this axis."""
        return bool(self.names)


class Home(NamedTuple):
    """Where an array lives, read from the core's text."""

    axes: tuple[Axis, ...]
    mesh: dict[str, int]
    place: str  # the mesh as text, with its team if that is not the first ranks
    cuts: str  # how the axes are cut, as text

    @property
    def has_copies(self) -> bool:
        """True if every rank has all of it."""
        plain = self.mesh and " team " not in self.place
        return bool(plain) and all(axis.rule == "whole" for axis in self.axes)


def read_home(text: str) -> Home:
    """Reads the text of a distribution.

    >>> home = read_home("10x6 on x=2, y=2: block(x), cyclic(y, 1)")
    >>> home.mesh, [axis.names for axis in home.axes]
    ({'x': 2, 'y': 2}, [('x',), ('y',)])
    """
    from pantile._dist import Distribution

    home = Distribution(text)
    _, _, rest = text.partition(" on ")
    place, _, cuts = rest.partition(":")
    mesh = {name: int(size) for name, size in re.findall(r"(\w+)=(\d+)", place)}
    maps = home.axes
    if cuts.strip().startswith("boxes"):  # no axis has cuts of its own
        maps = ("boxes",) * len(home.shape)
    axes = tuple(_axis(length, one) for length, one in zip(home.shape, maps))
    return Home(axes, mesh, place.strip(), cuts.strip())


def _axis(length: int, text: str) -> Axis:
    found = re.match(r"(\w+)(?:\(([\w*]+),?\s*([^)]*)\))?(.*)", text)
    if found is None:
        return Axis(length, (), text, "")
    rule, names, detail, more = found.groups()
    if re.search(r"\bof\b", more):  # a view of an axis that is longer
        rule = "view"
    return Axis(length, tuple(names.split("*")) if names else (), rule, detail or "")


def pieces(axis: Axis, mesh: dict[str, int]) -> list[tuple[int, int, int]] | None:
    """The first pieces of an axis: first index, last index (excluded), part of the mesh.

    None if only the core knows them.

    >>> pieces(read_home("10 on x=4: block(x)").axes[0], {"x": 4})
    [(0, 3, 0), (3, 6, 1), (6, 8, 2), (8, 10, 3)]
    >>> pieces(read_home("5 on x=2: cyclic(x, 2)").axes[0], {"x": 2})
    [(0, 2, 0), (2, 4, 1), (4, 5, 0)]
    """
    parts = prod(mesh[name] for name in axis.names)
    if axis.rule == "whole":
        ends = [0, axis.length]
    elif axis.rule == "block":
        ends = _block_ends(axis.length, parts, axis.detail)
    elif axis.rule == "cyclic":
        step = int(axis.detail)
        ends = [*itertools.islice(range(0, axis.length, step), PIECES + 1)]
        if len(ends) <= PIECES:
            ends.append(axis.length)
    else:
        return None
    found = [(low, high, at % parts) for at, (low, high) in enumerate(itertools.pairwise(ends))]
    return [piece for piece in found if piece[0] < piece[1]][:PIECES]


def _block_ends(length: int, parts: int, rule: str) -> list[int]:
    """Where blocks begin, and the end of the last one."""
    if rule.startswith("cuts"):
        return [int(number) for number in rule.split()[1:]]
    quotient, remainder = divmod(length, parts)
    if rule == "last":
        return [part * quotient + max(part + remainder - parts, 0) for part in range(parts + 1)]
    if rule == "ceil":
        return [min(length, part * -(-length // parts)) for part in range(parts + 1)]
    return [part * quotient + min(part, remainder) for part in range(parts + 1)]


def ranks_at(home: Home, parts: list[int]) -> list[int]:
    """The ranks that have the tile at these parts, one part per axis of the array.

    >>> ranks_at(read_home("4 on x=2, y=3: block(x)"), [1])
    [3, 4, 5]
    """
    at: dict[str, int] = {}
    for axis, part in zip(home.axes, parts):
        for name in reversed(axis.names):
            part, at[name] = divmod(part, home.mesh[name])
    alone = re.fullmatch(r"rank (\d+)", home.place)
    ranks = [int(alone[1]) if alone else 0]
    for name, size in home.mesh.items():
        # Along a mesh axis that cuts nothing, all have copies.
        steps = [at[name]] if name in at else range(size)
        ranks = [rank * size + step for rank in ranks for step in steps]
    return ranks


# --------------------------------------------------------------------------------------------- text


def title_of(array: Array) -> str:
    """One line: type, lengths, which axes are cut by which mesh axes, and the mesh.

    Computes the array.
    """
    home = _home_of(array)
    axes = [
        f"{axis.length}@{'*'.join(axis.names)}" if axis.cut else f"{axis.length}"
        for axis in home.axes
    ]
    head = f"{array._h.dtype}[{', '.join(axes)}]"
    if home.has_copies:
        return f"{head} copies"
    boxes = " in boxes" if any(axis.rule == "boxes" for axis in home.axes) else ""
    return f"{head}{boxes} over {home.place}"


def _home_of(array: Array) -> Home:
    """Where an array lives, once it is computed."""
    return read_home(array._h.home())


def str_of(array: Array) -> str:
    """The elements as NumPy prints them; of a large array only those at the edges."""
    handle = array._h
    handle.compute()
    # As NumPy is told to print: arrays with more elements are shown by so many at each end of an axis.
    options = np.get_printoptions()
    if prod(handle.shape) <= options["threshold"]:
        return np.array2string(_fetch(handle))
    # NumPy leaves out the middle of an axis by itself: one index that stands for it will do.
    return np.array2string(_edges(handle, options["edgeitems"]), threshold=0)


def text_of(array: Array) -> str:
    """The line of `title_of`, then the elements of `str_of`."""
    title = title_of(array)
    if _is_forbidden(array) and not title.endswith("copies"):
        return f"{title}\n(its elements are not shown: nothing may move here)"
    return f"{title}\n{str_of(array)}"


def _is_forbidden(array: Array) -> bool:
    """True within `no_comm`."""
    world = array._h.world
    before: bool = world.forbid(True)
    world.forbid(before)
    return before


def _fetch(handle) -> np.ndarray:
    """All elements of a small array."""
    room = np.empty(handle.shape, handle.dtype)
    if room.size:
        handle.whole_into(room.reshape(-1).view(np.uint8))
    return room


def _ends(length: int, edge: int) -> list[tuple[slice, slice]]:
    """The shown ends of an axis: where they are, and where they go."""
    if length <= 2 * edge:
        return [(slice(0, length), slice(0, length))]
    return [
        (slice(0, edge), slice(0, edge)),
        (slice(length - edge, length), slice(edge + 1, 2 * edge + 1)),
    ]


def _edges(handle, edge: int) -> np.ndarray:
    """The edges of an array, with one index for the middle of every long axis."""
    room = np.zeros([min(length, 2 * edge + 1) for length in handle.shape], handle.dtype)
    for corner in itertools.product(*(_ends(length, edge) for length in handle.shape)):
        part = handle.get([(at.start, at.stop, 1) for at, _ in corner])
        room[tuple(to for _, to in corner)] = _fetch(part)
    return room


# --------------------------------------------------------------------------------------------- HTML


def html_of(array: Array) -> str:
    """A small table with a picture of the tiles, for notebooks. Computes the array."""
    home = _home_of(array)
    shape = tuple(array._h.shape)
    rows = {
        "shape": " &times; ".join(str(length) for length in shape) or "one element",
        "dtype": html.escape(array._h.dtype),
        "distribution": "copies"
        if home.has_copies
        else html.escape(f"{home.cuts} over {home.place}"),
        "bytes": bytes_text(prod(shape) * np.dtype(array._h.dtype).itemsize),
    }
    cells = "".join(
        f'<tr><th style="text-align:left">{name}</th><td style="text-align:left">{value}</td></tr>'
        for name, value in rows.items()
    )
    picture = picture_of(home)
    beside = f'<td style="border:none">{picture}</td>' if picture else ""
    return (
        '<table style="background:none;color:inherit"><tr style="background:none">'
        f'<td style="border:none"><table style="color:inherit">{cells}</table></td>{beside}'
        "</tr></table>"
    )


def picture_of(home: Home) -> str:
    """The tiles as SVG, coloured by rank; nothing if there is nothing to draw.

    Of more than two axes it shows the last two, at the first index of the others.
    """
    cuts = [pieces(axis, home.mesh) for axis in home.axes]
    known = [cut for cut in cuts if cut]
    if not cuts or len(known) < len(cuts) or " team " in home.place:
        return ""
    before = [cut[0][2] for cut in known[:-2]]
    # One axis is a strip: a row of height 1 that belongs to no axis.
    rows = known[-2] if len(known) > 1 else [(0, 1, 0)]
    columns = known[-1]
    width, height = _sides(rows[-1][1], columns[-1][1], flat=len(known) == 1)
    x, y = width / columns[-1][1], height / rows[-1][1]
    tiles = []
    for (top, bottom, row), (left, right, column) in itertools.product(rows, columns):
        box = (left * x, top * y, (right - left) * x, (bottom - top) * y)
        parts, where = [*before, row, column], f"{top}:{bottom}, {left}:{right}"
        if len(known) == 1:
            parts, where = [column], f"{left}:{right}"
        tiles.append(_tile(box, ranks_at(home, parts), where))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width + 2}" height="{height + 2}" '
        f'viewBox="-1 -1 {width + 2} {height + 2}" role="img">{"".join(tiles)}</svg>'
    )


def _sides(rows: int, columns: int, flat: bool) -> tuple[int, int]:
    """Width and height of a picture: its shape is that of the array, if that is not too thin."""
    if flat:
        return LONG, SHORT
    scale = LONG / max(rows, columns)
    return max(round(columns * scale), SHORT), max(round(rows * scale), SHORT)


def _tile(box: tuple[float, float, float, float], ranks: list[int], where: str) -> str:
    x, y, width, height = (round(side, 2) for side in box)
    # Neighbouring numbers get colours far apart; all of them are light enough for dark letters.
    hue = round(ranks[0] * 137.5) % 360
    names = ", ".join(str(rank) for rank in ranks[:6]) + (", ..." if len(ranks) > 6 else "")
    label = ""
    if width >= 7 * len(names) + 8 and height >= 14:
        label = (
            f'<text x="{x + width / 2:.2f}" y="{y + height / 2:.2f}" font-size="11" fill="#111" '
            f'text-anchor="middle" dominant-baseline="central">{names}</text>'
        )
    who = "rank" if len(ranks) == 1 else "ranks"
    return (
        f"<g><title>{who} {names}: {where}</title>"
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="hsl({hue},60%,68%)" '
        f'stroke="#777" stroke-width="1"/>{label}</g>'
    )
