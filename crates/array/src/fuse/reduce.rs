//! A reduction at the end of an expression, whose elements are computed where they are combined.
//!
//! The order in which elements are combined is that of the reduction of the array that the expression
//! would have been stored in, so that the result is the same: the plan is made over that array's layout,
//! the expression's arrays follow it.

use super::graph::Graph;
use super::launch::Part;
use super::scope::Scope;
use crate::array::GpuArray;
use crate::error::Result;
use crate::launch::Args;
use crate::layout::{Layout, Order};
use crate::plan::Plan;
use crate::reduce::{Fusable, combine, kept_shape, parts, spread};
use rtcg_codegen::DType;
use rtcg_codegen::array::{REDUCE_THREADS, Reduce, Reduction, Stage};
use smallvec::SmallVec;

/// The reduction of a result that was put off; `None` if `x` is none or something has to be stored first.
pub(crate) fn reduce_deferred(x: &GpuArray, wish: &Fusable<'_>) -> Result<Option<GpuArray>> {
    if wish.compute.is_complex() && wish.reduction == Reduction::Product {
        // A product of complex numbers is contracted by what stands around it.
        return Ok(None);
    }
    let reduce = |graph: &Graph, node: u16| {
        let part = Part::new(graph, std::iter::once(node));
        let step = part.step_of(node);
        let job = Job { x, wish, part, step };
        match job.part.arrays.len() {
            0..=2 => job.run::<4>(),
            3..=6 => job.run::<8>(),
            7..=14 => job.run::<16>(),
            _ => job.run::<256>(),
        }
    };
    Scope::with_node(x, reduce).transpose()
}

struct Job<'a> {
    x: &'a GpuArray,
    wish: &'a Fusable<'a>,
    part: Part<'a>,
    step: u16,
}

impl Job<'_> {
    fn run<const N: usize>(&self) -> Result<GpuArray> {
        let (x, wish) = (self.x, self.wish);
        let kept: SmallVec<[usize; 4]> = kept_shape(x.shape(), wish.axes, true);
        let shape: SmallVec<[usize; 4]> = kept_shape(x.shape(), wish.axes, wish.keepdims);
        let out = GpuArray::empty(x.context(), &shape, wish.result, Order::C)?;
        let (out_kept, _) = parts(&Layout::contiguous(&kept, out.itemsize(), Order::C), wish.axes);
        let mut layouts: SmallVec<[(Layout, Layout); 8]> = SmallVec::new();
        layouts.push(parts(x.layout(), wish.axes));
        for array in &self.part.arrays {
            let layout = array.layout().broadcast_to(x.shape())?;
            let (mut kept, reduced) = parts(&layout, wish.axes);
            kept.offset = layout.offset;
            layouts.push((kept, reduced));
        }
        // Places that are left repeat the first one.
        let kept = Plan::<N>::new(std::array::from_fn(|k| match k {
            0 => &out_kept,
            _ => layouts.get(k - 1).map_or(&out_kept, |layout| &layout.0),
        }));
        let of_reduced = std::array::from_fn(|k| &layouts.get(k).unwrap_or(&layouts[0]).1);
        let reduced = match wish.reduction.is_arg() {
            true => Plan::<N>::in_order(of_reduced),
            false => Plan::<N>::new(of_reduced),
        };
        if out.size() > 0 {
            self.launch(&kept, &reduced, &out)?;
        }
        Ok(out)
    }

    fn kernel<const N: usize>(&self, kept: &Plan<N>, reduced: &Plan<N>, stage: Stage, split: bool) -> Reduce {
        Reduce {
            reduction: self.wish.reduction,
            x: self.x.dtype(),
            y: None,
            masked: false,
            compute: self.wish.compute,
            out: self.wish.result,
            stage,
            split,
            kept: kept.space(),
            reduced: reduced.space(),
        }
    }

    fn launch<const N: usize>(&self, kept: &Plan<N>, reduced: &Plan<N>, out: &GpuArray) -> Result<()> {
        let ctx = self.x.context();
        let (stage, splits) = spread(ctx.facts(), kept, reduced);
        let kernel = self.kernel(kept, reduced, stage, splits > 1);
        let (n_out, n_red) = (kept.size(), reduced.size());
        let partial = match splits {
            1 => None,
            _ => Some(GpuArray::empty(ctx, &[splits * n_out * kernel.partial_bytes()], DType::U8, Order::C)?),
        };
        let mut args = Args::new();
        args.push_u64(partial.as_ref().unwrap_or(out).start());
        for (k, array) in self.part.arrays.iter().enumerate() {
            args.push_u64(array.address(kept.offsets[k + 2]).wrapping_add(reduced.offsets[k + 1] as u64));
        }
        [n_out, n_red, n_red.div_ceil(splits).max(1)].iter().for_each(|&n| args.push_u64(n as u64));
        let n_arrays = self.part.arrays.len();
        let in_kept: SmallVec<[usize; 8]> = std::iter::once(0).chain((0..n_arrays).map(|k| k + 2)).collect();
        let in_reduced: SmallVec<[usize; 8]> = (0..n_arrays).map(|k| k + 1).collect();
        kept.write_dims(kernel.kept, &in_kept, &mut args);
        reduced.write_dims(kernel.reduced, &in_reduced, &mut args);
        self.part.push_values(&mut args);
        let blocks = match stage {
            Stage::Rows => n_out.min(ctx.facts().max_blocks as usize) as u32,
            _ => ctx.facts().blocks_for(n_out),
        };
        let compiled = ctx.fused_reduction(kernel, &self.part.steps, self.step)?;
        compiled.launch([blocks, splits as u32, 1], [REDUCE_THREADS, 1, 1], 0, args.bytes())?;
        match partial {
            Some(partial) => combine(ctx, kernel, kept, &partial, splits, out.start()),
            None => Ok(()),
        }
    }
}
