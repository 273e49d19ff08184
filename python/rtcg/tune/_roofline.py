"""The limits of a device, measured once: its copy bandwidth and its arithmetic throughput."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rtcg.driver import Function


_SOURCE = """
extern "C" __global__ void copy_words(uint4 *to, const uint4 *from, size_t n)
{
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    to[i] = from[i];
}

template <class T> __device__ void multiply_add(T *out, T factor, int rounds)
{
  T sums[8];
  for (int k = 0; k < 8; ++k) sums[k] = threadIdx.x + k;
  for (int round = 0; round < rounds; ++round)
    #pragma unroll
    for (int k = 0; k < 8; ++k) sums[k] = sums[k] * factor + (T)1;
  T sum = 0;
  for (int k = 0; k < 8; ++k) sum += sums[k];
  if (sum == (T)-1) *out = sum;
}
extern "C" __global__ void multiply_add_float(float *out, float factor, int rounds)
{ multiply_add(out, factor, rounds); }
extern "C" __global__ void multiply_add_double(double *out, double factor, int rounds)
{ multiply_add(out, factor, rounds); }
"""

#: How many times a measurement is made; the best one counts.
_REPEATS = 5


@dataclasses.dataclass(frozen=True)
class Roofline:
    """The measured limits of a device.

    Attributes
    ----------
    bytes_per_second : float
        Bytes read and written by a kernel that copies arrays larger than the caches.
    flops : dict
        Operations per second of fused multiply-adds (two operations each), by the size of the numbers in bytes: 4, 8.
    """

    bytes_per_second: float
    flops: dict[int, float]

    def limit(self, nbytes: float = 0, flops: float = 0, itemsize: int = 4) -> tuple[float, str]:
        """``(seconds, which)``: the shortest time for this work, and the binding limit, ``"memory"`` or ``"compute"``.

        Parameters
        ----------
        nbytes : int
            Bytes that must cross the memory bus.
        flops : int
            Floating-point operations.
        itemsize : int
            The size in bytes of the numbers in the operations.
        """
        memory, compute = nbytes / self.bytes_per_second, flops / self.flops.get(itemsize, self.flops[4])
        return max((memory, "memory"), (compute, "compute"))


def measure_roofline() -> Roofline:
    """Measure the device of the current context, or return the earlier result of this process. Waits for the device."""
    from rtcg.driver import Context

    return _measure(Context.get_device().pci_bus_id())


@functools.cache
def _measure(_bus_id: str) -> Roofline:
    from rtcg import driver
    from rtcg.compiler import SourceModule

    module = SourceModule(_SOURCE, no_extern_c=True, options=["-O3"])
    device = driver.Context.get_device()
    blocks = 8 * device.multiprocessor_count
    total, _ = driver.mem_get_info()[::-1]
    nbytes = min(1 << 28, total // 16) // 4096 * 4096
    source, target = driver.mem_alloc(nbytes), driver.mem_alloc(nbytes)
    driver.memset_d8(source, 1, nbytes)
    copy = module.get_function("copy_words")
    seconds = _best_seconds(lambda: copy(target, source, nbytes // 16, block=(256, 1, 1), grid=(blocks, 1)))
    flops = {}
    for name, size in (("float", 4), ("double", 8)):
        function = module.get_function(f"multiply_add_{name}")

        def launch(rounds: int, function: Function = function) -> None:
            function(target, 0.5, rounds, block=(256, 1, 1), grid=(blocks, 1))

        # As many rounds as take about a hundredth of a second.
        rounds = max(64, int(64 * 0.01 / _best_seconds(lambda: launch(64), 1)))
        flops[size] = 2 * 8 * rounds * 256 * blocks / _best_seconds(functools.partial(launch, rounds))
    return Roofline(2 * nbytes / seconds, flops)


def _best_seconds(launch: Callable[[], object], repeats: int = _REPEATS) -> float:
    from rtcg.driver import Event

    launch()
    best = float("inf")
    for _ in range(repeats):
        start, end = Event(), Event()
        start.record()
        launch()
        end.record()
        end.synchronize()
        best = min(best, start.time_till(end) * 1e-3)
    return best


def least_time(nbytes: float | None, flops: float | None) -> tuple[float, str] | None:
    """``(seconds, which)``: the shortest time that the device allows for the given work."""
    if nbytes is None and flops is None:
        return None
    return measure_roofline().limit(nbytes or 0, flops or 0)
