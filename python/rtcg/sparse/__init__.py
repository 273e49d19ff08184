"""Sparse arrays on the device under the names of `scipy.sparse`, and iterative solvers (`rtcg.sparse.linalg`).

Arrays are made from those of `scipy.sparse`, from dense arrays and from index and data arrays, and `get` converts them
back. Elements are bool, integers, float32/64 or complex64/128; indices are int32 or int64. Products with vectors are
enqueued and do not wait, and their results do not depend on scheduling. Operations that need a number of elements wait
for it. `scipy` need not be installed.
"""

from __future__ import annotations as _annotations

import typing as _typing
from typing import Any as _Any

from rtcg.sparse import csgraph as csgraph, gallery as gallery, linalg as linalg
from rtcg.sparse._base import (
    SparseEfficiencyWarning as SparseEfficiencyWarning,
    SparseWarning as SparseWarning,
    issparse as issparse,
    isspmatrix as isspmatrix,
    sparray as sparray,
)
from rtcg.sparse._bsr import bsr_array as bsr_array
from rtcg.sparse._compressed import csc_array as csc_array, csr_array as csr_array
from rtcg.sparse._construct import (
    block_array as block_array,
    block_diag as block_diag,
    bmat as bmat,
    diags as diags,
    diags_array as diags_array,
    eye as eye,
    eye_array as eye_array,
    find as find,
    hstack as hstack,
    identity as identity,
    kron as kron,
    kronsum as kronsum,
    load_npz as load_npz,
    rand as rand,
    random as random,
    random_array as random_array,
    save_npz as save_npz,
    spdiags as spdiags,
    tril as tril,
    triu as triu,
    vstack as vstack,
)
from rtcg.sparse._coo import coo_array as coo_array
from rtcg.sparse._dia import dia_array as dia_array
from rtcg.sparse._host_formats import dok_array as dok_array, lil_array as lil_array
from rtcg.sparse._market import mmread as mmread, mmwrite as mmwrite
from rtcg.sparse._plan import Plan as Plan, PlanReport as PlanReport, plan as plan
from rtcg.sparse._products import sampled_addmm as sampled_addmm, sampled_matmul as sampled_matmul

if _typing.TYPE_CHECKING:
    from typing_extensions import Self


class _Matrix:
    """The interface of sparse matrices where it differs from that of arrays: ``*`` is the matrix product."""

    _is_matrix = True

    def __mul__(self: _Any, other: _Any) -> _Any:
        return self.dot(other)

    def __rmul__(self: _Any, other: _Any) -> _Any:
        from rtcg.sparse._operands import is_scalar

        return self.multiply(other) if is_scalar(other) else self.__rmatmul__(other)

    def __pow__(self, n: _Any) -> Self:
        power: _Any = linalg.matrix_power(self, n)
        return power

    @property
    def H(self: _Any) -> sparray:
        """The conjugate transpose."""
        return self.transpose().conj()

    def getH(self: _Any) -> sparray:
        """The conjugate transpose."""
        return self.H

    def getrow(self: _Any, i: _Any) -> sparray:
        """Row `i`, as a matrix with one row."""
        return self.tocsr()[i]

    def getcol(self: _Any, j: _Any) -> sparray:
        """Column `j`, as a matrix with one column."""
        return self.tocsr()[:, j]


class csr_matrix(_Matrix, csr_array):
    """A `csr_array` whose ``*`` is the matrix product; see `scipy.sparse.csr_matrix`."""


class csc_matrix(_Matrix, csc_array):
    """A `csc_array` whose ``*`` is the matrix product; see `scipy.sparse.csc_matrix`."""


class coo_matrix(_Matrix, coo_array):
    """A `coo_array` whose ``*`` is the matrix product; see `scipy.sparse.coo_matrix`."""


class dia_matrix(_Matrix, dia_array):
    """A `dia_array` whose ``*`` is the matrix product; see `scipy.sparse.dia_matrix`."""


class bsr_matrix(_Matrix, bsr_array):
    """A `bsr_array` whose ``*`` is the matrix product; see `scipy.sparse.bsr_matrix`."""


class dok_matrix(_Matrix, dok_array):
    """A `dok_array` whose ``*`` is the matrix product; see `scipy.sparse.dok_matrix`."""


class lil_matrix(_Matrix, lil_array):
    """A `lil_array` whose ``*`` is the matrix product; see `scipy.sparse.lil_matrix`."""


def isspmatrix_csr(x: _Any) -> bool:
    """Whether `x` is a `csr_matrix` of this package: a bool; False for a `csr_array`. Does not wait."""
    return isinstance(x, csr_matrix)


def isspmatrix_csc(x: _Any) -> bool:
    """Whether `x` is a `csc_matrix` of this package: a bool; False for a `csc_array`. Does not wait."""
    return isinstance(x, csc_matrix)


def isspmatrix_coo(x: _Any) -> bool:
    """Whether `x` is a `coo_matrix` of this package: a bool; False for a `coo_array`. Does not wait."""
    return isinstance(x, coo_matrix)


def isspmatrix_dia(x: _Any) -> bool:
    """Whether `x` is a `dia_matrix` of this package: a bool; False for a `dia_array`. Does not wait."""
    return isinstance(x, dia_matrix)


def isspmatrix_bsr(x: _Any) -> bool:
    """Whether `x` is a `bsr_matrix` of this package: a bool; False for a `bsr_array`. Does not wait."""
    return isinstance(x, bsr_matrix)


def isspmatrix_dok(x: _Any) -> bool:
    """Whether `x` is a `dok_matrix` of this package: a bool; False for a `dok_array`. Does not wait."""
    return isinstance(x, dok_matrix)


def isspmatrix_lil(x: _Any) -> bool:
    """Whether `x` is a `lil_matrix` of this package: a bool; False for a `lil_array`. Does not wait."""
    return isinstance(x, lil_matrix)
