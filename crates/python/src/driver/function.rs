//! `Function`: a kernel and the ways to call it.

use crate::driver::arguments::{Packed, pack};
use crate::driver::graph::{keep_captured, refuse_handlers};
use crate::driver::prepared::Prepared;
use crate::driver::stream::PyStream;
use crate::driver::texture::PyTextureReference;
use crate::errors::{LogicError, OrRaise, driver_error};
use crate::pointer::arguments_used_in;
use pyo3::exceptions::{PyAssertionError, PyAttributeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rtcg::driver::{Context, Event, Function, LaunchOptions, Stream, TextureReference, sys};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

/// A kernel.
#[pyclass(name = "Function", module = "pycuda._driver", frozen, subclass)]
pub(crate) struct PyFunction {
    pub(crate) function: Function,
    prepared: RwLock<Option<Arc<Prepared>>>,
    /// What prepared calls use, kept alive.
    texrefs: RwLock<Vec<TextureReference>>,
}

impl PyFunction {
    pub(crate) fn new(function: Function) -> Self {
        Self { function, prepared: RwLock::new(None), texrefs: RwLock::default() }
    }

    /// The kernel of the core.
    pub(crate) fn core(&self) -> &Function {
        &self.function
    }

    fn prepared(&self) -> PyResult<Arc<Prepared>> {
        let prepared = self.prepared.read().unwrap_or_else(PoisonError::into_inner).clone();
        prepared.ok_or_else(|| LogicError::new_err(format!("kernel '{}' was not prepared", self.function.name())))
    }

    fn launch(&self, py: Python<'_>, geometry: &Geometry, stream: Option<&Stream>, bytes: &[u8]) -> PyResult<()> {
        let Geometry { grid, block, shared, options } = *geometry;
        // SAFETY: number and sizes of the arguments were checked; what the kernel does with them
        // is the business of who wrote it.
        let launch = || unsafe { self.function.launch_with(grid, block, shared, stream, bytes, options) };
        py.detach(launch).or_raise()
    }
}

/// Where and how wide a kernel runs.
struct Geometry {
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    options: LaunchOptions,
}

/// The keywords of a direct call.
struct CallOptions<'py> {
    geometry: Geometry,
    stream: Option<Bound<'py, PyStream>>,
    time_kernel: bool,
    texrefs: Vec<TextureReference>,
}

impl<'py> CallOptions<'py> {
    fn parse(kwargs: Option<&Bound<'py, PyDict>>) -> PyResult<Self> {
        let geometry = Geometry { grid: [1; 3], block: [0; 3], shared: 0, options: LaunchOptions::default() };
        let mut options = Self { geometry, stream: None, time_kernel: false, texrefs: vec![] };
        let (mut has_block, mut unknown) = (false, Vec::new());
        for (key, value) in kwargs.into_iter().flatten() {
            match key.extract::<&str>()? {
                "block" => {
                    options.geometry.block = dimensions(&value, "block")?;
                    has_block = true;
                }
                "grid" => options.geometry.grid = dimensions(&value, "grid")?,
                "shared" => {
                    options.geometry.shared =
                        value.extract().map_err(|_| expected("shared", &value, "bytes, an integer >= 0"))?
                }
                "stream" if value.is_none() => {}
                "stream" => options.stream = Some(stream_argument(value)?),
                "time_kernel" => options.time_kernel = value.is_truthy()?,
                "cooperative" => options.geometry.options.cooperative = value.is_truthy()?,
                "texrefs" => options.texrefs = texture_references(&value)?,
                name => unknown.push(name.to_string()),
            }
        }
        if !unknown.is_empty() {
            return Err(PyValueError::new_err(format!("extra keyword arguments: {}", unknown.join(", "))));
        }
        if !has_block {
            return Err(PyValueError::new_err("must specify block size, for instance block=(256, 1, 1)"));
        }
        if options.time_kernel && options.stream.is_some() {
            return Err(PyAssertionError::new_err(
                "time_kernel cannot be combined with a stream; record events instead",
            ));
        }
        Ok(options)
    }
}

fn expected(name: &str, value: &Bound<'_, PyAny>, wanted: &str) -> PyErr {
    let shown = value.repr().map_or_else(|_| "?".to_string(), |text| text.to_string());
    PyTypeError::new_err(format!("{name} is {shown}; expected {wanted}"))
}

fn stream_argument<'py>(value: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyStream>> {
    value
        .cast_into::<PyStream>()
        .map_err(|error| expected("stream", &error.into_inner(), "a Stream, or None for the default stream"))
}

