"""Files and functions of tiles: every rank reads and writes its own part."""

import errno
import io
import itertools
import tracemalloc
import zipfile

import numpy as np
import pytest

import pantile as pt

DISTS = ["auto", 0, -1, None, "letters"]
TYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
    "complex64", "complex128",
]  # fmt: skip


@pytest.fixture(params=[1, 2, 3, 4])
def ranks(request):
    pt.init(ranks=request.param)
    return request.param


def numbers(shape, kind="float64"):
    """Different numbers everywhere."""
    whole = np.arange(int(np.prod(shape))).reshape(shape)
    return (
        (whole % 2 == 0)
        if kind == "bool"
        else (whole * (1 + 2j)).astype(kind)
        if kind[0] == "c"
        else whole.astype(kind)
    )


def placed(dist, shape):
    """A `dist` for this shape: letters make every axis cyclic, and axes need an axis."""
    if dist == "letters":
        return "c" * len(shape) if shape else None
    return dist if shape or not isinstance(dist, int) else None


# ---- functions


@pytest.mark.parametrize("dist", DISTS)
@pytest.mark.parametrize("shape", [(), (1,), (7,), (0,), (5, 6), (3, 0, 2), (4, 3, 5)])
def test_tiles_from_a_function(ranks, shape, dist):
    whole, asked = numbers(shape), []

    def tile(part):
        asked.append(part)
        return whole[part]

    array = pt.from_callback(shape, placed(dist, shape), tile)
    assert array.shape == shape and array.dtype == np.float64
    assert (np.asarray(array) == whole).all()
    times = np.zeros(shape, int)
    for part in asked:
        assert all(isinstance(one, slice) for one in part)
        times[part] += 1
    expected = ranks if array._h.home().count("whole") == len(shape) else 1
    assert (times == expected).all()


def test_cyclic_axes_are_asked_for_box_by_box():
    pt.init(ranks=2)
    asked = []

    def tile(part):
        asked.append(part[0])
        return np.zeros(part[0].stop - part[0].start)

    pt.from_callback(7, "r=2: cyclic(r, 2)", tile)
    assert asked == [slice(0, 2), slice(4, 6), slice(2, 4), slice(6, 7)]


def test_functions_may_give_what_fits_into_the_type(ranks):
    array = pt.from_callback(
        4, 0, lambda part: [1] * (part[0].stop - part[0].start), dtype=np.float32
    )
    assert array.dtype == np.float32 and np.asarray(array).tolist() == [1.0] * 4


@pytest.mark.parametrize("tile, words", [
    (lambda part: np.zeros((1, 1)), r"rank 0, slices \[0:2, 0:3\]: got a tile of shape \(1, 1\), expected \(2, 3\)"),
    (lambda part: 0.0, r"rank 0, slices \[0:2, 0:3\]: got a tile of shape \(\)"),
    (lambda part: np.zeros((2, 3), complex), r"rank 0, slices \[0:2, 0:3\]: got elements of complex128, expected float64"),
])  # fmt: skip
def test_wrong_tiles(tile, words):
    pt.init(ranks=2)
    with pytest.raises(ValueError, match=words):
        pt.from_callback((4, 3), 0, tile)


@pytest.mark.parametrize("kind", ["<f8", ">f8", ">i2", ">c16"])
def test_functions_in_any_order_of_bytes(ranks, kind):
    """The type is the same, whatever is said of its bytes."""
    whole = numbers((7, 3), np.dtype(kind).name)
    array = pt.from_callback((7, 3), 0, lambda part: whole[part].astype(kind), dtype=kind)
    assert array.dtype == whole.dtype
    assert (np.asarray(array) == whole).all()
    again = pt.asarray(whole.astype(kind), dist=0)
    assert again.dtype == whole.dtype and (np.asarray(again) == whole).all()


@pytest.mark.parametrize("shape, dtype, error, words", [
    (-1, "f8", ValueError, r"got shape \(-1,\)"),
    ((3, -2), "f8", ValueError, "expected lengths of at least 0"),
    (2.5, "f8", TypeError, "float"),
    (3, "f2", TypeError, "no arrays of type float16"),
    (3, "U1", TypeError, "no arrays of type <U1"),
    (3, [("a", "f8")], TypeError, "no arrays of type"),
])  # fmt: skip
def test_arrays_that_cannot_be(shape, dtype, error, words):
    pt.init(ranks=2)
    with pytest.raises(error, match=words):
        pt.from_callback(shape, None, lambda part: np.zeros(3), dtype=dtype)


