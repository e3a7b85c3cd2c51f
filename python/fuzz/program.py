"""Programs as data: statements that run on either side, and the script that repeats one.

A line of a statement has places where the two sides differ: `<pt.ones|np.ones>` is `pt.ones` on ours
and `np.ones` on NumPy's.
"""

import json
import re

OURS, THEIRS = 0, 1
#: Where the two sides of a line differ.
DIFFERING = re.compile(r"<([^<>|]*)\|([^<>|]*)>")


def one(line, *, target=None, how="exact", of=()):
    """A statement: a line, the array that it makes or changes, and how this is compared: `exact`, `near`
    (functions that round in another way), `sum` (`of` these arrays, by name or as NumPy's text;
    `square`, `product`: of their squares and products), `zero` (any sign of zeros), `floor` (of
    quotients), `same` (between ranks only)."""
    return {"line": line, "target": target, "how": how, "of": list(of)}


def block(head, body):
    """Statements in a loop or a `with`."""
    return {"head": head, "body": body}


def side(line, which):
    """The line as one side runs it."""
    return DIFFERING.sub(lambda found: found.group(1 + which), line)


def lines(statements, which, indent=0):
    """The source of one side."""
    for statement in statements:
        if "head" in statement:
            yield " " * indent + side(statement["head"], which)
            yield from lines(statement["body"], which, indent + 4)
            if not statement["body"]:
                yield " " * (indent + 4) + "pass"
        else:
            yield " " * indent + side(statement["line"], which)


def statements_of(statements):
    """All simple statements."""
    for statement in statements:
        yield from statements_of(statement["body"]) if "head" in statement else [statement]


def targets(program):
    """The arrays that a program makes, in order."""
    return list(dict.fromkeys(s["target"] for s in statements_of(program["body"]) if s["target"]))


_SCRIPT = '''"""{what}

{repeat}
"""

import contextlib
import copy

import numpy as np

import pantile as pt


{data}

def ours():
{ours}
    return [{names}]


def theirs():
{theirs}
    return [{names}]


{start}
np.seterr(all="ignore")
{check}
'''

_CHECK = '''for name, mine, other in zip({list!r}, ours(), theirs()):
    mine, other = np.asarray(mine), np.asarray(other)
    assert mine.dtype == other.dtype and mine.shape == other.shape, (name, mine.dtype, other.dtype)
    np.testing.assert_allclose(mine, other, rtol={rtol}, err_msg=name)'''

_RANKS = '''results = []
for ranks in {ranks}:
    pt.init(ranks=ranks)
    results.append([np.asarray(one).tobytes() for one in ours()])
for result in results:
    assert result == results[0], "the bytes depend on the number of ranks, or on what was looked at"'''


def script(program, finding, repeat, data):
    """A stand-alone script that fails while the finding is there."""
    names = targets(program)
    rtol = 0 if all(s["how"] == "exact" for s in statements_of(program["body"])) else 1e-3
    check = _CHECK.format(list=names, rtol=rtol)
    if finding["kind"] == "ranks":
        check = _RANKS.format(ranks=program["ranks"])
    if finding["kind"] == "errors":
        check += "\n# " + finding["what"].replace("\n", " ")
    body = ["\n".join(lines(program["body"], which, 4)) or "    pass" for which in (OURS, THEIRS)]
    start = f"pt.init(ranks={program['ranks'][-1]}, threads={program['threads']})"
    return _SCRIPT.format(
        what=finding["what"].replace('"""', "'''"), repeat=repeat, data=data, ours=body[0], theirs=body[1],
        names=", ".join(names), start=start, check=check,
    )  # fmt: skip


def dumps(program):
    return json.dumps(program)
