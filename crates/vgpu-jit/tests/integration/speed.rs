//! Time of each instruction for eight lanes, slowest first. A measurement, not a test: run it with
//! `cargo test --release -p rtcg-vgpu-jit --test integration -- --ignored --nocapture speed`.

use crate::support::{CompileMode, cases, compile_case, operand_tuples, parse_case};
use rtcg_vgpu_jit::ops::EmitShape;
use std::time::Instant;

#[test]
#[ignore = "a measurement"]
fn slowest_first() {
    let mut list: Vec<(f64, f64, String)> = cases::all_instructions()
        .iter()
        .map(|text| {
            let case = parse_case(&text.text);
            let tuples: Vec<_> = operand_tuples(&case, 800).into_iter().take(800).collect();
            let time = |shape, per: f64| {
                let code = compile_case(&case, shape, CompileMode::Direct, "none");
                code.run_tuples(&tuples);
                let best = (0..5).map(|_| {
                    let start = Instant::now();
                    std::hint::black_box(code.run_for_timing(&tuples));
                    start.elapsed().as_secs_f64()
                });
                best.fold(f64::INFINITY, f64::min) / per * 1e9
            };
            (time(EmitShape::Chunk, 100.0), time(EmitShape::Scalar, 800.0), text.text.clone())
        })
        .collect();
    list.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (chunk, scalar, text) in list {
        println!("{chunk:8.1} ns chunk {scalar:8.1} ns scalar  {text}");
    }
}
