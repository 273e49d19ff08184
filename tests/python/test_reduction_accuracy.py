"""Sums of rounded numbers keep an error bound that no choice of speed changes.

The bound is 32 * eps * log2(n) times the sum of the magnitudes, with data on which naive sums of long arrays fail.
"""

import itertools

import numpy as np
import pytest

import rtcg
from rtcg import _native, linalg, numpy as xp, sparse
from rtcg.reduction import ReductionKernel
from tests.python.depth import ALL, at_depth

pytestmark = pytest.mark.usefixtures("context")

DTYPES = at_depth(["float32", "complex64"], ["float16", "float32", "float64", "complex64", "complex128"])
LENGTHS = at_depth([10, 1_000, 150_001], [10, 300, 1_000, 10_000, 131_072, 1_000_000, 4_000_000, 10_000_000])


def _data(kind, n, dtype):
    """Numbers of which sums lose digits when they are added one after the other."""
    offset = 4096 if dtype == "float16" else 1e6
    numbers = {
        "constant": lambda: np.full(n, 0.1),
        "linspace": lambda: offset + np.linspace(0, 1, n),
        "alternating": lambda: np.where(np.arange(n) % 2, 100.0, -100.1),
        "offset": lambda: np.random.default_rng(7).random(n) + offset / 100,
    }[kind]()
    return (numbers * (1 + 0.5j) if dtype.startswith("complex") else numbers).astype(dtype)


KINDS = ["constant", "linspace", "alternating", "offset"]


def _exact(x, power=1):
    """Sum and sum of magnitudes in extended precision."""
    wide = x.astype(np.clongdouble if x.dtype.kind == "c" else np.longdouble)
    return wide.sum(), (np.abs(wide) ** power).sum()


def _eps(dtype):
    return float(np.finfo(dtype).eps)


def _check(name, got, want, magnitude, n, dtype):
    error = np.max(np.abs(np.asarray(got).astype(np.asarray(want).dtype) - want))
    bound = 32 * _eps(dtype) * max(np.log2(n), 1) * magnitude
    assert error <= bound, f"{name} of {n} {dtype}: {got} for {want}, {float(error / bound):.3g} times the bound"


SUMS = {
    "sum": lambda g, o: g.sum(),
    "reversed": lambda g, o: g[::-1].sum(),
    "where": lambda g, o: g.sum(where=xp.ones(g.shape, bool)),
    "nansum": lambda g, o: xp.nansum(g),
    "dot": lambda g, o: xp.dot(g, o),
    "vdot": lambda g, o: xp.vdot(o, g),
    "inner": lambda g, o: xp.inner(g, o),
    "vecdot": lambda g, o: xp.vecdot(o, g),
    "matmul": lambda g, o: (g[None, :] @ o[:, None])[0, 0],
    "einsum": lambda g, o: rtcg.einsum("i,i->", g, o),
    "einsum of one": lambda g, o: rtcg.einsum("i->", g),
    "cumsum": lambda g, o: xp.cumsum(g)[-1],
    "fused": lambda g, o: _fused_sum(g, o),
    "strided": lambda g, o: xp.stack([g, g], 1)[:, 1].sum(),
    "columns": lambda g, o: xp.stack([g, g, g], 1).sum(axis=0)[1],
    "rows": lambda g, o: xp.stack([g, g, g], 0).sum(axis=1)[2],
    "einsum of columns": lambda g, o: rtcg.einsum("ij->j", xp.stack([g, g], 1))[0],
    "matrix by vector": lambda g, o: (xp.stack([g, g], 0) @ o)[1],
    "kernel": lambda g, o: _kernel(g.dtype)(g),
    "kernel of strided": lambda g, o: _kernel(g.dtype)(xp.stack([g, g], 1)[:, 1]),
    "kernel along an axis": lambda g, o: _kernel(g.dtype)(xp.stack([g, g], 1), axis=0)[1],
}
# One call does not sum in 32 bits what it multiplies in 16.
NOT_OF_HALF = {"dot", "vdot", "inner", "vecdot", "matmul", "einsum", "matrix by vector", "cumsum", "kernel",
               "kernel of strided", "kernel along an axis", "nansum"}  # fmt: skip


def _fused_sum(g, o):
    with rtcg.fuse():
        return (g * o).sum()


_KERNELS = {}


def _kernel(dtype):
    """The default sum of a kernel from snippets."""
    name = {"float32": "float", "float64": "double", "complex64": "pycuda::complex<float>",
            "complex128": "pycuda::complex<double>"}[dtype.name]  # fmt: skip
    make = lambda: ReductionKernel(dtype, "0", "a + b", "x[i]", f"const {name} *x")  # noqa: E731
    return _KERNELS.setdefault(name, None) or _KERNELS.update({name: make()}) or _KERNELS[name]


@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_keep_the_bound(dtype):
    for n, kind in itertools.product(LENGTHS, KINDS):
        if dtype == "float16" and n > 10_000:
            continue
        x = _data(kind, n, dtype)
        want, magnitude = _exact(x)
        g, o = xp.to_gpu(x), xp.ones(n, dtype)
        for name, compute in SUMS.items():
            if dtype == "float16" and name in NOT_OF_HALF or n > 1_000_000 and name.endswith("columns"):
                continue
            got = compute(g, o).get()
            if np.isfinite(np.asarray(got)).all():
                _check(f"{name} ({kind})", got, want, magnitude, n, dtype)
            else:
                assert dtype == "float16", (name, kind, n, got)


