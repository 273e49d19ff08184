//! Reductions, scans and sorts of segments, and runs of equal elements.
//!
//! Segments are adjacent: segment `j` of a vector is `offsets[j]..offsets[j + 1]`, and may be empty. Elements are
//! combined in order, grouped in a way that depends only on the number of elements and the offsets, so the bits are the
//! same on every device and in every run.

use crate::array::{GpuArray, array_args, push_arrays, push_optional};
use crate::layout::{Order, PythonTuple};
use crate::scan::widened_dtype;
use crate::{Index, Scalar};
use rtcg_codegen::array::{
    BoundsMode, Op, ReductionOp, SEGMENT_THREADS, SEGMENT_TILE, ScanOp, SegmentSpec, SegmentStage,
};
use rtcg_hal::{ArrayError, DType, DTypeKind, LaunchArgs, Result, WeakScalar};

/// Elements of a segmented operation, checked, and how they are divided.
pub(crate) struct Segments<'a> {
    values: &'a GpuArray,
    offsets: &'a GpuArray,
    ranges: usize,
    range_length: usize,
}

impl GpuArray {
    /// Reduces each segment of this vector, to a vector of one element per segment. An empty segment gives 0, 1, or the
    /// smallest or largest number of the dtype. Corresponds to CUB's `DeviceSegmentedReduce`; NumPy's `reduceat`
    /// differs in that an empty segment gives the element at its offset, and in that it takes no end. By default sums
    /// and products of small integers are computed in 64 bits. Waits to check that offsets ascend.
    ///
    /// # Errors
    /// When this is not a vector of numbers, or offsets do not ascend from 0 to its length.
    pub fn segmented_reduce(&self, op: ScanOp, offsets: &GpuArray, dtype: Option<DType>) -> Result<GpuArray> {
        let (values, offsets) = checked_segments(self, offsets)?;
        let out = dtype.unwrap_or_else(|| widened_dtype(op, self.dtype()));
        let result = GpuArray::empty(self.context(), &[offsets.size() - 1], out, Order::C)?;
        if values.size() == 0 || result.size() == 0 {
            result.fill(identity(op, out))?;
            return Ok(result);
        }
        Segments::new(&values, &offsets).reduce(op, &result)?;
        Ok(result)
    }

    /// Scans each segment, with (inclusive) or without (`is_exclusive`) each element itself, to a vector of the same
    /// length. An exclusive scan begins with the result for an empty segment. Elements before the first offset and
    /// after the last form segments of their own. Corresponds to Thrust's `exclusive_scan_by_key` and
    /// `inclusive_scan_by_key`, with offsets. Waits like [`GpuArray::segmented_reduce`].
    ///
    /// # Errors
    /// As for [`GpuArray::segmented_reduce`].
    pub fn segmented_scan(
        &self,
        op: ScanOp,
        offsets: &GpuArray,
        is_exclusive: bool,
        dtype: Option<DType>,
    ) -> Result<GpuArray> {
        let (values, offsets) = checked_segments(self, offsets)?;
        let out = dtype.unwrap_or_else(|| widened_dtype(op, self.dtype()));
        let result = GpuArray::empty(self.context(), self.shape(), out, Order::C)?;
        if result.size() > 0 {
            Segments::new(&values, &offsets).scan(op, is_exclusive, &result)?;
        }
        Ok(result)
    }

    /// Sorts each segment stably and returns the elements and their original indices (int64). Elements before the first
    /// offset and after the last form segments of their own. Corresponds to CUB's `DeviceSegmentedSort`. Waits like
    /// [`GpuArray::segmented_reduce`].
    ///
    /// # Errors
    /// As for [`GpuArray::segmented_reduce`].
    pub fn segmented_sort(&self, offsets: &GpuArray, is_descending: bool) -> Result<[GpuArray; 2]> {
        let (values, offsets) = checked_segments(self, offsets)?;
        let by_value = values.argsort(0, is_descending)?;
        let segment = offsets.searchsorted(&by_value, true)?;
        let order = by_value.take(&segment.argsort_below(offsets.size() as u64 + 1)?, 0, BoundsMode::Wrap, None)?;
        Ok([values.take(&order, 0, BoundsMode::Wrap, None)?, order])
    }

