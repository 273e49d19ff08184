// The z of which the eigenvalues that were found are exactly those of D + rho z z^T, but for a common factor; so its
// eigenvectors are orthogonal (Gu and Eisenstat, A divide-and-conquer algorithm for the symmetric tridiagonal
// eigenproblem, SIAM J. Matrix Anal. Appl. 16, 1995). A warp for each; all factors are between 0 and 1 but the last.
extern "C" __global__ void array_divide_weights(const R *all_poles, const R *all_weights, int length, const int *counts,
                                                const R *distances, const int *origins, R *exact)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, count = counts[2 * blockIdx.x];
    if (i >= count) return;
    I start = (I)blockIdx.x * length;
    const R *d = all_poles + start;
    R own = d[i], product = 1;
    for (int j = threadIdx.x; j < count; j += 32) {
        R distance = (d[origins[start + j]] - own) + distances[start + j];
        R other = j < i ? d[j] - own : j < count - 1 ? d[j + 1] - own : 1;
        product *= distance / other;
    }
    product = warp_product(product);
    if (threadIdx.x == 0) exact[start + i] = copysign(sqrt(fabs(product)), all_weights[start + i]);
}
