"""Global and local indices, and arrays of tiles that ranks have."""

import itertools

import numpy as np
import pytest
from conftest import HERE, seeds

import pantile as pt

DISTS = [
    "10 on r=3: block(r)",
    "10 on r=3: block(r, last)",
    "2 on r=4: block(r)",
    "0 on r=2: block(r)",
    "10 on r=3: cyclic(r, 2)",
    "10 on r=3: block(r) halo 1",
    "10 on r=3: block(r) periodic halo 2",
    "10 on r=1: block(r) periodic halo 2",
    "6x5 on x=2, y=2: block(x), cyclic(y, 1)",
    "6x5 on x=2, y=2 team [3 1 2 0]: block(x), whole",
    "6x4 on r=2: block(r) halo 1, whole",
    "9 on rank 2: whole",
    "7 on r=2: indexed(r) [[6 0 3] [1 2 4 5]]",
]


def dist_of(text):
    if "indexed" in text:
        return pt.Distribution(7, pt.Mesh(2), [pt.Indexed("x", [[6, 0, 3], [1, 2, 4, 5]])])
    return pt.Distribution(text)


@pytest.mark.parametrize("text", DISTS)
def test_places_and_indices_are_inverse(text):
    dist = dist_of(text)
    for rank in dist.mesh.team:
        held = [np.arange(n)[one] for n, one in zip(dist.shape, dist.held(rank))]
        lengths = dist.local_shape(rank)
        # Every place has the index that `held` lists there.
        for place in itertools.product(*map(range, lengths)):
            index = tuple(int(list_[at]) for list_, at in zip(held, place))
            assert dist.global_of(rank, place) == index
        for index in itertools.product(*map(range, dist.shape)):
            found = dist.local_of(rank, index)
            has = all(at in list_ for at, list_ in zip(index, held))
            assert (found is not None) == has
            if has:
                assert dist.global_of(rank, found) == index
                assert dist.local_of(rank, tuple(at - n for at, n in zip(index, dist.shape))) == found


@pytest.mark.parametrize("text", DISTS)
def test_arrays_of_indices_are_translated_one_by_one(text):
    dist = dist_of(text)
    rng = np.random.default_rng(1)
    for rank in dist.mesh.team:
        count = 0 if 0 in dist.shape else 20
        index = tuple(rng.integers(0, max(n, 1), (count, 2)) for n in dist.shape)
        found = dist.local_of(rank, index)
        for at in np.ndindex(count, 2):
            alone = dist.local_of(rank, tuple(int(one[at]) for one in index))
            assert tuple(int(one[at]) for one in found) == (alone or (-1,) * dist.ndim)


def test_local_indices_are_those_of_sections():
    given = np.arange(35.0).reshape(7, 5)
    for dist in [pt.Distribution((7, 5), pt.Mesh((2, 2)), [pt.Block("x"), pt.Cyclic("y")]), "block(r), whole"]:
        a = pt.asarray(given, dist=dist)
        for section in a.sections:
            if section.data.size:
                i, j = (int(np.arange(n)[one][-1]) for n, one in zip(given.shape, section.index))
                assert section.data[a.dist.local_of(section.rank, (i, j))] == given[i, j]


def test_indices_that_cannot_be():
    dist = pt.Distribution("10x4 on r=3: block(r), whole")
    for wrong, error, words in [
        ((10, 0), IndexError, "axis 0: got 10"),
        ((-11, 0), IndexError, "axis 0: got -11"),
        (3, IndexError, "got 1 indices, expected one for each of 2"),
        ((0.5, 1), TypeError, "whole numbers"),
        ((np.array([1, 12]), 1), IndexError, "got 12"),
    ]:
        with pytest.raises(error, match=words):
            dist.local_of(0, wrong)
    with pytest.raises(IndexError, match="axis 0: got 4"):
        dist.global_of(0, (4, 0))
    with pytest.raises(IndexError, match="axis 1: got -1"):
        dist.global_of(0, (0, -1))
    for work in (dist.local_of, dist.global_of):
        with pytest.raises(ValueError, match="rank 3 is not on the mesh"):
            work(3, (0, 0))
        with pytest.raises(ValueError, match="rank -1"):
            work(-1, (0, 0))


# ---- arrays of tiles


