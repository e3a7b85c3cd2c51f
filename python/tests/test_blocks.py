"""Functions of tiles, halos and stencils against NumPy, with the same bits on any number of ranks."""

import itertools

import numpy as np
import pytest

import pantile as pt
from conftest import same

RANKS = pt.ranks()
DISTS = [0, 1, None, "bb", "cn", "nc"]
TYPES = [bool, "i1", "i8", "u4", "u8", "f4", "f8", "c8", "c16"]


def numbers(shape, kind="f8", seed=3):
    found = np.random.default_rng(seed).integers(0, 100, size=shape)
    return (found % 2 if kind is bool else found).astype(kind)


# ---- halos


@pytest.mark.parametrize("dist", [0, 1, None, "bb"])
@pytest.mark.parametrize("width", [1, (0, 2), [1, (2, 0)], {1: 3}, 0, 9], ids=str)
@pytest.mark.parametrize("periodic", [False, True, (True, False)], ids=str)
def test_sections_with_halos(dist, width, periodic):
    given = numbers((6, 7))
    array = pt.asarray(given, dist=dist)
    haloed = array.with_halo(width, periodic=periodic)
    same(haloed, given)
    same(haloed + 1, given + 1)
    widths = {
        "1": [(1, 1)] * 2, "(0, 2)": [(0, 2)] * 2, "[1, (2, 0)]": [(1, 1), (2, 0)],
        "{1: 3}": [(0, 0), (3, 3)], "0": [(0, 0)] * 2, "9": [(9, 9)] * 2,
    }[str(width)]  # fmt: skip
    rings = [periodic] * 2 if isinstance(periodic, bool) else periodic
    assert [one.rank for one in haloed.sections] == pt.hosted_ranks()
    for section, plain in zip(haloed.sections, array.sections):
        np.testing.assert_array_equal(section.owned, plain.data)
        if not plain.data.size:
            continue
        lists = []
        for length, own, (low, high), ring in zip(given.shape, plain.index, widths, rings):
            places = range(own.start - low, own.stop + high)
            lists.append([p % length for p in places] if ring else [p for p in places if 0 <= p < length])
        np.testing.assert_array_equal(section.data, given[np.ix_(*lists)])
        for length, one, expected in zip(given.shape, section.index, lists):
            assert np.arange(length)[one].tolist() == expected
        assert not section.data.flags.writeable


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_halos_of_all_types(kind):
    given = numbers((9,), kind)
    for section in pt.asarray(given, dist=0).with_halo(2, periodic=True).sections:
        if section.data.size:
            np.testing.assert_array_equal(section.data, given[section.index[0]])


def test_halos_know_where_they_live():
    array = pt.zeros((8, 6), dist=0).with_halo(1)
    # One rank has no neighbours.
    assert array.dist.has_halo == (RANKS > 1) and array.dist.shape == (8, 6)
    assert not (array + 1).dist.has_halo and isinstance(array, pt.Array)
    dist = pt.Distribution((8, 6), pt.Mesh(RANKS), [pt.Block("x", halo=1), None])
    given = numbers((8, 6))
    for made in (pt.asarray(given, dist=dist), pt.asarray(given).redistribute(dist)):
        assert made.dist == dist
        for section in made.sections:
            np.testing.assert_array_equal(section.data, given[dist.held(section.rank)])
    assert pt.zeros((8, 6), dist=dist).dist == pt.ones((8, 6), dist=dist).dist == dist
    pairs = [(rank % 2, 2) for rank in range(RANKS)]
    uneven = pt.Distribution((8, 6), pt.Mesh(RANKS), [pt.Block("x", halo=pairs, periodic=True), None])
    room = pt.Distribution(uneven.text.replace("held", "room"))
    for wanted in (uneven, room):
        array = pt.asarray(given, dist=wanted)
        same(array, given)
        for section in array.sections:
            index = [np.arange(n)[one] for n, one in zip(given.shape, uneven.held(section.rank))]
            np.testing.assert_array_equal(section.data, given[np.ix_(*index)])


def test_later_assignments_are_not_seen():
    a = pt.zeros(6, dist=0)
    haloed = a.with_halo(1)
    a[:] = 5.0
    assert all((section.data == 0).all() for section in haloed.sections)


def test_saved_without_halos(tmp_path):
    if len(pt.hosted_ranks()) < RANKS:
        return  # every process has a folder of its own
    given = numbers((5, 4))
    pt.save(tmp_path / "a.npy", pt.asarray(given, dist=0).with_halo(2))
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), given)


@pytest.mark.parametrize("width, words", [
    (-1, "at least 0"), ("1", "expected"), ((1, 2, 3), "axes"), ([1, (2, 3, 4)], "axes"),
    ({2: 1}, "axis 2"), (1.5, "expected"), ([1, None], "expected"),
], ids=str)  # fmt: skip
def test_wrong_widths(width, words):
    with pytest.raises((ValueError, TypeError), match=words):
        pt.zeros((6, 6), dist=0).with_halo(width)