    /// Returns where runs of equal elements of this vector begin, followed by its length: segment offsets, int64. NaN
    /// equals nothing. Waits for the number of runs.
    ///
    /// # Errors
    /// When this is not a vector of numbers.
    pub fn run_offsets(&self) -> Result<GpuArray> {
        let values = checked_vector("keys", self)?;
        let n = values.size();
        let is_first = GpuArray::empty(self.context(), &[n + 1], DType::Bool, Order::C)?;
        is_first.fill(Scalar::Weak(WeakScalar::Bool(true)))?;
        if n > 1 {
            let part = |from, to| [Index::Slice(Some(from), Some(to), None)];
            let end = n as isize;
            let before = values.index(&part(0, end - 1))?;
            is_first.index(&part(1, end))?.assign(&values.index(&part(1, end))?.binary(Op::NotEqual, &before)?)?;
        }
        if n == 0 { GpuArray::zeros(self.context(), &[1], DType::I64, Order::C) } else { is_first.flat_nonzero() }
    }

    /// Returns the element and the length (int64) of each run of equal elements. Corresponds to CUB's
    /// `DeviceRunLengthEncode` and `itertools.groupby`. Waits for the number of runs.
    ///
    /// # Errors
    /// When this is not a vector of numbers.
    pub fn run_length_encode(&self) -> Result<[GpuArray; 2]> {
        checked_vector("values", self)?;
        let (begin, end) = begins_and_ends(&self.run_offsets()?)?;
        Ok([self.take(&begin, 0, BoundsMode::Wrap, None)?, end.binary(Op::Subtract, &begin)?])
    }

    /// Repeats each element of this vector as often as `counts` says: the inverse of [`GpuArray::run_length_encode`].
    /// Waits for the length of the result.
    ///
    /// # Errors
    /// When `counts` is not a vector of as many integers of at least 0.
    pub fn run_length_decode(&self, counts: &GpuArray) -> Result<GpuArray> {
        let values = checked_vector("values", self)?;
        check_length("counts", counts, values.size())?;
        check_integers("counts", counts)?;
        values.check_context(counts)?;
        if counts.size() == 0 {
            return values.copy(None);
        }
        let extreme = |op| counts.reduce(op, crate::ReduceOptions::default())?.to_dtype(DType::I64);
        let (lowest, highest) =
            (read_i64(&extreme(ReductionOp::Minimum)?)?, read_i64(&extreme(ReductionOp::Maximum)?)?);
        if lowest < 0 {
            return Err(ArrayError::value_error(format!("counts has {lowest}; expected numbers of at least 0")));
        }
        if highest.checked_mul(counts.size() as i64).is_none() {
            return Err(ArrayError::value_error(format!(
                "counts has {highest}; expected numbers whose sum fits int64"
            )));
        }
        let ends = counts.cumulative(ScanOp::Sum, 0, Some(DType::I64))?;
        let total = read_i64(&ends.index(&[Index::At(-1)])?)?;
        let places = GpuArray::empty(self.context(), &[total as usize], DType::I64, Order::C)?;
        places.fill_range(Scalar::Weak(WeakScalar::Int(0)), Scalar::Weak(WeakScalar::Int(1)))?;
        values.take(&ends.searchsorted(&places, true)?, 0, BoundsMode::Wrap, None)
    }
}

/// Returns the key of each run of equal keys, and the reduction of its values. Corresponds to Thrust's `reduce_by_key`.
/// Waits for the number of runs.
///
/// # Errors
/// When `keys` or `values` is not a vector of numbers, or their lengths differ.
pub fn reduce_by_key(keys: &GpuArray, values: &GpuArray, op: ScanOp, dtype: Option<DType>) -> Result<[GpuArray; 2]> {
    let (offsets, begin) = runs_of_pairs(keys, values)?;
    Ok([keys.take(&begin, 0, BoundsMode::Wrap, None)?, values.segmented_reduce(op, &offsets, dtype)?])
}

/// Returns the first key of each run of equal keys, and its value. Corresponds to Thrust's `unique_by_key`. Waits for
/// the number of runs.
///
/// # Errors
/// As for [`reduce_by_key`].
pub fn unique_by_key(keys: &GpuArray, values: &GpuArray) -> Result<[GpuArray; 2]> {
    let (_, begin) = runs_of_pairs(keys, values)?;
    Ok([keys.take(&begin, 0, BoundsMode::Wrap, None)?, values.take(&begin, 0, BoundsMode::Wrap, None)?])
}

