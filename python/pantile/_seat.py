"""Which rank of `spmd` the running thread is."""

from __future__ import annotations

import threading

from . import _core


class _Seat(threading.local):
    rank: _core.Rank | None = None


_seat = _Seat()


def seated() -> _core.Rank | None:
    """The rank that this thread is; none outside of `spmd`."""
    return _seat.rank


def take(rank: _core.Rank | None) -> None:
    """From now on this thread is that rank, or none."""
    _seat.rank = rank
