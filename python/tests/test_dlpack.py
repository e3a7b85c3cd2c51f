"""DLPack: of sections, and of arrays that are whole in one place; and what comes in by it."""

import gc
import weakref

import numpy as np
import pytest
from conftest import TYPES, same

import pantile as pt


@pytest.fixture
def peer():
    """A library besides NumPy that speaks DLPack both ways."""
    return pytest.importorskip("tvm_ffi")


@pytest.mark.parametrize("dtype", TYPES)
def test_sections_go_to_numpy_and_to_others(dtype, peer):
    array = pt.zeros((6, 4), dtype=dtype, dist=0)
    array[...] = np.arange(24).reshape(6, 4).astype(dtype)
    expected = np.arange(24).reshape(6, 4).astype(dtype)
    for section in array.sections:
        if not section.data.size:
            continue
        theirs = np.from_dlpack(section)
        np.testing.assert_array_equal(theirs, expected[section.index[0]])
        third = peer.from_dlpack(section)
        assert tuple(third.shape) == theirs.shape
        theirs[0, 0] = 1
        assert np.from_dlpack(third)[0, 0] == 1
        same(pt.from_dlpack(third), theirs)
    first = [one.index[0].start for one in array.sections if one.data.size]
    expected[first, 0] = 1
    same(array, expected)


def test_strides_go_along():
    pt.init(ranks=2)
    array = pt.zeros((8, 4), dist=0)
    for section in array[::2, 1::2].sections:
        theirs = np.from_dlpack(section)
        assert theirs.shape[1] == 2 and theirs.strides == (64, 16)
        theirs[...] = 3
    expected = np.zeros((8, 4))
    expected[::2, 1::2] = 3
    same(array, expected)


def test_what_the_caller_asks_for():
    pt.init(ranks=1)
    array = pt.arange(4.0)
    section = array.section(0)
    assert array.__dlpack_device__() == section.__dlpack_device__() == (1, 0)
    for one in (array, section):
        assert '"dltensor"' in repr(one.__dlpack__())
        assert '"dltensor"' in repr(one.__dlpack__(max_version=(0, 8)))
        assert '"dltensor_versioned"' in repr(one.__dlpack__(max_version=(1, 0)))
        assert '"dltensor_versioned"' in repr(one.__dlpack__(max_version=(1, 0), dl_device=(1, 0), copy=False))
        with pytest.raises(BufferError, match="stream"):
            one.__dlpack__(stream=1)
        with pytest.raises(BufferError, match="device"):
            one.__dlpack__(dl_device=(2, 0))

    class Copies:
        def __dlpack__(self, **words):
            return section.__dlpack__(**{**words, "copy": True})

        def __dlpack_device__(self):
            return 1, 0

    theirs = np.from_dlpack(Copies())
    theirs[...] = 7
    assert array.tolist() == [0, 1, 2, 3]
    theirs = np.from_dlpack(array)
    theirs[...] = 7
    assert array.tolist() == [7] * 4


def test_copies_are_only_to_be_read():
    pt.init(ranks=3)
    array = pt.arange(4)
    assert not np.from_dlpack(array).flags.writeable
    assert '"dltensor"' in repr(array.__dlpack__()), "a copy, because it could not say so"
    with pytest.raises(BufferError):
        array.__dlpack__(copy=False)


def test_what_is_spread_is_refused():
    pt.init(ranks=2)
    with pytest.raises(BufferError, match="spread over 2 ranks"):
        np.from_dlpack(pt.zeros(4, dist=0))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("copy", [None, False, True])
def test_memory_comes_in(dtype, copy):
    given = np.arange(24).reshape(4, 6).astype(dtype)
    for memory in (given, given[::2, ::-1], given.T, given[:0], given[2, 3]):
        memory = np.asarray(memory)
        if not memory.shape:
            memory = memory.reshape(())
        array = pt.from_dlpack(memory, copy=copy)
        same(array, memory)
        before = memory.copy()
        memory[...] = 0
        same(array, before if copy else memory)
        array[...] = 1
        array.compute()
        assert memory.all() if not copy else not memory.any()


def test_large_arrays_are_spread():
    pt.init(ranks=2)
    given = np.arange(5000.0)
    spread, shared = pt.from_dlpack(given), pt.from_dlpack(given, copy=False)
    assert str(spread.dist) == "5000 on r=2: block(r)"
    given[0] = 9
    assert float(spread[0]) == 0 and float(shared[0]) == 9
    shared[1] = 8
    shared.compute()
    assert given[1] == 8
    assert np.shares_memory(np.from_dlpack(shared), given)
    same(spread + shared, np.arange(5000.0) + given)


def test_memory_that_can_only_be_read_comes_in():
    given = np.arange(4.0)
    given.flags.writeable = False
    array = pt.from_dlpack(given)
    same(array + 1, given + 1)
    with pytest.raises(ValueError, match="only lets it be read"):
        array[0] = 1


def test_mistakes():
    for wrong in (3, [1, 2], None, "x"):
        with pytest.raises(TypeError, match="__dlpack__"):
            pt.from_dlpack(wrong)
    with pytest.raises(ValueError, match="device"):
        pt.from_dlpack(np.zeros(3), device="gpu")
    with pytest.raises((TypeError, BufferError)):
        pt.from_dlpack(np.zeros(3, np.float16))


def test_lifetimes(peer):
    given = np.arange(100.0)
    gone = weakref.ref(given)
    array = pt.from_dlpack(peer.from_dlpack(given))
    del given
    gc.collect()
    assert gone() is not None and float(array.sum()) == 4950
    again = peer.from_dlpack(array.sections[0])
    del array
    gc.collect()
    assert np.from_dlpack(again)[99] == 99
    del again
    gc.collect()
    assert gone() is None


def test_halos_stay_here():
    pt.init(ranks=1)
    ring = pt.arange(4.0).with_halo(1, periodic=True)
    assert np.from_dlpack(ring).tolist() == [0, 1, 2, 3]
    assert np.from_dlpack(ring.sections[0]).tolist() == [3, 0, 1, 2, 3, 0]
