"""Builds the package: maturin, with MPI where the machine has it.

``pip`` calls the hooks at the end. The environment decides:

- ``PANTILE_MPI``: ``0`` builds without MPI, ``1`` refuses to build without it.
- ``MPICC``: the compiler of the MPI to build with, if it is not ``mpicc``.
- ``MPI_PKG_CONFIG``, ``CRAY_MPICH_DIR``: other ways to name an MPI.
"""

import ctypes.util
import glob
import importlib.util
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

import maturin
from maturin import *  # noqa: F403 - the hooks that are as maturin has them

#: Where distributions put libclang, which reads the headers of MPI.
_LIBRARIES = ("/usr/lib*", "/usr/lib*/llvm*/lib*", "/usr/lib/*-linux-gnu*", "/usr/local/lib*")

#: What clang itself would bring beside the library.
_HEADERS = "clang/*/include/stddef.h"


def _mpi() -> str | None:
    """What names the MPI to build with, or nothing: another text is another MPI."""
    choice = os.environ.get("PANTILE_MPI", "")
    if choice.lower() in ("0", "no", "off", "false"):
        return None
    for variable in ("MPI_PKG_CONFIG", "CRAY_MPICH_DIR"):
        if os.environ.get(variable):
            return f"{variable}={os.environ[variable]}"
    # An empty name would hide the usual one from the build.
    if not os.environ.get("MPICC"):
        os.environ.pop("MPICC", None)
    compiler = os.environ.get("MPICC", "mpicc")
    if shutil.which(compiler) is not None:
        shown = subprocess.run([compiler, "-show"], capture_output=True, text=True, check=False)
        return f"{compiler}: {shown.stdout.strip()}"
    if choice or "MPICC" in os.environ:
        sys.exit(
            f"pantile: MPI is asked for, but there is no `{compiler}`: install an MPI with its "
            "compiler (on Debian and Ubuntu: libopenmpi-dev, openmpi-bin), name its compiler by "
            "MPICC, or build without MPI: PANTILE_MPI=0"
        )
    return None


def _has_libclang() -> bool:
    """True if the machine has libclang where the build looks for it."""
    if os.environ.get("LIBCLANG_PATH") or ctypes.util.find_library("clang") is not None:
        return True
    found = [path for place in _LIBRARIES for path in glob.glob(f"{place}/libclang[-.]*so*")]
    # Its brother for C++ cannot be used from elsewhere.
    return any("libclang-cpp" not in path for path in found)


def _use_libclang() -> None:
    """Tells the build where libclang and the compiler's own headers are, unless it knows."""
    if not _has_libclang():
        package = importlib.util.find_spec("clang")
        places = list(package.submodule_search_locations or ()) if package else []
        if places:
            os.environ["LIBCLANG_PATH"] = os.path.join(places[0], "native")
    elif shutil.which("clang") or any(glob.glob(f"{place}/{_HEADERS}") for place in _LIBRARIES):
        return
    compiler = shutil.which(os.environ.get("CC", "cc")) or shutil.which("gcc")
    if compiler is not None:
        question = [compiler, "-print-file-name=include"]
        headers = subprocess.run(question, capture_output=True, text=True, check=False).stdout
        given = os.environ.get("BINDGEN_EXTRA_CLANG_ARGS", "")
        flag = shlex.join(["-isystem", headers.strip()])
        os.environ["BINDGEN_EXTRA_CLANG_ARGS"] = f"{given} {flag}".strip()


def _forget_other(mpi: str) -> None:
    """Cargo does not notice that MPICC names another MPI than last time: makes it look again."""
    if shutil.which("cargo") is None:
        return  # maturin says what is missing, or brings it
    question = ["cargo", "metadata", "--no-deps", "--format-version=1"]
    answer = subprocess.run(question, capture_output=True, text=True, check=True).stdout
    note = pathlib.Path(json.loads(answer)["target_directory"], "pantile-mpi.txt")
    if note.exists() and note.read_text() == mpi:
        return
    subprocess.run(["cargo", "clean", "--quiet", "--release", "--package", "mpi-sys"], check=False)
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text(mpi)


def _prepare() -> None:
    """Tells maturin what to build."""
    mpi = _mpi()
    if mpi is None:
        print("pantile: without MPI")
        return
    print(f"pantile: with MPI ({mpi})")
    _use_libclang()
    _forget_other(mpi)
    given = os.environ.get("MATURIN_PEP517_ARGS", "")
    os.environ["MATURIN_PEP517_ARGS"] = f"{given} --features mpi".strip()


def _requirements(usual: list[str]) -> list[str]:
    """What the build needs from pip; libclang comes from there if the machine has none."""
    return [*usual, "libclang"] if _mpi() is not None and not _has_libclang() else usual


def get_requires_for_build_wheel(config_settings=None):
    """What pip installs before it calls `build_wheel`."""
    return _requirements(maturin.get_requires_for_build_wheel(config_settings))


def get_requires_for_build_editable(config_settings=None):
    """What pip installs before it calls `build_editable`."""
    return _requirements(maturin.get_requires_for_build_editable(config_settings))


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """What `pip install .` calls."""
    _prepare()
    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """What `pip install -e .` calls."""
    _prepare()
    return maturin.build_editable(wheel_directory, config_settings, metadata_directory)
