// Register panels of up to WIDTH columns. The blocks of a cluster take blockDim.x rows in turn, of which a thread has one.
// Loops over columns are not unrolled: a step works on the first element of each row and rotates the row by one.
#define ROWS GROUP
#define WARPS (THREADS / 32)
#define CHUNK (32 / (int)sizeof(T) < WIDTH ? 32 / (int)sizeof(T) : WIDTH)

// Elements of 16 bytes.
#define VECTOR (16 / (int)sizeof(T) < WIDTH ? 16 / (int)sizeof(T) : WIDTH)
struct alignas(VECTOR * sizeof(T)) Vector { unsigned words[VECTOR * sizeof(T) / 4]; };

__device__ void read_vector(T *to, const T *shared)
{
    Vector v = *(const Vector *)shared;
    memcpy(to, &v, sizeof v);
}

// Copies a row of a register panel to or from shared memory.
__device__ void write_row(T *shared, const T (&own)[WIDTH])
{
#pragma unroll
    for (int j = 0; j < WIDTH; j += VECTOR) {
        Vector v;
        memcpy(&v, own + j, sizeof v);
        *(Vector *)(shared + j) = v;
    }
}
__device__ void read_row(T (&own)[WIDTH], const T *shared)
{
#pragma unroll
    for (int j = 0; j < WIDTH; j += VECTOR) read_vector(own + j, shared + j);
}

// The first of the rows that the block takes in a turn.
__device__ int first_row(int turn) { return (turn * CLUSTER + cluster_rank()) * blockDim.x; }

// Loads or stores a warp's rows of a register panel, some columns at a time, so that adjacent lanes meet
// adjacent elements. Rows that are not there are zero.
__device__ void transfer_panel(T (&own)[ROWS][WIDTH], T *a, I row, int m, int n, bool is_back)
{
    SHARED(all, WARPS * 32 * (CHUNK + 1));
    int lane = threadIdx.x % 32;
    T *stage = all + threadIdx.x / 32 * 32 * (CHUNK + 1);
#pragma unroll 1
    for (int r = 0; r < ROWS; ++r) {
        int first = first_row(r) + threadIdx.x - lane;
        // What lanes exchange: elements of adjacent places, or those of their own rows.
        T moved[WIDTH];
#pragma unroll
        for (int j = 0; j < WIDTH; ++j) {
            int i = (j % CHUNK * 32 + lane) / CHUNK, column = j / CHUNK * CHUNK + lane % CHUNK;
            bool is_there = !is_back && first + i < m && column < n;
            moved[j] = is_back ? own[0][j] : is_there ? a[(first + i) * row + column] : make_element(0, 0);
        }
#pragma unroll
        for (int c = 0; c < WIDTH; c += CHUNK) {
            if (first >= m || c >= n) break;
#pragma unroll
            for (int j = 0; j < CHUNK; ++j) {
                int place = is_back ? lane * (CHUNK + 1) + j : (j * 32 + lane) / CHUNK * (CHUNK + 1) + lane % CHUNK;
                stage[place] = moved[c + j];
            }
            __syncwarp();
#pragma unroll
            for (int j = 0; j < CHUNK; ++j) {
                int i = (j * 32 + lane) / CHUNK, column = c + lane % CHUNK;
                if (is_back && first + i < m && column < n)
                    a[(first + i) * row + column] = stage[i * (CHUNK + 1) + lane % CHUNK];
                if (!is_back) moved[c + j] = stage[lane * (CHUNK + 1) + j];
            }
            __syncwarp();
        }
        // Rows are rotated too.
#pragma unroll
        for (int j = 0; j < WIDTH; ++j) {
#pragma unroll
            for (int q = 1; q < ROWS; ++q) own[q - 1][j] = own[q][j];
            own[ROWS - 1][j] = moved[j];
        }
    }
}

// Rotates rows by as many elements as complete a full rotation after `steps` of them.
__device__ void restore_column_order(T (&own)[ROWS][WIDTH], int steps)
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
