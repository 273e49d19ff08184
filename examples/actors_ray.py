"""Actors of Ray on one machine: one makes arrays, the other reduces them where they lie. Needs `ray`."""

import sys

import numpy as np
import ray

import rtcg.numpy as rnp
import rtcg.ray

N_STEPS, N_WALKERS = 5, 10_000

rtcg.ray.register()  # Before the classes that name the transport.


@ray.remote(num_cpus=0)
class Walkers:
    """Random walks, one for each element."""

    def __init__(self, seed):
        self.positions = rnp.zeros(N_WALKERS)
        self.draws = np.random.default_rng(seed)

    @ray.method(tensor_transport="rtcg")
    def step(self):
        """The positions after a step: the array stays here, and others use its memory."""
        self.positions = self.positions + rnp.to_gpu(self.draws.normal(size=N_WALKERS))
        return self.positions


@ray.remote(num_cpus=0, enable_tensor_transport=True)
class Statistics:
    """What receives arrays by the transport says so to Ray."""

    def spread(self, positions):
        return float(positions.std().get())


def main():
    ray.init(num_cpus=1, include_dashboard=False, logging_level="error", object_store_memory=100 << 20)
    walkers, statistics = Walkers.remote(0), Statistics.remote()
    found = ray.get([statistics.spread.remote(walkers.step.remote()) for _ in range(N_STEPS)], timeout=120)
    ray.shutdown()
    steps = np.random.default_rng(0).normal(size=(N_STEPS, N_WALKERS))
    right = np.allclose(found, np.cumsum(steps, axis=0).std(axis=1), rtol=1e-12)
    print(f"spread after {N_STEPS} steps: {found[-1]:.3f}, {'equal to NumPy' if right else 'WRONG'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
