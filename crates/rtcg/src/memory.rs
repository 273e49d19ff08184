//! Typed device memory.

// `Element` views slices of plain numbers as bytes.
#![allow(unsafe_code)]

use crate::context::Context;
use crate::error::Result;
use rtcg_driver::pool::{DeviceMemoryPool, PooledDeviceAllocation};
use rtcg_driver::signature::NumberType;
use rtcg_driver::{DeviceAllocation, Stream, retain_in_capture, with_relaxed_capture_mode};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

mod sealed {
    pub trait Sealed {}
}

/// A number that has the same bytes on host and device.
pub trait Element: sealed::Sealed + Copy + Send + Sync + 'static {
    /// The bytes of a slice.
    fn as_bytes(slice: &[Self]) -> &[u8] {
        // SAFETY: implemented only for primitive numbers, which have no padding.
        unsafe { std::slice::from_raw_parts(slice.as_ptr().cast(), size_of_val(slice)) }
    }

    /// The bytes of a slice, to be overwritten.
    fn as_bytes_mut(slice: &mut [Self]) -> &mut [u8] {
        // SAFETY: as in `as_bytes`; every byte pattern is a valid number.
        unsafe { std::slice::from_raw_parts_mut(slice.as_mut_ptr().cast(), size_of_val(slice)) }
    }

    /// Zero.
    const ZERO: Self;

    /// The type in C.
    const NUMBER_TYPE: NumberType;
}

const fn int_type(nbytes: u8, signed: bool) -> NumberType {
    NumberType::Int { nbytes, signed }
}

macro_rules! impl_element {
    ($($t:ty: $zero:literal, $number:expr;)*) => {$(
        impl sealed::Sealed for $t {}
        impl Element for $t {
            const ZERO: Self = $zero;
            const NUMBER_TYPE: NumberType = $number;
        }
    )*};
}

impl_element! {
    i8: 0, int_type(1, true);
    i16: 0, int_type(2, true);
    i32: 0, int_type(4, true);
    i64: 0, int_type(8, true);
    u8: 0, int_type(1, false);
    u16: 0, int_type(2, false);
    u32: 0, int_type(4, false);
    u64: 0, int_type(8, false);
    f32: 0.0, NumberType::Float;
    f64: 0.0, NumberType::Double;
}

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

    fn copy_to_host(&self, host: &mut [u8]) -> rtcg_driver::Result<()> {
        match self {
            Self::Own(memory) => memory.read(0, host),
            Self::Pooled(memory) => memory.read(0, host),
        }
    }

    fn copy_from_host(&self, host: &[u8]) -> rtcg_driver::Result<()> {
        match self {
            Self::Own(memory) => memory.write(0, host),
            Self::Pooled(memory) => memory.write(0, host),
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
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
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
            let mut uses = self.lock_stream_uses();
            (std::mem::take(&mut uses.streams), uses.is_captured)
        };
        if is_captured || streams.iter().any(Stream::is_closed) {
            return self.ctx.synchronize();
        }
        streams.iter().try_for_each(|stream| Ok(stream.synchronize()?))
    }
}

/// Device memory for elements of one type, freed with the last reference.
#[derive(Debug, Clone)]
pub struct DeviceVec<T> {
    /// `None` when there are no elements, which CUDA does not allocate.
    memory: Option<Arc<RefCountedBuffer>>,
    len: usize,
    /// The number of the context.
    context: u64,
    element: PhantomData<T>,
}

impl<T: Element> DeviceVec<T> {
    /// New memory with undefined contents, from a pool if there is one.
    fn new_uninit(ctx: &Context, pool: Option<&DeviceMemoryPool>, len: usize) -> Result<Self> {
        let nbytes = len.saturating_mul(size_of::<T>());
        let memory = match (len, pool) {
            (0, _) => None,
            (_, Some(pool)) => Some(DeviceVecStorage::Pooled(ctx.enter(|| pool.allocate(nbytes, None))?)),
            (_, None) => Some(DeviceVecStorage::Own(ctx.enter(|| DeviceAllocation::new(nbytes))?)),
        };
        let memory = memory.map(|memory| RefCountedBuffer::new(ctx, memory));
        Ok(Self { memory, len, context: ctx.id(), element: PhantomData })
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
        self.memory.as_ref().map_or(0, |shared| shared.memory.address())
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

    /// Copies all elements to the host; waits for earlier work of the default stream, and for launches with this
    /// memory in other streams.
    ///
    /// # Errors
    /// When a kernel failed before.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        let mut host = vec![T::ZERO; self.len];
        if let Some(shared) = &self.memory {
            shared.wait_for_uses()?;
            shared.memory.copy_to_host(T::as_bytes_mut(&mut host))?;
        }
        Ok(host)
    }

    /// Records that work in `stream` uses this memory. Copies to and from the host wait for that work, and
    /// the memory's pool does not reuse it before the stream has passed the work. A graph that `stream` is being
    /// captured into keeps the memory alive. Launches record their uses themselves.
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

    /// Overwrites the first elements with `host`; waits, as [`DeviceVec::to_vec`] does.
    ///
    /// # Errors
    /// When `host` is longer than this memory.
    pub fn write(&self, host: &[T]) -> Result<()> {
        match &self.memory {
            Some(shared) => {
                shared.wait_for_uses()?;
                Ok(shared.memory.copy_from_host(T::as_bytes(host))?)
            }
            None if host.is_empty() => Ok(()),
            None => Err(rtcg_driver::Error::new(
                "cuMemcpyHtoD",
                rtcg_driver::sys::CUresult::CUDA_ERROR_INVALID_VALUE,
                format!("{} elements do not fit into memory without any", host.len()),
            )
            .into()),
        }
    }
}
