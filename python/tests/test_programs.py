"""Ordinary programs give what NumPy gives, whether `np` is Pantile or NumPy that meets its arrays."""

import numpy as np
import pytest

import pantile as pt
from programs import PROGRAMS


@pytest.mark.parametrize("names", [pt, np], ids=["pantile", "numpy"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_an_ordinary_program(program, names):
    run, make = PROGRAMS[program]
    expected = run(np, make())
    got = run(names, pt.asarray(make(), dist=0))
    assert len(got) == len(expected)
    for one, other in zip(got, expected):
        np.testing.assert_allclose(np.asarray(one), other, rtol=1e-9, atol=1e-12)
