//! Kernels and how they are launched.

#![allow(unsafe_code, reason = "a launch runs code that nobody here has seen; the caller's promise is passed on")]

use crate::context::Context;
use rtcg_cuda::Result;
use rtcg_driver::signature::GivenArgument;
use rtcg_driver::{LaunchOptions, Stream};

/// Up to three dimensions; missing ones are 1. Converts from integers of several types, and from tuples and arrays of
/// them. A value that does not fit `u32` becomes 0 or the largest `u32`, which every launch refuses.
///
/// ```
/// use rtcg::Dim3;
///
/// let n: usize = 40;
/// assert_eq!(Dim3::from((n, 2)), Dim3([40, 2, 1]));
/// assert_eq!(Dim3::from([4u32, 5, 6]), Dim3([4, 5, 6]));
/// assert_eq!(Dim3::from(-1), Dim3([0, 1, 1]));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dim3(pub [u32; 3]);

mod sealed {
    pub trait Sealed {}
}

/// An integer that can be a length of [`Dim3`].
pub trait DimLength: sealed::Sealed {
    /// The length, saturated to the range of `u32`.
    fn saturating_length(self) -> u32;
}

macro_rules! impl_dim_length {
    ($($t:ty)*) => {$(
        impl sealed::Sealed for $t {}
        impl DimLength for $t {
            fn saturating_length(self) -> u32 {
                u32::try_from(self).unwrap_or(if self > 1 { u32::MAX } else { 0 })
            }
        }
    )*};
}

impl_dim_length! { u8 u16 u32 u64 usize i32 i64 }

impl<X: DimLength> From<X> for Dim3 {
    fn from(x: X) -> Self {
        Dim3([x.saturating_length(), 1, 1])
    }
}

impl<X: DimLength, Y: DimLength> From<(X, Y)> for Dim3 {
    fn from((x, y): (X, Y)) -> Self {
        Dim3([x.saturating_length(), y.saturating_length(), 1])
    }
}

impl<X: DimLength, Y: DimLength, Z: DimLength> From<(X, Y, Z)> for Dim3 {
    fn from((x, y, z): (X, Y, Z)) -> Self {
        Dim3([x.saturating_length(), y.saturating_length(), z.saturating_length()])
    }
}

impl<X: DimLength, const N: usize> From<[X; N]> for Dim3 {
    /// Converts one to three lengths; other numbers of lengths do not compile.
    fn from(lengths: [X; N]) -> Self {
        const { assert!(N >= 1 && N <= 3, "one to three dimensions") };
        let mut all = [1; 3];
        all.iter_mut().zip(lengths).for_each(|(to, length)| *to = length.saturating_length());
        Dim3(all)
    }
}

/// The geometry of a launch.
#[derive(Debug, Clone, Copy)]
pub struct Grid<'a> {
    blocks: Dim3,
    threads: Dim3,
    shared_bytes: u32,
    stream: Option<&'a Stream>,
    options: LaunchOptions,
}

impl<'a> Grid<'a> {
    /// `blocks` blocks of `threads` threads each.
    pub fn new(blocks: impl Into<Dim3>, threads: impl Into<Dim3>) -> Self {
        Self {
            blocks: blocks.into(),
            threads: threads.into(),
            shared_bytes: 0,
            stream: None,
            options: LaunchOptions::default(),
        }
    }

    /// Blocks of 256 threads that cover `n` elements with one thread each.
    pub fn for_elements(n: usize) -> Self {
        Self::new(n.div_ceil(256).max(1), 256)
    }

    /// Sets `nbytes` of dynamic shared memory per block.
    pub fn shared_memory_bytes(mut self, nbytes: u32) -> Self {
        self.shared_bytes = nbytes;
        self
    }

    /// Launches in `stream` rather than the default stream.
    pub fn stream(mut self, stream: &'a Stream) -> Self {
        self.stream = Some(stream);
        self
    }

    /// Sets options beyond the geometry: cooperative launch, clusters, priorities.
    pub fn launch_options(mut self, options: LaunchOptions) -> Self {
        self.options = options;
        self
    }
}

/// Receives an argument's bytes, its alignment in C and its type.
pub type WriteArgumentFn<'p> = dyn FnMut(&[u8], usize, GivenArgument) -> rtcg_driver::Result<()> + 'p;

/// What can be passed to kernels: every [`Element`](crate::Element), that is numbers and structures of them, by value;
/// [`DeviceVec`](crate::DeviceVec), arrays, variables, page-locked and managed memory by pointer; texture and surface
/// objects.
pub trait KernelArgument {
    /// Calls `put` with the bytes that the kernel receives.
    fn pack_argument(&self, put: &mut WriteArgumentFn<'_>) -> rtcg_driver::Result<()>;

    /// Called after the kernel was enqueued in `stream`, for memory that must know its uses. If the stream is being
    /// captured, [`rtcg_driver::retain_in_capture`] makes the graph keep the memory alive.
    fn used_in(&self, stream: Option<&Stream>) {
        let _ = stream;
    }
}

/// A kernel.
#[derive(Debug, Clone)]
pub struct Function {
    ctx: Context,
    inner: rtcg_driver::Function,
}

impl Function {
    pub(crate) fn new(ctx: Context, inner: rtcg_driver::Function) -> Self {
        Self { ctx, inner }
    }

    /// The underlying driver function, with attributes, parameters and occupancy.
    pub fn driver_function(&self) -> &rtcg_driver::Function {
        &self.inner
    }

    /// Enqueues the kernel; does not wait. Checks the number and sizes of the arguments against the kernel's
    /// parameters, and their types as far as the kernel's source reveals them.
    ///
    /// # Errors
    /// When an argument does not fit (the message says which), or the device cannot run the
    /// geometry. Faults while the kernel runs are reported by a later call.
    ///
    /// # Safety
    /// The kernel is unchecked code: with these arguments it must stay inside the memory they point to. A
    /// [`DeviceVec`](crate::DeviceVec) or an array is kept alive long enough, also in a graph; memory of other kinds
    /// must live until the kernel has finished.
    pub unsafe fn launch(&self, grid: Grid<'_>, args: &[&dyn KernelArgument]) -> Result<()> {
        let mut packer = self.inner.arg_packer();
        for arg in args {
            arg.pack_argument(&mut |bytes, align, given| packer.push_typed_argument(bytes, align, given))?;
        }
        let packed = packer.into_packed_args()?;
        let Grid { blocks, threads, shared_bytes, stream, options } = grid;
        self.ctx.enter(|| {
            // SAFETY: the caller's promise.
            unsafe { self.inner.launch_with_options(blocks.0, threads.0, shared_bytes, stream, &packed, options) }
        })?;
        args.iter().for_each(|arg| arg.used_in(stream));
        Ok(())
    }
}
