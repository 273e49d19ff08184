"""Contexts, memoisation, memory pools, occupancy, and C types of dtypes."""

from collections.abc import Callable, Iterator
from typing import Any, ParamSpec, SupportsIndex, TextIO, TypeVar

from rtcg._arguments import (
    Argument as Argument,
    ScalarArg as ScalarArg,
    VectorArg as VectorArg,
    dtype_to_ctype as dtype_to_ctype,
    get_arg_type as get_arg_type,
    parse_c_arg as parse_c_arg,
)
from rtcg._dtypes import get_or_register_dtype as get_or_register_dtype, register_dtype as register_dtype
from rtcg._native import (
    Context,
    Device,
    DeviceMemoryPool as DeviceMemoryPool,
    PageLockedAllocator as PageLockedAllocator,
    PageLockedMemoryPool as PageLockedMemoryPool,
    PooledDeviceAllocation as PooledDeviceAllocation,
    PooledHostAllocation as PooledHostAllocation,
    Stream,
)

_P = ParamSpec("_P")
_R = TypeVar("_R")

def bitlog2(n: SupportsIndex) -> int: ...
def make_default_context(ctx_maker: Callable[[Device], Context] | None = None) -> Context: ...
def get_default_device(default: int = 0) -> Device: ...

context_dependent_memoized_functions: list[Callable[..., Any]]

def context_dependent_memoize(func: Callable[_P, _R]) -> Callable[_P, _R]: ...
def clear_context_caches() -> None: ...

class DeviceData:
    max_threads: int
    warp_size: int
    warps_per_mp: int
    thread_blocks_per_mp: int
    registers: int
    shared_memory: int
    smem_alloc_granularity: int
    smem_granularity: int
    register_alloc_granularity: int
    register_allocation_unit: str
    limits: dict[str, int]
    def __init__(self, dev: Device | tuple[int, int] | None = None) -> None: ...
    def align(self, bytes: int, word_size: int = 4) -> int: ...
    def align_dtype(self, elements: int, dtype_size: int) -> int: ...
    def align_words(self, word_size: int) -> int: ...
    def align_bytes(self, word_size: int = 4) -> int: ...
    def coalesce(self, thread_count: int) -> int: ...
    @staticmethod
    def make_valid_tex_channel_count(size: int) -> int: ...

class OccupancyRecord:
    tb_per_mp: int
    warps_per_mp: int
    occupancy: float
    limited_by: str
    def __init__(self, devdata: DeviceData, threads: int, shared_mem: int = 0, registers: int = 0) -> None: ...

def init_cuda_context_fixture() -> Iterator[Context]: ...
def mark_cuda_test(inner_f: Callable[_P, _R]) -> Callable[_P, _R]: ...

class DebugMemoryPool(DeviceMemoryPool):
    interactive: bool
    logfile: TextIO | None
    def __init__(self, interactive: bool = True, logfile: TextIO | None = None) -> None: ...
    def allocate(self, size: int, stream: Stream | None = None) -> PooledDeviceAllocation: ...
    def describe(self) -> list[tuple[int, str, int]]: ...
