//! Users' kernels as values: a snippet in one of its forms is a kernel specification, like those of arrays.

use crate::array::ReduceShape;
use crate::pointwise::{ElementwiseSnippet, IndexingMode};
use crate::reduction::ReductionSnippet;
use crate::scan::{ScanKernelConfig, ScanSnippet};
use rtcg_hal::{CompileSettings, KernelSpec};
use std::borrow::Cow;
use std::fmt::Debug;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

/// What a user wrote, from which kernels of several forms are generated.
pub trait UserSnippet: Eq + Hash + Debug + Send + Sync + 'static {
    /// What tells the kernels of one snippet apart.
    type Form: Clone + Eq + Hash + Debug + Send + Sync + 'static;

    /// The kernel's name.
    fn name(&self) -> &str;

    /// The source of a form.
    fn form_source(&self, form: &Self::Form) -> String;

    /// Threads of a form's block.
    fn form_threads(form: &Self::Form) -> u32;

    /// The user's texts, by the names that messages of the compiler have for them.
    fn texts(&self) -> Vec<(&str, &str)>;
}

/// A snippet with its hash, so that finding its kernels costs no look at the text.
#[derive(Debug)]
struct Hashed<S> {
    snippet: S,
    settings: CompileSettings,
    hash: u64,
}

/// A user's snippet and how it is compiled; cheap to clone.
#[derive(Debug)]
pub struct SharedSnippet<S>(Arc<Hashed<S>>);

impl<S> Clone for SharedSnippet<S> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<S: UserSnippet> SharedSnippet<S> {
    /// A snippet that is compiled by these settings.
    pub fn new(snippet: S, settings: CompileSettings) -> Self {
        let hash = std::hash::BuildHasherDefault::<std::hash::DefaultHasher>::default().hash_one((&snippet, &settings));
        Self(Arc::new(Hashed { snippet, settings, hash }))
    }

    /// The kernel of a form.
    pub fn kernel(&self, form: S::Form) -> SnippetKernel<S> {
        SnippetKernel { shared: self.clone(), form }
    }
}

impl<S> std::ops::Deref for SharedSnippet<S> {
    type Target = S;

    #[inline]
    fn deref(&self) -> &S {
        &self.0.snippet
    }
}

impl<S: Eq> PartialEq for SharedSnippet<S> {
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (&*self.0, &*other.0);
        Arc::ptr_eq(&self.0, &other.0) || (a.hash == b.hash && a.snippet == b.snippet && a.settings == b.settings)
    }
}

impl<S: Eq> Eq for SharedSnippet<S> {}

impl<S> Hash for SharedSnippet<S> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

/// A user's snippet in one form.
#[derive(Debug)]
pub struct SnippetKernel<S: UserSnippet> {
    shared: SharedSnippet<S>,
    form: S::Form,
}

impl<S: UserSnippet> SnippetKernel<S> {
    /// Threads of a block.
    pub fn threads(&self) -> u32 {
        S::form_threads(&self.form)
    }
}

impl<S: UserSnippet> Clone for SnippetKernel<S> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone(), form: self.form.clone() }
    }
}

impl<S: UserSnippet> PartialEq for SnippetKernel<S> {
    fn eq(&self, other: &Self) -> bool {
        self.form == other.form && self.shared == other.shared
    }
}

impl<S: UserSnippet> Eq for SnippetKernel<S> {}

impl<S: UserSnippet> Hash for SnippetKernel<S> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.shared.hash(state);
        self.form.hash(state);
    }
}

impl<S: UserSnippet> KernelSpec for SnippetKernel<S> {
    fn kernel_name(&self) -> Cow<'static, str> {
        self.shared.name().to_owned().into()
    }

    fn source(&self) -> String {
        self.shared.form_source(&self.form)
    }

    fn settings(&self) -> Option<&CompileSettings> {
        Some(&self.shared.0.settings)
    }

    fn snippets(&self) -> Vec<(&str, &str)> {
        self.shared.texts()
    }
}

impl UserSnippet for ElementwiseSnippet {
    /// With the threads of a block.
    type Form = (IndexingMode, u32);

