//! Copies and fills. Copies without `_async` wait, with the interpreter released.

use crate::driver::context::PyContext;
use crate::driver::in_flight;
use crate::driver::stream::{PyStream, stream_of};
use crate::errors::OrRaise;
use crate::host_buffer::HostBuffer;
use crate::integer::int;
use crate::pointer::{DeviceMemory, DevicePtr};
use pyo3::prelude::*;
use rtcg::driver::{Context, Stream, memory};

/// Copy a contiguous host buffer to the device; waits.
#[pyfunction]
fn memcpy_htod(py: Python<'_>, dest: DevicePtr, src: &Bound<'_, PyAny>) -> PyResult<()> {
    let src = HostBuffer::from_object(src, "src")?;
    dest.check_named("cuMemcpyHtoD", "dest: ", src.nbytes())?;
    // SAFETY: the buffer outlives the copy; the driver checks the device range.
    let bytes = unsafe { src.as_bytes() };
    if bytes.is_empty() {
        return Ok(());
    }
    // SAFETY: as above.
    py.detach(|| unsafe { memory::memcpy_htod(dest.0, bytes) }).or_raise()
}

/// Fill a contiguous, writable host buffer from the device; waits.
#[pyfunction]
fn memcpy_dtoh(py: Python<'_>, dest: &Bound<'_, PyAny>, src: DevicePtr) -> PyResult<()> {
    let dest = HostBuffer::from_writable(dest, "dest")?;
    src.check_named("cuMemcpyDtoH", "src: ", dest.nbytes())?;
    // SAFETY: the buffer is writable and outlives the copy; the driver checks the device range.
    let bytes = unsafe { dest.bytes_mut() };
    if bytes.is_empty() {
        return Ok(());
    }
    // SAFETY: as above.
    py.detach(|| unsafe { memory::memcpy_dtoh(bytes, src.0) }).or_raise()
}

/// `memcpy_htod` in stream order; `src` is kept alive until the copy is done.
#[pyfunction]
#[pyo3(signature = (dest, src, stream = None))]
fn memcpy_htod_async(
    py: Python<'_>,
    dest: DeviceMemory<'_, '_>,
    src: &Bound<'_, PyAny>,
    stream: Option<&Bound<'_, PyStream>>,
) -> PyResult<()> {
    let src = HostBuffer::from_object(src, "src")?;
    let (address, nbytes, stream) = (src.as_ptr().addr(), src.nbytes(), stream_of(stream));
    let target = dest.ptr;
    target.check_named("cuMemcpyHtoDAsync", "dest: ", nbytes)?;
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
    in_flight::hold_until_passed(stream, src.owner_object()).or_raise()
}

/// `memcpy_dtoh` in stream order; `dest` is kept alive until the copy is done.
#[pyfunction]
#[pyo3(signature = (dest, src, stream = None))]
fn memcpy_dtoh_async(
    py: Python<'_>,
    dest: &Bound<'_, PyAny>,
    src: DeviceMemory<'_, '_>,
    stream: Option<&Bound<'_, PyStream>>,
) -> PyResult<()> {
    let dest = HostBuffer::from_writable(dest, "dest")?;
    let (address, nbytes, stream) = (dest.as_ptr().addr(), dest.nbytes(), stream_of(stream));
    let source = src.ptr;
    source.check_named("cuMemcpyDtoHAsync", "src: ", nbytes)?;
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
    in_flight::hold_until_passed(stream, dest.owner_object()).or_raise()
}

fn check_both(call: &str, dest: DevicePtr, src: DevicePtr, nbytes: usize) -> PyResult<()> {
    dest.check_named(call, "dest: ", nbytes)?;
    src.check_named(call, "src: ", nbytes)
}

/// Checks both ends of a copy in a stream, and tells their pools of the stream.
fn use_both(
    call: &str,
    dest: &DeviceMemory<'_, '_>,
    src: &DeviceMemory<'_, '_>,
    nbytes: usize,
    stream: Option<&Stream>,
) -> PyResult<(u64, u64)> {
    check_both(call, dest.ptr, src.ptr, nbytes)?;
    dest.used_in(stream);
    src.used_in(stream);
    Ok((dest.ptr.0, src.ptr.0))
}

/// Copy `size` bytes within the device.
#[pyfunction]
fn memcpy_dtod(
    py: Python<'_>,
    dest: DevicePtr,
    src: DevicePtr,
    #[pyo3(from_py_with = int)] size: usize,
) -> PyResult<()> {
    check_both("cuMemcpyDtoD", dest, src, size)?;
    // SAFETY: the driver checks both ranges.
    py.detach(|| unsafe { memory::memcpy_dtod(dest.0, src.0, size) }).or_raise()
}

/// `memcpy_dtod` in stream order.
#[pyfunction]
#[pyo3(signature = (dest, src, size, stream = None))]
fn memcpy_dtod_async(
    py: Python<'_>,
    dest: DeviceMemory<'_, '_>,
    src: DeviceMemory<'_, '_>,
    #[pyo3(from_py_with = int)] size: usize,
    stream: Option<&Bound<'_, PyStream>>,
) -> PyResult<()> {
    let stream = stream_of(stream);
    let (dest, src) = use_both("cuMemcpyDtoDAsync", &dest, &src, size, stream)?;
    // SAFETY: the driver checks both ranges.
    py.detach(|| unsafe { memory::memcpy_dtod_async(dest, src, size, stream) }).or_raise()
}

