// Takes balancing back and makes columns of length 1, the largest element of complex ones real; the second of a pair
// of complex eigenvalues gets the conjugate of the first one's vector.
extern "C" __global__ void array_finish_eigenvectors(X *vectors, int n, const R *scales, const R *imags)
{
    X *v = vectors + (I)blockIdx.x * n * n;
    const R *scale = scales + (I)blockIdx.x * n;
    int j = blockIdx.y * blockDim.x + threadIdx.x;
    if (j >= n) return;
#if IS_WIDE
    R imag = imags[(I)blockIdx.x * n + j];
    if (imag < 0) return;
#elif IS_COMPLEX
    R imag = 0;
#endif
    R largest = 0;
    X place = make_vector_element(1, 0);
    for (int i = 0; i < n; ++i) {
        X z = v[(I)i * n + j] * scale[i];
        v[(I)i * n + j] = z;
        R size = vector_magnitude(z);
        if (size > largest) { largest = size; place = z; }
    }
    if (largest == 0) return;
    R square = 0, top = 0;
    for (int i = 0; i < n; ++i) {
        X z = v[(I)i * n + j] / largest;
        v[(I)i * n + j] = z;
#if IS_WIDE || IS_COMPLEX
        R own = z.real() * z.real() + z.imag() * z.imag();
#else
        R own = z * z;
#endif
        square += own;
        if (own > top) { top = own; place = z; }
    }
    R length = sqrt(square);
#if IS_WIDE || IS_COMPLEX
    R size = sqrt(top);
    bool is_turned = !IS_WIDE || imag > 0;
    X turn = is_turned ? X(place.real() / size / length, -place.imag() / size / length) : X(1 / length, 0);
    for (int i = 0; i < n; ++i) {
        X own = v[(I)i * n + j], z = own * turn;
        if (is_turned && own.real() == place.real() && own.imag() == place.imag()) z = X(z.real(), 0);
        v[(I)i * n + j] = z;
        if (imag > 0 && IS_WIDE) v[(I)i * n + j + 1] = X(z.real(), -z.imag());
    }
#else
    for (int i = 0; i < n; ++i) v[(I)i * n + j] = v[(I)i * n + j] / length;
#endif
}
