"""Arrays that processes share: what arrives, how long its memory is kept, and what is left when a process dies."""

import gc
import json
import multiprocessing
import os
import pickle
import queue
import threading
import time
from multiprocessing.reduction import ForkingPickler

import numpy as np
import pytest

import rtcg.numpy as rnp
from rtcg import _leases, driver
from tests.python import lease_peers
from tests.python.depth import at_depth
from tests.python.lease_peers import Peer, add_late, until
from tests.python.subprocesses import has_real_device, run_python

rmp = pytest.importorskip("rtcg.multiprocessing", reason="rtcg.multiprocessing is for Linux")


@pytest.fixture(scope="module")
def two_peers(context):
    """Two processes that all tests use which leave them alive."""
    peers = Peer(), Peer("forkserver")
    yield peers
    assert [peer.end() for peer in peers] == [0, 0]


@pytest.fixture
def peer(two_peers):
    yield two_peers[0]
    no_lease_is_left(two_peers[0])


@pytest.fixture
def third(two_peers):
    yield two_peers[1]
    no_lease_is_left(two_peers[1])


@pytest.fixture(autouse=True)
def _all_ends(context):
    yield
    try:
        no_lease_is_left()
    finally:
        rmp.end_unreceived()


def no_lease_is_left(*peers):
    gc.collect()
    assert rmp.wait_for_consumers(10), rmp.leases()
    for peer in peers:
        assert peer.ends_all_leases()


def dumps(array):
    return bytes(ForkingPickler.dumps(array))


def arange(count, dtype=np.float64):
    return rnp.arange(count, dtype=dtype)


def matrix():
    return arange(24).reshape(4, 6)


RECORD = np.dtype([("x", "<f8"), ("n", "<i4")])
VIEWS = {
    "whole": matrix,
    "offset": lambda: arange(100)[17:60],
    "steps": lambda: matrix()[1:, ::2],
    "reversed": lambda: matrix()[::-1, ::-2],
    "transposed": lambda: matrix().T,
    "Fortran order": lambda: rnp.asfortranarray(matrix()),
    "no axes": lambda: arange(5)[3],
    "broadcast": lambda: rnp.broadcast_to(arange(3), (4, 3)),
    "bool": lambda: arange(9) > 4,
    "half precision": lambda: arange(9, np.float16)[1:],
    "complex": lambda: (arange(9) * 1j)[::3],
    "records": lambda: rnp.to_gpu(np.array([(1.5, 2), (2.5, 3), (3.5, 4)], RECORD))[1:],
}


@pytest.mark.parametrize("make", VIEWS.values(), ids=VIEWS)
def test_views_arrive_in_the_same_memory(peer, make):
    a = make()
    peer.keep("a", a)
    elements, strides, dtype = peer.described("a")
    np.testing.assert_array_equal(elements, a.get())
    assert strides == a.strides and dtype == a.dtype
    back = peer.given_back("a")
    assert (back.ptr, back.shape, back.strides, back.dtype) == (a.ptr, a.shape, a.strides, a.dtype)
    if a.dtype == np.float64 and 0 not in a.strides:
        expected = 2 * a.get()
        peer.double("a")
        np.testing.assert_array_equal(a.get(), expected)
    peer.drop("a")


def test_arrays_without_elements_and_host_arrays_are_copied(peer):
    locked = driver.pagelocked_zeros(5, np.int32)
    for name, array in {"empty": rnp.zeros((0, 3), np.int8), "locked": locked}.items():
        peer.keep(name, array)
        assert not rmp.leases()
    assert peer.given_back("empty").shape == (0, 3)
    assert type(peer.given_back("locked")) is np.ndarray
    peer.drop("empty", "locked")


