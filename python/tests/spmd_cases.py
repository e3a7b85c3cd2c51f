"""What every rank of a program does and checks: on threads and, run as a script, under mpirun."""

import math
import sys
import time
from pathlib import Path

import numpy as np

import pantile as pt

#: Movements between two partitions: (ranks, shape) of each, and the flags. Small to large.
PAIRS = [
    ((range(4, 8), (2, 2, 1)), (range(12), (2, 2, 3)), (False, False)),
    ((range(4), (2, 2, 1)), (range(4, 16), (2, 2, 3)), (False, False)),
    ((range(4), (2, 2, 1)), (range(5, 17), (2, 2, 3)), (False, False)),
    (([0], (1,)), ([0], (1,)), (False, False)),
    (([2], (1,)), (range(3), (1, 1, 3)), (False, False)),
    (([3], (1,)), (range(3), (1, 1, 3)), (False, False)),
    (([4], (1,)), (range(3), (1, 1, 3)), (False, False)),
    ((range(4, 8), (2, 2, 1)), (range(12), (3, 2, 2)), (True, False)),
    ((range(4), (2, 2, 1)), (range(4, 16), (3, 2, 2)), (True, False)),
    ((range(4), (2, 2, 1)), (range(5, 17), (3, 2, 2)), (True, False)),
    (([1, 2], (1, 2)), (range(4), (2, 2)), (False, False)),
    (([2, 3, 4, 5], (1, 2, 2)), (range(8), (2, 2, 2)), (False, False)),
    ((range(4, 12), (1, 2, 2, 2)), (range(16), (2, 2, 2, 2)), (False, False)),
    (([1, 2, 3], (1, 3, 1)), (range(12), (2, 3, 2)), (False, False)),
    (([3, 2, 1], (1, 3, 1)), (range(12), (2, 3, 2)), (False, False)),
    ((range(3), (1, 3)), (range(12), (3, 4)), (True, False)),
    ((range(4), (4, 1)), (range(12), (3, 4)), (False, True)),
    ((range(6), (2, 3)), (range(6, 12), (2, 3)), (True, True)),
    ((range(6), (2, 3)), (range(6, 12), (1, 3, 2)), (True, False)),
    ((range(6), (2, 3)), (range(6), (3, 2)), (True, False)),
    ((range(3), (1, 3)), (range(3), (3, 1)), (False, True)),
]

#: Movements of blocks: (ranks, shape) before and after, of an array of 77x55.
REPARTITIONS = [
    ((range(4, 8), (4, 1)), (range(12), (3, 4))),
    ((range(4), (4, 1)), (range(4, 16), (3, 4))),
    ((range(4), (4, 1)), (range(5, 17), (3, 4))),
    (([0], (1, 1)), ([0], (1, 1))),
    (([4], (1, 1)), (range(12), (3, 4))),
    (([0], (1, 1)), (range(1, 13), (3, 4))),
    (([0], (1, 1)), (range(2, 14), (3, 4))),
    ((range(12), (3, 4)), ([4], (1, 1))),
    ((range(1, 13), (3, 4)), ([0], (1, 1))),
    ((range(2, 14), (3, 4)), ([0], (1, 1))),
    ((range(4), (4, 1)), (range(4), (2, 2))),
    ((range(12), (3, 4)), (range(12), (3, 4))),
    ((range(4), (1, 4)), (range(4), (1, 4))),
]


def ranks_of(*sides):
    """How many ranks some sides need."""
    return max(max(ranks) for ranks, _ in sides) + 1


def team(side):
    """The partition of one side."""
    ranks, shape = side
    inclusive = pt.world().create_partition_inclusive(ranks)
    return inclusive.create_cartesian_topology_partition(shape)


