//! Arguments of a direct call: the bytes and the type of each, by what kind of object it is.

use crate::array_interface::unmasked_interface;
use crate::array_object::PyGpuArray;
use crate::driver::fastcall::{PositionalArgs, object_pointers};
use crate::driver::launch::dlpack;
use crate::driver::memory::device_pointer::{DevicePtr, address_of_rtcg_memory};
use crate::driver::memory::{PyDeviceAllocation, PyManagedAllocation};
use crate::errors::{LogicError, array_error, driver_error};
use crate::host_buffer::{HostBuffer, refuse_object_dtype};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods, npyffi};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyUserWarning};
use pyo3::ffi::PyTypeObject;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyComplex, PyComplexMethods, PyDict, PyFloat, PyInt, PyString, PyTuple, PyType};
use rtcg::array::ConversionError;
use rtcg::array::{DType, Layout, PythonTuple};
use rtcg::driver::signature::{GivenArgument, ParamKind};
use rtcg::driver::{ArgPacker, Function, PackedArgs, WeakScalar, lock_ignoring_poison};
use std::collections::BTreeSet;
use std::sync::Mutex;

/// A NumPy scalar type of fixed size.
struct ScalarType {
    class: usize,
    nbytes: usize,
    number: DType,
    /// Where the value lies in the object; `None` where that could not be made sure.
    offset: Option<usize>,
}

/// NumPy's classes that arguments are recognised by.
struct NumpyClasses {
    scalars: Vec<ScalarType>,
    generic: Py<PyType>,
}

static NUMPY_CLASSES: PyOnceLock<NumpyClasses> = PyOnceLock::new();
static ARGUMENT_HANDLER: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// The commonest first.
const SCALAR_TYPES: [&str; 20] = [
    "int32",
    "float32",
    "uint32",
    "int64",
    "float64",
    "uint64",
    "intp",
    "uintp",
    "int8",
    "int16",
    "uint8",
    "uint16",
    "float16",
    "complex64",
    "complex128",
    "bool_",
    "longlong",
    "ulonglong",
    "intc",
    "uintc",
];

/// NumPy's classes; `None` while nobody has imported it, when no argument can be of one of them.
#[inline]
fn numpy_classes(py: Python<'_>) -> PyResult<Option<&NumpyClasses>> {
    match NUMPY_CLASSES.get(py) {
        Some(classes) => Ok(Some(classes)),
        None => numpy_classes_if_imported(py),
    }
}

#[cold]
fn numpy_classes_if_imported(py: Python<'_>) -> PyResult<Option<&NumpyClasses>> {
    let modules = py.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?;
    // One that is being imported has no classes yet.
    let Some(generic) = modules.get_item("numpy")?.and_then(|numpy| numpy.getattr("generic").ok()) else {
        return Ok(None);
    };
    let make = || {
        let numpy = py.import("numpy")?;
        let scalars = SCALAR_TYPES.iter().map(|name| scalar_type(&numpy.getattr(*name)?)).collect::<PyResult<_>>()?;
        Ok::<_, PyErr>(NumpyClasses { scalars, generic: generic.cast_into::<PyType>()?.unbind() })
    };
    NUMPY_CLASSES.get_or_try_init(py, make).map(Some)
}

