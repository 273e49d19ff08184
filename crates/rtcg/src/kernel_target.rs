//! A tunable kernel: each configuration is compiled on a thread, loaded, verified and timed.

use crate::context::Context;
use crate::launch::Function;
use crate::module::Module;
use crate::tune::{Compiler, Config, EnqueueError, Failure, FailureKind, LaunchTimer, Resources, Target, WindowKind};
use rtcg_compile::CompileRequest;
use rtcg_cuda::{Error, Result};
use rtcg_driver::sys;
use std::sync::Arc;

/// Launches a kernel in a configuration; checks what it wrote.
type LaunchFn<'a> = Box<dyn FnMut(&Function, &Config) -> Result<()> + 'a>;
type VerifyFn<'a> = Box<dyn FnMut() -> Result<std::result::Result<(), String>> + 'a>;

/// A kernel whose source depends on a configuration, for [`crate::tune::tune`].
///
/// Candidates run in the given context. A candidate that faults leaves the context unusable, and the rest of the search
/// then fails with that fault; run searches over source that may fault in a process of their own.
///
/// ```
/// use rtcg::KernelTarget;
/// use rtcg::compile::CompileRequest;
/// use rtcg::prelude::*;
/// use rtcg::tune::{Budget, Space, TunerOptions, strategies, tune};
/// use std::ops::ControlFlow;
/// use std::sync::Arc;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ctx = Context::new()?;
/// let target = rtcg::device_compile_target(&ctx.device())?;
/// let n = 10_000usize;
/// let (x, z) = (ctx.to_device(&vec![1.0f32; n])?, ctx.zeros::<f32>(n)?);
/// let space = Arc::new(Space::new().parameter("block", [64, 128, 256])?.parameter("items", [1, 2, 4])?.enumerate()?);
/// let number = |config: &rtcg::tune::Config, name| config.get(name).and_then(|v| v.as_f64()).unwrap_or(1.0) as usize;
/// let request = move |config: &rtcg::tune::Config| {
///     let items = number(config, "items");
///     let source = format!(
///         "__global__ void twice(float *z, const float *x, unsigned n) {{
///            unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) * {items};
///            for (unsigned k = i; k < i + {items} && k < n; ++k) z[k] = 2 * x[k]; }}"
///     );
///     CompileRequest::new(source, target)
/// };
/// let launch = |kernel: &Function, config: &rtcg::tune::Config| {
///     let (block, items) = (number(config, "block"), number(config, "items"));
///     let grid = Grid::new(n.div_ceil(block * items) as u32, block as u32);
///     // SAFETY: the kernel stays below `n`, which both arrays have.
///     unsafe { kernel.launch(grid, &[&z, &x, &(n as u32)]) }
/// };
/// let mut kernel = KernelTarget::new(&ctx, "twice", request, launch).verify(|| {
///     Ok(if z.to_vec()?.iter().all(|z| *z == 2.0) { Ok(()) } else { Err("not twice".to_owned()) })
/// });
/// let options = TunerOptions { budget: Budget::of_evaluations(9), ..TunerOptions::default() };
/// let strategy = strategies::by_name("auto", 0).ok_or("no strategy")?;
/// let report = tune(&mut kernel, &space, strategy, Some(0), &[], &options, &mut |_| ControlFlow::Continue(()));
/// assert_eq!(report.trials.len(), 9);
/// assert!(report.failures().is_empty(), "{report}");
/// println!("{report}");
/// # Ok(())
/// # }
/// ```
pub struct KernelTarget<'a> {
    ctx: Context,
    name: String,
    request: Arc<dyn Fn(&Config) -> CompileRequest + Send + Sync>,
    launch: LaunchFn<'a>,
    verify: Option<VerifyFn<'a>>,
    /// What is launched next, with the module that holds it.
    loaded: Option<(Module, Function, Config)>,
    timer: LaunchTimer,
}

/// Launches that a graph gets.
const MAX_CAPTURED: u32 = 256;

impl<'a> KernelTarget<'a> {
    /// Tunes the kernel `name` of the program that `request` describes; `launch` launches it and must not wait.
    pub fn new(
        ctx: &Context,
        name: &str,
        request: impl Fn(&Config) -> CompileRequest + Send + Sync + 'static,
        launch: impl FnMut(&Function, &Config) -> Result<()> + 'a,
    ) -> Self {
        let (request, launch) = (Arc::new(request), Box::new(launch));
        Self {
            ctx: ctx.clone(),
            name: name.to_owned(),
            request,
            launch,
            verify: None,
            loaded: None,
            timer: LaunchTimer::new(MAX_CAPTURED),
        }
    }

