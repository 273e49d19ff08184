"""Several devices in one program: select a device for a ``with`` block, and run a function on all of them."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from rtcg.driver import Context, Device

__all__ = ["map", "use"]

_Result = TypeVar("_Result")

def as_device(name: str, value: Any, *others: str) -> Device:
    """`value` as a Device: a Device, an ordinal, or a PCI bus id. The error also names `others` as expected."""

def use(device: int | str | Device) -> AbstractContextManager[Context]:
    """Make the primary context of a device current in this thread, for a ``with`` block.

    Parameters
    ----------
    device : int, str or Device
        An ordinal, a PCI bus id (``"0000:65:00.0"``), or a Device.

    Returns
    -------
    context manager
        Its value is the :class:`Context`. Any number of threads may use it, also simultaneously. It exists until the
        program ends.

    Raises
    ------
    ValueError
        If there is no such device.

    Notes
    -----
    An array belongs to the context in which it was created, and cannot be used in another. Does not wait.
    """

def current_on(device: Device) -> AbstractContextManager[Context | None]:
    """A context of `device`, a Device, for a ``with`` block: the current one if it is on that device, else the primary
    one.
    """

def map(
    function: Callable[..., _Result], *sequences: Iterable[Any], devices: Sequence[int | str | Device] | None = None
) -> list[_Result]:
    """Call a function for each of several work items, on several devices at once: a list of results in order.

    Each device has a thread, in which it is current (`use`), and takes the next item when it has finished one.

    Parameters
    ----------
    function : callable
        Its arguments and results should be on the host: arrays of one device cannot be used on another.
    *sequences : sequence
        The sequences of its arguments, of equal length.
    devices : sequence of int, str or Device, optional
        As for `use`. All by default. A device that occurs twice has two threads.

    Returns
    -------
    list

    Raises
    ------
    BaseException
        The first exception of `function`; remaining items are then skipped, as after Ctrl-C.
    ValueError
        If sequences differ in length, there are no devices, or one does not exist.

    Notes
    -----
    Waits for all devices.
    """
