//! Nearest-neighbour kernels, generated with dtypes, metric, dimensions and list length as literals.

use crate::Metric;
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// Threads of a block of kernels without another number.
pub(crate) const THREADS: u32 = 256;
/// Threads of a block of the kernel for few dimensions.
pub(crate) const PER_THREAD_BLOCK: u32 = 128;
/// Queries of a block of the kernel by tiles, and threads that have lists of each.
pub(crate) const TILED_SIDE: u32 = 64;
pub(crate) const TILED_LANES: u32 = THREADS / TILED_SIDE;
/// Dimensions up to which a query is held in registers.
pub(crate) const MAX_THREAD_DIMENSIONS: usize = 16;
/// Queries of the kernel that reads points once, numbers of these, and neighbours that it can have.
pub(crate) const MAX_BATCH_QUERIES: usize = 8;
pub(crate) const MAX_BATCH_NUMBERS: usize = 4096;
pub(crate) const MAX_BATCH_NEIGHBORS: u32 = 64;
/// Lists of a query that can be merged.
pub(crate) const MAX_LISTS: u32 = 1024;
/// Points of a tile of the filter, queries of a group, and room for candidates of a query.
pub(crate) const FILTER_TILE: usize = 32;
pub(crate) const FILTER_GROUP: usize = 8;
pub(crate) const FILTER_CAPACITY: usize = 2048;
/// Distances of a sample that are held in shared memory.
const SAMPLE_CAPACITY: usize = 8192;
/// Shared memory of the filter beside that of groups, at most.
pub(crate) const FILTER_STATIC_BYTES: usize = 8192;
/// Dimensions up to which a warp of the filter has points in registers.
pub(crate) const MAX_FILTER_DIMENSIONS: usize = 128;
/// Lists up to this length are held in registers.
pub(crate) const MAX_UNROLLED_LIST: u32 = 16;

/// What distances are computed from, and in what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct DistanceSpec {
    /// The dtype of queries: float32 or float64.
    pub(crate) query: DType,
    /// The dtype of points: float16, float32 or float64.
    pub(crate) point: DType,
    pub(crate) metric: Metric,
    pub(crate) dimensions: usize,
    /// In float64 without fused operations; else in float32.
    pub(crate) is_exact: bool,
    /// Products of candidates are those of tensor cores.
    pub(crate) is_tensor: bool,
    /// A query has one list in global memory, which a warp keeps; else threads have lists in registers.
    pub(crate) is_listed: bool,
    /// Threads are lanes of a processor's vectors.
    pub(crate) is_simd_cpu: bool,
    /// Queries of a thread of the kernel for few dimensions, which share what it reads of points.
    pub(crate) queries_of_thread: u32,
}

impl DistanceSpec {
    /// Whether a thread holds a query in registers; else distances are computed by tiles.
    pub(crate) fn is_per_thread(&self) -> bool {
        self.dimensions <= MAX_THREAD_DIMENSIONS && self.metric != Metric::Cosine && !self.is_listed && !self.is_tensor
    }

    /// Queries of a block.
    pub(crate) fn side(&self) -> u32 {
        if self.is_per_thread() { PER_THREAD_BLOCK * self.queries_of_thread } else { TILED_SIDE }
    }

    /// Lists of a query in a slice of points.
    pub(crate) fn lanes(&self) -> u32 {
        if self.is_per_thread() || self.is_listed { 1 } else { TILED_LANES }
    }

    fn preamble(&self, k: u32, threads: u32) -> String {
        let mut text = String::new();
        for metric in [Metric::L2, Metric::L1, Metric::Chebyshev, Metric::Cosine] {
            let is_this = metric == self.metric || (metric == Metric::L2 && self.metric == Metric::SquaredL2);
            let _ = writeln!(text, "#define METRIC_{} {}", format!("{metric:?}").to_uppercase(), i32::from(is_this));
        }
        let is_product =
            !self.is_per_thread() && !self.is_exact && matches!(self.metric, Metric::L2 | Metric::SquaredL2);
        let _ = writeln!(
            text,
            "#define IS_EXACT {}\n#define IS_PRODUCT {}\n#define IS_TENSOR {}\n#define IS_LISTED {}\n#define POINT_IS_HALF {}",
            i32::from(self.is_exact),
            i32::from(is_product),
            i32::from(self.is_tensor),
            i32::from(self.is_listed),
            i32::from(self.point == DType::F16)
        );
        let unroll = if k <= MAX_UNROLLED_LIST { k.max(2) } else { 1 };
        let _ = writeln!(
            text,
            "#define UNROLL_LIST {unroll}\nenum {{ D = {}, K = {}, THREADS = {threads} }};",
            self.dimensions,
            k.max(1)
        );
        text.push_str(include_str!("types.cuh"));
        let arithmetic = if self.is_exact { DType::F64 } else { DType::F32 };
        for (name, dtype) in [("Q", self.query), ("P", self.point), ("A", arithmetic)] {
            let _ = writeln!(text, "typedef {} {name};", stored_type(dtype));
        }
        text.push_str(include_str!("common.cuh"));
        text
    }
}

