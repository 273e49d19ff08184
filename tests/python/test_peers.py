"""Two devices at once: copies between them, access of one to the other's memory, sharing with another process.

On the virtual GPU two virtual devices; with `--device real` two GPUs, where there are so many.
"""

import pytest

from tests.python.subprocesses import has_real_device, run_python

pytestmark = pytest.mark.usefixtures("context")

PROLOGUE = """
import subprocess, sys, threading
import numpy as np
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

cuda.init()
first, second = cuda.Device(0), cuda.Device(1)
contexts = []
for device in (first, second):
    contexts.append(device.make_context())
    cuda.Context.pop()
values = np.arange(1 << 18, dtype=np.int32).reshape(512, 512)

def error_of(call):
    try:
        call()
    except cuda.Error as error:
        return str(error)
    raise AssertionError("no error")
"""

EPILOGUE = """
for context in contexts:
    context.detach()
"""


@pytest.fixture
def run():
    environment = {"RTCG_LIBCUDA": "none", "RTCG_VIRTUAL_DEVICES": 2}
    if has_real_device():
        import pycuda.driver as cuda

        if sum(not cuda.Device(i).is_virtual for i in range(cuda.Device.count())) < 2:
            pytest.skip("needs two GPUs")
        environment = {}
    return lambda code: run_python(PROLOGUE + code + EPILOGUE, **environment)


def test_copies_from_device_to_device(run):
    run(
        """
with contexts[0]:
    source = cuda.to_device(values)
with contexts[1]:
    target = cuda.mem_alloc(values.nbytes)
    cuda.memcpy_peer(target, source, values.nbytes, contexts[1], contexts[0])
    assert (cuda.from_device(target, values.shape, np.int32) == values).all()
    cuda.memset_d8(target, 0, values.nbytes)
    stream, done = cuda.Stream(), cuda.Event()
    cuda.memcpy_peer_async(target, source, values.nbytes // 2, src_context=contexts[0], stream=stream)
    done.record(stream).synchronize()
    half = cuda.from_device(target, values.shape, np.int32)
    assert (half[:256] == values[:256]).all() and (half[256:] == 0).all()

    # A rectangle of the other device's matrix.
    copy = cuda.Memcpy3DPeer()
    copy.set_src_device(source)
    copy.set_src_context(contexts[0])
    copy.set_dst_device(target)
    copy.set_dst_context(contexts[1])
    copy.src_pitch = copy.dst_pitch = 2048
    copy.src_height = copy.dst_height = 512
    copy.src_x_in_bytes, copy.src_y = 400, 300
    copy.dst_x_in_bytes, copy.dst_y = 40, 400
    copy.width_in_bytes, copy.height, copy.depth = 80, 30, 1
    copy()
    assert (cuda.from_device(target, values.shape, np.int32)[400:430, 10:30] == values[300:330, 100:120]).all()
    del target, stream, done
with contexts[0]:
    del source
"""
    )


def test_kernels_reach_the_other_device(run):
    run(
        """
SOURCE = "__global__ void add(int *z, const int *x, int n)"
SOURCE += "{ for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) z[i] += x[i]; }"
if first.can_access_peer(second):
    with contexts[1]:
        far = cuda.to_device(values)
    with contexts[0]:
        cuda.Context.enable_peer_access(contexts[1])
        assert "peer access" in error_of(lambda: cuda.Context.enable_peer_access(contexts[1]))
        add = SourceModule(SOURCE).get_function("add")
        near = cuda.to_device(values)
        add(near, far, np.int32(values.size), block=(256, 1, 1), grid=(64, 1))
        assert (cuda.from_device(near, values.shape, np.int32) == 2 * values).all()
        add(far, near, np.int32(values.size), block=(256, 1, 1), grid=(64, 1))
        cuda.Context.synchronize()
    with contexts[1]:
        assert (cuda.from_device(far, values.shape, np.int32) == 3 * values).all()
    with contexts[0]:
        cuda.Context.disable_peer_access(contexts[1])
        assert "peer access" in error_of(lambda: cuda.Context.disable_peer_access(contexts[1]))
        del near, add
    with contexts[1]:
        del far
"""
    )


def test_both_work_at_once(run):
    run(
        """
SOURCE = "__global__ void twice(int *z, int n)"
SOURCE += "{ for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) z[i] *= 2; }"
failures = []

def work(context):
    try:
        with context:
            twice = SourceModule(SOURCE).get_function("twice")
            memory, stream = cuda.to_device(values), cuda.Stream()
            for _ in range(10):
                twice(memory, np.int32(values.size), block=(256, 1, 1), grid=(64, 1), stream=stream)
            stream.synchronize()
            assert (cuda.from_device(memory, values.shape, np.int32) == values << 10).all()
            del memory, stream, twice
    except BaseException as error:
        failures.append(error)

threads = [threading.Thread(target=work, args=(context,)) for context in contexts for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not failures, failures
"""
    )


def test_another_process_shares_memory_of_either_device(run):
    run(
        '''
CHILD = """
import sys
import numpy as np
import pycuda.driver as cuda
cuda.init()
context = cuda.Device(int(sys.argv[1])).make_context()
shared = cuda.IPCMemoryHandle(bytes.fromhex(sys.argv[2]))
assert (cuda.from_device(shared, 1000, np.int32) == np.arange(1000)).all()
cuda.memcpy_htod(shared, np.full(10, -1, np.int32))
cuda.Context.synchronize()
shared.close()
context.pop()
context.detach()
print("done")
"""
for number, context in enumerate(contexts):
    with context:
        memory = cuda.to_device(np.arange(1000, dtype=np.int32))
        handle = bytes(cuda.mem_get_ipc_handle(memory)).hex()
        command = [sys.executable, "-c", CHILD, str(number), handle]
        result = subprocess.run(command, capture_output=True, text=True, timeout=100)
        assert result.stdout == "done\\n" and result.stderr == "", result
        after = cuda.from_device(memory, 1000, np.int32)
        assert (after[:10] == -1).all() and (after[10:] == np.arange(10, 1000)).all()
        del memory
'''
    )
