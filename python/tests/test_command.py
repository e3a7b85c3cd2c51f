"""The command: program texts by the core, Python by a launcher, here a tiny script on PATH."""

import os
import shlex
import signal
import subprocess
import sys
import time

import pytest

from pantile import _core, _launch
from pantile._launch import Refused, Script, command_line, parse
from conftest import SOON

OPEN = "Open MPI v4.1.4"
MPICH = "MPICH 4.0.2"

#: What launchers tell their processes; the tests themselves may run under one.
SIGNS = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "PMIX_RANK", "SLURM_PROCID")

needs_mpi = pytest.mark.skipif(_core.mpi_library() is None, reason="installed without MPI")

#: A launcher that only says how it was called.
FAKE = """#!/bin/sh
echo "$(basename "$0")" "$@"
echo "oversubscribe=$OMPI_MCA_rmaps_base_oversubscribe"
exit 7
"""


def fake(folder, *names):
    """Puts launchers of these names into a folder, which becomes the whole PATH."""
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_text(FAKE)
        (folder / name).chmod(0o755)
    return {"PATH": str(folder)}


def pantile(*words, folder=None, variables=None):
    """The command with these words, in a folder and an environment without launchers."""
    left_out = (*SIGNS, *_launch.ALLOCATIONS, _launch.LAUNCHER_VARIABLE)
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    line = [sys.executable, "-m", "pantile._command", *words]
    environment = {**kept, **(variables or {})}
    return subprocess.run(
        line, cwd=folder, env=environment, capture_output=True, text=True, timeout=SOON, check=False
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("run X.py", Script("X.py")),
        ("run X.py -n 4", Script("X.py", 4)),
        ("run -n 4 X.py", Script("X.py", 4)),
        ("run X.py -n4 --size 3", Script("X.py", 4, ("--size", "3"))),
        ("run X.py --ranks 2", Script("X.py", 2)),
        ("run X.py --ranks=2 a b", Script("X.py", 2, ("a", "b"))),
        ("run X.py -n 4 -n 5", Script("X.py", 4, ("-n", "5"))),
        ("run -n 3 X.py -n 5", Script("X.py", 3, ("-n", "5"))),
        ("run X.py -n 4 -- -n 5", Script("X.py", 4, ("-n", "5"))),
        ("run X.py -- -n 5", Script("X.py", None, ("-n", "5"))),
        ("run X.py --name x", Script("X.py", None, ("--name", "x"))),
        ("run heat.dist -n 4", None),
        ("run heat.dist --arg x=a.py", None),
        ("run --backend sim X.py", None),
        ("run -n 4", None),
        ("run", None),
        ("plan X.py", None),
        ("--help", None),
        ("", None),
    ],
)
def test_words_become_scripts(line, expected):
    assert parse(line.split()) == expected


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("run X.py -n", "-n: nothing follows"),
        ("run X.py -n 0", "-n 0: expected a positive number"),
        ("run X.py -n many", "-n many: expected a positive number"),
        ("run X.py --ranks=-1", "-n -1: expected a positive number"),
        ("run X.py --size 3 -n 4", "say -n N directly after X.py"),
    ],
)
def test_wrong_words_are_refused(line, words):
    with pytest.raises(Refused, match=words) as refused:
        parse(line.split())
    assert refused.value.code == 2


def launcher(library, variables):
    """The name of the launcher that is chosen."""
    words = command_line(Script("X.py", 4, ("a b",)), library, variables)
    assert words[1:] == ["-n", "4", sys.executable, "X.py", "a b"]
    return os.path.basename(words[0])


def test_the_launcher_belongs_to_the_library(tmp_path):
    names = ["mpirun.openmpi", "mpirun.mpich", "mpiexec.hydra", "mpirun", "mpiexec", "srun"]
    variables = fake(tmp_path / "bin", *names)
    assert launcher(OPEN, variables) == "mpirun.openmpi"
    assert launcher(MPICH, variables) == "mpirun.mpich"
    assert launcher("Intel(R) MPI Library 2021", variables) == "mpirun"


def test_any_launcher_will_do(tmp_path):
    for number, name in enumerate(["mpirun", "mpiexec", "srun"]):
        assert launcher(OPEN, fake(tmp_path / str(number), name)) == name


def test_a_launcher_can_be_named(tmp_path):
    variables = {**fake(tmp_path / "bin", "mpirun"), "PANTILE_MPIRUN": "srun --mpi='pm ix'"}
    words = command_line(Script("X.py", 2), OPEN, variables)
    assert words[:4] == ["srun", "--mpi=pm ix", "-n", "2"]


def test_without_a_number_there_is_one_rank_per_core_or_what_was_allocated(tmp_path):
    variables = fake(tmp_path / "bin", "mpirun")
    words = command_line(Script("X.py"), OPEN, variables)
    assert words[1:3] == ["-n", str(_launch._cores())]
    words = command_line(Script("X.py"), OPEN, {**variables, "SLURM_JOB_ID": "12"})
    assert words[1:] == [sys.executable, "X.py"]


def test_more_ranks_than_cores_take_turns():
    many = Script("X.py", _launch._cores() + 1)
    idle = "OMPI_MCA_mpi_yield_when_idle"
    assert _launch._environment(many, {})[idle] == "1"
    assert _launch._environment(many, {idle: "0"})[idle] == "0"
    assert idle not in _launch._environment(Script("X.py", 1), {})
    assert _launch._environment(many, {"PBS_JOBID": "1"}) == {"PBS_JOBID": "1"}


