//! The structures and unions of the CUDA driver API (CUDA 13.0), field for field.
//!
//! All of them are valid when all their bytes are zero; `Default` gives that value, following the C API's convention of
//! zero-initialising reserved fields. Nested anonymous structures are named after their path
//! (`CUDA_RESOURCE_DESC_res_linear`), unnamed members are `anon0`.

use super::*;

cuda_struct! {
    /// The C struct `CUuuid`.
    #[repr(C)]
    CUuuid {
        bytes: [c_char; 16],
    }
}

cuda_struct! {
    /// The C struct `CUmemFabricHandle`.
    #[repr(C)]
    CUmemFabricHandle {
        data: [c_uchar; 64],
    }
}

cuda_struct! {
    /// The C struct `CUipcEventHandle`.
    #[repr(C)]
    CUipcEventHandle {
        reserved: [c_char; 64],
    }
}

cuda_struct! {
    /// The C struct `CUipcMemHandle`.
    #[repr(C)]
    CUipcMemHandle {
        reserved: [c_char; 64],
    }
}

cuda_union! {
    /// The C union `CUstreamBatchMemOpParams_waitValue_anon0`.
    #[repr(C)]
    CUstreamBatchMemOpParams_waitValue_anon0 {
        value: u32,
        value64: u64,
    }
}

cuda_struct! {
    /// The C struct `CUstreamBatchMemOpParams_waitValue`.
    #[repr(C)]
    CUstreamBatchMemOpParams_waitValue {
        operation: CUstreamBatchMemOpType,
        address: CUdeviceptr,
        anon0: CUstreamBatchMemOpParams_waitValue_anon0,
        flags: c_uint,
        alias: CUdeviceptr,
    }
}

cuda_union! {
    /// The C union `CUstreamBatchMemOpParams_writeValue_anon0`.
    #[repr(C)]
    CUstreamBatchMemOpParams_writeValue_anon0 {
        value: u32,
        value64: u64,
    }
}

cuda_struct! {
    /// The C struct `CUstreamBatchMemOpParams_writeValue`.
    #[repr(C)]
    CUstreamBatchMemOpParams_writeValue {
        operation: CUstreamBatchMemOpType,
        address: CUdeviceptr,
        anon0: CUstreamBatchMemOpParams_writeValue_anon0,
        flags: c_uint,
        alias: CUdeviceptr,
    }
}

cuda_struct! {
    /// The C struct `CUstreamBatchMemOpParams_flushRemoteWrites`.
    #[repr(C)]
    CUstreamBatchMemOpParams_flushRemoteWrites {
        operation: CUstreamBatchMemOpType,
        flags: c_uint,
    }
}

cuda_struct! {
    /// The C struct `CUstreamBatchMemOpParams_memoryBarrier`.
    #[repr(C)]
    CUstreamBatchMemOpParams_memoryBarrier {
        operation: CUstreamBatchMemOpType,
        flags: c_uint,
    }
}

cuda_union! {
    /// The C union `CUstreamBatchMemOpParams`.
    #[repr(C)]
    CUstreamBatchMemOpParams {
        operation: CUstreamBatchMemOpType,
        waitValue: CUstreamBatchMemOpParams_waitValue,
        writeValue: CUstreamBatchMemOpParams_writeValue,
        flushRemoteWrites: CUstreamBatchMemOpParams_flushRemoteWrites,
        memoryBarrier: CUstreamBatchMemOpParams_memoryBarrier,
        pad: [u64; 6],
    }
}

cuda_struct! {
    /// The C struct `CUDA_BATCH_MEM_OP_NODE_PARAMS`.
    #[repr(C)]
    CUDA_BATCH_MEM_OP_NODE_PARAMS {
        ctx: CUcontext,
        count: c_uint,
        paramArray: *mut CUstreamBatchMemOpParams,
        flags: c_uint,
    }
}

cuda_struct! {
    /// The C struct `CUDA_BATCH_MEM_OP_NODE_PARAMS_v2`.
    #[repr(C)]
    CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 {
        ctx: CUcontext,
        count: c_uint,
        paramArray: *mut CUstreamBatchMemOpParams,
        flags: c_uint,
    }
}

cuda_struct! {
    /// The C struct `CUasyncNotificationInfo_info_overBudget`.
    #[repr(C)]
    CUasyncNotificationInfo_info_overBudget {
        bytesOverBudget: u64,
    }
}

cuda_union! {
    /// The C union `CUasyncNotificationInfo_info`.
    #[repr(C)]
    CUasyncNotificationInfo_info {
        overBudget: CUasyncNotificationInfo_info_overBudget,
    }
}

cuda_struct! {
    /// The C struct `CUasyncNotificationInfo`.
    #[repr(C)]
    CUasyncNotificationInfo {
        type_: CUasyncNotificationType,
        info: CUasyncNotificationInfo_info,
    }
}

cuda_struct! {
    /// The C struct `CUdevprop`.
    #[repr(C)]
    CUdevprop {
        maxThreadsPerBlock: c_int,
        maxThreadsDim: [c_int; 3],
        maxGridSize: [c_int; 3],
        sharedMemPerBlock: c_int,
        totalConstantMemory: c_int,
        SIMDWidth: c_int,
        memPitch: c_int,
        regsPerBlock: c_int,
        clockRate: c_int,
        textureAlign: c_int,
    }
}

