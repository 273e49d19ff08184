//! How the kernel of a snippet walks over arrays that are not all contiguous: the plan of array operations.

use super::operand::{GeneratedKernelArg, argument_error};
use crate::layout::{Layout, PythonTuple};
use crate::walk_plan::{PlannedWalk, WalkRules, WalkedArray, plan_walk};
use rtcg_codegen::array::AccessPattern;
use rtcg_codegen::c_declarations::Argument;
use rtcg_codegen::pointwise::{IndexingMode, SnippetAnalysis};
use rtcg_codegen::snippet::ElementUse;
use rtcg_hal::{DeviceInfo, Result};

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

/// The arrays with these layouts.
pub(super) fn walked_arrays(
    layouts: Vec<(usize, Layout)>,
    declared: &[Argument],
    uses: &[ElementUse],
    args: &[GeneratedKernelArg<'_>],
) -> impl Iterator<Item = WalkedArray> {
    layouts.into_iter().map(|(at, layout)| {
        let (address, strides) = args[at].as_array().map_or((0, &[][..]), |view| (view.ptr, view.strides));
        let align = declared[at].ctype.align;
        WalkedArray {
            layout,
            itemsize: declared[at].ctype.itemsize,
            address,
            is_aligned: address.is_multiple_of(align as u64)
                && strides.iter().all(|stride| stride.unsigned_abs().is_multiple_of(align)),
            is_written: uses[at].is_written(),
        }
    })
}

/// Plans the walk of a kernel over its arrays in one shape: the form, and what the launch needs; `None` where in some order
/// of the axes every array lies without gaps.
pub(super) fn plan_snippet_walk(
    analysis: &SnippetAnalysis,
    declared: &[Argument],
    args: &[GeneratedKernelArg<'_>],
    shape: &[usize],
    device: DeviceInfo,
) -> Result<Option<(IndexingMode, PlannedWalk)>> {
    let mut layouts = walked_layouts(declared, &analysis.uses, args, shape)?;
    let mut walked = vec![false; args.len()];
    layouts.iter().for_each(|(at, _)| walked[*at] = true);
    let order = analysis.walk_order(&walked);
    layouts.sort_by_key(|(at, _)| order.iter().position(|other| other == at));
    let arrays: Vec<_> = walked_arrays(layouts, declared, &analysis.uses, args).collect();
    if arrays.is_empty() {
        return Ok(None);
    }
    let rules = WalkRules {
        sorts_axes: !analysis.counts_elements,
        reverses_axes: false,
        repeats_elements: false,
        allows_tiles: !analysis.jumps,
    };
    let walk = plan_walk(device, &arrays, rules);
    Ok(match walk.pattern {
        AccessPattern::Flat(_) => None,
        pattern => Some((IndexingMode::Walked { pattern, walked }, walk)),
    })
}
