"""Launch, compile and start-up costs on a real GPU, beside what people use today.

Every peer runs in this process and this run: the driver called from C, CuPy and cuda.core.
Run it with `make gpu-bench`.
"""

import ctypes
import os
import sys
import tempfile
import time
import timeit

import numpy as np
from common import (
    LAUNCHED_SOURCE as SOURCE,
    SMALL_CALLS,
    attempt,
    c_loops,
    in_new_process,
    interleaved_us,
    median_ms,
    python_loop,
    show,
    small_objects,
)

os.environ.setdefault("PYCUDA_CACHE_DIR", tempfile.mkdtemp(prefix="rtcg-bench-cache-"))

import pycuda.driver as drv  # noqa: E402
import rtcg
from pycuda.compiler import SourceModule  # noqa: E402


def event_floor(event):
    """`cuEventRecord` in a C loop."""
    cuda = ctypes.CDLL("libcuda.so.1")
    record = ctypes.cast(cuda.cuEventRecord, ctypes.c_void_p)
    library = c_loops()
    return lambda calls: library.two_loop(record, ctypes.c_void_p(event.handle), None, calls) * calls / 1e6


def launch_floor(x, z, packed=False):
    """`cuLaunchKernel` in a C loop: what the driver itself costs."""
    library = c_loops()
    cuda = ctypes.CDLL("libcuda.so.1")
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    from pycuda.compiler import compile

    image = compile(SOURCE)
    assert cuda.cuModuleLoadData(ctypes.byref(module), image) == 0
    assert cuda.cuModuleGetFunction(ctypes.byref(function), module, b"add") == 0
    values = (ctypes.c_uint64(int(z)), ctypes.c_uint64(int(x)), ctypes.c_int(32))
    params = (ctypes.c_void_p * 3)(*(ctypes.addressof(v) for v in values))
    launch = ctypes.cast(cuda.cuLaunchKernel, ctypes.c_void_p)
    buffer = ctypes.create_string_buffer(b"".join(bytes(v) for v in values))

    def loop(calls):
        # `values` back the addresses in `params`.
        if packed and values:
            return library.packed_loop(launch, function, buffer, ctypes.c_ulong(20), calls) * calls / 1e6
        return library.launch_loop(launch, function, params, calls) * calls / 1e6

    return loop


def cupy_launch():
    import cupy

    kernel = cupy.RawKernel('extern "C" ' + SOURCE, "add")
    x = cupy.zeros(32, cupy.float32)
    z = cupy.zeros(32, cupy.float32)
    n = np.int32(32)
    kernel((1,), (32,), (z, x, n))
    return python_loop(lambda: kernel((1,), (32,), (z, x, n)))


def cuda_core_launch():
    from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

    device = Device()
    device.set_current()
    stream = device.create_stream()
    options = ProgramOptions(arch=f"sm_{device.arch}")
    kernel = Program('extern "C" ' + SOURCE, "c++", options).compile("cubin").get_kernel("add")
    config = LaunchConfig(grid=1, block=32)
    x, z = device.allocate(128, stream=stream), device.allocate(128, stream=stream)
    n = ctypes.c_int(32)
    return python_loop(lambda: launch(stream, config, kernel, z.handle, x.handle, n))


def launches():
    function = SourceModule(SOURCE).get_function("add")
    x, z = drv.mem_alloc(128), drv.mem_alloc(128)
    n = np.int32(32)
    prepared = SourceModule(SOURCE).get_function("add").prepare("PPi")
    block, grid = (32, 1, 1), (1, 1)
    stream = drv.Stream()
    calls = {
        "rtcg prepared_call": lambda: prepared.prepared_call(grid, block, z, x, 32),
        "rtcg prepared_async_call": lambda: prepared.prepared_async_call(grid, block, stream, z, x, 32),
        "rtcg func(args, block=, grid=)": lambda: function(z, x, n, block=block, grid=grid),
        "rtcg func(..., 32, ...) with Python's int": lambda: function(z, x, 32, block=block, grid=grid),
        "rtcg func(args, block=, grid=, stream=)": lambda: function(z, x, n, block=block, grid=grid, stream=stream),
    }
    loops = {
        "cuLaunchKernel from C (floor)": attempt("C", lambda: launch_floor(x, z)),
        "cuLaunchKernel from C, packed arguments": attempt("C", lambda: launch_floor(x, z, packed=True)),
        **{name: python_loop(call) for name, call in calls.items()},
        "CuPy RawKernel": attempt("cupy", cupy_launch),
        "cuda.core launch": attempt("cuda.core", cuda_core_launch),
        "an empty Python function": python_loop(lambda: None),
    }
    show(
        "Launch of a small kernel with three arguments, host time",
        interleaved_us(loops, drv.Context.synchronize),
    )


def cupy_event():
    import cupy

    event = cupy.cuda.Event(disable_timing=True)
    return python_loop(event.record)


def small_calls():
    known = small_objects(SourceModule(SOURCE).get_function("add"))
    event = known["event"]
    loops = {
        "cuEventRecord from C (floor)": attempt("C", lambda: event_floor(event)),
        "CuPy event.record()": attempt("cupy", cupy_event),
        **{f"rtcg {name}": timeit.Timer(call, globals=known).timeit for name, call in SMALL_CALLS.items()},
        "an empty loop": timeit.Timer("pass").timeit,
    }
    show("Small calls, host time", interleaved_us(loops, drv.Context.synchronize))


