//! Page-locked host memory, and copies that do not wait: a copy in flight ([`Pending`]) owns the memory on the host, so
//! that nothing reads or frees it before the copy is done.

#![allow(unsafe_code, reason = "the memory is reached through slices whose length and contents are known")]

use crate::context::Context;
use crate::element::{Element, bytes_of, make_all_valid};
use crate::memory::DeviceVec;
use rtcg_cuda::Result;
use rtcg_driver::sys::{CU_MEMHOSTREGISTER_DEVICEMAP, CU_MEMHOSTREGISTER_PORTABLE, CUresult};
use rtcg_driver::{AlignedHostAllocation, CUdeviceptr, Error, Event, EventFlags, RegisteredHostMemory, Stream, memory};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};

/// What memory is page-locked by.
const PAGE_BYTES: usize = 4096;

/// Elements in page-locked host memory; in all other respects a slice. Its copies run asynchronously
/// ([`DeviceVec::read_async`], [`DeviceVec::write_async`]), and a kernel that takes it as an argument accesses it over
/// the bus.
///
/// ```
/// use rtcg::prelude::*;
///
/// # fn main() -> rtcg::Result<()> {
/// let ctx = Context::new()?;
/// let stream = ctx.stream()?;
/// let mut host = ctx.pinned::<f32>(3)?;
/// host.copy_from_slice(&[1.0, 2.0, 3.0]);
///
/// let a = ctx.zeros::<f32>(3)?;
/// let written = a.write_async(host, &stream)?;
/// let twice = ctx.compile("__global__ void twice(float *a) { a[threadIdx.x] *= 2; }")?.function("twice")?;
/// // SAFETY: the kernel writes the three elements of `a`.
/// unsafe { twice.launch(Grid::new(1, 3).stream(&stream), &[&a])? };
/// let host = a.read_async(written.wait()?, &stream)?.wait()?;
/// assert_eq!(*host, [2.0, 4.0, 6.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct PinnedVec<T> {
    /// Locks `memory`, which is unlocked before it is freed. `None` when there are no elements.
    locked: Option<RegisteredHostMemory>,
    memory: Option<AlignedHostAllocation>,
    len: usize,
    element: PhantomData<T>,
}

impl Context {
    /// Allocates page-locked host memory for `len` elements, all zero, which asynchronous copies can use.
    ///
    /// # Errors
    /// When the system cannot lock that much memory.
    pub fn pinned<T: Element>(&self, len: usize) -> Result<PinnedVec<T>> {
        PinnedVec::new(self, len)
    }
}

impl<T: Element> PinnedVec<T> {
    /// Zeros. The memory is the program's own, so that it outlives any context; the context only locks it.
    fn new(ctx: &Context, len: usize) -> Result<Self> {
        const { assert!(align_of::<T>() <= PAGE_BYTES, "elements of a larger alignment than pages") };
        const { assert!(size_of::<T>() > 0, "elements without size") };
        if len == 0 {
            return Ok(Self { locked: None, memory: None, len, element: PhantomData });
        }
        let nbytes = len.checked_mul(size_of::<T>()).and_then(|nbytes| nbytes.checked_next_multiple_of(PAGE_BYTES));
        let nbytes = nbytes.ok_or_else(|| {
            let detail = format!("{len} elements of {} bytes are more than the address space", size_of::<T>());
            Error::new("cuMemHostRegister", CUresult::CUDA_ERROR_OUT_OF_MEMORY, detail)
        })?;
        let memory = AlignedHostAllocation::new(nbytes, PAGE_BYTES)?;
        let flags = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP;
        // SAFETY: the memory stays until after it is unlocked, which the order of fields says.
        let locked = ctx.enter(|| unsafe { RegisteredHostMemory::new(memory.as_ptr(), nbytes, flags) })?;
        Ok(Self { locked: Some(locked), memory: Some(memory), len, element: PhantomData })
    }

    fn as_mut_ptr(&self) -> *mut T {
        self.memory.as_ref().map_or(std::ptr::dangling_mut(), |memory| memory.as_ptr().cast())
    }

    /// Its address on devices, 0 without elements.
    pub(crate) fn device_address(&self) -> rtcg_driver::Result<CUdeviceptr> {
        self.locked.as_ref().map_or(Ok(0), RegisteredHostMemory::device_pointer)
    }
}

impl<T: Element> Deref for PinnedVec<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: so many elements are there, which began as zeros; a copy in flight owns the vector.
        unsafe { std::slice::from_raw_parts(self.as_mut_ptr(), self.len) }
    }
}

impl<T: Element> DerefMut for PinnedVec<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: so many elements are there, which are borrowed mutably; a copy in flight owns the vector.
        unsafe { std::slice::from_raw_parts_mut(self.as_mut_ptr(), self.len) }
    }
}

