//! Searches that read points once, whatever the number of queries: a sample of the points bounds the distances, and the
//! points within the bounds are ranked. Needs tensor cores, and points of float16, or of float32 that are rounded to
//! it.
//!
//! The k-th smallest distance in any set of points bounds the distances of the k nearest ones, once rounding errors are
//! added, so results are exact without a second look at other points. A hash selects the sample; it then lets through
//! about as many points per neighbour as there are points per sampled point, however points are distributed. Only equal
//! distances, and those that float16 does not distinguish, can overflow the lists; such queries are searched again.

use crate::Metric;
use crate::kernels::{
    FILTER_CAPACITY, FILTER_GROUP, FILTER_STATIC_BYTES, FILTER_TILE, FilterSpec, MAX_FILTER_DIMENSIONS, SelectSpec,
    THREADS,
};
use crate::search::{MAX_LIST_BYTES, Neighbors, Part, Search};
use crate::vectors::{Fp16Points, Fp16Queries};
use rtcg_array::{GpuArray, Order, array_args, push_arrays};
use rtcg_hal::{DType, LaunchArgs, Result};

/// Neighbours that lists have room for, several times over.
const MAX_FILTER_NEIGHBORS: usize = 128;
/// The most points that pass the filter, about.
const TARGET_CANDIDATES: usize = 1024;
/// Products for which a point that passes takes as long; estimated from counts of instructions, not measured.
const PRODUCTS_OF_CANDIDATE: usize = 1024;
/// The most points for one of the sample, which costs that share of the time.
const MAX_STRIDE: usize = 64;
/// Tiles of the sample for each neighbour: each has one distance.
const SAMPLE_TILES_OF_NEIGHBOR: usize = 4;
/// Groups of queries that a block has at most.
const MAX_GROUPS: usize = 64;
/// Queries of a part, whose lists are held; cores of a processor need no long parts.
const PART_QUERIES: usize = 16384;
const SIMD_CPU_PART_QUERIES: usize = 512;

/// How points are sampled, and queries divided.
#[derive(Clone, Copy)]
pub(crate) struct Filter<'a> {
    points: &'a Fp16Points,
    stride: usize,
    /// Groups of queries that a block has room for.
    groups: usize,
}

