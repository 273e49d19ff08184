//! `Memcpy2D`, `Memcpy3D`, `Memcpy3DPeer`: copies described by a structure.
//!
//! [`CopyStructure`] says what the three structures of CUDA have in common, so that everything else is written once.

use crate::driver::context::PyContext;
use crate::driver::memory::copy_structure::{CopySide, CopyStructure, StructureEnd};
use crate::driver::memory::device_pointer::{DeviceMemory, DevicePtr};
use crate::driver::memory::in_flight_buffers;
use crate::driver::stream::{PyStream, as_driver_stream};
use crate::driver::texture::PyArrayHandle;
use crate::enums::enum_member;
use crate::errors::{LogicError, OrRaise};
use crate::host_buffer::{HostBuffer, refuse_object_dtype};
use crate::integer::extract_named_int;
use crate::resource_lifetime::filled_object;
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods, npyffi};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyTuple};
use rtcg::driver::sys::*;
use rtcg::driver::{Context, Stream, lock_ignoring_poison, memory};
use std::sync::{Mutex, MutexGuard};

/// What an end of a copy points into, kept alive, and how many bytes are there, where it is known.
#[derive(Default)]
struct EndpointOwner {
    /// Whether anything was said about it.
    is_set: bool,
    owner: Option<Py<PyAny>>,
    room: Option<usize>,
}

/// The structure, and the objects it points into.
#[derive(Default)]
struct CopyState<T> {
    raw: T,
    ends: [EndpointOwner; 2],
    /// Which of width, height and depth were given a value.
    extents_set: Vec<&'static str>,
    /// Those of a peer copy; `None` is the current one.
    contexts: [Option<Context>; 2],
}

impl<T> CopyState<T> {
    /// Remembers that an extent was given a value, which may be 0.
    fn mark_extent_set(&mut self, name: &'static str) {
        if matches!(name, "width_in_bytes" | "height" | "depth") && !self.extents_set.contains(&name) {
            self.extents_set.push(name);
        }
    }

    /// Remembers that an end was given an address, whose memory is not held.
    fn mark_address_set(&mut self, side: CopySide, address: DevicePtr) {
        let end = &mut self.ends[side as usize];
        (end.is_set, end.room) = (true, address.byte_capacity());
    }
}

// SAFETY: the raw pointers in the structure point into the held objects or are handles.
unsafe impl<T> Send for CopyState<T> {}

/// A structure on its way out of the interpreter.
struct AssertSend<T>(T);

// SAFETY: as for `CopyState`.
unsafe impl<T> Send for AssertSend<T> {}
// SAFETY: as for `CopyState`.
unsafe impl<T> Sync for AssertSend<T> {}

fn lock_state<T>(copy: &Mutex<CopyState<T>>) -> MutexGuard<'_, CopyState<T>> {
    lock_ignoring_poison(copy)
}

/// What an end of a copy is, as `rtcg.driver.memory_type` numbers it.
fn memory_type(value: &Bound<'_, PyAny>, name: &str) -> PyResult<CUmemorytype> {
    let kind = CUmemorytype(extract_named_int(value, name)?);
    match kind {
        CU_MEMORYTYPE_HOST | CU_MEMORYTYPE_DEVICE | CU_MEMORYTYPE_ARRAY | CU_MEMORYTYPE_UNIFIED => Ok(kind),
        CUmemorytype(number) => {
            Err(PyValueError::new_err(format!("{name} is {number}; expected a member of rtcg.driver.memory_type")))
        }
    }
}

/// Sets an end of a copy.
fn set_copy_endpoint<T: CopyStructure>(
    copy: &Mutex<CopyState<T>>,
    side: CopySide,
    place: StructureEnd,
    owner: Py<PyAny>,
    room: Option<usize>,
) {
    let mut copy = lock_state(copy);
    copy.raw.set_endpoint_fields(side, place);
    let old =
        std::mem::replace(&mut copy.ends[side as usize], EndpointOwner { is_set: true, owner: Some(owner), room });
    // What was there goes only after the lock is released: its finaliser may run any code.
    drop(copy);
    drop(old);
}

