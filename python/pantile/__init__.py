"""Distributed n-d arrays: NumPy code on many workers, the same bits on 1 and on 1,000.

>>> import pantile as pt
>>> u = pt.zeros((6, 6))
>>> u[0, :] = 1.0
>>> u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
>>> float(u.sum())
7.0
"""

from . import random
from ._absent import *  # noqa: F403
from ._array import Array, Section
from ._core import Fault as PantileError
from ._core import version as __version__
from ._creation import (
    arange,
    asarray,
    empty,
    empty_like,
    eye,
    full,
    full_like,
    linspace,
    meshgrid,
    ones,
    ones_like,
    tril,
    triu,
    zeros,
    zeros_like,
)
from ._dist import Distribution, Mesh
from ._dtypes import (
    bool,
    can_cast,
    complex64,
    complex128,
    finfo,
    float32,
    float64,
    iinfo,
    int8,
    int16,
    int32,
    int64,
    isdtype,
    result_type,
    uint8,
    uint16,
    uint32,
    uint64,
)
from ._elementwise import *  # noqa: F403
from ._info import __array_namespace_info__
from ._io import from_callback, load, save
from ._reductions import *  # noqa: F403
from ._scopes import comm_stats, no_comm
from ._show import progress
from ._shapes import *  # noqa: F403
from ._world import hosted_ranks, init, rank, ranks

__array_api_version__ = "2024.12"

e = 2.718281828459045
inf = float("inf")
nan = float("nan")
newaxis = None
pi = 3.141592653589793


def compute(*arrays: Array) -> tuple[Array, ...]:
    """Computes several arrays in one program; gives them back.

    >>> import pantile as pt
    >>> a, b = pt.compute(pt.arange(3) + 1, pt.ones(2))
    """
    if arrays:
        with progress():
            arrays[0]._h.compute([one._h for one in arrays[1:]])
    return arrays
