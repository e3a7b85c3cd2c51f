"""Random arrays of other libraries, in sections of every kind, against NumPy."""

import itertools

import numpy as np
import pytest
from conftest import HERE, seeds

import pantile as pt


class Line:
    """How one axis is dealt: for every place its dictionary, its global indices, what it owns."""

    def __init__(self, rng, size):
        self.size, self.places = size, int(rng.integers(1, 4))
        kind = rng.choice(["block", "cyclic", "labels"])
        self.dims, self.indices, self.owned = [], [], []
        getattr(self, kind)(rng)

    def add(self, place, globals_, owned, **more):
        known = {"size": self.size, "proc_grid_size": self.places, "proc_grid_rank": place}
        self.dims.append({**known, **more})
        self.indices.append(np.array(globals_, int))
        self.owned.append(owned)

    def block(self, rng):
        inner = rng.integers(0, self.size + 1, self.places - 1).tolist()
        cuts = sorted([0, self.size, *inner])
        own = np.diff(cuts).tolist()
        between = [int(rng.integers(0, min(a, b, 2) + 1)) for a, b in zip(own, own[1:])]
        ends = [int(rng.integers(0, 2)) if own[at] > 2 else 0 for at in (0, -1)]
        widths, more = [ends[0], *between, ends[1]], {"periodic": True} if rng.integers(4) == 0 else {}
        for at in range(self.places):
            left, right = (widths[at] if at else 0), (widths[at + 1] if at < self.places - 1 else 0)
            start, stop = cuts[at] - left, cuts[at + 1] + right
            self.add(at, range(start, stop), slice(left, left + own[at]), dist_type="b", start=start,
                     stop=stop, padding=(widths[at], widths[at + 1]), **more)  # fmt: skip

    def cyclic(self, rng):
        block = int(rng.integers(1, 4))
        for at in range(self.places):
            indices = [g for g in range(self.size) if g // block % self.places == at]
            self.add(at, indices, slice(None), dist_type="c", start=at * block, block_size=block)

    def labels(self, rng):
        order, who = rng.permutation(self.size), rng.integers(0, self.places, self.size)
        shift = int(rng.choice([0, -50, 100]))
        for at in range(self.places):
            mine = order[who[order] == at]
            self.add(at, mine, slice(None), dist_type="u", indices=mine + shift, one_to_one=True)

    def turn(self, whole, axis):
        """The outer padding of a periodic axis, cell by cell."""
        if not self.dims[0].get("periodic"):
            return
        left, right = self.dims[0]["padding"][0], self.dims[-1]["padding"][1]
        inside = self.size - left - right
        for g in (*range(left), *range(self.size - right, self.size)):
            if inside > 0:
                before = (slice(None),) * axis
                whole[(*before, g)] = whole[(*before, (g - left) % inside + left)]


class Case:
    """A random array, whole in NumPy and in sections of others."""

    def __init__(self, rng):
        self.shape = [int(rng.integers(rng.integers(2), 7)) for _ in range(rng.integers(1, 4))]
        self.lines = [Line(rng, size) for size in self.shape]
        dtype = rng.choice(["float64", "int32", "complex64", "uint8"])
        self.whole = rng.integers(0, 100, self.shape).astype(dtype)
        self.structures, self.parts = [], []
        for places in itertools.product(*(range(line.places) for line in self.lines)):
            at = [line.indices[place] for line, place in zip(self.lines, places)]
            owned = tuple(line.owned[place] for line, place in zip(self.lines, places))
            full = self.whole[np.ix_(*at)]
            memory = np.full(full.shape, 55, dtype, order=rng.choice(["C", "F"]))
            memory[owned] = full[owned]
            dims = tuple(line.dims[place] for line, place in zip(self.lines, places))
            self.structures.append({"__version__": "0.10.0", "buffer": memory, "dim_data": dims})
            self.parts.append((np.ix_(*at), owned, np.ix_(*(a[own] for a, own in zip(at, owned)))))

    def check(self, padding=False):
        """Others have what NumPy has."""
        for one, (at, owned, _) in zip(self.structures, self.parts):
            inside = ... if padding else owned
            np.testing.assert_array_equal(one["buffer"][inside], self.whole[at][inside])


def change(rng, case, array):
    """Somebody changes something."""
    whole, axis = case.whole, int(rng.integers(len(case.shape)))
    match rng.integers(5):
        case 0:
            array[...] = array + 1
            whole += 1
        case 1 if whole.size:
            key = (*(slice(None),) * axis, int(rng.integers(case.shape[axis])))
            array[key] = 9
            whole[key] = 9
        case 2:
            array.compute()
            at = int(rng.integers(len(case.parts)))
            case.structures[at]["buffer"][case.parts[at][1]] += 3
            whole[case.parts[at][2]] += 3
        case 3:
            ends = (sorted(rng.integers(0, size + 1, 2).tolist()) for size in case.shape)
            key = tuple(slice(*pair, int(rng.integers(1, 3))) for pair in ends)
            array[key] *= 2
            whole[key] *= 2
        case 4:
            before, expected = array + 0, whole.copy()
            array[...] = 1
            whole[...] = 1
            array.compute()
            np.testing.assert_array_equal(np.asarray(before), expected)


@pytest.mark.parametrize("seed", seeds(40))
def test_sections_of_every_kind(seed):
    rng = np.random.default_rng(seed)
    case = Case(rng)
    assert pt.dap.validate_all(case.structures) == []
    pt.init(ranks=int(rng.choice([HERE, 1, 2, len(case.structures)])))
    array = pt.from_distarray(case.structures)
    np.testing.assert_array_equal(np.asarray(array), case.whole)
    for _ in range(4):
        change(rng, case, array)
    np.testing.assert_array_equal(np.asarray(array), case.whole)
    case.check()
    array.exchange()
    for axis, line in enumerate(case.lines):
        line.turn(case.whole, axis)
    case.check(padding=True)
    if len(case.structures) <= pt.ranks():
        out = [one.__distarray__() for one in array.sections[: len(case.structures)]]
        assert pt.dap.validate_all(out) == []
        assert all(a["buffer"] is b["buffer"] for a, b in zip(out, case.structures))
    if not any(line.dims[0]["dist_type"] == "u" and line.places > 1 for line in case.lines):
        said = array.__partitioned__
        for position in said["locals"]:
            one = said["partitions"][position]
            box = tuple(slice(a, a + n) for a, n in zip(one["start"], one["shape"]))
            np.testing.assert_array_equal(one["data"], case.whole[box])
