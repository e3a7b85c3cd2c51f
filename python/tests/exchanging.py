"""What every process of a job does in `test_processes.py` with memory of other libraries."""

import sys
from pathlib import Path

import numpy as np

import pantile as pt
from processes import fails_everywhere

ME, ALL = pt.rank(), pt.ranks()


def block(rank, size, places, width=0):
    """A block of an axis, with padding between sections."""
    cuts = [size * one // places for one in range(places + 1)]
    left, right = (width if rank else 0), (width if rank < places - 1 else 0)
    return {
        "dist_type": "b", "size": size, "proc_grid_size": places, "proc_grid_rank": rank,
        "start": cuts[rank] - left, "stop": cuts[rank + 1] + right, "padding": (left, right),
    }  # fmt: skip


def mine(whole, width=0, order="C"):
    dim = block(ME, len(whole), ALL, width)
    buffer = np.array(whole[dim["start"] : dim["stop"]], order=order)
    return {"__version__": "0.10.0", "buffer": buffer, "dim_data": (dim, {})}


def same(array, whole):
    np.testing.assert_array_equal(np.asarray(array), whole)


def sections():
    """Every process brings its own."""
    whole = np.arange(60.0).reshape(12, 5)
    for order in "CF":
        for width in (0, 1):
            own = mine(whole, width, order)
            array = pt.from_distarray(own)
            same(array, whole)
            own["buffer"] += 1
            same(array * 2, 2 * (whole + 1))
            array[...] = array - 1
            array[2:4] = -3
            expected = whole.copy()
            expected[2:4] = -3
            array.exchange()
            dim = own["dim_data"][0]
            np.testing.assert_array_equal(own["buffer"], expected[dim["start"] : dim["stop"]])
            assert array.__distarray__()["buffer"] is own["buffer"]
            same(pt.from_distarray(array), expected)
    cyclic = {"dist_type": "c", "size": 10, "proc_grid_size": ALL, "proc_grid_rank": ME, "start": ME}
    labels = np.arange(10)[::-1][ME::ALL].copy()
    dealt = {"dist_type": "u", "size": 10, "proc_grid_size": ALL, "proc_grid_rank": ME,
             "indices": labels, "one_to_one": True}  # fmt: skip
    for dim, places in ((cyclic, np.arange(10)[ME::ALL]), (dealt, labels)):
        own = {"__version__": "0.10.0", "buffer": 2 * places, "dim_data": (dim,)}
        array = pt.from_distarray([own])
        same(array, 2 * np.arange(10))
        array[3] = 100  # only a part: it stays where its memory is
        array[5:] += 1
        array.compute()
        expected = 2 * np.arange(10)
        expected[3] = 100
        expected[5:] += 1
        np.testing.assert_array_equal(own["buffer"], expected[places])


def tiles():
    """Every process gives what it has; what is wrong on one is an error on all."""
    own = np.arange(ME + 1.0) + 10 * ME
    whole = np.concatenate([np.arange(r + 1.0) + 10 * r for r in range(ALL)])
    for given in (own, [own], {ME: own}):
        array = pt.from_locals(given)
        same(array, whole)
        np.testing.assert_array_equal(array.section(ME).data, own)
    dist = pt.Distribution(ALL, pt.Mesh(ALL), [pt.Cyclic("x")])
    same(pt.from_locals([[ME]], dist), np.arange(ALL))
    copies = pt.Distribution(2, pt.Mesh(ALL), [pt.Whole()])
    same(pt.from_locals([5, 6], copies) if ALL == 1 else pt.from_locals(np.array([5, 6]), copies), [5, 6])
    wrong = [[np.arange(2)] * 2, np.zeros((2, 2)), np.zeros(1, "int8"), np.array("a"), {ALL: np.zeros(1)}]
    cases = [(lambda one=one: pt.from_locals(one if ME == 1 else own)) for one in wrong]
    for work in [*cases, lambda: pt.from_locals(np.full(2, ME), copies)] if ALL > 1 else []:
        try:
            work()
        except (ValueError, TypeError, RuntimeError) as error:
            assert "from_locals" in str(error), error
        else:
            raise AssertionError("it went well")


def other_numbers():
    """More sections than processes, fewer, and the same list everywhere."""
    whole = np.arange(24.0).reshape(12, 2)

    def one(rank, places):
        dim = block(rank, 12, places)
        return {"__version__": "0.10.0", "buffer": whole[dim["start"] : dim["stop"]].copy(), "dim_data": (dim, {})}

    same(pt.from_distarray([one(2 * ME + i, 2 * ALL) for i in range(2)]), whole)
    same(pt.from_distarray([one(i, ALL) for i in range(ALL)]), whole)
    same(pt.from_distarray([one(0, 1)] if ME == 0 else []), whole)
    same(pt.from_distarray(one(0, 1)), whole)
    parts = {
        (i, 0): {"start": (one(i, ALL)["dim_data"][0]["start"], 0), "shape": one(i, ALL)["buffer"].shape,
                 "location": [i], "data": one(i, ALL)["buffer"] if i == ME else None}
        for i in range(ALL)
    }  # fmt: skip
    given = {"shape": (12, 2), "partition_tiling": (ALL, 1), "partitions": parts, "locals": [(ME, 0)]}
    array = pt.from_partitioned(given)
    same(array, whole)
    parts[(ME, 0)]["data"][...] = 4
    same(array, np.full((12, 2), 4.0))
    said = array.__partitioned__
    assert said["locals"] == [(ME, 0)] and said["partitions"][((ME + 1) % ALL, 0)]["data"] is None or ALL == 1


def out():
    array = pt.zeros((9, 2), dist=0)
    theirs = np.asarray(array.sections[0])
    theirs[...] = ME
    total = float(array.sum())
    assert total == 2 * sum(rank * len(range(*_part(rank))) for rank in range(ALL))
    array[...] = 7
    array.compute()
    assert (theirs == 7).all()
    # Only one process looks: nobody waits for it.
    if ME == 0:
        np.asarray(array.sections[0])[...] = 8
    array[1:3] = 5
    same(array[1:3], np.full((2, 2), 5.0))
    dealt = pt.arange(10, dist="c")
    memory = np.asarray(dealt.sections[0])
    dealt[4] = 50
    dealt.compute()
    expected = np.arange(10)
    expected[4] = 50
    np.testing.assert_array_equal(memory, expected[ME::ALL])
    shared = np.arange(6)
    array = pt.from_dlpack(shared)
    shared[0] = 9
    array[1] = 8
    same(array, [9, 8, 2, 3, 4, 5])


def _part(rank):
    quotient, rest = divmod(9, ALL)
    first = rank * quotient + min(rank, rest)
    return first, first + quotient + (rank < rest)


def mistakes():
    """What is wrong on one process is an error on all of them, and the world goes on."""
    whole = np.arange(24.0).reshape(12, 2)
    fails_everywhere(lambda: pt.from_distarray(3 if ME == 1 else mine(whole)), TypeError, RuntimeError)
    fails_everywhere(lambda: pt.from_dlpack(3 if ME == 1 else np.zeros(2)), TypeError, RuntimeError)
    for spoil, words in (
        (lambda own: own["dim_data"][0].update(stop=own["dim_data"][0]["stop"] + 1), "EXTENT"),
        (lambda own: own["dim_data"][0].update(size=13), "AXIS_CONSTANT_DIFFERS"),
        (lambda own: own.update(buffer=own["buffer"].astype(np.float32)), "DTYPE"),
    ):
        own = mine(whole)
        if ME == 1:
            spoil(own)
        try:
            pt.from_distarray(own)
        except ValueError as error:
            assert words in str(error), error
        else:
            raise AssertionError("it went well")
    own = mine(whole)
    own["buffer"].flags.writeable = ME != 1
    array = pt.from_distarray(own)
    try:
        array[0] = 1
    except ValueError as error:
        assert "only lets it be read" in str(error)
    else:
        raise AssertionError("it was assigned to")
    same(array, whole)


if __name__ == "__main__":
    sections()
    tiles()
    other_numbers()
    out()
    mistakes()
    Path(sys.argv[1], f"done.{ME}").write_text("done")
