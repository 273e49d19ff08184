//! Random programs on the virtual GPU, compiled in every way, against the oracle.
#![allow(dead_code, unsafe_code, unreachable_pub, reason = "an example runs it, too, on real GPUs")]
#![allow(clippy::result_large_err, reason = "errors are looked into")]

pub mod driver;
pub mod mutants;
pub mod objects;

use objects::CreatedObjects;
use rtcg_cuda_sys::{CUcontext, CUdevice, CUresult};
use rtcg_oracle::generate::{BufferAddresses, KERNEL_NAME, MAX_OBJECTS, RESULT_BYTES, THREAD_SLOT_BYTES};
use rtcg_oracle::{OracleBuffer, TestProgram};
use rtcg_ptx::ast::{Module, Space, Symbol, VarInit};
use rtcg_vgpu_abi::instrument::Instrumentation;
use rtcg_vgpu_exec::window::device_window;
use rtcg_vgpu_exec::{
    self as exec, CancelFlag, InstructionLocation, LaunchConfig, RUNTIME_CALLS, SourceMap, run_program,
};
use rtcg_vgpu_jit::cache_key::{CodeKey, module_text_key};
use rtcg_vgpu_jit::{
    CodeStore, InstructionSite, JitError, JitKernel, LaunchVariant, ModuleCodeCache, SymbolLayout, WindowAddress,
    compile_or_load_cached, function_token,
};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

/// Device memory that every program uses anew: this much for each of its buffers, and as much for
/// its variables.
const AREA_BYTES: usize = 2 << 20;
const AREA_COUNT: usize = 5;

pub struct KernelSourceMap(pub JitKernel);

impl SourceMap for KernelSourceMap {
    fn contains_pc(&self, pc: usize) -> bool {
        self.0.contains_pc(pc)
    }
    fn lookup_pc(&self, pc: usize) -> Option<InstructionLocation> {
        self.0.site_of_pc(pc).map(location_of_site)
    }
    fn lookup_site(&self, number: u32) -> Option<InstructionLocation> {
        self.0.site_by_number(number).map(location_of_site)
    }
}

fn location_of_site(s: InstructionSite) -> InstructionLocation {
    InstructionLocation {
        function: s.function,
        instruction: format!("{:?}", s.span),
        ptx_line: 0,
        source: None,
        source_text: None,
        lanes: s.lanes,
        is_store: s.is_store,
        access_bytes: s.access_bytes,
    }
}

/// The areas of device memory; whoever holds the lock may use them.
pub struct Device {
    base: usize,
    context: CUcontext,
}

// SAFETY: a context's handle is a number to everybody.
unsafe impl Send for Device {}

static DEVICE: Mutex<Option<Device>> = Mutex::new(None);

/// Calls `f` with the device memory.
pub fn with_device<T>(f: impl FnOnce(&Device) -> T) -> T {
    let mut device = DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
    let device = device.get_or_insert_with(|| {
        let (t, mut base, mut context) = (rtcg_vgpu::virtual_driver_table(), 0, CUcontext::null());
        // SAFETY: all pointers lead to places of the right type. The memory stays for good.
        unsafe {
            assert_eq!(t.cuInit(0), CUresult::CUDA_SUCCESS);
            assert_eq!(t.cuDevicePrimaryCtxRetain(&raw mut context, CUdevice::default()), CUresult::CUDA_SUCCESS);
            assert_eq!(t.cuCtxSetCurrent(context), CUresult::CUDA_SUCCESS);
            assert_eq!(t.cuMemAlloc(&raw mut base, AREA_BYTES * AREA_COUNT), CUresult::CUDA_SUCCESS);
        }
        Device { base: base as usize, context }
    });
    // SAFETY: the context lives as long as the process.
    assert_eq!(unsafe { rtcg_vgpu::virtual_driver_table().cuCtxSetCurrent(device.context) }, CUresult::CUDA_SUCCESS);
    f(device)
}

impl Device {
    fn area_address(&self, n: usize) -> u64 {
        (self.base + n * AREA_BYTES) as u64
    }

    fn write_bytes(&self, address: u64, bytes: &[u8]) {
        assert!(bytes.len() <= AREA_BYTES && (address as usize) + bytes.len() <= self.base + AREA_BYTES * AREA_COUNT);
        // SAFETY: the areas were committed and are locked; the range lies in them.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), address as *mut u8, bytes.len()) };
    }

    fn read_bytes(&self, address: u64, len: usize) -> Vec<u8> {
        // SAFETY: the areas are committed and locked, and kernels have ended; the address is of an area.
        unsafe { std::slice::from_raw_parts(address as *const u8, len) }.to_vec()
    }

