//! Filter banks, pools and local norms on random images, dtypes and windows.

use crate::contexts::{context, large_gpu};
use crate::host_arrays::{Random, array, assert_close, elements, message};
use rtcg_array::{GpuArray, Index, Order};
use rtcg_hal::DType;
use rtcg_ndimage::{LocalNorm, Pool, filter_bank, local_norm, pool};

/// Images of rows, columns and channels.
struct Images {
    shape: [usize; 4],
    pixels: Vec<f64>,
}

impl Images {
    fn random(shape: [usize; 4], seed: u64) -> Self {
        Self { shape, pixels: Random(seed).whole_numbers(shape.iter().product(), -6, 6) }
    }

    fn at(&self, image: usize, row: usize, column: usize, channel: usize) -> f64 {
        let [_, rows, columns, channels] = self.shape;
        self.pixels[((image * rows + row) * columns + column) * channels + channel]
    }

    /// What `value` makes of each place where a window fits, for each of so many results.
    fn windows(
        &self,
        size: [usize; 2],
        strides: [usize; 2],
        results: usize,
        value: impl Fn(usize, usize, usize, usize) -> f64,
    ) -> Vec<f64> {
        let [images, rows, columns, _] = self.shape;
        let tops = (0..=rows - size[0]).step_by(strides[0]);
        let mut all = Vec::new();
        for image in 0..images {
            for top in tops.clone() {
                for left in (0..=columns - size[1]).step_by(strides[1]) {
                    all.extend((0..results).map(|result| value(image, top, left, result)));
                }
            }
        }
        all
    }
}

#[test]
fn filter_banks_of_all_dtypes_are_sums_over_windows() {
    let mut random = Random(1);
    for ctx in [context(), large_gpu()] {
        for seed in 0..8 {
            let [images, rows, columns] = [1 + random.below(3), 1 + random.below(20), 1 + random.below(90)];
            let channels = 1 + random.below(5);
            let [height, width] = [1 + random.below(rows.min(6)), 1 + random.below(columns.min(9))];
            let filters = 1 + random.below(12);
            let x = Images::random([images, rows, columns, channels], seed);
            let w = Random(50 + seed).whole_numbers(filters * height * width * channels, -2, 2);
            let wanted = x.windows([height, width], [1, 1], filters, |image, top, left, filter| {
                let mut sum = 0.0;
                for tap in 0..height * width * channels {
                    let (i, j, d) = (tap / channels / width, tap / channels % width, tap % channels);
                    sum += x.at(image, top + i, left + j, d) * w[filter * height * width * channels + tap];
                }
                sum
            });
            let shapes = (x.shape, [filters, height, width, channels]);
            let (image, bank) = (array(&ctx, &shapes.0, &x.pixels), array(&ctx, &shapes.1, &w));
            for (of_image, of_bank, result) in [
                (DType::F32, DType::F32, DType::F32),
                (DType::F64, DType::F32, DType::F64),
                (DType::I8, DType::F32, DType::F32),
                (DType::I32, DType::I16, DType::F64),
            ] {
                let found =
                    filter_bank(&image.astype(of_image).unwrap(), &bank.astype(of_bank).unwrap(), None, None).unwrap();
                assert_eq!(found.shape(), [images, rows - height + 1, columns - width + 1, filters]);
                assert_eq!(found.dtype(), result, "{of_image} and {of_bank}");
                let found: Vec<f64> = elements(&found.astype(DType::F64).unwrap());
                assert!(found == wanted, "{shapes:?} of {of_image} and {of_bank}");
            }
            // Sums of float16 are of float32, rounded once.
            let [image, bank] = [&image, &bank].map(|array| array.astype(DType::F16).unwrap());
            let found = filter_bank(&image, &bank, Some("relu"), None).unwrap();
            let rounded: Vec<f64> = wanted.iter().map(|&sum| f64::max(sum, 0.0)).collect();
            let rounded = array(&ctx, found.shape(), &rounded).astype(DType::F16).unwrap();
            let as_doubles = |array: &GpuArray| elements::<f64>(&array.astype(DType::F64).unwrap());
            assert_eq!(as_doubles(&found), as_doubles(&rounded), "{shapes:?} of float16");
        }
    }
}

