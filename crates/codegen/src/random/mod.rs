//! Random numbers: kernel sources, and the generators' host arithmetic (seeding, skipping ahead, direction numbers).
//!
//! There are two families. *Counter-based* generators (Philox, Threefry) compute each number from a key and its
//! position, so any thread can compute any number. *Sequential* ones (XORWOW, MRG32k3a, Sobol) have a fixed number of
//! states, whatever the device: state `k mod count` generates element `k` of a call, so that results are the same on
//! every device.

mod engines;
mod kernels;
pub mod mrg32k3a;
pub mod philox;
pub mod sobol;
pub mod xorwow;

pub use kernels::{
    CounterKernelOptions, Distribution, MAX_COUNTERS_PER_LAUNCH, RANDOM_BLOCK_THREADS, RandomEngine, RandomKernel,
    permutation_source, source, source_with_options,
};