/// Where a host object's memory begins, and the bytes from there to its end. An array may have any
/// strides: the structure says the layout. Other buffers must be contiguous.
fn host_memory_range(object: &Bound<'_, PyAny>, side: CopySide) -> PyResult<(*mut u8, usize)> {
    let Ok(array) = object.cast::<PyUntypedArray>() else {
        let of = if side == CopySide::Dst { HostBuffer::from_writable } else { HostBuffer::from_object };
        let buffer = of(object, "buffer")?;
        return Ok((buffer.as_ptr(), buffer.nbytes()));
    };
    refuse_object_dtype(&array.dtype(), "buffer")?;
    // SAFETY: the array is alive.
    let fields = unsafe { &(*array.as_array_ptr()).fields };
    if side == CopySide::Dst && fields.flags & npyffi::NPY_ARRAY_WRITEABLE == 0 {
        return Err(PyTypeError::new_err("buffer is read-only; expected a writable buffer"));
    }
    if array.shape().contains(&0) {
        return Ok((fields.data.cast(), 0));
    }
    let steps = array.shape().iter().zip(array.strides()).map(|(&n, &stride)| (n - 1) * stride.max(0) as usize);
    Ok((fields.data.cast(), steps.sum::<usize>() + array.dtype().itemsize()))
}

fn set_host_endpoint<T: CopyStructure>(
    copy: &Mutex<CopyState<T>>,
    side: CopySide,
    buffer: &Bound<'_, PyAny>,
    place: fn(*mut u8) -> StructureEnd,
) -> PyResult<()> {
    let (address, room) = host_memory_range(buffer, side)?;
    set_copy_endpoint(copy, side, place(address), buffer.clone().unbind(), Some(room));
    Ok(())
}

fn set_device_endpoint<T: CopyStructure>(copy: &Mutex<CopyState<T>>, side: CopySide, memory: &DeviceMemory<'_, '_>) {
    let (owner, ptr) = (memory.owner_object(), memory.ptr);
    set_copy_endpoint(copy, side, StructureEnd::Device(ptr.0), owner, ptr.byte_capacity());
}

/// An error if an end was never set.
fn check_endpoints_set<T: CopyStructure>(copying: &CopyState<T>) -> PyResult<()> {
    for (end, name, direction) in [(&copying.ends[0], "src", "from"), (&copying.ends[1], "dst", "to")] {
        if !end.is_set {
            return Err(LogicError::new_err(format!(
                "structured copy failed: invalid argument - nothing to copy {direction} was set; call set_{name}_host, \
                 set_{name}_device, set_{name}_array or set_{name}_unified"
            )));
        }
    }
    let (_, region) = copying.raw.copy_region(CopySide::Src);
    let missing = [("width_in_bytes", region.width), ("height", region.height), ("depth", region.depth)];
    match missing.into_iter().find(|(name, value)| *value == 0 && !copying.extents_set.contains(name)) {
        Some((name, _)) => Err(LogicError::new_err(format!(
            "structured copy failed: invalid argument - {name} was not set, so nothing would be copied"
        ))),
        None => Ok(()),
    }
}

/// An error if the copy would leave the memory of an end, or names a mip level, which CUDA does not have.
fn check_bounds<T: CopyStructure>(copying: &CopyState<T>) -> PyResult<()> {
    for (side, name) in [(CopySide::Src, "src"), (CopySide::Dst, "dst")] {
        let (kind, region) = copying.raw.copy_region(side);
        let lod = copying.raw.mip_level(side);
        if lod != 0 {
            return Err(LogicError::new_err(format!(
                "structured copy failed: invalid argument - {name}_lod is {lod}; expected 0: a level of a MipmappedArray \
                 is an array of its own, see get_level"
            )));
        }
        let end = &copying.ends[side as usize];
        if let (false, Some(room), Some(reach)) = (kind == CU_MEMORYTYPE_ARRAY, end.room, region.end_offset_bytes())
            && reach > room
        {
            return Err(LogicError::new_err(format!(
                "structured copy failed: invalid argument - {name}: the copy reaches {reach} bytes far into memory of \
                 {room} bytes"
            )));
        }
    }
    Ok(())
}

