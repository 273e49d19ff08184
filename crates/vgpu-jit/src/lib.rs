//! PTX to machine code: a kernel becomes a function that runs one warp of 32 lanes in lock step.
//!
//! `simt` decides, independently of any code generator, what is computed once for all lanes, how
//! divergence is handled and where values are stored; `emit` turns that into machine code with Cranelift.
//! `docs/virtual-gpu-internals.md` explains the model. The interface with the runtime is [`compile_kernel`] on one
//! side and [`RuntimeCalls`] on the other.
//!
//! This is the only crate that depends on Cranelift. It depends on neither the engine nor the driver.

mod emit;
mod simt;

pub use cache_key::{CodeStore, ModuleCodeCache};
pub use emit::code::cache_key;
pub use emit::function::internal_errors;
pub(crate) use emit::function::out_of_line::run_slow_path;
pub(crate) use emit::isa;
pub use emit::ops;
use rtcg_ptx::ast::{self, FuncId};
use rtcg_vgpu_abi::instrument::Instrumentation;
use rtcg_vgpu_abi::runtime::RuntimeCalls;
use rtcg_vgpu_abi::{KernelEntry, LaneSet};
pub use simt::fma_contraction::FMAD_DISABLED_COMMENT;
pub use simt::operands;
pub use simt::param_bounds::param_access_problem;
pub use simt::register_needs::{RegisterNeeds, register_needs};
pub use simt::symbol_layout::{SharedLayout, SharedVar, SymbolLayout, function_token, reachable_functions};
use std::sync::{Arc, OnceLock};

/// The version of Cranelift, on which machine code depends.
pub const CRANELIFT_VERSION: &str = cranelift_codegen::VERSION;

/// What a compilation assumes of the launches it serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LaunchVariant {
    /// `ntid.x` is a multiple of 32, or the block is one-dimensional: `%tid.x` of a warp's lanes
    /// is lane 0's plus the lane index, `%tid.y` and `%tid.z` are the same in all lanes.
    pub linear_tid: bool,
    /// `ntid.x` is a multiple of 8 but `linear_tid` does not hold: the same is true of each eight
    /// lanes that are computed together.
    pub tid_contiguous_8: bool,
    /// The number of threads of a block is a multiple of 32: no warp has missing lanes.
    pub full_warps: bool,
    /// The block is one thread. Where the kernel is one that then has uniform registers only
    /// (`simt/single_thread.rs`), converged code serves that thread; for other kernels it changes nothing.
    pub single_thread: bool,
    /// Compiles only masked code; for tests.
    pub force_masked: bool,
    /// Skips if-conversion; for tests.
    pub no_if_conversion: bool,
    /// Whether Cranelift optimises; where nothing is said, the length of the code decides. For tests.
    pub optimise: Option<bool>,
    /// Uses no more than every processor of this architecture has (of x86-64: SSE2). The results are
    /// the same, only slower; for tests.
    pub baseline: bool,
    /// Compiles quickly rather than well: masked code alone, in loops over chunks, without optimisation and with registers
    /// allocated in one pass.
    pub first_tier: bool,
    /// Cranelift verifies what it is given. The code is the same.
    pub verify: bool,
}

static FORCE_MASKED: OnceLock<bool> = OnceLock::new();
static NO_IF_CONVERSION: OnceLock<bool> = OnceLock::new();
static VERIFY_CLIF: OnceLock<bool> = OnceLock::new();
/// Fails to compile masked code; for tests.
static FAIL_MASKED_COMPILE: OnceLock<bool> = OnceLock::new();
static BASELINE_ISA: OnceLock<bool> = OnceLock::new();

/// Whether an environment variable for tests of the JIT is set; read once.
fn env_flag(name: &str, cell: &OnceLock<bool>) -> bool {
    *cell.get_or_init(|| std::env::var_os(name).is_some())
}

/// Whether compiling masked code fails, as `RTCG_JIT_NO_MASKED` wants it.
fn fails_masked_code() -> bool {
    env_flag("RTCG_JIT_NO_MASKED", &FAIL_MASKED_COMPILE)
}

/// Whether `RTCG_JIT_ISA` asks for what every processor has; read once. The other value is `native`.
fn is_baseline_isa() -> bool {
    *BASELINE_ISA.get_or_init(|| std::env::var_os("RTCG_JIT_ISA").is_some_and(|isa| isa == "baseline"))
}

