"""What one rank has of an array: where it is in the array, and its memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._dist import index_of
from ._exchange import globals_of, owned_of

#: The version of the protocol that is spoken.
VERSION = "0.10.0"


class Section(_core.Memory):
    """What one rank has of an array: `rank`, `index`, `owned`, `data`.

    Other libraries get its memory by the buffer protocol (`np.asarray(section)`,
    `memoryview(section)`), `__array_interface__`, DLPack or `__distarray__`. It is the array's own:
    what they write is seen by the array, and what is assigned to the array is seen by them once it is
    computed (`a.compute()`). Expressions read the memory when they are computed, not when they are
    written down; an assignment that nobody computes before the array is gone is seen by nobody. Where
    several ranks have copies of the same elements the memory can only be read. Where ranks are on the
    workers of a cluster, `data` is a copy, and there is no memory to share (`BufferError`).

    >>> import numpy as np
    >>> import pantile as pt
    >>> pt.init(ranks=2)
    >>> a = pt.zeros(6, dist=0)
    >>> np.asarray(a.section(1))[:] = 7
    >>> a.tolist()
    [0.0, 0.0, 0.0, 7.0, 7.0, 7.0]
    """

    __slots__ = ("__weakref__", "_haloed", "_handle", "_live", "_seen", "_wide", "index", "inner", "rank", "runs")

    def __init__(
        self,
        handle: _core.Array,
        rank: int,
        shape: list[int],
        runs: list[list[tuple[int, int]]],
        places: tuple[int, list[int]],
        elements: _core.Buffer,
        inner: tuple[slice, ...] | None = None,
    ) -> None:
        self._handle = handle
        self._live: np.ndarray | None = None
        #: Where elements are held, if there are halos.
        self._wide: _core.Distribution | None = None
        self._seen = _array_of(elements.dtype, shape, *places, elements)
        self.rank = rank
        #: For each axis the global indices as runs: first and last (excluded).
        self.runs = runs
        #: For each axis the global indices: a slice, or an array where they are no range.
        self.index = tuple(index_of(axis) for axis in runs)
        self._haloed = inner is not None
        #: Where the rank's own elements are in `data`: all of it, unless there are halos.
        self.inner = tuple(slice(0, length) for length in shape) if inner is None else inner

    @property
    def data(self) -> np.ndarray:
        """The elements as a NumPy view, without copying. Read-only."""
        if self._live is None:
            return self._seen
        view = self._live.view()
        view.flags.writeable = False
        return view

    @property
    def owned(self) -> np.ndarray:
        """The elements that the rank owns, without halos."""
        return self.data[self.inner] if self._haloed else self.data

    def __repr__(self) -> str:
        where = ", ".join(_index_text(one) for one in self.index)
        return f"Section(rank={self.rank}, index=[{where}], shape={self.data.shape})"

    # ---- for other libraries

    def _shown(self) -> tuple[np.ndarray, Any]:
        """The memory with its padding, and what the protocol says of it, or why it says nothing."""
        # What was exchanged to have halos is no memory of the array's.
        if self._wide is not None:
            return self._with_padding(self._wide)
        found = None if self._haloed else shown(self._handle)
        if found is not None and self.rank in found:
            memory, dims = found[self.rank]
            if isinstance(dims, str):
                self._live = memory
                return memory, dims
            if _agrees(dims, self.runs):
                own = _owned(memory, dims, self.runs)
                self._live = self._live if own is None else own
                return memory, dims
        try:
            return self.owned, dict(self._handle.dim_data())[self.rank]
        except BufferError as error:
            return self.owned, str(error)
        except KeyError:
            return self.owned, "this rank has no part of the array"

    def _with_padding(self, wide: _core.Distribution) -> tuple[np.ndarray, Any]:
        """The memory with halos as padding; without them where the protocol cannot say these."""
        try:
            plain = dict(self._handle.dim_data())
        except BufferError as error:
            return self.owned, str(error)
        if self.rank not in plain:
            return self.owned, "this rank has no part of the array"
        padded = padded_dims(plain, wide, self.data.dtype.str)
        if padded is None:
            return self.owned, plain[self.rank]
        return self.data, padded[self.rank]

    def _memory(self) -> np.ndarray:
        """What the rank owns, to be written if that can be."""
        self._shown()
        return self._seen if self._live is None else self._live

    def _lent(self, copy: bool | None) -> np.ndarray:
        """The same for somebody who may copy it: workers of a cluster only have copies to give."""
        return self.owned if copy and not self._handle.world.near else self._memory()

    def __distarray__(self) -> dict[str, Any]:
        """The section as the Distributed Array Protocol 0.10.0 says it: with padding, if it came
        with some, or if it has halos that are padding to the protocol. (On both sides of a cut they
        are of one width, not wider than the neighbour, and inside of the array.)"""
        memory, dims = self._shown()
        if isinstance(dims, str):
            raise BufferError(dims)
        return {"__version__": VERSION, "buffer": memory, "dim_data": dims}

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self._memory().__array_interface__

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[Any, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """The memory as a capsule of DLPack."""
        return capsule(self._lent(copy), stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Always the CPU."""
        return 1, 0


def _agrees(dims: tuple[dict[str, Any], ...], runs: list[list[tuple[int, int]]]) -> bool:
    """True if parts are where the array has them: a view may live elsewhere than its base."""
    if len(dims) != len(runs):
        return False
    for dim, own in zip(dims, runs):
        count = sum(high - low for low, high in own)
        if dim["proc_grid_size"] == 1 or dim["dist_type"] == "u":
            continue  # all of it; or labels, which say nothing of indices
        indices = globals_of(dim, count)
        if dim["dist_type"] == "b":
            owned = owned_of(dim, dim["stop"] - dim["start"])
            indices = dim["start"] + np.arange(owned.start, owned.stop)
        if len(indices) != count or [*indices[:1]] != [low for low, _ in own[:1]]:
            return False
    return True


