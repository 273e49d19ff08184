//! NVIDIA's user-space compiler libraries (NVRTC, nvJitLink): where they are searched for, and tables of their
//! functions.

use crate::installations;
use crate::load::{LoadError, OpenLibrary};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// A table that is found at most once in a process. A failure is not remembered, so that
/// [`installations::add_search_root`] can still help afterwards.
pub(crate) struct LazyFunctionTable<T: 'static>(Mutex<Option<&'static T>>);

impl<T> LazyFunctionTable<T> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    pub(crate) fn loaded(&self) -> Option<&'static T> {
        *self.0.lock().unwrap_or_else(|e| e.into_inner())
    }

    pub(crate) fn get_or_load(&self, find: impl FnOnce() -> Result<T, LoadError>) -> Result<&'static T, LoadError> {
        let mut loaded = self.0.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(table) = *loaded {
            return Ok(table);
        }
        let table: &'static T = Box::leak(Box::new(find()?));
        *loaded = Some(table);
        Ok(table)
    }
}

/// A library that is searched in wheels, toolkits and the loader's path.
pub(crate) struct LibrarySearch {
    /// What it is, for the error: `NVRTC, the compiler for CUDA C++`.
    pub(crate) what: &'static str,
    /// Its name in short.
    pub(crate) name: &'static str,
    /// The environment variable that names its file; nothing else is tried then, and `none` means that there is none.
    pub(crate) variable: &'static str,
    /// File names that are searched on the loader's own path.
    pub(crate) dlopen_names: &'static [&'static str],
    /// Whether a file of a directory is the library.
    pub(crate) is_file: fn(&str) -> bool,
    /// Whether a file is one that the library opens by bare name, which a wheel's directory does not satisfy; so it is
    /// opened first, with its symbols global.
    pub(crate) is_preloaded_dependency: fn(&str) -> bool,
    /// What the user can do when there is none.
    pub(crate) hint: fn() -> String,
}

/// Each place tried and why it did not do.
type LoadAttempts = Vec<(String, String)>;

impl LibrarySearch {
    /// Opens the library, by [`LibrarySearch::variable`], or the first that is found in NVIDIA's wheels beside the running
    /// Python, `CUDA_HOME`/`CUDA_PATH`, the loader's path, `/usr/local/cuda`. `resolve` makes the table, or `None`
    /// from a library that is another one.
    pub(crate) fn find_library<T>(&self, resolve: impl Fn(OpenLibrary, PathBuf) -> Option<T>) -> Result<T, LoadError> {
        let mut tried = Vec::new();
        let found = match std::env::var(self.variable).ok().filter(|v| !v.is_empty()) {
            Some(value) if value == "none" => {
                tried.push((format!("{}=none", self.variable), format!("{} is switched off", self.name)));
                None
            }
            Some(file) => {
                self.open_and_resolve_functions(Path::new(&file), &format!("{}=", self.variable), &resolve, &mut tried)
            }
            None => self.find_installed(&resolve, &mut tried),
        };
        found.ok_or_else(|| LoadError { what: self.what, tried, hint: (self.hint)() })
    }

    /// Installations in `/usr` come after the loader's own path, all others before it.
    fn find_installed<T>(
        &self,
        resolve: &impl Fn(OpenLibrary, PathBuf) -> Option<T>,
        tried: &mut LoadAttempts,
    ) -> Option<T> {
        let (system, named): (Vec<_>, Vec<_>) =
            installations::find_installations().into_iter().partition(|i| i.origin.starts_with('/'));
        tried.extend(installations::places_without_installation());
        if let Some(table) = named.iter().find_map(|i| self.open_from_installation(i, resolve, tried)) {
            return Some(table);
        }
        for name in self.dlopen_names {
            if let Some(table) = self.open_and_resolve_functions(Path::new(name), "", resolve, tried) {
                return Some(table);
            }
        }
        system.iter().find_map(|i| self.open_from_installation(i, resolve, tried))
    }

    fn open_from_installation<T>(
        &self,
        installation: &installations::CudaInstallation,
        resolve: &impl Fn(OpenLibrary, PathBuf) -> Option<T>,
        tried: &mut LoadAttempts,
    ) -> Option<T> {
        let files: Vec<PathBuf> =
            installation.lib_dirs.iter().flat_map(|d| list_files_newest_version_first(d, self.is_file)).collect();
        if files.is_empty() {
            tried.push((installation.origin.clone(), format!("has no {} library", self.name)));
        }
        files.iter().find_map(|file| self.open_and_resolve_functions(file, "", resolve, tried))
    }

