"""The array: lazy, distributed, as NumPy's in the hand."""

from __future__ import annotations

import builtins
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _dist, _dtypes, _indexing, _operators
from ._operators import Operators, operand
from ._sections import Section

if TYPE_CHECKING:
    from ._types import Axes, Dist, DTypeLike, Mesh


_new = object.__new__


class Array(Operators):
    """An array on all ranks.

    Operations are recorded and return at once; they run, fused, when somebody looks: `print`,
    `float`, `np.asarray`, `a.compute()`. Slices are views, as in NumPy; an index for every axis gives
    the element's value of that moment.

    >>> import pantile as pt
    >>> u = pt.zeros((4, 4))
    >>> u[1:-1, 1:-1] = 2.0
    >>> float(pt.sum(u))
    8.0
    """

    __slots__ = ("__weakref__",)
    __array_priority__ = 1000

    def __init__(self, *_: Any) -> None:
        raise TypeError("arrays are made by functions: pt.zeros, pt.asarray, ...")

    @staticmethod
    def _of(handle: _core.Array) -> Array:
        # Also what is computed from an array with halos has none: it is plainly an array.
        array = _new(Array)
        array._h = handle
        return array

    # ---- what it is

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        return tuple(self._h.shape)

    @property
    def dtype(self) -> np.dtype:
        """The type of the elements."""
        return _dtypes.BY_NAME[self._h.dtype]

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._h.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        size = 1
        for length in self._h.shape:
            size *= length
        return size

    @property
    def device(self) -> str:
        """Always `"cpu"`."""
        return "cpu"

    def to_device(self, device: str, /, *, stream: Any = None) -> Array:
        """The array itself: there is one device, `"cpu"`."""
        if device != "cpu" or stream is not None:
            raise ValueError(f'got device {device!r}, expected "cpu" without a stream')
        return self

    @property
    def T(self) -> Array:
        """A matrix with its axes exchanged."""
        if self.ndim != 2:
            raise ValueError(f"got {self.ndim} axes, expected 2; see permute_dims")
        return Array._of(self._h.permute([1, 0]))

    @property
    def mT(self) -> Array:
        """The last two axes exchanged."""
        if self.ndim < 2:
            raise ValueError(f"got {self.ndim} axes, expected at least 2")
        axes = list(range(self.ndim))
        axes[-2:] = axes[-1], axes[-2]
        return Array._of(self._h.permute(axes))

    # ---- where it lives

    @property
    def dist(self) -> _dist.Distribution:
        """Where its elements live. Computes it.

        >>> import pantile as pt
        >>> pt.init(ranks=2)
        >>> print(pt.zeros((4, 3), dist=0).dist)
        4x3 on r=2: block(r), whole
        """
        return _dist.Distribution(self._h.home())

    def redistribute(self, dist: Dist, *, mesh: Mesh | None = None) -> Array:
        """The same array living somewhere else.

        >>> import pantile as pt
        >>> pt.init(ranks=2)
        >>> print(pt.zeros((4, 3), dist=0).redistribute(1).dist)
        4x3 on r=2: whole, block(r)
        """
        text = _dist.text(dist, self.shape, mesh, self._h.world)
        moved = Array._of(self._h.redistribute(text or "auto"))
        if isinstance(dist, _dist.Distribution) and dist.has_halo:
            from ._halo import of_distribution

            return of_distribution(moved, dist)
        return moved

    def with_halo(self, width: Any, periodic: Any = False) -> Array:
        """The same array, whose `sections` have cells of the neighbours around their own: `data` has
        them, `owned` has not. `width`: a number, a pair (low, high), or one of both per axis.
        `periodic` (or one truth value per axis): beyond the ends comes the other end; else halos end
        there.

        Computes it, to know where it lives. Later assignments to this array are not seen. What is
        computed from an array with halos has none. To the Distributed Array Protocol halos are
        padding; `__partitioned__` and DLPack of the array leave them out.

        >>> import pantile as pt
        >>> pt.init(ranks=2)
        >>> a = pt.arange(6, dist=0).with_halo(1, periodic=True)
        >>> [section.data.tolist() for section in a.sections]
        [[5, 0, 1, 2, 3], [2, 3, 4, 5, 0]]
        """
        from ._halo import with_halo

        return with_halo(self, width, periodic)

    @property
    def sections(self) -> list[Section]:
        """The parts that this process hosts, one per rank. Computes it."""
        return [Section(self._h, *one) for one in self._h.sections()]

    def section(self, rank: int) -> Section:
        """The part of a rank that this process hosts."""
        for section in self.sections:
            if section.rank == rank:
                return section
        raise ValueError(f"got rank {rank}, expected one of those hosted here: {self._h.world.hosted}")

    # ---- other libraries

    def __distarray__(self) -> dict[str, Any]:
        """What this process has, as the Distributed Array Protocol says it; see `Section`."""
        hosted = self._h.world.hosted
        if len(hosted) != 1:
            raise BufferError(
                f"this process hosts {len(hosted)} ranks: each of a.sections has __distarray__"
            )
        return self.sections[0].__distarray__()

    def exchange(self) -> Array:
        """Fills the padding of an array that `pt.from_distarray` made; gives the array itself.

        Padding between sections gets what its owners have, and the outer padding of a periodic axis
        what the far end has. Under MPI all processes call it.
        """
        from ._exchange import exchange

        exchange(self)
        return self

    @property
    def __partitioned__(self) -> dict[str, Any]:
        """Its partitions, and the data of those that are here."""
        from ._partitioned import partitioned

        return partitioned(self)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[Any, int] | None = None,
        copy: builtins.bool | None = None,
    ) -> Any:
        """Its memory as a capsule of DLPack, if it is whole in one place here."""
        from ._interchange import dlpack

        return dlpack(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Always the CPU."""
        return 1, 0

    # ---- looking at it

    def compute(self) -> Array:
        """Computes it now; gives the array itself."""
        self._h.compute()
        return self

    def explain(self) -> str:
        """What computing it will do and cost, before anything runs."""
        return self._h.explain()

    def gather(self, root: int | None = None) -> np.ndarray | None:
        """All elements as a NumPy array, on the process that hosts `root`, or on every process."""
        whole = self._whole()
        return whole if root is None or root in self._h.world.hosted else None

    def _whole(self) -> np.ndarray:
        whole = np.empty(self.shape, self.dtype)
        self._h.whole_into(whole.reshape(-1).view(np.uint8))
        return whole

    def __array__(self, dtype: Any = None, copy: builtins.bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("the elements are on several ranks: a NumPy array of them is a copy")
        whole = self._whole()
        return whole if dtype is None else whole.astype(dtype, copy=False)

    def item(self) -> Any:
        """The only element, as a Python number."""
        value = self._h.item()
        if value is None:
            raise TypeError(f"got an array of shape {self.shape}, expected one element")
        return value

    def tolist(self) -> Any:
        """All elements as nested lists."""
        return self._whole().tolist()

    def __bool__(self) -> builtins.bool:
        if self.size != 1:
            raise ValueError(
                f"an array of shape {self.shape} is neither true nor false: ask a.any() or a.all()"
            )
        return builtins.bool(self.item())

    def __int__(self) -> int:
        return int(self._one("int"))

    def __float__(self) -> float:
        return float(self._one("float"))

    def __complex__(self) -> complex:
        return complex(self._one("complex"))

    def __index__(self) -> int:
        if not _dtypes.isdtype(self.dtype, "integral"):
            raise TypeError(f"got an array of {self.dtype}, expected whole numbers for an index")
        return int(self._one("index"))

    def _one(self, what: str) -> Any:
        value = self._h.item(True)
        if value is None:
            raise TypeError(f"{what}: got an array of shape {self.shape}, expected one without axes")
        if isinstance(value, complex) and what != "complex":
            raise TypeError(f"{what}: got a complex number")
        return value

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without axes has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Array]:
        if not self.shape:
            raise TypeError("an array without axes cannot be iterated over")
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        from ._show import text_of

        return text_of(self)

    def __format__(self, words: str) -> str:
        """As its number, if it has no axes and something is asked for: `f"{a.sum():.3f}"`."""
        if words and self.ndim == 0:
            return format(self.item(), words)
        return format(str(self), words)

    def _repr_html_(self) -> str:
        from ._show import html_of

        return html_of(self)

    # ---- slices

    def __getitem__(self, key: Any) -> Array:
        part = self._h.at(key)  # the usual case first: loops feel every call
        if part is not None:
            return Array._of(part)
        items, shape = _indexing.read(key, self.shape)
        if shape is None and type(key) is not slice and _indexing.is_element(key, self.ndim):
            return Array._of(self._h.get(items))
        part = self._h.view(items) if items else self._h
        return Array._of(part if shape is None else part.reshape(shape))

    def __setitem__(self, key: Any, value: Any) -> None:
        if self._h.put(key, value._h if type(value) is Array else value):  # the usual case first
            return None
        if isinstance(key, Array) and key.dtype == _dtypes.bool:
            return _indexing.assign_mask(self, key, value)
        items, shape = _indexing.read(key, self.shape)
        value = operand(self, value)
        if value is NotImplemented:
            raise TypeError("got a value that is no array and no number")
        if isinstance(value, _core.Array):
            value = _indexing.fitted(self, items, shape, value)
        self._h.set(items, value)

    # ---- the rest of the protocols

    def __array_namespace__(self, /, *, api_version: str | None = None) -> types.ModuleType:
        import pantile

        if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
            raise ValueError(f"got version {api_version!r} of the array API, expected up to 2024.12")
        return pantile

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        from ._numpy import ufunc as called

        return called(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from ._numpy import function as called

        return called(func, args, kwargs)

    def copy(self) -> Array:
        """Its elements in memory of their own: later assignments are not seen."""
        return Array._of(self._h.copy())

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Array:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        """By value: pickle and multiprocessing copy the elements."""
        world = self._h.world
        if len(world.hosted) < world.ranks:
            raise TypeError(
                f"this array is spread over processes: this one has {len(world.hosted)} of its "
                f"{world.ranks} ranks; pickle a.gather(), or write it with pt.save"
            )
        from ._creation import asarray

        return asarray, (self._whole(),)

    def astype(self, dtype: DTypeLike, /, *, copy: builtins.bool = True) -> Array:
        """The elements in another type."""
        return _functions().astype(self, dtype, copy=copy)

    def reshape(self, *shape: Any) -> Array:
        """The elements in another shape."""
        lengths = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        return _functions().reshape(self, tuple(lengths))

    def sum(
        self, axis: Axes | None = None, dtype: DTypeLike | None = None, keepdims: builtins.bool = False
    ) -> Array:
        """See `pt.sum`."""
        return _functions().sum(self, axis=axis, dtype=dtype, keepdims=keepdims)

    def prod(
        self, axis: Axes | None = None, dtype: DTypeLike | None = None, keepdims: builtins.bool = False
    ) -> Array:
        """See `pt.prod`."""
        return _functions().prod(self, axis=axis, dtype=dtype, keepdims=keepdims)

    def mean(self, axis: Axes | None = None, keepdims: builtins.bool = False) -> Array:
        """See `pt.mean`."""
        return _functions().mean(self, axis=axis, keepdims=keepdims)

    def std(
        self, axis: Axes | None = None, correction: float = 0.0, keepdims: builtins.bool = False
    ) -> Array:
        """See `pt.std`."""
        return _functions().std(self, axis=axis, correction=correction, keepdims=keepdims)

    def var(
        self, axis: Axes | None = None, correction: float = 0.0, keepdims: builtins.bool = False
    ) -> Array:
        """See `pt.var`."""
        return _functions().var(self, axis=axis, correction=correction, keepdims=keepdims)

    def max(self, axis: Axes | None = None, keepdims: builtins.bool = False) -> Array:
        """See `pt.max`."""
        return _functions().max(self, axis=axis, keepdims=keepdims)

    def min(self, axis: Axes | None = None, keepdims: builtins.bool = False) -> Array:
        """See `pt.min`."""
        return _functions().min(self, axis=axis, keepdims=keepdims)

    def any(self, axis: Axes | None = None, keepdims: builtins.bool = False) -> Array:
        """See `pt.any`."""
        return _functions().any(self, axis=axis, keepdims=keepdims)

    def all(self, axis: Axes | None = None, keepdims: builtins.bool = False) -> Array:
        """See `pt.all`."""
        return _functions().all(self, axis=axis, keepdims=keepdims)


_operators.array_class = Array


def _functions() -> Any:
    import pantile

    return pantile
