//! From plans to machine code: declares the functions of a kernel, emits and compiles each, and
//! gathers the table that leads from places in the code back to instructions.

use super::out_of_line::SlowPathRequest;
use crate::emit::code::image::{CodeImage, CodeImageBuilder};
use crate::emit::code::image_serialization::CacheableCode;
use crate::emit::code::relocations::RelocTarget;
use crate::emit::code::serialization;
use crate::internal_errors;
use crate::simt::function_plan::FunctionPlan;
use crate::simt::kernel_usage::{self, KernelUsage, SiteTable};
use crate::simt::{self, spin_loops, symbol_layout};
use crate::{
    Instrumentation, JitError, LaunchVariant, ModuleCodeCache, RuntimeCalls, SharedLayout, SymbolLayout, WindowAddress,
    cache_key,
};
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{self, AbiParam, Signature, UserFuncName, types};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa, TargetFrontendConfig};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use rtcg_ptx::ast::{self, FuncId};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

/// What the emission of every function can see.
pub(crate) struct EmitEnv<'a> {
    pub(crate) module: &'a ast::Module,
    pub(crate) shared: SharedLayout,
    pub(crate) instrument: Instrumentation,
    pub(crate) window: WindowAddress,
    pub(crate) variant: LaunchVariant,
    /// The functions of this part by their numbers.
    pub(crate) versions: HashMap<FuncId, u32>,
    pub(crate) part: FunctionVersion,
    /// Functions that may retire lanes with `exit`, directly or in what they call.
    pub(crate) may_exit: HashMap<FuncId, bool>,
    /// Functions that may wait at a barrier of the block, themselves or in what they call.
    pub(crate) may_wait_at_barrier: HashMap<FuncId, bool>,
    pub(crate) frontend: TargetFrontendConfig,
    pub(crate) tables: HashMap<FuncId, BasicBlockTables>,
    /// What out-of-line stubs ask for.
    pub(crate) requests: RefCell<Vec<SlowPathRequest>>,
}

/// Tables of a function with a byte for each block.
pub(crate) struct BasicBlockTables {
    /// Blocks at which masked code may return.
    pub(crate) resume: RelocTarget,
    /// Blocks that call another function.
    pub(crate) calls: RelocTarget,
}

/// A part of a kernel as machine code that can be put into memory.
pub(crate) struct CompiledCodeImage {
    pub(crate) image: CodeImage,
    /// The functions of the image, in its order.
    pub(crate) ids: Vec<FuncId>,
    /// Start, end and site of pieces of machine code, by start.
    pub(crate) ranges: Vec<[u32; 3]>,
    pub(crate) requests: Vec<SlowPathRequest>,
}

/// The outer part of a kernel and what is known of the whole.
pub(crate) struct KernelImage {
    pub(crate) part: CompiledCodeImage,
    pub(crate) usage: KernelUsage,
    pub(crate) suspends: bool,
    pub(crate) shared: SharedLayout,
    pub(crate) sites: SiteTable,
}

/// How much is done for the speed of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CompileEffort {
    /// Cranelift optimises.
    Optimized,
    /// Long bodies keep their order.
    KeepOrder,
    /// Registers are allocated in one pass too: code of any length compiles in proportion to it.
    SinglePassRegalloc,
}

/// The code generator; `baseline` makes code for every processor of this architecture, `verify` verifies what it is given.
pub(crate) fn target_isa(effort: CompileEffort, baseline: bool, verify: bool) -> Result<OwnedTargetIsa, String> {
    static TARGET_ISAS: [OnceLock<Result<OwnedTargetIsa, String>>; 12] = [const { OnceLock::new() }; 12];
    let cell = &TARGET_ISAS[effort as usize + 3 * usize::from(baseline) + 6 * usize::from(verify)];
    cell.get_or_init(|| build_target_isa(effort, baseline, verify)).clone()
}

