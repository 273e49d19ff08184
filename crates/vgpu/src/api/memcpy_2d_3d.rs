//! Copies of rectangles and boxes between host and device memory.

use rtcg_cuda_sys::*;

use super::copy::{CopyQueue, batch_queue, check_batch_attributes, check_location_hint, peer_copy_contexts};
use super::{Handle, driver_functions};
use crate::error::set_failed_batch_index;
use crate::graph::{AssertSend, NodeAction, capture};
use crate::memory::account::device_heap;
use crate::memory::array::ARRAYS;
use crate::memory::box_copy::{CheckedCopy, CopyEndpoint, check_copy, check_memcpy_3d, memcpy_task};
use crate::memory::copy::MemoryLocation;
use crate::memory::heap::MemoryKind;
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_abi::model::memory::BOX_BATCHES_NAME_FAILED_COPY;

fn run_pitched_copy(lane: &CopyQueue, checked: CheckedCopy) -> Res {
    let work = memcpy_task(&checked);
    let CheckedCopy { extent, dst_place, src_place, dst, src } = checked;
    let only_device = dst_place == MemoryLocation::Device && src_place == MemoryLocation::Device;
    // A copy within device memory is asynchronous; page-locked host memory must be complete when a synchronous call returns.
    let within_device = only_device && [dst.start, src.start].into_iter().all(is_on_device);
    if within_device || lane.is_async && only_device {
        lane.submit_device_work(extent.iter().product(), work)
    } else {
        lane.run_synchronously(work)
    }
}

/// Whether an address is of memory of the device itself.
fn is_on_device(address: u64) -> bool {
    let block = device_heap().ok().and_then(|heap| heap.find_block(address));
    block.is_some_and(|block| block.kind == MemoryKind::Device)
}

/// A copy between two dimensions as one of a graph.
fn memcpy_2d_as_3d(c: &CUDA_MEMCPY2D) -> CUDA_MEMCPY3D {
    CUDA_MEMCPY3D {
        srcXInBytes: c.srcXInBytes,
        srcY: c.srcY,
        srcMemoryType: c.srcMemoryType,
        srcHost: c.srcHost,
        srcDevice: c.srcDevice,
        srcArray: c.srcArray,
        srcPitch: c.srcPitch,
        dstXInBytes: c.dstXInBytes,
        dstY: c.dstY,
        dstMemoryType: c.dstMemoryType,
        dstHost: c.dstHost,
        dstDevice: c.dstDevice,
        dstArray: c.dstArray,
        dstPitch: c.dstPitch,
        WidthInBytes: c.WidthInBytes,
        Height: c.Height,
        Depth: 1,
        ..Default::default()
    }
}

fn copy_endpoints_2d(c: &CUDA_MEMCPY2D) -> (CopyEndpoint, CopyEndpoint, [usize; 3]) {
    let dst = CopyEndpoint {
        kind: c.dstMemoryType,
        host: c.dstHost.addr() as u64,
        device: c.dstDevice,
        array: c.dstArray.handle_number(),
        origin: [c.dstXInBytes, c.dstY, 0],
        pitch: c.dstPitch,
        height: 0,
        level: 0,
    };
    let src = CopyEndpoint {
        kind: c.srcMemoryType,
        host: c.srcHost.addr() as u64,
        device: c.srcDevice,
        array: c.srcArray.handle_number(),
        origin: [c.srcXInBytes, c.srcY, 0],
        pitch: c.srcPitch,
        height: 0,
        level: 0,
    };
    (dst, src, [c.WidthInBytes, c.Height, 1])
}

/// # Safety
/// `copy` is null or valid.
unsafe fn copy_2d(lane: &CopyQueue, copy: *const CUDA_MEMCPY2D) -> Res {
    // SAFETY: this function's contract.
    let copy = unsafe { copy.as_ref() }.ok_or(ResultCode::INVALID_VALUE)?;
    let (dst, src, extent) = copy_endpoints_2d(copy);
    // A copy of nothing leaves no node, and one that is refused leaves a capture as it is.
    let Some(checked) = check_copy(&dst, &src, extent)? else { return Ok(()) };
    if capture::capture_operation(&lane.stream, || Ok(NodeAction::Copy(AssertSend(memcpy_2d_as_3d(copy)))))? {
        return Ok(());
    }
    run_pitched_copy(lane, checked)
}

