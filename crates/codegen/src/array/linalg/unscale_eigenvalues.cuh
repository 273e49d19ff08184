// Eigenvalues of what was scaled, as they are.
extern "C" __global__ void array_unscale_eigenvalues(R *reals, R *imags, int n, const int *exponents)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        I at = (I)blockIdx.x * n + i;
        reals[at] = ldexp(reals[at], exponents[blockIdx.x]);
        imags[at] = ldexp(imags[at], exponents[blockIdx.x]);
    }
}