cuda_struct! {
    /// The C struct `CUaccessPolicyWindow`.
    #[repr(C)]
    CUaccessPolicyWindow {
        base_ptr: *mut c_void,
        num_bytes: usize,
        hitRatio: f32,
        hitProp: CUaccessProperty,
        missProp: CUaccessProperty,
    }
}

cuda_struct! {
    /// The C struct `CUDA_KERNEL_NODE_PARAMS_v1`.
    #[repr(C)]
    CUDA_KERNEL_NODE_PARAMS_v1 {
        func: CUfunction,
        gridDimX: c_uint,
        gridDimY: c_uint,
        gridDimZ: c_uint,
        blockDimX: c_uint,
        blockDimY: c_uint,
        blockDimZ: c_uint,
        sharedMemBytes: c_uint,
        kernelParams: *mut *mut c_void,
        extra: *mut *mut c_void,
    }
}

cuda_struct! {
    /// The C struct `CUDA_KERNEL_NODE_PARAMS`.
    #[repr(C)]
    CUDA_KERNEL_NODE_PARAMS {
        func: CUfunction,
        gridDimX: c_uint,
        gridDimY: c_uint,
        gridDimZ: c_uint,
        blockDimX: c_uint,
        blockDimY: c_uint,
        blockDimZ: c_uint,
        sharedMemBytes: c_uint,
        kernelParams: *mut *mut c_void,
        extra: *mut *mut c_void,
        kern: CUkernel,
        ctx: CUcontext,
    }
}

cuda_struct! {
    /// The C struct `CUDA_KERNEL_NODE_PARAMS_v3`.
    #[repr(C)]
    CUDA_KERNEL_NODE_PARAMS_v3 {
        func: CUfunction,
        gridDimX: c_uint,
        gridDimY: c_uint,
        gridDimZ: c_uint,
        blockDimX: c_uint,
        blockDimY: c_uint,
        blockDimZ: c_uint,
        sharedMemBytes: c_uint,
        kernelParams: *mut *mut c_void,
        extra: *mut *mut c_void,
        kern: CUkernel,
        ctx: CUcontext,
    }
}

cuda_struct! {
    /// The C struct `CUDA_MEMSET_NODE_PARAMS`.
    #[repr(C)]
    CUDA_MEMSET_NODE_PARAMS {
        dst: CUdeviceptr,
        pitch: usize,
        value: c_uint,
        elementSize: c_uint,
        width: usize,
        height: usize,
    }
}

cuda_struct! {
    /// The C struct `CUDA_MEMSET_NODE_PARAMS_v2`.
    #[repr(C)]
    CUDA_MEMSET_NODE_PARAMS_v2 {
        dst: CUdeviceptr,
        pitch: usize,
        value: c_uint,
        elementSize: c_uint,
        width: usize,
        height: usize,
        ctx: CUcontext,
    }
}

cuda_struct! {
    /// The C struct `CUDA_HOST_NODE_PARAMS`.
    #[repr(C)]
    CUDA_HOST_NODE_PARAMS {
        fn_: CUhostFn,
        userData: *mut c_void,
    }
}

cuda_struct! {
    /// The C struct `CUDA_HOST_NODE_PARAMS_v2`.
    #[repr(C)]
    CUDA_HOST_NODE_PARAMS_v2 {
        fn_: CUhostFn,
        userData: *mut c_void,
    }
}

cuda_struct! {
    /// The C struct `CUDA_CONDITIONAL_NODE_PARAMS`.
    #[repr(C)]
    CUDA_CONDITIONAL_NODE_PARAMS {
        handle: CUgraphConditionalHandle,
        type_: CUgraphConditionalNodeType,
        size: c_uint,
        phGraph_out: *mut CUgraph,
        ctx: CUcontext,
    }
}

cuda_struct! {
    /// The C struct `CUgraphEdgeData`.
    #[repr(C)]
    CUgraphEdgeData {
        from_port: c_uchar,
        to_port: c_uchar,
        type_: c_uchar,
        reserved: [c_uchar; 5],
    }
}

cuda_struct! {
    /// The C struct `CUDA_GRAPH_INSTANTIATE_PARAMS`.
    #[repr(C)]
    CUDA_GRAPH_INSTANTIATE_PARAMS {
        flags: u64,
        hUploadStream: CUstream,
        hErrNode_out: CUgraphNode,
        result_out: CUgraphInstantiateResult,
    }
}

cuda_struct! {
    /// The C struct `CUlaunchMemSyncDomainMap`.
    #[repr(C)]
    CUlaunchMemSyncDomainMap {
        default_: c_uchar,
        remote: c_uchar,
    }
}

cuda_struct! {
    /// The C struct `CUlaunchAttributeValue_clusterDim`.
    #[repr(C)]
    CUlaunchAttributeValue_clusterDim {
        x: c_uint,
        y: c_uint,
        z: c_uint,
    }
}

