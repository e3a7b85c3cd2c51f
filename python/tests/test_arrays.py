"""Arrays against NumPy: creation, slices, assignment, arithmetic, reductions."""

import operator

import numpy as np
import pytest

import pantile as pt
from conftest import same, spread

SHAPES = [(), (1,), (5,), (0,), (3, 4), (2, 0, 3), (2, 3, 4)]


def numbers(shape, dtype="float64", seed=1):
    """Small whole numbers: exact in every type and in every order."""
    size = int(np.prod(shape, dtype=int))
    return ((np.arange(size) * 7 + seed) % 11).reshape(shape).astype(dtype)


@pytest.mark.parametrize("dtype", [str(d) for d in pt.__array_namespace_info__().dtypes().values()])
def test_elements_go_in_and_out(dtype, dist):
    for shape in SHAPES:
        given = numbers(shape, dtype)
        same(pt.asarray(given, dist=spread(dist, len(shape))), given)


def test_creation(dist):
    one = spread(dist, 1)
    same(pt.zeros((3, 2), dist=spread(dist, 2)), np.zeros((3, 2)))
    same(pt.full(4, 7, dist=one), np.full(4, 7))
    same(pt.full((), True), np.full((), True))
    same(pt.arange(2, 11, 3, dist=one), np.arange(2, 11, 3))
    same(pt.arange(0.0, 1.0, 0.1, dist=one), np.arange(0.0, 1.0, 0.1))
    same(pt.arange(5, dtype=pt.float32, dist=one), np.arange(5, dtype="float32"))
    same(pt.linspace(0, 1, 5, endpoint=False, dist=one), np.linspace(0, 1, 5, endpoint=False))
    same(pt.eye(3, 4, k=-1, dtype=pt.int8), np.eye(3, 4, k=-1, dtype="int8"))
    same(pt.tril(pt.asarray(numbers((4, 3)))), np.tril(numbers((4, 3))))
    for ours, theirs in zip(pt.meshgrid(pt.arange(2), pt.arange(3)), np.meshgrid(range(2), range(3))):
        same(ours, theirs)


