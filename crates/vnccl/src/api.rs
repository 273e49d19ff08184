//! NCCL's functions as C sees them: they check what they are given, and turn failures into codes. No panic leaves them.

use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::sync::Arc;

use crate::call::{Call, Kind};
use crate::clique::{Failure, SplitWish};
use crate::communicator::{COMMUNICATORS, Communicator, Join, PlacedCall, Res, checked, driver, failed, in_context};
use crate::elements::Reduction;
use crate::group::{
    NewCommunicator, add_call, add_communicator, drop_group, end_group, note_failure_in_group, start_group,
};
use crate::unique_id::UniqueId;
use rtcg_cuda_sys::nccl::*;
use rtcg_cuda_sys::{CUcontext, CUdevice, CUresult, CUstream};

/// The version whose functions these are.
const VERSION: c_int = 23203;

thread_local! {
    /// The text of the last failed call, as long as C may look at it.
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

fn set_last_error(text: &str) {
    LAST_ERROR.with_borrow_mut(|last| *last = CString::new(text.replace('\0', " ")).unwrap_or_default());
}

fn call_result(name: &str, body: impl FnOnce() -> Res) -> ncclResult_t {
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body))
        .unwrap_or_else(|_| failed(ncclResult_t::ncclInternalError, "the virtual NCCL has a bug"));
    let Err(mut failure) = outcome else { return ncclResult_t::ncclSuccess };
    note_failure_in_group(&failure);
    failure.text = format!("{name}: {}", failure.text);
    set_last_error(&failure.text);
    failure.code
}

