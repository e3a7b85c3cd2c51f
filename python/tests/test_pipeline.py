"""Functions of chunks against NumPy on everything at once."""

import numpy as np
import pytest

import pantile as pt
from conftest import same

TYPES = ["i1", "i4", "i8", "u2", "u8", "f4", "f8", "c8", "c16"]
CHUNKS = [None, 1, 2, 3, 5, 50]


def numbers(shape, kind="f8", seed=3):
    return np.random.default_rng(seed).integers(0, 50, size=shape).astype(kind)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("chunks", CHUNKS)
def test_types(kind, chunks):
    given = numbers((7, 3), kind)
    a = pt.asarray(given, dist=0)
    doubled, total = pt.pipeline(
        lambda c: (c + c, pt.sum(c, axis=0)), a, combine=(0, "sum"), chunks=chunks
    )
    same(doubled, given + given)
    same(total, np.asarray(pt.sum(a, axis=0)))


@pytest.mark.parametrize("chunks", CHUNKS)
@pytest.mark.parametrize("dist", [0, 1, None, "nb", "cn"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_axes(dist, axis, chunks):
    given = numbers((4, 6))
    a = pt.asarray(given, dist=dist)
    turned, least, most, some, every = pt.pipeline(
        lambda c: (c.T, pt.min(c, axis=axis), pt.max(c, axis=axis), pt.any(c > 48), pt.all(c > 0)),
        a, split=axis, combine=(1 - axis % 2, "min", "max", "any", "all"), chunks=chunks,
    )  # fmt: skip
    same(turned, given.T)
    same(least, given.min(axis=axis))
    same(most, given.max(axis=axis))
    same(some, (given > 48).any())
    same(every, (given > 0).all())


@pytest.mark.parametrize("rows", [0, 1, 2, 9])
def test_rows(rows):
    given, row = numbers((rows, 5)), numbers((1, 5), seed=4)
    a, b = pt.asarray(given, dist=0), pt.asarray(row, dist=0)
    total = pt.pipeline(lambda c: pt.sum(c), a, combine="sum")
    same(total, given.sum())
    same(pt.pipeline(lambda r: pt.sum(r), b, combine="sum", chunks=4), row.sum())
    same(pt.pipeline(lambda r, c: r + c, b, a, split=[None, 0]), row + given)
    same(pt.pipeline(lambda c, d: c * d, a, a), given * given)
    product = pt.pipeline(lambda c: pt.prod(c % 3 + 1, axis=0), a, combine="prod", chunks=3)
    same(product, (given % 3 + 1).prod(axis=0))


def test_nothing_moves_that_is_there():
    a = pt.asarray(numbers((40, 6)), dist=0)
    w = pt.asarray(numbers(6), dist=None)
    pt.compute(a, w)
    with pt.comm_stats() as stats:
        scaled, sums = pt.pipeline(
            lambda c, w: (c * w, pt.sum(c, axis=1)), a, w, split=(0, None), combine=(0, 0)
        )
        assert stats.programs == 0
        pt.compute(scaled, sums)
        pt.pipeline(lambda c, s: c - s[:, None], scaled, sums).compute()
    assert stats.bytes == 0
    with pt.no_comm():
        pt.pipeline(lambda c: c + 1, scaled).compute()


def test_chunks_are_private():
    a = pt.arange(6)

    def function(chunk):
        chunk[:] = -1
        return chunk

    same(pt.pipeline(function, a), np.full(6, -1))
    same(a, np.arange(6))


def test_mistakes():
    a = pt.zeros((4, 2))
    for error, words, call in [
        (TypeError, "got int, expected a function", lambda: pt.pipeline(3, a)),
        (TypeError, "input 1 is ndarray", lambda: pt.pipeline(pt.add, a, np.ones(2))),
        (ValueError, "input 0 has 2 axes, got split=2", lambda: pt.pipeline(abs, a, split=2)),
        (ValueError, "input 0 has 2 axes, got split=-3", lambda: pt.pipeline(abs, a, split=-3)),
        (TypeError, "got split='rows'", lambda: pt.pipeline(abs, a, split="rows")),
        (ValueError, "got 2 splits for 1 inputs", lambda: pt.pipeline(abs, a, split=(0, 1))),
        (ValueError, "no input that is split", lambda: pt.pipeline(abs, a, split=None)),
        (ValueError, "no input that is split", lambda: pt.pipeline(abs)),
        (ValueError, "got no combines", lambda: pt.pipeline(abs, a, combine=())),
        (ValueError, 'got combine "mean".*sum, prod, min', lambda: pt.pipeline(abs, a, combine="mean")),
        (ValueError, "got combine=-1", lambda: pt.pipeline(abs, a, combine=-1)),
        (TypeError, "got combine=1.5", lambda: pt.pipeline(abs, a, combine=1.5)),
        (ValueError, "got chunks=0", lambda: pt.pipeline(abs, a, chunks=0)),
        (ValueError, "got chunks=-2", lambda: pt.pipeline(abs, a, chunks=-2)),
        (TypeError, "got chunks='two'", lambda: pt.pipeline(abs, a, chunks="two")),
        (TypeError, "output 0 is int", lambda: pt.pipeline(lambda c: 3, a)),
        (TypeError, "gave Array, expected 2 arrays", lambda: pt.pipeline(abs, a, combine=(0, 0))),
        (ValueError, "gives 1 arrays, expected 2", lambda: pt.pipeline(lambda c: [c], a, combine=(0, 0))),
        (ValueError, "to concatenate along axis 2", lambda: pt.pipeline(abs, a, combine=2)),
        (ValueError, "expected one for sum", lambda: pt.pipeline(abs, a, combine="sum", chunks=3)),
        (ValueError, "input 1: got length 2 along axis 1", lambda: pt.pipeline(abs, a, a, split=(0, 1))),
        (ZeroDivisionError, "division", lambda: pt.pipeline(lambda c: 1 // 0, a)),
    ]:  # fmt: skip
        with pytest.raises(error, match=words):
            call()
