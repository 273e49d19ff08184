//! From plans to machine code: declares the functions of a kernel, emits and compiles each, and
//! gathers the table that leads from program counters back to instructions.
#![allow(unsafe_code)]

use super::cold::Record;
use super::lazy::{Lazy, MaskedSlot};
use super::slow::SlowEnv;
use super::stubs;
use crate::jit::lanes::plan::Plan;
use crate::jit::lanes::{layout, spin};
use crate::jit::{
    CompiledKernel, Instrument, JitError, SharedLayout, SymbolLayout, Variant, Window, runtime::RuntimeCalls,
};
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{self, AbiParam, Signature, UserFuncName, types};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa, TargetFrontendConfig};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{ArenaMemoryProvider, JITBuilder, JITModule};
use cranelift_module::{FuncId as MachineFn, Module as _};
use rtcg_ptx::ast::{self, FuncId};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// What the emission of every function can see.
pub(crate) struct Env<'a> {
    pub(crate) module: &'a ast::Module,
    pub(crate) symbols: &'a SymbolLayout,
    pub(crate) shared: SharedLayout,
    pub(crate) runtime: RuntimeCalls,
    pub(crate) instrument: Instrument,
    pub(crate) window: Window,
    pub(crate) variant: Variant,
    /// Where cold places call.
    pub(crate) stub: usize,
    /// The functions of this part.
    pub(crate) versions: HashMap<FuncId, MachineFn>,
    pub(crate) signatures: HashMap<MachineFn, Signature>,
    pub(crate) part: Part<'a>,
    /// Functions that may retire lanes with `exit`, directly or in what they call.
    pub(crate) may_exit: HashMap<FuncId, bool>,
    /// Functions that may wait at a barrier of the block, themselves or in what they call.
    pub(crate) waits: HashMap<FuncId, bool>,
    pub(crate) slow: *const SlowEnv,
    pub(crate) frontend: TargetFrontendConfig,
    /// For each function the table of blocks at which masked code may return.
    pub(crate) resume_tables: HashMap<FuncId, Box<[u8]>>,
    /// For each function the blocks that call another one.
    pub(crate) call_tables: HashMap<FuncId, Box<[u8]>>,
    /// What cold places ask for; the code points to it.
    #[allow(clippy::vec_box)] // Code holds the records' addresses.
    pub(crate) records: RefCell<Vec<Box<Record>>>,
}

impl Env<'_> {
    /// Makes a function of this compilation callable.
    pub(crate) fn declare_in(&self, f: MachineFn, b: &mut FunctionBuilder<'_>) -> ir::FuncRef {
        let signature = b.import_signature(self.signatures[&f].clone());
        let name = b.func.declare_imported_user_function(ir::UserExternalName { namespace: 0, index: f.as_u32() });
        b.import_function(ir::ExtFuncData {
            name: ir::ExternalName::user(name),
            signature,
            colocated: true,
            patchable: false,
        })
    }
}

/// Machine code and all it refers to; frees the code when dropped.
pub(crate) struct Built {
    module: Option<JITModule>,
    pub(crate) addresses: HashMap<FuncId, usize>,
    frame_bytes: HashMap<FuncId, u32>,
    /// Start, end and site of pieces of machine code, by start.
    ranges: Vec<(usize, usize, u32)>,
    /// Start and end of each function.
    functions: Vec<(usize, usize)>,
    _slow: Box<SlowEnv>,
    _tables: [HashMap<FuncId, Box<[u8]>>; 2],
    #[allow(clippy::vec_box)] // As above.
    _records: Vec<Box<Record>>,
}

// SAFETY: the module is only kept to be freed; the code itself is never written again.
unsafe impl Send for Built {}
// SAFETY: as above; all other fields are read-only.
unsafe impl Sync for Built {}

impl Drop for Built {
    fn drop(&mut self) {
        if let Some(m) = self.module.take() {
            // SAFETY: a kernel is dropped only when no launch runs it.
            unsafe { m.free_memory() };
        }
    }
}

