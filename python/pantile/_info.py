"""What the array API asks about this library."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _dtypes


class Info:
    """Answers of `__array_namespace_info__()`."""

    def capabilities(self) -> dict[str, Any]:
        """What is there."""
        return {"boolean indexing": False, "data-dependent shapes": False, "max dimensions": 64}

    def default_device(self) -> str:
        """The only device."""
        return "cpu"

    def devices(self) -> list[str]:
        """All devices."""
        return ["cpu"]

    def default_dtypes(self, *, device: str | None = None) -> dict[str, np.dtype]:
        """Types of arrays whose type nobody names."""
        return {
            "real floating": _dtypes.float64,
            "complex floating": _dtypes.complex128,
            "integral": _dtypes.int64,
            "indexing": _dtypes.int64,
        }

    def dtypes(
        self, *, device: str | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, np.dtype]:
        """All types, or those of a kind."""
        wanted = (one for one in _dtypes.ALL if kind is None or _dtypes.isdtype(one, kind))
        return {str(dtype): dtype for dtype in wanted}


def __array_namespace_info__() -> Info:
    """What the array API asks about this library."""
    return Info()
