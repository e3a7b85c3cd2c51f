"""The Python package: as `pip` installs it, and its tests on the common build."""

import shutil
import sys

from jobs import Job, run_jobs
from machine import need_venv
from rust import BUILT
from shell import ROOT, WORK, Failure, run

#: An environment of its own.
VENV = WORK / "python"
PYTHON = VENV / "bin" / "python"

#: The package with the extension of the common build.
OVERLAY = WORK / "package"

#: What the tests need; tvm-ffi is a small library beside NumPy that speaks DLPack both ways.
_NEEDS = ["numpy", "pytest", "nbclient", "ipykernel", "mypy==2.4.1", "apache-tvm-ffi"]

#: What does not depend on the number of ranks is tested once.
_ONCE = (
    "build cluster divergence halos loading notebook partitions plan primitives readme_processes "
    "schemes spmd_processes types"
).split()

#: What runs on MPI processes as it does on threads.
UNDER_MPI = ["arrays", "dist", "distribution", "blocks", "pipeline"]

_QUIET = ["-q", "--color=no", "-p", "no:cacheprovider", "--durations=5"]

#: Lets Open MPI start as root, and more ranks than there are cores.
OPEN_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": 1, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": 1}
MPIRUN = ["mpirun.openmpi", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-n"]


def environment_job():
    """Makes the environment with all that tests need."""
    need_venv()
    script = (
        f'"{sys.executable}" -m venv --clear "{VENV}" && '
        f'"{VENV}/bin/pip" install -q --disable-pip-version-check {" ".join(_NEEDS)}'
    )
    return Job("packages of Python", ["bash", "-c", script])


def install():
    """The package as its users build it, into that environment."""
    pip = [VENV / "bin" / "pip", "install", "-q", "--disable-pip-version-check", "--no-deps"]
    run(*pip, "--force-reinstall", ".", compiles=True, CARGO_TARGET_DIR=ROOT / "target")


def overlay():
    """The package's Python with the extension of the common build, in front of the installed one."""
    library = BUILT / "lib_core.so"
    if not library.exists():
        raise Failure(f"{library} is missing: the workspace was not built")
    shutil.rmtree(OVERLAY, ignore_errors=True)
    shutil.copytree(ROOT / "python" / "pantile", OVERLAY / "pantile")
    (OVERLAY / "pantile" / "_core.abi3.so").symlink_to(library)


def common(**more):
    """Variables that put the common build in front."""
    return {"PYTHONPATH": OVERLAY, "PANTILE_NO_SKIPS": 1, **more}


def _files(names):
    return [f"python/tests/test_{name}.py" for name in names]


def doctests(env):
    return Job("doctests", [PYTHON, "-m", "pytest", *_QUIET, "--doctest-modules", "--pyargs", "pantile"], env)


def whole(ranks, env):
    """All tests that depend on the number of ranks, on so many threads."""
    skip = [f"--ignore={path}" for path in _files(_ONCE)]
    command = [PYTHON, "-m", "pytest", *_QUIET, *skip, "python/tests"]
    return Job(f"pytest, {ranks} ranks", command, {**env, "PANTILE_RANKS": ranks})


def once(env):
    """All other tests."""
    return some("once", _ONCE, {**env, "PANTILE_RANKS": 1})


def some(title, names, env, launcher=()):
    """Some files of tests."""
    command = [*launcher, PYTHON, "-m", "pytest", *_QUIET, *_files(names)]
    return Job(f"pytest, {title}", command, env)


def digests(title, env, launcher=()):
    """Digests of many results, to be compared."""
    output = WORK / "digests" / title.replace(" ", "-")
    output.parent.mkdir(parents=True, exist_ok=True)
    return Job(f"digests, {title}", [*launcher, PYTHON, "python/tests/digests.py"], env, output=output)


def compare(jobs):
    """Fails if one of these digests differs from the first."""
    outputs = [job for job in jobs if job.output]
    expected = outputs[0].output.read_text()
    if len(expected.splitlines()) < 50:
        raise Failure(f"{outputs[0].name} has too few lines:\n{expected}")
    wrong = [job.name for job in outputs if job.output.read_text() != expected]
    if wrong:
        raise Failure(f"other bytes than {outputs[0].name}: {', '.join(wrong)}")


def standard():
    """What `./test` runs on the common build."""
    env = common()
    jobs = [
        once(env),
        whole(3, env),
        whole(1, env),
        doctests(env),
        digests("1 rank", {**env, "PANTILE_RANKS": 1}),
        digests("3 ranks", {**env, "PANTILE_RANKS": 3}),
        digests("4 ranks", {**env, "PANTILE_RANKS": 4}),
        digests("2 workers", {**env, "PANTILE_TEST_WORKERS": 2}),
        digests("portable vectors", {**env, "PANTILE_VECTORS": "portable", "PANTILE_RANKS": 2}),
        digests("2 processes", {**env, **OPEN_MPI}, [*MPIRUN, 2]),
    ]
    run_jobs(jobs)
    compare(jobs)


def fuzzed(length, ranks="1,3", backend="threads"):
    """Random programs against NumPy, between guard pages: so many, or so long."""
    line = [PYTHON, "python/fuzz", *length, "--ranks", ranks, "--backend", backend, "--guard"]
    return Job(f"fuzzing, {backend}", line, common(**OPEN_MPI))


def released():
    """What `./test` runs on the package as it is installed."""
    env = {"PANTILE_NO_SKIPS": 1, "PANTILE_RANKS": 2}
    jobs = [
        some("as installed", ["arrays", "readme"], env),
        digests("1 rank", {**common(), "PANTILE_RANKS": 1}),
        digests("as installed", env),
    ]
    run_jobs(jobs)
    compare(jobs)
