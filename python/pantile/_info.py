"""What the array API asks about this library."""

from __future__ import annotations

from . import _dtypes


class Info:
    """Answers of `__array_namespace_info__()`."""

    def capabilities(self) -> dict:
        """What is there."""
        return {"boolean indexing": False, "data-dependent shapes": False, "max dimensions": 64}

    def default_device(self) -> str:
        """The only device."""
        return "cpu"

    def devices(self) -> list[str]:
        """All devices."""
        return ["cpu"]

    def default_dtypes(self, *, device=None) -> dict:
        """Types of arrays whose type nobody names."""
        return {
            "real floating": _dtypes.float64,
            "complex floating": _dtypes.complex128,
            "integral": _dtypes.int64,
            "indexing": _dtypes.int64,
        }

    def dtypes(self, *, device=None, kind=None) -> dict:
        """All types, or those of a kind."""
        kinds = kind if isinstance(kind, tuple) else (kind,)
        wanted = _dtypes.ALL if kind is None else [d for k in kinds for d in _dtypes.KINDS[k]]
        return {str(dtype): dtype for dtype in wanted}


def __array_namespace_info__() -> Info:
    """What the array API asks about this library."""
    return Info()
