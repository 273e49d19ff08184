"""cuda.core: a graph captured from a stream and launched twice."""

import numpy as np
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch


def main():
    device = Device()
    device.set_current()
    stream = device.create_stream()
    source = 'extern "C" __global__ void add(int *x, int v) { *x += v; }'
    kernel = (
        Program(source, code_type="c++", options=ProgramOptions(arch="compute_80")).compile("ptx").get_kernel("add")
    )
    buffer = device.memory_resource.allocate(4, stream=stream)
    (code,) = driver.cuMemsetD32Async(int(buffer.handle), 1, 1, stream.handle)
    assert code == driver.CUresult.CUDA_SUCCESS, code
    stream.sync()
    builder = device.create_graph_builder().begin_building()
    one = LaunchConfig(grid=1, block=1)
    launch(builder, one, kernel, buffer, np.int32(10))
    launch(builder, one, kernel, buffer, np.int32(100))
    graph = builder.end_building().complete()
    graph.launch(stream)
    graph.launch(stream)
    result = np.empty(1, dtype=np.int32)
    (code,) = driver.cuMemcpyDtoHAsync(result.ctypes.data, int(buffer.handle), 4, stream.handle)
    assert code == driver.CUresult.CUDA_SUCCESS, code
    stream.sync()
    assert result[0] == 221, result


if __name__ == "__main__":
    main()
