"""GPU run-time code generation: CUDA C++ as text, compiled, cached and launched, on NVIDIA GPUs and on a virtual GPU.

`rtcg.driver` has the driver API and `rtcg.compiler` compiles. `rtcg.numpy`, `rtcg.linalg` and `rtcg.fft` compute with
arrays on the device; `rtcg.elementwise`, `rtcg.reduction` and `rtcg.scan` make kernels from C expressions. The
distribution ``rtcg-pycuda`` adds ``import pycuda`` for programs written for PyCUDA.
"""

from rtcg import _native

__version__ = _native.__version__


def __getattr__(name):
    """`fuse` is imported when it is asked for: the modules of the package need not be."""
    if name == "fuse":
        from rtcg._fuse import fuse

        globals()["fuse"] = fuse
        return fuse
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(shell):
    """``%load_ext rtcg``: the cell magic ``%%cuda_kernel`` of `rtcg.ipython`."""
    from rtcg import ipython

    ipython.load_ipython_extension(shell)


def unload_ipython_extension(shell):
    """``%unload_ext rtcg``"""
    from rtcg import ipython

    ipython.unload_ipython_extension(shell)
