"""Where arrays live: `Distribution`, and what `dist=` accepts."""

from __future__ import annotations

import html
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from . import _core, _cuts, _local
from ._mesh import Mesh, whole_numbers
from ._terms import read as _read_terms
from ._world import world as _world

if TYPE_CHECKING:
    from ._plan import Picture

#: What `"auto"` means; tests cut everything, however small.
default: int | str | None = "auto"

#: The indices of a rank along each axis: a slice, or an array where they are no range.
Index = tuple["slice | np.ndarray", ...]


class Distribution:
    """Where every element of an array of some shape lives.

    Made of a shape, a mesh and one cut per axis of the array (`pt.Block`, `pt.Cyclic`,
    `pt.Indexed`, `pt.Whole`; the name of a mesh axis is short for blocks over it, `None` for an axis
    that is not cut), or of a text as the documentation of distributions has it.

    Several ranks that have an element have copies of it. `terms` says where they have terms of it
    instead, whose sum (`prod`, `min`, `max`, `and`, `or`) it is: `"sum"` everywhere, `"r"` or
    `["r"]` for sums along mesh axes that cut nothing, `0` along an axis of the array, where halos are
    terms, or `{"r": "max"}`.

    Equal distributions have the same ranks for every element; names of mesh axes do not count.

    >>> import pantile as pt
    >>> rows = pt.Distribution((8, 6), pt.Mesh((2, 2)), [pt.Block("x", halo=1), pt.Cyclic("y")])
    >>> rows
    Distribution('8x6 on x=2, y=2: block(x) halo 1, cyclic(y, 1)')
    >>> rows.owner((4, 1)), rows.holders((4, 1)), rows.local_shape(0)
    (3, [1, 3], (5, 3))
    >>> pt.Distribution("8x6 on r=2: block(r), whole").shape
    (8, 6)
    >>> pt.Distribution(8, pt.Mesh(r=4), [pt.Whole()], terms={"r": "sum"}).text
    '8 on r=4: whole; sum(r)'
    """

    __slots__ = ("_d",)

    _d: _core.Distribution

    # Not two signatures for type checkers: they would be kept until the interpreter has ended, and
    # with them this module, and the world with its processes.
    def __init__(
        self,
        shape: str | SupportsIndex | Sequence[SupportsIndex],
        mesh: Mesh | None = None,
        axes: Sequence[Any] | None = None,
        terms: Any = None,
    ) -> None:
        if isinstance(shape, str):
            if mesh is not None or axes is not None or terms is not None:
                raise TypeError("a text says all of a distribution: expected nothing else beside it")
            self._d = _core.Distribution(shape)
            return
        if not isinstance(mesh, Mesh):
            raise TypeError(f"got mesh={mesh!r}, expected a pt.Mesh")
        if axes is None or isinstance(axes, (str, _cuts.Cut)) or not isinstance(axes, Sequence):
            raise TypeError(f"got axes={axes!r}, expected a list with a cut for each axis")
        self._d = _made(_lengths(shape), mesh, axes)
        if terms is not None:
            named = _read_terms(terms, mesh.axes, len(self.shape), self._d.over)
            self._d = self._d.with_terms(*named)

    @classmethod
    def _of(cls, made: _core.Distribution) -> Distribution:
        it = cls.__new__(cls)
        it._d = made
        return it

    @classmethod
    def from_letters(
        cls,
        shape: SupportsIndex | Sequence[SupportsIndex],
        letters: str,
        grid: SupportsIndex | Sequence[SupportsIndex] | None = None,
    ) -> Distribution:
        """By a letter for each axis: `b` in blocks of equal length, the last ones shorter or empty;
        `c` one by one in turn; `n` not cut. `grid` has the number of ranks along each axis (or along
        each that is cut); without one it is chosen for all ranks of the world.

        >>> import pantile as pt
        >>> pt.Distribution.from_letters((10, 6), "bc", grid=(2, 3))
        Distribution('10x6 on d0=2, d1=3: block(d0, ceil), cyclic(d1, 1)')
        """
        lengths, letters = _lengths(shape), "".join(letters).replace(" ", "")
        extents = _grid(lengths, letters, grid)
        return cls._of(_core.Distribution.from_letters(list(lengths), letters, extents))

    @classmethod
    def from_dim_data(cls, dim_data: Sequence[Any]) -> Distribution:
        """From the dimension dictionaries of the Distributed Array Protocol: those of rank 0, of
        rank 1, and so on. Whole structures of `__distarray__` do as well.

        Communication padding is room that is not filled yet; see `exchanged`. All rules that the
        dictionaries break are named.

        >>> import pantile as pt
        >>> def part(rank, start, stop):
        ...     return ({"dist_type": "b", "size": 5, "proc_grid_size": 2, "proc_grid_rank": rank,
        ...              "start": start, "stop": stop},)
        >>> pt.Distribution.from_dim_data([part(0, 0, 2), part(1, 2, 5)])
        Distribution('5 on d0=2: block(d0, cuts 0 2 5)')
        """
        from ._dimdata import as_json

        return cls._of(_core.Distribution.from_dim_data(as_json(dim_data)))

    # ---- what it is

    @property
    def text(self) -> str:
        """As the documentation of distributions writes it; `pt.Distribution(text)` reads it."""
        return self._d.text

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the arrays."""
        return tuple(self._d.shape)

    @property
    def ndim(self) -> int:
        """Number of axes of the arrays."""
        return len(self._d.shape)

    @property
    def mesh(self) -> Mesh:
        """The ranks as a grid."""
        names, shape, team = self._d.mesh
        return Mesh(tuple(shape), tuple(names), team)

    @property
    def axes(self) -> tuple[str, ...]:
        """How each axis is cut, as text."""
        return tuple(_split(self.text.split(" on ", 1)[-1].partition(":")[2].split(";")[0]))

    @property
    def cut(self) -> tuple[tuple[str, ...], ...]:
        """The mesh axes that cut each array axis; axes of one rank cut nothing."""
        names, sizes, _ = self._d.mesh
        over = self._d.over
        if over is None:
            return ((),) * self.ndim
        return tuple(tuple(names[one] for one in own if sizes[one] > 1) for own in over)

    @property
    def terms(self) -> dict[str | int, str]:
        """The operator of each direction where ranks have terms: mesh axes by name, array axes by
        number. Empty where all have copies.
        """
        found = self._d.terms
        if found is None:
            return {}
        operator_, axes, names = found
        return {**dict.fromkeys(axes, operator_), **dict.fromkeys(names, operator_)}

    @property
    def has_halo(self) -> bool:
        """True if ranks hold, or have room for, more than they own."""
        return self._d.has_halo

    # ---- who has what

    def owned(self, rank: SupportsIndex) -> Index | None:
        """What a rank owns along each axis: a slice, or an array of indices in its order. Halos do
        not belong to it. `None` if the rank is not on the mesh.

        >>> import pantile as pt
        >>> pt.Distribution("5x7 on x=2, y=2: block(x), cyclic(y, 2)").owned(3)
        (slice(3, 5, None), array([2, 3, 6]))
        """
        runs = self._d.owned(_rank(rank))
        return None if runs is None else tuple(index_of(axis) for axis in runs)

    def held(self, rank: SupportsIndex) -> Index | None:
        """The same with halos and the room for them, as it lies in the rank's memory.

        >>> import pantile as pt
        >>> pt.Distribution("6 on r=2: block(r) periodic halo 1").held(0)
        (array([5, 0, 1, 2, 3]),)
        """
        found = self._d.held(_rank(rank))
        return None if found is None else tuple(index_of(axis) for axis in found[0])

    def local_shape(self, rank: SupportsIndex) -> tuple[int, ...] | None:
        """The extents of a rank's memory, halos included; `None` if it is not on the mesh."""
        found = self._d.local_shape(_rank(rank))
        return None if found is None else tuple(found)

    def owner(self, index: SupportsIndex | Sequence[SupportsIndex]) -> int | None:
        """The rank that owns an element (of copies the first one); `None` if nobody has it."""
        return self._d.owner(self._index(index))

    def holders(self, index: SupportsIndex | Sequence[SupportsIndex]) -> list[int]:
        """All ranks that have an element, in halos, too; several times where an axis wraps around."""
        return self._d.holders(self._index(index))

    def local_of(self, rank: SupportsIndex, index: Any) -> Any:
        """Where an element lies in a rank's memory, halos included; `None` if the rank has no room
        for it.

        `index` is a whole number for one axis, or one for each axis; with arrays of them for each
        axis the answers are arrays, too, and -1 stands for what the rank does not have.

        >>> import numpy as np
        >>> import pantile as pt
        >>> d = pt.Distribution("6x4 on r=2: block(r) halo 1, whole")
        >>> d.local_of(1, (3, 2)), d.local_of(1, (0, 2))
        ((1, 2), None)
        >>> pt.Distribution("10 on r=3: cyclic(r, 2)").local_of(0, np.arange(10))
        array([ 0,  1, -1, -1, -1, -1,  2,  3, -1, -1])
        """
        return _local.local_of(self, _rank(rank), index)

    def global_of(self, rank: SupportsIndex, local: Any) -> Any:
        """The index of the element at a place in a rank's memory: `local_of` the other way round.

        >>> import numpy as np
        >>> import pantile as pt
        >>> pt.Distribution("10 on r=3: cyclic(r, 2)").global_of(0, np.arange(4))
        array([0, 1, 6, 7])
        """
        return _local.global_of(self, _rank(rank), local)

    def _index(self, index: Any) -> list[int]:
        given = list(index) if isinstance(index, (tuple, list, np.ndarray)) else [index]
        found = [operator.index(one) for one in given]
        if len(found) != self.ndim:
            raise IndexError(f"got index {tuple(found)}, expected {self.ndim} numbers")
        for axis, (one, length) in enumerate(zip(found, self.shape)):
            if not -length <= one < length:
                raise IndexError(f"got index {one} for axis {axis} of length {length}")
        return [one % length for one, length in zip(found, self.shape)]

    # ---- others made of it

    def exchanged(self) -> Distribution:
        """The same after an exchange: all that there is room for is held."""
        return Distribution._of(self._d.exchanged())

    def dual(self) -> Distribution:
        """Terms of a sum for copies, and copies for them: what adjoint movements go between."""
        return Distribution._of(self._d.dual())

    def normal(self) -> Distribution:
        """The simplest spelling of the same."""
        return Distribution._of(self._d.normal())

    # ---- showing it

    def draw(self) -> Picture:
        """A picture: tiles with the numbers of their ranks, halos hatched."""
        from ._plan import Picture

        return Picture(self._d.svg())

    def __eq__(self, other: object) -> bool:
        return self._d == other._d if isinstance(other, Distribution) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._d)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Distribution({self.text!r})"

    def __reduce__(self) -> tuple[type[Distribution], tuple[str]]:
        return Distribution, (self.text,)

    def _repr_html_(self) -> str:
        """The picture, which has the text; or the text alone if there is too much to draw."""
        try:
            return f"<div>{self._d.svg()}</div>"
        except ValueError as error:
            line = f"<code>{html.escape(self.text)}</code>"
            return f"<div>{line}<br/>({html.escape(str(error))})</div>"


