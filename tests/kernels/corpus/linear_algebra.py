"""Factorisations, eigenvalues, iterative solvers, tridiagonal systems, sparse products in many formats."""

from __future__ import annotations

import numpy as np

from tests.kernels.compare import Within
from tests.kernels.corpus.tools import NUMPY, Family, L, cdiv, ints, normal, out, rng, uniform, zeros

SUITE = F = Family("linear_algebra")

_DENSE = """
typedef $T T;
__global__ void lu_in_place(int n, T *a) {
    extern __shared__ __align__(16) unsigned char raw[];
    T *s = (T *)raw;
    a += blockIdx.x * n * n;
    for (int i = threadIdx.x; i < n * n; i += blockDim.x) s[i] = a[i];
    for (int k = 0; k < n; ++k) {
        __syncthreads();
        for (int i = k + 1 + threadIdx.x; i < n; i += blockDim.x) s[i * n + k] /= s[k * n + k];
        __syncthreads();
        int m = n - k - 1;
        for (int e = threadIdx.x; e < m * m; e += blockDim.x) { int i = k + 1 + e / m, j = k + 1 + e % m; s[i * n + j] -= s[i * n + k] * s[k * n + j]; }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n * n; i += blockDim.x) a[i] = s[i];
}
__global__ void cholesky_step(int n, int k, T *a) {
    __shared__ T pivot;
    if (threadIdx.x == 0) { pivot = sqrt(a[k * n + k]); }
    __syncthreads();
    for (int i = k + threadIdx.x; i < n; i += blockDim.x) a[i * n + k] = i == k ? pivot : a[i * n + k] / pivot;
}
__global__ void cholesky_update(int n, int k, T *a) {
    int j = k + 1 + blockIdx.x * blockDim.x + threadIdx.x, i = k + 1 + blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j <= i) a[i * n + j] -= a[i * n + k] * a[j * n + k];
}
__global__ void gram_schmidt(int m, int n, T *q, T *r) {
    __shared__ T s[64];
    int t = threadIdx.x;
    for (int k = 0; k < n; ++k) {
        for (int j = k; j < n; ++j) {
            T v = 0;
            for (int i = t; i < m; i += 64) v += q[i * n + k] * q[i * n + j];
            s[t] = v;
            for (int d = 32; d; d >>= 1) { __syncthreads(); if (t < d) s[t] += s[t + d]; }
            __syncthreads();
            T dot = s[0];
            __syncthreads();
            if (j == k) { T norm = sqrt(dot); if (t == 0) r[k * n + k] = norm; for (int i = t; i < m; i += 64) q[i * n + k] /= norm; }
            else { if (t == 0) r[k * n + j] = dot; for (int i = t; i < m; i += 64) q[i * n + j] -= dot * q[i * n + k]; }
            __syncthreads();
        }
    }
}
__global__ void householder(int m, int n, T *a) {
    __shared__ T v[32], scale;
    int j = threadIdx.x;
    for (int k = 0; k < n; ++k) {
        if (j == 0) {
            T norm = 0;
            for (int i = k; i < m; ++i) norm += a[i * n + k] * a[i * n + k];
            norm = sqrt(norm);
            T alpha = a[k * n + k] > 0 ? -norm : norm, q = 0;
            for (int i = k; i < m; ++i) { v[i] = a[i * n + k] - (i == k ? alpha : 0); q += v[i] * v[i]; }
            scale = 2 / q;
        }
        __syncthreads();
        if (j >= k && j < n) {
            T d = 0;
            for (int i = k; i < m; ++i) d += v[i] * a[i * n + j];
            d *= scale;
            for (int i = k; i < m; ++i) a[i * n + j] -= d * v[i];
        }
        __syncthreads();
    }
}
__global__ void jacobi_eigenvalues(int n, int sweeps, T *a, T *values) {
    __shared__ T c, s;
    int i = threadIdx.x;
    for (int sweep = 0; sweep < sweeps; ++sweep) for (int p = 0; p < n - 1; ++p) for (int q = p + 1; q < n; ++q) {
        if (i == 0) {
            T apq = a[p * n + q];
            c = 1; s = 0;
            if (apq != 0) { T theta = (a[q * n + q] - a[p * n + p]) / (2 * apq), t = (theta >= 0 ? 1 : -1) / (abs(theta) + sqrt(theta * theta + 1)); c = 1 / sqrt(t * t + 1); s = t * c; }
        }
        __syncthreads();
        if (i < n) { T x = a[i * n + p], y = a[i * n + q]; a[i * n + p] = c * x - s * y; a[i * n + q] = s * x + c * y; }
        __syncthreads();
        if (i < n) { T x = a[p * n + i], y = a[q * n + i]; a[p * n + i] = c * x - s * y; a[q * n + i] = s * x + c * y; }
        __syncthreads();
    }
    if (i < n) { T v = a[i * n + i]; int rank = 0; for (int j = 0; j < n; ++j) { T u = a[j * n + j]; rank += u < v || (u == v && j < i); } values[rank] = v; }
}
__global__ void power_iteration(int n, int rounds, const T *a, T *x, T *value) {
    __shared__ T s[64], norm;
    int i = threadIdx.x;
    T v = i < n ? x[i] : 0;
    for (int r = 0; r < rounds; ++r) {
        s[i] = v;
        __syncthreads();
        T w = 0;
        if (i < n) for (int j = 0; j < n; ++j) w += a[i * n + j] * s[j];
        __syncthreads();
        s[i] = w * w;
        for (int d = 32; d; d >>= 1) { __syncthreads(); if (i < d) s[i] += s[i + d]; }
        if (i == 0) norm = sqrt(s[0]);
        __syncthreads();
        v = w / norm;
    }
    if (i < n) x[i] = v;
    if (i == 0) *value = norm;
}
__global__ void gauss_jordan_inverse(int n, T *a, T *inv) {
    int j = threadIdx.x, i = threadIdx.y;
    inv[i * n + j] = i == j;
    for (int k = 0; k < n; ++k) {
        __syncthreads();
        T p = a[k * n + k], f = a[i * n + k], u = a[k * n + j], v = inv[k * n + j];
        __syncthreads();
        if (i == k) { a[i * n + j] = u / p; inv[i * n + j] = v / p; } else { a[i * n + j] -= f / p * u; inv[i * n + j] -= f / p * v; }
    }
}
__global__ void pivoted_solve(int n, T *all, T *x) {
    T *a = all + blockIdx.x * n * (n + 1);
    __shared__ int pivot;
    int t = threadIdx.x;
    for (int k = 0; k < n; ++k) {
        if (t == 0) { int p = k; for (int i = k + 1; i < n; ++i) if (abs(a[i * (n + 1) + k]) > abs(a[p * (n + 1) + k])) p = i; pivot = p; }
        __syncthreads();
        if (pivot != k && t <= n) { T u = a[k * (n + 1) + t]; a[k * (n + 1) + t] = a[pivot * (n + 1) + t]; a[pivot * (n + 1) + t] = u; }
        __syncthreads();
        if (t < n && t != k) { T f = a[t * (n + 1) + k] / a[k * (n + 1) + k]; for (int j = k; j <= n; ++j) a[t * (n + 1) + j] -= f * a[k * (n + 1) + j]; }
        __syncthreads();
    }
    if (t < n) x[blockIdx.x * n + t] = a[t * (n + 1) + n] / a[t * (n + 1) + t];
}
__global__ void determinant3(int n, const T *m, T *d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const T *a = m + 9 * i;
    d[i] = a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) + a[2] * (a[3] * a[7] - a[4] * a[6]);
}
__global__ void thomas_many(int n, int count, const T *a, const T *b, const T *c, const T *d, T *x, T *work) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= count) return;
    T cp = c[s] / b[s], dp = d[s] / b[s];
    work[s] = cp; x[s] = dp;
    for (int i = 1; i < n; ++i) { int k = i * count + s; T m = b[k] - a[k] * cp; cp = c[k] / m; dp = (d[k] - a[k] * dp) / m; work[k] = cp; x[k] = dp; }
    for (int i = n - 2; i >= 0; --i) { int k = i * count + s; dp = x[k] - work[k] * dp; x[k] = dp; }
}
__global__ void parallel_cyclic_reduction(int n, const T *a, const T *b, const T *c, const T *d, T *x) {
    __shared__ T sa[128], sb[128], sc[128], sd[128];
    int i = threadIdx.x, o = blockIdx.x * n;
    sa[i] = a[o + i]; sb[i] = b[o + i]; sc[i] = c[o + i]; sd[i] = d[o + i];
    for (int h = 1; h < n; h *= 2) {
        __syncthreads();
        T k1 = i >= h ? sa[i] / sb[i - h] : 0, k2 = i + h < n ? sc[i] / sb[i + h] : 0;
        T na = i >= h ? -sa[i - h] * k1 : 0, nc = i + h < n ? -sc[i + h] * k2 : 0, nb = sb[i] - (i >= h ? sc[i - h] * k1 : 0) - (i + h < n ? sa[i + h] * k2 : 0);
        T nd = sd[i] - (i >= h ? sd[i - h] * k1 : 0) - (i + h < n ? sd[i + h] * k2 : 0);
        __syncthreads();
        sa[i] = na; sb[i] = nb; sc[i] = nc; sd[i] = nd;
    }
    x[o + i] = sd[i] / sb[i];
}
__global__ void conjugate_gradient(int n, int rounds, const T *a, const T *b, T *x) {
    __shared__ T s[64], p[64];
    int i = threadIdx.x;
    T xi = 0, r = i < n ? b[i] : 0, pi = r;
    auto dot = [&](T u) { __syncthreads(); s[i] = u; for (int d = 32; d; d /= 2) { __syncthreads(); if (i < d) s[i] += s[i + d]; } __syncthreads(); T v = s[0]; __syncthreads(); return v; };
    T rr = dot(r * r);
    for (int k = 0; k < rounds; ++k) {
        p[i] = pi;
        __syncthreads();
        T q = 0;
        if (i < n) for (int j = 0; j < n; ++j) q += a[i * n + j] * p[j];
        T alpha = rr / dot(pi * q);
        xi += alpha * pi; r -= alpha * q;
        T next = dot(r * r);
        pi = r + next / rr * pi;
        rr = next;
    }
    if (i < n) x[i] = xi;
}
__global__ void jacobi_solver(int n, const T *a, const T *b, const T *x, T *y) {
    int i = blockIdx.x, lane = threadIdx.x;
    T s = 0;
    for (int j = lane; j < n; j += 32) if (j != i) s += a[i * n + j] * x[j];
    for (int d = 16; d; d >>= 1) s += __shfl_down_sync(~0u, s, d);
    if (lane == 0) y[i] = (b[i] - s) / a[i * n + i];
}"""


