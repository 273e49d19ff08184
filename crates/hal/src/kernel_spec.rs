//! The interface of all array kernels: each is a small value that can be compared and hashed, and generates its source.
//! The set of kernels is open: any type that implements it can be compiled and cached.

use std::borrow::Cow;
use std::fmt::Debug;
use std::hash::Hash;

/// A kernel, described by everything that determines its source. Equal values generate equal sources, so the value is
/// the cache key of the compiled kernel.
pub trait KernelSpec: Clone + Eq + Hash + Debug + Send + Sync + 'static {
    /// The kernel's name in its source.
    fn kernel_name(&self) -> Cow<'static, str>;

    /// The kernel as CUDA C++ source.
    fn source(&self) -> String;

    /// How users want their kernels compiled; `None` for kernels that are written here.
    fn settings(&self) -> Option<&CompileSettings> {
        None
    }

    /// The parts of the source that users wrote, with their names: messages of the compiler quote them.
    fn snippets(&self) -> Vec<(&str, &str)> {
        Vec::new()
    }
}

/// How a user wants a kernel compiled.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct CompileSettings {
    /// Options in the compiler's spelling; `None` means the environment's default options.
    pub options: Option<Vec<String>>,
    /// Whether to keep the compiler's input and output in a directory, whose path is printed.
    pub keep: bool,
}

/// What a device compiles.
#[derive(Debug, Clone, Copy)]
pub struct KernelText<'a> {
    /// The kernel's name in the source.
    pub name: &'a str,
    /// CUDA C++.
    pub source: &'a str,
    /// As [`KernelSpec::settings`].
    pub settings: Option<&'a CompileSettings>,
    /// As [`KernelSpec::snippets`].
    pub snippets: &'a [(&'a str, &'a str)],
}

impl<'a> KernelText<'a> {
    /// A kernel that is written here.
    pub fn new(name: &'a str, source: &'a str) -> Self {
        Self { name, source, settings: None, snippets: &[] }
    }
}
