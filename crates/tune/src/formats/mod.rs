//! Files of other tuners.

pub mod t1;
