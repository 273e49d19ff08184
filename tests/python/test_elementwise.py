"""pycuda.elementwise and the C types it is declared with."""

import re

import numpy as np
import pytest

import pycuda.driver as drv
import pycuda.gpuarray as gpuarray
import rtcg
from pycuda.compiler import CompileError
from pycuda.compyte import dtypes
from pycuda.elementwise import ElementwiseKernel, get_elwise_kernel
from pycuda.reduction import ReductionKernel
from pycuda.tools import (
    ScalarArg,
    VectorArg,
    dtype_to_ctype,
    get_arg_type,
    get_or_register_dtype,
    parse_c_arg,
    register_dtype,
)
from rtcg.scan import GenericScanKernel
from tests.python.subprocesses import run_python


@pytest.fixture(autouse=True)
def _context(context):
    """Every test here runs in the session's context."""


# -- C types ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, kind, dtype, name",
    [
        ("float *x", VectorArg, np.float32, "x"),
        ("const pycuda::complex<double> *y", VectorArg, np.complex128, "y"),
        ("int n", ScalarArg, np.int32, "n"),
        ("unsigned long long int q[]", VectorArg, np.uint64, "q"),
        ("const double *__restrict__ d", VectorArg, np.float64, "d"),
        ("size_t s", ScalarArg, np.uint64, "s"),
        ("half h", ScalarArg, np.float16, "h"),
        ("uint8_t *b", VectorArg, np.uint8, "b"),
        ("float3 v", ScalarArg, np.dtype([("x", "f4"), ("y", "f4"), ("z", "f4")]), "v"),
    ],
)
def test_declarations(text, kind, dtype, name):
    arg = parse_c_arg(text)
    assert type(arg) is kind and arg.dtype == dtype and arg.name == name
    assert parse_c_arg(arg.declarator()) == arg


def test_letters_of_types():
    assert get_arg_type("float *x") == "P"
    assert get_arg_type("int n") == "i"
    assert get_arg_type("double2 v") == "16s"


@pytest.mark.parametrize("text", ["foo *x", "float", "float **x", "float &x"])
def test_wrong_declarations(text):
    with pytest.raises(ValueError, match="in the declaration"):
        parse_c_arg(text)


def reduction_of(arguments):
    return ReductionKernel(np.float32, "0", "a + b", "x[i]", arguments)


def scan_of(arguments):
    return GenericScanKernel(np.float32, arguments, "x[i]", "a + b", output_statement="x[i] = item")


def elementwise_of(arguments):
    return ElementwiseKernel(arguments, "x[i] = 1")


@pytest.mark.parametrize("make", [elementwise_of, reduction_of, scan_of])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("i", "the name 'i' stands for the index of the element; choose another one in the declaration 'int i'"),
        ("x", "the name 'x' is used twice in the declaration 'int x'"),
    ],
)
def test_names_that_are_taken_are_refused(make, name, text):
    for arguments in (f"float *x, int {name}", [VectorArg(np.float32, "x"), ScalarArg(np.int32, name)]):
        with pytest.raises(ValueError, match=re.escape(text)):
            make(arguments)


def test_names_of_sizes_are_refused_where_they_are_taken():
    for make in (reduction_of, scan_of):
        with pytest.raises(ValueError, match="the name 'n' stands for the number of elements"):
            make("float *x, int n")
    for name in ("N", "item", "prev_item", "last_item"):
        with pytest.raises(ValueError, match=f"the name '{name}' stands for"):
            scan_of(f"float *x, float {name}")
    with pytest.raises(ValueError, match=r"'x' is used twice in the declaration 'x = x\[i-1\]'"):
        GenericScanKernel(
            np.float32, "float *x", "x[i]", "a + b", "0", "x[i] = item", input_fetch_exprs=[("x", "x", -1)]
        )
    # As in PyCUDA, a kernel for a range has no `n` of its own.
    fill, x = ElementwiseKernel("float *x, int n", "x[i] = n"), gpuarray.zeros(4, np.float32)
    fill(x, 7, range=slice(1, 3))
    assert x.get().tolist() == [0, 7, 7, 0]
    with pytest.raises(ValueError, match="the name 'n' stands for the number of elements; choose another one"):
        fill(x, 7)
    # Names that other snippets find are the arguments' own.
    ElementwiseKernel("float *x, int tid", "x[i] = tid")(x, 3)
    assert x.get().tolist() == [3] * 4


