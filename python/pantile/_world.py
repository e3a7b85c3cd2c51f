"""The world: all ranks."""

from __future__ import annotations

import os

from . import _core

_current: _core.World | None = None


def init(ranks: int | None = None, backend: str | None = None) -> None:
    """Starts the ranks. Optional: the first array does so, too.

    `backend` is `"threads"` (ranks are threads of this process) or `"mpi"` (this process is one of
    those that `mpirun` or `srun` started). Without arguments the environment decides: under a
    launcher MPI, else `PANTILE_RANKS` threads, else one per core; `PANTILE_BACKEND` names a backend.
    Arrays made before belong to the world that was there before.

    >>> import pantile as pt
    >>> pt.init(ranks=2)
    >>> pt.ranks()
    2
    """
    global _current
    backend = backend or os.environ.get("PANTILE_BACKEND") or None
    if backend not in (None, "threads", "mpi"):
        raise ValueError(f'got backend {backend!r}, expected "threads" or "mpi"')
    if ranks is not None and ranks < 1:
        raise ValueError(f"got {ranks} ranks, expected at least 1")
    if backend == "mpi" and not _core.has_mpi:
        raise RuntimeError(
            "this pantile was built without MPI: install it again on a machine with mpicc in PATH"
        )
    if backend == "threads" or (backend is None and ranks is not None and not _launched()):
        _current = _core.World.threads(ranks)
        return
    world = _core.World.from_env()
    if backend == "mpi" and not _launched():
        raise RuntimeError("MPI: start it with mpirun or srun, for example mpirun -n 4 python x.py")
    if ranks is not None and world.ranks != ranks:
        raise ValueError(f"got ranks={ranks}, but there are {world.ranks} processes")
    _current = world


def world() -> _core.World:
    """The world, started if it was not yet."""
    if _current is None:
        init()
    assert _current is not None  # `init` fails or sets it
    return _current


def ranks() -> int:
    """Number of ranks."""
    return world().ranks


def rank() -> int:
    """The first rank that this process hosts: its own under MPI, 0 on threads."""
    return world().hosted[0]


def hosted_ranks() -> list[int]:
    """The ranks that this process hosts: all of them on threads, one under MPI."""
    return world().hosted


def _launched() -> bool:
    return _core.launched() is not None
