"""nccl4py with arrays and streams of rtcg, unchanged: each collective beside NumPy, and work that is pending."""

import time

import nccl.core as nccl
import numpy as np

import rtcg
import rtcg.numpy as rnp
from rtcg import devices, driver
from rtcg.compiler import SourceModule

N_RANKS = 4
N = 24
RANKS = range(N_RANKS)
NON_BLOCKING = driver.stream_flags.NON_BLOCKING
SLOW = """
__global__ void add_one_by_one(double *x, int n, int times)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; i < n && k < times; k++) *(volatile double *)(x + i) += 1;
}
"""


def on_devices(communicators, hosts):
    arrays = []
    for communicator, host in zip(communicators, hosts, strict=True):
        with devices.use(communicator.device.device_id):
            arrays.append(rnp.asarray(host))
    return arrays


def each(communicators, call, *lists):
    """Calls of all ranks in one group, each with its device current."""
    with nccl.group():
        for communicator, *arguments in zip(communicators, *lists, strict=True):
            with devices.use(communicator.device.device_id):
                call(communicator, *arguments)


def check(communicators, name, call, hosts, expected):
    """A call `call(communicator, sent, received)`, whose results have the forms of `expected`."""
    sent = on_devices(communicators, hosts)
    received = on_devices(communicators, [np.zeros_like(array) for array in expected])
    each(communicators, call, sent, received)
    for rank, (array, wanted) in enumerate(zip(received, expected, strict=True)):
        np.testing.assert_allclose(
            array.get(), wanted, rtol=1e-3 if wanted.dtype == np.float16 else 1e-6, err_msg=f"{name}, rank {rank}"
        )


def draw(dtype, shape=N):
    random = np.random.default_rng(7)
    return [random.integers(1, 5, shape).astype(dtype) for _ in RANKS]


def check_collectives(communicators):
    operations = {nccl.SUM: sum, nccl.PROD: np.prod, nccl.MAX: np.max, nccl.MIN: np.min, nccl.AVG: np.mean}
    for dtype in map(np.dtype, "bBiIlLefd"):
        hosts = draw(dtype)
        for op, reference in operations.items():
            of_all = reference(hosts) if reference is sum else reference(hosts, axis=0)
            # Integers are divided as in C.
            of_all = sum(hosts) // N_RANKS if op == nccl.AVG and dtype.kind in "iu" else of_all
            wanted = [of_all.astype(dtype)] * N_RANKS
            check(
                communicators, f"allreduce {op!r} {dtype}", lambda c, s, r, op=op: c.allreduce(s, r, op), hosts, wanted
            )

    hosts = draw(np.float32)
    whole, part = np.concatenate(hosts), N // N_RANKS
    for root in (0, 3):
        check_rooted(communicators, hosts, root)
    check(communicators, "allgather", lambda c, s, r: c.allgather(s, r), hosts, [whole] * N_RANKS)
    parts = np.split(sum(hosts), N_RANKS)
    check(communicators, "reduce_scatter", lambda c, s, r: c.reduce_scatter(s, r, nccl.SUM), hosts, parts)
    swapped = [np.concatenate([host[r * part : (r + 1) * part] for host in hosts]) for r in RANKS]
    check(communicators, "alltoall", lambda c, s, r: c.alltoall(s, r), hosts, swapped)

    def ring(communicator, sent, received):
        communicator.send(sent, (communicator.rank + 1) % N_RANKS)
        communicator.recv(received, (communicator.rank - 1) % N_RANKS)

    check(communicators, "ring", ring, hosts, hosts[-1:] + hosts[:-1])
    factors = [
        communicator.create_pre_mul_sum(rank + 1.0, nccl.FLOAT32) for rank, communicator in enumerate(communicators)
    ]
    scaled = sum((rank + 1) * host for rank, host in enumerate(hosts))
    check(communicators, "scaled", lambda c, s, r: c.allreduce(s, r, factors[c.rank]), hosts, [scaled] * N_RANKS)


def check_rooted(communicators, hosts, root):
    whole = np.concatenate(hosts)
    only = lambda array: [array if rank == root else np.zeros_like(array) for rank in RANKS]  # noqa: E731
    for name, call, wanted in [
        ("reduce", lambda c, s, r: c.reduce(s, r, nccl.SUM, root=root), only(sum(hosts))),
        ("broadcast", lambda c, s, r: c.broadcast(s, r, root), [hosts[root]] * N_RANKS),
        ("gather", lambda c, s, r: c.gather(s, r, root), only(whole)),
        ("scatter", lambda c, s, r: c.scatter(s, r, root), np.split(hosts[root], N_RANKS)),
    ]:
        check(communicators, f"{name} with root {root}", call, hosts, wanted)


def check_forms(communicators):
    """Fortran order, zero elements, and two dimensions; what NCCL has no type for is refused."""
    hosts = [np.asfortranarray(np.arange(12.0).reshape(3, 4) + rank) for rank in RANKS]
    check(communicators, "Fortran order", lambda c, s, r: c.allreduce(s, r, nccl.SUM), hosts, [sum(hosts)] * N_RANKS)
    empty = [np.zeros(0, np.int32)] * N_RANKS
    check(communicators, "no elements", lambda c, s, r: c.allreduce(s, r, nccl.SUM), empty, empty)
    with devices.use(0):
        for array in (rnp.zeros(3, np.complex64), rnp.zeros(3, np.int16)):
            try:
                communicators[0].allreduce(array, array, nccl.SUM)
            except nccl.NcclInvalid as error:
                assert "no NCCL equivalent" in str(error), error
            else:
                raise AssertionError(f"{array.dtype} was taken")
    with devices.use(1):
        array = rnp.zeros(3)
    try:
        communicators[0].allreduce(array, array, nccl.SUM)
    except nccl.NcclInvalid as error:
        assert "is on device 1" in str(error), error
    else:
        raise AssertionError("an array of another device was taken")


