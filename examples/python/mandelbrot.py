"""The Mandelbrot set: work on complex numbers that never leaves its rank.

python mandelbrot.py [ROWS] [TURNS]
"""

import sys

import numpy as np

import pantile as pt


def plane(rows, columns):
    """The complex numbers from -2 - 1.25i to 0.5 + 1.25i, rows cut among the ranks."""
    x = np.linspace(-2.0, 0.5, columns)
    y = np.linspace(-1.25, 1.25, rows)
    return pt.from_callback(
        (rows, columns), 0, lambda part: x[part[1]] + 1j * y[part[0], None], dtype=np.complex128
    )


def steps(c, turns):
    """How many turns of z*z + c stay near zero, for every c."""
    z, count = pt.zeros_like(c), pt.zeros_like(c, dtype=pt.int64)
    for _ in range(turns):
        near = pt.abs(z) <= 2
        # Where it is far away it stays where it is, so that nothing overflows.
        z = pt.where(near, z * z + c, z)
        count += pt.astype(near, pt.int64)
        pt.compute(z, count)
    return count


def say(text):
    """Prints once, also where every process runs this program."""
    if 0 in pt.hosted_ranks():
        print(text)


def main(rows=121, turns=60):
    columns = rows
    with pt.no_comm():
        count = steps(plane(rows, columns), turns)

    picture = np.asarray(count[:: max(rows // 24, 1), :: max(columns // 60, 1)])
    # Most points leave after a few turns: shades of a logarithm tell them apart.
    for row in np.log(picture) / np.log(turns) * 9:
        say("".join(" .:-=+*#%@"[int(shade)] for shade in row).rstrip())
    area = float(pt.mean(pt.astype(count == turns, pt.float64))) * 2.5 * 2.5
    say(f"area {area:.3f} after {turns} turns on {pt.ranks()} ranks")
    assert 1.4 < area < 1.8
    assert bool((count == count[::-1]).all())  # the set is its own mirror image


if __name__ == "__main__":
    main(*(int(number) for number in sys.argv[1:]))
