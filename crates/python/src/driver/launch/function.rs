//! `Function`: a kernel and the ways to call it.

use crate::driver::fastcall::{
    CallableType, FastcallMethod, KeywordArgs, MethodBody, PositionalArgs, RawArguments, add_getters, add_methods,
    call_method_body, raw_result,
};
use crate::driver::graph::capture::reject_handlers_during_capture;
use crate::driver::launch::arguments::{ArgumentResources, PyArgumentPacker};
use crate::driver::launch::cached_call::{CachedCallCell, CallKind, CompletedCall};
use crate::driver::launch::geometry::{
    CallOptions, HOW_TO_LAUNCH, LaunchGeometry, parse_dimensions, parse_prepared_geometry, texture_references,
};
use crate::driver::launch::prepared_call::{PackBuffer, PreparedLayout, PreparedTypes};
use crate::driver::memory::device_pointer::record_argument_uses;
use crate::driver::memory::pool::is_pool_in_use;
use crate::driver::stream::{PyStream, extract_stream};
use crate::driver::texture::PyTextureReference;
use crate::errors::{LogicError, OrRaise, driver_error};
use crate::integer::int;
use crate::resource_lifetime::{DropDetached, filled_object};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi::{Py_ssize_t, PyObject};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyInt;
use rtcg::driver::{Context, Event, Function, Stream, TextureReference, is_any_capturing, sys};
use std::cell::Cell;
use std::ffi::c_void;
use std::path::PathBuf;
use std::sync::{PoisonError, RwLock};
use std::time::Instant;

/// A kernel.
///
/// Every attribute of `rtcg.driver.function_attribute` is also a property with its lower-case name, such as
/// ``function.num_regs``.
#[pyclass(name = "Function", module = "rtcg.driver", frozen, subclass, dict, weakref)]
pub(crate) struct PyFunction {
    pub(crate) function: DropDetached<Function>,
    prepared: PreparedTypes,
    pub(crate) last: CachedCallCell,
    /// What prepared calls use, kept alive.
    texrefs: DropDetached<RwLock<Vec<TextureReference>>>,
}

impl PyFunction {
    pub(crate) fn new(function: Function) -> Self {
        Self {
            function: DropDetached::new(function),
            prepared: PreparedTypes::default(),
            last: CachedCallCell::default(),
            texrefs: DropDetached::new(RwLock::default()),
        }
    }

    /// The kernel of the core.
    pub(crate) fn driver_function(&self) -> &Function {
        &self.function
    }

    /// The argument types that it is prepared for, if it is.
    pub(crate) fn prepared_types(&self) -> Option<&PreparedLayout> {
        self.prepared.current_layout()
    }

    fn prepared_types_or_error(&self) -> PyResult<&PreparedLayout> {
        self.prepared_types()
            .ok_or_else(|| LogicError::new_err(format!("kernel '{}' was not prepared", self.function.name())))
    }

    /// Lets later calls like this one use the cached call.
    fn cache_call(&self, kind: CallKind, args: PositionalArgs<'_, '_>, keywords: &KeywordArgs<'_, '_>) {
        self.last.cache_call(self, &CompletedCall { kind, args, keywords });
    }

    fn launch_packed(
        &self,
        py: Python<'_>,
        geometry: &LaunchGeometry,
        stream: Option<&Stream>,
        bytes: &[u8],
    ) -> PyResult<()> {
        let LaunchGeometry { grid, block, shared, options } = geometry;
        // SAFETY: number, sizes and known types of the arguments were checked; what the kernel does
        // with them is the business of who wrote it.
        let launch = || unsafe {
            match options {
                None => self.function.launch(*grid, *block, *shared, stream, bytes),
                Some(options) => self.function.launch_with_options(*grid, *block, *shared, stream, bytes, **options),
            }
        };
        // Others get the interpreter where the launch may wait, perhaps for them.
        if self.function.launch_may_wait() { py.detach(launch).or_raise() } else { launch().or_raise() }
    }
}

