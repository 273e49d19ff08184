"""Auto-tuning: write variants of a kernel, choose by measurement, and keep the result.

A search tries configurations of a space, checks that each computes the right result, and times it. Results are stored
and looked up at launch. Everything works on real GPUs and on the virtual GPU, whose results are never mixed.

>>> import rtcg.autoinit
>>> from rtcg import tune
>>> source = '''
... __global__ void scale(float *out, const float *in, int n) {
...   for (int i = blockIdx.x * bx + threadIdx.x; i < n; i += gridDim.x * bx) out[i] = 2 * in[i];
... }'''
>>> scale = tune.Kernel(source, "scale", tune.Space(bx=[64, 128, 256], items=[1, 2, 4]), block=("bx",),
...                     grid=("ceil_div(n, bx * items)",), problem=("n",))
>>> import rtcg.numpy as xp
>>> x = xp.ones(10_000, "float32")
>>> report = scale.tune(xp.zeros_like(x), x, n=10_000, budget="9 evaluations", verify=lambda out, x, n: 2 * x)
>>> len(report.trials)
9
"""

from rtcg._conversions import as_number as _as_number, converts as _converts
from rtcg.tune import observers
from rtcg.tune._builtin import builtin
from rtcg.tune._callables import search
from rtcg.tune._generated import tune
from rtcg.tune._kernel import Kernel, auto
from rtcg.tune._kernel_tuner import tune_kernel
from rtcg.tune._nested import NestedReport, Part, nested
from rtcg.tune._refresh import refresh
from rtcg.tune._report import Report
from rtcg.tune._roofline import Roofline, measure_roofline
from rtcg.tune._run import Budget, parse_budget
from rtcg.tune._runner import CandidateError
from rtcg.tune._space import STRATEGIES, Search, Space
from rtcg.tune._store import Store, store
from rtcg.tune._t1 import T1Benchmark, from_t1

__all__ = [
    "Budget", "CandidateError", "Kernel", "NestedReport", "Part", "Report", "Roofline", "STRATEGIES", "Search", "Space",
    "Store", "T1Benchmark", "auto", "builtin", "from_t1", "log2", "measure_roofline", "nested", "next_pow2",
    "observers", "parse_budget", "refresh", "search", "store", "tune", "tune_kernel",
]  # fmt: skip


@_converts(value=_as_number)
def log2(value: float) -> int:
    """Return the integer part of the logarithm to base 2, as a bucket for sizes."""
    return int(value).bit_length() - 1


@_converts(value=_as_number)
def next_pow2(value: float) -> int:
    """Return the next power of two, as a bucket for sizes."""
    return 1 << max(0, int(value) - 1).bit_length()