/// Whether approximate functions of single and half precision have the bits of a GPU, as they do unless `RTCG_APPROX` asks
/// for faster ones; read once.
pub(crate) fn has_device_approximations() -> bool {
    static SETTING: OnceLock<bool> = OnceLock::new();
    let parse = |text: &str| match text {
        "device" => Some(true),
        "fast" => Some(false),
        _ => None,
    };
    *SETTING.get_or_init(|| rtcg_vgpu_abi::env::env_setting("RTCG_APPROX", "`device` or `fast`", parse).unwrap_or(true))
}

impl LaunchVariant {
    /// The variant that serves blocks of this shape.
    pub fn from_block_shape(block: [u32; 3]) -> LaunchVariant {
        let [x, y, z] = block;
        let threads = u64::from(x) * u64::from(y) * u64::from(z);
        let linear_tid = x % 32 == 0 || (y == 1 && z == 1);
        LaunchVariant {
            linear_tid,
            tid_contiguous_8: !linear_tid && x % 8 == 0,
            full_warps: threads % 32 == 0,
            single_thread: threads == 1,
            force_masked: env_flag("RTCG_JIT_FORCE_MASKED", &FORCE_MASKED),
            no_if_conversion: env_flag("RTCG_JIT_NO_IF_CONVERSION", &NO_IF_CONVERSION),
            optimise: None,
            baseline: is_baseline_isa(),
            first_tier: false,
            verify: cfg!(debug_assertions) || env_flag("RTCG_VERIFY_JIT", &VERIFY_CLIF),
        }
    }
}

impl LaunchVariant {
    /// Whether there is no converged code.
    pub(crate) fn is_masked_only(&self) -> bool {
        self.force_masked || self.first_tier
    }
}

/// What traces compilations.
#[derive(Debug, Clone, Copy)]
pub struct CompileTracer {
    /// The time a compilation begins at; `None` while nothing is traced.
    pub begin: fn() -> Option<u64>,
    /// Is called at its end with that time and a description.
    pub end: fn(begun: u64, description: &str),
}

static COMPILE_TRACER: OnceLock<CompileTracer> = OnceLock::new();

/// Has the compilations of this process traced; the first call decides.
pub fn set_compile_tracer(tracer: CompileTracer) {
    let _ = COMPILE_TRACER.set(tracer);
}

/// The device window: `(address ^ base) >> bits == 0` for every address inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowAddress {
    /// First address, a multiple of `1 << bits`.
    pub base: u64,
    /// Binary logarithm of its size.
    pub bits: u32,
}

/// Why a kernel was not compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JitError {
    /// What is wrong, in one sentence.
    pub message: String,
    /// The function it is in.
    pub function: String,
    /// Where in the PTX text, when an instruction is the cause.
    pub span: Option<ast::Span>,
    /// Line of the PTX text, counted from 1; 0 when unknown.
    pub ptx_line: u32,
}

impl std::fmt::Display for JitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.function, self.message)?;
        if self.ptx_line != 0 {
            write!(f, " (PTX line {})", self.ptx_line)?;
        }
        Ok(())
    }
}

impl std::error::Error for JitError {}

/// An instruction of the kernel, found from a program counter or a site number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstructionSite {
    /// The function.
    pub function: String,
    /// Where its PTX text is.
    pub span: ast::Span,
    /// The line in the CUDA source, with `-lineinfo`.
    pub line: Option<ast::SourceLine>,
    /// The lanes concerned.
    pub lanes: LaneSet,
    /// Whether it stores (or both loads and stores).
    pub is_store: bool,
    /// Bytes of one lane's access, 0 when it is none.
    pub access_bytes: u32,
}

/// A kernel as machine code.
#[derive(Debug)]
pub struct JitKernel {
    /// Runs one warp.
    pub entry: KernelEntry,
    /// What [`rtcg_vgpu_abi::WarpCtx::host`] must be for it, as a number.
    pub host: usize,
    /// Whether it may suspend (barrier, yield, sleep): then each warp needs a fiber of its own.
    pub suspends: bool,
    /// Bytes of local memory a warp needs, without recursion; at least this much must lie between
    /// `local_sp` and `local_end`.
    pub local_bytes_per_warp: u64,
    /// Whether functions may recurse or be called indirectly, so that stack and local memory have no static bound.
    pub recursive: bool,
    /// Bytes of native stack that the deepest chain of calls needs, without recursion.
    pub stack_bytes: u32,
    /// The layout of its shared memory.
    pub shared: SharedLayout,
    code: emit::code::loaded_code::KernelCode,
}

