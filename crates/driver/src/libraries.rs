//! NVIDIA's libraries cuBLAS, cuFFT and cuSOLVER for the devices of a context: which table serves it, and the errors.
//!
//! Establishes: no library is opened for a virtual device, for which it has no code, and what a library made is released
//! in its context, once.

use crate::context::Context;
use rtcg_cuda_sys::libraries::NamedFunctions;
use rtcg_cuda_sys::{LoadError, cublas, cufft, cusolver};

/// A library.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Library {
    /// cuBLAS: products of matrices, and operations of vectors.
    Cublas,
    /// cuFFT: Fourier transforms.
    Cufft,
    /// cuSOLVER: factorizations, eigenvalues and singular values.
    Cusolver,
}

impl Library {
    /// NVIDIA's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cublas => "cuBLAS",
            Self::Cufft => "cuFFT",
            Self::Cusolver => "cuSOLVER",
        }
    }

    /// The name of the wheel for CUDA 13; those for CUDA 12 end in `-cu12`.
    pub const fn wheel(self) -> &'static str {
        match self {
            Self::Cublas => "nvidia-cublas",
            Self::Cufft => "nvidia-cufft",
            Self::Cusolver => "nvidia-cusolver",
        }
    }

    /// The library of this process, found and opened by the first call that succeeds.
    ///
    /// # Errors
    /// When there is none: what was tried, and the wheel to install.
    pub fn load(self) -> Result<&'static dyn NamedFunctions, LibraryError> {
        let table: Result<&'static dyn NamedFunctions, LoadError> = match self {
            Self::Cublas => cublas::CublasTable::load().map(|table| table as _),
            Self::Cufft => cufft::CufftTable::load().map(|table| table as _),
            Self::Cusolver => cusolver::CusolverTable::load().map(|table| table as _),
        };
        table.map_err(|error| LibraryError::not_loaded(self, &error))
    }

    /// Checks that a context is of a device for which the library has code. `function` is the caller's, and `instead` what
    /// rtcg has for it.
    ///
    /// # Errors
    /// For virtual devices.
    pub fn check_device(self, ctx: &Context, function: &str, instead: &str) -> Result<(), LibraryError> {
        let device = ctx.device();
        if !device.is_virtual() {
            return Ok(());
        }
        let text = format!(
            "{} is virtual, and {} runs on GPUs only; {instead} computes on both",
            device.describe(),
            self.name()
        );
        Err(LibraryError { library: self, call: function.to_owned(), status: None, status_name: None, text })
    }
}

/// A failed call of a library, or one that was refused before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LibraryError {
    /// The library.
    pub library: Library,
    /// The function.
    pub call: String,
    /// The library's code; `None` if there was no call.
    pub status: Option<u32>,
    /// The library's name for the code.
    pub status_name: Option<&'static str>,
    /// What is known.
    pub text: String,
}

impl std::fmt::Display for LibraryError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} failed: {}", self.call, self.text)
    }
}

impl std::error::Error for LibraryError {}

impl LibraryError {
    /// The error of a library that was not found.
    #[cold]
    pub fn not_loaded(library: Library, error: &LoadError) -> Self {
        let call = library.name().to_owned();
        Self { library, call, status: None, status_name: None, text: error.to_string() }
    }

    /// The error of a call that is refused here.
    #[cold]
    pub fn refused(library: Library, call: impl Into<String>, text: impl Into<String>) -> Self {
        Self { library, call: call.into(), status: None, status_name: None, text: text.into() }
    }

    /// Success, or the error of a status code that a function returned.
    ///
    /// # Errors
    /// For all codes but 0.
    #[inline]
    pub fn check(library: Library, table: &dyn NamedFunctions, call: &str, status: u32) -> Result<(), Self> {
        if status == 0 { Ok(()) } else { Err(Self::of_status(library, table, call, status)) }
    }

    #[cold]
    fn of_status(library: Library, table: &dyn NamedFunctions, call: &str, status: u32) -> Self {
        let status_name = table.status_name(status);
        let version = |v: u32| format!("{}.{}", v / 1000, v % 1000 / 10);
        let in_use = table.version().map_or_else(String::new, |v| format!(", version {}", version(v)));
        let in_use = format!("{}{in_use}", table.path().display());
        let text = match table.signatures().iter().find(|known| known.name == call) {
            Some(function) if !table.resolved_functions().contains(&call) => format!(
                "{} has it since CUDA {}; the library in use ({in_use}) does not: `pip install -U {}` (or {}-cu12) \
                 installs a newer one",
                library.name(),
                version(function.since),
                library.wheel(),
                library.wheel(),
            ),
            _ => {
                let name = status_name.map_or_else(|| format!("status {status}"), str::to_owned);
                // A library that is newer than the driver fails first where it makes a handle.
                let driver = if call.contains("Create") {
                    let driver = crate::driver_version().map_or_else(|_| "unknown".to_owned(), version);
                    format!(" ({in_use}; the driver supports CUDA {driver})")
                } else {
                    String::new()
                };
                format!("{name}{driver}")
            }
        };
        Self { library, call: call.to_owned(), status: Some(status), status_name, text }
    }
}

/// Calls a function once, with a context current: when it is dropped, unless the context is gone or the process ends.
pub struct ReleaseInContext {
    ctx: Context,
    release: Option<Box<dyn FnOnce() + Send + Sync>>,
}

impl ReleaseInContext {
    /// Will call `release`.
    pub fn new(ctx: &Context, release: impl FnOnce() + Send + Sync + 'static) -> Self {
        Self { ctx: ctx.clone(), release: Some(Box::new(release)) }
    }

    /// The context.
    pub fn context(&self) -> &Context {
        &self.ctx
    }
}

impl std::fmt::Debug for ReleaseInContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReleaseInContext").field("ctx", &self.ctx).finish_non_exhaustive()
    }
}

impl Drop for ReleaseInContext {
    fn drop(&mut self) {
        if let Some(release) = self.release.take() {
            self.ctx.free_on_drop(|_| {
                release();
                Ok(())
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Library, LibraryError};
    use rtcg_cuda_sys::c_int;
    use rtcg_cuda_sys::cublas::{CublasTable, cublasStatus_t};
    use std::ffi::c_void;

    unsafe extern "C" fn property(what: c_int, value: *mut c_int) -> cublasStatus_t {
        // SAFETY: the caller gives a place for one int.
        unsafe { *value = [12, 4, 0][what as usize] };
        cublasStatus_t(0)
    }

    #[test]
    fn errors_name_the_status_or_what_to_install() {
        let property = property as *const c_void;
        let table = CublasTable::from_functions(|name| (name == "cublasGetProperty").then_some(property));
        let check = |call, status| LibraryError::check(Library::Cublas, &table, call, status);
        assert_eq!(check("cublasGetProperty", 0), Ok(()));
        let error = check("cublasGetProperty", 7).expect_err("7 is an error");
        assert_eq!(error.to_string(), "cublasGetProperty failed: CUBLAS_STATUS_INVALID_VALUE");
        assert_eq!((error.status, error.status_name), (Some(7), Some("CUBLAS_STATUS_INVALID_VALUE")));
        assert_eq!(check("cublasGetProperty", 77).expect_err("an error").text, "status 77");
        let missing = check("cublasGemmEx", 0x7fff_0001).expect_err("it is missing").to_string();
        assert!(missing.contains("(a stand-in, version 12.4)") && missing.contains("nvidia-cublas-cu12"), "{missing}");
        assert!(missing.contains("since CUDA 8.0"), "{missing}");
    }
}