def _lu(a):
    a = a.astype(np.float64)
    for k in range(a.shape[1]):
        a[:, k + 1:, k] /= a[:, k, k, None]
        a[:, k + 1:, k + 1:] -= a[:, k + 1:, k, None] * a[:, k, None, k + 1:]
    return a


def _qr(a):
    q, r = np.linalg.qr(a.astype(np.float64))
    s = np.sign(np.diag(r))
    return q * s, r * s[:, None]


def _tridiagonal(a, b, c, d):
    m = np.diag(b.astype(np.float64)) + np.diag(a[1:].astype(np.float64), -1) + np.diag(c[:-1].astype(np.float64), 1)
    return np.linalg.solve(m, d.astype(np.float64))


def _power(a, x, rounds):
    a, x = a.astype(np.float64), x.astype(np.float64)
    for _ in range(rounds):
        x = a @ x
        norm = np.sqrt((x * x).sum())
        x = x / norm
    return x, norm


def _reflected(a):
    """Householder's factor has diagonals of the sign that avoids cancellation, found by doing it."""
    a = a.astype(np.float64)
    for k in range(a.shape[1]):
        v = a[k:, k].copy()
        v[0] += np.linalg.norm(v) * (1 if v[0] > 0 else -1)
        a[k:] -= 2 / (v @ v) * np.outer(v, v @ a[k:])
    return np.triu(a)


