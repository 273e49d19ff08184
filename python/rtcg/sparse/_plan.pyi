"""Plans: the format and the kernel for the products of one matrix, found by measuring."""

import dataclasses
from typing import Any

@dataclasses.dataclass(frozen=True)
class PlanReport:
    """How a plan was found, and what it is worth.

    Attributes
    ----------
    kernel : str
        What products take: ``"rows 8"`` (compressed rows, 8 lanes each), ``"merge"``, ``"sell 1024"`` (slices of 32
        rows, sorted by length within windows of 1024), ``"dia"``, ``"bsr 3"`` (blocks of 3x3), ``"hub"`` (the merge
        path, the columns with most elements first and their part of the vector in shared memory).
    format : str
        The format of the kept copy: ``"csr"`` (no copy), ``"sell"``, ``"dia"``, ``"bsr"`` or ``"hub"`` (indices).
    seconds, default_seconds : float
        Of a product with a vector, and of one without a plan. The second is NaN where the choice was stored.
    candidates : dict
        Seconds of each kernel that was tried; None where it failed.
    is_stored : bool
        Whether the choice was found in the store of :mod:`rtcg.tune`, so that nothing was timed.
    analysis_seconds, build_seconds : float
        Of all that planning took, and of making the kept copy.
    nbytes : int
        Bytes that a product has to move, each once: the format, `x` and the result.
    limit_seconds : float
        The time that these take at the rate at which this device copies.
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
        """The time of the analysis in products with a vector."""
    @property
    def build_products(self) -> Any:
        """The time of making the kept copy in products with a vector."""
    @property
    def limit_fraction(self) -> Any:
        """The part of the limit that is reached."""
    def __str__(self) -> str: ...

class Plan:
    """A matrix whose products with vectors take what was found to be fastest; see `plan`.

    Attributes
    ----------
    matrix : csr_array
        The matrix in compressed rows, whose products follow the plan; for solvers.
    report : PlanReport
    """
    def __init__(self, matrix: Any, report: Any) -> None: ...
    @property
    def shape(self) -> Any:
        """Rows and columns."""
    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
    @property
    def format(self) -> Any:
        """The format that products take: "csr", "sell", "dia" or "bsr"."""
    def __matmul__(self, other: Any) -> Any:
        """The product with a vector (or a dense or sparse matrix, without the plan); does not wait."""
    def matvec(self, x: Any) -> Any:
        """The product with a vector; does not wait."""
    def __repr__(self) -> str: ...

def plan(A: Any, op: Any = "N", uses: Any = 1000, *, store: Any = None) -> Any:
    """Find the format and the kernel with which products of `A` and vectors are fastest, and keep them.

    One pass over the matrix says what can be fast: kernels of compressed rows (groups of about as many lanes as the
    rule has, the merge path), SELL-32-sigma where no row is much longer than the others, diagonals where these would
    not hold more than 1.2 times the elements, and blocks that are mostly full. Each is made and timed over a few
    products, and its product is compared with that of compressed rows. A kernel is only preferred to one before it in
    this order if it is 3 % faster. What is found is kept in the store of :mod:`rtcg.tune`, for matrices of this kind: a
    second plan for such a matrix makes the format and times nothing.

    Parameters
    ----------
    A : sparse array
        Products ``A @ x`` follow the plan from now on, with ``op="N"``. The kept copy does not see what is later
        written to the elements in place; `A.data = ...` drops the plan.
    op : {"N", "T", "H"}
        The products that are planned: with `A`, its transpose, or its conjugate transpose.
    uses : int
        About how many products will follow: a format is only taken if they repay making it.
    store : rtcg.tune.Store, optional
        Where results are kept.

    Returns
    -------
    Plan
        ``plan @ x`` is the product; ``plan.report`` tells what was found.

    Notes
    -----
    Waits, and needs memory for a copy of each candidate until it is done. Results differ from those without a plan only
    by the order of additions, and are the same bits at every run with the same plan.
    """
