//! A platform: a handle that is valid, with the table through which it is asked.

use crate::*;

/// A code other than `CL_SUCCESS`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClStatus(pub cl_int);

impl std::fmt::Display for ClStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", status::name_of(self.0.into()).unwrap_or("an error of no name"), self.0)
    }
}

impl std::error::Error for ClStatus {}

/// A platform of a library that stays loaded: so the handle is valid as long as the process runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Platform(cl_platform_id);

impl Platform {
    /// # Safety
    /// The handle is a platform's, whose library stays loaded.
    pub unsafe fn from_handle(handle: cl_platform_id) -> Self {
        Self(handle)
    }

    /// The handle, for the functions of [`Platform::table`].
    pub fn handle(self) -> cl_platform_id {
        self.0
    }

    /// The functions of the platform's library.
    pub fn table(self) -> &'static DispatchTable {
        // SAFETY: a platform's first word points to its table, which stays as its library does.
        unsafe { &*(*self.0.0).dispatch }
    }

    /// `CL_PLATFORM_NAME`.
    pub fn name(self) -> Result<String, ClStatus> {
        self.text(CL_PLATFORM_NAME)
    }

    /// `CL_PLATFORM_VENDOR`.
    pub fn vendor(self) -> Result<String, ClStatus> {
        self.text(CL_PLATFORM_VENDOR)
    }

    /// `CL_PLATFORM_VERSION`: "OpenCL 3.0 ...".
    pub fn version(self) -> Result<String, ClStatus> {
        self.text(CL_PLATFORM_VERSION)
    }

    /// `CL_PLATFORM_ICD_SUFFIX_KHR`: what the names of the platform's own functions end in.
    pub fn icd_suffix(self) -> Result<String, ClStatus> {
        self.text(CL_PLATFORM_ICD_SUFFIX_KHR)
    }

    fn text(self, name: cl_platform_info) -> Result<String, ClStatus> {
        let ask = self.table().clGetPlatformInfo.ok_or(ClStatus(CL_INVALID_PLATFORM))?;
        let mut nbytes = 0;
        // SAFETY: the handle is valid; nothing but the size is written.
        checked(unsafe { ask(self.0, name, 0, std::ptr::null_mut(), &raw mut nbytes) })?;
        let mut text = vec![0u8; nbytes];
        // SAFETY: the memory is as large as said.
        checked(unsafe { ask(self.0, name, nbytes, text.as_mut_ptr().cast(), std::ptr::null_mut()) })?;
        let end = text.iter().position(|byte| *byte == 0).unwrap_or(nbytes);
        Ok(String::from_utf8_lossy(&text[..end]).into_owned())
    }
}

fn checked(code: cl_int) -> Result<(), ClStatus> {
    if code == CL_SUCCESS { Ok(()) } else { Err(ClStatus(code)) }
}
