//! The kernels that arrays have on large GPUs, run on whatever device is there: a runtime that claims wide
//! accesses and many processors.

use crate::fake_device::{DeviceRecord, FakeDevice, LARGE_GPU};
use crate::test_depth::{at_depth, is_deep};
use rtcg::array::{
    ArrayContext, DType, Device, DeviceInfo, ExecutionModel, FftFusion, FftKind, GpuArray, Index, KernelText, Op,
    Order, ReduceOptions, ReductionOp, Scalar, ScanOp, WeakScalar, fuse,
};
use rtcg::{Context, CudaRuntime};
use std::sync::Arc;

/// Instructions that need compute capability 9.0.
const NEEDS_9_0: [&str; 2] = ["fence.mbarrier_init", ".f64.f64.f64.f64"];

pub(super) fn context_of_fake_gpu(device_info: DeviceInfo) -> Arc<ArrayContext> {
    context_recording_sources(device_info).0
}

/// The context, and a record of what is compiled.
pub(super) fn context_recording_sources(device_info: DeviceInfo) -> (Arc<ArrayContext>, Arc<DeviceRecord>) {
    let ctx = Context::new().expect("the virtual GPU is always there");
    let new = || Arc::new(CudaRuntime::new(&ctx).unwrap());
    let (device, compiler) = (new(), new());
    let newer = CudaRuntime::new(&ctx).unwrap().compiling_for(90);
    let compile = move |text: &KernelText<'_>| {
        let is_newer = NEEDS_9_0.iter().any(|needed| text.source.contains(needed));
        if is_newer { newer.compile(text) } else { compiler.compile(text) }
    };
    FakeDevice::on(device).claiming(device_info).without_capabilities().compiling_with(compile).context()
}

fn large_gpu_context() -> Arc<ArrayContext> {
    context_of_fake_gpu(LARGE_GPU)
}

pub(super) fn element_value(i: usize) -> i64 {
    (i as i64 * 7919 + 13) % 101 - 50
}

/// Small integers in `shape`, as elements of `dtype`.
pub(super) fn integer_array(ctx: &Arc<ArrayContext>, shape: &[usize], dtype: DType) -> GpuArray {
    let array = GpuArray::empty(ctx, shape, DType::I64, Order::C).unwrap();
    let bytes: Vec<u8> = (0..array.size()).flat_map(|i| element_value(i).to_ne_bytes()).collect();
    array.write(&bytes, Order::C).unwrap();
    array.astype(dtype).unwrap()
}

pub(super) fn i64_values(array: &GpuArray) -> Vec<i64> {
    let array = array.astype(DType::I64).unwrap();
    array_bytes(&array).chunks_exact(8).map(|eight| i64::from_ne_bytes(eight.try_into().unwrap())).collect()
}

pub(super) fn array_bytes(array: &GpuArray) -> Vec<u8> {
    let mut bytes = vec![0; array.nbytes()];
    array.read(&mut bytes, Order::C).unwrap();
    bytes
}

pub(super) fn reduce_over_axes(array: &GpuArray, reduction: ReductionOp, axes: &[isize]) -> GpuArray {
    array.reduce(reduction, ReduceOptions { axes: Some(axes), ..Default::default() }).unwrap()
}

#[test]
fn vectorized_sums_are_exact_for_every_dtype() {
    let ctx = large_gpu_context();
    let all = &[DType::I8, DType::I16, DType::I32, DType::I64, DType::F32, DType::F64, DType::C128];
    for &dtype in at_depth(&[DType::I8, DType::I32, DType::F64, DType::C128][..], all) {
        for n in [1usize, 7, 1023, 4099, 100_003] {
            let wanted: i64 = (0..n).map(element_value).sum();
            let a = integer_array(&ctx, &[n], dtype);
            assert_eq!(i64_values(&reduce_over_axes(&a, ReductionOp::Sum, &[0])), [wanted], "{dtype} {n}");
            // A view that begins where no pack may be read.
            let rest = a.index(&[Index::Slice(Some(1), None, None)]).unwrap();
            assert_eq!(
                i64_values(&reduce_over_axes(&rest, ReductionOp::Sum, &[0])),
                [wanted - element_value(0)],
                "{dtype} {n}"
            );
        }
    }
}

