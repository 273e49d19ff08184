"""Arrays and kernels in joblib's workers: processes and threads."""

import os

import numpy as np
import pytest

import rtcg.numpy as rnp
from rtcg import multiprocessing as rmp
from rtcg.elementwise import ElementwiseKernel

joblib = pytest.importorskip("joblib", reason="joblib is not installed (requirements-dev.txt)")
pytestmark = [pytest.mark.usefixtures("context"), pytest.mark.filterwarnings("ignore::UserWarning")]


@pytest.fixture(scope="module", autouse=True)
def _no_workers_stay():
    yield
    joblib.externals.loky.get_reusable_executor().shutdown(wait=True)


def scaled():
    """A function that is pickled with its kernel, since workers need not find this file."""
    scale = ElementwiseKernel("double *z, const double *x, double a", "z[i] = a * x[i]")

    def call(x, factor):
        z = rnp.empty_like(x)
        scale(z, x, factor)
        return z

    return call


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_arrays_and_kernels(backend):
    # The second is so large that joblib maps its elements from a file.
    for count in (1000, 1 << 18):
        x = rnp.arange(count, dtype=np.float64)
        found = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(scaled())(x[k:], k) for k in range(3))
        for k, z in enumerate(found):
            assert isinstance(z, rnp.GPUArray)
            np.testing.assert_array_equal(z.get(), k * np.arange(k, count))


def test_a_killed_worker():
    def dies(x):
        os.kill(os.getpid(), 9)

    x = rnp.arange(1000, dtype=np.float64)
    with pytest.raises(joblib.externals.loky.process_executor.TerminatedWorkerError):
        joblib.Parallel(n_jobs=2)(joblib.delayed(dies)(x) for _ in range(2))
    assert not rmp.leases()
    (z,) = joblib.Parallel(n_jobs=2)([joblib.delayed(scaled())(x, 2)])
    np.testing.assert_array_equal(z.get(), 2 * np.arange(1000))


def test_arguments_without_a_copy():
    """With the reducer in loky's table, workers use the memory of this process."""
    table = joblib.externals.loky.backend.reduction
    before = dict(table._dispatch_table)
    table.register(rnp.GPUArray, rmp.reduce_array)
    try:
        x = rnp.arange(1000, dtype=np.float64)

        def double(part):
            part *= 2
            return len(part.get())  # Nobody else waits for the work of this process.

        assert joblib.Parallel(n_jobs=2)(joblib.delayed(double)(x[k::2]) for k in range(2)) == [500, 500]
        np.testing.assert_array_equal(x.get(), 2 * np.arange(1000))
        # A worker may hold its last arguments until the next ones come.
        joblib.externals.loky.get_reusable_executor().shutdown(wait=True)
        assert rmp.wait_for_consumers(20)
    finally:
        table._dispatch_table.clear()
        table._dispatch_table.update(before)
