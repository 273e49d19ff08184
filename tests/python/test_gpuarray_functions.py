"""Reductions, indexing with arrays, sorting, products and rearranging: the same bodies with NumPy."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st

import pycuda.gpuarray as gpuarray
from rtcg import numpy as rnp
from tests.python.same_body import DTYPES, Drawn, arrays, compare, quickly, same, values

FEW = [np.dtype(t) for t in ("?", "i1", "u4", "i8", "f4", "f8", "c8")]


@pytest.fixture(autouse=True)
def _context(context):
    """Every test here runs in the session's context."""


# -- reductions ---------------------------------------------------------------------------------------

REDUCTIONS = ["sum", "prod", "min", "max", "any", "all", "mean", "var", "std", "argmin", "argmax", "ptp"]


@quickly
@given(st.sampled_from(REDUCTIONS), arrays(FEW, max_ndim=3), st.data())
def test_reductions_over_axes(name, x, data):
    ndim = x.host.ndim
    choices = [None, *range(-ndim, ndim), 5]
    if not name.startswith("arg") and ndim > 1:
        choices += [(0, -1), (0, 0), ()]
    axis, keepdims = data.draw(st.sampled_from(choices)), data.draw(st.booleans())
    same(lambda xp, a: getattr(xp, name)(a, axis=axis, keepdims=keepdims), x, rtol=2e-5)


@quickly
@given(
    st.sampled_from(["sum", "prod", "max", "mean", "any", "std"]), arrays([np.dtype("i4"), np.dtype("f8")]), st.data()
)
def test_reductions_of_masked_elements(name, x, data):
    mask = data.draw(arrays([np.dtype("?")], shape=x.host.shape))
    more = {"initial": 2} if name == "max" else {}
    same(lambda xp, a, m: getattr(xp, name)(a, axis=-1, where=m, **more) if a.ndim else a, x, mask, rtol=1e-12)


@quickly
@given(st.sampled_from(["sum", "prod"]), arrays([np.dtype("i2"), np.dtype("f4")]), st.sampled_from(["i4", "f8", "c16"]))
def test_reductions_in_a_wished_dtype(name, x, dtype):
    same(lambda xp, a: getattr(xp, name)(a, dtype=dtype), x, rtol=1e-12)


@pytest.mark.parametrize(
    "shape, axis", [((70_001,), None), ((3, 30_011), 1), ((30_011, 3), 0), ((257, 300), 0), ((2, 5000, 7), 1)]
)
@pytest.mark.parametrize("name", ["sum", "max", "argmin", "mean", "all"])
def test_large_reductions_are_split(name, shape, axis):
    x = Drawn(values("f4", shape, 3), (tuple(range(len(shape))), (1,) * len(shape)))
    same(lambda xp, a: getattr(xp, name)(a, axis=axis), x, rtol=1e-5)


def test_nan_wins_in_extremes_and_places():
    a = np.array([1, np.nan, 3, np.nan], np.float32)
    d = gpuarray.to_gpu(a)
    for name in ("max", "min", "argmax", "argmin"):
        compare(getattr(d, name)(), getattr(a, name)())


def test_reductions_into_an_array():
    a, out = values("i4", (3, 4), 1), gpuarray.zeros(4, np.int64)
    assert gpuarray.sum(gpuarray.to_gpu(a), axis=0, out=out) is out
    compare(out, a.sum(0))
    with pytest.raises(ValueError, match=r"\(3,\); expected \(4,\)"):
        gpuarray.sum(gpuarray.to_gpu(a), axis=0, out=gpuarray.zeros(3, np.int64))


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i4", "u4", "u8"])
def test_sums_have_numpys_dtypes(dtype):
    x = np.ones(3, dtype)
    for name in ("sum", "prod", "cumsum"):
        result = getattr(rnp, name)(gpuarray.to_gpu(x))
        assert result.dtype == getattr(np, name)(x).dtype
        np.testing.assert_array_equal(result.get(), getattr(np, name)(x))


@quickly
@given(st.sampled_from(["cumsum", "cumprod"]), arrays([np.dtype(t) for t in ("?", "i2", "u1", "f8")]), st.data())
def test_cumulative_sums(name, x, data):
    axis = data.draw(st.sampled_from([None, *range(-x.host.ndim, x.host.ndim)]))
    same(lambda xp, a: getattr(xp, name)(a, axis=axis), x, rtol=1e-12)


