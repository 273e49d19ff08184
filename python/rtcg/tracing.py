"""Traces of driver calls, compilations and kernels, in the format that Perfetto opens.

``RTCG_TRACE=file.json python script.py`` traces a whole program; these functions trace a part of it. Open the file at
https://ui.perfetto.dev or in Chrome's ``about:tracing``. It shows every driver API call on its thread, with arguments,
result and times; every kernel on its stream, with an arrow from its launch; and the ranges of `rtcg.nvtx`.
"""

from __future__ import annotations

import contextlib

from rtcg import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rtcg._native import _Path

__all__ = ["is_on", "start", "stop", "trace"]


def start(path: _Path) -> None:
    """Start a trace.

    Parameters
    ----------
    path : path
        The file to write; ``%p`` in it is replaced by the process id.

    Raises
    ------
    OSError
        If the file cannot be written.

    Notes
    -----
    A running trace is stopped first. A trace that is not stopped ends with the process.
    """
    _native.trace_start(path)


def stop() -> tuple[Path, int] | None:
    """Stop the trace and complete its file.

    Returns
    -------
    tuple of (pathlib.Path, int), or None
        The file and the number of events in it, or None if no trace was running.
    """
    return _native.trace_stop()


def is_on() -> bool:
    """Whether a trace is running in this process, started by `trace` or by the environment: a bool. Does not wait."""
    return _native.trace_is_on()


@contextlib.contextmanager
def trace(path: _Path) -> Iterator[None]:
    """Trace a ``with`` block to the file `path`, like `start` and `stop`.

    A context manager without a value. The trace includes driver calls and kernels of all threads. Raises `OSError` if
    the file cannot be written.
    """
    start(path)
    try:
        yield
    finally:
        stop()
