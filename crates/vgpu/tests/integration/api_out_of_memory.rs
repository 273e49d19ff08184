//! Exhausted device memory. A process of its own, because the limit is read once.

use crate::api_common::*;
use rtcg_cuda_sys::*;

#[test]
fn memory_runs_out_and_comes_back() {
    own_process!("RTCG_VIRTUAL_MEMORY" = "64M", "RTCG_VIRTUAL_DEVICES" = "2");
    let ctx = new_context();
    let (mut free, mut total) = (0, 0);
    ok!(cuMemGetInfo(&raw mut free, &raw mut total));
    assert_eq!((free, total), (64 << 20, 64 << 20));
    let mut blocks = Vec::new();
    let mut p = 0;
    while call!(cuMemAlloc(&raw mut p, 1 << 20)).is_ok() {
        blocks.push(p);
    }
    assert_eq!(blocks.len(), 64);
    fails!(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&raw mut p, 256));
    ok!(cuMemFree(blocks[7]));
    ok!(cuMemAlloc(&raw mut p, 1 << 20));
    for block in &blocks {
        // One of them is the freed one, which has the same address again.
        ok!(cuMemFree(*block));
    }
    ok!(cuMemGetInfo(&raw mut free, &raw mut total));
    assert_eq!(free, total);

    // The other device has memory of its own, and each may use the other's.
    let mut other = CUcontext::null();
    ok!(cuCtxCreate(&raw mut other, std::ptr::null_mut(), 0, 1));
    let theirs = alloc(40 << 20);
    ok!(cuMemGetInfo(&raw mut free, std::ptr::null_mut()));
    assert_eq!(free, 24 << 20);
    ok!(cuCtxPushCurrent(ctx));
    ok!(cuMemGetInfo(&raw mut free, std::ptr::null_mut()));
    assert_eq!(free, 64 << 20);
    let ours = alloc(1 << 20);
    ok!(cuCtxEnablePeerAccess(other, 0));
    fails!(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, cuCtxEnablePeerAccess(other, 0));
    ok!(cuMemsetD8(theirs, 7, 1 << 20));
    ok!(cuMemcpyPeer(ours, ctx, theirs, other, 1 << 20));
    let mut host = vec![0_u8; 1 << 20];
    ok!(cuMemcpyDtoH(host.as_mut_ptr().cast(), ours, 1 << 20));
    assert!(host.iter().all(|&b| b == 7));
    ok!(cuCtxDestroy(ctx));
    ok!(cuCtxDestroy(other));
}
