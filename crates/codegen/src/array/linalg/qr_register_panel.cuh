// Elements of a message of one.
#define HEAD (sizeof(T) < 8 ? 2 : 1)
// Columns whose products a thread has at a time.
#define SUMMED (128 / (int)sizeof(T) < WIDTH ? 128 / (int)sizeof(T) : WIDTH)

// What a block has in all: sums, or largest numbers, NaN if there is one. `parts` has a number for each warp.
__device__ R block_reduce_warps(R x, R *parts, bool is_sum)
{
    int lane = threadIdx.x % 32, warps = blockDim.x / 32;
    for (int turn = 0; turn < 2; ++turn) {
        for (int step = turn ? warps / 2 : 16; step > 0; step /= 2) {
            R other = __shfl_xor_sync(0xffffffffu, x, step);
            x = is_sum ? x + other : x > other || x != x ? x : other;
        }
        if (turn || warps == 1) return x;
        if (lane == 0) parts[threadIdx.x / 32] = x;
        __syncthreads();
        // As many warps as a power of two.
        x = parts[lane & (warps - 1)];
    }
    return x;
}

#if CLUSTER > 1
// A number of 8 bytes that holds another one.
__device__ Word word_of(R x) { return sizeof(R) == 4 ? __float_as_uint((float)x) : __double_as_longlong(x); }

// What the blocks of a cluster have in all: sums in the order of blocks, or largest numbers, NaN if there is one.
__device__ R cluster_reduce(R x, Word *slots, Word *mbarrier, int phase, bool is_sum)
{
    if (threadIdx.x < CLUSTER) store_async(threadIdx.x, slots + cluster_rank(), word_of(x), mbarrier);
    wait_mbarrier(mbarrier, phase);
    R all = 0;
#pragma unroll
    for (int block = 0; block < CLUSTER; ++block) {
        R other = sizeof(R) == 4 ? (R)__uint_as_float((unsigned)slots[block]) : (R)__longlong_as_double(slots[block]);
        all = block == 0 ? other : is_sum ? all + other : all > other || all != all ? all : other;
    }
    return all;
}
#endif

