"""cuda.bindings.driver and cuda.bindings.nvrtc: compile, copy, launch, time with events."""

import ctypes

import numpy as np
from cuda.bindings import driver, nvrtc

SOURCE = b"""
extern "C" __global__ void saxpy(float a, const float *x, float *y, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""


def ok(result):
    """The values of a call, which must have succeeded."""
    code, *values = result
    assert code == type(code)(0), code
    return values[0] if len(values) == 1 else values


def main():
    ok(driver.cuInit(0))
    assert ok(driver.cuDriverGetVersion()) >= 13000
    device = ok(driver.cuDeviceGet(0))
    context = ok(driver.cuCtxCreate(None, 0, device))
    program = ok(nvrtc.nvrtcCreateProgram(SOURCE, b"saxpy.cu", 0, [], []))
    ok(nvrtc.nvrtcCompileProgram(program, 1, [b"--gpu-architecture=compute_80"]))
    ptx = b" " * ok(nvrtc.nvrtcGetPTXSize(program))
    ok(nvrtc.nvrtcGetPTX(program, ptx))
    module = ok(driver.cuModuleLoadData(ptx))
    kernel = ok(driver.cuModuleGetFunction(module, b"saxpy"))
    stream = ok(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))
    start, stop = (ok(driver.cuEventCreate(0)) for _ in range(2))

    n = 100_000
    x = np.random.default_rng(1).random(n, dtype=np.float32)
    y = np.ones(n, dtype=np.float32)
    dx, dy = (ok(driver.cuMemAlloc(x.nbytes)) for _ in range(2))
    ok(driver.cuMemcpyHtoDAsync(dx, x.ctypes.data, x.nbytes, stream))
    ok(driver.cuMemcpyHtoDAsync(dy, y.ctypes.data, y.nbytes, stream))
    ok(driver.cuEventRecord(start, stream))
    values = (np.float32(2.5).item(), dx, dy, n)
    kinds = (ctypes.c_float, None, None, ctypes.c_size_t)
    ok(driver.cuLaunchKernel(kernel, (n + 255) // 256, 1, 1, 256, 1, 1, 0, stream, (values, kinds), 0))
    ok(driver.cuEventRecord(stop, stream))
    result = np.empty_like(y)
    ok(driver.cuMemcpyDtoHAsync(result.ctypes.data, dy, y.nbytes, stream))
    ok(driver.cuStreamSynchronize(stream))
    assert ok(driver.cuEventElapsedTime(start, stop)) > 0
    np.testing.assert_allclose(result, 2.5 * x + 1, rtol=1e-6)

    code, _ = driver.cuModuleGetFunction(module, b"no_such_kernel")
    assert code == driver.CUresult.CUDA_ERROR_NOT_FOUND
    ok(driver.cuMemFree(dx))
    ok(driver.cuMemFree(dy))
    ok(driver.cuCtxDestroy(context))


if __name__ == "__main__":
    main()
