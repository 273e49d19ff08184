"""NVRTC and libcuda by ctypes: checks the oracles with none of this project's code but its C header shims.

``RTCG_KERNELS_LIBCUDA`` names another library to load in place of
``libcuda.so.1``. NVRTC and its headers come from the ``nvidia-*`` wheels of
the running Python or else from a CUDA toolkit.
"""

from __future__ import annotations

import ctypes
import os
import re
import site
import struct
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p
from pathlib import Path
from typing import Any

import numpy as np

from tests.kernels.case import KernelCase, Launch, Texture
from tests.kernels.runner import ROOT, BackendError


def _wheel_roots() -> list[Path]:
    places = [Path(p) for p in [*site.getsitepackages(), site.getusersitepackages(), *sys.path] if p]
    return [p / "nvidia" / "cu13" for p in places if (p / "nvidia" / "cu13").is_dir()]


def _toolkits() -> list[Path]:
    named = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    return [Path(p) for p in named if p and Path(p).is_dir()]


def include_dirs() -> list[str]:
    """Directories with the CUDA headers, CCCL's among them."""
    found = []
    for root in [*_wheel_roots(), *_toolkits()]:
        for sub in ("include", "include/cccl", "targets/x86_64-linux/include", "targets/x86_64-linux/include/cccl"):
            if (root / sub).is_dir():
                found.append(str(root / sub))
    return found


def _load(name: str, *, everywhere: bool = False) -> ctypes.CDLL:
    mode = ctypes.RTLD_GLOBAL if everywhere else ctypes.RTLD_LOCAL
    for root in [*_wheel_roots(), *_toolkits()]:
        for file in sorted([*root.glob(f"lib/{name}*"), *root.glob(f"lib64/{name}*")]):
            if "alt" not in file.name:
                return ctypes.CDLL(str(file), mode=mode)
    return ctypes.CDLL(name, mode=mode)


def header_shims() -> dict[str, bytes]:
    """The C library's headers, which NVRTC lacks, by the name they are included under."""
    crate = ROOT / "crates" / "compile" / "src"
    listed = re.search(r"headers! \{(.*?)\n\}", (crate / "header_shims.rs").read_text(), re.DOTALL)
    pairs = re.findall(r'"([^"]+)" = "([^"]+)"', listed.group(1)) if listed else []
    return {name: (crate / "headers" / file).read_bytes() for name, file in pairs}


class Nvrtc:
    """The few NVRTC calls needed to compile a case."""

    def __init__(self) -> None:
        _load("libnvrtc-builtins.so", everywhere=True)
        self.lib = _load("libnvrtc.so")
        shims = header_shims()
        array = c_char_p * len(shims)
        self.headers = (c_int(len(shims)), array(*shims.values()), array(*(name.encode() for name in shims)))

    def compile(self, source: str, options: Sequence[str], *, want: str = "CUBIN") -> bytes:
        """Compile `source`; `want` is CUBIN or PTX."""
        program = c_void_p()
        self._check(self.lib.nvrtcCreateProgram(byref(program), source.encode(), b"case.cu", *self.headers))
        # With a driver present NVRTC keeps compiled code by itself; a cached cubin was seen to ignore -ftz.
        flags = [*options, "-default-device", "-no-cache", *(f"-I{d}" for d in include_dirs())]
        status = self.lib.nvrtcCompileProgram(
            program, len(flags), (c_char_p * len(flags))(*(f.encode() for f in flags))
        )
        try:
            if status:
                raise BackendError("compile", "CompileError", self._text(program, "ProgramLog"))
            return self._bytes(program, want)
        finally:
            self.lib.nvrtcDestroyProgram(byref(program))

    def _bytes(self, program: c_void_p, what: str) -> bytes:
        size = c_size_t()
        self._check(getattr(self.lib, f"nvrtcGet{what}Size")(program, byref(size)))
        buffer = ctypes.create_string_buffer(size.value)
        self._check(getattr(self.lib, f"nvrtcGet{what}")(program, buffer))
        return buffer.raw

    def _text(self, program: c_void_p, what: str) -> str:
        return self._bytes(program, what).rstrip(b"\0").decode(errors="replace")

    @staticmethod
    def _check(status: int) -> None:
        if status:
            raise BackendError("compile", "NvrtcError", f"NVRTC status {status}")


def translation_unit(case: KernelCase) -> str:
    """The source as SourceModule passes it on."""
    if case.no_extern_c:
        return case.source
    return 'extern "C" {\n' + case.source + "\n}\n"


class Driver:
    """libcuda with every status turned into a `BackendError`."""

    def __init__(self) -> None:
        self.lib = ctypes.CDLL(os.environ.get("RTCG_KERNELS_LIBCUDA", "libcuda.so.1"))

    def call(self, phase: str, name: str, *args: Any) -> None:
        status = getattr(self.lib, name)(*args)
        if status:
            code, text = c_char_p(), c_char_p()
            self.lib.cuGetErrorName(status, byref(code))
            self.lib.cuGetErrorString(status, byref(text))
            words = (text.value or b"?").decode()
            raise BackendError(phase, "CUresult", f"{name} failed: {words}", (code.value or b"?").decode())


#: Values of `CUarray_format`.
_ARRAY_FORMATS = {"uint8": 1, "uint16": 2, "uint32": 3, "int8": 8, "int16": 9, "int32": 10, "float16": 16, "float32": 32}


