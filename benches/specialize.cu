// Convolutions and a bilateral filter as one would write them by hand; borders are those of the nearest element.

extern "C" {

__constant__ float weights[343];

#define COLUMNS 32

// 5 x 5 weights. A block of 32 x 8 threads makes 32 x 32 elements, four below each other by a thread.
__global__ void __launch_bounds__(256) convolve_5x5(const float *image, float *out, int width, int height)
{
    __shared__ float tile[36][COLUMNS + 4];
    const int x0 = blockIdx.x * COLUMNS, y0 = blockIdx.y * 32;
    for (int y = threadIdx.y; y < 36; y += 8)
        for (int x = threadIdx.x; x < COLUMNS + 4; x += COLUMNS)
            tile[y][x] = image[(long long)min(max(y0 + y - 2, 0), height - 1) * width + min(max(x0 + x - 2, 0), width - 1)];
    __syncthreads();
    float sums[4] = {};
    const int y = threadIdx.y * 4;
#pragma unroll
    for (int column = 0; column < 5; ++column) {
        float values[8];
#pragma unroll
        for (int i = 0; i < 8; ++i)
            values[i] = tile[y + i][threadIdx.x + column];
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
            for (int row = 0; row < 5; ++row)
                sums[i] = fmaf(weights[row * 5 + column], values[i + row], sums[i]);
    }
    for (int i = 0; i < 4; ++i)
        if (x0 + threadIdx.x < width && y0 + y + i < height)
            out[(long long)(y0 + y + i) * width + x0 + threadIdx.x] = sums[i];
}

// 7 x 7 x 7 weights. A block of 32 x 8 threads goes through the planes of a part of the depth; a thread holds the sums of
// the seven planes that the current one adds to, and makes two rows.
__global__ void __launch_bounds__(256) convolve_7x7x7(const float *image, float *out, int width, int height, int depth,
                                                      int planes)
{
    __shared__ float tile[22][COLUMNS + 6];
    const int x0 = blockIdx.x * COLUMNS, y0 = blockIdx.y * 16, first = blockIdx.z * planes;
    float sums[7][2] = {};
    for (int z = first - 3; z < min(first + planes, depth) + 3; ++z) {
        const float *plane = image + (long long)min(max(z, 0), depth - 1) * width * height;
        __syncthreads();
        for (int y = threadIdx.y; y < 22; y += 8)
            for (int x = threadIdx.x; x < COLUMNS + 6; x += COLUMNS)
                tile[y][x] = plane[(long long)min(max(y0 + y - 3, 0), height - 1) * width + min(max(x0 + x - 3, 0), width - 1)];
        __syncthreads();
        const int y = threadIdx.y * 2;
#pragma unroll
        for (int row = 0; row < 8; ++row)
#pragma unroll
            for (int column = 0; column < 7; ++column) {
                const float value = tile[y + row][threadIdx.x + column];
#pragma unroll
                for (int i = 0; i < 7; ++i) {
                    if (row < 7)
                        sums[i][0] = fmaf(weights[((6 - i) * 7 + row) * 7 + column], value, sums[i][0]);
                    if (row > 0)
                        sums[i][1] = fmaf(weights[((6 - i) * 7 + row - 1) * 7 + column], value, sums[i][1]);
                }
            }
        for (int i = 0; i < 2; ++i) {
            if (z - 3 >= first && x0 + threadIdx.x < width && y0 + y + i < height)
                out[((long long)(z - 3) * height + y0 + y + i) * width + x0 + threadIdx.x] = sums[0][i];
#pragma unroll
            for (int k = 0; k < 6; ++k)
                sums[k][i] = sums[k + 1][i];
            sums[6][i] = 0;
        }
    }
}

#define RADIUS 9

// weights: of distances, (2 RADIUS + 1)^2 of them. A block of 32 x 8 threads makes 32 x 16 elements.
__constant__ float distances[(2 * RADIUS + 1) * (2 * RADIUS + 1)];

__global__ void __launch_bounds__(256) bilateral(const float *image, float *out, int width, int height, float scale)
{
    __shared__ float tile[16 + 2 * RADIUS][COLUMNS + 2 * RADIUS];
    const int x0 = blockIdx.x * COLUMNS, y0 = blockIdx.y * 16;
    for (int y = threadIdx.y; y < 16 + 2 * RADIUS; y += 8)
        for (int x = threadIdx.x; x < COLUMNS + 2 * RADIUS; x += COLUMNS)
            tile[y][x] = image[min(max(y0 + y - RADIUS, 0), height - 1) * width + min(max(x0 + x - RADIUS, 0), width - 1)];
    __syncthreads();
    for (int y = threadIdx.y; y < 16; y += 8) {
        const float here = tile[y + RADIUS][threadIdx.x + RADIUS];
        float sum = 0, total = 0;
        for (int row = 0; row <= 2 * RADIUS; ++row)
#pragma unroll
            for (int column = 0; column <= 2 * RADIUS; ++column) {
                const float value = tile[y + row][threadIdx.x + column], step = (value - here) * scale;
                const float weight = expf(distances[row * (2 * RADIUS + 1) + column] - step * step);
                sum = fmaf(weight, value, sum);
                total += weight;
            }
        if (x0 + threadIdx.x < width && y0 + y < height)
            out[(y0 + y) * width + x0 + threadIdx.x] = sum / total;
    }
}
}
