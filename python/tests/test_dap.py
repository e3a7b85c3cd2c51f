"""The Distributed Array Protocol: every vector, from Python."""

import base64
import io
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from conftest import HERE

import pantile as pt

DATA = json.loads(Path(__file__).with_name("data").joinpath("dap_vectors.json").read_text())


def cases(name):
    return pytest.mark.parametrize("case", DATA[name], ids=lambda case: case["id"])


def dims_of(dims, padding=tuple):
    """Dictionaries as Python has them."""
    found = []
    for dim in dims:
        dim = dict(dim)
        if isinstance(dim.get("padding"), list):
            dim["padding"] = padding(dim["padding"])
        if isinstance(dim.get("indices"), list):
            # Labels that are no whole numbers stay what they are: a buffer of floats.
            dim["indices"] = np.array(dim["indices"], None if dim["indices"] else np.int64)
        found.append(dim)
    return tuple(found)


def structure(dims, buffer, version="0.10.0"):
    return {"__version__": version, "buffer": buffer, "dim_data": dims_of(dims)}


def sections(vector, dtype=np.float64, order=None):
    """The structures of all ranks of a vector."""
    order = order or vector["order"]
    return [
        structure(one["dim_data"], np.array(one["local"], dtype, order=order).reshape(one["local_shape"], order=order))
        if 0 in one["local_shape"]
        else structure(one["dim_data"], np.array(one["local"], dtype, order=order))
        for one in vector["ranks"]
    ]


def owned(vector, rank):
    """The places of a rank's memory that it owns."""
    own = vector["ranks"][rank]
    places = []
    for dim, extent in zip(own["dim_data"], own["local_shape"]):
        left, right = dim.get("padding", (0, 0))
        first, last = (dim.get("proc_grid_rank", 0) == end for end in (0, dim.get("proc_grid_size", 1) - 1))
        places.append(slice(0 if first else left, extent - (0 if last else right)))
    if own["owned_local_ranges"] is not None:
        assert [[one.start, one.stop] for one in places] == own["owned_local_ranges"]
    return tuple(places)


def expected(vector, structures):
    """The whole array: brute force, element by element."""
    labels = [set() for _ in vector["global_shape"]]
    for rank in vector["ranks"]:
        for axis, indices in enumerate(rank["global_indices_per_dim"]):
            labels[axis].update(indices)
    lists = [sorted(one) for one in labels]
    whole = np.full([len(one) for one in lists], -1.0)
    for number, rank in reversed([*enumerate(vector["ranks"])]):
        memory = np.asarray(structures[number]["buffer"])
        places = np.zeros(memory.shape, bool)
        places[owned(vector, number)] = True
        for local in np.argwhere(places):
            at = [rank["global_indices_per_dim"][axis][i] for axis, i in enumerate(local)]
            index = tuple(one.index(g) for one, g in zip(lists, at))
            whole[index] = memory[tuple(local)]
    return whole


def codes(findings):
    assert all(isinstance(code, str) and words for code, words in findings)
    return sorted({code for code, _ in findings})


# ---- judging


@cases("vectors")
def test_vectors_are_valid(case):
    structures = sections(case)
    assert [pt.dap.validate(one) for one in structures] == [[]] * len(structures)
    assert pt.dap.validate_all(structures) == []
    for one, rank in zip(structures, case["ranks"]):
        counts = [
            pt.dap.num_owned(dim) if dim else extent
            for dim, extent in zip(one["dim_data"], one["buffer"].shape)
        ]
        assert counts == rank["num_owned_per_dim"]


@cases("num_owned_cases")
def test_owned_counts(case):
    (dim,) = dims_of([case["dim_dict"]])
    assert pt.dap.num_owned(dim) == case["expected"]
    assert pt.dap.num_owned(case["dim_dict"]) == case["expected"]  # lists will do
    numbers = {key: np.int64(one) if type(one) is int else one for key, one in dim.items()}
    assert pt.dap.num_owned(numbers) == case["expected"]


@cases("single_rank_validity_cases")
def test_one_structure(case):
    padding = {"tuple": tuple, "list": list}[case["padding_given_as"]]
    given = {
        "__version__": case["version"],
        "buffer": np.zeros(case["buffer_shape"]),
        "dim_data": dims_of(case["dim_data"], padding),
    }
    found = pt.dap.validate(given)
    assert codes(found) == sorted(case["strict_codes"])
    assert (found == []) == (case["strict"] == "accept")


@cases("cross_rank_cases")
def test_structures_together(case):
    given = [
        structure(dims, np.zeros(shape))
        for dims, shape in zip(case["dim_data_per_rank"], case["buffer_shapes"])
    ]
    assert codes(pt.dap.validate_all(given)) == sorted(case["codes"])
    if case["codes"]:
        with pytest.raises(ValueError, match=case["codes"][0]):
            pt.from_distarray(given)


