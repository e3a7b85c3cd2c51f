"""Dimension dictionaries of the Distributed Array Protocol, for the core to judge."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def as_json(ranks: Sequence[Any]) -> str:
    """The descriptions of all ranks as JSON. Nothing is judged here but what JSON cannot say."""
    if isinstance(ranks, (str, bytes, Mapping)) or not isinstance(ranks, Sequence) or not ranks:
        raise TypeError("expected a list with the dim_data of every rank: tuples of dictionaries")
    sections = [_section(rank, given) for rank, given in enumerate(ranks)]
    return json.dumps({"ranks": sections})


def _section(rank: int, given: Any) -> dict[str, Any]:
    if isinstance(given, Mapping) and "dim_data" in given:
        section: dict[str, Any] = {"dim_data": _plain(given["dim_data"], rank)}
        if "__version__" in given:
            section["version"] = given["__version__"]
        if "buffer" in given:
            section["buffer_shape"] = list(np.asarray(given["buffer"]).shape)
        return section
    if isinstance(given, Mapping):  # one dimension without the tuple around it
        return {"dim_data": [_plain(given, rank)]}
    return {"dim_data": _plain(given, rank)}


def _plain(value: Any, rank: int) -> Any:
    """A value as JSON knows it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one, rank) for key, one in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(one, rank) for one in value]
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    try:
        return np.asarray(memoryview(value)).tolist()
    except TypeError:
        name = type(value).__name__
        words = f"rank {rank}: got {name} in dim_data, expected numbers, texts and buffers"
        raise TypeError(words) from None
