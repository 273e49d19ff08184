//! From operands to the kernel of an elementwise operation: copies of overlapping operands, the plan, and the launch.

use crate::array::{GpuArray, OperandSource};
use crate::call_cache::PlannedLaunch;
use crate::walk_plan::{PlannedWalk, WalkRules, WalkedArray, plan_walk};
use rtcg_codegen::array::{Op, OperandKind, PointwiseOperand, PointwiseSpec};
use rtcg_hal::{DType, LaunchArgs, Result};
use smallvec::SmallVec;

/// Writes `op` of `operands` to every element of `out`. Operands that share memory with `out` in
/// another layout are copied first, so that results are as if nothing were shared.
pub(crate) fn compute_into(op: Op, compute: DType, out: &GpuArray, operands: &[OperandSource<'_>]) -> Result<()> {
    compute_and_prepare_launch(op, compute, out, operands).map(drop)
}

/// [`compute_into`], and the launch for calls that are like this one; `None` where more than a launch or less
/// was needed.
pub(super) fn compute_and_prepare_launch(
    op: Op,
    compute: DType,
    out: &GpuArray,
    operands: &[OperandSource<'_>],
) -> Result<Option<PlannedLaunch>> {
    if out.size() == 0 {
        return Ok(None);
    }
    out.check_writable()?;
    let mut copies: SmallVec<[Option<GpuArray>; 4]> = SmallVec::new();
    for array in operands.iter().filter_map(OperandSource::as_array).chain([out]) {
        array.check_memory()?;
    }
    for operand in operands {
        copies.push(match operand {
            OperandSource::Array(array) => {
                out.check_context(array)?;
                if out.has_write_hazard(array) { Some(copy_to_new_memory(array)?) } else { None }
            }
            OperandSource::Value(..) => None,
        });
    }
    let arrays: SmallVec<[Option<&GpuArray>; 4]> = operands
        .iter()
        .zip(&copies)
        .map(|(operand, copy)| match operand {
            OperandSource::Array(array) => Some(copy.as_ref().unwrap_or(array)),
            OperandSource::Value(..) => None,
        })
        .collect();
    let prepared = PointwiseLaunch { op, compute, out, operands, arrays: &arrays }.plan_and_launch()?;
    Ok(Some(prepared).filter(|_| copies.iter().all(Option::is_none)))
}

/// A copy that does not ask whether its memory is that of `array`, which strides of a caller's making seem to reach.
fn copy_to_new_memory(array: &GpuArray) -> Result<GpuArray> {
    let copy = array.empty_like(array.dtype())?;
    let operands = [OperandSource::Array(array)];
    PointwiseLaunch { op: Op::Copy, compute: array.dtype(), out: &copy, operands: &operands, arrays: &[Some(array)] }
        .plan_and_launch()?;
    Ok(copy)
}

struct PointwiseLaunch<'a> {
    op: Op,
    compute: DType,
    out: &'a GpuArray,
    operands: &'a [OperandSource<'a>],
    arrays: &'a [Option<&'a GpuArray>],
}

impl PointwiseLaunch<'_> {
    /// Plans over the arrays, the output first, and launches the kernel that fits the plan.
    fn plan_and_launch(&self) -> Result<PlannedLaunch> {
        let ctx = self.out.context();
        let mut walked: SmallVec<[WalkedArray; 5]> = SmallVec::new();
        walked.push(WalkedArray::broadcast(self.out, self.out.shape(), true)?);
        for array in self.arrays.iter().flatten() {
            walked.push(WalkedArray::broadcast(array, self.out.shape(), false)?);
        }
        let walk = plan_walk(ctx.device_info(), &walked, WalkRules::FREE);
        let kernel = self.kernel(&walk);
        let mut args = LaunchArgs::new();
        walked.iter().zip(&walk.offsets).for_each(|(array, offset)| args.push_address(array.address, *offset));
        walk.push_size_and_dims(&mut args);
        let mut values: SmallVec<[(usize, DType); 2]> = SmallVec::new();
        for operand in self.operands {
            if let OperandSource::Value(element, dtype) = operand {
                args.push(element.bytes(), element.alignment());
                values.push((args.count() - 1, *dtype));
            }
        }
        let [blocks, threads] = walk.geometry;
        let launch = ctx.prepare_launch(&kernel, [blocks, 1, 1], [threads, 1, 1], args)?;
        launch.enqueue(ctx.queue())?;
        Ok(PlannedLaunch { launch, addresses: None, values, workspace: None })
    }

    fn kernel(&self, walk: &PlannedWalk) -> PointwiseSpec {
        let mut operands = [PointwiseOperand::UNUSED_OPERAND; 4];
        let mut kinds = walk.kinds[1..].iter();
        for (slot, (operand, array)) in operands.iter_mut().zip(self.operands.iter().zip(self.arrays)) {
            *slot = match (operand, array) {
                (_, Some(array)) => PointwiseOperand {
                    dtype: array.dtype(),
                    access: kinds.next().copied().unwrap_or(OperandKind::Unused),
                },
                (OperandSource::Value(_, dtype), None) => {
                    PointwiseOperand { dtype: *dtype, access: OperandKind::Value }
                }
                (OperandSource::Array(array), None) => {
                    PointwiseOperand { dtype: array.dtype(), access: OperandKind::Unused }
                }
            };
        }
        let is_out_unaligned = walk.kinds[0] == OperandKind::Unaligned;
        let Self { op, compute, out, .. } = *self;
        PointwiseSpec { op, compute, out: out.dtype(), is_out_unaligned, operands, pattern: walk.pattern }
    }
}