def test_only_blocks_have_neighbours():
    with pytest.raises(ValueError, match="periodic"):
        pt.zeros((6, 6)).with_halo(1, periodic=(True,))
    if RANKS > 1:
        with pytest.raises(ValueError, match="only they have neighbours"):
            pt.zeros(6, dist="c").with_halo(1)
    assert pt.zeros((6, 6), dist="cn").with_halo({1: 1}).sections


# ---- functions of tiles


@pytest.mark.parametrize("dist", DISTS, ids=str)
def test_map_blocks(dist):
    one, other = numbers((5, 7)), numbers((5, 7), "i8", 4)
    a, b = pt.asarray(one, dist=dist), pt.asarray(other, dist=1)
    same(pt.map_blocks(np.sqrt, a), np.sqrt(one))
    same(pt.map_blocks(np.add, a, b), one + other)
    same(pt.map_blocks(lambda x, by, more=0: x * by + more, b, 3, more=1), other * 3 + 1)
    same(pt.map_blocks(lambda x: x > 50, a), one > 50)
    same(pt.map_blocks(lambda x: x, b, dtype="f4"), other.astype("f4"))
    same(pt.map_blocks(np.multiply, a, pt.asarray(one[0])), one * one[0])
    same(pt.map_blocks(lambda x: x + 1, a) * 2, (one + 1) * 2)
    assert pt.map_blocks(np.sqrt, a).dist == a.dist


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_map_blocks_of_all_types(kind):
    given = numbers((11,), kind)
    same(pt.map_blocks(lambda x: x[::-1][::-1], pt.asarray(given, dist=0)), given)


def test_shapes_of_all_kinds():
    for shape in ((), (0,), (1,), (2, 0, 3), (1, 1), (3, 4, 5)):
        given = numbers(shape)
        same(pt.map_blocks(lambda x: x * 2, pt.asarray(given, dist=0 if shape else None)), given * 2)
        if shape:
            same(pt.map_overlap(lambda x: x * 2, pt.asarray(given, dist=0), 1), given * 2)
            same(pt.map_overlap(lambda x: x * 2, pt.asarray(given, dist=0), 2, "reflect"), given * 2)


def test_one_element_on_one_rank():
    one = pt.arange(6.0, dist=0)[3]
    same(pt.map_blocks(lambda x: x + 1, one), np.asarray(4.0))
    same(pt.map_overlap(lambda x: x + 1, one, 1), np.asarray(4.0))


def test_functions_may_write_to_what_they_get():
    def doubled(tile):
        tile *= 2
        return tile

    given = numbers((6,))
    a = pt.asarray(given, dist=0)
    same(pt.map_blocks(doubled, a), given * 2)
    same(pt.map_overlap(doubled, a, 1), given * 2)
    same(a, given)


def test_who_is_called():
    calls = []

    def noted(tile):
        calls.append(tile.shape)
        return tile

    pt.map_blocks(noted, pt.zeros((4, 3), dist=None))
    assert calls == [(4, 3)]  # copies once
    calls.clear()
    pt.map_blocks(noted, pt.zeros((2,), dist=0))
    assert len(calls) == sum(rank < 2 for rank in pt.hosted_ranks()) and (0,) not in calls
    calls.clear()
    assert pt.map_blocks(noted, pt.zeros((0, 3), dist=0), dtype="i4").dtype == np.int32
    assert calls == []
    assert pt.map_blocks(lambda x: x > 0, pt.zeros((0, 3), dist=0)).dtype == bool


# ---- with neighbours


def blurred(padded, radius):
    """Every element with those around it, as a function of padded tiles: two axes."""
    shape = [n - 2 * radius for n in padded.shape]
    total = np.zeros(shape, padded.dtype)
    for i, j in itertools.product(range(2 * radius + 1), repeat=2):
        total += (1 + i + 10 * j) * padded[i : i + shape[0], j : j + shape[1]]
    return total


PADS = {"periodic": {"mode": "wrap"}, "reflect": {"mode": "symmetric"}, "nearest": {"mode": "edge"}}


@pytest.mark.parametrize("dist", DISTS, ids=str)
@pytest.mark.parametrize("boundary", ["periodic", "reflect", "nearest", 0, 2.5], ids=str)
@pytest.mark.parametrize("depth", [1, 2, 9])
def test_map_overlap(dist, boundary, depth):
    given = numbers((6, 7)) / 7
    pad = PADS.get(boundary, {"mode": "constant", "constant_values": boundary})
    expected = blurred(np.pad(given, depth, **pad), depth)
    a = pt.asarray(given, dist=dist)
    same(pt.map_overlap(lambda tile: blurred(tile, depth), a, depth, boundary=boundary), expected)

    def whole(tile):
        inner = blurred(tile, depth)
        return np.pad(inner, depth, constant_values=-1.0)

    same(pt.map_overlap(whole, a, depth=depth, boundary=boundary), expected)


