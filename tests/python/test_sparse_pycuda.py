"""`pycuda.sparse`: packets and conjugate gradients with operators, as programs written for PyCUDA use them."""

import itertools

import numpy as np
import pytest
from depth import each_kind

scipy_sparse = pytest.importorskip("scipy.sparse")

import pycuda.driver as cuda  # noqa: E402
from pycuda import gpuarray  # noqa: E402
from pycuda.sparse.cg import CGStateContainer, ConvergenceError, solve_pkt_with_cg  # noqa: E402
from pycuda.sparse.coordinate import CoordinateSpMV  # noqa: E402
from pycuda.sparse.inner import AsyncInnerProduct, get_stream  # noqa: E402
from pycuda.sparse.operator import DiagonalPreconditioner, IdentityOperator, OperatorBase  # noqa: E402
from pycuda.sparse.packeted import PacketedSpMV  # noqa: E402
from pycuda.sparse.pkt_build import build_pkt_data_structure  # noqa: E402
from pycuda.tools import PageLockedMemoryPool  # noqa: E402

pytestmark = pytest.mark.usefixtures("context")


def poisson(n):
    line = scipy_sparse.diags_array([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1])
    eye = scipy_sparse.eye_array(n)
    return scipy_sparse.csr_matrix(scipy_sparse.kron(line, eye) + scipy_sparse.kron(eye, line))


def test_a_program_that_solves_a_system():
    mat = poisson(90)
    spmv = PacketedSpMV(mat, True, mat.dtype)
    rhs = np.random.default_rng(0).random(spmv.shape[0]).astype(spmv.dtype)
    inverse = gpuarray.to_gpu((1 / mat.diagonal()).astype(spmv.dtype))
    precon = DiagonalPreconditioner(spmv.permute(inverse))
    start, stop = cuda.Event(), cuda.Event()
    start.record()
    b = gpuarray.to_gpu(rhs)
    solution, iterations, residuals = solve_pkt_with_cg(
        spmv, b, precon, tol=1e-7, pagelocked_allocator=PageLockedMemoryPool().allocate
    )
    stop.record()
    stop.synchronize()
    assert iterations > 50 and 1 <= residuals <= iterations // 50 + 1
    assert np.linalg.norm(mat @ solution.get() - rhs) < 1e-6 * np.linalg.norm(rhs)
    # From the solution on: the start is in the order of the matrix, and is not written.
    again, _, _ = solve_pkt_with_cg(spmv, b, x=b)
    assert (b.get() == rhs).all()
    np.testing.assert_allclose(again.get(), solution.get(), atol=1e-3)


