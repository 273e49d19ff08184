//! The registry of C type names.
//!
//! The names of C, of `<stdint.h>`, of CUDA's vectors, half, bfloat16 and `pycuda::complex` are predefined, for the
//! data model of Linux (`long` has 8 bytes).

use crate::c_declarations::ctype::{CType, CTypeForm};
use std::collections::HashMap;
use std::fmt;

/// A name that could not be registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryError(pub String);

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RegistryError {}

/// Types by C name.
#[derive(Debug, Clone, Default)]
pub struct TypeRegistry {
    registered: HashMap<String, CType>,
    count: u32,
}

/// Names that are no combination of C's integer words.
const SCALAR_TYPE_NAMES: &[(&str, char, usize)] = &[
    ("bool", 'b', 1),
    ("_Bool", 'b', 1),
    ("float", 'f', 4),
    ("double", 'f', 8),
    ("half", 'f', 2),
    ("__half", 'f', 2),
    ("pycuda::complex<float>", 'c', 8),
    ("pycuda::complex<double>", 'c', 16),
    ("complex<float>", 'c', 8),
    ("complex<double>", 'c', 16),
    ("int8_t", 'i', 1),
    ("int16_t", 'i', 2),
    ("int32_t", 'i', 4),
    ("int64_t", 'i', 8),
    ("uint8_t", 'u', 1),
    ("uint16_t", 'u', 2),
    ("uint32_t", 'u', 4),
    ("uint64_t", 'u', 8),
    ("intptr_t", 'i', 8),
    ("uintptr_t", 'u', 8),
    ("size_t", 'u', 8),
    ("ssize_t", 'i', 8),
    ("ptrdiff_t", 'i', 8),
    ("uchar", 'u', 1),
    ("ushort", 'u', 2),
    ("uint", 'u', 4),
    ("ulong", 'u', 8),
    ("ulonglong", 'u', 8),
];

/// Components of the vector types, with the largest number of them that upstream's `vec` has.
const VECTOR_COMPONENTS: &[(&str, char, usize)] = &[
    ("char", 'i', 1),
    ("uchar", 'u', 1),
    ("short", 'i', 2),
    ("ushort", 'u', 2),
    ("int", 'i', 4),
    ("uint", 'u', 4),
    ("longlong", 'i', 8),
    ("ulonglong", 'u', 8),
    ("long", 'i', 8),
    ("ulong", 'u', 8),
    ("float", 'f', 4),
    ("double", 'f', 8),
];

impl TypeRegistry {
    /// Makes a registry with only the predefined names.
    pub fn new() -> Self {
        Self::default()
    }

    /// Looks up a C type name; neither white space nor the order of C's integer words matters.
    pub fn lookup(&self, name: &str) -> Option<CType> {
        let name = normalise_type_name(name);
        self.registered.get(&name).cloned().or_else(|| built_in_type(&name))
    }

    /// Registers `name` as a type of `itemsize` bytes. Registering the same type again is allowed.
    ///
    /// # Errors
    /// When the name already denotes a type of another size or alignment.
    pub fn register(&mut self, name: &str, itemsize: usize, align: usize) -> Result<CType, RegistryError> {
        let name = normalise_type_name(name);
        if name.is_empty() {
            return Err(RegistryError("the C name of a type is empty".into()));
        }
        if let Some(known) = self.lookup(&name) {
            if known.itemsize == itemsize && known.align == align {
                return Ok(known);
            }
            return Err(RegistryError(format!(
                "'{name}' is already a type of {} bytes; it cannot become one of {itemsize} bytes",
                known.itemsize
            )));
        }
        let ctype = CType { name: name.clone(), form: CTypeForm::Registered(self.count), itemsize, align };
        self.count += 1;
        self.registered.insert(name, ctype.clone());
        Ok(ctype)
    }

    /// Registers another name for a known type.
    ///
    /// # Errors
    /// When the name already denotes another type.
    pub fn register_alias(&mut self, name: &str, ctype: &CType) -> Result<(), RegistryError> {
        let name = normalise_type_name(name);
        match self.lookup(&name) {
            Some(known) if known.form == ctype.form && known.itemsize == ctype.itemsize => Ok(()),
            Some(known) => Err(RegistryError(format!("'{name}' is already the type {}", known.name))),
            None => {
                self.registered.insert(name.clone(), CType { name, ..ctype.clone() });
                Ok(())
            }
        }
    }
}

