//! Calls of programs: arguments from Python, programs compiled for their types, results to Python.

use super::WalkedSource;
use super::stencil::describe;
use super::text::untranslatable;
use crate::errors::{array_error, shown};
use crate::gpuarray::{PyGpuArray, array_context, parse_scalar, require_array, to_py_result};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use rtcg::array::{ArrayContext, DType, GpuArray, Order, Scalar, WeakScalar};
use rtcg::lang::arguments::{ArgType, ResultType};
use rtcg::lang::ir::Number;
use rtcg::lang::problem::{ProblemKind, Problems};
use rtcg::lang::span::Files;
use rtcg::lang::surface::Source;
use rtcg::lang::{Compiled, RunError, Value};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A Python function as a program of devices: compiled once for the types of its arguments.
#[pyclass(name = "LangProgram", module = "rtcg._native", frozen)]
pub(crate) struct LangProgram {
    function: Py<PyAny>,
    contract: bool,
    state: Mutex<State>,
}

/// What was compiled for functions that the program is given as arguments, by their addresses.
#[derive(Default)]
struct State {
    variants: HashMap<Vec<usize>, Variant>,
}

struct Variant {
    walked: Arc<WalkedSource>,
    /// They live as long as their addresses are keys.
    _functions: Vec<Py<PyAny>>,
    compiled: HashMap<Vec<ArgType>, Arc<Compiled>>,
}

/// The most functions of arguments for which programs are kept: lambdas are others in each call.
const MAX_VARIANTS: usize = 64;

/// Types and leaves of arguments.
pub(super) struct Arguments<'a> {
    function: &'a Py<PyAny>,
    pub(super) types: Vec<ArgType>,
    pub(super) leaves: Vec<Value>,
    functions: Vec<Py<PyAny>>,
}

#[pymethods]
impl LangProgram {
    /// `contract`: whether a product and the sum with it may be rounded once.
    #[new]
    fn new(function: Py<PyAny>, contract: bool) -> Self {
        Self { function, contract, state: Mutex::default() }
    }

    /// The result for arguments, in the current context; does not wait unless the program has to.
    fn __call__<'py>(&self, py: Python<'py>, args: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        let ctx = array_context()?;
        let arguments = Arguments::from_python(py, &ctx, &self.function, args)?;
        let (compiled, files) = self.compiled(py, &arguments)?;
        let leaves = arguments.leaves;
        let inputs: Vec<GpuArray> = leaves.iter().filter_map(|leaf| leaf.array().cloned()).collect();
        let stream = rtcg::current_stream();
        let outcome = py.detach(|| rtcg::run_in_stream(stream.as_ref(), || compiled.run(&ctx, leaves)));
        let values = outcome.map_err(|error| match error {
            RunError::Array(error) => array_error(py, error),
            RunError::Problem(problem) => {
                let mut problems = Problems::default();
                problems.add(*problem);
                problems_error(py, &problems, &files)
            }
        })?;
        let mut values = values.into_iter();
        to_python(py, &ctx, compiled.result_type(), &mut values, &inputs)
    }

    /// The core program for arguments, after all passes, as text.
    fn program(&self, py: Python<'_>, args: &Bound<'_, PyTuple>) -> PyResult<String> {
        let arguments = Arguments::from_python(py, &array_context()?, &self.function, args)?;
        Ok(rtcg::lang::text::print_program(self.compiled(py, &arguments)?.0.program()))
    }

    /// What it will do for arguments: kernels, what they read and write, and why anything is stored.
    fn plan(&self, py: Python<'_>, args: &Bound<'_, PyTuple>) -> PyResult<String> {
        let arguments = Arguments::from_python(py, &array_context()?, &self.function, args)?;
        let (compiled, source) = self.compiled(py, &arguments)?;
        Ok(compiled.plan(&source.files))
    }

    /// The stencils among its statements for arguments, as dictionaries.
    fn stencils<'py>(&self, py: Python<'py>, args: &Bound<'py, PyTuple>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let arguments = Arguments::from_python(py, &array_context()?, &self.function, args)?;
        let compiled = self.compiled(py, &arguments)?.0;
        rtcg::lang::specialize::find_stencils(compiled.program()).iter().map(|model| describe(py, model)).collect()
    }

    /// The sources of its kernels for arguments.
    fn sources(&self, py: Python<'_>, args: &Bound<'_, PyTuple>) -> PyResult<Vec<String>> {
        let arguments = Arguments::from_python(py, &array_context()?, &self.function, args)?;
        Ok(self.compiled(py, &arguments)?.0.sources())
    }
}