/// The base of NumPy's scalar types; `None` while nobody has imported it.
pub(crate) fn numpy_generic(py: Python<'_>) -> PyResult<Option<&Bound<'_, PyType>>> {
    Ok(numpy_classes(py)?.map(|classes| classes.generic.bind(py)))
}

/// An array of NumPy's. Unlike a cast this does not import it.
fn as_numpy_array<'a, 'py>(object: &'a Bound<'py, PyAny>) -> Option<&'a Bound<'py, PyUntypedArray>> {
    numpy_classes(object.py()).ok()??;
    object.cast::<PyUntypedArray>().ok()
}

/// What an argument is that is a scalar of NumPy's whose value lies right behind the object's head.
#[derive(Clone, Copy)]
pub(crate) struct NumpyScalar {
    pub(crate) nbytes: usize,
    pub(crate) number: DType,
}

/// Says of a scalar of NumPy's what it is.
pub(crate) fn numpy_scalar(object: &Bound<'_, PyAny>) -> Option<NumpyScalar> {
    let scalar = numpy_classes(object.py()).ok()??.scalar_type_of(object.get_type_ptr())?;
    scalar.offset.filter(|offset| *offset == size_of::<pyo3::ffi::PyObject>())?;
    Some(NumpyScalar { nbytes: scalar.nbytes, number: scalar.number })
}

fn scalar_type(class: &Bound<'_, PyAny>) -> PyResult<ScalarType> {
    let dtype = PyArrayDescr::new(class.py(), class)?;
    let number =
        number_type_of_dtype(&dtype).ok_or_else(|| PyTypeError::new_err("a NumPy scalar type is of no known kind"))?;
    let offset = scalar_value_offset(class)?;
    Ok(ScalarType { class: class.as_ptr().addr(), nbytes: dtype.itemsize(), number, offset })
}

/// NumPy keeps a scalar's value right behind the object's head. An example makes sure of that.
fn scalar_value_offset(class: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    let offset = size_of::<pyo3::ffi::PyObject>();
    let example = class.call1((1,))?;
    let expected: Vec<u8> = example.call_method0("tobytes")?.extract()?;
    let basic: usize = class.getattr("__basicsize__")?.extract()?;
    if basic < offset + expected.len() || size_of::<usize>() != 8 {
        return Ok(None);
    }
    // SAFETY: the object has `basic` bytes, which are more than these.
    let found = unsafe { std::slice::from_raw_parts(example.as_ptr().byte_add(offset).cast::<u8>(), expected.len()) };
    Ok((found == expected).then_some(offset))
}

/// The number that a dtype is, if it is one that C has.
pub(crate) fn number_type_of_dtype(dtype: &Bound<'_, PyArrayDescr>) -> Option<DType> {
    number_type_of_kind(dtype.kind() as char, dtype.itemsize()).or_else(|| {
        let is_bfloat = dtype.itemsize() == 2 && dtype.to_string() == "bfloat16";
        is_bfloat.then_some(DType::BF16)
    })
}

/// The number with NumPy's kind letter and size.
fn number_type_of_kind(kind: char, size: usize) -> Option<DType> {
    DType::from_numpy(kind, size).ok()?.number()
}

impl NumpyClasses {
    #[inline]
    fn scalar_type_of(&self, class: *const PyTypeObject) -> Option<&ScalarType> {
        self.scalars.iter().find(|known| known.class == class.addr())
    }
}

/// Packed arguments.
pub(crate) struct PackedArguments {
    pub(crate) bytes: PackedArgs,
}

/// Packs all arguments and checks them against the kernel's parameters, without a launch.
pub(crate) fn pack_arguments(function: &Function, args: &Bound<'_, PyTuple>) -> PyResult<PackedArguments> {
    let items = object_pointers(args);
    let mut packer = function.arg_packer();
    // SAFETY: the tuple holds the objects.
    let args = unsafe { PositionalArgs::new(args.py(), &items) };
    PyArgumentPacker::new(function, &mut packer).pack_all(args)?;
    Ok(PackedArguments { bytes: packer.into_packed_args().map_err(driver_error)? })
}

/// What arguments need beside their bytes.
#[derive(Default)]
pub(crate) struct ArgumentResources<'py> {
    /// Those that want to be called before and after the launch.
    pub(crate) handlers: Vec<Bound<'py, PyAny>>,
    /// What must live until the launch.
    held: Vec<Bound<'py, PyAny>>,
}

/// Arguments while they are packed.
pub(crate) struct PyArgumentPacker<'p, 'f, 'py> {
    function: &'f Function,
    packer: &'p mut ArgPacker<'f>,
    extras: ArgumentResources<'py>,
}

