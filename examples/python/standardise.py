"""Columns with mean 0 and deviation 1: rows are cut, so only sums of columns move.

python standardise.py [ROWS] [COLUMNS]
"""

import sys

import numpy as np

import pantile as pt


def standardise(data):
    """Every column less its mean, by its standard deviation."""
    return (data - data.mean(axis=0)) / data.std(axis=0)


def moved(rows, columns):
    """Random columns, standardised, and the bytes that this moved between ranks."""
    rng = pt.random.default_rng(2024)
    data = rng.standard_normal((rows, columns), dist=0) * pt.linspace(1, 10, columns) + 5
    data.compute()
    with pt.comm_stats() as stats:
        result = standardise(data).compute()
    return result, stats.bytes


def say(text):
    """Prints once, also where every process runs this program."""
    if 0 in pt.hosted_ranks():
        print(text)


def main(rows=100_000, columns=8):
    result, size = moved(rows, columns)
    say(f"{rows} x {columns} on {pt.ranks()} ranks moved {size} bytes")
    say(repr(result))

    assert np.allclose(result.mean(axis=0), 0, atol=1e-9)
    assert np.allclose(result.std(axis=0), 1)
    # However many rows there are, the same few sums move.
    assert moved(rows // 2, columns)[1] == size


if __name__ == "__main__":
    main(*(int(number) for number in sys.argv[1:]))
