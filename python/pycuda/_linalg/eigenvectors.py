"""Eigenvectors of Schur forms, and general matrices made ready for them: balanced, and put back after."""

import numpy as np

from pycuda import gpuarray as _g
from pycuda._linalg.matrices import real_of
from pycuda._linalg.matrix_kernels import launch

_SOURCE = """
typedef pycuda::complex<R> C;
#if IS_WIDE
typedef C X;  // What vectors are made of.
__device__ X vector_of(R x, R y) { return X(x, y); }
__device__ R size_of_vector(X z) { return fmax(fabs(z.real()), fabs(z.imag())); }
#else
typedef T X;
__device__ X vector_of(R x, R y) { return made_of(x, y); }
__device__ R size_of_vector(X z) { return fmax(fabs(real_of(z)), fabs(imag_of(z))); }
#endif

// Adds what the threads of a block have.
__device__ R added(R x)
{
    __shared__ R sums[THREADS];
    __syncthreads();
    sums[threadIdx.x] = x;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    return sums[0];
}

// Makes rows and columns as long as each other by powers of two, until that shortens them by little.
extern "C" __global__ void balance(T *matrices, int n, R *scales)
{
    T *a = matrices + (I)blockIdx.x * n * n;
    R *scale = scales + (I)blockIdx.x * n;
    int t = threadIdx.x;
    for (int i = t; i < n; i += blockDim.x) scale[i] = 1;
    bool is_changed = true;
    for (int pass = 0; pass < 30 && is_changed; ++pass) {
        is_changed = false;
        for (int i = 0; i < n; ++i) {
            R row = 0, column = 0;
            for (int j = t; j < n; j += blockDim.x) {
                if (j == i) continue;
                row += size_of(a[(I)i * n + j]);
                column += size_of(a[(I)j * n + i]);
            }
            row = added(row);
            column = added(column);
            R sum = row + column, factor = 1;
            if (row < TINY / EPS || column < TINY / EPS) continue;
            while (column < row / 2 && factor < (R)1e9) { column *= 2; row /= 2; factor *= 2; }
            while (column > row * 2 && factor > (R)1e-9) { column /= 2; row *= 2; factor /= 2; }
            R after = scale[i] * factor;
            if (row + column >= (R)0.95 * sum || after > (R)1e18 || after < (R)1e-18) continue;
            is_changed = true;
            __syncthreads();
            if (t == 0) scale[i] = after;
            for (int j = t; j < n; j += blockDim.x) {
                if (j == i) continue;
                a[(I)i * n + j] = a[(I)i * n + j] * (1 / factor);
                a[(I)j * n + i] = a[(I)j * n + i] * factor;
            }
            __syncthreads();
        }
    }
}

// Eigenvalues of what was scaled, as they are.
extern "C" __global__ void unscale(R *reals, R *imags, int n, const int *exponents)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        I at = (I)blockIdx.x * n + i;
        reals[at] = ldexp(reals[at], exponents[blockIdx.x]);
        imags[at] = ldexp(imags[at], exponents[blockIdx.x]);
    }
}

// z, or something as small as rounding errors in place of what is smaller.
__device__ X divisor(X z, R least) { return size_of_vector(z) < least ? vector_of(least, 0) : z; }

// Eigenvectors of Schur forms, columns of `vectors`, by substitution from the last row that they have: a thread for
// each. Of a pair of complex eigenvalues only the first one's vector is found.
extern "C" __global__ void substitute(const T *matrices, int n, const R *reals, const R *imags, X *vectors)
{
    const T *h = matrices + (I)blockIdx.x * n * n;
    int j = blockIdx.y * blockDim.x + threadIdx.x;
    if (j >= n) return;
    X *x = vectors + (I)blockIdx.x * n * n + j;
    R imag = imags[(I)blockIdx.x * n + j], least = EPS, largest = 1;
    X value = vector_of(reals[(I)blockIdx.x * n + j], imag);
    for (int i = 0; i < n; ++i) x[(I)i * n] = vector_of(0, 0);
    int first = j;
    bool is_pair = false;
#if IS_WIDE
    is_pair = imag > 0;
    if (imag < 0) return;
    if (is_pair) {
        // (a - value) x + b y = 0 = c x + (d - value) y, by the equation with the larger coefficients.
        R a = h[(I)j * n + j], b = h[(I)j * n + j + 1], c = h[(I)(j + 1) * n + j], d = h[(I)(j + 1) * n + j + 1];
        bool is_above = fabs(b) >= fabs(c);
        X top = is_above ? X(1, 0) : (value - X(d, 0)) / c;
        X bottom = is_above ? (value - X(a, 0)) / b : X(1, 0);
        x[(I)j * n] = top;
        x[(I)(j + 1) * n] = bottom;
        largest = fmax(size_of_vector(top), size_of_vector(bottom));
    }
#endif
    if (!is_pair) x[(I)j * n] = vector_of(1, 0);
    int end = j + is_pair + 1;
    for (int i = first - 1; i >= 0; --i) {
        X sum = vector_of(0, 0);
        for (int k = i + 1; k < end; ++k) sum += x[(I)k * n] * h[(I)i * n + k];
        R size;
#if IS_WIDE
        if (i > 0 && h[(I)i * n + i - 1] != 0) {
            // Two unknowns at once, by elimination with the larger pivot.
            X other = vector_of(0, 0);
            for (int k = i + 1; k < end; ++k) other += x[(I)k * n] * h[(I)(i - 1) * n + k];
            X a = X(h[(I)(i - 1) * n + i - 1], 0) - value, d = X(h[(I)i * n + i], 0) - value;
            R b = h[(I)(i - 1) * n + i], c = h[(I)i * n + i - 1];
            bool is_first = size_of_vector(a) >= fabs(c);
            X pivot = divisor(is_first ? a : X(c, 0), least), factor = (is_first ? X(c, 0) : a) / pivot;
            X above = is_first ? X(b, 0) : d, below = is_first ? d : X(b, 0);
            X right = is_first ? other : sum, rest = is_first ? sum : other;
            X second = -(rest - factor * right) / divisor(below - factor * above, least);
            X top = -(right + above * second) / pivot;
            x[(I)i * n] = second;
            x[(I)(i - 1) * n] = top;
            size = fmax(size_of_vector(top), size_of_vector(second));
            --i;
        } else
#endif
        {
            X found = -sum / divisor(vector_of(real_of(h[(I)i * n + i]), imag_of(h[(I)i * n + i])) - value, least);
            x[(I)i * n] = found;
            size = size_of_vector(found);
        }
        largest = fmax(largest, size);
        if (largest > 1 / EPS) {
            for (int k = i; k < end; ++k) x[(I)k * n] = x[(I)k * n] / largest;
            largest = 1;
        }
    }
}

// Takes balancing back and makes columns of length 1, the largest element of complex ones real; the second of a pair
// of complex eigenvalues gets the conjugate of the first one's vector.
extern "C" __global__ void finish(X *vectors, int n, const R *scales, const R *imags)
{
    X *v = vectors + (I)blockIdx.x * n * n;
    const R *scale = scales + (I)blockIdx.x * n;
    int j = blockIdx.y * blockDim.x + threadIdx.x;
    if (j >= n) return;
#if IS_WIDE
    R imag = imags[(I)blockIdx.x * n + j];
    if (imag < 0) return;
#elif IS_COMPLEX
    R imag = 0;
#endif
    R largest = 0;
    X place = vector_of(1, 0);
    for (int i = 0; i < n; ++i) {
        X z = v[(I)i * n + j] * scale[i];
        v[(I)i * n + j] = z;
        R size = size_of_vector(z);
        if (size > largest) { largest = size; place = z; }
    }
    if (largest == 0) return;
    R square = 0, top = 0;
    for (int i = 0; i < n; ++i) {
        X z = v[(I)i * n + j] / largest;
        v[(I)i * n + j] = z;
#if IS_WIDE || IS_COMPLEX
        R own = z.real() * z.real() + z.imag() * z.imag();
#else
        R own = z * z;
#endif
        square += own;
        if (own > top) { top = own; place = z; }
    }
    R length = sqrt(square);
#if IS_WIDE || IS_COMPLEX
    R size = sqrt(top);
    bool is_turned = !IS_WIDE || imag > 0;
    X turn = is_turned ? X(place.real() / size / length, -place.imag() / size / length) : X(1 / length, 0);
    for (int i = 0; i < n; ++i) {
        X own = v[(I)i * n + j], z = own * turn;
        if (is_turned && own.real() == place.real() && own.imag() == place.imag()) z = X(z.real(), 0);
        v[(I)i * n + j] = z;
        if (imag > 0 && IS_WIDE) v[(I)i * n + j + 1] = X(z.real(), -z.imag());
    }
#else
    for (int i = 0; i < n; ++i) v[(I)i * n + j] = v[(I)i * n + j] / length;
#endif
}
"""


