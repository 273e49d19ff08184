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
fn functions_are_handed_what_they_and_those_that_they_call_read() {
    let head = ".version 7.0\n.target sm_80\n.address_size 64\n";
    let text = format!(
        "{head}.func (.param .b32 r) near(.param .b32 x) {{ .reg .b32 %a; .reg .b64 %b; mov.u32 %a, %envreg27; \
         cvt.u64.u32 %b, %envreg2; st.param.b32 [r], %a; ret; }}\n\
         .func far() {{ .reg .b32 %a; mov.u32 %a, %envreg18; {{ .param .b32 p; st.param.b32 [p], %a; .param .b32 r; \
         call.uni (r), near, (p); }} ret; }}\n.func other() {{ ret; }}\n\
         .entry k() {{ call.uni far; call.uni other; ret; }}"
    );
    let transformed = check(&text).unwrap();
    for (function, words) in [("near", &["2_8", "27_4"][..]), ("far", &["2_8", "18_4", "27_4"]), ("other", &[])] {
        let begin = transformed.find(&format!(" {function}")).unwrap();
        let declared = &transformed[begin..begin + transformed[begin..].find(';').unwrap()];
        assert_eq!(declared.matches("_rtcg_word").count(), words.len(), "{transformed}");
        for word in words {
            assert!(declared.contains(&format!("{function}_rtcg_word{word}")), "{declared}");
        }
    }
    assert!(transformed.contains("[k_rtcg_launch+8]") && transformed.contains("[k_rtcg_launch+108]"), "{transformed}");
}

#[test]
fn functions_whose_address_is_taken_and_unknown_words_are_refused() {
    let head = ".version 7.0\n.target sm_80\n.address_size 64\n";
    let read = |word: u32| format!("{{ .reg .b32 %r1; mov.u32 %r1, %envreg{word}; ret; }}");
    let taken = ".entry k() { .reg .b64 %a; mov.u64 %a, helper; ret; }";
    let refused = check(&format!("{head}.func helper() {}\n{taken}", read(3))).unwrap_err();
    assert!(refused.contains("function helper asks for the launch, and its address is taken"), "{refused}");
    assert!(check(&format!("{head}.func helper() {{ ret; }}\n{taken}")).is_ok());
    assert!(check(&format!("{head}.entry k() {}", read(27))).is_ok());
    for kind in [".entry k()", ".func k()"] {
        let refused = check(&format!("{head}{kind} {}", read(28))).unwrap_err();
        assert!(refused.contains("%envreg28"), "{refused}");
    }
    assert!(check("no PTX").unwrap_err().contains("program.ptx:1"), "where the text is no PTX");
}

#[test]
fn mutations_never_panic_and_what_is_accepted_parses_again() {
    let mut mutator = mutator(31);
    let accepted =
        (0..depth::at_depth(1500, 200_000)).filter(|_| check(&mutator.next_mutated_module()).is_ok()).count();
    assert!(accepted > 100, "{accepted} of the mutations were accepted");
}