impl LangProgram {
    /// The program for types of arguments, of the function as it is now.
    fn compiled(&self, py: Python<'_>, arguments: &Arguments<'_>) -> PyResult<(Arc<Compiled>, Arc<Source>)> {
        let lock = || self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let key: Vec<usize> = arguments.functions.iter().map(|function| function.as_ptr() as usize).collect();
        let known = lock()
            .variants
            .get(&key)
            .map(|variant| (variant.walked.clone(), variant.compiled.get(&arguments.types).cloned()));
        let known = known.filter(|(walked, _)| walked.is_current(py));
        let source = match known {
            Some((walked, Some(compiled))) => return Ok((compiled, walked.source.clone())),
            Some((walked, None)) => walked.source.clone(),
            None => {
                let functions: Vec<_> = arguments.functions.iter().map(|function| function.bind(py).clone()).collect();
                let walked = Arc::new(WalkedSource::walk_with(self.function.bind(py), &functions)?);
                let source = walked.source.clone();
                let functions = functions.into_iter().map(Bound::unbind).collect();
                let variant = Variant { walked, _functions: functions, compiled: HashMap::new() };
                // What is replaced is dropped without the lock, for Python code may run.
                let replaced = {
                    let mut state = lock();
                    let is_full = state.variants.len() >= MAX_VARIANTS;
                    let all = if is_full { std::mem::take(&mut state.variants) } else { HashMap::new() };
                    (all, state.variants.insert(key.clone(), variant))
                };
                drop(replaced);
                source
            }
        };
        let compiled = py
            .detach(|| Compiled::new(&source, &arguments.types, self.contract))
            .map_err(|problems| problems_error(py, &problems, &source))?;
        let compiled = Arc::new(compiled);
        if let Some(variant) = lock().variants.get_mut(&key) {
            variant.compiled.insert(arguments.types.clone(), compiled.clone());
        }
        Ok((compiled, source))
    }
}

/// Where the lines of a program are.
pub(super) trait HasFiles {
    fn files(&self) -> &Files;
}

impl HasFiles for Arc<Source> {
    fn files(&self) -> &Files {
        &self.files
    }
}

pub(super) fn problems_error(py: Python<'_>, problems: &Problems, source: &impl HasFiles) -> PyErr {
    let report = problems.report(source.files());
    match problems.kind() {
        ProblemKind::Language => untranslatable(py, report),
        ProblemKind::Type => PyTypeError::new_err(report),
        ProblemKind::Shape => PyValueError::new_err(report),
        ProblemKind::Range => PyOverflowError::new_err(report),
    }
}

// -- arguments ----------------------------------------------------------------------------------

impl<'a> Arguments<'a> {
    pub(super) fn from_python(
        py: Python<'_>,
        ctx: &Arc<ArrayContext>,
        function: &'a Py<PyAny>,
        args: &Bound<'_, PyTuple>,
    ) -> PyResult<Self> {
        let mut arguments = Arguments { function, types: Vec::new(), leaves: Vec::new(), functions: Vec::new() };
        for (at, arg) in args.iter().enumerate() {
            let found = arguments.one(py, ctx, &arg, at)?;
            arguments.types.push(found);
        }
        Ok(arguments)
    }

