// Gives back to columns the rotations that values were made independent by, the last one first; a thread for each column.
extern "C" __global__ void array_divide_rotate(int length, const int *counts, const int *rotation_rows, const R *angles,
                                               R *vectors)
{
    int j = blockIdx.y * blockDim.x + threadIdx.x;
    if (j >= length) return;
    I start = (I)blockIdx.x * length;
    R *x = vectors + start * length + j;
    for (int k = counts[2 * blockIdx.x + 1] - 1; k >= 0; --k) {
        const int *pair = rotation_rows + 2 * (start + k);
        R c = angles[2 * (start + k)], s = angles[2 * (start + k) + 1];
        R *p = x + (I)pair[0] * length, *q = x + (I)pair[1] * length, first = *p, second = *q;
        *p = c * first - s * second;
        *q = s * first + c * second;
    }
}
