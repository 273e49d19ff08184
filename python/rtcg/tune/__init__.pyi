from rtcg.tune._builtin import builtin as builtin
from rtcg.tune._callables import search
from rtcg.tune._generated import tune
from rtcg.tune._kernel import Kernel, auto
from rtcg.tune._kernel_tuner import tune_kernel
from rtcg.tune._report import Report
from rtcg.tune._roofline import Roofline, measure_roofline
from rtcg.tune._runner import CandidateError
from rtcg.tune._space import STRATEGIES, Search, Space
from rtcg.tune._store import Store, store

__all__ = [
    "CandidateError", "Kernel", "Report", "Roofline", "STRATEGIES", "Search", "Space", "Store", "auto", "builtin",
    "log2", "measure_roofline", "next_pow2", "search", "store", "tune", "tune_kernel",
]  # fmt: skip

def log2(value: float) -> int: ...
def next_pow2(value: float) -> int: ...
