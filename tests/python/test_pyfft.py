"""`pyfft.cuda`: PyFFT's plans, compared with NumPy."""

import numpy as np
import pytest

import rtcg.driver as drv
import rtcg.numpy as rnp
from pyfft.cuda import Plan
from rtcg.tools import DeviceMemoryPool

pytestmark = pytest.mark.usefixtures("context")


def numbers(shape, dtype=np.complex64):
    return (np.random.standard_normal(shape) + 1j * np.random.standard_normal(shape)).astype(dtype)


def assert_near(actual, expected):
    error = np.abs(actual - expected).max()
    assert error <= 40 * np.finfo(actual.dtype).eps * np.abs(expected).max()


@pytest.mark.parametrize(
    "shape, batch, dtype", [(16, 1, "complex64"), ((4, 16), 3, "complex64"), ((4, 6, 8), 2, "complex128")]
)
def test_interleaved(shape, batch, dtype):
    lengths = shape if isinstance(shape, tuple) else (shape,)
    x = numbers((batch, *lengths), dtype)
    expected = np.fft.fftn(x, axes=range(1, x.ndim))
    plan = Plan(shape, dtype=np.dtype(dtype))
    x_gpu, y_gpu = rnp.to_gpu(x), rnp.empty(x.shape, dtype)
    assert plan.execute(x_gpu, y_gpu, batch=batch) is None
    assert_near(y_gpu.get(), expected)
    assert_near(x_gpu.get(), x)
    plan.execute(y_gpu, inverse=True, batch=batch)
    assert_near(y_gpu.get(), x)
    plan.execute(int(x_gpu.gpudata), x_gpu.gpudata, batch=batch)
    assert_near(x_gpu.get(), expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_split(dtype):
    re, im = np.random.standard_normal((2, 3, 4, 16)).astype(dtype)
    expected = np.fft.fft2(re + 1j * im)
    plan = Plan((4, 16), dtype=dtype)
    re_gpu, im_gpu = rnp.to_gpu(re), rnp.to_gpu(im)
    out_re, out_im = rnp.empty_like(re_gpu), rnp.empty_like(im_gpu)
    plan.execute(re_gpu, im_gpu, out_re, out_im, batch=3)
    assert_near(out_re.get() + 1j * out_im.get(), expected)
    assert (re_gpu.get() == re).all() and (im_gpu.get() == im).all()
    plan.execute(re_gpu, im_gpu, batch=3)
    assert_near(re_gpu.get() + 1j * im_gpu.get(), expected)
    plan.execute(re_gpu, im_gpu, re_gpu, im_gpu, inverse=True, batch=3)
    assert_near(re_gpu.get() + 1j * im_gpu.get(), re + 1j * im)


def test_a_split_infinity_stays_where_it_is():
    re, im = np.zeros(16, np.float32), np.zeros(16, np.float32)
    im[0] = np.inf
    re_gpu, im_gpu = rnp.to_gpu(re), rnp.to_gpu(im)
    Plan(16, dtype=np.float32).execute(re_gpu, im_gpu)
    assert im_gpu.get()[0] == np.inf and re_gpu.get()[0] == 0


@pytest.mark.parametrize("normalize, scale, there, back", [(True, 1.0, 1, 1), (False, 1.0, 1, 16), (True, 4.0, 4, 1)])
def test_normalize_and_scale(normalize, scale, there, back):
    x = numbers(16)
    x_gpu = rnp.to_gpu(x)
    plan = Plan(16, normalize=normalize, scale=scale, fast_math=False)
    plan.execute(x_gpu)
    assert_near(x_gpu.get(), np.fft.fft(x) * there)
    plan.execute(x_gpu, inverse=True)
    assert_near(x_gpu.get(), x * back)


def test_who_waits():
    x_gpu = rnp.to_gpu(numbers(16))
    given = drv.Stream()
    assert Plan(16).execute(x_gpu) is None
    assert Plan(16, stream=given).execute(x_gpu) == given
    assert Plan(16, stream=given, wait_for_finish=True).execute(x_gpu) is None
    assert Plan(16, stream=given).execute(x_gpu, wait_for_finish=True) is None
    context = drv.Context.get_current()
    plan = Plan(16, context=context, mempool=DeviceMemoryPool())
    assert plan.execute(x_gpu) is None
    streams = [plan.execute(x_gpu, wait_for_finish=False) for _ in range(2)]
    assert streams[0] != streams[1]
    plan = Plan(16, wait_for_finish=False)
    streams = [plan.execute(x_gpu) for _ in range(2)]
    assert streams[0] == streams[1]
    streams[0].synchronize()


def test_wrong_arguments():
    for shape in ((2, 2, 2, 2), "16", (), 0, (4, -4), [4, 4]):
        with pytest.raises(ValueError, match="shape is .*; expected an int, or a tuple of one to three"):
            Plan(shape)
    with pytest.raises(ValueError, match="dtype is .*int32.*; expected complex64 or complex128, or float32"):
        Plan(16, dtype=np.int32)
    x_gpu = rnp.zeros(16, np.complex64)
    with pytest.raises(TypeError):
        Plan(16).execute(x_gpu, x_gpu, x_gpu, x_gpu, inverse=True)
    with pytest.raises(ValueError, match="data_in has 128 bytes; expected at least 256"):
        Plan(16).execute(x_gpu, batch=2)
    for wrong in (np.complex128, np.float32):
        with pytest.raises(ValueError, match=f"data_in has dtype {np.dtype(wrong)}; expected complex64"):
            Plan(16).execute(rnp.zeros(32, wrong))
    with pytest.raises(ValueError, match="data_in is a view whose elements are not adjacent"):
        Plan(8).execute(x_gpu[::2])
    with pytest.raises(ValueError, match="data_out has dtype complex128; expected complex64"):
        Plan(16).execute(x_gpu, rnp.zeros(16, np.complex128))
    with pytest.raises(ValueError, match="batch is 0"):
        Plan(16).execute(x_gpu, batch=0)
    parts = [rnp.zeros(16, np.float32) for _ in range(3)]
    with pytest.raises(TypeError, match="one of data_out_re and data_out_im is None"):
        Plan(16, dtype=np.float32).execute(*parts)
    with pytest.raises(TypeError, match="data_in is .*; expected an array on the device or a device pointer"):
        Plan(16).execute(np.zeros(16, np.complex64))
