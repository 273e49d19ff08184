"""`pycuda.compiler` on whatever device the tests run on."""

import secrets
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import pycuda.compiler as compiler
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

pytestmark = pytest.mark.usefixtures("context")

TWICE = "__global__ void twice(float *a) { a[threadIdx.x] *= 2; }"


def run_twice(module):
    a = np.arange(4, dtype=np.float32)
    module.get_function("twice")(cuda.InOut(a), block=(4, 1, 1))
    return a.tolist()


def test_source_module():
    assert run_twice(SourceModule(TWICE)) == [0, 2, 4, 6]


def test_source_may_be_any_object_with_str():
    class Code:
        def __str__(self):
            return TWICE

    assert run_twice(SourceModule(Code())) == [0, 2, 4, 6]


@pytest.mark.parametrize(
    "header",
    ["stdio.h", "math.h", "stdint.h", "cstdio", "cuda_fp16.h", "cuComplex.h", "cooperative_groups.h", "curand_kernel.h",
     "pycuda-complex.hpp", "pycuda-helpers.hpp"],
)  # fmt: skip
def test_headers(header):
    assert run_twice(SourceModule(f"#include <{header}>\n{TWICE}")) == [0, 2, 4, 6]


def test_options_and_include_dirs(tmp_path):
    (tmp_path / "factor.h").write_text("#define FACTOR 3\n")
    source = "#include <factor.h>\n__global__ void twice(float *a) { a[threadIdx.x] *= FACTOR + EXTRA; }"
    module = SourceModule(source, options=["-O3", "-DEXTRA=2", "-lineinfo", "-use_fast_math"], include_dirs=[tmp_path])
    assert run_twice(module) == [0, 5, 10, 15]
    (tmp_path / "factor.h").write_text("#define FACTOR 4\n")
    module = SourceModule(source, options=["-O3", "-DEXTRA=2"], include_dirs=[str(tmp_path)])
    assert run_twice(module) == [0, 6, 12, 18]


def test_default_options(monkeypatch):
    monkeypatch.setattr(compiler, "DEFAULT_NVCC_FLAGS", ["-DFACTOR=7"])
    module = SourceModule("__global__ void twice(float *a) { a[threadIdx.x] *= FACTOR; }")
    assert run_twice(module) == [0, 7, 14, 21]


def test_cpp_linkage():
    module = SourceModule(
        """
        template <class T> __device__ T product(T a, T b) { return a * b; }
        extern "C" __global__ void twice(float *a) { a[threadIdx.x] = product(a[threadIdx.x], 2.0f); }
        """,
        no_extern_c=True,
    )
    assert run_twice(module) == [0, 2, 4, 6]


def test_compile_error():
    with pytest.raises(cuda.CompileError) as info:
        SourceModule("// first\n__global__ void f(float *a)\n{\n  a[0] = missing;\n}\n", options=["-lineinfo"])
    error = info.value
    assert isinstance(error, cuda.Error)
    assert error.__class__.__module__ == "rtcg.driver"
    assert "kernel.cu(4)" in error.stderr and "missing" in error.stderr
    assert any("line-info" in option for option in error.command_line)
    assert str(error).startswith(error.msg) and "    a[0] = missing;\n           ^" in str(error)
    assert "line-info" not in str(error)


def test_messages_are_short_however_long_the_source_is():
    source = "__global__ void f(float *a) { " + "a[0] += 1; " * 100_000 + "a[0] = missing; }"
    with pytest.raises(cuda.CompileError) as info:
        SourceModule(source)
    error = info.value
    assert len(str(error)) < 5000
    assert "a[0] = missing;" in str(error)
    assert error.source == source
    assert len(error.stderr) > 1_000_000


def test_attributes_behind_the_brace_decide_about_layouts():
    module = SourceModule("""
        typedef struct { int x; short y; int n; } __align__(32) aligned;
        struct packed { int x; short y; int z; } __attribute__((packed));
        __global__ void sizes(int *a, aligned *b, packed *c) {
            a[0] = sizeof(aligned); a[1] = sizeof(packed); a[2] = (char *)&b[1].y - (char *)b; }
    """)
    sizes = np.zeros(3, np.int32)
    module.get_function("sizes")(cuda.Out(sizes), np.intp(0), np.intp(0), block=(1, 1, 1))
    assert sizes.tolist() == [32, 10, 36]


def test_unknown_option_is_named():
    with pytest.raises(cuda.CompileError, match="--frobnicate"):
        SourceModule(TWICE, options=["--frobnicate"])


