"""The Python in the README runs under mpirun, too."""

from test_divergence import job, needs_mpi
from test_readme import blocks


@needs_mpi
def test_programs_in_the_readme_on_two_processes(tmp_path):
    for number, block in enumerate(blocks()):
        done = job(tmp_path, block)
        assert done.returncode == 0, f"program {number}: {done.stderr}"
