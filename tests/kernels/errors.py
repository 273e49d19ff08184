"""Kernels that go wrong, and the error that CUDA gives for each.

Device faults make the context unusable, so those cases run in a process of
their own (`faulting`).
"""

from __future__ import annotations

import numpy as np

from tests.kernels.case import ExpectedError, Launch, Ptr, RawPtr, Suite, poisoned

SUITE = Suite("errors")

ILLEGAL = ExpectedError(("CUDA_ERROR_ILLEGAL_ADDRESS",), ("illegal memory access",), ("LogicError",))
MISALIGNED = ExpectedError(("CUDA_ERROR_MISALIGNED_ADDRESS",), ("misaligned address",), ("LogicError",))
TRAP = ExpectedError(("CUDA_ERROR_LAUNCH_FAILED", "CUDA_ERROR_ILLEGAL_INSTRUCTION"), ("unspecified launch failure", "illegal instruction"), ("LaunchError", "LogicError"))
ASSERT = ExpectedError(("CUDA_ERROR_ASSERT",), ("device-side assert triggered",), ("LogicError",))
INVALID = ExpectedError(("CUDA_ERROR_INVALID_VALUE",), ("invalid argument",), ("LogicError",), ("launch",))
NOT_FOUND = ExpectedError(("CUDA_ERROR_NOT_FOUND",), ("named symbol not found",), ("LogicError",), ("load",))
COMPILE = ExpectedError((), ("error",), ("CompileError",), ("compile",))
STACK = ExpectedError(
    ("CUDA_ERROR_ILLEGAL_ADDRESS", "CUDA_ERROR_LAUNCH_FAILED", "CUDA_ERROR_HARDWARE_STACK_ERROR", "CUDA_ERROR_INVALID_ADDRESS_SPACE", "CUDA_ERROR_INVALID_PC"),
    ("illegal memory access", "unspecified launch failure", "hardware stack error", "address space", "program counter"), ("LogicError", "LaunchError"))

_BUFFER = {"out": poisoned(64, np.int32)}
#: Far from every allocation, on any device.
WILD = 0x00001234_56780000


def _fault(name: str, source: str, launch: Launch, error: ExpectedError, **rest) -> None:
    rest.setdefault("buffers", _BUFFER)
    SUITE.add(name, source, launch, error=error, faulting=True, **rest)


_STORE = "__global__ void k(int *out) { out[threadIdx.x] = 7; }"
_fault("null_pointer_write", _STORE, Launch([RawPtr(0)], (1,), (32,)), ILLEGAL)
_fault("null_pointer_read", "__global__ void k(const int *a, int *out) { out[0] = a[0]; }", Launch([RawPtr(0), "out"]), ILLEGAL)
_fault("wild_pointer_write", _STORE, Launch([RawPtr(WILD)], (2,), (64,)), ILLEGAL)
_fault("wild_pointer_read_by_one_lane", "__global__ void k(const int *a, int *out) { out[threadIdx.x] = threadIdx.x == 21 ? a[0] : out[threadIdx.x + 1]; }",
       Launch([RawPtr(WILD), "out"], (1,), (32,)), ILLEGAL)
_fault("far_out_of_bounds_write", "__global__ void k(int *out) { out[(1ll << 38) + threadIdx.x] = 1; }", Launch(["out"], (1,), (32,)), ILLEGAL)
_fault("negative_index_read", "__global__ void k(int *out) { out[0] = out[-(1ll << 36)]; }", Launch(["out"]), ILLEGAL)
_fault("atomic_on_null_pointer", "__global__ void k(int *out) { atomicAdd(out, 1); }", Launch([RawPtr(0)], (1,), (32,)), ILLEGAL)
_fault("fault_in_called_function", "__device__ __noinline__ int get(const int *p, int i) { return p[i]; }\n__global__ void k(const int *a, int *out) { out[threadIdx.x] = threadIdx.x > 40 ? get(a, threadIdx.x) : 0; }",
       Launch([RawPtr(WILD), "out"], (1,), (64,)), ILLEGAL)
_fault("fault_between_barriers", "__global__ void k(int *out) { __shared__ int s[64]; s[threadIdx.x] = 1; __syncthreads(); if (threadIdx.x == 63) *(int *)0x10 = s[0]; __syncthreads(); out[threadIdx.x] = s[63 - threadIdx.x]; }",
       Launch(["out"], (4,), (64,)), ILLEGAL)
_fault("fault_in_last_block_of_many", "__global__ void k(int *out, int *bad) { if (blockIdx.x == 4999) bad[threadIdx.x] = 1; else if (threadIdx.x == 0) out[0] = 1; }",
       Launch(["out", RawPtr(WILD)], (5000,), (32,)), ILLEGAL)
