"""Functions that programs call: of elements, reductions, shapes, and NumPy's own on arrays of ours."""

import inspect

import numpy as np

from program import one

EXACT = "abs ceil floor trunc round negative positive square sqrt sign isnan isfinite isinf signbit conj".split()
ROUNDED = (
    "exp expm1 log log1p log2 log10 sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh reciprocal"
).split()
OPERATORS = "+ - * / // % < <= == != > >=".split()
BITS = "& | ^ << >>".split()
PAIRS = "maximum minimum copysign logical_and logical_or logical_xor hypot atan2 logaddexp nextafter".split()
REDUCTIONS = "sum mean std var max min any all count_nonzero argmax argmin prod".split()
#: How results are compared.
HOW = {"sum": "sum", "mean": "sum", "std": "sum", "var": "square", "prod": "near", "max": "zero",
       "min": "zero", "maximum": "zero", "minimum": "zero", "clip": "zero", "hypot": "near", "atan2": "near",
       "logaddexp": "sum"}  # fmt: skip


def elementwise(make):
    """A function of one array, or of two that go together."""
    name, source = make.new(), make.array()
    if source is None:
        return None
    array, kind = make.names[source], make.rng.random()
    letter = array.dtype.kind
    if kind < 0.3:
        choice = make.pick(*(EXACT if letter not in "fc" or make.rng.random() < 0.5 else ROUNDED))
        if choice in ("sqrt", "reciprocal") and letter not in "fc":
            return None
        if choice == "signbit" and letter == "f" and np.isnan(array).any():  # signs of NaN are not said
            return None
        if choice == "conj" and letter == "b":  # NumPy makes numbers of truth values
            return None
        how = "exact" if choice in EXACT and letter != "c" else "near"
        return one(f"{name} = <pt|np>.{choice}({source})", target=name, how=how)
    if kind < 0.38:
        goal = make.dtype()
        if letter == "c" and np.dtype(goal).kind not in "cb":
            return None
        if letter == "f" and np.dtype(goal).kind in "iu" and not _fits(array, goal):
            return None
        return one(f"{name} = <pt|np>.astype({source}, '{goal}')", target=name)
    if kind < 0.45 and letter in "iuf":
        low, high = make.number(array.dtype), make.number(array.dtype)
        return one(f"{name} = <pt|np>.clip({source}, {low}, {high})", target=name, how="zero")
    beside = make.array(lambda a: _together(a, array) and (a.dtype == array.dtype or make.rng.random() < 0.3))
    other = beside if beside is not None and make.rng.random() < 0.7 else make.number(array.dtype)
    if kind < 0.52 and letter in "iuf":
        return one(f"{name} = <pt|np>.where({source} > 0, {source}, {other})", target=name)
    if kind < 0.65:
        choice = make.pick(*PAIRS)
        how = HOW.get(choice, "exact")
        if choice in ("hypot", "atan2", "logaddexp", "copysign", "nextafter") and letter != "f":
            return None
        if choice == "copysign" and _has_nan(make, other):
            return None
        return one(f"{name} = <pt|np>.{choice}({source}, {other})", target=name, how=how, of=[source])
    bits = letter in "biu" and make.rng.random() < 0.3
    operator = "**" if make.rng.random() < 0.15 else make.pick(*(BITS if bits else OPERATORS))
    letters = letter + _letter(make, other)
    # NumPy takes the square root for 0.5, also of an infinity below zero, whose power is infinite.
    if operator == "**" and ("c" in letters or "b" in letters or other == "0.5"):
        return None
    how = {"**": "near", "//": "floor"}.get(operator, "exact") if "c" not in letters else "near"
    # NumPy writes some of the elements before it refuses a negative power.
    partly = operator == "**" and letter != "f"
    if kind < 0.75 and not partly and operator not in ("<", "<=", "==", "!=", ">", ">="):
        return one(f"{source} {operator}= {other}", target=source, how=how)
    left, right = (source, other) if make.rng.random() < 0.8 else (other, source)
    return one(f"{name} = {left} {operator} {right}", target=name, how=how)


