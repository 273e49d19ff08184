//! Legacy versions of functions, where they differ from the declaration list:
//! the same arguments under an older symbol, or other arguments.
//!
//! `cuCtxCreate` of CUDA 2 is among them although contexts of that time had 32-bit pointers: it
//! makes an ordinary context, which is what small programs that look it up by name want. The
//! functions with 32-bit pointers and sizes are in `unsupported`.

use crate::exported_driver_table;
use crate::symbol_version::exported_symbols;
use rtcg_cuda_sys::types::*;

/// The parameters of a kernel node as CUDA 12 has them.
///
/// # Safety
/// `params` is null or valid for reading.
unsafe fn kernel_node_params_from_v1(params: *const CUDA_KERNEL_NODE_PARAMS_v1) -> Option<CUDA_KERNEL_NODE_PARAMS> {
    if params.is_null() {
        return None;
    }
    // SAFETY: not null, so valid by this function's contract.
    let old = unsafe { params.read_unaligned() };
    Some(CUDA_KERNEL_NODE_PARAMS {
        func: old.func,
        gridDimX: old.gridDimX,
        gridDimY: old.gridDimY,
        gridDimZ: old.gridDimZ,
        blockDimX: old.blockDimX,
        blockDimY: old.blockDimY,
        blockDimZ: old.blockDimZ,
        sharedMemBytes: old.sharedMemBytes,
        kernelParams: old.kernelParams,
        extra: old.extra,
        kern: CUkernel::null(),
        ctx: CUcontext::null(),
    })
}

/// A pointer to the value, null for none.
fn option_as_ptr<T>(value: &Option<T>) -> *const T {
    value.as_ref().map_or(std::ptr::null(), std::ptr::from_ref)
}

/// Makes a graph executable; the node and log of an error stay empty.
///
/// # Safety
/// As for `cuGraphInstantiate`.
unsafe fn instantiate_graph(
    exec: *mut CUgraphExec,
    graph: CUgraph,
    error_node: *mut CUgraphNode,
    log: *mut c_char,
    log_bytes: usize,
) -> CUresult {
    if !error_node.is_null() {
        // SAFETY: not null, so valid for writing by the caller's promise.
        unsafe { error_node.write_unaligned(CUgraphNode::null()) };
    }
    if !log.is_null() && log_bytes > 0 {
        // SAFETY: the caller promises `log_bytes` writable bytes.
        unsafe { log.write(0) };
    }
    // SAFETY: as the caller promises.
    unsafe { exported_driver_table().cuGraphInstantiateWithFlags(exec, graph, 0) }
}

/// Says which operation of a batch failed, if it was one. A batch in the null stream is refused before that.
///
/// # Safety
/// `place` is null or valid for writing.
unsafe fn set_failed_index(place: *mut usize, stream: CUstream, outcome: CUresult) -> CUresult {
    if !stream.is_null() && !place.is_null() {
        let failed = if outcome.is_success() { None } else { rtcg_vgpu::failed_batch_index() };
        // SAFETY: not null, so valid by this function's contract.
        unsafe { place.write_unaligned(failed.unwrap_or(usize::MAX)) };
    }
    outcome
}

