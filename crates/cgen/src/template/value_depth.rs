//! Limits how deeply the values that a template creates nest.
//!
//! Establishes: no value of a template has more than [`MAX_DEPTH`] nested containers, so that printing, comparing and
//! dropping it, which the engine does recursively, fit in [`STACK_BYTES`] of stack. Only what a `set` stores outlives
//! its expression, so only that can grow from one iteration of a loop to the next: each `set` gets a filter that checks
//! its value. A namespace may not hold another, which could form a cycle.

use super::nesting::tags;
use minijinja::value::{Rest, Value, ValueKind};
use minijinja::{Error, ErrorKind};

/// Containers within each other, at most.
const MAX_DEPTH: usize = 100;

/// Items that are looked at, at most, so that long lists cost little; past them a value counts by how deep it was.
const MAX_ITEMS: usize = 100_000;

/// Of the thread that parses and renders. The engine's calls of macros and blocks recurse too, 500 of them at most.
/// The memory is touched only as far as it is used.
const STACK_BYTES: usize = 256 << 20;

/// The name of the filter, which no template says.
pub(super) const FILTER: &str = "rtcg_bounded_depth";

/// Runs `work` on a stack of known size: threads of Python's have as little as 512 KiB.
///
/// # Errors
/// There is no thread, or it panicked.
pub(super) fn run_on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("rtcg-template".to_owned()).stack_size(STACK_BYTES);
        let thread =
            thread.spawn_scoped(scope, work).map_err(|error| format!("no thread for the template: {error}"))?;
        thread.join().map_err(|_| "the template engine broke down".to_owned())
    })
}

/// The text with the filter around the value of each `set`; lines stay what they are.
pub(super) fn bound_assignments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut taken, mut raw_end) = (0, 0);
    for (start, tag) in tags(text) {
        if start < raw_end || !tag.starts_with("{%") {
            continue;
        }
        let body = tag[2..].trim_start_matches(['-', '+']).trim_start();
        if body.starts_with("raw") && body[3..].trim_matches(['-', '+', ' ', '\n', '\t']).is_empty() {
            raw_end = start + end_of_raw(&text[start..]);
            continue;
        }
        let is_set = body.strip_prefix("set").is_some_and(|rest| rest.starts_with(char::is_whitespace));
        let Some(equals) = body.find('=').filter(|_| is_set) else { continue };
        // A block's filters may have arguments by name: only names stand before the sign of an assignment.
        let is_target = |c: char| c.is_alphanumeric() || c.is_whitespace() || "_.,()".contains(c);
        let value = &body[equals + 1..];
        let value = value.strip_suffix(['-', '+']).unwrap_or(value);
        if !body[..equals].chars().all(is_target) || value.trim().is_empty() {
            continue;
        }
        let value_at = start + tag.len() - body.len() + equals + 1;
        out.push_str(&text[taken..value_at]);
        out.push_str(&format!(" ({value})|{FILTER}"));
        if body[..equals].contains('.') {
            out.push_str("(true)");
        }
        out.push(' ');
        taken = value_at + value.len();
    }
    out.push_str(&text[taken..]);
    out
}

/// Where the tag `endraw` starts, or the text's end.
fn end_of_raw(text: &str) -> usize {
    let is_end = |at: &usize| text[at + 2..].trim_start_matches(['-', '+']).trim_start().starts_with("endraw");
    text.match_indices("{%").map(|(at, _)| at).find(is_end).unwrap_or(text.len())
}

/// The filter: the value as it is, or the error that it nests too deeply.
pub(super) fn bounded(arguments: Rest<Value>) -> Result<Value, Error> {
    let value = arguments.first().cloned().unwrap_or_default();
    check_depth(&value, arguments.len() > 1)?;
    Ok(value)
}

/// # Errors
/// More than [`MAX_DEPTH`] containers within each other; with `refuses_namespaces`, a namespace in it.
pub(super) fn check_depth(value: &Value, refuses_namespaces: bool) -> Result<(), Error> {
    let wrong = |message: String| Err(Error::new(ErrorKind::InvalidOperation, message));
    let mut to_see = vec![(value.clone(), 1)];
    let mut n_seen = 0;
    while let Some((value, depth)) = to_see.pop() {
        if !matches!(value.kind(), ValueKind::Seq | ValueKind::Map | ValueKind::Iterable | ValueKind::Plain) {
            continue;
        }
        if refuses_namespaces && value.as_object().is_some_and(|object| object.type_name().ends_with("::Namespace")) {
            return wrong("a namespace cannot hold a namespace".to_owned());
        }
        if depth > MAX_DEPTH {
            return wrong(format!("more than {MAX_DEPTH} containers within each other"));
        }
        // Iterating an iterator would use it up.
        if !matches!(value.kind(), ValueKind::Seq | ValueKind::Map) {
            continue;
        }
        let is_map = value.kind() == ValueKind::Map;
        for item in value.try_iter()? {
            n_seen += 1;
            if n_seen > MAX_ITEMS {
                return Ok(());
            }
            match is_map {
                true => to_see.push((value.get_item(&item)?, depth + 1)),
                false => to_see.push((item, depth + 1)),
            }
        }
    }
    Ok(())
}
