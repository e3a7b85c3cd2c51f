"""Ranks on the workers of a cluster: the same arrays, from elsewhere."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import pantile as pt
from conftest import SOON

CORE = pt._core
TOKEN, OTHER = "ab" * 32, "cd" * 32


@pytest.fixture(scope="module")
def site():
    """A coordinator with two workers in this process."""
    return CORE.LocalCluster(2)


@pytest.fixture(autouse=True)
def plain():
    """Nothing in the environment says where ranks are; afterwards they are where it does."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("PANTILE_CLUSTER", "PANTILE_RANKS", "PANTILE_BACKEND"):
            patch.delenv(name, raising=False)
        yield
    pt.init()


@pytest.fixture
def cluster(plain, site):
    """A world on it."""
    pt.init(cluster=site.address)
    return site


def step(u):
    """One step of the heat equation, on arrays of either library."""
    around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    u[1:-1, 1:-1] += 0.1 * (around - 4 * u[1:-1, 1:-1])


# ---- worlds


def test_ranks_are_those_that_workers_host_or_as_many_as_one_says(cluster, monkeypatch):
    assert pt.ranks() == 2 and pt.hosted_ranks() == [0, 1] and pt.rank() == 0
    pt.init(ranks=5, cluster=cluster.address)
    assert pt.ranks() == 5 and float(pt.ones(100, dist=0).sum()) == 100
    monkeypatch.setenv("PANTILE_RANKS", "3")
    pt.init(cluster=cluster.address)
    assert pt.ranks() == 3
    pt.init(cluster=cluster.address, threads=2)
    assert float(pt.arange(10.0, dist=0).sum()) == 45
    monkeypatch.setenv("PANTILE_THREADS", "many")
    refused(pt.PantileError, "PANTILE_THREADS is `many`", cluster=cluster.address)
    monkeypatch.setenv("PANTILE_THREADS", "2")
    pt.init(cluster=cluster.address)
    assert pt._world.world().threads_per_rank(1) == 2
    refused(ValueError, "pantile worker --scheme", cluster=cluster.address, scheme="GSS")


def test_worlds_of_the_environment(cluster, monkeypatch):
    monkeypatch.setenv("PANTILE_CLUSTER", cluster.address)
    pt.init()
    world = pt._world.world()
    assert not world.near and world.ranks == 2
    monkeypatch.setenv("PANTILE_RANKS", "5")
    monkeypatch.setenv("PANTILE_THREADS", "2")
    pt.init()
    world = pt._world.world()
    assert not world.near and world.ranks == 5 and world.threads_per_rank(1) == 2
    for name, value, kind, words in [
        ("PANTILE_CLUSTER_KEYS", "/nowhere", ValueError, f"cluster {cluster.address}: .*/nowhere"),
        ("PANTILE_THREADS", "none", pt.PantileError, "PANTILE_THREADS is `none`"),
        ("PANTILE_RANKS", "0", pt.PantileError, "PANTILE_RANKS is `0`"),
        ("PANTILE_CLUSTER", "nowhere", ValueError, "got cluster 'nowhere', expected \"HOST:PORT\""),
        ("PANTILE_BACKEND", "gpu", pt.PantileError, "PANTILE_BACKEND is `gpu`"),
    ]:
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            with pytest.raises(kind, match=words):
                pt.init()
            assert pt._world.world() is world, "what is refused changes nothing"


def test_the_environment_names_a_cluster_unless_somebody_names_a_backend(cluster, monkeypatch):
    monkeypatch.setenv("PANTILE_CLUSTER", cluster.address)
    monkeypatch.delenv("PANTILE_RANKS", raising=False)
    pt.init()
    assert not pt._world.world().near and pt.ranks() == 2
    pt.init(ranks=3)
    assert not pt._world.world().near and pt.ranks() == 3
    pt.init(ranks=3, backend="threads")
    assert pt._world.world().near and pt.ranks() == 3
    monkeypatch.setenv("PANTILE_BACKEND", "threads")
    pt.init(ranks=2)
    assert pt._world.world().near
    pt.init(cluster=cluster.address)
    assert not pt._world.world().near


