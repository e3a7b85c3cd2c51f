"""Figures of the Python package: ratio to NumPy and to a loop by hand, in turns within one run.

`PANTILE_RANKS=2 python python/benches/figures.py [SCALE]` prints medians; SCALE below 1 makes the
arrays smaller. The loop by hand is NumPy with `out=`, without a temporary.
"""

import statistics
import sys
import time

import numpy as np

import pantile as pt


def once(work):
    """Seconds of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compare(name, ours, theirs, by_hand=None, turns=5):
    """Prints medians of calls in turns, and how often ours fits into the others."""
    works = [ours, theirs, *([by_hand] if by_hand else [])]
    for work in works:
        work()
    times = [[] for _ in works]
    for _ in range(turns):
        for work, list_ in zip(works, times):
            list_.append(once(work))
    own, *others = (statistics.median(one) for one in times)
    ratios = "  ".join(f"{other / own:6.2f}" for other in others)
    print(f"{name:44} {own * 1e6:12.1f} us  ratio {ratios}")


def main(scale=1.0):
    """All figures."""
    print(f"{pt.ranks()} ranks; ratio NumPy / ours, by hand / ours: above 1 is faster")
    n = int(64e6 * scale)
    a, b, c = (np.linspace(0, 1, n) + i for i in range(3))
    x, y, z = (pt.asarray(one, dist=0).compute() for one in (a, b, c))
    room = np.empty(n)

    def by_hand():
        np.multiply(a, b, out=room)
        for start in range(0, n, 1 << 16):
            part = slice(start, start + (1 << 16))
            room[part] += c[part] * 2
        return room.sum()

    compare("sum(a * b + c * 2)", lambda: float(pt.sum(x * y + z * 2)), lambda: (a * b + c * 2).sum(), by_hand, 3)
    side = int(4096 * scale**0.5)
    u, v = pt.zeros((side, side), dist=0), np.zeros((side, side))
    u[0], v[0] = 1.0, 1.0

    def jacobi(w):
        w[1:-1, 1:-1] = 0.25 * (w[:-2, 1:-1] + w[2:, 1:-1] + w[1:-1, :-2] + w[1:-1, 2:])
        return w.compute() if isinstance(w, pt.Array) else w

    compare("Jacobi of 5 points, slices", lambda: jacobi(u), lambda: jacobi(v))
    rows = int(10e6 * scale)
    t = np.linspace(0, 1, rows * 16).reshape(rows, 16)
    d = pt.asarray(t, dist=0).compute()
    compare(
        "mean and std of columns",
        lambda: pt.compute(pt.mean(d, axis=0), pt.std(d, axis=0)),
        lambda: (t.mean(axis=0), t.std(axis=0)),
        turns=3,
    )
    small, ours = np.arange(1000.0), pt.arange(1000.0).compute()
    compare("a + 1, 1,000 elements, recorded", lambda: ours + 1, lambda: small + 1, turns=1001)
    compare("a + 1, 1,000 elements, computed", lambda: (ours + 1).compute(), lambda: small + 1, turns=1001)
    compare("float(a[i])", lambda: float(ours[500]), lambda: float(small[500]), turns=1001)


main(*map(float, sys.argv[1:]))
