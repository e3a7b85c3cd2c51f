"""The compiled core may fail to load: then this says what happened, and what to do."""

from __future__ import annotations

import re

#: How loaders begin when a library is not there: glibc, musl, macOS.
_MISSING = (
    r"^(?P<name>\S+\.so[.\d]*): cannot open shared object file",
    r"^Error loading shared library (?P<name>\S+):",
    r"Library not loaded: (?P<name>\S+)",
)


def explained(error: ImportError) -> ImportError:
    """An error that says more than the loader does.

    >>> print(explained(ImportError("libmpi.so.40: cannot open shared object file: No such file")))
    pantile was built with MPI, but its library libmpi.so.40 is not on this machine: install that MPI (on \
Debian and Ubuntu: openmpi-bin or mpich) or name its folder in LD_LIBRARY_PATH, or install pantile \
without MPI: PANTILE_MPI=0 pip install . in its source folder
    """
    if isinstance(error, ModuleNotFoundError):
        return ImportError(
            "pantile's compiled core is not here: install the package (pip install . in its source "
            "folder), and start Python from elsewhere",
            name=error.name,
        )
    found = next(filter(None, (re.search(one, str(error)) for one in _MISSING)), None)
    name = found["name"].rsplit("/", 1)[-1] if found else ""
    if name.startswith(("libmpi", "libpmpi", "libmpich")):
        words = (
            f"pantile was built with MPI, but its library {name} is not on this machine: install that "
            "MPI (on Debian and Ubuntu: openmpi-bin or mpich) or name its folder in "
            "LD_LIBRARY_PATH, or install pantile without MPI: PANTILE_MPI=0 pip install . in its "
            "source folder"
        )
    elif found:
        words = (
            f"pantile's compiled core needs the library {name}, which is not on this machine: install "
            "it, or build pantile here: pip install . in its source folder"
        )
    else:
        words = (
            f"pantile's compiled core cannot be loaded ({error}): build it on this machine, with this "
            "Python: pip install . in its source folder"
        )
    return ImportError(words, name=error.name, path=error.path)
