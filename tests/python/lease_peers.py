"""Processes that share arrays, and do what a test tells them."""

import contextlib
import multiprocessing
import os
import pickle
import signal
import time
from multiprocessing.reduction import ForkingPickler

import numpy as np

import rtcg.multiprocessing as rmp
import rtcg.numpy as rnp
from rtcg import _leases, driver

LIMIT_S = 20


def add_late(to, source, stream, after_s=0.3):
    """``to += source`` in a stream, after a while; does not wait for that."""
    # A kernel that is loaded later would wait for the device.
    with stream:
        warm = to.copy()
        warm += source
    driver.Context.synchronize()
    stream.launch_host_func(time.sleep, after_s)
    with stream:
        to += source


def until(condition, limit_s=20):
    """Whether something becomes true."""
    limit = time.monotonic() + limit_s
    while not (found := condition()) and time.monotonic() < limit:
        time.sleep(0.005)
    return found


class Peer:
    """Another process. A method of `Commands` that is called here runs there; what it raises is raised here."""

    def __init__(self, method="spawn"):
        engine = multiprocessing.get_context(method)
        self.pipe, theirs = engine.Pipe()
        self.process = engine.Process(target=serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)

        def call(*args):
            self.pipe.send((name, args))
            return self.result()

        return call

    def result(self):
        assert self.pipe.poll(LIMIT_S), "the other process does not answer"
        error, value = self.pipe.recv()
        if error is not None:
            raise error
        return value

    def kill(self):
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.join(LIMIT_S)

    def end(self):
        with contextlib.suppress(OSError):
            self.pipe.send(None)
        self.process.join(LIMIT_S)
        return self.process.exitcode


def total(array):
    """The sum of the elements."""
    return float(rnp.sum(array).get())


def double(array):
    """Double an array; the sum, and the array itself."""
    array *= 2
    return total(array), array


def flush(results):
    """Wait until all that was put in a queue is pickled, by its thread."""
    results.close()
    results.join_thread()


def put_doubled(results, given, own):
    """Send an array back, with one of this process, and wait until it has arrived."""
    given *= 2
    results.put((given, own + 1))
    flush(results)
    assert rmp.wait_for_consumers(60)


def send_and_end(results, waits):
    """Send an array; end at once, or after its consumers."""
    results.put(rnp.arange(3, dtype=np.float64))
    flush(results)
    assert not waits or rmp.wait_for_consumers(60)


class Commands:
    def __init__(self):
        self.kept = {}

    def make(self, name, count):
        """Keep an array of the numbers from 0."""
        self.kept[name] = rnp.arange(count, dtype=np.float64)

    def keep(self, name, array):
        self.kept[name] = array

    def drop(self, *names):
        for name in names:
            del self.kept[name]

    def dumped(self, name):
        """The pickle of an array that is kept."""
        return bytes(ForkingPickler.dumps(self.kept[name]))

    def dumped_while_busy(self, name):
        """The pickle of an array that is written later than any test lasts."""
        stream = self.kept["stream"] = driver.Stream(1)
        add_late(self.kept[name], self.kept[name], stream, 3600)
        return self.dumped(name)

    def load(self, name, data):
        self.kept[name] = pickle.loads(data)

    def described(self, name):
        a = self.kept[name]
        return a.get(), a.strides, a.dtype

    def double(self, name):
        self.kept[name] *= 2
        self.kept[name].get()  # Waits, on whichever device it is.

    def given_back(self, name):
        """An array that is kept, itself."""
        return self.kept[name]

    def first_half(self, name):
        return self.kept[name][: len(self.kept[name]) // 2]

    def add_late_and_drop(self, name):
        """Start to read an array in a stream of its own, and let go of it."""
        self.kept["sum"] = rnp.zeros(self.kept[name].size, np.float64)
        driver.Context.synchronize()
        self.kept["stream"] = driver.Stream(1)
        add_late(self.kept["sum"], self.kept.pop(name), self.kept["stream"])
        return self.kept["stream"].is_done()

    def capture_while_dropping(self, name):
        """Capture work into a graph while a lease ends, and run it."""
        stream, out = driver.Stream(1), rnp.zeros(8, np.float64)
        driver.Context.synchronize()
        with stream.capture() as graph:
            driver.memset_d32_async(out.gpudata, 0x3FF00000, 16, stream)
            del self.kept[name]
            time.sleep(0.1)
        graph.instantiate().launch(stream)
        stream.synchronize()
        return out.get().view(np.uint32).tolist() == [0x3FF00000] * 16

    def fork(self):
        """Fork a child that ends at once."""
        pid = os.fork()
        if not pid:
            os._exit(0)
        return os.waitpid(pid, 0)[1]

    def n_leases(self):
        return len(rmp.leases())

    def ends_all_leases(self):
        return rmp.wait_for_consumers(20)

    def open_things(self):
        """Lease files of this and of other processes, and blocks that are open."""
        files = [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if _exists(fd)]
        return sum("rtcg leases" in file for file in files), len(_leases._state.blocks)


def _exists(fd):
    return os.path.lexists(f"/proc/self/fd/{fd}")


def serve(pipe):
    commands = Commands()
    while (call := pipe.recv()) is not None:
        name, args = call
        del call
        try:
            answer = None, getattr(commands, name)(*args)
        except Exception as error:
            answer = error, None
        del args
        pipe.send(answer)
        del answer
