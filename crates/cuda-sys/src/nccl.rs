//! The function table of NCCL, NVIDIA's library of collectives, or of a virtual one.
#![allow(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    missing_docs,
    reason = "the names of C, which NVIDIA's documentation describes"
)]

use crate::compiler_libraries::{LazyFunctionTable, LibrarySearch, library_table};
use crate::load::LoadError;
use crate::types::*;
use crate::types::{cuda_enum, cuda_handle};
use std::ffi::CStr;

cuda_handle!(ncclComm_t);
cuda_handle!(ncclWindow_t);

cuda_enum! {
    /// The result of an NCCL call.
    ncclResult_t {
        ncclSuccess = 0,
        ncclUnhandledCudaError = 1,
        ncclSystemError = 2,
        ncclInternalError = 3,
        ncclInvalidArgument = 4,
        ncclInvalidUsage = 5,
        ncclRemoteError = 6,
        ncclInProgress = 7,
        ncclTimeout = 8,
        RTCG_NCCL_FUNCTION_MISSING = 0x7fff_0001,
    }
}

impl ncclResult_t {
    /// True when the call succeeded.
    pub const fn is_success(self) -> bool {
        self.0 == 0
    }
}

cuda_enum! {
    /// The type of an element.
    ncclDataType_t {
        ncclInt8 = 0,
        ncclUint8 = 1,
        ncclInt32 = 2,
        ncclUint32 = 3,
        ncclInt64 = 4,
        ncclUint64 = 5,
        ncclFloat16 = 6,
        ncclFloat32 = 7,
        ncclFloat64 = 8,
        ncclBfloat16 = 9,
        ncclFloat8e4m3 = 10,
        ncclFloat8e5m2 = 11,
    }
}

impl ncclDataType_t {
    /// Bytes of an element; `None` for a value that is no type.
    pub const fn size(self) -> Option<usize> {
        match self.0 {
            0 | 1 | 10 | 11 => Some(1),
            6 | 9 => Some(2),
            2 | 3 | 7 => Some(4),
            4 | 5 | 8 => Some(8),
            _ => None,
        }
    }
}

cuda_enum! {
    /// How elements are combined. Further values name operations of `ncclRedOpCreatePreMulSum`.
    ncclRedOp_t {
        ncclSum = 0,
        ncclProd = 1,
        ncclMax = 2,
        ncclMin = 3,
        ncclAvg = 4,
    }
}

/// The least value of an operation that a program made.
pub const NCCL_NUM_OPS: u32 = 5;
/// The colour of a rank that takes no part in a split.
pub const NCCL_SPLIT_NOCOLOR: c_int = -1;
/// A field of [`ncclConfig_t`] that is not set.
pub const NCCL_CONFIG_UNDEF_INT: c_int = c_int::MIN;
/// What a [`ncclConfig_t`] must hold.
pub const NCCL_API_MAGIC: c_uint = 0xcafe_beef;
/// First terminate what runs on the parent.
pub const NCCL_SHRINK_ABORT: c_int = 1;
/// The residence of a scalar in host memory.
pub const ncclScalarHostImmediate: c_uint = 1;

/// What ranks find each other by.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(C)]
pub struct ncclUniqueId {
    pub internal: [c_char; 128],
}

/// The settings of a communicator as NCCL 2.14 declared them first; later versions append fields, and know by `size`
/// and `version` which there are.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ncclConfig_t {
    pub size: usize,
    pub magic: c_uint,
    pub version: c_uint,
    pub blocking: c_int,
}

impl ncclConfig_t {
    /// The initial value, with the version in which the structure had these fields.
    pub const fn new() -> Self {
        Self {
            size: std::mem::size_of::<Self>(),
            magic: NCCL_API_MAGIC,
            version: 21400,
            blocking: NCCL_CONFIG_UNDEF_INT,
        }
    }
}

impl Default for ncclConfig_t {
    fn default() -> Self {
        Self::new()
    }
}

/// The settings of one collective, as NCCL 2.32 declared them first.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ncclCollConfig_t {
    pub size: usize,
    pub magic: c_uint,
    pub version: c_uint,
}

/// What is told of a communicator: the fields of NCCL 2.29 that any program of it has.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ncclCommProperties_t {
    pub size: usize,
    pub magic: c_uint,
    pub version: c_uint,
    pub rank: c_int,
    pub nRanks: c_int,
    pub cudaDev: c_int,
    pub nvmlDev: c_int,
    pub deviceApiSupport: bool,
    pub multimemSupport: bool,
    pub ginType: c_int,
    pub nLsaTeams: c_int,
    pub hostRmaSupport: bool,
}

