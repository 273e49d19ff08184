//! The function table of nvJitLink, NVIDIA's link-time optimiser, and links through it (`link`).
//!
//! It needs neither a GPU nor a driver. nvJitLink exports several forms of each function (`__nvJitLinkCreate_12_4`);
//! the table uses the plain name, which every version has.
#![allow(
    non_camel_case_types,
    non_snake_case,
    missing_docs,
    reason = "the names of C, which NVIDIA's documentation describes"
)]

mod link;

use crate::compiler_libraries::{LazyFunctionTable, LibrarySearch, library_table};
use crate::load::LoadError;
use crate::types::*;
use crate::types::{cuda_enum, cuda_handle};

pub use link::{LinkFailure, LinkInput, LinkOutput, LinkSource};

cuda_handle!(nvJitLinkHandle);

cuda_enum! {
    /// The result of an nvJitLink call.
    nvJitLinkResult {
        NVJITLINK_SUCCESS = 0,
        NVJITLINK_ERROR_UNRECOGNIZED_OPTION = 1,
        NVJITLINK_ERROR_MISSING_ARCH = 2,
        NVJITLINK_ERROR_INVALID_INPUT = 3,
        NVJITLINK_ERROR_PTX_COMPILE = 4,
        NVJITLINK_ERROR_NVVM_COMPILE = 5,
        NVJITLINK_ERROR_INTERNAL = 6,
        NVJITLINK_ERROR_THREADPOOL = 7,
        NVJITLINK_ERROR_UNRECOGNIZED_INPUT = 8,
        NVJITLINK_ERROR_FINALIZE = 9,
        NVJITLINK_ERROR_NULL_INPUT = 10,
        NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS = 11,
        NVJITLINK_ERROR_INCORRECT_INPUT_TYPE = 12,
        NVJITLINK_ERROR_ARCH_MISMATCH = 13,
        NVJITLINK_ERROR_OUTDATED_LIBRARY = 14,
        NVJITLINK_ERROR_MISSING_FATBIN = 15,
        NVJITLINK_ERROR_UNRECOGNIZED_ARCH = 16,
        NVJITLINK_ERROR_UNSUPPORTED_ARCH = 17,
        NVJITLINK_ERROR_LTO_NOT_ENABLED = 18,
        RTCG_NVJITLINK_FUNCTION_MISSING = 0x7fff_0001,
    }
}

cuda_enum! {
    /// The type of an input.
    nvJitLinkInputType {
        NVJITLINK_INPUT_NONE = 0,
        NVJITLINK_INPUT_CUBIN = 1,
        NVJITLINK_INPUT_PTX = 2,
        NVJITLINK_INPUT_LTOIR = 3,
        NVJITLINK_INPUT_FATBIN = 4,
        NVJITLINK_INPUT_OBJECT = 5,
        NVJITLINK_INPUT_LIBRARY = 6,
        NVJITLINK_INPUT_INDEX = 7,
        NVJITLINK_INPUT_ANY = 10,
    }
}

impl nvJitLinkResult {
    /// True when the call succeeded.
    pub const fn is_success(self) -> bool {
        self.0 == 0
    }
}

library_table! {
    /// nvJitLink's functions. One table per process, found once; see [`NvJitLinkTable::load`].
    NvJitLinkTable of nvJitLinkResult else RTCG_NVJITLINK_FUNCTION_MISSING {
        nvJitLinkVersion since 12030 (major: *mut c_uint, minor: *mut c_uint);
        nvJitLinkCreate since 12000 (handle: *mut nvJitLinkHandle, numOptions: u32, options: *const *const c_char);
        nvJitLinkDestroy since 12000 (handle: *mut nvJitLinkHandle);
        nvJitLinkAddData since 12000 (handle: nvJitLinkHandle, inputType: nvJitLinkInputType, data: *const c_void, size: usize, name: *const c_char);
        nvJitLinkAddFile since 12000 (handle: nvJitLinkHandle, inputType: nvJitLinkInputType, fileName: *const c_char);
        nvJitLinkComplete since 12000 (handle: nvJitLinkHandle);
        nvJitLinkGetLinkedCubinSize since 12000 (handle: nvJitLinkHandle, size: *mut usize);
        nvJitLinkGetLinkedCubin since 12000 (handle: nvJitLinkHandle, cubin: *mut c_void);
        nvJitLinkGetLinkedPtxSize since 12000 (handle: nvJitLinkHandle, size: *mut usize);
        nvJitLinkGetLinkedPtx since 12000 (handle: nvJitLinkHandle, ptx: *mut c_char);
        nvJitLinkGetErrorLogSize since 12000 (handle: nvJitLinkHandle, size: *mut usize);
        nvJitLinkGetErrorLog since 12000 (handle: nvJitLinkHandle, log: *mut c_char);
        nvJitLinkGetInfoLogSize since 12000 (handle: nvJitLinkHandle, size: *mut usize);
        nvJitLinkGetInfoLog since 12000 (handle: nvJitLinkHandle, log: *mut c_char);
    }
}

impl NvJitLinkTable {
    /// The nvJitLink of this process, found and opened by the first call that succeeds.
    ///
    /// Searches the same places as [`NvrtcTable::load`](crate::NvrtcTable::load), in the same order; the environment
    /// variable is `RTCG_NVJITLINK`.
    pub fn load() -> Result<&'static NvJitLinkTable, LoadError> {
        static LOADED_TABLE: LazyFunctionTable<NvJitLinkTable> = LazyFunctionTable::new();
        LOADED_TABLE.get_or_load(|| {
            LIBRARY_SEARCH.find_library(|library, path| {
                Some(NvJitLinkTable::resolve_functions(library, path))
                    .filter(|table| table.has_function("nvJitLinkCreate"))
            })
        })
    }

    /// The version `(major, minor)` of this nvJitLink; `None` before 12.3, which cannot report it.
    pub fn version(&self) -> Option<(u32, u32)> {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: writes two ints.
        let code = unsafe { self.nvJitLinkVersion(&raw mut major, &raw mut minor) };
        code.is_success().then_some((major, minor))
    }
}

const LIBRARY_SEARCH: LibrarySearch = LibrarySearch {
    what: "nvJitLink, the link-time optimiser",
    name: "nvJitLink",
    variable: "RTCG_NVJITLINK",
    dlopen_names: if cfg!(windows) {
        &["nvJitLink_130_0.dll", "nvJitLink_120_0.dll"]
    } else {
        &["libnvJitLink.so.13", "libnvJitLink.so.12", "libnvJitLink.so"]
    },
    is_file: |name| name.starts_with("libnvJitLink.so") || (name.starts_with("nvJitLink_") && name.ends_with(".dll")),
    is_preloaded_dependency: |_| false,
    hint: || {
        "install it with `pip install nvidia-nvjitlink` (CUDA 13) or `pip install nvidia-nvjitlink-cu12` (CUDA 12), no \
         older than the compiler, or set RTCG_NVJITLINK to the library file"
            .to_owned()
    },
};