impl<'p, 'f, 'py> PyArgumentPacker<'p, 'f, 'py> {
    pub(crate) fn new(function: &'f Function, packer: &'p mut ArgPacker<'f>) -> Self {
        Self { function, packer, extras: ArgumentResources::default() }
    }

    /// Packs all arguments.
    #[inline]
    pub(crate) fn pack_all(mut self, args: PositionalArgs<'_, 'py>) -> PyResult<ArgumentResources<'py>> {
        let numpy = numpy_classes(args.py())?;
        for (index, arg) in args.iter_args().enumerate() {
            if let Ok(memory) = arg.cast_exact::<PyDeviceAllocation>() {
                let address =
                    memory.get().ptr().map_err(|error| with_parameter_name(self.function, index, &arg, error))?;
                self.put_pointer(index, &arg, address, None)?;
            } else if let Some(scalar) = numpy.and_then(|numpy| numpy.scalar_type_of(arg.get_type_ptr())) {
                self.put_scalar(index, &arg, scalar)?;
            } else {
                self.put_general_argument(index, &arg)?;
            }
        }
        Ok(self.extras)
    }

    #[inline]
    fn put_argument(
        &mut self,
        index: usize,
        arg: &Bound<'py, PyAny>,
        bytes: &[u8],
        align: usize,
        given: GivenArgument,
    ) -> PyResult<()> {
        let Err(error) = self.packer.push_typed_argument(bytes, align, given) else { return Ok(()) };
        match self.function.reinterpret_mismatched(index, given).filter(|_| !rtcg::argument_types_are_strict()) {
            Some(untyped) if self.packer.push_typed_argument(bytes, align, untyped).is_ok() => {
                warn_type_mismatch(self.function, index, arg)
            }
            _ => Err(argument_error(self.function, index, error, arg, given)),
        }
    }

    #[inline]
    fn put_pointer(&mut self, index: usize, arg: &Bound<'py, PyAny>, address: u64, of: Option<DType>) -> PyResult<()> {
        self.put_argument(index, arg, &address.to_ne_bytes(), 8, GivenArgument::Pointer(of))
    }

    /// A NumPy scalar of at most 16 bytes.
    #[inline]
    fn put_scalar(&mut self, index: usize, scalar: &Bound<'py, PyAny>, kind: &ScalarType) -> PyResult<()> {
        let mut value = [0u64; 2];
        // SAFETY: the object is a scalar of this type, whose value of at most 16 bytes lies there, or
        // is copied by NumPy.
        let bytes = unsafe {
            let start = match kind.offset {
                Some(offset) => scalar.as_ptr().byte_add(offset).cast::<u8>(),
                None => {
                    let (py, target) = (scalar.py(), value.as_mut_ptr().cast());
                    npyffi::PY_ARRAY_API.PyArray_ScalarAsCtype(py, scalar.as_ptr(), target);
                    value.as_ptr().cast_mut().cast::<u8>()
                }
            };
            std::slice::from_raw_parts(start, kind.nbytes)
        };
        self.put_argument(index, scalar, bytes, kind.nbytes.min(8), GivenArgument::Value(kind.number))
    }

    fn put_general_argument(&mut self, index: usize, arg: &Bound<'py, PyAny>) -> PyResult<()> {
        let py = arg.py();
        if let Ok(array) = arg.cast::<PyGpuArray>() {
            let array = &array.get().current_state().array;
            array
                .check_memory()
                .map_err(|error| with_parameter_name(self.function, index, arg, array_error(py, error)))?;
            if array.layout().order(array.itemsize()).is_none() {
                report_strided_array(self.function, index, arg, array.shape(), array.strides())?;
            }
            return self.put_pointer(index, arg, array.device_ptr().unwrap_or(0), array.dtype().number());
        }
        if let Ok(memory) = arg.cast::<PyDeviceAllocation>() {
            let address = memory.get().ptr().map_err(|error| with_parameter_name(self.function, index, arg, error))?;
            return self.put_pointer(index, arg, address, None);
        }
        if arg.is_instance(ARGUMENT_HANDLER.import(py, "rtcg.driver", "ArgumentHandler")?)? {
            return self.put_argument_handler(index, arg);
        }
        if let Some(array) = as_numpy_array(arg) {
            return self.put_host_array(index, array);
        }
        if let Some(generic) = numpy_generic(py)?
            && arg.is_instance(generic)?
        {
            return self.put_structured_scalar(index, arg);
        }
        if let Some(value) = weak_scalar(arg)? {
            return self.put_weak_scalar(index, arg, value);
        }
        if let Some((bytes, number)) = bytes_like(arg)? {
            let given = number.map_or(GivenArgument::Bytes, GivenArgument::Value);
            return self.put_argument(index, arg, &bytes, bytes.len().clamp(1, 8), given);
        }
        match self.extract_device_pointer(index, arg) {
            Err(error) if error.is_instance_of::<LogicError>(py) => {
                Err(with_parameter_name(self.function, index, arg, error))
            }
            Err(error) => Err(error),
            Ok(Some((address, number))) => self.put_pointer(index, arg, address, number),
            Ok(None) => Err(invalid_type_error(self.function, index, arg)),
        }
    }

    /// `In`, `Out`, `InOut` and classes of users.
    fn put_argument_handler(&mut self, index: usize, arg: &Bound<'py, PyAny>) -> PyResult<()> {
        let array = arg.getattr("array").ok();
        let array = array.as_ref().and_then(as_numpy_array);
        if let Some(array) = array {
            refuse_object_dtype(&array.dtype(), &format!("parameter #{index} (0-based)"))?;
        }
        let number = array.and_then(|array| number_type_of_dtype(&array.dtype()));
        // Refused before memory is allocated for it.
        let given = GivenArgument::Pointer(number);
        let is_taken =
            || !rtcg::argument_types_are_strict() && self.function.reinterpret_mismatched(index, given).is_some();
        if self.function.check_argument_type(index, given).is_err() && !is_taken() {
            return Err(wrong_type_error(self.function, index, arg, &describe_array_dtype(array)));
        }
        let memory: DevicePtr = arg.call_method0("get_device_alloc")?.extract()?;
        self.extras.handlers.push(arg.clone());
        self.put_pointer(index, arg, memory.0, number)
    }

    /// A structured or other unusual scalar: its bytes by value.
    fn put_structured_scalar(&mut self, index: usize, scalar: &Bound<'py, PyAny>) -> PyResult<()> {
        let dtype = scalar.getattr("dtype")?.cast_into::<PyArrayDescr>()?;
        refuse_object_dtype(&dtype, &format!("parameter #{index} (0-based)"))?;
        let bytes: Vec<u8> = scalar.call_method0("tobytes")?.extract()?;
        let given = number_type_of_dtype(&dtype).map_or(GivenArgument::Bytes, GivenArgument::Value);
        self.put_argument(index, scalar, &bytes, dtype.alignment(), given)
    }

    /// An array of the host: a pointer if it lies in managed memory, else its bytes by value.
    fn put_host_array(&mut self, index: usize, array: &Bound<'py, PyUntypedArray>) -> PyResult<()> {
        let buffer = HostBuffer::from_object(array, &format!("parameter #{index} (0-based)"))?;
        let dtype = array.dtype();
        let number = number_type_of_dtype(&dtype);
        if is_managed_array(array)? {
            return self.put_pointer(index, array, buffer.as_ptr().addr() as u64, number);
        }
        let is_address = matches!(number, Some(DType::I64 | DType::U64)) && buffer.nbytes() == 8;
        let is_pointer =
            self.function.param_declaration(index).is_some_and(|d| matches!(d.kind, ParamKind::Pointer(_)));
        if is_pointer && !is_address {
            let given = describe_array_dtype(Some(array));
            return Err(wrong_type_error(self.function, index, array, &format!("{given}{HOST_MEMORY_HINT}")));
        }
        // SAFETY: the array is alive while its bytes are copied, with the interpreter held.
        let bytes = unsafe { buffer.as_bytes() };
        let given =
            number.filter(|number| number.itemsize() == bytes.len()).map_or(GivenArgument::Bytes, GivenArgument::Value);
        self.put_argument(index, array, bytes, dtype.alignment(), given)
    }

    /// A number of Python's, in the type that the kernel declares.
    fn put_weak_scalar(&mut self, index: usize, arg: &Bound<'py, PyAny>, value: WeakScalar) -> PyResult<()> {
        let Some(declared) = self.function.param_declaration(index) else {
            return Err(invalid_type_error(self.function, index, arg));
        };
        match declared.kind.convert_number(value) {
            Ok(bytes) => self.put_argument(index, arg, &bytes, bytes.len().min(8), GivenArgument::Bytes),
            Err(ConversionError::Value) if !matches!(value, WeakScalar::Float(x) if x.is_finite() && x.abs() < 1e20) => {
                let text = format!("{} cannot be {}", self.function.describe_parameter(index), describe_object(arg));
                Err(PyOverflowError::new_err(text))
            }
            Err(_) if matches!((value, declared.kind), (WeakScalar::Int(_), ParamKind::Pointer(_))) => {
                let given = format!("{}; an address is passed as numpy.intp(...)", describe_object(arg));
                Err(wrong_type_error(self.function, index, arg, &given))
            }
            Err(_) => Err(wrong_type_error(self.function, index, arg, &describe_object(arg))),
        }
    }

    /// The device address of an array of any library, or of a holder of a pointer.
    fn extract_device_pointer(
        &mut self,
        index: usize,
        arg: &Bound<'py, PyAny>,
    ) -> PyResult<Option<(u64, Option<DType>)>> {
        if let Ok(interface) = arg.getattr("__cuda_array_interface__") {
            let interface = unmasked_interface(interface)?;
            self.check_interface_strides(index, arg, &interface)?;
            return cuda_array_interface_pointer(&interface).map(Some);
        }
        if let Ok(memory) = arg.getattr("gpudata") {
            let address = if memory.is_none() { 0 } else { memory.extract::<DevicePtr>()?.0 };
            return Ok(Some((address, None)));
        }
        if let Some((tensor, capsule)) = dlpack::import_device_tensor(arg)? {
            self.extras.held.push(capsule);
            return Ok(Some((tensor.address, number_type_of_kind(tensor.kind, tensor.itemsize))));
        }
        if let Some((address, _)) = address_of_rtcg_memory(arg)? {
            return Ok(Some((address, None)));
        }
        if arg.hasattr("get_pointer")? { arg.extract::<DevicePtr>().map(|ptr| Some((ptr.0, None))) } else { Ok(None) }
    }

    /// Reports an array of another library that is contiguous in no order.
    fn check_interface_strides(
        &self,
        index: usize,
        arg: &Bound<'py, PyAny>,
        interface: &Bound<'py, PyDict>,
    ) -> PyResult<()> {
        let Some(strides) = interface.get_item("strides")?.filter(|strides| !strides.is_none()) else { return Ok(()) };
        let item = |name| interface.get_item(name).ok().flatten();
        let shape = item("shape").and_then(|shape| shape.extract::<Vec<usize>>().ok());
        let typestr = item("typestr").and_then(|text| text.extract::<String>().ok()).unwrap_or_default();
        let itemsize = typestr.get(2..).and_then(|digits| digits.parse::<usize>().ok());
        let (Some(shape), Ok(strides), Some(itemsize)) = (shape, strides.extract::<Vec<isize>>(), itemsize) else {
            return Ok(());
        };
        let layout = Layout { shape: shape.as_slice().into(), strides: strides.as_slice().into(), offset: 0 };
        if shape.len() != strides.len() || layout.order(itemsize).is_some() {
            return Ok(());
        }
        report_strided_array(self.function, index, arg, &shape, &strides)
    }
}

