"""An array and another library that work on the same memory.

The other library knows the Distributed Array Protocol and nothing of Pantile. It makes sections with
padding between them; Pantile computes with them, fills the padding, and hands sections of its own
arrays out. Nothing is copied: what one side writes the other side sees.
"""

import numpy as np

import pantile as pt


class Field:
    """One process' part of somebody else's field of 12x4 numbers, with one row of padding."""

    def __init__(self, rank, ranks):
        cuts = [12 * one // ranks for one in range(ranks + 1)]
        left, right = int(rank > 0), int(rank < ranks - 1)
        self.rows = {
            "dist_type": "b", "size": 12, "proc_grid_size": ranks, "proc_grid_rank": rank,
            "start": cuts[rank] - left, "stop": cuts[rank + 1] + right, "padding": (left, right),
        }  # fmt: skip
        self.memory = np.zeros((self.rows["stop"] - self.rows["start"], 4))
        self.memory[left : len(self.memory) - right] = cuts[rank]

    def __distarray__(self):
        return {"__version__": "0.10.0", "buffer": self.memory, "dim_data": (self.rows, {})}


fields = [Field(rank, pt.ranks()) for rank in pt.hosted_ranks()]
array = pt.from_distarray(fields)

# We write, they see it; and the padding gets what its owners have.
array[...] = array + pt.arange(12.0)[:, None]
array.exchange()
whole = np.asarray(array)
for field in fields:
    assert (field.memory == whole[field.rows["start"] : field.rows["stop"]]).all()

# They write, we see it.
for field in fields:
    field.memory *= 2
assert (np.asarray(array) == 2 * whole).all()

# An array of ours, whose sections go to NumPy by DLPack: every rank's part is written in place.
ours = pt.zeros((8, 3), dist=0)
for section in ours.sections:
    np.from_dlpack(section)[...] = section.rank + 1
assert float(ours.max()) == min(pt.ranks(), 8)
assert all(pt.dap.validate(section) == [] for section in ours.sections)

# And one of theirs that comes in by DLPack.
theirs = np.arange(5.0)
shared = pt.from_dlpack(theirs)
theirs[0] = 10
print("together:", shared.sum().item(), "rows of", array.shape[0], "on both sides")
assert shared.sum().item() == 20
