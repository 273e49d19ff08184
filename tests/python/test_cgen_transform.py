"""Kernels with and without a transformation give the same results."""

import itertools

import numpy as np
import pytest

from rtcg import cgen as c
from rtcg.cgen import cuda
from rtcg.cgen.mapper import IdentityMapper
from rtcg.cgen.transform import double_buffer, split, stage, unroll, vectorise
from tests.python.subprocesses import has_real_device, run_python

# Two warps, so that a barrier too few is a race.
THREADS = 64

pytestmark = pytest.mark.usefixtures("context")


def run(body, parameters, arguments, block=(32, 1, 1), grid=(1, 1), **defines):
    """Runs a kernel of this body; arrays that are written come back."""
    from rtcg.compiler import SourceModule

    declaration = c.FunctionDeclaration(c.Value("void", "kernel"), parameters)
    module = c.Module([c.FunctionBody(cuda.CudaGlobal(declaration), c.Block(body))])
    options = [f"-D{name}={value}" for name, value in defines.items()]
    SourceModule(module, options=options).get_function("kernel")(*arguments, block=block, grid=grid)


def configurations(result):
    names = list(result.parameters)
    for values in itertools.product(*result.parameters.values()):
        yield dict(zip(names, values, strict=True))


def pointer(dtype, name):
    return c.Pointer(c.POD(dtype, name))


def sums_of(loop, n, start=0, **defines):
    """What every thread's loop makes of its numbers: a sum that depends on their order."""
    from rtcg import driver

    out = np.zeros(32, np.uint32)
    body = [
        c.Initializer(c.POD("u4", "sum"), "threadIdx.x"),
        loop,
        c.Assign("out[threadIdx.x]", "sum"),
    ]
    parameters = [pointer("u4", "out"), c.POD("i4", "n"), c.POD("i4", "start")]
    run(body, parameters, [driver.Out(out), np.int32(n), np.int32(start)], **defines)
    return out


def counting(condition="i < n", update="++i", typename="int"):
    return c.For(f"{typename} i = start", condition, update, c.Statement("sum = sum * 31 + i"))


@pytest.mark.parametrize("remainder", ["guard", "slab"])
@pytest.mark.parametrize(
    "head", [{}, {"condition": "i <= n - 1"}, {"update": "i += 3"}, {"condition": "i <= n", "update": "i += 2"}]
)
def test_split(head, remainder):
    loop = counting(**head)
    fixed = split(loop, 4, remainder, unroll=True)
    named = split(loop, "PART", remainder)
    assert named.parameters == {"PART": [1, 2, 4, 8, 16]} and fixed.parameters == {}
    for n, start in [(0, 0), (1, 0), (3, 0), (4, 0), (17, 0), (17, 2), (2, 5)]:
        expected = sums_of(loop, n, start)
        assert (sums_of(fixed, n, start) == expected).all(), (n, start)
        assert (sums_of(named, n, start, PART=8) == expected).all(), (n, start)


def test_split_of_unsigned_loops_that_are_empty():
    loop = counting(condition="i < (unsigned)n", typename="unsigned int")
    expected = sums_of(loop, 3, 5)
    assert (expected == np.arange(32)).all()
    for remainder in ("guard", "slab"):
        assert (sums_of(split(loop, 4, remainder), 3, 5) == expected).all()


def test_split_without_a_remainder_and_by_every_candidate():
    loop = counting()
    result = split(loop, ("PART", [1, 2, 4]), None)
    assert "if" not in str(result)
    for configuration in configurations(result):
        assert (sums_of(result, 16, **configuration) == sums_of(loop, 16)).all()


def test_split_keeps_the_body_and_takes_typed_nodes():
    i, n = c.Var("i", "i4"), c.Var("n", "i4")
    body = c.Block([c.Assign("sum", c.Var("sum", "u4") * 31 + i)])
    loop = c.For(c.InlineInitializer(c.POD("i4", "i"), "start"), i < n, i.increment(), body)
    result = split(loop, 4)
    outer = result.contents[0]
    assert outer.body.body.then_.contents[0] is body
    expected = sums_of(loop, 10)
    assert (sums_of(result, 10) == expected).all()
    # Nodes of the result are altered like any others.
    body.append(c.Statement("sum += 1"))
    assert (sums_of(result, 10) == sums_of(loop, 10)).all()
    assert (sums_of(result, 10) != expected).any()


