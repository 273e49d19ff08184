// Column k of Hermitian matrices as the panel's reflections, of which there were i, change it; the rows of a block are
// neighbours. First the last of those gets its second vector: w = p - |tau|^2 (v^H A v) v / 2 with p = tau A v. Rows of
// `left` are all v, then all w, those of `right` all conj(w), then all conj(v): A - left^T right is the matrix as it is
// now. `inner` has right v for the last v. A thread for some of the terms of a row.
#define ROWS 32
#define TEAMS GROUP

// The place of term c of 2 * i in a panel.
__device__ int term(int c, int i) { return c < i ? c : PAIRS + c - i; }

extern "C" __global__ void array_tridiagonal_column(T *matrices, int n, int k, int i, int is_last, const T *taus,
                                                    R *diagonals, T *lefts, T *rights, const T *inners,
                                                    const T *products, const R *all_parts, int count, T *columns,
                                                    R *all_squares)
{
    __shared__ R inner[2][2 * PAIRS], across[2][2 * PAIRS];
    __shared__ R reals[2][TEAMS][ROWS], imags[2][IS_COMPLEX ? TEAMS : 1][ROWS], shared_half, shared_parts[2];
    int t = threadIdx.x, lane = t % ROWS, team = t / ROWS;
    T *left = lefts + (I)blockIdx.x * 2 * PAIRS * n, *right = rights + (I)blockIdx.x * 2 * PAIRS * n;
    const T *p = products + (I)blockIdx.x * n, *a = matrices + ((I)blockIdx.x * n + k) * n;
    T *x = columns + (I)blockIdx.x * n;
    int row = k + blockIdx.y * ROWS + lane, done = i > 0 ? i - 1 : 0;
    T tau = i > 0 ? taus[(I)blockIdx.x * n + k - 1] : made_of(0, 0);
    for (int c = t; c < 2 * done; c += ROWS * TEAMS) {
        T of_product = inners[(I)blockIdx.x * 2 * PAIRS + term(c, done)], of_column = right[(I)term(c, done) * n + k];
        inner[0][c] = real_of(of_product);
        inner[1][c] = imag_of(of_product);
        across[0][c] = real_of(of_column);
        across[1][c] = imag_of(of_column);
    }
    __syncthreads();
    if (t < 32 && i > 0) {
        const R *own = all_parts + (I)blockIdx.x * count;
        R sum = 0;
        T here = made_of(0, 0);
        for (int c = t; c < count; c += 32) sum += own[c];
        for (int c = t; c < done; c += 32)
            sum -= 2 * (inner[0][done + c] * inner[0][c] + inner[1][done + c] * inner[1][c]);
        for (int c = t; c < 2 * done; c += 32)
            here += left[(I)term(c, done) * n + k] * made_of(inner[0][c], inner[1][c]);
        R half = square_of(tau) * warp_sum(sum) / 2, real = warp_sum(real_of(here));
        R imag = IS_COMPLEX ? warp_sum(imag_of(here)) : 0;
        // v begins with 1 in row k.
        T w = tau * (p[k] - made_of(real, imag)) - made_of(half, 0);
        if (t == 0) {
            shared_half = half;
            shared_parts[0] = real_of(w);
            shared_parts[1] = imag_of(w);
        }
    }
    T product = made_of(0, 0), column = made_of(0, 0);
    if (row < n)
        for (int c = team; c < 2 * done; c += TEAMS) {
            T own = left[(I)term(c, done) * n + row];
            product += own * made_of(inner[0][c], inner[1][c]);
            column += own * made_of(across[0][c], across[1][c]);
        }
    reals[0][team][lane] = real_of(product);
    reals[1][team][lane] = real_of(column);
    if (IS_COMPLEX) {
        imags[0][team][lane] = imag_of(product);
        imags[1][team][lane] = imag_of(column);
    }
    __syncthreads();
    if (team > 0) return;
    R sums[4] = {0, 0, 0, 0}, square = 0;
    for (int other = 0; other < TEAMS; ++other) {
        sums[0] += reals[0][other][lane];
        sums[1] += reals[1][other][lane];
        if (IS_COMPLEX) {
            sums[2] += imags[0][other][lane];
            sums[3] += imags[1][other][lane];
        }
    }
    if (row < n) {
        T own = is_last ? made_of(0, 0) : conj_of(a[row]) - made_of(sums[1], sums[3]);
        if (i > 0) {
            T v = left[(I)done * n + row], first = made_of(shared_parts[0], shared_parts[1]);
            T w = tau * (p[row] - made_of(sums[0], sums[2])) - shared_half * v;
            left[(I)(PAIRS + done) * n + row] = w;
            right[(I)done * n + row] = conj_of(w);
            own -= v * conj_of(first) + w;
        }
        if (!is_last) x[row] = own;
        if (!is_last && row == k) diagonals[(I)blockIdx.x * n + k] = real_of(own);
        if (row > k + 1) square = square_of(own);
    }
    square = warp_sum(square);
    if (lane == 0 && !is_last) all_squares[(I)blockIdx.x * gridDim.y + blockIdx.y] = square;
}
