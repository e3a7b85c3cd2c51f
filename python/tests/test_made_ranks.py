"""Ranks beyond those of the world: made when a mesh first names them."""

import numpy as np
import pytest
from conftest import HERE

import pantile as pt

PLACES = [
    lambda n: pt.Distribution((6, n), pt.Mesh(5), [pt.Block("x"), pt.Whole()]),
    lambda n: pt.Distribution((6, n), pt.Mesh((2, 3)), [pt.Block("y"), pt.Cyclic("x")]),
    lambda n: pt.Distribution((6, n), pt.Mesh(2, team=[6, 1]), [pt.Whole(), pt.Block("x", halo=1)]),
]


@pytest.fixture(autouse=True)
def fresh():
    pt.init(ranks=HERE)
    yield
    pt.init(ranks=HERE)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("n", [1, 4, 1000])
def test_distributions_on_more_ranks_than_the_world(place, n):
    dist, given = place(n), np.arange(6.0 * n).reshape(6, n)
    before = pt.asarray(given, dist=0)
    for array in [pt.asarray(given, dist=dist), before.redistribute(dist), pt.asarray(given).redistribute(dist)]:
        assert pt.ranks() == HERE and array.dist == dist
        for rank in dist.mesh.team:
            section = array.section(rank)
            np.testing.assert_array_equal(section.data, given[np.ix_(*map(taken(given), section.index))])
        np.testing.assert_array_equal(array.gather(), given)
        np.testing.assert_array_equal((array + before).gather(), 2 * given)
        assert float(array.sum()) == given.sum()
        array[1:3] = before[0:2]
        np.testing.assert_array_equal(array.gather()[1:3], given[0:2])
        np.testing.assert_array_equal((array.T @ before).gather().shape, (n, n))
    # Arrays that name no mesh live where they did.
    assert len(before.sections) == len(pt.zeros(7, dist=0).sections) == HERE
    assert len(pt.zeros(7).__partitioned__["partitions"]) <= HERE


def taken(given):
    return lambda index: np.arange(max(given.shape))[index]


def test_a_mesh_cuts_arrays_on_more_ranks():
    a = pt.arange(10.0, dist=0, mesh=pt.Mesh(HERE + 2))
    assert [len(one.data) for one in a.sections] == [len(one) for one in np.array_split(np.arange(10), HERE + 2)]
    assert (a * 2).tolist() == [2.0 * i for i in range(10)]
    cyclic = pt.Distribution(10, pt.Mesh(7), [pt.Cyclic("x")])
    b = pt.from_callback((10,), cyclic, lambda part: np.arange(10)[part], dtype="int64")
    assert b.tolist() == list(range(10)) and len(b.sections) == max(7, HERE)


def test_ranks_that_cannot_be_made():
    a = pt.arange(6)
    with pytest.raises(ValueError, match="rank 4096"):
        a.redistribute(pt.Distribution(6, pt.Mesh(4097), [pt.Block("x")]))
    with pytest.raises(ValueError, match="rank 5000"):
        pt.zeros(6, dist=pt.Distribution(6, pt.Mesh(2, team=[0, 5000]), [pt.Block("x")]))
    assert len(a.sections) == HERE


def test_loops_and_threads_beside_made_ranks():
    given = np.arange(1000.0)
    wide = pt.asarray(given, dist=pt.Distribution(1000, pt.Mesh(9), [pt.Block("x")]))
    here = pt.asarray(given, dist=0)
    for _ in range(20):
        wide[1:-1] = (wide[:-2] + wide[2:]) / 2 + here[1:-1] * 0
        given[1:-1] = (given[:-2] + given[2:]) / 2
    np.testing.assert_array_equal(wide.gather(), given)