def block(**more):
    known = {"dist_type": "b", "size": 10, "proc_grid_size": 2, "proc_grid_rank": 0, "start": 0, "stop": 5}
    return {**known, **more}


def test_what_is_no_structure_at_all():
    good = structure([block()], np.zeros(5))
    for wrong in (None, 3, [], "x", np.zeros(3)):
        assert codes(pt.dap.validate(wrong)) == ["TYPE"]
    assert codes(pt.dap.validate_all([good, 7])) == ["TYPE"]
    for wrong in (None, 3, good):
        assert codes(pt.dap.validate_all(wrong)) == ["TYPE"]
    for key in good:
        assert pt.dap.validate({k: v for k, v in good.items() if k != key}) != []
    assert pt.dap.validate({**good, "extra": 1}) != []
    assert pt.dap.validate({**good, "buffer": [0, 1, 2, 3, 4]}) != []
    assert pt.dap.validate({**good, "dim_data": [block()]}) != []
    assert pt.dap.validate({**good, "dim_data": (block(size=np.int64(10)),)}) != []
    assert pt.dap.validate({**good, "dim_data": (block(start=True),)}) != []
    assert pt.dap.validate({**good, "dim_data": (block(note="any"),)}) == []
    indexed = {"dist_type": "u", "size": 3, "proc_grid_size": 1, "proc_grid_rank": 0}
    for wrong in ([0, 1, 2], np.arange(3.0), np.zeros((3, 1), int), "012"):
        given = structure([], np.zeros(3)) | {"dim_data": ({**indexed, "indices": wrong},)}
        assert codes(pt.dap.validate(given)) == ["INDICES_TYPE"]
    given["dim_data"] = ({**indexed, "indices": np.array([2, 0, 1], np.uint32)},)
    assert pt.dap.validate(given) == []
    for wrong in (None, 3, {}, {"dist_type": "q"}, {"dist_type": "b"}):
        with pytest.raises((TypeError, ValueError)):
            pt.dap.num_owned(wrong)
    # Three bytes are three elements of one byte.
    assert pt.dap.validate(structure([{}], b"abc")) == []
    assert pt.dap.num_owned({**indexed, "indices": b"abc"}) == 3


# ---- arrays


def check_array(case, array, structures):
    whole = expected(case, structures)
    assert array.shape == whole.shape
    np.testing.assert_array_equal(np.asarray(array), whole)
    np.testing.assert_array_equal(np.asarray(array + 1), whole + 1)
    assert float(array.sum()) == whole.sum()


@cases("vectors")
@pytest.mark.parametrize("order", ["C", "F", "strided", "read-only"])
def test_arrays_of_sections(case, order):
    """However many ranks there are; and the sections come out again as they went in."""
    for ranks in {1, HERE, len(case["ranks"])}:
        pt.init(ranks=ranks)
        structures = sections(case, order="F" if order == "F" else "C")
        for one in structures:
            if order == "strided":
                room = np.full([2 * n + 1 for n in one["buffer"].shape], -7.0)
                part = room[tuple(slice(1, 2 * n, 2) for n in one["buffer"].shape) or ...]
                part[...] = one["buffer"]
                one["buffer"] = part
            if order == "read-only":
                one["buffer"].flags.writeable = False
        array = pt.from_distarray(structures)
        check_array(case, array, structures)
        assert len(array.sections) == max(len(structures), ranks) and pt.ranks() == ranks
        out = [array.section(rank).__distarray__() for rank in range(len(structures))]
        assert pt.dap.validate_all(out) == []
        for theirs, ours in zip(structures, out):
            assert np.shares_memory(theirs["buffer"], ours["buffer"]) or not theirs["buffer"].size
            assert theirs["buffer"].shape == ours["buffer"].shape
            assert theirs["buffer"].strides == ours["buffer"].strides
            for a, b in zip(theirs["dim_data"], ours["dim_data"]):
                check_dims(a, b)


def check_dims(theirs, ours):
    defaults = {"padding": (0, 0), "periodic": False, "block_size": 1, "one_to_one": False}
    for key, value in theirs.items():
        np.testing.assert_array_equal(ours.get(key, defaults.get(key)), value)
    assert all(type(one) in (int, str, bool, tuple, np.ndarray) for one in ours.values())


