"""Sparse products and conjugate gradients beside CuPy, PyTorch and SciPy (as far as they are installed), in one run.

    python benches/sparse.py [spmv] [spmm] [spgemm] [triangular] [cg] [solvers] [calls] [--matrix NAME] [--folder FOLDER]
        [--small]

``spmv`` prints GFLOP/s (two operations for each stored element) and the parts of three limits: the bytes that a product
in compressed sparse rows has to move, at the bandwidth of a device-to-device copy; a sector of 32 bytes of `x` from the L2
cache for each element that none of 31 neighbours shares, at the measured rate of such reads (what a multiprocessor's own
cache holds comes faster); and a kernel that does nothing. Rows of other formats (SELL, diagonals, blocks) have the limit
of their own bytes behind that; ``plan`` is what `sparse.plan` finds, with the time of its analysis in products. The last
lines say where we are slowest beside the best peer. ``spmm`` does the same for products with dense matrices.
``spgemm`` prints times of ``A @ A``, ``A + A.T``, of triples brought into rows, and of the transpose in rows.
``triangular`` prints a solution with the lower triangle of a matrix whose diagonal was made dominant, its analysis in
solutions, and the time of ILU(0); CuPy and SciPy analyse the triangle whenever they solve.
``cg`` prints microseconds of an iteration, with the same limit for three kernels, and how often the host waited.
``solvers`` prints whole solutions: CG on 256^2, BiCGSTAB and GMRES(30) on convection and diffusion 512^2, and CG with
PyAMG's hierarchy on 128^3 (smaller on the virtual GPU).
``calls`` prints the host time of ``A @ x`` for a small matrix. Results of all libraries are compared before they are
timed. ``--folder`` takes matrices from MatrixMarket files instead (with SciPy). On the virtual GPU, or with ``--small``,
matrices are smaller, and SciPy is the peer.
"""

import argparse
import functools
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

import pycuda.autoprimaryctx  # noqa: F401  which the peers use too
import rtcg.driver as cuda
from pycuda.compiler import SourceModule
from rtcg import numpy as rnp, sparse, tune
from rtcg.sparse import gallery, linalg

DEVICE = cuda.Device(0)
wait = cuda.Context.synchronize


#: Matrices that dense ones are multiplied with, unless others are named.
_DENSE = ("poisson2d 1000", "poisson2d 200", "27-point", "rmat")
#: Square matrices for operations on two sparse matrices and for triangles, unless others are named.
_SQUARE = ("poisson", "27-point", "banded", "rmat", "power", "circuit", "elasticity3d", "delaunay", "road")


