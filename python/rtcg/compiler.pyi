"""Compile CUDA C++ source and load the resulting modules."""

from collections.abc import Sequence
from typing import Any, Literal

from numpy.typing import DTypeLike
from typing_extensions import Self

from rtcg._native import (
    Function,
    GPUArray,
    Module,
    SurfaceReference,
    TextureReference,
    _HostBuffer,
    _JitOptions,
    _MessageHandler,
    _Path,
)
from rtcg.driver import CompileError as CompileError

__all__ = [
    "DEFAULT_NVCC_FLAGS",
    "CompileError",
    "CudaModule",
    "DynamicModule",
    "DynamicSourceModule",
    "SourceModule",
    "compile",
    "compile_plain",
    "get_nvcc_version",
    "preprocess_source",
]

DEFAULT_NVCC_FLAGS: list[str]

def get_nvcc_version(nvcc: str) -> str: ...
def preprocess_source(source: object, options: Sequence[str], nvcc: str) -> str: ...
def compile_plain(
    source: object,
    options: Sequence[str],
    keep: bool,
    nvcc: str,
    cache_dir: _Path | bool | None,
    target: Literal["cubin", "ptx", "fatbin", "ltoir"] = "cubin",
) -> bytes: ...
def compile(
    source: object,
    nvcc: str = "nvcc",
    options: Sequence[str] | None = None,
    keep: bool = False,
    no_extern_c: bool = False,
    arch: str | None = None,
    code: str | None = None,
    cache_dir: _Path | bool | None = None,
    include_dirs: Sequence[_Path] | None = None,
    target: Literal["cubin", "ptx", "fatbin", "ltoir"] = "cubin",
) -> bytes: ...

class CudaModule:
    module: Module
    def get_function(self, name: str) -> Function: ...
    def get_global(self, name: str) -> tuple[int, int]: ...
    def get_texref(self, name: str) -> TextureReference: ...
    def get_surfref(self, name: str) -> SurfaceReference: ...
    def get_global_array(self, name: str, dtype: DTypeLike, shape: int | Sequence[int] | None = None) -> GPUArray: ...

class SourceModule(CudaModule):
    def __init__(
        self,
        source: object,
        nvcc: str = "nvcc",
        options: Sequence[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: _Path | bool | None = None,
        include_dirs: Sequence[_Path] | None = None,
        name_expressions: Sequence[str] = (),
    ) -> None: ...

class DynamicModule(CudaModule):
    def __init__(
        self,
        nvcc: str = "nvcc",
        link_options: _JitOptions | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: _Path | bool | None = None,
        include_dirs: Sequence[_Path] | None = None,
        message_handler: _MessageHandler | None = None,
        log_verbose: bool = False,
        cuda_libdir: _Path | None = None,
    ) -> None: ...
    def add_source(
        self, source: object, nvcc_options: Sequence[str] | None = None, name: str = "kernel.ptx"
    ) -> Self: ...
    def add_data(self, data: _HostBuffer, input_type: int, name: str = "unknown") -> Self: ...
    def add_file(self, filename: _Path, input_type: int) -> Self: ...
    def add_stdlib(self, libname: str) -> Self: ...
    def link(self) -> Self: ...

class DynamicSourceModule(DynamicModule):
    def __init__(
        self,
        source: object,
        nvcc: str = "nvcc",
        options: Sequence[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: _Path | bool | None = None,
        include_dirs: Sequence[_Path] | None = None,
        cuda_libdir: _Path | None = None,
    ) -> None: ...

class _CompileSettings:
    def __init__(
        self,
        nvcc: str,
        options: Sequence[str] | None,
        keep: bool,
        no_extern_c: bool,
        arch: str | None,
        code: str | None,
        cache_dir: _Path | bool | None,
        include_dirs: Sequence[_Path] | None,
    ) -> None: ...
    def make_program(
        self,
        source: object,
        target: str = "cubin",
        options: Sequence[str] | None = None,
        name_expressions: Sequence[str] = (),
    ) -> Any: ...
