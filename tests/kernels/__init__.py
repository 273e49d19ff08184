"""CUDA C kernels with independent oracles, one module per feature.

``catalogue.all_cases()`` lists them. ``runner`` runs a case on a backend:
``backend_pycuda`` is the stack under test, ``backend_raw`` reaches libcuda and
NVRTC by ctypes, so that the oracles themselves can be checked on a GPU without
any of this project's code. ``corpus`` has kernels as programs have them, by field. ``python -m tests.kernels.validate`` runs them all.
"""

from tests.kernels.corpus import FAMILIES

#: The feature modules, in the order they run.
FEATURES = (
    "integer",
    "bits",
    "conversions",
    "undefined_values",
    "float32",
    "float64",
    "mathlib_float",
    "mathlib_double",
    "fast_math",
    "half",
    "bfloat16",
    "vectors",
    "control_flow",
    "functions",
    "memory_spaces",
    "shared",
    "warp_ops",
    "warp_synchronous",
    "lane_numbers",
    "tensor_cores",
    "atomics",
    "printf_assert",
    "cooperative_groups",
    "barriers",
    "curand",
    "complex_numbers",
    "algorithms",
    "errors",
    *(f"corpus.{family}" for family in FAMILIES),
)
