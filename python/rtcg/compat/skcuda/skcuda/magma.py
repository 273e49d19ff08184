"""Says that MAGMA has no functions here, and what to use instead."""

raise ImportError("skcuda.magma: MAGMA has no functions here; use skcuda.linalg or rtcg.linalg", name=__name__)