fn build_target_isa(effort: CompileEffort, baseline: bool, verify: bool) -> Result<OwnedTargetIsa, String> {
    let mut flags = settings::builder();
    let options = [
        ("opt_level", if effort == CompileEffort::Optimized { "speed" } else { "none" }),
        (
            "regalloc_algorithm",
            if effort == CompileEffort::SinglePassRegalloc { "single_pass" } else { "backtracking" },
        ),
        ("enable_verifier", if verify { "true" } else { "false" }),
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

/// The processor and its instructions that code is made of, in words.
pub(crate) fn isa_name(baseline: bool) -> Result<&'static str, String> {
    static ISA_NAMES: [OnceLock<Result<String, String>>; 2] = [const { OnceLock::new() }; 2];
    let name = ISA_NAMES[usize::from(baseline)].get_or_init(|| {
        let isa = target_isa(CompileEffort::Optimized, baseline, false)?;
        let flags = isa.isa_flags();
        Ok(flags.iter().fold(isa.triple().to_string(), |name, flag| format!("{name} {flag}")))
    });
    name.as_deref().map_err(Clone::clone)
}

/// Statements of a block above which a kernel is compiled without optimisation: that keeps the
/// order of long straight-line code, which NVVM has scheduled, and compiles quicker.
const MAX_OPTIMIZED_BLOCK_STATEMENTS: usize = 16;

/// Instructions of a function above which registers are allocated in one pass. The other way takes time with the
/// square of the length, about 5 s here; code becomes some three times slower.
const MAX_FULL_REGALLOC_INSTRUCTIONS: usize = 150_000;

/// What is to be compiled, and where the things are that the code will refer to.
#[derive(Debug)]
pub(crate) struct KernelSource {
    pub(crate) module: Arc<ast::Module>,
    pub(crate) kernel: FuncId,
    pub(crate) symbols: SymbolLayout,
    pub(crate) variant: LaunchVariant,
    pub(crate) runtime: RuntimeCalls,
    pub(crate) instrument: Instrumentation,
    pub(crate) window: WindowAddress,
    pub(crate) code_cache: Option<ModuleCodeCache>,
}

impl KernelSource {
    /// An error that concerns the kernel as a whole.
    pub(crate) fn kernel_error(&self, message: impl Into<String>) -> JitError {
        let f = &self.module.functions[self.kernel.index()];
        JitError { message: message.into(), function: f.name.to_string(), span: Some(f.span), ptx_line: 0 }
    }

    /// What code is made from.
    pub(crate) fn codegen_inputs(&self) -> CodegenInputs {
        let simt::inline::InlinedModule { module, shared } =
            simt::inline::inline_calls(&simt::param_addresses::lower_param_addresses(&self.module), self.kernel);
        let (kernel, variant, instrument, window) = (self.kernel, self.variant, self.instrument, self.window);
        CodegenInputs { module, kernel, shared, variant, instrument, window }
    }

    /// The outer part; what it was made from and, in the first tier, the masked part, unless it was kept.
    pub(crate) fn outer_code_image(&self) -> Result<KernelWithInputs, JitError> {
        let (mut inputs, mut masked) = (None, None);
        let make = || {
            let made_from = inputs.insert(Arc::new(self.codegen_inputs()));
            compile_outer(made_from, &mut masked)
        };
        let image = internal_errors::catch_panics(self, || self.get_or_compile(false, make))?;
        if let (Some(masked), Some(code_cache)) = (&masked, &self.code_cache) {
            Self::store_part(code_cache, &self.compiled_code_key(code_cache, true)?, masked);
        }
        Ok(KernelWithInputs { image, masked, inputs })
    }

    /// The masked part.
    pub(crate) fn masked_code_image(&self, inputs: Option<&CodegenInputs>) -> Result<CompiledCodeImage, JitError> {
        internal_errors::catch_panics(self, || {
            self.get_or_compile(true, || inputs.map_or_else(|| compile_masked(&self.codegen_inputs()), compile_masked))
        })
    }

    /// The outer part if it is kept.
    pub(crate) fn find_outer_image(&self) -> Result<Option<KernelImage>, JitError> {
        let Some(code_cache) = &self.code_cache else { return Ok(None) };
        Ok(Self::load_part(code_cache, &self.compiled_code_key(code_cache, false)?))
    }

    fn compiled_code_key(&self, code_cache: &ModuleCodeCache, masked: bool) -> Result<cache_key::CodeKey, JitError> {
        let name = &self.module.functions[self.kernel.index()].name;
        let key = code_cache.compiled_code_key(name, self.variant, &self.instrument, self.window.bits, masked);
        key.map_err(|e| self.kernel_error(e))
    }

    fn load_part<T: CacheableCode>(code_cache: &ModuleCodeCache, key: &cache_key::CodeKey) -> Option<T> {
        let part = code_cache.store.get_code(key).and_then(|bytes| serialization::decode_exactly(&bytes))?;
        cache_key::N_LOADED_FROM_CACHE.fetch_add(1, Ordering::Relaxed);
        Some(part)
    }

    /// A part from the store, or made and put there.
    fn get_or_compile<T: CacheableCode>(
        &self,
        masked: bool,
        make: impl FnOnce() -> Result<T, JitError>,
    ) -> Result<T, JitError> {
        let make = || self.trace_compilation(masked, make);
        let Some(code_cache) = &self.code_cache else { return make() };
        let key = self.compiled_code_key(code_cache, masked)?;
        if let Some(part) = Self::load_part(code_cache, &key) {
            return Ok(part);
        }
        let part = make()?;
        Self::store_part(code_cache, &key, &part);
        Ok(part)
    }

    fn store_part<T: CacheableCode>(code_cache: &ModuleCodeCache, key: &cache_key::CodeKey, part: &T) {
        if part.code_image().is_cacheable() {
            let mut bytes = vec![];
            part.serialize(&mut bytes);
            code_cache.store.put_code(key, &bytes);
        }
    }

    /// Compiles with `make`, which is a span of the trace.
    fn trace_compilation<T>(&self, masked: bool, make: impl FnOnce() -> T) -> T {
        let traced = crate::COMPILE_TRACER.get().and_then(|tracer| Some((tracer.end, (tracer.begin)()?)));
        let made = make();
        if let Some((end, begun)) = traced {
            let name = &self.module.functions[self.kernel.index()].name;
            let version = if masked { ", masked code" } else { "" };
            let tier = if self.variant.first_tier { "first tier" } else { "optimized" };
            end(begun, &format!("compile {name} ({tier}{version})"));
        }
        made
    }
}

/// A kernel, and what there is of it besides if it was compiled just now.
pub(crate) struct KernelWithInputs {
    pub(crate) image: KernelImage,
    pub(crate) masked: Option<CompiledCodeImage>,
    pub(crate) inputs: Option<Arc<CodegenInputs>>,
}

/// All that machine code is made from. The addresses of things are not among it.
#[derive(Debug)]
pub(crate) struct CodegenInputs {
    module: Arc<ast::Module>,
    kernel: FuncId,
    shared: SharedLayout,
    variant: LaunchVariant,
    instrument: Instrumentation,
    window: WindowAddress,
}

/// Which functions to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FunctionVersion {
    /// The outer versions; they call masked ones through slots.
    Outer,
    /// The masked versions; they call outer ones by address.
    Masked,
}

