"""The names of CuPy that Dask's tests use, for arrays of rtcg.

`importlib` gives `random` when it is asked for: Dask imports this module while it is imported itself.
"""

import importlib

import rtcg.numpy as _rnp
from rtcg import linalg as linalg

#: Some of the tests ask for a recent one.
__version__ = "14.0.0"
ndarray = _rnp.GPUArray


def __getattr__(name):
    if name == "random":
        return importlib.import_module("cupy.random")
    return getattr(_rnp, name)
