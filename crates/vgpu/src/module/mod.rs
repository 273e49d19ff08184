//! Loaded modules: PTX text that was parsed, placed in device memory and can be launched.
//!
//! Establishes: `load` has refused everything that cannot be executed, so a kernel that was
//! found can be launched. Machine code is made at a kernel's first launch.
#![allow(clippy::result_large_err, reason = "a fault is made once per failed launch, so its size does not matter")]

pub(crate) mod fatbin;
mod header;
mod launch;
pub(crate) mod link_log;
mod load;
mod lz4;
mod resource_estimate;
mod source_map;
mod tiers;
mod variables;

pub(crate) use launch::check_block_shape;
pub use launch::{Launch, max_resident_blocks, run_launch, run_launch_in_generation, validate_launch};
pub use load::load_image;
pub(crate) use load::{MAX_REGISTERS_COMMENT, TARGET_COMMENT, check_link_input, check_target_option, ptx_text_of};

use resource_estimate::{RegisterLimits, RegisterUse, register_use};
use rtcg_ptx::ast;
use rtcg_vgpu_abi::error::ResultCode;
use rtcg_vgpu_abi::model::launch::{MAX_REGISTERS, max_threads_by_registers};
use rtcg_vgpu_abi::model::limits::{DEFAULT_STACK_BYTES, REFUSED_STACK_BYTES};
use rtcg_vgpu_abi::schedule::{self, Schedule};
use rtcg_vgpu_exec::launch::{MAX_SHARED_OPTIN_BYTES, MAX_THREADS_PER_BLOCK};
use rtcg_vgpu_exec::{Fault, Program};
use rtcg_vgpu_jit::{self as jit, LaunchVariant, SymbolLayout};
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

/// How a module is to be compiled.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions {
    /// `CU_JIT_MAX_REGISTERS`
    pub max_registers: Option<u32>,
    /// `CU_JIT_THREADS_PER_BLOCK`
    pub threads_per_block: Option<u32>,
    /// `CU_JIT_TARGET`
    pub target: Option<u32>,
    /// The device it is loaded for, when the process has several.
    pub device: Option<u32>,
}

/// A module that could not be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadError {
    /// The CUDA result code.
    pub code: ResultCode,
    /// What `CU_JIT_ERROR_LOG_BUFFER` receives: one diagnostic per line, with PTX line numbers.
    pub log: String,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.log)
    }
}

impl std::error::Error for LoadError {}

/// A module in device memory. Dropped with its last kernel handle or launch.
#[derive(Debug)]
pub struct LoadedModule {
    pub(crate) ptx: Arc<ast::Module>,
    kernels: Vec<Arc<KernelInfo>>,
    /// Address of each module variable; 0 for those without memory (shared).
    pub(crate) symbols: SymbolLayout,
    /// The device it was loaded for, when the process has several.
    device: Option<u32>,
    /// The key of the PTX text, once a kernel was needed.
    text_key: Arc<OnceLock<jit::cache_key::CodeKey>>,
    /// The variables' memory.
    _slab: variables::ModuleMemory,
}

/// A module variable in device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModuleGlobal {
    /// Device pointer.
    pub address: u64,
    /// Size in bytes.
    pub size: u64,
    /// `.const` rather than `.global`.
    pub constant: bool,
    /// `__managed__`.
    pub managed: bool,
}

/// A kernel parameter in the packed buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParamInfo {
    /// Offset in bytes.
    pub offset: usize,
    /// Size in bytes.
    pub size: usize,
}

/// What the driver provides for a kernel that asks for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct KernelServices {
    /// It prints.
    pub(crate) printf: bool,
    /// It allocates or frees memory.
    pub(crate) malloc: bool,
}

/// What does not depend on who holds the kernel.
#[derive(Debug)]
struct KernelInfo {
    id: ast::FuncId,
    name: String,
    params: Vec<ParamInfo>,
    static_shared: u32,
    const_bytes: u64,
    local_bytes: u32,
    register_limits: RegisterLimits,
    /// Found out when it is asked for: a launch of a block that might be too large, or an attribute.
    registers: OnceLock<RegisterUse>,
    services: KernelServices,
    max_dynamic_shared: AtomicU32,
    /// Machine code, made at the first launch that needs it; indexed by [`variant_index`].
    programs: [OnceLock<Result<Arc<Program>, Fault>>; LAUNCH_VARIANT_COUNT],
    /// The same for lanes that are scheduled at random.
    random_program: OnceLock<Result<Arc<Program>, Fault>>,
}

