// Householder reflections: R above the diagonal, their vectors below it, scaled to begin with 1.
extern "C" __global__ void array_reflect(T *matrices, I stack, int m, int n, T *factors)
{
    T *a = matrices + blockIdx.x * stack;
    int t = threadIdx.x, last = m < n ? m : n;
    T *tau = factors + (I)blockIdx.x * last;
    for (int k = 0; k < last; ++k) {
        R mine = 0;
        for (int i = k + 1 + t; i < m; i += THREADS) mine += square_of(a[(I)i * n + k]);
        R rest = added(mine);
        T alpha = a[(I)k * n + k], factor = made_of(0, 0);
        __syncthreads();
        if (rest != 0 || imag_of(alpha) != 0) {
            R norm = sqrt(square_of(alpha) + rest), beta = real_of(alpha) > 0 ? -norm : norm;
            factor = made_of((beta - real_of(alpha)) / beta, -imag_of(alpha) / beta);
            T scale = made_of(real_of(alpha) - beta, imag_of(alpha));
            for (int i = k + 1 + t; i < m; i += THREADS) a[(I)i * n + k] = a[(I)i * n + k] / scale;
            if (t == 0) a[(I)k * n + k] = made_of(beta, 0);
        }
        if (t == 0) tau[k] = factor;
        __syncthreads();
        for (int j = k + 1 + t; j < n; j += THREADS) {
            T sum = a[(I)k * n + j];
            for (int i = k + 1; i < m; ++i) sum += conj_of(a[(I)i * n + k]) * a[(I)i * n + j];
            sum = conj_of(factor) * sum;
            a[(I)k * n + j] -= sum;
            for (int i = k + 1; i < m; ++i) a[(I)i * n + j] -= a[(I)i * n + k] * sum;
        }
        __syncthreads();
    }
}
