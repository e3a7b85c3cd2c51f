"""Distributions against loops over every index, and against the vectors of the protocol."""

import itertools
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import pantile as pt
from conftest import same, seeds
from pantile._world import world

DATA = json.loads(Path(__file__).with_name("data").joinpath("protocol.json").read_text())


# ---- who has what, by loops


def parts(cut, length, mesh):
    """The indices that each coordinate along an axis owns, by the words of the documentation."""
    count = 1
    for name in cut.over:
        count *= mesh.shape[mesh.axes.index(name)]
    if isinstance(cut, pt.Whole):
        return [list(range(length))]
    if isinstance(cut, pt.Cyclic):
        found = [[] for _ in range(count)]
        for index in range(length):
            found[index // cut.block % count].append(index)
        return found
    if isinstance(cut, pt.Indexed):
        return [list(own) for own in cut.labels]
    if cut.cuts is None:
        sizes = [length // count + (one < length % count) for one in range(count)]
    elif cut.cuts == "last":
        sizes = [length // count + (one >= count - length % count) for one in range(count)]
    elif cut.cuts == "ceil":
        step = -(-length // count)
        return [[i for i in range(length) if i // max(step, 1) == one] for one in range(count)]
    else:
        return [list(range(*ends)) for ends in itertools.pairwise(cut.cuts)]
    found, first = [], 0
    for size in sizes:
        found.append(list(range(first, first + size)))
        first += size
    return found


def widened(cut, own, coordinate, length):
    """The same with the halo."""
    if not isinstance(cut, pt.Block) or not own:
        return own
    pair = cut.halo if isinstance(cut.halo[0], int) else cut.halo[coordinate]
    positions = range(own[0] - pair[0], own[-1] + 1 + pair[1])
    if cut.periodic:
        return [one % length for one in positions]
    return [one for one in positions if 0 <= one < length]


def coordinate_of(cut, at, mesh):
    position = 0
    for name in cut.over:
        axis = mesh.axes.index(name)
        position = position * mesh.shape[axis] + at[axis]
    return position


def listed(index, length):
    return list(range(length)[index]) if isinstance(index, slice) else index.tolist()


def check(shape, mesh, cuts):
    dist = pt.Distribution(shape, mesh, cuts)
    holders, owners = {}, {}
    for position, at in enumerate(itertools.product(*map(range, mesh.shape))):
        rank = mesh.team[position]
        along = [coordinate_of(cut, at, mesh) for cut in cuts]
        own = [parts(cut, n, mesh)[c] for cut, n, c in zip(cuts, shape, along)]
        held = [widened(cut, one, c, n) for cut, one, c, n in zip(cuts, own, along, shape)]
        assert [listed(one, n) for one, n in zip(dist.owned(rank), shape)] == own
        assert [listed(one, n) for one, n in zip(dist.held(rank), shape)] == held
        assert dist.local_shape(rank) == tuple(map(len, held))
        for index in itertools.product(*held):
            holders.setdefault(index, []).append(rank)
        for index in itertools.product(*own):
            owners.setdefault(index, rank)
    for index in itertools.product(*map(range, shape)):
        assert sorted(dist.holders(index)) == sorted(holders.get(index, []))
        assert dist.owner(index) == owners.get(index)
    back = pt.Distribution(dist.text)
    assert back == dist and hash(back) == hash(dist) and pickle.loads(pickle.dumps(dist)) == dist
    assert eval(repr(dist), {"Distribution": pt.Distribution}) == dist
    assert dist.shape == tuple(shape) and dist.mesh == mesh and len(dist.axes) == len(shape)
    return dist


def test_cuts_of_one_axis():
    for ranks, length in itertools.product((1, 2, 3, 5), (0, 1, 2, 7, 10)):
        mesh = pt.Mesh((ranks,))
        for cuts in (None, "last", "ceil"):
            for halo in (0, 1, (2, 0), (0, 3)):
                check((length,), mesh, [pt.Block("x", cuts, halo)])
        for block in (1, 2, 4):
            check((length,), mesh, [pt.Cyclic("x", block)])
        check((length,), mesh, [pt.Whole()])


def test_cuts_at_places_and_widths_that_differ():
    mesh = pt.Mesh((3,))
    check((10,), mesh, [pt.Block("x", [0, 2, 2, 10])])
    check((10,), mesh, [pt.Block("x", [0, 2, 5, 10], halo=[(0, 1), (2, 3), (1, 0)])])
    check((10,), mesh, [pt.Block("x", [0, 0, 5, 10], halo=[(1, 1), (2, 3), (1, 4)])])
    check((10,), mesh, [pt.Block("x", halo=[(1, 1), (2, 3), (1, 4)], periodic=True)])
    # Two ranks: two pairs are one per rank, two numbers a pair.
    pair = pt.Distribution(8, pt.Mesh(2), [pt.Block("x", halo=((0, 1), (2, 0)))])
    assert (pair.local_shape(0), pair.local_shape(1)) == ((5,), (6,))
    assert pt.Distribution(8, pt.Mesh(2), [pt.Block("x", halo=(0, 1))]).local_shape(1) == (4,)


def test_rings():
    for ranks, length, halo in itertools.product((1, 2, 3), (1, 3, 7), (1, (2, 1), 4)):
        check((length,), pt.Mesh((ranks,)), [pt.Block("x", halo=halo, periodic=True)])


def test_several_axes_and_teams():
    team = [5, 0, 3, 1, 4, 2]
    for mesh in (pt.Mesh((2, 3)), pt.Mesh((2, 3), team=team), pt.Mesh((3, 2), ("a", "b"))):
        one, two = mesh.axes
        check((7, 5), mesh, [pt.Block(one, halo=1), pt.Cyclic(two, 2)])
        check((7, 5), mesh, [pt.Block((two, one)), pt.Whole()])
        check((4, 6), mesh, [pt.Whole(), pt.Block(two, halo=(0, 2), periodic=True)])
        labels = [[4, 0], [1], [2, 3]][: mesh.shape[0]] if mesh.shape[0] == 3 else [[4, 0, 1], [3, 2]]
        check((5, 3), mesh, [pt.Indexed(one, labels, one_to_one=True), pt.Block(two)])
    check((), pt.Mesh((2,)), [])


def test_labels_that_are_names():
    dist = pt.Distribution(3, pt.Mesh(2), [pt.Indexed("x", [[-3, 100], [7]])])
    assert dist.owned(0)[0].tolist() == [0, 2] and dist.owner(1) == 1
    with pytest.raises(ValueError, match="different labels"):
        pt.Distribution(4, pt.Mesh(2), [pt.Indexed("x", [[-3, 100], [7]])])
    with pytest.raises(ValueError, match="label 1 is in several"):
        pt.Indexed("x", [[0, 1], [1]], one_to_one=True)
    shared = pt.Distribution(3, pt.Mesh(2), [pt.Indexed("x", [[0, 1], [1, 2]])])
    assert shared.holders(1) == [0, 1]


def test_random_ones():
    def cut(rng, name, parts, length):
        kind = rng.integers(5)
        if kind == 0:
            return pt.Cyclic(name, int(rng.integers(1, 4)))
        if kind == 1:
            owner = rng.integers(parts, size=length)
            order = rng.permutation(length)
            return pt.Indexed(name, [[int(i) for i in order if owner[i] == p] for p in range(parts)])
        places = sorted(int(one) for one in rng.integers(length + 1, size=parts - 1))
        halo = [(int(a), int(b)) for a, b in rng.integers(0, 4, size=(parts, 2))]
        return pt.Block(
            name, [None, "last", "ceil", [0, *places, length]][rng.integers(4)],
            [0, 2, (1, 3), halo][rng.integers(4)], bool(rng.integers(2)),
        )  # fmt: skip

    for seed in seeds(120):
        rng = np.random.default_rng([5, seed])
        sizes = tuple(int(one) for one in rng.integers(1, 4, size=2))
        shape = tuple(int(one) for one in rng.integers(1, 8, size=2))
        team = [int(one) for one in rng.permutation(sizes[0] * sizes[1] + 2)[: sizes[0] * sizes[1]]]
        check(shape, pt.Mesh(sizes, team=team), [cut(rng, n, p, k) for n, p, k in zip("xy", sizes, shape)])


# ---- equality, meshes


def test_equality():
    text = pt.Distribution("8x6 on r=2: block(r), whole")
    assert text == pt.Distribution((8, 6), pt.Mesh(2), [pt.Block("x"), pt.Whole()])
    assert text == pt.Distribution((8, 6), pt.Mesh((2, 1)), ["x", None])
    assert text == pt.Distribution((8, 6), pt.Mesh(2), [pt.Block("x", cuts=[0, 4, 8]), pt.Whole()])
    assert text != pt.Distribution((8, 6), pt.Mesh(2), [pt.Whole(), pt.Block("x")])
    assert text != "8x6 on r=2: block(r), whole"
    assert len({text, pt.Distribution("8x6 on q=2: block(q), whole")}) == 1
    assert pt.Block("x") == pt.Block(("x",)) != pt.Block("x", halo=1)


def test_meshes():
    mesh = pt.Mesh((2, 3), axes=("x", "y"))
    assert mesh.shape == (2, 3) and mesh.axes == ("x", "y") and mesh.size == 6 and mesh.ndim == 2
    assert mesh == pt.Mesh(x=2, y=3) == pt.Mesh((2, 3), ("a", "b")) != pt.Mesh((3, 2))
    assert hash(mesh) == hash(pt.Mesh((2, 3), team=range(6))) and list(mesh.team) == list(range(6))
    assert pt.Mesh((2, 1, 3)) == mesh and pt.Mesh((2, 3), team=[0, 1, 2, 3, 5, 4]) != mesh
    assert [mesh.coordinates(rank) for rank in (0, 5, 6)] == [(0, 0), (1, 2), None]
    assert pt.Mesh((2, 2), team=[7, 5, 3, 1]).rank(1, 0) == 3
    assert pt.Distribution("4 on x=2, y=2 team from 4 by 10 1: block(x)").mesh.team == (4, 5, 14, 15)
    one = pt.Distribution("4 on rank 7: whole").mesh
    assert (one.shape, one.team) == ((), (7,)) and "svg" in one._repr_html_()
    assert eval(repr(pt.Mesh((2,), team=[3, 1])), {"Mesh": pt.Mesh}).team == (3, 1)


@pytest.mark.parametrize("words, match", [
    (dict(shape=(2, 0)), "at least one rank"),
    (dict(shape=(2, 2), axes=("x",)), "1 names"),
    (dict(shape=(2, 2), axes=("x", "x")), "different names"),
    (dict(shape=2, axes="1x"), "words"),
    (dict(shape=(2, 2), team=[0, 1]), "team of 2 ranks, expected 4"),
    (dict(shape=2, team=[1, 1]), "at most once"),
    (dict(shape=2, team=[-1, 1]), "at least 0"),
    (dict(), "no shape"),
    (dict(shape=2, x=3), "not both"),
    (dict(shape="2"), "numbers"),
])  # fmt: skip
def test_wrong_meshes(words, match):
    with pytest.raises((ValueError, TypeError), match=match):
        pt.Mesh(**words)


# ---- terms


def test_terms():
    mesh = pt.Mesh((2, 3))

    def made(terms, cuts=(pt.Whole(),)):
        return pt.Distribution(8, mesh, list(cuts), terms=terms)

    assert made("sum").text == "8 on x=2, y=3: whole; sum(0, x, y)"
    for terms in ("y", ["y"], {"y": "sum"}, {"sum": "y"}, ("sum", "y"), ("sum", ["y"]), "sum(y)"):
        assert made(terms).text == "8 on x=2, y=3: whole; sum(y)"
        assert made(terms).terms == {"y": "sum"}
    assert made({"x": "max", "y": "max"}).terms == {"x": "max", "y": "max"}
    assert made({0: "sum"}, [pt.Block("x", halo=1)]).terms == {0: "sum"}
    assert made({"x": "sum"}, [pt.Block("x", halo=1)]).terms == {0: "sum"}
    assert made(None).terms == {}
    for terms, words in [("plus(y)", "plus"), ("z", "'z'"), ({"x": "max", "y": "sum"}, "one for all"),
                         ([], "at least one"), (7, "7"), ({"y": "mean"}, "mean")]:  # fmt: skip
        with pytest.raises(ValueError, match=words):
            made(terms)


# ---- the protocol


def test_letters():
    dist = pt.Distribution.from_letters((10, 6), "bc", grid=(2, 3))
    assert dist.mesh.shape == (2, 3)
    for rank, (x, y) in enumerate(itertools.product(range(2), range(3))):
        rows, columns = dist.owned(rank)
        assert listed(rows, 10) == list(range(5 * x, 5 * x + 5))
        assert listed(columns, 6) == list(range(y, 6, 3))
    ceil = pt.Distribution.from_letters((10,), "b", grid=(4,))
    assert [ceil.local_shape(rank) for rank in range(4)] == [(3,), (3,), (3,), (1,)]
    assert pt.Distribution.from_letters((10, 6), "bn", grid=4).mesh.shape == (4, 1)
    auto = pt.Distribution.from_letters((8, 6), "bb")
    assert auto.mesh.size <= pt.ranks() and pt.zeros((8, 6), dist=auto).dist == auto
    for letters, grid, words in [("bx", (2, 2), "letter `x`"), ("b", (2, 2), "1 letters"),
                                 ("bn", (2, 2), "letter `n`"), ("bu", (2, 2), "letter `u`"),
                                 ("bc", (2,), "grid of 1")]:  # fmt: skip
        with pytest.raises(ValueError, match=words):
            pt.Distribution.from_letters((10, 6), letters, grid=grid)


def dim_data(dicts):
    """As living objects have it: tuples and buffers."""

    def value(key, one):
        if key == "padding":
            return tuple(one)
        return np.asarray(one, np.int64) if key == "indices" else one

    return tuple({key: value(key, one) for key, one in own.items()} for own in dicts)


@pytest.mark.parametrize("vector", DATA["vectors"], ids=lambda one: one["id"])
def test_dimension_dictionaries(vector):
    ranks = [dim_data(rank["dim_data"]) for rank in vector["ranks"]]
    if any(own == {} for rank in ranks for own in rank):  # only a buffer knows their length
        ranks = [
            {"__version__": "0.10.0", "buffer": np.zeros(rank["local_shape"]), "dim_data": own}
            for rank, own in zip(vector["ranks"], ranks)
        ]
    dist = pt.Distribution.from_dim_data(ranks)
    periodic = any(own.get("periodic") for rank in vector["ranks"] for own in rank["dim_data"])
    for number, rank in enumerate(vector["ranks"]):
        assert dist.local_shape(number) == tuple(rank["local_shape"])
        if periodic or tuple(vector["global_shape"]) != dist.shape:
            continue
        labels = any(own.get("dist_type") == "u" for own in rank["dim_data"])
        for axis, globals_ in enumerate(rank["global_indices_per_dim"]):
            if labels and "universe" in dist.axes[axis]:
                continue
            length = dist.shape[axis]
            assert listed(dist.held(number)[axis], length) == globals_
            if rank["owned_local_ranges"] is not None:  # only of blocks
                low, high = rank["owned_local_ranges"][axis]
                assert listed(dist.owned(number)[axis], length) == globals_[low:high]


@pytest.mark.parametrize("case", DATA["redistributions"], ids=lambda one: one["id"])
def test_matrices_of_the_protocol(case):
    source, target = (
        pt.Distribution.from_dim_data([dim_data(own) for own in case[side]["dim_data_per_rank"]])
        for side in ("source", "dest")
    )
    matrix = pt.plan(source, target).matrix()
    assert matrix.tolist() == case["elements_moved_matrix"]
    assert matrix.trace() == case["elements_that_stay"]


@pytest.mark.parametrize("case", DATA["wrong"], ids=lambda one: one["id"])
def test_wrong_dictionaries(case):
    ranks = [dim_data(own) for own in case["dim_data_per_rank"]]
    with pytest.raises(ValueError) as raised:
        pt.Distribution.from_dim_data([
            {"__version__": "0.10.0", "buffer": np.zeros(shape), "dim_data": own}
            for own, shape in zip(ranks, case["buffer_shapes"])
        ])  # fmt: skip
    for code in case["codes"]:
        assert code in str(raised.value)


def test_what_is_no_dictionary():
    for wrong in ([], {}, "b", [({"indices": object()},)]):
        with pytest.raises((TypeError, ValueError)):
            pt.Distribution.from_dim_data(wrong)


# ---- arrays that live so


def test_arrays_live_so():
    ranks = pt.ranks()
    given = np.arange(48.0).reshape(6, 8)
    mesh, back = pt.Mesh(ranks), pt.Mesh(ranks, team=range(ranks)[::-1])
    order = np.random.default_rng(1).permutation(6)
    labels = [[int(one) for one in order[rank::ranks]] for rank in range(ranks)]
    for dist in (
        pt.Distribution((6, 8), mesh, [pt.Block("x"), pt.Whole()]),
        pt.Distribution((6, 8), mesh, [pt.Whole(), pt.Cyclic("x", 3)]),
        pt.Distribution((6, 8), back, [pt.Block("x", "last"), pt.Whole()]),
        pt.Distribution((6, 8), back, [pt.Whole(), pt.Block(("x",), "ceil")]),
        pt.Distribution((6, 8), mesh, [pt.Indexed("x", labels), None]),
        pt.Distribution((6, 8), pt.Mesh((1, ranks), team=range(ranks)[::-1]), [("x", "y"), None]),
        pt.Distribution((6, 8), pt.Mesh((), (), [ranks - 1]), [None, None]),
    ):
        for array in (pt.asarray(given, dist=dist), pt.asarray(given).redistribute(dist)):
            same(array, given)
            same(array * 2 + pt.zeros((6, 8), dist=dist), given * 2)
            same(array[1:, ::2].sum(axis=1), given[1:, ::2].sum(axis=1))
            for section in array.sections:
                own = dist.owned(section.rank)
                if own is not None:
                    index = [np.arange(n)[one] for n, one in zip(given.shape, own)]
                    if ranks > 1 or "indexed" not in dist.text:  # one rank has all in order
                        np.testing.assert_array_equal(section.data, given[np.ix_(*index)])
            if ranks > 1:
                assert array.dist == dist
        same(pt.arange(6, dist=pt.Distribution(6, mesh, [pt.Indexed("x", labels)])), np.arange(6))


def test_a_single_element_is_everywhere():
    one = pt.asarray(3.0, dist=pt.Distribution("scalar on rank 0:"))
    assert [section.data.item() for section in one.sections] == [3.0] * len(pt.hosted_ranks())


def test_arrays_that_cannot_live_so():
    ranks, most = pt.ranks(), world().max_ranks
    many, mesh = pt.Mesh(most + 1), pt.Mesh((2,))
    for dist, words in [
        (pt.Distribution(6, many, [pt.Block("x")]), f"rank {most}"),
        (pt.Distribution(6, pt.Mesh(2), [pt.Whole()], terms="x"), "terms of a sum"),
        (pt.Distribution("6 on r=1: boxes [0:6]"), "boxes"),
        (pt.Distribution(6, pt.Mesh(1), [pt.Indexed("x", [[0, 1, 2]])]), "nobody has index 3"),
        (pt.Distribution(5, pt.Mesh(1), [pt.Block("x")]), "shape"),
        (pt.Distribution(6, pt.Mesh(1), [pt.Block("x", halo=(-1, 0))]), "does not hold all"),
    ]:
        for work in (lambda: pt.zeros(6, dist=dist), lambda: pt.zeros(6).redistribute(dist)):
            with pytest.raises(ValueError, match=words):
                work()
    if ranks > 1:
        twice = pt.Distribution(3, mesh, [pt.Indexed("x", [[0, 1], [1, 2]])])
        with pytest.raises(ValueError, match="several ranks"):
            pt.zeros(3, dist=twice)


@pytest.mark.parametrize("axes, words", [
    (["q"], "mesh axes \\['q'\\]"),
    ([pt.Block("x"), pt.Block("x")], "2 cuts"),
    ([pt.Block("x", cuts=[0, 3, 7])], "cuts"),
    ([pt.Block("x", cuts=[0, 3, 3, 8])], "cuts"),
    ([pt.Block("x", halo=[(1, 1)] * 3)], "3 pairs"),
    ([pt.Block("x", halo=10**12, periodic=True)], "turns|halo width"),
    ([pt.Indexed("x", [[0, 1, 2]])], "label lists"),
    ([3.5], "expected pt.Block"),
    (None, "list with a cut"),
    (pt.Block("x"), "list with a cut"),
])  # fmt: skip
def test_wrong_distributions(axes, words):
    with pytest.raises((ValueError, TypeError), match=words):
        pt.Distribution((8,), pt.Mesh(2), axes)


def test_other_wrong_words():
    for work, words in [
        (lambda: pt.Distribution("8 on r=2 block(r)"), "expected"),
        (lambda: pt.Distribution((8,), (2,), ["x"]), "pt.Mesh"),
        (lambda: pt.Distribution((-8,), pt.Mesh(2), ["x"]), "at least 0"),
        (lambda: pt.Distribution("8 on r=2: block(r)", pt.Mesh(2), ["x"]), "a text says all"),
        (lambda: pt.Distribution((8, 8), pt.Mesh((2, 2)), ["x", "x"]), "used twice"),
        (lambda: pt.Block("x", cuts="first"), "last"),
        (lambda: pt.Block("x", cuts=[0, 5, 3]), "in order"),
        (lambda: pt.Block("x", halo="wide"), "width"),
        (lambda: pt.Block("x", halo=(1, 2, 3)), "pair"),
        (lambda: pt.Block(3), "over|iterable"),
        (lambda: pt.Cyclic("x", 0), "at least 1"),
        (lambda: pt.Indexed("x", [[0, 0]]), "twice"),
        (lambda: pt.Indexed("x", [0, 1]), "list"),
        (lambda: pt.Distribution("8 on r=2: block(r)").owner(8), "index 8"),
        (lambda: pt.Distribution("8 on r=2: block(r)").owner((1, 2)), "1 numbers"),
        (lambda: pt.Distribution("8 on r=2: block(r)").owned(-1), "rank -1"),
    ]:
        with pytest.raises((ValueError, TypeError, IndexError), match=words):
            work()


def test_ranks_outside_have_nothing():
    dist = pt.Distribution("8 on r=2 team [3 1]: block(r)")
    assert dist.owned(0) is dist.held(0) is dist.local_shape(0) is None
    assert dist.owner(-1) == 1 and dist.owner(0) == 3


def test_they_show_themselves():
    dist = pt.Distribution("8x6 on x=2, y=2: block(x) halo 1, cyclic(y, 1)")
    assert "<svg" in dist._repr_html_() and "block(x)" in dist._repr_html_()
    assert dist.draw()._repr_svg_().startswith("<svg")
    many = pt.Distribution("4x4x4x4 on r=2: block(r), whole, whole, whole")
    assert "block(r)" in many._repr_html_()
    assert "<svg" in pt.Mesh((2, 3))._repr_html_()
    for one in (pt.Block("x", halo=2), pt.Cyclic(("x", "y"), 3), pt.Indexed("x", [[0], [1]]), pt.Whole()):
        assert eval(repr(one), vars(pt)) == one


def test_numbers_of_numpy():
    mesh = pt.Mesh(np.array([2, 3]))
    assert mesh == pt.Mesh((2, 3))
    assert pt.Distribution(np.array([8, 6]), mesh, ["x", "y"]).shape == (8, 6)
    letters = pt.Distribution.from_letters(np.array([10, 6]), "bc", grid=np.array([2, 3]))
    assert letters == pt.Distribution.from_letters((10, 6), "bc", grid=(2, 3))


@pytest.mark.parametrize("work, words", [
    (lambda: pt.Mesh((2.0, 3)), r"the shape \(2.0, 3\), expected whole numbers"),
    (lambda: pt.Mesh(2, team="ab"), "the team 'ab', expected whole numbers"),
    (lambda: pt.Mesh(2, team=[0, 1.5]), r"the team \[0, 1.5\], expected whole numbers"),
    (lambda: pt.Distribution(8.5, pt.Mesh(2), ["x"]), "shape 8.5, expected whole numbers"),
    (lambda: pt.Distribution.from_letters((4,), "b", grid=(-1,)), r"the grid \(-1,\)"),
    (lambda: pt.Block("x", cuts=[0, 2.5, 10]), r"cuts=\[0, 2.5, 10\], expected whole numbers"),
    (lambda: pt.Cyclic("x", 1.5), "block=1.5, expected a whole number"),
    (lambda: pt.Distribution(4, pt.Mesh(2), [pt.Indexed("x", [[0], [1]], one_to_one=True)]), "nobody has"),
])  # fmt: skip
def test_what_was_given_and_what_was_expected(work, words):
    with pytest.raises((TypeError, ValueError), match=words):
        work()
