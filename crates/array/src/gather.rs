//! Indexing with integer and boolean arrays, for reading and writing.

use crate::array::GpuArray;
use crate::iteration_plan::IterationPlan;
use crate::layout::{Layout, Order, PythonTuple, Shape, Strides, broadcast_shapes};
use crate::views::Index;
use rtcg_codegen::array::{BoundsMode, GatherDirection, GatherSpec, Op};
use rtcg_hal::{ArrayError, BLOCK_THREADS, DType, DTypeKind, LaunchArgs, Result};
use smallvec::SmallVec;

/// Index arrays that one kernel can read.
const MAX_INDICES: usize = 8;

/// One item of an advanced index.
#[derive(Debug, Clone)]
pub enum FancyIndex {
    /// A basic item.
    Basic(Index),
    /// An array of integers or booleans.
    Array(GpuArray),
}

/// One item of an index whose masks are replaced by indices.
enum ExpandedIndex {
    /// A basic item.
    Basic(Index),
    /// An array of integers, and the basic item that makes the axis it indexes.
    Array(GpuArray, Index),
}

impl ExpandedIndex {
    fn as_basic_index(&self) -> Index {
        match self {
            ExpandedIndex::Basic(index) | ExpandedIndex::Array(_, index) => *index,
        }
    }
}

/// An index brought to one form: a view whose axes are either indexed by an array or left alone.
struct ResolvedIndex {
    view: GpuArray,
    /// The indexed axes of the view with their index arrays, broadcast to one shape.
    indexed: SmallVec<[(usize, GpuArray); 4]>,
    /// The shape of the index arrays.
    shape: Shape,
    /// Where the axes of the index arrays go among those that are left.
    position: usize,
}

impl GpuArray {
    /// Gathers the elements that an advanced index selects into new memory.
    ///
    /// Indices out of bounds are noted on the device; the next operation that copies something to the host reports
    /// them.
    ///
    /// # Errors
    /// When there are too many indices or the index arrays do not fit together.
    pub fn take_fancy(&self, items: &[FancyIndex]) -> Result<GpuArray> {
        let resolved = self.resolve_index(items)?;
        let out = GpuArray::empty(self.context(), &resolved.result_shape(), self.dtype(), Order::C)?;
        resolved.launch_gather(&out, GatherDirection::Get, BoundsMode::Raise)?;
        Ok(out)
    }

    /// Writes `values`, broadcast and converted, to the elements that an index selects.
    ///
    /// # Errors
    /// As [`GpuArray::take_fancy`], and when `values` do not fit.
    pub fn put_fancy(&self, items: &[FancyIndex], values: &GpuArray) -> Result<()> {
        if let [FancyIndex::Array(mask)] = items
            && mask.dtype() == DType::Bool
            && mask.shape() == self.shape()
            && values.size() == 1
        {
            return self.put_where(mask, values);
        }
        let resolved = self.resolve_index(items)?;
        let shape = resolved.result_shape();
        let values = values.without_leading_ones(shape.len()).broadcast_to(&shape).map_err(|_| {
            ArrayError::value_error(format!(
                "shape mismatch: value array of shape {} could not be broadcast to indexing result of shape {}",
                PythonTuple(values.shape()),
                PythonTuple(&shape)
            ))
        })?;
        let values = if self.overlaps(&values) { values.copy(None)? } else { values };
        resolved.launch_gather(&values, GatherDirection::Set, BoundsMode::Raise)
    }

    /// Writes one value where `mask` is true, without asking the device how many there are.
    fn put_where(&self, mask: &GpuArray, value: &GpuArray) -> Result<()> {
        let value = value.reshape_to(&[], Order::C)?.to_dtype(self.dtype())?;
        let operands = [mask, &value, self].map(crate::array::OperandSource::Array);
        crate::elementwise::compute_into(Op::Where, self.dtype(), self, &operands)
    }

