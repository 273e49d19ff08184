//! Layers on images of small integers: the kernels that sizes and devices choose, and what they share.

use crate::contexts::{context_claiming, cuda_runtime};
use crate::fake_device::{FakeDevice, LARGE_GPU};
use crate::host_arrays::{array, elements};
use rtcg_array::{GpuArray, Index, Op, Order};
use rtcg_hal::{ArrayContext, DType, DeviceInfo, ExecutionModel, Result};
use rtcg_ndimage::{
    FilterOptions, LocalNorm, Mode, Pool, convolve, correlate, filter_bank, gaussian_filter, local_norm, pool,
    uniform_filter,
};
use std::sync::Arc;

fn element_value(i: usize) -> i64 {
    (i as i64 * 7919 + 13) % 101 - 50
}

fn integer_array(ctx: &Arc<ArrayContext>, shape: &[usize], dtype: DType) -> GpuArray {
    let numbers: Vec<i64> = (0..shape.iter().product()).map(element_value).collect();
    array(ctx, shape, &numbers).astype(dtype).unwrap()
}

fn i64_values(array: &GpuArray) -> Vec<i64> {
    elements(&array.astype(DType::I64).unwrap())
}

const CPU: DeviceInfo = DeviceInfo { execution: ExecutionModel::SimdCpu, vector_bytes: 1, ..LARGE_GPU };

/// The sums of a filter bank for small integers.
fn bank_by_loop(x: [usize; 4], w: [usize; 4]) -> Vec<i64> {
    let ([images, rows, columns, channels], [filters, height, width, _]) = (x, w);
    let mut all = Vec::new();
    for at in 0..images * (rows - height + 1) * (columns - width + 1) * filters {
        let (f, rest) = (at % filters, at / filters);
        let (column, rest) = (rest % (columns - width + 1), rest / (columns - width + 1));
        let (row, image) = (rest % (rows - height + 1), rest / (rows - height + 1));
        let mut sum = 0;
        for tap in 0..height * width * channels {
            let (d, j, i) = (tap % channels, tap / channels % width, tap / channels / width);
            let pixel = ((image * rows + row + i) * columns + column + j) * channels + d;
            sum += element_value(pixel) * element_value(f * height * width * channels + tap);
        }
        all.push(sum);
    }
    all
}

fn bank(ctx: &Arc<ArrayContext>, x: [usize; 4], w: [usize; 4], dtype: DType) -> Vec<i64> {
    let (images, filters) = (integer_array(ctx, &x, dtype), integer_array(ctx, &w, dtype));
    i64_values(&filter_bank(&images, &filters, None, None).unwrap())
}

#[test]
fn filter_banks_of_any_size_are_those_of_a_loop_on_gpus_and_cpus() {
    // Several blocks and a tail; more filters than a thread has; one tap; a filter as large as the image; wide filters,
    // of which not all taps fit in shared memory; images with and without a kernel of their own.
    let cases = [
        ([1, 61, 75, 3], [11, 5, 9, 3]),
        ([3, 21, 35, 3], [11, 5, 9, 3]),
        ([2, 9, 7, 10], [3, 1, 1, 10]),
        ([1, 6, 13, 1], [1, 6, 13, 1]),
        ([1, 5, 150, 2], [9, 3, 141, 2]),
    ];
    for device in [LARGE_GPU, CPU] {
        let ctx = context_claiming(device);
        for (x, w) in cases {
            assert_eq!(bank(&ctx, x, w, DType::F64), bank_by_loop(x, w), "{x:?} {w:?}");
        }
        let (x, w) = cases[0];
        assert_eq!(bank(&ctx, x, w, DType::F32), bank_by_loop(x, w));
    }
}

#[test]
fn filter_banks_of_large_images_are_those_of_a_loop_in_all_divisions() {
    // Images and groups of filters; stages of channels, the last with fewer, and rows in pieces; vectors of all lengths
    // in and out; devices with few and many multiprocessors and little shared memory.
    let cases = [
        ([2, 61, 75, 3], [11, 5, 9, 3]),
        ([1, 66, 64, 11], [6, 3, 19, 11]),
        ([1, 70, 97, 4], [4, 8, 8, 4]),
        ([1, 69, 83, 6], [40, 2, 1, 6]),
        ([1, 5, 1000, 2], [3, 4, 130, 2]),
    ];
    for (multiprocessors, shared_bytes) in [(132, 227 << 10), (2, 227 << 10), (40, 48 << 10)] {
        let device = DeviceInfo { multiprocessors, shared_bytes, ..LARGE_GPU };
        let (ctx, record) = FakeDevice::on(Arc::new(cuda_runtime())).claiming(device).context();
        for (x, w) in cases {
            assert_eq!(
                bank(&ctx, x, w, DType::F32),
                bank_by_loop(x, w),
                "{multiprocessors} {shared_bytes} {x:?} {w:?}"
            );
            assert!(record.sources.lock().unwrap().iter().any(|text| text.contains("Correlation of large images")));
            record.sources.lock().unwrap().clear();
        }
        // Filters that fill no group, whose numbers the activation sees; an image that begins at an odd element.
        let (x, w) = ([1, 66, 64, 2], [5, 3, 4, 2]);
        let longer = integer_array(&ctx, &[66 * 64 * 2 + 1], DType::F32);
        let image = longer.index(&[Index::Slice(Some(1), None, None)]).unwrap();
        let image = image.reshape(&[1, 66, 64, 2], Order::C).unwrap();
        let aligned = image.copy(None).unwrap();
        let filters = integer_array(&ctx, &w, DType::F32);
        let by = |x: &GpuArray, activation| i64_values(&filter_bank(x, &filters, activation, None).unwrap());
        let found = by(&image, Some("acc + f"));
        let expected: Vec<i64> = by(&aligned, None).iter().zip(0i64..).map(|(sum, at)| sum + at % 5).collect();
        assert_eq!(found, expected, "{x:?} {w:?}");
    }
}

