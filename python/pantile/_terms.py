"""What `terms=` of a distribution accepts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

OPERATORS = ("sum", "prod", "min", "max", "and", "or")

#: Operator, array axes, mesh axes, and whether all directions are meant.
Named = tuple[str, list[int], list[str], bool]


def read(terms: Any, names: tuple[str, ...], ndim: int, over: list[list[int]] | None) -> Named:
    """The operator and the directions that a user names.

    >>> read("sum", ("r",), 1, [[]])
    ('sum', [], [], True)
    >>> read({"r": "max"}, ("r",), 1, [[]])
    ('max', [], ['r'], False)
    >>> read(["x", 1], ("x", "y"), 2, [[], [1]])
    ('sum', [1], ['x'], False)
    """
    operator, directions = _parts(terms, names)
    if operator not in OPERATORS:
        known = ", ".join(OPERATORS)
        raise ValueError(f"got the operator {operator!r} in terms={terms!r}, expected one of {known}")
    if directions == ["*"]:
        return operator, [], [], True
    axes, free = [], []
    for one in directions:
        if isinstance(one, str) and one in names:
            # A mesh axis that cuts an array axis alone means that one.
            cut = [axis for axis, own in enumerate(over or []) if own == [names.index(one)]]
            axes += cut
            free += [] if cut else [one]
        elif isinstance(one, int) and not isinstance(one, bool) and -ndim <= one < ndim:
            axes.append(one % ndim)
        else:
            raise ValueError(
                f"got {one!r} in terms={terms!r}, expected one of the mesh axes {list(names)} "
                "or an axis of the array"
            )
    if not axes and not free:
        raise ValueError(f"got terms={terms!r}, expected at least one mesh axis or array axis")
    return operator, axes, free, False


def _parts(terms: Any, names: tuple[str, ...]) -> tuple[str, list[Any]]:
    """The operator, and directions as they were given."""
    if isinstance(terms, Mapping):
        if len(terms) == 1 and next(iter(terms)) in OPERATORS and next(iter(terms)) not in names:
            ((operator, directions),) = terms.items()
            return operator, _list(directions)
        operators = sorted({str(one) for one in terms.values()})
        if len(operators) > 1:
            several = ", ".join(operators)
            raise ValueError(f"got the operators {several} in terms={terms!r}, expected one for all")
        return (operators or ["sum"])[0], list(terms)
    if isinstance(terms, str):
        found = re.fullmatch(r"\s*(\w+)\s*\(([^)]*)\)\s*", terms)
        if found:
            words = [word.strip() for word in found[2].split(",") if word.strip()]
            return found[1], [int(word) if word.isdigit() else word for word in words]
        return (terms, ["*"]) if terms in OPERATORS and terms not in names else ("sum", [terms])
    given = _list(terms)
    if len(given) == 2 and given[0] in OPERATORS and given[0] not in names:
        return given[0], _list(given[1])
    return "sum", given


def _list(directions: Any) -> list[Any]:
    if isinstance(directions, (list, tuple, set, frozenset)):
        return list(directions)
    return [directions]