def _lengths(shape: Any) -> tuple[int, ...]:
    found = whole_numbers(shape, "shape", lone=True)
    if any(length < 0 for length in found):
        raise ValueError(f"got shape {found}, expected lengths of at least 0")
    return found


def _rank(rank: SupportsIndex) -> int:
    number = operator.index(rank)
    if number < 0:
        raise ValueError(f"got rank {number}, expected one of at least 0")
    return number


def _made(shape: tuple[int, ...], mesh: Mesh, axes: Sequence[Any]) -> _core.Distribution:
    if len(axes) != len(shape):
        raise ValueError(f"got {len(axes)} cuts for an array of shape {shape}, expected {len(shape)}")
    cuts = [_cuts.read(entry, axis) for axis, entry in enumerate(axes)]
    for axis, one in enumerate(cuts):
        wrong = [name for name in one.over if name not in mesh.axes]
        if wrong:
            raise ValueError(f"axis {axis}: got mesh axes {wrong}, expected some of {list(mesh.axes)}")
    head = f"{'x'.join(map(str, shape)) or 'scalar'} on {mesh.text}:"
    texts = [one._text(length) for one, length in zip(cuts, shape)]
    made = _core.Distribution(f"{head} {', '.join(texts)}")
    # Widths that differ are intervals: who owns what must be known first.
    for axis, one in enumerate(cuts):
        if isinstance(one, _cuts.Block):
            texts[axis] += one._held(made.bounds(axis), shape[axis])
    return _core.Distribution(f"{head} {', '.join(texts)}")


