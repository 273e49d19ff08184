//! Multi-line text in the form that nodes take.

/// Splits `text`, which must start with a line break, into lines, without empty lines at both ends and without the
/// indentation of the first line. An error if a later line is indented less.
pub fn literal_lines(text: &str) -> Result<Vec<String>, &'static str> {
    let text = text.strip_prefix("//CL//").unwrap_or(text);
    if !text.starts_with('\n') {
        return Err("Expected newline as first character in literal lines");
    }
    let lines: Vec<_> = text.split('\n').collect();
    let blank = |line: &&str| line.trim().is_empty();
    let Some(first) = lines.iter().position(|line| !blank(line)) else { return Ok(Vec::new()) };
    let last = lines.iter().rposition(|line| !blank(line)).unwrap_or(first);
    let indent = lines[first].chars().take_while(|c| " \t".contains(*c)).count();
    let cut = |line: &&str| {
        let head: String = line.chars().take(indent).collect();
        let rest = line.chars().skip(indent).collect();
        if head.trim().is_empty() { Ok(rest) } else { Err("Inconsistent indentation") }
    };
    lines[first..=last].iter().map(cut).collect()
}

/// Splits `text` into lines like Python's `str.splitlines`, at any Unicode line break.
pub fn split_lines(text: &str) -> Vec<&str> {
    let is_break =
        |c: char| matches!(c, '\n' | '\r' | '\x0b' | '\x0c' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}');
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(is_break) {
        lines.push(&rest[..at]);
        let tail = &rest[at..];
        let broken = if tail.starts_with("\r\n") { 2 } else { tail.chars().next().map_or(0, char::len_utf8) };
        rest = &tail[broken..];
    }
    if !rest.is_empty() {
        lines.push(rest);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indentation_of_the_first_line_goes() {
        assert_eq!(literal_lines("\n   a\n     b\n\n   c\n  ").unwrap(), ["a", "  b", "", "c"]);
        assert_eq!(literal_lines("\n  a\n b"), Err("Inconsistent indentation"));
        assert!(literal_lines("a").is_err());
        assert_eq!(literal_lines("\n \n").unwrap(), Vec::<String>::new());
    }

    #[test]
    fn every_line_break_of_unicode_ends_a_line() {
        assert_eq!(split_lines("a\r\nb\rc\n\nd\u{2028}e\n"), ["a", "b", "c", "", "d", "e"]);
        assert_eq!(split_lines(""), Vec::<&str>::new());
    }
}
