"""Eigenvalues and singular values of sparse arrays and operators, by `crates/sparse/src/eigen`."""

from typing import Any

import numpy as np

from rtcg.numpy import GPUArray

class ArpackError(RuntimeError): ...

class ArpackNoConvergence(ArpackError):
    eigenvalues: GPUArray
    eigenvectors: GPUArray
    def __init__(self, message: str, eigenvalues: GPUArray, eigenvectors: GPUArray) -> None: ...

def vector_dtype(*dtypes: Any) -> np.dtype[Any]: ...
def square_operand(A: Any) -> Any: ...
def eigsh(
    A: Any,
    k: int = 6,
    M: Any = None,
    sigma: float | None = None,
    which: str = "LM",
    v0: Any = None,
    ncv: int | None = None,
    maxiter: int | None = None,
    tol: float = 0,
    return_eigenvectors: bool = True,
    Minv: Any = None,
    OPinv: Any = None,
    mode: str = "normal",
    rng: Any = None,
) -> Any: ...
def svds(
    A: Any,
    k: int = 6,
    ncv: int | None = None,
    tol: float = 0,
    which: str = "LM",
    v0: Any = None,
    maxiter: int | None = None,
    return_singular_vectors: bool | str = True,
    solver: str = "arpack",
    rng: Any = None,
    options: Any = None,
) -> Any: ...
def lobpcg(
    A: Any,
    X: Any,
    B: Any = None,
    M: Any = None,
    Y: Any = None,
    tol: float | None = None,
    maxiter: int | None = None,
    largest: bool = True,
    verbosityLevel: int = 0,
    retLambdaHistory: bool = False,
    retResidualNormsHistory: bool = False,
    restartControl: int = 20,
) -> Any: ...