def groups(small, large, flags):
    """Root and members of each group, by the rules: shapes reversed, extended with ones on the left
    and compared; groups share the coordinates on equal axes, row-major in each side's own order.
    """
    count = len(large[1])

    def aligned(side, flag):
        axes = list(range(len(side[1])))
        return [None] * (count - len(axes)) + (axes[::-1] if flag else axes)

    ours, theirs = aligned(small, flags[0]), aligned(large, flags[1])
    extent = lambda side, axis: 1 if axis is None else side[1][axis]  # noqa: E731
    equal = [extent(small, a) == extent(large, b) for a, b in zip(ours, theirs)]

    def colours(side, axes):
        kept = sorted(axis for axis, same in zip(axes, equal) if same and axis is not None)
        found = {}
        for place, rank in enumerate(side[0]):
            index = np.unravel_index(place, side[1])
            number = 0
            for axis in kept:
                number = number * side[1][axis] + int(index[axis])
            found.setdefault(number, []).append(rank)
        return found

    members = colours(large, theirs)
    return [(roots[0], members[colour]) for colour, roots in colours(small, ours).items()]


def noise(*key):
    return np.random.default_rng([7, *key])


def everywhere(value):
    """A number of every rank."""
    return pt.world().allgather_data(float(value))[:, 0]


def dot_test(movement, x, dtype=np.float64):
    """<F x, y> = <x, F* y>, over all ranks."""
    y = movement.forward(x)
    rank = pt.rank()
    dy = noise(rank, 99).standard_normal(y.shape).astype(dtype)
    dx = movement.adjoint(dy)
    source = np.zeros(0) if x is None or not x.size else x
    assert y.dtype == dtype or not y.size
    one = everywhere(np.vdot(dy, y)) if dy.size else everywhere(0)
    two = everywhere(np.vdot(source, dx) if dx.size else 0)
    scale = everywhere(np.linalg.norm(y) + np.linalg.norm(dx) + np.linalg.norm(dy)).sum() + 1
    assert abs(one.sum() - two.sum()) <= 1e-6 * scale * scale, (one.sum(), two.sum())


# ---- whole tensors


def whole(number, kind, dtype, preserve):
    """A broadcast, or a sum, with its values and its adjoint's."""
    small, large, flags = PAIRS[number]
    P_small, P_large = team(small), team(large)
    if kind == "broadcast":
        movement = pt.Broadcast(P_small, P_large, *flags, preserve_batch=preserve)
        copies, sums = movement.forward, movement.adjoint
    else:
        movement = pt.SumReduce(P_large, P_small, *flags[::-1], preserve_batch=preserve)
        copies, sums = movement.adjoint, movement.forward
    me, found = pt.rank(), groups(small, large, flags)

    def block(colour, rank):
        shape = (1, 7, 5 + colour % 2)
        return (noise(rank).integers(0, 50, shape)).astype(dtype)

    mine = [number for number, (root, _) in enumerate(found) if root == me]
    theirs = [number for number, (_, members) in enumerate(found) if me in members]
    given = block(mine[0], me) if mine else np.empty(0)
    got = copies(given)
    if theirs:
        expected = block(theirs[0], found[theirs[0]][0])
        assert got.dtype == dtype and got.flags.c_contiguous and got.flags.writeable
        np.testing.assert_array_equal(got, expected)
    else:
        outside = not P_small.active
        assert got.shape == (given.shape if outside else (1, 0) if preserve else (0,))
    got = sums(block(theirs[0], me) if theirs else None)
    if mine:
        terms = [block(mine[0], rank) for rank in found[mine[0]][1]]
        np.testing.assert_array_equal(got, sum(terms[1:], terms[0]))
        assert got.dtype == dtype
    else:
        assert got.shape == ((1, 0) if preserve and P_large.active else (0,))
    if np.dtype(dtype).kind == "f":
        first = P_small if kind == "broadcast" else P_large
        colour = (mine if kind == "broadcast" else theirs) or [0]
        shape = (1, 7, 5 + colour[0] % 2)
        x = noise(me, 3).standard_normal(shape).astype(dtype) if first.active else None
        dot_test(movement, x, dtype)


