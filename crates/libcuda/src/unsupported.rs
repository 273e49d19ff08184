//! Functions that are exported because programs are linked against them, and that do nothing but
//! say so: those with the 32-bit pointers and sizes of CUDA before 3.2, and the exchange with EGL
//! and VDPAU. Their arguments are not looked at, so they are declared without.

use crate::symbol_version::{NullStreamKind, SymbolVersion};
use rtcg_cuda_sys::types::CUresult;
use std::ffi::c_void;

macro_rules! export_unsupported {
    ($($symbol:ident since $since:literal,)*) => {
        $(
            #[doc = concat!("`", stringify!($symbol), "` as CUDA ", $since, " has it: not supported.")]
            #[unsafe(no_mangle)]
            #[allow(non_snake_case, reason = "the driver's functions")]
            extern "C" fn $symbol() -> CUresult {
                CUresult::CUDA_ERROR_NOT_SUPPORTED
            }
        )*

        /// The functions of this file.
        pub(crate) const SYMBOLS: &[SymbolVersion] = &[$(SymbolVersion {
            name: stringify!($symbol),
            since: $since,
            null_stream: NullStreamKind::Legacy,
            address: $symbol as *const c_void,
        },)*];
    };
}

export_unsupported! {
    cuDeviceTotalMem since 2000,
    cuModuleGetGlobal since 2000,
    cuMemGetInfo since 2000,
    cuMemAlloc since 2000,
    cuMemAllocPitch since 2000,
    cuMemFree since 2000,
    cuMemGetAddressRange since 2000,
    cuMemAllocHost since 2000,
    cuMemHostGetDevicePointer since 2020,
    cuMemcpyHtoD since 2000,
    cuMemcpyDtoH since 2000,
    cuMemcpyDtoD since 2000,
    cuMemcpyDtoA since 2000,
    cuMemcpyAtoD since 2000,
    cuMemcpyHtoA since 2000,
    cuMemcpyAtoH since 2000,
    cuMemcpyAtoA since 2000,
    cuMemcpyHtoAAsync since 2000,
    cuMemcpyAtoHAsync since 2000,
    cuMemcpy2D since 2000,
    cuMemcpy2DUnaligned since 2000,
    cuMemcpy3D since 2000,
    cuMemcpyHtoDAsync since 2000,
    cuMemcpyDtoHAsync since 2000,
    cuMemcpyDtoDAsync since 3000,
    cuMemcpy2DAsync since 2000,
    cuMemcpy3DAsync since 2000,
    cuMemsetD8 since 2000,
    cuMemsetD16 since 2000,
    cuMemsetD32 since 2000,
    cuMemsetD2D8 since 2000,
    cuMemsetD2D16 since 2000,
    cuMemsetD2D32 since 2000,
    cuArrayCreate since 2000,
    cuArrayGetDescriptor since 2000,
    cuArray3DCreate since 2000,
    cuArray3DGetDescriptor since 2000,
    cuTexRefSetAddress since 2000,
    cuTexRefSetAddress2D since 2020,
    cuTexRefGetAddress since 2000,
    cuGraphicsResourceGetMappedPointer since 3000,
    cuGLMapBufferObject since 2000,
    cuGLMapBufferObjectAsync since 2030,
    cuGraphicsEGLRegisterImage since 7000,
    cuEGLStreamConsumerConnect since 7000,
    cuEGLStreamConsumerConnectWithFlags since 8000,
    cuEGLStreamConsumerDisconnect since 7000,
    cuEGLStreamConsumerAcquireFrame since 7000,
    cuEGLStreamConsumerReleaseFrame since 7000,
    cuEGLStreamProducerConnect since 7000,
    cuEGLStreamProducerDisconnect since 7000,
    cuEGLStreamProducerPresentFrame since 7000,
    cuEGLStreamProducerReturnFrame since 7000,
    cuGraphicsResourceGetMappedEglFrame since 7000,
    cuEventCreateFromEGLSync since 9000,
    cuVDPAUGetDevice since 3010,
    cuVDPAUCtxCreate since 3010,
    cuGraphicsVDPAURegisterVideoSurface since 3010,
    cuGraphicsVDPAURegisterOutputSurface since 3010,
    cuVDPAUCtxCreate_v2 since 3020,
}
