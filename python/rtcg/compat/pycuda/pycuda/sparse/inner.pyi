"""Inner products whose results arrive on the host without anybody waiting for them."""

from typing import Any

def get_stream() -> Any:
    """A stream for a copy: one that was given back, or a new one."""

class AsyncInnerProduct:
    """The inner product of two vectors, on the device at once (`gpu_result`) and on the host when it has arrived.

    Parameters
    ----------
    a, b : GPUArray
    pagelocked_allocator : callable
        Called with a shape and a dtype; gives page-locked memory as an array, as `pycuda.driver.pagelocked_empty` does.
    """
    def __init__(self, a: Any, b: Any, pagelocked_allocator: Any) -> None: ...
    def get_host_result(self) -> Any:
        """The result as an array on the host; None if it has not arrived yet. Never waits."""
