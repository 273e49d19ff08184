// Eigenvalue j of each tridiagonal matrix, whose elements are about 1, by bisection; a thread for each.
extern "C" __global__ void array_tridiagonal_bisect(const R *diagonals, const R *subdiagonals, int n, R *values)
{
    const R *d = diagonals + (I)blockIdx.x * n, *e = subdiagonals + (I)blockIdx.x * n;
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
