// A - left^T right at and behind row and column k: the update of a matrix by a panel of reflections from both sides. A
// thread has some rows of a column.
#define TALL 4

extern "C" __global__ void array_tridiagonal_update(T *matrices, int n, int k, const T *lefts, const T *rights)
{
    I start = (I)blockIdx.x * 2 * PAIRS * n;
    for (int row = k + (blockIdx.y * blockDim.y + threadIdx.y) * TALL; row < n; row += gridDim.y * blockDim.y * TALL)
        for (int j = k + blockIdx.z * 32 + threadIdx.x; j < n; j += 32 * gridDim.z) {
            T sums[TALL] = {};
            for (int c = 0; c < 2 * PAIRS; ++c) {
                const T *left = lefts + start + (I)c * n + row;
                T own = rights[start + (I)c * n + j];
                for (int r = 0; r < TALL; ++r) sums[r] += left[row + r < n ? r : 0] * own;
            }
            for (int r = 0; r < TALL && row + r < n; ++r) matrices[((I)blockIdx.x * n + row + r) * n + j] -= sums[r];
        }
}