@cases("vectors")
def test_writes_are_seen_on_both_sides(case):
    for ranks in {1, HERE, len(case["ranks"])}:
        pt.init(ranks=ranks)
        structures = sections(case)
        array = pt.from_distarray(structures)
        twice = array * 2
        for one in structures:
            one["buffer"][...] += 100
        check_array(case, array, structures)
        # Recorded before, computed after.
        np.testing.assert_array_equal(np.asarray(twice), 2 * expected(case, structures))
        before = expected(case, structures)
        later = array - 1
        array[...] = array * 3
        array.compute()
        np.testing.assert_array_equal(expected(case, structures), before * 3)
        np.testing.assert_array_equal(np.asarray(later), before - 1)
        if array.ndim and array.size:
            array[array.ndim * (slice(0, 1),)] = -5
            array[(slice(0, 1),)] += 1
            before = np.asarray(array)
            np.testing.assert_array_equal(expected(case, structures), before)
        structures[0]["buffer"][...] = 9
        check_array(case, array, structures)


#: Cuts and width of each axis of arrays that are not among the vectors.
PADDED = {"G12": [([0, 4, 6, 9], 1), ([0, 6, 10], 2)], "G42": [([0, 1, 2, 3, 4, 5], 1)]}


def padded(cuts, width):
    """The dictionaries along an axis with so much padding between its parts."""
    places = len(cuts) - 1
    for at in range(places):
        left, right = (width if at else 0), (width if at < places - 1 else 0)
        yield {"dist_type": "b", "size": cuts[-1], "proc_grid_size": places, "proc_grid_rank": at,
               "start": cuts[at] - left, "stop": cuts[at + 1] + right, "padding": (left, right)}  # fmt: skip


@cases("halo_cases")
def test_exchange(case):
    vector = next((one for one in DATA["vectors"] if one["id"] == case["vector"]), None)
    if vector is None:
        dims = [*itertools.product(*(padded(*axis) for axis in PADDED[case["vector"]]))]
    else:
        dims = [one["dim_data"] for one in vector["ranks"]]
    for ranks in {1, HERE, len(dims)}:
        for order in "CF":
            pt.init(ranks=ranks)
            structures = [
                structure(own, np.array(before, float, order=order))
                for own, before in zip(dims, case["before_per_rank"], strict=True)
            ]
            array = pt.from_distarray(structures)
            assert array.exchange() is array
            for one, after in zip(structures, case["after_per_rank"]):
                np.testing.assert_array_equal(one["buffer"], after)
            array[...] = array + 1
            array.exchange()
            for one, after in zip(structures, case["after_per_rank"]):
                np.testing.assert_array_equal(one["buffer"], np.array(after) + 1)


@cases("upgrade_cases")
@pytest.mark.parametrize("version", ["0.9.0", "0.9.7", "1.0.0"])
def test_old_structures(case, version):
    def made(key, version):
        return [
            structure(dims, np.arange(np.prod(shape, dtype=int)).reshape(shape), version)
            for dims, shape in zip(case[key], case["buffer_shapes"])
        ]

    old, new = made("dim_data_per_rank_0_9", version), made("dim_data_per_rank_0_10", "0.10.0")
    assert "VERSION_OLD" in codes(pt.dap.validate(old[0])) or version == "1.0.0"
    assert pt.dap.validate_all(new) == []
    ours, theirs = pt.from_distarray(old), pt.from_distarray(new)
    np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))


@cases("redistribution_cases")
def test_redistribution(case):
    whole = np.arange(np.prod(case["global_shape"]), dtype=float).reshape(case["global_shape"])

    def made(side, fill):
        parts = []
        for dims in case[side]["dim_data_per_rank"]:
            lists = [indices(dim) for dim in dims]
            parts.append(structure(dims, np.array(whole[np.ix_(*lists)] if fill else whole[np.ix_(*lists)] * 0)))
        return parts

    pt.init(ranks=max(len(case[side]["dim_data_per_rank"]) for side in ("source", "dest")))
    source, dest = pt.from_distarray(made("source", True)), made("dest", False)
    moved = source.redistribute(pt.from_distarray(dest).dist)
    np.testing.assert_array_equal(np.asarray(moved), whole)
    target = pt.from_distarray(dest)
    target[...] = moved
    target.exchange()
    for one, local in zip(dest, case["dest"]["local_per_rank"]):
        np.testing.assert_array_equal(one["buffer"], np.array(local).reshape(one["buffer"].shape))


