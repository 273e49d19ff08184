//! Kernels for reductions and scans of segments: adjacent elements between ascending offsets.

use super::c_types::{compute_type, helper_preamble, storage_type};
use super::reduce::{combining_expression, identity_value};
use super::{ReductionOp, ScanOp};
use crate::DType;
use crate::kernel_spec::KernelSpec;
use std::borrow::Cow;
use std::fmt::Write;

/// Threads of a block.
pub const SEGMENT_THREADS: u32 = 256;
/// Elements of a tile, and the most ranges that elements are divided into.
pub const SEGMENT_TILE: usize = 1024;

/// Which kernel it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SegmentStage {
    /// Combines the elements of ranges, a block for each. Parameters: the result or null, of each range what is combined
    /// since its last head, whether it has one (uint8), and what is combined to its first end; elements, their number,
    /// offsets (int64), their number, the length of a range, whether what comes before ranges is known (bool).
    Ranges,
    /// Combines ranges, in one block. Parameters: the result, the three of each range, the number of ranges, that of
    /// elements, offsets, their number, the length of a range.
    Carries,
    /// Whether offsets ascend. Parameters: ~j of the first that does not, offsets, their number, the number of elements.
    Check,
}

/// A kernel, as everything that decides its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SegmentSpec {
    /// What elements are combined with.
    pub op: ScanOp,
    /// The dtype of the input.
    pub x: DType,
    /// The dtype of the output, in which is computed.
    pub out: DType,
    /// Whether each element has a result, and then whether without the element itself; else each segment has.
    pub scan: Option<bool>,
    /// Which kernel.
    pub stage: SegmentStage,
}

impl SegmentSpec {
    /// Bytes of what is combined.
    pub fn item_bytes(&self) -> usize {
        match self.out {
            DType::F16 | DType::BF16 => 4,
            other => other.itemsize(),
        }
    }
}

impl KernelSpec for SegmentSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        match self.stage {
            SegmentStage::Ranges => "segments_ranges",
            SegmentStage::Carries => "segments_carries",
            SegmentStage::Check => "segments_check",
        }
        .into()
    }

    fn source(&self) -> String {
        let mut text = helper_preamble([self.x, self.out].into_iter(), true);
        let reduction = match self.op {
            ScanOp::Sum => ReductionOp::Sum,
            ScanOp::Product => ReductionOp::Product,
            ScanOp::Maximum => ReductionOp::Maximum,
            ScanOp::Minimum => ReductionOp::Minimum,
        };
        let _ = write!(
            text,
            "typedef {x} X; typedef {out} O; typedef {t} T;\n\
             #define IDENTITY {identity}\n#define IS_SCAN {is_scan}\n#define IS_EXCLUSIVE {is_exclusive}\n\
             enum {{ THREADS = {SEGMENT_THREADS}, TILE = {SEGMENT_TILE}, ITEMS = TILE / THREADS }};\n\
             __device__ __forceinline__ T combine(T a, T b) {{ return T({expression}); }}\n\
             __device__ __forceinline__ T get(X x) {{ return rt_cast<T>(rt_load(x)); }}\n",
            x = storage_type(self.x),
            out = storage_type(self.out),
            t = compute_type(self.out),
            identity = identity_value(reduction, self.out),
            is_scan = i32::from(self.scan.is_some()),
            is_exclusive = i32::from(self.scan == Some(true)),
            expression = combining_expression(reduction, self.out),
        );
        text.push_str(include_str!("segments.cuh"));
        text
    }
}
