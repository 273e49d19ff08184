//! The typed array: construction, inspection, views, and copies to the host.

use super::GpuArrayDyn;
use super::element::{Arithmetic, ArrayElement, Integer};
use super::map::MapKernels;
use crate::context::Context;
use rtcg_array::{Index, Order, PythonTuple};
use rtcg_cuda::{CudaRuntime, Result};
use rtcg_hal::{ArrayContext, ArrayError, ArrayErrorKind};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// Makes arrays on a context. Arrays can be combined if they come from the same `ArrayFactory` or its clones.
#[derive(Clone)]
pub struct ArrayFactory {
    inner: Arc<ArrayFactoryInner>,
}

struct ArrayFactoryInner {
    ctx: Context,
    arrays: Arc<ArrayContext>,
    kernels: MapKernels,
}

impl fmt::Debug for ArrayFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArrayFactory").field("ctx", &self.inner.ctx).finish_non_exhaustive()
    }
}

pub(super) fn value_error(message: String) -> ArrayError {
    ArrayError::new(ArrayErrorKind::Value, message)
}

impl ArrayFactory {
    /// Makes a factory of arrays on `ctx`, with its own memory pool.
    ///
    /// # Errors
    /// When the device does not report its size.
    pub fn new(ctx: &Context) -> Result<Self> {
        Ok(Self {
            inner: Arc::new(ArrayFactoryInner {
                ctx: ctx.clone(),
                arrays: CudaRuntime::array_context(ctx)?,
                kernels: MapKernels::default(),
            }),
        })
    }

    /// The context.
    pub fn context(&self) -> &Context {
        &self.inner.ctx
    }

    /// The context of arrays with dynamic element type.
    pub fn array_context(&self) -> &Arc<ArrayContext> {
        &self.inner.arrays
    }

    pub(super) fn map_kernels(&self) -> &MapKernels {
        &self.inner.kernels
    }

    /// Makes an array of one axis with a copy of `values`; waits.
    ///
    /// # Errors
    /// When the device is out of memory.
    pub fn from_slice<T: ArrayElement>(&self, values: &[T]) -> Result<GpuArray<T>> {
        self.from_shape_and_values(&[values.len()], values)
    }

    /// Makes an array with a copy of `values`, which are in C order: the last axis varies fastest; waits.
    ///
    /// # Errors
    /// When the number of values does not match `shape`, or the device is out of memory.
    pub fn from_shape_and_values<T: ArrayElement>(&self, shape: &[usize], values: &[T]) -> Result<GpuArray<T>> {
        if shape.iter().try_fold(1usize, |n, &length| n.checked_mul(length)) != Some(values.len()) {
            let message = format!("{} values do not fill an array of shape {}", values.len(), PythonTuple(shape));
            return Err(value_error(message).into());
        }
        let array = self.empty(shape)?;
        array.dynamic.write(&T::to_bytes(values), Order::C)?;
        Ok(array)
    }

    /// A new array with undefined contents.
    pub(super) fn empty<T: ArrayElement>(&self, shape: &[usize]) -> Result<GpuArray<T>> {
        self.typed_from_dyn(GpuArrayDyn::empty(self.array_context(), shape, T::DTYPE, Order::C)?)
    }

    /// Makes an array of zeros.
    ///
    /// # Errors
    /// When the device is out of memory, or `shape` is larger than the address space.
    pub fn zeros<T: ArrayElement>(&self, shape: &[usize]) -> Result<GpuArray<T>> {
        self.typed_from_dyn(GpuArrayDyn::zeros(self.array_context(), shape, T::DTYPE, Order::C)?)
    }

    /// Makes an array with all elements equal to `value`.
    ///
    /// # Errors
    /// As [`ArrayFactory::zeros`].
    pub fn full<T: ArrayElement>(&self, shape: &[usize], value: T) -> Result<GpuArray<T>> {
        let array = self.empty(shape)?;
        array.fill(value)?;
        Ok(array)
    }

    /// Makes an array of the numbers `start + i * step` for `i` from 0 to `len - 1`.
    ///
    /// # Errors
    /// As [`ArrayFactory::zeros`].
    pub fn range<T: Arithmetic>(&self, start: T, step: T, len: usize) -> Result<GpuArray<T>> {
        let array = self.empty(&[len])?;
        array.dynamic.fill_range(start.to_scalar(), step.to_scalar())?;
        Ok(array)
    }