impl Search<'_> {
    /// How to search by a filter, where that is possible and there are enough points for a sample. The first search of
    /// many queries among points of float32 rounds them.
    pub(crate) fn filter(&self, k: usize) -> Result<Option<Filter<'_>>> {
        let (points, count) = (&self.points.array, self.points.count());
        let is_half = points.dtype() == DType::F16;
        let dimensions = self.points.dimensions().next_multiple_of(if is_half { 1 } else { 8 });
        // Where a larger sample takes as long as the points that pass by a smaller one.
        let stride = (count / (PRODUCTS_OF_CANDIDATE * k)).isqrt().min(TARGET_CANDIDATES / k).clamp(4, MAX_STRIDE);
        let stride = stride.min(count / (SAMPLE_TILES_OF_NEIGHBOR * FILTER_TILE * k));
        let shared_bytes = (self.ctx().device_info().shared_bytes as usize).saturating_sub(FILTER_STATIC_BYTES);
        let groups = (shared_bytes / FilterSpec::group_bytes(dimensions)).min(MAX_GROUPS) / 4 * 4;
        let is_possible = self.is_tensor
            && k <= MAX_FILTER_NEIGHBORS
            && dimensions <= MAX_FILTER_DIMENSIONS
            && dimensions.is_multiple_of(8)
            && (!is_half || points.first_element_address().is_multiple_of(16))
            && stride >= 4
            && groups >= 4;
        if !(is_possible && self.pays_for_rounding()) {
            return Ok(None);
        }
        Ok(Some(Filter { points: self.fp16_points()?, stride, groups }))
    }

    /// Writes the `k` nearest points of all queries, which are checked meanwhile. Waits.
    pub(crate) fn nearest_by_filter(&self, found: &Neighbors, k: usize, filter: Filter<'_>) -> Result<()> {
        let listed = self.sample_tiles(filter).max(FILTER_CAPACITY);
        let is_simd_cpu = self.ctx().device_info().is_simd_cpu();
        let part_queries = if is_simd_cpu { SIMD_CPU_PART_QUERIES } else { PART_QUERIES };
        let step = (MAX_LIST_BYTES / (8 * listed)).clamp(1, part_queries);
        let most = step.min(self.queries.count());
        let noted = GpuArray::empty(self.ctx(), &[most], DType::U32, Order::C)?;
        let noted_count = self.queries.noted_count()?;
        for first in (0..self.queries.count()).step_by(step) {
            let part = Part { first, count: most.min(self.queries.count() - first), selected: None };
            self.filter_part(found, &part, k, filter, (&noted, &noted_count))?;
            // Of several parts none is waited for: where no query is noted, kernels have nothing to do.
            if most < self.queries.count() || self.queries.check_finite("queries")? > 0 {
                let again = Part { selected: Some((&noted, &noted_count)), ..part };
                self.nearest_of_part(found, &again, k)?;
            }
        }
        self.queries.check_finite("queries").map(|_| ())
    }

    fn sample_tiles(&self, filter: Filter<'_>) -> usize {
        (self.points.count() / filter.stride).div_ceil(FILTER_TILE)
    }

    fn filter_part(
        &self,
        found: &Neighbors,
        part: &Part<'_>,
        k: usize,
        filter: Filter<'_>,
        (noted, noted_count): (&GpuArray, &GpuArray),
    ) -> Result<()> {
        let scanned = &self.fp16_queries(filter.points, part)?;
        let (ctx, queries, tiles) = (self.ctx(), part.count, self.sample_tiles(filter));
        let empty = |count, dtype| GpuArray::empty(ctx, &[count], dtype, Order::C);
        // Distances of the sample are overwritten by lists.
        let values = empty(queries * tiles.max(FILTER_CAPACITY), DType::F32)?;
        let indices = empty(queries * FILTER_CAPACITY, DType::U32)?;
        let (limits, counts) = (empty(queries, DType::F32)?, empty(queries, DType::U32)?);
        let lists = [&values, &indices, &counts, &limits, noted_count];
        let distance = self.distance(false, k as u32);
        let select = SelectSpec { distance, kept: k as u32, is_limit: true, out: found.distances.dtype() };
        let selecting = |spec: &SelectSpec, mut args: LaunchArgs| {
            self.push_search(&mut args, part)?;
            let blocks = queries.min(ctx.device_info().max_blocks as usize) as u32;
            ctx.launch(spec, blocks, THREADS, &args)
        };

        self.launch_filter(scanned, filter, lists, true)?;
        let mut args = array_args(&[&limits, &counts, &values])?;
        // Tiles of the sample within limits, beyond which lists would be more than half full.
        let most = (FILTER_CAPACITY / 2 / filter.stride).max(2 * k);
        [tiles, most].iter().for_each(|&n| args.push_u32(n as u32));
        push_arrays(&mut args, &[&scanned.lengths])?;
        selecting(&select, args)?;

        self.launch_filter(scanned, filter, lists, false)?;
        let mut args = LaunchArgs::new();
        self.push_found(&mut args, found, part, k)?;
        push_arrays(&mut args, &[noted, noted_count, &values, &indices, &counts])?;
        push_arrays(&mut args, &[&scanned.lengths, &filter.points.upper, &filter.points.lower])?;
        selecting(&SelectSpec { is_limit: false, ..select }, args)
    }

    /// Launches the filter for the sample or for all points. Lists are values, indices, counts and limits; the last array
    /// has the number of noted queries.
    fn launch_filter(
        &self,
        scanned: &Fp16Queries,
        filter: Filter<'_>,
        lists: [&GpuArray; 5],
        is_sample: bool,
    ) -> Result<()> {
        let is_weighted = self.metric == Metric::Cosine && self.points.array.dtype() == DType::F16;
        let metric = if is_weighted { Metric::Cosine } else { Metric::SquaredL2 };
        let search = Search { points: &filter.points.vectors, queries: &scanned.vectors, metric, ..*self };
        let (ctx, queries, points) = (self.ctx(), search.queries.count(), search.points);
        let rows = points.count() / if is_sample { filter.stride } else { 1 };
        let all_groups = queries.div_ceil(FILTER_GROUP);
        let parts = all_groups.div_ceil(filter.groups);
        let columns = all_groups.next_power_of_two().min(4);
        let groups = all_groups.div_ceil(parts).next_multiple_of(columns);
        let mut args = array_args(&lists)?;
        let initial_sums = if is_sample || is_weighted { &filter.points.upper } else { &filter.points.lower };
        push_arrays(&mut args, &[initial_sums])?;
        search.push_search(&mut args, &Part { first: 0, count: queries, selected: None })?;
        [rows, filter.stride, groups].iter().for_each(|&n| args.push_u32(n as u32));
        let spec = FilterSpec { distance: search.distance(false, 0), columns: columns as u32, is_sample };
        let warps = THREADS as usize / 32;
        let most = rows.div_ceil(FILTER_TILE).div_ceil(warps) as u32;
        // A multiprocessor has two blocks, where dimensions are not many.
        let blocks = ctx.device_info().multiprocessors << u32::from(points.dimensions() <= 64 && parts == 1);
        let grid = [blocks.clamp(1, most.max(1)), parts as u32, 1];
        let bytes = groups * FilterSpec::group_bytes(points.dimensions());
        ctx.launch_grid(&spec, grid, [THREADS, 1, 1], bytes as u32, &args)
    }
}