/// A driver given the handle of a destroyed context may crash.
fn check_context_alive(ctx: &Context) -> PyResult<()> {
    if ctx.is_alive() {
        return Ok(());
    }
    Err(LogicError::new_err("cuMemcpy3DPeer failed: context is destroyed - the context of an end was detached"))
}

/// An error if the memory of an end is not of the context that was named for it.
fn check_contexts<T: CopyStructure>(copying: &CopyState<T>) -> PyResult<()> {
    for (side, name) in [(CopySide::Src, "src"), (CopySide::Dst, "dst")] {
        if let (Some(ctx), Some(address)) = (&copying.contexts[side as usize], copying.raw.device_address(side)) {
            memory::check_accessible("cuMemcpy3DPeer", name, address, ctx).or_raise()?;
        }
    }
    Ok(())
}

/// Copies: without a stream it waits.
fn run_memcpy<T: CopyStructure>(
    py: Python<'_>,
    copying: &Mutex<CopyState<T>>,
    stream: Option<&Stream>,
    copy: impl FnOnce(&T, Option<&Stream>) -> rtcg::driver::Result<()> + Send,
) -> PyResult<()> {
    let (raw, owners) = {
        let copying = lock_state(copying);
        check_endpoints_set(&copying)?;
        check_bounds(&copying)?;
        copying.contexts.iter().flatten().try_for_each(check_context_alive)?;
        check_contexts(&copying)?;
        let owners = copying.ends.iter().filter_map(|end| end.owner.as_ref());
        (AssertSend(copying.raw), owners.map(|owner| owner.clone_ref(py)).collect::<Vec<_>>())
    };
    py.detach(|| {
        let raw = &raw;
        copy(&raw.0, stream)
    })
    .or_raise()?;
    match stream {
        Some(_) => {
            owners.into_iter().try_for_each(|owner| in_flight_buffers::hold_until_stream_done(stream, owner).or_raise())
        }
        None => Ok(()),
    }
}