fn stored_type(dtype: DType) -> &'static str {
    if dtype == DType::F16 { "rt_half" } else { dtype.c_type() }
}

/// Lists of the `k` nearest points, or for 0 the number of points within a radius.
///
/// Parameters: values and indices of lists (or nothing, and counts), queries, points, their norms, the largest norm of
/// points, numbers of queries and points, selected queries and their number or null, the most slices, the radius.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ScanSpec {
    pub(crate) distance: DistanceSpec,
    pub(crate) k: u32,
    /// The kernel for few queries.
    pub(crate) small_batch: Option<SmallBatch>,
}

/// What the kernel for few queries is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct SmallBatch {
    /// The most queries: a power of two up to [`MAX_BATCH_QUERIES`].
    pub(crate) queries: u32,
    /// Points begin at multiples of 16 bytes.
    pub(crate) is_vectorizable: bool,
}

impl ScanSpec {
    pub(crate) fn threads(&self) -> u32 {
        if self.distance.is_per_thread() { PER_THREAD_BLOCK } else { THREADS }
    }
}

impl KernelSpec for ScanSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        "neighbors_scan".into()
    }

    fn source(&self) -> String {
        let d = self.distance.dimensions;
        let mut text = format!("#define IS_COUNT {}\n", i32::from(self.k == 0));
        text.push_str(&self.distance.preamble(self.k, self.threads()));
        if let Some(batch) = self.small_batch {
            let (queries, is_vector) = (batch.queries, i32::from(batch.is_vectorizable));
            let _ = writeln!(text, "#define IS_VECTOR {is_vector}\nenum {{ QUERIES = {queries} }};");
            text.push_str(include_str!("small_batch.cuh"));
        } else if self.distance.is_per_thread() {
            // Whole vectors of four are read at once.
            let pitch = if d > 2 { d.next_multiple_of(4) } else { d };
            let queries = self.distance.queries_of_thread;
            let _ = writeln!(text, "enum {{ TILE = 128, PITCH = {pitch}, QUERIES = {queries} }};");
            text.push_str(include_str!("per_thread.cuh"));
        } else {
            let is_simd_cpu = self.distance.is_simd_cpu;
            let [rows, columns] = match (self.distance.is_tensor, is_simd_cpu) {
                (true, _) => [2, 8],
                (false, true) => [8, 2],
                (false, false) => [4, 4],
            };
            let _ = writeln!(
                text,
                "#define UNROLL_DEPTH 4\n#define IS_SIMD_CPU {}\nenum {{ ROWS = {rows}, COLUMNS = {columns} }};",
                i32::from(is_simd_cpu)
            );
            text.push_str(include_str!("tiled.cuh"));
        }
        text
    }
}

/// The nearest of the lists of queries.
///
/// Parameters: distances, indices, values and indices of lists, then as [`ScanSpec`] to the number of selected queries, the
/// lists of a slice, queries of a block, blocks of the scan, the most slices, queries to be searched again, their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct MergeSpec {
    pub(crate) distance: DistanceSpec,
    /// The length of lists.
    pub(crate) k: u32,
    /// Neighbours of the result.
    pub(crate) kept: u32,
    /// The dtype of resulting distances.
    pub(crate) out: DType,
}

impl MergeSpec {
    /// As many as have candidates in shared memory.
    pub(crate) fn threads(&self) -> u32 {
        if self.k <= 128 { THREADS } else { 64 }
    }
}

