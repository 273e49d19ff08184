//! Devices.

use std::ffi::{c_char, c_int, c_uint};

use rtcg_cuda_sys::*;

use super::{driver_functions, str_from_c, write_out};
use crate::device::{COMPUTE_CAPABILITY, device_by_ordinal, n_multiprocessors, virtual_devices};
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_exec::launch::{MAX_BLOCK_DIM, MAX_GRID_DIM};

/// Copies a text into a caller's buffer, cut to fit, always terminated.
///
/// # Safety
/// `place` is null or has room for `room` bytes.
unsafe fn write_c_string(place: *mut c_char, room: c_int, text: &str) -> Res {
    ensure(!place.is_null() && room > 0, ResultCode::INVALID_VALUE)?;
    let n = text.len().min(room as usize - 1);
    // SAFETY: `n + 1 <= room`.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr().cast(), place, n);
        place.add(n).write(0);
    }
    Ok(())
}

driver_functions! {
    fn cuDeviceGet(device: *mut CUdevice, ordinal: c_int) {
        let found = crate::device::device_by_ordinal(ordinal)?;
        write_out(device, found.ordinal as CUdevice)
    }

    fn cuDeviceGetCount(count: *mut c_int) {
        write_out(count, virtual_devices().len() as c_int)
    }

    fn cuDeviceGetName(name: *mut c_char, len: c_int, dev: CUdevice) {
        write_c_string(name, len, &device_by_ordinal(dev)?.name)
    }

    fn cuDeviceGetUuid(uuid: *mut CUuuid, dev: CUdevice) {
        let bytes = device_by_ordinal(dev)?.uuid().map(|b| b as c_char);
        write_out(uuid, CUuuid { bytes })
    }

    fn cuDeviceTotalMem(bytes: *mut usize, dev: CUdevice) {
        write_out(bytes, device_by_ordinal(dev)?.memory_bytes as usize)
    }

    fn cuDeviceGetAttribute(pi: *mut c_int, attrib: CUdevice_attribute, dev: CUdevice) {
        let device = device_by_ordinal(dev)?;
        write_out(pi, device.attribute(attrib).ok_or(ResultCode::INVALID_VALUE)?)
    }

    fn cuDeviceGetProperties(prop: *mut CUdevprop, dev: CUdevice) {
        let device = device_by_ordinal(dev)?;
        let get = |attribute| device.attribute(attribute).unwrap_or(0);
        write_out(prop, CUdevprop {
            maxThreadsPerBlock: get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
            maxThreadsDim: MAX_BLOCK_DIM.map(|n| n as i32),
            maxGridSize: MAX_GRID_DIM.map(|n| n as i32),
            sharedMemPerBlock: get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
            totalConstantMemory: get(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY),
            SIMDWidth: get(CU_DEVICE_ATTRIBUTE_WARP_SIZE),
            memPitch: get(CU_DEVICE_ATTRIBUTE_MAX_PITCH),
            regsPerBlock: get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
            clockRate: get(CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
            textureAlign: get(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT),
        })
    }

    fn cuDeviceComputeCapability(major: *mut c_int, minor: *mut c_int, dev: CUdevice) {
        device_by_ordinal(dev)?;
        write_out(major, COMPUTE_CAPABILITY.0)?;
        write_out(minor, COMPUTE_CAPABILITY.1)
    }

    fn cuDeviceGetExecAffinitySupport(pi: *mut c_int, type_: CUexecAffinityType, dev: CUdevice) {
        // No type is supported, also none that there is not.
        let _ = type_;
        device_by_ordinal(dev)?;
        write_out(pi, 0)
    }

    fn cuFlushGPUDirectRDMAWrites(target: CUflushGPUDirectRDMAWritesTarget, scope: CUflushGPUDirectRDMAWritesScope) {
        use CUflushGPUDirectRDMAWritesScope as S;
        // One coherent memory: there is nothing to flush.
        let is_scope = matches!(scope, S::CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER | S::CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES);
        let is_target = target == CUflushGPUDirectRDMAWritesTarget::CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX;
        ensure(is_target && is_scope, ResultCode::INVALID_VALUE)?;
        crate::stream::context::current().map(drop)
    }

    fn cuDeviceGetByPCIBusId(dev: *mut CUdevice, pciBusId: *const c_char) {
        let wanted = str_from_c(pciBusId)?;
        let same = |id: String| id.eq_ignore_ascii_case(wanted) || id.strip_suffix(".0").is_some_and(|s| s.eq_ignore_ascii_case(wanted));
        let is_part = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_hexdigit());
        ensure(wanted.contains(':') && wanted.split([':', '.']).all(is_part), ResultCode::INVALID_VALUE)?;
        let found = virtual_devices().iter().find(|d| same(d.pci_bus_id())).ok_or(ResultCode::INVALID_DEVICE)?;
        write_out(dev, found.ordinal as CUdevice)
    }

    fn cuDeviceGetPCIBusId(pciBusId: *mut c_char, len: c_int, dev: CUdevice) {
        let id = device_by_ordinal(dev)?.pci_bus_id();
        // A short place gets what fits, and the call fails.
        write_c_string(pciBusId, len, &id)?;
        ensure(len as usize > id.len(), ResultCode::INVALID_VALUE)
    }

    fn cuDeviceCanAccessPeer(canAccessPeer: *mut c_int, dev: CUdevice, peerDev: CUdevice) {
        let (one, other) = (device_by_ordinal(dev)?, device_by_ordinal(peerDev)?);
        write_out(canAccessPeer, c_int::from(one.ordinal != other.ordinal))
    }

    fn cuDeviceGetP2PAttribute(value: *mut c_int, attrib: CUdevice_P2PAttribute, srcDevice: CUdevice, dstDevice: CUdevice) {
        let (one, other) = (device_by_ordinal(srcDevice)?, device_by_ordinal(dstDevice)?);
        ensure(one.ordinal != other.ordinal, ResultCode::INVALID_DEVICE)?;
        let answer = match attrib {
            CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK => 0,
            CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED => 1,
            CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED => 1,
            CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED => 0,
            CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED => 0,
            _ => return ResultCode::INVALID_VALUE.err(),
        };
        write_out(value, answer)
    }

    fn cuDevicePrimaryCtxRetain(pctx: *mut CUcontext, dev: CUdevice) {
        ensure(!pctx.is_null(), ResultCode::INVALID_VALUE)?;
        let context = device_by_ordinal(dev)?.retain_primary()?;
        write_out(pctx, super::Handle::from_handle_number(context.handle))
    }

    fn cuDevicePrimaryCtxRelease(dev: CUdevice) {
        device_by_ordinal(dev)?.release_primary()
    }

    fn cuDevicePrimaryCtxSetFlags(dev: CUdevice, flags: c_uint) {
        let device = device_by_ordinal(dev)?;
        ensure(flags & CUctx_flags::CU_CTX_MAP_HOST.0 == 0, ResultCode::INVALID_VALUE)?;
        device.set_primary_flags(flags)
    }

    fn cuDevicePrimaryCtxGetState(dev: CUdevice, flags: *mut c_uint, active: *mut c_int) {
        let (bits, is_active) = device_by_ordinal(dev)?.primary_state();
        ensure(!flags.is_null() && !active.is_null(), ResultCode::INVALID_VALUE)?;
        write_out(flags, bits)?;
        write_out(active, c_int::from(is_active))
    }

    fn cuDevicePrimaryCtxReset(dev: CUdevice) {
        device_by_ordinal(dev)?.reset_primary()
    }

    fn cuCtxGetExecAffinity(pExecAffinity: *mut CUexecAffinityParam, type_: CUexecAffinityType) {
        crate::stream::context::current_alive_context()?;
        ensure(type_ == CUexecAffinityType::CU_EXEC_AFFINITY_TYPE_SM_COUNT, ResultCode::UNSUPPORTED_EXEC_AFFINITY)?;
        let mut answer = CUexecAffinityParam { type_, ..Default::default() };
        answer.param.smCount = CUexecAffinitySmCount { val: n_multiprocessors() };
        write_out(pExecAffinity, answer)
    }
}
