//! Headers that NVRTC does not know: the C library's, parts of C++'s, and `pycuda-complex.hpp`.
//!
//! They are compiled into this crate and handed to NVRTC as virtual files, so that no directory
//! has to be found or written. A header of the same name in a directory of the user's wins.

use crate::hash::fnv;

macro_rules! headers {
    ($($name:literal = $file:literal,)*) => {
        const HEADERS: &[(&str, &str)] = &[$(($name, include_str!(concat!("headers/", $file))),)*];
    };
}

headers! {
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
    "stdarg.h" = "stdarg.h",
    "stdbool.h" = "stdbool.h",
    "stddef.h" = "stddef.h",
    "stdint.h" = "stdint.h",
    "stdio.h" = "stdio.h",
    "stdlib.h" = "stdlib.h",
    "string.h" = "string.h",
    "sys/types.h" = "types.h",
    "texture-references.hpp" = "texture-references.hpp",
    "time.h" = "time.h",
    "type_traits" = "type_traits",
    "utility" = "utility",
}

/// Headers of the CUDA toolkit that a kernel can do without: NVRTC has what they declare built in.
/// Used only where no toolkit header of the name is found.
const FALLBACKS: &[(&str, &str)] = &[
    ("builtin_types.h", EMPTY),
    ("cuda_runtime.h", EMPTY),
    ("cuda_runtime_api.h", EMPTY),
    ("cuda.h", EMPTY),
    ("device_launch_parameters.h", EMPTY),
    ("device_types.h", EMPTY),
    ("driver_types.h", EMPTY),
    ("math_constants.h", include_str!("headers/math_constants.h")),
    ("sm_20_intrinsics.h", EMPTY),
    ("sm_30_intrinsics.h", EMPTY),
    ("sm_35_intrinsics.h", EMPTY),
    ("sm_60_atomic_functions.h", EMPTY),
    ("texture_fetch_functions.h", EMPTY),
    ("texture_types.h", EMPTY),
    ("vector_functions.h", EMPTY),
    ("vector_types.h", EMPTY),
];

const EMPTY: &str = include_str!("headers/empty.h");

/// What nvcc's implicit `#include <cuda_runtime.h>` brings into every source and NVRTC does not:
/// each piece is left out when the source defines the name itself.
const PRELUDE: &[(&str, &str)] = &[
    ("uint", "typedef unsigned int uint;"),
    ("ushort", "typedef unsigned short ushort;"),
    ("ulong", "typedef unsigned long ulong;"),
    ("int8_t", "typedef signed char int8_t;"),
    ("int16_t", "typedef short int16_t;"),
    ("int32_t", "typedef int int32_t;"),
    ("int64_t", "typedef long long int64_t;"),
    ("uint8_t", "typedef unsigned char uint8_t;"),
    ("uint16_t", "typedef unsigned short uint16_t;"),
    ("uint32_t", "typedef unsigned int uint32_t;"),
    ("uint64_t", "typedef unsigned long long uint64_t;"),
    ("uintptr_t", "typedef unsigned long long uintptr_t;"),
    ("intptr_t", "typedef long long intptr_t;"),
    ("INFINITY", "\n#define INFINITY (__int_as_float(0x7f800000))\n"),
    ("NAN", "\n#define NAN (__int_as_float(0x7fc00000))\n"),
    ("HUGE_VAL", "\n#define HUGE_VAL (__longlong_as_double(0x7ff0000000000000LL))\n#define HUGE_VALF INFINITY\n"),
    ("M_PI", MATH_CONSTANTS),
];

const MATH_CONSTANTS: &str = "
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
";

/// A number that changes when any text this crate adds to a compilation changes.
pub(crate) const IDENTITY: u64 = {
    let mut state = 0xcbf2_9ce4_8422_2325;
    let mut i = 0;
    while i < HEADERS.len() {
        state = fnv(HEADERS[i].1.as_bytes(), fnv(HEADERS[i].0.as_bytes(), state));
        i += 1;
    }
    i = 0;
    while i < FALLBACKS.len() {
        state = fnv(FALLBACKS[i].1.as_bytes(), fnv(FALLBACKS[i].0.as_bytes(), state));
        i += 1;
    }
    i = 0;
    while i < PRELUDE.len() {
        state = fnv(PRELUDE[i].1.as_bytes(), fnv(PRELUDE[i].0.as_bytes(), state));
        i += 1;
    }
    state
};

