//! All integration tests of sparse matrices, in one binary: each compares with loops over the host's elements.

#[path = "../../../../tests/support/contexts.rs"]
mod contexts;
#[path = "../../../../tests/support/fake_device.rs"]
mod fake_device;
#[path = "../../../../tests/support/host_arrays.rs"]
mod host_arrays;

mod dense_products;
mod eigen;
mod gallery;
mod graphs;
mod host_matrices;
mod packets;
mod products;
mod solvers;
mod sparse_products;
mod structures;
mod triangular;
