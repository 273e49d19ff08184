"""Kernels as programs of many fields have them, one module per family; every one has an oracle on the host.

``python -m tests.kernels.corpus`` counts them; ``python -m tests.kernels.validate corpus.fft`` runs a family.
"""

#: The families, in the order they run.
FAMILIES = ("blas", "reductions", "scans", "sorting", "fft", "stencils", "images", "graphs", "montecarlo", "particles", "linear_algebra", "strings", "learning", "rendering")
