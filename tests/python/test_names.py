"""The package has every public name of PyCUDA, of the right kind.

`upstream_names.txt` lists the names; `missing_names.txt` those that do not exist yet, a list that
may only shrink: a name that exists and is still listed fails, too. Run as a program, this file
takes such names off the list.
"""

import ast
import importlib
import importlib.util
import re
import warnings
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def same_context(context):
    """Modules such as `pycuda.autoprimaryctx` push a context when imported; other tests expect theirs on top."""
    yield
    import pycuda.driver as cuda

    while cuda.Context.get_current() not in (context, None):
        cuda.Context.pop()


def statements(text):
    """Lines without comments; an indented line continues the one before."""
    lines = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line[0].isspace():
            lines[-1] += " " + line.strip()
        else:
            lines.append(line)
    return lines


def upstream():
    """``(module, owner or None, kind, name)`` of every name in the list."""
    names, module = [], None
    for line in statements((HERE / "upstream_names.txt").read_text()):
        if line.startswith("["):
            module = line.strip("[]")
            names.append((module, None, "module", ""))
            continue
        kind, _, rest = line.partition(":")
        kind, _, owner = kind.replace("members of", "member").partition(" ")
        if kind in ("enum", "flags"):
            names.append((module, None, kind, owner))
            kind = "member"
        names += [(module, owner or None, kind, name) for name in rest.split()]
    return names


def dotted(module, owner, kind, name):
    return ".".join(part for part in (module, owner, name) if part)


# Importing these needs a current OpenGL context, or a package that is not installed everywhere.
NOT_IMPORTED = {"pycuda.gl.autoinit", "pycuda._mymako", "rtcg.dask", "rtcg.ipython", "rtcg.ray"}
# These say that a library is gone.
NOT_IMPORTED |= {f"skcuda.{name}" for name in ("cublasxt", "cula", "cusparse", "magma", "pcula")}

NAMES = upstream()
LIST = HERE / "missing_names.txt"
MISSING = statements(LIST.read_text())


def is_missing(name):
    """Listed as missing itself, or inside of something that is."""
    return any(name == missing or name.startswith(missing + ".") for missing in MISSING)


def look_up(module, owner, kind, name):
    path = f"{module}.{name}" if kind == "submodule" else module
    if path in NOT_IMPORTED:
        if importlib.util.find_spec(path) is None:
            raise ModuleNotFoundError(path)
        return None
    if kind == "submodule":
        return importlib.import_module(f"{module}.{name}")
    found = importlib.import_module(module)
    if owner:
        found = getattr(found, owner)
    if not name:
        return found
    if owner and not hasattr(found, name):
        found = instance(found)
    return getattr(found, name)


def instance(owner):
    """Some attributes exist on instances only."""
    try:
        return owner()
    except TypeError:
        return None


def exists(entry):
    try:
        look_up(*entry)
    except (AttributeError, ModuleNotFoundError):
        return False
    return True


def is_of_kind(kind, value):
    if kind == "error":
        return isinstance(value, type) and issubclass(value, Exception)
    if kind in ("class", "flags"):
        return isinstance(value, type)
    if kind == "function":
        return callable(value)
    if kind == "enum":
        return isinstance(value, type) and issubclass(value, int) and hasattr(value, "names")
    return True


@pytest.fixture(scope="module", autouse=True)
def on_a_context(context):
    """Some modules make a context when imported; their own must not stay on the stack."""


def outermost(names):
    """Without names inside of others of the list."""
    names = dict.fromkeys(names)
    return [name for name in names if not any(part in names for part in prefixes(name))]


def prefixes(name):
    parts = name.split(".")
    return [".".join(parts[:n]) for n in range(1, len(parts))]


def absent():
    return [dotted(*entry) for entry in NAMES if not exists(entry)]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_every_name_exists_and_is_of_its_kind():
    missing = outermost(name for name in absent() if not is_missing(name))
    there = [entry for entry in NAMES if entry[0] not in NOT_IMPORTED and exists(entry)]
    wrong = [f"{dotted(*entry)} is no {entry[2]}" for entry in there if not is_of_kind(entry[2], look_up(*entry))]
    assert not missing and not wrong, "\n".join(["missing:", *missing, "of another kind:", *wrong])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_list_of_missing_names_shrinks():
    known = {dotted(*entry): entry for entry in NAMES}
    strangers = [name for name in MISSING if name not in known]
    assert not strangers, f"not in upstream_names.txt: {strangers}"
    there = [name for name in MISSING if exists(known[name])]
    assert not there, "these exist now; take them off missing_names.txt:\n" + "\n".join(there)
    assert outermost(MISSING) == MISSING


PACKAGES = HERE.parents[1] / "python"
COMPAT = PACKAGES / "rtcg/compat/pycuda"
SKCUDA = PACKAGES / "rtcg/compat/skcuda"


def modules():
    """``(path, name)`` of the modules of `rtcg`, `pycuda` and `skcuda`."""
    for path in sorted(PACKAGES.rglob("*.py")):
        folder = next((folder for folder in (COMPAT, SKCUDA) if path.is_relative_to(folder)), PACKAGES)
        parts = path.relative_to(folder).with_suffix("").parts
        if path.stem != "__main__":
            yield path, ".".join(part for part in parts if part != "__init__")


