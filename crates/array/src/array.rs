//! The array: a typed, shaped view of device memory. Its operations are in the modules named after them.

mod operand;

use crate::layout::{Layout, Order, PythonTuple, Shape};
use crate::views::{Index, resolve_shape};
pub use operand::Arg;
pub(crate) use operand::OperandSource;
use rtcg_hal::deferred::{check_host_read_allowed, flush_storing_errors};
use rtcg_hal::{ArrayBuffer, ArrayContext, ArrayError, DType, LaunchArgs, Result};
use smallvec::SmallVec;
use std::fmt;
use std::sync::Arc;

/// An n-dimensional array on a device.
///
/// Clones and views share the memory. Operations are enqueued and do not wait; only those that copy something to the
/// host do.
#[derive(Clone)]
pub struct GpuArray {
    ctx: Arc<ArrayContext>,
    /// `None` for an array without elements.
    buffer: Option<Arc<dyn ArrayBuffer>>,
    /// Shared by views of one shape and by the results of calls like each other.
    layout: Arc<Layout>,
    dtype: DType,
}

impl fmt::Debug for GpuArray {
    /// Shape and dtype; the elements are on the device.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GpuArray({}, {})", PythonTuple(self.shape()), self.dtype)
    }
}

/// What it is made of.
/// An operation cannot read memory of several contexts.
pub(crate) const OPERANDS_IN_DIFFERENT_CONTEXTS: &str =
    "operands live in different contexts (in Python, a.to_device(device) copies an array to another device)";

impl GpuArray {
    /// Makes an array with undefined contents.
    ///
    /// # Errors
    /// When the device is out of memory, or the size overflows the address space.
    pub fn empty(ctx: &Arc<ArrayContext>, shape: &[usize], dtype: DType, order: Order) -> Result<Self> {
        Self::empty_with_layout(ctx, Layout::contiguous(shape, dtype.itemsize(), order), dtype)
    }

    /// Makes an array with undefined contents and a dense layout at offset 0.
    ///
    /// # Errors
    /// As [`GpuArray::empty`].
    pub fn empty_with_layout(ctx: &Arc<ArrayContext>, layout: impl Into<Arc<Layout>>, dtype: DType) -> Result<Self> {
        let layout = layout.into();
        let nbytes = checked_nbytes(&layout.shape, dtype)?;
        Self::empty_with_nbytes(ctx, layout, dtype, nbytes)
    }

    /// [`GpuArray::empty_with_layout`] whose elements are known to take so many bytes.
    #[inline]
    pub(crate) fn empty_with_nbytes(
        ctx: &Arc<ArrayContext>,
        layout: Arc<Layout>,
        dtype: DType,
        nbytes: usize,
    ) -> Result<Self> {
        let buffer = if nbytes == 0 { None } else { Some(ctx.device().alloc(nbytes)?) };
        Ok(Self { ctx: ctx.clone(), buffer, layout, dtype })
    }

    /// Makes an array of zeros.
    ///
    /// # Errors
    /// As [`GpuArray::empty`].
    pub fn zeros(ctx: &Arc<ArrayContext>, shape: &[usize], dtype: DType, order: Order) -> Result<Self> {
        let array = Self::empty(ctx, shape, dtype, order)?;
        array.memset_zero()?;
        Ok(array)
    }

    /// Makes an array over existing memory. The caller guarantees that `layout` stays inside it.
    pub fn from_buffer(
        ctx: &Arc<ArrayContext>,
        buffer: Option<Arc<dyn ArrayBuffer>>,
        layout: impl Into<Arc<Layout>>,
        dtype: DType,
    ) -> Self {
        Self { ctx: ctx.clone(), buffer, layout: layout.into(), dtype }
    }

    /// The context to which it belongs.
    pub fn context(&self) -> &Arc<ArrayContext> {
        &self.ctx
    }

    /// Length of each axis.
    pub fn shape(&self) -> &[usize] {
        &self.layout.shape
    }

    /// Bytes from one element to the next along each axis.
    pub fn strides(&self) -> &[isize] {
        &self.layout.strides
    }

