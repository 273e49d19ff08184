"""nccl4py with memory of cuda.core alone: four ranks in one process, which knows nothing of rtcg."""

import nccl.core as nccl
import numpy as np
from cuda.bindings import driver

N_RANKS = 4
N = 1000


class Array:
    """Device memory with a dtype, as the CUDA array interface describes it."""

    def __init__(self, device, host):
        self.buffer = nccl.mem_alloc(host.nbytes, device)
        self.shape, self.dtype, self.device = host.shape, host.dtype, device
        checked(driver.cuMemcpyHtoD(int(self.buffer.handle), host.ctypes.data, host.nbytes))

    @property
    def __cuda_array_interface__(self):
        data = (int(self.buffer.handle), False)
        return {"shape": self.shape, "typestr": self.dtype.str, "data": data, "version": 3, "stream": None}

    def get(self):
        self.device.set_current()
        checked(driver.cuCtxSynchronize())
        host = np.empty(self.shape, self.dtype)
        checked(driver.cuMemcpyDtoH(host.ctypes.data, int(self.buffer.handle), host.nbytes))
        return host


def checked(answer):
    assert answer[0] == driver.CUresult.CUDA_SUCCESS, answer


def stream_of(device):
    device.set_current()
    return device.create_stream()


def on_devices(communicators, hosts):
    return [Array(communicator.device, host) for communicator, host in zip(communicators, hosts, strict=True)]


def main():
    # The first call of the process: nothing has initialised the driver.
    communicators = nccl.Communicator.init_all(N_RANKS)
    assert [(c.rank, c.nranks, c.device.device_id) for c in communicators] == [(r, N_RANKS, r) for r in range(N_RANKS)]
    assert nccl.get_version().libnccl.path.name == "libnccl.so.2"

    hosts = [np.arange(N, dtype=np.float32) * (rank + 1) for rank in range(N_RANKS)]
    sent, received = on_devices(communicators, hosts), on_devices(communicators, np.zeros_like(hosts))
    with nccl.group():
        for communicator, a, b in zip(communicators, sent, received, strict=True):
            communicator.allreduce(a, b, nccl.SUM)
    for array in received:
        np.testing.assert_array_equal(array.get(), sum(hosts))

    # Bytes of a cuda.core.Buffer, in place.
    buffers = [
        array.buffer for array in on_devices(communicators, np.full((N_RANKS, 8), [[1], [2], [4], [8]], np.uint8))
    ]
    # nccl4py does not keep streams, which a group uses at its end.
    streams = [stream_of(communicator.device) for communicator in communicators]
    with nccl.group():
        for communicator, buffer, stream in zip(communicators, buffers, streams, strict=True):
            communicator.allreduce(buffer, buffer, nccl.SUM, stream=stream)
    for communicator, buffer in zip(communicators, buffers, strict=True):
        communicator.device.set_current()
        checked(driver.cuCtxSynchronize())
        host = np.empty(8, np.uint8)
        checked(driver.cuMemcpyDtoH(host.ctypes.data, int(buffer.handle), 8))
        assert (host == 15).all(), host

    # Memory that was registered, and windows, which are of use on NVIDIA's links only.
    pairs = list(zip(communicators, buffers, strict=True))
    with nccl.group():
        windows = [c.register_window(buffer, flags=nccl.WindowFlag.CollSymmetric) for c, buffer in pairs]
    handles = [communicator.register_buffer(buffer) for communicator, buffer in pairs]
    assert all(handle.is_valid for handle in handles)
    for resource in (*handles, *windows):
        resource.close()

    for communicator in communicators:
        communicator.finalize()
        communicator.destroy()
        assert not communicator.is_valid


if __name__ == "__main__":
    main()
