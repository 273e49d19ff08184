//! From an image to a [`LoadedModule`]: parse, refuse what cannot run, place the variables.

use super::resource_estimate::RegisterLimits;
use super::variables::{self, ModuleMemory};
use super::{
    KernelInfo, KernelServices, LoadError, LoadOptions, LoadedModule, ParamInfo, fatbin, header, resource_estimate,
};
use crate::memory::allocation_report::describe_access;
use rtcg_ptx::ast::{self, Callee, FuncId, Inst, Space};
use rtcg_vgpu_abi::error::ResultCode;
use rtcg_vgpu_exec::address_space::set_address_describer;
use rtcg_vgpu_exec::launch::{MAX_SHARED_BYTES, MAX_SHARED_OPTIN_BYTES};
use rtcg_vgpu_jit::{self as jit, SharedLayout, SymbolLayout};
use std::collections::BTreeSet;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, OnceLock};

/// Constant memory that a module may have.
const MAX_CONST_BYTES: u64 = 64 << 10;
/// Local memory that a function may declare, in bytes. A launch refuses less, see `Kernel::has_local_memory`.
const MAX_LOCAL_BYTES: u64 = i32::MAX as u64;
/// How the names of the device runtime's functions begin by which a kernel launches another.
const DEVICE_LAUNCH_PREFIXES: [&str; 3] = ["__cudaCDP2", "cudaLaunchDevice", "cudaGetParameterBuffer"];
/// Functions that kernels may call without defining them.
const RUNTIME_FUNCTIONS: [&str; 5] = ["vprintf", "malloc", "free", "__assertfail", "cudaGraphSetConditional"];

/// Those among them for which a context has a buffer with a limit.
const SERVICE_FUNCTIONS: [&str; 3] = ["vprintf", "malloc", "free"];

/// Loads PTX text (a terminating NUL is allowed), or the best PTX of a fat binary that can run.
///
/// # Errors
/// `NO_BINARY_FOR_GPU` for cubins and fat binaries without PTX, `INVALID_IMAGE` for what is no PTX
/// at all, `INVALID_PTX` with all diagnostics for PTX that is wrong, refers to what it does not
/// define, or uses an instruction that cannot be executed; `OUT_OF_MEMORY`.
pub fn load_image(image: &[u8], options: &LoadOptions) -> Result<Arc<LoadedModule>, LoadError> {
    if image.starts_with(&fatbin::FATBIN_MAGIC.to_le_bytes()) {
        return load_best_ptx(image, options);
    }
    load_ptx_text(ptx_text_of(image)?, options)
}

/// The first PTX of a fat binary that can run. If none can, the first one's errors are told.
fn load_best_ptx(image: &[u8], options: &LoadOptions) -> Result<Arc<LoadedModule>, LoadError> {
    let mut first = None;
    for entry in fatbin::ptx_entries(image)? {
        let loaded = entry.decompress().and_then(|text| load_ptx_text(ptx_text_of(&text)?, options));
        match loaded {
            Ok(module) => return Ok(module),
            Err(error) if error.code == ResultCode::OUT_OF_MEMORY => return Err(error),
            Err(error) => {
                let log = format!("the PTX for compute_{} in the fat binary: {}", entry.arch, error.log);
                first.get_or_insert(LoadError { log, ..error });
            }
        }
    }
    Err(first
        .unwrap_or(LoadError { code: ResultCode::NO_BINARY_FOR_GPU, log: fatbin::MACHINE_CODE_UNSUPPORTED.to_owned() }))
}

