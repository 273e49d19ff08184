//! Arrays, textures and surfaces.

use crate::driver::memory::device_pointer::DevicePtr;
use crate::enums::enum_member;
use crate::errors::{LogicError, OrRaise};
use crate::host_buffer::HostBuffer;
use crate::integer::int;
use crate::owner::Owner;
use crate::resource_lifetime::{
    DropDetached, Ready, context_manager_methods, filled_object, impl_from_core, impl_new_for_init, resource_methods,
};
use pyo3::prelude::*;
use rtcg::driver::memory;
use rtcg::driver::sys::*;
use rtcg::driver::{
    Array, Error, MipmappedArray, SurfaceObject, SurfaceReference, TextureObject, TextureReference, TextureResource,
};

/// A CUDA array, freed with the last reference or by `free()`.
#[pyclass(name = "Array", module = "rtcg.driver", frozen, subclass, dict, weakref)]
pub(crate) struct PyArrayHandle(pub(crate) DropDetached<Array>);

impl_from_core!(PyArrayHandle over Array);
impl_new_for_init!(PyArrayHandle, "(descriptor)");

fn extract_py_attribute<'py, T>(object: &Bound<'py, PyAny>, name: &str) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    object.getattr(name)?.extract()
}

/// An `ArrayDescriptor`.
fn descriptor_2d(object: &Bound<'_, PyAny>) -> PyResult<CUDA_ARRAY_DESCRIPTOR> {
    Ok(CUDA_ARRAY_DESCRIPTOR {
        Width: extract_py_attribute(object, "width")?,
        Height: extract_py_attribute(object, "height")?,
        Format: CUarray_format(extract_py_attribute(object, "format")?),
        NumChannels: extract_py_attribute(object, "num_channels")?,
    })
}

/// An `ArrayDescriptor3D`.
fn descriptor_3d(object: &Bound<'_, PyAny>) -> PyResult<CUDA_ARRAY3D_DESCRIPTOR> {
    let flat = descriptor_2d(object)?;
    Ok(CUDA_ARRAY3D_DESCRIPTOR {
        Width: flat.Width,
        Height: flat.Height,
        Depth: extract_py_attribute(object, "depth")?,
        Format: flat.Format,
        NumChannels: flat.NumChannels,
        Flags: extract_py_attribute(object, "flags")?,
    })
}

/// `4 x 3, 1 channel of FLOAT`: the extents, the fastest first.
fn describe_descriptor(d: &CUDA_ARRAY3D_DESCRIPTOR) -> String {
    let extents = [d.Width, d.Height, d.Depth].map(|n| n.to_string());
    let n_extents = 3 - [d.Depth, d.Height].iter().take_while(|n| **n == 0).count();
    let format =
        CUarray_format::NAMED_CONSTANTS.iter().find(|(_, format)| *format == d.Format).map_or("?", |(name, _)| *name);
    let format = format.strip_prefix("CU_AD_FORMAT_").unwrap_or(format);
    let plural = if d.NumChannels == 1 { "" } else { "s" };
    format!("{}, {} channel{plural} of {format}", extents[..n_extents].join(" x "), d.NumChannels)
}

/// A descriptor as an object of `rtcg.driver`.
fn python_descriptor<'py>(py: Python<'py>, class: &str, d: &CUDA_ARRAY3D_DESCRIPTOR) -> PyResult<Bound<'py, PyAny>> {
    let driver = py.import("rtcg.driver")?;
    let object = driver.getattr(class)?.call0()?;
    object.setattr("width", d.Width)?;
    object.setattr("height", d.Height)?;
    object.setattr("format", driver.getattr("array_format")?.call1((d.Format.0,))?)?;
    object.setattr("num_channels", d.NumChannels)?;
    if class == "ArrayDescriptor3D" {
        object.setattr("depth", d.Depth)?;
        object.setattr("flags", d.Flags)?;
    }
    Ok(object)
}

