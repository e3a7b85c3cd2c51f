"""Saying that nothing may move between ranks, and counting what does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from pantile import _core

_Value = TypeVar("_Value", bool, int)


@contextmanager
def _within(setting: Callable[[_core.World, _Value], _Value], value: _Value) -> Iterator[None]:
    """Within it, a setting of the world that there is at its beginning has this value; then the one from before.

    `setting` changes it, and gives what it was.
    """
    from pantile import _world

    world = _world.world()
    before = setting(world, value)
    try:
        yield
    finally:
        setting(world, before)


def no_comm() -> AbstractContextManager[None]:
    """Within it, whatever would move elements between ranks is an error that names the line.

    It counts what is *computed* within, whenever it was written: compute what you mean to check.
    What was refused has not run and can be computed later. It holds for the world that there is at
    its beginning (see `pt.init`), on all of its threads.

    >>> import pantile as pt
    >>> a = pt.ones((4, 4), dist=0)
    >>> with pt.no_comm():
    ...     b = (2 * a + 1).compute()
    """
    return _within(lambda world, forbidden: world.forbid(forbidden), True)


def steps_per_exchange(steps: int) -> AbstractContextManager[None]:
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

    sentence = f"got {steps!r} steps per exchange, expected an integer of at least 1"
    count = _world.whole(steps, sentence)
    return _within(lambda world, steps: world.steps_per_exchange(steps), count)


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
        # Ranks that are lost count nothing any more.
        return max(0, now[name] - self._before[name])

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

    @property
    def bytes_up(self) -> int:
        """Bytes of elements that were sent to the workers of a cluster."""
        return self._since("bytes_up")

    @property
    def bytes_down(self) -> int:
        """Bytes of elements that came from the workers of a cluster."""
        return self._since("bytes_down")

    @property
    def programs_sent(self) -> int:
        """Programs that were sent to the workers of a cluster; the others were there already."""
        return self._since("programs_sent")

    def _stop(self) -> None:
        self._after = self._world.counters()

    def __repr__(self) -> str:
        names = ["bytes", "messages", "programs", "planned", "gathered"]
        if not self._world.near:
            names += ["bytes_up", "bytes_down", "programs_sent"]
        return f"CommStats({', '.join(f'{name}={getattr(self, name)}' for name in names)})"


@contextmanager
def comm_stats() -> Iterator[CommStats]:
    """Counts what is computed within, by the world that there is at its beginning (see `pt.init`).

    What is only recorded within and computed after it is not counted: compute what you mean to count.
    Under MPI every process counts what it sends itself. On a cluster `bytes` and `messages` are those
    between workers; `bytes_up`, `bytes_down` and `programs_sent` are those between them and this process.

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
