"""Kernels and variables by their names in C++, variables as arrays, and programs linked of several."""

import os
from types import SimpleNamespace

import numpy as np
import pytest

import rtcg.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import SourceModule
from rtcg import compiler

pytestmark = pytest.mark.usefixtures("context")

SOURCE = """
namespace ns {
__device__ int value = 7;
__constant__ float table[4] = {1, 2, 3, 4};
template <class T, int n> __global__ void g(T *a) { a[threadIdx.x] = T(n + value); }
__global__ void bump() { ++value; }
texture<float, 2> tex;
__global__ void sample(float *a) { a[threadIdx.x] = tex2D(tex, threadIdx.x, 0); }
}
template <class T> __device__ T counter = T(5);
template <class T> __global__ void f(T *a) { a[threadIdx.x] *= 2; }
template <class T> __global__ void count(T *a) { *a = counter<T>++; }
__global__ void over(float *a) { a[0] = 1; }
__global__ void over(int *a) { a[0] = 2; }
__global__ void plain(float *a) { a[threadIdx.x] = ns::table[threadIdx.x]; }
"""


@pytest.fixture(scope="module")
def module(context):
    return SourceModule(SOURCE, no_extern_c=True)


def run(function, dtype, n=4):
    out = np.full(n, 3, dtype)
    function(cuda.InOut(out), block=(n, 1, 1))
    return out.tolist()


def test_instances_of_templates(module):
    assert run(module.get_function("f<float>"), np.float32) == [6] * 4
    assert run(module.get_function("f<double>"), np.float64) == [6] * 4
    assert run(module.get_function("f<float>"), np.float32) == [6] * 4
    assert run(module.get_function("ns::g<int, 3>"), np.int32) == [10] * 4
    assert run(module.get_function("ns::g< long long , -4 >"), np.int64) == [3] * 4


def test_kernels_without_c_linkage(module):
    assert run(module.get_function("plain"), np.float32) == [1, 2, 3, 4]
    assert run(module.get_function("(void (*)(float *))over"), np.float32, 1) == [1]
    assert run(module.get_function("(void (*)(int *))over"), np.int32, 1) == [2]


def test_the_loaded_module_knows_the_names_itself(module):
    loaded = module.module
    assert run(loaded.get_function("f<float>"), np.float32) == [6] * 4
    assert loaded.get_global("ns::value") == module.get_global("ns::value")
    with pytest.raises(cuda.LogicError, match="absent"):
        loaded.get_function("absent")
    # One that was loaded as a binary knows the names in the binary.
    binary = cuda.module_from_buffer(compiler.compile(SOURCE, no_extern_c=True))
    with pytest.raises(cuda.LogicError, match="plain"):
        binary.get_function("plain")


def test_variables_in_namespaces():
    module = SourceModule(SOURCE, no_extern_c=True)
    value = module.get_global_array("ns::value", np.int32)
    assert isinstance(value, gpuarray.GPUArray) and value.get().tolist() == [7]
    module.get_function("ns::bump")(block=(1, 1, 1))
    assert value.get().tolist() == [8]
    assert module.get_global("ns::value") == (int(value.gpudata), 4) == module.get_global("&ns::value")
    tex = module.get_texref("ns::tex")
    cuda.matrix_to_texref(np.arange(4, dtype=np.float32)[None], tex, "C")
    assert run(module.get_function("ns::sample"), np.float32) == [0, 1, 2, 3]


def test_names_given_at_once_share_variables():
    module = SourceModule(SOURCE, no_extern_c=True, name_expressions=["count<int>", "&counter<int>"])
    counter = module.get_global_array("counter<int>", np.int32)
    counter.set(np.array([40], np.int32))
    assert run(module.get_function("count<int>"), np.int32, 1) == [40]
    assert counter.get().tolist() == [41]


def test_an_instance_with_variables_of_its_own_is_told():
    source = """
    __constant__ float factor;
    template <class T> __global__ void scale(T *a) { a[threadIdx.x] *= factor; }
    """
    module = SourceModule(source, no_extern_c=True)
    with pytest.warns(UserWarning, match=r"'scale<int>' is not used.*: factor\. name_expressions=\['scale<int>'\]"):
        module.get_function("scale<int>")
    module = SourceModule(source, no_extern_c=True, name_expressions=["scale<int>"])
    module.get_global_array("factor", np.float32).set(np.array([2], np.float32))
    assert run(module.get_function("scale<int>"), np.int32) == [6] * 4


