"""Linear algebra of stacks of matrices: kernels and what calls them, a file for each method; behind `pycuda.linalg`."""
