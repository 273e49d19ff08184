//! Declarations of kernels: the names and types of their parameters, read from the source.
//!
//! This is not a C++ parser. It finds `__global__` and reads the parameter list after it; it understands macros without
//! arguments, typedefs and `using`, and gives anything else an unknown type. Callers compare the result with what the
//! driver reports about the kernel. It does not find kernels that macros with arguments produce, and reports nothing
//! for a name with several parameter lists.

use crate::declaration_tokens::{UNKNOWN_TYPE, declaration_tokens};
use crate::texture_uses::TextureUses;
use std::collections::{HashMap, HashSet};

/// A parameter of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelParameter {
    /// The type without pointers and qualifiers, typedefs resolved: `unsigned int`. Empty if it cannot be parsed.
    pub base: String,
    /// The number of pointer levels.
    pub pointers: usize,
    /// The whole type as written: `const float *`.
    pub c_type: String,
    /// The name, if it has one.
    pub name: Option<String>,
}

/// The kernels of a source by plain name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct KernelDeclarations {
    kernels: HashMap<String, Option<Vec<KernelParameter>>>,
    /// The texture references that each reads, where there are any.
    textures: HashMap<String, Vec<String>>,
}

impl KernelDeclarations {
    /// Parses a source that was compiled with `options`, of which only `-D` matters.
    pub fn parse_source(source: &str, options: &[String]) -> Self {
        if !source.contains("__global__") && !options.iter().any(|option| option.contains("__global__")) {
            return Self::default();
        }
        SignatureReader::new(declaration_tokens(source, &macros_from_options(options))).read_declarations()
    }

    /// The parameters of the kernel with this plain or mangled name.
    pub fn params_of_kernel(&self, name: &str) -> Option<&[KernelParameter]> {
        let found = self.kernels.get(name).or_else(|| self.kernels.get(demangle_simple_name(name)?));
        found?.as_deref()
    }

    /// The texture references (`texture<float> t;`) that the kernel with this name certainly reads.
    pub fn textures_of_kernel(&self, name: &str) -> &[String] {
        let found = self.textures.get(name).or_else(|| self.textures.get(demangle_simple_name(name)?));
        found.map_or(&[], Vec::as_slice)
    }
}

/// The values of `-DNAME=value`, `-D NAME` and their like.
fn macros_from_options(options: &[String]) -> Vec<String> {
    let mut macros = Vec::new();
    let mut options = options.iter();
    while let Some(option) = options.next() {
        match option.strip_prefix("--define-macro").or_else(|| option.strip_prefix("-D")) {
            Some("") => macros.extend(options.next().cloned()),
            Some(text) => macros.push(text.trim_start_matches('=').to_owned()),
            None => {}
        }
    }
    macros
}

/// `f` of `_Z1fPf`: a function outside of namespaces.
fn demangle_simple_name(mangled: &str) -> Option<&str> {
    let rest = mangled.strip_prefix("_Z")?;
    let digits = rest.find(|c: char| !c.is_ascii_digit())?;
    let length: usize = rest[..digits].parse().ok()?;
    rest.get(digits..digits.checked_add(length)?)
}

/// Words that may stand before a declarator and change nothing here.
const IGNORED_QUALIFIERS: [&str; 12] = [
    "const",
    "volatile",
    "__restrict__",
    "__restrict",
    "restrict",
    "__grid_constant__",
    "register",
    "struct",
    "class",
    "enum",
    "typename",
    "constexpr",
];

/// Words that types are made of, and that so are no names.
const TYPE_WORDS: [&str; 10] =
    ["void", "bool", "char", "short", "int", "long", "signed", "unsigned", "float", "double"];

/// Namespaces in which types of the C library and of complex numbers live also.
const STD_NAMESPACES: [&str; 3] = ["cuda::std::", "std::", "thrust::"];

struct SignatureReader {
    tokens: Vec<String>,
    /// What a name of a type stands for; `None` where it has two meanings.
    aliases: HashMap<String, Option<(String, usize)>>,
    /// Names that the source gives a meaning of its own: its structures and template parameters.
    own: HashSet<String>,
}

impl SignatureReader {
    fn new(tokens: Vec<String>) -> Self {
        Self { tokens, aliases: HashMap::new(), own: HashSet::new() }
    }

    fn token_at(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", String::as_str)
    }