    /// The name of a parameter.
    fn name(&self, py: Python<'_>, at: usize) -> PyResult<String> {
        let code = self.function.bind(py).getattr("__wrapped__")?.getattr("__code__")?;
        let names: Vec<String> = code.getattr("co_varnames")?.extract()?;
        Ok(names.get(at).cloned().unwrap_or_else(|| format!("argument {}", at + 1)))
    }

    fn one(&mut self, py: Python<'_>, ctx: &Arc<ArrayContext>, arg: &Bound<'_, PyAny>, at: usize) -> PyResult<ArgType> {
        if let Ok(array) = arg.cast::<PyGpuArray>() {
            let array = array.get().current_state().array.clone();
            if !matches!(array.dtype(), DType::Void(_)) {
                return self.array(py, array);
            }
        } else if let Ok(parts) = arg.cast::<PyTuple>() {
            let parts = parts.iter().map(|part| self.one(py, ctx, &part, at)).collect::<PyResult<_>>()?;
            return Ok(ArgType::Tuple(parts));
        } else if let Ok(host) = arg.cast::<PyUntypedArray>() {
            let descr = host.dtype();
            let is_number = matches!(descr.kind(), b'b' | b'i' | b'u' | b'f' | b'c') && descr.itemsize() <= 16;
            if host.ndim() > 0 && is_number && descr.is_native_byteorder() != Some(false) {
                let array = require_array(ctx, arg)?;
                return self.array(py, array);
            }
        } else if let Some(scalar) = parse_scalar(arg)? {
            return self.scalar(py, scalar, at);
        }
        // What is rarer: lists, records, rows of different lengths, arrays of other libraries.
        let converted = py
            .import(intern!(py, "rtcg.copperhead._compiled"))?
            .call_method1(intern!(py, "argument"), (self.name(py, at)?, arg))?;
        self.converted(py, ctx, &converted, at)
    }

    /// What the converter returns: a list for records, with an item for each field; a pair in a list for rows.
    fn converted(
        &mut self,
        py: Python<'_>,
        ctx: &Arc<ArrayContext>,
        arg: &Bound<'_, PyAny>,
        at: usize,
    ) -> PyResult<ArgType> {
        let Ok(list) = arg.cast::<PyList>() else {
            if arg.cast::<PyGpuArray>().is_ok() || arg.cast::<PyTuple>().is_ok() || parse_scalar(arg)?.is_some() {
                return self.one(py, ctx, arg, at);
            }
            return Err(PyTypeError::new_err(format!("{} is {}", self.name(py, at)?, shown(arg))));
        };
        let kind: String = list.get_item(0)?.extract()?;
        if kind == "function" {
            self.functions.push(list.get_item(1)?.unbind());
            return Ok(ArgType::Function(self.functions.len() - 1));
        }
        let rest = list.iter().skip(1);
        if kind == "ragged" {
            let mut parts = rest;
            let offsets = parts.next().ok_or_else(|| PyTypeError::new_err("offsets are missing"))?;
            self.one(py, ctx, &offsets, at)?;
            let values = parts.next().ok_or_else(|| PyTypeError::new_err("values are missing"))?;
            return Ok(ArgType::Ragged(Box::new(self.converted(py, ctx, &values, at)?)));
        }
        let parts = rest.map(|part| self.converted(py, ctx, &part, at)).collect::<PyResult<_>>()?;
        Ok(ArgType::Zip(parts))
    }

    fn array(&mut self, py: Python<'_>, array: GpuArray) -> PyResult<ArgType> {
        let (dtype, ndim) = (array.dtype(), array.ndim());
        let array = to_py_result(py, array.to_contiguous())?;
        self.leaves.push(Value::Array(array));
        Ok(match ndim {
            0 => ArgType::Scalar { dtype, weak: false },
            ndim => ArgType::Array { dtype, ndim, weak: false },
        })
    }

