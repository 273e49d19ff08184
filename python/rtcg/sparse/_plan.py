"""Plans: the format and the kernel for the products of one matrix, found by measuring."""

import dataclasses
import time

import numpy as np

from rtcg import _native, numpy as _xp
from rtcg.driver import Context
from rtcg.sparse._base import issparse
from rtcg.sparse._bsr import block_fill
from rtcg.sparse._compressed import csr_array

#: A format that stores more elements than this many times those of the matrix is not tried.
_MAX_FILL = 1.5
#: Up to so many times the elements, diagonals are tried.
_MAX_DIAGONAL_FILL = 1.2
#: Elements by whose blocks the size of blocks is chosen.
_SAMPLED = 1 << 16
#: Rows within which SELL sorts by length; all of them is the last candidate.
_SIGMAS = (1, 1024)
#: Changes with what names of kernels mean.
_VERSION = "1"


@dataclasses.dataclass(frozen=True)
class PlanReport:
    """How a plan was found, and what it is worth.

    Attributes
    ----------
    kernel : str
        What products take: ``"rows 8"`` (compressed rows, 8 lanes each), ``"merge"``, ``"sell 1024"`` (slices of 32
        rows, sorted by length within windows of 1024), ``"dia"``, ``"bsr 3"`` (blocks of 3x3).
    format : str
        The format of the kept copy: ``"csr"`` (no copy), ``"sell"``, ``"dia"`` or ``"bsr"``.
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
    def analysis_products(self):
        """The time of the analysis in products with a vector."""
        return self.analysis_seconds / self.seconds

    @property
    def build_products(self):
        """The time of making the kept copy in products with a vector."""
        return self.build_seconds / self.seconds

    @property
    def limit_fraction(self):
        """The part of the limit that is reached."""
        return self.limit_seconds / self.seconds

    def __str__(self):
        found = "stored" if self.is_stored else f"{len(self.candidates)} candidates"
        return (
            f"{self.kernel} ({found}): {self.seconds * 1e6:.1f} us a product, {self.limit_fraction:.0%} of the limit "
            f"({self.nbytes} bytes); without a plan {self.default_seconds * 1e6:.1f} us\n"
            f"analysis {self.analysis_products:.0f} products, of which making the copy {self.build_products:.0f}"
        )


class Plan:
    """A matrix whose products with vectors take what was found to be fastest; see `plan`.

    Attributes
    ----------
    matrix : csr_array
        The matrix in compressed rows, whose products follow the plan; for solvers.
    report : PlanReport
    """

    def __init__(self, matrix, report):
        self.matrix, self.report = matrix, report

    @property
    def shape(self):
        """Rows and columns."""
        return self.matrix.shape

    @property
    def dtype(self):
        """The dtype of the elements."""
        return self.matrix.dtype

    @property
    def format(self):
        """The format that products take: "csr", "sell", "dia" or "bsr"."""
        return self.report.format

    def __matmul__(self, other):
        """The product with a vector (or a dense or sparse matrix, without the plan); does not wait."""
        return self.matrix @ other

    def matvec(self, x):
        """The product with a vector; does not wait."""
        return self.matrix @ x

    def __repr__(self):
        return f"<plan of a {self.shape[0]}x{self.shape[1]} matrix of {self.dtype}: {self.report.kernel}>"


def plan(A, op="N", uses=1000, *, store=None):
    """Find the format and the kernel with which products of `A` and vectors are fastest, and keep them.

    Candidates are kernels of compressed rows (groups of 1 to 32 lanes, the merge path), SELL-32-sigma, diagonals where
    these would not hold more than 1.2 times the elements, and blocks that are mostly full. Each is made and timed, and
    its product is compared with that of compressed rows. What is found is kept in the store of :mod:`rtcg.tune`, for
    matrices of this kind: a second plan for such a matrix makes the format and times nothing.

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
    if not issparse(A):
        raise TypeError(f"A is a {type(A).__name__}; expected a sparse array of rtcg.sparse")
    if op not in ("N", "T", "H"):
        raise ValueError(f"op is {op!r}; expected 'N', 'T' or 'H'")
    if not uses > 0:
        raise ValueError(f"uses is {uses!r}; expected a positive number of products")
    start = time.perf_counter()
    source = A if op == "N" else A.T if op == "T" else A.T.conj()
    csr = source.tocsr()
    csr = csr_array._of(csr.shape, csr.data, csr.indices, csr.indptr)
    found = _Candidates(csr, source.format).choose(uses, store, start)
    if op == "N":
        A._keep_plan(found)
    return found


