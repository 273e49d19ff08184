"""From CUDA C++ source to loaded modules."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NoReturn

from pycuda._driver import CompileError as CompileError
from pycuda._rtcg import Function, Module, _Path

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
    target: Literal["cubin", "ptx", "fatbin"] = "cubin",
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
    target: Literal["cubin", "ptx", "fatbin"] = "cubin",
) -> bytes: ...

class CudaModule:
    module: Module
    def get_function(self, name: str) -> Function: ...

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
    ) -> None: ...
    get_global: Callable[[str], tuple[int, int]]
    get_texref: Callable[[str], NoReturn]
    get_surfref: Callable[[str], NoReturn]

class DynamicModule(CudaModule):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class DynamicSourceModule(DynamicModule): ...
