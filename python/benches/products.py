"""Products of matrices beside NumPy's, whose library is the machine's best: `python python/benches/products.py`.

Both run on one thread, in turns; the best of a few rounds counts. A ratio of 1 is as fast as NumPy.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("PANTILE_RANKS", "1")

import time

import numpy as np

import pantile as pt

CASES = [
    ((2048, 2048), (2048, 2048), "float64"),
    ((2048, 2048), (2048, 2048), "float32"),
    ((512, 512), (512, 512), "float64"),
    ((512, 512), (512, 512), "complex128"),
    ((64, 64), (64, 64), "float64"),
    ((100_000, 16), (16, 16), "float64"),
    ((4000, 4000), (4000,), "float64"),
    ((4000,), (4000, 4000), "float64"),
]
ROUNDS = 5


def seconds(call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main() -> None:
    rng = np.random.default_rng(1)
    for left, right, dtype in CASES:
        a, b = rng.random(left).astype(dtype), rng.random(right).astype(dtype)
        x, y = pt.asarray(a), pt.asarray(b)

        def ours(x=x, y=y):
            np.asarray(x @ y)

        def theirs(a=a, b=b):
            a @ b

        ours(), theirs()
        times = [(seconds(ours), seconds(theirs)) for _ in range(ROUNDS)]
        best, other = (min(column) for column in zip(*times, strict=True))
        work = 2e-9 * np.prod(left) * np.prod(right[1:])
        shapes = f"{'x'.join(map(str, left))} @ {'x'.join(map(str, right))}"
        print(
            f"{shapes:24} {dtype:10} {work / best:7.1f} of ours, {work / other:7.1f} of NumPy's "
            f"(billions a second), ratio {other / best:.2f}"
        )


if __name__ == "__main__":
    main()
