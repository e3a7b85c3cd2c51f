"""Random numbers: the same for any partition, other ones for other seeds and calls."""

import numpy as np
import pytest

import pantile as pt

CALLS = {
    "random": lambda rng, **at: rng.random((40, 50), **at),
    "random of float32": lambda rng, **at: rng.random((40, 50), np.float32, **at),
    "uniform": lambda rng, **at: rng.uniform(-3, 5, (40, 50), **at),
    "standard_normal": lambda rng, **at: rng.standard_normal((40, 50), **at),
    "normal": lambda rng, **at: rng.normal(2, 3, (40, 50), **at),
    "exponential": lambda rng, **at: rng.exponential(2, (40, 50), **at),
    "integers": lambda rng, **at: rng.integers(-5, 7, (40, 50), **at),
    "large integers": lambda rng, **at: rng.integers(-(2**62), 2**62 + 3, (40, 50), **at),
}


def numbers(call, ranks, **at):
    pt.init(ranks=ranks)
    return np.asarray(CALLS[call](pt.random.default_rng(7), **at))


@pytest.mark.parametrize("call", CALLS)
def test_any_partition_has_the_same_numbers(call):
    expected = numbers(call, 1)
    assert len(np.unique(expected)) > 10
    for ranks in (2, 3, 4):
        for dist in ("auto", 0, 1, None, "cc"):
            got = numbers(call, ranks, dist=dist)
            assert got.dtype == expected.dtype
            assert (got == expected).all(), (ranks, dist)


def test_every_call_and_every_seed_has_its_own_numbers():
    pt.init(ranks=2)
    lists = []
    for seed in (0, 1, 2**63 - 1):
        rng = pt.random.Generator(seed)
        lists += [np.asarray(rng.random(1000)) for _ in range(3)]
    for i, a in enumerate(lists):
        for b in lists[:i]:
            assert abs(np.corrcoef(a, b)[0, 1]) < 0.15
            assert (a != b).all()
    again = np.asarray(pt.random.default_rng(0).random(1000))
    assert (again == lists[0]).all()


def test_without_a_seed_numbers_differ():
    pt.init(ranks=2)
    a, b = (np.asarray(pt.random.default_rng().random(10)) for _ in range(2))
    assert (a != b).all()


def ks(sample, distribution):
    """The greatest distance between what is found and what is expected, times the root of n."""
    x = np.sort(np.ravel(sample))
    steps = np.arange(len(x) + 1) / len(x)
    expected = distribution(x)
    return (
        max(np.abs(steps[1:] - expected).max(), np.abs(steps[:-1] - expected).max()) * len(x) ** 0.5
    )


def normal_cdf(x):
    from math import erf

    return np.array([0.5 + 0.5 * erf(value / 2**0.5) for value in x])


def test_distributions():
    pt.init(ranks=3)
    rng, n = pt.random.default_rng(11), 20_000
    samples = {
        "random": (rng.random(n), lambda x: x),
        "float32": (rng.random(n, np.float32), lambda x: x),
        "uniform": (rng.uniform(-3, 5, n), lambda x: (x + 3) / 8),
        "standard_normal": (rng.standard_normal(n), normal_cdf),
        "normal": (rng.normal(2, 3, n), lambda x: normal_cdf((x - 2) / 3)),
        "exponential": (rng.exponential(2, n), lambda x: 1 - np.exp(-x / 2)),
        "wide": (rng.integers(0, 2**63 - 1, n), lambda x: x / 2.0**63),
        "full": (rng.integers(0, 2**64, n, np.uint64), lambda x: x / 2.0**64),
    }
    for name, (sample, distribution) in samples.items():
        assert ks(np.asarray(sample), distribution) < 1.95, name  # one in a thousand is farther


def test_small_integers_are_even():
    pt.init(ranks=2)
    counts = np.bincount(np.asarray(pt.random.default_rng(5).integers(10, size=100_000)))
    assert len(counts) == 10
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 27.9  # one in a thousand of chi squared 9


@pytest.mark.parametrize("low, high, dtype", [
    (0, 1, "int64"), (-5, 7, "int64"), (-128, 128, "int8"), (0, 256, "uint8"), (0, 2, "bool"),
    (-(2**63), 2**63, "int64"), (2**64 - 3, 2**64, "uint64"), (-(2**63), -(2**63) + 2, "int64"),
])  # fmt: skip
def test_integers_stay_in_their_range(low, high, dtype):
    pt.init(ranks=2)
    got = pt.random.default_rng(3).integers(low, high, 5000, dtype)
    assert got.dtype == np.dtype(dtype)
    values = [int(value) for value in np.asarray(got)]
    assert low <= min(values) and max(values) < high
    if high - low <= 256:
        assert set(values) == set(range(low, high))
    closed = pt.random.default_rng(3).integers(low, high - 1, 5000, dtype, endpoint=True)
    assert (np.asarray(closed) == np.asarray(got)).all()


