//! Tokenises C snippets, and analyses how a snippet uses the parameters of its kernel.
//!
//! The analysis decides whether a kernel may hold an element in a register (see [`ElementUse`]); code that it does not
//! understand counts as "may do anything".

use rtcg_c_lex::{Token, TokenKind};
use std::collections::BTreeSet;

/// A token: comments and white space are removed, literals are one token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnippetToken<'a> {
    /// An identifier or keyword.
    Name(&'a str),
    /// A number, string or character.
    Literal(&'a str),
    /// An operator or bracket.
    Punct(&'a str),
}

impl<'a> SnippetToken<'a> {
    fn matches_text(self, text: &str) -> bool {
        matches!(self, SnippetToken::Punct(t) | SnippetToken::Name(t) if t == text)
    }
}

const ASSIGNMENT_OPERATORS: [&str; 11] = ["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="];

/// Splits a snippet into tokens.
pub fn tokenize(text: &str) -> Vec<SnippetToken<'_>> {
    fn snippet_token(token: Token<'_>) -> SnippetToken<'_> {
        match token.kind {
            TokenKind::Word => SnippetToken::Name(token.text),
            TokenKind::Number | TokenKind::Literal => SnippetToken::Literal(token.text),
            TokenKind::Operator => SnippetToken::Punct(token.text),
        }
    }
    rtcg_c_lex::tokenize(text).into_iter().map(snippet_token).collect()
}

/// Collects all names in a snippet.
pub fn identifiers(text: &str) -> BTreeSet<&str> {
    tokenize(text)
        .into_iter()
        .filter_map(|t| if let SnippetToken::Name(name) = t { Some(name) } else { None })
        .collect()
}

/// Whether `name` occurs as a name in a snippet.
pub fn mentions_name(text: &str, name: &str) -> bool {
    text.contains(name) && identifiers(text).contains(name)
}

/// Whether `i` occurs only where it takes the element of an array that `is_array` knows: `x[i]`.
pub fn indexes_only(text: &str, is_array: impl Fn(&str) -> bool) -> bool {
    let tokens = tokenize(text);
    let at = |k: Option<usize>| k.and_then(|k| tokens.get(k)).copied();
    (0..tokens.len()).filter(|&k| tokens[k] == SnippetToken::Name("i")).all(|k| {
        matches!(at(k.checked_sub(2)), Some(SnippetToken::Name(name)) if is_array(name))
            && tokens[k - 1].matches_text("[")
            && at(Some(k + 1)).is_some_and(|token| token.matches_text("]"))
    })
}

/// How a snippet uses an array `x`, in terms of its elements `x[i]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElementUse {
    /// Not at all.
    Unused,
    /// Only as `x[i]`, whose value is only read.
    Read,
    /// Only as `x[i]`, which a statement that always runs assigns before it is read.
    Assigned,
    /// Only as `x[i]`, which may be read and changed.
    Changed,
    /// In other ways too: other indices, its address, as a pointer.
    Other,
}

impl ElementUse {
    /// Whether elements are plainly written.
    pub fn is_written(self) -> bool {
        matches!(self, ElementUse::Assigned | ElementUse::Changed)
    }
}

/// Properties of a snippet as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ControlFlow {
    /// Whether the snippet may leave the loop body early (`return`, `goto`, `break`, `continue`).
    pub jumps: bool,
    /// Whether the snippet assigns to or declares `i`, or takes its address.
    pub changes_index: bool,
    /// Whether the snippet is a single statement.
    pub single_statement: bool,
    /// Whether there are preprocessor directives.
    pub has_directives: bool,
}

/// Analyses a snippet that is executed for each `i`.
pub fn analyze_control_flow(text: &str) -> ControlFlow {
    let tokens = tokenize(text);
    let jumps = tokens.iter().any(|t| {
        matches!(
            t,
            SnippetToken::Name("return" | "goto" | "break" | "continue" | "asm" | "__asm__" | "case" | "default")
        )
    });
    let at = |k: usize| tokens.get(k).copied();
    let changes_index = (0..tokens.len()).filter(|&k| tokens[k] == SnippetToken::Name("i")).any(|k| {
        let before = k.checked_sub(1).and_then(at);
        let assigned = at(k + 1).is_some_and(
            |t| matches!(t, SnippetToken::Punct(p) if ASSIGNMENT_OPERATORS.contains(&p) || p == "++" || p == "--"),
        );
        let declared = matches!(before, Some(SnippetToken::Name(word)) if word != "return" && word != "else");
        let stepped = before.is_some_and(|t| t.matches_text("++") || t.matches_text("--") || t.matches_text("&"));
        assigned || declared || stepped
    });
    let semicolons: Vec<_> = (0..tokens.len()).filter(|&k| tokens[k].matches_text(";")).collect();
    let single_statement =
        semicolons.iter().all(|&k| k + 1 == tokens.len()) && !tokens.iter().any(|t| t.matches_text("{"));
    ControlFlow { jumps, changes_index, single_statement, has_directives: tokens.iter().any(|t| t.matches_text("#")) }
}

