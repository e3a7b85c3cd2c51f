"""`a @ b` and its relatives, against NumPy and against the rule that fixes the bits."""

import numpy as np
import pytest

import pantile as pt

DISTS = ["copies", 0, 1]
TYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
         "float32", "float64", "complex64", "complex128"]  # fmt: skip


def numbers(shape, dtype="float64", seed=0):
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind in "iu":
        return rng.integers(0, 100, shape).astype(dtype)
    parts = rng.standard_normal(shape)
    return (parts + 1j * rng.standard_normal(shape) if kind == "c" else parts).astype(dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("one", DISTS)
@pytest.mark.parametrize("other", DISTS)
def test_matrices(dtype, one, other):
    a, b = numbers((7, 5), dtype, 1), numbers((5, 6), dtype, 2)
    got = pt.asarray(a, dist=one) @ pt.asarray(b, dist=other)
    assert got.dtype == a.dtype and got.shape == (7, 6)
    if np.dtype(dtype).kind in "iu":
        assert np.array_equal(np.asarray(got), a @ b)
    else:
        assert np.allclose(np.asarray(got), a @ b, rtol=1e-5)


@pytest.mark.parametrize("dist", ["copies", 0])
@pytest.mark.parametrize(
    "one, other",
    [((3,), (3,)), ((4, 3), (3,)), ((3,), (3, 4)), ((2, 4, 3), (3, 5)), ((4, 3), (2, 3, 5)),
     ((2, 1, 4, 3), (5, 3, 2)), ((2, 4, 3), (3,)), ((3,), (2, 3, 5)), ((0, 3), (3, 2)),
     ((2, 0), (0, 3)), ((0,), (0,)), ((1, 1), (1, 1)), ((6, 600), (600, 2))],
)  # fmt: skip
def test_shapes(one, other, dist):
    a, b = numbers(one, seed=3), numbers(other, seed=4)
    got = pt.matmul(pt.asarray(a, dist=dist), pt.asarray(b, dist=dist))
    expected = np.matmul(a, b)
    assert got.shape == np.shape(expected)
    assert np.allclose(np.asarray(got), expected)


def test_the_rule():
    """Chains of fused multiply-adds over panels of 256, exactly: in integers that floats hold."""
    from fractions import Fraction

    def fused(a, b, c):
        exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
        return exact.numerator / exact.denominator

    a, b = numbers((2, 530), seed=5), numbers((530, 3), seed=6)
    got = np.asarray(pt.asarray(a, dist=0) @ pt.asarray(b, dist=1))
    for row in range(2):
        for column in range(3):
            panels = []
            for first in range(0, 530, 256):
                total = 0.0
                for k in range(first, min(first + 256, 530)):
                    total = fused(a[row, k], b[k, column], total)
                panels.append(total)
            all_of_them = panels[0]
            for panel in panels[1:]:
                all_of_them += panel
            assert got[row, column] == all_of_them


def test_transposes_and_views():
    a = numbers((8, 6), seed=7)
    x = pt.asarray(a, dist=0)
    assert np.allclose(np.asarray(x.T @ x), a.T @ a)
    assert np.allclose(np.asarray(x @ x.T), a @ a.T)
    assert np.allclose(np.asarray(x[::2, 1:] @ x[1:6, ::-1]), a[::2, 1:] @ a[1:6, ::-1])
    assert np.allclose(np.asarray((x + 1) @ x.mT), (a + 1) @ a.T)


def test_beside_numpy():
    a, b = numbers((3, 4), seed=8), numbers((4, 2), seed=9)
    x, y = pt.asarray(a, dist=0), pt.asarray(b, dist=0)
    for got in (a @ y, x @ b, np.matmul(x, y), np.matmul(a, y), pt.matmul(a, y)):
        assert isinstance(got, pt.Array)
        assert np.allclose(np.asarray(got), a @ b)
    assert np.allclose(np.asarray(np.tensordot(x, y, axes=1)), a @ b)
    square = pt.asarray(numbers((3, 3), seed=10), dist=0)
    same = square
    expected = np.asarray(square) @ np.asarray(square)
    square @= square
    assert same is square and np.allclose(np.asarray(same), expected)


def test_vecdot():
    a, b = numbers((4, 3), "complex128", 11), numbers((4, 3), "complex128", 12)
    x, y = pt.asarray(a, dist=0), pt.asarray(b, dist=0)
    assert np.allclose(np.asarray(pt.vecdot(x, y)), np.sum(a.conj() * b, axis=-1))
    assert np.allclose(np.asarray(pt.vecdot(x, y, axis=-2)), np.sum(a.conj() * b, axis=0))
    assert np.allclose(np.asarray(pt.vecdot(x, y[0])), np.sum(a.conj() * b[0], axis=-1))
    assert float(pt.vecdot(pt.asarray([1e100, 1.0, -1e100]), pt.ones(3))) == 1.0
    assert pt.vecdot(pt.ones(3, dtype="int8"), pt.ones(3, dtype="int8")).dtype == np.int8


@pytest.mark.parametrize("axes", [0, 1, 2, ([1], [0]), ([0, 2], [1, 0]), ([-1], [0]), ([], [])])
def test_tensordot(axes):
    shapes = {0: ((2, 3), (4,)), 1: ((2, 3), (3, 4, 2)), 2: ((5, 2, 3), (2, 3, 4))}
    one, other = shapes.get(axes if isinstance(axes, int) else -1, ((3, 2, 4), (4, 3, 2)))
    if axes == ([1], [0]):
        one, other = (3, 4, 2), (4, 3, 2)
    a, b = numbers(one, seed=13), numbers(other, seed=14)
    got = pt.tensordot(pt.asarray(a, dist=0), pt.asarray(b, dist=0), axes=axes)
    expected = np.tensordot(a, b, axes=axes)
    assert got.shape == expected.shape
    assert np.allclose(np.asarray(got), expected)


def test_refusals():
    a = pt.ones((2, 3), dist=0)
    with pytest.raises(ValueError, match="axis 1 of the left has 3 elements, axis 0 of the right 2"):
        a @ a
    with pytest.raises(ValueError, match="expected at least 1 each"):
        a @ pt.asarray(1.0)
    with pytest.raises(ValueError, match="not defined for elements of type bool"):
        (a > 0) @ (a > 0).T
    with pytest.raises(TypeError):
        a @ 2.0
    with pytest.raises(TypeError, match="matmul takes arrays, got 2.0"):
        pt.matmul(a, 2.0)
    with pytest.raises(ValueError, match="expected last axes of equal length"):
        pt.vecdot(a, pt.ones(2))
    with pytest.raises(IndexError, match="expected one from -2 to -1"):
        pt.vecdot(a, a, axis=1)
    with pytest.raises(ValueError, match="got 3 axes of arrays with 2 and 2"):
        pt.tensordot(a, a, axes=3)
    with pytest.raises(ValueError, match="of equal lengths"):
        pt.tensordot(a, a, axes=1)
    with pytest.raises(ValueError, match="got 1 lists of axes"):
        pt.tensordot(a, a, axes=([1],))
