"""A sign of life where somebody looks, and nothing of it left at the end."""

import io
import os
import pty
import re
import subprocess
import sys
import threading
import time

import pytest

import pantile as pt
from pantile import _progress
from pantile._progress import Line, Progress
from conftest import SOON


class Terminal(io.StringIO):
    def isatty(self):
        return True


def until(condition):
    """Waits for something that comes soon, however busy the machine is."""
    end = time.monotonic() + SOON
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def screen(text):
    """The lines that a terminal shows in the end."""
    lines = []
    for line in text.replace("\r\n", "\n").split("\n"):
        shown = ""
        for part in line.split("\r"):
            shown = part + shown[len(part) :]
        lines.append(shown.rstrip())
    return lines


def at(stream, what="solving", delay=0.0):
    return Progress(what, place=Line(stream), delay=delay)


def test_nothing_is_shown_where_nobody_looks(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    threads = threading.active_count()
    assert pt.progress() is _progress._SILENT
    with Progress(delay=0.0), pt.progress("solving"):
        pt.ones(5).compute()
    assert sys.stderr.getvalue() == "" and threading.active_count() == threads


def test_a_line_says_what_and_how_long_and_goes_away():
    stream = Terminal()
    with at(stream):
        until(stream.getvalue)
    assert re.match(r"\rsolving: 0\.\d s(, [\d.]+ [KMG]iB in memory)?", stream.getvalue())
    assert screen(stream.getvalue()) == [""]


def test_short_work_is_silent():
    stream = Terminal()
    with at(stream, delay=60.0):
        pass
    assert stream.getvalue() == ""


def test_a_shorter_line_covers_a_longer_one():
    stream = Terminal()
    line = Line(stream)
    line.show("a long line")
    line.show("short")
    assert screen(stream.getvalue()) == ["short"]
    line.clear()
    assert screen(stream.getvalue()) == [""]


def test_a_line_never_wraps():
    stream = Terminal()
    Line(stream).show("x" * 500)
    assert len(stream.getvalue()) == 80  # the return, and one less than a line


def test_it_can_be_stopped_twice_and_started_again():
    stream = Terminal()
    sign = at(stream)
    sign.stop()
    for turn in (1, 2):
        sign.start()
        until(lambda turn=turn: stream.getvalue().count("solving") >= turn)
        sign.stop()
        sign.stop()
        assert screen(stream.getvalue()) == [""]
    after = stream.getvalue()
    time.sleep(0.2)
    assert stream.getvalue() == after


def test_of_work_within_work_the_outer_is_shown():
    stream = Terminal()
    with at(stream, "outer"), at(stream, "inner"):
        until(stream.getvalue)
    assert "outer" in stream.getvalue() and "inner" not in stream.getvalue()


@pytest.mark.filterwarnings("error")
def test_a_closed_stream_is_survived():
    stream = Terminal()
    with at(stream):
        until(stream.getvalue)
        stream.close()
        time.sleep(0.2)
    again = Terminal()
    with at(again):
        until(again.getvalue)


def test_there_is_one_thread():
    stream = Terminal()
    for _ in range(20):
        with at(stream):
            until(stream.getvalue)
    names = [thread.name for thread in threading.enumerate()]
    assert names.count("pantile-progress") == 1
    # It sleeps while there is nothing to show.
    until(lambda: not _progress._watcher._wake.is_set())


def test_an_error_takes_the_line_away():
    stream = Terminal()
    with pytest.raises(KeyError), at(stream):
        until(stream.getvalue)
        raise KeyError
    assert screen(stream.getvalue()) == [""]


def test_arrays_are_described(monkeypatch):
    pt.init(ranks=2)
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(_progress, "DELAY", 0.0)
    with _progress.computing(pt.zeros((1000, 500))._h, pt.zeros(3, dtype=pt.int8)._h):
        until(stream.getvalue)
    assert "\rcomputing 2 arrays (3.8 MiB) on 2 ranks: 0." in stream.getvalue()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_forked_process_has_a_thread_of_its_own():
    with at(Terminal()):
        child = os.fork()
        if child == 0:
            stream = Terminal()
            with at(stream):
                until(stream.getvalue)
            os._exit(0 if screen(stream.getvalue()) == [""] else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


LONG = """
import pantile as pt
x = pt.linspace(0.0, 1.0, 2_000_000, dist=0)
for _ in range({turns}):
    x = pt.sin(x) + 0.5
print("begin", flush=True)
x.{look}
print("end", flush=True)
"""


def at_a_terminal(words):
    """What a program writes to a terminal, as it was written."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen([sys.executable, "-c", words], stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    written = b""
    while True:
        try:
            written += os.read(ours, 1 << 16) or b""
        except OSError:  # so ends a terminal that nobody has open any more
            break
    os.close(ours)
    assert child.wait(timeout=SOON) == 0, written
    return written.decode()


@pytest.mark.parametrize("look", ["compute()", "sum().item()", "sections", "dist", "__repr__()"])
def test_at_a_terminal(look):
    # The delay is short, so that a fast machine has no need of hours of work.
    written = at_a_terminal(
        "from pantile import _progress\n_progress.DELAY = 0.02\n" + LONG.format(turns=40, look=look)
    )
    kind = r"float64\[\] \(8 B\)" if "sum" in look else r"float64\[2000000\] \(15.3 MiB\)"
    assert re.search(rf"\rcomputing {kind} on \d+ ranks?: \d+\.\d s, [\d.]+ .iB in memory", written), written
    assert screen(written) == ["begin", "end", ""]


def test_short_work_at_a_terminal():
    written = at_a_terminal(LONG.format(turns=1, look="compute()"))
    assert written == "begin\r\nend\r\n"
