"""Traces of driver calls, compilations and kernels, in the format that Perfetto opens.

``RTCG_TRACE=file.json python script.py`` traces a whole program; the functions here trace a part of
it. Open the file at https://ui.perfetto.dev or in Chrome's ``about:tracing``. Every call of the
driver API is there on its thread, with arguments, result and times; every kernel on its stream, with
an arrow from its launch; and the ranges of `rtcg.nvtx`.
"""

import contextlib

from rtcg import _native

__all__ = ["is_on", "start", "stop", "trace"]


def start(path):
    """Begin a trace.

    Parameters
    ----------
    path : path
        The file to write; ``%p`` in it becomes the number of the process.

    Raises
    ------
    OSError
        If the file cannot be written.

    Notes
    -----
    A running trace is finished first. A trace that is not stopped ends with the process.
    """
    _native.trace_start(path)


def stop():
    """End the trace and complete its file.

    Returns
    -------
    tuple of (pathlib.Path, int), or None
        The file and the number of events in it; None when no trace was being made.
    """
    return _native.trace_stop()


def is_on():
    """Whether a trace is being made in this process, by `trace` or the environment: a bool. Does not wait."""
    return _native.trace_is_on()


@contextlib.contextmanager
def trace(path):
    """Trace what happens inside of a ``with`` statement, into the file `path`, as `start` and `stop` do.

    A context manager without a value. Driver calls and kernels of all threads are in it. Raises `OSError` when the file
    cannot be written.
    """
    start(path)
    try:
        yield
    finally:
        stop()
