//! Reductions of rows by label, or by the bin of an element.
//!
//! *Labels* among parameters stand for: labels, the number of rows, of columns and of labels, the word that a label out of
//! range sets, edges or null, and the number of bins over their width, or 0 if they are not equally wide.

use super::c_types::{compute_type, helper_preamble, storage_type};
use super::radix_sort::BLOCK_SCAN_SOURCE;
use super::reduce::{combining_expression, identity_value};
use super::{ReductionOp, ScanOp};
use crate::block_reduce::BLOCK_REDUCE_SOURCE;
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;
use std::sync::Arc;

/// Threads per block of all stages but the first; that of [`CategoryStage::Merge`] has [`CATEGORY_MERGE_THREADS`].
pub const CATEGORY_THREADS: u32 = 256;
/// Threads per block of [`CategoryStage::Merge`].
pub const CATEGORY_MERGE_THREADS: u32 = 1024;

/// How the values of a label are combined.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CategoryCombine {
    /// They are counted.
    Count,
    /// By an operation.
    Op(ScanOp),
    /// By the user's expression.
    Custom(Arc<CategoryExpression>),
}

/// A user's operation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CategoryExpression {
    /// A CUDA C expression of `a` and `b`, of the type `T` of the result (float for 16-bit floats).
    pub expression: String,
    /// An expression of the neutral element, which labels without values have.
    pub neutral: String,
}

/// The stage that a kernel computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CategoryStage {
    /// Combines the rows of a block in copies of the results. Parameters: the results of each block, values, weights,
    /// *labels*, the rows of a block. Dynamic shared memory: [`CategorySpec::shared_bytes`].
    Copies {
        /// Adjacent columns of a block.
        width: u16,
        /// Copies of the results.
        copies: u16,
        /// Whether a warp has a copy; else each `width` threads have one.
        is_of_warps: bool,
    },
    /// Combines the results of blocks. Parameters: the results, those of blocks, the number of blocks and of results.
    Merge,
    /// Adds integers atomically. Parameters: the results, which are 0, values, weights, *labels*.
    Atomic,
    /// Labels as numbers to be sorted by. Parameters: the numbers (uint32), *labels*.
    Keys,
    /// Combines chunks of sorted rows, each by `width` threads. Parameters: the results of each chunk, values, weights,
    /// the places of sorted rows, where each label begins and the last one ends, cumulative numbers of chunks (all
    /// int64), the number of columns and of labels, the rows of a chunk.
    Chunks {
        /// Adjacent columns of a group of threads: a power of two.
        width: u16,
    },
    /// Combines the chunks of labels. Parameters: the results, those of chunks, cumulative numbers of chunks, the number
    /// of columns and of results.
    Join,
    /// Counts the digits of labels, and turns the counts into where digits begin. Parameters: 256 counts for each digit and
    /// a ticket, which are 0, labels as numbers (uint32) or null, *labels*, the lowest bit of the first digit.
    Digits {
        /// Digits of eight bits.
        passes: u8,
    },
    /// Where groups of `1 << shift` labels begin, and the group of each slot. Parameters: these (uint32), labels that are
    /// sorted by group, where digits begin if groups are those of one digit or else null, the number of rows, of labels, of
    /// groups, rows of a slot.
    Bounds {
        /// Bits of a label within its group.
        shift: u8,
    },
    /// Combines the values of slots: a warp has results of all labels of its group in shared memory. Parameters: the results
    /// of each slot, values and their labels sorted by group, beginnings of groups, groups of slots, the number of
    /// labels, of groups, rows of a slot. Dynamic shared memory: [`CategorySpec::slots_bytes`].
    Slots {
        /// As in [`CategoryStage::Bounds`].
        shift: u8,
        /// Warps of a block.
        warps: u8,
    },
    /// Combines the rows of slots, which are rows of one label. Parameters: the results of each slot, values, weights, the
    /// places of sorted rows, then as [`CategoryStage::Slots`] and the number of columns.
    Rows {
        /// Adjacent columns of a thread.
        vector: u8,
        /// Threads that have a row: a power of two up to 32.
        lanes: u8,
    },
    /// Combines the slots of groups in order. Parameters: the results, numbers of rows or null, results of slots,
    /// beginnings of groups, the number of columns and of results, rows of a slot.
    JoinSlots {
        /// As in [`CategoryStage::Bounds`].
        shift: u8,
        /// Threads that share the slots of a result.
        ways: u8,
    },
}

