//! Unique names within a program.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};

static COUNTER: AtomicU64 = AtomicU64::new(0);

/// Makes a name that starts with `stem` and that this process has not used before: `i_0`, `i_1`, ... Characters that
/// are invalid in identifiers become underscores. A program that is built twice gets different names, and is compiled
/// twice; [`Names`] restarts its count for each program.
pub fn fresh(stem: &str) -> String {
    format!("{}_{}", identifier(stem), COUNTER.fetch_add(1, Ordering::Relaxed))
}

/// The first of `stem`, `stem_1`, `stem_2`, ... that is not a word in `text`: the same text gives the same name.
pub fn unused(stem: &str, text: &str) -> String {
    let stem = identifier(stem);
    let words: HashSet<&str> = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).collect();
    let mut name = stem.clone();
    let mut number = 0;
    while words.contains(name.as_str()) {
        number += 1;
        name = format!("{stem}_{number}");
    }
    name
}

/// `stem` with underscores for what no identifier has.
fn identifier(stem: &str) -> String {
    let valid = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut name: String = stem.chars().map(|c| if valid(c) { c } else { '_' }).collect();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        name.insert(0, '_');
    }
    name
}

/// A source of unique names with its own count, so that the same program gets the same names in every run.
#[derive(Clone, Debug, Default)]
pub struct Names {
    next: HashMap<String, u64>,
}

impl Names {
    /// Makes a source that starts from zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// The next name with this stem.
    pub fn fresh(&mut self, stem: &str) -> String {
        let count = self.next.entry(stem.to_owned()).or_insert(0);
        *count += 1;
        format!("{}_{}", identifier(stem), *count - 1)
    }
}

/// Whether `text` is a C identifier.
pub fn is_identifier(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_and_are_identifiers() {
        let names: Vec<_> = ["i", "i", "a b", "3d", ""].into_iter().map(fresh).collect();
        assert_ne!(names[0], names[1]);
        assert!(names.iter().all(|name| is_identifier(name)), "{names:?}");
        let mut own = Names::new();
        assert_eq!([unused("i", "i + i_1"), unused("i", "ii"), unused("a.b", "")], ["i_2", "i", "a_b"]);
        assert_eq!([own.fresh("i"), own.fresh("i"), own.fresh("j")], ["i_0", "i_1", "j_0"]);
    }
}
