//! Operations element by element: result types, broadcasting, and which kernel computes them.

use crate::access_pattern;
use crate::array::GpuArray;
use crate::call_cache::{CachedCall, CallKey, PreparedLaunch, is_cacheable};
use crate::error::{ArrayError, Result};
use crate::fuse;
use crate::iteration_plan::IterationPlan;
use crate::launch::{BLOCK_THREADS, PackedKernelArgs};
use crate::layout::{Layout, Order, PythonTuple, Shape, broadcast_shapes};
use crate::runtime::ArrayContext;
use crate::scalar::{Scalar, ScalarElement};
use rtcg_codegen::array::{
    AccessPattern, Op, OpTypes, OperandKind, OperandRole, PointwiseOperand, PointwiseSpec, TRANSPOSE_TILE_THREADS,
};
use rtcg_codegen::{DType, DTypeKind, WeakScalar};
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::sync::Arc;

/// An operand of an operation.
#[derive(Debug, Clone, Copy)]
pub enum Arg<'a> {
    /// An array, which is broadcast.
    Array(&'a GpuArray),
    /// A Python or NumPy scalar.
    Scalar(Scalar),
}

impl<'a> From<&'a GpuArray> for Arg<'a> {
    fn from(array: &'a GpuArray) -> Self {
        Arg::Array(array)
    }
}

impl From<Scalar> for Arg<'_> {
    fn from(scalar: Scalar) -> Self {
        Arg::Scalar(scalar)
    }
}

impl From<f64> for Arg<'_> {
    fn from(value: f64) -> Self {
        Arg::Scalar(Scalar::Weak(WeakScalar::Float(value)))
    }
}

impl From<i64> for Arg<'_> {
    fn from(value: i64) -> Self {
        Arg::Scalar(Scalar::Weak(WeakScalar::Int(value.into())))
    }
}

impl Arg<'_> {
    fn has_elements(&self) -> bool {
        match self {
            Arg::Array(array) => array.size() > 0,
            Arg::Scalar(_) => true,
        }
    }

    fn shape(&self) -> &[usize] {
        match self {
            Arg::Array(array) => array.shape(),
            Arg::Scalar(_) => &[],
        }
    }
}

/// Options of a call beside its operands.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpOptions<'a> {
    /// Where the result goes.
    pub out: Option<&'a GpuArray>,
    /// The common type of the operands, in place of NumPy's.
    pub dtype: Option<DType>,
}

/// NumPy's result type of arrays and scalars; Python scalars adapt to the others.
pub fn result_type(args: &[Arg<'_>]) -> DType {
    let strong = |arg: &Arg<'_>| match arg {
        Arg::Array(array) => Some(array.dtype()),
        Arg::Scalar(Scalar::Strong(dtype, _)) => Some(*dtype),
        Arg::Scalar(Scalar::Weak(_)) => None,
    };
    let weak = args.iter().filter_map(|arg| match arg {
        Arg::Scalar(Scalar::Weak(value)) => Some(*value),
        _ => None,
    });
    match args.iter().filter_map(strong).reduce(DType::promote) {
        Some(dtype) => weak.fold(dtype, DType::promote_weak),
        None => weak.map(|value| Scalar::Weak(value).dtype()).reduce(DType::promote).unwrap_or(DType::F64),
    }
}

