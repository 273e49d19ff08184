extern "C" __global__ void missing_syncthreads(int* out) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[127 - t] = 127 - t + 1;
    out[blockIdx.x * 128 + t] = s[t];
}
extern "C" __global__ void right_syncthreads(int* out) {
    __shared__ int s[128];
    int t = threadIdx.x;
    for (int k = 0; k < 3; k++) {
        s[127 - t] = 127 - t + 1 + k;
        __syncthreads();
        out[blockIdx.x * 128 + t] = s[t];
        __syncthreads();
    }
}
extern "C" __global__ void missing_syncwarp(int* out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = t + 1;
    out[t] = s[t ^ 1];
}
extern "C" __global__ void right_syncwarp(int* out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = t + 1;
    __syncwarp();
    out[t] = s[t ^ 1] + __shfl_xor_sync(0xffffffff, t, 1) + __any_sync(0xffffffff, t == 3);
}
extern "C" __global__ void unlocked(int* counter) {
    if (threadIdx.x == 0) for (int i = 0; i < 4; i++) *(volatile int*)counter = *(volatile int*)counter + 1;
}
extern "C" __global__ void locked(int* counter) {
    if (threadIdx.x == 0) for (int i = 0; i < 4; i++) {
        while (atomicCAS(counter + 1, 0, 1)) {}
        __threadfence();
        *(volatile int*)counter = *(volatile int*)counter + 1;
        __threadfence();
        atomicExch(counter + 1, 0);
    }
}
extern "C" __global__ void block_order(int* out) {
    if (threadIdx.x == 0) out[0] = blockIdx.x;
}
__device__ __noinline__ int total(int v, int* s) {
    s[threadIdx.x] = v;
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < 64; i++) sum += s[i];
    __syncthreads();
    return sum;
}
extern "C" __global__ void right_call(int* out) {
    __shared__ int s[64];
    int v = threadIdx.x;
    if (v & 1) v += 2; else v *= 2;
    out[blockIdx.x * 64 + threadIdx.x] = total(v, s);
}
extern "C" __global__ void grid_barrier(int* out, int* state) {
    int t = threadIdx.x, b = blockIdx.x;
    if (t == 0) out[b] = b + 1;
    __syncthreads();
    if (t == 0) {
        __threadfence();
        atomicAdd(state, 1);
        while (*(volatile int*)state < gridDim.x) {}
        __threadfence();
    }
    __syncthreads();
    if (t == 0) state[1 + b] = *(volatile int*)(out + (b + 1) % gridDim.x);
}
extern "C" __global__ void float_sum(float* out, const float* in) {
    atomicAdd(out, in[blockIdx.x * blockDim.x + threadIdx.x]);
}
