"""What the machine must have; on Debian, what is missing is installed."""

import glob
import os
import re
import shutil
import subprocess

from shell import Failure, run

#: Programs and the Debian package of each.
_PROGRAMS = {
    "mpicc.openmpi": "libopenmpi-dev",
    "mpirun.openmpi": "openmpi-bin",
    "valgrind": "valgrind",
}
_MPICH = {"mpicc.mpich": "libmpich-dev", "mpirun.mpich": "mpich"}


def has(program):
    return shutil.which(program) is not None


def need_rust():
    """Cargo with its formatter and lints, a C compiler."""
    if not has("cargo"):
        raise Failure("cargo is missing: install Rust")
    if not has("cc"):
        raise Failure("a C compiler is missing")
    for tool, component in (("fmt", "rustfmt"), ("clippy", "clippy")):
        known = subprocess.run(["cargo", tool, "--version"], capture_output=True, check=False)
        if known.returncode and not has("rustup"):
            raise Failure(f"{component} is missing, and there is no rustup to install it")
        if known.returncode:
            run("rustup", "component", "add", component)


def need_packages(mpich=False):
    """MPI, libclang to read its headers, valgrind."""
    wanted = {**_PROGRAMS, **(_MPICH if mpich else {})}
    missing = [package for program, package in wanted.items() if not has(program)]
    clang = glob.glob("/usr/lib/llvm-*/lib/libclang*.so*")
    headers = glob.glob("/usr/lib/llvm-*/lib/clang/*/include/stddef.h")
    if not clang or not headers:
        missing += ["libclang"]
    if missing:
        _install(missing)


def need_venv():
    """An environment for Python packages; Debian keeps what makes one in a package of its own."""
    made = subprocess.run(["python3", "-c", "import ensurepip, venv"], check=False)
    if made.returncode:
        _install(["python3-venv"])


def _install(packages):
    """Debian packages, with the package lists as they are now."""
    if not has("apt-get"):
        raise Failure(f"install what Debian calls: {' '.join(packages)}")
    root = [] if os.geteuid() == 0 else ["sudo"]
    run(*root, "apt-get", "update", "-qq")
    if "libclang" in packages:
        # Its packages carry their version in the name.
        known = run("apt-cache", "depends", "libclang-dev", capture=True)
        version = re.search(r"libclang-(\d+)-dev", known)[1]
        packages = [name for name in packages if name != "libclang"]
        packages += [f"libclang1-{version}", f"libclang-common-{version}-dev", "libc6-dev"]
    quiet = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "-qq"]
    run(*root, *quiet, "--no-install-recommends", *packages)