def test_without_a_launcher_it_says_what_to_do(tmp_path):
    with pytest.raises(Refused) as refused:
        command_line(Script("X.py", 4, ("a b",)), OPEN, {"PATH": str(tmp_path)})
    words = str(refused.value)
    assert "neither mpirun nor mpiexec nor srun is in PATH" in words
    assert "the launcher of Open MPI v4.1.4" in words
    assert "`PANTILE_RANKS=4 python X.py 'a b'`" in words
    assert refused.value.code == 1


def test_without_mpi_it_says_what_to_do(tmp_path):
    with pytest.raises(Refused) as refused:
        command_line(Script("X.py", 4), None, fake(tmp_path / "bin", "mpirun"))
    words = str(refused.value)
    assert "X.py shall be 4 processes of an MPI job" in words
    assert "installed without MPI" in words and "with mpicc in PATH" in words
    assert "`PANTILE_RANKS=4 python X.py`" in words


@needs_mpi
def test_the_command_becomes_the_launcher(tmp_path):
    (tmp_path / "X.py").write_text("print('not by the fake')\n")
    variables = fake(tmp_path / "bin", "mpirun", "mpirun.openmpi", "mpirun.mpich")
    path = variables["PATH"] + os.pathsep + os.environ["PATH"]
    ran = pantile("run", "X.py", "-n", "3", "--", "a b", folder=tmp_path, variables={"PATH": path})
    called, crowd = ran.stdout.splitlines()
    assert called.startswith("mpirun") and called.endswith(f" -n 3 {sys.executable} X.py a b")
    assert crowd == "oversubscribe=1"
    assert ran.returncode == 7, ran.stderr
    # Cores that a resource manager deals out are not shared.
    allocated = {"PATH": path, "SLURM_JOB_ID": "12"}
    ran = pantile("run", "X.py", folder=tmp_path, variables=allocated)
    called, crowd = ran.stdout.splitlines()
    assert called.endswith(f"{sys.executable} X.py") and "-n" not in called
    assert crowd == "oversubscribe="


@needs_mpi
def test_a_launcher_that_is_not_there_is_named(tmp_path):
    (tmp_path / "X.py").write_text("")
    variables = {"PANTILE_MPIRUN": "no-such-launcher"}
    ran = pantile("run", "X.py", "-n", "2", folder=tmp_path, variables=variables)
    assert ran.returncode == 1
    assert ran.stderr == "error: no-such-launcher cannot be started: No such file or directory\n"


def test_the_command_says_that_there_is_no_mpi(tmp_path):
    (tmp_path / "X.py").write_text("")
    # A core without MPI answers so.
    words = (
        "import sys; from pantile import _command, _core; _core.mpi_library = lambda: None; "
        "sys.argv = ['pantile', 'run', 'X.py', '-n', '2']; sys.exit(_command.main())"
    )
    ran = subprocess.run([sys.executable, "-c", words], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 1 and "installed without MPI" in ran.stderr, ran


def test_a_script_that_is_not_there_is_named(tmp_path):
    ran = pantile("run", "X.py", "-n", "2", folder=tmp_path)
    assert (ran.returncode, ran.stderr) == (1, "error: X.py: there is no such file\n")
    ran = pantile("run", "X.py", "-n", "none", folder=tmp_path)
    assert ran.returncode == 2 and ran.stderr.startswith("error: -n none: ")


def test_one_of_several_processes_runs_the_script_itself(tmp_path):
    (tmp_path / "X.py").write_text("import sys\nprint(sys.argv)\n")
    job = {"OMPI_COMM_WORLD_SIZE": "3", "OMPI_COMM_WORLD_RANK": "1"}
    for words in (["-n", "3"], []):
        ran = pantile("run", "X.py", *words, "--", "a", folder=tmp_path, variables=job)
        assert (ran.returncode, ran.stdout) == (0, "['X.py', 'a']\n"), ran.stderr
    ran = pantile("run", "X.py", "-n", "2", folder=tmp_path, variables=job)
    assert ran.returncode == 1
    assert "-n 2: there are 3 processes, expected the same number" in ran.stderr


def test_program_texts_are_the_cores():
    ran = pantile(*shlex.split("halo --size 10 --ranks 3 --kernel 3"))
    assert ran.returncode == 0 and ran.stdout, ran.stderr
    ran = pantile("--version")
    assert (ran.returncode, ran.stdout) == (0, f"pantile {_core.version}\n")
    assert pantile("--help").stdout.startswith("Distributed n-d arrays")
    ran = pantile("run", "no/such/program.dist")
    assert ran.returncode == 1 and "no/such/program.dist" in ran.stderr
    ran = pantile("rum")
    assert ran.returncode == 2 and "Usage: pantile" in ran.stderr


def test_words_that_are_not_text_are_handed_on():
    ran = pantile("run", "\udcff.dist")
    assert ran.returncode in (1, 2) and "Traceback" not in ran.stderr


def test_an_interrupt_ends_the_command():
    # It reads its program from a pipe that never says anything.
    line = [sys.executable, "-m", "pantile._command", "run", "-"]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + SOON
        # Interrupted before the core was reached it ends as well, with a traceback: wait a little.
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        code = process.wait(timeout=deadline - time.monotonic())
        assert code == -signal.SIGINT, process.stderr.read()
