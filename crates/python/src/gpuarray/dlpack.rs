//! DLPack, versions 0 and 1: sharing arrays with other libraries.
//!
//! A capsule owns a managed tensor until a consumer takes it, which it shows by renaming the capsule.
//! The tensor's owner calls its deleter once.

use super::context::{array_context, device_of_arrays};
use super::export::{
    context_after_pending_work, exports_wait, order_consumer, report_unordered_export, set_exports_wait,
};
use super::memory::{ForeignBuffer, array_inside_memory};
use super::operands::upload_host_array;
use super::{PyGpuArray, to_py_result};
use crate::errors::OrRaise;
use numpy::PyUntypedArray;
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rtcg::array::{ArrayBuffer, DType, DTypeKind, GpuArray, Layout, Order};
use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

const DEVICE_CPU: i32 = 1;
const DEVICE_CUDA: i32 = 2;
const DEVICE_CUDA_HOST: i32 = 3;
const DEVICE_CUDA_MANAGED: i32 = 13;

const CAPSULE_NAME: &CStr = c"dltensor";
const CAPSULE_NAME_USED: &CStr = c"used_dltensor";
const VERSIONED_CAPSULE_NAME: &CStr = c"dltensor_versioned";
const VERSIONED_CAPSULE_NAME_USED: &CStr = c"used_dltensor_versioned";

#[repr(C)]
struct DlDevice {
    kind: i32,
    id: i32,
}

#[repr(C)]
struct DlDataType {
    code: u8,
    bits: u8,
    lanes: u16,
}

#[repr(C)]
struct DlTensor {
    data: *mut c_void,
    device: DlDevice,
    ndim: i32,
    dtype: DlDataType,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
struct ManagedTensor {
    tensor: DlTensor,
    manager: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut ManagedTensor)>,
}

#[repr(C)]
struct ManagedTensorVersioned {
    major: u32,
    minor: u32,
    manager: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut ManagedTensorVersioned)>,
    flags: u64,
    tensor: DlTensor,
}

/// What an exported tensor points to.
struct ExportedTensor {
    _array: GpuArray,
    shape: Vec<i64>,
    strides: Vec<i64>,
}

fn dlpack_type_of(dtype: DType) -> PyResult<DlDataType> {
    let code = match dtype.kind() {
        DTypeKind::Signed => 0,
        DTypeKind::Unsigned => 1,
        DTypeKind::Float if dtype == DType::BF16 => 4,
        DTypeKind::Float => 2,
        DTypeKind::Complex => 5,
        DTypeKind::Bool => 6,
        DTypeKind::Record => return Err(not_exportable("DLPack has no records; the CUDA array interface has")),
    };
    Ok(DlDataType { code, bits: 8 * dtype.itemsize() as u8, lanes: 1 })
}

fn dtype_of_dlpack_type(code: &DlDataType) -> PyResult<DType> {
    let letter = match code.code {
        0 => 'i',
        1 => 'u',
        2 => 'f',
        4 if code.bits == 16 => return Ok(DType::BF16),
        5 => 'c',
        6 => 'b',
        other => {
            return Err(PyBufferError::new_err(format!("DLPack type {other} of {} bits is not supported", code.bits)));
        }
    };
    if code.lanes != 1 {
        return Err(PyBufferError::new_err(format!("DLPack type with {} lanes is not supported", code.lanes)));
    }
    DType::from_numpy(letter, usize::from(code.bits) / 8).map_err(|error| PyBufferError::new_err(error.to_string()))
}

/// What consumers take as a refusal, after which they try another protocol.
fn not_exportable(message: &str) -> PyErr {
    Python::attach(|py| {
        let class = py.import("rtcg._exports").and_then(|module| module.getattr("NotExportableError"));
        class.and_then(|class| class.call1((message,))).map_or_else(|error| error, PyErr::from_value)
    })
}