const HOST_MEMORY_HINT: &str = ", which is not on the device; use rtcg.driver.In, Out or InOut of it, or copy it with \
                           rtcg.driver.to_device or rtcg.numpy.to_gpu";

/// Address and element type by the array interface.
fn cuda_array_interface_pointer(interface: &Bound<'_, PyDict>) -> PyResult<(u64, Option<DType>)> {
    let data = interface.get_item("data")?.ok_or_else(|| PyTypeError::new_err("the array interface has no data"))?;
    let address = data.get_item(0)?.extract::<Option<u64>>()?.unwrap_or(0);
    let typestr = interface.get_item("typestr")?.and_then(|text| text.extract::<String>().ok()).unwrap_or_default();
    let mut letters = typestr.get(1..).unwrap_or_default().chars();
    let number = letters.next().and_then(|kind| number_type_of_kind(kind, letters.as_str().parse().ok()?));
    Ok((address, number))
}

/// A number of Python's own types.
fn weak_scalar(arg: &Bound<'_, PyAny>) -> PyResult<Option<WeakScalar>> {
    if let Ok(value) = arg.cast::<PyBool>() {
        return Ok(Some(WeakScalar::Bool(value.is_true())));
    }
    if arg.cast::<PyInt>().is_ok() {
        let small = arg.extract::<i64>().map(i128::from).or_else(|_| arg.extract::<u64>().map(i128::from));
        // A larger one fits no type, and its sign does not matter.
        return Ok(Some(WeakScalar::Int(small.unwrap_or(i128::MAX))));
    }
    if let Ok(value) = arg.cast::<PyFloat>() {
        return Ok(Some(WeakScalar::Float(value.value())));
    }
    if let Ok(value) = arg.cast::<PyComplex>() {
        return Ok(Some(WeakScalar::Complex(value.real(), value.imag())));
    }
    Ok(None)
}