def _owned(
    memory: np.ndarray, dims: tuple[dict[str, Any], ...], runs: list[list[tuple[int, int]]]
) -> np.ndarray | None:
    """What a rank owns of its memory; None if that is in another order than its indices."""
    for dim, own in zip(dims, runs):
        if dim["dist_type"] == "u":
            labels = np.asarray(dim["indices"])
            indices = np.concatenate([np.arange(*run) for run in own]) if own else labels[:0]
            # Labels are larger where indices are: the two say the same order, or not.
            if not np.array_equal(np.argsort(labels), np.argsort(indices)):
                return None
    places: tuple[Any, ...] = (*(owned_of(dim, n) for dim, n in zip(dims, memory.shape)), ...)
    owned: np.ndarray = memory[places]
    return owned


def padded_dims(
    plain: dict[int, tuple[dict[str, Any], ...]], wide: _core.Distribution, dtype: str
) -> dict[int, tuple[dict[str, Any], ...]] | None:
    """What the protocol says of all ranks with their halos as padding; None if it cannot.

    Halos beyond the ends of a periodic axis are its outer padding, which the protocol counts in the
    axis: it is longer by them, and all indices are shifted by those on the left.
    """
    found, said, ends = {}, [], _ends(plain, wide)
    for rank, dims in plain.items():
        held, shape = wide.held(rank), wide.local_shape(rank)
        if held is None or shape is None:
            return None
        own: list[dict[str, Any]] = []
        for dim, left, extent, (low, high) in zip(dims, held[1], shape, ends):
            if dim["dist_type"] == "b":
                right = extent - left - (dim["stop"] - dim["start"])
                dim = {**dim, "start": dim["start"] - left + low, "stop": dim["stop"] + right + low}
                if low or high:
                    dim = {**dim, "size": dim["size"] + low + high, "periodic": True}
                if left or right:
                    dim["padding"] = (left, right)
            own.append(dim)
        found[rank] = tuple(own)
        said.append({"__version__": VERSION, "buffer": (shape, dtype), "dim_data": found[rank]})
    return None if _core.dap_findings(said, True) else found


def _ends(
    plain: dict[int, tuple[dict[str, Any], ...]], wide: _core.Distribution
) -> list[tuple[int, int]]:
    """How far halos reach beyond both ends of each axis, on any rank: nowhere, or it is periodic."""
    ends: dict[int, tuple[int, int]] = {}
    for rank, dims in plain.items():
        held, shape = wide.held(rank), wide.local_shape(rank)
        for axis, dim in enumerate(dims if held is not None and shape is not None else ()):
            low, high = ends.setdefault(axis, (0, 0))
            if dim["dist_type"] == "b" and held is not None and shape is not None:
                first = dim["start"] - held[1][axis]
                ends[axis] = max(low, -first), max(high, first + shape[axis] - dim["size"])
    return [ends.get(axis, (0, 0)) for axis in range(len(wide.shape))]


def shown(handle: _core.Array) -> dict[int, tuple[np.ndarray, Any]] | None:
    """By hosted rank the memory, to be written, and what the protocol says of it.

    None if others cannot get the memory itself.
    """
    found = handle.show()
    if found is None:
        return None
    ranks = {}
    for rank, memory, part, dims in found:
        if not isinstance(memory, np.ndarray):
            memory = _array_of(handle.dtype, *memory)
        ranks[rank] = (memory if part is None else _part(memory, *part), dims)
    return ranks


def _part(memory: np.ndarray, parts: tuple[Any, ...], order: tuple[int, ...]) -> np.ndarray:
    """What a view sees of a memory."""
    if "nothing" in parts:
        return np.empty((0,) * len(order), memory.dtype)
    places: list[Any] = []
    for part in parts:
        if isinstance(part, int):
            places.append(part)
            continue
        first, count, step = part
        stop = first + count * step
        places.append(slice(first, None if stop < 0 else stop, step) if count else slice(0, 0))
    return np.asarray(memory[(*places, ...)]).transpose(order)


def capsule(
    memory: np.ndarray,
    stream: Any,
    max_version: tuple[int, int] | None,
    dl_device: tuple[Any, int] | None,
    copy: bool | None,
) -> Any:
    """A capsule of DLPack for memory of NumPy's."""
    if stream is not None:
        raise BufferError(f"got stream={stream!r}, expected None on the CPU")
    if dl_device is not None and (int(dl_device[0]), dl_device[1]) != (1, 0):
        raise BufferError(f"got device {dl_device}, expected the CPU: (1, 0)")
    old = max_version is None or max_version[0] < 1
    if copy or (copy is None and old and not memory.flags.writeable):
        # Only the newer capsules can say that memory is not to be written.
        memory = memory.copy()
    words: Any = {} if old else {"max_version": max_version}
    return memory.__dlpack__(**words)


def _array_of(
    dtype: str, shape: list[int], first: int, strides: list[int], elements: Any
) -> np.ndarray:
    kind = np.dtype(dtype)
    if not shape and not len(elements):  # a rank that has nothing of an array without axes
        return np.empty(0, kind)
    steps = [stride * kind.itemsize for stride in strides]
    return np.ndarray(shape, kind, elements, first * kind.itemsize, steps)


def _index_text(index: Any) -> str:
    """Indices as they are written in brackets."""
    if isinstance(index, slice):
        return f"{index.start}:{index.stop}"
    return np.array2string(index, threshold=6, edgeitems=2, separator=" ")
