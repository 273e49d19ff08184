//! The declaration list: every driver function that this project knows, once.
//!
//! An entry reads `name = "symbol" since version (arguments);`: the name in the documentation and in users' code, the
//! symbol that `libcuda` exports for the CUDA 13 meaning of that name, and the CUDA version
//! (`1000 * major + 10 * minor`) that introduced the symbol. If a newer form has another signature, the earlier form is
//! listed under its own name at the end.

/// Calls the macro `$callback` with the whole list:
///
/// ```text
/// $callback! {
///     cuInit = "cuInit" since 2000 (Flags: c_uint);
///     cuMemAlloc = "cuMemAlloc_v2" since 3020 (dptr: *mut CUdeviceptr, bytesize: usize);
///     ...
/// }
/// ```
///
/// Argument types are those of [`crate::types`]; import them with `use rtcg_cuda_sys::types::*` where the callback uses
/// them. Every function returns `CUresult`.
#[macro_export]
macro_rules! for_each_driver_function {
    ($callback:ident) => {
        $callback! {
            // Error Handling
            cuGetErrorString = "cuGetErrorString" since 6000 (error: CUresult, pStr: *mut *const c_char);
            cuGetErrorName = "cuGetErrorName" since 6000 (error: CUresult, pStr: *mut *const c_char);
            // Initialization
            cuInit = "cuInit" since 2000 (Flags: c_uint);
            // Version Management
            cuDriverGetVersion = "cuDriverGetVersion" since 2020 (driverVersion: *mut c_int);
            // Device Management
            cuDeviceGet = "cuDeviceGet" since 2000 (device: *mut CUdevice, ordinal: c_int);
            cuDeviceGetCount = "cuDeviceGetCount" since 2000 (count: *mut c_int);
            cuDeviceGetName = "cuDeviceGetName" since 2000 (name: *mut c_char, len: c_int, dev: CUdevice);
            cuDeviceGetUuid = "cuDeviceGetUuid_v2" since 11040 (uuid: *mut CUuuid, dev: CUdevice);
            cuDeviceGetLuid = "cuDeviceGetLuid" since 10000 (luid: *mut c_char, deviceNodeMask: *mut c_uint, dev: CUdevice);
            cuDeviceTotalMem = "cuDeviceTotalMem_v2" since 3020 (bytes: *mut usize, dev: CUdevice);
            cuDeviceGetTexture1DLinearMaxWidth = "cuDeviceGetTexture1DLinearMaxWidth" since 11010 (maxWidthInElements: *mut usize, format: CUarray_format, numChannels: c_uint, dev: CUdevice);
            cuDeviceGetAttribute = "cuDeviceGetAttribute" since 2000 (pi: *mut c_int, attrib: CUdevice_attribute, dev: CUdevice);
            cuDeviceGetHostAtomicCapabilities = "cuDeviceGetHostAtomicCapabilities" since 13000 (capabilities: *mut c_uint, operations: *const CUatomicOperation, count: c_uint, dev: CUdevice);
            cuDeviceGetNvSciSyncAttributes = "cuDeviceGetNvSciSyncAttributes" since 10020 (nvSciSyncAttrList: *mut c_void, dev: CUdevice, flags: c_int);
            cuDeviceSetMemPool = "cuDeviceSetMemPool" since 11020 (dev: CUdevice, pool: CUmemoryPool);
            cuDeviceGetMemPool = "cuDeviceGetMemPool" since 11020 (pool: *mut CUmemoryPool, dev: CUdevice);
            cuDeviceGetDefaultMemPool = "cuDeviceGetDefaultMemPool" since 11020 (pool_out: *mut CUmemoryPool, dev: CUdevice);
            cuDeviceGetExecAffinitySupport = "cuDeviceGetExecAffinitySupport" since 11040 (pi: *mut c_int, type_: CUexecAffinityType, dev: CUdevice);
            cuFlushGPUDirectRDMAWrites = "cuFlushGPUDirectRDMAWrites" since 11030 (target: CUflushGPUDirectRDMAWritesTarget, scope: CUflushGPUDirectRDMAWritesScope);
            // Device Management [DEPRECATED]
            cuDeviceGetProperties = "cuDeviceGetProperties" since 2000 (prop: *mut CUdevprop, dev: CUdevice);
            cuDeviceComputeCapability = "cuDeviceComputeCapability" since 2000 (major: *mut c_int, minor: *mut c_int, dev: CUdevice);
            // Primary Context Management
            cuDevicePrimaryCtxRetain = "cuDevicePrimaryCtxRetain" since 7000 (pctx: *mut CUcontext, dev: CUdevice);
            cuDevicePrimaryCtxRelease = "cuDevicePrimaryCtxRelease_v2" since 11000 (dev: CUdevice);
            cuDevicePrimaryCtxSetFlags = "cuDevicePrimaryCtxSetFlags_v2" since 11000 (dev: CUdevice, flags: c_uint);
            cuDevicePrimaryCtxGetState = "cuDevicePrimaryCtxGetState" since 7000 (dev: CUdevice, flags: *mut c_uint, active: *mut c_int);
            cuDevicePrimaryCtxReset = "cuDevicePrimaryCtxReset_v2" since 11000 (dev: CUdevice);
            // Context Management
            cuCtxCreate = "cuCtxCreate_v4" since 12050 (pctx: *mut CUcontext, ctxCreateParams: *mut CUctxCreateParams, flags: c_uint, dev: CUdevice);
            cuCtxDestroy = "cuCtxDestroy_v2" since 4000 (ctx: CUcontext);
            cuCtxPushCurrent = "cuCtxPushCurrent_v2" since 4000 (ctx: CUcontext);
            cuCtxPopCurrent = "cuCtxPopCurrent_v2" since 4000 (pctx: *mut CUcontext);
            cuCtxSetCurrent = "cuCtxSetCurrent" since 4000 (ctx: CUcontext);
            cuCtxGetCurrent = "cuCtxGetCurrent" since 4000 (pctx: *mut CUcontext);
            cuCtxGetDevice = "cuCtxGetDevice" since 2000 (device: *mut CUdevice);
            cuCtxGetFlags = "cuCtxGetFlags" since 7000 (flags: *mut c_uint);
            cuCtxSetFlags = "cuCtxSetFlags" since 12010 (flags: c_uint);
            cuCtxGetId = "cuCtxGetId" since 12000 (ctx: CUcontext, ctxId: *mut u64);
            cuCtxSynchronize = "cuCtxSynchronize" since 2000 ();
            cuCtxSetLimit = "cuCtxSetLimit" since 3010 (limit: CUlimit, value: usize);
            cuCtxGetLimit = "cuCtxGetLimit" since 3010 (pvalue: *mut usize, limit: CUlimit);
            cuCtxGetCacheConfig = "cuCtxGetCacheConfig" since 3020 (pconfig: *mut CUfunc_cache);
            cuCtxSetCacheConfig = "cuCtxSetCacheConfig" since 3020 (config: CUfunc_cache);
            cuCtxGetApiVersion = "cuCtxGetApiVersion" since 3020 (ctx: CUcontext, version: *mut c_uint);
            cuCtxGetStreamPriorityRange = "cuCtxGetStreamPriorityRange" since 5050 (leastPriority: *mut c_int, greatestPriority: *mut c_int);
            cuCtxResetPersistingL2Cache = "cuCtxResetPersistingL2Cache" since 11000 ();
            cuCtxGetExecAffinity = "cuCtxGetExecAffinity" since 11040 (pExecAffinity: *mut CUexecAffinityParam, type_: CUexecAffinityType);
            cuCtxRecordEvent = "cuCtxRecordEvent" since 12050 (hCtx: CUcontext, hEvent: CUevent);
            cuCtxWaitEvent = "cuCtxWaitEvent" since 12050 (hCtx: CUcontext, hEvent: CUevent);
            // Context Management [DEPRECATED]
            cuCtxAttach = "cuCtxAttach" since 2000 (pctx: *mut CUcontext, flags: c_uint);
            cuCtxDetach = "cuCtxDetach" since 2000 (ctx: CUcontext);
            cuCtxGetSharedMemConfig = "cuCtxGetSharedMemConfig" since 4020 (pConfig: *mut CUsharedconfig);
            cuCtxSetSharedMemConfig = "cuCtxSetSharedMemConfig" since 4020 (config: CUsharedconfig);
            // Module Management
            cuModuleLoad = "cuModuleLoad" since 2000 (module: *mut CUmodule, fname: *const c_char);
            cuModuleLoadData = "cuModuleLoadData" since 2000 (module: *mut CUmodule, image: *const c_void);
            cuModuleLoadDataEx = "cuModuleLoadDataEx" since 2010 (module: *mut CUmodule, image: *const c_void, numOptions: c_uint, options: *mut CUjit_option, optionValues: *mut *mut c_void);
            cuModuleLoadFatBinary = "cuModuleLoadFatBinary" since 2000 (module: *mut CUmodule, fatCubin: *const c_void);
            cuModuleUnload = "cuModuleUnload" since 2000 (hmod: CUmodule);
            cuModuleGetLoadingMode = "cuModuleGetLoadingMode" since 11070 (mode: *mut CUmoduleLoadingMode);
            cuModuleGetFunction = "cuModuleGetFunction" since 2000 (hfunc: *mut CUfunction, hmod: CUmodule, name: *const c_char);
            cuModuleGetFunctionCount = "cuModuleGetFunctionCount" since 12040 (count: *mut c_uint, mod_: CUmodule);
            cuModuleEnumerateFunctions = "cuModuleEnumerateFunctions" since 12040 (functions: *mut CUfunction, numFunctions: c_uint, mod_: CUmodule);
            cuModuleGetGlobal = "cuModuleGetGlobal_v2" since 3020 (dptr: *mut CUdeviceptr, bytes: *mut usize, hmod: CUmodule, name: *const c_char);
            cuLinkCreate = "cuLinkCreate_v2" since 6050 (numOptions: c_uint, options: *mut CUjit_option, optionValues: *mut *mut c_void, stateOut: *mut CUlinkState);
            cuLinkAddData = "cuLinkAddData_v2" since 6050 (state: CUlinkState, type_: CUjitInputType, data: *mut c_void, size: usize, name: *const c_char, numOptions: c_uint, options: *mut CUjit_option, optionValues: *mut *mut c_void);
            cuLinkAddFile = "cuLinkAddFile_v2" since 6050 (state: CUlinkState, type_: CUjitInputType, path: *const c_char, numOptions: c_uint, options: *mut CUjit_option, optionValues: *mut *mut c_void);
            cuLinkComplete = "cuLinkComplete" since 5050 (state: CUlinkState, cubinOut: *mut *mut c_void, sizeOut: *mut usize);
            cuLinkDestroy = "cuLinkDestroy" since 5050 (state: CUlinkState);
            // Module Management [DEPRECATED]
            cuModuleGetTexRef = "cuModuleGetTexRef" since 2000 (pTexRef: *mut CUtexref, hmod: CUmodule, name: *const c_char);
            cuModuleGetSurfRef = "cuModuleGetSurfRef" since 3000 (pSurfRef: *mut CUsurfref, hmod: CUmodule, name: *const c_char);
            // Library Management
            cuLibraryLoadData = "cuLibraryLoadData" since 12000 (library: *mut CUlibrary, code: *const c_void, jitOptions: *mut CUjit_option, jitOptionsValues: *mut *mut c_void, numJitOptions: c_uint, libraryOptions: *mut CUlibraryOption, libraryOptionValues: *mut *mut c_void, numLibraryOptions: c_uint);
            cuLibraryLoadFromFile = "cuLibraryLoadFromFile" since 12000 (library: *mut CUlibrary, fileName: *const c_char, jitOptions: *mut CUjit_option, jitOptionsValues: *mut *mut c_void, numJitOptions: c_uint, libraryOptions: *mut CUlibraryOption, libraryOptionValues: *mut *mut c_void, numLibraryOptions: c_uint);
            cuLibraryUnload = "cuLibraryUnload" since 12000 (library: CUlibrary);
            cuLibraryGetKernel = "cuLibraryGetKernel" since 12000 (pKernel: *mut CUkernel, library: CUlibrary, name: *const c_char);
            cuLibraryGetKernelCount = "cuLibraryGetKernelCount" since 12040 (count: *mut c_uint, lib: CUlibrary);
            cuLibraryEnumerateKernels = "cuLibraryEnumerateKernels" since 12040 (kernels: *mut CUkernel, numKernels: c_uint, lib: CUlibrary);
            cuLibraryGetModule = "cuLibraryGetModule" since 12000 (pMod: *mut CUmodule, library: CUlibrary);
            cuKernelGetFunction = "cuKernelGetFunction" since 12000 (pFunc: *mut CUfunction, kernel: CUkernel);
            cuKernelGetLibrary = "cuKernelGetLibrary" since 12050 (pLib: *mut CUlibrary, kernel: CUkernel);
            cuLibraryGetGlobal = "cuLibraryGetGlobal" since 12000 (dptr: *mut CUdeviceptr, bytes: *mut usize, library: CUlibrary, name: *const c_char);
            cuLibraryGetManaged = "cuLibraryGetManaged" since 12000 (dptr: *mut CUdeviceptr, bytes: *mut usize, library: CUlibrary, name: *const c_char);
            cuLibraryGetUnifiedFunction = "cuLibraryGetUnifiedFunction" since 12000 (fptr: *mut *mut c_void, library: CUlibrary, symbol: *const c_char);
            cuKernelGetAttribute = "cuKernelGetAttribute" since 12000 (pi: *mut c_int, attrib: CUfunction_attribute, kernel: CUkernel, dev: CUdevice);
            cuKernelSetAttribute = "cuKernelSetAttribute" since 12000 (attrib: CUfunction_attribute, val: c_int, kernel: CUkernel, dev: CUdevice);
            cuKernelSetCacheConfig = "cuKernelSetCacheConfig" since 12000 (kernel: CUkernel, config: CUfunc_cache, dev: CUdevice);
            cuKernelGetName = "cuKernelGetName" since 12030 (name: *mut *const c_char, hfunc: CUkernel);
            cuKernelGetParamInfo = "cuKernelGetParamInfo" since 12040 (kernel: CUkernel, paramIndex: usize, paramOffset: *mut usize, paramSize: *mut usize);
            // Memory Management
            cuMemGetInfo = "cuMemGetInfo_v2" since 3020 (free: *mut usize, total: *mut usize);
            cuMemAlloc = "cuMemAlloc_v2" since 3020 (dptr: *mut CUdeviceptr, bytesize: usize);
            cuMemAllocPitch = "cuMemAllocPitch_v2" since 3020 (dptr: *mut CUdeviceptr, pPitch: *mut usize, WidthInBytes: usize, Height: usize, ElementSizeBytes: c_uint);
            cuMemFree = "cuMemFree_v2" since 3020 (dptr: CUdeviceptr);
            cuMemGetAddressRange = "cuMemGetAddressRange_v2" since 3020 (pbase: *mut CUdeviceptr, psize: *mut usize, dptr: CUdeviceptr);
            cuMemAllocHost = "cuMemAllocHost_v2" since 3020 (pp: *mut *mut c_void, bytesize: usize);
            cuMemFreeHost = "cuMemFreeHost" since 2000 (p: *mut c_void);
            cuMemHostAlloc = "cuMemHostAlloc" since 2020 (pp: *mut *mut c_void, bytesize: usize, Flags: c_uint);
            cuMemHostGetDevicePointer = "cuMemHostGetDevicePointer_v2" since 3020 (pdptr: *mut CUdeviceptr, p: *mut c_void, Flags: c_uint);
            cuMemHostGetFlags = "cuMemHostGetFlags" since 2030 (pFlags: *mut c_uint, p: *mut c_void);
            cuMemAllocManaged = "cuMemAllocManaged" since 6000 (dptr: *mut CUdeviceptr, bytesize: usize, flags: c_uint);
            cuDeviceRegisterAsyncNotification = "cuDeviceRegisterAsyncNotification" since 12040 (device: CUdevice, callbackFunc: CUasyncCallback, userData: *mut c_void, callback: *mut CUasyncCallbackHandle);
            cuDeviceUnregisterAsyncNotification = "cuDeviceUnregisterAsyncNotification" since 12040 (device: CUdevice, callback: CUasyncCallbackHandle);
            cuDeviceGetByPCIBusId = "cuDeviceGetByPCIBusId" since 4010 (dev: *mut CUdevice, pciBusId: *const c_char);
            cuDeviceGetPCIBusId = "cuDeviceGetPCIBusId" since 4010 (pciBusId: *mut c_char, len: c_int, dev: CUdevice);
            cuIpcGetEventHandle = "cuIpcGetEventHandle" since 4010 (pHandle: *mut CUipcEventHandle, event: CUevent);
            cuIpcOpenEventHandle = "cuIpcOpenEventHandle" since 4010 (phEvent: *mut CUevent, handle: CUipcEventHandle);
            cuIpcGetMemHandle = "cuIpcGetMemHandle" since 4010 (pHandle: *mut CUipcMemHandle, dptr: CUdeviceptr);
            cuIpcOpenMemHandle = "cuIpcOpenMemHandle_v2" since 11000 (pdptr: *mut CUdeviceptr, handle: CUipcMemHandle, Flags: c_uint);
            cuIpcCloseMemHandle = "cuIpcCloseMemHandle" since 4010 (dptr: CUdeviceptr);
            cuMemHostRegister = "cuMemHostRegister_v2" since 6050 (p: *mut c_void, bytesize: usize, Flags: c_uint);
            cuMemHostUnregister = "cuMemHostUnregister" since 4000 (p: *mut c_void);
            cuMemcpy = "cuMemcpy" since 4000 (dst: CUdeviceptr, src: CUdeviceptr, ByteCount: usize);
            cuMemcpyPeer = "cuMemcpyPeer" since 4000 (dstDevice: CUdeviceptr, dstContext: CUcontext, srcDevice: CUdeviceptr, srcContext: CUcontext, ByteCount: usize);
            cuMemcpyHtoD = "cuMemcpyHtoD_v2" since 3020 (dstDevice: CUdeviceptr, srcHost: *const c_void, ByteCount: usize);
            cuMemcpyDtoH = "cuMemcpyDtoH_v2" since 3020 (dstHost: *mut c_void, srcDevice: CUdeviceptr, ByteCount: usize);
            cuMemcpyDtoD = "cuMemcpyDtoD_v2" since 3020 (dstDevice: CUdeviceptr, srcDevice: CUdeviceptr, ByteCount: usize);
            cuMemcpyDtoA = "cuMemcpyDtoA_v2" since 3020 (dstArray: CUarray, dstOffset: usize, srcDevice: CUdeviceptr, ByteCount: usize);
            cuMemcpyAtoD = "cuMemcpyAtoD_v2" since 3020 (dstDevice: CUdeviceptr, srcArray: CUarray, srcOffset: usize, ByteCount: usize);
            cuMemcpyHtoA = "cuMemcpyHtoA_v2" since 3020 (dstArray: CUarray, dstOffset: usize, srcHost: *const c_void, ByteCount: usize);
            cuMemcpyAtoH = "cuMemcpyAtoH_v2" since 3020 (dstHost: *mut c_void, srcArray: CUarray, srcOffset: usize, ByteCount: usize);
            cuMemcpyAtoA = "cuMemcpyAtoA_v2" since 3020 (dstArray: CUarray, dstOffset: usize, srcArray: CUarray, srcOffset: usize, ByteCount: usize);
            cuMemcpy2D = "cuMemcpy2D_v2" since 3020 (pCopy: *const CUDA_MEMCPY2D);
            cuMemcpy2DUnaligned = "cuMemcpy2DUnaligned_v2" since 3020 (pCopy: *const CUDA_MEMCPY2D);
            cuMemcpy3D = "cuMemcpy3D_v2" since 3020 (pCopy: *const CUDA_MEMCPY3D);
            cuMemcpy3DPeer = "cuMemcpy3DPeer" since 4000 (pCopy: *const CUDA_MEMCPY3D_PEER);
            cuMemcpyAsync = "cuMemcpyAsync" since 4000 (dst: CUdeviceptr, src: CUdeviceptr, ByteCount: usize, hStream: CUstream);
            cuMemcpyPeerAsync = "cuMemcpyPeerAsync" since 4000 (dstDevice: CUdeviceptr, dstContext: CUcontext, srcDevice: CUdeviceptr, srcContext: CUcontext, ByteCount: usize, hStream: CUstream);
            cuMemcpyHtoDAsync = "cuMemcpyHtoDAsync_v2" since 3020 (dstDevice: CUdeviceptr, srcHost: *const c_void, ByteCount: usize, hStream: CUstream);
            cuMemcpyDtoHAsync = "cuMemcpyDtoHAsync_v2" since 3020 (dstHost: *mut c_void, srcDevice: CUdeviceptr, ByteCount: usize, hStream: CUstream);
            cuMemcpyDtoDAsync = "cuMemcpyDtoDAsync_v2" since 3020 (dstDevice: CUdeviceptr, srcDevice: CUdeviceptr, ByteCount: usize, hStream: CUstream);
            cuMemcpyHtoAAsync = "cuMemcpyHtoAAsync_v2" since 3020 (dstArray: CUarray, dstOffset: usize, srcHost: *const c_void, ByteCount: usize, hStream: CUstream);
            cuMemcpyAtoHAsync = "cuMemcpyAtoHAsync_v2" since 3020 (dstHost: *mut c_void, srcArray: CUarray, srcOffset: usize, ByteCount: usize, hStream: CUstream);
            cuMemcpy2DAsync = "cuMemcpy2DAsync_v2" since 3020 (pCopy: *const CUDA_MEMCPY2D, hStream: CUstream);
            cuMemcpy3DAsync = "cuMemcpy3DAsync_v2" since 3020 (pCopy: *const CUDA_MEMCPY3D, hStream: CUstream);
            cuMemcpy3DPeerAsync = "cuMemcpy3DPeerAsync" since 4000 (pCopy: *const CUDA_MEMCPY3D_PEER, hStream: CUstream);
            cuMemcpyBatchAsync = "cuMemcpyBatchAsync_v2" since 13000 (dsts: *mut CUdeviceptr, srcs: *mut CUdeviceptr, sizes: *mut usize, count: usize, attrs: *mut CUmemcpyAttributes, attrsIdxs: *mut usize, numAttrs: usize, hStream: CUstream);
            cuMemcpy3DBatchAsync = "cuMemcpy3DBatchAsync_v2" since 13000 (numOps: usize, opList: *mut CUDA_MEMCPY3D_BATCH_OP, flags: u64, hStream: CUstream);
            cuMemsetD8 = "cuMemsetD8_v2" since 3020 (dstDevice: CUdeviceptr, uc: c_uchar, N: usize);
            cuMemsetD16 = "cuMemsetD16_v2" since 3020 (dstDevice: CUdeviceptr, us: c_ushort, N: usize);
            cuMemsetD32 = "cuMemsetD32_v2" since 3020 (dstDevice: CUdeviceptr, ui: c_uint, N: usize);
            cuMemsetD2D8 = "cuMemsetD2D8_v2" since 3020 (dstDevice: CUdeviceptr, dstPitch: usize, uc: c_uchar, Width: usize, Height: usize);
            cuMemsetD2D16 = "cuMemsetD2D16_v2" since 3020 (dstDevice: CUdeviceptr, dstPitch: usize, us: c_ushort, Width: usize, Height: usize);
            cuMemsetD2D32 = "cuMemsetD2D32_v2" since 3020 (dstDevice: CUdeviceptr, dstPitch: usize, ui: c_uint, Width: usize, Height: usize);
            cuMemsetD8Async = "cuMemsetD8Async" since 3020 (dstDevice: CUdeviceptr, uc: c_uchar, N: usize, hStream: CUstream);
            cuMemsetD16Async = "cuMemsetD16Async" since 3020 (dstDevice: CUdeviceptr, us: c_ushort, N: usize, hStream: CUstream);
            cuMemsetD32Async = "cuMemsetD32Async" since 3020 (dstDevice: CUdeviceptr, ui: c_uint, N: usize, hStream: CUstream);
            cuMemsetD2D8Async = "cuMemsetD2D8Async" since 3020 (dstDevice: CUdeviceptr, dstPitch: usize, uc: c_uchar, Width: usize, Height: usize, hStream: CUstream);
            cuMemsetD2D16Async = "cuMemsetD2D16Async" since 3020 (dstDevice: CUdeviceptr, dstPitch: usize, us: c_ushort, Width: usize, Height: usize, hStream: CUstream);
            cuMemsetD2D32Async = "cuMemsetD2D32Async" since 3020 (dstDevice: CUdeviceptr, dstPitch: usize, ui: c_uint, Width: usize, Height: usize, hStream: CUstream);
            cuArrayCreate = "cuArrayCreate_v2" since 3020 (pHandle: *mut CUarray, pAllocateArray: *const CUDA_ARRAY_DESCRIPTOR);
            cuArrayGetDescriptor = "cuArrayGetDescriptor_v2" since 3020 (pArrayDescriptor: *mut CUDA_ARRAY_DESCRIPTOR, hArray: CUarray);
            cuArrayGetSparseProperties = "cuArrayGetSparseProperties" since 11010 (sparseProperties: *mut CUDA_ARRAY_SPARSE_PROPERTIES, array: CUarray);
            cuMipmappedArrayGetSparseProperties = "cuMipmappedArrayGetSparseProperties" since 11010 (sparseProperties: *mut CUDA_ARRAY_SPARSE_PROPERTIES, mipmap: CUmipmappedArray);
            cuArrayGetMemoryRequirements = "cuArrayGetMemoryRequirements" since 11060 (memoryRequirements: *mut CUDA_ARRAY_MEMORY_REQUIREMENTS, array: CUarray, device: CUdevice);
            cuMipmappedArrayGetMemoryRequirements = "cuMipmappedArrayGetMemoryRequirements" since 11060 (memoryRequirements: *mut CUDA_ARRAY_MEMORY_REQUIREMENTS, mipmap: CUmipmappedArray, device: CUdevice);
            cuArrayGetPlane = "cuArrayGetPlane" since 11020 (pPlaneArray: *mut CUarray, hArray: CUarray, planeIdx: c_uint);
            cuArrayDestroy = "cuArrayDestroy" since 2000 (hArray: CUarray);
            cuArray3DCreate = "cuArray3DCreate_v2" since 3020 (pHandle: *mut CUarray, pAllocateArray: *const CUDA_ARRAY3D_DESCRIPTOR);
            cuArray3DGetDescriptor = "cuArray3DGetDescriptor_v2" since 3020 (pArrayDescriptor: *mut CUDA_ARRAY3D_DESCRIPTOR, hArray: CUarray);
            cuMipmappedArrayCreate = "cuMipmappedArrayCreate" since 5000 (pHandle: *mut CUmipmappedArray, pMipmappedArrayDesc: *const CUDA_ARRAY3D_DESCRIPTOR, numMipmapLevels: c_uint);
            cuMipmappedArrayGetLevel = "cuMipmappedArrayGetLevel" since 5000 (pLevelArray: *mut CUarray, hMipmappedArray: CUmipmappedArray, level: c_uint);
            cuMipmappedArrayDestroy = "cuMipmappedArrayDestroy" since 5000 (hMipmappedArray: CUmipmappedArray);
            cuMemGetHandleForAddressRange = "cuMemGetHandleForAddressRange" since 11070 (handle: *mut c_void, dptr: CUdeviceptr, size: usize, handleType: CUmemRangeHandleType, flags: u64);
            cuMemBatchDecompressAsync = "cuMemBatchDecompressAsync" since 12060 (paramsArray: *mut CUmemDecompressParams, count: usize, flags: c_uint, errorIndex: *mut usize, stream: CUstream);
            // Virtual Memory Management
            cuMemAddressReserve = "cuMemAddressReserve" since 10020 (ptr: *mut CUdeviceptr, size: usize, alignment: usize, addr: CUdeviceptr, flags: u64);
            cuMemAddressFree = "cuMemAddressFree" since 10020 (ptr: CUdeviceptr, size: usize);
            cuMemCreate = "cuMemCreate" since 10020 (handle: *mut CUmemGenericAllocationHandle, size: usize, prop: *const CUmemAllocationProp, flags: u64);
            cuMemRelease = "cuMemRelease" since 10020 (handle: CUmemGenericAllocationHandle);
            cuMemMap = "cuMemMap" since 10020 (ptr: CUdeviceptr, size: usize, offset: usize, handle: CUmemGenericAllocationHandle, flags: u64);
            cuMemMapArrayAsync = "cuMemMapArrayAsync" since 11010 (mapInfoList: *mut CUarrayMapInfo, count: c_uint, hStream: CUstream);
            cuMemUnmap = "cuMemUnmap" since 10020 (ptr: CUdeviceptr, size: usize);
            cuMemSetAccess = "cuMemSetAccess" since 10020 (ptr: CUdeviceptr, size: usize, desc: *const CUmemAccessDesc, count: usize);
            cuMemGetAccess = "cuMemGetAccess" since 10020 (flags: *mut u64, location: *const CUmemLocation, ptr: CUdeviceptr);
            cuMemExportToShareableHandle = "cuMemExportToShareableHandle" since 10020 (shareableHandle: *mut c_void, handle: CUmemGenericAllocationHandle, handleType: CUmemAllocationHandleType, flags: u64);
            cuMemImportFromShareableHandle = "cuMemImportFromShareableHandle" since 10020 (handle: *mut CUmemGenericAllocationHandle, osHandle: *mut c_void, shHandleType: CUmemAllocationHandleType);
            cuMemGetAllocationGranularity = "cuMemGetAllocationGranularity" since 10020 (granularity: *mut usize, prop: *const CUmemAllocationProp, option: CUmemAllocationGranularity_flags);
            cuMemGetAllocationPropertiesFromHandle = "cuMemGetAllocationPropertiesFromHandle" since 10020 (prop: *mut CUmemAllocationProp, handle: CUmemGenericAllocationHandle);
            cuMemRetainAllocationHandle = "cuMemRetainAllocationHandle" since 11000 (handle: *mut CUmemGenericAllocationHandle, addr: *mut c_void);
            // Stream Ordered Memory Allocator
            cuMemFreeAsync = "cuMemFreeAsync" since 11020 (dptr: CUdeviceptr, hStream: CUstream);
            cuMemAllocAsync = "cuMemAllocAsync" since 11020 (dptr: *mut CUdeviceptr, bytesize: usize, hStream: CUstream);
            cuMemPoolTrimTo = "cuMemPoolTrimTo" since 11020 (pool: CUmemoryPool, minBytesToKeep: usize);
            cuMemPoolSetAttribute = "cuMemPoolSetAttribute" since 11020 (pool: CUmemoryPool, attr: CUmemPool_attribute, value: *mut c_void);
            cuMemPoolGetAttribute = "cuMemPoolGetAttribute" since 11020 (pool: CUmemoryPool, attr: CUmemPool_attribute, value: *mut c_void);
            cuMemPoolSetAccess = "cuMemPoolSetAccess" since 11020 (pool: CUmemoryPool, map: *const CUmemAccessDesc, count: usize);
            cuMemPoolGetAccess = "cuMemPoolGetAccess" since 11020 (flags: *mut CUmemAccess_flags, memPool: CUmemoryPool, location: *mut CUmemLocation);
            cuMemPoolCreate = "cuMemPoolCreate" since 11020 (pool: *mut CUmemoryPool, poolProps: *const CUmemPoolProps);
            cuMemPoolDestroy = "cuMemPoolDestroy" since 11020 (pool: CUmemoryPool);
            cuMemGetDefaultMemPool = "cuMemGetDefaultMemPool" since 13000 (pool_out: *mut CUmemoryPool, location: *mut CUmemLocation, type_: CUmemAllocationType);
            cuMemGetMemPool = "cuMemGetMemPool" since 13000 (pool: *mut CUmemoryPool, location: *mut CUmemLocation, type_: CUmemAllocationType);
            cuMemSetMemPool = "cuMemSetMemPool" since 13000 (location: *mut CUmemLocation, type_: CUmemAllocationType, pool: CUmemoryPool);
            cuMemAllocFromPoolAsync = "cuMemAllocFromPoolAsync" since 11020 (dptr: *mut CUdeviceptr, bytesize: usize, pool: CUmemoryPool, hStream: CUstream);
            cuMemPoolExportToShareableHandle = "cuMemPoolExportToShareableHandle" since 11020 (handle_out: *mut c_void, pool: CUmemoryPool, handleType: CUmemAllocationHandleType, flags: u64);
            cuMemPoolImportFromShareableHandle = "cuMemPoolImportFromShareableHandle" since 11020 (pool_out: *mut CUmemoryPool, handle: *mut c_void, handleType: CUmemAllocationHandleType, flags: u64);
            cuMemPoolExportPointer = "cuMemPoolExportPointer" since 11020 (shareData_out: *mut CUmemPoolPtrExportData, ptr: CUdeviceptr);
            cuMemPoolImportPointer = "cuMemPoolImportPointer" since 11020 (ptr_out: *mut CUdeviceptr, pool: CUmemoryPool, shareData: *mut CUmemPoolPtrExportData);
            // Multicast Object Management
            cuMulticastCreate = "cuMulticastCreate" since 12010 (mcHandle: *mut CUmemGenericAllocationHandle, prop: *const CUmulticastObjectProp);
            cuMulticastAddDevice = "cuMulticastAddDevice" since 12010 (mcHandle: CUmemGenericAllocationHandle, dev: CUdevice);
            cuMulticastBindMem = "cuMulticastBindMem" since 12010 (mcHandle: CUmemGenericAllocationHandle, mcOffset: usize, memHandle: CUmemGenericAllocationHandle, memOffset: usize, size: usize, flags: u64);
            cuMulticastBindAddr = "cuMulticastBindAddr" since 12010 (mcHandle: CUmemGenericAllocationHandle, mcOffset: usize, memptr: CUdeviceptr, size: usize, flags: u64);
            cuMulticastUnbind = "cuMulticastUnbind" since 12010 (mcHandle: CUmemGenericAllocationHandle, dev: CUdevice, mcOffset: usize, size: usize);
            cuMulticastGetGranularity = "cuMulticastGetGranularity" since 12010 (granularity: *mut usize, prop: *const CUmulticastObjectProp, option: CUmulticastGranularity_flags);
            // Unified Addressing
            cuPointerGetAttribute = "cuPointerGetAttribute" since 4000 (data: *mut c_void, attribute: CUpointer_attribute, ptr: CUdeviceptr);
            cuMemPrefetchAsync = "cuMemPrefetchAsync_v2" since 12020 (devPtr: CUdeviceptr, count: usize, location: CUmemLocation, flags: c_uint, hStream: CUstream);
            cuMemAdvise = "cuMemAdvise_v2" since 12020 (devPtr: CUdeviceptr, count: usize, advice: CUmem_advise, location: CUmemLocation);
            cuMemPrefetchBatchAsync = "cuMemPrefetchBatchAsync" since 13000 (dptrs: *mut CUdeviceptr, sizes: *mut usize, count: usize, prefetchLocs: *mut CUmemLocation, prefetchLocIdxs: *mut usize, numPrefetchLocs: usize, flags: u64, hStream: CUstream);
            cuMemDiscardBatchAsync = "cuMemDiscardBatchAsync" since 13000 (dptrs: *mut CUdeviceptr, sizes: *mut usize, count: usize, flags: u64, hStream: CUstream);
            cuMemDiscardAndPrefetchBatchAsync = "cuMemDiscardAndPrefetchBatchAsync" since 13000 (dptrs: *mut CUdeviceptr, sizes: *mut usize, count: usize, prefetchLocs: *mut CUmemLocation, prefetchLocIdxs: *mut usize, numPrefetchLocs: usize, flags: u64, hStream: CUstream);
            cuMemRangeGetAttribute = "cuMemRangeGetAttribute" since 8000 (data: *mut c_void, dataSize: usize, attribute: CUmem_range_attribute, devPtr: CUdeviceptr, count: usize);
            cuMemRangeGetAttributes = "cuMemRangeGetAttributes" since 8000 (data: *mut *mut c_void, dataSizes: *mut usize, attributes: *mut CUmem_range_attribute, numAttributes: usize, devPtr: CUdeviceptr, count: usize);
            cuPointerSetAttribute = "cuPointerSetAttribute" since 6000 (value: *const c_void, attribute: CUpointer_attribute, ptr: CUdeviceptr);
            cuPointerGetAttributes = "cuPointerGetAttributes" since 7000 (numAttributes: c_uint, attributes: *mut CUpointer_attribute, data: *mut *mut c_void, ptr: CUdeviceptr);
            // Stream Management
            cuStreamCreate = "cuStreamCreate" since 2000 (phStream: *mut CUstream, Flags: c_uint);
            cuStreamCreateWithPriority = "cuStreamCreateWithPriority" since 5050 (phStream: *mut CUstream, flags: c_uint, priority: c_int);
            cuStreamGetPriority = "cuStreamGetPriority" since 5050 (hStream: CUstream, priority: *mut c_int);
            cuStreamGetDevice = "cuStreamGetDevice" since 12080 (hStream: CUstream, device: *mut CUdevice);
            cuStreamGetFlags = "cuStreamGetFlags" since 5050 (hStream: CUstream, flags: *mut c_uint);
            cuStreamGetId = "cuStreamGetId" since 12000 (hStream: CUstream, streamId: *mut u64);
            cuStreamGetCtx = "cuStreamGetCtx" since 9020 (hStream: CUstream, pctx: *mut CUcontext);
            cuStreamGetCtx_v2 = "cuStreamGetCtx_v2" since 12050 (hStream: CUstream, pCtx: *mut CUcontext, pGreenCtx: *mut CUgreenCtx);
            cuStreamWaitEvent = "cuStreamWaitEvent" since 3020 (hStream: CUstream, hEvent: CUevent, Flags: c_uint);
            cuStreamAddCallback = "cuStreamAddCallback" since 5000 (hStream: CUstream, callback: CUstreamCallback, userData: *mut c_void, flags: c_uint);
            cuStreamBeginCapture = "cuStreamBeginCapture_v2" since 10010 (hStream: CUstream, mode: CUstreamCaptureMode);
            cuStreamBeginCaptureToGraph = "cuStreamBeginCaptureToGraph" since 12030 (hStream: CUstream, hGraph: CUgraph, dependencies: *const CUgraphNode, dependencyData: *const CUgraphEdgeData, numDependencies: usize, mode: CUstreamCaptureMode);
            cuThreadExchangeStreamCaptureMode = "cuThreadExchangeStreamCaptureMode" since 10010 (mode: *mut CUstreamCaptureMode);
            cuStreamEndCapture = "cuStreamEndCapture" since 10000 (hStream: CUstream, phGraph: *mut CUgraph);
            cuStreamIsCapturing = "cuStreamIsCapturing" since 10000 (hStream: CUstream, captureStatus: *mut CUstreamCaptureStatus);
            cuStreamGetCaptureInfo = "cuStreamGetCaptureInfo_v3" since 12030 (hStream: CUstream, captureStatus_out: *mut CUstreamCaptureStatus, id_out: *mut u64, graph_out: *mut CUgraph, dependencies_out: *mut *const CUgraphNode, edgeData_out: *mut *const CUgraphEdgeData, numDependencies_out: *mut usize);
            cuStreamUpdateCaptureDependencies = "cuStreamUpdateCaptureDependencies_v2" since 12030 (hStream: CUstream, dependencies: *mut CUgraphNode, dependencyData: *const CUgraphEdgeData, numDependencies: usize, flags: c_uint);
            cuStreamAttachMemAsync = "cuStreamAttachMemAsync" since 6000 (hStream: CUstream, dptr: CUdeviceptr, length: usize, flags: c_uint);
            cuStreamQuery = "cuStreamQuery" since 2000 (hStream: CUstream);
            cuStreamSynchronize = "cuStreamSynchronize" since 2000 (hStream: CUstream);
            cuStreamDestroy = "cuStreamDestroy_v2" since 4000 (hStream: CUstream);
            cuStreamCopyAttributes = "cuStreamCopyAttributes" since 11000 (dst: CUstream, src: CUstream);
            cuStreamGetAttribute = "cuStreamGetAttribute" since 11000 (hStream: CUstream, attr: CUstreamAttrID, value_out: *mut CUstreamAttrValue);
            cuStreamSetAttribute = "cuStreamSetAttribute" since 11000 (hStream: CUstream, attr: CUstreamAttrID, value: *const CUstreamAttrValue);
            // Event Management
            cuEventCreate = "cuEventCreate" since 2000 (phEvent: *mut CUevent, Flags: c_uint);
            cuEventRecord = "cuEventRecord" since 2000 (hEvent: CUevent, hStream: CUstream);
            cuEventRecordWithFlags = "cuEventRecordWithFlags" since 11010 (hEvent: CUevent, hStream: CUstream, flags: c_uint);
            cuEventQuery = "cuEventQuery" since 2000 (hEvent: CUevent);
            cuEventSynchronize = "cuEventSynchronize" since 2000 (hEvent: CUevent);
            cuEventDestroy = "cuEventDestroy_v2" since 4000 (hEvent: CUevent);
            cuEventElapsedTime_v2 = "cuEventElapsedTime_v2" since 12080 (pMilliseconds: *mut f32, hStart: CUevent, hEnd: CUevent);
            cuEventElapsedTime = "cuEventElapsedTime" since 2000 (pMilliseconds: *mut f32, hStart: CUevent, hEnd: CUevent);
            // External Resource Interoperability
            cuImportExternalMemory = "cuImportExternalMemory" since 10000 (extMem_out: *mut CUexternalMemory, memHandleDesc: *const CUDA_EXTERNAL_MEMORY_HANDLE_DESC);
            cuExternalMemoryGetMappedBuffer = "cuExternalMemoryGetMappedBuffer" since 10000 (devPtr: *mut CUdeviceptr, extMem: CUexternalMemory, bufferDesc: *const CUDA_EXTERNAL_MEMORY_BUFFER_DESC);
            cuExternalMemoryGetMappedMipmappedArray = "cuExternalMemoryGetMappedMipmappedArray" since 10000 (mipmap: *mut CUmipmappedArray, extMem: CUexternalMemory, mipmapDesc: *const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC);
            cuDestroyExternalMemory = "cuDestroyExternalMemory" since 10000 (extMem: CUexternalMemory);
            cuImportExternalSemaphore = "cuImportExternalSemaphore" since 10000 (extSem_out: *mut CUexternalSemaphore, semHandleDesc: *const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC);
            cuSignalExternalSemaphoresAsync = "cuSignalExternalSemaphoresAsync" since 10000 (extSemArray: *const CUexternalSemaphore, paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS, numExtSems: c_uint, stream: CUstream);
            cuWaitExternalSemaphoresAsync = "cuWaitExternalSemaphoresAsync" since 10000 (extSemArray: *const CUexternalSemaphore, paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS, numExtSems: c_uint, stream: CUstream);
            cuDestroyExternalSemaphore = "cuDestroyExternalSemaphore" since 10000 (extSem: CUexternalSemaphore);
            // Stream Memory Operations
            cuStreamWaitValue32 = "cuStreamWaitValue32_v2" since 11070 (stream: CUstream, addr: CUdeviceptr, value: u32, flags: c_uint);
            cuStreamWaitValue64 = "cuStreamWaitValue64_v2" since 11070 (stream: CUstream, addr: CUdeviceptr, value: u64, flags: c_uint);
            cuStreamWriteValue32 = "cuStreamWriteValue32_v2" since 11070 (stream: CUstream, addr: CUdeviceptr, value: u32, flags: c_uint);
            cuStreamWriteValue64 = "cuStreamWriteValue64_v2" since 11070 (stream: CUstream, addr: CUdeviceptr, value: u64, flags: c_uint);
            cuStreamBatchMemOp = "cuStreamBatchMemOp_v2" since 11070 (stream: CUstream, count: c_uint, paramArray: *mut CUstreamBatchMemOpParams, flags: c_uint);
            // Execution Control
            cuFuncGetAttribute = "cuFuncGetAttribute" since 2020 (pi: *mut c_int, attrib: CUfunction_attribute, hfunc: CUfunction);
            cuFuncSetAttribute = "cuFuncSetAttribute" since 9000 (hfunc: CUfunction, attrib: CUfunction_attribute, value: c_int);
            cuFuncSetCacheConfig = "cuFuncSetCacheConfig" since 3000 (hfunc: CUfunction, config: CUfunc_cache);
            cuFuncGetModule = "cuFuncGetModule" since 11000 (hmod: *mut CUmodule, hfunc: CUfunction);
            cuFuncGetName = "cuFuncGetName" since 12030 (name: *mut *const c_char, hfunc: CUfunction);
            cuFuncGetParamInfo = "cuFuncGetParamInfo" since 12040 (func: CUfunction, paramIndex: usize, paramOffset: *mut usize, paramSize: *mut usize);
            cuFuncIsLoaded = "cuFuncIsLoaded" since 12040 (state: *mut CUfunctionLoadingState, function: CUfunction);
            cuFuncLoad = "cuFuncLoad" since 12040 (function: CUfunction);
            cuLaunchKernel = "cuLaunchKernel" since 4000 (f: CUfunction, gridDimX: c_uint, gridDimY: c_uint, gridDimZ: c_uint, blockDimX: c_uint, blockDimY: c_uint, blockDimZ: c_uint, sharedMemBytes: c_uint, hStream: CUstream, kernelParams: *mut *mut c_void, extra: *mut *mut c_void);
            cuLaunchKernelEx = "cuLaunchKernelEx" since 11060 (config: *const CUlaunchConfig, f: CUfunction, kernelParams: *mut *mut c_void, extra: *mut *mut c_void);
            cuLaunchCooperativeKernel = "cuLaunchCooperativeKernel" since 9000 (f: CUfunction, gridDimX: c_uint, gridDimY: c_uint, gridDimZ: c_uint, blockDimX: c_uint, blockDimY: c_uint, blockDimZ: c_uint, sharedMemBytes: c_uint, hStream: CUstream, kernelParams: *mut *mut c_void);
            cuLaunchCooperativeKernelMultiDevice = "cuLaunchCooperativeKernelMultiDevice" since 9000 (launchParamsList: *mut CUDA_LAUNCH_PARAMS, numDevices: c_uint, flags: c_uint);
            cuLaunchHostFunc = "cuLaunchHostFunc" since 10000 (hStream: CUstream, fn_: CUhostFn, userData: *mut c_void);
            // Execution Control [DEPRECATED]
            cuFuncSetBlockShape = "cuFuncSetBlockShape" since 2000 (hfunc: CUfunction, x: c_int, y: c_int, z: c_int);
            cuFuncSetSharedSize = "cuFuncSetSharedSize" since 2000 (hfunc: CUfunction, bytes: c_uint);
            cuParamSetSize = "cuParamSetSize" since 2000 (hfunc: CUfunction, numbytes: c_uint);
            cuParamSeti = "cuParamSeti" since 2000 (hfunc: CUfunction, offset: c_int, value: c_uint);
            cuParamSetf = "cuParamSetf" since 2000 (hfunc: CUfunction, offset: c_int, value: f32);
            cuParamSetv = "cuParamSetv" since 2000 (hfunc: CUfunction, offset: c_int, ptr: *mut c_void, numbytes: c_uint);
            cuLaunch = "cuLaunch" since 2000 (f: CUfunction);
            cuLaunchGrid = "cuLaunchGrid" since 2000 (f: CUfunction, grid_width: c_int, grid_height: c_int);
            cuLaunchGridAsync = "cuLaunchGridAsync" since 2000 (f: CUfunction, grid_width: c_int, grid_height: c_int, hStream: CUstream);
            cuParamSetTexRef = "cuParamSetTexRef" since 2000 (hfunc: CUfunction, texunit: c_int, hTexRef: CUtexref);
            cuFuncSetSharedMemConfig = "cuFuncSetSharedMemConfig" since 4020 (hfunc: CUfunction, config: CUsharedconfig);
            // Graph Management
            cuGraphCreate = "cuGraphCreate" since 10000 (phGraph: *mut CUgraph, flags: c_uint);
            cuGraphAddKernelNode = "cuGraphAddKernelNode_v2" since 12000 (phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *const CUDA_KERNEL_NODE_PARAMS);
            cuGraphKernelNodeGetParams = "cuGraphKernelNodeGetParams_v2" since 12000 (hNode: CUgraphNode, nodeParams: *mut CUDA_KERNEL_NODE_PARAMS);
            cuGraphKernelNodeSetParams = "cuGraphKernelNodeSetParams_v2" since 12000 (hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS);
            cuGraphAddMemcpyNode = "cuGraphAddMemcpyNode" since 10000 (phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, copyParams: *const CUDA_MEMCPY3D, ctx: CUcontext);
            cuGraphMemcpyNodeGetParams = "cuGraphMemcpyNodeGetParams" since 10000 (hNode: CUgraphNode, nodeParams: *mut CUDA_MEMCPY3D);
            cuGraphMemcpyNodeSetParams = "cuGraphMemcpyNodeSetParams" since 10000 (hNode: CUgraphNode, nodeParams: *const CUDA_MEMCPY3D);
            cuGraphAddMemsetNode = "cuGraphAddMemsetNode" since 10000 (phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, memsetParams: *const CUDA_MEMSET_NODE_PARAMS, ctx: CUcontext);
            cuGraphMemsetNodeGetParams = "cuGraphMemsetNodeGetParams" since 10000 (hNode: CUgraphNode, nodeParams: *mut CUDA_MEMSET_NODE_PARAMS);
            cuGraphMemsetNodeSetParams = "cuGraphMemsetNodeSetParams" since 10000 (hNode: CUgraphNode, nodeParams: *const CUDA_MEMSET_NODE_PARAMS);
            cuGraphAddHostNode = "cuGraphAddHostNode" since 10000 (phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *const CUDA_HOST_NODE_PARAMS);
            cuGraphHostNodeGetParams = "cuGraphHostNodeGetParams" since 10000 (hNode: CUgraphNode, nodeParams: *mut CUDA_HOST_NODE_PARAMS);
            cuGraphHostNodeSetParams = "cuGraphHostNodeSetParams" since 10000 (hNode: CUgraphNode, nodeParams: *const CUDA_HOST_NODE_PARAMS);
            cuGraphAddChildGraphNode = "cuGraphAddChildGraphNode" since 10000 (phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, childGraph: CUgraph);
            cuGraphChildGraphNodeGetGraph = "cuGraphChildGraphNodeGetGraph" since 10000 (hNode: CUgraphNode, phGraph: *mut CUgraph);
            cuGraphAddEmptyNode = "cuGraphAddEmptyNode" since 10000 (phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize);
            cuGraphAddEventRecordNode = "cuGraphAddEventRecordNode" since 11010 (phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, event: CUevent);
            cuGraphEventRecordNodeGetEvent = "cuGraphEventRecordNodeGetEvent" since 11010 (hNode: CUgraphNode, event_out: *mut CUevent);
            cuGraphEventRecordNodeSetEvent = "cuGraphEventRecordNodeSetEvent" since 11010 (hNode: CUgraphNode, event: CUevent);
            cuGraphAddEventWaitNode = "cuGraphAddEventWaitNode" since 11010 (phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, event: CUevent);
            cuGraphEventWaitNodeGetEvent = "cuGraphEventWaitNodeGetEvent" since 11010 (hNode: CUgraphNode, event_out: *mut CUevent);
            cuGraphEventWaitNodeSetEvent = "cuGraphEventWaitNodeSetEvent" since 11010 (hNode: CUgraphNode, event: CUevent);
            cuGraphAddExternalSemaphoresSignalNode = "cuGraphAddExternalSemaphoresSignalNode" since 11020 (phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS);
            cuGraphExternalSemaphoresSignalNodeGetParams = "cuGraphExternalSemaphoresSignalNodeGetParams" since 11020 (hNode: CUgraphNode, params_out: *mut CUDA_EXT_SEM_SIGNAL_NODE_PARAMS);
            cuGraphExternalSemaphoresSignalNodeSetParams = "cuGraphExternalSemaphoresSignalNodeSetParams" since 11020 (hNode: CUgraphNode, nodeParams: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS);
            cuGraphAddExternalSemaphoresWaitNode = "cuGraphAddExternalSemaphoresWaitNode" since 11020 (phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS);
            cuGraphExternalSemaphoresWaitNodeGetParams = "cuGraphExternalSemaphoresWaitNodeGetParams" since 11020 (hNode: CUgraphNode, params_out: *mut CUDA_EXT_SEM_WAIT_NODE_PARAMS);
            cuGraphExternalSemaphoresWaitNodeSetParams = "cuGraphExternalSemaphoresWaitNodeSetParams" since 11020 (hNode: CUgraphNode, nodeParams: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS);
            cuGraphAddBatchMemOpNode = "cuGraphAddBatchMemOpNode" since 11070 (phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS);
            cuGraphBatchMemOpNodeGetParams = "cuGraphBatchMemOpNodeGetParams" since 11070 (hNode: CUgraphNode, nodeParams_out: *mut CUDA_BATCH_MEM_OP_NODE_PARAMS);
            cuGraphBatchMemOpNodeSetParams = "cuGraphBatchMemOpNodeSetParams" since 11070 (hNode: CUgraphNode, nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS);
            cuGraphExecBatchMemOpNodeSetParams = "cuGraphExecBatchMemOpNodeSetParams" since 11070 (hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS);
            cuGraphAddMemAllocNode = "cuGraphAddMemAllocNode" since 11040 (phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *mut CUDA_MEM_ALLOC_NODE_PARAMS);
            cuGraphMemAllocNodeGetParams = "cuGraphMemAllocNodeGetParams" since 11040 (hNode: CUgraphNode, params_out: *mut CUDA_MEM_ALLOC_NODE_PARAMS);
            cuGraphAddMemFreeNode = "cuGraphAddMemFreeNode" since 11040 (phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, dptr: CUdeviceptr);
            cuGraphMemFreeNodeGetParams = "cuGraphMemFreeNodeGetParams" since 11040 (hNode: CUgraphNode, dptr_out: *mut CUdeviceptr);
            cuDeviceGraphMemTrim = "cuDeviceGraphMemTrim" since 11040 (device: CUdevice);
            cuDeviceGetGraphMemAttribute = "cuDeviceGetGraphMemAttribute" since 11040 (device: CUdevice, attr: CUgraphMem_attribute, value: *mut c_void);
            cuDeviceSetGraphMemAttribute = "cuDeviceSetGraphMemAttribute" since 11040 (device: CUdevice, attr: CUgraphMem_attribute, value: *mut c_void);
            cuGraphClone = "cuGraphClone" since 10000 (phGraphClone: *mut CUgraph, originalGraph: CUgraph);
            cuGraphNodeFindInClone = "cuGraphNodeFindInClone" since 10000 (phNode: *mut CUgraphNode, hOriginalNode: CUgraphNode, hClonedGraph: CUgraph);
            cuGraphNodeGetType = "cuGraphNodeGetType" since 10000 (hNode: CUgraphNode, type_: *mut CUgraphNodeType);
            cuGraphGetNodes = "cuGraphGetNodes" since 10000 (hGraph: CUgraph, nodes: *mut CUgraphNode, numNodes: *mut usize);
            cuGraphGetRootNodes = "cuGraphGetRootNodes" since 10000 (hGraph: CUgraph, rootNodes: *mut CUgraphNode, numRootNodes: *mut usize);
            cuGraphGetEdges = "cuGraphGetEdges_v2" since 12030 (hGraph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, edgeData: *mut CUgraphEdgeData, numEdges: *mut usize);
            cuGraphNodeGetDependencies = "cuGraphNodeGetDependencies_v2" since 12030 (hNode: CUgraphNode, dependencies: *mut CUgraphNode, edgeData: *mut CUgraphEdgeData, numDependencies: *mut usize);
            cuGraphNodeGetDependentNodes = "cuGraphNodeGetDependentNodes_v2" since 12030 (hNode: CUgraphNode, dependentNodes: *mut CUgraphNode, edgeData: *mut CUgraphEdgeData, numDependentNodes: *mut usize);
            cuGraphAddDependencies = "cuGraphAddDependencies_v2" since 12030 (hGraph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, edgeData: *const CUgraphEdgeData, numDependencies: usize);
            cuGraphRemoveDependencies = "cuGraphRemoveDependencies_v2" since 12030 (hGraph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, edgeData: *const CUgraphEdgeData, numDependencies: usize);
            cuGraphDestroyNode = "cuGraphDestroyNode" since 10000 (hNode: CUgraphNode);
            cuGraphInstantiateWithFlags = "cuGraphInstantiateWithFlags" since 11040 (phGraphExec: *mut CUgraphExec, hGraph: CUgraph, flags: u64);
            cuGraphInstantiateWithParams = "cuGraphInstantiateWithParams" since 12000 (phGraphExec: *mut CUgraphExec, hGraph: CUgraph, instantiateParams: *mut CUDA_GRAPH_INSTANTIATE_PARAMS);
            cuGraphExecGetFlags = "cuGraphExecGetFlags" since 12000 (hGraphExec: CUgraphExec, flags: *mut u64);
            cuGraphExecKernelNodeSetParams = "cuGraphExecKernelNodeSetParams_v2" since 12000 (hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS);
            cuGraphExecMemcpyNodeSetParams = "cuGraphExecMemcpyNodeSetParams" since 10020 (hGraphExec: CUgraphExec, hNode: CUgraphNode, copyParams: *const CUDA_MEMCPY3D, ctx: CUcontext);
            cuGraphExecMemsetNodeSetParams = "cuGraphExecMemsetNodeSetParams" since 10020 (hGraphExec: CUgraphExec, hNode: CUgraphNode, memsetParams: *const CUDA_MEMSET_NODE_PARAMS, ctx: CUcontext);
            cuGraphExecHostNodeSetParams = "cuGraphExecHostNodeSetParams" since 10020 (hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_HOST_NODE_PARAMS);
            cuGraphExecChildGraphNodeSetParams = "cuGraphExecChildGraphNodeSetParams" since 11010 (hGraphExec: CUgraphExec, hNode: CUgraphNode, childGraph: CUgraph);
            cuGraphExecEventRecordNodeSetEvent = "cuGraphExecEventRecordNodeSetEvent" since 11010 (hGraphExec: CUgraphExec, hNode: CUgraphNode, event: CUevent);
            cuGraphExecEventWaitNodeSetEvent = "cuGraphExecEventWaitNodeSetEvent" since 11010 (hGraphExec: CUgraphExec, hNode: CUgraphNode, event: CUevent);
            cuGraphExecExternalSemaphoresSignalNodeSetParams = "cuGraphExecExternalSemaphoresSignalNodeSetParams" since 11020 (hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS);
            cuGraphExecExternalSemaphoresWaitNodeSetParams = "cuGraphExecExternalSemaphoresWaitNodeSetParams" since 11020 (hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS);
            cuGraphNodeSetEnabled = "cuGraphNodeSetEnabled" since 11060 (hGraphExec: CUgraphExec, hNode: CUgraphNode, isEnabled: c_uint);
            cuGraphNodeGetEnabled = "cuGraphNodeGetEnabled" since 11060 (hGraphExec: CUgraphExec, hNode: CUgraphNode, isEnabled: *mut c_uint);
            cuGraphUpload = "cuGraphUpload" since 11010 (hGraphExec: CUgraphExec, hStream: CUstream);
            cuGraphLaunch = "cuGraphLaunch" since 10000 (hGraphExec: CUgraphExec, hStream: CUstream);
            cuGraphExecDestroy = "cuGraphExecDestroy" since 10000 (hGraphExec: CUgraphExec);
            cuGraphDestroy = "cuGraphDestroy" since 10000 (hGraph: CUgraph);
            cuGraphExecUpdate = "cuGraphExecUpdate_v2" since 12000 (hGraphExec: CUgraphExec, hGraph: CUgraph, resultInfo: *mut CUgraphExecUpdateResultInfo);
            cuGraphKernelNodeCopyAttributes = "cuGraphKernelNodeCopyAttributes" since 11000 (dst: CUgraphNode, src: CUgraphNode);
            cuGraphKernelNodeGetAttribute = "cuGraphKernelNodeGetAttribute" since 11000 (hNode: CUgraphNode, attr: CUkernelNodeAttrID, value_out: *mut CUkernelNodeAttrValue);
            cuGraphKernelNodeSetAttribute = "cuGraphKernelNodeSetAttribute" since 11000 (hNode: CUgraphNode, attr: CUkernelNodeAttrID, value: *const CUkernelNodeAttrValue);
            cuGraphDebugDotPrint = "cuGraphDebugDotPrint" since 11030 (hGraph: CUgraph, path: *const c_char, flags: c_uint);
            cuUserObjectCreate = "cuUserObjectCreate" since 11030 (object_out: *mut CUuserObject, ptr: *mut c_void, destroy: CUhostFn, initialRefcount: c_uint, flags: c_uint);
            cuUserObjectRetain = "cuUserObjectRetain" since 11030 (object: CUuserObject, count: c_uint);
            cuUserObjectRelease = "cuUserObjectRelease" since 11030 (object: CUuserObject, count: c_uint);
            cuGraphRetainUserObject = "cuGraphRetainUserObject" since 11030 (graph: CUgraph, object: CUuserObject, count: c_uint, flags: c_uint);
            cuGraphReleaseUserObject = "cuGraphReleaseUserObject" since 11030 (graph: CUgraph, object: CUuserObject, count: c_uint);
            cuGraphAddNode = "cuGraphAddNode_v2" since 12030 (phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, dependencyData: *const CUgraphEdgeData, numDependencies: usize, nodeParams: *mut CUgraphNodeParams);
            cuGraphNodeSetParams = "cuGraphNodeSetParams" since 12020 (hNode: CUgraphNode, nodeParams: *mut CUgraphNodeParams);
            cuGraphExecNodeSetParams = "cuGraphExecNodeSetParams" since 12020 (hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *mut CUgraphNodeParams);
            cuGraphConditionalHandleCreate = "cuGraphConditionalHandleCreate" since 12030 (pHandle_out: *mut CUgraphConditionalHandle, hGraph: CUgraph, ctx: CUcontext, defaultLaunchValue: c_uint, flags: c_uint);
            // Occupancy
            cuOccupancyMaxActiveBlocksPerMultiprocessor = "cuOccupancyMaxActiveBlocksPerMultiprocessor" since 6050 (numBlocks: *mut c_int, func: CUfunction, blockSize: c_int, dynamicSMemSize: usize);
            cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags = "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags" since 7000 (numBlocks: *mut c_int, func: CUfunction, blockSize: c_int, dynamicSMemSize: usize, flags: c_uint);
            cuOccupancyMaxPotentialBlockSize = "cuOccupancyMaxPotentialBlockSize" since 6050 (minGridSize: *mut c_int, blockSize: *mut c_int, func: CUfunction, blockSizeToDynamicSMemSize: CUoccupancyB2DSize, dynamicSMemSize: usize, blockSizeLimit: c_int);
            cuOccupancyMaxPotentialBlockSizeWithFlags = "cuOccupancyMaxPotentialBlockSizeWithFlags" since 7000 (minGridSize: *mut c_int, blockSize: *mut c_int, func: CUfunction, blockSizeToDynamicSMemSize: CUoccupancyB2DSize, dynamicSMemSize: usize, blockSizeLimit: c_int, flags: c_uint);
            cuOccupancyAvailableDynamicSMemPerBlock = "cuOccupancyAvailableDynamicSMemPerBlock" since 10020 (dynamicSmemSize: *mut usize, func: CUfunction, numBlocks: c_int, blockSize: c_int);
            cuOccupancyMaxPotentialClusterSize = "cuOccupancyMaxPotentialClusterSize" since 11070 (clusterSize: *mut c_int, func: CUfunction, config: *const CUlaunchConfig);
            cuOccupancyMaxActiveClusters = "cuOccupancyMaxActiveClusters" since 11070 (numClusters: *mut c_int, func: CUfunction, config: *const CUlaunchConfig);
            // Texture Reference Management [DEPRECATED]
            cuTexRefSetArray = "cuTexRefSetArray" since 2000 (hTexRef: CUtexref, hArray: CUarray, Flags: c_uint);
            cuTexRefSetMipmappedArray = "cuTexRefSetMipmappedArray" since 5000 (hTexRef: CUtexref, hMipmappedArray: CUmipmappedArray, Flags: c_uint);
            cuTexRefSetAddress = "cuTexRefSetAddress_v2" since 3020 (ByteOffset: *mut usize, hTexRef: CUtexref, dptr: CUdeviceptr, bytes: usize);
            cuTexRefSetAddress2D = "cuTexRefSetAddress2D_v3" since 4010 (hTexRef: CUtexref, desc: *const CUDA_ARRAY_DESCRIPTOR, dptr: CUdeviceptr, Pitch: usize);
            cuTexRefSetFormat = "cuTexRefSetFormat" since 2000 (hTexRef: CUtexref, fmt: CUarray_format, NumPackedComponents: c_int);
            cuTexRefSetAddressMode = "cuTexRefSetAddressMode" since 2000 (hTexRef: CUtexref, dim: c_int, am: CUaddress_mode);
            cuTexRefSetFilterMode = "cuTexRefSetFilterMode" since 2000 (hTexRef: CUtexref, fm: CUfilter_mode);
            cuTexRefSetMipmapFilterMode = "cuTexRefSetMipmapFilterMode" since 5000 (hTexRef: CUtexref, fm: CUfilter_mode);
            cuTexRefSetMipmapLevelBias = "cuTexRefSetMipmapLevelBias" since 5000 (hTexRef: CUtexref, bias: f32);
            cuTexRefSetMipmapLevelClamp = "cuTexRefSetMipmapLevelClamp" since 5000 (hTexRef: CUtexref, minMipmapLevelClamp: f32, maxMipmapLevelClamp: f32);
            cuTexRefSetMaxAnisotropy = "cuTexRefSetMaxAnisotropy" since 5000 (hTexRef: CUtexref, maxAniso: c_uint);
            cuTexRefSetBorderColor = "cuTexRefSetBorderColor" since 8000 (hTexRef: CUtexref, pBorderColor: *mut f32);
            cuTexRefSetFlags = "cuTexRefSetFlags" since 2000 (hTexRef: CUtexref, Flags: c_uint);
            cuTexRefGetAddress = "cuTexRefGetAddress_v2" since 3020 (pdptr: *mut CUdeviceptr, hTexRef: CUtexref);
            cuTexRefGetArray = "cuTexRefGetArray" since 2000 (phArray: *mut CUarray, hTexRef: CUtexref);
            cuTexRefGetMipmappedArray = "cuTexRefGetMipmappedArray" since 5000 (phMipmappedArray: *mut CUmipmappedArray, hTexRef: CUtexref);
            cuTexRefGetAddressMode = "cuTexRefGetAddressMode" since 2000 (pam: *mut CUaddress_mode, hTexRef: CUtexref, dim: c_int);
            cuTexRefGetFilterMode = "cuTexRefGetFilterMode" since 2000 (pfm: *mut CUfilter_mode, hTexRef: CUtexref);
            cuTexRefGetFormat = "cuTexRefGetFormat" since 2000 (pFormat: *mut CUarray_format, pNumChannels: *mut c_int, hTexRef: CUtexref);
            cuTexRefGetMipmapFilterMode = "cuTexRefGetMipmapFilterMode" since 5000 (pfm: *mut CUfilter_mode, hTexRef: CUtexref);
            cuTexRefGetMipmapLevelBias = "cuTexRefGetMipmapLevelBias" since 5000 (pbias: *mut f32, hTexRef: CUtexref);
            cuTexRefGetMipmapLevelClamp = "cuTexRefGetMipmapLevelClamp" since 5000 (pminMipmapLevelClamp: *mut f32, pmaxMipmapLevelClamp: *mut f32, hTexRef: CUtexref);
            cuTexRefGetMaxAnisotropy = "cuTexRefGetMaxAnisotropy" since 5000 (pmaxAniso: *mut c_int, hTexRef: CUtexref);
            cuTexRefGetBorderColor = "cuTexRefGetBorderColor" since 8000 (pBorderColor: *mut f32, hTexRef: CUtexref);
            cuTexRefGetFlags = "cuTexRefGetFlags" since 2000 (pFlags: *mut c_uint, hTexRef: CUtexref);
            cuTexRefCreate = "cuTexRefCreate" since 2000 (pTexRef: *mut CUtexref);
            cuTexRefDestroy = "cuTexRefDestroy" since 2000 (hTexRef: CUtexref);
            // Surface Reference Management [DEPRECATED]
            cuSurfRefSetArray = "cuSurfRefSetArray" since 3000 (hSurfRef: CUsurfref, hArray: CUarray, Flags: c_uint);
            cuSurfRefGetArray = "cuSurfRefGetArray" since 3000 (phArray: *mut CUarray, hSurfRef: CUsurfref);
            // Texture Object Management
            cuTexObjectCreate = "cuTexObjectCreate" since 5000 (pTexObject: *mut CUtexObject, pResDesc: *const CUDA_RESOURCE_DESC, pTexDesc: *const CUDA_TEXTURE_DESC, pResViewDesc: *const CUDA_RESOURCE_VIEW_DESC);
            cuTexObjectDestroy = "cuTexObjectDestroy" since 5000 (texObject: CUtexObject);
            cuTexObjectGetResourceDesc = "cuTexObjectGetResourceDesc" since 5000 (pResDesc: *mut CUDA_RESOURCE_DESC, texObject: CUtexObject);
            cuTexObjectGetTextureDesc = "cuTexObjectGetTextureDesc" since 5000 (pTexDesc: *mut CUDA_TEXTURE_DESC, texObject: CUtexObject);
            cuTexObjectGetResourceViewDesc = "cuTexObjectGetResourceViewDesc" since 5000 (pResViewDesc: *mut CUDA_RESOURCE_VIEW_DESC, texObject: CUtexObject);
            // Surface Object Management
            cuSurfObjectCreate = "cuSurfObjectCreate" since 5000 (pSurfObject: *mut CUsurfObject, pResDesc: *const CUDA_RESOURCE_DESC);
            cuSurfObjectDestroy = "cuSurfObjectDestroy" since 5000 (surfObject: CUsurfObject);
            cuSurfObjectGetResourceDesc = "cuSurfObjectGetResourceDesc" since 5000 (pResDesc: *mut CUDA_RESOURCE_DESC, surfObject: CUsurfObject);
            // Tensor Map Object Managment
            cuTensorMapEncodeTiled = "cuTensorMapEncodeTiled" since 12000 (tensorMap: *mut CUtensorMap, tensorDataType: CUtensorMapDataType, tensorRank: u32, globalAddress: *mut c_void, globalDim: *const u64, globalStrides: *const u64, boxDim: *const u32, elementStrides: *const u32, interleave: CUtensorMapInterleave, swizzle: CUtensorMapSwizzle, l2Promotion: CUtensorMapL2promotion, oobFill: CUtensorMapFloatOOBfill);
            cuTensorMapEncodeIm2col = "cuTensorMapEncodeIm2col" since 12000 (tensorMap: *mut CUtensorMap, tensorDataType: CUtensorMapDataType, tensorRank: u32, globalAddress: *mut c_void, globalDim: *const u64, globalStrides: *const u64, pixelBoxLowerCorner: *const c_int, pixelBoxUpperCorner: *const c_int, channelsPerPixel: u32, pixelsPerColumn: u32, elementStrides: *const u32, interleave: CUtensorMapInterleave, swizzle: CUtensorMapSwizzle, l2Promotion: CUtensorMapL2promotion, oobFill: CUtensorMapFloatOOBfill);
            cuTensorMapEncodeIm2colWide = "cuTensorMapEncodeIm2colWide" since 12080 (tensorMap: *mut CUtensorMap, tensorDataType: CUtensorMapDataType, tensorRank: u32, globalAddress: *mut c_void, globalDim: *const u64, globalStrides: *const u64, pixelBoxLowerCornerWidth: c_int, pixelBoxUpperCornerWidth: c_int, channelsPerPixel: u32, pixelsPerColumn: u32, elementStrides: *const u32, interleave: CUtensorMapInterleave, mode: CUtensorMapIm2ColWideMode, swizzle: CUtensorMapSwizzle, l2Promotion: CUtensorMapL2promotion, oobFill: CUtensorMapFloatOOBfill);
            cuTensorMapReplaceAddress = "cuTensorMapReplaceAddress" since 12000 (tensorMap: *mut CUtensorMap, globalAddress: *mut c_void);
            // Peer Context Memory Access
            cuDeviceCanAccessPeer = "cuDeviceCanAccessPeer" since 4000 (canAccessPeer: *mut c_int, dev: CUdevice, peerDev: CUdevice);
            cuCtxEnablePeerAccess = "cuCtxEnablePeerAccess" since 4000 (peerContext: CUcontext, Flags: c_uint);
            cuCtxDisablePeerAccess = "cuCtxDisablePeerAccess" since 4000 (peerContext: CUcontext);
            cuDeviceGetP2PAttribute = "cuDeviceGetP2PAttribute" since 8000 (value: *mut c_int, attrib: CUdevice_P2PAttribute, srcDevice: CUdevice, dstDevice: CUdevice);
            cuDeviceGetP2PAtomicCapabilities = "cuDeviceGetP2PAtomicCapabilities" since 13000 (capabilities: *mut c_uint, operations: *const CUatomicOperation, count: c_uint, srcDevice: CUdevice, dstDevice: CUdevice);
            // Graphics Interoperability
            cuGraphicsUnregisterResource = "cuGraphicsUnregisterResource" since 3000 (resource: CUgraphicsResource);
            cuGraphicsSubResourceGetMappedArray = "cuGraphicsSubResourceGetMappedArray" since 3000 (pArray: *mut CUarray, resource: CUgraphicsResource, arrayIndex: c_uint, mipLevel: c_uint);
            cuGraphicsResourceGetMappedMipmappedArray = "cuGraphicsResourceGetMappedMipmappedArray" since 5000 (pMipmappedArray: *mut CUmipmappedArray, resource: CUgraphicsResource);
            cuGraphicsResourceGetMappedPointer = "cuGraphicsResourceGetMappedPointer_v2" since 3020 (pDevPtr: *mut CUdeviceptr, pSize: *mut usize, resource: CUgraphicsResource);
            cuGraphicsResourceSetMapFlags = "cuGraphicsResourceSetMapFlags_v2" since 6050 (resource: CUgraphicsResource, flags: c_uint);
            cuGraphicsMapResources = "cuGraphicsMapResources" since 3000 (count: c_uint, resources: *mut CUgraphicsResource, hStream: CUstream);
            cuGraphicsUnmapResources = "cuGraphicsUnmapResources" since 3000 (count: c_uint, resources: *mut CUgraphicsResource, hStream: CUstream);
            // Driver Entry Point Access
            cuGetProcAddress = "cuGetProcAddress_v2" since 12000 (symbol: *const c_char, pfn: *mut *mut c_void, cudaVersion: c_int, flags: u64, symbolStatus: *mut CUdriverProcAddressQueryResult);
            // Coredump Attributes Control API
            cuCoredumpGetAttribute = "cuCoredumpGetAttribute" since 12010 (attrib: CUcoredumpSettings, value: *mut c_void, size: *mut usize);
            cuCoredumpGetAttributeGlobal = "cuCoredumpGetAttributeGlobal" since 12010 (attrib: CUcoredumpSettings, value: *mut c_void, size: *mut usize);
            cuCoredumpSetAttribute = "cuCoredumpSetAttribute" since 12010 (attrib: CUcoredumpSettings, value: *mut c_void, size: *mut usize);
            cuCoredumpSetAttributeGlobal = "cuCoredumpSetAttributeGlobal" since 12010 (attrib: CUcoredumpSettings, value: *mut c_void, size: *mut usize);
            cuGetExportTable = "cuGetExportTable" since 3000 (ppExportTable: *mut *const c_void, pExportTableId: *const CUuuid);
            // Green Contexts
            cuGreenCtxCreate = "cuGreenCtxCreate" since 12040 (phCtx: *mut CUgreenCtx, desc: CUdevResourceDesc, dev: CUdevice, flags: c_uint);
            cuGreenCtxDestroy = "cuGreenCtxDestroy" since 12040 (hCtx: CUgreenCtx);
            cuCtxFromGreenCtx = "cuCtxFromGreenCtx" since 12040 (pContext: *mut CUcontext, hCtx: CUgreenCtx);
            cuDeviceGetDevResource = "cuDeviceGetDevResource" since 12040 (device: CUdevice, resource: *mut CUdevResource, type_: CUdevResourceType);
            cuCtxGetDevResource = "cuCtxGetDevResource" since 12040 (hCtx: CUcontext, resource: *mut CUdevResource, type_: CUdevResourceType);
            cuGreenCtxGetDevResource = "cuGreenCtxGetDevResource" since 12040 (hCtx: CUgreenCtx, resource: *mut CUdevResource, type_: CUdevResourceType);
            cuDevSmResourceSplitByCount = "cuDevSmResourceSplitByCount" since 12040 (result: *mut CUdevResource, nbGroups: *mut c_uint, input: *const CUdevResource, remaining: *mut CUdevResource, useFlags: c_uint, minCount: c_uint);
            cuDevResourceGenerateDesc = "cuDevResourceGenerateDesc" since 12040 (phDesc: *mut CUdevResourceDesc, resources: *mut CUdevResource, nbResources: c_uint);
            cuGreenCtxRecordEvent = "cuGreenCtxRecordEvent" since 12040 (hCtx: CUgreenCtx, hEvent: CUevent);
            cuGreenCtxWaitEvent = "cuGreenCtxWaitEvent" since 12040 (hCtx: CUgreenCtx, hEvent: CUevent);
            cuStreamGetGreenCtx = "cuStreamGetGreenCtx" since 12040 (hStream: CUstream, phCtx: *mut CUgreenCtx);
            cuGreenCtxStreamCreate = "cuGreenCtxStreamCreate" since 12050 (phStream: *mut CUstream, greenCtx: CUgreenCtx, flags: c_uint, priority: c_int);
            cuGreenCtxGetId = "cuGreenCtxGetId" since 12090 (greenCtx: CUgreenCtx, greenCtxId: *mut u64);
            // Error Log Management Functions
            cuLogsRegisterCallback = "cuLogsRegisterCallback" since 12090 (callbackFunc: CUlogsCallback, userData: *mut c_void, callback_out: *mut CUlogsCallbackHandle);
            cuLogsUnregisterCallback = "cuLogsUnregisterCallback" since 12090 (callback: CUlogsCallbackHandle);
            cuLogsCurrent = "cuLogsCurrent" since 12090 (iterator_out: *mut CUlogIterator, flags: c_uint);
            cuLogsDumpToFile = "cuLogsDumpToFile" since 12090 (iterator: *mut CUlogIterator, pathToFile: *const c_char, flags: c_uint);
            cuLogsDumpToMemory = "cuLogsDumpToMemory" since 12090 (iterator: *mut CUlogIterator, buffer: *mut c_char, size: *mut usize, flags: c_uint);
            // CUDA Checkpointing
            cuCheckpointProcessGetRestoreThreadId = "cuCheckpointProcessGetRestoreThreadId" since 12080 (pid: c_int, tid: *mut c_int);
            cuCheckpointProcessGetState = "cuCheckpointProcessGetState" since 12080 (pid: c_int, state: *mut CUprocessState);
            cuCheckpointProcessLock = "cuCheckpointProcessLock" since 12080 (pid: c_int, args: *mut CUcheckpointLockArgs);
            cuCheckpointProcessCheckpoint = "cuCheckpointProcessCheckpoint" since 12080 (pid: c_int, args: *mut CUcheckpointCheckpointArgs);
            cuCheckpointProcessRestore = "cuCheckpointProcessRestore" since 12080 (pid: c_int, args: *mut CUcheckpointRestoreArgs);
            cuCheckpointProcessUnlock = "cuCheckpointProcessUnlock" since 12080 (pid: c_int, args: *mut CUcheckpointUnlockArgs);
            // Profiler Control
            cuProfilerInitialize = "cuProfilerInitialize" since 4000 (configFile: *const c_char, outputFile: *const c_char, outputMode: CUoutput_mode);
            cuProfilerStart = "cuProfilerStart" since 4000 ();
            cuProfilerStop = "cuProfilerStop" since 4000 ();
            // OpenGL Interoperability
            cuGraphicsGLRegisterBuffer = "cuGraphicsGLRegisterBuffer" since 3000 (pCudaResource: *mut CUgraphicsResource, buffer: GLuint, Flags: c_uint);
            cuGraphicsGLRegisterImage = "cuGraphicsGLRegisterImage" since 3000 (pCudaResource: *mut CUgraphicsResource, image: GLuint, target: GLenum, Flags: c_uint);
            cuGLGetDevices = "cuGLGetDevices_v2" since 6050 (pCudaDeviceCount: *mut c_uint, pCudaDevices: *mut CUdevice, cudaDeviceCount: c_uint, deviceList: CUGLDeviceList);
            cuGLCtxCreate = "cuGLCtxCreate_v2" since 3020 (pCtx: *mut CUcontext, Flags: c_uint, device: CUdevice);
            cuGLInit = "cuGLInit" since 2000 ();
            cuGLRegisterBufferObject = "cuGLRegisterBufferObject" since 2000 (buffer: GLuint);
            cuGLMapBufferObject = "cuGLMapBufferObject_v2" since 3020 (dptr: *mut CUdeviceptr, size: *mut usize, buffer: GLuint);
            cuGLUnmapBufferObject = "cuGLUnmapBufferObject" since 2000 (buffer: GLuint);
            cuGLUnregisterBufferObject = "cuGLUnregisterBufferObject" since 2000 (buffer: GLuint);
            cuGLSetBufferObjectMapFlags = "cuGLSetBufferObjectMapFlags" since 2030 (buffer: GLuint, Flags: c_uint);
            cuGLMapBufferObjectAsync = "cuGLMapBufferObjectAsync_v2" since 3020 (dptr: *mut CUdeviceptr, size: *mut usize, buffer: GLuint, hStream: CUstream);
            cuGLUnmapBufferObjectAsync = "cuGLUnmapBufferObjectAsync" since 2030 (buffer: GLuint, hStream: CUstream);
            // Earlier forms of functions whose signature changed
            cuCtxGetDevice_v2 = "cuCtxGetDevice_v2" since 13000 (device: *mut CUdevice, ctx: CUcontext);
            cuCtxSynchronize_v2 = "cuCtxSynchronize_v2" since 13000 (ctx: CUcontext);
            cuCtxCreate_v2 = "cuCtxCreate_v2" since 3020 (pctx: *mut CUcontext, flags: c_uint, dev: CUdevice);
            cuCtxCreate_v3 = "cuCtxCreate_v3" since 11040 (pctx: *mut CUcontext, paramsArray: *mut CUexecAffinityParam, numParams: c_int, flags: c_uint, dev: CUdevice);
            cuStreamGetCaptureInfo_v2 = "cuStreamGetCaptureInfo_v2" since 11030 (hStream: CUstream, captureStatus_out: *mut CUstreamCaptureStatus, id_out: *mut u64, graph_out: *mut CUgraph, dependencies_out: *mut *const CUgraphNode, numDependencies_out: *mut usize);
            cuStreamUpdateCaptureDependencies_v1 = "cuStreamUpdateCaptureDependencies" since 11030 (hStream: CUstream, dependencies: *mut CUgraphNode, numDependencies: usize, flags: c_uint);
            cuMemPrefetchAsync_v1 = "cuMemPrefetchAsync" since 8000 (devPtr: CUdeviceptr, count: usize, dstDevice: CUdevice, hStream: CUstream);
            cuMemAdvise_v1 = "cuMemAdvise" since 8000 (devPtr: CUdeviceptr, count: usize, advice: CUmem_advise, device: CUdevice);
            cuGraphGetEdges_v1 = "cuGraphGetEdges" since 10000 (hGraph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, numEdges: *mut usize);
            cuGraphNodeGetDependencies_v1 = "cuGraphNodeGetDependencies" since 10000 (hNode: CUgraphNode, dependencies: *mut CUgraphNode, numDependencies: *mut usize);
            cuGraphNodeGetDependentNodes_v1 = "cuGraphNodeGetDependentNodes" since 10000 (hNode: CUgraphNode, dependentNodes: *mut CUgraphNode, numDependentNodes: *mut usize);
            cuGraphAddDependencies_v1 = "cuGraphAddDependencies" since 10000 (hGraph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, numDependencies: usize);
            cuGraphRemoveDependencies_v1 = "cuGraphRemoveDependencies" since 10000 (hGraph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, numDependencies: usize);
            cuGraphExecUpdate_v1 = "cuGraphExecUpdate" since 10020 (hGraphExec: CUgraphExec, hGraph: CUgraph, hErrorNode_out: *mut CUgraphNode, updateResult_out: *mut CUgraphExecUpdateResult);
            cuGraphAddNode_v1 = "cuGraphAddNode" since 12020 (phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *mut CUgraphNodeParams);
        }
    };
}
