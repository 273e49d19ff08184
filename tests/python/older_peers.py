"""Tests that compare with NumPy or SciPy as they are now.

Where older ones are installed (Python 3.10 has none after NumPy 2.2 and SciPy 1.15), their results are others, and the
tests are skipped for the reason that is given here.
"""

import re
from importlib.metadata import PackageNotFoundError, version

#: A package, the version from which on it does the same, why not before, and the tests.
OLDER = [
    (
        "numpy",
        (2, 4),
        "complex inverse functions of infinities and NaN have other signs there",
        r"test_array_api_elementwise\.py::test_special_values_of_one_operand\[special-(acosh|asin|asinh)-complex",
        r"test_special_values\.py::test_one_operand\[arc(cosh|sin|sinh)-complex",
        r"test_special_values\.py::test_complex_numbers_in_kernels",
    ),
    (
        "numpy",
        (2, 4),
        "powers of bool, and those with a float64 array without axes as exponent, have other dtypes",
        r"test_gpuarray_operators\.py::test_powers",
        r"test_formula_types\.py::test_formulas\[power, strong\]",
        r"test_subclasses\.py::test_results_of_a_subclass_that_makes_its_own",
    ),
    (
        "numpy",
        (2, 4),
        "norms and condition numbers of complex matrices are complex, and those without elements are errors",
        r"test_gpuarray_numpy\.py::test_the_result_is_that_of_numpy\[np\.linalg\.cond\(c, 1\)\]",
        r"test_linalg_svd\.py::test_results_are_numpys\[np\.linalg\.(matrix_rank\(e\)|norm\(e, 2\)|cond\(c, )",
    ),
    (
        "numpy",
        (2, 4),
        "quantiles, and sums of float16, are rounded elsewhere",
        r"test_bin_edges\.py::test_quantiles_are_in_the_dtype_of_both",
        r"test_large_arrays\.py::test_all_elements\[\d+-float16\]",
    ),
    (
        "scipy",
        (1, 16),
        "coo_array has no indices, and errors and warnings have other texts",
        r"test_sparse_index\.py::(test_reads\[coo-|test_writes\[cs[rc]-|test_comparisons\[)",
        r"test_sparse_vectors\.py::test_(one_vector|two_vectors_and_an_array)\[",
        r"test_sparse_padding\.py::test_functions_are_those_of_the_elements\[bool\]",
    ),
]


def reason_to_skip(nodeid: str) -> str | None:
    """Why a test cannot be compared with what is installed; None if it can."""
    for package, least, why, *patterns in OLDER:
        try:
            found = tuple(map(int, re.findall(r"\d+", version(package))[:2]))
        except PackageNotFoundError:
            continue
        if found < least and any(re.search(pattern, nodeid) for pattern in patterns):
            return f"{package} {'.'.join(map(str, found))}: {why}"
    return None
