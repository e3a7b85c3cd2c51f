"""What editors and type checkers see is what is there."""

import ast
import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pantile as pt
from pantile import _absent, _core, _elementwise, _operators, _reductions, _shapes

PACKAGE = Path(pt.__file__).parent
USER = Path(__file__).with_name("typed_user.py")


# ---- stubs


def stub(name):
    """The functions of a stub, and the names that it exports."""
    tree = ast.parse((PACKAGE / name).read_text())
    functions = {one.name: one for one in tree.body if isinstance(one, ast.FunctionDef)}
    (exported,) = (
        ast.literal_eval(one.value)
        for one in tree.body
        if isinstance(one, ast.Assign) and one.targets[0].id == "__all__"
    )
    return functions, exported


def written(function):
    """A signature of a stub: name, kind, default and annotation of each parameter, and the result."""
    given, kinds = function.args, inspect.Parameter
    plain = [(one, kinds.POSITIONAL_ONLY) for one in given.posonlyargs]
    plain += [(one, kinds.POSITIONAL_OR_KEYWORD) for one in given.args]
    empty = [inspect.Parameter.empty] * (len(plain) - len(given.defaults))
    defaults = [*empty, *(ast.literal_eval(one) for one in given.defaults)]
    rows = [(*one, default) for one, default in zip(plain, defaults)]
    if given.vararg:
        rows.append((given.vararg, kinds.VAR_POSITIONAL, inspect.Parameter.empty))
    for one, default in zip(given.kwonlyargs, given.kw_defaults):
        rows.append((one, kinds.KEYWORD_ONLY, ast.literal_eval(default)))
    if given.kwarg:
        rows.append((given.kwarg, kinds.VAR_KEYWORD, inspect.Parameter.empty))
    found = [(one.arg, kind, default, ast.unparse(one.annotation)) for one, kind, default in rows]
    return found, ast.unparse(function.returns)


def real(function):
    """The same of what is there."""
    signature = inspect.signature(function)
    rows = [(one.name, one.kind, one.default, one.annotation) for one in signature.parameters.values()]
    return rows, signature.return_annotation


@pytest.mark.parametrize("module", [_elementwise, _absent], ids=lambda module: module.__name__)
def test_functions_that_are_made_are_as_the_stub_says(module):
    functions, exported = stub(Path(module.__file__).with_suffix(".pyi").name)
    assert exported == module.__all__
    assert sorted(functions) == sorted(exported)
    for name, function in functions.items():
        assert written(function) == real(getattr(module, name)), name
        assert getattr(module, name).__name__ == name


def test_the_package_exports_what_its_parts_do():
    assert len(set(pt.__all__)) == len(pt.__all__)
    for module in (_absent, _elementwise, _reductions, _shapes):
        assert set(module.__all__) <= set(pt.__all__)
    hidden = {name for name in vars(pt) if not name.startswith("_")} - set(pt.__all__)
    assert all(inspect.ismodule(getattr(pt, name)) for name in hidden), hidden
    assert all(hasattr(pt, name) for name in pt.__all__)


def test_every_public_function_has_types():
    """Every parameter and every result of what a user calls."""
    classes = [one for one in map(pt.__dict__.get, pt.__all__) if inspect.isclass(one)]
    functions = [one for one in map(pt.__dict__.get, pt.__all__) if inspect.isfunction(one)]
    for one in (*classes, pt.random.Generator, _operators.Operators):
        if not issubclass(one, BaseException):
            functions += [value for value in vars(one).values() if inspect.isfunction(value)]
    functions.append(pt.random.default_rng)
    for function in functions:
        if not function.__code__.co_filename.startswith(str(PACKAGE)):
            continue  # what dataclasses bring
        signature = inspect.signature(function)
        given = [one for name, one in signature.parameters.items() if name not in ("self", "cls")]
        empty = inspect.Parameter.empty
        assert signature.return_annotation is not empty, function
        assert all(one.annotation is not empty for one in given), function


def test_the_core_is_closed():
    """Nothing of it can be changed or derived from, and all of it is in the stub."""
    tree = ast.parse((PACKAGE / "_core.pyi").read_text())
    stubbed = {
        one.name: {part.name for part in one.body if isinstance(part, ast.FunctionDef)}
        for one in tree.body
        if isinstance(one, ast.ClassDef)
    }
    for name in ("World", "Array", "Buffer", "Distribution", "Plan", "Rank", "Ender", "Team", "Movement"):
        kind = getattr(_core, name)
        assert {part for part in vars(kind) if not part.startswith("_")} <= stubbed[name]
        with pytest.raises(TypeError):
            type("Derived", (kind,), {})


# ---- the checker


def checked(*words):
    """What the checker says to some words, in a folder where its notes do not disturb."""
    pytest.importorskip("mypy")
    return subprocess.run(
        [sys.executable, "-m", *words], capture_output=True, text=True, timeout=600,
        env={**os.environ, "MYPY_CACHE_DIR": os.devnull}, cwd=USER.parent,
    )  # fmt: skip


def test_a_typed_program_passes():
    ran = checked("mypy", "--strict", str(USER))
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_typed_program_runs():
    import typed_user

    pt.init(ranks=2)
    typed_user.main()


def test_the_package_passes():
    ran = checked("mypy", "-p", "pantile")
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_stubs_are_as_the_package_is(tmp_path):
    # The buffer protocol has a name for Python since 3.12 only.
    allowed = tmp_path / "allowed"
    allowed.write_text("pantile._core.(Buffer|Memory).__buffer__\n")
    # It has no other way to be told to keep no notes.
    settings = tmp_path / "mypy.ini"
    settings.write_text(f"[mypy]\ncache_dir = {os.devnull}\n")
    options = ["--ignore-unused-allowlist", "--mypy-config-file", str(settings)]
    ran = checked("mypy.stubtest", "pantile", "--allowlist", str(allowed), *options)
    assert ran.returncode == 0, ran.stdout + ran.stderr