def matrices(small):
    """Makers of matrices of every kind of the gallery, by names."""
    side, cube, scale = (200, 30, 12) if small else (1000, 160, 20)
    n = side * side
    makers = {
        f"poisson2d {side}^2": (gallery.poisson2d, side),
        f"9-point {side}^2": (gallery.poisson2d, side, {"points": 9}),
        f"poisson3d {cube}^3": (gallery.poisson3d, cube),
        f"27-point {cube * 4 // 5}^3": (gallery.poisson3d, cube * 4 // 5, {"points": 27}),
        f"anisotropic {side}^2": (gallery.anisotropic, side),
        f"convection-diffusion {side}^2": (gallery.convection_diffusion, side),
        f"elasticity2d {side}^2": (gallery.elasticity2d, side),
        f"elasticity3d {cube * 5 // 8}^3": (gallery.elasticity3d, cube * 5 // 8),
        f"delaunay {side}^2": (gallery.delaunay, side, {"seed": 1}),
        f"delaunay {side}^2 permuted": (gallery.delaunay, side, {"permuted": True, "seed": 1}),
        f"quadratic tetrahedra {cube // 4}^3": (gallery.quadratic_tetrahedra, cube // 4),
        f"discontinuous {side // 5}^2": (gallery.discontinuous, side // 5),
        f"road network {side}^2": (gallery.road_network, side, {"seed": 1}),
        f"rmat {scale}": (gallery.rmat, scale, 16, {"seed": 1}),
        f"power law {n}": (gallery.power_law, n, 4, {"seed": 1}),
        f"circuit {n}": (gallery.circuit, n, 3, {"seed": 1}),
        f"linear program {n // 4}x{n}": (gallery.linear_program, n // 4, n, {"seed": 1}),
        f"banded {n}": (gallery.banded, n, 2000, 16, {"seed": 1}),
        f"block diagonal {n // 2}": (gallery.block_diagonal, n // 2, 16, {"seed": 1}),
        f"arrow {n}": (gallery.arrow, n),
    }
    if not small:
        makers["poisson2d 4096^2"] = (gallery.poisson2d, 4096)
    return {name: _maker(*maker) for name, maker in makers.items()}


def _maker(function, *sizes):
    options = sizes[-1] if isinstance(sizes[-1], dict) else {}
    sizes = sizes[:-1] if options else sizes
    return lambda dtype: function(*sizes, dtype=dtype, **options)


def matrices_of_folder(folder):
    """Makers of the matrices in MatrixMarket files."""
    from scipy.io import mmread

    def maker(path):
        return lambda dtype: sparse.csr_array(mmread(path, spmatrix=False).tocsr().astype(dtype))

    return {path.stem: maker(path) for path in sorted(Path(folder).glob("*.mtx"))}


def device_seconds(call, least_seconds=0.2):
    """Seconds of one call, by the clock over calls that fill the queue: the median of seven rounds."""
    call()
    wait()
    start = time.perf_counter()
    call()
    wait()
    calls = int(np.clip(least_seconds / 7 / max(time.perf_counter() - start, 1e-7), 1, 1000))
    rounds = []
    for _ in range(7):
        wait()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        wait()
        rounds.append((time.perf_counter() - start) / calls)
    return statistics.median(rounds)


def copy_bandwidth():
    """Bytes a second that a copy on the device reads and writes."""
    a = rnp.zeros((1 << 24) if DEVICE.is_virtual else (1 << 28), np.uint8)
    b = rnp.empty_like(a)
    return 2 * a.nbytes / device_seconds(lambda: cuda.memcpy_dtod_async(b.gpudata, a.gpudata, a.nbytes))


_GATHER = """
extern "C" __global__ void gather(T *out, const int *indices, const T *x, int count, int mask)
{
  T sum = 0;
  for (int base = blockIdx.x * 2048; base < count; base += gridDim.x * 2048) {
    int columns[8];
    _Pragma("unroll") for (int n = 0; n < 8; n++) columns[n] = indices[base + n * 256 + threadIdx.x] & mask;
    _Pragma("unroll") for (int n = 0; n < 8; n++) sum += x[columns[n]];
  }
  if (sum == (T)0.5) out[0] = sum;
}
extern "C" __global__ void nothing() {}
"""


@functools.cache
def gathers_per_second(dtype):
    """Random elements of a vector of 4 MiB, which caches of multiprocessors do not hold, that a device reads in a second."""
    count, size = (1 << 16, 1 << 12) if DEVICE.is_virtual else (1 << 24, (1 << 22) // dtype.itemsize)
    gather = SourceModule(f"typedef {'float' if dtype.itemsize == 4 else 'double'} T;" + _GATHER, no_extern_c=True)
    indices = rnp.to_gpu(np.random.default_rng(0).integers(0, 1 << 30, count, dtype=np.int32))
    x, out = rnp.zeros(size, dtype), rnp.zeros(1, dtype)
    call = gather.get_function("gather")
    grid = (max(1, count // 2048), 1)
    args = out.gpudata, indices.gpudata, x.gpudata, np.int32(count), np.int32(size - 1)
    return count / device_seconds(lambda: call(*args, block=(256, 1, 1), grid=grid))


@functools.cache
def launch_seconds():
    """The time of a kernel that does nothing, in a full queue."""
    call = SourceModule(_GATHER.replace("T", "float"), no_extern_c=True).get_function("nothing")
    return device_seconds(lambda: call(block=(32, 1, 1), grid=(1, 1)))


def sectors_per_element(a):
    """Sectors of 32 bytes of `x` that 32 adjacent elements need, for each of them: by 4096 places of the matrix."""
    places = np.unique(np.linspace(0, max(0, a.nnz - 32), 4096).astype(np.int64))
    columns = a.indices[rnp.to_gpu((places[:, None] + np.arange(32)).ravel() % max(1, a.nnz))].get()
    sectors = np.sort(columns.reshape(-1, 32) * a.dtype.itemsize // 32, axis=1)
    return float((1 + (np.diff(sectors, axis=1) != 0).sum(1)).mean() / 32)


def csr_bytes(a):
    """Bytes that a product with `a` has to move, each once."""
    item = a.dtype.itemsize
    index = a.indices.dtype.itemsize
    return a.nnz * (item + index) + (a.shape[0] + 1) * index + sum(a.shape) * item


def peers(host):
    """(name, maker of an operator, maker of a vector, wait, copy to the host) of each library that is there."""
    found = []
    try:
        import cupy
        import cupyx.scipy.sparse

        stream = cupy.cuda.get_current_stream()
        found.append(("cupy", cupyx.scipy.sparse.csr_matrix(host), cupy.asarray, stream.synchronize, cupy.asnumpy))
    except ImportError:
        pass
    try:
        import torch

        if torch.cuda.is_available():
            parts = [torch.as_tensor(part).cuda() for part in (host.indptr, host.indices, host.data)]
            a = torch.sparse_csr_tensor(*parts, size=host.shape)
            to_host = lambda v: v.cpu().numpy()  # noqa: E731
            found.append(("torch", a, lambda v: torch.as_tensor(v).cuda(), torch.cuda.synchronize, to_host))
    except ImportError:
        pass
    if DEVICE.is_virtual or not found:
        found.append(("scipy", host, np.asarray, lambda: None, np.asarray))
    return found


def host_copy(a):
    """The matrix of SciPy, if that is installed."""
    try:
        return a.get()
    except ImportError:
        return None


def check(name, got, wanted, scale):
    error = np.abs(got - wanted).max() / max(scale, 1e-30)
    if not error < (1e-4 if wanted.dtype == np.float32 else 1e-10):
        raise SystemExit(f"{name}: results differ by {error:.1e} of the largest")


def spmv_row(name, a, seconds, limits, bandwidth, own_bytes=None, more=""):
    own = "" if own_bytes is None else f", {own_bytes / bandwidth / seconds:.0%} of its own ({own_bytes / 1e6:.1f} MB)"
    parts = ", ".join(f"{limit / seconds:4.0%} {kind}" for kind, limit in limits.items())
    print(f"    {name:14} {2 * a.nnz / seconds / 1e9:9.2f} GFLOP/s {seconds * 1e6:10.1f} us: {parts}{own}{more}")
    return seconds


def formats(a):
    """(name, matrix whose products take it, bytes of a product) of the formats that a matrix fits."""
    vectors = sum(a.shape) * a.dtype.itemsize
    is_skewed = a._native.features()[0] > 16 * a.nnz / a.shape[0] + 64
    for sigma in () if is_skewed else (1, 1024, a.shape[0]):
        sell = a._native.to_sell(sigma, 1.5)
        if sell is not None:
            bits = 16 if sell.has_short_columns else 8 * a.indices.dtype.itemsize
            yield f"sell {sigma if sigma < a.shape[0] else 'all'} ({bits} bits)", sell, sell.nbytes + vectors
    block = sparse._plan._full_block(a)
    if block > 1:
        bsr = a.tobsr((block, block))._native
        yield f"bsr {block}x{block}", bsr, bsr.nbytes + vectors


def spmv(made, bandwidth):
    ratios = {}
    for title, make in made.items():
        for dtype in (np.dtype(np.float32), np.dtype(np.float64)):
            a = make(dtype)
            limits = {
                "bytes": csr_bytes(a) / bandwidth,
                "gathers": a.nnz * sectors_per_element(a) / gathers_per_second(dtype),
                "launch": launch_seconds(),
            }
            row = functools.partial(spmv_row, a=a, limits=limits, bandwidth=bandwidth)
            text = ", ".join(f"{kind} {limit * 1e6:.1f} us" for kind, limit in limits.items())
            print(f"  {title}, {dtype}: {a.shape[0]} rows, {a.nnz} elements, limits {text}", flush=True)
            x = np.random.default_rng(0).standard_normal(a.shape[1]).astype(dtype)
            on_device, out = rnp.to_gpu(x), rnp.empty(a.shape[0], dtype)
            result = (a @ on_device).get()
            plain = row("rtcg csr", seconds=device_seconds(lambda a=a, x=on_device, y=out: a._matvec(x, y)))
            for name, matrix, own_bytes in formats(a):
                planned = a._native.planned(matrix)
                check(name, planned.matvec(on_device).get(), result, np.abs(result).max())
                seconds = device_seconds(lambda a=planned, x=on_device, y=out: a.matvec(x, y))
                row(f"rtcg {name}", seconds=seconds, own_bytes=own_bytes)
            # What has to be compiled has been, after the first.
            for _ in range(2):
                with tempfile.TemporaryDirectory() as folder:
                    plan = sparse.plan(make_again(a), store=tune.Store(folder))
            check("rtcg plan", (plan @ on_device).get(), result, np.abs(result).max())
            report = plan.report
            more = (
                f"; {report.kernel}, analysis {report.analysis_products:.0f} products, copy {report.build_products:.0f}; "
                + ", ".join(f"{name} {1e6 * (found or np.nan):.1f}" for name, found in report.candidates.items())
            )
            seconds = device_seconds(lambda a=plan.matrix, x=on_device, y=out: a._matvec(x, y))
            planned = row("rtcg plan", seconds=seconds, own_bytes=report.nbytes, more=more)
            host, best = host_copy(a), np.inf
            for peer, matrix, to_device, synchronize, to_host in peers(host) if host is not None else []:
                y = to_device(x)
                check(peer, to_host(matrix @ y), result, np.abs(result).max())
                global wait
                wait = synchronize
                best = min(best, row(peer, seconds=device_seconds(lambda a=matrix, y=y: a @ y)))
                wait = cuda.Context.synchronize
            ratios[f"{title}, {dtype}"] = best / plain, best / planned
    for k, which in enumerate(("compressed rows", "planned")):
        worst = min(ratios, key=lambda name, k=k: ratios[name][k], default=None)
        if worst is not None and np.isfinite(ratios[worst][k]):
            print(f"  {which} at worst {ratios[worst][k]:.2f} times as fast as the best peer: {worst}")


def make_again(a):
    """The same matrix, without a plan."""
    return sparse.csr_array._of(a.shape, a.data, a.indices, a.indptr)


def spmm(made, bandwidth):
    for title, make in made.items():
        a = make(np.float32)
        for columns in (2, 4, 8, 16, 32, 128):
            if a.shape[1] * columns > (1 << 20 if DEVICE.is_virtual else 1 << 28):
                continue
            x = np.random.default_rng(0).standard_normal((a.shape[1], columns)).astype(np.float32)
            nbytes = csr_bytes(a) + sum(a.shape) * (columns - 1) * a.dtype.itemsize
            print(f"  {title}, {columns} columns: limit {nbytes / bandwidth * 1e6:.1f} us")
            result = (a @ rnp.to_gpu(x)).get()
            rows = []
            for order in "CF":
                on_device = rnp.to_gpu(np.array(x, order=order))
                rows.append((f"rtcg {order}", device_seconds(lambda a=a, x=on_device: a @ x)))
            host = host_copy(a)
            for peer, matrix, to_device, synchronize, to_host in peers(host) if host is not None else []:
                y = to_device(x)
                check(peer, to_host(matrix @ y), result, np.abs(result).max())
                global wait
                wait = synchronize
                rows.append((peer, device_seconds(lambda a=matrix, y=y: a @ y)))
                wait = cuda.Context.synchronize
            for name, seconds in rows:
                rate = 2 * a.nnz * columns / seconds / 1e9
                part = nbytes / bandwidth / seconds
                print(f"    {name:14} {rate:9.2f} GFLOP/s {seconds * 1e6:10.1f} us {part:7.0%} of the limit")


def spgemm(made, bandwidth):
    operations = {
        "A @ A": lambda a, b, coo: a @ a,
        "A + A.T": lambda a, b, coo: a + b,
        "COO to CSR": lambda a, b, coo: coo.tocsr(),
        "CSC to CSR": lambda a, b, coo: a.tocsc(),
    }
    for title, make in made.items():
        a = make(np.float64)
        products = int(np.diff(a.indptr.get()).astype(np.int64)[a.indices.get()].sum())
        host = host_copy(a)
        print(f"  {title}: {a.nnz} elements, {products} products")
        libraries = [("rtcg", a, rnp.to_gpu)]
        # cuSPARSE needs memory for all products.
        most = 3e7 if DEVICE.is_virtual else 1.5e9
        found = peers(host) if host is not None else []
        libraries += [(peer, matrix, to_device) for peer, matrix, to_device, *_ in found if peer != "torch"]
        for name, operation in operations.items():
            if name == "A @ A" and products > most:
                print(f"    {name}: left out")
                continue
            counts, rows = {}, []
            for library, matrix, to_device in libraries:
                coo = matrix.tocoo()
                order = to_device(np.random.default_rng(0).permutation(matrix.nnz))
                parts = coo.data[order], (coo.row[order], coo.col[order])
                mixed = type(coo)(parts, shape=coo.shape)
                transposed = matrix.T.tocsr()
                call = lambda m=matrix, t=transposed, c=mixed, f=operation: f(m, t, c)  # noqa: E731
                counts[library] = call().nnz
                rows.append((library, device_seconds(call)))
            if len(set(counts.values())) > 1:
                print(f"    {name}: numbers of elements differ: {counts}")
            for library, seconds in rows:
                print(f"    {name:12} {library:8} {seconds * 1e3:10.3f} ms {rows[0][1] / seconds:7.2f} of rtcg's rate")


def triangular(made, _bandwidth):
    for name, make in made.items():
        a = make(np.float64)
        n = a.shape[0]
        if n != a.shape[1]:
            continue
        dominant = (a + sparse.eye_array(n) * float(linalg.norm(a, np.inf).get())).tocsr()
        lower, b = sparse.tril(dominant).tocsr(), np.random.default_rng(0).standard_normal(n)
        solver, right = linalg.TriangularSolver(lower), rnp.to_gpu(b)
        x = solver.solve(right).get()
        seconds = device_seconds(lambda solver=solver, right=right: solver.solve(right))
        analysis = device_seconds(lambda lower=lower: linalg.TriangularSolver(lower))
        factors = device_seconds(lambda dominant=dominant: linalg.ilu0(dominant))
        print(f"  {name}: {n} rows, {lower.nnz} elements, {solver.levels} levels")
        print(
            f"    rtcg {seconds * 1e3:.3f} ms, analysis {analysis / seconds:.1f} solutions, ilu0 {factors * 1e3:.2f} ms"
        )
        if (host := host_copy(lower)) is None:
            continue
        try:
            import cupy
            from cupyx.scipy.sparse import csr_matrix
            from cupyx.scipy.sparse.linalg import spsolve_triangular

            matrix, vector = csr_matrix(host), cupy.asarray(b)
            check("cupy", cupy.asnumpy(spsolve_triangular(matrix, vector)), x, abs(x).max())
            peer = lambda matrix=matrix, vector=vector: spsolve_triangular(matrix, vector)  # noqa: E731
            print(f"    cupy {device_seconds(peer) * 1e3:.3f} ms")
        except ImportError:
            pass
        import scipy.sparse.linalg

        start = time.perf_counter()
        check("scipy", scipy.sparse.linalg.spsolve_triangular(host, b), x, abs(x).max())
        print(f"    scipy {(time.perf_counter() - start) * 1e3:.3f} ms")


def cg_row(name, seconds, iterations, limit, more=""):
    each = seconds / max(1, iterations)
    print(
        f"    {name:14} {each * 1e6:10.1f} us an iteration {limit / each:7.0%} of the limit, {iterations} iterations{more}"
    )


def solve_seconds(solve):
    """The median of three solutions, behind one that loads."""
    solve()
    rounds = []
    for _ in range(3):
        wait()
        start = time.perf_counter()
        result = solve()
        wait()
        rounds.append(time.perf_counter() - start)
    return statistics.median(rounds), result


def cg(made, bandwidth):
    iterations = 100 if DEVICE.is_virtual else 500
    for title, make in made.items():
        if not title.startswith("poisson"):
            continue
        for dtype in (np.float32, np.float64):
            a = make(dtype)
            b = np.random.default_rng(0).standard_normal(a.shape[0]).astype(dtype)
            right = rnp.to_gpu(b)
            # The product; two vectors updated from two others; one direction from two vectors.
            limit = (csr_bytes(a) + 9 * a.shape[0] * a.dtype.itemsize) / bandwidth
            print(f"  {title}, {np.dtype(dtype)}: limit {limit * 1e6:.1f} us")
            for operand, mode in ((a, "stream"), (a, "graph"), (a.todia(), "graph")):
                solve = lambda a=operand, mode=mode, b=right: linalg.cg(  # noqa: E731
                    a, b, rtol=0, maxiter=iterations, mode=mode, return_report=True
                )
                seconds, (x, _, report) = solve_seconds(solve)
                waits = f", {report.waits_in_loop} waits in the loop"
                cg_row(f"rtcg {operand.format} {mode}", seconds, report.iterations, limit, waits)
            host = host_copy(a)
            if host is None:
                continue
            try:
                import cupy
                import cupyx.scipy.sparse
                import cupyx.scipy.sparse.linalg

                theirs, on_device = cupyx.scipy.sparse.csr_matrix(host), cupy.asarray(b)
                seconds, _ = solve_seconds(
                    lambda a=theirs, b=on_device: cupyx.scipy.sparse.linalg.cg(a, b, rtol=0, maxiter=iterations)
                )
                cg_row("cupy", seconds, iterations, limit)
            except ImportError:
                pass
            if host.nnz < 1e7:
                from scipy.sparse import linalg as scipy_linalg

                few = min(iterations, 50)
                seconds, _ = solve_seconds(lambda a=host, b=b, few=few: scipy_linalg.cg(a, b, rtol=0, maxiter=few))
                cg_row("scipy", seconds, few, limit)


def solution_row(name, seconds, norm, more=""):
    print(f"    {name:20} {seconds * 1e3:10.2f} ms, relative residual {norm:.1e}{more}")


def compare_solvers(title, a, name, options):
    """A whole solution by us in each mode, by CuPy and by SciPy, each with its residual."""
    from scipy.sparse import linalg as scipy_linalg

    host, b = a.get(), np.random.default_rng(0).standard_normal(a.shape[0])
    residual = lambda x: np.linalg.norm(b - host @ x) / np.linalg.norm(b)  # noqa: E731
    right = rnp.to_gpu(b)
    print(f"  {title}: {a.shape[0]} rows")
    for mode in ("stream", "graph"):
        solve = lambda mode=mode: getattr(linalg, name)(a, right, mode=mode, return_report=True, **options)  # noqa: E731
        seconds, (x, info, report) = solve_seconds(solve)
        more = f", {report.iterations} iterations, {report.waits_in_loop} waits in the loop, info {info}"
        solution_row(f"rtcg {mode}", seconds, residual(x.get()), more)
    try:
        import cupy
        import cupyx.scipy.sparse
        import cupyx.scipy.sparse.linalg as theirs

        matrix, vector = cupyx.scipy.sparse.csr_matrix(host), cupy.asarray(b)
        # CuPy has no BiCGSTAB; CGS is what it has for such matrices.
        peer = name if hasattr(theirs, name) else "cgs"
        solve = lambda: getattr(theirs, peer)(matrix, vector, **options)  # noqa: E731
        seconds, (x, _) = solve_seconds(solve)
        solution_row(f"cupy {peer}", seconds, residual(cupy.asnumpy(x)))
    except ImportError:
        pass
    seconds, (x, _) = solve_seconds(lambda: getattr(scipy_linalg, name)(host, b, **options))
    solution_row("scipy", seconds, residual(x))


def solvers(small):
    side, wide, cube = (64, 96, 16) if small else (256, 512, 128)
    compare_solvers(f"cg, poisson2d {side}^2", gallery.poisson2d(side), "cg", {"rtol": 1e-8})
    flow = gallery.convection_diffusion(wide)
    compare_solvers(f"bicgstab, convection-diffusion {wide}^2", flow, "bicgstab", {"rtol": 1e-8})
    cycles = {"rtol": 1e-4, "restart": 30, "maxiter": 20}
    compare_solvers(f"gmres(30), convection-diffusion {wide}^2", flow, "gmres", cycles)
    try:
        import pyamg
        from scipy.sparse import csr_matrix
    except ImportError:
        return
    a = gallery.poisson3d(cube)
    host, b = csr_matrix(a.get()), np.random.default_rng(0).standard_normal(a.shape[0])
    smoother = ("jacobi", {"omega": 4 / 3})
    ml = pyamg.smoothed_aggregation_solver(host, presmoother=smoother, postsmoother=smoother)
    M, right, residuals = linalg.amg(ml), rnp.to_gpu(b), []
    print(f"  cg with PyAMG's hierarchy, poisson3d {cube}^3: {a.shape[0]} rows, {len(ml.levels)} levels")
    for mode in ("stream", "graph"):
        solve = lambda mode=mode: linalg.cg(a, right, M=M, rtol=1e-8, mode=mode, return_report=True)  # noqa: E731
        seconds, (x, _, report) = solve_seconds(solve)
        norm = np.linalg.norm(b - host @ x.get()) / np.linalg.norm(b)
        solution_row(f"rtcg {mode}", seconds, norm, f", {report.iterations} iterations")
    start = time.perf_counter()
    x = ml.solve(b, tol=1e-8, accel="cg", residuals=residuals)
    seconds, norm = time.perf_counter() - start, np.linalg.norm(b - host @ x) / np.linalg.norm(b)
    solution_row("pyamg", seconds, norm, f", {len(residuals) - 1} iterations")


def calls():
    """Host time of a product that takes the device no time."""
    a = gallery.poisson1d(1000, dtype=np.float32)
    x = rnp.zeros(1000, np.float32)
    print(f"  rtcg: {device_seconds(lambda: a @ x) * 1e6:.2f} us of A @ x with 1000 rows")
    host = host_copy(a)
    for peer, matrix, to_device, synchronize, _ in peers(host) if host is not None else []:
        global wait
        wait = synchronize
        y = to_device(np.zeros(1000, np.float32))
        print(f"  {peer}: {device_seconds(lambda a=matrix, y=y: a @ y) * 1e6:.2f} us")
        wait = cuda.Context.synchronize


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "tables",
        nargs="*",
        metavar="table",
        help="spmv, spmm, spgemm, triangular, cg, solvers, calls; all of them unless given",
    )
    parser.add_argument("--matrix", help="only matrices whose names begin with one of these, between commas")
    parser.add_argument("--folder", help="a folder of MatrixMarket files instead of the gallery")
    parser.add_argument("--small", action="store_true", help="smaller matrices")
    options = parser.parse_args()
    known = ["spmv", "spmm", "spgemm", "triangular", "cg", "solvers", "calls"]
    tables = options.tables or known
    if unknown := set(tables) - set(known):
        parser.error(f"no such table: {', '.join(sorted(unknown))}")
    made = matrices_of_folder(options.folder) if options.folder else matrices(options.small or DEVICE.is_virtual)
    chosen = tuple((options.matrix or "").split(","))
    made = {name: make for name, make in made.items() if name.startswith(chosen)}
    bandwidth = copy_bandwidth()
    print(f"{DEVICE.name()}: a copy reads and writes {bandwidth / 1e9:.0f} GB/s")
    for table in tables:
        print(table)
        if table == "calls":
            calls()
        elif table == "solvers":
            solvers(options.small or DEVICE.is_virtual)
        else:
            fit = (
                chosen if options.matrix else {"spmm": _DENSE, "spgemm": _SQUARE, "triangular": _SQUARE}.get(table, "")
            )
            few = {name: make for name, make in made.items() if name.startswith(fit)}
            tables_of_matrices = {"spmv": spmv, "spmm": spmm, "spgemm": spgemm, "triangular": triangular, "cg": cg}
            tables_of_matrices[table](few, bandwidth)


if __name__ == "__main__":
    main()
