"""Runs the test-suite of the array API (data-apis/array-api-tests) on this package.

    python python/array_api.py PATH_OF_THE_SUITE [--ranks N] [--examples N]

The suite is not part of this repository. With more than one rank every array is cut along axis 0,
however small. Prints how many tests of the functions that exist pass, and lists the others.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree

from pantile import _absent

#: Tests of what is not there: absent functions, extensions, arrays as indices, DLPack.
ABSENT = re.compile(
    r"\[linalg-|\[fft-|dlpack|getitem_arrays|test_(" + "|".join(_absent.NAMES) + r")\b|\[("
    + "|".join(_absent.NAMES) + r")\]"
)


def run(suite: str, ranks: int, examples: int) -> list[tuple[str, str]]:
    """Every test with what came of it."""
    cut = "exec('import pantile as xp; from pantile import _dist; _dist.default = 0')"
    module = cut if ranks > 1 else "pantile"
    variables = {
        **os.environ,
        "ARRAY_API_TESTS_MODULE": module,
        "ARRAY_API_TESTS_VERSION": "2024.12",
        "PANTILE_RANKS": str(ranks),
    }
    with tempfile.NamedTemporaryFile(suffix=".xml") as report:
        words = ["array_api_tests", f"--max-examples={examples}", "--derandomize", "--disable-deadline"]
        words += ["--disable-extension", "linalg", "fft", "--disable-data-dependent-shapes", "-q"]
        words += ["-p", "no:cacheprovider", f"--junitxml={report.name}", "--color=no"]
        subprocess.run([sys.executable, "-m", "pytest", *words], cwd=suite, env=variables)
        cases = tree.parse(report.name).getroot().iter("testcase")
        return [(f"{case.get('classname')}::{case.get('name')}", verdict(case)) for case in cases]


def verdict(case) -> str:
    """`passed`, `skipped` or `failed`."""
    if case.find("skipped") is not None:
        return "skipped"
    bad = case.find("failure") is not None or case.find("error") is not None
    return "failed" if bad else "passed"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("suite")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--examples", type=int, default=5)
    given = parser.parse_args()
    results = run(given.suite, given.ranks, given.examples)
    ours = [(name, what) for name, what in results if what != "skipped" and not ABSENT.search(name)]
    passed = sum(what == "passed" for _, what in ours)
    for name, what in ours:
        if what == "failed":
            print("failed", name)
    print(f"{passed} of {len(ours)} tests of functions that exist pass on {given.ranks} ranks: "
          f"{100 * passed / max(1, len(ours)):.1f} %")  # fmt: skip
    return 0 if passed >= 0.97 * len(ours) else 1


if __name__ == "__main__":
    sys.exit(main())
