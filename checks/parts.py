"""`./test all`: what is too long for every change, in parts of at most half an hour."""

import contextlib
import datetime
import os
import random
import subprocess
import time

import load
import machine
import memory
import processes
import python
import rust
from jobs import Job, run_jobs
from shell import ROOT, run, say, stage, tree
from standard import CASES

#: Part, day, commit and seconds of the last run of each part that was green.
GREEN = ROOT / "checks" / "green.txt"

_VECTORS = ["portable", "avx2-steps", "avx2", "avx512-steps", "avx512"]


def lints():
    """Lints of the builds that `./test` does not make: without MPI, and for interleavings."""
    deny = ["--", "-D", "warnings"]
    run("cargo", "clippy", "--workspace", "--all-targets", "--locked", *deny, compiles=True)
    options = ["-p", "pantile-comm", "--all-targets", "--features", "explore", "--locked"]
    run("cargo", "clippy", *options, *deny, compiles=True)


def laws():
    """All random cases, five times those of `./test`, with a seed of this moment, and all interleavings."""
    programs = rust.build()
    seed = time.time_ns() % 1_000_000_000
    say(f"PANTILE_RUN_SEED={seed} PANTILE_CASES=100")
    chosen = [one for one in programs if one.name == "it" and one.crate not in ("cli", "xtask")]
    run_jobs([one.job(PANTILE_RUN_SEED=seed, PANTILE_CASES=100) for one in chosen])
    rust.interleavings()


def openmpi():
    """Conformance and movements with every number of ranks; programs and examples, too."""
    programs = rust.build()
    processes.transports(programs, [])
    processes.command(2)
    processes.examples([1, 2, 4])


def mpich():
    """The transport and the suite with another MPI, in a folder of their own."""
    machine.need_packages(mpich=True)
    choice = {"MPICC": "mpicc.mpich", "CARGO_TARGET_DIR": ROOT / "target" / "mpich"}
    packages = ["-p", "pantile-comm-mpi", "-p", "pantile-suite"]
    options = [*packages, "--features", "pantile-comm-mpi/mpi,pantile-suite/mpi", "--locked"]
    targets = ["--test", "worlds", "--test", "mpi"]
    run("cargo", "test", *options, *targets, "--no-run", compiles=True, **choice)
    run("cargo", "test", *options, *targets, **choice)


def valgrind():
    """Every test of code that works on raw memory."""
    memory.watched(rust.build(), None, 2)


def vectors():
    """Python's digests and tests of arrays with every set of vector instructions. One that this
    processor has not leaves its widest; the bytes are the same all the same."""
    prepare_python()
    jobs = [python.digests("1 rank", python.common(PANTILE_RANKS=1))]
    for name in _VECTORS:
        env = python.common(PANTILE_VECTORS=name, PANTILE_RANKS=2)
        jobs += [python.digests(name, env), python.some(name, ["arrays"], env)]
    run_jobs(jobs)
    python.compare(jobs)


def ranks():
    """Python's tests on 2, 4 and 7 ranks, between guard pages."""
    prepare_python()
    counts = (1, 2, 4, 7)
    jobs = [python.whole(n, python.common(PANTILE_GUARD=1)) for n in counts[1:]]
    jobs += [python.digests(f"{n} ranks", python.common(PANTILE_RANKS=n)) for n in counts]
    run_jobs(jobs)
    python.compare(jobs)


def places():
    """Python's tests of arrays on 3 workers, and on 1, 2 and 4 MPI processes."""
    prepare_python()
    jobs = [
        python.digests("1 rank", python.common(PANTILE_RANKS=1)),
        python.some("3 workers", ["arrays"], python.common(PANTILE_TEST_WORKERS=3)),
        python.digests("3 workers", python.common(PANTILE_TEST_WORKERS=3)),
    ]
    for count in (1, 2, 4):
        env, launcher = python.common(**python.OPEN_MPI), [*python.MPIRUN, count]
        jobs.append(python.some(f"{count} processes", python.UNDER_MPI, env, launcher))
        jobs.append(python.digests(f"{count} processes", env, launcher))
    run_jobs(jobs)
    python.compare(jobs)


def prepare_python():
    """The environment and the package of the common build."""
    rust.build()
    if not python.PYTHON.exists():
        run_jobs([python.environment_job()])
        python.install()
    python.overlay()


