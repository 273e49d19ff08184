"""Fourier transforms: the same body with NumPy and on the device, over lengths, axes, layouts, dtypes and norms.

Errors are relative, in the L2 norm over the whole result, against NumPy's transform in long double: at most
``eps * (2 + log2(n))`` with eps of the precision that the result is computed in.
"""

import re
import threading

import numpy as np
import pytest
from depth import in_turns, pairs, some
from hypothesis import assume, given, strategies as st
from same_body import COMPLEX, DTYPES, arrays, compare, quickly, run

import pycuda.gpuarray as gpuarray
import rtcg.driver as drv
import rtcg.fft
from rtcg import numpy as rnp

SMOOTH = [1000, 3 * 5 * 7 * 11 * 13, 44100, 2 * 3 * 5 * 7 * 11 * 13, 13**3, 4096 * 3]
ODD_ONES = [67, 97, 127, 251, 509, 1021, 2 * 521, 10007, 65537]
KINDS = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
FROM_REAL = ("rfft", "ihfft")
FROM_HALF = ("irfft", "hfft")
NORMS = ["backward", "ortho", "forward", None]


@pytest.fixture(autouse=True)
def _context(context):
    """Every test here runs in the session's context."""


def numbers(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


def wide(a):
    """The same numbers in long double."""
    return a.astype(np.clongdouble if a.dtype.kind == "c" else np.longdouble)


def is_near(actual, exact, n, factor=1.0):
    """Whether the error of a device array keeps the bound."""
    actual = actual.get()
    assert actual.shape == exact.shape
    size = np.linalg.norm(exact.ravel().astype(np.clongdouble))
    error = np.linalg.norm((actual - exact).ravel().astype(np.clongdouble))
    bound = factor * np.finfo(actual.dtype).eps * (2 + np.log2(n)) * size
    assert error <= bound, f"error {float(error / size)}, expected at most {float(bound / size)}"


def of_kind(kind, n, dtype, batch=(), seed=0):
    """Input of `kind` for a transform of length `n`: precision from `dtype`."""
    length = n // 2 + 1 if kind in FROM_HALF else n
    real = np.empty(0, dtype).real.dtype
    return numbers((*batch, length), real if kind in FROM_REAL else dtype, seed)


def check(kind, n, dtype, batch=(), **wishes):
    a = of_kind(kind, n, dtype, batch, seed=n)
    wanted = getattr(np.fft, kind)(a, n, **wishes)
    actual = getattr(rtcg.fft, kind)(gpuarray.to_gpu(a), n, **wishes)
    assert actual.dtype == wanted.dtype
    is_near(actual, getattr(np.fft, kind)(wide(a), n, **wishes), n)


# -- lengths ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", some(range(1, 65), [*range(1, 10), 11, 13, 16, 17, 21, 25, 30, 32, 37, 45, 49, 64]))
def test_every_short_length(n):
    check("fft", n, np.complex64, (5,))
    check("rfft", n, np.complex64, (5,))
    if n % 4 == 1:
        check("ifft", n, np.complex128, (33,))
        check("irfft", n, np.complex64)


TRANSFORMS = [("fft", np.complex64, (2,)), ("irfft", np.complex64, ()), ("ifft", np.complex128, (3,)),
              ("rfft", np.complex128, ())]  # fmt: skip


@pytest.mark.parametrize(
    "n, transform",
    in_turns(some(SMOOTH + ODD_ONES, [1000, 44100, 13**3, 67, 251, 1021, 10007]), [TRANSFORMS[::3], TRANSFORMS[1:3]]),
    ids=str,
)
def test_lengths_of_many_kinds(n, transform):
    kind, dtype, batch = transform
    check(kind, n, dtype, batch)


@pytest.mark.parametrize("bits", some(range(7, 21), [7, 10, 12, 13, 16, 20]))
def test_powers_of_two(bits):
    check("fft", 1 << bits, np.complex64, (2,))
    check("rfft", 1 << bits, np.complex64)
    if bits in (10, 13, 20):
        check("ifft", 1 << bits, np.complex128)
        check("irfft", 1 << bits, np.complex128)


def test_three_passes():
    n = 1 << 22
    a = numbers(n, np.complex64)
    is_near(rtcg.fft.fft(gpuarray.to_gpu(a)), np.fft.fft(a.astype(np.complex128)), n)
    n = 3 << 20
    a = numbers(n, np.float32)
    is_near(rtcg.fft.rfft(gpuarray.to_gpu(a)), np.fft.rfft(a.astype(np.float64)), n)


@pytest.mark.parametrize("n", [8, 60, 1024, 6144, 65536, 10007])
def test_parseval_and_back(n):
    a = numbers((3, n), np.complex64, seed=n)
    device = gpuarray.to_gpu(a)
    there = rtcg.fft.fft(device)
    energy = (np.abs(there.get().astype(np.complex128)) ** 2).sum() / n
    np.testing.assert_allclose(energy, (np.abs(a.astype(np.complex128)) ** 2).sum(), rtol=1e-6)
    is_near(rtcg.fft.ifft(there), wide(a), n, factor=2)
    real = gpuarray.to_gpu(a.real.copy())
    is_near(rtcg.fft.irfft(rtcg.fft.rfft(real), n), wide(a.real), n, factor=2)


def test_one_element_gives_a_wave():
    n, place = 5 * 7 * 9, 11
    a = np.zeros(n, np.complex128)
    a[place] = 1
    is_near(rtcg.fft.fft(gpuarray.to_gpu(a)), np.exp(-2j * np.pi * (place * np.arange(n) % n) / n), n)


# -- batches, axes, layouts ---------------------------------------------------------------------------


@pytest.mark.parametrize("n, inner, kind", pairs([12, 35, 74, 3000], [3, 8, 50], ["fft", "rfft", "irfft"]))
def test_inner_axes(kind, inner, n):
    a = np.moveaxis(of_kind(kind, n, np.complex64, (2, inner)), 2, 1).copy()
    for host, device in ((a, gpuarray.to_gpu(a)), (a[:, ::-1], gpuarray.to_gpu(a)[:, ::-1])):
        is_near(getattr(rtcg.fft, kind)(device, n, 1), getattr(np.fft, kind)(wide(host), n, 1), n)


@pytest.mark.parametrize("batch", [1, 2, 7, 300])
@pytest.mark.parametrize("n", [4, 49, 512, 3000])
def test_batches_in_both_orders(batch, n):
    a = numbers((batch, n), np.complex64)
    exact = np.fft.fft(wide(a))
    is_near(rtcg.fft.fft(gpuarray.to_gpu(a)), exact, n)
    columns = gpuarray.to_gpu(a.T.copy())
    is_near(rtcg.fft.fft(columns.T), exact, n)
    is_near(rtcg.fft.fft(columns, axis=0), exact.T, n)


def test_parts_of_arrays_and_repeated_ones():
    a = numbers((6, 40, 9), np.complex64)
    device = gpuarray.to_gpu(a)
    parts = [np.s_[::2, 1::3, ::-2], np.s_[3, :, 4], np.s_[:, 5], np.s_[1:4, 2:30]]
    for part in parts:
        for axis in range(a[part].ndim):
            length = a[part].shape[axis]
            is_near(rtcg.fft.fft(device[part], axis=axis), np.fft.fft(wide(a[part]), axis=axis), length)
    row = rnp.broadcast_to(device[0, :, 0], (7, 40))
    is_near(rtcg.fft.fft(row), np.fft.fft(wide(np.broadcast_to(a[0, :, 0], (7, 40)))), 40)
    is_near(rtcg.fft.rfft(device.imag, axis=1), np.fft.rfft(wide(a.imag), axis=1), 40)
    odd = gpuarray.to_gpu(numbers(33, np.float32))[1:]
    is_near(rtcg.fft.rfft(odd), np.fft.rfft(wide(odd.get())), 32)


def test_complex_numbers_between_addresses_of_their_size():
    record = np.dtype([("flag", "i4"), ("z", "c8")], align=False)
    host = np.zeros(20, record)
    host["z"] = numbers(20, np.complex64)
    is_near(rtcg.fft.fft(gpuarray.to_gpu(host)["z"]), np.fft.fft(wide(host["z"])), 20)


@st.composite
def calls(draw):
    """A transform of a drawn array along a drawn axis to a drawn length."""
    kind = draw(st.sampled_from(KINDS))
    dtypes = [dtype for dtype in DTYPES if dtype not in COMPLEX] if kind in FROM_REAL else DTYPES
    shape = tuple(draw(st.lists(st.integers(0, 9), min_size=0, max_size=4)))
    array = draw(arrays(dtypes, shape=shape))
    n = draw(st.none() | st.integers(-1, 20))
    return kind, array, n, draw(st.integers(-5, 4)), draw(st.sampled_from(NORMS))


@quickly
@given(call=calls())
def test_any_array(call):
    kind, array, n, axis, norm = call
    # NumPy's inverse real transforms of nothing read what is not there.
    assume(kind not in FROM_HALF or array.host.size)
    same_body(lambda fft, a: getattr(fft, kind)(a, n, axis, norm), array)


def same_body(body, array):
    """Runs `body` with both modules of transforms; rounding apart, results or classes of errors are the same."""
    wanted, wanted_error = run(body, np.fft, [array.host.copy()])
    actual, error = run(body, rtcg.fft, [array.to_device()])
    if wanted_error is not None:
        assert isinstance(error, (ValueError, TypeError, IndexError)), (
            f"NumPy raises {wanted_error!r}, here is {actual}"
        )
        kinds = [kind for kind in (IndexError, TypeError, ValueError) if isinstance(wanted_error, kind)]
        assert any(isinstance(error, kind) for kind in kinds), f"NumPy raises {wanted_error!r}, the device {error!r}"
        return
    assert error is None, f"NumPy gives {wanted!r}, the device raises {error!r}"
    # NumPy has the factors of norms in the precision of what is transformed.
    is_half = array.host.dtype == np.float16
    rtol = 2e-3 if is_half else {4: 2e-6, 8: 1e-14}[wanted.real.dtype.itemsize]
    compare(actual, wanted, rtol)


@quickly
@given(
    name=st.sampled_from(["fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"]),
    array=arrays([np.dtype("f4"), np.dtype("f8"), np.dtype("i4")], max_ndim=3),
    data=st.data(),
)
def test_several_axes(name, array, data):
    ndim = array.host.ndim
    axes = data.draw(st.none() | st.lists(st.integers(-ndim - 1, ndim), max_size=3).map(tuple))
    s = data.draw(st.none() | st.lists(st.integers(-1, 6), max_size=3).map(tuple))
    norm = data.draw(st.sampled_from(NORMS))
    assume("irfft" not in name or array.host.size)
    same_body(lambda fft, a: getattr(fft, name)(a, s, axes, norm), array)


@pytest.mark.parametrize("shape", [(64, 48), (30, 1009), (16, 18, 20), (128, 515)])
def test_whole_images(shape):
    a = numbers(shape, np.float32)
    device = gpuarray.to_gpu(a)
    n = a.size
    is_near(rtcg.fft.fftn(device), np.fft.fftn(wide(a)), n)
    coefficients = np.fft.rfftn(wide(a))
    half = rtcg.fft.rfftn(device)
    is_near(half, coefficients, n)
    is_near(rtcg.fft.irfftn(half, shape, range(len(shape))), wide(a), n, factor=2)
    is_near(rtcg.fft.ifft2(device), np.fft.ifft2(wide(a)), n)


# -- dtypes, norms, lengths ---------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_dtypes(kind, dtype):
    if kind in FROM_REAL and dtype in COMPLEX:
        with pytest.raises(TypeError, match=f"a has dtype {dtype}; expected real numbers or bool"):
            getattr(rtcg.fft, kind)(gpuarray.zeros(4, dtype))
        return
    a = (numbers((3, 10), np.complex128 if dtype in COMPLEX else np.float64) * 5).astype(dtype)
    wanted = getattr(np.fft, kind)(a)
    actual = getattr(rtcg.fft, kind)(gpuarray.to_gpu(a))
    assert actual.dtype == wanted.dtype
    if wanted.dtype == np.float16:
        np.testing.assert_allclose(actual.get().astype(float), wanted.astype(float), atol=2e-3 * np.abs(wanted).max())
    else:
        is_near(actual, getattr(np.fft, kind)(wide(a) if a.dtype.kind in "fc" else a.astype(np.longdouble)), 20)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("norm", NORMS)
def test_norms(kind, norm):
    for n in (15, 16, 37):
        check(kind, n, np.complex64, (2,), norm=norm)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", some([1, 2, 9, 10, 34, 61, 9000], [1, 9, 34, 9000]))
def test_padding_and_truncation(kind, n):
    for length in (0, 1, 2, 9, 10, 33):
        a = numbers((2, length), np.float32 if kind in FROM_REAL else np.complex64)
        device = gpuarray.to_gpu(a)
        # Of nothing NumPy's inverse real transforms read what is not there.
        exact = getattr(np.fft, kind)(wide(a if length else np.zeros((2, 1), a.dtype)), n)
        is_near(getattr(rtcg.fft, kind)(device, n), exact, n)
        if n in (9, 34):
            is_near(getattr(rtcg.fft, kind)(device.T, n, 0), exact.T, n)


def test_no_elements():
    for shape, axis in (((0, 4), 1), ((3, 0, 5), 2), ((4, 0), 0)):
        a = np.zeros(shape, np.complex64)
        for kind in ("fft", "irfft"):
            wanted = getattr(np.fft, kind)(a, axis=axis)
            actual = getattr(rtcg.fft, kind)(gpuarray.to_gpu(a), axis=axis)
            assert (actual.shape, actual.dtype) == (wanted.shape, wanted.dtype)
    assert rtcg.fft.rfft(gpuarray.zeros((3, 0), np.float32), 4).get().tolist() == [[0, 0, 0]] * 3


def test_what_is_not_finite_spreads():
    a = np.ones(16, np.float32)
    a[3] = np.nan
    assert np.isnan(rtcg.fft.fft(gpuarray.to_gpu(a)).get()).all()


def test_imaginary_parts_of_the_ends_are_passed_over():
    for n in (8, 9):
        a = numbers(n // 2 + 1, np.complex128)
        is_near(rtcg.fft.irfft(gpuarray.to_gpu(a), n), np.fft.irfft(a, n), n)
        coefficients = rtcg.fft.rfft(gpuarray.to_gpu(numbers(n, np.float64))).get()
        assert coefficients[0].imag == 0 and (n % 2 or coefficients[-1].imag == 0)


# -- out, dispatch, frequencies -----------------------------------------------------------------------


def test_out():
    a = numbers((4, 6), np.complex64)
    device = gpuarray.to_gpu(a)
    out = gpuarray.zeros((6, 4), np.complex128).T
    assert rtcg.fft.fft(device, out=out) is out
    compare(out, np.fft.fft(a).astype(np.complex128), 1e-6)
    assert rtcg.fft.fftn(device, (6, 8), (0, 1), out=(other := gpuarray.zeros((6, 8), np.complex64))) is other
    compare(other, np.fft.fftn(a, (6, 8), (0, 1)), 1e-6)
    assert rtcg.fft.fft(device, out=device) is device
    compare(device, np.fft.fft(a), 1e-6)
    real = gpuarray.zeros((4, 10), np.float32)
    assert rtcg.fft.hfft(gpuarray.to_gpu(a), out=real) is real
    compare(real, np.fft.hfft(a), 1e-6)


@pytest.mark.parametrize("name", [name for name in rtcg.fft.__all__ if "freq" not in name])
def test_functions_of_numpy(name):
    a = np.arange(24, dtype=np.float64).reshape(4, 6)
    result = getattr(np.fft, name)(gpuarray.to_gpu(a))
    assert isinstance(result, gpuarray.GPUArray)
    compare(result, getattr(np.fft, name)(a), 1e-14)


def test_names_are_all_of_numpys():
    assert set(rtcg.fft.__all__) == set(np.fft.__all__) - {"test"}


@pytest.mark.parametrize("n", [1, 2, 7, 8, 1001])
def test_frequencies(n):
    for name in ("fftfreq", "rfftfreq"):
        for spacing in (1.0, 0.1, 3):
            compare(getattr(rtcg.fft, name)(n, spacing), getattr(np.fft, name)(n, spacing))
    a = np.arange(3 * n).reshape(3, n)
    for name in ("fftshift", "ifftshift"):
        for axes in (None, 1, -1, (0,), (1, 0)):
            compare(getattr(rtcg.fft, name)(gpuarray.to_gpu(a), axes), getattr(np.fft, name)(a, axes))


# -- bad input ----------------------------------------------------------------------------------------

BAD = [
    (lambda fft, a: fft.fft(a, 0), ValueError, r"Invalid number of FFT data points \(0\) specified."),
    (lambda fft, a: fft.rfft(a, -3), ValueError, r"Invalid number of FFT data points \(-3\) specified."),
    (lambda fft, a: fft.irfft(a[:, :1]), ValueError, r"Invalid number of FFT data points \(0\) specified."),
    (lambda fft, a: fft.fft(a[:, :0]), ValueError, r"Invalid number of FFT data points \(0\) specified."),
    (lambda fft, a: fft.fft(a, 2.5), TypeError, "integer"),
    (lambda fft, a: fft.fft(a, axis="x"), TypeError, "integer"),
    (lambda fft, a: fft.fftn(a, axes=1), TypeError, "iterable|expected a sequence of integers"),
    (lambda fft, a: fft.fftshift(a, axes=7), IndexError, "out of (bounds|range)"),
    (lambda fft, a: fft.fftfreq(-3), ValueError, "negative dimensions are not allowed"),
    (lambda fft, a: fft.fft(a, 4, 2), np.exceptions.AxisError, "axis 2 is out of bounds for array of dimension 2"),
    (lambda fft, a: fft.fft(a, axis=-3), IndexError, "out of (bounds|range)"),
    (lambda fft, a: fft.fft(a, norm="all"), ValueError, "Invalid norm value all; should be"),
    (lambda fft, a: fft.ihfft(a, norm=3), ValueError, "Invalid norm value 3; should be"),
    (lambda fft, a: fft.rfft(a + 1j), TypeError, "real|rfft_n_even"),
    (lambda fft, a: fft.fftn(a, (3,), (0, 1)), ValueError, "Shape and axes have different lengths."),
    (lambda fft, a: fft.fft2(a[0]), IndexError, "out of (bounds|range)"),
    (lambda fft, a: fft.fftn(a, axes=(0, 7)), IndexError, "out of bounds"),
    (lambda fft, a: fft.fftn(a, (2, 0), (0, 1)), ValueError, r"FFT data points \(0\)"),
    (lambda fft, a: fft.rfftn(a, axes=()), IndexError, "index out of range|expected one axis"),
    (lambda fft, a: fft.fft(a, out=a[:, :3] + 0j), ValueError, "output array has wrong shape."),
    (lambda fft, a: fft.fft(a, out=a), TypeError, "float64"),
    (lambda fft, a: fft.fftfreq(2.5), ValueError, "n should be an integer"),
    (lambda fft, a: fft.rfftfreq(0), ZeroDivisionError, "division"),
]


@pytest.mark.parametrize("name", ["fftn", "fft2", "rfftn", "irfft2"])
def test_warnings_name_the_line_that_called(name):
    a = gpuarray.zeros((4, 4), np.complex64 if name == "irfft2" else np.float32)
    with pytest.warns(DeprecationWarning, match="None in s") as caught:
        getattr(rtcg.fft, name)(a, (4, None), (0, 1))
    assert caught[0].filename == __file__


@pytest.mark.parametrize("body, kind, message", BAD)
def test_errors_are_numpys(body, kind, message):
    a = np.ones((3, 4))
    for fft, array in ((np.fft, a), (rtcg.fft, gpuarray.to_gpu(a))):
        with pytest.raises(kind, match=message):
            body(fft, array)


def test_what_only_the_device_refuses():
    a = gpuarray.zeros((3, 4), np.float32)
    with pytest.raises(TypeError, match="out is of type ndarray; expected a GPUArray"):
        rtcg.fft.fft(a, out=np.zeros((3, 4), np.complex64))
    with pytest.raises(ValueError, match=re.escape("out has shape (2, 4); expected (3, 4)")):
        rtcg.fft.fft(a, out=gpuarray.zeros((2, 4), np.complex64))
    with pytest.raises(ValueError, match="device is 'cpu'; expected None or the device"):
        rtcg.fft.fftfreq(4, device="cpu")


# -- streams and memory -------------------------------------------------------------------------------


def test_streams_have_tables_of_their_own():
    """Transforms of one length in two streams, none of which waits for the other."""
    n = 3 * 1009
    hosts = [numbers((4, n), np.complex64, seed) for seed in (1, 2)]
    devices = [gpuarray.to_gpu(host) for host in hosts]
    streams = [drv.Stream(drv.stream_flags.NON_BLOCKING) for _ in hosts]
    results = []
    for stream, device in zip(streams, devices, strict=True):
        with stream:
            results.append(rtcg.fft.fft(device))
    for stream, result, host in zip(streams, results, hosts, strict=True):
        stream.synchronize()
        is_near(result, np.fft.fft(wide(host)), n)


def test_nothing_waits():
    """A host function holds the stream up; the transforms behind it are enqueued all the same."""
    a = numbers((2, 4 * 997), np.complex64)
    device = gpuarray.to_gpu(a)
    rtcg.fft.irfft(rtcg.fft.fft(device))  # Compiles.
    gate = threading.Event()
    stream = drv.Stream()
    with stream:
        stream.launch_host_func(gate.wait, 60)
        there = rtcg.fft.fft(device)
        back = rtcg.fft.ifft(there)
        waits_still = not stream.is_done()
    gate.set()
    stream.synchronize()
    assert waits_still
    is_near(back, wide(a), a.shape[1], factor=2)


def test_errors_name_argument_value_and_what_was_expected():
    fft, z = rtcg.fft, gpuarray.zeros((3, 4), np.complex64)
    record = gpuarray.to_gpu(np.zeros(4, [("x", "f4"), ("y", "f4")]))
    for function in (fft.rfft, fft.ihfft, fft.rfftn, fft.rfft2):
        with pytest.raises(TypeError, match="a has dtype complex64; expected real numbers or bool"):
            function(z)
    for function in (fft.fft, fft.ifft, fft.irfft, fft.hfft, fft.fftn, fft.irfft2):
        with pytest.raises(
            TypeError, match=r"a has dtype \[\('x', '<f4'\), \('y', '<f4'\)\]; expected numbers or bool"
        ):
            function(record)
        with pytest.raises(TypeError, match="a is None; expected an array of numbers or bool"):
            function(None)
    with pytest.raises(TypeError, match="a is an array of dtype <U3; expected an array of numbers or bool"):
        fft.fft(np.array(["one"]))
    with pytest.raises(TypeError, match="s is 3; expected a sequence of integers"):
        fft.fftn(z, s=3, axes=(0,))
    for function in (fft.fftfreq, fft.rfftfreq):
        with pytest.raises(ValueError, match="n is 'a'; expected an integer of 1 or more"):
            function("a")
        with pytest.raises(TypeError, match="d is 'a'; expected a real number"):
            function(4, "a")
