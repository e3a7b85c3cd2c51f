"""A core that cannot be loaded: the error says what is missing and what to do."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pantile
from conftest import SOON

PACKAGE = Path(pantile.__file__).parent


def copied(folder, core=None):
    """The package without its core, or with a text in its place."""
    shutil.copytree(
        PACKAGE, folder / "pantile", ignore=shutil.ignore_patterns("_core*.so", "_core*.pyd", "__pycache__")
    )
    if core is not None:
        (folder / "pantile" / "_core.py").write_text(core)
    return folder


def said(folder):
    """The last line and all lines of what `import pantile` says there."""
    words = "import sys; sys.path.insert(0, sys.argv[1]); import pantile"
    ran = subprocess.run(
        [sys.executable, "-B", "-c", words, str(folder)], capture_output=True, text=True, timeout=SOON
    )
    assert ran.returncode == 1, ran.stdout
    return ran.stderr.splitlines()[-1], ran.stderr


@pytest.mark.parametrize("loader, library", [
    ("libmpi.so.40: cannot open shared object file: No such file or directory", "libmpi.so.40"),
    ("libmpich.so.12: cannot open shared object file: No such file or directory", "libmpich.so.12"),
    ("Error loading shared library libmpi.so.40: No such file or directory (needed by x)", "libmpi.so.40"),
    ("dlopen(x, 0x2): Library not loaded: /opt/lib/libmpi.40.dylib\\n  Referenced from: x", "libmpi.40.dylib"),
])  # fmt: skip
def test_a_missing_mpi_is_named(tmp_path, loader, library):
    last, all_lines = said(copied(tmp_path, f'raise ImportError("{loader}")'))
    assert last.startswith(f"ImportError: pantile was built with MPI, but its library {library} is not")
    assert "install that MPI" in last and "PANTILE_MPI=0 pip install ." in last
    # What the loader said stands above.
    assert loader.split("\\n")[0] in all_lines
    assert "direct cause" in all_lines


def test_another_missing_library_is_named(tmp_path):
    loader = "libgomp.so.1: cannot open shared object file: No such file or directory"
    last, _ = said(copied(tmp_path, f'raise ImportError("{loader}")'))
    assert "needs the library libgomp.so.1, which is not on this machine" in last


def test_other_reasons_are_kept(tmp_path):
    last, _ = said(copied(tmp_path, 'raise ImportError("wrong ELF class")'))
    assert "cannot be loaded (wrong ELF class)" in last


def test_a_folder_without_a_core(tmp_path):
    last, _ = said(copied(tmp_path))
    assert "compiled core is not here: install the package" in last


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the words of another loader")
def test_what_the_loader_of_this_machine_says(tmp_path):
    """A real library that needs another one, which is taken away."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    folder = copied(tmp_path)
    source, needed = tmp_path / "x.c", tmp_path / "libmpi.so.99"
    source.write_text("int shared_thing(void) { return 1; }\n")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", needed, source, "-Wl,-soname,libmpi.so.99"], check=True)
    source.write_text("int shared_thing(void);\nvoid *PyInit__core(void) { shared_thing(); return 0; }\n")
    core = folder / "pantile" / "_core.abi3.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", core, source, needed], check=True)
    needed.unlink()
    last, _ = said(folder)
    assert "its library libmpi.so.99 is not on this machine" in last
