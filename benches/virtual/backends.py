"""The backends to run a row: the virtual GPU, PoCL, gcc and NumPy. Each makes an action to be timed
and a function that fetches its result."""

import ctypes
import os

import numpy as np
from common import build_c

from .kernels import COMMON, CUDA_ONLY, CUDA_PRELUDE, OPENCL_PRELUDE, C


class VirtualGpu:
    """rtcg on this device, with NVRTC."""

    name = "rtcg"
    compiler = "nvrtc"

    def __init__(self):
        os.environ["RTCG_COMPILER"] = self.compiler
        import pycuda.autoinit
        import pycuda.driver as drv
        from pycuda.compiler import SourceModule

        self.drv, self.device = drv, pycuda.autoinit.device
        self.module = SourceModule(CUDA_PRELUDE + COMMON + CUDA_ONLY, no_extern_c=True)

    def prepare(self, row):
        """The action, and the fetching of its output."""
        buffers = [self.drv.to_device(b) for b in row.buffers]
        function = self.module.get_function(row.kernel)

        def action():
            function(*buffers, *row.scalars, grid=row.grid, block=row.block)
            self.drv.Context.synchronize()

        return action, lambda: self.drv.from_device_like(buffers[0], row.buffers[0])


class VirtualGpuByClang(VirtualGpu):
    """The same with clang, and headers of rtcg."""

    name = "with clang"
    compiler = "clang"


class PoCL:
    """OpenCL on the same cores."""

    name = "PoCL"

    def __init__(self):
        import pyopencl as cl

        self.cl, self.program = cl, self.build(OPENCL_PRELUDE + COMMON)
        self.context = self.program.context
        self.queue = cl.CommandQueue(self.context)

    @staticmethod
    def build(source):
        """Builds `source` with the first PoCL that can: an old one does not know every processor."""
        import pyopencl as cl

        error = LookupError("PoCL is not installed")
        for platform in cl.get_platforms():
            if "Portable" in platform.name:
                try:
                    return cl.Program(cl.Context(platform.get_devices()), source).build()
                except cl.Error as e:
                    error = e
        if "unknown target CPU" in str(error):
            raise LookupError("PoCL does not know this processor; the package pocl-opencl-icd may") from error
        raise error

    def prepare(self, row):
        """As for the virtual GPU."""
        if not row.opencl:
            raise LookupError("-")
        flags = self.cl.mem_flags.READ_WRITE | self.cl.mem_flags.COPY_HOST_PTR
        buffers = [self.cl.Buffer(self.context, flags, hostbuf=b) for b in row.buffers]
        kernel = self.cl.Kernel(self.program, row.kernel)
        size = [g * b for g, b in zip((*row.grid, 1), row.block, strict=True)]

        def action():
            kernel(self.queue, size, row.block, *buffers, *row.scalars).wait()

        def fetch():
            out = np.empty_like(row.buffers[0])
            self.cl.enqueue_copy(self.queue, out, buffers[0])
            return out

        return action, fetch


class Gcc:
    """The loops in C, -O3 -march=native, OpenMP."""

    name = "gcc"

    def __init__(self):
        path = build_c(C, "-march=native", "-fopenmp")
        if path is None:
            raise LookupError("no C compiler")
        self.library = ctypes.CDLL(str(path))

    def prepare(self, row):
        """As for the virtual GPU."""
        if not row.c:
            raise LookupError("-")
        function, out = getattr(self.library, row.kernel), np.empty_like(row.buffers[0])
        pointers = [ctypes.c_void_p(b.ctypes.data) for b in (out, *row.buffers[1:])]
        scalars = [
            ctypes.c_float(s) if isinstance(s, np.float32) else ctypes.c_int(s)
            for s in (row.scalars if row.c_scalars is None else row.c_scalars)
        ]
        return lambda: function(*pointers, *scalars), lambda: out


class NumPy:
    """Array expressions; one thread but for the matrix product."""

    name = "NumPy"

    def prepare(self, row):
        """The action is the reference itself."""
        return row.numpy, None


BACKENDS = [VirtualGpu, VirtualGpuByClang, PoCL, Gcc, NumPy]
