"""Programs that run once per rank: results, errors, waiting, Ctrl-C."""

import os
import signal
import threading
import time
import traceback

import numpy as np
import pytest
import spmd_cases as cases

import pantile as pt


def test_results_in_the_order_of_ranks():
    assert pt.spmd(lambda: (pt.rank(), pt.ranks(), pt.hosted_ranks()), ranks=4) == [
        (rank, 4, [rank]) for rank in range(4)
    ]
    assert pt.spmd(lambda: None, ranks=np.int64(1)) == [None]


def test_as_many_as_the_world_has():
    pt.init(ranks=3)
    assert pt.spmd(pt.rank) == [0, 1, 2]
    pt.init()
    assert len(pt.spmd(pt.rank)) == pt.ranks()


@pytest.mark.parametrize("ranks, kind", [(0, ValueError), (-1, ValueError), ("two", TypeError),
                                         (1.5, TypeError), (10**6, ValueError)])  # fmt: skip
def test_numbers_of_ranks(ranks, kind):
    with pytest.raises(kind, match="ranks"):
        pt.spmd(pt.rank, ranks=ranks)


def test_what_cannot_run():
    with pytest.raises(TypeError, match="expected a function"):
        pt.spmd(3)
    with pytest.raises(RuntimeError, match="rank of pt.spmd"):
        pt.spmd(lambda: pt.spmd(pt.rank, ranks=2), ranks=2)
    with pytest.raises(RuntimeError, match="outside of pt.spmd"):
        pt.world()


def test_arrays_are_made_outside():
    for body in (lambda: pt.zeros(3), lambda: pt.asarray([1]), lambda: pt.init(ranks=2)):
        with pytest.raises(RuntimeError, match="belong to all ranks together"):
            pt.spmd(body, ranks=2)
    made = pt.arange(10.0, dist=0)
    assert pt.spmd(lambda: float(made.sum()), ranks=3) == [45.0] * 3


# ---- errors


def test_an_error_comes_with_its_rank_and_its_lines():
    def fails():
        if pt.rank() == 2:
            raise KeyError("no such thing")
        pt.world().allgather_data(1)

    with pytest.raises(KeyError, match="no such thing") as caught:
        pt.spmd(fails, ranks=4)
    assert caught.value.__notes__ == ["raised on rank 2 of 4"]
    assert "fails" in "".join(traceback.format_exception(caught.value))


def test_errors_of_several_ranks():
    def fails():
        if pt.rank() != 1:
            raise ValueError(pt.rank())
        time.sleep(0.1)

    with pytest.raises(ValueError, match="0") as caught:
        pt.spmd(fails, ranks=4)
    assert caught.value.__notes__[0].startswith("raised on rank 0 of 4; ")
    assert caught.value.__notes__[0].endswith("[2, 3]")


def test_a_rank_that_left_is_not_waited_for():
    kept = []

    def leaves():
        kept.append(pt.world())  # whoever keeps a partition does not keep the rank
        return None if pt.rank() == 1 else pt.world().allgather_data(1)

    with pytest.raises(pt.PantileError, match="rank 1, which has left"):
        pt.spmd(leaves, ranks=3)


def test_ranks_that_wait_in_a_circle_are_told():
    def circle():
        pairs = [pt.world().create_partition_inclusive([one, (one + 1) % 3]) for one in range(3)]
        for one in (pt.rank(), (pt.rank() + 2) % 3):
            pairs[one].broadcast_data(1, 0)

    with pytest.raises(pt.PantileError, match="broadcast_data"):
        pt.spmd(circle, ranks=3)


def test_the_next_program_is_well():
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            pt.spmd(lambda: 1 // 0, ranks=3)
        assert pt.spmd(lambda: pt.world().allgather_data(1).sum(), ranks=3) == [3] * 3


# ---- waiting


def test_twelve_ranks_wait_in_different_movements():
    begun = threading.Barrier(12)

    def program():
        begun.wait(60)
        return cases.chain()

    assert pt.spmd(program, ranks=12) == list(range(12))


@pytest.fixture
def interruptible():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_ends_ranks_that_wait_and_ranks_that_compute(interruptible):
    ended = []

    def program():
        try:
            if pt.rank() == 0:
                while True:
                    time.sleep(0.001)
            pt.world().allgather_data(1)
        finally:
            ended.append(pt.rank())

    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        pt.spmd(program, ranks=3)
    timer.join()
    assert sorted(ended) == [0, 1, 2]
    assert pt.spmd(pt.rank, ranks=2) == [0, 1]


def test_from_another_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(pt.spmd(pt.rank, ranks=3)))
    thread.start()
    thread.join(60)
    assert found == [[0, 1, 2]]


def test_ranks_see_only_their_own_world():
    """Two programs at once."""
    found = []

    def program():
        for _ in range(20):
            total = pt.world().allgather_data(pt.rank()).sum()
        return int(total)

    threads = [
        threading.Thread(target=lambda ranks=ranks: found.append(pt.spmd(program, ranks=ranks)))
        for ranks in (2, 3, 4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(found, key=len) == [[1] * 2, [3] * 3, [6] * 4]