@pytest.mark.parametrize("boundary", ["periodic", "reflect", "nearest", 2.5], ids=str)
@pytest.mark.parametrize("ends", [(3, 0), (0, 4), (7, 1)], ids=str)
def test_uneven_depths(boundary, ends):
    def far(tile):
        return tile[: tile.size - sum(ends)] + 3 * tile[sum(ends) :]

    pad = PADS.get(boundary, {"mode": "constant", "constant_values": boundary})
    for length in (1, 2, 5, 9):
        given = numbers((length,))
        a = pt.asarray(given, dist=0)
        same(pt.map_overlap(far, a, [ends], boundary), far(np.pad(given, ends, **pad)))


def test_tiles_end_where_arrays_end():
    given = numbers((10,))

    def differences(tile):
        found = np.zeros_like(tile)
        found[1:] = tile[1:] - tile[:-1]
        return found

    expected = differences(given)
    for dist in (0, None, "c"):
        a = pt.asarray(given, dist=dist)
        same(pt.map_overlap(differences, a, 1), expected)
        same(pt.map_overlap(differences, a, {0: (1, 0)}), expected)
        same(pt.map_overlap(differences, a, [(1, 0)], None), expected)
        same(pt.map_overlap(differences, a, depth=(1, 0), boundary="none"), expected)


def test_depths_and_boundaries_by_axis():
    given = numbers((5, 6))
    padded = np.pad(np.pad(given, [(1, 1), (0, 0)], mode="wrap"), [(0, 0), (2, 0)], mode="symmetric")
    expected = padded[2:, 2:] - padded[:-2, :-2]
    for dist in (0, 1, "bb"):
        a = pt.asarray(given, dist=dist)
        for depth, boundary in [({0: 1, 1: (2, 0)}, {0: "periodic", 1: "reflect"}),
                                ([1, (2, 0)], ["periodic", "reflect"])]:  # fmt: skip
            found = pt.map_overlap(lambda t: t[2:, 2:] - t[:-2, :-2], a, depth, boundary)
            same(found, expected)
        same(pt.map_overlap(lambda t: t[2:] + 0, a, (1, 0), (3.0, "none")), np.pad(given, [(0, 1), (0, 0)], constant_values=3.0)[1:])


def test_several_arrays_with_neighbours():
    one, other = numbers((8,)), numbers((8,), "i8", 9)
    found = pt.map_overlap(
        lambda a, b: a[2:] * b[:-2], pt.asarray(one, dist=0), pt.asarray(other, dist="c"), 1, "periodic"
    )
    same(found, np.roll(one, -1) * np.roll(other, 1))
    same(
        pt.map_overlap(lambda a, b: a[2:] * b[:-2], pt.asarray(one), pt.asarray(other), depth=1, boundary="periodic"),
        np.roll(one, -1) * np.roll(other, 1),
    )


def test_nothing_is_put_together():
    a = pt.from_callback((64, 64), 0, lambda part: np.ones([one.stop - one.start for one in part]))
    with pt.comm_stats() as stats:
        found = pt.map_overlap(lambda t: t + 1, a, 1)
    assert stats.bytes <= 2 * 64 * 8 * max(RANKS - 1, 0)
    with pt.no_comm():
        pt.map_blocks(np.sqrt, a).compute()
    same(found, np.full((64, 64), 2.0))
    if RANKS > 1:
        with pt.no_comm(), pytest.raises(pt.PantileError, match="nothing may move"):
            pt.map_overlap(lambda t: t, a, 1)


