//! Parses the PTX files named on the command line and prints their diagnostics and the time taken.
//! With `--print` first, prints each module again.

use std::time::Instant;

fn main() -> std::io::Result<()> {
    let mut failed = false;
    let mut print = false;
    for path in std::env::args().skip(1) {
        if path == "--print" {
            print = true;
            continue;
        }
        let text = std::fs::read_to_string(&path)?;
        let start = Instant::now();
        let result = rtcg_ptx::parse(text.as_str());
        let time = start.elapsed();
        if print {
            print!("{}", rtcg_ptx::print_module(&result.module));
        }
        let statements: usize = result.module.functions.iter().map(|f| f.body.len()).sum();
        eprintln!("{path}: {} bytes, {statements} instructions, {:.2} ms", text.len(), time.as_secs_f64() * 1e3);
        if !result.diagnostics.is_empty() {
            eprintln!("{}", result.render_diagnostics(&path));
        }
        failed |= result.has_errors();
    }
    std::process::exit(failed.into());
}
