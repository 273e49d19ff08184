class Sensor:
    name: str
    unit: str
    def __init__(self, name: str, unit: str, doc: str) -> None: ...
    def read(self) -> float | None: ...

clock: Sensor
energy: Sensor
power: Sensor
temperature: Sensor

__all__ = ["Sensor", "clock", "energy", "power", "temperature"]
