//! Locates CUDA's user-space files: NVRTC, nvJitLink, headers and nvcc.
//!
//! A [`CudaInstallation`] is one coherent set of directories (a wheel's, a toolkit's). The search order is: wheels
//! beside the running Python (roots given by [`add_search_root`], `VIRTUAL_ENV`, `CONDA_PREFIX`, the environment from
//! which the program was started, the directories around this shared object or program), `CUDA_HOME` and `CUDA_PATH`,
//! wheels in the user's and the system's `site-packages`, `/usr/local/cuda`. Only existing directories are listed, and
//! nothing is opened.

use crate::load::LoadError;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

static SEARCH_ROOTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Adds a directory to search before all others: a `site-packages` directory or a Python prefix (`sys.prefix`). The
/// Python layer calls this with the running interpreter's.
pub fn add_search_root(root: impl Into<PathBuf>) {
    let root = root.into();
    let mut roots = SEARCH_ROOTS.lock().unwrap_or_else(|e| e.into_inner());
    if !roots.contains(&root) {
        roots.push(root);
    }
}

/// A coherent set of CUDA directories.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CudaInstallation {
    /// Its origin, for messages: `wheel in .../site-packages`, `CUDA_HOME=...`.
    pub origin: String,
    /// Existing directories with shared libraries.
    pub lib_dirs: Vec<PathBuf>,
    /// Existing directories for `-I`, in order.
    pub include_dirs: Vec<PathBuf>,
    /// Existing directories with programs.
    pub bin_dirs: Vec<PathBuf>,
}

impl CudaInstallation {
    fn new(origin: String, libs: Vec<PathBuf>, includes: Vec<PathBuf>, bins: Vec<PathBuf>) -> Self {
        let existing = |dirs: Vec<PathBuf>| -> Vec<PathBuf> {
            let mut kept: Vec<PathBuf> = Vec::new();
            for dir in dirs.into_iter().filter(|d| d.is_dir()) {
                if !kept.contains(&dir) {
                    kept.push(dir);
                }
            }
            kept
        };
        Self { origin, lib_dirs: existing(libs), include_dirs: existing(includes), bin_dirs: existing(bins) }
    }

    fn is_empty(&self) -> bool {
        self.lib_dirs.is_empty() && self.include_dirs.is_empty() && self.bin_dirs.is_empty()
    }
}

/// The folders of the Python package `name` (for wheels that contain programs), in search order.
pub fn python_packages(name: &str) -> Vec<PathBuf> {
    let sites = site_packages(near_prefixes(), name).into_iter().chain(site_packages(shared_prefixes(), name));
    sites.map(|site| site.join(name)).collect()
}

/// The `lib` folders of the Python installations that are searched, in search order; wheels install libraries there,
/// beside the packages folder.
pub fn python_library_folders() -> Vec<PathBuf> {
    let is_packages = |folder: &Path| folder.ends_with("site-packages") || folder.ends_with("dist-packages");
    let folder_of = |prefix: PathBuf| match prefix.ancestors().nth(2) {
        Some(lib) if is_packages(&prefix) => lib.to_owned(),
        _ => prefix.join("lib"),
    };
    near_prefixes().into_iter().chain(shared_prefixes()).map(folder_of).collect()
}

/// Finds all installations, in search order.
pub fn find_installations() -> Vec<CudaInstallation> {
    let mut found = Vec::new();
    let (near, shared) = (site_packages(near_prefixes(), "nvidia"), site_packages(shared_prefixes(), "nvidia"));
    near.iter().for_each(|site| found.extend(wheel_installations(site)));
    for variable in TOOLKIT_VARIABLES {
        if let Some(home) = directory_from_env(variable) {
            found.push(toolkit_installation(format!("{variable}={}", home.display()), &home));
        }
    }
    shared.iter().filter(|site| !near.contains(site)).for_each(|site| found.extend(wheel_installations(site)));
    for home in TOOLKIT_DIRECTORIES {
        found.push(toolkit_installation((*home).to_owned(), Path::new(home)));
    }
    found.retain(|i| !i.is_empty());
    found
}

