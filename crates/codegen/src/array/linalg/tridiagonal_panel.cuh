// A panel of `count` columns of a Hermitian matrix from column k0 on, by all blocks of a cooperative launch: what
// tridiagonal_column.cuh and tridiagonal_product.cuh do one after the other. Each block has `rows` adjacent rows of what
// is left of the matrix, `cached` of them in shared memory, and their parts of the vectors; and one row of `right`, whose
// product with v it computes. A lane has terms of one of the PAIRS = 32 vectors v and of one w. The last warp computes
// reflectors while the others have products.
#define WARPS (THREADS / 32 - 1)
#define ROWS_AT_ONCE 8
#define COLUMN_LOADS 4
#define MAX_BLOCKS 256

// What all blocks read after a barrier: products of vectors and the last v, terms of the next row, its product, and parts
// of v^H A v.
#define TERMS (2 * PAIRS)
#define FIRST_PRODUCT (4 * PAIRS)
#define PARTS (FIRST_PRODUCT + 1)

// Adds products of x with `count` rows, of elements from e on: as many of them are read at once as registers hold, where
// rows are not in shared memory.
template <bool IS_SHARED, int COUNT> __device__ void add_products(const T *rows, I pitch, int count, const T *x, int e, int size, T (&sum)[COUNT])
{
    constexpr int STEP = 32 * WARPS, AT_ONCE = IS_SHARED || IS_COMPLEX ? 1 : 2;
#pragma unroll IS_SHARED ? 2 : 1
    for (; e < size; e += STEP * AT_ONCE) {
        T terms[AT_ONCE][COUNT];
#pragma unroll
        for (int c = 0; c < AT_ONCE; ++c)
#pragma unroll
            for (int u = 0; u < COUNT; ++u)
                terms[c][u] = u < count && e + c * STEP < size ? rows[u * pitch + e + c * STEP] : make_element(0, 0);
#pragma unroll
        for (int c = 0; c < AT_ONCE; ++c) {
            T factor = e + c * STEP < size ? x[e + c * STEP] : make_element(0, 0);
#pragma unroll
            for (int u = 0; u < COUNT; ++u) sum[u] += terms[c][u] * factor;
        }
    }
}