#[pymethods]
impl PyArrayHandle {
    fn __init__(&self, py: Python<'_>, descriptor: &Bound<'_, PyAny>) -> PyResult<()> {
        if descriptor.hasattr("depth")? {
            let d = descriptor_3d(descriptor)?;
            return self.0.init_value(py.detach(|| Array::new_3d(&d)).or_raise()?);
        }
        let d = descriptor_2d(descriptor)?;
        self.0.init_value(py.detach(|| Array::new_2d(&d)).or_raise()?)
    }
}

resource_methods! {
    PyArrayHandle,
    free = free,
    // That of a level goes with its mipmapped array.
    is_freed = |a| a.is_freed(),
    release = |a| a.free();

    fn __repr__(slf: Ready<'_, Self>) -> String {
        match slf.0.descriptor_3d() {
            Ok(d) => format!("<rtcg.driver.Array {}>", describe_descriptor(&d)),
            Err(_) => "<rtcg.driver.Array, gone>".to_owned(),
        }
    }

    /// A new `ArrayDescriptor` of the array; raises `LogicError` if it has been freed.
    fn get_descriptor<'py>(slf: Ready<'_, Self>, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let d = slf.0.descriptor().or_raise()?;
        let d = CUDA_ARRAY3D_DESCRIPTOR {
            Width: d.Width,
            Height: d.Height,
            Format: d.Format,
            NumChannels: d.NumChannels,
            ..Default::default()
        };
        python_descriptor(py, "ArrayDescriptor", &d)
    }

    /// A new `ArrayDescriptor3D` of the array; raises `LogicError` if it has been freed.
    fn get_descriptor_3d<'py>(slf: Ready<'_, Self>, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        python_descriptor(py, "ArrayDescriptor3D", &slf.0.descriptor_3d().or_raise()?)
    }

    /// The driver's handle, for other libraries.
    #[getter]
    fn handle(slf: Ready<'_, Self>) -> usize {
        slf.0.handle().addr()
    }
}

/// An array with mip levels (an addition to PyCUDA).
#[pyclass(name = "MipmappedArray", module = "rtcg.driver", frozen, subclass, dict, weakref)]
pub(crate) struct PyMipmappedArray(DropDetached<MipmappedArray>);

impl_from_core!(PyMipmappedArray over MipmappedArray);
impl_new_for_init!(PyMipmappedArray, "(descriptor, num_levels)");

#[pymethods]
impl PyMipmappedArray {
    fn __init__(
        &self,
        py: Python<'_>,
        descriptor: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = int)] num_levels: u32,
    ) -> PyResult<()> {
        let d = descriptor_3d(descriptor)?;
        self.0.init_value(py.detach(|| MipmappedArray::new(&d, num_levels)).or_raise()?)
    }
}

context_manager_methods! { PyMipmappedArray;
    /// The array of a mip level, of which 0 is the largest.
    fn get_level(slf: Ready<'_, Self>, #[pyo3(from_py_with = int)] level: u32) -> PyResult<PyArrayHandle> {
        slf.0.mipmap_level(level).or_raise().map(PyArrayHandle::from)
    }

    /// Release the memory of all levels now, unless already done.
    fn close(slf: Ready<'_, Self>, py: Python<'_>) -> PyResult<()> {
        py.detach(|| slf.0.close()).or_raise()
    }

    fn __repr__(slf: Ready<'_, Self>) -> String {
        match slf.0.mipmap_level(0).and_then(|level| level.descriptor_3d()) {
            Ok(d) => format!("<rtcg.driver.MipmappedArray {}>", describe_descriptor(&d)),
            Err(_) => "<rtcg.driver.MipmappedArray, gone>".to_owned(),
        }
    }
}

/// A texture reference, of a module or on its own.
#[pyclass(name = "TextureReference", module = "rtcg.driver", frozen, subclass, dict, weakref)]
pub(crate) struct PyTextureReference(pub(crate) DropDetached<TextureReference>);

impl_from_core!(PyTextureReference over TextureReference);
impl_new_for_init!(PyTextureReference, "()");

#[pymethods]
impl PyTextureReference {
    fn __init__(&self) -> PyResult<()> {
        self.0.init_value(TextureReference::new().or_raise()?)
    }

