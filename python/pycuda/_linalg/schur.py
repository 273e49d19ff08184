"""Schur forms of general matrices: reduction to Hessenberg form and QR iterations.

What is near the diagonal is done by a block of threads for each matrix; the reflections that it used are applied to all
else by many. All matrices are stacks in C order, changed in place.
"""

import numpy as np

from pycuda import gpuarray as _g
from pycuda._linalg.matrices import real_of
from pycuda._linalg.matrix_kernels import launch

_SOURCE = """
#define ITERATIONS 90
#define STATE 4

// Turns the row (x, y, z) by a reflection I - tau v v^H from the right, v = (1, p, q); a column from the left by its
// adjoint, if tau, p and q are conjugated.
__device__ void reflect(T tau, T p, T q, T &x, T &y, T &z)
{
    T sum = tau * (x + p * y + q * z);
    x = x - sum;
    y = y - sum * conj_of(p);
    z = z - sum * conj_of(q);
}

// The reflection whose adjoint takes (x, y, z) to (beta, 0, 0); returns beta, which is real.
__device__ R reflection(T x, T y, T z, T &tau, T &p, T &q)
{
    tau = p = q = made_of(0, 0);
    R largest = fmax(size_of(x), fmax(size_of(y), size_of(z)));
    if (size_of(y) + size_of(z) == 0 && imag_of(x) == 0) return real_of(x);
    x = x / largest;
    y = y / largest;
    z = z / largest;
    R norm = sqrt(square_of(x) + square_of(y) + square_of(z)), beta = real_of(x) > 0 ? -norm : norm;
    tau = made_of((beta - real_of(x)) / beta, -imag_of(x) / beta);
    T first = x - made_of(beta, 0);
    p = y / first;
    q = z / first;
    return beta * largest;
}

// -- Hessenberg form ----------------------------------------------------------------------------------

// The reflection that makes column k zero below its subdiagonal: its vector, which begins with 1, and tau after it.
extern "C" __global__ void hessenberg_column(T *matrices, int n, int k, T *vectors)
{
    T *a = matrices + (I)blockIdx.x * n * n, *v = vectors + (I)blockIdx.x * (n + 1);
    __shared__ R sums[256];
    int t = threadIdx.x;
    R mine = 0;
    for (int i = k + 2 + t; i < n; i += blockDim.x) mine += square_of(a[(I)i * n + k]);
    sums[t] = mine;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) sums[t] += sums[t + half];
        __syncthreads();
    }
    R rest = sums[0];
    T alpha = a[(I)(k + 1) * n + k], tau = made_of(0, 0), first = made_of(1, 0);
    __syncthreads();
    if (rest != 0 || imag_of(alpha) != 0) {
        R norm = sqrt(square_of(alpha) + rest), beta = real_of(alpha) > 0 ? -norm : norm;
        tau = made_of((beta - real_of(alpha)) / beta, -imag_of(alpha) / beta);
        first = alpha - made_of(beta, 0);
        if (t == 0) a[(I)(k + 1) * n + k] = made_of(beta, 0);
    }
    for (int i = k + 2 + t; i < n; i += blockDim.x) {
        v[i] = a[(I)i * n + k] / first;
        a[(I)i * n + k] = made_of(0, 0);
    }
    if (t == 0) {
        v[k + 1] = made_of(1, 0);
        v[n] = tau;
    }
}

// Applies it from the left, a thread for each column right of k.
extern "C" __global__ void hessenberg_left(T *matrices, int n, int k, const T *vectors)
{
    T *a = matrices + (I)blockIdx.x * n * n;
    const T *v = vectors + (I)blockIdx.x * (n + 1);
    int j = k + 1 + blockIdx.y * blockDim.x + threadIdx.x;
    if (j >= n) return;
    T sum = made_of(0, 0);
    for (int i = k + 1; i < n; ++i) sum += conj_of(v[i]) * a[(I)i * n + j];
    sum = conj_of(v[n]) * sum;
    for (int i = k + 1; i < n; ++i) a[(I)i * n + j] -= v[i] * sum;
}

// Applies it from the right, a warp for each row of the matrix and, if there is one, of the product of all.
extern "C" __global__ void hessenberg_right(T *matrices, int n, int k, const T *vectors, T *products)
{
    const T *v = vectors + (I)blockIdx.x * (n + 1);
    int row = blockIdx.y * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (row >= (products ? 2 * n : n)) return;
    T *a = row < n ? matrices + ((I)blockIdx.x * n + row) * n : products + ((I)blockIdx.x * n + row - n) * n;
    T sum = made_of(0, 0);
    for (int j = k + 1 + lane; j < n; j += 32) sum += a[j] * v[j];
    R real = real_of(sum), imag = imag_of(sum);
    for (int step = 16; step > 0; step /= 2) {
        real += __shfl_xor_sync(0xffffffffu, real, step);
        if (IS_COMPLEX) imag += __shfl_xor_sync(0xffffffffu, imag, step);
    }
    sum = v[n] * made_of(real, imag);
    for (int j = k + 1 + lane; j < n; j += 32) a[j] -= sum * conj_of(v[j]);
}

// -- QR iterations ------------------------------------------------------------------------------------

__device__ bool is_small(const T *h, int n, int l)
{
    R size = size_of(h[(I)l * n + l - 1]);
    R beside = size_of(h[(I)(l - 1) * n + l - 1]) + size_of(h[(I)l * n + l]);
    return size <= EPS * (beside == 0 ? 1 : beside) || size < TINY / EPS;
}

#if IS_COMPLEX
__device__ T root_of(T z)
{
    R size = hypot(real_of(z), imag_of(z));
    R real = sqrt((size + fabs(real_of(z))) / 2), imag = real == 0 ? 0 : fabs(imag_of(z)) / (2 * real);
    return real_of(z) >= 0 ? made_of(real, copysign(imag, imag_of(z))) : made_of(imag, copysign(real, imag_of(z)));
}

// The column (x, y) that an iteration with one shift begins with.
__device__ void first_column(const T *h, int n, int low, int high, int iteration, T &x, T &y, T &z)
{
    T d = h[(I)high * n + high], shift = d;
    R below = size_of(h[(I)high * n + high - 1]);
    if (iteration % 20 == 10) {
        shift = h[(I)low * n + low] + made_of((R)0.75 * size_of(h[(I)(low + 1) * n + low]), 0);
    } else if (iteration % 20 == 0) {
        shift = d + made_of((R)0.75 * below, 0);
    } else {
        // The eigenvalue of the last two rows that is nearer to the last element.
        T half = (h[(I)(high - 1) * n + high - 1] - d) * (R)0.5;
        T product = h[(I)(high - 1) * n + high] * h[(I)high * n + high - 1];
        T root = root_of(half * half + product);
        if (real_of(half) * real_of(root) + imag_of(half) * imag_of(root) < 0) root = -root;
        T sum = half + root;
        if (size_of(sum) != 0) shift = d - product / sum;
    }
    x = h[(I)low * n + low] - shift;
    y = h[(I)(low + 1) * n + low];
    z = made_of(0, 0);
}
#else
// Eigenvalues of [a b; c d]: the real ones, the one nearer to d last, or a pair with parts of opposite sign.
__device__ void eigenvalues_of_two(R a, R b, R c, R d, R &first, R &second, R &imag)
{
    R half = (a - d) / 2, scale = fmax(fabs(half), sqrt(fabs(b)) * sqrt(fabs(c)));
    imag = 0;
    first = second = d;
    if (scale == 0) return;
    R root = (half / scale) * (half / scale) + (b / scale) * (c / scale);
    if (root >= 0) {
        R sum = half + copysign(scale * sqrt(root), half);
        first = d + sum;
        second = sum == 0 ? d : d - b * (c / sum);
    } else {
        first = second = d + half;
        imag = scale * sqrt(-root);
    }
}

// The column (x, y, z) that an iteration with two shifts begins with.
__device__ void first_column(const T *h, int n, int low, int high, int iteration, T &x, T &y, T &z)
{
    const T *at = h + (I)low * n + low, *last = h + (I)(high - 1) * n + high - 1;
    R first, second, imag;
    if (iteration % 20 == 10 || iteration % 20 == 0) {
        // Shifts that break cycles, as EISPACK's and LAPACK's.
        R beside = iteration % 20 == 10 ? fabs(at[n]) + fabs(at[2 * n + 1]) : fabs(last[n]) + fabs(last[-1]);
        R own = (R)0.75 * beside + (iteration % 20 == 10 ? at[0] : last[n + 1]);
        eigenvalues_of_two(own, (R)-0.4375 * beside, beside, own, first, second, imag);
    } else {
        eigenvalues_of_two(last[0], last[1], last[n], last[n + 1], first, second, imag);
    }
    if (imag == 0) first = second;
    R scale = fabs(at[0] - second) + fabs(imag) + fabs(at[n]), below = at[n] / scale;
    x = below * at[1] + (at[0] - first) * ((at[0] - second) / scale) + imag * (imag / scale);
    y = below * (at[0] + at[n + 1] - first - second);
    z = below * at[2 * n + 1];
}
#endif

// One iteration in rows and columns low to high; the reflections are left in `list`.
__device__ void iterate(T *h, int n, int low, int high, int iteration, T *list)
{
    __shared__ R shared[6];  // Complex numbers have constructors, which shared memory must not have.
    int t = threadIdx.x;
    for (int k = low; k < high; ++k) {
        bool is_three = !IS_COMPLEX && k + 2 <= high;
        if (t == 0) {
            T x, y, z = made_of(0, 0);
            if (k == low) {
                first_column(h, n, low, high, iteration, x, y, z);
            } else {
                x = h[(I)k * n + k - 1];
                y = h[(I)(k + 1) * n + k - 1];
                if (is_three) z = h[(I)(k + 2) * n + k - 1];
            }
            T tau, p, q;
            R beta = reflection(x, y, z, tau, p, q);
            T own[3] = {tau, p, q};
            for (int i = 0; i < 3; ++i) {
                shared[2 * i] = real_of(own[i]);
                shared[2 * i + 1] = imag_of(own[i]);
            }
            if (k > low) {
                h[(I)k * n + k - 1] = made_of(beta, 0);
                h[(I)(k + 1) * n + k - 1] = made_of(0, 0);
                if (is_three) h[(I)(k + 2) * n + k - 1] = made_of(0, 0);
            }
            list[3 * k] = tau;
            list[3 * k + 1] = p;
            list[3 * k + 2] = q;
        }
        __syncthreads();
        T tau = made_of(shared[0], shared[1]), p = made_of(shared[2], shared[3]), q = made_of(shared[4], shared[5]);
        T nothing = made_of(0, 0);
        for (int j = k + t; j <= high; j += blockDim.x) {
            T *a = h + (I)k * n + j;
            reflect(conj_of(tau), conj_of(p), conj_of(q), a[0], a[n], is_three ? a[2 * n] : nothing);
        }
        __syncthreads();
        int last = k + 3 < high ? k + 3 : high;
        nothing = made_of(0, 0);
        for (int i = low + t; i <= last; i += blockDim.x) {
            T *a = h + (I)i * n + k;
            reflect(tau, p, q, a[0], a[1], is_three ? a[2] : nothing);
        }
        __syncthreads();
    }
}

// Splits eigenvalues off the end and iterates, `sweeps` times at most. The state of a matrix is the last row that is
// not done, iterations since the last eigenvalue, and the rows between which the reflections of `list` turned.
extern "C" __global__ void iterate_all(T *matrices, int n, int sweeps, int is_whole, int *states, T *lists, R *reals,
                                       R *imags, int *report, int *left)
{
    T *h = matrices + (I)blockIdx.x * n * n, *list = lists + (I)blockIdx.x * 3 * n;
    R *real = reals + (I)blockIdx.x * n, *imag = imags + (I)blockIdx.x * n;
    int *state = states + blockIdx.x * STATE;
    __shared__ int found;
#if !IS_COMPLEX
    __shared__ int is_listed;
#endif
    int t = threadIdx.x, high = state[0], iteration = state[1], sweep = 0;
    if (high < 0) {
        if (t == 0) state[2] = state[3] = 0;
        return;
    }
    int low = 0, end = 0;
    for (; high >= 0 && sweep < sweeps;) {
        __syncthreads();
        if (t == 0) found = 0;
        __syncthreads();
        for (int l = 1 + t; l <= high; l += blockDim.x)
            if (is_small(h, n, l)) atomicMax(&found, l);
        __syncthreads();
        low = found;
        if (t == 0 && low > 0) h[(I)low * n + low - 1] = made_of(0, 0);
        if (low == high) {
            if (t == 0) {
                real[high] = real_of(h[(I)high * n + high]);
                imag[high] = imag_of(h[(I)high * n + high]);
            }
            high -= 1;
            iteration = 0;
            continue;
        }
#if !IS_COMPLEX
        if (low == high - 1) {
            if (t == 0) {
                is_listed = 0;
                T *a = h + (I)low * n + low;
                R first, second, part;
                eigenvalues_of_two(a[0], a[1], a[n], a[n + 1], first, second, part);
                real[low] = first;
                real[high] = second;
                imag[low] = part;
                imag[high] = -part;
                if (part == 0) {
                    // Real ones: the first column becomes the eigenvector of the first.
                    T p, q, tau, nothing = 0;
                    reflection(first - a[n + 1], a[n], 0, tau, p, q);
                    reflect(tau, p, 0, a[0], a[n], nothing);
                    reflect(tau, p, 0, a[1], a[n + 1], nothing);
                    reflect(tau, p, 0, a[0], a[1], nothing);
                    reflect(tau, p, 0, a[n], a[n + 1], nothing);
                    a[n] = 0;
                    a[0] = first;
                    a[n + 1] = second;
                    list[3 * low] = tau;
                    list[3 * low + 1] = p;
                    list[3 * low + 2] = 0;
                    is_listed = 1;
                }
            }
            __syncthreads();
            end = high;
            high -= 2;
            iteration = 0;
            if (is_listed && is_whole) ++sweep;
            else end = 0;
            continue;
        }
#endif
        if (++iteration > ITERATIONS) {
            if (t == 0) atomicOr(report, NOT_CONVERGED);
            high = -1;
            break;
        }
        __syncthreads();
        iterate(h, n, low, high, iteration, list);
        end = high;
        ++sweep;
    }
    if (t == 0) {
        state[0] = high;
        state[1] = iteration;
        state[2] = low;
        state[3] = sweep ? end : 0;
        if (high >= 0) *left = 1;
    }
}

// Applies the reflections of an iteration to what lies beside its rows and columns, and to the product of all, of which
// the rows are Schur vectors; a thread for a column, or for a row.
extern "C" __global__ void apply_list(T *matrices, int n, const int *states, const T *lists, T *products)
{
    const int *state = states + blockIdx.x * STATE;
    int low = state[2], high = state[3], place = blockIdx.y * blockDim.x + threadIdx.x;
    if (low >= high || place >= 2 * n) return;
    const T *list = lists + (I)blockIdx.x * 3 * n;
    T *h = matrices + (I)blockIdx.x * n * n, *a;
    I step = n;
    bool is_left = false;
    if (place < n) {
        a = products + (I)blockIdx.x * n * n + place;
    } else {
        int k = place - n;
        if (k >= low && k <= high) return;
        is_left = k > high;
        a = is_left ? h + k : h + (I)k * n;
        step = is_left ? n : 1;
    }
    T x = a[low * step], y = a[(low + 1) * step];
    for (int k = low; k < high; ++k) {
        T tau = list[3 * k], p = list[3 * k + 1], q = list[3 * k + 2];
        if (is_left) { tau = conj_of(tau); p = conj_of(p); q = conj_of(q); }
        T z = k + 2 <= high ? a[(k + 2) * step] : made_of(0, 0);
        reflect(tau, p, q, x, y, z);
        a[k * step] = x;
        x = y;
        y = z;
    }
    a[high * step] = x;
}
"""


