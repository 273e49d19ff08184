//! NVIDIA's libraries for arrays, when asked for: [`cublas`] with [`cublaslt`], [`cufft`] and [`cusolver`]. rtcg itself never calls them.
//!
//! They need a GPU, and their wheels (`pip install nvidia-cublas nvidia-cufft nvidia-cusolver`, with `-cu12` for CUDA 12)
//! or a toolkit; a library is opened by the first call that needs it. Functions take arrays of the context that their
//! handle was made for, and enqueue their work in the thread's current stream. Matrices may be in row-major or column-major
//! order: the libraries, which know the latter only, are told to transpose. What else an operand may be, such as a view
//! whose elements are apart, is copied; results are written where they belong, or refused.
//!
//! This file has what the three share: operands as BLAS describes them, numbers for scalar arguments, and handles that
//! threads take turns with.
#![allow(unsafe_code, reason = "calls of C functions with addresses of arrays")]

pub mod cublas;
pub mod cublaslt;
pub mod cufft;
pub mod cusolver;
#[cfg(test)]
mod tests;

use crate::{Error, Result};
use rtcg_array::{GpuArray, Order};
use rtcg_driver::libraries::{Library, LibraryError};
use rtcg_driver::sys::cublas::cublasOperation_t;
use rtcg_driver::sys::libraries::{NamedFunctions, cudaDataType};
use rtcg_driver::sys::{CUstream, c_int};
use rtcg_driver::{Context, Stream, WeakScalar, lock_ignoring_poison};
use rtcg_hal::DType;
use std::cell::RefCell;
use std::sync::Mutex;

/// Calls a function of a table, with the error of its status.
macro_rules! call_library {
    ($library:expr, $table:expr, $name:ident($($arg:expr),* $(,)?)) => {{
        // SAFETY: the arguments are handles of this library, and memory as large as they say.
        let status = unsafe { $table.$name($($arg),*) };
        LibraryError::check($library, $table, stringify!($name), status.0)
    }};
}
pub(crate) use call_library;

/// The library's name for a dtype; those of real and complex floating-point numbers and of the integers of products.
pub(crate) fn data_type(dtype: DType) -> Option<cudaDataType> {
    Some(match dtype {
        DType::F16 => cudaDataType::CUDA_R_16F,
        DType::BF16 => cudaDataType::CUDA_R_16BF,
        DType::F32 => cudaDataType::CUDA_R_32F,
        DType::F64 => cudaDataType::CUDA_R_64F,
        DType::C64 => cudaDataType::CUDA_C_32F,
        DType::C128 => cudaDataType::CUDA_C_64F,
        DType::I8 => cudaDataType::CUDA_R_8I,
        DType::I32 => cudaDataType::CUDA_R_32I,
        _ => return None,
    })
}

/// The type of an array's elements where a library has functions for float32, float64, complex64 and complex128.
pub(crate) fn blas_type(name: &str, array: &GpuArray) -> Result<cudaDataType> {
    match array.dtype() {
        DType::F32 | DType::F64 | DType::C64 | DType::C128 => Ok(data_type(array.dtype()).unwrap_or_default()),
        other => Err(Error::type_error(format!(
            "{name} has dtype {other}; expected float32, float64, complex64 or complex128"
        ))),
    }
}

/// A number of a scalar argument, in host memory.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub(crate) struct HostScalar([u8; 16]);