    /// Bind an array, which is kept alive.
    fn set_array(slf: Ready<'_, Self>, py: Python<'_>, ary: &Bound<'_, PyArrayHandle>) -> PyResult<()> {
        let array = &filled_object(ary)?.0;
        py.detach(|| slf.0.set_array(array)).or_raise()
    }

    /// Bind linear memory; returns the offset in bytes that fetches have to add.
    #[pyo3(signature = (devptr, bytes, allow_offset = false))]
    fn set_address(
        slf: Ready<'_, Self>,
        py: Python<'_>,
        devptr: DevicePtr,
        #[pyo3(from_py_with = int)] bytes: usize,
        allow_offset: bool,
    ) -> PyResult<usize> {
        devptr.check_bytes("cuTexRefSetAddress", bytes)?;
        // SAFETY: the driver checks the range now; that it stays valid is the user's promise.
        py.detach(|| unsafe { slf.0.set_address(devptr.0, bytes, allow_offset) }).or_raise()
    }

    /// Bind rows of linear memory, `pitch` bytes apart, with the shape and format of `descr`.
    fn set_address_2d(
        slf: Ready<'_, Self>,
        py: Python<'_>,
        devptr: DevicePtr,
        descr: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = int)] pitch: usize,
    ) -> PyResult<()> {
        let d = descriptor_2d(descr)?;
        // SAFETY: as for `set_address`.
        py.detach(|| unsafe { slf.0.set_address_2d(devptr.0, &d, pitch) }).or_raise()
    }

    /// Set the texel format: an `array_format` and 1, 2 or 4 components. `set_array` uses that of the array.
    fn set_format(
        slf: Ready<'_, Self>,
        py: Python<'_>,
        #[pyo3(from_py_with = int)] format: i32,
        #[pyo3(from_py_with = int)] num_components: i32,
    ) -> PyResult<()> {
        py.detach(|| slf.0.set_format(CUarray_format(format as _), num_components)).or_raise()
    }

    /// Set how fetches out of range are handled in dimension `dim` (0, 1 or 2), by `address_mode`.
    fn set_address_mode(
        slf: Ready<'_, Self>,
        py: Python<'_>,
        #[pyo3(from_py_with = int)] dim: i32,
        #[pyo3(from_py_with = int)] am: i32,
    ) -> PyResult<()> {
        py.detach(|| slf.0.set_address_mode(dim, CUaddress_mode(am as _))).or_raise()
    }

    /// Set how fetches between texels are filtered, by `filter_mode`.
    fn set_filter_mode(slf: Ready<'_, Self>, py: Python<'_>, #[pyo3(from_py_with = int)] fm: i32) -> PyResult<()> {
        py.detach(|| slf.0.set_filter_mode(CUfilter_mode(fm as _))).or_raise()
    }

    /// Set `TRSF_READ_AS_INTEGER`, `TRSF_NORMALIZED_COORDINATES`, or-ed.
    fn set_flags(slf: Ready<'_, Self>, py: Python<'_>, #[pyo3(from_py_with = int)] flags: u32) -> PyResult<()> {
        py.detach(|| slf.0.set_flags(flags)).or_raise()
    }

    /// The address of the bound linear memory; raises `LogicError` if there is none.
    fn get_address(slf: Ready<'_, Self>) -> PyResult<u64> {
        slf.0.address().or_raise()
    }

    /// The bound array; raises `LogicError` if there is none.
    fn get_array(slf: Ready<'_, Self>) -> PyResult<PyArrayHandle> {
        slf.0.array().map(PyArrayHandle::from).ok_or_else(|| LogicError::new_err("no array is bound"))
    }

    /// The `address_mode` of dimension `dim`.
    fn get_address_mode<'py>(
        slf: Ready<'_, Self>,
        py: Python<'py>,
        #[pyo3(from_py_with = int)] dim: i32,
    ) -> PyResult<Bound<'py, PyAny>> {
        enum_member(py, "address_mode", slf.0.address_mode(dim).or_raise()?.0)
    }

    /// The `filter_mode`.
    fn get_filter_mode<'py>(slf: Ready<'_, Self>, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        enum_member(py, "filter_mode", slf.0.filter_mode().or_raise()?.0)
    }

    /// ``(array_format, number of components)``.
    fn get_format<'py>(slf: Ready<'_, Self>, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, i32)> {
        let (format, channels) = slf.0.format().or_raise()?;
        Ok((enum_member(py, "array_format", format.0)?, channels))
    }

    /// The flags set by `set_flags`.
    fn get_flags(slf: Ready<'_, Self>) -> PyResult<u32> {
        slf.0.flags().or_raise()
    }
}

