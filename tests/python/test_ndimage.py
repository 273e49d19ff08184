"""`rtcg.ndimage` against scipy.ndimage, and against direct sums in float64."""

import numpy as np
import pytest
from depth import ALL

import rtcg.numpy as xp
from rtcg import checking, driver, ndimage

MODES = ("reflect", "nearest", "mirror", "constant", "wrap")


def numbers(shape, dtype=np.float32, seed=0):
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind in "iub":
        return rng.integers(0, 2 if dtype is bool else 100, shape).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


def direct(x, w):
    """A filter bank in float64, and the sums of magnitudes that errors of rounding are relative to."""
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), w.shape[1:3], axis=(-3, -2))
    return (
        np.einsum("...dhw,fhwd->...f", windows, w.astype(np.float64)),
        np.einsum("...dhw,fhwd->...f", np.abs(windows), np.abs(w.astype(np.float64))),
    )


def assert_within_rounding(found, x, w):
    expected, magnitudes = direct(x, w)
    assert found.shape == expected.shape
    error = np.finfo(np.float32).eps if found.dtype == np.float32 else np.finfo(np.float64).eps
    assert (np.abs(found.get() - expected) <= np.prod(w.shape[1:]) ** 0.5 * error * 4 * magnitudes).all()


# -- correlation and convolution ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, mode",
    [("correlate", mode) for mode in MODES] + [("convolve", mode) for mode in (MODES if ALL else MODES[:1])],
)
def test_borders_and_origins_are_those_of_scipy(name, mode, context):
    scipy = pytest.importorskip("scipy.ndimage")
    x = numbers((7, 9))
    for taps, origin in [((3, 4), (1, -2)), ((1, 1), 0), ((15, 20), (-3, 2))]:
        w = numbers(taps, seed=1)
        if name == "correlate" and taps[1] % 2 == 0:
            origin = (origin[0], origin[1] + 1)
        options = {"mode": mode, "cval": 1.5, "origin": origin}
        expected = getattr(scipy, name)(x.astype(np.float64), w, **options)
        found = getattr(ndimage, name)(x, w, **options)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found.get(), expected, atol=1e-4)


#: Shapes of large images and of weights, origins, and axes: kernels copy tiles of such images to shared memory.
LARGE = [
    ((70, 133), (5, 5), 0, None),
    ((90, 61), (6, 7), (-2, 3), None),
    ((300, 20), (3, 25), (0, -11), None),
    ((5, 1000), (9, 4), (3, 1), None),
    ((9, 30, 40), (5, 3, 4), (1, 0, -2), None),
    ((13, 21, 44), (7, 7, 7), 0, None),
    ((20, 30, 3, 12), (5, 6), 1, (0, 1)),
    ((6, 40, 30), (8, 9), (0, -1), (1, 2)),
    ((9000,), (33,), 5, None),
    ((3, 4000), (1, 12), 0, None),
    ((400, 21), (40, 1), 0, None),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["correlate", "convolve"])
def test_large_images_are_filtered_as_by_scipy(name, mode, context):
    scipy = pytest.importorskip("scipy.ndimage")
    dtypes = (np.float32, np.float64, np.float16, np.uint8, np.int32)
    for k, (shape, taps, origin, axes) in enumerate(LARGE):
        for dtype in dtypes if ALL else (dtypes[k % 5],):
            x = numbers(shape, dtype)
            w = numbers(taps, np.float32 if x.dtype.kind == "f" else np.int64, seed=1)
            options = {"mode": mode, "cval": 2.0, "origin": origin}
            if axes is None:
                expected = getattr(scipy, name)(x.astype(np.float64), w, **options)
            else:
                # Older SciPy has no axes here: weights of one tap along the others.
                on_all = tuple(taps[axes.index(i)] if i in axes else 1 for i in range(x.ndim))
                moved = tuple(
                    np.broadcast_to(origin, len(axes))[axes.index(i)] if i in axes else 0 for i in range(x.ndim)
                )
                options = {**options, "origin": [int(n) for n in moved]}
                expected = getattr(scipy, name)(x.astype(np.float64), w.reshape(on_all), **options)
                options["origin"] = origin
            found = getattr(ndimage, name)(x, w, axes=axes, **options)
            assert found.dtype == x.dtype
            if x.dtype.kind != "f":
                np.testing.assert_array_equal(found.get(), expected.astype(np.int64).astype(dtype))
            else:
                error = {"e": 1e-3, "f": 1e-6, "d": 1e-14}[x.dtype.char]
                np.testing.assert_allclose(found.get(), expected, rtol=error, atol=error * np.abs(w).sum() * 4)


