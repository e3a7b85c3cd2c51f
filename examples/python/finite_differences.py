"""The heat equation on a rod by finite differences, with partitions and NumPy only.

Each rank keeps its piece of the rod. In every step the ranks tell each other the ends of their
pieces; a sine then dies away by the same factor everywhere.

    python finite_differences.py [CELLS] [STEPS]
"""

import sys

import numpy as np

import pantile as pt


def piece(cells, steps, speed):
    """One rank: its piece after so many steps, and the heat that the whole rod has left."""
    line = pt.world().create_cartesian_topology_partition([pt.world().size])
    (left, right), (small, more) = line.neighbor_ranks(line.rank)[0], divmod(cells, line.size)
    start = line.rank * small + min(line.rank, more)
    count = small + (line.rank < more)
    u = np.sin(np.pi * np.arange(start + 1, start + count + 1) / (cells + 1))
    for _ in range(steps):
        ends = line.allgather_data([u[0], u[-1]])
        before = ends[left, 1] if left is not None else 0.0
        after = ends[right, 0] if right is not None else 0.0
        wide = np.concatenate([[before], u, [after]])
        u = u + speed * (wide[:-2] - 2 * u + wide[2:])
    return u, float(line.allgather_data(u.sum()).sum())


def main(cells=200, steps=300):
    speed = 0.4
    pieces = pt.spmd(lambda: piece(cells, steps, speed))
    u = np.concatenate([mine for mine, _ in pieces])
    factor = (1 - 4 * speed * np.sin(np.pi / 2 / (cells + 1)) ** 2) ** steps
    error = abs(u - factor * np.sin(np.pi * np.arange(1, cells + 1) / (cells + 1))).max()
    if 0 in pt.hosted_ranks():
        print(f"heat {pieces[0][1]:.9f} on {len(pieces)} ranks, error {error:.1e}")
    assert error < 1e-12


if __name__ == "__main__":
    main(*(int(number) for number in sys.argv[1:]))
