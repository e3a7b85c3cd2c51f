"""Random numbers that are the same for any number of ranks and any distribution.

Every number depends on the seed, on which call of the generator it is, and on its global index, and
on nothing else. They are not NumPy's numbers.
"""

from __future__ import annotations

import itertools
import operator
import secrets
from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pantile import _core
    from pantile._array import Array

__all__ = ["Generator", "default_rng"]

Size = int | Sequence[int] | None

#: The distributions that are there.
THERE = ("exponential", "integers", "normal", "random", "standard_normal", "uniform")

# Seeds are 63 bits.
SEEDS = 1 << 63
HALF = 1 << 32


def default_rng(seed: int | Generator | None = None) -> Generator:
    """A generator of random numbers; without a seed, other numbers each time. A generator is given
    back as it is.

    >>> import pantile as pt
    >>> rng = pt.random.default_rng(7)
    >>> rng.random((2, 3)).shape
    (2, 3)
    """
    return seed if isinstance(seed, Generator) else Generator(seed)


class Generator:
    """Makes arrays of random numbers, with the signatures of `numpy.random.Generator`.

    Each call takes the next stream of numbers, so two calls have nothing to do with each other.
    Parameters may be arrays, as in NumPy; that the elements of arrays are in their range (a `scale`
    that is not negative) is not looked at.
    """

    def __init__(self, seed: int | None = None) -> None:
        self._seed = _fresh_seed() if seed is None else _checked_seed(seed)
        self._stream = 0

    def __repr__(self) -> str:
        return f"Generator({self._seed})"

    def __getattr__(self, name: str) -> Any:
        """Says of NumPy's other distributions that they are not there."""
        if not name.startswith("_") and hasattr(np.random.Generator, name):
            raise AttributeError(f"{name} is not there; there are {', '.join(THERE)}")
        raise AttributeError(f"generators have no {name}")

    def random(
        self,
        size: Size = None,
        dtype: Any = np.float64,
        out: None = None,
        *,
        dist: Any = "auto",
        mesh: Any = None,
    ) -> Array:
        """Even in [0, 1).

        >>> import pantile as pt
        >>> a = pt.random.default_rng(1).random(1000)
        >>> bool(((a >= 0) & (a < 1)).all())
        True
        """
        kind = _float_type(dtype, out)
        return _array(_as_float(self._uniform(size, dist, mesh), kind, below_one=True))

    def uniform(
        self,
        low: Any = 0.0,
        high: Any = 1.0,
        size: Size = None,
        *,
        dist: Any = "auto",
        mesh: Any = None,
    ) -> Array:
        """Even in [low, high).

        >>> import pantile as pt
        >>> a = pt.random.default_rng(1).uniform(-2, 2, 1000)
        >>> bool((a >= -2).all()), bool((a < 2).all())
        (True, True)
        """
        low, high = _finite("low", low), _finite("high", high)
        span = _finite("high - low", high - low)
        numbers = self._uniform(_common(size, low, high), dist, mesh)
        return _array(_plus(_times(numbers, span), low))

    def standard_normal(
        self,
        size: Size = None,
        dtype: Any = np.float64,
        out: None = None,
        *,
        dist: Any = "auto",
        mesh: Any = None,
    ) -> Array:
        """Normal, with mean 0 and variance 1.

        >>> import pantile as pt
        >>> a = pt.random.default_rng(1).standard_normal(10_000)
        >>> abs(float(a.mean())) < 0.05
        True
        """
        kind = _float_type(dtype, out)
        return _array(_as_float(self._normal(size, dist, mesh), kind))

    def normal(
        self,
        loc: Any = 0.0,
        scale: Any = 1.0,
        size: Size = None,
        *,
        dist: Any = "auto",
        mesh: Any = None,
    ) -> Array:
        """Normal, with mean `loc` and standard deviation `scale`.

        >>> import pantile as pt
        >>> a = pt.random.default_rng(1).normal(5, 0.1, 1000)
        >>> abs(float(a.mean()) - 5) < 0.05
        True
        """
        loc, scale = _number("loc", loc), _not_negative("scale", scale)
        numbers = self._normal(_common(size, loc, scale), dist, mesh)
        return _array(_plus(_times(numbers, scale), loc))

    def exponential(
        self, scale: Any = 1.0, size: Size = None, *, dist: Any = "auto", mesh: Any = None
    ) -> Array:
        """Exponential, with mean `scale`.

        >>> import pantile as pt
        >>> a = pt.random.default_rng(1).exponential(2.0, 1000)
        >>> bool((a >= 0).all())
        True
        """
        scale = _not_negative("scale", scale)
        numbers = self._uniform(_common(size, scale), dist, mesh)
        # 1 - u is never 0.
        logs = numbers.unary("negative").unary("log1p").unary("negative")
        return _array(_times(logs, scale))

    def integers(
        self,
        low: int,
        high: int | None = None,
        size: Size = None,
        dtype: Any = np.int64,
        endpoint: bool = False,
        *,
        dist: Any = "auto",
        mesh: Any = None,
    ) -> Array:
        """Whole numbers in [low, high), or [0, low) if only one is given; with `endpoint` also the
        last.

        >>> import pantile as pt
        >>> a = pt.random.default_rng(1).integers(1, 6, 1000, endpoint=True)
        >>> int(a.min()), int(a.max())
        (1, 6)
        """
        first, count = _range(_whole("low", low), high, endpoint, _whole_type(dtype))
        if count <= HALF:
            numbers = self._uniform(size, dist, mesh).binary("multiply", float(count))
            offsets = numbers.unary("floor").cast("uint64")
        else:
            words = [self._word(size, dist, mesh) for _ in range(3)]
            offsets = _scaled(words, count)
        # Unsigned sums wrap around, so this is right for negative numbers too.
        return _array(
            _plus_unsigned(offsets, first % (1 << 64)).cast("int64").cast(np.dtype(dtype).name)
        )

    def choice(self, *_: Any, **__: Any) -> Array:
        """Not there: it needs elements from anywhere."""
        raise NotImplementedError(
            "choice is not there; take elements by integers(0, n, size) of a NumPy array"
        )

    def permutation(self, *_: Any, **__: Any) -> Array:
        """Not there: it moves every element."""
        raise NotImplementedError(
            "permutation is not there; permute a NumPy array before you distribute it"
        )

    def shuffle(self, *_: Any, **__: Any) -> None:
        """Not there: it moves every element."""
        raise NotImplementedError(
            "shuffle is not there; shuffle a NumPy array before you distribute it"
        )

    def _uniform(self, size: Size, dist: Any, mesh: Any) -> _core.Array:
        return self._make("uniform", size, dist, mesh)

    def _normal(self, size: Size, dist: Any, mesh: Any) -> _core.Array:
        return self._make("normal", size, dist, mesh)

    def _word(self, size: Size, dist: Any, mesh: Any) -> _core.Array:
        """32 random bits."""
        return (
            self._uniform(size, dist, mesh)
            .binary("multiply", float(HALF))
            .unary("floor")
            .cast("uint64")
        )

    def _make(self, kind: str, size: Size, dist: Any, mesh: Any) -> _core.Array:
        """Numbers of the next stream."""
        from pantile import _dist, _world

        world, shape = _world.world(), _shape(size)
        where = _dist.text(dist, shape, mesh, world)
        made = world.random(kind, (self._seed, self._stream), list(shape), where)
        self._stream += 1
        return made


