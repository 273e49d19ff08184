//! Typed device memory: [`DeviceVec`], its slices, and copies that wait. `pinned_memory.rs` has those that do not.

#![allow(unsafe_code, reason = "copies stay inside memory whose size is known and whose owner is held")]

use crate::context::Context;
use crate::element::{DevicePtr, Element, bytes_of, fill_bytes, zeroed_vec};
use rtcg_cuda::Result;
use rtcg_driver::memory as copies;
use rtcg_driver::pool::{DeviceMemoryPool, PooledDeviceAllocation};
use rtcg_driver::sys::CUresult;
use rtcg_driver::{DeviceAllocation, Error, Event, EventFlags, Stream, retain_in_capture, with_relaxed_capture_mode};
use rtcg_hal::lock_ignoring_poison;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};
use std::sync::{Arc, Mutex, MutexGuard};

/// Where elements lie.
#[derive(Debug)]
enum DeviceVecStorage {
    Own(DeviceAllocation),
    Pooled(PooledDeviceAllocation),
}

impl DeviceVecStorage {
    fn address(&self) -> u64 {
        match self {
            Self::Own(memory) => memory.ptr(),
            Self::Pooled(memory) => memory.ptr(),
        }
    }

    fn copy_to_host(&self, offset: usize, host: &mut [u8]) -> rtcg_driver::Result<()> {
        match self {
            Self::Own(memory) => memory.read(offset, host),
            Self::Pooled(memory) => memory.read(offset, host),
        }
    }

    fn copy_from_host(&self, offset: usize, host: &[u8]) -> rtcg_driver::Result<()> {
        match self {
            Self::Own(memory) => memory.write(offset, host),
            Self::Pooled(memory) => memory.write(offset, host),
        }
    }
}

/// What may still work with some memory, beside the default stream.
#[derive(Debug, Default)]
struct StreamUses {
    streams: Vec<Stream>,
    /// Whether a graph names its address, which may be launched in any stream.
    is_captured: bool,
}

#[derive(Debug)]
struct RefCountedBuffer {
    ctx: Context,
    memory: DeviceVecStorage,
    uses: Mutex<StreamUses>,
}

impl RefCountedBuffer {
    fn new(ctx: &Context, memory: DeviceVecStorage) -> Arc<Self> {
        Arc::new(Self { ctx: ctx.clone(), memory, uses: Mutex::default() })
    }

    fn lock_stream_uses(&self) -> MutexGuard<'_, StreamUses> {
        lock_ignoring_poison(&self.uses)
    }

    fn record_stream_use(self: &Arc<Self>, stream: &Stream) {
        /// So many streams are known before those that are done are forgotten.
        const MAX_TRACKED_STREAMS: usize = 16;
        let is_captured = retain_in_capture(Some(stream), || self.clone());
        let mut uses = self.lock_stream_uses();
        if is_captured {
            uses.is_captured = true;
        } else if !uses.streams.contains(stream) {
            let done = match uses.streams.len() {
                MAX_TRACKED_STREAMS.. => with_relaxed_capture_mode(|| {
                    uses.streams.extract_if(.., |stream| stream.is_done().unwrap_or(false)).collect()
                }),
                _ => Vec::new(),
            };
            uses.streams.push(stream.clone());
            drop(uses);
            drop(done);
        }
    }

    /// Waits for all uses that copies in the default stream do not wait for.
    fn wait_for_uses(&self) -> Result<()> {
        let (streams, is_captured) = {
            // They stay known: another thread may ask while this one waits.
            let uses = self.lock_stream_uses();
            (uses.streams.clone(), uses.is_captured)
        };
        if is_captured || streams.iter().any(Stream::is_closed) {
            return self.ctx.synchronize();
        }
        streams.iter().try_for_each(|stream| Ok(stream.synchronize()?))
    }

    /// Makes later work in `stream` wait for all uses, and for the default stream. The calling thread waits only where
    /// a graph or a closed stream may use the memory.
    fn order_stream_after_uses(&self, stream: &Stream) -> Result<()> {
        let (mut others, is_captured) = {
            let uses = self.lock_stream_uses();
            (uses.streams.clone(), uses.is_captured)
        };
        if is_captured || others.iter().any(Stream::is_closed) {
            return self.ctx.synchronize();
        }
        others.retain(|other| other != stream);
        self.ctx.enter(|| {
            others.push(Stream::legacy_default()?);
            others.iter().try_for_each(|other| {
                if other.is_capturing()? {
                    let detail = "another stream that used the memory is being captured; copy when that has ended";
                    return Err(Error::new("cuEventRecord", CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, detail));
                }
                let event = Event::new(EventFlags::DISABLE_TIMING)?;
                event.record(Some(other))?;
                stream.wait_for_event(&event)
            })
        })
    }
}

