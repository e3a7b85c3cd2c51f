"""Names for what functions take, for editors and type checkers. Nothing imports this when it runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from ._array import Array
from ._dist import Distribution
from ._mesh import Mesh

__all__ = ["ArrayLike", "Axes", "Axis", "DTypeLike", "Dist", "Mesh", "Number", "Operand", "Shape"]

Shape: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
#: One axis.
Axis: TypeAlias = SupportsIndex
#: One axis, or several.
Axes: TypeAlias = SupportsIndex | tuple[SupportsIndex, ...] | list[int]
#: Real numbers and truth values are complex numbers, too.
Number: TypeAlias = complex
#: What stands beside an array.
Operand: TypeAlias = Array | np.ndarray | np.generic | complex
#: Where an array lives: `"auto"`, an axis, letters, mesh axes for each axis, a text, or `None` for copies.
Dist: TypeAlias = SupportsIndex | str | Distribution | Sequence[str | Sequence[str] | None] | None
