//! Headers that NVRTC lacks: the C library's, parts of C++'s, and `pycuda-complex.hpp`.
//!
//! They are compiled into this crate and passed to NVRTC as virtual files, so that no directory has to be found or
//! written. A header of the same name in a user's directory takes precedence.

use crate::hash::fnv1a;
use crate::implicit_includes;
use crate::source_tokens::{TextOrMacro, split_text_and_macros};
use rtcg_c_lex::Token;

macro_rules! define_shim_headers {
    ($($name:literal = $file:literal,)*) => {
        const SHIM_HEADERS: &[(&str, &str)] = &[$(($name, include_str!(concat!("headers/", $file))),)*];
    };
}

define_shim_headers! {
    "algorithm" = "algorithm",
    "assert.h" = "assert.h",
    "cassert" = "assert.h",
    "cfloat" = "float.h",
    "cinttypes" = "inttypes.h",
    "climits" = "limits.h",
    "cmath" = "math.h",
    "cstdarg" = "stdarg.h",
    "cstddef" = "stddef.h",
    "cstdint" = "stdint.h",
    "cstdio" = "stdio.h",
    "cstdlib" = "stdlib.h",
    "cstring" = "string.h",
    "ctime" = "time.h",
    "device_functions.h" = "empty.h",
    "float.h" = "float.h",
    "functional" = "functional",
    "host_defines.h" = "empty.h",
    "inttypes.h" = "inttypes.h",
    "iostream" = "iostream",
    "limits" = "limits",
    "limits.h" = "limits.h",
    "malloc.h" = "stdlib.h",
    "math.h" = "math.h",
    "math_functions.h" = "math.h",
    "memory.h" = "string.h",
    "new" = "new",
    "pycuda-complex-impl.hpp" = "pycuda-complex-impl.hpp",
    "pycuda-complex.hpp" = "pycuda-complex.hpp",
    "pycuda-helpers.hpp" = "pycuda-helpers.hpp",
    "rtcg-strlen.h" = "strlen.h",
    "stdarg.h" = "stdarg.h",
    "stdbool.h" = "stdbool.h",
    "stddef.h" = "stddef.h",
    "stdint.h" = "stdint.h",
    "stdio.h" = "stdio.h",
    "stdlib.h" = "stdlib.h",
    "string.h" = "string.h",
    "sys/types.h" = "types.h",
    "texture-references.hpp" = "texture-references.hpp",
    "thrust/complex.h" = "thrust/complex.h",
    "time.h" = "time.h",
    "type_traits" = "type_traits",
    "utility" = "utility",
}

/// Headers of the CUDA toolkit that a kernel can do without: NVRTC has what they declare built in.
/// Used only where no toolkit header of the name is found.
const FALLBACK_HEADERS: &[(&str, &str)] = &[
    ("builtin_types.h", EMPTY_HEADER),
    ("cuda_runtime.h", EMPTY_HEADER),
    ("cuda_runtime_api.h", EMPTY_HEADER),
    ("cuda.h", EMPTY_HEADER),
    ("device_launch_parameters.h", EMPTY_HEADER),
    ("device_types.h", EMPTY_HEADER),
    ("driver_types.h", EMPTY_HEADER),
    ("math_constants.h", include_str!("headers/math_constants.h")),
    ("sm_20_intrinsics.h", EMPTY_HEADER),
    ("sm_30_intrinsics.h", EMPTY_HEADER),
    ("sm_35_intrinsics.h", EMPTY_HEADER),
    ("sm_60_atomic_functions.h", EMPTY_HEADER),
    ("texture_fetch_functions.h", EMPTY_HEADER),
    ("texture_types.h", EMPTY_HEADER),
    ("vector_functions.h", EMPTY_HEADER),
    ("vector_types.h", EMPTY_HEADER),
];

const EMPTY_HEADER: &str = include_str!("headers/empty.h");

/// A number that changes when any text this crate adds to a compilation changes.
pub(crate) const SHIMS_HASH: u64 = {
    let mut state = 0xcbf2_9ce4_8422_2325;
    let mut i = 0;
    while i < SHIM_HEADERS.len() {
        state = fnv1a(SHIM_HEADERS[i].1.as_bytes(), fnv1a(SHIM_HEADERS[i].0.as_bytes(), state));
        i += 1;
    }
    i = 0;
    while i < FALLBACK_HEADERS.len() {
        state = fnv1a(FALLBACK_HEADERS[i].1.as_bytes(), fnv1a(FALLBACK_HEADERS[i].0.as_bytes(), state));
        i += 1;
    }
    state = fnv1a(TEXTURE_REFERENCES.as_bytes(), state);
    state = fnv1a(implicit_includes::IMPLICIT_MACROS.as_bytes(), state);
    fnv1a(include_bytes!("implicit_includes.rs"), state)
};

/// The header of this name that goes before a toolkit's.
pub(crate) fn find_shim(name: &str) -> Option<&'static str> {
    SHIM_HEADERS.binary_search_by_key(&name, |h| h.0).ok().map(|at| SHIM_HEADERS[at].1)
}

/// The header of this name for a machine without a toolkit.
pub(crate) fn find_fallback(name: &str) -> Option<&'static str> {
    FALLBACK_HEADERS.iter().find(|h| h.0 == name).map(|h| h.1)
}