impl KernelSpec for MergeSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        "neighbors_merge".into()
    }

    fn source(&self) -> String {
        let mut text = self.distance.preamble(self.k, self.threads());
        text.push_str(&result_definitions(self.distance.metric, self.out, self.kept));
        let _ = writeln!(text, "#define IS_RECHECKED {}", i32::from(!self.distance.is_exact));
        text.push_str(include_str!("merge.cuh"));
        text
    }
}

/// Sums within limits, or the smallest of tiles of a sample, for any number of queries; points are read once. Vectors are
/// those of [`RoundSpec`].
///
/// Parameters: values and indices of lists, their lengths, limits, the number of noted queries, what [`RoundSpec`] says of
/// points, then as [`ScanSpec`] to the number of selected queries, rows that are looked at, points for one of a sample,
/// groups of queries of a block. Dynamic shared memory: [`FilterSpec::group_bytes`] for each group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct FilterSpec {
    pub(crate) distance: DistanceSpec,
    /// Groups of queries that are multiplied together.
    pub(crate) columns: u32,
    pub(crate) is_sample: bool,
}

impl FilterSpec {
    /// Shared memory of a group of queries: numbers, padded to 32, and limits.
    pub(crate) fn group_bytes(dimensions: usize) -> usize {
        FILTER_GROUP * (2 * dimensions.next_multiple_of(32) + 4)
    }
}

impl KernelSpec for FilterSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        "neighbors_filter".into()
    }

    fn source(&self) -> String {
        let mut text = self.distance.preamble(1, THREADS);
        let (columns, is_sample) = (self.columns, i32::from(self.is_sample));
        let _ = writeln!(
            text,
            "enum {{ COLUMNS = {columns}, CAPACITY = {FILTER_CAPACITY} }};\n#define IS_SAMPLE {is_sample}"
        );
        text.push_str(include_str!("filter.cuh"));
        text
    }
}

/// Limits of a filter from the sums of a sample (`is_limit`), or the nearest of its lists.
///
/// Parameters: limits, lengths of lists, sums of tiles, their number, how many may be within limits, what [`RoundSpec`] says
/// of queries; or distances, indices, queries to be searched again, their number, values, indices and lengths of lists, what
/// [`RoundSpec`] says of queries and of points, twice. Then as [`ScanSpec`] to the number of selected queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct SelectSpec {
    pub(crate) distance: DistanceSpec,
    /// Neighbours of the result.
    pub(crate) kept: u32,
    pub(crate) is_limit: bool,
    /// The dtype of resulting distances.
    pub(crate) out: DType,
}

impl KernelSpec for SelectSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        "neighbors_select".into()
    }

    fn source(&self) -> String {
        let mut text = self.distance.preamble(1, THREADS);
        text.push_str(&result_definitions(self.distance.metric, self.out, self.kept));
        let (is_limit, capacity) = if self.is_limit { (1, SAMPLE_CAPACITY) } else { (0, FILTER_CAPACITY) };
        let _ = writeln!(text, "enum {{ CAPACITY = {capacity} }};\n#define IS_LIMIT {is_limit}");
        text.push_str(include_str!("select.cuh"));
        text
    }
}

/// The type of resulting distances, how they come from those that are compared, and how many there are.
fn result_definitions(metric: Metric, out: DType, kept: u32) -> String {
    let distance = match metric {
        Metric::L2 => "sqrt(value)",
        Metric::Cosine => "max(1 + value, 0.0)",
        Metric::SquaredL2 | Metric::L1 | Metric::Chebyshev => "value",
    };
    format!("typedef {} O;\nenum {{ KEPT = {kept} }};\n#define RT_DISTANCE(value) (O)({distance})\n", out.c_type())
}

/// Vectors as a filter multiplies them: rounded to float16, unless they are points of float16.
///
/// Parameters: these, of queries squared lengths and lengths of errors, else what points add to products so that sums are at
/// least or at most what they stand for (and one that is not used by queries), vectors, their squared lengths, the largest one
/// of points, sums of points or null, the number of points and of vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct RoundSpec {
    /// Of the search whose vectors these are.
    pub(crate) distance: DistanceSpec,
    pub(crate) is_query: bool,
}