exported_symbols! { Legacy:
    cuDeviceGetUuid = "cuDeviceGetUuid" since 9020 (uuid: *mut CUuuid, dev: CUdevice) { exported_driver_table().cuDeviceGetUuid(uuid, dev) }
    cuDevicePrimaryCtxRelease = "cuDevicePrimaryCtxRelease" since 7000 (dev: CUdevice) { exported_driver_table().cuDevicePrimaryCtxRelease(dev) }
    cuDevicePrimaryCtxReset = "cuDevicePrimaryCtxReset" since 7000 (dev: CUdevice) { exported_driver_table().cuDevicePrimaryCtxReset(dev) }
    cuDevicePrimaryCtxSetFlags = "cuDevicePrimaryCtxSetFlags" since 7000 (dev: CUdevice, flags: c_uint) {
        exported_driver_table().cuDevicePrimaryCtxSetFlags(dev, flags)
    }
    cuCtxCreate = "cuCtxCreate" since 2000 (pctx: *mut CUcontext, flags: c_uint, dev: CUdevice) { exported_driver_table().cuCtxCreate_v2(pctx, flags, dev) }
    cuCtxDestroy = "cuCtxDestroy" since 2000 (ctx: CUcontext) { exported_driver_table().cuCtxDestroy(ctx) }
    cuCtxPopCurrent = "cuCtxPopCurrent" since 2000 (pctx: *mut CUcontext) { exported_driver_table().cuCtxPopCurrent(pctx) }
    cuCtxPushCurrent = "cuCtxPushCurrent" since 2000 (ctx: CUcontext) { exported_driver_table().cuCtxPushCurrent(ctx) }
    cuStreamDestroy = "cuStreamDestroy" since 2000 (hStream: CUstream) { exported_driver_table().cuStreamDestroy(hStream) }
    cuEventDestroy = "cuEventDestroy" since 2000 (hEvent: CUevent) { exported_driver_table().cuEventDestroy(hEvent) }
    cuMemHostRegister = "cuMemHostRegister" since 4000 (p: *mut c_void, bytesize: usize, Flags: c_uint) {
        exported_driver_table().cuMemHostRegister(p, bytesize, Flags)
    }
    cuIpcOpenMemHandle = "cuIpcOpenMemHandle" since 4010 (pdptr: *mut CUdeviceptr, handle: CUipcMemHandle, Flags: c_uint) {
        exported_driver_table().cuIpcOpenMemHandle(pdptr, handle, Flags)
    }
    cuLinkCreate = "cuLinkCreate" since 5050 (numOptions: c_uint, options: *mut CUjit_option, optionValues: *mut *mut c_void, stateOut: *mut CUlinkState) {
        exported_driver_table().cuLinkCreate(numOptions, options, optionValues, stateOut)
    }
    cuLinkAddData = "cuLinkAddData" since 5050 (state: CUlinkState, type_: CUjitInputType, data: *mut c_void, size: usize, name: *const c_char, numOptions: c_uint, options: *mut CUjit_option, optionValues: *mut *mut c_void) {
        exported_driver_table().cuLinkAddData(state, type_, data, size, name, numOptions, options, optionValues)
    }
    cuLinkAddFile = "cuLinkAddFile" since 5050 (state: CUlinkState, type_: CUjitInputType, path: *const c_char, numOptions: c_uint, options: *mut CUjit_option, optionValues: *mut *mut c_void) {
        exported_driver_table().cuLinkAddFile(state, type_, path, numOptions, options, optionValues)
    }
    cuTexRefSetAddress2D_v2 = "cuTexRefSetAddress2D" since 3020 (hTexRef: CUtexref, desc: *const CUDA_ARRAY_DESCRIPTOR, dptr: CUdeviceptr, Pitch: usize) {
        exported_driver_table().cuTexRefSetAddress2D(hTexRef, desc, dptr, Pitch)
    }
    cuGraphicsResourceSetMapFlags = "cuGraphicsResourceSetMapFlags" since 3000 (resource: CUgraphicsResource, flags: c_uint) {
        exported_driver_table().cuGraphicsResourceSetMapFlags(resource, flags)
    }
    cuGLGetDevices = "cuGLGetDevices" since 4010 (pCudaDeviceCount: *mut c_uint, pCudaDevices: *mut CUdevice, cudaDeviceCount: c_uint, deviceList: CUGLDeviceList) {
        exported_driver_table().cuGLGetDevices(pCudaDeviceCount, pCudaDevices, cudaDeviceCount, deviceList)
    }
    cuGLCtxCreate = "cuGLCtxCreate" since 2000 (pCtx: *mut CUcontext, Flags: c_uint, device: CUdevice) { exported_driver_table().cuGLCtxCreate(pCtx, Flags, device) }
    cuMemcpyBatchAsync = "cuMemcpyBatchAsync" since 12080 (dsts: *mut CUdeviceptr, srcs: *mut CUdeviceptr, sizes: *mut usize, count: usize, attrs: *mut CUmemcpyAttributes, attrsIdxs: *mut usize, numAttrs: usize, failIdx: *mut usize, hStream: CUstream) {
        set_failed_index(failIdx, hStream, exported_driver_table().cuMemcpyBatchAsync(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, hStream))
    }
    cuMemcpy3DBatchAsync = "cuMemcpy3DBatchAsync" since 12080 (numOps: usize, opList: *mut CUDA_MEMCPY3D_BATCH_OP, failIdx: *mut usize, flags: u64, hStream: CUstream) {
        set_failed_index(failIdx, hStream, exported_driver_table().cuMemcpy3DBatchAsync(numOps, opList, flags, hStream))
    }
    cuStreamWaitValue32 = "cuStreamWaitValue32" since 8000 (stream: CUstream, addr: CUdeviceptr, value: u32, flags: c_uint) {
        exported_driver_table().cuStreamWaitValue32(stream, addr, value, flags)
    }
    cuStreamWaitValue64 = "cuStreamWaitValue64" since 9000 (stream: CUstream, addr: CUdeviceptr, value: u64, flags: c_uint) {
        exported_driver_table().cuStreamWaitValue64(stream, addr, value, flags)
    }
    cuStreamWriteValue32 = "cuStreamWriteValue32" since 8000 (stream: CUstream, addr: CUdeviceptr, value: u32, flags: c_uint) {
        exported_driver_table().cuStreamWriteValue32(stream, addr, value, flags)
    }
    cuStreamWriteValue64 = "cuStreamWriteValue64" since 9000 (stream: CUstream, addr: CUdeviceptr, value: u64, flags: c_uint) {
        exported_driver_table().cuStreamWriteValue64(stream, addr, value, flags)
    }
    cuStreamBatchMemOp = "cuStreamBatchMemOp" since 8000 (stream: CUstream, count: c_uint, paramArray: *mut CUstreamBatchMemOpParams, flags: c_uint) {
        exported_driver_table().cuStreamBatchMemOp(stream, count, paramArray, flags)
    }
    cuStreamBeginCapture = "cuStreamBeginCapture" since 10000 (hStream: CUstream) {
        exported_driver_table().cuStreamBeginCapture(hStream, CU_STREAM_CAPTURE_MODE_GLOBAL)
    }
    cuStreamGetCaptureInfo = "cuStreamGetCaptureInfo" since 10010 (hStream: CUstream, captureStatus_out: *mut CUstreamCaptureStatus, id_out: *mut u64) {
        let (graph, nodes, count) = (std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut());
        exported_driver_table().cuStreamGetCaptureInfo_v2(hStream, captureStatus_out, id_out, graph, nodes, count)
    }
    cuGraphInstantiate = "cuGraphInstantiate" since 10000 (phGraphExec: *mut CUgraphExec, hGraph: CUgraph, phErrorNode: *mut CUgraphNode, logBuffer: *mut c_char, bufferSize: usize) {
        instantiate_graph(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize)
    }
    cuGraphInstantiate_v2 = "cuGraphInstantiate" since 11000 (phGraphExec: *mut CUgraphExec, hGraph: CUgraph, phErrorNode: *mut CUgraphNode, logBuffer: *mut c_char, bufferSize: usize) {
        instantiate_graph(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize)
    }
    cuGraphAddKernelNode = "cuGraphAddKernelNode" since 10000 (phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *const CUDA_KERNEL_NODE_PARAMS_v1) {
        exported_driver_table().cuGraphAddKernelNode(phGraphNode, hGraph, dependencies, numDependencies, option_as_ptr(&kernel_node_params_from_v1(nodeParams)))
    }
    cuGraphKernelNodeGetParams = "cuGraphKernelNodeGetParams" since 10000 (hNode: CUgraphNode, nodeParams: *mut CUDA_KERNEL_NODE_PARAMS_v1) {
        if nodeParams.is_null() {
            return CUresult::CUDA_ERROR_INVALID_VALUE;
        }
        let mut new = CUDA_KERNEL_NODE_PARAMS::default();
        let outcome = exported_driver_table().cuGraphKernelNodeGetParams(hNode, &raw mut new);
        if outcome.is_success() {
            nodeParams.write_unaligned(CUDA_KERNEL_NODE_PARAMS_v1 {
                func: new.func,
                gridDimX: new.gridDimX,
                gridDimY: new.gridDimY,
                gridDimZ: new.gridDimZ,
                blockDimX: new.blockDimX,
                blockDimY: new.blockDimY,
                blockDimZ: new.blockDimZ,
                sharedMemBytes: new.sharedMemBytes,
                kernelParams: new.kernelParams,
                extra: new.extra,
            });
        }
        outcome
    }
    cuGraphKernelNodeSetParams = "cuGraphKernelNodeSetParams" since 10000 (hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS_v1) {
        exported_driver_table().cuGraphKernelNodeSetParams(hNode, option_as_ptr(&kernel_node_params_from_v1(nodeParams)))
    }
    cuGraphExecKernelNodeSetParams = "cuGraphExecKernelNodeSetParams" since 10010 (hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS_v1) {
        exported_driver_table().cuGraphExecKernelNodeSetParams(hGraphExec, hNode, option_as_ptr(&kernel_node_params_from_v1(nodeParams)))
    }
}

