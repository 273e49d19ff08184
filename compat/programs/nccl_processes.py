"""nccl4py in four processes with arrays of rtcg, one of whose ranks is `rtcg.nccl`'s; then one of them is killed."""

import multiprocessing
import os
import signal
import time

import nccl.core as nccl
import numpy as np

import rtcg.nccl
import rtcg.numpy as rnp
from rtcg import devices, driver

N_RANKS = 4
N = 100_000
LIMIT_S = 60
#: The rank whose process dies, and the one that `rtcg.nccl` is.
KILLED, OURS = 3, 0


def expected():
    return sum(np.arange(N) * (rank + 1.0) for rank in range(N_RANKS))


def with_nccl4py(rank, unique_id, array, result, stream, barrier):
    communicator = nccl.Communicator.init(N_RANKS, rank, unique_id)
    assert (communicator.rank, communicator.nranks, communicator.device.device_id) == (rank, N_RANKS, rank)
    communicator.allreduce(array, result, nccl.SUM, stream=stream)
    stream.synchronize()
    np.testing.assert_array_equal(result.get(), expected())
    barrier.wait(LIMIT_S)
    if rank == KILLED:
        os.kill(os.getpid(), signal.SIGKILL)
    communicator.allreduce(array, result, nccl.SUM, stream=stream)
    begun = time.monotonic()
    while communicator.get_async_error() == 0:
        assert time.monotonic() - begun < LIMIT_S, "nothing says that a rank has died"
        time.sleep(0.01)
    text = communicator.get_last_error()
    assert f"rank {KILLED}" in text, text
    communicator.abort()


def with_ours(rank, unique_id, array, result, stream, barrier):
    communicator = rtcg.nccl.Communicator(N_RANKS, unique_id.as_bytes, rank)
    communicator.all_reduce(array, out=result, stream=stream)
    communicator.wait(stream, timeout=LIMIT_S)
    np.testing.assert_array_equal(result.get(), expected())
    barrier.wait(LIMIT_S)
    communicator.all_reduce(array, out=result, stream=stream)
    try:
        communicator.wait(stream, timeout=LIMIT_S)
    except rtcg.nccl.NcclError as error:
        assert f"rank {KILLED}" in str(error), error
    else:
        raise AssertionError("the rank that has died was not missed")


def run_rank(rank, unique_id, barrier):
    driver.init()
    context = devices.primary_context(rank)
    context.push()
    array, result = rnp.arange(N) * (rank + 1.0), rnp.zeros(N)
    driver.Context.synchronize()
    stream = driver.Stream(driver.stream_flags.NON_BLOCKING)
    run = with_ours if rank == OURS else with_nccl4py
    run(rank, unique_id, array, result, stream, barrier)


def main():
    methods = multiprocessing.get_context("spawn")
    barrier = methods.Barrier(N_RANKS)
    unique_id = nccl.get_unique_id()
    ranks = [methods.Process(target=run_rank, args=(rank, unique_id, barrier)) for rank in range(N_RANKS)]
    for process in ranks:
        process.start()
    for process in ranks:
        process.join(3 * LIMIT_S)
    statuses = [process.exitcode for process in ranks]
    assert statuses == [-signal.SIGKILL if rank == KILLED else 0 for rank in range(N_RANKS)], statuses


if __name__ == "__main__":
    main()
