"""The ranks as a grid with named axes."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from math import prod
from typing import Any, SupportsIndex

#: Names of mesh axes that nobody named.
NAMES = "x", "y", "z", "w"


class Mesh:
    """The ranks as a grid with named axes, row-major.

    `team` lists the ranks that fill the grid, in any order; without one these are the first ranks.
    Axes may also be given by name. Two meshes are equal if they have the same ranks in the same
    order and the same shape without axes of one rank; names do not count.

    >>> import pantile as pt
    >>> pt.Mesh((2, 3), axes=("x", "y"))
    Mesh((2, 3), axes=('x', 'y'))
    >>> pt.Mesh(x=2, y=3) == pt.Mesh((2, 3))
    True
    >>> pt.Mesh(2, axes="p", team=[3, 1]).team
    (3, 1)
    """

    __slots__ = ("shape", "axes", "team")

    #: Extents of the axes.
    shape: tuple[int, ...]
    #: Names of the axes.
    axes: tuple[str, ...]
    #: The ranks that fill the grid.
    team: Sequence[int]

    def __init__(
        self,
        shape: SupportsIndex | Sequence[SupportsIndex] | None = None,
        axes: str | Sequence[str] | None = None,
        team: Sequence[SupportsIndex] | None = None,
        **named: SupportsIndex,
    ) -> None:
        if named:
            if shape is not None or axes is not None:
                raise ValueError("a mesh has a shape and names of its axes, or axes by name: not both")
            shape, axes = tuple(named.values()), tuple(named)
        self.shape = _extents(shape)
        self.axes = _names(axes, len(self.shape))
        self.team = _ranks(team, prod(self.shape), self.shape)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of ranks."""
        return prod(self.shape)

    @property
    def text(self) -> str:
        """As distributions write it: `x=2, y=3`."""
        if not self.shape:
            return f"rank {self.team[0]}"
        sizes = ", ".join(f"{name}={size}" for name, size in zip(self.axes, self.shape))
        plain = isinstance(self.team, range)
        return sizes if plain else f"{sizes} team [{' '.join(map(str, self.team))}]"

    def rank(self, *coordinates: SupportsIndex) -> int:
        """The rank at these coordinates.

        >>> import pantile as pt
        >>> pt.Mesh((2, 3)).rank(1, 2)
        5
        """
        given = tuple(operator.index(one) for one in coordinates)
        if len(given) != self.ndim or not all(0 <= c < n for c, n in zip(given, self.shape)):
            raise ValueError(f"got coordinates {given}, expected those of a mesh of shape {self.shape}")
        position = 0
        for coordinate, size in zip(given, self.shape):
            position = position * size + coordinate
        return self.team[position]

    def coordinates(self, rank: SupportsIndex) -> tuple[int, ...] | None:
        """Where a rank is; `None` if it is not on the mesh.

        >>> import pantile as pt
        >>> pt.Mesh((2, 3)).coordinates(5), pt.Mesh((2, 3)).coordinates(6)
        ((1, 2), None)
        """
        number = operator.index(rank)
        if number not in self.team:
            return None
        position, found = self.team.index(number), []
        for size in reversed(self.shape):
            position, coordinate = divmod(position, size)
            found.append(coordinate)
        return tuple(reversed(found))

    def _key(self) -> tuple[tuple[int, ...], Sequence[int]]:
        return tuple(size for size in self.shape if size > 1), self.team

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Mesh) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        team = "" if isinstance(self.team, range) else f", team={list(self.team)}"
        return f"Mesh({self.shape}, axes={self.axes}{team})"

    def _repr_html_(self) -> str:
        from ._cuts import Block
        from ._dist import Distribution

        # One element per rank: its tiles are the ranks.
        cells = Distribution(self.shape, self, [Block(name) for name in self.axes])
        return f"<div><code>{self.text}</code>{cells._repr_html_()}</div>"


def whole_numbers(given: Any, what: str, *, lone: bool = False) -> tuple[int, ...]:
    """Whole numbers of Python's or NumPy's; also a single one if `lone`.

    >>> whole_numbers([2, 3], "the shape"), whole_numbers(4, "the shape", lone=True)
    ((2, 3), (4,))
    """
    try:
        if lone and hasattr(given, "__index__") and not getattr(given, "ndim", 0):
            return (operator.index(given),)
        return tuple(operator.index(one) for one in given)
    except TypeError:
        raise TypeError(f"got {what} {given!r}, expected whole numbers") from None


def _extents(shape: SupportsIndex | Sequence[SupportsIndex] | None) -> tuple[int, ...]:
    if shape is None:
        raise ValueError("got no shape and no axes by name, expected for example Mesh((2, 3))")
    found = whole_numbers(shape, "the shape", lone=True)
    if any(size < 1 for size in found):
        raise ValueError(f"got a mesh of shape {found}, expected at least one rank along each axis")
    return found


def _names(axes: str | Sequence[str] | None, count: int) -> tuple[str, ...]:
    if axes is None:
        return tuple(NAMES[i] if i < len(NAMES) else f"m{i}" for i in range(count))
    names = (axes,) if isinstance(axes, str) else tuple(axes)
    if len(names) != count:
        raise ValueError(f"got {len(names)} names of mesh axes {names}, expected {count}")
    wrong = [name for name in names if not isinstance(name, str) or not _is_word(name)]
    if wrong:
        raise ValueError(f"got the mesh axes {wrong}, expected words of letters, digits and _")
    if len(set(names)) < count:
        raise ValueError(f"got the mesh axes {names}, expected different names")
    return names


def _is_word(name: str) -> bool:
    plain = name.isascii() and name.replace("_", "a").isalnum()
    return plain and not name[0].isdigit()


def _ranks(
    team: Sequence[SupportsIndex] | None, size: int, shape: tuple[int, ...]
) -> Sequence[int]:
    if team is None:
        return range(size)
    ranks = whole_numbers(team, "the team")
    if len(ranks) != size:
        count = len(ranks)
        raise ValueError(f"got a team of {count} ranks, expected {size} for a mesh of shape {shape}")
    if any(rank < 0 for rank in ranks):
        raise ValueError(f"got the team {list(ranks)}, expected ranks of at least 0")
    if len(set(ranks)) < size:
        raise ValueError(f"got the team {list(ranks)}, expected every rank at most once")
    plain = range(size)
    return plain if ranks == tuple(plain) else ranks
