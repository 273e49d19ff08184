//! Capturing streams.

use rtcg_vgpu_abi::IgnorePoison;
use std::cell::RefCell;
use std::ffi::c_uint;

use rtcg_cuda_sys::*;

use super::graph::{graph_from_handle, node_handles};
use super::{Handle, driver_functions, write_out, write_out_if_not_null};
use crate::driver::stream_and_context;
use crate::graph::{Graph, capture};
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};

thread_local! {
    /// What the last question about a capture returned; the caller gets its address, which is good
    /// until the next one.
    static DEPENDENCIES_RESULT: RefCell<Vec<CUgraphNode>> = const { RefCell::new(Vec::new()) };
    /// The data of their edges, which are ordinary ones.
    static EDGES_RESULT: RefCell<Vec<CUgraphEdgeData>> = const { RefCell::new(Vec::new()) };
}

/// Where `cuStreamGetCaptureInfo` writes; any but the first may be null.
struct CaptureInfoOut {
    status: *mut CUstreamCaptureStatus,
    id: *mut u64,
    graph: *mut CUgraph,
    dependencies: *mut *const CUgraphNode,
    edges: *mut *const CUgraphEdgeData,
    n: *mut usize,
}

/// # Safety
/// Each place is null or valid.
unsafe fn write_capture_info(stream: CUstream, places: &CaptureInfoOut) -> Res {
    use CUstreamCaptureStatus as S;
    let (_, stream) = match stream.handle_number() {
        // Asking for the legacy stream leaves the capture that it would wait for as it is.
        handle @ ..=1 => {
            let context = crate::stream::context::current()?;
            ensure(!capture::legacy_stream_waits_for_capture(&context), ResultCode::STREAM_CAPTURE_IMPLICIT)?;
            let stream = crate::driver::stream_from_handle(&context, handle)?;
            (context, stream)
        }
        handle => stream_and_context(handle)?,
    };
    // SAFETY: this function's contract.
    unsafe {
        write_out_if_not_null(places.edges, std::ptr::null());
        let Some(captured) = capture::capture_of_stream(&stream) else {
            return write_out(places.status, S::CU_STREAM_CAPTURE_STATUS_NONE);
        };
        write_out_if_not_null(places.id, captured.capture.id);
        if captured.capture.is_invalid() {
            return write_out(places.status, S::CU_STREAM_CAPTURE_STATUS_INVALIDATED);
        }
        write_out_if_not_null(places.graph, CUgraph::from_handle_number(captured.capture.graph().handle));
        write_out_if_not_null(places.n, captured.after.len());
        let start = DEPENDENCIES_RESULT.with_borrow_mut(|answer| {
            *answer = captured.after.iter().map(|&n| CUgraphNode::from_handle_number(n)).collect();
            answer.as_ptr()
        });
        write_out_if_not_null(places.dependencies, start);
        let edges = EDGES_RESULT.with_borrow_mut(|answer| {
            *answer = vec![CUgraphEdgeData::default(); captured.after.len()];
            answer.as_ptr()
        });
        write_out_if_not_null(places.edges, edges);
        write_out(places.status, S::CU_STREAM_CAPTURE_STATUS_ACTIVE)
    }
}

/// # Safety
/// `dependencies` has `n` elements.
unsafe fn update_dependencies(stream: CUstream, dependencies: *const CUgraphNode, n: usize, flags: c_uint) -> Res {
    ensure(flags <= 1, ResultCode::INVALID_VALUE)?;
    let (_, stream) = stream_and_context(stream.handle_number())?;
    // SAFETY: this function's contract.
    let nodes = unsafe { node_handles(dependencies, n) }?;
    let mut slot = stream.capture.lock().ignore_poison();
    let captured = slot.as_mut().ok_or(ResultCode::ILLEGAL_STATE)?;
    let known = {
        let graph = captured.capture.graph();
        let parts = graph.lock_contents();
        nodes.iter().all(|n| parts.nodes.iter().any(|m| m.handle == *n))
    };
    ensure(known, ResultCode::INVALID_VALUE)?;
    if flags == 1 {
        captured.after.clear();
    }
    for node in nodes {
        if !captured.after.contains(&node) {
            captured.after.push(node);
        }
    }
    Ok(())
}

