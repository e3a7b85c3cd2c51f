"""Whether two results are the same, as far as they promise to be."""

import numpy as np


def difference(ours, theirs, how, scale):
    """What differs, as a sentence; nothing if they are alike. `scale` is the size of rounding errors of a
    sum's terms, all together."""
    if ours.shape != theirs.shape:
        return f"shape {ours.shape}, NumPy has {theirs.shape}"
    if ours.dtype != theirs.dtype:
        return f"type {ours.dtype}, NumPy has {theirs.dtype}"
    if how == "same" or ours.size == 0:
        return None
    kind = ours.dtype.kind
    if kind in "biu":
        wrong = ours != theirs
    elif how == "exact":
        wrong = ~_alike(ours, theirs)
    elif how == "floor":
        # NumPy rounds a quotient before it takes the floor; where not every whole number has a float,
        # that is another number now and then.
        large = np.isfinite(theirs) & (np.abs(theirs) >= 1 / np.finfo(theirs.dtype).eps)
        wrong = ~_alike(ours, theirs) & (~large | _far(ours, theirs, 256, 0.0))
    elif how == "zero":  # which of two zeros is the larger one is not said
        wrong = ~((ours == theirs) | ((ours != ours) & (theirs != theirs)))
    else:
        units = 4096 if kind == "c" else 256
        wrong = _far(ours, theirs, units, 0.0 if how == "near" else scale)
    if not wrong.any():
        return None
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{int(wrong.sum())} of {ours.size} elements differ, first at {at}: {ours[at]!r}, NumPy has {theirs[at]!r}"


def _alike(a, b):
    """Equal, with the sign of zeros; all NaNs are alike."""
    if a.dtype.kind == "c":
        return _alike(a.real, b.real) & _alike(a.imag, b.imag)
    return ((a == b) & (np.signbit(a) == np.signbit(b))) | ((a != a) & (b != b))


def _far(a, b, units, scale):
    """True where two numbers are further apart than rounding explains. What is not finite is compared as
    such; complex numbers that overflowed are not."""
    if scale is None:  # terms so large that partial sums may overflow
        return np.zeros(a.shape, bool)
    eps = np.finfo(a.dtype).eps
    finite = np.isfinite(a) & np.isfinite(b)
    x, y = np.where(finite, a, 0), np.where(finite, b, 0)
    limit = units * eps * np.abs(y) + scale * eps * 4 + 4 * np.finfo(a.dtype).tiny
    far = np.abs(x - y) > limit
    other = ~finite & ~_alike(a, b) if a.dtype.kind != "c" else np.zeros(a.shape, bool)
    return far | other


def scale_of(how, arrays, result):
    """How large the terms of a sum over these arrays are together; None if partial sums of the result's
    type may overflow."""
    scale = 1.0
    for array in arrays:
        if not array.size:
            continue
        size = np.abs(array.astype("c16" if array.dtype.kind == "c" else "f8"))
        size = size[np.isfinite(size)]
        largest = float(size.max()) if size.size else 0.0
        if largest > (1e15 if {array.dtype, result} & {np.dtype("f4"), np.dtype("c8")} else 1e100):
            return None
        scale *= largest**2 if how == "square" else largest
    count = max((max(a.shape, default=1) if how == "product" else a.size for a in arrays), default=1)
    return scale * count