/// The bytes of `struct.pack`, and of values of ctypes.
fn bytes_like(arg: &Bound<'_, PyAny>) -> PyResult<Option<(Vec<u8>, Option<DType>)>> {
    if let Ok(bytes) = arg.cast::<PyBytes>() {
        return Ok(Some((bytes.as_bytes().to_vec(), None)));
    }
    let py = arg.py();
    let Some(ctypes) = py.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?.get_item("_ctypes")? else {
        return Ok(None);
    };
    for name in ["_SimpleCData", "Structure", "Union", "Array"] {
        if arg.is_instance(&ctypes.getattr(name)?)? {
            let buffer = HostBuffer::from_object(arg, "the argument")?;
            // SAFETY: the object is alive while its bytes are copied, with the interpreter held.
            let bytes = unsafe { buffer.as_bytes() }.to_vec();
            let letter = arg.getattr("_type_").ok().filter(|_| name == "_SimpleCData");
            let number = letter.and_then(|letter| number_type_of_ctypes_letter(&letter.extract::<String>().ok()?));
            return Ok(Some((bytes, number)));
        }
    }
    Ok(None)
}

/// The number that ctypes means by a letter.
fn number_type_of_ctypes_letter(letter: &str) -> Option<DType> {
    Some(match letter {
        "?" => DType::Bool,
        "b" => DType::I8,
        "B" => DType::U8,
        "h" => DType::I16,
        "H" => DType::U16,
        "i" => DType::I32,
        "I" => DType::U32,
        "l" | "q" => DType::I64,
        "L" | "Q" | "P" => DType::U64,
        "f" => DType::F32,
        "d" => DType::F64,
        _ => return None,
    })
}

