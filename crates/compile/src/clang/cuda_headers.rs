//! The headers of CUDA C++ for clang, as files of the cache, and the precompiled prelude.
//!
//! Establishes: a folder of headers is complete if its name is there, and its name changes with any text in it; the
//! same holds for precompiled preludes, whose names also change with the clang and the options that headers can see.

use super::cuda::{front_end_arguments, run_front_end};
use super::find::file_identity;
use super::precompiled::without_list_of_functions;
use super::{Clang, WorkFolder, io_error};
use crate::arch::Arch;
use crate::cache::cache_directory;
use crate::error::{CompileError, ErrorKind};
use crate::hash::{CacheKey, KeyHasher};
use crate::header_shims;
use rtcg_disk_cache::{CachePermissions, TemporaryFolder};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};

/// The mathematics of single precision, which OpenCL's library has too. Its names and macros are those of the prelude.
pub const MATHEMATICS_FLOAT: &str = include_str!("cuda/rtcg_math_float.h");

/// The mathematics of double precision, likewise.
pub const MATHEMATICS_DOUBLE: &str = include_str!("cuda/rtcg_math_double.h");

/// The prelude: what CUDA C++ declares without an include.
const PRELUDE: &str = "rtcg_cuda.h";

/// Options that the texts of headers see.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct PreludeVariant {
    /// clang's major version, where it is known.
    pub(super) clang_version: Option<u32>,
    pub(super) arch: Arch,
    /// `c++17`.
    pub(super) standard: String,
    /// Whether denormal numbers of single precision are zero.
    pub(super) flushes: bool,
    pub(super) has_exact_division: bool,
    pub(super) has_exact_roots: bool,
    /// Whether products and sums may be fused.
    pub(super) fuses: bool,
    pub(super) has_fast_math: bool,
    pub(super) has_debug_information: bool,
    /// Whether other modules may be linked to the program.
    pub(super) is_relocatable: bool,
}

impl Default for PreludeVariant {
    fn default() -> Self {
        Self {
            clang_version: None,
            arch: Arch::new(8, 0),
            standard: "c++17".to_owned(),
            flushes: false,
            has_exact_division: true,
            has_exact_roots: true,
            fuses: true,
            has_fast_math: false,
            has_debug_information: false,
            is_relocatable: false,
        }
    }
}

impl PreludeVariant {
    /// The macros that say so.
    pub(super) fn macros(&self) -> Vec<String> {
        let number = |name: &str, is_so: bool| format!("{name}={}", u8::from(is_so));
        let mut macros = vec![
            number("__RTCG_FTZ", self.flushes),
            number("__RTCG_PREC_DIV", self.has_exact_division),
            number("__RTCG_PREC_SQRT", self.has_exact_roots),
            number("__RTCG_FMAD", self.fuses),
        ];
        macros.extend(self.has_fast_math.then(|| "__USE_FAST_MATH__=1".to_owned()));
        macros
    }
}

macro_rules! define_headers {
    ($($name:literal,)*) => {
        /// The headers that clang needs in place of the shims, or in addition: the name in `#include`, and the text.
        const HEADERS: &[(&str, &str)] = &[$(($name, include_str!(concat!("cuda/", $name))),)*];
    };
}

