"""Compiles kernels over stacks of matrices once for a context and an element type, and launches them."""

import numpy as np

from pycuda.compiler import SourceModule
from pycuda.tools import context_dependent_memoize, dtype_to_ctype

THREADS = 256  # of a block, where nothing else is said
# Bits of the report of a call.
NOT_FINITE, NOT_CONVERGED, NOT_OF_FULL_RANK = 1, 2, 4

# T: elements, R: their parts and absolute values, I: places in memory. Real elements have what complex ones have.
_PRELUDE = """
#include <pycuda-complex.hpp>
typedef %(element)s T;
typedef %(real)s R;
#if %(is_complex)d
__device__ R size_of(T z) { return fabs(z.real()) + fabs(z.imag()); }
__device__ R square_of(T z) { return z.real() * z.real() + z.imag() * z.imag(); }
__device__ T conj_of(T z) { return T(z.real(), -z.imag()); }
__device__ R real_of(T z) { return z.real(); }
__device__ R imag_of(T z) { return z.imag(); }
__device__ T made_of(R x, R y) { return T(x, y); }
#else
__device__ R size_of(T z) { return fabs(z); }
__device__ R square_of(T z) { return z * z; }
__device__ T conj_of(T z) { return z; }
__device__ R real_of(T z) { return z; }
__device__ R imag_of(T z) { return 0; }
__device__ T made_of(R x, R y) { return x; }
#endif
#define EPS ((R)%(eps)s)  // The distance from 1 to the next number.
#define TINY ((R)%(tiny)s)  // The least normal number.
typedef long long I;
#define THREADS %(threads)d
#define NOT_FINITE %(not_finite)d
#define NOT_CONVERGED %(not_converged)d
#define NOT_OF_FULL_RANK %(not_of_full_rank)d
"""


@context_dependent_memoize
def _module(source, dtype):
    limits = np.finfo(dtype)
    text = _PRELUDE % {
        "element": dtype_to_ctype(dtype),
        "real": dtype_to_ctype(limits.dtype),
        "is_complex": dtype.kind == "c",
        "eps": repr(float(limits.eps)),
        "tiny": repr(float(limits.smallest_normal)),
        "threads": THREADS,
        "not_finite": NOT_FINITE,
        "not_converged": NOT_CONVERGED,
        "not_of_full_rank": NOT_OF_FULL_RANK,
    }
    return SourceModule(text + source, no_extern_c=True)


@context_dependent_memoize
def _kernel(source, dtype, name):
    return _module(source, dtype).get_function(name)


def launch(source, dtype, name, grid, threads, *args, shared=0):
    """Launches a kernel of `source` for elements of `dtype`; integers among its arguments are NumPy's.

    `threads` is how many a block has, or its three lengths.
    """
    block = threads if isinstance(threads, tuple) else (threads, 1, 1)
    _kernel(source, dtype, name)(*args, block=block, grid=grid, shared=shared)
