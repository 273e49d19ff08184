//! The launch record of OpenCL kernels: the last parameter of a kernel whose source was OpenCL C, with what a launch of
//! OpenCL has and one of CUDA lacks. The OpenCL platform writes it; reports of faults read it.

use crate::ast::{Function, Param};

/// Words of 32 bits of the record: three numbers each, of one word or of two. The library of builtins has the same
/// places. One range of OpenCL may be several launches, each with its part of the groups.
pub mod word {
    /// 64 bits each: the global id of the first item of the launch.
    pub const FIRST_ITEM: usize = 0;
    /// 64 bits each: the global offset.
    pub const OFFSET: usize = 6;
    /// 64 bits each: the global size in items.
    pub const SIZE: usize = 12;
    /// The first group of the launch.
    pub const FIRST_GROUP: usize = 18;
    /// Groups of all launches.
    pub const GROUPS: usize = 21;
    /// Items of a group that is not at the end.
    pub const FULL_GROUP: usize = 24;
    /// One number: dimensions.
    pub const DIMENSIONS: usize = 27;
    /// The number of words.
    pub const END: usize = 28;
}

/// Bytes of the record.
pub const RECORD_BYTES: u32 = 4 * word::END as u32;

/// The name of the parameter of a kernel that is its launch record.
pub fn record_name(kernel: &str) -> String {
    format!("{kernel}_rtcg_launch")
}

/// The parameter of a kernel that is its launch record, if it has one.
pub fn record_of(kernel: &Function) -> Option<&Param> {
    kernel.params.last().filter(|param| *param.name == *record_name(&kernel.name))
}