fn build_dl_tensor(exported: &mut ExportedTensor, device: (i32, i32)) -> PyResult<DlTensor> {
    let array = &exported._array;
    Ok(DlTensor {
        data: std::ptr::with_exposed_provenance_mut(array.device_ptr().unwrap_or(0) as usize),
        device: DlDevice { kind: device.0, id: device.1 },
        ndim: array.ndim() as i32,
        dtype: dlpack_type_of(array.dtype())?,
        shape: exported.shape.as_mut_ptr(),
        strides: exported.strides.as_mut_ptr(),
        byte_offset: 0,
    })
}

unsafe extern "C" fn delete_unversioned(managed: *mut ManagedTensor) {
    // SAFETY: made by `export_capsule` from boxes, and deleted once.
    unsafe {
        drop(Box::from_raw((*managed).manager.cast::<ExportedTensor>()));
        drop(Box::from_raw(managed));
    }
}

unsafe extern "C" fn delete_versioned(managed: *mut ManagedTensorVersioned) {
    // SAFETY: made by `export_capsule` from boxes, and deleted once.
    unsafe {
        drop(Box::from_raw((*managed).manager.cast::<ExportedTensor>()));
        drop(Box::from_raw(managed));
    }
}

/// Deletes a tensor that was not consumed.
unsafe extern "C" fn destroy_capsule(capsule: *mut pyo3::ffi::PyObject) {
    // SAFETY: called by Python with the capsule; the name tells whether and what it still owns.
    unsafe {
        if pyo3::ffi::PyCapsule_IsValid(capsule, CAPSULE_NAME.as_ptr()) != 0 {
            delete_unversioned(pyo3::ffi::PyCapsule_GetPointer(capsule, CAPSULE_NAME.as_ptr()).cast());
        } else if pyo3::ffi::PyCapsule_IsValid(capsule, VERSIONED_CAPSULE_NAME.as_ptr()) != 0 {
            delete_versioned(pyo3::ffi::PyCapsule_GetPointer(capsule, VERSIONED_CAPSULE_NAME.as_ptr()).cast());
        }
    }
}

fn export_capsule<'py>(
    py: Python<'py>,
    array: &GpuArray,
    device: (i32, i32),
    versioned: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let item = array.itemsize() as i64;
    // The stride of an axis of length 1 says nothing.
    let mut strides = array.shape().iter().zip(array.strides()).filter(|(length, _)| **length > 1);
    if strides.any(|(_, &stride)| stride as i64 % item != 0) {
        return Err(not_exportable(&format!(
            "strides {} are no multiples of the item size {item}, which DLPack needs",
            rtcg::array::PythonTuple(array.strides())
        )));
    }
    let mut exported = Box::new(ExportedTensor {
        shape: array.shape().iter().map(|&n| n as i64).collect(),
        strides: array.strides().iter().map(|&stride| stride as i64 / item).collect(),
        _array: array.clone(),
    });
    let tensor = build_dl_tensor(&mut exported, device)?;
    let manager = Box::into_raw(exported).cast::<c_void>();
    let (pointer, name) = if versioned {
        let deleter = Some(delete_versioned as unsafe extern "C" fn(*mut ManagedTensorVersioned));
        let managed = ManagedTensorVersioned { major: 1, minor: 0, manager, deleter, flags: 0, tensor };
        (Box::into_raw(Box::new(managed)).cast::<c_void>(), VERSIONED_CAPSULE_NAME)
    } else {
        let deleter = Some(delete_unversioned as unsafe extern "C" fn(*mut ManagedTensor));
        (Box::into_raw(Box::new(ManagedTensor { tensor, manager, deleter })).cast::<c_void>(), CAPSULE_NAME)
    };
    // SAFETY: the pointer is of what the name says, and the destructor knows both.
    unsafe {
        let capsule = pyo3::ffi::PyCapsule_New(pointer, name.as_ptr(), Some(destroy_capsule));
        Bound::from_owned_ptr_or_err(py, capsule)
    }
}