/// # Safety
/// `copy` is null or valid.
unsafe fn copy_3d(lane: &CopyQueue, copy: *const CUDA_MEMCPY3D) -> Res {
    // SAFETY: this function's contract.
    let copy = unsafe { copy.as_ref() }.ok_or(ResultCode::INVALID_VALUE)?;
    let Some(checked) = check_memcpy_3d!(copy)? else { return Ok(()) };
    if capture::capture_operation(&lane.stream, || Ok(NodeAction::Copy(AssertSend(*copy))))? {
        return Ok(());
    }
    run_pitched_copy(lane, checked)
}

/// # Safety
/// `copy` is null or valid.
unsafe fn copy_3d_peer(lane: &CopyQueue, copy: *const CUDA_MEMCPY3D_PEER) -> Res {
    // SAFETY: this function's contract.
    let copy = unsafe { copy.as_ref() }.ok_or(ResultCode::INVALID_VALUE)?;
    peer_copy_contexts(&lane.ctx, [copy.dstContext, copy.srcContext])?;
    capture::refuse_if_capturing(&lane.stream)?;
    check_memcpy_3d!(copy)?.map_or(Ok(()), |checked| run_pitched_copy(lane, checked))
}

/// One side of a copy of a batch: an array and where the copy begins in it, or an address and the lengths of rows and
/// layers.
enum BatchOperand {
    Pointer(CUmemcpy3DOperand_op_ptr),
    Array(CUmemcpy3DOperand_op_array),
}

impl BatchOperand {
    fn new(operand: &CUmemcpy3DOperand) -> Res<BatchOperand> {
        use CUmemcpy3DOperandType as T;
        match operand.type_ {
            T::CU_MEMCPY_OPERAND_TYPE_POINTER => {
                // SAFETY: the type says that this member is set; it is plain numbers.
                let pointer = unsafe { operand.op.ptr };
                check_location_hint(pointer.locHint)?;
                Ok(BatchOperand::Pointer(pointer))
            }
            // SAFETY: the type says that this member is set; it is plain numbers.
            T::CU_MEMCPY_OPERAND_TYPE_ARRAY => Ok(BatchOperand::Array(unsafe { operand.op.array })),
            _ => ResultCode::INVALID_VALUE.err(),
        }
    }

    /// Bytes of an element of an array; memory has none of its own.
    fn element_bytes(&self) -> Res<Option<usize>> {
        let BatchOperand::Array(place) = self else { return Ok(None) };
        let array = ARRAYS.get_object_or(place.array.handle_number(), ResultCode::INVALID_VALUE)?;
        Ok(Some(array.extents[0] as usize / array.description.Width.max(1)))
    }

    fn endpoint(&self, element_bytes: usize) -> Res<CopyEndpoint> {
        let bytes = |n: usize| n.checked_mul(element_bytes).ok_or(ResultCode::INVALID_VALUE);
        let empty = CopyEndpoint {
            kind: CUmemorytype::CU_MEMORYTYPE_UNIFIED,
            host: 0,
            device: 0,
            array: 0,
            origin: [0; 3],
            pitch: 0,
            height: 0,
            level: 0,
        };
        Ok(match self {
            BatchOperand::Pointer(p) => {
                CopyEndpoint { device: p.ptr, pitch: bytes(p.rowLength)?, height: p.layerHeight, ..empty }
            }
            BatchOperand::Array(a) => CopyEndpoint {
                kind: CUmemorytype::CU_MEMORYTYPE_ARRAY,
                array: a.array.handle_number(),
                origin: [bytes(a.offset.x)?, a.offset.y, a.offset.z],
                ..empty
            },
        })
    }
}

/// The copy of a box as one of a graph.
fn memcpy_3d_from_endpoints(dst: &CopyEndpoint, src: &CopyEndpoint, extent: [usize; 3]) -> CUDA_MEMCPY3D {
    CUDA_MEMCPY3D {
        srcXInBytes: src.origin[0],
        srcY: src.origin[1],
        srcZ: src.origin[2],
        srcMemoryType: src.kind,
        srcDevice: src.device,
        srcArray: CUarray::from_handle_number(src.array),
        srcPitch: src.pitch,
        srcHeight: src.height,
        dstXInBytes: dst.origin[0],
        dstY: dst.origin[1],
        dstZ: dst.origin[2],
        dstMemoryType: dst.kind,
        dstDevice: dst.device,
        dstArray: CUarray::from_handle_number(dst.array),
        dstPitch: dst.pitch,
        dstHeight: dst.height,
        WidthInBytes: extent[0],
        Height: extent[1],
        Depth: extent[2],
        ..Default::default()
    }
}

