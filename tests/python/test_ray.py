"""Arrays and kernels in Ray's tasks and actors, and the tensor transport between actors of a node."""

import os
import shutil
import tempfile
import time

import numpy as np
import pytest

import rtcg.numpy as rnp
from rtcg.elementwise import ElementwiseKernel

ray = pytest.importorskip("ray", reason="ray is not installed (requirements-dev.txt)")
rtcg_ray = pytest.importorskip("rtcg.ray")
from rtcg import multiprocessing as rmp  # noqa: E402

# Ray's own warnings, and what its threads raise when an actor dies.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module", autouse=True)
def _cluster(context):
    """One Ray for the whole file: two workers, no dashboard, and nothing outside of a folder that is removed."""
    # The names of its sockets may be no longer than 107 bytes.
    folder = tempfile.mkdtemp(prefix="ray", dir="/tmp")
    options = {"RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS": "0"}
    before = {name: os.environ.get(name) for name in options}
    os.environ.update(options)
    rtcg_ray.register()
    rtcg_ray.register()  # A second call does nothing.
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="error",
        object_store_memory=100 << 20,
        _temp_dir=folder,
    )
    yield
    ray.shutdown()
    shutil.rmtree(folder, ignore_errors=True)
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.update({name: value})


def until(condition, limit_s=20):
    limit = time.monotonic() + limit_s
    while not (found := condition()) and time.monotonic() < limit:
        time.sleep(0.05)
    return found


def get(ref):
    return ray.get(ref, timeout=60)


# Classes and functions are pickled with this file's contents, since workers need not find it.


def actors():
    @ray.remote(num_cpus=0)
    class Source:
        def __init__(self):
            self.a = rnp.arange(1000, dtype=np.float64)

        @ray.method(tensor_transport="rtcg")
        def some(self, start):
            return {"view": self.a[start::2], "none": rnp.zeros((0, 3)), "words": "besides"}

        @ray.method(tensor_transport="rtcg")
        def late(self):
            from rtcg import driver

            stream, a = driver.Stream(1), rnp.zeros(100)
            driver.Context.synchronize()
            stream.launch_host_func(time.sleep, 0.3)
            with stream:
                a += 1
            return a

        @ray.method(tensor_transport="rtcg")
        def managed(self):
            from rtcg import driver

            memory = driver.managed_zeros(8, np.float32, mem_flags=driver.mem_attach_flags.GLOBAL)
            return rnp.GPUArray(8, np.float32, gpudata=memory.base)

        def seen(self):
            return self.a.get(), self.a.ptr

        def own(self, value):
            return value["view"].ptr

        def n_leases(self):
            from rtcg import multiprocessing

            return len(multiprocessing.leases())

        def pid(self):
            return os.getpid()

    @ray.remote(num_cpus=0, enable_tensor_transport=True)
    class Sink:
        def double(self, value):
            value["view"] *= 2
            return value["view"].get(), value["none"].shape, value["words"]

        def keep(self, value):
            self.kept = value

        def total(self, a):
            return float(a.sum().get())

        def die(self, value):
            os.kill(os.getpid(), 9)

    return Source, Sink


def test_arrays_and_kernels_in_tasks():
    scale = ElementwiseKernel("double *z, const double *x, double a", "z[i] = a * x[i]")

    @ray.remote
    def scaled(x, factor):
        z = rnp.empty_like(x)
        scale(z, x, factor)
        return z

    x = rnp.arange(1000, dtype=np.float64)
    first = scaled.remote(x[10:], 2)
    second = scaled.remote(first, 3)
    assert isinstance(get(second), rnp.GPUArray)
    np.testing.assert_array_equal(get(second).get(), 6 * np.arange(10, 1000))
    np.testing.assert_array_equal(get(ray.put({"x": x}))["x"].get(), np.arange(1000))
    assert not rmp.leases()


def test_a_task_that_is_killed_runs_again(tmp_path):
    mark = tmp_path / "ran"

    @ray.remote(max_retries=1)
    def dies_once(x):
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), 9)
        return x + 1

    assert get(dies_once.remote(rnp.arange(5))).get().tolist() == [1, 2, 3, 4, 5]
    assert mark.exists() and not rmp.leases()


def test_actors_share_memory():
    Source, Sink = actors()
    source, sinks = Source.remote(), [Sink.remote() for _ in range(2)]
    ref = source.some.remote(1)
    expected = np.arange(1, 1000, 2, dtype=np.float64)
    for k, sink in enumerate(sinks):
        view, shape, words = get(sink.double.remote(ref))
        np.testing.assert_array_equal(view, 2 ** (k + 1) * expected)
        assert shape == (0, 3) and words == "besides"
    elements, address = get(source.seen.remote())
    np.testing.assert_array_equal(elements[1::2], 4 * expected)
    np.testing.assert_array_equal(elements[::2], np.arange(0, 1000, 2))
    assert get(source.own.remote(ref)) == address + 8
    here = ray.get(ref)
    np.testing.assert_array_equal(here["view"].get(), 4 * expected)
    # Others come later, as long as there is a reference; then what has been received stays.
    assert get(source.n_leases.remote()) == 1
    get(sinks[0].keep.remote(ref))
    del ref
    time.sleep(0.3)
    assert get(source.n_leases.remote()) == 1
    del here
    ray.kill(sinks[0])
    assert until(lambda: get(source.n_leases.remote()) == 0)
    assert get(sinks[1].total.remote(source.late.remote())) == 100
    assert until(lambda: get(source.n_leases.remote()) == 0)
    with pytest.raises(ValueError, match="memory that processes cannot share"):
        get(sinks[1].total.remote(source.managed.remote()))


def test_actors_that_die():
    Source, Sink = actors()
    source, sink, other = Source.remote(), Sink.remote(), Sink.remote()
    ref = source.some.remote(0)
    with pytest.raises(ray.exceptions.RayActorError):
        get(sink.die.remote(ref))
    assert get(other.double.remote(ref))[0].shape == (500,)
    del ref
    assert until(lambda: get(source.n_leases.remote()) == 0)
    ref = source.some.remote(0)
    ray.wait([ref], timeout=60)
    pid = get(source.pid.remote())
    os.kill(pid, 9)
    # It is a zombie as soon as its first thread has ended, and gone when all have.
    assert until(lambda: not os.path.exists(f"/proc/{pid}"))
    with pytest.raises((rmp.LeaseError, ray.exceptions.RayError), match=r"which sent the array, has ended|died"):
        get(other.double.remote(ref))


def test_arrays_of_another_node():
    metadata = rtcg_ray._Metadata(tensor_meta=[], tensor_device="gpu", node_id="elsewhere", arrays=[])
    with pytest.raises(rmp.LeaseError, match=r"on node elsewhere, and this actor is on node \w+.*Place the actors"):
        rtcg_ray.Transport().recv_multiple_tensors("object", metadata, None)
    with pytest.raises(ValueError, match="set_target_for_ref"):
        rtcg_ray.Transport().recv_multiple_tensors("object", metadata, None, [rnp.zeros(3)])
