"""Compiling CUDA C++ under PyCUDA's names; `rtcg.compiler` documents them and has more."""

import rtcg.compiler
from rtcg._shared_values import share_module_values
from rtcg.compiler import (
    CompileError as CompileError,
    CudaModule as CudaModule,
    DynamicModule as DynamicModule,
    DynamicSourceModule as DynamicSourceModule,
    SourceModule as SourceModule,
    compile as compile,
    compile_plain as compile_plain,
    get_nvcc_version as get_nvcc_version,
    preprocess_source as preprocess_source,
)

__all__ = [
    "CompileError", "CudaModule", "DEFAULT_NVCC_FLAGS",  # noqa: F822 (shared, see below)
    "DynamicModule", "DynamicSourceModule", "SourceModule",
    "compile", "compile_plain", "get_nvcc_version", "preprocess_source",
]  # fmt: skip

share_module_values(__name__, rtcg.compiler, "DEFAULT_NVCC_FLAGS")
