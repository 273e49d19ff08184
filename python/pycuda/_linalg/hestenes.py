"""Singular values by Jacobi rotations of columns: a block of threads for a small matrix, launches for a large one."""

import numpy as np

from pycuda import gpuarray as _g
from pycuda._linalg import hermitian as _hermitian
from pycuda._linalg.jacobi import ROTATIONS
from pycuda._linalg.matrices import real_of
from pycuda._linalg.matrix_kernels import NOT_CONVERGED, launch

_SWEEPS = 60
# Threads that have a pair of columns: a warp, or as many as this if columns are long.
_WIDE, _LONG = 128, 512
# Matrices of more columns take many blocks each, unless there are many of them.
_FEW_COLUMNS, _MANY_MATRICES, _MANY_COLUMNS = 32, 32, 128

_SOURCE = (
    ROTATIONS
    + """
#define SWEEPS 60
#define FLOOR (TINY / EPS)  // Squares of lengths of columns that are as nothing beside the matrix, whose largest is 1.

// Sums of what the threads of a group have, for each of them.
template <int N> __device__ void add_up(R (&x)[N])
{
    for (int k = 0; k < N; ++k)
        for (int step = (GROUP < 32 ? GROUP : 32) / 2; step > 0; step /= 2)
            x[k] += __shfl_xor_sync(0xffffffffu, x[k], step, GROUP < 32 ? GROUP : 32);
#if GROUP > 32
    __shared__ R parts[GROUP / 32][N];
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        for (int k = 0; k < N; ++k) parts[threadIdx.x / 32][k] = x[k];
    __syncthreads();
    for (int k = 0; k < N; ++k) {
        x[k] = 0;
        for (int warp = 0; warp < GROUP / 32; ++warp) x[k] += parts[warp][k];
    }
#endif
}

__device__ void turn(T s, T h, bool is_exchanged, T &x, T &y)
{
    T first = x, second = y;
    turn(s, h, first, second);
    x = is_exchanged ? second : first;
    y = is_exchanged ? first : second;
}

// Makes two columns of m elements orthogonal, the longer one first, and turns two others of n elements with them;
// whether that was needed. A group of threads does it; `m` is 0 for one that has nothing to do.
__device__ int make_orthogonal(T *x, T *y, int m, T *other_x, T *other_y, int n, R tolerance)
{
    R sums[IS_COMPLEX ? 4 : 3] = {};
    for (int i = threadIdx.x; i < m; i += GROUP) {
        T p = x[i], q = y[i], z = conj_of(p) * q;
        sums[0] += square_of(p);
        sums[1] += square_of(q);
        sums[2] += real_of(z);
        if (IS_COMPLEX) sums[3] += imag_of(z);
    }
    add_up(sums);
    R a = sums[0], b = sums[1], real = sums[2], imag = IS_COMPLEX ? sums[3] : 0;
    R size = IS_COMPLEX ? hypot(real, imag) : fabs(real);
    bool is_needed = a > FLOOR && b > FLOOR && size > tolerance * sqrt(a) * sqrt(b), is_exchanged = b > a;
    if (GROUP >= 32 && !is_needed) return 0;
    T s, h;
    rotation(a, b, made_of(real, imag), size, is_needed, s, h);
    is_exchanged = is_exchanged && is_needed;
    for (int i = threadIdx.x; i < m; i += GROUP) turn(s, h, is_exchanged, x[i], y[i]);
    for (int i = threadIdx.x; i < n; i += GROUP) turn(s, h, is_exchanged, other_x[i], other_y[i]);
    return is_needed;
}

// Turns pairs of the n columns of each matrix, which lie one after the other, until all are orthogonal.
extern "C" __global__ void orthogonalize(T *matrices, int m, int n, T *others, int length, R tolerance, int *report)
{
    T *w = matrices + (I)blockIdx.x * n * m, *v = others ? others + (I)blockIdx.x * n * length : 0;
    int even = n + n % 2, pairs = even / 2, is_turned = 1;
    for (int sweep = 0; sweep < SWEEPS && is_turned; ++sweep) {
        is_turned = 0;
        for (int r = 0; r < even - 1; ++r) {
            int is_needed = 0;
            for (int first = 0; first < pairs; first += blockDim.y) {
                int k = first + threadIdx.y, p, q;
                pair_of(k < pairs ? k : 0, r, even, p, q);
                int rows = k < pairs && q < n ? m : 0, others_length = v && rows ? length : 0;
                is_needed |= make_orthogonal(w + p * (I)m, w + q * (I)m, rows, v + p * (I)length, v + q * (I)length,
                                             others_length, tolerance);
            }
            is_turned |= __syncthreads_or(is_needed);
        }
    }
    if (is_turned && threadIdx.x == 0 && threadIdx.y == 0) atomicOr(report, NOT_CONVERGED);
}

// One round of that for pairs of long columns, a block for each; counts those that were turned.
extern "C" __global__ void orthogonalize_round(T *matrices, int m, int n, T *others, int length, R tolerance, int r,
                                              int *turned)
{
    T *w = matrices + (I)blockIdx.x * n * m, *v = others ? others + (I)blockIdx.x * n * length : 0;
    int p, q;
    pair_of(blockIdx.y, r, n + n % 2, p, q);
    if (q >= n) return;
    int is_needed = make_orthogonal(w + p * (I)m, w + q * (I)m, m, v + p * (I)length, v + q * (I)length, v ? length : 0,
                                    tolerance);
    if (is_needed && threadIdx.x == 0) atomicAdd(turned, 1);
}

// The lengths of columns, which become of length 1; those that are as nothing become zeros, which is reported.
extern "C" __global__ void normalize(T *matrices, int m, int n, R *lengths, int *report)
{
    for (int k = blockIdx.y * blockDim.y + threadIdx.y; k < (n + blockDim.y - 1) / blockDim.y * blockDim.y;
         k += gridDim.y * blockDim.y) {
        T *w = matrices + ((I)blockIdx.x * n + (k < n ? k : 0)) * m;
        R square[1] = {};
        for (int i = threadIdx.x; i < m && k < n; i += GROUP) square[0] += square_of(w[i]);
        add_up(square);
        if (k >= n) continue;
        R length = sqrt(square[0]);
        bool is_nothing = !(square[0] > FLOOR);
        if (threadIdx.x == 0) {
            lengths[(I)blockIdx.x * n + k] = length;
            if (is_nothing) atomicOr(report, NOT_OF_FULL_RANK);
        }
        for (int i = threadIdx.x; i < m; i += GROUP) w[i] = is_nothing ? made_of(0, 0) : w[i] / length;
    }
}
"""
)


