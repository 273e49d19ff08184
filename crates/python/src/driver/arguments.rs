//! Arguments of a direct call: the bytes of each, by what kind of object it is.

use crate::driver::memory::{PyDeviceAllocation, PyManagedAllocation};
use crate::errors::{OrRaise, driver_error};
use crate::host_buffer::HostBuffer;
use crate::pointer::{DevicePtr, own_memory};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, npyffi};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi::PyTypeObject;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};
use rtcg::driver::{ArgPacker, Function, PackedArgs};

/// Classes that arguments are recognised by.
struct Classes {
    /// NumPy's fixed-size scalar types with their sizes.
    scalars: Vec<(usize, usize)>,
    generic: Py<PyType>,
    handler: Py<PyType>,
}

static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();

const SCALAR_TYPES: [&str; 20] = [
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "bool_",
    "intp",
    "uintp",
    "longlong",
    "ulonglong",
    "intc",
    "uintc",
];

fn classes(py: Python<'_>) -> PyResult<&Classes> {
    CLASSES.get_or_try_init(py, || {
        let numpy = py.import("numpy")?;
        let mut scalars = Vec::new();
        for name in SCALAR_TYPES {
            let class = numpy.getattr(name)?.cast_into::<PyType>()?;
            let size = numpy.getattr("dtype")?.call1((&class,))?.getattr("itemsize")?.extract()?;
            scalars.push((class.as_type_ptr().addr(), size));
        }
        let generic = numpy.getattr("generic")?.cast_into::<PyType>()?.unbind();
        let handler = py.import("pycuda.driver")?.getattr("ArgumentHandler")?.cast_into::<PyType>()?.unbind();
        Ok(Classes { scalars, generic, handler })
    })
}

impl Classes {
    fn scalar_size(&self, class: *const PyTypeObject) -> Option<usize> {
        self.scalars.iter().find(|(known, _)| *known == class.addr()).map(|(_, size)| *size)
    }
}

/// Packed arguments, and those that want to be called before and after the launch.
pub(crate) struct Packed<'py> {
    pub(crate) bytes: PackedArgs,
    pub(crate) handlers: Vec<Bound<'py, PyAny>>,
}

/// Packs all arguments and checks them against the kernel's parameters.
pub(crate) fn pack<'py>(function: &Function, args: &Bound<'py, PyTuple>) -> PyResult<Packed<'py>> {
    let classes = classes(args.py())?;
    let mut packer = function.args();
    let mut handlers = Vec::new();
    for (index, arg) in args.iter_borrowed().enumerate() {
        push(&mut packer, classes, index, &arg, &mut handlers)?;
    }
    Ok(Packed { bytes: packer.pack().or_raise()?, handlers })
}

/// An error about an argument, with what was given added to what the core knows.
#[cold]
fn wrong_argument(error: rtcg::driver::Error, arg: &Bound<'_, PyAny>) -> PyErr {
    let detail = error.detail.clone().unwrap_or_default();
    driver_error(error.with_detail(format!("{detail}; it is {}", describe(arg))))
}

/// An object for a message: its type, and its value when that is short.
fn describe(object: &Bound<'_, PyAny>) -> String {
    let name = object.get_type().name().map_or_else(|_| "?".to_string(), |name| name.to_string());
    match object.repr().map(|text| text.to_string()) {
        Ok(text) if text.len() <= 60 => format!("{text} (of type {name})"),
        _ => format!("of type {name}"),
    }
}

fn push<'py>(
    packer: &mut ArgPacker<'_>,
    classes: &Classes,
    index: usize,
    arg: &Bound<'py, PyAny>,
    handlers: &mut Vec<Bound<'py, PyAny>>,
) -> PyResult<()> {
    if let Some(size) = classes.scalar_size(arg.get_type_ptr()) {
        return push_scalar(packer, arg, size);
    }
    if let Ok(memory) = arg.cast::<PyDeviceAllocation>() {
        return push_pointer(packer, arg, memory.get().ptr()?);
    }
    let py = arg.py();
    if arg.is_instance(classes.handler.bind(py))? {
        let memory: DevicePtr = arg.call_method0("get_device_alloc")?.extract()?;
        handlers.push(arg.clone());
        return push_pointer(packer, arg, memory.0);
    }
    if let Ok(array) = arg.cast::<PyUntypedArray>() {
        return push_array(packer, index, array);
    }
    if arg.is_instance(classes.generic.bind(py))? {
        return push_bytes_of(packer, arg);
    }
    match pointer_of(arg)? {
        Some(address) => push_pointer(packer, arg, address),
        None => Err(invalid_type(index, arg)),
    }
}

