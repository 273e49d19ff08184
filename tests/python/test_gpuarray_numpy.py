"""NumPy's functions of arrays, called through NumPy: the device's results are those of the host's arrays.

Each case is an expression of ``np`` and of arrays ``a`` to ``h`` below; it is computed with host arrays and with
device arrays, in several layouts, and compared in value, dtype and shape, or in the class of the exception.
"""

import functools
import json
import re
import warnings

import numpy as np
import pytest

import pycuda.gpuarray as gpuarray
from rtcg import tracing
from tests.python.depth import at_depth, some
from tests.python.same_body import compare

pytestmark = pytest.mark.usefixtures("context")

nan, inf = np.nan, np.inf


@functools.cache
def _inputs():
    rng = np.random.default_rng(5)
    return {
        "a": rng.normal(size=(4, 5)).round(3),
        "b": rng.normal(size=(4, 5)).round(3),
        "v": rng.normal(size=7).round(2),
        "w": rng.normal(size=5).round(2),
        "f": rng.normal(size=(3, 4)).astype(np.float32),
        "i": rng.integers(-4, 5, (4, 5)),
        "k": rng.integers(0, 6, 9),
        "u": rng.integers(0, 250, 6).astype(np.uint8),
        "m": rng.integers(0, 2, (4, 5)).astype(bool),
        "t": rng.integers(0, 2, (2, 3, 4)),
        "c": (rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3))).round(2),
        "n": np.array([[1, nan, 3, -2], [nan, nan, 0.5, 7], [4, 4, inf, nan]]),
        "s": rng.normal(size=(2, 4, 4)).round(2),
        "p": (lambda x: x @ x.swapaxes(-1, -2) + 4 * np.eye(4))(rng.normal(size=(2, 4, 4))),
        "z": np.zeros((0, 3)),
        "e": np.zeros(0),
        "o": np.asarray(2.5),
    }


# How an input is looked at: as it is, with other strides, backwards.
LAYOUTS = {
    "plain": lambda x: x,
    "turned": lambda x: np.ascontiguousarray(x.T).T,
    "reversed": lambda x: np.ascontiguousarray(x[(slice(None, None, -1),) * x.ndim])[(slice(None, None, -1),) * x.ndim],
}


def _on_device(host, layout):
    """The input with the same layout on the device."""
    if layout == "turned":
        return gpuarray.to_gpu(np.ascontiguousarray(host.T)).T
    if layout == "reversed":
        return gpuarray.to_gpu(np.ascontiguousarray(host[(slice(None, None, -1),) * host.ndim]))[
            (slice(None, None, -1),) * host.ndim
        ]
    return gpuarray.to_gpu(host)


SETS = """
np.unique(k)
np.unique(i, return_index=True, return_inverse=True, return_counts=True)
np.unique(i[:, :2], axis=0, return_index=True, return_inverse=True, return_counts=True)
np.unique(t, axis=0)
np.unique(t, axis=1, return_inverse=True)
np.unique(t, axis=-1, return_counts=True)
np.unique(n)
np.unique(n, equal_nan=False)
np.unique(np.concatenate([n, n[::-1]]), axis=0)
np.unique(z, axis=0)
np.unique(z, axis=1)
np.unique(e, return_counts=True)
np.unique(m, axis=1)
np.unique(c)
np.unique(k, axis=3)
np.unique_counts(k)
np.sort(np.unique_values(k))
np.unique_inverse(i)
np.unique_all(i)
np.union1d(k, i)
np.intersect1d(k, i)
np.intersect1d(k, i, return_indices=True)
np.intersect1d(k, e)
np.setdiff1d(k, i)
np.setdiff1d(i, k)
np.setxor1d(i, k)
np.isin(i, k)
np.isin(i, [1, 2], invert=True)
np.isin(i, [])
np.ediff1d(k)
np.ediff1d(i, to_end=7, to_begin=[1, 2])
np.ediff1d(k, to_end=1.5)
np.lexsort((k, k[::-1]))
np.lexsort((i[0], i[1], i[2]))
np.lexsort(i)
"""

