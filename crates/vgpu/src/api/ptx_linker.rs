//! Links PTX texts as a linker links objects: of weak and common definitions of a name one is used, and
//! local names are renamed where another text uses the same name.
//!
//! This works on the texts and parses only the extent, name and linkage of top-level items; the module
//! loader checks the result. Line breaks are preserved, so that messages can be traced to their text.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// Who may see a name, and whether another definition may take its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Linkage {
    /// Only its own text.
    Internal,
    /// `.visible`, and all kernels.
    Strong,
    /// `.weak`, `.common`: one of several definitions.
    Weak,
    /// `.extern`, prototypes: no definition.
    Extern,
}

/// A function or variable at the top level of a text.
#[derive(Debug)]
struct PtxItem<'a> {
    range: Range<usize>,
    name: &'a str,
    linkage: Linkage,
}

/// Number of the text, place of the item in it, its linkage, and the bytes of a `.common` variable.
type KeptDefinition = (usize, usize, Linkage, u64);

/// The names that a text defines so that no other text may.
pub(crate) fn strong_names(text: &str) -> Vec<&str> {
    top_level_items(text).into_iter().filter(|i| i.linkage == Linkage::Strong).map(|i| i.name).collect()
}

/// Bytes of a `.common` variable, by its declaration; 0 for other items.
fn common_bytes(item: &str) -> u64 {
    let declaration = item.split(['=', ';', '{']).next().unwrap_or("");
    if declaration.split_whitespace().next() != Some(".common") {
        return 0;
    }
    let bits = |word: &str| word.strip_prefix(['b', 'u', 's', 'f']).and_then(|n| n.parse::<u64>().ok());
    let factor = |word: &str| match word.strip_prefix('.')? {
        "v2" => Some(2),
        "v4" => Some(4),
        ty => bits(ty.trim_end_matches("x2")).map(|bits| if ty.ends_with("x2") { bits / 4 } else { bits / 8 }),
    };
    let element: u64 = declaration.split_whitespace().filter_map(factor).product();
    let dimensions = declaration.split('[').skip(1).filter_map(|rest| rest.split(']').next());
    dimensions.fold(element, |bytes, n| bytes.saturating_mul(parse_count(n.trim()).unwrap_or(0)))
}

/// A number of elements, in any of PTX's radices.
fn parse_count(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches('U');
    match digits.get(..2) {
        Some("0x" | "0X") => u64::from_str_radix(&digits[2..], 16).ok(),
        _ if digits.len() > 1 && digits.starts_with('0') => u64::from_str_radix(digits, 8).ok(),
        _ => digits.parse().ok(),
    }
}

/// The word after `.target` in a text's header, and where it begins.
fn target_of_text(text: &str) -> Option<(usize, &str)> {
    let rest = text.lines().find_map(|line| line.trim_start().strip_prefix(".target"))?;
    let word = rest.split([',', ' ', '\t', ';']).map(str::trim).find(|word| !word.is_empty())?;
    Some((word.as_ptr().addr() - text.as_ptr().addr(), word))
}