def test_names_of_dtypes():
    assert dtype_to_ctype(np.int64) == "long"
    assert dtype_to_ctype(np.float32, with_fp_tex_hack=True) == "fp_tex_float"
    with pytest.raises(ValueError, match="may not be None"):
        dtype_to_ctype(None)
    with pytest.raises(ValueError, match="unable to map"):
        dtype_to_ctype(np.dtype("datetime64[s]"))
    assert dtype_to_ctype(np.dtype([("x", "f8"), ("y", "f8")])) == "double2"


def test_structures_are_registered():
    pair = np.dtype([("key", np.int32), ("weight", np.float32)])
    assert get_or_register_dtype("test_pair", pair) == pair
    assert get_or_register_dtype("test_pair") == pair
    assert dtype_to_ctype(pair) == "test_pair"
    assert parse_c_arg("test_pair *p").dtype == pair
    with pytest.raises(RuntimeError, match="test_pair"):
        get_or_register_dtype("test_pair", np.dtype([("a", "f8"), ("b", "f8"), ("c", "f8")]))
    with pytest.raises(dtypes.TypeNameNotKnown):
        get_or_register_dtype("never_heard_of")
    with pytest.warns(DeprecationWarning), pytest.raises(RuntimeError):
        register_dtype(pair, "test_pair")
    own = dtypes.DTypeRegistry()
    dtypes.fill_registry_with_c99_stdint_types(own)
    assert own.get_or_register_dtype("int16_t") == np.int16


# -- kernels ----------------------------------------------------------------------------------


def test_linear_combination():
    a, b = np.random.default_rng(1).normal(size=(2, 1000)).astype(np.float32)
    kernel = ElementwiseKernel("float a, float *x, float b, float *y, float *z", "z[i] = a*x[i] + b*y[i]", "lin_comb")
    z = gpuarray.empty(a.shape, a.dtype)
    assert kernel(5, gpuarray.to_gpu(a), 6.0, gpuarray.to_gpu(b), z) is None
    np.testing.assert_allclose(z.get(), 5 * a + 6 * b, rtol=1e-5)


@pytest.mark.parametrize(
    "dtype", [np.bool_, np.int8, np.uint16, np.int64, np.float16, np.float32, np.float64, np.complex64, np.complex128]
)
def test_every_type_as_value_and_array(dtype):
    host = np.arange(50).astype(dtype)
    value = np.dtype(dtype).type(3)
    kernel = ElementwiseKernel(
        [ScalarArg(dtype, "a"), VectorArg(dtype, "x", const=True), VectorArg(dtype, "z")], "z[i] = i % 2 ? a : x[i]"
    )
    z = gpuarray.empty(50, dtype)
    for given in (value, value.item(), np.asarray(value)):
        kernel(given, gpuarray.to_gpu(host), z)
        np.testing.assert_array_equal(z.get(), np.where(np.arange(50) % 2, value, host))


def test_a_list_of_arguments_stays_as_it_is_and_serves_both_forms():
    arguments = [VectorArg(np.float32, "z")]
    kernel = ElementwiseKernel(arguments, "z[i] = i")
    z = gpuarray.zeros(10, np.float32)
    kernel(z, range=slice(2, 5, None))
    kernel(z, range=range(7, 6, -1))
    np.testing.assert_array_equal(z.get(), [0, 0, 2, 3, 4, 0, 0, 7, 0, 0])
    kernel(z)
    np.testing.assert_array_equal(z.get(), np.arange(10))
    assert [a.name for a in arguments] == ["z"]


@pytest.mark.parametrize(
    "where", [slice(None, None, 2), slice(-3, None), slice(None, None, -3), slice(8, 2, -2), slice(3, 3)]
)
def test_slices(where):
    z = gpuarray.zeros(20, np.int32)
    ElementwiseKernel("int *z", "z[i] = i + 1")(z, slice=where)
    expected = np.zeros(20, np.int32)
    expected[where] = np.arange(1, 21)[where]
    np.testing.assert_array_equal(z.get(), expected)


