"""cuda.core.Linker with the driver behind it: two PTX texts, one of which calls the other."""

import numpy as np
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, Linker, LinkerOptions, ObjectCode, Program, ProgramOptions, launch

CALLER = (
    'extern __device__ int twice(int); extern "C" __global__ void k(int *x) { x[threadIdx.x] = twice(threadIdx.x); }'
)
CALLED = "__device__ int twice(int v) { return 2 * v; }"


def main():
    device = Device()
    device.set_current()
    stream = device.create_stream()
    options = ProgramOptions(arch="compute_80", relocatable_device_code=True)
    objects = [Program(text, code_type="c++", options=options).compile("ptx") for text in (CALLER, CALLED)]
    linked = Linker(*objects, options=LinkerOptions(arch="sm_80")).link("cubin")
    assert isinstance(linked, ObjectCode)
    kernel = linked.get_kernel("k")
    buffer = device.memory_resource.allocate(128, stream=stream)
    launch(stream, LaunchConfig(grid=1, block=32), kernel, buffer)
    result = np.empty(32, dtype=np.int32)
    (code,) = driver.cuMemcpyDtoHAsync(result.ctypes.data, int(buffer.handle), 128, stream.handle)
    assert code == driver.CUresult.CUDA_SUCCESS, code
    stream.sync()
    np.testing.assert_array_equal(result, 2 * np.arange(32))


if __name__ == "__main__":
    main()
