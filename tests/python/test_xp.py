"""`rtcg.numpy` as `xp`: NumPy's types, constants and modules, methods of ufuncs, and answers for what is missing."""

import numpy as np
import pytest

import rtcg.numpy as rnp
from rtcg.numpy import _namespace
from tools import missing_names

pytestmark = pytest.mark.usefixtures("context")


def test_types_constants_and_modules_are_numpys():
    for name in (
        "float32",
        "int8",
        "bool_",
        "pi",
        "inf",
        "newaxis",
        "iinfo",
        "finfo",
        "errstate",
        "s_",
        "promote_types",
    ):
        assert getattr(rnp, name) is getattr(np, name) and name in dir(rnp)
    assert rnp.ndarray is rnp.GPUArray and isinstance(rnp.ones(2), rnp.ndarray)
    assert (rnp.linalg.__name__, rnp.fft.__name__, rnp.random.__name__) == ("rtcg.linalg", "rtcg.fft", "rtcg.random")
    # A star brings functions, and hides none of Python's names but those that NumPy hides.
    assert "bool" not in rnp.__all__ and "tri" in rnp.__all__


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("polyfit", "use numpy.polyfit with a.get()"),
        ("vectorize", "ElementwiseKernel"),
        ("fromregex", "works on the host only: use numpy.fromregex"),
        ("no_such_name", "^module 'rtcg.numpy' has no attribute 'no_such_name'$"),
    ],
)
def test_missing_names_say_what_to_use(name, text):
    with pytest.raises(AttributeError, match=text):
        getattr(rnp, name)


def test_names_that_have_an_answer_are_missing():
    assert not [name for name in _namespace.INSTEAD if hasattr(rnp, name)]


def test_the_page_lists_what_is_missing():
    page = missing_names.PAGE.read_text(encoding="utf-8")
    if f"| name of NumPy {missing_names.VERSION} |" in page:
        assert missing_names.with_table(page) == page, "python tools/missing_names.py writes it"
    else:
        table = page.partition(missing_names.BEGIN)[2].partition(missing_names.END)[0]
        assert not [name for name in missing_names.missing_names() if name in rnp.__all__] and "`polyfit`" in table


BINARY = [name for name in rnp.__all__ if hasattr(getattr(rnp, name), "outer")]


def test_every_binary_function_has_the_methods():
    ufuncs = {name for name in rnp.__all__ if isinstance(getattr(np, name, None), np.ufunc)}
    two = {
        name
        for name in ufuncs
        if (getattr(np, name).nin, getattr(np, name).nout, getattr(np, name).signature) == (2, 1, None)
    }
    assert two == set(BINARY) and len(two) > 40


@pytest.mark.parametrize("name", BINARY)
def test_methods_of_binary_functions(name):
    of_numpy, ours = getattr(np, name), getattr(rnp, name)
    is_integral = any(types.startswith("ll->") for types in of_numpy.types)
    host = np.array([[5, 3, 2], [4, 1, 3], [2, 2, 1]]).astype(np.int64 if is_integral else np.float64)
    device = rnp.to_gpu(host)
    second = np.abs(host[0]) % 3 if "shift" in name or name == "ldexp" else host[0]
    second = second.astype(np.int64) if name == "ldexp" else second
    np.testing.assert_allclose(ours.outer(device, second).get(), of_numpy.outer(host, second), rtol=1e-12)
    # NumPy 2.4 reduces with arctan2 along contiguous elements as if they were the first and the last alone.
    for method in () if name in ("arctan2", "atan2") else ("reduce", "accumulate"):
        for axis in (0, 1):
            try:
                expected = getattr(of_numpy, method)(host, axis=axis)
            except (TypeError, ValueError):
                continue
            found = getattr(ours, method)(device, axis=axis)
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found.get(), expected, rtol=1e-12)


