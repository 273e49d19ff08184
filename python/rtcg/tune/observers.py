"""What a search can observe besides time: the device's sensors, read through NVML.

>>> from rtcg import tune
>>> tune.observers.energy
<observer 'energy' in J>

NVML (``libnvidia-ml.so.1``, a part of NVIDIA's driver) is opened when a search first asks for it; ``RTCG_NVML`` names
another file. The device is found by its PCI bus id, and readings are those of the whole GPU. Without NVML, and on the
virtual GPU, the columns have None.
"""

from rtcg import _native


class Sensor:
    """A sensor as an observer: ``tune(..., observers=[tune.observers.clock])``.

    Attributes
    ----------
    name : str
        The name of the column that it fills.
    unit : str
        The unit of the column.
    """

    def __init__(self, name, unit, doc):
        self.name, self.unit, self.__doc__ = name, unit, doc

    def read(self):
        """Return the present reading of the current context's device, or None. Of energy, joules since the driver was
        loaded. Does not wait for the device."""
        return _native.read_sensor(self.name)

    def __repr__(self):
        return f"<observer {self.name!r} in {self.unit}>"


clock = Sensor("clock", "MHz", "The clock of the multiprocessors, read when the last window of a candidate has ended.")

temperature = Sensor("temperature", "C", "The temperature of the die, read when the last window of a candidate ended.")

energy = Sensor(
    "energy", "J",
    """The energy of one launch.

    Launches are repeated, without restoring arrays between them, in windows of 10 ms for at least 0.2 s. The energy is
    the difference of NVML's counter of total energy between two of its steps, over the launches between them; so the
    coarse steps of the counter do no harm. Where the counter is missing or stands still for a second, it is the power,
    integrated by the trapezoidal rule; many devices report power as the mean of a second, which is less exact. What
    the device takes while it is idle, between windows too, is included.
    """,
)  # fmt: skip

power = Sensor("power", "W", "The mean power while launches are repeated, from the same windows as the energy.")

__all__ = ["Sensor", "clock", "energy", "power", "temperature"]