def all_sum(shape, local, axes, dtype=np.float64):
    P_x = team((range(math.prod(shape)), shape))
    keep = [axis for axis in range(len(shape)) if axis not in axes]
    factor = math.prod(shape[axis] for axis in axes)
    for chosen in ({"axes_reduce": axes}, {"axes_keep": keep}):
        movement = pt.AllSumReduce(P_x, **chosen)
        y = movement.forward(np.full(local, 10.0, dtype) if P_x.active else np.empty(0))
        dx = movement.adjoint(np.full(local, 0.1, dtype) if P_x.active else np.empty(0))
        if P_x.active:
            np.testing.assert_array_equal(y, np.full(local, 10 * factor, dtype))
            np.testing.assert_allclose(dx, np.full(local, 0.1 * factor, dtype), rtol=1e-6)
        dot_test(movement, noise(pt.rank()).standard_normal(local) if P_x.active else None)


# ---- blocks


def cut(length, workers, balanced=True):
    """Extents: balanced with the larger ones first, or all that is left over on the first."""
    small, more = divmod(length, workers)
    if balanced:
        return [small + (worker < more) for worker in range(workers)]
    return [small + more] + [small] * (workers - 1)


def block_of(array, shape, index, balanced=True):
    """The part of an array that a coordinate has."""
    slices = []
    for length, workers, place in zip(array.shape, shape, index):
        extents = cut(length, workers, balanced)
        start = sum(extents[:place])
        slices.append(slice(start, start + extents[place]))
    return array[tuple(slices)]


def blocks(number, dtype, balanced, shape=(77, 55)):
    before, after = REPARTITIONS[number]
    P_x, P_y = team(before), team(after)
    whole = noise(1).integers(0, 100, shape).astype(dtype)
    movement = pt.Repartition(P_x, P_y)
    for _ in range(2):
        x = block_of(whole, before[1], P_x.index, balanced) if P_x.active else np.empty(0)
        y = movement.forward(x)
        if P_y.active:
            np.testing.assert_array_equal(y, block_of(whole, after[1], P_y.index))
            assert y.dtype == dtype
        else:
            assert y.size == 0
        back = movement.adjoint(y if P_y.active else None)
        if P_x.active:
            np.testing.assert_array_equal(back, x)
        else:
            assert back.size == 0


def together(shape, axes, dtype, length=11):
    """All-gather and reduce-scatter along some axes, against the whole array."""
    P_x = team((range(math.prod(shape)), shape))
    whole = noise(2).integers(0, 20, (length,) * len(shape)).astype(dtype)
    gather, scatter = pt.AllGather(P_x, axes), pt.ReduceScatter(P_x, axes)
    if not P_x.active:
        assert gather.forward(None).size == scatter.forward(np.empty(0)).size == 0
        dot_test(gather, None), dot_test(scatter, None)
        return
    kept = [1 if axis in axes else workers for axis, workers in enumerate(shape)]
    place = [0 if axis in axes else at for axis, at in enumerate(P_x.index)]
    mine, merged = block_of(whole, shape, P_x.index), block_of(whole, kept, place)
    np.testing.assert_array_equal(gather.forward(mine), merged)
    factor = math.prod(shape[axis] for axis in axes)
    np.testing.assert_array_equal(scatter.forward(merged), (mine * factor).astype(dtype))
    np.testing.assert_array_equal(scatter.adjoint(mine), merged)
    np.testing.assert_array_equal(gather.adjoint(merged), (mine * factor).astype(dtype))
    dot_test(gather, noise(pt.rank()).standard_normal(mine.shape))
    dot_test(scatter, noise(pt.rank()).standard_normal(merged.shape))


# ---- halos


def exchange(shape, whole, kernel, stride, padding, dtype=np.float64, in_place=False):
    """A halo exchange with the widths of a layer, in every form that these can be given in."""
    P_x = team((range(math.prod(shape)), shape))
    rows = pt.halos(whole, shape, kernel, stride, padding)
    tables = [pt.halos(*one) for one in zip(whole, shape, kernel, stride, padding)]
    forms = [rows, [[row.recv for row in table] for table in tables]]
    if P_x.active:
        row = rows[P_x.rank]
        forms += [row, np.array(row.recv), [*row.recv]]
    else:
        forms += [0, 0, 0]
    array = noise(5).integers(1, 100, whole).astype(dtype)
    for form in forms:
        movement = pt.HaloExchange(P_x, form, in_place=in_place)
        if not P_x.active:
            assert movement.forward(np.empty(0)).size == 0
            dot_test(pt.HaloExchange(P_x, form), None)
            continue
        held = [(x[0] - l, x[1] + r) for x, (l, r) in zip(row.x, row.recv)]
        full = array[tuple(slice(*one) for one in held)]
        own = tuple(
            slice(l, l + x[1] - x[0]) for x, (l, _) in zip(row.x, row.recv)
        )
        bare = np.zeros_like(full)
        bare[own] = full[own]
        y = movement.forward(bare)
        assert (y is bare) == in_place
        np.testing.assert_array_equal(y, full)
        dot_test(pt.HaloExchange(P_x, form), noise(pt.rank()).standard_normal(full.shape).astype(dtype), dtype)


