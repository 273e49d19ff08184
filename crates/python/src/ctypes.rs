//! C types and NumPy's: the registry behind `rtcg.tools` and `rtcg._dtypes`, declared
//! parameters, and Python values as the bytes of a C type.

use crate::array_interface::unmasked_interface;
use crate::driver::launch::arguments::number_type_of_dtype;
use crate::driver::memory::PyDeviceAllocation;
use crate::driver::memory::device_pointer::address_of_rtcg_memory;
use crate::errors::array_error;
use crate::gpuarray::PyGpuArray;
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyComplex, PyFloat, PyList, PyString, PyTuple};
use rtcg::array::DType;
use rtcg::array::GpuArray;
use rtcg::codegen::c_declarations::{Argument, CType, CTypeForm, TypeRegistry, parse_argument, parse_arguments};
use rtcg::codegen::typed_snippet::{FilledSnippet, GivenType, TypedSnippet};
use rtcg::driver::lock_ignoring_poison;
use rtcg::generators::{ArrayView, GeneratedKernelArg};
use smallvec::SmallVec;
use std::sync::Mutex;

/// The names of the process, and the dtypes that were registered, by their number.
struct CTypeRegistry {
    types: TypeRegistry,
    dtypes: Vec<(Py<PyArrayDescr>, String)>,
}

static CTYPE_REGISTRY: Mutex<Option<CTypeRegistry>> = Mutex::new(None);

fn with_ctype_registry<T>(body: impl FnOnce(&mut CTypeRegistry) -> T) -> T {
    let mut registry = lock_ignoring_poison(&CTYPE_REGISTRY);
    body(registry.get_or_insert_with(|| CTypeRegistry { types: TypeRegistry::new(), dtypes: Vec::new() }))
}

fn lookup_ctype(name: &str) -> PyResult<CType> {
    with_ctype_registry(|r| r.types.lookup(name)).ok_or_else(|| PyValueError::new_err(format!("unknown type '{name}'")))
}

const VECTOR_BASE_TYPES: [&str; 12] =
    ["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "longlong", "ulonglong", "float", "double"];

/// CUDA's vector types as NumPy's structures.
fn vector_dtypes(py: Python<'_>) -> PyResult<&Vec<(Py<PyArrayDescr>, String)>> {
    static VECTOR_DTYPES: PyOnceLock<Vec<(Py<PyArrayDescr>, String)>> = PyOnceLock::new();
    VECTOR_DTYPES.get_or_try_init(py, || {
        let mut all = Vec::new();
        for base in VECTOR_BASE_TYPES {
            for components in 1..=4 {
                let name = format!("{base}{components}");
                let dtype = dtype_of_ctype(py, &lookup_ctype(&name)?)?.unbind();
                all.push((dtype, name));
            }
        }
        Ok(all)
    })
}

/// The type that kernels know a dtype by.
pub(crate) fn ctype_of_dtype(dtype: &Bound<'_, PyArrayDescr>) -> PyResult<CType> {
    let py = dtype.py();
    let (kind, size) = (dtype.kind() as char, dtype.itemsize());
    let name = match (kind, size) {
        ('b', _) => "bool",
        ('i', 1) => "signed char",
        ('u', 1) => "unsigned char",
        ('i', 2) => "short",
        ('u', 2) => "unsigned short",
        ('i', 4) => "int",
        ('u', 4) => "unsigned int",
        ('i', 8) => "long",
        ('u', 8) => "unsigned long",
        ('f', 2) => "half",
        ('f', 4) => "float",
        ('f', 8) => "double",
        ('c', 8) => "pycuda::complex<float>",
        ('c', 16) => "pycuda::complex<double>",
        ('V', 2) if dtype.getattr("name")?.eq("bfloat16")? => "__nv_bfloat16",
        ('V', _) => return structure_ctype(py, dtype),
        _ => return Err(unsupported_dtype_error(dtype)),
    };
    lookup_ctype(name)
}

fn unsupported_dtype_error(dtype: &Bound<'_, PyArrayDescr>) -> PyErr {
    PyValueError::new_err(format!("unable to map dtype '{dtype}' to a C type"))
}

fn structure_ctype(py: Python<'_>, dtype: &Bound<'_, PyArrayDescr>) -> PyResult<CType> {
    let known = with_ctype_registry(|r| {
        r.dtypes.iter().map(|(known, name)| (known.clone_ref(py), name.clone())).collect::<Vec<_>>()
    });
    let vectors = vector_dtypes(py)?;
    let found = known.iter().chain(vectors).find(|(known, _)| known.bind(py).is_equiv_to(dtype));
    found.map_or_else(|| Err(unsupported_dtype_error(dtype)), |(_, name)| lookup_ctype(name))
}

/// NumPy's dtype of a C type.
pub(crate) fn dtype_of_ctype<'py>(py: Python<'py>, ctype: &CType) -> PyResult<Bound<'py, PyArrayDescr>> {
    let size = ctype.itemsize;
    match ctype.form {
        CTypeForm::Number(kind) => PyArrayDescr::new(py, format!("{kind}{size}")),
        CTypeForm::BFloat16 => PyArrayDescr::new(py, py.import("ml_dtypes")?.getattr("bfloat16")?),
        CTypeForm::Vector { kind, components } => {
            let part = format!("{kind}{}", size / usize::from(components));
            let fields = ["x", "y", "z", "w"].into_iter().take(components.into()).map(|name| (name, &part));
            PyArrayDescr::new(py, PyList::new(py, fields)?.into_any())
        }
        CTypeForm::Registered(number) => {
            let known = with_ctype_registry(|r| r.dtypes.get(number as usize).map(|(dtype, _)| dtype.clone_ref(py)));
            let name = &ctype.name;
            known
                .map(|dtype| dtype.into_bound(py))
                .ok_or_else(|| PyValueError::new_err(format!("type '{name}' has no dtype")))
        }
    }
}

