//! Removes host code that stands beside kernels in one source, and which nvcc would give to its host compiler.
//!
//! NVRTC compiles code without an execution space for the device. If it finds an error in something that is host code
//! to nvcc (a function, class or variable without `__device__`, `__global__` and the like, or a macro that stands for
//! one of them), [`without_host_code`] blanks it. Establishes that the text keeps its lines and its directives.
//!
//! This is not a C++ parser: code that it cannot follow stays, and so does the compiler's error.

use rtcg_c_lex::{Token, TokenKind, tokenize};
use std::collections::HashSet;
use std::ops::Range;

/// What makes code the device's.
const DEVICE_WORDS: [&str; 6] =
    ["__device__", "__global__", "__constant__", "__shared__", "__managed__", "__grid_constant__"];

/// Macros of CUDA's C++ library that stand for some of them.
const DEVICE_MACROS: [&str; 5] =
    ["_CCCL_DEVICE", "_CCCL_HOST_DEVICE", "_CCCL_API", "_CCCL_DEVICE_API", "_CCCL_KERNEL_ATTRIBUTES"];

/// What stands before brackets in the head of a class.
const ATTRIBUTE_WORDS: [&str; 5] = ["alignas", "__align__", "__attribute__", "__builtin_align__", "__declspec"];

/// A declaration: its bytes, whether it is the device's, and what is in it.
#[derive(Debug)]
struct Item {
    bytes: Range<usize>,
    is_device: bool,
    inner: Vec<Item>,
}

/// The words that make code the device's: CUDA's, and macros of these texts that stand for one, by way of others too.
pub(crate) fn device_words<'a>(texts: impl Iterator<Item = &'a str>) -> HashSet<String> {
    let macros: Vec<Vec<Token<'a>>> = texts.flat_map(macro_definitions).collect();
    let mut words: HashSet<String> = DEVICE_WORDS.iter().chain(&DEVICE_MACROS).map(|word| (*word).to_owned()).collect();
    loop {
        let is_new = |(name, value): (&Token<'a>, &[Token<'a>])| {
            (!words.contains(name.text) && value.iter().any(|token| words.contains(token.text))).then_some(name.text)
        };
        let found: Vec<&str> = macros.iter().filter_map(|tokens| is_new(tokens.split_first()?)).collect();
        if found.is_empty() {
            return words;
        }
        words.extend(found.into_iter().map(str::to_owned));
    }
}

/// The macros that a text defines: the name of each, then its parameters and value.
fn macro_definitions(text: &str) -> Vec<Vec<Token<'_>>> {
    let tokens = tokenize(text);
    let lines = tokens.chunk_by(|_, next| !next.begins_line);
    let definitions = lines.filter(|line| line.len() > 2 && line[0].text == "#" && line[1].text == "define");
    definitions.map(|line| line[2..].to_vec()).collect()
}

/// The text called `name` without the host code that a log has errors in; `None` where there is none. `words` are the
/// [`device_words`].
pub(crate) fn without_host_code(text: &str, name: &str, log: &str, words: &HashSet<String>) -> Option<String> {
    let lines = error_lines(log, name);
    if lines.is_empty() {
        return None;
    }
    let tokens = tokenize(text);
    let directives = directive_ranges(&tokens);
    let is_code = |token: &&Token<'_>| !directives.iter().any(|directive| directive.contains(&token.at));
    let code: Vec<Token<'_>> = tokens.iter().filter(is_code).copied().flat_map(Token::signs).collect();
    let items = read_items(&code, words);
    let mut blanked: Vec<Range<usize>> = Vec::new();
    for (number, range) in numbered_lines(text, name) {
        if lines.contains(&number) {
            blanked.extend(find_host_item(&items, &range));
        }
    }
    (!blanked.is_empty()).then(|| blank(text, &blanked, &directives))
}

/// Whether a text has code of the device.
pub(crate) fn has_device_code(text: &str, words: &HashSet<String>) -> bool {
    tokenize(text).iter().any(|token| words.contains(token.text))
}

/// The lines of `name` that a log has errors in.
fn error_lines(log: &str, name: &str) -> Vec<usize> {
    let line_of = |line: &str| -> Option<usize> {
        let (number, rest) = line.strip_prefix(name)?.strip_prefix('(')?.split_once("): ")?;
        let is_error = rest.starts_with("error") || rest.starts_with("catastrophic error");
        number.parse().ok().filter(|_| is_error)
    };
    log.lines().filter_map(line_of).collect()
}

