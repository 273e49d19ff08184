//! All integration tests of nearest neighbours, in one binary: each compares with a search on the host.

#[path = "../../../../tests/support/contexts.rs"]
mod contexts;
#[path = "../../../../tests/support/fake_device.rs"]
mod fake_device;
#[path = "../../../../tests/support/host_arrays.rs"]
mod host_arrays;

mod batches;
mod kmeans;
mod searches;
mod selections;
