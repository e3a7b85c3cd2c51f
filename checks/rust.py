"""One build of the workspace, and what it answers: lints, documents, tests."""

import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from jobs import Job, run_jobs
from shell import LINKS, ROOT, WORK, Failure, run, say

#: Everything is built with MPI, once.
FEATURES = ",".join(
    f"{name}/mpi"
    for name in ("pantile", "pantile-cli", "pantile-comm-mpi", "pantile-python", "pantile-suite")
)
WORKSPACE = ["--workspace", "--locked", "--features", FEATURES]

#: Where the build puts its programs.
BUILT = ROOT / "target" / "debug"

#: Programs that take long begin first, so that none is left over at the end.
_LONG = ["suite", "pantile", "cli", "kernels", "engine", "cluster", "comm-net", "dialect", "ir"]

#: These start processes under the launcher of an MPI, in a stage of their own.
_UNDER_MPI = {("comm-mpi", "worlds"), ("suite", "mpi")}


@dataclass
class Program:
    """A test program: its crate without prefix, its name in it, and the executable."""

    crate: str
    name: str
    path: Path
    folder: Path

    def job(self, *arguments, suffix="", **env):
        name = f"{self.crate} {self.name}{suffix}"
        env = {"CARGO_MANIFEST_DIR": self.folder, **env}
        return Job(name, [self.path, *arguments], env, self.folder)


def linked():
    """Variables that make the linker note its seconds."""
    WORK.mkdir(parents=True, exist_ok=True)
    shims = ROOT / "checks" / "shims"
    path = f"{shims}:{os.environ['PATH']}"
    return {"PATH": path, "PANTILE_CC": shutil.which("cc"), "PANTILE_LINKS": LINKS}


def formatted():
    run("cargo", "fmt", "--all", "--check")


def lints():
    """Clippy over everything, then the documentation from what that left."""
    run("cargo", "clippy", *WORKSPACE, "--all-targets", "--", "-D", "warnings", compiles=True)


def documentation():
    """Without warnings; links between crates lead somewhere."""
    run("cargo", "doc", *WORKSPACE, "--no-deps", compiles=True, RUSTDOCFLAGS="-D warnings")


def build():
    """Builds libraries, the command, the Python extension and examples; returns the test programs."""
    run("cargo", "build", *WORKSPACE, compiles=True, **linked())
    options = ["--no-run", "--message-format=json-render-diagnostics"]
    text = run("cargo", "test", *WORKSPACE, *options, capture=True, compiles=True, **linked())
    return [program for line in text.splitlines() if (program := _program(json.loads(line)))]


def _program(message):
    """The test program that a message of cargo's speaks of, if it does."""
    if not message.get("executable") or not message["profile"]["test"]:
        return None
    folder = Path(message["manifest_path"]).parent
    kind = "lib" if "lib" in message["target"]["kind"] else message["target"]["name"]
    return Program(folder.name, kind, Path(message["executable"]), folder)


def find(programs, crate, name):
    """One test program of those that were built."""
    for program in programs:
        if (program.crate, program.name) == (crate, name):
            return program
    raise Failure(f"there is no test program `{name}` of {crate}")


def tests(programs):
    """Runs test programs, two at a time."""
    programs = [one for one in programs if (one.crate, one.name) not in _UNDER_MPI]
    rank = {name: place for place, name in enumerate(_LONG)}
    programs.sort(key=lambda one: (one.name == "lib", rank.get(one.crate, len(rank))))
    say(f"{len(programs)} test programs")
    run_jobs([one.job() for one in programs])


def doctests():
    """Examples in the documentation."""
    run("cargo", "test", *WORKSPACE, "--doc", "--quiet")


def interleavings():
    """Windows, waking up and aborting under thousands of interleavings: a build of `comm` alone."""
    options = ["-p", "pantile-comm", "--features", "explore", "--locked"]
    run("cargo", "test", *options, "--lib", "--no-run", compiles=True, **linked())
    run("cargo", "test", *options, "--lib", "explore")


def packages():
    """A number to look at: it may not grow unnoticed."""
    options = ["--workspace", "--locked", "--edges", "normal,build", "--prefix", "none"]
    tree = run("cargo", "tree", *options, capture=True)
    names = {re.sub(r" \((\*|proc-macro)\)", "", line) for line in tree.splitlines() if line}
    say(f"{len(names)} packages, ours included")
