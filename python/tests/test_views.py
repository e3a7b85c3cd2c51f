"""Views of views, and assignments through them, beside NumPy's own."""

import numpy as np
import pytest

import pantile as pt


def an_index(rng, length):
    """One axis of a key."""
    kind = rng.integers(5)
    if kind == 0 and length:
        return int(rng.integers(-length, length))
    if kind == 1:
        return slice(None)
    ends = [None if rng.random() < 0.3 else int(rng.integers(-6, 7)) for _ in range(2)]
    return slice(*ends, [None, 1, 2, -1, -2][rng.integers(5)])


def a_view(rng, numpys, ours):
    """The same view of both: a slice, other axes, another shape."""
    kind = rng.integers(5)
    shape = numpys.shape
    if kind <= 1:
        key = tuple(an_index(rng, length) for length in shape)
        if rng.random() < 0.3:
            key = (*key[: len(key) // 2], None, *key[len(key) // 2 :])
        # A NumPy array with all indices given is a number, not a view.
        if numpys[key].shape == () and not isinstance(numpys[key], np.ndarray):
            key = (*key, ...)
        return numpys[key], ours[key]
    if kind == 2:
        axes = tuple(int(axis) for axis in rng.permutation(len(shape)))
        return np.transpose(numpys, axes), pt.permute_dims(ours, axes)
    sizes = [length for length in range(1, numpys.size + 1) if numpys.size % length == 0] or [0]
    first = int(sizes[rng.integers(len(sizes))])
    to = (first, numpys.size // first if first else 3)
    return numpys.reshape(to), pt.reshape(ours, to)


def an_element(rng, numpys, ours):
    """The same element of both, as a value of this moment, if there is one."""
    if numpys.size == 0:
        return []
    key = tuple(int(rng.integers(-length, length)) for length in numpys.shape)
    return [(numpys[key], ours[key[0]] if len(key) == 1 and rng.random() < 0.5 else ours[key])]


def swap(rng, numpys, ours):
    """Two elements trade places, in both."""
    if numpys.size:
        keys = rng.integers(0, numpys.shape, (2, numpys.ndim))
        one, other = (tuple(key.tolist()) for key in keys)
        for array in numpys, ours:
            array[one], array[other] = array[other], array[one]


def refuse(rng, ours):
    """What cannot be assigned is refused, and changes nothing."""
    wrong = pt.ones((*ours.shape, 2, 3)) if rng.random() < 0.5 else np.ones(ours.size + 2)
    with pytest.raises(ValueError, match="shape"):
        ours[...] = wrong


@pytest.mark.parametrize("seed", range(60))
def test_whatever_is_assigned_through_a_view_is_seen_as_in_numpy(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(int(length) for length in rng.integers(1, 6, rng.integers(1, 4)))
    base = np.arange(float(np.prod(shape))).reshape(shape)
    pairs = [(base, pt.asarray(base.copy(), dist=[0, None, "auto"][rng.integers(3)]))]
    values = []
    for step in range(16):
        one, other = pairs[rng.integers(len(pairs))]
        kind = rng.random()
        if kind < 0.1:
            refuse(rng, other)
        elif kind < 0.3:
            values += an_element(rng, one, other)
        elif kind < 0.4:
            swap(rng, one, other)
        elif rng.random() < 0.6:
            pairs.append(a_view(rng, one, other))
        elif rng.random() < 0.5:
            value = rng.random(one.shape[-1:]) if one.ndim else rng.random()
            one[...] = value
            other[...] = value
        else:
            one *= 1.5
            other *= 1.5
        if rng.random() < 0.3:
            pairs[rng.integers(len(pairs))][1].compute()
        if rng.random() < 0.2:
            del pairs[rng.integers(1, len(pairs) + 1) - 1 if len(pairs) > 1 else 1 :]
            pairs = pairs or [(base, pt.asarray(base.copy()))]
    for one, other in pairs + values:
        np.testing.assert_array_equal(np.asarray(other), one, strict=True)


def test_a_transposed_array_is_a_view():
    a = pt.asarray(np.arange(12.0).reshape(3, 4), dist=0)
    b = a.T
    b[0] = -1.0
    assert np.asarray(a)[:, 0].tolist() == [-1.0] * 3
    a[0, 3] = 7.0
    assert float(b[3, 0]) == 7.0


def test_a_reshaped_array_is_a_view_where_numpys_is():
    a = pt.zeros((4, 6), dist=0)
    pt.reshape(a, (24,))[5] = 1.0
    pt.reshape(a.T, (24,))[5] = 2.0  # a copy, in NumPy too
    a[None, :, 1:3][0, 2, 0] = 3.0
    expected = np.zeros((4, 6))
    expected[0, 5], expected[2, 1] = 1.0, 3.0
    np.testing.assert_array_equal(np.asarray(a), expected)


def test_whoever_wants_a_copy_gets_one_and_whoever_does_not_is_told():
    a = pt.zeros((4, 6), dist=0)
    pt.reshape(a, (24,), copy=True)[5] = 1.0
    assert float(pt.sum(a)) == 0.0
    pt.reshape(a, (24,), copy=False)[5] = 1.0
    assert float(pt.sum(a)) == 1.0
    with pytest.raises(ValueError, match="is a copy"):
        pt.reshape(a.T, (24,), copy=False)


def test_what_is_seen_through_a_view_is_computed_once():
    a = pt.asarray(np.arange(12.0).reshape(3, 4), dist=0)
    b = a.T
    b.sum(axis=1).compute()
    with pt.comm_stats() as stats:
        (b + 1).sum(axis=1).compute()
        (b + 1).sum(axis=1).compute()
    assert stats.planned <= 1


def test_a_view_assigned_to_itself_changes_nothing():
    a = pt.asarray(np.arange(6.0), dist=0).compute()
    with pt.comm_stats() as stats:
        a[1:3] = a[1:3]
        a.compute()
    assert stats.planned == 0


def test_an_index_for_every_axis_is_a_value_and_fewer_are_a_view():
    a = pt.asarray(np.arange(12.0).reshape(3, 4), dist=0)
    value, row, view, part = a[1, 2], a[1], a[1, 2, ...], a[1, None, 2]
    again = a[1][2]
    value += 100
    a[1, 2] = -1.0
    assert (float(value), float(again)) == (106.0, 6.0)
    assert (row.tolist(), float(view), part.tolist()) == ([4.0, 5.0, -1.0, 7.0], -1.0, [-1.0])
    number = pt.asarray(3.0)
    before = number[()]
    number += 1
    assert (float(before), float(number), float(number[...])) == (3.0, 4.0, 4.0)


@pytest.mark.parametrize("length", [2, 4095, 4096, 4097, 8193])
def test_elements_read_between_assignments_are_those_of_their_time(length):
    a = pt.zeros(length, dist=0)
    plain, reads, expected = np.zeros(length), [], []
    for step in range(20):
        a[1:] = a[:-1] + step
        plain[1:] = plain[:-1] + step
        at = (step * 37) % length
        reads.append(a[at])
        expected.append(plain[at])
        if step % 7 == 6:
            a.compute()
    assert [float(one) for one in reads] == expected
    assert a.tolist() == plain.tolist()


def test_an_insertion_sort_by_elements():
    a = pt.asarray(np.random.default_rng(1).random(12), dist=0)
    expected = np.sort(np.asarray(a)).tolist()
    for i in range(1, len(a)):
        key, j = a[i], i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
    assert a.tolist() == expected


def test_an_element_of_shared_memory_is_the_value_of_its_time():
    memory = np.arange(4.0)
    a = pt.from_dlpack(memory)
    value = a[1]
    memory[1] = 9.0
    assert (float(value), float(a[1])) == (1.0, 9.0)


@pytest.mark.parametrize("key", [slice(0, 2), ..., 0], ids=str)
def test_a_refused_assignment_changes_nothing(key):
    a = pt.asarray(np.arange(8.0).reshape(4, 2), dist=0)
    view = a[1:3]
    for wrong in (pt.ones(3), np.ones((2, 2, 2)), pt.ones(3) + 1):
        with pytest.raises(ValueError, match="got a value of shape"):
            view[key] = wrong
    with pytest.raises(TypeError):
        view[key] = pt.ones(2, dtype="complex128")
    with pytest.raises(IndexError):
        a[9, 0] = 1.0
    a[0, 0] = 5.0
    assert a.tolist() == [[5.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]]
    assert view.tolist() == [[2.0, 3.0], [4.0, 5.0]]
