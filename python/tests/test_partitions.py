"""Teams of ranks: who is in them, in which order, and in which groups they send."""

import itertools
import math

import numpy as np
import pytest
import spmd_cases as cases

import pantile as pt


def test_the_world():
    def world():
        P = pt.world()
        return P.rank, P.size, P.shape, P.index, P.active, P.members, P.dim, repr(P)

    assert pt.spmd(world, ranks=3) == [
        (rank, 3, (3,), rank, True, [0, 1, 2], 1, f"Partition([0, 1, 2], rank {rank})")
        for rank in range(3)
    ]


@pytest.mark.parametrize("ranks", [[3, 1], (3, 1), np.array([3, 1]), [np.int64(3), np.uint8(1)]])
def test_some_of_them_in_the_order_given(ranks):
    def some():
        P = pt.world().create_partition_inclusive(ranks)
        return P.rank, P.size, P.shape, P.index, P.active, P.members

    outside = (None, -1, (-1,), None, False, [3, 1])
    first, second = (0, 2, (2,), 0, True, [3, 1]), (1, 2, (2,), 1, True, [3, 1])
    assert pt.spmd(some, ranks=4) == [outside, second, outside, first]


def test_ranks_are_those_of_the_parent():
    def nested():
        P = pt.world().create_partition_inclusive([4, 2, 0]).create_partition_inclusive([2, 0])
        return P.members, P.rank

    assert pt.spmd(nested, ranks=5) == [([0, 4], {0: 0, 4: 1}.get(rank)) for rank in range(5)]


def test_unions_keep_the_order():
    def union():
        one = pt.world().create_partition_inclusive([4, 2, 0])
        other = pt.world().create_partition_inclusive([0, 5, 2, 1])
        return one.create_partition_union(other).members

    assert pt.spmd(union, ranks=6) == [[4, 2, 0, 5, 1]] * 6


def test_grids():
    def grid():
        P = cases.team(([1, 2, 3, 4], (2, 2)))
        assert P.shape == (2, 2) and P.dim == 2
        if not P.active:
            assert (P.rank, P.size, P.index) == (None, -1, None)
            assert repr(P) == "Partition([1, 2, 3, 4], shape 2x2, inactive)"
            with pytest.raises(pt.PantileError, match="not in the partition"):
                P.neighbor_ranks(0)
            with pytest.raises(pt.PantileError, match="not in the partition"):
                P.cartesian_index(0)
            return None
        assert P.index == P.cartesian_index(P.rank) == divmod(P.rank, 2)
        return [P.neighbor_ranks(rank) for rank in range(4)]

    expected = [
        [(None, 2), (None, 1)], [(None, 3), (0, None)], [(0, None), (None, 3)], [(1, None), (2, None)],
    ]  # fmt: skip
    assert pt.spmd(grid, ranks=5) == [None] + [expected] * 4


@pytest.mark.parametrize("shape", [(2, 3, 2), (4,), (1, 1), (3, 1, 2), (2, 2, 2, 2)])
def test_sub_grids(shape):
    count = math.prod(shape)

    def check():
        P = cases.team((range(count), shape))
        for keep in itertools.product([False, True], repeat=len(shape)):
            sub = P.create_cartesian_subtopology_partition(keep)
            axes = [axis for axis, kept in enumerate(keep) if kept]
            team = P.create_allreduction_partition(axes)
            if not P.active:
                assert not sub.active and not team.active and sub.members == []
                continue
            mine = [
                rank
                for rank in range(count)
                if all(
                    kept or one == two
                    for kept, one, two in zip(keep, np.unravel_index(rank, shape), P.index)
                )
            ]
            assert sub.members == team.members == mine
            assert sub.shape == tuple(shape[axis] for axis in axes)
            assert team.shape == tuple(
                workers if kept else 1 for kept, workers in zip(keep, shape)
            )
            assert sub.index == tuple(P.index[axis] for axis in axes)
        negative = P.create_allreduction_partition([-1])
        assert negative.members == P.create_allreduction_partition(len(shape) - 1).members

    pt.spmd(check, ranks=count + 1)


