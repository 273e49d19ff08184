"""`rtcg.fuse`: the results of separate operations, bit for bit, in one launch and without memory between."""

import gc
import json
import operator
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import pycuda.driver as cuda
import pycuda.gpuarray as gpuarray
import rtcg
from pycuda import cumath
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel
from pycuda.tools import DeviceMemoryPool
from rtcg import numpy as rnp, tracing
from rtcg._native import FusionError, GPUArray, ufunc
from tests.python.same_body import BFLOAT16, Drawn, base_shape, layouts, look, quickly

BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.lt, operator.ge, operator.ne]
WHOLE = [operator.floordiv, operator.mod, operator.and_, operator.xor, operator.lshift]
NAMED = ["maximum", "minimum", "fmax", "arctan2", "hypot", "copysign", "logaddexp", "power", "fmod"]
UNARY = ["negative", "absolute", "sqrt", "square", "exp", "log1p", "sin", "cos", "tanh", "expm1", "floor", "rint",
         "sign", "deg2rad", "reciprocal", "isnan", "logical_not", "conjugate", "cbrt", "exp2", "log"]  # fmt: skip
CASTS = [np.dtype(t) for t in ("?", "i4", "u1", "f2", "f4", "f8", "c8")]
DTYPES = [np.dtype(t) for t in ("?", "i1", "u8", "i4", "f2", "f4", "f4", "f8", "c8")] + [BFLOAT16]
SCALARS = [3, -2, 0, 2.5, 0.1, True, 1 - 0.3j, np.float32(1.7), np.float64(0.3), np.int16(7), np.uint8(3)]


@pytest.fixture(autouse=True)
def _context(context):
    """Every test here runs in the session's context."""


# Every program is a kernel of its own, compiled twice.
few = settings(quickly, max_examples=25)


def where(condition, x, y):
    return ufunc("where", [condition, x, y])


def rough(dtype, shape, seed):
    """Numbers whose products and sums are rounded."""
    rng = np.random.default_rng(seed)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        return rng.integers(0 if dtype.kind == "u" else -9, 10, shape).astype(dtype)
    if dtype.kind == "c":
        return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)
    return np.asarray(rng.normal(size=shape)).astype(dtype)


def bits(array):
    """The bytes of the elements, with one representation of NaN."""
    host = array.get().ravel()
    if host.dtype.kind == "c":
        host = host.view(host.real.dtype)
    if host.dtype.kind == "f" or host.dtype == BFLOAT16:
        host[host != host] = np.nan
    return host.tobytes()


def assert_same(fused, apart):
    assert type(fused) is type(apart)
    if isinstance(apart, tuple):
        assert len(fused) == len(apart)
        for one, other in zip(fused, apart, strict=True):
            assert_same(one, other)
        return
    assert isinstance(fused, GPUArray)
    assert (fused.dtype, fused.shape, fused.strides) == (apart.dtype, apart.shape, apart.strides)
    # NumPy finds no NaN of bfloat16 equal to itself; the bits below are.
    assert bits(fused) == bits(apart), f"{fused.get()} is not {apart.get()}"


@st.composite
def programs(draw):
    """Drawn arrays and a list of steps over them: each step names an operation and earlier values."""
    shape = tuple(draw(st.lists(st.integers(1, 5), max_size=3)))
    inputs = []
    for _ in range(draw(st.integers(1, 3))):
        own = tuple(draw(st.sampled_from([n, n, 1])) for n in shape)[draw(st.integers(0, len(shape))) :]
        layout = draw(layouts(len(own)))
        dtype = draw(st.sampled_from(DTYPES))
        inputs.append(Drawn(rough(dtype, base_shape(own, layout), draw(st.integers(0, 2**16))), layout))
    steps = []
    for _ in range(draw(st.integers(2, 8))):
        kind = draw(st.sampled_from(["binary", "binary", "whole", "scalar", "named", "unary", "where", "cast", "in"]))
        pool = {"binary": BINARY, "whole": WHOLE, "scalar": BINARY, "named": NAMED, "unary": UNARY, "cast": CASTS,
                "in": [operator.iadd, operator.imul, operator.isub]}.get(kind, [None])  # fmt: skip
        picks = draw(st.lists(st.integers(0, 50), min_size=3, max_size=3))
        steps.append((kind, draw(st.sampled_from(pool)), picks, draw(st.sampled_from(SCALARS))))
    return inputs, steps, draw(st.lists(st.integers(0, 50), min_size=1, max_size=3))