impl KernelSpec for RoundSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        "neighbors_round".into()
    }

    fn source(&self) -> String {
        let mut text = self.distance.preamble(1, THREADS);
        let (is_query, vector, out) = if self.is_query { (1, "Q", "double2") } else { (0, "P", "float") };
        let _ = writeln!(text, "#define IS_QUERY {is_query}\ntypedef {vector} V;\ntypedef {out} OUT;");
        text.push_str(include_str!("round.cuh"));
        text
    }
}

/// Squared lengths of vectors. Parameters: these, the state, vectors, their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct NormsSpec {
    pub(crate) dtype: DType,
    pub(crate) dimensions: usize,
}

impl KernelSpec for NormsSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        "neighbors_norms".into()
    }

    fn source(&self) -> String {
        let mut text = include_str!("types.cuh").to_owned();
        let (t, d) = (stored_type(self.dtype), self.dimensions);
        let _ = writeln!(text, "typedef {t} P;\nenum {{ D = {d}, THREADS = {THREADS} }};");
        text.push_str(include_str!("norms.cuh"));
        text
    }
}

/// A step of k-means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum KMeansStep {
    /// Parameters: labels (int32), how many change (uint32), rows, centres, squared lengths of these, null or the number of
    /// rows (uint32) that has to be above the next parameter, the numbers of rows and centres.
    Assign,
    /// Parameters: labels, how many change, the number and the places of rows that are looked at (uint32), rows, centres,
    /// squared lengths of these, the most rows, the number of centres.
    Recheck,
    /// By tensor cores. Parameters: labels, how many change, for rows of float32 the number (0) and the places of rows that
    /// are left out or else null, rows, centres and squared lengths with padding, the numbers of rows and centres.
    /// [`KMeansSpec::nearest_blocks`], with dynamic shared memory: [`KMeansSpec::nearest_bytes`].
    Nearest {
        /// Rows begin at multiples of 16 bytes.
        is_vector: bool,
        /// By warpgroups, which only compute capability 9.0 has.
        is_warpgroup: bool,
    },
    /// Parameters: labels, how many change, keys (uint64), their number, the number of centres.
    Labels,
    /// Parameters: sums of squared deviations of columns for each block (float64), rows, means of columns (float64), the
    /// number of rows.
    Spread,
    /// Parameters: centres, their squared lengths, centres as a product takes them or null, the state (float64), sums,
    /// weights, centres before, how many labels changed, the number of centres. One block for each centre.
    Centers {
        /// Whether there are sums; else centres stay.
        has_sums: bool,
        /// Whether products are those of [`KMeansStep::Nearest`].
        is_tensor: bool,
    },
    /// Parameters: distances (float64 if `is_double`), rows, centres, labels, candidates (int64) or null, their number or
    /// 1, limits of distances or null, the number of rows.
    Distances {
        /// Whether distances are float64.
        is_double: bool,
    },
    /// Parameters: sums, weights, rows, their weights or null, labels, far rows and clusters for
    /// them (int64), their number. One block.
    Relocate,
}

/// Centres are padded to a multiple of this for [`KMeansStep::Nearest`].
pub(crate) const NEAREST_TILE: usize = 128;
/// Threads of a block of warpgroups.
const NEAREST_GROUP_THREADS: u32 = 512;
/// Numbers of a row that the lanes of [`KMeansStep::Nearest`] have room for.
const MAX_NEAREST_NUMBERS: usize = 256;

/// A kernel of k-means, for rows of a dtype and so many dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct KMeansSpec {
    pub(crate) dtype: DType,
    pub(crate) dimensions: usize,
    pub(crate) step: KMeansStep,
}

impl KMeansSpec {
    /// Adjacent columns that a lane of [`KMeansStep::Nearest`] reads, and the parts of a number.
    fn nearest_format(&self) -> [usize; 2] {
        if self.dtype == DType::F16 { [8, 1] } else { [4, 2] }
    }

    /// Columns of centres with padding, and numbers of a centre, for [`KMeansStep::Nearest`].
    pub(crate) fn nearest_columns(&self) -> [usize; 2] {
        let [vector, parts] = self.nearest_format();
        let width = self.dimensions.next_multiple_of(4 * vector);
        [width, parts * width]
    }

    /// Whether there are kernels of [`KMeansStep::Nearest`].
    pub(crate) fn has_nearest(&self) -> bool {
        self.dtype != DType::F64 && self.nearest_columns()[1] <= MAX_NEAREST_NUMBERS
    }

