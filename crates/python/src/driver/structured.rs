//! `Memcpy2D`, `Memcpy3D`, `Memcpy3DPeer`: copies described by a structure.

use crate::driver::context::PyContext;
use crate::driver::keep_alive;
use crate::driver::stream::PyStream;
use crate::driver::texture::PyArrayHandle;
use crate::errors::OrRaise;
use crate::host_buffer::HostBuffer;
use crate::pointer::DevicePtr;
use numpy::{PyUntypedArray, PyUntypedArrayMethods, npyffi};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBool;
use rtcg::driver::memory;
use rtcg::driver::sys::*;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The structure, and the host objects it points into.
struct Copy<T> {
    raw: T,
    src: Option<Py<PyAny>>,
    dst: Option<Py<PyAny>>,
}

// SAFETY: the raw pointers in the structure point into the held objects or are handles.
unsafe impl<T> Send for Copy<T> {}

/// A structure on its way out of the interpreter.
struct Sendable<T>(T);

// SAFETY: as for `Copy`.
unsafe impl<T> Send for Sendable<T> {}
// SAFETY: as for `Copy`.
unsafe impl<T> Sync for Sendable<T> {}

fn lock<T>(copy: &Mutex<Copy<T>>) -> MutexGuard<'_, Copy<T>> {
    copy.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where a host object's memory begins. An array may have any strides: the structure says the
/// layout. Other buffers must be contiguous.
fn host_address(object: &Bound<'_, PyAny>, writable: bool) -> PyResult<*mut u8> {
    let Ok(array) = object.cast::<PyUntypedArray>() else {
        let buffer = if writable { HostBuffer::writable(object, "buffer")? } else { HostBuffer::of(object, "buffer")? };
        return Ok(buffer.as_ptr());
    };
    // SAFETY: the array is alive.
    let fields = unsafe { &(*array.as_array_ptr()).fields };
    if writable && fields.flags & npyffi::NPY_ARRAY_WRITEABLE == 0 {
        return Err(PyTypeError::new_err("buffer is read-only; expected a writable buffer"));
    }
    Ok(fields.data.cast())
}

/// Holds the host objects of a copy in flight.
fn hold<T>(py: Python<'_>, copy: &Mutex<Copy<T>>, stream: &rtcg::driver::Stream) -> PyResult<()> {
    let owners: Vec<Py<PyAny>> = {
        let copy = lock(copy);
        copy.src.iter().chain(&copy.dst).map(|owner| owner.clone_ref(py)).collect()
    };
    owners.into_iter().try_for_each(|owner| keep_alive::until_passed(Some(stream), owner).or_raise())
}