def test_the_same_tree_has_the_same_text_and_is_compiled_once():
    assert str(split(counting(), 4)) == str(split(counting(), 4))
    staged = [stage(c.Var("a", "f4"), [8], [0], name=name) for name in (None, None, "other")]
    assert str(staged[0]) == str(staged[1]) and "float other[8]" in str(staged[2])
    twice = split(split(counting(), 4).contents[0].body, 2)
    assert "i_outer_1 += 2" in str(twice)


def test_mappers_keep_parameters():
    class Copy(IdentityMapper):
        def map_expression(self, node):
            return node

    made = split(counting(), "PART")
    copied = Copy()(c.Block([made]))
    assert str(copied.contents[0]) == str(made)
    assert copied.contents[0].parameters == made.parameters


def test_unroll():
    loop = counting()
    result = unroll(loop, "TIMES")
    assert result.parameters == {"TIMES": [1, 2, 4, 8]}
    for configuration in configurations(result):
        assert (sums_of(result, 11, **configuration) == sums_of(loop, 11)).all()
    assert (sums_of(unroll(loop), 11) == sums_of(loop, 11)).all()
    assert "#pragma unroll 4" in str(unroll(loop, 4))


def transposed(body, width, height, a, block, **defines):
    from rtcg import driver

    out = np.zeros((width, height), a.dtype)
    parameters = [pointer(a.dtype, "out"), pointer(a.dtype, "a"), c.POD("i4", "w"), c.POD("i4", "h")]
    arguments = [driver.Out(out), driver.In(a), np.int32(width), np.int32(height)]
    run(body, parameters, arguments, block, (-(-width // 8), -(-height // 8)), **defines)
    return out


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "u8"])
def test_stage(dtype):
    width, height = 21, 13
    a = np.random.default_rng(1).integers(0, 100, (height, width)).astype(dtype)
    x, y, w, h = (c.Var(name, "i4") for name in ("x", "y", "w", "h"))
    place = [
        c.Initializer(c.POD("i4", "x"), "blockIdx.x * 8 + threadIdx.x"),
        c.Initializer(c.POD("i4", "y"), "blockIdx.y * 8 + threadIdx.y"),
    ]
    array, out = c.Var("a", dtype), c.Var("out", dtype)
    store = c.If((x < w).and_(y < h), c.Assign(out[x * h + y], array[y * w + x]))
    plain = transposed([*place, store], width, height, a, (8, 8, 1))
    assert (plain == a.T).all()
    origin = (c.Expr("blockIdx.y * 8"), c.Expr("blockIdx.x * 8"))
    staged = stage(array, [8, 8], origin, pitch=w, bounds=(h, w), pad="PAD")
    assert staged.parameters == {"PAD": [0, 1]}
    read = c.If((x < w).and_(y < h), c.Assign(out[x * h + y], staged.value["threadIdx.y", "threadIdx.x"]))
    for configuration in configurations(staged):
        assert (transposed([*place, staged, read], width, height, a, (8, 8, 1), **configuration) == plain).all()
    # Fewer threads than elements of the tile copy several each.
    rows = c.For("int r = 0", "r < 8", "r += 2", c.Block([c.Assign("y", "blockIdx.y * 8 + threadIdx.y + r"), read]))
    read.then_.rvalue = staged.value["threadIdx.y + r", "threadIdx.x"]
    assert (transposed([*place, staged, rows], width, height, a, (8, 2, 1), PAD=1) == plain).all()


def test_stage_of_one_size_is_zero_outside():
    from rtcg import driver

    a, out = np.arange(1, 11, dtype=np.float32), np.zeros(32, np.float32)
    # A tile with a halo starts before the array.
    staged = stage(c.Var("a", "f4"), ["SIZE"], [-2], bounds=["n"])
    body = [staged, c.Assign("out[threadIdx.x]", staged.value["threadIdx.x"])]
    parameters = [pointer("f4", "out"), pointer("f4", "a"), c.POD("i4", "n")]
    run(body, parameters, [driver.Out(out), driver.In(a), np.int32(10)], SIZE=32)
    assert (out[2:12] == a).all() and (out[:2] == 0).all() and (out[12:] == 0).all()


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "u2", "i8"])
def test_vectorise(dtype):
    from rtcg import driver

    a = np.arange(128).astype(dtype)
    widths = vectorise(c.Var("a", dtype)[0], "WIDTH")
    assert widths.parameters == {"WIDTH": [1, 2] if np.dtype(dtype).itemsize == 8 else [1, 2, 4]}

    def weighted(load, width):
        out = np.zeros(128, dtype)
        store = c.For("int k = 0", f"k < {width}", "++k", c.Assign(f"out[threadIdx.x * {width} + k]", f"{load}[k] + k"))
        parameters = [pointer(dtype, "out"), pointer(dtype, "a")]
        return store, out, parameters

    for width in widths.parameters["WIDTH"]:
        first = c.Var("threadIdx").member("x") * width
        store, expected, parameters = weighted(f"(a + threadIdx.x * {width})", width)
        run([store], parameters, [driver.Out(expected), driver.In(a)])
        for asked, defines in [(width, {}), ("WIDTH", {"WIDTH": width})]:
            wide = vectorise(c.Var("a", dtype)[first], asked)
            store, out, parameters = weighted(wide.value, width)
            run([wide, store], parameters, [driver.Out(out), driver.In(a)], **defines)
            assert (out == expected).all() and out.any()