@pytest.mark.parametrize("n", [63, 65, 2048, 2049, 10_000])
def test_long_cumulative_sums_are_cut_into_tiles(n):
    a = values("i4", (2, n, 3), 5)
    compare(rnp.cumsum(gpuarray.to_gpu(a), axis=1), a.cumsum(1))


# -- indexing with arrays -----------------------------------------------------------------------------


@st.composite
def fancy(draw, shape):
    """An index with arrays of integers or truth values in it."""
    index, common = [], draw(st.sampled_from([(), (3,), (2, 3)]))
    for length in shape:
        kind = draw(st.sampled_from(["array", "slice", "int", "list", "mask"]))
        numbers = st.integers(-length, length - 1) if length else st.just(0)
        if kind == "array":
            count = int(np.prod(common))
            index.append(np.array(draw(st.lists(numbers, min_size=count, max_size=count)), np.int64).reshape(common))
        elif kind == "list":
            index.append([draw(numbers)])
        elif kind == "mask":
            mask = np.zeros(length, bool)
            mask[: draw(st.integers(0, 1))] = True
            index.append(mask)
        elif kind == "int":
            index.append(draw(numbers))
        else:
            index.append(slice(None, None, draw(st.sampled_from([1, -1, 2]))))
    return tuple(index[: draw(st.integers(0, len(index)))])


@quickly
@given(arrays([np.dtype("i4")], max_ndim=3, min_ndim=1), st.data())
def test_indices_that_are_arrays(x, data):
    index = data.draw(fancy(x.host.shape))
    same(lambda xp, a: a[index], x)


@quickly
@given(arrays([np.dtype("f4")], max_ndim=3, min_ndim=1), st.data())
def test_assignment_through_arrays(x, data):
    index = data.draw(fancy(x.host.shape))

    def body(xp, a):
        a[index] = 7
        return a

    same(body, x)


@quickly
@given(arrays([np.dtype("i4"), np.dtype("c8")], min_ndim=1), st.data())
def test_masks(x, data):
    mask = data.draw(arrays([np.dtype("?")], shape=x.host.shape))

    def body(xp, a, m):
        picked = a[m]
        a[m] = 5
        a[~m] = a[~m] + a[~m]
        return picked, a, xp.nonzero(a), xp.flatnonzero(m), xp.argwhere(m), xp.count_nonzero(m)

    same(body, x, mask)


def test_indices_on_the_device_are_reported_late_and_those_of_the_host_at_once():
    a = gpuarray.arange(5)
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 5"):
        a[[1, 7]]
    with pytest.raises(IndexError, match="index -6 is out of bounds"):
        a.take([-6])
    wrong = a[gpuarray.to_gpu(np.array([1, 9]))]
    with pytest.raises(IndexError, match="out of bounds"):
        wrong.get()
    compare(wrong[:1], np.array([1]))


@quickly
@given(arrays([np.dtype("i4")], min_ndim=1), st.data())
def test_take_and_put(x, data):
    axis = data.draw(st.sampled_from([None, *range(x.host.ndim)]))
    length = x.host.size if axis is None else x.host.shape[axis]
    indices = np.array(data.draw(st.lists(st.integers(-length - 1, length), max_size=4)), np.int64)
    # NumPy itself never comes back from wrapping indices into nothing where another axis has no elements either.
    mode = data.draw(st.sampled_from(["raise", "wrap", "clip"] if length else ["raise", "clip"]))
    same(lambda xp, a: xp.take(a, indices, axis=axis, mode=mode), x)

    def body(xp, a):
        xp.put(a, np.unique(indices % max(a.size, 1)), [1, 2])
        return a

    if x.host.size:
        same(body, x)


# -- sorting and searching ----------------------------------------------------------------------------


@quickly
@given(arrays([d for d in DTYPES if d.kind != "c"], min_ndim=1), st.data())
def test_sorting(x, data):
    axis = data.draw(st.sampled_from([None, *range(-x.host.ndim, x.host.ndim)]))
    same(lambda xp, a: (xp.sort(a, axis=axis), xp.argsort(a, axis=axis, kind="stable")), x)