impl HostScalar {
    /// `value` as an element of `dtype`.
    pub(crate) fn new(name: &str, value: WeakScalar, dtype: DType) -> Result<Self> {
        let (re, im) = match value {
            WeakScalar::Bool(value) => (f64::from(u8::from(value)), 0.0),
            WeakScalar::Int(value) => (value as f64, 0.0),
            WeakScalar::Float(value) => (value, 0.0),
            WeakScalar::Complex(re, im) => (re, im),
        };
        if matches!(value, WeakScalar::Complex(..)) && !dtype.is_complex() {
            return Err(Error::type_error(format!("{name} is {value}; expected a real number, for {dtype}")));
        }
        let mut bytes = [0; 16];
        match dtype {
            DType::F16 => bytes[..2].copy_from_slice(&half::f16::from_f64(re).to_le_bytes()),
            DType::BF16 => bytes[..2].copy_from_slice(&half::bf16::from_f64(re).to_le_bytes()),
            DType::F32 => bytes[..4].copy_from_slice(&(re as f32).to_le_bytes()),
            DType::F64 => bytes[..8].copy_from_slice(&re.to_le_bytes()),
            DType::C64 => {
                bytes[..4].copy_from_slice(&(re as f32).to_le_bytes());
                bytes[4..8].copy_from_slice(&(im as f32).to_le_bytes());
            }
            DType::C128 => {
                bytes[..8].copy_from_slice(&re.to_le_bytes());
                bytes[8..].copy_from_slice(&im.to_le_bytes());
            }
            _ => {
                let exact = match value {
                    WeakScalar::Int(value) => i32::try_from(value).ok(),
                    _ => (f64::from(re as i32) == re).then_some(re as i32),
                };
                let wrong = || Error::value_error(format!("{name} is {value}; expected an integer, for {dtype}"));
                bytes[..4].copy_from_slice(&exact.ok_or_else(wrong)?.to_le_bytes());
            }
        }
        Ok(Self(bytes))
    }

    /// Its address, for functions of any type.
    pub(crate) fn as_ptr<T>(&self) -> *const T {
        self.0.as_ptr().cast()
    }

    /// Room for a result.
    pub(crate) fn zero() -> Self {
        Self([0; 16])
    }

    pub(crate) fn as_mut_ptr<T>(&mut self) -> *mut T {
        self.0.as_mut_ptr().cast()
    }

    /// The number, of which these are the bytes.
    pub(crate) fn value(&self, dtype: DType) -> WeakScalar {
        let single = |at: usize| f32::from_le_bytes(std::array::from_fn(|i| self.0[at + i])).into();
        let double = |at: usize| f64::from_le_bytes(std::array::from_fn(|i| self.0[at + i]));
        match dtype {
            DType::F16 => WeakScalar::Float(half::f16::from_le_bytes([self.0[0], self.0[1]]).into()),
            DType::BF16 => WeakScalar::Float(half::bf16::from_le_bytes([self.0[0], self.0[1]]).into()),
            DType::F32 => WeakScalar::Float(single(0)),
            DType::F64 => WeakScalar::Float(double(0)),
            DType::C64 => WeakScalar::Complex(single(0), single(4)),
            DType::C128 => WeakScalar::Complex(double(0), double(8)),
            _ => WeakScalar::Int(i32::from_le_bytes(std::array::from_fn(|i| self.0[i])).into()),
        }
    }
}

/// Whether a factor is 0, of whatever kind.
pub(crate) fn is_zero(value: WeakScalar) -> bool {
    match value {
        WeakScalar::Bool(value) => !value,
        WeakScalar::Int(value) => value == 0,
        WeakScalar::Float(value) => value == 0.0,
        WeakScalar::Complex(re, im) => re == 0.0 && im == 0.0,
    }
}

/// A size as the library's 32-bit functions take it.
pub(crate) fn c_size(library: Library, name: &str, size: usize) -> Result<c_int> {
    c_int::try_from(size).map_err(|_| {
        let most = c_int::MAX;
        Error::value_error(format!("{name} is {size}; {} takes sizes up to {most} here", library.name()))
    })
}

/// What is done with a matrix before it is used.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Op {
    /// Whether it is transposed.
    pub transposed: bool,
    /// Whether its elements are conjugated.
    pub conjugated: bool,
}

