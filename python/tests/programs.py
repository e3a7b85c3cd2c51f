"""Ordinary programs, as people write them for NumPy: `np` is NumPy or Pantile, inputs are arrays of it.
Each gives a list of arrays and numbers."""

import numpy


def _noise(*shape):
    return numpy.random.default_rng(7).random(shape)


def heat(np, u):
    for _ in range(30):
        u[1:-1, 1:-1] += 0.2 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])
    return [u]


def wave(np, u):
    """A string with two probes, whose values of every step are kept."""
    old, probes = u.copy(), []
    for _ in range(40):
        new = 2 * u - old
        new[1:-1] += 0.3 * (u[:-2] - 2 * u[1:-1] + u[2:])
        new[0] = new[-1] = 0.0
        old, u = u, new
        probes.append((u[3], u[-4]))
    return [u, *(one for pair in probes for one in pair)]


def relaxation(np, u):
    """Red and black cells in turns, until little changes."""
    rows, columns = np.meshgrid(np.arange(u.shape[0]), np.arange(u.shape[1]), indexing="ij")
    red = ((rows + columns) % 2 == 0)[1:-1, 1:-1]
    for step in range(200):
        before = u.copy()
        for colour in (red, ~red):
            mean = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
            u[1:-1, 1:-1] = np.where(colour, mean, u[1:-1, 1:-1])
        if float(np.max(np.abs(u - before))) < 1e-3:
            break
    return [u, step]


def life(np, cells):
    for _ in range(20):
        around = sum(
            np.roll(np.roll(cells, i, axis=0), j, axis=1) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j
        )
        cells = ((around == 3) | ((cells == 1) & (around == 2))).astype(np.int64)
    return [cells, np.sum(cells)]


def power_iteration(np, a):
    m = a + a.T
    v = np.ones(m.shape[0])
    for _ in range(20):
        v = m @ v
        v = v / np.sqrt(np.sum(v * v))
    return [v, np.sum(v * (m @ v))]


def bodies(np, x):
    """Forces by broadcasting, and a few steps of leapfrog."""
    v = np.zeros_like(x)
    for _ in range(5):
        d = x[None, :, :] - x[:, None, :]
        r = np.sum(d * d, axis=2) + 0.01
        v += 0.01 * np.sum(d / (r * np.sqrt(r))[:, :, None], axis=1)
        x = x + 0.01 * v
    return [x, v]


def regression(np, x):
    """Logistic regression by gradient descent."""
    y = (x[:, 0] + 0.5 * x[:, 1] > 0.8).astype(np.float64)
    w = np.zeros(x.shape[1])
    for _ in range(20):
        p = 1 / (1 + np.exp(-(x @ w)))
        w = w - 0.5 * (x.T @ (p - y)) / x.shape[0]
    return [w, np.mean((p > 0.5) == (y > 0.5))]


def paths(np, d):
    """All shortest paths."""
    d = 10 * d + 1
    for k in range(d.shape[0]):
        d = np.minimum(d, d[:, k : k + 1] + d[k : k + 1, :])
    return [d]


def lorenz(np, x):
    def f(s):
        a, b, c = s[0], s[1], s[2]
        return np.stack([10 * (b - a), a * (28 - c) - b, a * b - 8 / 3 * c])

    for _ in range(20):
        k = f(x)
        m = f(x + 0.005 * k)
        x = x + 0.01 * m
    return [x]


def mandelbrot(np, noise):
    re, im = np.meshgrid(np.linspace(-2, 1, 60), np.linspace(-1, 1, 40))
    c = re + 1j * im
    z, count = np.zeros_like(c), np.zeros(c.shape, dtype=np.int64)
    for _ in range(30):
        inside = np.abs(z) <= 2
        z = np.where(inside, z * z + c, z)
        count = count + np.where(inside, 1, 0)
    return [count + 0 * (noise[0, 0] > 2)]


def insertion_sort(np, x):
    x = x[0, :16] * 1.0
    for i in range(1, x.shape[0]):
        key, j = x[i], i - 1
        while j >= 0 and x[j] > key:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = key
    return [x, x[0] + x[-1]]


def statistics(np, x):
    z = (x - np.mean(x, axis=0)) / np.std(x, axis=0)
    return [z.T @ z / x.shape[0], np.argmax(x, axis=1), np.any(x > 0.99), np.prod(x[:3, :3] + 1)]


def horner(np, x):
    total = np.zeros_like(x)
    for k in range(10, -1, -1):
        total = total * x + (-1) ** k / (k + 1)
    return [total, np.log1p(x), np.sum(np.abs(total * x - np.log1p(x)))]


#: Programs with their inputs; sizes on both sides of 4,096 elements.
PROGRAMS = {
    "heat": (heat, lambda: 100 * _noise(70, 66)),
    "wave": (wave, lambda: numpy.sin(numpy.linspace(0, 9, 5000))),
    "relaxation": (relaxation, lambda: _noise(40, 30)),
    "life": (life, lambda: (_noise(48, 50) > 0.6).astype(numpy.int64)),
    "power iteration": (power_iteration, lambda: _noise(65, 65)),
    "bodies": (bodies, lambda: _noise(30, 3)),
    "regression": (regression, lambda: _noise(2100, 3)),
    "paths": (paths, lambda: _noise(24, 24)),
    "lorenz": (lorenz, lambda: 10 * _noise(3, 1400)),
    "mandelbrot": (mandelbrot, lambda: _noise(1, 1)),
    "insertion sort": (insertion_sort, lambda: _noise(2, 20)),
    "statistics": (statistics, lambda: _noise(500, 9)),
    "horner": (horner, lambda: _noise(97, 97)),
}
