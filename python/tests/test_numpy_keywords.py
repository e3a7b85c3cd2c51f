"""Every keyword of NumPy's functions is obeyed, or refused by its name: none is dropped."""

import inspect

import numpy as np
import pytest

import pantile as pt
from pantile import _absent, _numpy

#: A value for each keyword that changes what NumPy does, where it does.
VALUES = {
    "axis": 1, "dtype": "float32", "keepdims": True, "initial": 5.0, "ddof": 1, "mean": 2.0,
    "correction": 1, "order": "F", "casting": "unsafe", "shape": (2, 2), "device": "cpu",
    "decimals": 1, "equal_nan": True, "copy": True, "rtol": 10.0, "atol": 10.0, "k": 1, "n": 2,
    "prepend": 0.0, "append": 9.0, "axes": (1, 0), "a_min": 2, "a_max": 4, "min": 2, "max": 4,
    "signature": None, "subok": False, "newshape": (4, 3),
}  # fmt: skip

#: What functions need besides the first array.
NEEDS = {
    "reshape": {"shape": (4, 3)}, "roll": {"shift": 1}, "expand_dims": {"axis": 0},
    "moveaxis": {"source": 0, "destination": 1}, "broadcast_to": {"shape": (2, 3, 4)},
    "tile": {"reps": (2, 1)}, "repeat": {"repeats": 2}, "full_like": {"fill_value": 7},
    "clip": {"a_min": 1, "a_max": 3},
}  # fmt: skip

#: Functions of two arrays, and of lists of them.
PAIRS = ("array_equal", "allclose", "tensordot", "vecdot")
LISTS = ("concatenate", "concat", "stack")

#: Nothing to compare: other arguments, or elements that are not set.
LEFT_OUT = {"where", "meshgrid", "broadcast_arrays", "unstack", "can_cast", "result_type",
            "isdtype", "astype", "from_dlpack", "empty_like", "linspace", "save", "load",
            *_absent.__all__}  # fmt: skip


def functions():
    """NumPy's functions that arrays of ours answer to."""
    for name in sorted(dir(np)):
        found = getattr(np, name)
        known = name in _numpy.HANDLERS or inspect.isfunction(getattr(pt, _numpy.NAMES.get(name, name), None))
        dispatches = hasattr(found, "_implementation") or hasattr(found, "__wrapped__")
        if callable(found) and known and dispatches and name not in LEFT_OUT and not isinstance(found, np.ufunc):
            yield name


def keywords():
    for name in functions():
        signature = inspect.signature(_numpy.SIGNATURES.get(name, getattr(np, name)))
        for key, parameter in signature.parameters.items():
            if parameter.default is not parameter.empty:
                yield name, key
    yield from (("clip", key) for key in ("dtype", "casting", "where"))


def arguments(name, x):
    if name in LISTS:
        return ([x, x + 1],)
    return (x, x) if name in PAIRS else (x,)


def outcome(call):
    try:
        return np.asarray(call())
    except (TypeError, ValueError, np.exceptions.AxisError, IndexError, NotImplementedError) as error:
        return error


@pytest.mark.parametrize(("name", "key"), list(keywords()))
def test_a_keyword_is_obeyed_or_refused_by_name(name, key):
    x = np.arange(12.0).reshape(3, 4) % 7 / 4
    a, mask = pt.asarray(x, dist=0), x > 0.6
    more = {one: value for one, value in NEEDS.get(name, {}).items() if one != key}
    plain = outcome(lambda: getattr(np, name)(*arguments(name, x), **more))
    if key in ("min", "max"):
        more = {}
    if key == "out":
        room = np.full(plain.shape, 9, plain.dtype)
        given, ours = room, pt.asarray(room)
    else:
        given = ours = mask if key == "where" else VALUES[key]
    if key == "where":
        more["initial"] = 9.0
        if name in ("any", "all", "mean", "std", "var", "clip"):
            more.pop("initial")
    want = outcome(lambda: getattr(np, name)(*arguments(name, x), **{key: given}, **more))
    got = outcome(lambda: getattr(np, name)(*arguments(name, a), **{key: ours}, **more))
    if isinstance(got, Exception):
        assert isinstance(want, Exception) or f"{key}=" in str(got), got
        return
    assert not isinstance(want, Exception), f"NumPy refuses it: {want}"
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-6)
    if key == "out":
        np.testing.assert_allclose(np.asarray(ours), want, rtol=1e-12)


def test_all_of_these_functions_are_tried():
    assert len(set(functions())) > 30
    assert len(list(keywords())) > 80


@pytest.mark.parametrize("key", ["where", "dtype", "casting", "order", "signature"])
@pytest.mark.parametrize("name", ["sin", "add", "maximum", "sqrt"])
def test_a_keyword_of_a_ufunc_is_refused_by_name(name, key):
    a = pt.asarray([[1.0, 2.0], [3.0, 4.0]], dist=0)
    value = {"where": a > 1, "dtype": "f4", "casting": "no", "order": "F", "signature": "d->d"}[key]
    with pytest.raises(TypeError, match=f"np.{name} of distributed arrays has no {key}="):
        getattr(np, name)(*[a] * getattr(np, name).nin, **{key: value})


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "minimum", "logical_and", "logical_or"])
@pytest.mark.parametrize(
    "more", [{}, {"axis": None}, {"axis": 1}, {"axis": 1, "keepdims": True}, {"axis": (0, 1)}], ids=str
)
def test_reduce_of_a_ufunc(name, more):
    x = np.asarray([[1.0, 0.0, 3.0], [4.0, 5.0, 6.0]])
    a, reduce = pt.asarray(x, dist=0), getattr(np, name).reduce
    np.testing.assert_array_equal(np.asarray(reduce(a, **more)), reduce(x, **more))
    if not name.startswith("logical"):
        np.testing.assert_array_equal(np.asarray(reduce(a, initial=2.0, where=x > 1, **more)),
                                      reduce(x, initial=2.0, where=x > 1, **more))  # fmt: skip
    out = pt.zeros(np.shape(reduce(x, **more)), dtype=reduce(x, **more).dtype)
    assert reduce(a, out=out, **more) is out
    np.testing.assert_array_equal(np.asarray(out), reduce(x, **more))


@pytest.mark.parametrize("call", [np.spacing, np.add.accumulate, np.cumsum, np.median], ids=str)
def test_an_unknown_function_says_so_without_the_elements(call):
    with pytest.raises(TypeError, match="does not know distributed arrays") as caught:
        call(pt.ones(50_000))
    assert len(str(caught.value)) < 200


def test_arrays_of_numpy_are_joined_with_ours():
    a, b = pt.asarray([1.0, 2.0], dist=0), np.asarray([3.0, 4.0])
    for join in (np.stack, np.concatenate, pt.stack, pt.concat):
        expected = {"stack": [[1, 2], [3, 4]]}.get(join.__name__, [1, 2, 3, 4])
        assert join([a, b]).tolist() == expected
    with pytest.raises(ValueError, match="shape"):
        np.stack([a, np.ones(3)])
