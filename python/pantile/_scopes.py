"""Saying that nothing may move between ranks, and counting what does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pantile import _core


@contextmanager
def no_comm() -> Iterator[None]:
    """Within it, whatever would move elements between ranks is an error that names the line.

    It counts what is *computed* within, whenever it was written: compute what you mean to check.
    What was refused has not run and can be computed later. It holds for the world that there is at
    its beginning (see `pt.init`), on all of its threads.

    >>> import pantile as pt
    >>> a = pt.ones((4, 4), dist=0)
    >>> with pt.no_comm():
    ...     b = (2 * a + 1).compute()
    """
    from pantile import _world

    world = _world.world()
    before = world.forbid(True)
    try:
        yield
    finally:
        world.forbid(before)


@contextmanager
def steps_per_exchange(steps: int) -> Iterator[None]:
    """Within it, one exchange of halos serves up to `steps` steps in time that are computed together.

    Halos are wider, and ranks compute in them what their neighbours compute too: the same bits with
    fewer messages. Worth it where messages take longer than a few rows of arithmetic. It counts for
    what is *computed* within, so record as many steps as one exchange shall serve before you compute.

    >>> import pantile as pt
    >>> u = pt.ones((64, 64), dist=0)
    >>> with pt.steps_per_exchange(4):
    ...     for _ in range(3):
    ...         for _ in range(4):
    ...             u[1:-1] = (u[:-2] + u[2:]) / 2
    ...         u = u.compute()
    """
    from pantile import _world

    if steps < 1:
        raise ValueError(f"got {steps} steps per exchange, expected at least 1")
    world = _world.world()
    before = world.steps_per_exchange(steps)
    try:
        yield
    finally:
        world.steps_per_exchange(before)


class CommStats:
    """What was done since the beginning of a `comm_stats`, by the ranks that this process hosts.

    It counts on while the block runs, and stands still after it.
    """

    def __init__(self, world: _core.World) -> None:
        self._world = world
        self._before: dict[str, int] = world.counters()
        self._after: dict[str, int] | None = None

    def _since(self, name: str) -> int:
        now = self._after or self._world.counters()
        return now[name] - self._before[name]

    @property
    def bytes(self) -> int:
        """Bytes that ranks sent to other ranks."""
        return self._since("bytes")

    @property
    def messages(self) -> int:
        """Messages between ranks."""
        return self._since("messages")

    @property
    def programs(self) -> int:
        """Programs that ran; what was recorded together ran as one."""
        return self._since("programs")

    @property
    def planned(self) -> int:
        """Programs that were new: a loop that repeats itself adds none."""
        return self._since("lowered")

    @property
    def gathered(self) -> int:
        """Bytes that were put together for NumPy, but for the few that a process has anyway."""
        return self._since("gathered")

    def _stop(self) -> None:
        self._after = self._world.counters()

    def __repr__(self) -> str:
        return f"CommStats(bytes={self.bytes}, messages={self.messages}, programs={self.programs}, planned={self.planned}, gathered={self.gathered})"


@contextmanager
def comm_stats() -> Iterator[CommStats]:
    """Counts what is computed within, by the world that there is at its beginning (see `pt.init`).

    What is only recorded within and computed after it is not counted: compute what you mean to count.
    Under MPI every process counts what it sends itself.

    >>> import pantile as pt
    >>> a = pt.ones((4, 4), dist=0)
    >>> with pt.comm_stats() as s:
    ...     b = (2 * a + 1).compute()
    >>> s.bytes, s.messages
    (0, 0)
    """
    from pantile import _world

    stats = CommStats(_world.world())
    try:
        yield stats
    finally:
        stats._stop()