/// A surface reference of a module.
#[pyclass(name = "SurfaceReference", module = "rtcg.driver", frozen, subclass, dict, weakref)]
pub(crate) struct PySurfaceReference(pub(crate) DropDetached<SurfaceReference>);

impl_from_core!(PySurfaceReference over SurfaceReference);

#[pymethods]
impl PySurfaceReference {
    /// Bind an array, which is kept alive.
    #[pyo3(signature = (array, flags = 0))]
    fn set_array(
        &self,
        py: Python<'_>,
        array: &Bound<'_, PyArrayHandle>,
        #[pyo3(from_py_with = int)] flags: u32,
    ) -> PyResult<()> {
        let array = &filled_object(array)?.0;
        py.detach(|| self.0.set_array(array, flags)).or_raise()
    }

    /// The bound array; raises `LogicError` if there is none.
    fn get_array(&self) -> PyResult<PyArrayHandle> {
        self.0.array().map(PyArrayHandle::from).ok_or_else(|| LogicError::new_err("no array is bound"))
    }
}

/// A texture object (an addition to PyCUDA): pass it to a kernel as a `cudaTextureObject_t`.
#[pyclass(name = "TextureObject", module = "rtcg.driver", frozen, subclass, dict, weakref)]
pub(crate) struct PyTextureObject {
    object: DropDetached<TextureObject>,
    /// Linear memory that must outlive the object.
    _owner: Option<Owner>,
}

/// How a texture object samples, as keywords.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct SamplingOptions {
    address_mode: [i32; 3],
    filter_mode: i32,
    flags: u32,
    mipmap_filter_mode: i32,
    mipmap_level_bias: f32,
    mipmap_level_clamp: (f32, f32),
    max_anisotropy: u32,
    border_color: [f32; 4],
}

impl SamplingOptions {
    fn texture_desc(&self) -> CUDA_TEXTURE_DESC {
        CUDA_TEXTURE_DESC {
            addressMode: self.address_mode.map(|mode| CUaddress_mode(mode as _)),
            filterMode: CUfilter_mode(self.filter_mode as _),
            flags: self.flags,
            maxAnisotropy: self.max_anisotropy,
            mipmapFilterMode: CUfilter_mode(self.mipmap_filter_mode as _),
            mipmapLevelBias: self.mipmap_level_bias,
            minMipmapLevelClamp: self.mipmap_level_clamp.0,
            maxMipmapLevelClamp: self.mipmap_level_clamp.1,
            borderColor: self.border_color,
            ..Default::default()
        }
    }
}

impl PyTextureObject {
    fn create_texture(
        py: Python<'_>,
        resource: TextureResource,
        sampling: &SamplingOptions,
        owner: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let described = sampling.texture_desc();
        // SAFETY: the driver checks the range of linear memory, and its owner is held.
        let object = py.detach(|| unsafe { TextureObject::new(resource, &described) }).or_raise()?;
        Ok(Self { object: DropDetached::new(object), _owner: owner.map(Owner::new) })
    }
}

#[pymethods]
impl PyTextureObject {
    #[staticmethod]
    fn _from_array(py: Python<'_>, array: &Bound<'_, PyAny>, sampling: SamplingOptions) -> PyResult<Self> {
        let resource = match array.cast::<PyMipmappedArray>() {
            Ok(mipmap) => TextureResource::Mipmap(filled_object(mipmap)?.0.clone()),
            Err(_) => TextureResource::Array(filled_object(array.cast::<PyArrayHandle>()?)?.0.clone()),
        };
        Self::create_texture(py, resource, &sampling, None)
    }