/// Device memory for elements of one type, or a slice of it. The memory is freed with the last handle to any part of
/// it.
///
/// [`DeviceVec::slice`] and [`DeviceVec::share`] give the same memory; [`DeviceVec::try_clone`] gives a copy.
///
/// Copies run after all work with the memory that was enqueued before, in any stream: launches, copies and graphs
/// record what they use.
///
/// ```
/// use rtcg::prelude::*;
///
/// # fn main() -> rtcg::Result<()> {
/// let ctx = Context::new()?;
/// let a = ctx.to_device(&[1i32, 2, 3, 4, 5, 6])?;
/// let middle = a.slice(2..4)?;
/// middle.write(&[30, 40])?;
/// a.slice(4..)?.copy_from(&middle)?;
/// let mut host = [0; 3];
/// a.slice(..3)?.read_into(&mut host)?;
/// assert_eq!((host, a.to_vec()?), ([1, 2, 30], vec![1, 2, 30, 40, 30, 40]));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct DeviceVec<T> {
    /// `None` when there are no elements, which CUDA does not allocate.
    memory: Option<Arc<RefCountedBuffer>>,
    /// Bytes before the first element.
    offset: usize,
    len: usize,
    /// The number of the context.
    context: u64,
    element: PhantomData<T>,
}

impl<T: Element> DeviceVec<T> {
    /// New memory with undefined contents, from a pool if there is one.
    fn new_uninit(ctx: &Context, pool: Option<&DeviceMemoryPool>, len: usize) -> Result<Self> {
        const { assert!(size_of::<T>() > 0, "elements of no bytes") };
        let nbytes = len.saturating_mul(size_of::<T>());
        let memory = match (len, pool) {
            (0, _) => None,
            (_, Some(pool)) => Some(DeviceVecStorage::Pooled(ctx.enter(|| pool.allocate(nbytes, None))?)),
            (_, None) => Some(DeviceVecStorage::Own(ctx.enter(|| DeviceAllocation::new(nbytes))?)),
        };
        let memory = memory.map(|memory| RefCountedBuffer::new(ctx, memory));
        Ok(Self { memory, offset: 0, len, context: ctx.driver_context().handle_number(), element: PhantomData })
    }

    pub(crate) fn from_slice(ctx: &Context, pool: Option<&DeviceMemoryPool>, host: &[T]) -> Result<Self> {
        let new = Self::new_uninit(ctx, pool, host.len())?;
        new.write(host)?;
        Ok(new)
    }

    pub(crate) fn new_zeros(ctx: &Context, pool: Option<&DeviceMemoryPool>, len: usize) -> Result<Self> {
        let new = Self::new_uninit(ctx, pool, len)?;
        if !new.is_empty() {
            ctx.enter(|| {
                // SAFETY: the memory has room for exactly this many elements.
                unsafe { rtcg_driver::memory::memset_d8(new.ptr(), 0, len * size_of::<T>()) }?;
                // Streams that do not wait for the default one may use the memory next.
                Stream::legacy_default()?.synchronize()
            })?;
        }
        Ok(new)
    }

    /// Address of the first element; 0 when there is none.
    pub fn ptr(&self) -> u64 {
        self.memory.as_ref().map_or(0, |shared| shared.memory.address() + self.offset as u64)
    }

    /// [`DeviceVec::ptr`] as a field for a structure that kernels take. It does not keep the memory alive, and launches
    /// do not record the use; call [`DeviceVec::used_in`] for that.
    pub fn device_ptr(&self) -> DevicePtr<T> {
        DevicePtr::new(self.ptr())
    }

    /// The number of the context whose memory it is.
    pub(crate) fn context_number(&self) -> u64 {
        self.context
    }

    /// Bytes from one element to the next.
    pub(crate) const CONTIGUOUS_STRIDES: &'static [isize] = &[size_of::<T>() as isize];

    /// The length as a shape of one axis.
    pub(crate) fn shape(&self) -> &[usize] {
        std::slice::from_ref(&self.len)
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of bytes.
    pub(crate) fn nbytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    /// The context, where there is memory.
    pub(crate) fn context(&self) -> Option<&Context> {
        self.memory.as_ref().map(|shared| &shared.ctx)
    }

    /// Returns the elements of `range`: the same memory, which lives as long as any part of it.
    ///
    /// # Errors
    /// When the range is not inside this memory.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Self> {
        let start = match range.start_bound() {
            Bound::Included(&start) => start,
            Bound::Excluded(&start) => start.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(&end) => end.saturating_add(1),
            Bound::Excluded(&end) => end,
            Bound::Unbounded => self.len,
        };
        if start > end || end > self.len {
            return invalid_value("slice", format!("range is {start}..{end}; expected one inside of 0..{}", self.len));
        }
        let memory = self.memory.clone().filter(|_| start < end);
        let offset = self.offset + start * size_of::<T>();
        Ok(Self { memory, offset, len: end - start, context: self.context, element: PhantomData })
    }

