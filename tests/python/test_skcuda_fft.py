"""`skcuda.fft` and `skcuda.cufft`: transforms by plans, compared with NumPy's."""

import re

import numpy as np
import pytest

import rtcg.driver as drv
import rtcg.numpy as rnp
import skcuda.fft as cu_fft
from skcuda import cufft

pytestmark = pytest.mark.usefixtures("context")

SINGLE, DOUBLE = ("float32", "complex64"), ("float64", "complex128")


def numbers(shape, dtype):
    values = np.random.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * np.random.standard_normal(shape)
    return values.astype(dtype)


def assert_near(actual, expected):
    """Within a few roundings of the largest element."""
    actual = actual.get() if hasattr(actual, "gpudata") else actual
    assert actual.shape == expected.shape
    assert np.abs(actual - expected).max() <= 40 * np.finfo(actual.dtype).eps * np.abs(expected).max()


@pytest.mark.parametrize("lengths, batch, dtypes", [((8,), 1, SINGLE), ((8, 5), 3, SINGLE), ((4, 3, 6), 2, DOUBLE)])
def test_real_transforms_there_and_back(lengths, batch, dtypes):
    real, complex_ = dtypes
    x = numbers((batch, *lengths), real)
    axes = range(1, x.ndim)
    half = (batch, *lengths[:-1], lengths[-1] // 2 + 1)
    x_gpu, y_gpu, back_gpu = rnp.to_gpu(x), rnp.empty(half, complex_), rnp.empty(x.shape, real)
    cu_fft.fft(x_gpu, y_gpu, cu_fft.Plan(lengths, real, complex_, batch=batch))
    assert_near(y_gpu, np.fft.rfftn(x, axes=axes))
    plan = cu_fft.Plan(lengths, complex_, real, batch)
    cu_fft.ifft(y_gpu, back_gpu, plan, True)
    assert_near(back_gpu, x)
    cu_fft.ifft(y_gpu, back_gpu, plan)
    assert_near(back_gpu, x * np.prod(lengths))


@pytest.mark.parametrize("lengths, batch, dtype", [((8,), 1, "complex64"), ([6, 4], 3, "complex128")])
def test_complex_transforms_in_place_and_not(lengths, batch, dtype):
    x = numbers((batch, *lengths), dtype)
    axes = tuple(range(1, x.ndim))
    x_gpu = rnp.to_gpu(x)
    y_gpu = rnp.empty_like(x_gpu)
    plan = cu_fft.Plan(lengths, dtype, np.dtype(dtype), batch)
    assert cu_fft.fft(x_gpu, y_gpu, plan) is None
    assert_near(y_gpu, np.fft.fftn(x, axes=axes))
    cu_fft.fft(x_gpu, x_gpu, plan, scale=True)
    assert_near(x_gpu, np.fft.fftn(x, axes=axes) / np.prod(lengths))
    cu_fft.ifft(x_gpu, x_gpu, plan)
    assert_near(x_gpu, x)


def test_only_the_memory_of_arrays_counts():
    x = numbers((4, 6), "complex64")
    plan = cu_fft.Plan(6, np.complex64, np.complex64, batch=4)
    y_gpu = rnp.empty(24, np.complex64)
    cu_fft.fft(rnp.to_gpu(x).reshape(2, 12), y_gpu, plan)
    assert_near(y_gpu.reshape(4, 6), np.fft.fft(x))
    parts_gpu = rnp.to_gpu(x.view(np.float32))
    cu_fft.fft(parts_gpu, y_gpu, plan)
    assert_near(y_gpu.reshape(4, 6), np.fft.fft(x))
    # Rows of a larger array, and a longer array of which the beginning is transformed.
    stack_gpu = rnp.to_gpu(np.stack([x, 2 * x]))
    cu_fft.fft(stack_gpu[1], stack_gpu[0], plan)
    assert_near(stack_gpu[0], np.fft.fft(2 * x))


@pytest.mark.parametrize("as_array", [list, lambda sizes: np.array(sizes, np.int32)])
def test_columns_of_a_matrix(as_array):
    """Strides instead of a transposition: transforms along the first axis."""
    x = numbers((8, 5), "complex64")
    layout = {"inembed": as_array([8]), "istride": 5, "idist": 1, "onembed": as_array([8]), "ostride": 5, "odist": 1}
    plan = cu_fft.Plan(8, np.complex64, np.complex64, 5, **layout)
    x_gpu = rnp.to_gpu(x)
    cu_fft.fft(x_gpu, x_gpu, plan)
    assert_near(x_gpu, np.fft.fft(x, axis=0))
    cu_fft.ifft(x_gpu, x_gpu, plan, scale=True)
    assert_near(x_gpu, x)


def test_a_block_of_a_larger_array_is_transformed_into_one_with_gaps():
    whole = numbers((3, 6, 10), "float32")
    inembed, onembed = np.array([6, 10], np.int32), np.array([4, 5], np.int32)
    plan = cu_fft.Plan(
        (4, 8), np.float32, np.complex64, 3, inembed=inembed, istride=1, idist=60, onembed=onembed, ostride=2, odist=45
    )
    y_gpu = rnp.full((3, 45), 7, np.complex64)
    cu_fft.fft(rnp.to_gpu(whole), y_gpu, plan)
    expected = np.fft.rfft2(whole[:, :4, :8])
    actual = y_gpu.get()
    at = (2 * (np.arange(4)[:, None] * 5 + np.arange(5))).ravel()
    assert_near(actual[:, at].reshape(3, 4, 5), expected)
    rest = np.delete(actual, at, axis=1)
    assert (rest == 7).all()


def test_overlapping_windows_are_read():
    x = numbers(64, "float32")
    plan = cu_fft.Plan(16, np.float32, np.complex64, 7, inembed=[16], idist=8, onembed=[9], odist=9)
    y_gpu = rnp.empty((7, 9), np.complex64)
    cu_fft.fft(rnp.to_gpu(x), y_gpu, plan)
    assert_near(y_gpu, np.fft.rfft(np.lib.stride_tricks.sliding_window_view(x, 16)[::8]))


def test_layouts_without_embedding_have_no_meaning():
    x = numbers((2, 4), "complex64")
    plan = cu_fft.Plan(4, np.complex64, np.complex64, 2, istride=3, idist=50, ostride=9, odist=1, inembed=[4])
    y_gpu = rnp.empty((2, 4), np.complex64)
    cu_fft.fft(rnp.to_gpu(x), y_gpu, plan)
    assert_near(y_gpu, np.fft.fft(x))


def test_plans_in_streams():
    x, y = numbers((2, 8), "float32"), numbers((2, 8), "float32")
    streams = [drv.Stream(), drv.Stream()]
    results = []
    for stream, values in zip(streams, (x, y), strict=True):
        values_gpu, result_gpu = rnp.to_gpu(values), rnp.empty((2, 5), np.complex64)
        plan = cu_fft.Plan(8, np.float32, np.complex64, batch=2, stream=stream)
        cu_fft.fft(values_gpu, result_gpu, plan, True)
        results.append(result_gpu)
    for stream in streams:
        stream.synchronize()
    assert_near(results[0], np.fft.rfft(x) / 8)
    assert_near(results[1], np.fft.rfft(y) / 8)


def test_attributes_and_work_areas():
    plan = cu_fft.Plan((4, 4), np.float32, np.complex64, batch=2, mode=0, auto_allocate=False)
    assert plan.shape == (4, 4) and plan.batch == 2 and plan.worksize == 0
    assert plan.fft_type == cufft.CUFFT_R2C and plan.fft_func is cufft.cufftExecR2C
    assert (plan.in_dtype, plan.out_dtype) == (np.float32, np.complex64)
    plan.set_work_area(rnp.empty((plan.worksize,), np.uint8))
    assert cu_fft.Plan(5, np.float32, np.complex64).shape == (5,)
    handle = plan.handle
    del plan
    with pytest.raises(cufft.cufftInvalidPlan, match=f"plan is {handle}; expected a handle"):
        cufft.cufftGetSize(handle)


def test_wrong_plans():
    c64 = np.complex64
    for arguments, options, said in [
        ((8, np.float32, np.float32), {}, "in_dtype is float32 and out_dtype is float32; expected"),
        ((8, np.float32, np.complex128), {}, "out_dtype is complex128; expected"),
        ((8, c64, c64, 0), {}, "batch is 0; expected 1 or more"),
        (((), c64, c64), {}, "shape is (); expected one axis at least"),
        ((0, c64, c64), {}, "shape is 0; expected an integer of at least 1"),
        (((4, 4), c64, c64), {"inembed": [4, 3], "onembed": [4, 4]}, "inembed[1] is 3; expected at least 4"),
        (((4, 4), c64, c64), {"inembed": [4], "onembed": [4, 4]}, "inembed has 1 elements; expected rank, which is 2"),
        ((4, c64, c64), {"inembed": [4], "onembed": [4], "ostride": 0}, "ostride is 0; expected 1 or more"),
        ((4, c64, c64, 2), {"inembed": [4], "onembed": [4]}, "odist is 0; expected an integer of at least 1"),
    ]:
        with pytest.raises(ValueError, match=re.escape(said)):
            cu_fft.Plan(*arguments, **options)
    with pytest.raises(TypeError, match="shape is 1.5"):
        cu_fft.Plan(1.5, c64, c64)


def test_wrong_arrays():
    forward, inverse = cu_fft.Plan(8, np.float32, np.complex64), cu_fft.Plan(8, np.complex64, np.float32)
    real, half = rnp.zeros(8, np.float32), rnp.zeros(5, np.complex64)
    with pytest.raises(ValueError, match="complex numbers to real ones; expected ifft"):
        cu_fft.fft(half, real, inverse)
    with pytest.raises(ValueError, match="real numbers to complex ones; expected fft"):
        cu_fft.ifft(real, half, forward)
    with pytest.raises(ValueError, match="only complex data can be transformed in place"):
        cu_fft.fft(half, half, forward)
    with pytest.raises(ValueError, match="x_gpu has 16 bytes; expected at least 32"):
        cu_fft.fft(rnp.zeros(4, np.float32), half, forward)
    with pytest.raises(ValueError, match="y_gpu has 32 bytes; expected at least 40"):
        cu_fft.fft(real, half[1:], forward)
    with pytest.raises(ValueError, match="x_gpu has dtype float64; expected float32, as the plan says"):
        cu_fft.fft(rnp.zeros(8), half, forward)
    with pytest.raises(ValueError, match="y_gpu has dtype int32; expected complex64"):
        cu_fft.fft(real, rnp.zeros(10, np.int32), forward)
    with pytest.raises(ValueError, match="x_gpu is a view whose elements are not adjacent"):
        cu_fft.fft(rnp.zeros(16, np.float32)[::2], half, forward)
    with pytest.raises(TypeError, match="y_gpu is .*; expected a GPUArray"):
        cu_fft.fft(real, np.zeros(5, np.complex64), forward)
    with pytest.raises(TypeError, match="plan is 5; expected a Plan"):
        cu_fft.fft(real, half, 5)


def test_functions_of_cufft():
    x = numbers((3, 4, 6), "complex128")
    x_gpu = rnp.to_gpu(x)
    y_gpu = rnp.empty_like(x_gpu)
    for plan, expected, n in [
        (cufft.cufftPlan1d(6, cufft.CUFFT_Z2Z, 12), np.fft.fft(x), 6),
        (cufft.cufftPlan3d(3, 4, 6, cufft.CUFFT_Z2Z), np.fft.fftn(x), 72),
    ]:
        cufft.cufftExecZ2Z(plan, int(x_gpu.gpudata), int(y_gpu.gpudata), cufft.CUFFT_FORWARD)
        assert_near(y_gpu, expected)
        cufft.cufftExecZ2Z(plan, y_gpu.gpudata, y_gpu.gpudata, cufft.CUFFT_INVERSE)
        assert_near(y_gpu, x * n)
        cufft.cufftDestroy(plan)
    sizes = np.array([4, 6], np.int32)
    plan = cufft.cufftPlanMany(2, sizes.ctypes.data, None, 1, 0, None, 1, 0, cufft.CUFFT_D2Z, 3)
    stream = drv.Stream()
    cufft.cufftSetStream(plan, stream.handle)
    half_gpu = rnp.empty((3, 4, 4), np.complex128)
    real = np.ascontiguousarray(x.real)
    real_gpu = rnp.to_gpu(real)
    cufft.cufftExecD2Z(plan, int(real_gpu.gpudata), int(half_gpu.gpudata))
    stream.synchronize()
    assert_near(half_gpu, np.fft.rfft2(real))
    plan = cufft.cufftPlan2d(4, 6, cufft.CUFFT_Z2D)
    cufft.cufftExecZ2D(plan, half_gpu, real_gpu)
    assert_near(real_gpu[0] / 24, real[0])


def test_errors_of_cufft():
    with pytest.raises(cufft.cufftInvalidPlan, match="plan is 0; expected"):
        cufft.cufftDestroy(0)
    with pytest.raises(cufft.cufftInvalidType, match="fft_type is 5"):
        cufft.cufftPlan1d(8, 5, 1)
    with pytest.raises(cufft.cufftInvalidSize, match=r"n\[0\] is 0; expected 1 or more"):
        cufft.cufftPlan1d(0, cufft.CUFFT_C2C, 1)
    plan = cufft.cufftPlan1d(8, cufft.CUFFT_C2C, 1)
    with pytest.raises(cufft.cufftInvalidType, match="the plan is of type 0x29; expected 0x69"):
        cufft.cufftExecZ2Z(plan, 0, 0, cufft.CUFFT_FORWARD)
    with pytest.raises(cufft.cufftInvalidValue, match="direction is 3"):
        cufft.cufftExecC2C(plan, 0, 0, 3)
    with pytest.raises(cufft.cufftInvalidPlan, match="no transform"):
        cufft.cufftExecC2C(cufft.cufftCreate(), 0, 0, 1)
    with pytest.raises(cufft.cufftExceptions[8]):
        cufft.cufftCheckStatus(8)
