//! Selects what a message shows of a source and a log: the relevant lines, and no more than can be read.
//!
//! Establishes that the parts have a bounded length, whatever the source and the compiler's output.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};

/// Source lines that are shown with their adjacent lines.
const MAX_LINES: usize = 20;
/// Characters of a line that are shown.
const MAX_WIDTH: usize = 300;
/// A log up to this many bytes is shown as it is.
const MAX_LOG_BYTES: usize = 20_000;

/// The lines of `source` that `log` names as `name(LINE)` or `name:LINE`.
pub(crate) fn source_excerpt(log: &str, name: &str, source: &str) -> String {
    let named = mentioned_lines(log, name);
    let lines: Vec<&str> = source.lines().collect();
    let shown: BTreeSet<usize> =
        named.iter().flat_map(|&n| n.saturating_sub(1)..=n + 1).filter(|n| (1..=lines.len()).contains(n)).collect();
    let width = shown.last().map_or(0, |n| n.to_string().len());
    let mut text = String::new();
    let mut previous = None;
    for n in shown {
        if previous.is_some_and(|p| p + 1 != n) {
            text.push_str("...\n");
        }
        let mark = if named.contains(&n) { '>' } else { ' ' };
        text.push_str(&format!("{mark} {n:>width$} | {}\n", shorten_line(lines[n - 1], 0)));
        previous = Some(n);
    }
    text
}

/// The first lines that a log names.
fn mentioned_lines(log: &str, name: &str) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    for (at, _) in log.match_indices(name) {
        let rest = &log[at + name.len()..];
        if let Some(rest) = rest.strip_prefix(['(', ':']) {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            if let Ok(line) = rest[..digits].parse() {
                found.insert(line);
            }
        }
        if found.len() == MAX_LINES {
            break;
        }
    }
    found
}

/// The characters of a line around one of its columns, where it is too long to be shown as a whole.
fn shorten_line(line: &str, column: usize) -> Cow<'_, str> {
    let length = if line.len() <= MAX_WIDTH { line.len() } else { line.chars().count() };
    if length <= MAX_WIDTH {
        return Cow::Borrowed(line);
    }
    let from = column.saturating_sub(MAX_WIDTH / 2).min(length - MAX_WIDTH);
    let part: String = line.chars().skip(from).take(MAX_WIDTH).collect();
    let before = if from > 0 { "..." } else { "" };
    let after = if from + MAX_WIDTH < length { "..." } else { "" };
    Cow::Owned(format!("{before}{part}{after} (characters {} to {} of {length})", from + 1, from + MAX_WIDTH))
}

/// A log as it is shown: each diagnostic once, errors without the warnings that follow from them, and no more than can be
/// read.
pub(crate) fn readable_log(log: &str) -> String {
    shorten_log(&without_repetitions(log)).trim_end().to_owned()
}

/// Whether a line of a block is the head of an error, `kernel.cu(2): error: ...` or `... error #177-D: ...`.
fn is_error(block: &str) -> bool {
    block.lines().any(|line| line.contains(": error: ") || line.contains(": error #"))
}

/// Whether a block is a warning, or the compiler's advice on how to suppress warnings.
fn is_warning(block: &str) -> bool {
    let head = block.trim_start().lines().next().unwrap_or_default();
    (head.contains(": warning: ") || head.contains(": warning #") || head.starts_with("Remark: The warnings can be"))
        && !is_error(block)
}

/// The diagnostics of a log, which blank lines separate, without those that it has had, and without the compiler's count
/// of them: a snippet that stands in the source twice is reported twice.
fn without_repetitions(log: &str) -> String {
    let mut seen = HashSet::new();
    // A variable is unused because the line that uses it is wrong, for instance.
    let has_errors = is_error(log);
    let is_left_out = |block: &str| block.trim().is_empty() || is_count(block) || (has_errors && is_warning(block));
    let diagnostics = log.split("\n\n").filter(|block| !is_left_out(block));
    diagnostics.filter(|block| seen.insert(block.trim_end())).collect::<Vec<_>>().join("\n\n")
}

/// Whether all that a compiler says is how many errors there were.
fn is_count(block: &str) -> bool {
    let line = block.trim();
    line.starts_with(|c: char| c.is_ascii_digit())
        && line.contains(" detected in the compilation of ")
        && !line.contains('\n')
}

