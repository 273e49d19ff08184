//! The primary context. A file of its own: the tests share the one primary context of the device.

use crate::api_common::*;
use rtcg_cuda_sys::*;

#[test]
fn primary_context_is_counted_and_reset() {
    own_process!();
    ok!(cuInit(0));
    let (mut a, mut b) = (CUcontext::null(), CUcontext::null());
    let (mut flags, mut active) = (9, 9);
    ok!(cuDevicePrimaryCtxGetState(0, &raw mut flags, &raw mut active));
    assert_eq!((flags, active), (0, 0));
    fails!(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(0));
    ok!(cuDevicePrimaryCtxRetain(&raw mut a, 0));
    ok!(cuDevicePrimaryCtxRetain(&raw mut b, 0));
    assert_eq!(a, b);
    fails!(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(a));
    ok!(cuCtxPushCurrent(a));
    let p = alloc(100);
    ok!(cuDevicePrimaryCtxRelease(0));
    ok!(cuMemsetD8(p, 1, 100));
    ok!(cuDevicePrimaryCtxRelease(0));
    fails!(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
    fails!(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemFree(0));
    ok!(cuCtxSetCurrent(a));
    ok!(cuCtxGetCurrent(&raw mut b));
    assert_eq!(a, b);

    ok!(cuDevicePrimaryCtxSetFlags(0, 4));
    ok!(cuDevicePrimaryCtxRetain(&raw mut b, 0));
    assert_eq!(a, b);
    ok!(cuCtxSynchronize());
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemFree(p));
    ok!(cuMemFree(0));
    ok!(cuDevicePrimaryCtxGetState(0, &raw mut flags, &raw mut active));
    assert_eq!((flags, active), (4, 1));
    ok!(cuCtxSetCurrent(a));
    // Flags that are set while the context is active are not all that it has.
    ok!(cuDevicePrimaryCtxSetFlags(0, 2));
    ok!(cuCtxGetFlags(&raw mut flags));
    assert_eq!(flags, 2 | CUctx_flags::CU_CTX_MAP_HOST.0);
    ok!(cuDevicePrimaryCtxGetState(0, &raw mut flags, &raw mut active));
    assert_eq!((flags, active), (2, 1));
    ok!(cuDevicePrimaryCtxReset(0));
    ok!(cuDevicePrimaryCtxGetState(0, &raw mut flags, &raw mut active));
    assert_eq!((flags, active), (0, 0));
    assert!(call!(cuCtxSynchronize()).is_err());
    ok!(cuCtxSetCurrent(CUcontext::null()));
    ok!(cuDevicePrimaryCtxRelease(0));
}
