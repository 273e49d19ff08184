"""Objects that are made and destroyed for ever leave no memory, and make no later call slower."""

import json
import subprocess
import sys

import pytest

# Each kind: how many are made, and a statement that makes and drops one. None of them waits for the context.
KINDS = {
    "stream": (20_000, "s = drv.Stream(); drv.memset_d8_async(buffer, 0, 4, s); s.synchronize()"),
    "event": (20_000, "drv.Event().record(own)"),
    "stream that waits": (
        10_000,
        "s, e = drv.Stream(), drv.Event(); e.record(own); s.wait_for_event(e); s.synchronize()",
    ),
    "graph": (5_000, "drv.Graph()"),
    "module": (1_000, "drv.module_from_buffer(text).get_function('k')"),
    "array": (5_000, "drv.ArrayDescriptor(); drv.np_to_array(image, 'C')"),
    "pool": (2_000, "tools.DeviceMemoryPool().allocate(64).free()"),
    "allocation": (20_000, "drv.mem_alloc(64).free()"),
    "page-locked memory": (2_000, "drv.pagelocked_empty(64, np.uint8)"),
    "context": (200, "drv.Device(0).make_context().detach()"),
}

PROGRAM = """
import gc, json, sys, time
import numpy as np
import rtcg.autoinit, rtcg.driver as drv, rtcg.tools as tools

buffer, own, image = drv.mem_alloc(64), drv.Stream(), np.zeros((8, 8), np.float32)
text = b".version 8.0\\n.target sm_80\\n.address_size 64\\n.visible .entry k() { ret; }"
word = np.zeros(1, np.int32)

def resident():
    gc.collect()
    return int(open("/proc/self/statm").read().split()[1]) * 4096

def copies():
    best = 1.0
    for _ in range(5):
        begun = time.perf_counter()
        for _ in range(100):
            drv.memcpy_dtoh(word, buffer)
        best = min(best, time.perf_counter() - begun)
    return best

n, statement = json.loads(sys.argv[1])
one = compile(statement, "one", "exec")
for _ in range(max(n // 4, 50)):
    exec(one)
quick, growths = copies(), []
# What leaks grows in every round. Allocators take memory in large steps, now and then.
while not growths or growths[-1] > 0 and len(growths) < 3:
    before = resident()
    for _ in range(n):
        exec(one)
    growths.append((resident() - before) / n)
print(json.dumps([min(growths), copies() / quick]))
"""


@pytest.mark.parametrize("kind", KINDS)
def test_objects_leave_nothing(kind):
    if not sys.platform.startswith("linux"):
        pytest.skip("reads /proc")
    n, _ = KINDS[kind]
    run = subprocess.run([sys.executable, "-c", PROGRAM, json.dumps(KINDS[kind])], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    nbytes, slower = json.loads(run.stdout)
    # Pages that the allocator keeps count, too: half a megabyte is nothing that grows.
    assert nbytes < 20 + 500_000 / n and slower < 3, (nbytes, slower)
