"""Eigenvalues of small Hermitian matrices: Jacobi rotations in shared memory, a block of threads for a matrix."""

import numpy as np

from pycuda import gpuarray as _g
from pycuda._linalg.matrices import real_of
from pycuda._linalg.matrix_kernels import launch

#: Rows of matrices for which this is the faster method; 17 KiB of shared memory in complex128.
LARGEST = 32

# Rotations that every method of Jacobi needs, and the order of its pairs.
ROTATIONS = """
// s and h = s / (1 + c) of the rotation [c s; -conj(s) c] that makes [a z; conj(z) b] diagonal, by the smaller of the
// angles, or zeros if it is not needed; returns what it takes from a and gives to b. See Golub and Van Loan, Matrix
// Computations, 8.5.
__device__ R rotation(R a, R b, T z, R size, bool is_needed, T &s, T &h)
{
    R zeta = (b - a) / (2 * size);
    R t = fabs(zeta) > 1 / EPS ? 1 / (2 * zeta) : copysign((R)1, zeta) / (fabs(zeta) + sqrt(1 + zeta * zeta));
    t = is_needed ? t : 0;
    R c = 1 / sqrt(1 + t * t), factor = is_needed ? c * t / size : 0;
    s = z * factor;
    h = s * (1 / (1 + c));
    return is_needed ? t * size : 0;
}

// Turns two elements: c is 1 - |s|^2 / (1 + c), so that rounding errors are those of small changes. See Rutishauser,
// The Jacobi method for real symmetric matrices, Numer. Math. 9, 1966.
__device__ void turn(T s, T h, T &x, T &y)
{
    T old = x;
    x = x - conj_of(s) * (y + h * x);
    y = y + s * (old - conj_of(h) * y);
}

// The pair k of round r of a tournament of `even` players: everyone meets everyone once in even - 1 rounds.
__device__ void pair_of(int k, int r, int even, int &p, int &q)
{
    int a = k == 0 ? even - 1 : (r + k) % (even - 1), b = (r - k + even - 1) % (even - 1);
    p = a < b ? a : b;
    q = a < b ? b : a;
}
"""

_SOURCE = (
    ROTATIONS
    + """
#define SWEEPS 60

// Eigenvalues of Hermitian matrices whose largest element is about 1, in no order, and the rows of `vectors` as their
// eigenvectors. A round turns n / 2 pairs of rows and columns that have no index in common; each thread has elements
// where two pairs meet. Elements that are as nothing beside the matrix are left: those of all pairs at the end. A
// matrix of an odd number of rows has one more, of zeros, which nothing turns.
extern "C" __global__ void jacobi(const T *matrices, int n, R *values, T *vectors, int *report)
{
    extern __shared__ double memory[];
    int even = n + n % 2, pairs = even / 2, row = even + 1;
    int x = threadIdx.x, y = threadIdx.y, width = blockDim.x, height = blockDim.y, t = y * width + x;
    T *a = (T *)memory, *sines = a + even * row, *halves = sines + pairs;
    int *first = (int *)(halves + pairs), *second = first + pairs;
    const T *from = matrices + (I)blockIdx.x * n * n;
    T *v = vectors ? vectors + (I)blockIdx.x * n * n : 0;
    for (int i = y; i < even; i += height)
        for (int j = x; j < even; j += width) {
            bool is_within = i < n && j < n;
            a[i * row + j] = is_within ? from[i * n + j] : made_of(0, 0);
            if (v && is_within) v[i * n + j] = made_of(i == j, 0);
        }
    __syncthreads();
    R least = EPS / (8 * n);
    int is_turned = 1, sweep = 0;
    for (; sweep < SWEEPS && is_turned; ++sweep) {
        is_turned = 0;
        for (int r = 0; r < even - 1; ++r) {
            int is_needed = 0;
            for (int k = t; k < pairs; k += width * height) {
                int p, q;
                pair_of(k, r, even, p, q);
                T z = a[p * row + q], s, h;
                R size = sqrt(square_of(z));
                R alpha = real_of(a[p * row + p]), beta = real_of(a[q * row + q]);
                bool is_large = size > least;
                R part = rotation(alpha, beta, z, size, is_large, s, h);
                a[p * row + p] = made_of(alpha - part, 0);
                a[q * row + q] = made_of(beta + part, 0);
                a[p * row + q] = a[q * row + p] = is_large ? made_of(0, 0) : z;
                is_needed |= is_large;
                sines[k] = s;
                halves[k] = h;
                first[k] = p;
                second[k] = q;
            }
            if (!__syncthreads_or(is_needed)) continue;
            is_turned = 1;
            for (int k = y; k < pairs; k += height) {
                int p = first[k], q = second[k];
                T s = sines[k], h = halves[k];
                for (int l = x; l < pairs; l += width) {
                    if (k == l) continue;
                    int u = first[l], w = second[l];
                    T pu = a[p * row + u], pw = a[p * row + w], qu = a[q * row + u], qw = a[q * row + w];
                    turn(sines[l], halves[l], pu, pw);
                    turn(sines[l], halves[l], qu, qw);
                    turn(conj_of(s), conj_of(h), pu, qu);
                    turn(conj_of(s), conj_of(h), pw, qw);
                    a[p * row + u] = pu;
                    a[p * row + w] = pw;
                    a[q * row + u] = qu;
                    a[q * row + w] = qw;
                }
                if (v && q < n)
                    for (int j = x; j < n; j += width) turn(s, h, v[p * n + j], v[q * n + j]);
            }
            __syncthreads();
        }
    }
    if (t == 0 && is_turned) atomicOr(report, NOT_CONVERGED);
    for (int i = t; i < n; i += width * height) values[(I)blockIdx.x * n + i] = real_of(a[i * row + i]);
}
"""
)


def _bytes(n, dtype):
    even = n + n % 2
    return even * (even + 1) * dtype.itemsize + even // 2 * (2 * dtype.itemsize + 8)


def eigenvalues(a, report, is_with_vectors):
    """Eigenvalues of scaled Hermitian matrices in no order, and their eigenvectors as rows (or None).

    Two-sided Jacobi rotations in parallel order (Golub and Van Loan, Matrix Computations, 8.5; Luk and Park, A proof of
    convergence for two parallel Jacobi SVD algorithms, IEEE Trans. Comp. 38, 1989).
    """
    count, n, _ = a.shape
    values = _g.empty((count, n), real_of(a.dtype), a.allocator)
    vectors = _g.empty(a.shape, a.dtype, a.allocator) if is_with_vectors else None
    if a.size:
        threads = (4, 8, 1) if n <= 8 else (8, 16, 1) if n <= 32 else (32, 8, 1)
        launch(_SOURCE, a.dtype, "jacobi", (count, 1), threads, a, np.int32(n), values,
               np.intp(0) if vectors is None else vectors, report, shared=_bytes(n, a.dtype))  # fmt: skip
    return values, vectors
