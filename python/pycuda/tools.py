"""Contexts, memoisation, and C types of dtypes."""

import functools
import os

import numpy as np

import pycuda.driver as drv
from pycuda import _rtcg

bitlog2 = lambda n: n.bit_length() - 1  # noqa: E731


def _wanted_device():
    """The device that the environment or the file ``~/.cuda_device`` asks for, or None."""
    value, source = os.environ.get("CUDA_DEVICE"), "environment variable CUDA_DEVICE"
    if value is None:
        source = os.path.join(os.path.expanduser("~"), ".cuda_device")
        try:
            with open(source, encoding="utf-8") as file:
                value = file.read().strip()
        except OSError:
            return None
    try:
        ordinal = int(value)
    except ValueError:
        raise ValueError(f"{source} is {value!r}; expected the number of a device") from None
    try:
        return drv.Device(ordinal)
    except drv.Error as error:
        raise type(error)(f"{error} ({source} is {value!r})") from None


def make_default_context(ctx_maker=None):
    """Make a context on the device that CUDA_DEVICE or ``~/.cuda_device`` names, else the first that works.

    Parameters
    ----------
    ctx_maker : callable, optional
        Takes a `Device` and returns a context; default ``Device.make_context``.
    """
    if ctx_maker is None:
        ctx_maker = drv.Device.make_context
    count = drv.Device.count()
    if count == 0:
        raise RuntimeError("no CUDA-enabled device found")
    device = _wanted_device()
    if device is not None:
        return ctx_maker(device)
    for ordinal in range(count):
        try:
            return ctx_maker(drv.Device(ordinal))
        except drv.Error as error:
            last = error
    raise RuntimeError(f"could not create a context on any of {count} devices: {last}")


def get_default_device(default=0):
    """The device that CUDA_DEVICE or ``~/.cuda_device`` names, else number `default`."""
    device = _wanted_device()
    return drv.Device(default) if device is None else device


# Functions whose results are remembered per context.
context_dependent_memoized_functions = []


def context_dependent_memoize(func):
    """Remember results per current context and arguments."""

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        key = (drv.Context.get_current(), args, tuple(sorted(kwargs.items())))
        cache = wrapper._pycuda_ctx_dep_memoize_dic
        try:
            return cache[key]
        except KeyError:
            result = cache[key] = func(*args, **kwargs)
            return result

    wrapper._pycuda_ctx_dep_memoize_dic = {}
    context_dependent_memoized_functions.append(wrapper)
    return wrapper


def clear_context_caches():
    """Forget everything that was remembered per context."""
    for func in context_dependent_memoized_functions:
        func._pycuda_ctx_dep_memoize_dic.clear()
    _rtcg.clear_array_contexts()


_C_TYPES = {
    "bool": "bool", "int8": "signed char", "uint8": "unsigned char", "int16": "short", "uint16": "unsigned short",
    "int32": "int", "uint32": "unsigned int", "int64": "long", "uint64": "unsigned long", "float16": "half",
    "float32": "float", "float64": "double", "complex64": "pycuda::complex<float>",
    "complex128": "pycuda::complex<double>",
}  # fmt: skip


def dtype_to_ctype(dtype, with_fp_tex_hack=False):
    """The C type of a dtype as kernels spell it."""
    if dtype is None:
        raise ValueError("dtype may not be None")
    name = np.dtype(dtype).name
    if with_fp_tex_hack and name in ("float32", "float64", "complex64", "complex128"):
        return {"float32": "fp_tex_float", "float64": "fp_tex_double", "complex64": "fp_tex_cfloat"}.get(
            name, "fp_tex_cdouble"
        )
    try:
        return _C_TYPES[name]
    except KeyError:
        raise ValueError(f"unable to map dtype {name!r}") from None
