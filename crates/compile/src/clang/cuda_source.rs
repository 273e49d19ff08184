//! Rewrites what NVRTC takes and clang refuses, token by token; lines stay where they are.
//!
//! | in a source | becomes |
//! |---|---|
//! | `asm("mov.u32 %0, %laneid;" : ...)` | `%%laneid` |
//! | `extern __shared__ alignas(16) float x[]` | `alignas(16) extern __shared__ float x[]` |
//! | `template <class T> __global__ void k(T *a) {` | the same, outside of the pragma that makes functions the device's |
//! | `texture<float, 2> t;` at file scope | `__device__ texture<float, 2> t;` |

use crate::header_shims::add_device_to_references;
use rtcg_c_lex::{Token, TokenKind, tokenize};
use std::borrow::Cow;

/// The source for clang.
pub(super) fn adapt_to_clang(source: &str) -> String {
    let source = if source.contains("texture") || source.contains("surface") {
        Cow::Owned(add_device_to_references(source))
    } else {
        Cow::Borrowed(source)
    };
    let tokens = tokenize(&source);
    let mut edits: Vec<(usize, usize, String)> = Vec::new();
    for at in 0..tokens.len() {
        match tokens[at].text {
            "asm" | "__asm__" | "__asm" => escape_registers(&tokens[at + 1..], &mut edits),
            "__shared__" | "__constant__" | "__device__" => alignment_first(&source, &tokens, at, &mut edits),
            "template" => template_outside_of_pragma(&tokens[at..], &mut edits),
            _ => {}
        }
    }
    edits.sort_by_key(|edit| edit.0);
    let (mut text, mut copied) = (String::with_capacity(source.len() + 64), 0);
    for (begin, end, new) in edits {
        if begin >= copied {
            text.push_str(&source[copied..begin]);
            text.push_str(&new);
            copied = end;
        }
    }
    text + &source[copied..]
}