define_headers! {
    "algorithm",
    "array",
    "bit",
    "builtin_types.h",
    "ccomplex",
    "channel_descriptor.h",
    "common_functions.h",
    "complex",
    "complex.h",
    "cooperative_groups.h",
    "cooperative_groups/memcpy_async.h",
    "cooperative_groups/reduce.h",
    "cooperative_groups/rtcg_operators.h",
    "cooperative_groups/scan.h",
    "cuComplex.h",
    "cuda.h",
    "cuda_awbarrier.h",
    "cuda_awbarrier_primitives.h",
    "cuda_bf16.h",
    "cuda_bf16.hpp",
    "cuda_fp16.h",
    "cuda_fp16.hpp",
    "cuda_fp4.h",
    "cuda_fp4.hpp",
    "cuda_fp6.h",
    "cuda_fp6.hpp",
    "cuda_fp8.h",
    "cuda_fp8.hpp",
    "cuda_pipeline.h",
    "cuda_pipeline_primitives.h",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "cuda_surface_types.h",
    "cuda_texture_types.h",
    "curand.h",
    "curand_kernel.h",
    "curand_lognormal.h",
    "curand_mtgp32_kernel.h",
    "curand_normal.h",
    "curand_philox4x32_x.h",
    "curand_poisson.h",
    "curand_uniform.h",
    "device_atomic_functions.h",
    "device_double_functions.h",
    "device_functions.h",
    "device_launch_parameters.h",
    "device_types.h",
    "driver_types.h",
    "functional",
    "host_defines.h",
    "initializer_list",
    "iterator",
    "library_types.h",
    "limits",
    "mma.h",
    "numeric",
    "rtcg_async.h",
    "rtcg_atomics.h",
    "rtcg_base.h",
    "rtcg_builtins.h",
    "rtcg_cccl.h",
    "rtcg_cluster.h",
    "rtcg_convert.h",
    "rtcg_cuda.h",
    "rtcg_half_common.h",
    "rtcg_half_end.h",
    "rtcg_integer.h",
    "rtcg_intrinsics.h",
    "rtcg_lanes.h",
    "rtcg_library.h",
    "rtcg_math.h",
    "rtcg_math_double.h",
    "rtcg_math_float.h",
    "rtcg_memory.h",
    "rtcg_narrow.h",
    "rtcg_nv_atomics.h",
    "rtcg_rounding.h",
    "rtcg_shared.h",
    "rtcg_textures.h",
    "rtcg_warp.h",
    "sm_20_atomic_functions.h",
    "sm_20_intrinsics.h",
    "sm_30_intrinsics.h",
    "sm_32_atomic_functions.h",
    "sm_32_intrinsics.h",
    "sm_35_atomic_functions.h",
    "sm_35_intrinsics.h",
    "sm_60_atomic_functions.h",
    "sm_61_intrinsics.h",
    "stdarg.h",
    "surface_functions.h",
    "surface_indirect_functions.h",
    "surface_types.h",
    "texture_fetch_functions.h",
    "texture_indirect_functions.h",
    "texture_types.h",
    "tuple",
    "type_traits",
    "utility",
    "vector_functions.h",
    "vector_types.h",
    "with_cccl/cub/cub.cuh",
    "with_cccl/cuda/__barrier/barrier_block_scope.h",
    "without_cccl/cuda/barrier",
    "without_cccl/cuda/pipeline",
    "without_cccl/cuda/std/algorithm",
    "without_cccl/cuda/std/array",
    "without_cccl/cuda/std/bit",
    "without_cccl/cuda/std/cassert",
    "without_cccl/cuda/std/cfloat",
    "without_cccl/cuda/std/climits",
    "without_cccl/cuda/std/cmath",
    "without_cccl/cuda/std/complex",
    "without_cccl/cuda/std/cstddef",
    "without_cccl/cuda/std/cstdint",
    "without_cccl/cuda/std/cstdio",
    "without_cccl/cuda/std/cstdlib",
    "without_cccl/cuda/std/cstring",
    "without_cccl/cuda/std/ctime",
    "without_cccl/cuda/std/functional",
    "without_cccl/cuda/std/initializer_list",
    "without_cccl/cuda/std/iterator",
    "without_cccl/cuda/std/limits",
    "without_cccl/cuda/std/numeric",
    "without_cccl/cuda/std/tuple",
    "without_cccl/cuda/std/type_traits",
    "without_cccl/cuda/std/utility",
}

/// The folder whose headers are taken in place of those of this crate, for work on them.
fn folder_of_developer() -> Option<PathBuf> {
    std::env::var_os("RTCG_CLANG_HEADERS").filter(|name| !name.is_empty()).map(PathBuf::from)
}

/// All headers, by name: those for clang, and the shims that they do not replace.
fn headers() -> BTreeMap<String, Cow<'static, str>> {
    let shims = header_shims::shim_names().filter_map(|name| Some((name, shim(name)?)));
    let mut all: BTreeMap<String, Cow<'static, str>> =
        shims.chain(HEADERS.iter().copied()).map(|(name, text)| (name.to_owned(), Cow::Borrowed(text))).collect();
    if let Some(folder) = folder_of_developer() {
        all.extend(files_below(&folder).into_iter().map(|(name, text)| (name, Cow::Owned(text))));
    }
    all
}

/// The texts in a folder and the folders in it, by their paths from there.
fn files_below(folder: &Path) -> BTreeMap<String, String> {
    let (mut found, mut pending) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(dir) = pending.pop() {
        for path in std::fs::read_dir(&dir).into_iter().flatten().flatten().map(|entry| entry.path()) {
            let name = path.strip_prefix(folder).ok().and_then(Path::to_str).map(|name| name.replace('\\', "/"));
            match (path.is_dir(), name, std::fs::read_to_string(&path)) {
                (true, ..) => pending.push(path),
                (false, Some(name), Ok(text)) => drop(found.insert(name, text)),
                _ => {}
            }
        }
    }
    found
}

