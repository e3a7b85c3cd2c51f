"""Arrays from functions and files, and into files: every process reads and writes its own part.

Files are those of NumPy: `.npy`, and `.npz` with or without compression.
"""

from __future__ import annotations

import errno
import itertools
import lzma
import os
import shutil
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

from pantile import _dtypes

if TYPE_CHECKING:
    from pantile._array import Array

Runs = list[list[tuple[int, int]]]
Slices = tuple[slice, ...]

TYPES = tuple(str(one) for one in _dtypes.ALL)

#: What the decompressors of zip files raise at bytes that are damaged or of a kind they do not know.
DAMAGED = (
    ValueError, EOFError, OSError, RuntimeError, NotImplementedError, zipfile.BadZipFile, zlib.error,
    lzma.LZMAError,
)  # fmt: skip


# ------------------------------------------------------------------------------------ from functions


def from_callback(
    shape: int | Sequence[int],
    dist: Any,
    f: Callable[[Slices], Any],
    *,
    dtype: Any = np.float64,
    mesh: Any = None,
) -> Array:
    """An array whose tiles a function gives.

    `f` gets a tuple of slices of the whole array, one per axis, and returns these elements. Every
    process calls it for the ranks that it hosts, once for each box of neighbours that a rank owns:
    once for blocks, several times where an axis is cyclic.

    >>> import numpy as np, pantile as pt
    >>> whole = np.arange(12.0).reshape(3, 4)
    >>> a = pt.from_callback((3, 4), 0, lambda part: whole[part])
    >>> bool((np.asarray(a) == whole).all())
    True
    """
    from pantile._creation import _shape

    lengths, kind = _shape(shape), _dtypes.dtype_of(dtype)

    def tile(rank: int, runs: Runs) -> np.ndarray:
        room = np.empty([sum(high - low for low, high in axis) for axis in runs], kind)
        for part, place in _boxes(runs):
            room[place] = _checked(np.asarray(f(part)), rank, part, kind)
        return room

    return _made(lengths, kind, tile, dist, mesh)


def _checked(given: np.ndarray, rank: int, part: Slices, kind: np.dtype) -> np.ndarray:
    """What a function gave, if it is what it was asked for."""
    where = ", ".join(f"{one.start}:{one.stop}" for one in part)
    expected = tuple(one.stop - one.start for one in part)
    if given.shape != expected:
        raise ValueError(
            f"rank {rank}, slices [{where}]: got a tile of shape {given.shape}, expected {expected}"
        )
    if not np.can_cast(given.dtype, kind, "same_kind"):
        raise ValueError(
            f"rank {rank}, slices [{where}]: got elements of {given.dtype}, expected {kind}"
        )
    return given


def _boxes(runs: Runs) -> Iterator[tuple[Slices, Slices]]:
    """The boxes that a rank owns: where they are in the whole array, and where in its tile."""
    axes = []
    for axis in runs:
        ends = [0, *itertools.accumulate(high - low for low, high in axis)]
        places = [slice(low, high) for low, high in itertools.pairwise(ends)]
        axes.append([(slice(*run), place) for run, place in zip(axis, places)])
    for box in itertools.product(*axes):
        yield tuple(whole for whole, _ in box), tuple(tile for _, tile in box)


def _places(runs: Runs) -> tuple:
    """The index in the whole array of all that a rank owns."""
    if all(len(axis) == 1 for axis in runs):
        return tuple(slice(*axis[0]) for axis in runs)
    lists = [[np.arange(*run) for run in axis] for axis in runs]
    return np.ix_(*(np.concatenate([np.arange(0), *axis]) for axis in lists))


def _made(
    shape: tuple[int, ...],
    kind: np.dtype,
    tile: Callable[[int, Runs], np.ndarray],
    dist: Any,
    mesh: Any,
) -> Array:
    """An array of the tiles that a function of ranks and their runs gives."""
    from pantile import _dist, _world
    from pantile._array import Array
    from pantile._creation import _with_halo

    world = _world.world()

    def elements(rank: int, runs: Runs) -> np.ndarray:
        return np.ascontiguousarray(tile(rank, runs), kind).reshape(-1).view(np.uint8)

    where = _dist.text(dist, shape, mesh, world)
    made = _together(world, world.from_tiles, list(shape), kind.name, elements, where)
    return _with_halo(Array._of(made), dist)


def _together(world, work: Callable, *arguments: Any) -> Any:
    """Does some work on every process, waits for the others, and fails if it failed on one of them.

    Otherwise those where it went well would go on and wait for the rest.
    """
    if len(world.hosted) == world.ranks:
        return work(*arguments)
    result, error = None, None
    try:
        result = work(*arguments)
    except Exception as raised:
        error = raised
    failed = _failed(world, error is not None)
    if error is not None:
        raise error
    if failed:
        raise RuntimeError(f"this failed on another process: rank {failed[0]} says why")
    return result


