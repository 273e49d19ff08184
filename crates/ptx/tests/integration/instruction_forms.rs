//! The whitelist against ptxas: see `tests/ptx/forms/README.md`.

use rtcg_ptx::{DiagnosticKind, ParseResult, parse};

const KERNEL_PROLOGUE_PTX: &str = include_str!("../../../../tests/ptx/forms/registers.ptx");

fn parse_line(line: &str) -> ParseResult {
    parse(format!("{KERNEL_PROLOGUE_PTX}{line}\nret;\n}}\n"))
}

#[test]
fn accepted_forms_parse_without_errors() {
    let wrong: Vec<String> = include_str!("../../../../tests/ptx/forms/accepted.txt")
        .lines()
        .map(parse_line)
        .filter(ParseResult::has_errors)
        .map(|result| result.render_diagnostics("accepted.txt"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn refused_forms_give_one_error() {
    for line in include_str!("../../../../tests/ptx/forms/refused.txt").lines() {
        let result = parse_line(line);
        assert!(result.has_errors(), "accepted: {line}");
        let kinds: Vec<_> =
            result.diagnostics.iter().map(|d| d.kind).filter(|k| *k != DiagnosticKind::Unsupported).collect();
        assert_eq!(kinds.len(), 1, "{line}: one error for one wrong instruction");
    }
}

/// Whether `line` is accepted in a module for `target`; what is merely unsupported is.
fn is_accepted_for(line: &str, target: &str) -> bool {
    let prologue = KERNEL_PROLOGUE_PTX.replace("sm_100a", &format!("sm_{target}"));
    !parse(format!("{prologue}{line}\nret;\n}}\n")).has_errors()
}

#[test]
fn forms_need_the_target_of_ptxas() {
    let listed: std::collections::HashMap<&str, &str> = include_str!("../../../../tests/ptx/forms/targets.txt")
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(target, form)| (form, target))
        .collect();
    let mut wrong = Vec::new();
    for form in include_str!("../../../../tests/ptx/forms/accepted.txt").lines() {
        let needed = listed.get(form).copied().unwrap_or("75");
        let targets = ["75", "80", "86", "89", "90", "100", "100a"];
        let first = targets.iter().position(|&target| target == needed).expect("a known target");
        let accepted = |i: usize| is_accepted_for(form, targets[i]);
        if !accepted(first) || first > 0 && accepted(first - 1) {
            wrong.push(format!("{form} needs sm_{needed}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_a_target_lacks_is_named() {
    let text = |target: &str, attributes: &str, body: &str| {
        format!(
            ".version 8.3\n.target {target}\n.address_size 64\n.entry k() {attributes} {{ .reg .b32 %r<3>; .reg .b64 %d<3>; {body} ret; }}\n"
        )
    };
    let message = |text: String| parse(text).diagnostics.first().map(|d| d.message.clone());
    for (attributes, body, what, target) in [
        ("", "min.relu.s32 %r1, %r2, %r2;", "min.relu.s32", 90),
        ("", "min.xorsign.abs.f32 %r1, %r2, %r2;", "min.xorsign.abs.f32", 86),
        ("", "mbarrier.arrive.shared.b64 %d1, [%r1], 3;", "mbarrier.arrive.shared.b64", 90),
        ("", "mov.u32 %r1, %cluster_ctarank;", "%cluster_ctarank", 90),
        (".maxclusterrank 4", "", "maxclusterrank", 90),
    ] {
        let expected = format!("`{what}` requires .target sm_{target} or higher");
        assert_eq!(message(text("sm_80", attributes, body)), Some(expected));
        assert_eq!(message(text("sm_90", attributes, body)), None);
    }
    // A byte of bf16 needs a register of its size.
    assert!(message(text("sm_90", "", ".reg .b8 c; .reg .b16 h; cvt.rzi.u8.bf16 c, h;")).is_none());
    assert!(message(text("sm_90", "", ".reg .b16 h; cvt.rzi.u8.bf16 h, h;")).is_some());
    // A size of the source above the copy's.
    assert!(message(text("sm_80", "", "cp.async.cg.shared.global [%r1], [%d1], 16, 16;")).is_none());
    assert!(message(text("sm_80", "", "cp.async.cg.shared.global [%r1], [%d1], 16, 17;")).is_some());
}