/// Calls `method(stream)` of each handler.
fn call_handlers(handlers: &[Bound<'_, PyAny>], method: &str, stream: Option<&Bound<'_, PyStream>>) -> PyResult<()> {
    handlers.iter().try_for_each(|handler| handler.call_method1(method, (stream,)).map(drop))
}

/// `func(*args, block=, grid=, ...)`
fn call_function<'py>(
    slf: &Bound<'py, PyAny>,
    args: PositionalArgs<'_, 'py>,
    keywords: KeywordArgs<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = args.py();
    let this = function_of_slf(slf)?;
    let options = CallOptions::from_launch_keywords(py, &keywords)?;
    let stream = options.stream.as_ref().map(|stream| &*stream.get().0);
    if is_any_capturing() {
        reject_handlers_during_capture(stream, &args.to_tuple()?)?;
    }
    let mut packer = this.function.arg_packer();
    let extras = PyArgumentPacker::new(&this.function, &mut packer).pack_all(args)?;
    let bytes = packer.packed_bytes().or_raise()?;
    if !options.texrefs.is_empty() {
        options.texrefs.iter().try_for_each(|texref| this.function.param_set_texref(texref)).or_raise()?;
    }
    if extras.handlers.is_empty() && !options.time_kernel {
        this.launch_packed(py, &options.geometry, stream, bytes)?;
        record_submitted_arguments(stream, args)?;
        this.cache_call(CallKind::Direct, args, &keywords);
        return Ok(py.None().into_bound(py));
    }
    call_with_handlers(this, &options, &extras, bytes, args)
}

/// Tells graphs and pools which objects a launch uses, where there are any.
#[inline]
fn record_submitted_arguments(stream: Option<&Stream>, args: PositionalArgs<'_, '_>) -> PyResult<()> {
    if !is_any_capturing() && !is_pool_in_use() {
        return Ok(());
    }
    record_argument_uses(&args.to_tuple()?, stream);
    Ok(())
}

/// A call that copies around the launch, or is timed.
fn call_with_handlers<'py>(
    this: &PyFunction,
    options: &CallOptions<'py>,
    extras: &ArgumentResources<'py>,
    bytes: &[u8],
    args: PositionalArgs<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = args.py();
    let stream = options.stream.as_ref();
    let wait = || match stream.map(|stream| &*stream.get().0) {
        Some(stream) => py.detach(|| stream.synchronize()),
        None => py.detach(Context::synchronize),
    };
    call_handlers(&extras.handlers, "pre_call", stream)?;
    if options.time_kernel {
        wait().or_raise()?;
    }
    let start = Instant::now();
    this.launch_packed(py, &options.geometry, stream.map(|s| &*s.get().0), bytes)?;
    record_submitted_arguments(stream.map(|s| &*s.get().0), args)?;
    let outputs: Vec<_> =
        extras.handlers.iter().filter(|handler| handler.hasattr("post_call").unwrap_or(false)).cloned().collect();
    if outputs.is_empty() && !options.time_kernel {
        return Ok(py.None().into_bound(py));
    }
    wait().or_raise()?;
    let elapsed = start.elapsed().as_secs_f64();
    call_handlers(&outputs, "post_call", stream)?;
    options.time_kernel.then_some(elapsed).into_bound_py_any(py)
}

/// The kernel that a call is about.
#[inline]
fn function_of_slf<'a>(slf: &'a Bound<'_, PyAny>) -> PyResult<&'a PyFunction> {
    Ok(slf.cast::<PyFunction>()?.get())
}

/// `prepared_call(grid, block, *args, shared_size=0)`
fn prepared_call<'py>(
    slf: &Bound<'py, PyAny>,
    args: PositionalArgs<'_, 'py>,
    keywords: KeywordArgs<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let this = function_of_slf(slf)?;
    let geometry = parse_prepared_geometry("prepared_call", args, &keywords)?;
    let mut buffer = PackBuffer::new();
    let bytes = this.prepared_types_or_error()?.pack_call_arguments(args.skip_args(2), &mut buffer)?;
    this.launch_packed(args.py(), &geometry, None, bytes)?;
    record_submitted_arguments(None, args)?;
    this.cache_call(CallKind::Prepared, args, &keywords);
    Ok(args.py().None().into_bound(args.py()))
}