cuda_struct! {
    /// The C struct `CUlaunchAttributeValue_programmaticEvent`.
    #[repr(C)]
    CUlaunchAttributeValue_programmaticEvent {
        event: CUevent,
        flags: c_int,
        triggerAtBlockStart: c_int,
    }
}

cuda_struct! {
    /// The C struct `CUlaunchAttributeValue_launchCompletionEvent`.
    #[repr(C)]
    CUlaunchAttributeValue_launchCompletionEvent {
        event: CUevent,
        flags: c_int,
    }
}

cuda_struct! {
    /// The C struct `CUlaunchAttributeValue_preferredClusterDim`.
    #[repr(C)]
    CUlaunchAttributeValue_preferredClusterDim {
        x: c_uint,
        y: c_uint,
        z: c_uint,
    }
}

cuda_struct! {
    /// The C struct `CUlaunchAttributeValue_deviceUpdatableKernelNode`.
    #[repr(C)]
    CUlaunchAttributeValue_deviceUpdatableKernelNode {
        deviceUpdatable: c_int,
        devNode: CUgraphDeviceNode,
    }
}

cuda_union! {
    /// The C union `CUlaunchAttributeValue`.
    #[repr(C)]
    CUlaunchAttributeValue {
        pad: [c_char; 64],
        accessPolicyWindow: CUaccessPolicyWindow,
        cooperative: c_int,
        syncPolicy: CUsynchronizationPolicy,
        clusterDim: CUlaunchAttributeValue_clusterDim,
        clusterSchedulingPolicyPreference: CUclusterSchedulingPolicy,
        programmaticStreamSerializationAllowed: c_int,
        programmaticEvent: CUlaunchAttributeValue_programmaticEvent,
        launchCompletionEvent: CUlaunchAttributeValue_launchCompletionEvent,
        priority: c_int,
        memSyncDomainMap: CUlaunchMemSyncDomainMap,
        memSyncDomain: CUlaunchMemSyncDomain,
        preferredClusterDim: CUlaunchAttributeValue_preferredClusterDim,
        deviceUpdatableKernelNode: CUlaunchAttributeValue_deviceUpdatableKernelNode,
        sharedMemCarveout: c_uint,
        nvlinkUtilCentricScheduling: c_uint,
    }
}

cuda_struct! {
    /// The C struct `CUlaunchAttribute`.
    #[repr(C)]
    CUlaunchAttribute {
        id: CUlaunchAttributeID,
        pad: [c_char; 4],
        value: CUlaunchAttributeValue,
    }
}

cuda_struct! {
    /// The C struct `CUlaunchConfig`.
    #[repr(C)]
    CUlaunchConfig {
        gridDimX: c_uint,
        gridDimY: c_uint,
        gridDimZ: c_uint,
        blockDimX: c_uint,
        blockDimY: c_uint,
        blockDimZ: c_uint,
        sharedMemBytes: c_uint,
        hStream: CUstream,
        attrs: *mut CUlaunchAttribute,
        numAttrs: c_uint,
    }
}

cuda_struct! {
    /// The C struct `CUexecAffinitySmCount`.
    #[repr(C)]
    CUexecAffinitySmCount {
        val: c_uint,
    }
}

cuda_union! {
    /// The C union `CUexecAffinityParam_param`.
    #[repr(C)]
    CUexecAffinityParam_param {
        smCount: CUexecAffinitySmCount,
    }
}

cuda_struct! {
    /// The C struct `CUexecAffinityParam`.
    #[repr(C)]
    CUexecAffinityParam {
        type_: CUexecAffinityType,
        param: CUexecAffinityParam_param,
    }
}

cuda_struct! {
    /// The C struct `CUctxCigParam`.
    #[repr(C)]
    CUctxCigParam {
        sharedDataType: CUcigDataType,
        sharedData: *mut c_void,
    }
}

cuda_struct! {
    /// The C struct `CUctxCreateParams`.
    #[repr(C)]
    CUctxCreateParams {
        execAffinityParams: *mut CUexecAffinityParam,
        numExecAffinityParams: c_int,
        cigParams: *mut CUctxCigParam,
    }
}

cuda_struct! {
    /// The C struct `CUlibraryHostUniversalFunctionAndDataTable`.
    #[repr(C)]
    CUlibraryHostUniversalFunctionAndDataTable {
        functionTable: *mut c_void,
        functionWindowSize: usize,
        dataTable: *mut c_void,
        dataWindowSize: usize,
    }
}

cuda_struct! {
    /// The C struct `CUDA_MEMCPY2D`.
    #[repr(C)]
    CUDA_MEMCPY2D {
        srcXInBytes: usize,
        srcY: usize,
        srcMemoryType: CUmemorytype,
        srcHost: *const c_void,
        srcDevice: CUdeviceptr,
        srcArray: CUarray,
        srcPitch: usize,
        dstXInBytes: usize,
        dstY: usize,
        dstMemoryType: CUmemorytype,
        dstHost: *mut c_void,
        dstDevice: CUdeviceptr,
        dstArray: CUarray,
        dstPitch: usize,
        WidthInBytes: usize,
        Height: usize,
    }
}