/// Calls the deleter of a tensor that was taken from a capsule.
#[pyclass(frozen)]
struct ImportedTensor {
    pointer: usize,
    versioned: bool,
}

impl Drop for ImportedTensor {
    fn drop(&mut self) {
        let pointer: *mut c_void = std::ptr::with_exposed_provenance_mut(self.pointer);
        // SAFETY: the tensor was taken from its capsule, so it is ours to delete, once.
        unsafe {
            if self.versioned {
                let managed = pointer.cast::<ManagedTensorVersioned>();
                if let Some(deleter) = (*managed).deleter {
                    deleter(managed);
                }
            } else {
                let managed = pointer.cast::<ManagedTensor>();
                if let Some(deleter) = (*managed).deleter {
                    deleter(managed);
                }
            }
        }
    }
}

/// Takes the tensor out of a capsule; `(tensor, owner)`.
fn consume_capsule<'py>(capsule: &Bound<'py, PyAny>) -> PyResult<(*mut DlTensor, Bound<'py, ImportedTensor>)> {
    let py = capsule.py();
    let raw = capsule.as_ptr();
    let try_take = |name: &CStr, used: &CStr| -> *mut c_void {
        // SAFETY: the calls check that the object is a capsule of that name.
        unsafe {
            if pyo3::ffi::PyCapsule_IsValid(raw, name.as_ptr()) == 0 {
                return std::ptr::null_mut();
            }
            let pointer = pyo3::ffi::PyCapsule_GetPointer(raw, name.as_ptr());
            pyo3::ffi::PyCapsule_SetName(raw, used.as_ptr().cast::<c_char>());
            pointer
        }
    };
    let versioned = try_take(VERSIONED_CAPSULE_NAME, VERSIONED_CAPSULE_NAME_USED);
    if !versioned.is_null() {
        let taken = Bound::new(py, ImportedTensor { pointer: versioned.expose_provenance(), versioned: true })?;
        // SAFETY: a capsule of this name holds this structure.
        let (major, tensor) = unsafe {
            let managed = versioned.cast::<ManagedTensorVersioned>();
            ((*managed).major, &raw mut (*managed).tensor)
        };
        if major > 1 {
            return Err(PyBufferError::new_err(format!("DLPack of version {major} is not supported")));
        }
        return Ok((tensor, taken));
    }
    let plain = try_take(CAPSULE_NAME, CAPSULE_NAME_USED);
    if plain.is_null() {
        return Err(PyValueError::new_err("expected a DLPack capsule that has not been consumed yet"));
    }
    let taken = Bound::new(py, ImportedTensor { pointer: plain.expose_provenance(), versioned: false })?;
    // SAFETY: a capsule of this name holds this structure.
    Ok((unsafe { &raw mut (*plain.cast::<ManagedTensor>()).tensor }, taken))
}

/// An array over the memory of a DLPack capsule, if it is on the device.
#[pyfunction]
fn array_from_dlpack<'py>(capsule: &Bound<'py, PyAny>) -> PyResult<PyGpuArray> {
    let (tensor, owner) = consume_capsule(capsule)?;
    // SAFETY: the tensor lives as long as its owner.
    let tensor = unsafe { &*tensor };
    if !matches!(tensor.device.kind, DEVICE_CUDA | DEVICE_CUDA_HOST | DEVICE_CUDA_MANAGED) {
        return Err(PyBufferError::new_err(format!(
            "the tensor is on a device of DLPack type {}; expected CUDA ({DEVICE_CUDA})",
            tensor.device.kind
        )));
    }
    let dtype = dtype_of_dlpack_type(&tensor.dtype)?;
    let ndim = usize::try_from(tensor.ndim).unwrap_or(0);
    // SAFETY: the tensor says how many lengths there are.
    let shape: Vec<usize> = (0..ndim).map(|k| unsafe { *tensor.shape.add(k) }.max(0) as usize).collect();
    let mut layout = Layout::contiguous(&shape, dtype.itemsize(), Order::C);
    if !tensor.strides.is_null() {
        let item = dtype.itemsize() as isize;
        // SAFETY: the tensor says how many strides there are.
        layout.strides = (0..ndim).map(|k| unsafe { *tensor.strides.add(k) } as isize * item).collect();
    }
    let ptr = tensor.data.expose_provenance() as u64 + tensor.byte_offset;
    let buffer: Option<Arc<dyn ArrayBuffer>> =
        (layout.size() > 0).then(|| ForeignBuffer::from_address(ptr, owner.into_any()));
    array_inside_memory("DLPack tensor", &array_context()?, buffer, layout, dtype).map(PyGpuArray::from_array)
}