def _failed(world, mine: bool) -> list[int]:
    """The ranks on whose processes something failed. This tells them so, even within `no_comm`."""
    flags = np.empty(world.ranks, np.uint8)
    before = world.forbid(False)
    try:
        own = np.full(1, mine, np.uint8)
        world.from_tiles([world.ranks], "uint8", lambda *_: own, "block(r)").whole_into(flags)
    finally:
        world.forbid(before)
    return [int(rank) for rank in np.flatnonzero(flags)]


# --------------------------------------------------------------------------------------- from files


def load(
    path: str | os.PathLike, *, dist: Any = "auto", mesh: Any = None
) -> Array | dict[str, Array]:
    """The array of a `.npy` file, or those of a `.npz` file by their names.

    Every process maps the file and reads what its ranks own. Compressed members of a `.npz` file
    cannot be read in parts: every process reads them whole.

    >>> import numpy as np, pantile as pt, tempfile
    >>> path = tempfile.mkdtemp() + "/a.npy"
    >>> np.save(path, np.arange(6).reshape(2, 3))
    >>> pt.load(path, dist=1).shape
    (2, 3)
    """
    from pantile import _world

    opened = _together(_world.world(), _open, Path(path))
    if isinstance(opened, np.ndarray):
        return _loaded(opened, dist, mesh)
    arrays = {}
    for name, whole in opened.items():
        try:
            arrays[name] = _loaded(whole, dist, mesh)
        except (ValueError, TypeError) as error:  # one `dist` need not be right for all of them
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"{path}[{name}.npy]: {error}") from error
    return arrays


def _loaded(whole: np.ndarray, dist: Any, mesh: Any) -> Array:
    kind = whole.dtype.newbyteorder("=")
    return _made(whole.shape, kind, lambda _, runs: whole[_places(runs)], dist, mesh)


