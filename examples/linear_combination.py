"""Kernels from expressions whose types are found at run time: a linear combination, and a scalar product."""

import sys

import numpy as np

import pycuda.autoinit  # noqa: F401
import pycuda.driver as cuda
import pycuda.gpuarray as gpuarray
from pycuda.curandom import rand
from pycuda.elementwise import ElementwiseKernel, ScalarArg, VectorArg
from pycuda.reduction import ReductionKernel
from pycuda.tools import dtype_to_ctype

N = 500_000


def linear_combination(x, y):
    """5 x + 6 y by a kernel for the dtypes of x and y; the result has NumPy's dtype of the sum."""
    z = gpuarray.empty(x.shape, np.result_type(x.dtype, y.dtype))
    kernel = ElementwiseKernel(
        [
            ScalarArg(x.dtype, "a"),
            VectorArg(x.dtype, "x"),
            ScalarArg(y.dtype, "b"),
            VectorArg(y.dtype, "y"),
            VectorArg(z.dtype, "z"),
        ],
        "z[i] = a * x[i] + b * y[i]",
        name="linear_combination",
    )
    kernel(5, x, 6, y, z)
    return z


def scalar_product(x, y):
    """The sum of x[i] y[i], in the dtype of the product."""
    dtype = np.result_type(x.dtype, y.dtype)
    arguments = f"const {dtype_to_ctype(x.dtype)} *x, const {dtype_to_ctype(y.dtype)} *y"
    dot = ReductionKernel(dtype, neutral="0", reduce_expr="a + b", map_expr="x[i] * y[i]", arguments=arguments)
    return dot(x, y).get()


def main():
    failed = False
    for left, right in [(np.float32, np.float32), (np.float64, np.float32), (np.int32, np.float64)]:
        x, y = ((100 * rand((N,), dtype=np.float32)).astype(dtype) for dtype in (left, right))
        z = linear_combination(x, y)
        x_host, y_host = x.get(), y.get()
        tolerance = 8 * np.finfo(z.dtype).eps
        sum_right = np.allclose(z.get(), 5 * x_host + 6 * y_host, rtol=tolerance)
        exact = np.dot(x_host.astype(np.float64), y_host.astype(np.float64))
        dot_right = np.isclose(scalar_product(x, y), exact, rtol=np.sqrt(N) * tolerance)
        failed |= not (sum_right and dot_right)
        names = f"{np.dtype(left)} and {np.dtype(right)} -> {z.dtype}"
        print(f"{names}: sum {'right' if sum_right else 'WRONG'}, product {'right' if dot_right else 'WRONG'}")

    x, y = rand((N,)), rand((N,))
    linear_combination(x, y)
    start, end = cuda.Event(), cuda.Event()
    start.record()
    linear_combination(x, y)
    end.record().synchronize()
    print(f"float32: {3 * x.nbytes / end.time_since(start) / 1e6:.1f} GB/s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
