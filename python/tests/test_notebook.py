"""The notebook runs in a real kernel, and what it shows is what it should."""

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

TOUR = Path(__file__).parents[2] / "examples" / "python" / "tour.ipynb"


def run(book, folder):
    """The notebook with its outputs. What a cell prints arrives in one part or in several: that depends
    on how busy the machine is."""
    client = nbclient.NotebookClient(
        book,
        timeout=300,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        coalesce_streams=True,
    )
    client.execute()
    return [cell for cell in book.cells if cell.cell_type == "code"]


def shown(cell, kind):
    """What a cell shows of one kind."""
    return [one.data[kind] for one in cell.outputs if kind in one.get("data", {})]


@pytest.fixture(scope="module")
def tour(tmp_path_factory):
    return run(nbformat.read(TOUR, as_version=4), tmp_path_factory.mktemp("tour"))


def test_the_notebook_is_kept_without_outputs():
    book = nbformat.read(TOUR, as_version=4)
    nbformat.validate(book)
    for cell in book.cells:
        if cell.cell_type == "code":
            assert cell.outputs == [] and cell.execution_count is None


def test_every_cell_runs(tour):
    for count, cell in enumerate(tour, 1):
        assert cell.execution_count == count
        for output in cell.outputs:
            assert output.output_type in ("execute_result", "stream"), output
            assert output.get("name", "stdout") == "stdout", output


def test_arrays_are_shown_as_pictures(tour):
    pages = [(cell, page) for cell in tour for page in shown(cell, "text/html")]
    assert len(pages) >= 3
    for cell, page in pages:
        assert page.startswith("<table") and page.count("<rect") > 1, page
        # Where nobody draws, the elements.
        assert shown(cell, "text/plain")[0].startswith("float64[")


def test_what_is_printed(tour):
    printed = "".join(one.text for cell in tour for one in cell.outputs if one.output_type == "stream")
    for words in ("moves ", "CommStats(bytes=", "nothing may move here", "Section(rank=0"):
        assert words in printed


PICTURES = TOUR.with_name("pictures.ipynb")


def test_pictures_are_as_they_were_kept(tmp_path):
    """This notebook is kept with its outputs: pictures are the same on every machine."""
    kept = nbformat.read(PICTURES, as_version=4)
    nbformat.validate(kept)
    before = [cell.outputs for cell in kept.cells if cell.cell_type == "code"]
    cells = run(nbformat.read(PICTURES, as_version=4), tmp_path)
    assert len(cells) == len(before)
    for cell, outputs in zip(cells, before):
        assert cell.outputs == outputs, cell.source
    pages = [page for cell in cells for page in shown(cell, "text/html") + shown(cell, "image/svg+xml")]
    assert len(pages) >= 10 and all("<svg" in page for page in pages)


LONG = """
import pantile as pt
from pantile import _progress
_progress.DELAY, lines, show = 0.02, [], _progress.Cell.show

def noted(cell, text):
    lines.append(text)
    show(cell, text)

_progress.Cell.show = noted
pt.init(ranks=2)
x = pt.linspace(0.0, 1.0, 2_000_000, dist=0)
for _ in range(40):
    x = pt.sin(x) + 0.5
x.compute()
print(lines[0])
"""


def test_progress_is_shown_and_goes_away(tmp_path):
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(LONG)])
    (cell,) = run(book, tmp_path)
    sign, line = cell.outputs
    assert sign.output_type == "display_data"
    assert sign.data == {"text/plain": "", "text/html": ""}
    assert line.text.startswith("computing float64[2000000] (15.3 MiB) on 2 ranks: 0.")
