// A - left^T right at and behind row and column k: the update of a matrix by a panel of reflections from both sides. A
// thread has some rows of a column.

extern "C" __global__ void array_tridiagonal_update(T *matrices, int n, int k, const T *lefts, const T *rights)
{
    I start = (I)blockIdx.x * 2 * PAIRS * n;
    for (int row = k + (blockIdx.y * blockDim.y + threadIdx.y) * PART; row < n; row += gridDim.y * blockDim.y * PART)
        for (int j = k + blockIdx.z * 32 + threadIdx.x; j < n; j += 32 * gridDim.z) {
            T sums[PART] = {};
            for (int c = 0; c < 2 * PAIRS; ++c) {
                const T *left = lefts + start + (I)c * n + row;
                T own = rights[start + (I)c * n + j];
                for (int r = 0; r < PART; ++r) sums[r] += left[row + r < n ? r : 0] * own;
            }
            for (int r = 0; r < PART && row + r < n; ++r) matrices[((I)blockIdx.x * n + row + r) * n + j] -= sums[r];
        }
}
