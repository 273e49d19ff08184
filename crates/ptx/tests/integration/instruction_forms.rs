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
