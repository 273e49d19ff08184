//! Finds how deeply the expressions of a template nest, without recursion.
//!
//! Establishes: a template that passes [`check_nesting`] is parsed and compiled within the stack of `value_depth`. The
//! engine counts nested brackets and blocks, but not a chain such as `1 + 1 + 1 ...`, whose tree is just as deep.

/// Parts of an expression, or branches of an `if`, within each other.
const MAX_NESTING: usize = 500;

/// Words that join expressions.
const OPERATOR_WORDS: [&str; 7] = ["and", "or", "not", "in", "is", "if", "else"];

/// # Errors
/// The line of the first tag that nests too deeply, and what is wrong.
pub(super) fn check_nesting(text: &str) -> Result<(), (usize, String)> {
    // The branches of each open `if`.
    let mut branches: Vec<usize> = Vec::new();
    for (start, tag) in tags(text) {
        let mut words = tag[2..].trim_start_matches(['-', '+']).split_whitespace();
        match words.next().filter(|_| tag.starts_with("{%")) {
            Some("if") => branches.push(0),
            Some("elif") => branches.iter_mut().last().into_iter().for_each(|count| *count += 1),
            Some("endif") => drop(branches.pop()),
            _ => {}
        }
        let what = match (branches.iter().sum::<usize>(), expression_depth(&tag[2..])) {
            (branches, _) if branches > MAX_NESTING => "branches of an if",
            (_, depth) if depth > MAX_NESTING => "operators in one expression",
            _ => continue,
        };
        let line = text[..start].matches('\n').count() + 1;
        return Err((line, format!("more than {MAX_NESTING} {what}")));
    }
    Ok(())
}

/// The tags `{{ }}` and `{% %}` with their places, without their ends. What a text in quotes has ends none.
pub(super) fn tags(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + text[at..].find('{')?;
            let close = match text.as_bytes().get(start + 1) {
                Some(b'{') => "}}",
                Some(b'%') => "%}",
                Some(b'#') => {
                    at = start + 2 + text[start + 2..].find("#}")?;
                    continue;
                }
                _ => {
                    at = start + 1;
                    continue;
                }
            };
            let mut tokens = Tokens { text, at: start + 2 };
            let end = loop {
                let rest = text[tokens.at..].trim_start();
                if rest.starts_with(close) || tokens.next().is_none() {
                    break text.len() - rest.len();
                }
            };
            at = end.min(text.len());
            return Some((start, &text[start..at]));
        }
    })
}

/// The depth of the deepest tree that a reader by recursion or by levels can make of these tokens: those of a list or
/// of a call's arguments are beside each other, all others are counted as within each other.
fn expression_depth(text: &str) -> usize {
    // The sums of the counts of all open brackets, up to each.
    let (mut outer, mut depth, mut deepest) = (Vec::new(), 0, 0);
    for token in (Tokens { text, at: 0 }) {
        match token {
            "(" | "[" | "{" => {
                depth += 1;
                outer.push(depth);
            }
            ")" | "]" | "}" => depth = outer.pop().unwrap_or(depth),
            "," => depth = outer.last().copied().unwrap_or(0),
            _ => depth += usize::from(is_operator(token)),
        }
        deepest = deepest.max(depth);
    }
    deepest
}

fn is_operator(token: &str) -> bool {
    let is_value = token.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '"' | '\'' | ':'));
    !is_value || OPERATOR_WORDS.contains(&token)
}

/// Words and numbers, texts in quotes, and single signs.
struct Tokens<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Iterator for Tokens<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let rest = self.text[self.at..].trim_start();
        let start = self.text.len() - rest.len();
        let first = rest.chars().next()?;
        let length = match first {
            '"' | '\'' => quoted_length(rest, first),
            c if c.is_alphanumeric() || c == '_' => {
                rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len())
            }
            c => c.len_utf8(),
        };
        self.at = start + length;
        Some(&rest[..length])
    }
}

fn quoted_length(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == quote && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_count_and_lists_do_not() {
        let depths = [
            ("a + b * c", 2),
            ("[1, 2, 3, 4]", 1),
            ("f(1)(2)", 1 + 1),
            ("f(1 + 1, 1 + 1 + 1) + 2", 3),
            ("'a + b + c' ~ \"-\\\"-\"", 1),
            ("not a and b", 2),
            ("{'a': (1, 2), 'b': (3, 4)}", 2),
        ];
        depths.iter().for_each(|(text, depth)| assert_eq!(expression_depth(text), *depth, "{text}"));
    }

    #[test]
    fn long_lists_pass_and_long_chains_do_not() {
        let list = format!("{{{{ [{}] }}}}", "(1, 'a}}'), ".repeat(10_000));
        assert_eq!(check_nesting(&list), Ok(()));
        assert_eq!(check_nesting(&"{{ 1 + 1 }}{# + ".repeat(3)), Ok(()));
        for chain in ["+1", "|string", "[0]", ".d", " and 1", "()", " if 0 else 1"] {
            let text = format!("a\n{{{{ 1{} }}}}", chain.repeat(10_000));
            assert_eq!(check_nesting(&text).unwrap_err().0, 2, "{chain}");
        }
        let branches = format!("{{% if 0 %}}{}{{% endif %}}", "{%- elif 1 %}".repeat(10_000));
        assert!(check_nesting(&branches).unwrap_err().1.contains("branches"));
        assert_eq!(check_nesting(&"{% if 0 %}{% elif 1 %}{% endif %}".repeat(10_000)), Ok(()));
        assert_eq!(check_nesting(&"{{ 1 + 1 }} a.b + c\n".repeat(10_000)), Ok(()), "tags are apart");
    }
}
