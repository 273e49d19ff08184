//! Correlation in any number of dimensions: borders, even kernels, origins, dtypes, and filters built from it.

use crate::contexts::{context, large_gpu};
use crate::host_arrays::{Random, array, assert_close, elements, message, vector};
use rtcg_array::{GpuArray, Index, Order};
use rtcg_hal::{ArrayErrorKind, DType};
use rtcg_ndimage::{
    FilterOptions, Mode, convolve, convolve1d, correlate, correlate1d, gaussian_filter, uniform_filter,
};

pub(crate) const MODES: [Mode; 5] = [Mode::Reflect, Mode::Nearest, Mode::Mirror, Mode::Constant, Mode::Wrap];

/// The place in a line of `n` pixels that a mode gives one beyond its borders, found by walking; none for a constant.
fn place(mode: Mode, mut p: isize, n: isize) -> Option<isize> {
    while !(0..n).contains(&p) {
        p = match mode {
            Mode::Constant => return None,
            Mode::Nearest => p.clamp(0, n - 1),
            Mode::Wrap => p + if p < 0 { n } else { -n },
            // About the edge of the pixel, and about its middle.
            Mode::Reflect => -1 - p + if p < 0 { 0 } else { 2 * n },
            Mode::Mirror if n == 1 => 0,
            Mode::Mirror => -p + if p < 0 { 0 } else { 2 * (n - 1) },
        };
    }
    Some(p)
}

/// A filter on some axes of an image: shapes, elements, and where it is.
pub(crate) struct Host<'a> {
    pub(crate) shape: &'a [usize],
    pub(crate) image: &'a [f64],
    pub(crate) weights_shape: &'a [usize],
    pub(crate) weights: &'a [f64],
    pub(crate) axes: &'a [usize],
    pub(crate) modes: &'a [Mode],
    pub(crate) origins: &'a [isize],
    pub(crate) cval: f64,
}

impl Host<'_> {
    /// Coordinates of an element in C order.
    fn unravel(mut flat: usize, shape: &[usize]) -> Vec<isize> {
        let mut at = vec![0; shape.len()];
        for (axis, &length) in shape.iter().enumerate().rev() {
            (at[axis], flat) = ((flat % length) as isize, flat / length);
        }
        at
    }

    pub(crate) fn correlate(&self) -> Vec<f64> {
        let one = |list: usize| if list == 1 { |_| 0 } else { |k: usize| k };
        let (mode_of, origin_of) = (one(self.modes.len()), one(self.origins.len()));
        let pixel = |flat: usize| {
            let at = Self::unravel(flat, self.shape);
            let mut sum = 0.0;
            for (tap, weight) in self.weights.iter().enumerate() {
                let offset = Self::unravel(tap, self.weights_shape);
                let mut source = Some(at.clone());
                for (k, &axis) in self.axes.iter().enumerate() {
                    let middle = (self.weights_shape[k] / 2) as isize + self.origins[origin_of(k)];
                    let p = place(self.modes[mode_of(k)], at[axis] + offset[k] - middle, self.shape[axis] as isize);
                    source = source.zip(p).map(|(mut source, p)| {
                        source[axis] = p;
                        source
                    });
                }
                let value = source.map_or(self.cval, |source| {
                    self.image[source.iter().zip(self.shape).fold(0, |flat, (&p, &n)| flat * n + p as usize)]
                });
                sum += value * weight;
            }
            sum
        };
        (0..self.image.len()).map(pixel).collect()
    }
}

#[test]
fn every_border_and_origin_is_that_of_a_loop() {
    let mut random = Random(1);
    for ctx in [context(), large_gpu()] {
        for (shape, taps) in [
            (vec![11], vec![4]),
            (vec![3], vec![9]),
            (vec![1], vec![4]),
            (vec![7, 5], vec![3, 2]),
            (vec![2, 3], vec![5, 6]),
            (vec![3, 4, 5], vec![2, 1, 3]),
            (vec![2, 3, 2, 3], vec![1, 2, 2, 1]),
        ] {
            let image = random.whole_numbers(shape.iter().product(), -9, 9);
            let weights = random.whole_numbers(taps.iter().product(), -4, 4);
            let axes: Vec<usize> = (0..shape.len()).collect();
            let (x, w) = (array(&ctx, &shape, &image), array(&ctx, &taps, &weights));
            for mode in MODES {
                // All origins that fit, each on all axes at once, and another mode on each axis.
                let lowest = taps.iter().map(|n| -((n / 2) as isize)).max().unwrap();
                let highest = taps.iter().map(|n| ((n - 1) / 2) as isize).min().unwrap();
                for origin in lowest..=highest {
                    let modes: Vec<Mode> =
                        axes.iter().map(|&k| if k % 2 == 0 { mode } else { Mode::Nearest }).collect();
                    let options =
                        FilterOptions { modes: &modes, origins: &[origin], cval: 5.0, ..FilterOptions::default() };
                    let host = Host {
                        shape: &shape,
                        image: &image,
                        weights_shape: &taps,
                        weights: &weights,
                        axes: &axes,
                        modes: &modes,
                        origins: &[origin],
                        cval: 5.0,
                    };
                    let found: Vec<f64> = elements(&correlate(&x, &w, &options).unwrap());
                    assert_eq!(found, host.correlate(), "{mode:?} {shape:?} {taps:?}, origin {origin}");
                }
            }
        }
    }
}