    fn open_and_resolve_functions<T>(
        &self,
        file: &Path,
        prefix: &str,
        resolve: &impl Fn(OpenLibrary, PathBuf) -> Option<T>,
        tried: &mut LoadAttempts,
    ) -> Option<T> {
        if let Some(dir) = file.parent().filter(|d| !d.as_os_str().is_empty()) {
            for companion in list_files_newest_version_first(dir, self.is_preloaded_dependency) {
                // A failure here shows again, with its reason, when the library first needs it.
                let _ = OpenLibrary::dlopen(&companion.to_string_lossy(), true);
            }
        }
        let place = format!("{prefix}{}", file.display());
        let library = match OpenLibrary::dlopen(&file.to_string_lossy(), false) {
            Ok(library) => library,
            Err(reason) => {
                tried.push((place, reason));
                return None;
            }
        };
        let table = resolve(library, file.to_owned());
        if table.is_none() {
            tried.push((place, format!("is not an {} library", self.name)));
        }
        table
    }
}

/// Files of a directory, newest version first.
fn list_files_newest_version_first(dir: &Path, wanted: fn(&str) -> bool) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let mut files: Vec<(Vec<u32>, PathBuf)> = entries
        .flatten()
        .filter(|e| wanted(&e.file_name().to_string_lossy()))
        .map(|e| (version_numbers_in_file_name(&e.file_name().to_string_lossy()), e.path()))
        .collect();
    files.sort();
    files.into_iter().rev().map(|(_, path)| path).collect()
}

fn version_numbers_in_file_name(name: &str) -> Vec<u32> {
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect()
}

/// Declares a table of a library's functions, all of which return its result code; a function that the library lacks
/// returns `$missing`. Functions that return text, or null if the library lacks them, may come first, marked `[text]`.
macro_rules! library_table {
    (
        $(#[$doc:meta])*
        $table:ident of $result:ident else $missing:ident {
            $([text] $text:ident since $text_since:literal ($($text_arg:ident: $text_ty:ty),*);)*
            $($name:ident since $since:literal ($($arg:ident: $ty:ty),*);)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $table {
            path: std::path::PathBuf,
            $($text: Option<unsafe extern "C" fn($($text_ty),*) -> *const c_char>,)*
            $($name: Option<unsafe extern "C" fn($($ty),*) -> $result>,)*
        }

        impl $table {
            /// Every declared function, with the CUDA version that introduced it.
            pub const FUNCTIONS: &'static [(&'static str, u32)] =
                &[$((stringify!($text), $text_since),)* $((stringify!($name), $since),)*];

            fn resolve_functions(library: crate::load::OpenLibrary, path: std::path::PathBuf) -> Self {
                Self::from_resolver(|name| library.dlsym(name), path)
            }

            /// The table of the functions that `resolve` finds; each must have the type declared for its name.
            pub(crate) fn from_resolver(
                resolve: impl Fn(&str) -> Option<*const c_void>,
                path: std::path::PathBuf,
            ) -> Self {
                Self {
                    path,
                    $($text: resolve(stringify!($text)).map(|p| {
                        // SAFETY: the list states the documented signature for this symbol.
                        unsafe { std::mem::transmute(p) }
                    }),)*
                    $($name: resolve(stringify!($name)).map(|p| {
                        // SAFETY: the list states the documented signature for this symbol.
                        unsafe { std::mem::transmute(p) }
                    }),)*
                }
            }

            /// The file from which this table was loaded (a bare name if the loader found it).
            pub fn library_path(&self) -> &std::path::Path {
                &self.path
            }

            /// Whether the library has the function with this C name.
            pub fn has_function(&self, name: &str) -> bool {
                match name {
                    $(stringify!($text) => self.$text.is_some(),)*
                    $(stringify!($name) => self.$name.is_some(),)*
                    _ => false,
                }
            }
        }

        /// The types of the functions, by name.
        #[allow(missing_docs, reason = "the list of functions")]
        pub mod fn_type {
            use super::*;
            $(pub type $text = unsafe extern "C" fn($($text_ty),*) -> *const c_char;)*
            $(pub type $name = unsafe extern "C" fn($($ty),*) -> $result;)*
        }

        /// The functions under their C names. The caller must pass valid pointers and handles, as in C.
        #[allow(clippy::missing_safety_doc, clippy::too_many_arguments, reason = "said once, above; the functions of C")]
        impl $table {
            $(
                #[doc = concat!("`", stringify!($text), "`; null where the library lacks it.")]
                pub unsafe fn $text(&self, $($text_arg: $text_ty),*) -> *const c_char {
                    match self.$text {
                        // SAFETY: the arguments are the caller's promise.
                        Some(function) => unsafe { function($($text_arg),*) },
                        None => std::ptr::null(),
                    }
                }
            )*
            $(
                #[doc = concat!("`", stringify!($name), "`.")]
                pub unsafe fn $name(&self, $($arg: $ty),*) -> $result {
                    match self.$name {
                        // SAFETY: the arguments are the caller's promise.
                        Some(function) => unsafe { function($($arg),*) },
                        None => $result::$missing,
                    }
                }
            )*
        }
    };
}

pub(crate) use library_table;