STATISTICS = """
np.median(v)
np.median(a, axis=0)
np.median(a, axis=(0, 1), keepdims=True)
np.median(i, axis=-1)
np.median(n, axis=0)
np.median(n)
np.median(f)
np.median(c)
np.median(e)
np.median(a, axis=2)
np.percentile(v, 30)
np.percentile(a, [0, 25, 50, 100], axis=1)
np.percentile(f, 40)
np.percentile(f, [40], axis=0, keepdims=True)
np.percentile(i, 70, axis=0)
np.percentile(v, 101)
np.quantile(n, 0.3, axis=1)
np.quantile(a, np.array([[0.1, 0.9], [0.5, 1.0]]), axis=0)
np.quantile(a, 0.5, method="none")
np.quantile(c, 0.5)
np.nanmedian(n, axis=0)
np.nanmedian(n, axis=1, keepdims=True)
np.nanmedian(n)
np.nanmedian(k)
np.nanpercentile(n, [20, 70], axis=0)
np.nanquantile(n, 0.4, axis=1)
np.nanquantile(n, [0.0, 1.0])
np.nanquantile(k, 0.4)
np.nansum(n, axis=0)
np.nansum(i)
np.nanprod(n, axis=1)
np.nanmax(n, axis=0)
np.nanmin(n)
np.nanmax(np.full((2, 3), nan) + f[:2, :3], axis=0)
np.nanmin(k)
np.nanmax(e)
np.nanmean(n, axis=0)
np.nanmean(k)
np.nanvar(n, axis=1)
np.nanvar(n, axis=0, ddof=1)
np.nanstd(n, keepdims=True)
np.nanstd(f)
np.nanargmax(n, axis=1)
np.nanargmin(n)
np.nanargmax(n - n, axis=0)
np.nanargmin(n * nan, axis=0)
np.nancumsum(n, axis=1)
np.nancumprod(n)
np.average(a)
np.average(a, axis=1, weights=w)
np.average(a, weights=b * b, keepdims=True)
np.average(i, axis=0, returned=True)
np.average(i, axis=0, weights=i[:, 0] * i[:, 0] + 1, returned=True)
np.average(a, weights=w)
np.average(a, axis=0, weights=w)
np.cov(a)
np.cov(a, rowvar=False)
np.cov(v)
np.cov(a, b, bias=True)
np.cov(a, fweights=np.array([1, 2, 3, 1, 1]), aweights=w * w)
np.cov(c)
np.cov(i, ddof=0, aweights=w * w)
np.cov(f)
np.corrcoef(a)
np.corrcoef(a, b)
np.corrcoef(c)
np.bincount(k)
np.bincount(u, minlength=300)
np.bincount(k, weights=v[[0, 1, 2, 3, 4, 5, 6, 0, 1]])
np.bincount(e.astype(int), minlength=3)
np.bincount(i.ravel())
np.bincount(i)
np.bincount(v)
np.digitize(v, [-1, 0, 1])
np.digitize(a, [-1, 0, 0, 1], right=True)
np.digitize(a, w[np.argsort(w)][::-1])
np.digitize(a, w)
np.histogram(a)
np.histogram(i, bins=4)
np.histogram(f, bins=7, range=(-1, 1))
np.histogram(k, bins=[0, 1, 3, 6], density=True)
np.histogram(a, weights=b)
np.histogram(i, bins=5, weights=i, range=(-3, 3))
np.histogram(a, weights=b + 1j * a)
np.histogram(a, bins="auto")
np.histogram(v, bins="sturges")
np.histogram(v, bins="fd", density=True)
np.histogram(v, bins="scott")
np.histogram(v, bins="rice")
np.histogram(e, bins=3)
np.histogram(n)
np.histogram(a, bins=0)
np.histogram(a, bins=[1, 0])
np.histogram(a, range=(2, 1))
np.histogram_bin_edges(k, bins=4)
np.histogram_bin_edges(f, bins="sqrt")
np.histogram2d(a.ravel(), b.ravel(), bins=3)
np.histogram2d(a.ravel(), b.ravel(), bins=[2, [-1, 0, 1]], density=True)
np.histogramdd(a, bins=2)
np.histogramdd((v, v * v), bins=(3, 2), weights=v)
"""

