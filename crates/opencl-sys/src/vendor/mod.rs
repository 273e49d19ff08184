//! Vendors: libraries that hold platforms (ICDs), found as OpenCL's loaders find them, and opened at first use.
//!
//! ```no_run
//! for found in rtcg_opencl_sys::vendor::find_vendors() {
//!     match found.platforms() {
//!         Ok(platforms) => platforms.iter().for_each(|platform| println!("{:?}", platform.name())),
//!         Err(error) => eprintln!("{error}"),
//!     }
//! }
//! ```
//!
//! A library is opened here only after it was opened once in a process of its own ([`probe`]): one that crashes or
//! hangs is an error, and nothing else.

mod error;
mod load;
pub mod probe;
#[cfg_attr(not(target_os = "linux"), path = "no_process.rs")]
mod process;
mod search;

pub use error::{VendorError, VendorErrorKind};
pub use probe::{Probe, ProbeSettings};
pub use search::{find_vendors, vendors_of_folder};

use crate::Platform;
use std::path::PathBuf;

/// A library that holds platforms, as far as whoever named it is right.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Vendor {
    /// The library: a path, or a name that the dynamic linker looks for.
    pub library: PathBuf,
    /// What named it, for messages: an `.icd` file, a variable, a folder.
    pub named_by: String,
}

impl Vendor {
    /// Opens the library in a process of its own, unless that was done before, and says what is in it.
    ///
    /// # Errors
    /// When it cannot be opened, crashes, hangs, or holds no platforms.
    pub fn probe(&self, settings: &ProbeSettings) -> Result<Probe, VendorError> {
        if self.library.is_dir() {
            return Err(VendorError { vendor: self.clone(), kind: VendorErrorKind::NoIcdFile, cached_in: None });
        }
        probe::probe(self, settings)
    }

    /// The platforms of the library, which is opened if that does no harm, and stays loaded.
    ///
    /// # Errors
    /// As for [`Vendor::probe`].
    pub fn platforms(&self) -> Result<Vec<Platform>, VendorError> {
        self.probe(&ProbeSettings::default())?.open()
    }
}
