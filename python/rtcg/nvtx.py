"""Named ranges and marks for profilers (NVTX) and for the traces of `rtcg.tracing`.

Nsight Systems and other profilers that start a program listen through the library that the
environment variable ``NVTX_INJECTION64_PATH`` names. Without one a range costs next to nothing.
"""

import contextlib

from rtcg import _native

__all__ = ["listener", "mark", "range", "range_pop", "range_push"]


def range_push(name):
    """Begin a range on this thread, inside of those begun before, which `range_pop` ends; returns None."""
    _native.nvtx_push(name)


def range_pop():
    """End the range that this thread has begun last; returns None. Without one nothing happens."""
    _native.nvtx_pop()


def mark(name):
    """Mark a moment on this thread, in profiles and traces; returns None."""
    _native.nvtx_mark(name)


class range(contextlib.ContextDecorator):
    """A range around a ``with`` statement, or as a decorator around every call of a function."""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        range_push(self.name)
        return self

    def __exit__(self, *exception):
        range_pop()


def listener():
    """The profiler's library that gets ranges and marks: its name as a str, or None."""
    return _native.nvtx_listener_library()
