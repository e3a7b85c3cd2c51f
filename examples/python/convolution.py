"""An image in tiles is convolved, and the adjoint brings gradients back: halos both ways.

    python convolution.py [ROWS] [COLUMNS] [KERNEL]
"""

import math
import sys

import numpy as np

import pantile as pt


def convolve(image, kernel):
    """Every output of a kernel that lies inside of the image."""
    windows = np.lib.stride_tricks.sliding_window_view(image, kernel.shape)
    return sum(tap * windows[:, :, i, j] for (i, j), tap in np.ndenumerate(kernel))


def spread(outputs, image, kernel):
    """The adjoint of `convolve`: adds to an image what its outputs say."""
    for (i, j), tap in np.ndenumerate(kernel):
        image[i : i + outputs.shape[0], j : j + outputs.shape[1]] += tap * outputs


def part(array, ranges):
    return array[tuple(slice(*one) for one in ranges)]


def tile(image, kernel, gradient):
    """One rank: where its outputs are, these, and both sides of the dot-product test."""
    everyone = pt.world()
    high = max(n for n in range(1, math.isqrt(everyone.size) + 1) if everyone.size % n == 0)
    grid = everyone.create_cartesian_topology_partition((high, everyone.size // high))
    halo = pt.halos(image.shape, grid.shape, kernel.shape)[grid.rank]
    exchange = pt.HaloExchange(grid, halo)

    x, dy = part(image, halo.x), part(gradient, halo.y)
    y = convolve(part(exchange.forward(np.pad(x, halo.recv)), halo.needed), kernel)
    back = np.zeros_like(np.pad(x, halo.recv))
    spread(dy, part(back, halo.needed), kernel)
    own = [(left, left + size) for (left, _), size in zip(halo.recv, x.shape)]
    dx = part(exchange.adjoint(back), own)
    return halo.y, y, *everyone.allgather_data([np.vdot(y, dy), np.vdot(x, dx)]).sum(axis=0)


def main(rows=96, columns=64, size=5):
    image = np.sin(np.add.outer(np.arange(rows), 3.0 * np.arange(columns)))
    kernel = np.outer(np.hanning(size + 2)[1:-1], np.linspace(-1, 1, size))
    whole = convolve(image, kernel)
    for place, y, one, two in pt.spmd(lambda: tile(image, kernel, np.cos(whole))):
        np.testing.assert_array_equal(y, part(whole, place))
    assert abs(one - two) < 1e-9 * abs(whole).sum()
    if 0 in pt.hosted_ranks():
        print(f"<F x, y> = {one:.9f}, <x, F* y> = {two:.9f} on {pt.ranks()} ranks")


if __name__ == "__main__":
    main(*(int(number) for number in sys.argv[1:]))
