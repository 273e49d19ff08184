"""Several processes, a device for each, by MPI: diffusion on a ring that the ranks have parts of.

``RTCG_VIRTUAL_DEVICES=2 mpiexec -n 2 python examples/devices_mpi.py`` has two virtual GPUs. Each rank
computes its part; the values at the edges go to the adjacent ranks through the host.
"""

import sys

import numpy as np
from mpi4py import MPI

import pycuda.driver as cuda
import pycuda.gpuarray as gpuarray
from pycuda.compiler import SourceModule

SOURCE = """
// `old` and `now` have an element of the adjacent part at either end.
__global__ void step(double *now, const double *old, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (i <= n) now[i] = 0.25 * old[i - 1] + 0.5 * old[i] + 0.25 * old[i + 1];
}
"""
N_EACH, N_STEPS = 1000, 20


def exchange(comm, x):
    """Send the outer elements to the adjacent ranks, and receive theirs."""
    before, after = (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
    edge = np.empty(1)
    comm.Sendrecv(x[N_EACH : N_EACH + 1].get(), dest=after, recvbuf=edge, source=before)
    x[:1].set(edge)
    comm.Sendrecv(x[1:2].get(), dest=before, recvbuf=edge, source=after)
    x[N_EACH + 1 :].set(edge)


def diffuse(comm, part):
    """The part after N_STEPS steps."""
    kernel = SourceModule(SOURCE).get_function("step")
    old = gpuarray.to_gpu(np.pad(part, 1))
    now = gpuarray.zeros_like(old)
    for _ in range(N_STEPS):
        exchange(comm, old)
        kernel(now, old, np.int32(N_EACH), block=(128, 1, 1), grid=(-(-N_EACH // 128), 1))
        old, now = now, old
    return old.get()[1:-1]


def main():
    comm = MPI.COMM_WORLD
    cuda.init()
    context = cuda.Device(comm.rank % cuda.Device.count()).make_context()
    try:
        whole = np.random.default_rng(0).integers(-100, 101, comm.size * N_EACH).astype(np.float64)
        part = diffuse(comm, whole[comm.rank * N_EACH : (comm.rank + 1) * N_EACH])
        bus_id = context.get_device().pci_bus_id()
    finally:
        context.pop()
    parts, bus_ids = comm.gather(part), comm.gather(bus_id)
    right = True
    if comm.rank == 0:
        for _ in range(N_STEPS):
            whole = 0.25 * np.roll(whole, 1) + 0.5 * whole + 0.25 * np.roll(whole, -1)
        right = np.allclose(np.concatenate(parts), whole, rtol=0, atol=1e-12)
        print(f"{comm.size} ranks on {len(set(bus_ids))} devices: {'equal to NumPy' if right else 'WRONG'}")
    return 0 if comm.bcast(right) else 1


if __name__ == "__main__":
    sys.exit(main())
