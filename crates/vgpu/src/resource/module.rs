//! Modules: images loaded into a context.

use std::collections::HashMap;
use std::ffi::CString;
use std::sync::atomic::{AtomicBool, AtomicI32};
use std::sync::{Arc, Mutex};

use rtcg_ptx::ast;

use super::function::{DriverFunction, FUNCTIONS};
use crate::device;
use crate::memory::globals::{self, GlobalRange};
use crate::module::{self, LoadOptions, LoadedModule};
use crate::stream::context::Context;
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_abi::{IgnorePoison, handle_table::HandleTable};

/// Modules.
pub(crate) static MODULES: HandleTable<DriverModule> = HandleTable::new(0x14);

/// `CUmodule`
#[derive(Debug)]
pub(crate) struct DriverModule {
    /// What C code holds.
    pub(crate) handle: u64,
    /// Identifier of its context.
    pub(crate) ctx_id: u64,
    /// The code and its variables.
    pub(crate) loaded: Arc<LoadedModule>,
    /// It goes with its library, and not by itself.
    pub(crate) is_of_library: bool,
    functions: Mutex<HashMap<String, u64>>,
}

/// Loads an image into a context. The error's detail is the log.
pub(crate) fn load_module(ctx: &Context, image: &[u8], options: &LoadOptions) -> Res<Arc<DriverModule>> {
    attach_to_context(ctx, parse_module(image, &load_options_for_context(ctx, options))?, false)
}

/// The options with the context's device, which matters when there are several.
pub(crate) fn load_options_for_context(ctx: &Context, options: &LoadOptions) -> LoadOptions {
    let device = (device::virtual_devices().len() > 1).then_some(ctx.device.ordinal);
    LoadOptions { device, ..options.clone() }
}

/// Code and variables of an image, of no context yet.
pub(crate) fn parse_module(image: &[u8], options: &LoadOptions) -> Res<Arc<LoadedModule>> {
    module::load_image(image, options).map_err(|e| e.code.with_detail(e.log))
}

/// Gives code and variables to a context.
pub(crate) fn attach_to_context(
    ctx: &Context,
    loaded: Arc<LoadedModule>,
    is_of_library: bool,
) -> Res<Arc<DriverModule>> {
    let (ctx_id, functions) = (ctx.id, Mutex::default());
    let make = |handle| Arc::new(DriverModule { handle, ctx_id, loaded, is_of_library, functions });
    let (handle, module) = MODULES.insert_with(make)?;
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
    super::texture_ref::remove_module_references(handle);
    for (_, function) in module.functions.lock().ignore_poison().drain() {
        // A function can only be missing if its context was destroyed at the same time.
        let _ = FUNCTIONS.remove_object(function);
    }
    Ok(())
}

impl DriverModule {
    /// Fails for names that no variable of the module can have: none, and those of kernels.
    pub(crate) fn check_variable_name(&self, name: &str) -> Res {
        let is_possible = !name.is_empty() && self.loaded.kernel_names().all(|kernel| kernel != name);
        ensure(is_possible, ResultCode::INVALID_VALUE)
    }

    /// The handle of the kernel named `name`; the same one every time.
    pub(crate) fn function_handle(&self, name: &str) -> Res<u64> {
        let mut functions = self.functions.lock().ignore_poison();
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
