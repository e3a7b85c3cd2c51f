"""What is refused is refused with a sentence that helps."""

import re

import numpy as np
import pytest

import pantile as pt


@pytest.fixture
def a():
    return pt.arange(4, dist=0)


REFUSED = {
    "truth": (lambda a: bool(a > 0), ValueError, r"shape \(4,\).*any\(\) or a.all\(\)"),
    "if": (lambda a: 1 if a else 2, ValueError, r"any\(\) or a.all\(\)"),
    "numbers in dist": (lambda a: pt.zeros((4, 4), dist=(0, 1)), ValueError, r"dist=\(0, 1\).*mesh axis"),
    "power": (lambda a: a**-1, ValueError, "negative powers"),
    "powers": (lambda a: a ** (a - 2), ValueError, "negative powers"),
    "power of a number": (lambda a: 2 ** (a - 2), ValueError, "negative powers"),
    "pt.pow": (lambda a: pt.pow(a, -2), ValueError, "negative powers"),
    "np.power": (lambda a: np.power(a, np.asarray([1, 1, 1, -1])), ValueError, "negative powers"),
    "in place": (lambda a: a.__ipow__(-1), ValueError, "negative powers"),
    "stack": (lambda a: np.stack([a, np.ones(3)]), ValueError, r"\(4,\), \(3,\)"),
    "ufunc": (lambda a: np.spacing(pt.concat([a] * 9999)), TypeError, "np.spacing does not know"),
    "accumulate": (lambda a: np.add.accumulate(pt.concat([a] * 9999)), TypeError, "add.accumulate does not"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_mistake_is_told_and_changes_nothing(a, what):
    call, kind, words = REFUSED[what]
    with pytest.raises(kind) as caught:
        call(a)
    assert re.search(words, str(caught.value)), caught.value
    assert len(str(caught.value)) < 300
    assert a.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("module", [np, pt])
@pytest.mark.parametrize("name", ["stack", "concat"])
def test_arrays_of_both_kinds_are_joined(a, name, module, order):
    """None of them needs to know how arrays of the other kind are made inside."""
    plain = [np.arange(4), np.ones(4, int)]
    call = getattr(module, name, np.concatenate)
    ours = call([a, plain[1]][::order])
    theirs = getattr(np, "concatenate" if name == "concat" else name)(plain[::order])
    np.testing.assert_array_equal(np.asarray(ours), theirs, strict=True)


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "uint64"])
def test_powers_of_integers_are_those_of_numpy(dtype):
    plain = np.arange(5).astype(dtype)
    a = pt.asarray(plain, dist=0)
    np.testing.assert_array_equal(np.asarray(a**2), plain**2, strict=True)
    np.testing.assert_array_equal(np.asarray(a**a), plain**plain, strict=True)
    np.testing.assert_array_equal(np.asarray(a.astype("f8") ** -1), plain.astype("f8") ** -1)
    np.testing.assert_array_equal(np.asarray((a + 1) ** -1.5), (plain + 1) ** -1.5)


@pytest.mark.parametrize("exponent", [-1, [-1], [[-2, 3]]], ids=str)
@pytest.mark.parametrize("base", ["int8", "int64", "uint64"])
def test_nothing_and_floats_have_negative_powers(base, exponent):
    powers = exponent if exponent == -1 else np.asarray(exponent)
    ours = exponent if exponent == -1 else pt.asarray(powers)
    if base != "uint64":
        plain = np.zeros((0, 1), base)
    elif exponent == -1:
        return  # too small for this type, in NumPy too
    else:
        plain = np.arange(1, 5, dtype=base).reshape(4, 1)
    np.testing.assert_array_equal(np.asarray(pt.asarray(plain, dist=0) ** ours), plain**powers, strict=True)


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (0, 0), (2, 0, 3)], ids=str)
def test_nothing_has_no_largest_element(name, shape):
    a, b = pt.zeros(shape), np.zeros(shape)
    for axis in [None, *range(len(shape))]:
        if axis is None or shape[axis] == 0:
            with pytest.raises(ValueError, match=f"{name} of no elements is not defined"):
                getattr(pt, name)(a, axis=axis)
            with pytest.raises(ValueError):
                getattr(np, name)(b, axis=axis)
        else:
            assert getattr(pt, name)(a, axis=axis).shape == getattr(np, name)(b, axis=axis).shape


def test_the_largest_norm_of_nothing_is_zero():
    assert float(pt.vector_norm(pt.zeros(0), ord=np.inf)) == 0.0 == np.linalg.norm(np.zeros(0), np.inf)