/// Computes `op` element by element.
///
/// # Errors
/// When the shapes do not fit, the dtypes do not allow `op`, a Python integer does not fit, or the
/// result cannot be stored in `out`.
#[inline]
pub fn apply_elementwise(
    ctx: &Arc<ArrayContext>,
    op: Op,
    args: &[Arg<'_>],
    options: OpOptions<'_>,
) -> Result<GpuArray> {
    let what = CallKey::Pointwise(op, options.dtype);
    let is_cacheable = !fuse::is_active() && is_cacheable(op, args);
    if is_cacheable && let Some(result) = ctx.lookup_and_launch(what, args, options.out)? {
        return Ok(result);
    }
    apply_uncached(ctx, op, args, options, is_cacheable.then_some(what))
}

/// [`apply_elementwise`] without a plan of an earlier call; remembered as `what` for later ones.
#[inline(never)]
fn apply_uncached(
    ctx: &Arc<ArrayContext>,
    op: Op,
    args: &[Arg<'_>],
    options: OpOptions<'_>,
    what: Option<CallKey>,
) -> Result<GpuArray> {
    if args.len() != op.arity() {
        return Err(ArrayError::type_error(format!("{} takes {} operands, got {}", op.name(), op.arity(), args.len())));
    }
    let computed: SmallVec<[Arg<'_>; 4]> = args
        .iter()
        .enumerate()
        .filter(|(at, _)| op.operand_role(*at) == OperandRole::Compute)
        .map(|(_, arg)| *arg)
        .collect();
    let common = options.dtype.unwrap_or_else(|| result_type(&computed));
    if op == Op::Power {
        check_exponent(common, args)?;
    }
    if let Some(constant) = out_of_range_comparison_result(op, common, args) {
        return fill_comparison_result(ctx, args, constant, options.out);
    }
    let types = op.resolve_types(common)?;
    let shape = broadcast_shapes(args.iter().map(Arg::shape)).ok_or_else(|| broadcast_error(args))?;
    if let Some(out) = options.out {
        check_out_argument(op, out, &shape, types.out)?;
    }
    let mut operands: SmallVec<[OperandSource<'_>; 4]> = SmallVec::new();
    for (at, arg) in args.iter().enumerate() {
        operands.push(match arg {
            Arg::Array(array) => OperandSource::Array(array),
            Arg::Scalar(scalar) => {
                let dtype = if op.operand_role(at) == OperandRole::Compute {
                    scalar_compute_dtype(types.compute, common)
                } else {
                    scalar.dtype()
                };
                OperandSource::Value(scalar.to_element(dtype)?, dtype)
            }
        });
    }
    let layout = || result_layout(args, shape, types.out.itemsize());
    if fuse::is_active() {
        for array in operands.iter().filter_map(OperandSource::as_array) {
            if !Arc::ptr_eq(array.context(), ctx) {
                return Err(ArrayError::value_error("operands live in different contexts"));
            }
        }
        if let Some(deferred) = fuse::defer_operation(ctx, op, types, &operands, options.out, layout.clone())? {
            return Ok(deferred);
        }
    }
    let out = match options.out {
        Some(out) => out.clone(),
        None => GpuArray::empty_with_layout(ctx, layout(), types.out)?,
    };
    let epoch = ctx.choices_epoch();
    let prepared = compute_and_prepare_launch(op, types.compute, &out, &operands)?;
    if let (Some(what), Some(prepared)) = (what, prepared) {
        ctx.insert_call(args, CachedCall::new(what, epoch, args, options.out, &out, prepared));
    }
    Ok(out)
}

/// The type a scalar is rounded to before the operation.
fn scalar_compute_dtype(compute: DType, common: DType) -> DType {
    // Functions of integers are computed in floats; the scalar's own value goes there directly.
    if common.kind() == compute.kind() { common } else { compute }
}

fn broadcast_error(args: &[Arg<'_>]) -> ArrayError {
    let shapes: Vec<_> = args.iter().map(|arg| PythonTuple(arg.shape()).to_string()).collect();
    ArrayError::value_error(format!("operands could not be broadcast together with shapes {}", shapes.join(" ")))
}

fn check_exponent(common: DType, args: &[Arg<'_>]) -> Result<()> {
    match args[1] {
        Arg::Scalar(scalar) if common.kind() == DTypeKind::Signed && args[0].has_elements() => match scalar.value() {
            WeakScalar::Int(exponent) if exponent < 0 => {
                Err(ArrayError::value_error("Integers to negative integer powers are not allowed."))
            }
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

/// The result of comparing integers with a Python integer that lies outside their type.
fn out_of_range_comparison_result(op: Op, common: DType, args: &[Arg<'_>]) -> Option<bool> {
    if !op.is_comparison() {
        return None;
    }
    let side = |arg: &Arg<'_>| match arg {
        Arg::Scalar(scalar) => scalar.compare_to_integer_range(common),
        Arg::Array(_) => Ordering::Equal,
    };
    let order = match (side(&args[0]), side(&args[1])) {
        (Ordering::Equal, Ordering::Equal) => return None,
        (Ordering::Equal, right) => right.reverse(),
        (left, _) => left,
    };
    Some(match op {
        Op::Equal => false,
        Op::NotEqual => true,
        Op::Less | Op::LessEqual => order == Ordering::Less,
        _ => order == Ordering::Greater,
    })
}

fn fill_comparison_result(
    ctx: &Arc<ArrayContext>,
    args: &[Arg<'_>],
    value: bool,
    out: Option<&GpuArray>,
) -> Result<GpuArray> {
    let shape = broadcast_shapes(args.iter().map(Arg::shape)).ok_or_else(|| broadcast_error(args))?;
    let out = match out {
        Some(out) => out.clone(),
        None => GpuArray::empty(ctx, &shape, DType::Bool, Order::C)?,
    };
    out.fill(Scalar::Weak(WeakScalar::Bool(value)))?;
    Ok(out)
}

fn check_out_argument<'a>(op: Op, out: &'a GpuArray, shape: &Shape, dtype: DType) -> Result<&'a GpuArray> {
    if out.shape() != shape.as_slice() {
        return Err(ArrayError::value_error(format!(
            "non-broadcastable output operand with shape {} doesn't match the broadcast shape {}",
            PythonTuple(out.shape()),
            PythonTuple(shape)
        )));
    }
    if can_cast_same_kind(dtype, out.dtype()) {
        return Ok(out);
    }
    Err(ArrayError::type_error(format!(
        "Cannot cast ufunc '{}' output from {dtype} to {} with casting rule 'same_kind'",
        op.name(),
        out.dtype()
    )))
}

/// NumPy's casting rule `same_kind`: the kind is not lost.
pub fn can_cast_same_kind(from: DType, to: DType) -> bool {
    match (from.kind(), to.kind()) {
        (DTypeKind::Record, _) | (_, DTypeKind::Record) => from == to,
        (a, b) => a <= b,
    }
}

impl GpuArray {
    /// Writes these elements to `out`, if [`check_out`] allows it. Does not wait.
    ///
    /// # Errors
    /// Those of [`check_out`].
    pub fn store_in(&self, out: &GpuArray) -> Result<()> {
        check_out(out, self.shape(), self.dtype())?;
        out.assign(self)
    }
}

/// Refuses an array for a result of `shape` and `dtype` that has another shape, or a dtype to which NumPy's casting rule
/// `same_kind` does not lead.
///
/// # Errors
/// Those that it is for.
pub fn check_out(out: &GpuArray, shape: &[usize], dtype: DType) -> Result<()> {
    if out.shape() != shape {
        let (given, expected) = (PythonTuple(out.shape()), PythonTuple(shape));
        return Err(ArrayError::value_error(format!(
            "output array has wrong shape: out has shape {given}; expected {expected}"
        )));
    }
    if !can_cast_same_kind(dtype, out.dtype()) {
        return Err(ArrayError::type_error(format!(
            "out is of dtype {}; expected {dtype}, or one that it is cast to by NumPy's rule 'same_kind'",
            out.dtype()
        )));
    }
    Ok(())
}

/// The memory order of the inputs if they agree, else C.
fn result_layout(args: &[Arg<'_>], shape: Shape, itemsize: usize) -> Layout {
    let mut full = args.iter().filter_map(|arg| match arg {
        Arg::Array(array) if array.shape() == shape.as_slice() => Some(array.layout()),
        _ => None,
    });
    match full.next() {
        Some(first) if shape.len() > 1 && !first.has_descending_strides() => Layout::dense_like(first, itemsize),
        _ => Layout::contiguous(&shape, itemsize, Order::C),
    }
}

impl Layout {
    /// Whether strides fall from the first axis to the last.
    fn has_descending_strides(&self) -> bool {
        self.strides.windows(2).all(|pair| pair[0].unsigned_abs() >= pair[1].unsigned_abs())
    }
}

/// An operand ready for a kernel.
#[derive(Debug, Clone, Copy)]
pub(crate) enum OperandSource<'a> {
    Array(&'a GpuArray),
    Value(ScalarElement, DType),
}

impl<'a> OperandSource<'a> {
    fn as_array(&self) -> Option<&'a GpuArray> {
        match self {
            OperandSource::Array(array) => Some(array),
            OperandSource::Value(..) => None,
        }
    }
}

/// Writes `op` of `operands` to every element of `out`. Operands that share memory with `out` in
/// another layout are copied first, so that results are as if nothing were shared.
pub(crate) fn compute_into(op: Op, compute: DType, out: &GpuArray, operands: &[OperandSource<'_>]) -> Result<()> {
    compute_and_prepare_launch(op, compute, out, operands).map(drop)
}

/// [`compute_into`], and the launch for calls that are like this one; `None` where more than a launch or less
/// was needed.
fn compute_and_prepare_launch(
    op: Op,
    compute: DType,
    out: &GpuArray,
    operands: &[OperandSource<'_>],
) -> Result<Option<PreparedLaunch>> {
    if out.size() == 0 {
        return Ok(None);
    }
    let mut copies: SmallVec<[Option<GpuArray>; 4]> = SmallVec::new();
    for array in operands.iter().filter_map(OperandSource::as_array).chain([out]) {
        array.check_memory()?;
    }
    for operand in operands {
        copies.push(match operand {
            OperandSource::Array(array) => {
                out.check_context(array)?;
                if out.has_write_hazard(array) { Some(array.copy(None)?) } else { None }
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

/// Whether every element lies where its type may be read at once.
pub(crate) fn is_aligned(array: &GpuArray) -> bool {
    let alignment = match array.dtype() {
        DType::Void(_) => 1,
        dtype => dtype.real_part().itemsize(),
    };
    array.device_ptr().is_none_or(|ptr| ptr.is_multiple_of(alignment as u64))
        && array
            .strides()
            .iter()
            .zip(array.shape())
            .all(|(stride, n)| *n == 1 || stride.unsigned_abs().is_multiple_of(alignment))
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
    fn plan_and_launch<const N: usize>(&self) -> Result<PreparedLaunch> {
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
            None => self.pointwise_kernel(
                self.strided_operands(),
                access_pattern::choose_access_pattern(&plan, self.out, self.arrays),
            ),
        };
        self.launch_planned(&plan, &kernel)
    }

    fn pointwise_kernel(&self, operands: [PointwiseOperand; 4], pattern: AccessPattern) -> PointwiseSpec {
        let is_out_unaligned = matches!(pattern, AccessPattern::Strided(_)) && !is_aligned(self.out);
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
            |array: &GpuArray, _| Some(if is_aligned(array) { OperandKind::Element } else { OperandKind::Unaligned });
        self.build_operands(access).unwrap_or([PointwiseOperand::UNUSED_OPERAND; 4])
    }

    /// The operands if each lies without gaps or is a single element.
    fn flat_operands<const N: usize>(&self, plan: &IterationPlan<N>) -> Option<[PointwiseOperand; 4]> {
        let item = self.out.itemsize() as isize;
        if plan.single_stride(0, item)? != item || !is_aligned(self.out) {
            return None;
        }
        self.build_operands(|array, k| {
            let item = array.itemsize() as isize;
            match plan.single_stride(k, item)? {
                _ if !is_aligned(array) => None,
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

    fn launch_planned<const N: usize>(
        &self,
        plan: &IterationPlan<N>,
        kernel: &PointwiseSpec,
    ) -> Result<PreparedLaunch> {
        let mut args = PackedKernelArgs::new();
        let mut address_offsets: SmallVec<[usize; 4]> = SmallVec::new();
        for (array, offset) in std::iter::once(&self.out).chain(self.arrays.iter().flatten()).zip(&plan.offsets) {
            args.push_u64(array.address(*offset));
            address_offsets.push(offset.wrapping_sub(array.layout().offset));
        }
        let size = plan.n_elements();
        args.push_u64(size as u64);
        let ctx = self.out.context();
        if let AccessPattern::Strided(space) | AccessPattern::Tiled(space, _) = kernel.pattern {
            let all: SmallVec<[usize; 5]> = (0..N).collect();
            plan.push_dims(space, &all, &mut args);
        }
        let blocks = match kernel.pattern {
            AccessPattern::Flat(elements_per_access) => {
                ctx.device_info().grid_block_count(size.div_ceil(usize::from(elements_per_access)))
            }
            AccessPattern::Strided(_) => ctx.device_info().grid_block_count(size),
            AccessPattern::Tiled(_, tile) => {
                let lengths: SmallVec<[usize; 4]> = plan.axes.iter().map(|axis| axis.0).collect();
                tile.n_tiles(&lengths).min(i32::MAX as usize) as u32
            }
        };
        let mut values: SmallVec<[(usize, DType); 2]> = SmallVec::new();
        for operand in self.operands {
            if let OperandSource::Value(element, dtype) = operand {
                args.push(element.bytes(), element.alignment());
                values.push((args.packed_bytes().len() - element.bytes().len(), *dtype));
            }
        }
        let threads =
            if let AccessPattern::Tiled(..) = kernel.pattern { TRANSPOSE_TILE_THREADS } else { BLOCK_THREADS };
        let compiled = ctx.compiled_kernel(kernel)?;
        let (grid, block) = ([blocks, 1, 1], [threads, 1, 1]);
        compiled.launch(grid, block, 0, args.packed_bytes())?;
        Ok(PreparedLaunch {
            kernel: compiled,
            grid,
            block,
            packed: SmallVec::from_slice(args.packed_bytes()),
            address_offsets,
            values,
            workspace: None,
        })
    }
}

/// Common uses.
impl GpuArray {
    /// `op` of this array.
    ///
    /// # Errors
    /// When the dtype does not allow it.
    pub fn unary(&self, op: Op) -> Result<GpuArray> {
        apply_elementwise(self.context(), op, &[self.into()], OpOptions::default())
    }

    /// `op` of this array and another operand.
    ///
    /// # Errors
    /// As [`apply_elementwise`].
    pub fn binary<'a>(&'a self, op: Op, other: impl Into<Arg<'a>>) -> Result<GpuArray> {
        binary_with_power_shortcuts(self.context(), op, self.into(), other.into(), None)
    }

    /// `self op= other`.
    ///
    /// # Errors
    /// As [`apply_elementwise`], and when the result's kind cannot be stored in this dtype.
    pub fn binary_in_place<'a>(&'a self, op: Op, other: impl Into<Arg<'a>>) -> Result<()> {
        binary_with_power_shortcuts(self.context(), op, self.into(), other.into(), Some(self)).map(drop)
    }

    /// Sets every element to `value`.
    ///
    /// # Errors
    /// Overflow when a Python integer does not fit the dtype.
    pub fn fill(&self, value: Scalar) -> Result<()> {
        self.fill_element(value.to_element(self.dtype())?)
    }

    /// Sets every element to one that was made for this dtype.
    ///
    /// # Errors
    /// When the device fails.
    pub fn fill_element(&self, value: ScalarElement) -> Result<()> {
        compute_into(Op::Copy, self.dtype(), self, &[OperandSource::Value(value, self.dtype())])
    }

    /// A copy converted to `dtype` as C converts.
    ///
    /// # Errors
    /// When one of the dtypes is a record and the other is not.
    pub fn astype(&self, dtype: DType) -> Result<GpuArray> {
        let types = OpTypes { compute: self.dtype(), out: dtype };
        let layout = || Layout::dense_like(self.layout(), dtype.itemsize());
        if dtype.kind() != DTypeKind::Record
            && let Some(deferred) =
                fuse::defer_operation(self.context(), Op::Copy, types, &[OperandSource::Array(self)], None, layout)?
        {
            return Ok(deferred);
        }
        let new = self.empty_like(dtype)?;
        new.assign(self)?;
        Ok(new)
    }

    /// The array itself if it has this dtype, else a converted copy.
    ///
    /// # Errors
    /// As [`GpuArray::astype`].
    pub fn to_dtype(&self, dtype: DType) -> Result<GpuArray> {
        if self.dtype() == dtype { Ok(self.clone()) } else { self.astype(dtype) }
    }

    /// Whether the copy of a result that was deferred was deferred, too.
    pub(crate) fn assign_deferred(&self, source: &GpuArray) -> Result<bool> {
        let fits = || source.layout().broadcast_to(self.shape()).is_ok();
        if !fuse::is_active() || !fuse::is_deferred(source) || self.dtype().kind() == DTypeKind::Record || !fits() {
            return Ok(false);
        }
        let types = OpTypes { compute: source.dtype(), out: self.dtype() };
        let layout = || self.layout().clone();
        fuse::defer_operation(self.context(), Op::Copy, types, &[OperandSource::Array(source)], Some(self), layout)
            .map(|deferred| deferred.is_some())
    }

    pub(crate) fn assign_pointwise(&self, source: &GpuArray) -> Result<()> {
        let (from, to) = (source.dtype(), self.dtype());
        if from != to && (from.kind() == DTypeKind::Record || to.kind() == DTypeKind::Record) {
            return Err(ArrayError::type_error(format!("cannot convert elements of type {from} to {to}")));
        }
        if source.layout().broadcast_to(self.shape()).is_err() {
            return Err(ArrayError::value_error(format!(
                "could not broadcast input array from shape {} into shape {}",
                PythonTuple(source.shape()),
                PythonTuple(self.shape())
            )));
        }
        compute_into(Op::Copy, from, self, &[OperandSource::Array(source)])
    }

    /// The numbers `start + i * step` for the elements `i` of this one-dimensional array.
    ///
    /// # Errors
    /// When a number does not fit the dtype.
    pub fn fill_range(&self, start: Scalar, step: Scalar) -> Result<()> {
        let dtype = self.dtype();
        let types = Op::Index.resolve_types(dtype)?;
        let contiguous = if self.is_contiguous(Order::C) { self.clone() } else { self.empty_like(dtype)? };
        let values = [start.to_element(dtype)?, step.to_element(dtype)?];
        compute_into(Op::Index, types.compute, &contiguous, &values.map(|value| OperandSource::Value(value, dtype)))?;
        if self.is_contiguous(Order::C) { Ok(()) } else { self.assign(&contiguous) }
    }
}

/// A binary operation, with NumPy's short cuts for powers with common exponents.
///
/// # Errors
/// As [`apply_elementwise`].
pub fn binary_with_power_shortcuts(
    ctx: &Arc<ArrayContext>,
    op: Op,
    x: Arg<'_>,
    y: Arg<'_>,
    out: Option<&GpuArray>,
) -> Result<GpuArray> {
    let options = OpOptions { out, dtype: None };
    if let (Op::Power, Arg::Array(base), Arg::Scalar(Scalar::Weak(WeakScalar::Int(2)))) = (op, x, y)
        && base.dtype() == DType::Bool
        && base.ndim() > 0
    {
        // The one place where NumPy's short cut shows: int8 rather than int64.
        return apply_elementwise(ctx, Op::Square, &[x], options);
    }
    if let (Op::Power, Arg::Array(base), Arg::Scalar(exponent)) = (op, x, y)
        && base.dtype().kind() > DTypeKind::Signed
        && result_type(&[x, y]) == base.dtype()
        && let Some(short) = power_shortcut(exponent)
    {
        return apply_elementwise(ctx, short, &[x], options);
    }
    apply_elementwise(ctx, op, &[x, y], options)
}

fn power_shortcut(exponent: Scalar) -> Option<Op> {
    let value = match exponent.value() {
        WeakScalar::Int(value) => value as f64,
        WeakScalar::Float(value) => value,
        _ => return None,
    };
    [(2.0, Op::Square), (1.0, Op::Positive), (0.5, Op::Sqrt), (-1.0, Op::Reciprocal)]
        .into_iter()
        .find(|(short, _)| *short == value)
        .map(|(_, op)| op)
}
