"""CUDA C++ compiled by clang with the headers of rtcg: kernels of the catalogue, and what the driver of clang does."""

import os
import subprocess
import sys
import zlib

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda.compiler import SourceModule, compile
from tests.kernels.catalogue import all_cases
from tests.kernels.expected_failures import CLANG
from tests.kernels.runner import run_case
from tests.python.depth import at_depth

pytestmark = [
    pytest.mark.usefixtures("context", "clang"),
    pytest.mark.filterwarnings("ignore:The CUDA compiler succeeded:UserWarning"),
]


@pytest.fixture(scope="session")
def backend(context):
    from tests.kernels.backend_pycuda import connect

    return connect()


def cases():
    """All cases, or one in ten of them, of each feature some."""
    return at_depth([case for case in all_cases() if zlib.crc32(case.name.encode()) % 10 == 0], all_cases())


@pytest.mark.parametrize("case", cases(), ids=lambda c: f"{c.feature}-{c.name}")
def test_kernel(case, backend):
    complaints = run_case(backend, case)
    reason = CLANG.get(case.name)
    if reason is None:
        assert not complaints, "\n".join(complaints)
        return
    assert complaints, f"passes, but is listed as an expected failure: {reason}"
    pytest.xfail(reason)


def run(source, *arguments, name="k", **options):
    module = SourceModule(source, **options)
    module.get_function(name)(*arguments, block=(arguments[0].array.size, 1, 1))
    return module


def results(n, dtype=np.int32):
    return drv.Out(np.zeros(n, dtype))


def test_the_version_is_that_of_clang():
    from rtcg.compiler import get_nvcc_version

    assert "clang" in get_nvcc_version("nvcc")


def test_names_of_templates():
    source = """
    template <class T, int N> __global__ void fill(T *a) { a[threadIdx.x] = N; }
    namespace n { __device__ int value = 7; __constant__ float table[2]; }
    """
    module = SourceModule(source, no_extern_c=True, name_expressions=["fill<float, 3>", "&n::value", "n::table"])
    a = np.zeros(4, np.float32)
    module.get_function("fill<float, 3>")(drv.Out(a), block=(4, 1, 1))
    assert (a == 3).all()
    value = np.zeros(1, np.int32)
    drv.memcpy_dtoh(value, module.get_global("n::value")[0])
    assert value[0] == 7 and module.get_global("n::table")[1] == 8


def test_an_instance_that_the_source_names():
    source = """
    template <class T> __global__ void k(T *a) { a[threadIdx.x] = sizeof(T); }
    template __global__ void k<double>(double *);
    """
    a = results(2, np.float64)
    run(source, a, name="k<double>", no_extern_c=True)
    assert (a.array == 8).all()


def test_macros_of_options():
    source = """__global__ void k(int *a) { a[0] = N; a[1] = sizeof(uint); a[2] = 0;
    #ifdef Q
    a[2] = 1;
    #endif
    }"""
    a = results(3)
    SourceModule(source, options=["-DN=7", "-DQ", "-UQ"]).get_function("k")(a, block=(1, 1, 1))
    assert list(a.array) == [7, 4, 0]


def test_unmarked_code_is_for_the_device():
    source = """
    float table[4] = {1, 2, 3, 4};
    static const float weights[3] = {1, 2, 3};
    float square(float x) { return x * x; }
    struct Vector { float x; float length() const { return square(x); } };
    __global__ void k(float *a) {
        int i = threadIdx.x;
        a[i] = Vector{table[i]}.length() + weights[i % 3];
    }
    """
    a = results(4, np.float32)
    run(source, a)
    assert list(a.array) == [2, 6, 12, 17]


def test_host_code_is_left_out():
    source = """
    #include <vector>
    #include <iostream>
    __global__ void k(int *a) { a[threadIdx.x] = 5; }
    int main() { std::vector<int> v(3); k<<<1, 3>>>(v.data()); std::cout << cudaDeviceSynchronize(); return 0; }
    """
    a = results(3)
    run(source, a, no_extern_c=True, name="k")
    assert (a.array == 5).all()


def test_registers_in_inline_assembly():
    source = """__global__ void k(int *a) {
        unsigned lane, warp;
        asm volatile("mov.u32 %0, %laneid;" : "=r"(lane));
        asm("mov.u32 %0, %%warpid;" : "=r"(warp));
        a[threadIdx.x] = lane;
    }"""
    a = results(40)
    run(source, a)
    assert list(a.array) == [i % 32 for i in range(40)]


def test_shared_memory_with_an_alignment():
    source = """extern __shared__ alignas(16) char dynamic[];
    __global__ void k(int *a) {
        __shared__ alignas(32) float fixed[3];
        fixed[0] = 0;
        a[threadIdx.x] = ((size_t)fixed % 32 == 0) + ((size_t)dynamic % 16 == 0);
    }"""
    a = results(1)
    run(source, a)
    assert a.array[0] == 2


def test_errors_have_the_lines_of_the_user_once():
    with pytest.raises(drv.CompileError) as raised:
        SourceModule("__device__ int f(int x) {\n  return y; }\n__global__ void k(int *a) { a[0] = f(1); }")
    text = str(raised.value)
    assert text.count("kernel.cu:2:10: error: use of undeclared identifier 'y'") == 1
    assert text.count("return y;") == 1 and "program.cu" not in text and "clang" in text


def test_warnings_that_are_errors():
    with pytest.raises(drv.CompileError, match="division by zero"):
        compile("__global__ void k(int *a) { a[0] = 1 / 0; }", options=["-Werror", "all-warnings"])


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ('#include "nothere.h"\n', "nothere.h was not found: name its directory in include_dirs"),
        ("template <class T> __global__ void k(T *a) {}", "no_extern_c=True"),
    ],
)
def test_hints(source, said):
    with pytest.raises(drv.CompileError, match=said):
        compile(source)


