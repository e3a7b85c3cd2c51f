"""``pantile run X.py -n 4``: Python as the processes of an MPI job.

Words to a :class:`Script`, a script and the environment to a command line, and only then does this
process become the launcher.
"""

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from pantile import _core

#: Names another launcher, with options: ``srun --mpi=pmix``. The number of ranks follows: ``-n N``.
LAUNCHER_VARIABLE = "PANTILE_MPIRUN"

#: Where a resource manager has already said how many processes there shall be.
ALLOCATIONS = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "PJM_JOBID")


class Refused(Exception):
    """Why nothing is started, with the exit code of the command."""

    def __init__(self, words: str, code: int = 1) -> None:
        super().__init__(words)
        self.code = code


@dataclass(frozen=True)
class Script:
    """A Python file to be launched: on how many ranks, and with which arguments."""

    path: str
    ranks: int | None = None
    arguments: tuple[str, ...] = ()


def parse(words: list[str]) -> Script | None:
    """The script that ``run [-n N] X.py [-n N] [--] [arguments]`` names; none for program texts."""
    if words[:1] != ["run"]:
        return None
    ranks, rest = _take_ranks(words[1:])
    if not rest or not rest[0].endswith(".py"):
        return None
    path, rest = rest[0], rest[1:]
    if ranks is None:
        ranks, rest = _take_ranks(rest)
    if rest[:1] == ["--"]:
        rest = rest[1:]
    elif ranks is None and any(_is_ranks(word) for word in rest):
        raise Refused(
            f"say -n N directly after {path}, or -- if all that follows is for the script: "
            f"`pantile run {path} -n 4 {rest[0]} ...`",
            2,
        )
    return Script(path, ranks, tuple(rest))


def _is_ranks(word: str) -> bool:
    joined = word.startswith("-n") and word[2:].isdigit()
    return word in ("-n", "--ranks") or word.startswith("--ranks=") or joined


def _take_ranks(words: list[str]) -> tuple[int | None, list[str]]:
    """The number of ranks at the beginning of some words, and the words behind it."""
    if not words or not _is_ranks(words[0]):
        return None, words
    word, rest = words[0], words[1:]
    if word in ("-n", "--ranks"):
        if not rest:
            raise Refused(f"{word}: nothing follows, expected a positive number of ranks", 2)
        text, rest = rest[0], rest[1:]
    else:
        text = word.removeprefix("--ranks=").removeprefix("-n")
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise Refused(f"-n {text}: expected a positive number of ranks", 2)
    return int(text), rest


def command_line(script: Script, library: str | None, variables: Mapping[str, str]) -> list[str]:
    """The words that launch a script on the MPI ``library``."""
    python = [sys.executable, script.path, *script.arguments]
    wanted = "several processes" if script.ranks is None else f"{script.ranks} processes"
    threads = f"`PANTILE_RANKS={script.ranks or 4} {shlex.join(['python', *python[1:]])}`"
    if library is None:
        raise Refused(
            f"{script.path} shall be {wanted} of an MPI job, but pantile was installed without "
            "MPI: install an MPI with its compiler (on Debian and Ubuntu: libopenmpi-dev, "
            "openmpi-bin), then pantile again (`pip install --no-cache-dir --force-reinstall` of "
            "the same source, with mpicc in PATH or named by MPICC), or use threads: "
            f"{threads}"
        )
    launcher = _launcher(library, variables)
    if launcher is None:
        raise Refused(
            f"{script.path} shall be {wanted} of an MPI job, but neither mpirun nor mpiexec nor "
            f"srun is in PATH: install the launcher of {library}, or name one by "
            f"{LAUNCHER_VARIABLE}, or use threads: {threads}"
        )
    ranks = script.ranks
    if ranks is None and not any(name in variables for name in ALLOCATIONS):
        ranks = _cores()
    return [*launcher, *([] if ranks is None else ["-n", str(ranks)]), *python]


def _launcher(library: str, variables: Mapping[str, str]) -> list[str] | None:
    """The launcher that belongs to an MPI; several may be installed, so full names come first."""
    named = shlex.split(variables.get(LAUNCHER_VARIABLE, ""))
    if named:
        return named
    if "Open MPI" in library:
        own = ["mpirun.openmpi", "mpiexec.openmpi"]
    else:
        own = ["mpirun.mpich", "mpiexec.mpich", "mpiexec.hydra"] if "MPICH" in library else []
    for name in [*own, "mpirun", "mpiexec", "srun"]:
        found = shutil.which(name, path=variables.get("PATH"))
        if found is not None:
            return [found]
    return None


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _environment(script: Script, variables: Mapping[str, str]) -> dict[str, str]:
    """The environment of the launcher: whoever asks for more ranks than there are cores gets them.

    Where a resource manager deals out cores, nothing is changed.
    """
    if any(name in variables for name in ALLOCATIONS):
        return dict(variables)
    defaults = {
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    }
    if script.ranks is not None and script.ranks > _cores():
        # Ranks that wait give their core to others; it slows down those that have their own.
        defaults["OMPI_MCA_mpi_yield_when_idle"] = "1"
    return {**defaults, **variables}


def start(script: Script) -> int:
    """Becomes the launcher, or one of its processes if there is a launcher already."""
    if not os.path.isfile(script.path):
        raise Refused(f"{script.path}: there is no such file")
    processes = _core.launched()
    if processes is None:
        words = command_line(script, _core.mpi_library(), os.environ)
        environment = _environment(script, os.environ)
    else:
        if processes and script.ranks not in (None, processes):
            raise Refused(
                f"-n {script.ranks}: there are {processes} processes, expected the same number"
            )
        words, environment = [sys.executable, script.path, *script.arguments], dict(os.environ)
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execvpe(words[0], words, environment)
    except OSError as error:
        raise Refused(f"{words[0]} cannot be started: {error.strerror}") from error