def test_memory_that_cannot_be_shared_is_refused():
    managed = driver.managed_zeros(8, np.float32, mem_flags=driver.mem_attach_flags.GLOBAL)
    in_order = driver.mem_alloc_async(32)
    for memory in (managed.base, in_order):
        a = rnp.GPUArray(8, np.float32, gpudata=memory)
        with pytest.raises(
            ValueError, match=r"shape \(8,\) lies in memory that processes cannot share.*array.copy\(\)"
        ):
            dumps(a)
    assert not rmp.leases()


def test_pools_of_multiprocessing(context):
    a = arange(50)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        total, back = pool.apply(lease_peers.double, (a[10:],))
        assert total == 2 * sum(range(10, 50)) and back.ptr == a[10:].ptr
        results = pool.map(lease_peers.total, [a[k:] for k in range(3)])
        del back
        no_lease_is_left()
    np.testing.assert_array_equal(a.get(), [*range(10), *range(20, 100, 2)])
    assert results == [a.get()[k:].sum() for k in range(3)]


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_arguments_of_processes_and_queues(context, method):
    engine = multiprocessing.get_context(method)
    results, a = engine.Queue(), arange(10)
    process = engine.Process(target=lease_peers.put_doubled, args=(results, a[::-1], arange(4)))
    process.start()
    back, made = results.get(timeout=60)
    assert back.ptr == a[::-1].ptr and back.strides == (-8,)
    np.testing.assert_array_equal(a.get(), 2 * np.arange(10))
    assert made.get().tolist() == [1, 2, 3, 4]
    del made
    process.join(60)
    assert process.exitcode == 0


@pytest.mark.parametrize("where", ["stream", "default stream"])
def test_pending_work_is_waited_for_by_the_receiver(peer, where):
    a, b = rnp.zeros(64, np.float64), rnp.ones(64, np.float64)
    stream = driver.Stream(1) if where == "stream" else driver.Stream.legacy_default()
    add_late(a, b, stream)
    data = dumps(a[8:])
    assert not stream.is_done(), "sending waits"
    peer.load("a", data)
    assert stream.is_done()
    elements, _, _ = peer.described("a")
    assert elements.tolist() == [1] * 56
    peer.drop("a")


def test_memory_is_kept_until_the_consumer_has_dropped_it(peer):
    a = arange(1000)
    address, expected = a.ptr, a.get()
    peer.keep("a", a)
    (lease,) = rmp.leases()
    assert lease.nbytes == 8000 and lease.is_received and 0 <= lease.age_s < 60
    del a
    others = [rnp.full(1000, -1, np.float64) for _ in range(20)]
    assert address not in [other.ptr for other in others]
    np.testing.assert_array_equal(peer.described("a")[0], expected)
    del others
    peer.drop("a")
    assert until(lambda: not rmp.leases())
    # The block is free again: the pool hands it out.
    others = [rnp.empty(1000, np.float64) for _ in range(30)]
    assert address in [other.ptr for other in others]


def test_work_of_the_consumer_ends_before_the_lease(peer):
    a = rnp.ones(64, np.float64)
    peer.keep("a", a)
    del a
    assert not peer.add_late_and_drop("a")
    time.sleep(0.1)  # A third of the time until the kernel runs.
    assert rmp.leases(), "the memory is free while a kernel reads it"
    assert rmp.wait_for_consumers(20)
    assert peer.described("sum")[0].tolist() == [1] * 64
    peer.drop("sum", "stream")


def test_leases_do_not_end_in_the_middle_of_a_capture(peer):
    peer.keep("a", arange(64))
    assert peer.capture_while_dropping("a")


def test_a_pickle_is_for_one_consumer(peer, third):
    data = dumps(arange(10))
    peer.load("a", data)
    third.load("a", data)  # While another one has it, for several.
    peer.load("b", data)
    peer.drop("a")
    assert third.described("a")[0].tolist() == peer.described("b")[0].tolist() == list(range(10))
    third.drop("a")
    assert rmp.leases()
    peer.drop("b")
    no_lease_is_left()
    for reads in (lambda: peer.load("a", data), lambda: pickle.loads(data)):
        with pytest.raises(rmp.LeaseError, match=r"the lease of the array has ended in process \d+.*once for each"):
            reads()


