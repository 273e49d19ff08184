"""Several processes, a device for each, by MPI: diffusion on a ring that the ranks have parts of.

``RTCG_VIRTUAL_DEVICES=2 mpiexec -n 2 python -m mpi4py examples/devices_mpi.py`` has two virtual GPUs. Each rank
computes its part; the values at the edges go to the adjacent ranks. An MPI that knows device memory, and any MPI on the
virtual GPU, whose memory is the host's, reads and writes the arrays themselves. Any other gets page-locked copies,
which ``--staged`` asks for in any case.
"""

import ctypes
import sys

import numpy as np
from mpi4py import MPI

import pycuda.driver as cuda
import pycuda.gpuarray as gpuarray
import rtcg
from pycuda.compiler import SourceModule
from rtcg import devices

SOURCE = """
// `old` and `now` have an element of the adjacent part at either end.
__global__ void step(double *now, const double *old, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (i <= n) now[i] = 0.25 * old[i - 1] + 0.5 * old[i] + 0.25 * old[i + 1];
}
"""
N_EACH, N_STEPS = 1000, 20


def mpi_takes_memory_of(device):
    """Whether this MPI reads memory of `device`; a device pointer ends the process of one that does not."""
    if device.is_virtual:
        return True
    # MPI 4.1 lists the kinds of memory; before, Open MPI and MPICH had a function for it.
    if "cuda" in (MPI.COMM_WORLD.Get_info().get("mpi_memory_alloc_kinds") or ""):
        return True
    query = getattr(ctypes.CDLL(MPI.__file__), "MPIX_Query_cuda_support", None)
    return query is not None and query() == 1


class Edges:
    """Exchanges the outer elements of parts with the adjacent ranks."""

    def __init__(self, comm, staged):
        self.comm, self.before, self.after = comm, (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
        self.staging = cuda.pagelocked_empty(4, np.float64) if staged else None

    def exchange(self, x):
        """Fills the first and the last element of `x` with the adjacent parts' outermost elements."""
        first, last = x[1:2], x[N_EACH : N_EACH + 1]
        if self.staging is None:
            # MPI does not wait for kernels: exporting the array has to.
            with rtcg.exports_wait():
                self.send(first, last, x[:1], x[N_EACH + 1 :])
        else:
            s = self.staging
            cuda.memcpy_dtoh(s[0:1], first.gpudata)
            cuda.memcpy_dtoh(s[1:2], last.gpudata)
            self.send(s[0:1], s[1:2], s[2:3], s[3:4])
            cuda.memcpy_htod(x.gpudata, s[2:3])
            cuda.memcpy_htod(x[N_EACH + 1 :].gpudata, s[3:4])

    def send(self, first, last, to_first, to_last):
        self.comm.Sendrecv(last, dest=self.after, recvbuf=to_first, source=self.before)
        self.comm.Sendrecv(first, dest=self.before, recvbuf=to_last, source=self.after)


def compile_once(host):
    """The kernel: the first rank of each host compiles it, the others find it in the cache on disk."""
    if host.rank > 0:
        host.Barrier()
    kernel = SourceModule(SOURCE).get_function("step")
    if host.rank == 0:
        host.Barrier()
    return kernel


def diffuse(kernel, edges, part):
    """The part after N_STEPS steps."""
    old = gpuarray.to_gpu(np.pad(part, 1))
    now = gpuarray.zeros_like(old)
    for _ in range(N_STEPS):
        edges.exchange(old)
        kernel(now, old, np.int32(N_EACH), block=(128, 1, 1), grid=(-(-N_EACH // 128), 1))
        old, now = now, old
    return old.get()[1:-1]


def main():
    comm = MPI.COMM_WORLD
    # The ranks of this host: each takes another of its devices.
    host = comm.Split_type(MPI.COMM_TYPE_SHARED)
    cuda.init()
    device = cuda.Device(host.rank % cuda.Device.count())
    staged = "--staged" in sys.argv[1:] or not mpi_takes_memory_of(device)
    with devices.use(device):
        whole = np.random.default_rng(0).integers(-100, 101, comm.size * N_EACH).astype(np.float64)
        part = whole[comm.rank * N_EACH : (comm.rank + 1) * N_EACH]
        part = diffuse(compile_once(host), Edges(comm, staged), part)
    parts, bus_ids = comm.gather(part), comm.gather((MPI.Get_processor_name(), device.pci_bus_id()))
    right = True
    if comm.rank == 0:
        for _ in range(N_STEPS):
            whole = 0.25 * np.roll(whole, 1) + 0.5 * whole + 0.25 * np.roll(whole, -1)
        right = np.allclose(np.concatenate(parts), whole, rtol=0, atol=1e-12)
        way = "through page-locked memory" if staged else "from device memory"
        verdict = "equal to NumPy" if right else "WRONG"
        print(f"{comm.size} ranks on {len(set(bus_ids))} devices, edges {way}: {verdict}")
    return 0 if comm.bcast(right) else 1


if __name__ == "__main__":
    sys.exit(main())
