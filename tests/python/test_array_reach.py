"""Strides, offsets and shapes that callers make up stay inside of the memory, or are a `ValueError` that says what
reaches where."""

import numpy as np
import pytest

from rtcg import driver, numpy as xp

pytestmark = pytest.mark.usefixtures("context")


class Interface:
    """An object of another library."""

    def __init__(self, array, **changes):
        self.array = array
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, **changes}


WAYS = {
    "interface": lambda a, shape, strides: xp.asarray(Interface(a, shape=shape, strides=strides)),
    "address": lambda a, shape, strides: xp.GPUArray(shape, np.float32, gpudata=int(a.gpudata), strides=strides),
    "allocation": lambda a, shape, strides: xp.GPUArray(shape, np.float32, gpudata=a.gpudata, strides=strides),
    "array": lambda a, shape, strides: xp.GPUArray(shape, np.float32, gpudata=a, strides=strides),
}

# The 64 bytes of a matrix of 4 x 4.
OUTSIDE = [
    ((4, 4), (10**9, 4)), ((4, 4), (2**61, 4)), ((4, 4), (-(10**9), 4)), ((4, 4), (16, -(2**62))),
    ((2**40,), (4,)), ((2**20, 4), (2**40, 4)), ((4, 4), (-(2**50), 2**50)),
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("shape, strides", OUTSIDE)
def test_layouts_outside_of_the_memory_are_refused(way, shape, strides):
    a = xp.ones((4, 4), np.float32)
    with pytest.raises(ValueError, match=r"takes the bytes -?\d+ to \d+ .* memory, which has the bytes"):
        WAYS[way](a, shape, strides)


@pytest.mark.parametrize("way", ["allocation", "array"])
def test_the_memory_of_an_array_is_exact(way):
    a = xp.ones((4, 4), np.float32)
    for shape, strides in (((4, 4), (20, 4)), ((17,), (4,)), ((4, 4), (16, -4))):
        with pytest.raises(ValueError, match="takes the bytes"):
            WAYS[way](a, shape, strides)


@pytest.mark.parametrize("way", WAYS)
def test_layouts_inside_of_the_memory_are_taken(way):
    host = np.arange(16, dtype=np.float32).reshape(4, 4)
    a = xp.to_gpu(host)
    np.testing.assert_array_equal(WAYS[way](a, (4, 4), (4, 16)).get(), host.T)
    np.testing.assert_array_equal(WAYS[way](a, (2, 2), (32, 8)).get(), host[::2, ::2])
    windows = WAYS[way](a, (14, 3), (4, 4))
    np.testing.assert_array_equal((windows + 1).get(), np.lib.stride_tricks.sliding_window_view(host.ravel(), 3) + 1)
    assert WAYS[way](a, (0, 4), (10**9, 4)).shape == (0, 4)


def test_views_backwards_are_taken_from_interfaces():
    host = np.arange(16, dtype=np.float32).reshape(4, 4)
    a = xp.to_gpu(host)[::-1, ::-1]
    np.testing.assert_array_equal(xp.asarray(Interface(a)).get(), host[::-1, ::-1])
    np.testing.assert_array_equal(xp.from_dlpack(a.copy()).get(), host[::-1, ::-1])


def test_attributes_and_other_memory_are_checked():
    a = xp.ones((4, 4), np.float32)
    with pytest.raises(ValueError, match="takes the bytes"):
        a.strides = (1000, 4)
    with pytest.raises(ValueError, match="takes the bytes"):
        a.gpudata = driver.mem_alloc(32)
    a.gpudata = driver.mem_alloc(64)
    a.fill(2)
    assert a.get().sum() == 32