PRODUCTS = """
np.einsum("ij->i", a)
np.einsum("ij->ji", a)
np.einsum("ii", c)
np.einsum("ii->i", c)
np.einsum("ij,ij->", a, b)
np.einsum("ij,kj->ik", a, b)
np.einsum("ij,kj", a, b)
np.einsum("i,j->ij", v, w)
np.einsum("bij,bjk->bik", s, p)
np.einsum("...ij,...jk->...ik", s, p)
np.einsum("...", a)
np.einsum("i...->...", a)
np.einsum("ij,jk,kl->il", a, b.T, b)
np.einsum("ij,jk,kl->il", a, b.T, b, optimize=True)
np.einsum("bij,bij,bij->b", s, p, s)
np.einsum("ij,j->i", i, k[:5])
np.einsum("ij,j->i", f, f[0])
np.einsum(a, [0, 1], b, [2, 1], [0, 2])
np.einsum("ij,j,->i", a, w, o)
np.einsum("ij->k", a)
np.einsum("ij,jk->ik", a, b)
np.einsum("ijk->", t)
np.einsum("ij,jk", a, a[:, :1].T)
np.kron(a, f)
np.kron(w, a)
np.kron(o, w)
np.outer(v, w)
np.inner(a, b)
np.inner(v, v)
np.vdot(c, c)
np.vdot(a, b)
np.dot(a, b.T)
np.tensordot(s, p, axes=([0, 2], [0, 1]))
np.trace(a)
np.trace(s, axis1=1, axis2=2)
np.matmul(s, p)
np.vecdot(c, c)
np.matvec(s, s[0, 0])
np.vecmat(c[0], c)
np.cross(a[:, :3], b[:, :3])
np.cross(f[:, :3].T, f[:, :3].T, axis=0)
np.cross(a[:, :4], b)
np.convolve(v, w)
np.convolve(w, v, "same")
np.convolve(v, w, mode="valid")
np.convolve(k, [1, -1])
np.convolve(v[:6], w[:2], "same")
np.convolve(e, w)
np.correlate(v, w)
np.correlate(w, v, "full")
np.correlate(v[:6], w[:4], "same")
np.correlate(w[:4], v[:6], "same")
np.correlate(c[0], c[1], "full")
np.correlate(c[0][:2], c[1], "full")
np.gradient(v)
np.gradient(a)
np.gradient(a, 0.5, 2, edge_order=2)
np.gradient(a, axis=1)
np.gradient(v, np.cumsum(v * v + 1))
np.gradient(v, np.cumsum(v * v + 1), edge_order=2)
np.gradient(k)
np.gradient(f, axis=0)
np.gradient(v[:1])
np.trapezoid(v)
np.trapezoid(a, dx=0.5, axis=0)
np.trapezoid(a, x=np.cumsum(w * w))
np.interp(v, np.cumsum(w * w), w)
np.interp(a, [0.0, 1.0], [3.0, 4.0], left=-1, right=nan)
np.interp(n, [0.0, 1.0, 2.0], [3.0, 4.0, 8.0])
np.interp(v, [0.5], [2.0])
np.interp(v, np.array([0.3, 0.1, 0.7]), [1.0, 2.0, 3.0], period=1.0)
np.interp(v, [0.0, 1.0], np.array([1j, 2.0]))
np.interp(v, e, e)
np.unwrap(np.cumsum(v) * 3)
np.unwrap(a * 5, axis=0)
np.unwrap(k, period=4)
np.diff(a, axis=0)
np.diff(k, n=2, prepend=0)
np.cumulative_sum(v, include_initial=True)
np.cumulative_prod(i, axis=1)
np.polyval(w, a)
np.vander(v, 3)
np.vander(k, increasing=True)
np.linspace(v[0], v[1], 5)
np.linspace(f[0], f[1], 4, axis=1)
np.linspace(v, w[:1], 3, endpoint=False)
np.logspace(v[0], v[1], 4)
np.maximum.accumulate(a, axis=1)
np.minimum.accumulate(v)
np.add.accumulate(i, axis=0)
np.add.outer(v, a)
np.subtract.outer(k, u)
np.add.reduce(a)
"""