impl KernelInfo {
    fn program_slot(&self, variant: LaunchVariant, random: bool) -> &OnceLock<Result<Arc<Program>, Fault>> {
        if random { &self.random_program } else { &self.programs[variant_index(variant)] }
    }
}

/// A module with more statements is compiled in a thread of its own, so that who waits for it can be interrupted.
const MAX_STATEMENTS_IN_CALLER: usize = 4000;

/// Variants that a launch can need: `linear_tid`, `full_warps`, `tid_contiguous_8` and `single_thread`.
const LAUNCH_VARIANT_COUNT: usize = 16;

fn variant_index(v: LaunchVariant) -> usize {
    let flags = [v.linear_tid, v.full_warps, v.tid_contiguous_8, v.single_thread];
    flags.iter().rev().fold(0, |index, &flag| index << 1 | usize::from(flag))
}

/// A kernel of a loaded module. Handles are cheap and keep the module alive.
#[derive(Debug)]
pub struct Kernel {
    module: Arc<LoadedModule>,
    info: Arc<KernelInfo>,
}

impl LoadedModule {
    /// The kernel named `name` (the mangled name, as in the PTX).
    pub fn kernel(self: &Arc<Self>, name: &str) -> Option<Arc<Kernel>> {
        let info = self.kernels.iter().find(|k| k.name == name)?;
        Some(Arc::new(Kernel { module: Arc::clone(self), info: Arc::clone(info) }))
    }
    /// The names of all kernels, in the order of the PTX.
    pub fn kernel_names(&self) -> impl Iterator<Item = &str> {
        self.kernels.iter().map(|k| k.name.as_str())
    }
    /// The `__device__`, `__constant__` or `__managed__` variable named `name`.
    pub fn global(&self, name: &str) -> Option<ModuleGlobal> {
        let place = |(v, &address): (&ast::Var, &u64)| ModuleGlobal {
            address,
            size: v.size,
            constant: v.space == ast::Space::Const,
            managed: v.managed,
        };
        let found = self
            .ptx
            .vars
            .iter()
            .zip(&self.symbols.globals)
            .find(|(v, a)| **a != 0 && v.opaque.is_none() && &*v.name == name);
        found.map(place)
    }
    /// Where the `.texref` or `.surfref` named `name` keeps the handle of its object.
    pub(crate) fn texref_address(&self, name: &str, ty: ast::OpaqueType) -> Option<u64> {
        let vars = self.ptx.vars.iter().zip(&self.symbols.globals);
        vars.into_iter().find(|(v, _)| v.opaque == Some(ty) && &*v.name == name).map(|(_, &address)| address)
    }
    /// The names of all variables that [`LoadedModule::global`] finds.
    pub fn global_names(&self) -> impl Iterator<Item = &str> {
        self.ptx
            .vars
            .iter()
            .zip(&self.symbols.globals)
            .filter(|(v, a)| **a != 0 && v.opaque.is_none())
            .map(|(v, _)| &*v.name)
    }
    /// `.version` times 10, as `CU_FUNC_ATTRIBUTE_PTX_VERSION` reports the *target*: see [`LoadedModule::ptx_target`].
    pub fn ptx_version(&self) -> u32 {
        self.ptx.version.0 * 10 + self.ptx.version.1
    }
    /// The architecture number of `.target`, e.g. 80.
    pub fn ptx_target(&self) -> u32 {
        self.ptx.target
    }
}