#[test]
fn convolutions_are_correlations_with_reversed_weights() {
    let mut random = Random(2);
    for ctx in [context(), large_gpu()] {
        for taps in [[1usize, 1], [2, 3], [4, 5], [6, 2]] {
            let image = random.whole_numbers(8 * 9, -9, 9);
            let weights = random.whole_numbers(taps[0] * taps[1], -4, 4);
            let (x, w) = (array(&ctx, &[8, 9], &image), array(&ctx, &taps, &weights));
            // SciPy's rule for the middle of a reversed filter of even length.
            let moved = taps.map(|n| -isize::from(n.is_multiple_of(2)));
            let reversed = w.flip(None).unwrap();
            let mode = [Mode::Mirror];
            let at = |origins| FilterOptions { modes: &mode, origins, ..FilterOptions::default() };
            let found: Vec<f64> = elements(&convolve(&x, &w, &at(&[])).unwrap());
            let expected: Vec<f64> = elements(&correlate(&x, &reversed, &at(&moved)).unwrap());
            assert_eq!(found, expected, "{taps:?}");
            let mut impulse = vec![0.0; 72];
            impulse[4 * 9 + 4] = 1.0;
            let image = array(&ctx, &[8, 9], &impulse);
            let constant = FilterOptions { modes: &[Mode::Constant], ..FilterOptions::default() };
            let spread: Vec<f64> = elements(&convolve(&image, &w, &constant).unwrap());
            for (k, weight) in weights.iter().enumerate() {
                let [i, j] = [k / taps[1], k % taps[1]];
                // The response to one pixel is the filter, with the tap n / 2 on the pixel.
                let [row, column] = [4 + i, 4 + j];
                let (row, column) = (row - taps[0] / 2, column - taps[1] / 2);
                assert_eq!(spread[row * 9 + column], *weight, "{taps:?}: tap {i}, {j}");
            }
        }
    }
}

#[test]
fn filters_apply_to_the_axes_that_are_named() {
    let mut random = Random(3);
    let ctx = context();
    let shape = [4, 5, 6];
    let image = random.whole_numbers(120, -9, 9);
    let weights = random.whole_numbers(6, -4, 4);
    let x = array(&ctx, &shape, &image);
    for (axes, signed) in [([0usize, 2], [0isize, -1]), ([2, 0], [-1, 0]), ([1, 2], [1, 2])] {
        let options = FilterOptions {
            axes: Some(&signed),
            modes: &[Mode::Wrap, Mode::Reflect],
            origins: &[1, 0],
            ..FilterOptions::default()
        };
        let host = Host {
            shape: &shape,
            image: &image,
            weights_shape: &[3, 2],
            weights: &weights,
            axes: &axes,
            modes: &[Mode::Wrap, Mode::Reflect],
            origins: &[1, 0],
            cval: 0.0,
        };
        let found: Vec<f64> = elements(&correlate(&x, &array(&ctx, &[3, 2], &weights), &options).unwrap());
        assert_eq!(found, host.correlate(), "axes {signed:?}");
    }
    let line = vector(&ctx, &weights[..4]);
    for axis in [0isize, 1, -1] {
        let axes = [axis.rem_euclid(3) as usize];
        let host = Host {
            shape: &shape,
            image: &image,
            weights_shape: &[4],
            weights: &weights[..4],
            axes: &axes,
            modes: &[Mode::Reflect],
            origins: &[0],
            cval: 0.0,
        };
        let found = correlate1d(&x, &line, axis, &FilterOptions::default()).unwrap();
        assert_eq!(elements::<f64>(&found), host.correlate(), "axis {axis}");
        let reversed = line.flip(None).unwrap();
        let moved = FilterOptions { origins: &[-1], ..FilterOptions::default() };
        let convolved = convolve1d(&x, &line, axis, &FilterOptions::default()).unwrap();
        let expected = correlate1d(&x, &reversed, axis, &moved).unwrap();
        assert_eq!(elements::<f64>(&convolved), elements::<f64>(&expected), "axis {axis}");
    }
}