// Products of x with `count` rows, of elements from c on, of which each warp has some.
template <bool IS_SHARED> __device__ void multiply_rows(const T *rows, I pitch, int count, const T *x, int c, int size, T *sums)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int first = 0; first < count; first += ROWS_AT_ONCE) {
        T sum[ROWS_AT_ONCE];
#pragma unroll
        for (int u = 0; u < ROWS_AT_ONCE; ++u) sum[u] = make_element(0, 0);
        // The compiler knows when all rows are there.
        int here = count - first < ROWS_AT_ONCE ? count - first : ROWS_AT_ONCE;
        if (here == ROWS_AT_ONCE) add_products<IS_SHARED>(rows + first * pitch, pitch, ROWS_AT_ONCE, x, c + threadIdx.x, size, sum);
        else add_products<IS_SHARED>(rows + first * pitch, pitch, here, x, c + threadIdx.x, size, sum);
        T all = warp_sum_columns(sum);
        if (lane < here) sums[(first + lane) * (WARPS + 1) + warp] = all;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
array_tridiagonal_panel(T *a, int n, int k0, int count, int rows, int cached, T *taus, R *diagonals, R *subdiagonals,
                        T *left, T *right, T *published, T *columns, unsigned *arrived)
{
    extern __shared__ double memory[];
    SHARED(sums, 32 * (WARPS + 1));
    SHARED(own_products, 32);
    SHARED(reflector, 2);  // tau and the inverse of what v is divided by
    SHARED(received, PARTS + MAX_BLOCKS);
    __shared__ R squares[32];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, size = n - k0, pitch = size | 1;
    int first_row = k0 + blockIdx.x * rows, own_rows = n - first_row < rows ? n - first_row : rows;
    if (own_rows < 0) own_rows = 0;
    if (cached > own_rows) cached = own_rows;
    // By columns from k0 on: the column, rows of the matrix, a row of `right`. Vectors v and then w, of each row.
    T *x = (T *)memory, *cache = x + pitch, *further = cache + cached * pitch, *vectors = further + pitch;
    for (int q = 0; q < cached; ++q)
#pragma unroll 4
        for (int c = t; c < size; c += THREADS) cache[q * pitch + c] = a[(I)(first_row + q) * n + k0 + c];
    const T *uncached = a + (I)first_row * n + k0;
    unsigned goal = 0;
    T zero = make_element(0, 0), one = make_element(1, 0);
    if (t == 0) reflector[0] = zero;
    __syncthreads();
    for (int k = k0;; ++k) {
        // The second vector of the last reflector, and column k.
        int i = k - k0, done = i > 0 ? i - 1 : 0;
        bool is_last = i == count, has_terms = lane < done;
        for (int e = t; i > 0 && e < PARTS + gridDim.x; e += THREADS) received[e] = load_from_l2(published + e);
        __syncthreads();
        T v_inner = has_terms ? received[lane] : zero, w_inner = has_terms ? received[PAIRS + lane] : zero;
        T v_here = has_terms ? received[TERMS + lane] : zero, w_here = has_terms ? received[TERMS + PAIRS + lane] : zero;
        T tau = reflector[0];
        for (int q = warp; q < own_rows; q += WARPS + 1) {
            int row = first_row + q;
            if (row < k) continue;
            T own = is_last || lane > 0 ? zero : q < cached ? cache[q * pitch + i] : uncached[(I)q * n + i];
            T v = has_terms ? vectors[q * 2 * PAIRS + lane] : zero, w = has_terms ? vectors[q * 2 * PAIRS + PAIRS + lane] : zero;
            R part = -2 * real_of(conj_of(w_inner) * v_inner);
            for (int block = lane; i > 0 && block < gridDim.x; block += 32) part += real_of(received[PARTS + block]);
            // What is taken from the product in row k and in this one, v^H A v, what is taken from the column.
            T all[4] = {v_here * v_inner + w_here * w_inner, v * v_inner + w * w_inner, make_element(part, 0),
                        v * conj_of(w_here) + w * conj_of(v_here)};
            T each = warp_sum_columns(all), taken_first = each, taken = shuffle(each, 1);
            R squared = real_of(shuffle(each, 2));
            own -= shuffle(each, 3);
            if (lane > 0) continue;
            if (i > 0) {
                // v begins with 1 in row k.
                R half = norm_squared(tau) * squared / 2;
                T first = tau * (received[FIRST_PRODUCT] - taken_first) - make_element(half, 0);
                T own_v = vectors[q * 2 * PAIRS + done];
                w = tau * (own_products[q] - taken) - half * own_v;
                vectors[q * 2 * PAIRS + PAIRS + done] = w;
                left[(I)(PAIRS + done) * n + row] = w;
                right[(I)done * n + row] = conj_of(w);
                own -= own_v * conj_of(first) + w;
            }
            if (!is_last) columns[row] = own;
            if (!is_last && row == k) diagonals[k] = real_of(own);
        }
        if (is_last || k == n - 1) return;
        grid_barrier(arrived, goal += gridDim.x);
        // The reflector of column k, and products with its vector.
        int c0 = i + 1, skipped = k + 1 - first_row;
        if (skipped >= 0 && skipped < own_rows && t < 2 * PAIRS) published[TERMS + t] = vectors[skipped * 2 * PAIRS + t];
        if (skipped < 0) skipped = 0;
        if (skipped > own_rows) skipped = own_rows;
        bool has_further = blockIdx.x < 2 * PAIRS && blockIdx.x % PAIRS < i, is_new = blockIdx.x == done && i > 0;
        R rest = 0;
        for (int c = c0 + t; c < size; c += THREADS * COLUMN_LOADS) {
            // All are on their way before the first is waited for.
            T own[COLUMN_LOADS];
#pragma unroll
            for (int u = 0; u < COLUMN_LOADS; ++u)
                own[u] = c + u * THREADS < size ? load_from_l2(columns + k0 + c + u * THREADS) : zero;
#pragma unroll
            for (int u = 0; u < COLUMN_LOADS; ++u)
                if (c + u * THREADS < size) {
                    x[c + u * THREADS] = own[u];
                    if (c + u * THREADS > c0) rest += norm_squared(own[u]);
                }
        }
        if (is_new)
#pragma unroll 4
            for (int c = c0 + t; c < size; c += THREADS) further[c] = load_from_l2(right + (I)done * n + k0 + c);
        rest = warp_sum(rest);
        if (lane == 0) squares[warp] = rest;
        __syncthreads();
        T inverse = zero, v = zero;
        if (warp < WARPS) {
            // The further row is behind those cached; its sums are behind those of all rows.
            int in_memory = skipped > cached ? skipped : cached, in_cache = skipped < cached ? skipped : cached;
            bool is_next = cached == own_rows;
            if (in_memory < own_rows)
                multiply_rows<false>(uncached + (I)in_memory * n, n, own_rows - in_memory, x, c0 + 1, size, sums + in_memory * (WARPS + 1));
            multiply_rows<true>(cache + in_cache * pitch, pitch, cached - in_cache + (is_next && has_further), x, c0 + 1, size, sums + in_cache * (WARPS + 1));
            if (has_further && !is_next) multiply_rows<true>(further, pitch, 1, x, c0 + 1, size, sums + own_rows * (WARPS + 1));
        } else {
            T alpha = x[c0], tau = zero, divisor = one;
            rest = warp_sum(lane <= WARPS ? squares[lane] : 0);
            R beta = real_of(alpha), all = norm_squared(alpha) + rest;
            // What is smaller is as nothing beside the matrix, and its squares are not accurate.
            if (all > TINY / EPS && (rest != 0 || imag_of(alpha) != 0)) {
                beta = real_of(alpha) > 0 ? -sqrt(all) : sqrt(all);
                tau = make_element((beta - real_of(alpha)) / beta, -imag_of(alpha) / beta);
                divisor = alpha - make_element(beta, 0);
                inverse = one / divisor;
            }
            int c = first_row + lane - k0;
            // Rounded once, so that the reflection is as unitary as can be.
            if (lane >= skipped && lane < own_rows) v = c == c0 ? one : magnitude(inverse) == 0 ? zero : x[c] / divisor;
            if (lane == 0) {
                reflector[0] = tau;
                reflector[1] = inverse;
                if (blockIdx.x == 0) {
                    taus[k] = tau;
                    subdiagonals[k] = beta;
                }
            }
        }
        __syncthreads();
        if (warp == WARPS) {
            R part = 0;
            if (lane >= skipped && lane < own_rows + has_further) {
                T sum = zero;
#pragma unroll
                for (int other = 0; other < WARPS; ++other) sum += sums[lane * (WARPS + 1) + other];
                bool is_further = lane == own_rows;
                int row = first_row + lane;
                T product = (is_further ? further[c0] : lane < cached ? cache[lane * pitch + c0] : uncached[(I)lane * n + c0]) + sum * inverse;
                if (is_further) {
                    published[blockIdx.x] = product;
                } else {
                    part = real_of(conj_of(v) * product);
                    own_products[lane] = product;
                    if (row == k + 1) published[FIRST_PRODUCT] = product;
                    vectors[lane * 2 * PAIRS + i] = left[(I)i * n + row] = v;
                    right[(I)(PAIRS + i) * n + row] = conj_of(v);
                    a[(I)row * n + k] = v;
                }
            }
            part = warp_sum(part);
            if (lane == 0) published[PARTS + blockIdx.x] = make_element(part, 0);
        } else if (blockIdx.x == PAIRS + i) {
            for (int c = c0 + t; c < size; c += 32 * WARPS) further[c] = c == c0 ? one : conj_of(x[c] * reflector[1]);
        }
        grid_barrier(arrived, goal += gridDim.x);
    }
}
