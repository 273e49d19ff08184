//! A panic of the compiler becomes an error in one line: the kernel, the instruction and its line, what went wrong,
//! and the file to which the PTX was written for a report.
//!
//! While the compiler runs, Rust's own panic message is suppressed, by a hook in front of the process's own that
//! knows the threads concerned. The hook stores the panic's text and the instruction that was being emitted here.

use super::compile::KernelSource;
use crate::JitError;
use rtcg_ptx::ast::Span;
use std::cell::{Cell, RefCell};
use std::io::Write;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::path::PathBuf;
use std::sync::{Once, OnceLock};

/// What every message about a panic contains.
pub const BUG_MESSAGE_MARKER: &str = "a bug in rtcg";
/// Characters of an instruction that a message shows.
const MAX_INSTRUCTION_TEXT_CHARS: usize = 120;

thread_local! {
    /// Calls of [`catch_panics`] that are open.
    static CATCH_DEPTH: Cell<u32> = const { Cell::new(0) };
    /// The instruction that is being emitted, in the text of the module.
    static CURRENT_INSTRUCTION: Cell<Option<Span>> = const { Cell::new(None) };
    /// What the last panic said.
    static LAST_PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Says which instruction comes next; with `RTCG_JIT_PANIC_AT`, for tests, the compiler panics at one with these
/// words, `masked ` before them in masked code only.
pub(super) fn set_current_instruction(source: &str, span: Option<Span>, masked: bool) {
    CURRENT_INSTRUCTION.set(span);
    static INJECTED_PANIC: OnceLock<Option<String>> = OnceLock::new();
    let Some(word) = INJECTED_PANIC.get_or_init(|| std::env::var("RTCG_JIT_PANIC_AT").ok()) else { return };
    let (word, here) = word.strip_prefix("masked ").map_or((word.as_str(), true), |word| (word, masked));
    assert!(!here || !source_text_of_span(source, span).contains(word), "injected by RTCG_JIT_PANIC_AT");
}

/// Compiles something of a kernel.
pub(super) fn catch_panics<T>(
    source: &KernelSource,
    compile: impl FnOnce() -> Result<T, JitError>,
) -> Result<T, JitError> {
    static PANIC_HOOK: Once = Once::new();
    PANIC_HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| if CATCH_DEPTH.get() == 0 { before(info) } else { record_panic(info) }));
    });
    CURRENT_INSTRUCTION.set(None);
    CATCH_DEPTH.set(CATCH_DEPTH.get() + 1);
    let outcome = catch_unwind(AssertUnwindSafe(compile));
    CATCH_DEPTH.set(CATCH_DEPTH.get() - 1);
    outcome.unwrap_or_else(|_| Err(internal_error(source)))
}

fn record_panic(info: &PanicHookInfo<'_>) {
    let said = info.payload_as_str().unwrap_or("a panic").lines().collect::<Vec<_>>().join(" ");
    let place = info.location().map_or(String::new(), |l| format!(", {}:{}", l.file(), l.line()));
    LAST_PANIC.set(said + &place);
}

fn source_text_of_span(source: &str, span: Option<Span>) -> String {
    let text = span.and_then(|s| source.get(s.start as usize..s.end as usize)).unwrap_or("");
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MAX_INSTRUCTION_TEXT_CHARS).collect()
}

fn internal_error(source: &KernelSource) -> JitError {
    let (text, span) = (&*source.module.source, CURRENT_INSTRUCTION.get());
    let kept = match dump_ptx_to_file(source) {
        Ok(path) => format!("the PTX, which is kept in {}", path.display()),
        Err(e) => format!("the PTX, which could not be kept ({e})"),
    };
    let at = span.map_or(String::new(), |_| format!(" at `{}`", source_text_of_span(text, span)));
    let said = LAST_PANIC.take();
    let message = format!(
        "the virtual GPU's compiler fails{at} ({said}): {BUG_MESSAGE_MARKER}; please report it to rtcg's maintainers with {kept}"
    );
    let ptx_line = span.map_or(0, |s| 1 + text[..s.start as usize].matches('\n').count() as u32);
    JitError { span, ptx_line, ..source.kernel_error(message) }
}

/// Writes the PTX to a file of its own, unless that is there from before.
fn dump_ptx_to_file(source: &KernelSource) -> std::io::Result<PathBuf> {
    let text = source.module.source.as_bytes();
    let key = crate::emit::code::cache_key::module_text_key(&source.module.source);
    let name: String = key[..8].iter().map(|b| format!("{b:02x}")).collect();
    let path = std::env::temp_dir().join(format!("rtcg-compiler-failure-{name}.ptx"));
    // Nobody's link is followed: the file is new, or has these contents.
    match std::fs::File::create_new(&path) {
        Ok(mut file) => file.write_all(text)?,
        Err(_) if std::fs::read(&path).is_ok_and(|old| old == text) => {}
        Err(e) => return Err(e),
    }
    Ok(path)
}