KEYS = [
    np.s_[1], np.s_[-1, 2], np.s_[1:3], np.s_[::-1], np.s_[..., 1], np.s_[:, None, 1:], np.s_[3:1:-1, ::2],
    np.s_[5:2], np.s_[None], np.s_[()], np.s_[...], np.s_[-3:-1, -2:], np.s_[::2, ::-2],
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_slices(key, dist):
    given = numbers((5, 4))
    same(pt.asarray(given, dist=spread(dist, 2))[key], given[key])


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_assignment(key, dist):
    for value in (2.5, numbers(numbers((5, 4))[key].shape, seed=3)):
        theirs = numbers((5, 4))
        ours = pt.asarray(theirs, dist=spread(dist, 2))
        theirs[key] = value
        ours[key] = value if isinstance(value, float) else pt.asarray(value)
        same(ours, theirs)


def test_views_see_assignments():
    ours, theirs = pt.zeros((4, 4)), np.zeros((4, 4))
    for one in (ours, theirs):
        row, inner = one[1], one[1:3, 1:3]
        row[:] = 5.0
        inner[0] += 1.0
        one[2, 2] = row[3] * 2
        inner[1, 0] = one[1, 1]
    same(ours, theirs)
    same(ours[1], theirs[1])


def test_masks():
    given = numbers((3, 4))
    ours, theirs = pt.asarray(given), given.copy()
    ours[ours > 4] = -1
    theirs[theirs > 4] = -1
    same(ours, theirs)
    with pytest.raises(NotImplementedError, match="where"):
        ours[ours > 0]


@pytest.mark.parametrize("name", "add subtract multiply maximum minimum equal less greater_equal".split())
def test_functions_of_two(name, dist):
    a, b = numbers((4, 3)), numbers((3,), "int32", 5)
    ours = getattr(pt, name)(pt.asarray(a, dist=spread(dist, 2)), pt.asarray(b))
    same(ours, getattr(np, name)(a, b))


def test_operators():
    a, b = numbers((4,), "int64"), numbers((4,), "int64", 3)
    x, y = pt.asarray(a), pt.asarray(b)
    same(x + y * 2 - 1, a + b * 2 - 1)
    same(7 - x, 7 - a)
    same(x / 2, a / 2)
    same(x // 3 + x % 3, a // 3 + a % 3)
    same(2**x, 2**a)
    same((x & y) | (x ^ 1), (a & b) | (a ^ 1))
    same(~x << 1 >> 1, ~a << 1 >> 1)
    same(-x, -a)
    same(abs(-x), a)
    same(x == y, a == b)
    x += 5
    x *= y
    same(x, (a + 5) * b)
    with pytest.raises(TypeError):
        x += 0.5
    with pytest.raises(TypeError):
        x + "a"


OPERATORS = "add sub mul truediv floordiv mod pow and_ or_ xor lshift rshift".split()


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_from_both_sides_and_in_place(name):
    """Arrays, numbers and arrays of NumPy, on either side."""
    call, in_place = getattr(operator, name), getattr(operator, f"i{name.rstrip('_')}")
    a, b = np.array([[7, 2, 5], [9, 4, 3]]), np.array([[3, 1, 2], [2, 3, 1]])
    x, y = pt.asarray(a, dist=0), pt.asarray(b, dist=1)
    same(call(x, y), call(a, b))
    same(call(x, 2), call(a, 2))
    same(call(9, x), call(9, a))
    same(call(a, y), call(a, b))
    same(call(x, b), call(a, b))
    # A number with places would not fit into whole numbers.
    kind = np.float64 if name == "truediv" else np.int64
    old, other = pt.asarray(a.astype(kind), dist=0), a.astype(kind)
    new = in_place(old, y)
    assert new is old
    same(old, in_place(other, b))


@pytest.mark.parametrize("name", "eq ne lt le gt ge".split())
def test_comparisons_from_both_sides(name):
    call = getattr(operator, name)
    a, b = np.array([1, 2, 3, 4]), np.array([4, 2, 1, 4])
    x, y = pt.asarray(a, dist=0), pt.asarray(b, dist=None)
    for ours, theirs in ((call(x, y), call(a, b)), (call(x, 2), call(a, 2)), (call(3, x), call(3, a))):
        same(ours, theirs)


def test_numpy_meets_ours():
    a = numbers((4,))
    x = pt.asarray(a)
    for ours in (a + x, x + a, np.add(a, x), np.float64(1) * x + a):
        same(ours, a + a)
    same(np.sin(x) * 0, a * 0)
    same(np.sum(x), np.sum(a))
    same(np.mean(x, axis=0), np.mean(a, axis=0))
    same(np.where(x > 3, x, 0.0), np.where(a > 3, a, 0.0))
    same(np.clip(x, 2, 5), np.clip(a, 2, 5))
    same(np.concatenate([x, a]), np.concatenate([a, a]))
    same(np.maximum(x, 4.0), np.maximum(a, 4.0))
    assert np.array_equal(x, a) and np.allclose(x, a)
    with pytest.raises(TypeError, match="gathers"):
        np.linalg.inv(pt.ones((2, 2)))


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2), ()])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("name", "sum prod max min mean any all count_nonzero".split())
def test_reductions(name, axis, keepdims, dist):
    given = numbers((2, 3, 4)) % 3 + 1
    ours = getattr(pt, name)(pt.asarray(given, dist=spread(dist, 3)), axis=axis, keepdims=keepdims)
    if name == "count_nonzero" and axis == ():
        return
    same(ours, getattr(np, name)(given, axis=axis, keepdims=keepdims))