REARRANGING = """
np.append(a, v)
np.append(a, b[:1], axis=0)
np.append(a, b[:, :1], axis=0)
np.atleast_3d(o)
np.atleast_3d(v)
np.atleast_3d(a)
np.atleast_2d(v, o)
np.column_stack((w, a.T, w))
np.dstack((a, b))
np.dstack((v, v))
np.vstack((w, a), dtype="f4")
np.hstack((v, w))
np.stack((v, v), axis=-1, dtype="c16")
np.block([[a, b], [b, a]])
np.block([v, w])
np.block([[a], [w]])
np.array_split(v, 3)
np.array_split(a, [1, 3], axis=1)
np.hsplit(a, [2])
np.hsplit(v, [2, 3])
np.vsplit(a, 2)
np.dsplit(t, 2)
np.vsplit(v, 2)
np.rollaxis(t, 2)
np.rollaxis(t, 0, 3)
np.rot90(a)
np.rot90(a, 2)
np.rot90(t, -1, axes=(1, 2))
np.rot90(a, 4)
np.rot90(v)
np.repeat(v, 3)
np.repeat(a, 2, axis=1)
np.repeat(a, [0, 2, 1, 3], axis=0)
np.repeat(v, k[:7])
np.repeat(v, [1, 2])
np.repeat(v, -1)
np.delete(v, 2)
np.delete(a, [0, 2], axis=0)
np.delete(a, slice(1, None, 2), axis=1)
np.delete(v, m[0][[0, 1, 2, 3, 4, 0, 1]])
np.delete(v, [])
np.delete(v, 9)
np.delete(a, -1)
np.insert(v, 2, 7)
np.insert(v, [1, 3], [7, 8])
np.insert(v, [3, 1, 1], [7, 8, 9])
np.insert(a, 1, w, axis=0)
np.insert(a, [1, 3], w[:2], axis=1)
np.insert(a, -1, 0, axis=1)
np.insert(v, 8, 0)
np.insert(v, slice(0, 3), 5.0)
np.trim_zeros(np.array([0, 0, 1, 0, 2, 0]) * k[:6])
np.trim_zeros(i - i)
np.pad(v, 2)
np.pad(a, ((1, 2), (0, 3)), constant_values=((1, 2), (3, 4)))
np.pad(a, 2, mode="edge")
np.pad(v, (9, 11), mode="reflect")
np.pad(v, (9, 11), mode="symmetric")
np.pad(a, 3, mode="wrap")
np.pad(a, ((1, 1), (2, 0)), mode="maximum")
np.pad(i, 2, mode="mean")
np.pad(v, 2, mode="median", stat_length=3)
np.pad(a, 1, mode="minimum", stat_length=2)
np.pad(v, 3, mode="linear_ramp", end_values=(5, -4))
np.pad(i, 2, mode="linear_ramp", end_values=9)
np.pad(v[:1], 2, mode="reflect")
np.pad(e, 2, mode="edge")
np.pad(v, 2, mode="none")
np.pad(v, -1)
np.pad(v, 1.5)
np.diag(v)
np.diag(a, 1)
np.diag(v, -2)
np.diag(t)
np.diagflat(a, 1)
np.diag_indices_from(c)
np.tril_indices_from(a, 1)
np.triu_indices_from(a, -1)
np.tril(s, -1)
np.triu(a, 2)
np.compress([True, False, True], a, axis=1)
np.compress(m.ravel(), a)
np.extract(m, a)
np.select([a > 0, b > 0], [a, b], default=9)
np.select([m, m], [i, a])
np.piecewise(v, [v < 0, v > 1], [-1, 1])
np.piecewise(v, [v < 0], [lambda x: -x, lambda x: 2 * x])
np.choose(i % 3, [a, b, a + b])
np.choose(i, [a, b], mode="clip")
np.choose(i, [a, b], mode="wrap")
np.choose(i, [a, b])
np.sort(np.partition(v, 3)[:3])
np.partition(v, 3)[3]
np.partition(v, 12)
v[np.argpartition(v, 2)][2]
np.sort_complex(c)
np.ravel_multi_index((k % 3, k % 4), (3, 4))
np.ravel_multi_index((k, k), (3, 4), mode="clip")
np.ravel_multi_index((k, k), (3, 4), mode=("wrap", "clip"), order="F")
np.ravel_multi_index((k, k), (3, 4))
np.unravel_index(k, (3, 4))
np.unravel_index(k, (3, 4), order="F")
np.unravel_index(k, (1, 2))
np.packbits(m)
np.packbits(m, axis=1)
np.packbits(m, axis=0, bitorder="little")
np.unpackbits(u)
np.unpackbits(u, count=-3)
np.unpackbits(u[:, None], axis=1, bitorder="little")
np.packbits(v)
np.apply_along_axis(lambda x: x.sum(), 0, a)
np.apply_along_axis(lambda x: x[::-1], 1, a)
np.apply_over_axes(np.sum, t, [0, 2])
np.ix_(k[:2], m[0])
np.meshgrid(v, w)
np.meshgrid(v, w, k, indexing="ij", sparse=True)
"""