def test_arrays_in_the_process_that_sent_them():
    a = matrix()
    for view in (a, a[1:, ::-1], a.T[2:4]):
        data = dumps(view)
        same, again = pickle.loads(data), None
        assert (same.ptr, same.strides, same.shape) == (view.ptr, view.strides, view.shape)
        same += 1
        del again, same
        no_lease_is_left()
    np.testing.assert_array_equal(a.get()[1:, 2:4], np.arange(24).reshape(4, 6)[1:, 2:4] + 3)


def test_arrays_are_sent_on(peer, third):
    peer.make("a", 100)
    data = peer.dumped("a")
    ours = pickle.loads(data)
    peer.drop("a")
    assert peer.n_leases() == 1
    third.keep("b", ours[10:20])
    del ours
    no_lease_is_left()
    # Nobody between keeps it, and the owner does.
    assert third.described("b")[0].tolist() == list(range(10, 20)) and peer.n_leases() == 1
    peer.load("c", third.dumped("b"))
    peer.double("c")
    third.double("b")
    assert peer.described("c")[0].tolist() == third.described("b")[0].tolist() == list(range(40, 80, 4))
    third.drop("b")
    assert until(lambda: peer.n_leases() == 0)
    peer.drop("c")


def test_a_killed_consumer():
    peer = Peer()
    a = arange(1000)
    for name, view in {"a": a, "b": a[3:], "c": arange(7)}.items():
        peer.keep(name, view)
    assert len(rmp.leases()) == 3
    peer.kill()
    begun = time.monotonic()
    assert rmp.wait_for_consumers(10) and time.monotonic() - begun < 2
    # What it had not received is in nobody's hands.
    dumps(a)
    assert rmp.end_unreceived(3600) == 0 and len(rmp.leases()) == 1
    assert not rmp.wait_for_consumers(0.01) and not rmp.leases()[0].is_received
    assert rmp.end_unreceived() == 1


def test_a_killed_producer(third):
    peer = Peer()
    peer.make("a", 10)
    received, unread, event = pickle.loads(peer.dumped("a")), peer.dumped("a"), peer.dumped("a")
    sent_on = dumps(received)
    peer.kill()
    gone = rf"process {peer.process.pid}, which sent the array, has ended.*wait_for_consumers"
    for reads in (pickle.loads, lambda data: third.load("x", data)):
        for data in (unread, event, sent_on):
            with pytest.raises(rmp.LeaseError, match=gone):
                reads(data)
    del received
    assert until(lambda: lease_peers.Commands().open_things()[1] == 0), "blocks of the dead stay open"


def test_a_producer_whose_memory_ends_before_it(monkeypatch):
    peer = Peer()
    peer.make("a", 10)
    peer.make("b", 1_000_000)
    received, unread = pickle.loads(peer.dumped("a")), peer.dumped("b")
    peer.kill()
    answers = iter([True] * 5)
    monkeypatch.setattr(_leases._Peer, "is_alive", lambda _: next(answers, False))
    with pytest.raises(rmp.LeaseError, match="which sent the array, has ended"):
        pickle.loads(unread)
    assert next(answers, False) is False, "the first look sees it alive"
    del received


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("shares", [False, True], ids=["copies", "shares"])
def test_forked_pools_say_what_to_do(shares):
    """In the function; an error where the arguments arrive would leave the pool waiting for ever."""
    run_python(
        ("import rtcg.multiprocessing\n" if shares else "")
        + """
import multiprocessing, threading
import numpy as np
import rtcg.numpy as rnp
from rtcg.compiler import SourceModule
from rtcg.elementwise import ElementwiseKernel

def use(function, *things):
    return function(*things)

def double(x):
    return x * 2

def same(x):
    return x

x = rnp.ones(3)
kernel = ElementwiseKernel("double *x", "x[i] = i")
kernel(x)
function = SourceModule("__global__ void f(double *x) { x[0] = 1; }").get_function("f")
seen = []

def work():
    with multiprocessing.get_context("fork").Pool(1) as pool:
        for call in ((double, x), (same, x), (kernel, x), (function, x)):
            try:
                result = pool.apply_async(use, call).get(timeout=20)
            except Exception as error:
                seen.append(str(error))
            else:
                seen.append(result)

threads = [threading.Thread(target=work), None]
for thread in threads:
    # A thread without a context forks, and one with.
    if thread:
        thread.start()
        thread.join()
    else:
        work()
assert len(seen) == 8
for outcome in seen:
    if not (isinstance(outcome, str) and "forked after the driver was initialised" in outcome):
        assert isinstance(outcome, rnp.GPUArray), outcome
assert sum(isinstance(outcome, str) for outcome in seen) >= 6, seen
"""
    )


