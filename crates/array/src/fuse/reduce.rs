//! A reduction at the end of an expression, whose elements are computed where they are added up.

use crate::array::GpuArray;

pub(crate) fn reduce_deferred(_x: &GpuArray) -> Option<()> {
    None
}
