"""Link-time optimisation: ``-dlto``, LTO-IR in `Linker` and `DynamicModule`, and what goes wrong with it."""

import numpy as np
import pytest
from subprocesses import run_python

import pycuda.driver as cuda
from pycuda import compiler
from pycuda.compiler import SourceModule

pytestmark = pytest.mark.usefixtures("context")

FUNCTION = """
__device__ int n_calls;
__device__ float third(float x) { atomicAdd(&n_calls, 1); return x / 3; }
"""
KERNEL = """
extern __device__ int n_calls;
__device__ float third(float);
__constant__ float offset = 0.5f;
__global__ void f(float *a, int *calls) { a[threadIdx.x] = third(a[threadIdx.x]) + offset; *calls = n_calls; }
"""
LTO = ["-dlto"]


@pytest.fixture(scope="module", autouse=True)
def library(context, on_virtual_device):
    """nvJitLink, which a machine with a real GPU may lack."""
    if on_virtual_device:
        return
    try:
        SourceModule("__global__ void f() {}", options=LTO)
    except cuda.CompileError as error:
        if "could not load nvJitLink" in str(error):
            pytest.skip(str(error))
        raise


def check(module):
    """The kernel gives third(a) + 0.5 for 32 numbers."""
    a, calls = np.arange(32, dtype=np.float32), np.zeros(1, np.int32)
    expected = a / np.float32(3) + np.float32(0.5)
    module.get_function("f")(cuda.InOut(a), cuda.Out(calls), block=(32, 1, 1))
    assert (a == expected).all()
    assert calls[0] == 32


def test_sources_are_optimised_across_their_borders():
    module = compiler.DynamicModule(no_extern_c=False)
    module.add_source(FUNCTION, nvcc_options=LTO, name="function")
    module.add_source(KERNEL, nvcc_options=LTO, name="kernel").link()
    check(module)
    assert module.get_global_array("offset", np.float32).get().tolist() == [0.5]


def test_intermediate_code_in_a_linker():
    said = []
    linker = cuda.Linker(message_handler=lambda *words: said.append(words), log_verbose=True)
    for name, source in [("function", FUNCTION), ("kernel", KERNEL)]:
        image = compiler.compile(source, target="ltoir", options=[])
        assert image.startswith(b"\xedCN\x7f")
        linker.add_data(image, cuda.jit_input_type.NVVM, name)
    check(linker.link_module())
    assert said[-1][0] is True


def test_intermediate_code_calls_ptx(tmp_path):
    ptx = compiler.compile(FUNCTION, target="ptx", options=["-rdc=true"])
    (tmp_path / "kernel.ltoir").write_bytes(compiler.compile(KERNEL, target="ltoir", options=[]))
    inputs = [
        ("add_data", ptx, cuda.jit_input_type.PTX),
        ("add_file", tmp_path / "kernel.ltoir", cuda.jit_input_type.NVVM),
    ]
    for order in (inputs, inputs[::-1]):
        linker = cuda.Linker()
        for method, image, kind in order:
            getattr(linker, method)(image, kind)
        check(linker.link_module())


def test_one_source_by_itself():
    check(SourceModule(FUNCTION + KERNEL.replace("extern __device__ int n_calls;", ""), options=LTO))
    module = SourceModule(
        "template <int N> __global__ void f(int *a) { *a = N; }",
        options=LTO,
        no_extern_c=True,
        name_expressions=["f<7>"],
    )
    a = np.zeros(1, np.int32)
    module.get_function("f<7>")(cuda.Out(a), block=(1, 1, 1))
    assert a[0] == 7
    # An instance that is asked for later.
    module.get_function("f<8>")(cuda.Out(a), block=(1, 1, 1))
    assert a[0] == 8


def test_options_about_arithmetic_hold_for_the_whole():
    """A product and a sum that are rounded once or twice give different numbers."""
    function = "__device__ float product(float a, float b) { return a * b; }"
    kernel = """__device__ float product(float, float);
    __global__ void f(float *a) { *a = product(a[1], a[1]) - a[2]; }"""
    x = np.float32(1) + np.finfo(np.float32).eps
    rounded = np.float32(x * x)
    once = np.float32(np.float64(x) * np.float64(x) - np.float64(rounded))
    assert once != 0
    for option, expected in [("-fmad=true", once), ("-fmad=false", 0)]:
        module = compiler.DynamicModule()
        module.add_source(function, nvcc_options=[*LTO, option])
        module.add_source(kernel, nvcc_options=LTO).link()
        a = np.array([0, x, rounded], np.float32)
        module.get_function("f")(cuda.InOut(a), block=(1, 1, 1))
        assert a[0] == expected, option


def test_contradictions_and_damage_are_told():
    module = compiler.DynamicModule()
    module.add_source("__device__ int g() { return 1; }", nvcc_options=[*LTO, "-fmad=false"])
    with pytest.raises(cuda.LogicError, match="-fma=1 contradicts -fma=0"):
        module.add_source(KERNEL, nvcc_options=[*LTO, "-fmad=true"])
    said = []
    linker = cuda.Linker(message_handler=lambda *words: said.append(words))
    linker.add_data(b"no intermediate code", cuda.jit_input_type.NVVM, "damaged")
    with pytest.raises(cuda.LogicError, match="nvJitLinkAddData failed: .*does not match type"):
        linker.link_module()
    assert said[-1][0] is False
    linker = cuda.Linker()
    linker.add_data(compiler.compile(KERNEL, target="ltoir", options=[]), cuda.jit_input_type.NVVM, "kernel")
    linker.add_lto_options(["-no-such-option"])
    with pytest.raises(cuda.LogicError, match="unrecognized option: -no-such-option"):
        linker.link_module()


def test_what_is_nowhere_is_named():
    module = compiler.DynamicModule()
    module.add_source(KERNEL, nvcc_options=LTO)
    with pytest.raises(cuda.Error, match="third|n_calls"):
        module.link()


def test_a_missing_library_is_an_error_that_names_its_wheel():
    program = """
    import pycuda.autoinit
    import pycuda.driver as cuda
    from pycuda import compiler
    def source_module():
        compiler.SourceModule("__global__ void f() {}", options=["-dlto"], cache_dir=False)
    def linker():
        image = compiler.compile("__global__ void f() {}", target="ltoir", cache_dir=False)
        cuda.Linker().add_data(image, cuda.jit_input_type.NVVM, "f")
    for act in (source_module, linker):
        try:
            act()
        except (cuda.CompileError, cuda.LogicError) as error:
            print(type(error).__name__, error)
    """
    said = run_python(program, RTCG_NVJITLINK="none").stdout
    for text in ("CompileError link-time optimisation (-dlto) needs nvJitLink", "LogicError nvJitLinkCreate failed"):
        assert text in said
    assert said.count("pip install nvidia-nvjitlink` (CUDA 13) or `pip install nvidia-nvjitlink-cu12`") == 2
