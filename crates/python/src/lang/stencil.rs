//! `rtcg.specialize.stencil`: calls of stencils, compiled for the types of their arguments.

use super::WalkedSource;
use super::program::{Arguments, problems_error};
use crate::errors::array_error;
use crate::gpuarray::{PyGpuArray, array_context, parse_scalar};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rtcg::array::{Result, Scalar, WeakScalar};
use rtcg::lang::Value;
use rtcg::lang::arguments::ArgType;
use rtcg::lang::ir::Number;
use rtcg::specialize::stencil::{Boundary, Halo, Stencil, StencilModel, StencilOptions};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A Python function of fields, indexed by constant offsets.
#[pyclass(name = "StencilProgram", module = "rtcg._native", frozen)]
pub(crate) struct StencilProgram {
    /// What has the function as `__wrapped__`.
    function: Py<PyAny>,
    options: StencilOptions,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    walked: Option<Arc<WalkedSource>>,
    compiled: HashMap<Vec<ArgType>, Arc<Stencil>>,
}

#[pymethods]
impl StencilProgram {
    #[new]
    fn new(function: Py<PyAny>, boundary: &str, halo: &str, constant: &Bound<'_, PyAny>) -> PyResult<Self> {
        let boundary = Boundary::ALL.iter().find(|(name, _)| *name == boundary).map(|(_, boundary)| *boundary);
        let boundary = boundary.ok_or_else(|| PyValueError::new_err("there is no such boundary"))?;
        let halo = if halo == "zero" { Halo::Zero } else { Halo::Copy };
        let constant = match parse_scalar(constant)? {
            Some(Scalar::Weak(value) | Scalar::Strong(_, value)) => number_of(value),
            None => return Err(PyTypeError::new_err("constant is no number")),
        };
        Ok(Self { function, options: StencilOptions { boundary, halo, constant }, state: Mutex::default() })
    }

    /// The results, or those in `outs`; does not wait unless a scalar is on the device.
    #[pyo3(signature = (args, outs=None))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        outs: Option<Vec<Bound<'py, PyGpuArray>>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let arrays: Option<Vec<_>> =
            outs.as_ref().map(|outs| outs.iter().map(|out| out.get().current_state().array.clone()).collect());
        let (stencil, found) =
            self.compute(py, args, |stencil, ctx, leaves| stencil.call(ctx, leaves, arrays.as_deref()))?;
        if let Some(outs) = outs {
            return match outs.as_slice() {
                [one] if !stencil.is_tuple() => Ok(one.clone().into_any()),
                all => Ok(PyTuple::new(py, all)?.into_any()),
            };
        }
        results(py, &stencil, found)
    }

    /// The fields after so many steps.
    fn iterate<'py>(&self, py: Python<'py>, args: &Bound<'py, PyTuple>, steps: u64) -> PyResult<Bound<'py, PyAny>> {
        let (stencil, found) = self.compute(py, args, |stencil, ctx, leaves| stencil.iterate(ctx, leaves, steps))?;
        results(py, &stencil, found)
    }

    /// The source of the kernel for arguments.
    fn source(&self, py: Python<'_>, args: &Bound<'_, PyTuple>, is_iterated: bool) -> PyResult<String> {
        let (_, text) =
            self.compute(py, args, |stencil, ctx, leaves| stencil.source(ctx, &shape_of(leaves), is_iterated))?;
        Ok(text)
    }

    /// What was recognised, for arguments: a dictionary.
    fn model<'py>(&self, py: Python<'py>, args: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyDict>> {
        let (stencil, choices) = self.compute(py, args, |stencil, ctx, leaves| {
            let shape = shape_of(leaves);
            Ok([false, true].map(|is_iterated| stencil.choice(ctx, &shape, is_iterated)))
        })?;
        let found = describe(py, stencil.model())?;
        found.set_item("names", stencil.names().to_vec())?;
        found.set_item("is_tuple", stencil.is_tuple())?;
        found.set_item("not_iterable", stencil.model().not_iterable())?;
        for (name, choice) in ["choice", "iterated_choice"].into_iter().zip(choices) {
            let fields = PyDict::new(py);
            fields.set_item("kernel", choice.kernel)?;
            fields.set_item("columns", choice.columns)?;
            fields.set_item("rows", choice.rows)?;
            fields.set_item("items", choice.items)?;
            fields.set_item("steps", choice.steps)?;
            found.set_item(name, fields)?;
        }
        Ok(found)
    }
}