#: Layers: workers, extents, kernel, stride, padding, dilation, and extents of unbalanced blocks.
LAYERS = [
    ((2, 2), (10, 10), (3, 3), (1, 1), (1, 1), (1, 1), None),
    ((2, 2), (10, 10), (5, 5), (2, 2), (2, 2), (1, 1), None),
    ((2, 2), (6, 10), (5, 5), (4, 4), (2, 2), (1, 1), None),
    ((2, 2), (10, 8), (5, 5), (1, 1), (1, 1), (1, 1), None),
    ((2, 1, 2), (5, 5, 6), (5, 5, 5), (2, 2, 1), (2, 2, 2), (1, 1, 1), None),
    ((4,), (15,), (3,), (1,), (1,), (1,), None),
    ((4,), (10,), (5,), (2,), (2,), (1,), None),
    ((3, 3, 2), (20, 20, 20), (5, 4, 3), (3, 1, 2), (1, 1, 2), (3, 3, 1), None),
    ((4,), (150,), (7,), (2,), (3,), (1,), None),
    ((3,), (10,), (3,), (1,), (0,), (1,), None),
    ((3,), (10,), (3,), (1,), (1,), (1,), [[5, 3, 2]]),
    ((3,), (10,), (3,), (1,), (1,), (1,), [[2, 3, 5]]),
    ((3,), (10,), (3,), (1,), (0,), (1,), [[6, 2, 2]]),
    ((3,), (6,), (1,), (1,), (3,), (1,), None),
    ((4,), (8,), (7,), (1,), (3,), (1,), None),
    ((4,), (4,), (2,), (2,), (0,), (1,), None),
    ((2, 3), (9, 11), (3, 2), (2, 1), (1, 0), (2, 1), [[3, 6], [0, 8, 3]]),
]


def windows(x, kernel, stride, dilation):
    """A view of what every output of a window looks at: outputs, then taps."""
    reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilation)]
    if any(length < one for length, one in zip(x.shape, reach)):
        return np.zeros([0] * x.ndim + list(kernel))
    views = np.lib.stride_tricks.sliding_window_view(x, reach, writeable=True)
    steps = [slice(None, None, one) for one in (*stride, *dilation)]
    return views[tuple(steps)]


def layer(number):
    """A convolution in blocks is the convolution of the whole, and so is its adjoint."""
    workers, shape, kernel, stride, padding, dilation, extents = LAYERS[number]
    P_x = team((range(math.prod(workers)), workers))
    taps = noise(11).standard_normal(kernel)
    image = noise(12).standard_normal(shape)
    axes = len(shape)

    def convolve(x):
        return np.tensordot(windows(x, kernel, stride, dilation), taps, axes)

    def spread(dy, size):
        x = np.zeros(size)
        for tap in np.ndindex(*kernel):
            at = tuple(
                slice(t * d, t * d + s * (n - 1) + 1, s)
                for t, d, s, n in zip(tap, dilation, stride, dy.shape)
            )
            if dy.size:
                x[at] += taps[tap] * dy
        return x

    around = [(one, one) for one in padding]
    y = convolve(np.pad(image, around))
    dy = noise(13).standard_normal(y.shape)
    crop = tuple(slice(p, p + n) for p, n in zip(padding, shape))
    dx = spread(dy, np.pad(image, around).shape)[crop]
    if not P_x.active:
        return
    rows = pt.halos(shape, workers, kernel, stride, padding, dilation, extents, layer=True)
    row = rows[P_x.rank]
    wide = [(a + b, c + d) for (a, c), (b, d) in zip(row.pad, row.recv)]
    own = [  # the block of the input itself, without its padding
        (max(start - p, 0), min(stop - p, n))
        for (start, stop), p, n in zip(row.x, padding, shape)
    ]
    exchange = pt.HaloExchange(P_x, rows)
    block = image[tuple(slice(*one) for one in own)]
    seen = exchange.forward(np.pad(block, wide))
    needed = tuple(slice(*one) for one in row.needed)
    mine = tuple(slice(*one) for one in row.y)
    got = convolve(seen[needed])
    if y[mine].size:
        np.testing.assert_allclose(got, y[mine], rtol=1e-12, atol=1e-12)
    else:
        assert got.size == 0
    back = np.zeros(seen.shape)
    if y[mine].size:
        back[needed] = spread(dy[mine], back[needed].shape)
    back = exchange.adjoint(back)
    inner = tuple(slice(low, low + n) for (low, _), n in zip(wide, block.shape))
    np.testing.assert_allclose(
        back[inner], dx[tuple(slice(*one) for one in own)], rtol=1e-12, atol=1e-12
    )


