"""Applications: programs of the kind that run-time code generation for GPUs was made for, each checking itself.

``python -m apps.NAME --check`` compares with an oracle, ``--bench`` measures, ``--plot out.png`` draws; see
docs/applications.md.
"""

import os

# NumPy is the base line on one core. And several threads that call it at once, each with as many threads of BLAS as
# there are cores, mostly wait for each other. Libraries read these when they are loaded, so this comes first.
for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