/// A copy of a batch. Extents, offsets and lengths count elements: those of an array, which two arrays must have in
/// common, or bytes.
fn copy_box_of_batch(lane: &CopyQueue, op: &CUDA_MEMCPY3D_BATCH_OP) -> Res {
    check_batch_attributes(op.srcAccessOrder, op.flags)?;
    let (dst, src) = (BatchOperand::new(&op.dst)?, BatchOperand::new(&op.src)?);
    let (to, from) = (dst.element_bytes()?, src.element_bytes()?);
    ensure(to.is_none() || from.is_none() || to == from, ResultCode::INVALID_VALUE)?;
    let element_bytes = to.or(from).unwrap_or(1);
    let width = op.extent.width.checked_mul(element_bytes).ok_or(ResultCode::INVALID_VALUE)?;
    let extent = [width, op.extent.height, op.extent.depth];
    ensure(!extent.contains(&0), ResultCode::INVALID_VALUE)?;
    let (dst, src) = (dst.endpoint(element_bytes)?, src.endpoint(element_bytes)?);
    let Some(copy) = check_copy(&dst, &src, extent)? else { return Ok(()) };
    let node = || Ok(NodeAction::Copy(AssertSend(memcpy_3d_from_endpoints(&dst, &src, extent))));
    if capture::capture_operation(&lane.stream, node)? {
        return Ok(());
    }
    let reads_at_once = op.srcAccessOrder == CUmemcpySrcAccessOrder::CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
    if reads_at_once {
        // Complete when the call returns, for the program may then change the source.
        lane.run_synchronously(memcpy_task(&copy))
    } else {
        run_pitched_copy(lane, copy)
    }
}

driver_functions! {
    fn cuMemcpy3DBatchAsync(numOps: usize, opList: *mut CUDA_MEMCPY3D_BATCH_OP, flags: u64, hStream: CUstream) {
        set_failed_batch_index(None);
        let lane = batch_queue(hStream)?;
        ensure(numOps > 0 && !opList.is_null() && flags == 0, ResultCode::INVALID_VALUE)?;
        for i in 0..numOps {
            let outcome = copy_box_of_batch(&lane, &opList.add(i).read_unaligned());
            outcome.inspect_err(|_| set_failed_batch_index(BOX_BATCHES_NAME_FAILED_COPY.then_some(i)))?;
        }
        Ok(())
    }

    fn cuMemcpy2D(pCopy: *const CUDA_MEMCPY2D) {
        copy_2d(&CopyQueue::synchronous_copy_queue()?, pCopy)
    }

    fn cuMemcpy2DUnaligned(pCopy: *const CUDA_MEMCPY2D) {
        copy_2d(&CopyQueue::synchronous_copy_queue()?, pCopy)
    }

    fn cuMemcpy2DAsync(pCopy: *const CUDA_MEMCPY2D, hStream: CUstream) {
        copy_2d(&CopyQueue::stream_copy_queue(hStream)?, pCopy)
    }

    fn cuMemcpy3D(pCopy: *const CUDA_MEMCPY3D) {
        copy_3d(&CopyQueue::synchronous_copy_queue()?, pCopy)
    }

    fn cuMemcpy3DAsync(pCopy: *const CUDA_MEMCPY3D, hStream: CUstream) {
        copy_3d(&CopyQueue::stream_copy_queue(hStream)?, pCopy)
    }

    fn cuMemcpy3DPeer(pCopy: *const CUDA_MEMCPY3D_PEER) {
        copy_3d_peer(&CopyQueue::synchronous_copy_queue()?, pCopy)
    }

    fn cuMemcpy3DPeerAsync(pCopy: *const CUDA_MEMCPY3D_PEER, hStream: CUstream) {
        copy_3d_peer(&CopyQueue::stream_copy_queue(hStream)?, pCopy)
    }
}