@pytest.mark.parametrize(
    "symmetric, dtype",
    each_kind(itertools.product([True, False], [np.float32, np.float64, np.complex64, np.complex128])),
)
def test_packets(dtype, symmetric):
    rng = np.random.default_rng(3)
    mat = poisson(110).astype(dtype)
    if not symmetric:
        mat = scipy_sparse.csr_matrix(mat + scipy_sparse.random_array(mat.shape, density=2e-4, rng=rng).astype(dtype))
    n = mat.shape[0]
    spmv = PacketedSpMV(mat, symmetric, dtype)
    assert spmv.shape == mat.shape and spmv.dtype == dtype
    assert (spmv.index_dtype, spmv.packed_index_dtype) == (np.int32, np.uint32)
    bases = spmv.packet_base_rows.get()
    assert len(bases) == spmv.block_count + 1 and (bases[0], bases[-1]) == (0, n)
    assert spmv.block_count == -(-n // spmv.rows_per_packet)
    assert 0 < np.diff(bases).min() and np.diff(bases).max() <= spmv.rows_per_packet
    new2old, old2new = spmv.new2old_fetch_indices.get(), spmv.old2new_fetch_indices.get()
    assert (new2old[old2new] == np.arange(n)).all()
    x = rng.standard_normal(n).astype(dtype)
    device = gpuarray.to_gpu(x)
    assert (spmv.permute(device).get() == x[new2old]).all()
    assert (spmv.unpermute(spmv.permute(device)).get() == x).all()
    eps = np.finfo(dtype).eps
    y = spmv.unpermute(spmv(spmv.permute(device))).get()
    np.testing.assert_allclose(y, mat @ x, atol=100 * eps)
    # With a vector: the product is added, and it is what is returned.
    out = gpuarray.to_gpu(x)
    assert spmv(spmv.permute(device), out) is out
    np.testing.assert_allclose(out.get(), x + (mat @ x)[new2old], atol=100 * eps)


def test_odd_matrices():
    with pytest.raises(ValueError, match="only square matrices"):
        PacketedSpMV(scipy_sparse.csr_matrix(np.ones((2, 3))), False, np.float64)
    for mat in (np.zeros((5, 5)), np.eye(1), np.eye(33)[::-1], np.arange(16.0).reshape(4, 4)):
        spmv = PacketedSpMV(scipy_sparse.csr_matrix(mat), False, np.float64)
        x = np.linspace(1, 2, len(mat))
        np.testing.assert_allclose(spmv.unpermute(spmv(spmv.permute(gpuarray.to_gpu(x)))).get(), mat @ x)


def test_coordinates():
    data, row, col = np.arange(1.0, 7), [0, 2, 2, 1, 0, 2], [1, 0, 0, 3, 1, 3]
    mat = scipy_sparse.coo_matrix((data, (row, col)), shape=(3, 4))
    spmv = CoordinateSpMV(mat, np.float32)
    x = np.arange(4, dtype=np.float32)
    assert (spmv(gpuarray.to_gpu(x)).get() == mat @ x).all()
    y = gpuarray.to_gpu(np.ones(3, np.float32))
    assert (spmv(gpuarray.to_gpu(x), y).get() == 1 + mat @ x).all() and (y.get() == 1 + mat @ x).all()


def test_inner_products_arrive():
    a, b = (gpuarray.to_gpu(np.arange(n, n + 9.0)) for n in (0, 3))
    product = AsyncInnerProduct(a, b, cuda.pagelocked_empty)
    assert product.gpu_result.get() == (a.get() * b.get()).sum()
    cuda.Context.synchronize()
    assert product.get_host_result() == product.gpu_result.get()
    assert product.get_host_result() is product.get_host_result()
    assert isinstance(get_stream(), cuda.Stream)


def test_states():
    mat = poisson(12)
    device = CoordinateSpMV(mat, np.float64)
    rhs = gpuarray.to_gpu(np.random.default_rng(1).standard_normal(144))

    class Operator(OperatorBase):
        dtype = np.dtype(np.float64)
        shape = mat.shape

        def __call__(self, x):
            return device(x)

    state = CGStateContainer(Operator())
    assert isinstance(state.precon, IdentityOperator)
    state.reset(rhs)
    # Twenty iterations as written down in any book.
    x, r = np.zeros(144), rhs.get()
    d, delta = r, r @ r
    for k in range(20):
        state.one_iteration(compute_real_residual=k % 3 == 2)
        q = mat @ d
        x, r = x + delta / (d @ q) * d, r - delta / (d @ q) * q
        d, delta = r + r @ r / delta * d, r @ r
        np.testing.assert_allclose(state.x.get(), x, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(state.residual.get(), r, rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(state.delta.get(), delta, rtol=1e-8)
        np.testing.assert_allclose(state.d.get(), d, rtol=1e-8, atol=1e-12)
    assert len(state.real_delta_queue) == 7
    state.reset(rhs)
    with pytest.raises(ConvergenceError, match="failed to converge"):
        state.run(max_iterations=5)
    seen = []
    state.reset(rhs)
    found = state.run(tol=1e-6, debug_callback=lambda *about: seen.append(about[:2]))
    np.testing.assert_allclose(mat @ found.get(), rhs.get(), atol=1e-4)
    assert seen[:2] == [("it+residual", 0), ("it", 1)] and seen[50][0] == "it+residual" and seen[-1][0] == "end"
    # A right side of zeros is 0 / 0 everywhere.
    state.reset(gpuarray.zeros(144, np.float64))
    assert not state.run().get().any()


def test_operators():
    identity = IdentityOperator(np.dtype(np.float32), 3)
    assert (identity.shape, identity.dtype) == ((3, 3), np.float32)
    x = gpuarray.to_gpu(np.arange(3.0))
    assert identity(x) is x
    diagonal = DiagonalPreconditioner(gpuarray.to_gpu(np.array([2.0, 3, 4])))
    assert (diagonal.shape, diagonal.dtype) == ((3, 3), np.float64)
    assert diagonal(x).get().tolist() == [0, 3, 8]
    with pytest.raises(NotImplementedError):
        OperatorBase().shape  # noqa: B018


def test_packets_as_pycuda_stores_them():
    mat = poisson(5)
    order = np.random.default_rng(2).permutation(25)
    packets = [order[:13].tolist(), order[13:].tolist()]
    old2new = np.argsort(order)
    which = np.zeros(25, int)
    which[order[13:]] = 1
    coo = mat.tocoo()
    inside = which[coo.row] == which[coo.col]
    costs = np.bincount(coo.row[inside], minlength=25)
    threads = 4

    class Spmv:
        threads_per_packet, dtype, index_dtype, packed_index_dtype = threads, np.float64, np.int32, np.uint32

    assignments = [rows for packet in packets for rows in (packet[t::threads] for t in range(threads))]
    widest = max(sum(costs[row] for row in rows) for rows in assignments)
    spmv = Spmv()
    build_pkt_data_structure(spmv, packets, widest, old2new, mat, 2 * threads, assignments, costs)
    starts, ends, indices, data = (
        getattr(spmv, name).get() for name in ("thread_starts", "thread_ends", "index_array", "data_array")
    )
    x = np.arange(25.0)
    y = np.zeros(25)
    for thread, (start, end) in enumerate(zip(starts, ends, strict=True)):
        base = 13 * (thread // threads)
        for place in range(start, end, threads):
            row, col = base + (indices[place] >> 16), base + (indices[place] & 0xFFFF)
            assert order[row] in assignments[thread]
            y[row] += data[place] * x[col]
    local = scipy_sparse.csr_matrix((coo.data[inside], (coo.row[inside], coo.col[inside])), shape=(25, 25))
    np.testing.assert_allclose(y, local[order][:, order] @ x)
    with pytest.raises(ValueError, match="local_row_costs"):
        build_pkt_data_structure(spmv, packets, widest, old2new, mat, 2 * threads, assignments, costs + 1)