/// The lines of the text that messages attribute to `name`: their numbers there, and their bytes.
fn numbered_lines(text: &str, name: &str) -> Vec<(usize, Range<usize>)> {
    let (mut number, mut is_named, mut start, mut found) = (1, true, 0, Vec::new());
    for line in text.split_inclusive('\n') {
        let mut words = line.trim_start().strip_prefix('#').unwrap_or_default().split_whitespace();
        let stated = words.next().filter(|word| *word == "line").and_then(|_| words.next()?.parse().ok());
        match stated {
            Some(stated) => {
                number = stated;
                is_named = words.next().map_or(is_named, |file| file.trim_matches('"') == name);
            }
            None => {
                found.extend(is_named.then(|| (number, start..start + line.len())));
                number += 1;
            }
        }
        start += line.len();
    }
    found
}

/// The bytes of directives of the preprocessor.
fn directive_ranges(tokens: &[Token<'_>]) -> Vec<Range<usize>> {
    let lines = tokens.chunk_by(|_, next| !next.begins_line);
    let directives = lines.filter(|line| line[0].text == "#" && line[0].begins_line);
    directives.map(|line| line[0].at..line[line.len() - 1].end()).collect()
}

/// The place behind the bracket that closes the one at `at`, or the end.
fn behind_bracket(tokens: &[Token<'_>], at: usize) -> usize {
    let mut depth = 0usize;
    let end = tokens[at..].iter().position(|token| {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    });
    end.map_or(tokens.len(), |end| at + end + 1)
}

/// The declarations of a file, a namespace or a class.
fn read_items(tokens: &[Token<'_>], words: &HashSet<String>) -> Vec<Item> {
    let (mut items, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        if matches!(tokens[at].text, ";" | "}") {
            at += 1;
            continue;
        }
        let (end, inner) = read_item(tokens, at, words);
        let mine = &tokens[at..end];
        let bytes = mine[0].at..mine[mine.len() - 1].end();
        let is_device = mine.iter().any(|token| token.kind == TokenKind::Word && words.contains(token.text));
        items.push(Item { bytes, is_device, inner });
        at = end;
    }
    items
}

/// The place behind the declaration that begins at `start`, and the declarations in it.
fn read_item(tokens: &[Token<'_>], start: usize, words: &HashSet<String>) -> (usize, Vec<Item>) {
    let (mut at, mut inner, mut is_function) = (start, Vec::new(), false);
    let mut is_value = false;
    while at < tokens.len() {
        match tokens[at].text {
            ";" => return (at + 1, inner),
            "(" => {
                let is_attribute = at > start && ATTRIBUTE_WORDS.contains(&tokens[at - 1].text);
                is_function |= !is_attribute;
                at = behind_bracket(tokens, at);
            }
            "[" => at = behind_bracket(tokens, at),
            "=" => {
                is_value |= tokens[start.max(at.saturating_sub(3))..at].iter().all(|token| token.text != "operator");
                at += 1;
            }
            "{" => {
                let end = behind_bracket(tokens, at);
                let head = &tokens[start..at];
                let has = |words: &[&str]| head.iter().any(|token| words.contains(&token.text));
                let is_linkage = head.first().is_some_and(|token| token.text == "extern")
                    && head[1..].iter().all(|token| token.kind == TokenKind::Literal);
                let is_scope = is_linkage || (has(&["namespace"]) && !is_function);
                let is_class = has(&["struct", "class", "union"]) && !is_function && !is_value;
                if is_scope || is_class {
                    inner = read_items(&tokens[at + 1..end.saturating_sub(1).max(at + 1)], words);
                }
                at = end;
                if is_scope || (is_function && !is_value) {
                    return (at, inner);
                }
            }
            _ => at += 1,
        }
    }
    (at, inner)
}

/// The innermost host declaration that has some of these bytes.
fn find_host_item(items: &[Item], line: &Range<usize>) -> Option<Range<usize>> {
    let meets = |item: &&Item| item.bytes.start < line.end && line.start < item.bytes.end;
    items
        .iter()
        .filter(meets)
        .find_map(|item| find_host_item(&item.inner, line).or_else(|| (!item.is_device).then(|| item.bytes.clone())))
}

/// The text with blanks in place of these bytes, but not of directives and line ends.
fn blank(text: &str, blanked: &[Range<usize>], kept: &[Range<usize>]) -> String {
    let is_in = |ranges: &[Range<usize>], at: usize| ranges.iter().any(|range| range.contains(&at));
    let blank_or_same = |(at, c): (usize, char)| match is_in(blanked, at) && !is_in(kept, at) && c != '\n' {
        true => ' ',
        false => c,
    };
    text.char_indices().map(blank_or_same).collect()
}

/// Headers of the host's C and C++ libraries: `vector`, `unistd.h`. What is the device's has other names.
pub(crate) fn is_host_header(name: &str) -> bool {
    const C_HEADERS: [&str; 20] = [
        "complex.h",
        "ctype.h",
        "dirent.h",
        "dlfcn.h",
        "errno.h",
        "fcntl.h",
        "fenv.h",
        "getopt.h",
        "locale.h",
        "omp.h",
        "pthread.h",
        "sched.h",
        "setjmp.h",
        "signal.h",
        "strings.h",
        "unistd.h",
        "wchar.h",
        "x86intrin.h",
        "xmmintrin.h",
        "immintrin.h",
    ];
    is_cpp_library_header(name) || C_HEADERS.contains(&name) || name.starts_with("sys/")
}

/// Whether a header that was not found has the form of the C++ library's, such as `vector`.
pub(crate) fn is_cpp_library_header(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of a text after an error in each of these lines; blanks at the ends of lines removed.
    fn left(text: &str, lines: &[usize]) -> Option<String> {
        let log: String = lines.iter().map(|line| format!("k.cu({line}): error: no\n")).collect();
        let text = without_host_code(text, "k.cu", &log, &device_words([text].into_iter()))?;
        Some(text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n"))
    }

    #[test]
    fn host_functions_with_errors_are_blanked() {
        let text = "int a;\n__global__ void k(int *x) { *x = { 1 }; }\n// int b() {\nstatic int main(int n, char **v)\n{\n#define A 1\n  return \"}\"[0];\n}\nint c;";
        assert_eq!(
            left(text, &[7]).unwrap(),
            "int a;\n__global__ void k(int *x) { *x = { 1 }; }\n// int b() {\n\n\n#define A 1\n\n\nint c;"
        );
        assert_eq!(left(text, &[2]), None, "an error of a kernel stays");
        assert_eq!(left(text, &[1, 9]).unwrap().lines().next(), Some(""));
        let words = device_words([].into_iter());
        assert_eq!(without_host_code(text, "k.cu", "other.h(7): error: no\nk.cu(7): warning: what", &words), None);
    }

    #[test]
    fn scopes_are_entered_and_device_members_stay() {
        let text = "namespace a { extern \"C\" {\nvoid f() { g(); }\n__device__ int d() { return 0; }\n} }\nstruct S {\n  void h() { x; }\n  __device__ void k() { y; }\n};\nstruct T { int a;\n std::vector<int> v; };\nstd::vector<int> w = { 1,\n 2 };";
        let without = |lines: &[usize]| left(text, lines).unwrap();
        assert_eq!(without(&[2]).lines().nth(1), Some(""));
        assert!(without(&[2]).contains("__device__ int d()"));
        assert_eq!(without(&[6]).lines().nth(5), Some(""));
        assert!(without(&[6]).contains("k() { y; }"));
        assert_eq!(left(text, &[3]), None);
        assert_eq!(left(text, &[7]), None);
        assert_eq!(without(&[10]).lines().nth(9), Some("                     };"));
        assert!(!without(&[12]).contains('w'));
    }

    #[test]
    fn lines_are_those_that_the_source_states() {
        let text = "#line 5 \"k.cu\"\nvoid f() { a; }\n#line 9 \"other\"\nvoid g() { b; }\n";
        assert_eq!(left(text, &[5]).unwrap(), "#line 5 \"k.cu\"\n\n#line 9 \"other\"\nvoid g() { b; }");
        assert_eq!(left(text, &[9]), None);
    }

    #[test]
    fn macros_make_code_the_devices() {
        let defined = "#define DEVICE __device__\n#define INLINE DEVICE inline\n#define \\\n  KERNEL(n) extern \"C\" __global__ void n\n#define HOST inline\n";
        for device in
            ["DEVICE int f() { x }", "INLINE int f() { x }", "KERNEL(f)() { x }", "struct A { DEVICE A() { x } };"]
        {
            assert_eq!(left(&format!("{defined}{device}\n"), &[6]), None, "{device}");
            let words = device_words([defined].into_iter());
            assert_eq!(without_host_code(device, "k.cu", "k.cu(1): error: no", &words), None, "{device}");
        }
        assert!(left(&format!("{defined}HOST int f() {{ x }}\n"), &[6]).is_some());
    }

    #[test]
    fn device_code_is_told_by_its_words() {
        let words = device_words([].into_iter());
        assert!(!has_device_code("int x = ; // __device__\nvoid f() { a; }\n", &words));
        assert!(has_device_code("int x = ;\n__global__ void k() {}\n", &words));
    }

    #[test]
    fn broken_texts_are_read_to_their_end() {
        for text in
            ["void f() {", "}}}", "struct {", "((((", "namespace {", "a = {", "", "extern \"C\" {", "#", "f() }"]
        {
            let _ = left(text, &[1]);
        }
    }
}
