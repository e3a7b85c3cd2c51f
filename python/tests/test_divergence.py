"""Processes that do not do the same: never a hang, never a wrong answer."""

import os
import subprocess
import sys
import textwrap

import pytest

from pantile import _core

needs_mpi = pytest.mark.skipif(not _core.has_mpi, reason="this build has no MPI")
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "PANTILE_DEADLINE": "60"}


def job(folder, program):
    """Runs a program on two processes."""
    script = folder / "user.py"
    script.write_text(textwrap.dedent(program))
    words = [sys.executable, "-m", "pantile._command", "run", str(script), "-n", "2"]
    return subprocess.run(
        words, env={**os.environ, **ROOT}, capture_output=True, text=True, timeout=300
    )


@needs_mpi
def test_another_branch_is_an_error_that_names_ranks_and_lines(tmp_path):
    done = job(
        tmp_path,
        """
        import pantile as pt
        a = pt.arange(1000.0, dist=0)
        if pt.rank() == 0:
            print(float(pt.sum(a)))
        else:
            print(float(pt.max(a * 2)))
        """,
    )
    assert done.returncode != 0
    assert "disagree" in done.stderr and "user.py:5" in done.stderr and "user.py:7" in done.stderr


@needs_mpi
def test_an_array_that_one_rank_drops_earlier_changes_nothing(tmp_path):
    done = job(
        tmp_path,
        """
        import pantile as pt
        a = pt.arange(1000.0, dist=0)
        b = pt.sqrt(a)
        c = b + 1
        if pt.rank() == 1:
            del b
        s = float(pt.sum(c))
        t = float(pt.sum(c * a))
        from pathlib import Path
        Path(__file__).with_name(f"sums.{pt.rank()}").write_text(f"{s.hex()} {t.hex()}")
        """,
    )
    assert done.returncode == 0, done.stderr
    first, second = ((tmp_path / f"sums.{rank}").read_text() for rank in (0, 1))
    assert first == second


@needs_mpi
def test_who_looks_alone_is_told_where_the_others_are(tmp_path):
    done = job(
        tmp_path,
        """
        import pantile as pt
        a = pt.arange(10000.0, dist=0) + 1
        if pt.rank() == 0:
            print(a)
        """,
    )
    assert done.returncode != 0
    assert "rank 1" in done.stderr and "user.py:5" in done.stderr