def _grid(shape: tuple[int, ...], letters: str, grid: Any) -> list[int]:
    cut = [letter != "n" for letter in letters]
    if grid is None:
        if len(letters) != len(shape):
            raise ValueError(f"got the letters {letters!r} for {len(shape)} axes, expected one for each")
        return _chosen_grid(shape, cut, _world())
    extents = list(whole_numbers(grid, "the grid", lone=True))
    if any(size < 1 for size in extents):
        raise ValueError(f"got the grid {tuple(extents)}, expected at least one rank along each axis")
    if len(extents) == sum(cut) < len(letters):
        rest = iter(extents)
        extents = [next(rest) if one else 1 for one in cut]
    return extents


def _chosen_grid(shape: tuple[int, ...], cut: list[bool], world: _core.World) -> list[int]:
    """How many ranks cut each axis."""
    if not any(cut):
        return [1] * len(shape)
    if all(shape):
        return world.grid(list(shape), cut)
    # Without elements there is nothing to balance: the first axis that may be cut is.
    first = cut.index(True)
    return [world.ranks if axis == first else 1 for axis in range(len(shape))]


def index_of(runs: list[tuple[int, int]]) -> slice | np.ndarray:
    """Runs of indices as a slice, or an array where they are no range."""
    if not runs:
        return slice(0, 0)
    if len(runs) == 1:
        return slice(*runs[0])
    return np.concatenate([np.arange(*run) for run in runs])