@pytest.mark.parametrize("axis", range(3))
def test_sorting_leaves_other_axes_where_they_are(axis):
    a = np.random.default_rng(axis).integers(0, 100, (3, 4, 5)).astype(np.float32)
    compare(rnp.sort(gpuarray.to_gpu(a), axis=axis), np.sort(a, axis=axis))


@pytest.mark.parametrize("n", [255, 256, 257, 1000, 5000])
def test_long_rows_are_merged(n):
    a = np.random.default_rng(n).integers(0, 100, (3, n)).astype(np.float32)
    a[1, ::7] = np.nan
    d = gpuarray.to_gpu(a)
    compare(rnp.sort(d), np.sort(a))
    compare(rnp.argsort(d), np.argsort(a, kind="stable"))
    d.sort()
    compare(d, np.sort(a))
    compare(rnp.sort(d[:1], descending=True), np.sort(a[:1])[:, ::-1])


@quickly
@given(
    arrays([np.dtype("i4"), np.dtype("f8")], max_ndim=2),
    arrays([np.dtype("i4"), np.dtype("f4")], max_ndim=1, min_ndim=1),
)
def test_searching_and_sets(x, y):
    def body(xp, a, b):
        ordered = xp.sort(b)
        found = [xp.searchsorted(ordered, a, side=side) for side in ("left", "right")]
        return [*found, *xp.unique(a, return_index=True, return_inverse=True, return_counts=True), xp.isin(a, b)]

    same(body, x, y)


# -- products -----------------------------------------------------------------------------------------


@quickly
@given(st.sampled_from(["?", "i4", "f4", "c8"]), st.data())
def test_matrix_products(dtype, data):
    m, k, n = (data.draw(st.integers(0, 5)) for _ in range(3))
    batch = data.draw(st.sampled_from([((), ()), ((2,), ()), ((2, 1), (3,)), ((3,), (2,))]))
    forms = data.draw(
        st.sampled_from([((m, k), (k, n)), ((k,), (k, n)), ((m, k), (k,)), ((k,), (k,)), ((m, k), (k + 1, n))])
    )
    first = batch[0] + forms[0] if len(forms[0]) > 1 else forms[0]
    second = batch[1] + forms[1] if len(forms[1]) > 1 else forms[1]
    x, y = data.draw(arrays([np.dtype(dtype)], shape=first)), data.draw(arrays([np.dtype(dtype)], shape=second))
    same(lambda xp, a, b: a @ b, x, y, rtol=1e-5)


def test_large_products_use_many_tiles():
    a, b = values("f4", (130, 70), 1), values("f4", (70, 200), 2)
    x, y = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
    compare(x @ y, a @ b, 1e-6)
    compare(y.T @ x.T, b.T @ a.T, 1e-6)
    compare(rnp.tensordot(x, y, 1), np.tensordot(a, b, 1), 1e-6)
    compare(gpuarray.dot(x, y), np.dot(a, b), 1e-6)
    compare(rnp.vdot(x, x), np.vdot(a, a), 1e-6)
    compare(rnp.outer(x[0], y[0]), np.outer(a[0], b[0]))


# -- rearranging --------------------------------------------------------------------------------------

REARRANGED = [
    lambda xp, a: xp.concatenate([a, a[::-1]], axis=0),
    lambda xp, a: xp.concatenate([a, a], axis=-1),
    lambda xp, a: xp.concatenate([a, a], axis=None),
    lambda xp, a: xp.stack([a, a], axis=1),
    lambda xp, a: xp.stack([a, a], axis=-1),
    lambda xp, a: xp.repeat(a, 3),
    lambda xp, a: xp.repeat(a, 2, axis=0),
    lambda xp, a: xp.tile(a, (2, 3)),
    lambda xp, a: xp.tile(a, 2),
    lambda xp, a: xp.roll(a, 2),
    lambda xp, a: xp.roll(a, -3, axis=0),
    lambda xp, a: xp.roll(a, (1, 2), axis=(0, -1)),
    lambda xp, a: xp.roll(a, (1, 2), axis=0),
    lambda xp, a: xp.roll(a, (1, 2)),
    lambda xp, a: xp.where(a > 1, a, 0),
    lambda xp, a: xp.where(a > 1, 1.5, a),
    lambda xp, a: xp.clip(a, 1, 3),
    lambda xp, a: xp.clip(a, None, 3),
    lambda xp, a: xp.round(a / 3, 1),
    lambda xp, a: xp.diff(a),
    lambda xp, a: xp.trace(a),
    lambda xp, a: xp.tril(a, 1),
    lambda xp, a: xp.triu(a),
    lambda xp, a: xp.vstack([a, a]),
    lambda xp, a: xp.hstack([a, a]),
    lambda xp, a: xp.take_along_axis(a, xp.argsort(a, axis=-1, kind="stable"), axis=-1),
    lambda xp, a: xp.isclose(a, a + 1e-9),
]


