"""What a kernel costs and what the device offers: `DeviceData`, occupancy, memory pools, times, a trace of calls."""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np

import pycuda.autoinit
import pycuda.driver as cuda
import pycuda.gpuarray as gpuarray
from pycuda.compiler import SourceModule
from pycuda.tools import DeviceData, DeviceMemoryPool, OccupancyRecord
from rtcg import tracing

SOURCE = """
__global__ void smooth(float *out, const float *in, int n)
{
    __shared__ float tile[258];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x + 1] = i < n ? in[i] : 0;
    if (threadIdx.x == 0) tile[0] = i > 0 ? in[i - 1] : 0;
    if (threadIdx.x == blockDim.x - 1) tile[blockDim.x + 1] = i + 1 < n ? in[i + 1] : 0;
    __syncthreads();
    if (i < n) out[i] = (tile[threadIdx.x] + tile[threadIdx.x + 1] + tile[threadIdx.x + 2]) / 3;
}
"""
N, BLOCK = 1 << 18, 256
GRID = (N // BLOCK, 1)


def occupancy(kernel):
    """Blocks per multiprocessor: by the rules of `OccupancyRecord`, and as the driver answers."""
    data = DeviceData()
    record = OccupancyRecord(data, BLOCK, shared_mem=kernel.shared_size_bytes, registers=kernel.num_regs)
    print(f"device: {data.max_threads} threads a block, warps of {data.warp_size}, {data.shared_memory} bytes shared")
    print(f"kernel: {kernel.num_regs} registers, {kernel.shared_size_bytes} bytes shared")
    print(f"occupancy: {record.occupancy:.0%}, {record.tb_per_mp} blocks, limited by {record.limited_by}")
    device = pycuda.autoinit.device
    attributes = cuda.device_attribute
    return (
        data.max_threads == device.get_attribute(attributes.MAX_THREADS_PER_BLOCK)
        and data.warp_size == device.get_attribute(attributes.WARP_SIZE)
        and record.warps_per_mp == record.tb_per_mp * BLOCK // data.warp_size
        and 0 < record.occupancy <= 1
    )


def pooled(pool):
    """The second array gets the memory that the first gave back, without a call of the driver."""
    first = gpuarray.empty(N, np.float32, allocator=pool.allocate)
    address = first.ptr
    del first
    held = pool.held_blocks
    second = gpuarray.empty(N, np.float32, allocator=pool.allocate)
    print(f"pool: {held} block held, {pool.active_blocks} in use again")
    return held == 1 and second.ptr == address and pool.active_blocks == 1


def timed(kernel, out, x):
    """Milliseconds by two events, and seconds by the launch itself."""
    start, end = cuda.Event(), cuda.Event()
    start.record()
    kernel(out, x, np.int32(N), block=(BLOCK, 1, 1), grid=GRID)
    end.record().synchronize()
    by_events_ms = end.time_since(start)
    by_launch_s = kernel(out, x, np.int32(N), block=(BLOCK, 1, 1), grid=GRID, time_kernel=True)
    print(f"time: {by_events_ms:.3f} ms between events, {1e3 * by_launch_s:.3f} ms by time_kernel")
    return by_events_ms > 0 and by_launch_s > 0


def traced(kernel, out, x):
    """The driver's calls of one launch and one copy, as a trace has them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        with tracing.trace(str(path)):
            kernel(out, x, np.int32(N), block=(BLOCK, 1, 1), grid=GRID)
            out.get()
        events = json.loads(path.read_text())
    events = events["traceEvents"] if isinstance(events, dict) else events
    calls = [event["name"] for event in events if event.get("name", "").startswith("cu")]
    print("calls:", ", ".join(dict.fromkeys(calls)))
    return any("LaunchKernel" in call for call in calls) and any("Memcpy" in call for call in calls)


def main():
    kernel = SourceModule(SOURCE).get_function("smooth")
    host = np.random.default_rng(0).standard_normal(N).astype(np.float32)
    x = gpuarray.to_gpu(host)
    out = gpuarray.empty_like(x)
    checks = [occupancy(kernel), pooled(DeviceMemoryPool()), timed(kernel, out, x), traced(kernel, out, x)]
    around = np.pad(host, 1)
    checks.append(np.allclose(out.get(), (around[:-2] + around[1:-1] + around[2:]) / 3, atol=1e-6))
    print("all as expected" if all(checks) else f"WRONG: {checks}")
    return 0 if all(checks) else 1


if __name__ == "__main__":
    sys.exit(main())