for _t, _n in (("float", 20), ("double", 24)):
    _d, _small = NUMPY[_t], np.dtype(NUMPY[_t]).itemsize
    _spd = lambda seed, n: (lambda m: (m @ m.T / n + 2 * np.eye(n)))(rng(seed).normal(size=(n, n))).astype(_d)
    _e = Within("a well conditioned system of fewer than 130 unknowns", rtol=2e-3 if _t == "float" else 1e-10, atol=5e-4 if _t == "float" else 1e-11)
    _tri = {k: uniform(30 + i, (128, 3), 0.2, 1, _d) for i, k in enumerate("acd")}
    F.run(f"dense_{_t}", _DENSE, [L("lu_in_place", 3, 64, _n, "lu", shared=_n * _n * _small), *(step for k in range(_n) for step in (L("cholesky_step", 1, 32, _n, k, "chol"), L("cholesky_update", (cdiv(_n, 8), cdiv(_n, 8)), (8, 8), _n, k, "chol"))),
          L("gram_schmidt", 1, 64, 30, 12, "q", "r"), L("householder", 1, 32, 30, 12, "h"), L("jacobi_eigenvalues", 1, 32, 12, 8, "sym", "values"), L("power_iteration", 1, 64, _n, 30, "spd", "vector", "norm"),
          L("gauss_jordan_inverse", 1, (_n, _n), _n, "left", "inverse"), L("pivoted_solve", 4, 32, 15, "systems", "solutions"), L("determinant3", 2, 64, 100, "small", "det"),
          L("thomas_many", 1, 32, 128, 3, "ta", "tb", "tc", "td", "tx", "work"), L("parallel_cyclic_reduction", 2, 128, 128, "pa", "pb", "pc", "pd", "px"), L("conjugate_gradient", 1, 64, _n, 16, "spd", "rhs", "cg"),
          *(L("jacobi_solver", _n, 32, _n, "dominant", "rhs", *(("j0", "j1") if i % 2 == 0 else ("j1", "j0"))) for i in range(6))],
          lambda b: {"lu": _lu(b.lu), "chol": np.tril(np.linalg.cholesky(b.chol.astype(np.float64))) + np.triu(b.chol, 1), "q": _qr(b.q)[0], "r": _qr(b.q)[1], "h": _reflected(b.h), "values": np.linalg.eigvalsh(b.sym.astype(np.float64)),
                     "vector": _power(b.spd, b.vector, 30)[0], "norm": [_power(b.spd, b.vector, 30)[1]], "inverse": np.linalg.inv(b.left.astype(np.float64)), "solutions": np.linalg.solve(b.systems[:, :, :-1].astype(np.float64), b.systems[:, :, -1:].astype(np.float64)),
                     "det": np.linalg.det(b.small.reshape(-1, 3, 3).astype(np.float64)), "tx": np.stack([_tridiagonal(b.ta[:, i], b.tb[:, i], b.tc[:, i], b.td[:, i]) for i in range(3)], 1),
                     "px": np.stack([_tridiagonal(b.pa[i], b.pb[i], b.pc[i], b.pd[i]) for i in range(2)]), "cg": np.linalg.solve(b.spd.astype(np.float64), b.rhs.astype(np.float64)), "j0": _jacobi(b, 6)},
          compare=_e, given={"T": _t}, lu=(rng(1).normal(size=(3, _n, _n)) + 8 * np.eye(_n)).astype(_d), chol=_spd(2, _n), q=normal(3, (30, 12), _d), r=zeros((12, 12), _d), h=normal(4, (30, 12), _d), sym=_spd(5, 12), values=out(12, _d), spd=_spd(6, _n),
          vector=np.ones(_n, _d), norm=out(1, _d), left=(rng(7).normal(size=(_n, _n)) + 8 * np.eye(_n)).astype(_d), inverse=out((_n, _n), _d), systems=(rng(8).normal(size=(4, 15, 16)) + 6 * np.eye(15, 16)[::-1]).astype(_d), solutions=out((4, 15), _d),
          small=normal(9, (100, 9), _d), det=out(100, _d), ta=_tri["a"], tb=np.full((128, 3), 2.5, _d), tc=_tri["c"], td=_tri["d"], tx=out((128, 3), _d), work=out((128, 3), _d), pa=uniform(10, (2, 128), 0.2, 1, _d), pb=np.full((2, 128), -2.5, _d),
          pc=uniform(11, (2, 128), 0.2, 1, _d), pd=uniform(12, (2, 128), -1, 1, _d), px=out((2, 128), _d), rhs=normal(13, _n, _d), cg=out(_n, _d), dominant=(rng(14).normal(size=(_n, _n)) + 15 * np.eye(_n)).astype(_d), j0=zeros(_n, _d), j1=out(_n, _d))