    /// Places and initialises the variables of a module.
    pub fn place_variables(&self, m: &Module) -> SymbolLayout {
        let mut out = SymbolLayout::default();
        let mut next = self.area_address(AREA_COUNT - 1);
        for v in &m.vars {
            next = next.next_multiple_of(u64::from(v.align.max(16)));
            out.globals.push(if v.space == Space::Shared { 0 } else { next });
            next += if v.space == Space::Shared { 0 } else { v.size };
        }
        for (v, &at) in m.vars.iter().zip(&out.globals).filter(|(v, at)| **at != 0 && v.size < AREA_BYTES as u64 / 2) {
            let mut bytes = initial_bytes(v, &out);
            bytes.resize(v.size as usize, 0);
            if at + v.size <= self.area_address(AREA_COUNT) {
                self.write_bytes(at, &bytes);
            }
        }
        out
    }
}

fn initial_bytes(v: &rtcg_ptx::ast::Var, out: &SymbolLayout) -> Vec<u8> {
    let mut bytes = vec![];
    for init in &v.init {
        match init {
            VarInit::Bytes(b) => bytes.extend(b),
            VarInit::Address { symbol, offset, size, .. } => {
                let a = match symbol {
                    Symbol::Func(f) => function_token(*f),
                    Symbol::Global(g) => out.globals[g.index()],
                    _ => 0,
                };
                bytes.extend(&(a.wrapping_add(*offset as u64)).to_le_bytes()[..*size as usize]);
            }
        }
    }
    bytes
}

/// Keeps machine code as bytes while it lives.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<HashMap<CodeKey, Vec<u8>>>);

impl CodeStore for MemoryStore {
    fn get_code(&self, key: &CodeKey) -> Option<Vec<u8>> {
        self.0.lock().unwrap().get(key).cloned()
    }
    fn put_code(&self, key: &CodeKey, bytes: &[u8]) {
        let before = self.0.lock().unwrap().insert(*key, bytes.to_vec());
        assert_eq!(before, None, "code that is kept was compiled again");
    }
}

/// Compiles a kernel of a module, or takes it from the store if it is there.
pub fn compile(
    m: &Arc<Module>,
    kernel: &str,
    symbols: &SymbolLayout,
    variant: LaunchVariant,
    store: &Arc<MemoryStore>,
) -> Result<JitKernel, JitError> {
    let w = device_window().unwrap();
    let (id, _) = m.find_kernel(kernel).unwrap();
    let window = WindowAddress { base: w.base_address() as u64, bits: w.size_log2() };
    let code_cache = ModuleCodeCache {
        store: Arc::<MemoryStore>::clone(store),
        text: module_text_key(&m.source),
        generator: [0; 32],
    };
    compile_or_load_cached(
        m,
        id,
        symbols,
        variant,
        (&RUNTIME_CALLS, &Instrumentation::NO_INSTRUMENTATION),
        window,
        Some(code_cache),
    )
}

fn into_program(k: JitKernel) -> exec::Program {
    exec::Program {
        host: k.host,
        suspends: k.suspends,
        recursive: k.recursive,
        stack_bytes: k.stack_bytes,
        local_bytes_per_warp: k.local_bytes_per_warp,
        dynamic_shared_offset: k.shared.dynamic_offset,
        ..exec::Program::new(KERNEL_NAME, k.entry, Box::new(KernelSourceMap(k)))
    }
}

/// All the ways to compile a kernel for blocks of this shape.
pub fn launch_variants(block: [u32; 3]) -> Vec<LaunchVariant> {
    let v = LaunchVariant::from_block_shape(block);
    let mut out = vec![v];
    for optimise in [Some(false), Some(true)] {
        let v = LaunchVariant { optimise, ..v };
        out.push(v);
        out.push(LaunchVariant { force_masked: true, ..v });
        out.push(LaunchVariant { no_if_conversion: true, ..v });
        out.push(LaunchVariant { full_warps: false, linear_tid: false, tid_contiguous_8: false, ..v });
    }
    out.push(LaunchVariant { linear_tid: false, tid_contiguous_8: block[0].is_multiple_of(8), ..v });
    out.push(LaunchVariant { baseline: true, ..v });
    out.push(LaunchVariant { baseline: true, optimise: Some(true), ..v });
    out.push(LaunchVariant { baseline: true, force_masked: true, ..v });
    out.push(LaunchVariant { first_tier: true, ..v });
    out.push(LaunchVariant { first_tier: true, no_if_conversion: true, ..v });
    out.push(LaunchVariant { first_tier: true, baseline: true, ..v });
    out
}

