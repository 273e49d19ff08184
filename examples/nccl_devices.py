"""Power iteration on rows that several devices share: NCCL combines their parts of each product.

One process with all devices, or with ``RTCG_VIRTUAL_DEVICES=4`` four virtual ones; ``mpiexec -n 4 python -m mpi4py
examples/nccl_devices.py`` does the same with a process for each rank (which needs mpi4py).
"""

import os
import sys

import numpy as np

import rtcg.numpy as rnp
from rtcg import devices, driver, nccl

SIZE, STEPS = 840, 40  # up to eight ranks have equal parts


def matrix():
    """A symmetric matrix with one large eigenvalue."""
    rng = np.random.default_rng(1)
    a = rng.random((SIZE, SIZE))
    return a + a.T


class Rank:
    """Some rows of the matrix, on the device of a communicator."""

    def __init__(self, communicator, rows):
        self.communicator = communicator
        with devices.use(communicator.device_id):
            self.rows = rnp.asarray(rows)
            self.x = rnp.ones(SIZE)

    def multiply(self):
        with devices.use(self.communicator.device_id):
            return self.rows @ self.x

    def normalise(self):
        with devices.use(self.communicator.device_id):
            norm = rnp.sqrt((self.x**2).sum())
            self.x /= norm
            return float(norm)


def largest_eigenvalue(ranks):
    """The ranks of this process do their parts of each step, and wait for nobody until the end of it."""
    for _ in range(STEPS):
        parts = [rank.multiply() for rank in ranks]
        with nccl.group():
            for rank, part in zip(ranks, parts, strict=True):
                rank.communicator.all_gather(part, out=rank.x)
        norms = [rank.normalise() for rank in ranks]
    assert len(set(norms)) == 1
    return norms[0]


def communicators():
    """One for each device of this process, or one for this rank of mpiexec."""
    if not any(name in os.environ for name in ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK")):
        return nccl.init_all(driver.Device.count())
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    host = comm.Split_type(MPI.COMM_TYPE_SHARED)
    id = comm.bcast(nccl.unique_id() if comm.rank == 0 else None)
    with devices.use(host.rank % driver.Device.count()):
        return [nccl.Communicator(comm.size, id, comm.rank)]


def main():
    driver.init()
    a = matrix()
    ranks = []
    for communicator in communicators():
        first = communicator.rank * SIZE // communicator.size
        ranks.append(Rank(communicator, a[first : first + SIZE // communicator.size]))
    found = largest_eigenvalue(ranks)
    expected = np.linalg.eigvalsh(a)[-1]
    right = np.isclose(found, expected, rtol=1e-10)
    if ranks[0].communicator.rank == 0:
        word = "equal to NumPy's" if right else f"WRONG, NumPy has {expected}"
        print(f"{ranks[0].communicator.size} ranks: largest eigenvalue {found:.6f}, {word}")
    for rank in ranks:
        rank.communicator.close()
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
