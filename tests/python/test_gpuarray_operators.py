"""Operators, ufuncs, indexing and views of `pycuda.gpuarray`: the same bodies with NumPy."""

import operator

import numpy as np
import pytest
from hypothesis import given, strategies as st

import pycuda.gpuarray as gpuarray
from tests.python.same_body import BFLOAT16, COMPLEX, DTYPES, FLOATS, INTEGERS, Drawn, arrays, compare, quickly, same

ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.truediv]
WHOLE = [operator.floordiv, operator.mod, divmod]
BITS = [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift]
COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]
# A few types suffice for each kind: the rules go by kind and size, and each new pair is a new kernel.
FEW = [np.dtype(t) for t in ("?", "i1", "u1", "i8", "u8", "f2", "f4", "f8", "c8")]


@pytest.fixture(autouse=True)
def _context(context):
    """Every test here runs in the session's context."""


def tolerance(*dtypes):
    """Products and quotients of complex numbers are not rounded in a defined way."""
    return 1e-5 if any(np.dtype(d).kind == "c" for d in dtypes) else 0.0


@quickly
@given(st.sampled_from(ARITHMETIC), arrays(FEW), st.data())
def test_arithmetic_broadcasts(op, x, data):
    shape = tuple(data.draw(st.sampled_from([n, 1])) for n in x.host.shape)[data.draw(st.integers(0, x.host.ndim)) :]
    y = data.draw(arrays(FEW, shape=shape))
    same(lambda xp, a, b: op(a, b), x, y, rtol=tolerance(x.host.dtype, y.host.dtype))


@pytest.mark.parametrize("op", COMPARISONS)
@pytest.mark.parametrize("other", [[0, 1, 2], (0, 1, 2), range(3), []])
def test_sequences_are_not_compared(op, other):
    a = gpuarray.arange(3, dtype=np.int32)
    for left, right in ((a, other), (other, a)):
        with pytest.raises(TypeError, match=f"'GPUArray' and '{type(other).__name__}'; make it an array with rtcg.*"):
            op(left, right)


def test_sequences_in_place_are_refused_in_the_words_of_python():
    a = gpuarray.arange(3, dtype=np.int32)
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+=: 'GPUArray' and 'list'; make it"):
        a += [1, 2, 3]
    with pytest.raises(TypeError, match=r"for >>=: 'GPUArray' and 'str'$"):
        a >>= "1"


@pytest.mark.parametrize("other", [None, "text", b"bytes", {1: 2}, object(), {1}])
def test_objects_that_no_array_is_equal_to(other):
    a = gpuarray.arange(3, dtype=np.int32)
    assert (a == other) is False and (a != other) is True and (other == a) is False


def test_flags_have_names():
    a = gpuarray.zeros((2, 3), np.float32)
    assert a.flags["C_CONTIGUOUS"] and a.flags["C"] and not a.T.flags["C"] and a.T.flags["F_CONTIGUOUS"]
    with pytest.raises(KeyError, match="OWNDATA"):
        a.flags["OWNDATA"]


@quickly
@given(st.sampled_from(ARITHMETIC + COMPARISONS), arrays([np.dtype("f4"), np.dtype("i4")]), arrays([np.dtype("f4")]))
def test_shapes_that_do_not_fit_are_refused(op, x, y):
    same(lambda xp, a, b: op(a, b), x, y)


@quickly
@given(st.sampled_from(WHOLE + BITS), arrays([np.dtype(t) for t in ("?", "i1", "u2", "i4", "u8", "f4")]), st.data())
def test_integer_operators(op, x, data):
    y = data.draw(arrays([x.host.dtype, np.dtype("i4")], shape=x.host.shape))
    same(lambda xp, a, b: op(a, b), x, y)


@quickly
@given(st.sampled_from(COMPARISONS), arrays(FEW), st.data())
def test_comparisons_give_truth_values(op, x, data):
    y = data.draw(arrays([x.host.dtype, np.dtype("i8"), np.dtype("u8")], shape=x.host.shape))
    same(lambda xp, a, b: op(a, b), x, y)


SCALARS = st.sampled_from(
    [3, -2, 0, 300, 2.5, True, 1 + 2j, np.float32(1.5), np.float64(0.25), np.int16(7), np.uint8(3)]
)