/// A kernel, described by everything that determines its source.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CategorySpec {
    /// How values are combined.
    pub combine: CategoryCombine,
    /// The dtype of values.
    pub x: DType,
    /// The dtype of factors of rows.
    pub weight: Option<DType>,
    /// The dtype of labels, or of the elements that are put into bins.
    pub label: DType,
    /// The dtype of the edges of bins, if there are bins.
    pub edge: Option<DType>,
    /// The dtype of the result and the computation.
    pub out: DType,
    /// The stage that the kernel computes.
    pub stage: CategoryStage,
}

impl CategorySpec {
    /// Size in bytes of a combined value.
    pub fn item_bytes(out: DType) -> usize {
        if matches!(out, DType::F16 | DType::BF16) { 4 } else { out.itemsize() }
    }

    /// Size in bytes of a value of a copy: those of warps note the lanes that have a label.
    pub fn copy_bytes(out: DType, is_of_warps: bool) -> usize {
        Self::item_bytes(out) + if is_of_warps { 4 } else { 0 }
    }

    /// Threads per block.
    pub fn threads(&self) -> u32 {
        match self.stage {
            CategoryStage::Copies { width, copies, is_of_warps: false } => u32::from(width) * u32::from(copies),
            CategoryStage::Copies { copies, .. } => 32 * u32::from(copies),
            CategoryStage::Merge => CATEGORY_MERGE_THREADS,
            CategoryStage::Slots { warps, .. } => 32 * u32::from(warps),
            _ => CATEGORY_THREADS,
        }
    }

    /// Dynamic shared memory of a block of [`CategoryStage::Copies`].
    pub fn shared_bytes(&self, n_labels: usize) -> usize {
        let CategoryStage::Copies { width, copies, is_of_warps } = self.stage else { return 0 };
        let bytes = n_labels * usize::from(width) * usize::from(copies) * Self::copy_bytes(self.out, is_of_warps);
        // Results begin at a multiple of 16 bytes.
        if is_of_warps { bytes + 16 } else { bytes }
    }

    /// Dynamic shared memory of a block of [`CategoryStage::Slots`]: results, and the lanes that have a label.
    pub fn slots_bytes(out: DType, shift: u8, warps: u8) -> usize {
        (usize::from(warps) * Self::copy_bytes(out, true)) << shift
    }

    fn combine_definitions(&self) -> String {
        let (identity, expression) = match &self.combine {
            CategoryCombine::Count => ("T(0)".to_owned(), "a + b".to_owned()),
            CategoryCombine::Op(op) => {
                let reduction = match op {
                    ScanOp::Sum => ReductionOp::Sum,
                    ScanOp::Product => ReductionOp::Product,
                    ScanOp::Maximum => ReductionOp::Maximum,
                    ScanOp::Minimum => ReductionOp::Minimum,
                };
                (identity_value(reduction, self.out), combining_expression(reduction, self.out).to_owned())
            }
            CategoryCombine::Custom(custom) => {
                ("neutral()".to_owned(), format!("\n#line 1 \"op\"\n{}\n", custom.expression))
            }
        };
        let mut text = String::new();
        if let CategoryCombine::Custom(custom) = &self.combine {
            let _ = writeln!(
                text,
                "__device__ __forceinline__ T neutral() {{ return T(\n#line 1 \"neutral\"\n{}\n); }}",
                custom.neutral
            );
        }
        let _ = write!(
            text,
            "#define IDENTITY {identity}\n\
             __device__ __forceinline__ T combine(T a, T b) {{ return T({expression}); }}\n"
        );
        text
    }
}

