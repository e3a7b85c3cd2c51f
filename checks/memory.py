"""Code that works on raw memory, watched byte by byte by valgrind."""

from jobs import run_jobs
from rust import Program

#: Threads take turns, or one that waits for a busy one would keep it from running. Blocks are short,
#: or the long ones of machine code would be too much for valgrind.
_VALGRIND = ["valgrind", "-q", "--fair-sched=try", "--vex-guest-max-insns=20", "--error-exitcode=9"]

#: Every crate with unsafe code, and in `./test` the tests that reach each of its modules quickest.
_CRATES = ("kernels", "comm", "engine", "memory", "suite")


def watched(programs: list[Program], chosen, cases):
    """Runs tests under valgrind, with few random cases, because it is slow. `chosen` names tests by
    crate and program; without it all run."""
    jobs = []
    for program in programs:
        names = chosen.get((program.crate, program.name)) if chosen else []
        if program.crate not in _CRATES or names is None:
            continue
        job = program.job(*names, "--test-threads=1", suffix=", valgrind", PANTILE_CASES=cases)
        job.command = [*_VALGRIND, *job.command]
        jobs.append(job)
    run_jobs(jobs)
