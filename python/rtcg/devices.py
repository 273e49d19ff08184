"""Several devices in one program: select a device for a ``with`` block, and run a function on all of them."""

from __future__ import annotations

import atexit
import contextlib
import threading
from collections.abc import Iterable, Sized
from typing import TYPE_CHECKING, Any

from rtcg import _native, driver
from rtcg._conversions import as_callable
from rtcg._messages import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from typing import TypeVar

    from rtcg.driver import Context, Device

    _Result = TypeVar("_Result")

__all__ = ["default", "map", "primary_context", "set_default", "use"]

#: Primary contexts that were used, held so that compiled kernels and memory pools stay.
_contexts: dict[driver.Device, driver.Context] = {}
_lock = threading.Lock()
atexit.register(_contexts.clear)


def as_device(name: str, value: Any, *others: str) -> Device:
    """`value` as a Device: a Device, an ordinal, or a PCI bus id. The error also names `others` as expected."""
    if isinstance(value, driver.Device):
        return value
    driver.init()
    try:
        return driver.Device(value)
    except driver.LogicError:
        known = (f"an ordinal below {driver.Device.count()}", "the id of a PCI bus with a device", *others)
        expected = f"{', '.join(known)}, or a Device"
        raise ValueError(f"{name} is {shown(value)}; expected {expected}") from None


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
    return _current(as_device("device", device))


@contextlib.contextmanager
def _current(device: driver.Device) -> Iterator[driver.Context]:
    context = primary_context(device)
    context.push()
    try:
        yield context
    finally:
        _native.end_context_push()


def primary_context(device: int | str | Device) -> Context:
    """The primary context of a device, which other libraries use too. It exists until the program ends.

    Parameters
    ----------
    device : int, str or Device
        An ordinal, a PCI bus id, or a Device.

    Raises
    ------
    ValueError
        If there is no such device.
    """
    device = as_device("device", device)
    with _lock:
        context = _contexts.get(device)
        if context is None:
            context = _contexts[device] = _native.primary_context(device)
    return context


def set_default(target: int | str | Device | Context | None) -> None:
    """Declare the context that threads take which have none, when they first need one.

    `rtcg.autoinit` and ``pycuda.autoinit`` declare the context that they make; a program that makes none has the
    primary context of the default device in every thread. Others must make a context current in each thread, or
    declare one::

        context = rtcg.driver.Device(1).make_context()
        rtcg.devices.set_default(context)

    Parameters
    ----------
    target : int, str, Device, Context or None
        A device stands for its primary context, which other libraries share. None declares that there is no default.

    Raises
    ------
    ValueError
        If there is no such device.
    rtcg.driver.LogicError
        If the context was detached.

    Notes
    -----
    The default context is held until another one, or none, is declared. The thread that calls this does not take it any
    more after it has popped a context. Does not wait.
    """
    if target is not None and not isinstance(target, driver.Context):
        target = primary_context(as_device("target", target, "a Context", "None"))
    _native.set_default_context(target)


def default() -> Context | None:
    """The context that threads take which have none; None if none was declared and no thread has needed one yet."""
    return _native.default_context()


def current_on(device: Device) -> AbstractContextManager[Context | None]:
    """A context of `device`, a Device, for a ``with`` block: the current one if it is on that device, else the primary
    one.
    """
    if driver.Context.get_current() is not None and driver.Context.get_device() == device:
        return contextlib.nullcontext()
    return _current(device)


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
    as_callable("function", function)
    driver.init()
    if devices is None:
        devices = range(driver.Device.count())
    if isinstance(devices, (str, int, driver.Device)) or not isinstance(devices, Iterable):
        raise TypeError(f"devices is {shown(devices)}; expected a sequence of ordinals or Devices")
    devices = [as_device(f"devices[{place}]", device) for place, device in enumerate(devices)]
    if not devices:
        raise ValueError("devices is empty; expected at least one")
    for k, sequence in enumerate(sequences):
        if not isinstance(sequence, Sized):
            raise TypeError(f"sequences[{k}] is {shown(sequence)}; expected a sequence")
    lengths = [len(sequence) for sequence in sequences if isinstance(sequence, Sized)]
    if len(set(lengths)) > 1:
        raise ValueError(f"the sequences have lengths {lengths}; expected one length")
    calls = list(zip(*sequences, strict=True))
    results: list[Any] = [None] * len(calls)
    errors: list[BaseException] = []
    pieces, lock = iter(enumerate(calls)), threading.Lock()

    def work(device: driver.Device) -> None:
        try:
            with use(device):
                while not errors:
                    with lock:
                        piece = next(pieces, None)
                    if piece is None:
                        break
                    results[piece[0]] = function(*piece[1])
                driver.Context.synchronize()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(device,)) for device in devices]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    except BaseException as error:
        errors.append(error)
        for thread in threads:
            if thread.ident is not None:
                thread.join()
        raise
    if errors:
        raise errors[0]
    return results