def _open(path: Path) -> np.ndarray | dict[str, np.ndarray]:
    """The array of a file, or its arrays, mapped and not yet read."""
    with open(path, "rb") as file:
        magic = file.read(6)
        if magic == npy.MAGIC_PREFIX:
            return _mapped(path, file, 0)
    if magic[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return _members(path)
    raise ValueError(f"{path}: it begins with {magic!r}, expected a .npy or .npz file of NumPy")


def _members(path: Path) -> dict[str, np.ndarray]:
    try:
        with zipfile.ZipFile(path) as archive, open(path, "rb") as file:
            infos = [info for info in archive.infolist() if info.filename.endswith(".npy")]
            return {info.filename[:-4]: _member(path, archive, file, info) for info in infos}
    except zipfile.BadZipFile as error:
        raise ValueError(f"{path}: {error}, expected a .npz file of NumPy") from error


def _member(
    path: Path, archive: zipfile.ZipFile, file: BinaryIO, info: zipfile.ZipInfo
) -> np.ndarray:
    name = f"{path}[{info.filename}]"
    if info.compress_type == zipfile.ZIP_STORED:
        start = _member_offset(file, info)
        return _mapped(path, file, start, name, start + info.file_size)
    try:
        with archive.open(info) as member:
            whole = npy.read_array(member, allow_pickle=False)
    except DAMAGED as error:
        raise ValueError(f"{name}: {error}") from error
    _check_type(name, whole.dtype)
    return whole


def _member_offset(file: BinaryIO, info: zipfile.ZipInfo) -> int:
    """Where the bytes of a member begin: behind a header whose length the directory does not know."""
    file.seek(info.header_offset)
    header = file.read(30)
    if len(header) < 30 or header[:4] != b"PK\x03\x04":
        raise zipfile.BadZipFile(f"there is no member at {info.header_offset}")
    name, extra = struct.unpack("<HH", header[26:])
    return info.header_offset + 30 + name + extra


def _mapped(
    path: Path, file: BinaryIO, offset: int, name: str | None = None, end: int | None = None
) -> np.ndarray:
    """The array whose `.npy` header is at `offset` of a file, with its elements before `end`."""
    name, end = name or str(path), os.stat(path).st_size if end is None else end
    file.seek(offset)
    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    try:
        version = npy.read_magic(file)
        if version not in readers:
            raise ValueError(f"got version {version} of the format, expected 1.0 or 2.0")
        shape, fortran, kind = readers[version](file)
        _check_type(name, kind)
        if 0 in shape:
            return np.empty(shape, kind)
        start, promised = file.tell(), prod(shape) * kind.itemsize
        there = max(end - start, 0)
        if there < promised:
            raise ValueError(f"the header promises {promised} bytes of elements, {there} are there")
        return np.memmap(path, kind, "r", start, shape, "F" if fortran else "C")
    except (ValueError, TypeError) as error:
        words = str(error)
        raise ValueError(words if words.startswith(name) else f"{name}: {words}") from error


def _check_type(name: str, kind: np.dtype) -> None:
    if kind.newbyteorder("=").name not in TYPES:
        raise ValueError(f"{name}: got elements of {kind}, expected one of {', '.join(TYPES)}")


# --------------------------------------------------------------------------------------- into files


def save(path: str | os.PathLike, array: Array | Mapping[str, Array]) -> None:
    """Writes an array to a `.npy` file, or arrays by name to a `.npz` file.

    Every process writes what its ranks own; the file is the same for any distribution. A `.npz`
    file gets its arrays one after the other, each by way of a `.npy` file beside it; one array
    alone is called `arr_0`.

    >>> import numpy as np, pantile as pt, tempfile
    >>> path = tempfile.mkdtemp() + "/a.npy"
    >>> pt.save(path, pt.ones((2, 3)))
    >>> np.load(path).sum()
    np.float64(6.0)
    """
    target = Path(path)
    if target.suffix == ".npz":
        arrays = array if isinstance(array, Mapping) else {"arr_0": array}
        return _save_archive(target, {name: _as_array(one) for name, one in arrays.items()})
    if target.suffix != ".npy":
        raise ValueError(f"{target}: got the ending {target.suffix!r}, expected .npy or .npz")
    if isinstance(array, Mapping):
        raise ValueError(f"{target}: got several arrays, expected one, or a file that ends in .npz")
    return _save_one(target, _as_array(array))


def _as_array(value: Any) -> Array:
    from pantile._array import Array

    if not isinstance(value, Array):
        raise TypeError(f"got {type(value).__name__}, expected an array of pantile")
    return Array._of(value._h)  # without halos, if it has some


def _save_one(target: Path, array: Array) -> None:
    world, kind = array._h.world, array.dtype
    # Computing comes first: if it fails, the file that was there before stays as it was.
    sections = array.sections
    _together(world, _create, world, target, array.shape, kind)
    _together(world, _write, target, sections)


def _is_first(world) -> bool:
    """True on the process that does what only one may do."""
    return 0 in world.hosted


def _create(world, target: Path, shape: tuple[int, ...], kind: np.dtype) -> None:
    """The first process makes the file, at its full length."""
    if not _is_first(world):
        return
    header = {"descr": npy.dtype_to_descr(kind), "fortran_order": False, "shape": shape}
    with open(target, "wb") as file:
        npy.write_array_header_1_0(file, header)
        _reserve(file, file.tell() + prod(shape) * kind.itemsize)


def _reserve(file: BinaryIO, length: int) -> None:
    """Makes a file so long, with room on the disk: mapped files have no other way to say that there
    is none than to end the process.
    """
    file.flush()
    file.truncate(length)
    if length and hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(file.fileno(), 0, length)
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
                raise OSError(error.errno, f"no room for {length} bytes", file.name) from error


def _write(target: Path, sections: list) -> None:
    """Writes what the ranks of this process own."""
    with open(target, "rb") as file:
        npy.read_magic(file)
        shape, _, kind = npy.read_array_header_1_0(file)
        offset = file.tell()
    if 0 in shape:
        return
    whole = np.memmap(target, kind, "r+", offset, shape)
    written: list[Runs] = []
    for section in sections:
        if section.data.size and section.runs not in written:  # of copies one is enough
            written.append(section.runs)
            whole[_places(section.runs)] = section.data
    whole.flush()


def _save_archive(target: Path, arrays: dict[str, Array]) -> None:
    """Writes one array after the other: its file, then the file into the archive."""
    from pantile import _world

    world = next(iter(arrays.values()))._h.world if arrays else _world.world()
    parts = {name: target.with_name(f"{target.name}.{at}.npy") for at, name in enumerate(arrays)}
    draft = target.with_name(f"{target.name}.part")
    try:
        _together(world, _remove, world, draft)
        for name, part in parts.items():
            _save_one(part, arrays[name])
            _together(world, _pack, world, draft, f"{name}.npy", part)
        _together(world, _finish, world, draft, target)
    finally:
        if _is_first(world):
            for leftover in (*parts.values(), draft):
                leftover.unlink(missing_ok=True)


def _remove(world, draft: Path) -> None:
    if _is_first(world):
        draft.unlink(missing_ok=True)


def _pack(world, draft: Path, name: str, part: Path) -> None:
    if _is_first(world):
        with zipfile.ZipFile(draft, "a", zipfile.ZIP_STORED) as archive, open(part, "rb") as file:
            with archive.open(name, "w", force_zip64=True) as member:
                shutil.copyfileobj(file, member, 1 << 20)
        part.unlink()


def _finish(world, draft: Path, target: Path) -> None:
    if _is_first(world):
        if not draft.exists():
            zipfile.ZipFile(draft, "w").close()
        draft.replace(target)
