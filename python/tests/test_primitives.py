"""Movements between partitions: values, adjoints, types and mistakes."""

import math

import numpy as np
import pytest
import spmd_cases as cases

import pantile as pt

DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32",
    "float64", "complex64", "complex128",
]  # fmt: skip
NUMBERS = range(len(cases.PAIRS))


@pytest.mark.parametrize("kind", ["broadcast", "sum"])
@pytest.mark.parametrize("number", NUMBERS)
def test_whole_tensors(number, kind):
    ranks = cases.ranks_of(*cases.PAIRS[number][:2])
    for preserve in (True, False):
        pt.spmd(lambda: cases.whole(number, kind, np.float64, preserve), ranks=ranks)
    # More ranks than take part.
    pt.spmd(lambda: cases.whole(number, kind, np.float32, True), ranks=ranks + 2)


@pytest.mark.parametrize("dtype", [one for one in DTYPES if one != "bool"])
def test_whole_tensors_of_every_type(dtype):
    for kind in ("broadcast", "sum"):
        pt.spmd(lambda: cases.whole(0, kind, np.dtype(dtype), True), ranks=12)  # noqa: B023


@pytest.mark.parametrize("axes", [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)])
def test_all_sums(axes):
    pt.spmd(lambda: cases.all_sum((2, 2, 3), (3, 4), axes), ranks=12)


def test_all_sums_of_a_line():
    pt.spmd(lambda: cases.all_sum((12,), (30, 344), (0,)), ranks=13)


def test_all_sums_that_are_known():
    def sums(**axes):
        P_x = pt.world().create_cartesian_topology_partition((2, 3))
        return float(pt.AllSumReduce(P_x, **axes).forward(np.array([P_x.rank + 1.0]))[0])

    assert pt.spmd(lambda: sums(axes_reduce=1), ranks=6) == [6.0] * 3 + [15.0] * 3
    assert pt.spmd(lambda: sums(axes_reduce=[-1]), ranks=6) == [6.0] * 3 + [15.0] * 3
    assert pt.spmd(lambda: sums(axes_reduce=(0,)), ranks=6) == [5.0, 7.0, 9.0] * 2
    assert pt.spmd(lambda: sums(axes_keep=()), ranks=6) == [21.0] * 6
    assert pt.spmd(lambda: sums(axes_reduce=np.array([], int)), ranks=6) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("balanced", [True, False])
@pytest.mark.parametrize("number", range(len(cases.REPARTITIONS)))
def test_blocks(number, balanced):
    ranks = cases.ranks_of(*cases.REPARTITIONS[number])
    for dtype in (np.float32, np.int32):
        pt.spmd(lambda: cases.blocks(number, dtype, balanced), ranks=ranks)  # noqa: B023


@pytest.mark.parametrize("dtype", DTYPES)
def test_blocks_of_every_type(dtype):
    pt.spmd(lambda: cases.blocks(0, np.dtype(dtype), False), ranks=12)


def test_more_ranks_than_cells():
    """Five rows on twelve ranks: seven of them get nothing."""

    def spread():
        P_x = cases.team(([0], (1, 1)))
        P_y = cases.team((range(12), (12, 1)))
        x = np.arange(15.0).reshape(5, 3)
        y = pt.Repartition(P_x, P_y).forward(x if P_x.active else None)
        return y.shape

    assert pt.spmd(spread, ranks=12) == [(1, 3)] * 5 + [(0, 3)] * 7


def test_blocks_that_are_known():
    def moved():
        P_x, P_y = cases.team((range(4), (4, 1))), cases.team((range(4), (2, 2)))
        movement = pt.Repartition(P_x, P_y)
        y = movement.forward(np.full((2 - (P_x.rank == 3), 5), P_x.rank + 1))
        return y.tolist(), movement.adjoint(np.full(y.shape, P_y.rank + 1)).tolist()

    found = pt.spmd(moved, ranks=4)
    assert found[0][0] == [[1] * 3] * 2 + [[2] * 3] * 2 and found[3][0] == [[3] * 2] * 2 + [[4] * 2]
    assert [one[1] for one in found] == [
        [[1, 1, 1, 2, 2]] * 2, [[1, 1, 1, 2, 2]] * 2, [[3, 3, 3, 4, 4]] * 2, [[3, 3, 3, 4, 4]],
    ]  # fmt: skip


