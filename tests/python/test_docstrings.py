"""What `help` and `inspect.signature` say of public names, and that stubs say the same."""

import ast
import importlib
import inspect
import pydoc
import re
import subprocess
import sys
import types

import numpy as np
import pytest

import rtcg.driver
from rtcg.compiler import SourceModule
from tests.python.subprocesses import ROOT
from tools.docs import MODULES

pytestmark = pytest.mark.usefixtures("context")

# Classes of which `inspect.signature` cannot read what their base takes, which is C's.
WITHOUT_SIGNATURE = (BaseException, int)

# Parameters that only a call can name.
FREE_SIGNATURES = {
    "rtcg.cgen.Declarator": "an abstract base",
    "rtcg.cgen.Enum": "an abstract base",
    "rtcg.cgen.Generable": "an abstract base",
    "rtcg.specialize.Specialiser": "a protocol",
    "rtcg.tune.Kernel.explain": "takes what the kernel takes",
    "rtcg.tune.Space": "takes parameters by position and by name",
}


def is_ours(found):
    return (getattr(found, "__module__", None) or "rtcg").partition(".")[0] in ("rtcg", "builtins")


def members_of(found):
    """What a class and its bases have, without Python's own bases."""
    for owner in reversed(found.__mro__) if isinstance(found, type) else ():
        if owner.__module__ != "builtins":
            yield from vars(owner).items()


def public_names():
    """``(module, name, object, its owner)`` of each public function, class, and public member of a class."""
    seen = set()
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        listed = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
        for name, found in ((name, getattr(module, name)) for name in listed):
            if not callable(found) or not is_ours(found) or id(found) in seen:
                continue
            seen.add(id(found))
            yield module_name, name, found
            for member, value in members_of(found):
                value = getattr(value, "__func__", value)
                if (member == "__call__" or not member.startswith("_")) and id(value) not in seen:
                    seen.add(id(value))
                    yield module_name, f"{name}.{member}", value


PUBLIC = [(f"{module}.{name}", module, found) for module, name, found in public_names()]


def is_exempt(found):
    return isinstance(found, type) and issubclass(found, WITHOUT_SIGNATURE)


def is_documentable(found):
    return callable(found) or inspect.isdatadescriptor(found)


def test_every_public_name_has_a_docstring():
    assert [name for name, _, found in PUBLIC if is_documentable(found) and not inspect.getdoc(found)] == []
    assert len(PUBLIC) > 1000


# Functions of arrays, of which each says whether it waits for the device.
ARRAY_MODULES = ("numpy", "linalg", "fft", "random", "sparse", "sparse.linalg", "sparse.gallery", "array_api")
ARRAY_MODULES = tuple(f"rtcg.{name}" for name in (*ARRAY_MODULES, "array_api.linalg", "array_api.fft"))

RESULT = re.compile(
    r"\b(returns?|results?|new|\w*arrays?|matrix|views?|lists?|tuple|dict\w*|bool|int|str|bytes|generator|decorator|copy|whether|number|sequences?"
    r"|context manager|context)\b",
    re.IGNORECASE,
)


def public_functions(modules):
    """``(name, function)`` of what is no class."""
    for module_name in modules:
        module = importlib.import_module(module_name)
        for name in getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]:
            found = getattr(module, name)
            if callable(found) and not isinstance(found, type) and is_ours(found):
                yield f"{module_name}.{name}", found


def names_without_result():
    """Functions of which the source or a stub says that they return None."""
    for path in (*(ROOT / "python/rtcg").rglob("*.py"), *(ROOT / "python/rtcg").rglob("*.pyi")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and ast.unparse(node.returns or ast.Constant(0)) == "None":
                yield node.name


def test_functions_name_what_they_return():
    without = set(names_without_result())
    functions = public_functions({*MODULES, *ARRAY_MODULES})
    silent = [name for name, found in functions if not RESULT.search(inspect.getdoc(found))]
    assert [name for name in silent if name.rpartition(".")[2] not in without] == []


def test_functions_of_arrays_say_whether_they_wait():
    functions = list(public_functions(ARRAY_MODULES))
    assert len(functions) > 500
    assert [name for name, found in functions if "wait" not in inspect.getdoc(found).lower()] == []


def test_functions_of_arrays_say_more_than_a_name():
    """A docstring of one short line leaves shapes, dtypes and errors to be found out."""
    functions = public_functions(ARRAY_MODULES)
    assert [name for name, found in functions if len(inspect.getdoc(found)) < 70] == []


def test_every_public_class_has_a_docstring_of_its_own():
    """`inspect.getdoc` would take that of a base, such as `int`."""
    assert [name for name, _, found in PUBLIC if isinstance(found, type) and not vars(found).get("__doc__")] == []


def test_every_public_callable_has_a_signature():
    def has_signature(found):
        try:
            return inspect.signature(found) is not None
        except (TypeError, ValueError):
            return False

    callables = [(name, found) for name, _, found in PUBLIC if callable(found)]
    assert [name for name, found in callables if not has_signature(found) and not is_exempt(found)] == []


def test_signatures_name_parameters():
    """`(*args, **kwargs)` says nothing."""
    free = []
    for name, _, found in PUBLIC:
        is_slot = isinstance(found, types.WrapperDescriptorType)
        if callable(found) and not is_slot and not is_exempt(found):
            kinds = [p.kind for p in inspect.signature(found).parameters.values() if p.name != "self"]
            if kinds == [inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD]:
                free.append(name)
    assert set(free) == set(FREE_SIGNATURES)


def test_stubs_have_the_docstrings_of_the_modules():
    command = [sys.executable, "tools/stub_docstrings.py", "--check"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr


def test_the_help_of_a_kernel():
    kernel = SourceModule("__global__ void f(int *a) { *a = 1; }").get_function("f")
    parameters = inspect.signature(kernel).parameters
    assert list(parameters)[:3] == ["args", "block", "grid"]
    assert parameters["block"].default is inspect.Parameter.empty and parameters["shared"].default == 0
    text = pydoc.render_doc(kernel, renderer=pydoc.plaintext)
    for expected in ("Dynamic shared memory in bytes", "LogicError", "num_regs", "function_attribute.NUM_REGS"):
        assert expected in text


def test_the_call_as_a_method():
    kernel = SourceModule("__global__ void f(int *a) { *a += 1; }").get_function("f")
    a = np.zeros(1, np.int32)
    rtcg.driver.Function.__call__(kernel, rtcg.driver.InOut(a), block=(1, 1, 1))
    kernel.__call__(rtcg.driver.InOut(a), block=1)
    assert a == 2
    with pytest.raises(TypeError):
        rtcg.driver.Function.__call__(3, block=1)


@pytest.mark.parametrize(
    "name", ["numpy.to_gpu", "numpy.einsum", "numpy.sort", "linalg.solve", "linalg.svd", "fft.fft"]
)
def test_central_functions_say_what_they_take(name):
    module, _, function = name.partition(".")
    text = getattr(importlib.import_module(f"rtcg.{module}"), function).__doc__
    assert "Parameters\n" in text and "Raises\n" in text and "wait" in text


def test_the_version_is_pycudas():
    import pycuda

    assert pycuda.__version__ == pycuda.VERSION_TEXT
