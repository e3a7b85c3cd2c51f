"""Ranks of `spmd` that are processes: the same movements, and errors on all of them."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from pantile import _core

pytestmark = pytest.mark.skipif(not _core.has_mpi, reason="this build has no MPI")

CASES = Path(__file__).with_name("spmd_cases.py")
ROOT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "PANTILE_DEADLINE": "60",
}  # fmt: skip


def job(script, ranks, *arguments):
    words = ["-m", "pantile._command", "run", str(script), "-n", str(ranks), *map(str, arguments)]
    return subprocess.run(
        [sys.executable, *words], env={**os.environ, **ROOT}, capture_output=True, text=True, timeout=300
    )


def program(folder, ranks, text):
    """Runs a program; every process writes what it found."""
    script = folder / "user.py"
    script.write_text(textwrap.dedent(text))
    return job(script, ranks, folder)


@pytest.mark.parametrize("ranks", [1, 3, 12])
def test_movements(tmp_path, ranks):
    done = job(CASES, ranks, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    found = {(tmp_path / f"done.{rank}").read_text() for rank in range(ranks)}
    assert len(found) == 1 and int(found.pop()) >= (58 if ranks == 12 else 3)


def test_errors_reach_every_process_and_the_next_program_is_well(tmp_path):
    done = program(
        tmp_path,
        4,
        """
        import sys
        from pathlib import Path
        import numpy as np
        import pantile as pt

        def some():
            if pt.rank() == 2:
                raise KeyError("no such thing")

        def all_of_them():
            pt.AllSumReduce(pt.world(), 0).forward(np.ones(1 + (pt.rank() == 1)))

        said = []
        for body in (some, all_of_them, lambda: lambda: 1):
            try:
                pt.spmd(body, ranks=4)
            except Exception as error:
                said.append(f"{type(error).__name__} {error.__notes__[0]}")
        try:
            pt.spmd(some, ranks=3)
        except ValueError as error:
            said.append(str(error))
        assert pt.spmd(pt.rank) == [0, 1, 2, 3]
        a = pt.arange(100.0, dist=0)
        assert float(a.sum()) == 4950.0
        pt.init()
        assert float(pt.arange(100.0, dist=0).sum()) == 4950.0
        assert pt.world().allgather_data(pt.rank()).sum() == 6
        Path(sys.argv[1], f"said.{pt.rank()}").write_text("|".join(said))
        """,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for rank in range(4):
        one, two, three, four = (tmp_path / f"said.{rank}").read_text().split("|")
        assert one.startswith("KeyError raised on rank 2 of 4")
        assert two.startswith(f"ValueError raised on rank {rank} of 4")
        assert three.startswith("TypeError raised on rank")
        assert four == "got ranks=3, but there are 4 processes"


@pytest.mark.parametrize("ending", ["raise KeyError('no such thing')", "return"])
def test_nobody_waits_for_a_rank_that_ended(tmp_path, ending):
    """Rank 7 waits for rank 2, all others are well."""
    done = program(
        tmp_path,
        12,
        f"""
        import pantile as pt

        def body():
            pair = pt.world().create_partition_inclusive([2, 7])
            if pt.rank() == 2:
                {ending}
            if pt.rank() == 7:
                pair.broadcast_data()

        pt.spmd(body)
        """,
    )
    assert done.returncode != 0
    assert "rank 7 called broadcast_data" in done.stderr and "the end of pt.spmd" in done.stderr
    assert "raise" not in ending or "KeyError: 'no such thing'" in done.stderr
    assert "waited" not in done.stderr
