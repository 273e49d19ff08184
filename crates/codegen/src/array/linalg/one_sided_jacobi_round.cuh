// One round of that for pairs of long columns, a block for each; counts those that were rotated.
extern "C" __global__ void array_one_sided_jacobi_round(T *matrices, int m, int n, T *others, int length, R tolerance,
                                                     int r, int *turned)
{
    T *w = matrices + (I)blockIdx.x * n * m, *v = others ? others + (I)blockIdx.x * n * length : 0;
    int p, q;
    tournament_pair(blockIdx.y, r, n + n % 2, p, q);
    if (q >= n) return;
    int is_needed = make_orthogonal(w + p * (I)m, w + q * (I)m, m, v + p * (I)length, v + q * (I)length, v ? length : 0,
                                    tolerance);
    if (is_needed && threadIdx.x == 0) atomicAdd(turned, 1);
}
