"""Kernels that factor stacks of matrices and solve triangular systems; used by `pycuda.linalg`.

A block of threads has a matrix, or a panel of one: longer matrices are cut into panels, and what is to the right of a
panel is updated by matrix products. All matrices are stacks of three axes in C order, changed in place.
"""

import numpy as np

from pycuda import gpuarray as _g
from pycuda._linalg.matrix_kernels import THREADS, launch

PANEL = 64
_RIGHT_SIDES = 8

_SOURCE = """
#define RIGHT_SIDES 8

// NaN is larger than all numbers: a matrix with one is not singular for the zeros beside it.
__device__ bool is_larger(R a, R b) { return a > b || (a != a && b == b); }

// LU factors of panels of m rows and n columns, with partial pivoting; the first of equally large pivots is taken.
extern "C" __global__ void factor_panel(T *matrices, I stack, I row, int m, int n, int *pivots, I pivot_stack)
{
    T *a = matrices + blockIdx.x * stack;
    int *pivot = pivots + blockIdx.x * pivot_stack;
    __shared__ R best[THREADS];
    __shared__ int place[THREADS];
    int t = threadIdx.x;
    for (int k = 0; k < (m < n ? m : n); ++k) {
        R mine = -1;
        int at = k;
        for (int i = k + t; i < m; i += THREADS) {
            R size = size_of(a[i * row + k]);
            if (is_larger(size, mine)) { mine = size; at = i; }
        }
        best[t] = mine;
        place[t] = at;
        __syncthreads();
        for (int half = THREADS / 2; half > 0; half /= 2) {
            if (t < half && (is_larger(best[t + half], best[t])
                             || (!is_larger(best[t], best[t + half]) && place[t + half] < place[t]))) {
                best[t] = best[t + half];
                place[t] = place[t + half];
            }
            __syncthreads();
        }
        int p = place[0];
        if (t == 0) pivot[k] = p;
        for (int j = t; j < n && p != k; j += THREADS) {
            T swapped = a[k * row + j];
            a[k * row + j] = a[p * row + j];
            a[p * row + j] = swapped;
        }
        __syncthreads();
        T diagonal = a[k * row + k];
        if (size_of(diagonal) != 0)
            for (int i = k + 1 + t; i < m; i += THREADS) a[i * row + k] = a[i * row + k] / diagonal;
        __syncthreads();
        I width = n - k - 1;
        for (I e = t; e < (m - k - 1) * width; e += THREADS) {
            I i = k + 1 + e / width, j = k + 1 + e % width;
            a[i * row + j] -= a[i * row + k] * a[k * row + j];
        }
        __syncthreads();
    }
}

// Exchanges rows as the pivots of a panel say, a thread for each column.
extern "C" __global__ void exchange_rows(T *matrices, I stack, I row, int columns, int n, const int *pivots,
                                         I pivot_stack)
{
    T *a = matrices + blockIdx.x * stack;
    const int *pivot = pivots + blockIdx.x * pivot_stack;
    for (int j = blockIdx.y * blockDim.x + threadIdx.x; j < columns; j += gridDim.y * blockDim.x)
        for (int k = 0; k < n; ++k) {
            int p = pivot[k];
            if (p == k) continue;
            T swapped = a[k * row + j];
            a[k * row + j] = a[p * row + j];
            a[p * row + j] = swapped;
        }
}

// Cholesky factors of the lower triangles; what is no longer positive sets a flag.
extern "C" __global__ void factor_positive(T *matrices, I stack, I row, int n, int *flag)
{
    T *a = matrices + blockIdx.x * stack;
    int t = threadIdx.x;
    for (int k = 0; k < n; ++k) {
        R square = real_of(a[k * row + k]);
        __syncthreads();
        R diagonal = sqrt(square);
        if (t == 0) {
            if (!(square > 0)) *flag = 1;
            a[k * row + k] = made_of(diagonal, 0);
        }
        for (int i = k + 1 + t; i < n; i += THREADS) a[i * row + k] = a[i * row + k] / diagonal;
        __syncthreads();
        I width = n - k - 1;
        for (I e = t; e < width * width; e += THREADS) {
            I i = k + 1 + e / width, j = k + 1 + e % width;
            if (j <= i) a[i * row + j] -= a[i * row + k] * conj_of(a[j * row + k]);
        }
        __syncthreads();
    }
}

// Solves triangular systems for several right sides a block, one unknown after the other.
extern "C" __global__ void solve_triangle(const T *triangles, I triangle_stack, I triangle_row, I triangle_column,
                                          int is_upper, int is_unit, int is_conjugated, T *sides, I side_stack,
                                          I side_row, I side_column, int n, int count)
{
    const T *l = triangles + blockIdx.x * triangle_stack;
    T *b = sides + blockIdx.x * side_stack;
    for (int first = blockIdx.y * RIGHT_SIDES; first < count; first += gridDim.y * RIGHT_SIDES) {
        int width = count - first < RIGHT_SIDES ? count - first : RIGHT_SIDES;
        for (int step = 0; step < n; ++step) {
            int k = is_upper ? n - 1 - step : step;
            if (!is_unit && threadIdx.x < width) {
                T diagonal = l[k * (triangle_row + triangle_column)];
                I at = k * side_row + (first + threadIdx.x) * side_column;
                b[at] = b[at] / (is_conjugated ? conj_of(diagonal) : diagonal);
            }
            __syncthreads();
            int rows = is_upper ? k : n - 1 - k, start = is_upper ? 0 : k + 1;
            for (int e = threadIdx.x; e < rows * width; e += THREADS) {
                int i = start + e / width;
                I j = (first + e % width) * side_column;
                T factor = l[i * triangle_row + k * triangle_column];
                b[i * side_row + j] -= (is_conjugated ? conj_of(factor) : factor) * b[k * side_row + j];
            }
            __syncthreads();
        }
    }
}

// Householder reflections: R above the diagonal, their vectors below it, scaled to begin with 1.
extern "C" __global__ void reflect(T *matrices, I stack, int m, int n, T *factors)
{
    T *a = matrices + blockIdx.x * stack;
    int t = threadIdx.x, last = m < n ? m : n;
    T *tau = factors + (I)blockIdx.x * last;
    __shared__ R sums[THREADS];
    for (int k = 0; k < last; ++k) {
        R mine = 0;
        for (int i = k + 1 + t; i < m; i += THREADS) mine += square_of(a[(I)i * n + k]);
        sums[t] = mine;
        __syncthreads();
        for (int half = THREADS / 2; half > 0; half /= 2) {
            if (t < half) sums[t] += sums[t + half];
            __syncthreads();
        }
        T alpha = a[(I)k * n + k], factor = made_of(0, 0);
        R rest = sums[0];
        __syncthreads();
        if (rest != 0 || imag_of(alpha) != 0) {
            R norm = sqrt(square_of(alpha) + rest), beta = real_of(alpha) > 0 ? -norm : norm;
            factor = made_of((beta - real_of(alpha)) / beta, -imag_of(alpha) / beta);
            T scale = made_of(real_of(alpha) - beta, imag_of(alpha));
            for (int i = k + 1 + t; i < m; i += THREADS) a[(I)i * n + k] = a[(I)i * n + k] / scale;
            if (t == 0) a[(I)k * n + k] = made_of(beta, 0);
        }
        if (t == 0) tau[k] = factor;
        __syncthreads();
        for (int j = k + 1 + t; j < n; j += THREADS) {
            T sum = a[(I)k * n + j];
            for (int i = k + 1; i < m; ++i) sum += conj_of(a[(I)i * n + k]) * a[(I)i * n + j];
            sum = conj_of(factor) * sum;
            a[(I)k * n + j] -= sum;
            for (int i = k + 1; i < m; ++i) a[(I)i * n + j] -= a[(I)i * n + k] * sum;
        }
        __syncthreads();
    }
}

// The product of reflections applied to the columns of q, which begins as the identity, a thread for each.
extern "C" __global__ void apply_reflections(const T *matrices, I stack, int m, int n, const T *factors, T *products,
                                             int columns)
{
    const T *a = matrices + blockIdx.x * stack;
    int last = m < n ? m : n;
    const T *tau = factors + (I)blockIdx.x * last;
    T *q = products + (I)blockIdx.x * m * columns;
    for (int j = blockIdx.y * blockDim.x + threadIdx.x; j < columns; j += gridDim.y * blockDim.x)
        for (int k = last - 1; k >= 0; --k) {
            T sum = q[(I)k * columns + j];
            for (int i = k + 1; i < m; ++i) sum += conj_of(a[(I)i * n + k]) * q[(I)i * columns + j];
            sum = tau[k] * sum;
            q[(I)k * columns + j] -= sum;
            for (int i = k + 1; i < m; ++i) q[(I)i * columns + j] -= a[(I)i * n + k] * sum;
        }
}
"""