fn push_pointer(packer: &mut ArgPacker<'_>, arg: &Bound<'_, PyAny>, address: u64) -> PyResult<()> {
    packer.push(&address.to_ne_bytes(), 8).map_err(|error| wrong_argument(error, arg))
}

/// A NumPy scalar of at most 16 bytes.
fn push_scalar(packer: &mut ArgPacker<'_>, scalar: &Bound<'_, PyAny>, size: usize) -> PyResult<()> {
    let mut value = [0u64; 2];
    // SAFETY: the object is one of the scalar types of 16 bytes or less, so its C value fits.
    let bytes = unsafe {
        npyffi::PY_ARRAY_API.PyArray_ScalarAsCtype(scalar.py(), scalar.as_ptr(), value.as_mut_ptr().cast());
        std::slice::from_raw_parts(value.as_ptr().cast::<u8>(), size)
    };
    packer.push(bytes, size.min(8)).map_err(|error| wrong_argument(error, scalar))
}

/// A structured or other unusual scalar: its bytes by value.
fn push_bytes_of(packer: &mut ArgPacker<'_>, scalar: &Bound<'_, PyAny>) -> PyResult<()> {
    let dtype = scalar.getattr("dtype")?.cast_into::<PyArrayDescr>()?;
    let bytes: Vec<u8> = scalar.call_method0("tobytes")?.extract()?;
    packer.push(&bytes, dtype.alignment()).map_err(|error| wrong_argument(error, scalar))
}

/// An array: a pointer if it lies in managed memory, else its bytes by value.
fn push_array(packer: &mut ArgPacker<'_>, index: usize, array: &Bound<'_, PyUntypedArray>) -> PyResult<()> {
    use numpy::PyUntypedArrayMethods;
    let buffer = HostBuffer::of(array, &format!("parameter #{index} (0-based)"))?;
    if is_managed(array)? {
        return push_pointer(packer, array, buffer.as_ptr().addr() as u64);
    }
    // SAFETY: the array is alive while its bytes are copied, with the interpreter held.
    let bytes = unsafe { buffer.bytes() };
    packer.push(bytes, array.dtype().alignment()).map_err(|error| wrong_argument(error, array))
}

/// Whether an array, or the array that it is a view of, lies in managed memory.
fn is_managed(array: &Bound<'_, PyUntypedArray>) -> PyResult<bool> {
    let mut base = array.getattr("base")?;
    while let Ok(array) = base.cast::<PyUntypedArray>() {
        base = array.getattr("base")?;
    }
    Ok(base.cast::<PyManagedAllocation>().is_ok())
}

/// The device address of an array of any library, or of a holder of a pointer.
fn pointer_of(arg: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
    if let Ok(interface) = arg.getattr("__cuda_array_interface__") {
        let interface = interface.cast_into::<PyDict>()?;
        let data =
            interface.get_item("data")?.ok_or_else(|| PyTypeError::new_err("the array interface has no data"))?;
        return Ok(Some(data.get_item(0)?.extract::<Option<u64>>()?.unwrap_or(0)));
    }
    if let Ok(memory) = arg.getattr("gpudata") {
        return if memory.is_none() { Ok(Some(0)) } else { Ok(Some(memory.extract::<DevicePtr>()?.0)) };
    }
    if let Some((address, _)) = own_memory(arg)? {
        return Ok(Some(address));
    }
    if arg.hasattr("get_pointer")? { arg.extract::<DevicePtr>().map(|ptr| Some(ptr.0)) } else { Ok(None) }
}

fn invalid_type(index: usize, arg: &Bound<'_, PyAny>) -> PyErr {
    let kind = arg.get_type().name().map_or_else(|_| "?".to_string(), |name| name.to_string());
    PyTypeError::new_err(format!(
        "invalid type on parameter #{index} (0-based): got {kind}; expected a NumPy scalar such as numpy.int32(...), \
         a device allocation, an array on the device, or In/Out/InOut"
    ))
}
