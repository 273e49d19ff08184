"""Sources that nvcc compiles: host code beside kernels, names of its implicit headers, `thrust/complex.h`, options."""

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda.compiler import SourceModule, compile
from tests.python.depth import some

SCALE = "__global__ void scale(float *a, float k) { a[threadIdx.x] *= k; }\n"

HOST_CODE = {
    "marked": "__host__ float host_only(float x) { return x + 1; }\n" + SCALE,
    "launch": SCALE + "void run(float *d) { scale<<<1, 32>>>(d, 2.0f); }\n",
    "main": "#include <stdio.h>\n" + SCALE + """
        int main(int argc, char **argv) {
            float *d; cudaMalloc(&d, 128);
            scale<<<1, 32>>>(d, 2.0f);
            printf("done\\n"); return 0;
        }""",
    "error check": """
        #include <stdio.h>
        static void check(cudaError_t e) { if (e != cudaSuccess) fprintf(stderr, "%s\\n", cudaGetErrorString(e)); }
        #define CHECK(e) check(e)
        """ + SCALE,
    "vector": "#include <vector>\n#include <string>\n#include <unistd.h>\n" + SCALE + """
        static std::vector<float> make(int n) { return std::vector<float>(n); }
        std::string name = "}";
        """,
    "class": SCALE + """
        struct Timer { cudaEvent_t start; Timer() { cudaEventCreate(&start); } ~Timer() { cudaEventDestroy(start); } };
        struct Both {
            float x;
            __device__ float twice() const { return 2 * x; }
            void show() const { std::cerr << x; }
        };
        __global__ void both(float *a) { Both b = { a[0] }; a[0] = b.twice(); }
        """,
    "namespace": "namespace app {\nvoid host() { cudaFree(0); }\n__device__ float one() { return 1; }\n}\n" + SCALE,
    "conditions": SCALE + "#ifndef __CUDA_ARCH__\nint f() { return no; }\n#else\nint g() { return no; }\n#endif\n",
}  # fmt: skip


def scaled(source, **options):
    a = np.ones(32, np.float32)
    SourceModule(source, **options).get_function("scale")(drv.InOut(a), np.float32(3), block=(32, 1, 1))
    return a


@pytest.mark.parametrize("name", HOST_CODE)
def test_host_code_beside_kernels_is_left_out(context, name):
    assert (scaled(HOST_CODE[name]) == 3).all()


def test_host_code_in_a_header_is_left_out(context, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "inner.h").write_text("__device__ float inner(float x) { return x; }\n")
    (tmp_path / "sub" / "check.h").write_text(
        '#include <stdexcept>\n#include "inner.h"\n'
        'static void check(cudaError_t e) { throw std::runtime_error("no"); }\n'
    )
    source = '#include "sub/check.h"\n' + SCALE.replace("*= k", "*= inner(k)")
    assert (scaled(source, include_dirs=[str(tmp_path)]) == 3).all()


@pytest.mark.parametrize(
    "source, line",
    [
        (SCALE + "__global__ void wrong(int *a) { *a = b; }", 2),
        ("float helper(float x) { return y; }\n__global__ void k(float *a) { *a = helper(*a); }", 1),
        ("void host() { cudaFree(0); }\n__device__ int d() { return z; }", 2),
        ("#include <vector>\n__global__ void k(std::vector<int> a) {}", 1),
        ("#define KERNEL __global__\nKERNEL void k(int *a) { *a = b; }", 2),
        ("#define D __device__\n#define I D inline\nI int d() { return z; }\n__global__ void k(int *a) {}", 3),
        ("#define K(name) __global__ void name(int *a)\nK(k) { *a = b; }\n" + SCALE, 2),
        ('#include "words.h"\nKERNEL void k(int *a) { *a = b; }\n' + SCALE, 2),
        ("OPTION void k(int *a) { *a = b; }\n" + SCALE, 1),
        ("OPTION void k(int *a) { *a = b; }", 1),
    ],
)
def test_errors_of_device_code_stay(context, tmp_path, source, line):
    (tmp_path / "words.h").write_text("#define KERNEL __global__\n")
    with pytest.raises(drv.CompileError, match=rf"kernel.cu\({line}\): (catastrophic )?error"):
        SourceModule(source, include_dirs=[str(tmp_path)], options=["-DOPTION=__global__"])