    /// Gathers elements along `axis` by an array of indices; `bounds` says how indices outside of 0 to length - 1 are
    /// treated.
    ///
    /// # Errors
    /// When the axis does not exist or the indices are not integers.
    pub fn take(
        &self,
        indices: &GpuArray,
        axis: usize,
        bounds: BoundsMode,
        out: Option<&GpuArray>,
    ) -> Result<GpuArray> {
        let resolved = self.resolve_axis_index(indices, axis)?;
        let shape = resolved.result_shape();
        // Without elements to fetch no kernel sees the indices.
        let is_asked = indices.size() > 0 && self.shape()[..axis].iter().all(|&n| n > 0);
        if bounds == BoundsMode::Raise && self.shape()[axis] == 0 && is_asked {
            return Err(empty_axis_index_error(axis));
        }
        let out = match out {
            Some(out) if out.shape() != shape.as_slice() => {
                let (given, wanted) = (PythonTuple(out.shape()), PythonTuple(&shape));
                return Err(ArrayError::value_error(format!("take: out has shape {given}; expected {wanted}")));
            }
            Some(out) => out.clone(),
            None => GpuArray::empty(self.context(), &shape, self.dtype(), Order::C)?,
        };
        resolved.launch_gather(&out, GatherDirection::Get, bounds)?;
        Ok(out)
    }

    /// Writes `values` to the elements along `axis` at `indices`.
    ///
    /// # Errors
    /// As [`GpuArray::take`], and when `values` do not fit.
    pub fn put(&self, indices: &GpuArray, values: &GpuArray, axis: usize, bounds: BoundsMode) -> Result<()> {
        let resolved = self.resolve_axis_index(indices, axis)?;
        let values = values.broadcast_to(&resolved.result_shape())?;
        resolved.launch_gather(&values, GatherDirection::Set, bounds)
    }

    fn resolve_axis_index(&self, indices: &GpuArray, axis: usize) -> Result<ResolvedIndex> {
        check_integer_indices(indices)?;
        Ok(ResolvedIndex {
            view: self.clone(),
            shape: indices.shape_owned(),
            indexed: SmallVec::from_iter([(axis, indices.clone())]),
            position: axis,
        })
    }

    /// Returns the indices of the nonzero elements, one array per axis; waits for their number.
    ///
    /// # Errors
    /// When the device fails.
    pub fn nonzero(&self) -> Result<Vec<GpuArray>> {
        let flat = self.flat_nonzero()?;
        let mut rest = flat;
        let mut found = Vec::with_capacity(self.ndim());
        for &length in self.shape().iter().rev() {
            let length = i64::try_from(length.max(1)).unwrap_or(i64::MAX);
            found.push(rest.binary(Op::Remainder, length)?);
            rest = rest.binary(Op::FloorDivide, length)?;
        }
        found.reverse();
        Ok(found)
    }

    /// Returns the flat C-order indices of the nonzero elements; waits for their number.
    ///
    /// # Errors
    /// When the device fails.
    pub fn flat_nonzero(&self) -> Result<GpuArray> {
        let ctx = self.context();
        if self.size() == 0 {
            return GpuArray::empty(ctx, &[0], DType::I64, Order::C);
        }
        let mask = self.ravel(Order::C)?.to_dtype(DType::Bool)?;
        let running = mask.cumulative(rtcg_codegen::array::ScanOp::Sum, 0, Some(DType::I64))?;
        let mut last = [0u8; 8];
        running.index(&[Index::At(-1)])?.read(&mut last, Order::C)?;
        let total = i64::from_le_bytes(last).max(0) as usize;
        let wanted = GpuArray::empty(ctx, &[total], DType::I64, Order::C)?;
        let number = |value| crate::Scalar::Weak(rtcg_hal::WeakScalar::Int(value));
        wanted.fill_range(number(1), number(1))?;
        running.searchsorted(&wanted, false)
    }