@pytest.mark.parametrize("dtype", DTYPES)
def test_means_and_norms_keep_the_bound(dtype):
    for n, kind in itertools.product(LENGTHS, KINDS):
        x = _data(kind, n, dtype)
        want, magnitude = _exact(x)
        g = xp.to_gpu(x)
        _check(f"mean ({kind})", g.mean().get(), want / n, magnitude / n, n, dtype)
        _check(f"mean of rows ({kind})", xp.stack([g, g]).mean(axis=1)[1].get(), want / n, magnitude / n, n, dtype)
        if dtype == "float16":
            continue
        _check(f"nanmean ({kind})", xp.nanmean(g).get(), want / n, magnitude / n, n, dtype)
        _check(f"average ({kind})", xp.average(g, weights=xp.ones(n, dtype)).get(), want / n, magnitude / n, n, dtype)
        norm = np.sqrt(_exact(x, 2)[1])
        _check(f"norm ({kind})", linalg.norm(g).get(), norm, norm, n, dtype)
        if n > 1:
            ends = (x[0].astype(want.dtype) + x[-1].astype(want.dtype)) / 2
            _check(f"trapezoid ({kind})", xp.trapezoid(g).get(), want - ends, magnitude, n, dtype)


@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype != "float16"])
def test_spreads_are_those_of_the_exact_mean(dtype):
    """Squares of distances from a rounded mean alone are wrong where the numbers are far from 0."""
    for n, kind in itertools.product(at_depth([3_000, 300_001], [3_000, *LENGTHS[2:]]), KINDS[1:]):
        x = _data(kind, n, dtype)
        wide = x.astype(np.clongdouble if x.dtype.kind == "c" else np.longdouble)
        var = (np.abs(wide - wide.mean()) ** 2).mean()
        g = xp.to_gpu(x)
        forms = {
            "var": g.var(),
            "std squared": g.std() ** 2,
            "var of columns": xp.stack([g, g, g], 1).var(axis=0)[1],
            "masked var": g.var(where=xp.ones(n, bool)),
            "corrected var": g.var(ddof=1) * ((n - 1) / n),
        }
        if dtype.startswith("float"):
            forms["nanvar"] = xp.nanvar(g)
        for name, got in forms.items():
            # The squared distance of the rounded mean from the mean is subtracted, so it decides on the error.
            _check(f"{name} ({kind})", got.get(), var, var + (_eps(dtype) * abs(complex(wide.mean()))) ** 2, n, dtype)


def test_a_spread_of_one_value_is_zero():
    for n in (1, 2, 1000, 300_001):
        assert xp.full(n, 1e6 + 0.25, np.float32).std().get() == 0
    assert np.isnan(xp.to_gpu(np.array([1, np.nan], np.float32)).var().get())
    assert np.isnan(xp.to_gpu(np.array([1, np.inf], np.float32)).std().get())


def test_products_of_long_sparse_rows_keep_the_bound():
    n = at_depth(300_001, 2_000_001)
    x = _data("constant", n, "float32")
    want, magnitude = _exact(x)
    ends = np.array([0, 1, n + 1, n + 1])
    data, indices = np.concatenate([x[:1], x]), np.concatenate([[0], np.arange(n)])
    rows = sparse.csr_array((data, indices, ends), shape=(3, n))
    columns = sparse.csc_array((data, indices, ends), shape=(n, 3))
    ones = xp.ones(n, np.float32)
    for name, got in {
        "csr": rows @ ones,
        "csc": columns.T @ ones,
        "sum": rows.sum(axis=1),
        "narrow": (rows @ xp.ones((n, 3), np.float32))[:, 1],
        "columns": (rows @ xp.ones((n, 40), np.float32))[:, 7],
    }.items():
        got = got.get().ravel()
        _check(f"sparse rows ({name})", got[1], want, magnitude, n, "float32")
        assert got[0] == x[0] and got[2] == 0, name


CORNERS = [
    {"threads": 256, "threads_per_output": 1, "waves": 0, "unroll": 1},
    {"threads": 64, "threads_per_output": 32, "waves": 0, "unroll": 8},
    {"threads": 64, "threads_per_output": 1, "min_split": 4, "waves": 4},
    {"threads": 1024, "threads_per_output": 32, "waves": 0, "unroll": 1, "in_flight_bytes": 256},
    {"threads": 1024, "threads_per_output": 1024, "min_split": 4, "waves": 4, "gather": True},
    {"threads": 64, "threads_per_output": 2, "waves": 1, "adjacent_outputs": False},
]


@pytest.mark.parametrize("columns", [False, True])
def test_no_choice_of_the_search_space_breaks_the_bound(columns):
    """What is tuned for speed has the accuracy of the rule."""
    n = 1_000_000 if ALL else 400_000
    x = _data("constant", n, "float32")
    want, magnitude = _exact(x)
    g = xp.stack([xp.to_gpu(x)] * 4, 1) if columns else xp.to_gpu(x)
    _, (decision,) = _native.record_array_decisions(lambda: g.sum(axis=0))
    assert decision.name == "reduce.partition"
    tried = 0
    for corner in CORNERS:
        config = decision.rule | corner
        try:
            got = decision.force(config, lambda: g.sum(axis=0).get())
        except ValueError:
            assert not columns, config
            continue
        tried += 1
        _check(str(corner), got, want, magnitude, n, "float32")
    assert tried >= 4