/// One blank between words, none around `::`, `<`, `>`, `,`; no `struct`.
fn normalise_type_name(name: &str) -> String {
    let mut out = String::new();
    for word in name.split_whitespace().filter(|word| !matches!(*word, "struct" | "enum" | "union")) {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        if out.chars().last().is_some_and(is_word) && word.chars().next().is_some_and(is_word) {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

fn built_in_type(name: &str) -> Option<CType> {
    if let Some(&(spelled, kind, size)) = SCALAR_TYPE_NAMES.iter().find(|row| row.0 == name) {
        // Without the namespace the name would not be found in kernels.
        let spelled = if spelled.starts_with("complex") { format!("pycuda::{spelled}") } else { spelled.into() };
        return Some(CType::numeric_type(&spelled, kind, size));
    }
    if matches!(name, "__nv_bfloat16" | "nv_bfloat16" | "bfloat16") {
        let name = if name == "bfloat16" { "__nv_bfloat16" } else { name };
        return Some(CType { name: name.into(), form: CTypeForm::BFloat16, itemsize: 2, align: 2 });
    }
    parse_integer_words(name)
        .map(|(kind, size)| CType::numeric_type(name, kind, size))
        .or_else(|| parse_vector_type(name))
}

/// The kind and size of a combination of C's integer words.
fn parse_integer_words(name: &str) -> Option<(char, usize)> {
    let (mut signed, mut unsigned, mut long, mut size, mut int) = (0, 0, 0, None, 0);
    for word in name.split(' ') {
        match word {
            "signed" => signed += 1,
            "unsigned" => unsigned += 1,
            "long" => long += 1,
            "int" => int += 1,
            "char" if size.is_none() => size = Some(1),
            "short" if size.is_none() => size = Some(2),
            _ => return None,
        }
    }
    let consistent = signed + unsigned <= 1
        && int <= 1
        && long <= 2
        && !(size.is_some() && long > 0)
        && !(size == Some(1) && int > 0);
    let bytes = size.unwrap_or(if long > 0 { 8 } else { 4 });
    consistent.then_some((if unsigned > 0 { 'u' } else { 'i' }, bytes))
}

fn parse_vector_type(name: &str) -> Option<CType> {
    let components = name.chars().last()?.to_digit(10).filter(|n| (1..=4).contains(n))? as u8;
    let base = &name[..name.len() - 1];
    let &(_, kind, size) = VECTOR_COMPONENTS.iter().find(|row| row.0 == base)?;
    let itemsize = size * usize::from(components);
    // As in CUDA's vector_types.h: two and four components are aligned as a whole, up to 16 bytes.
    let align = if components == 3 { size } else { itemsize.min(16) };
    Some(CType { name: name.into(), form: CTypeForm::Vector { kind, components }, itemsize, align })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form_size_and_align(name: &str) -> Option<(CTypeForm, usize, usize)> {
        TypeRegistry::new().lookup(name).map(|t| (t.form, t.itemsize, t.align))
    }

    #[test]
    fn names_of_c_cuda_and_stdint_are_known() {
        use CTypeForm::*;
        for (name, kind, size) in [
            ("unsigned", 'u', 4),
            ("long unsigned int", 'u', 8),
            ("long long", 'i', 8),
            ("unsigned  long   long int", 'u', 8),
            ("signed char", 'i', 1),
            ("short int", 'i', 2),
            ("int64_t", 'i', 8),
            ("size_t", 'u', 8),
            ("half", 'f', 2),
            ("bool", 'b', 1),
        ] {
            assert_eq!(form_size_and_align(name), Some((Number(kind), size, size)), "{name}");
        }
        assert_eq!(form_size_and_align("pycuda::complex< double >"), Some((Number('c'), 16, 8)));
        assert_eq!(form_size_and_align("double2"), Some((Vector { kind: 'f', components: 2 }, 16, 16)));
        assert_eq!(form_size_and_align("float3"), Some((Vector { kind: 'f', components: 3 }, 12, 4)));
        assert_eq!(form_size_and_align("__nv_bfloat16"), Some((BFloat16, 2, 2)));
    }

    #[test]
    fn invalid_type_names_are_unknown() {
        for name in ["", "char int", "long short", "unsigned signed", "float5", "long long long", "my_struct", "int0"] {
            assert_eq!(form_size_and_align(name), None, "{name}");
        }
    }

    #[test]
    fn structures_are_known_once_registered() {
        let mut registry = TypeRegistry::new();
        let first = registry.register("minmax_collector", 8, 4).unwrap();
        assert_eq!(registry.register("struct minmax_collector", 8, 4).unwrap(), first);
        assert_eq!(registry.lookup("minmax_collector").unwrap().form, CTypeForm::Registered(0));
        let error = registry.register("minmax_collector", 12, 4).unwrap_err().to_string();
        assert!(error.contains("8 bytes") && error.contains("12 bytes"), "{error}");
        assert!(registry.register("float", 8, 8).is_err());
        registry.register_alias("collector", &first).unwrap();
        assert_eq!(registry.lookup("collector").unwrap().form, CTypeForm::Registered(0));
    }
}
