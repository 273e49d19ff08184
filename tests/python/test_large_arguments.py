"""Kernels with arguments as large as a tensor map, which the driver is given each by itself."""

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda.compiler import SourceModule

pytestmark = pytest.mark.usefixtures("context")

SOURCE = """
struct table { double values[32]; };
__global__ void look_up(double *out, const __grid_constant__ table first, int factor,
                        const __grid_constant__ table second)
{
  out[threadIdx.x] = first.values[threadIdx.x] * factor + second.values[31 - threadIdx.x];
}
"""


@pytest.mark.parametrize("way", ["call", "prepared", "stream", "captured"])
def test_tables_are_passed_as_they_are(way):
    kernel = SourceModule(SOURCE).get_function("look_up")
    out = drv.mem_alloc(256)
    launch = {"grid": (1, 1), "block": (32, 1, 1)}
    if way == "prepared":
        kernel.prepare(["P", "256s", "i", "256s"])
    for factor in (2, 3, 5):
        first, second = np.arange(32.0) + factor, np.arange(32.0) ** 2
        drv.memset_d8(out, 0, 256)
        if way == "prepared":
            kernel.prepared_call((1, 1), (32, 1, 1), out, first.tobytes(), factor, second.tobytes())
        elif way == "call":
            kernel(out, first.view("V256")[0], np.int32(factor), second.view("V256")[0], **launch)
        else:
            stream = drv.Stream()
            if way == "captured":
                stream.begin_capture()
            kernel(out, first.view("V256")[0], np.int32(factor), second.view("V256")[0], stream=stream, **launch)
            if way == "captured":
                stream.end_capture().instantiate().launch(stream)
            stream.synchronize()
        found = np.empty(32)
        drv.memcpy_dtoh(found, out)
        np.testing.assert_array_equal(found, first * factor + second[::-1])