impl KernelSpec for CategorySpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        match self.stage {
            CategoryStage::Copies { .. } => "category_copies",
            CategoryStage::Merge => "category_merge",
            CategoryStage::Atomic => "category_atomic",
            CategoryStage::Keys => "category_keys",
            CategoryStage::Chunks { .. } => "category_chunks",
            CategoryStage::Join => "category_join",
            CategoryStage::Digits { .. } => "category_digits",
            CategoryStage::Bounds { .. } => "category_bounds",
            CategoryStage::Slots { .. } => "category_slots",
            CategoryStage::Rows { .. } => "category_rows",
            CategoryStage::JoinSlots { .. } => "category_join_slots",
        }
        .into()
    }

    fn source(&self) -> String {
        let weight = self.weight.unwrap_or(DType::U8);
        let mut text =
            helper_preamble([self.x, weight, self.label, self.out, self.edge.unwrap_or(DType::U8)].into_iter(), true);
        if matches!(self.stage, CategoryStage::Digits { .. }) {
            text.push_str(BLOCK_REDUCE_SOURCE);
            text.push_str(BLOCK_SCAN_SOURCE);
        }
        let (width, copies, is_of_warps) = match self.stage {
            CategoryStage::Copies { width, copies, is_of_warps } => (width, copies, is_of_warps),
            CategoryStage::Chunks { width } => (width, 1, false),
            CategoryStage::Rows { lanes, .. } => (lanes.into(), 1, false),
            _ => (1, 1, false),
        };
        let _ = write!(
            text,
            "typedef {x} X; typedef {w} W; typedef {label} LABEL; typedef {out} O; typedef {t} T;\n\
             enum {{ THREADS = {threads}, WIDTH = {width}, COPIES = {copies}, UNROLL = 4 }};\n",
            x = storage_type(self.x),
            w = storage_type(weight),
            label = storage_type(self.label),
            out = storage_type(self.out),
            t = compute_type(self.out),
            threads = self.threads(),
        );
        let flags = [
            ("IS_COUNT", self.combine == CategoryCombine::Count),
            ("HAS_WEIGHTS", self.weight.is_some()),
            ("HAS_BINS", self.edge.is_some()),
            ("WARP_COPIES", is_of_warps),
            ("STAGE_COPIES", matches!(self.stage, CategoryStage::Copies { .. })),
            ("STAGE_MERGE", self.stage == CategoryStage::Merge),
            ("STAGE_ATOMIC", self.stage == CategoryStage::Atomic),
            ("STAGE_KEYS", self.stage == CategoryStage::Keys),
            ("STAGE_CHUNKS", matches!(self.stage, CategoryStage::Chunks { .. })),
            ("STAGE_JOIN", self.stage == CategoryStage::Join),
            ("STAGE_DIGITS", matches!(self.stage, CategoryStage::Digits { .. })),
            ("STAGE_BOUNDS", matches!(self.stage, CategoryStage::Bounds { .. })),
            ("STAGE_SLOTS", matches!(self.stage, CategoryStage::Slots { .. })),
            ("STAGE_ROWS", matches!(self.stage, CategoryStage::Rows { .. })),
            ("STAGE_JOIN_SLOTS", matches!(self.stage, CategoryStage::JoinSlots { .. })),
        ];
        for (name, is_set) in flags {
            let _ = writeln!(text, "#define {name} {}", i32::from(is_set));
        }
        let (shift, other) = match self.stage {
            CategoryStage::Digits { passes } => (0, format!("PASSES = {passes}")),
            CategoryStage::Rows { vector, .. } => (0, format!("VECTOR = {vector}")),
            CategoryStage::JoinSlots { shift, ways } => (shift, format!("WAYS = {ways}")),
            CategoryStage::Bounds { shift } | CategoryStage::Slots { shift, .. } => {
                (shift, "WARPS = THREADS / 32".into())
            }
            _ => (0, "WARPS = THREADS / 32".into()),
        };
        let _ = writeln!(text, "enum {{ SHIFT = {shift}, {other} }};");
        // Elements and edges are compared as NumPy compares them.
        let edge = self.edge.unwrap_or(DType::U8);
        let compared = self.edge.map_or(DType::U8, |edge| self.label.promote(edge));
        let _ = writeln!(text, "typedef {} E; typedef {} C;", storage_type(edge), compute_type(compared));
        text.push_str(&self.combine_definitions());
        text.push_str("#line 1 \"category.cuh\"\n");
        text.push_str(include_str!("category.cuh"));
        text
    }

    fn snippets(&self) -> Vec<(&str, &str)> {
        match &self.combine {
            CategoryCombine::Custom(custom) => vec![("op", &custom.expression), ("neutral", &custom.neutral)],
            _ => Vec::new(),
        }
    }
}