def test_names_that_are_not_there(module):
    with pytest.raises(cuda.LogicError, match="'missing'"):
        module.get_function("missing")
    with pytest.raises(cuda.CompileError, match="f<no_such_type>|no_such_type"):
        module.get_function("f<no_such_type>")
    c_linkage = SourceModule("__global__ void f(float *a) {}")
    with pytest.raises(cuda.CompileError, match="no_extern_c"):
        c_linkage.get_function("f<float>")
    with pytest.raises(cuda.LogicError, match="'g'"):
        c_linkage.get_function("g")


def test_names_come_from_the_cache(tmp_path, monkeypatch):
    monkeypatch.delenv("PYCUDA_DISABLE_CACHE", raising=False)
    first = SourceModule(SOURCE, no_extern_c=True, cache_dir=tmp_path)
    run(first.get_function("f<short>"), np.int16)
    entries = sorted(path.name for path in tmp_path.rglob("*.entry"))
    again = SourceModule(SOURCE, no_extern_c=True, cache_dir=tmp_path)
    assert run(again.get_function("f<short>"), np.int16) == [6] * 4
    assert sorted(path.name for path in tmp_path.rglob("*.entry")) == entries


def test_variables_as_arrays():
    module = SourceModule("__device__ float grid[3][4]; __global__ void f() { grid[1][2] = 5; }")
    grid = module.get_global_array("grid", np.float32, (3, 4))
    grid.set(np.arange(12, dtype=np.float32).reshape(3, 4))
    module.get_function("f")(block=(1, 1, 1))
    expected = np.arange(12, dtype=np.float32).reshape(3, 4)
    expected[1, 2] = 5
    assert (grid.get() == expected).all()
    assert (module.module.get_global_array("grid", "f4").get() == expected.ravel()).all()
    assert module.get_global_array("grid", "f4", 5).shape == (5,)
    with pytest.raises(ValueError, match="52 bytes, but 'grid' has 48 bytes"):
        module.get_global_array("grid", np.float32, 13)
    with pytest.raises(ValueError, match="no whole number of"):
        module.get_global_array("grid", np.dtype("V7"))
    # The array holds the module.
    del module
    assert (grid.get() == expected).all()


# -- linking --------------------------------------------------------------------------------------


def test_functions_and_variables_across_programs():
    module = compiler.DynamicModule()
    module.add_source("__device__ int shared = 3; __device__ int twice(int x) { return 2 * x * shared; }", name="a.ptx")
    module.add_source(
        """
        extern __device__ int shared;
        __device__ int twice(int);
        __global__ void f(int *o) { o[0] = twice(21); o[1] = shared; shared = 9; }
        """,
        name="b.ptx",
    )
    module.link()
    out = np.zeros(2, np.int32)
    module.get_function("f")(cuda.Out(out), block=(1, 1, 1))
    assert out.tolist() == [126, 3]
    assert module.get_global_array("shared", np.int32).get().tolist() == [9]


def test_data_files_and_options(tmp_path):
    said = []
    ptx = compiler.compile("__device__ float half(float x) { return x / 2; }", options=["-rdc=true"], target="ptx")
    path = tmp_path / "half.ptx"
    path.write_bytes(ptx)
    options = [(cuda.jit_option.OPTIMIZATION_LEVEL, 2), (cuda.jit_option.MAX_REGISTERS, 32)]
    module = compiler.DynamicModule(
        link_options=options, message_handler=lambda *words: said.append(words), log_verbose=True
    )
    module.add_file(path, cuda.jit_input_type.PTX)
    module.add_source("__device__ float half(float); __global__ void f(float *a) { *a = half(*a); }").link()
    assert run(module.get_function("f"), np.float32, 1) == [1.5]
    assert len(said) == 1 and said[0][0] is True and all(isinstance(text, str) for text in said[0][1:])
    linker = cuda.Linker()
    linker.add_data(ptx, cuda.jit_input_type.PTX, "half")
    assert isinstance(linker.link_module(), cuda.Module)


