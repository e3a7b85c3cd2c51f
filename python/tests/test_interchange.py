"""Memory that arrays share with other libraries: who sees what, and what copies."""

import ctypes

import numpy as np
import pytest
from conftest import HERE, TYPES, same, seeds

import pantile as pt


def whole(buffer):
    """A structure of one section that has everything."""
    return {"__version__": "0.10.0", "buffer": buffer, "dim_data": tuple({} for _ in memoryview(buffer).shape)}


def rows(array, parts, width=0):
    """An array cut along its first axis by hand, each part with so much padding."""
    cuts = np.linspace(0, len(array), parts + 1).astype(int)
    found = []
    for rank in range(parts):
        left, right = (width if rank else 0), (width if rank < parts - 1 else 0)
        start, stop = int(cuts[rank]) - left, int(cuts[rank + 1]) + right
        dim = {"dist_type": "b", "size": len(array), "proc_grid_size": parts, "proc_grid_rank": rank,
               "start": start, "stop": stop, "padding": (left, right)}  # fmt: skip
        structure = whole(array[start:stop].copy())
        structure["dim_data"] = (dim, *structure["dim_data"][1:])
        found.append(structure)
    return found


def address(array):
    return array.__array_interface__["data"][0]


class Consumer:
    """Somebody else's library: holds one section, and knows nothing of ours."""

    def __init__(self, producer):
        structure = producer.__distarray__()
        assert set(structure) == {"__version__", "buffer", "dim_data"}
        assert structure["__version__"] == "0.10.0" and type(structure["dim_data"]) is tuple
        self.dims, self.memory = structure["dim_data"], np.asarray(memoryview(structure["buffer"]))

    def globals(self, axis):
        dim = self.dims[axis]
        if dim["dist_type"] == "b":
            return np.arange(dim["start"], dim["stop"])
        block, places = dim.get("block_size", 1), dim["proc_grid_size"]
        return np.array([g for g in range(dim["size"]) if g // block % places == dim["proc_grid_rank"]], int)


# ---- out


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("dist", [0, 1, "bb", "cc", "bc", "cb"])
def test_sections_go_out_and_come_back(dtype, dist):
    array = pt.zeros((7, 5), dtype=dtype, dist=dist)
    for section in array.sections:
        if section.data.size == 0 and dist not in (0, 1):
            continue  # letters leave ranks out
        theirs = Consumer(section)
        where = np.add.outer(3 * theirs.globals(0), theirs.globals(1))
        assert theirs.memory.dtype == dtype and theirs.memory.flags.writeable
        theirs.memory[...] = where.astype(dtype)
    expected = np.add.outer(3 * np.arange(7), np.arange(5)).astype(dtype)
    same(array, expected)
    cut = [one for one in array.sections if one.data.size or dist in (0, 1)]
    again = pt.from_distarray(cut)
    same(again, expected)
    same(again + again, expected + expected)


def test_writes_go_both_ways_and_the_memory_stays_where_it_is():
    array = pt.zeros((6, 3), dist=0)
    theirs = np.asarray(array.sections[0])
    where = address(theirs)
    for number in range(3):
        theirs[...] = number
        assert float(array[0, 0]) == number
        array[...] = array + 10
        array.compute()
        assert (theirs == number + 10).all()
        array[0] = 5.0
        array[:, 1:] *= 2
        array.compute()
        assert theirs[0].tolist() == [5, 10, 10]
        assert address(np.asarray(array.sections[0])) == where


def test_versions_that_lie_in_memory_in_another_way():
    """Steps in time leave arrays with room for halos; the memory that others know has none."""
    array, expected = pt.zeros((24, 5), dist=0), np.zeros((24, 5))
    memory = [np.asarray(one) for one in array.sections]
    for step in range(4):
        for one in (array, expected):
            one[3] = step
            one[1:-1] += 0.25 * (one[:-2] + one[2:])
        array.compute()
        np.testing.assert_array_equal(np.concatenate(memory), expected)
        again = [np.asarray(one) for one in array.sections]
        assert [address(one) for one in again if one.size] == [address(one) for one in memory if one.size]
        for one in again:
            one += 1
        expected += 1
        same(array, expected)


def test_opening_copies_only_what_others_share():
    array = (pt.arange(40, dist=0) + 1).compute()
    alone = address(array.sections[0].data)
    assert address(np.asarray(array.sections[0])) == alone
    array = (pt.arange(40, dist=0) + 1).compute()
    waiting, before = array * 2, address(array.sections[0].data)
    theirs = np.asarray(array.sections[0])
    assert address(theirs) != before
    theirs[...] = -1
    # What was written down before keeps its elements.
    same(waiting, 2 * (np.arange(40) + 1))
    twin = array.copy().compute()
    theirs[...] = -2
    assert int(twin[0]) == -1 and int(array[0]) == -2
    other = pt.zeros(40, dtype=int, dist=0)
    other[...] = array
    other.compute()
    theirs[...] = -3
    assert int(other[0]) == -2 and int(array[0]) == -3


def test_old_versions_keep_their_elements():
    array = pt.zeros(12, dist=0)
    theirs = [np.asarray(one) for one in array.sections]
    for one in theirs:
        one[...] = 1
    first = array + 0
    array[...] = 2
    second = array + 0
    array[::2] = 3
    array.compute()
    same(first, np.ones(12))
    same(second, np.full(12, 2.0))
    assert np.concatenate(theirs).tolist() == [3, 2] * 6


def test_views_of_open_arrays():
    array = pt.zeros((6, 4), dist=0)
    turned, flat, part = array.T, array.reshape((24,)), array[1:5, ::2]
    memory = [np.asarray(one) for one in array.sections]
    for view in (turned, flat, part):
        view.compute()
    for one in memory:
        one[...] = 4
    for view in (turned, flat, part):
        assert (np.asarray(view) == 4).all()
    turned[0] = 5
    part[...] = 6
    array.compute()
    assert (np.concatenate(memory)[1:5, ::2] == 6).all() and np.concatenate(memory)[0, 0] == 5


def test_sections_of_views_share_the_memory():
    expected = np.arange(48.0).reshape(8, 6)
    array = pt.zeros((8, 6), dist=0)
    array[...] = expected
    base = [np.asarray(one) for one in array.sections]
    for key in ((slice(1, None, 3), slice(None, None, -2)), (slice(2, 7),), (slice(None), 3), (slice(0, 0),)):
        view = array[key]
        out = [one.__distarray__() for one in view.sections]
        assert pt.dap.validate_all(out) == []
        joined = np.concatenate([one["buffer"] for one in out])
        np.testing.assert_array_equal(joined, expected[key])
        for one, memory in zip(out, base):
            assert not one["buffer"].size or np.shares_memory(one["buffer"], memory)
            one["buffer"][...] += 1
        expected[key] += 1
        same(array, expected)
    out = [one.__distarray__() for one in array.T.sections]
    assert pt.dap.validate_all(out) == []
    np.testing.assert_array_equal(np.concatenate([one["buffer"] for one in out], axis=1), expected.T)
    assert all(np.shares_memory(one["buffer"], memory) or not memory.size for one, memory in zip(out, base))


def test_views_that_live_elsewhere_are_shown_as_they_are():
    pt.init(ranks=2)
    array = pt.arange(9, dist="c")
    for view, expected in ((array[::-1], np.arange(9)[::-1]), (array[1:6], np.arange(1, 6)),
                           (array.reshape((3, 3)), np.arange(9).reshape(3, 3))):  # fmt: skip
        found = np.zeros(view.shape, int) - 1
        for one in view.sections:
            found[np.ix_(*(np.arange(n)[i] for n, i in zip(view.shape, one.index)))] = np.asarray(one)
        np.testing.assert_array_equal(found, expected)


def test_copies_have_no_words_in_the_protocol():
    pt.init(ranks=4)
    array = pt.arange(6, dist="x=2, y=2: block(x)")
    with pytest.raises(BufferError) as caught:
        array.sections[0].__distarray__()
    assert str(caught.value) == (
        "the protocol cannot say that ranks have copies, as they do along the mesh axis `y`; "
        "redistribute(0) cuts an array"
    )


def test_lists_in_any_order_go_out():
    """Labels come in the order of the memory, whatever that is."""
    pt.init(ranks=3)
    lists = [[4, 0], [1, 3, 2], [6, 5]]
    for team in (None, [2, 0, 1]):
        dist = pt.Distribution((7, 2), pt.Mesh(3, team=team), [pt.Indexed("x", lists), None])
        array = pt.zeros((7, 2), dist=dist)
        for section in array.sections:
            theirs, own = np.asarray(section), lists[dist.mesh.coordinates(section.rank)[0]]
            theirs[...] = np.array(own)[:, None]
            assert section.data.tolist() == theirs.tolist()
        expected = np.repeat(np.arange(7.0)[:, None], 2, axis=1)
        same(array, expected)
        array[4] = 40
        array.compute()
        expected[4] = 40
        same(array, expected)
        if team:
            with pytest.raises(BufferError, match="RANK_ORDER"):
                array.sections[0].__distarray__()
            continue
        out = [one.__distarray__() for one in array.sections]
        assert pt.dap.validate_all(out) == []
        for one, own in zip(out, lists):
            assert one["dim_data"][0]["indices"].tolist() == own
            np.testing.assert_array_equal(one["buffer"], expected[own])
            one["buffer"][...] += 1
        same(array, expected + 1)
        same(pt.from_distarray(array.sections), expected + 1)


@pytest.mark.parametrize("width", [1, 2, (0, 0), [1, (0, 0)], [(2, 2), 0]], ids=str)
def test_halos_go_out_as_padding(width):
    pt.init(ranks=4)
    given = np.arange(60.0).reshape(12, 5)
    for dist in (0, "bb"):
        wide = pt.asarray(given, dist=dist).with_halo(width)
        out = [one.__distarray__() for one in wide.sections]
        assert pt.dap.validate_all(out) == []
        for one, section in zip(out, wide.sections):
            assert one["buffer"].tolist() == section.data.tolist() and not one["buffer"].flags.writeable
            box = tuple(slice(dim["start"], dim["stop"]) for dim in one["dim_data"])
            np.testing.assert_array_equal(one["buffer"], given[box])
        same(pt.from_distarray(wide.sections), given)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("periodic", [True, [True, False], [False, True]], ids=str)
def test_periodic_halos_go_out_as_outer_padding(ranks, periodic):
    """The protocol counts the outer padding of a ring in its size."""
    pt.init(ranks=ranks)
    given = np.arange(66.0).reshape(11, 6)
    for dist, width in ((0, 1), (0, [(2, 2), (1, 1)]), ("bb", 1), (1, [(2, 2), (1, 1)])):
        wide = pt.asarray(given, dist=dist).with_halo(width, periodic=periodic)
        out = [one.__distarray__() for one in wide.sections]
        assert pt.dap.validate_all(out) == []
        widths = width if isinstance(width, list) else [(width, width)] * 2
        flags = periodic if isinstance(periodic, list) else [periodic, periodic]
        around = np.pad(given, [w if flag else (0, 0) for w, flag in zip(widths, flags)], mode="wrap")
        for one, section in zip(out, wide.sections):
            dims = one["dim_data"]
            assert [dim.get("periodic", False) for dim in dims] == flags
            assert tuple(dim["size"] for dim in dims) == around.shape
            box = tuple(slice(dim["start"], dim["stop"]) for dim in dims)
            np.testing.assert_array_equal(one["buffer"], around[box])
            assert one["buffer"].tolist() == section.data.tolist()
        # A reader has the ring with its outer padding, and fills that again.
        back = pt.from_distarray(wide.sections)
        same(back, around)


def test_halos_that_the_protocol_cannot_say_stay_here():
    """Widths that differ on the two sides of a cut, and halos wider than a neighbour."""
    pt.init(ranks=3)
    array = pt.arange(7.0, dist=0)
    ring = array.with_halo((1, 0), periodic=True)
    for wide in (array.with_halo((1, 0)), ring, array.with_halo(3), array.with_halo(3, periodic=True)):
        out = [one.__distarray__() for one in wide.sections]
        assert pt.dap.validate_all(out) == []
        assert np.concatenate([one["buffer"] for one in out]).tolist() == list(range(7))


@pytest.mark.parametrize("version", ["0.10.0", "0.10.7", "0.11.0", "0.12.3"])
def test_newer_minor_versions_are_read(version):
    pt.init(ranks=2)
    out = [{**one.__distarray__(), "__version__": version} for one in pt.arange(7.0, dist=0).sections]
    assert pt.dap.validate_all(out) == []


def test_copies_are_only_to_be_read():
    pt.init(ranks=3)
    array = pt.arange(5, dist=None)
    for section in array.sections:
        assert np.asarray(section).tolist() == [0, 1, 2, 3, 4]
        assert not np.asarray(section).flags.writeable
        with pytest.raises(BufferError, match="copies"):
            section.__distarray__()
    with pytest.raises(BufferError, match="3 ranks"):
        array.__distarray__()


def test_the_array_itself_where_there_is_one_rank():
    pt.init(ranks=1)
    array = pt.arange(4.0)
    array.__distarray__()["buffer"][0] = 9
    assert array.tolist() == [9, 1, 2, 3]
    one = pt.asarray(3.5)
    structure = one.__distarray__()
    assert structure["dim_data"] == () and pt.dap.validate(structure) == []
    structure["buffer"][...] = 4
    assert float(one) == 4


def test_every_way_to_look():
    array = pt.arange(12.0, dist=0)
    array[...] = array.reshape((12,)) + 1
    section = array.sections[0]
    expected = np.arange(12.0)[section.index[0]] + 1
    assert memoryview(section).tolist() == expected.tolist()
    assert memoryview(section).format == "d" and not memoryview(section).readonly
    assert np.frombuffer(section).tolist() == expected.tolist()
    interface = section.__array_interface__
    assert interface["typestr"] == "<f8" and interface["shape"] == expected.shape
    ctypes.c_double.from_address(interface["data"][0]).value = -3.5
    assert float(array[0]) == -3.5
    # A part of it is a plain array, without a word of distributions.
    part = np.asarray(section)[:1]
    assert not hasattr(part, "__distarray__") and type(part) is np.ndarray
    assert section.__dlpack_device__() == (1, 0)


# ---- in


@pytest.mark.parametrize("dtype", TYPES)
def test_one_section_of_every_type(dtype):
    given = np.arange(12).reshape(3, 4).astype(dtype)
    for memory in (given, np.asfortranarray(given), given[::-1, ::2], given[:0]):
        array = pt.from_distarray(whole(memory))
        same(array, memory)
        memory[...] = np.ones_like(memory)
        same(array, memory)
        array[...] = 0
        array.compute()
        assert not memory.any()


def test_memory_in_a_row_is_not_copied():
    parts = rows(np.arange(24.0).reshape(12, 2), HERE, width=1)
    given = [one["buffer"] for one in parts]
    array = pt.from_distarray(parts)
    for memory, section in zip(given, array.sections):
        low, high = address(memory), address(memory) + memory.nbytes
        assert low <= address(section.data) < high, "the section is the memory itself"
        assert np.asarray(section) is memory or np.shares_memory(np.asarray(section), memory)
    # A program reads it where it is: nothing is copied, nothing moves.
    with pt.comm_stats() as stats:
        (array * 2).compute()
    assert stats.bytes == 0


def test_sections_of_what_came_in_are_what_they_own():
    whole_rows = np.arange(20.0).reshape(10, 2)
    pt.init(ranks=2)
    parts = rows(whole_rows, 2, width=2)
    array = pt.from_distarray(parts)
    for section, one in zip(array.sections, parts):
        assert section.__distarray__()["buffer"].shape == one["buffer"].shape == (7, 2)
        for look in (np.asarray(section), section.data, np.from_dlpack(section), memoryview(section)):
            np.testing.assert_array_equal(np.asarray(look), whole_rows[section.index[0]])
            assert np.shares_memory(np.asarray(look), one["buffer"])
    labels = {"dist_type": "u", "size": 3, "proc_grid_size": 1, "proc_grid_rank": 0, "indices": np.array([2, 0, 1])}
    memory = np.array([12, 10, 11])
    section = pt.from_distarray({**whole(memory), "dim_data": (labels,)}).sections[0]
    assert section.__distarray__()["buffer"] is memory
    assert np.asarray(section).tolist() == section.data.tolist() == [10, 11, 12], "in the order of indices"


def test_misaligned_and_foreign_bytes():
    room = np.zeros(8 * 5 + 1, np.uint8)
    odd = room[1:].view(np.float64)
    array = pt.from_distarray(whole(odd))
    odd[...] = 3
    array[0] = 1
    assert array.tolist() == [1, 3, 3, 3, 3] == odd.tolist()
    swapped = np.arange(3.0).astype(np.dtype(float).newbyteorder())
    with pytest.raises(TypeError, match="order of other machines"):
        pt.from_distarray(whole(swapped))
    for wrong in (np.zeros(2, np.float16), np.array([None]), np.array(["x"])):
        with pytest.raises((TypeError, ValueError)):
            pt.from_distarray(whole(wrong))
    with pytest.raises(ValueError, match="truth values"):
        pt.from_distarray(whole(np.array([0, 2], np.uint8).view(bool)))


def test_what_can_only_be_read():
    memory = np.arange(6.0)
    memory.flags.writeable = False
    for given in (memory, bytes(5), memory.reshape(2, 3).T):
        array = pt.from_distarray(whole(given))
        expected = np.asarray(given if isinstance(given, np.ndarray) else memoryview(given))
        same(array, expected)
        for assign in (lambda: array.__setitem__(0, 1), lambda: array.__iadd__(1),
                       lambda: array[1:].__setitem__(..., 2)):  # fmt: skip
            with pytest.raises(ValueError, match="only lets it be read"):
                assign()
        same(array, expected)
        free = array.copy()
        free[0] = 1
        assert int(free.reshape((-1,))[0]) == 1
        assert not np.asarray(array.sections[0]).flags.writeable
    padded = rows(np.arange(10), 2, width=1)
    padded[1]["buffer"].flags.writeable = False
    array = pt.from_distarray(padded)
    same(array[2:] - array[:-2], np.full(8, 2))
    with pytest.raises(ValueError, match="only be read"):
        array.exchange()


def test_bent_structures_are_straightened():
    dim = {"dist_type": "b", "size": np.int64(4), "proc_grid_size": 1, "proc_grid_rank": np.uint8(0),
           "start": 0, "stop": 4, "padding": [0, 0]}  # fmt: skip
    memory = np.arange(4)
    for dims in ((dim,), [dim], dim, ({},), ({**dim, "padding": np.array([0, 0])},),
                 ({k: v for k, v in dim.items() if k != "size"},), ({**dim, "size": 77},)):  # fmt: skip
        assert pt.from_distarray({"__version__": "0.10.0", "buffer": memory, "dim_data": dims}).tolist() == [0, 1, 2, 3]
    old = {"__version__": "0.9.0", "buffer": memory, "dim_data": ({"dist_type": "n", "size": 4},)}
    assert pt.from_distarray(old).tolist() == [0, 1, 2, 3]
    labels = {"dist_type": "u", "size": 4, "proc_grid_size": 1, "proc_grid_rank": 0, "indices": [2, 0, 3, 1]}
    array = pt.from_distarray({**whole(memory), "dim_data": (labels,)})
    assert array.tolist() == [1, 3, 0, 2]
    array[0] = 50
    array.compute()
    assert memory.tolist() == [0, 50, 2, 3]


def test_overlapping_labels():
    """The first section that has an element owns it; all that have it are written."""
    def one(rank, indices):
        return {"dist_type": "u", "size": 4, "proc_grid_size": 2, "proc_grid_rank": rank, "indices": np.array(indices)}

    first, second = np.array([10, 11, 12]), np.array([99, 13, 98])
    parts = [{**whole(first), "dim_data": (one(0, [0, 1, 2]),)}, {**whole(second), "dim_data": (one(1, [2, 3, 0]),)}]
    array = pt.from_distarray(parts)
    assert array.tolist() == [10, 11, 12, 13]
    array[...] = array + 1
    array.compute()
    assert first.tolist() == [11, 12, 13] and second.tolist() == [13, 14, 11]
    gap = [{**whole(first), "dim_data": (one(0, [0, 1, 2]),)}, {**whole(first[:1]), "dim_data": (one(1, [1]),)}]
    with pytest.raises(ValueError, match="no section has the element 3"):
        pt.from_distarray(gap)


@pytest.mark.parametrize("wrong", [None, 3, "x", [3], [], {}, [{}], np.zeros(3), {"buffer": np.zeros(3)}], ids=str)
def test_what_is_no_section(wrong):
    with pytest.raises((TypeError, ValueError)):
        pt.from_distarray(wrong)


def test_sections_that_do_not_fit():
    parts = rows(np.arange(10.0), 2)
    with pytest.raises(ValueError, match="GRID_PRODUCT"):
        pt.from_distarray(parts[:1])
    with pytest.raises(ValueError, match="RANK_ORDER"):
        pt.from_distarray(parts[::-1])
    parts[1]["buffer"] = parts[1]["buffer"].astype(np.float32)
    with pytest.raises(ValueError, match="DTYPE"):
        pt.from_distarray(parts)


def test_random_arrays_stay_what_numpy_says():
    """Writes of theirs and of ours in any order, on any number of ranks and sections."""
    for seed in seeds(60):
        rng = np.random.default_rng([1, seed])
        pt.init(ranks=int(rng.integers(1, 6)))
        shape = (int(rng.integers(1, 12)), int(rng.integers(1, 5)))
        oracle = rng.integers(0, 100, shape)
        parts = rows(oracle, int(rng.integers(1, min(5, len(oracle)) + 1)))
        if rng.integers(2):
            for one in parts:
                one["buffer"] = np.asfortranarray(one["buffer"])
        array = pt.from_distarray(parts)
        views = [(array, oracle), (array.T, oracle.T), (array[::2], oracle[::2]), (array[:, ::-1], oracle[:, ::-1])]
        for _ in range(12):
            ours, theirs = views[rng.integers(len(views))]
            match rng.integers(6):
                case 0:  # they write
                    array.compute()
                    at = int(rng.integers(len(parts)))
                    dim, memory = parts[at]["dim_data"][0], parts[at]["buffer"]
                    memory += 1
                    oracle[dim["start"] : dim["stop"]] += 1
                case 1:
                    ours[...] = ours * 2 - 1
                    theirs[...] = theirs * 2 - 1
                case 2 if theirs.size:
                    ours[0] = 7
                    theirs[0] = 7
                case 3:
                    np.testing.assert_array_equal(np.asarray(ours), theirs)
                case 4:
                    kept, expected = ours + 1, theirs + 1
                    ours[...] = 3
                    theirs[...] = 3
                    array.compute()
                    np.testing.assert_array_equal(np.asarray(kept), expected)
                case 5:
                    array.compute()
                    joined = np.concatenate([one["buffer"] for one in parts])
                    np.testing.assert_array_equal(joined, oracle)


def test_exchange_of_random_halos():
    for seed in seeds(30):
        rng = np.random.default_rng([2, seed])
        pt.init(ranks=int(rng.integers(1, 5)))
        oracle = rng.random((int(rng.integers(4, 20)), 3))
        parts = rows(oracle, int(rng.integers(1, 3)), width=int(rng.integers(0, 3)))
        array = pt.from_distarray(parts)
        array[...] = array * 2
        oracle *= 2
        array.exchange()
        for one in parts:
            dim = one["dim_data"][0]
            np.testing.assert_array_equal(one["buffer"], oracle[dim["start"] : dim["stop"]])
        # A stencil reads neighbours; the padding is the room that it needs.
        same(array[2:] + array[:-2], oracle[2:] + oracle[:-2])


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("parts", [1, 2, 5])
def test_tiles_with_halos_of_what_came_in(order, parts):
    """Memory in another order, or in more sections than ranks, is looked at anew every time."""
    pt.init(ranks=3)
    oracle = np.arange(30.0).reshape(10, 3)
    given = rows(oracle, parts, width=1)
    for one in given:
        one["buffer"] = np.array(one["buffer"], order=order)
    array = pt.from_distarray(given)
    for _ in range(2):
        for one in given:
            one["buffer"] += 1
        oracle += 1
        for section in array.with_halo([1, 0]).sections:
            if section.data.size:
                np.testing.assert_array_equal(section.data, oracle[section.index[0]])
        summed = pt.map_overlap(lambda t: t[:-2] + t[2:], array, {0: 1}, {0: "periodic"})
        same(summed, np.roll(oracle, 1, 0) + np.roll(oracle, -1, 0))


def test_only_neighbours_talk_in_an_exchange():
    pt.init(ranks=4)
    oracle = np.random.default_rng(3).random((40, 3))
    for order in "CF":
        parts = rows(oracle, 4, width=2)
        for one in parts:
            one["buffer"] = np.array(one["buffer"], order=order)
        array = pt.from_distarray(parts)
        array[...] = array + 1
        array.compute()
        with pt.comm_stats() as stats:
            array.exchange()
        assert stats.bytes == 8 * 3 * 2 * 6, "two rows each way across three cuts"
        for one in parts:
            dim = one["dim_data"][0]
            np.testing.assert_array_equal(one["buffer"], oracle[dim["start"] : dim["stop"]] + 1)