#[test]
fn dtypes_of_images_weights_and_results_are_independent() {
    let mut random = Random(4);
    let image = random.whole_numbers(200, 0, 20);
    let weights = random.whole_numbers(9, 0, 3);
    for ctx in [context(), large_gpu()] {
        let x = array(&ctx, &[10, 20], &image);
        let w = array(&ctx, &[3, 3], &weights);
        let wanted: Vec<f64> = elements(&correlate(&x, &w, &FilterOptions::default()).unwrap());
        for (of_image, of_weights, result) in [
            (DType::U16, DType::F32, None),
            (DType::F32, DType::I8, None),
            (DType::F16, DType::F16, Some(DType::F32)),
            (DType::I32, DType::F64, Some(DType::F64)),
            (DType::BF16, DType::F32, Some(DType::F32)),
            (DType::F64, DType::U8, Some(DType::I64)),
            (DType::I64, DType::Bool, Some(DType::U64)),
        ] {
            let wanted = match of_weights {
                DType::Bool => {
                    let is_any =
                        array(&ctx, &[3, 3], &weights.iter().map(|&w| f64::from(w != 0.0)).collect::<Vec<_>>());
                    elements(&correlate(&x, &is_any, &FilterOptions::default()).unwrap())
                }
                _ => wanted.clone(),
            };
            let options = FilterOptions { dtype: result, ..FilterOptions::default() };
            let found = correlate(&x.astype(of_image).unwrap(), &w.astype(of_weights).unwrap(), &options).unwrap();
            assert_eq!(found.dtype(), result.unwrap_or(of_image));
            let found: Vec<f64> = elements(&found.astype(DType::F64).unwrap());
            assert_eq!(found, wanted, "{of_image}, {of_weights}");
        }
        // Integers are cut, and wrap as the host's do; the mean of 1 and 2 is 1.
        let pair = vector(&ctx, &[1i32, 2, 300]);
        let half = vector(&ctx, &[0.5, 0.5]);
        assert_eq!(elements::<i32>(&correlate(&pair, &half, &FilterOptions::default()).unwrap()), [1, 1, 151]);
        let bytes = FilterOptions { dtype: Some(DType::U8), ..FilterOptions::default() };
        let negative = correlate(&pair, &vector(&ctx, &[-1.0]), &bytes).unwrap();
        assert_eq!(elements::<u8>(&negative), [255, 254, 212]);
    }
}

#[test]
fn views_and_images_without_pixels_are_filtered() {
    let ctx = context();
    let x = array(&ctx, &[6, 8], &Random(5).whole_numbers(48, -9, 9));
    let w = array(&ctx, &[2, 3], &Random(6).whole_numbers(6, -9, 9));
    let items = [Index::Slice(None, None, Some(-2)), Index::Slice(Some(1), None, Some(3))];
    let views = [x.index(&items).unwrap(), x.transpose(None).unwrap()];
    for view in &views {
        let copied = correlate(&view.copy(Some(Order::C)).unwrap(), &w, &FilterOptions::default()).unwrap();
        let found = correlate(
            view,
            &w.transpose(None).unwrap().copy(None).unwrap().transpose(None).unwrap(),
            &FilterOptions::default(),
        );
        assert_eq!(elements::<f64>(&found.unwrap()), elements::<f64>(&copied));
    }
    let nothing = GpuArray::empty(&ctx, &[0, 5], DType::F32, Order::C).unwrap();
    for mode in MODES {
        let options = FilterOptions { modes: &[mode], ..FilterOptions::default() };
        assert_eq!(correlate(&nothing, &w, &options).unwrap().shape(), [0, 5]);
    }
    assert_eq!(uniform_filter(&nothing, &[3], &FilterOptions::default()).unwrap().shape(), [0, 5]);
    let point = array(&ctx, &[], &[3.0]);
    assert_eq!(
        elements::<f64>(&correlate(&point, &array(&ctx, &[], &[2.0]), &FilterOptions::default()).unwrap()),
        [6.0]
    );
    assert_eq!(elements::<f64>(&uniform_filter(&point, &[3], &FilterOptions::default()).unwrap()), [3.0]);
    // No axis is filtered: what is left of a filter is one weight.
    let none = FilterOptions { axes: Some(&[]), ..FilterOptions::default() };
    let doubled = correlate(&x, &array(&ctx, &[], &[2.0]), &none).unwrap();
    assert_eq!(elements::<f64>(&doubled), elements::<f64>(&x).iter().map(|x| 2.0 * x).collect::<Vec<_>>());
    assert_eq!(elements::<f64>(&uniform_filter(&x, &[3], &none).unwrap()), elements::<f64>(&x));
}

