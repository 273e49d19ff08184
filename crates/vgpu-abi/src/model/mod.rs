//! What a real device does where CUDA's documentation leaves it open: the model of the device, as data.
//!
//! Each fact has a value, which the virtual GPU's code uses, a sentence, and the measurement that it comes from. All were
//! measured on one NVIDIA H200 (driver 580, CUDA 13.0); the programs and the card's answers are in `tests/fidelity`.
//! The fidelity report lists them.

/// A measured fact, for the report.
#[derive(Debug, Clone, Copy)]
pub struct Fact {
    /// The constant's name.
    pub name: &'static str,
    /// Its value, as the source has it.
    pub value: &'static str,
    /// What the device does.
    pub what: &'static str,
    /// The question or program of `tests/fidelity` that measured it.
    pub source: &'static str,
}

/// Defines constants and lists them as `FACTS`: `/// what the device does` `NAME: type = value, from "q22";`.
macro_rules! measured {
    ($($(#[doc = $doc:literal])+ $name:ident: $ty:ty = $value:expr, from $source:literal;)*) => {
        $($(#[doc = $doc])+ pub const $name: $ty = $value;)*

        /// The facts of this module.
        pub(super) static FACTS: &[super::Fact] = &[$(super::Fact {
            name: stringify!($name),
            value: stringify!($value),
            what: concat!($($doc),+),
            source: $source,
        }),*];
    };
}

pub mod calls;
pub mod clocks;
pub mod lanes;
pub mod launch;
pub mod limits;
pub mod memory;
pub mod printf;
pub mod ptx;
pub mod tensor;
pub mod texture;

/// All measured facts.
pub fn facts() -> impl Iterator<Item = &'static Fact> {
    [
        calls::FACTS,
        clocks::FACTS,
        lanes::FACTS,
        launch::FACTS,
        limits::FACTS,
        memory::FACTS,
        printf::FACTS,
        ptx::FACTS,
        tensor::FACTS,
        texture::FACTS,
    ]
    .into_iter()
    .flatten()
}

#[cfg(test)]
mod tests {
    #[test]
    fn facts_say_what_they_are_and_where_they_come_from() {
        let mut names = std::collections::HashSet::new();
        for fact in super::facts() {
            assert!(names.insert(fact.name), "{} twice", fact.name);
            assert!(fact.what.trim().ends_with('.'), "{}: {}", fact.name, fact.what);
            assert!(fact.source.starts_with('q') || fact.source.starts_with("gpu_"), "{}: {}", fact.name, fact.source);
        }
    }
}