@pytest.mark.parametrize("number", range(len(cases.PAIRS)))
def test_groups(number):
    small, large, flags = cases.PAIRS[number]
    found = cases.groups(small, large, flags)

    def listed(root, members, union):
        return [root] + [rank for rank in union if rank in members and rank != root]

    def check():
        P_small, P_large, me = cases.team(small), cases.team(large), pt.rank()
        for kind in ("broadcast", "reduction"):
            if kind == "broadcast":
                union = P_small.create_partition_union(P_large).members
                one, many = P_small.create_broadcast_partition_to(P_large, *flags)
            else:
                union = P_large.create_partition_union(P_small).members
                many, one = P_large.create_reduction_partition_to(P_small, *flags[::-1])
            roots = [listed(*group, union) for group in found if group[0] == me]
            others = [listed(*group, union) for group in found if me in group[1]]
            assert one.members == (roots[0] if roots else [])
            assert many.members == (others[0] if others else [])
            assert (one == many) == (roots == others and bool(roots))
            assert not roots or one.rank == 0

    pt.spmd(check, ranks=cases.ranks_of(small, large) + 1)


def test_groups_that_are_known():
    def groups(x, y, **flags):
        P_x, P_y = cases.team(x), cases.team(y)
        send, receive = P_x.create_broadcast_partition_to(P_y, **flags)
        return send.members, receive.members

    found = pt.spmd(lambda: groups(([3, 2, 1], (1, 3, 1)), (range(12), (2, 3, 2))), ranks=12)
    assert found[3][0] == [3, 1, 0, 6, 7] == found[0][1]
    found = pt.spmd(
        lambda: groups((range(3), (1, 3)), (range(12), (3, 4)), transpose_src=True), ranks=12
    )
    assert [one[0] for one in found[:3]] == [[0, 1, 2, 3], [1, 4, 5, 6, 7], [2, 8, 9, 10, 11]]


@pytest.mark.parametrize("kind, one, two, flags, good", [
    ("broadcast", (1, 3), (3, 1), (False, False), False),
    ("broadcast", (1, 3), (3, 1), (True, False), True),
    ("broadcast", (1, 3), (3, 1), (False, True), True),
    ("broadcast", (1, 1, 3), (2, 2, 2), (False, False), False),
    ("broadcast", (1, 1, 3), (3, 3, 2), (False, False), False),
    ("broadcast", (2, 3), (6,), (False, False), False),
    ("broadcast", (3,), (1, 1), (False, False), False),
    ("reduction", (3,), (1, 3), (False, False), False),
    ("reduction", (3, 4), (4, 1), (False, False), False),
    ("reduction", (1, 4), (3, 4), (False, False), False),
])  # fmt: skip
def test_shapes_that_match(kind, one, two, flags, good):
    def made():
        P, Q = (cases.team((range(math.prod(shape)), shape)) for shape in (one, two))
        create = getattr(P, f"create_{kind}_partition_to")
        if good:
            create(Q, *flags)
            return
        with pytest.raises(ValueError, match="expected no more axes and"):
            create(Q, *flags)

    pt.spmd(made, ranks=18)


@pytest.mark.parametrize("keep", [True, "ab", [0.5, 1], [[True], [False]], None], ids=str)
def test_axes_to_keep_are_truth_values(keep):
    def made():
        grid = pt.world().create_cartesian_topology_partition((2, 2))
        with pytest.raises(TypeError, match="expected a truth value for each axis"):
            grid.create_cartesian_subtopology_partition(keep)
        assert grid.create_cartesian_subtopology_partition(np.array([0, 1])).shape == (2,)

    pt.spmd(made, ranks=4)


def test_a_team_without_a_shape_is_a_line():
    def moved():
        everyone, one = pt.world(), pt.world().create_partition_inclusive([1])
        send, receive = one.create_broadcast_partition_to(everyone)
        assert receive.members == [1, 0, 2] and send.members == ([1, 0, 2] if one.active else [])
        send, receive = everyone.create_reduction_partition_to(one)
        assert send.members == [1, 0, 2]
        copies = pt.Broadcast(one, everyone).forward(np.array([7.0]) if one.active else None)
        return float(pt.SumReduce(everyone, one).forward(copies).sum())

    assert pt.spmd(moved, ranks=3) == [0, 21, 0]


def test_equality():
    def equal():
        world = pt.world()
        one, same = (world.create_partition_inclusive([2, 1]) for _ in range(2))
        assert one == same and hash(one) == hash(same) and len({one, same, world}) == 2
        assert one != world.create_partition_inclusive([1, 2])
        row, column = (one.create_cartesian_topology_partition(shape) for shape in ((1, 2), (2, 1)))
        assert row != column and row != one
        assert row == one.create_cartesian_topology_partition([1, 2])
        assert pt.Partition() != pt.Partition() and one != pt.Partition() and one != "one"
        assert world == pt.world()
        return one

    one, other, _ = pt.spmd(equal, ranks=3)
    assert one != other and hash(one) == hash(other)


