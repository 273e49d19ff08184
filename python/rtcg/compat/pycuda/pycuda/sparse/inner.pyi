"""Inner products whose results arrive on the host asynchronously."""

from typing import Any

def get_stream() -> Any:
    """A stream for a copy: one that was returned, or a new one."""

class AsyncInnerProduct:
    """The inner product of two vectors, on the device (`gpu_result`) and, once it has arrived, on the host.

    Parameters
    ----------
    a, b : GPUArray
    pagelocked_allocator : callable
        Called with a shape and a dtype; returns page-locked memory as an array, like `pycuda.driver.pagelocked_empty`.
    """
    def __init__(self, a: Any, b: Any, pagelocked_allocator: Any) -> None: ...
    def get_host_result(self) -> Any:
        """The result as an array on the host, or None if it has not arrived yet. Never waits."""