/// Register `names` for `dtype`; returns the dtype that they stand for.
#[pyfunction]
fn register_ctype<'py>(names: Vec<String>, dtype: Bound<'py, PyArrayDescr>) -> PyResult<Bound<'py, PyArrayDescr>> {
    let py = dtype.py();
    let mut meaning = ctype_of_dtype(&dtype).ok();
    for name in names {
        let known = match with_ctype_registry(|r| r.types.lookup(&name)) {
            Some(known) => known,
            None if meaning.is_none() => {
                let (itemsize, align) = (dtype.itemsize(), dtype.alignment());
                let owned = dtype.clone().unbind();
                with_ctype_registry(|r| {
                    let new = r.types.register(&name, itemsize, align);
                    new.inspect(|new| r.dtypes.push((owned, new.name.clone())))
                })
                .map_err(|error| PyValueError::new_err(error.to_string()))?
            }
            None => {
                let ctype = meaning.clone().ok_or_else(|| unsupported_dtype_error(&dtype))?;
                with_ctype_registry(|r| r.types.register_alias(&name, &ctype))
                    .map_err(|error| PyValueError::new_err(error.to_string()))?;
                ctype
            }
        };
        let means = dtype_of_ctype(py, &known)?;
        if !means.is_equiv_to(&dtype) {
            return Err(PyValueError::new_err(format!(
                "'{name}' is already the dtype {means}; it cannot become {dtype}"
            )));
        }
        meaning = Some(known);
    }
    meaning.map_or(Ok(dtype), |ctype| dtype_of_ctype(py, &ctype))
}

/// The dtype of a C name; raises ValueError for unknown names.
#[pyfunction]
fn dtype_of_c_name<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyArrayDescr>> {
    dtype_of_ctype(py, &lookup_ctype(name)?)
}

/// The C name of a dtype; raises ValueError for unknown dtypes.
#[pyfunction]
fn c_name_of_dtype(dtype: Bound<'_, PyArrayDescr>) -> PyResult<String> {
    Ok(ctype_of_dtype(&dtype)?.name)
}