cuda_struct! {
    /// The C struct `CUDA_MEMCPY3D`.
    #[repr(C)]
    CUDA_MEMCPY3D {
        srcXInBytes: usize,
        srcY: usize,
        srcZ: usize,
        srcLOD: usize,
        srcMemoryType: CUmemorytype,
        srcHost: *const c_void,
        srcDevice: CUdeviceptr,
        srcArray: CUarray,
        reserved0: *mut c_void,
        srcPitch: usize,
        srcHeight: usize,
        dstXInBytes: usize,
        dstY: usize,
        dstZ: usize,
        dstLOD: usize,
        dstMemoryType: CUmemorytype,
        dstHost: *mut c_void,
        dstDevice: CUdeviceptr,
        dstArray: CUarray,
        reserved1: *mut c_void,
        dstPitch: usize,
        dstHeight: usize,
        WidthInBytes: usize,
        Height: usize,
        Depth: usize,
    }
}

cuda_struct! {
    /// The C struct `CUDA_MEMCPY3D_PEER`.
    #[repr(C)]
    CUDA_MEMCPY3D_PEER {
        srcXInBytes: usize,
        srcY: usize,
        srcZ: usize,
        srcLOD: usize,
        srcMemoryType: CUmemorytype,
        srcHost: *const c_void,
        srcDevice: CUdeviceptr,
        srcArray: CUarray,
        srcContext: CUcontext,
        srcPitch: usize,
        srcHeight: usize,
        dstXInBytes: usize,
        dstY: usize,
        dstZ: usize,
        dstLOD: usize,
        dstMemoryType: CUmemorytype,
        dstHost: *mut c_void,
        dstDevice: CUdeviceptr,
        dstArray: CUarray,
        dstContext: CUcontext,
        dstPitch: usize,
        dstHeight: usize,
        WidthInBytes: usize,
        Height: usize,
        Depth: usize,
    }
}

cuda_struct! {
    /// The C struct `CUDA_MEMCPY_NODE_PARAMS`.
    #[repr(C)]
    CUDA_MEMCPY_NODE_PARAMS {
        flags: c_int,
        reserved: c_int,
        copyCtx: CUcontext,
        copyParams: CUDA_MEMCPY3D,
    }
}

cuda_struct! {
    /// The C struct `CUDA_ARRAY_DESCRIPTOR`.
    #[repr(C)]
    CUDA_ARRAY_DESCRIPTOR {
        Width: usize,
        Height: usize,
        Format: CUarray_format,
        NumChannels: c_uint,
    }
}

cuda_struct! {
    /// The C struct `CUDA_ARRAY3D_DESCRIPTOR`.
    #[repr(C)]
    CUDA_ARRAY3D_DESCRIPTOR {
        Width: usize,
        Height: usize,
        Depth: usize,
        Format: CUarray_format,
        NumChannels: c_uint,
        Flags: c_uint,
    }
}

cuda_struct! {
    /// The C struct `CUDA_ARRAY_SPARSE_PROPERTIES_tileExtent`.
    #[repr(C)]
    CUDA_ARRAY_SPARSE_PROPERTIES_tileExtent {
        width: c_uint,
        height: c_uint,
        depth: c_uint,
    }
}

cuda_struct! {
    /// The C struct `CUDA_ARRAY_SPARSE_PROPERTIES`.
    #[repr(C)]
    CUDA_ARRAY_SPARSE_PROPERTIES {
        tileExtent: CUDA_ARRAY_SPARSE_PROPERTIES_tileExtent,
        miptailFirstLevel: c_uint,
        miptailSize: u64,
        flags: c_uint,
        reserved: [c_uint; 4],
    }
}

cuda_struct! {
    /// The C struct `CUDA_ARRAY_MEMORY_REQUIREMENTS`.
    #[repr(C)]
    CUDA_ARRAY_MEMORY_REQUIREMENTS {
        size: usize,
        alignment: usize,
        reserved: [c_uint; 4],
    }
}

cuda_struct! {
    /// The C struct `CUDA_RESOURCE_DESC_res_array`.
    #[repr(C)]
    CUDA_RESOURCE_DESC_res_array {
        hArray: CUarray,
    }
}

cuda_struct! {
    /// The C struct `CUDA_RESOURCE_DESC_res_mipmap`.
    #[repr(C)]
    CUDA_RESOURCE_DESC_res_mipmap {
        hMipmappedArray: CUmipmappedArray,
    }
}

cuda_struct! {
    /// The C struct `CUDA_RESOURCE_DESC_res_linear`.
    #[repr(C)]
    CUDA_RESOURCE_DESC_res_linear {
        devPtr: CUdeviceptr,
        format: CUarray_format,
        numChannels: c_uint,
        sizeInBytes: usize,
    }
}

cuda_struct! {
    /// The C struct `CUDA_RESOURCE_DESC_res_pitch2D`.
    #[repr(C)]
    CUDA_RESOURCE_DESC_res_pitch2D {
        devPtr: CUdeviceptr,
        format: CUarray_format,
        numChannels: c_uint,
        width: usize,
        height: usize,
        pitchInBytes: usize,
    }
}