macro_rules! copy_class {
    (
        $(#[$doc:meta])*
        $class:ident as $name:literal over $raw:ident { $($get:ident $set:ident $field:ident $ty:ty;)* }
        $($extra:tt)*
    ) => {
        $(#[$doc])*
        #[pyclass(frozen, subclass, name = $name, module = "pycuda._driver")]
        pub(crate) struct $class {
            copy: Mutex<Copy<$raw>>,
        }

        #[pymethods]
        impl $class {
            #[new]
            fn new() -> Self {
                Self { copy: Mutex::new(Copy { raw: $raw::default(), src: None, dst: None }) }
            }

            $(
                #[getter($get)]
                fn $get(&self) -> $ty {
                    lock(&self.copy).raw.$field as $ty
                }

                #[setter($get)]
                fn $set(&self, value: $ty) {
                    lock(&self.copy).raw.$field = value as _;
                }
            )*

            fn set_src_host(&self, buffer: &Bound<'_, PyAny>) -> PyResult<()> {
                let address = host_address(buffer, false)?;
                let mut copy = lock(&self.copy);
                copy.raw.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_HOST;
                copy.raw.srcHost = address.cast();
                let old = copy.src.replace(buffer.clone().unbind());
                drop(copy);
                drop(old);
                Ok(())
            }

            fn set_dst_host(&self, buffer: &Bound<'_, PyAny>) -> PyResult<()> {
                let address = host_address(buffer, true)?;
                let mut copy = lock(&self.copy);
                copy.raw.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_HOST;
                copy.raw.dstHost = address.cast();
                let old = copy.dst.replace(buffer.clone().unbind());
                drop(copy);
                drop(old);
                Ok(())
            }

            fn set_src_device(&self, devptr: DevicePtr) {
                let ptr = devptr.0;
                let mut copy = lock(&self.copy);
                copy.raw.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_DEVICE;
                copy.raw.srcDevice = ptr;
            }

            fn set_dst_device(&self, devptr: DevicePtr) {
                let ptr = devptr.0;
                let mut copy = lock(&self.copy);
                copy.raw.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_DEVICE;
                copy.raw.dstDevice = ptr;
            }

            fn set_src_unified(&self, buffer: &Bound<'_, PyAny>) -> PyResult<()> {
                let address = host_address(buffer, false)?;
                let mut copy = lock(&self.copy);
                copy.raw.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_UNIFIED;
                copy.raw.srcDevice = address.expose_provenance() as u64;
                let old = copy.src.replace(buffer.clone().unbind());
                drop(copy);
                drop(old);
                Ok(())
            }

            fn set_dst_unified(&self, buffer: &Bound<'_, PyAny>) -> PyResult<()> {
                let address = host_address(buffer, true)?;
                let mut copy = lock(&self.copy);
                copy.raw.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_UNIFIED;
                copy.raw.dstDevice = address.expose_provenance() as u64;
                let old = copy.dst.replace(buffer.clone().unbind());
                drop(copy);
                drop(old);
                Ok(())
            }

            fn set_src_array(&self, array: &Bound<'_, PyArrayHandle>) {
                let mut copy = lock(&self.copy);
                copy.raw.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_ARRAY;
                copy.raw.srcArray = array.get().0.handle();
                let old = copy.src.replace(array.clone().into_any().unbind());
                drop(copy);
                drop(old);
            }

            fn set_dst_array(&self, array: &Bound<'_, PyArrayHandle>) {
                let mut copy = lock(&self.copy);
                copy.raw.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_ARRAY;
                copy.raw.dstArray = array.get().0.handle();
                let old = copy.dst.replace(array.clone().into_any().unbind());
                drop(copy);
                drop(old);
            }

            $($extra)*
        }
    };
}

copy_class! {
    /// A copy of a rectangle.
    PyMemcpy2D as "Memcpy2D" over CUDA_MEMCPY2D {
        src_x_in_bytes set_src_x_in_bytes srcXInBytes usize;
        src_y set_src_y srcY usize;
        src_pitch set_src_pitch srcPitch usize;
        dst_x_in_bytes set_dst_x_in_bytes dstXInBytes usize;
        dst_y set_dst_y dstY usize;
        dst_pitch set_dst_pitch dstPitch usize;
        width_in_bytes set_width_in_bytes WidthInBytes usize;
        height set_height Height usize;
    }

    /// Copy: ``copy(aligned)`` waits, ``copy(stream)`` does not.
    #[pyo3(signature = (aligned = None))]
    fn __call__(&self, py: Python<'_>, aligned: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let stream = aligned.and_then(|a| a.cast::<PyStream>().ok()).map(|s| s.get().0.clone());
        let is_aligned = aligned.is_some_and(|a| a.is_instance_of::<PyBool>() && a.is_truthy().unwrap_or(false));
        let raw = Sendable(lock(&self.copy).raw);
        py.detach(|| {
            let raw = &raw;
            // SAFETY: host ends are held buffers; device ends are checked by the driver.
            unsafe {
                match &stream {
                    Some(stream) => memory::memcpy_2d_async(&raw.0, Some(stream)),
                    None => memory::memcpy_2d(&raw.0, is_aligned),
                }
            }
        })
        .or_raise()?;
        stream.map_or(Ok(()), |stream| hold(py, &self.copy, &stream))
    }
}

impl PyMemcpy3D {
    /// The structure, and the host objects it points into.
    pub(crate) fn parts(&self, py: Python<'_>) -> (CUDA_MEMCPY3D, Vec<Py<PyAny>>) {
        let copy = lock(&self.copy);
        (copy.raw, copy.src.iter().chain(&copy.dst).map(|owner| owner.clone_ref(py)).collect())
    }
}

copy_class! {
    /// A copy of a box.
    PyMemcpy3D as "Memcpy3D" over CUDA_MEMCPY3D {
        src_x_in_bytes set_src_x_in_bytes srcXInBytes usize;
        src_y set_src_y srcY usize;
        src_z set_src_z srcZ usize;
        src_lod set_src_lod srcLOD usize;
        src_pitch set_src_pitch srcPitch usize;
        src_height set_src_height srcHeight usize;
        dst_x_in_bytes set_dst_x_in_bytes dstXInBytes usize;
        dst_y set_dst_y dstY usize;
        dst_z set_dst_z dstZ usize;
        dst_lod set_dst_lod dstLOD usize;
        dst_pitch set_dst_pitch dstPitch usize;
        dst_height set_dst_height dstHeight usize;
        width_in_bytes set_width_in_bytes WidthInBytes usize;
        height set_height Height usize;
        depth set_depth Depth usize;
    }

    /// Copy: without a stream it waits.
    #[pyo3(signature = (stream = None))]
    fn __call__(&self, py: Python<'_>, stream: Option<&Bound<'_, PyStream>>) -> PyResult<()> {
        let stream = stream.map(|s| s.get().0.clone());
        let raw = Sendable(lock(&self.copy).raw);
        py.detach(|| {
            let raw = &raw;
            // SAFETY: as for two dimensions.
            unsafe {
                match &stream {
                    Some(stream) => memory::memcpy_3d_async(&raw.0, Some(stream)),
                    None => memory::memcpy_3d(&raw.0),
                }
            }
        })
        .or_raise()?;
        stream.map_or(Ok(()), |stream| hold(py, &self.copy, &stream))
    }
}

copy_class! {
    /// A copy of a box between contexts.
    PyMemcpy3DPeer as "Memcpy3DPeer" over CUDA_MEMCPY3D_PEER {
        src_x_in_bytes set_src_x_in_bytes srcXInBytes usize;
        src_y set_src_y srcY usize;
        src_z set_src_z srcZ usize;
        src_lod set_src_lod srcLOD usize;
        src_pitch set_src_pitch srcPitch usize;
        src_height set_src_height srcHeight usize;
        dst_x_in_bytes set_dst_x_in_bytes dstXInBytes usize;
        dst_y set_dst_y dstY usize;
        dst_z set_dst_z dstZ usize;
        dst_lod set_dst_lod dstLOD usize;
        dst_pitch set_dst_pitch dstPitch usize;
        dst_height set_dst_height dstHeight usize;
        width_in_bytes set_width_in_bytes WidthInBytes usize;
        height set_height Height usize;
        depth set_depth Depth usize;
    }

    fn set_src_context(&self, ctx: &Bound<'_, PyContext>) {
        lock(&self.copy).raw.srcContext = ctx.get().0.handle();
    }

    fn set_dst_context(&self, ctx: &Bound<'_, PyContext>) {
        lock(&self.copy).raw.dstContext = ctx.get().0.handle();
    }

    /// Copy: without a stream it waits.
    #[pyo3(signature = (stream = None))]
    fn __call__(&self, py: Python<'_>, stream: Option<&Bound<'_, PyStream>>) -> PyResult<()> {
        let stream = stream.map(|s| s.get().0.clone());
        let raw = Sendable(lock(&self.copy).raw);
        py.detach(|| {
            let raw = &raw;
            // SAFETY: as for two dimensions.
            unsafe {
                match &stream {
                    Some(stream) => memory::memcpy_3d_peer_async(&raw.0, Some(stream)),
                    None => memory::memcpy_3d_peer(&raw.0),
                }
            }
        })
        .or_raise()?;
        stream.map_or(Ok(()), |stream| hold(py, &self.copy, &stream))
    }
}

pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyMemcpy2D>()?;
    m.add_class::<PyMemcpy3D>()?;
    m.add_class::<PyMemcpy3DPeer>()
}