/// Defines the functions, checks each against its declared type, and lists them.
macro_rules! nccl_functions {
    ($(fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => {
        $(
            #[allow(non_snake_case, clippy::too_many_arguments, reason = "NVIDIA's functions")]
            unsafe extern "C" fn $name($($arg: $ty),*) -> ncclResult_t {
                // SAFETY: as for the C function of this name, the caller promises that each pointer is null or valid
                // for what the function documents; handles are checked.
                #[allow(unused_unsafe, reason = "not every function uses pointers")]
                call_result(stringify!($name), || unsafe { $body })
            }
            const _: fn_type::$name = $name;
        )*

        /// The address of a function by its C name; each has the type that `rtcg_cuda_sys::nccl::fn_type` declares.
        pub fn resolve_function(name: &str) -> Option<*const c_void> {
            match name {
                "ncclGetErrorString" => Some(get_error_string as *const c_void),
                "ncclGetLastError" => Some(get_last_error as *const c_void),
                $(stringify!($name) => Some($name as *const c_void),)*
                _ => None,
            }
        }
    };
}

unsafe extern "C" fn get_error_string(result: ncclResult_t) -> *const c_char {
    let text = match result {
        ncclResult_t::ncclSuccess => c"no error",
        ncclResult_t::ncclUnhandledCudaError => c"unhandled cuda error",
        ncclResult_t::ncclSystemError => c"unhandled system error",
        ncclResult_t::ncclInternalError => c"internal error",
        ncclResult_t::ncclInvalidArgument => c"invalid argument",
        ncclResult_t::ncclInvalidUsage => c"invalid usage",
        ncclResult_t::ncclRemoteError => c"remote process exited or there was a network error",
        ncclResult_t::ncclInProgress => c"NCCL operation in progress",
        ncclResult_t::ncclTimeout => c"operation timed out",
        _ => c"unknown result code",
    };
    text.as_ptr()
}
const _: fn_type::ncclGetErrorString = get_error_string;

/// The failure of the communicator, else that of the thread's last failed call.
unsafe extern "C" fn get_last_error(comm: ncclComm_t) -> *const c_char {
    if let Some(failure) = communicator(comm).ok().and_then(|communicator| communicator.failure()) {
        set_last_error(&failure.text);
    }
    LAST_ERROR.with_borrow(|last| last.as_ptr())
}
const _: fn_type::ncclGetLastError = get_last_error;

fn communicator(comm: ncclComm_t) -> Res<Arc<Communicator>> {
    COMMUNICATORS.get_object(comm.0.addr() as u64).map_err(|_| {
        let text = format!("comm={:#x} is no communicator", comm.0.addr());
        Failure::new(ncclResult_t::ncclInvalidArgument, text)
    })
}

/// What a communicator waits for, as text: ranks, and the operation that they are missing from.
pub fn awaited(comm: ncclComm_t) -> Option<String> {
    communicator(comm).ok().map(|communicator| communicator.awaited())
}

/// Writes a result through a pointer.
///
/// # Safety
/// `place` is null or valid.
unsafe fn write_out<T>(name: &str, place: *mut T, value: T) -> Res {
    check_place(name, place)?;
    // SAFETY: not null, so valid by this function's contract.
    unsafe { place.write_unaligned(value) };
    Ok(())
}

fn check_place<T>(name: &str, place: *mut T) -> Res {
    if place.is_null() {
        return failed(ncclResult_t::ncclInvalidArgument, format!("{name} is null"));
    }
    Ok(())
}

/// Settings concern the paths of data, of which there is one here; only their form is checked.
///
/// # Safety
/// `config` is null or points to settings.
unsafe fn check_config(config: *const ncclConfig_t) -> Res {
    // SAFETY: by the contract of this function.
    let Some(config) = (unsafe { config.as_ref() }) else { return Ok(()) };
    if config.magic != NCCL_API_MAGIC {
        return failed(ncclResult_t::ncclInvalidArgument, "config was not made by NCCL_CONFIG_INITIALIZER");
    }
    Ok(())
}

/// Settings of a collective, of which only the form is checked.
///
/// # Safety
/// `config` is null or points to settings.
unsafe fn check_collective_config(config: *const ncclCollConfig_t) -> Res {
    /// Where settings that have it name an event that is recorded when the collective has begun.
    const LAUNCH_EVENT_OFFSET: usize = 64;
    // SAFETY: by the contract of this function.
    match unsafe { config.as_ref() } {
        Some(known) if known.magic == NCCL_API_MAGIC && known.size >= LAUNCH_EVENT_OFFSET + size_of::<usize>() => {
            // SAFETY: inside of the settings, whose size that is.
            if unsafe { config.byte_add(LAUNCH_EVENT_OFFSET).cast::<usize>().read_unaligned() } != 0 {
                return unsupported("config.launchCompletionEvent");
            }
            Ok(())
        }
        Some(config) if config.magic != NCCL_API_MAGIC => {
            failed(ncclResult_t::ncclInvalidArgument, "config was not made by NCCL_COLLCONFIG_INITIALIZER")
        }
        _ => Ok(()),
    }
}

fn current_context() -> Res<CUcontext> {
    let mut context = CUcontext::null();
    // SAFETY: writes one handle.
    checked("cuCtxGetCurrent", unsafe { driver()?.table.cuCtxGetCurrent(&raw mut context) })?;
    if context.is_null() {
        // As in the CUDA runtime, a thread begins on device 0.
        context = primary_context(0)?;
        // SAFETY: the driver checks the handle.
        checked("cuCtxSetCurrent", unsafe { driver()?.table.cuCtxSetCurrent(context) })?;
    }
    Ok(context)
}

/// The primary context of a device, kept for the life of the process, as by the CUDA runtime.
fn primary_context(ordinal: c_int) -> Res<CUcontext> {
    let driver = driver()?;
    let (mut device, mut context) = (CUdevice::default(), CUcontext::null());
    // SAFETY: writes handles; the device is checked.
    unsafe {
        match driver.table.cuDeviceGet(&raw mut device, ordinal) {
            CUresult::CUDA_ERROR_INVALID_DEVICE => {
                return failed(ncclResult_t::ncclInvalidArgument, format!("there is no device {ordinal}"));
            }
            code => checked("cuDeviceGet", code)?,
        }
        checked("cuDevicePrimaryCtxRetain", driver.table.cuDevicePrimaryCtxRetain(&raw mut context, device))?;
    }
    Ok(context)
}

/// Joins, now or at the end of the group.
///
/// # Safety
/// `place` can be written until then.
unsafe fn join(place: *mut ncclComm_t, id: &ncclUniqueId, n_ranks: c_int, rank: c_int, context: CUcontext) -> Res {
    check_place("comm", place)?;
    let Some(id) = UniqueId::from_c(id) else {
        return failed(ncclResult_t::ncclInvalidArgument, "commId is none of this library's ncclGetUniqueId");
    };
    // SAFETY: by the contract of this function.
    unsafe { add_communicator(NewCommunicator::Join(Join::new(id, n_ranks, rank, context)?), place) }
}

/// One collective, or one end of a transfer.
struct Request {
    kind: Kind,
    sent: *const c_void,
    received: *mut c_void,
    count: usize,
    dtype: ncclDataType_t,
    op: ncclRedOp_t,
    peer: c_int,
    comm: ncclComm_t,
    stream: CUstream,
}

impl Request {
    fn submit(self) -> Res {
        let communicator = communicator(self.comm)?;
        communicator.check_usable()?;
        let (n_ranks, what) = (communicator.n_ranks, if self.kind.is_transfer() { "peer" } else { "root" });
        let Some(peer) = usize::try_from(self.peer).ok().filter(|peer| *peer < n_ranks) else {
            let text = format!("{what}={} is no rank; there are {n_ranks}", self.peer);
            return failed(ncclResult_t::ncclInvalidArgument, text);
        };
        let Some(size) = self.dtype.size() else {
            let text = format!("datatype={} is no type of elements", self.dtype.0);
            return failed(ncclResult_t::ncclInvalidArgument, text);
        };
        if self.count.checked_mul(size * n_ranks).is_none_or(|bytes| bytes > isize::MAX as usize) {
            return failed(ncclResult_t::ncclInvalidArgument, format!("count={} is out of range", self.count));
        }
        let reduction = match communicator.scaled_sum(self.op) {
            Some((dtype, factor)) if dtype == self.dtype => Some(Reduction::ScaledSum(factor)),
            Some((dtype, _)) => {
                let text = format!("op={} was made for {dtype:?}, not for {:?}", self.op.0, self.dtype);
                return failed(ncclResult_t::ncclInvalidArgument, text);
            }
            None => Reduction::of_operation(self.op, self.dtype, n_ranks),
        };
        let Some(reduction) = reduction else {
            return failed(ncclResult_t::ncclInvalidArgument, format!("op={} is no operation", self.op.0));
        };
        let call = Call { kind: self.kind, count: self.count as u64, dtype: self.dtype, reduction, peer };
        let (sent, received) = (self.sent.expose_provenance() as u64, self.received.expose_provenance() as u64);
        if self.kind == Kind::AllToAll && sent == received && self.count > 0 && n_ranks > 1 {
            return failed(ncclResult_t::ncclInvalidArgument, "ncclAlltoAll cannot be done in place");
        }
        let placed = PlacedCall { call, sent, received };
        communicator.check_memory(&placed)?;
        add_call(communicator, self.stream, placed)
    }
}

fn unsupported(what: &str) -> Res {
    failed(ncclResult_t::ncclInvalidUsage, format!("the virtual NCCL does not have {what}"))
}

nccl_functions! {
    fn ncclGetVersion(version: *mut c_int) {
        write_out("version", version, VERSION)
    }

    fn ncclGetUniqueId(uniqueId: *mut ncclUniqueId) {
        let id = UniqueId::random()
            .map_err(|error| Failure::new(ncclResult_t::ncclSystemError, format!("/dev/urandom: {error}")))?;
        write_out("uniqueId", uniqueId, id.to_c())
    }

    fn ncclCommInitRank(comm: *mut ncclComm_t, nranks: c_int, commId: ncclUniqueId, rank: c_int) {
        join(comm, &commId, nranks, rank, current_context()?)
    }

    fn ncclCommInitRankConfig(comm: *mut ncclComm_t, nranks: c_int, commId: ncclUniqueId, rank: c_int, config: *mut ncclConfig_t) {
        check_config(config)?;
        join(comm, &commId, nranks, rank, current_context()?)
    }

    fn ncclCommInitRankScalable(newcomm: *mut ncclComm_t, nranks: c_int, myrank: c_int, nId: c_int, commIds: *mut ncclUniqueId, config: *mut ncclConfig_t) {
        check_config(config)?;
        check_place("commIds", commIds)?;
        if nId < 1 {
            return failed(ncclResult_t::ncclInvalidArgument, format!("nId={nId}: there must be an id"));
        }
        // The first is enough to meet by.
        join(newcomm, &*commIds, nranks, myrank, current_context()?)
    }

    fn ncclCommInitAll(comm: *mut ncclComm_t, ndev: c_int, devlist: *const c_int) {
        check_place("comm", comm)?;
        if ndev < 1 {
            return failed(ncclResult_t::ncclInvalidArgument, format!("ndev={ndev}: there must be a device"));
        }
        let devices: Vec<c_int> = (0..ndev).map(|i| if devlist.is_null() { i } else { *devlist.add(i as usize) }).collect();
        let id = UniqueId::random()
            .map_err(|error| Failure::new(ncclResult_t::ncclSystemError, format!("/dev/urandom: {error}")))?;
        let mut joins = Vec::new();
        for (rank, device) in devices.iter().enumerate() {
            if devices[..rank].contains(device) {
                return failed(ncclResult_t::ncclInvalidUsage, format!("devlist: device {device} is there twice"));
            }
            let context = primary_context(*device)?;
            joins.push(Join::new(id, ndev, rank as c_int, context)?);
        }
        start_group();
        let added = joins.into_iter().enumerate().try_for_each(|(rank, join)| {
            add_communicator(NewCommunicator::Join(join), comm.add(rank))
        });
        end_group().and(added)
    }

    fn ncclCommFinalize(comm: ncclComm_t) {
        communicator(comm)?.finalize();
        Ok(())
    }

    fn ncclCommDestroy(comm: ncclComm_t) {
        communicator(comm)?.finalize();
        let _ = COMMUNICATORS.remove_object(comm.0.addr() as u64);
        Ok(())
    }

    fn ncclCommAbort(comm: ncclComm_t) {
        communicator(comm)?.abort();
        let _ = COMMUNICATORS.remove_object(comm.0.addr() as u64);
        Ok(())
    }

    fn ncclCommRevoke(comm: ncclComm_t, revokeFlags: c_int) {
        if revokeFlags != 0 {
            return failed(ncclResult_t::ncclInvalidArgument, format!("revokeFlags={revokeFlags}: it must be 0"));
        }
        communicator(comm)?.revoke();
        Ok(())
    }

    fn ncclCommSplit(comm: ncclComm_t, color: c_int, key: c_int, newcomm: *mut ncclComm_t, config: *mut ncclConfig_t) {
        check_config(config)?;
        check_place("newcomm", newcomm)?;
        if color < NCCL_SPLIT_NOCOLOR {
            let text = format!("color={color}: at least 0, or NCCL_SPLIT_NOCOLOR (-1)");
            return failed(ncclResult_t::ncclInvalidArgument, text);
        }
        add_communicator(NewCommunicator::Split(communicator(comm)?, SplitWish { color, key }), newcomm)
    }

    fn ncclCommShrink(comm: ncclComm_t, excludeRanksList: *mut c_int, excludeRanksCount: c_int, newcomm: *mut ncclComm_t, config: *mut ncclConfig_t, shrinkFlags: c_int) {
        check_config(config)?;
        check_place("newcomm", newcomm)?;
        check_place("excludeRanksList", excludeRanksList)?;
        let parent = communicator(comm)?;
        let excluded: Vec<usize> =
            (0..excludeRanksCount.max(0) as usize).map(|i| usize::try_from(*excludeRanksList.add(i)).unwrap_or(usize::MAX)).collect();
        // A parent that has failed may be shrunk with either flag: nothing of it runs any more.
        if parent.failure().is_none() && shrinkFlags & NCCL_SHRINK_ABORT != 0 {
            parent.abort();
        }
        add_communicator(NewCommunicator::Join(parent.shrink(&excluded)?), newcomm)
    }

    fn ncclCommGrow(_comm: ncclComm_t, _nRanks: c_int, _uniqueId: *const ncclUniqueId, _rank: c_int, _newcomm: *mut ncclComm_t, _config: *mut ncclConfig_t) {
        unsupported("ncclCommGrow")
    }

    fn ncclCommGetAsyncError(comm: ncclComm_t, asyncError: *mut ncclResult_t) {
        let failure = communicator(comm)?.failure();
        write_out("asyncError", asyncError, failure.map_or(ncclResult_t::ncclSuccess, |failure| failure.code))
    }

    fn ncclCommCount(comm: ncclComm_t, count: *mut c_int) {
        write_out("count", count, communicator(comm)?.n_ranks as c_int)
    }

    fn ncclCommCuDevice(comm: ncclComm_t, device: *mut c_int) {
        write_out("device", device, communicator(comm)?.device)
    }

    fn ncclCommUserRank(comm: ncclComm_t, rank: *mut c_int) {
        write_out("rank", rank, communicator(comm)?.rank as c_int)
    }

    fn ncclCommRegister(comm: ncclComm_t, buff: *mut c_void, _size: usize, handle: *mut *mut c_void) {
        communicator(comm)?;
        check_place("buff", buff)?;
        // All memory is as good; the handle only says what was registered.
        write_out("handle", handle, buff)
    }

    fn ncclCommDeregister(comm: ncclComm_t, _handle: *mut c_void) {
        communicator(comm).map(drop)
    }

    // Devices without symmetric memory have a null window, and collectives that work without.
    fn ncclCommWindowRegister(comm: ncclComm_t, _buff: *mut c_void, _size: usize, win: *mut ncclWindow_t, _winFlags: c_int) {
        communicator(comm)?;
        write_out("win", win, ncclWindow_t::null())
    }

    fn ncclCommWindowDeregister(comm: ncclComm_t, win: ncclWindow_t) {
        communicator(comm)?;
        if win.is_null() { Ok(()) } else { failed(ncclResult_t::ncclInvalidArgument, "win is no window") }
    }

    fn ncclWinGetUserPtr(comm: ncclComm_t, _win: ncclWindow_t, outUserPtr: *mut *mut c_void) {
        communicator(comm)?;
        write_out("outUserPtr", outUserPtr, std::ptr::null_mut())
    }

    fn ncclCommGetUniqueId(_comm: ncclComm_t, _uniqueId: *mut ncclUniqueId) {
        unsupported("ncclCommGrow, which ncclCommGetUniqueId is for")
    }

    fn ncclCommSuspend(comm: ncclComm_t, flags: c_int) {
        if flags != 1 {
            return failed(ncclResult_t::ncclInvalidArgument, format!("flags={flags}: expected NCCL_SUSPEND_MEM (1)"));
        }
        communicator(comm)?.set_suspended(true)
    }

    fn ncclCommResume(comm: ncclComm_t) {
        communicator(comm)?.set_suspended(false)
    }

    // A communicator has no memory of the device.
    fn ncclCommMemStats(comm: ncclComm_t, stat: c_uint, value: *mut u64) {
        let communicator = communicator(comm)?;
        match stat {
            0 | 2 | 3 => write_out("value", value, 0),
            1 => write_out("value", value, communicator.is_suspended().into()),
            _ => failed(ncclResult_t::ncclInvalidArgument, format!("stat={stat}: expected 0 to 3")),
        }
    }

    fn ncclCommQueryProperties(comm: ncclComm_t, props: *mut ncclCommProperties_t) {
        let communicator = communicator(comm)?;
        check_place("props", props)?;
        let size = (&raw const (*props).size).read_unaligned();
        if (&raw const (*props).magic).read_unaligned() != NCCL_API_MAGIC || size < size_of::<ncclCommProperties_t>() {
            let text = "props was not made by NCCL_COMM_PROPERTIES_INITIALIZER";
            return failed(ncclResult_t::ncclInvalidArgument, text);
        }
        let begin = std::mem::offset_of!(ncclCommProperties_t, rank);
        props.cast::<u8>().add(begin).write_bytes(0, size - begin);
        (&raw mut (*props).rank).write_unaligned(communicator.rank as c_int);
        (&raw mut (*props).nRanks).write_unaligned(communicator.n_ranks as c_int);
        (&raw mut (*props).cudaDev).write_unaligned(communicator.device);
        (&raw mut (*props).nvmlDev).write_unaligned(communicator.device);
        // No rank loads and stores to another's memory.
        (&raw mut (*props).nLsaTeams).write_unaligned(communicator.n_ranks as c_int);
        Ok(())
    }

    fn ncclMemAlloc(ptr: *mut *mut c_void, size: usize) {
        check_place("ptr", ptr)?;
        current_context()?;
        let mut address = 0;
        checked("cuMemAlloc", driver()?.table.cuMemAlloc(&raw mut address, size))?;
        write_out("ptr", ptr, std::ptr::with_exposed_provenance_mut(address as usize))
    }

    fn ncclMemFree(ptr: *mut c_void) {
        checked("cuMemFree", driver()?.table.cuMemFree(ptr.addr() as u64))
    }

    fn ncclRedOpCreatePreMulSum(op: *mut ncclRedOp_t, scalar: *mut c_void, datatype: ncclDataType_t, residence: c_uint, comm: ncclComm_t) {
        let communicator = communicator(comm)?;
        check_place("scalar", scalar)?;
        check_place("op", op)?;
        let Some(size) = datatype.size() else {
            return failed(ncclResult_t::ncclInvalidArgument, format!("datatype={} is no type of elements", datatype.0));
        };
        let mut bytes = [0_u8; 8];
        if residence == ncclScalarHostImmediate {
            std::ptr::copy_nonoverlapping(scalar.cast::<u8>(), bytes.as_mut_ptr(), size);
        } else {
            in_context(communicator.context, |driver| {
                let from = scalar.addr() as u64;
                checked("cuMemcpyDtoH", driver.table.cuMemcpyDtoH(bytes.as_mut_ptr().cast(), from, size))
            })?;
        }
        write_out("op", op, communicator.make_scaled_sum(datatype, u64::from_le_bytes(bytes)))
    }

    fn ncclRedOpDestroy(op: ncclRedOp_t, comm: ncclComm_t) {
        if communicator(comm)?.remove_scaled_sum(op) {
            return Ok(());
        }
        failed(ncclResult_t::ncclInvalidArgument, format!("op={} was not made by ncclRedOpCreatePreMulSum", op.0))
    }

    fn ncclReduce(sendbuff: *const c_void, recvbuff: *mut c_void, count: usize, datatype: ncclDataType_t, op: ncclRedOp_t, root: c_int, comm: ncclComm_t, stream: CUstream) {
        Request { kind: Kind::Reduce, sent: sendbuff, received: recvbuff, count, dtype: datatype, op, peer: root, comm, stream }.submit()
    }

    fn ncclBcast(buff: *mut c_void, count: usize, datatype: ncclDataType_t, root: c_int, comm: ncclComm_t, stream: CUstream) {
        Request { kind: Kind::Broadcast, sent: buff, received: buff, count, dtype: datatype, op: ncclSum, peer: root, comm, stream }.submit()
    }

    fn ncclBroadcast(sendbuff: *const c_void, recvbuff: *mut c_void, count: usize, datatype: ncclDataType_t, root: c_int, comm: ncclComm_t, stream: CUstream) {
        Request { kind: Kind::Broadcast, sent: sendbuff, received: recvbuff, count, dtype: datatype, op: ncclSum, peer: root, comm, stream }.submit()
    }

    fn ncclAllReduce(sendbuff: *const c_void, recvbuff: *mut c_void, count: usize, datatype: ncclDataType_t, op: ncclRedOp_t, comm: ncclComm_t, stream: CUstream) {
        Request { kind: Kind::AllReduce, sent: sendbuff, received: recvbuff, count, dtype: datatype, op, peer: 0, comm, stream }.submit()
    }

    fn ncclReduceScatter(sendbuff: *const c_void, recvbuff: *mut c_void, recvcount: usize, datatype: ncclDataType_t, op: ncclRedOp_t, comm: ncclComm_t, stream: CUstream) {
        Request { kind: Kind::ReduceScatter, sent: sendbuff, received: recvbuff, count: recvcount, dtype: datatype, op, peer: 0, comm, stream }.submit()
    }

    fn ncclAllGather(sendbuff: *const c_void, recvbuff: *mut c_void, sendcount: usize, datatype: ncclDataType_t, comm: ncclComm_t, stream: CUstream) {
        Request { kind: Kind::AllGather, sent: sendbuff, received: recvbuff, count: sendcount, dtype: datatype, op: ncclSum, peer: 0, comm, stream }.submit()
    }

    fn ncclAlltoAll(sendbuff: *const c_void, recvbuff: *mut c_void, count: usize, datatype: ncclDataType_t, comm: ncclComm_t, stream: CUstream) {
        Request { kind: Kind::AllToAll, sent: sendbuff, received: recvbuff, count, dtype: datatype, op: ncclSum, peer: 0, comm, stream }.submit()
    }

    fn ncclGather(sendbuff: *const c_void, recvbuff: *mut c_void, count: usize, datatype: ncclDataType_t, root: c_int, comm: ncclComm_t, stream: CUstream) {
        Request { kind: Kind::Gather, sent: sendbuff, received: recvbuff, count, dtype: datatype, op: ncclSum, peer: root, comm, stream }.submit()
    }

    fn ncclScatter(sendbuff: *const c_void, recvbuff: *mut c_void, count: usize, datatype: ncclDataType_t, root: c_int, comm: ncclComm_t, stream: CUstream) {
        Request { kind: Kind::Scatter, sent: sendbuff, received: recvbuff, count, dtype: datatype, op: ncclSum, peer: root, comm, stream }.submit()
    }

    fn ncclSend(sendbuff: *const c_void, count: usize, datatype: ncclDataType_t, peer: c_int, comm: ncclComm_t, stream: CUstream) {
        let received = std::ptr::null_mut();
        Request { kind: Kind::Send, sent: sendbuff, received, count, dtype: datatype, op: ncclSum, peer, comm, stream }.submit()
    }

    fn ncclRecv(recvbuff: *mut c_void, count: usize, datatype: ncclDataType_t, peer: c_int, comm: ncclComm_t, stream: CUstream) {
        let sent = std::ptr::null();
        Request { kind: Kind::Recv, sent, received: recvbuff, count, dtype: datatype, op: ncclSum, peer, comm, stream }.submit()
    }

    fn ncclGroupStart() {
        start_group();
        Ok(())
    }

    fn ncclGroupEnd() {
        end_group()
    }

    fn ncclGroupSimulateEnd(simInfo: *mut ncclSimInfo_t) {
        drop_group()?;
        if !simInfo.is_null() {
            (&raw mut (*simInfo).estimatedTime).write_unaligned(0.0);
        }
        Ok(())
    }

    fn ncclReduceConfig(sendbuff: *const c_void, recvbuff: *mut c_void, count: usize, datatype: ncclDataType_t, op: ncclRedOp_t, root: c_int, comm: ncclComm_t, stream: CUstream, config: *const ncclCollConfig_t) {
        check_collective_config(config)?;
        Request { kind: Kind::Reduce, sent: sendbuff, received: recvbuff, count, dtype: datatype, op, peer: root, comm, stream }.submit()
    }

    fn ncclBroadcastConfig(sendbuff: *const c_void, recvbuff: *mut c_void, count: usize, datatype: ncclDataType_t, root: c_int, comm: ncclComm_t, stream: CUstream, config: *const ncclCollConfig_t) {
        check_collective_config(config)?;
        Request { kind: Kind::Broadcast, sent: sendbuff, received: recvbuff, count, dtype: datatype, op: ncclSum, peer: root, comm, stream }.submit()
    }

    fn ncclAllReduceConfig(sendbuff: *const c_void, recvbuff: *mut c_void, count: usize, datatype: ncclDataType_t, op: ncclRedOp_t, comm: ncclComm_t, stream: CUstream, config: *const ncclCollConfig_t) {
        check_collective_config(config)?;
        Request { kind: Kind::AllReduce, sent: sendbuff, received: recvbuff, count, dtype: datatype, op, peer: 0, comm, stream }.submit()
    }

    fn ncclReduceScatterConfig(sendbuff: *const c_void, recvbuff: *mut c_void, recvcount: usize, datatype: ncclDataType_t, op: ncclRedOp_t, comm: ncclComm_t, stream: CUstream, config: *const ncclCollConfig_t) {
        check_collective_config(config)?;
        Request { kind: Kind::ReduceScatter, sent: sendbuff, received: recvbuff, count: recvcount, dtype: datatype, op, peer: 0, comm, stream }.submit()
    }

    fn ncclAllGatherConfig(sendbuff: *const c_void, recvbuff: *mut c_void, sendcount: usize, datatype: ncclDataType_t, comm: ncclComm_t, stream: CUstream, config: *const ncclCollConfig_t) {
        check_collective_config(config)?;
        Request { kind: Kind::AllGather, sent: sendbuff, received: recvbuff, count: sendcount, dtype: datatype, op: ncclSum, peer: 0, comm, stream }.submit()
    }

    fn ncclAlltoAllConfig(sendbuff: *const c_void, recvbuff: *mut c_void, count: usize, datatype: ncclDataType_t, comm: ncclComm_t, stream: CUstream, config: *const ncclCollConfig_t) {
        check_collective_config(config)?;
        Request { kind: Kind::AllToAll, sent: sendbuff, received: recvbuff, count, dtype: datatype, op: ncclSum, peer: 0, comm, stream }.submit()
    }

    fn ncclGatherConfig(sendbuff: *const c_void, recvbuff: *mut c_void, count: usize, datatype: ncclDataType_t, root: c_int, comm: ncclComm_t, stream: CUstream, config: *const ncclCollConfig_t) {
        check_collective_config(config)?;
        Request { kind: Kind::Gather, sent: sendbuff, received: recvbuff, count, dtype: datatype, op: ncclSum, peer: root, comm, stream }.submit()
    }

    fn ncclScatterConfig(sendbuff: *const c_void, recvbuff: *mut c_void, count: usize, datatype: ncclDataType_t, root: c_int, comm: ncclComm_t, stream: CUstream, config: *const ncclCollConfig_t) {
        check_collective_config(config)?;
        Request { kind: Kind::Scatter, sent: sendbuff, received: recvbuff, count, dtype: datatype, op: ncclSum, peer: root, comm, stream }.submit()
    }

    fn ncclPutSignal(_localbuff: *const c_void, _count: usize, _datatype: ncclDataType_t, _peer: c_int, _peerWin: ncclWindow_t, _peerWinOffset: usize, _sigIdx: c_int, _ctx: c_int, _flags: c_uint, _comm: ncclComm_t, _stream: CUstream) {
        unsupported("symmetric memory, which ncclPutSignal needs")
    }

    fn ncclSignal(_peer: c_int, _sigIdx: c_int, _ctx: c_int, _flags: c_uint, _comm: ncclComm_t, _stream: CUstream) {
        unsupported("symmetric memory, which ncclSignal needs")
    }

    fn ncclWaitSignal(_nDesc: c_int, _signalDescs: *mut c_void, _comm: ncclComm_t, _stream: CUstream) {
        unsupported("symmetric memory, which ncclWaitSignal needs")
    }

    fn ncclDevCommCreate(_comm: ncclComm_t, _reqs: *const c_void, _outDevComm: *mut c_void) {
        unsupported("symmetric memory, which ncclDevCommCreate needs")
    }

    fn ncclDevCommDestroy(_comm: ncclComm_t, _devComm: *const c_void) {
        unsupported("symmetric memory, which ncclDevCommDestroy needs")
    }

    // There are no parameters.
    fn ncclParamGetAllParameterKeys(table: *mut *const *const c_char, len: *mut c_int) {
        write_out("table", table, std::ptr::null())?;
        write_out("len", len, 0)
    }

    fn ncclParamGetParameter(_key: *const c_char, _value: *mut *const c_char, _len: *mut c_int) {
        failed(ncclResult_t::ncclInvalidArgument, "there are no parameters")
    }

    fn ncclParamBind(_out: *mut *mut c_void, _key: *const c_char) {
        failed(ncclResult_t::ncclInvalidArgument, "there are no parameters")
    }
}
