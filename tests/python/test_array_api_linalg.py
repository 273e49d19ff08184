"""The extension `linalg` of the Array API standard, beside `array_api_strict`."""

import inspect

import array_api_strict as strict
import numpy as np
import pytest
from array_api_reference import ALL, COMPLEX, FLOATS, NUMERIC, agree, host_of, numbers

import pycuda.autoinit  # noqa: F401
import rtcg.array_api as ours

LATER = {"eig", "eigvals"}
NAMES = sorted(name for name in dir(strict.linalg) if not name.startswith("_") and name not in LATER)
FLOATING = FLOATS + COMPLEX


def _is_public(name):
    function = getattr(strict.linalg, name)
    return inspect.isfunction(function) and function.__module__.startswith("array_api_strict")


NAMES = [name for name in NAMES if _is_public(name) and name in strict.linalg.__all__]


def test_names():
    assert len(NAMES) == 23 and set(NAMES) == set(ours.linalg.__all__)
    assert "linalg" in ours.__all__ and ours.linalg.matmul is ours.matmul
    with pytest.raises(AttributeError, match="'eigs'"):
        ours.linalg.eigs


@pytest.mark.parametrize("name", NAMES)
def test_signatures(name):
    wanted = list(inspect.signature(getattr(strict.linalg, name)).parameters.values())
    own = list(inspect.signature(getattr(ours.linalg, name)).parameters.values())
    assert [(p.name, p.kind, p.default) for p in own] == [(p.name, p.kind, p.default) for p in wanted]


def matrices(dtype, *shape, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape) + (1j * rng.normal(size=shape) if dtype in COMPLEX else 0)
    return x.astype(dtype)


def positive(dtype, n=4):
    x = matrices(dtype, 2, n, n)
    return x @ x.conj().mT + np.eye(n, dtype=dtype)


# Results that are determined: one matrix each, and a stack.
DETERMINED = {
    "cholesky": lambda xp, p: (xp.linalg.cholesky(p), xp.linalg.cholesky(p[0, ...], upper=True)),
    "det": lambda xp, p: xp.linalg.det(p),
    "eigvalsh": lambda xp, p: (xp.linalg.eigvalsh(p), xp.linalg.eigh(p).eigenvalues),
    "inv": lambda xp, p: xp.linalg.inv(p),
    "matrix_norm": lambda xp, p: [
        xp.linalg.matrix_norm(p, ord=o, keepdims=k)
        for o in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)
        for k in (False, True)
    ],
    "matrix_power": lambda xp, p: [xp.linalg.matrix_power(p, n) for n in (-2, 0, 1, 3)],
    "matrix_rank": lambda xp, p: (xp.linalg.matrix_rank(p), xp.linalg.matrix_rank(p, rtol=0.4)),
    "pinv": lambda xp, p: (xp.linalg.pinv(p[..., :3]), xp.linalg.pinv(p, rtol=0.3)),
    "slogdet": lambda xp, p: (xp.linalg.slogdet(p).sign, xp.linalg.slogdet(p).logabsdet),
    "solve": lambda xp, p: (
        xp.linalg.solve(p, p[0, ...]),
        xp.linalg.solve(p, p[0, 0, :]),
        xp.linalg.solve(p[0, ...], p[..., :2]),
    ),
    "svdvals": lambda xp, p: (xp.linalg.svdvals(p[..., :3]), xp.linalg.svd(p).S),
    "vector_norm": lambda xp, p: [
        xp.linalg.vector_norm(p, axis=axis, keepdims=k, ord=o)
        for axis in (None, 0, (0, 2), -1)
        for k in (False, True)
        for o in (2, 1, 0, np.inf, -np.inf, 3)
    ],
}  # fmt: skip


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("name", DETERMINED)
def test_results_are_the_references(name, dtype):
    body = DETERMINED[name]
    # Numbers of which each depends on the whole matrix: within a few units of the largest.
    expected, actual = (body(xp, xp.asarray(positive(dtype))) for xp in (strict, ours))
    several = isinstance(expected, (tuple, list))
    for one, other in zip(actual if several else [actual], expected if several else [expected], strict=True):
        one, other = np.asarray(host_of(one)), np.asarray(host_of(other))
        assert one.shape == other.shape and one.dtype == other.dtype
        bound = 300 * np.finfo(dtype).eps * np.abs(other).max(initial=0)
        assert np.abs(one - other).max(initial=0) <= bound


