"""Where programs run: `places`."""

from __future__ import annotations

import contextlib
import re
import threading
from typing import TYPE_CHECKING, Any

from rtcg import _native
from rtcg._messages import shown

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from rtcg.driver import Context, Device


class Place:
    """A place where programs run, and, in ``with place:``, the place of all calls in the block.

    Blocks nest and belong to their thread; the innermost one counts.
    """

    def __init__(self, name: str) -> None:
        #: The name in `places`.
        self.name = name

    def __enter__(self) -> Place:
        _local.stack.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        _local.stack.pop()

    def __repr__(self) -> str:
        return f"places.{self.name}"

    def __reduce__(self) -> Any:
        return getattr, (places, self.name)


class DevicePlace(Place):
    """A device, for which programs are compiled.

    ``gpu<n>`` is the n-th of all devices, of which real ones are first; ``virtual<n>`` the n-th virtual one. The device
    is looked for when a ``with`` block begins or a program first runs there.
    """

    def __enter__(self) -> Place:
        """Begin a block; raises `ValueError` if there is no such device."""
        _ = self.device
        return super().__enter__()

    def __init__(self, name: str, number: int, only_virtual: bool) -> None:
        super().__init__(name)
        self._number = number
        self._only_virtual = only_virtual
        self._device: Device | None = None

    @property
    def device(self) -> Device:
        """The device; raises `ValueError` if there is none, saying which ones there are."""
        if self._device is None:
            self._device = self._find()
        return self._device

    def _find(self) -> Device:
        from rtcg import driver

        driver.init()
        devices = [driver.Device(ordinal) for ordinal in range(driver.Device.count())]
        if self._only_virtual:
            devices = [device for device in devices if device.is_virtual]
        if self._number < len(devices):
            return devices[self._number]
        kind = "virtual " if self._only_virtual else ""
        noun = "device" if len(devices) == 1 else "devices"
        advice = f"; RTCG_VIRTUAL_DEVICES={self._number + 1} makes virtual devices" if kind or not devices else ""
        raise ValueError(f"there is no places.{self.name}: {len(devices)} {kind}{noun} found{advice}")

    def current(self) -> Context | None:
        """The current context, if it is one of the device."""
        context = _native.Context.get_current()
        return context if context is not None and _native.Context.get_device() == self.device else None

    def scope(self) -> AbstractContextManager[Context]:
        """A block in which a context of the device is current: the current one if it is, else the primary one."""
        context = self.current()
        if context is not None:
            return contextlib.nullcontext(context)
        from rtcg import devices

        return devices.use(self.device)


class _Local(threading.local):
    def __init__(self) -> None:
        self.stack: list[Place] = []


_local = _Local()


_DEVICE_NAME = re.compile(r"(gpu|virtual)(0|[1-9]\d*)")


class Places:
    """The places where programs run.

    Attributes
    ----------
    here : Place
        Python's interpreter, which runs a program as it is written, with the prelude's functions in Python. It needs
        no device.
    gpu0, gpu1, ... : DevicePlace
        The devices, real ones first: without a GPU, ``gpu0`` is a virtual one.
    virtual0, virtual1, ... : DevicePlace
        The virtual devices.
    default_place : Place
        The place of calls that name none: that of the innermost ``with`` block of this thread, else ``gpu0``. Assigning
        a place replaces ``gpu0`` in this, for all threads.

    Examples
    --------
    >>> from rtcg.copperhead import cu, places
    >>> @cu
    ... def double(x):
    ...     return [2 * xi for xi in x]
    >>> with places.here:
    ...     double([1, 2])
    array([2, 4])
    >>> double([1, 2], target_place=places.here)
    array([2, 4])
    """

    def __init__(self) -> None:
        self.here = Place("here")
        self._default: Place | None = None

    def __getattr__(self, name: str) -> DevicePlace:
        parts = _DEVICE_NAME.fullmatch(name)
        if parts is None:
            raise AttributeError(f"there is no place {name!r}; expected here, gpu0 to gpuN or virtual0 to virtualN")
        # Once for each name: afterwards it is an attribute.
        place: DevicePlace = vars(self).setdefault(name, DevicePlace(name, int(parts[2]), parts[1] == "virtual"))
        return place

    def __dir__(self) -> list[str]:
        return [*(name for name in super().__dir__() if not _DEVICE_NAME.fullmatch(name)), *_device_names()]

    @property
    def default_place(self) -> Place:
        """The place of calls that name none."""
        stack = _local.stack
        return stack[-1] if stack else self._default or self.gpu0

    @default_place.setter
    def default_place(self, place: Place) -> None:
        self._default = as_place("default_place", place)

    def gpu_scope(self, number: int = 0) -> DevicePlace:
        """The place ``gpu<number>``, for ``with places.gpu_scope():``."""
        place: DevicePlace = getattr(self, f"gpu{number}")
        return place

    def host_scope(self) -> Place:
        """The place ``here``, for ``with places.host_scope():``."""
        return self.here

    def __repr__(self) -> str:
        return "places"

    def __reduce__(self) -> str:
        return "places"


def _device_names() -> list[str]:
    """The names of the devices that there are; before a driver is initialised, which this does not do, ``gpu0``."""
    from rtcg import driver

    try:
        devices = [driver.Device(ordinal) for ordinal in range(driver.Device.count())]
    except driver.Error:
        return ["gpu0"]
    n_virtual = sum(device.is_virtual for device in devices)
    return [*(f"gpu{n}" for n in range(len(devices))), *(f"virtual{n}" for n in range(n_virtual))]


places = Places()


def as_place(name: str, value: Any) -> Place:
    """`value`, which must be a place."""
    if not isinstance(value, Place):
        raise TypeError(f"{name} is {shown(value)}; expected a place, such as places.here or places.gpu0")
    return value
