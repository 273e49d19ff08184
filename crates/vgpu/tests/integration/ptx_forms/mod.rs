//! Every form of instruction that CUDA's compiler and headers make: see `tests/ptx/forms/README.md`.
//!
//! A form that is executed loads and compiles as a kernel of its own, converged and masked; one that
//! is refused is refused when its module is loaded, and the message names it.

mod convert;
mod edges;
mod sync;

use crate::jit_support::{compile, launch_variants};
use rtcg_vgpu::module::{LoadOptions, load_image};
use std::sync::Arc;

const KERNEL_PROLOGUE_PTX: &str = include_str!("../../../../../tests/ptx/forms/registers.ptx");

/// One kernel with that instruction.
fn kernel_text(line: &str) -> String {
    format!("{KERNEL_PROLOGUE_PTX}{line}\nret;\n}}\n")
}

/// Why a kernel with that instruction cannot run.
fn refusal_reason(line: &str) -> Option<String> {
    let text = kernel_text(line);
    if let Err(error) = load_image(text.as_bytes(), &LoadOptions::default()) {
        return Some(error.log.lines().next().unwrap_or_default().to_owned());
    }
    let module = Arc::new(rtcg_ptx::parse(text).module);
    let all = launch_variants([64, 1, 1]);
    all[..3].iter().find_map(|&v| compile(&module, "k", v).err().map(|e| format!("compiling: {e}")))
}

#[test]
fn forms_are_executed_or_refused_as_listed() {
    let mut wrong = vec![];
    for row in include_str!("../../../../../tests/ptx/forms/emitted.txt").lines() {
        let mut columns = row.split('\t');
        let (Some(state), Some(_), Some(line)) = (columns.next(), columns.next(), columns.next()) else {
            panic!("not a row: {row}")
        };
        match (state, refusal_reason(line)) {
            ("executed", None) => {}
            ("refused", Some(why)) if why.contains("not supported") => {}
            (state, why) => wrong.push(format!("{line} is listed as {state}: {}", why.unwrap_or_default())),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Checks the lines of the file that `RTCG_FORMS` names: `collect.py` calls it.
#[test]
#[ignore = "a tool, not a test"]
fn judge_forms() {
    let Ok(path) = std::env::var("RTCG_FORMS") else { return };
    for row in std::fs::read_to_string(path).unwrap_or_default().lines() {
        let line = row.rsplit('\t').next().unwrap_or_default();
        println!("JUDGED\t{}\t{row}", refusal_reason(line).unwrap_or_default());
    }
}

/// Loads whole modules and compiles their kernels: `RTCG_MODULES` names the folder.
#[test]
#[ignore = "a tool, not a test"]
fn judge_modules() {
    let Ok(path) = std::env::var("RTCG_MODULES") else { return };
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        let text = std::fs::read(entry.path()).unwrap_or_default();
        match load_image(&text, &LoadOptions::default()) {
            Ok(_) => println!("JUDGED\tok\t{}", entry.path().display()),
            Err(e) => println!("JUDGED\t{}\t{}", e.log.replace('\n', " "), entry.path().display()),
        }
    }
}
