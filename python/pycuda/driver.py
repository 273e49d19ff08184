"""The CUDA driver API."""

from __future__ import annotations

from pycuda._driver import (
    CompileError,
    Error,
    LaunchError,
    LogicError,
    MemoryError,
    RuntimeError,
)

__all__ = ["CompileError", "Error", "LaunchError", "LogicError", "MemoryError", "RuntimeError"]

CUDA_DEBUGGING = False