def _array(handle: _core.Array) -> Array:
    from pantile._array import Array

    return Array._of(handle)


def _checked_seed(seed: int) -> int:
    if isinstance(seed, bool) or not hasattr(seed, "__index__"):
        raise TypeError(f"got a seed of type {type(seed).__name__}, expected a whole number")
    seed = operator.index(seed)
    if not 0 <= seed < SEEDS:
        raise ValueError(f"got seed {seed}, expected at least 0 and less than 2**63")
    return seed


def _fresh_seed() -> int:
    """A seed that nobody knows; the same on all processes."""
    from pantile import _world

    world = _world.world()
    mine = secrets.randbelow(SEEDS)
    if len(world.hosted) == world.ranks:
        return mine
    # Every process has another one: all take that of the first rank, even within `no_comm`.
    number = np.full(1, mine, np.int64).view(np.uint8)
    room = np.empty(1, np.int64)
    before = world.forbid(False)
    try:
        seeds = world.from_tiles([world.ranks], "int64", lambda *_: number, "block(r)")
        seeds.get([(0, 1, 1)]).whole_into(room.view(np.uint8))
    finally:
        world.forbid(before)
    return int(room[0])


def _shape(size: Size) -> tuple[int, ...]:
    if isinstance(size, np.ndarray) and size.ndim == 1:
        size = size.tolist()
    lengths: Sequence[int] = () if size is None else size if isinstance(size, Sequence) else (size,)
    try:
        shape = tuple(operator.index(length) for length in lengths)
    except TypeError:
        raise TypeError(f"got size {size!r}, expected a whole number or several, or None") from None
    if any(length < 0 for length in shape):
        raise ValueError(f"got size {size}, expected no negative lengths")
    return shape


def _is_array(value: Any) -> bool:
    from pantile._array import Array

    return isinstance(value, Array)


def _number(name: str, value: Any) -> Any:
    """A number as the core takes it, or an array."""
    if isinstance(value, (np.ndarray, list, tuple)) and np.ndim(value) > 0:
        from pantile import asarray

        # Elements that every process has stay where they are.
        value = asarray(np.asarray(value), dist=None)
    if _is_array(value):
        if value.dtype.kind == "c":
            raise TypeError(f"got {name} of {value.dtype}, expected real numbers")
        return value
    if isinstance(value, np.ndarray) and value.ndim == 0 or isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, (int, float)):
        raise TypeError(f"got {name} of type {type(value).__name__}, expected a number or an array")
    return float(value)


