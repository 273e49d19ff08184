extern "C" __global__ void which(int *out) { *out = __CUDA_ARCH__; }
extern "C" __global__ void scale(float *x, float by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= by;
}