cuda_struct! {
    /// The C struct `CUDA_RESOURCE_DESC_res_reserved`.
    #[repr(C)]
    CUDA_RESOURCE_DESC_res_reserved {
        reserved: [c_int; 32],
    }
}

cuda_union! {
    /// The C union `CUDA_RESOURCE_DESC_res`.
    #[repr(C)]
    CUDA_RESOURCE_DESC_res {
        array: CUDA_RESOURCE_DESC_res_array,
        mipmap: CUDA_RESOURCE_DESC_res_mipmap,
        linear: CUDA_RESOURCE_DESC_res_linear,
        pitch2D: CUDA_RESOURCE_DESC_res_pitch2D,
        reserved: CUDA_RESOURCE_DESC_res_reserved,
    }
}

cuda_struct! {
    /// The C struct `CUDA_RESOURCE_DESC`.
    #[repr(C)]
    CUDA_RESOURCE_DESC {
        resType: CUresourcetype,
        res: CUDA_RESOURCE_DESC_res,
        flags: c_uint,
    }
}

cuda_struct! {
    /// The C struct `CUDA_TEXTURE_DESC`.
    #[repr(C)]
    CUDA_TEXTURE_DESC {
        addressMode: [CUaddress_mode; 3],
        filterMode: CUfilter_mode,
        flags: c_uint,
        maxAnisotropy: c_uint,
        mipmapFilterMode: CUfilter_mode,
        mipmapLevelBias: f32,
        minMipmapLevelClamp: f32,
        maxMipmapLevelClamp: f32,
        borderColor: [f32; 4],
        reserved: [c_int; 12],
    }
}

cuda_struct! {
    /// The C struct `CUDA_RESOURCE_VIEW_DESC`.
    #[repr(C)]
    CUDA_RESOURCE_VIEW_DESC {
        format: CUresourceViewFormat,
        width: usize,
        height: usize,
        depth: usize,
        firstMipmapLevel: c_uint,
        lastMipmapLevel: c_uint,
        firstLayer: c_uint,
        lastLayer: c_uint,
        reserved: [c_uint; 16],
    }
}

cuda_struct! {
    /// The C struct `CUtensorMap`.
    #[repr(C, align(128))]
    CUtensorMap {
        opaque: [u64; 16],
    }
}

cuda_struct! {
    /// The C struct `CUDA_POINTER_ATTRIBUTE_P2P_TOKENS`.
    #[repr(C)]
    CUDA_POINTER_ATTRIBUTE_P2P_TOKENS {
        p2pToken: u64,
        vaSpaceToken: c_uint,
    }
}

cuda_struct! {
    /// The C struct `CUDA_LAUNCH_PARAMS`.
    #[repr(C)]
    CUDA_LAUNCH_PARAMS {
        function: CUfunction,
        gridDimX: c_uint,
        gridDimY: c_uint,
        gridDimZ: c_uint,
        blockDimX: c_uint,
        blockDimY: c_uint,
        blockDimZ: c_uint,
        sharedMemBytes: c_uint,
        hStream: CUstream,
        kernelParams: *mut *mut c_void,
    }
}

cuda_struct! {
    /// The C struct `CUDA_EXTERNAL_MEMORY_HANDLE_DESC_handle_win32`.
    #[repr(C)]
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC_handle_win32 {
        handle: *mut c_void,
        name: *const c_void,
    }
}

cuda_union! {
    /// The C union `CUDA_EXTERNAL_MEMORY_HANDLE_DESC_handle`.
    #[repr(C)]
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC_handle {
        fd: c_int,
        win32: CUDA_EXTERNAL_MEMORY_HANDLE_DESC_handle_win32,
        nvSciBufObject: *const c_void,
    }
}

cuda_struct! {
    /// The C struct `CUDA_EXTERNAL_MEMORY_HANDLE_DESC`.
    #[repr(C)]
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC {
        type_: CUexternalMemoryHandleType,
        handle: CUDA_EXTERNAL_MEMORY_HANDLE_DESC_handle,
        size: u64,
        flags: c_uint,
        reserved: [c_uint; 16],
    }
}

cuda_struct! {
    /// The C struct `CUDA_EXTERNAL_MEMORY_BUFFER_DESC`.
    #[repr(C)]
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC {
        offset: u64,
        size: u64,
        flags: c_uint,
        reserved: [c_uint; 16],
    }
}

cuda_struct! {
    /// The C struct `CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC`.
    #[repr(C)]
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC {
        offset: u64,
        arrayDesc: CUDA_ARRAY3D_DESCRIPTOR,
        numLevels: c_uint,
        reserved: [c_uint; 16],
    }
}

cuda_struct! {
    /// The C struct `CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_handle_win32`.
    #[repr(C)]
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_handle_win32 {
        handle: *mut c_void,
        name: *const c_void,
    }
}

cuda_union! {
    /// The C union `CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_handle`.
    #[repr(C)]
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_handle {
        fd: c_int,
        win32: CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_handle_win32,
        nvSciSyncObj: *const c_void,
    }
}

