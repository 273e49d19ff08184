//! Vectors of float32 rounded to float16, which a filter searches in their place; results are ranked by the vectors
//! themselves.

use crate::kernels::{RoundSpec, THREADS};
use crate::search::{Part, Search};
use crate::vectors::Vectors;
use crate::{GpuArray, Result};
use rtcg_array::{DType, Index, Order, PackedKernelArgs, ReduceOptions, ReductionOp, push_arrays};

/// Points rounded, with their distances from what they were.
#[derive(Debug, Clone)]
pub(crate) struct RoundedPoints {
    pub(crate) vectors: Vectors,
    /// What their halved squared lengths are at most and at least, as `round.cuh` has it.
    pub(crate) upper: GpuArray,
    pub(crate) lower: GpuArray,
    /// Sums of coordinates, of whose mean points are taken.
    sums: GpuArray,
}

/// Queries of a part, rounded as points are, with their squared lengths and distances from what they were.
pub(crate) struct RoundedQueries {
    pub(crate) vectors: Vectors,
    pub(crate) lengths: GpuArray,
}

impl Search<'_> {
    /// Whether queries are so many that rounding points takes less time than it saves.
    pub(crate) fn pays_for_rounding(&self) -> bool {
        self.queries.count() >= self.min_rounding_queries
    }

    /// The points rounded, from the first search that asks for them. Waits that once.
    pub(crate) fn rounded_points(&self) -> Result<&RoundedPoints> {
        if let Some(made) = self.rounded.get() {
            return Ok(made);
        }
        let (ctx, points) = (self.ctx(), &self.points.array);
        let options = ReduceOptions { axes: Some(&[0]), dtype: Some(DType::F64), ..ReduceOptions::default() };
        let sums = points.reduce(ReductionOp::Sum, options)?;
        let numbers = |dtype| GpuArray::empty(ctx, &[self.points.count()], dtype, Order::C);
        let (upper, lower) = (numbers(DType::F32)?, numbers(DType::F32)?);
        let all = Part { first: 0, count: self.points.count(), selected: None };
        let vectors = self.rounded(self.points, &all, &sums, &upper, Some(&lower))?;
        // Other threads may have other streams.
        upper.index(&[Index::Slice(None, Some(1), None)])?.read(&mut [0; 4], Order::C)?;
        Ok(self.rounded.get_or_init(|| RoundedPoints { vectors, upper, lower, sums }))
    }

    /// Queries of a part.
    pub(crate) fn rounded_queries(&self, points: &RoundedPoints, part: &Part<'_>) -> Result<RoundedQueries> {
        let lengths = GpuArray::empty(self.ctx(), &[part.count, 2], DType::F64, Order::C)?;
        let vectors = self.rounded(self.queries, part, &points.sums, &lengths, None)?;
        Ok(RoundedQueries { vectors, lengths })
    }

    fn rounded(
        &self,
        vectors: &Vectors,
        part: &Part<'_>,
        sums: &GpuArray,
        upper: &GpuArray,
        lower: Option<&GpuArray>,
    ) -> Result<Vectors> {
        let (ctx, dimensions) = (self.ctx(), vectors.dimensions());
        let padded = GpuArray::empty(ctx, &[part.count, dimensions.next_multiple_of(8)], DType::F16, Order::C)?;
        vectors.array.check_memory()?;
        let mut args = PackedKernelArgs::new();
        push_arrays(&mut args, &[&padded, upper])?;
        match lower {
            Some(lower) => push_arrays(&mut args, &[lower])?,
            None => args.push_u64(0),
        }
        let first_vector = part.first * dimensions * vectors.array.itemsize();
        args.push_u64(vectors.array.first_element_address() + first_vector as u64);
        args.push_u64(vectors.norms.first_element_address() + (part.first * 8) as u64);
        push_arrays(&mut args, &[&self.points.state, sums])?;
        [self.points.count(), part.count].iter().for_each(|&n| args.push_u32(n as u32));
        let spec = RoundSpec { distance: self.distance(false, 0), is_query: lower.is_none() };
        let blocks = ctx.device_info().grid_block_count(part.count * 32);
        ctx.compiled_kernel(&spec)?.launch([blocks, 1, 1], [THREADS, 1, 1], 0, args.packed_bytes())?;
        Ok(vectors.with_array(padded))
    }
}
