"""What is said and done about a driver in the place of NVIDIA's that does nothing (`stub_driver.c`)."""

import shutil
import subprocess

import pytest

from tests.python.subprocesses import ROOT, run_python

PROLOGUE = """
import ctypes, sys
import numpy as np
import rtcg
import rtcg.driver as cuda

library = ctypes.CDLL(sys.argv[1])

def error_of(call):
    try:
        call()
    except Exception as error:
        return f"{type(error).__module__}.{type(error).__qualname__}: {error}"
    raise AssertionError("no error")

def start():
    global context, kernel, x
    cuda.init()
    context = cuda.Device(0).make_context()
    kernel = cuda.module_from_buffer(b"anything").get_function("kernel")
    x = cuda.mem_alloc(64)

def launch(stream=None):
    kernel(x, x, np.int32(3), block=(32, 1, 1), grid=(1, 1), stream=stream)
"""


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    compiler = shutil.which("cc")
    assert compiler, "these tests need a C compiler"
    path = tmp_path_factory.mktemp("stub") / "libcuda.so.1"
    source = ROOT / "tests" / "python" / "stub_driver.c"
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", path, source], check=True)
    return path


def run(library, code, **environment):
    environment.setdefault("RTCG_VIRTUAL_DEVICES", 0)
    return run_python(PROLOGUE + code, library, RTCG_LIBCUDA=library, **environment).stdout


LAUNCHES = """
library.stub_watch(ctypes.cast(ctypes.pythonapi.PyGILState_Check, ctypes.c_void_p))

def counted(n, call=launch):
    counts = [ctypes.c_int.in_dll(library, f"stub_launches_{how}") for how in ("holding", "released")]
    before = [c.value for c in counts]
    for _ in range(n):
        call()
    return [c.value - b for c, b in zip(counts, before)]
"""


def test_launches_that_cannot_wait_keep_the_interpreter(library):
    """Releasing and taking it costs as much as all the rest of a launch. A full queue waits without it."""
    run(
        library,
        LAUNCHES
        + """
start()
event = cuda.Event()
assert counted(256) == [256, 0]
assert counted(1, event.record) == [0, 1]
assert counted(100) == [0, 100], "the queue may be full"
cuda.Context.synchronize()
assert counted(300, event.record) == [300, 0], "events are not counted"
assert counted(300) == [256, 44], "a wait has emptied it"
cuda.memcpy_dtoh(np.zeros(4), x)
assert counted(300) == [256, 44]
prepared = cuda.module_from_buffer(b"anything").get_function("kernel").prepare("PPi")
cuda.Context.synchronize()
assert counted(300, lambda: prepared.prepared_call((1, 1), (32, 1, 1), x, x, 3)) == [256, 44]
""",
    )


def test_only_a_wait_for_all_launches_empties_the_queue(library):
    run(
        library,
        LAUNCHES
        + """
start()
one, other = cuda.Stream(), cuda.Stream()
assert counted(300, lambda: launch(one)) == [256, 44]
other.synchronize()
assert counted(1) == [0, 1]
cuda.Context.synchronize()
assert counted(300, lambda: launch(one)) == [256, 44]
one.synchronize()
assert counted(300, lambda: launch(one)) == [256, 44]
launch(other)
one.synchronize()
assert counted(1) == [0, 1]
""",
    )


def test_launches_behind_a_host_function_release_the_interpreter(library):
    """A host function that wants the interpreter would never get it from a launch that waits for the function."""
    run(
        library,
        LAUNCHES
        + """
start()
assert counted(1) == [1, 0]
library.stub_wait_for_host_functions()
ran, stream = [], cuda.Stream()
for enqueue in (stream.launch_host_func, lambda f: stream.add_callback(lambda error: f())):
    enqueue(lambda: ran.append(1))
    assert not ran
    assert counted(2) == [1, 1], "only the first has one before it"
    assert ran.pop() == 1
""",
    )


def test_launches_behind_a_wait_for_a_value_release_the_interpreter(library):
    """Nobody says when the device has seen the value."""
    run(library, LAUNCHES + "start()\ncuda.Stream().wait_value(x, 1)\nassert counted(2) == [0, 2]")


ARRAYS = """
import pycuda, pycuda.curandom, pycuda.gpuarray as gpuarray
from pycuda.elementwise import ElementwiseKernel

start()
library.stub_forget_parameters()
a = gpuarray.to_gpu(np.zeros(1024, np.float32))
z = gpuarray.empty_like(a)
axpy = ElementwiseKernel("float *z, const float *a", "z[i] = 2 * a[i]", "twice")
random = pycuda.curandom.XORWOWRandomNumberGenerator()
calls = (lambda: a + a, lambda: a.__iadd__(1), lambda: axpy(z, a), lambda: random.fill_uniform(z))
for call in calls:
    call()
"""


def test_arrays_release_the_interpreter_where_the_queue_may_be_full(library):
    run(
        library,
        LAUNCHES
        + ARRAYS
        + """
for call in calls:
    cuda.Context.synchronize()
    holding, released = counted(300, call)
    assert (holding, released) == (256, 44), (holding, released)
""",
    )


@pytest.mark.parametrize("call", range(5), ids=["operator", "in place", "elementwise", "random", "fused"])
def test_arrays_do_not_hang_behind_a_host_function(library, call):
    """A launch that the driver keeps until a host function has run, which another thread runs with the interpreter."""
    run(
        library,
        LAUNCHES
        + ARRAYS
        + f"""
import faulthandler
faulthandler.dump_traceback_later(30, exit=True)

def fused():
    with rtcg.fuse():
        b = (a + 1) * 2
    return b

call = (*calls, fused)[{call}]
call()
library.stub_wait_for_host_functions()
ran = []
cuda.Stream().launch_host_func(lambda: ran.append(1))
assert not ran
call()
assert ran == [1]
""",
    )


