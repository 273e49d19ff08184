//! From PTX text to a [`LoadedModule`].

use super::{LoadError, LoadOptions, LoadedModule};
use crate::exec::codes;
use std::sync::Arc;

/// Loads PTX text (a terminating NUL is allowed).
///
/// # Errors
/// `NO_BINARY_FOR_GPU` for cubin and fatbin images, `INVALID_PTX` with all diagnostics for text
/// that is no PTX or uses an instruction that cannot be executed, `OUT_OF_MEMORY`.
pub fn load(image: &[u8], options: &LoadOptions) -> Result<Arc<LoadedModule>, LoadError> {
    let _ = (image, options);
    Err(LoadError { code: codes::NOT_SUPPORTED, log: "the module loader is not there yet".into() })
}
