//! Arrays of other libraries that offer DLPack only.
//!
//! Only the address is taken: the capsule stays with its owner, so nothing is consumed.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use std::ffi::c_void;

/// The beginning of the C structure `DLTensor`.
#[repr(C)]
struct DlTensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    n_dims: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// What a kernel needs to know of a tensor.
pub(crate) struct DlpackPointer {
    pub(crate) address: u64,
    /// NumPy's letter; a blank for what NumPy lacks.
    pub(crate) kind: char,
    pub(crate) itemsize: usize,
}

const DEVICE_CUDA: i32 = 2;
const DEVICE_CUDA_HOST: i32 = 3;
const DEVICE_CUDA_MANAGED: i32 = 13;

/// The tensor behind `object.__dlpack__()` if the device reaches it, and the capsule that must live
/// as long as the address is used; `None` if there is no such method.
pub(crate) fn import_device_tensor<'py>(
    object: &Bound<'py, PyAny>,
) -> PyResult<Option<(DlpackPointer, Bound<'py, PyAny>)>> {
    let (Ok(export), Ok(device)) = (object.getattr("__dlpack__"), object.getattr("__dlpack_device__")) else {
        return Ok(None);
    };
    let (kind, _): (i32, i32) = device.call0()?.extract()?;
    if ![DEVICE_CUDA, DEVICE_CUDA_HOST, DEVICE_CUDA_MANAGED].contains(&kind) {
        return Err(PyTypeError::new_err(format!(
            "an array by DLPack is not on a CUDA device (its device type is {kind}); copy it there first"
        )));
    }
    let options = PyDict::new(object.py());
    if kind == DEVICE_CUDA {
        // The legacy default stream: what was queued before is waited for.
        options.set_item("stream", 1)?;
    }
    let capsule = export.call((), Some(&options))?;
    let pointer = capsule.cast::<PyCapsule>()?.pointer_checked(Some(c"dltensor"))?;
    // SAFETY: a capsule of this name points to a structure that begins with a `DLTensor`.
    let tensor = unsafe { pointer.cast::<DlTensor>().as_ref() };
    let letter = ['i', 'u', 'f', ' ', ' ', 'c', 'b'].get(usize::from(tensor.code)).copied().unwrap_or(' ');
    let kind = if tensor.lanes == 1 { letter } else { ' ' };
    let address = (tensor.data.addr() as u64).wrapping_add(tensor.byte_offset);
    Ok(Some((DlpackPointer { address, kind, itemsize: usize::from(tensor.bits) / 8 }, capsule)))
}
