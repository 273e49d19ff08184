//! Searches that read points once, whatever the number of queries: a sample of the points has limits of distances, and
//! what is within them is ranked. Needs tensor cores and points of float16, or of float32 that are rounded to float16.
//!
//! The k-th smallest distance of any points is a limit that the k nearest are within, once rounding errors are added; so
//! results are exact without a second look at other points. A sample that is chosen by a hash lets about as many points
//! through for each neighbour as it has points left out, however points are distributed. Only equal distances, and those that
//! float16 does not tell apart, can be more than lists have room for: such queries are searched again.

use crate::kernels::{
    FILTER_GROUP, FILTER_STATIC_BYTES, FILTER_TILE, FilterSpec, MAX_FILTER_DIMENSIONS, SelectSpec, THREADS,
    list_capacity,
};
use crate::rounded::{RoundedPoints, RoundedQueries};
use crate::search::{MAX_LIST_BYTES, Neighbors, Part, Search};
use crate::{GpuArray, Metric, Result};
use rtcg_array::{DType, Order, PackedKernelArgs, push_arrays};

/// Neighbours that lists have room for, several times over.
const MAX_FILTER_NEIGHBORS: usize = 128;
/// Points let through, about, where there are few neighbours.
const TARGET_CANDIDATES: usize = 1024;
/// Products for which a point that is let through takes as long; estimated from counts of instructions, not measured.
const PRODUCTS_OF_CANDIDATE: usize = 1024;
/// The most points for one of the sample, which costs that share of the time.
const MAX_STRIDE: usize = 64;
/// Tiles of the sample for each neighbour: each has one distance.
const SAMPLE_TILES_OF_NEIGHBOR: usize = 4;
/// Groups of queries that a block has at most; queries of a part, whose lists are held.
const MAX_GROUPS: usize = 32;
const PART_QUERIES: usize = 1024;
/// The same for rounded points, whose queries take half the memory; blocks of a processor's cores need no long parts.
const MAX_ROUNDED_GROUPS: usize = 64;
const ROUNDED_PART_QUERIES: usize = 16384;
const SIMD_CPU_PART_QUERIES: usize = 512;

/// Queries up to which reading points takes longer than products of both parts of queries.
const SPLIT_QUERIES: usize = 32;

/// How points are sampled, and queries divided.
#[derive(Clone, Copy)]
pub(crate) struct Filter<'a> {
    points: FilteredPoints<'a>,
    stride: usize,
    /// Groups of queries that a block has room for.
    groups: usize,
}

/// Points as they are, with squared lengths in float32, or rounded ones.
#[derive(Clone, Copy)]
enum FilteredPoints<'a> {
    Exact(&'a GpuArray),
    Rounded(&'a RoundedPoints),
}

impl Filter<'_> {
    fn is_rounded(&self) -> bool {
        matches!(self.points, FilteredPoints::Rounded(_))
    }
}