    /// Sets a check of what a launch has written, which returns a description of what is wrong. If the kernel changes
    /// arrays, restore them here or in the launch.
    pub fn verify(mut self, verify: impl FnMut() -> Result<std::result::Result<(), String>> + 'a) -> Self {
        self.verify = Some(Box::new(verify));
        self
    }

    /// Makes each timed launch begin with cold caches, as [`LaunchTimer::cold`] does.
    ///
    /// # Errors
    /// When there is no memory for the buffer that flushes them.
    pub fn cold(mut self) -> Result<Self> {
        self.timer = self.ctx.enter(LaunchTimer::cold)?;
        Ok(self)
    }

    fn launch_loaded(&mut self) -> Result<()> {
        match &self.loaded {
            Some((_, function, config)) => (self.launch)(function, config),
            None => Ok(()),
        }
    }

    fn time_window(&mut self, launches: u32) -> Result<f64> {
        let Self { ctx, loaded, launch, timer, .. } = self;
        let Some((_, function, config)) = loaded else { return Ok(f64::NAN) };
        ctx.enter_with_rtcg_error(|| {
            let enqueue = |count| (0..count).try_for_each(|_| launch(function, config));
            timer.time(launches, enqueue).map_err(|error| match error {
                EnqueueError::Driver(error) => error.into(),
                EnqueueError::Enqueue(error) => error,
            })
        })
    }
}

/// The failure that an error of a launch stands for: what the device refuses, or what went wrong in it.
fn failure_of_error(error: &Error) -> Failure {
    let message = error.to_string();
    let is_refused = ["invalid argument", "too many resources"].iter().any(|words| message.contains(words));
    Failure::new(if is_refused { FailureKind::Constraints } else { FailureKind::Runtime }, message)
}

impl Target for KernelTarget<'_> {
    type Compiled = Arc<[u8]>;

    fn compiler(&self) -> Compiler<Arc<[u8]>> {
        let request = Arc::clone(&self.request);
        Arc::new(move |config| {
            let compiled = rtcg_compile::Compiler.compile(&request(config));
            compiled
                .map(|artifact| artifact.bytes)
                .map_err(|error| Failure::new(FailureKind::Compile, error.to_string()))
        })
    }

    fn load(&mut self, config: &Config, compiled: &Arc<[u8]>) -> std::result::Result<Resources, Failure> {
        let load = || {
            let module = self.ctx.load(compiled)?;
            let function = module.function(&self.name)?;
            Ok((module, function))
        };
        let (module, function) = load().map_err(|error: Error| failure_of_error(&error))?;
        let attribute = |which| function.driver_function().attribute(which).ok();
        use sys::CUfunction_attribute as attributes;
        let resources = Resources {
            registers: attribute(attributes::CU_FUNC_ATTRIBUTE_NUM_REGS).map(|number| number as u32),
            spill_bytes: attribute(attributes::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES).map(|number| number as u64),
            shared_bytes: attribute(attributes::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES).map(|number| number as u64),
            occupancy: None,
        };
        self.timer.start_candidate(&config.to_string());
        self.loaded = Some((module, function, config.clone()));
        Ok(resources)
    }

    fn verify(&mut self) -> std::result::Result<(), Failure> {
        let run = self.launch_loaded().and_then(|()| self.ctx.synchronize());
        run.map_err(|error| failure_of_error(&error))?;
        let Some(verify) = &mut self.verify else { return Ok(()) };
        let verdict = verify().map_err(|error| failure_of_error(&error))?;
        verdict.map_err(|message| Failure::new(FailureKind::Correctness, message))
    }

    fn time(&mut self, launches: u32) -> std::result::Result<f64, Failure> {
        self.time_window(launches).map_err(|error| failure_of_error(&error))
    }

    fn window_kind(&self) -> Option<WindowKind> {
        Some(self.timer.window_kind())
    }
}

impl std::fmt::Debug for KernelTarget<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "KernelTarget({:?})", self.name)
    }
}
