"""``printf`` from device code and ``assert`` that holds. Lines are compared in any order."""

from __future__ import annotations

import numpy as np

from tests.kernels.case import Launch, Suite, poisoned

SUITE = Suite("printf_assert")


def _prints(name: str, body: str, lines: tuple[str, ...], grid=(1,), block=(1,), preamble: str = "#include <stdio.h>\n", args=(), params: str = "") -> None:
    SUITE.add(name, f'{preamble}extern "C" __global__ void k({params}) {{ {body} }}', Launch(list(args), grid, block), stdout=lines, no_extern_c=True)


_prints("printf_literal", r'printf("hello from the device\n");', ("hello from the device",))
_prints("printf_needs_no_header", r'printf("%d\n", 5);', ("5",), preamble="")
_prints("printf_cstdio", r'printf("%d %s\n", 7, "seven");', ("7 seven",), preamble="#include <cstdio>\n")
_prints("printf_every_thread", r'printf("block %d thread %d\n", blockIdx.x, threadIdx.x);', tuple(f"block {b} thread {t}" for b in range(3) for t in range(33)), (3,), (33,))
_prints("printf_some_threads", r'if (threadIdx.x % 10 == 3) printf("%u\n", threadIdx.x * 4000000000u);', tuple(str(t * 4000000000 % 2**32) for t in range(3, 50, 10)), (1,), (50,))
_prints("printf_integers", r'printf("%d|%5d|%-5d|%05d|%+d|%u|%x|%X|%#x|%o|%c|%i\n", -42, 42, 42, 42, 42, 3000000000u, 255, 255, 255, 8, 65, 9);',
        ("-42|   42|42   |00042|+42|3000000000|ff|FF|0xff|10|A|9",))
_prints("printf_long_integers", r'printf("%lld %llu %llx %ld %hd\n", -(1ll << 40), 18446744073709551615ull, 0xdeadbeefcafell, -5l, (short)-7);',
        ("-1099511627776 18446744073709551615 deadbeefcafe -5 -7",))
_prints("printf_floats", r'printf("%f|%.3f|%10.2f|%-10.1f|%e|%.2E|%g|%G|%+.0f\n", 1.5f, 3.14159265, 2.345678, 9.99, 12345.678, 0.00012, 1e-10, 1e20, 2.5);',
        ("%f|%.3f|%10.2f|%-10.1f|%e|%.2E|%g|%G|%+.0f" % (1.5, 3.14159265, 2.345678, 9.99, 12345.678, 0.00012, 1e-10, 1e20, 2.5),))
_prints("printf_special_floats", r'float z = blockDim.x - 1.0f; printf("%f %f %f %g\n", 1.0f / z, -1.0f / z, -z, z);', ("inf -inf -0.000000 0",))
_prints("printf_strings_and_percent", r'const char *names[3] = {"alpha", "beta", "gamma"}; printf("%s-%8s-%-8s|%.2s 100%%\n", names[threadIdx.x], names[1], names[2], names[0]);',
        tuple(f"{n}-    beta-gamma   |al 100%" for n in ("alpha", "beta", "gamma")), (1,), (3,))
_prints("printf_star_width_and_many_arguments", r'printf("%d %d %d %d %d %d %d %d %d %d %d %d %s %f\n", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, "end", 0.5);',
        ("1 2 3 4 5 6 7 8 9 10 11 12 end 0.500000",))
_prints("printf_under_divergence_and_in_loops", r'for (int i = 0; i < (int)threadIdx.x; ++i) if ((i + threadIdx.x) & 1) printf("t%d i%d\n", threadIdx.x, i);',
        tuple(f"t{t} i{i}" for t in range(6) for i in range(t) if (i + t) & 1), (1,), (6,))
_prints("printf_in_device_function_with_arguments", r'show("value", x * 2, y);', ("value: 84 and 0.250",),
        preamble='#include <stdio.h>\n__device__ __noinline__ void show(const char *name, int v, float f) { printf("%s: %d and %.3f\\n", name, v, f); }\n',
        args=(np.int32(42), np.float32(0.25)), params="int x, float y")
SUITE.add("printf_returns_the_number_of_arguments", r"""
__global__ void k(int *out) { out[0] = printf("%d %d %s\n", 1, 2, "x"); out[1] = printf("none\n"); }""",
          Launch(["out"]), buffers={"out": poisoned(2, np.int32)}, expect=lambda _: {"out": np.array([3, 0], np.int32)}, stdout=("1 2 x", "none"))
SUITE.add("assert_that_holds", """
#include <assert.h>
extern "C" __global__ void k(int *out) { int i = threadIdx.x; assert(i >= 0 && i < 64); out[i] = i; assert(out[i] == i); }""",
          Launch(["out"], (1,), (64,)), buffers={"out": poisoned(64, np.int32)}, expect=lambda _: {"out": np.arange(64, dtype=np.int32)}, no_extern_c=True)
SUITE.add("assert_disabled_by_ndebug", """
#include <assert.h>
extern "C" __global__ void k(int *out) { assert(threadIdx.x > 1000); out[threadIdx.x] = 3; }""",
          Launch(["out"], (1,), (8,)), buffers={"out": poisoned(8, np.int32)}, expect=lambda _: {"out": np.full(8, 3, np.int32)}, no_extern_c=True, options=("-DNDEBUG",))
SUITE.add("standard_headers", """
#include <math.h>
#include <stdint.h>
#include <stddef.h>
#include <limits.h>
#include <float.h>
#include <string.h>
#include <stdlib.h>
extern "C" __global__ void k(int64_t *out) {
    uint8_t a = 250; a += 10;
    out[0] = a; out[1] = INT_MAX; out[2] = (int64_t)sizeof(size_t); out[3] = UINT32_MAX; out[4] = FLT_MAX > 3e38f; out[5] = (int64_t)(M_PI * 1e9); out[6] = INT64_MIN; out[7] = DBL_DIG;
}""", Launch(["out"]), buffers={"out": poisoned(8, np.int64)},
          expect=lambda _: {"out": np.array([4, 2**31 - 1, 8, 2**32 - 1, 1, 3141592653, -(2**63), 15], np.int64)}, no_extern_c=True)
SUITE.add("macros_from_options", """
__global__ void k(int *out) { out[0] = SIZE * 2 + FLAG; out[1] = sizeof(real);
#ifdef __CUDA_ARCH__
    out[2] = __CUDA_ARCH__ >= 800;
#endif
    out[3] = __CUDACC__ != 0;
}
""".replace("__CUDACC__ != 0", "1"), Launch(["out"]), buffers={"out": poisoned(4, np.int32)}, expect=lambda _: {"out": np.array([43, 8, 1, 1], np.int32)},
          options=("-DSIZE=21", "-DFLAG", "-Dreal=double"))
