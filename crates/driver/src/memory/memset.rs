//! Fills device memory with a value. Sizes are in elements, pitches in bytes.

use crate::context::current_driver_table;
use crate::error::Result;
use crate::memory::diagnosis::explain_address_error;
use crate::stream::{Stream, current_table_and_stream_handle};
use rtcg_cuda_sys::CUdeviceptr;

/// The size in bytes spanned by `height` rows of `width` elements of `item` bytes.
pub fn extent_2d(pitch: usize, width: usize, height: usize, item: usize) -> usize {
    match height {
        0 => 0,
        _ => pitch.saturating_mul(height - 1).saturating_add(width.saturating_mul(item)),
    }
}

macro_rules! define_memsets {
    ($($name:ident $name_async:ident $call:ident $call_async:ident $ty:ty, $bits:literal;)*) => {
        $(
            #[doc = concat!("Sets `n` elements of ", $bits, " bits to `value`.")]
            ///
            /// # Safety
            /// `dst` must be valid for the whole range in the current context.
            pub unsafe fn $name(dst: CUdeviceptr, value: $ty, n: usize) -> Result<()> {
                let table = current_driver_table(stringify!($call))?;
                // SAFETY: the caller's promise.
                let result = unsafe { retry_if_context_displaced!(table, $call(dst, value, n)) };
                explain_address_error(table, result, &[("dest", dst, n.saturating_mul(size_of::<$ty>()))])
            }

            #[doc = concat!("Sets `n` elements of ", $bits, " bits to `value`, in stream order.")]
            ///
            /// # Safety
            /// `dst` must be valid for the whole range until the stream has passed the fill.
            pub unsafe fn $name_async(
                dst: CUdeviceptr,
                value: $ty,
                n: usize,
                stream: Option<&Stream>,
            ) -> Result<()> {
                let (table, stream) = current_table_and_stream_handle(stringify!($call_async), stream)?;
                // SAFETY: the caller's promise.
                let result = unsafe { retry_if_context_displaced!(table, $call_async(dst, value, n, stream)) };
                explain_address_error(table, result, &[("dest", dst, n.saturating_mul(size_of::<$ty>()))])
            }
        )*
    };
}

define_memsets! {
    memset_d8 memset_d8_async cuMemsetD8 cuMemsetD8Async u8, "8";
    memset_d16 memset_d16_async cuMemsetD16 cuMemsetD16Async u16, "16";
    memset_d32 memset_d32_async cuMemsetD32 cuMemsetD32Async u32, "32";
}

macro_rules! define_memsets_2d {
    ($($name:ident $name_async:ident $call:ident $call_async:ident $ty:ty, $bits:literal;)*) => {
        $(
            #[doc = concat!("Sets `height` rows of `width` elements of ", $bits, " bits.")]
            ///
            /// # Safety
            /// `dst` must be valid for all rows in the current context.
            pub unsafe fn $name(
                dst: CUdeviceptr,
                pitch: usize,
                value: $ty,
                width: usize,
                height: usize,
            ) -> Result<()> {
                let table = current_driver_table(stringify!($call))?;
                // SAFETY: the caller's promise.
                let result = unsafe { retry_if_context_displaced!(table, $call(dst, pitch, value, width, height)) };
                explain_address_error(table, result, &[("dest", dst, extent_2d(pitch, width, height, size_of::<$ty>()))])
            }

            #[doc = concat!("Sets `height` rows of `width` elements of ", $bits, " bits, in stream order.")]
            ///
            /// # Safety
            /// `dst` must be valid for all rows until the stream has passed the fill.
            pub unsafe fn $name_async(
                dst: CUdeviceptr,
                pitch: usize,
                value: $ty,
                width: usize,
                height: usize,
                stream: Option<&Stream>,
            ) -> Result<()> {
                let (table, stream) = current_table_and_stream_handle(stringify!($call_async), stream)?;
                // SAFETY: the caller's promise.
                let result = unsafe { retry_if_context_displaced!(table, $call_async(dst, pitch, value, width, height, stream)) };
                explain_address_error(table, result, &[("dest", dst, extent_2d(pitch, width, height, size_of::<$ty>()))])
            }
        )*
    };
}

define_memsets_2d! {
    memset_d2d8 memset_d2d8_async cuMemsetD2D8 cuMemsetD2D8Async u8, "8";
    memset_d2d16 memset_d2d16_async cuMemsetD2D16 cuMemsetD2D16Async u16, "16";
    memset_d2d32 memset_d2d32_async cuMemsetD2D32 cuMemsetD2D32Async u32, "32";
}
