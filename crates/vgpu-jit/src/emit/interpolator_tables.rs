//! The interpolator's tables in the form that compiled code reads: doubles, 32 bytes for a piece.

use rtcg_vgpu_softmath::interpolator::{Pieces, TANH_OCTAVES};
use std::sync::LazyLock;

/// A table, by its number in [`super::relocations::RelocTarget::InterpolatorTable`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Table {
    Rcp,
    Rsqrt,
    Sqrt,
    Ex2,
    Lg2,
    Sin,
    Tanh,
    /// For the exponents of 2^-8 to 4: positions of 17 bits in a unit, and the number of the piece at 0.
    TanhOctaves,
}

/// Constant, slope and factor of the square; the last is nothing.
type Row = [f64; 4];

static TABLES: LazyLock<[Vec<Row>; 8]> = LazyLock::new(|| {
    let rows = |pieces: Pieces, unit: f64| {
        pieces.coefficients().map(|[a, b, c]| [a * unit, b * unit, c * unit, 0.0]).collect::<Vec<Row>>()
    };
    let (below_one, above_one) = (2f64.powi(-24), 2f64.powi(-23));
    let octaves = TANH_OCTAVES.iter().zip(-8..).map(|(&(first, bits), exponent)| {
        [2f64.powi(bits as i32 - exponent), first as f64 - f64::from(1 << (bits - 17)), 0.0, 0.0]
    });
    [
        rows(Pieces::RCP, below_one),
        rows(Pieces::RSQRT, below_one),
        rows(Pieces::SQRT, above_one),
        rows(Pieces::EX2, above_one),
        rows(Pieces::LG2, above_one),
        rows(Pieces::SIN, below_one),
        rows(Pieces::TANH, below_one),
        octaves.collect(),
    ]
});

/// The address of a table, the same as long as the process runs.
pub(crate) fn table_address(number: u32) -> Option<usize> {
    TABLES.get(number as usize).map(|table| table.as_ptr() as usize)
}