@quickly
@given(
    st.sampled_from(ARITHMETIC + COMPARISONS + [operator.floordiv, operator.mod]), arrays(FEW), SCALARS, st.booleans()
)
def test_scalars_are_weak_or_strong(op, x, scalar, reflected):
    body = (lambda xp, a, s: op(s, a)) if reflected else (lambda xp, a, s: op(a, s))
    same(body, x, scalar, rtol=tolerance(x.host.dtype, np.asarray(scalar).dtype))


@quickly
@given(arrays(FEW), st.sampled_from([0, 1, 2, 3, 0.5, -1, 2.0, 1.5]))
def test_powers(x, exponent):
    same(lambda xp, a, e: abs(a) ** e, x, exponent, rtol=2e-3 if x.host.dtype.itemsize <= 2 else 1e-5)


@quickly
@given(st.sampled_from([operator.neg, operator.pos, operator.invert, abs]), arrays(DTYPES))
def test_unary_operators(op, x):
    same(lambda xp, a: op(a), x, rtol=tolerance(x.host.dtype))


IN_PLACE = [operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.iand]


@quickly
@given(st.sampled_from(IN_PLACE), arrays([np.dtype(t) for t in ("i4", "f4", "f8", "c8")]), st.data())
def test_in_place_forms_keep_the_array(op, x, data):
    y = data.draw(arrays([np.dtype("i4"), np.dtype("f8"), x.host.dtype], shape=x.host.shape))

    def body(xp, a, b):
        result = op(a, b)
        assert result is a
        return result

    same(body, x, y, rtol=tolerance(x.host.dtype, y.host.dtype))


@quickly
@given(arrays([np.dtype("i4")], min_ndim=1), st.data())
def test_overlapping_operands_are_read_before_they_are_written(x, data):
    shift = data.draw(st.integers(0, max(0, x.host.shape[0] - 1)))

    def body(xp, a):
        a[shift:] += a[: a.shape[0] - shift]
        a[: a.shape[0] - shift] = a[shift:]
        a -= a[::-1]
        return a

    same(body, x)


def test_quotients_round_down_whatever_the_signs():
    x, y = np.meshgrid(np.arange(-7, 8, dtype=np.int32), np.array([-3, -1, 2, 5], np.int32))
    for op in (operator.floordiv, operator.mod):
        np.testing.assert_array_equal(op(gpuarray.to_gpu(x), gpuarray.to_gpu(y)).get(), op(x, y))


def test_complex_numbers_are_ordered_by_their_real_parts_first():
    x, y = np.meshgrid(*[np.array([1, 2, 1 + 1j, 1 - 1j, 2j], np.complex64)] * 2)
    for op in COMPARISONS:
        np.testing.assert_array_equal(op(gpuarray.to_gpu(x), gpuarray.to_gpu(y)).get(), op(x, y))


@pytest.mark.parametrize("shift", [1, 100, 5000])
def test_long_overlapping_operands_are_read_before_they_are_written(shift):
    """With more elements than a warp reads before it writes, and views that begin at different addresses."""
    host = np.arange(20_000, dtype=np.int32) % 977

    def body(a):
        a[shift:] += a[:-shift]
        a[:-shift] = a[shift:]
        return a

    np.testing.assert_array_equal(body(gpuarray.to_gpu(host)).get(), body(host.copy()))


items = st.one_of(
    st.integers(-6, 6),
    st.none(),
    st.just(Ellipsis),
    st.slices(5),
    st.builds(slice, st.none(), st.none(), st.integers(-3, 3)),
)


@quickly
@given(arrays([np.dtype("i2")]), st.lists(items, max_size=4).map(tuple))
def test_basic_indices_are_those_of_numpy(x, index):
    same(lambda xp, a: a[index], x)


@quickly
@given(
    arrays([np.dtype("i4"), np.dtype("f4")]), st.lists(items, max_size=3).map(tuple), st.sampled_from([7, 2.5, "row"])
)
def test_assignment_broadcasts_and_converts(x, index, value):
    def body(xp, a):
        target = a[index]
        a[index] = target[..., :1] * 0 + 3 if value == "row" and target.ndim else 5 if value == "row" else value
        return a

    same(body, x)