    fn read_declarations(mut self) -> KernelDeclarations {
        self.collect_type_names();
        let mut kernels: HashMap<String, Option<Vec<KernelParameter>>> = HashMap::new();
        for at in 0..self.tokens.len() {
            if self.tokens[at] != "__global__" {
                continue;
            }
            let Some((name, params)) = self.read_kernel(at + 1) else { continue };
            let known = kernels.entry(name).or_insert_with(|| Some(params.clone()));
            // A prototype may name its parameters otherwise.
            let same = known.as_ref().is_some_and(|known| {
                let types =
                    |list: &[KernelParameter]| list.iter().map(|p| (p.base.clone(), p.pointers)).collect::<Vec<_>>();
                types(known) == types(&params)
            });
            if same { *known = Some(params) } else { *known = None }
        }
        let uses = TextureUses::parse_tokens(&self.tokens);
        let textures = kernels.keys().map(|kernel| (kernel.clone(), uses.references_read_by(kernel)));
        let textures = textures.filter(|(_, textures)| !textures.is_empty()).collect();
        KernelDeclarations { kernels, textures }
    }

    /// Collects typedefs, `using`, structures and template parameters.
    fn collect_type_names(&mut self) {
        for at in 0..self.tokens.len() {
            match self.token_at(at) {
                "struct" | "class" | "union" | "enum" if matches!(self.token_at(at + 2), "{" | ":") => {
                    self.own.insert(self.token_at(at + 1).to_owned());
                }
                "typename" | "class" if matches!(self.token_at(at + 2), "," | ">" | "=") => {
                    self.own.insert(self.token_at(at + 1).to_owned());
                }
                "typedef" => self.add_typedef_alias(at + 1),
                "using" if self.token_at(at + 2) == "=" => {
                    let end = self.end_of_statement(at + 3);
                    let declared = self.read_parameter(&self.tokens[at + 3..end]);
                    let whole = declared.name.is_none();
                    self.add_alias(
                        self.token_at(at + 1).to_owned(),
                        whole.then_some((declared.base, declared.pointers)),
                    );
                }
                _ => {}
            }
        }
    }

    fn end_of_statement(&self, from: usize) -> usize {
        let mut depth = 0i32;
        let end = (from..self.tokens.len()).find(|&at| {
            depth += i32::from(self.token_at(at) == "{") - i32::from(self.token_at(at) == "}");
            depth < 0 || (depth == 0 && self.token_at(at) == ";")
        });
        end.unwrap_or(self.tokens.len())
    }

    fn add_typedef_alias(&mut self, from: usize) {
        let end = self.end_of_statement(from);
        let statement = &self.tokens[from..end];
        if statement.iter().any(|t| matches!(t.as_str(), "{" | "(" | "," | "[")) {
            // A structure, a function or several names: what they stand for is not asked.
            if let Some(close) = statement.iter().rposition(|t| t == "}") {
                self.own.extend(statement[close + 1..].iter().cloned());
            } else {
                self.own.extend(statement.iter().filter(|t| !TYPE_WORDS.contains(&t.as_str())).cloned());
            }
            return;
        }
        let declared = self.read_parameter(statement);
        // A typedef of a known name to itself (`typedef unsigned uint;`) has a name of that kind too.
        if let Some(name) = declared.name {
            self.add_alias(name, Some((declared.base, declared.pointers)));
        }
    }

    fn add_alias(&mut self, name: String, meaning: Option<(String, usize)>) {
        let known = self.aliases.entry(name).or_insert_with(|| meaning.clone());
        if *known != meaning {
            *known = None;
        }
    }

    /// The kernel whose `__global__` is before `at`.
    fn read_kernel(&self, mut at: usize) -> Option<(String, Vec<KernelParameter>)> {
        loop {
            match self.token_at(at) {
                "" | ";" | "{" | "}" | "=" | UNKNOWN_TYPE => return None,
                "(" => {
                    let name = self.token_at(at.checked_sub(1)?);
                    let end = self.closing_parenthesis(at)?;
                    if is_attribute(name) {
                        at = end + 1;
                        continue;
                    }
                    let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
                    return is_name.then(|| (name.to_owned(), self.read_parameters(&self.tokens[at + 1..end])));
                }
                _ => at += 1,
            }
        }
    }

