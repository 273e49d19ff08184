"""Collectives of one process with several devices, compared with NumPy: `test_nccl.py` runs this file with pytest.

Results on virtual devices have the bits of a combination in the order of ranks. Other devices may combine in another
order; there the numbers are small integers, whose sums are exact in any.
"""

import contextlib
import gc
import itertools
import os
import pickle
import random
import threading
import time

import numpy as np
import pytest
from depth import at_depth, each_kind, some

import rtcg.numpy as xp
from rtcg import devices, driver, nccl
from rtcg.compiler import SourceModule

ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")

driver.init()
N = min(driver.Device.count(), 4)
IS_VIRTUAL = "virtual" in driver.Device(0).name().lower()
pytestmark = pytest.mark.skipif(N < 2, reason="NCCL needs two devices")
virtual_only = pytest.mark.skipif(not IS_VIRTUAL, reason="of the virtual NCCL")

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
REDUCED = [np.dtype(name) for name in "int8 uint8 int32 uint32 int64 uint64 float16 float32 float64".split()] + [
    BFLOAT16
]
DTYPES = [*REDUCED, *map(np.dtype, ["bool", "int16", "uint16", "complex64", "complex128"])]
OPS = ["sum", "prod", "max", "min", "avg"]


@pytest.fixture(scope="module")
def communicators():
    made = nccl.init_all(N)
    yield made
    for communicator in made:
        communicator.close()


@pytest.fixture(autouse=True)
def current():
    with devices.use(0) as context:
        yield context


def each(communicators, function, *values):
    """Calls a function for each rank with its device current; on real devices in a group, for ranks wait in calls."""
    results = []
    with contextlib.nullcontext() if IS_VIRTUAL else nccl.group():
        for communicator, *own in zip(communicators, *values, strict=True):
            with devices.use(communicator.device_id):
                results.append(function(communicator, *own))
    return results


