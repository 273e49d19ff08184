//! Mutated modules never make the parser, the printer or the graphs panic, hang, or give positions
//! outside the text; what still parses prints to the same module. The inputs are the same in
//! every run; `examples/fuzz_parser.rs` goes on with others.

use crate::common::load_corpus;
use crate::common::mutate::{Mutator, check_input};

#[test]
fn mutated_modules_never_panic() {
    let mut mutator = Mutator::new(&load_corpus(), 1);
    let n_clean = (0..4000).filter(|_| check_input(&mutator.next_mutated_module())).count();
    // If hardly anything parsed, the printer would hardly be tested.
    assert!(n_clean > 100, "{n_clean}");
}

#[test]
fn random_bytes_never_panic() {
    let mut mutator = Mutator::new(&load_corpus(), 2);
    for _ in 0..2000 {
        assert!(!check_input(&mutator.next_random_text()));
    }
}

#[test]
fn prefixes_of_a_module_never_panic() {
    let (_, text) = load_corpus().into_iter().find(|(name, _)| name == "extra.80.ptx").expect("extra.80.ptx");
    for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
        check_input(&text[..end]);
    }
}

/// What fuzzing found.
#[test]
fn earlier_fuzz_findings_never_panic() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ptx/finds");
    for entry in std::fs::read_dir(folder).expect("the finds") {
        let bytes = std::fs::read(entry.expect("an entry").path()).expect("a readable file");
        check_input(&String::from_utf8_lossy(&bytes));
    }
}