def test_the_null_partition():
    null = pt.Partition()
    assert (null.active, null.rank, null.size, null.shape, null.index) == (False, None, -1, (-1,), None)
    assert null.members == [] and repr(null) == "Partition()"
    assert null.create_cartesian_subtopology_partition([True]).members == []
    with pytest.raises(ValueError, match="null"):
        null.create_partition_inclusive([0])
    with pytest.raises(ValueError):
        null.create_partition_union(null)
    assert null.allgather_data([1]) is None


@pytest.mark.parametrize("words, body", [
    ("rank 4", lambda P: P.create_partition_inclusive([4])),
    ("below 0", lambda P: P.create_partition_inclusive([-1])),
    ("more than once", lambda P: P.create_partition_inclusive([1, 1])),
    ("no ranks", lambda P: P.create_partition_inclusive([])),
    ("product 4", lambda P: P.create_cartesian_topology_partition([3])),
    ("product 4", lambda P: P.create_cartesian_topology_partition([5])),
    ("product 4", lambda P: P.create_cartesian_topology_partition([2, 0])),
    ("2 axes|axes", lambda P: P.create_cartesian_topology_partition([2, 2])
        .create_cartesian_subtopology_partition([True])),
    ("axis 2", lambda P: P.create_cartesian_topology_partition([2, 2]).create_allreduction_partition(2)),
    ("rank 9", lambda P: P.cartesian_index(9)),
    ("rank 4", lambda P: P.neighbor_ranks(4)),
    ("root 4", lambda P: P.broadcast_data(1, root=4)),
    ("root 1", lambda P: P.broadcast_data(1, 1, P.create_partition_inclusive([2]))),
])  # fmt: skip
def test_mistakes(words, body):
    def program():
        with pytest.raises(ValueError, match=words):
            body(pt.world())

    pt.spmd(program, ranks=4)


def test_partitions_of_different_programs():
    (old,) = pt.spmd(pt.world, ranks=1)

    def mixed():
        with pytest.raises(ValueError, match="different root"):
            pt.world().create_partition_union(old)
        with pytest.raises(ValueError, match="different root"):
            pt.Broadcast(pt.world(), old)

    pt.spmd(mixed, ranks=1)
    with pytest.raises(pt.PantileError, match="has ended"):
        old.allgather_data(1)


# ---- plain data


@pytest.mark.parametrize("dtype", [
    "bool", "u1", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "c8", "c16", ">f8",
])  # fmt: skip
def test_data_of_one_rank(dtype):
    data = np.arange(6).reshape(2, 3).astype(dtype)

    def told():
        P = pt.world()
        got = P.broadcast_data(data if P.rank == 3 else None, root=3)
        assert got.dtype == data.dtype.newbyteorder("=") and got.flags.writeable
        np.testing.assert_array_equal(got, data)

    pt.spmd(told, ranks=5)


def test_data_of_a_rank_of_a_part():
    def told():
        part = pt.world().create_partition_inclusive([7, 5])
        got = pt.world().broadcast_data([1.5, 2.5] if pt.rank() == 5 else None, 1, part)
        assert got.tolist() == [1.5, 2.5]
        inner = part.broadcast_data(7.0, P_data=part)
        assert (inner is None) == (not part.active)
        return None if inner is None else (inner.shape, inner.tolist())

    found = pt.spmd(told, ranks=12)
    assert found[5] == found[7] == ((1,), [7.0]) and found[0] is None


def test_data_of_all():
    def told():
        P = pt.world().create_partition_inclusive([2, 0])
        rows = P.allgather_data([P.rank, 10])
        empty = P.allgather_data(np.empty(0, np.int8))
        return None if rows is None else (rows.tolist(), rows.dtype, empty.shape)

    found = pt.spmd(told, ranks=3)
    assert found[0] == found[2] == ([[0, 10], [1, 10]], np.int64, (2, 0)) and found[1] is None


def test_data_that_cannot_be():
    def program():
        P = pt.world()
        with pytest.raises(TypeError, match="rank 1 got data of type object"):
            P.broadcast_data([None, {}], root=1)
        with pytest.raises(TypeError, match="rank 0 got None"):
            P.broadcast_data(None)
        with pytest.raises(ValueError, match="rank 2 has"):
            P.allgather_data([1] * (1 + (P.rank == 2)))
        with pytest.raises(ValueError, match="float64"):
            P.allgather_data([1.0] if P.rank == 2 else [1])
        return int(P.allgather_data(1).sum())

    assert pt.spmd(program, ranks=3) == [3] * 3