/// The join of the texts. The first one's header serves for all, with the newest target of them: each text was checked
/// against its own.
pub(crate) fn join_ptx_texts(texts: &[&str]) -> String {
    if let [only] = texts {
        return format!("{only}\n");
    }
    let age = |target: &&str| {
        let digits: String = target.chars().filter(char::is_ascii_digit).collect();
        (digits.parse::<u32>().unwrap_or(0), target.len())
    };
    let newest = texts.iter().filter_map(|text| target_of_text(text)).map(|(_, word)| word).max_by_key(age);
    let mut first = texts.first().map_or_else(String::new, |text| (*text).to_owned());
    // The place itself: a comment before it may name the target, too.
    if let (Some((at, own)), Some(newest)) = (texts.first().and_then(|text| target_of_text(text)), newest) {
        first.replace_range(at..at + own.len(), newest);
    }
    let texts: Vec<&str> = std::iter::once(first.as_str()).chain(texts[1..].iter().copied()).collect();
    let texts = texts.as_slice();
    let items: Vec<Vec<PtxItem<'_>>> = texts.iter().map(|text| top_level_items(text)).collect();
    // The definition of each name that stays: the first strong one, else the first of the largest `.common` ones.
    let mut kept: HashMap<&str, KeptDefinition> = HashMap::new();
    let shared = |item: &PtxItem<'_>| matches!(item.linkage, Linkage::Strong | Linkage::Weak);
    for (t, item) in items.iter().enumerate().flat_map(|(t, list)| list.iter().map(move |i| (t, i))) {
        let bytes = common_bytes(&texts[t][item.range.clone()]);
        let better = kept
            .get(item.name)
            .is_none_or(|k| k.2 == Linkage::Weak && (item.linkage == Linkage::Strong || bytes > k.3));
        if shared(item) && better {
            kept.insert(item.name, (t, item.range.start, item.linkage, bytes));
        }
    }
    let mut joined = String::new();
    for (t, text) in texts.iter().enumerate() {
        let own_names = items[t].iter().filter(|i| i.linkage == Linkage::Internal).map(|i| i.name);
        let taken = |name: &&str| {
            kept.contains_key(name)
                || items[..t].iter().flatten().any(|i| i.linkage == Linkage::Internal && i.name == *name)
        };
        let renamed: Vec<&str> = own_names.filter(taken).collect();
        joined.push_str(&rename_identifiers(&remove_duplicate_definitions(text, t, &items[t], &kept), &renamed, t));
        joined.push('\n');
    }
    joined
}

/// The text without the definitions of which another text's stays, and without a second header.
fn remove_duplicate_definitions(
    text: &str,
    number: usize,
    items: &[PtxItem<'_>],
    kept: &HashMap<&str, KeptDefinition>,
) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for item in items {
        let Some(&(kept_text, kept_start, ..)) = kept.get(item.name) else { continue };
        if item.linkage != Linkage::Weak || (kept_text, kept_start) == (number, item.range.start) {
            continue;
        }
        out.push_str(&text[at..item.range.start]);
        let spare = &text[item.range.clone()];
        if kept_text > number {
            // What stays comes later, so that this text needs a declaration.
            out.push_str(&declaration_from_definition(spare));
        }
        out.extend(spare.matches('\n'));
        at = item.range.end;
    }
    out.push_str(&text[at..]);
    if number > 0 { strip_ptx_header(&out) } else { out }
}

/// A definition's head as a declaration, in one line.
fn declaration_from_definition(definition: &str) -> String {
    let head = definition.split(['{', '=', ';']).next().unwrap_or("");
    let head = head.replacen(".weak", ".extern", 1).replacen(".common", ".extern", 1);
    format!("{};", head.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Header lines become empty lines.
fn strip_ptx_header(text: &str) -> String {
    let is_header =
        |line: &&str| [".version", ".target", ".address_size"].iter().any(|d| line.trim_start().starts_with(d));
    text.lines().map(|line| if is_header(&line) { "\n".to_owned() } else { format!("{line}\n") }).collect()
}

/// The text with some identifiers changed.
fn rename_identifiers<'t>(text: &'t str, names: &[&str], number: usize) -> Cow<'t, str> {
    if names.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 64);
    let mut rest = text;
    while let Some(start) = rest.find(is_identifier_char) {
        let word = &rest[start..];
        let word = &word[..word.find(|c| !is_identifier_char(c)).unwrap_or(word.len())];
        out.push_str(&rest[..start]);
        out.push_str(word);
        if names.contains(&word) {
            out.push_str(&format!("$text{number}"));
        }
        rest = &rest[start + word.len()..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn is_identifier_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%')
}

/// The functions and variables at the top level.
fn top_level_items(text: &str) -> Vec<PtxItem<'_>> {
    let mut items = Vec::new();
    let mut at = 0;
    while let Some(start) = skip_space(text, at) {
        let end = item_end(text, start);
        items.extend(parse_item(text, start..end));
        at = end;
    }
    items
}

