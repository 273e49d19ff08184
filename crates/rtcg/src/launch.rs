//! Kernels and how they are launched.

// A launch runs code that nobody here has seen; `Function::launch` is unsafe for that reason and
// passes the caller's promise on.
#![allow(unsafe_code)]

use crate::context::Context;
use crate::error::Result;
use crate::memory::{DeviceVec, Element};
use rtcg_driver::signature::GivenArgument;
use rtcg_driver::{LaunchOptions, Stream};

/// Up to three dimensions; missing ones are 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dim3(pub [u32; 3]);

impl From<u32> for Dim3 {
    fn from(x: u32) -> Self {
        Dim3([x, 1, 1])
    }
}

impl From<(u32, u32)> for Dim3 {
    fn from((x, y): (u32, u32)) -> Self {
        Dim3([x, y, 1])
    }
}

impl From<(u32, u32, u32)> for Dim3 {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Dim3([x, y, z])
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

    /// Blocks of 256 threads that cover `n` elements, one thread each.
    pub fn for_elements(n: usize) -> Self {
        Self::new(u32::try_from(n.div_ceil(256)).unwrap_or(u32::MAX).max(1), 256)
    }

    /// With `nbytes` of dynamic shared memory per block.
    pub fn shared_memory_bytes(mut self, nbytes: u32) -> Self {
        self.shared_bytes = nbytes;
        self
    }

    /// In `stream` rather than the default one.
    pub fn stream(mut self, stream: &'a Stream) -> Self {
        self.stream = Some(stream);
        self
    }

    /// With options beyond the geometry: cooperation, clusters, priorities.
    pub fn launch_options(mut self, options: LaunchOptions) -> Self {
        self.options = options;
        self
    }
}

/// Takes an argument's bytes, its alignment in C and its type.
pub type WriteArgumentFn<'p> = dyn FnMut(&[u8], usize, GivenArgument) -> rtcg_driver::Result<()> + 'p;

/// What can be passed to a kernel: numbers by value, device memory by pointer.
pub trait KernelArgument {
    /// Calls `put` with what the kernel gets.
    fn pack_argument(&self, put: &mut WriteArgumentFn<'_>) -> rtcg_driver::Result<()>;

    /// Called when the kernel was enqueued in `stream`, for memory that has to know who uses it. Where the stream is
    /// being captured, [`rtcg_driver::retain_in_capture`] lets the graph hold it.
    fn used_in(&self, stream: Option<&Stream>) {
        let _ = stream;
    }
}

impl<T: Element> KernelArgument for DeviceVec<T> {
    fn pack_argument(&self, put: &mut WriteArgumentFn<'_>) -> rtcg_driver::Result<()> {
        put(&self.ptr().to_ne_bytes(), 8, GivenArgument::Pointer(Some(T::NUMBER_TYPE)))
    }

    fn used_in(&self, stream: Option<&Stream>) {
        Self::used_in(self, stream);
    }
}

impl<T: Element> KernelArgument for T {
    fn pack_argument(&self, put: &mut WriteArgumentFn<'_>) -> rtcg_driver::Result<()> {
        put(T::as_bytes(std::slice::from_ref(self)), align_of::<T>(), GivenArgument::Value(T::NUMBER_TYPE))
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

    /// The driver's function below: attributes, parameters, occupancy.
    pub fn driver_function(&self) -> &rtcg_driver::Function {
        &self.inner
    }

    /// Enqueues the kernel; does not wait. Number, sizes and types of the arguments are checked
    /// against the kernel's parameters, types as far as they are known from its source.
    ///
    /// # Errors
    /// When an argument does not fit (the message says which), or the device cannot run the
    /// geometry. Faults while the kernel runs are reported by a later call.
    ///
    /// # Safety
    /// The kernel is foreign code: with these arguments it must stay inside the memory they
    /// point to. A [`DeviceVec`] lives long enough by itself, also in a graph; memory of other kinds must live until the
    /// kernel has finished.
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
