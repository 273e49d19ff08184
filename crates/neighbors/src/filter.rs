//! Searches that read points once, whatever the number of queries: a sample of the points has limits of distances, and
//! what is within them is ranked. Needs tensor cores and points of float16.
//!
//! The k-th smallest distance of any points is a limit that the k nearest are within, once rounding errors are added; so
//! results are exact without a second look at other points. A sample that is chosen by a hash lets about as many points
//! through for each neighbour as it has points left out, however points are distributed. Only equal distances can be more
//! than lists have room for: such queries are searched again.

use crate::kernels::{
    FILTER_CAPACITY, FILTER_GROUP, FILTER_TILE, FilterSpec, MAX_FILTER_DIMENSIONS, SelectSpec, THREADS,
};
use crate::search::{MAX_LIST_BYTES, Neighbors, Part, Search};
use crate::{GpuArray, Result};
use rtcg_array::{DType, Order, PackedKernelArgs, push_arrays};

/// Neighbours that lists have room for, several times over.
const MAX_FILTER_NEIGHBORS: usize = 128;
/// Points let through, about, where there are few neighbours.
const TARGET_CANDIDATES: usize = 1024;
/// The most points for one of the sample, which costs that share of the time.
const MAX_STRIDE: usize = 64;
/// Tiles of the sample for each neighbour: each has one distance.
const SAMPLE_TILES_OF_NEIGHBOR: usize = 4;
/// Groups of queries that a block has at most; queries of a part, whose lists are held.
const MAX_GROUPS: usize = 32;
const PART_QUERIES: usize = 1024;

/// Queries up to which reading points takes longer than products of both parts of queries.
const SPLIT_QUERIES: usize = 32;

/// How points are sampled, and queries divided.
#[derive(Clone, Copy)]
pub(crate) struct Filter<'a> {
    /// Squared lengths of points in float32.
    norms: &'a GpuArray,
    stride: usize,
    /// Groups of queries that a block has room for.
    groups: usize,
}

impl Search<'_> {
    /// How to search by a filter, where that is possible and there are enough points for a sample.
    pub(crate) fn filter(&self, k: usize) -> Option<Filter<'_>> {
        let (points, dimensions) = (&self.points.array, self.points.dimensions());
        let norms = self.points.short_norms()?;
        let stride = (TARGET_CANDIDATES / k).clamp(4, MAX_STRIDE);
        let stride = stride.min(self.points.count() / (SAMPLE_TILES_OF_NEIGHBOR * FILTER_TILE * k));
        let shared_bytes = self.ctx().device_info().shared_bytes as usize;
        let groups = (shared_bytes / FilterSpec::group_bytes(dimensions)).min(MAX_GROUPS) / 4 * 4;
        let is_possible = self.is_tensor
            && k <= MAX_FILTER_NEIGHBORS
            && dimensions <= MAX_FILTER_DIMENSIONS
            && dimensions.is_multiple_of(8)
            && points.first_element_address().is_multiple_of(16)
            && stride >= 4
            && groups >= 4;
        is_possible.then_some(Filter { norms, stride, groups })
    }

    /// Writes the `k` nearest points of all queries, which are checked meanwhile. Waits.
    pub(crate) fn nearest_by_filter(&self, found: &Neighbors, k: usize, filter: Filter<'_>) -> Result<()> {
        let listed = self.sample_tiles(filter).max(FILTER_CAPACITY);
        let step = (MAX_LIST_BYTES / (4 * listed)).clamp(1, PART_QUERIES);
        let most = step.min(self.queries.count());
        let noted = GpuArray::empty(self.ctx(), &[most], DType::U32, Order::C)?;
        let noted_count = self.queries.noted_count()?;
        for first in (0..self.queries.count()).step_by(step) {
            let part = Part { first, count: most.min(self.queries.count() - first), selected: None };
            self.filter_part(found, &part, k, filter, (&noted, &noted_count))?;
            if self.queries.check_finite("queries")? > 0 {
                let again = Part { selected: Some((&noted, &noted_count)), ..part };
                let k = k as u32;
                self.scan_and_merge(found, &self.distance(true, k), &again, (k, k), (&noted, &noted_count))?;
            }
        }
        Ok(())
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
        let (ctx, queries) = (self.ctx(), part.count);
        let (sampled, tiles) = (self.points.count() / filter.stride, self.sample_tiles(filter));
        let empty = |count, dtype| GpuArray::empty(ctx, &[count], dtype, Order::C);
        // Distances of the sample are overwritten by lists.
        let values = empty(queries * tiles.max(FILTER_CAPACITY), DType::F32)?;
        let indices = empty(queries * FILTER_CAPACITY, DType::U32)?;
        let (limits, counts) = (empty(4 * queries, DType::F32)?, empty(queries, DType::U32)?);
        let distance = self.distance(false, k as u32);
        let select = SelectSpec { distance, kept: k as u32, is_limit: true, out: found.distances.dtype() };

        let all_groups = queries.div_ceil(FILTER_GROUP);
        let parts = all_groups.div_ceil(filter.groups);
        let columns = all_groups.next_power_of_two().min(4);
        let groups = all_groups.div_ceil(parts).next_multiple_of(columns);
        let scan = |is_sample: bool, rows: usize| {
            let mut args = PackedKernelArgs::new();
            push_arrays(&mut args, &[&values, &indices, &counts, &limits, noted_count, filter.norms])?;
            self.push_search(&mut args, part)?;
            let is_split = usize::from(queries <= SPLIT_QUERIES);
            [rows, filter.stride, groups, is_split].iter().for_each(|&n| args.push_u32(n as u32));
            let spec = FilterSpec { distance, columns: columns as u32, is_sample };
            let warps = THREADS as usize / 32;
            let most = rows.div_ceil(FILTER_TILE).div_ceil(warps) as u32;
            let grid = [ctx.device_info().multiprocessors.clamp(1, most.max(1)), parts as u32, 1];
            let bytes = groups * FilterSpec::group_bytes(self.points.dimensions());
            ctx.compiled_kernel(&spec)?.launch(grid, [THREADS, 1, 1], bytes as u32, args.packed_bytes())
        };
        let selecting = |spec: &SelectSpec, args: &PackedKernelArgs| {
            let blocks = queries.min(ctx.device_info().max_blocks as usize) as u32;
            ctx.compiled_kernel(spec)?.launch([blocks, 1, 1], [THREADS, 1, 1], 0, args.packed_bytes())
        };

        scan(true, sampled)?;
        let mut args = PackedKernelArgs::new();
        push_arrays(&mut args, &[&limits, &counts, noted_count, &values])?;
        // Tiles of the sample within limits, beyond which lists would be more than a quarter full.
        let most = (FILTER_CAPACITY / 4 / filter.stride).max(2 * k);
        [tiles, most, filter.stride].iter().for_each(|&n| args.push_u32(n as u32));
        self.push_search(&mut args, part)?;
        selecting(&select, &args)?;

        scan(false, self.points.count())?;
        let mut args = PackedKernelArgs::new();
        self.push_found(&mut args, found, part, k)?;
        push_arrays(&mut args, &[noted, noted_count, &values, &indices, &counts, &limits])?;
        self.push_search(&mut args, part)?;
        selecting(&SelectSpec { is_limit: false, ..select }, &args)
    }
}