    fn is_warpgroup(&self) -> bool {
        matches!(self.step, KMeansStep::Nearest { is_warpgroup: true, .. })
    }

    /// Threads of a block, and the blocks that a multiprocessor has room for.
    pub(crate) fn block(&self) -> [u32; 2] {
        if self.is_warpgroup() { [NEAREST_GROUP_THREADS, 1] } else { [THREADS, 2] }
    }

    /// Centres of a tile of [`KMeansStep::Nearest`], for half of which there is room if rows are long.
    fn nearest_tile(&self) -> usize {
        if self.nearest_columns()[1] <= MAX_NEAREST_NUMBERS / 2 { NEAREST_TILE } else { NEAREST_TILE / 2 }
    }

    /// Stages of centres, and whether rows are copied ahead.
    fn nearest_stages(&self) -> (usize, bool) {
        let has_room = self.nearest_columns()[1] <= MAX_NEAREST_NUMBERS / 2;
        match self.step {
            KMeansStep::Nearest { is_vector, is_warpgroup: true } => (3, is_vector && has_room),
            _ => (2, false),
        }
    }

    /// Rows of a block of [`KMeansStep::Nearest`].
    fn nearest_rows(&self) -> usize {
        let has_room = !self.is_warpgroup() && self.nearest_columns()[1] <= MAX_NEAREST_NUMBERS / 2;
        self.block()[0] as usize / 2 * if has_room { 2 } else { 1 }
    }

    pub(crate) fn nearest_bytes(&self) -> usize {
        let (stages, has_ahead) = self.nearest_stages();
        let rows = if has_ahead { self.nearest_rows() * self.dimensions * self.dtype.itemsize() } else { 0 };
        stages * self.nearest_tile() * (2 * self.nearest_columns()[1] + 4) + rows
    }

    /// Blocks for so many rows: of warpgroups as many as are resident, which stay.
    pub(crate) fn nearest_blocks(&self, n: usize, multiprocessors: usize) -> usize {
        let tiles = n.div_ceil(self.nearest_rows());
        if self.is_warpgroup() { tiles.min(self.block()[1] as usize * multiprocessors.max(1)) } else { tiles }
    }

    fn nearest_definitions(&self) -> String {
        let ([vector, parts], [width, _]) = (self.nearest_format(), self.nearest_columns());
        let (is_vector, is_warpgroup) = match self.step {
            KMeansStep::Nearest { is_vector, is_warpgroup } => (is_vector, is_warpgroup),
            _ => (false, false),
        };
        let (tile, (stages, has_ahead), [_, blocks]) = (self.nearest_tile(), self.nearest_stages(), self.block());
        let mut text = format!(
            "#define PARTS {parts}\n#define FORMAT \"{}\"\n#define IS_VECTOR {}\n#define IS_WARPGROUP {}\n\
             #define HAS_AHEAD {}\n\
             enum {{ VECTOR = {vector}, WIDTH = {width}, TILE = {tile}, STAGES = {stages}, BLOCKS_PER_SM = {blocks} }};\n",
            if parts == 1 { "f16" } else { "bf16" },
            i32::from(is_vector),
            i32::from(is_warpgroup),
            i32::from(has_ahead),
        );
        if is_warpgroup {
            // A thread has half as many sums as a tile has centres.
            let list =
                |item: &dyn Fn(usize) -> String, n: std::ops::Range<usize>| n.map(item).collect::<Vec<_>>().join(", ");
            let (operand, n) = (|i| format!("%{i}"), tile / 2);
            let sum = |i| format!("\"+f\"(sum[{}][{}])", i / 4, i % 4);
            let _ = writeln!(
                text,
                "#define COLUMNS_TEXT \"{tile}\"\n#define SUM_NAMES \"{}\"\n#define SUM_OPERANDS {}\n\
                 #define INPUTS \"{}\"\n#define MATRICES \"%{}\"\n#define IS_ADDED \"%{}\"",
                list(&operand, 0..n),
                list(&sum, 0..n),
                list(&operand, n..n + 4),
                n + 4,
                n + 5
            );
        }
        text
    }
}