def step(kind, what, x, y, z, scalar):
    match kind:
        case "binary" | "whole":
            return what(x, y)
        case "scalar":
            return what(x, scalar)
        case "named":
            return ufunc(what, [x, y])
        case "unary":
            return ufunc(what, [x])
        case "where":
            return where(x, y, z)
        case "cast":
            return x.astype(what)
        case "in":
            return what(x, scalar)


def execute(arrays, steps, results):
    """The values that `results` picks; steps that are refused are left out, in the same way each time."""
    values, errors = list(arrays), []
    for kind, what, picks, scalar in steps:
        x, y, z = (values[pick % len(values)] for pick in picks)
        try:
            values.append(step(kind, what, x, y, z, scalar))
        except (TypeError, ValueError, OverflowError) as error:
            errors.append(str(error))
    return tuple(values[-1 - pick % len(values)] for pick in results), errors


@few
@given(programs())
def test_programs_give_the_same_bits(program):
    inputs, steps, results = program
    apart_inputs, fused_inputs = ([drawn.to_device() for drawn in inputs] for _ in range(2))
    apart, errors = execute(apart_inputs, steps, results)
    with rtcg.fuse():
        fused, fused_errors = execute(fused_inputs, steps, results)
    assert fused_errors == errors
    assert_same(fused, apart)
    assert_same(tuple(fused_inputs), tuple(apart_inputs))


@few
@given(programs(), st.sampled_from(["sum", "max", "argmin", "mean", "prod"]), st.sampled_from([None, 0, -1]))
def test_programs_that_end_in_a_reduction(program, name, axis):
    inputs, steps, results = program
    arrays = [drawn.to_device() for drawn in inputs]
    steps = [one for one in steps if one[0] != "in"]

    def body(*arrays):
        (last, *_), _ = execute(arrays, steps, results[:1])
        return getattr(last, name)(axis) if last.ndim else last

    assert_same(rtcg.fuse(body)(*arrays), body(*arrays))


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2"])
def test_products_and_sums_are_rounded_apart(dtype, launches):
    x, y, z = (gpuarray.to_gpu(rough(np.dtype(dtype), 4099, seed)) for seed in range(3))

    def body(x, y, z):
        return x * y + z, np.exp(x * y) * z - x, np.log1p(np.exp(x)) + np.sin(x) * np.cos(x)

    fused, names = launches(lambda: rtcg.fuse(body)(x, y, z))
    assert names == ["array_fused"]
    assert_same(fused, body(x, y, z))


def test_complex_products_of_shared_parts(launches):
    x, y = (gpuarray.to_gpu(rough(np.dtype("c8"), 1001, seed)) for seed in range(2))

    def body(x, y):
        return x * x, x * y - y * np.conjugate(x), np.square(x + y) * x, abs(x * y) + np.sqrt(x * y)

    assert_same(rtcg.fuse(body)(x, y), body(x, y))


