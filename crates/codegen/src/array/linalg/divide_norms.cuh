// The factors that make eigenvectors of D + rho z z^T of length 1, and all values of a pair of parts in order; a warp for
// each slot.
extern "C" __global__ void array_divide_norms(const R *all_poles, const R *exact, int length, const int *counts,
                                                const R *distances, const int *origins, const R *all_found,
                                                R *inverses, int *columns, R *values)
{
    int j = blockIdx.y * blockDim.y + threadIdx.y, count = counts[2 * blockIdx.x];
    if (j >= length) return;
    I start = (I)blockIdx.x * length;
    const R *d = all_poles + start, *found = all_found + start;
    R own = found[j], sum = 0;
    int place = 0;
    for (int i = threadIdx.x; i < length; i += 32) place += found[i] < own || (found[i] == own && i < j);
    for (int step = 16; step > 0; step /= 2) place += __shfl_xor_sync(0xffffffffu, place, step);
    if (j < count) {
        R pole = d[origins[start + j]], x = distances[start + j];
        for (int i = threadIdx.x; i < count; i += 32) {
            R ratio = exact[start + i] / ((d[i] - pole) - x);
            sum += ratio * ratio;
        }
        sum = warp_sum(sum);
    }
    if (threadIdx.x != 0) return;
    inverses[start + j] = j < count ? 1 / sqrt(sum) : 1;
    columns[start + j] = place;
    values[start + place] = own;
}