def test_large_integers_by_hand():
    """The long product against Python's own whole numbers."""
    pt.init(ranks=2)
    for count in (2**32 + 1, 3 * 2**62 + 12345, 2**64 - 1, 2**64, 2**63):
        got = np.asarray(pt.random.default_rng(9).integers(0, count, 300, np.uint64))
        rng = pt.random.default_rng(9)
        words = [np.asarray(rng.random(300)) for _ in range(3)]
        for at, value in enumerate(got):
            whole = 0
            for word in words:
                whole = whole << 32 | int(word[at] * 2**32)
            assert int(value) == whole * count >> 96


def test_float32_is_below_one():
    """Numbers that are nearer to 1 than to the next float32 are there, and stay below."""
    from pantile.random import _as_float

    pt.init(ranks=1)
    near = pt.asarray(np.array([1 - 2.0**-53, 1 - 2.0**-25, 0.5, 0.0]))
    got = np.asarray(pt.Array._of(_as_float(near._h, "float32", below_one=True)))
    assert got.tolist() == [1 - 2.0**-24, 1 - 2.0**-24, 0.5, 0.0]
    drawn = np.asarray(pt.random.default_rng(1).random(1000, np.float32)).astype(float)
    assert (drawn * 2**24 % 1 == 0).all()


def test_parameters_may_be_arrays():
    pt.init(ranks=2)
    low, high = pt.asarray(np.array([0.0, 10.0])), pt.asarray(np.array([1.0, 20.0]))
    got = np.asarray(pt.random.default_rng(1).uniform(low, high))
    assert got.shape == (2,) and 0 <= got[0] < 1 and 10 <= got[1] < 20
    even = np.asarray(pt.random.default_rng(1).uniform(pt.zeros(9), pt.ones(9)))
    assert len(set(even.tolist())) == 9
    assert pt.random.default_rng(1).normal(low, 2.0, (5, 2)).shape == (5, 2)


def test_parameters_may_be_lists_and_arrays_of_numpy():
    """They give the same numbers as arrays of ours do."""
    pt.init(ranks=3)
    for give in (np.asarray, list, pt.asarray):
        got = np.asarray(pt.random.default_rng(4).normal(give([10.0, 20.0]), 0.5, (7, 2)))
        plain = np.asarray(pt.random.default_rng(4).standard_normal((7, 2)))
        assert (got == plain * 0.5 + [10.0, 20.0]).all()
    assert pt.random.default_rng(4).uniform(np.float32(1), np.array(2)).shape == ()
    low = np.arange(3)[:, None]
    assert pt.random.default_rng(4).uniform(low, [10.0, 20.0]).shape == (3, 2)


@pytest.mark.parametrize("dist", ["auto", 0, 1, None, "cc"])
def test_parameters_that_are_cut_change_nothing(dist):
    pt.init(ranks=1)
    scale = np.linspace(0, 3, 35).reshape(5, 7)
    expected = np.asarray(pt.random.default_rng(4).exponential(scale))
    for ranks in (2, 3):
        pt.init(ranks=ranks)
        got = pt.random.default_rng(4).exponential(pt.asarray(scale, dist=dist), dist=dist)
        assert (np.asarray(got) == expected).all()


def test_signatures_are_those_of_numpy():
    """Ours have `dist` and `mesh`, by name, besides."""
    import inspect

    from pantile.random import THERE

    for name in THERE:
        ours = inspect.signature(getattr(pt.random.Generator, name)).parameters
        theirs = SIGNATURES[name]
        plain = {key: one.default for key, one in ours.items() if one.kind is one.POSITIONAL_OR_KEYWORD}
        assert list(plain) == ["self", *theirs], name
        assert all(plain[key] in (value, inspect.Parameter.empty) for key, value in theirs.items()), name
        assert [key for key in ours if key not in plain] == ["dist", "mesh"]
        # NumPy takes the same arguments.
        getattr(np.random.default_rng(1), name)(**theirs)


SIGNATURES = {
    "exponential": {"scale": 1.0, "size": None},
    "integers": {"low": 5, "high": None, "size": None, "dtype": np.int64, "endpoint": False},
    "normal": {"loc": 0.0, "scale": 1.0, "size": None},
    "random": {"size": None, "dtype": np.float64, "out": None},
    "standard_normal": {"size": None, "dtype": np.float64, "out": None},
    "uniform": {"low": 0.0, "high": 1.0, "size": None},
}


def test_generators_are_kept_and_copied():
    import copy
    import pickle

    pt.init(ranks=2)
    rng = pt.random.default_rng(5)
    assert pt.random.default_rng(rng) is rng
    rng.random(3)
    for other in (copy.deepcopy(rng), pickle.loads(pickle.dumps(rng))):
        assert (np.asarray(other.random(4)) == np.asarray(copy.copy(rng).random(4))).all()


