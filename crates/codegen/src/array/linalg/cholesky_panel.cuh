// Rows of a panel that a thread has in the tile at the top, and columns.
#define PARTS (PANEL / 16)

// Cholesky factors of panels of m rows and n columns, at most PANEL. Each block factors the square at the top, and with it
// PANEL of the rows below, so that blocks wait for no others. A thread has every 16th row and column; columns are divided
// by their diagonals at the end. The square at the top becomes `diagonals`, since other blocks still read it; what is no
// longer positive sets a flag.
extern "C" __global__ void __launch_bounds__(256)
array_cholesky_panel(T *matrices, I stack, I row, int m, int n, T *diagonals, I diagonal_stack, int *flag)
{
    SHARED(columns, 2 * 2 * PANEL);
    __shared__ R squares[PANEL];
    T *a = matrices + blockIdx.x * stack;
    int t = threadIdx.x, tx = t % 16, ty = t / 16, below = n + blockIdx.y * PANEL;
    T x[2 * PARTS][PARTS];
#pragma unroll
    for (int r = 0; r < 2 * PARTS; ++r) {
        int local = r % PARTS * 16 + ty, i = r < PARTS ? local : below + local;
        bool is_row = r < PARTS ? i < n : i < m;
#pragma unroll
        for (int c = 0; c < PARTS; ++c) {
            int j = c * 16 + tx;
            x[r][c] = is_row && j < n && j <= i ? a[i * row + j] : make_element(0, 0);
        }
    }
#pragma unroll
    for (int c = 0; c < PARTS; ++c)
#pragma unroll 1
        for (int step = 0; step < 16; ++step) {
            int k = c * 16 + step;
            if (k >= n) break;
            T *column = columns + k % 2 * 2 * PANEL;
            if (tx == step)
#pragma unroll
                for (int r = 0; r < 2 * PARTS; ++r) column[r * 16 + ty] = x[r][c];
            __syncthreads();
            R square = real_of(column[k]);
            if (t == 0) {
                squares[k] = square;
                if (!(square > 0) && blockIdx.y == 0) *flag = 1;
            }
            Divisor divisor = divisor_of(make_element(square, 0));
            T others[PARTS];
#pragma unroll
            for (int j = c; j < PARTS; ++j) others[j] = conj_of(column[j * 16 + tx]);
#pragma unroll
            for (int r = 0; r < 2 * PARTS; ++r) {
                // Rows of the square above the diagonal are not needed any more.
                if (r < c) continue;
                T factor = quotient(column[r * 16 + ty], divisor);
                if (tx > step) x[r][c] -= factor * others[c];
#pragma unroll
                for (int j = c + 1; j < PARTS; ++j) x[r][j] -= factor * others[j];
            }
        }
    __syncthreads();
    T *diagonal = diagonals + blockIdx.x * diagonal_stack;
#pragma unroll
    for (int c = 0; c < PARTS; ++c) {
        int j = c * 16 + tx;
        if (j >= n) break;
        R length = sqrt(squares[j]);
        Divisor divisor = divisor_of(make_element(length, 0));
#pragma unroll
        for (int r = 0; r < 2 * PARTS; ++r) {
            int local = r % PARTS * 16 + ty, i = r < PARTS ? local : below + local;
            T found = i == j ? make_element(length, 0) : quotient(x[r][c], divisor);
            if (r >= PARTS && i < m) a[i * row + j] = found;
            if (r < PARTS && blockIdx.y == 0 && i < n && j <= i) diagonal[i * PANEL + j] = found;
        }
    }
}
