// The reflection that makes column k zero below its subdiagonal: its vector, which begins with 1, and tau after it.
extern "C" __global__ void array_hessenberg_column(T *matrices, int n, int k, T *vectors)
{
    T *a = matrices + (I)blockIdx.x * n * n, *v = vectors + (I)blockIdx.x * (n + 1);
    int t = threadIdx.x;
    R mine = 0;
    for (int i = k + 2 + t; i < n; i += blockDim.x) mine += norm_squared(a[(I)i * n + k]);
    R rest = block_sum(mine);
    Reflection own = make_reflector(a[(I)(k + 1) * n + k], rest, 1);
    __syncthreads();
    if (own.is_there && t == 0) a[(I)(k + 1) * n + k] = make_element(own.beta, 0);
    for (int i = k + 2 + t; i < n; i += blockDim.x) {
        v[i] = a[(I)i * n + k] / own.divisor;
        a[(I)i * n + k] = make_element(0, 0);
    }
    if (t == 0) {
        v[k + 1] = make_element(1, 0);
        v[n] = own.factor;
    }
}