impl Op {
    /// Nothing.
    pub const NONE: Self = Self { transposed: false, conjugated: false };
    /// Its transpose.
    pub const TRANSPOSE: Self = Self { transposed: true, conjugated: false };
    /// Its conjugate transpose.
    pub const ADJOINT: Self = Self { transposed: true, conjugated: true };

    /// This, then a transposition.
    pub(crate) fn then_transposed(self, transposed: bool) -> Self {
        Self { transposed: self.transposed != transposed, ..self }
    }

    /// The library's name for it; `None` for a conjugate that is not transposed, which BLAS does not have.
    pub(crate) fn code(self) -> Option<cublasOperation_t> {
        match (self.transposed, self.conjugated) {
            (false, false) => Some(cublasOperation_t::CUBLAS_OP_N),
            (true, false) => Some(cublasOperation_t::CUBLAS_OP_T),
            (true, true) => Some(cublasOperation_t::CUBLAS_OP_C),
            (false, true) => None,
        }
    }
}

impl std::str::FromStr for Op {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "n" | "N" => Ok(Self::NONE),
            "t" | "T" => Ok(Self::TRANSPOSE),
            "c" | "C" => Ok(Self::ADJOINT),
            _ => Err(Error::value_error(format!("trans is '{name}'; expected 'n', 't' or 'c'"))),
        }
    }
}

/// A matrix in memory, as a library in column-major order describes it: the array itself, or its transpose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Storage {
    /// Elements from one column to the next.
    pub(crate) leading: usize,
    /// Whether the columns are the array's rows.
    pub(crate) is_transposed: bool,
}

impl Storage {
    /// How the last two axes of an array lie; `None` where neither has adjacent elements.
    pub(crate) fn of(array: &GpuArray) -> Option<Self> {
        let (item, ndim) = (array.itemsize() as isize, array.ndim());
        let (rows, columns) = (array.shape()[ndim - 2], array.shape()[ndim - 1]);
        let (row, column) = (array.strides()[ndim - 2], array.strides()[ndim - 1]);
        // A stride between elements that are alone means nothing.
        let leading = |within: usize, inner: isize, across: usize, outer: isize| {
            let least = within.max(1);
            let is_adjacent = within <= 1 || inner == item;
            match across {
                _ if !is_adjacent => None,
                0 | 1 => Some(least),
                _ => (outer % item == 0 && outer / item >= least as isize).then_some((outer / item) as usize),
            }
        };
        let row_major = leading(columns, column, rows, row).map(|leading| Self { leading, is_transposed: true });
        let column_major = leading(rows, row, columns, column).map(|leading| Self { leading, is_transposed: false });
        // What is both, such as a column, is taken as it is made by default.
        row_major.or(column_major)
    }

    /// Elements from one matrix of a batch to the next; `None` if the first axis is not regular.
    pub(crate) fn batch_stride(array: &GpuArray) -> Option<i64> {
        let (item, stride) = (array.itemsize() as isize, array.strides()[0]);
        (stride >= 0 && stride % item == 0).then_some((stride / item) as i64)
    }
}

/// An operand that is read.
pub(crate) struct ReadMatrix {
    /// The array or a copy of it, which must live until the work is enqueued.
    pub(crate) array: GpuArray,
    pub(crate) storage: Storage,
    /// What the library has to do with the matrix in memory.
    pub(crate) op: cublasOperation_t,
}