# -- names of nvcc's implicit headers ---------------------------------------------------------------

USE = 'extern "C" __global__ void k(int *a) { T b = 3; a[0] = b; }'
BEFORE = {
    "plain": "", "line comment": "// typedef int T;\n", "block comment": "/* using T = int; */\n",
    "#if 0": "#if 0\ntypedef int T;\n#endif\n", "other language": "#ifdef __OPENCL_VERSION__\ntypedef int T;\n#endif\n",
    "else": "#if 1\n#else\nusing T = int;\n#endif\n", "string": '__device__ const char *s = "typedef int T;";\n',
    "raw string": '__device__ const char *s = R"(struct T;)";\n', "its own": "typedef int T;\n",
    "using": "using T = int;\n",
    "condition that holds": "#ifdef __CUDACC__\ntypedef int T;\n#endif\n",
    "macro": "#define DECLARE(t) typedef int t;\nDECLARE(T)\n",
}  # fmt: skip


@pytest.mark.parametrize("name", BEFORE)
@pytest.mark.parametrize("t", some(["int32_t", "uint8_t", "uint", "int64_t", "ulong"], ["int32_t", "uint8_t"]))
def test_implicit_types_are_there_unless_declared(context, t, name):
    a = np.zeros(1, np.int32)
    module = SourceModule((BEFORE[name] + USE).replace("T", t), no_extern_c=True)
    module.get_function("k")(drv.Out(a), block=(1, 1, 1))
    assert a[0] == 3


def test_int128_needs_no_option(context):
    source = """__global__ void k(unsigned long long *a) {
        unsigned __int128 x = (unsigned __int128)a[0] * a[1];
        a[2] = x >> 64;
    }"""
    a = np.array([2**63, 2**63 + 5, 0], np.uint64)
    SourceModule(source).get_function("k")(drv.InOut(a), block=(1, 1, 1))
    assert int(a[2]) == (2**63 * (2**63 + 5)) >> 64
    SourceModule(source, options=["--device-int128"])


# -- thrust/complex.h -------------------------------------------------------------------------------

COMPLEX_FUNCTIONS = [
    "exp", "log", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "asinh",
    "acosh", "atanh", "conj",
]  # fmt: skip
NUMPY_NAMES = {name: name.replace("a", "arc", 1) for name in COMPLEX_FUNCTIONS if name.startswith("a")}


@pytest.mark.parametrize("dtype, ctype", [(np.complex64, "float"), (np.complex128, "double")], ids=str)
def test_thrust_complex_has_its_functions(context, dtype, ctype):
    lines = [f"out[i++] = thrust::{name}(z);" for name in COMPLEX_FUNCTIONS]
    source = f"""
    #include <thrust/complex.h>
    typedef thrust::complex<{ctype}> C;
    __global__ void k(C *out, const C *in, {ctype} *re) {{
        C z = in[threadIdx.x]; int i = threadIdx.x * {len(lines) + 4};
        {" ".join(lines)}
        out[i++] = pow(z, C(2, 1)); out[i++] = pow(z, 3); out[i++] = pow(2.0f, z);
        out[i++] = thrust::polar(abs(z), arg(z));
        re[threadIdx.x] = norm(z) + z.real() * z.imag();
    }}"""
    z = np.array([1 + 2j, -0.5 + 0.25j, 3 - 1j], dtype)
    out, re = np.zeros((3, len(lines) + 4), dtype), np.zeros(3, z.real.dtype)
    SourceModule(source).get_function("k")(drv.Out(out), drv.In(z), drv.Out(re), block=(3, 1, 1))
    expected = [getattr(np, NUMPY_NAMES.get(name, name))(z) for name in COMPLEX_FUNCTIONS]
    expected = np.stack([*expected, z ** dtype(2 + 1j), z**3, 2**z, z], axis=1)
    np.testing.assert_allclose(
        out, expected, rtol=3e-5 if ctype == "float" else 1e-13, atol=1e-6 if ctype == "float" else 0
    )
    np.testing.assert_allclose(re, abs(z) ** 2 + z.real * z.imag, rtol=1e-5)