/// Where the next item begins, behind white space and comments.
fn skip_space(text: &str, mut at: usize) -> Option<usize> {
    loop {
        at += text[at..].find(|c: char| !c.is_whitespace())?;
        let rest = &text[at..];
        if rest.starts_with("//") {
            at += rest.find('\n')?;
        } else if rest.starts_with("/*") {
            at += rest.find("*/")? + 2;
        } else {
            return Some(at);
        }
    }
}

/// Where the item that begins at `start` ends.
fn item_end(text: &str, start: usize) -> usize {
    let rest = &text[start..];
    let line = rest.find('\n').unwrap_or(rest.len());
    if [".version", ".target", ".address_size", ".file", ".loc"].iter().any(|d| rest.starts_with(d)) {
        return start + line;
    }
    // Bodies end with their brace, initialisers with the semicolon behind it.
    let is_block = rest.starts_with(".section") || rest[..line].contains(".func") || rest[..line].contains(".entry");
    let mut depth = 0_usize;
    let mut at = start;
    while let Some(found) = text[at..].find(['{', '}', ';', '"', '/']) {
        at += found;
        let here = &text[at..];
        match here.as_bytes()[0] {
            b'{' => depth += 1,
            b'}' if depth <= 1 && is_block => return at + 1,
            b'}' => depth = depth.saturating_sub(1),
            b';' if depth == 0 => return at + 1,
            b'"' => at += here[1..].find('"').map_or(here.len() - 1, |n| n + 1),
            b'/' if here.starts_with("//") => at += here.find('\n').unwrap_or(here.len()) - 1,
            b'/' if here.starts_with("/*") => at += here.find("*/").map_or(here.len(), |n| n + 2) - 1,
            _ => {}
        }
        at += 1;
    }
    text.len()
}

/// What an item is, if it is a function or a variable.
fn parse_item(text: &str, range: Range<usize>) -> Option<PtxItem<'_>> {
    let item = &text[range.clone()];
    let is_kernel = find_directive(item, ".entry").is_some();
    let name = match find_directive(item, ".func").or_else(|| find_directive(item, ".entry")) {
        Some(after) => function_name(&item[after..])?,
        None => variable_name(item)?,
    };
    let defined = item.ends_with('}') || !(is_kernel || find_directive(item, ".func").is_some());
    let has = |directive| find_directive(item, directive).is_some();
    let linkage = match () {
        () if has(".extern") || !defined => Linkage::Extern,
        () if has(".weak") || has(".common") => Linkage::Weak,
        () if has(".visible") || is_kernel => Linkage::Strong,
        () => Linkage::Internal,
    };
    Some(PtxItem { range, name, linkage })
}

/// Where a directive of an item's head ends.
fn find_directive(item: &str, directive: &str) -> Option<usize> {
    let head = item.split(['(', '{', '=', ';', '[']).next()?;
    head.split_whitespace().any(|w| w == directive).then(|| head.find(directive).map(|at| at + directive.len()))?
}

/// The name behind `.func` or `.entry` and the results.
fn function_name(after: &str) -> Option<&str> {
    let after = after.trim_start();
    let after = if after.starts_with('(') { after[after.find(')')? + 1..].trim_start() } else { after };
    let end = after.find(|c| !is_identifier_char(c)).unwrap_or(after.len());
    (end > 0).then(|| &after[..end])
}