def test_large_views_are_filtered_as_copies_and_nan_stays_in_its_windows(context):
    x, w = numbers((180, 140)), numbers((5, 5), seed=1)
    there, weights = xp.asarray(x), xp.asarray(numbers((5, 10), seed=2))
    for view, copy in ((there[::2, 3:], x[::2, 3:]), (there.T, x.T), (there[::-1], x[::-1])):
        np.testing.assert_array_equal(ndimage.correlate(view, w).get(), ndimage.correlate(copy.copy(), w).get())
    by_view = ndimage.convolve(there, weights[:, ::2])
    np.testing.assert_array_equal(by_view.get(), ndimage.convolve(there, weights.get()[:, ::2].copy()).get())
    x[100, 70] = np.nan
    found = np.isnan(ndimage.correlate(x, w).get())
    assert found[98:103, 68:73].all() and found.sum() == 25


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int16, np.int64, np.float16, np.float32, np.float64])
def test_dtypes_are_those_of_scipy(dtype, context):
    scipy = pytest.importorskip("scipy.ndimage")
    x, w = numbers((11, 6), dtype), np.array([[1.5, -2], [0.25, 1], [3, 0.5]])
    # As results, SciPy's truth values are cut off as integers are; ours are NumPy's.
    for output in (None, np.float64, np.int32)[dtype is bool :]:
        # SciPy has no float16.
        source = x.astype(np.float32) if dtype is np.float16 else x
        expected = scipy.correlate(source, w, output=output or (np.float32 if dtype is np.float16 else None))
        found = ndimage.correlate(x, w, output=output)
        assert found.dtype == (x.dtype if output is None else output)
        np.testing.assert_allclose(found.get(), expected, rtol=2e-3 if dtype is np.float16 else 1e-6, atol=1e-6)


def test_axes_and_one_axis(context):
    scipy = pytest.importorskip("scipy.ndimage")
    x, w, line = numbers((4, 5, 6), np.float64), numbers((3, 2), np.float64, 1), numbers(4, np.float64, 2)
    for axes, full in [((0, 2), w[:, None]), ((-1, 0), w.T[:, None]), ((1, 2), w[None])]:
        np.testing.assert_allclose(ndimage.correlate(x, w, axes=axes).get(), scipy.correlate(x, full), atol=1e-12)
    for axis in (0, -1):
        for name in ("correlate1d", "convolve1d"):
            expected = getattr(scipy, name)(x, line, axis, mode="mirror", origin=-1)
            np.testing.assert_allclose(getattr(ndimage, name)(x, line, axis, mode="mirror", origin=-1).get(), expected,
                                       atol=1e-12)  # fmt: skip
    # One mode for each axis.
    modes = ["wrap", "constant", "nearest"]
    expected = scipy.uniform_filter(x, (3, 4, 2), mode=modes, origin=(1, 0, -1))
    np.testing.assert_allclose(
        ndimage.uniform_filter(x, (3, 4, 2), mode=modes, origin=(1, 0, -1)).get(), expected, atol=1e-12
    )


def test_means_and_gaussians_are_those_of_scipy(context):
    scipy = pytest.importorskip("scipy.ndimage")
    bytes_, x = numbers((20, 31), np.uint8), numbers((20, 31), np.float64)
    np.testing.assert_array_equal(ndimage.uniform_filter(bytes_, (3, 5)).get(), scipy.uniform_filter(bytes_, (3, 5)))
    expected = scipy.uniform_filter1d(x, 4, 0, origin=1)
    np.testing.assert_allclose(ndimage.uniform_filter1d(x, 4, 0, origin=1).get(), expected, atol=1e-12)
    for sigma, options in [
        ((1.5, 0), {}),
        (2, {"order": (1, 0)}),
        (1, {"order": 2, "radius": 3}),
        (0.7, {"truncate": 2.5}),
    ]:
        expected = scipy.gaussian_filter(x, sigma, **options)
        np.testing.assert_allclose(ndimage.gaussian_filter(x, sigma, **options).get(), expected, atol=1e-12)
    expected = scipy.gaussian_filter1d(x, 1.2, 0, order=3)
    np.testing.assert_allclose(ndimage.gaussian_filter1d(x, 1.2, 0, order=3).get(), expected, atol=1e-12)


