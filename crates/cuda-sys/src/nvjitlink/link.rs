//! Links inputs to an image, in one call.

use super::*;
use std::ffi::CString;
use std::path::Path;

/// The source of an input's bytes.
#[derive(Clone, Copy, Debug)]
pub enum LinkSource<'a> {
    /// In memory.
    Bytes(&'a [u8]),
    /// In a file.
    File(&'a Path),
}

/// An input of a link.
#[derive(Clone, Copy, Debug)]
pub struct LinkInput<'a> {
    /// The type of the input.
    pub kind: nvJitLinkInputType,
    /// Its bytes.
    pub source: LinkSource<'a>,
    /// The name that messages use; for a file, its path.
    pub name: &'a str,
}

/// The result of a link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkOutput {
    /// A cubin, or PTX without a terminating NUL.
    pub bytes: Vec<u8>,
    /// The messages of nvJitLink.
    pub log: String,
}

/// Why a link failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkFailure {
    /// The C function.
    pub call: &'static str,
    /// The result code.
    pub code: nvJitLinkResult,
    /// The messages of nvJitLink, and which nvJitLink it is.
    pub log: String,
}

impl std::fmt::Display for LinkFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} failed: {:?} - {}", self.call, self.code, self.log)
    }
}

/// nvJitLink keeps a cache of its own where a driver is installed, as NVRTC does, whose key is not documented.
const NO_CACHE_OPTION: &str = "-no-cache";

struct LinkHandle<'a> {
    table: &'a NvJitLinkTable,
    handle: nvJitLinkHandle,
}

impl Drop for LinkHandle<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle came from nvJitLinkCreate and is destroyed once, here.
        let _ = unsafe { self.table.nvJitLinkDestroy(&raw mut self.handle) };
    }
}

impl NvJitLinkTable {
    /// Links `inputs` with nvJitLink's own options (`-lto`, `-arch=sm_80`) to a cubin, or with `-ptx` to PTX.
    ///
    /// # Errors
    /// When nvJitLink refuses an input or option; the error has its log.
    pub fn link_inputs(&self, inputs: &[LinkInput], options: &[String]) -> Result<LinkOutput, LinkFailure> {
        let link = self.create_link(options)?;
        for input in inputs {
            link.add_input(input)?;
        }
        // SAFETY: the handle is valid.
        link.check_result("nvJitLinkComplete", unsafe { self.nvJitLinkComplete(link.handle) })?;
        let bytes =
            if options.iter().any(|option| option == "-ptx") { link.linked_ptx() } else { link.linked_cubin() }?;
        Ok(LinkOutput { bytes, log: link.info_log() })
    }

    fn create_link(&self, options: &[String]) -> Result<LinkHandle<'_>, LinkFailure> {
        let without_cache: Vec<String> = options.iter().cloned().chain([NO_CACHE_OPTION.to_owned()]).collect();
        match self.create_link_with_options(&without_cache) {
            // One older than the option.
            Err(failure) if failure.log.contains(NO_CACHE_OPTION) => self.create_link_with_options(options),
            result => result,
        }
    }

    fn create_link_with_options(&self, options: &[String]) -> Result<LinkHandle<'_>, LinkFailure> {
        let call = "nvJitLinkCreate";
        let texts =
            options.iter().map(|option| self.c_string(call, option.as_bytes())).collect::<Result<Vec<_>, _>>()?;
        let pointers: Vec<*const c_char> = texts.iter().map(|text| text.as_ptr()).collect();
        let mut link = LinkHandle { table: self, handle: nvJitLinkHandle::null() };
        // SAFETY: as many NUL-terminated strings as stated; one handle is written.
        let code = unsafe { self.nvJitLinkCreate(&raw mut link.handle, pointers.len() as u32, pointers.as_ptr()) };
        if link.handle.is_null() {
            // There is nothing to destroy, nor to ask for a log.
            std::mem::forget(link);
            return Err(self.link_failure(call, code, &format!("options {}", options.join(" "))));
        }
        link.check_result(call, code)?;
        Ok(link)
    }

    fn link_failure(&self, call: &'static str, code: nvJitLinkResult, said: &str) -> LinkFailure {
        let version = self.version().map_or(String::new(), |(major, minor)| format!(" {major}.{minor}"));
        let log = format!("{}\n(nvJitLink{version}, {})", said.trim(), self.library_path().display());
        LinkFailure { call, code, log: log.trim().to_owned() }
    }

    fn c_string(&self, call: &'static str, text: &[u8]) -> Result<CString, LinkFailure> {
        let invalid = nvJitLinkResult::NVJITLINK_ERROR_INVALID_INPUT;
        CString::new(text).map_err(|_| self.link_failure(call, invalid, "an option or a name contains a NUL character"))
    }
}