/// `(is_vector, is_const, dtype, name)` of a C declaration.
#[pyfunction]
fn parse_declaration<'py>(py: Python<'py>, text: &str) -> PyResult<(bool, bool, Bound<'py, PyArrayDescr>, String)> {
    let parsed = with_ctype_registry(|r| parse_argument(text, &r.types));
    let argument = parsed.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok((argument.is_vector, argument.is_const, dtype_of_ctype(py, &argument.ctype)?, argument.name))
}

/// A snippet whose types each call determines.
#[pyclass(name = "TypedSnippet", module = "rtcg.elementwise", frozen)]
struct PyTypedSnippet(TypedSnippet);

#[pymethods]
impl PyTypedSnippet {
    #[new]
    fn new(inputs: &str, outputs: &str, operation: &str) -> PyResult<Self> {
        let parsed = with_ctype_registry(|r| TypedSnippet::parse(inputs, outputs, operation, &r.types));
        parsed.map(Self).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// The names of the parameters and whether each is declared raw, with inputs first.
    #[getter]
    fn params(&self) -> Vec<(String, bool)> {
        self.0.params().map(|(name, is_raw)| (name.to_owned(), is_raw)).collect()
    }

    /// How many of the parameters are inputs.
    #[getter]
    fn n_inputs(&self) -> usize {
        self.0.n_inputs()
    }

    /// ``(arguments, operation)`` for the types of a call: for each parameter a dtype or None, and whether it is an
    /// array. Arguments, outputs first, are tuples as :func:`parse_declaration` returns them.
    #[allow(clippy::type_complexity, reason = "it is unpacked at once")]
    fn fill<'py>(
        &self,
        py: Python<'py>,
        given: Vec<(Option<Bound<'py, PyArrayDescr>>, bool)>,
    ) -> PyResult<(Vec<(bool, bool, Bound<'py, PyArrayDescr>, String)>, String)> {
        let filled = self.filled_snippet(given)?;
        let parts = |argument: Argument| {
            let dtype = dtype_of_ctype(py, &argument.ctype)?;
            Ok((argument.is_vector, argument.is_const, dtype, argument.name))
        };
        Ok((filled.arguments.into_iter().map(parts).collect::<PyResult<_>>()?, filled.operation))
    }

    /// A compiler's log about the operation for the types of a call, with the lines that the user wrote.
    fn restore_quotes(&self, given: Vec<(Option<Bound<'_, PyArrayDescr>>, bool)>, log: &str) -> PyResult<String> {
        Ok(self.filled_snippet(given)?.quotes.restore(log))
    }
}

impl PyTypedSnippet {
    fn filled_snippet(&self, given: Vec<(Option<Bound<'_, PyArrayDescr>>, bool)>) -> PyResult<FilledSnippet> {
        let given_type = |(dtype, is_array): (Option<Bound<'_, PyArrayDescr>>, bool)| match dtype {
            None => Ok(GivenType::Nothing),
            Some(dtype) if is_array => ctype_of_dtype(&dtype).map(GivenType::Array),
            Some(dtype) => ctype_of_dtype(&dtype).map(GivenType::Number),
        };
        let given = given.into_iter().map(given_type).collect::<PyResult<Vec<_>>>()?;
        self.0
            .fill(&given)
            .map_err(|error| PyTypeError::new_err(format!("argument '{}': {}", error.declaration, error.reason)))
    }
}

/// Parameters from a C text, or from a list of `rtcg.tools.Argument` and texts. The list stays as it is.
pub(crate) fn arguments_from_object(arguments: &Bound<'_, PyAny>) -> PyResult<Vec<Argument>> {
    if let Ok(text) = arguments.cast::<PyString>() {
        let text = text.to_cow()?;
        return with_ctype_registry(|r| parse_arguments(&text, &r.types))
            .map_err(|error| PyValueError::new_err(error.to_string()));
    }
    let mut all = Vec::new();
    for item in arguments.try_iter()? {
        let item = item?;
        if item.is_instance_of::<PyString>() {
            all.extend(arguments_from_object(&item)?);
        } else {
            all.push(argument_from_object(&item)?);
        }
    }
    Ok(all)
}

fn argument_from_object(item: &Bound<'_, PyAny>) -> PyResult<Argument> {
    let wrong = || {
        let shown = crate::errors::shown(item);
        PyTypeError::new_err(format!("arguments contain {shown}; expected VectorArg, ScalarArg or a C declaration"))
    };
    let dtype = PyArrayDescr::new(item.py(), item.getattr("dtype").map_err(|_| wrong())?)?;
    let is_vector = match item.getattr_opt("is_vector")? {
        Some(flag) => flag.is_truthy()?,
        None => return Err(wrong()),
    };
    let is_const = item.getattr_opt("is_const")?.map_or(Ok(false), |flag| flag.is_truthy())?;
    let mut ctype = ctype_of_dtype(&dtype)?;
    // A subclass may spell its own type.
    if let Some(name) = item.getattr_opt("ctype")?.filter(|name| !name.is_none()) {
        ctype.name = name.extract()?;
    }
    Ok(Argument { name: item.getattr("name")?.extract()?, ctype, is_vector, is_const })
}

/// An array argument with what its view borrows.
pub(crate) enum ArrayArgument {
    Gpu(GpuArray),
    Interface { ptr: u64, shape: Vec<usize>, strides: Vec<isize>, itemsize: usize, number: Option<DType> },
}

impl ArrayArgument {
    /// A `GPUArray`, or anything with `__cuda_array_interface__`; `None` for other objects.
    pub(crate) fn from_array_like(object: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        if let Ok(array) = object.cast::<PyGpuArray>() {
            let array = array.get().current_state().array.clone();
            array.check_memory().map_err(|error| array_error(object.py(), error))?;
            return Ok(Some(ArrayArgument::Gpu(array)));
        }
        let Some(interface) = object.getattr_opt("__cuda_array_interface__")? else { return Ok(None) };
        let interface = unmasked_interface(interface)?;
        let item = |name: &str| {
            interface
                .get_item(name)?
                .ok_or_else(|| PyTypeError::new_err(format!("the array interface of an argument has no '{name}'")))
        };
        let shape: Vec<usize> = item("shape")?.extract()?;
        let dtype = PyArrayDescr::new(object.py(), item("typestr")?)?;
        let (itemsize, number) = (dtype.itemsize(), number_type_of_dtype(&dtype));
        let strides = match interface.get_item("strides")?.filter(|s| !s.is_none()) {
            Some(strides) => strides.extract()?,
            None => rtcg::array::Layout::contiguous(&shape, itemsize, rtcg::array::Order::C).strides.into_vec(),
        };
        let ptr = item("data")?.get_item(0)?.extract::<Option<u64>>()?.unwrap_or(0);
        Ok(Some(ArrayArgument::Interface { ptr, shape, strides, itemsize, number }))
    }

    pub(crate) fn array_view(&self) -> ArrayView<'_> {
        match self {
            ArrayArgument::Gpu(array) => ArrayView::from(array),
            ArrayArgument::Interface { ptr, shape, strides, itemsize, number } => {
                ArrayView { ptr: *ptr, shape, strides, itemsize: *itemsize, number: *number, ..ArrayView::default() }
            }
        }
    }
}

/// A Python argument as a kernel takes it.
pub(crate) enum KernelArgument<'py> {
    Array(ArrayArgument),
    Bytes([u8; 16], u8),
    Structure(Bound<'py, PyBytes>),
    /// A bare address, whose size nobody knows, and the context whose memory it is, as in [`ArrayView`].
    Address {
        ptr: u64,
        context: u64,
    },
}

impl KernelArgument<'_> {
    /// The argument, whose length in elements is `n` where only an address is known.
    pub(crate) fn kernel_value<'a>(
        &'a self,
        itemsize: usize,
        n: &'a [usize],
        strides: &'a [isize],
    ) -> GeneratedKernelArg<'a> {
        match self {
            KernelArgument::Array(holder) => GeneratedKernelArg::Array(holder.array_view()),
            KernelArgument::Bytes(bytes, len) => GeneratedKernelArg::Bytes(&bytes[..usize::from(*len)]),
            KernelArgument::Structure(bytes) => GeneratedKernelArg::Bytes(bytes.as_bytes()),
            KernelArgument::Address { ptr, context } => GeneratedKernelArg::Array(ArrayView {
                ptr: *ptr,
                shape: n,
                strides,
                itemsize,
                context: *context,
                ..ArrayView::default()
            }),
        }
    }
}