@pytest.mark.parametrize("wrong", [{"options": "-O3"}, {"include_dirs": "/tmp"}])
def test_a_text_is_no_sequence(wrong):
    ((name, value),) = wrong.items()
    with pytest.raises(TypeError, match=f"{name} is '{value}'; expected a sequence"):
        SourceModule(TWICE, **wrong)


def test_source_as_bytes_is_refused():
    with pytest.raises(TypeError, match="source is of type bytes; expected str"):
        SourceModule(TWICE.encode())


def test_wrong_target():
    with pytest.raises(AssertionError):
        compiler.compile(TWICE, target="exe")


def test_warnings_once():
    source = f"__global__ void unused_{secrets.token_hex(8)}() {{ int never; }}"
    with pytest.warns(UserWarning, match="never") as caught:
        SourceModule(source)
    # The warning is in the name of the line that compiles, not of the package.
    assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SourceModule(source)


def test_ptx():
    assert b".entry twice(" in compiler.compile(TWICE, target="ptx")
    ptx = compiler.compile_plain(TWICE, [], False, "nvcc", None, "ptx")
    assert b".entry _Z5twicePf(" in ptx


def test_cache_dir(tmp_path, monkeypatch):
    monkeypatch.delenv("PYCUDA_DISABLE_CACHE", raising=False)
    compiler.compile(TWICE, cache_dir=tmp_path)
    assert list(tmp_path.rglob("*.entry"))
    off = tmp_path / "off"
    off.mkdir()
    monkeypatch.setenv("PYCUDA_CACHE_DIR", str(off))
    compiler.compile(TWICE, cache_dir=False)
    assert not list(off.rglob("*.entry"))
    compiler.compile(TWICE)
    assert list(off.rglob("*.entry"))


def test_version():
    assert "NVRTC" in compiler.get_nvcc_version("nvcc")


def test_named_compiler_that_does_not_exist():
    with pytest.raises(cuda.CompileError, match="no-such-nvcc"):
        SourceModule(TWICE, nvcc="/no-such-nvcc")


def test_debugging_keeps_and_does_not_cache(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("PYCUDA_CACHE_DIR", str(tmp_path))
    cuda.set_debugging()
    try:
        compiler.compile(TWICE)
    finally:
        cuda.set_debugging(False)
    assert not list(tmp_path.rglob("*.entry"))
    assert "*** compiler output in" in capfd.readouterr().out


def test_kept_files_are_named_on_standard_output(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PYCUDA_CACHE_DIR", str(tmp_path))
    compiler.compile(TWICE + "// kept", keep=True)
    out, err = capsys.readouterr()
    assert out.startswith("*** compiler output in ") and not err
    assert any(path.suffix == ".cu" for path in Path(out.split(" in ", 1)[1].strip()).iterdir())


def test_threads_compile_at_once():
    """The interpreter is released: other threads run while one compiles."""
    from concurrent.futures import ThreadPoolExecutor

    sources = [f"__global__ void k{i}(float *a) {{ a[0] = {i}; }}" for i in range(8)]
    with ThreadPoolExecutor(4) as pool:
        binaries = list(pool.map(lambda s: compiler.compile(s, target="ptx", cache_dir=False), sources))
    for i, binary in enumerate(binaries):
        assert f".entry k{i}(".encode() in binary


def test_compiling_needs_no_context():
    code = "import pycuda.compiler as c; assert c.compile('__global__ void k() {}')[:4] == b'\\x7fELF'"
    subprocess.run([sys.executable, "-c", code], check=True)


# -- linking at run time ----------------------------------------------------------------------


def test_linking_two_sources():
    module = compiler.DynamicModule()
    module.add_source("__device__ float factor() { return 5; }", name="one.ptx")
    source = "extern __device__ float factor(); __global__ void twice(float *a) { a[threadIdx.x] *= factor(); }"
    assert module.add_source(source, name="two.ptx") is module
    assert module.link() is module
    assert run_twice(module) == [0, 5, 10, 15]


def test_linking_with_something_missing():
    module = compiler.DynamicModule()
    module.add_source("extern __device__ float absent(); __global__ void twice(float *a) { *a = absent(); }")
    # A real driver refuses to link, the virtual GPU to launch: it compiles kernels when they are launched.
    # One that loads lazily says so when the kernel is asked for.
    with pytest.raises(cuda.Error, match="absent|undefined|unresolved|cuLinkComplete|cuModuleGetFunction"):
        run_twice(module.link())


def test_library_that_is_not_there(tmp_path):
    with pytest.raises(OSError, match="no_such_library"):
        compiler.DynamicModule(cuda_libdir=tmp_path).add_stdlib("no_such_library")