def test_a_producer_that_dies_with_work_pending(third):
    peer = Peer()
    peer.make("a", 64)
    data = peer.dumped_while_busy("a")
    outcome = queue.SimpleQueue()

    def load():
        try:
            outcome.put(pickle.loads(data))
        except Exception as error:
            outcome.put(error)

    thread = threading.Thread(target=load)
    thread.start()
    time.sleep(0.1)
    assert outcome.empty(), "the receiver does not wait"
    peer.kill()
    thread.join(60)
    error = outcome.get(timeout=60)
    assert isinstance(error, rmp.LeaseError) and "has ended" in str(error)


def test_a_process_between_that_dies(third):
    peer = Peer()
    a = arange(10)
    peer.keep("a", a)
    first, second = peer.dumped("a"), peer.dumped("a")
    third.load("a", first)
    del a
    peer.kill()
    time.sleep(0.2)
    assert third.described("a")[0].tolist() == list(range(10)) and len(rmp.leases()) == 1
    third.load("b", second)  # The memory is still there.
    third.drop("a", "b")
    no_lease_is_left()
    with pytest.raises(rmp.LeaseError, match="the lease of the array has ended"):
        third.load("b", second)


def test_a_child_of_a_consumer_ends_no_lease(peer):
    peer.keep("a", arange(10))
    assert peer.fork() == 0
    time.sleep(0.2)
    assert len(rmp.leases()) == 1 and peer.described("a")[0].tolist() == list(range(10))
    peer.drop("a")


def test_nothing_stays_open(peer, third):
    for k in range(5):
        peer.keep("a", arange(1000 + k))
        third.keep("a", peer.given_back("a"))
        peer.drop("a")
        third.drop("a")
    no_lease_is_left()
    for process in (peer, third):
        assert until(lambda process=process: process.open_things()[1] == 0)
        # Its own lease file, and none of another process.
        assert process.open_things()[0] <= 1


@pytest.mark.parametrize("n_steps", [at_depth(150, 5000)])
def test_a_soak_of_leases(peer, third, n_steps):
    """Arrays of three processes go to and fro at random; each process checks what it has by its elements."""
    random = np.random.default_rng(0)
    here = lease_peers.Commands()
    processes = [here, peer, third]
    held = []  # Of each array: who has it, its name there, its elements.
    for step in range(n_steps):
        action = random.integers(4) if held else 0
        if action == 0 and len(held) < 30:
            who, count = processes[random.integers(3)], int(random.integers(1, 5000))
            who.make(f"made {step}", count)
            held.append((who, f"made {step}", np.arange(count, dtype=np.float64)))
        elif action == 3 or len(held) > 40:
            who, name, expected = held.pop(random.integers(len(held)))
            np.testing.assert_array_equal(who.described(name)[0], expected)
            who.drop(name)
        elif held:
            who, name, expected = held[random.integers(len(held))]
            to = processes[random.integers(3)]
            to.load(f"sent {step}", who.dumped(name))
            held.append((to, f"sent {step}", expected))
    for who, name, expected in held:
        np.testing.assert_array_equal(who.described(name)[0], expected)
        who.drop(name)
    del here, who
    no_lease_is_left(peer, third)


