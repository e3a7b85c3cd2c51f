"""Figures of the Python package, against NumPy and against loops by hand in C, in turns in one run.

PANTILE_RANKS=2 python python/benches/figures.py [SCALE] [--turns N] [--only WORD] [--json FILE]

Prints medians and ratios; SCALE below 1 makes the arrays smaller. The loops by hand (`loops.c`) are
compiled with the machine's `cc` and have as many threads as there are ranks, and warm buffers for
their results; NumPy has one thread and makes new arrays, as its users do. All three results are
compared before anything is timed.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import operator
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import pantile as pt

FLAGS = ["-O3", "-march=native", "-fopenmp", "-shared", "-fPIC"]


class Case(NamedTuple):
    """What is measured: three ways to the same result, and how often each is called per turn."""

    name: str
    ours: Callable[[], Any]
    numpy: Callable[[], Any]
    by_hand: Callable[[], Any] | None = None
    calls: int = 1
    #: How far results may be apart, relatively; nothing to compare if it is None.
    apart: float | None = 1e-9


class Loops:
    """The loops by hand; arrays are given as NumPy's."""

    def __init__(self, folder: str) -> None:
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            raise SystemExit("a C compiler is missing: cc")
        library = Path(folder, "loops.so")
        source = Path(__file__).with_name("loops.c")
        subprocess.run([compiler, *FLAGS, "-o", library, source, "-lm"], check=True)
        # Threads that wait for the next loop shall not take the cores from the others' turns.
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        self._library = ctypes.CDLL(str(library))
        self._library.sum_of_products.restype = ctypes.c_double
        self._library.use_threads(ctypes.c_int(pt.ranks()))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function = getattr(self._library, name)

        def bound(*arguments: Any) -> Callable[[], Any]:
            """A call with these arguments, made ready: only the loop is timed."""
            words = [
                ctypes.c_void_p(one.ctypes.data) if isinstance(one, np.ndarray) else ctypes.c_long(one)
                for one in arguments
            ]
            call = lambda: function(*words)  # noqa: E731
            call.kept = arguments  # type: ignore[attr-defined]  # their memory has to stay
            return call

        return bound


def then(call: Callable[[], Any], *results: np.ndarray) -> Callable[[], Any]:
    """A call whose results are in buffers."""

    def both() -> Any:
        call()
        return results[0] if len(results) == 1 else results

    return both


# ------------------------------------------------------------------------------------------- cases


def sums(loops: Loops, scale: float) -> Iterator[Case]:
    n = int(64e6 * scale)
    a, b, c = (np.linspace(0, 1, n) + i for i in range(3))
    x, y, z = (pt.asarray(one, dist=0).compute() for one in (a, b, c))
    yield Case(
        f"sum(a * b + c * 2), {n / 1e6:g}M",
        lambda: float(pt.sum(x * y + z * 2)),
        lambda: float((a * b + c * 2).sum()),
        loops.sum_of_products(a, b, c, n),
    )


def stencils(loops: Loops, scale: float) -> Iterator[Case]:
    side = int(4096 * scale**0.5)
    start = np.random.default_rng(1).random((side, side))
    u = pt.asarray(start, dist=0).compute()
    v = start.copy()
    rooms = [start.copy(), start.copy()]
    turns = [loops.jacobi(rooms[0], rooms[1], side, side), loops.jacobi(rooms[1], rooms[0], side, side)]

    def step(w: Any) -> Any:
        w[1:-1, 1:-1] = 0.25 * (w[:-2, 1:-1] + w[2:, 1:-1] + w[1:-1, :-2] + w[1:-1, 2:])
        return w.compute() if isinstance(w, pt.Array) else w

    def by_hand() -> np.ndarray:
        turns[0]()
        turns.reverse()
        rooms.reverse()
        return rooms[0]

    yield Case(f"Jacobi of 5 points by slices, {side}x{side}", lambda: step(u), lambda: step(v), by_hand)


def columns(loops: Loops, scale: float) -> Iterator[Case]:
    rows = int(10e6 * scale)
    t = np.random.default_rng(1).random((rows, 16)) + np.arange(16)
    d = pt.asarray(t, dist=0).compute()
    mean, deviation, room = np.empty(16), np.empty(16), np.zeros_like(t)
    yield Case(
        f"mean and std of columns, {rows / 1e6:g}M x 16",
        lambda: pt.compute(pt.mean(d, axis=0), pt.std(d, axis=0)),
        lambda: (t.mean(axis=0), t.std(axis=0)),
        then(loops.mean_and_std(t, rows, mean, deviation), mean, deviation),
    )
    yield Case(
        f"(x - mean) / std, {rows / 1e6:g}M x 16",
        lambda: ((d - d.mean(axis=0)) / d.std(axis=0)).compute(),
        lambda: (t - t.mean(axis=0)) / t.std(axis=0),
        then(loops.standardise(t, room, rows), room),
    )


def movements(loops: Loops, scale: float) -> Iterator[Case]:
    side = int(4096 * scale**0.5)
    t = np.random.default_rng(1).random((side, side))
    rows = pt.asarray(t, dist=0).compute()
    room = np.zeros_like(t)
    yield Case(
        f"row blocks to column blocks, {side}x{side} (by hand: copy)",
        lambda: rows.redistribute(1).compute(),
        lambda: t.copy(),
        then(loops.copy(t, room, t.size), room),
    )
    turned = np.zeros_like(t)
    yield Case(
        f"transpose, {side}x{side}",
        lambda: rows.T.compute(),
        lambda: np.ascontiguousarray(t.T),
        then(loops.transpose(t, turned, side, side), turned),
    )


