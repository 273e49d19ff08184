//! Runs a form on the virtual GPU in one of the ways its compiler has.

use super::table::{RecordedForm, register_bits};
use crate::window_memory;
use rtcg_ptx::ast::Module;
use rtcg_vgpu_exec::window::device_window;
use rtcg_vgpu_exec::{CancelFlag, LaunchConfig, Program, RUNTIME_CALLS, run_program};
use rtcg_vgpu_jit::{JitKernel, LaunchVariant, SymbolLayout, WindowAddress, compile_kernel};
use std::fmt::Write as _;
use std::sync::Arc;

/// Threads of a block that works on a row each.
const BLOCK_THREADS: usize = 128;
const MAX_ROWS: usize = 65536 + BLOCK_THREADS;

/// How a form is compiled and run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunMode {
    pub name: &'static str,
    /// All lanes of a warp have the same operands, so that scalar code is made.
    pub uniform: bool,
    pub masked: bool,
    pub optimise: Option<bool>,
    pub baseline: bool,
}

pub const LANES_MODE: RunMode =
    RunMode { name: "lanes", uniform: false, masked: false, optimise: None, baseline: false };
pub const UNIFORM_MODE: RunMode = RunMode { name: "uniform", uniform: true, ..LANES_MODE };
pub const MASKED_MODE: RunMode = RunMode { name: "masked", masked: true, ..LANES_MODE };
pub const OPTIMISED_MODE: RunMode = RunMode { name: "optimised", optimise: Some(true), ..LANES_MODE };
pub const OPTIMISED_UNIFORM_MODE: RunMode =
    RunMode { name: "optimised, uniform", optimise: Some(true), ..UNIFORM_MODE };
pub const BASELINE_MODE: RunMode = RunMode { name: "baseline", baseline: true, ..LANES_MODE };
pub const BASELINE_UNIFORM_MODE: RunMode = RunMode { name: "baseline, uniform", baseline: true, ..UNIFORM_MODE };

const REGISTER_DECLARATIONS: &str = ".reg .pred %p<16>; .reg .b16 %h<16>; .reg .b32 %r<16>; .reg .b64 %d<16>;
.reg .b64 %x<8>; .reg .b32 %y<8>; .reg .pred %q;";

/// A module with a kernel `k` that applies the form to rows of 64-bit words, as `record.py` makes it.
fn module_text(text: &str, sources: &[String], results: &[String], uniform: bool) -> String {
    let mut body = format!("mad.lo.u64 %x4, %x3, {}, %x1;\n", 8 * sources.len());
    for (i, r) in sources.iter().enumerate() {
        let load = match register_bits(r) {
            1 => format!("setp.ne.u64 %{r}, %x5, 0;"),
            16 => format!("cvt.u16.u64 %{r}, %x5;"),
            32 => format!("cvt.u32.u64 %{r}, %x5;"),
            _ => format!("mov.b64 %{r}, %x5;"),
        };
        writeln!(body, "ld.global.b64 %x5, [%x4+{}]; {load}", 8 * i).unwrap();
    }
    writeln!(body, "mad.lo.u64 %x6, %x3, {}, %x2;", 8 * results.len()).unwrap();
    let mut shared = String::new();
    if text.contains("%y5") {
        shared = format!(".shared .align 8 .b8 scratch[{}];", 8 * BLOCK_THREADS);
        body += "mov.u32 %y6, scratch; mad.lo.u32 %y5, %y2, 8, %y6;\n";
    }
    writeln!(body, "{text}").unwrap();
    for (i, r) in results.iter().enumerate() {
        let keep = match register_bits(r) {
            1 => format!("selp.u64 %x5, 1, 0, %{r};"),
            16 => format!("cvt.u64.u16 %x5, %{r};"),
            32 => format!("cvt.u64.u32 %x5, %{r};"),
            _ => format!("mov.b64 %x5, %{r};"),
        };
        writeln!(body, "{keep} st.global.b64 [%x6+{}], %x5;", 8 * i).unwrap();
    }
    let row = if uniform { "mov.u32 %y3, %y0;" } else { "mad.lo.u32 %y3, %y0, %y1, %y2;" };
    format!(
        ".version 8.6\n.target sm_90\n.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n) {{ {REGISTER_DECLARATIONS} {shared}
mov.u32 %y0, %ctaid.x; mov.u32 %y1, %ntid.x; mov.u32 %y2, %tid.x; {row}
ld.param.u32 %y4, [n]; setp.ge.u32 %q, %y3, %y4; @%q ret;
ld.param.u64 %x1, [in]; ld.param.u64 %x2, [out]; cvt.u64.u32 %x3, %y3;
{body} ret; }}\n"
    )
}

