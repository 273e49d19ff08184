//! Compile requests and their results.

use crate::arch::Arch;
use std::path::PathBuf;
use std::sync::Arc;

/// The form of the result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryKind {
    /// Machine code for one architecture.
    Cubin,
    /// The intermediate language, as text.
    Ptx,
    /// nvcc's container of several of both.
    Fatbin,
    /// NVVM's intermediate code for link-time optimisation, which only a linker takes.
    LtoIr,
}

impl BinaryKind {
    /// `cubin`, `ptx`, `fatbin` or `ltoir`.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Cubin => "cubin",
            Self::Ptx => "ptx",
            Self::Fatbin => "fatbin",
            Self::LtoIr => "ltoir",
        }
    }
}

/// What to compile to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Target {
    /// The form of the result.
    pub kind: BinaryKind,
    /// The architecture; `None` leaves it to an `-arch` option or the compiler's default.
    pub arch: Option<Arch>,
    /// Whether the result says which line of the source each instruction is from, and quotes that source in comments:
    /// the virtual GPU's reports show it. It has no effect on what the program does, and none on machine code.
    pub line_info: bool,
}

impl Target {
    /// A result of this kind for this architecture.
    pub const fn new(kind: BinaryKind, arch: Option<Arch>) -> Self {
        Self { kind, arch, line_info: false }
    }

    /// Machine code for a device of this architecture.
    pub const fn cubin_for_arch(arch: Arch) -> Self {
        Self::new(BinaryKind::Cubin, Some(arch))
    }

    /// PTX for this architecture.
    pub const fn ptx_for_arch(arch: Arch) -> Self {
        Self::new(BinaryKind::Ptx, Some(arch))
    }

    /// LTO-IR for devices of this architecture and newer ones.
    pub const fn ltoir_for_arch(arch: Arch) -> Self {
        Self::new(BinaryKind::LtoIr, Some(arch))
    }
}

/// Where results are kept.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum CachePolicy {
    /// `PYCUDA_CACHE_DIR` or the user's cache directory; off when `PYCUDA_DISABLE_CACHE` is set.
    #[default]
    Default,
    /// This directory, created when missing. `PYCUDA_DISABLE_CACHE` still switches it off.
    Dir(PathBuf),
    /// Neither read nor written, in memory either.
    Off,
}

/// The options that a compilation starts from: `PYCUDA_DEFAULT_NVCC_FLAGS`, split at blanks.
pub fn default_options() -> Vec<String> {
    let flags = std::env::var("PYCUDA_DEFAULT_NVCC_FLAGS").unwrap_or_default();
    flags.split_whitespace().map(str::to_owned).collect()
}

/// One compilation. The fields are public; start from [`CompileRequest::new`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompileRequest {
    /// CUDA C++.
    pub source: String,
    /// Options in nvcc's spelling.
    pub options: Vec<String>,
    /// What to compile to.
    pub target: Target,
    /// The name messages call the source by.
    pub name: String,
    /// Directories searched for headers, before all others.
    pub include_dirs: Vec<PathBuf>,
    /// Leave C++ linkage alone. Otherwise the source is put inside `extern "C" { }`.
    pub no_extern_c: bool,
    /// Keep the compiler's input and output in a directory, which is printed.
    pub keep: bool,
    /// Where results are kept.
    pub cache: CachePolicy,
    /// An nvcc by name or path. `None` and `nvcc` mean: NVRTC where it can do the work.
    pub nvcc: Option<String>,
    /// Texts that parts of the source came from, by the name in their `#line`: errors show their lines.
    pub parts: Vec<(String, String)>,
    /// C++ expressions naming kernels or variables (`"fill<float>"`), whose mangled names are wanted.
    pub name_expressions: Vec<String>,
}

impl CompileRequest {
    /// A request with the default options of the environment.
    pub fn new(source: impl Into<String>, target: Target) -> Self {
        Self {
            source: source.into(),
            options: default_options(),
            target,
            name: "kernel.cu".to_owned(),
            include_dirs: Vec::new(),
            no_extern_c: false,
            keep: false,
            cache: CachePolicy::Default,
            nvcc: None,
            parts: Vec::new(),
            name_expressions: Vec::new(),
        }
    }
}

/// A compiled program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Artifact {
    /// The binary, without a terminating NUL (also for PTX).
    pub bytes: Arc<[u8]>,
    /// What the bytes are. PTX may come where a cubin was requested: when the compiler is older
    /// than the device, the driver does the rest.
    pub kind: BinaryKind,
    /// What the compiler printed (warnings).
    pub log: String,
    /// Each name expression of the request with its mangled name.
    pub lowered_names: Vec<(String, String)>,
    /// Whether no compiler ran.
    pub from_cache: bool,
}