def test_a_call_that_is_refused_takes_no_numbers():
    pt.init(ranks=2)
    rng, other = pt.random.default_rng(5), pt.random.default_rng(5)
    for call in (
        lambda: rng.random(3, np.int64),
        lambda: rng.random(3, dist=7),
        lambda: rng.normal(0, 1, -1),
    ):
        with pytest.raises((TypeError, ValueError)):
            call()
    assert (np.asarray(rng.random(4)) == np.asarray(other.random(4))).all()


@pytest.mark.parametrize("size, shape", [
    (None, ()), (3, (3,)), ((2, 3), (2, 3)), ([2, 0], (2, 0)), (np.int64(4), (4,)),
    (np.array([2, 3]), (2, 3)), ((), ()),
])  # fmt: skip
def test_sizes(size, shape):
    pt.init(ranks=2)
    for make in (
        lambda rng: rng.random(size),
        lambda rng: rng.integers(5, size=size),
        lambda rng: rng.normal(size=size),
    ):
        assert make(pt.random.default_rng(1)).shape == shape


@pytest.mark.parametrize("call, error, words", [
    (lambda rng: rng.random(-1), ValueError, "negative"),
    (lambda rng: rng.random(3, np.int64), TypeError, "float64 or float32"),
    (lambda rng: rng.uniform(0, float("inf"), 3), ValueError, "finite"),
    (lambda rng: rng.uniform("a", 1, 3), TypeError, "number"),
    (lambda rng: rng.normal(0, -1, 3), ValueError, "scale -1"),
    (lambda rng: rng.exponential(float("nan"), 3), ValueError, "scale nan"),
    (lambda rng: rng.integers(5, 5, 3), ValueError, "low 5 and high 5"),
    (lambda rng: rng.integers(0), ValueError, "low 0"),
    (lambda rng: rng.integers(0, 257, 3, np.uint8), ValueError, "from 0 to 255"),
    (lambda rng: rng.integers(0, 5, 3, np.float64), TypeError, "whole numbers"),
    (lambda rng: rng.integers(0.5, 3), TypeError, "low of type float, expected a whole number"),
    (lambda rng: rng.integers(0, "a"), TypeError, "high of type str, expected a whole number"),
    (lambda rng: rng.integers(np.arange(3), 5), TypeError, "arrays of bounds are not there"),
    (lambda rng: rng.integers(0, pt.arange(3)), TypeError, "arrays of bounds are not there"),
    (lambda rng: rng.random(3, out=np.empty(3)), TypeError, "got out="),
    (lambda rng: rng.standard_normal(3, np.float64, np.empty(3)), TypeError, "got out="),
    (lambda rng: rng.random(2.5), TypeError, "got size 2.5, expected a whole number"),
    (lambda rng: rng.random("ab"), TypeError, "got size 'ab'"),
    (lambda rng: rng.random((2, -1)), ValueError, "negative"),
    (lambda rng: rng.uniform(-1e308, 1e308, 3), ValueError, "high - low inf"),
    (lambda rng: rng.normal("a", 1, 3), TypeError, "got loc of type str"),
    (lambda rng: rng.normal(None, 1, 3), TypeError, "got loc of type NoneType"),
    (lambda rng: rng.normal(1j, 1, 3), TypeError, "got loc of type complex"),
    (lambda rng: rng.normal(np.array([1j]), 1), TypeError, "got loc of complex128"),
    (lambda rng: rng.normal(pt.zeros(3), 1, 2), ValueError, r"size \(2,\) for parameters of shape \(3,\)"),
    (lambda rng: rng.normal(pt.zeros(5), 1, 1), ValueError, "do not fit into it"),
    (lambda rng: rng.normal(pt.zeros((2, 5)), 1, (2, 1)), ValueError, "do not fit into it"),
    (lambda rng: rng.exponential(pt.ones(5), ()), ValueError, "do not fit into it"),
    (lambda rng: rng.poisson(3), AttributeError, "poisson is not there; there are exponential, "),
    (lambda rng: rng.nothing, AttributeError, "no nothing"),
    (lambda rng: rng.choice(5), NotImplementedError, "integers"),
    (lambda rng: rng.permutation(5), NotImplementedError, "NumPy"),
    (lambda rng: rng.shuffle([1]), NotImplementedError, "NumPy"),
    (lambda rng: pt.random.Generator(-1), ValueError, "seed -1"),
    (lambda rng: pt.random.Generator(2**63), ValueError, "2\\*\\*63"),
    (lambda rng: pt.random.Generator(1.5), TypeError, "float"),
    (lambda rng: pt.random.Generator(True), TypeError, "bool"),
])  # fmt: skip
def test_mistakes(call, error, words):
    pt.init(ranks=2)
    with pytest.raises(error, match=words):
        call(pt.random.default_rng(1))