def test_results_go_where_the_caller_says(context):
    x = xp.asarray(numbers((6, 7)))
    out = xp.zeros((7, 6), np.float64).T
    assert ndimage.correlate(x, np.ones((1, 1)), output=out) is out
    np.testing.assert_allclose(out.get(), x.get())
    with pytest.raises(ValueError, match=r"output has shape \(5,\); expected \(6, 7\)"):
        ndimage.correlate(x, np.ones((1, 1)), output=xp.zeros(5))
    strided = numbers((12, 14))[::2, ::-2]
    np.testing.assert_allclose(ndimage.correlate(xp.asarray(numbers((12, 14)))[::2, ::-2], [[2.0]]).get(), 2 * strided)
    assert ndimage.correlate(np.zeros((0, 4)), np.ones((3, 3))).shape == (0, 4)
    assert ndimage.correlate(np.float32(3), np.float32(2)).get() == 6, "an image without axes"


CORRELATE_ERRORS = [
    (dict(mode="zero"), ValueError, "mode is 'zero'; expected 'reflect'"),
    (dict(mode=["wrap"] * 3), ValueError, "mode has 3 values; expected 1, or 2, one for each axis"),
    (dict(origin=2), ValueError, "origin is 2 on axis 0; expected an integer from -1 to 1 for weights of length 3"),
    (dict(origin=0.5), TypeError, "origin is 0.5; expected an integer"),
    (dict(weights=np.ones(3)), ValueError, r"weights have shape \(3,\); expected 2 axes"),
    (dict(weights=np.ones((0, 3))), ValueError, r"weights have shape \(0, 3\)"),
    (dict(cval=1j), TypeError, "cval is 1j; expected a"),
    (dict(cval=1j, weights=np.ones((3, 3), complex)), ValueError, "cval is 1j; expected a real number for a real"),
    (dict(output=complex), TypeError, "the dtype of the output is complex128"),
    (dict(output=np.ones((4, 5))), TypeError, "output is a NumPy array; expected a dtype or a GPUArray"),
    (dict(axes=2), ValueError, "axis 2"),
]


@pytest.mark.parametrize("options, error, message", CORRELATE_ERRORS)
def test_correlation_refuses(options, error, message, context):
    with pytest.raises(error, match=message):
        ndimage.correlate(np.ones((4, 5)), **({"weights": np.ones((3, 3))} | options))


# -- filter banks -------------------------------------------------------------------------------------

BANKS = [
    ((41, 75, 3), (11, 5, 9, 3)),
    ((2, 3, 9, 7, 10), (3, 1, 1, 10)),
    ((6, 13, 1), (1, 6, 13, 1)),
    ((67, 75, 4), (6, 5, 9, 4)),
    ((1, 1, 1), (2, 1, 1, 1)),
    ((5, 150, 2), (9, 3, 141, 2)),
]


@pytest.mark.parametrize("shape, bank", BANKS if ALL else BANKS[:5])
def test_filter_banks_are_direct_sums(shape, bank, context):
    for dtype in (np.float32, np.float64):
        x, w = numbers(shape, dtype), numbers(bank, dtype, 1)
        assert_within_rounding(ndimage.filter_bank(x, w), x, w)


def test_storage_of_float16_and_integers(context):
    x, w = numbers((9, 11, 4), np.float16), numbers((5, 3, 3, 4), np.float16, 1)
    found = ndimage.filter_bank(x, w)
    assert found.dtype == np.float16
    np.testing.assert_allclose(found.get(), direct(x, w)[0], rtol=1e-3, atol=1e-2)
    assert ndimage.filter_bank(x, w.astype(np.float64)).dtype == np.float64
    bytes_ = numbers((9, 11, 4), np.uint8)
    assert_within_rounding(ndimage.filter_bank(bytes_, w.astype(np.float32)), bytes_, w)


