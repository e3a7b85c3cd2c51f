"""`./test quick`: what changed and what depends on it."""

import json
import subprocess
from pathlib import Path

import python
import rust
from jobs import run_jobs
from shell import ROOT, Failure, run, say, stage


def check(names):
    """Format, lints and tests of these crates, or of those with changes, and of their dependents."""
    edges, tests = _graph()
    unknown = [name for name in names if name not in edges]
    if unknown:
        raise Failure(f"there is no crate {', '.join(unknown)}: {', '.join(sorted(edges))}")
    changed = set(names) or _changed(edges)
    chosen = _dependents(changed, edges, tests)
    say(f"changed: {' '.join(sorted(changed))}\nchecked: {' '.join(sorted(chosen))}")
    with stage("format"):
        rust.formatted()
    with stage("lints"):
        rust.lints()
    with stage("build"):
        programs = rust.build()
    with stage("tests"):
        rust.tests([one for one in programs if one.crate in chosen | {"xtask"}])
    if "python" in chosen:
        with stage("Python"):
            _python()


def _python():
    """Digests and the tests of arrays, where `./test` has made an environment before."""
    if not python.PYTHON.exists():
        say("not run: ./test makes the environment that Python's tests need")
        return
    python.overlay()
    jobs = [python.digests(f"{n} ranks", python.common(PANTILE_RANKS=n)) for n in (1, 3)]
    run_jobs([python.some("arrays", ["arrays"], python.common(PANTILE_RANKS=3)), *jobs])
    python.compare(jobs)


def _graph():
    """Crates that a crate needs, and those that its tests need besides, by their folders' names."""
    text = subprocess.run(
        ["cargo", "metadata", "--no-deps", "--locked", "--format-version=1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    packages = json.loads(text)["packages"]
    folder = {one["name"]: Path(one["manifest_path"]).parent.name for one in packages}

    def needs(package, kinds):
        found = (one for one in package["dependencies"] if one["kind"] in kinds)
        return {folder[one["name"]] for one in found if one["name"] in folder}

    edges = {folder[one["name"]]: needs(one, (None, "build")) for one in packages}
    return edges, {folder[one["name"]]: needs(one, ("dev",)) for one in packages}


def _dependents(changed, edges, tests):
    """These crates, all that are built from them, and all whose tests use those."""
    found, before = set(changed), None
    while found != before:
        before = set(found)
        found |= {name for name, needs in edges.items() if needs & found}
    return found | {name for name, needs in tests.items() if needs & found}


def _changed(edges):
    """Crates with files that differ from the last commit; everything if other files do."""
    lines = run("git", "status", "--porcelain", "--untracked-files=all", capture=True).splitlines()
    found = set()
    for path in (Path(line[3:].split(" -> ")[-1].strip('"')) for line in lines):
        match path.parts:
            case ("crates", name, *_) if name in edges:
                found.add(name)
            case ("fuzz" | "python" as name, *_):
                found.add(name)
            case ("filetests" | "examples", *_):
                found.add("cli")
            case ("Cargo.toml" | "Cargo.lock",):
                return set(edges)
    return found