macro_rules! memcpy_class {
    (
        $(#[$doc:meta])*
        $class:ident as $name:literal over $raw:ident { $($get:ident $set:ident $field:ident;)* }
        $($extra:tt)*
    ) => {
        $(#[$doc])*
        #[pyclass(frozen, subclass, name = $name, module = "rtcg.driver", dict, weakref)]
        pub(crate) struct $class {
            copy: Mutex<CopyState<$raw>>,
        }

        #[pymethods]
        impl $class {
            #[new]
            #[pyo3(signature = (*_args, **_kwargs), text_signature = "()")]
            fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
                Self { copy: Mutex::default() }
            }

            fn __init__(&self) {}

            $(
                #[doc = concat!("``", stringify!($field), "`` of CUDA's structure, in bytes, rows or elements as its name says.")]
                #[getter($get)]
                fn $get(&self) -> usize {
                    lock_state(&self.copy).raw.$field as usize
                }

                #[setter($get)]
                fn $set(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
                    let value = extract_named_int::<usize>(value, stringify!($get))?;
                    let mut copy = lock_state(&self.copy);
                    copy.raw.$field = value as _;
                    copy.mark_extent_set(stringify!($get));
                    Ok(())
                }
            )*

            /// The type of the source memory, a `memory_type`.
            #[getter]
            fn src_memory_type<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                let kind = lock_state(&self.copy).raw.srcMemoryType;
                enum_member(py, "memory_type", kind.0)
            }

            #[setter]
            fn set_src_memory_type(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
                lock_state(&self.copy).raw.srcMemoryType = memory_type(value, "src_memory_type")?;
                Ok(())
            }

            /// The type of the destination memory, a `memory_type`.
            #[getter]
            fn dst_memory_type<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                let kind = lock_state(&self.copy).raw.dstMemoryType;
                enum_member(py, "memory_type", kind.0)
            }

            #[setter]
            fn set_dst_memory_type(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
                lock_state(&self.copy).raw.dstMemoryType = memory_type(value, "dst_memory_type")?;
                Ok(())
            }

            /// The device address of the source.
            #[getter(src_device)]
            fn src_address(&self) -> u64 {
                lock_state(&self.copy).raw.srcDevice
            }

            #[setter(src_device)]
            fn set_src_address(&self, value: DevicePtr) {
                let mut copy = lock_state(&self.copy);
                copy.raw.srcDevice = value.0;
                copy.mark_address_set(CopySide::Src, value);
            }

            /// The device address of the destination.
            #[getter(dst_device)]
            fn dst_address(&self) -> u64 {
                lock_state(&self.copy).raw.dstDevice
            }

            #[setter(dst_device)]
            fn set_dst_address(&self, value: DevicePtr) {
                let mut copy = lock_state(&self.copy);
                copy.raw.dstDevice = value.0;
                copy.mark_address_set(CopySide::Dst, value);
            }

            /// Copy from a NumPy array of any strides or another contiguous buffer, which is kept alive.
            fn set_src_host(&self, buffer: &Bound<'_, PyAny>) -> PyResult<()> {
                set_host_endpoint(&self.copy, CopySide::Src, buffer, StructureEnd::Host)
            }

            /// Copy to a writable NumPy array of any strides or another contiguous buffer, which is kept alive.
            fn set_dst_host(&self, buffer: &Bound<'_, PyAny>) -> PyResult<()> {
                set_host_endpoint(&self.copy, CopySide::Dst, buffer, StructureEnd::Host)
            }

            /// Copy from memory with the same address on host and device; it is kept alive.
            fn set_src_unified(&self, buffer: &Bound<'_, PyAny>) -> PyResult<()> {
                set_host_endpoint(&self.copy, CopySide::Src, buffer, StructureEnd::Unified)
            }

            /// Copy to memory with the same address on host and device; it is kept alive.
            fn set_dst_unified(&self, buffer: &Bound<'_, PyAny>) -> PyResult<()> {
                set_host_endpoint(&self.copy, CopySide::Dst, buffer, StructureEnd::Unified)
            }

            /// Copy from device memory, an allocation (kept alive) or an address.
            fn set_src_device(&self, devptr: DeviceMemory<'_, '_>) {
                set_device_endpoint(&self.copy, CopySide::Src, &devptr);
            }

            /// Copy to device memory, an allocation (kept alive) or an address.
            fn set_dst_device(&self, devptr: DeviceMemory<'_, '_>) {
                set_device_endpoint(&self.copy, CopySide::Dst, &devptr);
            }

            /// Copy from an `Array`, which is kept alive.
            fn set_src_array(&self, array: &Bound<'_, PyArrayHandle>) -> PyResult<()> {
                let end = StructureEnd::Array(filled_object(array)?.0.handle());
                set_copy_endpoint(&self.copy, CopySide::Src, end, array.clone().into_any().unbind(), None);
                Ok(())
            }

            /// Copy to an `Array`, which is kept alive.
            fn set_dst_array(&self, array: &Bound<'_, PyArrayHandle>) -> PyResult<()> {
                let end = StructureEnd::Array(filled_object(array)?.0.handle());
                set_copy_endpoint(&self.copy, CopySide::Dst, end, array.clone().into_any().unbind(), None);
                Ok(())
            }

            $($extra)*
        }
    };
}

memcpy_class! {
    /// A copy of a rectangle.
    PyMemcpy2D as "Memcpy2D" over CUDA_MEMCPY2D {
        src_x_in_bytes set_src_x_in_bytes srcXInBytes;
        src_y set_src_y srcY;
        src_pitch set_src_pitch srcPitch;
        dst_x_in_bytes set_dst_x_in_bytes dstXInBytes;
        dst_y set_dst_y dstY;
        dst_pitch set_dst_pitch dstPitch;
        width_in_bytes set_width_in_bytes WidthInBytes;
        height set_height Height;
    }

    /// Copy: ``copy(aligned)`` waits, ``copy(stream)`` does not.
    #[pyo3(signature = (aligned = None))]
    fn __call__(&self, py: Python<'_>, aligned: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let stream = as_driver_stream(aligned.and_then(|a| a.cast::<PyStream>().ok()))?;
        let is_aligned = match aligned {
            Some(aligned) if stream.is_none() => match aligned.cast::<PyBool>() {
                Ok(is_aligned) => is_aligned.is_true(),
                Err(_) => {
                    let kind = aligned.get_type().name()?;
                    return Err(PyTypeError::new_err(format!("aligned is a {kind}; expected a bool or a Stream")));
                }
            },
            _ => false,
        };
        run_memcpy(py, &self.copy, stream, |raw, stream| {
            // SAFETY: host ends are held buffers, which were checked; device ends the driver checks.
            unsafe { if is_aligned { memory::memcpy_2d(raw, true) } else { raw.run_copy(stream) } }
        })
    }
}