impl ReadMatrix {
    /// The operand `op(array)`, copied where the library cannot read it as it lies.
    pub(crate) fn new(array: &GpuArray, op: Op) -> Result<Self> {
        let conjugated = op.conjugated && array.dtype().is_complex();
        let op = Op { conjugated, ..op };
        let code_for = |storage: &Storage| op.then_transposed(storage.is_transposed).code();
        if let Some(storage) = Storage::of(array).filter(|_| array.ndim() < 3 || Storage::batch_stride(array).is_some())
            && let Some(code) = code_for(&storage)
        {
            return Ok(Self { array: array.clone(), storage, op: code });
        }
        // The order in which the library is asked to transpose if it has to conjugate.
        let is_row_major = op.conjugated && !op.transposed;
        let copy = copy_in_order(array, is_row_major)?;
        let (rows, columns) = (array.shape()[array.ndim() - 2], array.shape()[array.ndim() - 1]);
        let leading = if is_row_major { columns } else { rows }.max(1);
        let storage = Storage { leading, is_transposed: is_row_major };
        let op = code_for(&storage).unwrap_or(cublasOperation_t::CUBLAS_OP_N);
        Ok(Self { array: copy, storage, op })
    }

    pub(crate) fn address(&self) -> u64 {
        self.array.first_element_address()
    }
}

/// A copy whose last two axes lie in row-major or in column-major order, the matrices of a batch one after the other.
pub(crate) fn copy_in_order(array: &GpuArray, is_row_major: bool) -> Result<GpuArray> {
    if is_row_major {
        return Ok(array.copy(Some(Order::C))?);
    }
    let (n, axes) = (array.ndim() as isize, [-1, -2]);
    Ok(array.swapaxes(n + axes[0], n + axes[1])?.copy(Some(Order::C))?.swapaxes(n + axes[0], n + axes[1])?)
}

/// The way an array lies that a library writes to.
pub(crate) fn written_storage(name: &str, array: &GpuArray) -> Result<Storage> {
    Storage::of(array).ok_or_else(|| {
        Error::value_error(format!(
            "{name} has shape {:?} and strides {:?}; expected a matrix with adjacent elements in its rows or columns",
            array.shape(),
            array.strides()
        ))
    })
}

/// Checks the number of axes.
pub(crate) fn check_ndim(name: &str, array: &GpuArray, ndim: usize) -> Result<()> {
    if array.ndim() == ndim {
        return Ok(());
    }
    let shape = array.shape();
    let expected = ["a scalar", "a vector", "a matrix", "a stack of matrices"][ndim];
    Err(Error::value_error(format!("{name} has shape {shape:?}; expected {expected}")))
}

/// Checks the shape.
pub(crate) fn check_shape(name: &str, array: &GpuArray, expected: &[usize]) -> Result<()> {
    if array.shape() == expected {
        return Ok(());
    }
    Err(Error::value_error(format!("{name} has shape {:?}; expected {expected:?}", array.shape())))
}

/// Checks that an operand has the dtype of another.
pub(crate) fn check_dtype(name: &str, array: &GpuArray, expected: DType) -> Result<()> {
    if array.dtype() == expected {
        return Ok(());
    }
    Err(Error::type_error(format!("{name} has dtype {}; expected {expected}", array.dtype())))
}

/// Checks that what is written shares no memory with what is read.
pub(crate) fn check_apart(name: &str, out: &GpuArray, others: &[(&str, &GpuArray)]) -> Result<()> {
    match others.iter().find(|(_, other)| out.overlaps(other)) {
        None => Ok(()),
        Some((other, _)) => Err(Error::value_error(format!("{name} overlaps {other}, which is read at the same time"))),
    }
}

/// Addresses of the matrices of a batch, on the device: what functions of arrays of pointers take.
pub(crate) fn pointers(array: &GpuArray) -> Result<GpuArray> {
    let (first, stride) = (array.first_element_address(), array.strides()[0]);
    let addresses =
        (0..array.shape()[0]).flat_map(|i| (first.wrapping_add_signed(i as i64 * stride as i64)).to_le_bytes());
    pointers_to(array, addresses.collect())
}

/// [`pointers`] from the bytes of addresses.
pub(crate) fn pointers_to(like: &GpuArray, bytes: Vec<u8>) -> Result<GpuArray> {
    let table = GpuArray::empty(like.context(), &[bytes.len() / 8], DType::U64, Order::C)?;
    table.write(&bytes, Order::C)?;
    Ok(table)
}