/// The last word of a variable's declaration before its dimensions and its value.
fn variable_name(item: &str) -> Option<&str> {
    let spaces = [".global", ".const", ".shared", ".local", ".tex"];
    spaces.iter().any(|s| find_directive(item, s).is_some()).then_some(())?;
    let head = item.split(['[', '=', ';', '{']).next()?.trim_end();
    let start = head.rfind(|c| !is_identifier_char(c)).map_or(0, |at| at + 1);
    (start < head.len()).then(|| &head[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST_PTX: &str = ".version 7.0\n.target sm_80\n.address_size 64\n\
        .global .align 1 .b8 $str[3] = {72, 105, 0};\n\
        .weak .func (.param .b32 r) one(.param .b32 x)\n{\n  { mov.u32 %r1, $str; }\n}\n\
        .common .global .align 8 .u64 env;\n\
        .visible .entry a() { ret; }\n";
    const SECOND_PTX: &str = ".version 7.0\n.target sm_80\n.address_size 64\n\
        // a comment; with { braces\n\
        .global .align 1 .b8 $str[2] = {72, 0};\n\
        .weak .func (.param .b32 r) one(.param .b32 x)\n{\n  ret;\n}\n\
        .common .global .align 8 .u64 env;\n\
        .visible .entry b() { mov.u64 %rd1, $str; ret; }\n";

    #[test]
    fn duplicate_weak_definitions_merge_and_local_names_are_renamed() {
        let joined = join_ptx_texts(&[FIRST_PTX, SECOND_PTX]);
        assert_eq!(joined.matches(".weak .func").count(), 1);
        assert_eq!(joined.matches(".common").count(), 1);
        assert_eq!(joined.matches(".version").count(), 1);
        assert!(joined.contains(".b8 $str[3]") && joined.contains(".b8 $str$text1[2]"), "{joined}");
        assert!(joined.contains("mov.u32 %r1, $str;") && joined.contains("mov.u64 %rd1, $str$text1;"));
        assert_eq!(joined.lines().count(), FIRST_PTX.lines().count() + SECOND_PTX.lines().count() + 2);
    }

    #[test]
    fn the_newest_target_serves_all() {
        let joined = join_ptx_texts(&[FIRST_PTX, &SECOND_PTX.replace("sm_80", "sm_90a")]);
        assert_eq!((joined.matches(".target sm_90a").count(), joined.matches("sm_80").count()), (1, 0), "{joined}");
        let noted = format!("// made for sm_80\n{FIRST_PTX}");
        let joined = join_ptx_texts(&[&noted, &SECOND_PTX.replace("sm_80", "sm_90a")]);
        assert!(joined.contains("// made for sm_80\n") && joined.contains(".target sm_90a"), "{joined}");
    }

    #[test]
    fn of_common_variables_the_largest_stays() {
        let text = |v: &str| format!(".version 7.0\n.common .global {v};\n");
        for (small, large) in [
            (".align 4 .u32 v[4]", ".align 4 .u32 v[8]"),
            (".u32 v", ".u32 v[2]"),
            (".b8 v[7]", ".u64 v"),
            (".v2 .f32 v[0x3]", ".v4 .f32 v[2]"),
            (".align 8 .b8 v[2][3]", ".align 8 .b8 v[2][4]"),
        ] {
            for (a, b) in [(small, large), (large, small)] {
                let joined = join_ptx_texts(&[&text(a), &text(b)]);
                assert_eq!(joined.matches(".common").count(), 1, "{joined}");
                assert!(joined.contains(&format!(".common .global {large};")), "{joined}");
            }
        }
    }

    #[test]
    fn strong_definition_replaces_a_weak_one() {
        let weak = ".version 7.0\n.weak .func (.param .b32 r) f(.param .b32 x)\n{\n  ret;\n}\n";
        let strong = ".visible .func (.param .b32 r) f(.param .b32 x) { ret; }\n";
        let joined = join_ptx_texts(&[weak, strong]);
        assert!(joined.contains(".extern .func (.param .b32 r) f(.param .b32 x);"), "{joined}");
        assert!(!joined.contains(".weak") && joined.contains(".visible .func"));
        assert!(!join_ptx_texts(&[strong, weak]).contains(".extern"));
    }

    #[test]
    fn malformed_texts_do_not_panic() {
        for text in [
            "",
            "{",
            "}",
            ".func",
            ".func (",
            ".global",
            "/*",
            "\"",
            "//",
            ".visible .entry",
            ".section {",
            ".func f() { \"",
            "/",
        ] {
            join_ptx_texts(&[text, text]);
        }
    }
}
