// w = p - tau (p^H v) v / 2, where p was left.
extern "C" __global__ void array_tridiagonal_correct(int n, int k, const T *taus, T *pairs)
{
    T *v = pairs + (I)blockIdx.x * 2 * n, *w = v + n, mine = made_of(0, 0);
    for (int i = k + 1 + threadIdx.x; i < n; i += THREADS) mine += conj_of(w[i]) * v[i];
    R real = added(real_of(mine)), imag = IS_COMPLEX ? added(imag_of(mine)) : 0;
    T half = taus[(I)blockIdx.x * n + k] * made_of(real, imag) * (R)0.5;
    for (int i = k + 1 + threadIdx.x; i < n; i += THREADS) w[i] -= half * v[i];
}
