"""Says that cuSPARSE's functions have no names here, and what to use instead."""

raise ImportError("skcuda.cusparse: cuSPARSE's functions have no names here; use rtcg.sparse", name=__name__)
