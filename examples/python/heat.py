"""Heat in a square plate with cold edges, against the exact solution of the same scheme.

python heat.py [SIZE] [STEPS]            on the cores of this machine
mpirun -n 4 python heat.py 4000 100      on four processes
"""

import math
import sys

import pantile as pt


def step(u, rate):
    """One step: every inner point moves towards the mean of its neighbours."""
    around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    u[1:-1, 1:-1] += rate * (around - 4 * u[1:-1, 1:-1])


def say(text):
    """Prints once, also where every process runs this program."""
    if 0 in pt.hosted_ranks():
        print(text)


def main(size=200, steps=50, rate=0.2):
    x = pt.sin(math.pi * pt.linspace(0, 1, size + 1))
    u = x[:, None] * x[None, :]
    start = float(u.max())
    for _ in range(steps):
        step(u, rate)
        u.compute()

    # This bump keeps its form: every step makes it smaller by the same factor.
    factor = 1 - 8 * rate * math.sin(math.pi / (2 * size)) ** 2
    got, expected = float(u.max()), start * factor**steps
    say(f"{size} x {size}, {steps} steps on {pt.ranks()} ranks: {got:.9f}, expected {expected:.9f}")
    assert abs(got - expected) < 1e-9


if __name__ == "__main__":
    main(*(int(number) for number in sys.argv[1:]))