#[test]
fn banks_write_to_results_of_any_layout() {
    for ctx in [context(), large_gpu()] {
        let x = array(&ctx, &[7, 8, 2], &Random(2).whole_numbers(112, -6, 6));
        let w = array(&ctx, &[3, 2, 2, 2], &Random(3).whole_numbers(24, -6, 6));
        let wanted: Vec<f64> = elements(&filter_bank(&x, &w, None, None).unwrap());
        let wide = GpuArray::zeros(&ctx, &[6, 7, 6], DType::F64, Order::C).unwrap();
        let every_second = wide.index(&[Index::Ellipsis, Index::Slice(None, None, Some(2))]).unwrap();
        filter_bank(&x, &w, None, Some(&every_second)).unwrap();
        assert_eq!(elements::<f64>(&every_second), wanted);
        assert_eq!(elements::<f64>(&wide).iter().skip(1).step_by(2).sum::<f64>(), 0.0);
        // Over the image itself, with one filter of one tap.
        let one = array(&ctx, &[2, 1, 1, 2], &[0.0, 1.0, 2.0, 0.0]);
        let pixels: Vec<f64> = elements(&x);
        filter_bank(&x, &one, None, Some(&x)).unwrap();
        let swapped: Vec<f64> = pixels.chunks(2).flat_map(|pair| [pair[1], 2.0 * pair[0]]).collect();
        assert_eq!(elements::<f64>(&x), swapped);
        let small = GpuArray::zeros(&ctx, &[6, 7, 2], DType::F64, Order::C).unwrap();
        assert!(message(filter_bank(&x, &w, None, Some(&small))).contains("(6, 7, 3)"));
        assert_eq!(
            message(filter_bank(&x, &w, Some("  "), None)),
            "activation is empty; expected an expression of `acc` and `f`"
        );
    }
}

#[test]
fn banks_without_channels_filters_or_images_are_zeros_or_empty() {
    let ctx = context();
    let empty = |shape: &[usize]| GpuArray::empty(&ctx, shape, DType::F32, Order::C).unwrap();
    let found = filter_bank(&empty(&[4, 5, 0]), &empty(&[3, 2, 2, 0]), None, None).unwrap();
    assert_eq!((found.shape(), elements::<f32>(&found)), (&[3, 4, 3][..], vec![0.0; 36]));
    assert_eq!(filter_bank(&empty(&[4, 5, 2]), &empty(&[0, 2, 2, 2]), None, None).unwrap().shape(), [3, 4, 0]);
    assert_eq!(filter_bank(&empty(&[0, 4, 5, 2]), &empty(&[1, 2, 2, 2]), None, None).unwrap().shape(), [0, 3, 4, 1]);
    assert_eq!(pool(&empty(&[0, 4, 5, 2]), [2, 2], [1, 1], Pool::Max).unwrap().shape(), [0, 3, 4, 2]);
}

#[test]
fn activations_apply_where_there_is_nothing_to_sum() {
    let ctx = context();
    let empty = |shape: &[usize]| GpuArray::empty(&ctx, shape, DType::F32, Order::C).unwrap();
    let found = filter_bank(&empty(&[2, 2, 0]), &empty(&[3, 1, 1, 0]), Some("acc + f"), None).unwrap();
    assert_eq!(elements::<f32>(&found), [0.0, 1.0, 2.0].repeat(4));
}

#[test]
fn pools_of_all_kinds_are_those_of_loops() {
    let mut random = Random(4);
    for ctx in [context(), large_gpu()] {
        for seed in 0..6 {
            let [images, rows, columns] = [1 + random.below(3), 1 + random.below(20), 1 + random.below(90)];
            let channels = 1 + random.below(4);
            let size = [1 + random.below(rows.min(5)), 1 + random.below(columns.min(6))];
            let strides = [1 + random.below(4), 1 + random.below(9)];
            let x = Images::random([images, rows, columns, channels], seed);
            let image = array(&ctx, &x.shape, &x.pixels);
            let of_window = |what: &dyn Fn(&[f64]) -> f64| {
                x.windows(size, strides, channels, |image, top, left, channel| {
                    let taps = (0..size[0] * size[1]).map(|tap| (top + tap / size[1], left + tap % size[1]));
                    what(&taps.map(|(row, column)| x.at(image, row, column, channel)).collect::<Vec<_>>())
                })
            };
            let largest = of_window(&|window| window.iter().copied().fold(f64::NEG_INFINITY, f64::max));
            let magnitude = of_window(&|window| window.iter().fold(0.0, |most, x| f64::max(most, x.abs())));
            let norm = |p: f64| of_window(&|window| window.iter().map(|x| x.abs().powf(p)).sum::<f64>().powf(1.0 / p));
            for (kind, wanted) in [
                (Pool::Max, largest),
                (Pool::Norm(f64::INFINITY), magnitude),
                (Pool::Norm(1.0), norm(1.0)),
                (Pool::Norm(2.0), norm(2.0)),
                (Pool::Norm(0.5), norm(0.5)),
            ] {
                let found = pool(&image, size, strides, kind).unwrap();
                let what = format!("{kind:?} of {:?}, {size:?} every {strides:?}", x.shape);
                assert_close(&elements(&found), &wanted, 1e-12, &what);
                let single = pool(&image.astype(DType::F32).unwrap(), size, strides, kind).unwrap();
                assert_eq!(single.dtype(), DType::F32);
                assert_close(&elements(&single.astype(DType::F64).unwrap()), &wanted, 1e-5, &what);
            }
        }
    }
}