/// Analyses how `text` uses the array `array`. With `references_possible`, any function that is not known to take its
/// arguments by value may change them.
pub fn classify_element_use(text: &str, array: &str, references_possible: bool) -> ElementUse {
    let tokens = tokenize(text);
    let mut depth = 0i32;
    let mut result = ElementUse::Unused;
    for k in 0..tokens.len() {
        match tokens[k] {
            SnippetToken::Punct("(" | "[" | "{") => depth += 1,
            SnippetToken::Punct(")" | "]" | "}") => depth -= 1,
            SnippetToken::Name(name) if name == array => {
                let Some(found) = classify_occurrence(&tokens, k, depth, references_possible) else {
                    return ElementUse::Other;
                };
                result = match (result, found) {
                    (ElementUse::Unused, first) => first,
                    (ElementUse::Assigned, _) => ElementUse::Assigned,
                    (ElementUse::Read, ElementUse::Read) => ElementUse::Read,
                    _ => ElementUse::Changed,
                };
            }
            _ => {}
        }
    }
    result
}

/// One occurrence of the array's name; `None` when it is not plainly `array[i]`.
fn classify_occurrence(
    tokens: &[SnippetToken<'_>],
    k: usize,
    depth: i32,
    references_possible: bool,
) -> Option<ElementUse> {
    let at = |k: usize| tokens.get(k).copied();
    let indexed = at(k + 1)?.matches_text("[") && at(k + 2)? == SnippetToken::Name("i") && at(k + 3)?.matches_text("]");
    let before = k.checked_sub(1).and_then(at);
    let is_member = before.is_some_and(|t| t.matches_text(".") || t.matches_text("->") || t.matches_text("::"));
    let addressed = before.is_some_and(|t| t.matches_text("&")) && !is_end_of_value(k.checked_sub(2).and_then(at));
    if !indexed || is_member || addressed {
        return None;
    }
    // A type name before the array's would make this a declaration.
    if matches!(before, Some(SnippetToken::Name(word)) if !matches!(word, "return" | "else" | "do" | "case")) {
        return None;
    }
    let after = at(k + 4);
    let starts_statement = depth == 0 && before.is_none_or(|t| t.matches_text(";") || t.matches_text("}"));
    // After a closing brace only plain blocks are sure to be left: `if (c) { } x[i] = 1;` is one too.
    if after.is_some_and(|t| t.matches_text("=")) && starts_statement && !assignment_reads_target(tokens, k) {
        return Some(ElementUse::Assigned);
    }
    let assigned =
        matches!(after, Some(SnippetToken::Punct(p)) if ASSIGNMENT_OPERATORS.contains(&p) || p == "++" || p == "--");
    let stepped = before.is_some_and(|t| t.matches_text("++") || t.matches_text("--"));
    if assigned || stepped || modifies_member(tokens, k + 4) || may_bind_reference(tokens, k, references_possible) {
        return Some(ElementUse::Changed);
    }
    Some(ElementUse::Read)
}

/// Whether the statement `array[i] = ...` at `k` reads `array` on its right side.
fn assignment_reads_target(tokens: &[SnippetToken<'_>], k: usize) -> bool {
    tokens[k + 4..].iter().take_while(|t| !t.matches_text(";")).any(|t| *t == tokens[k])
}

/// Whether a token ends a value, so that `&` after it is the binary operator.
fn is_end_of_value(token: Option<SnippetToken<'_>>) -> bool {
    match token {
        Some(SnippetToken::Name(word)) => !matches!(word, "return" | "else" | "do" | "case"),
        Some(SnippetToken::Literal(_)) => true,
        Some(SnippetToken::Punct(p)) => p == ")" || p == "]",
        None => false,
    }
}

/// `.member = ...` and calls of members other than `real()` and `imag()`.
fn modifies_member(tokens: &[SnippetToken<'_>], mut k: usize) -> bool {
    let at = |k: usize| tokens.get(k).copied();
    let mut is_member = false;
    while at(k).is_some_and(|t| t.matches_text(".")) {
        is_member = true;
        let Some(SnippetToken::Name(member)) = at(k + 1) else { return true };
        k += 2;
        if at(k).is_some_and(|t| t.matches_text("(")) {
            return !(matches!(member, "real" | "imag") && at(k + 1).is_some_and(|t| t.matches_text(")")));
        }
    }
    match at(k) {
        Some(SnippetToken::Punct(p)) if is_member => {
            ASSIGNMENT_OPERATORS.contains(&p) || matches!(p, "++" | "--" | "[" | "->")
        }
        Some(SnippetToken::Punct(p)) => matches!(p, "[" | "->" | "("),
        _ => false,
    }
}

/// Whether `array[i]` at `k` stands alone as an argument of a function that may take a reference, or is
/// bound to one (`T &r = x[i]`).
fn may_bind_reference(tokens: &[SnippetToken<'_>], k: usize, references_possible: bool) -> bool {
    let at = |k: usize| tokens.get(k).copied();
    let before = k.checked_sub(1).and_then(at);
    let after = at(k + 4);
    if before.is_some_and(|t| t.matches_text("="))
        && k >= 3
        && at(k - 3).is_some_and(|t| t.matches_text("&") || t.matches_text("&&"))
    {
        return true;
    }
    let alone = before.is_some_and(|t| t.matches_text("(") || t.matches_text(",") || t.matches_text("{"))
        && after.is_some_and(|t| t.matches_text(")") || t.matches_text(",") || t.matches_text("}"));
    if !alone {
        return false;
    }
    match parenthesis_owner(tokens, k) {
        ParenthesisOwner::None => false,
        ParenthesisOwner::Function(name) => {
            references_possible && !takes_arguments_by_value(name) || modifies_arguments(name)
        }
        ParenthesisOwner::Unknown => true,
    }
}

enum ParenthesisOwner<'a> {
    None,
    Function(&'a str),
    Unknown,
}

/// What the innermost open parenthesis before `k` belongs to.
fn parenthesis_owner<'a>(tokens: &[SnippetToken<'a>], k: usize) -> ParenthesisOwner<'a> {
    let mut depth = 0;
    for j in (0..k).rev() {
        match tokens[j] {
            SnippetToken::Punct(")" | "]" | "}") => depth += 1,
            SnippetToken::Punct("(" | "[" | "{") if depth > 0 => depth -= 1,
            SnippetToken::Punct("(") => {
                return match j.checked_sub(1).map(|j| tokens[j]) {
                    Some(SnippetToken::Name("if" | "while" | "for" | "switch" | "return" | "sizeof")) => {
                        ParenthesisOwner::None
                    }
                    Some(SnippetToken::Name(name)) => ParenthesisOwner::Function(name),
                    // `complex<float>(x[i])`, `f<T>(x[i])`, or `a > (x[i])`: not told apart.
                    Some(SnippetToken::Punct(">" | ")" | "]")) => ParenthesisOwner::Unknown,
                    _ => ParenthesisOwner::None,
                };
            }
            SnippetToken::Punct("[") => return ParenthesisOwner::None,
            SnippetToken::Punct("{") => return ParenthesisOwner::Unknown,
            _ => {}
        }
    }
    ParenthesisOwner::None
}

/// Functions of CUDA and conversions, which take their arguments by value.
fn takes_arguments_by_value(name: &str) -> bool {
    const VALUE_TYPES: [&str; 12] =
        ["float", "double", "int", "unsigned", "long", "short", "char", "bool", "half", "size_t", "signed", "complex"];
    const VALUE_FUNCTIONS: &str = " abs fabs fmax fmin max min pow sqrt rsqrt cbrt rcbrt hypot exp exp2 exp10 expm1 log log2 log10 \
        log1p sin cos tan sinpi cospi asin acos atan atan2 sinh cosh tanh asinh acosh atanh erf erfc erfinv erfcinv erfcx normcdf \
        normcdfinv tgamma lgamma j0 j1 jn y0 y1 yn floor ceil trunc round rint nearbyint fmod remainder fma fdim ldexp copysign \
        nextafter ilogb logb signbit isnan isinf isfinite real imag conj norm arg polar llrint lrint lround llround scalbn \
        fdividef saturate float2half half2float int2float popc clz ffs brev mul24 umulhi mulhi make_float2 make_float3 make_float4 \
        make_double2 make_int2 make_int4 printf min max expf ";
    let bare = name.trim_start_matches('_').trim_end_matches("_rn");
    let without_suffix = bare.strip_suffix('f').unwrap_or(bare);
    VALUE_TYPES.contains(&name)
        || [bare, without_suffix].iter().any(|n| VALUE_FUNCTIONS.contains(&format!(" {n} ")) && !n.is_empty())
}

/// Functions of C++ that change what they are given.
fn modifies_arguments(name: &str) -> bool {
    matches!(name, "swap" | "exchange" | "ref" | "atomic_ref" | "addressof" | "move" | "forward" | "tie")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ElementUse::*;

    fn element_uses_of_z_and_x(text: &str) -> [ElementUse; 2] {
        ["z", "x"].map(|array| classify_element_use(text, array, true))
    }

    #[test]
    fn tokens_leave_comments_out_and_literals_whole() {
        let text: Vec<_> = tokenize("x[i]/*y[i]*/ += 1.5e-3f; // z\n s = \"x[i]\\\"\" >>= 'a'").into_iter().collect();
        let shown: Vec<_> = text
            .iter()
            .map(|t| match t {
                SnippetToken::Name(t) | SnippetToken::Literal(t) | SnippetToken::Punct(t) => *t,
            })
            .collect();
        assert_eq!(shown, ["x", "[", "i", "]", "+=", "1.5e-3f", ";", "s", "=", "\"x[i]\\\"\"", ">>=", "'a'"]);
    }

    #[test]
    fn elements_are_read_assigned_or_changed() {
        assert_eq!(element_uses_of_z_and_x("z[i] = a*x[i] + b"), [Assigned, Read]);
        assert_eq!(element_uses_of_z_and_x("z[i] = sinf(x[i])"), [Assigned, Read]);
        assert_eq!(element_uses_of_z_and_x("z[i] += x[i]"), [Changed, Read]);
        assert_eq!(element_uses_of_z_and_x("z[i] = z[i] * x[i]"), [Changed, Read]);
        assert_eq!(element_uses_of_z_and_x("if (x[i] > 0) z[i] = 1"), [Changed, Read]);
        assert_eq!(element_uses_of_z_and_x("float t = x[i]; z[i] = t; z[i] += 1"), [Assigned, Read]);
        assert_eq!(element_uses_of_z_and_x("for (int k = 0; k < 3; ++k) z[i] = x[i]"), [Changed, Read]);
        assert_eq!(element_uses_of_z_and_x("z[i] = x[i].real() + x[i].y"), [Assigned, Read]);
        assert_eq!(element_uses_of_z_and_x("z[i] = pow(x[i], 2) + a"), [Assigned, Read]);
        assert_eq!(element_uses_of_z_and_x("z[i] = a & x[i]"), [Assigned, Read]);
        assert_eq!(element_uses_of_z_and_x("a"), [Unused, Unused]);
    }

    #[test]
    fn what_may_change_an_element_counts_as_change() {
        assert_eq!(element_uses_of_z_and_x("z[i] = mine(x[i])"), [Assigned, Changed]);
        assert_eq!(classify_element_use("z[i] = mine(x[i])", "x", false), Read);
        assert_eq!(element_uses_of_z_and_x("swap(z[i], x[i])"), [Changed, Changed]);
        assert_eq!(element_uses_of_z_and_x("x[i].y = 1; z[i].scale(2)"), [Changed, Changed]);
        assert_eq!(element_uses_of_z_and_x("z[i] = x[i]++"), [Assigned, Changed]);
        assert_eq!(element_uses_of_z_and_x("float &r = x[i]; r = 1; z[i] = 2"), [Assigned, Changed]);
    }

    #[test]
    fn other_indices_and_addresses_are_other_uses() {
        for text in [
            "z[i] = x[i + 1]",
            "z[i] = x[0]",
            "z[i] = *x",
            "z[i] = f(x, i)",
            "atomicAdd(&x[i], 1)",
            "z[i] = (x)[i]",
            "z[i] = *(x + i)",
            "float x[i]; z[i] = 1",
            "z[i] = s.x[i]",
        ] {
            assert_eq!(classify_element_use(text, "x", true), Other, "{text}");
        }
    }

    #[test]
    fn jumps_and_index_changes_are_detected() {
        assert!(analyze_control_flow("if (x[i]) return; z[i] = 1").jumps);
        assert!(
            analyze_control_flow("i += 1").changes_index
                && analyze_control_flow("for (int i = 0; i < 3; ++i) ;").changes_index
                && analyze_control_flow("f(&i)").changes_index
        );
        assert!(!analyze_control_flow("z[i] = i * 2 == i").changes_index);
        assert!(
            analyze_control_flow("z[i] = x[i];").single_statement
                && !analyze_control_flow("z[i] = 1; y[i] = x[i]").single_statement
        );
    }
}
