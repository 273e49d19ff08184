"""Objects whose `__init__` has not run raise exceptions from every method, and in every argument; nothing panics."""

import copy
import enum
import inspect
import pickle
import sys

import numpy as np
import pytest

import pycuda.gpuarray as gpuarray
import pycuda.tools as tools
import rtcg.driver as cuda
import rtcg.numpy as xp
from pycuda.compiler import SourceModule
from rtcg import _native

pytestmark = pytest.mark.usefixtures("context")


def native_classes():
    """Every class of the native module, by its name."""
    modules = [_native, cuda, tools, gpuarray]
    found = {value for module in modules for value in vars(module).values() if isinstance(value, type)}
    named = {f"{c.__module__}.{c.__qualname__}": c for c in found if is_native(c)}
    return dict(sorted(named.items()))


def is_native(cls):
    """Whether it is a class of the native module, or derives from one."""
    natives = {value for value in vars(_native).values() if isinstance(value, type)}
    return not natives.isdisjoint(cls.__mro__) and not issubclass(cls, (BaseException, enum.Enum))


def made_without_init(cls):
    """Objects that were never initialised: by `__new__`, and of a subclass that forgets it. None if there are none."""
    try:
        yield cls.__new__(cls)
    except TypeError:
        return
    try:
        subclass = type("Forgetful", (cls,), {"__init__": lambda self: None})
    except TypeError:
        return
    yield subclass()


# What methods are tried with; a method that takes none of them refuses.
ARGUMENTS = [(), (0,), (0, 0), (None,), ("x",), (np.zeros(4, np.float32),), (0, 0, 0)]

# Methods that other libraries' protocols or Python itself call with what this test has not.
UNCALLED = set(
    "__class__ __new__ __init__ __init_subclass__ __subclasshook__ __getattribute__ __setattr__ __delattr__ __dir__ "
    "__sizeof__ __dict__ __doc__ __module__ __weakref__".split()
)


def uses(thing):
    """Calls that use every attribute of `thing`."""
    for name in sorted(set(dir(type(thing))) - UNCALLED):
        if inspect.isclass(inspect.getattr_static(type(thing), name)):
            continue
        yield f"{name}", lambda name=name: getattr(thing, name)
        for arguments in ARGUMENTS:
            yield f"{name}{arguments}", lambda name=name, arguments=arguments: getattr(thing, name)(*arguments)
        yield f"{name}(itself)", lambda name=name: getattr(thing, name)(thing)
    yield "copy", lambda: copy.copy(thing)
    yield "deepcopy", lambda: copy.deepcopy(thing)
    yield "pickle", lambda: pickle.dumps(thing)
    yield "print", lambda: f"{thing} {thing!r} {thing!s}"
    yield "number", lambda: (int(thing), float(thing), bool(thing), len(thing), list(thing), hash(thing))


@pytest.mark.parametrize("cls", native_classes().values(), ids=native_classes())
def test_methods_raise_exceptions(cls, monkeypatch):
    # A message that shows an object whose text is an exception tells of it here.
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    for thing in made_without_init(cls):
        for name, use in uses(thing):
            try:
                use()
            except Exception:  # noqa: S112
                continue
            except BaseException as error:  # noqa: BLE001
                pytest.fail(f"{cls.__name__}: {name} raises {type(error).__name__}: {error}")


