"""`skcuda.misc`, `skcuda.integrate` and `skcuda.special`, compared with NumPy and SciPy; and names of what is gone."""

import ctypes
import functools
import importlib
import inspect
import operator
import pathlib
import re
import sys

import numpy as np
import pytest

import rtcg.driver as drv
import rtcg.numpy as rnp
from rtcg.compiler import SourceModule
from rtcg.tools import DeviceMemoryPool
from skcuda import cudart, integrate, misc, special

pytestmark = pytest.mark.usefixtures("context")

# Before NumPy 2 it had another name.
trapezoid = getattr(np, "trapezoid", None) or np.trapz


def numbers(shape, dtype):
    values = np.random.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * np.random.standard_normal(shape)
    return values.astype(dtype)


def assert_near(actual, expected):
    actual = actual.get() if hasattr(actual, "gpudata") else actual
    assert np.shape(actual) == np.shape(expected)
    np.testing.assert_allclose(
        actual, expected, rtol=2e-5 if np.asarray(actual).itemsize in (4, 8) else 1e-10, atol=1e-6
    )


# -- misc


def test_devices():
    dev = misc.get_current_device()
    assert dev == drv.Context.get_device() and misc.init_device(0) == drv.Device(0)
    major, minor = dev.compute_capability()
    assert misc.get_compute_capability(dev) == float(f"{major}.{minor}")
    threads, block, grid = misc.get_dev_attrs(dev)
    assert threads == dev.max_threads_per_block and block[2] == dev.max_block_dim_z and grid[0] == dev.max_grid_dim_x


def test_contexts_are_current_until_they_are_done():
    before = drv.Context.get_current()
    context = misc.init_context(misc.get_current_device())
    assert drv.Context.get_current() == context
    misc.done_context(context)
    assert drv.Context.get_current() == before and not misc._pops


def test_init_and_shutdown():
    misc.shutdown()
    misc.init()
    handle = misc._global_cublas_handle
    misc.init(DeviceMemoryPool().allocate)
    assert handle and misc._global_cublas_handle == handle and misc._global_cublas_allocator is drv.mem_alloc
    misc.shutdown()
    assert misc._global_cublas_handle is None
    pool = DeviceMemoryPool()
    misc.init(pool.allocate)
    try:
        x_gpu = rnp.to_gpu(numbers(1000, "float32"))
        result = misc.cumsum(x_gpu)
        assert pool.active_bytes >= 4000
        del result
    finally:
        misc.shutdown()
    with pytest.raises(TypeError, match="allocator is 3; expected a callable"):
        misc.init(3)


