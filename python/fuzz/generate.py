"""Random programs. NumPy's side runs while a program is made, so that most statements have a meaning."""

import copy
import random

import numpy as np

from calls import dispatched, elementwise, reduced, shaped
from data import data
from program import THEIRS, block, one, side
from thresholds import LARGE, Sizes

TYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128".split()
LIKELY = ["float64", "float32", "int64", "int32"]


class Generator:
    """Makes one program."""

    def __init__(self, seed, ranks):
        self.rng = random.Random(seed)
        self.sizes = Sizes(self.rng)
        self.names = {"np": np, "copy": copy, "data": data}
        self.count = 0
        self.ranks = ranks

    # ---- choices

    def pick(self, *items):
        return self.rng.choice(items)

    def arrays(self, test=lambda array: True):
        """Names of arrays of which something holds."""
        return [k for k, v in self.names.items() if isinstance(v, np.ndarray) and k[0] == "v" and test(v)]

    def array(self, test=lambda array: True):
        """One of them, if there are any; later ones more often."""
        found = self.arrays(test)
        return self.rng.choice(found[-4:] if self.rng.random() < 0.7 else found) if found else None

    def new(self):
        """A name that is not used yet."""
        self.count += 1
        return f"v{self.count}"

    def dtype(self):
        return self.rng.choice(LIKELY if self.rng.random() < 0.5 else TYPES)

    def where(self, ndim):
        """A `dist=`, as text."""
        if ndim == 0 or self.rng.random() < 0.3:
            return self.pick("'auto'", "None")
        letters = "".join(self.pick("n", "b", "c") if at == self.count % ndim else "n" for at in range(ndim))
        return self.pick("0", "-1", "None", repr(letters), str(self.rng.randrange(ndim)))

    def number(self, dtype):
        """A number that fits beside such an array, as text."""
        kind = np.dtype(dtype).kind
        if kind == "b":
            return self.pick("True", "False")
        if kind in "iu":
            return str(self.rng.randint(0 if kind == "u" else -5, 7))
        return self.pick("0.5", "-1.25", "3", "-2.0", "1e-3", "0.0") if kind == "f" else self.pick("0.5", "(1-2j)")

    def key(self, shape):
        """An index, as text; never one number per axis."""
        parts = []
        for length in shape:
            kind = self.rng.random()
            if kind < 0.15 and length and len(shape) > 1 and "int" not in parts:
                parts.append(str(self.rng.randrange(-length, length)))
            elif kind < 0.35:
                parts.append(":")
            else:
                a, b = (self.rng.randint(0, min(length, 9) if self.rng.random() < 0.7 else length) for _ in "ab")
                step = self.pick("", "", ":2", ":3", ":-1")
                low, high = (a, length - b) if self.rng.random() < 0.7 else (a, b)
                parts.append(f"{high}:{low}{step}" if step == ":-1" else f"{low}:{high}{step}")
        if parts and all(":" not in part for part in parts):
            parts[-1] = ":"
        if not parts:
            return "..."
        return ", ".join(parts) + ("," if len(parts) == 1 and self.rng.random() < 0.3 else "")

    # ---- statements

    def created(self):
        """A new array."""
        name, dtype = self.new(), self.dtype()
        shape = self.sizes.shape(self.pick(0, 1, 1, 1, 2, 2, 2, 3), np.dtype(dtype).itemsize)
        where, kind = self.where(len(shape)), self.rng.random()
        if kind < 0.2:
            maker = self.pick("ones", "zeros")
            return one(f"{name} = <pt|np>.{maker}({shape}, dtype='{dtype}'<, dist={where}|>)", target=name)
        if kind < 0.3:
            line = f"{name} = <pt|np>.full({shape}, {self.number(dtype)}, dtype='{dtype}'<, dist={where}|>)"
            return one(line, target=name)
        if kind < 0.4:
            first, step = self.rng.randint(-5, 5), self.pick(1, 2, 3, 0.5)
            length = self.sizes.length(20_000)
            line = f"{name} = <pt|np>.arange({first}, {first + length * step}, {step}<, dist={self.where(1)}|>)"
            return one(line, target=name, how="near")
        if kind < 0.45:
            line = f"{name} = <pt|np>.linspace(-1.5, 4.0, {self.sizes.length(20_000)}<, dist={self.where(1)}|>)"
            return one(line, target=name, how="near")
        special = int(np.dtype(dtype).kind in "fiu" and self.rng.random() < 0.2)
        values = f"data({self.rng.randrange(1000)}, {shape}, '{dtype}', {special})"
        return one(f"{name} = <pt.asarray(|>{values}<, dist={where})|>", target=name)

    def view(self):
        """A slice."""
        source = self.array(lambda a: a.ndim > 0)
        if source is None:
            return None
        name = self.new()
        return one(f"{name} = {source}[{self.key(self.names[source].shape)}]", target=name)

    def element(self):
        """An element, as a value of this moment."""
        source = self.array(lambda a: a.ndim > 0 and a.size > 0)
        if source is None:
            return None
        name, key = self.new(), ", ".join(str(self.rng.randrange(-n, n)) for n in self.names[source].shape)
        return one(f"{name} = {source}[{key}]", target=name)

    def assigned(self):
        """A part of an array, or all of it, gets other values."""
        target = self.array(lambda a: a.ndim > 0)
        if target is None:
            return None
        array = self.names[target]
        key = self.key(array.shape) if self.rng.random() < 0.8 else "..."
        part, kind = eval(f"a[{key}]", {"a": array}), self.rng.random()
        beside = self.array(lambda a: a.dtype == array.dtype and a.shape == part.shape)
        if kind < 0.1 and array.dtype.kind in "iuf":
            return one(f"{target}[{target} > 1] = {self.number(array.dtype)}", target=target)
        if kind < 0.5 and beside is not None:
            value = beside
        elif kind < 0.7:
            given = f"data({self.rng.randrange(1000)}, {part.shape}, '{array.dtype}')"
            value = f"<pt.asarray(|>{given}<)|>"
        else:
            value = self.number(array.dtype)
        operator = self.pick("=", "=", "+=", "*=", "-=") if array.dtype.kind != "b" else "="
        how = "near" if array.dtype.kind == "c" and operator == "*=" else "exact"
        return one(f"{target}[{key}] {operator} {value}", target=target, how=how)

    def refused(self):
        """An assignment of a shape that does not fit: both sides refuse it, and nothing changes."""
        target = self.array(lambda a: a.ndim > 0)
        if target is None:
            return None
        array = self.names[target]
        key = self.key(array.shape)
        shape = (2, *(n + 2 for n in eval(f"a[{key}]", {"a": array}).shape))
        value = f"<pt.asarray(|>data(1, {shape}, '{array.dtype}')<)|>"
        return {**one(f"{target}[{key}] = {value}", target=target), "fails": True}

    def moved(self):
        """An array that lives elsewhere."""
        source = self.array()
        if source is None:
            return None
        name = self.pick(self.new(), source)
        where = self.where(self.names[source].ndim)
        return one(f"{name} = {source}<.redistribute({where})|.copy()>", target=name)

    def moved_and_changed(self):
        """An array that moves, and a part of which is changed at once, where it lives then."""
        source = self.array(lambda a: a.ndim > 0 and a.dtype.kind in "iuf")
        if source is None:
            return None
        name, array = self.new(), self.names[source]
        moved = one(f"{name} = {source}<.redistribute({self.where(array.ndim)})|.copy()>", target=name)
        operator, key = self.pick("+", "-", "*"), self.key(array.shape)
        changed = one(f"{name}[{key}] {operator}= {self.number(array.dtype)}", target=name)
        return block("for _ in range(1):", [moved, changed])

    def looked(self):
        """Looks at an array, or copies or drops it."""
        source = self.array()
        if source is None:
            return None
        kind = self.rng.random()
        if kind < 0.5:
            return one(f"np.asarray({source})")
        if kind < 0.7:
            return one(f"{source}<.compute()|.copy()>")
        if kind < 0.9:
            name, way = self.new(), self.pick("{}.copy()", "copy.copy({})", "copy.deepcopy({})", "np.copy({})")
            return one(f"{name} = {way.format(source)}", target=name)
        return one(f"del {source}") if len(self.arrays()) > 2 else None

    def loop(self):
        """Steps in time: every element becomes something of its neighbours."""
        source = self.array(lambda a: a.ndim in (1, 2) and min(a.shape) > 3 and a.dtype.kind == "f")
        if source is None:
            return None
        turns, wide = self.rng.randint(1, 6), self.pick(1, 1, 2)
        if self.names[source].shape[0] <= 2 * wide:
            return None
        near = f"({source}[:-{2 * wide}] + {source}[{2 * wide}:])"
        line = f"{source}[{wide}:-{wide}] = {near} * 0.25 + {source}[{wide}:-{wide}] * 0.5"
        body = [block(f"for _ in range({turns}):", [one(line, target=source)])]
        if self.rng.random() < 0.6:
            steps = self.rng.randint(1, 5)
            after = [one(f"{source}<.compute()|.copy()>")]
            return block(f"with <pt.steps_per_exchange({steps})|contextlib.nullcontext()>:", body + after)
        return body[0]

    # ---- all together

    def runs(self, statement):
        """NumPy's side, to see what there is; false if the statement is not kept."""
        if "head" in statement:
            turns = int(statement["head"].split("(")[1].split(")")[0]) if statement["head"][0] == "f" else 1
            return all(self.runs(inner) for _ in range(turns) for inner in statement["body"])
        try:
            with np.errstate(all="ignore"):
                exec(side(statement["line"], THEIRS), self.names)
        except Exception:
            return statement.get("fails", False) or self.rng.random() < 0.15
        made = self.names.get(statement["target"])
        if made is not None and not isinstance(made, np.ndarray):
            made = self.names[statement["target"]] = np.array(made)
        if made is not None and (made.size > LARGE or made.dtype.name not in TYPES):
            del self.names[statement["target"]]
            return False
        return True

    def program(self):
        """A program."""
        makers = [
            (self.created, 2), (self.view, 3), (self.assigned, 4), (self.moved, 2), (self.looked, 1), (self.loop, 1),
            (self.element, 1), (self.refused, 0.3), (self.moved_and_changed, 0.7),
            (lambda: elementwise(self), 6), (lambda: reduced(self), 4), (lambda: shaped(self), 4),
            (lambda: dispatched(self), 2),
        ]  # fmt: skip
        body = []
        wanted = self.rng.randint(4, 16)
        for at in range(4 * wanted):
            if len(body) == wanted:
                break
            make = self.created if at < 2 else self.rng.choices(*zip(*makers))[0]
            statement = make()
            if statement is not None and self.runs(statement):
                body.append(statement)
        return {"body": body, "ranks": self.ranks, "threads": self.pick(1, 1, 1, 2, 3)}