_fault("misaligned_read_of_32_bits", "__global__ void k(const int *a, int *out) { out[0] = *a; }", Launch([Ptr("out", 1), "out"]), MISALIGNED)
_fault("misaligned_write_of_64_bits", "__global__ void k(double *a) { *a = 1.0; }", Launch([Ptr("out", 4)]), MISALIGNED)
_fault("misaligned_vector_read", "__global__ void k(const float4 *a, float *out) { float x, y, z, w; asm volatile(\"ld.global.v4.f32 {%0, %1, %2, %3}, [%4];\" : \"=f\"(x), \"=f\"(y), \"=f\"(z), \"=f\"(w) : \"l\"(a)); out[0] = x + y + z + w; }", Launch([Ptr("out", 8), "out"]), MISALIGNED)
_fault("misaligned_shared_read", "__global__ void k(int offset, int *out) { __shared__ char s[64]; s[threadIdx.x] = 1; __syncthreads(); out[threadIdx.x] = *(int *)(s + offset); }",
       Launch([np.int32(3), "out"], (1,), (32,)), MISALIGNED)
_fault("trap", "__global__ void k(int *out) { out[0] = 1; __trap(); }", Launch(["out"]), TRAP)
_fault("trap_by_one_thread", "__global__ void k(int *out) { if (blockIdx.x == 2 && threadIdx.x == 17) __trap(); out[threadIdx.x] = 1; }", Launch(["out"], (4,), (64,)), TRAP)
_fault("access_that_the_compiler_proved_invalid", "__global__ void k(int *out) { out[0] = 1; if (threadIdx.x == 1) { int *p = nullptr; *p = 3; } }", Launch(["out"], (1,), (32,)), TRAP)
_fault("failed_assert", '#include <assert.h>\nextern "C" __global__ void k(int *out) { assert(threadIdx.x != 5); out[threadIdx.x] = 1; }',
       Launch(["out"], (1,), (32,)), ASSERT, no_extern_c=True)
_fault("failed_assert_in_device_function", '#include <cassert>\n__device__ __noinline__ void check(int v) { assert(v < 60 && "too large"); }\nextern "C" __global__ void k(int *out) { check(threadIdx.x); out[threadIdx.x] = 1; }',
       Launch(["out"], (1,), (64,)), ASSERT, no_extern_c=True)
_fault("runaway_recursion", "__device__ __noinline__ int f(int n, volatile int *p) { int big[64]; for (int i = 0; i < 64; ++i) big[i] = p[i & 3] + n; return p[0] == -5 ? n : f(n + 1, p) + big[n & 63]; }\n"
       "__global__ void k(int *out) { out[0] = f(0, (volatile int *)out); }", Launch(["out"]), STACK)
_fault("error_is_sticky", "__global__ void bad(int *p) { *p = 1; }\n__global__ void k(int *out) { out[threadIdx.x] = 3; }",
       Launch([RawPtr(0)], kernel="bad"), ILLEGAL)
_fault("later_launch_reports_earlier_fault", "__global__ void bad(int *p) { *p = 1; }\n__global__ void k(int *out) { out[threadIdx.x] = 3; }",
       (Launch([RawPtr(WILD)], kernel="bad"), Launch(["out"], (1,), (64,))), ILLEGAL)

# Refused at launch: the context stays usable.
for _name, _launch in {
    "too_many_threads": Launch(["out"], (1,), (1025,)), "too_many_threads_in_two_dimensions": Launch(["out"], (1,), (33, 33)), "block_z_too_large": Launch(["out"], (1,), (1, 1, 65)),
    "zero_threads": Launch(["out"], (1,), (0,)), "zero_blocks": Launch(["out"], (0,), (32,)), "grid_y_too_large": Launch(["out"], (1, 65536), (1,)),
    "too_much_dynamic_shared_memory": Launch(["out"], (1,), (32,), shared=10_000_000)}.items():
    SUITE.add(_name, _STORE, _launch, buffers=_BUFFER, error=INVALID)
SUITE.add("too_many_threads_for_launch_bounds", "__global__ void __launch_bounds__(64) k(int *out) { out[threadIdx.x] = 7; }", Launch(["out"], (1,), (65,)), buffers={"out": poisoned(128, np.int32)}, error=INVALID)
SUITE.add("unknown_kernel", _STORE, Launch(["out"], kernel="nothing"), buffers=_BUFFER, error=NOT_FOUND)
SUITE.add("unknown_global", _STORE, Launch(["out"]), buffers=_BUFFER, globals_in={"nothing": np.zeros(1)}, error=NOT_FOUND)
SUITE.add("syntax_error", "__global__ void k(int *out) { out[0] = ; }", Launch(["out"]), buffers=_BUFFER, error=COMPILE)
SUITE.add("unknown_identifier", "__global__ void k(int *out) { out[0] = missing_function(3); }", Launch(["out"]), buffers=_BUFFER, error=COMPILE)
SUITE.add("type_error", "__global__ void k(int *out) { float *p = out; *p = 1; }", Launch(["out"]), buffers=_BUFFER, error=COMPILE)
SUITE.add("missing_header", '#include "there_is_no_such_header.h"\n__global__ void k(int *out) { out[0] = 1; }', Launch(["out"]), buffers=_BUFFER, error=COMPILE)
