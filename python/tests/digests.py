"""Prints a digest of many results. The output is the same for any number of ranks, on threads, as
processes and on the workers of a cluster: `./test` compares it."""

import hashlib

import numpy as np

import pantile as pt
from programs import PROGRAMS
import workers  # noqa: F401 - before the first array


def results():
    """Arrays by name: everything that rounds, in every place that arrays can live."""
    for dist in (0, 1, "cn", "bn", None, "auto"):
        rng = pt.random.Generator(11)
        a = rng.standard_normal((37, 23), dist=dist)
        b = rng.random((37, 23), dist=dist)
        yield "numbers", a
        yield "functions", pt.exp(a) * pt.sin(b) + pt.log1p(b) / (pt.abs(a) + 0.1)
        yield "columns", pt.stack([pt.mean(a, axis=0), pt.std(a, axis=0), pt.sum(a * b, axis=0)])
        yield "sums", pt.stack([pt.sum(a), pt.prod(b), pt.vector_norm(a), pt.var(b, correction=1)])
        yield "products", pt.concat([a @ b.T, pt.permute_dims(b[:, :7], (1, 0)) @ a[:, ::-1] @ b.T])
        u = a.copy()
        for _ in range(5):
            u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        yield "stencil", u
        yield "turned", (a.T[::-1, ::3] + 1.0).redistribute(0)
        scaled, total, least = pt.pipeline(
            lambda c, w: (c.T * 3.0, pt.sum(c * w, axis=0), pt.min(c)),
            a, b[0], split=(0, None), combine=(1, "sum", "min"), chunks=4,
        )  # fmt: skip
        yield "chunks", scaled
        yield "chunks", pt.concat([total, pt.reshape(least, (1,))])
        yield "spaced", pt.linspace(0, 1, 1001, dist=0)
    for program, (run, make) in PROGRAMS.items():
        for result in run(pt, pt.asarray(make(), dist=0)):
            yield program, pt.asarray(result)


def main():
    """One line per result."""
    for name, array in results():
        digest = hashlib.sha256(np.asarray(array).tobytes()).hexdigest()[:16]
        if 0 in pt.hosted_ranks():
            print(f"{name} {array.dtype} {array.shape} {digest}")


main()
