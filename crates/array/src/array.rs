//! The array: a typed, shaped view of device memory.

use crate::error::{ArrayError, Result};
use crate::kernels::{self, OperandKind};
use crate::layout::{Layout, Order};
use crate::operators::BinaryOp;
use crate::runtime::{ArrayContext, Buffer, KernelArg};
use crate::scalar::Scalar;
use rtcg_codegen::DType;
use std::fmt;
use std::sync::Arc;

/// An n-dimensional array on a device.
///
/// Cloning shares the memory. Operations are enqueued and do not wait; only [`GpuArray::read`]
/// and [`GpuArray::write`] do.
#[derive(Clone)]
pub struct GpuArray {
    ctx: Arc<ArrayContext>,
    /// `None` for an array without elements.
    buffer: Option<Arc<dyn Buffer>>,
    layout: Layout,
    dtype: DType,
}

impl fmt::Debug for GpuArray {
    /// Shape and dtype; the elements are on the device.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GpuArray({:?}, {})", self.shape(), self.dtype)
    }
}

impl GpuArray {
    /// A new array with undefined contents.
    ///
    /// # Errors
    /// When the device is out of memory, or the size overflows the address space.
    pub fn empty(ctx: &Arc<ArrayContext>, shape: &[usize], dtype: DType, order: Order) -> Result<Self> {
        let nbytes = checked_nbytes(shape, dtype)?;
        let buffer = if nbytes == 0 { None } else { Some(ctx.runtime().alloc(nbytes)?) };
        let layout = Layout::contiguous(shape, dtype.itemsize(), order);
        Ok(Self { ctx: ctx.clone(), buffer, layout, dtype })
    }

    /// A new array of zeros.
    ///
    /// # Errors
    /// As [`GpuArray::empty`].
    pub fn zeros(ctx: &Arc<ArrayContext>, shape: &[usize], dtype: DType, order: Order) -> Result<Self> {
        let array = Self::empty(ctx, shape, dtype, order)?;
        if let Some(ptr) = array.device_ptr() {
            ctx.runtime().clear(ptr, array.nbytes())?;
        }
        Ok(array)
    }

    /// A contiguous array over memory that exists already.
    pub fn from_buffer(
        ctx: &Arc<ArrayContext>,
        buffer: Option<Arc<dyn Buffer>>,
        shape: &[usize],
        dtype: DType,
        order: Order,
    ) -> Self {
        let layout = Layout::contiguous(shape, dtype.itemsize(), order);
        Self { ctx: ctx.clone(), buffer, layout, dtype }
    }

    /// The context it lives in.
    pub fn context(&self) -> &Arc<ArrayContext> {
        &self.ctx
    }

    /// Length of each axis.
    pub fn shape(&self) -> &[usize] {
        &self.layout.shape
    }

    /// Shape and strides.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Number of elements.
    pub fn size(&self) -> usize {
        self.layout.size()
    }

    /// Bytes of all elements.
    pub fn nbytes(&self) -> usize {
        self.size() * self.dtype.itemsize()
    }

    /// Address of the first element; `None` without elements.
    pub fn device_ptr(&self) -> Option<u64> {
        self.buffer.as_ref().map(|buffer| buffer.device_ptr())
    }

    /// The memory; `None` without elements.
    pub fn buffer(&self) -> Option<&Arc<dyn Buffer>> {
        self.buffer.as_ref()
    }

    fn order(&self) -> Order {
        // Only contiguous arrays can be made.
        self.layout.order(self.dtype.itemsize()).unwrap_or(Order::C)
    }

    fn empty_like(&self, dtype: DType) -> Result<Self> {
        Self::empty(&self.ctx, self.shape(), dtype, self.order())
    }

    /// Copies all elements from host bytes, which are in this array's memory order; waits.
    ///
    /// # Errors
    /// When `src` has another length than the array.
    pub fn write(&self, src: &[u8]) -> Result<()> {
        self.check_nbytes(src.len(), "source")?;
        self.device_ptr().map_or(Ok(()), |ptr| self.ctx.runtime().write(ptr, src))
    }

    /// Copies all elements to host bytes, in this array's memory order; waits.
    ///
    /// # Errors
    /// When `dst` has another length than the array.
    pub fn read(&self, dst: &mut [u8]) -> Result<()> {
        self.check_nbytes(dst.len(), "destination")?;
        self.device_ptr().map_or(Ok(()), |ptr| self.ctx.runtime().read(dst, ptr))
    }

    fn check_nbytes(&self, nbytes: usize, what: &str) -> Result<()> {
        if nbytes == self.nbytes() {
            return Ok(());
        }
        Err(ArrayError::value(format!(
            "{what} has {nbytes} bytes, the array of shape {:?} and dtype {} has {}",
            self.shape(),
            self.dtype,
            self.nbytes()
        )))
    }

    /// A copy in new memory.
    ///
    /// # Errors
    /// When the device is out of memory.
    pub fn copy(&self) -> Result<Self> {
        let new = self.empty_like(self.dtype)?;
        if let (Some(dst), Some(src)) = (new.device_ptr(), self.device_ptr()) {
            self.ctx.runtime().copy(dst, src, self.nbytes())?;
        }
        Ok(new)
    }

    /// A copy converted to `dtype` as C converts.
    ///
    /// # Errors
    /// When the device is out of memory or the kernel cannot be compiled.
    pub fn astype(&self, dtype: DType) -> Result<Self> {
        if dtype == self.dtype {
            return self.copy();
        }
        let new = self.empty_like(dtype)?;
        new.launch(&kernels::cast(self.dtype, dtype), &[self.arg()])?;
        Ok(new)
    }

