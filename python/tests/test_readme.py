"""The Python in the documents runs, and prints what they say."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", "docs/python.md"]
#: A program, and what it prints if a block right behind it says so.
BLOCK = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", re.S)


def blocks(page):
    """The programs of a page, and what they print."""
    text = ROOT.joinpath(page).read_text()
    found = BLOCK.findall(text)
    assert len(found) == text.count("```python\n") > 0
    assert any(output for _, output in found)
    return found


@pytest.mark.parametrize("page", PAGES)
def test_programs_in_the_documents(page, capsys):
    for program, output in blocks(page):
        exec(compile(program, page, "exec"), {})
        assert capsys.readouterr().out == output
