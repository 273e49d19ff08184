//! Random numbers: the source of the kernels that make them, and the arithmetic of the generators on
//! the host (seeding, skipping ahead, direction numbers).
//!
//! Two families. *Counter-based* generators (Philox, Threefry) compute the number at a place from a key
//! and the place, so any thread can make any number. *Sequential* ones (XORWOW, MRG32k3a, Sobol) have
//! a fixed number of states, whatever the device: element `k` of a call is made by state `k mod count`,
//! so that results are the same on every device.

mod engines;
mod kernels;
pub mod mrg32k3a;
pub mod philox;
pub mod sobol;
pub mod xorwow;

pub use kernels::{
    CounterKernelOptions, Distribution, MAX_COUNTERS_PER_LAUNCH, RANDOM_BLOCK_THREADS, RandomEngine,
    permutation_source, source, source_with_options,
};
