//! Finds which kernels read which texture references, from the source's tokens.
//!
//! Like `signature`, this is not a C++ parser: a reference counts as read if its name is the first argument of a
//! function whose name begins like a texture fetch, in the kernel itself or in a function that it calls by name. It
//! does not find uses hidden behind macros with arguments.

use std::collections::{HashMap, HashSet};

/// Words that stand before parentheses and call nothing.
const NON_CALL_KEYWORDS: [&str; 6] = ["if", "for", "while", "switch", "return", "sizeof"];

/// What the body of a function has.
#[derive(Default)]
struct FunctionBody {
    calls: HashSet<String>,
    textures: HashSet<String>,
}

/// The texture references that each function reads, itself or through others.
#[derive(Default)]
pub(crate) struct TextureUses(HashMap<String, FunctionBody>);

impl TextureUses {
    pub(crate) fn parse_tokens(tokens: &[String]) -> Self {
        let references = texture_references(tokens);
        let mut bodies: HashMap<String, FunctionBody> = HashMap::new();
        if references.is_empty() {
            return Self(bodies);
        }
        for at in 0..tokens.len() {
            if let Some((open, close)) = function_body_range(tokens, at) {
                let body = bodies.entry(tokens[at].clone()).or_default();
                (open..close).for_each(|at| body.record_token(tokens, at, &references));
            }
        }
        Self(bodies)
    }

    /// The references that `function` reads, in alphabetical order.
    pub(crate) fn references_read_by(&self, function: &str) -> Vec<String> {
        let (mut seen, mut waiting) = (HashSet::new(), vec![function]);
        let mut found = HashSet::new();
        while let Some(body) = waiting.pop().and_then(|name| self.0.get_key_value(name)) {
            let (name, body) = body;
            if seen.insert(name.as_str()) {
                found.extend(body.textures.iter().cloned());
                waiting.extend(body.calls.iter().map(String::as_str).filter(|call| self.0.contains_key(*call)));
            }
        }
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort();
        found
    }
}

impl FunctionBody {
    fn record_token(&mut self, tokens: &[String], at: usize, references: &HashSet<String>) {
        let token = |at: usize| tokens.get(at).map_or("", String::as_str);
        if token(at + 1) == "(" && is_function_name(token(at)) {
            self.calls.insert(tokens[at].clone());
        }
        if token(at) == "(" && references.contains(token(at + 1)) && is_texture_fetch(tokens, at) {
            self.textures.insert(tokens[at + 1].clone());
        }
    }
}

/// Whether the parenthesis at `at` is that of a texture fetch, perhaps `tex2D<float>(`.
fn is_texture_fetch(tokens: &[String], at: usize) -> bool {
    let mut before = at;
    if before > 0 && tokens[before - 1] == ">" {
        before = tokens[..before].iter().rposition(|token| token == "<").unwrap_or(0);
    }
    let name = before.checked_sub(1).map_or("", |at| tokens[at].as_str());
    name.trim_start_matches("fp_").starts_with("tex")
}

/// The variables that are declared `texture<...> name;`.
fn texture_references(tokens: &[String]) -> HashSet<String> {
    let mut found = HashSet::new();
    for at in 0..tokens.len() {
        if tokens[at] != "texture" || tokens.get(at + 1).is_none_or(|next| next != "<") {
            continue;
        }
        let Some(end) = matching_bracket(tokens, at + 1, "<", ">") else { continue };
        let rest = &tokens[end + 1..];
        let names = &rest[..rest.iter().position(|token| token == ";").unwrap_or(0)];
        // Anything else is a parameter or a function.
        if names.iter().enumerate().all(|(i, token)| if i % 2 == 0 { is_function_name(token) } else { token == "," }) {
            found.extend(names.iter().step_by(2).cloned());
        }
    }
    found
}

/// Where the body of the function whose definition names it at `at` begins and ends.
fn function_body_range(tokens: &[String], at: usize) -> Option<(usize, usize)> {
    let is_definition = is_function_name(&tokens[at]) && tokens.get(at + 1)? == "(";
    let close = if is_definition { matching_bracket(tokens, at + 1, "(", ")")? } else { return None };
    let open = (tokens.get(close + 1)? == "{").then_some(close + 1)?;
    Some((open, matching_bracket(tokens, open, "{", "}")?))
}

fn is_function_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_') && !NON_CALL_KEYWORDS.contains(&token)
}

/// The bracket that closes the one at `open`.
fn matching_bracket(tokens: &[String], open: usize, opens: &str, closes: &str) -> Option<usize> {
    let mut depth = 0usize;
    (open..tokens.len()).find(|&at| {
        depth += usize::from(tokens[at] == opens);
        depth -= usize::from(tokens[at] == closes);
        depth == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declaration_tokens::declaration_tokens;

    #[test]
    fn kernels_read_references_themselves_and_through_functions() {
        let source = "
            texture<float, 2, cudaReadModeElementType> image; texture<fp_tex_double> a, b;
            // tex2D(image, 0, 0) in a comment
            __device__ float at(int x) { return tex2D(image, x, 0); }
            __device__ float twice(int x) { if (x) { return 2 * at(x); } return twice(x + 1); }
            template <class T> __device__ T fetch(texture<T> t, int x) { return tex1Dfetch(t, x); }
            __global__ void direct(double *z) { z[0] = fp_tex1Dfetch(a, 0) + tex1Dfetch<double>(b, 1); }
            __global__ void through(float *z) { z[0] = twice(3); }
            __global__ void neither(float *image) { z[0] = image[3]; neither2(image); }
        ";
        let uses = TextureUses::parse_tokens(&declaration_tokens(source, &[]));
        assert_eq!(uses.references_read_by("direct"), ["a", "b"]);
        assert_eq!(uses.references_read_by("through"), ["image"]);
        assert_eq!(uses.references_read_by("neither"), [""; 0]);
        assert_eq!(uses.references_read_by("fetch"), [""; 0]);
        assert_eq!(
            TextureUses::parse_tokens(&declaration_tokens("__global__ void f() { tex2D(t, 0, 0); }", &[]))
                .references_read_by("f"),
            [""; 0]
        );
    }
}