@pytest.mark.parametrize("lengths", [[5], [3, 0, 4], [0, 0], [1] * 9, [4096, 4097]])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", ["bool", "int8", "float32", "complex128"])
def test_tiles_side_by_side(lengths, axis, dtype):
    tiles = [(np.arange(3 * n) % 5).astype(dtype).reshape((n, 3) if axis == 0 else (3, n)) for n in lengths]
    whole = np.concatenate(tiles, axis)
    ranks = [2 * i + 1 for i in range(len(tiles))]
    for given in (tiles, dict(enumerate(tiles)), dict(zip(ranks, tiles))):
        array = pt.from_locals(given, axis)
        assert array.dtype == dtype and pt.ranks() == HERE
        np.testing.assert_array_equal(array.gather(), whole)
        for rank, tile in given.items() if isinstance(given, dict) else enumerate(tiles):
            np.testing.assert_array_equal(array.section(rank).data, tile)
    # The elements are copied.
    if whole.size:
        tiles[-1][...] = 1 - tiles[-1].real
        np.testing.assert_array_equal(array.gather(), whole)


def test_a_tile_alone():
    assert pt.from_locals(np.arange(3)).tolist() == [0, 1, 2]
    assert pt.from_locals({0: [1.5, 2.5]}).tolist() == [1.5, 2.5]


@pytest.mark.parametrize("seed", seeds(20))
def test_tiles_of_any_distribution(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(0, 9, 2))
    mesh = pt.Mesh((2, 3))
    cuts = [pt.Block("x"), pt.Cyclic("y", int(rng.integers(1, 3))), pt.Whole()]
    picks = rng.choice([[0, 1], [2, 1], [0, 2], [2, 2], [1, 0]])
    dist = pt.Distribution(shape, mesh, [cuts[i] for i in picks])
    given = rng.integers(0, 99, shape)
    tiles = [given[np.ix_(*(np.arange(n)[one] for n, one in zip(shape, dist.owned(rank))))] for rank in range(6)]
    array = pt.from_locals(tiles, dist)
    assert array.dist == dist
    np.testing.assert_array_equal(array.gather(), given)
    np.testing.assert_array_equal((array * 2 + 1).gather(), given * 2 + 1)


def test_tiles_with_room_for_halos():
    dist = pt.Distribution("6 on r=2: block(r) halo 1")
    array = pt.from_locals([np.arange(3), np.arange(3, 6)], dist)
    assert array.gather().tolist() == [*range(6)]
    assert array.section(1).data.tolist() == [2, 3, 4, 5]


def test_tiles_that_do_not_fit():
    two = pt.Distribution("4 on r=2: block(r)")
    copies = pt.Distribution("2 on r=2: whole")
    for given, dist, error, words in [
        ([], 0, ValueError, "got no tiles"),
        ([np.ones(3), np.ones((3, 1))], 0, ValueError, "do not fit side by side along axis 0"),
        ([np.ones((3, 2)), np.ones((3, 1))], 0, ValueError, "shapes \\(3, 2\\) \\(rank 0\\) and \\(3, 1\\) \\(rank 1\\)"),
        ([np.ones(3), np.ones(3, int)], 0, TypeError, "int64 on rank 1 and of float64 on rank 0"),
        ([np.ones(3)], 1, ValueError, "got axis 1"),
        ([np.array("a")], 0, TypeError, "no arrays of type"),
        ([np.ones(3), np.ones(1)], two, ValueError, "rank 0: got a tile of shape \\(3,\\), expected \\(2,\\)"),
        ({0: np.ones(2)}, two, ValueError, "rank 1 has no tile, expected one of shape \\(2,\\)"),
        ({i: np.ones(2) for i in range(3)}, two, ValueError, "rank 2, which is not on the mesh"),
        ([np.ones(2)] * 3, two, ValueError, "got 3 tiles for 2 ranks"),
        ([np.ones(2), np.zeros(2)], copies, ValueError, "ranks 0 and 1 gave other elements"),
        ({4096: np.ones(2)}, 0, ValueError, "rank 4096"),
    ]:
        with pytest.raises(error, match=words):
            pt.from_locals(given, dist)
    assert pt.from_locals([np.ones(2)] * 2, copies).tolist() == [1, 1]
