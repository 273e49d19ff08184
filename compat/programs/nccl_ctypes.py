"""The virtual NCCL as C programs see it: its symbols, a thread's device, errors, and calls that the library refuses."""

import ctypes
import threading

NCCL = ctypes.CDLL("libnccl.so.2")
NCCL.ncclGetErrorString.restype = NCCL.ncclGetLastError.restype = ctypes.c_char_p
SUCCESS, INVALID_ARGUMENT, INVALID_USAGE = 0, 4, 5

#: What nccl.h of NCCL 2.32.3 and nccl_device/host.h declare, by what the library does.
WORKING = """GetVersion GetUniqueId GetErrorString GetLastError GroupStart GroupEnd GroupSimulateEnd MemAlloc MemFree
CommInitRank CommInitRankConfig CommInitRankScalable CommInitAll CommFinalize CommDestroy CommAbort CommRevoke CommSplit
CommShrink CommGetAsyncError CommCount CommCuDevice CommUserRank CommQueryProperties CommMemStats CommSuspend CommResume
CommRegister CommDeregister CommWindowRegister CommWindowDeregister WinGetUserPtr RedOpCreatePreMulSum RedOpDestroy
Reduce Bcast Broadcast AllReduce ReduceScatter AllGather AlltoAll Gather Scatter Send Recv ReduceConfig BroadcastConfig
AllReduceConfig ReduceScatterConfig AllGatherConfig AlltoAllConfig GatherConfig ScatterConfig ResetDebugInit
ParamGetAllParameterKeys ParamDumpAll""".split()
REFUSING = """CommGrow CommGetUniqueId DevCommCreate DevCommDestroy PutSignal Signal WaitSignal ParamBind
ParamGetParameter""".split()
#: Of use with objects only that the library does not make: device communicators, windows, parameters, connections.
ABSENT = """TeamWorld TeamLsa TeamRail TeamCft TeamCftMultimem TeamRankToWorld TeamRankToLsa GetLsaDevicePointer
GetLsaMultimemDevicePointer GetMultimemDevicePointer GetPeerDevicePointer GetMultimemDeviceLeInfo GetCftDeviceLeInfo
GetPeerDeviceLeInfo LsaBarrierCreateRequirement GinBarrierCreateRequirement LLA2ACalcSlots LLA2ACreateRequirement
ParamGet ParamGetStr ParamGetI8 ParamGetI16 ParamGetI32 ParamGetI64 ParamGetU8 ParamGetU16 ParamGetU32 ParamGetU64
SetEncryption""".split()


def check_symbols():
    missing = [name for name in (*WORKING, *REFUSING) for p in ("", "p") if not hasattr(NCCL, f"{p}nccl{name}")]
    assert not missing, f"not exported, with or without p: {missing}"
    now_there = [name for name in ABSENT if hasattr(NCCL, f"nccl{name}")]
    assert not now_there, f"exported by now: {now_there}"
    for code, text in {0: b"no error", INVALID_ARGUMENT: b"invalid argument", 99: b"unknown result code"}.items():
        assert NCCL.ncclGetErrorString(code) == text, NCCL.ncclGetErrorString(code)


