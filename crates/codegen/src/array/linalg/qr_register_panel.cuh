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
        x = parts[lane % warps];
    }
    return x;
}

// Householder QR of register panels of m rows and up to WIDTH columns, as array_qr_panel makes them.
extern "C" __global__ void __launch_bounds__(THREADS)
array_qr_register_panel(T *matrices, I stack, I row, int m, int n, T *factors, I factor_stack)
{
    SHARED(products, WARPS * WIDTH);
    SHARED(heads, 2);
    __shared__ R parts[WARPS], sizes[WARPS], scaled[WARPS];
    T *a = matrices + blockIdx.x * stack, *tau = factors + blockIdx.x * factor_stack;
    int t = threadIdx.x, lane = t % 32, warp = t / 32, warps = blockDim.x / 32, length = m < n ? m : n;
    T own[ROWS][WIDTH];
    transfer_panel(own, a, row, m, n, false);
#pragma unroll 1
    for (int k = 0; k < length; ++k) {
        R mine = 0, scale = 1;
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
            if (r * blockDim.x + t > k) mine += norm_squared(own[r][0]);
        if (t == k) heads[k % 2] = own[0][0];
        if (warps == 1) __syncwarp();
        R rest = block_reduce_warps(mine, parts, true);
        T alpha = heads[k % 2];
        R all = rest + norm_squared(alpha);
        if (!(all > TINY / EPS && all < 1 / TINY)) {
            // Squares would vanish or overflow.
            R size = 0;
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                R other = r * blockDim.x + t >= k ? magnitude(own[r][0]) : (R)0;
                size = size > other || size != size ? size : other;
            }
            size = block_reduce_warps(size, sizes, false);
            scale = size == 0 ? (R)1 : size;
            mine = 0;
#pragma unroll
            for (int r = 0; r < ROWS; ++r)
                if (r * blockDim.x + t > k) mine += norm_squared(own[r][0] / make_element(scale, 0));
            rest = block_reduce_warps(mine, scaled, true);
        }
        Reflection found = make_reflector(alpha, rest, scale);
        if (found.is_there) {
            Divisor divisor = divisor_of(found.divisor);
            if (t == k) own[0][0] = make_element(found.beta, 0);
#pragma unroll
            for (int r = 0; r < ROWS; ++r)
                if (r * blockDim.x + t > k) own[r][0] = quotient(own[r][0], divisor);
        }
        if (t == 0) tau[k] = found.factor;
        // Products with the columns on the left are made too, and left alone.
        T sums[WIDTH];
#pragma unroll
        for (int j = 0; j < WIDTH; ++j) sums[j] = make_element(0, 0);
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            int i = r * blockDim.x + t;
            T v = i > k ? conj_of(own[r][0]) : make_element(i == k, 0);
#pragma unroll
            for (int j = 1; j < WIDTH; ++j) sums[j] += v * own[r][j];
        }
        T sum = warp_sum_columns(sums);
        if (warps > 1) {
            if (lane < WIDTH) products[warp * WIDTH + lane] = sum;
            __syncthreads();
            sum = make_element(0, 0);
            for (int w = 0; w < warps; ++w) sum += products[w * WIDTH + lane % WIDTH];
        }
        sum = conj_of(found.factor) * sum;
        T last[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) last[r] = own[r][0];
#pragma unroll
        for (int j = 1; j < WIDTH; ++j) {
            T change = shuffle(sum, j);
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                int i = r * blockDim.x + t;
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
}