cuda_struct! {
    /// The C struct `CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC`.
    #[repr(C)]
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC {
        type_: CUexternalSemaphoreHandleType,
        handle: CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_handle,
        flags: c_uint,
        reserved: [c_uint; 16],
    }
}

cuda_struct! {
    /// The C struct `CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_params_fence`.
    #[repr(C)]
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_params_fence {
        value: u64,
    }
}

cuda_union! {
    /// The C union `CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_params_nvSciSync`.
    #[repr(C)]
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_params_nvSciSync {
        fence: *mut c_void,
        reserved: u64,
    }
}

cuda_struct! {
    /// The C struct `CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_params_keyedMutex`.
    #[repr(C)]
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_params_keyedMutex {
        key: u64,
    }
}

cuda_struct! {
    /// The C struct `CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_params`.
    #[repr(C)]
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_params {
        fence: CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_params_fence,
        nvSciSync: CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_params_nvSciSync,
        keyedMutex: CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_params_keyedMutex,
        reserved: [c_uint; 12],
    }
}

cuda_struct! {
    /// The C struct `CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS`.
    #[repr(C)]
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS {
        params: CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_params,
        flags: c_uint,
        reserved: [c_uint; 16],
    }
}

cuda_struct! {
    /// The C struct `CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_params_fence`.
    #[repr(C)]
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_params_fence {
        value: u64,
    }
}

cuda_union! {
    /// The C union `CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_params_nvSciSync`.
    #[repr(C)]
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_params_nvSciSync {
        fence: *mut c_void,
        reserved: u64,
    }
}

cuda_struct! {
    /// The C struct `CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_params_keyedMutex`.
    #[repr(C)]
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_params_keyedMutex {
        key: u64,
        timeoutMs: c_uint,
    }
}

cuda_struct! {
    /// The C struct `CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_params`.
    #[repr(C)]
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_params {
        fence: CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_params_fence,
        nvSciSync: CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_params_nvSciSync,
        keyedMutex: CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_params_keyedMutex,
        reserved: [c_uint; 10],
    }
}

cuda_struct! {
    /// The C struct `CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS`.
    #[repr(C)]
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS {
        params: CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_params,
        flags: c_uint,
        reserved: [c_uint; 16],
    }
}

cuda_struct! {
    /// The C struct `CUDA_EXT_SEM_SIGNAL_NODE_PARAMS`.
    #[repr(C)]
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS {
        extSemArray: *mut CUexternalSemaphore,
        paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS,
        numExtSems: c_uint,
    }
}

cuda_struct! {
    /// The C struct `CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2`.
    #[repr(C)]
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2 {
        extSemArray: *mut CUexternalSemaphore,
        paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS,
        numExtSems: c_uint,
    }
}

cuda_struct! {
    /// The C struct `CUDA_EXT_SEM_WAIT_NODE_PARAMS`.
    #[repr(C)]
    CUDA_EXT_SEM_WAIT_NODE_PARAMS {
        extSemArray: *mut CUexternalSemaphore,
        paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS,
        numExtSems: c_uint,
    }
}

cuda_struct! {
    /// The C struct `CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2`.
    #[repr(C)]
    CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2 {
        extSemArray: *mut CUexternalSemaphore,
        paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS,
        numExtSems: c_uint,
    }
}

cuda_union! {
    /// The C union `CUarrayMapInfo_resource`.
    #[repr(C)]
    CUarrayMapInfo_resource {
        mipmap: CUmipmappedArray,
        array: CUarray,
    }
}

cuda_struct! {
    /// The C struct `CUarrayMapInfo_subresource_sparseLevel`.
    #[repr(C)]
    CUarrayMapInfo_subresource_sparseLevel {
        level: c_uint,
        layer: c_uint,
        offsetX: c_uint,
        offsetY: c_uint,
        offsetZ: c_uint,
        extentWidth: c_uint,
        extentHeight: c_uint,
        extentDepth: c_uint,
    }
}

cuda_struct! {
    /// The C struct `CUarrayMapInfo_subresource_miptail`.
    #[repr(C)]
    CUarrayMapInfo_subresource_miptail {
        layer: c_uint,
        offset: u64,
        size: u64,
    }
}

cuda_union! {
    /// The C union `CUarrayMapInfo_subresource`.
    #[repr(C)]
    CUarrayMapInfo_subresource {
        sparseLevel: CUarrayMapInfo_subresource_sparseLevel,
        miptail: CUarrayMapInfo_subresource_miptail,
    }
}

cuda_union! {
    /// The C union `CUarrayMapInfo_memHandle`.
    #[repr(C)]
    CUarrayMapInfo_memHandle {
        memHandle: CUmemGenericAllocationHandle,
    }
}

cuda_struct! {
    /// The C struct `CUarrayMapInfo`.
    #[repr(C)]
    CUarrayMapInfo {
        resourceType: CUresourcetype,
        resource: CUarrayMapInfo_resource,
        subresourceType: CUarraySparseSubresourceType,
        subresource: CUarrayMapInfo_subresource,
        memOperationType: CUmemOperationType,
        memHandleType: CUmemHandleType,
        memHandle: CUarrayMapInfo_memHandle,
        offset: u64,
        deviceBitMask: c_uint,
        flags: c_uint,
        reserved: [c_uint; 2],
    }
}

