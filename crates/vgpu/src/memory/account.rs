//! The heap, and what devices and pools are charged for its blocks.

use super::heap::{BlockOwner, DeviceHeap, HeapBlock, MemoryKind};
use super::pool::POOLS;
use crate::device::{Device, device_by_ordinal, virtual_devices};
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_exec::window;
use std::sync::OnceLock;

/// Freed memory that stays with the process at most, whatever the devices' size.
const MAX_CACHED_FREE_BYTES: u64 = 512 << 20;

/// The heap.
pub(crate) fn device_heap() -> Res<&'static DeviceHeap> {
    static DEVICE_HEAP: OnceLock<Option<DeviceHeap>> = OnceLock::new();
    let make = || {
        let area = window::device_window().ok()?.heap_area();
        let smallest = virtual_devices().iter().map(|d| d.memory_bytes).min().unwrap_or(0);
        Some(DeviceHeap::new(area.start as u64, area.len as u64, (smallest / 8).min(MAX_CACHED_FREE_BYTES)))
    };
    DEVICE_HEAP.get_or_init(make).as_ref().ok_or_else(|| {
        let why = window::device_window().err().map(|e| e.to_string()).unwrap_or_default();
        ResultCode::OUT_OF_MEMORY.with_detail(why)
    })
}

/// Allocates for an owner and charges its device.
pub(crate) fn alloc_block(
    owner: BlockOwner,
    device: &Device,
    size: u64,
    kind: MemoryKind,
    flags: u32,
) -> Res<HeapBlock> {
    ensure(size > 0, ResultCode::INVALID_VALUE)?;
    let heap = device_heap()?;
    let on_device = kind != MemoryKind::Host;
    // Charged by request first, so that no memory is touched for what cannot fit.
    ensure(!on_device || size <= device.free_bytes(), ResultCode::OUT_OF_MEMORY)?;
    let block = heap.alloc_block(size, kind, owner, flags)?;
    if on_device && let Err(error) = device.charge_memory(block.charged) {
        heap.free_block(block.start)?;
        return Err(error);
    }
    if on_device && owner.pool == 0 {
        device.report().add_allocation(block.charged);
    }
    Ok(block)
}

/// Frees a block and gives its bytes back to its device.
pub(crate) fn free_block(start: u64) -> Res {
    let block = device_heap()?.free_block(start)?;
    uncharge_block(&block);
    Ok(())
}

pub(crate) fn uncharge_block(block: &HeapBlock) {
    if block.kind == MemoryKind::Imported {
        return;
    }
    if block.owner.pool != 0
        && let Ok(pool) = POOLS.get_object(block.owner.pool)
    {
        pool.uncharge_block(block.size);
    }
    if block.kind != MemoryKind::Host
        && let Ok(device) = device_by_ordinal(block.owner.device as i32)
    {
        device.uncharge_memory(block.charged);
        if block.owner.pool == 0 {
            device.report().remove_allocation(block.charged);
        }
    }
}
