//! Normalises source text by removing what cannot change its meaning: comments, and extra white space.
//!
//! Texts of different meaning never become equal, even if the text is a template that is rendered later: the contents
//! of `{{ }}`, `{% %}`, `{# #}`, `<% %>` and `${ }`, and lines that begin with `#` or `%`, do not change, because `//`
//! is a division there. Texts of the same meaning may remain different, in which case a kernel is tuned again.

/// The normalised text.
pub(super) fn normalise(source: &str) -> String {
    let mut scanner = Scanner { out: String::with_capacity(source.len()), needs_blank: false, is_line_start: true };
    let mut rest = source;
    while let Some(c) = rest.chars().next() {
        rest = &rest[scanner.take(rest, c)..];
    }
    scanner.out
}

/// Pairs of brackets whose contents a template engine reads.
const TEMPLATE_BRACKETS: [(&str, &str); 5] = [("{{", "}}"), ("{%", "%}"), ("{#", "#}"), ("<%", "%>"), ("${", "}")];

struct Scanner {
    out: String,
    needs_blank: bool,
    is_line_start: bool,
}

impl Scanner {
    /// Handles what `rest` begins with, and returns how many bytes that was.
    fn take(&mut self, rest: &str, c: char) -> usize {
        if c.is_ascii_whitespace() {
            self.needs_blank = true;
            self.is_line_start |= c == '\n';
            return 1;
        }
        if self.is_line_start && (c == '#' || c == '%') {
            return self.take_line(rest);
        }
        if let Some(length) = comment_len(rest) {
            self.needs_blank = true;
            return length;
        }
        if self.needs_blank && !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push(' ');
        }
        (self.needs_blank, self.is_line_start) = (false, false);
        let length = self.verbatim_len(rest, c).unwrap_or(c.len_utf8());
        self.out.push_str(&rest[..length]);
        length
    }

    /// A line of the preprocessor or of a template, with those that its last backslash continues.
    fn take_line(&mut self, rest: &str) -> usize {
        let ends = rest.match_indices('\n').map(|(end, _)| end);
        let is_continued = |end: usize| rest[..end].trim_end_matches('\r').ends_with('\\');
        let length = ends.into_iter().find(|&end| !is_continued(end)).unwrap_or(rest.len());
        let line = rest[..length].trim_end();
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        if line.contains(['"', '\'', '\n']) {
            self.out.push_str(line);
        } else {
            self.out.push_str(&line.split_ascii_whitespace().collect::<Vec<_>>().join(" "));
        }
        self.out.push('\n');
        (self.needs_blank, self.is_line_start) = (false, true);
        length
    }

    /// The length of a literal or of a template's part at the beginning of `rest`, in which everything counts.
    fn verbatim_len(&self, rest: &str, c: char) -> Option<usize> {
        match c {
            '"' if self.word_before().is_some_and(is_raw_prefix) => raw_string_len(rest),
            '"' => Some(quoted_len(rest, c)),
            // `1'000` has no character literal.
            '\'' if self.word_before().is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit())) => None,
            '\'' => Some(quoted_len(rest, c)),
            _ => {
                let (open, close) = TEMPLATE_BRACKETS.iter().find(|(open, _)| rest.starts_with(open))?;
                let end = rest[open.len()..].find(close).map(|at| open.len() + at + close.len());
                Some(end.unwrap_or(rest.len()))
            }
        }
    }

    /// The word or number that ends where the text ends so far.
    fn word_before(&self) -> Option<&str> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '\'';
        let start = self.out.trim_end_matches(is_part).len();
        (start < self.out.len()).then(|| &self.out[start..])
    }
}

/// The length of a comment at the beginning of `rest`. One that does not end is none.
fn comment_len(rest: &str) -> Option<usize> {
    if rest.starts_with("//") {
        let mut ends = rest.match_indices('\n').map(|(end, _)| end);
        let end = ends.find(|&end| !rest[..end].trim_end_matches('\r').ends_with('\\'));
        return Some(end.unwrap_or(rest.len()));
    }
    let inside = rest.strip_prefix("/*")?;
    inside.find("*/").map(|end| 2 + end + 2)
}

/// The length of a string or character literal, which ends with its line at the latest.
fn quoted_len(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\n' => return at,
            _ if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

fn is_raw_prefix(word: &str) -> bool {
    matches!(word, "R" | "LR" | "uR" | "UR" | "u8R")
}

/// The length of `"tag(...)tag"`.
fn raw_string_len(rest: &str) -> Option<usize> {
    let open = rest.find('(')?;
    let close = format!("){}\"", &rest[1..open]);
    rest[open..].find(&close).map(|at| open + at + close.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn same(a: &str, b: &str) -> bool {
        normalise(a) == normalise(b)
    }

    #[test]
    fn comments_and_layout_do_not_count() {
        assert_eq!(normalise("  int f() /* a */ {\n\treturn 1; // b\n}\n"), "int f() { return 1; }");
        assert!(same("int a;\n\n\nint b;", "int a; // first \\\n still\n int b;"));
        assert!(same("  #define   N  2  \r\n  int a;", "#define N 2\nint a;"));
        assert!(same("a/**/b", "a b") && !same("a/**/b", "ab"));
        assert!(same("int x = 1'000'000; // large", "int x = 1'000'000;"));
    }

    #[test]
    fn what_may_matter_counts() {
        for (a, b) in [
            ("f(\"a  b\")", "f(\"a b\")"),
            ("f(\"a // b\")", "f(\"a // c\")"),
            ("f(\"\\\" // b\")", "f(\"\\\" // c\")"),
            ("f(R\"x(a \" // b)x\")", "f(R\"x(a \" // c)x\")"),
            ("c = '\"'; f(\" /* \"); x", "c = '\"'; f(\" /* \"); y"),
            ("#define N 2\nint a;", "#define N 2 int a;"),
            ("#define A(x) \\\n  x // 1\nint a;", "#define A(x) \\\n  x // 2\nint a;"),
            ("x = {{ n // 4 }};", "x = {{ n // 8 }};"),
            ("{% set m = n // 4 %} f", "{% set m = n // 8 %} f"),
            ("x = ${n // 4};", "x = ${n // 8};"),
            ("% if n // 4 == 2:\nf", "% if n // 8 == 2:\nf"),
            ("{# a/* #} x {# */ #}", "{# a/* #} y {# */ #}"),
            ("a /* x", "a /* y"),
            ("a + +b", "a ++b"),
        ] {
            assert!(!same(a, b), "{a:?} and {b:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_taken_and_stays_as_it_is_then(text in "[ \n\ta-c1'\"R(){}%#$<>/*\\\\é]{0,40}") {
            let once = normalise(&text);
            prop_assert!(once.len() <= text.len() + text.matches('\n').count() + 2);
        }

        #[test]
        fn words_keep_their_order(words in proptest::collection::vec("[a-z0-9+=;()]{1,5}", 0..12)) {
            let spread = words.join(" /* x */ // y\n\t");
            prop_assert_eq!(normalise(&spread), words.join(" "));
        }
    }
}