def test_activations_and_results_in_place(context):
    x, w = numbers((8, 9, 2)), numbers((3, 2, 2, 2), seed=1)
    sums = direct(x, w)[0]
    for activation, expected in [
        ("clip", np.clip(sums, 0, 1)),
        ("relu", np.maximum(sums, 0)),
        ("clip(acc, -0.5, 0.5) + f", np.clip(sums, -0.5, 0.5) + np.arange(3)),
        ("acc > 0 ? sqrtf(acc) : 0", np.sqrt(np.maximum(sums, 0))),
    ]:
        np.testing.assert_allclose(ndimage.filter_bank(x, w, activation).get(), expected, atol=1e-5)
    image = xp.asarray(numbers((6, 6, 1)))
    expected = 2 * image.get()
    assert ndimage.filter_bank(image, np.full((1, 1, 1, 1), 2, np.float32), out=image) is image
    np.testing.assert_array_equal(image.get(), expected)
    with pytest.raises(driver.CompileError, match="activation"):
        ndimage.filter_bank(x, w, "acc + missing")


BANK_ERRORS = [
    (((4, 4), (1, 1, 1, 1)), {}, r"x has shape \(4, 4\); expected \(..., rows, columns, channels\)"),
    (((4, 4, 2), (1, 1, 2)), {}, r"w has shape \(1, 1, 2\); expected \(filters, height, width, channels\)"),
    (((4, 4, 2), (1, 1, 1, 3)), {}, r"w has shape \(1, 1, 1, 3\), 3 channels; expected 2, as x has shape \(4, 4, 2\)"),
    (((4, 4, 2), (1, 5, 1, 2)), {}, "the size of filters is 5 x 1; expected 1 x 1 to 4 x 4"),
    (((4, 4, 2), (1, 0, 1, 2)), {}, "the size of filters is 0 x 1"),
    (((4, 4, 2), (1, 1, 1, 2)), {"activation": " "}, "activation is empty; expected an expression"),
    (((4, 4, 2), (3, 1, 1, 2)), {"out": (4, 4, 2)}, r"out has shape \(4, 4, 2\); expected \(4, 4, 3\)"),
]


@pytest.mark.parametrize("shapes, options, message", BANK_ERRORS)
def test_filter_banks_refuse(shapes, options, message, context):
    options = {name: xp.zeros(value) if name == "out" else value for name, value in options.items()}
    with pytest.raises(ValueError, match=message):
        ndimage.filter_bank(*map(np.ones, shapes), **options)


def test_results_are_cast_to_out_by_the_rule_of_numpy(context):
    x, w = numbers((4, 5, 2)), numbers((3, 2, 2, 2), seed=1)
    expected = ndimage.filter_bank(x, w).get()
    for dtype in (np.float16, np.float64):
        out = xp.zeros(expected.shape, dtype)
        assert ndimage.filter_bank(x, w, out=out) is out
        np.testing.assert_allclose(out.get(), expected, rtol=1e-3)
    out = xp.zeros(expected.shape, np.int32)
    with pytest.raises(TypeError, match="out is of dtype int32; expected float32, or one that it is cast to by"):
        ndimage.filter_bank(x, w, out=out)
    assert not out.get().any(), "nothing was written"


def test_bfloat16_are_real_numbers(context):
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    x, w = numbers((9, 7)).astype(bfloat16), numbers((3, 3), seed=1)
    plain = x.astype(np.float32)
    found = ndimage.correlate(x, w).get()
    assert found.dtype == bfloat16
    np.testing.assert_array_equal(found, ndimage.correlate(plain, w).get().astype(bfloat16))
    np.testing.assert_array_equal(ndimage.correlate(x, w, np.float32).get(), ndimage.correlate(plain, w).get())
    x[0, 0] = np.nan
    assert np.isnan(ndimage.correlate(x, w).get()[0, 0].astype(np.float32))
    bank, image = w[None, :, :, None].astype(bfloat16), plain[..., None].astype(bfloat16)
    found = ndimage.filter_bank(image, bank)
    assert found.dtype == np.float32, "as rtcg.neighbors takes them"
    np.testing.assert_array_equal(
        found.get(), ndimage.filter_bank(image.astype(np.float32), bank.astype(np.float32)).get()
    )
    np.testing.assert_array_equal(ndimage.pool(image, 2).get(), ndimage.pool(image.astype(np.float32), 2).get())


def test_empty_banks_and_nan(context):
    assert ndimage.filter_bank(np.ones((0, 4, 4, 2)), np.ones((3, 2, 2, 2))).shape == (0, 3, 3, 3)
    assert ndimage.filter_bank(np.ones((4, 4, 2)), np.ones((0, 2, 2, 2))).shape == (3, 3, 0)
    assert (ndimage.filter_bank(np.ones((4, 4, 0)), np.ones((1, 2, 2, 0))).get() == 0).all()
    x = np.ones((6, 40, 1), np.float32)
    x[2, 20] = np.nan
    found = ndimage.filter_bank(x, np.ones((1, 3, 5, 1), np.float32)).get()[..., 0]
    assert np.isnan(found).sum() == 15 and np.isnan(found[:3, 16:21]).all(), "only places that see the pixel"