/// What the simulation of a group returns.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ncclSimInfo_t {
    pub size: usize,
    pub magic: c_uint,
    pub version: c_uint,
    pub estimatedTime: f32,
}

/// Calls a macro with every function that returns a code, and the version, `10000 * major + 100 * minor + patch`, that
/// introduced it: `ncclGetVersion since 20000 (version: *mut c_int);`.
#[macro_export]
macro_rules! for_each_nccl_function {
    ($callback:ident) => {
        $callback! {
            ncclGetVersion since 20000 (version: *mut c_int);
            ncclGetUniqueId since 20000 (uniqueId: *mut ncclUniqueId);
            ncclCommInitRank since 20000 (comm: *mut ncclComm_t, nranks: c_int, commId: ncclUniqueId, rank: c_int);
            ncclCommInitRankConfig since 21400 (comm: *mut ncclComm_t, nranks: c_int, commId: ncclUniqueId, rank: c_int, config: *mut ncclConfig_t);
            ncclCommInitRankScalable since 22300 (newcomm: *mut ncclComm_t, nranks: c_int, myrank: c_int, nId: c_int, commIds: *mut ncclUniqueId, config: *mut ncclConfig_t);
            ncclCommInitAll since 20000 (comm: *mut ncclComm_t, ndev: c_int, devlist: *const c_int);
            ncclCommFinalize since 21400 (comm: ncclComm_t);
            ncclCommDestroy since 20000 (comm: ncclComm_t);
            ncclCommAbort since 20400 (comm: ncclComm_t);
            ncclCommRevoke since 22900 (comm: ncclComm_t, revokeFlags: c_int);
            ncclCommSplit since 21801 (comm: ncclComm_t, color: c_int, key: c_int, newcomm: *mut ncclComm_t, config: *mut ncclConfig_t);
            ncclCommShrink since 22700 (comm: ncclComm_t, excludeRanksList: *mut c_int, excludeRanksCount: c_int, newcomm: *mut ncclComm_t, config: *mut ncclConfig_t, shrinkFlags: c_int);
            ncclCommGrow since 22900 (comm: ncclComm_t, nRanks: c_int, uniqueId: *const ncclUniqueId, rank: c_int, newcomm: *mut ncclComm_t, config: *mut ncclConfig_t);
            ncclCommGetAsyncError since 20400 (comm: ncclComm_t, asyncError: *mut ncclResult_t);
            ncclCommCount since 20000 (comm: ncclComm_t, count: *mut c_int);
            ncclCommCuDevice since 20000 (comm: ncclComm_t, device: *mut c_int);
            ncclCommUserRank since 20000 (comm: ncclComm_t, rank: *mut c_int);
            ncclCommRegister since 21901 (comm: ncclComm_t, buff: *mut c_void, size: usize, handle: *mut *mut c_void);
            ncclCommDeregister since 21901 (comm: ncclComm_t, handle: *mut c_void);
            ncclCommWindowRegister since 22700 (comm: ncclComm_t, buff: *mut c_void, size: usize, win: *mut ncclWindow_t, winFlags: c_int);
            ncclCommWindowDeregister since 22700 (comm: ncclComm_t, win: ncclWindow_t);
            ncclMemAlloc since 21901 (ptr: *mut *mut c_void, size: usize);
            ncclMemFree since 21901 (ptr: *mut c_void);
            ncclRedOpCreatePreMulSum since 21103 (op: *mut ncclRedOp_t, scalar: *mut c_void, datatype: ncclDataType_t, residence: c_uint, comm: ncclComm_t);
            ncclRedOpDestroy since 21103 (op: ncclRedOp_t, comm: ncclComm_t);
            ncclReduce since 20000 (sendbuff: *const c_void, recvbuff: *mut c_void, count: usize, datatype: ncclDataType_t, op: ncclRedOp_t, root: c_int, comm: ncclComm_t, stream: CUstream);
            ncclBcast since 20000 (buff: *mut c_void, count: usize, datatype: ncclDataType_t, root: c_int, comm: ncclComm_t, stream: CUstream);
            ncclBroadcast since 20200 (sendbuff: *const c_void, recvbuff: *mut c_void, count: usize, datatype: ncclDataType_t, root: c_int, comm: ncclComm_t, stream: CUstream);
            ncclAllReduce since 20000 (sendbuff: *const c_void, recvbuff: *mut c_void, count: usize, datatype: ncclDataType_t, op: ncclRedOp_t, comm: ncclComm_t, stream: CUstream);
            ncclReduceScatter since 20000 (sendbuff: *const c_void, recvbuff: *mut c_void, recvcount: usize, datatype: ncclDataType_t, op: ncclRedOp_t, comm: ncclComm_t, stream: CUstream);
            ncclAllGather since 20000 (sendbuff: *const c_void, recvbuff: *mut c_void, sendcount: usize, datatype: ncclDataType_t, comm: ncclComm_t, stream: CUstream);
            ncclAlltoAll since 22800 (sendbuff: *const c_void, recvbuff: *mut c_void, count: usize, datatype: ncclDataType_t, comm: ncclComm_t, stream: CUstream);
            ncclGather since 22800 (sendbuff: *const c_void, recvbuff: *mut c_void, count: usize, datatype: ncclDataType_t, root: c_int, comm: ncclComm_t, stream: CUstream);
            ncclScatter since 22800 (sendbuff: *const c_void, recvbuff: *mut c_void, count: usize, datatype: ncclDataType_t, root: c_int, comm: ncclComm_t, stream: CUstream);
            ncclSend since 20700 (sendbuff: *const c_void, count: usize, datatype: ncclDataType_t, peer: c_int, comm: ncclComm_t, stream: CUstream);
            ncclRecv since 20700 (recvbuff: *mut c_void, count: usize, datatype: ncclDataType_t, peer: c_int, comm: ncclComm_t, stream: CUstream);
            ncclGroupStart since 20000 ();
            ncclGroupEnd since 20000 ();
            ncclCommGetUniqueId since 22900 (comm: ncclComm_t, uniqueId: *mut ncclUniqueId);
            ncclCommSuspend since 22900 (comm: ncclComm_t, flags: c_int);
            ncclCommResume since 22900 (comm: ncclComm_t);
            ncclCommMemStats since 22900 (comm: ncclComm_t, stat: c_uint, value: *mut u64);
            ncclCommQueryProperties since 22900 (comm: ncclComm_t, props: *mut ncclCommProperties_t);
            ncclWinGetUserPtr since 22900 (comm: ncclComm_t, win: ncclWindow_t, outUserPtr: *mut *mut c_void);
            ncclReduceConfig since 23200 (sendbuff: *const c_void, recvbuff: *mut c_void, count: usize, datatype: ncclDataType_t, op: ncclRedOp_t, root: c_int, comm: ncclComm_t, stream: CUstream, config: *const ncclCollConfig_t);
            ncclBroadcastConfig since 23200 (sendbuff: *const c_void, recvbuff: *mut c_void, count: usize, datatype: ncclDataType_t, root: c_int, comm: ncclComm_t, stream: CUstream, config: *const ncclCollConfig_t);
            ncclAllReduceConfig since 23200 (sendbuff: *const c_void, recvbuff: *mut c_void, count: usize, datatype: ncclDataType_t, op: ncclRedOp_t, comm: ncclComm_t, stream: CUstream, config: *const ncclCollConfig_t);
            ncclReduceScatterConfig since 23200 (sendbuff: *const c_void, recvbuff: *mut c_void, recvcount: usize, datatype: ncclDataType_t, op: ncclRedOp_t, comm: ncclComm_t, stream: CUstream, config: *const ncclCollConfig_t);
            ncclAllGatherConfig since 23200 (sendbuff: *const c_void, recvbuff: *mut c_void, sendcount: usize, datatype: ncclDataType_t, comm: ncclComm_t, stream: CUstream, config: *const ncclCollConfig_t);
            ncclAlltoAllConfig since 23200 (sendbuff: *const c_void, recvbuff: *mut c_void, count: usize, datatype: ncclDataType_t, comm: ncclComm_t, stream: CUstream, config: *const ncclCollConfig_t);
            ncclGatherConfig since 23200 (sendbuff: *const c_void, recvbuff: *mut c_void, count: usize, datatype: ncclDataType_t, root: c_int, comm: ncclComm_t, stream: CUstream, config: *const ncclCollConfig_t);
            ncclScatterConfig since 23200 (sendbuff: *const c_void, recvbuff: *mut c_void, count: usize, datatype: ncclDataType_t, root: c_int, comm: ncclComm_t, stream: CUstream, config: *const ncclCollConfig_t);
            ncclPutSignal since 22900 (localbuff: *const c_void, count: usize, datatype: ncclDataType_t, peer: c_int, peerWin: ncclWindow_t, peerWinOffset: usize, sigIdx: c_int, ctx: c_int, flags: c_uint, comm: ncclComm_t, stream: CUstream);
            ncclSignal since 22900 (peer: c_int, sigIdx: c_int, ctx: c_int, flags: c_uint, comm: ncclComm_t, stream: CUstream);
            ncclWaitSignal since 22900 (nDesc: c_int, signalDescs: *mut c_void, comm: ncclComm_t, stream: CUstream);
            ncclDevCommCreate since 22800 (comm: ncclComm_t, reqs: *const c_void, outDevComm: *mut c_void);
            ncclDevCommDestroy since 22800 (comm: ncclComm_t, devComm: *const c_void);
            ncclGroupSimulateEnd since 22200 (simInfo: *mut ncclSimInfo_t);
            ncclParamGetAllParameterKeys since 22900 (table: *mut *const *const c_char, len: *mut c_int);
            ncclParamGetParameter since 22900 (key: *const c_char, value: *mut *const c_char, len: *mut c_int);
            ncclParamBind since 22900 (out: *mut *mut c_void, key: *const c_char);
        }
    };
}

