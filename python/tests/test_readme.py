"""The Python in the README runs."""

from pathlib import Path


def blocks():
    readme = Path(__file__).parents[2].joinpath("README.md").read_text()
    found = [rest.split("```")[0] for rest in readme.split("```python\n")[1:]]
    assert found
    return found


def test_programs_in_the_readme(capsys):
    for block in blocks():
        exec(compile(block, "README.md", "exec"), {})
    assert capsys.readouterr().out.startswith("102363.3146249746")