INSPECTION = """
np.result_type(a, f)
np.result_type(i, 1.5)
np.can_cast(a.dtype, f.dtype)
np.common_type(f, i)
np.min_scalar_type(i)
np.iscomplexobj(c)
np.isrealobj(a)
np.iscomplex(c)
np.isreal(c)
np.isreal(a)
np.real_if_close(c)
np.real_if_close(c * 0 + 2)
np.isneginf(-n)
np.isposinf(n)
np.isposinf(c)
np.fix(a * 3)
np.modf(a * 3)
np.modf(n)
np.spacing(a)
np.degrees(a)
np.radians(f)
np.angle(c, deg=True)
np.angle(c)
np.sinc(a)
np.sinc(i)
np.i0(a)
np.i0(i)
np.array_equiv(a, a[:1])
np.array_equiv(w, np.stack([w, w]))
np.array_equiv(a, v)
np.array2string(v)
np.array_str(v, precision=1)
np.array_repr(v)
np.may_share_memory(a, a[1:])
np.shares_memory(a[::2], a[1::2])
np.shares_memory(a[::2], a[2:])
np.may_share_memory(a, b)
np.nan_to_num(n)
np.ptp(a, axis=0)
np.shape(a)
np.ndim(a)
np.size(a)
"""

LINALG = """
np.linalg.norm(v)
np.linalg.norm(a)
np.linalg.norm(i, axis=0)
np.linalg.norm(a, ord=1)
np.linalg.norm(a, ord=-1)
np.linalg.norm(a, ord=inf, keepdims=True)
np.linalg.norm(s, ord=-inf, axis=(0, 2))
np.linalg.norm(v, ord=3)
np.linalg.norm(a, ord=0, axis=1)
np.linalg.norm(v, ord=inf)
np.linalg.norm(c, "fro")
np.linalg.norm(f)
np.linalg.norm(s, ord=1)
np.linalg.norm(a, ord=7)
np.linalg.vector_norm(a)
np.linalg.vector_norm(a, axis=1, keepdims=True, ord=1)
np.linalg.matrix_norm(s)
np.linalg.matrix_norm(s, ord=inf)
np.linalg.det(s)
np.linalg.det(c)
np.linalg.det(i[:, :4])
np.linalg.det(a)
np.linalg.det(f[:, :3])
np.linalg.det(a[:0, :0])
np.linalg.slogdet(s)
np.linalg.slogdet(c)
np.linalg.slogdet(c * 0)
np.linalg.inv(s)
np.linalg.inv(c)
np.linalg.inv(i[:, :4])
np.linalg.inv(f[:, :3])
np.linalg.inv(c * 0)
np.linalg.inv(v)
np.linalg.inv(a)
np.linalg.inv(a[:0, :0])
np.linalg.inv(a[:, :4].astype("f2"))
np.linalg.solve(s, p)
np.linalg.solve(s[0], s[1, 0])
np.linalg.solve(s, s[0, 0])
np.linalg.solve(c, c[0])
np.linalg.solve(i[:, :4], f.T)
np.linalg.solve(s, v)
np.linalg.tensorsolve(np.eye(6).reshape(6, 2, 3) * w[0], k[:6])
np.linalg.tensorinv(np.eye(6).reshape(2, 3, 6) * w[0])
np.linalg.cholesky(p)
np.linalg.cholesky(p, upper=True)
np.linalg.cholesky(c @ c.conj().T + np.eye(3))
np.linalg.cholesky(-p)
np.linalg.qr(a)
np.linalg.qr(a.T, mode="complete")
np.linalg.qr(s, mode="r")
np.linalg.qr(a.T)
np.linalg.qr(c)
np.linalg.qr(f, mode="raw")
np.linalg.qr(z)
np.linalg.qr(a, mode="none")
np.linalg.matrix_power(c, 5)
np.linalg.matrix_power(s, -2)
np.linalg.matrix_power(s, 0)
np.linalg.matrix_power(a, 2)
np.linalg.multi_dot([a, b.T, b])
np.linalg.multi_dot([w, b.T, b, w])
np.linalg.cond(c, 1)
np.linalg.cond(p, "fro")
np.linalg.diagonal(s, offset=1)
np.linalg.trace(s)
np.linalg.outer(v, w)
np.linalg.outer(a, w)
np.linalg.cross(a[:, :3], b[:, :3])
np.linalg.matrix_transpose(s)
np.linalg.vecdot(a, b)
np.linalg.tensordot(a, b, axes=2)
np.linalg.matmul(s, p)
"""