# ---- waiting


def meet(number):
    """A movement between two ranks; each pair has another kind."""
    P = team(([number, number + 1], (2,)))
    one = team(([number], (1,)))
    x = np.full(2, float(number))
    kinds = [
        lambda: pt.Broadcast(one, P).forward(x)[0],
        lambda: pt.SumReduce(P, one).forward(x).max(initial=0) / 2 or float(number),
        lambda: pt.AllSumReduce(P, 0).forward(x)[0] / 2,
        lambda: pt.Repartition(P, P).forward(x)[0],
        lambda: pt.AllGather(P).forward(x)[0],
        lambda: pt.ReduceScatter(P).forward(x)[0] / 2,
        lambda: pt.HaloExchange(P, 1).forward(x)[0],
        lambda: P.allgather_data(x)[0, 0],
        lambda: P.broadcast_data(x)[0],
        lambda: pt.Broadcast(one, P).adjoint(x).max(initial=0) / 2 or float(number),
        lambda: pt.AllGather(P).adjoint(x)[0] / 2,
    ]
    assert kinds[number]() == number


def chain():
    """Movement k is between ranks k and k + 1, and each rank starts with the later of its two: all
    wait until the last rank comes.
    """
    me = pt.rank()
    if me == 11:
        time.sleep(0.3)
    if me < 11:
        meet(me)
    if me > 0:
        meet(me - 1)
    return me


# ---- under mpirun


def main(folder):
    """Everything that as many processes can do."""
    size = pt.world().size

    def fits(*sides):
        return ranks_of(*sides) <= size

    done = 0
    for number, (small, large, _) in enumerate(PAIRS):
        if fits(small, large):
            for kind in ("broadcast", "sum"):
                pt.spmd(lambda: whole(number, kind, np.float32, True))  # noqa: B023
                done += 1
    for number, sides in enumerate(REPARTITIONS):
        if fits(*sides):
            pt.spmd(lambda: blocks(number, np.int32, False), ranks=size)  # noqa: B023
            done += 1
    if size == 12:
        pt.spmd(lambda: all_sum((2, 2, 3), (3, 4), (0, 2)))
        pt.spmd(lambda: together((2, 3, 2), (1,), np.float64, 5))
        assert pt.spmd(chain) == list(range(12))
        done += 3
    pt.spmd(lambda: all_sum((size,), (30, 344), (0,)))
    pt.spmd(lambda: exchange((size,), (40,), (3,), (1,), (1,)))
    if size >= 9:
        pt.spmd(lambda: exchange((1, 1, 3, 3), (1, 1, 10, 7), (1, 1, 3, 3), (1,) * 4, (0,) * 4))
    for number, (workers, *_) in enumerate(LAYERS):
        if math.prod(workers) <= size:
            pt.spmd(lambda: layer(number))  # noqa: B023
            done += 1
    ranks = pt.spmd(pt.rank)
    assert ranks == list(range(size))
    Path(folder, f"done.{pt.rank()}").write_text(f"{done}")


if __name__ == "__main__":
    main(sys.argv[1])