def random_values(seed, count, dtype):
    """Numbers whose sums depend on the order on virtual devices, and do not on others."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.random(count) < 0.5
    if not IS_VIRTUAL:
        return rng.integers(0, 3, count).astype(dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, count, dtype=dtype, endpoint=True)
    real = lambda: rng.standard_normal(count) * 10.0 ** rng.integers(-2, 3, count)  # noqa: E731
    return (real() + 1j * real() if dtype.kind == "c" else real()).astype(dtype)


def combined(op, parts):
    """The arrays of all ranks as one, step by step in their order."""
    dtype, n = parts[0].dtype, len(parts)
    if dtype.kind == "b":
        return (np.logical_or if op in ("sum", "max") else np.logical_and).reduce(parts)
    if op == "avg" and dtype.kind not in "iu":
        real = {"complex64": "float32", "complex128": "float64"}.get(dtype.name, dtype)
        factor = (
            np.float64(1 / n).astype(np.float32).astype(real) if dtype.itemsize == 2 else np.float64(1 / n).astype(real)
        )
        parts = [(part.view(real) * factor).view(dtype) for part in parts]
    step = {"prod": np.multiply, "max": np.fmax, "min": np.fmin}.get(op, np.add)
    total = parts[0]
    with np.errstate(all="ignore"):
        for part in parts[1:]:
            total = step(total, part)
    if op == "avg" and dtype.kind in "iu":
        # The quotients of integers towards zero.
        total = np.array([abs(int(x)) // n * (1 if x > 0 else -1) for x in total], dtype)
    return total.astype(dtype)


def assert_same_bits(got, expected):
    got = got.get() if isinstance(got, xp.ndarray) else got
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    if got.tobytes() != expected.tobytes():
        np.testing.assert_array_equal(got, expected)
        raise AssertionError(f"other bits: {got}, {expected}")


CASES = each_kind([(op, dtype) for op in OPS for dtype in REDUCED]) + [
    (op, np.dtype(dtype))
    for op, dtype in [
        ("sum", "complex64"),
        ("avg", "complex128"),
        ("sum", "bool"),
        ("prod", "bool"),
        ("max", "bool"),
        ("min", "bool"),
    ]
]


@pytest.mark.parametrize("op, dtype", CASES)
def test_reductions(op, dtype, communicators):
    """For all ranks, for each root, and in parts; new arrays, given ones, and in place."""
    host = [random_values((rank, 7), N * 5, dtype) for rank in range(N)]
    expected = combined(op, host)
    arrays = each(communicators, lambda c, x: xp.asarray(x), host)
    for result in each(communicators, lambda c, a: c.all_reduce(a, op=op), arrays):
        assert_same_bits(result, expected)
    outs = each(communicators, lambda c, a: xp.zeros_like(a), arrays)
    assert all(
        a is b
        for a, b in zip(
            each(communicators, lambda c, a, out: c.all_reduce(a, out, op), arrays, outs), outs, strict=True
        )
    )
    for root in range(N):
        results = each(communicators, lambda c, a: c.reduce(a, op=op, root=root), arrays)  # noqa: B023
        assert [result is None for result in results] == [rank != root for rank in range(N)]
        assert_same_bits(results[root], expected)
    for rank, result in enumerate(each(communicators, lambda c, a: c.reduce_scatter(a.reshape(N, 5), op=op), arrays)):
        assert_same_bits(result, expected[5 * rank : 5 * rank + 5])
    # This rank's part of its own array, which is a view with an offset.
    copies = each(communicators, lambda c, a: a.copy(), arrays)
    parts = each(communicators, lambda c, a: a[5 * c.rank : 5 * c.rank + 5], copies)
    each(communicators, lambda c, a, part: c.reduce_scatter(a, part, op), copies, parts)
    for rank, (whole, own) in enumerate(zip(copies, host, strict=True)):
        own = own.copy()
        own[5 * rank : 5 * rank + 5] = expected[5 * rank : 5 * rank + 5]
        assert_same_bits(whole, own)
    each(communicators, lambda c, a: c.all_reduce(a, a, op), arrays)
    for a, out in zip(arrays, outs, strict=True):
        assert_same_bits(a, expected)
        assert_same_bits(out, expected)


@pytest.mark.parametrize("dtype", some(DTYPES, 3))
def test_movements(dtype, communicators):
    """Broadcasts, gathers, scatters and exchanges from and to every rank, new and in place."""
    host = [random_values((rank, 8), N * 3, dtype).reshape(N, 3) for rank in range(N)]
    arrays = each(communicators, lambda c, x: xp.asarray(x), host)
    everything = np.stack(host)
    for result in each(communicators, lambda c, a: c.all_gather(a), arrays):
        assert_same_bits(result, everything)
    wholes = each(communicators, lambda c: xp.zeros((N, N, 3), dtype))
    for whole, communicator, a in zip(wholes, communicators, arrays, strict=True):
        with devices.use(communicator.device_id):
            whole[communicator.rank] = a
    each(communicators, lambda c, whole: c.all_gather(whole[c.rank], whole), wholes)
    for whole in wholes:
        assert_same_bits(whole, everything)
    for rank, result in enumerate(each(communicators, lambda c, a: c.all_to_all(a), arrays)):
        assert_same_bits(result, everything[:, rank])
    for root in range(N):
        gathered = each(communicators, lambda c, a: c.gather(a, root=root), arrays)  # noqa: B023
        assert [result is None for result in gathered] == [rank != root for rank in range(N)]
        assert_same_bits(gathered[root], everything)
        outs = each(communicators, lambda c: xp.empty(3, dtype))
        sent = [a if rank == root else None for rank, a in enumerate(arrays)]
        scattered = each(communicators, lambda c, a, out: c.scatter(a, out, root), sent, outs)  # noqa: B023
        for rank, result in enumerate(scattered):
            assert result is outs[rank]
            assert_same_bits(result, host[root][rank])
        copies = each(communicators, lambda c, a: a.copy(), arrays)
        each(communicators, lambda c, a: c.broadcast(a, root), copies)  # noqa: B023
        for copy in copies:
            assert_same_bits(copy, host[root])


def test_transfers(communicators):
    """Messages in a ring in one group, to oneself, several to one peer in their order, and bytes as another dtype."""
    arrays = each(communicators, lambda c: xp.full(5, c.rank, np.int16))
    received = each(communicators, lambda c: xp.zeros(5, np.int16))
    with nccl.group():
        each(communicators, lambda c, a: c.send(a, (c.rank + 1) % N), arrays)
        each(communicators, lambda c, a: c.recv(a, (c.rank - 1) % N), received)
    assert [a.get().tolist() for a in received] == [[(rank - 1) % N] * 5 for rank in range(N)]
    with nccl.group():
        communicators[1].send(arrays[1], 1)
        assert communicators[1].recv(received[1], 1) is received[1]
    assert received[1].get().tolist() == [1] * 5
    with devices.use(0):
        messages = [xp.full(2, value, np.float32) for value in (1.5, 2.5, 3.5)]
    with devices.use(1):
        places = [xp.zeros(8, np.uint8) for _ in messages]
    with nccl.group():
        for message, place in zip(messages, places, strict=True):
            communicators[0].send(message, 1)
            communicators[1].recv(place, 0)
    assert [place.get().view(np.float32).tolist() for place in places] == [[1.5] * 2, [2.5] * 2, [3.5] * 2]


def test_shapes_and_layouts(communicators):
    """Column-major arrays, scalars, none at all, and parts of others at odd places."""
    for shape, order in [((3, 2), "F"), ((), "C"), ((0,), "C"), ((0, 4), "F"), ((1, 1, 7), "C")]:
        host = [
            np.asarray(random_values(rank, int(np.prod(shape)), np.float32).reshape(shape), order=order)
            for rank in range(N)
        ]
        arrays = each(communicators, lambda c, x: xp.asarray(x), host)
        for result in each(communicators, lambda c, a: c.all_reduce(a, a), arrays):
            np.testing.assert_array_equal(result.get(), combined("sum", host))
    wholes = each(communicators, lambda c: xp.arange(11, dtype=np.uint8))
    each(communicators, lambda c, a: c.all_reduce(a[3:8], a[3:8]), wholes)
    expected = np.arange(11, dtype=np.uint8)
    expected[3:8] *= N
    for whole in wholes:
        assert_same_bits(whole, expected)


@pytest.mark.parametrize("orders", ["F", "CF"], ids=["all in Fortran order", "every other"])
def test_orders_in_memory(orders, communicators):
    """The numbers are those of arrays in C order, whatever the order of each rank's arrays in memory."""
    host = [np.arange(N * 6.0).reshape(N, 2, 3) + 100 * rank for rank in range(N)]
    total, stacked = sum(host), np.stack(host)
    exchanged = [np.stack([h[rank] for h in host]) for rank in range(N)]
    order = lambda c: orders[c.rank % len(orders)]  # noqa: E731
    empty = lambda c, shape: xp.empty(shape, order=order(c))  # noqa: E731
    of_root = lambda value: [value if rank == 1 else None for rank in range(N)]  # noqa: E731
    every = lambda value: [value] * N  # noqa: E731
    parts, sums = [host[1][rank] for rank in range(N)], list(total)
    cases = {
        "all_reduce": (lambda c, a: c.all_reduce(a), every(total)),
        "all_reduce, out": (lambda c, a: c.all_reduce(a, empty(c, a.shape)), every(total)),
        "all_reduce in place": (lambda c, a: c.all_reduce(a, a), every(total)),
        "reduce": (lambda c, a: c.reduce(a, root=1), of_root(total)),
        "reduce in place": (lambda c, a: c.reduce(a, a, root=1), of_root(total)),
        "broadcast": (lambda c, a: c.broadcast(a, root=1), every(host[1])),
        "all_gather": (lambda c, a: c.all_gather(a), every(stacked)),
        "all_gather, out": (lambda c, a: c.all_gather(a, empty(c, (N, *a.shape))), every(stacked)),
        "gather": (lambda c, a: c.gather(a, root=1), of_root(stacked)),
        "gather, out": (lambda c, a: c.gather(a, empty(c, (N, *a.shape)), root=1), of_root(stacked)),
        "reduce_scatter": (lambda c, a: c.reduce_scatter(a), sums),
        "reduce_scatter, out": (lambda c, a: c.reduce_scatter(a, empty(c, (2, 3))), sums),
        "scatter": (lambda c, a: c.scatter(a, empty(c, (2, 3)), root=1), parts),
        "all_to_all": (lambda c, a: c.all_to_all(a), exchanged),
        "all_to_all, out": (lambda c, a: c.all_to_all(a, empty(c, a.shape)), exchanged),
    }
    for name, (call, expected) in cases.items():
        arrays = each(communicators, lambda c, h: xp.asarray(np.array(h, order=order(c))), host)
        assert all(a.flags.f_contiguous == (order(c) == "F") for a, c in zip(arrays, communicators, strict=True))
        # Outside of a group and in one.
        for calls in (each, lambda *args: _in_group(each, *args)):
            for a, h, c in zip(arrays, host, communicators, strict=True):
                with devices.use(c.device_id):
                    a.set(h)
            for got, value in zip(calls(communicators, call, arrays), expected, strict=True):
                assert (got is None) == (value is None) and (got is None or np.array_equal(got.get(), value)), name
    arrays = each(communicators, lambda c, h: xp.asarray(np.array(h, order=order(c))), host)
    received = each(communicators, lambda c, a: empty(c, a.shape), arrays)
    with nccl.group():
        for c, a, b in zip(communicators, arrays, received, strict=True):
            c.send(a, (c.rank + 1) % N)
            c.recv(b, (c.rank - 1) % N)
    assert all(np.array_equal(received[rank].get(), host[rank - 1]) for rank in range(N))