def test_a_link_that_fails_says_why(on_virtual_device):
    said = []
    linker = cuda.Linker(message_handler=lambda *words: said.append(words))
    with pytest.raises(cuda.Error, match="syntax|Syntax|expected|Parsing|parse|error|JIT"):
        linker.add_data(b".version 7.0\n.target sm_80\n.address_size 64\nnonsense\n", cuda.jit_input_type.PTX, "bad")
        linker.link_module()
    assert said and said[-1][0] is False and said[-1][2]
    with pytest.raises(cuda.Error, match="no-such-file"):
        cuda.Linker().add_file("/no-such-file.ptx", cuda.jit_input_type.PTX)


def test_long_logs_are_whole():
    """A message for each of many lines: more than the 32 KiB that PyCUDA had room for."""
    lines = "".join(f"call (retval), absent_function_of_a_long_name_{i}, ();\n" for i in range(900))
    declarations = "".join(
        f".extern .func (.param .b32 r) absent_function_of_a_long_name_{i} ();\n" for i in range(900)
    )
    text = f"""
    .version 7.0
    .target sm_80
    .address_size 64
    {declarations}
    .visible .entry f()
    {{
    .reg .b32 retval;
    {lines}
    ret;
    }}
    """
    linker = cuda.Linker()
    with pytest.raises(cuda.Error, match="absent_function_of_a_long_name_899"):
        linker.add_data(text.encode(), cuda.jit_input_type.PTX, "long")
        linker.link_module()


def test_kernels_that_launch_kernels(on_virtual_device):
    source = """
    __global__ void child(int *a) { *a = 5; }
    __global__ void parent(int *a) { child<<<1, 1>>>(a); }
    """
    if on_virtual_device:
        with pytest.raises(cuda.Error, match="the virtual GPU does not launch kernels from kernels"):
            compiler.DynamicSourceModule(source)
        return
    try:
        module = compiler.DynamicSourceModule(source)
    except (OSError, RuntimeError) as error:
        pytest.skip(f"no cudadevrt here: {error}")
    assert run(module.get_function("parent"), np.int32, 1) == [5]


@pytest.mark.parametrize("arch", ["sm_100", "compute_90", "sm_120f", "sm_103a"])
def test_architectures_that_the_device_lacks(arch, monkeypatch):
    device = cuda.Context.get_device()
    digits = int("".join(c for c in arch.partition("_")[2] if c.isdigit()))
    loads_nothing = SimpleNamespace(load=lambda source, names: None)
    monkeypatch.setattr(compiler._native, "CompileSettings", lambda *settings: loads_nothing)
    if divmod(digits, 10) > device.compute_capability():
        with pytest.warns(UserWarning, match=f"trying to compile for {arch}"):
            SourceModule("", arch=arch)
    else:
        SourceModule("", arch=arch)


def test_binaries_of_every_kind():
    source = "__global__ void f() {}"
    ptx = compiler.compile(source, target="ptx", arch="compute_90")
    assert b".target sm_90" in ptx and b".entry f(" in ptx
    assert b".target sm_90a" in compiler.compile(source, target="ptx", arch="sm_90a")
    assert b".target sm_100" in compiler.compile(source, target="ptx", arch="sm_100")
    assert compiler.compile(source, target="cubin")


def test_preprocessing_needs_a_program(tmp_path):
    with pytest.raises(cuda.CompileError, match="nvcc could not be started"):
        compiler.preprocess_source("int x;", [], "/no-such-nvcc")
    fake = tmp_path / "nvcc"
    fake.write_text('#!/bin/sh\nshift $(($# - 3))\ncat "$1" | sed s/ABC/42/\n')
    fake.chmod(0o755)
    assert compiler.preprocess_source("int x = ABC;", ["-DABC=42"], os.fspath(fake)) == "int x = 42;"
    fake.write_text("#!/bin/sh\necho went wrong >&2\nexit 3\n")
    with pytest.raises(cuda.CompileError) as info:
        compiler.preprocess_source("int x;", [], os.fspath(fake))
    assert "went wrong" in info.value.stderr
