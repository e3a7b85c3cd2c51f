"""Programs that need more memory than a process may have: errors with numbers, and work goes on."""

import os
import resource
import subprocess
import sys

import pytest

import pantile as pt
from pantile import _core

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits are those of Linux")

GIB = 1 << 30


def limited(program: str, kind: int, more: int, ranks: int) -> str:
    """What a program prints that may take so many bytes more than it has when it begins."""
    begin = f"""
import resource
import numpy as np
import pantile as pt
pt.init({ranks})
pt.ones((1000,)).sum().item()
status = open("/proc/self/status").read()
used = int(status.split("{"VmSize" if kind == resource.RLIMIT_AS else "VmData"}:")[1].split()[0]) * 1024
resource.setrlimit({kind}, (used + {more}, resource.RLIM_INFINITY))
"""
    words = [sys.executable, "-c", begin + program]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=600, env=dict(os.environ), check=False)
    assert ran.returncode == 0, (ran.returncode, ran.stdout, ran.stderr)
    return ran.stdout


REFUSED = """
small = pt.ones((1000, 1000))
for need in (1 << 27, 1 << 28, 1 << 37):
    try:
        (pt.zeros((need,)) + 1.0).compute()
    except MemoryError as error:
        assert isinstance(error, pt.OutOfMemory) and isinstance(error, pt.PantileError)
        print(error)
    else:
        raise AssertionError(need)
    assert float((small + small).sum()) == 2e6
large = (pt.zeros((1 << 24,)) + 1.0).compute()
assert float(large.sum()) == 1 << 24
"""


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize(("kind", "name"), [(resource.RLIMIT_AS, "ulimit -v"), (resource.RLIMIT_DATA, "ulimit -d")])
def test_what_ulimit_does_not_allow_is_refused_and_work_goes_on(ranks, kind, name):
    told = limited(REFUSED, kind, 3 * GIB // 4, ranks)
    lines = told.splitlines()
    assert len(lines) == 3 and all(f"({name})" in line and "bytes of memory are needed" in line for line in lines)
    assert "1073741824 bytes of memory are needed (1.0 GiB), and " in lines[0]
    assert " are left of the " in lines[0]


GIVEN = """
data = np.ones(1 << 25)
try:
    pt.asarray(data)
except MemoryError as error:
    print(error)
else:
    raise AssertionError("it does not fit")
assert float(pt.asarray(data[:1000]).sum()) == 1000
"""


def test_elements_that_do_not_fit_are_refused():
    assert "these elements: " in limited(GIVEN, resource.RLIMIT_AS, 3 * GIB // 4, 2)


def test_the_error_is_one_of_pythons():
    assert issubclass(pt.OutOfMemory, MemoryError) and issubclass(pt.OutOfMemory, pt.PantileError)
    with pytest.raises(MemoryError, match="bytes of memory are needed"):
        (pt.zeros((1 << 46,)) + 1.0).compute()
    assert float(pt.ones((3,)).sum()) == 3


PROCESSES = """
import resource
import pantile as pt
pt.init()
status = open("/proc/self/status").read()
used = int(status.split("VmSize:")[1].split()[0]) * 1024
if pt.rank() == 1:
    resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 29), resource.RLIM_INFINITY))
for _ in range(3):
    try:
        (pt.zeros((3 << 27,)) + 1.0).compute()
    except MemoryError as error:
        assert "on rank 1: 1073741824 bytes of memory are needed" in str(error), error
        assert "(ulimit -v)" in str(error), error
    else:
        raise AssertionError("it does not fit")
    assert float(pt.ones((3000, 1000)).sum()) == 3e6
"""


SHARED = """
import pantile as pt
pt.init()
for bytes in (1 << 45, 1 << 50):
    try:
        (pt.zeros((bytes >> 3,)) + 1.0).compute()
    except MemoryError as error:
        assert "are left for each of 3 processes here of the " in str(error), error
    else:
        raise AssertionError("it does not fit")
"""


def processes(folder, program):
    """Runs a program on three processes."""
    script = folder / "limited.py"
    script.write_text(program)
    words = [sys.executable, "-m", "pantile._command", "run", str(script), "-n", "3"]
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    environment = {**os.environ, **allowed}
    ran = subprocess.run(words, capture_output=True, text=True, timeout=300, env=environment, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.skipif(not _core.has_mpi, reason="this build has no MPI")
def test_processes_of_one_machine_share_its_memory(tmp_path):
    processes(tmp_path, SHARED)


@pytest.mark.skipif(not _core.has_mpi, reason="this build has no MPI")
def test_what_one_process_may_not_have_all_refuse(tmp_path):
    processes(tmp_path, PROCESSES)