def _in_group(function, *args):
    with nccl.group():
        return function(*args)


def test_large_arrays(communicators):
    """Work that threads share has the order of ranks too."""
    count = at_depth(400_001, 3_000_001)
    host = [random_values((rank, 9), count, np.float32) for rank in range(N)]
    arrays = each(communicators, lambda c, x: xp.asarray(x), host)
    each(communicators, lambda c, a: c.all_reduce(a, a, "avg"), arrays)
    for a in arrays:
        assert_same_bits(a, combined("avg", host))


@virtual_only
def test_numbers_that_are_none(communicators):
    """Maxima and minima are numbers where a rank has one; sums are none."""
    host = [
        np.array([np.nan, 1, np.nan], np.float32) if rank else np.array([2, np.nan, np.nan], np.float32)
        for rank in range(N)
    ]
    arrays = each(communicators, lambda c, x: xp.asarray(x), host)
    for op, expected in [("max", [2, 1, np.nan]), ("min", [2, 1, np.nan]), ("sum", [np.nan] * 3)]:
        for result in each(communicators, lambda c, a: c.all_reduce(a, op=op), arrays):  # noqa: B023
            np.testing.assert_array_equal(result.get(), np.array(expected, np.float32))


GROW = "__global__ void grow(int *a, int n) { int i = threadIdx.x; if (i < n) a[i] = 3 * a[i] + 1; }"


