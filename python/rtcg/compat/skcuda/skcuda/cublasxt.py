"""Says that cuBLASXt has no functions here, and what to use instead."""

raise ImportError(
    "skcuda.cublasxt: cuBLASXt has no functions here; use skcuda.cublas or rtcg.linalg (rtcg.devices: several GPUs)",
    name=__name__,
)