#[test]
fn reductions_are_split_over_blocks_along_either_axis() {
    let ctx = large_gpu_context();
    for [rows, columns] in [[3usize, 50_000], [50_000, 3], [3000, 64], [64, 3000], [20_000, 5], [1, 30_000]] {
        let a = integer_array(&ctx, &[rows, columns], DType::I32);
        let sum_of = |along: usize, k: usize| -> i64 {
            match along {
                0 => (0..rows).map(|row| element_value(row * columns + k)).sum(),
                _ => (0..columns).map(|column| element_value(k * columns + column)).sum(),
            }
        };
        for along in [0usize, 1] {
            let wanted: Vec<i64> = (0..[columns, rows][along]).map(|k| sum_of(along, k)).collect();
            // Twice, because the first one has to leave the tickets as it found them.
            for _ in 0..2 {
                let sums = reduce_over_axes(&a, ReductionOp::Sum, &[along as isize]);
                assert_eq!(i64_values(&sums), wanted, "{rows} x {columns} over {along}");
            }
            let first = i64_values(&reduce_over_axes(&a, ReductionOp::ArgMaximum, &[along as isize]));
            let at = |line: usize, k: usize| {
                if along == 0 { element_value(k * columns + line) } else { element_value(line * columns + k) }
            };
            for (line, &k) in first.iter().enumerate().step_by(97) {
                let all: Vec<i64> = (0..[rows, columns][along]).map(|k| at(line, k)).collect();
                let best = all.iter().max().and_then(|max| all.iter().position(|x| x == max));
                assert_eq!(Some(k as usize), best);
            }
        }
    }
}

#[test]
fn fused_reductions_combine_in_the_order_of_separate_ones() {
    let ctx = large_gpu_context();
    let x = integer_array(&ctx, &[300, 401], DType::F32).binary(Op::Multiply, 0.137).unwrap();
    let row = integer_array(&ctx, &[401], DType::F32).binary(Op::Multiply, 0.31).unwrap();
    for axes in [&[0isize, 1][..], &[0], &[1]] {
        let body = || reduce_over_axes(&x.binary(Op::Multiply, &row).unwrap(), ReductionOp::Sum, axes);
        let apart = body();
        let fused = fuse::fuse(|| Ok(body())).unwrap();
        assert_eq!(array_bytes(&apart), array_bytes(&fused), "{axes:?}");
    }
}

#[test]
fn vectorized_scans_are_correct() {
    let ctx = large_gpu_context();
    for &dtype in at_depth(
        &[DType::I8, DType::I64, DType::C128][..],
        &[DType::I8, DType::I32, DType::I64, DType::F64, DType::C128],
    ) {
        for n in [65usize, 4096, 4097, 50_001] {
            let a = integer_array(&ctx, &[n], dtype);
            let running = |from: usize| {
                (from..n).scan(0i64, |total, i| {
                    *total += element_value(i);
                    Some(*total)
                })
            };
            let totals = a.cumulative(ScanOp::Sum, 0, None).unwrap();
            assert_eq!(i64_values(&totals), running(0).collect::<Vec<_>>(), "{dtype} {n}");
        }
    }
    // Rows whose ends are no multiples of packs, and totals along a middle axis.
    let a = integer_array(&ctx, &[2, 5001, 3], DType::I32);
    for axis in [0, 1, 2] {
        let totals = i64_values(&a.cumulative(ScanOp::Sum, axis, None).unwrap());
        let stride = [15_003, 3, 1][axis];
        for (i, &total) in totals.iter().enumerate().step_by(31) {
            let place = i / stride % [2, 5001, 3][axis];
            let wanted: i64 = (0..=place).map(|back| element_value(i - back * stride)).sum();
            assert_eq!(total, wanted, "axis {axis}, element {i}");
        }
    }
}

#[test]
fn scans_by_persistent_blocks_are_correct() {
    let ctx = context_of_fake_gpu(DeviceInfo { multiprocessors: 3, bulk_copy_smem_bytes: 150 << 10, ..LARGE_GPU });
    let all = &[DType::I8, DType::I32, DType::I64, DType::F32, DType::F64, DType::C128];
    for &dtype in at_depth(&[DType::I8, DType::F32, DType::C128][..], all) {
        for n in [98_304usize, 131_077] {
            let a = integer_array(&ctx, &[n], dtype);
            let wanted: Vec<i64> = (0..n)
                .scan(0i64, |total, i| {
                    *total += element_value(i);
                    Some(*total)
                })
                .collect();
            assert_eq!(i64_values(&a.cumulative(ScanOp::Sum, 0, None).unwrap()), wanted, "{dtype} {n}");
        }
    }
    // Rows with a last tile of their own.
    let (rows, columns) = (5, 40_004);
    let a = integer_array(&ctx, &[rows, columns], DType::I32);
    let totals = i64_values(&a.cumulative(ScanOp::Maximum, 1, None).unwrap());
    let mut largest = i64::MIN;
    for (i, &total) in totals.iter().enumerate() {
        largest = if i % columns == 0 { element_value(i) } else { largest.max(element_value(i)) };
        assert_eq!(total, largest, "element {i}");
    }
}