impl Search<'_> {
    /// How to search by a filter, where that is possible and there are enough points for a sample. The first search of
    /// many queries among points of float32 rounds them.
    pub(crate) fn filter(&self, k: usize) -> Result<Option<Filter<'_>>> {
        let (points, count) = (&self.points.array, self.points.count());
        let is_rounded = points.dtype() == DType::F32;
        let dimensions = self.points.dimensions().next_multiple_of(if is_rounded { 8 } else { 1 });
        let stride = if is_rounded {
            // Where a larger sample takes as long as the points that a smaller one lets through.
            (count / (PRODUCTS_OF_CANDIDATE * k)).isqrt()
        } else {
            TARGET_CANDIDATES / k
        };
        let stride = stride.clamp(4, MAX_STRIDE).min(count / (SAMPLE_TILES_OF_NEIGHBOR * FILTER_TILE * k));
        let shared_bytes = (self.ctx().device_info().shared_bytes as usize).saturating_sub(FILTER_STATIC_BYTES);
        let most = if is_rounded { MAX_ROUNDED_GROUPS } else { MAX_GROUPS };
        let groups = (shared_bytes / FilterSpec::group_bytes(dimensions, is_rounded)).min(most) / 4 * 4;
        let is_vectorizable =
            dimensions.is_multiple_of(8) && points.first_element_address().is_multiple_of(16) || is_rounded;
        let is_possible = self.is_tensor
            && k <= MAX_FILTER_NEIGHBORS
            && dimensions <= MAX_FILTER_DIMENSIONS
            && is_vectorizable
            && stride >= 4
            && groups >= 4;
        let points = match self.points.short_norms() {
            _ if !is_possible => return Ok(None),
            Some(norms) => FilteredPoints::Exact(norms),
            None if is_rounded && self.pays_for_rounding() => FilteredPoints::Rounded(self.rounded_points()?),
            None => return Ok(None),
        };
        Ok(Some(Filter { points, stride, groups }))
    }

    /// Writes the `k` nearest points of all queries, which are checked meanwhile. Waits.
    pub(crate) fn nearest_by_filter(&self, found: &Neighbors, k: usize, filter: Filter<'_>) -> Result<()> {
        let listed = self.sample_tiles(filter).max(list_capacity(filter.is_rounded()));
        let part_queries = match filter.points {
            FilteredPoints::Exact(_) => PART_QUERIES,
            FilteredPoints::Rounded(_) if self.ctx().device_info().is_simd_cpu() => SIMD_CPU_PART_QUERIES,
            FilteredPoints::Rounded(_) => ROUNDED_PART_QUERIES,
        };
        let step = (MAX_LIST_BYTES / (4 * listed)).clamp(1, part_queries);
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
        noted: (&GpuArray, &GpuArray),
    ) -> Result<()> {
        match filter.points {
            FilteredPoints::Exact(norms) => {
                let scanned = Scanned { search: *self, part: *part, norms: [norms; 2], lengths: norms };
                self.filter_scanned(found, part, k, filter, &scanned, noted)
            }
            FilteredPoints::Rounded(points) => {
                let RoundedQueries { vectors, lengths } = &self.rounded_queries(points, part)?;
                let search = Search { points: &points.vectors, queries: vectors, metric: Metric::SquaredL2, ..*self };
                let norms = [&points.upper, &points.lower];
                let scanned = Scanned { search, part: Part { first: 0, ..*part }, norms, lengths };
                self.filter_scanned(found, part, k, filter, &scanned, noted)
            }
        }
    }

    fn filter_scanned(
        &self,
        found: &Neighbors,
        part: &Part<'_>,
        k: usize,
        filter: Filter<'_>,
        scanned: &Scanned<'_>,
        (noted, noted_count): (&GpuArray, &GpuArray),
    ) -> Result<()> {
        let (ctx, queries, tiles) = (self.ctx(), part.count, self.sample_tiles(filter));
        let empty = |count, dtype| GpuArray::empty(ctx, &[count], dtype, Order::C);
        let capacity = list_capacity(filter.is_rounded());
        // Distances of the sample are overwritten by lists.
        let values = empty(queries * tiles.max(capacity), DType::F32)?;
        let indices = empty(queries * capacity, DType::U32)?;
        let (limits, counts) = (empty(4 * queries, DType::F32)?, empty(queries, DType::U32)?);
        let lists = [&values, &indices, &counts, &limits, noted_count];
        let distance = self.distance(false, k as u32);
        let select = SelectSpec { distance, kept: k as u32, is_limit: true, out: found.distances.dtype() };
        let selecting = |spec: &SelectSpec, mut args: PackedKernelArgs| {
            self.push_search(&mut args, part)?;
            let blocks = queries.min(ctx.device_info().max_blocks as usize) as u32;
            ctx.compiled_kernel(spec)?.launch([blocks, 1, 1], [THREADS, 1, 1], 0, args.packed_bytes())
        };

        scanned.launch(filter, lists, true)?;
        let mut args = PackedKernelArgs::new();
        push_arrays(&mut args, &[&limits, &counts, noted_count, &values])?;
        // Tiles of the sample within limits, beyond which lists would be more than a quarter full, or half of those of
        // rounded points.
        let share = if filter.is_rounded() { 2 } else { 4 };
        let most = (capacity / share / filter.stride).max(2 * k);
        [tiles, most, filter.stride].iter().for_each(|&n| args.push_u32(n as u32));
        push_arrays(&mut args, &[scanned.lengths])?;
        selecting(&select, args)?;

        scanned.launch(filter, lists, false)?;
        let mut args = PackedKernelArgs::new();
        self.push_found(&mut args, found, part, k)?;
        push_arrays(&mut args, &[noted, noted_count, &values, &indices, &counts, &limits])?;
        push_arrays(&mut args, &[scanned.lengths, scanned.norms[0], scanned.norms[1]])?;
        selecting(&SelectSpec { is_limit: false, ..select }, args)
    }
}

/// What is multiplied for a part.
struct Scanned<'a> {
    search: Search<'a>,
    part: Part<'a>,
    /// What points add to products: in the sample, and in the search of all.
    norms: [&'a GpuArray; 2],
    /// What is known of rounded queries; of others nothing is read.
    lengths: &'a GpuArray,
}

impl Scanned<'_> {
    /// Launches the filter for the sample or for all points. Lists are values, indices, counts and limits; the last array
    /// has the number of noted queries.
    fn launch(&self, filter: Filter<'_>, lists: [&GpuArray; 5], is_sample: bool) -> Result<()> {
        let (ctx, queries, points) = (self.search.ctx(), self.part.count, self.search.points);
        let rows = points.count() / if is_sample { filter.stride } else { 1 };
        let all_groups = queries.div_ceil(FILTER_GROUP);
        let parts = all_groups.div_ceil(filter.groups);
        let columns = all_groups.next_power_of_two().min(4);
        let groups = all_groups.div_ceil(parts).next_multiple_of(columns);
        let mut args = PackedKernelArgs::new();
        push_arrays(&mut args, &lists)?;
        push_arrays(&mut args, &[self.norms[usize::from(!is_sample)]])?;
        self.search.push_search(&mut args, &self.part)?;
        let is_split = usize::from(queries <= SPLIT_QUERIES);
        [rows, filter.stride, groups, is_split].iter().for_each(|&n| args.push_u32(n as u32));
        let spec = FilterSpec { distance: self.search.distance(false, 1), columns: columns as u32, is_sample };
        let warps = THREADS as usize / 32;
        let most = rows.div_ceil(FILTER_TILE).div_ceil(warps) as u32;
        // Of rounded points a multiprocessor has two blocks.
        let blocks = ctx.device_info().multiprocessors << u32::from(filter.is_rounded() && parts == 1);
        let grid = [blocks.clamp(1, most.max(1)), parts as u32, 1];
        let bytes = groups * FilterSpec::group_bytes(points.dimensions(), filter.is_rounded());
        ctx.compiled_kernel(&spec)?.launch(grid, [THREADS, 1, 1], bytes as u32, args.packed_bytes())
    }
}