@pytest.mark.parametrize("shape, axes", [
    ((4,), (0,)), ((2, 3), (0,)), ((2, 3), (1,)), ((2, 3), (0, 1)), ((2, 3, 2), (0, 2)), ((7,), (0,)),
])  # fmt: skip
def test_gathering_and_scattering(shape, axes):
    for dtype in (np.float64, np.int16):
        for length in (11, 3):
            pt.spmd(lambda: cases.together(shape, axes, dtype, length), ranks=math.prod(shape) + 1)  # noqa: B023


def test_a_worker_may_get_another_block_than_it_gives():
    def moved():
        P_x, P_y = cases.team(([0, 1], (2, 1))), cases.team((range(6), (2, 3)))
        x = np.full((3 - P_x.rank, 2), P_x.rank + 1) if P_x.active else np.empty(0)
        movement = pt.Broadcast(P_x, P_y)
        y = movement.forward(x)
        dx = movement.adjoint(np.full(y.shape, P_y.rank + 1))
        return y.shape, y.max(), dx.max(initial=0)

    found = pt.spmd(moved, ranks=6)
    assert found == [
        ((3, 2), 1, 6), ((3, 2), 1, 15), ((3, 2), 1, 0), ((2, 2), 2, 0), ((2, 2), 2, 0), ((2, 2), 2, 0),
    ]  # fmt: skip


def test_one_movement_for_changing_tensors():
    """Batches, types and what ranks without data give may change from call to call."""

    def reused():
        P_x, P_y = cases.team(([0], (1,))), cases.team((range(4), (4,)))
        movement, got = pt.Broadcast(P_x, P_y), []
        for batch, dtype, other in [
            (4, "f4", np.empty((1, 0))), (3, "f4", np.empty(0)), (4, "f8", None), (0, "i4", np.empty(0)),
        ]:  # fmt: skip
            y = movement.forward(np.ones((batch, 2), dtype) if P_x.active else other)
            got.append((y.shape, y.dtype.str[1:]))
        return got

    assert pt.spmd(reused, ranks=4) == [[((4, 2), "f4"), ((3, 2), "f4"), ((4, 2), "f8"), ((0, 2), "i4")]] * 4


def test_arrays_of_any_memory():
    """Order, strides, bytes, protection: the elements count."""
    base = np.arange(24.0).reshape(2, 3, 4)
    locked = base.copy()
    locked.flags.writeable = False
    kinds = [
        base, np.asfortranarray(base), base[:, ::2, ::-1], base.transpose(2, 0, 1), locked,
        base.astype(">f8"), base.astype("<i4"), np.array(3.5), base[:0], np.array([True, False]),
        base.tolist(), np.broadcast_to(base[0, 0], (5, 4)), base.astype(">c16"),
    ]  # fmt: skip

    def copied():
        P_x, P_y = cases.team(([1], (1,))), cases.team((range(3), (3,)))
        movement = pt.Broadcast(P_x, P_y)
        return [movement.forward(one if P_x.active else None) for one in kinds]

    for found in pt.spmd(copied, ranks=3):
        for got, given in zip(found, kinds):
            given = np.asarray(given)
            np.testing.assert_array_equal(got, given)
            assert got.dtype == given.dtype.newbyteorder("=") and got.dtype.isnative
            assert got.flags.c_contiguous and got.flags.writeable


def refused(kind, words, body, ranks=4):
    """Every rank gets the error, and the world goes on."""

    def program():
        with pytest.raises(kind, match=words):
            body()
        return pt.world().allgather_data(1).sum()

    assert pt.spmd(program, ranks=ranks) == [ranks] * ranks


def line(ranks=range(4)):
    return cases.team((list(ranks), (len(list(ranks)),)))


def by_rank(*values):
    return values[pt.rank()]