    /// Returns another handle to the same memory.
    pub fn share(&self) -> Self {
        let (memory, element) = (self.memory.clone(), PhantomData);
        Self { memory, offset: self.offset, len: self.len, context: self.context, element }
    }

    /// Copies the elements to newly allocated memory; waits.
    ///
    /// # Errors
    /// When the device is out of memory.
    pub fn try_clone(&self) -> Result<Self> {
        let Some(shared) = &self.memory else { return Ok(self.share()) };
        let copy = Self::new_uninit(&shared.ctx, None, self.len)?;
        copy.copy_from(self)?;
        Ok(copy)
    }

    /// Copies all elements to the host; waits for earlier work with this memory and in the default stream.
    ///
    /// # Errors
    /// When a kernel failed before.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        let mut host = zeroed_vec(self.len);
        self.read_into(&mut host)?;
        Ok(host)
    }

    /// Copies all elements into an existing slice on the host, as [`DeviceVec::to_vec`] does; waits.
    ///
    /// # Errors
    /// When the numbers of elements differ, or a kernel failed before.
    pub fn read_into(&self, host: &mut [T]) -> Result<()> {
        self.check_len("host", host.len())?;
        let Some(shared) = &self.memory else { return Ok(()) };
        shared.wait_for_uses()?;
        Ok(fill_bytes(host, |bytes| shared.memory.copy_to_host(self.offset, bytes))?)
    }

    /// [`DeviceVec::to_vec`] in stream order: after the work of `stream` and all earlier work with this memory. Waits
    /// for that, but not for later work of other streams.
    ///
    /// ```
    /// use rtcg::prelude::*;
    ///
    /// # fn main() -> rtcg::Result<()> {
    /// let ctx = Context::new()?;
    /// let (stream, a) = (ctx.stream()?, ctx.to_device(&[1.5f32, 2.5])?);
    /// assert_eq!(a.to_vec_in(&stream)?, [1.5, 2.5]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When a kernel failed before, or the stream is being captured.
    pub fn to_vec_in(&self, stream: &Stream) -> Result<Vec<T>> {
        let mut host = zeroed_vec(self.len);
        if let Some(ctx) = self.context() {
            self.order_stream(stream)?;
            // SAFETY: the memory has so many bytes and is held; the host's are borrowed until the stream was waited for.
            let read =
                |bytes: &mut [u8]| ctx.enter(|| unsafe { copies::memcpy_dtoh_in_stream(bytes, self.ptr(), stream) });
            fill_bytes(&mut host, read)?;
        }
        Ok(host)
    }

    /// Overwrites all elements with those of `source`, which may belong to another context; waits.
    ///
    /// # Errors
    /// When the numbers of elements differ, or the two are overlapping parts of one memory.
    pub fn copy_from(&self, source: &DeviceVec<T>) -> Result<()> {
        let Some((to, from)) = self.check_copy_from(source)? else { return Ok(()) };
        to.wait_for_uses()?;
        from.wait_for_uses()?;
        let (dst, src, nbytes) = (self.ptr(), source.ptr(), self.nbytes());
        to.ctx.enter(|| {
            // SAFETY: both ranges are inside of memory that is held until the copy is done.
            unsafe {
                if self.context == source.context {
                    copies::memcpy_dtod(dst, src, nbytes)?;
                } else {
                    let (to, from) = (to.ctx.driver_context(), from.ctx.driver_context());
                    copies::memcpy_peer(dst, Some(to), src, Some(from), nbytes)?;
                }
            }
            // Copies on a device do not wait by themselves, and other streams do not wait for them.
            Stream::legacy_default()?.synchronize()
        })
    }

    /// [`DeviceVec::copy_from`] in stream order: after the work of `stream` and all earlier work with both. Does not
    /// wait.
    ///
    /// # Errors
    /// As [`DeviceVec::copy_from`], and when the two belong to different contexts.
    pub fn copy_from_in(&self, source: &DeviceVec<T>, stream: &Stream) -> Result<()> {
        let Some((to, _)) = self.check_copy_from(source)? else { return Ok(()) };
        if self.context != source.context {
            return invalid_value("copy_from_in", "source is memory of another context; expected one context".into());
        }
        self.order_stream(stream)?;
        source.order_stream(stream)?;
        let (dst, src, nbytes) = (self.ptr(), source.ptr(), self.nbytes());
        // SAFETY: both ranges are inside of memory that records this use, so that it lives until the copy is done.
        to.ctx.enter(|| unsafe { copies::memcpy_dtod_async(dst, src, nbytes, Some(stream)) })?;
        [self, source].iter().for_each(|memory| memory.used_in(Some(stream)));
        Ok(())
    }

    /// The memory of both ends of a copy, `None` where there is nothing to copy.
    fn check_copy_from<'a>(
        &'a self,
        source: &'a DeviceVec<T>,
    ) -> Result<Option<(&'a Arc<RefCountedBuffer>, &'a Arc<RefCountedBuffer>)>> {
        self.check_len("source", source.len)?;
        let Some((to, from)) = self.memory.as_ref().zip(source.memory.as_ref()) else { return Ok(None) };
        if Arc::ptr_eq(to, from) && self.offset.abs_diff(source.offset) < self.nbytes() {
            return invalid_value("copy_from", "source overlaps the elements that are overwritten".into());
        }
        Ok(Some((to, from)))
    }

    pub(crate) fn check_len(&self, name: &str, len: usize) -> Result<()> {
        if len == self.len {
            return Ok(());
        }
        invalid_value("copy", format!("{name} has {len} elements; expected {}, as the memory has", self.len))
    }

    /// Makes work in `stream` wait for what was done with this memory. While it is captured its order is that of the
    /// graph.
    pub(crate) fn order_stream(&self, stream: &Stream) -> Result<()> {
        match &self.memory {
            Some(shared) if !stream.is_capturing()? => shared.order_stream_after_uses(stream),
            _ => Ok(()),
        }
    }

    /// Records that work in `stream` uses this memory. Copies to and from the host then wait for that work, and the
    /// memory's pool does not reuse it before the stream has finished the work. If `stream` is being captured, the
    /// graph keeps the memory alive. Launches record their uses themselves.
    pub fn used_in(&self, stream: Option<&Stream>) {
        let Some(shared) = &self.memory else { return };
        if let DeviceVecStorage::Pooled(memory) = &shared.memory {
            memory.used_in(stream);
        }
        if let Some(stream) = stream {
            shared.record_stream_use(stream);
        } else if let Some(stream) = Stream::current() {
            shared.record_stream_use(&stream);
        }
    }

    /// Overwrites the first elements with `host`; waits for the same work as [`DeviceVec::to_vec`].
    ///
    /// # Errors
    /// When `host` is longer than this memory.
    pub fn write(&self, host: &[T]) -> Result<()> {
        if host.len() > self.len {
            return invalid_value(
                "cuMemcpyHtoD",
                format!("host has {} elements; the memory has {}", host.len(), self.len),
            );
        }
        let Some(shared) = &self.memory else { return Ok(()) };
        shared.wait_for_uses()?;
        shared.memory.copy_from_host(self.offset, &bytes_of(host))?;
        // A copy of pageable memory is called done when it is staged; streams that do not wait for the default one may
        // use the memory next.
        shared.ctx.enter(|| Stream::legacy_default()?.synchronize())
    }
}

