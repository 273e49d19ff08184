"""The names of CuPy that its tests of NCCL and NVIDIA's examples of nccl4py use, for arrays of rtcg."""

from types import SimpleNamespace

import rtcg.numpy as _rnp
from cupy import cuda as cuda


class ndarray(_rnp.GPUArray):
    """An array that gives its address as CuPy does."""

    @property
    def data(self):
        return SimpleNamespace(ptr=self.ptr)


def _of(function):
    def made(*arguments, **keywords):
        array = function(*arguments, **keywords)
        new = ndarray(array.shape, array.dtype)
        new[...] = array
        return new

    return made


arange, array, empty_like, zeros, zeros_like = map(
    _of, (_rnp.arange, _rnp.array, _rnp.empty_like, _rnp.zeros, _rnp.zeros_like)
)


def __getattr__(name):
    return getattr(_rnp, name)