class _Candidates:
    """The kernels for one matrix, made when they are first asked for."""

    def __init__(self, csr, given):
        self._csr, self._made, self.build_seconds = csr, {}, {}
        self._features, self._block = _features(csr)
        self.names = self._names(given)

    def _names(self, given):
        features = self._features
        # Lanes that exchange values are slow on the virtual GPU, and rows do not keep others waiting there.
        is_virtual = Context.get_device().is_virtual
        names = [f"rows {lanes}" for lanes in ((1, 2, 4) if is_virtual else (1, 2, 4, 8, 16, 32))]
        names += [] if is_virtual else ["merge"]
        if not self._csr.nnz:
            return names[:1]
        rows = self._csr.shape[0]
        names += [f"sell {sigma}" for sigma in _SIGMAS if sigma < rows] + ["sell all"]
        if given == "dia" or features["diagonals"] * rows <= _MAX_DIAGONAL_FILL * self._csr.nnz:
            names.append("dia")
        if self._block > 1:
            names.append(f"bsr {self._block}")
        return names

    def matrix(self, name):
        """The native matrix whose products take a kernel; None where its format would be too large."""
        if name not in self._made:
            self._build(name)  # compiles what converts
            self._csr._native.indptr.get()
            start = time.perf_counter()
            self._made[name] = self._build(name)
            if self._made[name] is not None:
                self._csr._native.indptr[:1].get()
            self.build_seconds[name] = time.perf_counter() - start
        return self._made[name]

    def _build(self, name):
        kind, _, number = name.partition(" ")
        csr = self._csr._native
        if kind in ("rows", "merge"):
            return csr.planned(kind, int(number or 1))
        format = self._format(kind, number)
        return None if format is None else csr.planned(format)

    def _format(self, kind, number):
        csr = self._csr
        if kind == "sell":
            return csr._native.to_sell(csr.shape[0] if number == "all" else int(number), _MAX_FILL)
        if kind == "dia":
            return csr.todia()._native_matrix()
        bsr = csr.tobsr((int(number), int(number)))
        return bsr._native if bsr.nnz <= _MAX_FILL * csr.nnz else None

    def choose(self, uses, store, start):
        from rtcg.tune._run import StoredProblem
        from rtcg.tune._space import Space
        from rtcg.tune._store import store as default_store

        space = Space(kernel=self.names)
        key = _native.TuningKernelKey("sparse.plan", _VERSION, [], ["kernel"])
        problem = self._features | {"uses": _octave(uses)}
        stored = StoredProblem(store or default_store(), key, problem)
        found = stored.look_up(space) if stored.is_known(space) else None
        if found is not None and self.matrix(found[0]["kernel"]) is not None:
            name, seconds = found[0]["kernel"], {found[0]["kernel"]: found[1]}
            return self._plan(name, seconds, float("nan"), True, start)
        seconds = self._measure(space)
        default = self._default_seconds
        worth = {
            name: found * uses + (self.build_seconds[name] if _format_of(name) != "csr" else 0)
            for name, found in seconds.items()
            if found is not None
        }
        name = min(worth, key=worth.get)
        self._store(stored, name, seconds[name])
        return self._plan(name, seconds, default, False, start)

    def _measure(self, space):
        """Seconds of every candidate, None where it failed or its result is not within the bound."""
        from rtcg.tune._callables import CallableTarget
        from rtcg.tune._run import run_search

        csr = self._csr
        expected = csr._native.matvec(_xp.zeros(csr.shape[1], csr.dtype))
        x = _xp.to_gpu(_test_vector(csr.shape[1], expected.dtype))
        expected = csr._native.matvec(x)
        atol = 0.0
        if expected.dtype.kind in "fc":
            # The bound of a sum in any order, of as many terms as the longest row has.
            sizes = _native.CsrMatrix(list(csr.shape), abs(csr.data), csr.indices, csr.indptr).matvec(abs(x))
            terms = 8 + self._longest()
            atol = terms * float(np.finfo(expected.dtype).eps) * float(sizes.max().get() if sizes.size else 0)

        def product(kernel):
            matrix = self.matrix(kernel)
            if matrix is None:
                raise ValueError("the format would be too large")
            return matrix.matvec(x)

        target = CallableTarget(product, [expected], 0.0, atol, {"kernel": self.names[0]})
        options = {"strategy": "exhaustive", "threads": 1, "progress": False, "finalists": 2, "windows": 3}
        report = run_search(target, space, budget=f"{len(self.names)} evaluations", **options)
        # The one without a plan is timed when all that compiles has been compiled.
        default = CallableTarget(lambda kernel: csr._native.matvec(x), [expected], 0.0, atol, {"kernel": self.names[0]})
        default.load({"kernel": "default"}, None)
        default.time(1)
        self._default_seconds = min(default.time(4) for _ in range(3))
        scores = dict.fromkeys(self.names)
        for trial in report.trials:
            scores[trial["config"]["kernel"]] = trial["score"]
        if all(score is None for score in scores.values()):
            raise RuntimeError(f"no kernel could be timed: {report.trials[0]['failure']}")
        return scores

    def _longest(self):
        indptr = self._csr.indptr
        return int((indptr[1:] - indptr[:-1]).max().get()) if self._csr.shape[0] else 0

    @staticmethod
    def _store(stored, name, seconds):
        trial = {"config": {"kernel": name}, "score": seconds, "failure": None, "samples": [seconds]}
        try:
            stored.append(trial, True)
        finally:
            stored.close()

    def _plan(self, name, seconds, default, is_stored, start):
        from rtcg.tune._roofline import measure_roofline

        csr = self._csr
        native = self.matrix(name)
        kind, _, number = name.partition(" ")
        nbytes = _bytes_of(csr) if _format_of(name) == "csr" else self._format_bytes(kind, number)
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

    def _format_bytes(self, kind, number):
        if kind == "dia":
            return self._csr.dtype.itemsize * self._features["diagonals"] * self._csr.shape[0]
        return self._format(kind, number).nbytes


