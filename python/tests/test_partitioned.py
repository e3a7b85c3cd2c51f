"""`__partitioned__`: what we say, and what others say."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from conftest import same

import pantile as pt

DATA = json.loads(Path(__file__).with_name("data").joinpath("dap_vectors.json").read_text())


def gathered(said):
    """What a consumer makes of the dictionary, by the words of the draft."""
    assert set(said) == {"shape", "partition_tiling", "partitions", "get", "locals"}
    assert type(said["shape"]) is tuple and len(said["partition_tiling"]) == len(said["shape"])
    positions = [*np.ndindex(*said["partition_tiling"])]
    assert sorted(said["partitions"]) == positions, "every position is there"
    handles = [said["partitions"][one]["data"] for one in said["locals"]]
    dtype = said["get"](handles)[0].dtype if handles else float
    whole = np.full(said["shape"], 77).astype(dtype)
    for position, data in zip(said["locals"], said["get"](handles)):
        one = said["partitions"][position]
        assert data.shape == one["shape"] and len(one["location"]) > 0
        assert said["get"](one["data"]) is one["data"]
        box = tuple(slice(a, a + n) for a, n in zip(one["start"], one["shape"]))
        whole[box] = data
    return whole


@pytest.mark.parametrize("dist", ["auto", 0, 1, None, "bb", "cn", "nc", "cc", "bc"], ids=str)
def test_arrays_say_their_partitions(dist):
    expected = np.arange(35.0).reshape(7, 5)
    array = pt.zeros((7, 5), dist=dist)
    array[...] = expected
    said = array.__partitioned__
    np.testing.assert_array_equal(gathered(said), expected)
    back = pickle.loads(pickle.dumps(said))
    np.testing.assert_array_equal(gathered(back), expected)
    for position in said["locals"]:
        data = said["partitions"][position]["data"]
        if data.flags.writeable and data.size:
            data += 1
            expected[tuple(slice(a, a + n) for a, n in zip(said["partitions"][position]["start"], data.shape))] += 1
    same(array, expected)
    same(pt.from_partitioned(array), expected)


@pytest.mark.parametrize("case", DATA["partitioned_cases"], ids=lambda case: case["id"])
def test_vectors(case):
    parts = {}
    whole = np.arange(np.prod(case["shape"]), dtype=float).reshape(case["shape"])
    for key, one in case["partitions"].items():
        box = tuple(slice(a, a + n) for a, n in zip(one["start"], one["shape"]))
        position = tuple(int(at) for at in key.split(",") if at)
        parts[position] = {
            "start": tuple(one["start"]), "shape": tuple(one["shape"]),
            "location": one["location"], "data": whole[box].copy(),
        }  # fmt: skip
    given = {"shape": tuple(case["shape"]), "partition_tiling": tuple(case["partition_tiling"]), "partitions": parts}
    same(pt.from_partitioned(given), whole)
    vector = next((one for one in DATA["vectors"] if one["id"] == case.get("vector")), None)
    if vector is None:
        return
    pt.init(ranks=len(vector["ranks"]))
    from test_dap import sections

    said = pt.from_distarray(sections(vector)).__partitioned__
    assert said["shape"] == given["shape"] and said["partition_tiling"] == given["partition_tiling"]
    for position, one in parts.items():
        ours = said["partitions"][position]
        assert {key: ours[key] for key in ("start", "shape", "location")} == {
            key: one[key] for key in ("start", "shape", "location")
        }
        np.testing.assert_array_equal(ours["data"], one["data"])
    for rank, local in enumerate(case["locals_per_rank"]):
        found = [list(at) for at in said["locals"] if said["partitions"][at]["location"] == [rank]]
        assert found == local


class Frames:
    """A producer as the draft's example has it: handles, and a function that gets data."""

    def __init__(self, whole, cuts):
        self.store = [whole[a:b] for a, b in zip(cuts, cuts[1:])]
        self.cuts, self.shape = cuts, whole.shape

    @property
    def __partitioned__(self):
        rest = self.shape[1:]
        return {
            "shape": self.shape,
            "partition_tiling": (len(self.store), *(1 for _ in rest)),
            "partitions": {
                (i, *(0 for _ in rest)): {
                    "start": (self.cuts[i], *(0 for _ in rest)),
                    "shape": one.shape,
                    "data": f"handle {i}",
                    "location": [("10.0.0.1", 17)],
                }
                for i, one in enumerate(self.store)
            },
            "get": self.get,
        }

    def get(self, handles):
        if isinstance(handles, str):
            return self.store[int(handles.split()[1])]
        return [self.get(one) for one in handles]


def test_a_producer_with_handles():
    whole = np.arange(30.0).reshape(10, 3)
    theirs = Frames(whole, [0, 1, 6, 10])
    array = pt.from_partitioned(theirs)
    same(array, whole)
    whole[4] = -1
    same(array, whole)
    array[5:7] = 8
    array.compute()
    assert (whole[5:7] == 8).all()


def test_mistakes():
    whole = np.arange(6.0)
    good = Frames(whole, [0, 2, 6]).__partitioned__
    for wrong in (None, 3, {}, np.zeros(3)):
        with pytest.raises((TypeError, ValueError)):
            pt.from_partitioned(wrong)
    for key in ("shape", "partition_tiling", "partitions"):
        with pytest.raises(ValueError, match=key):
            pt.from_partitioned({k: v for k, v in good.items() if k != key})
    one, two = good["partitions"].values()
    for parts, words in (
        ({(0,): one}, "PARTITION_MISSING"),
        ({(0,): one, (1,): {**two, "start": (3,)}}, "PARTITION_CUTS"),
        ({(0,): one, (1,): {**two, "data": None}}, "no data"),
        ({(0,): one, (1,): {**two, "shape": (4,), "data": "handle 0"}}, "has shape"),
        ({(0,): one, (1,): {k: v for k, v in two.items() if k != "start"}}, "start"),
    ):
        get = lambda handle: None if handle is None else good["get"](handle)  # noqa: E731
        with pytest.raises(ValueError, match=words):
            pt.from_partitioned({**good, "partitions": parts, "get": get})
    labels = {"dist_type": "u", "size": 2, "proc_grid_size": 1, "proc_grid_rank": 0, "indices": np.arange(2)}
    structure = {"__version__": "0.10.0", "buffer": np.zeros(2), "dim_data": (labels,)}
    assert gathered(pt.from_distarray(structure).__partitioned__).tolist() == [0, 0]


def test_halos_are_not_part_of_partitions():
    pt.init(ranks=3)
    given = np.arange(20.0).reshape(10, 2)
    for periodic in (False, True):
        wide = pt.asarray(given, dist=0).with_halo([2, 1], periodic=periodic)
        np.testing.assert_array_equal(gathered(wide.__partitioned__), given)
        same(pt.from_partitioned(wide), given)


@pytest.mark.parametrize("key, value", [
    ("partitions", [1, 2]), ("partitions", {0: 1}), ("partitions", {(0,): "x", (1,): "y"}), ("shape", None),
    ("shape", 6), ("shape", ("a",)), ("partition_tiling", 2), ("locals", [(7,)]), ("locals", 3), ("get", 5),
], ids=str)  # fmt: skip
def test_what_is_no_dictionary_of_partitions(key, value):
    good = Frames(np.arange(6.0), [0, 2, 6]).__partitioned__
    with pytest.raises((TypeError, ValueError), match=f"`{key}`|{key}|partition at"):
        pt.from_partitioned({**good, key: value})
