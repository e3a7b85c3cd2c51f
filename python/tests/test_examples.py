"""The examples run and hold what they promise."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import pantile as pt
from conftest import SOON

FOLDER = Path(__file__).parents[2] / "examples" / "python"
SCRIPTS = sorted(FOLDER.glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_scripts(script, ranks, monkeypatch):
    pt.init(ranks=ranks)
    monkeypatch.setattr(sys, "argv", [str(script)])
    runpy.run_path(str(script), run_name="__main__")


@pytest.mark.parametrize("script, sizes", [
    ("heat.py", ["31", "7"]), ("stencil.py", ["20", "3", "4"]), ("standardise.py", ["1000", "3"]),
    ("mandelbrot.py", ["81", "40"]), ("convolution.py", ["9", "7", "3"]),
    ("finite_differences.py", ["31", "20"]),
])  # fmt: skip
def test_scripts_take_sizes(script, sizes):
    """As a program of its own."""
    command = [sys.executable, str(FOLDER / script), *sizes]
    subprocess.run(command, env={**os.environ, "PANTILE_RANKS": "2"}, check=True, timeout=SOON)


def test_scripts_are_short():
    assert len(SCRIPTS) == 7
    assert all(len(path.read_text().splitlines()) < 60 for path in SCRIPTS)