def _has_nan(make, other):
    return other in make.names and make.names[other].dtype.kind == "f" and bool(np.isnan(make.names[other]).any())


def _letter(make, other):
    return make.names[other].dtype.kind if other in make.names else "c" if "j" in other else "f"


def _fits(array, goal):
    limits = np.iinfo(goal)
    return bool(np.isfinite(array).all() and (array > limits.min).all() and (array < limits.max).all())


def _together(a, b):
    try:
        return np.broadcast_shapes(a.shape, b.shape) is not None and a.size * b.size < 1e9
    except ValueError:
        return False


def _axis(make, ndim, several=True):
    """An axis, several of them, or none, as text."""
    if ndim == 0 or make.rng.random() < 0.3:
        return "None"
    if several and ndim > 1 and make.rng.random() < 0.2:
        return str(tuple(make.rng.sample(range(ndim), 2)))
    return str(make.rng.randrange(-ndim, ndim))


def reduced(make):
    """A reduction, or a product."""
    name, source = make.new(), make.array()
    if source is None:
        return None
    array, choice = make.names[source], make.pick(*REDUCTIONS, "norm", "matmul", "matmul", "vecdot")
    if choice in ("matmul", "vecdot"):
        return _product(make, name, source, choice)
    if choice == "norm":
        if array.dtype.kind not in "fc":
            return None
        more = f"axis={_axis(make, array.ndim, False)}, ord={make.pick('1', '2', 'np.inf')}, keepdims={make.pick(True, False)}"
        return one(f"{name} = <pt.vector_norm|np.linalg.vector_norm>({source}, {more})", target=name, how="sum", of=[source])
    axis = _axis(make, array.ndim, not choice.startswith("arg"))
    more = f"axis={axis}, keepdims={make.pick(True, False)}"
    if choice in ("std", "var") and make.rng.random() < 0.4:
        more += f", correction={make.pick(0, 1)}"
    if choice in ("std", "var", "max", "min", "argmax", "argmin") and array.dtype.kind in "cb":
        return None
    how = HOW.get(choice, "exact")
    if choice == "prod" and array.size > 64:
        how = "exact" if array.dtype.kind in "biu" else "same"
    return one(f"{name} = <pt|np>.{choice}({source}, {more})", target=name, how=how, of=[source])