def test_results_do_not_depend_on_the_schedule(on_virtual_device, context):
    if not on_virtual_device:
        pytest.skip("schedules are those of the virtual GPU")
    x, w = xp.asarray(numbers((9, 70, 9))), xp.asarray(numbers((9, 3, 5, 9), seed=1))
    first = ndimage.filter_bank(x, w).get()
    try:
        for seed in range(10):
            checking.set_schedule(f"chaos:{seed}")
            np.testing.assert_array_equal(ndimage.filter_bank(x, w).get(), first)
    finally:
        checking.set_schedule("normal")


# -- pools and normalisation --------------------------------------------------------------------------


@pytest.mark.parametrize("exponent", [1, 2, 10, 2.5, np.inf, "max"])
def test_pools_are_norms_of_windows(exponent, context):
    small, large = numbers((2, 9, 11, 3)), numbers((65, 64, 2))[None]
    for x, size, strides in [
        (small, (3, 2), (2, 3)), (small, 4, None), (small, (9, 11), 1), (large, (3, 2), (2, 3)),
    ]:  # fmt: skip
        height, width = size if isinstance(size, tuple) else (size, size)
        down, across = (height, width) if strides is None else np.broadcast_to(strides, 2)
        windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), (height, width), axis=(1, 2))
        windows = windows[:, ::down, ::across]
        if exponent == "max":
            expected = windows.max(axis=(-2, -1))
        else:
            expected = np.linalg.norm(windows.reshape(*windows.shape[:-2], -1), exponent, axis=-1)
        np.testing.assert_allclose(ndimage.pool(x, size, strides, exponent).get(), expected, rtol=1e-5)


@pytest.mark.parametrize("exponent", [1e-40, 1e-60, 1e60])
def test_pools_with_exponents_that_float32_has_not(exponent, context):
    """The limits are the largest element for large exponents, and infinity for small ones, of more than one element."""
    x = np.array([[5.0, 0.0], [0.0, 3.0]], np.float32)[..., None]
    windows = [ndimage.pool(x, size, exponent=exponent).get().ravel().tolist() for size in (1, 2)]
    assert windows == [[5, 0, 0, 3], [5 if exponent > 1 else np.inf]]


def test_pools_of_large_numbers_nan_and_zeros(context):
    x = np.zeros((2, 2, 4), np.float32)
    x[0, 0] = [1e30, np.nan, np.inf, 0]
    np.testing.assert_allclose(ndimage.pool(x, 2, exponent=10).get()[0, 0], [1e30, np.nan, np.inf, 0], rtol=1e-6)
    np.testing.assert_array_equal(ndimage.pool(-x, 2).get()[0, 0], [0, np.nan, 0, 0])


