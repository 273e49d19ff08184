// Eigenvalues of Hermitian matrices whose largest element is about 1, in no order, and the rows of `vectors` as their
// eigenvectors. A round rotates n / 2 pairs of rows and columns that have no index in common; each thread has elements
// where two pairs meet. Elements that are as nothing beside the matrix are left: those of all pairs at the end. A
// matrix of an odd number of rows has one more, of zeros, which is never rotated.
extern "C" __global__ void array_jacobi(const T *matrices, int n, int sweeps, R *values, T *vectors, int *report)
{
    extern __shared__ double memory[];
    int even = n + n % 2, pairs = even / 2, row = even + 1;
    int x = threadIdx.x, y = threadIdx.y, width = blockDim.x, height = blockDim.y, t = y * width + x;
    T *a = (T *)memory, *sines = a + even * row, *halves = sines + pairs;
    int *first = (int *)(halves + pairs), *second = first + pairs;
    const T *from = matrices + (I)blockIdx.x * n * n;
    T *v = vectors ? vectors + (I)blockIdx.x * n * n : 0;
    for (int i = y; i < even; i += height)
        for (int j = x; j < even; j += width) {
            bool is_within = i < n && j < n;
            a[i * row + j] = is_within ? from[i * n + j] : make_element(0, 0);
            if (v && is_within) v[i * n + j] = make_element(i == j, 0);
        }
    __syncthreads();
    R least = EPS / (8 * n);
    int is_turned = 1, sweep = 0;
    for (; sweep < sweeps && is_turned; ++sweep) {
        is_turned = 0;
        for (int r = 0; r < even - 1; ++r) {
            int is_needed = 0;
            for (int k = t; k < pairs; k += width * height) {
                int p, q;
                tournament_pair(k, r, even, p, q);
                T z = a[p * row + q], s, h;
                R size = sqrt(norm_squared(z));
                R alpha = real_of(a[p * row + p]), beta = real_of(a[q * row + q]);
                bool is_large = size > least;
                R part = rotation(alpha, beta, z, size, is_large, s, h);
                a[p * row + p] = make_element(alpha - part, 0);
                a[q * row + q] = make_element(beta + part, 0);
                a[p * row + q] = a[q * row + p] = is_large ? make_element(0, 0) : z;
                is_needed |= is_large;
                sines[k] = s;
                halves[k] = h;
                first[k] = p;
                second[k] = q;
            }
            if (!__syncthreads_or(is_needed)) continue;
            is_turned = 1;
            for (int k = y; k < pairs; k += height) {
                int p = first[k], q = second[k];
                T s = sines[k], h = halves[k];
                for (int l = x; l < pairs; l += width) {
                    if (k == l) continue;
                    int u = first[l], w = second[l];
                    T pu = a[p * row + u], pw = a[p * row + w], qu = a[q * row + u], qw = a[q * row + w];
                    rotate(sines[l], halves[l], pu, pw);
                    rotate(sines[l], halves[l], qu, qw);
                    rotate(conj_of(s), conj_of(h), pu, qu);
                    rotate(conj_of(s), conj_of(h), pw, qw);
                    a[p * row + u] = pu;
                    a[p * row + w] = pw;
                    a[q * row + u] = qu;
                    a[q * row + w] = qw;
                }
                if (v && q < n)
                    for (int j = x; j < n; j += width) rotate(s, h, v[p * n + j], v[q * n + j]);
            }
            __syncthreads();
        }
    }
    if (t == 0 && is_turned) atomicOr(report, NOT_CONVERGED);
    for (int i = t; i < n; i += width * height) values[(I)blockIdx.x * n + i] = real_of(a[i * row + i]);
}
