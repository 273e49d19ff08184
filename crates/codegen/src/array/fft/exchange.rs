//! Where the elements of a block's transforms lie in shared memory between two stages.
//!
//! Padding keeps adjacent threads off the same banks. It is behind whole rows of what the writing stage's butterflies
//! make, and its distance divides that of the elements of the reading stage's butterflies. So in both stages the
//! elements of a butterfly are equally far apart, and a kernel computes one address for all of them.

use std::fmt::Write;

/// Places of elements, in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FftExchange {
    /// From an element of a transform to the next.
    pub element_stride: u16,
    /// From a transform to the next.
    pub column_stride: u32,
    /// Elements of a transform between paddings.
    pub interval: u16,
    /// Length of the padding behind each of these; 0 for none.
    pub padding: u16,
}

impl FftExchange {
    /// The place of an element of a transform.
    pub fn place(self, element: usize, column: usize) -> usize {
        let padding = element.checked_div(self.interval.into()).unwrap_or(0) * usize::from(self.padding);
        element * usize::from(self.element_stride) + padding + column * self.column_stride as usize
    }

    /// Elements of shared memory that transforms take.
    pub fn allocated(self, length: usize, columns: usize) -> usize {
        self.place(length - 1, columns - 1) + 1
    }

    /// [`FftExchange::place`] as an expression.
    pub(super) fn place_source(self, element: &str, column: &str) -> String {
        let mut text = format!("{column} * {}u + {element} * {}u", self.column_stride, self.element_stride);
        if self.padding > 0 {
            let _ = write!(text, " + {element} / {}u * {}u", self.interval, self.padding);
        }
        text
    }

    /// The place of the first result of the butterfly `i` of column `c`, behind stages whose radices multiply to
    /// `before`.
    pub(super) fn row_source(self, radix: usize, before: usize) -> String {
        let row = before * radix * usize::from(self.element_stride);
        let mut text = format!("c * {}u + i / {before}u * {row}u", self.column_stride);
        if before > 1 {
            let _ = write!(text, " + i % {before}u * {}u", self.element_stride);
        }
        if self.padding > 0 {
            let _ = write!(text, " + i / {}u * {}u", usize::from(self.interval) / radix, self.padding);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_elements_of_a_butterfly_are_equally_far_apart() {
        // Radices 10, 10, 10: padding behind each row of what the second stage writes.
        let exchange = FftExchange { element_stride: 1, column_stride: 1100, interval: 100, padding: 6 };
        for i in 0..100 {
            for r in 0..10 {
                let written = i / 10 * 100 + i % 10 + r * 10;
                assert_eq!(exchange.place(written, 0), exchange.place(i / 10 * 100 + i % 10, 0) + 10 * r);
                assert_eq!(exchange.place(i + 100 * r, 0), exchange.place(i, 0) + exchange.place(100, 0) * r);
            }
        }
        assert_eq!(exchange.place_source("i", "c"), "c * 1100u + i * 1u + i / 100u * 6u");
        assert_eq!(exchange.row_source(10, 10), "c * 1100u + i / 10u * 100u + i % 10u * 1u + i / 10u * 6u");
        assert_eq!(exchange.allocated(1000, 2), 1100 + 999 + 9 * 6 + 1);
    }
}
