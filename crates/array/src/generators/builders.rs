//! Builders of generated kernels: C texts by name, with defaults for what most kernels do not need.

use super::elementwise::ElementwiseKernel;
use super::reduction::ReductionKernel;
use super::scan::ScanKernel;
use rtcg_codegen::c_declarations::{Argument, CType, TypeRegistry, parse_arguments};
use rtcg_codegen::pointwise::ElementwiseSnippet;
use rtcg_codegen::reduction::ReductionSnippet;
use rtcg_codegen::scan::{NeighborFetch, ScanSnippet};
use rtcg_hal::{ArrayError, CompileSettings, Result};

/// What all kernels have.
#[derive(Debug, Clone)]
struct Common {
    name: String,
    arguments: String,
    preamble: String,
    settings: CompileSettings,
    types: TypeRegistry,
}

impl Common {
    fn new(name: &str, arguments: &str) -> Self {
        Self {
            name: name.into(),
            arguments: arguments.into(),
            preamble: String::new(),
            settings: CompileSettings::default(),
            types: TypeRegistry::new(),
        }
    }

    fn parsed_arguments(&self) -> Result<Vec<Argument>> {
        parse_arguments(&self.arguments, &self.types).map_err(|e| ArrayError::value_error(e.to_string()))
    }

    fn parsed_type(&self, text: &str) -> Result<CType> {
        let unknown = || ArrayError::value_error(format!("kernel '{}': '{text}' is no known C type", self.name));
        self.types.lookup(text).ok_or_else(unknown)
    }

    /// The C type in a text, or else that of the first array's elements.
    fn type_or_first(&self, text: Option<String>, first: Option<&Argument>, method: &str) -> Result<CType> {
        match (text, first) {
            (None, Some(first)) => Ok(first.ctype.clone()),
            (text, _) => self.parsed_type(&self.required(text, method)?),
        }
    }

    /// An expression, or else the first array's element.
    fn expression_or_first(&self, text: Option<String>, first: Option<&Argument>, method: &str) -> Result<String> {
        match (text, first) {
            (None, Some(first)) => Ok(format!("{}[i]", first.name)),
            (text, _) => self.required(text, method),
        }
    }

    /// The text that a kernel cannot do without; an error that names the builder's method.
    fn required(&self, text: Option<String>, method: &str) -> Result<String> {
        text.ok_or_else(|| ArrayError::value_error(format!("kernel '{}': {method}() is missing", self.name)))
    }
}

