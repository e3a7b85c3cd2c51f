"""The Distributed Array Protocol 0.10.0: judging structures, and files of them.

A structure is what `__distarray__()` returns: a dict with `__version__`, `buffer` and `dim_data`.
Wherever one is expected, an object that has `__distarray__` will do.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO

import numpy as np

from . import _core
from ._sections import VERSION

__all__ = [
    "VERSION", "num_owned", "read", "read_dnpy", "validate", "validate_all", "write", "write_dnpy",
]  # fmt: skip


def validate(structure: Any) -> list[tuple[str, str]]:
    """Everything that is wrong with one process' structure: codes and sentences. Strict.

    >>> import numpy as np
    >>> from pantile import dap
    >>> dim = {"dist_type": "b", "size": 10, "proc_grid_size": 2, "proc_grid_rank": 0}
    >>> dim |= {"start": 0, "stop": 5}
    >>> dap.validate({"__version__": "0.10.0", "buffer": np.zeros(5), "dim_data": (dim,)})
    []
    >>> dap.validate({"__version__": "0.10.0", "buffer": np.zeros(4), "dim_data": (dim,)})
    [('EXTENT', "axis 0: the buffer's extent is 4, expected 5")]
    """
    found = _structure(structure)
    if not isinstance(found, Mapping):
        return [("TYPE", _no_structure(found))]
    return _core.dap_findings([prepared(found)], False)


def validate_all(structures: Iterable[Any]) -> list[tuple[str, str]]:
    """Everything that is wrong with the structures of all processes, in the order of their ranks:
    with each of them, and with all of them together."""
    if isinstance(structures, Mapping) or not isinstance(structures, Iterable):
        return [("TYPE", f"got {type(structures).__name__}, expected the structures of all processes")]
    found = [_structure(one) for one in structures]
    wrong = [
        ("TYPE", f"rank {rank}: {_no_structure(one)}")
        for rank, one in enumerate(found)
        if not isinstance(one, Mapping)
    ]
    return wrong or _core.dap_findings([prepared(one) for one in found], True)


def num_owned(dim_dict: Mapping[str, Any]) -> int:
    """How many elements a process owns along the dimension that a dictionary describes.

    >>> from pantile import dap
    >>> dap.num_owned({"dist_type": "c", "size": 10, "proc_grid_size": 4, "proc_grid_rank": 3,
    ...                "start": 9, "block_size": 3})
    1
    """
    if not isinstance(dim_dict, Mapping):
        raise TypeError(f"got {type(dim_dict).__name__}, expected a dimension dictionary")
    return _core.dap_num_owned(_plain(dim_dict, True))


def read_dnpy(file: str | os.PathLike[str] | BinaryIO) -> dict[str, Any]:
    """The structure that a `.dnpy` file has: its buffer is a new NumPy array."""
    if isinstance(file, (str, os.PathLike)):
        with open(file, "rb") as opened:
            content = opened.read()
    else:
        content = file.read()
    version, dims, dtype, fortran, shape, begin = _core.dnpy_read(content)
    kind = np.dtype(dtype)
    count = int(np.prod(shape, dtype=object)) if shape else 1
    if len(content) - begin < count * kind.itemsize:
        raise ValueError(
            f"got {len(content) - begin} bytes of elements, expected {count * kind.itemsize}"
        )
    flat = np.frombuffer(content, kind, count, begin).copy()
    buffer = flat.reshape(shape, order="F" if fortran else "C")
    return {"__version__": version, "buffer": buffer, "dim_data": dims}


def write_dnpy(file: str | os.PathLike[str] | BinaryIO, structure: Any) -> None:
    """Writes one process' structure, or section, as a `.dnpy` file.

    Unstructured dimensions cannot be written: the header has no words for their labels.
    """
    found = _structure(structure)
    if not isinstance(found, Mapping):
        raise TypeError(_no_structure(found))
    if "buffer" not in found:
        raise ValueError("got a structure without `buffer`")
    buffer = memory_of(found["buffer"])
    header = _core.dnpy_header(prepared(found), buffer.dtype.str, list(buffer.shape))
    content = header + buffer.tobytes()
    if isinstance(file, (str, os.PathLike)):
        with open(file, "wb") as opened:
            opened.write(content)
    else:
        file.write(content)


read = read_dnpy
write = write_dnpy


# ---- objects of others


def _structure(given: Any) -> Any:
    """The structure itself, if it is one or has one."""
    if not isinstance(given, Mapping) and callable(getattr(given, "__distarray__", None)):
        return given.__distarray__()
    return given


def _no_structure(given: Any) -> str:
    return (
        f"got {type(given).__name__}, expected a dict with `__version__`, `buffer` and `dim_data`, "
        "or an object with `__distarray__`"
    )


def memory_of(buffer: Any) -> np.ndarray:
    """A buffer as NumPy sees it, without copying."""
    return np.asarray(buffer if isinstance(buffer, np.ndarray) else memoryview(buffer))


def prepared(structure: Mapping[str, Any], lenient: bool = False) -> dict[str, Any]:
    """A structure as the core takes it: of the buffer only what it is like.

    If it is to be lenient, numbers and lists of NumPy's are taken for Python's.
    """
    about = {str(key): None for key in structure}
    about.update({key: _plain(structure[key], lenient) for key in about if key == "__version__"})
    if "dim_data" in about:
        about["dim_data"] = _plain(structure["dim_data"], lenient)
    if "buffer" in about:
        about["buffer"] = _about(structure["buffer"])
    return about


def _about(buffer: Any) -> Any:
    try:
        view = memoryview(buffer)
    except (TypeError, ValueError, BufferError) as error:
        # Some of NumPy's types have no words there.
        if isinstance(buffer, np.ndarray):
            return list(buffer.shape), buffer.dtype.str
        return type(buffer).__name__ if isinstance(error, TypeError) else str(error)
    try:
        return list(view.shape or ()), np.asarray(view).dtype.str
    except (TypeError, ValueError, RuntimeError):
        return list(view.shape or ()), view.format


def _plain(value: Any, lenient: bool, key: str = "") -> Any:
    """Dicts, tuples and lists with what the core knows in them."""
    if isinstance(value, Mapping):
        return {name: _plain(one, lenient, str(name)) for name, one in value.items()}
    if type(value) in (tuple, list):
        return type(value)(_plain(one, lenient) for one in value)
    if lenient and isinstance(value, (np.integer, np.bool_)):
        return value.item()
    if lenient and key == "padding" and isinstance(value, np.ndarray):
        return tuple(value.tolist())
    if isinstance(value, (str, int, float, type(None), np.generic)):
        return value
    return _labels(value)


def _labels(value: Any) -> Any:
    """A buffer of whole numbers as one of the widest; anything else as it is."""
    try:
        found = np.asarray(memoryview(value))
    except (TypeError, ValueError, BufferError):
        return value
    if found.ndim != 1 or found.dtype.kind not in "iu":
        return value
    if found.dtype.kind == "u" and found.size and found.max() > np.iinfo(np.int64).max:
        return value
    return np.ascontiguousarray(found.astype(np.int64))
