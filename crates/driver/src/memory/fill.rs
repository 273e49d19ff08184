//! Filling device memory with a value. Sizes count elements, pitches count bytes.

use crate::error::Result;
use crate::stream::Stream;
use rtcg_cuda_sys::CUdeviceptr;

macro_rules! fills {
    ($($name:ident $name_async:ident $call:ident $call_async:ident $ty:ty, $bits:literal;)*) => {
        $(
            #[doc = concat!("Sets `n` elements of ", $bits, " bits to `value`.")]
            ///
            /// # Safety
            /// `dst` must be valid for the whole range in the current context.
            pub unsafe fn $name(dst: CUdeviceptr, value: $ty, n: usize) -> Result<()> {
                // SAFETY: the caller's promise.
                unsafe { call_current!($call(dst, value, n)) }
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
                // SAFETY: the caller's promise.
                unsafe { call_on_stream!(stream, $call_async(dst, value, n)) }
            }
        )*
    };
}

fills! {
    memset_d8 memset_d8_async cuMemsetD8 cuMemsetD8Async u8, "8";
    memset_d16 memset_d16_async cuMemsetD16 cuMemsetD16Async u16, "16";
    memset_d32 memset_d32_async cuMemsetD32 cuMemsetD32Async u32, "32";
}

macro_rules! fills_2d {
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
                // SAFETY: the caller's promise.
                unsafe { call_current!($call(dst, pitch, value, width, height)) }
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
                // SAFETY: the caller's promise.
                unsafe { call_on_stream!(stream, $call_async(dst, pitch, value, width, height)) }
            }
        )*
    };
}

fills_2d! {
    memset_d2d8 memset_d2d8_async cuMemsetD2D8 cuMemsetD2D8Async u8, "8";
    memset_d2d16 memset_d2d16_async cuMemsetD2D16 cuMemsetD2D16Async u16, "16";
    memset_d2d32 memset_d2d32_async cuMemsetD2D32 cuMemsetD2D32Async u32, "32";
}
