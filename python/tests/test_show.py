"""What arrays look like: never more than the edges is put together."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

import pantile as pt
from pantile import _show


@pytest.fixture(params=[1, 2, 3, 4])
def ranks(request):
    pt.init(ranks=request.param)
    return request.param


def spread(whole, dist="auto", mesh=None):
    """A NumPy array on all ranks."""
    return pt.from_callback(
        whole.shape, dist, lambda part: whole[part], dtype=whole.dtype, mesh=mesh
    )


def test_the_title_names_what_is_cut():
    pt.init(ranks=4)
    assert repr(pt.zeros((1000, 500), dist=("x", None), mesh=pt.Mesh(x=4))).splitlines()[0] == (
        "float64[1000@x, 500] over x=4"
    )
    assert repr(pt.zeros((4, 4), dist=("x", "y"), mesh=pt.Mesh(x=2, y=2))).splitlines()[0] == (
        "float64[4@x, 4@y] over x=2, y=2"
    )
    both = pt.zeros((8, 4), dist=(("x", "y"), None), mesh=pt.Mesh(x=2, y=2))
    assert repr(both).splitlines()[0] == "float64[8@x*y, 4] over x=2, y=2"
    assert repr(pt.zeros(5, dist=None)).splitlines()[0] == "float64[5] copies"
    assert repr(pt.zeros((), dist=None)).splitlines()[0] == "float64[] copies"


def test_one_array_in_full():
    pt.init(ranks=2)
    text = repr(spread(np.arange(6).reshape(2, 3), 0))
    assert text == "int64[2@r, 3] over r=2\n[[0 1 2]\n [3 4 5]]"


SHAPES = [
    (),
    (0,),
    (0, 3),
    (1,),
    (7,),
    (1000,),
    (1001,),
    (40, 50),
    (7, 300),
    (2, 600),
    (5, 6, 70),
    (3, 3, 3, 50),
]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ["float64", "int64", "bool", "complex128"])
def test_elements_are_printed_as_by_numpy(ranks, shape, kind):
    numbers = np.random.default_rng(len(shape)).normal(size=shape) * 1000
    whole = np.asarray(numbers).astype(kind)
    dist = 0 if shape else None
    assert _show.str_of(spread(whole, dist)) == np.array2string(whole, threshold=1000, edgeitems=3)


def test_a_wide_range_is_printed_by_what_is_shown():
    pt.init(ranks=2)
    whole = np.ones(5000)
    whole[2500] = 1e300
    assert _show.str_of(spread(whole, 0)) == np.array2string(whole)


def test_numpys_print_options_count(ranks):
    whole = np.random.default_rng(1).random((30, 40))
    array = spread(whole, 0)
    for options in (
        {"threshold": 5, "edgeitems": 1}, {"edgeitems": 5, "precision": 2}, {"threshold": 10_000}, {"suppress": True},
    ):  # fmt: skip
        with np.printoptions(**options):
            assert _show.str_of(array) == str(whole)


def test_numbers_in_texts():
    pt.init(ranks=2)
    total = pt.arange(5.0).sum()
    assert f"{total:.2f} {total:8.1f}" == "10.00     10.0"
    assert f"{pt.arange(3).sum():d}" == "3"
    assert f"{pt.ones(2, dist=None)}" == "float64[2] copies\n[1. 1.]"
    assert f"{total}" == str(total)
    with pytest.raises(ValueError):
        f"{pt.ones(2):.2f}"


def test_sections_say_where_they_are():
    pt.init(ranks=2)
    assert repr(pt.zeros((4, 3), dist=0).section(1)) == "Section(rank=1, index=[2:4, 0:3], shape=(2, 3))"
    assert repr(pt.zeros(5, dist="c").section(0)) == "Section(rank=0, index=[[0 2 4]], shape=(3,))"
    assert repr(pt.zeros(50, dist="c").section(0)).startswith("Section(rank=0, index=[[ 0  2 ... 46 48]]")


def test_an_array_on_one_rank_is_drawn_there():
    pt.init(ranks=4)
    array = pt.zeros(8, dist="rank 3: whole")
    assert [section.rank for section in array.sections if section.data.size] == [3]
    assert [tile[0] for tile in drawn(array)] == ["rank 3: 0:8"]


@pytest.mark.parametrize("shape, shown", [((10_000,), 6), ((200, 300), 36), ((20, 30, 40), 216)])
def test_only_the_edges_are_gathered(ranks, shape, shown):
    array = (pt.zeros(shape, dist=0) + 1).compute()
    with pt.comm_stats() as stats:
        repr(array)
    assert stats.gathered <= shown * 8
    with pt.comm_stats() as stats:
        array._repr_html_()
    assert stats.gathered == 0


def test_looking_computes_once():
    pt.init(ranks=2)
    array = pt.zeros(5000, dist=0) + 1
    repr(array)
    with pt.comm_stats() as stats:
        repr(array)
    assert stats.programs == 0


def test_looking_where_nothing_may_move():
    pt.init(ranks=2)
    array = pt.zeros(5000, dist=0).compute()
    with pt.no_comm():
        assert repr(array).startswith("float64[5000@r] over r=2\n(its elements are not shown")
    assert repr(array).endswith("[0. 0. 0. ... 0. 0. 0.]")


TEXTS = [
    "x=4: block(x)", "x=4: block(x, last)", "x=4: block(x, ceil)", "x=4: block(x, cuts 0 1 1 9 13)",
    "x=4: cyclic(x, 1)", "x=4: cyclic(x, 3)", "x=2, y=2: block(x*y)", "x=2, y=2: block(y)", "x=2, y=2: block(x)", "copies", "x=3: block(x)",
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_tiles_are_drawn_where_they_are(text):
    pt.init(ranks=4)
    array = pt.zeros(13, dist=text)
    home = _show.read_home(str(array.dist))
    drawn = [[] for _ in range(13)]
    for low, high, part in _show.pieces(home.axes[0], home.mesh):
        for index in range(low, high):
            drawn[index] += _show.ranks_at(home, [part])
    owners = [[] for _ in range(13)]
    for section in array.sections:
        for index in np.arange(13)[section.index[0]]:
            owners[index].append(section.rank)
    assert drawn == owners


def drawn(array):
    """The picture of an array: (rank and slices, x, y, width, height) of each tile."""
    page = array._repr_html_()
    ElementTree.fromstring(page.replace("&times;", "x"))  # closed tags, quoted attributes
    assert "<script" not in page
    found = re.findall(
        r'<title>(.*?)</title><rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"',
        page,
    )
    return [(title, *map(float, box)) for title, *box in found]


def test_pictures():
    pt.init(ranks=4)
    tiles = drawn(pt.zeros((10, 20), dist=("x", "y"), mesh=pt.Mesh(x=2, y=2)))
    assert tiles == [
        ("rank 0: 0:5, 0:10", 0, 0, 110, 55),
        ("rank 1: 0:5, 10:20", 110, 0, 110, 55),
        ("rank 2: 5:10, 0:10", 0, 55, 110, 55),
        ("rank 3: 5:10, 10:20", 110, 55, 110, 55),
    ]
    assert [tile[0] for tile in drawn(pt.zeros(8, dist=0))] == [
        "rank 0: 0:2", "rank 1: 2:4", "rank 2: 4:6", "rank 3: 6:8",
    ]  # fmt: skip
    assert [tile[0] for tile in drawn(pt.zeros(8, dist=None))] == ["ranks 0, 1, 2, 3: 0:8"]
    cube = drawn(pt.zeros((4, 6, 8), dist=("x", None, "y"), mesh=pt.Mesh(x=2, y=2)))
    assert [tile[0] for tile in cube] == ["rank 0: 0:6, 0:4", "rank 1: 0:6, 4:8"]


def test_pages_say_what_it_is():
    pt.init(ranks=2)
    page = pt.zeros((1000, 5), dist=0)._repr_html_()
    for words in ["1000 &times; 5", "float64", "block(r), whole over r=2", "39.1 KiB"]:
        assert words in page
    assert "copies" in pt.zeros(5, dist=None)._repr_html_()


@pytest.mark.parametrize("shape", [(), (0,), (0, 4), (4, 0)])
def test_nothing_to_draw(ranks, shape):
    assert drawn(pt.zeros(shape)) == []


def test_many_tiles_make_a_small_picture():
    pt.init(ranks=4)
    array = pt.zeros(100_000, dist="c")
    assert len(array._repr_html_()) < 20_000
    assert len(drawn(array)) == _show.PIECES


def test_many_ranks_make_a_small_picture():
    home = _show.read_home("1000x1000 on x=100, y=100: block(x), block(y)")
    assert _show.picture_of(home).count("<rect") == _show.PIECES**2


def test_what_only_the_core_knows_is_not_drawn():
    for text in (
        "8 on x=2 team [3 1]: block(x)", "8x8 on x=2: boxes [0:4, 0:8] [4:8, 0:8]", "4 on x=2: block(x) of 9 from 1 by 2",
        "8 on x=2: indexed(x, [0 1 2 3] [4..8])",
    ):  # fmt: skip
        assert _show.picture_of(_show.read_home(text)) == ""