def functions_with_arguments():
    """Functions that take objects of these classes, as (name, function of the object)."""
    kernel = SourceModule("__global__ void nothing(void *p) {}").get_function("nothing")
    memory, host = cuda.mem_alloc(64), np.zeros(4, np.float32)
    array, graph, stream = xp.ones(4, np.float32), cuda.Graph(), cuda.Stream()
    copy2d = cuda.Memcpy2D()
    elementwise = _elementwise()
    yield "launch", lambda x: kernel(x, block=(1, 1, 1))
    yield "launch in", lambda x: kernel(memory, block=(1, 1, 1), stream=x)
    yield "prepared", lambda x: kernel.prepare("P").prepared_call((1, 1), (1, 1, 1), x)
    yield "prepared in", lambda x: kernel.prepare("P").prepared_async_call((1, 1), (1, 1, 1), x, memory)
    yield "param_set_texref", lambda x: kernel.param_set_texref(x)
    yield "elementwise", lambda x: elementwise(x)
    yield "elementwise in", lambda x: elementwise(array, stream=x)
    for name, function in inspect.getmembers(cuda, callable):
        # What is kept for later calls would be met by other tests.
        if not inspect.isclass(function) and not name.startswith(("init", "st", "set_")):
            yield f"{name}(x)", function
            yield f"{name}(memory, x)", lambda x, function=function: function(memory, x)
            yield f"{name}(x, host)", lambda x, function=function: function(x, host)
            yield f"{name}(memory, host, x)", lambda x, function=function: function(memory, host, x)
            yield f"{name}(memory, 0, 1, x)", lambda x, function=function: function(memory, 0, 1, x)
    for owner in (graph, stream, cuda.Event(), copy2d, tools.DeviceMemoryPool(), cuda.MemoryPool(), cuda.Device(0)):
        for name in [name for name in dir(owner) if not name.startswith("_")]:
            if name in ("close", "free", "begin_capture", "capture", "end_capture", "stop_holding"):
                continue
            yield f"{type(owner).__name__}.{name}(x)", lambda x, owner=owner, name=name: getattr(owner, name)(x)
            yield f"{type(owner).__name__}.{name}(0, x)", lambda x, owner=owner, name=name: getattr(owner, name)(0, x)
    for name in [name for name in dir(array) if name not in UNCALLED and name != "__class__"]:
        if callable(inspect.getattr_static(type(array), name)):
            yield f"array.{name}(x)", lambda x, name=name: getattr(array, name)(x)
    for name, function in inspect.getmembers(xp, inspect.isfunction):
        yield f"numpy.{name}(x)", function
        yield f"numpy.{name}(array, x)", lambda x, function=function: function(array, x)


def _elementwise():
    from rtcg.elementwise import ElementwiseKernel

    return ElementwiseKernel("float *x", "x[i] = 1")


def test_arguments_raise_exceptions(monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    things = [cls.__new__(cls) for cls in (
        cuda.Stream, cuda.Event, cuda.Graph, cuda.Device, cuda.Array, cuda.TextureReference, cuda.MemoryPool,
        cuda.ManagedAllocation, cuda.PagelockedHostAllocation, cuda.PhysicalMemory, gpuarray.GPUArray)]  # fmt: skip
    for name, function in functions_with_arguments():
        for thing in things:
            try:
                function(thing)
            except Exception:  # noqa: S112
                continue
            except BaseException as error:  # noqa: BLE001
                pytest.fail(f"{name} of a {type(thing).__name__} raises {type(error).__name__}: {error}")


def test_messages_say_what_was_forgotten():
    for cls, use in ((cuda.Stream, "synchronize"), (cuda.Event, "record"), (cuda.Graph, "instantiate"),
                     (tools.DeviceMemoryPool, "free_held"), (gpuarray.GPUArray, "get")):  # fmt: skip
        with pytest.raises(TypeError, match=f"{cls.__name__}.*__init__"):
            getattr(cls.__new__(cls), use)()
    array = gpuarray.GPUArray.__new__(gpuarray.GPUArray)
    uses = [lambda: array.shape, lambda: array + 1, lambda: array.T, lambda: array[0], lambda: np.add(array, 1)]
    uses += [lambda: array.fill(1), lambda: str(array), lambda: gpuarray.sum(array), lambda: xp.ones(3) + array]
    for use in uses:
        with pytest.raises(TypeError, match="__init__"):
            use()
    array.__init__((3,), np.float32)
    assert array.fill(2).get().tolist() == [2, 2, 2]