/// One to three positive numbers; missing ones are 1.
pub(crate) fn dimensions(value: &Bound<'_, PyAny>, name: &str) -> PyResult<[u32; 3]> {
    let mut result = [1; 3];
    let bad = |_| expected(name, value, "a tuple of one to three integers");
    if let Ok(tuple) = value.cast::<PyTuple>() {
        if tuple.is_empty() || tuple.len() > 3 {
            return Err(LogicError::new_err(format!("{name} has {} dimensions; expected one to three", tuple.len())));
        }
        for (slot, item) in result.iter_mut().zip(tuple.iter_borrowed()) {
            *slot = item.extract().map_err(bad)?;
        }
        return Ok(result);
    }
    let list: Vec<u32> = value.extract().or_else(|_| value.extract().map(|n: u32| vec![n])).map_err(bad)?;
    if list.is_empty() || list.len() > 3 {
        return Err(LogicError::new_err(format!("{name} has {} dimensions; expected one to three", list.len())));
    }
    result[..list.len()].copy_from_slice(&list);
    Ok(result)
}

/// The references that a kernel is launched with. Binding has made them visible to the kernels of
/// their module already; here they are only checked and kept alive.
fn texture_references(value: &Bound<'_, PyAny>) -> PyResult<Vec<TextureReference>> {
    if value.is_none() {
        return Ok(vec![]);
    }
    let wrong = |item: &Bound<'_, PyAny>| expected("texrefs", item, "a list of TextureReference");
    let items = value.try_iter().map_err(|_| wrong(value))?;
    items
        .map(|item| {
            let item = item?;
            item.cast::<PyTextureReference>().map(|r| r.get().0.clone()).map_err(|_| wrong(&item))
        })
        .collect()
}

