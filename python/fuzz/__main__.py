"""Random programs on pantile against NumPy: `python python/fuzz --minutes 10`."""

import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

#: Programs of one process, and seconds that one of them may take on a busy machine.
BATCH, PATIENCE = 40, 180
_MPIRUN = ["mpirun.openmpi", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-n"]


def options():
    """What the caller asks for."""
    parser = argparse.ArgumentParser(prog="python python/fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, help="how long; else --programs says how many")
    parser.add_argument("--programs", type=int, default=None)
    parser.add_argument("--seed", type=lambda text: int(text, 0), default=int(os.environ.get("PANTILE_RUN_SEED", "0"), 0))
    parser.add_argument("--ranks", default="1,2,3,5", help="numbers of ranks whose bytes are compared")
    parser.add_argument("--backend", choices=["threads", "workers", "mpi"], default="threads")
    parser.add_argument("--guard", action=argparse.BooleanOptionalAction, default=False, help="PANTILE_GUARD=1")
    parser.add_argument("--findings", type=int, default=1, help="stop after so many")
    parser.add_argument("--keep", type=Path, help="a folder for the scripts of findings")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--worker", nargs=2, metavar=("FIRST", "COUNT"), help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


# ---- the process that runs programs


def work(args):
    """Runs programs, and prints a line before and after each."""
    import pantile as pt
    from execute import check
    from generate import Generator

    ranks = [int(one) for one in args.ranks.split(",")]
    address = pt._core.LocalCluster(2) if args.backend == "workers" else None

    def start(count, threads):
        if args.backend == "mpi":
            pt.init(backend="mpi", threads=threads)
        elif address is not None:
            pt.init(cluster=address.address, ranks=count)
        else:
            pt.init(ranks=count, threads=threads)

    first_process = os.environ.get("OMPI_COMM_WORLD_RANK", "0") == "0"

    def say(**line):
        """The first of several processes speaks; another one that finds something ends all."""
        if first_process:
            print(json.dumps(line), flush=True)
        elif line.get("finding") is not None:
            time.sleep(1)
            sys.exit(line["finding"]["what"])

    first, count = (int(one) for one in args.worker)
    for seed in range(first, first + count):
        program = json.loads(args.file.read_text()) if args.file else Generator(seed, ranks).program()
        say(begin=seed, program=program)
        say(end=seed, finding=check(program, start))


# ---- the process that watches


def launched(args, first, count, file=None):
    """A process that runs programs."""
    command = [sys.executable, str(HERE), "--worker", str(first), str(count), "--backend", args.backend]
    command += ["--ranks", args.ranks] + (["--file", str(file)] if file else [])
    env = {**os.environ, "PYTHONFAULTHANDLER": "1"}
    if args.guard:
        env["PANTILE_GUARD"] = "1"
    if args.backend == "mpi":
        env |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        command = [*_MPIRUN, str(max(int(one) for one in args.ranks.split(","))), *command]
    errors = tempfile.TemporaryFile("w+")
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, env=env, text=True), errors


def watched(args, first, count, file=None, until=None):
    """Runs programs in a process; gives how many ran, and the first finding with its seed and program."""
    process, errors = launched(args, first, count, file)
    last, late = time.monotonic(), threading.Event()

    def watch():
        while process.poll() is None:
            if time.monotonic() - last > PATIENCE:
                late.set()
                process.kill()
            time.sleep(0.2)

    threading.Thread(target=watch, daemon=True).start()
    done, seed, program = 0, first, None
    for text in process.stdout:
        last = time.monotonic()
        line = json.loads(text)
        if "begin" in line:
            seed, program = line["begin"], line["program"]
            continue
        done += 1
        if line["finding"] is not None or (until is not None and last > until):
            process.kill()
            process.wait()
            return done, (line["finding"], seed, program) if line["finding"] is not None else None
    code = process.wait()
    if code == 0:
        return done, None
    errors.seek(0)
    said = errors.read()[-2000:]
    what = f"it takes longer than {PATIENCE} s" if late.is_set() else f"the process ends with {code}: {said}"
    return done, ({"kind": "crash", "what": what}, seed, program)


def fails_alike(args, kind):
    """Whether a program has a finding of the same kind."""

    def fails(program):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(json.dumps(program))
            file.flush()
            found = watched(args, 0, 1, Path(file.name))[1]
        return found is not None and found[0]["kind"] == kind

    return fails


def report(args, finding, seed, program):
    """Shrinks a program, and prints the script and how to repeat it."""
    from program import script
    from shrink import shrunk

    guard = " --guard" if args.guard else ""
    repeat = f"python python/fuzz --seed {seed} --programs 1 --ranks {args.ranks} --backend {args.backend}{guard}"
    print(f"\nseed {seed}: {finding['what']}\nrepeat: {repeat}", flush=True)
    if program is None:
        return
    fails = fails_alike(args, finding["kind"])
    if not args.no_shrink:
        if fails(program):
            program = shrunk(program, fails, 120 if finding["kind"] != "crash" else 60)
        else:
            print("it does not fail alone: it needs the programs before it in the same process")
    data = (HERE / "data.py").read_text().split("import numpy as np\n", 1)[1].strip("\n")
    text = script(program, finding, repeat, data + "\n")
    print(text, flush=True)
    if args.keep:
        args.keep.mkdir(parents=True, exist_ok=True)
        (args.keep / f"fuzz{seed}.py").write_text(text)


def main():
    """Programs until the time is over, all are done, or enough is found."""
    args = options()
    if args.worker:
        work(args)
        return 0
    started = time.monotonic()
    until = started + 60 * args.minutes if args.minutes is not None else None
    left = args.programs if args.programs is not None else (1 << 60 if until else 100)
    seed, done, found = args.seed, 0, []
    while left > 0 and (until is None or time.monotonic() < until) and len(found) < args.findings:
        count = min(BATCH, left)
        ran, finding = watched(args, seed, count, until=until)
        if finding is not None:
            found.append(finding)
            report(args, *finding)
            ran = finding[1] - seed + 1
        done, left, seed = done + ran, left - max(ran, 1), seed + (ran if finding else count)
    kinds = collections.Counter(one[0]["kind"] for one in found)
    print(f"{args.backend}: {done} programs on {args.ranks} ranks, seed {args.seed}, "
          f"{time.monotonic() - started:.0f} s, findings: {dict(kinds) or 'none'}")  # fmt: skip
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
