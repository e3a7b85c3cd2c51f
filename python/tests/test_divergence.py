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


#: Elements that differ, by kind: in one byte of many, in none that the other process owns, in a list.
GIVEN = {
    "an array": "np.arange(1000.0) + pt.rank()",
    "one byte": "np.arange(100_001, dtype='u1') + (np.arange(100_001) == 7).astype('u1') * pt.rank()",
    "a list": "[1, 2, 3 + pt.rank()]",
    "noise": "np.random.default_rng().random(64)",
}


@needs_mpi
@pytest.mark.parametrize("kind", GIVEN)
def test_processes_that_give_different_elements_are_told(tmp_path, kind):
    program = f"""
    import numpy as np, pantile as pt
    same = pt.asarray(np.arange(10.0), dist=0)
    a = pt.asarray({GIVEN[kind]}, dist=0)
    print(float(pt.sum(a)))
    """
    done = job(tmp_path, program)
    assert done.returncode != 0
    assert "gave different elements" in done.stderr and "user.py:4" in done.stderr, done.stderr
    done = job(tmp_path, program.replace("dist=0)\n    print", "dist=0, check=False)\n    print"))
    assert done.returncode == 0, done.stderr


@needs_mpi
def test_processes_that_give_the_same_elements_hear_nothing(tmp_path):
    done = job(
        tmp_path,
        """
        import numpy as np, pantile as pt
        a = pt.zeros(5, dist=0)
        for length in (0, 1, 7, 8, 9, 4097):
            a[0] = pt.asarray(np.arange(length) + 0.5, dist=0).sum() + np.asarray([2.0, 3.0])[1]
            float(a.sum())
        """,
    )
    assert done.returncode == 0, done.stderr


@needs_mpi
@pytest.mark.parametrize("check", [True, False])
def test_a_process_that_gives_elements_waits_for_no_other(tmp_path, check):
    done = job(
        tmp_path,
        f"""
        import sys, time
        from pathlib import Path
        import numpy as np, pantile as pt
        start, given = pt.arange(3.0, dist=0).compute(), Path(__file__).with_name("given")
        for _ in range(3000 * pt.rank()):
            if given.exists():
                break
            time.sleep(0.01)
        else:
            if pt.rank() == 1:
                sys.exit("rank 0 still waits in asarray")
        arrays = [pt.asarray(np.arange(n) + 0.5, dist=0, check={check}) for n in (1, 100, 5000)]
        given.touch()
        assert float(sum(a.sum() for a in arrays)) == 0.5 + 5000 + 12_500_000
        """,
    )
    assert done.returncode == 0, done.stderr


@needs_mpi
def test_elements_read_by_processes_are_values(tmp_path):
    """Handles end at different times on different processes; programs are the same."""
    done = job(
        tmp_path,
        """
        import pantile as pt
        u, kept, expected = pt.zeros(9, dist=0), [], []
        for step in range(40):
            u[1:] = u[:-1] + step
            element = u[step % 9]
            if step % 3 == 0:
                kept.append(element)
                expected.append(0.0 if step % 9 == 0 else None)
            elif pt.rank() == 1:
                kept_by_one = element
            if step % 10 == 9:
                u.compute()
        u[0], u[8] = u[8], u[0]
        values = [float(one) for one in kept]
        assert all(want in (None, got) for want, got in zip(expected, values)), values
        plain, same = [0.0] * 9, []
        for step in range(40):
            plain = [0.0] + [x + step for x in plain[:-1]]
            if step % 3 == 0:
                same.append(plain[step % 9])
        assert values == same, (values, same)
        """,
    )
    assert done.returncode == 0, done.stderr
