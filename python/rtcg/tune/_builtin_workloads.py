"""The workloads of ``python -m rtcg tune builtin``: array calls by families, of usual sizes for the device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from rtcg.numpy import GPUArray

    _Workload: TypeAlias = tuple[str, Callable[..., Any], dict[str, Any]]

#: Bytes of the largest arrays on a GPU.
_GPU_BYTES = 1 << 28

FAMILIES = ("matmul", "einsum", "reduce", "scan", "sort", "fft", "linalg")


def workloads(family: str, is_virtual: bool) -> Iterator[tuple[str, Callable[[], Any], dict[str, Any]]]:
    """``(name, function, options)`` of each call of a family; arrays are created when a call is requested."""
    return {
        "matmul": _products, "reduce": _reductions, "scan": _scans, "sort": _sorts, "fft": _transforms,
        "linalg": _factorizations, "einsum": _contractions,
    }[family](is_virtual)  # fmt: skip


def _random(shape: tuple[int, ...], dtype: DTypeLike) -> GPUArray:
    import rtcg.numpy as xp

    rng = np.random.default_rng(0)
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        values = rng.standard_normal((*shape, 2), np.float64).view(complex)[..., 0]
    elif dtype.kind == "f":
        values = rng.standard_normal(shape, np.float32)
    else:
        values = rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype)
    return xp.asarray(values.astype(dtype))


def _products(is_virtual: bool) -> Iterator[_Workload]:
    sizes = [(256,) * 3, (512,) * 3] if is_virtual else [
        (512,) * 3, (1024,) * 3, (2048,) * 3, (4096,) * 3, (8192, 8192, 1024), (1, 4096, 4096), (4096, 16, 4096),
        (16, 16, 262144), (64, 64, 65536),
    ]  # fmt: skip
    dtypes = ["float32", "float64"] if is_virtual else ["float16", "float32", "float64", "complex64", "complex128"]
    for m, n, k in sizes:
        for dtype in dtypes:
            a, b = _random((m, k), dtype), _random((k, n), dtype)
            # Sums over k that start with other terms differ by their rounding.
            size = np.sqrt(k) * {"float16": 2e-3, "float32": 1e-5, "complex64": 1e-5}.get(dtype, 1e-12)
            yield f"{dtype} ({m}, {k}) @ ({k}, {n})", lambda a=a, b=b: a @ b, {"rtol": 1e-2, "atol": 10 * size}


def _contractions(is_virtual: bool) -> Iterator[_Workload]:
    import rtcg

    # Nodes of tetrahedra of orders 1 to 9, with six fields of each element.
    nodes = (4, 20) if is_virtual else (4, 10, 20, 35, 56, 84, 120, 165, 220)
    for dtype in ("float16", "float32", "float64"):
        tolerances = {"rtol": 1e-2, "atol": {"float16": 1e-1, "float32": 1e-3, "float64": 1e-10}[dtype]}
        for n in nodes:
            elements = 2000 if is_virtual else (1 << 24) // n
            matrix, fields = _random((n, n), dtype), _random((elements, n, 6), dtype)
            yield (f"ij,ejf->eif of {elements} x {n} {dtype}",
                   lambda a=matrix, x=fields: rtcg.einsum("ij,ejf->eif", a, x), tolerances)  # fmt: skip
            if n <= 120:
                matrices, metrics = _random((3, n, n), dtype), _random((elements, 3, 3), dtype)
                call = "erx,rij,ejf->exif"
                arrays = (metrics, matrices, fields)
                yield f"{call} of {elements} x {n} {dtype}", lambda c=call, a=arrays: rtcg.einsum(c, *a), tolerances
        for n in (4, 8) if is_virtual else (4, 8, 16, 32):
            a = _random((2000 if is_virtual else (1 << 26) // n**2, n, n), dtype)
            yield f"bij,bjk->bik of {n} x {n} {dtype}", lambda a=a: rtcg.einsum("bij,bjk->bik", a, a), tolerances


def _reductions(is_virtual: bool) -> Iterator[_Workload]:
    import rtcg.numpy as xp

    top = 22 if is_virtual else 28
    for dtype in ("float32", "float64"):
        for log2_n in (10, 16, 20, top):
            x = _random((1 << log2_n,), dtype)
            yield f"sum of 2**{log2_n} {dtype}", lambda x=x: xp.sum(x), {"rtol": 1e-3, "atol": 1e-1}
        for shape in ((1 << top - 16, 1 << 14), (1 << 14, 1 << top - 16)):
            x = _random(shape, dtype)
            for axis in (0, 1):
                name = f"sum of {shape} {dtype} over axis {axis}"
                yield name, lambda x=x, axis=axis: xp.sum(x, axis=axis), {"rtol": 1e-3, "atol": 1e-1}


def _scans(is_virtual: bool) -> Iterator[_Workload]:
    import rtcg.numpy as xp

    for dtype in ("float32", "int32", "float64", "int64"):
        for log2_n in (12, 16, 20, 22 if is_virtual else 27):
            x = _random((1 << log2_n,), dtype)
            yield f"cumsum of 2**{log2_n} {dtype}", lambda x=x: xp.cumsum(x), {"rtol": 1e-2, "atol": 1}


def _sorts(is_virtual: bool) -> Iterator[_Workload]:
    import rtcg.numpy as xp

    for dtype in ("float32", "int64"):
        for log2_n in (12, 16, 20) if is_virtual else (12, 16, 20, 24, 27):
            x = _random((1 << log2_n,), dtype)
            yield f"sort of 2**{log2_n} {dtype}", lambda x=x: xp.sort(x), {}
            if log2_n <= 24:
                yield f"argsort of 2**{log2_n} {dtype}", lambda x=x: xp.argsort(x), {}


def _transforms(is_virtual: bool) -> Iterator[_Workload]:
    from rtcg import fft

    lengths = (256, 1000, 4096) if is_virtual else (
        256, 729, 1000, 1024, 2000, 3000, 4096, 5000, 6561, 10_000, 65_536, 1 << 20,
    )  # fmt: skip
    for dtype in ("complex64", "complex128"):
        for n in lengths:
            rows = max(1, (1 << 22 if is_virtual else _GPU_BYTES) // np.dtype(dtype).itemsize // n)
            x = _random((rows, n), dtype)
            size = np.sqrt(n) * (1e-4 if dtype == "complex64" else 1e-12)
            yield f"fft of {rows} x {n} {dtype}", lambda x=x: fft.fft(x), {"rtol": 1e-3, "atol": size}


def _factorizations(is_virtual: bool) -> Iterator[_Workload]:
    import rtcg.numpy as xp
    from rtcg import linalg

    for n in (100, 300) if is_virtual else (256, 1000, 4000):
        a = _random((n, n), "float64")
        definite = a @ a.T + n * xp.eye(n)
        b = xp.ones((n, 1), "float64")
        loose = {"rtol": 1e-4, "atol": 1e-4}
        yield f"solve, {n}", lambda a=a, b=b: linalg.solve(a, b), loose
        yield f"cholesky, {n}", lambda a=definite: linalg.cholesky(a), loose
        yield f"inv, {n}", lambda a=definite: linalg.inv(a), loose
        yield f"qr, {n}", lambda a=a: abs(linalg.qr(a)[1]), loose
        if n <= 1000:
            # Signs of vectors are free.
            yield f"eigh, {n}", lambda a=definite: _first_of(linalg.eigh(a)), loose
            yield f"svd, {n}", lambda a=a: linalg.svd(a)[1], loose


def _first_of(results: Any) -> Any:
    return results[0]
