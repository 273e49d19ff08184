//! The host's state of a kernel's machine code: the environment of the checks, the slow-path requests, and the
//! masked code, which is compiled when a warp first needs it. Most launches never do.
//!
//! Outer code calls masked code through a pointer, which at first leads to [`compile_on_first_call`]. That compiles
//! on a thread with an ordinary stack, because the caller is on a fiber's small one.
#![allow(unsafe_code, reason = "compiled code keeps pointers to what is here")]

use super::loaded_code::LoadedCode;
use super::relocations::RelocResolver;
use crate::emit::function::compile::{CodegenInputs, CompiledCodeImage, KernelSource};
use crate::emit::function::out_of_line::{MASKED_CODE_REQUEST_BIT, SlowPathRequest};
use crate::emit::function::slow_paths::SlowPathEnv;
use crate::fails_masked_code;
use rtcg_ptx::ast::FuncId;
use rtcg_vgpu_abi::WarpCtx;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// Stack of the thread that compiles.
const COMPILER_STACK_BYTES: usize = 16 << 20;

/// A masked function: context, frame, arguments, results, slot.
type MaskedVersionFn =
    unsafe extern "C" fn(*mut WarpCtx, *mut c_void, *mut c_void, *mut c_void, *const MaskedVersionSlot) -> i32;

/// Where outer code finds the masked version of a function. Compiled code reads `code`, at offset 0.
#[repr(C)]
pub(crate) struct MaskedVersionSlot {
    code: AtomicUsize,
    host: *const KernelHostState,
    id: FuncId,
}

/// The host's side of a kernel. Compiled code reads `slots`.
#[repr(C)]
pub(crate) struct KernelHostState {
    /// The first slot; they are in the order of the functions.
    pub(crate) slots: *const MaskedVersionSlot,
    pub(crate) env: SlowPathEnv,
    source: Arc<KernelSource>,
    /// What the masked part is made from, if it is known already.
    inputs: Option<Arc<CodegenInputs>>,
    slot_list: Vec<MaskedVersionSlot>,
    outer: OnceLock<LoadedCode>,
    masked: OnceLock<Result<LoadedCode, String>>,
}

// SAFETY: the slots' pointers lead back to the object itself, which is boxed and never moved.
unsafe impl Send for KernelHostState {}
// SAFETY: the slots' pointers lead back to the object; the rest is atomic or set once.
unsafe impl Sync for KernelHostState {}

impl KernelHostState {
    /// A kernel of these functions whose code is not there yet.
    pub(crate) fn new(
        source: Arc<KernelSource>,
        inputs: Option<Arc<CodegenInputs>>,
        functions: &[FuncId],
    ) -> Box<KernelHostState> {
        let env = SlowPathEnv { runtime: source.runtime, instrument: source.instrument, window: source.window };
        let (outer, masked) = (OnceLock::new(), OnceLock::new());
        let slots = std::ptr::null();
        let mut host = Box::new(KernelHostState { slots, env, source, inputs, slot_list: vec![], outer, masked });
        let at: *const KernelHostState = &*host;
        let first: MaskedVersionFn = compile_on_first_call;
        let slot = |&id| MaskedVersionSlot { code: AtomicUsize::new(first as usize), host: at, id };
        host.slot_list = functions.iter().map(slot).collect();
        host.slots = host.slot_list.as_ptr();
        host
    }

    /// The host of the kernel that a warp runs.
    ///
    /// # Safety
    /// The context is that of compiled code which is running.
    pub(crate) unsafe fn from_warp_ctx<'a>(ctx: *mut WarpCtx) -> &'a KernelHostState {
        // SAFETY: whoever runs a kernel passes its host; it lives as long as the code.
        unsafe { &*(*ctx).host.cast::<KernelHostState>() }
    }

    /// Where the things are that the code refers to.
    pub(crate) fn reloc_resolver<'a>(&'a self, outer: Option<&'a HashMap<FuncId, usize>>) -> RelocResolver<'a> {
        RelocResolver { env: &self.env, symbols: &self.source.symbols, outer }
    }