impl LinkHandle<'_> {
    fn check_result(&self, call: &'static str, code: nvJitLinkResult) -> Result<(), LinkFailure> {
        if code.is_success() { Ok(()) } else { Err(self.table.link_failure(call, code, &self.error_log())) }
    }

    fn add_input(&self, input: &LinkInput) -> Result<(), LinkFailure> {
        match input.source {
            LinkSource::Bytes(bytes) => {
                let name = self.table.c_string("nvJitLinkAddData", input.name.as_bytes())?;
                let (start, size) = (bytes.as_ptr().cast(), bytes.len());
                // SAFETY: `size` bytes are readable, the name ends with NUL, and both are copied before the return.
                let code = unsafe { self.table.nvJitLinkAddData(self.handle, input.kind, start, size, name.as_ptr()) };
                self.check_result("nvJitLinkAddData", code)
            }
            LinkSource::File(path) => {
                let name = self.table.c_string("nvJitLinkAddFile", path.as_os_str().as_encoded_bytes())?;
                // SAFETY: the name ends with NUL.
                let code = unsafe { self.table.nvJitLinkAddFile(self.handle, input.kind, name.as_ptr()) };
                self.check_result("nvJitLinkAddFile", code)
            }
        }
    }

    fn linked_cubin(&self) -> Result<Vec<u8>, LinkFailure> {
        // SAFETY: the two calls write a size, and that many bytes.
        let fetched = fetch_sized_buffer(
            |size| unsafe { self.table.nvJitLinkGetLinkedCubinSize(self.handle, size) },
            |bytes| unsafe { self.table.nvJitLinkGetLinkedCubin(self.handle, bytes.cast()) },
        );
        fetched.map_err(|code| self.table.link_failure("nvJitLinkGetLinkedCubin", code, &self.error_log()))
    }

    fn linked_ptx(&self) -> Result<Vec<u8>, LinkFailure> {
        // SAFETY: the two calls write a size, and that many bytes.
        let fetched = fetch_sized_buffer(
            |size| unsafe { self.table.nvJitLinkGetLinkedPtxSize(self.handle, size) },
            |bytes| unsafe { self.table.nvJitLinkGetLinkedPtx(self.handle, bytes) },
        );
        let mut ptx =
            fetched.map_err(|code| self.table.link_failure("nvJitLinkGetLinkedPtx", code, &self.error_log()))?;
        while ptx.last() == Some(&0) {
            ptx.pop();
        }
        Ok(ptx)
    }

    fn error_log(&self) -> String {
        // SAFETY: the two calls write a size, and that many bytes.
        log_text(fetch_sized_buffer(
            |size| unsafe { self.table.nvJitLinkGetErrorLogSize(self.handle, size) },
            |bytes| unsafe { self.table.nvJitLinkGetErrorLog(self.handle, bytes) },
        ))
    }

    fn info_log(&self) -> String {
        // SAFETY: the two calls write a size, and that many bytes.
        log_text(fetch_sized_buffer(
            |size| unsafe { self.table.nvJitLinkGetInfoLogSize(self.handle, size) },
            |bytes| unsafe { self.table.nvJitLinkGetInfoLog(self.handle, bytes) },
        ))
    }
}

fn fetch_sized_buffer(
    size: impl FnOnce(*mut usize) -> nvJitLinkResult,
    get: impl FnOnce(*mut c_char) -> nvJitLinkResult,
) -> Result<Vec<u8>, nvJitLinkResult> {
    let mut count = 0;
    let code = size(&raw mut count);
    if !code.is_success() {
        return Err(code);
    }
    let mut bytes = vec![0_u8; count];
    let code = if count == 0 { code } else { get(bytes.as_mut_ptr().cast()) };
    if code.is_success() { Ok(bytes) } else { Err(code) }
}

fn log_text(bytes: Result<Vec<u8>, nvJitLinkResult>) -> String {
    let bytes = bytes.unwrap_or_default();
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).trim().to_owned()
}
