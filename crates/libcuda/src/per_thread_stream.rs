//! The forms whose null stream is the calling thread's own default stream (`_ptsz`, `_ptds`),
//! which programs built with `--default-stream per-thread` call.
//!
//! They hand the work to the plain forms with that stream's handle in place of null.

use crate::exported_driver_table;
use crate::symbol_version::exported_symbols;
use rtcg_cuda_sys::types::*;

/// The handle of the calling thread's own default stream.
pub(crate) const CU_STREAM_PER_THREAD: CUstream = CUstream(std::ptr::without_provenance_mut(2));

/// The stream that a handle means here.
pub(crate) fn per_thread_stream_if_null(stream: CUstream) -> CUstream {
    if stream.is_null() { CU_STREAM_PER_THREAD } else { stream }
}

/// The result of asynchronous work in the thread's own stream, once that is done.
fn synchronize_per_thread_stream(submitted: CUresult) -> CUresult {
    if !submitted.is_success() {
        return submitted;
    }
    // SAFETY: takes no pointer.
    unsafe { exported_driver_table().cuStreamSynchronize(CU_STREAM_PER_THREAD) }
}

/// Synchronous work that has no asynchronous form: it runs in the legacy stream after what the
/// thread's own stream holds.
fn run_after_per_thread_stream(work: impl FnOnce() -> CUresult) -> CUresult {
    // SAFETY: takes no pointer.
    let outcome = unsafe { exported_driver_table().cuStreamSynchronize(CU_STREAM_PER_THREAD) };
    if outcome.is_success() { work() } else { outcome }
}

/// Calls with a launch's configuration in which the null stream is replaced.
///
/// # Safety
/// `config` is null or valid for reading.
unsafe fn call_with_per_thread_stream(
    config: *const CUlaunchConfig,
    call: impl FnOnce(*const CUlaunchConfig) -> CUresult,
) -> CUresult {
    if config.is_null() {
        return call(config);
    }
    // SAFETY: not null, so valid by this function's contract.
    let mut config = unsafe { config.read_unaligned() };
    config.hStream = per_thread_stream_if_null(config.hStream);
    call(&raw const config)
}

