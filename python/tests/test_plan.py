"""Plans against loops over every element."""

import copy
import itertools
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

import pantile as pt


def who(dist, ranks):
    """Every rank's own indices, and all that it holds, as lists."""
    found = []
    for rank in range(ranks):
        own, held = dist.owned(rank), dist.held(rank)
        if own is None:
            found.append(([], []))
            continue
        lists = [
            [np.arange(n)[one].tolist() for n, one in zip(dist.shape, side)] for side in (own, held)
        ]
        found.append(tuple(list(itertools.product(*side)) for side in lists))
    return found


def counted(source, target, halo):
    """The matrix by loops: a rank takes what it has itself, and else asks the owner."""
    rows, columns = max(source.mesh.team) + 1, max(target.mesh.team) + 1
    before, after = who(source, max(rows, columns)), who(target, columns)
    matrix = np.zeros((rows, columns), int)
    for rank in range(columns):
        here = set(before[rank][1])
        for index in after[rank][1 if halo else 0]:
            matrix[rank if index in here else source.owner(index), rank] += 1
    return matrix


SIDES = [
    "7x6 on r=4: block(r), whole",
    "7x6 on r=4: whole, block(r)",
    "7x6 on x=2, y=2: block(x), block(y)",
    "7x6 on x=2, y=2: block(x) halo 1, block(y) halo 1 2",
    "7x6 on x=2, y=2: block(x) periodic halo 1, block(y)",
    "7x6 on x=1, y=3: block(x) periodic halo 2, block(y)",
    "7x6 on x=2, y=2: cyclic(x, 2), cyclic(y, 1)",
    "7x6 on r=3: block(r, ceil), whole",
    "7x6 on r=2: indexed(r, [5 0 3] [1 2 4 6]), whole",
    "7x6 on r=2 team [3 1]: block(r), whole",
    "7x6 on rank 2: whole, whole",
    "7x6 on r=4: whole, whole",
    "7x6 on x=2, y=2: block(x), whole",
]


@pytest.mark.parametrize("source", SIDES)
def test_matrices(source):
    for target in SIDES:
        one, other = pt.Distribution(source), pt.Distribution(target)
        plan = pt.plan(one, other)
        for halo in (False, True):
            matrix = plan.matrix(halo=halo)
            assert matrix.dtype.kind == "i"
            # Of several ranks that have copies any may be asked.
            expected = counted(one, other, halo)
            assert matrix.shape == expected.shape
            np.testing.assert_array_equal(matrix.sum(0), expected.sum(0), err_msg=f"{target} {halo}")
            several = one.holders((3, 3)) != [one.owner((3, 3))] or "halo" in source
            if not several:
                np.testing.assert_array_equal(matrix, expected, err_msg=f"{target} {halo}")
        every = plan.matrix(halo=True)
        assert plan.moved + plan.kept == every.sum() and plan.bytes(8) == 8 * plan.moved
        assert plan.bytes(np.float32) == 4 * plan.moved
        pairs = {(t.source, t.target) for t in plan.transfers if t.travels}
        assert plan.messages == len(pairs)
        check_transfers(plan, every)
        check_adjoint(plan, every)


def check_transfers(plan, every):
    found = np.zeros_like(every)
    after = who(plan.target, every.shape[1])
    arrived = [[] for _ in after]
    for one in plan.transfers:
        shape = plan.source.shape
        cells = list(itertools.product(*(np.arange(n)[i].tolist() for n, i in zip(shape, one.index))))
        assert len(cells) == one.elements
        found[one.source, one.target] += one.elements
        arrived[one.target] += cells
        assert one.travels == (one.source != one.target)
    np.testing.assert_array_equal(found, every)
    assert [sorted(one) for one in arrived] == [sorted(held) for _, held in after]


def check_adjoint(plan, every):
    back = plan.adjoint()
    np.testing.assert_array_equal(back.matrix(halo=True), every.T)
    assert back.messages == plan.messages and back.adjoint() == plan
    assert back == pt.plan(plan.target.dual(), plan.source.dual())


def test_sums():
    terms = pt.Distribution(8, pt.Mesh(r=4), [pt.Whole()], terms={"r": "sum"})
    plan = pt.plan(terms, "8 on r=4: block(r)")
    assert plan.matrix().tolist() == [[2] * 4] * 4
    exchange = pt.plan("8 on r=4: block(r)", "8 on r=4: block(r) halo 1")
    assert exchange.matrix().tolist() == np.diag([2] * 4).tolist()
    assert exchange.matrix(halo=True).sum() == 14 and exchange.moved == 6 and exchange.messages == 6
    assert exchange.adjoint().target.text.startswith("8 on r=4: block(r)")


