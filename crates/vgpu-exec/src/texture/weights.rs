//! Weights of the texels of a filter, in 1/256, and the taps that they make.
//!
//! A level, or a slice of a volume, has a weight. The fractions of x and then of y split it; every product is rounded
//! to 1/256 before the next, so that the weights of all texels make exactly 256.

use super::filter::ColorSum;

/// A texel that takes part in a filter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tap {
    /// In 1/256. A texel whose weight was rounded to zero takes part too: it may be a NaN.
    pub(crate) weight: i32,
    /// Which slice it belongs to: one of two levels, of two slices of a volume, or of both.
    pub(crate) slice: usize,
    /// Its channels, see [`super::format::ChannelAccess::channel_as_f64`].
    pub(crate) texel: ColorSum,
}

/// Eight texels of a volume in each of two levels.
const MAX_TAPS: usize = 16;

/// The taps of a filter: eight for a level, so at most [`MAX_TAPS`].
pub(crate) struct TapList {
    taps: [Tap; MAX_TAPS],
    len: usize,
}

impl TapList {
    /// No taps.
    #[inline(always)]
    pub(crate) fn new() -> TapList {
        TapList { taps: [Tap { weight: 0, slice: 0, texel: [0.0; 4] }; MAX_TAPS], len: 0 }
    }

    /// Adds a tap.
    #[inline(always)]
    pub(crate) fn push(&mut self, weight: i32, slice: usize, texel: ColorSum) {
        self.taps[self.len] = Tap { weight, slice, texel };
        self.len += 1;
    }

    /// The taps.
    #[inline(always)]
    pub(crate) fn as_slice(&self) -> &[Tap] {
        &self.taps[..self.len]
    }
}

/// The weights of four texels, low row first, which share `whole`; `x` and `y` are fractions of 256.
#[inline(always)]
pub(crate) fn split_weight(whole: i32, x: i32, y: i32) -> [i32; 4] {
    let right = (whole * x + 128) >> 8;
    let left = whole - right;
    // Halves go to the upper right and to the lower left texel.
    let (upper_right, upper_left) = ((right * y + 128) >> 8, (left * y + 127) >> 8);
    [left - upper_left, right - upper_right, upper_left, upper_right]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Weights of an H200 for fractions of x and y.
    #[test]
    fn weights_of_a_plane_are_rounded_products() {
        for (x, y, weights) in [
            (130, 57, [98, 101, 28, 29]),
            (127, 168, [44, 44, 85, 83]),
            (1, 50, [205, 1, 50, 0]),
            (235, 252, [0, 4, 21, 231]),
            (92, 32, [144, 80, 20, 12]),
            (19, 128, [119, 9, 118, 10]),
        ] {
            assert_eq!(split_weight(256, x, y), weights, "{x} {y}");
        }
    }

    /// Weights of an H200 for fractions of x, y and z: lower slice, upper slice.
    #[test]
    fn weights_of_a_volume_are_split_by_x_and_then_by_y() {
        for (x, y, z, lower, upper) in [
            (52, 173, 63, [50, 13, 104, 26], [16, 4, 34, 9]),
            (131, 26, 87, [75, 77, 8, 9], [38, 40, 4, 5]),
            (88, 155, 112, [37, 20, 57, 30], [29, 15, 44, 24]),
            (172, 22, 196, [18, 37, 2, 3], [59, 121, 5, 11]),
        ] {
            assert_eq!(split_weight(256 - z, x, y), lower, "{x} {y} {z}");
            assert_eq!(split_weight(z, x, y), upper, "{x} {y} {z}");
        }
    }
}