def check_pending(communicators, ways):
    """Slow additions, then a sum at once: nccl4py itself waits for nothing, and does not block either.

    `ways` are the stream of the sum (that of the additions, or another one) and whether exports wait.
    """
    times, n = 3_000_000, 64
    for is_same, waits in ways:
        sent = on_devices(communicators, [np.full(n, float(rank)) for rank in RANKS])
        received = on_devices(communicators, [np.zeros(n) for _ in RANKS])
        streams = []
        begun = time.monotonic()
        for rank, array in enumerate(sent):
            with devices.use(rank):
                add = SourceModule(SLOW).get_function("add_one_by_one")
                writer = driver.Stream(NON_BLOCKING)
                streams.append(writer if is_same else driver.Stream(NON_BLOCKING))
                add(array, np.int32(n), np.int32(times), block=(n, 1, 1), stream=writer)
        call = lambda c, s, r, stream: c.allreduce(s, r, nccl.SUM, stream=stream)  # noqa: E731
        if waits:
            with rtcg.exports_wait():
                each(communicators, call, sent, received, streams)
        else:
            each(communicators, call, sent, received, streams)
            assert not all(stream.is_done() for stream in streams), "the sum has blocked, or the additions were quick"
        for rank, (array, stream) in enumerate(zip(received, streams, strict=True)):
            with devices.use(rank):
                stream.synchronize()
                got, wanted = array.get(), sum(RANKS) + N_RANKS * times
                assert (got == wanted).all(), (is_same, waits, rank, got, wanted)
        print(f"  same stream {is_same}, exports wait {waits}: {time.monotonic() - begun:.2f} s")


def check_new_communicators(communicators):
    with nccl.group():
        halves = [
            communicator.split(color=communicator.rank % 2, key=-communicator.rank) for communicator in communicators
        ]
    assert [(half.rank, half.nranks) for half in halves] == [(1, 2), (1, 2), (0, 2), (0, 2)]
    hosts = [np.full(N, 10.0**rank) for rank in RANKS]
    check(
        halves,
        "split",
        lambda c, s, r: c.allreduce(s, r, nccl.SUM),
        hosts,
        [hosts[0] + hosts[2], hosts[1] + hosts[3]] * 2,
    )
    with nccl.group():
        rest = [communicator.shrink([1]) for communicator in communicators if communicator.rank != 1]
    assert [(communicator.rank, communicator.device.device_id) for communicator in rest] == [(0, 0), (1, 2), (2, 3)]
    check(rest, "shrink", lambda c, s, r: c.allreduce(s, r, nccl.MAX), hosts[:3], [hosts[2]] * 3)
    for communicator in (*halves, *rest):
        communicator.destroy()


def check_recent_calls(communicators):
    """Settings of one call, what a communicator tells of itself, and its ways to stop."""
    hosts = draw(np.float64)
    config = nccl.NCCLCollConfig(max_ctas=2)
    call = lambda c, s, r: c.allreduce(s, r, nccl.SUM, config=config)  # noqa: E731
    check(communicators, "allreduce with settings", call, hosts, [sum(hosts)] * N_RANKS)
    for rank, communicator in enumerate(communicators):
        properties = communicator.properties
        assert (properties.rank, properties.n_ranks, properties.cuda_dev) == (rank, N_RANKS, rank), properties
        assert not properties.device_api_support and not properties.multimem_support
        communicator.suspend()
        assert communicator.get_mem_stat(nccl.NcclCommMemStat.GPU_MEM_SUSPENDED) == 1
        communicator.resume()
    assert dict(nccl.params) == {}
    arrays = on_devices(communicators, hosts)
    nccl.group_start()
    for communicator, array in zip(communicators, arrays, strict=True):
        communicator.allreduce(array, array, nccl.SUM)
    assert nccl.group_end(simulate=True).estimated_time == 0
    for array, host in zip(arrays, hosts, strict=True):
        np.testing.assert_array_equal(array.get(), host, "a simulated group")

    # A rank waits for others that never come; revoking ends the wait, and what is left can be shrunk.
    with nccl.group():
        revoked = [communicator.split(color=0) for communicator in communicators]
    with devices.use(0):
        stream = driver.Stream(NON_BLOCKING)
        revoked[0].allreduce(arrays[0], arrays[0], nccl.SUM, stream=stream)
        revoked[0].revoke()
        try:
            stream.synchronize()
        except driver.Error as error:
            assert "external entity" in str(error), error
        else:
            raise AssertionError("a sum of one rank in four has ended well")
        assert "rank 0 has revoked" in revoked[0].get_last_error(), revoked[0].get_last_error()
    for communicator in revoked:
        communicator.abort()


def check_memory_of_nccl():
    """An array of rtcg over memory that nccl4py has allocated."""
    with devices.use(2):
        buffer = nccl.mem_alloc(4 * N, 2)
        array = rnp.from_dlpack(buffer).view(np.float32)
        array[...] = rnp.arange(N, dtype=np.float32)
        np.testing.assert_array_equal((2 * array).get(), 2 * np.arange(N))


def main():
    communicators = nccl.Communicator.init_all(N_RANKS)
    check_collectives(communicators)
    check_forms(communicators)
    check_pending(communicators, [(True, False), (True, True), (False, True)])
    check_new_communicators(communicators)
    check_recent_calls(communicators)
    check_memory_of_nccl()
    for communicator in communicators:
        communicator.destroy()


if __name__ == "__main__":
    main()