def test_arrays_of_two_worlds_live_side_by_side(cluster):
    there = pt.arange(10.0, dist=0)
    pt.init(ranks=2, backend="threads")
    here = pt.arange(10.0, dist=0)
    np.testing.assert_array_equal(np.asarray(there + 1), np.asarray(here + 1))


def refused(kind, words, **given):
    """What `init` raises; the world is as it was."""
    before = pt._world.current()
    with pytest.raises(kind) as caught:
        pt.init(**given)
    assert words in str(caught.value)
    assert pt._world.current() is before
    return str(caught.value)


def test_what_is_no_cluster_is_refused(tmp_path):
    for address in ("", "here", "here:", ":80", "here:x", "here:70000"):
        refused(ValueError, f'got cluster {address!r}, expected "HOST:PORT"', cluster=address)
    one = "127.0.0.1:9"
    refused(TypeError, 'got cluster 7420, expected "HOST:PORT"', cluster=7420)
    refused(ValueError, "expected one of them", cluster=one, backend="threads")
    refused(ValueError, "without a cluster", keys=tmp_path)
    refused(ValueError, "got 0 ranks", ranks=0, cluster=one)
    refused(ValueError, "64 hexadecimal digits", cluster=one, token="123")
    refused(ValueError, "authority.pem cannot be read", cluster=one, keys=tmp_path)
    refused(pt.PantileError, "give keys=FOLDER", cluster="192.0.2.1:7420")
    words = refused(pt.PantileError, f"cluster {one}: no coordinator is there", cluster=one)
    assert __file__ in words, "it names the line that asked"


def test_a_coordinator_without_workers_says_so():
    alone = CORE.LocalCluster(0)
    refused(pt.PantileError, "no worker has come to this coordinator yet", cluster=alone.address)


def test_tokens_are_looked_at():
    guarded = CORE.LocalCluster(1, TOKEN)
    refused(pt.PantileError, "this cluster wants a token", cluster=guarded.address)
    refused(pt.PantileError, "not that of this cluster", cluster=guarded.address, token=OTHER)
    pt.init(cluster=guarded.address, token=TOKEN)
    assert float(pt.ones(10).sum()) == 10


# ---- what stays where


def test_data_stays_and_programs_are_sent_once(cluster):
    whole = np.arange(10_000.0)
    with pt.comm_stats() as stats:
        a = pt.asarray(whole, dist=0)
        total = 0 * a
        for _ in range(20):
            total = (0.5 * total + a).compute()
    assert stats.bytes_up == whole.nbytes and stats.bytes_down == 0
    assert stats.programs >= 20 and stats.programs_sent <= 4
    assert "bytes_up=80000, bytes_down=0" in repr(stats)
    with pt.comm_stats() as stats:
        assert float(total[0]) == 0.0
        assert float(total.sum()) > 0
    assert stats.bytes_up == 0 and stats.bytes_down == 16, "what is looked at is cut out there"
    with pt.comm_stats() as stats:
        np.asarray(total)
    assert stats.bytes_down == whole.nbytes


def test_on_threads_nothing_goes_to_workers():
    pt.init(ranks=2, backend="threads")
    with pt.comm_stats() as stats:
        np.asarray(pt.asarray(np.ones(100), dist=0))
    assert (stats.bytes_up, stats.bytes_down, stats.programs_sent) == (0, 0, 0)
    assert "bytes_up" not in repr(stats)


def stored(site):
    """Bytes of arrays on all workers, as of their next sign of life."""
    time.sleep(1.5)
    return sum(one[1] for one in site.status())


def test_a_loop_of_1000_turns_keeps_worker_memory_flat(cluster):
    pt.init(cluster=cluster.address, ranks=2)
    expected = np.zeros((48, 48))
    expected[16:32, 16:32] = 100.0
    u = pt.asarray(expected, dist=0)
    for _ in range(100):
        step(u)
        u.compute()
    before = stored(cluster)
    with pt.comm_stats() as stats:
        for _ in range(900):
            step(u)
            u.compute()
    assert stored(cluster) == before > 0
    assert (stats.programs_sent, stats.bytes_up, stats.bytes_down) == (0, 0, 0)
    assert stats.programs == 900
    for _ in range(1000):
        step(expected)
    np.testing.assert_array_equal(np.asarray(u), expected)