def test_places_and_spreads(dist):
    given = numbers((4, 5))
    ours = pt.asarray(given, dist=spread(dist, 2))
    for name in ("argmax", "argmin"):
        same(getattr(pt, name)(ours), getattr(np, name)(given))
        same(getattr(pt, name)(ours, axis=1, keepdims=True), getattr(np, name)(given, axis=1, keepdims=True))
    np.testing.assert_allclose(np.asarray(pt.std(ours, axis=0)), given.std(axis=0), rtol=1e-15)
    np.testing.assert_allclose(np.asarray(pt.var(ours, correction=1)), given.var(ddof=1), rtol=1e-15)


def test_sums_are_exact_and_the_same_everywhere():
    given = np.random.default_rng(3).standard_normal(1000) * 10.0 ** np.arange(-20, 20).repeat(25)
    from math import fsum

    for where in ("auto", 0, None, "c"):
        assert float(pt.sum(pt.asarray(given, dist=where))) == fsum(given)


def test_shapes(dist):
    given = numbers((2, 3, 4))
    ours = pt.asarray(given, dist=spread(dist, 3))
    same(pt.reshape(ours, (4, -1)), given.reshape(4, -1))
    same(pt.permute_dims(ours, (2, 0, 1)), given.transpose(2, 0, 1))
    same(pt.moveaxis(ours, 0, -1), np.moveaxis(given, 0, -1))
    same(ours.mT, given.swapaxes(-1, -2))
    same(pt.flip(ours, axis=1), np.flip(given, axis=1))
    same(pt.roll(ours, (1, -2), axis=(0, 2)), np.roll(given, (1, -2), axis=(0, 2)))
    same(pt.roll(ours, 5), np.roll(given, 5))
    same(pt.concat([ours, ours], axis=1), np.concatenate([given, given], axis=1))
    same(pt.stack([ours, ours], axis=-1), np.stack([given, given], axis=-1))
    same(pt.tile(ours, (2, 1)), np.tile(given, (2, 1)))
    same(pt.repeat(ours, 2, axis=1), np.repeat(given, 2, axis=1))
    same(pt.squeeze(pt.expand_dims(ours, axis=1), 1), given)
    same(pt.broadcast_to(ours, (5, 2, 3, 4)), np.broadcast_to(given, (5, 2, 3, 4)))
    same(pt.diff(ours, n=2), np.diff(given, n=2))
    same(pt.unstack(ours)[1], given[1])


def test_axes_that_are_moved_differ():
    a = pt.ones((2, 3, 4))
    assert pt.moveaxis(a, (0, 1), (2, 0)).shape == np.moveaxis(np.ones((2, 3, 4)), (0, 1), (2, 0)).shape
    for source, destination in (((0, 1), (0, 0)), ((1, 1), (0, 2)), ((0,), (0, 1)), (0, (0, 1))):
        with pytest.raises(ValueError, match="as many different ones"):
            pt.moveaxis(a, source, destination)


def test_types_of_a_kind():
    info = pt.__array_namespace_info__()
    assert list(info.dtypes(kind="real floating")) == ["float32", "float64"]
    assert list(info.dtypes(kind=("bool", "complex floating"))) == ["bool", "complex64", "complex128"]
    with pytest.raises(ValueError, match="got kind 'half'"):
        info.dtypes(kind="half")


def test_numbers_of_python():
    assert float(pt.asarray(2.5)) == 2.5 and int(pt.asarray(7)) == 7
    assert bool(pt.asarray(True)) and complex(pt.asarray(1j)) == 1j
    assert range(5)[pt.asarray(3)] == 3
    assert len(pt.zeros((3, 2))) == 3 and [float(x) for x in pt.arange(3)] == [0, 1, 2]
    for wrong in (lambda: float(pt.zeros(2)), lambda: len(pt.asarray(1))):
        with pytest.raises(TypeError):
            wrong()


