"""A `dist=` that says no place is refused by the line that has it, whatever makes the array."""

import numpy as np
import pytest

import pantile as pt

#: What makes an array of shape (6,) at a place.
MAKERS = {
    "zeros": lambda dist: pt.zeros(6, dist=dist),
    "full": lambda dist: pt.full(6, 1.5, dist=dist),
    "empty": lambda dist: pt.empty(6, dist=dist),
    "arange": lambda dist: pt.arange(6, dist=dist),
    "linspace": lambda dist: pt.linspace(0, 1, 6, dist=dist),
    "zeros_like": lambda dist: pt.zeros_like(np.ones(6), dist=dist),
    "asarray": lambda dist: pt.asarray(np.arange(6), dist=dist),
    "from_callback": lambda dist: pt.from_callback(6, dist, lambda index: np.ones(6)[index]),
    "random": lambda dist: pt.random.default_rng(1).random(6, dist=dist),
    "redistribute": lambda dist: pt.arange(6, dist=0).redistribute(dist),
    "eye": lambda dist: pt.eye(6, 1, dist=dist)[:, 0],
}

WRONG = [
    "x",
    "r=2",
    "blok(r)",
    "block(x)",
    "r=2: blok(r)",
    "on r=2: block(r)",
    "r=0: block(r)",
    "r=2: block(q)",
    "r=2: block(r), whole, whole",
    "r=2: block(r, cuts 0 5 3)",
    "r=2: block(r) halo 1 2 3",
    'r=2: block(r)"',
    "r=99999999999999999999: block(r)",
    "r=2: whole; sum(r)",
    "7 on r=2: block(r)",
    "é",
    "\0",
]


@pytest.mark.parametrize("dist", WRONG)
@pytest.mark.parametrize("make", MAKERS)
def test_a_place_that_is_none_is_refused_at_once(make, dist):
    with pytest.raises(ValueError) as caught:
        MAKERS[make](dist)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("make", [make for make in MAKERS if make != "eye"])
@pytest.mark.parametrize("text", ["r=1: block(r)", "6 on r=1: block(r)", "6 on rank 0: whole"])
def test_a_text_may_have_the_shape(make, text):
    a = MAKERS[make](text)
    if make != "empty":
        np.testing.assert_array_equal(np.asarray(a), np.asarray(MAKERS[make](None)))
    assert a.dist == pt.Distribution(text if " on " in text else f"6 on {text}")