/// The header of this name that goes before a toolkit's.
pub(crate) fn find(name: &str) -> Option<&'static str> {
    HEADERS.binary_search_by_key(&name, |h| h.0).ok().map(|at| HEADERS[at].1)
}

/// The header of this name for a machine without a toolkit.
pub(crate) fn find_fallback(name: &str) -> Option<&'static str> {
    FALLBACKS.iter().find(|h| h.0 == name).map(|h| h.1)
}

/// The names of all headers that need no toolkit.
pub fn names() -> impl Iterator<Item = &'static str> {
    HEADERS.iter().chain(FALLBACKS).map(|h| h.0)
}

/// The declarations to put before a program made of these user-written texts. A typedef repeated
/// with the same type is legal, so that including `<stdint.h>` later is harmless.
pub(crate) fn prelude(texts: &[&str]) -> String {
    let mut prelude = String::new();
    for (name, declaration) in PRELUDE {
        let trigger = if *name == "M_PI" { "M_" } else { name };
        if texts.iter().any(|t| t.contains(trigger)) && !texts.iter().any(|t| defines(t, name)) {
            prelude.push_str(declaration);
        }
    }
    if ["texture", "surface"]
        .iter()
        .any(|name| texts.iter().any(|t| names_template(t, name)) && !texts.iter().any(|t| defines(t, name)))
    {
        prelude.push('\n');
        prelude.push_str(TEXTURE_REFERENCES);
    }
    prelude
}

/// `texture<...>` and `surface<...>`, which compilers since CUDA 12 do not know.
const TEXTURE_REFERENCES: &str = include_str!("headers/texture-references.hpp");

/// The source with the word `static` blanked where it stands before a texture or surface reference:
/// the variable must be seen from outside, and nothing is told apart by it.
pub(crate) fn without_static(source: &str) -> std::borrow::Cow<'_, str> {
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

/// Whether the source has the word `name` before a `<`.
fn names_template(source: &str, name: &str) -> bool {
    source.match_indices(name).any(|(at, _)| {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        !source[..at].ends_with(is_word) && source[at + name.len()..].trim_start().starts_with('<')
    })
}

/// Whether the source seems to define `name`: `... name;` after `typedef`, `using name`,
/// `#define name`, `struct name`. Guessing "yes" wrongly only leaves a convenience out.
fn defines(source: &str, name: &str) -> bool {
    source.match_indices(name).any(|(at, _)| {
        let (before, after) = (&source[..at], &source[at + name.len()..]);
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        if before.ends_with(is_word) || after.starts_with(is_word) {
            return false;
        }
        let statement = &before[before.rfind([';', '{', '}']).map_or(0, |i| i + 1)..];
        let previous = before.trim_end().rsplit(|c: char| !is_word(c)).next().unwrap_or("");
        (statement.contains("typedef") && after.trim_start().starts_with(';'))
            || matches!(previous, "define" | "using" | "struct" | "class" | "enum" | "union")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_lose_the_word_static() {
        let blank = |source| without_static(source).into_owned();
        assert_eq!(blank("static texture<float, 2> t;"), "       texture<float, 2> t;");
        assert_eq!(blank("static  surface <void> s; static int i;"), "        surface <void> s; static int i;");
        assert_eq!(blank("int nonstatic texture<1>; statictexture<2>;"), "int nonstatic texture<1>; statictexture<2>;");
    }

    #[test]
    fn header_names_are_sorted_for_the_search() {
        assert!(HEADERS.windows(2).all(|w| w[0].0 < w[1].0));
        assert!(names().all(|n| find(n).or_else(|| find_fallback(n)).is_some()));
    }

    #[test]
    fn prelude_leaves_out_what_the_source_defines() {
        assert!(prelude(&["__global__ void f(uint *a) {}"]).contains("typedef unsigned int uint;"));
        assert_eq!(prelude(&["typedef unsigned   uint;\n__global__ void f(uint *a) {}"]), "");
        assert_eq!(prelude(&["using uint = unsigned; uint x;"]), "");
        assert_eq!(prelude(&["#define M_PI 3.14f\nfloat x = M_PI;"]), "");
        assert!(prelude(&["float x = M_PI;"]).contains("#define M_PI 3.14159"));
        assert!(!prelude(&["int x;"]).contains("uint"));
        assert!(prelude(&["texture <float, 2> tex;"]).contains("struct texture"));
        assert_eq!(prelude(&["cudaTextureObject_t texture; bool b = my_texture<3>(1);"]), "");
        assert_eq!(prelude(&["template <class T> struct texture {}; texture<float> t;"]), "");
    }
}
