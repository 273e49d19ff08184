//! A planted fault: a patch whose head says what it breaks and which tests must catch it.
//!
//! ```text
//! Breaks: lanes that have left a loop take part in its votes.
//! caught-by: cargo -p rtcg-vgpu --test jit_warp votes
//! caught-by: pytest tests/python/test_x.py::test_y
//! may-hang: yes
//! ```
//!
//! Each named test must fail; with `may-hang`, running out of time is a failure too.

use std::path::{Path, PathBuf};

use super::check::MutantCheck;
use crate::Result;

pub(super) struct Mutant {
    pub(super) name: String,
    /// The folder under `crates/` that it is planted in.
    pub(super) crate_dir: String,
    pub(super) file: PathBuf,
    pub(super) checks: Vec<MutantCheck>,
    pub(super) may_hang: bool,
}

/// The faults of `names`, or all, in the order of their crates, so that one's build serves the next.
pub(super) fn read_mutants(root: &Path, names: &[String]) -> Result<Vec<Mutant>> {
    let mut faults = Vec::new();
    for entry in std::fs::read_dir(root.join("tests/mutants"))? {
        let file = entry?.path();
        let Some(name) = file.file_name().and_then(|n| n.to_str()?.strip_suffix(".patch")) else { continue };
        if names.is_empty() || names.iter().any(|n| n.trim_end_matches(".patch") == name) {
            let name = name.to_string();
            let text = std::fs::read_to_string(&file)?;
            faults.push(parse_patch(name.clone(), file, &text).map_err(|why| format!("{name}.patch: {why}"))?);
        }
    }
    match names.iter().find(|n| faults.iter().all(|f| f.name != n.trim_end_matches(".patch"))) {
        Some(name) => return Err(format!("tests/mutants has no {name}.patch").into()),
        None => faults.sort_by(|a, b| (&a.crate_dir, &a.name).cmp(&(&b.crate_dir, &b.name))),
    }
    Ok(faults)
}

pub(super) fn parse_patch(name: String, file: PathBuf, text: &str) -> std::result::Result<Mutant, String> {
    let head: Vec<&str> = text.lines().take_while(|line| !line.starts_with("--- ")).collect();
    let patched = text.lines().find_map(|line| line.strip_prefix("+++ b/crates/"));
    let crate_dir = patched.and_then(|path| path.split('/').next()).ok_or("it patches no file under crates/")?;
    let value = |key: &'static str| head.iter().filter_map(move |line| line.strip_prefix(key)).map(str::trim);
    if value("Breaks:").next().is_none() {
        return Err("it does not say what it `Breaks:`".into());
    }
    let checks = value("caught-by:").map(MutantCheck::parse_caught_by).collect::<std::result::Result<Vec<_>, _>>()?;
    if checks.is_empty() {
        return Err("it names no test".into());
    }
    let may_hang = value("may-hang:").any(|v| v == "yes");
    Ok(Mutant { name, crate_dir: crate_dir.to_string(), file, checks, may_hang })
}
