"""The same code as processes: under Open MPI, as a cluster, and the examples of the Rust library."""

import signal
import socket
import subprocess
import time

from jobs import Job, run_jobs
from rust import BUILT, find
from shell import ROOT, WORK, Failure, environment, run, say, shown

#: Lets Open MPI start as root, more ranks than there are cores, and ranks that wait sleep.
OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": 1,
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": 1,
    "OMPI_MCA_rmaps_base_oversubscribe": 1,
    "OMPI_MCA_mpi_yield_when_idle": 1,
}

#: Programs of `examples/` with what they print in `filetests/run/`.
_PROGRAMS = ["star", "transpose", "cg", "standardise", "black_scholes"]


def mpirun(ranks):
    return ["mpirun.openmpi", "-n", ranks]


def transports(programs, sizes):
    """Conformance of the transport and the suite of movements; all sizes if none is named."""
    filters = [f"{size} ranks" for size in sizes]
    worlds, suite = find(programs, "comm-mpi", "worlds"), find(programs, "suite", "mpi")
    faults = ["with a rank that fails"] if filters else []
    run_jobs([suite.job(*filters, *faults), worlds.job(*filters)])


def command(ranks):
    """The command as processes: standard output is that of any number of ranks."""
    jobs = []
    for name in _PROGRAMS:
        for kind, more in [("", []), (" by members", ["--member"])]:
            line = [*mpirun(ranks), BUILT / "pantile", "run", *more, f"examples/{name}.dist"]
            title, output = f"{name}{kind} on {ranks} processes", WORK / f"{name}{kind}.out"
            jobs.append((name, Job(title, line, OPEN_MPI, output=output)))
    run_jobs([job for _, job in jobs])
    for name, job in jobs:
        _compare(job.name, job.output.read_text(), name)


def _compare(title, text, name):
    if text != (ROOT / "filetests" / "run" / f"{name}.out").read_text():
        raise Failure(f"{title} prints something else than filetests/run/{name}.out:\n{text}")


def cluster():
    """The processes of a job as a cluster: rank 0 coordinates, the others work, and a program that
    has no MPI sends its work there."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = "127.0.0.1:%d" % server.getsockname()[1]
    log = WORK / "cluster.out"
    line = [*mpirun(3), BUILT / "pantile", "cluster", "--listen", address]
    say(f"$ {shown(line, OPEN_MPI)} &")
    with log.open("w") as output:
        job = subprocess.Popen(
            list(map(str, line)),
            cwd=ROOT,
            env=environment(**OPEN_MPI),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait_for(job, log, "cluster of 2 workers")
        for name in _PROGRAMS:
            ship = ["run", "--always-ship", "--cluster", address, f"examples/{name}.dist"]
            _compare(f"{name} on a cluster", run(BUILT / "pantile", *ship, capture=True), name)
    except Failure:
        say(log.read_text())
        raise
    finally:
        job.send_signal(signal.SIGTERM)
        job.wait()


def _wait_for(job, log, words):
    """Until a file has these words, for a minute."""
    for _ in range(600):
        if words in log.read_text():
            return
        if job.poll() is not None:
            break
        time.sleep(0.1)
    raise Failure(f"`{words}` was never said")


def examples(counts):
    """Each example ends by asserting what it shows, on threads and as processes."""
    jobs = []
    for source in sorted((ROOT / "crates" / "pantile" / "examples").glob("*.rs")):
        program = BUILT / "examples" / source.stem
        for ranks in counts:
            title = f"example {source.stem}, {ranks}"
            jobs.append(Job(f"{title} threads", [program], {"PANTILE_RANKS": ranks}))
            jobs.append(Job(f"{title} processes", [*mpirun(ranks), program], OPEN_MPI))
    run_jobs(jobs)