/// Something for each argument of a call; few of them need no heap memory.
pub(crate) type ArgumentVec<T> = SmallVec<[T; 8]>;

/// The arguments of a call, each by its declaration. Their number is checked by the core.
pub(crate) fn convert_arguments<'py>(
    declared: &[Argument],
    args: &Bound<'py, PyTuple>,
) -> PyResult<ArgumentVec<KernelArgument<'py>>> {
    args.iter()
        .enumerate()
        .map(|(at, object)| match declared.get(at) {
            Some(argument) => convert_argument(argument, &object),
            None => Ok(KernelArgument::Address { ptr: 0, context: 0 }),
        })
        .collect()
}

fn convert_argument<'py>(argument: &Argument, object: &Bound<'py, PyAny>) -> PyResult<KernelArgument<'py>> {
    if !argument.is_vector {
        return scalar_bytes(argument, object);
    }
    if let Some(holder) = ArrayArgument::from_array_like(object)? {
        return Ok(KernelArgument::Array(holder));
    }
    if let Some((ptr, _)) = address_of_rtcg_memory(object)? {
        let plain = object.cast::<PyDeviceAllocation>();
        return Ok(KernelArgument::Address {
            ptr,
            context: plain.map_or(0, |memory| memory.get().0.context().handle_number()),
        });
    }
    if let Some(memory) = object.getattr_opt("gpudata")? {
        return Ok(KernelArgument::Address {
            ptr: memory.extract::<crate::driver::memory::device_pointer::DevicePtr>()?.0,
            context: 0,
        });
    }
    Err(argument_type_error(argument, object, "a GPUArray or another array on the device"))
}