/// The source with `__device__` before the declarations of variables that are at these lines and columns.
pub(crate) fn with_device_variables(source: &str, places: &[(usize, usize)]) -> Option<String> {
    let tokens = tokenize(source);
    let starts: Vec<usize> = std::iter::once(0).chain(source.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let mut begins: Vec<usize> = Vec::new();
    for (line, column) in places {
        let at = starts.get(line.checked_sub(1)?)? + column.checked_sub(1)?;
        let place = tokens.iter().position(|token| token.at <= at && at < token.end())?;
        let ends = |token: &Token<'_>| matches!(token.text, ";" | "{" | "}");
        // A directive ends with its line.
        let is_directive = |token: &Token<'_>| token.text == "#" && token.begins_line;
        let mut begin = tokens[..place].iter().rposition(ends).map_or(0, |before| before + 1);
        if let Some(directive) = tokens[begin..place].iter().rposition(is_directive) {
            let after = tokens[begin + directive + 1..place].iter().position(|token| token.begins_line);
            begin += directive + 1 + after.unwrap_or(place - begin - directive - 1);
        }
        begins.push(tokens[begin].at);
    }
    begins.sort_unstable();
    begins.dedup();
    let mut text = source.to_owned();
    begins.iter().rev().for_each(|&at| text.insert_str(at, "__device__ "));
    (!begins.is_empty()).then_some(text)
}

/// The source with bytes in place of variables in shared memory, at these lines and columns, whose class has a
/// constructor: NVRTC leaves them uninitialised, and so does this.
pub(crate) fn with_bytes_in_shared_memory(source: &str, places: &[(usize, usize)]) -> Option<String> {
    let tokens = tokenize(source);
    let starts: Vec<usize> = std::iter::once(0).chain(source.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let mut edits: Vec<(usize, usize, String)> = Vec::new();
    for (line, column) in places {
        let at = starts.get(line.checked_sub(1)?)? + column.checked_sub(1)?;
        let place = tokens.iter().position(|token| token.at == at)?;
        let ends = |token: &Token<'_>| matches!(token.text, ";" | "{" | "}");
        let begin = tokens[..place].iter().rposition(ends).map_or(0, |before| before + 1);
        let end = place + tokens[place..].iter().position(|token| token.text == ";")?;
        let is_plain = tokens[place + 1..end].iter().all(|token| !matches!(token.text, "," | "=" | "{" | "("));
        let head: Vec<&str> = tokens[begin..place].iter().map(|token| token.text).collect();
        if !is_plain || !head.contains(&"__shared__") {
            return None;
        }
        let of_type: Vec<&str> = head.into_iter().filter(|word| !matches!(*word, "__shared__" | "static")).collect();
        let (kind, name) = (of_type.join(" "), tokens[place].text);
        let extents = &source[tokens[place].end()..tokens[end].at];
        let text = format!(
            "__shared__ __attribute__((aligned(alignof({kind})))) char __rtcg_bytes_of_{name}[sizeof({kind}{extents})]; \
             {kind} (&{name}){extents} = *({kind} (*){extents})__rtcg_bytes_of_{name};"
        );
        edits.push((tokens[begin].at, tokens[end].end(), text));
    }
    edits.sort_by_key(|edit| edit.0);
    edits.dedup_by_key(|edit| edit.0);
    let mut text = source.to_owned();
    edits.iter().rev().for_each(|(begin, end, new)| text.replace_range(*begin..*end, new));
    (!edits.is_empty()).then_some(text)
}

/// The place behind the bracket that closes the one at the first token.
fn end_of_brackets(tokens: &[Token<'_>]) -> Option<usize> {
    let mut depth = 0usize;
    let end = tokens.iter().position(|token| {
        match token.text {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    })?;
    Some(end + 1)
}

/// Special registers in the strings of an `asm` with operands: `%laneid` becomes `%%laneid`.
fn escape_registers(tokens: &[Token<'_>], edits: &mut Vec<(usize, usize, String)>) {
    let words = tokens.iter().take_while(|token| matches!(token.text, "volatile" | "__volatile__" | "goto" | "inline"));
    let tokens = &tokens[words.count()..];
    if tokens.first().is_none_or(|token| token.text != "(") {
        return;
    }
    let strings =
        tokens[1..].iter().take_while(|token| token.kind == TokenKind::Literal || token.kind == TokenKind::Word);
    let count = strings.clone().count();
    if !tokens.get(1 + count).is_some_and(|token| token.text.starts_with(':')) {
        return;
    }
    for token in strings.filter(|token| token.text.contains('%')) {
        let mut text = String::with_capacity(token.text.len() + 4);
        let mut chars = token.text.chars().peekable();
        while let Some(c) = chars.next() {
            text.push(c);
            if c == '%' {
                match chars.peek() {
                    Some('%') => text.extend(chars.next()),
                    Some(next) if next.is_ascii_alphabetic() || *next == '_' => text.push('%'),
                    _ => {}
                }
            }
        }
        edits.push((token.at, token.end(), text));
    }
}

/// `alignas(n)` behind the word for a memory at `at` goes to where the declaration begins.
fn alignment_first(source: &str, tokens: &[Token<'_>], at: usize, edits: &mut Vec<(usize, usize, String)>) {
    let after = &tokens[at + 1..];
    if after.first().is_none_or(|token| token.text != "alignas") {
        return;
    }
    let Some(last) = end_of_brackets(&after[1..]).and_then(|end| after.get(end)) else { return };
    const SPECIFIERS: [&str; 7] = ["extern", "static", "volatile", "const", "__device__", "__shared__", "__constant__"];
    let before = tokens[..at].iter().rev().take_while(|token| SPECIFIERS.contains(&token.text)).count();
    let (begin, end) = (after[0].at, last.end());
    let first = tokens[at - before].at;
    edits.push((first, first, format!("{} ", &source[begin..end])));
    edits.push((begin, end, String::new()));
}

/// A kernel that is a template, or an instance of one: what the pragma adds to its declaration would contradict
/// `__global__` in instances.
fn template_outside_of_pragma(tokens: &[Token<'_>], edits: &mut Vec<(usize, usize, String)>) {
    let mut depth = 0usize;
    let end = tokens.iter().position(|token| {
        depth += usize::from(token.text == "(");
        depth -= usize::from(token.text == ")" && depth > 0);
        depth == 0 && matches!(token.text, ";" | "{")
    });
    let Some(end) = end.filter(|&end| tokens[..end].iter().any(|token| token.text == "__global__")) else { return };
    let pragma = |word: &str| format!(" _Pragma(\"clang force_cuda_host_device {word}\") ");
    edits.push((tokens[0].at, tokens[0].at, pragma("end")));
    // The parser reads one token ahead, and so past the first semicolon before the declaration is made.
    let again = if tokens[end].text == ";" { ";".to_owned() + &pragma("begin") } else { pragma("begin") };
    edits.push((tokens[end].end(), tokens[end].end(), again));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_escaped_where_there_are_operands() {
        let source =
            "asm volatile(\"mov.u32 %0, %laneid; // 5%%\\n\" \"x %1\" : \"=r\"(a) : \"r\"(b)); asm(\"mov %x, %y;\");";
        let expected = source.replace("%laneid", "%%laneid");
        assert_eq!(adapt_to_clang(source), expected);
    }

    #[test]
    fn alignments_of_memory_come_first() {
        let source = "extern __shared__ alignas(16) char s[]; __shared__ alignas(Big) int t[4]; alignas(8) int u;";
        let expected = "alignas(16) extern __shared__  char s[]; alignas(Big) __shared__  int t[4]; alignas(8) int u;";
        assert_eq!(adapt_to_clang(source), expected);
    }

    #[test]
    fn variables_of_the_host_become_those_of_the_device() {
        let source = "#define N 4\nfloat a[N] = {1};\nnamespace n { int b, c; }\n";
        let text = with_device_variables(source, &[(2, 7), (3, 19), (3, 22)]).unwrap();
        assert_eq!(text, "#define N 4\n__device__ float a[N] = {1};\nnamespace n { __device__ int b, c; }\n");
    }

    #[test]
    fn objects_in_shared_memory_are_bytes() {
        let source = "{ static __shared__ volatile C s[8][N + 1]; }";
        let text = with_bytes_in_shared_memory(source, &[(1, 32)]).unwrap();
        let expected = "{ __shared__ __attribute__((aligned(alignof(volatile C)))) char \
                        __rtcg_bytes_of_s[sizeof(volatile C[8][N + 1])]; \
                        volatile C (&s)[8][N + 1] = *(volatile C (*)[8][N + 1])__rtcg_bytes_of_s; }";
        assert_eq!(text, expected);
    }

    #[test]
    fn templates_of_kernels_stand_outside_of_the_pragma() {
        let pragma = |word: &str| format!(" _Pragma(\"clang force_cuda_host_device {word}\") ");
        let (end, begin) = (pragma("end"), pragma("begin"));
        let adapted =
            adapt_to_clang("template <class T> __global__ void k(T *a) {}\ntemplate __global__ void k<int>(int *);");
        let expected = format!(
            "{end}template <class T> __global__ void k(T *a) {{{begin}}}\n{end}template __global__ void k<int>(int *);;{begin}"
        );
        assert_eq!(adapted, expected);
        let other = "template <class T> struct S { T f() { return 1; } }; __global__ void k() {}";
        assert_eq!(adapt_to_clang(other), other);
    }
}