def _finite(name: str, value: Any) -> Any:
    value = _number(name, value)
    if not _is_array(value) and not isfinite(value):
        raise ValueError(f"got {name} {value}, expected a finite number")
    return value


def _not_negative(name: str, value: Any) -> Any:
    value = _number(name, value)
    if not _is_array(value) and not value >= 0:
        raise ValueError(f"got {name} {value}, expected no negative number")
    return value


def _common(size: Size, *values: Any) -> Size:
    """The size that is asked for, if the parameters fit into it, else the shape that they have
    together.
    """
    shapes = [value.shape for value in values if _is_array(value)]
    if not shapes:
        return size
    if size is None:
        return np.broadcast_shapes(*shapes)
    wanted = _shape(size)
    try:
        fits = np.broadcast_shapes(wanted, *shapes) == wanted
    except ValueError:
        fits = False
    if not fits:
        given = ", ".join(str(tuple(shape)) for shape in shapes)
        raise ValueError(f"got size {wanted} for parameters of shape {given}, which do not fit into it")
    return wanted


def _times(handle: _core.Array, by: Any) -> _core.Array:
    return handle.binary("multiply", by._h if _is_array(by) else float(by))


def _plus(handle: _core.Array, more: Any) -> _core.Array:
    return handle.binary("add", more._h if _is_array(more) else float(more))


def _plus_unsigned(handle: _core.Array, more: int) -> _core.Array:
    """The sum modulo 2**64."""
    return handle.binary("add", more) if more else handle


def _float_type(dtype: Any, out: Any) -> str:
    """The name of the type that is asked for."""
    if out is not None:
        raise TypeError("got out=, expected none: the numbers are made where they live")
    name = np.dtype(dtype).name
    if name not in ("float64", "float32"):
        raise TypeError(f"got dtype {name}, expected float64 or float32")
    return name


def _as_float(handle: _core.Array, name: str, *, below_one: bool = False) -> _core.Array:
    """Numbers as float64 or float32."""
    if name == "float64":
        return handle
    if below_one:
        # The nearest float32 may be 1: keep as many bits as it has.
        handle = handle.binary("multiply", 2.0**24).unary("floor").binary("multiply", 2.0**-24)
    return handle.cast(name)


def _whole(name: str, value: Any) -> int:
    """A whole number."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(
            f"got {name} of type {type(value).__name__}, expected a whole number (arrays of bounds are "
            "not there)"
        ) from None


def _whole_type(dtype: Any) -> tuple[int, int]:
    """The least and the greatest number of a type."""
    kind = np.dtype(dtype)
    if kind == np.bool_:
        return 0, 1
    if kind.kind not in "iu":
        raise TypeError(f"got dtype {kind.name}, expected one of whole numbers")
    limits = np.iinfo(kind)
    return int(limits.min), int(limits.max)


def _range(low: int, high: int | None, endpoint: bool, limits: tuple[int, int]) -> tuple[int, int]:
    """The first number, and how many there are."""
    if high is None:
        low, high = 0, low
    last = (high := _whole("high", high)) - (not endpoint)
    if low > last:
        raise ValueError(f"got low {low} and high {high}, expected a range with a number in it")
    if low < limits[0] or last > limits[1]:
        raise ValueError(
            f"got numbers from {low} to {last}, expected them from {limits[0]} to {limits[1]}"
        )
    return low, last - low + 1


def _scaled(words: list[_core.Array], count: int) -> _core.Array:
    """The whole part of count * w / 2**96, where w are three words of 32 bits.

    A product as by hand, in digits of 32 bits.
    """
    high, middle, low = words
    upper, lower = divmod(count, HALF)

    def carried(terms: list[_core.Array]) -> tuple[_core.Array, _core.Array]:
        """The digit and the carry of a column."""
        digits = [term.binary("bitwise_and", HALF - 1) for term in terms]
        carries = [term.binary("bitwise_right_shift", 32) for term in terms]
        return _sum(digits), _sum(carries)

    products = [
        (word.binary("multiply", lower), word.binary("multiply", upper))
        for word in (low, middle, high)
    ]
    carry = products[0][0].binary("bitwise_right_shift", 32)
    for (_, above), (below, _) in itertools.pairwise(products):
        digit, carries = carried([above, below, carry])
        carry = carries.binary("add", digit.binary("bitwise_right_shift", 32))
    return carry.binary("add", products[2][1])


def _sum(handles: list[_core.Array]) -> _core.Array:
    total = handles[0]
    for handle in handles[1:]:
        total = total.binary("add", handle)
    return total