/// `prepared_async_call(grid, block, stream, *args, shared_size=0)`
fn prepared_async_call<'py>(
    slf: &Bound<'py, PyAny>,
    args: PositionalArgs<'_, 'py>,
    keywords: KeywordArgs<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let this = function_of_slf(slf)?;
    let geometry = parse_prepared_geometry("prepared_async_call", args, &keywords)?;
    let stream = match args.get_arg(2) {
        Some(stream) if stream.is_none() => None,
        Some(stream) => Some(extract_stream(&stream)?),
        None => return Err(PyTypeError::new_err("prepared_async_call() needs grid, block and stream")),
    };
    let stream = stream.as_ref().map(|stream| &*stream.get().0);
    let mut buffer = PackBuffer::new();
    let bytes = this.prepared_types_or_error()?.pack_call_arguments(args.skip_args(3), &mut buffer)?;
    this.launch_packed(args.py(), &geometry, stream, bytes)?;
    record_submitted_arguments(stream, args)?;
    this.cache_call(CallKind::PreparedAsync, args, &keywords);
    Ok(args.py().None().into_bound(args.py()))
}

/// `prepared_timed_call(grid, block, *args, shared_size=0)`
fn prepared_timed_call<'py>(
    slf: &Bound<'py, PyAny>,
    args: PositionalArgs<'_, 'py>,
    keywords: KeywordArgs<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let this = function_of_slf(slf)?;
    let geometry = parse_prepared_geometry("prepared_timed_call", args, &keywords)?;
    let mut buffer = PackBuffer::new();
    let bytes = this.prepared_types_or_error()?.pack_call_arguments(args.skip_args(2), &mut buffer)?;
    let (start, end) = (Event::new(0).or_raise()?, Event::new(0).or_raise()?);
    start.record(None).or_raise()?;
    this.launch_packed(args.py(), &geometry, None, bytes)?;
    record_submitted_arguments(None, args)?;
    end.record(None).or_raise()?;
    Bound::new(args.py(), TimedCall { start: DropDetached::new(start), end: DropDetached::new(end) })
        .map(Bound::into_any)
}

/// Calls the kernel from the cache if the call is like the last one, else by `body`.
///
/// # Safety
/// As [`call_method_body`], with a kernel.
#[inline(always)]
unsafe fn call_through_cache(kind: CallKind, body: MethodBody, slf: *mut PyObject, row: RawArguments) -> *mut PyObject {
    // SAFETY: this function's contract.
    unsafe {
        let py = Python::assume_attached();
        let object = Borrowed::from_ptr(py, slf);
        let this = object.cast_unchecked::<PyFunction>().get();
        match this.last.call_cached(py, this, kind, row) {
            Some(done) => raw_result(py, done.map(|()| py.None().into_bound(py))),
            None => call_method_body(body, slf, row),
        }
    }
}

/// What the interpreter calls for `func(...)`. The highest bit of `nargsf` is a flag.
unsafe extern "C" fn function_vectorcall(
    slf: *mut PyObject,
    args: *const *mut PyObject,
    nargsf: usize,
    names: *mut PyObject,
) -> *mut PyObject {
    let row = RawArguments::new(args, nargsf & (usize::MAX >> 1), names);
    // SAFETY: called by the interpreter only, with an object of the class.
    unsafe { call_through_cache(CallKind::Direct, call_function, slf, row) }
}

/// Calls a kernel's object as the interpreter does.
///
/// # Safety
/// `function` must be a `Function`; as [`call_method_body`].
pub(crate) unsafe fn call_function_object(function: *mut PyObject, row: RawArguments) -> *mut PyObject {
    // SAFETY: this function's contract.
    unsafe { call_through_cache(CallKind::Direct, call_function, function, row) }
}

