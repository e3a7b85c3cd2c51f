"""Several commands at a time: each has a log, which is shown if it fails."""

import collections
import contextlib
import os
import re
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from shell import ROOT, WORK, Failure, count, environment, say, shown

#: Process groups of the jobs that run.
_running: set[int] = set()

#: No job takes this long; one that does hangs.
LIMIT_SECONDS = 1500


@dataclass
class Job:
    """A command with a name."""

    name: str
    command: list
    env: dict = field(default_factory=dict)
    cwd: Path = ROOT
    #: Runs while nothing else does.
    alone: bool = False
    #: Where its standard output goes instead of the log.
    output: Path | None = None

    @property
    def log(self):
        return WORK / "logs" / (re.sub(r"[^A-Za-z0-9.]+", "-", self.name) + ".log")


def at_once():
    """As many jobs as there are cores, but at most four."""
    return min(len(os.sched_getaffinity(0)), 4)


def run_jobs(jobs, slots=None):
    """Runs all jobs, in this order as far as there is room, and fails if one of them failed."""
    waiting = collections.deque(jobs)
    slots = slots or at_once()
    failed, lock = [], threading.Lock()

    def work(alone):
        while True:
            with lock:
                found = next((job for job in waiting if job.alone == alone), None)
                if found is None:
                    return
                waiting.remove(found)
            problem = _run_one(found)
            if problem:
                with lock:
                    failed.append(problem)

    threads = [threading.Thread(target=work, args=[False]) for _ in range(slots)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        work(True)
    except KeyboardInterrupt:
        waiting.clear()
        _end_all()
        raise
    if failed:
        raise Failure(f"{len(failed)} of {len(jobs)} jobs failed: " + ", ".join(failed))


def _run_one(job):
    """The name of a job that failed, else nothing."""
    job.log.parent.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    with job.log.open("w") as log:
        output = job.output.open("w") if job.output else log
        process = subprocess.Popen(
            list(map(str, job.command)),
            cwd=job.cwd,
            env=environment(**job.env),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=log,
            start_new_session=True,
        )
        code = _wait(process)
    seconds, text = time.monotonic() - started, job.log.read_text(errors="replace")
    passed, closing = _closing(text)
    count(passed)
    good = code == 0
    lines = [f"{'ok' if good else 'FAILED'}  {seconds:6.1f} s  {job.name}  {closing}".rstrip()]
    if not good:
        reason = f"no end after {LIMIT_SECONDS} s" if code is None else f"exit {code}"
        lines += [f"$ {shown(job.command, repeated(job.env))}   ({reason})", text[-20_000:]]
    say("\n".join(lines))
    return None if good else job.name


def repeated(env):
    """The variables of a job with those that choose its random cases."""
    names = ("PANTILE_RUN_SEED", "PANTILE_CASES")
    return {**{name: os.environ[name] for name in names if name in os.environ}, **env}


def _wait(process):
    """The exit code, or nothing if the job hangs: then all its processes are ended."""
    _running.add(process.pid)
    try:
        return process.wait(LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None
    finally:
        _running.discard(process.pid)


def _end_all():
    """Ends all jobs with their processes."""
    for group in list(_running):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)


def _closing(text):
    """How many tests passed, and the last line of a test runner that says so."""
    passed, last = 0, ""
    for line in text.splitlines():
        found = re.search(r"\b(\d+) (?:passed|tests, 0 failed)", line)
        if found:
            passed += int(found[1])
            last = line.strip(" =")
    return passed, last