    /// Converts an array of dynamic element type to one of `T`; shares the memory.
    ///
    /// # Errors
    /// When its elements are of another type, or it was made with another context.
    pub fn typed_from_dyn<T: ArrayElement>(&self, array: GpuArrayDyn) -> Result<GpuArray<T>> {
        if array.dtype() != T::DTYPE {
            let message = format!("the array has elements of {}; expected {}", array.dtype(), T::DTYPE);
            return Err(ArrayError::new(ArrayErrorKind::Type, message).into());
        }
        if !Arc::ptr_eq(array.context(), self.array_context()) {
            return Err(value_error("the array was made with another context".into()).into());
        }
        Ok(GpuArray { arrays: self.clone(), dynamic: array, element: PhantomData })
    }
}

/// An n-dimensional array of elements `T` on a device.
///
/// Clones and views share the memory. Operations are enqueued and do not wait; only those that copy something to the
/// host do.
#[derive(Clone)]
pub struct GpuArray<T> {
    arrays: ArrayFactory,
    dynamic: GpuArrayDyn,
    element: PhantomData<T>,
}

impl<T: ArrayElement> fmt::Debug for GpuArray<T> {
    /// Shape and dtype; the elements are on the device.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GpuArray<{}>({})", T::DTYPE, PythonTuple(self.shape()))
    }
}

impl<T: ArrayElement> AsRef<GpuArrayDyn> for GpuArray<T> {
    fn as_ref(&self) -> &GpuArrayDyn {
        &self.dynamic
    }
}

impl<T> From<GpuArray<T>> for GpuArrayDyn {
    fn from(array: GpuArray<T>) -> Self {
        array.dynamic
    }
}

/// What it is.
impl<T: ArrayElement> GpuArray<T> {
    /// The factory that made it.
    pub fn factory(&self) -> &ArrayFactory {
        &self.arrays
    }

    /// The array without its element type.
    pub fn as_dyn(&self) -> &GpuArrayDyn {
        &self.dynamic
    }

    /// Length of each axis.
    pub fn shape(&self) -> &[usize] {
        self.dynamic.shape()
    }

    /// Bytes from one element to the next along each axis.
    pub fn strides(&self) -> &[isize] {
        self.dynamic.strides()
    }

    /// Number of axes.
    pub fn ndim(&self) -> usize {
        self.dynamic.ndim()
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.dynamic.size()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Another array of this place.
    pub(super) fn typed_result<U: ArrayElement>(&self, array: GpuArrayDyn) -> Result<GpuArray<U>> {
        self.arrays.typed_from_dyn(array)
    }
}

/// Copies.
impl<T: ArrayElement> GpuArray<T> {
    /// Copies all elements to the host in C order; waits.
    ///
    /// # Errors
    /// When a kernel failed before, or an earlier operation met an index out of bounds.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        Ok(T::vec_from_bytes(self.len(), |bytes| self.dynamic.read(bytes, Order::C))?)
    }

    /// Copies the element of an array with exactly one to the host; waits.
    ///
    /// # Errors
    /// When the array does not have exactly one element, and as [`GpuArray::to_vec`].
    pub fn item(&self) -> Result<T> {
        if self.len() != 1 {
            let message = format!("an array of shape {} is not one element", PythonTuple(self.shape()));
            return Err(value_error(message).into());
        }
        Ok(self.to_vec()?[0])
    }

    /// Copies the elements to new memory, in C order.
    ///
    /// # Errors
    /// When the device is out of memory.
    pub fn copy(&self) -> Result<Self> {
        self.typed_result(self.dynamic.copy(Some(Order::C))?)
    }

    /// Sets every element to `value`.
    ///
    /// # Errors
    /// When the device fails.
    pub fn fill(&self, value: T) -> Result<()> {
        Ok(self.dynamic.fill(value.to_scalar())?)
    }

    /// Copies the elements of `source`, which is broadcast and may share the memory.
    ///
    /// # Errors
    /// When the shapes do not fit.
    pub fn assign(&self, source: &GpuArray<T>) -> Result<()> {
        Ok(self.dynamic.assign(&source.dynamic)?)
    }

