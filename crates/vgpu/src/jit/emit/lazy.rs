//! Masked code is made when a warp first needs it: most launches never do.
//!
//! Outer code calls masked code through a slot, which at first leads to [`enter`]. That compiles
//! on a thread with an ordinary stack, for the caller is on a fiber's small one.
#![allow(unsafe_code)]

use super::compile::{Built, Inputs, build_masked};
use crate::abi::WarpCtx;
use crate::jit::{NO_MASKED, knob};
use rtcg_ptx::ast::FuncId;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// Stack of the thread that compiles.
const STACK_BYTES: usize = 16 << 20;

/// A masked function: context, frame, arguments, results, slot.
type MaskedFn = unsafe extern "C" fn(*mut WarpCtx, *mut c_void, *mut c_void, *mut c_void, *const MaskedSlot) -> i32;

/// Where outer code finds the masked version of a function. Compiled code reads `code`, at offset 0.
#[repr(C)]
pub(crate) struct MaskedSlot {
    code: AtomicUsize,
    lazy: *const Lazy,
    pub(crate) id: FuncId,
}

/// The masked part of a kernel, made or not.
pub(crate) struct Lazy {
    inputs: Arc<Inputs>,
    outer: OnceLock<HashMap<FuncId, usize>>,
    slots: Vec<MaskedSlot>,
    built: OnceLock<Result<Built, String>>,
}

// SAFETY: the slots' pointers lead back to the object itself, which is boxed and never moved.
unsafe impl Send for Lazy {}
// SAFETY: as above; the rest is atomic or set once.
unsafe impl Sync for Lazy {}

impl Lazy {
    /// Nothing made yet.
    pub(crate) fn new(inputs: Arc<Inputs>, functions: impl Iterator<Item = FuncId>) -> Box<Lazy> {
        let mut lazy = Box::new(Lazy { inputs, outer: OnceLock::new(), slots: vec![], built: OnceLock::new() });
        let at: *const Lazy = &*lazy;
        let first: MaskedFn = enter;
        lazy.slots = functions.map(|id| MaskedSlot { code: AtomicUsize::new(first as usize), lazy: at, id }).collect();
        lazy
    }

    pub(crate) fn slots(&self) -> &[MaskedSlot] {
        &self.slots
    }

    /// Tells where the outer versions are.
    pub(crate) fn set_outer(&self, addresses: HashMap<FuncId, usize>) {
        let _ = self.outer.set(addresses);
    }

    /// The masked part if it has been made. Safe in a signal handler.
    pub(crate) fn built(&self) -> Option<&Built> {
        self.built.get()?.as_ref().ok()
    }

    /// Makes it; the error of a part that cannot be compiled names the instruction and its line.
    fn make(&self) -> Result<(), &str> {
        let built = self.built.get_or_init(|| {
            let outer = self.outer.get().cloned().unwrap_or_default();
            let inputs = Arc::clone(&self.inputs);
            let build = move || {
                if knob("RTCG_JIT_NO_MASKED", &NO_MASKED) {
                    return Err("RTCG_JIT_NO_MASKED is set".to_owned());
                }
                build_masked(&inputs, outer).map_err(|error| error.to_string())
            };
            let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(build);
            let thread = thread.map_err(|error| format!("no thread to compile on: {error}"))?;
            thread.join().unwrap_or_else(|_| Err("the compiler has panicked (a bug in the virtual GPU)".to_owned()))
        });
        let built = built.as_ref().map_err(String::as_str)?;
        for slot in &self.slots {
            slot.code.store(built.addresses[&slot.id], Ordering::Release);
        }
        Ok(())
    }
}

/// What a slot leads to at first.
///
/// # Safety
/// Called by compiled code with one of its slots.
unsafe extern "C" fn enter(
    ctx: *mut WarpCtx,
    frame: *mut c_void,
    args: *mut c_void,
    rets: *mut c_void,
    slot: *const MaskedSlot,
) -> i32 {
    // SAFETY: the slot belongs to the running kernel, which keeps its `Lazy`.
    let (slot, lazy) = unsafe { (&*slot, &*(*slot).lazy) };
    if let Err(why) = lazy.make() {
        // SAFETY: the context is the caller's own; the text lives as long as the kernel.
        unsafe { (lazy.inputs.runtime.compile_failed)(ctx, why.as_ptr(), why.len()) };
    }
    // SAFETY: `make` has stored the address of a function with this signature.
    let code = unsafe { std::mem::transmute::<usize, MaskedFn>(slot.code.load(Ordering::Acquire)) };
    // SAFETY: the arguments are passed on unchanged.
    unsafe { code(ctx, frame, args, rets, slot) }
}
