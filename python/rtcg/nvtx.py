"""Named ranges and marks for profilers (NVTX) and for the traces of `rtcg.tracing`.

Nsight Systems and other profilers receive them through the library that the environment variable
``NVTX_INJECTION64_PATH`` names. Without a profiler, a range costs almost nothing.
"""

from __future__ import annotations

import contextlib

from rtcg import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["listener", "mark", "range", "range_pop", "range_push"]


def range_push(name: str) -> None:
    """Begin a range in this thread, nested in those begun before, which `range_pop` ends; returns None."""
    _native.nvtx_push(name)


def range_pop() -> None:
    """End the range that this thread began last; returns None. Does nothing if there is none."""
    _native.nvtx_pop()


def mark(name: str) -> None:
    """Mark a point in time on this thread, in profiles and traces; returns None."""
    _native.nvtx_mark(name)


class range(contextlib.ContextDecorator):
    """A range around a ``with`` block, or as a decorator around every call of a function."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> Self:
        range_push(self.name)
        return self

    def __exit__(self, *exception: object) -> None:
        range_pop()


def listener() -> str | None:
    """The profiler library that receives ranges and marks: its name as a str, or None."""
    return _native.nvtx_listener_library()
