"""Sparse matrices in the packeted format and conjugate gradients, under PyCUDA's names over `rtcg.sparse`."""