    #[staticmethod]
    fn _from_linear(
        py: Python<'_>,
        memory: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = int)] nbytes: usize,
        #[pyo3(from_py_with = int)] format: i32,
        #[pyo3(from_py_with = int)] channels: u32,
        sampling: SamplingOptions,
    ) -> PyResult<Self> {
        let ptr: DevicePtr = memory.extract()?;
        ptr.check_bytes("cuTexObjectCreate", nbytes)?;
        let format = CUarray_format(format as _);
        let resource = TextureResource::Linear { ptr: ptr.0, format, channels, nbytes };
        Self::create_texture(py, resource, &sampling, Some(memory.clone()))
    }

    #[staticmethod]
    fn _from_pitched(
        py: Python<'_>,
        memory: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = int)] pitch: usize,
        descr: &Bound<'_, PyAny>,
        sampling: SamplingOptions,
    ) -> PyResult<Self> {
        let (ptr, d): (DevicePtr, _) = (memory.extract()?, descriptor_2d(descr)?);
        let resource = TextureResource::Pitch2D {
            ptr: ptr.0,
            format: d.Format,
            channels: d.NumChannels,
            width: d.Width,
            height: d.Height,
            pitch,
        };
        Self::create_texture(py, resource, &sampling, Some(memory.clone()))
    }

    /// The value to pass to kernels as a `cudaTextureObject_t`.
    #[getter]
    fn handle(&self) -> u64 {
        self.object.handle()
    }

    /// Same as `handle`.
    fn get_pointer(&self) -> u64 {
        self.object.handle()
    }
}

/// A surface object (an addition to PyCUDA): pass it to a kernel as a `cudaSurfaceObject_t`.
#[pyclass(name = "SurfaceObject", module = "rtcg.driver", frozen, subclass, dict, weakref)]
pub(crate) struct PySurfaceObject(DropDetached<SurfaceObject>);

impl_from_core!(PySurfaceObject over SurfaceObject);
impl_new_for_init!(PySurfaceObject, "(array)");

#[pymethods]
impl PySurfaceObject {
    fn __init__(&self, array: &Bound<'_, PyArrayHandle>) -> PyResult<()> {
        self.0.init_value(SurfaceObject::new(&filled_object(array)?.0).or_raise()?)
    }

    /// The array that kernels read and write.
    #[getter]
    fn array(slf: Ready<'_, Self>) -> PyArrayHandle {
        slf.0.array().clone().into()
    }

    /// The value to pass to kernels as a `cudaSurfaceObject_t`.
    #[getter]
    fn handle(slf: Ready<'_, Self>) -> u64 {
        slf.0.handle()
    }

    /// Same as `handle`.
    fn get_pointer(slf: Ready<'_, Self>) -> u64 {
        slf.0.handle()
    }
}

/// Some bytes of an array, for a message.
fn describe_array_bytes(array: &Array, index: usize, len: usize) -> String {
    let array = array.descriptor_3d().map_or_else(|_| "gone".to_owned(), |d| describe_descriptor(&d));
    format!("{len} bytes at index {index} of the array {array}")
}

/// The error of a copy, saying which bytes of which array were requested.
fn add_array_to_error(error: Error, array: &Array, index: usize, len: usize) -> Error {
    Error { detail: error.detail.or_else(|| Some(describe_array_bytes(array, index, len))), ..error }
}

/// [`add_array_to_error`] of a copy from an array to another.
fn add_both_arrays_to_error(error: Error, dest: (&Array, usize), src: (&Array, usize), len: usize) -> Error {
    let ((dest, dest_index), (src, src_index)) = (dest, src);
    let detail = || {
        format!("{}, from {}", describe_array_bytes(dest, dest_index, len), describe_array_bytes(src, src_index, len))
    };
    Error { detail: error.detail.or_else(|| Some(detail())), ..error }
}