/// Where there could be an installation and is none, and why, in search order: for the message of a library that was
/// not found.
pub(crate) fn places_without_installation() -> Vec<(String, String)> {
    let mut places = Vec::new();
    for variable in PREFIX_VARIABLES.iter().chain(TOOLKIT_VARIABLES) {
        if directory_from_env(variable).is_none() {
            let value = std::env::var_os(variable).filter(|value| !value.is_empty());
            let reason = value.map_or("not set".to_owned(), |value| format!("{} is no directory", value.display()));
            places.push(((*variable).to_owned(), reason));
        }
    }
    for prefix in near_prefixes().into_iter().chain(shared_prefixes()) {
        if site_packages(vec![prefix.clone()], "nvidia").is_empty() {
            places.push((prefix.display().to_string(), "no wheel of NVIDIA there".to_owned()));
        }
    }
    for home in TOOLKIT_DIRECTORIES.iter().filter(|home| !Path::new(home).is_dir()) {
        places.push(((*home).to_owned(), "no such directory".to_owned()));
    }
    places
}

/// The include directories of all installations that have CUDA headers, in search order, for `-I`: `include` and, if it
/// exists, `include/cccl` (where CUDA 13 has `<cuda/std/...>`). A wheel may lack headers that a toolkit has, so later
/// directories supply what the first lacks. Empty if no headers are installed.
pub fn header_directories() -> Vec<PathBuf> {
    let has = |header: &'static str| {
        find_installations()
            .into_iter()
            .map(|i| i.include_dirs)
            .filter(move |dirs| dirs.iter().any(|d| d.join(header).is_file()))
            .flatten()
            .collect::<Vec<_>>()
    };
    let complete = has("cuda_runtime.h");
    if complete.is_empty() { has("cuda_fp16.h") } else { complete }
}

/// The folder with CCCL's headers (libcu++, CUB, Thrust), which are open source: that of the wheel `cuda-cccl`, or of an
/// installation.
pub fn cccl_directory() -> Option<PathBuf> {
    let of_open_wheel = python_packages("cuda").into_iter().map(|package| package.join("cccl/headers/include"));
    let of_installations = find_installations().into_iter().flat_map(|i| i.include_dirs);
    of_open_wheel.chain(of_installations).find(|dir| dir.join("cub/config.cuh").is_file())
}

/// Finds an nvcc: `name` itself if it is a path, otherwise on `PATH`, then in the installations.
pub fn find_nvcc(name: &str) -> Result<PathBuf, LoadError> {
    find_program(name).map_err(|tried| LoadError {
        what: "nvcc",
        tried,
        hint: "install the wheel nvidia-cuda-nvcc or a CUDA toolkit, or set CUDA_HOME; \
               NVRTC, the default compiler, needs no nvcc"
            .to_owned(),
    })
}

/// Finds the shared library `name` (`curand` for `libcurand.so.10`) in the first installation that has it, without
/// opening it.
pub fn find_library(name: &str) -> Option<PathBuf> {
    let prefixes = [format!("lib{name}.so"), format!("{name}64_"), format!("lib{name}.dylib")];
    let fits = |path: &PathBuf| {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        prefixes.iter().any(|prefix| file.starts_with(prefix.as_str()))
    };
    let directories = find_installations().into_iter().flat_map(|i| i.lib_dirs);
    directories
        .filter_map(|dir| {
            let mut found: Vec<_> = std::fs::read_dir(dir).ok()?.flatten().map(|e| e.path()).filter(fits).collect();
            found.sort();
            found.into_iter().next()
        })
        .next()
}

/// Whether the loader finds an OpenGL library. It stays loaded.
pub fn can_load_opengl() -> bool {
    const OPENGL_LIBRARY_NAMES: &[&str] = if cfg!(windows) {
        &["opengl32.dll"]
    } else {
        &["libOpenGL.so.0", "libGL.so.1", "libEGL.so.1", "libGLESv2.so.2"]
    };
    OPENGL_LIBRARY_NAMES.iter().any(|name| crate::load::OpenLibrary::dlopen(name, false).is_ok())
}

