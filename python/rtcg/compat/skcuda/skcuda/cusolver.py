"""cuSOLVER's functions under scikit-cuda's names: those of the library itself, through `rtcg.cusolver`.

Matrices are in column-major order, and arrays are device pointers (``x.gpudata``) or arrays. Handles are the library's.
Functions need a GPU and the wheel nvidia-cusolver, which is opened by the first call; `skcuda.linalg` and `rtcg.linalg`
need neither. A function takes what it takes in C, but for sizes of buffers and other numbers that it returns.
"""

from __future__ import annotations

from typing import Any

from rtcg import _library_calls
from rtcg._native import LibraryError

from .cublas import _CUBLAS_FILL_MODE, _CUBLAS_OP, _CUBLAS_SIDE_MODE, _mode


class CUSOLVER_ERROR(Exception):  # noqa: N801, N818
    """An error of a function of this module."""


_STATUSES = (
    "NOT_INITIALIZED", "ALLOC_FAILED", "INVALID_VALUE", "ARCH_MISMATCH", "MAPPING_ERROR", "EXECUTION_FAILED",
    "INTERNAL_ERROR", "MATRIX_TYPE_NOT_SUPPORTED", "NOT_SUPPORTED", "ZERO_PIVOT", "INVALID_LICENSE",
)  # fmt: skip
CUSOLVER_EXCEPTIONS = {
    code: type(
        f"CUSOLVER_STATUS_{name}", (CUSOLVER_ERROR,), {"__doc__": f"cuSOLVER's status {name}.", "__module__": __name__}
    )
    for code, name in enumerate(_STATUSES, 1)
}
globals().update({error.__name__: error for error in CUSOLVER_EXCEPTIONS.values()})

_CUSOLVER_EIG_TYPE = {1: 1, 2: 2, 3: 3, "CUSOLVER_EIG_TYPE_1": 1, "CUSOLVER_EIG_TYPE_2": 2, "CUSOLVER_EIG_TYPE_3": 3}
_CUSOLVER_EIG_MODE = {0: 0, 1: 1, "CUSOLVER_EIG_MODE_NOVECTOR": 0, "CUSOLVER_EIG_MODE_VECTOR": 1}
_MODES: dict[str, dict[Any, int]] = {
    "uplo": _CUBLAS_FILL_MODE,
    "trans": _CUBLAS_OP,
    "side": _CUBLAS_SIDE_MODE,
    "jobz": _CUSOLVER_EIG_MODE,
}


def cusolverCheckStatus(status: int) -> None:
    """Raise the exception of a status code; 0 is success."""
    if status:
        raise CUSOLVER_EXCEPTIONS.get(status, CUSOLVER_ERROR)


def _forward(raw: _library_calls.RawFunction) -> Any:
    signature = raw.__signature__

    def function(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        for parameter in bound.arguments.keys() & _MODES.keys():
            bound.arguments[parameter] = _mode(parameter, _MODES[parameter], bound.arguments[parameter])
        try:
            return raw(*bound.args, **bound.kwargs)
        except LibraryError as error:
            raise CUSOLVER_EXCEPTIONS.get(error.status or 9, CUSOLVER_ERROR)(str(error)) from error

    function.__name__ = function.__qualname__ = raw.__name__
    function.__doc__ = f"``{raw.__name__}`` of cuSOLVER, which needs a GPU and the wheel nvidia-cusolver."
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


def __getattr__(name: str) -> Any:
    raw = _library_calls.raw_function("cusolver", name) if name.startswith("cusolver") else None
    if raw is not None:
        return globals().setdefault(name, _forward(raw))
    if name.startswith("cusolver"):
        raise AttributeError(f"skcuda.cusolver has no {name}: use the functions of rtcg.cusolver and rtcg.linalg")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
