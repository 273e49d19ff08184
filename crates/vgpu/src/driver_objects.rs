//! What handles other than contexts, streams and events stand for: modules, functions, linkers,
//! memory pools and arrays. Libraries are in `library`.

use std::collections::HashMap;
use std::ffi::CString;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rtcg_cuda_sys::{CUDA_ARRAY3D_DESCRIPTOR, CUmemAccess_flags};
use rtcg_ptx::ast;

use crate::context::Context;
use crate::device;
use crate::driver::{FUNCTIONS, MODULES};
use crate::error::{Error, Res, ResultCode};
use crate::memory::globals::{self, GlobalRange};
use crate::memory::ipc::IpcRecord;
use crate::module::{self, LoadOptions, LoadedModule};

/// `CUmodule`
#[derive(Debug)]
pub(crate) struct DriverModule {
    /// What C code holds.
    pub(crate) handle: u64,
    /// Identifier of its context.
    pub(crate) ctx_id: u64,
    /// The code and its variables.
    pub(crate) loaded: Arc<LoadedModule>,
    functions: Mutex<HashMap<String, u64>>,
}

/// `CUfunction`
#[derive(Debug)]
pub(crate) struct DriverFunction {
    /// Identifier of its context.
    pub(crate) ctx_id: u64,
    /// Handle of its module.
    pub(crate) module: u64,
    /// What to run.
    pub(crate) kernel: Arc<module::Kernel>,
    /// Its name, for C.
    pub(crate) name: CString,
    /// Whether the kernel may wait for something that only the launching thread can bring.
    pub(crate) may_wait: bool,
    /// Whether its last launch took so little time that the next one may as well run inside the
    /// launch call. Before the first launch: whether it has no loops.
    pub(crate) short_running: AtomicBool,
    /// `CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT`, reported back.
    pub(crate) carveout: AtomicI32,
    /// What `cuParamSet*` and `cuFuncSetBlockShape` prepare for `cuLaunch`.
    pub(crate) prepared: Mutex<LegacyLaunchState>,
}

/// A launch that is being put together by the calls of the oldest launch interface.
#[derive(Debug, Default, Clone)]
pub(crate) struct LegacyLaunchState {
    /// Packed parameters.
    pub(crate) params: Vec<u8>,
    /// Threads of a block.
    pub(crate) block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub(crate) shared: u32,
}

/// Loads an image into a context. The error's detail is the log.
pub(crate) fn load_module(ctx: &Context, image: &[u8], options: &LoadOptions) -> Res<Arc<DriverModule>> {
    attach_to_context(ctx, parse_module(image, &load_options_for_context(ctx, options))?)
}

/// The options with the context's device, which matters when there are several.
pub(crate) fn load_options_for_context(ctx: &Context, options: &LoadOptions) -> LoadOptions {
    let device = (device::virtual_devices().len() > 1).then_some(ctx.device.ordinal);
    LoadOptions { device, ..options.clone() }
}

/// Code and variables of an image, of no context yet.
pub(crate) fn parse_module(image: &[u8], options: &LoadOptions) -> Res<Arc<LoadedModule>> {
    module::load_image(image, options).map_err(|e| ResultCode(e.code as u32).with_detail(e.log))
}

/// Gives code and variables to a context.
pub(crate) fn attach_to_context(ctx: &Context, loaded: Arc<LoadedModule>) -> Res<Arc<DriverModule>> {
    let (handle, module) = MODULES
        .insert_with(|handle| Arc::new(DriverModule { handle, ctx_id: ctx.id, loaded, functions: Mutex::default() }))?;
    let ranges = module.loaded.global_names().filter_map(|name| module.loaded.global(name));
    globals::add_globals(ranges.filter(|g| g.size > 0).map(|g| GlobalRange {
        start: g.address,
        size: g.size,
        ctx: ctx.id,
        device: ctx.device.ordinal,
        module: handle,
        managed: g.managed,
    }));
    Ok(module)
}

/// Unloads a module: its handle and those of its functions become stale. Launches that are still
/// queued keep the code.
pub(crate) fn unload_module(handle: u64) -> Res {
    let module = MODULES.remove_object(handle)?;
    globals::remove_module_globals(handle);
    crate::api::texture_ref::remove_module_references(handle);
    for (_, function) in lock_mutex(&module.functions).drain() {
        // A function can only be missing if its context was destroyed at the same time.
        let _ = FUNCTIONS.remove_object(function);
    }
    Ok(())
}

