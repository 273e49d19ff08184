//! Compile requests and their results.

use crate::arch::Arch;
use std::path::PathBuf;
use std::sync::Arc;

/// The form of a compilation result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryKind {
    /// Machine code for one architecture.
    Cubin,
    /// The intermediate language, as text.
    Ptx,
    /// nvcc's container of several of both.
    Fatbin,
    /// NVVM's intermediate code for link-time optimisation, which only a linker accepts.
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

/// The target of a compilation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Target {
    /// The form of the result.
    pub kind: BinaryKind,
    /// The architecture; `None` leaves the choice to an `-arch` option or the compiler's default.
    pub arch: Option<Arch>,
    /// Whether the result records the source line of each instruction, and quotes the source in comments, for the
    /// virtual GPU's reports. This changes neither what the program does nor machine code.
    pub line_info: bool,
}

impl Target {
    /// A target of this kind for this architecture.
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

    /// LTO-IR for devices of this architecture and newer.
    pub const fn ltoir_for_arch(arch: Arch) -> Self {
        Self::new(BinaryKind::LtoIr, Some(arch))
    }
}

/// Where results are cached.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum CachePolicy {
    /// In `PYCUDA_CACHE_DIR` or the user's cache directory; off if `PYCUDA_DISABLE_CACHE` is set.
    #[default]
    Default,
    /// In this directory, which is created if missing. `PYCUDA_DISABLE_CACHE` still turns it off.
    Dir(PathBuf),
    /// Nowhere, not even in memory.
    Off,
}

/// The initial options of a compilation: `PYCUDA_DEFAULT_NVCC_FLAGS`, split at blanks.
pub fn default_options() -> Vec<String> {
    let flags = std::env::var("PYCUDA_DEFAULT_NVCC_FLAGS").unwrap_or_default();
    flags.split_whitespace().map(str::to_owned).collect()
}

/// A compile request. The fields are public; start from [`CompileRequest::new`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompileRequest {
    /// CUDA C++.
    pub source: String,
    /// Options in nvcc's spelling.
    pub options: Vec<String>,
    /// The target.
    pub target: Target,
    /// The name that messages use for the source.
    pub name: String,
    /// Directories to search for headers before all others.
    pub include_dirs: Vec<PathBuf>,
    /// Whether to keep C++ linkage. Otherwise the source is put inside `extern "C" { }`.
    pub no_extern_c: bool,
    /// Whether to keep the compiler's input and output in a directory, whose path is printed.
    pub keep: bool,
    /// Where results are cached.
    pub cache: CachePolicy,
    /// An nvcc by name or path. `None` and `nvcc` mean NVRTC if it can do the work.
    pub nvcc: Option<String>,
    /// The original texts of parts of the source, by the name in their `#line`: errors show their lines.
    pub parts: Vec<(String, String)>,
    /// C++ expressions naming kernels or variables (`"fill<float>"`) whose mangled names are needed.
    pub name_expressions: Vec<String>,
}

impl CompileRequest {
    /// Makes a request with the environment's default options.
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
    /// The form of the bytes. It may be PTX although a cubin was requested, if the compiler is older than the device;
    /// the driver then does the rest.
    pub kind: BinaryKind,
    /// The compiler's output (warnings).
    pub log: String,
    /// Each name expression of the request with its mangled name.
    pub lowered_names: Vec<(String, String)>,
    /// Whether the result came from the cache, without running a compiler.
    pub from_cache: bool,
}