/// Whether an array, or the array that it is a view of, lies in managed memory.
fn is_managed_array(array: &Bound<'_, PyUntypedArray>) -> PyResult<bool> {
    let mut base = array.getattr("base")?;
    while let Ok(array) = base.cast::<PyUntypedArray>() {
        base = array.getattr("base")?;
    }
    Ok(base.cast::<PyManagedAllocation>().is_ok())
}

/// An error about an argument, with what was given added to what the core knows.
#[cold]
fn argument_error(
    function: &Function,
    index: usize,
    error: rtcg::driver::Error,
    arg: &Bound<'_, PyAny>,
    given: GivenArgument,
) -> PyErr {
    let is_array = as_numpy_array(arg).is_some();
    if !is_array
        && function.check_argument_type(index, given).is_err()
        && function.params().is_none_or(|p| index < p.len())
    {
        let size = match given {
            GivenArgument::Value(number) => number.itemsize(),
            _ => 8,
        };
        if function.param_declaration(index).is_some_and(|d| d.kind.nbytes().is_none_or(|n| n == size)) {
            return wrong_type_error(function, index, arg, &describe_object(arg));
        }
    }
    let detail = error.detail.clone().unwrap_or_default();
    let hint = match function.param_declaration(index).map(|declaration| declaration.kind) {
        _ if is_array => HOST_MEMORY_HINT.to_owned(),
        Some(ParamKind::Value(number)) if matches!(given, GivenArgument::Value(_)) => number_hint(number),
        _ => String::new(),
    };
    driver_error(error.with_detail(format!("{detail}; it is {}{hint}", describe_object(arg))))
}

