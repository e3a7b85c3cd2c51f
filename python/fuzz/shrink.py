"""Smaller programs that still fail."""

import copy
import re

from program import DIFFERING

_NUMBER = re.compile(r"(?<![\w.'])\d+(?![\w.'])")


def paths(body, before=()):
    """Where every statement is, the last ones first."""
    for at in reversed(range(len(body))):
        if "head" in body[at]:
            yield from paths(body[at]["body"], (*before, at))
        yield (*before, at)


def _list(program, path):
    found = program["body"]
    for at in path[:-1]:
        found = found[at]["body"]
    return found


def _without(program, path):
    smaller = copy.deepcopy(program)
    del _list(smaller, path)[path[-1]]
    return smaller


def _unrolled(program, path):
    smaller = copy.deepcopy(program)
    owner = _list(smaller, path)
    owner[path[-1] : path[-1] + 1] = owner[path[-1]]["body"]
    return smaller


def _numbers(program, path):
    """The statement with one of its numbers smaller."""
    key = "head" if "head" in _list(program, path)[path[-1]] else "line"
    text = _list(program, path)[path[-1]][key]
    apart = [found.span() for found in DIFFERING.finditer(text)]
    for found in _NUMBER.finditer(text):
        if any(start <= found.start() < stop for start, stop in apart):
            continue  # it would change one side alone
        value = int(found.group())
        for less in sorted({0, 1, 2, value // 2, value - 1}):
            if 0 <= less < value:
                smaller = copy.deepcopy(program)
                _list(smaller, path)[path[-1]][key] = text[: found.start()] + str(less) + text[found.end() :]
                yield smaller


def _candidates(program):
    for path in list(paths(program["body"])):
        yield _without(program, path)
    for path in list(paths(program["body"])):
        if "head" in _list(program, path)[path[-1]]:
            yield _unrolled(program, path)
    if program["threads"] > 1:
        yield {**copy.deepcopy(program), "threads": 1}
    for ranks in program["ranks"]:
        if len(program["ranks"]) > 2:
            yield {**copy.deepcopy(program), "ranks": [one for one in program["ranks"] if one != ranks]}
    for path in list(paths(program["body"])):
        yield from _numbers(program, path)


def shrunk(program, fails, tries=300):
    """The smallest program found for which `fails` holds, within so many tries."""
    going = True
    while going and tries > 0:
        going = False
        for smaller in _candidates(program):
            tries -= 1
            if fails(smaller):
                program, going = smaller, True
                break
            if tries <= 0:
                break
    return program