fn find_program(name: &str) -> Result<PathBuf, Vec<(String, String)>> {
    let mut tried = Vec::new();
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    if Path::new(name).components().count() > 1 {
        if Path::new(name).is_file() {
            return Ok(PathBuf::from(name));
        }
        return Err(vec![(name.to_owned(), "no such file".to_owned())]);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    for dir in std::env::split_paths(&path) {
        if dir.join(&file).is_file() {
            return Ok(dir.join(&file));
        }
    }
    tried.push(("PATH".to_owned(), format!("{file} is in none of its directories")));
    for installation in find_installations() {
        for dir in &installation.bin_dirs {
            if dir.join(&file).is_file() {
                return Ok(dir.join(&file));
            }
            tried.push((dir.join(&file).display().to_string(), "no such file".to_owned()));
        }
    }
    Err(tried)
}

fn directory_from_env(variable: &str) -> Option<PathBuf> {
    let value = std::env::var_os(variable).filter(|v| !v.is_empty())?;
    Some(PathBuf::from(value)).filter(|p| p.is_dir())
}

/// Variables that name a Python prefix.
const PREFIX_VARIABLES: &[&str] = &["VIRTUAL_ENV", "CONDA_PREFIX"];
/// Variables that name a toolkit.
const TOOLKIT_VARIABLES: &[&str] = &["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"];
/// Where toolkits are installed.
const TOOLKIT_DIRECTORIES: &[&str] = &["/usr/local/cuda", "/opt/cuda"];

/// Prefixes of the Python that the program or its user has chosen.
fn near_prefixes() -> Vec<PathBuf> {
    let mut prefixes = SEARCH_ROOTS.lock().unwrap_or_else(|e| e.into_inner()).clone();
    prefixes.extend(PREFIX_VARIABLES.iter().filter_map(|v| directory_from_env(v)));
    prefixes.extend(prefix_of_program());
    prefixes.extend(python_prefixes_near_own_library());
    prefixes
}

/// The prefix of `PREFIX/bin/python` as it was called. Links are not followed: the interpreter of a virtual environment is
/// a link to one of another prefix, and an environment need not be activated for its programs to be called.
fn prefix_of_program() -> Option<PathBuf> {
    let program = PathBuf::from(std::env::args_os().next()?);
    let folder = match program.parent()? {
        folder if folder.as_os_str().is_empty() => {
            let path = std::env::var_os("PATH")?;
            std::env::split_paths(&path).find(|folder| folder.join(&program).is_file())?
        }
        folder => folder.to_owned(),
    };
    std::path::absolute(folder).ok()?.parent().map(Path::to_owned)
}

/// Prefixes that every program of the user or of the machine sees: `pip install --user` and the system's packages.
fn shared_prefixes() -> Vec<PathBuf> {
    let user = std::env::var_os("PYTHONUSERBASE").filter(|base| !base.is_empty()).map(PathBuf::from);
    let user = user.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".local")));
    user.into_iter().chain(["/usr/local", "/usr"].map(PathBuf::from)).collect()
}

/// The directories of packages under `prefixes` that hold the package `name`; those of newer Pythons first. NVIDIA's
/// wheels share the package `nvidia`.
fn site_packages(prefixes: Vec<PathBuf>, name: &str) -> Vec<PathBuf> {
    let mut sites = Vec::new();
    for prefix in prefixes {
        let mut candidates = vec![prefix.clone(), prefix.join("Lib/site-packages")];
        if let Ok(entries) = std::fs::read_dir(prefix.join("lib")) {
            let mut pythons: Vec<_> = entries
                .flatten()
                .filter(|e| e.file_name().to_string_lossy().starts_with("python3"))
                .flat_map(|e| ["site-packages", "dist-packages"].map(|dir| e.path().join(dir)))
                .collect();
            pythons.sort_by_key(|path| version_of_python(path));
            candidates.extend(pythons.into_iter().rev());
        }
        for site in candidates {
            if site.join(name).is_dir() && !sites.contains(&site) {
                sites.push(site);
            }
        }
    }
    sites
}

