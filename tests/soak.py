"""Allocations, copies, launches and frees from many threads with random lifetimes, until a number is reached.

``python tests/soak.py 1000000`` runs a million operations on the first device; the test-suite runs a
few thousand. Every thread works in the same context, and now and then in one of its own, which is popped
or detached while memory, pools and streams of it still live. Results of kernels are compared. In the end the
device must have as much free memory as in the beginning.

Options: ``--threads 8``, ``--seed 1``, ``--device 0``.
"""

import argparse
import gc
import random
import sys
import threading
import time
import warnings

import numpy as np
import pycuda.driver as cuda
import pycuda.tools as tools
from pycuda.compiler import SourceModule

SOURCE = """
__global__ void fill(unsigned *a, unsigned n, unsigned value) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) a[i] = value + i;
}
"""

# Memory that a context, its modules and its local memory may keep; a leak of one allocation per round is more.
SLACK_BYTES = 32 << 20


class Slot:
    """Device memory with what was last written to it, or None."""

    def __init__(self, memory, words, stream):
        self.memory, self.words, self.stream, self.value = memory, words, stream, None


class Thread(threading.Thread):
    """One of the threads: `failure` is what went wrong in it."""

    def __init__(self, shared, number, operations):
        super().__init__(name=f"soak-{number}")
        self.operations = operations
        self.shared, self.random, self.failure, self.done = shared, random.Random(f"{shared.seed} {number}"), None, 0

    def run(self):
        try:
            self.shared.context.push()
            try:
                self.work(self.shared.module, self.shared.pool, self.operations)
            finally:
                cuda.Context.pop()
        except BaseException as error:
            self.failure = error
            self.shared.stop.set()

    def work(self, module, pool, operations):
        streams = [None, cuda.Stream(), cuda.Stream(cuda.stream_flags.NON_BLOCKING)]
        fill, slots, end = module.get_function("fill"), [], self.done + operations
        # The limits of a slot are those that keep 8 threads within half a gigabyte.
        while self.done < end and not self.shared.stop.is_set():
            self.done += 1
            choice = self.random.random()
            if not slots or (choice < 0.4 and len(slots) < 64):
                slots.append(self.allocate(pool, streams))
            elif choice < 0.6:
                self.launch(fill, self.random.choice(slots))
            elif choice < 0.7:
                self.check(self.random.choice(slots))
            elif choice < 0.72:
                self.host_memory(self.random.choice(slots))
            elif choice < 0.7205 and operations > 100:
                self.other_context(min(100, end - self.done))
            elif choice < 0.721:
                streams[self.random.randrange(1, 3)] = cuda.Stream(cuda.stream_flags.NON_BLOCKING)
            else:
                self.drop(slots, pool)
        for slot in slots:
            self.check(slot)

    def allocate(self, pool, streams):
        words, stream = self.random.choice([1, 100, 4000, 70_000]), self.random.choice(streams)
        how = self.random.randrange(4)
        if how == 0:
            # Memory of the whole device waits for all streams when it is freed.
            return Slot(cuda.mem_alloc(4 * words), words, stream)
        if how == 1:
            return Slot(cuda.mem_alloc_async(4 * words, stream), words, stream)
        if how == 2:
            # As programs do that know nothing of streams in pools.
            return Slot(pool.allocate(4 * words), words, self.random.choice(streams[:2]))
        return Slot(pool.allocate(4 * words, stream), words, stream)

    def launch(self, fill, slot):
        slot.value = self.random.randrange(1 << 20)
        grid, stream = (min(64, slot.words // 256 + 1), 1), slot.stream
        fill(slot.memory, np.uint32(slot.words), np.uint32(slot.value), block=(256, 1, 1), grid=grid, stream=stream)

    def check(self, slot):
        if slot.value is None:
            return
        host = np.empty(slot.words, np.uint32)
        cuda.memcpy_dtoh_async(host, slot.memory, slot.stream)
        if slot.stream is None:
            cuda.Context.synchronize()
        else:
            slot.stream.synchronize()
        expected = np.arange(slot.value, slot.value + slot.words, dtype=np.uint32)
        if not (host == expected).all():
            wrong = int((host != expected).argmax())
            raise AssertionError(f"word {wrong} of {slot.words} is {host[wrong]}, not {expected[wrong]}")

    def host_memory(self, slot):
        host = self.shared.host_pool.allocate(slot.words, np.uint32)
        value = self.random.randrange(1 << 20)
        host[...] = np.arange(value, value + slot.words, dtype=np.uint32)
        cuda.memcpy_htod_async(slot.memory, host, slot.stream)
        slot.value = value

    def drop(self, slots, pool):
        slot = slots.pop(self.random.randrange(len(slots)))
        choice = self.random.random()
        if choice < 0.3:
            slot.memory.free()
        elif choice < 0.5:
            # Freed by whichever thread comes first.
            self.shared.attic.append(slot.memory)
        elif choice < 0.51:
            self.shared.attic.clear()
        elif choice < 0.513:
            pool.free_held()

    def other_context(self, operations):
        """Work in a context of this thread's own, which goes while things of it live."""
        context = self.shared.device.make_context()
        pool, left_over = tools.DeviceMemoryPool(), []
        try:
            self.work(SourceModule(SOURCE), pool, operations)
            left_over = [cuda.mem_alloc(1000), pool.allocate(5000), cuda.Stream(), cuda.pagelocked_empty(10, np.int8)]
        finally:
            if self.random.random() < 0.5:
                context.pop()
            else:
                context.detach()
        del left_over


class Soak:
    """What all threads share."""

    def __init__(self, operations, threads, seed, ordinal):
        self.operations, self.threads, self.seed = operations, threads, seed
        self.device, self.stop, self.attic = cuda.Device(ordinal), threading.Event(), []

    def run(self):
        """Do the work; returns the number of operations and the bytes that are missing."""
        self.context = self.device.make_context()
        try:
            self.module = SourceModule(SOURCE)
            self.pool, self.host_pool = tools.DeviceMemoryPool(), tools.PageLockedMemoryPool()
            # What the driver takes for its first streams, contexts and pools, and keeps.
            self.round(min(1000, self.operations // 4))
            before = self.free_bytes_in_the_end()
            done = self.round(self.operations)
            return done, before - self.free_bytes_in_the_end()
        finally:
            self.attic.clear()
            self.context.pop()

    def round(self, operations):
        """Share `operations` among new threads; returns how many they did."""
        workers = [Thread(self, number, operations // self.threads) for number in range(self.threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        for worker in workers:
            if worker.failure is not None:
                raise worker.failure
        return sum(worker.done for worker in workers)

    def free_bytes_in_the_end(self):
        self.attic.clear()
        gc.collect()
        cuda.Context.synchronize()
        if self.pool.active_blocks or self.host_pool.active_blocks:
            raise AssertionError(f"blocks in use in the end: {self.pool.statistics()} {self.host_pool.statistics()}")
        self.pool.free_held()
        self.host_pool.free_held()
        cuda.MemoryPool.get_default(self.device).trim()
        return cuda.mem_get_info()[0]


def soak(operations, threads=8, seed=1, ordinal=0):
    """Run `operations` operations; returns how many were done. Raises when anything is wrong."""
    done, missing = Soak(operations, threads, seed, ordinal).run()
    if missing > SLACK_BYTES:
        raise AssertionError(f"{missing} bytes of device memory are missing in the end")
    return done


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operations", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", type=int, default=0)
    arguments = parser.parse_args()
    cuda.init()
    start = time.perf_counter()
    done = soak(arguments.operations, arguments.threads, arguments.seed, arguments.device)
    seconds, name = time.perf_counter() - start, cuda.Device(arguments.device).name()
    print(f"{done} operations on {name} in {seconds:.1f} s: all well")


if __name__ == "__main__":
    warnings.filterwarnings("ignore", message="no NVIDIA GPU")
    sys.exit(main())
