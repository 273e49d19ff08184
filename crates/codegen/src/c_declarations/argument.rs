//! Parameters of kernels, parsed from C declarations.

use crate::c_declarations::ctype::CType;
use crate::c_declarations::registry::TypeRegistry;
use rtcg_c_lex::{join_tokens, tokenize};
use rtcg_hal::DType;
use std::fmt;

/// A parameter of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Argument {
    /// C identifier.
    pub name: String,
    /// The type of an element (of an array) or of the value.
    pub ctype: CType,
    /// Whether it is a pointer to elements rather than one value.
    pub is_vector: bool,
    /// Whether it is declared `const`, so that the kernel only reads.
    pub is_const: bool,
}

/// A declaration that cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentError {
    /// The declaration.
    pub declaration: String,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in the declaration '{}'", self.reason, self.declaration)
    }
}

impl std::error::Error for ArgumentError {}

impl Argument {
    /// `T *name`
    pub fn vector_arg(ctype: CType, name: &str) -> Argument {
        Argument { name: name.into(), ctype, is_vector: true, is_const: false }
    }

    /// `const T *name`
    pub fn const_vector_arg(ctype: CType, name: &str) -> Argument {
        Argument { name: name.into(), ctype, is_vector: true, is_const: true }
    }

    /// `T name`
    pub fn scalar_arg(ctype: CType, name: &str) -> Argument {
        Argument { name: name.into(), ctype, is_vector: false, is_const: false }
    }

    /// The declaration in C.
    pub fn declarator(&self) -> String {
        let constness = if self.is_const { "const " } else { "" };
        let pointer = if self.is_vector { "*" } else { "" };
        format!("{constness}{} {pointer}{}", self.ctype.name, self.name)
    }
}

/// Parses a parameter list: splits it at commas outside of `<>`, `()` and `[]`, and skips comments and empty parts.
///
/// # Errors
/// When a declaration is wrong; the error names it.
pub fn parse_arguments(text: &str, registry: &TypeRegistry) -> Result<Vec<Argument>, ArgumentError> {
    let text = join_tokens(&tokenize(text));
    let (mut parts, mut depth, mut start) = (Vec::new(), 0i32, 0);
    for (at, c) in text.char_indices() {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.trim().is_empty()).collect();
    let arguments = parts.iter().map(|part| parse_argument(part, registry)).collect::<Result<Vec<_>, _>>()?;
    check_names(&arguments, &[])?;
    Ok(arguments)
}

/// Checks that each argument of a generated kernel has a name of its own: none is used twice, or is one of `reserved`,
/// the names that the kernel itself defines, each with its meaning.
///
/// # Errors
/// When a name is taken; the error says by what.
pub fn check_names(arguments: &[Argument], reserved: &[(&str, &str)]) -> Result<(), ArgumentError> {
    for (at, argument) in arguments.iter().enumerate() {
        let name = &argument.name;
        check_name_is_free(name, reserved).map_err(|reason| argument_error(&argument.declarator(), reason))?;
        if arguments[..at].iter().any(|other| other.name == *name) {
            return Err(argument_error(&argument.declarator(), format!("the name '{name}' is used twice")));
        }
    }
    Ok(())
}

/// An error's text if `name` is one of `reserved`.
pub(crate) fn check_name_is_free(name: &str, reserved: &[(&str, &str)]) -> Result<(), String> {
    match reserved.iter().find(|(known, _)| *known == name) {
        Some((_, meaning)) => Err(format!("the name '{name}' stands for {meaning}; choose another one")),
        None => Ok(()),
    }
}