macro_rules! nccl_table {
    ($($functions:tt)*) => {
        library_table! {
            /// NCCL's functions, with the version that introduced each. One table per process, found once; see
            /// [`NcclTable::load`].
            NcclTable of ncclResult_t else RTCG_NCCL_FUNCTION_MISSING {
                [text] ncclGetErrorString since 20000 (result: ncclResult_t);
                [text] ncclGetLastError since 21300 (comm: ncclComm_t);
                $($functions)*
            }
        }
    };
}
for_each_nccl_function!(nccl_table);

static LOADED_TABLE: LazyFunctionTable<NcclTable> = LazyFunctionTable::new();

impl NcclTable {
    /// The NCCL of this process, found and opened by the first call that succeeds.
    ///
    /// Searches, in this order, the file named by the environment variable `RTCG_NCCL` (then nothing else is tried;
    /// `none` means "no NCCL"), NVIDIA's wheels, toolkits, and the loader's own path, as
    /// [`NvrtcTable::load`](crate::NvrtcTable::load) does.
    pub fn load() -> Result<&'static NcclTable, LoadError> {
        LOADED_TABLE.get_or_load(|| {
            LIBRARY_SEARCH.find_library(|library, path| {
                Some(NcclTable::resolve_functions(library, path)).filter(|table| table.version().is_some())
            })
        })
    }

    /// The table of the functions that `resolve` finds, each of which must have the type that [`fn_type`] declares for
    /// its name: of a virtual NCCL.
    pub fn from_functions(resolve: impl Fn(&str) -> Option<*const c_void>) -> Self {
        Self::from_resolver(resolve, "the virtual NCCL".into())
    }

    /// The version, `10000 * major + 100 * minor + patch`.
    pub fn version(&self) -> Option<u32> {
        let mut version = 0;
        // SAFETY: writes one int.
        let code = unsafe { self.ncclGetVersion(&raw mut version) };
        code.is_success().then_some(version as u32)
    }

    /// NCCL's text for a code.
    pub fn error_string(&self, code: ncclResult_t) -> String {
        // SAFETY: takes any value and returns a static string.
        let text = unsafe { self.ncclGetErrorString(code) };
        if text.is_null() {
            return format!("{code:?}");
        }
        // SAFETY: NUL-terminated and static, see above.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }

    /// What a call that returned [`ncclResult_t::RTCG_NCCL_FUNCTION_MISSING`] lacks.
    pub fn missing_function_text(&self, name: &str) -> String {
        let text = |v: u32| format!("{}.{}.{}", v / 10000, v % 10000 / 100, v % 100);
        let since = Self::FUNCTIONS.iter().find(|(function, _)| *function == name).map_or(0, |(_, since)| *since);
        let has = self.version().map_or_else(String::new, |version| format!(", version {}", text(version)));
        let path = self.library_path().display();
        format!("{name} came with NCCL {}; the library in use ({path}{has}) does not have it", text(since))
    }
}

const LIBRARY_SEARCH: LibrarySearch = LibrarySearch {
    what: "NCCL, NVIDIA's library of collectives",
    name: "NCCL",
    variable: "RTCG_NCCL",
    dlopen_names: if cfg!(windows) { &["nccl.dll"] } else { &["libnccl.so.2"] },
    is_file: |name| name.starts_with("libnccl.so"),
    is_preloaded_dependency: |_| false,
    hint: || {
        "`pip install nvidia-nccl-cu13` (or -cu12) installs it, beside rtcg; RTCG_NCCL names the library file"
            .to_owned()
    },
};