/// Copy device memory to a one-dimensional array, starting at byte `index`; waits.
#[pyfunction]
fn memcpy_dtoa(
    py: Python<'_>,
    ary: &Bound<'_, PyArrayHandle>,
    #[pyo3(from_py_with = int)] index: usize,
    src: DevicePtr,
    #[pyo3(from_py_with = int)] len: usize,
) -> PyResult<()> {
    src.check_bytes("cuMemcpyDtoA", len)?;
    let array = &filled_object(ary)?.0;
    // SAFETY: the driver checks the range.
    py.detach(|| unsafe { memory::memcpy_dtoa(array, index, src.0, len) })
        .map_err(|error| add_array_to_error(error, array, index, len))
        .or_raise()
}

/// Copy `len` bytes of a one-dimensional array, starting at byte `index`, to device memory; does not wait.
#[pyfunction]
fn memcpy_atod(
    py: Python<'_>,
    dest: DevicePtr,
    ary: &Bound<'_, PyArrayHandle>,
    #[pyo3(from_py_with = int)] index: usize,
    #[pyo3(from_py_with = int)] len: usize,
) -> PyResult<()> {
    dest.check_bytes("cuMemcpyAtoD", len)?;
    let array = &filled_object(ary)?.0;
    // SAFETY: the driver checks the range.
    py.detach(|| unsafe { memory::memcpy_atod(dest.0, array, index, len) })
        .map_err(|error| add_array_to_error(error, array, index, len))
        .or_raise()
}

/// Copy `len` bytes between one-dimensional arrays, from byte `src_index` to byte `dest_index`; does not wait.
#[pyfunction]
fn memcpy_atoa(
    py: Python<'_>,
    dest: &Bound<'_, PyArrayHandle>,
    #[pyo3(from_py_with = int)] dest_index: usize,
    src: &Bound<'_, PyArrayHandle>,
    #[pyo3(from_py_with = int)] src_index: usize,
    #[pyo3(from_py_with = int)] len: usize,
) -> PyResult<()> {
    let (to, from) = (&filled_object(dest)?.0, &filled_object(src)?.0);
    py.detach(|| memory::memcpy_atoa(to, dest_index, from, src_index, len))
        .map_err(|error| add_both_arrays_to_error(error, (to, dest_index), (from, src_index), len))
        .or_raise()
}

/// Copy a contiguous buffer to a one-dimensional array, starting at byte `index`; waits.
///
/// Raises `LogicError` if it does not fit. Also named `py_memcpy_htoa`.
#[pyfunction]
fn memcpy_htoa(
    py: Python<'_>,
    ary: &Bound<'_, PyArrayHandle>,
    #[pyo3(from_py_with = int)] index: usize,
    src: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let src = HostBuffer::from_object(src, "src")?;
    let array = &filled_object(ary)?.0;
    // SAFETY: the buffer outlives the copy.
    let bytes = unsafe { src.as_bytes() };
    py.detach(|| memory::memcpy_htoa(array, index, bytes))
        .map_err(|error| add_array_to_error(error, array, index, bytes.len()))
        .or_raise()
}

/// Fill a writable contiguous buffer from a one-dimensional array, starting at byte `index`; waits.
///
/// Raises `LogicError` if the array has too few bytes. Also named `py_memcpy_atoh`.
#[pyfunction]
fn memcpy_atoh(
    py: Python<'_>,
    dest: &Bound<'_, PyAny>,
    ary: &Bound<'_, PyArrayHandle>,
    #[pyo3(from_py_with = int)] index: usize,
) -> PyResult<()> {
    let dest = HostBuffer::from_writable(dest, "dest")?;
    let array = &filled_object(ary)?.0;
    // SAFETY: the buffer is writable and outlives the copy.
    let bytes = unsafe { dest.bytes_mut() };
    let len = bytes.len();
    py.detach(|| memory::memcpy_atoh(bytes, array, index))
        .map_err(|error| add_array_to_error(error, array, index, len))
        .or_raise()
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_contents! { m,
        classes PyArrayHandle, PyMipmappedArray, PyTextureReference, PySurfaceReference, PyTextureObject,
            PySurfaceObject;
        functions memcpy_dtoa, memcpy_atod, memcpy_atoa, memcpy_htoa, memcpy_atoh;
    }
}