def test_double_buffer():
    from rtcg import driver

    a = np.random.default_rng(2).integers(0, 1000, 5 * THREADS).astype(np.uint32)
    loop = c.For("int t = 0", "t < n", "++t", c.Statement("sum = sum * 31 + a[t * 64 + (threadIdx.x + t + 33) % 64]"))

    def sums(statement, n, **defines):
        out = np.zeros(THREADS, np.uint32)
        body = [c.Initializer(c.POD("u4", "sum"), "0"), statement, c.Assign("out[threadIdx.x]", "sum")]
        parameters = [pointer("u4", "out"), pointer("u4", "a"), c.POD("i4", "n")]
        run(body, parameters, [driver.Out(out), driver.In(a), np.int32(n)], (THREADS, 1, 1), **defines)
        return out

    def load(t, buffer):
        return c.Assign(buffer["threadIdx.x"], c.Var("a", "u4")[t * THREADS + "threadIdx.x"])

    def use(t, buffer):
        return c.Assign("sum", c.Var("sum", "u4") * 31 + buffer[("threadIdx.x" + t + 33) % THREADS])

    buffered = double_buffer(loop, "u4", THREADS, load, use, "BUFFERS")
    assert buffered.parameters == {"BUFFERS": [1, 2]}
    for n in (0, 1, 2, 5):
        expected = sums(loop, n)
        for configuration in configurations(buffered):
            assert (sums(buffered, n, **configuration) == expected).all()
        for buffers in (1, 2):
            assert (sums(double_buffer(loop, "u4", THREADS, load, use, buffers), n) == expected).all()


@pytest.mark.skipif(has_real_device(), reason="a real device has no checked mode")
def test_there_are_no_races():
    program = f"""
        import pytest
        raise SystemExit(pytest.main(["-q", "-p", "no:xdist", "-k", "stage or double_buffer", {__file__!r}]))
    """
    run_python(program, RTCG_CHECK="memory,init,race,sync,fatal", RTCG_SCHEDULE="chaos:1")


def test_errors():
    loop = counting()
    with pytest.raises(ValueError, match="n is 0"):
        split(loop, 0)
    with pytest.raises(ValueError, match="remainder is 'x'"):
        split(loop, 4, "x")
    with pytest.raises(ValueError, match="'break'"):
        split(c.For("int i = 0", "i < n", "++i", c.Block([c.If("x", c.Statement("break"))])), 4)
    with pytest.raises(ValueError, match="i > n"):
        split(counting(condition="i > n"), 4)
    with pytest.raises(TypeError, match="expected rtcg.cgen.For"):
        split(c.While("x", c.Block()), 4)
    with pytest.raises(TypeError, match="n is 1.5"):
        split(loop, 1.5)
    with pytest.raises(ValueError, match="'a' has no dtype"):
        stage(c.Var("a"), [8], [0])
    with pytest.raises(ValueError, match="width is 3"):
        vectorise(c.Var("a", "f4")[0], 3)
    with pytest.raises(ValueError, match="name is '1'"):
        vectorise(c.Var("a", "f4")[0], 2, "1")
    with pytest.raises(ValueError, match="no vectors"):
        vectorise(c.Var("a", "c8")[0], 2)

    def load(t, buffer):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        double_buffer(loop, "f4", 8, load, load)