    /// Shape, strides and offset.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// [`GpuArray::layout`] as a shared reference, to keep or to pass to another array.
    pub fn layout_arc(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// Whether shape and strides equal those of `layout`, whatever the offset.
    #[inline]
    pub fn matches_layout(&self, layout: &Arc<Layout>) -> bool {
        self.layout.has_same_shape_and_strides(layout)
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Bytes per element.
    pub fn itemsize(&self) -> usize {
        self.dtype.itemsize()
    }

    /// Number of axes.
    pub fn ndim(&self) -> usize {
        self.layout.ndim()
    }

    /// Number of elements.
    pub fn size(&self) -> usize {
        self.layout.size()
    }

    /// Size of all elements in bytes.
    pub fn nbytes(&self) -> usize {
        self.size() * self.itemsize()
    }

    /// Address of the element at index 0 along all axes; `None` without memory.
    pub fn device_ptr(&self) -> Option<u64> {
        self.base_ptr().map(|ptr| ptr.wrapping_add(self.layout.offset as u64))
    }

    /// Address that offsets count from.
    fn base_ptr(&self) -> Option<u64> {
        // What was deferred comes before all that is done with an address.
        flush_storing_errors();
        self.buffer.as_ref().map(|buffer| buffer.device_ptr())
    }

    /// The address at `offset` of the memory, for work that is about to be enqueued.
    pub(crate) fn address(&self, offset: usize) -> u64 {
        // What was deferred comes before all that is done with an address.
        flush_storing_errors();
        self.buffer.as_ref().map_or(0, |buffer| {
            buffer.record_use();
            buffer.device_ptr().wrapping_add(offset as u64)
        })
    }

    /// Address of the element at index 0 along all axes, for work that is about to be enqueued; 0 without elements.
    pub fn first_element_address(&self) -> u64 {
        self.address(self.layout.offset)
    }

    /// Computes the elements if they were deferred.
    ///
    /// # Errors
    /// When the computation fails.
    pub fn check_memory(&self) -> Result<()> {
        self.buffer.as_ref().map_or(Ok(()), |buffer| buffer.ensure_computed())
    }

    /// The memory; `None` without elements.
    pub fn buffer(&self) -> Option<&Arc<dyn ArrayBuffer>> {
        self.buffer.as_ref()
    }

    /// Whether the elements are contiguous in `order`.
    pub fn is_contiguous(&self, order: Order) -> bool {
        self.layout.is_contiguous(self.itemsize(), order)
    }

    /// Whether both share one memory buffer, as when a view function made no copy.
    pub fn shares_buffer(&self, other: &GpuArray) -> bool {
        match (&self.buffer, &other.buffer) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            _ => false,
        }
    }

    /// Another view of the same memory.
    pub(crate) fn view_with_layout(&self, layout: impl Into<Arc<Layout>>) -> Self {
        Self { ctx: self.ctx.clone(), buffer: self.buffer.clone(), layout: layout.into(), dtype: self.dtype }
    }

    /// Makes an array with undefined contents, and the shape and memory order of this one.
    ///
    /// # Errors
    /// As [`GpuArray::empty`].
    pub fn empty_like(&self, dtype: DType) -> Result<Self> {
        Self::empty_with_layout(&self.ctx, Layout::dense_like(&self.layout, dtype.itemsize()), dtype)
    }

    /// Checks that another array belongs to the same context.
    ///
    /// # Errors
    /// When it does not.
    pub fn check_context(&self, other: &GpuArray) -> Result<()> {
        if Arc::ptr_eq(&self.ctx, &other.ctx) {
            return Ok(());
        }
        Err(ArrayError::value_error(OPERANDS_IN_DIFFERENT_CONTEXTS))
    }
}

/// Views: they share the memory and cost no work on the device.
impl GpuArray {
    /// Returns the view that a basic index selects: integers, slices, `...` and new axes.
    ///
    /// # Errors
    /// As [`Layout::index`].
    pub fn index(&self, items: &[Index]) -> Result<Self> {
        Ok(self.view_with_layout(self.layout.index(items)?))
    }

    /// Permutes the axes, or reverses all of them without `axes`.
    ///
    /// # Errors
    /// As [`Layout::transpose`].
    pub fn transpose(&self, axes: Option<&[isize]>) -> Result<Self> {
        Ok(self.view_with_layout(self.layout.transpose(axes)?))
    }

    /// Moves axes to other positions.
    ///
    /// # Errors
    /// As [`Layout::moveaxis`].
    pub fn moveaxis(&self, source: &[isize], destination: &[isize]) -> Result<Self> {
        Ok(self.view_with_layout(self.layout.moveaxis(source, destination)?))
    }

    /// Swaps two axes.
    ///
    /// # Errors
    /// As [`Layout::swapaxes`].
    pub fn swapaxes(&self, a: isize, b: isize) -> Result<Self> {
        Ok(self.view_with_layout(self.layout.swapaxes(a, b)?))
    }

