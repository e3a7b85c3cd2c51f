"""A sign of life for what takes long, where somebody looks: a terminal or a notebook.

One line says what is computed, for how long, and how much memory the process has; it goes away at
the end.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from math import prod
from typing import TYPE_CHECKING, Any, Protocol, TextIO

import numpy as np

if TYPE_CHECKING:
    from pantile import _core

# Seconds before the first sign: what is shorter needs none.
DELAY = 0.5


class Place(Protocol):
    """Where a line is shown."""

    #: Seconds between two lines.
    pause: float

    def show(self, text: str) -> None:
        """Shows a line in place of the one before."""

    def clear(self) -> None:
        """Takes the line away."""


class Line:
    """A line of a terminal, written over and over."""

    pause = 0.1

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._length = 0

    def show(self, text: str) -> None:
        """Writes over what is there."""
        # A line that is too long goes on in the next one, and no return leads back.
        text = text[: _width(self._stream) - 1]
        self._write(f"\r{text.ljust(self._length)}")
        self._length = len(text)

    def clear(self) -> None:
        """Writes blanks, and goes back to the beginning."""
        self._write("\r" + " " * self._length + "\r")
        self._length = 0

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # closed meanwhile: nobody looks any more
            pass


class Cell:
    """An output of a notebook's cell that is replaced, and empty at the end."""

    pause = 0.5

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, text: str) -> None:
        """Replaces what is there."""
        if self._handle is None:
            from IPython.display import display

            self._handle = display({"text/plain": text}, raw=True, display_id=True)
        else:
            self._handle.update({"text/plain": text}, raw=True)

    def clear(self) -> None:
        """Leaves an output without a height: outputs cannot be taken away one by one."""
        if self._handle is not None:
            self._handle.update({"text/plain": "", "text/html": ""}, raw=True)


class Progress:
    """Some work that is shown if it takes longer than a delay.

    >>> with Progress("solving"):
    ...     total = sum(range(10))
    """

    def __init__(
        self,
        what: str | Callable[[], str] = "computing",
        *,
        place: Place | None = None,
        delay: float | None = None,
    ) -> None:
        self._what = what
        self._place = _place() if place is None else place
        self._delay = DELAY if delay is None else delay
        self._began = self._next = 0.0
        self._shown = False

    def start(self) -> Progress:
        """Begins to count; gives itself. Without a place to show it does nothing."""
        if self._place is not None:
            self._began = time.monotonic()
            self._next = self._began + self._delay
            _watcher.add(self)
        return self

    def stop(self) -> None:
        """Ends, and takes its line away. Does nothing if it was not started."""
        _watcher.remove(self)

    def __enter__(self) -> Progress:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _tick(self, now: float) -> None:
        """Shows a line if it is time."""
        if self._place is not None and now >= self._next:
            self._next = now + self._place.pause
            self._shown = True
            if not isinstance(self._what, str):
                self._what = self._what()
            self._place.show(f"{self._what}: {_seconds(now - self._began)}{_memory()}")

    def _end(self) -> None:
        if self._place is not None and self._shown:
            self._shown = False
            self._place.clear()


class _Watcher:
    """One thread that shows all signs: a thread for each short piece of work would cost more than the
    work. It sleeps while there is nothing to show.
    """

    PAUSE = 0.05

    def __init__(self) -> None:
        # Signs are shown and taken away by who has it, so that no line comes after the end.
        self._lock = threading.Lock()
        self._signs: list[Progress] = []
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, sign: Progress) -> None:
        with self._lock:
            if sign not in self._signs:
                self._signs.append(sign)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="pantile-progress", daemon=True)
                self._thread.start()
            self._wake.set()

    def remove(self, sign: Progress) -> None:
        with self._lock:
            if sign in self._signs:
                self._signs.remove(sign)
                sign._end()

    def _run(self) -> None:
        while True:
            self._wake.wait()
            with self._lock:
                if self._signs:
                    # Of work within work the outer one is what was asked for.
                    self._signs[0]._tick(time.monotonic())
                else:
                    self._wake.clear()
            time.sleep(self.PAUSE)


_watcher = _Watcher()
_SILENT = nullcontext()


def _forget() -> None:
    """A forked process has no thread, and perhaps a lock that nobody opens."""
    global _watcher
    _watcher = _Watcher()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def progress(what: str = "computing") -> AbstractContextManager[Any]:
    """A sign of life for what runs within, where somebody looks: at a terminal or in a notebook, if
    it takes longer than half a second.

    >>> with progress("solving"):
    ...     total = sum(range(10))
    """
    place = _place()
    return _SILENT if place is None else Progress(what, place=place)


def computing(*handles: _core.Array) -> AbstractContextManager[Any]:
    """The same, for the computation of arrays. The core calls it."""
    place = _place()
    if place is None:
        return _SILENT
    # Asked before, because arrays answer nothing while they are computed; put into words later,
    # because most of them are computed before anybody could read it.
    kinds = [(handle.dtype, handle.shape) for handle in handles]
    return Progress(lambda: described(kinds, handles[0].world.ranks), place=place)


def described(kinds: list[tuple[str, list[int]]], ranks: int) -> str:
    """What is computed, in a few words.

    >>> described([("float64", [1000, 500])], 2)
    'computing float64[1000, 500] (3.8 MiB) on 2 ranks'
    >>> described([("int8", [5]), ("int8", [6])], 1)
    'computing 2 arrays (11 B) on 1 rank'
    """
    size = sum(prod(shape) * np.dtype(dtype).itemsize for dtype, shape in kinds)
    what = f"{len(kinds)} arrays"
    if len(kinds) == 1:
        dtype, shape = kinds[0]
        what = f"{dtype}[{', '.join(map(str, shape))}]"
    return f"computing {what} ({bytes_text(size)}) on {ranks} rank{'s' * (ranks > 1)}"


def bytes_text(count: int) -> str:
    """A number of bytes for people.

    >>> bytes_text(999), bytes_text(40_000)
    ('999 B', '39.1 KiB')
    """
    if count < 1024:
        return f"{count} B"
    size, units = float(count), iter(["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"])
    unit = ""
    while size >= 1024:
        size, unit = size / 1024, next(units)
    return f"{size:.1f} {unit}"


def _seconds(count: float) -> str:
    """A time for people.

    >>> _seconds(0.52), _seconds(59.9), _seconds(125)
    ('0.5 s', '59.9 s', '2 min 05 s')
    """
    return f"{count:.1f} s" if count < 60 else f"{int(count // 60)} min {int(count % 60):02} s"


def _memory() -> str:
    """What this process has in memory, where the system says it in a file."""
    try:
        with open("/proc/self/statm", "rb") as file:
            pages = int(file.read().split()[1])
    except (OSError, ValueError, IndexError):
        return ""
    return f", {bytes_text(pages * os.sysconf('SC_PAGE_SIZE'))} in memory"


def _place() -> Place | None:
    """Where somebody looks, if anybody does."""
    from pantile import _world

    if _is_terminal(sys.stderr):
        # Of several processes one speaks.
        world = _world._current
        return Line(sys.stderr) if world is None or 0 in world.hosted else None
    return Cell() if _in_notebook() else None


def _width(stream: TextIO) -> int:
    """Letters in a line of a terminal."""
    try:
        # Terminals that do not know say 0.
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError, AttributeError):
        return 80


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except (AttributeError, ValueError):
        return False


def _in_notebook() -> bool:
    """True if a notebook's kernel runs this."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"
