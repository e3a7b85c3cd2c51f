"""Arrays from other libraries: by the Distributed Array Protocol, and by DLPack.

Memory that comes in is not copied: the array's elements are that memory, as long as the array lives.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _core, _dtypes, dap
from ._array import Array
from ._creation import asarray
from ._exchange import owned_of, positions_of
from ._sections import capsule
from ._world import records_of_all, world

#: Arrays with fewer elements live whole on every rank, unless somebody says otherwise.
FEW = 4096


class Part(NamedTuple):
    """A section that is here: what is said of it, and its memory."""

    about: dict[str, Any]
    memory: np.ndarray | None


# ---- the Distributed Array Protocol


def from_distarray(objects: Any, /) -> Array:
    """An array whose sections are those of other libraries, without copying them.

    `objects` are objects with `__distarray__`, or the structures that it returns: one, or a list in
    the order of ranks. On threads the list has all sections; under MPI every process gives its own (or
    all give the same list). Structures of version 0.9, lists for tuples, missing sizes of a single
    section and the like are straightened.

    Section i lives on rank i, and its memory is the array's: what others write is seen by what is
    computed later, what is assigned to the array is seen by them once it is computed. Memory that is
    not row-major, or is labelled in another order, is copied to be computed with, every time. Ranks
    that are missing are made where ranks are threads of this process, up to 4,096; the memory of more
    sections than that is copied every time, too, and then lives in blocks. (Under MPI that of more
    sections than processes is copied for good.) Memory that can only be read makes an array that cannot be assigned to.

    Padding between sections is not part of the array: `a.exchange()` fills it. The outer padding of
    an axis is, also if that is periodic.

    Workers of a cluster share no memory with this process: there it is a `BufferError`.

    >>> import numpy as np
    >>> import pantile as pt
    >>> mine = np.arange(4.0)
    >>> a = pt.from_distarray({"__version__": "0.10.0", "buffer": mine, "dim_data": ({},)})
    >>> mine[0] = 10
    >>> a[1] = 20
    >>> a.tolist(), mine.tolist()
    ([10.0, 20.0, 2.0, 3.0], [10.0, 20.0, 2.0, 3.0])
    """
    alone = isinstance(objects, Mapping) or callable(getattr(objects, "__distarray__", None))
    several = isinstance(objects, Iterable) and not alone
    given = list(objects) if several else [objects]
    return brought(lambda: [_part(one) for one in given], "from_distarray")


def _part(given: Any) -> Part:
    structure = given
    if not isinstance(given, Mapping):
        if not callable(getattr(given, "__distarray__", None)):
            raise TypeError(
                f"got {type(given).__name__}, expected an object with `__distarray__`, or what "
                "that returns"
            )
        structure = given.__distarray__()
        if not isinstance(structure, Mapping):
            raise TypeError(f"`__distarray__` returned {type(structure).__name__}, expected a dict")
    about = dap.prepared(structure, lenient=True)
    memory = None
    if isinstance(about.get("buffer"), tuple):
        memory = usable(dap.memory_of(structure["buffer"]))
    return Part(about, memory)


def usable(memory: np.ndarray) -> np.ndarray:
    """Memory of elements that arrays can have."""
    if not memory.dtype.isnative:
        raise TypeError(
            f"got elements of {memory.dtype.str}, whose bytes are in the order of other machines: "
            "convert them first"
        )
    if memory.dtype not in _dtypes.ALL:
        raise TypeError(f"there are no arrays of type {memory.dtype}")
    if memory.dtype == bool and memory.size and memory.view(np.uint8).max() > 1:
        raise ValueError("got truth values with other bytes than 0 and 1")
    return memory


def brought(parts: Callable[[], list[Part]], name: str, ordered: bool = True) -> Array:
    """An array of the sections that all processes have. If they are not in the order of ranks,
    their places say which is which."""
    ours = world()
    given, records = _told(ours, name, parts)
    every = [(rank, about) for rank, abouts in enumerate(records) for about in abouts[0]]
    here = [(one.memory, about) for one, about in zip(given, records[_me(ours)][0])]
    if len(records) > 1 and _given_by_all(records):
        # Everybody has everything.
        every = [(min(i, len(records) - 1), about) for i, (_, about) in enumerate(every[: len(given)])]
        owners = [(rank, i) for i, (rank, _) in enumerate(every)]
    else:
        counts: dict[int, int] = {}
        owners = []
        for rank, _ in every:
            owners.append((rank, counts.get(rank, 0)))
            counts[rank] = counts.get(rank, 0) + 1
    if not ordered:
        order = sorted(range(len(every)), key=lambda i: _coordinates(every[i][1]))
        every, owners = [every[i] for i in order], [owners[i] for i in order]
    if not every:
        raise ValueError(f"{name}: got no sections")
    abouts = [about for _, about in every]
    read_only = any(flag for record in records for flag in record[1])
    dtype = next((record[2] for record in records if record[2]), None)
    dims = _straight(abouts, name)
    assert dtype is not None  # every section that passed has a buffer
    alone = len(records) == 1
    memories = [here[i][0] if alone or rank == _me(ours) else None for rank, i in owners]
    in_place = len(every) <= ours.max_ranks and (
        alone or all(rank == i for i, (rank, _) in enumerate(owners))
    )
    if in_place:
        return Array._of(ours.bring(abouts, memories, dtype, read_only))
    if alone:
        return Array._of(ours.bring(abouts, memories, dtype, read_only, _blocks(dims, ours)))
    shapes = [about["buffer"][0] for about in abouts]
    return _copied(ours, (dims, shapes), memories, owners, dtype)


def _me(ours: _core.World) -> int:
    return ours.hosted[0] if len(ours.hosted) < ours.ranks else 0


def _told(
    ours: _core.World, name: str, parts: Callable[[], list[Part]]
) -> tuple[list[Part], list[tuple[Any, ...]]]:
    """The sections that are here, and what every process says: its sections without memory, which
    of them can only be read, and the type of elements."""
    given: list[Part] = []

    def record() -> tuple[Any, ...]:
        given.extend(parts())
        flags = [one.memory is not None and not one.memory.flags.writeable for one in given]
        dtype = next((str(one.memory.dtype) for one in given if one.memory is not None), None)
        return [one.about for one in given], flags, dtype

    return given, records_of_all(ours, name, record)


def _given_by_all(records: list[tuple[Any, ...]]) -> bool:
    """True if every process gave the list of all sections."""
    first = records[0][0]
    places = 1
    for dim in _dims(first[0]) if first else ():
        places *= dim.get("proc_grid_size", 1) if isinstance(dim, dict) else 1
    same = all(pickle.dumps(one[0]) == pickle.dumps(first) for one in records)
    return same and bool(first) and places == len(first)


def _dims(about: dict[str, Any]) -> Sequence[Any]:
    dims = about.get("dim_data")
    return dims if isinstance(dims, (tuple, list)) else ()


def _coordinates(about: dict[str, Any]) -> tuple[int, ...]:
    return tuple(dim["proc_grid_rank"] for dim in _dims(about))


def _straight(abouts: list[dict[str, Any]], name: str) -> list[tuple[dict[str, Any], ...]]:
    """The dictionaries of all sections. Refuses those that do not fit, with everything that is
    wrong."""
    dims, findings = _core.dap_straightened(abouts)
    if findings:
        lines = "; ".join(f"{code}: {words}" for code, words in findings)
        raise ValueError(f"{name}: the sections do not fit: {lines}")
    return dims


def _blocks(dims: list[tuple[dict[str, Any], ...]], ours: _core.World) -> str:
    """Where the elements of more sections than ranks live: in blocks along the first axis that the
    sections cut."""
    cut = [dim.get("proc_grid_size", 1) > 1 for dim in dims[0]]
    axes = ["whole"] * len(cut)
    axes[cut.index(True)] = "block(r)"
    return f"r={ours.ranks}: {', '.join(axes)}"


def _copied(
    ours: _core.World,
    said_of: tuple[list[tuple[dict[str, Any], ...]], list[list[int]]],
    memories: list[np.ndarray | None],
    owners: list[tuple[int, int]],
    dtype: str,
) -> Array:
    """Sections that are not where their ranks are, put together on every process."""
    mine = [one.tobytes() for one in memories if one is not None]
    said = [pickle.loads(one) for one in ours.gather("sections", pickle.dumps(mine))]
    dims, shapes = said_of
    places = positions_of(dims, shapes)
    shape = [1 + max((int(one[axis].max(initial=-1)) for one in places), default=-1)
             for axis in range(len(dims[0]))]  # fmt: skip
    whole = np.zeros(shape, dtype)
    for section, (rank, number) in reversed([*enumerate(owners)]):
        extents = shapes[section]
        memory = np.frombuffer(said[rank][number], dtype).reshape(extents)
        owned = [owned_of(dim, extent) for dim, extent in zip(dims[section], extents)]
        at = [where[own] for where, own in zip(places[section], owned)]
        whole[np.ix_(*at)] = memory[tuple(owned)]
    axis = next((i for i, dim in enumerate(dims[0]) if dim.get("proc_grid_size", 1) > 1), None)
    return asarray(whole, dist=axis)


# ---- DLPack


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """An array of the elements of another library that speaks DLPack; under MPI every process gives
    the same.

    Memory is shared, and writes are seen on both sides, with `copy=False`, on a single rank, and of
    small arrays (those with fewer than 4,096 elements, which live whole on every rank); else, and with
    `copy=True`, the elements are copied to the ranks. Those on the workers of a cluster only get
    copies.

    >>> import numpy as np
    >>> import pantile as pt
    >>> theirs = np.arange(3)
    >>> ours = pt.from_dlpack(theirs)
    >>> theirs[0] = 5
    >>> ours.tolist()
    [5, 1, 2]
    """
    if device not in (None, "cpu"):
        raise ValueError(f'got device {device!r}, expected "cpu"')

    def look() -> list[Part]:
        if not hasattr(x, "__dlpack__"):
            raise TypeError(f"got {type(x).__name__}, expected an object with `__dlpack__`")
        memory = usable(np.from_dlpack(x))
        return [Part({"shape": memory.shape}, memory)]

    ours = world()
    given, records = _told(ours, "from_dlpack", look)
    memory = given[0].memory
    assert memory is not None
    if any((one[0], one[2]) != (records[0][0], records[0][2]) for one in records):
        raise ValueError("from_dlpack: processes gave arrays of different shapes or types")
    read_only = any(flag for record in records for flag in record[1])
    large = ours.ranks > 1 and memory.size >= FEW
    if copy or (copy is None and (large or not ours.near)):
        return asarray(memory)
    return Array._of(ours.bring_whole(memory, str(memory.dtype), read_only))


def dlpack(
    array: Array,
    stream: Any,
    max_version: tuple[int, int] | None,
    dl_device: tuple[Any, int] | None,
    copy: bool | None,
) -> Any:
    """A capsule of an array that is whole in one place."""
    sections = Array._of(array._h).sections  # without halos
    whole = [one for one in sections if one.data.shape == array.shape]
    if not whole or (array.size == 0 and not sections):
        raise BufferError(
            f"the array is spread over {array._h.world.ranks} ranks: its sections speak DLPack, and "
            "so does np.asarray(a), which gathers it"
        )
    return capsule(whole[0]._lent(copy), stream, max_version, dl_device, copy)
