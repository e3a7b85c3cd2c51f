"""How the threads of a rank cut loops: by name, with the same bits."""

import hashlib

import numpy as np
import pytest

import pantile as pt

NAMES = ["EVEN", "STATIC", "SS", "GSS", "TSS", "FAC2", "TFSS", "FISS", "VISS", "PLS", "PSS", "MSTATIC",
         "MFSC", "AUTO"]  # fmt: skip


@pytest.fixture(autouse=True)
def restored(monkeypatch):
    monkeypatch.delenv("PANTILE_SCHEME", raising=False)
    yield
    monkeypatch.delenv("PANTILE_SCHEME", raising=False)
    pt.init()


def digest():
    a = pt.random.default_rng(3).random((700, 500))
    b = pt.sin(a) * 2 + a
    found = [b, pt.sum(b), pt.sum(b, axis=0), pt.max(b, axis=1)]
    return hashlib.sha256(b"".join(np.asarray(one).tobytes() for one in found)).hexdigest()


@pytest.mark.parametrize("name", NAMES)
def test_bits_do_not_depend_on_it(name):
    pt.init(ranks=1, backend="threads")
    expected = digest()
    pt.init(ranks=1, backend="threads", threads=3, scheme=name.lower())
    assert digest() == expected
    assert pt._world.world().scheme("EVEN") == name


def test_the_environment_and_mistakes(monkeypatch):
    monkeypatch.setenv("PANTILE_SCHEME", "gss")
    pt.init(ranks=2, backend="threads")
    assert pt._world.world().scheme("EVEN") == "GSS"
    pt.init(ranks=2, backend="threads", scheme="FAC2")
    assert pt._world.world().scheme("EVEN") == "FAC2"
    monkeypatch.setenv("PANTILE_SCHEME", "quick")
    with pytest.raises(pt.PantileError, match="PANTILE_SCHEME is `quick`, expected one of EVEN, STATIC"):
        pt.init(ranks=2, backend="threads")
    monkeypatch.delenv("PANTILE_SCHEME")
    with pytest.raises(ValueError, match="got scheme `quick`, expected one of " + ", ".join(NAMES)):
        pt.init(ranks=2, backend="threads", scheme="quick")
    with pytest.raises(TypeError, match="got scheme 3, expected a name"):
        pt.init(scheme=3)