/// Whether the parser takes a form.
pub fn parse(form: &RecordedForm, uniform: bool) -> Result<Arc<Module>, String> {
    parse_text(&form.text, &form.sources, &form.results, uniform)
}

/// As [`parse`], for a form that is not in the table.
pub fn parse_text(text: &str, sources: &[String], results: &[String], uniform: bool) -> Result<Arc<Module>, String> {
    let parsed = rtcg_ptx::parse(module_text(text, sources, results, uniform));
    if parsed.has_errors() { Err(parsed.render_diagnostics("form")) } else { Ok(Arc::new(parsed.module)) }
}

/// A kernel compiled in a way for blocks of this many threads.
pub fn compile(parsed: &Arc<Module>, way: RunMode, block: u32) -> Result<JitKernel, String> {
    let w = device_window().unwrap();
    let (kernel, _) = parsed.find_kernel("k").unwrap();
    let variant = LaunchVariant {
        force_masked: way.masked,
        optimise: way.optimise,
        baseline: way.baseline,
        ..LaunchVariant::from_block_shape([block, 1, 1])
    };
    let symbols = SymbolLayout { globals: vec![0; parsed.vars.len()] };
    let place = WindowAddress { base: w.base_address() as u64, bits: w.size_log2() };
    compile_kernel(parsed, kernel, &symbols, variant, &RUNTIME_CALLS, place).map_err(|e| e.to_string())
}

/// Device memory for one thread's runs.
pub struct FormRunner {
    input: usize,
    output: usize,
}

impl FormRunner {
    pub fn new() -> FormRunner {
        let size = (MAX_ROWS * 8 * 6usize).next_multiple_of(1 << 16);
        let start = window_memory::commit_guarded(2 * size);
        FormRunner { input: start, output: start + size }
    }

    /// Runs a parsed form on the given rows of its pool; a vector of words per result. An error is
    /// the compiler's.
    pub fn run_rows(
        &self,
        form: &RecordedForm,
        parsed: &Arc<Module>,
        way: RunMode,
        rows: &[usize],
    ) -> Result<Vec<Vec<u64>>, String> {
        let n_columns = form.pool.n_columns;
        // No partial warps, which would need masked code as well.
        let n = rows.len().next_multiple_of(if way.uniform { 1 } else { BLOCK_THREADS });
        // SAFETY: committed in `new` for this bench alone, and large enough for all rows.
        let input = unsafe { std::slice::from_raw_parts_mut(self.input as *mut u64, n * n_columns) };
        for (i, to) in input.chunks_mut(n_columns).enumerate() {
            let row = rows[i.min(rows.len() - 1)];
            to.copy_from_slice(&form.pool.rows[row * n_columns..][..n_columns]);
        }
        let (grid, block) = if way.uniform { (n, 32) } else { (n / BLOCK_THREADS, BLOCK_THREADS) };
        self.launch(parsed, way, grid as u32, block as u32, n as u32)?;
        let n_results = form.results.len();
        // SAFETY: committed in `new` for this bench alone, large enough for all rows, and the launch is over.
        let output = unsafe { std::slice::from_raw_parts(self.output as *const u64, n * n_results) };
        Ok((0..n_results).map(|i| output[i..].iter().step_by(n_results).take(rows.len()).copied().collect()).collect())
    }

    fn launch(&self, parsed: &Arc<Module>, way: RunMode, grid: u32, block: u32, n: u32) -> Result<(), String> {
        let compiled = compile(parsed, way, block)?;
        let program = Program {
            host: compiled.host,
            suspends: compiled.suspends,
            stack_bytes: compiled.stack_bytes,
            local_bytes_per_warp: compiled.local_bytes_per_warp,
            dynamic_shared_offset: compiled.shared.dynamic_offset,
            ..Program::new("k", compiled.entry, Box::new(NoSourceMap(compiled)))
        };
        let mut params = [self.input.to_le_bytes(), self.output.to_le_bytes()].concat();
        params.extend(n.to_le_bytes());
        let shape = LaunchConfig { grid: [grid, 1, 1], block: [block, 1, 1], dynamic_shared: 0, cooperative: false };
        run_program(&program, shape, &params, &CancelFlag::new()).map_err(|e| panic!("the launch failed: {e}"))
    }
}

struct NoSourceMap(JitKernel);

impl rtcg_vgpu_exec::SourceMap for NoSourceMap {
    fn contains_pc(&self, pc: usize) -> bool {
        self.0.contains_pc(pc)
    }
    fn lookup_pc(&self, _: usize) -> Option<rtcg_vgpu_exec::InstructionLocation> {
        None
    }
    fn lookup_site(&self, _: u32) -> Option<rtcg_vgpu_exec::InstructionLocation> {
        None
    }
}