#[test]
fn long_rows_are_sorted_with_several_keys_per_thread() {
    let ctx = large_gpu_context();
    let n = 33_001;
    // Two sweeps, which make and take places.
    let a = integer_array(&ctx, &[n], DType::I16);
    let mut wanted: Vec<(i64, i64)> = (0..n).map(|i| (element_value(i), i as i64)).collect();
    wanted.sort_unstable();
    let places: Vec<i64> = wanted.into_iter().map(|(_, place)| place).collect();
    assert_eq!(i64_values(&a.argsort(0, false).unwrap()), places);
}

#[test]
fn threads_reduce_adjacent_outputs_where_rows_are_aligned() {
    // As many outputs as such a small device has threads.
    let small = DeviceInfo { multiprocessors: 1, max_blocks: 4, ..LARGE_GPU };
    let (wide, record) = context_recording_sources(small);
    let narrow = context_of_fake_gpu(DeviceInfo { execution: ExecutionModel::SimdCpu, vector_bytes: 1, ..small });
    let all =
        [ReductionOp::Sum, ReductionOp::Maximum, ReductionOp::All, ReductionOp::ArgMinimum, ReductionOp::CountNonzero];
    let dtypes =
        [(DType::F32, 4), (DType::F64, 2), (DType::F16, 8), (DType::I8, 16), (DType::C64, 2), (DType::Bool, 16)];
    let compare = |shape: &[usize], from: isize, axes: &[isize], reduction, dtype, across: Option<usize>| {
        let view = |ctx| {
            let items = [Index::Ellipsis, Index::Slice(Some(from), None, None)];
            integer_array(ctx, shape, dtype).index(&items).unwrap()
        };
        let before = record.sources.lock().unwrap().len();
        let (a, b) =
            (reduce_over_axes(&view(&wide), reduction, axes), reduce_over_axes(&view(&narrow), reduction, axes));
        let what = format!("{reduction:?} of {shape:?} {dtype} from {from} over {axes:?}");
        assert_eq!((a.shape(), a.dtype(), array_bytes(&a)), (b.shape(), b.dtype(), array_bytes(&b)), "{what}");
        let compiled = record.sources.lock().unwrap()[before..].concat();
        if compiled.contains("array_reduce") {
            let is_across = compiled.contains("n_out / ");
            assert_eq!(across.is_some(), is_across, "{what}");
            assert!(across.is_none_or(|n| compiled.contains(&format!("n_out / {n}, "))), "{what}");
        }
    };
    for reduction in all {
        let dtypes = dtypes.iter().filter(|(dtype, _)| reduction == ReductionOp::Sum || dtype.itemsize() == 4);
        for &(dtype, itemwise) in dtypes {
            let out = match reduction {
                ReductionOp::Sum if dtype == DType::F16 => 8,
                ReductionOp::Maximum => itemwise,
                ReductionOp::All => 16 / dtype.itemsize(),
                ReductionOp::Sum if !dtype.is_integral() => itemwise,
                _ => 2,
            };
            compare(&[3, 1040], 0, &[0], reduction, dtype, Some(out));
            compare(&[5, 2, 1024], 0, &[0], reduction, dtype, Some(out));
            compare(&[2, 3, 512], 0, &[1], reduction, dtype, Some(out));
        }
    }
    // Rows that begin, or end, elsewhere; runs along the rows; too few outputs.
    compare(&[3, 1041], 0, &[0], ReductionOp::Sum, DType::F32, None);
    compare(&[3, 1041], 1, &[0], ReductionOp::Product, DType::F32, None);
    compare(&[1024, 3], 0, &[1], ReductionOp::Minimum, DType::F32, None);
    compare(&[300, 16], 0, &[0], ReductionOp::Any, DType::F32, None);
}

