from rtcg.tune import observers as observers
from rtcg.tune._builtin import builtin as builtin
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

def log2(value: float) -> int: ...
def next_pow2(value: float) -> int: ...