    fn scalar(&mut self, py: Python<'_>, scalar: Scalar, at: usize) -> PyResult<ArgType> {
        let (value, dtype, weak) = match scalar {
            Scalar::Weak(value) => (value, value.dtype(), true),
            Scalar::Strong(dtype, value) => (value, dtype, false),
        };
        let number = match value {
            WeakScalar::Bool(value) if dtype == DType::Bool => Number::Bool(value),
            WeakScalar::Bool(value) => Number::Int(value.into()),
            WeakScalar::Int(value) if dtype.is_integral() => Number::Int(value),
            WeakScalar::Int(value) => Number::Float(value as f64),
            WeakScalar::Float(value) => Number::Float(value),
            WeakScalar::Complex(re, im) => Number::Complex(re, im),
        };
        if let (Number::Int(value), true) = (number, weak)
            && i64::try_from(value).is_err()
            && !(dtype == DType::U64 && u64::try_from(value).is_ok())
        {
            let text = format!("{} is {value}; expected an integer of 64 bits", self.name(py, at)?);
            return Err(PyOverflowError::new_err(text));
        }
        self.leaves.push(Value::Host(number, dtype));
        Ok(ArgType::Scalar { dtype, weak })
    }
}

// -- results ------------------------------------------------------------------------------------

fn to_python<'py>(
    py: Python<'py>,
    ctx: &Arc<ArrayContext>,
    of: &ResultType,
    values: &mut dyn Iterator<Item = Value>,
    inputs: &[GpuArray],
) -> PyResult<Bound<'py, PyAny>> {
    match of {
        ResultType::Scalar { .. } | ResultType::Array { .. } => {
            let value = values.next().ok_or_else(|| PyValueError::new_err("a result is missing"))?;
            let array = to_py_result(py, own_array(ctx, value, inputs))?;
            Ok(Bound::new(py, PyGpuArray::from_array(array))?.into_any())
        }
        ResultType::Tuple(parts) => {
            let parts: Vec<_> =
                parts.iter().map(|part| to_python(py, ctx, part, values, inputs)).collect::<PyResult<_>>()?;
            Ok(PyTuple::new(py, parts)?.into_any())
        }
        ResultType::Zip(parts) => {
            let parts: Vec<_> =
                parts.iter().map(|part| to_python(py, ctx, part, values, inputs)).collect::<PyResult<_>>()?;
            py.import(intern!(py, "rtcg.copperhead._compiled"))?.call_method1(intern!(py, "records"), (parts,))
        }
        ResultType::Function(_) => Err(PyTypeError::new_err("the result is a function")),
        ResultType::Ragged(inner) => {
            let offsets =
                to_python(py, ctx, &ResultType::Array { dtype: DType::I64, ndim: 1, weak: false }, values, inputs)?;
            let inner = to_python(py, ctx, inner, values, inputs)?;
            py.import(intern!(py, "rtcg.copperhead._compiled"))?.call_method1(intern!(py, "rows"), (offsets, inner))
        }
    }
}

/// A result in memory that no argument has.
fn own_array(ctx: &Arc<ArrayContext>, value: Value, inputs: &[GpuArray]) -> rtcg::array::Result<GpuArray> {
    match value {
        Value::Array(array) if inputs.iter().any(|input| input.shares_buffer(&array)) => array.copy(Some(Order::C)),
        Value::Array(array) => array.to_contiguous(),
        Value::Host(number, dtype) => {
            let array = GpuArray::empty(ctx, &[], dtype, Order::C)?;
            let value = match number {
                Number::Bool(value) => WeakScalar::Bool(value),
                Number::Int(value) => WeakScalar::Int(value),
                Number::Float(value) => WeakScalar::Float(value),
                Number::Complex(re, im) => WeakScalar::Complex(re, im),
            };
            array.fill(Scalar::Strong(dtype, value))?;
            Ok(array)
        }
    }
}