/// What to pass for a number of this type.
fn number_hint(number: DType) -> String {
    numpy_name(number).map_or_else(String::new, |name| format!("; pass numpy.{name}(...) or a Python number"))
}

/// NumPy's name of a type, if it has one.
fn numpy_name(number: DType) -> Option<&'static str> {
    match number {
        DType::Bool => Some("bool_"),
        DType::BF16 | DType::Void(_) => None,
        other => Some(other.name()),
    }
}

/// Warns, once for each kernel, parameter and type, that the bytes of an argument are taken as those of another type.
#[cold]
fn warn_type_mismatch(function: &Function, index: usize, arg: &Bound<'_, PyAny>) -> PyResult<()> {
    let declared =
        function.param_declaration(index).map_or_else(String::new, |declared| format!(" declares '{declared}'"));
    let array = arg.getattr("array").ok();
    let given = describe_type(array.as_ref().unwrap_or(arg));
    let name = function.name();
    let text = format!(
        "parameter #{index} (0-based): kernel '{name}'{declared}, got {given}; its bytes are taken as they are \
         (RTCG_ARGUMENT_TYPES=strict makes this an error)"
    );
    warn_once(arg.py(), text)
}

/// Warns, once for each kernel, parameter and layout, that the kernel gets the address of an array but not its strides.
#[cold]
fn report_strided_array(
    function: &Function,
    index: usize,
    arg: &Bound<'_, PyAny>,
    shape: &[usize],
    strides: &[isize],
) -> PyResult<()> {
    if !rtcg::argument_types_are_checked() {
        return Ok(());
    }
    let declared =
        function.param_declaration(index).map_or_else(String::new, |declared| format!(" declares '{declared}'"));
    let text = format!(
        "parameter #{index} (0-based): kernel '{}'{declared}, got {} that is not contiguous: shape {}, strides {} \
         (bytes). A kernel gets the address only, not the strides; pass a contiguous copy (rtcg.numpy.ascontiguousarray), or the address \
         (numpy.intp(array.ptr)) if the kernel computes with the strides",
        function.name(),
        describe_type(arg),
        PythonTuple(shape),
        PythonTuple(strides),
    );
    if rtcg::argument_types_are_strict() {
        return Err(PyTypeError::new_err(text));
    }
    warn_once(arg.py(), format!("{text} (RTCG_ARGUMENT_TYPES=strict makes this an error)"))
}