def _format_of(name):
    kind = name.partition(" ")[0]
    return "csr" if kind in ("rows", "merge") else kind


def _bytes_of(csr):
    return sum(part.nbytes for part in (csr.data, csr.indices, csr.indptr))


def _octave(n):
    """`n` rounded down to a power of two."""
    return 1 << max(0, int(n).bit_length() - 1) if n else 0


def _test_vector(n, dtype):
    rng = np.random.default_rng(0)
    if dtype.kind == "c":
        return (rng.standard_normal(n) + 1j * rng.standard_normal(n)).astype(dtype)
    return (rng.standard_normal(n) if dtype.kind == "f" else rng.integers(0, 3, n)).astype(dtype)


def _features(csr):
    """What makes matrices alike: numbers by which results are stored; and the size of blocks that are mostly full."""
    rows, columns = csr.shape
    features = {
        "dtype": str(csr.dtype), "index": str(csr.indices.dtype), "rows": _octave(rows), "columns": _octave(columns),
        "nnz": _octave(csr.nnz), "longest_row": 0, "deviation": 0, "bandwidth": 0, "diagonals": 0, "block": 1,
    }  # fmt: skip
    if not csr.nnz:
        return features, 1
    lengths = csr.indptr[1:] - csr.indptr[:-1]
    offsets = csr.indices.astype(np.int64) - csr._expanded_major()
    is_there = _xp.zeros(rows + columns - 1, np.int64)
    is_there[offsets + (rows - 1)] = 1
    numbers = [lengths.max(), lengths.astype(np.float64).std(), abs(offsets).max(), is_there.sum()]
    longest, deviation, bandwidth, diagonals = _xp.stack([n.astype(np.float64) for n in numbers]).get()
    features["longest_row"], features["bandwidth"] = _octave(longest), _octave(bandwidth)
    # Rows of one length, of about one length, and of very different ones.
    features["deviation"] = _octave(8 * deviation * rows / csr.nnz)
    features["diagonals"] = int(diagonals) if diagonals <= 64 else _octave(diagonals)
    features["block"] = block = _full_block(csr)
    return features, block


def _full_block(csr):
    """The size of square blocks whose indices and elements take fewest bytes, by a part of the rows; 1 for none."""
    rows = csr.shape[0]
    # Blocks of 1 to 6 rows all begin in every 60th row.
    count = max(60, rows * min(_SAMPLED, csr.nnz) // csr.nnz // 60 * 60)
    first = max(0, (rows - count) // 2 // 60 * 60)
    part = csr.indptr[first : min(rows, first + count) + 1]
    begin, end = int(part[0].get()), int(part[-1].get())
    taken = csr_array._of(
        (part.size - 1, csr.shape[1]), csr.data[begin:end], csr.indices[begin:end], part - begin
    ).tocoo()
    itemsize, index = csr.dtype.itemsize, csr.indices.dtype.itemsize
    best, block = itemsize + index, 1
    for n in range(2, 7):
        if rows % n or csr.shape[1] % n or not taken.nnz:
            continue
        # The last rows of the part may end within a block.
        taken._shape = (-(-(part.size - 1) // n) * n, csr.shape[1])
        fill = block_fill(taken, (n, n))
        cost = (itemsize + index / n**2) / fill
        if fill * _MAX_FILL >= 1 and cost < 0.95 * best:
            best, block = cost, n
    return block
