"""Two worlds in one program: their arrays do not meet, and both stay usable."""

import numpy as np
import pantile as pt
import pytest
from pantile import _world


@pytest.fixture
def two():
    """The world of the tests and another one; afterwards the first is the world again."""
    if len(pt.hosted_ranks()) != pt.ranks() or not pt._world.world().near:
        pytest.skip("processes and clusters have one world")
    before = (_world._current, _world._processes)
    yield lambda: pt.init(ranks=2, backend="threads")
    _world._current, _world._processes = before


def make(kind):
    """An array of 6 floats: recorded, computed, a view, or a view that changes the order."""
    array = pt.arange(6.0, dist=0)
    if kind == "computed":
        array.compute()
    elif kind == "slice":
        array = pt.arange(8.0, dist=0).compute()[1:7]
    elif kind == "reshaped":
        array = pt.reshape(pt.reshape(pt.arange(6.0), (2, 3)).T, (6,))
    return array


OPERATIONS = {
    "add": lambda a, b: a + b,
    "add numbers": lambda a, b: (a + 1) * (b * 2),
    "compare": lambda a, b: a < b,
    "where": lambda a, b: pt.where(a > 2, a, b),
    "matmul": lambda a, b: a @ b,
    "concat": lambda a, b: pt.concat([a, b]),
    "set": lambda a, b: a.__setitem__(slice(None), b),
    "set part": lambda a, b: a.__setitem__(slice(1, 3), b[1:3]),
    "in place": lambda a, b: a.__iadd__(b),
    "compute": lambda a, b: pt.compute(a + 1, b + 1),
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("kinds", [("recorded", "computed"), ("computed", "slice"), ("reshaped", "recorded")])
def test_arrays_of_two_worlds_do_not_meet(two, operation, kinds):
    a = make(kinds[0])
    a_values = np.asarray(a).copy() if kinds[0] == "computed" else None
    two()
    b = make(kinds[1])
    for one, other in [(a, b), (b, a)]:
        with pytest.raises((ValueError, pt.PantileError), match="arrays of two worlds"):
            OPERATIONS[operation](one, other)
    # Both are as they were, and their worlds work.
    expected = {"slice": np.arange(1.0, 7), "reshaped": np.arange(6.0).reshape(2, 3).T.ravel()}
    for array, kind in zip((a, b), kinds, strict=True):
        values = expected.get(kind, np.arange(6.0))
        assert np.array_equal(np.asarray(array), values)
        assert float(pt.sum(array + 1)) == values.sum() + 6
    assert a_values is None or np.array_equal(a_values, np.arange(6.0))


def test_elements_go_from_world_to_world_through_memory(two):
    a = make("computed")
    two()
    b = pt.asarray(np.asarray(a)) + make("recorded")
    assert np.array_equal(np.asarray(b), 2 * np.arange(6.0))