fn shim(name: &str) -> Option<&'static str> {
    header_shims::find_shim(name).or_else(|| header_shims::find_fallback(name))
}

/// The place of files that outlive the process: the cache's, or a folder of this process where there is no cache.
fn place() -> Result<PathBuf, CompileError> {
    static OF_PROCESS: Mutex<Option<TemporaryFolder>> = Mutex::new(None);
    if let Some(folder) = cache_directory().map(|folder| folder.join("clang")) {
        let permissions = CachePermissions::of_this_user();
        if permissions.make_folder(&folder).is_ok() && permissions.trust_folder(&folder) {
            return Ok(folder);
        }
    }
    let mut of_process = OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
    if of_process.is_none() {
        let made = TemporaryFolder::new("rtcg-clang").map_err(|error| io_error(&std::env::temp_dir(), &error))?;
        *of_process = Some(made);
    }
    Ok(of_process.as_ref().map(|folder| folder.path().to_owned()).unwrap_or_default())
}

fn hex(key: &[u8]) -> String {
    key.iter().take(12).map(|byte| format!("{byte:02x}")).collect()
}

/// Puts what `fill` writes into a new folder at `to`, whole or not at all.
fn make_whole(to: &Path, fill: impl FnOnce(&Path) -> Result<(), CompileError>) -> Result<(), CompileError> {
    if to.exists() {
        return Ok(());
    }
    let partial = to.with_extension(format!("{}.tmp", std::process::id()));
    let _ = std::fs::remove_dir_all(&partial);
    CachePermissions::of_this_user().make_folder(&partial).map_err(|error| io_error(&partial, &error))?;
    let filled = fill(&partial);
    // Where another process was faster, its folder is as good.
    if filled.is_err() || std::fs::rename(&partial, to).is_err() {
        let _ = std::fs::remove_dir_all(&partial);
    }
    filled
}

/// A key that changes with any text of a header.
fn headers_key() -> CacheKey {
    static OF_THIS_CRATE: OnceLock<CacheKey> = OnceLock::new();
    let of_texts = || {
        let mut hasher = KeyHasher::default();
        headers()
            .iter()
            .for_each(|(name, text)| [name, &**text].iter().for_each(|part| hasher.hash_field(part.as_bytes())));
        hasher.finish_key()
    };
    if folder_of_developer().is_some() { of_texts() } else { *OF_THIS_CRATE.get_or_init(of_texts) }
}

/// A key that changes with all that this crate adds to a compilation by clang.
pub(crate) fn additions_key() -> CacheKey {
    let mut hasher = KeyHasher::default();
    hasher.hash_field(&headers_key());
    for source in [include_str!("cuda.rs"), include_str!("cuda_headers.rs"), include_str!("cuda_source.rs")] {
        hasher.hash_field(source.as_bytes());
    }
    hasher.finish_key()
}

/// The folder with all headers.
fn header_folder() -> Result<PathBuf, CompileError> {
    static MADE: Mutex<Option<PathBuf>> = Mutex::new(None);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(folder) = made.as_ref().filter(|folder| folder.exists() && folder_of_developer().is_none()) {
        return Ok(folder.clone());
    }
    let all = headers();
    let folder = place()?.join(format!("headers-{}", hex(&headers_key())));
    make_whole(&folder, |partial| {
        for (name, text) in &all {
            let path = partial.join(name);
            let parent = path.parent().unwrap_or(partial);
            std::fs::create_dir_all(parent).map_err(|error| io_error(parent, &error))?;
            std::fs::write(&path, text.as_bytes()).map_err(|error| io_error(&path, &error))?;
        }
        Ok(())
    })?;
    *made = Some(folder.clone());
    Ok(folder)
}

/// The folders to search: ours, with those of CCCL behind them or, without, small headers of the same names.
pub(crate) fn header_folders(cccl: Option<&Path>) -> Result<Vec<PathBuf>, CompileError> {
    let ours = header_folder()?;
    Ok(match cccl {
        Some(cccl) => vec![ours.join("with_cccl"), ours, cccl.to_owned()],
        None => vec![ours.clone(), ours.join(WITHOUT_CCCL)],
    })
}

/// The folder of headers that replace some of CCCL's.
const WITHOUT_CCCL: &str = "without_cccl";

