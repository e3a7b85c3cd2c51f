"""Copies: by methods, by Python's `copy`, by pickle, and by functions that always copy."""

import copy
import multiprocessing
import pickle

import numpy as np
import pytest

import pantile as pt
from conftest import TYPES

WAYS = {
    "method": lambda a: a.copy(),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "deepcopy of a list": lambda a: copy.deepcopy([a])[0],
    "pickle": lambda a: pickle.loads(pickle.dumps(a)),
    "numpy": np.copy,
    "asarray": lambda a: pt.asarray(a, copy=True),
    "astype": lambda a: a.astype(a.dtype),
    "no roll": lambda a: pt.roll(a, (), axis=()),
    "a roll by nothing": lambda a: pt.roll(a, 0),
    "a roll by all": lambda a: pt.roll(a, a.shape[0], axis=0),
    "flip of no axis": lambda a: pt.flip(a, axis=()),
    "one block": lambda a: pt.concat([a]),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("view", [False, True])
def test_a_copy_shares_no_element(way, view):
    base = pt.asarray(np.arange(12.0).reshape(4, 3), dist=0)
    a = base[1:, ::2] if view else base
    before = a.tolist()
    other = WAYS[way](a)
    other[0, 0] = -1.0
    a[1, 1] = -2.0
    expected = np.asarray(before)
    expected[0, 0] = -1.0
    assert other.tolist() == expected.tolist()
    assert (float(a[0, 0]), float(a[1, 1])) == (before[0][0], -2.0)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(), (0,), (7,), (2, 3), (4097,)], ids=str)
def test_pickle_keeps_type_shape_and_elements(dtype, shape):
    plain = (np.arange(np.prod(shape, dtype=int)) % 100).astype(dtype).reshape(shape)
    again = pickle.loads(pickle.dumps(pt.asarray(plain)))
    assert isinstance(again, pt.Array)
    np.testing.assert_array_equal(np.asarray(again), plain, strict=True)


def test_an_array_goes_to_another_process():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(np.sum, [pt.arange(5.0, dist=0)]).item() == 10.0
