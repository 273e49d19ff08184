"""Pickles of arrays, kernels and modules, and the context that threads without one take."""

import pickle
import threading

import numpy as np
import pytest

import pycuda.autoinit
import pycuda.driver as cuda
import rtcg.numpy as rnp
from rtcg import _pickling, devices
from rtcg.compiler import SourceModule
from rtcg.elementwise import ElementwiseKernel
from rtcg.reduction import ReductionKernel
from rtcg.scan import ExclusiveScanKernel, GenericScanKernel, InclusiveScanKernel
from tests.python.subprocesses import run_python


@pytest.fixture(autouse=True)
def _context(context):
    """Every test here runs in the session's context."""


def again(thing, protocol=pickle.HIGHEST_PROTOCOL):
    return pickle.loads(pickle.dumps(thing, protocol))


def in_thread(function):
    """What a new thread, which has no context, makes of the call."""
    results = []

    def work():
        try:
            results.append(function())
        except Exception as error:
            results.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return results[0]


class Multiple(ElementwiseKernel):
    """A kernel whose constructor takes something else."""

    def __init__(self, factor):
        self.factor = factor
        super().__init__("double *z, const double *x", f"z[i] = {factor} * x[i]", name="multiple", options=["-O3"])
        self.note = [factor]


def test_generated_kernels():
    x = rnp.arange(5, dtype=np.float64)
    z = rnp.empty_like(x)
    helper = "__device__ double f(double x) { return x + 1; }"
    plain = again(ElementwiseKernel("double *z, const double *x", "z[i] = f(x[i])", preamble=helper))
    plain(z, x)
    np.testing.assert_array_equal(z.get(), np.arange(5) + 1)
    own = again(again(Multiple(3)))
    own(z, x)
    assert (own.factor, own.note, own.name, type(own)) == (3, [3], "multiple", Multiple)
    np.testing.assert_array_equal(z.get(), 3 * np.arange(5))
    assert again(ElementwiseKernel("T x", "T z", "z = x * x"))(x).get()[4] == 16
    total = again(
        ReductionKernel(np.float64, "0", "a + b", "x[i] * y[i]", "const double *x, const double *y", keep=False)
    )
    assert total(x, x).get() == 30
    squares = again(ReductionKernel("T x", "T y", "x * x", "a + b", "y = a", "0"))
    assert squares(x).get() == 30
    ints = rnp.arange(5, dtype=np.int32)
    assert again(InclusiveScanKernel(np.int32, "a + b"))(ints.copy()).get()[4] == 10
    assert again(ExclusiveScanKernel(np.int32, "a + b", neutral=0))(ints.copy()).get()[4] == 6
    scan = GenericScanKernel(
        np.int32, "const int *x, int *y", "x[i]", "a + b", neutral="0", output_statement="y[i] = item"
    )
    generic = again(scan)
    out = rnp.empty_like(ints)
    generic(ints, out)
    assert out.get()[4] == 10


def test_modules_and_their_kernels():
    source = "template <class T> __global__ void f(T *x) { *x = 7; }"
    module = SourceModule(source, no_extern_c=True, name_expressions=["f<float>"])
    x = rnp.zeros(1, np.float32)
    again(module).get_function("f<float>")(x, block=(1, 1, 1))
    assert x.get()[0] == 7
    x.fill(0)
    function = again(module.get_function("f<float>"))
    function(x, block=(1, 1, 1))
    assert x.get()[0] == 7
    # What was pickled from an unpickled one is the same.
    again(function)(x, block=(1, 1, 1))


