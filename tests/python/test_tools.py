"""`pycuda.tools`: memoisation by context, C names of dtypes."""

import numpy as np
import pycuda.driver as cuda
import pycuda.tools as tools
import pytest

pytestmark = pytest.mark.usefixtures("context")


def test_bitlog2():
    assert [tools.bitlog2(n) for n in (1, 2, 3, 4, 1023, 1024, 1 << 40)] == [0, 1, 1, 2, 9, 10, 40]


def test_memoised_by_context():
    calls = []

    @tools.context_dependent_memoize
    def function(a, *, b=0):
        """What it does."""
        calls.append((a, b))
        return object()

    first = function(1, b=2)
    assert function(1, b=2) is first and len(calls) == 1
    assert function(2, b=2) is not first and len(calls) == 2
    assert function.__doc__ == "What it does."
    assert function in tools.context_dependent_memoized_functions
    context = cuda.Context.get_device().make_context()
    try:
        assert function(1, b=2) is not first
    finally:
        context.pop()
    assert function(1, b=2) is first
    tools.clear_context_caches()
    assert function(1, b=2) is not first


def test_memoised_failures_are_tried_again():
    attempts = []

    @tools.context_dependent_memoize
    def function():
        attempts.append(1)
        if len(attempts) == 1:
            raise ValueError("once")
        return 7

    with pytest.raises(ValueError):
        function()
    assert function() == 7


@pytest.mark.parametrize(
    "dtype, name",
    [
        (np.float32, "float"),
        ("f8", "double"),
        (np.complex64, "pycuda::complex<float>"),
        (np.complex128, "pycuda::complex<double>"),
        (np.int8, "signed char"),
        (np.uint64, "unsigned long"),
        (np.bool_, "bool"),
    ],
)
def test_c_names(dtype, name):
    assert tools.dtype_to_ctype(dtype) == name


def test_c_names_for_textures():
    assert tools.dtype_to_ctype(np.float64, with_fp_tex_hack=True) == "fp_tex_double"
    assert tools.dtype_to_ctype(np.int32, with_fp_tex_hack=True) == "int"


@pytest.mark.parametrize("dtype", [None, "U5", object, "M8[s]"])
def test_no_c_name(dtype):
    with pytest.raises(ValueError):
        tools.dtype_to_ctype(dtype)


def test_c_names_have_the_right_size():
    from pycuda.compiler import SourceModule

    dtypes = [d for d in map(np.dtype, "?bBhHiIlLfdFD")]
    body = "".join(f"out[{i}] = sizeof({tools.dtype_to_ctype(d)});" for i, d in enumerate(dtypes))
    source = '#include <pycuda-complex.hpp>\nextern "C" __global__ void sizes(int *out) {' + body + "}"
    out = np.zeros(len(dtypes), np.int32)
    SourceModule(source, no_extern_c=True).get_function("sizes")(cuda.Out(out), block=(1, 1, 1))
    assert out.tolist() == [d.itemsize for d in dtypes]
