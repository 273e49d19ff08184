// Column k of Hermitian matrices as the panel's i reflections so far change it; the rows of a block are neighbours. First
// the last of those gets its second vector: w = p - |tau|^2 (v^H A v) v / 2 with p = tau A v. Rows of `left` are all v,
// then all w, those of `right` all conj(w), then all conj(v): A - left^T right is the matrix as it is now. `inner` has
// right v for the last v. A thread has some of the terms of a row, which it reads before it waits for others.
#define ROWS 32
#define TEAMS GROUP
#define TERMS (2 * PAIRS / TEAMS)

// The place of term c of 2 * i in a panel.
__device__ int term(int c, int i) { return c < i ? c : PAIRS + c - i; }

extern "C" __global__ void array_tridiagonal_column(T *matrices, int n, int k, int i, int is_last, const T *taus,
                                                    R *diagonals, T *lefts, T *rights, const T *inners,
                                                    const T *products, const R *all_parts, int count, T *columns,
                                                    R *all_squares)
{
    // By columns: factors of the products of the last v, and of column k; sums of what threads have; sums of their own.
    __shared__ R inner[2][2 * PAIRS], across[2][2 * PAIRS], reals[2][TEAMS][ROWS];
    __shared__ R imags[2][IS_COMPLEX ? TEAMS : 1][ROWS], here[2], squared;
    int t = threadIdx.x, lane = t % ROWS, team = t / ROWS;
    T *left = lefts + (I)blockIdx.x * 2 * PAIRS * n, *right = rights + (I)blockIdx.x * 2 * PAIRS * n;
    const T *p = products + (I)blockIdx.x * n, zero = made_of(0, 0);
    int row = k + blockIdx.y * ROWS + lane, done = i > 0 ? i - 1 : 0;
    bool is_own = team == 0 && row < n;
    T terms[TERMS];
#pragma unroll
    for (int c = 0; c < TERMS; ++c) {
        int at = c * TEAMS + team;
        terms[c] = at < 2 * done && row < n ? left[(I)term(at, done) * n + row] : zero;
    }
    T tau = i > 0 ? taus[(I)blockIdx.x * n + k - 1] : zero;
    T own = is_own && !is_last ? conj_of(matrices[((I)blockIdx.x * n + k) * n + row]) : zero;
    T own_p = is_own && i > 0 ? p[row] : zero, first_p = i > 0 ? p[k] : zero;
    T v = is_own && i > 0 ? left[(I)done * n + row] : zero;
    for (int c = t; c < 2 * PAIRS; c += ROWS * TEAMS) {
        bool is_there = c < 2 * done;
        T of_product = is_there ? inners[(I)blockIdx.x * 2 * PAIRS + term(c, done)] : zero;
        T of_column = is_there ? right[(I)term(c, done) * n + k] : zero;
        inner[0][c] = real_of(of_product);
        inner[1][c] = imag_of(of_product);
        across[0][c] = real_of(of_column);
        across[1][c] = imag_of(of_column);
    }
    R sum = 0;
    if (team == TEAMS - 1 && i > 0)
        for (int c = lane; c < count; c += 32) sum += all_parts[(I)blockIdx.x * count + c];
    __syncthreads();
    // A warp each, where there are several: v^H A v, and what is taken from row k of the product.
    if (team == TEAMS - 1 && i > 0) {
        for (int c = lane; c < done; c += 32)
            sum -= 2 * (inner[0][done + c] * inner[0][c] + inner[1][done + c] * inner[1][c]);
        sum = warp_sum(sum);
        if (lane == 0) squared = sum;
    }
    if (team == TEAMS / 2 && i > 0) {
        T taken = zero;
        for (int c = lane; c < 2 * done; c += 32)
            taken += left[(I)term(c, done) * n + k] * made_of(inner[0][c], inner[1][c]);
        R real = warp_sum(real_of(taken)), imag = IS_COMPLEX ? warp_sum(imag_of(taken)) : 0;
        if (lane == 0) {
            here[0] = real;
            here[1] = imag;
        }
    }
    T product = zero, column = zero;
#pragma unroll
    for (int c = 0; c < TERMS; ++c) {
        int at = c * TEAMS + team;
        product += terms[c] * made_of(inner[0][at], inner[1][at]);
        column += terms[c] * made_of(across[0][at], across[1][at]);
    }
    reals[0][team][lane] = real_of(product);
    reals[1][team][lane] = real_of(column);
    if (IS_COMPLEX) {
        imags[0][team][lane] = imag_of(product);
        imags[1][team][lane] = imag_of(column);
    }
    __syncthreads();
    if (team > 0) return;
    product = column = zero;
    for (int other = 0; other < TEAMS; ++other) {
        product += made_of(reals[0][other][lane], IS_COMPLEX ? imags[0][other][lane] : 0);
        column += made_of(reals[1][other][lane], IS_COMPLEX ? imags[1][other][lane] : 0);
    }
    R square = 0;
    if (row < n) {
        own -= column;
        if (i > 0) {
            R half = square_of(tau) * squared / 2;
            // v begins with 1 in row k.
            T first = tau * (first_p - made_of(here[0], here[1])) - made_of(half, 0);
            T w = tau * (own_p - product) - half * v;
            left[(I)(PAIRS + done) * n + row] = w;
            right[(I)done * n + row] = conj_of(w);
            own -= v * conj_of(first) + w;
        }
        if (!is_last) columns[(I)blockIdx.x * n + row] = own;
        if (!is_last && row == k) diagonals[(I)blockIdx.x * n + k] = real_of(own);
        if (row > k + 1) square = square_of(own);
    }
    square = warp_sum(square);
    if (lane == 0 && !is_last) all_squares[(I)blockIdx.x * gridDim.y + blockIdx.y] = square;
}
