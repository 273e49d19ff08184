//! Arrays from Rust: heat spreads in a plate, by array operations, by one expression, and checked with `ndarray`.
//!
//! `cargo run --release -p rtcg --example arrays`

#![allow(unsafe_code, reason = "expressions are foreign code")]

use ndarray::{Array2, s};
use rtcg::index;
use rtcg::prelude::*;

/// One step by array operations: five views, four additions.
fn heat_step_by_operators(plate: &GpuArray<f32>) -> rtcg::Result<GpuArray<f32>> {
    let next = plate.copy()?;
    let inner = plate.index(&index![1..-1, 1..-1])?;
    let (up, down) = (plate.index(&index![..-2, 1..-1])?, plate.index(&index![2.., 1..-1])?);
    let (left, right) = (plate.index(&index![1..-1, ..-2])?, plate.index(&index![1..-1, 2..])?);
    let around = up + down + left + right;
    next.index(&index![1..-1, 1..-1])?.assign(&(&inner + (around - &inner * 4.0) * 0.2))?;
    Ok(next)
}

/// The same with one kernel for the vertical and one for the horizontal neighbours.
fn heat_step_by_expressions(plate: &GpuArray<f32>) -> rtcg::Result<GpuArray<f32>> {
    let next = plate.copy()?;
    let inner = plate.index(&index![1..-1, 1..-1])?;
    let (up, down) = (plate.index(&index![..-2, 1..-1])?, plate.index(&index![2.., 1..-1])?);
    let (left, right) = (plate.index(&index![1..-1, ..-2])?, plate.index(&index![1..-1, 2..])?);
    // SAFETY: the expressions touch no memory.
    let moved = unsafe {
        let vertical = inner.zip3::<f32, f32, f32>(&up, &down, "0.2f * (y + z - 2 * x)")?;
        let horizontal = inner.zip3::<f32, f32, f32>(&left, &right, "0.2f * (y + z - 2 * x)")?;
        inner.zip3::<f32, f32, f32>(&vertical, &horizontal, "x + y + z")?
    };
    next.index(&index![1..-1, 1..-1])?.assign(&moved)?;
    Ok(next)
}

#[expect(clippy::reversed_empty_ranges, reason = "indices of `ndarray` count from the end, too")]
fn heat_step_on_host(plate: &Array2<f32>) -> Array2<f32> {
    let inner = plate.slice(s![1..-1, 1..-1]);
    let around = &plate.slice(s![..-2, 1..-1])
        + &plate.slice(s![2.., 1..-1])
        + plate.slice(s![1..-1, ..-2])
        + plate.slice(s![1..-1, 2..]);
    let mut next = plate.clone();
    next.slice_mut(s![1..-1, 1..-1]).assign(&(&inner + (around - &inner * 4.0) * 0.2));
    next
}

fn main() -> rtcg::Result<()> {
    let arrays = ArrayFactory::new(&Context::new()?)?;
    let mut host = Array2::zeros((64, 96));
    host.slice_mut(s![.., 0]).fill(100.0);
    let mut by_operators = arrays.from_ndarray(&host)?;
    let mut by_expressions = by_operators.copy()?;
    for _ in 0..50 {
        by_operators = heat_step_by_operators(&by_operators)?;
        by_expressions = heat_step_by_expressions(&by_expressions)?;
        host = heat_step_on_host(&host);
    }
    let expected = arrays.from_ndarray(&host)?;
    for (name, plate) in [("operators", &by_operators), ("expressions", &by_expressions)] {
        let error = (plate - &expected).abs()?.max()?;
        println!("{name}: mean {:.3} degrees, at most {error:.1e} from ndarray's", plate.mean()?);
        assert!(error < 1e-3, "{name} differ from the host by {error}");
    }
    let warm = by_operators.greater(1.0)?.count_true()?;
    println!("{warm} of {} places are warmer than 1 degree", by_operators.len());
    Ok(())
}