def test_another_process_compiles_for_its_device(tmp_path):
    file = tmp_path / "kernel.pickle"
    kernel = ElementwiseKernel("double *z, const double *x", "z[i] = 2 * x[i]")
    function = SourceModule("__global__ void one(double *x) { *x = 1; }").get_function("one")
    file.write_bytes(pickle.dumps((kernel, function, rnp.arange(3, dtype=np.float64))))
    program = f"""
import pathlib, pickle, threading
import numpy as np
def work():
    kernel, function, x = pickle.loads(pathlib.Path({str(file)!r}).read_bytes())
    import rtcg.numpy as rnp
    z = rnp.empty_like(x)
    kernel(z, x)
    function(x, block=(1, 1, 1))
    print(z, x)
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""
    result = run_python(program)
    assert result.stdout == "[0. 2. 4.] [1. 1. 2.]\n", result.stderr


def test_arrays_go_out_of_band_and_keep_order_and_records():
    a = rnp.to_gpu(np.asfortranarray(np.arange(12.0).reshape(3, 4)))
    buffers = []
    data = pickle.dumps(a, 5, buffer_callback=buffers.append)
    assert len(data) < 400 and [buffer.raw().nbytes for buffer in buffers] == [96]
    b = pickle.loads(data, buffers=buffers)
    assert b.strides == a.strides
    np.testing.assert_array_equal(b.get(), a.get())
    records = np.zeros(3, [("a", "<f4"), ("b", "<i2", 2)])
    records["b"] = [[1, 2], [3, 4], [5, 6]]
    np.testing.assert_array_equal(again(rnp.to_gpu(records)).get(), records)
    for shape in ((), (0, 3)):
        assert again(rnp.zeros(shape, np.float16), 2).shape == shape


def test_what_belongs_to_one_process_says_what_to_send_instead():
    module = SourceModule("__global__ void f() {}")
    loaded = module.module
    for thing, advice in [
        (cuda.Stream(), "Stream belongs to one process.*make a stream"),
        (cuda.Event(), "Event.*ipc_handle"),
        (pycuda.autoinit.context, "Context.*devices.use"),
        (loaded, "Module.*send a SourceModule"),
        (loaded.get_function("f"), "kernel 'f' cannot be pickled"),
        (cuda.mem_alloc(16), "DeviceAllocation.*send an array"),
        (rnp.zeros(3).gpudata, "PooledDeviceAllocation.*send an array"),
        (ElementwiseKernel.__new__(ElementwiseKernel), "ElementwiseKernel whose __init__ was not called"),
    ]:
        with pytest.raises(TypeError, match=advice):
            pickle.dumps(thing)


def test_pickles_of_another_format_are_refused():
    with pytest.raises(ValueError, match="an? .*ElementwiseKernel has format 99; this rtcg reads format 1"):
        _pickling._restore(99, ElementwiseKernel, ElementwiseKernel, (), {}, {})


def test_threads_take_the_context_of_autoinit():
    # Other tests import `autoprimaryctx`, which declares its own.
    devices.set_default(pycuda.autoinit.context)
    data = pickle.dumps(rnp.arange(3))

    def work():
        made = rnp.ones(3) + pickle.loads(data)
        return made.get().tolist(), cuda.Context.get_current() == pycuda.autoinit.context

    assert in_thread(work) == ([1.0, 2.0, 3.0], True)
    assert devices.default() == pycuda.autoinit.context

    def after_a_block():
        with devices.use(0):
            pass
        return rnp.ones(2).get().tolist()

    assert in_thread(after_a_block) == [1.0, 1.0]


def test_programs_declare_a_default_context():
    program = """
import pathlib, pickle, threading
import rtcg.driver as drv, rtcg.numpy as rnp
from rtcg import devices
drv.init()
own = drv.Device(1).make_context()
data = pickle.dumps(rnp.arange(3))
def attempt(name, function):
    def work():
        try:
            print(name, function())
        except drv.Error as error:
            print(name, type(error).__name__)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
print(devices.default())
attempt("none", lambda: rnp.zeros(2))
devices.set_default(own)
attempt("declared", lambda: (rnp.zeros(2), drv.Context.get_device() == drv.Device(1)))
devices.set_default(0)
attempt("device", lambda: (rnp.zeros(2).device == drv.Device(0)))
devices.set_default(None)
attempt("none", lambda: rnp.zeros(2))
# An array has to be somewhere: a thread that unpickles one declares the primary context.
attempt("unpickled", lambda: pickle.loads(data).device == drv.Device(0))
attempt("then", lambda: rnp.zeros(2))
own.pop()
print(drv.Context.get_current())
for wrong in (7, "nowhere"):
    try:
        devices.set_default(wrong)
    except ValueError as error:
        print(error)
"""
    result = run_python(program, RTCG_VIRTUAL_DEVICES="2", CUDA_VISIBLE_DEVICES="")
    lines = result.stdout.splitlines()
    assert lines[:8] == [
        "None",
        "none LogicError",
        "declared (array([0., 0.]), True)",
        "device True",
        "none LogicError",
        "unpickled True",
        "then [0. 0.]",
        "None",
    ], result.stdout + result.stderr
    assert lines[8].startswith("target is 7; expected an ordinal below 2") and "a Context, None" in lines[8]
    assert lines[9].startswith("target is 'nowhere'; expected")


def test_dask_tokens_are_of_elements_and_their_places():
    a = rnp.arange(1000, dtype=np.float32)
    token = a.__dask_tokenize__()
    assert token == rnp.to_gpu(a.get()).__dask_tokenize__() == a[::1].__dask_tokenize__()
    changed = a.copy()
    changed[3], changed[4] = 4, 3
    others = [changed, a.reshape(10, 100), a.astype(np.int32), a[:-1], a[::-1]]
    tokens = {repr(other.__dask_tokenize__()) for other in others}
    assert len(tokens) == len(others) and repr(token) not in tokens
    for odd in (np.arange(7, dtype=np.int8), np.zeros(0), np.float32(3), np.zeros(3, [("a", "<f4"), ("b", "i1")])):
        assert rnp.to_gpu(np.asarray(odd)).__dask_tokenize__() == rnp.to_gpu(np.asarray(odd)).__dask_tokenize__()