#[test]
fn pools_keep_nan_and_do_not_overflow() {
    for ctx in [context(), large_gpu()] {
        for [a, b] in [[f64::NAN, 1.0], [1.0, f64::NAN]] {
            for kind in [Pool::Max, Pool::Norm(1.0), Pool::Norm(2.0), Pool::Norm(f64::INFINITY)] {
                let found = pool(&array(&ctx, &[1, 2, 1], &[a, b]), [1, 2], [1, 1], kind).unwrap();
                assert!(elements::<f64>(&found)[0].is_nan(), "{kind:?} of {a} and {b}");
            }
        }
        let of = |numbers: [f64; 2], kind| {
            elements::<f64>(&pool(&array(&ctx, &[1, 2, 1], &numbers), [1, 2], [1, 1], kind).unwrap())[0]
        };
        assert_close(&[of([3e200, 4e200], Pool::Norm(2.0))], &[5e200], 1e-14, "squares that overflow");
        assert_close(&[of([3e-200, 4e-200], Pool::Norm(2.0)) * 1e200], &[5.0], 1e-13, "squares that underflow");
        assert_eq!(of([0.0, 0.0], Pool::Norm(3.0)), 0.0);
        assert_eq!(of([f64::INFINITY, 1.0], Pool::Norm(3.0)), f64::INFINITY);
        assert_eq!(of([-5.0, -7.0], Pool::Max), -5.0);
    }
}

#[test]
fn local_norms_are_those_of_the_formula() {
    let mut random = Random(5);
    for ctx in [context(), large_gpu()] {
        for seed in 0..6 {
            let [images, rows, columns] = [1 + random.below(2), 1 + random.below(12), 1 + random.below(80)];
            let channels = 1 + random.below(4);
            let size = [1 + random.below(rows.min(5)), 1 + random.below(columns.min(5))];
            let x = Images::random([images, rows, columns, channels], 20 + seed);
            for (is_centered, stretch, threshold) in
                [(true, 1.0, 0.5), (false, 0.25, 3.0), (true, 2.0, 1e9), (false, 0.0, 0.0)]
            {
                let wanted = x.windows(size, [1, 1], channels, |image, top, left, channel| {
                    let taps = (0..size[0] * size[1] * channels).map(|tap| {
                        x.at(image, top + tap / channels / size[1], left + tap / channels % size[1], tap % channels)
                    });
                    let taps: Vec<f64> = taps.collect();
                    let mean = if is_centered { taps.iter().sum::<f64>() / taps.len() as f64 } else { 0.0 };
                    let norm = stretch * taps.iter().map(|tap| (tap - mean).powi(2)).sum::<f64>().sqrt();
                    let middle = x.at(image, top + size[0] / 2, left + size[1] / 2, channel);
                    stretch * (middle - mean) / if norm > threshold { norm } else { 1.0 }
                });
                let options = LocalNorm { size, is_centered, stretch, threshold };
                let found = local_norm(&array(&ctx, &x.shape, &x.pixels), options).unwrap();
                let what = format!("{:?} by {options:?}", x.shape);
                assert_close(&elements(&found), &wanted, 1e-12, &what);
            }
        }
        let spoiled = array(&ctx, &[1, 3, 1], &[1.0, f64::NAN, 2.0]);
        let options = LocalNorm { size: [1, 2], is_centered: true, stretch: 1.0, threshold: 1.0 };
        assert!(elements::<f64>(&local_norm(&spoiled, options).unwrap()).iter().all(|x| x.is_nan()));
        for (name, wrong) in [
            ("stretch", LocalNorm { stretch: -1.0, ..options }),
            ("threshold", LocalNorm { threshold: f64::NAN, ..options }),
            ("stretch", LocalNorm { stretch: f64::INFINITY, ..options }),
        ] {
            let error = message(local_norm(&spoiled, wrong));
            assert!(error.starts_with(name) && error.ends_with("expected a finite number of at least 0"), "{error}");
        }
        let error = message(local_norm(&spoiled, LocalNorm { size: [1, 4], ..options }));
        assert_eq!(error, "size is 1 x 4; expected 1 x 1 to 1 x 3, as x has shape (1, 3, 1)");
    }
}
