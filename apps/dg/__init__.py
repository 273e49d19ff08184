"""A discontinuous Galerkin solver of Maxwell's equations on tetrahedra, and what else its operators solve."""
