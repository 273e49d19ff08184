"""Maxwell's equations on tetrahedra by the discontinuous Galerkin method, generated and tuned for order and device.

python -m apps.dg --check
python -m apps.dg --size seed --bench
python -m apps.dg --plot fields.png
"""

import sys

from apps import _harness as harness

from .checks import check

SIZES = {
    "small": {"orders": (2,), "cells": (4, 6), "duration": 0.1, "oracle": (2, 3), "variants": 6, "steps": 100,
              "poisson": (2, 3), "tube": (8, 0.1, 0.05), "sphere": None,
              "bench": 4},
    "seed": {"orders": (1, 2, 3, 4, 5, 6), "cells": None, "duration": 0.5, "oracle": (1, 2, 3, 4), "variants": 60,
             "steps": 1000, "poisson": (4, 6, 8), "tube": (64, 0.2, 0.008), "sphere": (2, 4, 5), "bench": 24},
}  # fmt: skip
SIZES["h200"] = SIZES["seed"] | {"bench": 40}


def bench(size, tables):
    pass


def plot(size):
    pass


if __name__ == "__main__":
    sys.exit(harness.run(__doc__, SIZES, check, bench, plot))