class Program:
    """A random program: steps of one to three collectives with kernels between, in streams of each rank."""

    KINDS = ("all_reduce", "in_place", "reduce", "broadcast", "all_gather", "reduce_scatter", "all_to_all", "ring")

    def __init__(self, seed, communicators, streams):
        self.choose = random.Random(seed)
        self.communicators, self.streams = communicators, streams
        self.grow = each(communicators, lambda c: SourceModule(GROW).get_function("grow"))
        self.host = [np.arange(4 * N, dtype=np.int32) * (rank + 1) for rank in range(N)]
        self.arrays = each(communicators, lambda c, x: xp.asarray(x), self.host)

    def step(self):
        """One step for each rank, as functions to be called in any order of ranks, and in NumPy."""
        kind, root, op = (
            self.choose.choice(self.KINDS),
            self.choose.randrange(N),
            self.choose.choice(["sum", "max", "prod"]),
        )
        places = [self.choose.randrange(len(self.streams[0])) for _ in range(N)]
        shift = self.choose.randrange(N)
        self._in_numpy(kind, root, op, shift)

        def enqueue(rank):
            c, a, stream = self.communicators[rank], self.arrays[rank], self.streams[rank][places[rank]]
            if kind == "all_reduce":
                self.arrays[rank] = c.all_reduce(a, op=op, stream=stream)
            elif kind == "in_place":
                c.all_reduce(a, a, op, stream=stream)
            elif kind == "reduce":
                c.reduce(a, a, op, root, stream=stream)
            elif kind == "broadcast":
                c.broadcast(a, root, stream=stream)
            elif kind == "all_gather":
                self.arrays[rank] = c.all_gather(a[:4], stream=stream).reshape(-1)
            elif kind == "reduce_scatter":
                c.reduce_scatter(a, a[4 * rank : 4 * rank + 4], op, stream=stream)
            elif kind == "all_to_all":
                self.arrays[rank] = c.all_to_all(a, stream=stream)
            else:
                c.send(a, (rank + shift) % N, stream=stream)
                self.arrays[rank] = xp.empty(4 * N, np.int32)
                c.recv(self.arrays[rank], (rank - shift) % N, stream=stream)

        def after(rank):
            a, stream = self.arrays[rank], self.streams[rank][places[rank]]
            self.grow[rank](a, np.int32(a.size), block=(32, 1, 1), stream=stream)
            # The next step may be in another stream.
            event = driver.Event()
            event.record(stream)
            for other in self.streams[rank]:
                other.wait_for_event(event)

        return kind, enqueue, after

    def _in_numpy(self, kind, root, op, shift):
        host = self.host
        total = combined(op, host)
        if kind in ("all_reduce", "in_place"):
            host = [total.copy() for _ in host]
        elif kind == "reduce":
            host = [total if rank == root else own for rank, own in enumerate(host)]
        elif kind == "broadcast":
            host = [host[root].copy() for _ in host]
        elif kind == "all_gather":
            whole = np.concatenate([own[:4] for own in host])
            host = [whole.copy() for _ in host]
        elif kind == "reduce_scatter":
            for rank, own in enumerate(host):
                own[4 * rank : 4 * rank + 4] = total[4 * rank : 4 * rank + 4]
        elif kind == "all_to_all":
            host = [np.concatenate([own.reshape(N, 4)[rank] for own in host]) for rank in range(N)]
        else:
            host = [host[(rank - shift) % N].copy() for rank in range(N)]
        with np.errstate(over="ignore"):
            self.host = [(own * np.int32(3) + np.int32(1)).astype(np.int32) for own in host]


@pytest.mark.parametrize("seed", range(at_depth(6, 60)))
def test_random_programs(seed, communicators):
    """In groups of all ranks, in one for each rank, and rank by rank in any order, several steps ahead."""
    streams = each(communicators, lambda c: [driver.Stream() for _ in range(1 + seed % 3)])
    program = Program(seed, communicators, streams)
    for _ in range(8):
        kind, enqueue, after = program.step()
        order = program.choose.sample(range(N), N)
        # Memory that is freed in checked mode waits for its device.
        one_group = kind == "ring" or program.choose.random() < 0.4 or "RTCG_CHECK" in os.environ
        with nccl.group() if one_group else open(os.devnull):
            for rank in order:
                with devices.use(rank):
                    enqueue(rank)
                    if not one_group:
                        after(rank)
        if one_group:
            for rank in order:
                with devices.use(rank):
                    after(rank)
        if program.choose.random() < 0.2:
            gc.collect()
    for rank, (array, expected) in enumerate(zip(program.arrays, program.host, strict=True)):
        with devices.use(rank) as context:
            context.synchronize()
            assert_same_bits(array, expected)


def test_threads_of_ranks(communicators):
    """Each rank in a thread of its own, whose results the others need."""
    results, problems = [None] * N, []

    def run(communicator):
        try:
            with devices.use(communicator.device_id):
                a = xp.full(1000, communicator.rank + 1, np.int64)
                for _ in range(20):
                    a = communicator.all_reduce(a) + communicator.rank
                results[communicator.rank] = a.get()
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=run, args=[communicator]) for communicator in communicators]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not problems and not any(thread.is_alive() for thread in threads)
    values = list(range(1, N + 1))
    for _ in range(20):
        values = [(sum(values) + rank + 2**63) % 2**64 - 2**63 for rank in range(N)]
    assert [int(result[7]) for result in results] == values


