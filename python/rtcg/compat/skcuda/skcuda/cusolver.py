"""Says that cuSOLVER's functions have no names here, and what to use instead."""

raise ImportError(
    "skcuda.cusolver: cuSOLVER's functions have no names here; use skcuda.linalg or rtcg.linalg", name=__name__
)