macro_rules! fastcall_methods {
    ($($c_function:ident = $name:literal calls $body:ident as $kind:ident: $doc:literal;)*) => {
        $(unsafe extern "C" fn $c_function(
            slf: *mut PyObject,
            args: *const *mut PyObject,
            nargs: Py_ssize_t,
            names: *mut PyObject,
        ) -> *mut PyObject {
            let row = RawArguments::new(args, nargs.max(0) as usize, names);
            // SAFETY: called by the interpreter only, with an object of the class, which descriptors check.
            unsafe { call_through_cache(CallKind::$kind, $body, slf, row) }
        })*
        const FASTCALL_METHODS: &[FastcallMethod] = &[$(FastcallMethod { name: $name, call: $c_function, doc: $doc }),*];
    };
}

fastcall_methods! {
    c_call = c"__call__" calls call_function as Direct:
        cr"__call__($self, /, *args, block, grid=(1, 1, 1), stream=None, shared=0, texrefs=(),
    time_kernel=False, cooperative=False, cluster=None, preferred_cluster=None,
    cluster_scheduling=None, programmatic_dependent=False, priority=None, mem_sync_domain=None,
    mem_sync_domain_map=None, shared_carveout=None, programmatic_event=None,
    launch_completion_event=None)
--

Launch the kernel; does not wait, except with `Out`, `InOut` or `time_kernel`.

Before anything reaches the device, the call checks the number and sizes of the arguments, and their
types if the source of a `SourceModule` declares them (see docs/launches.md).

Parameters
----------
*args
    NumPy scalars (by value); Python numbers, if the type is known and can hold them;
    device allocations and arrays on the device of any library; `In`, `Out`, `InOut`; NumPy
    arrays, structured scalars, bytes and values of ctypes (their bytes by value).
block : int or up to three int
    Threads per block. Required.
grid : int or up to three int
    Blocks, default 1.
stream : Stream or object with ``__cuda_stream__``, optional
shared : int
    Dynamic shared memory in bytes. More than the default limit is enabled automatically.
time_kernel : bool
    Wait, and return the run time in seconds.
cooperative : bool
    All blocks are resident at once, so that the grid can synchronise.
cluster : up to three int, optional
    Blocks per cluster (compute capability 9.0); `preferred_cluster` is used if it fits.
programmatic_dependent : bool
    The kernel may start while the previous one still runs, and itself waits for it.
priority, mem_sync_domain, shared_carveout, ...
    The attributes of ``cuLaunchKernelEx`` with these names.

Raises
------
TypeError
    If the kernel does not take an argument of this kind or type.
OverflowError
    If the type of a parameter cannot hold a number.
LogicError
    If the number or sizes of the arguments do not fit the kernel; the message says which.
LaunchError
    If the device cannot run this geometry.";
    c_prepared_call = c"prepared_call" calls prepared_call as Prepared:
        c"prepared_call($self, grid, block, /, *args, shared_size=0, **options)\n--\n\n\
          Run the kernel with the prepared argument types; does not wait. `options` are those of a direct call.";
    c_prepared_async_call = c"prepared_async_call" calls prepared_async_call as PreparedAsync:
        c"prepared_async_call($self, grid, block, stream, /, *args, shared_size=0, **options)\n--\n\n\
          Like `prepared_call`, in a stream; does not wait.";
    c_prepared_timed_call = c"prepared_timed_call" calls prepared_timed_call as PreparedTimed:
        c"prepared_timed_call($self, grid, block, /, *args, shared_size=0, **options)\n--\n\n\
          Like `prepared_call`; calling the result waits and returns the kernel's time in seconds.";
}

thread_local! {
    /// The kernel that the next object of the class is for.
    static FUNCTION_FOR_NEW_OBJECT: Cell<Option<PyFunction>> = const { Cell::new(None) };
}

static CALLABLE_TYPE: PyOnceLock<CallableType> = PyOnceLock::new();