def test_the_profiler_is_given_its_files(library):
    """Drivers of today refuse the call."""
    run(
        library,
        """
start()
cuda.initialize_profiler("the config", "the output", cuda.profiler_output_mode.CSV)
given = ctypes.create_string_buffer(256)
ctypes.memmove(given, library.stub_profiler, 256)
assert given.value == b"the config, the output, 1", given.value
""",
    )


def test_no_device(library):
    text = run(library, "print(error_of(cuda.init))", STUB_DEVICES=0)
    assert (
        text == "rtcg.driver.RuntimeError: cuInit failed: no CUDA-capable device is detected - "
        "cuDeviceGetCount found none\n"
    )


def test_a_driver_that_does_not_start(library):
    text = run(library, "print(error_of(cuda.init))", STUB_INIT=803)
    assert (
        "cuInit failed: no CUDA-capable device is detected - cuInit failed: system has unsupported display driver"
        in text
    )


def test_a_missing_driver(library):
    text = run_python(
        PROLOGUE + "print(error_of(cuda.init))", library, RTCG_LIBCUDA="/no/such/libcuda.so.1", RTCG_VIRTUAL_DEVICES=0
    ).stdout
    assert "could not load the CUDA driver (libcuda); tried:" in text
    assert "RTCG_LIBCUDA=/no/such/libcuda.so.1: " in text and "an NVIDIA driver must be installed" in text


def test_a_driver_that_is_too_old_for_a_function(library):
    text = run(
        library,
        """
start()
print(error_of(lambda: cuda.Stream().get_capture_info()))
print(error_of(lambda: cuda.mem_alloc_async(64, cuda.Stream())))
""",
        STUB_VERSION=10010,
    )
    for line, (symbol, since) in zip(
        text.splitlines(), [("cuStreamGetCaptureInfo", "1"), ("cuMem", "11.2")], strict=True
    ):
        assert "operation not supported" in line
        assert symbol in line
        assert f"is not in the installed driver (CUDA 10.1); it needs a driver for CUDA {since}" in line


def test_out_of_memory(library):
    text = run(library, "start()\nprint(error_of(lambda: cuda.mem_alloc(1 << 20)))", STUB_MEMORY=4096)
    assert text.startswith("rtcg.driver.MemoryError: cuMemAlloc failed: out of memory")


def test_a_kernel_that_is_not_there_and_a_driver_that_lists_none(library):
    text = run(library, "start()\nprint(error_of(lambda: cuda.module_from_buffer(b'').get_function('missing')))")
    assert text == "rtcg.driver.LogicError: cuModuleGetFunction failed: named symbol not found - 'missing'\n"


@pytest.mark.parametrize(
    ("code", "kind", "what"),
    [
        (700, "LogicError", "an illegal memory access was encountered"),
        (719, "LaunchError", "unspecified launch failure"),
    ],
)
def test_faults_of_earlier_launches(library, code, kind, what):
    """Every call returns them, whatever it does, and must not be taken for their cause."""
    text = run(
        library,
        """
start()
event = cuda.Event()
launch()
for call in (cuda.Context.synchronize, launch, lambda: cuda.mem_alloc(4), lambda: event.record()):
    print(error_of(call))
""",
        STUB_FAULT=code,
    )
    for line, call in zip(
        text.splitlines(), ("CtxSynchronize", "LaunchKernel", "MemAlloc", "EventRecord"), strict=True
    ):
        assert line == (
            f"rtcg.driver.{kind}: cu{call} failed: {what} - an earlier launch failed; since this context was last "
            "waited for, kernel 'kernel' was launched"
        )


def test_faults_name_the_last_kernel_of_several(library):
    """Also where the kernel's object is gone, as after `module.get_function(name)(...)`."""
    text = run(
        library,
        """
start()
for name in ("first", "last"):
    cuda.module_from_buffer(b"anything").get_function(name)(x, x, np.int32(3), block=(32, 1, 1))
library.stub_fail(700)
print(error_of(cuda.Context.synchronize))
""",
    )
    assert text.strip().endswith("2 kernels were launched, the last of them 'last'")


@pytest.mark.parametrize("version, major", [(12040, 12), (13000, 13)])
def test_without_a_compiler_the_error_names_the_command_for_the_driver(library, version, major):
    code = """
from pycuda.compiler import SourceModule
start()
print(error_of(lambda: SourceModule("__global__ void f() {}")))
"""
    said = run(library, code, RTCG_NVRTC="none", RTCG_COMPILER="nvrtc", STUB_VERSION=version)
    wheel = "nvidia-cuda-nvrtc" if major == 13 else "nvidia-cuda-nvrtc-cu12"
    assert f"`pip install {wheel}` installs it" in said
    assert f"for the NVIDIA driver here, which has CUDA {major}" in said


@pytest.mark.parametrize("checks, notices", [("race", 1), ("1", 1), ("", 0), ("0", 0)])
def test_checks_on_a_gpu_are_announced_to_be_off(library, checks, notices):
    code = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    start()
    cuda.Device(0).make_context()
print([str(warning.message) for warning in caught])
"""
    said = run(library, code, RTCG_CHECK=checks)
    assert said.count("kernels run unchecked on device 0") == notices, said
    assert said.count("RTCG_LIBCUDA=none RTCG_VIRTUAL_DEVICES=1 selects the virtual GPU") == notices, said