    fn name(&self) -> &str {
        &self.name
    }

    fn form_source(&self, (access, threads): &Self::Form) -> String {
        self.source_for_block(access, *threads)
    }

    fn form_threads((_, threads): &Self::Form) -> u32 {
        *threads
    }

    fn texts(&self) -> Vec<(&str, &str)> {
        vec![
            ("operation", &self.operation),
            ("preamble", &self.preamble),
            ("loop_prep", &self.loop_prep),
            ("after_loop", &self.after_loop),
        ]
    }
}

/// What a reduction reduces to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ReductionForm {
    /// One value; [`ReductionSnippet::full_reduction_source`] has the parameters.
    Full {
        /// How elements are found.
        access: IndexingMode,
        /// Whether one block gathers the others' values.
        gather: bool,
        /// Threads of a block.
        threads: u32,
    },
    /// A value for each index of the axes that are kept.
    Axes {
        /// How threads share the work.
        shape: ReduceShape,
        /// For each argument whether it is an array that is walked over; others stay as they are.
        walked: Vec<bool>,
    },
}

impl UserSnippet for ReductionSnippet {
    type Form = ReductionForm;

    fn name(&self) -> &str {
        &self.name
    }

    fn form_source(&self, form: &ReductionForm) -> String {
        match form {
            ReductionForm::Full { access, gather, threads } => self.full_reduction_source(access, *gather, *threads),
            ReductionForm::Axes { shape, walked } => self.axis_reduction_source(shape, walked),
        }
    }

    fn form_threads(form: &ReductionForm) -> u32 {
        match form {
            ReductionForm::Full { threads, .. } => *threads,
            ReductionForm::Axes { shape, .. } => u32::from(shape.threads),
        }
    }

    fn texts(&self) -> Vec<(&str, &str)> {
        vec![
            ("map_expr", &self.map_expr),
            ("reduce_expr", &self.reduce_expr),
            ("neutral", &self.neutral),
            ("preamble", &self.preamble),
        ]
    }
}

impl UserSnippet for ScanSnippet {
    type Form = ScanKernelConfig;

    fn name(&self) -> &str {
        &self.name
    }

    fn form_source(&self, form: &ScanKernelConfig) -> String {
        self.source(form)
    }

    fn form_threads(form: &ScanKernelConfig) -> u32 {
        form.pipeline.map_or(form.shape.threads, |pipeline| pipeline.threads_per_block(form.shape))
    }

    fn texts(&self) -> Vec<(&str, &str)> {
        vec![
            ("input_expr", &self.input_expr),
            ("scan_expr", &self.scan_expr),
            ("output_statement", &self.output_statement),
            ("neutral", self.neutral.as_deref().unwrap_or("")),
            ("is_segment_start_expr", self.segment_start.as_deref().unwrap_or("")),
            ("preamble", &self.preamble),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c_declarations::{TypeRegistry, parse_arguments};

    fn shared(operation: &str, options: Option<Vec<String>>) -> SharedSnippet<ElementwiseSnippet> {
        let arguments = parse_arguments("float *x", &TypeRegistry::new()).unwrap();
        let snippet =
            ElementwiseSnippet { name: "k".into(), arguments, operation: operation.into(), ..Default::default() };
        SharedSnippet::new(snippet, CompileSettings { options, keep: false })
    }

    #[test]
    fn kernels_are_equal_when_text_settings_and_form_are() {
        let form = |threads| (IndexingMode::Flat { ranged: false }, threads);
        let kernel = shared("x[i] = 1", None).kernel(form(256));
        assert_eq!(kernel, shared("x[i] = 1", None).kernel(form(256)));
        assert_ne!(kernel, shared("x[i] = 2", None).kernel(form(256)));
        assert_ne!(kernel, shared("x[i] = 1", Some(Vec::new())).kernel(form(256)));
        assert_ne!(kernel, shared("x[i] = 1", None).kernel(form(128)));
        assert_eq!((kernel.threads(), &*kernel.kernel_name()), (256, "k"));
        assert!(kernel.snippets().contains(&("operation", "x[i] = 1")));
    }
}
