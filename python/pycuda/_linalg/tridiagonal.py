"""Eigenvalues of Hermitian matrices of many rows: by way of tridiagonal ones."""

import numpy as np

from pycuda import gpuarray as _g
from pycuda._linalg import scaling as _scaling
from pycuda._linalg.matrices import real_of
from pycuda._linalg.matrix_kernels import launch

_REDUCE = """

__device__ R added(R x)
{
    __shared__ R sums[THREADS];
    __syncthreads();
    sums[threadIdx.x] = x;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    return sums[0];
}

// The reflection that makes column k zero below its subdiagonal. Its vector, which begins with 1, takes the place of
// the column and is row 0 of `pairs`; the subdiagonal element and tau go to arrays of their own.
extern "C" __global__ void column(T *matrices, int n, int k, T *taus, R *diagonals, R *beside, T *pairs)
{
    T *a = matrices + (I)blockIdx.x * n * n, *v = pairs + (I)blockIdx.x * 2 * n;
    int t = threadIdx.x;
    R mine = 0;
    for (int i = k + 2 + t; i < n; i += THREADS) mine += square_of(a[(I)i * n + k]);
    R rest = added(mine);
    T alpha = a[(I)(k + 1) * n + k], tau = made_of(0, 0), first = made_of(1, 0);
    R beta = real_of(alpha);
    __syncthreads();
    if (rest != 0 || imag_of(alpha) != 0) {
        R norm = sqrt(square_of(alpha) + rest);
        beta = real_of(alpha) > 0 ? -norm : norm;
        tau = made_of((beta - real_of(alpha)) / beta, -imag_of(alpha) / beta);
        first = alpha - made_of(beta, 0);
    }
    for (int i = k + 1 + t; i < n; i += THREADS) {
        T own = i == k + 1 ? made_of(1, 0) : a[(I)i * n + k] / first;
        a[(I)i * n + k] = own;
        v[i] = own;
    }
    if (t == 0) {
        taus[(I)blockIdx.x * n + k] = tau;
        diagonals[(I)blockIdx.x * n + k] = real_of(a[(I)k * n + k]);
        beside[(I)blockIdx.x * n + k] = beta;
    }
}

// tau A v, a warp for each row; row 1 of `pairs`.
extern "C" __global__ void times_vector(const T *matrices, int n, int k, const T *taus, T *pairs)
{
    T *v = pairs + (I)blockIdx.x * 2 * n, *w = v + n;
    int row = k + 1 + blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n) return;
    const T *a = matrices + ((I)blockIdx.x * n + row) * n;
    T sum = made_of(0, 0);
    for (int j = k + 1 + threadIdx.x; j < n; j += 32) sum += a[j] * v[j];
    R real = real_of(sum), imag = imag_of(sum);
    for (int step = 16; step > 0; step /= 2) {
        real += __shfl_xor_sync(0xffffffffu, real, step);
        if (IS_COMPLEX) imag += __shfl_xor_sync(0xffffffffu, imag, step);
    }
    if (threadIdx.x == 0) w[row] = taus[(I)blockIdx.x * n + k] * made_of(real, imag);
}

// w = p - tau (p^H v) v / 2, where p was left.
extern "C" __global__ void correct(int n, int k, const T *taus, T *pairs)
{
    T *v = pairs + (I)blockIdx.x * 2 * n, *w = v + n, mine = made_of(0, 0);
    for (int i = k + 1 + threadIdx.x; i < n; i += THREADS) mine += conj_of(w[i]) * v[i];
    R real = added(real_of(mine)), imag = IS_COMPLEX ? added(imag_of(mine)) : 0;
    T half = taus[(I)blockIdx.x * n + k] * made_of(real, imag) * (R)0.5;
    for (int i = k + 1 + threadIdx.x; i < n; i += THREADS) w[i] -= half * v[i];
}

// A - v w^H - w v^H below and right of k, a row of the grid for each some rows.
extern "C" __global__ void update(T *matrices, int n, int k, const T *pairs)
{
    const T *v = pairs + (I)blockIdx.x * 2 * n, *w = v + n;
    for (int i = k + 1 + blockIdx.y * blockDim.y + threadIdx.y; i < n; i += gridDim.y * blockDim.y) {
        T *a = matrices + ((I)blockIdx.x * n + i) * n, own = v[i], other = w[i];
        for (int j = k + 1 + threadIdx.x; j < n; j += blockDim.x) a[j] -= own * conj_of(w[j]) + other * conj_of(v[j]);
    }
}

// The products of the reflections, the last one first, with columns, a thread for each.
extern "C" __global__ void transform(const T *matrices, int n, const T *taus, T *products)
{
    const T *a = matrices + (I)blockIdx.x * n * n;
    int j = blockIdx.y * blockDim.x + threadIdx.x;
    if (j >= n) return;
    T *x = products + (I)blockIdx.x * n * n + j;
    for (int k = n - 2; k >= 0; --k) {
        T sum = made_of(0, 0);
        for (int i = k + 1; i < n; ++i) sum += conj_of(a[(I)i * n + k]) * x[(I)i * n];
        sum = taus[(I)blockIdx.x * n + k] * sum;
        for (int i = k + 1; i < n; ++i) x[(I)i * n] -= a[(I)i * n + k] * sum;
    }
}
"""

