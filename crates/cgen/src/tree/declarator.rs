//! Declarators: a type, followed by a name with pointers, brackets and attributes.

use crate::dtype::{Dtype, UnknownDtype};
use crate::expr::Expr;

/// The declarator of a variable, a function, a type or a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Declarator {
    /// A variable of a NumPy type.
    Pod(Dtype, String),
    /// A variable whose type is given by name.
    Value(String, String),
    /// A variable of an OpenCL vector type, e.g. `float4 x`.
    VectorPod(&'static str, u32, String),
    /// A wrapped declarator.
    Wrapped(Wrapper, Box<Declarator>),
    /// A function with these parameters.
    Function(Box<Declarator>, Vec<Declarator>),
    /// A structure.
    Struct(Struct),
    /// A template of the inner declarator.
    Template(String, Box<Declarator>),
    /// Foreign text: lines of the type, the declarator, and whether the lines end the declaration.
    Literal(Vec<String>, Option<String>, bool),
}

/// A structure.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Struct {
    /// Name of the type.
    pub name: Option<String>,
    /// Members in order.
    pub fields: Vec<Declarator>,
    /// Name of the variable or typedef.
    pub declarator: Option<String>,
    /// Bytes of padding at the end.
    pub pad_bytes: usize,
    /// Text after the closing brace.
    pub attributes: String,
}

/// A modifier around a declarator.
#[derive(Clone, Debug, PartialEq)]
pub enum Wrapper {
    /// `const`
    Const,
    /// `volatile`
    Volatile,
    /// A pointer, `*`.
    Pointer,
    /// A pointer, `*__restrict__`.
    RestrictPointer,
    /// A reference, `&`.
    Reference,
    /// `__attribute__ ((unused))`
    MaybeUnused,
    /// `static`
    Static,
    /// `typedef`
    Typedef,
    /// `extern` with this language.
    Extern(String),
    /// This namespace before the type.
    Namespace(String),
    /// These template arguments after the type.
    TemplateArguments(String),
    /// An alignment in bytes.
    Aligned(Expr),
    /// Clang's promise about a pointer's alignment in bytes.
    AlignValue(Expr),
    /// An array of this length, by default that of its initialiser.
    Array(Option<Expr>),
    /// `__global__`: a kernel.
    CudaGlobal,
    /// `__device__`
    CudaDevice,
    /// `__shared__`
    CudaShared,
    /// `__constant__`
    CudaConstant,
    /// `__launch_bounds__`: maximum threads per block, minimum blocks per multiprocessor.
    CudaLaunchBounds(Expr, Option<Expr>),
    /// `__kernel`
    ClKernel,
    /// `__constant`
    ClConstant,
    /// `__local`
    ClLocal,
    /// `__global`
    ClGlobal,
    /// `vec_type_hint` with this type.
    ClVecTypeHint(String),
    /// `work_group_size_hint` with three sizes.
    ClWorkGroupSizeHint(Vec<Expr>),
    /// `reqd_work_group_size` with three sizes.
    ClRequiredWorkGroupSize(Vec<Expr>),
    /// Foreign text before the type.
    Specifier(String),
    /// Foreign text around the declarator.
    Around(String, String),
}

/// Where a wrapper's text goes.
pub(super) enum Place {
    BeforeType(String),
    AfterType(String),
    Around(String, String),
}

fn list(expressions: &[Expr]) -> String {
    expressions.iter().map(Expr::to_string).collect::<Vec<_>>().join(", ")
}

impl Wrapper {
    pub(super) fn place(&self) -> Place {
        use Wrapper::*;
        let specifier = |text: &str| Place::BeforeType(format!("{text} "));
        let before = |text: &str| Place::Around(text.to_owned(), String::new());
        let after = |text: String| Place::Around(String::new(), text);
        let attribute = |text: String| Place::Around(format!("__attribute__ (({text})) "), String::new());
        match self {
            Const => before("const "),
            Volatile => before("volatile "),
            Pointer => before("*"),
            RestrictPointer => before("*__restrict__ "),
            Reference => before("&"),
            MaybeUnused => after(" __attribute__ ((unused))".to_owned()),
            Static => specifier("static"),
            Typedef => specifier("typedef"),
            Extern(language) => Place::BeforeType(format!("extern \"{language}\" ")),
            Namespace(name) => Place::BeforeType(format!("{name}::")),
            TemplateArguments(text) => Place::AfterType(format!("<{text}>")),
            Aligned(bytes) => after(format!(" __attribute__ ((aligned ({bytes})))")),
            AlignValue(bytes) => after(format!(" __attribute__ ((align_value ({bytes})))")),
            Array(count) => after(format!("[{}]", count.as_ref().map(Expr::to_string).unwrap_or_default())),
            CudaGlobal => specifier("__global__"),
            CudaDevice => specifier("__device__"),
            CudaShared => specifier("__shared__"),
            CudaConstant => specifier("__constant__"),
            CudaLaunchBounds(threads, None) => before(&format!("__launch_bounds__({threads}) ")),
            CudaLaunchBounds(threads, Some(blocks)) => before(&format!("__launch_bounds__({threads}, {blocks}) ")),
            ClKernel => specifier("__kernel"),
            ClConstant => specifier("__constant"),
            ClLocal => specifier("__local"),
            ClGlobal => specifier("__global"),
            ClVecTypeHint(typename) => attribute(format!("vec_type_hint({typename})")),
            ClWorkGroupSizeHint(dims) => attribute(format!("work_group_size_hint({})", list(dims))),
            ClRequiredWorkGroupSize(dims) => attribute(format!("reqd_work_group_size({})", list(dims))),
            Specifier(text) => Place::BeforeType(text.clone()),
            Around(before, after) => Place::Around(before.clone(), after.clone()),
        }
    }
}