    /// Overwrites all elements with `values`, which are in C order; waits.
    ///
    /// # Errors
    /// When the number of values differs from the number of elements.
    pub fn write(&self, values: &[T]) -> Result<()> {
        Ok(self.dynamic.write(&T::to_bytes(values), Order::C)?)
    }

    /// Converts the elements to another type, as C does, in a copy.
    ///
    /// # Errors
    /// When the device is out of memory.
    pub fn cast<U: ArrayElement>(&self) -> Result<GpuArray<U>> {
        self.typed_result(self.dynamic.astype(U::DTYPE)?)
    }
}

/// Views: they share the memory.
impl<T: ArrayElement> GpuArray<T> {
    /// Returns the view that a basic index selects; [`index!`](crate::index) writes such an index.
    ///
    /// # Errors
    /// When there are too many indices, one is out of bounds, or a step is 0.
    pub fn index(&self, items: &[Index]) -> Result<Self> {
        self.typed_result(self.dynamic.index(items)?)
    }

    /// Returns the transpose, a view with all axes reversed.
    pub fn t(&self) -> Self {
        // Without a list of axes there is nothing that could be wrong with it.
        self.transpose(None).unwrap_or_else(|_| self.clone())
    }

    /// Permutes the axes, or reverses all of them without `axes`.
    ///
    /// # Errors
    /// When `axes` is not a permutation.
    pub fn transpose(&self, axes: Option<&[isize]>) -> Result<Self> {
        self.typed_result(self.dynamic.transpose(axes)?)
    }

    /// Changes the shape, of which one length may be -1; copies only if needed.
    ///
    /// # Errors
    /// When the numbers of elements differ, or the device is out of memory.
    pub fn reshape(&self, shape: &[isize]) -> Result<Self> {
        self.typed_result(self.dynamic.reshape(shape, Order::C)?)
    }

    /// Broadcasts to a larger shape, with strides of 0.
    ///
    /// # Errors
    /// When the shapes do not fit.
    pub fn broadcast_to(&self, shape: &[usize]) -> Result<Self> {
        self.typed_result(self.dynamic.broadcast_to(shape)?)
    }

    /// Inserts axes of length 1 at these positions of the result.
    ///
    /// # Errors
    /// When a position does not exist in the result or is named twice.
    pub fn expand_dims(&self, axes: &[isize]) -> Result<Self> {
        self.typed_result(self.dynamic.expand_dims(axes)?)
    }

    /// Removes axes of length 1: all, or the given ones.
    ///
    /// # Errors
    /// When a given axis does not exist or has another length.
    pub fn squeeze(&self, axes: Option<&[isize]>) -> Result<Self> {
        self.typed_result(self.dynamic.squeeze(axes)?)
    }

    /// Reverses axes: all, or the given ones.
    ///
    /// # Errors
    /// When an axis does not exist or is named twice.
    pub fn flip(&self, axes: Option<&[isize]>) -> Result<Self> {
        self.typed_result(self.dynamic.flip(axes)?)
    }
}

/// Elements by index arrays and masks.
impl<T: ArrayElement> GpuArray<T> {
    /// Gathers the slices along `axis` at `indices`; negative indices count from the end.
    ///
    /// An index out of bounds is reported by the next operation that copies something to the host.
    ///
    /// # Errors
    /// When there is no such axis.
    pub fn take<I: Integer>(&self, indices: &GpuArray<I>, axis: isize) -> Result<Self> {
        let axis = rtcg_array::normalize_axis(axis, self.ndim())?;
        self.typed_result(self.dynamic.take(&indices.dynamic, axis, rtcg_array::BoundsMode::Raise, None)?)
    }

    /// Returns the elements where `mask` is true, in C order; waits for their number.
    ///
    /// # Errors
    /// When the mask has another shape.
    pub fn select_by_mask(&self, mask: &GpuArray<bool>) -> Result<Self> {
        if mask.shape() != self.shape() {
            let (mask, own) = (PythonTuple(mask.shape()), PythonTuple(self.shape()));
            return Err(value_error(format!("the mask has shape {mask}; expected {own}")).into());
        }
        self.typed_result(self.dynamic.take_fancy(&[rtcg_array::FancyIndex::Array(mask.dynamic.clone())])?)
    }
}