#[test]
fn nan_reaches_the_pixels_whose_window_has_it() {
    let ctx = context();
    let mut image = vec![1.0; 20];
    (image[7], image[15]) = (f64::NAN, f64::INFINITY);
    let found: Vec<f64> = elements(
        &correlate(&vector(&ctx, &image), &vector(&ctx, &[0.0, 1.0, 2.0]), &FilterOptions::default()).unwrap(),
    );
    for (k, value) in found.iter().enumerate() {
        match k {
            6..=8 => assert!(value.is_nan(), "{k}: {value}"),
            14 | 15 => assert_eq!(*value, f64::INFINITY),
            // Infinity times the weight 0.
            16 => assert!(value.is_nan()),
            _ => assert_eq!(*value, 3.0, "{k}"),
        }
    }
}

#[test]
fn means_are_those_of_windows() {
    let mut random = Random(7);
    for ctx in [context(), large_gpu()] {
        let image = random.numbers(12 * 15);
        let x = array(&ctx, &[12, 15], &image);
        for (sizes, origins) in [([3usize, 4], [0isize, 0]), ([1, 5], [0, 2]), ([4, 2], [-2, 0]), ([30, 1], [0, 0])] {
            for mode in MODES {
                let weights = vec![1.0; sizes[0] * sizes[1]];
                let host = Host {
                    shape: &[12, 15],
                    image: &image,
                    weights_shape: &sizes,
                    weights: &weights,
                    axes: &[0, 1],
                    modes: &[mode],
                    origins: &origins,
                    cval: 0.25,
                };
                let wanted: Vec<f64> = host.correlate().iter().map(|sum| sum / weights.len() as f64).collect();
                // One axis after the other, beyond whose borders a constant is no mean of constants.
                let options =
                    FilterOptions { modes: &[mode], origins: &origins, cval: 0.25, ..FilterOptions::default() };
                let found: Vec<f64> = elements(&uniform_filter(&x, &sizes, &options).unwrap());
                assert_close(&found, &wanted, 1e-13, &format!("{mode:?} {sizes:?} {origins:?}"));
            }
        }
    }
}

/// Derivatives of a Gaussian by the polynomials of Hermite, normalised as SciPy does.
fn gaussian(sigma: f64, order: usize, radius: usize) -> Vec<f64> {
    let places = || (0..=2 * radius).map(|k| k as f64 - radius as f64);
    let density = |x: f64| (-x * x / (2.0 * sigma * sigma)).exp();
    let sum: f64 = places().map(density).sum();
    let polynomial = |x: f64| match order {
        0 => 1.0,
        1 => -x / sigma.powi(2),
        2 => x * x / sigma.powi(4) - 1.0 / sigma.powi(2),
        _ => -x.powi(3) / sigma.powi(6) + 3.0 * x / sigma.powi(4),
    };
    places().map(|x| polynomial(x) * density(x) / sum).collect()
}

#[test]
fn gaussians_and_their_derivatives_are_those_of_the_formula() {
    let mut random = Random(8);
    for ctx in [context(), large_gpu()] {
        let image = random.numbers(9 * 20);
        let x = array(&ctx, &[9, 20], &image);
        for (sigmas, orders, radii) in [
            ([1.0, 1.0], [0usize, 0], vec![]),
            ([0.7, 2.0], [1, 2], vec![]),
            ([1.5, 0.0], [3, 0], vec![]),
            ([2.0, 1.0], [0, 1], vec![3usize, 6]),
        ] {
            let mut wanted = image.clone();
            for axis in 0..2 {
                if sigmas[axis] == 0.0 {
                    continue;
                }
                let radius = radii.get(axis).copied().unwrap_or((4.0 * sigmas[axis] + 0.5) as usize);
                let mut weights = gaussian(sigmas[axis], orders[axis], radius);
                // Convolution.
                weights.reverse();
                let host = Host {
                    shape: &[9, 20],
                    image: &wanted,
                    weights_shape: &[weights.len()],
                    weights: &weights,
                    axes: &[axis],
                    modes: &[Mode::Reflect],
                    origins: &[0],
                    cval: 0.0,
                };
                wanted = host.correlate();
            }
            let found = gaussian_filter(&x, &sigmas, &orders, &radii, 4.0, &FilterOptions::default()).unwrap();
            assert_close(&elements(&found), &wanted, 1e-12, &format!("{sigmas:?} {orders:?}"));
        }
    }
    // The first derivative of a ramp is its slope.
    let ctx = context();
    let ramp: Vec<f64> = (0..40).map(|k| 0.5 * k as f64).collect();
    let slope: Vec<f64> =
        elements(&gaussian_filter(&vector(&ctx, &ramp), &[1.5], &[1], &[], 6.0, &FilterOptions::default()).unwrap());
    assert_close(&slope[10..30], &[0.5; 20], 1e-8, "the slope");
}