macro_rules! wrappers {
    ($($name:ident $variant:ident $text:literal),*) => {
        impl Declarator {$(
            #[doc = concat!("With `", $text, "`.")]
            pub fn $name(self) -> Self {
                self.wrapped(Wrapper::$variant)
            }
        )*}
    };
}
wrappers!(
    constant Const "const", volatile Volatile "volatile", pointer Pointer "*",
    restrict_pointer RestrictPointer "*__restrict__", reference Reference "&",
    maybe_unused MaybeUnused "__attribute__ ((unused))", static_ Static "static", typedef Typedef "typedef",
    cuda_global CudaGlobal "__global__", cuda_device CudaDevice "__device__", cuda_shared CudaShared "__shared__",
    cuda_constant CudaConstant "__constant__", cl_kernel ClKernel "__kernel", cl_constant ClConstant "__constant",
    cl_local ClLocal "__local", cl_global ClGlobal "__global"
);

/// Three dimensions; those not given are 1.
fn three_dims(dims: &[u32]) -> Vec<Expr> {
    let mut dims: Vec<_> = dims.iter().map(|&d| Expr::raw(d.to_string())).collect();
    dims.resize(dims.len().max(3), Expr::raw("1"));
    dims
}

impl Declarator {
    /// A variable of a NumPy type.
    pub fn pod(dtype: Dtype, name: impl Into<String>) -> Self {
        Self::Pod(dtype, name.into())
    }

    /// A variable whose type is given by name.
    pub fn value(typename: impl Into<String>, name: impl Into<String>) -> Self {
        Self::Value(typename.into(), name.into())
    }

    /// An OpenCL vector variable; an error for element types without vectors.
    pub fn cl_vector(dtype: Dtype, count: u32, name: impl Into<String>) -> Result<Self, UnknownDtype> {
        Ok(Self::VectorPod(dtype.cltype()?, count, name.into()))
    }

    /// An OpenCL image of 1 to 3 dimensions, for reading or writing.
    pub fn cl_image(dims: u32, writes: bool, name: impl Into<String>) -> Self {
        let access = if writes { "__write_only" } else { "__read_only" };
        Self::value(format!("{access} image{dims}d_t"), name)
    }

    /// Wraps this declarator.
    pub fn wrapped(self, wrapper: Wrapper) -> Self {
        Self::Wrapped(wrapper, Box::new(self))
    }

    /// An array of `count` elements.
    pub fn array(self, count: impl Into<Expr>) -> Self {
        self.wrapped(Wrapper::Array(Some(count.into())))
    }

    /// A function with these parameters.
    pub fn function(self, parameters: impl IntoIterator<Item = Self>) -> Self {
        Self::Function(Box::new(self), parameters.into_iter().collect())
    }

    /// A template, e.g. with the parameters `typename T`.
    pub fn template(self, parameters: impl Into<String>) -> Self {
        Self::Template(parameters.into(), Box::new(self))
    }

    /// With `extern "language"`.
    pub fn extern_(self, language: impl Into<String>) -> Self {
        self.wrapped(Wrapper::Extern(language.into()))
    }

    /// With `__launch_bounds__`.
    pub fn cuda_launch_bounds(self, max_threads: impl Into<Expr>, min_blocks: Option<Expr>) -> Self {
        self.wrapped(Wrapper::CudaLaunchBounds(max_threads.into(), min_blocks))
    }

    /// With `work_group_size_hint`.
    pub fn cl_work_group_size_hint(self, dims: &[u32]) -> Self {
        self.wrapped(Wrapper::ClWorkGroupSizeHint(three_dims(dims)))
    }

    /// With `reqd_work_group_size`.
    pub fn cl_required_work_group_size(self, dims: &[u32]) -> Self {
        self.wrapped(Wrapper::ClRequiredWorkGroupSize(three_dims(dims)))
    }

    /// The declared name, if there is one.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Pod(_, name) | Self::Value(_, name) | Self::VectorPod(_, _, name) => Some(name),
            Self::Wrapped(_, inner) | Self::Function(inner, _) | Self::Template(_, inner) => inner.name(),
            Self::Struct(body) => body.declarator.as_deref(),
            Self::Literal(..) => None,
        }
    }

    /// Whether it declares a function, whatever wraps it.
    pub fn is_function(&self) -> bool {
        match self {
            Self::Function(..) | Self::Literal(..) => true,
            Self::Wrapped(_, inner) | Self::Template(_, inner) => inner.is_function(),
            _ => false,
        }
    }
}

impl Struct {
    /// A structure type with this name.
    pub fn new(name: impl Into<String>, fields: impl IntoIterator<Item = Declarator>) -> Self {
        Self { name: Some(name.into()), fields: fields.into_iter().collect(), ..Self::default() }
    }
}

impl From<Struct> for Declarator {
    fn from(body: Struct) -> Self {
        Self::Struct(body)
    }
}
