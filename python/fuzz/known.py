"""Defects that are known and being mended: the fuzzer avoids them. Delete a line to look for one."""

KNOWN = {
    "one element is a view",  # a[i] with a number on every axis
    "keywords of NumPy's functions",  # np.sum(a, initial=...) drops them
    "reductions on short axes in steps_per_exchange",
    "integers to negative powers",
    "floor division of and by infinity",  # inf // 1.0 is nan, -1.0 // inf is -1.0
    "places in empty arrays",  # argmax of an array of shape (0, 0) along an axis
    "complex powers",  # (0.5+0j) ** 1e18j
}