def fuzz():
    """A minute of fuzzing for each target; needs a C++ compiler, and installs `cargo-fuzz`."""
    known = subprocess.run(["cargo", "fuzz", "--version"], capture_output=True, check=False)
    if known.returncode:
        run("cargo", "install", "cargo-fuzz", "--locked", compiles=True)
    options = ["-s", "none", "--features", "fuzzer"]
    run("cargo", "fuzz", "build", *options, cwd=ROOT, compiles=True)
    jobs = []
    for source in sorted((ROOT / "fuzz" / "fuzz_targets").glob("*.rs")):
        name = source.stem
        (ROOT / "fuzz" / "corpus" / name).mkdir(parents=True, exist_ok=True)
        folders = [f"fuzz/corpus/{name}"]
        if (ROOT / "fuzz" / "seeds" / name).is_dir():
            folders.append(f"fuzz/seeds/{name}")
        line = ["cargo", "fuzz", "run", *options, name, *folders, "--", "-max_total_time=60"]
        jobs.append(Job(f"fuzz {name}", line))
    run_jobs(jobs)


def differential():
    """Random programs against NumPy for 25 minutes: on threads, on workers and on MPI processes."""
    prepare_python()
    minutes = lambda count: ["--minutes", count]
    jobs = [
        python.fuzzed(minutes(15), "1,2,3,5"),
        python.fuzzed(minutes(5), "1,2,3", "workers"),
        python.fuzzed(minutes(5), "3", "mpi"),
    ]
    run_jobs(jobs)


def benches():
    """Every bench runs once; look at its figures, nothing here judges them."""
    features = "pantile-comm-mpi/mpi"
    run("cargo", "build", "--workspace", "--benches", "--release", "--locked", compiles=True)
    for crate in ("plan", "spmd", "comm-net", "cluster", "kernels"):
        run("cargo", "bench", "-p", f"pantile-{crate}", "--locked")
    run("cargo", "bench", "-p", "pantile-comm-mpi", "--features", features, "--locked")
    run("cargo", "run", "--release", "--locked", "--", "bench", "--scale", "0.1", "--turns", "1")


@contextlib.contextmanager
def few_cases():
    """As many random cases as `./test` has."""
    before = os.environ["PANTILE_CASES"]
    os.environ["PANTILE_CASES"] = str(CASES)
    try:
        yield
    finally:
        os.environ["PANTILE_CASES"] = before


def loaded():
    """Rust's and Python's tests while every core is busy with something else."""
    programs = rust.build()
    prepare_python()
    with load.busy_cores(), few_cases():
        rust.tests(programs)
        env = python.common()
        run_jobs([python.once(env), python.whole(3, env), python.whole(1, env)])


def shuffled():
    """Rust's and Python's tests in a random order."""
    programs = rust.build()
    prepare_python()
    seed = random.randrange(1 << 30)
    say(f"order: {seed}")
    options = ["-Z", "unstable-options", "--shuffle-seed", seed]
    usual = [one for one in programs if one.name in ("lib", "it")]
    env = python.common(PANTILE_TEST_ORDER=seed)
    with few_cases():
        run_jobs([one.job(*options, suffix=", shuffled", RUSTC_BOOTSTRAP=1) for one in usual])
        run_jobs([python.once(env), python.whole(3, env), python.whole(1, env)])


#: In the order in which they run.
PARTS = {
    "lints": lints,
    "laws": laws,
    "openmpi": openmpi,
    "mpich": mpich,
    "ranks": ranks,
    "places": places,
    "vectors": vectors,
    "valgrind": valgrind,
    "fuzz": fuzz,
    "differential": differential,
    "benches": benches,
    "loaded": loaded,
    "shuffled": shuffled,
}


def run_parts(names):
    """Runs parts one by one, and notes each that is green."""
    machine.need_packages()
    for name in names:
        started = time.monotonic()
        with stage(name):
            say(" ".join((PARTS[name].__doc__ or "").split()))
            PARTS[name]()
        _note(name, time.monotonic() - started)


def _green():
    """The lines of the list by part."""
    lines = GREEN.read_text().splitlines() if GREEN.exists() else []
    return {line.split()[0]: line for line in lines if line and not line.startswith("#")}


def _note(name, seconds):
    """Writes down when a part was green."""
    hashes = tree()
    mark = hashes[1][:10] if hashes else "with changes"
    lines = _green()
    lines[name] = f"{name:10} {datetime.date.today()} {mark:12} {seconds:5.0f} s"
    head = "# Parts of `./test all`: the day, commit and time of the last run that was green.\n"
    GREEN.write_text(head + "".join(f"{lines[part]}\n" for part in PARTS if part in lines))


def show():
    """Prints every part and when it was green."""
    lines = _green()
    for name, part in PARTS.items():
        say(lines.get(name, f"{name:10} never"))
        say("           " + " ".join((part.__doc__ or "").split()))
    return 0
