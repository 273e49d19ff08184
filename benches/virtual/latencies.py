"""Times that do not depend on the amount of data: compilation, the JIT, launches."""

import os
import re
import statistics
import time

from common import attempt, build_c, in_new_process, median_ms, per_call_us, show

from .backends import PoCL
from .kernels import COMMON, CUDA_ONLY, CUDA_PRELUDE
from .rows import rows

FIRST_RESULT = """
import time; start = time.perf_counter()
import numpy as np, pycuda.autoinit, pycuda.driver as drv
from pycuda.compiler import SourceModule
a = np.arange(1000, dtype=np.float32)
ready = time.perf_counter()
f = SourceModule("__global__ void twice(float *a) { a[threadIdx.x + blockIdx.x * blockDim.x] *= 2; } // " + str(start), cache_dir=False).get_function("twice")
f(drv.InOut(a), block=(250, 1, 1), grid=(4, 1))
assert a[999] == 1998
print((time.perf_counter() - %s) * 1e3)
"""


def _instructions(ptx, kernel):
    """Number of PTX instructions of a kernel."""
    body = re.search(rf"\.entry {kernel}\b.*?\n\{{(.*?)\n\}}", ptx, re.S).group(1)
    return sum(1 for line in body.splitlines() if line.rstrip().endswith(";") and not line.strip().startswith("."))


def _jit_times():
    """(PTX instructions, milliseconds that the first launch takes longer than the second) of each
    kernel of the table, the median of several modules."""
    import pycuda.driver as drv
    from pycuda.compiler import compile as compile_source

    ptx = compile_source(CUDA_PRELUDE + COMMON + CUDA_ONLY, no_extern_c=True, cache_dir=False, target="ptx")
    text = ptx.decode() if isinstance(ptx, bytes) else ptx
    result = []
    for row in rows():
        buffers = [drv.to_device(b) for b in row.buffers]
        times = []
        for _ in range(5):
            function = drv.module_from_buffer(ptx).get_function(row.kernel)
            spans = []
            for _ in range(2):
                start = time.perf_counter()
                function(*buffers, *row.scalars, grid=row.grid, block=row.block)
                drv.Context.synchronize()
                spans.append(time.perf_counter() - start)
            times.append((spans[0] - spans[1]) * 1e3)
        result.append((_instructions(text, row.kernel), statistics.median(times)))
    return sorted(result)


def show_all():
    """Measures and prints."""
    import pycuda.autoinit  # noqa: F401
    import pycuda.driver as drv
    from pycuda.compiler import SourceModule

    empty = SourceModule("__global__ void empty() {}").get_function("empty").prepare("")
    block, grid = (256, 1, 1), (1, 1)
    fresh = lambda number: f"__global__ void f(float *z) {{ z[threadIdx.x] = {number + 0.5}f + {os.getpid()}; }}"  # noqa: E731
    buffer = drv.mem_alloc(4096)

    def compile_and_run(number):
        SourceModule(fresh(number), cache_dir=False).get_function("f")(buffer, block=(32, 1, 1))
        drv.Context.synchronize()

    def gcc(number):
        assert build_c(f"void f(float *z) {{ for (int i = 0; i < 32; i++) z[i] = {number}.5f + {os.getpid()}; }}")

    def launch_pocl():
        import pyopencl as cl

        program = PoCL.build("__kernel void empty(void) {}")
        queue, kernel = cl.CommandQueue(program.context), cl.Kernel(program, "empty")

        def once():
            cl.enqueue_nd_range_kernel(queue, kernel, block[:1], block[:1]).wait()

        return per_call_us(once, queue.finish)

    jit = _jit_times()
    instructions, milliseconds = jit[len(jit) // 2]
    slowest = max(jit, key=lambda pair: pair[1])
    launch = per_call_us(lambda: empty.prepared_call(grid, block), drv.Context.synchronize)
    show(
        "Latencies",
        [
            ("prepared launch of one empty block from Python", launch, "us"),
            ("PoCL: launch of one empty work-group, finished", attempt("PoCL", launch_pocl), "us"),
            (f"JIT of the median kernel of the table ({instructions} PTX instructions)", milliseconds, "ms"),
            (f"JIT of its slowest kernel ({slowest[0]} PTX instructions)", slowest[1], "ms"),
            ("source -> result, fresh kernel, this process", median_ms(compile_and_run), "ms"),
            ("the same by gcc -O3 -shared (compile only)", attempt("gcc", lambda: median_ms(gcc)), "ms"),
            ("source -> result in a new process, after import", in_new_process(FIRST_RESULT % "ready"), "ms"),
            ("import pycuda.autoinit to first result in a new process", in_new_process(FIRST_RESULT % "start"), "ms"),
        ],
    )
