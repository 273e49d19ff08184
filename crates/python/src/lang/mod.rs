//! `rtcg.copperhead`: from a Python function to the syntax tree that the compiler of data-parallel programs takes.
//!
//! Establishes: spans are in characters and absolute lines of the file; a construct that the language does not have is
//! an `Unsupported` node, never an error, so that the compiler can report all of them; `dependencies` has every object
//! outside the text that decided what the tree is. Only a function whose text is not known, or is not the text of the
//! code that runs, is an error here.
//!
//! | file | contents |
//! |---|---|
//! | `text.rs` | the text of a function, and its node in the tree that Python's parser makes |
//! | `tree.rs` | from Python's tree to the compiler's |
//! | `unsupported.rs` | what the language does not have, and what to write instead |
//! | `uses.rs` | the names that a function takes from outside |
//! | `outside.rs` | what these names stand for |
//! | `dependencies.rs` | whether they still do |
//! | `program.rs` | calls of compiled programs |
//! | `stencil.rs` | calls of stencils |
//! | `render.rs` | a source as text, for tests |

mod dependencies;
mod outside;
mod program;
mod render;
mod stencil;
mod text;
mod tree;
mod unsupported;
mod uses;

use dependencies::Dependency;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyFunction;
use rtcg::lang::span::Files;
use rtcg::lang::surface::{Function, Source};
use std::sync::Arc;

/// A program as the compiler takes it, and what it depends on.
#[pyclass(name = "WalkedSource", module = "rtcg._native", frozen)]
pub(crate) struct WalkedSource {
    /// The program; file `k` holds function `k`.
    pub(crate) source: Arc<Source>,
    dependencies: Vec<Dependency>,
}

impl WalkedSource {
    /// Reads a function, plain or decorated with `cu`, and all programs that it calls.
    pub(crate) fn walk(function: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::walk_with(function, &[])
    }

    /// The same with functions that the program is given as arguments.
    pub(crate) fn walk_with(function: &Bound<'_, PyAny>, arguments: &[Bound<'_, PyAny>]) -> PyResult<Self> {
        let mut outside = outside::Resolver::new(function)?;
        let arguments = arguments.iter().map(|argument| outside.argument(argument)).collect::<PyResult<_>>()?;
        let (mut functions, mut files) = (Vec::new(), Vec::new());
        while let Some(function) = outside.function(functions.len()) {
            let (tree, file) = read(&function, functions.len())?;
            functions.push(Arc::new(outside.with_outside(&function, tree)?));
            files.push(file);
        }
        let source = Arc::new(Source { functions, files: Files(files), arguments });
        Ok(WalkedSource { source, dependencies: outside.dependencies })
    }

    /// Shows the objects that are held to the collector of garbage, for classes that hold a source.
    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.dependencies.iter().try_for_each(|dependency| dependency.traverse(visit))
    }

    /// Whether reading the function again would give the same source, unless files changed.
    pub(crate) fn is_current(&self, py: Python<'_>) -> bool {
        self.dependencies.iter().all(|dependency| dependency.is_current(py))
    }
}

/// The tree of a function without what it takes from outside, and its file.
fn read(function: &Bound<'_, PyFunction>, index: usize) -> PyResult<(Function, rtcg::lang::span::File)> {
    let (node, file) = text::find(function)?;
    let tree = tree::Walker::new(&file, index).function(&node)?;
    Ok((tree, file))
}

#[pymethods]
impl WalkedSource {
    #[new]
    fn new(function: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::walk(function)
    }

    /// Whether no name that the program uses from outside has another value by now; does not look at files.
    #[pyo3(name = "is_current")]
    fn py_is_current(&self, py: Python<'_>) -> bool {
        self.is_current(py)
    }

    // Functions and variables in a cycle with a source can be cleared, so that this class need not be.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.traverse(&visit)
    }

    /// The syntax tree with the place of each node.
    fn __str__(&self) -> String {
        render::source(&self.source)
    }
}

/// The syntax tree of a function and of the programs that it calls, as text with the place of each node.
#[pyfunction]
fn lang_surface(function: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(render::source(&WalkedSource::walk(function)?.source))
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_contents! { m, classes WalkedSource, program::LangProgram, stencil::StencilProgram; functions lang_surface; }
}
