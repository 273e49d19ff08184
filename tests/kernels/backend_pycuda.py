"""The stack under test: `pycuda.driver` and `pycuda.compiler`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

import pycuda.autoinit
import rtcg.driver as cuda
from pycuda.compiler import SourceModule
from tests.kernels.case import KernelCase, Launch, Texture
from tests.kernels.runner import BackendError


@contextmanager
def _phase(name: str) -> Iterator[None]:
    """Report `pycuda`'s exceptions as failures of a phase; other exceptions pass through."""
    try:
        yield
    except cuda.Error as error:
        raise BackendError(name, type(error).__name__, str(error)) from error


class PyModule:
    """A SourceModule."""

    def __init__(self, module: SourceModule) -> None:
        self.module = module

    def get_global(self, name: str) -> tuple[int, int]:
        with _phase("load"):
            address, size = self.module.get_global(name)
            return int(address), int(size)

    def launch(self, launch: Launch, args: Sequence[Any]) -> None:
        with _phase("load"):
            function = self.module.get_function(launch.kernel)
        grid, block = ((*d, 1, 1)[:3] for d in (tuple(launch.grid), tuple(launch.block)))
        with _phase("launch"):
            if launch.shared > 48 * 1024:
                function.set_attribute(cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, launch.shared)
            function(*args, grid=grid, block=block, shared=launch.shared)


class PyBackend:
    """Device and context that `pycuda.autoinit` chose."""

    name = "pycuda"

    def device_name(self) -> str:
        return pycuda.autoinit.device.name()

    def is_virtual(self) -> bool:
        return "virtual" in self.device_name().lower()

    def compile(self, case: KernelCase) -> PyModule:
        with _phase("compile"):
            options = list(case.options)
            with warnings.catch_warnings():
                if case.arch:
                    # The virtual GPU runs what it is not built for; that it says so is not looked at here.
                    warnings.filterwarnings("ignore", f"trying to compile for {case.arch}")
                return PyModule(SourceModule(case.source, options=options, arch=case.arch, no_extern_c=case.no_extern_c))

    def alloc(self, nbytes: int) -> Any:
        with _phase("alloc"):
            return cuda.mem_alloc(nbytes)

    def address(self, allocation: Any) -> int:
        return int(allocation)

    def free(self, allocation: Any) -> None:
        with _phase("free"):
            allocation.free()

    def write(self, address: int, data: np.ndarray) -> None:
        with _phase("copy"):
            cuda.memcpy_htod(address, np.ascontiguousarray(data))

    def read(self, address: int, into: np.ndarray) -> None:
        with _phase("copy"):
            cuda.memcpy_dtoh(into, address)

    @contextmanager
    def texture(self, texture: Texture) -> Iterator[Any]:
        texels = np.ascontiguousarray(texture.texels)
        descr, copy = cuda.ArrayDescriptor3D(), cuda.Memcpy3D()
        descr.width, descr.height, descr.depth = texture.extent()
        descr.format, descr.num_channels = cuda.dtype_to_array_format(texels.dtype), texels.shape[3]
        with _phase("copy"):
            array = cuda.Array(descr)
            copy.set_src_host(texels)
            copy.set_dst_array(array)
            copy.src_pitch = copy.width_in_bytes = texels[0, 0].nbytes
            copy.src_height = copy.height = texels.shape[1]
            copy.depth = texels.shape[0]
            copy()
            made = cuda.texture_object(
                array, address_mode=texture.mode, filter_mode=int(texture.linear), flags=texture.flags()
            )
        yield made
        array.free()

    def synchronize(self) -> None:
        with _phase("sync"):
            cuda.Context.synchronize()


def connect() -> PyBackend:
    """The backend on the context of `pycuda.autoinit`."""
    return PyBackend()


