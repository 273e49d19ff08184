//! The launches of a search: lists by the scan, selection of the nearest, and a repeat in float64 for queries that need
//! it.

use crate::Metric;
use crate::kernels::{
    DistanceSpec, MAX_BATCH_NEIGHBORS, MAX_BATCH_NUMBERS, MAX_BATCH_QUERIES, MAX_LISTS, MAX_THREAD_DIMENSIONS,
    MAX_UNROLLED_LIST, MergeSpec, ScanSpec, SmallBatch,
};
use crate::vectors::{Fp16Points, Vectors};
use rtcg_array::{GpuArray, Index, Order, array_args, push_arrays, push_optional};
use rtcg_hal::{ArrayContext, DType, LaunchArgs, Result};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// The maximum number of neighbours per query.
pub const MAX_NEIGHBORS: usize = 1024;
/// Bytes of lists, beyond which queries are searched in parts.
pub(crate) const MAX_LIST_BYTES: usize = 1 << 28;
/// Queries from which threads of the kernel for few dimensions have two each.
const MIN_SHARED_QUERIES: usize = 4096;
/// Points for which a slice of them is worth lists of its own, and as many for each place of a list.
const MIN_SLICE_POINTS: usize = 1024;
const MIN_SLICE_POINTS_OF_PLACE: usize = 64;

/// The nearest points of each query, in rows: nearest first, and for equal distances the lower index first.
#[derive(Debug, Clone)]
pub struct Neighbors {
    /// Shape (queries, k); float64 if points are, otherwise float32.
    pub distances: GpuArray,
    /// Shape (queries, k), int64.
    pub indices: GpuArray,
    /// The bytes of indices, then those of distances.
    block: GpuArray,
}

impl Neighbors {
    pub(crate) fn empty(ctx: &Arc<ArrayContext>, shape: [usize; 2], distance: DType) -> Result<Self> {
        let of_indices = shape[0] * shape[1] * 8;
        let nbytes = of_indices + shape[0] * shape[1] * distance.itemsize();
        let block = GpuArray::empty(ctx, &[nbytes], DType::U8, Order::C)?;
        let part = |first: usize, end: usize, dtype| {
            let bytes = block.index(&[Index::Slice(Some(first as isize), Some(end as isize), None)])?;
            bytes.view_as(dtype)?.reshape(&shape.map(|n| n as isize), Order::C)
        };
        let (indices, distances) = (part(0, of_indices, DType::I64)?, part(of_indices, nbytes, distance)?);
        Ok(Self { distances, indices, block })
    }

    /// Some of the rows, as views.
    pub(crate) fn rows(&self, rows: &Range<usize>) -> Result<Self> {
        let rows = [Index::Slice(Some(rows.start as isize), Some(rows.end as isize), None)];
        Ok(Self { distances: self.distances.index(&rows)?, indices: self.indices.index(&rows)?, ..self.clone() })
    }

    /// Copies all bytes to the host at once. Waits.
    pub(crate) fn read(&self) -> Result<Vec<u8>> {
        let mut bytes = vec![0; self.block.nbytes()];
        self.block.read(&mut bytes, Order::C)?;
        Ok(bytes)
    }

    /// Some rows of what was read.
    pub(crate) fn host_rows(&self, bytes: &[u8], rows: &Range<usize>) -> HostNeighbors {
        let k = self.indices.shape()[1];
        let part =
            |first: usize, itemsize: usize| &bytes[first + rows.start * k * itemsize..first + rows.end * k * itemsize];
        let of_indices = self.indices.nbytes();
        let indices = part(0, 8).as_chunks().0.iter().map(|&x| i64::from_ne_bytes(x)).collect();
        let distances = match self.distances.dtype() {
            DType::F64 => part(of_indices, 8).as_chunks().0.iter().map(|&x| f64::from_ne_bytes(x)).collect(),
            _ => part(of_indices, 4).as_chunks().0.iter().map(|&x| f32::from_ne_bytes(x).into()).collect(),
        };
        HostNeighbors { distances, indices }
    }
}

/// The nearest points of each query on the host, in rows, nearest first.
#[derive(Debug, Clone, PartialEq)]
pub struct HostNeighbors {
    /// Distances, rounded once to float32 unless points are float64.
    pub distances: Vec<f64>,
    /// The indices of these points.
    pub indices: Vec<i64>,
}

/// Queries among points of as many dimensions.
#[derive(Clone, Copy)]
pub(crate) struct Search<'a> {
    pub(crate) points: &'a Vectors,
    pub(crate) queries: &'a Vectors,
    pub(crate) metric: Metric,
    /// Whether candidates are found by tensor cores.
    pub(crate) is_tensor: bool,
    /// Points as a filter multiplies them, once a search has needed them, and from how many queries on one rounds points of
    /// float32.
    pub(crate) fp16_points: &'a OnceLock<Fp16Points>,
    pub(crate) min_rounding_queries: usize,
}

