"""Dask's own tests of CuPy arrays, with device arrays of rtcg in their place."""
