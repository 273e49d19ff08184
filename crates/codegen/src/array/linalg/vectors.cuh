// What eigenvectors are made of: complex numbers where those of real matrices are wanted as such.
#if IS_WIDE
typedef pycuda::complex<R> X;
__device__ X vector_of(R x, R y) { return X(x, y); }
__device__ R size_of_vector(X z) { return fmax(fabs(z.real()), fabs(z.imag())); }
#else
typedef T X;
__device__ X vector_of(R x, R y) { return made_of(x, y); }
__device__ R size_of_vector(X z) { return fmax(fabs(real_of(z)), fabs(imag_of(z))); }
#endif

// z, or something as small as rounding errors in place of what is smaller.
__device__ X divisor(X z, R least) { return size_of_vector(z) < least ? vector_of(least, 0) : z; }