    fn resolve_index(&self, items: &[FancyIndex]) -> Result<ResolvedIndex> {
        let items = self.expand_masks(items)?;
        let (mut basic, mut arrays): (Vec<Index>, Vec<GpuArray>) = (Vec::new(), Vec::new());
        // The places of index arrays (and of integers, which count as such) among the items.
        let mut places = Vec::new();
        let mut results_before = 0;
        let mut after_ellipsis = self.ndim();
        let used =
            items.iter().filter(|item| !matches!(item.as_basic_index(), Index::NewAxis | Index::Ellipsis)).count();
        if used > self.ndim() {
            return Err(ArrayError::index_error(format!(
                "too many indices for array: array is {}-dimensional, but {used} were indexed",
                self.ndim()
            )));
        }
        after_ellipsis -= used;
        let mut view_axes = Vec::new();
        let mut view_axis = 0;
        for (place, item) in items.iter().enumerate() {
            match item {
                ExpandedIndex::Array(array, onto) => {
                    basic.push(*onto);
                    arrays.push(array.clone());
                    view_axes.push(view_axis);
                    places.push(place);
                    view_axis += 1;
                }
                ExpandedIndex::Basic(index) => {
                    basic.push(*index);
                    match index {
                        Index::At(_) => places.push(place),
                        Index::Ellipsis => {
                            view_axis += after_ellipsis;
                            results_before += if places.is_empty() { after_ellipsis } else { 0 };
                        }
                        _ => {
                            view_axis += 1;
                            results_before += usize::from(places.is_empty());
                        }
                    }
                }
            }
        }
        let together = places.windows(2).all(|pair| pair[1] == pair[0] + 1);
        let view = self.index(&basic)?;
        let shape = broadcast_shapes(arrays.iter().map(GpuArray::shape)).ok_or_else(|| {
            let shapes: Vec<_> = arrays.iter().map(|array| PythonTuple(array.shape()).to_string()).collect();
            ArrayError::index_error(format!(
                "shape mismatch: indexing arrays could not be broadcast together with shapes {}",
                shapes.join(" ")
            ))
        })?;
        let mut indexed = SmallVec::new();
        for (axis, array) in view_axes.into_iter().zip(&arrays) {
            indexed.push((axis, array.broadcast_to(&shape)?));
        }
        let position = if together { results_before } else { 0 };
        Ok(ResolvedIndex { view, indexed, shape, position })
    }

    /// Replaces truth values by the indices of the true ones.
    fn expand_masks(&self, items: &[FancyIndex]) -> Result<Vec<ExpandedIndex>> {
        const WHOLE_AXIS: Index = Index::Slice(None, None, None);
        let axes_of = |item: &FancyIndex| match item {
            FancyIndex::Array(array) if array.dtype() == DType::Bool => array.ndim(),
            FancyIndex::Basic(Index::NewAxis | Index::Ellipsis) => 0,
            _ => 1,
        };
        let used: usize = items.iter().map(axes_of).sum();
        let (mut expanded, mut axis) = (Vec::with_capacity(items.len()), 0);
        for item in items {
            match item {
                FancyIndex::Array(mask) if mask.dtype() == DType::Bool => {
                    self.check_mask(mask, axis)?;
                    if mask.ndim() == 0 {
                        // It takes or leaves all of a new axis of length 1, as the mask of that axis would.
                        expanded.push(ExpandedIndex::Array(mask.flat_nonzero()?, Index::NewAxis));
                    }
                    expanded
                        .extend(mask.nonzero()?.into_iter().map(|indices| ExpandedIndex::Array(indices, WHOLE_AXIS)));
                }
                FancyIndex::Array(array) => {
                    check_integer_indices(array)?;
                    expanded.push(ExpandedIndex::Array(array.clone(), WHOLE_AXIS));
                }
                FancyIndex::Basic(index) => expanded.push(ExpandedIndex::Basic(*index)),
            }
            axis += match item {
                FancyIndex::Basic(Index::Ellipsis) => self.ndim().saturating_sub(used),
                other => axes_of(other),
            };
        }
        Ok(expanded)
    }

    /// A mask has the lengths of the axes it stands for; one of length 0, which selects nothing, fits every axis.
    fn check_mask(&self, mask: &GpuArray, axis: usize) -> Result<()> {
        for (k, &length) in mask.shape().iter().enumerate() {
            let own = self.shape().get(axis + k).copied();
            if own != Some(length) && !(length == 0 && own.is_some()) {
                return Err(match own {
                    None => ArrayError::index_error(format!(
                        "too many indices for array: array is {}-dimensional, but the mask of shape {} begins at axis {axis}",
                        self.ndim(),
                        PythonTuple(mask.shape())
                    )),
                    Some(own) => ArrayError::index_error(format!(
                        "boolean index did not match indexed array along axis {}; size of axis is {own} but size of \
                         corresponding boolean axis is {length}",
                        axis + k
                    )),
                });
            }
        }
        Ok(())
    }
}

