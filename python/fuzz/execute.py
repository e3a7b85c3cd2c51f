"""Runs a program on both sides, and says what differs."""

import contextlib
import copy

import numpy as np

import pantile as pt
from compare import difference, scale_of
from data import data
from program import OURS, THEIRS, side, targets

#: What pantile may say to what NumPy takes: it is not there.
REFUSALS = (NotImplementedError, TypeError)


class Later(Exception):
    """An error that came when the value was looked at."""


def refused(event):
    """Whether pantile says that something is not there: a feature, or a function of such types."""
    return isinstance(event, REFUSALS) or (isinstance(event, ValueError) and "does not take" in str(event))


class Run:
    """One side of a program: its arrays, and what became of each statement in the order in which they ran."""

    def __init__(self, which, eager):
        self.which, self.eager = which, eager
        self.names = {"np": np, "pt": pt, "contextlib": contextlib, "copy": copy, "data": data}
        self.events = []

    def body(self, statements):
        """Runs statements, one after the other."""
        for statement in statements:
            if "head" not in statement:
                self.statement(statement)
                continue
            head = side(statement["head"], self.which)
            if head.startswith("for"):
                for _ in eval(head[head.index("range") : -1]):
                    self.body(statement["body"])
            else:
                with eval(head[len("with ") : -1], self.names):
                    self.body(statement["body"])

    def statement(self, statement):
        """Runs one, and notes its error or, if eager, its value."""
        try:
            exec(side(statement["line"], self.which), self.names)
        except Exception as error:
            self.events.append((statement, error))
            return
        name, value = statement["target"], None
        if self.eager and name in self.names:
            value = self._value(name)
        self.events.append((statement, value))

    def _value(self, name):
        try:
            return np.array(self.names[name])
        except Exception as error:
            return Later(f"{type(error).__name__}: {error}")

    def ends(self, names):
        """What all arrays are at last."""
        return {name: self._value(name) for name in names if name in self.names}


class Follow(Run):
    """NumPy's side: after each statement it is compared with ours, and goes on with ours where the two
    may round differently."""

    def __init__(self, ours):
        super().__init__(THEIRS, False)
        self.ours, self.at, self.finding = ours, 0, None

    def statement(self, statement):
        if self.finding is not None or self.at >= len(self.ours):
            return
        _, mine = self.ours[self.at]
        self.at += 1
        if refused(mine):
            return
        name, how = statement["target"], statement["how"]
        before = [np.array(eval(one, self.names)) for one in statement["of"] if not one.isidentifier() or one in self.names]
        try:
            exec(side(statement["line"], THEIRS), self.names)
        except Exception as error:
            if not isinstance(mine, Exception):
                self._differs("errors", statement, f"NumPy says {type(error).__name__}: {error}; pantile computes")
            return
        if isinstance(mine, Exception):
            said = f"{type(mine).__name__}: {mine}"
            self._differs("errors", statement, f"pantile says {said}; NumPy computes")
            return
        if name not in self.names or mine is None:
            return
        if not isinstance(self.names[name], np.ndarray):
            self.names[name] = np.array(self.names[name])
        scale = scale_of(how, before, mine.dtype) if how in ("sum", "square", "product") else 0.0
        what = difference(mine, self.names[name], how, scale)
        if what is not None:
            self._differs("value", statement, f"{name}: {what}")
        elif how != "exact" and mine.shape == self.names[name].shape:
            self.names[name][...] = mine

    def _differs(self, kind, statement, what):
        self.finding = {"kind": kind, "what": f"`{side(statement['line'], OURS)}`: {what}"}


def _bytes(array):
    return (array.dtype, array.shape, array.tobytes())


def check(program, start):
    """What is wrong with a program, or nothing. `start(ranks, threads)` starts a world."""
    names, ranks = targets(program), program["ranks"]
    with np.errstate(all="ignore"):
        start(ranks[0], 1)
        eager = Run(OURS, True)
        eager.body(program["body"])
        follow = Follow(eager.events)
        follow.body(program["body"])
        if follow.finding is not None:
            return follow.finding
        ends = eager.ends(names)
        for name, theirs in follow.ends(names).items():
            mine = ends.get(name)
            if mine is None or isinstance(mine, Later):
                return {"kind": "errors", "what": f"at the end, {name}: {mine or 'it is not there'}; NumPy has it"}
            what = difference(mine, theirs, "exact", 0.0)
            if what is not None:
                return {"kind": "value", "what": f"at the end, {name}: {what}"}
        for count in ranks:
            start(count, program["threads"])
            lazy = Run(OURS, False)
            lazy.body(program["body"])
            finding = _compare(eager, ends, lazy, names, count)
            if finding is not None:
                return finding
    return None


def _compare(eager, ends, lazy, names, count):
    """What differs between all statements one by one on the first number of ranks, and together on others."""
    for (statement, one), (_, other) in zip(eager.events, lazy.events):
        now = [isinstance(x, Exception) and not isinstance(x, Later) for x in (one, other)]
        first, second = (type(x).__name__ if e else "no error" for x, e in zip((one, other), now))
        if first != second:
            said = other if isinstance(other, Exception) else one
            return {"kind": "ranks", "what": f"{count} ranks: `{side(statement['line'], OURS)}`: {first} one by one, {second} together: {said}"}
    last = lazy.ends(names)
    for name, value in ends.items():
        other = last.get(name)
        if isinstance(value, Later) or isinstance(other, Later):
            if str(value) != str(other):
                return {"kind": "ranks", "what": f"{name} on {count} ranks: {other!r} together, {value!r} one by one"}
        elif other is None or _bytes(value) != _bytes(other):
            return {"kind": "ranks", "what": f"{name} has other bytes on {count} ranks, with statements computed together"}
    return None
