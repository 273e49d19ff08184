//! Inputs of the pass over PTX: what clang wrote, mutations of it, and what must hold for all.

#[path = "../../../ptx/tests/integration/common/mod.rs"]
mod common;

pub(crate) use common::mutate::Mutator;

/// PTX by the clangs of several versions of LLVM, by name.
pub(crate) const RECORDED: [(&str, &str); 3] = [
    ("llvm-18", include_str!("../../../../tests/ptx/opencl/llvm-18.ptx")),
    ("llvm-20", include_str!("../../../../tests/ptx/opencl/llvm-20.ptx")),
    ("llvm-22", include_str!("../../../../tests/ptx/opencl/llvm-22.ptx")),
];

/// A source of mutated modules.
pub(crate) fn mutator(seed: u64) -> Mutator {
    Mutator::new(&RECORDED.map(|(name, text)| (name.to_owned(), text.to_owned())), seed)
}

/// Runs the pass. What it accepts must parse again, without reads of the registers that stand for the launch.
pub(crate) fn check(ptx: &str) -> Result<String, String> {
    let is_local = |kernel: &str, argument: usize| kernel == "locals" && (1..=2).contains(&argument);
    let transformed = rtcg_opencl_platform::with_launch_record(ptx, is_local)?;
    let parsed = rtcg_ptx::parse(transformed.as_str());
    assert!(!parsed.has_errors(), "{}", parsed.render_diagnostics("after the pass"));
    // A parameter may have such a name.
    let reads = format!("{:?}", parsed.module.functions.iter().map(|f| &f.body).collect::<Vec<_>>());
    assert!(!reads.contains("Envreg("), "{transformed}");
    Ok(transformed)
}
