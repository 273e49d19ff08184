"""Dask arrays with chunks on the device, beside the same with NumPy's."""

import pickle
import re
import time

import numpy as np
import pytest

import rtcg.numpy as rnp
from tests.dask import suite
from tests.python.depth import at_depth
from tests.python.subprocesses import ROOT, run_python

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
rtcg_dask = pytest.importorskip("rtcg.dask")


@pytest.fixture(autouse=True)
def _backend(context):
    """Every test here runs in the session's context, with the entry point's backend."""
    da.backends.array_creation_dispatch.register_backend("rtcg", rtcg_dask.Backend())
    with dask.config.set({"array.backend": "rtcg"}):
        yield


def compare(function, *hosts, chunks=(7, 5), tolerance=1e-12):
    """The same expression over device and host chunks; its result is on the device until the end."""
    with dask.config.set({"array.backend": "numpy"}):
        expected = function(*(da.from_array(host, chunks=chunks[: host.ndim]) for host in hosts)).compute()
    given = function(*(da.from_array(rnp.to_gpu(host), chunks=chunks[: host.ndim], asarray=False) for host in hosts))
    assert isinstance(given._meta, rnp.GPUArray)
    result = given.compute()
    assert isinstance(result, rnp.GPUArray) or np.isscalar(result)
    np.testing.assert_allclose(rnp.asnumpy(result), expected, rtol=tolerance, atol=tolerance)


def matrix(seed=0, shape=(20, 15)):
    return np.random.default_rng(seed).normal(size=shape)


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
@pytest.mark.parametrize("name, function", {
    "arithmetic": lambda x: (x + 1) * x - x / 3,
    "broadcast": lambda x: x - x.mean(axis=0),
    "sum": lambda x: x.sum(),
    "mean of rows": lambda x: x.mean(axis=1),
    "variance": lambda x: x.var(axis=0),
    "extremes": lambda x: da.maximum(x.max(axis=0), x.min(axis=0)),
    "transposed product": lambda x: x @ x.T,
    "tensordot": lambda x: da.tensordot(x, x, axes=([0], [0])),
    "einsum": lambda x: da.einsum("ij,ik->jk", x, x),
    "concatenate": lambda x: da.concatenate([x, 2 * x], axis=1),
    "stack": lambda x: da.stack([x, x[::-1]]),
    "take": lambda x: x[[3, 1, 19]],
    "slices": lambda x: x[2:17:3, ::-2],
    "reshape": lambda x: x.reshape(300),
    "cumsum": lambda x: x.cumsum(axis=0),
    "where": lambda x: da.where(x > 0, x, 0),
    "ufunc": lambda x: da.exp(da.sin(x)),
    "overlap": lambda x: x.map_overlap(lambda b: b + 1, depth=1, boundary="reflect"),
    "rechunk": lambda x: x.rechunk((20, 3)).sum(axis=1),
    "argmax": lambda x: x.argmax(axis=0),
    "astype": lambda x: (x * 100).astype("i4"),
    "norm": lambda x: da.linalg.norm(x),
}.items())  # fmt: skip
def test_expressions(scheduler, name, function):
    with dask.config.set(scheduler=scheduler):
        compare(function, matrix())


def test_two_operands_and_host_chunks_moved_to_the_device():
    compare(lambda x, y: (x * y).sum(axis=0), matrix(1), matrix(2))
    with dask.config.set({"array.backend": "numpy"}):
        host = da.from_array(matrix(3), chunks=5)
        moved = host.to_backend("rtcg")
    assert isinstance(moved._meta, rnp.GPUArray) and moved.to_backend("rtcg") is moved
    np.testing.assert_allclose((moved * 2).compute().get(), 2 * matrix(3))
    np.testing.assert_allclose((moved * 2).to_backend("numpy").compute(), 2 * matrix(3))
    # A device array meets a Dask array: Dask's operator is taken.
    both = rnp.ones(15) + moved
    assert isinstance(both, da.Array)
    np.testing.assert_allclose(both.compute().get(), 1 + matrix(3))


def test_creation_functions():
    for made, expected in [
        (da.ones((6, 4), chunks=3), np.ones((6, 4))),
        (da.zeros(5, dtype="i2", chunks=2), np.zeros(5, "i2")),
        (da.full((3, 3), 7, chunks=2), np.full((3, 3), 7)),
        (da.arange(2, 30, 3, chunks=4), np.arange(2, 30, 3)),
        (da.ones_like(da.zeros(5, chunks=2)), np.ones(5)),
    ]:
        result = made.compute()
        assert isinstance(result, rnp.GPUArray) and result.dtype == expected.dtype
        np.testing.assert_array_equal(result.get(), expected)
    assert da.empty((4, 5), chunks=2).compute().shape == (4, 5)