    /// Keeps the outer part.
    pub(crate) fn set_outer_code(&self, built: LoadedCode) -> &LoadedCode {
        self.outer.get_or_init(|| built)
    }

    /// The parts that have been made. Safe in a signal handler.
    pub(crate) fn loaded_code_versions(&self) -> impl Iterator<Item = &LoadedCode> {
        self.outer.get().into_iter().chain(self.masked.get().and_then(|built| built.as_ref().ok()))
    }

    /// What an out-of-line stub asks for.
    pub(crate) fn slow_path_request(&self, number: u32) -> Option<&SlowPathRequest> {
        let part =
            if number & MASKED_CODE_REQUEST_BIT == 0 { self.outer.get()? } else { self.masked.get()?.as_ref().ok()? };
        part.requests.get((number & !MASKED_CODE_REQUEST_BIT) as usize)
    }

    /// Makes the masked part; the error of one that cannot be compiled names the instruction and its line.
    pub(super) fn compile_masked_code(&self) -> Result<(), &str> {
        let built = self.masked.get_or_init(|| {
            std::thread::scope(|scope| {
                let thread = std::thread::Builder::new().stack_size(COMPILER_STACK_BYTES);
                let thread = thread.spawn_scoped(scope, || self.compile_masked_image());
                let thread = thread.map_err(|error| format!("no thread to compile on: {error}"))?;
                thread.join().unwrap_or_else(|_| Err("the compiler has panicked (a bug in the virtual GPU)".to_owned()))
            })
        });
        self.enter_masked_code(built.as_ref().map_err(String::as_str)?);
        Ok(())
    }

    /// Keeps a masked part that was made with the outer one.
    pub(super) fn set_masked_code(&self, code: CompiledCodeImage) -> Result<(), String> {
        let loaded = self.load_masked_code(code)?;
        if let Ok(built) = self.masked.get_or_init(|| Ok(loaded)) {
            self.enter_masked_code(built);
        }
        Ok(())
    }

    /// Has outer code call masked code directly.
    fn enter_masked_code(&self, built: &LoadedCode) {
        for slot in &self.slot_list {
            slot.code.store(built.addresses[&slot.id], Ordering::Release);
        }
    }

    fn compile_masked_image(&self) -> Result<LoadedCode, String> {
        if fails_masked_code() {
            return Err("RTCG_JIT_NO_MASKED is set".to_owned());
        }
        let part = self.source.masked_code_image(self.inputs.as_deref()).map_err(|error| error.to_string())?;
        self.load_masked_code(part)
    }

    fn load_masked_code(&self, code: CompiledCodeImage) -> Result<LoadedCode, String> {
        LoadedCode::new(code, &self.reloc_resolver(self.outer.get().map(|outer| &outer.addresses)))
    }
}

/// What a slot leads to at first.
///
/// # Safety
/// Called by compiled code with one of its slots.
unsafe extern "C" fn compile_on_first_call(
    ctx: *mut WarpCtx,
    frame: *mut c_void,
    args: *mut c_void,
    rets: *mut c_void,
    slot: *const MaskedVersionSlot,
) -> i32 {
    // SAFETY: the slot belongs to the running kernel, which keeps its `KernelHostState`.
    let (slot, host) = unsafe { (&*slot, &*(*slot).host) };
    if let Err(why) = host.compile_masked_code() {
        // SAFETY: the context is the caller's own; the text lives as long as the kernel.
        unsafe { (host.env.runtime.compile_failed)(ctx, why.as_ptr(), why.len()) };
    }
    // SAFETY: `make` has stored the address of a function with this signature.
    let code = unsafe { std::mem::transmute::<usize, MaskedVersionFn>(slot.code.load(Ordering::Acquire)) };
    // SAFETY: the arguments are passed on unchanged.
    unsafe { code(ctx, frame, args, rets, slot) }
}