@pytest.mark.parametrize("work, words", [
    (lambda a: pt.map_blocks(lambda t: t[1:], a), "shape"),
    (lambda a: pt.map_blocks(lambda t: t.astype(object), a), "no arrays of that type"),
    (lambda a: pt.map_blocks(lambda t: t * 1j, a, dtype="f8"), "complex128, expected float64"),
    (lambda a: pt.map_blocks(lambda t: 1 / 0, a), "division"),
    (lambda a: pt.map_blocks(np.sqrt), "at least one array"),
    (lambda a: pt.map_blocks(np.sqrt, 3), "at least one array"),
    (lambda a: pt.map_blocks(np.add, a, pt.zeros(3)), "broadcast"),
    (lambda a: pt.map_overlap(np.sqrt, a), "depth"),
    (lambda a: pt.map_overlap(np.sqrt, a, -1), "at least 0"),
    (lambda a: pt.map_overlap(np.sqrt, a, (1, 1, 1)), "expected"),
    (lambda a: pt.map_overlap(np.sqrt, a, 1, "mirror"), "mirror"),
    (lambda a: pt.map_overlap(np.sqrt, a, 1, ["none"]), "boundaries"),
    (lambda a: pt.map_overlap(np.sqrt, a, 1, 1j), "elements of float64"),
    (lambda a: pt.map_overlap(np.sqrt, a, 1, "none", 3), "behind"),
    (lambda a: pt.map_overlap(np.sqrt, a, 1, depth=1), "behind"),
    (lambda a: pt.map_overlap(lambda t: t[:1, :1], a, 1), "shape"),
    (lambda a: pt.map_overlap(lambda t: t, a, 1, "periodic", trim=False), "shape"),
])  # fmt: skip
def test_misuse(work, words):
    with pytest.raises((ValueError, TypeError, ZeroDivisionError), match=words):
        work(pt.ones((6, 8), dist=0))
    same(pt.ones(3) + 1, np.full(3, 2.0))  # the world goes on


def test_one_type_on_all_ranks():
    a = pt.arange(6, dist=0)
    work = lambda t: t if 0 in t else t * 1.0  # noqa: E731
    if RANKS > 1:
        with pytest.raises(TypeError, match="int64 on rank 0 and float64 on rank 1"):
            pt.map_blocks(work, a)
    same(pt.map_blocks(work, a, dtype=float), np.arange(6.0))


def test_arrays_with_halos_are_arrays():
    given = numbers((9,))
    a = pt.asarray(given, dist=0).with_halo(2)
    same(pt.map_blocks(np.sqrt, a), np.sqrt(given))
    same(pt.map_overlap(lambda t: t[2:], a, 1, "periodic"), np.roll(given, -1))
    same(pt.stencil(a, {1: 1.0}, "periodic"), np.roll(given, -1))
    assert a.with_halo(1).dist == a.with_halo(2).with_halo(1).dist


# ---- stencils


@pytest.mark.parametrize("dist", DISTS, ids=str)
@pytest.mark.parametrize("kind", ["f8", "f4", "i8", "c16"])
def test_stencils(dist, kind):
    given = numbers((6, 7), kind)
    a = pt.asarray(given, dist=dist)
    points = {(0, 0): -4.0, (1, 0): 1.0, (-1, 0): 1.0, (0, 1): 1.0, (0, -2): 1.0}
    wide = given.astype("f8") if kind == "i8" else given
    for boundary, mode in (("periodic", "wrap"), ("zero", "constant"), (0, "constant")):
        padded = np.pad(wide, 2, mode=mode)
        expected = np.zeros_like(wide)
        for (i, j), weight in points.items():
            expected = expected + wide.dtype.type(weight) * padded[2 + i : 8 + i, 2 + j : 9 + j]
        same(pt.stencil(a, points, boundary=boundary), expected)
        same(pt.stencil(a, list(points.items()), boundary), expected)


@pytest.mark.parametrize("points, boundary, words", [
    ({}, "zero", "no points"), ({1: 1.0}, "zero", "2 offsets"), ({(0, 0): "a"}, "zero", "point"),
    ([(0, 0)], "zero", "point"), ({(0, 0.5): 1.0}, "zero", "point"), ({(0, 0): 1.0}, "reflect", "reflect"),
    ({(0, 0): 1.0}, 2, "boundary=2"),
], ids=str)  # fmt: skip
def test_wrong_stencils(points, boundary, words):
    with pytest.raises(ValueError, match=words):
        pt.stencil(pt.zeros((6, 6)), points, boundary)
    with pytest.raises(TypeError, match="array of pantile"):
        pt.stencil(np.zeros(3), {0: 1.0})


def test_numbers_beyond_the_ends_are_not_rounded():
    whole = pt.arange(4, dist=0)
    for wrong in (1.5, np.nan, 1e30, 1j):
        with pytest.raises(ValueError, match="boundary"):
            pt.map_overlap(lambda tile: tile, whole, 1, boundary=wrong)
    assert pt.map_overlap(lambda tile: tile[:-2], whole, 1, boundary=7.0).tolist() == [7, 0, 1, 2]
    half = pt.map_overlap(lambda tile: tile[:-2], whole.astype(pt.float32), 1, boundary=0.1)
    assert half.tolist() == [np.float32(0.1), 0, 1, 2]
    assert np.isnan(float(pt.map_overlap(lambda tile: tile[:-2], whole * 1.0, 1, boundary=np.nan)[0]))


def test_what_is_no_function():
    for work in (pt.map_blocks, lambda f, a: pt.map_overlap(f, a, 1)):
        with pytest.raises(TypeError, match="got int, expected a function"):
            work(3, pt.arange(4, dist=0))