cuda_struct! {
    /// The C struct `CUmemLocation`.
    #[repr(C)]
    CUmemLocation {
        type_: CUmemLocationType,
        id: c_int,
    }
}

cuda_struct! {
    /// The C struct `CUmemAllocationProp_allocFlags`.
    #[repr(C)]
    CUmemAllocationProp_allocFlags {
        compressionType: c_uchar,
        gpuDirectRDMACapable: c_uchar,
        usage: c_ushort,
        reserved: [c_uchar; 4],
    }
}

cuda_struct! {
    /// The C struct `CUmemAllocationProp`.
    #[repr(C)]
    CUmemAllocationProp {
        type_: CUmemAllocationType,
        requestedHandleTypes: CUmemAllocationHandleType,
        location: CUmemLocation,
        win32HandleMetaData: *mut c_void,
        allocFlags: CUmemAllocationProp_allocFlags,
    }
}

cuda_struct! {
    /// The C struct `CUmulticastObjectProp`.
    #[repr(C)]
    CUmulticastObjectProp {
        numDevices: c_uint,
        size: usize,
        handleTypes: u64,
        flags: u64,
    }
}

cuda_struct! {
    /// The C struct `CUmemAccessDesc`.
    #[repr(C)]
    CUmemAccessDesc {
        location: CUmemLocation,
        flags: CUmemAccess_flags,
    }
}

cuda_struct! {
    /// The C struct `CUgraphExecUpdateResultInfo`.
    #[repr(C)]
    CUgraphExecUpdateResultInfo {
        result: CUgraphExecUpdateResult,
        errorNode: CUgraphNode,
        errorFromNode: CUgraphNode,
    }
}

cuda_struct! {
    /// The C struct `CUmemPoolProps`.
    #[repr(C)]
    CUmemPoolProps {
        allocType: CUmemAllocationType,
        handleTypes: CUmemAllocationHandleType,
        location: CUmemLocation,
        win32SecurityAttributes: *mut c_void,
        maxSize: usize,
        usage: c_ushort,
        reserved: [c_uchar; 54],
    }
}

cuda_struct! {
    /// The C struct `CUmemPoolPtrExportData`.
    #[repr(C)]
    CUmemPoolPtrExportData {
        reserved: [c_uchar; 64],
    }
}

cuda_struct! {
    /// The C struct `CUmemcpyAttributes`.
    #[repr(C)]
    CUmemcpyAttributes {
        srcAccessOrder: CUmemcpySrcAccessOrder,
        srcLocHint: CUmemLocation,
        dstLocHint: CUmemLocation,
        flags: c_uint,
    }
}

cuda_struct! {
    /// The C struct `CUoffset3D`.
    #[repr(C)]
    CUoffset3D {
        x: usize,
        y: usize,
        z: usize,
    }
}

cuda_struct! {
    /// The C struct `CUextent3D`.
    #[repr(C)]
    CUextent3D {
        width: usize,
        height: usize,
        depth: usize,
    }
}

cuda_struct! {
    /// The C struct `CUmemcpy3DOperand_op_ptr`.
    #[repr(C)]
    CUmemcpy3DOperand_op_ptr {
        ptr: CUdeviceptr,
        rowLength: usize,
        layerHeight: usize,
        locHint: CUmemLocation,
    }
}

cuda_struct! {
    /// The C struct `CUmemcpy3DOperand_op_array`.
    #[repr(C)]
    CUmemcpy3DOperand_op_array {
        array: CUarray,
        offset: CUoffset3D,
    }
}

cuda_union! {
    /// The C union `CUmemcpy3DOperand_op`.
    #[repr(C)]
    CUmemcpy3DOperand_op {
        ptr: CUmemcpy3DOperand_op_ptr,
        array: CUmemcpy3DOperand_op_array,
    }
}

cuda_struct! {
    /// The C struct `CUmemcpy3DOperand`.
    #[repr(C)]
    CUmemcpy3DOperand {
        type_: CUmemcpy3DOperandType,
        op: CUmemcpy3DOperand_op,
    }
}

cuda_struct! {
    /// The C struct `CUDA_MEMCPY3D_BATCH_OP`.
    #[repr(C)]
    CUDA_MEMCPY3D_BATCH_OP {
        src: CUmemcpy3DOperand,
        dst: CUmemcpy3DOperand,
        extent: CUextent3D,
        srcAccessOrder: CUmemcpySrcAccessOrder,
        flags: c_uint,
    }
}

cuda_struct! {
    /// The C struct `CUDA_MEM_ALLOC_NODE_PARAMS`.
    #[repr(C)]
    CUDA_MEM_ALLOC_NODE_PARAMS {
        poolProps: CUmemPoolProps,
        accessDescs: *const CUmemAccessDesc,
        accessDescCount: usize,
        bytesize: usize,
        dptr: CUdeviceptr,
    }
}