fn argument_type_error(argument: &Argument, object: &Bound<'_, PyAny>, what: &str) -> PyErr {
    let kind = object.get_type().name().map_or_else(|_| "?".into(), |name| name.to_string());
    PyTypeError::new_err(format!(
        "argument '{}' is of type {kind}; expected {what} for '{}'",
        argument.name,
        argument.declarator()
    ))
}

/// Values of each call together with what stands for bare addresses: the shape of the first array.
pub(crate) fn kernel_values<'a>(
    declared: &[Argument],
    held: &'a [KernelArgument<'_>],
    shape: &'a [usize],
    strides: &'a [Vec<isize>],
) -> ArgumentVec<GeneratedKernelArg<'a>> {
    held.iter()
        .enumerate()
        .map(|(at, held)| {
            let itemsize = declared.get(at).map_or(0, |a| a.ctype.itemsize);
            held.kernel_value(itemsize, shape, strides.get(at).map_or(&[], |s| s))
        })
        .collect()
}

/// The shape of the first real array, and strides in it for each argument's type.
pub(crate) fn layout_for_bare_addresses(
    declared: &[Argument],
    held: &[KernelArgument<'_>],
) -> (Vec<usize>, Vec<Vec<isize>>) {
    if !held.iter().any(|h| matches!(h, KernelArgument::Address { .. })) {
        return (Vec::new(), Vec::new());
    }
    let first = held
        .iter()
        .find_map(|h| if let KernelArgument::Array(a) = h { Some(a.array_view().shape.to_vec()) } else { None });
    let shape = first.unwrap_or_default();
    let strides = declared
        .iter()
        .map(|a| rtcg::array::Layout::contiguous(&shape, a.ctype.itemsize, rtcg::array::Order::C).strides.into_vec())
        .collect();
    (shape, strides)
}

/// A Python value as the bytes of the declared type.
fn scalar_bytes<'py>(argument: &Argument, object: &Bound<'py, PyAny>) -> PyResult<KernelArgument<'py>> {
    let ctype = &argument.ctype;
    let mut bytes = [0u8; 16];
    let mut put = |src: &[u8]| bytes[..src.len()].copy_from_slice(src);
    match (ctype.form, ctype.itemsize) {
        (CTypeForm::Number('f'), 4) => put(&(real_value(argument, object)? as f32).to_ne_bytes()),
        (CTypeForm::Number('f'), 8) => put(&real_value(argument, object)?.to_ne_bytes()),
        (CTypeForm::Number('f'), _) => put(&half::f16::from_f64(real_value(argument, object)?).to_ne_bytes()),
        (CTypeForm::BFloat16, _) => put(&half::bf16::from_f64(real_value(argument, object)?).to_ne_bytes()),
        (CTypeForm::Number('b'), _) => put(&[u8::from(object.is_truthy()?)]),
        (CTypeForm::Number('c'), size) => {
            let z = complex_value(argument, object)?;
            if size == 8 {
                put(&[(z.0 as f32).to_ne_bytes(), (z.1 as f32).to_ne_bytes()].concat());
            } else {
                put(&[z.0.to_ne_bytes(), z.1.to_ne_bytes()].concat());
            }
        }
        (CTypeForm::Number(kind), size) => put(&integer_value(argument, object, kind, size)?.to_ne_bytes()[..size]),
        _ => return structure_bytes(argument, object),
    }
    Ok(KernelArgument::Bytes(bytes, ctype.itemsize as u8))
}

