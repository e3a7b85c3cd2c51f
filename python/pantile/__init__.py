"""Distributed n-d arrays: NumPy code on many workers, the same bits on 1 and on 1,000.

>>> import pantile as pt
>>> u = pt.zeros((6, 6))
>>> u[0, :] = 1.0
>>> u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
>>> float(u.sum())
7.0
"""

try:
    import pantile._core
except ImportError as _error:
    from ._loading import explained as _explained

    raise _explained(_error) from _error

from . import dap, random
from ._absent import *  # noqa: F403
from ._array import Array
from ._blocks import map_blocks, map_overlap, stencil
from ._core import Fault as PantileError
from ._core import OutOfMemory, WorkerLost
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
from ._cuts import Block, Cyclic, Indexed, Whole
from ._dist import Distribution
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
from ._halo_exchange import HaloExchange
from ._halos import Halo, halos
from ._info import __array_namespace_info__
from ._interchange import from_distarray, from_dlpack
from ._local import from_locals
from ._partitioned import from_partitioned
from ._io import from_callback, load, save
from ._mesh import Mesh
from ._partition import Partition
from ._pipeline import pipeline
from ._plan import Estimate, Picture, Plan, Transfer, plan
from ._primitives import AllGather, AllSumReduce, Broadcast, ReduceScatter, Repartition, SumReduce
from ._products import *  # noqa: F403
from ._progress import progress
from ._reductions import *  # noqa: F403
from ._scopes import comm_stats, no_comm, steps_per_exchange
from ._sections import Section
from ._shapes import *  # noqa: F403
from ._spmd import spmd, world
from ._world import hosted_ranks, init, rank, ranks

__all__ = [
    "__array_api_version__", "__array_namespace_info__", "__version__", "abs", "acos", "acosh",
    "add", "all", "any", "arange", "argmax", "argmin", "argsort", "Array", "asarray", "asin",
    "asinh", "astype", "atan", "atan2", "atanh", "bitwise_and", "bitwise_invert",
    "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "bool",
    "broadcast_arrays", "broadcast_to", "can_cast", "ceil", "clip", "comm_stats", "complex128",
    "complex64", "compute", "concat", "conj", "copysign", "cos", "cosh", "count_nonzero",
    "cumulative_prod", "cumulative_sum", "dap", "diff", "Distribution", "divide", "e", "empty",
    "empty_like", "equal", "erf", "exp", "expand_dims", "expm1", "eye", "finfo", "flip", "float32",
    "float64", "floor", "floor_divide", "from_callback", "from_distarray", "from_dlpack", "from_locals", "from_partitioned", "full", "full_like",
    "greater", "greater_equal", "hosted_ranks", "hypot", "iinfo", "imag", "inf", "init", "int16",
    "int32", "int64", "int8", "isdtype", "isfinite", "isinf", "isnan", "less", "less_equal",
    "linspace", "load", "log", "log10", "log1p", "log2", "logaddexp", "logical_and", "logical_not",
    "logical_or", "logical_xor", "matmul", "matrix_transpose", "max", "maximum", "mean", "Mesh",
    "meshgrid", "min", "minimum", "moveaxis", "multiply", "nan", "negative", "newaxis", "nextafter",
    "no_comm", "nonzero", "not_equal", "ones", "ones_like", "OutOfMemory", "PantileError", "permute_dims", "pi",
    "positive", "pow", "prod", "progress", "random", "rank", "ranks", "real", "reciprocal",
    "remainder", "repeat", "reshape", "result_type", "roll", "round", "save", "searchsorted",
    "Section", "sign", "signbit", "sin", "sinh", "sort", "sqrt", "square", "squeeze", "stack",
    "std", "steps_per_exchange", "subtract", "sum", "take", "take_along_axis", "tan", "tanh", "tensordot", "tile", "tril",
    "triu", "trunc", "uint16", "uint32", "uint64", "uint8", "unique_all", "unique_counts",
    "unique_inverse", "unique_values", "unstack", "var", "vecdot", "vector_norm", "where", "zeros",
    "zeros_like",
    "AllGather", "AllSumReduce", "Broadcast", "Halo", "HaloExchange", "halos", "Partition",
    "ReduceScatter", "Repartition", "spmd", "SumReduce", "world",
    "Block", "Cyclic", "Estimate", "Indexed", "map_blocks", "map_overlap", "Picture", "pipeline", "Plan", "plan",
    "stencil", "Transfer", "Whole", "WorkerLost",
]  # fmt: skip

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
        arrays[0]._h.compute([one._h for one in arrays[1:]])
    return arrays