fn load_ptx_text(text: &str, options: &LoadOptions) -> Result<Arc<LoadedModule>, LoadError> {
    set_address_describer(describe_access);
    let ptx = Arc::new(parse_text(text)?);
    let diagnostics = check_module(&ptx, true);
    if !diagnostics.is_empty() {
        return Err(LoadError { code: ResultCode::INVALID_PTX, log: diagnostics.join("\n") });
    }
    check_target_option(&ptx, options)?;
    if let Some(target) = number_from_comment(text, TARGET_COMMENT).filter(|&target| !runs_on_device(target)) {
        let log = format!("the image was linked for compute capability {}.{}", target / 10, target % 10);
        return Err(LoadError { code: ResultCode::NO_BINARY_FOR_GPU, log });
    }
    let (slab, globals) = variables::allocate_variables(&ptx, options.device.unwrap_or(0))?;
    let max_registers = options.max_registers.or_else(|| number_from_comment(text, MAX_REGISTERS_COMMENT));
    let options = LoadOptions { max_registers, ..options.clone() };
    Ok(Arc::new(LoadedModule::new(ptx, slab, SymbolLayout { globals }, &options)))
}

fn parse_text(text: &str) -> Result<ast::Module, LoadError> {
    header::check_version_is_known(text)?;
    let parsed = rtcg_ptx::parse(text);
    if parsed.has_errors() {
        return Err(LoadError { code: ResultCode::INVALID_PTX, log: parsed.render_diagnostics("ptx") });
    }
    Ok(parsed.module)
}

/// Checks a text that is to be linked, which may call functions of other texts.
pub(crate) fn check_link_input(text: &str, target: Option<u32>) -> Result<(), LoadError> {
    let ptx = parse_text(text)?;
    let diagnostics = check_module(&ptx, false);
    if !diagnostics.is_empty() {
        return Err(LoadError { code: ResultCode::INVALID_PTX, log: diagnostics.join("\n") });
    }
    check_not_newer(&ptx, target)
}

fn check_not_newer(ptx: &ast::Module, target: Option<u32>) -> Result<(), LoadError> {
    match target {
        Some(target) if ptx.target > target => {
            let log = format!("the target {target} is older than the PTX");
            Err(LoadError { code: ResultCode::INVALID_PTX, log })
        }
        _ => Ok(()),
    }
}

/// Whether machine code for a target would run on the device.
fn runs_on_device(target: u32) -> bool {
    let (major, minor) = crate::device::COMPUTE_CAPABILITY;
    target / 10 == major as u32 && target % 10 <= minor as u32
}

/// `CU_JIT_TARGET`: PTX for a newer target cannot be compiled for it, and code for another device cannot be loaded.
pub(crate) fn check_target_option(ptx: &ast::Module, options: &LoadOptions) -> Result<(), LoadError> {
    check_not_newer(ptx, options.target)?;
    match options.target {
        Some(target) if !runs_on_device(target) => {
            let log = format!("the target {target} is not that of the device");
            Err(LoadError { code: ResultCode::INVALID_SOURCE, log })
        }
        _ => Ok(()),
    }
}

/// The comment that ends a linked image, before the number that the linker was given as
/// `CU_JIT_MAX_REGISTERS`.
pub(crate) const MAX_REGISTERS_COMMENT: &str = "// rtcg: at most so many registers: ";

/// The comment that ends an image which was linked for a target, before that.
pub(crate) const TARGET_COMMENT: &str = "// rtcg: linked for the target: ";

/// A number that the linker has left at the end of its image.
fn number_from_comment(text: &str, comment: &str) -> Option<u32> {
    let mut comments = text.lines().rev().take_while(|line| line.starts_with("// rtcg: "));
    comments.find_map(|line| line.strip_prefix(comment)?.parse().ok())
}

/// Whether an ELF file says that it is for a GPU: 64 bits, machine `EM_CUDA`.
fn is_gpu_machine_code(image: &[u8]) -> bool {
    image.get(4) == Some(&2) && image.get(18..20) == Some(&[190, 0])
}