def test_arrays_that_are_only_brought_and_dropped_are_freed(cluster):
    for _ in range(200):
        a = pt.asarray(np.ones(10_000), dist=0)
    assert stored(cluster) < 10 * 80_000
    del a
    pt.init()
    assert stored(cluster) == 0, "a session that ends leaves nothing"


# ---- what cannot be


def test_memory_is_not_shared_but_copied(cluster):
    a = pt.arange(10.0, dist=0)
    sections = a.sections
    assert [one.data.tolist() for one in sections] == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    words = "workers of a cluster, which share no memory with this process"
    shares = (
        sections[0].__distarray__,
        sections[0].__dlpack__,
        lambda: memoryview(sections[0]),
        lambda: sections[0].__array_interface__,
        lambda: a.__partitioned__,
        lambda: pt.from_distarray({"__version__": "0.10.0", "buffer": np.ones(4), "dim_data": ({},)}),
        lambda: pt.from_dlpack(np.ones(4), copy=False),
        lambda: np.from_dlpack(pt.ones(4, dist=None)),
    )
    for share in shares:
        with pytest.raises(BufferError, match=words):
            share()
    theirs = np.arange(4)
    ours = pt.from_dlpack(theirs)
    theirs[0] = 9
    assert ours.tolist() == [0, 1, 2, 3]
    assert np.from_dlpack(pt.ones(4, dist=None), copy=True).tolist() == [1, 1, 1, 1]
    assert np.from_dlpack(sections[1], copy=True).tolist() == [5, 6, 7, 8, 9]


def test_functions_of_python_do_not_go_there(cluster):
    with pytest.raises(RuntimeError, match="which take no functions of Python"):
        pt.spmd(pt.rank)
    # But those of tiles are called here, with copies.
    doubled = pt.map_blocks(lambda tile: 2 * tile, pt.arange(10.0, dist=0))
    assert doubled.tolist() == [2.0 * i for i in range(10)]


# ---- what goes wrong


@pytest.fixture
def frail(plain):
    """A cluster whose second worker is a process, and that process."""
    own = CORE.LocalCluster(1)
    words = f"import pantile._core as core; core.local_worker({own.address!r}, 'frail')"
    process = subprocess.Popen([sys.executable, "-c", words])
    until = time.monotonic() + SOON
    while len(own.status()) < 2:
        assert time.monotonic() < until and process.poll() is None
        time.sleep(0.02)
    yield own, process
    process.kill()
    process.wait()


@pytest.mark.parametrize("look", ["compute", "asarray", "bring"])
def test_a_worker_that_dies_is_named(frail, look):
    own, process = frail
    pt.init(cluster=own.address, ranks=2)
    a = pt.arange(1000.0, dist=0).compute()
    process.kill()
    begin = time.monotonic()
    with pytest.raises(pt.WorkerLost) as caught:
        for _ in range(1000):
            if look == "compute":
                a = (a + 1).compute()
            elif look == "asarray":
                np.asarray(a + 1)
            else:
                pt.asarray(np.ones(1000), dist=0)
    assert time.monotonic() - begin < SOON
    assert caught.value.worker == "frail" and "`frail` is lost" in str(caught.value)
    assert __file__ in str(caught.value), "it names the line"
    assert isinstance(caught.value, pt.PantileError)
    with pytest.raises(pt.WorkerLost):
        (a + 1).compute()
    with pt.comm_stats() as stats:
        pass
    assert stats.programs == 0
    # The others go on.
    pt.init(cluster=own.address)
    assert pt.ranks() == 1 and float(pt.ones(10).sum()) == 10


def test_a_worker_that_hangs_is_lost(frail):
    own, process = frail
    pt.init(cluster=own.address, ranks=2)
    a = pt.arange(1000.0, dist=0).compute()
    process.send_signal(signal.SIGSTOP)
    begin = time.monotonic()
    with pytest.raises(pt.WorkerLost, match="frail"):
        (a + 1).sum().compute()
    assert time.monotonic() - begin < SOON


