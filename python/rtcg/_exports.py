"""Memory that is handed to other libraries: what cannot be, and exports that wait for pending work."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from rtcg import _native

if TYPE_CHECKING:
    from collections.abc import Iterator


class NotExportableError(BufferError, NotImplementedError):
    """An array that a protocol cannot express: consumers then try the next protocol they know."""


@contextlib.contextmanager
def exports_wait() -> Iterator[None]:
    """Let exports of arrays wait for work that is pending, for a ``with`` block of the calling thread.

    Consumers of ``__cuda_array_interface__`` and of ``__dlpack__(stream=-1)`` have to wait for the stream of the last
    writer themselves. Libraries that never do, such as mpi4py (``findings/mpi4py_streams.sh``), read memory too early::

        with rtcg.exports_wait():
            comm.Allreduce(MPI.IN_PLACE, a)

    ``RTCG_EXPORT_WAITS=1`` in the environment has the same effect on all exports of the process.

    Raises
    ------
    rtcg.driver.Error
        From the export, if the pending work has failed.

    Notes
    -----
    The block itself does not wait; each export in it waits for the streams that use the memory, and for nothing else.
    """
    _native.set_exports_wait(True)
    try:
        yield
    finally:
        _native.set_exports_wait(False)