def _jacobi(b, rounds):
    a, x = b.dominant.astype(np.float64), b.j0.astype(np.float64)
    for _ in range(rounds):
        x = (b.rhs - (a @ x - np.diag(a) * x)) / np.diag(a)
    return x


_SPARSE = """
typedef $T T;
__global__ void csr_scalar(int rows, const int *start, const int *column, const T *value, const T *x, T *y) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    T s = 0;
    for (int i = start[r]; i < start[r + 1]; ++i) s += value[i] * __ldg(&x[column[i]]);
    y[r] = s;
}
__global__ void csr_vector(int rows, const int *start, const int *column, const T *value, const T *x, T *y) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / $LANES, lane = threadIdx.x % $LANES;
    T s = 0;
    if (r < rows) for (int i = start[r] + lane; i < start[r + 1]; i += $LANES) s += value[i] * x[column[i]];
    for (int d = $LANES / 2; d; d >>= 1) s += __shfl_down_sync(~0u, s, d, $LANES);
    if (r < rows && lane == 0) y[r] = s;
}
__global__ void coo_atomic(int n, const int *row, const int *column, const T *value, const T *x, T *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicAdd(&y[row[i]], value[i] * x[column[i]]); }
__global__ void coo_segmented(int n, const int *row, const int *column, const T *value, const T *x, T *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, r = i < n ? row[i] : -1;
    T v = i < n ? value[i] * x[column[i]] : 0;
    for (int d = 1; d < 32; d <<= 1) { T u = __shfl_up_sync(~0u, v, d); int q = __shfl_up_sync(~0u, r, d); if (lane >= d && q == r) v += u; }
    int next = __shfl_down_sync(~0u, r, 1);
    if (r >= 0 && (lane == 31 || next != r)) atomicAdd(&y[r], v);
}
__global__ void ell(int rows, int width, const int *column, const T *value, const T *x, T *y) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    T s = 0;
    for (int k = 0; k < width; ++k) { int c = column[k * rows + r]; if (c >= 0) s += value[k * rows + r] * x[c]; }
    y[r] = s;
}
__global__ void dia(int n, int diagonals, const int *offset, const T *value, const T *x, T *y) {
    __shared__ int o[16];
    if (threadIdx.x < diagonals) o[threadIdx.x] = offset[threadIdx.x];
    __syncthreads();
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n) return;
    T s = 0;
    for (int d = 0; d < diagonals; ++d) { int c = r + o[d]; if (c >= 0 && c < n) s += value[d * n + r] * x[c]; }
    y[r] = s;
}
__global__ void bsr(int rows, const int *start, const int *column, const T *blocks, const T *x, T *y) {
    int r = blockIdx.x, i = threadIdx.x / 4, j = threadIdx.x % 4;
    T s = 0;
    for (int k = start[r]; k < start[r + 1]; ++k) s += blocks[k * 16 + i * 4 + j] * x[column[k] * 4 + j];
    s += __shfl_xor_sync(0xffffu, s, 1); s += __shfl_xor_sync(0xffffu, s, 2);
    if (j == 0) y[r * 4 + i] = s;
}
__global__ void csr_transposed(int rows, const int *start, const int *column, const T *value, const T *x, T *y) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) for (int i = start[r]; i < start[r + 1]; ++i) atomicAdd(&y[column[i]], value[i] * x[r]);
}
__global__ void csr_times_dense(int n, const int *start, const int *column, const T *value, const T *b, T *c) {
    int r = blockIdx.x, j = threadIdx.x;
    T s = 0;
    for (int i = start[r]; i < start[r + 1]; ++i) s += value[i] * b[column[i] * n + j];
    c[r * n + j] = s;
}
__global__ void csr_to_dense(int columns, const int *start, const int *column, const T *value, T *dense) { int r = blockIdx.x; for (int i = start[r] + threadIdx.x; i < start[r + 1]; i += blockDim.x) dense[r * columns + column[i]] = value[i]; }
__global__ void dense_to_counts(int columns, const T *dense, int *count) {
    int c = 0;
    for (int j = threadIdx.x; j < columns; j += 32) c += dense[blockIdx.x * columns + j] != 0;
    c = __reduce_add_sync(~0u, c);
    if (threadIdx.x == 0) count[blockIdx.x] = c;
}
__global__ void row_scale_and_diagonal(int rows, const int *start, const int *column, T *value, T *diagonal) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    T d = 0;
    for (int i = start[r]; i < start[r + 1]; ++i) { if (column[i] == r) d = value[i]; value[i] *= 2 * (r & 3) + 1; }
    diagonal[r] = d;
}
__global__ void sampled_dense_product(int n, int k, const int *row, const int *column, const T *a, const T *b, T *o) {
    int e = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x & 7;
    T s = 0;
    if (e < n) for (int i = lane; i < k; i += 8) s += a[row[e] * k + i] * b[column[e] * k + i];
    for (int d = 4; d; d /= 2) s += __shfl_xor_sync(~0u, s, d, 8);
    if (e < n && lane == 0) o[e] = s;
}"""