fn invalid_value<R>(call: &'static str, detail: String) -> Result<R> {
    Err(Error::new(call, CUresult::CUDA_ERROR_INVALID_VALUE, detail).into())
}

/// New device memory.
impl Context {
    /// Copies a slice to new device memory; waits.
    ///
    /// # Errors
    /// When the device is out of memory.
    pub fn to_device<T: Element>(&self, host: &[T]) -> Result<DeviceVec<T>> {
        DeviceVec::from_slice(self, None, host)
    }

    /// [`Context::to_device`] with memory from a pool.
    ///
    /// # Errors
    /// When the device is out of memory.
    pub fn to_device_from_pool<T: Element>(&self, pool: &DeviceMemoryPool, host: &[T]) -> Result<DeviceVec<T>> {
        DeviceVec::from_slice(self, Some(pool), host)
    }

    /// Allocates device memory for `len` elements, all zero.
    ///
    /// # Errors
    /// When the device is out of memory.
    pub fn zeros<T: Element>(&self, len: usize) -> Result<DeviceVec<T>> {
        DeviceVec::new_zeros(self, None, len)
    }

    /// [`Context::zeros`] with memory from a pool.
    ///
    /// # Errors
    /// When the device is out of memory.
    pub fn zeros_from_pool<T: Element>(&self, pool: &DeviceMemoryPool, len: usize) -> Result<DeviceVec<T>> {
        DeviceVec::new_zeros(self, Some(pool), len)
    }
}
