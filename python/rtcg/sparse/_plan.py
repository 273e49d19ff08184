"""Plans: the fastest format and kernel for the products of one matrix, found by measurement."""

from __future__ import annotations

import dataclasses
import functools
import math
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import _native, numpy as _xp
from rtcg._conversions import as_number, converts
from rtcg._messages import shown
from rtcg.driver import Context, Error
from rtcg.sparse._base import issparse
from rtcg.sparse._compressed import csr_array

if TYPE_CHECKING:
    from rtcg.tune._run import StoredProblem
    from rtcg.tune._store import Store

#: A format that stores more elements than this many times those of the matrix is not tried.
_MAX_FILL = 1.5
#: So many columns of a vector lie in caches without any care.
_MANY_COLUMNS = 1 << 16
#: Up to so many times the elements, diagonals are tried.
_MAX_DIAGONAL_FILL = 1.2
#: Slices that store at most so many times the elements are not tried with sorted rows too.
_FULL_SLICES = 1.1
#: A kernel has to take less than this part of the time of one that is tried before it, so that noise does not choose.
_WORTH = 0.97
#: A format that takes longer to make, in seconds, has been compiled for, and is made again.
_COMPILES = 0.02
#: Seconds of a product of which several are timed together.
_SHORT = 1e-3
#: Changes with what names of kernels mean.
_VERSION = "2"


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
    candidates: dict[str, float | None]
    is_stored: bool
    analysis_seconds: float
    build_seconds: float
    nbytes: int
    limit_seconds: float

    @property
    def analysis_products(self) -> Any:
        """The time of the analysis, in units of products with a vector."""
        return self.analysis_seconds / self.seconds

    @property
    def build_products(self) -> Any:
        """The time to build the kept copy, in units of products with a vector."""
        return self.build_seconds / self.seconds

    @property
    def limit_fraction(self) -> Any:
        """The fraction of the limit that products reach."""
        return self.limit_seconds / self.seconds

    def __str__(self) -> str:
        found = "stored" if self.is_stored else f"{len(self.candidates)} candidates"
        return (
            f"{self.kernel} ({found}): {self.seconds * 1e6:.1f} us a product, {self.limit_fraction:.0%} of the limit "
            f"({self.nbytes} bytes); without a plan {self.default_seconds * 1e6:.1f} us\n"
            f"analysis {self.analysis_products:.0f} products, of which making the copy {self.build_products:.0f}"
        )


class Plan:
    """A matrix whose products with vectors use the kernel that was found to be fastest; see `plan`.

    Attributes
    ----------
    matrix : csr_array
        The matrix in compressed rows, whose products follow the plan; for solvers.
    report : PlanReport
    """

    def __init__(self, matrix: Any, report: Any) -> None:
        self.matrix, self.report = matrix, report

    @property
    def shape(self) -> Any:
        """The numbers of rows and columns."""
        return self.matrix.shape

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self.matrix.dtype

    @property
    def format(self) -> Any:
        """The format that products use: "csr", "sell", "dia" or "bsr"."""
        return self.report.format

    def __matmul__(self, other: Any) -> Any:
        """The product with a vector (or a dense or sparse matrix, without the plan); does not wait."""
        return self.matrix @ other

    def matvec(self, x: Any) -> Any:
        """The product with a vector; does not wait."""
        return self.matrix @ x

    def __repr__(self) -> str:
        return f"<plan of a {self.shape[0]}x{self.shape[1]} matrix of {self.dtype}: {self.report.kernel}>"


@converts(uses=as_number)
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
    if not issparse(A):
        raise TypeError(f"A is a {type(A).__name__}; expected a sparse array of rtcg.sparse")
    if op not in ("N", "T", "H"):
        raise ValueError(f"op is {shown(op)}; expected 'N', 'T' or 'H'")
    if not uses > 0:
        raise ValueError(f"uses is {shown(uses)}; expected a positive number of products")
    if store is not None:
        from rtcg.tune._store import as_store

        as_store("store", store)
    start = time.perf_counter()
    source = A if op == "N" else A.T if op == "T" else A.T.conj()
    csr = source.tocsr()
    csr = csr_array._of(csr.shape, csr.data, csr.indices, csr.indptr)
    found = _Candidates(csr, source.format).choose(uses, store, start)
    if op == "N":
        A._keep_plan(found)
    return found


