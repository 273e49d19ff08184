"""Arrays that go to other processes of this machine without a copy: by `multiprocessing`'s queues, pipes and pools.

Importing this module is all that is needed, in the process that sends::

    import multiprocessing
    import rtcg.multiprocessing
    import rtcg.numpy as rnp
    from rtcg import driver

    def double(queue):
        a = queue.get()
        a *= 2                                     # in the memory of the other process
        driver.Context.synchronize()

    if __name__ == "__main__":
        spawn = multiprocessing.get_context("spawn")
        queue, a = spawn.Queue(), rnp.ones(3)
        process = spawn.Process(target=double, args=(queue,))
        process.start()
        queue.put(a)
        process.join()
        print(a)                                   # [2. 2. 2.]

What is sent is the interprocess handle of the block that the array lies in, its place in it, and an event behind the
sender's pending work. A *lease* keeps the block until all processes that received the array have dropped it and their
work with it is done, or have ended.
"""

from __future__ import annotations

import multiprocessing.reduction
import sys
from typing import TYPE_CHECKING, Any

if not sys.platform.startswith("linux"):
    raise ImportError(f"rtcg.multiprocessing needs Linux, and this is {sys.platform}; arrays are pickled by elements")

from rtcg import _leases
from rtcg._leases import Lease, LeaseError
from rtcg._messages import shown
from rtcg._native import GPUArray
from rtcg._pickling import Unplaced, is_worker
from rtcg.driver import Error

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Lease", "LeaseError", "end_unreceived", "leases", "reduce_array", "wait_for_consumers"]


def leases() -> list[Lease]:
    """What this process has sent and still keeps for others.

    Returns
    -------
    list of Lease
        Named tuples, the oldest first: `nbytes`, of the array that was sent; `age_s`, the seconds since; and
        `is_received`, whether a process has received it. Does not wait.
    """
    return _leases.leases()


def wait_for_consumers(timeout: float | None = None) -> bool:
    """Wait until all that this process has sent was received, and is no longer used.

    A process that ends takes its memory with it: one that sends its results and ends calls this before. A
    `multiprocessing.Queue` pickles in a thread of its own; ``queue.close()`` and ``queue.join_thread()`` come first.

    Parameters
    ----------
    timeout : float, optional
        Seconds; by default without limit.

    Returns
    -------
    bool
        Whether all leases have ended.
    """
    if timeout is not None and not timeout >= 0:
        raise ValueError(f"timeout is {shown(timeout)}; expected a number of seconds from 0, or None")
    return _leases.wait_until_ended(timeout)


def end_unreceived(older_than_s: float = 0) -> int:
    """Give up what was sent and never received, as in a queue whose consumers were killed.

    Who receives such an array after all gets a `LeaseError`.

    Parameters
    ----------
    older_than_s : float
        Only what was sent so many seconds ago, or earlier.

    Returns
    -------
    int
        How many leases have ended. Does not wait.
    """
    if not older_than_s >= 0:
        raise ValueError(f"older_than_s is {shown(older_than_s)}; expected a number of seconds from 0")
    return _leases.end_unreceived(older_than_s)


def reduce_array(array: GPUArray) -> tuple[Callable[..., GPUArray | Unplaced], tuple[Any, ...]]:
    """What picklers of engines send in place of an array: their table of reducers takes this function.

    The pickle is for one consumer, on this machine. Does not wait; the consumer waits for the pending work.

    Raises
    ------
    ValueError
        If the memory cannot be shared, as managed memory.
    """
    if not array.size:
        return array.__reduce__()  # There is no memory to share.
    return _receive, tuple(_leases.share(array))


def _receive(*fields: Any) -> GPUArray | Unplaced:
    try:
        return _leases.receive(_leases.SharedArray(*fields))
    except Error as problem:
        if not is_worker():
            raise
        return Unplaced(problem)


multiprocessing.reduction.ForkingPickler.register(GPUArray, reduce_array)