fn runs_of_pairs(keys: &GpuArray, values: &GpuArray) -> Result<(GpuArray, GpuArray)> {
    checked_vector("values", values)?;
    check_length("values", values, checked_vector("keys", keys)?.size())?;
    keys.check_context(values)?;
    let offsets = keys.run_offsets()?;
    let begin = begins_and_ends(&offsets)?.0;
    Ok((offsets, begin))
}

fn begins_and_ends(offsets: &GpuArray) -> Result<(GpuArray, GpuArray)> {
    Ok((offsets.index(&[Index::Slice(None, Some(-1), None)])?, offsets.index(&[Index::Slice(Some(1), None, None)])?))
}

impl<'a> Segments<'a> {
    pub(crate) fn new(values: &'a GpuArray, offsets: &'a GpuArray) -> Self {
        let range_length = values.size().div_ceil(SEGMENT_TILE).next_multiple_of(SEGMENT_TILE);
        Self { values, offsets, ranges: values.size().div_ceil(range_length), range_length }
    }

    pub(crate) fn reduce(&self, op: ScanOp, out: &GpuArray) -> Result<()> {
        let spec = self.spec(op, out, None, SegmentStage::Ranges);
        let state = self.state(&spec)?;
        self.launch_ranges(&spec, Some(out), Some(&state), false)?;
        if self.ranges > 1 {
            self.launch_carries(&SegmentSpec { stage: SegmentStage::Carries, ..spec }, Some(out), &state)?;
        }
        Ok(())
    }

    fn scan(&self, op: ScanOp, is_exclusive: bool, out: &GpuArray) -> Result<()> {
        let spec = self.spec(op, out, Some(is_exclusive), SegmentStage::Ranges);
        if self.ranges == 1 {
            return self.launch_ranges(&spec, Some(out), None, false);
        }
        let state = self.state(&spec)?;
        self.launch_ranges(&spec, None, Some(&state), false)?;
        self.launch_carries(&SegmentSpec { stage: SegmentStage::Carries, ..spec }, None, &state)?;
        self.launch_ranges(&spec, Some(out), Some(&state), true)
    }

    fn spec(&self, op: ScanOp, out: &GpuArray, scan: Option<bool>, stage: SegmentStage) -> SegmentSpec {
        SegmentSpec { op, x: self.values.dtype(), out: out.dtype(), scan, stage }
    }

    /// What ranges leave: what is combined since the last head, whether there is one, and what is combined to the first end.
    fn state(&self, spec: &SegmentSpec) -> Result<[GpuArray; 3]> {
        let bytes = |each: usize| GpuArray::empty(self.values.context(), &[each * self.ranges], DType::U8, Order::C);
        Ok([bytes(spec.item_bytes())?, bytes(1)?, bytes(spec.item_bytes())?])
    }

    fn launch_ranges(
        &self,
        spec: &SegmentSpec,
        out: Option<&GpuArray>,
        state: Option<&[GpuArray; 3]>,
        has_carries: bool,
    ) -> Result<()> {
        let mut args = LaunchArgs::new();
        push_optional(&mut args, out)?;
        for place in 0..3 {
            push_optional(&mut args, state.map(|state| &state[place]))?;
        }
        push_arrays(&mut args, &[self.values])?;
        args.push_u64(self.values.size() as u64);
        self.push_offsets(&mut args)?;
        args.push(&[u8::from(has_carries)], 1);
        self.launch(spec, self.ranges, &args)
    }

    fn launch_carries(&self, spec: &SegmentSpec, out: Option<&GpuArray>, state: &[GpuArray; 3]) -> Result<()> {
        let mut args = LaunchArgs::new();
        push_optional(&mut args, out)?;
        push_arrays(&mut args, &[&state[0], &state[1], &state[2]])?;
        args.push_u32(self.ranges as u32);
        args.push_u64(self.values.size() as u64);
        self.push_offsets(&mut args)?;
        self.launch(spec, 1, &args)
    }

    fn push_offsets(&self, args: &mut LaunchArgs) -> Result<()> {
        push_arrays(args, &[self.offsets])?;
        [self.offsets.size(), self.range_length].iter().for_each(|&n| args.push_u64(n as u64));
        Ok(())
    }

    fn launch(&self, spec: &SegmentSpec, blocks: usize, args: &LaunchArgs) -> Result<()> {
        self.values.context().launch(spec, blocks as u32, SEGMENT_THREADS, args)
    }
}

