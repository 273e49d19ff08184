//! Copies and fills. Copies without `_async` wait, with the interpreter released.

use crate::driver::context::PyContext;
use crate::driver::memory::device_pointer::{DeviceMemory, DevicePtr};
use crate::driver::memory::in_flight_buffers;
use crate::driver::stream::{PyStream, as_driver_stream};
use crate::errors::OrRaise;
use crate::host_buffer::HostBuffer;
use crate::integer::int;
use pyo3::prelude::*;
use rtcg::driver::{Context, Stream, memory};

/// Copy a contiguous host buffer to the device, and wait for the copy.
///
/// `dest` is an allocation, an array on the device or an address; `src` is a NumPy array or another buffer. Raises
/// `LogicError` if `src` is longer than the allocation, `TypeError` if it is not a buffer, and `ValueError` if it
/// is not contiguous.
#[pyfunction]
fn memcpy_htod(py: Python<'_>, dest: DevicePtr, src: &Bound<'_, PyAny>) -> PyResult<()> {
    let src = HostBuffer::from_object(src, "src")?;
    dest.check_argument_bytes("cuMemcpyHtoD", "dest: ", src.nbytes())?;
    // SAFETY: the buffer outlives the copy; the driver checks the device range.
    let bytes = unsafe { src.as_bytes() };
    if bytes.is_empty() {
        return Ok(());
    }
    // SAFETY: the buffer outlives the copy; the driver checks the device range.
    py.detach(|| unsafe { memory::memcpy_htod(dest.0, bytes) }).or_raise()
}

/// Copy from the device to a contiguous, writable host buffer; waits for the copy and earlier work of the
/// default stream.
///
/// Raises `LogicError` if `dest` is longer than the allocation.
#[pyfunction]
fn memcpy_dtoh(py: Python<'_>, dest: &Bound<'_, PyAny>, src: DevicePtr) -> PyResult<()> {
    let dest = HostBuffer::from_writable(dest, "dest")?;
    src.check_argument_bytes("cuMemcpyDtoH", "src: ", dest.nbytes())?;
    // SAFETY: the buffer is writable and outlives the copy; the driver checks the device range.
    let bytes = unsafe { dest.bytes_mut() };
    if bytes.is_empty() {
        return Ok(());
    }
    // SAFETY: the buffer is writable and outlives the copy; the driver checks the device range.
    py.detach(|| unsafe { memory::memcpy_dtoh(bytes, src.0) }).or_raise()
}

/// `memcpy_htod` in stream order of `stream` (None: the default stream); keeps `src` alive until the copy is
/// done.
///
/// Does not wait for page-locked memory (`pagelocked_empty`), which must stay unchanged until then. Pageable memory is
/// read before the call returns.
#[pyfunction]
#[pyo3(signature = (dest, src, stream = None))]
fn memcpy_htod_async(
    py: Python<'_>,
    dest: DeviceMemory<'_, '_>,
    src: &Bound<'_, PyAny>,
    stream: Option<&Bound<'_, PyStream>>,
) -> PyResult<()> {
    let src = HostBuffer::from_object(src, "src")?;
    let (address, nbytes, stream) = (src.as_ptr().addr(), src.nbytes(), as_driver_stream(stream)?);
    let target = dest.ptr;
    target.check_argument_bytes("cuMemcpyHtoDAsync", "dest: ", nbytes)?;
    dest.used_in(stream);
    if nbytes == 0 {
        return Ok(());
    }
    py.detach(|| {
        let host = std::ptr::with_exposed_provenance_mut::<u8>(address);
        // SAFETY: the buffer is held until the stream has passed the copy.
        unsafe { memory::memcpy_htod_async(target.0, host, nbytes, stream) }
    })
    .or_raise()?;
    in_flight_buffers::hold_until_stream_done(stream, src.owner_object()).or_raise()
}

/// `memcpy_dtoh` in stream order of `stream`; keeps `dest` alive until the copy is done.
///
/// Does not wait for page-locked memory, whose contents are valid once the stream has passed the copy. For pageable
/// memory the call waits.
#[pyfunction]
#[pyo3(signature = (dest, src, stream = None))]
fn memcpy_dtoh_async(
    py: Python<'_>,
    dest: &Bound<'_, PyAny>,
    src: DeviceMemory<'_, '_>,
    stream: Option<&Bound<'_, PyStream>>,
) -> PyResult<()> {
    let dest = HostBuffer::from_writable(dest, "dest")?;
    let (address, nbytes, stream) = (dest.as_ptr().addr(), dest.nbytes(), as_driver_stream(stream)?);
    let source = src.ptr;
    source.check_argument_bytes("cuMemcpyDtoHAsync", "src: ", nbytes)?;
    src.used_in(stream);
    if nbytes == 0 {
        return Ok(());
    }
    py.detach(|| {
        let host = std::ptr::with_exposed_provenance_mut::<u8>(address);
        // SAFETY: the buffer is writable and held until the stream has passed the copy.
        unsafe { memory::memcpy_dtoh_async(host, source.0, nbytes, stream) }
    })
    .or_raise()?;
    in_flight_buffers::hold_until_stream_done(stream, dest.owner_object()).or_raise()
}