def _split(text: str) -> list[str]:
    """Splits at commas outside of brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += letter in "([" and 1 or letter in ")]" and -1
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def text(
    dist: Any, shape: tuple[int, ...], mesh: Mesh | None = None, world: _core.World | None = None
) -> str | None:
    """What the core understands; nothing for `"auto"`."""
    world = world or _world()
    if isinstance(dist, str) and dist == "auto":
        if default == "auto":
            return None
        dist = default
    if isinstance(dist, str) and " on " in dist:
        dist = Distribution(dist)
    if isinstance(dist, Distribution):
        return _for_arrays(dist, shape, world)
    if dist is None or not shape:
        return "copies"
    where = mesh.text if mesh else f"r={world.ranks}"
    if isinstance(dist, int) and not isinstance(dist, bool):
        return _cut_one(dist, shape, mesh, where)
    if isinstance(dist, str):
        return _letters(dist, shape, world) if set(dist) <= set("bcnu ") else dist
    if isinstance(dist, (tuple, list)):
        return _named(tuple(dist), shape, mesh or Mesh(world.ranks, "r"))
    raise TypeError(
        f"got dist={dist!r}, expected a Distribution, an axis, None, letters such as 'bc', "
        "or a tuple of mesh axes"
    )


def _for_arrays(dist: Distribution, shape: tuple[int, ...], world: _core.World) -> str:
    """A distribution for an array of this shape, if arrays can live so."""
    if dist.shape != tuple(shape):
        raise ValueError(f"got a distribution of shape {dist.shape} for an array of shape {shape}")
    why = dist._d.unfit(world.max_ranks)
    if why is not None:
        raise ValueError(f"arrays cannot live as {dist.text!r} says: {why}")
    if not shape:  # a single element is everywhere
        return "copies"
    return dist.text.split(" on ", 1)[1]


def _cut_one(axis: int, shape: tuple[int, ...], mesh: Mesh | None, where: str) -> str:
    if not -len(shape) <= axis < len(shape):
        raise ValueError(f"got axis {axis} for an array of {len(shape)} axes")
    names = "*".join(mesh.axes) if mesh else "r"
    axes = ["whole"] * len(shape)
    axes[axis] = f"block({names})"
    return f"{where}: {', '.join(axes)}"


def _letters(dist: str, shape: tuple[int, ...], world: _core.World) -> str:
    letters = dist.replace(" ", "")
    if len(letters) != len(shape) or "u" in letters:
        raise ValueError(
            f"got the letters {dist!r} for {len(shape)} axes, expected one of b, c, n for each"
        )
    cut = [letter != "n" for letter in letters]
    if not any(cut):
        return "copies"
    grid = _chosen_grid(shape, cut, world)
    spell = {"b": "block(a{}, ceil)", "c": "cyclic(a{}, 1)", "n": "whole"}
    axes = [spell[letter].format(i) for i, letter in enumerate(letters)]
    names = ", ".join(f"a{i}={size}" for i, size in enumerate(grid) if cut[i])
    return f"{names}: {', '.join(axes)}"


def _named(dist: tuple[Any, ...], shape: tuple[int, ...], mesh: Mesh) -> str:
    if len(dist) != len(shape):
        raise ValueError(f"got {len(dist)} entries in dist={dist!r} for {len(shape)} axes")
    known, axes = mesh.axes, []
    if any(isinstance(entry, int) for entry in dist):
        raise ValueError(
            f"got dist={dist!r}, expected for each axis of the array the name of a mesh axis (some of "
            f"{list(known)}), a tuple of them, or None; dist=0 cuts the first axis, and letters such as "
            "dist='bb' cut several"
        )
    for entry in dist:
        names = () if entry is None else (entry,) if isinstance(entry, str) else tuple(entry)
        wrong = [name for name in names if name not in known]
        if wrong:
            raise ValueError(f"got mesh axes {wrong}, expected some of {list(known)}")
        axes.append(f"block({'*'.join(names)})" if names else "whole")
    return f"{mesh.text}: {', '.join(axes)}"