/// Memory of the pool for a call that is enqueued in the current stream, where it is free again after that.
pub(crate) fn workspace(like: &GpuArray, nbytes: usize) -> Result<GpuArray> {
    Ok(GpuArray::empty(like.context(), &[nbytes.max(1)], DType::U8, Order::C)?)
}

/// Checks operands against the context of a handle.
pub(crate) fn check_contexts(ctx: &Context, operands: &[(&str, &GpuArray)]) -> Result<()> {
    for (name, array) in operands {
        if array.context().context_number() != ctx.handle_number() {
            let device = ctx.device().ordinal();
            return Err(Error::value_error(format!(
                "{name} is an array of another context than the handle's, which is of device {device}"
            )));
        }
        array.check_memory()?;
    }
    Ok(())
}

/// The handle of the thread's current stream for work in `ctx`; null is the default stream.
pub(crate) fn current_stream_handle(ctx: &Context) -> Result<CUstream> {
    match crate::current_stream() {
        None => Ok(CUstream::null()),
        Some(stream) if stream.context() == ctx => Ok(Stream::handle(&stream)),
        Some(_) => Err(Error::value_error("the current stream is of another context than the handle")),
    }
}

/// The library of a context's device.
pub(crate) fn library_for(
    library: Library,
    ctx: &Context,
    function: &str,
    instead: &str,
) -> Result<&'static dyn NamedFunctions> {
    library.check_device(ctx, function, instead)?;
    Ok(library.load()?)
}

/// Calls a function by its C name, with one word for each argument: [`NamedFunctions::call`] in a context.
///
/// # Errors
/// For virtual devices, when the library or the function is missing, and those of the library.
///
/// # Safety
/// As for the function in C.
pub unsafe fn call_by_name(library: Library, ctx: &Context, name: &str, words: &[u64], instead: &str) -> Result<()> {
    let table = library_for(library, ctx, name, instead)?;
    let status = ctx.with_current(|| {
        // SAFETY: the caller's promise.
        let status = unsafe { table.call(name, words) };
        status.ok_or_else(|| Error::value_error(format!("{name} with {} arguments is not declared", words.len())))
    })?;
    Ok(LibraryError::check(library, table, name, status)?)
}

/// Handles that belong to the calling thread, one for each context; those of threads that have ended go to others.
pub(crate) struct ThreadHandles<H: 'static> {
    own: RefCell<Vec<(u64, H)>>,
    idle: &'static Mutex<Vec<(u64, H)>>,
}

impl<H: Clone + 'static> ThreadHandles<H> {
    pub(crate) const fn new(idle: &'static Mutex<Vec<(u64, H)>>) -> Self {
        Self { own: RefCell::new(Vec::new()), idle }
    }

    /// The thread's handle for a context; `is_usable` says whether the context of a handle is still there.
    pub(crate) fn get_or_make(
        &self,
        ctx: &Context,
        is_usable: impl Fn(&H) -> bool,
        make: impl FnOnce() -> Result<H>,
    ) -> Result<H> {
        let number = ctx.handle_number();
        let mut own = self.own.borrow_mut();
        own.retain(|(_, handle)| is_usable(handle));
        if let Some((_, handle)) = own.iter().find(|(known, _)| *known == number) {
            return Ok(handle.clone());
        }
        let found = {
            let mut idle = lock_ignoring_poison(self.idle);
            idle.retain(|(_, handle)| is_usable(handle));
            idle.iter().position(|(known, _)| *known == number).map(|at| idle.swap_remove(at))
        };
        let handle = match found {
            Some((_, handle)) => handle,
            None => make()?,
        };
        own.push((number, handle.clone()));
        Ok(handle)
    }
}

impl<H: 'static> Drop for ThreadHandles<H> {
    fn drop(&mut self) {
        lock_ignoring_poison(self.idle).append(self.own.get_mut());
    }
}
