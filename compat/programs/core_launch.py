"""cuda.core: devices, streams, events, programs from C++ and PTX, templates, buffers, errors."""

import numpy as np
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

SOURCE = r"""
template <typename T> __global__ void add(const T *a, const T *b, T *c, size_t n) {
    const size_t stride = blockDim.x * (size_t)gridDim.x;
    for (size_t i = threadIdx.x + blockIdx.x * (size_t)blockDim.x; i < n; i += stride) c[i] = a[i] + b[i];
}
"""


def main():
    device = Device()
    device.set_current()
    assert device.arch == "80" and tuple(device.compute_capability) == (8, 0)
    assert device.properties.warp_size == 32
    stream = device.create_stream()
    program = Program(SOURCE, code_type="c++", options=ProgramOptions(std="c++17", arch="compute_80"))
    module = program.compile("ptx", name_expressions=("add<float>", "add<double>"))
    host = device.memory_resource
    for name, dtype in (("add<float>", np.float32), ("add<double>", np.float64)):
        kernel = module.get_kernel(name)
        n = 50_000
        a, b = np.random.default_rng(2).random((2, n)).astype(dtype)
        buffers = [host.allocate(a.nbytes, stream=stream) for _ in range(3)]
        copy(buffers[0], a, stream)
        copy(buffers[1], b, stream)
        begun = stream.record()
        launch(stream, LaunchConfig(grid=64, block=256), kernel, *buffers, np.uint64(n))
        ended = stream.record()
        result = np.empty_like(a)
        copy_back(result, buffers[2], stream)
        stream.sync()
        assert begun.is_done and ended.is_done
        np.testing.assert_array_equal(result, a + b)
        for buffer in buffers:
            buffer.close(stream)
    assert kernel.attributes.max_threads_per_block == 1024
    try:
        module.get_kernel("add<int>")
    except Exception as error:
        assert "NOT_FOUND" in str(error) or "add<int>" in str(error), error
    else:
        raise AssertionError("a kernel that is not there")


def copy(buffer, array, stream):
    from cuda.bindings import driver

    (code,) = driver.cuMemcpyHtoDAsync(int(buffer.handle), array.ctypes.data, array.nbytes, stream.handle)
    assert code == driver.CUresult.CUDA_SUCCESS, code


def copy_back(array, buffer, stream):
    from cuda.bindings import driver

    (code,) = driver.cuMemcpyDtoHAsync(array.ctypes.data, int(buffer.handle), array.nbytes, stream.handle)
    assert code == driver.CUresult.CUDA_SUCCESS, code


if __name__ == "__main__":
    main()