fn real_value(argument: &Argument, object: &Bound<'_, PyAny>) -> PyResult<f64> {
    object.extract::<f64>().map_err(|_| argument_type_error(argument, object, "a real number"))
}

fn complex_value(argument: &Argument, object: &Bound<'_, PyAny>) -> PyResult<(f64, f64)> {
    let wrong = |_| argument_type_error(argument, object, "a number");
    if object.is_instance_of::<PyFloat>() {
        return Ok((object.extract()?, 0.0));
    }
    let number = object.py().get_type::<PyComplex>().call1((object,)).map_err(wrong)?;
    Ok((number.getattr("real")?.extract()?, number.getattr("imag")?.extract()?))
}

fn integer_value(argument: &Argument, object: &Bound<'_, PyAny>, kind: char, size: usize) -> PyResult<i128> {
    let value: i128 = if let Ok(flag) = object.cast::<PyBool>() {
        flag.is_true().into()
    } else if let Ok(value) = object.extract::<i64>() {
        value.into()
    } else if let Ok(value) = object.extract::<u64>() {
        value.into()
    } else {
        // Arrays without axes, and numpy.bool, have no __index__ of their own.
        let item = object.call_method0("item").map_err(|_| argument_type_error(argument, object, "an integer"))?;
        let number = item.extract::<i64>().map(i128::from).or_else(|_| item.extract::<bool>().map(i128::from));
        number.map_err(|_| argument_type_error(argument, object, "an integer"))?
    };
    let bits = 8 * size as u32;
    let range = if kind == 'u' { 0..=(1i128 << bits) - 1 } else { -(1i128 << (bits - 1))..=(1i128 << (bits - 1)) - 1 };
    if range.contains(&value) {
        return Ok(value);
    }
    Err(PyOverflowError::new_err(format!(
        "argument '{}' is {value}, which '{}' cannot hold",
        argument.name,
        argument.declarator()
    )))
}

fn structure_bytes<'py>(argument: &Argument, object: &Bound<'py, PyAny>) -> PyResult<KernelArgument<'py>> {
    let py = object.py();
    let dtype = dtype_of_ctype(py, &argument.ctype)?;
    let array = py.import("numpy")?.getattr("asarray")?.call1((object, dtype))?;
    let bytes = array.call_method0("tobytes")?.cast_into::<PyBytes>()?;
    if bytes.as_bytes().len() != argument.ctype.itemsize {
        return Err(argument_type_error(argument, object, "one structure"));
    }
    Ok(KernelArgument::Structure(bytes))
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_contents! { m,
        classes PyTypedSnippet;
        functions register_ctype, dtype_of_c_name, c_name_of_dtype, parse_declaration;
    }
}
