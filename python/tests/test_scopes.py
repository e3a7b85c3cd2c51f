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


def test_threads_share_the_loops_of_a_rank(monkeypatch):
    ranks, given = pt.ranks(), np.random.default_rng(1).random((3000, 200))

    def results():
        a = pt.asarray(given, dist=0)
        return [np.asarray(x) for x in (pt.sin(a) + a[::-1], a.sum(axis=0), a.T.mean(axis=0))]

    expected = results()
    try:
        for threads in (2, 3):
            pt.init(ranks=ranks, threads=threads)
            for got, one in zip(results(), expected, strict=True):
                np.testing.assert_array_equal(got, one)
        for wrong in (0, 257):
            with pytest.raises(ValueError, match=f"got {wrong} threads of each rank, expected 1 to 256"):
                pt.init(ranks=ranks, threads=wrong)
        for wrong in ("2", 1.5):
            with pytest.raises(TypeError, match=f"got {wrong!r} threads of each rank, expected 1 to 256"):
                pt.init(ranks=ranks, threads=wrong)
        monkeypatch.setenv("PANTILE_THREADS", "many")
        pt.init(ranks=ranks, threads=1)
        with pytest.raises(pt.PantileError, match="PANTILE_THREADS is `many`, expected 1 to 256"):
            pt.init(ranks=ranks)
        monkeypatch.delenv("PANTILE_THREADS")
    finally:
        pt.init(ranks=ranks)


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


def test_steps_per_exchange_are_a_count():
    for steps, error in [(0, ValueError), (-1, ValueError), (1.5, TypeError), ("x", TypeError), (None, TypeError)]:
        with pytest.raises(error) as found:
            pt.steps_per_exchange(steps)
        assert str(found.value) == f"got {steps!r} steps per exchange, expected an integer of at least 1"
    with pt.steps_per_exchange(np.int64(2)):
        assert pt._world.world().steps_per_exchange(2) == 2


def test_a_scope_ends_with_what_was_before():
    for _ in range(2):
        with pt.steps_per_exchange(3):
            with pytest.raises(KeyError), pt.steps_per_exchange(5):
                raise KeyError
            assert pt._world.world().steps_per_exchange(3) == 3
        assert pt._world.world().steps_per_exchange(1) == 1