impl DriverModule {
    /// The handle of the kernel named `name`; the same one every time.
    pub(crate) fn function_handle(&self, name: &str) -> Res<u64> {
        let mut functions = lock_mutex(&self.functions);
        if let Some(&handle) = functions.get(name) {
            return Ok(handle);
        }
        let kernel = self.loaded.kernel(name).ok_or(ResultCode::NOT_FOUND)?;
        let c_name = CString::new(name).map_err(|_| ResultCode::NOT_FOUND)?;
        let nature = analyze_kernel_loops(&self.loaded.ptx, name);
        let (handle, _) = FUNCTIONS.insert_with(|_| {
            Arc::new(DriverFunction {
                ctx_id: self.ctx_id,
                module: self.handle,
                kernel,
                name: c_name,
                may_wait: nature.may_wait,
                short_running: AtomicBool::new(!nature.loops),
                carveout: AtomicI32::new(-1),
                prepared: Mutex::default(),
            })
        })?;
        functions.insert(name.to_owned(), handle);
        Ok(handle)
    }
}

/// What a kernel's text says about how long it may run.
#[derive(Clone, Copy)]
struct KernelLoopInfo {
    /// It has branches backwards.
    loops: bool,
    /// A function with a loop reads memory in a way that sees others' writes: it could wait for
    /// what other code is to write, so it must not run inside the launch call.
    may_wait: bool,
}

fn analyze_kernel_loops(ptx: &ast::Module, kernel: &str) -> KernelLoopInfo {
    let Some((_, function)) = ptx.find_kernel(kernel) else { return KernelLoopInfo { loops: true, may_wait: true } };
    let calls = function.body.iter().any(|s| matches!(s.inst, ast::Inst::Call { .. }));
    // A kernel that calls is judged by the whole module: that is cheap, and rarely too strict.
    let others = ptx.functions.iter().filter(|f| calls && !f.entry).map(analyze_function_loops);
    others.fold(analyze_function_loops(function), |all, one| KernelLoopInfo {
        loops: all.loops || one.loops,
        may_wait: all.may_wait || one.may_wait,
    })
}

fn analyze_function_loops(function: &ast::Function) -> KernelLoopInfo {
    let (mut loops, mut watches) = (false, false);
    for (at, statement) in function.body.iter().enumerate() {
        let back = |label: &ast::Label| function.label_targets.get(label.index()).is_none_or(|&t| t as usize <= at);
        match &statement.inst {
            ast::Inst::Bra { target, .. } => loops |= back(target),
            ast::Inst::Brx { targets, .. } => loops |= targets.iter().any(back),
            ast::Inst::Ld { sem, .. } => watches |= *sem != ast::MemorySemantics::Weak,
            ast::Inst::Atom { .. }
            | ast::Inst::Mbarrier { .. }
            | ast::Inst::Nanosleep { .. }
            | ast::Inst::Other { .. } => watches = true,
            _ => {}
        }
    }
    KernelLoopInfo { loops, may_wait: loops && watches }
}

/// `CUlinkState`: PTX texts on their way to one module.
#[derive(Debug)]
pub(crate) struct DriverLinker {
    /// Identifier of its context.
    pub(crate) ctx_id: u64,
    /// Inputs with their names, and the result.
    pub(crate) state: Mutex<LinkState>,
}

/// What a linker has so far.
#[derive(Debug, Default)]
pub(crate) struct LinkState {
    /// PTX texts with the names that messages use.
    pub(crate) inputs: Vec<(String, Vec<u8>)>,
    /// Whether CUDA's device runtime library was added.
    pub(crate) device_runtime: bool,
    /// `CU_JIT_MAX_REGISTERS`.
    pub(crate) max_registers: Option<u32>,
    /// The linked image; lives as long as the linker.
    pub(crate) output: Option<Vec<u8>>,
    /// Where the caller wants messages.
    pub(crate) logs: crate::api::JitLogs,
}

