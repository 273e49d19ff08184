"""Where Copperhead's programs run."""

from rtcg.copperhead import CuFunction, places, to_numpy

__all__ = [
    "CuFunction",
    "backends",
    "cuda_support",
    "float64_support",
    "omp_support",
    "places",
    "tbb_support",
    "to_numpy",
]

#: Whether there are places for devices: always, as there are virtual ones.
cuda_support = True
#: Whether programs may use float64.
float64_support = True
#: Whether there are places for OpenMP and TBB: `places.here` and the virtual devices are on the host.
omp_support = tbb_support = False
#: The places that programs are compared at.
backends = [places.here, places.gpu0]