def test_thrust_complex_mixes_types(context):
    operands = {
        "f": ("complex<float>(1, 2)", 1 + 2j), "d": ("complex<double>(3, -1)", 3 - 1j), "i": ("3", 3),
        "s": ("1.5f", 1.5), "g": ("0.25", 0.25),
    }  # fmt: skip
    pairs = [(a, b) for a in operands for b in operands if a in "fd" or b in "fd"]
    lines, expected = [], []
    for a, b in pairs:
        for op in "+-*/":
            text = f"{operands[a][0]} {op} {operands[b][0]}"
            size = 16 if {"d", "g"} & {a, b} else 8
            lines.append(f'out[{len(lines)}] = {text}; static_assert(sizeof({text}) == {size}, "the common type");')
            expected.append(eval(f"a {op} b", {"a": operands[a][1], "b": operands[b][1]}))
    source = """
    #include <thrust/complex.h>
    using thrust::complex;
    __global__ void k(complex<double> *out, int *equal) {
        LINES
        out += N;
        complex<float> z(1, 2); z += 1; z *= complex<double>(2, 0); z -= 0.5; z /= 2.0f; *out++ = z;
        volatile float x = z.real(); z.imag(x); *out++ = +z; *out++ = -z;
        equal[0] = (z == z) + (z != 1) + (complex<float>(2) == 2.0) + (2 == complex<double>(2));
        equal[1] = (complex<float>(1) == complex<double>(1)) + (complex<float>(1, 1) != complex<double>(1));
    }"""
    source = source.replace("LINES", "\n".join(lines)).replace("N;", f"{len(lines)};")
    out, equal = np.zeros(len(lines) + 3, np.complex128), np.zeros(2, np.int32)
    SourceModule(source).get_function("k")(drv.Out(out), drv.Out(equal), block=(1, 1, 1))
    np.testing.assert_allclose(out, [*expected, 1.75 + 2j, 1.75 + 1.75j, -1.75 - 1.75j], rtol=1e-6)
    assert equal.tolist() == [4, 2]


def test_thrust_complex_is_used_as_ptypy_does(context):
    source = """
    #include <thrust/complex.h>
    using thrust::complex;
    template <class T> __device__ complex<T> twice(const complex<T> &z) { return T(2) * z; }
    extern "C" __global__ void f(complex<float> *a) {
        __shared__ complex<float> tile[4];
        int i = threadIdx.x; tile[i] = a[i];
        a[i] = tile[i] * complex<float>(0, 1) + conj(a[i]) + thrust::abs(a[i]) + exp(a[i]).real() + twice(a[i]);
    }"""
    z = (np.arange(4) + 1j).astype(np.complex64)
    a = z.copy()
    SourceModule(source, no_extern_c=True).get_function("f")(drv.InOut(a), block=(4, 1, 1))
    np.testing.assert_allclose(a, z * 1j + z.conj() + abs(z) + np.exp(z).real + 2 * z, rtol=1e-5)


# -- options ----------------------------------------------------------------------------------------


def test_the_library_is_asked_for_options(context):
    # Known to NVRTC 13.0, and in no table of ours.
    for option in ("--fassociative-math", "-fassociative-math", "--brief-diagnostics=true", "--jump-table-density=50"):
        assert b"scale" in compile(SCALE, options=[option], target="ptx")
    with pytest.raises(drv.CompileError, match="--frobnicate"):
        compile(SCALE, options=["--frobnicate"])