/// Methods that take a C text.
macro_rules! text_methods {
    ($($(#[$doc:meta])* $name:ident => $($field:ident).+ $(as $wrap:expr)?;)*) => {
        $(
            $(#[$doc])*
            pub fn $name(mut self, text: impl Into<String>) -> Self {
                self.$($field).+ = $($wrap)? (text.into());
                self
            }
        )*
    };
}

/// Methods that all builders have.
macro_rules! common_methods {
    () => {
        text_methods! {
            /// The kernel's name, which profilers and error messages show; a C identifier.
            name => common.name;
            /// Source before the kernel: `#include`s, functions and structures.
            preamble => common.preamble;
        }

        /// Sets the compiler options, in nvcc's spelling, instead of the default ones.
        pub fn options<S: Into<String>>(mut self, options: impl IntoIterator<Item = S>) -> Self {
            self.common.settings.options = Some(options.into_iter().map(Into::into).collect());
            self
        }

        /// Sets the types that declarations may name: those of C and CUDA, and structures added to the registry.
        pub fn types(mut self, types: TypeRegistry) -> Self {
            self.common.types = types;
            self
        }
    };
}

/// Builds an [`ElementwiseKernel`]; see [`ElementwiseKernel::builder`].
#[derive(Debug, Clone)]
#[must_use]
pub struct ElementwiseBuilder {
    common: Common,
    operation: Option<String>,
    loop_prep: String,
    after_loop: String,
}

impl ElementwiseKernel {
    /// Starts building a kernel. `arguments` are C declarations; pointers are arrays.
    pub fn builder(arguments: &str) -> ElementwiseBuilder {
        let common = Common::new("kernel", arguments);
        ElementwiseBuilder { common, operation: None, loop_prep: String::new(), after_loop: String::new() }
    }
}

impl ElementwiseBuilder {
    common_methods!();

    text_methods! {
        /// Statements executed for each `i`. Required.
        operation => operation as Some;
        /// Statements that each thread executes before its first element.
        loop_prep => loop_prep;
        /// Statements that each thread executes after its last element.
        after_loop => after_loop;
    }

    /// Builds the kernel, without compiling it yet.
    ///
    /// # Errors
    /// When a declaration is wrong, or `operation` is missing.
    pub fn build(self) -> Result<ElementwiseKernel> {
        let spec = ElementwiseSnippet {
            arguments: self.common.parsed_arguments()?,
            operation: self.common.required(self.operation, "operation")?,
            name: self.common.name,
            preamble: self.common.preamble,
            loop_prep: self.loop_prep,
            after_loop: self.after_loop,
        };
        spec.check_parameter_names().map_err(|e| ArrayError::value_error(e.to_string()))?;
        Ok(ElementwiseKernel::new(spec, self.common.settings))
    }
}

/// Builds a [`ReductionKernel`]; see [`ReductionKernel::builder`].
#[derive(Debug, Clone)]
#[must_use]
pub struct ReductionBuilder {
    common: Common,
    out: Option<String>,
    neutral: Option<String>,
    reduce: Option<String>,
    map: Option<String>,
}

impl ReductionKernel {
    /// Starts building a reduction. `arguments` are C declarations; pointers are arrays.
    pub fn builder(arguments: &str) -> ReductionBuilder {
        let common = Common::new("reduction", arguments);
        ReductionBuilder { common, out: None, neutral: None, reduce: None, map: None }
    }
}

impl ReductionBuilder {
    common_methods!();

    text_methods! {
        /// An expression for the value of element `i`. Defaults to `x[i]` of the first array `x`.
        map => map as Some;
        /// An expression that combines `a` and `b`. It must be associative and commutative. Required.
        reduce => reduce as Some;
        /// The neutral element of `reduce`, an expression: the result of reducing no elements. Required.
        neutral => neutral as Some;
        /// The C type of the result and of all intermediate values. Defaults to the first array's element type.
        out => out as Some;
    }

    /// Builds the kernel, without compiling it yet.
    ///
    /// # Errors
    /// When a declaration or type is wrong, there is no array argument, or `reduce` or `neutral` is missing.
    pub fn build(self) -> Result<ReductionKernel> {
        let common = self.common;
        let arguments = common.parsed_arguments()?;
        let first = arguments.iter().find(|argument| argument.is_vector);
        let out = common.type_or_first(self.out, first, "out")?;
        let map_expr = common.expression_or_first(self.map, first, "map")?;
        let spec = ReductionSnippet {
            out,
            neutral: common.required(self.neutral, "neutral")?,
            reduce_expr: common.required(self.reduce, "reduce")?,
            map_expr,
            arguments,
            name: common.name,
            preamble: common.preamble,
        };
        ReductionKernel::new(spec, common.settings)
    }
}

/// Builds a [`ScanKernel`]; see [`ScanKernel::builder`].
#[derive(Debug, Clone)]
#[must_use]
pub struct ScanBuilder {
    common: Common,
    item: Option<String>,
    neutral: Option<String>,
    input: Option<String>,
    scan: Option<String>,
    output: Option<String>,
    segment_start: Option<String>,
    fetches: Vec<NeighborFetch>,
    index: String,
}

impl ScanKernel {
    /// Starts building a scan. `arguments` are C declarations; pointers are arrays.
    pub fn builder(arguments: &str) -> ScanBuilder {
        ScanBuilder {
            common: Common::new("scan", arguments),
            item: None,
            neutral: None,
            input: None,
            scan: None,
            output: None,
            segment_start: None,
            fetches: Vec::new(),
            index: "int".into(),
        }
    }
}

impl ScanBuilder {
    common_methods!();

    text_methods! {
        /// The C type of the items that are combined. Defaults to the first array's element type.
        item => item as Some;
        /// An expression for item `i`. Defaults to `x[i]` of the first array `x`.
        input => input as Some;
        /// An expression that combines `a` with the later item `b`. It must be associative but need not be commutative.
        /// In a segmented scan `across_seg_boundary` is true if a segment begins within `b`. Required.
        scan => scan as Some;
        /// The neutral element of `scan`, an expression. Required if `output` names `prev_item`.
        neutral => neutral as Some;
        /// Statements executed for each `i`, with `item` (the items combined up to and including `i`), `prev_item`
        /// (those before `i`) and `last_item` (all of them). Required.
        output => output as Some;
        /// A condition on `i` that is true where a segment begins.
        segment_start => segment_start as Some;
        /// The C type of `i` and `N`; `int` by default.
        index => index;
    }

    /// Fetches `array[i + offset]` as `name` before `input` is evaluated, even if `output` overwrites the array.
    pub fn fetch(mut self, name: impl Into<String>, array: impl Into<String>, offset: i64) -> Self {
        self.fetches.push(NeighborFetch { name: name.into(), array: array.into(), offset });
        self
    }

    /// Builds the kernel, without compiling it yet.
    ///
    /// # Errors
    /// When a declaration or type is wrong, there is no array argument, `scan` or `output` is missing, or `output`
    /// names `prev_item` without a `neutral` element.
    pub fn build(self) -> Result<ScanKernel> {
        let common = self.common;
        let arguments = common.parsed_arguments()?;
        let first = arguments.iter().find(|argument| argument.is_vector);
        let item = common.type_or_first(self.item, first, "item")?;
        let input_expr = common.expression_or_first(self.input, first, "input")?;
        let spec = ScanSnippet {
            item,
            neutral: self.neutral,
            input_expr,
            scan_expr: common.required(self.scan, "scan")?,
            output_statement: common.required(self.output, "output")?,
            scatters: false,
            segment_start: self.segment_start,
            fetches: self.fetches,
            index: common.parsed_type(&self.index)?.name,
            arguments,
            name: common.name,
            preamble: common.preamble,
        };
        ScanKernel::new(spec, common.settings)
    }
}
