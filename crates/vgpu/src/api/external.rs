//! Memory and semaphores of graphics interfaces, which the virtual GPU cannot import: what is wrong with a wish is told
//! as by a driver, what remains is not supported.

use std::ffi::{c_int, c_uint};

use rtcg_cuda_sys::*;

use super::{driver_functions, unsupported_feature};
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_abi::model::calls::DEAD_EXTERNAL_DESCRIPTOR_CODE;

/// What there may be behind the number of a type of handles.
enum HandleFamily {
    /// A descriptor that another interface gives out for CUDA.
    Opaque,
    /// A descriptor that the system knows.
    System,
    /// A handle of another system.
    Foreign,
}

/// Whether a descriptor is one of this process.
fn is_open(fd: c_int) -> bool {
    // SAFETY: asks about a number; a wrong one is an error.
    unsafe { libc::fcntl(fd, libc::F_GETFD) >= 0 }
}

/// Fails: as the handle is wrong, or else as imports are not supported.
fn refuse_import(family: HandleFamily, fd: c_int, what: &str) -> Res {
    match family {
        HandleFamily::Opaque => ensure(is_open(fd), DEAD_EXTERNAL_DESCRIPTOR_CODE)?,
        HandleFamily::System => ensure(is_open(fd), ResultCode::INVALID_VALUE)?,
        HandleFamily::Foreign => {}
    }
    Err(unsupported_feature(what))
}

driver_functions! {
    fn cuImportExternalMemory(extMem_out: *mut CUexternalMemory, memHandleDesc: *const CUDA_EXTERNAL_MEMORY_HANDLE_DESC) {
        use CUexternalMemoryHandleType as T;
        const DEDICATED: c_uint = 1;
        let wish = memHandleDesc.as_ref().ok_or(ResultCode::INVALID_VALUE)?;
        let family = match wish.type_ {
            T::CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD => HandleFamily::Opaque,
            T::CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD => HandleFamily::System,
            T(2..=8) => HandleFamily::Foreign,
            _ => return ResultCode::INVALID_VALUE.err(),
        };
        ensure(!extMem_out.is_null() && wish.size > 0 && wish.flags <= DEDICATED, ResultCode::INVALID_VALUE)?;
        refuse_import(family, wish.handle.fd, "external memory")
    }

    fn cuImportExternalSemaphore(extSem_out: *mut CUexternalSemaphore, semHandleDesc: *const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC) {
        use CUexternalSemaphoreHandleType as T;
        let wish = semHandleDesc.as_ref().ok_or(ResultCode::INVALID_VALUE)?;
        let family = match wish.type_ {
            T::CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD => HandleFamily::Opaque,
            T::CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD => HandleFamily::System,
            T(2..=8 | 10) => HandleFamily::Foreign,
            _ => return ResultCode::INVALID_VALUE.err(),
        };
        ensure(!extSem_out.is_null() && wish.flags == 0, ResultCode::INVALID_VALUE)?;
        refuse_import(family, wish.handle.fd, "external semaphores")
    }
}