def test_mistakes_are_errors_on_every_rank():
    one = np.ones(3)
    half = one.astype(np.float16)
    refused(TypeError, "rank 1: .*float16", lambda: pt.AllSumReduce(line(), 0).forward(
        by_rank(one, half, one, one)))  # fmt: skip
    refused(TypeError, "rank 2: .*object", lambda: pt.Broadcast(cases.team(([2], (1,))), line()).forward(
        np.array([None])))  # fmt: skip
    refused(ValueError, "rank 3: got None", lambda: pt.AllSumReduce(line(), 0).forward(
        by_rank(one, one, one, None)))  # fmt: skip
    refused(ValueError, "rank 1 of float32", lambda: pt.AllSumReduce(line(), 0).forward(
        by_rank(one, one.astype("f4"), one, one)))  # fmt: skip
    refused(ValueError, r"rank 2 has \[4\]", lambda: pt.AllSumReduce(line(), 0).forward(
        by_rank(one, one, np.ones(4), one)))  # fmt: skip
    refused(ValueError, "one of them", lambda: pt.AllSumReduce(line(), 0, 1))
    refused(ValueError, "axes_reduce or axes_keep", lambda: pt.AllSumReduce(line()))
    refused(ValueError, "axis 1", lambda: pt.AllSumReduce(line(), (1,)))
    refused(ValueError, "more than once", lambda: pt.AllSumReduce(line(), (0, -1)))
    refused(TypeError, "whole numbers", lambda: pt.AllSumReduce(line(), 0.5))
    refused(TypeError, "Partition", lambda: pt.Broadcast(line(), [1, 2]))
    refused(ValueError, "null", lambda: pt.Repartition(line(), pt.Partition()))


@pytest.mark.parametrize("before, after, shape", [
    ((1, 4, 1, 1), (1, 4), (3, 4, 5, 6)), ((4, 1, 1), (1, 1, 1, 4), (5, 6, 7)),
    ((1, 1, 4, 1), (4, 1, 1, 1), (5, 6, 7)), ((4, 1), (1, 4), (8, 1)), ((4, 1), (2, 2), (7,)),
])  # fmt: skip
def test_repartitions_that_cannot_be(before, after, shape):
    def moved():
        P_x, P_y = cases.team((range(4), before)), cases.team((range(4), after))
        pt.Repartition(P_x, P_y).forward(np.ones(shape))

    refused(ValueError, "axes|axis", moved)


def test_blocks_that_are_no_grid():
    def moved():
        P_x = cases.team((range(4), (2, 2)))
        pt.Repartition(P_x, P_x).forward(np.ones((2, 2 + (P_x.rank == 3))))

    refused(ValueError, "rank 3 has a tensor", moved)


@pytest.mark.parametrize("small, large, words", [
    ((1, 3), (3, 1), "equal extents"), ((1, 1, 3), (2, 2, 2), "equal extents"), ((2, 3), (6,), "axes"),
])  # fmt: skip
def test_shapes_that_do_not_match(small, large, words):
    def made():
        pt.Broadcast(
            cases.team((range(math.prod(small)), small)), cases.team((range(math.prod(large)), large))
        )

    refused(ValueError, words, made, ranks=8)


def test_a_rank_that_is_elsewhere_is_named():
    def differ():
        P_x = line()
        if P_x.rank == 2:
            return pt.AllGather(P_x).forward(np.ones(1))
        return pt.AllSumReduce(P_x, 0).forward(np.ones(1))

    with pytest.raises(pt.PantileError, match=r"AllSumReduce.forward .*test_primitives.py:\d+"):
        pt.spmd(differ, ranks=4)


def test_partitions_that_a_rank_is_not_in():
    """Sums in a row of a grid: on ranks outside of the grid the partition is null."""

    def sums():
        grid = cases.team((range(4), (2, 2)))
        row = grid.create_cartesian_subtopology_partition([False, True])
        return pt.AllSumReduce(row, 0).forward(np.array([pt.rank()])).tolist()

    assert pt.spmd(sums, ranks=5) == [[1], [1], [5], [5], [4]]


def test_truth_values_add_as_in_numpy():
    def sums():
        return pt.AllSumReduce(line(), 0).forward(np.array([pt.rank() > 1, False])).tolist()

    assert pt.spmd(sums, ranks=4) == [[True, False]] * 4