def _launch(w, name, group, rows, grid_rows, *args):
    source = f"#define GROUP {group}\n#define IS_COMPLEX {int(w.dtype.kind == 'c')}\n{_SOURCE}"
    launch(source, w.dtype, name, (len(w), grid_rows), (group, rows, 1), *args)


def padded(length):
    """The length to which columns are filled up with zeros: all threads of a group have as many elements."""
    step = 8 if length <= 16 else 32 if length <= _LONG else _WIDE
    return -(-length // step) * step


def _is_orthogonal(w, tolerance):
    """Whether no two columns need to be turned, by a product of matrices: that costs less than to try all."""
    lengths = _g.sqrt((_g.absolute(w) ** 2).sum(-1, keepdims=True))
    unit = w / _g.where(lengths > 0, lengths, lengths.dtype.type(1))
    cosines = _g.absolute((unit.conj() if w.dtype.kind == "c" else unit) @ unit.mT)
    return not bool((_g.triu(cosines, 1) > tolerance).any())


def _prepared(w, is_with_others):
    """Makes columns nearly orthogonal, the longest first, in place; returns the rotations that did it (or None).

    By the eigenvectors of A^H A, which lose half of the digits and leave little to turn.
    """
    wide = w.astype(np.result_type(w.dtype, np.float64))
    product = (wide.conj() if w.dtype.kind == "c" else wide) @ wide.mT
    _, vectors, _ = _hermitian.decompose(product, 1, True)
    turn = vectors[:, :, ::-1].mT.astype(w.dtype)
    others = None
    if is_with_others:
        n = w.shape[1]
        others = _g.zeros((len(w), n, padded(n)), w.dtype, w.allocator)
        others[:, :, :n] = turn
    w[...] = turn @ w
    return others


def _make_orthogonal(w, others, tolerance, report, group, rows):
    """Turns columns, which are the rows of `w`, until all are orthogonal."""
    count, n, m = w.shape
    v, length = (np.intp(0), 0) if others is None else (others, others.shape[2])
    args = w, np.int32(m), np.int32(n), v, np.int32(length), tolerance
    if n <= _FEW_COLUMNS or (count >= _MANY_MATRICES and n <= _MANY_COLUMNS):
        _launch(w, "orthogonalize", min(group, 32), rows, 1, *args, report)
        return
    even = n + n % 2
    for _ in range(_SWEEPS):
        if _is_orthogonal(w, tolerance):
            return
        turned = _g.zeros(1, np.int32, w.allocator)
        for r in range(even - 1):
            _launch(w, "orthogonalize_round", group, 1, even // 2, *args, np.int32(r), turned)
        if not int(turned[0]):
            return
    report |= NOT_CONVERGED


def columns(w, report, is_with_others):
    """Makes columns of scaled matrices, the rows of `w` of `padded` length, orthonormal by rotations from the right.

    Their lengths, which are the singular values in no order, and the product of the rotations (or None), whose rows are
    the right singular vectors, padded. Columns that are as nothing become zeros. One-sided Jacobi rotations in parallel
    order: Hestenes, Inversion of matrices by biorthogonalization, J. SIAM 6, 1958; de Rijk, A one-sided Jacobi
    algorithm for computing the singular value decomposition on a vector computer, SIAM J. Sci. Stat. Comput. 10, 1989;
    many columns are prepared as Drmac and Veselic advise, New fast and accurate Jacobi SVD algorithm, SIAM J. Matrix
    Anal. Appl. 29, 2008, but by eigenvectors rather than by a QR factorization.
    """
    count, n, m = w.shape
    real = real_of(w.dtype)
    lengths, others = _g.empty((count, n), real, w.allocator), None
    if n > _FEW_COLUMNS and w.size:
        others = _prepared(w, is_with_others)
    elif is_with_others:
        others = _g.empty((count, n, padded(n)), w.dtype, w.allocator)
        if others.size:
            others[...] = _g.eye(n, padded(n), dtype=w.dtype)
    if w.size:
        group = 8 if m <= 16 and n <= 16 else 32 if m <= _LONG else _WIDE
        rows = min(-(-n // 2), 256 // min(group, 32))
        rows = -(-rows * group // 32) * 32 // group
        tolerance = real.type(np.finfo(real).eps * (4 + np.sqrt(m)))
        _make_orthogonal(w, others, tolerance, report, group, rows)
        rows = 1 if group > 32 else rows
        _launch(w, "normalize", group, rows, min(-(-n // rows), 65535), w, np.int32(m), np.int32(n), lengths, report)
    return lengths, others
