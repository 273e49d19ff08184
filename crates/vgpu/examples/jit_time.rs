//! How long the kernels of a PTX file take to compile, without their masked code, and how long to take
//! from what was kept: the best of many times, in microseconds; and the bytes that are kept.
//!
//! `jit_time FILE [ROUNDS [KERNEL [BLOCK_X BLOCK_Y]]]`; for profilers one kernel and a few rounds do.

use rtcg_vgpu_abi::instrument::Instrumentation;
use rtcg_vgpu_exec::RUNTIME_CALLS;
use rtcg_vgpu_exec::window::device_window;
use rtcg_vgpu_jit::cache_key::{CodeKey, CodeStore, module_text_key};
use rtcg_vgpu_jit::{LaunchVariant, ModuleCodeCache, SymbolLayout, WindowAddress, compile_or_load_cached};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Keeps one kernel.
#[derive(Debug, Default)]
struct MemoryCodeStore(Mutex<Option<Vec<u8>>>);

impl CodeStore for MemoryCodeStore {
    fn get_code(&self, _: &CodeKey) -> Option<Vec<u8>> {
        self.0.lock().ok()?.clone()
    }
    fn put_code(&self, _: &CodeKey, bytes: &[u8]) {
        if let Ok(mut kept) = self.0.lock() {
            *kept = Some(bytes.to_vec());
        }
    }
}

fn main() -> Result<(), String> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, default: u32| args.get(i).map_or(Ok(default), |s| s.parse().map_err(|e| format!("{e}")));
    let path = args.first().ok_or("which PTX file?")?;
    let text = std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
    let parsed = rtcg_ptx::parse(text);
    if parsed.has_errors() {
        return Err(parsed.render_diagnostics(path));
    }
    let module = Arc::new(parsed.module);
    let (rounds, block) = (number(1, 20)?, [number(3, 256)?, number(4, 1)?, 1]);
    let window = device_window().map_err(|e| e.to_string())?;
    let window = WindowAddress { base: window.base_address() as u64, bits: window.size_log2() };
    let symbols = SymbolLayout { globals: vec![window.base; module.vars.len()] };
    for (id, kernel) in module.functions.iter().enumerate().filter(|(_, f)| f.entry && f.defined) {
        if args.get(2).is_some_and(|name| *name != *kernel.name) {
            continue;
        }
        let id = rtcg_ptx::ast::FuncId(id as u32);
        let store = Arc::new(MemoryCodeStore::default());
        let text = module_text_key(&module.source);
        let time = |rounds: u32, kept: bool| {
            let mut best = f64::INFINITY;
            for _ in 0..rounds {
                let code_cache =
                    ModuleCodeCache { store: Arc::<MemoryCodeStore>::clone(&store), text, generator: [0; 32] };
                let calls = (&RUNTIME_CALLS, &Instrumentation::NO_INSTRUMENTATION);
                let start = Instant::now();
                let variant = LaunchVariant::from_block_shape(block);
                let compiled =
                    compile_or_load_cached(&module, id, &symbols, variant, calls, window, kept.then_some(code_cache));
                best = best.min(start.elapsed().as_secs_f64() * 1e6);
                compiled.map_err(|e| e.to_string())?;
            }
            Ok::<f64, String>(best)
        };
        let compiled = time(rounds, false)?;
        time(1, true)?;
        let loaded = time(rounds, true)?;
        let bytes = store.0.lock().map_or(0, |kept| kept.as_ref().map_or(0, Vec::len));
        println!("{compiled:9.0} us {loaded:7.0} us {bytes:8} bytes  {}", kernel.name);
    }
    Ok(())
}
