"""Memory that arrays share with other libraries: how long it lives."""

import gc
import weakref

import numpy as np
from test_interchange import whole

import pantile as pt


def dead(reference):
    gc.collect()
    return reference() is None


def test_memory_lives_as_long_as_somebody_needs_it():
    memory = np.arange(5000.0)
    gone = weakref.ref(memory)
    array = pt.from_distarray(whole(memory))
    del memory
    assert not dead(gone)
    total = array.sum()
    assert float(total) == 4999 * 2500
    part = array[10:20]
    del array
    assert not dead(gone), "a view needs it"
    assert part.tolist() == list(range(10, 20))
    del part, total
    assert dead(gone)


def test_memory_that_was_assigned_to_is_let_go():
    for order in "CF":
        memory = np.zeros((40, 30), order=order)
        gone = weakref.ref(memory)
        array = pt.from_distarray(whole(memory))
        array[...] = array + 1
        array[0] = 5
        array.compute()
        assert memory[1, 1] == 1
        del memory, array
        assert dead(gone)


def test_elements_outlive_their_array():
    array = pt.zeros(1000, dist=0)
    theirs = [np.asarray(one) for one in array.sections]
    structures = [one.__distarray__() for one in array.sections]
    capsules = [np.from_dlpack(one) for one in array.sections]
    array[...] = 6
    array.compute()
    del array
    gc.collect()
    pt.zeros(1000, dist=0).compute()
    for one, structure, third in zip(theirs, structures, capsules):
        assert (one == 6).all() and np.shares_memory(one, structure["buffer"]) and np.shares_memory(one, third)
        one[...] = 7
        assert (third == 7).all()


def test_an_array_that_nobody_looks_at_any_more_is_an_ordinary_one():
    array = pt.zeros(10_000, dist=0)
    theirs = np.asarray(array.sections[0])
    theirs[...] = 1
    del theirs
    gc.collect()
    snapshot = array.sections[0].data
    array += 1
    array.compute()
    assert (snapshot == 1).all(), "what was seen does not change"
    assert float(array[0]) == 2
