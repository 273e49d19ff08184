//! How the kernel of a snippet walks over arrays that are not all contiguous: the plan of array operations.

use super::operand::{GeneratedKernelArg, argument_error};
use crate::access_pattern::choose_access_pattern;
use crate::iteration_plan::IterationPlan;
use crate::layout::{Layout, Order, PythonTuple};
use rtcg_codegen::array::AccessPattern;
use rtcg_codegen::c_declarations::Argument;
use rtcg_codegen::pointwise::{IndexingMode, SnippetAnalysis};
use rtcg_codegen::snippet::ElementUse;
use rtcg_hal::{DeviceInfo, LaunchArgs, Result};
use smallvec::SmallVec;

/// A walk over arrays of one shape.
pub(super) enum Walk {
    /// In some order of the axes every array lies without gaps.
    Dense,
    /// By strides or through tiles.
    Strided(StridedWalk),
}

/// The form of a kernel for a walk, and what the launch needs.
pub(super) struct StridedWalk {
    pub(super) access: IndexingMode,
    dims: SmallVec<[u8; 64]>,
    alignment: usize,
    /// The blocks, and the threads of each, of a walk through tiles.
    pub(super) tiles: Option<[u32; 2]>,
}

impl StridedWalk {
    /// Appends the structure of lengths and strides.
    pub(super) fn push_dims(&self, args: &mut LaunchArgs) {
        args.push(&self.dims, self.alignment);
    }
}

/// The layouts, in `shape`, of the arrays that a kernel walks over, by the numbers of their arguments. Contiguous arrays
/// that are indexed freely stay pointers.
pub(super) fn walked_layouts(
    declared: &[Argument],
    uses: &[ElementUse],
    args: &[GeneratedKernelArg<'_>],
    shape: &[usize],
) -> Result<Vec<(usize, Layout)>> {
    let mut walked = Vec::new();
    for (at, (argument, used)) in declared.iter().zip(uses).enumerate() {
        let Some(view) = args[at].as_array() else { continue };
        match used {
            ElementUse::Unused => continue,
            ElementUse::Other if view.is_c_contiguous() => continue,
            // What is indexed freely is walked by its own shape, so it may not be broadcast.
            ElementUse::Other if view.shape != shape => {
                return Err(argument_error(
                    &argument.name,
                    format_args!(
                        "has shape {} and strides {}; expected shape {} or contiguous memory",
                        PythonTuple(view.shape),
                        PythonTuple(view.strides),
                        PythonTuple(shape)
                    ),
                ));
            }
            _ => {}
        }
        let layout = view.layout().broadcast_to(shape).map_err(|_| {
            let (given, shape) = (PythonTuple(view.shape), PythonTuple(shape));
            argument_error(&argument.name, format_args!("has shape {given}, which does not broadcast to {shape}"))
        })?;
        walked.push((at, layout));
    }
    Ok(walked)
}

/// Plans the walk of a kernel over its arrays in one shape.
pub(super) fn plan_walk(
    analysis: &SnippetAnalysis,
    declared: &[Argument],
    args: &[GeneratedKernelArg<'_>],
    shape: &[usize],
    device: DeviceInfo,
) -> Result<Walk> {
    let mut layouts = walked_layouts(declared, &analysis.uses, args, shape)?;
    let mut walked = vec![false; args.len()];
    layouts.iter().for_each(|(at, _)| walked[*at] = true);
    let order = analysis.walk_order(&walked);
    layouts.sort_by_key(|(at, _)| order.iter().position(|other| other == at));
    let planner = Planner { analysis, declared, args, layouts, walked, still: Layout::contiguous(shape, 0, Order::C) };
    Ok(match order.len() {
        0..=2 => planner.plan::<2>(device),
        3..=4 => planner.plan::<4>(device),
        5..=8 => planner.plan::<8>(device),
        9..=16 => planner.plan::<16>(device),
        // More do not fit among the arguments of a kernel.
        _ => planner.plan::<256>(device),
    })
}

struct Planner<'a> {
    analysis: &'a SnippetAnalysis,
    declared: &'a [Argument],
    args: &'a [GeneratedKernelArg<'a>],
    layouts: Vec<(usize, Layout)>,
    walked: Vec<bool>,
    /// Takes the places without an array.
    still: Layout,
}

impl Planner<'_> {
    fn plan<const N: usize>(self, device: DeviceInfo) -> Walk {
        let layouts = std::array::from_fn(|k| self.layouts.get(k).map_or(&self.still, |(_, layout)| layout));
        let plan = match self.analysis.counts_elements {
            true => IterationPlan::<N>::keeping_axis_order(layouts),
            false => IterationPlan::<N>::keeping_directions(layouts),
        };
        let itemsize = |&(at, _): &(usize, Layout)| self.declared[at].ctype.itemsize;
        let is_dense = |(k, array): (usize, &(usize, Layout))| {
            let item = itemsize(array) as isize;
            plan.single_stride(k, item) == Some(item)
        };
        if !self.analysis.counts_elements && self.layouts.iter().enumerate().all(is_dense) {
            return Walk::Dense;
        }
        let pattern = self.pattern(device, &plan, itemsize);
        let space = plan.index_space();
        let mut dims = LaunchArgs::new();
        let arrays: SmallVec<[usize; 8]> = (0..self.layouts.len().max(1)).collect();
        plan.push_dims(space, &arrays, &mut dims);
        Walk::Strided(StridedWalk {
            dims: SmallVec::from_slice(dims.packed_bytes()),
            alignment: if space.wide { 8 } else { 4 },
            tiles: matches!(pattern, AccessPattern::Tiled(..)).then(|| plan.geometry(device, pattern)),
            access: IndexingMode::Walked { pattern, walked: self.walked },
        })
    }

    /// Tiles need every thread of a block, and have no place for results that are transposed.
    fn pattern<const N: usize>(
        &self,
        device: DeviceInfo,
        plan: &IterationPlan<N>,
        itemsize: impl Fn(&(usize, Layout)) -> usize,
    ) -> AccessPattern {
        let strided = AccessPattern::Strided(plan.index_space());
        if self.analysis.counts_elements || self.analysis.jumps {
            return strided;
        }
        let aligned_itemsize = |array: &(usize, Layout)| {
            let (align, view) = (self.declared[array.0].ctype.align, self.args[array.0].as_array()?);
            let is_aligned = view.ptr.is_multiple_of(align as u64)
                && view.strides.iter().all(|stride| stride.unsigned_abs().is_multiple_of(align));
            is_aligned.then(|| itemsize(array))
        };
        match choose_access_pattern(device, plan, self.layouts.iter().map(aligned_itemsize)) {
            AccessPattern::Tiled(_, tile)
                if (1..self.layouts.len())
                    .any(|k| tile.is_transposed(k) && self.analysis.uses[self.layouts[k].0].is_written()) =>
            {
                strided
            }
            pattern => pattern,
        }
    }
}