def test_link_time_optimisation_needs_nvrtc():
    with pytest.raises(drv.CompileError, match="RTCG_COMPILER=nvrtc"):
        compile("__global__ void k() {}", options=["-dlto"])


def test_a_compiler_that_does_not_exist(monkeypatch):
    monkeypatch.setenv("RTCG_COMPILER", "gcc")
    with pytest.raises(drv.CompileError, match="RTCG_COMPILER=gcc: expected nvrtc, clang or auto"):
        compile("__global__ void k() {}")


def test_results_are_cached_until_a_header_changes(tmp_path):
    header = tmp_path / "value.h"
    source = '#include "value.h"\n__global__ void k(int *a) { a[threadIdx.x] = VALUE; }'
    for value in (1, 2):
        header.write_text(f"#define VALUE {value}\n")
        for _ in range(2):
            a = results(1)
            run(source, a, include_dirs=[str(tmp_path)], cache_dir=str(tmp_path / "cache"))
            assert a.array[0] == value


@pytest.mark.parametrize(
    ("options", "instruction"),
    [
        ([], "div.rn.f32"),
        (["-prec-div=false"], "div.full.f32"),
        (["-use_fast_math"], "div.approx.ftz.f32"),
        (["-ftz=true"], "div.rn.ftz.f32"),
    ],
)
def test_options_of_arithmetic(options, instruction):
    ptx = compile("__global__ void k(float *a) { a[0] = a[1] / a[2]; }", target="ptx", options=options)
    assert instruction.encode() in ptx


@pytest.mark.parametrize("fmad", [True, False])
def test_products_and_sums_are_fused_where_that_is_allowed(fmad):
    source = "__global__ void k(float *a) { a[0] = a[1] * a[2] + a[3]; }"
    ptx = compile(source, target="ptx", options=[f"-fmad={str(fmad).lower()}"])
    assert (b"fma.rn.f32" in ptx) == fmad


def test_faults_name_lines_of_the_source(on_virtual_device):
    if not on_virtual_device:
        pytest.skip("reports of the virtual GPU")
    program = """
import numpy as np
import pycuda.autoprimaryctx
import pycuda.driver as drv
from pycuda.compiler import SourceModule
module = SourceModule('''
__global__ void k(int *a)
{
    a[100000000] = 1;
}''')
module.get_function("k")(drv.InOut(np.zeros(4, np.int32)), block=(1, 1, 1))
drv.Context.synchronize()
"""
    environment = {**os.environ, "RTCG_COMPILER": "clang", "RTCG_CHECK": "1"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.returncode != 0 and "kernel.cu:4" in done.stderr, done.stderr


def test_integers_that_are_too_large_for_half():
    source = """#include <cuda_fp16.h>
    __global__ void k(unsigned *a) { a[threadIdx.x] = __half2uint_rz(__uint2half_rn(__brev(threadIdx.x))) & 30u; }
    """
    a = results(8, np.uint32)
    run(source, a)
    assert list(a.array) == [0] + [30] * 7


SPECIAL = [
    "NAN",
    "-NAN",
    "INFINITY",
    "-INFINITY",
    "1e30",
    "-1e30",
    "2.5",
    "-2.5",
    "3e9",
    "-3e9",
    "1e-40",
    "-1e-40",
    "65504",
    "-129",
]


@pytest.mark.parametrize("flushes", [False, True], ids=["", "ftz"])
def test_conversions_of_constants_are_those_of_the_device(flushes):
    """What the compiler folds against the same number that it does not know."""
    names = [f"__{kind}2{to}_{mode}" for kind in ("float", "double", "half", "bfloat16") for to in
             ("int", "uint", "ll", "ull") for mode in ("rn", "rz", "rd", "ru")]  # fmt: skip
    names += ["(signed char)", "(unsigned char)", "(short)", "(unsigned short)", "(int)", "(unsigned)", "(long long)"]
    calls = []
    for name in names:
        kinds = {"f": "float", "d": "double", "h": "__half", "b": "__nv_bfloat16"}.get(name[2], None)
        for kind in [kinds] if kinds else ["float", "double"]:
            for at, value in enumerate(SPECIAL):
                for number in (f"({kind})({value})", f"({kind})given[{at}]"):
                    calls.append(f"out[{len(calls)}] = (long long){name}({number});")
    source = f"""
    #include <cuda_fp16.h>
    #include <cuda_bf16.h>
    __global__ void k(const double *given, long long *out) {{ {" ".join(calls)} }}"""
    value = {"NAN": np.nan, "-NAN": -np.nan, "INFINITY": np.inf, "-INFINITY": -np.inf}
    given = np.array([value[text] if text in value else float(text) for text in SPECIAL])
    out = np.zeros(len(calls), np.int64)
    module = SourceModule(source, options=["--ftz=true"] if flushes else [])
    module.get_function("k")(drv.In(given), drv.Out(out), block=(1, 1, 1))
    different = [f"{calls[2 * i]} gives {a}, unknown {b}" for i, (a, b) in enumerate(out.reshape(-1, 2)) if a != b]
    assert not different, "\n".join(different)


def test_the_version_follows_the_choice_of_compiler(monkeypatch):
    from rtcg.compiler import get_nvcc_version

    pytest.importorskip("nvidia")
    assert "clang" in get_nvcc_version("nvcc")
    monkeypatch.setenv("RTCG_COMPILER", "nvrtc")
    assert "NVRTC" in get_nvcc_version("nvcc")