def test_mistakes_name_the_line():
    with pytest.raises(ValueError, match=r"test_arrays.py:\d+.*lengths 3 and 4"):
        pt.zeros((2, 3)) + pt.zeros(4)
    with pytest.raises(IndexError, match="index 7"):
        pt.zeros(3)[7]
    with pytest.raises(ValueError, match="shape"):
        a = pt.zeros((2, 3))
        a[0] = pt.zeros(2)
    with pytest.raises(NotImplementedError, match="np.sort"):
        pt.sort(pt.zeros(3))
    with pytest.raises(TypeError, match="type"):
        pt.asarray(np.zeros(3, dtype="float16"))
    with pytest.raises(OverflowError):
        pt.zeros(2, dtype=pt.int8) + 1000


def test_mistakes_name_the_line_that_calls_and_not_the_one_around_it():
    a = pt.zeros((2, 3))

    def by_operator():
        return a + pt.zeros(4)

    def by_function():
        return pt.add(a, pt.zeros(4))

    def by_number_on_the_left():
        return 1 + (a - pt.zeros(4))

    for call in (by_operator, by_function, by_number_on_the_left):
        line = call.__code__.co_firstlineno + 1
        with pytest.raises(ValueError, match=rf"test_arrays.py:{line}\b"):
            call()


def test_an_index_is_a_view_or_an_error():
    a, n = pt.reshape(pt.arange(12), (4, 3)), np.arange(12).reshape(4, 3)
    for index in (-4, -1, 0, 3):
        assert np.array_equal(a[index], n[index])
        assert int((a + 1)[index][2]) == n[index, 2] + 1
    for index in (4, -5, 1 << 63, -(1 << 70)):
        with pytest.raises(IndexError, match=f"axis 0: index {index} is not among the 4 of the array"):
            a[index]
    with pytest.raises(IndexError, match="got 1 indices for an array of 0 axes"):
        pt.asarray(1)[0]
    a[1][0] = 70
    assert int(a[1, 0]) == 70


def test_one_element_with_axes_is_an_item_and_no_number():
    for one in (pt.zeros(1), pt.zeros((1, 1)).compute(), pt.arange(4)[2:3] * 0.0):
        assert one.item() == 0
        for kind in (float, int, complex):
            with pytest.raises(TypeError, match="expected one without axes"):
                kind(one)
    with pytest.raises(TypeError, match="got a complex number"):
        float(pt.asarray(1j))


def test_a_loop_plans_once_and_memory_stays_flat():
    world = pt.zeros(1)._h.world
    u = pt.zeros((64, 64), dist=0)
    u[0] = 1.0
    for step in range(200):
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u.compute()
        if step == 2:
            lowered = world.lowered
    assert world.lowered == lowered


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "bool"])
def test_long_constants_are_reduced(dtype, dist):
    """Rows around the length of a block, and far beyond it."""
    for n in (8191, 8192, 8193, 17_000, 100_000):
        ones, one = pt.ones(n, dtype=dtype, dist=dist), np.ones((), dtype)
        same(pt.any(ones), True), same(pt.all(ones), True)
        if dtype == "bool":
            assert int(pt.count_nonzero(ones)) == n
            continue
        assert int(ones.sum()) == n and int(pt.argmax(ones)) == 0
        same(ones.max(), one), same(ones.min(), one)
        if dtype.startswith("float"):
            same(ones.mean(), one), same(ones.std(), one - one)


def test_parts_of_what_was_moved(dist):
    for n, target in [(6, None), (6, 0), (6, "c"), (9000, None), (9000, 0)]:
        ours, theirs = pt.arange(float(n), dist=dist).redistribute(target), np.arange(float(n))
        ours[2:4] *= 2
        theirs[2:4] *= 2
        same(ours, theirs)


@pytest.mark.parametrize("name", ["<string>", "<stdin>", "model.py", "<cell 3>"])
def test_faults_name_lines_of_files_only(name):
    """Of what was typed in a shell or given to `python -c` there is no file to look at."""
    code = compile("pt.ones(3) + pt.ones(4)", name, "exec")
    with pytest.raises(ValueError, match="do not go together") as caught:
        exec(code, {"pt": pt})
    assert str(caught.value).startswith("add of" if name in ("<string>", "<stdin>") else f"{name}:1:1: add of")
