//! Which calls of the driver are allowed where most are not.

use crate::error::ResultCode;

measured! {
    /// Recursion that exhausts its stack is told as a bad access.
    STACK_OVERFLOW_CODE: ResultCode = ResultCode::ILLEGAL_ADDRESS, from "q48";
    /// A call through a pointer that is no function is told as a bad access.
    WILD_CALL_CODE: ResultCode = ResultCode::ILLEGAL_ADDRESS, from "q50";
    /// Flags of an executable graph that are not told: that it was uploaded, and that its nodes have priorities.
    UNTOLD_EXEC_FLAGS: u64 = 10, from "q86";
    /// Types of nodes in graphs that kernels may launch, beside child graphs of such nodes; with another one the graph is
    /// not instantiated for that, and the node is named.
    DEVICE_LAUNCH_NODES: &[u32] = &[0, 1, 2], from "q86";
    /// What replacing a child graph in an executable graph returns when the new one has other nodes or edges.
    CHANGED_CHILD_GRAPH_CODE: ResultCode = ResultCode::GRAPH_EXEC_UPDATE_FAILURE, from "q86";
    /// Parameters of nodes that allocate and free memory cannot be replaced.
    MEMORY_NODE_SET_CODE: ResultCode = ResultCode::NOT_SUPPORTED, from "q86";
    /// The ports and the type of an edge between two captured kernels, the second of which is launched with
    /// `PROGRAMMATIC_STREAM_SERIALIZATION`: from port, to port, type.
    PROGRAMMATIC_EDGE: [u8; 3] = [1, 0, 1], from "q85";
    /// What the linker returns for inputs that do not fit together when the program has given a buffer for its errors.
    LINK_CODE_WITH_LOG: ResultCode = ResultCode::INVALID_SOURCE, from "q89";
    /// The same when it has given none.
    LINK_CODE_WITHOUT_LOG: ResultCode = ResultCode::UNKNOWN, from "q61";
    /// Flags that a primary context has besides those that are set while it is active.
    FLAGS_OF_ACTIVE_PRIMARY: u32 = 8, from "q90";
    /// The flags of a primary context that was reset.
    FLAGS_AFTER_RESET: u32 = 0, from "q90";
    /// What the import of external memory or of an external semaphore gives for a descriptor of nothing.
    DEAD_EXTERNAL_DESCRIPTOR_CODE: ResultCode = ResultCode::UNKNOWN, from "q90";
    /// In a host function that a stream calls, the functions that need an initialised driver are not permitted, but for
    /// these, which use a stream or an event and wait for nothing.
    CALLS_IN_HOST_FUNCTIONS: &[&str] =
        &["cuEventQuery", "cuEventRecord", "cuEventRecordWithFlags", "cuLaunchHostFunc", "cuStreamQuery"], from "q30";
    /// The synchronisation policy that a stream tells before one was set.
    UNSET_SYNCHRONIZATION_POLICY: u32 = u32::MAX, from "q59";
    /// After a fault, every function that needs an initialised driver returns its code, in all contexts of the
    /// device, but for these, which only say what handles and addresses are or change what is current. Functions
    /// about devices work too, except that no context can be had of the device.
    CALLS_AFTER_FAULTS: &[&str] = &[
        "cuCtxDestroy",
        "cuCtxGetApiVersion",
        "cuCtxGetCurrent",
        "cuCtxGetDevice",
        "cuCtxPopCurrent",
        "cuCtxPushCurrent",
        "cuCtxSetCurrent",
        "cuPointerGetAttribute",
        "cuPointerGetAttributes",
    ], from "q30";
}
