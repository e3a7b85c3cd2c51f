import numpy as np


def data(seed, shape, dtype, special=0):
    """Numbers of a seed: small ones, with a few special ones among them."""
    rng, dtype = np.random.default_rng(seed), np.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        low, high = (limits.min, limits.max) if special else (max(limits.min, -9), 9)
        return rng.integers(low, high, shape, dtype=dtype, endpoint=True)
    if dtype.kind == "c":
        return (data(seed, shape, "f8") + 1j * data(seed + 1, shape, "f8")).astype(dtype)
    made = rng.standard_normal(shape) * 10.0 ** rng.integers(-2, 3)
    if special:
        values = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-310, 1.0, -1.0, 2.5, 1e300]
        made = np.where(rng.random(shape) < 0.2, rng.choice(values, shape), made)
    with np.errstate(all="ignore"):
        return np.asarray(made).astype(dtype)
