//! Locates a program's calls of a function, from LLVM IR that was compiled with line tables.

use super::symbols_in;

/// The first call of a symbol, as `file:line:column`.
pub(super) fn first_call(ir: &str, symbol: &str) -> Option<String> {
    let calls = ir.lines().filter(|line| line.contains("call ") && symbols_in(line).any(|name| name == symbol));
    let place = calls.filter_map(|line| node(ir, number_after(line, "!dbg !")?)).next()?;
    let (line, column) = (number_after(place, "line: ")?, number_after(place, "column: ").unwrap_or(0));
    // Blocks and functions have a file of their own, or that of what they are in.
    let mut scope = node(ir, number_after(place, "scope: !")?)?;
    let file = loop {
        match number_after(scope, "file: !") {
            Some(file) => break node(ir, file)?,
            None => scope = node(ir, number_after(scope, "scope: !")?)?,
        }
    };
    let name = file.split("filename: \"").nth(1)?.split('"').next()?;
    Some(format!("{}:{line}:{column}", name.trim_start_matches("./")))
}

/// The definition of a numbered node.
fn node(ir: &str, number: usize) -> Option<&str> {
    let head = format!("!{number} = ");
    ir.lines().find_map(|line| line.strip_prefix(&head))
}

fn number_after(text: &str, what: &str) -> Option<usize> {
    let rest = &text[text.find(what)? + what.len()..];
    rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())].parse().ok()
}
