"""C functions of NVIDIA's libraries by name (`rtcg._library_calls`), and where the libraries are searched."""

import ctypes.util
import inspect
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import rtcg.numpy as xp
from rtcg import _native, cublas, cufft, cusolver
from tests.python.subprocesses import run_python

pytestmark = pytest.mark.usefixtures("context")

MODULES = {"cublas": cublas, "cufft": cufft, "cusolver": cusolver}


def test_names_and_signatures():
    assert str(inspect.signature(cublas.cublasSdot)) == "(handle, n, x, incx, y, incy, *, result=None)"
    assert cublas.cublasSdot is cublas.cublasSdot_v2 and cublas.cublasSdot.__name__ == "cublasSdot_v2"
    assert list(inspect.signature(cufft.cufftPlan1d).parameters) == ["nx", "type", "batch", "plan"]
    assert "cusolverDnXgeev" in dir(cusolver) and "CUBLAS_OP_T" in dir(cublas) and "gemm" in dir(cublas)
    assert (cublas.CUBLAS_OP_C, cufft.CUFFT_Z2Z, cusolver.CUSOLVER_EIG_MODE_VECTOR) == (2, 0x69, 1)
    assert repr(cufft.cufftDestroy) == "<function rtcg.cufft.cufftDestroy(plan)>"
    for name, module in MODULES.items():
        functions = _native.library_signatures(name)
        assert len(functions) > 30 and len({function for function, _, _ in functions}) == len(functions)
        for function, since, parameters in functions:
            assert function.startswith(name.removesuffix("Dn")) and 6000 <= since <= 13000 and parameters
        with pytest.raises(AttributeError, match=f"module 'rtcg.{name}' has no attribute 'nothing'"):
            module.nothing


def test_arguments_are_converted(on_virtual_device):
    if not on_virtual_device:
        pytest.skip("calls end here where there is no library")
    x = xp.ones(4, np.float32)
    for call, error, said in [
        (lambda: cublas.cublasSscal(None, 4, 2.0), TypeError, "missing a required argument: 'x'"),
        (lambda: cublas.cublasSscal("h", 4, 2.0, x, 1), TypeError, "handle is 'h'; expected a handle"),
        (
            lambda: cublas.cublasSscal(None, 2**32, 2.0, x, 1),
            ValueError,
            "n is 4294967296; expected an integer from -2147",
        ),
        (lambda: cublas.cublasSscal(None, 4.5, 2.0, x, 1), TypeError, "n is 4.5; expected an integer or the name of a"),
        (lambda: cublas.cublasSscal(None, 4, 2j, x, 1), TypeError, "alpha is 2j; expected a real number"),
        (lambda: cublas.cublasSscal(None, 4, "two", x, 1), TypeError, "alpha is 'two'; expected numbers of float32"),
        (lambda: cublas.cublasSscal(None, 4, 2.0, "x", 1), TypeError, "x is 'x'; expected an array on the device or a"),
        (
            lambda: cublas.cublasSetMathMode(None, "CUBLAS_OTHER"),
            TypeError,
            "mode is 'CUBLAS_OTHER'; expected an integ",
        ),
    ]:
        with pytest.raises(error, match=re.escape(said)):
            call()
    # What can be converted ends at the device.
    for call in [
        lambda: cublas.cublasSscal(None, 4, 2, x.gpudata, 1),
        lambda: cublas.cublasZscal(None, 4, 2 - 1j, int(x.gpudata), 1),
        lambda: cublas.cublasSnrm2(None, 4, x, 1, result=x[:1]),
        lambda: cublas.cublasSetMathMode(None, "CUBLAS_PEDANTIC_MATH"),
        lambda: cusolver.cusolverDnXsyevjSetTolerance(None, 1e-3),
        lambda: cufft.cufftPlanMany(2, [4, 4], None, 1, 0, None, 1, 0, "CUFFT_C2C", 2),
    ]:
        with pytest.raises(cublas.LibraryError, match="is virtual"):
            call()
    with pytest.raises(ValueError, match="library is 'curand'; expected 'cublas', 'cufft' or 'cusolver'"):
        _native.library_constants("curand")
    with pytest.raises(TypeError, match="cublasSscal_v2 does not take 2 arguments"):
        _native.library_call("cublas", "cublasSscal_v2", [1, 2], "")


STUB = """
int %sGetProperty(int which, int *value) { *value = which == 0 ? %d : which == 1 ? %d : 0; return 0; }
"""
SEARCH = """
from rtcg import cublas, cufft, cusolver

for module in (cublas, cufft, cusolver):
    try:
        print(module.path(), module.version())
    except module.LibraryError as error:
        print(str(error).replace("\\n", "|"))
"""


def test_where_libraries_are_searched(tmp_path):
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("needs a C compiler on Linux")

    def library(path, prefix, major, minor):
        path.parent.mkdir(parents=True, exist_ok=True)
        source = tmp_path / "stub.c"
        source.write_text(STUB % (prefix, major, minor))
        subprocess.run([compiler, "-shared", "-fPIC", "-o", path, source], check=True)
        return path

    def search(**environment):
        settings = {"VIRTUAL_ENV": tmp_path / "env", "CUDA_HOME": tmp_path / "toolkit", **environment}
        return run_python(SEARCH, **settings).stdout.splitlines()

    site = tmp_path / "env" / "lib" / "python3.12" / "site-packages" / "nvidia"
    for older in ("cublas/lib/libcublas.so.12", "cublas/lib/libcublas.so.11"):
        library(site / older, "cublas", int(older[-2:]), 9)
    in_toolkit = library(tmp_path / "toolkit" / "lib64" / "libcufft.so.11", "cufft", 11, 4)
    # That of another library, which only has such a name.
    library(tmp_path / "toolkit" / "lib64" / "libcusolver.so.11", "other", 1, 2)
    first, second, third = search()
    assert first == f"{site / 'cublas/lib/libcublas.so.12'} (12, 9)"
    assert second == f"{in_toolkit} (11, 4)"
    assert "libcusolver.so.11: is not an cuSOLVER library" in third or ctypes.util.find_library("cusolver")
    newer = library(site / "cu13" / "lib" / "libcublas.so.13", "cublas", 13, 1)
    named = library(tmp_path / "named.so", "cufft", 12, 0)
    first, second, third = search(RTCG_CUFFT=named, RTCG_CUSOLVER="none")
    assert (first, second) == (f"{newer} (13, 1)", f"{named} (12, 0)")
    assert "RTCG_CUSOLVER=none: cuSOLVER is switched off" in third
    assert "`pip install nvidia-cusolver` (CUDA 13) or `nvidia-cusolver-cu12` installs it" in third
