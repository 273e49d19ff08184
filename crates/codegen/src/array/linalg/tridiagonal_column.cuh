// Column k of Hermitian matrices as the panel's i reflections so far change it; the rows of a block are adjacent. First
// the last of those gets its second vector: w = p - |tau|^2 (v^H A v) v / 2 with p = tau A v. Rows of `left` are all v,
// then all w, those of `right` all conj(w), then all conj(v): A - left^T right is the matrix as it is now. `inner` has
// right v for the last v. A thread has some of the terms of a row, which it reads before it waits for others.
#define ROWS 32
#define THREADS_PER_ROW GROUP
#define TERMS_PER_THREAD (2 * PAIRS / THREADS_PER_ROW)

// The place of term c of 2 * i in a panel.
__device__ int term(int c, int i) { return c < i ? c : PAIRS + c - i; }

extern "C" __global__ void array_tridiagonal_column(T *matrices, int n, int k, int i, int is_last, const T *taus,
                                                    R *diagonals, T *lefts, T *rights, const T *inners,
                                                    const T *products, const R *all_parts, int count, T *columns,
                                                    R *all_squares)
{
    // By columns: factors of the products of the last v, and of column k; sums of what threads have; sums of their own.
    __shared__ R inner[2][2 * PAIRS], across[2][2 * PAIRS], reals[2][THREADS_PER_ROW][ROWS];
    __shared__ R imags[2][IS_COMPLEX ? THREADS_PER_ROW : 1][ROWS], here[2], squared;
    int t = threadIdx.x, lane = t % ROWS, row_thread = t / ROWS;
    T *left = lefts + (I)blockIdx.x * 2 * PAIRS * n, *right = rights + (I)blockIdx.x * 2 * PAIRS * n;
    const T *p = products + (I)blockIdx.x * n, zero = make_element(0, 0);
    int row = k + blockIdx.y * ROWS + lane, done = i > 0 ? i - 1 : 0;
    bool is_own = row_thread == 0 && row < n;
    T terms[TERMS_PER_THREAD];
#pragma unroll
    for (int c = 0; c < TERMS_PER_THREAD; ++c) {
        int at = c * THREADS_PER_ROW + row_thread;
        terms[c] = at < 2 * done && row < n ? left[(I)term(at, done) * n + row] : zero;
    }
    T tau = i > 0 ? taus[(I)blockIdx.x * n + k - 1] : zero;
    T own = is_own && !is_last ? conj_of(matrices[((I)blockIdx.x * n + k) * n + row]) : zero;
    T own_p = is_own && i > 0 ? p[row] : zero, first_p = i > 0 ? p[k] : zero;
    T v = is_own && i > 0 ? left[(I)done * n + row] : zero;
    for (int c = t; c < 2 * PAIRS; c += ROWS * THREADS_PER_ROW) {
        bool is_there = c < 2 * done;
        T of_product = is_there ? inners[(I)blockIdx.x * 2 * PAIRS + term(c, done)] : zero;
        T of_column = is_there ? right[(I)term(c, done) * n + k] : zero;
        inner[0][c] = real_of(of_product);
        inner[1][c] = imag_of(of_product);
        across[0][c] = real_of(of_column);
        across[1][c] = imag_of(of_column);
    }
    R sum = 0;
    if (row_thread == THREADS_PER_ROW - 1 && i > 0)
        for (int c = lane; c < count; c += 32) sum += all_parts[(I)blockIdx.x * count + c];
    __syncthreads();
    // A warp each, where there are several: v^H A v, and what is taken from row k of the product.
    if (row_thread == THREADS_PER_ROW - 1 && i > 0) {
        for (int c = lane; c < done; c += 32)
            sum -= 2 * (inner[0][done + c] * inner[0][c] + inner[1][done + c] * inner[1][c]);
        sum = warp_sum(sum);
        if (lane == 0) squared = sum;
    }
    if (row_thread == THREADS_PER_ROW / 2 && i > 0) {
        T taken = zero;
        for (int c = lane; c < 2 * done; c += 32)
            taken += left[(I)term(c, done) * n + k] * make_element(inner[0][c], inner[1][c]);
        R real = warp_sum(real_of(taken)), imag = IS_COMPLEX ? warp_sum(imag_of(taken)) : 0;
        if (lane == 0) {
            here[0] = real;
            here[1] = imag;
        }
    }
    T product = zero, column = zero;
#pragma unroll
    for (int c = 0; c < TERMS_PER_THREAD; ++c) {
        int at = c * THREADS_PER_ROW + row_thread;
        product += terms[c] * make_element(inner[0][at], inner[1][at]);
        column += terms[c] * make_element(across[0][at], across[1][at]);
    }
    reals[0][row_thread][lane] = real_of(product);
    reals[1][row_thread][lane] = real_of(column);
    if (IS_COMPLEX) {
        imags[0][row_thread][lane] = imag_of(product);
        imags[1][row_thread][lane] = imag_of(column);
    }
    __syncthreads();
    if (row_thread > 0) return;
    product = column = zero;
    for (int other = 0; other < THREADS_PER_ROW; ++other) {
        product += make_element(reals[0][other][lane], IS_COMPLEX ? imags[0][other][lane] : 0);
        column += make_element(reals[1][other][lane], IS_COMPLEX ? imags[1][other][lane] : 0);
    }
    R square = 0;
    if (row < n) {
        own -= column;
        if (i > 0) {
            R half = norm_squared(tau) * squared / 2;
            // v begins with 1 in row k.
            T first = tau * (first_p - make_element(here[0], here[1])) - make_element(half, 0);
            T w = tau * (own_p - product) - half * v;
            left[(I)(PAIRS + done) * n + row] = w;
            right[(I)done * n + row] = conj_of(w);
            own -= v * conj_of(first) + w;
        }
        if (!is_last) columns[(I)blockIdx.x * n + row] = own;
        if (!is_last && row == k) diagonals[(I)blockIdx.x * n + k] = real_of(own);
        if (row > k + 1) square = norm_squared(own);
    }
    square = warp_sum(square);
    if (lane == 0 && !is_last) all_squares[(I)blockIdx.x * gridDim.y + blockIdx.y] = square;
}
