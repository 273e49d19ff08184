"""Says that CULA no longer exists, and what to use instead."""

raise ImportError(
    "skcuda.pcula: CULA no longer exists; use skcuda.linalg with lib='cusolver', or rtcg.linalg", name=__name__
)
