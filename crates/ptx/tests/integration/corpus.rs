//! Real PTX of NVRTC: it parses, prints and parses to the same module.

use crate::common::{check_round_trip, load_corpus};
use rtcg_ptx::parse;

#[test]
fn only_listed_instructions_are_unsupported() {
    let mut found = String::new();
    for (name, text) in load_corpus() {
        let result = parse(text);
        assert!(!result.has_errors(), "{}", result.render_diagnostics(&name));
        for diagnostic in &result.diagnostics {
            let words = &result.module.source[diagnostic.span.start as usize..diagnostic.span.end as usize];
            found += &format!("{name}: {words}\n");
        }
    }
    let expected = include_str!("../../../../tests/ptx/corpus/unsupported.txt");
    assert_eq!(found, expected, "the list of instructions that no consumer executes has changed");
}

#[test]
fn every_line_of_a_line_table_is_kept() {
    let (_, text) = load_corpus().into_iter().find(|(name, _)| name == "calls.80l.ptx").expect("calls.80l.ptx");
    let result = parse(text);
    let kernel = result.module.find_kernel("k").expect("kernel").1;
    assert!(kernel.body.iter().filter(|s| s.line.is_some()).count() * 2 > kernel.body.len());
    assert!(result.module.files.iter().any(|file| file.ends_with("k.cu")));
}

#[test]
fn printed_modules_parse_to_the_same_module() {
    let files = load_corpus();
    assert!(files.len() > 25);
    for (name, text) in files {
        check_round_trip(&name, parse(text).module);
    }
}
