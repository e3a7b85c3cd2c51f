"""What every process of a job does in `test_processes.py`: files, functions, seeds, looking."""

import sys
from pathlib import Path

import numpy as np

import pantile as pt


def fails_everywhere(work, mine, others):
    """Some work fails on every process: on that of rank 1 for its own reason."""
    expected = mine if 1 in pt.hosted_ranks() else others
    try:
        work()
    except expected as error:
        if expected is others:
            assert "rank 1 says why" in str(error), error
    else:
        raise AssertionError("it went well")


def files(folder):
    whole = np.arange(60.0).reshape(6, 10)
    for dist in (0, 1, "cc", None):
        array = pt.from_callback((6, 10), dist, lambda part: whole[part])
        pt.save(folder / "a.npy", array)
        assert (np.load(folder / "a.npy") == whole).all()
        assert (np.asarray(pt.load(folder / "a.npy", dist=1)) == whole).all()
        pt.save(folder / "x.npz", {"a": array, "b": pt.arange(7)})
        back = pt.load(folder / "x.npz", dist=0)
        assert (np.asarray(back["a"]) == whole).all()
        assert (np.asarray(back["b"]) == np.arange(7)).all()
    with pt.no_comm():
        pt.save(folder / "b.npy", pt.ones((6, 10), dist=0))
    for name in ("no/a.npy", "no/a.npz"):
        try:
            pt.save(folder / name, pt.ones(3))
        except (FileNotFoundError, RuntimeError):
            continue
        raise AssertionError("it was written")


def functions():
    def tile(part):
        if 1 in pt.hosted_ranks():
            raise KeyError("mine")
        return np.zeros(part[0].stop - part[0].start)

    fails_everywhere(lambda: pt.from_callback(30, 0, tile), KeyError, RuntimeError)
    # The world goes on.
    assert float(pt.ones(5000).sum()) == 5000


def blocks():
    """Functions of tiles: neighbours come from other processes, and all fail together."""
    whole = np.arange(60.0).reshape(6, 10)
    array = pt.from_callback((6, 10), 0, lambda part: whole[part])
    found = pt.map_overlap(lambda tile: tile[2:] - tile[:-2], array, {0: 1}, "periodic")
    assert (np.asarray(found) == np.roll(whole, -1, 0) - np.roll(whole, 1, 0)).all()
    for section in array.with_halo({0: 1}).sections:
        assert (section.data == whole[section.index]).all()

    def tile(part):
        if 1 in pt.hosted_ranks():
            raise KeyError("mine")
        return part

    fails_everywhere(lambda: pt.map_blocks(tile, array), KeyError, RuntimeError)
    fails_everywhere(lambda: pt.map_overlap(tile, array, 1), KeyError, RuntimeError)
    assert float(pt.ones(5000).sum()) == 5000


def seeds():
    numbers = pt.random.default_rng().random(pt.ranks(), dist=0)
    again = [float(numbers[at]) for at in range(pt.ranks())]
    assert len(set(again)) == pt.ranks()
    known = pt.random.default_rng(7).standard_normal((500, 400)).sum()
    return float(known)


def looks():
    whole = np.arange(60_000.0).reshape(200, 300)
    array = pt.from_callback(whole.shape, 0, lambda part: whole[part])
    with pt.comm_stats() as stats:
        text = repr(array)
    assert text == f"float64[200@r, 300] over r={pt.ranks()}\n{np.array2string(whole)}"
    assert stats.bytes < 36 * 8 * pt.ranks()
    assert array._repr_html_().count("<rect") == pt.ranks()


if __name__ == "__main__":
    files(Path(sys.argv[1]))
    functions()
    blocks()
    looks()
    # Lines of several processes may end up in each other: every one has a file of its own.
    rank = pt.hosted_ranks()[0]
    Path(sys.argv[1], f"sum.{rank}").write_text(seeds().hex())