/// The names of all headers that work without a toolkit.
pub fn shim_names() -> impl Iterator<Item = &'static str> {
    SHIM_HEADERS.iter().chain(FALLBACK_HEADERS).map(|h| h.0)
}

/// The declarations of references, if a program made of these user-written texts has any.
pub(crate) fn texture_reference_declarations(texts: &[&str]) -> &'static str {
    let is_used = |name: &&str| {
        texts.iter().any(|t| uses_template(t, name)) && !texts.iter().any(|t| implicit_includes::defines_type(t, name))
    };
    if ["texture", "surface"].iter().any(is_used) { TEXTURE_REFERENCES } else { "" }
}

/// `texture<...>` and `surface<...>`, which compilers since CUDA 12 do not know.
const TEXTURE_REFERENCES: &str = include_str!("headers/texture-references.hpp");

/// The source with the word `static` blanked where it stands before a texture or surface reference:
/// the variable must be seen from outside, and nothing is distinguished by it.
pub(crate) fn remove_static_from_references(source: &str) -> std::borrow::Cow<'_, str> {
    let mut text = std::borrow::Cow::Borrowed(source);
    for (at, word) in source.match_indices("static") {
        let rest = source[at + word.len()..].trim_start();
        let is_reference = ["texture", "surface"]
            .iter()
            .any(|name| rest.strip_prefix(name).is_some_and(|after| after.trim_start().starts_with('<')));
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        if is_reference && !source[..at].ends_with(is_word) && rest.len() < source.len() - at - word.len() {
            text.to_mut().replace_range(at..at + word.len(), "      ");
        }
    }
    text
}

/// The source with `__device__` before each variable that is a reference. NVRTC is told to take all for the device's,
/// nvcc would take them for the host's.
pub(crate) fn add_device_to_references(source: &str) -> String {
    let (mut text, mut copied) = (String::with_capacity(source.len()), 0);
    for piece in split_text_and_macros(source) {
        let TextOrMacro::Text(tokens) = piece else { continue };
        for at in 0..tokens.len() {
            let before = at.checked_sub(1).map_or(";", |before| tokens[before].text);
            let stands_alone = matches!(before, ";" | "{" | "}" | "static" | "extern") || before.starts_with('#');
            if stands_alone && is_reference_variable(&tokens[at..]) {
                text.push_str(&source[copied..tokens[at].at]);
                text.push_str("__device__ ");
                copied = tokens[at].at;
            }
        }
    }
    text + &source[copied..]
}

/// Whether tokens begin `texture<...> name;` or `surface<...> name, ...;`.
fn is_reference_variable(tokens: &[Token<'_>]) -> bool {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text);
    if !matches!(text(0), "texture" | "surface") || text(1) != "<" {
        return false;
    }
    let mut depth = 0usize;
    let end = tokens.iter().take(64).position(|token| {
        depth += usize::from(token.text == "<");
        depth -= usize::from(token.text == ">" && depth > 0);
        token.text == ">" && depth == 0
    });
    end.is_some_and(|end| matches!(text(end + 2), ";" | ","))
}

/// Whether the source has the word `name` before a `<`.
fn uses_template(source: &str, name: &str) -> bool {
    source.match_indices(name).any(|(at, _)| {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        !source[..at].ends_with(is_word) && source[at + name.len()..].trim_start().starts_with('<')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn static_is_removed_from_texture_references() {
        let blank = |source| remove_static_from_references(source).into_owned();
        assert_eq!(blank("static texture<float, 2> t;"), "       texture<float, 2> t;");
        assert_eq!(blank("static  surface <void> s; static int i;"), "        surface <void> s; static int i;");
        assert_eq!(blank("int nonstatic texture<1>; statictexture<2>;"), "int nonstatic texture<1>; statictexture<2>;");
    }

    #[test]
    fn texture_references_for_nvcc_are_device_variables() {
        let source = "texture<float, 2> a; // texture<int> b;\nextern \"C\" { static surface<void, 2> c, d;\n\
                      __device__ float f(texture<float, 2> t, int x) { return tex2D(t, x); } }";
        let expected = source.replace("texture<float, 2> a", "__device__ texture<float, 2> a");
        assert_eq!(add_device_to_references(source), expected.replace("surface<", "__device__ surface<"));
        assert_eq!(add_device_to_references("__device__ texture<int> t;"), "__device__ texture<int> t;");
    }

    #[test]
    fn header_names_are_sorted_for_the_search() {
        assert!(SHIM_HEADERS.windows(2).all(|w| w[0].0 < w[1].0));
        assert!(shim_names().all(|n| find_shim(n).or_else(|| find_fallback(n)).is_some()));
    }

    #[test]
    fn texture_references_are_declared_where_used() {
        assert!(texture_reference_declarations(&["texture <float, 2> tex;"]).contains("struct texture"));
        assert_eq!(texture_reference_declarations(&["cudaTextureObject_t texture; bool b = my_texture<3>(1);"]), "");
        assert_eq!(texture_reference_declarations(&["template <class T> struct texture {}; texture<float> t;"]), "");
    }
}
