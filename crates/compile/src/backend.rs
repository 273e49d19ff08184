//! The compiler of CUDA C++ that `RTCG_COMPILER` names: NVRTC, or clang.

use crate::arch::Arch;
use crate::clang::{Clang, cuda as clang_cuda, find_clang, header_folders};
use crate::error::{CompileError, ErrorKind};
use crate::nvrtc::{self, NvrtcFailure, NvrtcJob, NvrtcOutput};
use crate::request::BinaryKind;
use rtcg_cuda_sys::NvrtcTable;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// A compiler that takes NVRTC's jobs.
pub(crate) enum Backend {
    Nvrtc(&'static NvrtcTable),
    Clang(Clang),
}

/// What `RTCG_COMPILER` says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CompilerChoice {
    /// NVRTC where it is installed, else clang.
    Auto,
    Nvrtc,
    Clang,
}

impl CompilerChoice {
    /// The choice of the environment.
    pub(crate) fn of_environment() -> Result<Self, CompileError> {
        match std::env::var("RTCG_COMPILER").unwrap_or_default().as_str() {
            "" | "auto" => Ok(Self::Auto),
            "nvrtc" => Ok(Self::Nvrtc),
            "clang" => Ok(Self::Clang),
            other => {
                let message = format!("RTCG_COMPILER={other}: expected nvrtc, clang or auto");
                Err(CompileError::new(ErrorKind::Unsupported, message))
            }
        }
    }
}

/// Whether `RTCG_NVRTC` names a library.
fn names_nvrtc() -> bool {
    std::env::var_os("RTCG_NVRTC").is_some_and(|name| !name.is_empty() && name != "none")
}

impl Backend {
    /// The compiler that would compile now.
    pub(crate) fn choose() -> Result<Self, CompileError> {
        match CompilerChoice::of_environment()? {
            CompilerChoice::Nvrtc => nvrtc::load_nvrtc().map(Self::Nvrtc),
            CompilerChoice::Clang => find_clang().map(Self::Clang),
            // An NVRTC that somebody named and that does not load is a mistake, and no wish for another compiler.
            CompilerChoice::Auto if names_nvrtc() => nvrtc::load_nvrtc().map(Self::Nvrtc),
            CompilerChoice::Auto => nvrtc::load_nvrtc().map(Self::Nvrtc).or_else(|no_nvrtc| {
                find_clang().map(Self::Clang).map_err(|no_clang| {
                    let message =
                        format!("{}; nor is there the other compiler: {}", no_nvrtc.message, no_clang.message);
                    CompileError::new(ErrorKind::CompilerMissing, message)
                })
            }),
        }
    }

    /// `NVRTC 13.0`, `clang 20.1.2`.
    pub(crate) fn version_text(&self) -> String {
        match self {
            Self::Nvrtc(table) => nvrtc::nvrtc_version_text(table),
            Self::Clang(clang) => clang.version_text(),
        }
    }

    /// What the cache knows it by, without running it.
    pub(crate) fn identity(&self) -> String {
        match self {
            Self::Nvrtc(table) => nvrtc::nvrtc_version_text(table),
            Self::Clang(clang) => format!("clang {}", clang.version_identity()),
        }
    }

    /// Its file.
    pub(crate) fn file(&self) -> PathBuf {
        match self {
            Self::Nvrtc(table) => loaded_library_path(table.library_path()),
            Self::Clang(clang) => clang.program.clone(),
        }
    }

    /// Folders with the headers that belong to it. For clang those of CCCL, if it is given, replace small ones of ours.
    pub(crate) fn header_folders(&self, cccl: Option<&Path>) -> Result<Vec<PathBuf>, CompileError> {
        match self {
            Self::Nvrtc(_) => Ok(rtcg_cuda_sys::header_directories()),
            Self::Clang(_) => header_folders(cccl),
        }
    }

    /// What it is to compile for, and to which kind of binary. Without an architecture NVRTC would give PTX only.
    pub(crate) fn target(
        &self,
        arch: Option<Arch>,
        kind: BinaryKind,
    ) -> Result<(Option<Arch>, BinaryKind), CompileError> {
        match self {
            Self::Nvrtc(table) => {
                let oldest = || table.supported_archs().iter().min().map(|&number| Arch { number, suffix: None });
                match arch.or_else(oldest) {
                    Some(arch) => {
                        nvrtc::supported_arch_and_kind(table, arch, kind).map(|(arch, kind)| (Some(arch), kind))
                    }
                    None => Ok((None, kind)),
                }
            }
            Self::Clang(clang) => {
                let arch = clang_cuda::supported_arch(clang, arch.unwrap_or(Arch::new(8, 0)))?;
                // The driver makes machine code of PTX.
                Ok((Some(arch), if kind == BinaryKind::Cubin { BinaryKind::Ptx } else { kind }))
            }
        }
    }

    pub(crate) fn compile(&self, job: &NvrtcJob) -> Result<NvrtcOutput, NvrtcFailure> {
        match self {
            Self::Nvrtc(table) => nvrtc::compile_program(table, job),
            Self::Clang(clang) => clang_cuda::compile_cuda(clang, job),
        }
    }

    /// A log in NVRTC's words.
    pub(crate) fn log_in_words_of_nvrtc<'l>(&self, log: &'l str) -> Cow<'l, str> {
        match self {
            Self::Nvrtc(_) => Cow::Borrowed(log),
            Self::Clang(_) => Cow::Owned(clang_cuda::log_in_words_of_nvrtc(log)),
        }
    }

    pub(crate) fn is_clang(&self) -> bool {
        matches!(self, Self::Clang(_))
    }
}

/// The file a library was loaded from. When the loader found it by bare name, the process's own map
/// of memory knows where.
pub(crate) fn loaded_library_path(path: &Path) -> PathBuf {
    if path.components().count() > 1 {
        return path.to_owned();
    }
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let name = path.to_string_lossy();
    let found = maps
        .lines()
        .filter_map(|l| l.find('/').map(|at| &l[at..]))
        .find(|file| Path::new(file).file_name().is_some_and(|f| f.to_string_lossy().starts_with(name.as_ref())));
    found.map_or_else(|| path.to_owned(), PathBuf::from)
}
