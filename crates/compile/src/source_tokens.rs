//! Splits C++ text into the pieces that a text transformation examines: the program, and the bodies of macros.
//!
//! Unlike [`crate::declaration_tokens`], it replaces nothing and sees preprocessor conditions.

use rtcg_c_lex::{Token, TokenKind, tokenize};

/// A part of a text. Tokens are words, numbers and single signs.
#[derive(Debug)]
pub(crate) enum TextOrMacro<'a> {
    /// All that is no directive; of directives `#if`, `#else`, `#endif`.
    Text(Vec<Token<'a>>),
    /// What a macro stands for.
    Define { name: &'a str, body: Vec<Token<'a>> },
}

/// The lines of a text, in words, numbers and single signs. Lines that go on behind a backslash or in a comment are one.
pub(crate) fn token_lines(source: &str) -> Vec<Vec<Token<'_>>> {
    let tokens = tokenize(source).into_iter().filter(|token| token.kind != TokenKind::Literal);
    let tokens: Vec<Token<'_>> = tokens.flat_map(Token::signs).collect();
    tokens.chunk_by(|_, next| !next.begins_line).map(<[_]>::to_vec).collect()
}

/// The word of a directive and what follows it; `None` for other lines.
pub(crate) fn split_directive<'l, 'a>(line: &'l [Token<'a>]) -> Option<(Token<'a>, &'l [Token<'a>])> {
    match line {
        [hash, word, rest @ ..] if hash.text == "#" && hash.begins_line => Some((*word, rest)),
        _ => None,
    }
}

/// The pieces of a text; macros first.
pub(crate) fn split_text_and_macros(source: &str) -> Vec<TextOrMacro<'_>> {
    let (mut text, mut found) = (Vec::new(), Vec::new());
    for line in token_lines(source) {
        let Some((word, rest)) = split_directive(&line) else {
            text.extend(line.into_iter().filter(|token| !(token.text == "#" && token.begins_line)));
            continue;
        };
        let condition = match word.text {
            "define" => {
                found.extend(split_macro(rest).map(|(name, body)| TextOrMacro::Define { name, body: body.to_vec() }));
                continue;
            }
            "if" | "ifdef" | "ifndef" => "#if",
            "else" | "elif" | "elifdef" | "elifndef" => "#else",
            "endif" => "#endif",
            _ => continue,
        };
        text.push(Token { text: condition, ..word });
    }
    found.push(TextOrMacro::Text(text));
    found
}

/// Name and body of what stands behind `#define`.
fn split_macro<'l, 'a>(definition: &'l [Token<'a>]) -> Option<(&'a str, &'l [Token<'a>])> {
    let (name, rest) = definition.split_first().filter(|(name, _)| name.kind == TokenKind::Word)?;
    let has_parameters = rest.first().is_some_and(|next| next.text == "(" && next.at == name.end());
    let start = if has_parameters { rest.iter().position(|token| token.text == ")")? + 1 } else { 0 };
    Some((name.text, &rest[start..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macro_bodies_are_split_from_the_text() {
        let source = "int a;\n#define F(x) x + \\\n 1\n#ifdef A // no\nb \"c\"\n#else\n#endif";
        let found = split_text_and_macros(source);
        let words = |tokens: &[Token<'_>]| tokens.iter().map(|t| t.text.to_owned()).collect::<Vec<_>>().join(" ");
        let [TextOrMacro::Define { name: "F", body }, TextOrMacro::Text(text)] = &found[..] else {
            panic!("{found:?}")
        };
        assert_eq!(words(body), "x + 1");
        assert_eq!(words(text), "int a ; #if b #else #endif");
        assert!(text.iter().all(|t| t.text.starts_with('#') || source[t.at..].starts_with(t.text)));
    }
}
