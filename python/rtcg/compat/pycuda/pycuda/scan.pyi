"""Scans under PyCUDA's names; `rtcg.scan` documents them and has more."""

from rtcg.scan import (
    ExclusiveScanKernel as ExclusiveScanKernel,
    InclusiveScanKernel as InclusiveScanKernel,
)

__all__ = [
    "ExclusiveScanKernel",
    "InclusiveScanKernel",
]
