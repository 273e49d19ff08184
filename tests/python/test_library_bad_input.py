"""Filters, segments, neighbours and products: arrays of another context, sizes that no memory has, masks."""

import numpy as np
import pytest

import rtcg.numpy as xp
from rtcg import algorithm, driver, linalg, ndimage, neighbors

CALLS = {
    "correlate": lambda a, b: ndimage.correlate(a(4, 4), b(3, 3)),
    "filter_bank": lambda a, b: ndimage.filter_bank(a(6, 6, 2), b(1, 3, 3, 2)),
    "filter_bank out": lambda a, b: ndimage.filter_bank(a(6, 6, 2), a(1, 3, 3, 2), out=b(4, 4, 1)),
    "segmented_reduce": lambda a, b: algorithm.segmented_reduce(a(3), b(2)),
    "run_length_decode": lambda a, b: algorithm.run_length_decode(a(3), b(3)),
    "reduce_by_key": lambda a, b: algorithm.reduce_by_key(a(3), b(3)),
    "unique_by_key": lambda a, b: algorithm.unique_by_key(a(3), b(3)),
    "knn": lambda a, b: neighbors.knn(a(3, 2), b(4, 2), 1),
    "radius_count": lambda a, b: neighbors.radius_count(a(3, 2), b(4, 2), 1.0),
    "Index": lambda a, b: neighbors.Index(a(3, 2)).search(b(4, 2), 1),
    "epilogue": lambda a, b: linalg.matmul(a(2, 2), a(2, 2), epilogue="acc + c[j]", operands={"c": b(2)}),
}


@pytest.mark.parametrize("name", CALLS)
def test_arrays_of_two_contexts_are_refused(name):
    other = driver.Context.get_device().make_context()
    there = {}
    try:
        for shape in [(3, 3), (1, 3, 3, 2), (4, 4, 1), (2,), (3,), (4, 2)]:
            there[shape] = xp.zeros(shape, np.float32)
        there[(2,)], there[(3,)] = there[(2,)].astype(np.int64), there[(3,)].astype(np.int64)
    finally:
        other.pop()
    with pytest.raises(ValueError, match="different contexts"):
        CALLS[name](lambda *shape: xp.zeros(shape, np.float32), lambda *shape: there[shape])


def test_windows_that_no_memory_has_are_refused():
    image = xp.zeros((4, 5), np.float32)
    with pytest.raises(ValueError, match="radius is 4000000000 .*at most 16777216"):
        ndimage.gaussian_filter(image, 1e9)
    with pytest.raises(ValueError, match="radius is 1099511627776"):
        ndimage.gaussian_filter(image, 1, radius=2**40)
    with pytest.raises(ValueError, match="the window has 1099511627776 pixels on axis 0"):
        ndimage.uniform_filter(image, 2**40)


def test_counts_whose_sum_overflows_are_refused():
    with pytest.raises(ValueError, match=f"counts has {2**62}; expected numbers whose sum fits int64"):
        algorithm.run_length_decode(np.arange(4), np.full(4, 2**62))


def test_operands_without_elements_are_refused():
    with pytest.raises(ValueError, match=r"operand b has shape \(0,\); expected elements"):
        linalg.matmul(xp.ones((2, 3)), xp.ones((3, 4)), epilogue="acc + b[j]", operands={"b": np.zeros(0)})


@pytest.mark.parametrize("call", [
    lambda masked: ndimage.correlate(masked, np.ones(3)),
    lambda masked: ndimage.gaussian_filter(masked, 1),
    lambda masked: algorithm.run_length_encode(masked),
    lambda masked: linalg.matmul(np.ones((1, 4)), np.ones((4, 4)), epilogue="acc + b[j]", operands={"b": masked}),
])  # fmt: skip
def test_masked_arrays_are_refused(call):
    with pytest.raises(TypeError, match="is a masked array"):
        call(np.ma.masked_array(np.arange(4.0), [0, 1, 0, 0]))
