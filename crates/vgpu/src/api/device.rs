//! Devices.

use std::ffi::{c_char, c_int, c_uint};

use rtcg_cuda_sys::*;

use super::{driver_functions, text, write_out};
use crate::device::{CAPABILITY, device, devices, n_multiprocessors};
use crate::error::{Code, Res, ensure};

/// Copies a text into a caller's buffer, cut to fit, always terminated.
///
/// # Safety
/// `place` is null or has room for `room` bytes.
unsafe fn write_text(place: *mut c_char, room: c_int, text: &str) -> Res {
    ensure(!place.is_null() && room > 0, Code::INVALID_VALUE)?;
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
        let found = crate::device::device(ordinal)?;
        write_out(device, found.ordinal as CUdevice)
    }

    fn cuDeviceGetCount(count: *mut c_int) {
        write_out(count, devices().len() as c_int)
    }

    fn cuDeviceGetName(name: *mut c_char, len: c_int, dev: CUdevice) {
        write_text(name, len, &device(dev)?.name)
    }

    fn cuDeviceGetUuid(uuid: *mut CUuuid, dev: CUdevice) {
        let bytes = device(dev)?.uuid().map(|b| b as c_char);
        write_out(uuid, CUuuid { bytes })
    }

    fn cuDeviceTotalMem(bytes: *mut usize, dev: CUdevice) {
        write_out(bytes, device(dev)?.memory_bytes as usize)
    }

    fn cuDeviceGetAttribute(pi: *mut c_int, attrib: CUdevice_attribute, dev: CUdevice) {
        let device = device(dev)?;
        let value = i32::try_from(attrib.0).ok().and_then(|n| device.attribute(n));
        write_out(pi, value.ok_or(Code::INVALID_VALUE)?)
    }

    fn cuDeviceGetProperties(prop: *mut CUdevprop, dev: CUdevice) {
        let device = device(dev)?;
        let get = |number| device.attribute(number).unwrap_or(0);
        write_out(prop, CUdevprop {
            maxThreadsPerBlock: get(1),
            maxThreadsDim: [get(2), get(3), get(4)],
            maxGridSize: [get(5), get(6), get(7)],
            sharedMemPerBlock: get(8),
            totalConstantMemory: get(9),
            SIMDWidth: get(10),
            memPitch: get(11),
            regsPerBlock: get(12),
            clockRate: get(13),
            textureAlign: get(14),
        })
    }

    fn cuDeviceComputeCapability(major: *mut c_int, minor: *mut c_int, dev: CUdevice) {
        device(dev)?;
        write_out(major, CAPABILITY.0)?;
        write_out(minor, CAPABILITY.1)
    }

    fn cuDeviceGetExecAffinitySupport(pi: *mut c_int, type_: CUexecAffinityType, dev: CUdevice) {
        device(dev)?;
        ensure(type_ == CUexecAffinityType::CU_EXEC_AFFINITY_TYPE_SM_COUNT, Code::INVALID_VALUE)?;
        write_out(pi, 0)
    }

    fn cuFlushGPUDirectRDMAWrites(target: CUflushGPUDirectRDMAWritesTarget, scope: CUflushGPUDirectRDMAWritesScope) {
        // One coherent memory: there is nothing to flush.
        let _ = (target, scope);
        crate::context::current().map(drop)
    }

    fn cuDeviceGetByPCIBusId(dev: *mut CUdevice, pciBusId: *const c_char) {
        let wanted = text(pciBusId)?;
        let same = |id: String| id.eq_ignore_ascii_case(wanted) || id.strip_suffix(".0").is_some_and(|s| s.eq_ignore_ascii_case(wanted));
        let is_part = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_hexdigit());
        ensure(wanted.contains(':') && wanted.split([':', '.']).all(is_part), Code::INVALID_VALUE)?;
        let found = devices().iter().find(|d| same(d.pci_bus_id())).ok_or(Code::INVALID_DEVICE)?;
        write_out(dev, found.ordinal as CUdevice)
    }

    fn cuDeviceGetPCIBusId(pciBusId: *mut c_char, len: c_int, dev: CUdevice) {
        let id = device(dev)?.pci_bus_id();
        ensure(len as usize > id.len(), Code::INVALID_VALUE)?;
        write_text(pciBusId, len, &id)
    }

    fn cuDeviceCanAccessPeer(canAccessPeer: *mut c_int, dev: CUdevice, peerDev: CUdevice) {
        let (one, other) = (device(dev)?, device(peerDev)?);
        write_out(canAccessPeer, c_int::from(one.ordinal != other.ordinal))
    }

    fn cuDeviceGetP2PAttribute(value: *mut c_int, attrib: CUdevice_P2PAttribute, srcDevice: CUdevice, dstDevice: CUdevice) {
        let (one, other) = (device(srcDevice)?, device(dstDevice)?);
        ensure(one.ordinal != other.ordinal, Code::INVALID_DEVICE)?;
        let answer = match attrib {
            CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK => 0,
            CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED => 1,
            CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED => 1,
            CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED => 0,
            CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED => 0,
            _ => return Code::INVALID_VALUE.err(),
        };
        write_out(value, answer)
    }

    fn cuDevicePrimaryCtxRetain(pctx: *mut CUcontext, dev: CUdevice) {
        ensure(!pctx.is_null(), Code::INVALID_VALUE)?;
        let context = device(dev)?.retain_primary()?;
        write_out(pctx, super::Handle::from_number(context.handle))
    }

    fn cuDevicePrimaryCtxRelease(dev: CUdevice) {
        device(dev)?.release_primary()
    }

    fn cuDevicePrimaryCtxSetFlags(dev: CUdevice, flags: c_uint) {
        device(dev)?.set_primary_flags(flags)
    }

    fn cuDevicePrimaryCtxGetState(dev: CUdevice, flags: *mut c_uint, active: *mut c_int) {
        let (bits, is_active) = device(dev)?.primary_state();
        ensure(!flags.is_null() && !active.is_null(), Code::INVALID_VALUE)?;
        write_out(flags, bits)?;
        write_out(active, c_int::from(is_active))
    }

    fn cuDevicePrimaryCtxReset(dev: CUdevice) {
        device(dev)?.reset_primary()
    }

    fn cuCtxGetExecAffinity(pExecAffinity: *mut CUexecAffinityParam, type_: CUexecAffinityType) {
        crate::context::current_alive()?;
        ensure(type_ == CUexecAffinityType::CU_EXEC_AFFINITY_TYPE_SM_COUNT, Code::UNSUPPORTED_EXEC_AFFINITY)?;
        let mut answer = CUexecAffinityParam { type_, ..Default::default() };
        answer.param.smCount = CUexecAffinitySmCount { val: n_multiprocessors() };
        write_out(pExecAffinity, answer)
    }
}
