//! What several tests need: the corpus, and equality of modules up to positions in the text.
#![allow(dead_code, reason = "tests, examples and fuzz targets include it, each for a part")]

pub(crate) mod forms;
pub(crate) mod mutate;
#[path = "../../../../../tests/support/text_files.rs"]
mod text_files;

use rtcg_ptx::ast::{Module, Span};

/// The PTX files of `tests/ptx/corpus`, by name.
pub(crate) fn load_corpus() -> Vec<(String, String)> {
    text_files::load_files("ptx/corpus", "ptx")
}

/// The module without positions in its text.
pub(crate) fn strip_spans(mut module: Module) -> Module {
    module.source = "".into();
    module.vars.iter_mut().for_each(|var| var.span = Span::default());
    for function in &mut module.functions {
        function.span = Span::default();
        function.vars.iter_mut().for_each(|var| var.span = Span::default());
        function.body.iter_mut().for_each(|statement| statement.span = Span::default());
    }
    module
}

/// Panics unless the printed module parses to the same module.
pub(crate) fn check_round_trip(name: &str, module: Module) {
    let text = rtcg_ptx::print_module(&module);
    let again = rtcg_ptx::parse(text.as_str());
    assert!(!again.has_errors(), "{name} printed:\n{}", again.render_diagnostics("printed.ptx"));
    let (first, second) = (strip_spans(module), strip_spans(again.module));
    if first != second {
        for (a, b) in first.functions.iter().zip(&second.functions) {
            for (x, y) in a.body.iter().zip(&b.body) {
                assert_eq!(x, y, "{name}, in {}", a.name);
            }
            assert_eq!(a, b, "{name}");
        }
        assert_eq!(first.vars, second.vars, "{name}");
        assert_eq!(first, second, "{name}");
    }
}