fn warn_once(py: Python<'_>, text: String) -> PyResult<()> {
    static WARNED_TEXTS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if !lock_ignoring_poison(&WARNED_TEXTS).insert(text.clone()) {
        return Ok(());
    }
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &std::ffi::CString::new(text)?, 1)
}

/// The type of an argument for a message: its dtype if it has one.
fn describe_type(object: &Bound<'_, PyAny>) -> String {
    let name = object.get_type().name().map_or_else(|_| "?".to_string(), |name| name.to_string());
    let dtype = object.getattr("dtype").and_then(|dtype| dtype.str()).map(|dtype| dtype.to_string());
    match dtype {
        Ok(dtype) if object.hasattr("shape").unwrap_or(false) && dtype != name => {
            format!("an array of {dtype} (of type {name})")
        }
        _ => format!("a value of type {name}"),
    }
}

/// An argument of a type that the kernel does not take.
#[cold]
fn wrong_type_error(function: &Function, index: usize, arg: &Bound<'_, PyAny>, given: &str) -> PyErr {
    let declared =
        function.param_declaration(index).map_or_else(String::new, |declared| format!(" declares '{declared}'"));
    let name = function.name();
    let is_pointer = function.param_declaration(index).is_some_and(|d| matches!(d.kind, ParamKind::Pointer(Some(_))));
    let has_dtype = arg.hasattr("dtype").unwrap_or(false) && arg.hasattr("gpudata").unwrap_or(false);
    let hint = if is_pointer && has_dtype { "; pass its .gpudata to have the bytes taken as they are" } else { "" };
    PyTypeError::new_err(format!(
        "invalid type on parameter #{index} (0-based): kernel '{name}'{declared}, got {given}{hint}"
    ))
}

/// The same exception, saying which parameter it is about.
#[cold]
fn with_parameter_name(function: &Function, index: usize, arg: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    let py = arg.py();
    let described = function.describe_parameter(index);
    PyErr::from_type(error.get_type(py), format!("{}: {}", described.trim_end_matches(','), error.value(py)))
}

#[cold]
fn invalid_type_error(function: &Function, index: usize, arg: &Bound<'_, PyAny>) -> PyErr {
    if function.params().is_some_and(|params| index >= params.len()) {
        return driver_error(function.too_many_error(index + 1));
    }
    let memory = "a device allocation, an array on the device, or In/Out/InOut";
    let kind = function.param_declaration(index).map(|declaration| declaration.kind);
    let number = match kind {
        Some(ParamKind::Value(number)) => numpy_name(number),
        _ => None,
    };
    let expected = match (kind, number) {
        (_, Some(name)) => format!("a number, such as numpy.{name}(...)"),
        (Some(ParamKind::Pointer(_)), None) => format!("{memory}; a null pointer is numpy.intp(0)"),
        _ => format!("a NumPy scalar such as numpy.int32(...), {memory}"),
    };
    wrong_type_error(function, index, arg, &format!("{}; expected {expected}", describe_object(arg)))
}

fn describe_array_dtype(array: Option<&Bound<'_, PyUntypedArray>>) -> String {
    array.map_or_else(|| "an array".to_owned(), |array| format!("an array of {}", array.dtype()))
}

/// An object for a message: its type, its dtype if it has one, and its value when that is short.
fn describe_object(object: &Bound<'_, PyAny>) -> String {
    let name = object.get_type().name().map_or_else(|_| "?".to_string(), |name| name.to_string());
    let dtype =
        object.getattr("dtype").and_then(|dtype| dtype.str()).map(|dtype: Bound<'_, PyString>| dtype.to_string());
    if object.hasattr("__cuda_array_interface__").unwrap_or(false) {
        return dtype
            .map_or_else(|_| format!("an array (of type {name})"), |d| format!("an array of {d} (of type {name})"));
    }
    match object.repr().map(|text| text.to_string()) {
        Ok(text) if text.len() <= 60 => format!("{text} (of type {name})"),
        _ => format!("of type {name}"),
    }
}