    /// Sets every element to `value`.
    ///
    /// # Errors
    /// Overflow when an integer does not fit the dtype.
    pub fn fill(&self, value: Scalar) -> Result<()> {
        self.launch(&kernels::fill(self.dtype), &[value.to_arg(self.dtype)?])
    }

    /// `self op other` for arrays of the same shape and memory order.
    ///
    /// # Errors
    /// When shapes, memory orders or contexts differ or the dtypes do not allow `op`.
    pub fn binary(&self, op: BinaryOp, other: &GpuArray) -> Result<Self> {
        self.check_same_layout(other)?;
        let result = op.result_type(self.dtype.promote(other.dtype))?;
        self.empty_like(result)?.assign_binary(op, result, self.operand(), other.operand())
    }

    /// `self op scalar`, or `scalar op self` when `reflected`.
    ///
    /// # Errors
    /// When an integer does not fit the dtype or the dtypes do not allow `op`.
    pub fn binary_scalar(&self, op: BinaryOp, scalar: Scalar, reflected: bool) -> Result<Self> {
        let common = scalar.promote(self.dtype);
        let result = op.result_type(common)?;
        let scalar = Operand { dtype: result, kind: OperandKind::Scalar, arg: scalar.to_arg(result)? };
        let (x, y) = if reflected { (scalar, self.operand()) } else { (self.operand(), scalar) };
        self.empty_like(result)?.assign_binary(op, result, x, y)
    }

    /// `self op= other`.
    ///
    /// # Errors
    /// As [`GpuArray::binary`], and when the result's kind cannot be stored in this dtype.
    pub fn binary_in_place(&self, op: BinaryOp, other: &GpuArray) -> Result<()> {
        self.check_same_layout(other)?;
        let compute = self.in_place_type(op, self.dtype.promote(other.dtype))?;
        self.clone().assign_binary(op, compute, self.operand(), other.operand()).map(drop)
    }

    /// `self op= scalar`.
    ///
    /// # Errors
    /// As [`GpuArray::binary_scalar`], and when the result's kind cannot be stored in this dtype.
    pub fn binary_scalar_in_place(&self, op: BinaryOp, scalar: Scalar) -> Result<()> {
        let compute = self.in_place_type(op, scalar.promote(self.dtype))?;
        let scalar = Operand { dtype: compute, kind: OperandKind::Scalar, arg: scalar.to_arg(compute)? };
        self.clone().assign_binary(op, compute, self.operand(), scalar).map(drop)
    }

    /// The computation type of an in-place operation, refused where NumPy's `same_kind` rule is.
    fn in_place_type(&self, op: BinaryOp, common: DType) -> Result<DType> {
        let compute = op.result_type(common)?;
        if compute.kind() <= self.dtype.kind() {
            return Ok(compute);
        }
        Err(ArrayError::dtype(format!(
            "cannot cast the result of '{}' from {compute} to {} in place: the kind would be lost",
            op.name(),
            self.dtype
        )))
    }

    fn operand(&self) -> Operand {
        Operand { dtype: self.dtype, kind: OperandKind::Vector, arg: self.arg() }
    }

    fn arg(&self) -> KernelArg {
        KernelArg::Ptr(self.device_ptr().unwrap_or(0))
    }

    fn assign_binary(self, op: BinaryOp, compute: DType, x: Operand, y: Operand) -> Result<Self> {
        let kernel = kernels::binary(op, compute, self.dtype, (x.dtype, x.kind), (y.dtype, y.kind));
        self.launch(&kernel, &[x.arg, y.arg])?;
        Ok(self)
    }

    /// Launches `kernel` over all elements with this array as its first argument.
    fn launch(&self, kernel: &rtcg_codegen::Elementwise, rest: &[KernelArg]) -> Result<()> {
        if self.size() == 0 {
            return Ok(());
        }
        let mut args = vec![self.arg()];
        args.extend_from_slice(rest);
        args.push(KernelArg::Size(self.size() as u64));
        self.ctx.kernel(kernel)?.launch_over(self.size(), &args)
    }

    fn check_same_layout(&self, other: &GpuArray) -> Result<()> {
        if !Arc::ptr_eq(&self.ctx, &other.ctx) {
            return Err(ArrayError::value("operands live in different contexts"));
        }
        if self.shape() != other.shape() {
            return Err(ArrayError::value(format!(
                "operands have shapes {:?} and {:?}; expected equal shapes",
                self.shape(),
                other.shape()
            )));
        }
        let same_order = [Order::C, Order::F].into_iter().any(|order| {
            self.layout.is_contiguous(self.dtype.itemsize(), order)
                && other.layout.is_contiguous(other.dtype.itemsize(), order)
        });
        if same_order {
            return Ok(());
        }
        Err(ArrayError::value(format!(
            "operands of shape {:?} differ in memory order (strides {:?} and {:?}); expected both in C or both in F order",
            self.shape(),
            self.layout.strides,
            other.layout.strides
        )))
    }
}

struct Operand {
    dtype: DType,
    kind: OperandKind,
    arg: KernelArg,
}

fn checked_nbytes(shape: &[usize], dtype: DType) -> Result<usize> {
    shape
        .iter()
        .try_fold(dtype.itemsize(), |total, &length| total.checked_mul(length))
        .filter(|&total| total <= isize::MAX as usize)
        .ok_or_else(|| {
            ArrayError::value(format!("an array of shape {shape:?} and dtype {dtype} is larger than the address space"))
        })
}