impl KernelSpec for KMeansSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        match self.step {
            KMeansStep::Nearest { .. } => "kmeans_nearest",
            KMeansStep::Assign => "kmeans_assign",
            KMeansStep::Recheck => "kmeans_recheck",
            KMeansStep::Spread => "kmeans_spread",
            KMeansStep::Labels => "kmeans_labels",
            KMeansStep::Centers { .. } => "kmeans_centers",
            KMeansStep::Distances { .. } => "kmeans_distances",
            KMeansStep::Relocate => "kmeans_relocate",
        }
        .into()
    }

    fn source(&self) -> String {
        let mut text = include_str!("types.cuh").to_owned();
        let is_double = self.dtype == DType::F64;
        let computed = if is_double { "double" } else { "float" };
        let is_nearest = matches!(self.step, KMeansStep::Nearest { .. });
        let is_tensor = is_nearest || matches!(self.step, KMeansStep::Centers { is_tensor: true, .. });
        let operand = match self.dtype {
            DType::F16 => "rt_half",
            _ if is_tensor => "rt_bfloat",
            _ => computed,
        };
        let out = if self.step == (KMeansStep::Distances { is_double: true }) { "double" } else { computed };
        let (lanes, [threads, _]) = (self.dimensions.next_power_of_two().min(32), self.block());
        let _ = writeln!(
            text,
            "typedef unsigned long long u64; typedef {} P; typedef {computed} A; typedef {operand} OPERAND; typedef {out} OUT;\n\
             enum {{ D = {}, THREADS = {threads}, LANES = {lanes} }};\n\
             #define RT_INFINITY A(__int_as_float(0x7f800000))\n#define OPERAND_IS_HALF {}\n#define HAS_SUMS {}\n\
             #define IS_TENSOR {}",
            stored_type(self.dtype),
            self.dimensions,
            i32::from(self.dtype == DType::F16),
            i32::from(matches!(self.step, KMeansStep::Centers { has_sums: true, .. })),
            i32::from(is_tensor),
        );
        text.push_str(
            "__device__ __forceinline__ rt_half rt_round(float x) { rt_half y; asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(y.bits) : \"f\"(x)); return y; }\n",
        );
        if is_tensor {
            text.push_str(&self.nearest_definitions());
            text.push_str(
                "__device__ __forceinline__ rt_bfloat rt_round_bfloat(float x) { rt_bfloat y; asm(\"cvt.rn.bf16.f32 %0, %1;\" : \"=h\"(y.bits) : \"f\"(x)); return y; }\n",
            );
        }
        if is_nearest {
            text.push_str(include_str!("kmeans_nearest.cuh"));
            return text;
        }
        for (name, is_step) in [
            ("ASSIGN", self.step == KMeansStep::Assign),
            ("SPREAD", self.step == KMeansStep::Spread),
            ("RECHECK", self.step == KMeansStep::Recheck),
            ("LABELS", self.step == KMeansStep::Labels),
            ("CENTERS", matches!(self.step, KMeansStep::Centers { .. })),
            ("DISTANCES", matches!(self.step, KMeansStep::Distances { .. })),
            ("RELOCATE", self.step == KMeansStep::Relocate),
        ] {
            let _ = writeln!(text, "#define STEP_{name} {}", i32::from(is_step));
        }
        text.push_str(include_str!("kmeans.cuh"));
        text
    }
}

/// The first elements of rows in order. Parameters: values, indices, rows, their number and length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TopkSpec {
    pub(crate) dtype: DType,
    pub(crate) k: u32,
    pub(crate) is_largest: bool,
}

impl KernelSpec for TopkSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        "neighbors_topk".into()
    }

    fn source(&self) -> String {
        let mut text = include_str!("types.cuh").to_owned();
        let (t, compared) = match self.dtype {
            DType::F16 => ("rt_half", "float"),
            DType::BF16 => ("rt_bfloat", "float"),
            dtype => (dtype.c_type(), dtype.c_type()),
        };
        // NaN is larger than every number.
        let before = match self.is_largest {
            true => "((a) > (b) || ((a) != (a) && (b) == (b)))",
            false => "((a) < (b) || ((a) == (a) && (b) != (b)))",
        };
        let load = if t == compared { "(x)" } else { "rt_load(&(x))" };
        let _ = writeln!(
            text,
            "typedef {t} T;\ntypedef {compared} C;\n#define BEFORE(a, b) {before}\n#define rt_to_compared(x) {load}\n\
             enum {{ K = {}, THREADS = {THREADS} }};",
            self.k
        );
        text.push_str(include_str!("topk.cuh"));
        text
    }
}
