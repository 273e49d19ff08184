"""`rtcg.cufft`: against NumPy and `rtcg.fft` on a GPU, and its errors on the virtual one."""

import numpy as np
import pytest

import rtcg.driver as drv
import rtcg.numpy as xp
from rtcg import cufft, fft
from tests.python.libraries import near, need, numbers

pytestmark = pytest.mark.usefixtures("context")

PRECISIONS = [("C2C", "R2C", "C2R", "float32", "complex64"), ("Z2Z", "D2Z", "Z2D", "float64", "complex128")]


@pytest.fixture
def library(context, on_virtual_device):
    need(cufft, on_virtual_device)
    return cufft


def test_virtual_devices_have_functions_of_their_own(on_virtual_device):
    if not on_virtual_device:
        pytest.skip("there is a GPU, whose numbers are tested below")
    with pytest.raises(
        cufft.CufftError, match="Plan failed: .* is virtual, and cuFFT runs on GPUs only; rtcg.fft comp"
    ):
        cufft.Plan(16, "C2C")
    with pytest.raises(cufft.CufftError, match="cufftPlan1d failed: .*; rtcg.fft computes on both"):
        cufft.cufftPlan1d(16, cufft.CUFFT_C2C, 1)
    assert not cufft.available


def test_plans_that_do_not_fit():
    for call, error, said in [
        (lambda: cufft.Plan(16, "c2c"), ValueError, "kind is 'c2c'; expected 'C2C', 'R2C', 'C2R'"),
        (lambda: cufft.Plan((2, 2, 2, 2), "C2C"), ValueError, r"shape is \[2, 2, 2, 2\]; expected 1 to 3 lengths"),
        (lambda: cufft.Plan((4, 0), "C2C"), ValueError, r"shape is \[4, 0\]; expected lengths of 1 or more, not 0"),
        (lambda: cufft.Plan(1.5, "C2C"), TypeError, "shape is 1.5; expected an integer"),
        (lambda: cufft.Plan(4, "C2C", batch=0), ValueError, "batch is 0; expected 1 or more"),
        (
            lambda: cufft.plan_many(4, "C2C", inembed=(4, 4), onembed=4),
            ValueError,
            r"inembed is \[4, 4\] with the stride",
        ),
        (
            lambda: cufft.plan_many(4, "C2C", inembed=4, onembed=4, ostride=0),
            ValueError,
            "onembed is .* with the stride 0",
        ),
    ]:
        with pytest.raises(error, match=said):
            call()


# -- numbers, on a GPU


@pytest.mark.parametrize("complex_kind, forward, backward, real, dtype", PRECISIONS)
@pytest.mark.parametrize("shape", [(1000,), (31, 64), (5, 6, 7)])
def test_transforms(library, complex_kind, forward, backward, real, dtype, shape):
    axes = tuple(range(1, len(shape) + 1))
    z, r = numbers((3, *shape), dtype), numbers((3, *shape), real)
    plan = library.Plan(shape, complex_kind, batch=3)
    spectrum = np.fft.fftn(z.astype("complex128"), axes=axes)
    result = plan.execute(xp.asarray(z))
    near(result, spectrum)
    near(result, fft.fftn(xp.asarray(z), axes=axes).get())
    near(plan.execute(result, inverse=True), z * np.prod(shape))
    place = xp.asarray(z)
    assert plan.execute(place, out=place) is place
    near(place, spectrum)
    half = np.fft.rfftn(r.astype("float64"), axes=axes)
    result = library.Plan(shape, forward, batch=3).execute(xp.asarray(r))
    near(result, half)
    near(library.Plan(shape, backward, batch=3).execute(result), r * np.prod(shape))


@pytest.mark.parametrize("letter, dtype", [("H", "float16"), ("B", "bfloat16")])
def test_transforms_of_16_bits(library, letter, dtype):
    pytest.importorskip("ml_dtypes")
    z = numbers((4, 256), "complex64")
    pairs = np.stack([z.real, z.imag], axis=-1).astype(np.dtype(dtype))
    given = pairs[..., 0].astype(np.float64) + 1j * pairs[..., 1].astype(np.float64)
    result = library.Plan(256, f"{letter}C2{letter}C", batch=4).execute(xp.asarray(pairs)).get().astype(np.float64)
    found, expected = result[..., 0] + 1j * result[..., 1], np.fft.fft(given)
    rounding = 2**-10 if letter == "H" else 2**-7
    assert np.abs(found - expected).max() <= 20 * rounding * np.abs(expected).max()


def test_layouts_streams_and_work_areas(library):
    z = numbers((100, 8), "complex64")
    x, out = xp.asarray(z), xp.zeros((8, 100), "complex64")
    # Columns of the input become rows of the output.
    plan = library.plan_many(100, "C2C", 8, inembed=100, istride=8, idist=1, onembed=100, ostride=1, odist=100)
    stream = drv.Stream()
    with stream:
        plan.execute(x, out)
    stream.synchronize()
    near(out, np.fft.fft(z.astype("complex128"), axis=0).T)
    with pytest.raises(ValueError, match="out has 792 bytes; the plan reaches over 6400"):
        plan.execute(x, out.ravel()[:99])
    with pytest.raises(TypeError, match="x has dtype complex128; the plan is for complex64"):
        plan.execute(x.astype("complex128"), out)
    long = library.Plan(2**20 * 3 + 1, "C2C")
    values = xp.asarray(numbers(2**20 * 3 + 1, "complex64"))
    expected = long.execute(values).get()
    assert long.work_bytes > 0
    with pytest.raises(ValueError, match="work_area has 8 bytes; expected a contiguous array of at least"):
        long.set_work_area(xp.zeros(8, np.uint8))
    long.set_work_area(xp.empty(long.work_bytes, np.uint8))
    assert (long.execute(values).get() == expected).all()


def test_functions_of_c(library):
    z = numbers((4, 64), "complex64")
    x, y = xp.asarray(z), xp.empty((4, 64), "complex64")
    plan = library.cufftPlanMany(1, [64], None, 1, 64, None, 1, 64, library.CUFFT_C2C, 4)
    library.cufftExecC2C(plan, x.gpudata, y.gpudata, library.CUFFT_FORWARD)
    near(y, np.fft.fft(z.astype("complex128")))
    assert library.cufftGetSize(plan) >= 0 and library.cufftGetVersion() >= 10000
    library.cufftDestroy(plan)
    with pytest.raises(library.CufftError, match="cufftDestroy failed: CUFFT_INVALID_PLAN") as error:
        library.cufftDestroy(plan)
    assert error.value.status == library.CUFFT_INVALID_PLAN