CASES = [
    line for text in (SETS, STATISTICS, PRODUCTS, REARRANGING, INSPECTION, LINALG) for line in text.strip().splitlines()
]


def evaluate(expression, arrays):
    """The value, or the exception, of an expression."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return eval(expression, {"np": np, "nan": nan, "inf": inf, **arrays}), None
        except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
            return None, error


def check_on_device(actual, expected):
    """Whether arrays of the host have become arrays of the device."""
    if isinstance(expected, (tuple, list)):
        for one, other in zip(actual, expected, strict=True):
            check_on_device(one, other)
    elif isinstance(expected, np.ndarray):
        assert isinstance(actual, gpuarray.GPUArray), type(actual)


@pytest.mark.parametrize("expression", CASES)
def test_the_result_is_that_of_numpy(expression):
    names = set(re.findall(r"\b[a-z]\b", expression)) & set(_inputs())
    has_axes = any(_inputs()[name].ndim > 1 for name in names)
    layouts = list(LAYOUTS) if has_axes else ["plain", "reversed"]
    # Usually in the plain layout and another one: the expressions take turns with them.
    for layout in at_depth(["plain", layouts[1 + CASES.index(expression) % (len(layouts) - 1)]], layouts):
        hosts = {name: LAYOUTS[layout](_inputs()[name]) for name in names}
        devices = {name: _on_device(x, layout) for name, x in hosts.items()}
        expected, wanted = evaluate(expression, hosts)
        actual, error = evaluate(expression, devices)
        if wanted is not None or error is not None:
            assert wanted is not None, f"NumPy gives {expected!r}, the device raises {error!r}"
            assert error is not None, f"NumPy raises {wanted!r}, the device gives {actual!r}"
            kinds = [kind for kind in type(wanted).__mro__ if kind.__module__ == "builtins"]
            assert isinstance(error, tuple(kinds[: kinds.index(Exception)])), f"{wanted!r} and {error!r}"
            continue
        check_on_device(actual, expected)
        if isinstance(expected, (np.ndarray, np.generic, tuple, list)):
            single = "float32" in str(getattr(expected, "dtype", "")) or "f" in expression.replace("inf", "")
            compare(actual, expected, 2e-5 if single else 1e-11)
        else:
            assert actual == expected and type(actual) is type(expected)


METHODS = """inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen weibull linear
median_unbiased normal_unbiased lower higher midpoint nearest""".split()


@pytest.mark.parametrize("method", METHODS)
def test_quantiles_by_all_methods(method):
    q = np.array([0.0, 0.05, 0.25, 0.3, 0.5, 0.77, 1.0])
    for n in (1, 2, 5, 8):
        x = np.random.default_rng(n).normal(size=(n, 3))
        spoiled = np.concatenate([x, np.full((2, 3), nan)])
        d, e = gpuarray.to_gpu(x), gpuarray.to_gpu(spoiled)
        compare(np.quantile(d, q, axis=0, method=method), np.quantile(x, q, axis=0, method=method), 1e-14)
        compare(np.quantile(d, 0.5, method=method), np.quantile(x, 0.5, method=method), 1e-14)
        compare(np.nanquantile(e, q, axis=0, method=method), np.nanquantile(spoiled, q, axis=0, method=method), 1e-14)


def _put_diagonal(x, y):
    np.fill_diagonal(x, y[0])
    return x


def _put_wrapped(x, y):
    wide = np.concatenate([x, x, x])
    np.fill_diagonal(wide, [1, 2, 3], wrap=True)
    return wide


def _place(x, y):
    np.place(x, x > 0, [1, 2, 3])
    return x


def _put_by_mask(x, y):
    np.putmask(x, y > 0, y[0])
    return x


def _copy_where(x, y):
    np.copyto(x, y, where=y > 0)
    np.copyto(x, 7, where=x < -1)
    return x


def _copy_unsafely(x, y):
    np.copyto(x.astype(int), y)


def _along_axis(x, y):
    np.put_along_axis(x, np.argsort(y, axis=1), y, axis=1)
    return x, np.take_along_axis(x, np.argsort(y, axis=0), axis=0)


def _into(x, y):
    out = np.empty_like(x)
    np.concatenate([x[:1], y[1:]], 0, out)
    both = np.stack([x, y], dtype="f4")
    return out, np.stack([x, y], 0, both, casting="unsafe"), np.outer(x, y, out=np.empty_like(np.outer(x, y)))


@pytest.mark.parametrize(
    "body", [_put_diagonal, _put_wrapped, _place, _put_by_mask, _copy_where, _copy_unsafely, _along_axis, _into]
)
def test_what_is_written_is_what_numpy_writes(body):
    x, y = _inputs()["a"], _inputs()["b"]
    for turn in (lambda z: z, lambda z: z.T, lambda z: z[::-1, ::2]):
        hosts, devices = ([turn(make(z)) for z in (x, y)] for make in (np.copy, gpuarray.to_gpu))
        try:
            expected = body(*hosts)
        except TypeError as error:
            with pytest.raises(TypeError, match=re.escape(str(error)[:20])):
                body(*devices)
        else:
            compare(body(*devices), expected)


@pytest.mark.parametrize("dtype", some(["f4", "f8", "c8", "c16"], ["f4", "c16"]))
def test_matrices_longer_than_a_panel(dtype):
    rng, n = np.random.default_rng(3), 70
    x = rng.normal(size=(n, n)) + (1j * rng.normal(size=(n, n)) if dtype[0] == "c" else 0)
    x, b = (x + 3 * np.eye(n)).astype(dtype), rng.normal(size=(n, 9)).astype(dtype)
    rtol = 1e-3 if dtype in ("f4", "c8") else 1e-10
    d = gpuarray.to_gpu(x)
    for name in ("inv", "slogdet", "qr"):
        compare(getattr(np.linalg, name)(d), getattr(np.linalg, name)(x), rtol)
    compare(np.linalg.solve(d, gpuarray.to_gpu(b)), np.linalg.solve(x, b), rtol)
    positive = x @ x.conj().T
    compare(np.linalg.cholesky(gpuarray.to_gpu(positive)), np.linalg.cholesky(positive), rtol)


def test_what_is_not_there_says_why():
    a = gpuarray.to_gpu(np.eye(3))
    with pytest.raises(TypeError, match="no implementation of numpy.frexp; .* pass a.get()"):
        np.frexp(a)


@pytest.mark.parametrize(
    "expression, name",
    [
        ("np.polyfit(a, a, 1)", "numpy.polyfit"),
        ("np.busday_count(a, a)", "numpy.busday_count"),
        ("np.heaviside.at(a, a, 1)", "numpy.heaviside.at"),
        ("np.add.reduceat(a, [0, 1])", "numpy.add.reduceat"),
        ("np.frexp(a)", "numpy.frexp"),
        ("np.add(a, 1, casting='unsafe')", "numpy.add with casting"),
    ],
)
def test_functions_that_are_not_there_are_named(expression, name):
    a = gpuarray.to_gpu(np.arange(3.0))
    message = f"rtcg.numpy has no implementation of {name}; to compute it on the host pass a.get()"
    with pytest.raises(TypeError) as raised:
        eval(expression, {"np": np, "a": a})
    assert str(raised.value) == message


def test_results_on_the_host_are_refused_by_the_type_of_out():
    a = gpuarray.to_gpu(np.arange(3.0))
    with pytest.raises(TypeError, match="out of numpy.add is of type ndarray; expected a GPUArray"):
        np.add(a, 1, out=np.empty(3))


def test_other_classes_may_know_what_is_not_there():
    class Other:
        def __array_function__(self, func, types, args, kwargs):
            return func.__name__

        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            return f"{ufunc.__name__}.{method}"

    a = gpuarray.to_gpu(np.arange(3.0))
    assert np.polyfit(a, Other(), 1) == "polyfit"
    assert np.add.reduceat(a, Other()) == "add.reduceat"


def test_rows_that_differ_late_are_told_apart():
    rng = np.random.default_rng(8)
    rows = np.repeat(rng.integers(0, 2, (40, 9)), 3, axis=0)
    rows[::7, -1] += 1
    options = {"axis": 0, "return_index": True, "return_inverse": True, "return_counts": True}
    compare(np.unique(gpuarray.to_gpu(rows), **options), np.unique(rows, **options))


# Bytes that are read to know numbers of elements (and whether indices were inside): never elements.
READS = {
    "np.einsum('ij,kj->ik', a, b)": 0,
    "np.percentile(a, [10, 60], axis=1)": 0,
    "np.median(a)": 0,
    "np.nanmean(a, axis=0)": 0,
    "np.cov(a, b)": 0,
    "np.interp(a, b[0], b[1])": 0,
    "np.pad(a, 2, mode='reflect')": 0,
    "np.convolve(a[0], b[0])": 0,
    "np.gradient(a)": 0,
    "np.repeat(a, 3, axis=0)": 0,
    "np.insert(a, [1, 3], 0, axis=1)": 12,
    "np.tril(a)": 0,
    "np.linalg.qr(a)": 0,
    "np.linalg.det(a @ a.T)": 0,
    "np.linalg.inv(a @ a.T)": 1,
    "np.linalg.eigh(a @ a.T)": 4,
    "np.linalg.svd(a)": 4,
    "np.linalg.pinv(a)": 4,
    "np.linalg.matrix_rank(a)": 4,
    "np.histogram(a, bins=4, range=(0, 1))": 0,
    "np.histogram(a)": 16,
    "np.bincount(k)": 16,
    "np.lexsort(a)": 0,
    "np.unique(k)": 12,
    "np.unique(k, axis=0, return_inverse=True)": 12,
    "np.intersect1d(k, k[::2])": 36,
    "np.linspace(a[0], b[0], 5)": 0,
}
# Bytes of what was given on the host, or is made there: edges of bins, indices.
WRITES = {
    "np.histogram(a, bins=4, range=(0, 1))": 5 * 8,
    "np.histogram(a)": 11 * 8,
    "np.insert(a, [1, 3], 0, axis=1)": 2 * 8 + 1,
}


@pytest.mark.parametrize("expression", READS)
def test_elements_stay_on_the_device(expression, tmp_path):
    arrays = {name: gpuarray.to_gpu(_inputs()[name]) for name in "abk"}
    evaluate(expression, arrays)  # Tables that kernels need are copied once.
    with tracing.trace(tmp_path / "trace.json"):
        _, error = evaluate(expression, arrays)
    assert error is None

    events = json.loads((tmp_path / "trace.json").read_text())

    def copied(name):
        return sum(int(e["args"]["ByteCount"]) for e in events if e.get("name", "").startswith(f"cuMemcpy{name}"))

    assert copied("DtoH") <= READS[expression]
    assert copied("HtoD") <= WRITES.get(expression, 0)


def test_more_matrices_than_a_grid_has_rows():
    """The second axis of a grid ends at 65535 blocks."""
    rng = np.random.default_rng(5)
    a = rng.random((65_600, 2, 2)) + 3 * np.eye(2)
    b = rng.random((65_600, 2, 1))
    x = np.linalg.solve(gpuarray.to_gpu(a), gpuarray.to_gpu(b)).get()
    assert np.allclose(a @ x, b)
    q, r = np.linalg.qr(gpuarray.to_gpu(a))
    assert np.allclose(q.get() @ r.get(), a)
    assert np.allclose(np.linalg.det(gpuarray.to_gpu(a)).get(), np.linalg.det(a))
