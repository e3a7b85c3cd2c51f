"""Sizes at and around every threshold that the code has."""

from pantile import _core

#: Elements of an array that is drawn now and then, and of one that is drawn rarely.
USUAL, LARGE = 40_000, 600_000


def lengths(limit, itemsize):
    """All lengths up to a limit at which some loop may change its way: thresholds count elements or
    bytes, of an array or of each of a few ranks."""
    found = set()
    for number in _core.thresholds().values():
        for elements in {number, number // itemsize}:
            for times in (1, 2, 3, 5):
                for near in (-1, 0, 1):
                    length = elements * times + near
                    if 0 < length <= limit:
                        found.add(length)
    return sorted(found)


class Sizes:
    """Draws lengths; remembers the lists."""

    def __init__(self, rng):
        self.rng = rng
        self.known = {}

    def length(self, limit, itemsize=8):
        """A length near a threshold, at most `limit`."""
        key = limit, itemsize
        if key not in self.known:
            self.known[key] = lengths(limit, itemsize)
        return self.rng.choice(self.known[key] or [1])

    def shape(self, ndim, itemsize=8):
        """Lengths of so many axes: small ones mostly, or one that is near a threshold."""
        kind = self.rng.random()
        if ndim == 0:
            return ()
        if kind < 0.55:
            return tuple(self.rng.randint(0 if self.rng.random() < 0.1 else 1, 9) for _ in range(ndim))
        limit = USUAL if kind < 0.97 else LARGE
        shape = [self.rng.randint(1, 6) for _ in range(ndim)]
        rest = 1
        for length in shape[1:]:
            rest *= length
        shape[0] = self.length(max(1, limit // rest), itemsize)
        if ndim > 1 and self.rng.random() < 0.4:
            other = max(1, limit // shape[0])
            shape[1:] = [1] * (ndim - 1)
            shape[-1] = self.length(min(other, 2100), itemsize) if other > 1 else 1
        self.rng.shuffle(shape)
        return tuple(shape)
