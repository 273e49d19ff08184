//! The pass over PTX, on what clang writes and on mutations of it.

#[path = "../../../tests/support/depth.rs"]
#[allow(dead_code, reason = "each test uses some")]
mod depth;
mod pass_inputs;

use pass_inputs::{RECORDED, check, mutator};

#[test]
fn modules_of_every_clang_get_a_launch_record() {
    for (name, text) in RECORDED {
        assert!(text.contains("%envreg"), "{name} asks for the launch");
        let transformed = check(text).unwrap_or_else(|why| panic!("{name}: {why}"));
        for kernel in ["saxpy", "locals", "groups", "images", "others"] {
            assert!(transformed.contains(&format!("{kernel}_rtcg_launch[112]")), "{name}: {kernel}");
        }
        assert!(transformed.contains(".extern .shared") && !transformed.contains(".const"), "{name}");
    }
}

#[test]
fn functions_outside_of_kernels_and_unknown_words_are_refused() {
    let head = ".version 7.0\n.target sm_80\n.address_size 64\n";
    let read = |word: u32| format!("{{ .reg .b32 %r1; mov.u32 %r1, %envreg{word}; ret; }}");
    let refused = check(&format!("{head}.func helper() {}", read(3))).unwrap_err();
    assert!(refused.contains("function helper asks for the launch"), "{refused}");
    assert!(check(&format!("{head}.entry k() {}", read(27))).is_ok());
    let refused = check(&format!("{head}.entry k() {}", read(28))).unwrap_err();
    assert!(refused.contains("%envreg28"), "{refused}");
    assert!(check("no PTX").unwrap_err().contains("program.ptx:1"), "where the text is no PTX");
}

#[test]
fn mutations_never_panic_and_what_is_accepted_parses_again() {
    let mut mutator = mutator(31);
    let accepted =
        (0..depth::at_depth(1500, 200_000)).filter(|_| check(&mutator.next_mutated_module()).is_ok()).count();
    assert!(accepted > 100, "{accepted} of the mutations were accepted");
}