/// Roots of unity of a frequency, whose transform has all in one place.
pub(super) fn complex_exponential(ctx: &Arc<ArrayContext>, n: usize, frequency: usize) -> GpuArray {
    let angle = |i: usize| 2.0 * std::f64::consts::PI * ((i * frequency) % n) as f64 / n as f64;
    let bytes: Vec<u8> =
        (0..n).flat_map(|i| [angle(i).cos().to_ne_bytes(), angle(i).sin().to_ne_bytes()].concat()).collect();
    let wave = GpuArray::empty(ctx, &[2, n], DType::C128, Order::C).unwrap();
    wave.write(&[bytes.clone(), bytes].concat(), Order::C).unwrap();
    wave
}

#[test]
fn ffts_use_the_shared_memory_of_the_device() {
    for (n, shared_bytes, at_once) in [(4096, 160 << 10, true), (4096, 48 << 10, false), (8192, 160 << 10, true)] {
        let (ctx, record) = context_recording_sources(DeviceInfo { shared_bytes, ..LARGE_GPU });
        let transformed = complex_exponential(&ctx, n, 77).fft(FftKind::Forward, 1, n, 1.0).unwrap();
        let bytes = array_bytes(&transformed);
        let parts: Vec<f64> =
            bytes.chunks_exact(8).map(|eight| f64::from_ne_bytes(eight.try_into().unwrap())).collect();
        for (i, part) in parts.iter().enumerate() {
            let wanted = if i % (2 * n) == 2 * 77 { n as f64 } else { 0.0 };
            assert!((part - wanted).abs() < 1e-9, "{n}: {part} at {i}");
        }
        let asks = record.sources.lock().unwrap().iter().any(|source| source.contains("extern __shared__"));
        assert_eq!(asks, at_once, "{n} in {shared_bytes} bytes");
    }
}

/// The transform of complex numbers along the axis of length `n`, by its definition.
fn naive_dft(x: &[[f64; 2]], n: usize, inner: usize) -> Vec<[f64; 2]> {
    let root = |e: usize| (-2.0 * std::f64::consts::PI * (e % n) as f64 / n as f64).sin_cos();
    let coefficient = |at: usize| {
        let (outer, k, rest) = (at / inner / n, at / inner % n, at % inner);
        (0..n).fold([0.0, 0.0], |sum, j| {
            let ([re, im], (s, c)) = (x[(outer * n + j) * inner + rest], root(j * k));
            [sum[0] + re * c - im * s, sum[1] + re * s + im * c]
        })
    };
    (0..x.len()).map(coefficient).collect()
}

/// Butterflies of large primes, staging where a thread has a transform, and convolutions in a block.
#[test]
fn short_ffts_and_those_of_large_primes_match_naive_dfts() {
    let ctx = large_gpu_context();
    let all = [
        5, 7, 10, 12, 13, 17, 19, 22, 23, 29, 31, 34, 37, 41, 43, 47, 53, 57, 61, 62, 74, 127, 131, 161, 186, 230, 304,
        464, 1009, 2021,
    ];
    let lengths = at_depth(&[10, 31, 53][..], &all);
    for &n in lengths {
        // Blocks that are not full; transforms that lie side by side.
        for [outer, inner] in [[67, 1], [2, 5]] {
            let value = |i: usize| element_value(i * 31 + i * i % 17) as f64;
            let x: Vec<[f64; 2]> = (0..outer * n * inner).map(|i| [value(2 * i), value(2 * i + 1)]).collect();
            let wanted = naive_dft(&x, n, inner);
            let size = wanted.iter().flatten().map(|part| part * part).sum::<f64>().sqrt();
            let there = GpuArray::empty(&ctx, &[outer, n, inner], DType::C128, Order::C).unwrap();
            there
                .write(&x.iter().flatten().flat_map(|part| part.to_ne_bytes()).collect::<Vec<u8>>(), Order::C)
                .unwrap();
            for (dtype, most) in [(DType::C64, 1e-6), (DType::C128, 1e-15)] {
                let error_of = |array: &GpuArray, wanted: &[[f64; 2]], scale: f64| {
                    let bytes = array_bytes(&array.astype(DType::C128).unwrap());
                    let parts = bytes.chunks_exact(8).map(|eight| f64::from_ne_bytes(eight.try_into().unwrap()));
                    let errors = parts.zip(wanted.iter().flatten()).map(|(part, wanted)| (part - wanted).powi(2));
                    errors.sum::<f64>().sqrt() / scale
                };
                let of_dtype = there.astype(dtype).unwrap();
                let transformed = of_dtype.fft(FftKind::Forward, 1, n, 1.0).unwrap();
                let error = error_of(&transformed, &wanted, size);
                assert!(error < most, "{n} {inner} {dtype}: {error}");
                let back = transformed.fft(FftKind::Inverse, 1, n, 1.0 / n as f64).unwrap();
                let error = error_of(&back, &x, size / (n as f64).sqrt());
                assert!(error < 2.0 * most, "{n} {inner} {dtype} back: {error}");
            }
        }
    }
}

