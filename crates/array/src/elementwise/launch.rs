//! From operands to the kernel of an elementwise operation: copies of overlapping operands, the plan, and the launch.

use crate::access_pattern::{aligned_itemsize, choose_access_pattern};
use crate::array::{GpuArray, OperandSource};
use crate::call_cache::PlannedLaunch;
use crate::iteration_plan::IterationPlan;
use crate::layout::Layout;
use rtcg_codegen::array::{AccessPattern, Op, OperandKind, PointwiseOperand, PointwiseSpec};
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
    let launch = PointwiseLaunch { op, compute, out, operands, arrays: &arrays };
    let prepared = match arrays.iter().flatten().count() {
        0 => launch.plan_and_launch::<1>(),
        1 => launch.plan_and_launch::<2>(),
        2 => launch.plan_and_launch::<3>(),
        3 => launch.plan_and_launch::<4>(),
        _ => launch.plan_and_launch::<5>(),
    }?;
    Ok(Some(prepared).filter(|_| copies.iter().all(Option::is_none)))
}

/// A copy that does not ask whether its memory is that of `array`, which strides of a caller's making seem to reach.
fn copy_to_new_memory(array: &GpuArray) -> Result<GpuArray> {
    let copy = array.empty_like(array.dtype())?;
    let operands = [OperandSource::Array(array)];
    PointwiseLaunch { op: Op::Copy, compute: array.dtype(), out: &copy, operands: &operands, arrays: &[Some(array)] }
        .plan_and_launch::<2>()?;
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
    /// Plans over the `N` arrays (the output first) and launches the kernel that fits the plan.
    fn plan_and_launch<const N: usize>(&self) -> Result<PlannedLaunch> {
        let mut broadcast: SmallVec<[Layout; 5]> = SmallVec::new();
        broadcast.push(self.out.layout().clone());
        for array in self.arrays.iter().flatten() {
            broadcast.push(array.layout().broadcast_to(self.out.shape())?);
        }
        let plan = IterationPlan::<N>::new(std::array::from_fn(|k| &broadcast[k]));
        let kernel = match self.flat_operands(&plan) {
            Some(operands) => {
                self.pointwise_kernel(operands, AccessPattern::Flat(self.elements_per_access(&plan, &operands)))
            }
            None => {
                let arrays = std::iter::once(self.out).chain(self.arrays.iter().flatten().copied());
                let pattern =
                    choose_access_pattern(self.out.context().device_info(), &plan, arrays.map(aligned_itemsize));
                self.pointwise_kernel(self.strided_operands(), pattern)
            }
        };
        self.launch_planned(&plan, &kernel)
    }

    fn pointwise_kernel(&self, operands: [PointwiseOperand; 4], pattern: AccessPattern) -> PointwiseSpec {
        let is_out_unaligned = matches!(pattern, AccessPattern::Strided(_)) && !self.out.is_aligned();
        PointwiseSpec { op: self.op, compute: self.compute, out: self.out.dtype(), is_out_unaligned, operands, pattern }
    }

    fn build_operands(
        &self,
        mut access: impl FnMut(&GpuArray, usize) -> Option<OperandKind>,
    ) -> Option<[PointwiseOperand; 4]> {
        let mut operands = [PointwiseOperand::UNUSED_OPERAND; 4];
        let mut position = 1;
        for (at, operand) in self.operands.iter().enumerate() {
            operands[at] = match (operand, self.arrays[at]) {
                (_, Some(array)) => {
                    position += 1;
                    PointwiseOperand { dtype: array.dtype(), access: access(array, position - 1)? }
                }
                (OperandSource::Value(_, dtype), None) => {
                    PointwiseOperand { dtype: *dtype, access: OperandKind::Value }
                }
                (OperandSource::Array(array), None) => {
                    PointwiseOperand { dtype: array.dtype(), access: OperandKind::Unused }
                }
            };
        }
        Some(operands)
    }

    fn strided_operands(&self) -> [PointwiseOperand; 4] {
        let access =
            |array: &GpuArray, _| Some(if array.is_aligned() { OperandKind::Element } else { OperandKind::Unaligned });
        self.build_operands(access).unwrap_or([PointwiseOperand::UNUSED_OPERAND; 4])
    }

    /// The operands if each lies without gaps or is a single element.
    fn flat_operands<const N: usize>(&self, plan: &IterationPlan<N>) -> Option<[PointwiseOperand; 4]> {
        let item = self.out.itemsize() as isize;
        if plan.single_stride(0, item)? != item || !self.out.is_aligned() {
            return None;
        }
        self.build_operands(|array, k| {
            let item = array.itemsize() as isize;
            match plan.single_stride(k, item)? {
                _ if !array.is_aligned() => None,
                0 => Some(OperandKind::Broadcast),
                stride if stride == item => Some(OperandKind::Element),
                _ => None,
            }
        })
    }

    /// How many adjacent elements a thread takes at once, if addresses allow it.
    fn elements_per_access<const N: usize>(&self, plan: &IterationPlan<N>, operands: &[PointwiseOperand; 4]) -> u8 {
        let widest = operands
            .iter()
            .filter(|operand| operand.access == OperandKind::Element)
            .map(|operand| operand.dtype.itemsize())
            .fold(self.out.itemsize(), usize::max);
        let count = self.out.context().device_info().vector_bytes as usize / widest;
        if count < 2 || !count.is_power_of_two() {
            return 1;
        }
        let mut aligned = self.out.address(plan.offsets[0]).is_multiple_of((count * self.out.itemsize()) as u64);
        let mut position = 1;
        for (at, array) in self.arrays.iter().enumerate() {
            let Some(array) = array else { continue };
            let bytes = (count * array.itemsize()) as u64;
            let point = operands[at].access == OperandKind::Broadcast;
            aligned &= point || array.address(plan.offsets[position]).is_multiple_of(bytes);
            position += 1;
        }
        if aligned { count as u8 } else { 1 }
    }

    fn launch_planned<const N: usize>(&self, plan: &IterationPlan<N>, kernel: &PointwiseSpec) -> Result<PlannedLaunch> {
        let mut args = LaunchArgs::new();
        for (array, offset) in std::iter::once(&self.out).chain(self.arrays.iter().flatten()).zip(&plan.offsets) {
            args.push_address(array.first_element_address(), offset.wrapping_sub(array.layout().offset));
        }
        let size = plan.n_elements();
        args.push_u64(size as u64);
        let ctx = self.out.context();
        if let AccessPattern::Strided(space) | AccessPattern::Tiled(space, _) = kernel.pattern {
            let all: SmallVec<[usize; 5]> = (0..N).collect();
            plan.push_dims(space, &all, &mut args);
        }
        let mut values: SmallVec<[(usize, DType); 2]> = SmallVec::new();
        for operand in self.operands {
            if let OperandSource::Value(element, dtype) = operand {
                args.push(element.bytes(), element.alignment());
                values.push((args.count() - 1, *dtype));
            }
        }
        let [blocks, threads] = plan.geometry(ctx.device_info(), kernel.pattern);
        let launch = ctx.prepare_launch(kernel, [blocks, 1, 1], [threads, 1, 1], args)?;
        launch.enqueue(ctx.queue())?;
        Ok(PlannedLaunch { launch, addresses: None, values, workspace: None })
    }
}