fn context_of<'a>(context: Option<&'a Bound<'_, PyContext>>) -> Option<&'a Context> {
    context.map(|context| &*context.get().0)
}

/// Copy `size` bytes between contexts; None means the current one.
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
    check_both("cuMemcpyPeer", dest, src, size)?;
    let (to, from) = (context_of(dest_context), context_of(src_context));
    // SAFETY: the driver checks both ranges.
    py.detach(|| unsafe { memory::memcpy_peer(dest.0, to, src.0, from, size) }).or_raise()
}

/// `memcpy_peer` in stream order.
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
    let (to, from, stream) = (context_of(dest_context), context_of(src_context), stream_of(stream));
    let (dest, src) = use_both("cuMemcpyPeerAsync", &dest, &src, size, stream)?;
    // SAFETY: the driver checks both ranges.
    py.detach(|| unsafe { memory::memcpy_peer_async(dest, to, src, from, size, stream) }).or_raise()
}

macro_rules! fills {
    ($($name:ident $name_async:ident $name_2d:ident $name_2d_async:ident $ty:ty;)*) => {
        $(
            /// Set `size` elements from `dest` on to `data`; does not wait.
            #[pyfunction]
            fn $name(
                py: Python<'_>,
                dest: DevicePtr,
                #[pyo3(from_py_with = int)] data: $ty,
                #[pyo3(from_py_with = int)] size: usize,
            ) -> PyResult<()> {
                dest.check_named(stringify!($name), "dest: ", size.saturating_mul(size_of::<$ty>()))?;
                // SAFETY: the driver checks the range.
                py.detach(|| unsafe { memory::$name(dest.0, data, size) }).or_raise()
            }

            /// Set `size` elements from `dest` on to `data` in stream order; does not wait.
            #[pyfunction]
            #[pyo3(signature = (dest, data, size, stream = None))]
            fn $name_async(
                py: Python<'_>,
                dest: DeviceMemory<'_, '_>,
                #[pyo3(from_py_with = int)] data: $ty,
                #[pyo3(from_py_with = int)] size: usize,
                stream: Option<&Bound<'_, PyStream>>,
            ) -> PyResult<()> {
                let (target, stream) = (dest.ptr, stream_of(stream));
                target.check_named(stringify!($name), "dest: ", size.saturating_mul(size_of::<$ty>()))?;
                dest.used_in(stream);
                // SAFETY: the driver checks the range.
                py.detach(|| unsafe { memory::$name_async(target.0, data, size, stream) }).or_raise()
            }

            /// Set `height` rows of `width` elements, `pitch` bytes from one to the next, to `data`; does not wait.
            #[pyfunction]
            fn $name_2d(
                py: Python<'_>,
                dest: DevicePtr,
                #[pyo3(from_py_with = int)] pitch: usize,
                #[pyo3(from_py_with = int)] data: $ty,
                #[pyo3(from_py_with = int)] width: usize,
                #[pyo3(from_py_with = int)] height: usize,
            ) -> PyResult<()> {
                dest.check_named(stringify!($name_2d), "dest: ", memory::extent_2d(pitch, width, height, size_of::<$ty>()))?;
                // SAFETY: the driver checks the range.
                py.detach(|| unsafe { memory::$name_2d(dest.0, pitch, data, width, height) }).or_raise()
            }

            /// Set `height` rows of `width` elements, `pitch` bytes from one to the next, to `data` in stream order;
            /// does not wait.
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
                let (target, stream) = (dest.ptr, stream_of(stream));
                target.check_named(stringify!($name_2d), "dest: ", memory::extent_2d(pitch, width, height, size_of::<$ty>()))?;
                dest.used_in(stream);
                // SAFETY: the driver checks the range.
                py.detach(|| unsafe { memory::$name_2d_async(target.0, pitch, data, width, height, stream) }).or_raise()
            }
        )*

        fn register_fills(m: &Bound<'_, PyModule>) -> PyResult<()> {
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

fills! {
    memset_d8 memset_d8_async memset_d2d8 memset_d2d8_async u8;
    memset_d16 memset_d16_async memset_d2d16 memset_d2d16_async u16;
    memset_d32 memset_d32_async memset_d2d32 memset_d2d32_async u32;
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(memcpy_htod, m)?)?;
    m.add_function(wrap_pyfunction!(memcpy_dtoh, m)?)?;
    m.add_function(wrap_pyfunction!(memcpy_htod_async, m)?)?;
    m.add_function(wrap_pyfunction!(memcpy_dtoh_async, m)?)?;
    m.add_function(wrap_pyfunction!(memcpy_dtod, m)?)?;
    m.add_function(wrap_pyfunction!(memcpy_dtod_async, m)?)?;
    m.add_function(wrap_pyfunction!(memcpy_peer, m)?)?;
    m.add_function(wrap_pyfunction!(memcpy_peer_async, m)?)?;
    register_fills(m)
}