_ROTATE = """
#define ITERATIONS 60
#define STATE 4
#define TURNS 64  // Iterations of a list.

// QL iterations with Wilkinson's shift on tridiagonal matrices until `room` rotations are full: c and s of each in
// `list`, from the last pair of rows to the first of each iteration. The state of a matrix is the row that is to be
// found, its iterations, and how many iterations are listed; `turns` has first and last row, and the place in the list.
extern "C" __global__ void ql(R *diagonals, R *beside, int n, int room, int *states, R *lists, int *all_turns,
                              int *report, int *left)
{
    R *d = diagonals + (I)blockIdx.x * n, *e = beside + (I)blockIdx.x * n, *list = lists + (I)blockIdx.x * 2 * room;
    int *state = states + blockIdx.x * STATE, *turns = all_turns + blockIdx.x * 3 * TURNS;
    __shared__ int end;
    int l = state[0], iteration = state[1], listed = 0, used = 0, t = threadIdx.x;
    while (l < n && listed < TURNS && used + n <= room) {
        __syncthreads();
        if (t == 0) end = n - 1;
        __syncthreads();
        for (int first = l; first < n - 1; first += blockDim.x) {
            int i = first + t;
            if (i < n - 1 && fabs(e[i]) <= EPS * sqrt(fabs(d[i])) * sqrt(fabs(d[i + 1])) + TINY) atomicMin(&end, i);
            if (i < n - 1 && fabs(e[i]) <= EPS * (fabs(d[i]) + fabs(d[i + 1])) / 4) atomicMin(&end, i);
            __syncthreads();
            int now = end;
            __syncthreads();
            if (now != n - 1) break;
        }
        int m = end;
        if (m == l) {
            ++l;
            iteration = 0;
            continue;
        }
        if (++iteration > ITERATIONS) {
            if (t == 0) atomicOr(report, NOT_CONVERGED);
            l = n;
            break;
        }
        if (t == 0) {
            R g = (d[l + 1] - d[l]) / (2 * e[l]), r = hypot(g, (R)1);
            g = d[m] - d[l] + e[l] / (g + copysign(r, g));
            R s = 1, c = 1, p = 0, after = d[m];
            for (int i = m - 1; i >= l; --i) {
                R own = e[i], f = s * own, b = c * own;
                R size = fmax(fabs(f), fabs(g));
                r = size == 0 ? 0 : size * sqrt((f / size) * (f / size) + (g / size) * (g / size));
                if (i < m - 1) e[i + 1] = r;
                s = r == 0 ? 0 : f / r;
                c = r == 0 ? 1 : g / r;
                g = after - p;
                R before = d[i];
                R sum = (before - g) * s + 2 * c * b;
                p = s * sum;
                d[i + 1] = g + p;
                g = c * sum - b;
                after = before;
                list[2 * (used + m - 1 - i)] = c;
                list[2 * (used + m - 1 - i) + 1] = s;
            }
            d[l] -= p;
            e[l] = g;
            e[m] = 0;
            turns[3 * listed] = l;
            turns[3 * listed + 1] = m;
            turns[3 * listed + 2] = used;
        }
        used += m - l;
        ++listed;
    }
    __syncthreads();
    if (t == 0) {
        state[0] = l;
        state[1] = iteration;
        state[2] = listed;
        if (l < n) *left = 1;
    }
}

// Applies the listed rotations to the columns of `rows`, a thread for each; its rows become eigenvectors.
extern "C" __global__ void rotate(int n, int room, const int *states, const R *lists, const int *all_turns, R *rows)
{
    int j = blockIdx.y * blockDim.x + threadIdx.x;
    if (j >= n) return;
    R *z = rows + (I)blockIdx.x * n * n + j;
    const int *turns = all_turns + blockIdx.x * 3 * TURNS;
    int listed = states[blockIdx.x * STATE + 2];
    for (int k = 0; k < listed; ++k) {
        int l = turns[3 * k], m = turns[3 * k + 1];
        const R *list = lists + ((I)blockIdx.x * room + turns[3 * k + 2]) * 2;
        R f = z[(I)m * n];
        for (int i = m - 1; i >= l; --i, list += 2) {
            R c = list[0], s = list[1], own = z[(I)i * n];
            z[(I)(i + 1) * n] = s * own + c * f;
            f = c * own - s * f;
        }
        z[(I)l * n] = f;
    }
}

// Eigenvalue j of each tridiagonal matrix, whose elements are about 1, by bisection; a thread for each.
extern "C" __global__ void bisect(const R *diagonals, const R *beside, int n, R *values)
{
    const R *d = diagonals + (I)blockIdx.x * n, *e = beside + (I)blockIdx.x * n;
    int j = blockIdx.y * blockDim.x + threadIdx.x;
    if (j >= n) return;
    R low = d[0], high = d[0];
    for (int i = 0; i < n; ++i) {
        R around = (i ? fabs(e[i - 1]) : 0) + (i < n - 1 ? fabs(e[i]) : 0);
        low = fmin(low, d[i] - around);
        high = fmax(high, d[i] + around);
    }
    R size = fmax(fabs(low), fabs(high)), least = TINY / EPS;
    low -= 2 * EPS * size + least;
    high += 2 * EPS * size + least;
    for (int step = 0; step < 4 * sizeof(R) + 40; ++step) {
        R middle = low + (high - low) / 2;
        int below = 0;
        R q = 1, square = 0;
        for (int i = 0; i < n; ++i) {
            q = d[i] - middle - square / q;
            q = fabs(q) < least ? -least : q;
            below += q < 0;
            square = e[i] * e[i];
        }
        low = below <= j ? middle : low;
        high = below <= j ? high : middle;
    }
    values[(I)blockIdx.x * n + j] = low + (high - low) / 2;
}
"""


