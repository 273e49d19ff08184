//! The machine code of a kernel: which tier a launch gets, and the thread that optimises what runs for long.
//!
//! A kernel begins in the first tier, whose code is made some ten times quicker and runs several times slower,
//! unless its optimised code is in the cache. Blocks that start after the optimised code is there run that.
#![allow(unsafe_code, reason = "the optimising thread's priority is set by a call of C")]

use super::source_map::KernelSourceMap;
use crate::code_cache;
use rtcg_ptx::ast;
use rtcg_vgpu_abi::schedule;
use rtcg_vgpu_exec::window::device_window;
use rtcg_vgpu_exec::{self as exec, Fault, FaultKind, Program, RUNTIME_CALLS};
use rtcg_vgpu_jit::{self as jit, JitKernel, LaunchVariant, SymbolLayout, cache_key::CodeKey};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};

/// For the recursion over what a kernel consists of.
const COMPILER_STACK_BYTES: usize = 16 << 20;

/// What `RTCG_JIT_TIER` restricts the compiler to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TierSetting {
    /// The first tier, replaced after a while.
    Both,
    /// The first tier for good.
    First,
    /// No first tier.
    Optimized,
}

/// The setting, once a process. Where the order of execution is to be the same in each run, so is the code.
fn tier_setting() -> TierSetting {
    static SETTING: OnceLock<TierSetting> = OnceLock::new();
    let parse = |text: &str| match text {
        "first" => Some(TierSetting::First),
        "optimized" => Some(TierSetting::Optimized),
        _ => None,
    };
    let setting = *SETTING.get_or_init(|| {
        let setting = rtcg_vgpu_abi::env::env_setting("RTCG_JIT_TIER", "`first` or `optimized`", parse);
        setting.unwrap_or(TierSetting::Both)
    });
    let fixed = setting == TierSetting::Both && schedule::current_schedule().is_reproducible();
    if fixed { TierSetting::Optimized } else { setting }
}

/// What the programs of a kernel are made from. It does not keep the module's variables alive.
#[derive(Debug, Clone)]
pub(super) struct ProgramSource {
    pub(super) ptx: Arc<ast::Module>,
    pub(super) kernel: ast::FuncId,
    pub(super) symbols: SymbolLayout,
    /// The device the module was loaded for, when the process has several.
    pub(super) device: Option<u32>,
    /// The key of the PTX text, once a kernel was needed.
    pub(super) text_key: Arc<OnceLock<CodeKey>>,
    pub(super) variant: LaunchVariant,
    /// Whether lanes are scheduled at random.
    pub(super) random: bool,
}

impl ProgramSource {
    /// The program for launches.
    ///
    /// # Errors
    /// The kernel uses something that the JIT finds out only now that it cannot execute it.
    pub(super) fn make_program(self) -> Result<Arc<Program>, Fault> {
        let setting = if self.random { TierSetting::Optimized } else { tier_setting() };
        if setting == TierSetting::Optimized {
            let compiled = self.compile()?;
            return Ok(Arc::new(self.link_program(compiled)));
        }
        if setting == TierSetting::Both
            && let Some(cached) = self.find_cached()?
        {
            return Ok(Arc::new(self.link_program(cached)));
        }
        let first = ProgramSource { variant: LaunchVariant { first_tier: true, ..self.variant }, ..self.clone() };
        let Ok(compiled) = first.compile() else {
            // What fails may be masked code, which converged code does without until lanes diverge.
            return Ok(Arc::new(self.link_program(self.compile()?)));
        };
        let program = first.link_program(compiled);
        if setting == TierSetting::First {
            return Ok(Arc::new(program));
        }
        let slot = Arc::new(OnceLock::new());
        let target = Arc::downgrade(&slot);
        let request = move || {
            run_in_background(Box::new(move || {
                // Nobody needs it once the first one is gone.
                let Some(target) = target.upgrade() else { return };
                // What fails now works in the first tier, which goes on.
                let Ok(optimized) = self.compile() else { return };
                optimized.compile_masked_code();
                let _ = target.set(Arc::new(self.link_program(optimized)));
            }));
        };
        Ok(Arc::new(program.with_optimized_later(slot, Box::new(request))))
    }

    fn compile_inputs(
        &self,
    ) -> Result<(jit::WindowAddress, rtcg_vgpu_abi::instrument::Instrumentation, Option<jit::ModuleCodeCache>), Fault>
    {
        let w = device_window().map_err(|e| self.launch_fault(FaultKind::OutOfMemory, e.to_string()))?;
        let window = jit::WindowAddress { base: w.base_address() as u64, bits: w.size_log2() };
        let instrument = exec::runtime_calls::enabled_instrumentation(self.random, self.device);
        let text = || *self.text_key.get_or_init(|| jit::cache_key::module_text_key(&self.ptx.source));
        Ok((window, instrument, code_cache::module_cache(text)))
    }