def test_sizes_of_grids():
    dev = misc.get_current_device()
    threads, _, (x, y, z) = misc.get_dev_attrs(dev)
    select = misc.select_block_grid_sizes
    assert select(dev, (30, 30), 256) == ((256, 1, 1), (4, 1, 1))
    assert select(dev, 1025) == ((threads, 1, 1), (-(-1025 // threads), 1, 1))
    assert select(dev, (x, 3), 1)[1] == (x, 3, 1)
    assert select(dev, (x, y, 2), 1)[1] == (x, y, 2)
    with pytest.raises(ValueError, match=f"threads_per_block is {threads + 1}; expected 1 to {threads}"):
        select(dev, 5, threads + 1)
    with pytest.raises(ValueError, match="data_shape is .*; expected at most"):
        select(dev, (x, y, z, 2), 1)


def test_filled_arrays():
    for function, value in ((misc.zeros, 0), (misc.ones, 1), (misc.inf, np.inf)):
        array = function((2, 3), np.complex64, order="F")
        assert array.flags.f_contiguous and array.dtype == np.complex64 and (array.get() == value).all()
    array = rnp.to_gpu(np.asfortranarray(numbers((2, 3), "float64")))
    assert misc.zeros_like(array).strides == misc.ones_like(array).strides == array.strides
    assert not misc.zeros_like(array).get().any() and misc.ones_like(array).get().all()
    with pytest.raises(TypeError, match="dtype is int32; expected one that has infinities"):
        misc.inf(3, np.int32)


@pytest.mark.parametrize("dtype", ["int32", "complex128"])
def test_vectors(dtype):
    x = numbers(50, "complex128") * 10
    x = (x if dtype.startswith("c") else x.real).astype(dtype)
    x_gpu = rnp.to_gpu(x)
    assert_near(misc.maxabs(x_gpu), np.abs(x).max())
    assert misc.maxabs(x_gpu).dtype == (np.float64 if dtype == "complex128" else np.float32)
    sums, differences = misc.cumsum(x_gpu), misc.diff(x_gpu)
    assert sums.dtype == differences.dtype == dtype
    assert_near(sums, np.cumsum(x))
    assert_near(differences, np.diff(x))
    assert_near(x_gpu, x)


def test_elements_by_index():
    src = numbers(5, "float32")
    src_gpu = rnp.to_gpu(src)
    for ind in (np.array([0, 2, 4]), rnp.to_gpu(np.array([0, 2, 4], np.uint32))):
        assert_near(misc.get_by_index(src_gpu, ind), src[[0, 2, 4]])
        dest_gpu = rnp.zeros(5, np.float32)
        misc.set_by_index(dest_gpu, ind, rnp.to_gpu(np.array([1, 2, 3], np.float32)))
        assert_near(dest_gpu, np.array([1, 0, 2, 0, 3], np.float32))
        dest_gpu = rnp.zeros(3, np.float32)
        misc.set_by_index(dest_gpu, ind, src_gpu, "src")
        assert_near(dest_gpu, src[[0, 2, 4]])
    nothing = np.array([], np.int64)
    assert misc.get_by_index(src_gpu, nothing).shape == (0,)
    misc.set_by_index(src_gpu, nothing, src_gpu)
    # Indices are those of memory.
    matrix = np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3))
    matrix_gpu = rnp.to_gpu(matrix)
    assert_near(misc.get_by_index(matrix_gpu, np.array([1, 2])), np.array([3, 1], np.float32))
    misc.set_by_index(matrix_gpu, np.array([1]), rnp.to_gpu(np.array([9], np.float32)))
    assert matrix_gpu.get()[1, 0] == 9
    for arguments, error, said in [
        ((src_gpu, np.zeros((1, 1), int), src_gpu), ValueError, "ind has shape (1, 1); expected one axis"),
        ((src_gpu, np.zeros(1), src_gpu), TypeError, "ind has dtype float64; expected integers"),
        ((src_gpu, np.arange(2), src_gpu), ValueError, "src_gpu has 5 elements; expected 2, as many as ind"),
        ((src_gpu, np.arange(2), src_gpu, "src"), ValueError, "dest_gpu has 5 elements; expected 2"),
        ((src_gpu, np.arange(2), src_gpu, "both"), ValueError, "ind_which is 'both'; expected 'dest' or 'src'"),
        ((src_gpu, np.arange(5), rnp.zeros(5)), TypeError, "src_gpu has dtype float64; expected float32"),
    ]:
        with pytest.raises(error, match=re.escape(said)):
            misc.set_by_index(*arguments)


def test_memory_that_changes_its_shape():
    x_gpu = rnp.to_gpu(numbers(5, "float32"))
    same, other = numbers(5, "float32"), np.asfortranarray(numbers((10, 2), "complex128"))
    misc.set_realloc(x_gpu, same)
    assert_near(x_gpu, same)
    misc.set_realloc(x_gpu, other)
    assert x_gpu.strides == other.strides and x_gpu.dtype == other.dtype
    assert_near(x_gpu, other)
    assert_near(x_gpu + 1, other + 1)


@pytest.mark.parametrize("dtype", ["int32", "complex64"])
def test_matrices_and_vectors(dtype):
    def draw(*shape):
        return np.random.randint(1, 10, shape).astype(dtype) if dtype == "int32" else numbers(shape, dtype)

    x, row, column = draw(3, 5), draw(5), draw(3, 1)
    quotient = operator.floordiv if dtype == "int32" else operator.truediv
    for order in "CF":
        x_gpu = rnp.asarray(np.asarray(x, order=order))
        for function, op in [(misc.add_matvec, np.add), (misc.mult_matvec, np.multiply), (misc.div_matvec, quotient)]:
            out = rnp.empty((3, 5), dtype)
            assert function(x_gpu, rnp.to_gpu(row), out=out) is out
            assert_near(out, op(x, row))
            assert_near(function(x_gpu, rnp.to_gpu(row[None])), op(x, row))
            assert_near(function(x_gpu, rnp.to_gpu(column)), op(x, column))
            assert_near(function(x_gpu, rnp.to_gpu(column[:, 0]), axis=0), op(x, column))
            assert_near(function(x_gpu, rnp.to_gpu(row), axis=-1, stream=drv.Stream()), op(x, row))
            with pytest.raises(ValueError, match=r"could not be broadcast together: .* \(3, 5\) and \(3,\)"):
                function(x_gpu, rnp.to_gpu(column[:, 0]))
    if dtype == "int32":
        negative = -x
        remainder = misc.binaryop_matvec("%", rnp.to_gpu(negative), rnp.to_gpu(row))
        assert_near(remainder, np.fmod(negative, row))
        assert_near(misc.div_matvec(rnp.to_gpu(negative), rnp.to_gpu(row)), -(x // row))


def test_wrong_operands_of_matrices():
    x_gpu, row_gpu = rnp.zeros((3, 5), np.float32), rnp.zeros(5, np.float32)
    for arguments, said in [
        (("^", x_gpu, row_gpu), "binary_op is '^'; expected one of + - * / %"),
        (("+", x_gpu, row_gpu, 2), "axis is 2; expected -2 to 1"),
        (("+", x_gpu, row_gpu, 0), "x_gpu and a_gpu have shapes (3, 5) and (5,)"),
        (("+", x_gpu, row_gpu, 1, rnp.zeros((3, 5))), "out has shape (3, 5) and dtype float64; expected"),
        (("+", row_gpu, row_gpu), "x_gpu has shape (5,); expected two axes"),
    ]:
        with pytest.raises(ValueError, match=re.escape(said)):
            misc.binaryop_matvec(*arguments)
    with pytest.raises(TypeError, match="x_gpu is .*; expected a GPUArray"):
        misc.add_matvec(np.zeros((3, 5)), row_gpu)


def test_operators_with_broadcasting():
    x, y, row, column, number = (numbers(shape, "float32") for shape in ((3, 2), (3, 2), (2,), (3, 1), (1, 1)))
    for function, op in [
        (misc.add, operator.add),
        (misc.subtract, operator.sub),
        (misc.multiply, operator.mul),
        (misc.divide, operator.truediv),
    ]:
        for a, b in [(x, y), (x, row), (x, column), (row, x), (x, number), (number, row), (row, row[None])]:
            expected = op(a, b) if (a is not number and b is not number) else op(a.squeeze(), b.squeeze())
            assert_near(function(rnp.to_gpu(a), rnp.to_gpu(b)), expected)
    integers = [np.random.randint(1, 9, 6).astype(np.int32) for _ in range(2)]
    quotient = misc.divide(*map(rnp.to_gpu, integers))
    assert quotient.dtype == np.int32 and (quotient.get() == integers[0] // integers[1]).all()
    with pytest.raises(ValueError, match="differ in their memory order"):
        misc.add(rnp.to_gpu(x), rnp.to_gpu(np.asfortranarray(y)))
    with pytest.raises(TypeError, match=r"have shapes \(3, 2\) and \(3,\); expected shapes to broadcast"):
        misc.add(rnp.to_gpu(x), rnp.to_gpu(column[:, 0]))
    with pytest.raises(TypeError, match="expected shapes to broadcast"):
        misc.add(rnp.to_gpu(row), rnp.to_gpu(column))


@pytest.mark.parametrize("order", "CF")
def test_statistics(order):
    for dtype in ("complex128" if order == "C" else "float32",):
        x = numbers((3, 5), dtype)
        x_gpu = rnp.asarray(np.asarray(x, order=order))
        for name in ("sum", "mean", "var", "std"):
            function, expected = getattr(misc, name), getattr(np, name)
            assert_near(function(x_gpu), expected(x))
            assert_near(function(x_gpu, axis=-2), expected(x, axis=0))
            assert_near(function(x_gpu, axis=1, keepdims=True), expected(x, axis=1, keepdims=True))
        assert_near(misc.var(x_gpu, ddof=1, axis=0), x.var(axis=0, ddof=1))
        assert_near(misc.std(x_gpu, 1, stream=drv.Stream()), x.std(ddof=1))
    out = rnp.empty(5, np.float32)
    assert misc.mean(rnp.to_gpu(x.real.astype("f")), axis=0, out=out) is out


@pytest.mark.parametrize("order", "CF")
def test_extrema(order):
    x = numbers((3, 5), "float32")
    x_gpu = rnp.asarray(np.asarray(x, order=order))
    for axis in (0, 1, -1):
        for keepdims in (False, True)[: 2 if order == "C" else 1]:
            assert_near(misc.max(x_gpu, axis, keepdims), x.max(axis, keepdims=keepdims))
            assert_near(misc.min(x_gpu, axis=axis, keepdims=keepdims), x.min(axis, keepdims=keepdims))
            index = misc.argmax(x_gpu, axis, keepdims)
            assert index.dtype == np.uint32
            assert_near(index, x.argmax(axis, keepdims=keepdims))
            assert_near(misc.argmin(x_gpu, axis, keepdims), x.argmin(axis, keepdims=keepdims))
    # As upstream, whose results of whole arrays have all axes.
    assert_near(misc.max(x_gpu), x.max(keepdims=True))
    assert_near(misc.min(x_gpu[0]), x[0].min(keepdims=True))
    with pytest.raises(NotImplementedError, match="axis is None; expected 0 or 1"):
        misc.argmax(x_gpu, None)
    with pytest.raises(ValueError, match="a_gpu has dtype complex64; expected real numbers"):
        misc.max(rnp.zeros(3, np.complex64))
    with pytest.raises(ValueError, match="axis is 5; expected -2 to 1"):
        misc.sum(x_gpu, axis=5)


def test_types():
    assert misc.isdoubletype(np.complex128) and not misc.isdoubletype(np.float32)
    assert misc.iscomplextype(np.dtype("complex64")) and not misc.iscomplextype(np.float64)
    assert misc.num_nbytes[np.dtype(np.float32)] == 4 and np.int64 in misc.num_types and misc.iceil(1.2) == 2


# -- integrate


@pytest.mark.parametrize("dtype", ["complex128"])
def test_trapezoidal_rule(dtype):
    x, y = numbers(30, dtype), numbers((9, 11), dtype)
    assert_near(integrate.trapz(rnp.to_gpu(x), 0.5), trapezoid(x, dx=0.5))
    assert isinstance(integrate.trapz(rnp.to_gpu(x)), np.dtype(dtype).type)
    expected = trapezoid(trapezoid(y, dx=0.5, axis=1), dx=2)
    assert_near(integrate.trapz2d(rnp.to_gpu(y), 0.5, 2), expected)
    assert_near(integrate.trapz2d(rnp.asarray(np.asfortranarray(y)), dx=0.5, dy=2.0), expected)
    assert (integrate.gen_trapz_mult(4, dtype).get() == [0.5, 1, 1, 0.5]).all()
    # One sample has no width, along either axis.
    assert integrate.trapz(rnp.to_gpu(x[:1])) == trapezoid(x[:1]) == 0
    assert integrate.trapz2d(rnp.to_gpu(y[:1])) == 0 and integrate.trapz2d(rnp.to_gpu(y[:, :1].copy())) == 0
    assert (integrate.gen_trapz2d_mult((2, 3), dtype).get() == [[0.25, 0.5, 0.25], [0.25, 0.5, 0.25]]).all()


def test_simpsons_rule():
    x = np.arange(10, dtype=np.float64)
    assert_near(integrate.simps(rnp.to_gpu(x)), 40.5)
    # Of cubes, 0 to 9: Simpson's rule is exact, the trapezoidal rule is not.
    cubes_gpu = rnp.to_gpu(x**3)
    first = 8**4 / 4 + (8**3 + 9**3) / 2
    last = 0.5 + (9**4 - 1) / 4
    assert_near(integrate.simps(cubes_gpu, even="first"), first)
    assert_near(integrate.simps(cubes_gpu, even="last"), last)
    assert_near(integrate.simps(cubes_gpu, 2.0), first + last)
    assert_near(integrate.simps(cubes_gpu[:9], dx=0.5), 8**4 / 8)
    assert_near(integrate.gen_simps_mult(5, np.complex64) * 3, np.array([1, 4, 2, 4, 1], np.complex64))


def test_wrong_samples():
    vector, matrix = rnp.zeros(4, np.float32), rnp.zeros((4, 4), np.float32)
    for call, said in [
        (lambda: integrate.trapz(matrix), "x_gpu has shape (4, 4); expected 1 axis"),
        (lambda: integrate.trapz2d(vector), "x_gpu has shape (4,); expected 2 axes"),
        (lambda: integrate.trapz(vector, 1j), "dx is 1j; expected a real number"),
        (lambda: integrate.trapz2d(matrix, 1.0, 1j), "dy is 1j; expected a real number"),
        (lambda: integrate.trapz(rnp.zeros(3, int)), "x_gpu has dtype int64; expected float32, float64, complex64 or"),
        (lambda: integrate.simps(vector, even="odd"), "even is 'odd'; expected 'avg', 'first' or 'last'"),
        (lambda: integrate.gen_simps_mult(2, np.float32), "N is 2; expected an integer of at least 3"),
        (lambda: integrate.gen_trapz_mult(2, np.int32), "dtype is int32; expected"),
        (lambda: integrate.gen_trapz2d_mult(3, np.float32), "mat_shape is 3; expected two lengths"),
    ]:
        with pytest.raises(ValueError, match=re.escape(said)):
            call()


# -- special


def test_sine_and_cosine_integrals():
    scipy_special = pytest.importorskip("scipy.special")
    x = np.concatenate([np.linspace(-60, 60, 801), np.geomspace(1e-10, 1e8, 400), [0, np.inf, -np.inf, np.nan]])
    for dtype, bound in (("float32", 1e-6), ("float64", 1e-12)):
        given = x.astype(dtype)
        si_gpu, ci_gpu = special.sici(rnp.to_gpu(given).reshape(5, -1))
        si, ci = scipy_special.sici(given.astype("float64").reshape(5, -1))
        assert si_gpu.dtype == ci_gpu.dtype == dtype
        np.testing.assert_allclose(si_gpu.get(), si, rtol=bound)
        np.testing.assert_allclose(ci_gpu.get(), ci, rtol=bound, atol=bound)


@pytest.mark.parametrize("name", ["exp1", "expi"])
def test_exponential_integrals(name):
    scipy_special = pytest.importorskip("scipy.special")
    size, angle = 10 ** np.random.uniform(-3, 2.2, 4000), np.random.uniform(-np.pi, np.pi, 4000)
    line = np.geomspace(1e-3, 80, 200)
    z = np.concatenate([size * np.exp(1j * angle), line, -line, 1j * line, [complex(-x, -0.0) for x in line]])
    for dtype, bound in (("complex64", 1e-6), ("complex128", 1e-11)):
        given = z[np.abs(z) < 80].astype(dtype)
        result = getattr(special, name)(rnp.to_gpu(given))
        assert result.dtype == dtype
        expected = getattr(scipy_special, name)(given.astype("complex128"))
        assert (np.abs(result.get() - expected) <= bound * np.abs(expected)).all()
    # Large numbers near the cut, by the asymptotic series.
    beyond = np.array([-100 + 3j, -200 - 0.0j, -60 + 20j, -50 - 1e-3j])
    expected = getattr(scipy_special, name)(beyond)
    np.testing.assert_allclose(getattr(special, name)(rnp.to_gpu(beyond)).get(), expected, rtol=1e-12)


def test_special_values_and_dtypes():
    z = special.exp1(rnp.to_gpu(np.array([0, np.inf, complex(np.nan, 1)]))).get()
    assert z[0].real == np.inf and z[1] == 0 and np.isnan(z[2])
    with pytest.raises(ValueError, match="x_gpu has dtype complex64; expected float32 or float64"):
        special.sici(rnp.zeros(2, np.complex64))
    with pytest.raises(ValueError, match="z_gpu has dtype float32; expected complex64 or complex128"):
        special.exp1(rnp.zeros(2, np.float32))


# -- upstream's signatures, and programs such as its demos


def shown_default(value):
    return getattr(value, "__name__", None) or repr(value)


def our_signature(name):
    module, _, path = name.removeprefix("skcuda.").partition(".")
    found = functools.reduce(getattr, path.split("."), importlib.import_module(f"skcuda.{module}"))
    parameters = [p for p in inspect.signature(found).parameters.values() if p.name != "self"]
    empty = inspect.Parameter.empty
    return ", ".join(p.name if p.default is empty else f"{p.name}={shown_default(p.default)}" for p in parameters)


def test_signatures_are_upstreams():
    lines = (pathlib.Path(__file__).parent / "skcuda_signatures.txt").read_text().splitlines()[1:]
    assert len(lines) > 100
    for line in lines:
        name, _, parameters = line.removesuffix(")").partition("(")
        assert our_signature(name) == parameters, name


def test_threads_are_numbered_as_the_function_of_sizes_says():
    """As upstream's demos of indices: each thread finds its element of a matrix."""
    module = SourceModule("""
        __global__ void fill(unsigned int *a, unsigned int columns, unsigned int size)
        {
            unsigned int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
            unsigned int i = block * blockDim.x + threadIdx.x;
            if (i < size) a[i] = 100 * (i / columns) + i % columns;
        }
    """)
    a_gpu = misc.zeros((30, 41), np.uint32)
    block, grid = misc.select_block_grid_sizes(misc.get_current_device(), a_gpu.shape, 128)
    module.get_function("fill")(a_gpu, np.uint32(41), np.uint32(a_gpu.size), block=block, grid=grid)
    assert (a_gpu.get() == 100 * np.arange(30)[:, None] + np.arange(41)).all()


# -- other modules


@pytest.mark.filterwarnings("ignore:scikits.cuda is deprecated")
@pytest.mark.parametrize("name", ["cula", "pcula", "magma", "cublasxt", "cusparse"])
def test_libraries_that_are_gone(name):
    for package in ("skcuda", "scikits.cuda"):
        with pytest.raises(ImportError, match=f"skcuda.{name}: .*; use ") as error:
            importlib.import_module(f"{package}.{name}")
        assert error.value.name == f"skcuda.{name}"


def test_the_former_name():
    sys.modules.pop("scikits.cuda", None)
    with pytest.warns(DeprecationWarning, match="scikits.cuda is deprecated; import skcuda instead"):
        package = importlib.import_module("scikits.cuda")
    for name in ("fft", "linalg", "misc", "integrate", "special", "cublas", "cufft", "cudart", "cuda", "rlinalg"):
        assert importlib.import_module(f"scikits.cuda.{name}") is importlib.import_module(f"skcuda.{name}")
    assert package.fft is importlib.import_module("skcuda.fft")


def test_memory_of_the_runtime():
    there, back = np.arange(10.0), np.zeros(10)
    pointer = cudart.cudaMalloc(80)
    cudart.cudaMemcpy_htod(pointer, there.ctypes.data, 80)
    cudart.cudaMemcpy_dtoh(back.ctypes.data_as(ctypes.c_void_p), pointer, 80)
    assert (back == there).all()
    cudart.cudaFree(pointer)
    with pytest.raises(cudart.cudaErrorInvalidValue, match="expected memory of cudaMalloc that is not freed"):
        cudart.cudaFree(pointer)
    typed = cudart.cudaMalloc(8, ctypes.c_float)
    assert isinstance(typed, ctypes.POINTER(ctypes.c_float))
    cudart.cudaFree(typed)
    free, total = cudart.cudaMemGetInfo()
    assert 0 < free <= total and cudart.cudaDriverGetVersion() >= 12000 and cudart.cudaRuntimeGetVersion() >= 12000
    current = cudart.cudaGetDevice()
    cudart.cudaSetDevice(current)
    with pytest.raises(cudart.cudaErrorInvalidValue, match=f"expected that one, or a context of device {current + 1}"):
        cudart.cudaSetDevice(current + 1)
    array = rnp.zeros(3)
    assert cudart.gpuarray_ptr(array).value == int(array.gpudata)
