//! Answers of `clGet…Info`: bytes into the user's memory, the size that they need, or an error.

use crate::error::{ClError, Result};
use rtcg_opencl_sys::*;

/// Defines a query of five arguments as the function of C that asks an object.
macro_rules! info_function {
    ($name:ident($handle:ty, $param:ty) of $body:ty = $answer:ident) => {
        /// # Safety
        /// As the specification of OpenCL says.
        pub(crate) unsafe extern "C" fn $name(
            handle: $handle,
            param_name: $param,
            param_value_size: usize,
            param_value: *mut c_void,
            param_value_size_ret: *mut usize,
        ) -> cl_int {
            $crate::error::code_of(|| {
                // SAFETY: the caller's promise.
                let (object, answer) = unsafe {
                    let object = $crate::object::resolve::<$body>(handle)?;
                    (object, Answer::new(param_value_size, param_value, param_value_size_ret))
                };
                $answer(&object, param_name, answer)
            })
        }
    };
}
pub(crate) use info_function;

/// Where a query's answer goes.
#[derive(Clone, Copy)]
pub(crate) struct Answer {
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
}

impl Answer {
    /// The three last arguments of every query.
    ///
    /// # Safety
    /// `value` is null or has `size` writable bytes; `size_ret` is null or writable.
    pub(crate) unsafe fn new(size: usize, value: *mut c_void, size_ret: *mut usize) -> Self {
        Self { size, value, size_ret }
    }

    /// Whether the user asks for the value, not only for its size.
    pub(crate) fn wants_value(&self) -> bool {
        !self.value.is_null()
    }

    /// Bytes that the user has room for.
    pub(crate) fn room(&self) -> usize {
        self.size
    }

    /// The user's memory.
    pub(crate) fn memory(&self) -> *mut c_void {
        self.value
    }

    pub(crate) fn bytes(self, bytes: &[u8]) -> Result<()> {
        self.announce_size(bytes.len())?;
        if !self.value.is_null() {
            // SAFETY: the size was compared, the memory is the caller's promise.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.value.cast(), bytes.len()) };
        }
        Ok(())
    }

    /// Says how many bytes the answer has, and refuses memory that is too small for it.
    pub(crate) fn announce_size(&self, nbytes: usize) -> Result<()> {
        if !self.value.is_null() && self.size < nbytes {
            return ClError::value(format!("param_value_size: {} bytes, the answer has {nbytes}", self.size));
        }
        if !self.size_ret.is_null() {
            // SAFETY: the promise of `new`.
            unsafe { *self.size_ret = nbytes };
        }
        Ok(())
    }

    /// A number, a handle or a structure of C.
    pub(crate) fn plain<T: Copy>(self, value: T) -> Result<()> {
        self.slice(&[value])
    }

    /// Several of them.
    pub(crate) fn slice<T: Copy>(self, values: &[T]) -> Result<()> {
        // SAFETY: any initialised memory is bytes; structures given here have no padding.
        self.bytes(unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) })
    }

    /// `CL_TRUE` or `CL_FALSE`.
    pub(crate) fn boolean(self, value: bool) -> Result<()> {
        self.plain(cl_bool::from(value))
    }

    /// A text with its terminating zero.
    pub(crate) fn text(self, text: &str) -> Result<()> {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        self.bytes(&bytes)
    }

    /// The error of a `param_name` that the query does not know.
    pub(crate) fn unknown(self, what: &str, name: cl_uint) -> Result<()> {
        ClError::value(format!("param_name: {name:#x} is nothing that a {what} is asked for"))
    }
}

/// Writes handles into a user's list, and their number, as `clGetPlatformIDs` and its like do.
///
/// # Safety
/// `list` is null or has room for `entries`; `count` is null or writable.
pub(crate) unsafe fn list_handles<H: Copy>(
    found: &[H],
    entries: cl_uint,
    list: *mut H,
    count: *mut cl_uint,
    none: cl_int,
) -> Result<()> {
    if (entries == 0 && !list.is_null()) || (list.is_null() && count.is_null()) {
        return ClError::value("num_entries is 0 with a list, or there is neither a list nor a count");
    }
    if found.is_empty() {
        return Err(ClError::new(none, "nothing was found"));
    }
    // SAFETY: the caller's promise.
    unsafe {
        if !list.is_null() {
            std::ptr::copy_nonoverlapping(found.as_ptr(), list, found.len().min(entries as usize));
        }
        if !count.is_null() {
            *count = found.len() as cl_uint;
        }
    }
    Ok(())
}