@pytest.mark.parametrize("dtype", FLOATING)
def test_factors_multiply_to_what_was_given(dtype):
    p, x = positive(dtype), matrices(dtype, 2, 5, 3)
    eps = np.finfo(dtype).eps * 50
    w, v = map(host_of, ours.linalg.eigh(ours.asarray(p)))
    assert np.allclose(p @ v, v * w[:, None], atol=eps * np.abs(p).max())
    for full in (True, False):
        result = ours.linalg.svd(ours.asarray(x), full_matrices=full)
        assert type(result)._fields == ("U", "S", "Vh") == strict.linalg.svd(strict.asarray(x))._fields
        u, s, vh = map(host_of, result)
        assert u.shape == (2, 5, 5 if full else 3) and vh.shape == (2, 3, 3)
        assert np.allclose((u[..., :3] * s[:, None]) @ vh, x, atol=eps * np.abs(x).max())
    for mode in ("reduced", "complete"):
        result = ours.linalg.qr(ours.asarray(x), mode=mode)
        q, r = map(host_of, result)
        wanted = strict.linalg.qr(strict.asarray(x), mode=mode)
        assert result._fields == wanted._fields == ("Q", "R") and (q.shape, r.shape) == (wanted.Q.shape, wanted.R.shape)
        assert np.allclose(q @ r, x, atol=eps * np.abs(x).max())


def test_names_of_results():
    a = ours.eye(2)
    assert ours.linalg.eigh(a)._fields == ("eigenvalues", "eigenvectors")
    assert ours.linalg.slogdet(a)._fields == ("sign", "logabsdet")


@pytest.mark.parametrize("dtype", NUMERIC)
def test_products_are_exact(dtype):
    x, y = numbers(dtype, (2, 3, 3), 1), numbers(dtype, (3, 3), 2)
    agree(lambda xp, x: (xp.linalg.diagonal(x), xp.linalg.diagonal(x, offset=-1)), x)
    agree(lambda xp, x: (xp.linalg.trace(x), xp.linalg.trace(x, offset=1)), x)
    agree(lambda xp, x: xp.linalg.trace(x, dtype=xp.complex128), x)
    agree(lambda xp, x, y: xp.linalg.outer(x[0, 0, :], y[0, :]), x, y)
    agree(lambda xp, x, y: (xp.linalg.cross(x, x), xp.linalg.cross(y, y + y, axis=-2)), x, y)
    agree(lambda xp, x, y: xp.linalg.matmul(x, y), x, y)
    agree(lambda xp, x, y: (xp.linalg.tensordot(x, y, axes=1), xp.linalg.vecdot(x, y)), x, y)
    agree(lambda xp, x: xp.linalg.matrix_transpose(x), x)


CALLS = {
    "cholesky": lambda xp, make: xp.linalg.cholesky(make()),
    "cross": lambda xp, make: xp.linalg.cross(make(), make()),
    "det": lambda xp, make: xp.linalg.det(make()),
    "eigh": lambda xp, make: xp.linalg.eigh(make()),
    "eigvalsh": lambda xp, make: xp.linalg.eigvalsh(make()),
    "inv": lambda xp, make: xp.linalg.inv(make()),
    "matrix_norm": lambda xp, make: xp.linalg.matrix_norm(make()),
    "matrix_power": lambda xp, make: xp.linalg.matrix_power(make(), 2),
    "outer": lambda xp, make: xp.linalg.outer(make()[0, :], make()[0, :]),
    "pinv": lambda xp, make: xp.linalg.pinv(make()),
    "qr": lambda xp, make: xp.linalg.qr(make()),
    "slogdet": lambda xp, make: xp.linalg.slogdet(make()),
    "solve": lambda xp, make: xp.linalg.solve(make(), make()),
    "svd": lambda xp, make: xp.linalg.svd(make()),
    "svdvals": lambda xp, make: xp.linalg.svdvals(make()),
    "trace": lambda xp, make: xp.linalg.trace(make()),
    "vector_norm": lambda xp, make: xp.linalg.vector_norm(make()),
}


@pytest.mark.parametrize("name", CALLS)
def test_dtypes_that_are_refused(name):
    def taken(xp):
        kinds = []
        for dtype in ALL:
            made = np.eye(3).astype(dtype)
            try:
                CALLS[name](xp, lambda made=made: xp.asarray(made))
            except TypeError as error:
                assert xp is strict or f"linalg.{name}: an array of {dtype}; expected a" in str(error)
                continue
            kinds.append(dtype)
        return kinds

    wanted = taken(strict)
    assert wanted and wanted != ALL and taken(ours) == wanted


def test_bad_input():
    a = ours.ones((3, 3))
    with pytest.raises(ValueError, match="axis 1 for arrays of 2 and 2 axes; expected a negative"):
        ours.linalg.cross(a, a, axis=1)
    with pytest.raises(ValueError, match="axis -2 for arrays of 1 and 2"):
        ours.linalg.cross(a[0, :], a, axis=-2)
    with pytest.raises(ValueError, match="mode 'raw' is not known"):
        ours.linalg.qr(a, mode="raw")
    with pytest.raises(np.linalg.LinAlgError, match="1-dimensional"):
        ours.linalg.matrix_rank(a[0, :])
    with pytest.raises(np.linalg.LinAlgError, match="square"):
        ours.linalg.eigh(a[:2, :])
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        ours.linalg.inv(a)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_upper_cholesky_factors_have_no_signed_zeros_below(dtype):
    factor = ours.linalg.cholesky(ours.eye(3, dtype=getattr(ours, dtype)), upper=True).get()
    below = factor[np.tril_indices(3, -1)]
    assert (below == 0).all() and not np.signbit(below.real).any() and not np.signbit(below.imag).any()
