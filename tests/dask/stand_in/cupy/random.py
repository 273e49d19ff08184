"""Generators with all distributions: those that `rtcg.random` lacks are drawn by NumPy, and copied to the device."""

import numpy as np

import rtcg.numpy as rnp
from rtcg import dask as _dask, random as _random


class BitGenerator(_dask.BitGenerator):
    """Of a name from which Dask finds this module."""


class _AllDistributions:
    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        if hasattr(self._device, name):
            return getattr(self._device, name)
        method = getattr(self._host, name)
        return lambda *args, **keywords: rnp.asarray(method(*args, **keywords))


class RandomState(_AllDistributions):
    def __init__(self, seed=None):
        self._device, self._host = _dask.RandomState(seed), np.random.RandomState(seed)


class Generator(_AllDistributions):
    def __init__(self, bit_generator):
        self.bit_generator = bit_generator
        self._device = _random.Generator(bit_generator)
        self._host = np.random.Generator(np.random.PCG64(bit_generator._seed_seq))


def default_rng(seed=None):
    return Generator(seed if isinstance(seed, BitGenerator) else BitGenerator(seed))
