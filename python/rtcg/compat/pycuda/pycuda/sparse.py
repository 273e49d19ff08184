"""PyCUDA's sparse matrices, which are not provided: importing this module says so."""

raise ModuleNotFoundError(
    "pycuda.sparse is not provided. It was deprecated in PyCUDA, and its kernels need texture references, "
    "which CUDA 12 removed. Sparse matrices on the device: cupyx.scipy.sparse, whose arrays rtcg's kernels take.",
    name="pycuda.sparse",
)
