"""Matrices of all sorts and what the tests of eigenvalues and singular values ask of results."""

import numpy as np

FLOATING = ["f4", "f8", "c8", "c16"]
#: Both kinds and both precisions in each half.
HALVES = [["f4", "c16"], ["f8", "c8"]]


def drawn(dtype, *shape, seed=0):
    """Random matrices."""
    rng = np.random.default_rng([seed, *shape])
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if dtype[0] == "c" else x).astype(dtype)


def hermitian(dtype, *shape, seed=0):
    x = drawn(dtype, *shape, shape[-1], seed=seed)
    return (x + x.conj().mT) / 2


def unitary(dtype, n, seed=0):
    return np.linalg.qr(drawn(dtype, n, n, seed=seed))[0]


def hilbert(n):
    """An ill-conditioned matrix: of 12 rows, the ratio of its singular values is 1e16."""
    i = np.arange(n)
    return 1 / (i[:, None] + i + 1.0)


def with_values(dtype, values, seed=0):
    """A Hermitian matrix with eigenvalues that are known."""
    q = unitary(dtype, len(values), seed)
    x = (q * np.asarray(values, q.real.dtype)) @ q.conj().T
    return (x + x.conj().T) / 2


def largest(x):
    return float(np.abs(x).max(initial=0))


def norms(x):
    """The largest singular value of each matrix, with axes to compare stacks of matrices with."""
    values = np.linalg.svd(x.astype("c16"), compute_uv=False)
    return values.max(axis=-1, initial=0)[..., None, None]


def within(error, bound, what):
    """All errors are at most their bounds: said with the place and size of the worst one."""
    error, bound = np.broadcast_arrays(np.abs(error), bound)
    wrong = ~(error <= bound)
    if wrong.any():
        at = tuple(int(k) for k in np.argwhere(wrong)[0])
        raise AssertionError(f"{what}: {error[at]:.3g} at {at}, at most {bound[at]:.3g} was expected")


def is_unitary(q, eps, what, c=10):
    """The columns are orthonormal, each product within c n eps."""
    n = q.shape[-1]
    within(q.conj().mT @ q - np.eye(n), c * max(q.shape[-2:]) * eps, f"{what} times its adjoint")