    /// Inserts axes of length 1.
    ///
    /// # Errors
    /// As [`Layout::expand_dims`].
    pub fn expand_dims(&self, axes: &[isize]) -> Result<Self> {
        Ok(self.view_with_layout(self.layout.expand_dims(axes)?))
    }

    /// Removes axes of length 1.
    ///
    /// # Errors
    /// As [`Layout::squeeze`].
    pub fn squeeze(&self, axes: Option<&[isize]>) -> Result<Self> {
        Ok(self.view_with_layout(self.layout.squeeze(axes)?))
    }

    /// Broadcasts to a larger shape, with strides of 0.
    ///
    /// # Errors
    /// As [`Layout::broadcast_to`].
    pub fn broadcast_to(&self, shape: &[usize]) -> Result<Self> {
        Ok(self.view_with_layout(self.layout.broadcast_to(shape)?))
    }

    /// Reverses axes.
    ///
    /// # Errors
    /// As [`Layout::flip`].
    pub fn flip(&self, axes: Option<&[isize]>) -> Result<Self> {
        Ok(self.view_with_layout(self.layout.flip(axes)?))
    }

    /// Returns a view with a diagonal of two axes as the last axis.
    ///
    /// # Errors
    /// As [`Layout::diagonal`].
    pub fn diagonal(&self, offset: isize, axis1: isize, axis2: isize) -> Result<Self> {
        Ok(self.view_with_layout(self.layout.diagonal(offset, axis1, axis2)?))
    }

    /// Changes the shape, counting elements in `order`; copies only if needed.
    ///
    /// # Errors
    /// When the numbers of elements differ, or the device is out of memory.
    pub fn reshape(&self, shape: &[isize], order: Order) -> Result<Self> {
        let shape = resolve_shape(shape, self.size())?;
        self.reshape_to(&shape, order)
    }

    /// [`GpuArray::reshape`] without unknown lengths.
    pub(crate) fn reshape_to(&self, shape: &[usize], order: Order) -> Result<Self> {
        if let Some(layout) = self.layout.reshape(shape, self.itemsize(), order) {
            return Ok(self.view_with_layout(layout));
        }
        let copy = self.copy(Some(order))?;
        let layout = Layout::contiguous(shape, self.itemsize(), order);
        Ok(copy.view_with_layout(layout))
    }

    /// Flattens in this array's memory order (NumPy's order `K`); copies only if needed.
    ///
    /// # Errors
    /// When the device is out of memory.
    pub fn ravel_in_memory_order(&self) -> Result<Self> {
        let mut axes: SmallVec<[isize; 4]> = (0..self.ndim() as isize).collect();
        axes.sort_by_key(|&axis| std::cmp::Reverse(self.strides()[axis as usize].unsigned_abs()));
        self.transpose(Some(&axes))?.ravel(Order::C)
    }

    /// Flattens in `order`; copies only if needed.
    ///
    /// # Errors
    /// When the device is out of memory.
    pub fn ravel(&self, order: Order) -> Result<Self> {
        self.reshape_to(&[self.size()], order)
    }

    /// Reinterprets the bytes as elements of another type.
    ///
    /// # Errors
    /// When the sizes do not fit.
    pub fn view_as(&self, dtype: DType) -> Result<Self> {
        let layout = self.layout.view_as(self.itemsize(), dtype.itemsize())?;
        Ok(Self { dtype, ..self.view_with_layout(layout) })
    }

    /// Returns a field of every record as a view: elements of `dtype` at `offset` bytes.
    ///
    /// # Errors
    /// When the field lies outside the element.
    pub fn field_view(&self, dtype: DType, offset: usize) -> Result<Self> {
        if offset.saturating_add(dtype.itemsize()) > self.itemsize() {
            return Err(ArrayError::value_error(format!(
                "a field of {} bytes at offset {offset} lies outside an element of {} bytes",
                dtype.itemsize(),
                self.itemsize()
            )));
        }
        let mut layout = Layout::clone(&self.layout);
        layout.offset += offset;
        Ok(Self { dtype, ..self.view_with_layout(layout) })
    }

    /// The real parts, as a view; the array itself if it is not complex.
    pub fn real(&self) -> Self {
        Self { dtype: self.dtype.real_part(), ..self.clone() }
    }