impl Kernel {
    /// The name as in the PTX.
    pub fn name(&self) -> &str {
        &self.info.name
    }
    /// The module.
    pub fn module(&self) -> &Arc<LoadedModule> {
        &self.module
    }
    /// Offset and size of each parameter (`cuFuncGetParamInfo`).
    pub fn kernel_params(&self) -> &[ParamInfo] {
        &self.info.params
    }
    /// Bytes of the packed parameter buffer.
    pub fn param_bytes(&self) -> usize {
        self.info.params.last().map_or(0, |p| p.offset + p.size)
    }
    /// `.maxntid`, `.reqntid` and their like.
    pub fn launch_bounds(&self) -> &ast::LaunchBounds {
        &self.module.ptx.functions[self.info.id.index()].bounds
    }
    /// Threads of a block that its launch bounds allow.
    pub fn bound_of_threads(&self) -> u32 {
        let b = self.launch_bounds();
        let bound = b.req_ntid.or(b.max_ntid).map_or(MAX_THREADS_PER_BLOCK, |n| n.iter().product());
        bound.min(MAX_THREADS_PER_BLOCK)
    }
    /// Whether a block of so many threads finds registers.
    pub fn has_registers_for(&self, threads: u32) -> bool {
        // Most blocks fit however many registers a thread has.
        threads <= max_threads_by_registers(MAX_REGISTERS) || threads <= self.register_use().max_threads
    }
    /// `CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK`
    pub fn max_threads_per_block(&self) -> u32 {
        // A required shape does not count.
        let bound =
            if self.launch_bounds().req_ntid.is_some() { MAX_THREADS_PER_BLOCK } else { self.bound_of_threads() };
        bound.min(self.register_use().max_threads)
    }
    fn register_use(&self) -> &RegisterUse {
        let function = &self.module.ptx.functions[self.info.id.index()];
        self.info.registers.get_or_init(|| register_use(function, self.info.register_limits))
    }
    /// `CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES`
    pub fn static_shared(&self) -> u32 {
        self.info.static_shared
    }
    /// `CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES`
    pub fn const_bytes(&self) -> u64 {
        self.info.const_bytes
    }
    /// `CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES`: bytes per thread.
    pub fn local_bytes(&self) -> u32 {
        self.info.local_bytes + self.register_use().spilled_bytes
    }
    /// Whether a thread can have its local variables and the stack that each thread has.
    pub(crate) fn has_local_memory(&self) -> bool {
        self.info.local_bytes as usize + DEFAULT_STACK_BYTES < REFUSED_STACK_BYTES
    }
    /// What it asks the driver for.
    pub(crate) fn services(&self) -> KernelServices {
        self.info.services
    }
    /// Whether a launch may change the limits of its context.
    pub(crate) fn touches_limits(&self) -> bool {
        self.info.local_bytes > 0 || self.info.services != KernelServices::default()
    }
    /// `CU_FUNC_ATTRIBUTE_NUM_REGS`: an estimate of what ptxas would use.
    pub fn n_regs(&self) -> u32 {
        self.register_use().registers
    }
    /// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`
    pub fn max_dynamic_shared(&self) -> u32 {
        self.info.max_dynamic_shared.load(Ordering::Relaxed)
    }
    /// Machine code for blocks of this shape.
    ///
    /// # Errors
    /// The kernel uses something that the JIT finds out only now that it cannot execute it.
    pub(crate) fn compiled_program(&self, block: [u32; 3]) -> Result<Arc<Program>, Fault> {
        if let Schedule::Chaos(_) = schedule::current_schedule() {
            let variant = LaunchVariant {
                linear_tid: false,
                tid_contiguous_8: false,
                full_warps: false,
                single_thread: false,
                force_masked: true,
                no_if_conversion: true,
                ..LaunchVariant::from_block_shape(block)
            };
            return self.program(variant, true).cloned();
        }
        let program = self.program(LaunchVariant::from_block_shape(block), false)?;
        Ok(Arc::clone(program.newest()))
    }

    /// The program of a variant, which is made once.
    fn program(&self, variant: LaunchVariant, random: bool) -> Result<&Arc<Program>, Fault> {
        let slot = self.info.program_slot(variant, random);
        if let Some(made) = slot.get() {
            return made.as_ref().map_err(Fault::clone);
        }
        let LoadedModule { ptx, symbols, device, text_key, .. } = &*self.module;
        let n_statements: usize = ptx.functions.iter().map(|f| f.body.len()).sum();
        let (ptx, symbols, text_key) = (Arc::clone(ptx), symbols.clone(), Arc::clone(text_key));
        let source =
            tiers::ProgramSource { ptx, kernel: self.info.id, symbols, device: *device, text_key, variant, random };
        if n_statements > MAX_STATEMENTS_IN_CALLER && rtcg_vgpu_exec::can_check_interrupt() {
            let (info, source) = (Arc::clone(&self.info), source.clone());
            tiers::wait_for_compiler_thread(&self.info.name, move || {
                info.program_slot(variant, random).get_or_init(|| source.make_program());
            })?;
        }
        slot.get_or_init(|| source.make_program()).as_ref().map_err(Fault::clone)
    }

    /// Whether blocks can have that many bytes of dynamic shared memory at most.
    pub(crate) fn allows_dynamic_shared(&self, bytes: u32) -> bool {
        bytes.checked_add(self.static_shared()).is_some_and(|n| n <= MAX_SHARED_OPTIN_BYTES)
    }

    /// Sets `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`; false when it is more than the device has.
    pub fn set_max_dynamic_shared(&self, bytes: u32) -> bool {
        let good = self.allows_dynamic_shared(bytes);
        if good {
            self.info.max_dynamic_shared.store(bytes, Ordering::Relaxed);
        }
        good
    }
}