def test_everything_exported_exists():
    for _, module in modules():
        if module in NOT_IMPORTED or module.startswith("scikits."):
            continue
        imported = importlib.import_module(module)
        for name in getattr(imported, "__all__", ()):
            assert hasattr(imported, name), f"{module}.__all__ names {name}"


def is_annotated(function):
    """Whether a function has types for all parameters but `self` and for its result."""
    given = function.args
    parameters = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    has_types = all(p is None or p.annotation or p.arg in ("self", "cls") for p in parameters)
    return has_types and function.returns is not None


def test_modules_without_stubs_have_types():
    untyped = []
    for path, module in modules():
        if not path.with_suffix(".pyi").exists():
            functions = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)]
            untyped += [f"{module}.{node.name}" for node in functions if not is_annotated(node)]
    assert not untyped, f"functions without types in modules without stubs: {untyped}"


# Upstream's, in its native module and from there in `pycuda.driver`, which the list has where programs use them.
ALSO_UPSTREAMS = {
    "pycuda.driver": {
        "DeviceMemoryPool", "PageLockedAllocator", "PageLockedMemoryPool", "PooledDeviceAllocation",
        "PooledHostAllocation",
    },
}  # fmt: skip


def test_pycuda_has_upstreams_names_and_nothing_else():
    known = {}
    for module, owner, _, name in NAMES:
        known.setdefault(module, set()).add(owner or name)
    for path, module in modules():
        if not path.is_relative_to(COMPAT) or module in NOT_IMPORTED:
            continue
        if module not in known:
            assert module == "pycuda._driver", f"{module} is no module of upstream's"
            continue
        ours = set(getattr(importlib.import_module(module), "__all__", ())) - known[module]
        assert ours <= ALSO_UPSTREAMS.get(module, set()), f"{module} has {sorted(ours)}, which upstream has not"


def test_rtcg_imports_nothing_of_pycuda():
    for path, module in modules():
        if path.is_relative_to(COMPAT):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(name.partition(".")[0] == "pycuda" for name in names), f"{module}, line {node.lineno}"


ENUMS = sorted({(module, name) for module, _, kind, name in NAMES if kind == "enum"})


@pytest.mark.parametrize("module, name", ENUMS)
def test_enumerations_know_their_names(module, name):
    if is_missing(f"{module}.{name}"):
        pytest.skip("does not exist yet")
    enumeration = getattr(importlib.import_module(module), name)
    assert enumeration.names and enumeration.values
    for member, value in enumeration.names.items():
        assert isinstance(value, enumeration) and isinstance(value, int)
        assert value is getattr(enumeration, member)
        assert value.name == str(value) == member
        assert repr(value) == f"rtcg.driver.{name}.{member}"
        assert enumeration.values[int(value)] == value and enumeration(int(value)) == value
        assert int(enumeration(int(value))) == int(value)


def test_all_device_attributes_of_cuda_13():
    from pycuda.driver import device_attribute

    numbers = {int(value) for value in device_attribute.names.values()}
    last = int(device_attribute.ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED)
    # The numbers that CUDA 13.0 leaves out or reserves.
    gaps = set(range(1, last + 1)) - numbers
    assert gaps <= {122, 123, 135, 136, 137}, sorted(gaps)
    assert len(device_attribute.names) >= 107


def test_targets_up_to_blackwell():
    from pycuda.driver import jit_target

    for name in "COMPUTE_87 COMPUTE_89 COMPUTE_100 COMPUTE_103 COMPUTE_110 COMPUTE_120 COMPUTE_121".split():
        assert int(getattr(jit_target, name)) == int(name.partition("_")[2])
    for name in "COMPUTE_90A COMPUTE_100A COMPUTE_120A".split():
        assert name in jit_target.names
    assert all(re.fullmatch(r"COMPUTE_\d+[AF]?", name) for name in jit_target.names)


def test_distributions_have_the_version_of_the_workspace():
    import rtcg

    for name in ("rtcg-pycuda", "rtcg-copperhead", "rtcg-skcuda"):
        manifest = (PACKAGES.parent / "distributions" / name / "pyproject.toml").read_text()
        assert re.findall(r'^version = "(.*)"', manifest, re.MULTILINE) == [rtcg.__version__]
        assert set(re.findall(r"rtcg-(?:gpu|pycuda)(?:\[\w+\])?==([\w.]+)", manifest)) == {rtcg.__version__}


def test_versions():
    import pycuda
    import pycuda.driver as cuda

    assert pycuda.VERSION == (2026, 1) and pycuda.VERSION_TEXT == "2026.1" + pycuda.VERSION_STATUS
    version = cuda.get_version()
    assert len(version) == 3 and version[0] >= 12
    assert cuda.get_driver_version() >= 12000


def rewrite_list():
    """Takes off what exists; a module that exists in part leaves its missing names."""
    comments = [line for line in LIST.read_text().splitlines() if line.startswith("#")]
    names = outermost(name for name in absent() if is_missing(name))
    LIST.write_text("\n".join([*comments, *names]) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    import pycuda.autoinit  # noqa: F401

    rewrite_list()
