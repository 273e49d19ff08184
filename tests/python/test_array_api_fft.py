"""The extension `fft` of the Array API standard, beside the reference `array_api_strict`."""

import inspect

import numpy as np
import pytest
from array_api_reference import COMPLEX, FLOATS, allowed, arrays, few, numbers, ours, strict
from hypothesis import given, strategies as st

NAMES = sorted(strict.fft.__all__)
FROM_REAL = ("rfft", "rfftn", "ihfft")
NORMS = ["backward", "ortho", "forward"]


@pytest.fixture(autouse=True)
def _context(context):
    """Every test here runs in the session's context."""


def agrees(name, host, **wishes):
    """Value, dtype and shape are those of the reference."""
    wanted = getattr(strict.fft, name)(strict.asarray(host), **wishes)
    actual = getattr(ours.fft, name)(ours.asarray(host), **wishes)
    wanted = np.asarray(wanted)
    assert actual.dtype == wanted.dtype and actual.shape == wanted.shape
    tolerance = np.finfo(wanted.dtype).eps * 8
    size = np.abs(wanted).max(initial=1)
    np.testing.assert_allclose(actual.get(), wanted, rtol=0, atol=tolerance * size)


@pytest.mark.parametrize("name", NAMES)
def test_names_and_signatures(name):
    wanted = inspect.signature(getattr(strict.fft, name)).parameters
    own = inspect.signature(getattr(ours.fft, name)).parameters
    assert list(own) == list(wanted) and name in ours.fft.__all__
    assert [p.kind for p in own.values()] == [p.kind for p in wanted.values()]
    assert [p.default for p in own.values()] == [p.default for p in wanted.values()]


def test_the_extension_is_found():
    assert "fft" in ours.__all__
    assert ours.asarray([1.0]).__array_namespace__().fft is ours.fft
    assert ours.__array_namespace_info__().capabilities() == strict.__array_namespace_info__().capabilities()


@pytest.mark.parametrize("name", [name for name in NAMES if "freq" not in name])
def test_dtypes(name):
    taken = allowed(lambda xp, make: getattr(xp.fft, name)(make(), **({"n": 2} if name in ("irfft", "hfft") else {})))
    assert taken
    for dtype in taken:
        agrees(name, numbers(dtype, (4, 6), 7))


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
@few
@given(data=st.data())
def test_along_an_axis(name, data):
    dtype = data.draw(st.sampled_from(FLOATS if name in FROM_REAL else COMPLEX))
    host = data.draw(arrays(dtype, min_ndim=1, min_length=2, max_length=9))
    n = data.draw(st.none() | st.integers(1, 12))
    axis = data.draw(st.integers(-host.ndim, host.ndim - 1))
    agrees(name, host, n=n, axis=axis, norm=data.draw(st.sampled_from(NORMS)))


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
@few
@given(data=st.data())
def test_over_axes(name, data):
    dtype = data.draw(st.sampled_from(FLOATS if name in FROM_REAL else COMPLEX))
    host = data.draw(arrays(dtype, min_ndim=2, min_length=2, max_length=7))
    axes = data.draw(st.none() | st.permutations(range(host.ndim)).map(lambda order: order[:2]))
    s = None if axes is None else data.draw(st.none() | st.lists(st.integers(1, 8), min_size=2, max_size=2))
    agrees(name, host, s=s, axes=axes, norm=data.draw(st.sampled_from(NORMS)))


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
@pytest.mark.parametrize("n", [1, 4, 9])
def test_frequencies(name, n):
    (device,) = ours.__array_namespace_info__().devices()
    for dtype in (None, *FLOATS):
        wanted = np.asarray(getattr(strict.fft, name)(n, d=0.25, dtype=dtype and getattr(strict, dtype)))
        actual = getattr(ours.fft, name)(n, d=0.25, dtype=dtype and getattr(ours, dtype), device=device)
        assert actual.dtype == wanted.dtype
        np.testing.assert_array_equal(actual.get(), wanted)


def test_shifts():
    for name in ("fftshift", "ifftshift"):
        for axes in (None, 0, (0, 1)):
            agrees(name, numbers("float32", (5, 4), 3), axes=axes)


def test_what_is_refused():
    a = ours.ones((4, 4), dtype=ours.complex64)
    with pytest.raises(TypeError, match="expected real numbers"):
        ours.fft.rfft(a)
    with pytest.raises(ValueError, match="axes is None and s is"):
        ours.fft.fftn(a, s=(2, 2))
    with pytest.raises(ValueError, match="dtype is complex64; expected a real floating-point dtype"):
        ours.fft.fftfreq(4, dtype=ours.complex64)
    with pytest.raises(ValueError, match="device is 'other'"):
        ours.fft.rfftfreq(4, device="other")
