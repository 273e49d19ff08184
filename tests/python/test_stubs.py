"""What a type checker says to programs that use the package."""

import importlib
import subprocess
import sys

import pytest

from tests.python.subprocesses import ROOT
from tools.docs import MODULES

pytest.importorskip("mypy")

PROGRAM = """
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pycuda.autoinit
import pycuda.driver as cuda
import pycuda.gpuarray as gpuarray
from pycuda.compiler import CompileError, SourceModule
from pycuda.tools import context_dependent_memoize, dtype_to_ctype


@context_dependent_memoize
def doubler(dtype: "np.dtype[Any]") -> cuda.Function:
    source = "__global__ void twice(" + dtype_to_ctype(dtype) + " *a) { a[threadIdx.x] *= 2; }"
    return SourceModule(source, options=["-O3"]).get_function("twice")


def double(a: NDArray[np.float32], stream: cuda.Stream | None = None) -> float:
    function: cuda.Function = doubler(a.dtype)
    memory: cuda.DeviceAllocation = cuda.mem_alloc(a.nbytes)
    cuda.memcpy_htod_async(memory, a, stream)
    seconds: float = function(cuda.InOut(a), block=(4, 1, 1), grid=(1, 1), time_kernel=True)
    function(cuda.InOut(a), block=4)
    function.prepare("P").prepared_async_call((1, 1), (4, 1, 1), stream, memory, shared_size=0)
    cuda.memcpy_dtoh(a, int(memory))
    start, end = cuda.Event().record(stream), cuda.Event().record(stream).synchronize()
    milliseconds: float = end.time_since(start)
    registers: int = function.num_regs
    assert registers >= 0
    return seconds + milliseconds / 1000


def devices() -> list[tuple[str, tuple[int, int], int]]:
    everything = []
    for ordinal in range(cuda.Device.count()):
        device = cuda.Device(ordinal)
        warp: int = device.get_attribute(cuda.device_attribute.WARP_SIZE)
        everything.append((device.name(), device.compute_capability(), warp))
    return everything


class Negated(cuda.In):
    def pre_call(self, stream: cuda.Stream | None) -> None:
        cuda.memcpy_htod(self.get_device_alloc(), -self.array)


def arrays() -> NDArray[Any]:
    a = gpuarray.to_gpu(np.arange(4, dtype=np.float32))
    b: gpuarray.GPUArray = 2 * a + gpuarray.zeros_like(a)
    b -= 1.5
    return (b / a).get()


def errors() -> str:
    try:
        SourceModule("nonsense")
    except CompileError as error:
        return str(error.msg) + str(error.stderr)
    except (cuda.LogicError, cuda.MemoryError, cuda.LaunchError) as error:
        return str(error)
    context: cuda.Context | None = cuda.Context.get_current()
    return str(context) + pycuda.autoinit.device.name()
"""
GENERATED = """
import numpy as np

import rtcg.numpy as rnp
from rtcg.elementwise import ElementwiseKernel
from rtcg.reduction import ReductionKernel
from rtcg.sparse import eye_array

print(eye_array(4).tocsr()[1:3].shape)
softplus = ElementwiseKernel("T x", "T y", "y = log(1 + exp(x))")
print(softplus(rnp.to_gpu(np.ones(4, np.float32))).get())
scale = ElementwiseKernel("float *x, float a", "x[i] *= a")
scale(rnp.ones(4, "f4"), 2, range=range(2), stream=None)
print(round(rnp.ones(4).mean(), 1))
ElementwiseKernel("T x", "T y", "y = x", no_return=True, options=["-lineinfo"])(rnp.ones(4))
norm = ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm")
dot = ReductionKernel(np.float32, "0", "a+b", "x[i] * y[i]", "float *x, float *y", keep=True)
first, second = rnp.ones((2, 4))
print(norm(first), dot(first, second), [int(value.get()) for value in second])
"""

WRONG = {
    "import pycuda.driver as cuda\ncuda.mem_alloc('many')\n": "arg-type",
    "import pycuda.driver as cuda\ncuda.Stream().is_donne()\n": "attr-defined",
    "import pycuda.driver as cuda\ncuda.Event().record(3)\n": "arg-type",
    "import pycuda.driver as cuda\ncuda.device_attribute.WARP\n": "attr-defined",
    "from pycuda.compiler import SourceModule\nSourceModule('', optoins=[])\n": "call-arg",
    "from pycuda.driver import no_such_name\n": "attr-defined",
}


def mypy(tmp_path, *programs):
    paths = []
    for number, text in enumerate(programs):
        path = tmp_path / f"program_{number}.py"
        path.write_text(text)
        paths.append(str(path))
    cache = ROOT / ".mypy_cache"
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", str(cache), *paths]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=tmp_path)


def test_a_typed_program_is_accepted(tmp_path):
    result = mypy(tmp_path, PROGRAM, GENERATED)
    assert result.returncode == 0, result.stdout + result.stderr


def test_wrong_programs_are_not(tmp_path):
    result = mypy(tmp_path, *WRONG)
    lines = result.stdout.splitlines()
    for number, code in enumerate(WRONG.values()):
        assert any(f"program_{number}.py" in line and f"[{code}]" in line for line in lines), (number, result.stdout)


@pytest.mark.usefixtures("context")
def test_type_checkers_know_every_public_name(tmp_path):
    """Also those that are made at run time, of which `make stubs` does not see that they lack a type."""
    modules = {name: getattr(importlib.import_module(name), "__all__", ()) for name in MODULES}
    lines = [f"import {module}\n{module}.{name}" for module in modules for name in modules[module]]
    assert len(lines) > 900
    result = mypy(tmp_path, "\n".join(lines))
    assert "attr-defined" not in result.stdout, result.stdout