cuda_struct! {
    /// The C struct `CUDA_MEM_ALLOC_NODE_PARAMS_v2`.
    #[repr(C)]
    CUDA_MEM_ALLOC_NODE_PARAMS_v2 {
        poolProps: CUmemPoolProps,
        accessDescs: *const CUmemAccessDesc,
        accessDescCount: usize,
        bytesize: usize,
        dptr: CUdeviceptr,
    }
}

cuda_struct! {
    /// The C struct `CUDA_MEM_FREE_NODE_PARAMS`.
    #[repr(C)]
    CUDA_MEM_FREE_NODE_PARAMS {
        dptr: CUdeviceptr,
    }
}

cuda_struct! {
    /// The C struct `CUDA_CHILD_GRAPH_NODE_PARAMS`.
    #[repr(C)]
    CUDA_CHILD_GRAPH_NODE_PARAMS {
        graph: CUgraph,
        ownership: CUgraphChildGraphNodeOwnership,
    }
}

cuda_struct! {
    /// The C struct `CUDA_EVENT_RECORD_NODE_PARAMS`.
    #[repr(C)]
    CUDA_EVENT_RECORD_NODE_PARAMS {
        event: CUevent,
    }
}

cuda_struct! {
    /// The C struct `CUDA_EVENT_WAIT_NODE_PARAMS`.
    #[repr(C)]
    CUDA_EVENT_WAIT_NODE_PARAMS {
        event: CUevent,
    }
}

cuda_union! {
    /// The C union `CUgraphNodeParams_anon0`.
    #[repr(C)]
    CUgraphNodeParams_anon0 {
        reserved1: [i64; 29],
        kernel: CUDA_KERNEL_NODE_PARAMS_v3,
        memcpy: CUDA_MEMCPY_NODE_PARAMS,
        memset: CUDA_MEMSET_NODE_PARAMS_v2,
        host: CUDA_HOST_NODE_PARAMS_v2,
        graph: CUDA_CHILD_GRAPH_NODE_PARAMS,
        eventWait: CUDA_EVENT_WAIT_NODE_PARAMS,
        eventRecord: CUDA_EVENT_RECORD_NODE_PARAMS,
        extSemSignal: CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2,
        extSemWait: CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2,
        alloc: CUDA_MEM_ALLOC_NODE_PARAMS_v2,
        free: CUDA_MEM_FREE_NODE_PARAMS,
        memOp: CUDA_BATCH_MEM_OP_NODE_PARAMS_v2,
        conditional: CUDA_CONDITIONAL_NODE_PARAMS,
    }
}

cuda_struct! {
    /// The C struct `CUgraphNodeParams`.
    #[repr(C)]
    CUgraphNodeParams {
        type_: CUgraphNodeType,
        reserved0: [c_int; 3],
        anon0: CUgraphNodeParams_anon0,
        reserved2: i64,
    }
}

cuda_struct! {
    /// The C struct `CUcheckpointLockArgs`.
    #[repr(C)]
    CUcheckpointLockArgs {
        timeoutMs: c_uint,
        reserved0: c_uint,
        reserved1: [u64; 7],
    }
}

cuda_struct! {
    /// The C struct `CUcheckpointCheckpointArgs`.
    #[repr(C)]
    CUcheckpointCheckpointArgs {
        reserved: [u64; 8],
    }
}

cuda_struct! {
    /// The C struct `CUcheckpointGpuPair`.
    #[repr(C)]
    CUcheckpointGpuPair {
        oldUuid: CUuuid,
        newUuid: CUuuid,
    }
}

cuda_struct! {
    /// The C struct `CUcheckpointRestoreArgs`.
    #[repr(C)]
    CUcheckpointRestoreArgs {
        gpuPairs: *mut CUcheckpointGpuPair,
        gpuPairsCount: c_uint,
        reserved: [c_char; 44],
        reserved1: u64,
    }
}

cuda_struct! {
    /// The C struct `CUcheckpointUnlockArgs`.
    #[repr(C)]
    CUcheckpointUnlockArgs {
        reserved: [u64; 8],
    }
}

cuda_struct! {
    /// The C struct `CUmemDecompressParams`.
    #[repr(C)]
    CUmemDecompressParams {
        srcNumBytes: usize,
        dstNumBytes: usize,
        dstActBytes: *mut u32,
        src: *const c_void,
        dst: *mut c_void,
        algo: CUmemDecompressAlgorithm,
        padding: [c_uchar; 20],
    }
}

cuda_struct! {
    /// The C struct `CUdevSmResource`.
    #[repr(C)]
    CUdevSmResource {
        smCount: c_uint,
        minSmPartitionSize: c_uint,
        smCoscheduledAlignment: c_uint,
    }
}

cuda_union! {
    /// The C union `CUdevResource_anon0`.
    #[repr(C)]
    CUdevResource_anon0 {
        sm: CUdevSmResource,
        _oversize: [c_uchar; 48],
    }
}

cuda_struct! {
    /// The C struct `CUdevResource`.
    #[repr(C)]
    CUdevResource {
        type_: CUdevResourceType,
        _internal_padding: [c_uchar; 92],
        anon0: CUdevResource_anon0,
    }
}