#[test]
fn small_images_share_kernels() {
    for device in [LARGE_GPU, CPU] {
        let ctx = context_claiming(device);
        let kernels_after = |x: [usize; 4], [filters, height, width]: [usize; 3]| {
            let w = [filters, height, width, x[3]];
            assert_eq!(bank(&ctx, x, w, DType::F32), bank_by_loop(x, w), "{x:?} {w:?}");
            let image = integer_array(&ctx, &x, DType::F32);
            pool(&image, [height, width], [width, height], Pool::Max).unwrap();
            let options = LocalNorm { size: [height, width], is_centered: true, stretch: 1.0, threshold: 1.0 };
            local_norm(&image, options).unwrap();
            ctx.kernel_cache_usage().inserted
        };
        let first = kernels_after([2, 9, 7, 2], [9, 3, 2]);
        assert_eq!(kernels_after([1, 3, 64, 3], [16, 1, 2]), first);
        assert_eq!(kernels_after([1, 20, 35, 9], [13, 17, 2]), first, "rows of a filter in pieces");
        assert_eq!(kernels_after([1, 64, 64, 2], [9, 3, 2]), first);
        assert_eq!(kernels_after([1, 64, 65, 2], [9, 3, 2]), first + 3);
    }
}

#[test]
fn activations_see_the_sum_and_the_filter() {
    let ctx = context_claiming(CPU);
    let (x, w) = (integer_array(&ctx, &[6, 7, 2], DType::F32), integer_array(&ctx, &[3, 2, 2, 2], DType::F32));
    let found = filter_bank(&x, &w, Some("clip(acc, -100, 100) + f"), None).unwrap();
    let sums = bank_by_loop([1, 6, 7, 2], [3, 2, 2, 2]);
    let expected: Vec<i64> = sums.iter().enumerate().map(|(i, sum)| sum.clamp(&-100, &100) + i as i64 % 3).collect();
    assert_eq!(i64_values(&found), expected);
    let error = filter_bank(&x, &w, Some("acc +"), None).unwrap_err().to_string();
    assert!(error.contains("activation"), "{error}");
    let same = filter_bank(&x, &w, None, Some(&found)).unwrap();
    assert_eq!((i64_values(&found), same.first_element_address()), (sums, found.first_element_address()));
}

/// Where in an image a place lies that may be beyond a border.
type Place<'a> = &'a dyn Fn(isize) -> Option<usize>;

/// Correlation along one axis by a loop, with the place of each tap in the image.
fn line_by_loop(x: &[i64], w: &[i64], center: isize, place: impl Fn(isize) -> Option<usize>) -> Vec<i64> {
    let sum = |p: isize| -> i64 { w.iter().zip(p - center..).map(|(w, at)| place(at).map_or(7, |at| x[at]) * w).sum() };
    (0..x.len() as isize).map(sum).collect()
}

#[test]
fn borders_are_those_of_their_modes_and_filters_may_be_longer_than_images() {
    let ctx = context_claiming(CPU);
    for (n, taps) in [(9usize, 4usize), (3, 11), (1, 5)] {
        let (x, w) = (integer_array(&ctx, &[n], DType::F64), integer_array(&ctx, &[taps], DType::I32));
        let (numbers, weights) = (i64_values(&x), i64_values(&w));
        let length = n as isize;
        let inside = |p: isize| (0..length).contains(&p).then_some(p as usize);
        let reflect = |p: isize| {
            inside({
                let q = p.rem_euclid(2 * length);
                q.min(2 * length - 1 - q)
            })
        };
        let mirror = |p: isize| {
            inside({
                let q = p.rem_euclid((2 * length - 2).max(1));
                if n == 1 { 0 } else { q.min(2 * length - 2 - q) }
            })
        };
        let places: [(Mode, Place); 5] = [
            (Mode::Reflect, &reflect),
            (Mode::Nearest, &|p| inside(p.clamp(0, length - 1))),
            (Mode::Mirror, &mirror),
            (Mode::Constant, &inside),
            (Mode::Wrap, &|p| inside(p.rem_euclid(length))),
        ];
        for (mode, place) in places {
            let options = FilterOptions { modes: &[mode], cval: 7.0, origins: &[1], ..Default::default() };
            let expected = line_by_loop(&numbers, &weights, taps as isize / 2 + 1, place);
            assert_eq!(i64_values(&correlate(&x, &w, &options).unwrap()), expected, "{mode:?} {n} {taps}");
            let reversed: Vec<i64> = weights.iter().rev().copied().collect();
            let center = taps as isize / 2 - 1 - isize::from(taps % 2 == 0);
            let expected = line_by_loop(&numbers, &reversed, center, place);
            assert_eq!(i64_values(&convolve(&x, &w, &options).unwrap()), expected, "convolution, {mode:?} {n} {taps}");
        }
    }
}

