"""Errors in snippets are told with the snippet's name, its own line, and the text of that line."""

import numpy as np
import pytest

import pycuda.gpuarray as gpuarray
from pycuda.compiler import CompileError
from pycuda.elementwise import ElementwiseKernel
from pycuda.reduction import ReductionKernel
from rtcg.scan import ExclusiveScanKernel, GenericScanKernel, InclusiveScanKernel


@pytest.fixture(autouse=True)
def _context(context):
    """Every test here runs in the session's context."""


WRONG = "\n  nowhere"


def elementwise(**snippets):
    kernel = ElementwiseKernel("float *z, float *x", **{"operation": "z[i] = x[i]", **snippets}, name="wrong")
    return lambda z, x: kernel(z, x)


def ranged(**snippets):
    kernel = ElementwiseKernel("float *z, float *x", **{"operation": "z[i] = x[i]", **snippets}, name="wrong")
    return lambda z, x: kernel(z, x, range=slice(0, 2))


def strided(**snippets):
    kernel = ElementwiseKernel("float *z, float *x", **{"operation": "z[i] = x[i]", **snippets}, name="wrong")
    return lambda z, x: kernel(z[::2], x[::2])


def reduction(**snippets):
    settings = {"neutral": "0", "reduce_expr": "a + b", "map_expr": "x[i]", **snippets}
    kernel = ReductionKernel(np.float32, arguments="float *x", **settings)
    return lambda z, x: kernel(x)


def reduction_of_axes(**snippets):
    settings = {"neutral": "0", "reduce_expr": "a + b", "map_expr": "x[i]", **snippets}
    kernel = ReductionKernel(np.float32, arguments="float *x", **settings)
    return lambda z, x: kernel(x.reshape(4, 5), axis=0)


def inclusive(scan_expr, **wishes):
    kernel = InclusiveScanKernel(np.float32, scan_expr, **wishes)
    return lambda z, x: kernel(x)


def exclusive(scan_expr, **wishes):
    kernel = ExclusiveScanKernel(np.float32, scan_expr, neutral="0", **wishes)
    return lambda z, x: kernel(x)


def generic(**snippets):
    settings = {
        "arguments": "float *z, float *x",
        "input_expr": "x[i]",
        "scan_expr": "a + b",
        "neutral": "0",
        "output_statement": "z[i] = item;",
        **snippets,
    }
    kernel = GenericScanKernel(np.float32, **settings)
    return lambda z, x: kernel(z, x)


CASES = [
    ("operation", lambda: elementwise(operation="z[i] =" + WRONG)),
    ("preamble", lambda: elementwise(preamble="// One line." + WRONG)),
    ("loop_prep", lambda: elementwise(loop_prep="int k = 1; (void)k;" + WRONG)),
    ("after_loop", lambda: elementwise(after_loop="(void)x;" + WRONG)),
    ("operation", lambda: ranged(operation="z[i] =" + WRONG)),
    ("operation", lambda: strided(operation="z[i] =" + WRONG)),
    ("map_expr", lambda: reduction(map_expr="x[i] +" + WRONG)),
    ("reduce_expr", lambda: reduction(reduce_expr="a +" + WRONG)),
    ("neutral", lambda: reduction(neutral=WRONG)),
    ("preamble", lambda: reduction(preamble="// One line." + WRONG)),
    ("map_expr", lambda: reduction_of_axes(map_expr="x[i] +" + WRONG)),
    ("scan_expr", lambda: inclusive("a +" + WRONG)),
    ("preamble", lambda: inclusive("a + b", preamble="// One line." + WRONG)),
    ("scan_expr", lambda: exclusive("a +" + WRONG)),
    ("input_expr", lambda: generic(input_expr="x[i] +" + WRONG)),
    ("scan_expr", lambda: generic(scan_expr="a +" + WRONG)),
    ("output_statement", lambda: generic(output_statement="z[i] =" + WRONG)),
    ("is_segment_start_expr", lambda: generic(is_segment_start_expr="x[i] ==" + WRONG)),
    ("neutral", lambda: generic(neutral=WRONG, output_statement="z[i] = prev_item;")),
    ("preamble", lambda: generic(preamble="// One line." + WRONG)),
]


@pytest.mark.parametrize("name, make", CASES, ids=[f"{name}-{k}" for k, (name, _) in enumerate(CASES)])
def test_the_users_own_line_is_named(name, make):
    z, x = gpuarray.zeros(20, np.float32), gpuarray.zeros(20, np.float32)
    with pytest.raises(CompileError) as error:
        make()(z, x)
    text = str(error.value)
    assert f"{name}(2)" in text, text
    assert "kernel.cu(" not in text.split("nowhere")[0], text
    shown = [line for line in text.splitlines() if "nowhere" in line and "error" not in line]
    assert shown, f"the line itself is not shown:\n{text}"
