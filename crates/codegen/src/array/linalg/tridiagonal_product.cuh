// The reflection that makes column k zero below its subdiagonal, whose vector v begins with 1 and takes the place of that
// column, and A v with the matrix A as it was before the panel. Further rows are the 2 * i ones of `right`, whose products
// correct it. `parts` are those of v^H A v. A warp has a row, or a thread has one where threads are lanes of a processor's
// vectors: it goes down a column then.
#define SIMD_ROWS (GROUP == 1)
#define ROWS (SIMD_ROWS ? 32 : GROUP)
#define PREFETCH (sizeof(T) > 8 ? 4 : 8)  // Elements that a thread reads before it adds up.

extern "C" __global__ void array_tridiagonal_product(T *matrices, int n, int k, int i, T *taus, R *subdiagonals, T *lefts,
                                                     T *rights, T *inners, T *products, R *all_parts,
                                                     const T *columns, const R *all_squares, int count)
{
    T *a = matrices + (I)blockIdx.x * n * n;
    T *left = lefts + (I)blockIdx.x * 2 * PAIRS * n, *right = rights + (I)blockIdx.x * 2 * PAIRS * n;
    const T *x = columns + (I)blockIdx.x * n;
    int lane = threadIdx.x, strips = (n - k - 1 + ROWS - 1) / ROWS;
    bool is_further = blockIdx.y >= strips, is_down = SIMD_ROWS && !is_further;
    int own = (is_further ? blockIdx.y - strips : blockIdx.y) * ROWS + (SIMD_ROWS ? lane : threadIdx.y);
    int row = k + 1 + own, slot = own < i ? own : PAIRS + own - i;
    bool is_there = is_further ? own < 2 * i : row < n;
    const T *terms = is_further ? right + (I)slot * n : is_down ? a + row : a + (I)row * n;
    I step = is_down ? n : 1;
    T sum = make_element(0, 0), product = make_element(0, 0), alpha = x[k + 1];
    const R *squares = all_squares + (I)blockIdx.x * count;
    R rest = lane < count ? squares[lane] : 0;
    if (is_there) {
        product = is_down ? conj_of(terms[(k + 1) * step]) : terms[k + 1];
#if SIMD_ROWS
        for (int j = k + 2; j < n; ++j) sum += (is_down ? conj_of(terms[j * step]) : terms[j]) * x[j];
#else
        for (int j = k + 2 + lane; j < n; j += 32 * PREFETCH) {
            T own_terms[PREFETCH], own_x[PREFETCH];
#pragma unroll
            for (int c = 0; c < PREFETCH; ++c) {
                bool is_within = j + 32 * c < n;
                own_terms[c] = is_within ? terms[j + 32 * c] : make_element(0, 0);
                own_x[c] = is_within ? x[j + 32 * c] : make_element(0, 0);
            }
#pragma unroll
            for (int c = 0; c < PREFETCH; ++c) sum += own_terms[c] * own_x[c];
        }
#endif
    }
    if (!SIMD_ROWS) sum = make_element(warp_sum(real_of(sum)), IS_COMPLEX ? warp_sum(imag_of(sum)) : 0);
    for (int c = lane + 32; c < count; c += 32) rest += squares[c];
    rest = warp_sum(rest);
    T tau = make_element(0, 0), inverse = make_element(0, 0), first = make_element(1, 0);
    R beta = real_of(alpha), all = norm_squared(alpha) + rest, part = 0;
    // What is smaller is as nothing beside the matrix, and its squares are not accurate.
    if (all > TINY / EPS && (rest != 0 || imag_of(alpha) != 0)) {
        beta = real_of(alpha) > 0 ? -sqrt(all) : sqrt(all);
        tau = make_element((beta - real_of(alpha)) / beta, -imag_of(alpha) / beta);
        first = alpha - make_element(beta, 0);
        inverse = make_element(1, 0) / first;
    }
    product += sum * inverse;
    if (is_there && (SIMD_ROWS || lane == 0)) {
        if (is_further) {
            inners[(I)blockIdx.x * 2 * PAIRS + slot] = product;
        } else {
            // Rounded once, so that the reflection is as unitary as can be.
            T v = own == 0 ? make_element(1, 0) : magnitude(inverse) == 0 ? inverse : x[row] / first;
            part = real_of(conj_of(v) * product);
            products[(I)blockIdx.x * n + row] = product;
            left[(I)i * n + row] = v;
            right[(I)(PAIRS + i) * n + row] = conj_of(v);
            a[(I)row * n + k] = v;
            if (own == 0) {
                taus[(I)blockIdx.x * n + k] = tau;
                subdiagonals[(I)blockIdx.x * n + k] = beta;
            }
        }
    }
    if (is_further) return;
#if SIMD_ROWS
    part = warp_sum(part);
#else
    __shared__ R shared_parts[ROWS];
    if (lane == 0) shared_parts[threadIdx.y] = part;
    __syncthreads();
    part = 0;
    for (int warp = 0; warp < ROWS; ++warp) part += shared_parts[warp];
#endif
    if (lane == 0 && threadIdx.y == 0) all_parts[(I)blockIdx.x * strips + blockIdx.y] = part;
}
