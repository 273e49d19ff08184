//! How maps with reductions in them run: a decision that is tuned.

use rtcg_hal::{DeviceInfo, tunable};

tunable! {
    /// How the reductions inside of a map run.
    pub(crate) NestForm = "copperhead.nest";
    /// A map with reductions.
    problem NestProblem {
        /// Elements of the map.
        n: i64 = PowerOfTwo,
        /// Elements of a reduction; their mean where rows differ.
        m: i64 = PowerOfTwo,
        /// Whether rows differ in length.
        ragged: bool = Exact,
    }
    parameters {
        /// `thread`: each thread reduces a row. `warp`: each warp. `rows`: rows of one length are reduced by a kernel of
        /// their own, as arrays are.
        form: &'static str = ["thread", "warp", "rows"],
    }
    device {}
    require {
        form != "rows" || !ragged;
    }
    rule nest_rule;
}

/// Threads read short rows from caches; longer ones need adjacent threads for adjacent elements.
fn nest_rule(problem: &NestProblem, device: &DeviceInfo) -> NestForm {
    let form = match *problem {
        _ if device.is_simd_cpu() => "thread",
        NestProblem { m, .. } if m < 8 => "thread",
        NestProblem { n, m, .. } if m <= 16 && n >= 1 << 16 => "thread",
        NestProblem { ragged: true, .. } => "warp",
        _ => "rows",
    };
    NestForm { form }
}