def fresh(number):
    return f'extern "C" __global__ void f(float *z, float a) {{ z[threadIdx.x] = a * {number}.0f + {os.getpid()}; }}'


def compiles():
    def ours(number):
        SourceModule(fresh(number + 1000), no_extern_c=True, cache_dir=False).get_function("f")

    def cupy_compile(number):
        import cupy

        cupy.RawModule(code=fresh(number + 2000)).get_function("f")

    def cuda_core_compile(number):
        from cuda.core import Device, Program, ProgramOptions

        device = Device()
        device.set_current()
        Program(fresh(number + 3000), "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin").get_kernel("f")

    show(
        "Compile and load a small kernel never seen before",
        [
            ("rtcg SourceModule", median_ms(ours), "ms"),
            ("CuPy RawModule", attempt("cupy", lambda: median_ms(cupy_compile)), "ms"),
            ("cuda.core Program", attempt("cuda.core", lambda: median_ms(cuda_core_compile)), "ms"),
        ],
    )


WARM = """
import time, pycuda.autoinit
from pycuda.compiler import SourceModule, compile
source = {source!r}
start = time.perf_counter(); image = compile(source); compiled = time.perf_counter()
import pycuda.driver as drv
drv.module_from_buffer(image); loaded = time.perf_counter()
print(({which}) * 1e3)
"""

IMPORT = "import time; start = time.perf_counter(); {body}; print((time.perf_counter() - start) * 1e3)"


def new_processes():
    SourceModule(SOURCE)
    warm = {
        which: in_new_process(WARM.format(source=SOURCE, which=which))
        for which in ("compiled - start", "loaded - compiled")
    }
    show(
        "The same kernel again in a new process",
        [
            ("rtcg compile() from the disk cache", warm["compiled - start"], "ms"),
            ("loading the module", warm["loaded - compiled"], "ms"),
        ],
    )
    bodies = {
        "rtcg import pycuda.autoinit": "import pycuda.autoinit",
        "libcuda alone: cuInit + primary context": (
            "import ctypes; c = ctypes.CDLL('libcuda.so.1'); c.cuInit(0); p = ctypes.c_void_p(); "
            "c.cuDevicePrimaryCtxRetain(ctypes.byref(p), 0); c.cuCtxSetCurrent(p)"
        ),
        "CuPy import + first array": "import cupy; cupy.zeros(1)",
        "PyTorch import + first tensor": "import torch; torch.zeros(1, device='cuda')",
    }
    show(
        "Import and context, in a new process",
        [(name, in_new_process(IMPORT.format(body=body), rounds=3), "ms") for name, body in bodies.items()],
    )


FUSED_ELEMENTS = 1 << 24


def fused_chain(xp, x, y):
    """Eleven operations, of which a reader of memory sees two arrays and a writer one.

    Every function comes from `xp`: what CuPy traces has neither `__abs__` nor all operators of arrays.
    """
    return xp.sqrt(xp.abs(x * 1.5 + y)) * xp.exp(-(x * x)) + (x - y) * (x - y) / (1.0 + y * y)


def milliseconds_of(call, synchronize, rounds=15):
    """Median time of a call and of its work on the device."""
    for _ in range(3):
        call()
    times = []
    for _ in range(rounds):
        synchronize()
        start = time.perf_counter()
        call()
        synchronize()
        times.append((time.perf_counter() - start) * 1e3)
    return sorted(times)[len(times) // 2]


def fusion():
    """A chain of operations as one kernel, beside CuPy's `fuse` and `torch.compile`."""
    from pycuda import gpuarray

    hosts = [np.random.default_rng(seed).random(FUSED_ELEMENTS, dtype=np.float32) for seed in range(2)]
    arrays = [gpuarray.to_gpu(host) for host in hosts]

    def ours(wrap):
        function = wrap(lambda x, y: fused_chain(np, x, y))
        return milliseconds_of(lambda: function(*arrays), drv.Context.synchronize)

    def cupy_fuse():
        import cupy

        inputs = [cupy.asarray(host) for host in hosts]

        # CuPy names the kernel after the function: a lambda's `<lambda>` is no name in C.
        @cupy.fuse(kernel_name="fused_chain")
        def function(x, y):
            return fused_chain(cupy, x, y)

        return milliseconds_of(lambda: function(*inputs), cupy.cuda.Device().synchronize)

    def torch_compile():
        import torch

        inputs = [torch.from_numpy(host).cuda() for host in hosts]
        function = torch.compile(lambda x, y: fused_chain(torch, x, y))
        return milliseconds_of(lambda: function(*inputs), torch.cuda.synchronize)

    show(
        f"A chain of operations on {FUSED_ELEMENTS} float32 elements",
        [
            ("rtcg.fuse", attempt("fuse", lambda: ours(rtcg.fuse)), "ms"),
            ("one kernel per operation", attempt("apart", lambda: ours(lambda function: function)), "ms"),
            ("cupy.fuse", attempt("cupy", cupy_fuse), "ms"),
            ("torch.compile", attempt("torch", torch_compile), "ms"),
        ],
    )


def main():
    # The primary context, which the peers use too.
    import pycuda.autoprimaryctx

    print(f"device: {pycuda.autoprimaryctx.device.name()}, Python {sys.version.split()[0]}, NumPy {np.__version__}")
    launches()
    small_calls()
    compiles()
    fusion()
    new_processes()


if __name__ == "__main__":
    main()