fn callable_type(py: Python<'_>) -> PyResult<&CallableType> {
    CALLABLE_TYPE.get_or_try_init(py, || {
        let base = py.get_type::<PyFunction>();
        add_methods(&base, FASTCALL_METHODS)?;
        let names = sys::CUfunction_attribute::NAMED_CONSTANTS.iter().filter_map(|(name, attribute)| {
            let name = name.strip_prefix("CU_FUNC_ATTRIBUTE_")?.to_lowercase();
            (name != "max").then_some((name, attribute.0))
        });
        add_getters(&base, get_attribute_c, "function_attribute", names)?;
        CallableType::new(&base, c"rtcg.driver.Function", function_vectorcall)
    })
}

/// A property that is a function attribute.
unsafe extern "C" fn get_attribute_c(slf: *mut PyObject, number: *mut c_void) -> *mut PyObject {
    // SAFETY: called by the interpreter only, with an object of the class.
    let (py, slf) = unsafe { (Python::assume_attached(), Borrowed::from_ptr(Python::assume_attached(), slf)) };
    let attribute = sys::CUfunction_attribute(number.addr() as u32);
    let value = function_of_slf(&slf).and_then(|this| this.function.attribute(attribute).map_err(driver_error));
    raw_result(py, value.map(|value| PyInt::new(py, value).into_any()))
}

/// A kernel to be given to Python.
pub(crate) struct KernelObject(pub(crate) Function);

impl<'py> IntoPyObject<'py> for KernelObject {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        FUNCTION_FOR_NEW_OBJECT.set(Some(PyFunction::new(self.0)));
        callable_type(py)?.new_instance(py)
    }
}

#[pymethods]
impl PyFunction {
    #[new]
    fn new_object() -> PyResult<Self> {
        let text = "kernels are not made but got from a module, by get_function(name)";
        FUNCTION_FOR_NEW_OBJECT.take().ok_or_else(|| PyTypeError::new_err(text))
    }

    /// Fix the argument types, by the letters of `struct` (P is a pointer) or by dtypes.
    #[pyo3(signature = (arg_types, texrefs = None))]
    fn prepare<'py>(
        slf: Bound<'py, Self>,
        arg_types: &Bound<'py, PyAny>,
        texrefs: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, Self>> {
        if let Some(texrefs) = texrefs {
            *slf.get().texrefs.write().unwrap_or_else(PoisonError::into_inner) = texture_references(texrefs)?;
        }
        let prepared = PreparedLayout::new(&slf.get().function, arg_types)?;
        slf.get().last.replace(slf.py(), None);
        slf.get().prepared.set_layout(prepared);
        Ok(slf)
    }

    /// A `function_attribute`, an int.
    fn get_attribute(&self, #[pyo3(from_py_with = int)] attribute: u32) -> PyResult<i32> {
        self.function.attribute(sys::CUfunction_attribute(attribute)).or_raise()
    }

    /// Set a `function_attribute`, such as MAX_DYNAMIC_SHARED_SIZE_BYTES; raises `LogicError` if it is read-only.
    fn set_attribute(
        &self,
        #[pyo3(from_py_with = int)] attribute: u32,
        #[pyo3(from_py_with = int)] value: i32,
    ) -> PyResult<()> {
        self.function.set_attribute(sys::CUfunction_attribute(attribute), value).or_raise()
    }

    /// Request a division of the L1 cache by `func_cache`.
    fn set_cache_config(&self, #[pyo3(from_py_with = int)] fc: u32) -> PyResult<()> {
        self.function.set_cache_config(sys::CUfunc_cache(fc)).or_raise()
    }

    /// Request a width of shared-memory banks by `shared_config`; current devices have only one.
    fn set_shared_config(&self, #[pyo3(from_py_with = int)] sc: u32) -> PyResult<()> {
        self.function.set_shared_config(sys::CUsharedconfig(sc)).or_raise()
    }

    /// Does nothing: kernels of a module see all its bound texture references.
    fn param_set_texref(&self, texref: &Bound<'_, PyTextureReference>) -> PyResult<()> {
        self.function.param_set_texref(&filled_object(texref)?.0).or_raise()
    }