def _launch(a, name, grid_rows, threads, *args):
    source = f"#define IS_COMPLEX {int(a.dtype.kind == 'c')}\n{_SOURCE}"
    launch(source, a.dtype, name, (len(a), grid_rows), threads, *args)


def _make_hessenberg(a, products):
    """Householder reflections (Golub and Van Loan, Matrix Computations, 7.4.2) in place, and their product."""
    count, n, _ = a.shape
    vectors = _g.empty((count, n + 1), a.dtype, a.allocator)
    q = np.intp(0) if products is None else products
    rows = n if products is None else 2 * n
    for k in range(n - 2):
        own = a, np.int32(n), np.int32(k), vectors
        _launch(a, "hessenberg_column", 1, 256 if n > 64 else 64, *own)
        _launch(a, "hessenberg_left", -(-(n - 1 - k) // 64), 64, *own)
        _launch(a, "hessenberg_right", -(-rows // 4), (32, 4, 1), *own, q)


def reduce(a, report, is_with_vectors):
    """Schur forms of scaled matrices in place: parts of the eigenvalues, and Schur vectors as rows (or None).

    QR iterations with Francis's double shift for real matrices, whose forms keep blocks of two rows for pairs of
    complex eigenvalues, and with Wilkinson's shift for complex ones (Golub and Van Loan, Matrix Computations, 7.5;
    Wilkinson and Reinsch, Handbook for Automatic Computation II, 1971, hqr2 and comqr). Without vectors only the
    eigenvalues are found. Reads whether iterations are left every few of them.
    """
    count, n, _ = a.shape
    real = real_of(a.dtype)
    reals, imags = (_g.zeros((count, n), real, a.allocator) for _ in range(2))
    products = None
    if is_with_vectors:
        products = _g.empty(a.shape, a.dtype, a.allocator)
        if a.size:
            products[...] = _g.eye(n, dtype=a.dtype)
    if not a.size:
        return reals, imags, products
    _make_hessenberg(a, products)
    if is_with_vectors:
        products = products.mT.copy("C")
    states = _g.zeros((count, 4), np.int32, a.allocator)
    lists = _g.empty((count, 3 * n), a.dtype, a.allocator)
    states[:, 0] = n - 1
    threads = 32 if n <= 16 else 64 if n <= 256 else 128
    is_left = True
    while is_left:
        left = _g.zeros(1, np.int32, a.allocator)
        for turn in range(16 if is_with_vectors else 1):
            if turn == 15:
                left.fill(0)
            _launch(a, "iterate_all", 1, threads, a, np.int32(n), np.int32(1 if is_with_vectors else 4 * n),
                    np.int32(is_with_vectors), states, lists, reals, imags, report, left)  # fmt: skip
            if is_with_vectors:
                _launch(a, "apply_list", -(-2 * n // 64), 64, a, np.int32(n), states, lists, products)
        is_left = bool(int(left[0]))
    return reals, imags, products