def test_preamble_loop_prep_and_after_loop():
    kernel = ElementwiseKernel(
        "float *z, float *total", "z[i] = f(i) + bias; own += 1",
        preamble="__device__ float f(size_t i) { return 2.0f * i; }",
        loop_prep="const float bias = 0.5f; float own = 0", after_loop="atomicAdd(total, own)",
    )  # fmt: skip
    z, total = gpuarray.zeros(300, np.float32), gpuarray.zeros(1, np.float32)
    kernel(z, total)
    np.testing.assert_array_equal(z.get(), 2.0 * np.arange(300) + 0.5)
    assert total.get()[0] == 300


def test_structures_and_vectors():
    z = gpuarray.zeros(8, np.float64)
    v = np.zeros((), np.dtype([("x", "f8"), ("y", "f8")]))
    v["x"], v["y"] = 3, 4
    ElementwiseKernel("double2 v, double *z", "z[i] = v.x + i * v.y")(v, z)
    np.testing.assert_array_equal(z.get(), 3 + 4.0 * np.arange(8))


def test_streams_and_large_arrays():
    n = 300_001
    host = np.arange(n, dtype=np.float32)
    stream = drv.Stream()
    x, z = gpuarray.to_gpu(host), gpuarray.zeros(n, np.float32)
    kernel = ElementwiseKernel("float *x, float *z", "z[i] = sqrtf(x[i])")
    kernel(x, z, stream=stream)
    stream.synchronize()
    np.testing.assert_allclose(z.get(), np.sqrt(host), rtol=1e-6)


def test_mistakes():
    z, d = gpuarray.zeros(4, np.float32), gpuarray.zeros(4, np.float64)
    kernel = ElementwiseKernel("float *z, int a", "z[i] = a")
    for args, error, text in [
        ((z,), TypeError, "takes 2 arguments"), ((d, 1), TypeError, "'z' has dtype float64; expected float32"),
        ((z, 1.5), TypeError, "expected an integer"), ((z, 1 << 40), OverflowError, "1099511627776"),
        ((3, 1), TypeError, "expected a GPUArray"), ((np.zeros(4, np.float32), 1), TypeError, "expected a GPUArray"),
    ]:  # fmt: skip
        with pytest.raises(error, match=text):
            kernel(*args)
    with pytest.raises(TypeError):
        kernel(z, 1, nonsense=3)
    with pytest.raises(TypeError, match="both range and slice"):
        kernel(z, 1, range=slice(0, 1, 1), slice=slice(1))
    with pytest.raises(ValueError, match="no array argument"):
        ElementwiseKernel("int a", "a")(1)
    with pytest.raises(ValueError, match="unknown type 'flaot'"):
        ElementwiseKernel("flaot *z", "z[i] = 0")


class Foreign:
    """An array of another library."""

    def __init__(self, array):
        self.array = array

    @property
    def __cuda_array_interface__(self):
        return self.array.__cuda_array_interface__


@pytest.mark.parametrize(
    ("declared", "given"),
    [
        ("float", np.int32), ("int", np.float32), ("float", np.uint32), ("double", np.int64), ("long", np.complex64),
        ("double", np.complex64), ("pycuda::complex<float>", np.float64), ("float2", np.int64), ("half", np.float32),
        ("int", np.int16), ("double2", np.float64), ("bool", np.int32),
    ],
)  # fmt: skip
def test_elements_of_another_kind_are_refused(declared, given):
    """By every generator, of arrays of any library, wherever the array stands in the call."""
    array, dtype = gpuarray.zeros(4, given), np.dtype(given)
    expected = rf"argument 'z' has dtype {dtype}; expected .* for '{declared} \*z'"
    kernel = ElementwiseKernel(f"int a, {declared} *z", "z[i] = z[i]")
    reduction = ReductionKernel(np.int32, "0", "a + b", "sizeof(z[i])", f"{declared} *z")
    scan = GenericScanKernel(np.int32, f"{declared} *z", "sizeof(z[i])", "a + b", "0")
    for one in (array, Foreign(array), array[::2], array[:0]):
        for call, args, keywords in (
            (kernel, (1, one), {}), (kernel, (1, one), {"range": slice(0, 1)}), (kernel.get_source, (1, one), {}),
            (reduction, (one,), {}), (reduction, (one,), {"axis": 0}), (scan, (one,), {}),
        ):  # fmt: skip
            with pytest.raises(TypeError, match=expected):
                call(*args, **keywords)