def indices(dim):
    """The global indices of a dimension: from the text of the protocol, one by one."""
    if dim["dist_type"] == "b":
        return list(range(dim["start"], dim["stop"]))
    if dim["dist_type"] == "u":
        return list(dim["indices"])
    block, places, rank = dim.get("block_size", 1), dim["proc_grid_size"], dim["proc_grid_rank"]
    return [g for g in range(dim["size"]) if g // block % places == rank]


@cases("slice_cases")
def test_sections_of_slices(case):
    pt.init(ranks=case["ranks"])
    array = pt.from_distarray([
        structure([{"dist_type": "b", "size": case["size"], "proc_grid_size": case["ranks"],
                    "proc_grid_rank": rank, "start": start, "stop": stop}], np.arange(start, stop))
        for rank, (start, stop) in enumerate(case["source_bounds"])
    ])  # fmt: skip
    view = array[slice(*case["slice"])]
    assert view.tolist() == case["selected_global"]
    out = [one.__distarray__() for one in view.sections]
    assert pt.dap.validate_all(out) == []
    assert [one["buffer"].size for one in out] == case["counts_all_ranks"]
    bounds = [[one["dim_data"][0]["start"], one["dim_data"][0]["stop"]] for one in out]
    assert [one for one in bounds if one[0] < one[1]] == case["new_bounds_kept"]
    out[0]["buffer"][...] = -1
    assert (np.asarray(view) == -1).sum() == case["counts_all_ranks"][0]
    assert (np.asarray(array) == -1).sum() == case["counts_all_ranks"][0]


@cases("flat_interval_cases")
def test_flat_intervals(case):
    shape, grid = case["global_shape"], case["grid_shape"]
    pt.init(ranks=int(np.prod(grid)))
    names = "xyz"[: len(grid)]
    spell = {"b": "block({}, ceil)", "c": "cyclic({}, 1)"}
    axes = ", ".join(spell[letter].format(name) for letter, name in zip(case["dist"], names))
    mesh = ", ".join(f"{name}={size}" for name, size in zip(names, grid))
    lengths = "x".join(map(str, shape))
    array = pt.zeros(shape, dist=pt.Distribution(f"{lengths} on {mesh}: {axes}"))
    array[...] = np.arange(np.prod(shape)).reshape(shape)
    for one, intervals in zip(array.sections, case["flat_intervals_per_rank"]):
        held = [i for low, high in intervals for i in range(low, high)]
        assert np.asarray(one).reshape(-1).tolist() == held


@cases("auto_grid_cases")
def test_automatic_grids(case):
    if 0 in case["shape"]:
        return
    pt.init(ranks=case["processes"])
    array = pt.zeros(case["shape"], dist=case["dist"])
    count = int(np.prod(case["grid"]))
    for rank, section in enumerate(array.sections[:count]):
        try:
            dims = section.__distarray__()["dim_data"]
        except BufferError:
            assert set(case["dist"]) == {"n"}
            continue
        assert [dim["proc_grid_size"] for dim in dims] == case["grid"], rank


# ---- files


@cases("dnpy_cases")
def test_files(case, tmp_path):
    content = base64.b64decode(case["base64"])
    found = pt.dap.read(io.BytesIO(content))
    values = np.array(case["values"], case["dtype"]).reshape(case["shape"])
    np.testing.assert_array_equal(found["buffer"], values)
    assert found["buffer"].dtype == values.dtype
    assert pt.dap.validate(found) == []
    assert found["dim_data"] == dims_of(case["dim_data"])
    pt.dap.write(tmp_path / "a.dnpy", structure(case["dim_data"], values))
    assert (tmp_path / "a.dnpy").read_bytes() == content
    pt.dap.write_dnpy(tmp_path / "b.dnpy", found)
    again = pt.dap.read_dnpy(str(tmp_path / "b.dnpy"))
    np.testing.assert_array_equal(again["buffer"], values)


def test_files_of_sections(tmp_path):
    pt.init(ranks=3)
    array = pt.from_distarray([
        structure([{"dist_type": "c", "size": 7, "proc_grid_size": 3, "proc_grid_rank": rank, "start": rank}],
                  np.arange(rank, 7, 3)) for rank in range(3)
    ])  # fmt: skip
    for section in array.sections:
        pt.dap.write(tmp_path / f"a_{section.rank}.dnpy", section)
    back = [pt.dap.read(tmp_path / f"a_{rank}.dnpy") for rank in range(3)]
    assert pt.from_distarray(back).tolist() == [0, 1, 2, 3, 4, 5, 6]
    order = {"dist_type": "u", "size": 2, "proc_grid_size": 1, "proc_grid_rank": 0, "indices": np.arange(2)}
    with pytest.raises(ValueError, match="no literal"):
        pt.dap.write(tmp_path / "u.dnpy", structure([order], np.zeros(2)))
    with pytest.raises(ValueError):
        pt.dap.read(io.BytesIO(b"no file at all"))
    whole = (tmp_path / "a_0.dnpy").read_bytes()
    with pytest.raises(ValueError, match="bytes of elements"):
        pt.dap.read(io.BytesIO(whole[:-1]))
    with pytest.raises(TypeError):
        pt.dap.write(tmp_path / "x.dnpy", 5)