def test_threads_that_join():
    """A communicator of threads: each joins with the id, in any order."""
    with devices.use(0):
        unique_id = nccl.unique_id()
    assert isinstance(unique_id, bytes) and len(unique_id) == 128
    results = [None] * N

    def run(rank):
        with devices.use(rank), nccl.Communicator(N, unique_id, rank) as communicator:
            assert (communicator.rank, communicator.size, communicator.device_id) == (rank, N, rank)
            results[rank] = communicator.all_gather(xp.full(1, rank)).get().reshape(-1).tolist()

    threads = [threading.Thread(target=run, args=[rank]) for rank in reversed(range(N))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert results == [list(range(N))] * N


def test_memory_is_kept(communicators):
    """Arrays that are dropped while a collective waits are not given to others; those of a group neither."""
    streams = each(communicators, lambda c: driver.Stream(driver.stream_flags.NON_BLOCKING))

    def enqueue(communicator, stream):
        a = xp.full(5000, communicator.rank + 1, np.int32)
        driver.Context.synchronize()
        return communicator.all_reduce(a, stream=stream)  # `a` is dropped

    with devices.use(0):
        first = enqueue(communicators[0], streams[0])
        others = [xp.full(5000, 77, np.int32) for _ in range(20)]
        assert all(int(other.sum().get()) == 77 * 5000 for other in others)
    results = [first, *each(communicators[1:], enqueue, streams[1:])]
    assert all(int(result.get()[4999]) == N * (N + 1) // 2 for result in results)
    with nccl.group():
        results = each(communicators, enqueue, streams)
        gc.collect()
        with devices.use(0):
            others = [xp.full(5000, 77, np.int32) for _ in range(20)]
    assert all(int(result.get()[0]) == N * (N + 1) // 2 for result in results)


def test_graphs(communicators):
    """A captured collective runs with each launch, between kernels."""
    streams = each(communicators, lambda c: driver.Stream())
    arrays = each(communicators, lambda c: xp.full(8, c.rank + 1, np.int32))
    grow = each(communicators, lambda c: SourceModule(GROW).get_function("grow"))
    outs = each(communicators, lambda c: xp.zeros(8, np.int32))
    launched = []
    for rank, (communicator, stream) in enumerate(zip(communicators, streams, strict=True)):
        with devices.use(rank):
            driver.Context.synchronize()
            with stream.capture() as graph:
                communicator.all_reduce(arrays[rank], outs[rank], stream=stream)
                grow[rank](outs[rank], np.int32(8), block=(32, 1, 1), stream=stream)
                communicator.all_reduce(outs[rank], arrays[rank], "max", stream=stream)
            launched.append(graph.instantiate())
    expected = sum(range(1, N + 1))
    for _ in range(3):
        for rank in range(N):
            with devices.use(rank):
                launched[rank].launch(streams[rank])
        now = 3 * expected + 1
        assert [a.get().tolist() for a in arrays] == [[now] * 8] * N
        expected = N * now
    # Between launches the communicator works as before, in other streams too.
    for result in each(communicators, lambda c, a: c.all_reduce(a), arrays):
        assert int(result.get()[3]) == N * now


def test_splits(communicators):
    odd = [rank % 2 for rank in range(N)]
    halves = nccl.split_all(communicators, odd, [-rank for rank in range(N)])
    members = [[rank for rank in reversed(range(N)) if rank % 2 == parity] for parity in (0, 1)]
    assert [(half.rank, half.size) for half in halves] == [
        (members[parity].index(rank), len(members[parity])) for rank, parity in enumerate(odd)
    ]
    arrays = each(communicators, lambda c: xp.full(3, c.rank, np.int32))
    for parity, result in zip(odd, each(halves, lambda c, a: c.all_gather(a), arrays), strict=True):
        assert result.get()[:, 0].tolist() == members[parity]
    some_ranks = nccl.split_all(communicators, [None, *[3] * (N - 1)])
    assert some_ranks[0] is None and [c.size for c in some_ranks[1:]] == [N - 1] * (N - 1)
    # Both are of use after each other, and the communicator they came from is.
    for result in each(communicators, lambda c, a: c.all_reduce(a), arrays):
        assert result.get()[0] == N * (N - 1) // 2
    for communicator in [*halves, *some_ranks[1:]]:
        communicator.close()


def test_shrinks():
    made = nccl.init_all(N)
    left, problems = [None] * N, []

    def run(rank):
        try:
            with devices.use(rank):
                left[rank] = made[rank].shrink([0], abort=True)
                left[rank] = left[rank].rank, left[rank].size, int(left[rank].all_reduce(xp.full(1, rank)).get()[0])
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=run, args=[rank]) for rank in range(1, N)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not problems
    assert left[1:] == [(rank - 1, N - 1, N * (N - 1) // 2) for rank in range(1, N)]


def test_names_of_cupy():
    """Addresses and handles as integers, and the operations by numbers."""
    assert nccl.available and nccl.get_version() == nccl.version() == nccl.get_build_version() > 20000
    made = nccl.NcclCommunicator.initAll(N)
    assert [(c.rank_id(), c.size(), c.device_id()) for c in made] == [(rank, N, rank) for rank in range(N)]
    arrays = each(made_devices(N), lambda c: xp.full(4 * N, c.rank + 1, np.float32))
    outs = each(made_devices(N), lambda c: xp.zeros(4 * N, np.float32))
    streams = each(made_devices(N), lambda c: driver.Stream())
    for rank in range(N):
        with devices.use(rank):
            driver.Context.synchronize()

    def run(name, *arguments):
        """Calls a method of all ranks in a group; the first two arguments are sequences of arrays."""
        nccl.groupStart()
        try:
            for rank, c in enumerate(made):
                own = [int(a[rank].gpudata) if isinstance(a, list) else a for a in arguments]
                getattr(c, name)(*own, streams[rank].handle)
        finally:
            nccl.groupEnd()
        for stream in streams:
            stream.synchronize()

    total, f32 = sum(range(1, N + 1)), nccl.NCCL_FLOAT32
    run("allReduce", arrays, outs, 4 * N, f32, nccl.NCCL_SUM)
    assert all((out.get() == total).all() for out in outs)
    run("reduce", arrays, outs, 4 * N, f32, nccl.NCCL_MAX, 1)
    assert (outs[1].get() == N).all() and (outs[0].get() == total).all()
    run("broadcast", arrays, outs, 4 * N, nccl.NCCL_FLOAT, 1)
    assert all((out.get() == 2).all() for out in outs)
    run("reduceScatter", arrays, outs, 4, f32, nccl.NCCL_SUM)
    assert all(out.get()[:5].tolist() == [total] * 4 + [2] for out in outs)
    run("allGather", arrays, outs, 4, f32)
    assert all(out.get().reshape(N, 4)[:, 0].tolist() == list(range(1, N + 1)) for out in outs)
    run("bcast", arrays, 4 * N, f32, N - 1)
    assert all((a.get() == N).all() for a in arrays)
    nccl.groupStart()
    made[0].send(int(outs[0].gpudata), 4, nccl.NCCL_INT32, 1, streams[0].handle)
    made[1].recv(int(arrays[1].gpudata), 4, nccl.NCCL_INT32, 0, streams[1].handle)
    nccl.groupEnd()
    streams[1].synchronize()
    assert arrays[1].get()[:5].tolist() == [1] * 4 + [N]
    for c in made:
        c.check_async_error()
    with pytest.raises(nccl.NcclError, match="datatype=77") as raised:
        made[0].allReduce(int(arrays[0].gpudata), int(arrays[0].gpudata), 1, 77, 0, 0)
    assert raised.value.status == 4
    for c in made:
        c.destroy()
        c.destroy()
    with pytest.raises(ValueError, match="the communicator was destroyed"):
        made[0].size()


def made_devices(count):
    """Ranks without a communicator, for `each`."""

    class Rank:
        def __init__(self, rank):
            self.rank = self.device_id = rank

    return [Rank(rank) for rank in range(count)]


def test_registered_memory(communicators):
    a = xp.full(1000, 2.0)
    with nccl.register(communicators[0], a) as registration:
        pass
    registration.close()
    registration = nccl.register(communicators[0], a)
    del registration, a
    gc.collect()


def test_ends_of_communicators():
    """Closed twice, by a block, by an exception in it, and dropped in any order with their work done."""
    made = nccl.init_all(N)
    assert "rank 1 of" in repr(made[1]) and not made[1].is_closed
    made[1].close()
    made[1].close()
    assert made[1].is_closed and "closed" in repr(made[1])
    for call in (
        lambda: made[1].all_reduce(xp.zeros(1)),
        lambda: made[1].split(0),
        made[1].check_async_error,
        lambda: made[1].shrink([0]),
    ):
        with pytest.raises(nccl.NcclError, match="closed"), devices.use(1):
            call()
    with pytest.raises(ZeroDivisionError), made[0] as communicator:
        raise ZeroDivisionError
    assert communicator.is_closed
    for order in itertools.islice(itertools.permutations(range(N)), 0, None, 5):
        made = nccl.init_all(N)
        results = each(made, lambda c: c.all_reduce(xp.full(2, 1.0)))
        assert all(result.get()[0] == N for result in results)
        for rank in order:
            made[rank] = None


@virtual_only
def test_ranks_that_are_dropped_while_others_wait():
    """Work that can never be done ends with an error, whatever stream it is in."""
    for with_stream in (True, False):
        made = nccl.init_all(N)
        with devices.use(0) as context:
            result = made[0].all_reduce(xp.ones(3), stream=driver.Stream() if with_stream else None)
            made[1] = None
            gc.collect()
            with pytest.raises(
                nccl.NcclError, match="rank 1 has destroyed its communicator, and other ranks wait for it"
            ):
                made[0].wait(timeout=20)
            del result, made
            gc.collect()
            assert int(xp.ones(5).sum().get()) == 5
            context.synchronize()


def hear(communicator, limit_s=20):
    """Raises the communicator's failure, which comes from another thread."""
    until = time.monotonic() + limit_s
    while time.monotonic() < until:
        communicator.check_async_error()
        time.sleep(0.001)


DIFFERENT = [
    ("count", lambda c: c.all_reduce(xp.ones(4, np.float32)), "AllReduce of 4 Float32 with sum"),
    ("dtype", lambda c: c.all_reduce(xp.ones(3, np.int32)), "AllReduce of 3 Int32 with sum"),
    ("op", lambda c: c.all_reduce(xp.ones(3, np.float32), op="max"), "AllReduce of 3 Float32 with max"),
    ("kind", lambda c: c.broadcast(xp.ones(3, np.float32)), "Broadcast of 3 Float32 with root 0"),
]


@virtual_only
@pytest.mark.parametrize("name, call, text", DIFFERENT)
@pytest.mark.parametrize("in_group", [True, False])
def test_ranks_that_disagree(name, call, text, in_group):
    """Every rank hears which two ranks ask for what; nobody hangs, and devices are of use afterwards."""
    made = nccl.init_all(N)
    expected = f"ranks 0 and 1 disagree on collective 1: AllReduce of 3 Float32 with sum, and {text}"
    normal = lambda c: c.all_reduce(xp.ones(3, np.float32))  # noqa: E731
    with nccl.group() if in_group else open(os.devnull):
        each(made, lambda c: call(c) if c.rank == 1 else normal(c))
    for communicator in made:
        with pytest.raises(nccl.NcclError, match=expected) as raised:
            hear(communicator)
        assert raised.value.status == 5
    with pytest.raises(nccl.NcclError, match=expected):
        made[0].wait(timeout=20)
    del made
    gc.collect()


@virtual_only
def test_roots_and_messages_that_disagree():
    made = nccl.init_all(N)
    each(made, lambda c: c.reduce(xp.ones(3, np.int8), root=c.rank % 2))
    with pytest.raises(
        nccl.NcclError, match="Reduce of 3 Int8 with sum with root 0, and Reduce of 3 Int8 with sum with root 1"
    ):
        made[0].wait(timeout=20)
    made = nccl.init_all(2)
    with nccl.group():
        with devices.use(0):
            made[0].send(xp.ones(3, np.int8), 1)
        with devices.use(1):
            made[1].recv(xp.ones(4, np.int8), 0)
    with pytest.raises(
        nccl.NcclError, match="ranks 0 and 1 disagree: Send of 3 Int8 to rank 1, and Recv of 4 Int8 from rank 0"
    ):
        made[1].wait(timeout=20)


@virtual_only
def test_waits_have_limits():
    made = nccl.init_all(N)
    result = made[0].all_reduce(xp.ones(3))
    with pytest.raises(nccl.NcclError, match="rank 0 has waited for 0.1 s for rank.* in collective 1,") as raised:
        made[0].wait(timeout=0.1)
    assert raised.value.status == 9 or raised.value.status > 0
    assert all(communicator.is_closed for communicator in made), "those of one process end together"
    del result


def bad_calls(communicators):
    c, a = communicators[0], xp.arange(4 * N, dtype=np.float32)
    with devices.use(1):
        elsewhere = xp.zeros(4 * N, np.float32)
        other_stream = driver.Stream()
    freed = xp.zeros(4, np.float32)
    freed.gpudata.free()
    rows = xp.zeros((4, 6), np.float32)
    n = str(N)
    yield TypeError, "a is a numpy.ndarray; a collective takes arrays on the device", lambda: c.all_reduce(np.zeros(3))
    yield TypeError, "out is a list; a collective takes", lambda: c.all_reduce(a, [1])
    yield TypeError, "a is a NoneType", lambda: c.all_reduce(None)
    yield ValueError, "a is an array of another device", lambda: c.all_reduce(elsewhere)
    yield ValueError, "out is an array of another device", lambda: c.all_reduce(a, elsewhere)
    yield ValueError, "stream is of another context than the comm", lambda: c.all_reduce(a, stream=other_stream)
    yield TypeError, "'int' object", lambda: c.all_reduce(a, stream=5)
    yield ValueError, "op is 'mean'; expected 'sum', 'prod', 'max', 'min' or 'avg'", lambda: c.all_reduce(a, op="mean")
    yield ValueError, r"a, of shape \[2, 6\] with strides \[48, 4\], is not contiguous", lambda: c.all_reduce(rows[::2])
    yield (
        ValueError,
        r"out has shape \[2\] and dtype float32; expected " + str(4 * N) + " elements of float32",
        lambda: c.all_reduce(a, a[:2]),
    )
    yield (
        ValueError,
        "out has shape .* and dtype int32; expected .* of float32",
        lambda: c.all_reduce(a, a.view(np.int32)),
    )
    yield ValueError, "a and out overlap; in place, they are the same", lambda: c.all_reduce(a[:3], a[1:4])
    yield ValueError, "a and out overlap; in place, a is this rank's part of out", lambda: c.all_gather(a[4:8], a)
    yield ValueError, "a and out overlap; in place, out is this rank's part of a", lambda: c.reduce_scatter(a, a[4:8])
    yield ValueError, "a and out overlap; this collective is not done in place", lambda: c.all_to_all(a, a)
    yield ValueError, f"root={N} is no rank of a communicator of {n} ranks", lambda: c.reduce(a, root=N)
    yield ValueError, "root=-1 is no rank", lambda: c.broadcast(a, -1)
    yield TypeError, "1.0 is no integer", lambda: c.reduce(a, root=1.0)
    yield ValueError, "peer=9 is no rank", lambda: c.send(a, 9)
    yield ValueError, "peer=-2 is no rank", lambda: c.recv(a, -2)
    yield ValueError, "a is missing, which rank 0 needs here", lambda: c.scatter(None, a)
    yield ValueError, "out is missing, which rank 1 needs here", lambda: communicators[1].scatter(None)
    yield ValueError, f"without out, its first axis has the length {n}", lambda: c.reduce_scatter(a)
    yield ValueError, f"a has {4 * N - 1} elements, which are no {n} equal parts", lambda: c.all_to_all(a[1:])
    yield TypeError, "NCCL has no reduction 'sum' of int16", lambda: c.all_reduce(a.astype(np.int16))
    yield TypeError, "NCCL has no reduction 'max' of complex64", lambda: c.all_reduce(a.astype(np.complex64), op="max")
    yield TypeError, "NCCL has no reduction 'avg' of bool", lambda: c.all_reduce(a.astype(bool), op="avg")
    yield Exception, "freed", lambda: c.all_reduce(freed)
    yield ValueError, "timeout=-1; expected a number of seconds that is not negative", lambda: c.wait(timeout=-1)
    yield ValueError, "timeout=NaN", lambda: c.wait(timeout=float("nan"))
    yield ValueError, f"rank={N} is no rank", lambda: nccl.Communicator(N, nccl.unique_id(), N)
    yield ValueError, "n_ranks=0", lambda: nccl.Communicator(0, nccl.unique_id(), 0)
    yield TypeError, "id is b'x'; expected the 128 bytes", lambda: nccl.Communicator(2, b"x", 0)
    yield TypeError, "id is None", lambda: nccl.Communicator(2, None, 0)
    yield Exception, "unique_id|ncclGetUniqueId", lambda: nccl.Communicator(2, b"x" * 128, 0)
    yield ValueError, "device is 99; expected an ordinal", lambda: nccl.init_all([0, 99])
    yield ValueError, "devices=-1; expected", lambda: nccl.init_all(-1)
    yield ValueError, "devices=0; expected", lambda: nccl.init_all(0)
    yield ValueError, "devices=1000; expected", lambda: nccl.init_all(1000)
    yield TypeError, "devices='01'; expected", lambda: nccl.init_all("01")
    yield TypeError, "devices=1.5; expected", lambda: nccl.init_all(1.5)
    yield TypeError, "devices=True; expected", lambda: nccl.init_all(True)
    yield ValueError, "devices is empty; expected at least one", lambda: nccl.init_all([])
    yield TypeError, r"a Communicator belongs to one process .* nccl.unique_id\(\)", lambda: pickle.dumps(c)
    yield ValueError, f"colors has 1 elements; expected {n}", lambda: nccl.split_all(communicators, [0])
    yield ValueError, f"keys has 1 elements; expected {n}", lambda: nccl.split_all(communicators, [0] * N, [0])
    yield RuntimeError, "no group was started in this thread", nccl.groupEnd


def test_bad_calls(communicators):
    """Nothing is enqueued, and the error names the argument, its value and what was expected."""
    for kind, message, call in bad_calls(communicators):
        with pytest.raises(kind, match=message):
            call()
    for communicator in communicators:
        communicator.check_async_error()
    assert [int(r.get()[0]) for r in each(communicators, lambda c: c.all_reduce(xp.ones(2, np.int32)))] == [N] * N


@virtual_only
def test_a_rank_that_sends_to_itself(communicators):
    """In one group with the other end; alone it would wait for ever, and NCCL refuses it."""
    c, a = communicators[0], xp.arange(3)
    for call, message in ((c.send, "sends to itself without a recv"), (c.recv, "receives from itself without a send")):
        with pytest.raises(nccl.NcclError, match=f"rank 0 {message} in the same group") as raised:
            call(a, 0)
        assert raised.value.status == 5
    b = xp.zeros_like(a)
    with nccl.group():
        c.send(a, 0)
        c.recv(b, 0)
    assert b.get().tolist() == [0, 1, 2]


@virtual_only
def test_addresses_of_another_device():
    one, two = nccl.NcclCommunicator.initAll(np.int64(2))
    with devices.use(1):
        elsewhere = xp.zeros(4)
    with pytest.raises(nccl.NcclError, match="the send buffer, 32 bytes at 0x.*, is no memory of device 0"):
        one.allReduce(elsewhere.ptr, elsewhere.ptr, 4, nccl.NCCL_FLOAT64, nccl.NCCL_SUM, 0)
    one.abort()
    two.abort()


def test_groups_after_errors(communicators):
    """An error in a group leaves it; the next one works."""
    with pytest.raises(ZeroDivisionError), nccl.group():
        raise ZeroDivisionError
    with nccl.group(), nccl.group():
        results = each(communicators, lambda c: c.all_reduce(xp.ones(2, np.int32)))
    assert [int(r.get()[0]) for r in results] == [N] * N