    /// The imaginary parts of a complex array, as a view; `None` otherwise.
    pub fn imag(&self) -> Option<Self> {
        let part = self.dtype.real_part();
        (part != self.dtype).then(|| {
            let mut layout = Layout::clone(&self.layout);
            layout.offset += part.itemsize();
            Self { dtype: part, ..self.view_with_layout(layout) }
        })
    }
}

/// Copies between device and host, and within the device.
impl GpuArray {
    /// Copies all elements from host bytes, in index order `order`; waits.
    ///
    /// # Errors
    /// When the length of `src` differs from the array's, or the device fails.
    pub fn write(&self, src: &[u8], order: Order) -> Result<()> {
        self.check_nbytes(src.len(), "source")?;
        self.check_memory()?;
        if src.is_empty() {
            return Ok(());
        }
        self.wait_for_uses()?;
        if self.is_contiguous(order) {
            return self.ctx.queue().write(self.first_element_address(), src);
        }
        let staged = Self::empty(&self.ctx, self.shape(), self.dtype, order)?;
        self.ctx.queue().write(staged.first_element_address(), src)?;
        self.assign(&staged)
    }

    /// Copies all elements to host bytes in index order `order`; waits.
    ///
    /// # Errors
    /// When the length of `dst` differs from the array's, or the device fails.
    pub fn read(&self, dst: &mut [u8], order: Order) -> Result<()> {
        check_host_read_allowed()?;
        self.check_nbytes(dst.len(), "destination")?;
        self.check_memory()?;
        if dst.is_empty() {
            return Ok(());
        }
        self.wait_for_uses()?;
        let source = if self.is_contiguous(order) { self.clone() } else { self.copy(Some(order))? };
        self.ctx.check_indices()?;
        self.ctx.queue().read(dst, source.first_element_address())
    }

    fn wait_for_uses(&self) -> Result<()> {
        self.buffer.as_ref().map_or(Ok(()), |buffer| buffer.wait_for_uses())
    }

    fn check_nbytes(&self, nbytes: usize, what: &str) -> Result<()> {
        if nbytes == self.nbytes() {
            return Ok(());
        }
        Err(ArrayError::value_error(format!(
            "{what} has {nbytes} bytes, the array of shape {} and dtype {} has {}",
            PythonTuple(self.shape()),
            self.dtype,
            self.nbytes()
        )))
    }

    /// Copies to new memory, in `order` or by default in this array's memory order.
    ///
    /// # Errors
    /// When the device is out of memory.
    pub fn copy(&self, order: Option<Order>) -> Result<Self> {
        let layout = match order {
            Some(order) => Layout::contiguous(self.shape(), self.itemsize(), order),
            None => Layout::dense_like(&self.layout, self.itemsize()),
        };
        let new = Self::empty_with_layout(&self.ctx, layout, self.dtype)?;
        new.assign(self)?;
        Ok(new)
    }

    /// Returns this array if it is C-contiguous, otherwise a copy that is.
    ///
    /// # Errors
    /// When the device is out of memory.
    pub fn to_contiguous(&self) -> Result<Self> {
        if self.is_contiguous(Order::C) { Ok(self.clone()) } else { self.copy(Some(Order::C)) }
    }

    /// Sets all bytes to zero.
    ///
    /// # Errors
    /// When the device fails.
    pub fn memset_zero(&self) -> Result<()> {
        if self.size() == 0 {
            return Ok(());
        }
        self.check_memory()?;
        if self.layout.is_dense(self.itemsize()) {
            let (low, high) = self.layout.byte_extent(self.itemsize());
            return self.ctx.queue().fill_zero(self.address(low as usize), (high - low) as usize);
        }
        self.fill(crate::Scalar::Weak(rtcg_hal::WeakScalar::Int(0)))
    }

    /// Copies the elements of `source`, which is broadcast and converted.
    ///
    /// # Errors
    /// When the shapes do not fit or the types cannot be converted.
    pub fn assign(&self, source: &GpuArray) -> Result<()> {
        self.check_context(source)?;
        if source.ndim() > self.ndim() {
            let view = source.without_leading_ones(self.ndim());
            if view.ndim() <= self.ndim() {
                return self.assign(&view);
            }
        }
        if self.assign_deferred(source)? {
            return Ok(());
        }
        [self, source].into_iter().try_for_each(GpuArray::check_memory)?;
        if self.dtype == source.dtype && self.is_linear_copy(source) {
            if self.size() == 0 || self.device_ptr() == source.device_ptr() {
                return Ok(());
            }
            let (low, high) = self.layout.byte_extent(self.itemsize());
            let (from, _) = source.layout.byte_extent(self.itemsize());
            let nbytes = (high - low) as usize;
            return self.ctx.queue().copy(self.address(low as usize), source.address(from as usize), nbytes);
        }
        self.assign_pointwise(source)
    }