#[test]
fn axes_means_and_gaussians() {
    let ctx = context_claiming(CPU);
    let x = integer_array(&ctx, &[4, 5, 6], DType::I32);
    let constant = integer_array(&ctx, &[1], DType::F64).broadcast_to(&[4, 5]).unwrap();
    let w = integer_array(&ctx, &[3, 2], DType::F64);
    // The axes of weights are in the order of `axes`.
    let options = |axes: &'static [isize]| FilterOptions { axes: Some(axes), ..Default::default() };
    let found = correlate(&x, &w, &options(&[2, 0])).unwrap();
    let expected = correlate(&x, &w.swapaxes(0, 1).unwrap().expand_dims(&[1]).unwrap(), &FilterOptions::default());
    assert_eq!(i64_values(&found), i64_values(&expected.unwrap()));
    for same in [
        uniform_filter(&constant, &[3], &FilterOptions::default()).unwrap(),
        gaussian_filter(&constant, &[1.5, 0.0], &[0], &[], 4.0, &FilterOptions::default()).unwrap(),
    ] {
        let below = same.binary(Op::Subtract, 0.25).unwrap();
        assert_eq!(i64_values(&below.astype(DType::I64).unwrap()), vec![element_value(0); 20]);
    }
}

#[test]
fn pools_and_local_norms_of_a_few_pixels() {
    let ctx = context_claiming(CPU);
    let x = integer_array(&ctx, &[3, 4, 1], DType::F32);
    let numbers = i64_values(&x);
    let window = |r: usize, c: usize| [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(i, j)| numbers[(r + i) * 4 + c + j]);
    let largest = pool(&x, [2, 2], [1, 2], Pool::Max).unwrap();
    let expected: Vec<i64> = [(0, 0), (0, 2), (1, 0), (1, 2)].map(|(r, c)| *window(r, c).iter().max().unwrap()).into();
    assert_eq!((largest.shape(), i64_values(&largest)), (&[2, 2, 1][..], expected));
    let sums = pool(&x, [2, 2], [2, 2], Pool::Norm(1.0)).unwrap();
    assert_eq!(i64_values(&sums), [window(0, 0), window(0, 2)].map(|w| w.iter().map(|x| x.abs()).sum::<i64>()));
    let size = [3, 4];
    let one = local_norm(&x, LocalNorm { size, is_centered: true, stretch: 1e3, threshold: 1e30 }).unwrap();
    let mean = numbers.iter().sum::<i64>() as f64 / 12.0;
    assert!((i64_values(&one)[0] as f64 - 1e3 * (numbers[6] as f64 - mean)).abs() < 2.0);
}

#[test]
fn bad_input_is_named() {
    let ctx = context_claiming(CPU);
    let array = |shape: &[usize]| integer_array(&ctx, shape, DType::F32);
    let refused = |result: Result<GpuArray>, expected: &str| {
        let error = result.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    let bank = |x: &[usize], w: &[usize]| filter_bank(&array(x), &array(w), None, None);
    refused(bank(&[4, 4], &[1, 1, 1, 1]), "x has shape (4, 4); expected (..., rows, columns, channels)");
    refused(bank(&[4, 4, 2], &[1, 1, 1, 3]), "w has shape (1, 1, 1, 3), 3 channels; expected 2");
    refused(bank(&[4, 4, 2], &[1, 5, 1, 2]), "the size of filters is 5 x 1; expected 1 x 1 to 4 x 4");
    refused(pool(&array(&[2, 2, 1]), [1, 1], [0, 1], Pool::Max), "strides are [0, 1]");
    refused(pool(&array(&[2, 2, 1]), [1, 1], [1, 1], Pool::Norm(-1.0)), "exponent is -1");
    let moved = FilterOptions { origins: &[2], ..Default::default() };
    refused(correlate(&array(&[5]), &array(&[3]), &moved), "origin is 2 on axis 0; expected an integer from -1 to 1");
    refused(convolve(&array(&[5]), &array(&[4]), &moved), "expected an integer from -2 to 1");
    refused(correlate(&array(&[5]), &array(&[3, 1]), &FilterOptions::default()), "weights have shape (3, 1)");
    refused(Ok(array(&[5])).and_then(|x| uniform_filter(&x, &[0], &FilterOptions::default())), "size is 0");
    assert!("zero".parse::<Mode>().unwrap_err().to_string().contains("mode is 'zero'; expected 'reflect'"));
}