@quickly
@given(arrays([np.dtype("i4")]), st.data())
def test_reshape_copies_only_where_numpy_does(x, data):
    size = x.host.size
    divisors = [n for n in range(1, size + 1) if size % n == 0] or [0]
    first = data.draw(st.sampled_from(divisors))
    shape = data.draw(st.sampled_from([(first, -1), (-1, first), (size,), (1, size, 1), (first + 1, 2)]))
    order = data.draw(st.sampled_from("CF"))
    same(lambda xp, a: a.reshape(shape, order=order), x)


VIEWS = [
    lambda xp, a: a.T,
    lambda xp, a: a.ravel(),
    lambda xp, a: a.squeeze(),
    lambda xp, a: xp.flip(a),
    lambda xp, a: xp.broadcast_to(a, (2, *a.shape)),
    lambda xp, a: xp.expand_dims(a, (0, -1)),
    lambda xp, a: xp.moveaxis(a, 0, -1),
    lambda xp, a: a.swapaxes(0, -1),
    lambda xp, a: a.diagonal(1),
    lambda xp, a: xp.flip(a, axis=1),
]


@quickly
@given(st.sampled_from(VIEWS), arrays([np.dtype("i4")]))
def test_views(view, x):
    same(view, x)


@quickly
@given(arrays([d for d in DTYPES if d.kind != "c"]), st.sampled_from(DTYPES))
def test_conversion_between_dtypes(x, dtype):
    same(lambda xp, a: abs(a).astype(dtype), x)


@quickly
@given(arrays(COMPLEX))
def test_parts_of_complex_numbers(x):
    def body(xp, a):
        return a.real, a.imag, a.conj()

    same(body, x)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("order", ["C", "F"])
def test_parts_of_complex_arrays_are_contiguous_copies(dtype, order):
    """Kernels that read one element after the other find them; a view has another dtype."""
    host = (np.arange(12) + 1j * np.arange(12, 24)).reshape(3, 4).astype(dtype, order=order)
    for z, expected in ((gpuarray.to_gpu(host), host), (gpuarray.to_gpu(host)[::2, 1:], host[::2, 1:])):
        for part, wanted in ((z.real, expected.real), (z.imag, expected.imag)):
            assert part.flags.forc and part.base is None and part.dtype == wanted.dtype
            compare(part, wanted)
    z = gpuarray.to_gpu(np.ascontiguousarray(host))
    z.real.fill(0)
    compare(z, np.ascontiguousarray(host))
    z.view(z.real.dtype)[..., 1::2] = 5
    compare(z, host.real + 5j)


def test_reshape_is_contiguous_in_the_order_asked_for():
    host = np.arange(24, dtype=np.float32).reshape(4, 6)
    for source in (host, np.asfortranarray(host)):
        device = gpuarray.to_gpu(source)
        for order in "CF":
            for shape in ((4, 6), (3, 8), (2, 3, 4), (24,)):
                result = device.reshape(shape, order=order)
                assert result.flags.c_contiguous if order == "C" else result.flags.f_contiguous
                compare(result, source.reshape(shape, order=order))
    strided = gpuarray.to_gpu(host)[:, ::2]
    strided.reshape(2, 2, 3)[...] = 7
    assert (strided.get() == 7).all()


def test_transpose_takes_axes_by_name():
    host = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    device = gpuarray.to_gpu(host)
    for axes in ((1, 0, 2), [2, 1, 0], None):
        compare(device.transpose(axes=axes), host.transpose(axes))
    compare(device[:, 1:].transpose(axes=(1, 0, 2)), host[:, 1:].transpose(1, 0, 2))
    with pytest.raises(TypeError, match="axes twice"):
        device.transpose(0, 1, 2, axes=(0, 1, 2))


def test_discontiguous_copies():
    host = np.arange(24, dtype=np.float32).reshape(4, 6)
    device, out = gpuarray.to_gpu(host), np.zeros((4, 6), np.float32)
    gpuarray._memcpy_discontig(out[:, ::2], device[:, ::2])
    assert (out[:, ::2] == host[:, ::2]).all() and (out[:, 1::2] == 0).all()
    gpuarray._memcpy_discontig(device[1:3], np.ascontiguousarray(host[:2]))
    gpuarray._memcpy_discontig(device[:, 3:], device[:, :3], async_=True)
    host[1:3] = host[:2].copy()
    host[:, 3:] = host[:, :3]
    compare(device, host)
    for bad, error in ((lambda: gpuarray._memcpy_discontig(out, [1]), TypeError),
                       (lambda: gpuarray._memcpy_discontig(out, device[0]), ValueError),
                       (lambda: gpuarray._memcpy_discontig(out, device.astype(np.int32)), TypeError)):  # fmt: skip
        with pytest.raises(error):
            bad()


