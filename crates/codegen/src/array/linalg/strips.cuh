// Strips of up to WIDTH columns in registers, of which a thread has every blockDim.x-th row.
#define ROWS GROUP
#define WARPS (STRIP_THREADS / 32)
#define CHUNK (sizeof(T) < 32 ? 32 / (int)sizeof(T) : 1)

// Brings a warp's rows of a strip from memory or back, some columns at a time, so that neighbouring lanes meet
// neighbouring elements. Rows that are not there are zero.
__device__ void move_strip(T (&own)[ROWS][WIDTH], T *a, I row, int m, int n, bool is_back)
{
    SHARED(all, WARPS * 32 * (CHUNK + 1));
    int lane = threadIdx.x % 32;
    T *stage = all + threadIdx.x / 32 * 32 * (CHUNK + 1);
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        int first = r * blockDim.x + threadIdx.x - lane;
        if (first >= m) {
#pragma unroll
            for (int j = 0; j < WIDTH; ++j) own[r][j] = made_of(0, 0);
            continue;
        }
#pragma unroll
        for (int c = 0; c < WIDTH; c += CHUNK) {
            if (is_back)
#pragma unroll
                for (int j = 0; j < CHUNK && c + j < WIDTH; ++j) stage[lane * (CHUNK + 1) + j] = own[r][c + j];
            __syncwarp();
            for (int e = lane; e < 32 * CHUNK; e += 32) {
                int i = e / CHUNK, j = e % CHUNK;
                if (first + i >= m || c + j >= n || c + j >= WIDTH) continue;
                if (is_back) a[(first + i) * row + c + j] = stage[i * (CHUNK + 1) + j];
                else stage[i * (CHUNK + 1) + j] = a[(first + i) * row + c + j];
            }
            __syncwarp();
            if (!is_back)
#pragma unroll
                for (int j = 0; j < CHUNK && c + j < WIDTH; ++j) own[r][c + j] = first + lane < m ? stage[lane * (CHUNK + 1) + j] : made_of(0, 0);
        }
    }
}