impl JitKernel {
    /// The instruction whose machine code contains `pc`; `None` outside this kernel's code and in
    /// code that stands for no instruction.
    pub fn site_of_pc(&self, pc: usize) -> Option<InstructionSite> {
        self.code.site_by_number(self.code.site_number(pc)?)
    }
    /// The instruction of a site number that compiled code passed to the runtime.
    pub fn site_by_number(&self, number: u32) -> Option<InstructionSite> {
        self.code.site_by_number(number)
    }
    /// Makes the masked part, unless it is there. An error is that of the first warp that needs it.
    pub fn compile_masked_code(&self) {
        self.code.compile_masked_code();
    }
    /// Whether `pc` lies in this kernel's machine code.
    pub fn contains_pc(&self, pc: usize) -> bool {
        self.code.contains_pc(pc)
    }
}

/// Compiles `kernel` and every device function it can call.
///
/// # Errors
/// When the kernel or a function uses what the virtual GPU does not execute; the error names the
/// instruction and its line.
pub fn compile_kernel(
    module: &Arc<ast::Module>,
    kernel: FuncId,
    symbols: &SymbolLayout,
    variant: LaunchVariant,
    runtime: &RuntimeCalls,
    window: WindowAddress,
) -> Result<JitKernel, JitError> {
    let calls = (runtime, &Instrumentation::NO_INSTRUMENTATION);
    compile_or_load_cached(module, kernel, symbols, variant, calls, window, None)
}

/// As [`compile_kernel`], with checks compiled in, unless the machine code is kept already; what was compiled is
/// kept. `code_cache` must be that of the module's text.
///
/// # Errors
/// As [`compile_kernel`].
pub fn compile_or_load_cached(
    module: &Arc<ast::Module>,
    kernel: FuncId,
    symbols: &SymbolLayout,
    variant: LaunchVariant,
    calls: (&RuntimeCalls, &Instrumentation),
    window: WindowAddress,
    code_cache: Option<ModuleCodeCache>,
) -> Result<JitKernel, JitError> {
    let source = kernel_source(module, kernel, symbols, variant, calls, window, code_cache);
    let kernel = source.outer_code_image()?;
    emit::code::loaded_code::link_into_memory(source, kernel)
}

/// The kernel of [`compile_or_load_cached`] if its machine code is kept already.
///
/// # Errors
/// As [`compile_kernel`].
pub fn find_cached(
    module: &Arc<ast::Module>,
    kernel: FuncId,
    symbols: &SymbolLayout,
    variant: LaunchVariant,
    calls: (&RuntimeCalls, &Instrumentation),
    window: WindowAddress,
    code_cache: Option<ModuleCodeCache>,
) -> Result<Option<JitKernel>, JitError> {
    let source = kernel_source(module, kernel, symbols, variant, calls, window, code_cache);
    let Some(image) = source.find_outer_image()? else { return Ok(None) };
    let kernel = emit::function::compile::KernelWithInputs { image, masked: None, inputs: None };
    emit::code::loaded_code::link_into_memory(source, kernel).map(Some)
}

fn kernel_source(
    module: &Arc<ast::Module>,
    kernel: FuncId,
    symbols: &SymbolLayout,
    variant: LaunchVariant,
    (runtime, instrument): (&RuntimeCalls, &Instrumentation),
    window: WindowAddress,
    code_cache: Option<ModuleCodeCache>,
) -> Arc<emit::function::compile::KernelSource> {
    let scalar = variant.single_thread
        && !instrument.is_any()
        && simt::single_thread::is_scalar_for_one_thread(&module.functions[kernel.index()]);
    let variant = LaunchVariant { single_thread: scalar, ..variant };
    Arc::new(emit::function::compile::KernelSource {
        module: Arc::clone(module),
        kernel,
        symbols: symbols.clone(),
        variant,
        runtime: *runtime,
        instrument: *instrument,
        window,
        code_cache,
    })
}
