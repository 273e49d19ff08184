"""A child of ``opencl.py``: the first platform's versions as a line of JSON, then a figure for each name of a row."""

import json
import sys
import time

import numpy as np
import pyopencl as cl
import pyopencl.array as cl_array
import pyopencl.clrandom as cl_random
from pyopencl.elementwise import ElementwiseKernel
from pyopencl.scan import InclusiveScanKernel

N = 1 << 24
SMALL = 1024
CALLS = 500


class Rows:
    """What the rows work on. A method for each row gives its figure; what it needs is made at its first call."""

    def __init__(self):
        self.context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
        self.queue = cl.CommandQueue(self.context)
        self.kept = {}

    def once(self, name, make):
        if name not in self.kept:
            self.kept[name] = make()
        return self.kept[name]

    def version(self):
        device = self.context.devices[0]
        return f"{device.platform.version.strip()}, driver {device.driver_version}, PyOpenCL {cl.VERSION_TEXT}"

    # -- calls: microseconds ------------------------------------------------------------------

    def host_us(self, call, calls=CALLS):
        """Time of the host for a call, while the device keeps up in the background."""
        self.queue.finish()
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        elapsed = time.perf_counter() - begin
        self.queue.finish()
        return elapsed / calls * 1e6

    def kernel(self):
        def make():
            source = "kernel void add(global float *z, global const float *x, int n) { int i = get_global_id(0); if (i < n) z[i] += x[i]; }"
            kernel = cl.Kernel(cl.Program(self.context, source).build(), "add")
            kernel.set_scalar_arg_dtypes([None, None, np.int32])
            buffers = [cl.Buffer(self.context, cl.mem_flags.READ_WRITE, 128) for _ in range(2)]
            kernel.set_args(*buffers, 32)
            return kernel, buffers

        return self.once("kernel", make)

    def enqueue(self):
        kernel, _ = self.kernel()
        return self.host_us(lambda: cl.enqueue_nd_range_kernel(self.queue, kernel, (32,), (32,)))

    def typed_call(self):
        kernel, (z, x) = self.kernel()
        return self.host_us(lambda: kernel(self.queue, (32,), (32,), z, x, 32))

    def launch_and_wait(self):
        kernel, _ = self.kernel()
        return self.host_us(lambda: cl.enqueue_nd_range_kernel(self.queue, kernel, (32,), (32,)).wait())

    def small(self):
        return self.once("small", lambda: cl_array.to_device(self.queue, np.ones(SMALL, np.float32)))

    def array_sum_host(self):
        a = self.small()
        return self.host_us(lambda: a + a, 200)

    def reduction_small(self):
        a = self.small()
        return self.host_us(lambda: cl_array.sum(a).get(), 100)

    # -- rates: billions of elements a second -------------------------------------------------

    def rate(self, call):
        self.queue.finish()
        begin = time.perf_counter()
        call()
        self.queue.finish()
        return N / (time.perf_counter() - begin) / 1e9

    def large(self, name):
        return self.once(name, lambda: cl_array.to_device(self.queue, np.ones(N, np.float32)))

    def saxpy(self):
        kernel = self.once(
            "saxpy", lambda: ElementwiseKernel(self.context, "float a, float *x, float *y", "y[i] = a * x[i] + y[i]")
        )
        x, y = self.large("x"), self.large("y")
        return self.rate(lambda: kernel(np.float32(0.5), x, y))

    def sum(self):
        return self.rate(lambda: cl_array.sum(self.large("x")))

    def dot(self):
        return self.rate(lambda: cl_array.dot(self.large("x"), self.large("y")))

    def scan(self):
        kernel = self.once("scan", lambda: InclusiveScanKernel(self.context, np.int32, "a + b", neutral="0"))
        x = self.once("integers", lambda: cl_array.to_device(self.queue, np.ones(N, np.int32)))
        out = self.once("sums", lambda: cl_array.empty_like(x))
        return self.rate(lambda: kernel(x, out, queue=self.queue))

    def generator(self):
        return self.once("generator", lambda: cl_random.PhiloxGenerator(self.context))

    def uniform(self):
        return self.rate(lambda: self.generator().fill_uniform(self.large("numbers"), queue=self.queue))

    def normal(self):
        return self.rate(lambda: self.generator().fill_normal(self.large("numbers"), queue=self.queue))


def main():
    rows = Rows()
    print(json.dumps(rows.version()), flush=True)
    for line in sys.stdin:
        try:
            figure = getattr(rows, line.strip())()
        except Exception as error:  # a platform may fail in any way; the table says how
            figure = f"{type(error).__name__}: {error}".strip().splitlines()[0][:160]
        print(json.dumps(figure), flush=True)


if __name__ == "__main__":
    main()