def _launch(like, name, grid, *args, threads=THREADS):
    """Launches a kernel for the elements of `like`; strides are counted in elements."""
    launch(_SOURCE, like.dtype, name, grid, threads, *args)


def _grid(count, columns, width):
    """Blocks for parts of `width` columns of `count` matrices; kernels go on from part to part if they are too few."""
    return count, min(-(-columns // width), 65535)


def _steps(a):
    return [np.int64(stride // a.itemsize) for stride in a.strides]


def factor_lu(a):
    """LU factors of square matrices in place; the row that each row was exchanged with, from its panel's first on."""
    count, n, _ = a.shape
    pivots = _g.zeros((count, n), np.int32, a.allocator)
    stack, row, _ = _steps(a) if a.size else (0, 0, 0)
    for start in range(0, n if count else 0, PANEL):
        end = min(start + PANEL, n)
        width, panel, own = end - start, a[:, start:, start:end], pivots[:, start:end]
        rest = np.int32(n - start)
        _launch(a, "factor_panel", (count, 1), panel, stack, row, rest, np.int32(width), own, np.int64(n))
        for part in (a[:, start:, :start], a[:, start:, end:]):
            if part.shape[2]:
                grid = _grid(count, part.shape[2], 128)
                _launch(a, "exchange_rows", grid, part, stack, row, np.int32(part.shape[2]), np.int32(width), own,
                        np.int64(n), threads=128)  # fmt: skip
        if end < n:
            solve_triangle(a[:, start:end, start:end], a[:, start:end, end:], is_unit=True)
            a[:, end:, end:] -= a[:, end:, start:end] @ a[:, start:end, end:]
    return pivots


def exchange_rows(b, pivots):
    """Exchanges the rows of right sides, in place, as `factor_lu` has exchanged those of its matrices."""
    count, n, columns = b.shape
    if b.size == 0:
        return
    stack, row, _ = _steps(b)
    for start in range(0, n, PANEL):
        width = np.int32(min(PANEL, n - start))
        _launch(b, "exchange_rows", _grid(count, columns, 128), b[:, start:], stack, row, np.int32(columns), width,
                pivots[:, start:], np.int64(n), threads=128)  # fmt: skip


def solve_triangle(triangles, sides, is_upper=False, is_unit=False, is_conjugated=False):
    """Solves triangular systems in place of their right sides; operands of any strides, each long one in parts."""
    count, n, columns = sides.shape
    if sides.size == 0:
        return
    places = list(range(0, n, PANEL))
    for start in reversed(places) if is_upper else places:
        end = min(start + PANEL, n)
        part, own = sides[:, start:end], triangles[:, start:end, start:end]
        flags = (np.int32(flag) for flag in (is_upper, is_unit, is_conjugated))
        _launch(sides, "solve_triangle", _grid(count, columns, _RIGHT_SIDES), own, *_steps(own), *flags, part,
                *_steps(part), np.int32(end - start), np.int32(columns))  # fmt: skip
        rest = slice(0, start) if is_upper else slice(end, n)
        factor = triangles[:, rest, start:end]
        if factor.size:
            sides[:, rest] -= (factor.conj() if is_conjugated else factor) @ part


def factor_positive(a):
    """Cholesky factors of the lower triangles of matrices in place; a flag that is set if one is not positive."""
    count, n, _ = a.shape
    flag = _g.zeros(1, np.int32, a.allocator)
    for start in range(0, n if count else 0, PANEL):
        end = min(start + PANEL, n)
        own = a[:, start:end, start:end]
        stack, row, _ = _steps(a)
        _launch(a, "factor_positive", (count, 1), own, stack, row, np.int32(end - start), flag)
        if end < n:
            below = a[:, end:, start:end]
            solve_triangle(own, below.transpose(0, 2, 1), is_conjugated=a.dtype.kind == "c")
            a[:, end:, end:] -= below @ below.transpose(0, 2, 1).conj()
    return flag


def reflect(a):
    """R and the vectors of Householder reflections in the place of matrices, and the factors of the reflections."""
    count, m, n = a.shape
    factors = _g.zeros((count, min(m, n)), a.dtype, a.allocator)
    if a.size:
        _launch(a, "reflect", (count, 1), a, np.int64(m * n), np.int32(m), np.int32(n), factors)
    return factors


def product_of_reflections(a, factors, columns):
    """The first columns of the unitary matrices that `reflect` has found."""
    count, m, n = a.shape
    q = _g.empty((count, m, columns), a.dtype, a.allocator)
    if q.size:
        q[...] = _g.eye(m, columns, dtype=a.dtype)
        if factors.size:
            _launch(a, "apply_reflections", _grid(count, columns, 64), a, np.int64(m * n), np.int32(m), np.int32(n),
                    factors, q, np.int32(columns), threads=64)  # fmt: skip
    return q
