//! Runs PTX kernels in every way the JIT can compile them and demands the same bytes from all.

use crate::fuzz_support::KernelSourceMap;
use crate::window_memory;
use rtcg_ptx::ast::Module;
use rtcg_vgpu_exec::window::device_window;
use rtcg_vgpu_exec::{CancelFlag, Fault, LaunchConfig, Program, RUNTIME_CALLS, run_program};
use rtcg_vgpu_jit::{JitError, JitKernel, LaunchVariant, SymbolLayout, WindowAddress, compile_kernel};
use std::sync::Arc;

pub const PTX_HEADER: &str = ".version 8.8\n.target sm_100a\n.address_size 64\n";

/// Device memory for one test; never freed.
pub fn device_memory_with(bytes: &[u8]) -> u64 {
    let start = window_memory::commit_guarded(bytes.len() + 256);
    // SAFETY: committed above, and no other test was given this range.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), start as *mut u8, bytes.len()) };
    start as u64
}

pub fn read_bytes(address: u64, len: usize) -> Vec<u8> {
    // SAFETY: the address comes from `device` with at least this length.
    unsafe { std::slice::from_raw_parts(address as *const u8, len) }.to_vec()
}

#[derive(Clone)]
pub enum Arg {
    /// A buffer with its initial contents; its final ones are returned.
    Buffer(Vec<u8>),
    U32(u32),
    U64(u64),
    F32(f32),
}

pub fn buffer_arg<T: Copy>(v: &[T]) -> Arg {
    // SAFETY: plain numbers are read as bytes.
    Arg::Buffer(unsafe { std::slice::from_raw_parts(v.as_ptr().cast::<u8>(), size_of_val(v)) }.to_vec())
}

pub fn to_u32s(b: &[u8]) -> Vec<u32> {
    b.chunks(4).map(|c| u32::from_le_bytes(c.try_into().unwrap())).collect()
}

pub fn to_f32s(b: &[u8]) -> Vec<f32> {
    to_u32s(b).into_iter().map(f32::from_bits).collect()
}

pub fn parse_module(ptx: &str) -> Arc<Module> {
    let text = if ptx.contains(".version") { ptx.to_string() } else { format!("{PTX_HEADER}{ptx}") };
    let r = rtcg_ptx::parse(text);
    assert!(!r.has_errors(), "{}", r.render_diagnostics("test.ptx"));
    Arc::new(r.module)
}

/// Places module variables that are not shared, with their byte initialisers and addresses.
pub fn place_variables(m: &Module) -> SymbolLayout {
    use rtcg_ptx::ast::{Space, Symbol, VarInit};
    let mut out = SymbolLayout::default();
    for v in &m.vars {
        out.globals.push(if v.space == Space::Shared { 0 } else { device_memory_with(&vec![0; v.size as usize]) });
    }
    for (v, &at) in m.vars.iter().zip(&out.globals).filter(|(_, at)| **at != 0) {
        let mut bytes = vec![];
        for init in &v.init {
            match init {
                VarInit::Bytes(b) => bytes.extend(b),
                VarInit::Address { symbol, offset, size, .. } => {
                    let a = match symbol {
                        Symbol::Func(f) => rtcg_vgpu_jit::function_token(*f),
                        Symbol::Global(g) => out.globals[g.index()],
                        _ => 0,
                    };
                    bytes.extend(&(a.wrapping_add(*offset as u64)).to_le_bytes()[..*size as usize]);
                }
            }
        }
        // SAFETY: the variable's memory was made above.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at as *mut u8, bytes.len()) };
    }
    out
}

pub fn compile(m: &Arc<Module>, kernel: &str, variant: LaunchVariant) -> Result<JitKernel, JitError> {
    let w = device_window().unwrap();
    let (id, _) = m.find_kernel(kernel).unwrap_or_else(|| panic!("no kernel {kernel}"));
    let variant = LaunchVariant { verify: true, ..variant };
    compile_kernel(
        m,
        id,
        &place_variables(m),
        variant,
        &RUNTIME_CALLS,
        WindowAddress { base: w.base_address() as u64, bits: w.size_log2() },
    )
}

pub fn into_program(name: &str, k: JitKernel) -> Program {
    Program {
        host: k.host,
        suspends: k.suspends,
        recursive: k.recursive,
        stack_bytes: k.stack_bytes,
        local_bytes_per_warp: k.local_bytes_per_warp,
        dynamic_shared_offset: k.shared.dynamic_offset,
        ..Program::new(name, k.entry, Box::new(KernelSourceMap(k)))
    }
}

/// All the ways to compile a kernel for blocks of this shape.
pub fn launch_variants(block: [u32; 3]) -> Vec<LaunchVariant> {
    let v = LaunchVariant::from_block_shape(block);
    let mut out = vec![];
    for force_masked in [false, true] {
        for no_if_conversion in [false, true] {
            out.push(LaunchVariant { force_masked, no_if_conversion, ..v });
        }
    }
    out.push(LaunchVariant { full_warps: false, linear_tid: false, tid_contiguous_8: false, ..v });
    out.push(LaunchVariant { linear_tid: false, tid_contiguous_8: block[0].is_multiple_of(8), ..v });
    out.push(LaunchVariant { first_tier: true, ..v });
    out.push(LaunchVariant { first_tier: true, no_if_conversion: true, ..v });
    out
}

/// Launches once; gives the final contents of the buffers.
pub fn launch(
    m: &Arc<Module>,
    kernel: &str,
    variant: LaunchVariant,
    shape: LaunchConfig,
    args: &[Arg],
) -> Result<Vec<Vec<u8>>, Fault> {
    let p = into_program(kernel, compile(m, kernel, variant).unwrap_or_else(|e| panic!("{e}")));
    let mut params: Vec<u8> = vec![];
    let mut buffers = vec![];
    let mut push = |b: &[u8]| {
        params.resize(params.len().next_multiple_of(b.len()), 0);
        params.extend(b);
    };
    for a in args {
        match a {
            Arg::Buffer(b) => {
                let at = device_memory_with(b);
                buffers.push((at, b.len()));
                push(&at.to_le_bytes());
            }
            Arg::U32(v) => push(&v.to_le_bytes()),
            Arg::U64(v) => push(&v.to_le_bytes()),
            Arg::F32(v) => push(&v.to_le_bytes()),
        }
    }
    run_program(&p, shape, &params, &CancelFlag::new())?;
    Ok(buffers.into_iter().map(|(at, len)| read_bytes(at, len)).collect())
}

/// Launches the kernel in every variant; they must agree. Gives the final contents of the buffers.
pub fn run_all_variants(ptx: &str, kernel: &str, grid: u32, block: [u32; 3], args: &[Arg]) -> Vec<Vec<u8>> {
    let m = parse_module(ptx);
    let shape = LaunchConfig { grid: [grid, 1, 1], block, dynamic_shared: 4096, cooperative: false };
    let mut first: Option<Vec<Vec<u8>>> = None;
    for v in launch_variants(block) {
        let out = launch(&m, kernel, v, shape, args).unwrap_or_else(|e| panic!("{v:?}: {e}"));
        match &first {
            Some(f) => assert!(*f == out, "{v:?} differs from the first variant"),
            None => first = Some(out),
        }
    }
    first.unwrap()
}