/// Calls `method(stream)` of each handler.
fn call_handlers(handlers: &[Bound<'_, PyAny>], method: &str, stream: Option<&Bound<'_, PyStream>>) -> PyResult<()> {
    handlers.iter().try_for_each(|handler| handler.call_method1(method, (stream,)).map(drop))
}

#[pymethods]
impl PyFunction {
    /// Runs the kernel. See `pycuda.driver.Function` in the stubs for what arguments may be.
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Option<f64>> {
        let options = CallOptions::parse(kwargs)?;
        let stream = options.stream.as_ref();
        refuse_handlers(stream.map(|s| &s.get().0), args)?;
        let Packed { bytes, handlers } = pack(&self.function, args)?;
        options.texrefs.iter().try_for_each(|texref| self.function.param_set_texref(texref)).or_raise()?;
        call_handlers(&handlers, "pre_call", stream)?;
        if options.time_kernel {
            py.detach(Context::synchronize).or_raise()?;
        }
        let start = Instant::now();
        self.launch(py, &options.geometry, stream.map(|s| &s.get().0), &bytes)?;
        keep_captured(stream.map(|s| &s.get().0), args.as_any());
        arguments_used_in(args, stream.map(|s| &s.get().0));
        let outputs: Vec<_> =
            handlers.into_iter().filter(|handler| handler.hasattr("post_call").unwrap_or(false)).collect();
        if outputs.is_empty() && !options.time_kernel {
            return Ok(None);
        }
        match stream.map(|stream| &stream.get().0) {
            Some(stream) => py.detach(|| stream.synchronize()),
            None => py.detach(Context::synchronize),
        }
        .or_raise()?;
        let elapsed = start.elapsed().as_secs_f64();
        call_handlers(&outputs, "post_call", stream)?;
        Ok(options.time_kernel.then_some(elapsed))
    }

    #[pyo3(signature = (arg_types, texrefs = None))]
    fn prepare<'py>(
        slf: Bound<'py, Self>,
        arg_types: &Bound<'py, PyAny>,
        texrefs: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, Self>> {
        if let Some(texrefs) = texrefs {
            *slf.get().texrefs.write().unwrap_or_else(PoisonError::into_inner) = texture_references(texrefs)?;
        }
        let prepared = Prepared::new(&slf.get().function, arg_types)?;
        *slf.get().prepared.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(prepared));
        Ok(slf)
    }

    #[pyo3(signature = (grid, block, *args, shared_size = 0))]
    fn prepared_call(
        &self,
        py: Python<'_>,
        grid: &Bound<'_, PyAny>,
        block: &Bound<'_, PyAny>,
        args: &Bound<'_, PyTuple>,
        shared_size: u32,
    ) -> PyResult<()> {
        let geometry = prepared_geometry(grid, block, shared_size)?;
        let bytes = self.prepared()?.pack(args, 0)?;
        self.launch(py, &geometry, None, &bytes)?;
        arguments_used_in(args, None);
        Ok(())
    }

    #[pyo3(signature = (grid, block, stream, *args, shared_size = 0))]
    fn prepared_async_call<'py>(
        &self,
        py: Python<'py>,
        grid: &Bound<'py, PyAny>,
        block: &Bound<'py, PyAny>,
        stream: Option<&Bound<'py, PyStream>>,
        args: &Bound<'py, PyTuple>,
        shared_size: u32,
    ) -> PyResult<()> {
        let geometry = prepared_geometry(grid, block, shared_size)?;
        let bytes = self.prepared()?.pack(args, 0)?;
        self.launch(py, &geometry, stream.map(|s| &s.get().0), &bytes)?;
        keep_captured(stream.map(|s| &s.get().0), args.as_any());
        arguments_used_in(args, stream.map(|s| &s.get().0));
        Ok(())
    }

    /// Returns a callable that waits for the kernel and gives its run time in seconds.
    #[pyo3(signature = (grid, block, *args, shared_size = 0))]
    fn prepared_timed_call(
        &self,
        py: Python<'_>,
        grid: &Bound<'_, PyAny>,
        block: &Bound<'_, PyAny>,
        args: &Bound<'_, PyTuple>,
        shared_size: u32,
    ) -> PyResult<TimedCall> {
        let geometry = prepared_geometry(grid, block, shared_size)?;
        let bytes = self.prepared()?.pack(args, 0)?;
        let (start, end) = (Event::new(0).or_raise()?, Event::new(0).or_raise()?);
        start.record(None).or_raise()?;
        self.launch(py, &geometry, None, &bytes)?;
        arguments_used_in(args, None);
        end.record(None).or_raise()?;
        Ok(TimedCall { start, end })
    }

    fn get_attribute(&self, attribute: u32) -> PyResult<i32> {
        self.function.attribute(sys::CUfunction_attribute(attribute)).or_raise()
    }

    fn set_attribute(&self, attribute: u32, value: i32) -> PyResult<()> {
        self.function.set_attribute(sys::CUfunction_attribute(attribute), value).or_raise()
    }

    fn set_cache_config(&self, fc: u32) -> PyResult<()> {
        self.function.set_cache_config(sys::CUfunc_cache(fc)).or_raise()
    }

    fn set_shared_config(&self, sc: u32) -> PyResult<()> {
        self.function.set_shared_config(sys::CUsharedconfig(sc)).or_raise()
    }

    fn param_set_texref(&self, texref: &Bound<'_, PyTextureReference>) -> PyResult<()> {
        self.function.param_set_texref(&texref.get().0).or_raise()
    }

    /// The kernel's name (an addition to PyCUDA).
    #[getter]
    fn name(&self) -> &str {
        self.function.name()
    }

    /// Any function attribute by its lower-case name, for instance `num_regs`.
    fn __getattr__(&self, name: &str) -> PyResult<i32> {
        let wanted = format!("CU_FUNC_ATTRIBUTE_{}", name.to_uppercase());
        let found = sys::CUfunction_attribute::ALL.iter().find(|(known, _)| *known == wanted && name != "max");
        match found {
            Some((_, attribute)) => self.function.attribute(*attribute).map_err(driver_error),
            None => Err(PyAttributeError::new_err(format!("'Function' object has no attribute '{name}'"))),
        }
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        crate::driver::html_of("function_html", slf)
    }

    fn __repr__(&self) -> String {
        format!("<pycuda.driver.Function {}>", self.function.name())
    }
}

fn prepared_geometry(grid: &Bound<'_, PyAny>, block: &Bound<'_, PyAny>, shared: u32) -> PyResult<Geometry> {
    let (grid, block) = (dimensions(grid, "grid")?, dimensions(block, "block")?);
    Ok(Geometry { grid, block, shared, options: LaunchOptions::default() })
}

/// A launch between two events.
#[pyclass(name = "TimedCall", module = "pycuda._driver", frozen)]
struct TimedCall {
    start: Event,
    end: Event,
}

#[pymethods]
impl TimedCall {
    fn __call__(&self, py: Python<'_>) -> PyResult<f64> {
        py.detach(|| self.end.synchronize()).or_raise()?;
        Ok(f64::from(self.end.time_since(&self.start).or_raise()?) * 1e-3)
    }
}

pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyFunction>()
}