class _Candidates:
    """The kernels for one matrix, built when first needed."""

    def __init__(self, csr: csr_array, given: str) -> None:
        self._made: dict[str, Any] = {}
        self.build_seconds: dict[str, float] = {}
        self.failures: dict[str, str] = {}
        self._nbytes: dict[str, int] = {}
        self._features, self._block, sizes = _features(csr)
        self._longest, self._slice_elements = sizes
        native = csr._native
        native = _native.CsrMatrix(list(csr.shape), native.data, native.indices, native.indptr, self._longest)
        self._csr = csr_array._of(csr.shape, csr.data, csr.indices, csr.indptr)
        self._csr._native = native
        self.names = self._names(given)

    def _names(self, given: str) -> list[str]:
        features, csr = self._features, self._csr
        rows, nnz = csr.shape[0], csr.nnz
        if not nnz:
            return ["rows 1"]
        # Lanes that exchange values are slow on the virtual GPU, and rows do not keep others waiting there.
        is_virtual = Context.get_device().is_virtual
        length = nnz / max(1, rows)
        if is_virtual:
            names = ["rows 1", "rows 2"]
        else:
            # As the rule of `sparse.spmv`; the kernel without a plan stands first.
            lanes = 1 << min(5, max(0, round(math.log2(max(1, math.ceil(length)) / 8))))
            names = [f"rows {n}" for n in (lanes, lanes // 2, 2 * lanes) if 1 <= n <= 32]
            skewed = self._longest > max(16 * math.ceil(length), 512)
            names = ["merge"] if skewed else [*names, "merge"]
            # Rows and columns of one length have no hubs.
            names += ["hub"] if skewed and csr.data.dtype.itemsize >= 4 and csr.shape[1] > _MANY_COLUMNS else []
        if given == "dia" or features["diagonals"] * rows <= _MAX_DIAGONAL_FILL * nnz:
            # Diagonals that are full take fewer bytes than anything else.
            return [*names, "dia"]
        # A slice waits for its longest row.
        if self._longest <= 16 * length + 64:
            fill = self._slice_elements / nnz
            names += ["sell 1"] if fill <= _MAX_FILL else []
            names += ["sell 1024"] if fill > _FULL_SLICES and rows > 1024 else []
            names += ["sell all"] if fill > _FULL_SLICES and (rows <= 1024 or fill > _MAX_FILL) else []
        if self._block > 1:
            names.append(f"bsr {self._block}")
        return names

    def matrix(self, name: str) -> Any:
        """The native matrix whose products use a kernel, or None if its format would be too large."""
        if name not in self._made:
            self._made[name], seconds = self._timed_build(name)
            if seconds > _COMPILES and _format_of(name) != "csr" and self._made[name] is not None:
                # Something was compiled, which happens once in a process or on a machine.
                self._made[name], seconds = self._timed_build(name)
            self.build_seconds[name] = seconds
        return self._made[name]

    def _timed_build(self, name: str) -> tuple[Any, float]:
        start = time.perf_counter()
        made = self._build(name)
        if made is not None and _format_of(name) != "csr":
            Context.synchronize()
        return made, time.perf_counter() - start

    def _build(self, name: str) -> Any:
        kind, _, number = name.partition(" ")
        csr = self._csr._native
        if kind == "hub":
            self._nbytes[name] = _bytes_of(self._csr) + csr.shape[1] * (
                2 * csr.data.dtype.itemsize + csr.indptr.dtype.itemsize
            )
        if kind in ("rows", "merge", "hub"):
            return csr.planned(kind, int(number or 1))
        format = self._format(kind, number)
        if format is None:
            return None
        diagonals = csr.data.dtype.itemsize * self._features["diagonals"] * csr.shape[0]
        self._nbytes[name] = diagonals if kind == "dia" else format.nbytes
        return csr.planned(format)

    def _format(self, kind: str, number: str) -> Any:
        csr = self._csr
        if kind == "sell":
            return csr._native.to_sell(csr.shape[0] if number == "all" else int(number), _MAX_FILL)
        is_short = csr.dtype.itemsize == 2
        if kind == "dia":
            made = None if is_short else csr._native.to_dia(max(64, 2 * self._features["diagonals"]))
            return made or csr.todia()._native_matrix()
        if not is_short:
            return csr._native.to_bsr(int(number), _MAX_FILL)
        bsr = csr.tobsr((int(number), int(number)))
        return bsr._native if bsr.nnz <= _MAX_FILL * csr.nnz else None

    def choose(self, uses: float, store: Store | None, start: float) -> Plan:
        from rtcg.tune._run import StoredProblem
        from rtcg.tune._space import Space
        from rtcg.tune._store import store as default_store

        space = Space(kernel=self.names)
        key = _native.TuningKernelKey("sparse.plan", _VERSION, [], ["kernel"])
        problem = self._features | {"uses": _octave(uses)}
        stored = StoredProblem(store or default_store(), key, problem)
        found = stored.look_up(space) if stored.is_known(space) else None
        if found is not None and self.matrix(found[0]["kernel"]) is not None:
            name = found[0]["kernel"]
            return self._plan(name, {name: found[1]}, float("nan"), True, start)
        seconds = self._measure()
        worth = {
            name: found * uses + (self.build_seconds[name] if _format_of(name) != "csr" else 0)
            for name, found in seconds.items()
            if found is not None
        }
        if not worth:
            raise RuntimeError(f"no kernel could be timed: {self.failures}")
        name = next(iter(worth))
        for other, cost in worth.items():
            if cost < _WORTH * worth[name]:
                name = other
        self._store(stored, name, seconds[name])
        return self._plan(name, seconds, seconds[self.names[0]] or float("nan"), False, start)

    def _measure(self) -> dict[str, float | None]:
        """The seconds of every candidate, or None if it failed or its result is outside the error bound."""
        csr = self._csr
        expected = csr._native.matvec(_xp.zeros(csr.shape[1], csr.dtype))
        x = _test_vector(csr.shape[1], expected.dtype)
        expected = csr._native.matvec(x)
        bound = 0.0
        if expected.dtype.kind in "fc":
            # The bound of a sum in any order, of as many terms as the longest row has.
            sizes = _native.CsrMatrix(list(csr.shape), abs(csr.data), csr.indices, csr.indptr, self._longest)
            terms = 8 + self._longest
            largest = sizes.matvec(abs(x)).max().get() if expected.size else 0
            bound = terms * float(np.finfo(expected.dtype).eps) * float(largest)
        seconds: dict[str, float | None] = {}
        for name in self.names:
            try:
                matrix = self.matrix(name)
                if matrix is not None and _is_within(matrix.matvec(x), expected, bound):
                    seconds[name] = _seconds(functools.partial(matrix.matvec, x))
                else:
                    self.failures[name] = "too large" if matrix is None else "its result is not within the bound"
            except (Error, MemoryError) as error:
                self.failures[name] = str(error)
            seconds.setdefault(name, None)
            if _format_of(name) != "csr" and seconds[name] is None:
                self._made[name] = None
        return seconds

    @staticmethod
    def _store(stored: StoredProblem, name: str, seconds: float | None) -> None:
        trial = {"config": {"kernel": name}, "score": seconds, "failure": None, "samples": [seconds]}
        try:
            stored.append(trial, True)
        finally:
            stored.close()

    def _plan(self, name: str, seconds: dict[str, Any], default: float, is_stored: bool, start: float) -> Plan:
        from rtcg.tune._roofline import measure_roofline

        csr = self._csr
        native = self.matrix(name)
        nbytes = _bytes_of(csr) if _format_of(name) == "csr" else self._nbytes[name]
        nbytes += sum(csr.shape) * csr.dtype.itemsize
        elapsed = time.perf_counter() - start
        limit = nbytes / measure_roofline().bytes_per_second
        build = self.build_seconds[name] if _format_of(name) != "csr" else 0.0
        report = PlanReport(
            name, _format_of(name), seconds[name], default, seconds, is_stored, elapsed, build, nbytes, limit
        )
        matrix = csr_array._of(csr.shape, csr.data, csr.indices, csr.indptr)
        matrix._native = native
        return Plan(matrix, report)


def _format_of(name: str) -> str:
    kind = name.partition(" ")[0]
    return "csr" if kind in ("rows", "merge") else kind


def _bytes_of(csr: Any) -> int:
    return sum(part.nbytes for part in (csr.data, csr.indices, csr.indptr))


def _octave(n: float) -> int:
    """`n` rounded down to a power of two."""
    return 1 << max(0, int(n).bit_length() - 1) if n else 0


def _test_vector(n: int, dtype: np.dtype[Any]) -> Any:
    """Distinct numbers, computed on the device: the fractional parts of multiples of the golden ratio."""
    places = _xp.arange(n, dtype=np.float64)
    if dtype.kind not in "fc":
        return (places * 0.6180339887498949 % 1 * 3).astype(dtype)
    values = places * 0.6180339887498949 % 1 - 0.5
    return (values * (1 - 0.7j) if dtype.kind == "c" else values).astype(dtype)


def _is_within(result: Any, expected: Any, bound: float) -> bool:
    if not expected.size:
        return True
    if expected.dtype.kind not in "fc":
        return not bool((result != expected).any().get())
    # NaN is not.
    return float(abs(result - expected).max().get()) <= bound


def _seconds(call: Callable[[], object]) -> float:
    """The seconds of a call that enqueues and has run before: the minimum over short rounds."""
    rounds: list[float] = []
    calls = 1
    while len(rounds) < 3:
        Context.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        Context.synchronize()
        rounds.append((time.perf_counter() - start) / calls)
        # What the host does between calls and waits must not count.
        calls = 4 if rounds[0] < _SHORT else 1
    return min(rounds)


def _features(csr: Any) -> tuple[dict[str, Any], int, tuple[int, int]]:
    """The features by which results are stored, so that similar matrices share them; the size of blocks that are mostly
    full; and the lengths of the longest row and of slices.
    """
    rows, columns = csr.shape
    features = {
        "dtype": str(csr.dtype), "index": str(csr.indices.dtype), "rows": _octave(rows), "columns": _octave(columns),
        "nnz": _octave(csr.nnz), "longest_row": 0, "deviation": 0, "bandwidth": 0, "diagonals": 0, "block": 1,
    }  # fmt: skip
    if not csr.nnz:
        return features, 1, (0, 0)
    longest, squares, bandwidth, slice_elements, diagonals, fill = csr._native.features()
    deviation = math.sqrt(max(0.0, squares / rows - (csr.nnz / rows) ** 2))
    features["longest_row"], features["bandwidth"] = _octave(longest), _octave(bandwidth)
    # Rows of one length, of about one length, and of very different ones.
    features["deviation"] = _octave(8 * deviation * rows / csr.nnz)
    features["diagonals"] = int(diagonals) if diagonals <= 64 else _octave(diagonals)
    features["block"] = block = _full_block(csr, fill)
    return features, block, (longest, slice_elements)


def _full_block(csr: Any, fill: Sequence[float] | None = None) -> int:
    """The size of square blocks whose indices and elements take the fewest bytes; 1 for no blocks. Waits."""
    if not csr.nnz:
        return 1
    fill = csr._native.features()[-1] if fill is None else fill
    itemsize, index = csr.dtype.itemsize, csr.indices.dtype.itemsize
    best, block = itemsize + index, 1
    for n, filled in enumerate(fill, 2):
        if filled * _MAX_FILL >= 1:
            cost = (itemsize + index / n**2) / filled
            if cost < 0.95 * best:
                best, block = cost, n
    return block