/// Whether a file is one of these.
pub(crate) fn is_in_place_of_cccl(file: &Path) -> bool {
    file.iter().any(|part| part == WITHOUT_CCCL)
}

/// The file of the precompiled prelude for these options.
pub(super) fn precompiled_prelude(clang: &Clang, variant: &PreludeVariant) -> Result<PathBuf, CompileError> {
    static ONE_AT_A_TIME: LazyLock<Mutex<()>> = LazyLock::new(Default::default);
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let headers = header_folder()?;
    let mut arguments = front_end_arguments(variant);
    arguments.extend(["-internal-isystem".to_owned(), headers.display().to_string()]);
    let mut hasher = KeyHasher::default();
    hasher.hash_field(file_identity(&clang.program).unwrap_or_default().as_bytes());
    hasher.hash_list(arguments.iter());
    hasher.hash_field(include_str!("precompiled.rs").as_bytes());
    let folder = headers.with_file_name(format!("prelude-{}", hex(&hasher.finish_key())));
    make_whole(&folder, |partial| {
        let file = partial.join(PRECOMPILED).display().to_string();
        let source = headers.join(PRELUDE).display().to_string();
        arguments.extend(["-emit-pch", "-x", "cuda", "-o", &file, &source].map(str::to_owned));
        let work = WorkFolder::new()?;
        let (succeeded, log) = run_front_end(clang, &arguments, work.path())?;
        if succeeded {
            return make_quick_to_load(&partial.join(PRECOMPILED));
        }
        let message = format!("{} does not compile the headers of rtcg", clang.version_text());
        let command = [vec![clang.program.display().to_string()], arguments.clone()].concat();
        Err(CompileError::new(ErrorKind::Unsupported, message).with_compiler_log(command, log, PRELUDE, ""))
    })?;
    Ok(folder.join(PRECOMPILED))
}

const PRECOMPILED: &str = "prelude.pch";

fn make_quick_to_load(file: &Path) -> Result<(), CompileError> {
    let failed = |error: std::io::Error| io_error(file, &error);
    let mut bytes = std::fs::read(file).map_err(failed)?;
    let is_changed = without_list_of_functions(&mut bytes);
    if is_changed { std::fs::write(file, bytes).map_err(failed) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rtcg_c_lex::{Token, TokenKind, tokenize};

    #[test]
    fn all_files_of_the_folder_are_in_the_crate() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/clang/cuda");
        let files = files_below(&folder);
        let embedded: BTreeMap<String, String> =
            HEADERS.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        assert!(HEADERS.is_sorted() && !files.is_empty());
        assert_eq!(embedded, files);
    }

    #[test]
    fn names_of_our_own_are_those_that_programs_must_not_have() {
        for (name, text) in HEADERS {
            let begins_with_ours = |token: &Token<'_>| token.kind == TokenKind::Word && token.text.starts_with("rtcg_");
            let tokens = tokenize(text);
            let is_file = |at: usize| tokens.get(at + 1).is_some_and(|next| next.text == ".");
            let ours: Vec<&str> = (0..tokens.len())
                .filter(|&at| begins_with_ours(&tokens[at]) && !is_file(at))
                .map(|at| tokens[at].text)
                .collect();
            assert!(ours.is_empty(), "{name}: {ours:?}: a kernel may have such a name, so begin with __rtcg_");
        }
    }

    #[test]
    fn programs_read_what_they_use_of_the_prelude() {
        for clang in super::super::tests::all_clangs() {
            let variant = PreludeVariant { clang_version: clang.version, ..PreludeVariant::default() };
            let prelude = precompiled_prelude(&clang, &variant).unwrap().display().to_string();
            let work = WorkFolder::new().unwrap();
            work.write("empty.cu", "").unwrap();
            let mut arguments = front_end_arguments(&variant);
            let more =
                ["-emit-llvm", "-o", "empty.ll", "-print-stats", "-include-pch", &prelude, "-x", "cuda", "empty.cu"];
            arguments.extend(more.map(str::to_owned));
            let (succeeded, log) = run_front_end(&clang, &arguments, work.path()).unwrap();
            let line = log.lines().find(|line| line.contains(" identifiers read")).expect("statistics");
            let (read, all) = line.trim().split_once(' ').unwrap().0.split_once('/').unwrap();
            let (read, all): (u32, u32) = (read.parse().unwrap(), all.parse().unwrap());
            assert!(succeeded && all > 1000 && read < all / 20, "{clang:?}: {line}");
        }
    }
}
