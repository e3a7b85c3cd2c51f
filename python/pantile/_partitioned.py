"""`__partitioned__`: every partition of an array, and where it can be read."""

from __future__ import annotations

import json
import operator
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from . import _core, dap
from ._array import Array
from ._interchange import Part, brought, usable
from ._sections import Section


def got(handles: Any) -> Any:
    """The data behind handles of ours: the handles themselves, one or several."""
    return [*handles] if isinstance(handles, (list, tuple)) else handles


def partitioned(array: Array) -> dict[str, Any]:
    """The dictionary of `__partitioned__`."""
    shape, tiling, parts = array._h.partitions()
    plain = Array._of(array._h)  # halos belong to no partition
    sections = {one.rank: one for one in plain.sections}
    memories = {rank: one._memory() for rank, one in sections.items()}
    partitions: dict[tuple[int, ...], dict[str, Any]] = {}
    local = []
    for position, start, extents, ranks in parts:
        near = [rank for rank in ranks if rank in sections]
        data = None
        if near:
            local.append(tuple(position))
            data = _piece(sections[near[0]], memories[near[0]], start, extents)
        partitions[tuple(position)] = {
            "start": tuple(start), "shape": tuple(extents), "data": data, "location": ranks,
        }  # fmt: skip
    return {
        "shape": tuple(shape), "partition_tiling": tuple(tiling), "partitions": partitions,
        "get": got, "locals": local,
    }  # fmt: skip


def _piece(section: Section, memory: np.ndarray, start: list[int], extents: list[int]) -> np.ndarray:
    places: list[Any] = []
    for runs, first, extent in zip(section.runs, start, extents):
        before = sum(min(max(first - low, 0), high - low) for low, high in runs)
        places.append(slice(before, before + extent))
    return memory[(*places, ...)]


def from_partitioned(x: Any, /) -> Array:
    """An array of the partitions of another library, without copying where they are on the ranks in
    order: `x` has `__partitioned__`, or is such a dictionary. As `from_distarray` otherwise.

    >>> import numpy as np
    >>> import pantile as pt
    >>> halves = {(i,): {"start": (2 * i,), "shape": (2,), "data": np.arange(2) + 2 * i, "location": [i]}
    ...           for i in range(2)}
    >>> pt.from_partitioned({"shape": (4,), "partition_tiling": (2,), "partitions": halves}).tolist()
    [0, 1, 2, 3]
    """
    return brought(lambda: _partitions(x), "from_partitioned", ordered=False)


def _partitions(x: Any) -> list[Part]:
    given = x
    if not isinstance(x, Mapping):
        given = getattr(x, "__partitioned__", None)
        given = given() if callable(given) else given
    if not isinstance(given, Mapping):
        raise TypeError(f"got {type(x).__name__}, expected an object with `__partitioned__`")
    for key in ("shape", "partition_tiling", "partitions"):
        if key not in given:
            raise ValueError(f"got a dictionary without `{key}`")
    _numbers(given["shape"], "`shape`")
    tiling = _numbers(given["partition_tiling"], "`partition_tiling`")
    parts = _parts(given["partitions"])
    _judge_partitions(given, tiling, parts)
    get, local = given.get("get"), given.get("locals")
    if get is not None and not callable(get):
        raise TypeError(f"`get` is {type(get).__name__}, expected a function of handles")
    chosen = sorted(parts) if local is None else _local(local, parts)
    return [_partition(given, tiling, position, parts[position], get) for position in chosen]


def _numbers(given: Any, what: str) -> tuple[int, ...]:
    try:
        return tuple(operator.index(one) for one in given)
    except TypeError:
        raise TypeError(f"{what} is {given!r}, expected a tuple of whole numbers") from None


def _parts(given: Any) -> dict[tuple[int, ...], Any]:
    """The partitions by position, each with what it needs."""
    if not isinstance(given, Mapping):
        raise TypeError(f"`partitions` is {type(given).__name__}, expected a dict by position")
    parts = {_numbers(key, "a position in `partitions`"): one for key, one in given.items()}
    for position, one in parts.items():
        if not isinstance(one, Mapping):
            raise TypeError(f"the partition at {position} is {type(one).__name__}, expected a dict")
        lacking = {"start", "shape", "data"} - set(one)
        if lacking:
            raise ValueError(f"the partition at {position} has no {', '.join(sorted(lacking))}")
        for key in ("start", "shape"):
            _numbers(one[key], f"`{key}` of the partition at {position}")
    return parts


def _local(given: Any, parts: dict[tuple[int, ...], Any]) -> list[tuple[int, ...]]:
    """The positions that are here."""
    if not isinstance(given, Iterable):
        raise TypeError(f"`locals` is {given!r}, expected a list of positions")
    chosen = [_numbers(one, "a position in `locals`") for one in given]
    for position in chosen:
        if position not in parts:
            raise ValueError(f"`locals` has {position}, where there is no partition")
    return chosen


def _judge_partitions(
    given: Mapping[str, Any], tiling: tuple[int, ...], parts: dict[tuple[int, ...], Any]
) -> None:
    text = json.dumps({
        "shape": [int(one) for one in given["shape"]],
        "partition_tiling": tiling,
        "partitions": {
            ",".join(map(str, position)): {
                "start": [int(at) for at in one["start"]],
                "shape": [int(at) for at in one["shape"]],
                "location": [0],
            }
            for position, one in parts.items()
        },
    })  # fmt: skip
    findings = _core.partitioned_findings(text)
    if findings:
        raise ValueError(f"from_partitioned: {'; '.join(findings)}")


def _partition(
    given: Mapping[str, Any], tiling: tuple[int, ...], position: tuple[int, ...], part: Any, get: Any
) -> Part:
    data = part["data"]
    if get is not None:
        data = get(data)
    if data is None:
        raise ValueError(f"the partition at {position} has no data here")
    memory = usable(data if isinstance(data, np.ndarray) else _array_like(data))
    if memory.shape != tuple(part["shape"]):
        raise ValueError(
            f"the data at {position} has shape {memory.shape}, the dictionary says {part['shape']}"
        )
    dims = tuple(
        {
            "dist_type": "b", "size": int(size), "proc_grid_size": places, "proc_grid_rank": at,
            "start": int(first), "stop": int(first) + extent,
        }
        for size, places, at, first, extent in zip(
            given["shape"], tiling, position, part["start"], memory.shape
        )
    )  # fmt: skip
    about = {"__version__": dap.VERSION, "buffer": memory, "dim_data": dims}
    return Part(dap.prepared(about), memory)


def _array_like(data: Any) -> np.ndarray:
    if hasattr(data, "__dlpack__"):
        return np.from_dlpack(data)
    return np.asarray(data)