EXACT = [
    "floor",
    "ceil",
    "trunc",
    "rint",
    "sign",
    "isnan",
    "isinf",
    "isfinite",
    "signbit",
    "square",
    "logical_not",
    "positive",
]
CLOSE = ["sqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos",
         "arctan",
         "sinh", "cosh", "tanh", "arcsinh", "cbrt", "deg2rad", "rad2deg", "fabs"]  # fmt: skip


@quickly
@given(st.sampled_from(EXACT), arrays([np.dtype(t) for t in ("?", "i2", "u4", "f2", "f4", "f8")]))
def test_exact_functions(name, x):
    same(lambda xp, a: getattr(np, name)(a), x)


@quickly
@given(st.sampled_from(CLOSE), arrays([np.dtype(t) for t in ("i1", "f2", "f4", "f8")]))
def test_functions_are_accurate(name, x):
    result = getattr(np, name)(np.ones(1, x.host.dtype)).dtype
    same(lambda xp, a: getattr(np, name)(a), x, rtol=4 * float(np.finfo(result).eps))


@quickly
@given(
    st.sampled_from(
        ["exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "log10", "log1p", "expm1", "square"]
    ),
    arrays(COMPLEX),
)
def test_functions_of_complex_numbers(name, x):
    same(lambda xp, a: getattr(np, name)(a + a.dtype.type(0.3 + 0.2j)), x, rtol=1e-4 if x.host.dtype == "c8" else 1e-12)


PAIRS = ["maximum", "minimum", "fmax", "fmin", "logical_and", "logical_or", "logical_xor", "arctan2", "hypot",
         "copysign",
         "fmod", "logaddexp", "heaviside", "gcd", "lcm", "float_power"]  # fmt: skip


@quickly
@given(st.sampled_from(PAIRS), arrays([np.dtype(t) for t in ("i4", "u1", "f4", "f8")]), st.data())
def test_functions_of_two_arrays(name, x, data):
    y = data.draw(arrays([x.host.dtype], shape=x.host.shape))
    exact = name in (
        "maximum",
        "minimum",
        "fmax",
        "fmin",
        "copysign",
        "fmod",
        "gcd",
        "lcm",
        "heaviside",
    ) or name.startswith("logical")
    same(lambda xp, a, b: getattr(np, name)(a, b), x, y, rtol=0.0 if exact else 2e-6)


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_extreme_values(dtype):
    info = np.iinfo(dtype) if dtype.kind in "iu" else np.finfo(dtype)
    numbers = [info.min, info.max, 0, 1, info.max, info.min]
    if dtype.kind == "f":
        numbers += [np.inf, -np.inf, np.nan, -0.0, float(info.smallest_subnormal)]
    x = np.array(numbers, dtype)
    for op in (
        operator.add,
        operator.mul,
        operator.floordiv,
        operator.mod,
        operator.lt,
        operator.eq,
        np.maximum,
        np.fmin,
    ):
        drawn = Drawn(np.repeat(x, len(x)), ((0,), (1,))), Drawn(np.tile(x, len(x)), ((0,), (1,)))
        same(lambda xp, a, b, op=op: op(a, b), *drawn)


def test_bfloat16_is_rounded_once():
    a = (np.arange(1, 81) / 7).astype(BFLOAT16)
    d = gpuarray.to_gpu(a)
    for op in (operator.add, operator.mul, operator.truediv, operator.lt):
        compare(op(d, d[::-1]), op(a, a[::-1]))
    assert (d + 1).dtype == BFLOAT16 and (d * 0.5).dtype == BFLOAT16 and (d + np.float32(1)).dtype == np.float32
    compare(d.astype(np.float64), a.astype(np.float64))
    compare(
        gpuarray.to_gpu(a.astype(np.float32) * 1.001).astype(BFLOAT16), (a.astype(np.float32) * 1.001).astype(BFLOAT16)
    )


def test_records_are_copied_indexed_and_have_fields():
    dtype = np.dtype([("position", "f4", (3,)), ("kind", "i2"), ("mass", "f8")])
    host = np.zeros((2, 4), dtype)
    host["kind"], host["mass"], host["position"] = 3, np.arange(8).reshape(2, 4), 1.5
    device = gpuarray.to_gpu(host)
    assert device.dtype == dtype
    compare(device.T.copy(), host.T.copy())
    compare(device["mass"][:, ::2], host["mass"][:, ::2])
    compare(device["position"], host["position"])
    device["mass"] *= 2
    device[0, 1] = ((1, 2, 3), 4, 5)
    host["mass"] *= 2
    host[0, 1] = ((1, 2, 3), 4, 5)
    np.testing.assert_array_equal(device.get(), host)
    with pytest.raises(TypeError, match="record|not supported"):
        device + device


def test_more_operands_at_once_than_fit_in_registers():
    host = np.arange(2 * 3 * 2 * 2 * 3 * 2).reshape(2, 3, 2, 2, 3, 2).astype(np.int32)
    device = gpuarray.to_gpu(host)
    order = (5, 1, 3, 0, 2, 4)
    compare(
        device.transpose(order)[::-1] + device.transpose(order)[:, ::-1],
        host.transpose(order)[::-1] + host.transpose(order)[:, ::-1],
    )


def test_host_arrays_beside_device_arrays_are_copied_over():
    host = np.arange(4, dtype=np.float32)
    device = gpuarray.to_gpu(host)
    for result in (device + host, host + device, np.add(host, device)):
        assert isinstance(result, gpuarray.GPUArray)
        compare(result, host + host)


class Labelled(gpuarray.GPUArray):
    """A subclass, as downstream packages have them."""

    def __new__(cls, *args, **kwargs):
        return super().__new__(cls, *args, **kwargs)


def test_a_subclass_may_have_its_own_new():
    a = Labelled((2, 3), np.float32).fill(2)
    assert type(a) is Labelled and type(a + 1) is gpuarray.GPUArray
    compare((a.T[1:] + 1), np.full((2, 2), 3, np.float32))


def test_printing_fetches_only_the_edges():
    import pycuda.driver as drv

    host = np.arange(3_000_000, dtype=np.float32).reshape(1000, 3000)
    device = gpuarray.to_gpu(host)
    assert str(device) == str(host)
    assert repr(device) == repr(host)
    assert repr(device[:, :2]) == repr(host[:, :2])
    assert f"{device[0, 5]:.2f}" == "5.00"
    assert drv.mem_get_info()[0] > 0


def test_messages_name_the_offending_values():
    a = gpuarray.zeros((2, 3), np.float32)
    with pytest.raises(ValueError, match=r"\(2, 3\) \(3, 2\)"):
        a + gpuarray.zeros((3, 2), np.float32)
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 1 with size 3"):
        a[0, 5]
    with pytest.raises(IndexError, match="array is 2-dimensional, but 3 were indexed"):
        a[0, 0, 0]
    with pytest.raises(ValueError, match=r"size 6 into shape \(4, -1\)"):
        a.reshape(4, -1)
    with pytest.raises(np.exceptions.AxisError, match="axis 3 is out of bounds for array of dimension 2"):
        a.swapaxes(3, 0)
    with pytest.raises(TypeError, match="float64 to int32"):
        b = gpuarray.zeros(3, np.int32)
        b += 1.5
    with pytest.raises(ValueError, match=r"from shape \(2,\) into shape \(2, 3\)"):
        a[...] = gpuarray.zeros(2, np.float32)


def test_round_takes_arrays_without_axes():
    total = gpuarray.to_gpu(np.array([1.25, 2.5])).sum()
    assert round(total) == 4 and isinstance(round(total), int) and round(total, 1) == 3.8
    with pytest.raises(TypeError, match=r"a.round\(\)"):
        round(gpuarray.zeros(3, np.float32))


@pytest.mark.parametrize("method", ["at", "reduceat"])
def test_methods_that_ufuncs_lack_here_say_what_to_use(method):
    import rtcg.numpy as rnp

    with pytest.raises(NotImplementedError, match=rf"use numpy.add.{method} with a.get\(\)"):
        getattr(rnp.add, method)(rnp.zeros(3), [0, 1])
