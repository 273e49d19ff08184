//! Vectors in the form that a filter multiplies: float32 queries and points are rounded to float16, float16 points are
//! unchanged. Results are ranked by the original vectors.

use crate::Metric;
use crate::kernels::{RoundSpec, THREADS};
use crate::search::{Part, Search};
use crate::vectors::{Fp16Points, Fp16Queries, Vectors};
use rtcg_array::{GpuArray, Index, Order, ReduceOptions, ReductionOp, array_args, push_arrays, push_optional};
use rtcg_hal::{DType, Result};

impl Search<'_> {
    /// Whether there is nothing to be rounded, or queries are so many that it takes less time than it saves.
    pub(crate) fn pays_for_rounding(&self) -> bool {
        let is_rounded = self.points.array.dtype() == DType::F16 || self.fp16_points.get().is_some();
        is_rounded || self.queries.count() >= self.min_rounding_queries
    }

    /// The points of a filter, from the first search that asks for them. Waits that once.
    pub(crate) fn fp16_points(&self) -> Result<&Fp16Points> {
        if let Some(made) = self.fp16_points.get() {
            return Ok(made);
        }
        let points = &self.points.array;
        let is_centred = points.dtype() == DType::F32 && self.metric != Metric::Cosine;
        let options = ReduceOptions { axes: Some(&[0]), dtype: Some(DType::F64), ..ReduceOptions::default() };
        let sums = if is_centred { Some(points.reduce(ReductionOp::Sum, options)?) } else { None };
        let numbers = || GpuArray::empty(self.ctx(), &[self.points.count()], DType::F32, Order::C);
        let (upper, lower) = (numbers()?, numbers()?);
        let all = Part { first: 0, count: self.points.count(), selected: None };
        let vectors = self.round(self.points, &all, sums.as_ref(), &upper, Some(&lower))?;
        // Other threads may have other streams.
        upper.index(&[Index::Slice(None, Some(1), None)])?.read(&mut [0; 4], Order::C)?;
        Ok(self.fp16_points.get_or_init(|| Fp16Points { vectors, upper, lower, sums }))
    }

    /// Queries of a part.
    pub(crate) fn fp16_queries(&self, points: &Fp16Points, part: &Part<'_>) -> Result<Fp16Queries> {
        let lengths = GpuArray::empty(self.ctx(), &[part.count, 2], DType::F64, Order::C)?;
        let vectors = self.round(self.queries, part, points.sums.as_ref(), &lengths, None)?;
        Ok(Fp16Queries { vectors, lengths })
    }

    fn round(
        &self,
        vectors: &Vectors,
        part: &Part<'_>,
        sums: Option<&GpuArray>,
        upper: &GpuArray,
        lower: Option<&GpuArray>,
    ) -> Result<Vectors> {
        let (ctx, dimensions) = (self.ctx(), vectors.dimensions());
        let shape = [part.count, dimensions.next_multiple_of(8)];
        let rounded = match vectors.array.dtype() {
            DType::F16 => vectors.array.clone(),
            _ => GpuArray::empty(ctx, &shape, DType::F16, Order::C)?,
        };
        vectors.array.check_memory()?;
        let mut args = array_args(&[&rounded, upper])?;
        push_optional(&mut args, lower)?;
        let first_vector = part.first * dimensions * vectors.array.itemsize();
        args.push_address(vectors.array.first_element_address(), first_vector);
        args.push_address(vectors.norms.first_element_address(), part.first * 8);
        push_arrays(&mut args, &[&self.points.state])?;
        push_optional(&mut args, sums)?;
        [self.points.count(), part.count].iter().for_each(|&n| args.push_u32(n as u32));
        let spec = RoundSpec { distance: self.distance(false, 0), is_query: lower.is_none() };
        let blocks = ctx.device_info().grid_block_count(part.count * 32);
        ctx.launch(&spec, blocks, THREADS, &args)?;
        Ok(vectors.with_array(rounded))
    }
}
