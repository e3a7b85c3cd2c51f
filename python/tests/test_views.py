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


@pytest.mark.parametrize("seed", range(60))
def test_whatever_is_assigned_through_a_view_is_seen_as_in_numpy(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(int(length) for length in rng.integers(1, 6, rng.integers(1, 4)))
    base = np.arange(float(np.prod(shape))).reshape(shape)
    pairs = [(base, pt.asarray(base.copy(), dist=[0, None, "auto"][rng.integers(3)]))]
    for step in range(12):
        one, other = pairs[rng.integers(len(pairs))]
        if rng.random() < 0.6:
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
    for one, other in pairs:
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
