import dataclasses

@dataclasses.dataclass(frozen=True)
class Roofline:
    bytes_per_second: float
    flops: dict[int, float]
    def limit(self, nbytes: float = 0, flops: float = 0, itemsize: int = 4) -> tuple[float, str]: ...

def measure_roofline() -> Roofline: ...
def least_time(nbytes: float | None, flops: float | None) -> tuple[float, str] | None:
    """``(seconds, which)``: the shortest time that the device allows for the given work."""
