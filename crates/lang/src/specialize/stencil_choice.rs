//! The choice between kernels of stencils.

use rtcg_hal::tuning::{Decision, Tunable};
use rtcg_hal::{DeviceInfo, tunable};

tunable! {
    /// How a stencil is computed.
    pub StencilChoice = "stencil.kernel";
    /// Fields of one shape, of which elements within a radius are read.
    problem StencilProblem {
        /// The number of axes.
        axes: i64 = Exact,
        /// The largest distance of an element that is read.
        radius: i64 = Exact,
        /// Elements that are read for each result.
        taps: i64 = PowerOfTwo,
        /// The bytes of an element of all fields together.
        bytes: i64 = Exact,
        /// Elements of a field.
        size: i64 = PowerOfTwo,
        /// Whether results become fields again.
        iterated: bool = Exact,
    }
    parameters {
        /// `direct` reads from memory, `tile` from copies of parts of the fields in shared memory.
        kernel: &'static str = ["direct", "tile"],
        /// Threads along the last axis.
        columns: i64 = [32, 64, 128, 256],
        /// Threads along the axis before.
        rows: i64 = [1, 2, 4, 8, 16],
        /// Elements that a thread computes, one below the other.
        items: i64 = [1, 2, 4, 8],
        /// Steps that a launch does, if results become fields again; more than one needs tiles.
        steps: i64 = [1, 2, 3, 4, 6, 8],
    }
    device {}
    require {
        columns * rows <= 1024;
        steps == 1 || iterated && kernel == "tile";
    }
    rule stencil_rule;
}

/// The least taps for which shared memory pays where caches are those of a GPU.
const TILE_TAPS: i64 = 25;

/// Steps are fused where a field is larger than caches or where launches take longer than the work, and where the halo
/// stays small.
fn stencil_rule(problem: &StencilProblem, device: &DeviceInfo) -> StencilChoice {
    let StencilProblem { axes, radius, taps, iterated, .. } = *problem;
    if device.is_simd_cpu() {
        return StencilChoice { kernel: "direct", columns: 256, rows: 1, items: 1, steps: 1 };
    }
    let steps = match (iterated, axes, radius) {
        (true, 1, 0..=4) => 8,
        (true, 2, 1) => 4,
        (true, 2, 2) => 2,
        _ => 1,
    };
    let kernel = if steps > 1 || axes > 1 && taps >= TILE_TAPS { "tile" } else { "direct" };
    let (columns, rows) = if axes == 1 { (256, 1) } else { (32, 8) };
    StencilChoice { kernel, columns, rows, items: if kernel == "tile" { 4 } else { 2 }, steps }
}

/// The decisions that specialised kernels leave open.
pub fn decisions() -> Vec<&'static Decision> {
    vec![StencilChoice::decision()]
}
