"""Observers for searches: the sensors of the device, read through NVML.

>>> from rtcg import tune
>>> tune.observers.energy
<observer 'energy' in J>

NVML (``libnvidia-ml.so.1``, a part of NVIDIA's driver) is opened when a search first needs it; ``RTCG_NVML`` names
another file. The device is found by its PCI bus id, and readings apply to the whole GPU. Without NVML, and on the
virtual GPU, the columns have None.
"""

from __future__ import annotations

from rtcg import _native


class Sensor:
    """A sensor as an observer: ``tune(..., observers=[tune.observers.clock])``.

    Attributes
    ----------
    name : str
        The name of the column that the sensor fills.
    unit : str
        The unit of the column.
    """

    def __init__(self, name: str, unit: str, doc: str) -> None:
        self.name, self.unit, self.__doc__ = name, unit, doc

    def read(self) -> float | None:
        """The present reading of the current context's device, or None. Energy is in joules since the driver was
        loaded. Does not wait for the device.
        """
        return _native.read_sensor(self.name)

    def __repr__(self) -> str:
        return f"<observer {self.name!r} in {self.unit}>"


clock = Sensor("clock", "MHz", "The clock of the multiprocessors, read at the end of the last window of a candidate.")

temperature = Sensor("temperature", "C", "The die temperature, read at the end of the last window of a candidate.")

energy = Sensor(
    "energy", "J",
    """The energy of one launch.

    Launches are repeated, without restoring arrays between them, in windows of 10 ms for at least 0.2 s. The energy is
    the difference of NVML's counter of total energy between two of its steps, divided by the launches between them, so
    that the coarse steps of the counter do no harm. If the counter is missing or does not change for a second, the
    power is integrated by the trapezoidal rule; many devices report power as the mean over a second, which is less
    exact. The idle consumption of the device is included, also between windows.
    """,
)  # fmt: skip

power = Sensor("power", "W", "The mean power while launches are repeated, from the same windows as the energy.")

__all__ = ["Sensor", "clock", "energy", "power", "temperature"]
