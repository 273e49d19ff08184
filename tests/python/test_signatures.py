"""Callables take PyCUDA's parameters: names, order and defaults.

`upstream_signatures.txt` lists them (made by `signatures_of_upstream.py`). Ours may have more parameters behind them,
and `None` where upstream names the allocator that is the default.
"""

import ast
import importlib
import inspect
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent

# What differs on purpose, and why. All keywords are taken all the same.
REORDERED = {
    "pycuda.gpuarray.GPUArray.any": "NumPy's `axis` comes first; a stream in its place is seen",
    "pycuda.gpuarray.GPUArray.all": "NumPy's `axis` comes first; a stream in its place is seen",
    **{
        f"pycuda.gpuarray.{name}": "NumPy's `axis` comes second; a dtype or a stream in its place is seen"
        for name in ("sum", "min", "max", "any", "all")
    },
    "pycuda.gpuarray.take": "NumPy's `axis` comes third; an array in its place is `out`, and what follows the stream",
}
OTHER = {
    "pycuda.tools.DebugMemoryPool.describe": "upstream's own helper; ours lists the blocks in use",
}


def listed():
    """``(module, name, signature)`` of every line; the signature is upstream's, without `self`."""
    module, found = None, []
    for line in (HERE / "upstream_signatures.txt").read_text().splitlines():
        if line.startswith("["):
            module = line.strip("[]")
        elif line and not line.startswith("#"):
            name, _, parameters = line.partition("(")
            found.append((module, name, parameters.removesuffix(")")))
    return found


class Named:
    """A default that is no literal, by its text."""

    def __init__(self, text):
        self.text = text

    def __eq__(self, ours):
        if self.text == "drv.mem_alloc":
            return ours is None or ours.__name__ == "mem_alloc"
        return self.text.startswith("np.") and np.dtype(ours) == np.dtype(getattr(np, self.text.removeprefix("np.")))


def value(node):
    try:
        return ast.literal_eval(node)
    except ValueError:
        return Named(ast.unparse(node))


def upstreams(parameters):
    """Positional parameters with their defaults, and what is taken by keyword only."""
    arguments = ast.parse(f"def f({parameters}): pass").body[0].args
    names = [node.arg for node in arguments.posonlyargs + arguments.args]
    defaults = [inspect.Parameter.empty] * (len(names) - len(arguments.defaults)) + list(map(value, arguments.defaults))
    keywords = {
        node.arg: value(default) for node, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    }
    return list(zip(names, defaults, strict=True)), keywords, bool(arguments.vararg)


def is_equal(theirs, ours):
    if theirs is inspect.Parameter.empty:
        # A default where upstream has none is an addition.
        return True
    if isinstance(theirs, Named):
        return ours is not inspect.Parameter.empty and theirs == ours
    if theirs == [] and ours in ((), None):
        return True
    return ours is None if theirs is None else theirs == ours


def ours_of(module, name):
    """Our signature without `self`."""
    found = importlib.import_module(module)
    *owners, last = name.split(".")
    for part in owners:
        found = getattr(found, part)
    if owners and last == "__init__":
        return inspect.signature(found)
    kind = inspect.getattr_static(found, last) if owners else None
    signature = inspect.signature(getattr(found, last))
    is_bound = not owners or isinstance(kind, staticmethod | classmethod)
    parameters = list(signature.parameters.values())
    return signature if is_bound else signature.replace(parameters=parameters[1:])


def differences(module, name, parameters):
    theirs, keywords, has_rest = upstreams(parameters)
    ours = list(ours_of(module, name).parameters.values())
    if "." in name and theirs and theirs[0][0] in ("self", "dev", "func"):
        theirs = theirs[1:]
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in ours):
        by_name = {parameter.name: parameter for parameter in ours}
        # Arguments in a row cannot be told from named ones, but every name must be taken.
        takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in ours)
        return [key for key, _ in theirs if key not in by_name and not takes_all and not has_rest]
    problems = []
    for index, (key, default) in enumerate(theirs):
        if index >= len(ours) or ours[index].name != key:
            problems.append(f"parameter {index} is {ours[index].name if index < len(ours) else 'missing'}, not {key}")
        elif not is_equal(default, ours[index].default):
            problems.append(f"{key} has the default {ours[index].default!r}")
    by_name = {parameter.name: parameter for parameter in ours}
    problems += [
        key for key, default in keywords.items() if key not in by_name or not is_equal(default, by_name[key].default)
    ]
    extra = [p for p in ours[len(theirs) :] if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return problems + [f"{parameter.name} is needed in addition" for parameter in extra if not has_rest]


@pytest.mark.parametrize(("module", "name", "parameters"), listed(), ids=lambda part: part if "(" not in part else "")
def test_parameters_are_upstreams(module, name, parameters):
    problems = differences(module, name, parameters)
    listed_name = f"{module}.{name}"
    if listed_name in REORDERED or listed_name in OTHER:
        assert problems, f"{name} is listed as an exception and is none"
        positional, keywords, _ = upstreams(parameters)
        wanted = {key for key, _ in positional} - {"self"} | set(keywords)
        assert listed_name in OTHER or wanted <= set(ours_of(module, name).parameters)
    else:
        assert not problems, f"{name}({parameters}): {problems}; ours is {ours_of(module, name)}"


def test_the_list_is_long():
    assert len(listed()) > 250