@pytest.mark.parametrize("name", ["sin", "exp", "log", "sqrt", "tanh", "floor", "fabs"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_functions_of_cumath(name, dtype, launches):
    x = gpuarray.to_gpu(abs(rough(np.dtype(dtype), 501, 3)))

    def body(x):
        return getattr(cumath, name)(x * 0.7 + 0.1) * x

    fused, names = launches(lambda: rtcg.fuse(body)(x))
    assert names == ["array_fused"]
    assert_same(fused, body(x))


def test_one_launch_however_long(launches):
    x, y = (gpuarray.to_gpu(rough(np.dtype("f4"), (64, 33), seed)) for seed in range(2))

    @rtcg.fuse
    def chain(x, y):
        for k in range(20):
            x = where(x > y, x * 0.5 + k, np.sqrt(abs(y) + x * x))
        return x, x.astype("f8") * 3

    fused, names = launches(lambda: chain(x, y))
    assert names == ["array_fused"]
    _, names = launches(lambda: chain.__wrapped__(x, y))
    assert len(names) > 100
    assert_same(fused, chain.__wrapped__(x, y))


def test_a_sum_is_one_launch(launches):
    x, y = (gpuarray.to_gpu(rough(np.dtype("f4"), 900, seed)) for seed in range(2))
    fused, names = launches(lambda: rtcg.fuse(lambda x, y: ((x - y) * (x - y)).sum())(x, y))
    assert names == ["array_reduce"]
    assert_same(fused, ((x - y) * (x - y)).sum())


def test_nothing_is_allocated_between(launches, tmp_path):
    x = gpuarray.to_gpu(rough(np.dtype("f4"), 1 << 16, 0))
    chain = rtcg.fuse(lambda x: ((x * 2 + 1) * x - 3) * x)
    chain(x)
    rtcg._native.release_array_memory()
    cuda.Context.synchronize()
    path = tmp_path / "allocations.json"
    with tracing.trace(path):
        result = chain(x)
    events = json.loads(path.read_text())
    allocations = [e for e in events if e.get("name", "").startswith("cuMemAlloc")]
    assert len(allocations) == 1
    assert result.nbytes == x.nbytes


def test_blocks_delay_until_something_reads(launches):
    x = gpuarray.to_gpu(np.arange(6.0))

    def body():
        with rtcg.fuse():
            y = x * 2
            z = y + 1
            assert isinstance(z, GPUArray) and z.shape == (6,) and z.dtype == np.float64
            text = str(z)
            w = z * z
        return text, w

    (text, w), names = launches(body)
    assert names == ["array_fused", "array_fused"]
    assert text == str(np.arange(6.0) * 2 + 1)
    np.testing.assert_array_equal(w.get(), (np.arange(6.0) * 2 + 1) ** 2)


def test_kernels_of_the_user_see_the_values():
    from pycuda.compiler import SourceModule

    kernel = SourceModule("__global__ void add(float *a, const float *b) { a[threadIdx.x] += b[threadIdx.x]; }")
    a, b = (gpuarray.to_gpu(np.arange(8, dtype="f4")) for _ in range(2))
    with rtcg.fuse():
        a *= 2
        c = b + 1
        kernel.get_function("add")(a, c, block=(8, 1, 1))
        d = a + c
    np.testing.assert_array_equal(d.get(), np.arange(8) * 2 + 2 * (np.arange(8) + 1))


def test_streams_get_their_own_work():
    x = gpuarray.to_gpu(np.arange(8, dtype="f4"))
    stream = cuda.Stream()
    with rtcg.fuse():
        y = x + 1
        total = y.sum(stream=stream)
    stream.synchronize()
    assert total.get() == 36


def test_views_of_results_share_their_memory():
    x = gpuarray.to_gpu(np.arange(12, dtype="i4").reshape(3, 4))
    with rtcg.fuse():
        y = x + 1
        column = y[:, 1]
        y += 10
        turned = y.T + 1
        y[0] = column[0] + y[1]
    host = np.arange(12).reshape(3, 4) + 11
    np.testing.assert_array_equal(turned.get(), host.T + 1)
    host[0] = host[0, 1] + host[1]
    np.testing.assert_array_equal(y.get(), host)
    np.testing.assert_array_equal(column.get(), host[:, 1])


def test_out_and_results_in_place(launches):
    x, y = (gpuarray.to_gpu(rough(np.dtype("f4"), 100, seed)) for seed in range(2))
    out = gpuarray.empty(100, np.float64)

    @rtcg.fuse
    def body(x, y, out):
        x += y
        x *= 3
        np.multiply(x, y, out=out)
        out[...] = out + 1

    expected_x = (x.get() + y.get()) * np.float32(3)
    expected = (expected_x * y.get()).astype("f8") + 1
    _, names = launches(lambda: body(x, y, out))
    assert names == ["array_fused"]
    np.testing.assert_array_equal(x.get(), expected_x)
    np.testing.assert_array_equal(out.get(), expected)


def branch(x):
    y = x * 2
    if y[0] > 0:  # this line is named
        return y
    return x


@pytest.mark.parametrize("read", [bool, float, int, str, operator.methodcaller("get"), operator.methodcaller("item")])
def test_reading_in_a_fused_function_is_refused(read):
    x = gpuarray.to_gpu(np.ones(1))
    with pytest.raises(FusionError, match="needs elements"):
        rtcg.fuse(lambda x: read(x + 1))(x)
    # The block has ended.
    assert float(x + 1) == 2


def test_the_line_of_a_branch_is_named():
    x = gpuarray.to_gpu(np.ones(3))
    with pytest.raises(TypeError) as caught:
        rtcg.fuse(branch)(x)
    line = branch.__code__.co_firstlineno + 2
    assert f"test_fuse.py:{line}: `if y[0] > 0:" in str(caught.value)
    assert "branch()" in str(caught.value)


def test_exceptions_end_the_block():
    x = gpuarray.to_gpu(np.ones(3))
    with pytest.raises(ValueError, match="could not be broadcast"), rtcg.fuse():
        y = x + 1
        y + gpuarray.to_gpu(np.ones(2))
    np.testing.assert_array_equal(y.get(), [2, 2, 2])
    with pytest.raises(ZeroDivisionError), rtcg.fuse(), rtcg.fuse():
        z = x + 2
        1 / 0  # noqa: B018
    np.testing.assert_array_equal((z + 1).get(), [4, 4, 4])
    with pytest.raises(TypeError, match="takes a function, got int"):
        rtcg.fuse(3)


def test_functions_keep_their_name_and_nest():
    inner = rtcg.fuse(lambda x: x + 1)

    @rtcg.fuse()
    def outer(x):
        """Doubles."""
        return inner(x) * 2

    assert (outer.__name__, outer.__doc__) == ("outer", "Doubles.")
    np.testing.assert_array_equal(outer(gpuarray.to_gpu(np.arange(3))).get(), [2, 4, 6])


def test_other_values_do_not_compile_again(launches):
    x = gpuarray.to_gpu(rough(np.dtype("f4"), 77, 0))
    scale = rtcg.fuse(lambda x, a: (x * a + 1) * a)
    scale(x, 0.5)
    for factor in (0.25, 3.0):
        fused, _ = launches(lambda factor=factor: scale(x, factor))
        assert_same(fused, (x * factor + 1) * factor)


def test_empty_and_zero_dimensional():
    for shape in ((0, 3), ()):
        x = gpuarray.to_gpu(np.ones(shape, "f4"))
        assert_same(rtcg.fuse(lambda x: x * 2 + 1)(x), x * 2 + 1)


def test_look_is_the_layout_of_other_tests():
    """`to_device` of drawn arrays makes views: the programs above read strided memory."""
    drawn = Drawn(rough(np.dtype("f4"), (6, 4), 0), ((1, 0), (1, -2)))
    assert drawn.to_device().strides == look(drawn.base, drawn.layout).strides


class Noted:
    """An allocator that notes the sizes it was asked for."""

    def __init__(self, allocate=cuda.mem_alloc):
        self.allocate, self.sizes = allocate, []

    def __call__(self, nbytes):
        self.sizes.append(nbytes)
        return self.allocate(nbytes)


CHAINS = {
    "operators": lambda a, b: (a + b) * 2 - a,
    "one operator": lambda a, b: a + b,
    "of NumPy": lambda a, b: np.exp(np.where(a > b, a, b)),
    "clip": lambda a, b: rnp.clip(a * b, 0, 1),
    "astype": lambda a, b: (a + b).astype(np.float64) + 1,
    "another shape": lambda a, b: (a[0] + b[0]) * 2,
    "a reduction": lambda a, b: (a * b).sum(0),
    "after a reduction": lambda a, b: (a - b) * gpuarray.sum(a + b, axis=0),
}


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("source", ["driver", "pool"])
def test_results_come_from_the_operands_allocator(name, source):
    allocator = Noted(cuda.mem_alloc if source == "driver" else DeviceMemoryPool().allocate)
    host = rough(np.dtype("f4"), (5, 7), 3)
    chain, plain = CHAINS[name], [gpuarray.to_gpu(host), gpuarray.to_gpu(host[::-1])]
    a, b = (gpuarray.to_gpu(each, allocator) for each in (host, host[::-1]))
    del allocator.sizes[:]
    result = rtcg.fuse(chain)(a, b)
    assert result.allocator is allocator
    # Nothing but the result has memory, and what the second half of a chain with a reduction needs.
    assert allocator.sizes == ([28] if name == "after a reduction" else []) + [result.nbytes]
    assert isinstance(result.gpudata, type(allocator(4)))
    assert_same(result, chain(*plain))


def test_the_allocator_in_force_counts_and_no_other():
    a, plain = (gpuarray.to_gpu(np.arange(6, dtype="f4"), allocator) for allocator in (Noted(), None))
    given = Noted()
    del a.allocator.sizes[:]
    with rtcg.fuse():
        own = a + 1
        from_pool = plain + 1
        named = gpuarray.logical_not(a, allocator=given)
        # The sum brings its own allocator, which is none of what is computed before it.
        total = gpuarray.sum(rnp.sort(plain), allocator=given)
    assert a.allocator.sizes == [24]
    assert given.sizes == [6, total.nbytes]
    assert from_pool.allocator is None and type(from_pool.gpudata) is type(plain.gpudata)
    for result, expected in ((own, range(1, 7)), (from_pool, range(1, 7)), (named, [1, 0, 0, 0, 0, 0]), (total, 15)):
        np.testing.assert_array_equal(result.get(), expected)


def test_what_an_allocator_raises_reaches_the_end_of_the_block():
    def allocate(nbytes):
        raise KeyError(f"no {nbytes} bytes")

    a = gpuarray.to_gpu(np.ones(3, "f4"))
    a = gpuarray.GPUArray(3, np.float32, allocate, gpudata=a.gpudata)
    with pytest.raises(KeyError, match="no 12 bytes"), rtcg.fuse():
        b = a + 1
    with pytest.raises(cuda.RuntimeError, match="no 12 bytes"):
        b.get()


def test_threads_wait_for_results_whose_allocator_lets_them_run():
    entered = threading.Event()
    results = []

    def allocate(nbytes):
        entered.set()
        time.sleep(0.2)  # The other thread asks for the result meanwhile.
        return cuda.mem_alloc(nbytes)

    def ask(context, array):
        entered.wait()
        context.push()
        try:
            results.append(array.get())
        finally:
            context.pop()

    a = gpuarray.GPUArray(4, np.float32, allocate, gpudata=gpuarray.to_gpu(np.ones(4, "f4")).gpudata)
    with rtcg.fuse():
        b = a + 1
        thread = threading.Thread(target=ask, args=(cuda.Context.get_current(), b))
        thread.start()
    thread.join(30)
    assert not thread.is_alive()
    np.testing.assert_array_equal(results, [[2, 2, 2, 2]])


@pytest.mark.parametrize("make", ["elementwise", "module"])
def test_a_kernel_is_called_again_while_its_argument_is_computed(context, make):
    """An allocator that calls the kernel with other arguments, in the midst of a call like the last one."""
    if make == "elementwise":
        call = ElementwiseKernel("float *x, float *z, float q", "z[i] = x[i] + q", "again")
    else:
        function = SourceModule("""__global__ void again(const float *x, float *z, float q)
        { int i = blockIdx.x * blockDim.x + threadIdx.x; z[i] = x[i] + q; }""").get_function("again")

        def call(x, z, q):
            function(x, z, np.float32(q), block=(64, 1, 1), grid=(x.size // 64, 1))

    depth, asked = [0], []

    def allocate(nbytes):
        if depth[0] == 1:
            depth[0] = 2
            call(others[0], others[1], 1)
            gc.collect()
            asked.append(nbytes)
        return cuda.mem_alloc(nbytes)

    x, z = gpuarray.to_gpu(np.ones(1024, np.float32), allocator=allocate), gpuarray.zeros(1024, np.float32)
    others = gpuarray.zeros((2, 64), np.float32), gpuarray.zeros((2, 64), np.float32)
    begun, over, results = threading.Event(), threading.Event(), []

    def deferred():
        context.push()
        with rtcg.fuse():
            results.append(x * 3)
            begun.set()
            over.wait()
        context.pop()

    thread = threading.Thread(target=deferred)
    thread.start()
    begun.wait()
    call(x, z, 1)
    call(x, z, 2)
    depth[0] = 1
    call(results[0], z, 5)
    over.set()
    thread.join()
    assert asked and (z.get() == 8).all() and (others[1].get() == 1).all()