def clusters(loops: Loops, scale: float) -> Iterator[Case]:
    n = int(1e6 * scale)
    points = np.random.default_rng(1).random((n, 4))
    centres = points[:8].copy()
    p, c = pt.asarray(points, dist=0).compute(), pt.asarray(centres, dist=None).compute()
    room = np.zeros_like(centres)

    def step(xp: Any, points: Any, centres: Any) -> Any:
        away = points[:, None, :] - centres[None, :, :]
        nearest = xp.argmin((away * away).sum(axis=2), axis=1)
        mine = xp.astype(nearest[:, None] == xp.arange(8)[None, :], xp.float64)
        return (mine[:, :, None] * points[:, None, :]).sum(axis=0) / mine.sum(axis=0)[:, None]

    yield Case(
        f"a step of k-means, k=8, {n / 1e6:g}M x 4",
        lambda: step(pt, p, c).compute(),
        lambda: step(np, points, centres),
        then(loops.kmeans(points, n, centres, room), room),
    )


def small(loops: Loops, scale: float) -> Iterator[Case]:
    a = np.arange(1000.0)
    x, room = pt.arange(1000.0).compute(), np.empty(1000)
    by_hand = loops.add_one(a, room, 1000)
    yield Case("a + 1, 1,000 elements, recorded", lambda: x + 1, lambda: a + 1, by_hand, 1000, None)
    yield Case(
        "a + 1, 1,000 elements, computed", lambda: (x + 1).compute(), lambda: a + 1, then(by_hand, room), 300
    )
    yield Case("a[i], recorded", lambda: x[500], lambda: a[500], None, 1000, None)
    yield Case("float(a[i])", lambda: float(x[500]), lambda: float(a[500]), None, 300)


GROUPS = (sums, stencils, columns, movements, clusters, small)


# --------------------------------------------------------------------------------------- measuring


def agree(case: Case) -> None:
    """Stops if the three ways have different results; also warms them."""
    works = [work for work in (case.ours, case.numpy, case.by_hand) if work is not None]
    results = [work() for work in works]
    if case.apart is None:
        return
    several = [result if isinstance(result, tuple) else (result,) for result in results]
    for result in several[1:]:
        for one, other in zip(several[0], result):
            one, other = np.asarray(one), np.asarray(other)
            # Relative to the largest: what is nearly zero is a difference of larger numbers.
            away = np.abs(one - other).max() / np.abs(one).max()
            if not away <= case.apart:
                raise SystemExit(f"{case.name}: the results differ by {away:.1e} of the largest")


def seconds(work: Callable[[], Any], calls: int) -> float:
    """Seconds per call."""
    start = time.perf_counter()
    for _ in range(calls):
        work()
    return (time.perf_counter() - start) / calls


# What takes less is tried a few times within a turn, and the best counts, as in `pantile bench`:
# whoever has to let another program have its core would lose the turn.
SHORT, TRIES = 50e-3, 5


def measured(case: Case, turns: int) -> dict[str, Any]:
    """Medians of turns; the spread is that of the middle half of ours."""
    agree(case)
    works = {"ours": case.ours, "numpy": case.numpy, "by_hand": case.by_hand}
    times: dict[str, list[float]] = {name: [] for name, work in works.items() if work is not None}
    tries = TRIES if max(seconds(works[name], 1) for name in times) < SHORT else 1  # type: ignore[arg-type]
    for _ in range(turns):
        best = dict.fromkeys(times, float("inf"))
        for name in [*times] * tries:
            best[name] = min(best[name], seconds(works[name], case.calls))  # type: ignore[arg-type]
        for name, list_ in times.items():
            list_.append(best[name])
    row: dict[str, Any] = {"name": case.name}
    row |= {name: statistics.median(list_) for name, list_ in times.items()}
    first, _, third = statistics.quantiles(times["ours"], n=4) if turns > 1 else times["ours"] * 3
    row["spread"] = (third - first) / row["ours"]
    for name in times.keys() - {"ours"}:
        # Within a turn both meet the same noise.
        row[f"{name}_ratio"] = statistics.median(map(operator.truediv, times[name], times["ours"]))
    return row


def line(row: dict[str, Any]) -> str:
    """A figure as a line of the table."""
    by_hand = f"{row['by_hand_ratio']:8.2f}" if "by_hand" in row else " " * 8
    return (
        f"{row['name']:56} {_time(row['ours'])} +-{50 * row['spread']:3.0f} % "
        f"{row['numpy_ratio']:8.2f} {by_hand}"
    )


def _time(seconds: float) -> str:
    """A time with three digits."""
    for unit, size in (("s ", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:7.3g} {unit}"
    return f"{seconds / 1e-9:7.3g} ns"


def main() -> None:
    """All figures."""
    parser = argparse.ArgumentParser(description="Figures of the Python package.")
    parser.add_argument("scale", type=float, nargs="?", default=1.0, help="below 1: smaller arrays")
    parser.add_argument("--turns", type=int, default=7, help="how often each is measured")
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    parser.add_argument("--json", metavar="FILE", help="writes all figures to a file")
    chosen = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        loops = Loops(folder)
        print(f"{pt.ranks()} ranks, {chosen.turns} turns; ratios are other / ours: above 1 ours is faster")
        print(f"{'':56} {'ours':>10} {'':7} {'NumPy':>8} {'by hand':>8}")
        for group in GROUPS:
            for case in group(loops, chosen.scale):
                if chosen.only.lower() in case.name.lower():
                    rows.append(measured(case, chosen.turns))
                    print(line(rows[-1]), flush=True)
    if chosen.json:
        facts = {"version": pt.__version__, "ranks": pt.ranks(), "scale": chosen.scale, "turns": chosen.turns}
        Path(chosen.json).write_text(json.dumps({**facts, "figures": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
