"""Linear algebra of stacks of matrices: kernels and what calls them; behind `pycuda.linalg`."""