impl StencilProgram {
    /// What `body` makes of the stencil for arguments, with the interpreter released.
    fn compute<T: Send>(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        body: impl FnOnce(&Stencil, &Arc<rtcg::array::ArrayContext>, &[Value]) -> Result<T> + Send,
    ) -> PyResult<(Arc<Stencil>, T)> {
        let ctx = array_context()?;
        let Arguments { types, leaves, .. } = Arguments::from_python(py, &ctx, &self.function, args)?;
        let stencil = self.compiled(py, &types)?;
        let stream = rtcg::current_stream();
        let found = py.detach(|| rtcg::run_in_stream(stream.as_ref(), || body(&stencil, &ctx, &leaves)));
        Ok((stencil.clone(), found.map_err(|error| array_error(py, error))?))
    }

    fn compiled(&self, py: Python<'_>, types: &[ArgType]) -> PyResult<Arc<Stencil>> {
        let lock = || self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let walked = lock().walked.clone().filter(|walked| walked.is_current(py));
        let walked = match walked {
            Some(walked) => walked,
            None => {
                let walked = Arc::new(WalkedSource::walk(&self.function.bind(py).getattr("__wrapped__")?)?);
                let mut state = lock();
                state.compiled.clear();
                state.walked = Some(walked.clone());
                walked
            }
        };
        if let Some(known) = lock().compiled.get(types) {
            return Ok(known.clone());
        }
        let source = walked.source.clone();
        let stencil = py.detach(|| Stencil::new(&source, types, self.options));
        let stencil = Arc::new(stencil.map_err(|problems| problems_error(py, &problems, &source))?);
        lock().compiled.insert(types.to_vec(), stencil.clone());
        Ok(stencil)
    }
}

fn shape_of(leaves: &[Value]) -> Vec<usize> {
    leaves
        .iter()
        .find_map(|leaf| leaf.array().filter(|array| array.ndim() > 0))
        .map_or_else(Vec::new, |array| array.shape().to_vec())
}

fn number_of(value: WeakScalar) -> Number {
    match value {
        WeakScalar::Bool(value) => Number::Bool(value),
        WeakScalar::Int(value) => Number::Int(value),
        WeakScalar::Float(value) => Number::Float(value),
        WeakScalar::Complex(re, im) => Number::Complex(re, im),
    }
}

fn results<'py>(py: Python<'py>, stencil: &Stencil, found: Vec<rtcg::array::GpuArray>) -> PyResult<Bound<'py, PyAny>> {
    let objects: Vec<_> =
        found.into_iter().map(|array| Bound::new(py, PyGpuArray::from_array(array))).collect::<PyResult<_>>()?;
    match objects.as_slice() {
        [one] if !stencil.is_tuple() => Ok(one.clone().into_any()),
        all => Ok(PyTuple::new(py, all)?.into_any()),
    }
}

/// A stencil as a dictionary.
pub(super) fn describe<'py>(py: Python<'py>, model: &StencilModel) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    let params = &model.program.params;
    let place = |var| params.iter().position(|param| *param == var);
    let fields: Vec<_> =
        model.fields.iter().map(|field| (place(field.array), field.dtype.name(), field.offsets.clone())).collect();
    let scalars: Vec<_> =
        model.scalars.iter().map(|scalar| (place(*scalar), model.program.var_type(*scalar).dtype.name())).collect();
    found.set_item("axes", model.n_axes)?;
    found.set_item("fields", fields)?;
    found.set_item("scalars", scalars)?;
    found.set_item("radius", model.radius.clone())?;
    found.set_item("outputs", model.outputs.iter().map(|dtype| dtype.name()).collect::<Vec<_>>())?;
    found.set_item("text", rtcg::lang::text::print_program(&model.program))?;
    Ok(found)
}