def test_errors_of_functions_come_through(ranks):
    def tile(part):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        pt.from_callback((4, 3), 0, tile)


def test_distributions_that_do_not_fit(ranks):
    with pytest.raises(ValueError):
        pt.from_callback((4, 3), 2, lambda part: None)


# ---- reading


@pytest.mark.parametrize("dist", DISTS)
@pytest.mark.parametrize("shape", [(), (7,), (0,), (0, 3), (5, 6), (4, 3, 5)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_files(ranks, tmp_path, shape, dist, order):
    whole = np.asarray(numbers(shape), order=order)
    np.save(tmp_path / "a.npy", whole)
    array = pt.load(tmp_path / "a.npy", dist=placed(dist, shape))
    assert array.shape == shape
    assert (np.asarray(array) == whole).all()


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("endian", ["<", ">"])
def test_types_of_files(tmp_path, kind, endian):
    pt.init(ranks=3)
    whole = numbers((5, 4), kind)
    np.save(tmp_path / "a.npy", whole.astype(whole.dtype.newbyteorder(endian)))
    array = pt.load(str(tmp_path / "a.npy"), dist=0)
    assert array.dtype == whole.dtype
    assert (np.asarray(array) == whole).all()


@pytest.mark.parametrize("write", [np.savez, np.savez_compressed])
def test_npz_files(ranks, tmp_path, write):
    arrays = {
        "a": numbers((5, 4)),
        "b": np.asfortranarray(numbers((6, 3))),
        "c": numbers(()),
        "e": numbers((0, 2)),
    }
    arrays["ä"] = numbers((3,), "int16")
    write(tmp_path / "x.npz", **arrays)
    loaded = pt.load(tmp_path / "x.npz")
    assert list(loaded) == list(arrays)
    for name, whole in arrays.items():
        assert loaded[name].dtype == whole.dtype
        assert (np.asarray(loaded[name]) == whole).all()


def test_the_ending_does_not_matter_for_reading(tmp_path):
    pt.init(ranks=2)
    with open(tmp_path / "data", "wb") as file:
        np.save(file, numbers((4,)))
    assert pt.load(tmp_path / "data").shape == (4,)


def test_meshes(tmp_path):
    pt.init(ranks=4)
    np.save(tmp_path / "a.npy", numbers((4, 6)))
    array = pt.load(tmp_path / "a.npy", dist=("x", "y"), mesh=pt.Mesh(x=2, y=2))
    assert str(array.dist) == "4x6 on x=2, y=2: block(x), block(y)"
    assert (array.section(3).data == numbers((4, 6))[2:, 3:]).all()


def test_reading_takes_only_the_room_of_the_tiles(tmp_path):
    """Mapped, a file is not in memory: what Python asks for is one tile at a time."""
    pt.init(ranks=4)
    np.save(tmp_path / "a.npy", np.zeros((4000, 1000)))
    tracemalloc.start()
    pt.load(tmp_path / "a.npy", dist=0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.5 * 4000 * 1000 * 8 / 4


def raw(version=b"\x01\x00", header=b""):
    return b"\x93NUMPY" + version + len(header).to_bytes(2, "little") + header


def npy(array):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def zipped(inner, compression=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        archive.writestr("a.npy", inner)
    return file.getvalue()


def damaged(compression, at=300):
    """An archive with wrong bytes in its member, which begins at 35."""
    whole = bytearray(zipped(npy(np.random.default_rng(1).random(1000)), compression))
    whole[at : at + 60] = b"\xff" * 60
    return bytes(whole)


def shaped(shape, kind="<f8"):
    """A file of 800 bytes of elements whose header says this."""
    words = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n"
    return raw(header=words.encode()) + bytes(800)


@pytest.mark.parametrize("content, words", [
    (b"", "expected a .npy or .npz file"),
    (b"hello, world", "begins with b'hello,'"),
    (b"\x93NUMPY", "a.x: "),
    (raw(header=b"nonsense"), "a.x: "),
    (raw(version=b"\x09\x00"), "a.x: "),
    (npy(numbers((100,)))[:-1], "a.x: "),
    (npy(np.array(["a", "b"])), "a.x: got elements of <U1, expected one of bool, "),
    (npy(np.array([None])), "a.x: got elements of object"),
    (npy(np.zeros(3, "float16")), "a.x: got elements of float16"),
    (npy(np.zeros(3, [("a", "f8")])), "a.x: got elements of"),
    (zipped(npy(numbers((100,))))[:-30], "a.x: .*expected a .npz file"),
    (zipped(npy(numbers((100,)))[:-8]), "a.x\\[a.npy\\]: the header promises 800 bytes of elements, 792 are there"),
    (zipped(npy(numbers((100,)))[:-8], zipfile.ZIP_DEFLATED), "a.x\\[a.npy\\]: "),
    (damaged(zipfile.ZIP_DEFLATED), "a.x"),
    (damaged(zipfile.ZIP_DEFLATED, 35), "a.x\\[a.npy\\]: .*invalid block type"),
    (damaged(zipfile.ZIP_BZIP2), "a.x"),
    (damaged(zipfile.ZIP_BZIP2, 35), "a.x\\[a.npy\\]: "),
    (damaged(zipfile.ZIP_LZMA), "a.x"),
    (damaged(zipfile.ZIP_LZMA, 35), "a.x\\[a.npy\\]: "),
    (shaped("(-1,)"), "a.x: "),
    (shaped("(True,)"), "a.x: "),
    (shaped("(1.0,)"), "a.x: "),
    (shaped("5"), "a.x: "),
    (shaped("(99999999999999999999,)"), "a.x: the header promises 799999999999999999992 bytes"),
    (shaped("(0, 99999999999999999999)"), "a.x: "),
    (shaped(f"({'1,' * 70})"), "a.x: "),
    (shaped("(3,)", "<M8[s]"), "a.x: got elements of datetime64"),
    (shaped("(3,)", "|V8"), "a.x: got elements of |V8"),
    (zipped(b"hello"), "a.x\\[a.npy\\]: "),
    (zipped(b"hello", zipfile.ZIP_DEFLATED), "a.x\\[a.npy\\]: "),
    (zipped(npy(np.array([None])), zipfile.ZIP_DEFLATED), "a.x\\[a.npy\\]: "),
    (zipped(npy(np.zeros(3, "float16")), zipfile.ZIP_DEFLATED), "a.x\\[a.npy\\]: got elements of float16"),
])  # fmt: skip
def test_wrong_files(tmp_path, content, words):
    pt.init(ranks=2)
    (tmp_path / "a.x").write_bytes(content)
    with pytest.raises(ValueError, match=words):
        pt.load(tmp_path / "a.x")


def test_no_file(ranks, tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing.npy"):
        pt.load(tmp_path / "nothing.npy")


def test_the_member_that_does_not_fit_is_named(ranks, tmp_path):
    np.savez(tmp_path / "x.npz", a=numbers((3, 4)), b=numbers((3,)))
    with pytest.raises(ValueError, match=r"x.npz\[b.npy\]: got axis 1 for an array of 1 axes"):
        pt.load(tmp_path / "x.npz", dist=1)


# ---- writing


@pytest.mark.parametrize("dist", DISTS)
@pytest.mark.parametrize("shape", [(), (7,), (0,), (0, 3), (5, 6), (4, 3, 5)])
def test_files_are_those_of_numpy(ranks, tmp_path, shape, dist):
    whole = numbers(shape)
    array = pt.from_callback(shape, placed(dist, shape), lambda part: whole[part])
    pt.save(tmp_path / "a.npy", array)
    np.save(tmp_path / "b.npy", whole)
    assert (tmp_path / "a.npy").read_bytes() == (tmp_path / "b.npy").read_bytes()


@pytest.mark.parametrize("kind", TYPES)
def test_types_are_kept(tmp_path, kind):
    pt.init(ranks=3)
    whole = numbers((5, 4), kind)
    pt.save(
        str(tmp_path / "a.npy"), pt.from_callback((5, 4), 0, lambda part: whole[part], dtype=kind)
    )
    back = np.load(tmp_path / "a.npy")
    assert back.dtype == whole.dtype and (back == whole).all()


def test_what_was_not_computed_yet_is_computed(ranks, tmp_path):
    pt.save(tmp_path / "a.npy", pt.arange(10.0) * 2)
    pt.save(tmp_path / "b.npy", pt.arange(10.0)[::-2])
    assert (np.load(tmp_path / "a.npy") == np.arange(10.0) * 2).all()
    assert (np.load(tmp_path / "b.npy") == np.arange(10.0)[::-2]).all()


def test_a_file_is_written_anew(ranks, tmp_path):
    pt.save(tmp_path / "a.npy", pt.zeros(1000))
    pt.save(tmp_path / "a.npy", pt.ones(3))
    assert np.load(tmp_path / "a.npy").tolist() == [1, 1, 1]


def test_archives(ranks, tmp_path):
    arrays = {"a": numbers((5, 4)), "b": numbers((7,), "int32"), "c": numbers(())}
    spread = {
        name: pt.from_callback(
            whole.shape, placed(0, whole.shape), lambda part: whole[part], dtype=whole.dtype
        )
        for name, whole in arrays.items()
    }
    pt.save(tmp_path / "x.npz", spread)
    with np.load(tmp_path / "x.npz") as back:
        assert list(back) == list(arrays)
        for name, whole in arrays.items():
            assert back[name].dtype == whole.dtype and (back[name] == whole).all()
    assert [path.name for path in tmp_path.iterdir()] == ["x.npz"]
    again = pt.load(tmp_path / "x.npz", dist=None)
    assert (np.asarray(again["b"]) == arrays["b"]).all()


def test_one_array_and_none_in_an_archive(tmp_path):
    pt.init(ranks=2)
    pt.save(tmp_path / "x.npz", pt.ones(3))
    assert list(np.load(tmp_path / "x.npz")) == ["arr_0"]
    pt.save(tmp_path / "x.npz", {})
    assert pt.load(tmp_path / "x.npz") == {}


def test_saving_moves_nothing(tmp_path):
    pt.init(ranks=4)
    array = pt.ones((64, 64), dist=0).compute()
    with pt.no_comm(), pt.comm_stats() as stats:
        pt.save(tmp_path / "a.npy", array)
        pt.load(tmp_path / "a.npy", dist=1)
    assert (stats.bytes, stats.gathered) == (0, 0)


@pytest.mark.parametrize("name, value, error, words", [
    ("a.txt", "array", ValueError, "got the ending '.txt', expected .npy or .npz"),
    ("a", "array", ValueError, "got the ending ''"),
    ("a.npy", {}, ValueError, "got several arrays"),
    ("a.npy", 3, TypeError, "got int, expected an array"),
    ("a.npz", {"a": 3}, TypeError, "got int, expected an array"),
    ("no/a.npy", "array", FileNotFoundError, "no/a.npy"),
    ("no/a.npz", "array", FileNotFoundError, "no/a.npz"),
])  # fmt: skip
def test_what_cannot_be_written(ranks, tmp_path, name, value, error, words):
    value = pt.ones(3) if value == "array" else value
    with pytest.raises(error, match=words):
        pt.save(tmp_path / name, value)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_an_error_and_not_the_end(tmp_path, monkeypatch):
    """Room is asked for before the file is mapped: a mapped file that finds none ends the process."""
    from pantile import _io

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    pt.init(ranks=2)
    monkeypatch.setattr(_io.os, "posix_fallocate", full)
    with pytest.raises(OSError, match="no room for 152 bytes.*a.npy") as caught:
        pt.save(tmp_path / "a.npy", pt.ones(3))
    assert caught.value.errno == errno.ENOSPC
    # Where nobody can ask, it is written all the same.
    monkeypatch.delattr(_io.os, "posix_fallocate")
    pt.save(tmp_path / "a.npy", pt.ones(3))
    assert np.load(tmp_path / "a.npy").tolist() == [1, 1, 1]


def test_a_fault_leaves_the_old_file(tmp_path):
    pt.init(ranks=2)
    pt.save(tmp_path / "a.npy", pt.ones(3))
    with pt.no_comm(), pytest.raises(pt.PantileError):
        pt.save(tmp_path / "a.npy", pt.ones((4, 4), dist=0).redistribute(1))
    assert np.load(tmp_path / "a.npy").tolist() == [1, 1, 1]


def test_a_fault_leaves_the_old_archive(tmp_path):
    pt.init(ranks=2)
    pt.save(tmp_path / "x.npz", {"old": pt.ones(3)})
    with pt.no_comm(), pytest.raises(pt.PantileError):
        pt.save(
            tmp_path / "x.npz",
            {"new": pt.ones(3), "wrong": pt.ones((4, 4), dist=0).redistribute(1)},
        )
    assert list(np.load(tmp_path / "x.npz")) == ["old"]
    assert [path.name for path in tmp_path.iterdir()] == ["x.npz"]


def test_boxes_cover_a_tile_once():
    from pantile._io import _boxes

    runs = [[(0, 2), (5, 6)], [(3, 7)], [(1, 2), (4, 5), (8, 10)]]
    tile, whole = np.zeros((3, 4, 4), int), np.zeros((6, 7, 10), int)
    for part, place in _boxes(runs):
        whole[part] += 1
        tile[place] += 1
        assert whole[part].shape == tile[place].shape
    assert (tile == 1).all()
    lists = [list(itertools.chain.from_iterable(range(*run) for run in axis)) for axis in runs]
    assert (whole[np.ix_(*lists)] == 1).all() and whole.sum() == tile.sum()