    /// The parenthesis that closes the one at `open`.
    fn closing_parenthesis(&self, open: usize) -> Option<usize> {
        let mut depth = 0usize;
        (open..self.tokens.len()).find(|&at| {
            match self.token_at(at) {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
            depth == 0
        })
    }

    fn read_parameters(&self, tokens: &[String]) -> Vec<KernelParameter> {
        let mut params = Vec::new();
        let (mut depth, mut start) = (0i32, 0);
        for (at, token) in tokens.iter().enumerate() {
            match token.as_str() {
                "(" | "<" | "[" | "{" => depth += 1,
                ")" | ">" | "]" | "}" => depth -= 1,
                "," if depth == 0 => {
                    params.push(self.read_parameter(&tokens[start..at]));
                    start = at + 1;
                }
                _ => {}
            }
        }
        let last = &tokens[start..];
        let is_empty = last.is_empty() || (params.is_empty() && last == ["void"]);
        if !is_empty {
            params.push(self.read_parameter(last));
        }
        params
    }

    /// Reads one declaration, `const float *__restrict__ x = 0`.
    fn read_parameter(&self, tokens: &[String]) -> KernelParameter {
        let end = tokens.iter().position(|t| t == "=").unwrap_or(tokens.len());
        let tokens = &tokens[..end];
        let mut reading = ParameterReader::default();
        let mut at = 0;
        while at < tokens.len() {
            at = reading.take_token(tokens, at);
        }
        let ParameterReader { mut words, mut pointers, name, is_unknown_type, .. } = reading;
        let mut name = name;
        if name.is_none() && words.len() > 1 && !words.last().is_some_and(|w| TYPE_WORDS.contains(&w.as_str())) {
            name = words.pop();
        }
        let c_type = type_as_written(tokens, name.as_deref());
        let mut base = words.join(" ");
        if is_unknown_type {
            base.clear();
            pointers = 0;
        }
        self.resolve_aliases(&mut base, &mut pointers);
        KernelParameter { base, pointers, c_type, name }
    }

    /// Follows aliases.
    fn resolve_aliases(&self, base: &mut String, pointers: &mut usize) {
        for _ in 0..8 {
            if let Some(meaning) = self.aliases.get(base.as_str()) {
                let (next, more) = meaning.clone().unwrap_or_default();
                let is_itself = next == *base;
                *base = next;
                *pointers += more;
                if !is_itself {
                    continue;
                }
            }
            break;
        }
        for namespace in STD_NAMESPACES {
            if let Some(rest) = base.strip_prefix(namespace) {
                *base = rest.to_owned();
            }
        }
        if self.own.contains(base.as_str()) {
            base.clear();
        }
    }
}

fn is_attribute(name: &str) -> bool {
    let known = ["alignas", "__attribute__", "__declspec", "decltype", "noexcept", "asm", "__nv_register_params__"];
    known.contains(&name) || (name.starts_with("__") && name.ends_with("__"))
}

/// A declaration while it is read.
#[derive(Default)]
struct ParameterReader {
    words: Vec<String>,
    pointers: usize,
    name: Option<String>,
    is_unknown_type: bool,
}

impl ParameterReader {
    /// Takes the token at `at` and what belongs to it; where the next one is.
    fn take_token(&mut self, tokens: &[String], at: usize) -> usize {
        match tokens[at].as_str() {
            "*" => self.pointers += 1,
            "[" if self.name.is_some() || self.words.len() > 1 => {
                self.pointers += 1;
                return index_after_matching(tokens, at, "[", "]");
            }
            "&" | "(" | ")" | "[" | "." | UNKNOWN_TYPE => {
                self.is_unknown_type = true;
            }
            "::" => {
                let before = if self.words.is_empty() { String::new() } else { self.words.pop().unwrap_or_default() };
                let after = tokens.get(at + 1).map_or("", String::as_str);
                self.words.push(if before.is_empty() { after.to_owned() } else { format!("{before}::{after}") });
                return at + 2;
            }
            "<" => {
                let end = index_after_matching(tokens, at, "<", ">");
                if let Some(word) = self.words.last_mut() {
                    word.push_str(&tokens[at..end.min(tokens.len())].concat());
                }
                return end;
            }
            word if IGNORED_QUALIFIERS.contains(&word) => {}
            word if self.pointers > 0 => self.name = Some(word.to_owned()),
            word => self.words.push(word.to_owned()),
        }
        at + 1
    }
}

/// The token after the one that closes the bracket at `at`.
fn index_after_matching(tokens: &[String], at: usize, open: &str, close: &str) -> usize {
    let mut depth = 0i32;
    for (index, token) in tokens.iter().enumerate().skip(at) {
        depth += i32::from(token == open) - i32::from(token == close);
        if depth == 0 {
            return index + 1;
        }
    }
    tokens.len()
}

/// A type as people write it, without the name of what has it.
fn type_as_written(tokens: &[String], name: Option<&str>) -> String {
    let last_name = name.and_then(|name| tokens.iter().rposition(|t| t == name));
    let mut out = String::new();
    for (at, token) in tokens.iter().enumerate() {
        if Some(at) == last_name || token.contains("restrict") {
            continue;
        }
        let tight = matches!(token.as_str(), "::" | "<" | ">" | "," | "[" | "]")
            || out.ends_with(['<', '*', '['])
            || out.ends_with("::")
            || out.is_empty();
        if !tight {
            out.push(' ');
        }
        out.push_str(token);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `base pointers name` of each parameter.
    fn read_parameter_types(source: &str, kernel: &str) -> Option<Vec<String>> {
        let all = KernelDeclarations::parse_source(source, &["-DREAL=float".into(), "-D".into(), "WIDE=double".into()]);
        let text =
            |p: &KernelParameter| format!("{}{} {}", p.base, "*".repeat(p.pointers), p.name.as_deref().unwrap_or("-"));
        all.params_of_kernel(kernel).map(|params| params.iter().map(text).collect())
    }

    fn parameter_of_single_kernel(parameter: &str) -> String {
        read_parameter_types(&format!("__global__ void f({parameter}) {{}}"), "f").expect("it is a kernel").join("; ")
    }

    #[test]
    fn parameters_are_read() {
        for (parameter, expected) in [
            ("float *x", "float* x"),
            ("const float *__restrict__ x, int n", "float* x; int n"),
            ("float const * const x", "float* x"),
            ("unsigned long long int n", "unsigned long long int n"),
            ("unsigned", "unsigned -"),
            ("float", "float -"),
            ("float *", "float* -"),
            ("int **p", "int** p"),
            ("float a[], int b[3][4]", "float* a; int** b"),
            ("my_type t", "my_type t"),
            ("struct point p", "point p"),
            ("pycuda::complex<float> *z", "pycuda::complex<float>* z"),
            ("std::uint32_t n, ::cuda::std::int8_t *m", "uint32_t n; int8_t* m"),
            ("vector<int, 3> v, int w", "vector<int,3> v; int w"),
            ("REAL *x, WIDE y", "float* x; double y"),
            ("const __grid_constant__ big b", "big b"),
            ("int n = 5", "int n"),
            ("void", ""),
            ("", ""),
            ("void *p", "void* p"),
        ] {
            assert_eq!(parameter_of_single_kernel(parameter), expected, "{parameter}");
        }
        assert!(parameter_of_single_kernel("int (*f)(int)").starts_with(' '));
        assert!(parameter_of_single_kernel("const int &r").starts_with(' '));
    }

    #[test]
    fn types_are_shown_as_written() {
        let all =
            KernelDeclarations::parse_source("__global__ void f(const float*x, unsigned int n, a::b<int> c) {}", &[]);
        let shown: Vec<_> = all.params_of_kernel("f").unwrap().iter().map(|p| p.c_type.as_str()).collect();
        assert_eq!(shown, ["const float *", "unsigned int", "a::b<int>"]);
    }

    #[test]
    fn kernels_are_found_anywhere_in_a_source() {
        let source = r#"
            // __global__ void no(int a) {}
            #include <stdio.h>
            #define KERNEL extern "C" __global__
            typedef float real; typedef real *reals; using index = unsigned int; typedef struct { int a; } pair;
            struct half { int x; };
            extern "C" __global__ void __launch_bounds__(256, 2) bounded(reals x, index n) { if (n) { } }
            static __global__ __attribute__((used)) void attributed(half h, pair p);
            KERNEL void by_macro(double d) {}
            template <typename T, int N> __global__ void generic(T *t, T u, int n) {}
            namespace a { __global__ void inside(int) {} }
        "#;
        let get = |name| read_parameter_types(source, name).map(|params| params.join("; "));
        assert_eq!(get("bounded").as_deref(), Some("float* x; unsigned int n"));
        assert_eq!(get("attributed").as_deref(), Some(" h;  p"));
        assert_eq!(get("by_macro").as_deref(), Some("double d"));
        assert_eq!(get("generic").as_deref(), Some("* t;  u; int n"));
        assert_eq!(get("inside").as_deref(), Some("int -"));
        assert_eq!(get("_Z8by_macrod"), get("by_macro"));
        assert_eq!(get("no"), None);
        assert_eq!(get("_Z99by_macro"), None);
    }

    #[test]
    fn ambiguous_types_are_unknown() {
        assert_eq!(
            read_parameter_types("#if A\n__global__ void f(int a){}\n#else\n__global__ void f(float a){}\n#endif", "f"),
            None
        );
        assert_eq!(parameter_of_single_kernel("real x"), "real x");
        let two = "#ifdef D\ntypedef double real;\n#else\ntypedef float real;\n#endif\n__global__ void f(real *x) {}";
        assert_eq!(read_parameter_types(two, "f").unwrap(), ["* x"]);
        let prototype = "__global__ void f(int, float *); __global__ void f(int n, float *x) {}";
        assert_eq!(read_parameter_types(prototype, "f").unwrap(), ["int n", "float* x"]);
    }

    #[test]
    fn arbitrary_text_does_not_panic() {
        for text in [
            "__global__",
            "__global__ void f(",
            "__global__ void f(int",
            "__global__ (",
            "__global__ void f(<,)",
            "\"",
            "/*",
            "#define",
            "typedef",
            "using x =",
            "__global__ void f(int a::",
            "é__global__ void f(é *x){}",
        ] {
            let _ = KernelDeclarations::parse_source(text, &["-D".into()]);
        }
    }
}
