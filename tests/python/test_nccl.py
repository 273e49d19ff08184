"""`rtcg.nccl`: collectives between devices of one process (`nccl_devices.py`) and between processes.

Every program runs in processes of its own, under a time limit, with virtual devices if there is no real one. On real
GPUs each rank needs one; what only the virtual NCCL promises is skipped there.
"""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest
from depth import at_depth

from tests.python.subprocesses import LIMIT_S, ROOT, has_real_device, run_python

pytestmark = pytest.mark.usefixtures("context")
FOLDER = ROOT / "tests" / "python"


def environment(devices, **variables):
    path = os.pathsep.join([*filter(None, sys.path), str(FOLDER)])
    env = {**os.environ, "PYTHONFAULTHANDLER": "1", "PYTHONPATH": path}
    env.pop("RTCG_TEST_TIMES", None)
    if not has_real_device():
        # The processes share the processors.
        env.update(RTCG_VIRTUAL_DEVICES=str(devices), RTCG_WORKERS="1")
    return {**env, **{name: str(value) for name, value in variables.items()}}


#: Environments for the tests of one process, and what is left out there.
WAYS = [
    ({}, ""),
    ({"RTCG_WORKERS": 1}, "random or graphs or threads"),
    ({"RTCG_SCHEDULE": "chaos:3"}, "random or graphs or memory or disagree"),
    ({"RTCG_SCHEDULE": "deterministic"}, "random or graphs or memory or disagree"),
    ({"RTCG_CHECK": "race"}, "random or reductions or graphs or threads"),
    ({"RTCG_CHECK": "memory,init"}, "random or reductions or movements or orders or threads_of"),
    *at_depth([], [({"RTCG_SCHEDULE": f"chaos:{seed}"}, "") for seed in range(4, 12)]),
]


@pytest.mark.parametrize("variables, chosen", WAYS, ids=lambda value: str(value)[:40])
def test_devices(variables, chosen, on_virtual_device):
    """The tests of `nccl_devices.py`, which checked mode has nothing to say about."""
    if variables and not on_virtual_device:
        pytest.skip("schedules and checks are of the virtual GPU")
    arguments = ["-q", "-p", "no:cacheprovider", "-k", chosen, str(FOLDER / "nccl_devices.py")]
    command = [sys.executable, "-m", "pytest", *arguments]
    env = environment(4, **variables)
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "finding" not in done.stdout + done.stderr


PROLOGUE = """
import os, signal, sys, time
import numpy as np
import rtcg.numpy as xp
from rtcg import devices, driver, nccl

rank, n, place = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
driver.init()
is_virtual = "virtual" in driver.Device(0).name().lower()
own = 0 if is_virtual else rank
devices.set_default(own)
if rank == 0:
    with devices.use(own), open(place + ".new", "wb") as file:
        file.write(nccl.unique_id())
    os.rename(place + ".new", place)
while not os.path.exists(place):
    time.sleep(0.002)
unique_id = open(place, "rb").read()

def error_of(call):
    try:
        call()
    except (nccl.NcclError, driver.Error) as problem:
        return str(problem)
    return "no error"
"""