@quickly
@given(st.sampled_from(REARRANGED), arrays([np.dtype("i4"), np.dtype("f8")], min_ndim=1))
def test_rearranging(body, x):
    same(body, x)


def test_numpy_functions_are_computed_on_the_device():
    a = values("f4", (4, 5), 3)
    d = gpuarray.to_gpu(a)
    for result, expected in [
        (np.sum(d, 0), np.sum(a, 0)),
        (np.concatenate([d, d]), np.concatenate([a, a])),
        (np.where(d > 0, d, 0), np.where(a > 0, a, 0)),
        (np.add.reduce(d), np.add.reduce(a)),
        (np.add(d, 1, where=d > 0, out=d.copy()), np.add(a, 1, where=a > 0, out=a.copy())),
        (np.maximum(d, 0), np.maximum(a, 0)),
    ]:
        assert isinstance(result, gpuarray.GPUArray)
        compare(result, expected, 1e-6)
    np.testing.assert_array_equal(np.asarray(d), a)


# -- conversions --------------------------------------------------------------------------------------


def test_public_names_are_pickled_by_reference():
    assert {rnp.GPUArray.__module__, rnp.ArrayFlags.__module__} == {"rtcg.numpy"}
    for name in rnp.__all__:
        value = getattr(rnp, name)
        assert pickle.loads(pickle.dumps(value)) is value, name


def test_copies_and_pickles():
    a = values("c8", (3, 4), 2)
    d = gpuarray.to_gpu(a)
    for other in (copy.copy(d), copy.deepcopy(d), pickle.loads(pickle.dumps(d)), d[:, ::2].copy()):
        assert isinstance(other, gpuarray.GPUArray) and other.ptr != d.ptr
        compare(other, a if other.shape == a.shape else a[:, ::2])


def test_dlpack_shares_memory_both_ways():
    a = values("f4", (3, 4), 2)
    d = gpuarray.to_gpu(a)
    shared = rnp.from_dlpack(d[:, ::2])
    shared[0, 0] = 99
    assert float(d[0, 0]) == 99 and shared.ptr == d.ptr
    assert d.__dlpack_device__()[0] == 2
    a[0, 0] = 99
    np.testing.assert_array_equal(
        np.from_dlpack(d, device="cpu") if np.lib.NumpyVersion(np.__version__) >= "2.1.0" else a, a
    )
    compare(rnp.from_dlpack(a), a)
    del d
    compare(shared, a[:, ::2])
    capsule = shared.__dlpack__()
    del capsule
    with pytest.raises(BufferError, match="records"):
        gpuarray.zeros(2, [("x", "f4")]).__dlpack__()


class Interface:
    """An object of another library, with the CUDA array interface alone."""

    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = array.__cuda_array_interface__


def test_the_array_interface_is_shared_both_ways():
    a = values("i4", (3, 4), 2)
    d = gpuarray.to_gpu(a)
    shared = rnp.asarray(Interface(d.T))
    assert shared.ptr == d.ptr and shared.strides == d.T.strides
    compare(shared + Interface(d.T), a.T + a.T)


