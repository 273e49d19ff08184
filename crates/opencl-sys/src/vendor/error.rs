//! Why the platforms of a vendor's library are not to be had.

use super::Vendor;
use std::path::PathBuf;

/// A library whose platforms are not to be had.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VendorError {
    /// The library.
    pub vendor: Vendor,
    /// What is wrong with it.
    pub kind: VendorErrorKind,
    /// Where that is cached, if it is; without the file the library is probed again.
    pub cached_in: Option<PathBuf>,
}

/// What is wrong with a library.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum VendorErrorKind {
    /// The dynamic linker cannot open it, in its words.
    NotLoaded(String),
    /// It is the folder that a variable names, and there is no `.icd` file in it.
    NoIcdFile,
    /// It lacks `clIcdGetPlatformIDsKHR`.
    NoProtocol,
    /// It ended the process that probed it: by this signal, or with this exit status.
    Crashed {
        /// "signal 11", "exit status 1".
        how: String,
        /// What it was asked for then.
        step: String,
    },
    /// It did not come back in time.
    Hung {
        /// The limit.
        limit: std::time::Duration,
        /// What it was asked for then.
        step: String,
    },
    /// It could not be probed, for this reason, and so was not opened.
    NotProbed(String),
    /// It opened, and `clIcdGetPlatformIDsKHR` returned this code.
    NoPlatforms(crate::ClStatus),
}

impl std::fmt::Display for VendorError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Vendor { library, named_by } = &self.vendor;
        write!(f, "OpenCL library {} (named by {named_by}) is skipped: ", library.display())?;
        match &self.kind {
            VendorErrorKind::NotLoaded(reason) => write!(f, "it cannot be loaded: {reason}"),
            VendorErrorKind::NoIcdFile => f.write_str("it is a folder, and has no file *.icd"),
            VendorErrorKind::NoProtocol => f.write_str("it has no clIcdGetPlatformIDsKHR, so is no vendor's library"),
            VendorErrorKind::Crashed { how, step } => {
                write!(f, "it crashed the process that probed it ({how}) while {step}")
            }
            VendorErrorKind::Hung { limit, step } => write!(f, "it was still {step} after {} s", limit.as_secs_f64()),
            VendorErrorKind::NotProbed(reason) => write!(f, "it could not be probed in a process of its own: {reason}"),
            VendorErrorKind::NoPlatforms(code) => write!(f, "clIcdGetPlatformIDsKHR returned {code}"),
        }?;
        match &self.cached_in {
            Some(file) => write!(f, "; remove {} to probe it again", file.display()),
            None => Ok(()),
        }
    }
}

impl std::error::Error for VendorError {}