def check_thread_without_context():
    """A thread that has called nothing of CUDA has the first device, as with the CUDA runtime in NVIDIA's library."""
    outcomes = []

    def call():
        unique_id = (ctypes.c_char * 128)()
        communicator, device, memory = ctypes.c_void_p(), ctypes.c_int(-1), ctypes.c_void_p()
        outcomes.append(NCCL.ncclGetUniqueId(unique_id))
        by_value = type("ncclUniqueId", (ctypes.Structure,), {"_fields_": [("internal", ctypes.c_char * 128)]})
        NCCL.ncclCommInitRank.argtypes = [ctypes.c_void_p, ctypes.c_int, by_value, ctypes.c_int]
        given = by_value.from_buffer_copy(bytes(unique_id.raw))
        outcomes.append(NCCL.ncclCommInitRank(ctypes.byref(communicator), 1, given, 0))
        outcomes.append(NCCL.ncclCommCuDevice(communicator, ctypes.byref(device)))
        outcomes.append(device.value)
        outcomes.append(NCCL.ncclMemAlloc(ctypes.byref(memory), ctypes.c_size_t(1000)))
        outcomes.append(NCCL.ncclAllReduce(memory, memory, ctypes.c_size_t(10), 7, 0, communicator, None))
        outcomes.append(NCCL.ncclAllReduce(memory, memory, ctypes.c_size_t(0), 7, 0, communicator, None))
        outcomes.append(NCCL.ncclCommDestroy(communicator))
        outcomes.append(NCCL.ncclMemFree(memory))

    thread = threading.Thread(target=call)
    thread.start()
    thread.join(60)
    assert outcomes == [SUCCESS] * 9, (outcomes, NCCL.ncclGetLastError(None))


def check_wrong_calls(communicators):
    def refused(code, call, part, *arguments):
        assert call(*arguments) == code, (call.__name__, call(*arguments))
        assert part in NCCL.ncclGetLastError(None), NCCL.ncclGetLastError(None)

    first, memory, text = communicators[0], ctypes.c_void_p(), ctypes.c_char_p()
    assert NCCL.ncclMemAlloc(ctypes.byref(memory), ctypes.c_size_t(64)) == SUCCESS
    call = lambda count, dtype, op: (memory, memory, ctypes.c_size_t(count), dtype, op, first, None)  # noqa: E731
    refused(INVALID_ARGUMENT, NCCL.ncclAllReduce, b"datatype=99", *call(1, 99, 0))
    refused(INVALID_ARGUMENT, NCCL.ncclAllReduce, b"op=99", *call(1, 7, 99))
    refused(INVALID_ARGUMENT, NCCL.ncclAllReduce, b"", *call(2**40, 7, 0))
    refused(INVALID_ARGUMENT, NCCL.ncclCommCount, b"comm=", ctypes.c_void_p(7), ctypes.byref(ctypes.c_int()))
    refused(INVALID_ARGUMENT, NCCL.ncclCommCount, b"count", first, None)
    refused(INVALID_USAGE, NCCL.ncclDevCommCreate, b"ncclDevCommCreate", first, None, memory)
    refused(INVALID_USAGE, NCCL.ncclSignal, b"ncclSignal", 0, 0, 0, 0, first, None)
    refused(INVALID_ARGUMENT, NCCL.ncclParamGetParameter, b"parameter", b"NCCL_DEBUG", ctypes.byref(text), None)
    assert NCCL.ncclMemFree(memory) == SUCCESS


def check_new_calls(communicator):
    """Calls of recent versions that have a result without NVIDIA's links."""
    value, window = ctypes.c_uint64(7), ctypes.c_void_p(7)
    for statistic in range(4):
        assert NCCL.ncclCommMemStats(communicator, statistic, ctypes.byref(value)) == SUCCESS and value.value == 0
    assert NCCL.ncclCommWindowRegister(communicator, None, ctypes.c_size_t(0), ctypes.byref(window), 1) == SUCCESS
    assert window.value is None and NCCL.ncclCommWindowDeregister(communicator, window) == SUCCESS
    names, n_names = ctypes.c_void_p(), ctypes.c_int(-1)
    assert NCCL.ncclParamGetAllParameterKeys(ctypes.byref(names), ctypes.byref(n_names)) == SUCCESS
    assert n_names.value == 0


def main():
    check_symbols()
    check_thread_without_context()
    communicators = (ctypes.c_void_p * 2)()
    assert NCCL.ncclCommInitAll(communicators, 2, None) == SUCCESS, NCCL.ncclGetLastError(None)
    handles = [ctypes.c_void_p(handle) for handle in communicators]
    check_wrong_calls(handles)
    check_new_calls(handles[0])
    for handle in handles:
        assert NCCL.ncclCommDestroy(handle) == SUCCESS


if __name__ == "__main__":
    main()
