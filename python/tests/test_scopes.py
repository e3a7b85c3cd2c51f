"""Nothing moves where nothing may, and what moves is counted."""

import inspect

import numpy as np
import pytest

import pantile as pt


@pytest.fixture(autouse=True)
def ranks():
    pt.init(ranks=4)


def cut(axis, shape=(64, 64)):
    return pt.ones(shape, dist=axis).compute()


def line():
    """The number of the line that calls."""
    return inspect.currentframe().f_back.f_lineno


def test_work_on_tiles_needs_no_movement():
    a, b = cut(0), cut(0)
    with pt.no_comm():
        c = (pt.exp(a) * 2 + b).compute()
        d = c.sum(axis=1).compute()
    assert np.asarray(d).shape == (64,)


@pytest.mark.parametrize("work", [
    lambda a: a.redistribute(1),
    lambda a: a.sum(),
    lambda a: a + cut(1),
    lambda a: a[1:] - a[:-1],
])  # fmt: skip
def test_movements_are_refused_and_can_be_computed_later(work):
    a = cut(0)
    result = work(a)
    with pt.no_comm(), pytest.raises(pt.PantileError, match="nothing may move"):
        result.compute()
    result.compute()


def test_the_error_names_the_line():
    a = cut(0)
    with pt.no_comm():
        b = a.redistribute(1); at = line()  # fmt: skip # noqa: E702
        with pytest.raises(pt.PantileError) as caught:
            b.compute()
    assert f"test_scopes.py:{at}" in str(caught.value)


def test_numpy_gets_nothing_that_would_be_gathered():
    a, copies = cut(0), pt.ones(5, dist=None).compute()
    with pt.no_comm():
        assert np.asarray(copies).sum() == 5
        with pytest.raises(pt.PantileError, match="gather 32768 bytes"):
            np.asarray(a)


def test_scopes_in_scopes():
    a = cut(0)
    with pt.no_comm():
        with pt.no_comm():
            pass
        with pytest.raises(pt.PantileError):
            (a + 1).sum().compute()
    assert float((a + 1).sum()) == 2 * 64 * 64


def test_an_error_ends_the_scope():
    a = cut(0)
    with pytest.raises(KeyError), pt.no_comm():
        raise KeyError
    a.redistribute(1).compute()


def test_what_moves_is_counted():
    a = cut(0)
    with pt.comm_stats() as nothing:
        (a + 1).compute()
    assert (nothing.bytes, nothing.messages) == (0, 0)
    assert nothing.planned == 1
    with pt.comm_stats() as moved:
        a.redistribute(1).compute()
    # Of 4x4 blocks of 16x16 numbers all but those on the diagonal move.
    assert moved.bytes == 12 * 16 * 16 * 8
    assert moved.messages == 12


def test_counting_ends_with_the_block():
    a = cut(0)
    with pt.comm_stats() as stats:
        assert stats.bytes == 0
        a.redistribute(1).compute()
        within = stats.bytes
    a.redistribute(1).compute()
    assert stats.bytes == within > 0
    assert repr(stats).startswith(f"CommStats(bytes={within}, messages=12")


def test_the_same_program_is_new_once():
    a = cut(0)
    with pt.comm_stats() as stats:
        for _ in range(5):
            a = (a * 0.5 + 1).compute()
    assert (stats.planned, stats.programs) == (1, 5)


def test_gathering_is_counted():
    a = cut(0, (128, 64))
    with pt.comm_stats() as stats:
        np.asarray(a)
    assert stats.gathered == 128 * 64 * 8


def test_one_exchange_serves_several_steps():
    start = np.random.default_rng(1).random((64, 20))

    def steps(each):
        u = pt.asarray(start, dist=0).compute()
        with pt.steps_per_exchange(each), pt.comm_stats() as stats:
            for _ in range(3):
                for _ in range(4):
                    u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2]) / 3
                u = u.compute()
        return np.asarray(u), stats.messages

    expected, before = steps(1)
    for each, times in [(2, 2), (3, 2), (4, 4), (9, 4)]:
        got, messages = steps(each)
        np.testing.assert_array_equal(got, expected)
        assert messages * times <= before
    assert np.array_equal(steps(1)[0], expected)
    with pytest.raises(ValueError, match="got 0 steps per exchange"), pt.steps_per_exchange(0):
        pass
