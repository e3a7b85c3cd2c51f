"""Thousands of ranks: those that hold elements and compute nothing have no thread."""

import subprocess
import sys

import pytest

START = """
import resource
from pathlib import Path
import pantile as pt

def threads():
    # How many ranks have one.
    names = [task.read_text() for task in Path("/proc/self/task").glob("*/comm")]
    return sum(name.startswith("rank ") for name in names)

# Seconds of work on all cores together: more than ten times what it takes.
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
pt.init(ranks={ranks})
"""

# Before the process ends.
CHECKS = """
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert peak < {most} << 10, f"{{peak}} KiB of memory"
print("done")
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="counts threads in /proc")


def run(ranks, lines, most=500):
    """Runs lines in a process that starts so many ranks, in so many MiB."""
    script = (START + lines + CHECKS).format(ranks=ranks, most=most)
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (0, "done\n"), ended.stderr


@pytest.mark.parametrize("ranks", [1, 2, 3, 4095, 4096])
def test_ranks_without_work_have_no_thread(ranks):
    run(
        ranks,
        """
a = pt.arange(10.0, dist=0) + 1
assert float(a.compute()[3]) == 4.0
assert threads() == 0, "small programs that move nothing need no threads"
# Here ranks take elements from each other.
b = a.redistribute("c").compute()
c = a[::-1].compute()
assert threads() <= min({ranks}, 10), "only ranks with elements have one"
assert b.gather().tolist() == [i + 1.0 for i in range(10)]
assert c.gather().tolist() == [10.0 - i for i in range(10)]
""",
    )


@pytest.mark.parametrize("ranks", [3, 4096])
def test_all_ranks_may_have_work(ranks):
    run(
        ranks,
        """
a = pt.ones(({ranks}, 10), dist=0) * 3
assert float(a[{ranks} - 1, 9]) == 3.0
assert float(a.compute().sum()) == 30.0 * {ranks}
assert float(a.max()) == 3.0
assert a.sum(axis=0).gather().tolist() == [3.0 * {ranks}] * 10
""",
        # How many threads wait with packed elements at the same time depends on the machine.
        most=700,
    )


@pytest.mark.parametrize("ranks", [1, 3])
def test_sections_make_thousands_of_ranks(ranks):
    run(
        ranks,
        """
import numpy as np

def parts(count):
    def part(i):
        dim = {{"dist_type": "b", "size": 3 * count, "proc_grid_size": count, "proc_grid_rank": i,
               "start": 3 * i, "stop": 3 * i + 3}}
        return {{"__version__": "0.10.0", "buffer": np.full(3, i), "dim_data": (dim,)}}
    return [part(i) for i in range(count)]

small, given = pt.arange(5), parts(4096)
a = pt.from_distarray(given)
assert pt.ranks() == {ranks} and len(a.sections) == 4096
for i in (0, 1, 2048, 4095):
    assert np.shares_memory(a.sections[i].data, given[i]["buffer"])
assert int(a.sum()) == 3 * sum(range(4096))
# What names no such ranks stays cheap.
assert (small + 1).tolist() == [1, 2, 3, 4, 5] and len(small.sections) == {ranks}
more = pt.from_distarray(parts(4097))
assert len(more.sections) == {ranks} and int(more.sum()) == int(a.sum()) + 3 * 4096
""",
    )


def test_more_ranks_are_refused():
    script = START.format(ranks=4097)
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ended.returncode == 1
    assert "4097" in ended.stderr and "4096" in ended.stderr