/// Parses one declaration: `T *x` and `T x[]` are arrays, `T x` is a value. `const`, `volatile` and the forms of
/// `restrict` are allowed wherever C allows them.
///
/// # Errors
/// When the type is unknown, the name is missing, or a kernel cannot have such a parameter.
pub fn parse_argument(text: &str, registry: &TypeRegistry) -> Result<Argument, ArgumentError> {
    let text = join_tokens(&tokenize(text));
    let (head, is_array) = match text.split_once('[') {
        Some((head, rest)) if rest.trim_end().ends_with(']') && !rest.contains('[') => (head, true),
        Some(_) => return Err(argument_error(&text, "arrays of arrays are not supported")),
        None => (&text[..], false),
    };
    let head = head.trim_end();
    let name_start = head.rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).map_or(0, |at| at + 1);
    let (declared, name) = head.split_at(name_start);
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(argument_error(&text, "a name is missing"));
    }
    let stars = declared.matches('*').count() + usize::from(is_array);
    if stars > 1 || declared.contains('&') {
        return Err(argument_error(&text, "pointers to pointers and references are not supported"));
    }
    let before_star = declared.split('*').next().unwrap_or("");
    let words = |part: &str| part.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let is_const = words(before_star).iter().any(|word| word == "const");
    let kept: Vec<_> = words(before_star).into_iter().filter(|word| !is_qualifier(word)).collect();
    if let Some(stray) = words(&declared[before_star.len()..].replace('*', " ")).iter().find(|w| !is_qualifier(w)) {
        return Err(argument_error(&text, format!("'{stray}' is not understood")));
    }
    let type_name = kept.join(" ");
    if type_name.is_empty() {
        return Err(argument_error(&text, "a type or a name is missing"));
    }
    let ctype = registry.lookup(&type_name).ok_or_else(|| argument_error(&text, unknown_type(&type_name)))?;
    Ok(Argument { name: name.into(), ctype, is_vector: stars == 1, is_const: is_const && stars == 1 })
}

/// What is wrong with a type's name; those of NumPy have a name in C.
fn unknown_type(name: &str) -> String {
    let c_name = name.strip_prefix("np.").or(name.strip_prefix("numpy.")).unwrap_or(name);
    match DType::from_name(c_name) {
        Some(dtype) => format!("unknown type '{name}' (in C it is '{}')", dtype.c_type()),
        None => format!("unknown type '{name}'"),
    }
}

fn is_qualifier(word: &str) -> bool {
    matches!(word, "const" | "volatile" | "restrict" | "__restrict__" | "__restrict")
}

fn argument_error(declaration: &str, reason: impl Into<String>) -> ArgumentError {
    ArgumentError { declaration: declaration.trim().into(), reason: reason.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_to_declarators(text: &str) -> Result<Vec<String>, String> {
        let arguments = parse_arguments(text, &TypeRegistry::new()).map_err(|e| e.to_string())?;
        Ok(arguments.iter().map(Argument::declarator).collect())
    }

    #[test]
    fn declarations_of_every_kind_are_parsed() {
        let text = "float *x, const pycuda::complex<double> *y, int n, double2 v, unsigned long long const *__restrict__ w,\n\
                    half h[], /* a comment, with a comma */ volatile int *q, const float f";
        let expected = [
            "float *x",
            "const pycuda::complex<double> *y",
            "int n",
            "double2 v",
            "const unsigned long long *w",
            "half *h",
            "int *q",
            "float f",
        ];
        assert_eq!(parse_to_declarators(text).unwrap(), expected);
        assert_eq!(parse_to_declarators("  ").unwrap(), Vec::<String>::new());
    }

    #[test]
    fn names_that_kernels_define_are_refused() {
        let arguments = parse_arguments("float *x, int i", &TypeRegistry::new()).unwrap();
        assert_eq!(check_names(&arguments, &[("n", "the number of elements")]), Ok(()));
        let error = check_names(&arguments, &[("i", "the index")]).unwrap_err().to_string();
        assert_eq!(error, "the name 'i' stands for the index; choose another one in the declaration 'int i'");
        let twice = [arguments[0].clone(), arguments[0].clone()];
        let error = check_names(&twice, &[]).unwrap_err().to_string();
        assert_eq!(error, "the name 'x' is used twice in the declaration 'float *x'");
    }

    #[test]
    fn invalid_declarations_are_reported() {
        for (text, reason) in [
            ("foo *x", "unknown type 'foo' in the declaration 'foo *x'"),
            ("float32 *x", "unknown type 'float32' (in C it is 'float') in the declaration 'float32 *x'"),
            ("np.int64 n", "unknown type 'np.int64' (in C it is 'long long')"),
            ("float", "a type or a name is missing"),
            ("float *", "a name is missing"),
            ("float **x", "pointers to pointers"),
            ("float &x", "references"),
            ("float x, int x", "the name 'x' is used twice"),
            ("float * int x", "'int' is not understood"),
        ] {
            let message = parse_to_declarators(text).unwrap_err();
            assert!(message.contains(reason), "{text}: {message}");
        }
    }
}
