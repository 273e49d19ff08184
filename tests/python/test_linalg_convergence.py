"""Iterations of linear algebra that do not come to an end raise, as NumPy's do."""

import linalg_matrices as m
import numpy as np
import pycuda.autoinit  # noqa: F401
import pytest
from pycuda import gpuarray, linalg
from pycuda._linalg import hestenes as _hestenes, jacobi as _jacobi, schur as _schur, tridiagonal as _tridiagonal

# Of so few iterations, the matrix of 20 or 40 rows would need more.
CASES = {
    "jacobi": (_jacobi, "_SOURCE", "#define SWEEPS 60", 20, ("eigh", "eigvalsh")),
    "ql": (_tridiagonal, "_ROTATE", "#define ITERATIONS 60", 40, ("eigh",)),
    "qr": (_schur, "_SOURCE", "#define ITERATIONS 90", 20, ("eig", "eigvals")),
    "hestenes": (_hestenes, "_SOURCE", "#define SWEEPS 60", 20, ("svd", "svdvals")),
}


@pytest.mark.parametrize("dtype", ["f4", "c16"])
@pytest.mark.parametrize("name", CASES)
def test_too_few_iterations(name, dtype, monkeypatch):
    module, source, limit, n, functions = CASES[name]
    x = gpuarray.to_gpu(m.hermitian(dtype, 2, n))
    text = getattr(module, source)
    assert limit in text
    for function in functions:
        getattr(linalg, function)(x)
    monkeypatch.setattr(module, source, text.replace(limit, limit.rpartition(" ")[0] + " 1"))
    what = "SVD" if name == "hestenes" else "Eigenvalues"
    for function in functions:
        with pytest.raises(np.linalg.LinAlgError, match=f"{what} did not converge"):
            getattr(linalg, function)(x)


def test_too_few_rounds_for_long_columns(monkeypatch):
    x = gpuarray.to_gpu(m.hilbert(40))
    linalg.svd(x)
    monkeypatch.setattr(_hestenes, "_SWEEPS", 1)
    with pytest.raises(np.linalg.LinAlgError, match="SVD did not converge"):
        linalg.svd(x)
