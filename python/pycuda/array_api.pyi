"""The Array API standard, version 2024.12, for `pycuda.gpuarray.GPUArray`."""

from typing import Any

def __getattr__(name: str) -> Any: ...
