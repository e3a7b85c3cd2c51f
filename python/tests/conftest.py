"""What all tests share."""

import os
import random

import numpy as np
import pytest

import pantile as pt
import workers  # noqa: F401 - before the first array

#: As many ranks as the environment says.
HERE = pt.ranks()

#: Seconds that anything may take that comes by itself, on the busiest machine; what never comes is
#: given up after ten minutes.
SOON = 120

#: All types of elements.
TYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128".split()


def seeds(count):
    """Seeds of so many random cases: PANTILE_CASES scales it, in percent, and PANTILE_RUN_SEED says
    which, as in Rust's laws."""
    percent = int(os.environ.get("PANTILE_CASES", "100"))
    first = int(os.environ.get("PANTILE_RUN_SEED", "0"), 0)
    return range(first, first + max(1, count * percent // 100))


@pytest.fixture(autouse=True)
def back():
    """Every test leaves as many ranks as it found."""
    yield
    if pt.ranks() != HERE:
        pt.init(ranks=HERE)


def pytest_collection_modifyitems(items):
    """PANTILE_TEST_ORDER=seed runs the tests in a random order."""
    seed = os.environ.get("PANTILE_TEST_ORDER")
    if seed:
        random.Random(int(seed)).shuffle(items)


def pytest_sessionfinish(session):
    """Nothing may be left out where everything is there."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("PANTILE_NO_SKIPS") and reporter and reporter.stats.get("skipped"):
        session.exitstatus = 1


@pytest.fixture(params=["auto", 0, -1, None, "n", "c"], ids=str)
def dist(request):
    """Where a one-axis array lives; tests spread it over more axes as they need."""
    return request.param


def spread(dist, ndim):
    """A distribution for `ndim` axes made of that for one."""
    if isinstance(dist, str) and dist != "auto":
        return dist + "n" * (ndim - 1) if ndim else "auto"
    return dist if ndim or dist in ("auto", None) else None


def same(ours, theirs):
    """Asserts equal shape, type and bits (all NaNs are alike)."""
    theirs = np.asarray(theirs)
    assert isinstance(ours, pt.Array)
    assert ours.shape == theirs.shape
    assert ours.dtype == theirs.dtype
    np.testing.assert_array_equal(np.asarray(ours), theirs)
