// Strips of up to WIDTH columns in registers, of which a thread has every blockDim.x-th row. Loops over columns are not
// unrolled: a step works on the first element of each row and turns the row by one.
#define ROWS GROUP
#define WARPS (STRIP_THREADS / 32)
#define CHUNK (sizeof(T) < 32 ? 32 / (int)sizeof(T) : 1)

// Brings a warp's rows of a strip from memory or back, some columns at a time, so that neighbouring lanes meet
// neighbouring elements. Rows that are not there are zero.
__device__ void move_strip(T (&own)[ROWS][WIDTH], T *a, I row, int m, int n, bool is_back)
{
    SHARED(all, WARPS * 32 * (CHUNK + 1));
    int lane = threadIdx.x % 32;
    T *stage = all + threadIdx.x / 32 * 32 * (CHUNK + 1), *mine = stage + lane * (CHUNK + 1);
#pragma unroll 1
    for (int r = 0; r < ROWS; ++r) {
        int first = r * blockDim.x + threadIdx.x - lane;
        T moved[WIDTH];
#pragma unroll
        for (int j = 0; j < WIDTH; ++j) moved[j] = is_back ? own[0][j] : made_of(0, 0);
#pragma unroll
        for (int c = 0; c < WIDTH; c += CHUNK) {
            if (first >= m || c >= n) break;
            if (is_back)
#pragma unroll
                for (int j = 0; j < CHUNK && c + j < WIDTH; ++j) mine[j] = moved[c + j];
            __syncwarp();
#pragma unroll
            for (int part = 0; part < CHUNK; ++part) {
                int i = (part * 32 + lane) / CHUNK, j = lane % CHUNK;
                if (first + i >= m || c + j >= n || c + j >= WIDTH) continue;
                T *element = a + (first + i) * row + c + j;
                if (is_back) *element = stage[i * (CHUNK + 1) + j];
                else stage[i * (CHUNK + 1) + j] = *element;
            }
            __syncwarp();
            if (!is_back && first + lane < m)
#pragma unroll
                for (int j = 0; j < CHUNK && c + j < WIDTH; ++j) moved[c + j] = mine[j];
            __syncwarp();
        }
        // Rows are turned too.
#pragma unroll
        for (int j = 0; j < WIDTH; ++j) {
#pragma unroll
            for (int q = 1; q < ROWS; ++q) own[q - 1][j] = own[q][j];
            own[ROWS - 1][j] = moved[j];
        }
    }
}

// Turns rows by as many elements as make up a whole turn after `steps` of them.
__device__ void turn_back(T (&own)[ROWS][WIDTH], int steps)
{
#pragma unroll 1
    for (int k = steps; k < WIDTH; ++k)
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            T first = own[r][0];
#pragma unroll
            for (int j = 1; j < WIDTH; ++j) own[r][j - 1] = own[r][j];
            own[r][WIDTH - 1] = first;
        }
}