/// A log with, of long lines, the part above the caret that follows them, and no more lines than can be read.
fn shorten_log(log: &str) -> Cow<'_, str> {
    if log.len() <= MAX_LOG_BYTES {
        return Cow::Borrowed(log);
    }
    let mut out = String::new();
    let mut lines = log.lines().peekable();
    let mut quoted = "";
    while let Some(line) = lines.next() {
        let caret = lines.peek().and_then(|next| caret_column(next)).map(|at| unwrap_caret_column(line, at, quoted));
        quoted = line.split('"').nth(1).unwrap_or_default();
        let part = shorten_line(line, caret.unwrap_or(0));
        let is_part = matches!(part, Cow::Owned(_));
        if out.len() + part.len() > MAX_LOG_BYTES {
            out.push_str(&format!("... ({} more lines)\n", 1 + lines.count()));
            break;
        }
        out.push_str(&part);
        out.push('\n');
        if let (true, Some(column)) = (is_part, caret) {
            lines.next();
            let from = column.saturating_sub(MAX_WIDTH / 2).min(line.chars().count() - MAX_WIDTH);
            let blanks = column - from + if from > 0 { "...".len() } else { 0 };
            out.push_str(&format!("{}^\n", " ".repeat(blanks)));
        }
    }
    Cow::Owned(out)
}

/// The column of a caret in a line that it stands under. NVRTC counts columns with 16 bits: of those that it may mean,
/// the one is taken where the name stands that the message before has in quotes.
fn unwrap_caret_column(line: &str, column: usize, quoted: &str) -> usize {
    let names = |at: &usize| line.get(*at..).is_some_and(|rest| rest.starts_with(quoted));
    (column..line.len()).step_by(1 << 16).find(names).filter(|_| !quoted.is_empty()).unwrap_or(column)
}

/// The column of the caret that is all a line has.
fn caret_column(line: &str) -> Option<usize> {
    (line.trim() == "^").then(|| line.chars().take_while(|c| *c != '^').count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_shown_without_warnings() {
        let error = "kernel.cu(4): error: expected a \";\"\n   a[0]=2; }\n   ^";
        let warning =
            "kernel.cu(2): warning #177-D: variable \"t\" was declared but never referenced\n  int t;\n      ^";
        let remark = "Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"";
        assert_eq!(readable_log(&format!("{error}\n\n{warning}\n\n{remark}\n\n{warning}\n\n")), error);
        assert_eq!(readable_log(&format!("{warning}\n\n{remark}\n\n{warning}\n")), format!("{warning}\n\n{remark}"));
        let strict = warning.replace("warning", "error");
        assert_eq!(readable_log(&format!("{strict}\n\n")), strict);
    }

    #[test]
    fn excerpt_shows_mentioned_and_adjacent_lines() {
        let source = "one\ntwo\nthree\nfour\nfive\nsix\nseven";
        let log = "kernel.cu(2): error: x\n  two\nkernel.cu(6): error: y\nkernel.cu(900): error: z";
        let expected = "  1 | one\n> 2 | two\n  3 | three\n...\n  5 | five\n> 6 | six\n  7 | seven\n";
        assert_eq!(source_excerpt(log, "kernel.cu", source), expected);
        assert_eq!(source_excerpt("no line is named", "kernel.cu", source), "");
        assert_eq!(source_excerpt("kernel.cu(0): odd", "kernel.cu", source), "  1 | one\n");
    }

    #[test]
    fn each_diagnostic_is_shown_once() {
        let one = "operation(1): error: identifier \"foo\" is undefined\n  z[i] = foo\n         ^\n\n";
        let other = "operation(2): error: expected a \";\"\n  }\n  ^\n\n";
        let log = format!("{one}{one}{other}3 errors detected in the compilation of \"kernel.cu\".\n");
        assert_eq!(readable_log(&log), format!("{one}{other}").trim_end());
        assert_eq!(readable_log("ld: 2 errors\n"), "ld: 2 errors");
    }

    #[test]
    fn long_lines_are_shown_around_the_caret() {
        let line = format!("{}WRONG{}", "a".repeat(700_000), "b".repeat(300_000));
        let log = format!("k.cu(1): error: \"WRONG\"\n{line}\n{}^\n\n1 error\n", " ".repeat(700_000 % 65_536));
        let short = shorten_log(&log);
        assert!(short.len() < 1000, "{}", short.len());
        let lines: Vec<&str> = short.lines().collect();
        assert_eq!(lines[1].find("WRONG"), lines[2].find('^'), "{short}");
        assert!(short.contains("of 1000005") && short.ends_with("1 error\n"), "{short}");
        assert!(source_excerpt("k.cu(1): x", "k.cu", &line).len() < 500);
        assert_eq!(shorten_log("short\n   ^\n"), "short\n   ^\n");
    }

    #[test]
    fn only_the_first_of_many_errors_are_shown() {
        let log: String = (1..=50_000).map(|n| format!("k.cu({n}): error: wrong\n")).collect();
        let short = shorten_log(&log);
        assert!(short.len() < MAX_LOG_BYTES + 100 && short.contains("more lines)"));
        assert!(source_excerpt(&log, "k.cu", &"line\n".repeat(50_000)).lines().count() <= MAX_LINES + 1);
    }
}
