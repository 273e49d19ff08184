"""Inner products whose results arrive on the host asynchronously."""

import atexit

import pycuda.driver as drv
from pycuda import gpuarray

# Streams of copies that have arrived, to be used again.
_FREE_STREAMS = []


def get_stream():
    """A stream for a copy: one that was returned, or a new one."""
    return _FREE_STREAMS.pop() if _FREE_STREAMS else drv.Stream()


class AsyncInnerProduct:
    """The inner product of two vectors, on the device (`gpu_result`) and, once it has arrived, on the host.

    Parameters
    ----------
    a, b : GPUArray
    pagelocked_allocator : callable
        Called with a shape and a dtype; returns page-locked memory as an array, like `pycuda.driver.pagelocked_empty`.
    """

    def __init__(self, a, b, pagelocked_allocator):
        self.gpu_result = gpuarray.dot(a, b)
        self.host_dest = pagelocked_allocator(self.gpu_result.shape, self.gpu_result.dtype)
        computed = drv.Event(drv.event_flags.DISABLE_TIMING)
        computed.record()
        self.copy_stream = get_stream()
        self.copy_stream.wait_for_event(computed)
        drv.memcpy_dtoh_async(self.host_dest, self.gpu_result.gpudata, self.copy_stream)
        self.copy_finished_evt = drv.Event(drv.event_flags.DISABLE_TIMING)
        self.copy_finished_evt.record(self.copy_stream)

    def get_host_result(self):
        """The result as an array on the host, or None if it has not arrived yet. Never waits."""
        if self.copy_stream is not None:
            if not self.copy_finished_evt.query():
                return None
            _FREE_STREAMS.append(self.copy_stream)
            self.copy_stream = None
        return self.host_dest


atexit.register(_FREE_STREAMS.clear)
