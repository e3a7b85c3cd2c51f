"""A forked process: it is told that the world stayed behind, makes its own, and ends."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pantile as pt
import pytest

from conftest import SOON

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")


def in_child(work):
    """What a forked child says of `work`: the text that it returns, or its error."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # a child that hangs ends by a signal
        try:
            words = str(work())
        except BaseException as error:
            words = f"{type(error).__name__}: {error}"
        os.write(write, words.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as file:
        words = file.read().decode()
    assert os.waitpid(child, 0)[1] == 0, words
    return words


def started():
    """An array of ranks that have threads, where there are several ranks."""
    a = pt.arange(12.0, dist=0).compute()
    a[::-1].compute()
    return a


USES = {
    "compute": lambda a: (a + 1).compute(),
    "look": lambda a: np.asarray(a),
    "item": lambda a: float(a[3]),
    "sum": lambda a: float(pt.sum(a)),
    "print": lambda a: str(a),
    "set": lambda a: (a.__setitem__(1, 2.0), a.compute()),
    "make": lambda a: pt.zeros((3,)).compute(),
    "give": lambda a: pt.asarray(np.arange(3.0)),
    "ranks": lambda a: pt.ranks(),
}


@pytest.mark.parametrize("use", USES)
def test_the_first_use_of_the_old_world_is_an_error(use):
    a = started()
    assert "this process was forked" in in_child(lambda: USES[use](a))
    assert float(pt.sum(a)) == 66.0


def test_a_child_of_a_busy_parent_is_told():
    """In the child the locks of another thread of the parent stay locked for good."""
    a, busy = started(), pt.linspace(0.0, 1.0, 2_000_000, dist=0)
    for _ in range(100):
        busy = pt.sin(busy) + 0.5
    thread, rounds = threading.Thread(target=busy.compute), 0
    thread.start()
    while thread.is_alive():
        for use, call in USES.items():
            assert "this process was forked" in in_child(lambda call=call: call(a)), use
        rounds += thread.is_alive()
    assert rounds > 0 and float(pt.sum(a)) == 66.0


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_child_makes_its_own_world(ranks):
    a = started()

    def work():
        pt.init(ranks=ranks, backend="threads")
        return float(pt.sum(pt.arange(10.0, dist=0) + 1)), pt.ranks()

    assert in_child(work) == f"(55.0, {ranks})"
    assert float(pt.sum(a)) == 66.0


def test_a_child_drops_arrays_and_ends():
    a = started()
    b = a + 1
    words = []

    def work():
        nonlocal a, b
        del a, b
        import gc

        gc.collect()
        words.append("dropped")
        return words

    assert in_child(work) == "['dropped']"
    assert float(pt.sum(a)) == 66.0


def test_a_child_that_ends_the_long_way():
    a = started()
    child = os.fork()
    if child == 0:
        import atexit

        signal.alarm(60)
        del a
        atexit._run_exitfuncs()
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert float(pt.sum(a)) == 66.0


def job(n):
    pt.init(ranks=2, backend="threads")
    return float(pt.sum(pt.arange(float(n), dist=0)))


def test_a_pool_of_forked_processes():
    a = started()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(job, [1, 4, 10]).get(120) == [0.0, 6.0, 45.0]
    assert float(pt.sum(a)) == 66.0


#: What a script of a user does: children that look at an array, make a world, leave; then a pool.
SCRIPT = """
import multiprocessing, os, signal, sys
import pantile as pt

if len(sys.argv) > 1:
    pt.init(cluster=sys.argv[1])
a = pt.arange(12.0, dist=0).compute()
a[::-1].compute()  # ranks take elements from each other: all of them have threads now

def child(work):
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)
        work()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, work
    assert float(pt.sum(a)) == 66.0, work

def refused():
    for use in (lambda: (a + 1).compute(), lambda: float(pt.sum(a)), lambda: float(a[3]), pt.ranks):
        try:
            use()
        except RuntimeError as error:
            assert "this process was forked" in str(error), error
        else:
            os._exit(1)

def dropped():
    global a
    del a

def leaves():
    try:
        sys.exit(0)
    except SystemExit:
        import atexit
        atexit._run_exitfuncs()

def job(n):
    pt.init(ranks=2, backend="threads")
    return float(pt.sum(pt.arange(float(n), dist=0)))

for work in (refused, dropped, leaves, lambda: job(3)):
    child(work)
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map_async(job, [1, 4, 10]).get(60) == [0.0, 6.0, 45.0]
print(f"the sum is {float(pt.sum(a))}\\n", end="")
"""


def ended_well(words, count):
    env = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    env.pop("PANTILE_RANKS", None)
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=SOON)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("the sum is 66.0") == count, done.stdout


def test_children_of_a_client_of_a_cluster(tmp_path):
    (tmp_path / "user.py").write_text(SCRIPT)
    site = pt._core.LocalCluster(2)
    ended_well([sys.executable, str(tmp_path / "user.py"), site.address], 1)


@pytest.mark.skipif(not pt._core.has_mpi, reason="this build has no MPI")
def test_children_of_mpi_processes(tmp_path):
    (tmp_path / "user.py").write_text(SCRIPT)
    run = [sys.executable, "-m", "pantile._command", "run", str(tmp_path / "user.py"), "-n", "2"]
    ended_well(run, 2)
