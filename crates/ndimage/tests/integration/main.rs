//! All integration tests of image filters, in one binary: each compares with loops over the host's pixels.

#[path = "../../../../tests/support/contexts.rs"]
mod contexts;
#[path = "../../../../tests/support/fake_device.rs"]
mod fake_device;
#[path = "../../../../tests/support/host_arrays.rs"]
mod host_arrays;

mod filters;
mod layers;
mod tiles;
mod windows;