/// `CUmemoryPool`
#[derive(Debug)]
pub(crate) struct MemoryPool {
    /// Ordinal of the device.
    pub(crate) device: u32,
    /// Bytes allowed at once, 0 for no limit.
    pub(crate) max_bytes: u64,
    /// Whether it is a device's default pool, which cannot be destroyed.
    pub(crate) is_default: bool,
    used: AtomicU64,
    used_high: AtomicU64,
    /// Release threshold, and the three reuse switches, as set by the program.
    pub(crate) release_threshold: AtomicU64,
    /// `CU_MEMPOOL_ATTR_REUSE_...`, by attribute number less one.
    pub(crate) reuse: [AtomicI32; 3],
    /// What other devices may do with the memory, by their ordinals; nothing, unless it is said.
    access: Mutex<HashMap<u32, CUmemAccess_flags>>,
    /// What other processes import it with, if it was made for that.
    pub(crate) ipc_record: Option<IpcRecord>,
    /// The record of another process's pool that this one stands for; 0 for a pool of this process.
    pub(crate) imported: u64,
}

impl MemoryPool {
    /// An empty pool.
    pub(crate) fn new(device: u32, max_bytes: u64, is_default: bool) -> MemoryPool {
        MemoryPool {
            device,
            max_bytes,
            is_default,
            used: AtomicU64::new(0),
            used_high: AtomicU64::new(0),
            release_threshold: AtomicU64::new(0),
            reuse: [const { AtomicI32::new(1) }; 3],
            access: Mutex::default(),
            ipc_record: None,
            imported: 0,
        }
    }

    /// Says what a device may do with the memory.
    pub(crate) fn set_pool_access(&self, device: u32, flags: CUmemAccess_flags) {
        self.access.lock().unwrap_or_else(PoisonError::into_inner).insert(device, flags);
    }

    /// What a device may do with the memory: its own one everything, and each one with other processes' memory.
    pub(crate) fn device_access(&self, device: u32) -> CUmemAccess_flags {
        if device == self.device || self.imported != 0 {
            return CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        }
        let access = self.access.lock().unwrap_or_else(PoisonError::into_inner);
        access.get(&device).copied().unwrap_or(CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE)
    }

    /// Takes note of an allocation.
    pub(crate) fn charge_allocation(&self, bytes: u64) -> Res {
        let now = self.used.fetch_add(bytes, Ordering::AcqRel) + bytes;
        if self.max_bytes != 0 && now > self.max_bytes {
            self.uncharge_block(bytes);
            return ResultCode::OUT_OF_MEMORY.err();
        }
        self.used_high.fetch_max(now, Ordering::Relaxed);
        Ok(())
    }

    /// Takes note of a block that was freed.
    pub(crate) fn uncharge_block(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::AcqRel);
    }

    /// Bytes in use, and the most there ever were (since that was reset).
    pub(crate) fn usage_and_peak(&self) -> (u64, u64) {
        (self.used.load(Ordering::Acquire), self.used_high.load(Ordering::Acquire))
    }

    /// Resets the high-water mark.
    pub(crate) fn reset_high_water(&self) {
        self.used_high.store(self.used.load(Ordering::Acquire), Ordering::Release);
    }
}

/// `CUarray`
#[derive(Debug)]
pub(crate) struct DriverArray {
    /// Identifier of its context.
    pub(crate) ctx_id: u64,
    /// First byte.
    pub(crate) start: u64,
    /// Bytes of a row, rows of a slice, slices: at least one of each.
    pub(crate) extents: [u64; 3],
    /// As the program described it.
    pub(crate) description: CUDA_ARRAY3D_DESCRIPTOR,
    /// It is a level of a mipmapped array, whose memory it shares.
    pub(crate) is_level: bool,
}

/// `CUmipmappedArray`
#[derive(Debug)]
pub(crate) struct MipmappedArray {
    /// Identifier of its context.
    pub(crate) ctx_id: u64,
    /// First byte.
    pub(crate) start: u64,
    /// Handles of the levels' arrays, the largest first.
    pub(crate) levels: Vec<u64>,
    /// As the program described it.
    pub(crate) description: CUDA_ARRAY3D_DESCRIPTOR,
}

impl MipmappedArray {
    /// The arrays of the levels.
    pub(crate) fn level_arrays(&self) -> Res<Vec<Arc<DriverArray>>> {
        self.levels.iter().map(|&level| crate::driver::ARRAYS.get_object(level)).collect()
    }
}

/// A lock whose holder never leaves broken state behind.
pub(crate) fn lock_mutex<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A fault of a kernel as the error of a call.
pub(crate) fn error_from_fault(fault: crate::exec::Fault) -> Error {
    let transient = !fault.kind.is_sticky();
    Error { transient, ..ResultCode(fault.code as u32).with_detail(fault.report) }
}
