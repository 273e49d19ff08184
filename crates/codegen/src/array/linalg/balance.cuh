// Makes rows and columns as long as each other by powers of two, until that shortens them by little. Lengths are Euclidean
// and include the diagonal: others spoil the eigenvectors of some Hessenberg matrices (James, Langou and Lowery, On matrix
// balancing and eigenvector computation, 2014).
extern "C" __global__ void array_balance(T *matrices, int n, R *scales)
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
                row += norm_squared(a[(I)i * n + j]);
                column += norm_squared(a[(I)j * n + i]);
            }
            row = sqrt(block_sum(row));
            column = sqrt(block_sum(column));
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
