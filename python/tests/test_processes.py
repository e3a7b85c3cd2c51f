"""Ranks that are processes: each reads and writes its own part, and all fail together."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import pantile as pt
from pantile import _core

SCRIPT = Path(__file__).with_name("processes.py")
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@pytest.mark.skipif(not _core.has_mpi, reason="this build has no MPI")
@pytest.mark.parametrize("ranks", [2, 3])
def test_files_and_functions_on_processes(tmp_path, ranks):
    command = ["-m", "pantile._command", "run", str(SCRIPT), "-n", str(ranks), str(tmp_path)]
    done = subprocess.run(
        [sys.executable, *command],
        env={**os.environ, **ROOT},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    pt.init(ranks=1)
    expected = float(pt.random.default_rng(7).standard_normal((500, 400)).sum()).hex()
    found = [(tmp_path / f"sum.{rank}").read_text() for rank in range(ranks)]
    assert found == [expected] * ranks


@pytest.mark.skipif(not _core.has_mpi, reason="this build has no MPI")
@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_memory_of_others_on_processes(tmp_path, ranks):
    script = str(SCRIPT.with_name("exchanging.py"))
    command = ["-m", "pantile._command", "run", script, "-n", str(ranks), str(tmp_path)]
    done = subprocess.run(
        [sys.executable, *command],
        env={**os.environ, **ROOT},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert all((tmp_path / f"done.{rank}").exists() for rank in range(ranks))


def test_the_same_on_threads(tmp_path):
    """What needs no second process."""
    import processes

    pt.init(ranks=3)
    processes.files(tmp_path)
    processes.seeds()
