"""GPU run-time code generation: CUDA C++ as text, compiled, cached and launched, on NVIDIA GPUs and on a virtual GPU.

`rtcg.driver` has the driver API and `rtcg.compiler` compiles. `rtcg.numpy`, `rtcg.linalg` and `rtcg.fft` compute with
arrays on the device; `rtcg.elementwise`, `rtcg.reduction` and `rtcg.scan` make kernels from C expressions. The
distribution ``rtcg-pycuda`` adds ``import pycuda`` for programs written for PyCUDA.
"""

import os.path

from rtcg import _native
from rtcg._messages import shown as _shown

__version__ = _native.__version__

# PTX of kernels that the array functions use again and again; `tools/prebuilt.py` makes it.
_native.use_prebuilt_programs(os.path.join(os.path.dirname(__file__), "prebuilt.ptx"))


# Modules that are imported when they are asked for. (`rtcg.autoinit`, which makes a context, is imported by name.)
_LAZY_MODULES = frozenset({
    "algorithm", "array_api", "checking", "compiler", "devices", "driver", "elementwise", "fft", "gl", "info", "linalg",
    "ndimage", "neighbors", "numpy", "nvtx", "profile", "random", "reduction", "scan", "sparse", "tools", "tracing",
})  # fmt: skip


def __getattr__(name):
    """Import `benchmark`, `einsum`, `fuse` and the modules on first use, so that others need no time."""
    if name == "benchmark":
        from rtcg.profile import benchmark

        globals()["benchmark"] = benchmark
        return benchmark
    if name == "exports_wait":
        from rtcg._exports import exports_wait

        globals()["exports_wait"] = exports_wait
        return exports_wait
    if name == "fuse":
        from rtcg._fuse import fuse

        globals()["fuse"] = fuse
        return fuse
    if name == "einsum":
        from rtcg.numpy import einsum

        globals()["einsum"] = einsum
        return einsum
    if name in _LAZY_MODULES:
        import importlib

        return importlib.import_module(f"rtcg.{name}")
    raise AttributeError(f"module {_shown(__name__)} has no attribute {_shown(name)}")


def __dir__():
    return sorted({*globals(), *_LAZY_MODULES, "benchmark", "einsum", "exports_wait", "fuse"})


def load_ipython_extension(shell):
    """Register the cell magic ``%%cuda_kernel`` of `rtcg.ipython`, for ``%load_ext rtcg``."""
    from rtcg import ipython

    ipython.load_ipython_extension(shell)


def unload_ipython_extension(shell):
    """Remove the cell magic, for ``%unload_ext rtcg``."""
    from rtcg import ipython

    ipython.unload_ipython_extension(shell)