def test_more_than_a_worker_has_room_for_is_refused_and_nothing_else():
    small = CORE.LocalCluster(2, memory=1 << 20)
    pt.init(cluster=small.address)
    kept = pt.arange(10.0, dist=0).compute()
    for turn in range(3):
        with pytest.raises(pt.PantileError, match="worker `w.`, rank .*bytes are left") as caught:
            pt.asarray(np.ones(4_000_000), dist=0)
        assert not isinstance(caught.value, pt.WorkerLost) and __file__ in str(caught.value)
        with pytest.raises(pt.PantileError, match="bytes of memory on a rank, but each can have"):
            (pt.ones(4_000_000, dist=0) + turn).compute()
        assert pt.asarray(np.ones(10), dist=0).tolist() == [1.0] * 10
        assert (kept + turn).tolist() == [float(i + turn) for i in range(10)]


def interrupted(seconds):
    """Sends Ctrl-C to this process after a while."""
    timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    return timer


@pytest.fixture
def heard():
    """Whoever started the tests may have told them to ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_is_heard_while_workers_compute(cluster, heard):
    kept = pt.arange(10.0, dist=0).compute()
    timer = interrupted(0.3)
    with pytest.raises(KeyboardInterrupt):
        for _ in range(100):
            x = pt.linspace(0.0, 1.0, 2_000_000, dist=0)
            for _ in range(60):
                x = pt.sin(x) + 0.5
            x.compute()
    timer.join()
    # Counting must not take the answer that is still to come.
    with pt.comm_stats() as stats:
        assert float(pt.sum(kept + 1)) == 55.0
    assert stats.programs >= 1


def test_ctrl_c_is_heard_while_nobody_answers(heard):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        timer = interrupted(0.3)
        begin = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            pt.init(cluster=f"127.0.0.1:{silent.getsockname()[1]}")
        assert time.monotonic() - begin < SOON
        timer.join()


BRINGS = """
import threading, time
import numpy as np
import pantile as pt

def compute():
    for _ in range(3):
        x = pt.linspace(0.0, 1.0, 2_000_000, dist=0)  # longer than ranks wait for signals
        for _ in range(60):
            x = pt.sin(x) + 0.5
        x.compute()
    print("computed")

site = pt._core.LocalCluster(2)
for given in ({"cluster": site.address}, {"ranks": 2, "backend": "threads"}):
    pt.init(**given)
    thread = threading.Thread(target=compute)
    thread.start()
    while thread.is_alive():
        pt.asarray(np.ones(100), dist=0)
        pt.from_callback(100, 0, lambda part: np.ones(100)[part])
        time.sleep(0.001)
"""


def test_others_may_compute_while_somebody_brings_elements(tmp_path):
    """Whoever computes needs the interpreter to hear of signals; whoever brings elements waits for it.
    A process of its own: if they wait for each other, nothing else goes on in theirs."""
    program = tmp_path / "brings.py"
    program.write_text(BRINGS)
    ran = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == ["computed", "computed"]


# ---- pipelines


def test_functions_of_chunks_move_nothing_and_give_the_same_bytes(cluster):
    given = np.random.default_rng(1).normal(size=(31, 5))
    a, row = pt.asarray(given, dist=0), pt.asarray(given[:1], dist=0)
    pt.compute(a, row)
    with pt.comm_stats() as stats:
        scaled, least, total = pt.pipeline(
            lambda c, r: (c * r, pt.min(c, axis=0), pt.count_nonzero(c > 0)),
            a, row, split=(0, None), combine=(0, "min", "sum"),
        )  # fmt: skip
        assert stats.programs == 0
        pt.compute(scaled, least, total)
        assert stats.bytes_up == 0 and stats.bytes_down == 0
        again = pt.pipeline(lambda c: c + 1, scaled)
        again.compute()
    assert (np.asarray(scaled) == given * given[:1]).all()
    assert (np.asarray(again) == given * given[:1] + 1).all()
    assert (np.asarray(least) == given.min(axis=0)).all() and int(total) == (given > 0).sum()
    same = pt.pipeline(lambda r: pt.sum(r), row, combine="sum", chunks=4)
    assert float(same) == float(pt.sum(row))
