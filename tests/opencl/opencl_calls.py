"""The few functions of OpenCL that replaying needs, over ctypes.

A library is a path to ``libOpenCL.so.1``, ours or a loader.
"""

import ctypes
from ctypes import byref, c_int, c_size_t, c_uint, c_uint64, c_void_p

READ_WRITE_COPY = 1 | 32
KERNEL_ARG_TYPE_NAME = 0x1198
PROGRAM_BUILD_LOG = 0x1183


class OpenClError(Exception):
    """A function's code."""


def text_of(info, *arguments):
    """What a function of the kind ``clGet...Info`` says, as text."""
    size = c_size_t()
    if info(*arguments, c_size_t(0), None, byref(size)) != 0:
        return ""
    text = ctypes.create_string_buffer(size.value)
    info(*arguments, size, text, None)
    return text.value.decode(errors="replace")


class Device:
    """The first device of the first platform, with a context and a queue."""

    def __init__(self, library):
        self.cl = ctypes.CDLL(str(library))
        for name in ("Context", "CommandQueue", "ProgramWithSource", "Kernel", "Buffer"):
            getattr(self.cl, f"clCreate{name}").restype = c_void_p
        platform, self.device = c_void_p(), c_void_p()
        self.check("clGetPlatformIDs", c_uint(1), byref(platform), None)
        self.check("clGetDeviceIDs", platform, c_uint64(0xFFFFFFFF), c_uint(1), byref(self.device), None)
        self.context = self.create("clCreateContext", None, c_uint(1), byref(self.device), None, None)
        self.queue = self.create("clCreateCommandQueue", self.context, self.device, c_uint64(0))
        self.programs = {}

    def check(self, name, *arguments):
        code = getattr(self.cl, name)(*arguments)
        if code != 0:
            raise OpenClError(f"{name} gives {code}")

    def create(self, name, *arguments):
        code = c_int()
        made = c_void_p(getattr(self.cl, name)(*arguments, byref(code)))
        if code.value != 0:
            raise OpenClError(f"{name} gives {code.value}")
        return made

    def program(self, source, options):
        """A program, built once for each source and options."""
        key = source, options
        if key not in self.programs:
            text = ctypes.c_char_p(source)
            program = self.create("clCreateProgramWithSource", self.context, c_uint(1), byref(text), None)
            if self.cl.clBuildProgram(program, c_uint(0), None, options, None, None) != 0:
                log = text_of(self.cl.clGetProgramBuildInfo, program, self.device, c_uint(PROGRAM_BUILD_LOG))
                raise OpenClError(f"the program is refused: {log.strip()[:300]}")
            self.programs[key] = program
        return self.programs[key]

    def launch(self, record):
        """Runs a recorded launch; returns its buffers as they are then, and the type's name of each."""
        kernel = self.create("clCreateKernel", self.program(record.source, record.options), record.kernel)
        buffers, types = [], ["" for _ in record.before]
        try:
            for data in record.before:
                size = c_size_t(len(data))
                buffers.append(self.create("clCreateBuffer", self.context, c_uint64(READ_WRITE_COPY), size, data))
            for index, (kind, value) in enumerate(record.arguments):
                self.set_argument(kernel, index, kind, value, buffers, types)
            sizes = [(c_size_t * len(s))(*s) if s else None for s in (record.offset, record.global_, record.local)]
            n_dims = c_uint(len(record.global_))
            self.check("clEnqueueNDRangeKernel", self.queue, kernel, n_dims, *sizes, c_uint(0), None, None)
            self.check("clFinish", self.queue)
            return [self.read(*pair) for pair in zip(buffers, record.before, strict=True)], types
        finally:
            for buffer in buffers:
                self.cl.clReleaseMemObject(buffer)
            self.cl.clReleaseKernel(kernel)

    def set_argument(self, kernel, index, kind, value, buffers, types):
        if kind == "buffer":
            types[value] = text_of(self.cl.clGetKernelArgInfo, kernel, c_uint(index), c_uint(KERNEL_ARG_TYPE_NAME))
            self.check("clSetKernelArg", kernel, c_uint(index), c_size_t(8), byref(buffers[value]))
        elif kind == "local_memory":
            self.check("clSetKernelArg", kernel, c_uint(index), c_size_t(value), None)
        else:
            self.check("clSetKernelArg", kernel, c_uint(index), c_size_t(len(value)), value)

    def read(self, buffer, before):
        data = ctypes.create_string_buffer(len(before))
        size = c_size_t(len(before))
        self.check("clEnqueueReadBuffer", self.queue, buffer, c_uint(1), c_size_t(0), size, data, c_uint(0), None, None)
        return data.raw
