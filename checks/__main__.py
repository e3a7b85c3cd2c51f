"""Checks the project.

  ./test                   everything that a change can break: what the build machine runs
  ./test quick [CRATE...]  format, lints and tests of what changed (or of CRATE) and its dependents
  ./test all [PART...]     what is too long for every change, in parts; without PART all of them
  ./test all --list        the parts, and when each was last green

PANTILE_CASES=N runs N percent of the random cases, PANTILE_RUN_SEED=N chooses which. BLESS=1 rewrites
the golden files; look at the difference before you keep it.
"""

import os
import signal
import sys

import machine
import parts
import quick
import standard
from shell import Failure, say, table, tests_passed, tree


def main(arguments):
    match arguments:
        case []:
            return checked(standard.everything, "all is well", cases=standard.CASES)
        case ["quick", *crates]:
            return checked(lambda: quick.check(crates), "well, as far as was looked", cases=10)
        case ["all", "--list"]:
            return parts.show()
        case ["all", *names]:
            unknown = [name for name in names if name not in parts.PARTS]
            if unknown:
                return usage(f"there is no part {', '.join(unknown)}: {', '.join(parts.PARTS)}")
            work = lambda: parts.run_parts(names or list(parts.PARTS))
            return checked(work, "these parts are well", cases=100)
        case ["-h" | "--help"]:
            return say(__doc__)
        case _:
            return usage(f"unknown arguments: {' '.join(arguments)}")


def usage(problem):
    say(f"{__doc__}\n./test: {problem}")
    return 2


def seed():
    """Which random cases are seen: others for every tree, the same for the same one."""
    hashes = tree()
    return int(hashes[0][:8], 16) if hashes else 1


def checked(work, words, cases):
    """Runs checks, and says what they took."""
    os.environ.setdefault("PANTILE_CASES", str(cases))
    os.environ.setdefault("PANTILE_RUN_SEED", str(seed()))
    # What would speed up the next build is not kept: it fills the disk, and other ways to build
    # would not find it.
    os.environ.setdefault("CARGO_INCREMENTAL", "0")
    os.environ.setdefault("RUST_BACKTRACE", "1")
    settings = " ".join(f"{name}={os.environ[name]}" for name in ("PANTILE_RUN_SEED", "PANTILE_CASES"))
    say(f"random cases of this run: {settings}")
    problem = None
    try:
        machine.need_rust()
        work()
    except Failure as failure:
        problem = failure
    table()
    if problem:
        say(f"\n./test: {problem}\nthe same random cases again: {settings} ./test ...")
        say(f"{tests_passed()} passed, 1 failed")
        return 1
    say(f"\n=== {words}\n{tests_passed()} passed, 0 failed")
    return 0


# Output that is cut off, as by `head`, ends the run in silence.
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
try:
    sys.exit(main(sys.argv[1:]))
except KeyboardInterrupt:
    say("\n./test: interrupted")
    sys.exit(130)
