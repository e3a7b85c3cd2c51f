"""The star stencil of the Parallel Research Kernels.

For the field row + column every turn adds exactly 2 wherever the star fits.

    python stencil.py [SIZE] [TURNS] [RADIUS]
"""

import sys
import time

import pantile as pt


def star(field, radius):
    """Neighbours along both axes, weighted by 1 / (2 * distance * radius), where all of them are."""
    size = field.shape[0] - 2 * radius

    def shifted(rows, columns):
        return field[
            radius + rows : radius + rows + size, radius + columns : radius + columns + size
        ]

    total = 0.0
    for distance in range(1, radius + 1):
        weight = 1 / (2 * distance * radius)
        total = total + weight * (shifted(0, distance) - shifted(0, -distance))
        total = total + weight * (shifted(distance, 0) - shifted(-distance, 0))
    return total


def say(text):
    """Prints once, also where every process runs this program."""
    if 0 in pt.hosted_ranks():
        print(text)


def main(size=256, turns=10, radius=2):
    numbers = pt.arange(0.0, size)
    field = numbers[:, None] + numbers[None, :]
    out = pt.zeros((size - 2 * radius, size - 2 * radius))
    pt.compute(field, out)
    began = time.perf_counter()
    for _ in range(turns):
        out += star(field, radius)
        field += 1.0
        pt.compute(out, field)
    seconds = time.perf_counter() - began

    norm = float(pt.abs(out).mean())
    rate = turns * out.size * (8 * radius + 1) / seconds / 1e6
    say(f"norm {norm} after {turns} turns on {pt.ranks()} ranks, {rate:.0f} million operations/s")
    assert abs(norm - 2 * turns) < 1e-8


if __name__ == "__main__":
    main(*(int(number) for number in sys.argv[1:]))
