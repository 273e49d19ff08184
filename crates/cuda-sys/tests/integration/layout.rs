//! The size and alignment of every structure as a C compiler sees them on a 64-bit machine
//! (measured with gcc over CUDA 13.0's header), so that a wrong field cannot pass.
#![cfg(target_pointer_width = "64")]

use rtcg_cuda_sys::types::*;
use std::mem::{align_of, size_of};

#[test]
fn structures_have_the_size_and_alignment_of_c() {
    let mut wrong = Vec::new();
    macro_rules! check_layout {
        ($($ty:ident: $size:literal, $align:literal;)*) => {
            $(if (size_of::<$ty>(), align_of::<$ty>()) != ($size, $align) {
                wrong.push((stringify!($ty), size_of::<$ty>(), align_of::<$ty>(), $size, $align));
            })*
        };
    }
    check_layout! {
        CUuuid: 16, 1;
        CUmemFabricHandle: 64, 1;
        CUipcEventHandle: 64, 1;
        CUipcMemHandle: 64, 1;
        CUstreamBatchMemOpParams: 48, 8;
        CUDA_BATCH_MEM_OP_NODE_PARAMS: 32, 8;
        CUDA_BATCH_MEM_OP_NODE_PARAMS_v2: 32, 8;
        CUasyncNotificationInfo: 16, 8;
        CUdevprop: 56, 4;
        CUaccessPolicyWindow: 32, 8;
        CUDA_KERNEL_NODE_PARAMS_v1: 56, 8;
        CUDA_KERNEL_NODE_PARAMS: 72, 8;
        CUDA_KERNEL_NODE_PARAMS_v3: 72, 8;
        CUDA_MEMSET_NODE_PARAMS: 40, 8;
        CUDA_MEMSET_NODE_PARAMS_v2: 48, 8;
        CUDA_HOST_NODE_PARAMS: 16, 8;
        CUDA_HOST_NODE_PARAMS_v2: 16, 8;
        CUDA_CONDITIONAL_NODE_PARAMS: 32, 8;
        CUgraphEdgeData: 8, 1;
        CUDA_GRAPH_INSTANTIATE_PARAMS: 32, 8;
        CUlaunchMemSyncDomainMap: 2, 1;
        CUlaunchAttributeValue: 64, 8;
        CUlaunchAttribute: 72, 8;
        CUlaunchConfig: 56, 8;
        CUexecAffinitySmCount: 4, 4;
        CUexecAffinityParam: 8, 4;
        CUctxCigParam: 16, 8;
        CUctxCreateParams: 24, 8;
        CUlibraryHostUniversalFunctionAndDataTable: 32, 8;
        CUDA_MEMCPY2D: 128, 8;
        CUDA_MEMCPY3D: 200, 8;
        CUDA_MEMCPY3D_PEER: 200, 8;
        CUDA_MEMCPY_NODE_PARAMS: 216, 8;
        CUDA_ARRAY_DESCRIPTOR: 24, 8;
        CUDA_ARRAY3D_DESCRIPTOR: 40, 8;
        CUDA_ARRAY_SPARSE_PROPERTIES: 48, 8;
        CUDA_ARRAY_MEMORY_REQUIREMENTS: 32, 8;
        CUDA_RESOURCE_DESC: 144, 8;
        CUDA_TEXTURE_DESC: 104, 4;
        CUDA_RESOURCE_VIEW_DESC: 112, 8;
        CUtensorMap: 128, 128;
        CUDA_POINTER_ATTRIBUTE_P2P_TOKENS: 16, 8;
        CUDA_LAUNCH_PARAMS: 56, 8;
        CUDA_EXTERNAL_MEMORY_HANDLE_DESC: 104, 8;
        CUDA_EXTERNAL_MEMORY_BUFFER_DESC: 88, 8;
        CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC: 120, 8;
        CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC: 96, 8;
        CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS: 144, 8;
        CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS: 144, 8;
        CUDA_EXT_SEM_SIGNAL_NODE_PARAMS: 24, 8;
        CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2: 24, 8;
        CUDA_EXT_SEM_WAIT_NODE_PARAMS: 24, 8;
        CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2: 24, 8;
        CUarrayMapInfo: 96, 8;
        CUmemLocation: 8, 4;
        CUmemAllocationProp: 32, 8;
        CUmulticastObjectProp: 32, 8;
        CUmemAccessDesc: 12, 4;
        CUgraphExecUpdateResultInfo: 24, 8;
        CUmemPoolProps: 88, 8;
        CUmemPoolPtrExportData: 64, 1;
        CUmemcpyAttributes: 24, 4;
        CUoffset3D: 24, 8;
        CUextent3D: 24, 8;
        CUmemcpy3DOperand: 40, 8;
        CUDA_MEMCPY3D_BATCH_OP: 112, 8;
        CUDA_MEM_ALLOC_NODE_PARAMS: 120, 8;
        CUDA_MEM_ALLOC_NODE_PARAMS_v2: 120, 8;
        CUDA_MEM_FREE_NODE_PARAMS: 8, 8;
        CUDA_CHILD_GRAPH_NODE_PARAMS: 16, 8;
        CUDA_EVENT_RECORD_NODE_PARAMS: 8, 8;
        CUDA_EVENT_WAIT_NODE_PARAMS: 8, 8;
        CUgraphNodeParams: 256, 8;
        CUcheckpointLockArgs: 64, 8;
        CUcheckpointCheckpointArgs: 64, 8;
        CUcheckpointGpuPair: 32, 1;
        CUcheckpointRestoreArgs: 64, 8;
        CUcheckpointUnlockArgs: 64, 8;
        CUmemDecompressParams: 64, 8;
        CUdevSmResource: 12, 4;
        CUdevResource: 144, 4;
    }
    assert!(wrong.is_empty(), "(type, size, alignment, C size, C alignment): {wrong:?}");
}
