// The reflection that makes column k zero below its subdiagonal. Its vector, which begins with 1, takes the place of
// the column and is row 0 of `pairs`; the subdiagonal element and tau go to arrays of their own.
extern "C" __global__ void array_tridiagonal_column(T *matrices, int n, int k, T *taus, R *diagonals, R *beside,
                                                    T *pairs)
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
