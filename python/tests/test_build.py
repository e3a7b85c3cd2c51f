"""The build backend: what it asks maturin for on which machine. Nothing is built here."""

import importlib.util
import json
import pathlib
import sys
import types

import pytest

BACKEND = pathlib.Path(__file__).parents[1] / "build" / "pantile_build.py"
CHOICES = ("PANTILE_MPI", "MPICC", "MPI_PKG_CONFIG", "CRAY_MPICH_DIR", "LIBCLANG_PATH")


@pytest.fixture
def backend(monkeypatch, tmp_path):
    """The backend on a machine without anything, with a maturin that builds nothing."""
    maturin = types.ModuleType("maturin")
    maturin.build_wheel = lambda *_: "wheel"
    maturin.build_editable = lambda *_: "editable"
    maturin.get_requires_for_build_wheel = lambda _=None: ["usual"]
    maturin.get_requires_for_build_editable = lambda _=None: ["usual"]
    monkeypatch.setitem(sys.modules, "maturin", maturin)
    for name in CHOICES:
        monkeypatch.delenv(name, raising=False)
    # Set first, so that whatever the backend leaves there is gone afterwards.
    for name in ("MATURIN_PEP517_ARGS", "BINDGEN_EXTRA_CLANG_ARGS"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("PATH", str(tmp_path))
    spec = importlib.util.spec_from_file_location("pantile_build", BACKEND)
    backend = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(backend)
    monkeypatch.setattr(backend, "_has_libclang", lambda: True)
    return backend


def program(folder, name, says=""):
    """A program that writes down its words and prints something."""
    path = folder / name
    path.write_text(f'#!/bin/sh\necho "$@" >>"{folder}/{name}.calls"\necho \'{says}\'\n')
    path.chmod(0o755)
    return folder / f"{name}.calls"


def cargo(folder):
    """A cargo that only knows its target folder."""
    return program(folder, "cargo", json.dumps({"target_directory": str(folder / "target")}))


def asked(backend):
    """What maturin is asked for."""
    assert backend.build_wheel("somewhere") == "wheel"
    words = backend.os.environ["MATURIN_PEP517_ARGS"]
    backend.os.environ["MATURIN_PEP517_ARGS"] = ""
    return words


def test_without_a_compiler_of_mpi_there_is_no_mpi(backend):
    assert asked(backend) == ""
    assert backend.get_requires_for_build_wheel() == ["usual"]


def test_with_a_compiler_there_is(backend, tmp_path, monkeypatch):
    program(tmp_path, "mpicc", "cc -lmpi")
    cargo(tmp_path)
    assert asked(backend) == "--features mpi"
    monkeypatch.setenv("MPICC", "")
    assert asked(backend) == "--features mpi"
    (tmp_path / "cargo").unlink()
    assert asked(backend) == "--features mpi"
    monkeypatch.setenv("MATURIN_PEP517_ARGS", "--locked")
    assert backend.build_editable("somewhere") == "editable"
    assert backend.os.environ["MATURIN_PEP517_ARGS"] == "--locked --features mpi"
    monkeypatch.setenv("PANTILE_MPI", "0")
    monkeypatch.setenv("MATURIN_PEP517_ARGS", "")
    assert asked(backend) == ""


def test_mpi_that_is_asked_for_and_missing_stops_the_build(backend, monkeypatch):
    monkeypatch.setenv("PANTILE_MPI", "1")
    with pytest.raises(SystemExit, match="there is no `mpicc`"):
        backend.build_wheel("somewhere")
    monkeypatch.delenv("PANTILE_MPI")
    monkeypatch.setenv("MPICC", "mpicc.none")
    with pytest.raises(SystemExit, match="there is no `mpicc.none`"):
        backend.build_wheel("somewhere")


def test_another_mpi_is_looked_at_again(backend, tmp_path, monkeypatch):
    calls = cargo(tmp_path)
    program(tmp_path, "mpicc", "cc -lmpi")
    program(tmp_path, "mpicc.other", "cc -lother")

    def cleans():
        asked(backend)
        count = sum(line.startswith("clean") for line in calls.read_text().splitlines())
        calls.unlink()
        return count

    assert [cleans(), cleans()] == [1, 0]
    monkeypatch.setenv("MPICC", "mpicc.other")
    assert [cleans(), cleans()] == [1, 0]
    # The same name, another library behind it.
    program(tmp_path, "mpicc.other", "cc -lthird")
    assert [cleans(), cleans()] == [1, 0]


def test_libclang_comes_from_pip_if_the_machine_has_none(backend, tmp_path, monkeypatch):
    program(tmp_path, "mpicc", "cc -lmpi")
    assert backend.get_requires_for_build_wheel() == ["usual"]
    monkeypatch.setattr(backend, "_has_libclang", lambda: False)
    assert backend.get_requires_for_build_wheel() == ["usual", "libclang"]
    assert backend.get_requires_for_build_editable() == ["usual", "libclang"]
    monkeypatch.setenv("PANTILE_MPI", "0")
    assert backend.get_requires_for_build_wheel() == ["usual"]


def test_libclang_of_pip_is_found_with_the_headers_of_the_compiler(backend, tmp_path, monkeypatch):
    package = tmp_path / "site" / "clang"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(package.parent))
    monkeypatch.setenv("LIBCLANG_PATH", "")
    monkeypatch.setattr(backend, "_has_libclang", lambda: False)
    program(tmp_path, "cc", "/some where/include")
    monkeypatch.delenv("CC", raising=False)
    backend._use_libclang()
    assert backend.os.environ["LIBCLANG_PATH"] == str(package / "native")
    assert backend.os.environ["BINDGEN_EXTRA_CLANG_ARGS"] == "-isystem '/some where/include'"
