// Eigenvectors of D + rho z z^T as columns in the order of their values, rows in the order of the parts.
extern "C" __global__ void array_divide_vectors(const R *all_poles, const R *exact, int length, const int *counts,
                                                const R *distances, const int *origins, const R *inverses,
                                                const int *columns, const int *rows, R *vectors)
{
    I start = (I)blockIdx.x * length;
    int count = counts[2 * blockIdx.x];
    for (int i = blockIdx.y * blockDim.y + threadIdx.y; i < length; i += gridDim.y * blockDim.y) {
        R *to = vectors + (start + rows[start + i]) * length;
        R own = i < count ? all_poles[start + i] : 0, weight = i < count ? exact[start + i] : 0;
        for (int j = threadIdx.x; j < length; j += blockDim.x) {
            R x = i == j;
            if (i < count) {
                x = 0;
                if (j < count) {
                    R distance = (own - all_poles[start + origins[start + j]]) - distances[start + j];
                    x = weight / distance * inverses[start + j];
                }
            }
            to[columns[start + j]] = x;
        }
    }
}