@pytest.mark.parametrize(
    ("declared", "given"),
    [
        ("int", np.uint32), ("unsigned long", np.int64), ("bool", np.uint8), ("signed char", np.bool_),
        ("float2", np.complex64), ("pycuda::complex<double>", np.complex128), ("unsigned short", np.float16),
        ("half", np.int16), ("float4", [(name, "f4") for name in "xyzw"]), ("double2", np.complex128),
        ("double", [("a", "f4"), ("b", "i4")]), ("float2", [("x", "f4"), ("y", "f4")]),
    ],
)  # fmt: skip
def test_elements_that_reinterpret_are_taken(declared, given):
    host = np.arange(64, dtype=np.uint8)[:32].repeat(2)
    size = np.dtype(given).itemsize
    x = gpuarray.to_gpu(host[: 64 // size * size].view(given) if given is not np.bool_ else host > 9)
    z = gpuarray.empty_like(x)
    kernel = ElementwiseKernel(f"const {declared} *x, {declared} *z", "z[i] = x[i]")
    for _ in range(3):
        z.fill(0) if z.dtype.kind not in "V" else drv.memset_d8(z.gpudata, 0, z.nbytes)
        kernel(x, z)
        assert z.get().tobytes() == x.get().tobytes()


def test_arrays_used_freely_are_checked_as_those_of_modules():
    """Their elements may have any size, but must be of the kind, or bytes; addresses have no type."""
    bits = "z[i] = reinterpret_cast<const {0} *>(x)[i]"
    host = np.arange(8, dtype=np.float32)
    raw, z = gpuarray.to_gpu(host.view(np.uint8)), gpuarray.zeros(8, np.float32)
    ElementwiseKernel("float *z, const float *x", bits.format("float"))(z, raw)
    np.testing.assert_array_equal(z.get(), host)
    kernel, words = ElementwiseKernel("float *z, const int *x", bits.format("float")), gpuarray.to_gpu(host)
    with pytest.raises(TypeError, match=r"argument 'x' has dtype float32; expected int32 for 'const int \*x'"):
        kernel(z, words)
    z.fill(0)
    kernel(z, words.gpudata)
    np.testing.assert_array_equal(z.get(), host)
    pairs = gpuarray.to_gpu(host.view(np.complex64))
    ElementwiseKernel("float *z, const float *x", "z[i] = (&x[0])[i]")(z.fill(0), pairs)
    np.testing.assert_array_equal(z.get(), host)


def test_the_check_of_elements_can_be_switched_off():
    run_python(
        """
        import numpy as np, pycuda.autoinit, pycuda.gpuarray as gpuarray
        from pycuda.elementwise import ElementwiseKernel
        z = gpuarray.zeros(4, np.int32)
        kernel = ElementwiseKernel("float *z", "z[i] = 1")
        kernel(z), kernel(z)
        assert z.get().tolist() == [0x3f800000] * 4
        try:
            kernel(gpuarray.zeros(4, np.float64))
        except TypeError as error:
            assert "'z' has elements of 8 bytes; 'float *z' has 4" in str(error), error
        else:
            raise AssertionError
        """,
        RTCG_ARGUMENT_TYPES="0",
    )


def test_a_range_may_leave_the_first_array():
    """Which elements the snippet touches is its own business: here every other one, and those before `i`."""
    z, x = gpuarray.zeros(4, np.int32), gpuarray.to_gpu(np.arange(9, dtype=np.int32))
    ElementwiseKernel("int *z, const int *x", "z[i / 2] = x[i]")(z, x, range=slice(0, 8, 2))
    assert z.get().tolist() == [0, 2, 4, 6]
    ElementwiseKernel("int *z, const int *x", "z[i - 5] = x[i]")(z, x, range=slice(5, 9))
    assert z.get().tolist() == [5, 6, 7, 8]


def test_errors_in_snippets_show_the_users_lines():
    kernel = ElementwiseKernel("float *z", "float t = 1;\nz[i] = t + undeclared_thing")
    with pytest.raises(CompileError) as caught:
        kernel(gpuarray.zeros(4, np.float32))
    # The snippet is compiled in two places, and its error is told once.
    assert str(caught.value).count("operation(2)") == 1 and caught.value.stderr.count("operation(2)") == 2
    assert "  z[i] = t + undeclared_thing\n" in str(caught.value)


def test_source_and_prepared_functions():
    kernel = ElementwiseKernel("float *x, float *z", "z[i] = x[i] + 1", "plus_one")
    assert "void plus_one(float *x, float *z, unsigned long n)" in kernel.get_source()
    assert "long start, long stop, long step" in kernel.get_source(use_range=True)
    x, z = gpuarray.to_gpu(np.arange(10, dtype=np.float32)), gpuarray.zeros(10, np.float32)
    function = get_elwise_kernel("float *x, float *z", "z[i] = x[i] + 1")
    function.prepared_call((2, 1), (32, 1, 1), x.gpudata, z.gpudata, 10)
    np.testing.assert_array_equal(z.get(), np.arange(10) + 1)
    module, function, arguments = kernel.generate_stride_kernel_and_types(True)
    assert [a.name for a in arguments] == ["x", "z", "start", "stop", "step"]
    function.prepared_call((2, 1), (32, 1, 1), x.gpudata, z.gpudata, 0, 10, 3)


def test_kernels_by_name():
    import pycuda.elementwise as ew

    f4, f8, i4, c8 = map(np.dtype, (np.float32, np.float64, np.int32, np.complex64))
    x = np.arange(1, 9, dtype=f4)
    y = x[::-1].copy()
    k = np.array([3, 0, 7, 1, 1, 2, 6, 5], i4)

    def run(function, *args, out=f4):
        z = gpuarray.zeros(8, out)
        device = [gpuarray.to_gpu(a).gpudata if isinstance(a, np.ndarray) else a for a in args]
        device = [z.gpudata if a is Ellipsis else a for a in device]
        function.prepared_call((1, 1), (32, 1, 1), *device, 8)
        return z.get()

    eq = np.testing.assert_allclose
    eq(run(ew.get_take_kernel(f4, i4), k, ..., x), x[k])
    eq(run(ew.get_put_kernel(f4, i4), np.arange(8, dtype=i4)[::-1].copy(), ..., x), x[::-1])
    eq(run(ew.get_axpbyz_kernel(f4, i4, f4), 2, x, 3, k, ...), 2 * x + 3 * k)
    eq(run(ew.get_axpbz_kernel(f4, f4), 2, x, 1, ...), 2 * x + 1)
    eq(run(ew.get_binary_op_kernel(f4, f4, np.dtype(bool), "<"), x, y, ..., out=bool), x < y)
    eq(run(ew.get_binary_op_kernel(f4, c8, c8, "*"), x, y.astype(c8), ..., out=c8), x * y)
    eq(run(ew.get_rdivide_elwise_kernel(f4, f4), x, 2, ...), 2 / x)
    eq(run(ew.get_binary_minmax_kernel("max", f4, f4, f4, False), x, y, ...), np.maximum(x, y))
    eq(run(ew.get_fill_kernel(f4), 4, ...), np.full(8, 4))
    eq(run(ew.get_reverse_kernel(f4), x, ...), x[::-1])
    eq(run(ew.get_copy_kernel(i4, f4), ..., x + 0.5, out=i4), x)
    eq(run(ew.get_arange_kernel(f4), ..., 1, 2), 1 + 2 * np.arange(8))
    eq(run(ew.get_conj_kernel(c8), (x + 1j * y), ..., out=c8), x - 1j * y)
    eq(run(ew.get_imag_kernel(c8, f4), (x + 1j * y), ...), y)
    eq(run(ew.get_pow_array_kernel(f4, f4, f4, True, False), x, 2, ...), x**2)
    eq(run(ew.get_fmod_kernel(), x, y, ...), np.fmod(x, y))
    eq(run(ew.get_ldexp_kernel(), x, np.full(8, 2, f4), ...), x * 4)
    eq(run(ew.get_unary_func_kernel("sqrtf", f4), x, ...), np.sqrt(x))
    eq(run(ew.get_if_positive_kernel(i4, f4), k, x, y, ...), np.where(k > 0, x, y))
    eq(run(ew.get_scalar_op_kernel(f4, f4, f4, "-"), x, 3, ...), x - 3)
    eq(run(ew.get_logical_not_kernel(i4, np.dtype(bool)), k, ..., out=bool), k == 0)
    for dtype in (f4, f8):
        combination, (factor,) = ew.get_linear_combination_kernel(((False, f4, f4), (True, dtype, i4)), f4)
        gpuarray.to_gpu(np.array([3], dtype)).bind_to_texref_ext(factor, allow_double_hack=True)
        eq(run(combination, 2, x, k, ...), 2 * x + 3 * k)


@pytest.mark.parametrize("last", [[], [ScalarArg(np.uintp, "n")]])
def test_modules_take_the_size_named_or_not(last):
    import pycuda.elementwise as ew

    arguments = [VectorArg(np.float32, "x"), *last]
    kernel = ew.get_elwise_module(arguments, "x[i] = i + SHIFT", "fill", preamble="#define SHIFT 2").get_function(
        "fill"
    )
    kernel.prepare("PP")
    x = gpuarray.zeros(8, np.float32)
    kernel.prepared_call((1, 1), (32, 1, 1), x.gpudata, 7)
    np.testing.assert_array_equal(x.get(), [2, 3, 4, 5, 6, 7, 8, 0])


# -- layouts ----------------------------------------------------------------------------------


def test_views_and_broadcasting():
    host = np.arange(120, dtype=np.float32).reshape(4, 5, 6)
    array = gpuarray.to_gpu(host)
    kernel = ElementwiseKernel("float *z, const float *x, const float *y", "z[i] = x[i] - 2 * y[i]")
    for pick in (np.s_[::2, ::-1, 1:], np.s_[:, 2], np.s_[..., ::3], np.s_[1:1]):
        x = host[pick]
        for transposed in (False, True):
            x, device = (x.T, array[pick].T) if transposed else (x, array[pick])
            y = np.arange(x.shape[-1], dtype=np.float32)
            z = gpuarray.empty(x.shape, np.float32)
            kernel(z, device, gpuarray.to_gpu(y))
            np.testing.assert_array_equal(z.get(), x - 2 * y)
            x = x.T if transposed else x
    target = gpuarray.zeros((4, 10), np.float32)
    ElementwiseKernel("float *z, const float *x", "z[i] = x[i] + i")(target[:, ::2], gpuarray.to_gpu(host[:, :, 0]))
    expected = np.zeros((4, 10), np.float32)
    expected[:, ::2] = host[:, :, 0] + np.arange(20).reshape(4, 5)
    np.testing.assert_array_equal(target.get(), expected)
    with pytest.raises(ValueError, match="argument 'z'"):
        kernel(gpuarray.empty((3, 4), np.float32)[:, ::2], array[0], array[0])


def test_overlapping_arrays_in_place():
    n = 70_000
    host = np.arange(n, dtype=np.float32)
    array = gpuarray.to_gpu(host)
    ElementwiseKernel("float *z, const float *x", "z[i] = x[i] + 1")(array, array)
    np.testing.assert_array_equal(array.get(), host + 1)
    ElementwiseKernel("float *z, float *y, const float *x", "z[i] = 5; y[i] = x[i]")(
        array, (out := gpuarray.empty(n, np.float32)), array
    )
    assert (out.get() == 5).all()


# -- calls like the last one --------------------------------------------------------------------------


def _axpbyz(x_type="float", a_type="float"):
    return ElementwiseKernel(f"{a_type} a, {x_type} *x, {a_type} b, {x_type} *y, {x_type} *z", "z[i] = a*x[i] + b*y[i]")


def test_repeated_calls_take_their_own_arrays_and_numbers():
    kernel = _axpbyz()
    rng = np.random.default_rng(1)
    numbers = (2, 3), (2, 3), (0.5, 3), (0.5, -1.25), (np.float32(7), 2), (np.float64(7), 2), (True, 10**20), (-3, 2)
    for a, b in numbers:
        for n in (100, 100, 7):
            x, y = (rng.integers(-100, 100, n).astype(np.float32) for _ in "xy")
            z = gpuarray.empty(n, np.float32)
            assert kernel(a, gpuarray.to_gpu(x), b, gpuarray.to_gpu(y), z) is None
            np.testing.assert_array_equal(z.get(), np.float32(a) * x + np.float32(b) * y)


def test_repeated_calls_see_layouts():
    kernel = _axpbyz()
    host = np.arange(64, dtype=np.float32)
    a = gpuarray.to_gpu(host)
    views = [slice(0, 16), slice(1, 17), slice(0, 16), slice(None, None, 4), slice(None, None, -4), slice(5, 6)]
    for _ in range(2):
        for x in views:
            for y in views:
                z = gpuarray.empty(16, np.float32)
                kernel(2, a[x], 3, a[y], z)
                np.testing.assert_array_equal(z.get(), 2 * host[x] + 3 * host[y] + 0 * host[:16])
        square, z = a.reshape(8, 8), gpuarray.empty((8, 8), np.float32)
        kernel(2, square, 3, square.T, z)
        np.testing.assert_array_equal(z.get(), 2 * host.reshape(8, 8) + 3 * host.reshape(8, 8).T)


def test_repeated_calls_check_what_differs():
    kernel = ElementwiseKernel("int k, float *x", "x[i] += k")
    x = gpuarray.zeros(8, np.float32)
    for k in (1, np.int32(1), True, 1):
        kernel(k, x)
        kernel(k, x)
    assert x.get().tolist() == [8] * 8
    with pytest.raises(OverflowError, match="'k' is 2147483648"):
        kernel(2**31, x)
    with pytest.raises(TypeError, match="argument 'k' is of type float"):
        kernel(1.5, x)
    for other in (np.float64, np.int32):
        with pytest.raises(TypeError, match=f"'x' has dtype {np.dtype(other)}; expected float32 for 'float \\*x'"):
            kernel(1, gpuarray.zeros(8, other))
    with pytest.raises(TypeError, match="takes 2 arguments"):
        kernel(1)
    kernel(1, gpuarray.empty(0, np.float32))
    kernel(1, x, range=slice(0, 4))
    kernel(1, x)
    kernel(1, x, slice=slice(4, 8))
    assert x.get().tolist() == [10] * 8
    kernel(1, x)
    x.gpudata.free()
    with pytest.raises(drv.LogicError, match="freed"):
        kernel(1, x)


def test_repeated_calls_go_to_the_stream_and_the_context_of_the_time():
    kernel = ElementwiseKernel("float *x", "x[i] += 1")
    x, stream = gpuarray.zeros(8, np.float32), drv.Stream()
    for _ in range(2):
        kernel(x)
        kernel(x, stream=stream)
        with stream:
            kernel(x)
        drv.Context.synchronize()
    other = drv.Context.get_device().make_context()
    try:
        y = gpuarray.zeros(8, np.float32)
        kernel(y)
        kernel(y)
        assert y.get().tolist() == [2] * 8
    finally:
        other.pop()
    kernel(x)
    assert x.get().tolist() == [7] * 8
    other.push()
    try:
        kernel(y)
        assert y.get().tolist() == [3] * 8
        del y
    finally:
        drv.Context.pop()
        other.detach()


def test_repeated_calls_compute_what_was_deferred():
    kernel = ElementwiseKernel("float *x", "x[i] += 1")
    x = gpuarray.zeros(8, np.float32)
    for _ in range(3):
        kernel(x)
        with rtcg.fuse():
            y = x + 1
            kernel(y)
        assert y.get().tolist() == (x.get() + 2).tolist()


def test_ranges_and_slices_that_are_none():
    kernel, x = ElementwiseKernel("float *x", "x[i] = 1"), gpuarray.zeros(4, np.float32)
    for value in (3, "a", (0, 4), slice(0, 2.5)):
        with pytest.raises(TypeError, match=re.escape(f"range is {value!r}; expected a slice or range with integer")):
            kernel(x, range=value)
    with pytest.raises(TypeError, match=re.escape("range is slice(0, None, None); expected one with a stop")):
        kernel(x, range=slice(0, None))
    for value in (3, range(2)):
        with pytest.raises(TypeError, match=re.escape(f"slice is {value!r}; expected a slice")):
            kernel(x, slice=value)
    assert (x.get() == 0).all()


def test_swapped_arguments_are_named():
    with pytest.raises(ValueError, match=r"arguments is 'x\[i\] \*= 2', a statement; expected declarations such as"):
        ElementwiseKernel("x[i] *= 2", "float *x")
    with pytest.raises(ValueError, match=r"unknown type 'np.float32' \(in C it is 'float'\) in the declaration"):
        ElementwiseKernel("np.float32 *x", "x[i] = 1")
