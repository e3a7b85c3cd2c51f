"""A busy machine."""

import contextlib
import os
import subprocess
import sys


@contextlib.contextmanager
def busy_cores():
    """A loop that never ends on each core, as long as the block takes."""
    cores = len(os.sched_getaffinity(0))
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(cores)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
