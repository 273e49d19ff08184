"""LU factors of many small matrices in column-major order: one block for each, in place, with partial pivoting.

Pivots are LAPACK's: row ``k`` was exchanged with row ``pivots[k] - 1``. Without pivots (a null pointer) no rows are.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from rtcg.compiler import SourceModule

_THREADS = 64

_SOURCE = """
#include <pycuda-complex.hpp>

typedef $REAL R;
typedef $TYPE T;

__device__ inline R magnitude(T x) { return $MAGNITUDE; }
__device__ inline T conjugate(T x) { return $CONJUGATE; }
__device__ inline void exchange(T &x, T &y) { T kept = x; x = y; y = kept; }

extern "C" __global__ void factor(T *const *matrices, int n, int lda, int *pivots, int *info)
{
    __shared__ R best[$THREADS];
    __shared__ int best_row[$THREADS];
    T *a = matrices[blockIdx.x];
    int t = threadIdx.x, first_zero = 0;
    for (int k = 0; k < n; ++k) {
        T *column = a + (size_t)k * lda;
        if (pivots) {
            best[t] = -1;
            best_row[t] = k;
            for (int i = k + t; i < n; i += $THREADS)
                if (magnitude(column[i]) > best[t]) {
                    best[t] = magnitude(column[i]);
                    best_row[t] = i;
                }
            __syncthreads();
            for (int half = $THREADS / 2; half; half /= 2) {
                int other = t + half;
                if (t < half && (best[other] > best[t] || (best[other] == best[t] && best_row[other] < best_row[t]))) {
                    best[t] = best[other];
                    best_row[t] = best_row[other];
                }
                __syncthreads();
            }
            int pivot = best_row[0];
            if (t == 0)
                pivots[blockIdx.x * n + k] = pivot + 1;
            if (pivot != k)
                for (int j = t; j < n; j += $THREADS)
                    exchange(a[k + (size_t)j * lda], a[pivot + (size_t)j * lda]);
            __syncthreads();
        }
        T diagonal = column[k];
        if (magnitude(diagonal) == 0) {
            first_zero = first_zero ? first_zero : k + 1;
            __syncthreads();
            continue;
        }
        for (int i = k + 1 + t; i < n; i += $THREADS)
            column[i] = column[i] / diagonal;
        __syncthreads();
        int rest = n - k - 1;
        for (int e = t; e < rest * rest; e += $THREADS) {
            int i = k + 1 + e % rest;
            T *other = a + (size_t)(k + 1 + e / rest) * lda;
            other[i] -= column[i] * other[k];
        }
        __syncthreads();
    }
    if (t == 0 && info)
        info[blockIdx.x] = first_zero;
}

// P b, then L y = b, then U x = y.
__device__ void solve_column(const T *a, int n, int lda, const int *pivots, T *b)
{
    for (int k = 0; pivots && k < n; ++k)
        exchange(b[k], b[pivots[k] - 1]);
    for (int k = 0; k < n; ++k)
        for (int i = k + 1; i < n; ++i)
            b[i] -= a[i + (size_t)k * lda] * b[k];
    for (int k = n - 1; k >= 0; --k) {
        b[k] = b[k] / a[k + (size_t)k * lda];
        for (int i = 0; i < k; ++i)
            b[i] -= a[i + (size_t)k * lda] * b[k];
    }
}

// The same for the transposed matrix, in the reverse order.
__device__ void solve_transposed(const T *a, int n, int lda, const int *pivots, T *b, bool conjugates)
{
    for (int i = 0; i < n; ++i) {
        const T *column = a + (size_t)i * lda;
        T sum = b[i];
        for (int k = 0; k < i; ++k)
            sum -= (conjugates ? conjugate(column[k]) : column[k]) * b[k];
        b[i] = sum / (conjugates ? conjugate(column[i]) : column[i]);
    }
    for (int i = n - 1; i >= 0; --i) {
        const T *column = a + (size_t)i * lda;
        T sum = b[i];
        for (int k = i + 1; k < n; ++k)
            sum -= (conjugates ? conjugate(column[k]) : column[k]) * b[k];
        b[i] = sum;
    }
    for (int k = n - 1; pivots && k >= 0; --k)
        exchange(b[k], b[pivots[k] - 1]);
}

extern "C" __global__ void solve(
    T *const *factors, int n, int lda, const int *pivots, T *const *right, int ldb, int columns, int trans)
{
    const int *own = pivots ? pivots + blockIdx.x * n : pivots;
    for (int j = threadIdx.x; j < columns; j += $THREADS) {
        T *b = right[blockIdx.x] + (size_t)j * ldb;
        if (trans == 0)
            solve_column(factors[blockIdx.x], n, lda, own, b);
        else
            solve_transposed(factors[blockIdx.x], n, lda, own, b, trans == 2);
    }
}

extern "C" __global__ void invert(
    T *const *factors, int n, int lda, const int *pivots, T *const *inverses, int ldc, int *info)
{
    const T *a = factors[blockIdx.x];
    int zero = 0;
    for (int k = n; k > 0; --k)
        if (magnitude(a[k - 1 + (size_t)(k - 1) * lda]) == 0)
            zero = k;
    for (int j = threadIdx.x; zero == 0 && j < n; j += $THREADS) {
        T *b = inverses[blockIdx.x] + (size_t)j * ldc;
        for (int i = 0; i < n; ++i)
            b[i] = i == j ? 1 : 0;
        solve_column(a, n, lda, pivots ? pivots + blockIdx.x * n : pivots, b);
    }
    if (threadIdx.x == 0 && info)
        info[blockIdx.x] = zero;
}
"""


@functools.cache
def _source(dtype: np.dtype[Any]) -> str:
    real = "float" if dtype.name in ("float32", "complex64") else "double"
    words = {"REAL": real, "TYPE": real, "MAGNITUDE": "fabs(x)", "CONJUGATE": "x", "THREADS": str(_THREADS)}
    if dtype.kind == "c":
        words |= {"TYPE": f"pycuda::complex<{real}>", "MAGNITUDE": "fabs(x.real()) + fabs(x.imag())"}
        words |= {"CONJUGATE": "pycuda::conj(x)"}
    return functools.reduce(lambda text, item: text.replace(f"${item[0]}", item[1]), words.items(), _SOURCE)


def launch(name: str, dtype: np.dtype[Any], batch: int, *arguments: Any) -> None:
    """Launch the kernel `name` for `batch` matrices of `dtype`; ints are int32, all else are pointers."""
    if batch:
        values = [np.int32(value) if isinstance(value, int) else np.uintp(int(value)) for value in arguments]
        function = SourceModule(_source(dtype), no_extern_c=True).get_function(name)
        function(*values, grid=(batch, 1), block=(_THREADS, 1, 1))