def _product(make, name, source, choice):
    array = make.names[source]
    if array.ndim == 0 or array.dtype.kind == "b" or array.size > 50_000:
        return None
    if choice == "vecdot":
        other = make.array(lambda a: a.shape == array.shape and a.dtype == array.dtype)
        return one(f"{name} = <pt|np>.vecdot({source}, {other})", target=name, how="sum" if array.dtype.kind == "f" else "near", of=[source, other]) if other and array.dtype.kind != "c" else None
    columns = make.rng.choice([1, 2, 3, 7, make.sizes.length(max(1, 50_000 // max(1, array.shape[-1])))])
    shape = (array.shape[-1], columns) if make.rng.random() < 0.8 else (array.shape[-1],)
    if array.size * columns > 20_000_000:
        return None
    given = f"data({make.rng.randrange(1000)}, {shape}, '{array.dtype}')"
    beside = f"<pt.asarray(|>{given}<, dist={make.where(len(shape))})|>"
    return one(f"{name} = {source} @ {beside}", target=name, how="product", of=[source, given])


def shaped(make):
    """The same elements in another shape, order or company."""
    name, source = make.new(), make.array(lambda a: a.ndim > 0)
    if source is None:
        return None
    array, choice = make.names[source], make.rng.randrange(9)
    axis = make.rng.randrange(array.ndim)
    beside = make.array(lambda a: a.shape == array.shape and a.dtype == array.dtype)
    if choice == 0:
        shape = make.pick((-1,), (array.size, 1), (1, *array.shape), array.shape[::-1])
        own = "" if array.flags.c_contiguous else ".copy()"
        return one(f"{name} = <pt|np>.reshape({source}, {shape}){own}", target=name)
    if choice == 1:
        order = tuple(make.rng.sample(range(array.ndim), array.ndim))
        return one(f"{name} = <pt|np>.permute_dims({source}, {order})", target=name)
    if choice in (2, 3):
        function = make.pick("concat", "stack")
        return one(f"{name} = <pt|np>.{function}([{source}, {beside}], axis={axis})", target=name)
    if choice == 4:
        shift = make.pick(1, -1, 3, array.shape[axis], 7)
        return one(f"{name} = <pt|np>.roll({source}, {shift}, axis={make.pick(axis, None, ())})", target=name)
    if choice == 5:
        return one(f"{name} = <pt|np>.flip({source}, axis={make.pick(axis, None)}).copy()", target=name)
    if choice == 6:
        return one(f"{name} = <pt|np>.expand_dims({source}, axis={axis})", target=name)
    if choice == 7:
        times = make.pick(2, 3)
        return one(f"{name} = <pt|np>.broadcast_to({source}, {(times, *array.shape)}).copy()", target=name)
    return one(f"{name} = <pt|np>.{make.pick('tile', 'repeat')}({source}, {make.pick('(2,)', '2')})", target=name)


#: NumPy's functions that are called with an array of ours; every other parameter may be drawn.
DISPATCHED = "sum prod mean std var max min any all argmax argmin clip round roll flip squeeze concatenate diff".split()
#: Keywords that were obeyed always.
OBEYED = {"axis", "keepdims", "ddof"}


def _values(make, array):
    """What keywords get, by their names."""
    # Floats beyond the integers become any integers, in NumPy too.
    types = ["'float64'", "'float32'"] + (["'int64'"] if array.dtype.kind in "iu" else [])
    return {
        "axis": _axis(make, array.ndim, False), "dtype": make.pick(*types),
        "keepdims": make.pick("True", "False"), "initial": make.pick("0", "1"), "ddof": make.pick("0", "1"),
        "where": f"data(3, {array.shape}, 'bool')", "min": make.number(array.dtype), "max": make.number(array.dtype),
        "a_min": make.number(array.dtype), "a_max": make.number(array.dtype), "decimals": make.pick("0", "1"),
        "shift": "1", "n": make.pick("1", "2"), "correction": make.pick("0", "1"), "casting": "'same_kind'",
        "order": make.pick("'C'", "'F'", "'K'"), "out": "None",
    }  # fmt: skip


def _overflows(array):
    """True if a product of some of these may leave the numbers of float32: then the order decides."""
    size = np.abs(array.astype("f8"))
    size = size[np.isfinite(size) & (size > 0)]
    return bool(np.abs(np.log10(size)).sum() > 30)


def dispatched(make):
    """A function of NumPy's with keywords of its own signature: obeyed, or refused by name."""
    name, choice = make.new(), make.pick(*DISPATCHED)
    source = make.array(lambda a: a.ndim > 0 and a.dtype.kind in "iuf" and a.size < 20_000)
    if source is None:
        return None
    array = make.names[source]
    known, needed = _values(make, array), {"clip": ["min", "max"], "roll": ["shift"]}.get(choice, [])
    allowed = [key for key in inspect.signature(getattr(np, choice)).parameters if key in known]
    drawn = {key: known[key] for key in allowed if key in needed or make.rng.random() < 0.3}
    if choice == "clip":
        drawn = {key: value for key, value in drawn.items() if key not in ("a_min", "a_max")}
    drawn.update({key: known[key] for key in needed})
    given = f"[{source}, {source}]" if choice == "concatenate" else source
    words = "".join(f", {key}={value}" for key, value in drawn.items())
    how = HOW.get(choice, "exact")
    if choice == "prod" and (array.size > 64 or _overflows(array)):
        how = "same"
    copied = ".copy()" if choice in ("flip", "squeeze") else ""
    return one(f"{name} = np.{choice}({given}{words}){copied}", target=name, how=how, of=[source])