def _dense(b, rows, columns):
    a = np.zeros((rows, columns))
    np.add.at(a, (b.row, b.column), b.value)
    return a


def _bsr(b):
    y = np.zeros(len(b.bstart) * 4 - 4)
    for r in range(len(b.bstart) - 1):
        for k in range(b.bstart[r], b.bstart[r + 1]):
            y[4 * r:4 * r + 4] += b.blocks[k].reshape(4, 4) @ b.x[4 * b.bcolumn[k]:4 * b.bcolumn[k] + 4]
    return y


for _t, _lanes, _rows, _cols in (("float", 32, 90, 70), ("double", 8, 131, 96), ("int", 4, 64, 80)):
    _d = NUMPY[_t]
    _mask = rng(40).random((_rows, _cols)) < 0.12
    _mask[3] = False
    _r, _c = (v.astype(np.int32) for v in np.nonzero(_mask))
    _v = np.where(ints(41, len(_r)) == 0, 1, ints(41, len(_r))).astype(_d)
    _start = np.concatenate([[0], np.cumsum(_mask.sum(1))]).astype(np.int32)
    _width = int(_mask.sum(1).max())
    _ec, _ev = np.full((_width, _rows), -1, np.int32), np.zeros((_width, _rows), _d)
    for _i in range(_rows):
        _k = _start[_i + 1] - _start[_i]
        _ec[:_k, _i], _ev[:_k, _i] = _c[_start[_i]:_start[_i + 1]], _v[_start[_i]:_start[_i + 1]]
    _csr = ("start", "column", "value")
    F.run(f"sparse_{_t}", _SPARSE, [L("csr_scalar", cdiv(_rows, 64), 64, _rows, *_csr, "x", "y1"), L("csr_vector", cdiv(_rows * _lanes, 128), 128, _rows, *_csr, "x", "y2"), L("coo_atomic", cdiv(len(_r), 128), 128, len(_r), "row", "column", "value", "x", "y3"),
          L("coo_segmented", cdiv(len(_r), 64), 64, len(_r), "row", "column", "value", "x", "y4"), L("ell", cdiv(_rows, 32), 32, _rows, _width, "ec", "ev", "x", "y5"), L("dia", 2, 64, 70, 5, "offset", "bands", "x", "y6"), L("bsr", 12, 16, 12, "bstart", "bcolumn", "blocks", "x", "y7"),
          L("csr_transposed", cdiv(_rows, 64), 64, _rows, *_csr, "xr", "y8"), L("csr_times_dense", _rows, 9, 9, *_csr, "b", "y9"), L("csr_to_dense", _rows, 32, _cols, *_csr, "full"), L("dense_to_counts", _rows, 32, _cols, "full", "count"),
          L("row_scale_and_diagonal", cdiv(_rows, 64), 64, _rows, "start", "column", "scaled", "diag"), L("sampled_dense_product", cdiv(len(_r), 16), 128, len(_r), 20, "row", "column", "p", "q", "sampled")],
          lambda b, m=_rows, n=_cols: {**{k: _dense(b, m, n) @ b.x for k in ("y1", "y2", "y3", "y4", "y5")}, "y6": sum(np.where((0 <= (j := np.arange(70) + o)) & (j < 70), b.bands[i] * b.x[np.clip(j, 0, 69)], 0) for i, o in enumerate(b.offset.tolist())), "y7": _bsr(b),
                                       "y8": b.xr @ _dense(b, m, n), "y9": _dense(b, m, n) @ b.b, "full": _dense(b, m, n), "count": (_dense(b, m, n) != 0).sum(1), "scaled": b.value * (2 * (b.row & 3) + 1),
                                       "diag": [_dense(b, m, n)[i, i] if i < n else 0 for i in range(m)], "sampled": (b.p[b.row] * b.q[b.column]).sum(1)},
          given={"T": _t, "LANES": _lanes}, start=_start, row=_r, column=_c, value=_v, x=ints(42, _cols, dtype=_d), xr=ints(43, _rows, dtype=_d), y1=out(_rows, _d), y2=out(_rows, _d), y3=zeros(_rows, _d), y4=zeros(_rows, _d), y5=out(_rows, _d), ec=_ec, ev=_ev,
          offset=np.array([-7, -1, 0, 1, 5], np.int32), bands=ints(44, (5, 70), dtype=_d), y6=out(70, _d), bstart=np.cumsum(np.concatenate([[0], np.arange(12) % 5])).astype(np.int32), bcolumn=ints(45, 22, 0, 17), blocks=ints(46, (22, 16), dtype=_d), y7=out(48, _d),
          y8=zeros(_cols, _d), b=ints(47, (_cols, 9), dtype=_d), y9=out((_rows, 9), _d), full=zeros((_rows, _cols), _d), count=out(_rows, np.int32), scaled=_v, diag=out(_rows, _d), p=ints(48, (_rows, 20), dtype=_d), q=ints(49, (_cols, 20), dtype=_d), sampled=out(len(_r), _d))