def test_reductions_at_the_edges():
    with pytest.raises(ValueError, match="zero-size array to reduction operation subtract which has no identity"):
        rnp.subtract.reduce(rnp.ones((0, 2)))
    assert rnp.bitwise_or.reduce(rnp.ones((0, 2), np.int64)).get().tolist() == [0, 0]
    x = np.random.default_rng(0).integers(1, 1000, 1025)
    assert rnp.gcd.reduce(rnp.to_gpu(x)).get() == np.gcd.reduce(x)
    assert rnp.bitwise_xor.reduce(rnp.to_gpu(x)).get() == np.bitwise_xor.reduce(x)
    assert rnp.hypot.reduce(rnp.ones((3, 4)), axis=1, keepdims=True).shape == (3, 1)
    out = rnp.empty(4)
    assert rnp.subtract.reduce(rnp.ones((3, 4)), out=out) is out and (out.get() == -1).all()


@pytest.mark.parametrize("is_transposed", [False, True])
def test_flat(is_transposed):
    host = np.arange(12.0).reshape(3, 4)
    device = rnp.to_gpu(host)
    host, device = (host.T, device.T) if is_transposed else (host.copy(), device)
    host = host.copy()
    assert len(device.flat) == 12 and list(device.flat) == list(host.flat)
    assert device.flat[5].get() == host.flat[5] and device.flat[2:9:3].get().tolist() == list(host.flat[2:9:3])
    host.flat[1:4], device.flat[1:4] = 7, 7
    host.flat[[0, 11]], device.flat[[0, 11]] = [8, 9], [8, 9]
    assert (device.get() == host).all()
    device.flat = range(12)
    host.flat = range(12)
    assert (device.get() == host).all()


def test_arrays_from_patterns():
    for ours, theirs in [
        (rnp.tri(3, 4, -1), np.tri(3, 4, -1)),
        (rnp.indices((2, 3)), np.indices((2, 3))),
        (rnp.hanning(9), np.hanning(9)),
        (rnp.kaiser(9, 5), np.kaiser(9, 5)),
        (rnp.mgrid[0:2, 0:3:2], np.mgrid[0:2, 0:3:2]),
        (rnp.r_[1:4, 0, rnp.ones(2)], np.r_[1:4, 0, np.ones(2)]),
        (rnp.c_[rnp.ones(2), rnp.zeros(2)], np.c_[np.ones(2), np.zeros(2)]),
        (rnp.fromfunction(lambda i, j: i + 2 * j, (2, 3)), np.fromfunction(lambda i, j: i + 2 * j, (2, 3))),
        (rnp.frombuffer(b"\x01\x02", np.uint8), np.frombuffer(b"\x01\x02", np.uint8)),
        (rnp.fromiter(range(4), np.int32), np.fromiter(range(4), np.int32)),
        (rnp.triu_indices(3, 1)[1], np.triu_indices(3, 1)[1]),
        (rnp.tril_indices(3, 0, 2)[0], np.tril_indices(3, 0, 2)[0]),
        (rnp.mask_indices(3, rnp.triu)[0], np.mask_indices(3, np.triu)[0]),
        (rnp.diag_indices(3)[1], np.diag_indices(3)[1]),
    ]:
        assert isinstance(ours, rnp.ndarray) and ours.dtype == theirs.dtype and (ours.get() == theirs).all()
    a = rnp.ones((2, 3))
    assert rnp.ascontiguousarray(a) is a and rnp.ascontiguousarray(a.T).flags.c_contiguous
    assert rnp.isfortran(rnp.asfortranarray(a)) and rnp.require(a, requirements="F").flags.f_contiguous
    with pytest.raises(ValueError, match="infs or NaNs"):
        rnp.asarray_chkfinite([1, np.nan])


def test_functions_of_random_numbers():
    rnp.random.seed(3)
    first = rnp.random.rand(2, 3)
    rnp.random.seed(3)
    assert (rnp.random.random((2, 3)) == first).all().get() and first.shape == (2, 3)
    assert rnp.random.randn().shape == () and rnp.random.normal(5.0, 0.1, 10).shape == (10,)
    numbers = rnp.random.randint(3, 7, 1000).get()
    assert (numbers.min(), numbers.max()) == (3, 6)
    assert sorted(rnp.random.permutation(5).get().tolist()) == [0, 1, 2, 3, 4]
