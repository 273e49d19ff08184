"""Threads that wait for each other: every one of them gets on, whatever the number of cores.

Each program runs with 1, 2 and 4 worker threads in a process of its own.
"""

import pytest

from tests.python.subprocesses import run_python

pytestmark = pytest.mark.usefixtures("context")

PROGRAM = r"""
import sys
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

module = SourceModule(r'''
// One lock for all threads of all blocks: lanes of a warp wait for each other.
__global__ void locks(int *lock, int *count)
{
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *(volatile int *) count = *(volatile int *) count + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

// The same without the trick: a lane holds the lock while others of its warp spin.
__global__ void plain_locks(int *lock, int *count)
{
    while (atomicCAS(lock, 0, 1)) ;
    __threadfence();
    *(volatile int *) count = *(volatile int *) count + 1;
    __threadfence();
    atomicExch(lock, 0);
}

// Even blocks send, odd ones receive; the last block begins.
__global__ void relay(volatile int *turn)
{
    int me = gridDim.x - 1 - blockIdx.x;
    if (threadIdx.x == 0) {
        while (*turn != me) ;
        __threadfence();
        *turn = me + 1;
    }
}

// Within a warp the odd lanes make what the even ones use.
__global__ void pairs(volatile int *box, int *out, int rounds)
{
    int lane = threadIdx.x, pair = (blockIdx.x * blockDim.x + lane) / 2, sum = 0;
    for (int i = 1; i <= rounds; ++i) {
        if (lane & 1) {
            while (box[pair]) ;
            box[pair] = i;
        } else {
            int v;
            while (!(v = box[pair])) ;
            sum += v;
            box[pair] = 0;
        }
    }
    if (!(lane & 1))
        out[pair] = sum;
}

// A barrier over the grid by hand.
__global__ void barriers(unsigned *arrived, int *errors, int rounds)
{
    for (int i = 1; i <= rounds; ++i) {
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(arrived, 1);
            while (*(volatile unsigned *) arrived < i * gridDim.x) ;
            if (*(volatile unsigned *) arrived > (i + 1) * gridDim.x)
                atomicAdd(errors, 1);
        }
        __syncthreads();
    }
}

__global__ void ping(volatile int *flags, int rounds)
{
    for (int i = 1; i <= rounds; ++i) {
        flags[0] = i;
        while (flags[1] != i) ;
    }
}

__global__ void pong(volatile int *flags, int rounds)
{
    for (int i = 1; i <= rounds; ++i) {
        while (flags[0] != i) ;
        flags[1] = i;
    }
}

__global__ void await(volatile int *flag) { while (!*flag) ; }
__global__ void set(volatile int *flag) { *flag = 1; }
''')


def get(name):
    return module.get_function(name)


def zeros(n):
    return cuda.to_device(np.zeros(n, np.int32))


def values(memory, n):
    return cuda.from_device(memory, (n,), np.int32)


def locks():
    for name in "locks", "plain_locks":
        lock, count = zeros(1), zeros(1)
        get(name)(lock, count, grid=(12, 1), block=(70, 1, 1))
        assert values(count, 1)[0] == 12 * 70, name


def relay():
    turn = zeros(1)
    get("relay")(turn, grid=(200, 1), block=(64, 1, 1))
    assert values(turn, 1)[0] == 200


def pairs():
    box, out = zeros(96), zeros(96)
    get("pairs")(box, out, np.int32(20), grid=(3, 1), block=(64, 1, 1))
    assert (values(out, 96) == 210).all()


def barriers():
    kernel = get("barriers")
    device = pycuda.autoinit.device
    blocks = device.multiprocessor_count * 8
    arrived, errors = zeros(1), zeros(1)
    kernel(arrived, errors, np.int32(5), grid=(blocks, 1), block=(64, 1, 1))
    assert values(arrived, 1)[0] == 5 * blocks and values(errors, 1)[0] == 0


def streams():
    flags = zeros(2)
    one, other = cuda.Stream(), cuda.Stream()
    get("ping")(flags, np.int32(50), block=(32, 1, 1), stream=one)
    get("pong")(flags, np.int32(50), block=(1, 1, 1), stream=other)
    one.synchronize()
    other.synchronize()
    assert (values(flags, 2) == 50).all()


def many_streams():
    # Seven kernels wait, each for the next; the last one is set free at the end.
    flags = [zeros(1) for _ in range(8)]
    streams = [cuda.Stream() for _ in range(8)]
    for i in range(7):
        get("await")(flags[i], grid=(5, 1), block=(64, 1, 1), stream=streams[i])
        get("set")(flags[i + 1], block=(1, 1, 1), stream=streams[i])
    get("set")(flags[0], block=(1, 1, 1), stream=streams[7])
    for stream in streams:
        stream.synchronize()
    assert all(values(flag, 1)[0] == 1 for flag in flags)


globals()[sys.argv[1]]()
print("done")
"""


@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("what", ["locks", "relay", "pairs", "barriers", "streams", "many_streams"])
def test_all_get_on(what, workers, on_virtual_device):
    if not on_virtual_device and workers > 1:
        pytest.skip("a real GPU has no worker threads")
    # NVIDIA's driver loads a kernel when it is first launched, and waits for running ones to do so.
    done = run_python(PROGRAM, what, RTCG_WORKERS=workers, CUDA_MODULE_LOADING="EAGER")
    assert done.stdout == "done\n"
