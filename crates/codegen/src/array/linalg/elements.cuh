// Elements of matrices. T: elements, R: their parts and absolute values, I: places in memory. Real elements have what
// complex ones have.
#if IS_COMPLEX
__device__ R magnitude(T z) { return fabs(z.real()) + fabs(z.imag()); }
__device__ R norm_squared(T z) { return z.real() * z.real() + z.imag() * z.imag(); }
__device__ T conj_of(T z) { return T(z.real(), -z.imag()); }
__device__ R real_of(T z) { return z.real(); }
__device__ R imag_of(T z) { return z.imag(); }
__device__ T make_element(R x, R y) { return T(x, y); }
#else
__device__ R magnitude(T z) { return fabs(z); }
__device__ R norm_squared(T z) { return z * z; }
__device__ T conj_of(T z) { return z; }
__device__ R real_of(T z) { return z; }
__device__ R imag_of(T z) { return 0; }
__device__ T make_element(R x, R y) { return x; }
#endif
typedef long long I;
