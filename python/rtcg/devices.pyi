"""Several devices in one program: a context for a ``with`` block, and one function on all of them."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from rtcg.driver import Context, Device

__all__ = ["map", "use"]

_Result = TypeVar("_Result")

def use(device: int | str | Device) -> AbstractContextManager[Context]:
    """Make the primary context of a device the current one of this thread, for a ``with`` block.

    Parameters
    ----------
    device : int, str or Device
        Its ordinal, the id of its PCI bus (``"0000:65:00.0"``), or itself.

    Returns
    -------
    context manager
        Of a :class:`Context`. Any number of threads may use it, also at once. It stays until the program ends.

    Raises
    ------
    ValueError
        If there is no such device.

    Notes
    -----
    An array belongs to the context in which it was made: one of another context cannot be used here. Does not wait.
    """

def current_on(device: Device) -> AbstractContextManager[Context | None]:
    """A context of `device`, a Device, for a ``with`` block: the current one if it is there, else the primary one."""

def map(
    function: Callable[..., _Result], *sequences: Iterable[Any], devices: Sequence[int | str | Device] | None = None
) -> list[_Result]:
    """Call a function for each of some pieces of work, on several devices at once: a list of results in their order.

    Each device has a thread, in which it is the current one (`use`), and takes the next piece when it is done with one.

    Parameters
    ----------
    function : callable
        What it is given and returns should be on the host: arrays of one device are of no use on another.
    *sequences : sequence
        Of its arguments, equally long.
    devices : sequence of int, str or Device, optional
        As for `use`. By default all. One that is given twice has two threads.

    Returns
    -------
    list

    Raises
    ------
    BaseException
        What `function` raises first; pieces that no device has taken are left out then, and after Ctrl-C.
    ValueError
        If sequences differ in length, there are no devices, or one is not there.

    Notes
    -----
    Waits for all devices.
    """