fn check_copy_bounds(call: &str, dest: DevicePtr, src: DevicePtr, nbytes: usize) -> PyResult<()> {
    dest.check_argument_bytes(call, "dest: ", nbytes)?;
    src.check_argument_bytes(call, "src: ", nbytes)
}

/// Checks both ends of a copy in a stream, and tells their pools of the stream.
fn check_and_record_copy(
    call: &str,
    dest: &DeviceMemory<'_, '_>,
    src: &DeviceMemory<'_, '_>,
    nbytes: usize,
    stream: Option<&Stream>,
) -> PyResult<(u64, u64)> {
    check_copy_bounds(call, dest.ptr, src.ptr, nbytes)?;
    dest.used_in(stream);
    src.used_in(stream);
    Ok((dest.ptr.0, src.ptr.0))
}

/// Copy `size` bytes within the device, in the default stream; returns None and does not wait.
///
/// Arguments are allocations or addresses. Raises `LogicError` if an allocation is known at an address and is too
/// short.
#[pyfunction]
fn memcpy_dtod(
    py: Python<'_>,
    dest: DevicePtr,
    src: DevicePtr,
    #[pyo3(from_py_with = int)] size: usize,
) -> PyResult<()> {
    check_copy_bounds("cuMemcpyDtoD", dest, src, size)?;
    // SAFETY: the driver checks both ranges.
    py.detach(|| unsafe { memory::memcpy_dtod(dest.0, src.0, size) }).or_raise()
}

/// Copy `size` bytes within the device in the order of `stream`, like `memcpy_dtod`; returns None and does not
/// wait.
#[pyfunction]
#[pyo3(signature = (dest, src, size, stream = None))]
fn memcpy_dtod_async(
    py: Python<'_>,
    dest: DeviceMemory<'_, '_>,
    src: DeviceMemory<'_, '_>,
    #[pyo3(from_py_with = int)] size: usize,
    stream: Option<&Bound<'_, PyStream>>,
) -> PyResult<()> {
    let stream = as_driver_stream(stream)?;
    let (dest, src) = check_and_record_copy("cuMemcpyDtoDAsync", &dest, &src, size, stream)?;
    // SAFETY: the driver checks both ranges.
    py.detach(|| unsafe { memory::memcpy_dtod_async(dest, src, size, stream) }).or_raise()
}

fn as_driver_context<'a>(context: Option<&'a Bound<'_, PyContext>>) -> Option<&'a Context> {
    context.map(|context| &*context.get().0)
}

/// Copy `size` bytes between contexts, where None means the current one; returns None.
///
/// Works without peer access, by staging through the host. Runs in the order of both default streams; does not
/// wait.
#[pyfunction]
#[pyo3(signature = (dest, src, size, dest_context = None, src_context = None))]
fn memcpy_peer(
    py: Python<'_>,
    dest: DevicePtr,
    src: DevicePtr,
    #[pyo3(from_py_with = int)] size: usize,
    dest_context: Option<&Bound<'_, PyContext>>,
    src_context: Option<&Bound<'_, PyContext>>,
) -> PyResult<()> {
    check_copy_bounds("cuMemcpyPeer", dest, src, size)?;
    let (to, from) = (as_driver_context(dest_context), as_driver_context(src_context));
    // SAFETY: the driver checks both ranges.
    py.detach(|| unsafe { memory::memcpy_peer(dest.0, to, src.0, from, size) }).or_raise()
}

/// Copy `size` bytes between contexts in the order of `stream`, like `memcpy_peer`; returns None and does not
/// wait.
#[pyfunction]
#[pyo3(signature = (dest, src, size, dest_context = None, src_context = None, stream = None))]
fn memcpy_peer_async(
    py: Python<'_>,
    dest: DeviceMemory<'_, '_>,
    src: DeviceMemory<'_, '_>,
    #[pyo3(from_py_with = int)] size: usize,
    dest_context: Option<&Bound<'_, PyContext>>,
    src_context: Option<&Bound<'_, PyContext>>,
    stream: Option<&Bound<'_, PyStream>>,
) -> PyResult<()> {
    let (to, from, stream) =
        (as_driver_context(dest_context), as_driver_context(src_context), as_driver_stream(stream)?);
    let (dest, src) = check_and_record_copy("cuMemcpyPeerAsync", &dest, &src, size, stream)?;
    // SAFETY: the driver checks both ranges.
    py.detach(|| unsafe { memory::memcpy_peer_async(dest, to, src, from, size, stream) }).or_raise()
}

