"""Commands, stages and the table of seconds that ends every run."""

import contextlib
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

#: The project.
ROOT = Path(__file__).resolve().parents[1]

#: Logs, lists and copies of a run.
WORK = ROOT / "target" / "checks"

#: Where the wrapper of the linker writes how long it took.
LINKS = WORK / "links"


class Failure(Exception):
    """A check that did not pass, or could not run."""


class Stage:
    """What a stage took, in seconds of the clock; `link` is added up over all processes."""

    def __init__(self, name):
        self.name = name
        self.started = time.monotonic()
        self.total = self.compile = self.link = 0.0
        self.passed = 0


_stages: list[Stage] = []
_started = time.monotonic()


def say(text=""):
    """Prints a line at once, in order with what commands print."""
    print(text, flush=True)


@contextlib.contextmanager
def stage(name):
    """Everything inside counts for this stage; a command belongs to the innermost one."""
    here = Stage(name)
    say(f"\n=== {name} (after {time.monotonic() - _started:.0f} s)")
    links = _link_seconds()
    _stages.append(here)
    try:
        yield here
    finally:
        here.total = time.monotonic() - here.started
        here.link = _link_seconds() - links


def _link_seconds():
    lines = LINKS.read_text().split() if LINKS.exists() else []
    return sum(map(int, lines)) / 1e6


def count(passed):
    """Adds to the number of tests that passed in the present stage."""
    if _stages:
        _stages[-1].passed += passed


def environment(**changes):
    """The variables of a command: those of this process and these; `None` takes one away."""
    merged = {**os.environ, **{name: str(value) for name, value in changes.items()}}
    return {name: merged[name] for name in merged if changes.get(name, "") is not None}


def shown(command, changes):
    """A command as one would type it."""
    hidden = ("PATH", "PANTILE_CC", "PANTILE_LINKS")
    known = {name: value for name, value in changes.items() if name not in hidden}
    words = [f"{name}={value}" for name, value in known.items() if value is not None]
    text = " ".join([*words, shlex.join(map(str, command))])
    return text.replace(str(ROOT) + "/", "")


def run(*command, cwd=ROOT, capture=False, compiles=False, **changes):
    """Prints a command, runs it, and returns what it printed if that is asked for."""
    say(f"$ {shown(command, changes)}")
    started = time.monotonic()
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env=environment(**changes),
        stdout=subprocess.PIPE if capture else None,
        stdin=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    if compiles and _stages:
        _stages[-1].compile += time.monotonic() - started
    if done.returncode:
        if capture:
            sys.stdout.write(done.stdout)
        raise Failure(f"`{shown(command, changes)}` ended with {done.returncode}")
    return done.stdout


def tree():
    """The hash of the tree and that of the commit; nothing without git, or with changes."""
    ask = {"cwd": ROOT, "capture_output": True, "text": True, "check": False}
    # The list of green parts changes with every part.
    others = ["--", ".", ":!checks/green.txt"]
    changes = subprocess.run(["git", "status", "--porcelain", *others], **ask)
    hashes = subprocess.run(["git", "rev-parse", "HEAD^{tree}", "HEAD"], **ask)
    if changes.returncode or changes.stdout or hashes.returncode:
        return None
    return hashes.stdout.split()


def table():
    """Prints what every stage took."""
    say(f"\n{'stage':34}{'compile':>9}{'linking':>9}{'run':>9}{'total':>9}  seconds")
    for one in _stages:
        rest = max(one.total - one.compile, 0)
        say(f"{one.name:34}{one.compile:9.0f}{one.link:9.0f}{rest:9.0f}{one.total:9.0f}")
    compiled, linked = sum(s.compile for s in _stages), sum(s.link for s in _stages)
    total = time.monotonic() - _started
    say(f"{'all':34}{compiled:9.0f}{linked:9.0f}{total - compiled:9.0f}{total:9.0f}")
    say("(linking is part of compile, added up over processes that ran side by side)")


def tests_passed():
    """Tests of all stages."""
    return sum(one.passed for one in _stages)
