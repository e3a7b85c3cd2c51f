"""Programs that run once per rank."""

from __future__ import annotations

import ctypes
import operator
import os
import pickle
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from . import _core, _world
from ._partition import Partition
from ._seat import seated, take

T = TypeVar("T")

#: Seconds that ranks have after Ctrl-C to end by themselves, and once they were interrupted.
_PATIENCE = 0.2, 5.0

_process: _core.Rank | None = None


def world() -> Partition:
    """All ranks, as a partition. Inside of `spmd` only, and in every process of `mpirun` or `srun`.

    >>> import pantile as pt
    >>> pt.spmd(lambda: pt.world(), ranks=2)
    [Partition([0, 1], rank 0), Partition([0, 1], rank 1)]
    """
    rank = seated()
    if rank is None and not _on_processes():
        raise RuntimeError(
            "pt.world() was asked outside of pt.spmd, where there are no ranks: call it in a function "
            "that pt.spmd(function, ranks=4) runs, or start the program with mpirun or srun"
        )
    return Partition._of((rank or _own_process()).team())


def spmd(fn: Callable[[], T], ranks: int | None = None) -> list[T]:
    """Calls `fn()` once per rank and gives the list of what the ranks returned, in their order.

    Inside, `world()` is the partition of all ranks. Ranks are threads: as many as `ranks` says, else
    as many as `ranks()`. Under `mpirun` or `srun` every process is one rank; results then travel to
    all processes by `pickle`, so that the list is the same everywhere, and `ranks` must be the number
    of processes if it is given.

    What a rank raises is raised here, with a note that names the rank; the other ranks get an error
    where they wait for it. Ctrl-C ends all ranks.

    Arrays belong to all ranks together and are made outside: inside, making one is an error.

    >>> import pantile as pt
    >>> def largest():
    ...     everyone = pt.world()
    ...     return int(everyone.allgather_data(10 * everyone.rank).max())
    >>> pt.spmd(largest, ranks=3)
    [20, 20, 20]
    """
    if not callable(fn):
        raise TypeError(f"got {type(fn).__name__}, expected a function that each rank calls")
    if _world.on_cluster():
        raise RuntimeError(
            "pt.spmd runs a function of Python on every rank, but the ranks are on the workers of a "
            "cluster, which take no functions of Python: use arrays there, or ranks of this process, "
            'which pt.init(backend="threads") starts'
        )
    if seated() is not None:
        raise RuntimeError("pt.spmd was called by a rank of pt.spmd: expected one inside of none")
    if ranks is not None:
        try:
            ranks = operator.index(ranks)
        except TypeError:
            raise TypeError(f"got ranks={ranks!r}, expected a number of ranks") from None
        if ranks < 1:
            raise ValueError(f"got {ranks} ranks, expected at least 1")
    return _on_this_process(fn, ranks) if _on_processes() else _on_threads(fn, ranks)


@dataclass
class _Outcome(Generic[T]):
    """What became of one rank."""

    result: T | None = None
    error: BaseException | None = None
    #: True if the error only says that another rank failed.
    follows: bool = False
    done: threading.Event = field(default_factory=threading.Event)


# ---- threads


def _on_threads(fn: Callable[[], T], ranks: int | None) -> list[T]:
    count = ranks if ranks is not None else _world.usual_ranks()
    ends, ender = _core.Rank.threads(count)
    outcomes: list[_Outcome[T]] = [_Outcome() for _ in ends]
    threads = [
        threading.Thread(target=_sit, args=(fn, end, one), name=f"rank {end.rank}", daemon=True)
        for end, one in zip(ends, outcomes)
    ]
    try:
        for thread in threads:
            thread.start()
        # A signal in `Thread.join` would make Python believe that the thread has ended.
        for one in outcomes:
            one.done.wait()
    except BaseException:
        _stop(threads, outcomes, ender)
        raise
    _raise_first(outcomes)
    return [one.result for one in outcomes]  # type: ignore[misc]


def _sit(fn: Callable[[], T], end: _core.Rank, outcome: _Outcome[T]) -> None:
    """The life of one rank."""
    take(end)
    try:
        outcome.result = fn()
    except BaseException as error:
        culprit = end.culprit()
        ours = isinstance(error, _core.Fault)
        outcome.error, outcome.follows = error, ours and culprit not in (None, end.rank)
        end.fail(_said(error))
    finally:
        take(None)
        end.leave()
        outcome.done.set()


