"""Where arrays live."""

import numpy as np
import pytest

import pantile as pt
from conftest import same


def test_what_dist_accepts():
    n = pt.ranks()
    given = np.arange(48.0).reshape(6, 8)
    for dist, text in [
        (0, f"r={n}: block(r), whole"),
        (-1, f"r={n}: whole, block(r)"),
        (None, f"r={n}: whole, whole"),
        (("r", None), f"r={n}: block(r), whole"),
        ((None, ("r",)), f"r={n}: whole, block(r)"),
        ("cn", f"a0={min(n, 6)}: cyclic(a0, 1), whole"),
        ("block(r), whole", f"r={n}: block(r), whole"),
        (pt.Distribution(f"6x8 on r={n}: cyclic(r, 2), whole"), f"r={n}: cyclic(r, 2), whole"),
    ]:
        array = pt.asarray(given, dist=dist)
        same(array, given)
        if n > 1:
            assert str(array.dist) == f"6x8 on {text}"
        same(pt.zeros((6, 8), dist=dist) + array, given)
        same(pt.asarray(given).redistribute(dist), given)
    same(pt.asarray(given, dist="bc"), given)
    same(pt.asarray(given, dist=("x", "y"), mesh=pt.Mesh(x=1, y=n)), given)
    same(pt.asarray(given, dist=(("y", "x"), None), mesh=pt.Mesh(x=1, y=n)), given)


def test_wrong_dist():
    for dist, words in [(2, "axis 2"), ("b", "letters"), (("q", None), "q"), ((None,), "1 entries"),
                        (pt.Distribution("3 on r=1: whole"), "shape"), (1.5, "expected")]:  # fmt: skip
        with pytest.raises((ValueError, TypeError), match=words):
            pt.zeros((6, 8), dist=dist)


def test_distributions_know_themselves():
    dist = pt.Distribution("8x6 on x=2, y=3: block(x), cyclic(y, 2)")
    assert dist.shape == (8, 6) and dist.mesh == pt.Mesh(x=2, y=3)
    assert dist.axes == ("block(x)", "cyclic(y, 2)") and dist.cut == (("x",), ("y",))


def test_sections_are_the_array():
    given = np.arange(30.0).reshape(5, 6)
    for dist in (0, 1, "cn", "bc", None):
        array = pt.asarray(given, dist=dist) * 1.0
        assert [one.rank for one in array.sections] == pt.hosted_ranks()
        for section in array.sections:
            index = [np.arange(n)[one] for n, one in zip(given.shape, section.index)]
            np.testing.assert_array_equal(section.owned, given[np.ix_(*index)])
            assert not section.data.flags.writeable and not section.data.flags.owndata
        with pytest.raises(ValueError, match="hosted"):
            array.section(pt.ranks())


def test_gather():
    given = np.arange(10)
    array = pt.asarray(given, dist=0)
    np.testing.assert_array_equal(array.gather(), given)
    here = array.gather(root=0)
    assert (here is not None) == (0 in pt.hosted_ranks())


def test_explain_says_what_moves():
    a = pt.zeros((64, 64), dist=0)
    assert "redistribute" in a.redistribute(1).explain() or pt.ranks() == 1


def test_a_second_distribution_moves_once():
    a = pt.asarray(np.arange(60.0).reshape(6, 10), dist=0)
    turned = a.redistribute(1)
    pt.compute(a, turned)
    with pt.comm_stats() as stats:
        again = a.redistribute(1)
        again.compute()
    # Processes need not keep the same arrays, so they move it again together.
    assert stats.bytes == 0 or len(pt.hosted_ranks()) < pt.ranks()
    a[0, 0] = -1
    assert float(a.redistribute(1)[0, 0]) == -1 and float(turned[0, 0]) == 0 and float(again[0, 0]) == 0
    again[0, 0] = 5
    assert float(turned[0, 0]) == 0 and float(a[0, 0]) == -1