exported_symbols! { PerThread:
    cuMemcpy_ptds = "cuMemcpy" since 7000 (dst: CUdeviceptr, src: CUdeviceptr, ByteCount: usize) { synchronize_per_thread_stream(exported_driver_table().cuMemcpyAsync(dst, src, ByteCount, CU_STREAM_PER_THREAD)) }
    cuMemcpyPeer_ptds = "cuMemcpyPeer" since 7000 (dstDevice: CUdeviceptr, dstContext: CUcontext, srcDevice: CUdeviceptr, srcContext: CUcontext, ByteCount: usize) { synchronize_per_thread_stream(exported_driver_table().cuMemcpyPeerAsync(dstDevice, dstContext, srcDevice, srcContext, ByteCount, CU_STREAM_PER_THREAD)) }
    cuMemcpyHtoD_v2_ptds = "cuMemcpyHtoD" since 7000 (dstDevice: CUdeviceptr, srcHost: *const c_void, ByteCount: usize) { synchronize_per_thread_stream(exported_driver_table().cuMemcpyHtoDAsync(dstDevice, srcHost, ByteCount, CU_STREAM_PER_THREAD)) }
    cuMemcpyDtoH_v2_ptds = "cuMemcpyDtoH" since 7000 (dstHost: *mut c_void, srcDevice: CUdeviceptr, ByteCount: usize) { synchronize_per_thread_stream(exported_driver_table().cuMemcpyDtoHAsync(dstHost, srcDevice, ByteCount, CU_STREAM_PER_THREAD)) }
    cuMemcpyDtoD_v2_ptds = "cuMemcpyDtoD" since 7000 (dstDevice: CUdeviceptr, srcDevice: CUdeviceptr, ByteCount: usize) { synchronize_per_thread_stream(exported_driver_table().cuMemcpyDtoDAsync(dstDevice, srcDevice, ByteCount, CU_STREAM_PER_THREAD)) }
    cuMemcpyDtoA_v2_ptds = "cuMemcpyDtoA" since 7000 (dstArray: CUarray, dstOffset: usize, srcDevice: CUdeviceptr, ByteCount: usize) { run_after_per_thread_stream(|| exported_driver_table().cuMemcpyDtoA(dstArray, dstOffset, srcDevice, ByteCount)) }
    cuMemcpyAtoD_v2_ptds = "cuMemcpyAtoD" since 7000 (dstDevice: CUdeviceptr, srcArray: CUarray, srcOffset: usize, ByteCount: usize) { run_after_per_thread_stream(|| exported_driver_table().cuMemcpyAtoD(dstDevice, srcArray, srcOffset, ByteCount)) }
    cuMemcpyHtoA_v2_ptds = "cuMemcpyHtoA" since 7000 (dstArray: CUarray, dstOffset: usize, srcHost: *const c_void, ByteCount: usize) { synchronize_per_thread_stream(exported_driver_table().cuMemcpyHtoAAsync(dstArray, dstOffset, srcHost, ByteCount, CU_STREAM_PER_THREAD)) }
    cuMemcpyAtoH_v2_ptds = "cuMemcpyAtoH" since 7000 (dstHost: *mut c_void, srcArray: CUarray, srcOffset: usize, ByteCount: usize) { synchronize_per_thread_stream(exported_driver_table().cuMemcpyAtoHAsync(dstHost, srcArray, srcOffset, ByteCount, CU_STREAM_PER_THREAD)) }
    cuMemcpyAtoA_v2_ptds = "cuMemcpyAtoA" since 7000 (dstArray: CUarray, dstOffset: usize, srcArray: CUarray, srcOffset: usize, ByteCount: usize) { run_after_per_thread_stream(|| exported_driver_table().cuMemcpyAtoA(dstArray, dstOffset, srcArray, srcOffset, ByteCount)) }
    cuMemcpy2D_v2_ptds = "cuMemcpy2D" since 7000 (pCopy: *const CUDA_MEMCPY2D) { synchronize_per_thread_stream(exported_driver_table().cuMemcpy2DAsync(pCopy, CU_STREAM_PER_THREAD)) }
    cuMemcpy2DUnaligned_v2_ptds = "cuMemcpy2DUnaligned" since 7000 (pCopy: *const CUDA_MEMCPY2D) { synchronize_per_thread_stream(exported_driver_table().cuMemcpy2DAsync(pCopy, CU_STREAM_PER_THREAD)) }
    cuMemcpy3D_v2_ptds = "cuMemcpy3D" since 7000 (pCopy: *const CUDA_MEMCPY3D) { synchronize_per_thread_stream(exported_driver_table().cuMemcpy3DAsync(pCopy, CU_STREAM_PER_THREAD)) }
    cuMemcpy3DPeer_ptds = "cuMemcpy3DPeer" since 7000 (pCopy: *const CUDA_MEMCPY3D_PEER) { synchronize_per_thread_stream(exported_driver_table().cuMemcpy3DPeerAsync(pCopy, CU_STREAM_PER_THREAD)) }
    cuMemsetD8_v2_ptds = "cuMemsetD8" since 7000 (dstDevice: CUdeviceptr, uc: c_uchar, N: usize) { exported_driver_table().cuMemsetD8Async(dstDevice, uc, N, CU_STREAM_PER_THREAD) }
    cuMemsetD16_v2_ptds = "cuMemsetD16" since 7000 (dstDevice: CUdeviceptr, us: c_ushort, N: usize) { exported_driver_table().cuMemsetD16Async(dstDevice, us, N, CU_STREAM_PER_THREAD) }
    cuMemsetD32_v2_ptds = "cuMemsetD32" since 7000 (dstDevice: CUdeviceptr, ui: c_uint, N: usize) { exported_driver_table().cuMemsetD32Async(dstDevice, ui, N, CU_STREAM_PER_THREAD) }
    cuMemsetD2D8_v2_ptds = "cuMemsetD2D8" since 7000 (dstDevice: CUdeviceptr, dstPitch: usize, uc: c_uchar, Width: usize, Height: usize) { exported_driver_table().cuMemsetD2D8Async(dstDevice, dstPitch, uc, Width, Height, CU_STREAM_PER_THREAD) }
    cuMemsetD2D16_v2_ptds = "cuMemsetD2D16" since 7000 (dstDevice: CUdeviceptr, dstPitch: usize, us: c_ushort, Width: usize, Height: usize) { exported_driver_table().cuMemsetD2D16Async(dstDevice, dstPitch, us, Width, Height, CU_STREAM_PER_THREAD) }
    cuMemsetD2D32_v2_ptds = "cuMemsetD2D32" since 7000 (dstDevice: CUdeviceptr, dstPitch: usize, ui: c_uint, Width: usize, Height: usize) { exported_driver_table().cuMemsetD2D32Async(dstDevice, dstPitch, ui, Width, Height, CU_STREAM_PER_THREAD) }
    cuGLMapBufferObject_v2_ptds = "cuGLMapBufferObject" since 7000 (dptr: *mut CUdeviceptr, size: *mut usize, buffer: GLuint) { run_after_per_thread_stream(|| exported_driver_table().cuGLMapBufferObject(dptr, size, buffer)) }
    cuMemcpyAsync_ptsz = "cuMemcpyAsync" since 7000 (dst: CUdeviceptr, src: CUdeviceptr, ByteCount: usize, hStream: CUstream) { exported_driver_table().cuMemcpyAsync(dst, src, ByteCount, per_thread_stream_if_null(hStream)) }
    cuMemcpyPeerAsync_ptsz = "cuMemcpyPeerAsync" since 7000 (dstDevice: CUdeviceptr, dstContext: CUcontext, srcDevice: CUdeviceptr, srcContext: CUcontext, ByteCount: usize, hStream: CUstream) { exported_driver_table().cuMemcpyPeerAsync(dstDevice, dstContext, srcDevice, srcContext, ByteCount, per_thread_stream_if_null(hStream)) }
    cuMemcpyHtoDAsync_v2_ptsz = "cuMemcpyHtoDAsync" since 7000 (dstDevice: CUdeviceptr, srcHost: *const c_void, ByteCount: usize, hStream: CUstream) { exported_driver_table().cuMemcpyHtoDAsync(dstDevice, srcHost, ByteCount, per_thread_stream_if_null(hStream)) }
    cuMemcpyDtoHAsync_v2_ptsz = "cuMemcpyDtoHAsync" since 7000 (dstHost: *mut c_void, srcDevice: CUdeviceptr, ByteCount: usize, hStream: CUstream) { exported_driver_table().cuMemcpyDtoHAsync(dstHost, srcDevice, ByteCount, per_thread_stream_if_null(hStream)) }
    cuMemcpyDtoDAsync_v2_ptsz = "cuMemcpyDtoDAsync" since 7000 (dstDevice: CUdeviceptr, srcDevice: CUdeviceptr, ByteCount: usize, hStream: CUstream) { exported_driver_table().cuMemcpyDtoDAsync(dstDevice, srcDevice, ByteCount, per_thread_stream_if_null(hStream)) }
    cuMemcpyHtoAAsync_v2_ptsz = "cuMemcpyHtoAAsync" since 7000 (dstArray: CUarray, dstOffset: usize, srcHost: *const c_void, ByteCount: usize, hStream: CUstream) { exported_driver_table().cuMemcpyHtoAAsync(dstArray, dstOffset, srcHost, ByteCount, per_thread_stream_if_null(hStream)) }
    cuMemcpyAtoHAsync_v2_ptsz = "cuMemcpyAtoHAsync" since 7000 (dstHost: *mut c_void, srcArray: CUarray, srcOffset: usize, ByteCount: usize, hStream: CUstream) { exported_driver_table().cuMemcpyAtoHAsync(dstHost, srcArray, srcOffset, ByteCount, per_thread_stream_if_null(hStream)) }
    cuMemcpy2DAsync_v2_ptsz = "cuMemcpy2DAsync" since 7000 (pCopy: *const CUDA_MEMCPY2D, hStream: CUstream) { exported_driver_table().cuMemcpy2DAsync(pCopy, per_thread_stream_if_null(hStream)) }
    cuMemcpy3DAsync_v2_ptsz = "cuMemcpy3DAsync" since 7000 (pCopy: *const CUDA_MEMCPY3D, hStream: CUstream) { exported_driver_table().cuMemcpy3DAsync(pCopy, per_thread_stream_if_null(hStream)) }
    cuMemcpy3DPeerAsync_ptsz = "cuMemcpy3DPeerAsync" since 7000 (pCopy: *const CUDA_MEMCPY3D_PEER, hStream: CUstream) { exported_driver_table().cuMemcpy3DPeerAsync(pCopy, per_thread_stream_if_null(hStream)) }
    cuMemcpyBatchAsync_v2_ptsz = "cuMemcpyBatchAsync" since 13000 (dsts: *mut CUdeviceptr, srcs: *mut CUdeviceptr, sizes: *mut usize, count: usize, attrs: *mut CUmemcpyAttributes, attrsIdxs: *mut usize, numAttrs: usize, hStream: CUstream) { exported_driver_table().cuMemcpyBatchAsync(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, per_thread_stream_if_null(hStream)) }
    cuMemcpy3DBatchAsync_v2_ptsz = "cuMemcpy3DBatchAsync" since 13000 (numOps: usize, opList: *mut CUDA_MEMCPY3D_BATCH_OP, flags: u64, hStream: CUstream) { exported_driver_table().cuMemcpy3DBatchAsync(numOps, opList, flags, per_thread_stream_if_null(hStream)) }
    cuMemsetD8Async_ptsz = "cuMemsetD8Async" since 7000 (dstDevice: CUdeviceptr, uc: c_uchar, N: usize, hStream: CUstream) { exported_driver_table().cuMemsetD8Async(dstDevice, uc, N, per_thread_stream_if_null(hStream)) }
    cuMemsetD16Async_ptsz = "cuMemsetD16Async" since 7000 (dstDevice: CUdeviceptr, us: c_ushort, N: usize, hStream: CUstream) { exported_driver_table().cuMemsetD16Async(dstDevice, us, N, per_thread_stream_if_null(hStream)) }
    cuMemsetD32Async_ptsz = "cuMemsetD32Async" since 7000 (dstDevice: CUdeviceptr, ui: c_uint, N: usize, hStream: CUstream) { exported_driver_table().cuMemsetD32Async(dstDevice, ui, N, per_thread_stream_if_null(hStream)) }
    cuMemsetD2D8Async_ptsz = "cuMemsetD2D8Async" since 7000 (dstDevice: CUdeviceptr, dstPitch: usize, uc: c_uchar, Width: usize, Height: usize, hStream: CUstream) { exported_driver_table().cuMemsetD2D8Async(dstDevice, dstPitch, uc, Width, Height, per_thread_stream_if_null(hStream)) }
    cuMemsetD2D16Async_ptsz = "cuMemsetD2D16Async" since 7000 (dstDevice: CUdeviceptr, dstPitch: usize, us: c_ushort, Width: usize, Height: usize, hStream: CUstream) { exported_driver_table().cuMemsetD2D16Async(dstDevice, dstPitch, us, Width, Height, per_thread_stream_if_null(hStream)) }
    cuMemsetD2D32Async_ptsz = "cuMemsetD2D32Async" since 7000 (dstDevice: CUdeviceptr, dstPitch: usize, ui: c_uint, Width: usize, Height: usize, hStream: CUstream) { exported_driver_table().cuMemsetD2D32Async(dstDevice, dstPitch, ui, Width, Height, per_thread_stream_if_null(hStream)) }
    cuMemMapArrayAsync_ptsz = "cuMemMapArrayAsync" since 11010 (mapInfoList: *mut CUarrayMapInfo, count: c_uint, hStream: CUstream) { exported_driver_table().cuMemMapArrayAsync(mapInfoList, count, per_thread_stream_if_null(hStream)) }
    cuMemFreeAsync_ptsz = "cuMemFreeAsync" since 11020 (dptr: CUdeviceptr, hStream: CUstream) { exported_driver_table().cuMemFreeAsync(dptr, per_thread_stream_if_null(hStream)) }
    cuMemAllocAsync_ptsz = "cuMemAllocAsync" since 11020 (dptr: *mut CUdeviceptr, bytesize: usize, hStream: CUstream) { exported_driver_table().cuMemAllocAsync(dptr, bytesize, per_thread_stream_if_null(hStream)) }
    cuMemAllocFromPoolAsync_ptsz = "cuMemAllocFromPoolAsync" since 11020 (dptr: *mut CUdeviceptr, bytesize: usize, pool: CUmemoryPool, hStream: CUstream) { exported_driver_table().cuMemAllocFromPoolAsync(dptr, bytesize, pool, per_thread_stream_if_null(hStream)) }
    cuMemPrefetchAsync_ptsz = "cuMemPrefetchAsync" since 8000 (devPtr: CUdeviceptr, count: usize, dstDevice: CUdevice, hStream: CUstream) { exported_driver_table().cuMemPrefetchAsync_v1(devPtr, count, dstDevice, per_thread_stream_if_null(hStream)) }
    cuMemPrefetchAsync_v2_ptsz = "cuMemPrefetchAsync" since 12020 (devPtr: CUdeviceptr, count: usize, location: CUmemLocation, flags: c_uint, hStream: CUstream) { exported_driver_table().cuMemPrefetchAsync(devPtr, count, location, flags, per_thread_stream_if_null(hStream)) }
    cuMemPrefetchBatchAsync_ptsz = "cuMemPrefetchBatchAsync" since 13000 (dptrs: *mut CUdeviceptr, sizes: *mut usize, count: usize, prefetchLocs: *mut CUmemLocation, prefetchLocIdxs: *mut usize, numPrefetchLocs: usize, flags: u64, hStream: CUstream) { exported_driver_table().cuMemPrefetchBatchAsync(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, per_thread_stream_if_null(hStream)) }
    cuMemDiscardBatchAsync_ptsz = "cuMemDiscardBatchAsync" since 13000 (dptrs: *mut CUdeviceptr, sizes: *mut usize, count: usize, flags: u64, hStream: CUstream) { exported_driver_table().cuMemDiscardBatchAsync(dptrs, sizes, count, flags, per_thread_stream_if_null(hStream)) }
    cuMemDiscardAndPrefetchBatchAsync_ptsz = "cuMemDiscardAndPrefetchBatchAsync" since 13000 (dptrs: *mut CUdeviceptr, sizes: *mut usize, count: usize, prefetchLocs: *mut CUmemLocation, prefetchLocIdxs: *mut usize, numPrefetchLocs: usize, flags: u64, hStream: CUstream) { exported_driver_table().cuMemDiscardAndPrefetchBatchAsync(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, per_thread_stream_if_null(hStream)) }
    cuStreamGetId_ptsz = "cuStreamGetId" since 12000 (hStream: CUstream, streamId: *mut u64) { exported_driver_table().cuStreamGetId(per_thread_stream_if_null(hStream), streamId) }
    cuStreamGetPriority_ptsz = "cuStreamGetPriority" since 7000 (hStream: CUstream, priority: *mut c_int) { exported_driver_table().cuStreamGetPriority(per_thread_stream_if_null(hStream), priority) }
    cuStreamGetFlags_ptsz = "cuStreamGetFlags" since 7000 (hStream: CUstream, flags: *mut c_uint) { exported_driver_table().cuStreamGetFlags(per_thread_stream_if_null(hStream), flags) }
    cuStreamGetCtx_ptsz = "cuStreamGetCtx" since 9020 (hStream: CUstream, pctx: *mut CUcontext) { exported_driver_table().cuStreamGetCtx(per_thread_stream_if_null(hStream), pctx) }
    cuStreamWaitEvent_ptsz = "cuStreamWaitEvent" since 7000 (hStream: CUstream, hEvent: CUevent, Flags: c_uint) { exported_driver_table().cuStreamWaitEvent(per_thread_stream_if_null(hStream), hEvent, Flags) }
    cuStreamAddCallback_ptsz = "cuStreamAddCallback" since 7000 (hStream: CUstream, callback: CUstreamCallback, userData: *mut c_void, flags: c_uint) { exported_driver_table().cuStreamAddCallback(per_thread_stream_if_null(hStream), callback, userData, flags) }
    cuStreamBeginCapture_v2_ptsz = "cuStreamBeginCapture" since 10010 (hStream: CUstream, mode: CUstreamCaptureMode) { exported_driver_table().cuStreamBeginCapture(per_thread_stream_if_null(hStream), mode) }
    cuStreamBeginCaptureToGraph_ptsz = "cuStreamBeginCaptureToGraph" since 12030 (hStream: CUstream, hGraph: CUgraph, dependencies: *const CUgraphNode, dependencyData: *const CUgraphEdgeData, numDependencies: usize, mode: CUstreamCaptureMode) { exported_driver_table().cuStreamBeginCaptureToGraph(per_thread_stream_if_null(hStream), hGraph, dependencies, dependencyData, numDependencies, mode) }
    cuStreamEndCapture_ptsz = "cuStreamEndCapture" since 10000 (hStream: CUstream, phGraph: *mut CUgraph) { exported_driver_table().cuStreamEndCapture(per_thread_stream_if_null(hStream), phGraph) }
    cuStreamIsCapturing_ptsz = "cuStreamIsCapturing" since 10000 (hStream: CUstream, captureStatus: *mut CUstreamCaptureStatus) { exported_driver_table().cuStreamIsCapturing(per_thread_stream_if_null(hStream), captureStatus) }
    cuStreamGetCaptureInfo_v2_ptsz = "cuStreamGetCaptureInfo" since 11030 (hStream: CUstream, captureStatus_out: *mut CUstreamCaptureStatus, id_out: *mut u64, graph_out: *mut CUgraph, dependencies_out: *mut *const CUgraphNode, numDependencies_out: *mut usize) { exported_driver_table().cuStreamGetCaptureInfo_v2(per_thread_stream_if_null(hStream), captureStatus_out, id_out, graph_out, dependencies_out, numDependencies_out) }
    cuStreamGetCaptureInfo_v3_ptsz = "cuStreamGetCaptureInfo" since 12030 (hStream: CUstream, captureStatus_out: *mut CUstreamCaptureStatus, id_out: *mut u64, graph_out: *mut CUgraph, dependencies_out: *mut *const CUgraphNode, edgeData_out: *mut *const CUgraphEdgeData, numDependencies_out: *mut usize) { exported_driver_table().cuStreamGetCaptureInfo(per_thread_stream_if_null(hStream), captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out, numDependencies_out) }
    cuStreamUpdateCaptureDependencies_ptsz = "cuStreamUpdateCaptureDependencies" since 11030 (hStream: CUstream, dependencies: *mut CUgraphNode, numDependencies: usize, flags: c_uint) { exported_driver_table().cuStreamUpdateCaptureDependencies_v1(per_thread_stream_if_null(hStream), dependencies, numDependencies, flags) }
    cuStreamUpdateCaptureDependencies_v2_ptsz = "cuStreamUpdateCaptureDependencies" since 12030 (hStream: CUstream, dependencies: *mut CUgraphNode, dependencyData: *const CUgraphEdgeData, numDependencies: usize, flags: c_uint) { exported_driver_table().cuStreamUpdateCaptureDependencies(per_thread_stream_if_null(hStream), dependencies, dependencyData, numDependencies, flags) }
    cuStreamAttachMemAsync_ptsz = "cuStreamAttachMemAsync" since 7000 (hStream: CUstream, dptr: CUdeviceptr, length: usize, flags: c_uint) { exported_driver_table().cuStreamAttachMemAsync(per_thread_stream_if_null(hStream), dptr, length, flags) }
    cuStreamQuery_ptsz = "cuStreamQuery" since 7000 (hStream: CUstream) { exported_driver_table().cuStreamQuery(per_thread_stream_if_null(hStream)) }
    cuStreamSynchronize_ptsz = "cuStreamSynchronize" since 7000 (hStream: CUstream) { exported_driver_table().cuStreamSynchronize(per_thread_stream_if_null(hStream)) }
    cuStreamCopyAttributes_ptsz = "cuStreamCopyAttributes" since 11000 (dst: CUstream, src: CUstream) { exported_driver_table().cuStreamCopyAttributes(per_thread_stream_if_null(dst), per_thread_stream_if_null(src)) }
    cuStreamGetAttribute_ptsz = "cuStreamGetAttribute" since 11000 (hStream: CUstream, attr: CUstreamAttrID, value_out: *mut CUstreamAttrValue) { exported_driver_table().cuStreamGetAttribute(per_thread_stream_if_null(hStream), attr, value_out) }
    cuStreamSetAttribute_ptsz = "cuStreamSetAttribute" since 11000 (hStream: CUstream, attr: CUstreamAttrID, value: *const CUstreamAttrValue) { exported_driver_table().cuStreamSetAttribute(per_thread_stream_if_null(hStream), attr, value) }
    cuEventRecord_ptsz = "cuEventRecord" since 7000 (hEvent: CUevent, hStream: CUstream) { exported_driver_table().cuEventRecord(hEvent, per_thread_stream_if_null(hStream)) }
    cuEventRecordWithFlags_ptsz = "cuEventRecordWithFlags" since 11010 (hEvent: CUevent, hStream: CUstream, flags: c_uint) { exported_driver_table().cuEventRecordWithFlags(hEvent, per_thread_stream_if_null(hStream), flags) }
    cuSignalExternalSemaphoresAsync_ptsz = "cuSignalExternalSemaphoresAsync" since 10000 (extSemArray: *const CUexternalSemaphore, paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS, numExtSems: c_uint, stream: CUstream) { exported_driver_table().cuSignalExternalSemaphoresAsync(extSemArray, paramsArray, numExtSems, per_thread_stream_if_null(stream)) }
    cuWaitExternalSemaphoresAsync_ptsz = "cuWaitExternalSemaphoresAsync" since 10000 (extSemArray: *const CUexternalSemaphore, paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS, numExtSems: c_uint, stream: CUstream) { exported_driver_table().cuWaitExternalSemaphoresAsync(extSemArray, paramsArray, numExtSems, per_thread_stream_if_null(stream)) }
    cuStreamWaitValue32_v2_ptsz = "cuStreamWaitValue32" since 11070 (stream: CUstream, addr: CUdeviceptr, value: u32, flags: c_uint) { exported_driver_table().cuStreamWaitValue32(per_thread_stream_if_null(stream), addr, value, flags) }
    cuStreamWaitValue64_v2_ptsz = "cuStreamWaitValue64" since 11070 (stream: CUstream, addr: CUdeviceptr, value: u64, flags: c_uint) { exported_driver_table().cuStreamWaitValue64(per_thread_stream_if_null(stream), addr, value, flags) }
    cuStreamWriteValue32_v2_ptsz = "cuStreamWriteValue32" since 11070 (stream: CUstream, addr: CUdeviceptr, value: u32, flags: c_uint) { exported_driver_table().cuStreamWriteValue32(per_thread_stream_if_null(stream), addr, value, flags) }
    cuStreamWriteValue64_v2_ptsz = "cuStreamWriteValue64" since 11070 (stream: CUstream, addr: CUdeviceptr, value: u64, flags: c_uint) { exported_driver_table().cuStreamWriteValue64(per_thread_stream_if_null(stream), addr, value, flags) }
    cuStreamBatchMemOp_v2_ptsz = "cuStreamBatchMemOp" since 11070 (stream: CUstream, count: c_uint, paramArray: *mut CUstreamBatchMemOpParams, flags: c_uint) { exported_driver_table().cuStreamBatchMemOp(per_thread_stream_if_null(stream), count, paramArray, flags) }
    cuLaunchKernel_ptsz = "cuLaunchKernel" since 7000 (f: CUfunction, gridDimX: c_uint, gridDimY: c_uint, gridDimZ: c_uint, blockDimX: c_uint, blockDimY: c_uint, blockDimZ: c_uint, sharedMemBytes: c_uint, hStream: CUstream, kernelParams: *mut *mut c_void, extra: *mut *mut c_void) { exported_driver_table().cuLaunchKernel(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, per_thread_stream_if_null(hStream), kernelParams, extra) }
    cuLaunchKernelEx_ptsz = "cuLaunchKernelEx" since 11060 (config: *const CUlaunchConfig, f: CUfunction, kernelParams: *mut *mut c_void, extra: *mut *mut c_void) { call_with_per_thread_stream(config, |config| exported_driver_table().cuLaunchKernelEx(config, f, kernelParams, extra)) }
    cuLaunchCooperativeKernel_ptsz = "cuLaunchCooperativeKernel" since 9000 (f: CUfunction, gridDimX: c_uint, gridDimY: c_uint, gridDimZ: c_uint, blockDimX: c_uint, blockDimY: c_uint, blockDimZ: c_uint, sharedMemBytes: c_uint, hStream: CUstream, kernelParams: *mut *mut c_void) { exported_driver_table().cuLaunchCooperativeKernel(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, per_thread_stream_if_null(hStream), kernelParams) }
    cuLaunchHostFunc_ptsz = "cuLaunchHostFunc" since 10000 (hStream: CUstream, fn_: CUhostFn, userData: *mut c_void) { exported_driver_table().cuLaunchHostFunc(per_thread_stream_if_null(hStream), fn_, userData) }
    cuGraphInstantiateWithParams_ptsz = "cuGraphInstantiateWithParams" since 12000 (phGraphExec: *mut CUgraphExec, hGraph: CUgraph, instantiateParams: *mut CUDA_GRAPH_INSTANTIATE_PARAMS) { exported_driver_table().cuGraphInstantiateWithParams(phGraphExec, hGraph, instantiateParams) }
    cuGraphUpload_ptsz = "cuGraphUpload" since 11010 (hGraphExec: CUgraphExec, hStream: CUstream) { exported_driver_table().cuGraphUpload(hGraphExec, per_thread_stream_if_null(hStream)) }
    cuGraphLaunch_ptsz = "cuGraphLaunch" since 10000 (hGraphExec: CUgraphExec, hStream: CUstream) { exported_driver_table().cuGraphLaunch(hGraphExec, per_thread_stream_if_null(hStream)) }
    cuGraphicsMapResources_ptsz = "cuGraphicsMapResources" since 7000 (count: c_uint, resources: *mut CUgraphicsResource, hStream: CUstream) { exported_driver_table().cuGraphicsMapResources(count, resources, per_thread_stream_if_null(hStream)) }
    cuGraphicsUnmapResources_ptsz = "cuGraphicsUnmapResources" since 7000 (count: c_uint, resources: *mut CUgraphicsResource, hStream: CUstream) { exported_driver_table().cuGraphicsUnmapResources(count, resources, per_thread_stream_if_null(hStream)) }
    cuStreamGetDevice_ptsz = "cuStreamGetDevice" since 12080 (hStream: CUstream, device: *mut CUdevice) { exported_driver_table().cuStreamGetDevice(per_thread_stream_if_null(hStream), device) }
    cuStreamGetCtx_v2_ptsz = "cuStreamGetCtx" since 12050 (hStream: CUstream, pCtx: *mut CUcontext, pGreenCtx: *mut CUgreenCtx) { exported_driver_table().cuStreamGetCtx_v2(per_thread_stream_if_null(hStream), pCtx, pGreenCtx) }
    cuMemBatchDecompressAsync_ptsz = "cuMemBatchDecompressAsync" since 12060 (paramsArray: *mut CUmemDecompressParams, count: usize, flags: c_uint, errorIndex: *mut usize, stream: CUstream) { exported_driver_table().cuMemBatchDecompressAsync(paramsArray, count, flags, errorIndex, per_thread_stream_if_null(stream)) }
    cuGLMapBufferObjectAsync_v2_ptsz = "cuGLMapBufferObjectAsync" since 7000 (dptr: *mut CUdeviceptr, size: *mut usize, buffer: GLuint, hStream: CUstream) { exported_driver_table().cuGLMapBufferObjectAsync(dptr, size, buffer, per_thread_stream_if_null(hStream)) }
}
