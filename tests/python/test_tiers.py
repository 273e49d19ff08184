"""The two tiers of the virtual GPU's compiler: what a kernel begins in, and what replaces it."""

import json
import os
import subprocess
import sys

import pytest

# Kernels that diverge, one of them with barriers.
KERNELS = """
import os, time
import numpy as np
import rtcg.autoinit
from rtcg import driver
from rtcg.compiler import SourceModule
import rtcg.numpy as xp

module = SourceModule('''
__global__ void plain(unsigned *out, unsigned rounds)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = i;
    for (unsigned k = 0; k < rounds + i % 5; ++k)
        x = x & 1 ? 3 * x + 1 : x / 2 + k;
    out[i] = x;
}

__global__ void shared(unsigned *out, unsigned rounds)
{
    __shared__ unsigned values[64];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = i;
    for (unsigned k = 0; k < rounds; ++k) {
        values[threadIdx.x] = x;
        __syncthreads();
        x += values[(threadIdx.x + k) % 64];
        __syncthreads();
    }
    out[i] = x;
}
''')

def plain(n, rounds):
    i = np.arange(n, dtype=np.uint32)
    x = i.copy()
    for k in range(rounds + 4):
        step = np.where(x & 1, 3 * x + 1, x // 2 + np.uint32(k))
        x = np.where(k < rounds + i % 5, step, x)
    return x

def shared(n, rounds):
    x = np.arange(n, dtype=np.uint32).reshape(-1, 64)
    for k in range(rounds):
        x = x + np.roll(x, -k, axis=1)
    return x.ravel()

EXPECTED = {"plain": plain, "shared": shared}

def launch(name, blocks, rounds):
    out = xp.zeros(blocks * 64, np.uint32)
    module.get_function(name)(out, np.uint32(rounds), block=(64, 1, 1), grid=(blocks, 1))
    result = out.get()
    assert np.array_equal(result, EXPECTED[name](blocks * 64, rounds)), name

def machine_code_files():
    return sum(len(files) for _, _, files in os.walk(os.environ["PYCUDA_CACHE_DIR"] + "/rtcg-code-3"))
"""


def run(program, tmp_path, **environment):
    """Runs a program; the names of what the JIT has compiled."""
    trace = tmp_path / "trace.json"
    env = {name: value for name, value in os.environ.items() if name not in ("RTCG_CHECK", "RTCG_SCHEDULE")}
    # The virtual GPU, on a machine with a real one too.
    env |= {"CUDA_VISIBLE_DEVICES": "", "RTCG_VIRTUAL_DEVICES": "1"}
    env |= {"PYCUDA_CACHE_DIR": str(tmp_path / "cache"), "RTCG_TRACE": str(trace)}
    env |= environment
    result = subprocess.run(
        [sys.executable, "-c", KERNELS + program], capture_output=True, text=True, timeout=300, env=env
    )
    assert result.returncode == 0, result.stderr
    spans = sorted((event for event in json.loads(trace.read_text()) if "ts" in event), key=lambda event: event["ts"])
    return [event["name"].removeprefix("compile ") for event in spans if event.get("cat") == "jit"], spans


REPEAT = """
for name in ("plain", "shared"):
    files, deadline = machine_code_files(), time.monotonic() + 120
    while machine_code_files() < files + 4 and time.monotonic() < deadline:
        launch(name, 64, 1000)
    launch(name, 64, 1000)
"""


def test_kernels_that_run_for_a_while_are_optimized(tmp_path):
    compiled, _ = run(REPEAT, tmp_path)
    for name in ("plain", "shared"):
        of_kernel = [what.removeprefix(name) for what in compiled if what.startswith(name)]
        assert of_kernel == [" (first tier)", " (optimized)", " (optimized, masked code)"]
    # The next process begins with optimised code.
    compiled, _ = run("launch('plain', 64, 10)\nlaunch('shared', 64, 10)", tmp_path)
    assert compiled == []


@pytest.mark.parametrize("name", ["plain", "shared"])
def test_code_is_replaced_between_the_blocks_of_a_launch(tmp_path, name):
    compiled, spans = run(f"launch('{name}', 3000, 3000)", tmp_path)
    assert f"{name} (optimized)" in compiled
    (kernel,) = [span for span in spans if span.get("cat") == "kernel" and span["name"] == name]
    optimized = max(span["ts"] + span["dur"] for span in spans if span["name"].startswith(f"compile {name} (optimized"))
    assert optimized < kernel["ts"] + kernel["dur"], "the launch is to be long enough"


def test_a_launch_that_is_short_stays_in_the_first_tier(tmp_path):
    compiled, _ = run("launch('plain', 1, 10)\ntime.sleep(0.5)", tmp_path)
    assert compiled == ["plain (first tier)"]


@pytest.mark.parametrize("tier", ["first", "optimized"])
def test_a_tier_can_be_chosen(tmp_path, tier):
    compiled, _ = run("for i in range(50): launch('plain', 64, 1000)", tmp_path, RTCG_JIT_TIER=tier)
    names = {"first": ["plain (first tier)"], "optimized": ["plain (optimized)", "plain (optimized, masked code)"]}
    assert compiled == names[tier]


def test_the_order_of_a_deterministic_schedule_does_not_depend_on_time(tmp_path):
    compiled, _ = run("launch('plain', 1, 10)", tmp_path, RTCG_SCHEDULE="deterministic")
    assert "plain (optimized)" in compiled and "plain (first tier)" not in compiled


def test_a_process_may_end_while_code_is_optimized(tmp_path):
    for _ in range(3):
        run("for i in range(3): launch('plain', 640, 1000)", tmp_path, PYCUDA_DISABLE_CACHE="1")


def test_forked_children_have_code_optimized(tmp_path):
    program = """
launch('plain', 640, 1000)
child = os.fork()
if child == 0:
    driver.Context.pop()
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    run(program, tmp_path)