macro_rules! memcpy_3d_class {
    ($(#[$doc:meta])* $class:ident as $name:literal over $raw:ident $($extra:tt)*) => {
        memcpy_class! {
            $(#[$doc])*
            $class as $name over $raw {
                src_x_in_bytes set_src_x_in_bytes srcXInBytes;
                src_y set_src_y srcY;
                src_z set_src_z srcZ;
                src_lod set_src_lod srcLOD;
                src_pitch set_src_pitch srcPitch;
                src_height set_src_height srcHeight;
                dst_x_in_bytes set_dst_x_in_bytes dstXInBytes;
                dst_y set_dst_y dstY;
                dst_z set_dst_z dstZ;
                dst_lod set_dst_lod dstLOD;
                dst_pitch set_dst_pitch dstPitch;
                dst_height set_dst_height dstHeight;
                width_in_bytes set_width_in_bytes WidthInBytes;
                height set_height Height;
                depth set_depth Depth;
            }

            /// Copy: without a stream it waits.
            #[pyo3(signature = (stream = None))]
            fn __call__(&self, py: Python<'_>, stream: Option<&Bound<'_, PyStream>>) -> PyResult<()> {
                // SAFETY: as for two dimensions.
                run_memcpy(py, &self.copy, as_driver_stream(stream)?, |raw, stream| unsafe { raw.run_copy(stream) })
            }

            $($extra)*
        }
    };
}

memcpy_3d_class! {
    /// A copy of a box.
    PyMemcpy3D as "Memcpy3D" over CUDA_MEMCPY3D
}

impl PyMemcpy3D {
    /// The structure, and the host objects it points into.
    pub(crate) fn descriptor_and_owners(&self, py: Python<'_>) -> (CUDA_MEMCPY3D, Vec<Py<PyAny>>) {
        let copy = lock_state(&self.copy);
        let owners = copy.ends.iter().filter_map(|end| end.owner.as_ref());
        (copy.raw, owners.map(|owner| owner.clone_ref(py)).collect())
    }
}

memcpy_3d_class! {
    /// A copy of a box between contexts.
    PyMemcpy3DPeer as "Memcpy3DPeer" over CUDA_MEMCPY3D_PEER

    /// The context of the source; None is the current one.
    fn set_src_context(&self, ctx: Option<&Bound<'_, PyContext>>) {
        self.set_context(CopySide::Src, ctx.map(|ctx| &*ctx.get().0));
    }

    /// The context of the destination; None is the current one.
    fn set_dst_context(&self, ctx: Option<&Bound<'_, PyContext>>) {
        self.set_context(CopySide::Dst, ctx.map(|ctx| &*ctx.get().0));
    }
}

impl PyMemcpy3DPeer {
    fn set_context(&self, side: CopySide, ctx: Option<&Context>) {
        let handle = ctx.map_or(CUcontext::null(), Context::handle);
        let mut copy = lock_state(&self.copy);
        match side {
            CopySide::Src => copy.raw.srcContext = handle,
            CopySide::Dst => copy.raw.dstContext = handle,
        }
        let old = std::mem::replace(&mut copy.contexts[side as usize], ctx.cloned());
        drop(copy);
        drop(old);
    }
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_contents! { m, classes PyMemcpy2D, PyMemcpy3D, PyMemcpy3DPeer; }
}