def test_upstreams_own_functions():
    a = gpuarray.arange(10, dtype=np.float32)
    subset = gpuarray.to_gpu(np.array([1, 3, 5], np.int32))
    assert float(gpuarray.subset_sum(subset, a)) == 9 and float(gpuarray.subset_dot(subset, a, a)) == 35
    assert float(gpuarray.subset_min(subset, a)) == 1 and float(gpuarray.subset_max(subset, a)) == 5
    compare(gpuarray.multi_take([a, a * 2], subset)[1], np.array([2, 6, 10], np.float32))
    compare(gpuarray.multi_put([subset], subset, (6,))[0], np.array([0, 1, 0, 3, 0, 5], np.int32))
    compare(
        gpuarray.multi_take_put([a], subset, subset, (6,), src_offsets=[1])[0], np.array([0, 2, 0, 4, 0, 6], np.float32)
    )
    compare(
        gpuarray.if_positive(a - 5, a, -a), np.where(np.arange(10) > 5, np.arange(10), -np.arange(10.0)).astype("f4")
    )
    compare(a.mul_add(2, a, 3), np.arange(10, dtype=np.float32) * 5)
    compare(a.reverse(), np.arange(10, dtype=np.float32)[::-1])
    assert a._block[0] % 32 == 0 and a._grid[0] >= 1 and gpuarray.splay(1)[1][0] == 32
    assert gpuarray.vec.float4.names == ("x", "y", "z", "w") and gpuarray.vec.make_int2(1, 2)["y"] == 2
    assert [float(x) for x in a[:3]] == [0, 1, 2] and 3 in a and 30 not in a


# -- the Array API standard ---------------------------------------------------------------------------


def test_the_array_api_names_are_complete():
    xp = gpuarray.zeros(1).__array_namespace__()
    missing = [name for name in ARRAY_API.split() if not hasattr(xp, name)]
    assert not missing and xp.__array_api_version__ == "2024.12"


ARRAY_API = """
e inf nan newaxis pi arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like
tril triu zeros zeros_like astype can_cast finfo iinfo isdtype result_type bool int8 int16 int32 int64 uint8 uint16
uint32 uint64 float32 float64 complex64 complex128 abs acos acosh add asin asinh atan atan2 atanh bitwise_and
bitwise_left_shift bitwise_invert bitwise_or bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide
equal exp expm1 floor floor_divide greater greater_equal hypot imag isfinite isinf isnan less less_equal log log1p
log2 log10 logaddexp logical_and logical_not logical_or logical_xor maximum minimum multiply negative nextafter
not_equal positive pow real reciprocal remainder round sign signbit sin sinh square sqrt subtract tan tanh trunc
take take_along_axis __array_namespace_info__ matmul matrix_transpose tensordot vecdot broadcast_arrays broadcast_to
concat expand_dims flip moveaxis permute_dims repeat reshape roll squeeze stack tile unstack argmax argmin
count_nonzero nonzero searchsorted where unique_all unique_counts unique_inverse unique_values argsort sort
cumulative_prod cumulative_sum max mean min prod std sum var all any diff
"""

API_BODIES = [
    lambda xp, a: xp.reshape(xp.permute_dims(a, (1, 0)), (-1,)),
    lambda xp, a: xp.sum(xp.astype(a, xp.float64), axis=0, keepdims=True),
    lambda xp, a: xp.cumulative_sum(a, axis=1, include_initial=True),
    lambda xp, a: xp.concat([a, xp.flip(a, axis=0)], axis=1),
    lambda xp, a: xp.vecdot(a, a),
    lambda xp, a: xp.matrix_transpose(a),
    lambda xp, a: tuple(xp.unique_all(a)),
    lambda xp, a: xp.var(xp.astype(a, xp.float64), correction=1.0),
    lambda xp, a: xp.unstack(a, axis=1),
    lambda xp, a: xp.bitwise_left_shift(a, xp.asarray(2, dtype=a.dtype)),
    lambda xp, a: xp.clip(a, 1, 3),
    lambda xp, a: xp.meshgrid(a[0, :], a[:, 0], indexing="ij"),
]


@pytest.mark.parametrize("body", API_BODIES, ids=range(len(API_BODIES)))
def test_array_api_functions(body):
    a = values("i4", (3, 4), 9)
    compare(body(gpuarray.zeros(1).__array_namespace__(), gpuarray.to_gpu(a)), body(np, a), 1e-12)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.float32], ids=lambda t: np.dtype(t).name)
@pytest.mark.parametrize("name", ["min", "max"])
def test_the_first_value_may_be_of_the_dtype_of_out(name, dtype):
    def body(xp, a):
        out = xp.zeros((), np.float64)
        getattr(a, name)(out=out, initial=-1000.5 if name == "max" else 1000.5)
        return out

    for elements in ([], [1, 0]):
        same(body, np.array(elements, dtype))
