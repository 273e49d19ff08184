//! The whitelist against ptxas: see `tests/ptx/forms/README.md`.

use rtcg_ptx::{DiagnosticKind, ParseResult, parse};

const REGISTERS: &str = include_str!("../../../../tests/ptx/forms/registers.ptx");

fn parse_line(line: &str) -> ParseResult {
    parse(format!("{REGISTERS}{line}\nret;\n}}\n"))
}

#[test]
fn accepted_forms() {
    let wrong: Vec<String> = include_str!("../../../../tests/ptx/forms/accepted.txt")
        .lines()
        .map(parse_line)
        .filter(ParseResult::has_errors)
        .map(|result| result.render("accepted.txt"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn refused_forms() {
    for line in include_str!("../../../../tests/ptx/forms/refused.txt").lines() {
        let result = parse_line(line);
        assert!(result.has_errors(), "accepted: {line}");
        let kinds: Vec<_> =
            result.diagnostics.iter().map(|d| d.kind).filter(|k| *k != DiagnosticKind::Unsupported).collect();
        assert_eq!(kinds.len(), 1, "{line}: one error for one wrong instruction");
    }
}
