//! Links PTX texts as a linker links objects: of weak and common definitions of a name one is used, and
//! local names are renamed where another text uses the same name.
//!
//! This works on the texts and parses only the extent, name and linkage of top-level items; the module
//! loader checks the result. Line breaks are preserved, so that messages can be traced to their text.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
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

/// Where a text may have variables.
const VARIABLE_SPACES: [&str; 5] = [".global", ".const", ".shared", ".local", ".tex"];

/// Number of the text, place of the item in it, its linkage, and the bytes of a `.common` variable.
type KeptDefinition = (usize, usize, Linkage, u64);

/// What a declaration and its definition have in common, as linkers compare it.
#[derive(Debug)]
enum Signature<'a> {
    /// The space, and the bytes; 0 for an array without a size.
    Variable(&'a str, u64),
    /// The bytes of the results and of the parameters.
    Function(Vec<u64>, Vec<u64>),
}

impl Signature<'_> {
    fn fits(&self, other: &Signature<'_>) -> bool {
        let same_bytes = |a: u64, b: u64| a == b || a == 0 || b == 0;
        let same_list = |a: &[u64], b: &[u64]| a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| same_bytes(a, b));
        match (self, other) {
            (Signature::Variable(space, bytes), Signature::Variable(other_space, other_bytes)) => {
                space == other_space && same_bytes(*bytes, *other_bytes)
            }
            (Signature::Function(results, params), Signature::Function(other_results, other_params)) => {
                same_list(results, other_results) && same_list(params, other_params)
            }
            _ => false,
        }
    }
}

/// `None` for kernels, which nothing refers to.
fn signature_of(item: &str) -> Option<Signature<'_>> {
    if find_directive(item, ".entry").is_some() {
        return None;
    }
    let Some(at) = find_directive(item, ".func") else {
        let space = VARIABLE_SPACES.into_iter().find(|space| find_directive(item, space).is_some())?;
        return Some(Signature::Variable(space, declared_bytes(item)));
    };
    let list = |text: &str| text.split(',').filter(|p| !p.trim().is_empty()).map(declared_bytes).collect::<Vec<u64>>();
    let rest = item[at..].trim_start();
    let (results, rest) = match rest.strip_prefix('(') {
        Some(inside) => inside.split_once(')')?,
        None => ("", rest),
    };
    let head = rest.split(['{', ';']).next().unwrap_or("");
    let params = head.split_once('(').and_then(|(_, inside)| inside.split_once(')')).map_or("", |(params, _)| params);
    Some(Signature::Function(list(results), list(params)))
}

/// Why a text cannot be linked with those before it: a name that both define, or that one declares otherwise than the
/// other defines it.
pub(crate) fn find_conflict(earlier: &[&str], new: &str) -> Option<String> {
    let mut known: HashMap<&str, Vec<(Linkage, &str)>> = HashMap::new();
    for &text in earlier {
        for item in top_level_items(text) {
            known.entry(item.name).or_default().push((item.linkage, &text[item.range]));
        }
    }
    let is_definition = |linkage| matches!(linkage, Linkage::Strong | Linkage::Weak);
    for item in top_level_items(new) {
        let text = &new[item.range.clone()];
        for &(linkage, other) in known.get(item.name).into_iter().flatten() {
            let pair = [linkage, item.linkage];
            if pair == [Linkage::Strong; 2] {
                return Some(format!("{} is defined twice", item.name));
            }
            let is_reference = pair.contains(&Linkage::Extern) && pair.into_iter().any(is_definition);
            if let (true, Some(a), Some(b)) = (is_reference, signature_of(text), signature_of(other))
                && !a.fits(&b)
            {
                return Some(format!("{} is declared otherwise than it is defined", item.name));
            }
        }
    }
    None
}

/// A variable in global or constant memory that a text uses and none defines.
pub(crate) fn undefined_variable<'a>(texts: &[&'a str]) -> Option<&'a str> {
    let items: Vec<Vec<PtxItem<'a>>> = texts.iter().map(|text| top_level_items(text)).collect();
    let is_definition = |i: &&PtxItem<'a>| matches!(i.linkage, Linkage::Strong | Linkage::Weak);
    let defined: HashSet<&str> = items.iter().flatten().filter(is_definition).map(|i| i.name).collect();
    let is_missing = |text: &str, item: &PtxItem<'a>| {
        let is_variable =
            matches!(signature_of(&text[item.range.clone()]), Some(Signature::Variable(".global" | ".const", _)));
        let rest = [&text[..item.range.start], &text[item.range.end..]];
        item.linkage == Linkage::Extern
            && is_variable
            && !defined.contains(item.name)
            && rest.into_iter().flat_map(|text| text.split(|c| !is_identifier_char(c))).any(|word| word == item.name)
    };
    texts.iter().zip(&items).find_map(|(text, list)| list.iter().find(|item| is_missing(text, item)).map(|i| i.name))
}

