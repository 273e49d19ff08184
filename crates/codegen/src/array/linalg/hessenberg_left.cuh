// Applies it from the left, a thread for each column right of k.
extern "C" __global__ void array_hessenberg_left(T *matrices, int n, int k, const T *vectors)
{
    T *a = matrices + (I)blockIdx.x * n * n;
    const T *v = vectors + (I)blockIdx.x * (n + 1);
    int j = k + 1 + blockIdx.y * blockDim.x + threadIdx.x;
    if (j >= n) return;
    T sum = make_element(0, 0);
    for (int i = k + 1; i < n; ++i) sum += conj_of(v[i]) * a[(I)i * n + j];
    sum = conj_of(v[n]) * sum;
    for (int i = k + 1; i < n; ++i) a[(I)i * n + j] -= v[i] * sum;
}