def _reduce(a):
    """Tridiagonal matrices T = Q^H A Q: diagonals, subdiagonals (and 0), and the factors of reflections left in `a`.

    Householder's method (Golub and Van Loan, Matrix Computations, 8.3.1).
    """
    count, n, _ = a.shape
    source, real = f"#define IS_COMPLEX {int(a.dtype.kind == 'c')}\n{_REDUCE}", real_of(a.dtype)
    d, e, taus = (_g.zeros((count, n), kind, a.allocator) for kind in (real, real, a.dtype))
    pairs, length = _g.empty((count, 2, n), a.dtype, a.allocator), np.int32(n)

    def run(name, rows, threads, *args):
        launch(source, a.dtype, name, (count, rows), threads, *args)

    for k in range(n - 1):
        column, rows = np.int32(k), -(-(n - 1 - k) // 8)
        run("column", 1, 256, a, length, column, taus, d, e, pairs)
        run("times_vector", rows, (32, 8, 1), a, length, column, taus, pairs)
        run("correct", 1, 256, length, column, taus, pairs)
        run("update", rows, (32, 8, 1), a, length, column, pairs)
    d[:, n - 1] = a[:, n - 1, n - 1].real
    return d, e, taus, run


def _rotated(d, e, report):
    """Eigenvalues of tridiagonal matrices in the place of their diagonals, and eigenvectors as rows.

    Implicit QL iterations (Wilkinson and Reinsch, Handbook for Automatic Computation II, 1971, imtql2), whose rotations
    are listed by one thread of a matrix and applied by many. Reads whether some are left every few lists.
    """
    count, n = d.shape
    room = 32 * n
    rows = _g.empty((count, n, n), d.dtype, d.allocator)
    rows[...] = _g.eye(n, dtype=d.dtype)
    states = _g.zeros((count, 4), np.int32, d.allocator)
    turns = _g.empty((count, 3 * 64), np.int32, d.allocator)
    lists, sizes = _g.empty((count, 2 * room), d.dtype, d.allocator), (np.int32(n), np.int32(room))
    is_left = True
    while is_left:
        for _ in range(4):
            left = _g.zeros(1, np.int32, d.allocator)
            launch(_ROTATE, d.dtype, "ql", (count, 1), 32, d, e, *sizes, states, lists, turns, report, left)
            launch(_ROTATE, d.dtype, "rotate", (count, -(-n // 64)), 64, *sizes, states, lists, turns, rows)
        is_left = bool(int(left[0]))
    return rows


def eigenvalues(a, exponents, report, is_with_vectors):
    """Eigenvalues in ascending order of scaled Hermitian matrices, scaled back; eigenvectors as columns (or None)."""
    count, n, _ = a.shape
    d, e, taus, run = _reduce(a)
    if not is_with_vectors:
        values = _g.empty((count, n), d.dtype, d.allocator)
        launch(_ROTATE, d.dtype, "bisect", (count, -(-n // 32)), 32, d, e, np.int32(n), values)
        return _scaling.order(values, exponents, a.dtype)[0], None
    rows = _rotated(d, e, report)
    values, places = _scaling.order(d, exponents, a.dtype)
    vectors = _scaling.placed(rows, places, n).astype(a.dtype)
    run("transform", -(-n // 32), 32, a, np.int32(n), taus, vectors)
    return values, vectors