#[test]
fn ffts_apply_expressions_to_what_they_read_and_write() {
    // A block, two passes, staging, a convolution in a block.
    for n in [96, 1 << 15, 34, 53] {
        let (ctx, _) = context_recording_sources(LARGE_GPU);
        let (wave, carrier) = (complex_exponential(&ctx, n, 7), complex_exponential(&ctx, n, 5));
        let operands = [("carrier", &carrier)];
        let fusion = FftFusion::new().load("x * carrier[i]").store("x + row").operands(&operands);
        let transformed = wave.fft_with(FftKind::Forward, 1, n, 1.0, &fusion).unwrap();
        let bytes = array_bytes(&transformed);
        for (at, eight) in bytes.chunks_exact(8).enumerate() {
            let part = f64::from_ne_bytes(eight.try_into().unwrap());
            let (row, i, is_real) = (at / 2 / n, at / 2 % n, at % 2 == 0);
            let wanted = if is_real { row as f64 + if i == 12 { n as f64 } else { 0.0 } } else { 0.0 };
            assert!((part - wanted).abs() < 1e-8, "{n}: {part} at {at}");
        }
        let error = wave.fft_with(FftKind::Forward, 1, n, 1.0, &FftFusion::new().operands(&operands)).unwrap_err();
        assert!(error.to_string().contains("operand 'carrier' is given without load and store"), "{error}");
    }
}

/// Small integers as a matrix of rows that lie as `how` says.
pub(super) fn matrix_with_layout(
    ctx: &Arc<ArrayContext>,
    stack: &[usize],
    [rows, columns]: [usize; 2],
    dtype: DType,
    how: &str,
) -> GpuArray {
    let shape = |axes: [usize; 2]| [stack, &axes].concat();
    let all = || Index::Slice(None, None, None);
    let from = |start, step| Index::Slice(Some(start), None, Some(step));
    // Sums of these are exact in 16-bit floats too.
    let small = |a: GpuArray| if dtype.itemsize() == 2 { a.binary(Op::Remainder, 3).unwrap() } else { a };
    let made = |axes| small(integer_array(ctx, &shape(axes), dtype));
    match how {
        "rows" => made([rows, columns]),
        "columns" => made([columns, rows]).swapaxes(-1, -2).unwrap(),
        "apart" => made([rows, columns + 3]).index(&[Index::Ellipsis, all(), from(3, 1)]).unwrap(),
        "turned" => {
            made([columns, rows + 1]).index(&[Index::Ellipsis, all(), from(1, 1)]).unwrap().swapaxes(-1, -2).unwrap()
        }
        _ => made([rows * 2, columns]).index(&[Index::Ellipsis, from(1, 2), from(-1, -1)]).unwrap(),
    }
}

/// The product of matrices of integers, one after the other.
pub(super) fn naive_matmul(a: &GpuArray, b: &GpuArray) -> Vec<i64> {
    let ([.., m, k], [.., n]) = (a.shape(), b.shape()) else { unreachable!() };
    let (x, y) = (i64_values(a), i64_values(b));
    let matrices = x.len() / (m * k);
    let element =
        |of: usize, i: usize, j: usize| (0..*k).map(|l| x[(of * m + i) * k + l] * y[(of * k + l) * n + j]).sum();
    let rows = (0..matrices * m).map(|row| (row / m, row % m));
    rows.flat_map(|(of, i)| (0..*n).map(move |j| (of, i, j))).map(|(of, i, j)| element(of, i, j)).collect()
}

/// Every arrangement of both operands.
const OPERAND_LAYOUTS: [[&str; 2]; 5] = [
    ["rows", "apart"],
    ["columns", "turned"],
    ["apart", "columns"],
    ["turned", "rows"],
    ["every second, backwards", "columns"],
];