def test_letters_become_blocks():
    source = pt.Distribution.from_letters((10, 6), "bc", grid=(2, 3))
    target = pt.Distribution((10, 6), pt.Mesh((3, 2), axes=("x", "y")), [pt.Block("x"), pt.Block("y")])
    np.testing.assert_array_equal(pt.plan(source, target).matrix(), counted(source, target, False))


def test_estimates_are_those_of_the_command(tmp_path):
    ends = "64x64 on r=4: block(r), whole", "64x64 on r=4: whole, block(r)"
    command = [sys.executable, "-m", "pantile._command", "plan", *ends, "--json", "--element-bytes", "4"]
    said = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    cost = pt.plan(*ends).estimate(4)
    assert cost == cost.seconds == pytest.approx(said["cost"]["seconds"])
    assert cost.messages == said["messages"] == 12 and cost.bytes == 4 * said["moved"]
    assert sum(count for _, count in cost.links.values()) == cost.messages and cost > 0
    assert pt.plan(*ends).estimate(4, ranks_per_process=4) < cost
    assert "messages" in repr(cost)


def test_pictures(tmp_path):
    plan = pt.plan("8x8 on r=4: block(r), whole", "8x8 on r=4: whole, block(r)")
    picture = plan.draw()
    assert picture._repr_svg_().startswith("<svg") and "rank 0 to rank 1" in picture.svg
    picture.save(tmp_path / "plan.svg")
    assert (tmp_path / "plan.svg").read_text() == str(picture)
    assert plan.draw(matrix=True).svg != picture.svg
    assert "<svg" in plan._repr_html_() and "48 elements travel" in plan._repr_html_()
    assert "48 elements move in 12 messages, 16 stay" in repr(plan)
    with pytest.raises(ValueError, match="svg"):
        picture.save(tmp_path / "plan.png")


def test_very_many_ranks():
    plan = pt.plan("400000 on r=120000: block(r)", "400000 on r=120000: block(r) halo 1")
    assert plan.messages == 239_998 == plan.moved and plan.estimate() > 0
    for work in (plan.matrix, plan.draw, lambda: plan.transfers):
        with pytest.raises(ValueError, match="239998 messages"):
            work()
    assert "239998" in plan._repr_html_()


def test_arrays_stand_for_where_they_live():
    a = pt.zeros((8, 6), dist=0)
    assert pt.plan(a, a.redistribute(1)).source == a.dist


@pytest.mark.parametrize("ends, words", [
    (("8 on r=2: block(r)", "9 on r=2: block(r)"), "shape"),
    (("8 on r=2: block(r", "8 on r=2: block(r)"), "source"),
    (("8 on r=2: block(r)", "8"), "target"),
    ((3, "8 on r=2: block(r)"), "source: got int"),
    (("8 on r=2: whole; sum(r)", "8 on r=2: whole; max(r)"), "max"),
])  # fmt: skip
def test_wrong_plans(ends, words):
    with pytest.raises((ValueError, TypeError), match=words):
        pt.plan(*ends)


def test_other_mistakes():
    plan = pt.plan("8 on r=2: block(r)", "8 on r=2: whole")
    with pytest.raises(ValueError, match="0 bytes"):
        plan.bytes(0)
    with pytest.raises(ValueError, match="whole processes"):
        plan.estimate(ranks_per_process=3)
    with pytest.raises(TypeError, match="pt.plan"):
        pt.Plan()
    with pytest.raises(ValueError, match="dual"):
        pt.plan("8 on r=2: whole; max(r)", "8 on r=2: whole").adjoint()


def test_sizes_of_elements_that_cannot_be():
    plan = pt.plan("8 on r=2: block(r)", "8 on r=2: whole")
    for wrong in (None, 1.5, "no type", [8]):
        for work in (plan.bytes, plan.estimate):
            with pytest.raises(TypeError, match="expected a number of bytes, or a dtype"):
                work(wrong)
    assert plan.bytes("f4") == plan.bytes(np.int64(4)) == plan.bytes(pt.int32) == 4 * plan.moved


def test_plans_can_be_copied_and_sent():
    plan = pt.plan("8 on r=4: block(r)", "8 on r=4: block(r) halo 1")
    for one in (plan, plan.adjoint()):
        assert pickle.loads(pickle.dumps(one)) == copy.deepcopy(one) == one