/// Earlier forms whose null stream is the thread's own.
pub(crate) use per_thread_default_stream::SYMBOLS as PER_THREAD_SYMBOLS;

mod per_thread_default_stream {
    use crate::exported_driver_table;
    use crate::per_thread_stream::per_thread_stream_if_null;
    use crate::symbol_version::exported_symbols;
    use rtcg_cuda_sys::types::*;

    exported_symbols! { PerThread:
        cuMemcpyBatchAsync_ptsz = "cuMemcpyBatchAsync" since 12080 (dsts: *mut CUdeviceptr, srcs: *mut CUdeviceptr, sizes: *mut usize, count: usize, attrs: *mut CUmemcpyAttributes, attrsIdxs: *mut usize, numAttrs: usize, failIdx: *mut usize, hStream: CUstream) {
            super::cuMemcpyBatchAsync(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, failIdx, per_thread_stream_if_null(hStream))
        }
        cuMemcpy3DBatchAsync_ptsz = "cuMemcpy3DBatchAsync" since 12080 (numOps: usize, opList: *mut CUDA_MEMCPY3D_BATCH_OP, failIdx: *mut usize, flags: u64, hStream: CUstream) {
            super::cuMemcpy3DBatchAsync(numOps, opList, failIdx, flags, per_thread_stream_if_null(hStream))
        }
        cuStreamWaitValue32_ptsz = "cuStreamWaitValue32" since 8000 (stream: CUstream, addr: CUdeviceptr, value: u32, flags: c_uint) {
            exported_driver_table().cuStreamWaitValue32(per_thread_stream_if_null(stream), addr, value, flags)
        }
        cuStreamWaitValue64_ptsz = "cuStreamWaitValue64" since 9000 (stream: CUstream, addr: CUdeviceptr, value: u64, flags: c_uint) {
            exported_driver_table().cuStreamWaitValue64(per_thread_stream_if_null(stream), addr, value, flags)
        }
        cuStreamWriteValue32_ptsz = "cuStreamWriteValue32" since 8000 (stream: CUstream, addr: CUdeviceptr, value: u32, flags: c_uint) {
            exported_driver_table().cuStreamWriteValue32(per_thread_stream_if_null(stream), addr, value, flags)
        }
        cuStreamWriteValue64_ptsz = "cuStreamWriteValue64" since 9000 (stream: CUstream, addr: CUdeviceptr, value: u64, flags: c_uint) {
            exported_driver_table().cuStreamWriteValue64(per_thread_stream_if_null(stream), addr, value, flags)
        }
        cuStreamBatchMemOp_ptsz = "cuStreamBatchMemOp" since 8000 (stream: CUstream, count: c_uint, paramArray: *mut CUstreamBatchMemOpParams, flags: c_uint) {
            exported_driver_table().cuStreamBatchMemOp(per_thread_stream_if_null(stream), count, paramArray, flags)
        }
        cuStreamBeginCapture_ptsz = "cuStreamBeginCapture" since 10000 (hStream: CUstream) {
            super::cuStreamBeginCapture(per_thread_stream_if_null(hStream))
        }
        cuStreamGetCaptureInfo_ptsz = "cuStreamGetCaptureInfo" since 10010 (hStream: CUstream, captureStatus_out: *mut CUstreamCaptureStatus, id_out: *mut u64) {
            super::cuStreamGetCaptureInfo(per_thread_stream_if_null(hStream), captureStatus_out, id_out)
        }
    }
}