#[pymethods]
impl PyGpuArray {
    /// A DLPack capsule over this memory, or over a host copy if `dl_device` is the host.
    ///
    /// Work in `stream` starts only after earlier work on the array (None or 1: the legacy default stream; 2: the
    /// per-thread one; -1: no synchronisation, unless `rtcg.exports_wait`). Does not wait otherwise, except for memory
    /// of the virtual GPU that is exported to the host without a copy. Raises an error that is both a `BufferError` and
    /// a `NotImplementedError` for what DLPack cannot express: records, and strides that are no multiples of the item
    /// size.
    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__<'py>(
        slf: &Bound<'py, Self>,
        stream: Option<i64>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let array = &slf.get().current_state().array;
        let own = Self::__dlpack_device__(slf.get())?;
        if let Some((DEVICE_CPU, _)) = dl_device {
            if copy == Some(false) && slf.get().own_device()?.is_virtual() {
                slf.get().wait_for_pending_work(py)?;
                let versioned = max_version.is_some_and(|version| version.0 >= 1);
                return export_capsule(py, array, (DEVICE_CPU, 0), versioned);
            }
            if copy == Some(false) {
                return Err(PyBufferError::new_err("a device array cannot be exported to the host without a copy"));
            }
            let kwargs = PyDict::new(py);
            if let Some(version) = max_version {
                kwargs.set_item("max_version", version)?;
            }
            return slf.get().to_host(py)?.call_method("__dlpack__", (), Some(&kwargs));
        }
        if let Some(device) = dl_device.filter(|device| *device != own) {
            return Err(PyBufferError::new_err(format!("cannot export to device {device:?}; the array is on {own:?}")));
        }
        match (stream, slf.get().pending_stream()?) {
            (_, None) => {}
            (Some(-1), Some(pending)) if exports_wait() => py.detach(|| pending.synchronize()).or_raise()?,
            (Some(-1), Some(pending)) => report_unordered_export(py, array, &pending),
            (consumer, Some(pending)) => order_consumer(py, consumer.unwrap_or(1), &pending)?,
        }
        let shared = if copy == Some(true) { to_py_result(py, array.copy(None))? } else { array.clone() };
        export_capsule(py, &shared, own, max_version.is_some_and(|version| version.0 >= 1))
    }

    fn __dlpack_device__(&self) -> PyResult<(i32, i32)> {
        Ok((DEVICE_CUDA, self.own_device()?.ordinal() as i32))
    }
}

impl PyGpuArray {
    /// The device that the array is on, whichever is current.
    pub(super) fn own_device(&self) -> PyResult<rtcg::driver::Device> {
        device_of_arrays(self.current_state().array.context())
    }
}

/// An array made from a host array, for DLPack capsules of host memory.
#[pyfunction]
fn array_from_host<'py>(host: &Bound<'py, PyUntypedArray>) -> PyResult<PyGpuArray> {
    upload_host_array(&array_context()?, host).map(PyGpuArray::from_array)
}

pub(super) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(array_from_dlpack, m)?)?;
    m.add_function(wrap_pyfunction!(set_exports_wait, m)?)?;
    m.add_function(wrap_pyfunction!(context_after_pending_work, m)?)?;
    m.add_function(wrap_pyfunction!(array_from_host, m)?)
}
