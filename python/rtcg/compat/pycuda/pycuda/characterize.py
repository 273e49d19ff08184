"""Capabilities of the current device and its compiler."""

import struct

import numpy as np

import pycuda.driver as drv
from pycuda.tools import context_dependent_memoize


def platform_bits():
    """The number of bits of an address on this machine: 64 or 32."""
    return struct.calcsize("P") * 8


def has_stack():
    """Whether device functions can be recursive."""
    return drv.Context.get_device().compute_capability() >= (2, 0)


def has_double_support():
    """Whether the device computes in double precision."""
    return drv.Context.get_device().compute_capability() >= (1, 3)


_SIZEOF_SOURCE = """
#include <pycuda-complex.hpp>
{preamble}
extern "C" __global__ void pycuda_size_of(unsigned long long *size)
{{
    *size = sizeof({type_name});
}}
"""


@context_dependent_memoize
def sizeof(type_name, preamble=""):
    """The size of a C++ type in device code, in bytes.

    Parameters
    ----------
    type_name : str
    preamble : str
        Source that declares the type.

    Raises
    ------
    CompileError
        If there is no such type.
    """
    from pycuda.compiler import SourceModule

    source = _SIZEOF_SOURCE.format(preamble=preamble, type_name=type_name)
    size = np.zeros(1, np.uint64)
    SourceModule(source, no_extern_c=True).get_function("pycuda_size_of")(drv.Out(size), block=(1, 1, 1))
    return int(size[0])
