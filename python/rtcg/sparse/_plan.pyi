"""Plans: the fastest format and kernel for the products of one matrix, found by measurement."""

import dataclasses
from typing import Any

@dataclasses.dataclass(frozen=True)
class PlanReport:
    """The choice of a plan, how it was found, and what it gains.

    Attributes
    ----------
    kernel : str
        The kernel of products: ``"rows 8"`` (compressed rows, 8 threads each), ``"merge"``, ``"sell 1024"`` (slices of
        32 rows, sorted by length within windows of 1024), ``"dia"``, ``"bsr 3"`` (blocks of 3x3), ``"hub"`` (the merge
        path, with the columns that have most elements first and their part of the vector in shared memory).
    format : str
        The format of the kept copy: ``"csr"`` (no copy), ``"sell"``, ``"dia"``, ``"bsr"`` or ``"hub"`` (indices).
    seconds, default_seconds : float
        The time of a product with a vector, with and without the plan. The second is NaN if the choice was stored.
    candidates : dict
        The seconds of each kernel that was tried; None if it failed.
    is_stored : bool
        Whether the choice came from the store of :mod:`rtcg.tune`, without measurements.
    analysis_seconds, build_seconds : float
        The time of all planning, and of building the kept copy.
    nbytes : int
        The bytes that a product has to move at least: the format, `x` and the result, each once.
    limit_seconds : float
        The time to move these at the copy bandwidth of this device.
    """

    kernel: str
    format: str
    seconds: float
    default_seconds: float
    candidates: dict
    is_stored: bool
    analysis_seconds: float
    build_seconds: float
    nbytes: int
    limit_seconds: float
    @property
    def analysis_products(self) -> Any:
        """The time of the analysis, in units of products with a vector."""
    @property
    def build_products(self) -> Any:
        """The time to build the kept copy, in units of products with a vector."""
    @property
    def limit_fraction(self) -> Any:
        """The fraction of the limit that products reach."""
    def __str__(self) -> str: ...

class Plan:
    """A matrix whose products with vectors use the kernel that was found to be fastest; see `plan`.

    Attributes
    ----------
    matrix : csr_array
        The matrix in compressed rows, whose products follow the plan; for solvers.
    report : PlanReport
    """
    def __init__(self, matrix: Any, report: Any) -> None: ...
    @property
    def shape(self) -> Any:
        """The numbers of rows and columns."""
    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
    @property
    def format(self) -> Any:
        """The format that products use: "csr", "sell", "dia" or "bsr"."""
    def __matmul__(self, other: Any) -> Any:
        """The product with a vector (or a dense or sparse matrix, without the plan); does not wait."""
    def matvec(self, x: Any) -> Any:
        """The product with a vector; does not wait."""
    def __repr__(self) -> str: ...

def plan(A: Any, op: Any = "N", uses: Any = 1000, *, store: Any = None) -> Any:
    """Find the fastest format and kernel for products of `A` with vectors, and keep them.

    One pass over the matrix determines the candidates: kernels for compressed rows (groups of about as many threads as
    the default rule chooses, the merge path), SELL-32-sigma if no row is much longer than the others, diagonals if they
    would not hold more than 1.2 times the elements, and blocks that are mostly full. Each is built and timed over a few
    products, and its product is compared with that of compressed rows. A kernel replaces an earlier one in this order
    only if it is 3 % faster. The choice is kept in the store of :mod:`rtcg.tune`, for matrices of this kind: a second
    plan for such a matrix builds the format without measurements.

    Parameters
    ----------
    A : sparse array
        With ``op="N"``, later products ``A @ x`` follow the plan. The kept copy does not reflect later in-place changes
        of the elements; `A.data = ...` drops the plan.
    op : {"N", "T", "H"}
        The products to plan: with `A`, its transpose, or its conjugate transpose.
    uses : int
        The approximate number of products to come: a format is chosen only if they repay its construction.
    store : rtcg.tune.Store, optional
        The store of the results.

    Returns
    -------
    Plan
        ``plan @ x`` is the product, and ``plan.report`` the report.

    Notes
    -----
    Waits, and needs memory for a copy of each candidate while it runs. Results differ from those without a plan only by
    the order of additions, and are bitwise reproducible with the same plan.
    """