/// No index is one of an axis without elements.
fn empty_axis_index_error(axis: usize) -> ArrayError {
    ArrayError::index_error(format!("index 0 is out of bounds for axis {axis} with size 0"))
}

fn check_integer_indices(indices: &GpuArray) -> Result<()> {
    match indices.dtype().kind() {
        DTypeKind::Signed | DTypeKind::Unsigned => Ok(()),
        _ => Err(ArrayError::index_error(format!(
            "arrays used as indices must be of integer (or boolean) type, got {}",
            indices.dtype()
        ))),
    }
}

impl ResolvedIndex {
    fn unindexed_axes(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.view.ndim()).filter(|axis| self.indexed.iter().all(|(indexed, _)| indexed != axis))
    }

    fn result_shape(&self) -> Shape {
        let mut shape: Shape = self.unindexed_axes().map(|axis| self.view.shape()[axis]).collect();
        shape.insert_many(self.position, self.shape.iter().copied());
        shape
    }

    /// A layout over the result's axes, from strides of the axes that are left and of the index arrays.
    fn result_layout_from(
        &self,
        left: impl Fn(usize) -> isize,
        index: impl Fn(usize) -> isize,
        offset: usize,
    ) -> Layout {
        let mut strides: Strides = self.unindexed_axes().map(left).collect();
        strides.insert_many(self.position, (0..self.shape.len()).map(index));
        Layout { shape: self.result_shape(), strides, offset }
    }

    fn launch_gather(&self, dense: &GpuArray, direction: GatherDirection, bounds: BoundsMode) -> Result<()> {
        if dense.size() == 0 {
            return Ok(());
        }
        match direction {
            GatherDirection::Get => dense.check_writable()?,
            GatherDirection::Set => self.view.check_writable()?,
        }
        if let Some((axis, _)) = self.indexed.iter().find(|(axis, _)| self.view.shape()[*axis] == 0) {
            return Err(empty_axis_index_error(*axis));
        }
        let n = self.indexed.len();
        if n > MAX_INDICES {
            return Err(ArrayError::index_error(format!("{n} index arrays; {MAX_INDICES} are supported at most")));
        }
        let mut layouts: SmallVec<[Layout; 10]> = SmallVec::new();
        layouts.push(dense.layout().clone());
        layouts.push(self.result_layout_from(|axis| self.view.strides()[axis], |_| 0, self.view.layout().offset));
        for (_, array) in &self.indexed {
            layouts.push(self.result_layout_from(|_| 0, |axis| array.strides()[axis], array.layout().offset));
        }
        let still = self.result_layout_from(|_| 0, |_| 0, 0);
        let plan = IterationPlan::<10>::new(std::array::from_fn(|k| layouts.get(k).unwrap_or(&still)));
        let mut indices = [DType::I64; MAX_INDICES];
        indices.iter_mut().zip(&self.indexed).for_each(|(slot, (_, array))| *slot = array.dtype());
        let kernel = GatherSpec {
            direction,
            dense: dense.dtype(),
            source: self.view.dtype(),
            indices,
            n_indices: n as u8,
            bounds,
            space: plan.index_space(),
        };
        let indexed = self.indexed.iter().map(|(_, array)| array);
        [dense, &self.view].into_iter().chain(indexed).try_for_each(GpuArray::check_memory)?;
        let mut args = LaunchArgs::new();
        args.push_address(dense.address(plan.offsets[0]), 0);
        args.push_address(self.view.address(plan.offsets[1]), 0);
        for (k, (_, array)) in self.indexed.iter().enumerate() {
            args.push_address(array.address(plan.offsets[k + 2]), 0);
        }
        args.push_u64(plan.n_elements() as u64);
        let operands: SmallVec<[usize; 10]> = (0..2 + n).collect();
        plan.push_dims(kernel.space, &operands, &mut args);
        for (axis, _) in &self.indexed {
            args.push_i64(self.view.shape()[*axis] as i64);
            args.push_i64(self.view.strides()[*axis] as i64);
        }
        let ctx = dense.context();
        args.push_address(ctx.out_of_bounds_flag(bounds == BoundsMode::Raise)?, 0);
        ctx.launch(&kernel, ctx.device_info().grid_block_count(plan.n_elements()), BLOCK_THREADS, &args)
    }
}