/// Products in some arrangements (of all five usually the first two and the last one), by a kernel whose source has `tile`.
fn check_matmul(device_info: DeviceInfo, dtype: DType, tile: &str, [m, n, k]: [usize; 3], arrangements: usize) {
    let (ctx, record) = context_recording_sources(device_info);
    let wanted = |&place: &usize| place < arrangements && (is_deep() || arrangements < 5 || !matches!(place, 2 | 3));
    for [first, second] in (0..OPERAND_LAYOUTS.len()).filter(wanted).map(|place| OPERAND_LAYOUTS[place]) {
        let (a, b) = (
            matrix_with_layout(&ctx, &[2], [m, k], dtype, first),
            matrix_with_layout(&ctx, &[2], [k, n], dtype, second),
        );
        let product = a.matmul(&b).unwrap();
        assert_eq!((product.dtype(), product.shape()), (dtype, &[2, m, n][..]));
        assert_eq!(i64_values(&product), naive_matmul(&a, &b), "{dtype} of {first} and {second}");
    }
    assert!(record.sources.lock().unwrap().iter().any(|source| source.contains(tile)), "{dtype}: no {tile}");
}

#[test]
fn tiled_matmul_is_correct() {
    for (dtype, arrangements) in [(DType::F32, 5), (DType::C64, 2), (DType::I32, 1), (DType::U64, 1)] {
        check_matmul(LARGE_GPU, dtype, "rt_add_product", [70, 45, 37], arrangements);
    }
    // Short integers are converted where many are multiplied.
    check_matmul(LARGE_GPU, DType::I16, "rt_add_product", [150, 160, 90], 1);
}

#[test]
fn tensor_core_matmul_is_correct() {
    let tall = DeviceInfo { compute_capability: 90, ..LARGE_GPU };
    check_matmul(LARGE_GPU, DType::F16, "rt_matrices", [70, 45, 67], 5);
    check_matmul(LARGE_GPU, DType::BF16, "rt_matrices", [70, 45, 37], 1);
    check_matmul(LARGE_GPU, DType::F64, "FRAGMENT_ROWS = 8", [70, 45, 37], 5);
    check_matmul(LARGE_GPU, DType::C128, "FRAGMENT_ROWS = 8", [70, 45, 21], 2);
    check_matmul(tall, DType::F64, "FRAGMENT_ROWS = 16", [70, 45, 37], 2);
    check_matmul(tall, DType::C128, "FRAGMENT_ROWS = 16", [70, 45, 21], 1);
}

#[test]
fn skinny_matmul_is_correct() {
    // Rows that are read in packs, and whose blocks share the terms; thin operands in shared memory, and not.
    check_matmul(LARGE_GPU, DType::F32, "IS_SPLIT_K = 1", [20, 1, 3000], 5);
    check_matmul(LARGE_GPU, DType::F32, "IS_PREFETCHED = 1", [64, 9, 260], 5);
    check_matmul(LARGE_GPU, DType::C64, "IS_STAGED = 1", [3, 40, 130], 5);
    check_matmul(LARGE_GPU, DType::F16, "PACK = 8", [33, 3, 264], 3);
    check_matmul(LARGE_GPU, DType::F64, "PACK = 2", [2, 50, 70], 3);
    check_matmul(LARGE_GPU, DType::I16, "PACK = 8", [40, 2, 64], 2);
    check_matmul(LARGE_GPU, DType::C128, "constexpr int WIDTH = 4", [5, 4, 1000], 2);
    // Few rows of tall tiles are the columns of the transposed product.
    check_matmul(LARGE_GPU, DType::F64, "FRAGMENT_ROWS = 8", [6, 40, 30], 2);
}

#[test]
fn products_of_few_tiles_use_split_k() {
    let small = DeviceInfo { multiprocessors: 24, ..LARGE_GPU };
    for (dtype, k) in [(DType::F32, 1100), (DType::F64, 600), (DType::I16, 600)] {
        check_matmul(small, dtype, "array_reduce", [20, 20, k], 2);
    }
    // Sums of parts are not rounded: these are odd, and beyond what float16 has all integers of.
    let (ctx, record) = context_recording_sources(small);
    let [a, b] = [[20, 2101], [2101, 20]].map(|shape| {
        let ones = GpuArray::empty(&ctx, &shape, DType::F16, Order::C).unwrap();
        ones.fill(Scalar::Weak(WeakScalar::Int(1))).unwrap();
        ones
    });
    assert_eq!(i64_values(&a.matmul(&b).unwrap()), [2100; 400]);
    let sources = record.sources.lock().unwrap().concat();
    assert!(sources.contains("array_reduce") && sources.contains("typedef float O"));
}
