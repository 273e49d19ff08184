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
        /// Its elements along the last axis.
        last: i64 = PowerOfTwo,
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
        /// Elements beside each other that a thread computes together, with loops over taps that are alike; 1 leaves taps
        /// without loops.
        adjacent: i64 = [1, 2, 4],
        /// Steps that a launch does, if results become fields again; more than one needs tiles.
        steps: i64 = [1, 2, 3, 4, 6, 8],
    }
    device {}
    require {
        columns * rows <= 1024;
        // What is unrolled takes long to compile.
        kernel == "tile" || items == 1 || items * taps <= 256;
        adjacent == 1 || kernel == "tile" && steps == 1 && taps >= 64;
        steps == 1 || iterated && kernel == "tile";
    }
    rule stencil_rule;
}

/// The least elements that are read for each result for which shared memory pays.
const TILE_TAPS: i64 = 25;

/// The least for which loops pay, whose code stays in caches.
const ROLLED_TAPS: i64 = 64;

/// Steps are fused where a field is larger than caches or where launches take longer than the work, and where the halo
/// stays small. On processors a step from memory costs less than a barrier, but the tests of borders do not.
fn stencil_rule(problem: &StencilProblem, device: &DeviceInfo) -> StencilChoice {
    let StencilProblem { axes, radius, taps, iterated, last, .. } = *problem;
    let fits = |most: i64| (last.max(1) as u64).next_power_of_two().clamp(32, most as u64) as i64;
    let is_large = axes > 1 && taps >= TILE_TAPS;
    if device.is_simd_cpu() {
        return match is_large {
            true => StencilChoice { kernel: "tile", columns: fits(64), rows: 4, items: 4, adjacent: 1, steps: 1 },
            false => StencilChoice { kernel: "direct", columns: fits(256), rows: 1, items: 1, adjacent: 1, steps: 1 },
        };
    }
    let steps = match (iterated, axes, radius) {
        (true, 1, 0..=4) => 8,
        (true, 2, 1) => 3,
        (true, 2, 2) => 2,
        _ => 1,
    };
    let kernel = if steps > 1 || is_large { "tile" } else { "direct" };
    let is_rolled = kernel == "tile" && steps == 1 && taps >= ROLLED_TAPS;
    let (columns, rows) = match axes {
        1 => (256, 1),
        _ if is_rolled => (fits(64), 256 / fits(64)),
        2 if steps > 1 => (fits(64), 128 / fits(64)),
        _ => (32, 8),
    };
    let (items, adjacent) = match kernel {
        "direct" => (2, 1),
        // Fewer and taller boxes have less halo.
        _ if axes == 2 && steps > 1 => (8, 1),
        _ => (4, if is_rolled { 4 } else { 1 }),
    };
    StencilChoice { kernel, columns, rows, items, adjacent, steps }
}

/// The decisions that specialised kernels leave open.
pub fn decisions() -> Vec<&'static Decision> {
    vec![StencilChoice::decision()]
}
