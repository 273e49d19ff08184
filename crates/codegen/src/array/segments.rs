//! Reductions and scans of segments: adjacent elements between ascending offsets.

use super::c_types::{compute_type, helper_preamble, storage_type};
use super::reduce::{combining_expression, identity_value};
use super::{ReductionOp, ScanOp};
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// Threads per block.
pub const SEGMENT_THREADS: u32 = 256;
/// Elements per tile, and the maximum number of ranges into which elements are divided.
pub const SEGMENT_TILE: usize = 1024;

/// The stage that a kernel computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SegmentStage {
    /// Combines the elements of ranges, one block per range. Parameters: the result or null; for each range the
    /// combination since its last head, whether it has one (uint8), and the combination up to its first end; elements,
    /// their number, offsets (int64), their number, the length of a range, and whether the values before the ranges are
    /// known (bool).
    Ranges,
    /// Combines ranges, in one block. Parameters: the result, the three values of each range, the number of ranges, the
    /// number of elements, offsets, their number, the length of a range.
    Carries,
    /// Checks that offsets ascend. Parameters: ~j of the first that does not, offsets, their number, the number of
    /// elements.
    Check,
}

/// A kernel, described by everything that determines its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SegmentSpec {
    /// The operation that combines elements.
    pub op: ScanOp,
    /// The dtype of the input.
    pub x: DType,
    /// The dtype of the output and the computation.
    pub out: DType,
    /// If set, each element has a result, which excludes the element itself if true; otherwise each segment has one.
    pub scan: Option<bool>,
    /// The stage that the kernel computes.
    pub stage: SegmentStage,
}

impl SegmentSpec {
    /// Size in bytes of a combined value.
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