/// Bytes of a `.common` variable, by its declaration; 0 for other items.
fn common_bytes(item: &str) -> u64 {
    if item.split_whitespace().next() == Some(".common") { declared_bytes(item) } else { 0 }
}

/// Bytes of a variable or parameter, by its declaration; 0 for an array without a size.
fn declared_bytes(item: &str) -> u64 {
    let declaration = item.split(['=', ';', '{']).next().unwrap_or("");
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
            let is_referred_to = |i: &PtxItem<'_>| i.linkage == Linkage::Extern && i.name == *name;
            // Another text that declares the name means another thing, which may be missing.
            let others = items.iter().enumerate().filter(|&(other, _)| other != t);
            kept.contains_key(name)
                || others.flat_map(|(_, list)| list).any(is_referred_to)
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
    VARIABLE_SPACES.iter().any(|s| find_directive(item, s).is_some()).then_some(())?;
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
    fn declarations_must_fit_definitions() {
        const HEAD: &str = ".version 7.0\n.target sm_80\n.address_size 64\n";
        let conflict = |a: &str, b: &str| {
            let (a, b) = (format!("{HEAD}{a}\n"), format!("{HEAD}{b}\n"));
            assert_eq!(find_conflict(&[&a], &b).is_some(), find_conflict(&[&b], &a).is_some(), "{a} {b}");
            find_conflict(&[&a], &b).is_some()
        };
        for (declared, fitting, other) in [
            (".extern .global .u32 g;", ".visible .global .align 4 .b32 g = 1;", ".visible .global .u64 g;"),
            (".extern .global .u32 g;", ".weak .global .s32 g;", ".visible .const .u32 g = 5;"),
            (".extern .global .align 4 .b8 g[8];", ".visible .global .u64 g;", ".visible .global .b8 g[12];"),
            (".extern .const .u32 g[];", ".visible .const .u32 g[4] = {1};", ".visible .global .u32 g[4];"),
            (
                ".extern .func (.param .b32 r) g(.param .b64 a);",
                ".visible .func (.param .b32 x) g(.param .b64 y)\n{ ret; }",
                ".visible .func (.param .b32 x) g(.param .b64 y, .param .b32 z) { ret; }",
            ),
            (".extern .func g();", ".visible .func g() { ret; }", ".visible .func (.param .b32 r) g() { ret; }"),
            (
                ".extern .func g(.param .align 4 .b8 a[12]);",
                ".weak .func g(.param .align 4 .b8 a[12]) { ret; }",
                ".visible .func g(.param .align 4 .b8 a[16]) { ret; }",
            ),
            (".extern .func g();", ".visible .func g() { ret; }", ".visible .global .u32 g;"),
        ] {
            assert!(!conflict(declared, fitting), "{declared} {fitting}");
            assert!(conflict(declared, other), "{declared} {other}");
            assert!(!conflict(declared, declared), "{declared}");
        }
        assert!(conflict(".visible .global .u32 g;", ".visible .global .u32 g;"));
        assert!(!conflict(".weak .global .u32 g;", ".visible .global .u32 g;"));
        assert!(!conflict(".global .u32 g;", ".extern .global .u64 g;"), "local names are of no concern to others");
    }

    #[test]
    fn variables_that_nothing_defines_are_found() {
        let user = ".version 7.0\n.extern .global .u32 g;\n.visible .entry k() { mov.u64 %rd1, g; }\n";
        assert_eq!(undefined_variable(&[user]), Some("g"));
        assert_eq!(undefined_variable(&[user, ".version 7.0\n.visible .global .u32 g;\n"]), None);
        assert_eq!(undefined_variable(&[user, ".version 7.0\n.global .u32 g;\n"]), Some("g"));
        assert_eq!(undefined_variable(&[".version 7.0\n.extern .global .u32 g;\n"]), None, "not used");
        let dynamic = ".version 7.0\n.extern .shared .b8 s[];\n.visible .entry k() { mov.u64 %rd1, s; }\n";
        assert_eq!(undefined_variable(&[dynamic]), None);
    }

    #[test]
    fn a_local_definition_serves_no_other_text() {
        let local = ".version 7.0\n.func f() { ret; }\n.visible .entry a() { call f; ret; }\n";
        let caller = ".version 7.0\n.extern .func f();\n.visible .entry b() { call f; ret; }\n";
        for texts in [[local, caller], [caller, local]] {
            let joined = join_ptx_texts(&texts);
            assert_eq!(
                (joined.matches("f$text").count(), joined.matches(".extern .func f();").count()),
                (2, 1),
                "{joined}"
            );
        }
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
            find_conflict(&[text], text);
            undefined_variable(&[text, text]);
        }
    }
}