macro_rules! memset_functions {
    ($($name:ident $name_async:ident $name_2d:ident $name_2d_async:ident $ty:ty;)*) => {
        $(
            /// Set `size` elements (not bytes), starting at `dest`, to `data` in the default stream; returns None.
            ///
            /// Does not wait. Raises `LogicError` if `dest` is misaligned for the elements or its memory is too short.
            #[pyfunction]
            fn $name(
                py: Python<'_>,
                dest: DevicePtr,
                #[pyo3(from_py_with = int)] data: $ty,
                #[pyo3(from_py_with = int)] size: usize,
            ) -> PyResult<()> {
                dest.check_argument_bytes(stringify!($name), "dest: ", size.saturating_mul(size_of::<$ty>()))?;
                // SAFETY: the driver checks the range.
                py.detach(|| unsafe { memory::$name(dest.0, data, size) }).or_raise()
            }

            /// Set `size` elements (not bytes), starting at `dest`, to `data` in the order of `stream`; returns
            /// None.
            ///
            /// Does not wait. Raises `LogicError` if `dest` is misaligned for the elements or its memory is too short.
            #[pyfunction]
            #[pyo3(signature = (dest, data, size, stream = None))]
            fn $name_async(
                py: Python<'_>,
                dest: DeviceMemory<'_, '_>,
                #[pyo3(from_py_with = int)] data: $ty,
                #[pyo3(from_py_with = int)] size: usize,
                stream: Option<&Bound<'_, PyStream>>,
            ) -> PyResult<()> {
                let (target, stream) = (dest.ptr, as_driver_stream(stream)?);
                target.check_argument_bytes(stringify!($name), "dest: ", size.saturating_mul(size_of::<$ty>()))?;
                dest.used_in(stream);
                // SAFETY: the driver checks the range.
                py.detach(|| unsafe { memory::$name_async(target.0, data, size, stream) }).or_raise()
            }

            /// Set `height` rows of `width` elements, `pitch` bytes apart, to `data`; does not wait.
            #[pyfunction]
            fn $name_2d(
                py: Python<'_>,
                dest: DevicePtr,
                #[pyo3(from_py_with = int)] pitch: usize,
                #[pyo3(from_py_with = int)] data: $ty,
                #[pyo3(from_py_with = int)] width: usize,
                #[pyo3(from_py_with = int)] height: usize,
            ) -> PyResult<()> {
                dest.check_argument_bytes(stringify!($name_2d), "dest: ", memory::extent_2d(pitch, width, height, size_of::<$ty>()))?;
                // SAFETY: the driver checks the range.
                py.detach(|| unsafe { memory::$name_2d(dest.0, pitch, data, width, height) }).or_raise()
            }

            /// Set `height` rows of `width` elements, `pitch` bytes apart, to `data` in stream order; does not wait.
            #[pyfunction]
            #[pyo3(signature = (dest, pitch, data, width, height, stream = None))]
            fn $name_2d_async(
                py: Python<'_>,
                dest: DeviceMemory<'_, '_>,
                #[pyo3(from_py_with = int)] pitch: usize,
                #[pyo3(from_py_with = int)] data: $ty,
                #[pyo3(from_py_with = int)] width: usize,
                #[pyo3(from_py_with = int)] height: usize,
                stream: Option<&Bound<'_, PyStream>>,
            ) -> PyResult<()> {
                let (target, stream) = (dest.ptr, as_driver_stream(stream)?);
                target.check_argument_bytes(stringify!($name_2d), "dest: ", memory::extent_2d(pitch, width, height, size_of::<$ty>()))?;
                dest.used_in(stream);
                // SAFETY: the driver checks the range.
                py.detach(|| unsafe { memory::$name_2d_async(target.0, pitch, data, width, height, stream) }).or_raise()
            }
        )*

        fn register_memset_functions(m: &Bound<'_, PyModule>) -> PyResult<()> {
            $(
                m.add_function(wrap_pyfunction!($name, m)?)?;
                m.add_function(wrap_pyfunction!($name_async, m)?)?;
                m.add_function(wrap_pyfunction!($name_2d, m)?)?;
                m.add_function(wrap_pyfunction!($name_2d_async, m)?)?;
            )*
            Ok(())
        }
    };
}

memset_functions! {
    memset_d8 memset_d8_async memset_d2d8 memset_d2d8_async u8;
    memset_d16 memset_d16_async memset_d2d16 memset_d2d16_async u16;
    memset_d32 memset_d32_async memset_d2d32 memset_d2d32_async u32;
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_contents! { m,
        functions memcpy_htod, memcpy_dtoh, memcpy_htod_async, memcpy_dtoh_async, memcpy_dtod, memcpy_dtod_async,
            memcpy_peer, memcpy_peer_async;
    }?;
    register_memset_functions(m)
}
