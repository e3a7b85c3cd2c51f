"""The Python in the documents runs under mpirun, too, and prints the same."""

import pytest
from test_divergence import job, needs_mpi
from test_readme import PAGES, blocks

#: Runs programs one after the other, each by itself.
RUN = """
import sys
import pantile as pt

for number, program in enumerate({programs!r}):
    print(f"program {{number}}", file=sys.stderr)
    exec(compile(program, "document", "exec"), {{}})
    if pt.rank() == 0:
        print("----")
"""


@needs_mpi
@pytest.mark.parametrize("page", PAGES)
def test_programs_in_the_documents_on_two_processes(page, tmp_path):
    found = blocks(page)
    done = job(tmp_path, RUN.format(programs=[program for program, _ in found]))
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("----\n") == [*(output for _, output in found), ""]
