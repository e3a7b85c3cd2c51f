"""The world: all ranks."""

from __future__ import annotations

import operator
import os
import pickle
from collections.abc import Callable
from typing import Any, TypeVar

from . import _core
from ._seat import seated

T = TypeVar("T")

_current: _core.World | None = None
_processes = False
_forked = False


def init(
    ranks: int | None = None,
    backend: str | None = None,
    *,
    threads: int | None = None,
    scheme: str | None = None,
    cluster: str | None = None,
    keys: str | os.PathLike[str] | None = None,
    token: str | None = None,
    insecure: bool = False,
) -> None:
    """Starts the ranks. Optional: the first array does so, too.

    `backend` is `"threads"` (ranks are threads of this process) or `"mpi"` (this process is one of
    those that `mpirun` or `srun` started). Without arguments the environment decides: under a
    launcher MPI, else `PANTILE_RANKS` threads, else one per core; `PANTILE_BACKEND` names a backend.
    `threads` of each rank (else `PANTILE_THREADS`, else 1; at most 256) share its large loops,
    reductions and copies; the results have the same bits. `scheme` (else `PANTILE_SCHEME`, else
    `"EVEN"`) is how they cut loops: `"STATIC"`, `"SS"`, `"GSS"`, `"TSS"`, `"FAC2"`, `"TFSS"`,
    `"FISS"`, `"VISS"`, `"PLS"`, `"PSS"`, `"MSTATIC"`, `"MFSC"` or `"AUTO"`; the workers of a cluster
    are told when they are started.
    Arrays made before belong to the world that was there before. Where ranks are threads, a mesh that
    names more of them makes those that are missing, up to 4,096.

    `cluster` is where a coordinator listens, `"HOST:PORT"`: the ranks are then on its workers, as many
    as these like to host unless `ranks` (else `PANTILE_RANKS`) says how many. Arrays stay there, and
    programs are sent once; what is looked at here is copied. Without `backend` and a launcher
    `PANTILE_CLUSTER` names one, too. On another machine a folder of `keys` is needed (else
    `PANTILE_CLUSTER_KEYS`; `token` is used instead of the one in it), or `insecure=True`. A worker that is lost
    is a `pt.WorkerLost`; start again with `pt.init`.

    >>> import pantile as pt
    >>> pt.init(ranks=2)
    >>> pt.ranks()
    2
    >>> pt.init(ranks=1, threads=2)
    """
    global _current, _processes, _forked
    _refuse_ranks()
    if _forked and (backend == "mpi" or (backend is None and _core.has_processes())):
        raise RuntimeError(
            "this process was forked from one of an MPI job, and MPI has no place for it: "
            'pt.init(backend="threads") starts a world of its own'
        )
    if not isinstance(scheme, str | None):
        raise TypeError(f"got scheme {scheme!r}, expected a name")
    if not isinstance(cluster, str | None):
        raise TypeError(f'got cluster {cluster!r}, expected "HOST:PORT"')
    if cluster is not None and backend is not None:
        raise ValueError(f"got cluster={cluster!r} and backend={backend!r}, expected one of them")
    if backend not in (None, "threads", "mpi"):
        raise ValueError(f'got backend {backend!r}, expected "threads" or "mpi"')
    if ranks is not None and ranks < 1:
        raise ValueError(f"got {ranks} ranks, expected at least 1")
    if threads is not None:
        threads = whole(threads, f"got {threads!r} threads of each rank, expected 1 to 256", 256)
    if cluster is None and backend is None:
        cluster = _core.named_cluster()
    if cluster is not None:
        _check_address(cluster)
        world = _core.World.cluster(cluster, ranks, threads, keys or None, token, insecure)
        if scheme is not None:
            world.scheme(scheme)
        _current, _processes, _forked = world, False, False
        return
    if keys is not None or token is not None or insecure:
        raise ValueError("got keys, a token or insecure without a cluster, expected cluster=HOST:PORT")
    world, processes = _core.World.start(ranks, backend, threads)
    if scheme is not None:
        world.scheme(scheme)
    _current, _processes, _forked = world, processes, False


def _check_address(address: str) -> None:
    host, colon, port = address.rpartition(":")
    if not (host and colon and port.isdecimal() and int(port) < 65536):
        raise ValueError(f'got cluster {address!r}, expected "HOST:PORT"')


def whole(value: int, sentence: str, most: int | None = None) -> int:
    """`value` as an `int` from 1 on, up to `most`; else an error that says `sentence`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(sentence) from None
    if number < 1 or (most is not None and number > most):
        raise ValueError(sentence)
    return number


def world() -> _core.World:
    """The world, started if it was not yet."""
    _refuse_ranks()
    if _forked:
        raise RuntimeError(
            "this process was forked: the ranks of the world stayed with the parent process; "
            "pt.init() starts a new world here"
        )
    if _current is None:
        init()
    assert _current is not None  # `init` fails or sets it
    return _current


def records_of_all(ours: _core.World, name: str, record: Callable[[], T]) -> list[T]:
    """What a function gives on every process, by rank. What goes wrong on one of them is an error on
    all."""
    if len(ours.hosted) == ours.ranks:
        return [record()]
    problem, words, own = None, None, b""
    try:
        own = _pickled(name, record())
    except Exception as error:
        problem, words = error, str(error)
    heard = [pickle.loads(one) for one in ours.gather(name, pickle.dumps((words, own)))]
    if problem is not None:
        raise problem
    for rank, (words, _) in enumerate(heard):
        if words is not None:
            raise RuntimeError(f"{name} failed on another process; rank {rank} says why: {words}")
    return [pickle.loads(own) for _, own in heard]


def _pickled(name: str, record: Any) -> bytes:
    try:
        return pickle.dumps(record)
    except Exception as error:
        raise TypeError(f"{name}: {error}") from error


def ranks() -> int:
    """Number of ranks over which arrays are cut unless a mesh names others."""
    seat = seated()
    return world().ranks if seat is None else seat.size


def rank() -> int:
    """The first rank that this process hosts: its own under MPI, 0 on threads and clusters; inside of `spmd` the
    rank that calls.
    """
    return hosted_ranks()[0]


def hosted_ranks() -> list[int]:
    """The ranks that this process hosts: all of them on threads, one under MPI; inside of `spmd` the
    rank that calls. For those on the workers of a cluster it speaks: all of them.
    """
    seat = seated()
    return world().hosted if seat is None else [seat.rank]


def current() -> _core.World | None:
    """The world, if it was started."""
    return _current


def on_processes() -> bool:
    """True if the ranks of the world that was started are processes."""
    return _processes


def on_cluster() -> bool:
    """True if the ranks of the world are on the workers of a cluster, or will be once it is started."""
    if _current is not None:
        return not _current.near
    return _core.named_cluster() is not None


def usual_ranks() -> int:
    """As many ranks as the world has, or would have if it was started: on threads."""
    return _current.ranks if _current is not None else _core.thread_ranks()


def _refuse_ranks() -> None:
    """One rank alone has no arrays."""
    if seated() is not None:
        raise RuntimeError(
            "arrays belong to all ranks together, but one rank of pt.spmd asked for one: make arrays "
            "outside of pt.spmd, and use NumPy arrays and partitions inside"
        )


def _forget() -> None:
    """A forked process has the memory of the world, but not its threads and connections."""
    global _current, _processes, _forked
    _forked = _forked or _current is not None
    _current, _processes = None, False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
