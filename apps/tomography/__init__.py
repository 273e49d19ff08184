"""Computed tomography with parallel beams: filtered backprojection."""
