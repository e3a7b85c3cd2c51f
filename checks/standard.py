"""`./test`: everything that a change can break."""

import tempfile
import threading
from pathlib import Path

import machine
import memory
import processes
import python
import rust
from jobs import run_jobs
from shell import LINKS, Failure, run, stage

#: Percent of the random cases; the seed changes with the tree, so many are seen over time.
CASES = 20

#: Random programs against NumPy: about a minute.
FUZZED = 1200

#: Tests under valgrind that reach every module with unsafe code, by crate and program.
WATCHED = {
    ("comm", "lib"): [],
    ("engine", "lib"): [],
    ("engine", "it"): ["wavefront", "updates_in_place", "remote_reads"],
    ("kernels", "lib"): [],
    ("memory", "lib"): [],
    ("kernels", "it"): ["guard", "laws", "refus"],
    ("suite", "it"): ["memory"],
}


def everything():
    """All stages, in an order in which mistakes show early."""
    LINKS.unlink(missing_ok=True)
    with stage("tools"):
        machine.need_packages()
        run("rustc", "--version")
        run("mpirun.openmpi", "--version")
    with stage("format"):
        rust.formatted()
    packages = threading.Thread(target=run_jobs, args=[[python.environment_job()]])
    packages.start()
    with stage("lints"):
        rust.lints()
    with stage("documentation"):
        rust.documentation()
    with stage("build"):
        programs = rust.build()
    packages.join()
    with stage("tests"):
        rust.tests(programs)
    with stage("examples in the documentation"):
        rust.doctests()
    with stage("interleavings"):
        rust.interleavings()
    with stage("Open MPI"):
        processes.transports(programs, [3])
    with stage("programs as processes"):
        processes.command(3)
        processes.cluster()
    with stage("Rust examples"):
        processes.examples([1, 3])
    with stage("valgrind"):
        memory.watched(programs, WATCHED, 1)
    with stage("the command, released"):
        released_command()
    with stage("the package, released"):
        python.install()
        python.overlay()
        python.released()
    with stage("Python"):
        python.standard()
    with stage("fuzzing against NumPy"):
        # A number of programs, not of seconds: every machine sees the same ones of a tree.
        run_jobs([python.fuzzed(["--programs", FUZZED])])
    with stage("packages"):
        rust.packages()


def released_command():
    """The command as the README starts it."""
    start = ["cargo", "run", "--release", "--locked", "--"]
    run(*start, "--version", compiles=True, **rust.linked())
    run(*start, "run", "examples/heat.dist")
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder, "picture.svg")
        ends = ["8 on r=4: block(r)", "8 on r=4: block(r) halo 1"]
        run(*start, "plan", *ends, "--draw", picture)
        if "</svg>" not in picture.read_text():
            raise Failure("the picture is not complete")