def run_ranks(tmp_path, n, code, devices=1, expect=None, **variables):
    """The output of each of `n` processes that run `code`, with the codes they exit with."""
    if has_real_device():
        from rtcg import driver

        if driver.Device.count() < n * devices:
            pytest.skip(f"NCCL needs {n * devices} devices")
    place = tmp_path / f"id{time.monotonic_ns()}"
    program = PROLOGUE + textwrap.dedent(code)
    start = lambda rank: subprocess.Popen(  # noqa: E731
        [sys.executable, "-c", program, str(rank), str(n), str(place)],
        env=environment(devices, **variables),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    running, until = [start(rank) for rank in range(n)], time.monotonic() + LIMIT_S
    expect = expect or [0] * n
    # A rank that fails may leave others waiting, and is what they are stopped for.
    may_still_pass = lambda: all(p.poll() in (None, code) for p, code in zip(running, expect, strict=True))  # noqa: E731
    while any(process.poll() is None for process in running) and time.monotonic() < until and may_still_pass():
        time.sleep(0.005)
    codes = [process.poll() for process in running]
    for process in running:
        process.kill()
    outputs = [process.communicate() for process in running]
    assert codes == expect, "\n".join(f"{code}: {out}{err}" for code, (out, err) in zip(codes, outputs, strict=True))
    return [out.strip() for out, _ in outputs]


COLLECTIVES = """
with devices.use(own), nccl.Communicator(n, unique_id, rank) as c:
    rng = np.random.default_rng(5)
    hosts = [(rng.standard_normal(3 * n) * 100).astype(np.float32) for _ in range(n)]
    total = hosts[0]
    for part in hosts[1:]:
        total = total + part
    same = np.array_equal if is_virtual else (lambda one, other: np.allclose(one, other, rtol=1e-5, atol=1e-3))
    a = xp.asarray(hosts[rank])
    s = driver.Stream(driver.stream_flags.NON_BLOCKING)
    assert same(c.all_reduce(a, stream=s).get(), total)
    r = c.reduce(a, op="max", root=n - 1)
    assert (r is None) == (rank != n - 1)
    assert r is None or np.array_equal(r.get(), np.max(hosts, axis=0))
    assert np.array_equal(c.all_gather(a).get(), hosts)
    assert same(c.reduce_scatter(a.reshape(n, 3)).get(), total[3 * rank:3 * rank + 3])
    assert np.array_equal(c.all_to_all(a).get(), np.concatenate([h[3 * rank:3 * rank + 3] for h in hosts]))
    g = c.gather(a, root=1)
    assert (g is None) == (rank != 1) and (g is None or np.array_equal(g.get(), hosts))
    out = xp.empty(3, np.float32)
    c.scatter(a if rank == 1 else None, out, root=1)
    assert np.array_equal(out.get(), hosts[1][3 * rank:3 * rank + 3])
    b = a.copy()
    assert np.array_equal(c.broadcast(b, root=1).get(), hosts[1])
    with nccl.group():
        c.send(a, (rank + 1) % n)
        c.recv(b, (rank - 1) % n)
    assert np.array_equal(b.get(), hosts[rank - 1])
    # Many at once, longer than what a socket holds.
    large = [xp.full(200_000, rank + k, np.int64) for k in range(6)]
    driver.Context.synchronize()
    for _ in range(3):
        for x in large:
            c.all_reduce(x, x, stream=s)
    c.wait(s, timeout=60)
    values = [sum(r + k for r in range(n)) * n * n for k in range(6)]
    assert [int(x[77].get()) for x in large] == values
    half = c.split(rank % 2, -rank)
    assert half.size == (n + 1 - rank % 2) // 2
    members = [r for r in reversed(range(n)) if r % 2 == rank % 2]
    assert half.all_gather(xp.full(1, rank)).get().ravel().tolist() == members and half.rank == members.index(rank)
    assert c.split(None if rank else 0) is None or rank == 0
    if rank:
        left = c.shrink([0])
        assert left.all_gather(xp.full(1, rank)).get().ravel().tolist() == list(range(1, n))
    # All are here before one closes.
    c.all_reduce(a).get()
print("right")
"""


@pytest.mark.parametrize("n", at_depth([4], [2, 3, 4]))
def test_processes(n, tmp_path):
    """Every collective between processes with a device each."""
    assert run_ranks(tmp_path, n, COLLECTIVES) == ["right"] * n


TWO_BY_TWO = """
own = [0, 1] if is_virtual else [2 * rank, 2 * rank + 1]
import threading
made = [None, None]

def join(k):
    with devices.use(own[k]):
        made[k] = nccl.Communicator(2 * n, unique_id, 2 * rank + k)

threads = [threading.Thread(target=join, args=[k]) for k in (1, 0)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
results = []
with nccl.group():
    for k in (0, 1):
        with devices.use(own[k]):
            a = xp.full(3, made[k].rank, np.int32)
            results.append(made[k].all_gather(a))
            b = xp.zeros(3, np.int32)
            made[k].send(a, (made[k].rank + 1) % 4)
            made[k].recv(b, (made[k].rank - 1) % 4)
            results.append(b)
assert [r.get().ravel().tolist() for r in results[::2]] == [[0] * 3 + [1] * 3 + [2] * 3 + [3] * 3] * 2
assert [r.get()[0] for r in results[1::2]] == [(2 * rank - 1) % 4, 2 * rank]
[c.all_reduce(r) for c, r in zip(made, results[1::2])][1].get()
for c in made:
    c.close()
print("right")
"""


def test_processes_with_several_devices(tmp_path):
    assert run_ranks(tmp_path, 2, TWO_BY_TWO, devices=2) == ["right"] * 2


#: How rank 1 goes, and what the others hear.
GOES = [
    ("os.kill(os.getpid(), signal.SIGKILL)", "rank 1 has died: its process [0-9]+ ended", -signal.SIGKILL),
    ("os._exit(3)", "rank 1 has died", 3),
    ("sys.exit(0)", "rank 1 has destroyed its communicator, and other ranks wait for it", 0),
    ("c.abort(); sys.exit(0)", "rank 1 has aborted its communicator", 0),
    ("c.close(); sys.exit(0)", "rank 1 has destroyed its communicator", 0),
]
GOES_AND_OTHERS = """
import re
with devices.use(own):
    c = nccl.Communicator(n, unique_id, rank)
    x = xp.ones(5, np.float32)
    assert c.all_reduce(x).get()[0] == n
    if rank == 1:
        time.sleep(0.2)
        {how}
    s = driver.Stream(driver.stream_flags.NON_BLOCKING)
    begun = time.monotonic()

    def reduce_and_wait():
        c.all_reduce(x, stream=s)
        c.wait(s, timeout=60)

    heard = error_of(reduce_and_wait)
    c.abort()
    assert re.search({expected!r}, heard), heard
    assert time.monotonic() - begun < 30
    assert c.is_closed
    # The rest goes on, with what is left of the ranks.
    assert (x + 1).get()[0] == 2
print(round(time.monotonic() - begun - 0.2, 1))
"""


@pytest.mark.parametrize("how, expected, code", GOES if at_depth(False, True) else [GOES[0], GOES[2], GOES[3]])
def test_a_rank_that_goes(how, expected, code, tmp_path, on_virtual_device):
    """Work of the others ends with an error that says which rank has gone, and how."""
    if not on_virtual_device:
        pytest.skip("work on a real device waits until its communicator is aborted")
    n = at_depth(2, 3)
    program = GOES_AND_OTHERS.replace("{how}", how).replace("{expected!r}", repr(expected))
    outputs = run_ranks(tmp_path, n, program, expect=[code if rank == 1 else 0 for rank in range(n)])
    assert all(float(seconds) < 2 for rank, seconds in enumerate(outputs) if rank != 1), outputs


def test_rank_0_goes(tmp_path, on_virtual_device):
    """The process where ranks meet."""
    if not on_virtual_device:
        pytest.skip("work on a real device waits until its communicator is aborted")
    program = GOES_AND_OTHERS.replace("{how}", "pass").replace(
        "{expected!r}", repr("the process of rank 0.* has ended")
    )
    program = program.replace("    s = driver.Stream", "    if rank == 0: os._exit(4)\n    s = driver.Stream")
    run_ranks(tmp_path, 2, program, expect=[4, 0])


GOES_ON = """
with devices.use(own):
    c = nccl.Communicator(n, unique_id, rank)
    x = xp.full(4, rank + 1, np.int32)
    c.all_reduce(x).get()
    if rank == 2:
        open(place + ".received", "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    # Who ends the communicator before ends the first result of rank 2 too.
    while not os.path.exists(place + ".received"):
        time.sleep(0.002)
    {how}
    assert left.all_reduce(x).get().tolist() == [3] * 4
    left.all_reduce(x).get()
print("right")
"""

ANEW = """
    def reduce_and_wait():
        c.all_reduce(x)
        c.wait(timeout=60)

    # The call itself fails where the death is known before it.
    assert "rank 2 has died" in error_of(reduce_and_wait)
    assert c.is_closed
    again = place + ".again"
    if rank == 0:
        with open(again + ".new", "wb") as file:
            file.write(nccl.unique_id())
        os.rename(again + ".new", again)
    while not os.path.exists(again):
        time.sleep(0.002)
    left = nccl.Communicator(2, open(again, "rb").read(), rank)
"""


@pytest.mark.parametrize("how", [ANEW.strip(), "left = c.shrink([2], abort=True)"], ids=["anew", "shrunk"])
def test_ranks_go_on_without_one(how, tmp_path, on_virtual_device):
    """Those that are left make a new communicator, and have their arrays still."""
    if not on_virtual_device:
        pytest.skip("work on a real device waits until its communicator is aborted")
    program = GOES_ON.replace("{how}", how)
    assert run_ranks(tmp_path, 3, program, expect=[0, 0, -signal.SIGKILL])[:2] == ["right"] * 2


MISSING = """
with devices.use(own):
    print(error_of(lambda: nccl.Communicator(3, unique_id, 2 * rank)))
"""
DIFFERENT_SIZES = """
with devices.use(own):
    print(error_of(lambda: nccl.Communicator(2 + rank, unique_id, rank)))
"""


def test_ranks_that_do_not_come(tmp_path, on_virtual_device):
    if not on_virtual_device:
        pytest.skip("the real NCCL has other limits")
    for output in run_ranks(tmp_path, 2, MISSING, RTCG_NCCL_TIMEOUT=1):
        assert "has waited for 1 s (RTCG_NCCL_TIMEOUT) for rank 1, which did not join" in output
    # All hear at once who disagrees.
    for output in run_ranks(tmp_path, 2, DIFFERENT_SIZES, RTCG_NCCL_TIMEOUT=300):
        assert "rank 0 says that there are 2 ranks, rank 1 says 3" in output
    for output in run_ranks(tmp_path, 3, TWICE, RTCG_NCCL_TIMEOUT=300):
        assert "two members of the communicator say that they are rank 1 of 4" in output
    for output in run_ranks(tmp_path, 1, DIFFERENT_SIZES, RTCG_NCCL_TIMEOUT="soon"):
        assert "RTCG_NCCL_TIMEOUT=soon: expected a whole number of seconds" in output


LATE = """
with devices.use(own):
    c = nccl.Communicator(n, unique_id, rank)
    c.all_reduce(xp.ones(3)).get()
    if rank != {waiting}:
        time.sleep(2)
        os._exit(0)
    c.all_reduce(xp.ones(3))
    print(error_of(lambda: c.wait(timeout=0.3)))
"""


@pytest.mark.parametrize("waiting", [0, 1])
def test_waits_say_for_whom(waiting, tmp_path, on_virtual_device):
    """In the process where ranks meet, and in another one."""
    if not on_virtual_device:
        pytest.skip("NCCL does not say")
    outputs = run_ranks(tmp_path, 2, LATE.replace("{waiting}", str(waiting)))
    missing = f"rank {waiting} has waited for 0.3 s for rank {1 - waiting} in collective 2, AllReduce of 3 Float64"
    assert missing in outputs[waiting]


TWICE = """
with devices.use(own):
    print(error_of(lambda: nccl.Communicator(4, unique_id, min(rank, 1))))
"""


INTERRUPTED = """
import threading

def interrupted(call):
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    begun = time.monotonic()
    try:
        call()
    except KeyboardInterrupt:
        return time.monotonic() - begun < 10
    return False

with devices.use(0):
    assert interrupted(lambda: nccl.Communicator(2, nccl.unique_id(), 0))
    assert interrupted(lambda: nccl.Communicator(2, nccl.unique_id(), 1))
    made = nccl.init_all(2)
    r = made[0].all_reduce(xp.ones(3))
    assert interrupted(lambda: made[0].wait())
    made = nccl.init_all(2)
    r = made[0].all_reduce(xp.ones(3))
    assert interrupted(made[0].close)
    made[0].abort()
    time.sleep(0.1)
with devices.use(1):
    assert "rank 0" in error_of(lambda: made[1].all_reduce(xp.ones(3))) + error_of(lambda: made[1].wait(timeout=30))
made = nccl.init_all(2)
with devices.use(0):
    r = made[0].all_reduce(xp.ones(3))
    assert interrupted(r.get)
print("right")
"""


def test_ctrl_c_ends_every_wait(on_virtual_device, tmp_path):
    if not on_virtual_device:
        pytest.skip("a kernel of the real NCCL is not ended by Ctrl-C")
    assert run_ranks(tmp_path, 1, INTERRUPTED, devices=2) == ["right"]


#: Programs that end with communicators whose work is done, waits, or has been dropped.
ENDS = {
    "live": "made = nccl.init_all(2)",
    "waits": "made = nccl.init_all(2); r = on(0, lambda: made[0].all_reduce(xp.ones(3)))",
    "waits in a stream": """
        made = nccl.init_all(2)
        s = on(0, driver.Stream)
        r = on(0, lambda: made[0].all_reduce(xp.ones(3), stream=s))
    """,
    "in a group": "made = nccl.init_all(2); nccl.groupStart(); r = on(0, lambda: made[0].all_reduce(xp.ones(3)))",
    "in a thread's group": """
        import threading
        made = nccl.init_all(2)
        def begin():
            nccl.groupStart()
            on(0, lambda: made[0].all_reduce(xp.ones(3)))
        thread = threading.Thread(target=begin); thread.start(); thread.join()
    """,
    "a thread joins": """
        import threading
        threading.Thread(target=lambda: on(0, lambda: nccl.Communicator(2, nccl.unique_id(), 0)), daemon=True).start()
        time.sleep(0.1)
    """,
    "fork": """
        made = nccl.init_all(2)
        r = [on(k, lambda: made[k].all_reduce(xp.ones(3))) for k in (0, 1)]
        child = os.fork()
        if child == 0:
            try:
                made[0].all_reduce(r[0])
            except Exception as problem:
                os._exit(0 if "fork" in str(problem) else 1)
            os._exit(2)
        assert os.waitpid(child, 0)[1] == 0
        assert r[1].get()[0] == 2
    """,
    "sockets and threads": """
        r = None
        count = lambda: (len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task")))
        for k in range(30):
            if k == 10:
                time.sleep(0.1)
                before = count()
            made = nccl.init_all(2)
            r = [on(k, lambda: made[k].all_reduce(xp.ones(3))) for k in (0, 1)]
            assert r[0].get()[0] == 2
            made = None
        def is_as_before():
            # A thread that runs streams, which a busy machine may have one more of, stays for the next work.
            files, threads = count()
            return files <= before[0] and threads <= before[1] + 4
        until = time.monotonic() + 10
        while not is_as_before() and time.monotonic() < until:
            time.sleep(0.01)
        assert is_as_before(), (before, count())
    """,
}
ON = """
def on(device, call):
    with devices.use(device):
        return call()
"""


@pytest.mark.parametrize(
    "name", ENDS if at_depth(False, True) else ["waits", "in a thread's group", "fork", "sockets and threads"]
)
def test_ends_of_programs(name, tmp_path, on_virtual_device):
    """A program that ends, ends; what it leaves behind is said nowhere and waits for nothing."""
    if not on_virtual_device:
        pytest.skip("work that waits for ever on a real device keeps it busy")
    run_ranks(tmp_path, 1, ON + textwrap.dedent(ENDS[name]), devices=2)


def test_the_library_that_is_missing():
    """The real library is looked for only with real devices; the error lists the places."""
    if has_real_device():
        pytest.skip("there is one to be found")
    code = """
        import rtcg.autoinit
        from rtcg import nccl
        assert nccl.available and nccl.version() > 22000
    """
    run_python(code, RTCG_NCCL="/nonexistent/libnccl.so")