    /// The name of the kernel (an addition to PyCUDA).
    #[getter]
    fn name(&self) -> &str {
        self.function.name()
    }

    /// The number of blocks of `block_threads` threads that fit on a multiprocessor at once.
    #[pyo3(signature = (block_threads, shared = 0))]
    fn max_active_blocks_per_multiprocessor(
        &self,
        #[pyo3(from_py_with = int)] block_threads: u32,
        #[pyo3(from_py_with = int)] shared: usize,
    ) -> PyResult<u32> {
        self.function.max_active_blocks(block_threads, shared).or_raise()
    }

    /// ``(blocks that fill the device, threads per block)`` for the best occupancy; `limit` bounds the threads.
    #[pyo3(signature = (shared = 0, limit = 0))]
    fn max_potential_block_size(
        &self,
        #[pyo3(from_py_with = int)] shared: usize,
        #[pyo3(from_py_with = int)] limit: u32,
    ) -> PyResult<(u32, u32)> {
        self.function.max_potential_block_size(shared, limit).or_raise()
    }

    /// The bytes that each of `blocks` blocks on a multiprocessor can have.
    fn available_dynamic_shared_memory(
        &self,
        #[pyo3(from_py_with = int)] blocks: u32,
        #[pyo3(from_py_with = int)] block_threads: u32,
    ) -> PyResult<usize> {
        self.function.available_dynamic_shared(blocks, block_threads).or_raise()
    }

    /// The number of blocks in the largest possible cluster.
    #[pyo3(signature = (block, shared = 0))]
    fn max_potential_cluster_size(
        &self,
        block: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = int)] shared: u32,
    ) -> PyResult<u32> {
        self.function.max_potential_cluster_size(parse_dimensions(block, "block")?, shared).or_raise()
    }

    /// The number of clusters that run at once on the device.
    #[pyo3(signature = (cluster, block, shared = 0))]
    fn max_active_clusters(
        &self,
        cluster: &Bound<'_, PyAny>,
        block: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = int)] shared: u32,
    ) -> PyResult<u32> {
        let (cluster, block) = (parse_dimensions(cluster, "cluster")?, parse_dimensions(block, "block")?);
        self.function.max_active_clusters(cluster, block, shared).or_raise()
    }

    /// The parameters as declared in the source, ``[("const float *", "x"), ...]``, or None if they are unknown (an
    /// addition to PyCUDA).
    #[getter]
    fn signature(&self) -> Option<Vec<(String, Option<String>)>> {
        let signature = self.function.signature()?;
        Some(signature.params.iter().map(|p| (p.c_type.clone(), p.name.clone())).collect())
    }

    /// What the kernel was compiled from: source text, options, include folders, and whether C++ names were left as
    /// they are; or None if that is unknown.
    #[getter(_source)]
    fn source(&self) -> Option<(String, Vec<String>, Vec<PathBuf>, bool)> {
        let source = self.function.module().source()?;
        let folders = source.include_dirs.clone();
        Some((source.text.to_string(), source.options.to_vec(), folders, source.no_extern_c))
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        crate::driver::notebook_html("function_html", slf)
    }

    /// Numba's way to launch, which is told ours.
    fn __getitem__(&self, _configuration: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(PyTypeError::new_err(format!("a kernel has no items: {HOW_TO_LAUNCH}")))
    }

    fn __repr__(&self) -> String {
        format!("<rtcg.driver.Function {}>", self.function.name())
    }
}

/// A launch between two events.
#[pyclass(name = "TimedCall", module = "rtcg.driver", frozen, dict, weakref)]
struct TimedCall {
    start: DropDetached<Event>,
    end: DropDetached<Event>,
}

#[pymethods]
impl TimedCall {
    fn __call__(&self, py: Python<'_>) -> PyResult<f64> {
        py.detach(|| self.end.synchronize()).or_raise()?;
        Ok(f64::from(self.end.time_since(&self.start).or_raise()?) * 1e-3)
    }
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let class = callable_type(m.py())?.python_class(m.py());
    m.add("Function", class)
}
