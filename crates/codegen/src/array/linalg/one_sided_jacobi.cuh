// Rotates pairs of the n columns of each matrix, which lie one after the other, until all are orthogonal.
extern "C" __global__ void array_one_sided_jacobi(T *matrices, int m, int n, T *others, int length, R tolerance,
                                               int sweeps, int *report)
{
    T *w = matrices + (I)blockIdx.x * n * m, *v = others ? others + (I)blockIdx.x * n * length : 0;
    int even = n + n % 2, pairs = even / 2, is_turned = 1;
    for (int sweep = 0; sweep < sweeps && is_turned; ++sweep) {
        is_turned = 0;
        for (int r = 0; r < even - 1; ++r) {
            int is_needed = 0;
            for (int first = 0; first < pairs; first += blockDim.y) {
                int k = first + threadIdx.y, p, q;
                tournament_pair(k < pairs ? k : 0, r, even, p, q);
                int rows = k < pairs && q < n ? m : 0, others_length = v && rows ? length : 0;
                is_needed |= make_orthogonal(w + p * (I)m, w + q * (I)m, rows, v + p * (I)length, v + q * (I)length,
                                             others_length, tolerance);
            }
            is_turned |= __syncthreads_or(is_needed);
        }
    }
    if (is_turned && threadIdx.x == 0 && threadIdx.y == 0) atomicOr(report, NOT_CONVERGED);
}
