//! Mutated modules through loading and compilation: whatever the text, nobody panics.

use super::{compile, with_device};
use rtcg_vgpu::module::{LoadOptions, load_image};
use rtcg_vgpu_jit::LaunchVariant;
use std::sync::Arc;

/// Loads a text and compiles its kernels if it is good; says whether it was.
///
/// # Panics
/// What was loaded cannot be compiled for a reason that should have been seen before.
pub fn load_and_compile(text: &str) -> bool {
    if load_image(text.as_bytes(), &LoadOptions::default()).is_err() {
        return false;
    }
    let m = Arc::new(rtcg_ptx::parse(text).module);
    if m.functions.iter().map(|f| f.body.len()).sum::<usize>() > 400 {
        return true;
    }
    let symbols = with_device(|device| device.place_variables(&m));
    let base = LaunchVariant { optimise: Some(false), ..LaunchVariant::from_block_shape([32, 1, 1]) };
    for f in m.functions.iter().filter(|f| f.entry) {
        for v in [base, LaunchVariant { force_masked: true, ..base }, LaunchVariant { full_warps: false, ..base }] {
            if let Err(e) = compile(&m, &f.name, &symbols, v, &Arc::default()) {
                let is_bug = ["code generation failed", rtcg_vgpu_jit::internal_errors::BUG_MESSAGE_MARKER]
                    .iter()
                    .any(|m| e.message.contains(m));
                assert!(!is_bug, "{e}");
            }
        }
    }
    true
}