/// The first difference between two sets of buffers, in words.
pub fn first_difference(expected: &[OracleBuffer], got: &[Vec<u8>]) -> Option<String> {
    const BUFFER_NAMES: [&str; 4 + MAX_OBJECTS] =
        ["input", "results", "slots", "counters", "texels of object 0", "texels of object 1", "texels of object 2"];
    for ((want, have), name) in expected.iter().zip(got).zip(BUFFER_NAMES) {
        let Some(at) = want.bytes.iter().zip(have).position(|(a, b)| a != b) else { continue };
        let word = |bytes: &[u8]| {
            let start = at & !7;
            bytes[start..(start + 8).min(bytes.len())].iter().rev().map(|b| format!("{b:02x}")).collect::<String>()
        };
        let place = match name {
            "results" => format!("thread {} register number {}", at / RESULT_BYTES, at % RESULT_BYTES / 8),
            "slots" => format!("thread {} byte {}", at / THREAD_SLOT_BYTES, at % THREAD_SLOT_BYTES),
            _ => format!("byte {at}"),
        };
        return Some(format!("{name}, {place}: oracle {}, got {}", word(&want.bytes), word(have)));
    }
    None
}

/// Runs a program compiled in one way, and again with the machine code that was kept the first time;
/// an error says what is wrong.
pub fn check_variant(p: &TestProgram, expected: &[OracleBuffer], variant: LaunchVariant) -> Result<(), String> {
    let parsed = rtcg_ptx::parse(p.ptx_text());
    if parsed.has_errors() {
        return Err(parsed.render_diagnostics("program.ptx"));
    }
    let m = Arc::new(parsed.module);
    with_device(|device| {
        let store = Arc::new(MemoryStore::default());
        let objects = CreatedObjects::create_objects(rtcg_vgpu::virtual_driver_table(), &p.objects)?;
        run_once(p, &m, expected, variant, (device, &objects), &store)?;
        run_once(p, &m, expected, variant, (device, &objects), &store).map_err(|e| format!("as it was kept: {e}"))
    })
}

fn run_once(
    p: &TestProgram,
    m: &Arc<Module>,
    expected: &[OracleBuffer],
    variant: LaunchVariant,
    (device, objects): (&Device, &CreatedObjects),
    store: &Arc<MemoryStore>,
) -> Result<(), String> {
    let symbols = device.place_variables(m);
    let compiled = catch_unwind(AssertUnwindSafe(|| compile(m, KERNEL_NAME, &symbols, variant, store)));
    let compiled = compiled.map_err(|_| "the compiler panics")?.map_err(|e| format!("not compiled: {e}"))?;
    let at = BufferAddresses {
        input: device.area_address(0),
        out: device.area_address(1),
        slots: device.area_address(2),
        counters: device.area_address(3),
        objects: [0; MAX_OBJECTS],
        handles: objects.object_handles(),
    };
    let buffers = p.initial_buffers(at);
    let (plain, texels) = buffers.split_at(4);
    plain.iter().for_each(|b| device.write_bytes(b.address, &b.bytes));
    texels.iter().enumerate().try_for_each(|(i, b)| objects.write_texels(i, &b.bytes))?;
    let launch = p.oracle_launch(at);
    let shape = LaunchConfig { grid: launch.grid, block: launch.block, dynamic_shared: 0, cooperative: false };
    run_program(&into_program(compiled), shape, &launch.params, &CancelFlag::new())
        .map_err(|e| format!("fault: {e}"))?;
    let mut got: Vec<Vec<u8>> = plain.iter().map(|b| device.read_bytes(b.address, b.bytes.len())).collect();
    for i in 0..texels.len() {
        got.push(objects.read_texels(i)?);
    }
    first_difference(expected, &got).map_or(Ok(()), Err)
}

/// A wrong result: the way it was compiled, and what is wrong. A program whose result CUDA leaves
/// open has none.
pub fn find_mismatch(p: &TestProgram, ways: &[LaunchVariant]) -> Result<Option<(LaunchVariant, String)>, String> {
    let (expected, report) = p.expected_outcome()?;
    if report.unspecified {
        return Ok(None);
    }
    Ok(ways.iter().find_map(|&v| check_variant(p, &expected, v).err().map(|e| (v, e))))
}

/// The smallest program that goes wrong in this way.
pub fn shrink_mismatch(p: &TestProgram, variant: LaunchVariant) -> TestProgram {
    rtcg_oracle::shrink::shrink_program(p, 3000, |candidate| {
        let v = adapt_variant(variant, candidate.block);
        let outcome = candidate.expected_outcome();
        outcome.is_ok_and(|(expected, report)| !report.unspecified && check_variant(candidate, &expected, v).is_err())
    })
}

/// The variant for another shape of the block: its assumptions must hold.
pub fn adapt_variant(v: LaunchVariant, block: [u32; 3]) -> LaunchVariant {
    let fits = LaunchVariant::from_block_shape(block);
    LaunchVariant {
        linear_tid: v.linear_tid && fits.linear_tid,
        full_warps: v.full_warps && fits.full_warps,
        single_thread: v.single_thread && fits.single_thread,
        tid_contiguous_8: block[0].is_multiple_of(8) && v.tid_contiguous_8,
        ..v
    }
}
