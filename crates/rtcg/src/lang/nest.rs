//! How maps with reductions in them run, and maps over rows: decisions that are tuned.

use rtcg_hal::{DeviceInfo, tunable};
use rtcg_lang::emit::ROW_THREADS;

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
        /// `thread`: each thread reduces a row. `lanes8`, `lanes16`, `warp`: as many lanes. `split`: 16 lanes, and blocks the
        /// longest rows. `rows`: rows of one length are reduced by a kernel of their own, as arrays are.
        form: &'static str = ["thread", "lanes8", "lanes16", "warp", "split", "rows"],
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
        // Lengths of rows may differ by orders of magnitude; then two more launches are little.
        NestProblem { n, m, ragged: true } if n.saturating_mul(m) >= 1 << 20 => "split",
        NestProblem { n, m, .. } if m <= 16 && n >= 1 << 16 => "thread",
        NestProblem { m, ragged: true, .. } if m <= 10 => "lanes8",
        NestProblem { m, ragged: true, .. } if m <= 24 => "lanes16",
        NestProblem { ragged: true, .. } => "warp",
        _ => "rows",
    };
    NestForm { form }
}

tunable! {
    /// Whether blocks of a map have parts of adjacent rows, where its index is divided by a number, or one is added to it.
    pub(crate) RowsForm = "copperhead.rows";
    /// A map along one axis.
    problem RowsProblem {
        /// Elements.
        n: i64 = PowerOfTwo,
        /// The number.
        width: i64 = PowerOfTwo,
    }
    parameters {
        /// How many times a block goes to further rows; 0: elements are in order.
        times: i64 = [0, 1, 2, 4, 8],
    }
    device {}
    require {
        times <= n;
    }
    rule rows_rule;
}

fn rows_rule(problem: &RowsProblem, device: &DeviceInfo) -> RowsForm {
    let RowsProblem { n, width } = *problem;
    // Fewer elements are in caches anyway.
    if device.is_simd_cpu() || n < 1 << 18 || !(32..=n / 2).contains(&width) {
        return RowsForm { times: 0 };
    }
    // Blocks go on where enough of them are left to fill the device.
    let resident = (ROW_THREADS as usize * device.resident_blocks_of(ROW_THREADS)) as i64;
    RowsForm { times: 1 << (n / (2 * resident)).clamp(1, 8).ilog2() }
}

tunable! {
    /// Whether a map and the reduction of what it stores are one kernel.
    pub(crate) StoringForm = "copperhead.storing";
    /// A map along one axis.
    problem StoringProblem {
        /// Elements.
        n: i64 = PowerOfTwo,
    }
    parameters {
        /// Whether they are.
        together: bool = [false, true],
    }
    device {}
    require {
        n >= 0;
    }
    rule storing_rule;
}

/// Processors compute maps with vectors, whose stores reductions do not have.
fn storing_rule(_: &StoringProblem, device: &DeviceInfo) -> StoringForm {
    StoringForm { together: !device.is_simd_cpu() }
}