/// Queries that are looked at: a part of all, or those of a list on the device.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    pub(crate) first: usize,
    pub(crate) count: usize,
    pub(crate) selected: Option<(&'a GpuArray, &'a GpuArray)>,
}

/// How a scan is divided among blocks.
#[derive(Clone, Copy)]
struct Division {
    blocks: u32,
    most_slices: u32,
    /// Queries of a block, and lists of each.
    side: u32,
    lanes: u32,
}

impl Search<'_> {
    pub(crate) fn ctx(&self) -> &Arc<ArrayContext> {
        self.points.array.context()
    }

    /// Of a scan with lists of a length, or of one that counts (0).
    pub(crate) fn distance(&self, is_exact: bool, length: u32) -> DistanceSpec {
        let (query, point) = (self.queries.array.dtype(), self.points.array.dtype());
        let is_exact = is_exact || point == DType::F64;
        let is_simd_cpu = self.ctx().device_info().is_simd_cpu();
        let (metric, dimensions) = (self.metric, self.points.dimensions());
        let is_tensor = self.is_tensor && !is_exact;
        let is_listed = length > if is_tensor { 0 } else { MAX_UNROLLED_LIST };
        // Points of one or two numbers cost less to read than a second query's registers.
        let is_per_thread = (3..=MAX_THREAD_DIMENSIONS).contains(&dimensions);
        let is_shared = !is_exact && is_per_thread && self.queries.count() >= MIN_SHARED_QUERIES;
        let queries_of_thread = if is_shared { 2 } else { 1 };
        DistanceSpec {
            query,
            point,
            metric,
            dimensions,
            is_exact,
            is_tensor,
            is_listed,
            is_simd_cpu,
            queries_of_thread,
        }
    }

    fn division(&self, distance: &DistanceSpec, batch: Option<SmallBatch>, queries: usize, length: u32) -> Division {
        let device_info = self.ctx().device_info();
        // Several times as many as run at once, so that none waits long for the last.
        let most = if device_info.is_simd_cpu() { 1 } else { 4 } * device_info.resident_blocks();
        let (side, lanes) =
            if batch.is_some() { (MAX_BATCH_QUERIES as u32, 1) } else { (distance.side(), distance.lanes()) };
        let least = MIN_SLICE_POINTS.max(MIN_SLICE_POINTS_OF_PLACE * length as usize);
        let slices = self.points.count().div_ceil(least).min((MAX_LISTS / lanes) as usize);
        let query_blocks = queries.div_ceil(side as usize);
        let blocks = most.min(query_blocks * slices).max(query_blocks);
        Division { blocks: blocks as u32, most_slices: slices as u32, side, lanes }
    }

    /// The distances of the kernel that reads points once, which has short lists of its own.
    fn batch_distance(distance: &DistanceSpec) -> DistanceSpec {
        DistanceSpec { is_listed: false, is_tensor: false, ..*distance }
    }

    /// The kernel that reads points once, where there are so few queries that nothing else counts.
    fn small_batch(&self, distance: &DistanceSpec, part: &Part<'_>, length: u32) -> Option<SmallBatch> {
        let (queries, dimensions) = (part.count.next_power_of_two(), distance.dimensions);
        let fits =
            queries <= MAX_BATCH_QUERIES && queries * dimensions <= MAX_BATCH_NUMBERS && length <= MAX_BATCH_NEIGHBORS;
        let is_other = Self::batch_distance(distance).is_per_thread() || distance.is_exact || part.selected.is_some();
        let points = &self.points.array;
        let is_vectorizable =
            (dimensions * points.itemsize()).is_multiple_of(16) && points.first_element_address().is_multiple_of(16);
        (fits && !is_other).then_some(SmallBatch { queries: queries as u32, is_vectorizable })
    }

    /// Writes the `k` nearest points of all queries.
    pub(crate) fn nearest(&self, found: &Neighbors, k: usize) -> Result<()> {
        let (distance, length) = self.listed_distance(k);
        let list_bytes = distance.lanes() as usize * length as usize * 12;
        let side = distance.side() as usize;
        let most = (MAX_LIST_BYTES / list_bytes / side).max(1) * side;
        for first in (0..self.queries.count()).step_by(most) {
            let part = Part { first, count: most.min(self.queries.count() - first), selected: None };
            self.nearest_of_part(found, &part, k)?;
        }
        Ok(())
    }

    /// Of a scan for `k` neighbours, and the length of its lists: candidates beyond those that are kept make it unlikely
    /// that rounding hides a nearer one.
    fn listed_distance(&self, k: usize) -> (DistanceSpec, u32) {
        let is_exact = self.points.array.dtype() == DType::F64;
        let length = if is_exact { k } else { k + 4 + k / 8 } as u32;
        (self.distance(is_exact, length), length)
    }

    pub(crate) fn nearest_of_part(&self, found: &Neighbors, part: &Part<'_>, k: usize) -> Result<()> {
        let ((distance, length), k) = (self.listed_distance(k), k as u32);
        let noted = GpuArray::empty(self.ctx(), &[part.count], DType::U32, Order::C)?;
        let noted_count = GpuArray::zeros(self.ctx(), &[1], DType::U32, Order::C)?;
        self.scan_and_merge(found, &distance, part, (length, k), (&noted, &noted_count))?;
        if distance.is_exact {
            return Ok(());
        }
        let again = Part { selected: Some((&noted, &noted_count)), ..*part };
        self.scan_and_merge(found, &self.distance(true, k), &again, (k, k), (&noted, &noted_count))
    }

    fn scan_and_merge(
        &self,
        found: &Neighbors,
        distance: &DistanceSpec,
        part: &Part<'_>,
        (length, k): (u32, u32),
        noted: (&GpuArray, &GpuArray),
    ) -> Result<()> {
        let small_batch = self.small_batch(distance, part, length);
        let distance = &if small_batch.is_some() { Self::batch_distance(distance) } else { *distance };
        let division = self.division(distance, small_batch, part.count, length);
        let lists = division.side as usize * division.lanes as usize * division.blocks as usize;
        let item = if distance.is_exact { DType::F64 } else { DType::F32 };
        let values = GpuArray::empty(self.ctx(), &[lists * length as usize], item, Order::C)?;
        let indices = GpuArray::empty(self.ctx(), &[lists * length as usize], DType::U32, Order::C)?;
        let mut args = array_args(&[&values, &indices])?;
        self.push_search(&mut args, part)?;
        self.launch_scan(args, ScanSpec { distance: *distance, k: length, small_batch }, division, 0.0)?;

        let spec = MergeSpec { distance: *distance, k: length, kept: k, out: found.distances.dtype() };
        let mut args = LaunchArgs::new();
        self.push_found(&mut args, found, part, k as usize)?;
        push_arrays(&mut args, &[&values, &indices])?;
        self.push_search(&mut args, part)?;
        [division.lanes, division.side, division.blocks, division.most_slices].iter().for_each(|&n| args.push_u32(n));
        push_arrays(&mut args, &[noted.0, noted.1])?;
        let threads = spec.threads();
        let blocks = self.ctx().device_info().grid_block_count(part.count * 32);
        self.ctx().launch(&spec, blocks, threads, &args)
    }

    /// How many points are at most `radius` from each query, uint32.
    pub(crate) fn count_within(&self, radius: f64) -> Result<GpuArray> {
        let count = self.queries.count();
        let counts = GpuArray::zeros(self.ctx(), &[count], DType::U32, Order::C)?;
        if count == 0 {
            return Ok(counts);
        }
        let distance = self.distance(false, 0);
        // As distances are compared.
        let radius = if self.metric == Metric::L2 { radius * radius } else { radius };
        let mut args = LaunchArgs::new();
        push_optional(&mut args, None)?;
        push_arrays(&mut args, &[&counts])?;
        self.push_search(&mut args, &Part { first: 0, count, selected: None })?;
        let division = self.division(&distance, None, count, 0);
        self.launch_scan(args, ScanSpec { distance, k: 0, small_batch: None }, division, radius)?;
        Ok(counts)
    }

    fn launch_scan(&self, mut args: LaunchArgs, spec: ScanSpec, division: Division, radius: f64) -> Result<()> {
        args.push_u32(division.most_slices);
        args.push_u64(radius.to_bits());
        self.ctx().launch(&spec, division.blocks, spec.threads(), &args)
    }

    /// Appends where the results of a part are.
    pub(crate) fn push_found(&self, args: &mut LaunchArgs, found: &Neighbors, part: &Part<'_>, k: usize) -> Result<()> {
        for array in [&found.distances, &found.indices] {
            array.check_memory()?;
            args.push_address(array.first_element_address(), part.first * k * array.itemsize());
        }
        Ok(())
    }

    /// Appends what kernels know of a search: vectors, norms, numbers, selected queries.
    pub(crate) fn push_search(&self, args: &mut LaunchArgs, part: &Part<'_>) -> Result<()> {
        let queries = &self.queries.array;
        queries.check_memory()?;
        let first_vector = part.first * self.queries.dimensions() * queries.itemsize();
        args.push_address(queries.first_element_address(), first_vector);
        push_arrays(args, &[&self.points.array])?;
        args.push_address(self.queries.norms.first_element_address(), part.first * 8);
        push_arrays(args, &[&self.points.norms, &self.points.state])?;
        [part.count, self.points.count()].iter().for_each(|&n| args.push_u32(n as u32));
        match part.selected {
            Some((selected, count)) => push_arrays(args, &[selected, count]),
            None => (0..2).try_for_each(|_| push_optional(args, None)),
        }
    }
}