/// The text of an image that is one, as it seems.
pub(crate) fn ptx_text_of(image: &[u8]) -> Result<&str, LoadError> {
    let fail = |code, log: &str| Err(LoadError { code, log: log.to_owned() });
    if image.starts_with(b"\x7fELF") {
        if !is_gpu_machine_code(image) {
            return fail(ResultCode::INVALID_IMAGE, "the image is an ELF file, but no cubin");
        }
        let log = format!("the image is a cubin: {}", fatbin::MACHINE_CODE_UNSUPPORTED);
        return fail(ResultCode::NO_BINARY_FOR_GPU, &log);
    }
    let end = image.iter().position(|&b| b == 0).unwrap_or(image.len());
    match std::str::from_utf8(&image[..end]) {
        Ok(text) if text.contains(".version") => Ok(text),
        _ => fail(ResultCode::INVALID_IMAGE, "the image is neither PTX nor a fat binary nor a cubin"),
    }
}

/// Everything that keeps the kernels of the module from running, one line each; functions that are missing only in a
/// `linked` module.
fn check_module(ptx: &ast::Module, linked: bool) -> Vec<String> {
    let mut diagnostics = Vec::from_iter(header::header_problem(ptx));
    let mut seen = BTreeSet::new();
    for (i, f) in ptx.functions.iter().enumerate().filter(|(_, f)| f.entry) {
        let kernel = FuncId(i as u32);
        for id in jit::reachable_functions(ptx, kernel) {
            if seen.insert(id) {
                check_function_body(ptx, id, linked, &mut diagnostics);
            }
        }
        let shared = SharedLayout::lay_out_shared_memory(ptx, kernel).static_size;
        if shared > MAX_SHARED_OPTIN_BYTES {
            diagnostics.push(format!(
                "kernel {}: uses too much shared memory ({shared} bytes, {MAX_SHARED_OPTIN_BYTES} at most)",
                f.name
            ));
        }
        let params = f.params.last().map_or(0, |p| (p.offset + p.size) as usize);
        let most = header::max_param_bytes(ptx);
        if params > most {
            diagnostics.push(format!("kernel {}: {params} bytes of parameters, {most} at most", f.name));
        }
    }
    let constants: u64 = ptx.vars.iter().filter(|v| v.space == Space::Const).map(|v| v.size).sum();
    if constants > MAX_CONST_BYTES {
        diagnostics.push(format!("too much constant memory ({constants} bytes, {MAX_CONST_BYTES} at most)"));
    }
    diagnostics
}

fn check_function_body(ptx: &ast::Module, id: FuncId, linked: bool, diagnostics: &mut Vec<String>) {
    let f = &ptx.functions[id.index()];
    let local = f.vars.iter().filter(|v| v.space == Space::Local).fold(0_u64, |sum, v| sum.saturating_add(v.size));
    if local > MAX_LOCAL_BYTES {
        let name = &f.name;
        diagnostics.push(format!("{name}: uses too much local memory ({local} bytes, {MAX_LOCAL_BYTES} at most)"));
    }
    if f.bounds.max_nreg == Some(0) {
        diagnostics.push(format!("{}: .maxnreg 0 leaves no registers", f.name));
    }
    for st in &f.body {
        let problem = match &st.inst {
            Inst::Other { opcode, .. } => Some(format!("{opcode} is not supported by the virtual GPU")),
            Inst::Call { callee: Callee::Direct(f), .. } if linked => {
                unresolved_call_message(&ptx.functions[f.index()])
            }
            Inst::Texture(inst) => unsupported_texture_message(inst),
            Inst::Matrix(inst) => unsupported_mma_message(inst),
            Inst::Bar { id, count, .. } => barrier_problem(*id, *count),
            inst @ (Inst::Ld { .. } | Inst::St { .. }) => jit::param_access_problem(f, inst),
            inst if jit::ops::is_pure(inst) => jit::ops::check_supported(inst).err().map(|e| e.to_string()),
            _ => None,
        };
        if let Some(problem) = problem.or_else(|| header::version_problem(ptx, &st.inst)) {
            let (line, column, text) = rtcg_ptx::line_and_column(&ptx.source, st.span.start);
            diagnostics.push(format!("ptx:{line}:{column}: {problem}\n    {}", text.trim()));
        }
    }
}