/// Values and offsets as kernels take them.
fn checked_segments(values: &GpuArray, offsets: &GpuArray) -> Result<(GpuArray, GpuArray)> {
    let values = checked_vector("values", values)?;
    check_integers("offsets", offsets)?;
    values.check_context(offsets)?;
    if offsets.ndim() != 1 || offsets.size() == 0 {
        let shape = PythonTuple(offsets.shape());
        let message = format!("offsets has shape {shape}; expected one axis of at least one number");
        return Err(ArrayError::value_error(message));
    }
    let offsets = offsets.to_dtype(DType::I64)?.to_contiguous()?;
    let ctx = values.context();
    let state = GpuArray::zeros(ctx, &[1], DType::U64, Order::C)?;
    let mut args = array_args(&[&state, &offsets])?;
    [offsets.size(), values.size()].iter().for_each(|&n| args.push_u64(n as u64));
    let spec = SegmentSpec { op: ScanOp::Sum, x: DType::U8, out: DType::U8, scan: None, stage: SegmentStage::Check };
    let blocks = ctx.device_info().grid_block_count(offsets.size());
    ctx.launch(&spec, blocks, SEGMENT_THREADS, &args)?;
    let first = read_i64(&state)? as u64;
    if first != 0 {
        let at = !first as usize;
        let offset = read_i64(&offsets.index(&[Index::At(at as isize)])?)?;
        let least = if at == 0 { 0 } else { read_i64(&offsets.index(&[Index::At(at as isize - 1)])?)? };
        return Err(ArrayError::value_error(format!(
            "offsets[{at}] is {offset}; expected ascending numbers, here from {least} to {}, the number of values",
            values.size()
        )));
    }
    Ok((values, offsets))
}

fn checked_vector(name: &str, array: &GpuArray) -> Result<GpuArray> {
    if array.ndim() != 1 {
        let shape = PythonTuple(array.shape());
        return Err(ArrayError::value_error(format!("{name} has shape {shape}; expected one axis")));
    }
    if matches!(array.dtype(), DType::Void(_)) {
        return Err(ArrayError::type_error(format!("{name} is of dtype {}; expected numbers", array.dtype())));
    }
    array.check_memory()?;
    array.to_contiguous()
}

fn check_integers(name: &str, array: &GpuArray) -> Result<()> {
    if array.dtype().is_integral() {
        return Ok(());
    }
    Err(ArrayError::type_error(format!("{name} is of dtype {}; expected integers", array.dtype())))
}

fn check_length(name: &str, array: &GpuArray, length: usize) -> Result<()> {
    if array.shape() == [length] {
        return Ok(());
    }
    let shape = PythonTuple(array.shape());
    Err(ArrayError::value_error(format!("{name} has shape {shape}; expected ({length},)")))
}

fn read_i64(array: &GpuArray) -> Result<i64> {
    let mut bytes = [0; 8];
    array.read(&mut bytes, Order::C)?;
    Ok(i64::from_ne_bytes(bytes))
}

/// The identity element of an operation.
fn identity(op: ScanOp, dtype: DType) -> Scalar {
    let bits = 8 * dtype.itemsize() as u32;
    Scalar::Weak(match (op, dtype.kind()) {
        (ScanOp::Sum, _) => WeakScalar::Int(0),
        (ScanOp::Product, _) => WeakScalar::Int(1),
        (_, DTypeKind::Bool) => WeakScalar::Bool(op == ScanOp::Minimum),
        (ScanOp::Maximum, DTypeKind::Unsigned) => WeakScalar::Int(0),
        (ScanOp::Minimum, DTypeKind::Unsigned) => WeakScalar::Int((1 << bits) - 1),
        (ScanOp::Maximum, DTypeKind::Signed) => WeakScalar::Int(-(1 << (bits - 1))),
        (ScanOp::Minimum, DTypeKind::Signed) => WeakScalar::Int((1 << (bits - 1)) - 1),
        (_, DTypeKind::Complex) if op == ScanOp::Maximum => WeakScalar::Complex(f64::NEG_INFINITY, f64::NEG_INFINITY),
        (_, DTypeKind::Complex) => WeakScalar::Complex(f64::INFINITY, f64::INFINITY),
        (ScanOp::Maximum, _) => WeakScalar::Float(f64::NEG_INFINITY),
        (ScanOp::Minimum, _) => WeakScalar::Float(f64::INFINITY),
    })
}