/// `[3, 12]` of `lib/python3.12/site-packages`.
fn version_of_python(site: &Path) -> Vec<u32> {
    let python = site.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
    python.trim_start_matches("python").split('.').filter_map(|part| part.parse().ok()).collect()
}

/// The `site-packages` that holds this shared object, and a `.venv` beside any directory above it.
fn python_prefixes_near_own_library() -> Vec<PathBuf> {
    let Some(file) = own_library_path() else { return Vec::new() };
    let mut dirs: Vec<PathBuf> = Vec::new();
    for dir in file.ancestors().skip(1) {
        if dir.file_name().is_some_and(|n| n == "site-packages" || n == "dist-packages") {
            dirs.push(dir.to_owned());
        }
        if dir.join(".venv").is_dir() {
            dirs.push(dir.join(".venv"));
        }
    }
    dirs
}

#[cfg(unix)]
fn own_library_path() -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let mut info = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    let address = own_library_path as fn() -> Option<PathBuf> as *const libc::c_void;
    // SAFETY: `info` outlives the call, which only reads the loader's tables.
    if unsafe { libc::dladdr(address, &raw mut info) } == 0 || info.dli_fname.is_null() {
        return std::env::current_exe().ok();
    }
    // SAFETY: on success the loader gives a NUL-terminated path that lives as long as this code.
    let name = unsafe { std::ffi::CStr::from_ptr(info.dli_fname) };
    let path = Path::new(std::ffi::OsStr::from_bytes(name.to_bytes()));
    path.canonicalize().ok().or_else(|| std::env::current_exe().ok())
}

#[cfg(not(unix))]
fn own_library_path() -> Option<PathBuf> {
    std::env::current_exe().ok()
}

/// CUDA 13 wheels share the directory `nvidia/cu13`; CUDA 12 wheels have one directory each.
fn wheel_installations(site: &Path) -> Vec<CudaInstallation> {
    let nvidia = site.join("nvidia");
    let origin = |major: &str| format!("CUDA {major} wheels in {}", site.display());
    let mut found = Vec::new();
    for major in ["14", "13"] {
        let root = nvidia.join(format!("cu{major}"));
        found.push(toolkit_installation(origin(major), &root));
    }
    let parts = ["cuda_runtime", "cuda_nvrtc", "cuda_nvcc", "cuda_cccl", "cuda_crt", "curand", "nvjitlink"];
    let sub = |kind: &str| parts.iter().map(|p| nvidia.join(p).join(kind)).collect();
    found.push(CudaInstallation::new(origin("12"), [sub("lib"), sub("bin")].concat(), sub("include"), sub("bin")));
    for library in ["nccl", "cublas", "cufft", "cusolver", "cusparse"] {
        let origin = format!("the wheel of {library} in {}", site.display());
        found.push(CudaInstallation::new(origin, vec![nvidia.join(library).join("lib")], Vec::new(), Vec::new()));
    }
    found.retain(|i| !i.is_empty());
    found
}

/// A directory laid out as NVIDIA's toolkits are.
fn toolkit_installation(origin: String, home: &Path) -> CudaInstallation {
    let target = home.join(format!("targets/{}-linux", std::env::consts::ARCH));
    let mut libs: Vec<PathBuf> = ["lib64", "lib", "lib/x64", "bin", "bin/x64"].iter().map(|d| home.join(d)).collect();
    libs.push(target.join("lib"));
    let includes =
        vec![home.join("include"), home.join("include/cccl"), target.join("include"), target.join("include/cccl")];
    CudaInstallation::new(origin, libs, includes, vec![home.join("bin")])
}
