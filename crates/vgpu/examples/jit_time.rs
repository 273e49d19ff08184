//! How long the kernels of a PTX file take to compile, without their masked code: the best of many
//! times, in microseconds, and the bytes of machine code.
//!
//! `jit_time FILE [ROUNDS [KERNEL [BLOCK_X BLOCK_Y]]]`; for profilers one kernel and a few rounds do.

use rtcg_vgpu::exec::RUNTIME;
use rtcg_vgpu::jit::{SymbolLayout, Variant, Window, compile_kernel};
use rtcg_vgpu::memory::window::window;
use std::sync::Arc;
use std::time::Instant;

fn main() -> Result<(), String> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, default: u32| args.get(i).map_or(Ok(default), |s| s.parse().map_err(|e| format!("{e}")));
    let path = args.first().ok_or("which PTX file?")?;
    let text = std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
    let parsed = rtcg_ptx::parse(text);
    if parsed.has_errors() {
        return Err(parsed.render(path));
    }
    let module = Arc::new(parsed.module);
    let (rounds, block) = (number(1, 20)?, [number(3, 256)?, number(4, 1)?, 1]);
    let window = window().map_err(|e| e.to_string())?;
    let window = Window { base: window.base() as u64, bits: window.bits() };
    let symbols = SymbolLayout { globals: vec![window.base; module.vars.len()] };
    for (id, kernel) in module.functions.iter().enumerate().filter(|(_, f)| f.entry && f.defined) {
        if args.get(2).is_some_and(|name| *name != *kernel.name) {
            continue;
        }
        let id = rtcg_ptx::ast::FuncId(id as u32);
        let mut best = f64::INFINITY;
        for _ in 0..rounds {
            let start = Instant::now();
            let compiled = compile_kernel(&module, id, &symbols, Variant::for_block(block), &RUNTIME, window);
            best = best.min(start.elapsed().as_secs_f64() * 1e6);
            compiled.map_err(|e| e.to_string())?;
        }
        println!("{best:9.0} us  {}", kernel.name);
    }
    Ok(())
}
