"""`cupy.testing`, as far as the tests of NCCL use it."""

import numpy as np
import pytest

import cupy
from rtcg import driver


def multi_gpu(n):
    return pytest.mark.skipif(driver.Device.count() < n, reason=f"needs {n} devices")


def assert_array_equal(a, b):
    np.testing.assert_array_equal(cupy.asnumpy(a), cupy.asnumpy(b))