def test_wrong_arguments():
    for call, name in ((rmp.wait_for_consumers, "timeout"), (rmp.end_unreceived, "older_than_s")):
        for wrong in (-1, float("nan")):
            with pytest.raises(ValueError, match=rf"{name} is {wrong}; expected a number of seconds from 0"):
                call(wrong)


def test_several_devices():
    """Arrays of each device go to it, whichever is current; a device that the other process lacks is named."""
    if has_real_device() and driver.Device.count() > 1:
        both, one = ({"RTCG_VIRTUAL_DEVICES": "0", "CUDA_VISIBLE_DEVICES": visible} for visible in ("0,1", "0"))
    else:
        both, one = ({"RTCG_VIRTUAL_DEVICES": count, "CUDA_VISIBLE_DEVICES": ""} for count in ("2", "1"))
    run_python(
        """
        import json, os, sys
        import numpy as np
        import rtcg.multiprocessing as rmp, rtcg.numpy as rnp
        from rtcg import devices, driver
        from tests.python.lease_peers import Peer, ForkingPickler

        if __name__ == "__main__":
            driver.init()
            peer = Peer()
            os.environ.update(json.loads(sys.argv[1]))
            small = Peer()
            arrays = []
            for k in range(2):
                with devices.use(k):
                    arrays.append(rnp.full(8, k + 1, np.float64))
            for k, a in enumerate(arrays):
                with devices.use(1 - k):
                    peer.keep(k, a)
                    back = peer.given_back(k)
                    assert back.device == a.device == driver.Device(k) and back.ptr == a.ptr
                    del back
            peer.double(1)
            assert arrays[1].get().tolist() == [4] * 8 and peer.described(0)[0].tolist() == [1] * 8
            data = bytes(ForkingPickler.dumps(arrays[1]))
            try:
                small.load("a", data)
            except rmp.LeaseError as error:
                bus_id = driver.Device(1).pci_bus_id()
                assert f"is on device {bus_id}; this process has {driver.Device(0).pci_bus_id()}. Give" in str(error)
                assert "RTCG_VIRTUAL_DEVICES" in str(error) and "array.get()" in str(error)
            else:
                raise AssertionError("a device that is not there")
            peer.drop(0, 1)
            assert rmp.wait_for_consumers(20)
            assert peer.end() == small.end() == 0
        """,
        json.dumps(one),
        **both,
    )


def test_processes_that_end():
    """A producer that waits for its consumers, and one that does not; a consumer that ends with arrays."""
    run_python(
        """
        import multiprocessing, time
        import rtcg.multiprocessing as rmp, rtcg.numpy as rnp
        from tests.python import lease_peers

        if __name__ == "__main__":
            spawn = multiprocessing.get_context("spawn")
            results = spawn.Queue()
            process = spawn.Process(target=lease_peers.send_and_end, args=(results, True))
            process.start()
            a = results.get(timeout=60)
            assert process.is_alive() and a.get().tolist() == [0, 1, 2]
            del a
            process.join(60)
            assert process.exitcode == 0
            process = spawn.Process(target=lease_peers.send_and_end, args=(results, False))
            process.start()
            process.join(60)
            try:
                results.get(timeout=60)
            except rmp.LeaseError as error:
                assert f"process {process.pid}" in str(error)
            else:
                raise AssertionError("an array of a process that has ended")
            keeps = rnp.ones(5)
            process = spawn.Process(target=lease_peers.total, args=(keeps,))
            process.start()
            process.join(60)
            assert process.exitcode == 0 and rmp.wait_for_consumers(20)
        """
    )