/// The plans of a kernel and all it can call.
fn plan_functions(inputs: &CodegenInputs) -> Result<Vec<FunctionPlan<'_>>, JitError> {
    let module = &*inputs.module;
    let mut plans = vec![];
    let mut first_site = 0;
    let reachable = symbol_layout::reachable_functions(module, inputs.kernel);
    let watching = spin_loops::polling_functions(module, &reachable);
    for id in reachable {
        if module.functions[id.index()].defined {
            plans.push(FunctionPlan::new(module, id, inputs.variant, first_site, (&inputs.instrument, &watching))?);
            first_site += module.functions[id.index()].body.len() as u32 + 1;
        }
    }
    Ok(plans)
}

/// Compiles the outer part of a kernel.
fn compile_outer(inputs: &CodegenInputs, masked_code: &mut Option<CompiledCodeImage>) -> Result<KernelImage, JitError> {
    let f = &inputs.module.functions[inputs.kernel.index()];
    if !f.defined {
        return Err(function_error("the kernel has no body", f));
    }
    let plans = plan_functions(inputs)?;
    let effort = choose_effort(inputs, &plans, FunctionVersion::Outer);
    let (part, mut frame_bytes) = build_code_image(inputs, &plans, FunctionVersion::Outer, effort)?;
    let masked_frame_bytes = if inputs.variant.first_tier {
        if crate::fails_masked_code() {
            return Err(function_error("masked code is not to be compiled", f));
        }
        let (code, frame_bytes) = build_code_image(inputs, &plans, FunctionVersion::Masked, effort)?;
        *masked_code = Some(code);
        frame_bytes
    } else {
        // Masked code is emitted already, though not compiled, so that a panic there is the error of the launch. Other
        // errors concern only launches whose lanes diverge. It takes about a quarter of a millisecond.
        let effort = choose_effort(inputs, &plans, FunctionVersion::Masked);
        let emitted = emit_functions(inputs, &plans, FunctionVersion::Masked, effort, false);
        emitted.map(|(compiler, _)| compiler.frame_bytes).unwrap_or_default()
    };
    for (id, bytes) in masked_frame_bytes {
        *frame_bytes.entry(id).or_default() += bytes;
    }
    Ok(KernelImage {
        part,
        usage: kernel_usage::measure_usage(&plans, inputs.kernel, &frame_bytes),
        suspends: kernel_usage::may_suspend(&plans) || inputs.instrument.random.is_some(),
        shared: inputs.shared.clone(),
        sites: kernel_usage::site_table(&plans),
    })
}