impl Built {
    fn contains(&self, pc: usize) -> bool {
        self.functions.iter().any(|&(a, b)| (a..b).contains(&pc))
    }
    fn site_number(&self, pc: usize) -> Option<u32> {
        let i = self.ranges.partition_point(|r| r.0 <= pc).checked_sub(1)?;
        let (_, end, site) = self.ranges[i];
        (pc < end).then_some(site)
    }
}

/// The machine code of a kernel, its masked part as soon as it was needed.
pub(crate) struct Code {
    outer: Built,
    lazy: Box<Lazy>,
    sites: Vec<crate::jit::Site>,
}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Code").field("functions", &self.outer.functions).finish_non_exhaustive()
    }
}

impl Code {
    pub(crate) fn contains(&self, pc: usize) -> bool {
        self.outer.contains(pc) || self.lazy.built().is_some_and(|b| b.contains(pc))
    }
    pub(crate) fn site_number(&self, pc: usize) -> Option<u32> {
        self.outer.site_number(pc).or_else(|| self.lazy.built()?.site_number(pc))
    }
    pub(crate) fn site(&self, number: u32) -> Option<crate::jit::Site> {
        let (statement, lanes) = crate::jit::lanes::sites::decode(number);
        let mut site = self.sites.get(statement as usize)?.clone();
        site.lanes = match lanes {
            0..32 => crate::jit::SiteLanes::Lane(lanes),
            32..36 => crate::jit::SiteLanes::Chunk((lanes - 32) * 8),
            _ => crate::jit::SiteLanes::Warp,
        };
        Some(site)
    }
}

/// The code generator: `fast` keeps the order of long bodies and compiles quicker; `baseline` makes
/// code for every processor of this architecture.
pub(crate) fn isa(fast: bool, baseline: bool) -> Result<OwnedTargetIsa, String> {
    static ISAS: [OnceLock<Result<OwnedTargetIsa, String>>; 4] = [const { OnceLock::new() }; 4];
    let cell = &ISAS[usize::from(fast) + 2 * usize::from(baseline)];
    cell.get_or_init(|| make_isa(fast, baseline)).clone()
}

fn make_isa(fast: bool, baseline: bool) -> Result<OwnedTargetIsa, String> {
    let mut flags = settings::builder();
    let verify = if cfg!(debug_assertions) || std::env::var_os("RTCG_VERIFY_JIT").is_some() { "true" } else { "false" };
    let options = [
        ("opt_level", if fast { "none" } else { "speed" }),
        ("enable_verifier", verify),
        ("is_pic", "false"),
        ("use_colocated_libcalls", "false"),
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
        ("unwind_info", "false"),
        ("preserve_frame_pointers", "true"),
    ];
    for (k, v) in options {
        flags.set(k, v).map_err(|e| e.to_string())?;
    }
    let builder = cranelift_native::builder_with_options(!baseline).map_err(str::to_string)?;
    builder.finish(settings::Flags::new(flags)).map_err(|e| e.to_string())
}

/// Statements of a block above which a kernel is compiled without optimisation: that keeps the
/// order of long straight-line code, which NVVM has scheduled, and compiles quicker.
const LARGE_BLOCK: usize = 16;

fn plain(message: impl Into<String>, f: &ast::Function) -> JitError {
    JitError { message: message.into(), function: f.name.to_string(), span: Some(f.span), ptx_line: 0 }
}

/// All that machine code is made from; the masked part is made from it later, if ever.
#[derive(Debug, Clone)]
pub(crate) struct Inputs {
    pub(crate) module: Arc<ast::Module>,
    pub(crate) kernel: FuncId,
    pub(crate) shared: SharedLayout,
    pub(crate) symbols: SymbolLayout,
    pub(crate) variant: Variant,
    pub(crate) runtime: RuntimeCalls,
    pub(crate) instrument: Instrument,
    pub(crate) window: Window,
}

/// Which functions to make.
pub(crate) enum Part<'a> {
    /// The outer versions; they call masked ones through slots.
    Outer { slots: &'a [MaskedSlot] },
    /// The masked versions; they call outer ones by address.
    Masked { outer: HashMap<FuncId, usize> },
}

