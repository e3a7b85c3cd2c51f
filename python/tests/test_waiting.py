"""Long evaluations: other threads run, and Ctrl-C is heard."""

import os
import signal
import threading

import numpy as np
import pantile as pt
import pytest


@pytest.fixture(autouse=True)
def interruptible():
    """Whoever started the tests may have told them to ignore Ctrl-C, as shells do in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def long():
    """An array that takes seconds to compute."""
    x = pt.linspace(0.0, 1.0, 2_000_000, dist=0)
    for _ in range(60):
        x = pt.sin(x) + 0.5
    return x


def test_ctrl_c_is_heard_and_nothing_is_lost():
    if threading.current_thread() is not threading.main_thread():
        return
    kept = pt.arange(10.0, dist=0).compute()
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    heard = 0
    try:
        for _ in range(100):
            long().compute()
    except KeyboardInterrupt:
        heard = 1
    timer.join()
    assert heard == 1
    assert float(pt.sum(kept + 1)) == 55.0


def test_what_was_not_waited_for_is_there_later():
    if threading.current_thread() is not threading.main_thread():
        return
    x = pt.linspace(0.0, 1.0, 2_000_000, dist=0).compute()
    for _ in range(150):
        x *= 0.5
        x += pt.sin(x)
    expected = x.copy()
    heard = 0
    for _ in range(3):
        timer = threading.Timer(0.15, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        try:
            x.compute()
            timer.join()
        except KeyboardInterrupt:
            heard += 1
        timer.join()
    value = float(x[1000])
    assert heard >= 1
    assert value == float(expected[1000])


def interrupted(array):
    """Computes an array, and stops waiting for it in the middle of the work."""
    timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        array.compute()
        timer.join()
    timer.join()


#: What a caller may do next that needs the ranks.
NEXT = {
    "compute": lambda a: (a + 1).compute(),
    "sum": lambda a: float(pt.sum(a + 1)),
    "set": lambda a: (a.__setitem__(1, 1.0), a.compute()),
    "item": lambda a: float((a + 1)[3]),
    "element": lambda a: float(a[3]),
    "elements": lambda a: np.asarray(a),
    "sections": lambda a: [np.asarray(one) for one in a.sections],
    "give": lambda a: pt.asarray(np.arange(10.0), dist=0),
    "bring": lambda a: pt.from_distarray({"__version__": "0.10.0", "buffer": np.arange(4.0), "dim_data": ({},)}),
    "count": lambda a: pt.comm_stats().__enter__(),
}


@pytest.mark.parametrize("what", NEXT)
def test_who_waits_for_an_interrupted_computation_is_told(capsys, what):
    if threading.current_thread() is not threading.main_thread():
        return
    small = pt.arange(10.0, dist=0).compute()
    x = pt.linspace(0.0, 1.0, 2_000_000, dist=0)
    # Half a second of work on a fast machine: the interrupt comes in the middle of it.
    for _ in range(100):
        x = pt.sin(x) + 0.5
    interrupted(x)
    NEXT[what](small)
    said = capsys.readouterr().err
    assert said.count("waiting for the end of the computation that was interrupted") == 1, said
    assert "test_waiting.py" in said
    # Nothing is left to wait for, and nothing more is said.
    assert float(pt.sum(small + 2)) == 65.0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("what", ["sum", "give"])
def test_waiting_for_an_interrupted_computation_can_be_interrupted(capsys, what):
    if threading.current_thread() is not threading.main_thread():
        return
    small = pt.arange(10.0, dist=0).compute()
    x = pt.linspace(0.0, 1.0, 2_000_000, dist=0)
    for _ in range(200):
        x = pt.sin(x) + 0.5
    interrupted(x)
    timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        NEXT[what](small)
        timer.join()
    timer.join()
    assert float(pt.sum(small + 2)) == 65.0
    # The second caller stopped waiting before the end, and the third one waited for it, too.
    said = capsys.readouterr().err
    assert said.count("waiting for the end of the computation that was interrupted") == 2, said


def test_other_threads_run_meanwhile():
    turns, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            turns[0] += 1
            stop.wait(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    long().compute()
    stop.set()
    thread.join()
    assert turns[0] > 3


def test_looking_at_elements_while_others_compute():
    """Whoever looks holds the interpreter; whoever computes needs it to hear of signals."""
    if len(pt.hosted_ranks()) != pt.ranks():
        return  # processes run the same programs in the same order, which threads do not
    small, stop, seen = pt.arange(1000.0, dist=0).compute(), threading.Event(), [0]

    def look():
        while not stop.is_set():
            assert float(small[500]) == 500.0
            assert float((small + 1)[3]) == 4.0
            seen[0] += 1

    def compute():
        for _ in range(3):
            long().compute()

    # Daemons: a deadlock shall fail this test, not hang the run.
    lookers = [threading.Thread(target=look, daemon=True) for _ in range(2)]
    workers = [threading.Thread(target=compute, daemon=True) for _ in range(2)]
    for thread in lookers + workers:
        thread.start()
    for thread in workers:
        thread.join(300)
    stop.set()
    for thread in lookers:
        thread.join(60)
    assert not any(thread.is_alive() for thread in lookers + workers)
    assert seen[0] > 0