def test_percentiles():
    """Dask's are approximate; they are the same from either kind of chunk."""
    host = np.random.default_rng(0).normal(size=1000)
    found = []
    for made in (host, rnp.to_gpu(host)):
        result = da.percentile(da.from_array(made, chunks=250, asarray=False), [25, 50, 90]).compute()
        found.append(rnp.asnumpy(result))
    np.testing.assert_allclose(*found, rtol=1e-12)


def test_random_numbers_depend_on_the_seed_alone():
    draw = lambda seed: da.random.default_rng(seed).normal(2, 3, size=(1000, 30), chunks=(400, 30))  # noqa: E731
    first, second, other = draw(1).compute(), draw(1).compute(), draw(2).compute()
    assert isinstance(first, rnp.GPUArray)
    np.testing.assert_array_equal(first.get(), second.get())
    assert (first.get() != other.get()).all() and abs(first.get().mean() - 2) < 0.1
    # Chunks have sequences of their own.
    assert (first.get()[:400] != first.get()[400:800]).all()
    legacy = da.random.RandomState(7)
    numbers = legacy.random_sample((50, 40), chunks=20).compute()
    assert isinstance(numbers, rnp.GPUArray) and 0 <= numbers.get().min() and numbers.get().max() < 1
    np.testing.assert_array_equal(
        da.random.RandomState(7).random_sample((50, 40), chunks=20).compute().get(), numbers.get()
    )
    # NumPy's names for one thing have different upper ends.
    for name, arguments, expected in [
        ("randint", (3, 6), [3, 4, 5]),
        ("random_integers", (3, 6), [3, 4, 5, 6]),
        ("random_integers", (3,), [1, 2, 3]),
    ]:
        integers = getattr(legacy, name)(*arguments, size=500, chunks=200).compute()
        assert isinstance(integers, rnp.GPUArray)
        np.testing.assert_array_equal(np.unique(integers.get()), expected)
    bits = rtcg_dask.BitGenerator(5)
    again = pickle.loads(pickle.dumps(bits))
    assert again.state == bits.state and len(again._seed_seq.spawn(2)) == 2


def test_names_and_sizes():
    a = rnp.ones((100, 100))
    sized = dask.sizeof.Dispatch("sizeof")
    sized.register(object, lambda thing: 1)
    from rtcg import _dask_sizeof

    _dask_sizeof.register(sized)
    assert sized(a) == a.nbytes == 80_000 and sized(3) == 1
    assert dask.base.tokenize(a) == dask.base.tokenize(a.copy()) != dask.base.tokenize(a + 1)
    start = time.perf_counter()
    dask.base.tokenize(rnp.zeros(8 << 20, np.float32))
    assert time.perf_counter() - start < 30


def test_processes_get_chunks_and_kernels_by_pickles():
    program = """
import dask, dask.array as da, numpy as np
import rtcg.numpy as rnp, rtcg.dask
from rtcg.elementwise import ElementwiseKernel

double = ElementwiseKernel("double *z, const double *x", "z[i] = 2 * x[i]")

def doubled(block):
    z = rnp.empty_like(block)
    double(z, block)
    return z

if __name__ == "__main__":
    x = da.from_array(rnp.arange(12, dtype=np.float64), chunks=5, asarray=False)
    with dask.config.set(scheduler="processes", num_workers=2):
        print(x.map_blocks(doubled, meta=x._meta).sum().compute().get())
"""
    result = run_python("import pathlib, runpy, tempfile\n"
                        "with tempfile.TemporaryDirectory() as folder:\n"
                        f"    file = pathlib.Path(folder) / 'program.py'\n    file.write_text({program!r})\n"
                        "    runpy.run_path(str(file), run_name='__main__')\n", check=False)  # fmt: skip
    assert result.stdout == "132.0\n", result.stderr


@pytest.mark.parametrize("scheduler, share", at_depth([("threads", 8)], [("sync", 1), ("threads", 1)]))
def test_dasks_own_tests_of_cupy_arrays(scheduler, share):
    """One in eight, and all at depth; `make dask-suite` runs them and prints the reasons of those that are left out."""
    done = suite.run(scheduler, ["--one-in", str(share)], capture_output=True, text=True)
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout + done.stderr


def test_the_first_program_of_the_page(tmp_path):
    """With smaller chunks."""
    program = re.search(r"^```py\n(.*?)^```", (ROOT / "docs/dask.md").read_text(), re.M | re.S)[1]
    printed = run_python(program.replace("000", "0"), folder=tmp_path).stdout
    assert "shape=(200, 200)" in printed and "chunktype=rtcg.GPUArray" in printed