/// The plans of a kernel and all it can call.
fn plans(inputs: &Inputs) -> Result<Vec<Plan<'_>>, JitError> {
    let module = &*inputs.module;
    let mut plans = vec![];
    let mut first_site = 0;
    let reachable = layout::reachable_functions(module, inputs.kernel);
    let watching = spin::watching_functions(module, &reachable);
    for id in reachable {
        if module.functions[id.index()].defined {
            plans.push(Plan::new(module, id, inputs.variant, first_site, (&inputs.instrument, &watching))?);
            first_site += module.functions[id.index()].body.len() as u32 + 1;
        }
    }
    Ok(plans)
}

/// Compiles a kernel; see [`crate::jit::compile_kernel`].
pub(crate) fn run(inputs: Inputs) -> Result<CompiledKernel, JitError> {
    let inputs = Arc::new(inputs);
    let f = &inputs.module.functions[inputs.kernel.index()];
    if !f.defined {
        return Err(plain("the kernel has no body", f));
    }
    let plans = plans(&inputs)?;
    let lazy = Lazy::new(Arc::clone(&inputs), plans.iter().map(|p| p.id));
    let built = build(&inputs, &plans, Part::Outer { slots: lazy.slots() })?;
    // SAFETY: the machine function was emitted with the signature of a kernel entry.
    let entry = unsafe { std::mem::transmute::<usize, crate::abi::KernelEntry>(built.addresses[&inputs.kernel]) };
    let usage = crate::jit::lanes::usage::measure(&plans, inputs.kernel, &built.frame_bytes);
    let suspends = crate::jit::lanes::usage::suspends(&plans) || inputs.instrument.random.is_some();
    let sites = crate::jit::lanes::usage::site_table(&plans);
    lazy.set_outer(built.addresses.clone());
    Ok(CompiledKernel {
        entry,
        suspends,
        local_bytes_per_warp: usage.local_bytes,
        recursive: usage.recursive,
        stack_bytes: usage.stack_bytes,
        shared: inputs.shared.clone(),
        code: Code { outer: built, lazy, sites },
    })
}

/// Makes one part of a kernel.
pub(crate) fn build_masked(inputs: &Inputs, outer: HashMap<FuncId, usize>) -> Result<Built, JitError> {
    build(inputs, &plans(inputs)?, Part::Masked { outer })
}

/// Address space for the code and constants of one part of a kernel. They refer to each other by
/// 32-bit distances, so they must lie in one reservation: separate mappings may be further apart.
const CODE_SPAN: usize = 256 << 20;

pub(crate) fn jit_module(isa: OwnedTargetIsa) -> Result<JITModule, String> {
    let memory = ArenaMemoryProvider::new_with_size(CODE_SPAN)
        .map_err(|e| format!("no address space for {CODE_SPAN} bytes of machine code: {e}"))?;
    let mut builder = JITBuilder::with_isa(isa, cranelift_module::default_libcall_names());
    builder.memory_provider(Box::new(memory));
    super::libcalls::define(&mut builder);
    Ok(JITModule::new(builder))
}

