// What eigenvectors are made of: complex numbers where those of real matrices are wanted as such.
#if IS_WIDE
typedef pycuda::complex<R> X;
__device__ X make_vector_element(R x, R y) { return X(x, y); }
__device__ R vector_magnitude(X z) { return fmax(fabs(z.real()), fabs(z.imag())); }
#else
typedef T X;
__device__ X make_vector_element(R x, R y) { return make_element(x, y); }
__device__ R vector_magnitude(X z) { return fmax(fabs(real_of(z)), fabs(imag_of(z))); }
#endif

// z, or something as small as rounding errors in place of what is smaller.
__device__ X safe_divisor(X z, R least) { return vector_magnitude(z) < least ? make_vector_element(least, 0) : z; }