class RawModule:
    """A loaded cubin."""

    def __init__(self, backend: RawBackend, image: bytes) -> None:
        self.driver = backend.driver
        self.handle = c_void_p()
        self.driver.call("load", "cuModuleLoadData", byref(self.handle), image)

    def __del__(self) -> None:
        self.driver.lib.cuModuleUnload(self.handle)

    def get_global(self, name: str) -> tuple[int, int]:
        address, size = c_uint64(), c_size_t()
        self.driver.call("load", "cuModuleGetGlobal_v2", byref(address), byref(size), self.handle, name.encode())
        return address.value, size.value

    def launch(self, launch: Launch, args: Sequence[Any]) -> None:
        function = c_void_p()
        self.driver.call("load", "cuModuleGetFunction", byref(function), self.handle, launch.kernel.encode())
        if launch.shared > 48 * 1024:
            self.driver.call("launch", "cuFuncSetAttribute", function, c_int(8), c_int(launch.shared))
        held = [ctypes.create_string_buffer(np.asarray(a).tobytes(), np.asarray(a).nbytes) for a in args]
        params = (c_void_p * max(len(held), 1))(*(ctypes.addressof(h) for h in held))
        grid, block = ((*d, 1, 1)[:3] for d in (tuple(launch.grid), tuple(launch.block)))
        dims = [c_uint(int(d)) for d in (*grid, *block)]
        self.driver.call("launch", "cuLaunchKernel", function, *dims, c_uint(launch.shared), None, params, None)


class RawBackend:
    """Context on device 0 through libcuda."""

    name = "raw"

    def __init__(self) -> None:
        self.nvrtc, self.driver = Nvrtc(), Driver()
        self.driver.call("init", "cuInit", c_uint(0))
        self.device, self.context = c_int(), c_void_p()
        self.driver.call("init", "cuDeviceGet", byref(self.device), c_int(0))
        self.driver.call("init", "cuDevicePrimaryCtxRetain", byref(self.context), self.device)
        self.driver.call("init", "cuCtxSetCurrent", self.context)

    def device_name(self) -> str:
        name = ctypes.create_string_buffer(256)
        self.driver.call("init", "cuDeviceGetName", name, c_int(256), self.device)
        return name.value.decode()

    def is_virtual(self) -> bool:
        return "virtual" in self.device_name().lower()

    def _architecture(self) -> int:
        major, minor = c_int(), c_int()
        self.driver.call("init", "cuDeviceGetAttribute", byref(major), c_int(75), self.device)
        self.driver.call("init", "cuDeviceGetAttribute", byref(minor), c_int(76), self.device)
        return 10 * major.value + minor.value

    def compile(self, case: KernelCase) -> RawModule:
        virtual = self.is_virtual()
        own = f"{'compute' if virtual else 'sm'}_{self._architecture()}"
        target = f"--gpu-architecture={virtual and case.arch or own}"
        image = self.nvrtc.compile(translation_unit(case), [*case.options, target], want="PTX" if virtual else "CUBIN")
        return RawModule(self, image)

    def alloc(self, nbytes: int) -> int:
        address = c_uint64()
        self.driver.call("alloc", "cuMemAlloc_v2", byref(address), c_size_t(nbytes))
        return address.value

    def address(self, allocation: int) -> int:
        return allocation

    def free(self, allocation: int) -> None:
        self.driver.call("free", "cuMemFree_v2", c_uint64(allocation))

    def write(self, address: int, data: np.ndarray) -> None:
        data = np.ascontiguousarray(data)
        self.driver.call("copy", "cuMemcpyHtoD_v2", c_uint64(address), c_void_p(data.ctypes.data), c_size_t(data.nbytes))

    def read(self, address: int, into: np.ndarray) -> None:
        self.driver.call("copy", "cuMemcpyDtoH_v2", c_void_p(into.ctypes.data), c_uint64(address), c_size_t(into.nbytes))

    @contextmanager
    def texture(self, texture: Texture) -> Iterator[np.uint64]:
        array, made = c_void_p(), c_uint64()
        texels = np.ascontiguousarray(texture.texels)
        # The structures of cuda.h, written out: CUDA_ARRAY3D_DESCRIPTOR, CUDA_MEMCPY3D, CUDA_RESOURCE_DESC, CUDA_TEXTURE_DESC.
        descr = struct.pack("=QQQIIIi", *texture.extent(), _ARRAY_FORMATS[texels.dtype.name], texels.shape[3], 0, 0)
        self.driver.call("alloc", "cuArray3DCreate_v2", byref(array), descr)
        pitch, rows = texels[0, 0].nbytes, texels.shape[1]
        source = struct.pack("=4QQQQQQQQ", 0, 0, 0, 0, 1, texels.ctypes.data, 0, 0, 0, pitch, rows)
        target = struct.pack("=4QQQQQQQQ", 0, 0, 0, 0, 3, 0, 0, array.value, 0, 0, 0)
        extent = struct.pack("=3Q", pitch, rows, texels.shape[0])
        resource = struct.pack("=QQ120xQ", 0, array.value, 0)
        how = struct.pack("=6I4x3f64x", *[texture.mode] * 3, int(texture.linear), texture.flags(), 0, 0, 0, 0)
        self.driver.call("copy", "cuMemcpy3D_v2", source + target + extent)
        self.driver.call("alloc", "cuTexObjectCreate", byref(made), resource, how, None)
        try:
            yield np.uint64(made.value)
        finally:
            self.driver.lib.cuTexObjectDestroy(made)
            self.driver.lib.cuArrayDestroy(array)

    def synchronize(self) -> None:
        self.driver.call("sync", "cuCtxSynchronize")


def connect() -> RawBackend:
    """The backend, with the primary context of device 0 current."""
    return RawBackend()
