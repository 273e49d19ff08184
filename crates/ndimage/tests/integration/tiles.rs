//! Correlations of large images, which come to shared memory in tiles.

use crate::contexts::{context, cuda_runtime, large_gpu};
use crate::fake_device::{FakeDevice, LARGE_GPU};
use crate::filters::{Host, MODES};
use crate::host_arrays::{Random, array, elements};
use rtcg_array::{GpuArray, Order};
use rtcg_hal::{DType, DeviceInfo};
use rtcg_ndimage::{FilterOptions, Mode, convolve, correlate, uniform_filter};
use std::sync::Arc;

/// Shapes of images and weights, axes, origins. Lines, planes and volumes with all tiles: wide and narrow blocks, one row,
/// rows of more taps than registers hold, rows that are no multiple of a vector, images before the filtered axes, axes
/// between them, windows that are larger than an axis.
type Case = (&'static [usize], &'static [usize], &'static [usize], &'static [isize]);
const CASES: [Case; 18] = [
    (&[4500], &[5], &[0], &[1]),
    (&[4500], &[40], &[0], &[-3]),
    (&[3, 1700], &[9], &[1], &[0]),
    (&[70, 133], &[5, 5], &[0, 1], &[0]),
    (&[70, 133], &[4, 7], &[0, 1], &[1, -2]),
    (&[61, 130], &[3, 18], &[0, 1], &[-1, 2]),
    (&[130, 61], &[17, 1], &[0, 1], &[4, 0]),
    (&[500, 13], &[3, 3], &[0, 1], &[0]),
    (&[300, 20], &[2, 26], &[0, 1], &[0, 12]),
    (&[5, 900], &[11, 3], &[0, 1], &[-5, 1]),
    (&[1, 5000], &[3, 3], &[0, 1], &[1, 0]),
    (&[2, 50, 60], &[6, 9], &[1, 2], &[0]),
    (&[40, 7, 20], &[9], &[0], &[-2]),
    (&[9, 31, 21], &[3, 4, 5], &[0, 1, 2], &[0, 1, -2]),
    (&[40, 12, 16], &[7, 3, 10], &[0, 1, 2], &[3, -1, 0]),
    (&[3, 40, 44], &[8, 2, 2], &[0, 1, 2], &[-4, 0, 0]),
    (&[13, 24, 18], &[5, 6], &[0, 2], &[2, -3]),
    (&[2, 3, 6, 5, 40], &[3, 2, 4], &[2, 3, 4], &[1, 0, 1]),
];

#[test]
fn every_tile_gives_the_sums_of_a_loop() {
    let mut random = Random(11);
    for multiprocessors in [132, 3] {
        let device = DeviceInfo { multiprocessors, ..LARGE_GPU };
        let (ctx, record) = FakeDevice::on(Arc::new(cuda_runtime())).claiming(device).context();
        // Planes are divided by the number of multiprocessors.
        let cases = CASES.into_iter().enumerate().filter(|(_, case)| multiprocessors > 3 || case.1.len() == 3);
        for (case, (shape, taps, axes, origins)) in cases {
            let image = random.whole_numbers(shape.iter().product(), -9, 9);
            let weights = random.whole_numbers(taps.iter().product(), -4, 4);
            let (x, w) = (array(&ctx, shape, &image), array(&ctx, taps, &weights));
            let signed: Vec<isize> = axes.iter().map(|&axis| axis as isize).collect();
            for dtype in [DType::F32, DType::F64, [DType::F16, DType::I16, DType::I64][case % 3]] {
                // Another mode along each axis.
                let modes: Vec<Mode> =
                    (0..axes.len()).map(|k| MODES[(case + k + multiprocessors as usize) % 5]).collect();
                let options = FilterOptions {
                    modes: &modes,
                    origins,
                    cval: 3.0,
                    axes: Some(&signed),
                    ..FilterOptions::default()
                };
                let host = Host {
                    shape,
                    image: &image,
                    weights_shape: taps,
                    weights: &weights,
                    axes,
                    modes: &modes,
                    origins,
                    cval: 3.0,
                };
                let found = correlate(&x.astype(dtype).unwrap(), &w, &options).unwrap();
                let expected: Vec<f64> = match dtype {
                    // Sums that float16 rounds.
                    DType::F16 => elements(
                        &array(&ctx, shape, &host.correlate()).astype(dtype).unwrap().astype(DType::F64).unwrap(),
                    ),
                    _ => host.correlate(),
                };
                let found: Vec<f64> = elements(&found.astype(DType::F64).unwrap());
                assert_eq!(found, expected, "{shape:?} {taps:?} {modes:?} {dtype}");
            }
            assert!(
                record.sources.lock().unwrap().iter().any(|text| text.contains("ndimage_correlate_tile")),
                "{shape:?}"
            );
            record.sources.lock().unwrap().clear();
        }
    }
}

#[test]
fn sums_of_tiles_are_those_without_bit_for_bit() {
    let mut random = Random(12);
    for (shape, taps) in [(vec![71, 130], vec![3, 4]), (vec![10, 30, 33], vec![2, 3, 3]), (vec![4999], vec![21])] {
        let [image, weights] = [&shape, &taps].map(|n| {
            let numbers = random.whole_numbers(n.iter().product(), -99_999, 99_999);
            numbers.iter().map(|number| number / 7919.0).collect::<Vec<f64>>()
        });
        for mode in MODES {
            let options = FilterOptions { modes: &[mode], cval: 0.1, ..FilterOptions::default() };
            for dtype in [DType::F32, DType::F64] {
                let [with, without] = [large_gpu(), context()].map(|ctx| {
                    let [x, w] = [(&shape, &image), (&taps, &weights)]
                        .map(|(shape, values)| array(&ctx, shape, values).astype(dtype).unwrap());
                    // Also of an array in another order, and the mean.
                    let other = x.copy(Some(Order::F)).unwrap();
                    let means = uniform_filter(&x, &[3], &options).unwrap();
                    let all = [correlate(&x, &w, &options), convolve(&other, &w, &options), Ok(means)];
                    all.map(|found| bits(&found.unwrap()))
                });
                assert_eq!(with, without, "{shape:?} {taps:?} {mode:?} {dtype}");
            }
        }
    }
}

fn bits(array: &GpuArray) -> Vec<u8> {
    let mut bytes = vec![0; array.nbytes()];
    array.read(&mut bytes, Order::C).unwrap();
    bytes
}

#[test]
fn numbers_that_are_not_finite_reach_the_windows_that_have_them() {
    let ctx = large_gpu();
    let mut image = vec![1.0; 90 * 80];
    (image[40 * 80 + 31], image[0]) = (f64::NAN, f64::INFINITY);
    let (x, w) = (array(&ctx, &[90, 80], &image), array(&ctx, &[3, 5], &[1.0; 15]));
    let options = FilterOptions { modes: &[Mode::Constant], ..FilterOptions::default() };
    let found: Vec<f64> = elements(&correlate(&x, &w, &options).unwrap());
    for (at, found) in found.into_iter().enumerate() {
        let (row, column) = (at / 80, at % 80);
        let has_nan = row.abs_diff(40) <= 1 && column.abs_diff(31) <= 2;
        assert_eq!((found.is_nan(), found.is_infinite()), (has_nan, row <= 1 && column <= 2), "{row} {column}");
    }
}
