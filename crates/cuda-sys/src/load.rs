//! Opens libraries; errors say what was tried.

use std::ffi::{CString, c_void};

/// A library that could not be loaded: everything that was tried, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoadError {
    /// A description of what was looked for.
    pub what: &'static str,
    /// Each place that was tried, and why it failed.
    pub tried: Vec<(String, String)>,
    /// What the user can do.
    pub hint: String,
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "could not load {}", self.what)?;
        if !self.tried.is_empty() {
            f.write_str("; tried:")?;
            for (place, reason) in &self.tried {
                write!(f, "\n  {place}: {reason}")?;
            }
        }
        if !self.hint.is_empty() {
            write!(f, "\n{}", self.hint)?;
        }
        Ok(())
    }
}

impl std::error::Error for LoadError {}

/// What the loader had to say, which the error itself keeps for its source.
fn loader_reason(error: &libloading::Error) -> String {
    let source = std::error::Error::source(error);
    source.map_or_else(|| error.to_string(), |reason| format!("{error}: {reason}"))
}

/// An open library. Never closed: function pointers into it live in static tables.
#[derive(Clone, Copy)]
pub(crate) struct OpenLibrary(&'static libloading::Library);

impl OpenLibrary {
    /// Opens a library by file name or path. `global` makes its symbols visible to libraries
    /// opened later.
    pub(crate) fn dlopen(name: &str, global: bool) -> Result<Self, String> {
        #[cfg(unix)]
        let result = {
            use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};
            let scope = if global { RTLD_GLOBAL } else { RTLD_LOCAL };
            // SAFETY: runs the initialisers of a library that the user's machine names as CUDA's.
            unsafe { Library::open(Some(name), RTLD_NOW | scope) }.map(libloading::Library::from)
        };
        #[cfg(not(unix))]
        let result = {
            let _ = global;
            // SAFETY: runs the initialisers of a library that the user's machine names as CUDA's.
            unsafe { libloading::Library::new(name) }
        };
        match result {
            Ok(library) => Ok(Self(Box::leak(Box::new(library)))),
            Err(error) => Err(loader_reason(&error)),
        }
    }

    /// Opens the library that an environment variable names; says on the standard error why that failed.
    pub(crate) fn dlopen_named_by(variable: &str, name: &str) -> Option<Self> {
        Self::dlopen(name, false).inspect_err(|reason| eprintln!("rtcg: {variable}={name}: {reason}")).ok()
    }

    /// A library that the process has loaded already.
    pub(crate) fn open_if_already_loaded(name: &str) -> Option<Self> {
        #[cfg(unix)]
        {
            use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
            let flags = RTLD_NOW | RTLD_LOCAL | libc::RTLD_NOLOAD;
            // SAFETY: runs no initialisers, since nothing is loaded.
            let library = unsafe { Library::open(Some(name), flags) }.ok()?;
            Some(Self(Box::leak(Box::new(libloading::Library::from(library)))))
        }
        #[cfg(not(unix))]
        {
            let _ = name;
            None
        }
    }

    /// The address of a symbol.
    pub(crate) fn dlsym(self, name: &str) -> Option<*const c_void> {
        let name = CString::new(name).ok()?;
        // SAFETY: the symbol is only taken as an address here.
        let symbol = unsafe { self.0.get::<*const c_void>(name.as_bytes_with_nul()) }.ok()?;
        let address: *const c_void = *symbol;
        (!address.is_null()).then_some(address)
    }
}
