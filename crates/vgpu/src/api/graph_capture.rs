//! Capturing streams.

use std::cell::RefCell;
use std::ffi::c_uint;

use rtcg_cuda_sys::*;

use super::graph::{graph, handles_of};
use super::{Handle, driver_functions, write_optional, write_out};
use crate::driver::stream_and_context;
use crate::error::{Code, Res, ensure};
use crate::graph::{Graph, capture};

thread_local! {
    /// What the last question about a capture returned; the caller gets its address, which is good
    /// until the next one.
    static DEPENDENCIES_RESULT: RefCell<Vec<CUgraphNode>> = const { RefCell::new(Vec::new()) };
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
unsafe fn info(stream: CUstream, places: &CaptureInfoOut) -> Res {
    use CUstreamCaptureStatus as S;
    let (_, stream) = match stream.number() {
        // Asking for the legacy stream leaves the capture that it would wait for as it is.
        handle @ ..=1 => {
            let context = crate::context::current()?;
            ensure(!capture::is_waited_for(&context), Code::STREAM_CAPTURE_IMPLICIT)?;
            let stream = crate::driver::stream(&context, handle)?;
            (context, stream)
        }
        handle => stream_and_context(handle)?,
    };
    // SAFETY: this function's contract.
    unsafe {
        write_optional(places.edges, std::ptr::null());
        let Some(captured) = capture::of(&stream) else {
            return write_out(places.status, S::CU_STREAM_CAPTURE_STATUS_NONE);
        };
        write_optional(places.id, captured.capture.id);
        if captured.capture.is_invalid() {
            return write_out(places.status, S::CU_STREAM_CAPTURE_STATUS_INVALIDATED);
        }
        write_optional(places.graph, CUgraph::from_number(captured.capture.graph.handle));
        write_optional(places.n, captured.after.len());
        let start = DEPENDENCIES_RESULT.with_borrow_mut(|answer| {
            *answer = captured.after.iter().map(|&n| CUgraphNode::from_number(n)).collect();
            answer.as_ptr()
        });
        write_optional(places.dependencies, start);
        write_out(places.status, S::CU_STREAM_CAPTURE_STATUS_ACTIVE)
    }
}

/// # Safety
/// `dependencies` has `n` elements.
unsafe fn update(stream: CUstream, dependencies: *const CUgraphNode, n: usize, flags: c_uint) -> Res {
    ensure(flags <= 1, Code::INVALID_VALUE)?;
    let (_, stream) = stream_and_context(stream.number())?;
    // SAFETY: this function's contract.
    let nodes = unsafe { handles_of(dependencies, n) }?;
    let mut slot = crate::objects::lock(&stream.capture);
    let captured = slot.as_mut().ok_or(Code::ILLEGAL_STATE)?;
    let known = {
        let parts = captured.capture.graph.parts();
        nodes.iter().all(|n| parts.nodes.iter().any(|m| m.handle == *n))
    };
    ensure(known, Code::INVALID_VALUE)?;
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
        ensure(hStream.number() > 1, Code::STREAM_CAPTURE_UNSUPPORTED)?;
        let (context, stream) = stream_and_context(hStream.number())?;
        ensure(capture::of(&stream).is_none(), Code::ILLEGAL_STATE)?;
        let graph = Graph::create()?;
        capture::begin(&context, &stream, graph.clone(), Vec::new(), mode.0).inspect_err(|_| graph.destroy())
    }

    fn cuStreamBeginCaptureToGraph(hStream: CUstream, hGraph: CUgraph, dependencies: *const CUgraphNode, dependencyData: *const CUgraphEdgeData, numDependencies: usize, mode: CUstreamCaptureMode) {
        let _ = dependencyData;
        ensure(hStream.number() > 1, Code::STREAM_CAPTURE_UNSUPPORTED)?;
        let (context, stream) = stream_and_context(hStream.number())?;
        capture::begin(&context, &stream, graph(hGraph)?, handles_of(dependencies, numDependencies)?, mode.0)
    }

    fn cuStreamEndCapture(hStream: CUstream, phGraph: *mut CUgraph) {
        write_optional(phGraph, CUgraph::null());
        let (_, stream) = stream_and_context(hStream.number())?;
        // Without a place for it, the graph is lost to whoever does not know it.
        write_optional(phGraph, CUgraph::from_number(capture::end(&stream)?.handle));
        Ok(())
    }

    fn cuThreadExchangeStreamCaptureMode(mode: *mut CUstreamCaptureMode) {
        ensure(!mode.is_null(), Code::INVALID_VALUE)?;
        write_out(mode, CUstreamCaptureMode(capture::exchange_mode(mode.read_unaligned().0)?))
    }

    fn cuStreamIsCapturing(hStream: CUstream, captureStatus: *mut CUstreamCaptureStatus) {
        let null = std::ptr::null_mut::<usize>();
        info(hStream, &CaptureInfoOut { status: captureStatus, id: null.cast(), graph: null.cast(), dependencies: null.cast(), edges: null.cast(), n: null })
    }

    fn cuStreamGetCaptureInfo(hStream: CUstream, captureStatus_out: *mut CUstreamCaptureStatus, id_out: *mut u64, graph_out: *mut CUgraph, dependencies_out: *mut *const CUgraphNode, edgeData_out: *mut *const CUgraphEdgeData, numDependencies_out: *mut usize) {
        info(hStream, &CaptureInfoOut { status: captureStatus_out, id: id_out, graph: graph_out, dependencies: dependencies_out, edges: edgeData_out, n: numDependencies_out })
    }

    fn cuStreamGetCaptureInfo_v2(hStream: CUstream, captureStatus_out: *mut CUstreamCaptureStatus, id_out: *mut u64, graph_out: *mut CUgraph, dependencies_out: *mut *const CUgraphNode, numDependencies_out: *mut usize) {
        info(hStream, &CaptureInfoOut { status: captureStatus_out, id: id_out, graph: graph_out, dependencies: dependencies_out, edges: std::ptr::null_mut(), n: numDependencies_out })
    }

    fn cuStreamUpdateCaptureDependencies(hStream: CUstream, dependencies: *mut CUgraphNode, dependencyData: *const CUgraphEdgeData, numDependencies: usize, flags: c_uint) {
        let _ = dependencyData;
        update(hStream, dependencies, numDependencies, flags)
    }

    fn cuStreamUpdateCaptureDependencies_v1(hStream: CUstream, dependencies: *mut CUgraphNode, numDependencies: usize, flags: c_uint) {
        update(hStream, dependencies, numDependencies, flags)
    }
}