def _stop(
    threads: list[threading.Thread], outcomes: list[_Outcome[T]], ender: _core.Ender
) -> None:
    """Ends ranks that wait, and then those that compute in Python."""
    ender.end("the program was interrupted")
    raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
    until = time.monotonic() + _PATIENCE[0]
    waits = [
        (thread, one.done) for thread, one in zip(threads, outcomes) if thread.ident is not None
    ]
    for thread, done in waits:
        if not done.wait(max(0.0, until - time.monotonic())):
            raise_in(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(KeyboardInterrupt))
    until = time.monotonic() + _PATIENCE[1]
    for _, done in waits:
        done.wait(max(0.0, until - time.monotonic()))


def _raise_first(outcomes: list[_Outcome[T]]) -> None:
    """Raises what the first rank raised, if any did."""
    failed = [rank for rank, one in enumerate(outcomes) if one.error is not None]
    if not failed:
        return
    first = next((rank for rank in failed if not outcomes[rank].follows), failed[0])
    error = outcomes[first].error
    assert error is not None
    same = [rank for rank in failed if rank != first and not outcomes[rank].follows]
    error.add_note(_note(first, len(outcomes), same))
    raise error


def _note(rank: int, ranks: int, others: list[int]) -> str:
    more = f"; ranks that raised something, too: {others}" if others else ""
    return f"raised on rank {rank} of {ranks}{more}"


def _said(error: BaseException) -> str:
    words = str(error)
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


# ---- processes


def _on_processes() -> bool:
    """True if ranks are the processes of a job."""
    if _world.current() is not None:
        return _world.on_processes()
    return _core.has_processes()


def _own_process() -> _core.Rank:
    global _process
    if _process is None:
        _process = _core.Rank.process()
    return _process


def _on_this_process(fn: Callable[[], T], ranks: int | None) -> list[T]:
    rank = _own_process()
    if ranks is not None and ranks != rank.size:
        raise ValueError(f"got ranks={ranks}, but there are {rank.size} processes")
    mine: _Outcome[T] = _Outcome()
    place: tuple[str, int] | None = None
    take(rank)
    try:
        mine.result = fn()
        record = _packed(mine.result)
    except Exception as error:
        mine.error = error
        record, place = _packed_error(error), _place(error)
    finally:
        take(None)
    try:
        rank.meet(place)
        records = rank.team().gather("the results of pt.spmd", "", record)
    except _core.Fault:
        # Ranks that wait in a movement heard of the error by another way.
        if mine.error is not None:
            mine.error.add_note(_note(rank.rank, rank.size, []))
            raise mine.error from None
        raise
    return _unpacked(records, rank, mine)


def _packed(result: Any) -> bytes:
    try:
        return pickle.dumps(("result", pickle.dumps(result)))
    except Exception as error:
        words = f"what the function returned, {type(result).__name__}, cannot be sent to processes"
        raise TypeError(f"{words}: {error}") from None


def _packed_error(error: Exception) -> bytes:
    text = "".join(traceback.format_exception(error))
    try:
        whole: bytes | None = pickle.dumps(error)
    except Exception:
        whole = None
    return pickle.dumps(("error", (whole, _said(error), text)))


def _place(error: Exception) -> tuple[str, int]:
    """Where an exception came from, as a file and a line, with its words in front: short, because
    what travels with messages is.
    """
    frames = traceback.extract_tb(error.__traceback__)
    file, line = (frames[-1].filename, frames[-1].lineno or 0) if frames else ("?", 0)
    return f"after {_said(error)[:40]}, {os.path.basename(file)[-24:]}", line


def _unpacked(records: list[bytes], rank: _core.Rank, mine: _Outcome[T]) -> list[T]:
    """What all processes returned; what one of them raised is raised on all."""
    found = [pickle.loads(record) for record in records]
    failed = [number for number, (kind, _) in enumerate(found) if kind == "error"]
    if mine.error is not None:
        others = [number for number in failed if number != rank.rank]
        mine.error.add_note(_note(rank.rank, rank.size, others))
        raise mine.error
    if failed:
        whole, words, text = found[failed[0]][1]
        try:
            error = pickle.loads(whole)
        except Exception:
            error = _core.Fault(f"rank {failed[0]} raised {words}")
        error.add_note(_note(failed[0], rank.size, failed[1:]) + f":\n{text}")
        raise error
    results = [pickle.loads(packed) for _, packed in found]
    results[rank.rank] = mine.result
    return results