#[test]
fn large_images_have_many_blocks() {
    for ctx in [context(), large_gpu()] {
        let (rows, columns) = (300, 401);
        let image = Random(9).whole_numbers(rows * columns, -9, 9);
        let (x, w) = (array(&ctx, &[rows, columns], &image), array(&ctx, &[2, 2], &[1.0, -2.0, 3.0, 4.0]));
        let found: Vec<f64> = elements(&correlate(&x, &w, &FilterOptions::default()).unwrap());
        for (k, &value) in found.iter().enumerate() {
            let at = |i: usize, j: usize| image[i * columns + j];
            let (i, j) = (k / columns, k % columns);
            let (up, left) = (i.saturating_sub(1), j.saturating_sub(1));
            let wanted = at(up, left) - 2.0 * at(up, j) + 3.0 * at(i, left) + 4.0 * at(i, j);
            assert_eq!(value, wanted, "pixel {i}, {j}");
        }
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let ctx = context();
    let x = array(&ctx, &[4, 5], &[1.0; 20]);
    let w = array(&ctx, &[3, 3], &[1.0; 9]);
    let default = FilterOptions::default;
    let of = |options: FilterOptions<'_>| message(correlate(&x, &w, &options));
    let modes = [Mode::Wrap; 3];
    assert_eq!(
        of(FilterOptions { modes: &modes, ..default() }),
        "mode has 3 values; expected 1, or 2, one for each axis"
    );
    assert_eq!(
        of(FilterOptions { origins: &[0, 0, 0], ..default() }),
        "origin has 3 values; expected 1, or 2, one for each axis"
    );
    assert_eq!(
        of(FilterOptions { origins: &[0, -2], ..default() }),
        "origin is -2 on axis 1; expected an integer from -1 to 1 for weights of length 3"
    );
    assert!(of(FilterOptions { axes: Some(&[0]), ..default() }).contains("weights have shape (3, 3); expected 1 axes"));
    assert!(of(FilterOptions { axes: Some(&[0, 0]), ..default() }).contains("axis"));
    let error = correlate(&x, &w, &FilterOptions { axes: Some(&[0, 2]), ..default() }).unwrap_err();
    assert_eq!(error.kind(), ArrayErrorKind::Axis, "{error}");
    let complex = FilterOptions { dtype: Some(DType::C64), ..default() };
    assert_eq!(of(complex), "the dtype of the output is complex64; expected one of real numbers");
    let z = x.astype(DType::C128).unwrap();
    assert!(message(correlate(&z, &w, &default())).contains("input"));
    assert!(message(correlate(&x, &w.astype(DType::C64).unwrap(), &default())).contains("weights"));
    let empty = GpuArray::empty(&ctx, &[3, 0], DType::F64, Order::C).unwrap();
    assert!(message(correlate(&x, &empty, &default())).contains("weights have shape (3, 0)"));
    assert_eq!(message(uniform_filter(&x, &[3, 0], &default())), "size is 0; expected an integer of at least 1");
    assert_eq!(
        message(uniform_filter(&x, &[3, 1, 1], &default())),
        "size has 3 values; expected 1, or 2, one for each axis"
    );
    let gaussian = |sigma: f64, radii: &[usize], truncate| {
        message(gaussian_filter(&x, &[sigma], &[0], radii, truncate, &default()))
    };
    assert_eq!(gaussian(-1.0, &[], 4.0), "sigma is -1; expected a finite number of at least 0");
    assert_eq!(gaussian(f64::INFINITY, &[], 4.0), "sigma is inf; expected a finite number of at least 0");
    assert_eq!(gaussian(1.0, &[], f64::NAN), "truncate is NaN; expected a number of at least 0");
    assert!(gaussian(1.0, &[1 << 25], 4.0).contains("the radius is 33554432"));
    assert!(gaussian(1e300, &[], 4.0).contains("expected at most 16777216"));
}
