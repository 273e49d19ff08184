//! `cudaGraphSetConditional` in device code.

use super::{ensure_stack, lane_indices, raise_fault, warp_of_ctx};
use crate::graph_conditional::GraphConditional;
use rtcg_vgpu_abi::LaneValues;
use rtcg_vgpu_abi::WarpCtx;
use rtcg_vgpu_abi::fault::FaultKind;

pub(super) unsafe extern "C" fn set_conditional(
    ctx: *mut WarpCtx,
    mask: u32,
    site: u32,
    handles: *const LaneValues,
    values: *const LaneValues,
) {
    // SAFETY: compiled code passes its context and arrays of 32 lanes.
    unsafe {
        ensure_stack(warp_of_ctx(ctx), site);
        for lane in lane_indices(mask) {
            let (handle, value) = ((*handles)[lane], (*values)[lane] as u32);
            let found = GraphConditional::find(handle).map(|condition| condition.set_value(value)).is_some();
            if !found {
                let what = "cudaGraphSetConditional of a condition that does not exist";
                raise_fault(warp_of_ctx(ctx), FaultKind::IllegalAddress, what, lane as u32, site, handle);
            }
        }
    }
}
