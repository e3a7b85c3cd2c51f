"""Halos of layers, and their exchange."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
import spmd_cases as cases

import pantile as pt
from conftest import seeds

VECTORS = json.loads(Path(__file__).with_name("data").joinpath("halos.json").read_text())


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_rows_that_are_known(vector):
    kernel, stride, padding, dilation = vector["window"]
    found = pt.halos(
        vector["n"], vector["ranks"], kernel, stride=stride, padding=padding, dilation=dilation,
        extents=vector["extents"], layer=vector["layer"],
    )  # fmt: skip
    rows = [
        [list(one) for one in (row.x, row.y, row.signed, row.recv, row.send, row.needed, row.pad)]
        for row in found
    ]
    assert rows == vector["rows"]


#: Interpolation of 17 cells on 5 ranks: outputs, first and last input, and the rows.
INTERPOLATIONS = [
    (34, lambda j: (max(0, (j + 0.5) / 2 - 0.5), 1),
     "0 4 3 8 6 11 10 15 13 17", "00 10 20 11 10", "01 02 01 01 10", "04 05 05 05 04"),
    (34, lambda j: (j * 17 / 34, 0),
     "0 4 3 7 7 11 10 14 14 17", "00 10 10 10 00", "01 01 01 00 00", "04 04 04 04 03"),
    (25, lambda j: (max(0, (j + 0.5) / 1.5 - 0.5), 1),
     "0 4 3 7 6 11 9 14 13 17", "00 10 20 20 10", "01 02 02 01 00", "04 04 05 05 04"),
    (24, lambda j: (max(0, 17 / 24 * (j + 0.5) - 0.5), 1),
     "0 4 3 8 6 11 10 15 14 17", "00 10 20 11 00", "01 02 01 00 10", "04 05 05 05 03"),
    (24, lambda j: (j * 16 / 23 + 1e-12, 1),
     "0 4 3 8 6 11 10 15 13 17", "00 10 20 11 10", "01 02 01 01 10", "04 05 05 05 04"),
    (17, lambda j: (j, 1),
     "0 5 4 9 8 12 11 15 14 17", "01 01 01 01 00", "00 10 10 10 10", "05 05 04 04 03"),
]  # fmt: skip


@pytest.mark.parametrize("outputs, place, cells, recv, send, needed", INTERPOLATIONS)
def test_any_layer_that_says_what_it_looks_at(outputs, place, cells, recv, send, needed):
    def index_range(output):
        position, more = place(output)
        return math.floor(position), math.floor(position) + more

    rows = pt.halos(17, 5, index_range=index_range, outputs=outputs)
    pairs = lambda text: [(int(one[0]), int(one[1])) for one in text.split()]  # noqa: E731
    assert [row.recv for row in rows] == pairs(recv)
    assert [row.send for row in rows] == pairs(send)
    assert [row.needed for row in rows] == pairs(needed)
    numbers = [int(one) for one in cells.split()]
    assert [row.cells for row in rows] == list(zip(numbers[::2], numbers[1::2]))


def test_outputs_that_nobody_counted():
    def ranges(n):
        return pt.halos(n, 3, index_range=lambda i: (2 * i, 2 * i + 2))

    for n in range(3, 40):
        assert ranges(n) == pt.halos(n, 3, 3, 2)
    table = [(0, 1), (1, 3), (3, 3), (3, 4)]
    assert pt.halos(5, 2, index_range=table.__getitem__)[1].y == (2, 4)
    with pytest.raises(ValueError, match="outputs="):
        pt.halos(5, 2, index_range=lambda i: (0, 0))


def brute(extents, outputs, looks):
    """The table, found by looking at every output."""
    n, rows = sum(extents), []
    y = cases.cut(outputs, len(extents))
    for worker, own in enumerate(extents):
        start, first = sum(extents[:worker]), sum(y[:worker])
        mine = range(first, first + y[worker])
        seen = [cell for output in mine for cell in looks(output) if 0 <= cell < n]
        rows.append((start, start + own, first, first + y[worker], seen))
    return rows


@pytest.mark.parametrize("seed", seeds(200))
def test_rows_are_what_the_outputs_look_at(seed):
    rng = np.random.default_rng(seed)
    workers = int(rng.integers(1, 6))
    kernel, stride, dilation = (int(one) for one in rng.integers(1, 4, 3))
    padding = int(rng.integers(0, dilation * (kernel - 1) // 2 + 1))
    n = int(rng.integers(dilation * (kernel - 1) + workers * stride, 30))
    cuts = np.sort(rng.integers(0, n + 1, workers - 1)).tolist()
    extents = None if seed % 2 else np.diff([0, *cuts, n]).tolist()
    rows = pt.halos(n, workers, kernel, stride, padding, dilation, extents)
    as_range = pt.halos(
        n, workers, kernel, stride, padding, dilation, extents,
        lambda i: (stride * i - padding, stride * i - padding + dilation * (kernel - 1)),
    )  # fmt: skip
    assert rows == as_range
    outputs = (n + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
    expected = brute(
        extents or cases.cut(n, workers), outputs,
        lambda i: range(stride * i - padding, stride * i - padding + dilation * (kernel - 1) + 1),
    )  # fmt: skip
    for place, (row, (start, stop, first, last, seen)) in enumerate(zip(rows, expected)):
        assert (row.x, row.y) == ((start, stop), (first, last))
        if seen:
            assert row.signed == (start - min(seen), max(seen) + 1 - stop)
            assert row.cells == (min(seen), max(seen) + 1)
            low = start - row.recv[0]
            assert (low + row.needed[0], low + row.needed[1]) == (min(seen), max(seen) + 1)
        assert row.recv == tuple(max(0, one) for one in row.signed)
        left = rows[place - 1].recv[1] if place else 0
        right = rows[place + 1].recv[0] if place + 1 < workers else 0
        assert row.send == (left, right)


@pytest.mark.parametrize("seed", seeds(60))
def test_layers_that_look_anywhere(seed):
    """Outputs may look back and forth: a layer that turns its input around, or one of random ranges."""
    rng = np.random.default_rng(seed)
    n, workers, outputs = int(rng.integers(1, 20)), int(rng.integers(1, 6)), int(rng.integers(1, 20))
    looks = np.sort(rng.integers(0, n, (outputs, 2)), axis=1).tolist()
    if seed % 2:
        outputs, looks = n, [(n - 1 - i, n - 1 - i) for i in range(n)]
    rows = pt.halos(n, workers, index_range=looks.__getitem__, outputs=outputs)
    expected = brute(cases.cut(n, workers), outputs, lambda i: range(looks[i][0], looks[i][1] + 1))
    for row, (start, stop, first, last, seen) in zip(rows, expected):
        assert (row.x, row.y) == ((start, stop), (first, last))
        if seen:
            assert row.signed == (start - min(seen), max(seen) + 1 - stop)
            assert row.cells == (min(seen), max(seen) + 1)


def test_long_layers_go_up():
    """Of very many outputs only those at the ends of blocks are asked for; others must lie between."""
    n = 10**9
    assert pt.halos(n, 7, 3) == pt.halos(n, 7, index_range=lambda i: (i, i + 2))
    with pytest.raises(ValueError, match="goes down"):
        pt.halos(n, 7, index_range=lambda i: (n - 1 - i, n - 1 - i), outputs=n)


def test_a_rank_turns_its_input_around():
    """Halos wider than neighbours, and cells that nobody needs."""
    rows = pt.halos(11, 4, index_range=lambda i: (10 - i, 10 - i), outputs=11)

    def turned():
        line = cases.team((range(4), (4,)))
        row = rows[line.rank]
        x = np.pad(np.arange(11.0)[slice(*row.x)], row.recv)
        return pt.HaloExchange(line, rows).forward(x)[slice(*row.needed)][::-1].tolist()

    assert sum(pt.spmd(turned, ranks=4), []) == list(range(11))[::-1]


def test_rows_of_several_axes():
    rows = pt.halos((10, 7), (3, 2), kernel=3, stride=[2], padding=[0, 1])
    first, second = pt.halos(10, 3, 3, padding=0), pt.halos(7, 2, 3, 2, 1)
    for row, (one, two) in zip(rows, itertools.product(first, second), strict=True):
        assert (row.x, row.recv, row.needed) == (
            (one.x, two.x), (one.recv, two.recv), (one.needed, two.needed),
        )  # fmt: skip
    rows = pt.halos((10, 7), (3, 2), 3, extents=[None, [1, 6]])
    assert rows[1].x == ((0, 4), (1, 7))
    assert pt.halos(None, None, 3, extents=[5, 3, 2]) == pt.halos(10, 3, 3, extents=(5, 3, 2))
    assert pt.halos(np.int64(10), np.int32(3), np.array(3)) == pt.halos(10, 3, 3)
    assert pt.halos([10], [3], [3])[0].x == ((0, 4),)


@pytest.mark.parametrize("arguments, options, kind, words", [
    ((10, 0, 3), {}, ValueError, "0 ranks"),
    ((10, 3, 0), {}, ValueError, "kernel 0"),
    ((10, 3, 3, 0), {}, ValueError, "stride 0"),
    ((10, 3, 3, 1, -1), {}, ValueError, "padding .* none below 0"),
    ((10, 3, 30), {}, ValueError, "spans 30"),
    ((10, 3, 1.5), {}, TypeError, "whole numbers"),
    ((10, 3), {}, TypeError, "no kernel"),
    ((None, 3, 3), {}, TypeError, "no n"),
    ((10, 3, 3), {"extents": [5, 5]}, ValueError, "expected 3 that add up to 10"),
    ((10, 2, 3), {"extents": [5, 6]}, ValueError, "expected 2 that add up to 10"),
    (((10, 10), (2,), 3), {}, ValueError, "2 axes and ranks for 1"),
    (((10, 10), (2, 2), (1, 2, 3)), {}, ValueError, "3 entries of kernel"),
    ((10, 2, 3), {"index_range": lambda i: i}, ValueError, r"index_range\(0\) gave 0"),
    ((10, 2, 3), {"index_range": lambda i: (i, i - 1)}, ValueError, "first and the last"),
    ((10, 2, 3), {"index_range": lambda i: 1 // 0}, ZeroDivisionError, "zero"),
    ((10, 2, 3, 1, 1), {"index_range": lambda i: (i, i), "layer": True}, ValueError, "counts it as input"),
    ((10, 2), {"index_range": lambda i: (i, i), "outputs": 0}, ValueError, "0 outputs"),
    ((10, 2), {"index_range": 5}, TypeError, "index_range 5, expected at most 1 functions"),
    ((10, 2), {"index_range": lambda i: (i, i - (i == 3)), "outputs": 10}, ValueError, r"index_range\(3\) gave"),
])  # fmt: skip
def test_layers_that_cannot_be(arguments, options, kind, words):
    with pytest.raises(kind, match=words):
        pt.halos(*arguments, **options)


# ---- the exchange

EXCHANGES = [
    ((1, 1, 3, 3), (1, 1, 10, 7), (1, 1, 3, 3), (1, 1, 1, 1), (0, 0, 0, 0)),
    ((1, 1, 3), (1, 1, 10), (1, 1, 2), (1, 1, 2), (0, 0, 0)),
    ((2, 2), (5, 4), (3, 3), (1, 1), (0, 0)),
    ((4,), (8,), (7,), (1,), (3,)),
    ((4,), (4,), (2,), (2,), (0,)),
    ((2, 3, 2), (6, 7, 5), (3, 5, 2), (1, 1, 1), (1, 2, 0)),
    ((7,), (9,), (3,), (1,), (1,)),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("exchange", EXCHANGES)
def test_exchanges(exchange, dtype):
    ranks = math.prod(exchange[0])
    pt.spmd(lambda: cases.exchange(*exchange, np.dtype(dtype)), ranks=ranks + 1)
    pt.spmd(lambda: cases.exchange(*exchange, np.dtype(dtype), in_place=True), ranks=ranks)


@pytest.mark.parametrize("number", range(len(cases.LAYERS)))
def test_layers_in_blocks_are_the_layer(number):
    pt.spmd(lambda: cases.layer(number), ranks=math.prod(cases.LAYERS[number][0]) + 1)


def test_an_exchange_that_is_known():
    def moved():
        grid = cases.team((range(4), (2, 2)))
        movement = pt.HaloExchange(grid, pt.halos((5, 4), (2, 2), 3))
        row = pt.halos((5, 4), (2, 2), 3)[grid.rank]
        own = [x[1] - x[0] for x in row.x]
        x = np.pad(np.full(own, grid.rank + 1), row.recv)
        return movement.forward(x).tolist(), movement.adjoint(np.full(x.shape, grid.rank + 1)).tolist()

    found = pt.spmd(moved, ranks=4)
    rows = lambda text: [[int(one) for one in row.split()] for row in text.split("/")]  # noqa: E731
    assert [one[0] for one in found] == [
        rows("1 1 2 / 1 1 2 / 1 1 2 / 3 3 4"), rows("1 2 2 / 1 2 2 / 1 2 2 / 3 4 4"),
        rows("1 1 2 / 3 3 4 / 3 3 4"), rows("1 2 2 / 3 4 4 / 3 4 4"),
    ]  # fmt: skip
    assert [one[1] for one in found] == [
        rows("1 3 0 / 1 3 0 / 4 10 0 / 0 0 0"), rows("0 3 2 / 0 3 2 / 0 10 6 / 0 0 0"),
        rows("0 0 0 / 4 10 0 / 3 7 0"), rows("0 0 0 / 0 10 6 / 0 7 4"),
    ]  # fmt: skip


def test_periodic_axes():
    def moved():
        ring = cases.team((range(3), (3,)))
        x = np.array([0, ring.rank + 1, 0])
        both = pt.HaloExchange(ring, 1, periodic=True)
        return both.forward(x).tolist(), both.adjoint(np.ones(3, int)).tolist()

    assert pt.spmd(moved, ranks=3) == [
        ([3, 1, 2], [0, 3, 0]), ([1, 2, 3], [0, 3, 0]), ([2, 3, 1], [0, 3, 0]),
    ]  # fmt: skip


@pytest.mark.parametrize("dtype", ["int8", "uint64", "complex64", "bool"])
def test_types_and_memory(dtype):
    def moved():
        ring = cases.team((range(3), (1, 3)))
        wide = np.zeros((4, 6), dtype).T[::2]
        wide[:, 1:3] = ring.rank
        movement = pt.HaloExchange(ring, [0, (1, 1)], periodic=[False, True], in_place=True)
        assert movement.forward(wide) is wide
        return wide[0].tolist()

    left, right = np.array([2, 0, 1]).astype(dtype), np.array([1, 2, 0]).astype(dtype)
    own = np.arange(3).astype(dtype)
    assert pt.spmd(moved, ranks=3) == [
        [left[rank], own[rank], own[rank], right[rank]] for rank in range(3)
    ]


def test_recv_and_send_are_checked():
    rows = pt.halos(10, 3, 3)

    def moved(send):
        P_x = cases.team((range(3), (3,)))
        row = rows[P_x.rank]
        x = np.zeros(row.x[1] - row.x[0] + sum(row.recv))
        return pt.HaloExchange(P_x, [row.recv], [row.recv], send(row)).forward(x).size

    assert pt.spmd(lambda: moved(lambda row: [row.send]), ranks=3) == [5, 5, 4]
    with pytest.raises(ValueError, match="rank 0 sends .*neighbours receive"):
        pt.spmd(lambda: moved(lambda row: [(7, 7)]), ranks=3)


def test_exchanges_that_cannot_be():
    def refused(kind, words, body):
        def program():
            P_x = cases.team((range(4), (2, 2)))
            with pytest.raises(kind, match=words):
                body(P_x)
            return int(pt.world().allgather_data(1).sum())

        assert pt.spmd(program, ranks=4) == [4] * 4

    full = np.ones((3, 3))
    locked = full.copy()
    locked.flags.writeable = False
    refused(ValueError, "3 axes", lambda P_x: pt.HaloExchange(P_x, [1, 1, 1]))
    refused(ValueError, "below 0", lambda P_x: pt.HaloExchange(P_x, -1))
    refused(ValueError, "as halo is", lambda P_x: pt.HaloExchange(P_x, 1, 2))
    refused(TypeError, "whole numbers", lambda P_x: pt.HaloExchange(P_x, [1, 0.5]))
    refused(ValueError, "left and the right", lambda P_x: pt.HaloExchange(P_x, [(1, 2, 3)]))
    refused(ValueError, "3 workers", lambda P_x: pt.HaloExchange(P_x, [[(1, 1)] * 3, 0]))
    refused(ValueError, "periodic", lambda P_x: pt.HaloExchange(P_x, 1, periodic=[True]))
    refused(ValueError, "rows", lambda P_x: pt.HaloExchange(P_x, pt.halos(9, 3, 3)))
    refused(ValueError, "rank 2 has halos", lambda P_x: pt.HaloExchange(
        P_x, [0, (int(P_x.rank == 2), 0)]).forward(full))  # fmt: skip
    refused(ValueError, "halo cells", lambda P_x: pt.HaloExchange(P_x, 5).forward(full))
    refused(ValueError, "2 axes", lambda P_x: pt.HaloExchange(P_x, 1).forward(np.ones(3)))
    refused(TypeError, "rank 1: in_place", lambda P_x: pt.HaloExchange(P_x, 1, in_place=True).forward(
        locked if P_x.rank == 1 else full.copy()))  # fmt: skip
