"""The Array API standard, version 2024.12, for `rtcg.numpy.GPUArray`."""

from typing import Any

def __getattr__(name: str) -> Any: ...
