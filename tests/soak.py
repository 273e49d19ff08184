"""Allocations, copies, launches and frees from many threads with random lifetimes, until a number is reached.

``python tests/soak.py 1000000`` runs a million operations on the first device; the test-suite runs a
few thousand. Every thread works in the same context, and now and then in one of its own, which is popped
or detached while memory, pools, arrays, streams, events and modules of it still live. What kernels and copies
leave is compared. In the end the device must have as much free memory as in the beginning.

Options: ``--threads 8``, ``--seed 1``, ``--device 0``, ``--seconds 0``: no new operation after that time, so that
it also ends under a tool that makes everything slow::

    compute-sanitizer --tool memcheck --error-exitcode 1 python tests/soak.py --seconds 60
"""

import argparse
import collections
import gc
import random
import sys
import threading
import time
import warnings

import numpy as np

import pycuda.tools as tools
import rtcg.driver as cuda
from pycuda.compiler import compile

SOURCE = """
__global__ void fill(unsigned *a, unsigned n, unsigned value) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) a[i] = value + i;
}
"""

# What a driver keeps once it has loaded modules and libraries in several contexts: an H200's kept 34 to 38 MiB
# after 20,000, 100,000 and 300,000 operations alike.
SLACK_BYTES = 64 << 20

# What the streams of a thread are: the default one, one that waits for it, one that does not.
KINDS_OF_STREAMS = (None, cuda.stream_flags.DEFAULT, cuda.stream_flags.NON_BLOCKING)


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
        self.counts = collections.Counter()

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
        streams = [None, *(cuda.Stream(flags) for flags in KINDS_OF_STREAMS[1:])]
        fill, slots, things, end = module.get_function("fill"), [], [], self.done + operations
        # The limits of a slot are those that keep 8 threads within half a gigabyte.
        while self.done < end and not self.shared.is_over():
            self.done += 1
            choice = self.random.random()
            if not slots or (choice < 0.4 and len(slots) < 64):
                self.counts["allocations"] += 1
                slots.append(self.allocate(pool, streams))
            elif choice < 0.6:
                self.counts["launches"] += 1
                self.launch(fill, self.random.choice(slots))
            elif choice < 0.68:
                self.check(self.random.choice(slots))
            elif choice < 0.70:
                self.host_memory(self.random.choice(slots))
            elif choice < 0.7205:
                self.rarer(things, slots, streams)
            elif choice < 0.721 and operations > 100:
                self.counts["contexts"] += 1
                self.other_context(min(100, end - self.done))
            elif choice < 0.7215:
                self.counts["streams"] += 1
                number = self.random.randrange(1, 3)
                streams[number] = cuda.Stream(KINDS_OF_STREAMS[number])
            else:
                self.counts["frees"] += 1
                self.drop(slots, pool)
        for slot in slots:
            self.check(slot)
        return things

    def rarer(self, things, slots, streams):
        """Make, use or drop something else that a context owns; it lives as long as chance will have it."""
        if len(things) >= 32 or (things and self.random.random() < 0.4):
            thing = things.pop(self.random.randrange(len(things)))
            if self.random.random() < 0.5:
                self.shared.attic.append(thing)
            return
        kind = self.random.choice(["events", "arrays", "page-locked", "managed", "pitched", "modules", "libraries"])
        self.counts[kind] += 1
        thing = getattr(self, "make_" + kind.replace("-", "_"))(slots, streams)
        things.append(thing)

    def make_events(self, slots, streams):
        """What another stream does after the event sees what came before it."""
        slot, event = self.random.choice(slots), cuda.Event()
        event.record(slot.stream)
        other = self.random.choice(streams[1:])
        other.wait_for_event(event)
        self.check(slot, other)
        if slot.stream is not None:
            event.synchronize()
        return event

    def make_arrays(self, slots, streams):
        shape = self.random.choice([(3, 5), (16, 40), (100, 33)])
        host = np.arange(shape[0] * shape[1], dtype=np.float32).reshape(shape) + self.random.randrange(1000)
        array = cuda.matrix_to_array(host, "C")
        back = np.empty_like(host)
        copy = cuda.Memcpy2D()
        copy.set_src_array(array)
        copy.set_dst_host(back)
        copy.width_in_bytes = copy.dst_pitch = host.strides[0]
        copy.height = shape[0]
        copy(aligned=True)
        self.compare(back.ravel(), host.ravel())
        return array

    def make_page_locked(self, slots, streams):
        slot = self.random.choice(slots)
        host, value = cuda.pagelocked_empty(slot.words, np.uint32), self.random.randrange(1 << 20)
        host[...] = np.arange(value, value + slot.words, dtype=np.uint32)
        cuda.memcpy_htod_async(slot.memory, host, slot.stream)
        slot.value = value
        return host

    def make_managed(self, slots, streams):
        memory = cuda.managed_zeros(self.random.choice([10, 5000]), np.int32)
        memory[-1] = 7
        return memory

    def make_pitched(self, slots, streams):
        memory, pitch = cuda.mem_alloc_pitch(100, 7, 4)
        cuda.memset_d2d32(memory, pitch, 3, 25, 7)
        return memory

    def make_modules(self, slots, streams):
        module = cuda.module_from_buffer(self.shared.image)
        slot = self.random.choice(slots)
        self.launch(module.get_function("fill"), slot)
        # Code must not be unloaded while it runs.
        self.check(slot)
        return module

    def make_libraries(self, slots, streams):
        library = cuda.library_from_buffer(self.shared.image)
        slot = self.random.choice(slots)
        self.launch(library.get_function("fill"), slot)
        # Code must not be unloaded while it runs.
        self.check(slot)
        return library

    def allocate(self, pool, streams):
        words, stream = self.random.choice([1, 100, 4000, 70_000]), self.random.choice(streams)
        how = self.random.randrange(4)
        if how == 0:
            # Memory of the whole device waits for all streams when it is freed.
            return Slot(cuda.mem_alloc(4 * words), words, stream)
        if how == 1:
            return Slot(cuda.mem_alloc_async(4 * words, stream), words, stream)
        if how == 2:
            # As programs do that know nothing of streams in pools. A stream that does not wait for the default stream
            # must be named, since the block may have work of the default stream before it.
            return Slot(pool.allocate(4 * words), words, self.random.choice(streams[:2]))
        return Slot(pool.allocate(4 * words, stream), words, stream)

    def launch(self, fill, slot):
        slot.value = self.random.randrange(1 << 20)
        grid, stream = (min(64, slot.words // 256 + 1), 1), slot.stream
        fill(slot.memory, np.uint32(slot.words), np.uint32(slot.value), block=(256, 1, 1), grid=grid, stream=stream)

    def check(self, slot, stream=None):
        """Compare what a slot holds, read in its own stream or in another that comes after it."""
        if slot.value is None:
            return
        stream = slot.stream if stream is None else stream
        host = np.empty(slot.words, np.uint32)
        cuda.memcpy_dtoh_async(host, slot.memory, stream)
        if stream is None:
            cuda.Context.synchronize()
        else:
            stream.synchronize()
        self.compare(host, np.arange(slot.value, slot.value + slot.words, dtype=np.uint32))

    def compare(self, found, expected):
        if not (found == expected).all():
            wrong = int((found != expected).argmax())
            raise AssertionError(f"number {wrong} of {len(found)} is {found[wrong]}, not {expected[wrong]}")

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
            left_over = self.work(cuda.module_from_buffer(self.shared.image), pool, operations)
            left_over += [cuda.mem_alloc(1000), pool.allocate(5000), cuda.Stream(), cuda.pagelocked_empty(10, np.int8)]
        finally:
            if self.random.random() < 0.5:
                context.pop()
            else:
                context.detach()
        del left_over


class Soak:
    """What all threads share."""

    def __init__(self, operations, threads, seed, ordinal, seconds):
        self.operations, self.threads, self.seed, self.seconds = operations, threads, seed, seconds
        self.end, self.counts = None, collections.Counter()
        self.device, self.stop, self.attic = cuda.Device(ordinal), threading.Event(), []

    def run(self):
        """Do the work; returns the number of operations and the bytes that are missing."""
        self.context = self.device.make_context()
        try:
            self.image = compile(SOURCE)
            self.module = cuda.module_from_buffer(self.image)
            self.pool, self.host_pool = tools.DeviceMemoryPool(), tools.PageLockedMemoryPool()
            # What the driver takes for its first streams, contexts and pools, and keeps.
            self.round(min(1000, self.operations // 4), self.seconds / 4)
            before = self.free_bytes_in_the_end()
            done = self.round(self.operations, self.seconds)
            return done, before - self.free_bytes_in_the_end()
        finally:
            self.attic.clear()
            # All that the context owns goes with it, so that a tool that looks for leaks finds none.
            self.module = self.pool = self.host_pool = None
            self.context.pop()
            self.context.close()

    def is_over(self):
        return self.stop.is_set() or (self.end is not None and time.monotonic() > self.end)

    def round(self, operations, seconds):
        """Share `operations` among new threads; returns how many they did, in at most `seconds` if not 0."""
        self.end = time.monotonic() + seconds if seconds else None
        workers = [Thread(self, number, operations // self.threads) for number in range(self.threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        for worker in workers:
            if worker.failure is not None:
                raise worker.failure
            self.counts += worker.counts
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


def soak(operations, threads=8, seed=1, ordinal=0, seconds=0):
    """Run `operations` operations, or as many as `seconds` allow if that is not 0.

    Returns how many were done, and of which kind. Raises when anything is wrong.
    """
    work = Soak(operations, threads, seed, ordinal, seconds)
    done, missing = work.run()
    if missing > SLACK_BYTES:
        raise AssertionError(f"{missing} bytes of device memory are missing in the end")
    return done, work.counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operations", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0)
    arguments = parser.parse_args()
    cuda.init()
    start = time.perf_counter()
    done, counts = soak(arguments.operations, arguments.threads, arguments.seed, arguments.device, arguments.seconds)
    seconds, name = time.perf_counter() - start, cuda.Device(arguments.device).name()
    print(f"{done} operations on {name} in {seconds:.1f} s: all well")
    print(", ".join(f"{count} {kind}" for kind, count in counts.most_common()))


if __name__ == "__main__":
    warnings.filterwarnings("ignore", message="no NVIDIA GPU")
    sys.exit(main())
