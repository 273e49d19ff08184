"""Compiling CUDA C++ under PyCUDA's names; `rtcg.compiler` documents them and has more."""

from rtcg.compiler import (
    DEFAULT_NVCC_FLAGS as DEFAULT_NVCC_FLAGS,
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
    "CompileError",
    "CudaModule",
    "DEFAULT_NVCC_FLAGS",
    "DynamicModule",
    "DynamicSourceModule",
    "SourceModule",
    "compile",
    "compile_plain",
    "get_nvcc_version",
    "preprocess_source",
]
