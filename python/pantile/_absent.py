"""Functions of the array API that are not there yet: each says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

NAMES = (
    "argsort cumulative_prod cumulative_sum nonzero searchsorted sort take "
    "take_along_axis unique_all unique_counts unique_inverse unique_values"
).split()


def _absent(name: str) -> Callable[..., NoReturn]:
    def function(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(
            f"pt.{name} is not there yet; np.{name}(np.asarray(a)) works on one process"
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "Not there yet."
    return function


for _name in NAMES:
    globals()[_name] = _absent(_name)

__all__ = NAMES
