"""Eigenvalues of small Hermitian matrices: Jacobi rotations in shared memory, a block of threads for a matrix."""

import numpy as np

from pycuda import gpuarray as _g
from pycuda._matrices import real_of
from pycuda._matrix_kernels import launch

_SHARED = 44 * 1024

# Rotations that every method of Jacobi needs, and the order of its pairs.
ROTATIONS = """
// c and s of the rotation [c s; -conj(s) c] that makes [a z; conj(z) b] diagonal, by the smaller of the angles; returns
// what it takes from a and gives to b. See Golub and Van Loan, Matrix Computations, 8.5.
__device__ R rotation(R a, R b, T z, R size, R &c, T &s)
{
    R zeta = (b - a) / (2 * size);
    R t = fabs(zeta) > (R)1 / EPS ? 1 / (2 * zeta) : copysign((R)1, zeta) / (fabs(zeta) + sqrt(1 + zeta * zeta));
    c = 1 / sqrt(1 + t * t);
    s = z * (c * t / size);
    return t * size;
}

// The pair k of round r of a tournament of `even` players: everyone meets everyone once in even - 1 rounds.
__device__ void pair_of(int k, int r, int even, int &p, int &q)
{
    int a = k == 0 ? even - 1 : (r + k) % (even - 1), b = (r - k + even - 1) % (even - 1);
    p = a < b ? a : b;
    q = a < b ? b : a;
}
"""

_SOURCE = ROTATIONS + """
#define SWEEPS 60
#define NOT_CONVERGED 2

__device__ void turn(R c, T s, T &x, T &y)
{
    T old = x;
    x = old * c - conj_of(s) * y;
    y = s * old + y * c;
}

// Eigenvalues of Hermitian matrices whose largest element is about 1, in no order, and the rows of `vectors` as their
// eigenvectors. A round turns n / 2 pairs of rows and columns that have no index in common; each thread has elements
// where two pairs meet. Elements that are as nothing beside the matrix are left: those of all pairs at the end.
extern "C" __global__ void jacobi(const T *matrices, int n, R *values, T *vectors, int *report)
{
    extern __shared__ double memory[];
    int even = n + n % 2, pairs = even / 2, row = n | 1, t = threadIdx.x;
    T *a = (T *)memory, *sines = a + n * row;
    R *cosines = (R *)(sines + pairs);
    __shared__ int turned;
    const T *from = matrices + (I)blockIdx.x * n * n;
    T *v = vectors ? vectors + (I)blockIdx.x * n * n : 0;
    for (int e = t; e < n * n; e += blockDim.x) {
        a[e / n * row + e % n] = from[e];
        if (v) v[e] = made_of(e / n == e % n, 0);
    }
    if (t == 0) turned = 0;
    __syncthreads();
    R least = EPS / (8 * n);
    int sweep = 0;
    for (int before = -1; sweep < SWEEPS; ++sweep) {
        int now = turned;
        __syncthreads();
        if (now == before) break;
        before = now;
        for (int r = 0; r < even - 1; ++r) {
            for (int k = t; k < pairs; k += blockDim.x) {
                int p, q;
                pair_of(k, r, even, p, q);
                R c = 1;
                T s = made_of(0, 0);
                if (q < n) {
                    T z = a[p * row + q];
                    R size = sqrt(square_of(z));
                    if (size > least) {
                        R part = rotation(real_of(a[p * row + p]), real_of(a[q * row + q]), z, size, c, s);
                        a[p * row + p] = made_of(real_of(a[p * row + p]) - part, 0);
                        a[q * row + q] = made_of(real_of(a[q * row + q]) + part, 0);
                        a[p * row + q] = a[q * row + p] = made_of(0, 0);
                        atomicAdd(&turned, 1);
                    }
                }
                cosines[k] = c;
                sines[k] = s;
            }
            __syncthreads();
            for (int e = t; e < pairs * pairs; e += blockDim.x) {
                int k = e / pairs, l = e % pairs;
                if (k >= l || (real_of(sines[k]) == 0 && imag_of(sines[k]) == 0
                               && real_of(sines[l]) == 0 && imag_of(sines[l]) == 0)) continue;
                int p, q, u, w;
                pair_of(k, r, even, p, q);
                pair_of(l, r, even, u, w);
                T zero = made_of(0, 0);
                T pu = a[p * row + u], pw = w < n ? a[p * row + w] : zero;
                T qu = q < n ? a[q * row + u] : zero, qw = q < n && w < n ? a[q * row + w] : zero;
                turn(cosines[l], sines[l], pu, pw);
                turn(cosines[l], sines[l], qu, qw);
                turn(cosines[k], conj_of(sines[k]), pu, qu);
                turn(cosines[k], conj_of(sines[k]), pw, qw);
                a[p * row + u] = pu;
                a[u * row + p] = conj_of(pu);
                if (w < n) { a[p * row + w] = pw; a[w * row + p] = conj_of(pw); }
                if (q < n) { a[q * row + u] = qu; a[u * row + q] = conj_of(qu); }
                if (q < n && w < n) { a[q * row + w] = qw; a[w * row + q] = conj_of(qw); }
            }
            for (int e = t; v && e < pairs * n; e += blockDim.x) {
                int k = e / n, j = e % n, p, q;
                T s = sines[k];
                if (real_of(s) == 0 && imag_of(s) == 0) continue;
                pair_of(k, r, even, p, q);
                turn(cosines[k], s, v[p * n + j], v[q * n + j]);
            }
            __syncthreads();
        }
    }
    if (t == 0 && sweep == SWEEPS) atomicOr(report, NOT_CONVERGED);
    for (int i = t; i < n; i += blockDim.x) values[(I)blockIdx.x * n + i] = real_of(a[i * row + i]);
}
"""


def _bytes(n, dtype):
    pairs = (n + 1) // 2
    return n * (n | 1) * dtype.itemsize + pairs * (dtype.itemsize + real_of(dtype).itemsize)


def fits(n, dtype):
    """Whether matrices of n rows can be turned in shared memory."""
    return _bytes(n, dtype) <= _SHARED


def eigenvalues(a, report, is_with_vectors):
    """Eigenvalues of scaled Hermitian matrices in no order, and their eigenvectors as rows (or None).

    Two-sided Jacobi rotations in parallel order (Golub and Van Loan, Matrix Computations, 8.5; Luk and Park, A proof of
    convergence for two parallel Jacobi SVD algorithms, IEEE Trans. Comp. 38, 1989).
    """
    count, n, _ = a.shape
    values = _g.empty((count, n), real_of(a.dtype))
    vectors = _g.empty(a.shape, a.dtype) if is_with_vectors else None
    if a.size:
        threads = 32 if n <= 8 else 128 if n <= 24 else 256
        launch(_SOURCE, a.dtype, "jacobi", (count, 1), threads, a, np.int32(n), values,
               np.intp(0) if vectors is None else vectors, report, shared=_bytes(n, a.dtype))  # fmt: skip
    return values, vectors
