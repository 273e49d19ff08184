"""Parameters for filter banks that were never measured, by those of similar ones (the question of InPar 2012).

Banks are drawn as there. For those that were measured, the time of each of a list of configurations is known; the one
that is predicted for another bank has the least mean slowdown for the banks that are most like it.
"""

import numpy as np

from . import kernels
from .bank import flops


def draw(count, seed, sides, taps, depths, work):
    """Random arguments: sides of images, taps of filters, channels and filters of `depths`, `work` in operations."""
    rng, found = np.random.Generator(np.random.Philox(seed)), []
    while len(found) < count:
        side, size, d, f = (int(rng.choice(values)) for values in (sides, taps, depths, depths))
        shape, bank = (side, side, d), (f, size, size, d)
        if size <= side and work[0] <= flops(shape, bank) <= work[1] and (shape, bank) not in found:
            found.append((shape, bank))
    return found


def _features(problems):
    return np.array([[np.log2(n) for n in (shape[0], shape[2], bank[0], bank[1])] for shape, bank in problems])


class Model:
    """Fitted to the `times` (problems, configurations) of problems; NaN where a configuration is not possible."""

    def __init__(self, problems, times):
        times = np.asarray(times, float)
        self.slowdown = np.log(times / np.nanmin(times, axis=1, keepdims=True))
        self.features = _features(problems)
        self.scale = self.features.std(axis=0) + 1e-9

    def order(self, problem, nearest=8):
        """The numbers of all configurations, the most promising first."""
        distances = (((self.features - _features([problem])) / self.scale) ** 2).sum(axis=1)
        which = np.argsort(distances, kind="stable")[:nearest]
        weights = 1 / (distances[which] + 0.1)
        # Not possible there: probably not here.
        slowdown = np.where(np.isnan(self.slowdown[which]), 3.0, self.slowdown[which])
        return np.argsort(weights @ slowdown, kind="stable")


def judge(model, problems, times):
    """For each problem the speed of the predicted configuration, as a share of that of the best."""
    shares = []
    for problem, row in zip(problems, np.asarray(times, float), strict=True):
        possible = [k for k in model.order(problem) if np.isfinite(row[k])]
        shares.append(np.nanmin(row) / row[possible[0]])
    return np.array(shares)


def configurations(problems, count, seed=3):
    """The defaults of two spaces, and random configurations of the spaces of some of the problems."""
    rng, found = np.random.default_rng(seed), []
    for shape, bank in problems[:: max(1, len(problems) // 4)]:
        possible = [
            c for c in kernels.space(shape, bank).configurations() if c["taps"] in ("global", "shared", "stage")
        ]
        found += [possible[k] for k in rng.choice(len(possible), min(len(possible), count // 4), replace=False)]
    return [config for k, config in enumerate(found) if config not in found[:k]]


def is_possible(config, shape, bank):
    """Whether a configuration is one of the space of a problem."""
    try:
        kernels.space(shape, bank).check(config)
    except ValueError:
        return False
    return True


def modelled(problems, configs):
    """Times by a formula, for tests of the prediction: blocks that wait for each other, and bytes of shared memory."""
    times = np.full((len(problems), len(configs)), np.nan)
    for i, (shape, bank) in enumerate(problems):
        for j, config in enumerate(configs):
            if not is_possible(config, shape, bank):
                continue
            tile = config["bx"] * config["px"], config["by"] * config["py"]
            filters = config["filters"] * config["groups"]
            blocks = -(-shape[1] // tile[0]) * -(-shape[0] // tile[1]) * -(-bank[0] // filters)
            resident = max(
                1,
                min(
                    2048 // (config["bx"] * config["by"] * config["groups"]),
                    200_000 // kernels.shared_bytes(config, shape, bank),
                ),
            )
            work = tile[0] * tile[1] * filters * bank[1] * bank[2] * bank[3]
            times[i, j] = (
                -(-blocks // (16 * resident)) * resident * work * (1 + 1 / config["px"] + 1 / config["filters"])
            )
    return times