// Householder QR of register panels of m rows and up to WIDTH columns, as array_qr_panel makes them.
extern "C" __global__ void CLUSTER_DIMS __launch_bounds__(THREADS)
array_qr_register_panel(T *matrices, I stack, I row, int m, int n, T *factors, I factor_stack)
{
    SHARED(products, (WARPS + 1) * WIDTH);
    SHARED(heads, 2 * HEAD);
    __shared__ R parts[WARPS], sizes[WARPS], scaled[WARPS];
#if CLUSTER > 1
    // Numbers of blocks: squares, sizes, scaled squares, each twice, so that none is overwritten before all have read it.
    __shared__ Word of_blocks[6][CLUSTER], mbarriers[8];
    SHARED(all_block_products, 2 * CLUSTER * WIDTH);
    init_mbarriers(mbarriers, 8);
    int n_scaled = 0;
#endif
    T *a = matrices + blockIdx.x / CLUSTER * stack, *tau = factors + blockIdx.x / CLUSTER * factor_stack;
    int t = threadIdx.x, lane = t % 32, warp = t / 32, warps = blockDim.x / 32, length = m < n ? m : n;
    bool is_first = cluster_rank() == 0;
    T own[ROWS][WIDTH];
    transfer_panel(own, a, row, m, n, false);
#pragma unroll 1
    for (int k = 0; k < length; ++k) {
        R mine = 0, scale = 1;
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
            if (first_row(r) + t > k) mine += norm_squared(own[r][0]);
        if (is_first && t == k) heads[k % 2 * HEAD] = own[0][0];
        if (warps == 1) __syncwarp();
        R rest = block_reduce_warps(mine, parts, true);
#if CLUSTER > 1
        expect_bytes(mbarriers + k % 2, CLUSTER * 8 + (sizeof(T) < 8 ? 8 : sizeof(T)));
        if (is_first) store_to_blocks(heads + k % 2 * HEAD, heads + k % 2 * HEAD, HEAD * sizeof(T) / 8, mbarriers + k % 2);
        rest = cluster_reduce(rest, of_blocks[k % 2], mbarriers + k % 2, k / 2, true);
#endif
        T alpha = heads[k % 2 * HEAD];
        R all = rest + norm_squared(alpha);
        if (!(all > TINY / EPS && all < 1 / TINY)) {
            // Squares would vanish or overflow.
            R size = 0;
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                R other = first_row(r) + t >= k ? magnitude(own[r][0]) : (R)0;
                size = size > other || size != size ? size : other;
            }
            size = block_reduce_warps(size, sizes, false);
#if CLUSTER > 1
            int half = n_scaled % 2;
            expect_bytes(mbarriers + 2 + half, CLUSTER * 8);
            size = cluster_reduce(size, of_blocks[2 + half], mbarriers + 2 + half, n_scaled / 2, false);
#endif
            scale = size == 0 ? (R)1 : size;
            mine = 0;
#pragma unroll
            for (int r = 0; r < ROWS; ++r)
                if (first_row(r) + t > k) mine += norm_squared(own[r][0] / make_element(scale, 0));
            rest = block_reduce_warps(mine, scaled, true);
#if CLUSTER > 1
            expect_bytes(mbarriers + 4 + half, CLUSTER * 8);
            rest = cluster_reduce(rest, of_blocks[4 + half], mbarriers + 4 + half, n_scaled++ / 2, true);
#endif
        }
        Reflection found = make_reflector(alpha, rest, scale);
        if (found.is_there) {
            Divisor divisor = divisor_of(found.divisor);
            if (is_first && t == k) own[0][0] = make_element(found.beta, 0);
#pragma unroll
            for (int r = 0; r < ROWS; ++r)
                if (first_row(r) + t > k) own[r][0] = quotient(own[r][0], divisor);
        }
        if (is_first && t == 0) tau[k] = found.factor;
        // Products with the columns on the left are made too, and left alone.
        T sum = make_element(0, 0);
#pragma unroll
        for (int first = 0; first < WIDTH; first += SUMMED) {
            T sums[SUMMED];
#pragma unroll
            for (int j = 0; j < SUMMED; ++j) sums[j] = make_element(0, 0);
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                int i = first_row(r) + t;
                T v = i > k ? conj_of(own[r][0]) : make_element(i == k, 0);
#pragma unroll
                for (int j = first ? 0 : 1; j < SUMMED; ++j) sums[j] += v * own[r][first + j];
            }
            T found_sum = warp_sum_columns(sums);
            if (lane % WIDTH / SUMMED * SUMMED == first) sum = found_sum;
        }
        if (warps > 1) {
            if (lane < WIDTH) products[warp * WIDTH + lane] = sum;
            __syncthreads();
            sum = make_element(0, 0);
            for (int w = 0; w < warps; ++w) sum += products[w * WIDTH + lane % WIDTH];
        }
#if CLUSTER > 1
        T *block_products = all_block_products + k % 2 * CLUSTER * WIDTH;
        Word *mbarrier = mbarriers + 6 + k % 2;
        expect_bytes(mbarrier, CLUSTER * WIDTH * sizeof(T));
        T *place = block_products + cluster_rank() * WIDTH;
        if (sizeof(T) == 8) {
            // Threads have the sum of the column that they send.
            Word word;
            memcpy(&word, &sum, 8);
            for (int e = t; e < CLUSTER * WIDTH; e += blockDim.x) store_async(e / WIDTH, place + e % WIDTH, word, mbarrier);
        } else {
            if (warp == 0) products[WARPS * WIDTH + lane % WIDTH] = sum;
            __syncthreads();
            store_to_blocks(products + WARPS * WIDTH, place, WIDTH * sizeof(T) / 8, mbarrier);
        }
        wait_mbarrier(mbarrier, k / 2);
        sum = make_element(0, 0);
#pragma unroll
        for (int block = 0; block < CLUSTER; ++block) sum += block_products[block * WIDTH + lane % WIDTH];
#endif
        sum = conj_of(found.factor) * sum;
        T last[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) last[r] = own[r][0];
#pragma unroll
        for (int j = 1; j < WIDTH; ++j) {
            T change = shuffle(sum, j);
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                int i = first_row(r) + t;
                T x = own[r][j];
                if (i >= k && j < WIDTH - k) x -= i > k ? last[r] * change : change;
                own[r][j - 1] = x;
            }
        }
#pragma unroll
        for (int r = 0; r < ROWS; ++r) own[r][WIDTH - 1] = last[r];
    }
    restore_column_order(own, length);
    transfer_panel(own, a, row, m, n, true);
    cluster_barrier();
}