    /// Whether one copy of a range of bytes does it.
    fn is_linear_copy(&self, source: &GpuArray) -> bool {
        let same = self.shape() == source.shape()
            && (0..self.ndim()).all(|axis| self.shape()[axis] == 1 || self.strides()[axis] == source.strides()[axis]);
        same && self.layout.is_dense(self.itemsize()) && !self.overlaps(source)
    }

    /// Whether elements of `array` would be overwritten before they are read, were it an operand and this
    /// the output.
    pub(crate) fn has_write_hazard(&self, array: &GpuArray) -> bool {
        self.has_write_hazard_given_addresses(self.device_ptr().unwrap_or(0), array, array.device_ptr().unwrap_or(0))
    }

    /// [`GpuArray::has_write_hazard`] of arrays whose first elements are known to be at these addresses.
    #[inline]
    pub(crate) fn has_write_hazard_given_addresses(&self, start: u64, array: &GpuArray, array_start: u64) -> bool {
        let is_same = start == array_start
            && self.itemsize() == array.itemsize()
            && self.layout.has_same_shape_and_strides(&array.layout);
        !is_same && self.overlaps_given_addresses(start, array, array_start)
    }

    /// Whether every element lies where its type may be read at once.
    pub(crate) fn is_aligned(&self) -> bool {
        let alignment = match self.dtype() {
            DType::Void(_) => 1,
            dtype => dtype.real_part().itemsize(),
        };
        self.device_ptr().is_none_or(|ptr| ptr.is_multiple_of(alignment as u64))
            && self
                .strides()
                .iter()
                .zip(self.shape())
                .all(|(stride, n)| *n == 1 || stride.unsigned_abs().is_multiple_of(alignment))
    }

    /// Whether two arrays may overlap in memory.
    pub fn overlaps(&self, other: &GpuArray) -> bool {
        self.overlaps_given_addresses(self.device_ptr().unwrap_or(0), other, other.device_ptr().unwrap_or(0))
    }

    fn overlaps_given_addresses(&self, start: u64, other: &GpuArray, other_start: u64) -> bool {
        let range = |array: &GpuArray, start: u64| {
            let (low, high) = array.layout.byte_extent(array.itemsize());
            let base = start.wrapping_sub(array.layout.offset as u64);
            (base.wrapping_add(low as u64), base.wrapping_add(high as u64))
        };
        let ((a, a_end), (b, b_end)) = (range(self, start), range(other, other_start));
        self.size() > 0 && other.size() > 0 && a < b_end && b < a_end
    }

    /// The shape as an owned value.
    pub(crate) fn shape_owned(&self) -> Shape {
        self.layout.shape.clone()
    }
}

fn checked_nbytes(shape: &[usize], dtype: DType) -> Result<usize> {
    let axes_alone = shape.iter().filter(|&&n| n != 0).try_fold(dtype.itemsize(), |total, &n| total.checked_mul(n));
    if axes_alone.is_none_or(|nbytes| nbytes > isize::MAX as usize) {
        return Err(ArrayError::value_error(format!(
            "an array of shape {} and dtype {dtype} is larger than the address space",
            PythonTuple(shape)
        )));
    }
    Ok(shape.iter().product::<usize>() * dtype.itemsize())
}

/// Arguments that begin with the addresses of arrays that a kernel is about to use.
///
/// # Errors
/// As [`push_arrays`].
pub fn array_args(arrays: &[&GpuArray]) -> Result<LaunchArgs> {
    let mut args = LaunchArgs::new();
    push_arrays(&mut args, arrays)?;
    Ok(args)
}

/// Appends the addresses of arrays that a kernel is about to use.
///
/// # Errors
/// When the memory of one is gone, or they belong to different contexts.
pub fn push_arrays(args: &mut LaunchArgs, arrays: &[&GpuArray]) -> Result<()> {
    for array in arrays {
        arrays[0].check_context(array)?;
        array.check_memory()?;
        args.push_address(array.first_element_address(), 0);
    }
    Ok(())
}

/// Appends the address of an array that a kernel is about to use, or null.
///
/// # Errors
/// When its memory is gone.
pub fn push_optional(args: &mut LaunchArgs, array: Option<&GpuArray>) -> Result<()> {
    match array {
        Some(array) => push_arrays(args, &[array]),
        None => {
            args.push_address(0, 0);
            Ok(())
        }
    }
}
