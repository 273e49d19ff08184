"""Notebooks: the cell magic `%%cuda_kernel`, and how devices, modules and functions are shown."""

import inspect

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda.compiler import SourceModule
from tests.python.subprocesses import run_python

pytestmark = pytest.mark.usefixtures("context")

CELL = """
// __global__ void not_a_kernel(int a)
#define SCALE 3
__device__ int helper(int x) { return x + 1; }
__global__ void __launch_bounds__(128)
triple(float *out, const float *__restrict__ in, unsigned int n)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = SCALE * in[i];  /* __global__ void nor_this(int b) { } */
}
__global__ void nothing(void) { }
"""


@pytest.fixture
def shell(context, monkeypatch):
    interactive = pytest.importorskip("IPython.core.interactiveshell")
    # IPython warns if it is another environment than that of these tests.
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    shell = interactive.InteractiveShell.instance()
    shell.history_manager.enabled = False
    shell.run_line_magic("load_ext", "rtcg")
    yield shell
    shell.run_line_magic("unload_ext", "rtcg")
    interactive.InteractiveShell.clear_instance()


def run(shell, source):
    result = shell.run_cell(source)
    result.raise_error()
    return result.result


def completions(shell, text):
    from IPython.core.completer import provisionalcompleter

    with provisionalcompleter():
        return [completion.text for completion in shell.Completer.completions(text, len(text))]


def test_kernels_become_functions(shell):
    kernels = run(shell, f"%%cuda_kernel\n{CELL}")
    assert list(kernels) == ["triple", "nothing"]
    a = np.arange(100, dtype=np.float32)
    out = np.zeros_like(a)
    shell.user_ns.update(a=a, out=out, cuda=cuda, np=np)
    run(shell, "triple(cuda.Out(out), cuda.In(a), np.uint32(100), block=(128, 1, 1)); nothing(block=(1, 1, 1))")
    assert np.array_equal(out, 3 * a)


def test_signature_and_completion(shell):
    run(shell, f"%%cuda_kernel --quiet\n{CELL}")
    triple = shell.user_ns["triple"]
    signature = inspect.signature(triple)
    assert list(signature.parameters) == ["out", "in_", "n", "block", "grid", "stream", "shared"]
    assert signature.parameters["out"].annotation == "float *"
    assert signature.parameters["n"].annotation == "unsigned int"
    assert "triple(float * out" in triple.__doc__ and triple.__name__ == "triple"
    assert "triple" in completions(shell, "tri")
    assert any(text.endswith("prepared_call") for text in completions(shell, "triple.prep"))
    assert triple.num_regs > 0 and "out: 'float *'" in repr(triple)
    with pytest.raises(AttributeError):
        triple.no_such_attribute


def test_options(shell, tmp_path):
    (tmp_path / "answer.h").write_text("#define ANSWER 42\n")
    source = (
        f'%%cuda_kernel -o "-DTWO=2" -o=-lineinfo -I {tmp_path} --no-extern-c --module code\n'
        '#include "answer.h"\n'
        "template <class T> __device__ T twice(T x) { return TWO * x; }\n"
        'extern "C" __global__ void write(int *a) { *a = twice(ANSWER); }\n'
    )
    run(shell, source)
    a = np.zeros(1, np.int32)
    shell.user_ns["write"](cuda.InOut(a), block=(1, 1, 1))
    assert a[0] == 84 and isinstance(shell.user_ns["code"], SourceModule)


@pytest.mark.parametrize(
    "options",
    ["-o -DTWO=2", "-o -DONE=1 -o -DTWO=2 --quiet", "--option -DTWO=2", "-q -o '-DTWO=2'", "-o '-DTWO=2 -DTHREE=3'"],
)
def test_options_of_the_compiler_begin_with_hyphens(shell, options):
    run(shell, f"%%cuda_kernel {options} -o -use_fast_math\n__global__ void f(int *a) {{ *a = TWO; }}\n")
    a = np.zeros(1, np.int32)
    shell.user_ns["f"](cuda.Out(a), block=(1, 1, 1))
    assert a[0] == 2


def test_errors_name_the_lines_of_the_cell(shell, capsys):
    result = shell.run_cell("%%cuda_kernel\n// two\n__global__ void f(int *a)\n{\n    *a = missing;\n}\n")
    error = result.error_in_exec
    assert type(error).__name__ == "UsageError"
    assert '(5): error: identifier "missing" is undefined' in str(error)
    assert "*a = missing;" in str(error)
    assert "f" not in shell.user_ns


@pytest.mark.parametrize("line", ["--no-such-option", "-o"])
def test_wrong_arguments(shell, line, capsys):
    result = shell.run_cell(f"%%cuda_kernel {line}\n__global__ void f() {{ }}\n")
    assert type(result.error_in_exec).__name__ == "UsageError"


def test_kernels_of_cpp(shell):
    run(shell, "%%cuda_kernel --no-extern-c\n__global__ void f(int *a) { *a = 5; }\n")
    a = np.zeros(1, np.int32)
    shell.user_ns["f"](cuda.Out(a), block=(1, 1, 1))
    assert a[0] == 5 and shell.user_ns["f"].__name__ == "f"
    overloaded = "__global__ void g(int *a) { }\n__global__ void g(float *a) { }\n"
    result = shell.run_cell(f"%%cuda_kernel --no-extern-c\n{overloaded}")
    assert "a name of its own" in str(result.error_in_exec)


def test_kernels_are_shown(shell):
    kernels = run(shell, f"%%cuda_kernel\n{CELL}")
    data, _ = shell.display_formatter.format(kernels)
    assert "<th" in data["text/html"] and "triple" in data["text/html"] and "CUDA kernel triple" in data["text/plain"]
    data, _ = shell.display_formatter.format(kernels["triple"])
    assert "registers" in data["text/html"]


def test_devices_modules_and_functions_are_shown(shell):
    module = SourceModule("__global__ void f(int *a) { __shared__ volatile int s[7]; s[a[1]] = *a; *a = s[a[2]]; }")
    device = cuda.Context.get_device()
    for thing, expected in (
        (device, str(device.multiprocessor_count)),
        (module, "registers"),
        (module.module, "shared memory"),
        (module.get_function("f"), "28"),
    ):
        data, _ = shell.display_formatter.format(thing)
        assert "<table>" in data["text/html"] and expected in data["text/html"]
    assert [function.name for function in module.module.get_functions()] == ["f"]


def test_parsing():
    pytest.importorskip("IPython")
    from rtcg.ipython import find_kernels

    assert find_kernels(CELL) == {
        "triple": [("float *", "out"), ("const float *__restrict__", "in"), ("unsigned int", "n")],
        "nothing": [],
    }
    assert find_kernels('extern "C" __global__ static void k(int a[4], float) { }') == {
        "k": [("int[4]", "a"), ("float", "arg1")]
    }
    assert find_kernels('const char *s = "__global__ void no(int x)";') == {}


def test_the_notice_of_the_virtual_gpu_names_the_cell():
    pytest.importorskip("IPython")
    code = r"""
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_cell("%load_ext rtcg")
shell.run_cell("%%cuda_kernel\n__global__ void f(int *a) { *a = 1; }")
"""
    result = run_python(code, check=False, RTCG_VIRTUAL_DEVICES="", RTCG_LIBCUDA="none")
    (line,) = [line for line in result.stderr.splitlines() if "using the virtual GPU" in line]
    assert line.startswith("<ipython-input-"), line
