//! Files of other tuners.

pub mod kernel_tuner;
pub mod t1;