    fn compile(&self) -> Result<JitKernel, Fault> {
        let (window, instrument, cache) = self.compile_inputs()?;
        let calls = (&RUNTIME_CALLS, &instrument);
        jit::compile_or_load_cached(&self.ptx, self.kernel, &self.symbols, self.variant, calls, window, cache)
            .map_err(|e| self.launch_fault(FaultKind::Compile, e.to_string()))
    }

    fn find_cached(&self) -> Result<Option<JitKernel>, Fault> {
        let (window, instrument, cache) = self.compile_inputs()?;
        let calls = (&RUNTIME_CALLS, &instrument);
        jit::find_cached(&self.ptx, self.kernel, &self.symbols, self.variant, calls, window, cache)
            .map_err(|e| self.launch_fault(FaultKind::Compile, e.to_string()))
    }

    fn name(&self) -> &str {
        &self.ptx.functions[self.kernel.index()].name
    }

    fn launch_fault(&self, kind: FaultKind, what: String) -> Fault {
        Fault::launch_fault(kind, self.name(), what)
    }

    fn link_program(&self, compiled: JitKernel) -> Program {
        Program {
            host: compiled.host,
            suspends: compiled.suspends,
            random: self.random,
            recursive: compiled.recursive,
            stack_bytes: compiled.stack_bytes,
            local_bytes_per_warp: compiled.local_bytes_per_warp,
            dynamic_shared_offset: compiled.shared.dynamic_offset,
            uses_reserved_shared: compiled.shared.uses_reserved,
            ..Program::new(self.name(), compiled.entry, Box::new(KernelSourceMap::new(Arc::clone(&self.ptx), compiled)))
        }
    }
}

/// Runs `work`, which makes machine code of a kernel, in a thread and waits for it, if there is a thread. An interrupt
/// ends the wait; the work goes on.
///
/// # Errors
/// The caller was interrupted.
pub(super) fn wait_for_compiler_thread(kernel: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Fault> {
    let (sender, receiver) = channel::<()>();
    let builder = std::thread::Builder::new().name("rtcg-jit".to_owned()).stack_size(COMPILER_STACK_BYTES);
    let started = builder.spawn(move || {
        exec::mark_internal_thread();
        exec::block_asynchronous_signals();
        work();
        drop(sender);
    });
    while started.is_ok() && receiver.recv_timeout(exec::CHECK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
        if exec::is_interrupt_requested() {
            let what = "the compilation was interrupted".to_owned();
            return Err(Fault::launch_fault(FaultKind::Cancelled, kernel, what));
        }
    }
    Ok(())
}

type BackgroundWork = Box<dyn FnOnce() + Send>;

/// How often a lock is tried that somebody holds.
const MAX_LOCK_ATTEMPTS: u32 = 10_000;

/// Does `work` some time later on the process' background thread, one piece after the other. It is dropped if the
/// system has no thread.
fn run_in_background(work: BackgroundWork) {
    static THREAD: Mutex<Option<(u32, Sender<BackgroundWork>)>> = Mutex::new(None);
    // It is held for a moment only, unless the process was forked at that moment: the child does without.
    let try_lock = |_| THREAD.try_lock().inspect_err(|_| std::thread::yield_now()).ok();
    let Some(mut thread) = (0..MAX_LOCK_ATTEMPTS).find_map(try_lock) else { return };
    let process = std::process::id();
    if !matches!(&*thread, Some((of, _)) if *of == process) {
        let (sender, receiver) = channel::<BackgroundWork>();
        let builder = std::thread::Builder::new().name("rtcg-optimizer".to_owned()).stack_size(COMPILER_STACK_BYTES);
        let started = builder.spawn(move || {
            exec::mark_internal_thread();
            exec::block_asynchronous_signals();
            lower_priority();
            receiver.into_iter().for_each(|work| work());
        });
        if started.is_err() {
            return;
        }
        // The sender of a forked parent has no receiver here.
        std::mem::forget(thread.replace((process, sender)));
    }
    if let Some((_, sender)) = &*thread {
        let _ = sender.send(work);
    }
}

/// Lets running kernels and the threads of the program go first. Where all cores are busy the thread gets about a
/// quarter of one, so that a kernel that keeps them busy is optimised all the same.
fn lower_priority() {
    const NICE: i32 = 5;
    // SAFETY: sets the priority of the calling thread (on Linux that of thread 0, itself, alone).
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICE) };
}