driver_functions! {
    fn cuStreamBeginCapture(hStream: CUstream, mode: CUstreamCaptureMode) {
        let (context, stream) = stream_and_context(hStream.handle_number())?;
        ensure(capture::capture_of_stream(&stream).is_none(), ResultCode::ILLEGAL_STATE)?;
        let graph = Graph::create_graph()?;
        capture::begin_capture(&context, &stream, graph.clone(), Vec::new(), mode.0).inspect_err(|_| graph.destroy_handles())
    }

    fn cuStreamBeginCaptureToGraph(hStream: CUstream, hGraph: CUgraph, dependencies: *const CUgraphNode, dependencyData: *const CUgraphEdgeData, numDependencies: usize, mode: CUstreamCaptureMode) {
        let _ = dependencyData;
        let (context, stream) = stream_and_context(hStream.handle_number())?;
        capture::begin_capture(&context, &stream, graph_from_handle(hGraph)?, node_handles(dependencies, numDependencies)?, mode.0)
    }

    fn cuStreamEndCapture(hStream: CUstream, phGraph: *mut CUgraph) {
        write_out_if_not_null(phGraph, CUgraph::null());
        let (_, stream) = stream_and_context(hStream.handle_number())?;
        // Without a place for it, the graph is lost to whoever does not know it.
        write_out_if_not_null(phGraph, CUgraph::from_handle_number(capture::end_capture(&stream)?.handle));
        Ok(())
    }

    fn cuThreadExchangeStreamCaptureMode(mode: *mut CUstreamCaptureMode) {
        ensure(!mode.is_null(), ResultCode::INVALID_VALUE)?;
        write_out(mode, CUstreamCaptureMode(capture::exchange_capture_mode(mode.read_unaligned().0)))
    }

    fn cuStreamIsCapturing(hStream: CUstream, captureStatus: *mut CUstreamCaptureStatus) {
        let null = std::ptr::null_mut::<usize>();
        write_capture_info(hStream, &CaptureInfoOut { status: captureStatus, id: null.cast(), graph: null.cast(), dependencies: null.cast(), edges: null.cast(), n: null })
    }

    fn cuStreamGetCaptureInfo(hStream: CUstream, captureStatus_out: *mut CUstreamCaptureStatus, id_out: *mut u64, graph_out: *mut CUgraph, dependencies_out: *mut *const CUgraphNode, edgeData_out: *mut *const CUgraphEdgeData, numDependencies_out: *mut usize) {
        write_capture_info(hStream, &CaptureInfoOut { status: captureStatus_out, id: id_out, graph: graph_out, dependencies: dependencies_out, edges: edgeData_out, n: numDependencies_out })
    }

    fn cuStreamGetCaptureInfo_v2(hStream: CUstream, captureStatus_out: *mut CUstreamCaptureStatus, id_out: *mut u64, graph_out: *mut CUgraph, dependencies_out: *mut *const CUgraphNode, numDependencies_out: *mut usize) {
        write_capture_info(hStream, &CaptureInfoOut { status: captureStatus_out, id: id_out, graph: graph_out, dependencies: dependencies_out, edges: std::ptr::null_mut(), n: numDependencies_out })
    }

    fn cuStreamUpdateCaptureDependencies(hStream: CUstream, dependencies: *mut CUgraphNode, dependencyData: *const CUgraphEdgeData, numDependencies: usize, flags: c_uint) {
        let _ = dependencyData;
        update_dependencies(hStream, dependencies, numDependencies, flags)
    }

    fn cuStreamUpdateCaptureDependencies_v1(hStream: CUstream, dependencies: *mut CUgraphNode, numDependencies: usize, flags: c_uint) {
        update_dependencies(hStream, dependencies, numDependencies, flags)
    }
}
