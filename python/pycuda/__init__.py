"""PyCUDA's modules over the Rust core of rtcg.

Distributed as ``rtcg``; imported as ``pycuda`` so that programs written for PyCUDA run unchanged.
"""

# The version of PyCUDA's interface that the modules follow.
VERSION = (2026, 1)
VERSION_STATUS = ""
VERSION_TEXT = ".".join(map(str, VERSION)) + VERSION_STATUS


def __getattr__(name):
    """`fuse` is imported when it is asked for: the modules of the package need not be."""
    if name == "fuse":
        from pycuda._fuse import fuse

        globals()["fuse"] = fuse
        return fuse
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(shell):
    """``%load_ext pycuda``: the cell magic ``%%cuda_kernel`` of `pycuda.ipython`."""
    from pycuda import ipython

    ipython.load_ipython_extension(shell)


def unload_ipython_extension(shell):
    """``%unload_ext pycuda``"""
    from pycuda import ipython

    ipython.unload_ipython_extension(shell)