/// What the assembler has against a barrier with constants.
fn barrier_problem(id: ast::Operand, count: Option<ast::Operand>) -> Option<String> {
    match (id, count) {
        (ast::Operand::Int(id), _) if !(0..16).contains(&id) => {
            Some(format!("barrier {id} does not exist: a block has barriers 0 to 15"))
        }
        (_, Some(ast::Operand::Int(count))) if count % 32 != 0 => {
            Some(format!("a barrier for {count} threads: the number must be a multiple of the warp size, 32"))
        }
        _ => None,
    }
}

/// Samplers of their own exist in the independent mode, which no compiler of CUDA C uses.
fn unsupported_texture_message(inst: &ast::TexInst) -> Option<String> {
    let independent = matches!(inst, ast::TexInst::Sample(t) if t.sampler.is_some());
    independent.then(|| "a separate sampler is not supported by the virtual GPU".to_owned())
}

/// Products of 8-bit floats came with compute capability 8.9, and their sums are not known.
fn unsupported_mma_message(inst: &ast::MatrixInst) -> Option<String> {
    use ast::MatrixType::{E4M3, E5M2};
    let bytes = matches!(inst, ast::MatrixInst::Product { form, .. } if matches!(form.a, E4M3 | E5M2));
    bytes.then(|| "mma of 8-bit floats needs compute capability 8.9, the virtual GPU has 8.0".to_owned())
}

fn unresolved_call_message(f: &ast::Function) -> Option<String> {
    let known = f.defined || RUNTIME_FUNCTIONS.contains(&&*f.name);
    let what = match &*f.name {
        name if DEVICE_LAUNCH_PREFIXES.iter().any(|start| name.starts_with(start)) => {
            "the virtual GPU does not launch kernels from kernels (dynamic parallelism): "
        }
        _ => "",
    };
    (!known).then(|| format!("{what}unresolved extern function {}", f.name))
}

/// What a kernel, or a function that it may call, asks the driver for.
fn kernel_services(ptx: &ast::Module, kernel: FuncId) -> KernelServices {
    let is_service = |f: &ast::Function| !f.defined && SERVICE_FUNCTIONS.contains(&&*f.name);
    if !ptx.functions.iter().any(is_service) {
        return KernelServices::default();
    }
    let called = jit::reachable_functions(ptx, kernel);
    let calls = |name: &str| called.iter().any(|f| *ptx.functions[f.index()].name == *name);
    KernelServices { printf: calls("vprintf"), malloc: calls("malloc") || calls("free") }
}

impl LoadedModule {
    fn new(ptx: Arc<ast::Module>, slab: ModuleMemory, symbols: SymbolLayout, options: &LoadOptions) -> LoadedModule {
        let entries = ptx.functions.iter().enumerate().filter(|(_, f)| f.entry);
        let kernels = entries.map(|(i, f)| Arc::new(KernelInfo::new(&ptx, FuncId(i as u32), f, options))).collect();
        LoadedModule { ptx, kernels, symbols, device: options.device, text_key: Arc::default(), _slab: slab }
    }
}

impl KernelInfo {
    fn new(ptx: &ast::Module, id: FuncId, f: &ast::Function, options: &LoadOptions) -> KernelInfo {
        let static_shared = SharedLayout::lay_out_shared_memory(ptx, id).static_size;
        KernelInfo {
            id,
            name: f.name.to_string(),
            params: f.params.iter().map(|p| ParamInfo { offset: p.offset as usize, size: p.size as usize }).collect(),
            static_shared,
            const_bytes: ptx.vars.iter().filter(|v| v.space == Space::Const).map(|v| v.size).sum(),
            local_bytes: resource_estimate::estimate_local_bytes(ptx, id),
            register_limits: RegisterLimits { registers: options.max_registers, threads: options.threads_per_block },
            registers: OnceLock::new(),
            services: kernel_services(ptx, id),
            max_dynamic_shared: AtomicU32::new(MAX_SHARED_BYTES.saturating_sub(static_shared)),
            programs: [const { OnceLock::new() }; super::LAUNCH_VARIANT_COUNT],
            random_program: OnceLock::new(),
        }
    }
}