@pytest.mark.parametrize("center", [True, False])
def test_local_norms_are_those_of_windows(center, context):
    small, large = numbers((2, 9, 11, 3)), numbers((65, 64, 2))[None]
    for x, size, stretch, threshold in [
        (small, (3, 5), 1.0, 1.0), (small, 1, 10.0, 0.5), (small, (4, 2), 0.1, 0.6), (large, (3, 5), 1.0, 1.0),
    ]:  # fmt: skip
        height, width = size if isinstance(size, tuple) else (size, size)
        windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), (height, width), axis=(1, 2))
        mean = windows.mean(axis=(3, 4, 5)) if center else np.zeros(windows.shape[:3])
        norm = stretch * np.sqrt(((windows - mean[..., None, None, None]) ** 2).sum(axis=(3, 4, 5)))
        middle = stretch * (windows[..., height // 2, width // 2] - mean[..., None])
        expected = np.where((norm > threshold)[..., None], middle / np.maximum(norm, 1e-30)[..., None], middle)
        found = ndimage.local_norm(x, size, center=center, stretch=stretch, threshold=threshold)
        np.testing.assert_allclose(found.get(), expected, atol=1e-5)


WINDOW_ERRORS = [
    (lambda x: ndimage.pool(x, 6), "size is 6 x 6; expected 1 x 1 to 4 x 5"),
    (lambda x: ndimage.pool(x, 0), "size is 0; expected integers of at least 1"),
    (lambda x: ndimage.pool(x, (1, 2, 3)), r"size is \(1, 2, 3\); expected one integer"),
    (lambda x: ndimage.pool(x, 2, 0), "strides is 0"),
    (lambda x: ndimage.pool(x, 2, exponent=-1), "exponent is -1; expected a number above 0"),
    (lambda x: ndimage.pool(x, 2, exponent=0), "exponent is 0; expected a number above 0"),
    (lambda x: ndimage.pool(x, 2, exponent=-np.inf), "exponent is -inf; expected a number above 0"),
    (lambda x: ndimage.pool(x, 2, exponent=np.nan), "exponent is NaN; expected a number above 0"),
    (lambda x: ndimage.pool(x, 2, exponent="mean"), "exponent is 'mean'; expected a number above 0 or 'max'"),
    (lambda x: ndimage.local_norm(x, 2, stretch=np.inf), "stretch is inf; expected a finite number of at least 0"),
    (lambda x: ndimage.local_norm(x, (5, 1)), "size is 5 x 1"),
    (lambda x: ndimage.uniform_filter(x, 0), "size is 0; expected integers of at least 1"),
    (lambda x: ndimage.gaussian_filter(x, -1), "sigma is -1; expected a finite number of at least 0"),
    (lambda x: ndimage.gaussian_filter(x, 1, order=-1), "order is -1; expected integers of at least 0"),
]


@pytest.mark.parametrize("call, message", WINDOW_ERRORS)
def test_windows_refuse(call, message, context):
    with pytest.raises(ValueError, match=message):
        call(np.ones((4, 5, 2)))


FILTERS = {
    "correlate": lambda nd, x, w, **options: nd.correlate(x, w, **options),
    "convolve": lambda nd, x, w, **options: nd.convolve(x, w, **options),
    "correlate1d": lambda nd, x, w, **options: nd.correlate1d(x, w[0], axis=0, **options),
    "convolve1d": lambda nd, x, w, **options: nd.convolve1d(x, w[0], axis=0, **options),
    "uniform_filter": lambda nd, x, w, **options: nd.uniform_filter(x, (3, 2), **options),
    "uniform_filter1d": lambda nd, x, w, **options: nd.uniform_filter1d(x, 3, axis=0, **options),
    "gaussian_filter": lambda nd, x, w, **options: nd.gaussian_filter(x, 0.8, **options),
    "gaussian_filter1d": lambda nd, x, w, **options: nd.gaussian_filter1d(x, 0.8, order=1, **options),
}


@pytest.mark.parametrize("name", FILTERS)
def test_complex_images_and_weights_are_filtered_as_scipys(name, context):
    scipy = pytest.importorskip("scipy.ndimage")
    rng = np.random.default_rng(4)
    x, w = rng.normal(size=(2, 6, 5)), rng.normal(size=(2, 3, 3))
    has_weights = name.startswith("co")
    for image, weights in (("D", "d"), ("F", "f"), ("F", "D"), ("d", "D"), ("l", "F"), ("f", "F")):
        if not has_weights and image not in "DF":
            continue
        a = (x[0] + 1j * x[1] if image in "DF" else 9 * x[0]).astype(image)
        k = (w[0] + 1j * w[1] if weights in "DF" else w[0]).astype(weights)
        for mode in ("constant", "reflect") if not ALL else ("constant", "reflect", "nearest", "mirror", "wrap"):
            options = dict(mode=mode, cval=2.5 - 1.5j if image in "DF" else 2.5)
            want = FILTERS[name](scipy, a, k, **options)
            got = FILTERS[name](ndimage, xp.to_gpu(a), xp.to_gpu(k) if has_weights else None, **options)
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got.get(), want, rtol=1e-4, atol=1e-4 if "F" in image + weights else 1e-10)
    a = (x[0] + 1j * x[1]).astype("F")
    out = xp.empty(a.shape, "D")
    assert FILTERS[name](ndimage, a, w[0], output=out) is out
    np.testing.assert_allclose(out.get(), FILTERS[name](scipy, a, w[0], output="D"), rtol=1e-5, atol=1e-5)
    with pytest.raises(RuntimeError, match="expected a complex one"):
        FILTERS[name](ndimage, a, w[0], output=xp.empty(a.shape, "f"))
