"""Scales stacks of matrices before eigenvalues or singular values are sought, and puts the results in order after."""

import numpy as np

from pycuda import gpuarray as _g
from pycuda._linalg.matrices import real_of
from pycuda._linalg.matrix_kernels import THREADS, launch

#: Bits of what kernels report about a stack.
_SOURCE = """

__device__ R largest_part(T z) { return fmax(fabs(real_of(z)), fabs(imag_of(z))); }
__device__ T scaled(T z, int e) { return made_of(ldexp(real_of(z), e), ldexp(imag_of(z), e)); }

// Whether element (i, j) is read: 0 is for all, 1 for the lower and 2 for the upper triangle.
__device__ bool is_read(int triangle, I i, I j) { return triangle == 0 || (triangle == 1 ? i >= j : i <= j); }

// Scales each matrix by a power of two that brings its largest part to [0.5, 1), completes it as a Hermitian one
// where one triangle is read, and reports infinities and NaN, in place of which it leaves zeros.
extern "C" __global__ void scale(T *matrices, int m, int n, int triangle, int *exponents, int *report)
{
    T *a = matrices + (I)blockIdx.x * m * n;
    __shared__ R largest[THREADS];
    __shared__ int bad;
    int t = threadIdx.x;
    if (t == 0) bad = 0;
    __syncthreads();
    R mine = 0;
    for (I e = t; e < (I)m * n; e += THREADS) {
        I i = e / n, j = e % n;
        if (!is_read(triangle, i, j)) continue;
        T z = triangle && i == j ? made_of(real_of(a[e]), 0) : a[e];
        if (!isfinite(real_of(z)) || !isfinite(imag_of(z))) atomicExch(&bad, 1);
        mine = fmax(mine, largest_part(z));
    }
    largest[t] = mine;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) largest[t] = fmax(largest[t], largest[t + half]);
        __syncthreads();
    }
    int exponent = 0;
    if (!bad && largest[0] != 0) frexp(largest[0], &exponent);
    if (t == 0) {
        exponents[blockIdx.x] = exponent;
        if (bad) atomicOr(report, NOT_FINITE);
    }
    for (I e = t; e < (I)m * n; e += THREADS) {
        I i = e / n, j = e % n;
        if (!is_read(triangle, i, j)) continue;
        T z = bad ? made_of(0, 0) : scaled(a[e], -exponent);
        a[e] = triangle && i == j ? made_of(real_of(z), 0) : z;
        if (triangle && i != j) a[j * n + i] = conj_of(z);
    }
}

// The values in order, scaled back, and the place that each goes to.
extern "C" __global__ void order(const R *values, int n, int is_descending, const int *exponents, R *ordered,
                                 int *places)
{
    const R *v = values + (I)blockIdx.x * n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        R own = is_descending ? -v[i] : v[i];
        int place = 0;
        for (int j = 0; j < n; ++j) {
            R other = is_descending ? -v[j] : v[j];
            place += other < own || (other == own && j < i);
        }
        ordered[(I)blockIdx.x * n + place] = ldexp(v[i], exponents[blockIdx.x]);
        places[(I)blockIdx.x * n + i] = place;
    }
}

// The first m elements of row k of what was found become column places[k].
extern "C" __global__ void place(const T *rows, int n, int m, int length, const int *places, T *vectors)
{
    const T *from = rows + (I)blockIdx.x * n * length;
    T *to = vectors + (I)blockIdx.x * m * n;
    for (int k = blockIdx.y; k < n; k += gridDim.y) {
        int column = places[(I)blockIdx.x * n + k];
        for (int i = threadIdx.x; i < m; i += blockDim.x) to[(I)i * n + column] = from[(I)k * length + i];
    }
}
"""


def scale(a, triangle=0):
    """Scales matrices in place by powers of two; their exponents, and the report that kernels add bits to.

    Of Hermitian matrices one triangle is read, 1 for the lower and 2 for the upper one, and the other is written.
    """
    count, m, n = a.shape
    exponents, report = (_g.zeros(length, np.int32, a.allocator) for length in (count, 1))
    if a.size:
        launch(_SOURCE, a.dtype, "scale", (count, 1), THREADS, a, np.int32(m), np.int32(n), np.int32(triangle),
               exponents, report)  # fmt: skip
    return exponents, report


def order(values, exponents, dtype, is_descending=False):
    """Values of scaled matrices in order, and the place that each goes to; `dtype` is that of the matrices."""
    count, n = values.shape
    ordered, places = (_g.empty((count, n), kind, values.allocator) for kind in (real_of(dtype), np.int32))
    if values.size:
        launch(_SOURCE, np.dtype(dtype), "order", (count, 1), THREADS, values, np.int32(n), np.int32(is_descending),
               exponents, ordered, places)  # fmt: skip
    return ordered, places


def placed(rows, places, m):
    """The first m elements of the rows of stacks as columns in the order of their values."""
    count, n, length = rows.shape
    vectors = _g.empty((count, m, n), rows.dtype, rows.allocator)
    if vectors.size:
        launch(_SOURCE, rows.dtype, "place", (count, min(n, 65535)), THREADS if m > 64 else 64, rows, np.int32(n),
               np.int32(m), np.int32(length), places, vectors)  # fmt: skip
    return vectors