def _launch(dtype, is_wide, name, grid, threads, *args):
    source = f"#define IS_COMPLEX {int(dtype.kind == 'c')}\n#define IS_WIDE {int(is_wide)}\n{_SOURCE}"
    launch(source, dtype, name, grid, threads, *args)


def balance(a):
    """Scales rows and columns of scaled matrices in place; the factors that eigenvectors are multiplied with.

    Parlett and Reinsch, Balancing a matrix for calculation of eigenvalues and eigenvectors, Numer. Math. 13, 1969,
    without the exchange of rows.
    """
    count, n, _ = a.shape
    scales = _g.empty((count, n), real_of(a.dtype), a.allocator)
    if a.size:
        _launch(a.dtype, False, "balance", (count, 1), 32 if n <= 32 else 256, a, np.int32(n), scales)
    return scales


def unscale(reals, imags, exponents, dtype):
    """Scales the parts of eigenvalues back, in place."""
    if reals.size:
        count, n = reals.shape
        _launch(dtype, False, "unscale", (count, 1), 64, reals, imags, np.int32(n), exponents)


def find(forms, reals, imags, products, scales, is_wide):
    """Eigenvectors, as columns, of matrices of which `products` are the Schur vectors, as rows.

    By substitution in Schur forms (Golub and Van Loan, Matrix Computations, 7.6.4). `is_wide` says that those of real
    matrices are complex.
    """
    count, n, _ = forms.shape
    dtype = np.result_type(forms.dtype, np.complex64) if is_wide else forms.dtype
    x = _g.zeros(forms.shape, dtype, forms.allocator)
    if not forms.size:
        return x
    grid, threads = (count, -(-n // 32)), 32
    _launch(forms.dtype, is_wide, "substitute", grid, threads, forms, np.int32(n), reals, imags, x)
    q = products.mT
    vectors = (q.astype(dtype) @ x) if is_wide else q @ x
    _launch(forms.dtype, is_wide, "finish", grid, threads, vectors, np.int32(n), scales, imags)
    return vectors