fn build(inputs: &Inputs, plans: &[Plan<'_>], part: Part<'_>) -> Result<Built, JitError> {
    let module = &*inputs.module;
    let f = &module.functions[inputs.kernel.index()];
    let large = plans.iter().flat_map(|p| &p.body.blocks).any(|b| b.stmts.len() > LARGE_BLOCK);
    let fast = inputs.variant.optimise.map_or(large || matches!(part, Part::Masked { .. }), |optimise| !optimise);
    let isa = isa(fast, inputs.variant.baseline).map_err(|e| plain(e, f))?;
    let frontend = isa.frontend_config();
    let jit = jit_module(isa).map_err(|e| plain(e, f))?;
    let slow = Box::new(SlowEnv { runtime: inputs.runtime, instrument: inputs.instrument, window: inputs.window });
    let mut c = Compiler {
        jit: Some(jit),
        context: cranelift_codegen::Context::new(),
        builder: FunctionBuilderContext::new(),
        done: vec![],
        frame_bytes: HashMap::new(),
    };
    let mut env = Env {
        module,
        symbols: &inputs.symbols,
        runtime: inputs.runtime,
        instrument: inputs.instrument,
        window: inputs.window,
        variant: inputs.variant,
        may_exit: may_exit(plans),
        waits: waits(plans),
        shared: inputs.shared.clone(),
        stub: stubs::get(inputs.variant.baseline).map_err(|e| plain(e, f))?,
        versions: HashMap::new(),
        signatures: HashMap::new(),
        slow: &*slow,
        frontend,
        part,
        resume_tables: plans.iter().map(|p| (p.id, resume_table(p))).collect(),
        call_tables: plans.iter().map(|p| (p.id, call_table(p))).collect(),
        records: RefCell::default(),
    };
    c.declare(&mut env, plans).map_err(|e| plain(e, f))?;
    for p in plans {
        c.function(&env, p)?;
    }
    let (versions, tables) = (env.versions, [env.resume_tables, env.call_tables]);
    let records = env.records.into_inner();
    let Some(mut jit) = c.jit.take() else { return Err(plain("no code", f)) };
    jit.finalize_definitions().map_err(|e| plain(e.to_string(), f))?;
    let addresses = versions.iter().map(|(f, m)| (*f, jit.get_finalized_function(*m) as usize)).collect();
    let (ranges, functions) = ranges(&jit, &c.done);
    Ok(Built {
        module: Some(jit),
        addresses,
        frame_bytes: c.frame_bytes,
        ranges,
        functions,
        _slow: slow,
        _tables: tables,
        _records: records,
    })
}

fn resume_table(p: &Plan<'_>) -> Box<[u8]> {
    (0..p.body.blocks.len()).map(|b| u8::from(p.resumable.contains(b))).collect()
}

fn call_table(p: &Plan<'_>) -> Box<[u8]> {
    let calls =
        |b: &crate::jit::lanes::body::Block<'_>| b.stmts.iter().any(|s| matches!(&*s.inst, ast::Inst::Call { .. }));
    p.body.blocks.iter().map(|b| u8::from(calls(b))).collect()
}

/// Which functions can execute `exit`; through a function pointer any can.
fn may_exit(plans: &[Plan<'_>]) -> HashMap<FuncId, bool> {
    with_callers(plans, |p| p.body.blocks.iter().any(|b| b.term == crate::jit::lanes::body::Term::Exit))
}

/// Which functions can wait at a barrier of the block.
fn waits(plans: &[Plan<'_>]) -> HashMap<FuncId, bool> {
    let waits = |i: &ast::Inst| matches!(i, ast::Inst::Bar { kind, .. } if !matches!(kind, ast::BarKind::Arrive));
    with_callers(plans, |p| p.body.blocks.iter().flat_map(|b| &b.stmts).any(|s| waits(&s.inst)))
}

/// Functions for which `is` holds, or that call such a function.
fn with_callers(plans: &[Plan<'_>], is: impl Fn(&Plan<'_>) -> bool) -> HashMap<FuncId, bool> {
    let mut map: HashMap<FuncId, bool> = plans.iter().map(|p| (p.id, is(p))).collect();
    loop {
        let before = map.values().filter(|v| **v).count();
        for p in plans {
            let calls = crate::jit::lanes::usage::callees(p, plans);
            if calls.iter().any(|c| map[c]) {
                map.insert(p.id, true);
            }
        }
        if map.values().filter(|v| **v).count() == before {
            return map;
        }
    }
}

/// A function with its size and the sites of its code, as (start, end, site).
type Done = (MachineFn, usize, Vec<(u32, u32, u32)>);

struct Compiler {
    jit: Option<JITModule>,
    context: cranelift_codegen::Context,
    builder: FunctionBuilderContext,
    /// Functions with their size and source locations.
    done: Vec<Done>,
    frame_bytes: HashMap<FuncId, u32>,
}

/// A signature; all compiled functions but the stubs have the convention of the host.
pub(crate) fn signature(params: &[ir::Type], ret: Option<ir::Type>, conv: CallConv) -> Signature {
    let mut s = Signature::new(conv);
    s.params.extend(params.iter().map(|t| AbiParam::new(*t)));
    s.returns.extend(ret.map(AbiParam::new));
    s
}

impl Compiler {
    fn declare(&mut self, env: &mut Env<'_>, plans: &[Plan<'_>]) -> Result<(), String> {
        let (p, w) = (types::I64, types::I32);
        let Some(jit) = &mut self.jit else { return Err("no code".into()) };
        let conv = jit.isa().default_call_conv();
        let mut versions = HashMap::new();
        for plan in plans {
            let kind = match (&env.part, plan.f.entry) {
                (Part::Masked { .. }, _) => signature(&[p, p, p, p, p], Some(w), conv),
                (_, true) => signature(&[p], None, conv),
                (_, false) => signature(&[p, w, p, p], None, conv),
            };
            let id = jit.declare_anonymous_function(&kind).map_err(|e| e.to_string())?;
            env.signatures.insert(id, kind);
            versions.insert(plan.id, id);
        }
        env.versions = versions;
        Ok(())
    }

    /// Emits one machine function with `emit` and compiles it.
    fn emit(
        &mut self,
        env: &Env<'_>,
        id: MachineFn,
        emit: impl FnOnce(FunctionBuilder<'_>) -> Result<(), JitError>,
    ) -> Result<(), JitError> {
        self.context.clear();
        self.context.func.signature = env.signatures[&id].clone();
        self.context.func.name = UserFuncName::user(0, id.as_u32());
        emit(FunctionBuilder::new(&mut self.context.func, &mut self.builder))?;
        if std::env::var_os("RTCG_DUMP_CLIF").is_some() {
            eprintln!("{}", self.context.func.display());
        }
        let show_code = std::env::var_os("RTCG_DUMP_ASM").is_some();
        self.context.set_disasm(show_code);
        let fail = |e: String| JitError {
            message: format!("code generation failed: {e}"),
            function: String::new(),
            span: None,
            ptx_line: 0,
        };
        let Some(jit) = &mut self.jit else { return Err(fail("no code".into())) };
        jit.define_function_with_control_plane(id, &mut self.context, &mut ControlPlane::default())
            .map_err(|e| fail(format!("{e:?}")))?;
        let Some(code) = self.context.compiled_code() else { return Err(fail("no code".into())) };
        if let (true, Some(text)) = (show_code, &code.vcode) {
            eprintln!("{text}");
        }
        let locs = code
            .buffer
            .get_srclocs_sorted()
            .iter()
            .filter(|l| !l.loc.is_default())
            .map(|l| (l.start, l.end, l.loc.bits()))
            .collect();
        self.done.push((id, code.code_buffer().len(), locs));
        Ok(())
    }

    fn function(&mut self, env: &Env<'_>, plan: &Plan<'_>) -> Result<(), JitError> {
        let id = env.versions[&plan.id];
        if let Part::Masked { .. } = env.part {
            return self.emit(env, id, |b| super::masked::emit(b, env, plan));
        }
        self.emit(env, id, |b| super::converged::emit(b, env, plan))?;
        // The masked version keeps at most the registers of a block on the stack.
        let longest = plan.body.blocks.iter().map(|b| b.stmts.len()).max().unwrap_or(0) as u32;
        let masked = 4096 + longest.min(1000) * 384;
        self.frame_bytes.insert(plan.id, plan.frame_size + self.spill_bytes() + masked);
        Ok(())
    }

    /// Stack bytes of the function compiled last, its explicit slots excluded as far as known.
    fn spill_bytes(&self) -> u32 {
        self.context.compiled_code().map_or(0, |c| c.buffer.frame_layout().map_or(4096, |f| f.frame_to_fp_offset)) + 64
    }
}

/// The table from machine code to sites, and the extent of each function.
#[allow(clippy::type_complexity)]
fn ranges(jit: &JITModule, done: &[Done]) -> (Vec<(usize, usize, u32)>, Vec<(usize, usize)>) {
    let mut ranges = vec![];
    let mut functions = vec![];
    for (id, size, locs) in done {
        let at = jit.get_finalized_function(*id) as usize;
        functions.push((at, at + size));
        ranges.extend(locs.iter().map(|&(s, e, site)| (at + s as usize, at + e as usize, site)));
    }
    ranges.sort_unstable();
    (ranges, functions)
}