/// A copy in flight, which owns its host memory until [`Pending::wait`] returns it. Dropping it waits too.
#[must_use = "dropping a copy in flight waits for it"]
#[derive(Debug)]
pub struct Pending<T: Element> {
    host: ManuallyDrop<PinnedVec<T>>,
    done: Event,
    /// Both ends live until the copy is done.
    _device: DeviceVec<T>,
}

impl<T: Element> Pending<T> {
    /// Waits until the copy is done and returns the host memory, with what was copied to it.
    ///
    /// # Errors
    /// When a kernel before the copy failed. The host memory is lost then.
    pub fn wait(self) -> Result<PinnedVec<T>> {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is not dropped, so that each field is taken once.
        let (host, done, device) = unsafe {
            (
                ManuallyDrop::take(&mut this.host),
                std::ptr::read(&raw const this.done),
                std::ptr::read(&raw const this._device),
            )
        };
        if let Err(error) = done.synchronize() {
            // Nobody knows whether the copy still runs.
            std::mem::forget((host, device));
            return Err(error.into());
        }
        // SAFETY: the copy is done, and all bytes were initialised.
        unsafe { make_all_valid(host.as_mut_ptr(), host.len) };
        Ok(host)
    }

    /// Whether the copy is done, so that [`Pending::wait`] would return at once.
    ///
    /// # Errors
    /// When a kernel before the copy failed.
    pub fn is_done(&self) -> Result<bool> {
        Ok(self.done.query()?)
    }
}

impl<T: Element> Drop for Pending<T> {
    fn drop(&mut self) {
        if self.done.synchronize().is_ok() {
            // SAFETY: this is the only place that drops it; after an error the copy may still run, and it is leaked.
            unsafe { ManuallyDrop::drop(&mut self.host) };
        }
    }
}

/// Copies that do not wait.
impl<T: Element> DeviceVec<T> {
    /// Copies all elements to page-locked memory in stream order: after the work of `stream` and all earlier work with
    /// this memory. Does not wait.
    ///
    /// # Errors
    /// When the number of elements differs, or the stream is being captured: the graph would repeat the copy later,
    /// when the memory has another owner.
    pub fn read_async(&self, host: PinnedVec<T>, stream: &Stream) -> Result<Pending<T>> {
        self.check_len("host", host.len)?;
        let to = host.as_mut_ptr().cast::<u8>();
        self.start_copy(host, stream, |nbytes| {
            // SAFETY: both ends have so many bytes, and the copy in flight owns one and holds the other.
            unsafe { memory::memcpy_dtoh_async(to, self.ptr(), nbytes, Some(stream)) }
        })
    }

    /// Overwrites all elements with those of page-locked memory, in stream order like [`DeviceVec::read_async`]. Does
    /// not wait.
    ///
    /// # Errors
    /// As [`DeviceVec::read_async`].
    pub fn write_async(&self, mut host: PinnedVec<T>, stream: &Stream) -> Result<Pending<T>> {
        self.check_len("host", host.len)?;
        zero_padding(&mut host);
        let from = host.as_mut_ptr().cast::<u8>().cast_const();
        self.start_copy(host, stream, |nbytes| {
            // SAFETY: as in `read_async`.
            unsafe { memory::memcpy_htod_async(self.ptr(), from, nbytes, Some(stream)) }
        })
    }

    fn start_copy(
        &self,
        host: PinnedVec<T>,
        stream: &Stream,
        copy: impl FnOnce(usize) -> rtcg_driver::Result<()>,
    ) -> Result<Pending<T>> {
        if stream.is_capturing()? {
            let detail = "the stream is being captured into a graph, which cannot own memory of the host; copy before the \
                          capture or after the launch of the graph";
            return Err(Error::new("cuMemcpyAsync", CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, detail).into());
        }
        let done = stream.context().with_current(|| Event::new(EventFlags::DISABLE_TIMING))?;
        self.order_stream(stream)?;
        let Some(ctx) = self.context() else {
            return Ok(Pending { host: ManuallyDrop::new(host), done, _device: self.share() });
        };
        // From here on the copy may run: what fails waits for the stream, or leaks the host's memory.
        let host = ManuallyDrop::new(host);
        let started = ctx.enter(|| copy(self.nbytes()).and_then(|()| done.record(Some(stream))));
        self.used_in(Some(stream));
        if let Err(error) = started {
            if stream.synchronize().is_ok() {
                drop(ManuallyDrop::into_inner(host));
            }
            return Err(error);
        }
        Ok(Pending { host, done, _device: self.share() })
    }
}

/// Initialises bytes that belong to no value, before a device reads them.
fn zero_padding<T: Element>(host: &mut PinnedVec<T>) {
    if T::HAS_PADDING {
        let bytes = bytes_of(host);
        // SAFETY: bytes of as many elements, which are the same values.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), host.as_mut_ptr().cast(), bytes.len()) };
    }
}