/// Compiles the masked part of a kernel.
fn compile_masked(inputs: &CodegenInputs) -> Result<CompiledCodeImage, JitError> {
    let plans = plan_functions(inputs)?;
    let effort = choose_effort(inputs, &plans, FunctionVersion::Masked);
    Ok(build_code_image(inputs, &plans, FunctionVersion::Masked, effort)?.0)
}

/// How a part is compiled.
fn choose_effort(inputs: &CodegenInputs, plans: &[FunctionPlan<'_>], part: FunctionVersion) -> CompileEffort {
    if inputs.variant.first_tier {
        return CompileEffort::SinglePassRegalloc;
    }
    let large = plans.iter().flat_map(|p| &p.body.blocks).any(|b| b.stmts.len() > MAX_OPTIMIZED_BLOCK_STATEMENTS);
    let in_order = inputs.variant.optimise.map_or(large || part == FunctionVersion::Masked, |optimise| !optimise);
    if in_order { CompileEffort::KeepOrder } else { CompileEffort::Optimized }
}

fn function_error(message: impl Into<String>, f: &ast::Function) -> JitError {
    JitError { message: message.into(), function: f.name.to_string(), span: Some(f.span), ptx_line: 0 }
}

/// Makes one part of a kernel; also tells the stack bytes of its functions.
fn build_code_image(
    inputs: &CodegenInputs,
    plans: &[FunctionPlan<'_>],
    part: FunctionVersion,
    effort: CompileEffort,
) -> Result<(CompiledCodeImage, HashMap<FuncId, u32>), JitError> {
    cache_key::N_COMPILED.fetch_add(1, Ordering::Relaxed);
    let f = &inputs.module.functions[inputs.kernel.index()];
    let (c, requests) = emit_functions(inputs, plans, part, effort, true)?;
    let ids: Vec<FuncId> = plans.iter().map(|p| p.id).collect();
    let CodeImageCompiler { image, mut ranges, frame_bytes, .. } = c;
    let image = image.finish_image().map_err(|e| function_error(e, f))?;
    ranges.sort_unstable();
    Ok((CompiledCodeImage { image, ids, ranges, requests }, frame_bytes))
}

/// Emits the functions of a part, and makes machine code of them if `compiles`.
fn emit_functions(
    inputs: &CodegenInputs,
    plans: &[FunctionPlan<'_>],
    part: FunctionVersion,
    effort: CompileEffort,
    compiles: bool,
) -> Result<(CodeImageCompiler, Vec<SlowPathRequest>), JitError> {
    let f = &inputs.module.functions[inputs.kernel.index()];
    let isa = target_isa(effort, inputs.variant.baseline, inputs.variant.verify).map_err(|e| function_error(e, f))?;
    let mut c = CodeImageCompiler {
        frontend: isa.frontend_config(),
        isa,
        effort,
        variant: inputs.variant,
        context: cranelift_codegen::Context::new(),
        builder: FunctionBuilderContext::new(),
        image: CodeImageBuilder::default(),
        ranges: vec![],
        frame_bytes: HashMap::new(),
        compiles,
    };
    let tables = plans.iter().map(|p| Ok((p.id, c.add_basic_block_tables(p)?)));
    let tables = tables.collect::<Result<_, String>>().map_err(|e| function_error(e, f))?;
    let ids: Vec<FuncId> = plans.iter().map(|p| p.id).collect();
    let env = EmitEnv {
        module: &inputs.module,
        instrument: inputs.instrument,
        window: inputs.window,
        variant: inputs.variant,
        may_exit: functions_that_may_exit(plans),
        may_wait_at_barrier: functions_that_may_wait_at_barrier(plans),
        shared: inputs.shared.clone(),
        versions: ids.iter().copied().zip(0..).collect(),
        frontend: c.frontend,
        part,
        tables,
        requests: RefCell::default(),
    };
    for p in plans {
        c.emit_function_version(&env, p)?;
    }
    Ok((c, env.requests.into_inner()))
}

fn resumable_block_table(p: &FunctionPlan<'_>) -> Box<[u8]> {
    (0..p.body.blocks.len()).map(|b| u8::from(p.resumable.contains(b))).collect()
}

fn calling_block_table(p: &FunctionPlan<'_>) -> Box<[u8]> {
    let calls = |b: &crate::simt::body::Block<'_>| b.stmts.iter().any(|s| matches!(&*s.inst, ast::Inst::Call { .. }));
    p.body.blocks.iter().map(|b| u8::from(calls(b))).collect()
}

/// Which functions can execute `exit`; through a function pointer any can.
fn functions_that_may_exit(plans: &[FunctionPlan<'_>]) -> HashMap<FuncId, bool> {
    propagate_to_callers(plans, |p| p.body.blocks.iter().any(|b| b.term == crate::simt::body::Terminator::Exit))
}

/// Which functions can wait at a barrier of the block.
fn functions_that_may_wait_at_barrier(plans: &[FunctionPlan<'_>]) -> HashMap<FuncId, bool> {
    let waits = |i: &ast::Inst| matches!(i, ast::Inst::Bar { kind, .. } if !matches!(kind, ast::BarKind::Arrive));
    propagate_to_callers(plans, |p| p.body.blocks.iter().flat_map(|b| &b.stmts).any(|s| waits(&s.inst)))
}

/// Functions for which `is` holds, or that call such a function.
fn propagate_to_callers(plans: &[FunctionPlan<'_>], is: impl Fn(&FunctionPlan<'_>) -> bool) -> HashMap<FuncId, bool> {
    let mut map: HashMap<FuncId, bool> = plans.iter().map(|p| (p.id, is(p))).collect();
    loop {
        let before = map.values().filter(|v| **v).count();
        for p in plans {
            let calls = crate::simt::kernel_usage::callees(p, plans);
            if calls.iter().any(|c| map[c]) {
                map.insert(p.id, true);
            }
        }
        if map.values().filter(|v| **v).count() == before {
            return map;
        }
    }
}

struct CodeImageCompiler {
    isa: OwnedTargetIsa,
    effort: CompileEffort,
    variant: LaunchVariant,
    frontend: TargetFrontendConfig,
    context: cranelift_codegen::Context,
    builder: FunctionBuilderContext,
    image: CodeImageBuilder,
    ranges: Vec<[u32; 3]>,
    frame_bytes: HashMap<FuncId, u32>,
    /// Whether machine code is made of what is emitted.
    compiles: bool,
}

/// The signature of a function's version; they have the convention of the host.
fn function_signature(part: FunctionVersion, f: &ast::Function, conv: CallConv) -> Signature {
    let (p, w) = (types::I64, types::I32);
    let (params, ret): (&[ir::Type], _) = match (part, f.entry) {
        (FunctionVersion::Masked, _) => (&[p, p, p, p, p], Some(w)),
        (FunctionVersion::Outer, true) => (&[p], None),
        (FunctionVersion::Outer, false) => (&[p, w, p, p], None),
    };
    let mut s = Signature::new(conv);
    s.params.extend(params.iter().map(|t| AbiParam::new(*t)));
    s.returns.extend(ret.map(AbiParam::new));
    s
}

impl CodeImageCompiler {
    fn add_basic_block_tables(&mut self, p: &FunctionPlan<'_>) -> Result<BasicBlockTables, String> {
        Ok(BasicBlockTables {
            resume: self.image.add_constant_bytes(&resumable_block_table(p))?,
            calls: self.image.add_constant_bytes(&calling_block_table(p))?,
        })
    }

    /// Emits one machine function with `emit_function` and compiles it.
    fn emit_function(
        &mut self,
        env: &EmitEnv<'_>,
        plan: &FunctionPlan<'_>,
        emit: impl FnOnce(FunctionBuilder<'_>) -> Result<(), JitError>,
    ) -> Result<(), JitError> {
        self.context.clear();
        self.context.func.signature = function_signature(env.part, plan.f, self.isa.default_call_conv());
        self.context.func.name = UserFuncName::user(0, env.versions[&plan.id]);
        emit(FunctionBuilder::new(&mut self.context.func, &mut self.builder))?;
        if !self.compiles {
            return Ok(());
        }
        if std::env::var_os("RTCG_DUMP_CLIF").is_some() {
            eprintln!("{}", self.context.func.display());
        }
        let show_code = std::env::var_os("RTCG_DUMP_ASM").is_some();
        self.context.set_disasm(show_code);
        let fail = |e: String| function_error(format!("code generation failed: {e}"), plan.f);
        let isa = self.isa_for_last_function(env.part).map_err(fail)?;
        self.context.compile(&*isa, &mut ControlPlane::default()).map_err(|e| fail(format!("{:?}", e.inner)))?;
        let Some(code) = self.context.compiled_code() else { return Err(fail("no code".into())) };
        if let (true, Some(text)) = (show_code, &code.vcode) {
            eprintln!("{text}");
        }
        let start = self.image.add_function(code, &self.context.func, &*isa).map_err(fail)?;
        let locations = code.buffer.get_srclocs_sorted().iter().filter(|l| !l.loc.is_default());
        self.ranges.extend(locations.map(|l| [start + l.start, start + l.end, l.loc.bits()]));
        Ok(())
    }

    /// What compiles the function that was emitted last. Masked code is never too large: its values live for a block at
    /// most, so it compiles quickly.
    fn isa_for_last_function(&self, part: FunctionVersion) -> Result<OwnedTargetIsa, String> {
        let is_large = self.context.func.dfg.num_insts() > MAX_FULL_REGALLOC_INSTRUCTIONS;
        if !is_large || part != FunctionVersion::Outer {
            return Ok(self.isa.clone());
        }
        target_isa(CompileEffort::SinglePassRegalloc, self.variant.baseline, self.variant.verify)
    }

    fn emit_function_version(&mut self, env: &EmitEnv<'_>, plan: &FunctionPlan<'_>) -> Result<(), JitError> {
        if env.part == FunctionVersion::Outer {
            self.emit_function(env, plan, |b| super::converged_code::emit_outer_function(b, env, plan))?;
            self.frame_bytes.insert(plan.id, plan.frame_size + self.spill_bytes());
            return Ok(());
        }
        self.emit_function(env, plan, |b| super::masked_code::emit_masked_function(b, env, plan))?;
        let bytes = match self.effort {
            CompileEffort::SinglePassRegalloc => self.spill_bytes(),
            // It keeps at most the registers of a block on the stack.
            _ => {
                let longest = plan.body.blocks.iter().map(|b| b.stmts.len()).max().unwrap_or(0) as u32;
                4096 + longest.min(1000) * 384
            }
        };
        self.frame_bytes.insert(plan.id, bytes);
        Ok(())
    }

    /// Stack bytes of the function compiled last, its explicit slots excluded as far as known.
    fn spill_bytes(&self) -> u32 {
        self.context.compiled_code().map_or(0, |c| c.buffer.frame_layout().map_or(4096, |f| f.frame_to_fp_offset)) + 64
    }
}
