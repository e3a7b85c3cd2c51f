"""Where arrays live: `Distribution`, `Mesh`, and what `dist=` accepts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from . import _core
from ._world import world as _world


#: What `"auto"` means; tests cut everything, however small.
default: int | str | None = "auto"


@dataclass(frozen=True)
class Mesh:
    """The ranks as a grid with named axes.

    >>> import pantile as pt
    >>> pt.Mesh(x=2, y=3)
    Mesh(x=2, y=3)
    """

    axes: tuple[tuple[str, int], ...]

    def __init__(self, **axes: int) -> None:
        object.__setattr__(self, "axes", tuple(axes.items()))
        if not axes or any(size < 1 for size in axes.values()):
            raise ValueError(f"got {axes}, expected at least one axis, each of at least one rank")

    @property
    def text(self) -> str:
        """As distributions write it: `x=2, y=3`."""
        return ", ".join(f"{name}={size}" for name, size in self.axes)

    def __repr__(self) -> str:
        return f"Mesh({self.text})"


@dataclass(frozen=True)
class Distribution:
    """Where every element of an array of some shape lives.

    The text is that of the documentation of distributions:

    >>> import pantile as pt
    >>> pt.Distribution("8x6 on r=2: block(r), whole").shape
    (8, 6)
    """

    text: str

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the arrays."""
        first = self.text.split(" on ")[0].strip()
        return () if first == "scalar" else tuple(int(length) for length in first.split("x"))

    @property
    def mesh(self) -> Mesh:
        """The ranks as a grid."""
        return Mesh(**{name: int(size) for name, size in re.findall(r"(\w+)=(\d+)", self._place[0])})

    @property
    def axes(self) -> tuple[str, ...]:
        """How each axis is cut, as text."""
        return tuple(_split(self._place[1]))

    @property
    def cut(self) -> tuple[tuple[str, ...], ...]:
        """The mesh axes that cut each array axis."""
        sizes = dict(self.mesh.axes) if "=" in self._place[0] else {}
        named = (re.match(r"\w+\(([\w*]*)", axis) for axis in self.axes)
        lists = (found.group(1).split("*") if found else [] for found in named)
        return tuple(tuple(name for name in one if sizes.get(name, 1) > 1) for one in lists)

    @property
    def _place(self) -> tuple[str, str]:
        mesh, _, axes = self.text.split(" on ", 1)[-1].partition(":")
        return mesh.strip(), axes.split(";")[0].strip()

    def __str__(self) -> str:
        return self.text


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
    if dist is None or not shape:
        return "copies"
    if isinstance(dist, Distribution):
        if dist.shape != tuple(shape):
            raise ValueError(f"got a distribution of shape {dist.shape} for an array of shape {shape}")
        return dist.text.split(" on ", 1)[1]
    where = mesh.text if mesh else f"r={world.ranks}"
    if isinstance(dist, int) and not isinstance(dist, bool):
        return _cut_one(dist, shape, mesh, where)
    if isinstance(dist, str):
        return _letters(dist, shape, world) if set(dist) <= set("bcnu ") else dist
    if isinstance(dist, (tuple, list)):
        return _named(tuple(dist), shape, mesh or Mesh(r=world.ranks))
    raise TypeError(
        f"got dist={dist!r}, expected a Distribution, an axis, None, letters such as 'bc', or a tuple of mesh axes"
    )


def _cut_one(axis: int, shape: tuple[int, ...], mesh: Mesh | None, where: str) -> str:
    if not -len(shape) <= axis < len(shape):
        raise ValueError(f"got axis {axis} for an array of {len(shape)} axes")
    names = "*".join(name for name, _ in mesh.axes) if mesh else "r"
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
    # Without elements there is nothing to balance: the first axis that may be cut is.
    first = cut.index(True)
    alone = [world.ranks if axis == first else 1 for axis in range(len(shape))]
    grid = world.grid(list(shape), cut) if all(shape) else alone
    spell = {"b": "block(a{}, ceil)", "c": "cyclic(a{}, 1)", "n": "whole"}
    axes = [spell[letter].format(i) for i, letter in enumerate(letters)]
    names = ", ".join(f"a{i}={size}" for i, size in enumerate(grid) if cut[i])
    return f"{names}: {', '.join(axes)}"


def _named(dist: tuple[Any, ...], shape: tuple[int, ...], mesh: Mesh) -> str:
    if len(dist) != len(shape):
        raise ValueError(f"got {len(dist)} entries in dist={dist!r} for {len(shape)} axes")
    known, axes = dict(mesh.axes), []
    for entry in dist:
        names = () if entry is None else (entry,) if isinstance(entry, str) else tuple(entry)
        wrong = [name for name in names if name not in known]
        if wrong:
            raise ValueError(f"got mesh axes {wrong}, expected some of {list(known)}")
        axes.append(f"block({'*'.join(names)})" if names else "whole")
    return f"{mesh.text}: {', '.join(axes)}"
