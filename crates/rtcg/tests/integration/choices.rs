//! Every candidate of every decision computes right results, and what kernels cannot run with is refused.

use crate::fake_device::LARGE_GPU;
use crate::simt_kernels::{
    array_bytes, context_of_fake_gpu, element_value, i64_values, integer_array, matrix_with_layout, naive_matmul,
    reduce_over_axes,
};
use crate::test_depth::at_depth;
use rtcg::array::tuning::{Choices, Config, Decision, ParameterValue, Problem, Refusal};
use rtcg::array::{
    ArrayContext, DType, DeviceInfo, ExecutionModel, FftKind, GpuArray, Index, Op, Order, ReductionOp, Scalar, ScanOp,
    WeakScalar, fuse,
};
use rtcg::array_tuning::find_decision;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// Records what is decided, and forces one configuration.
#[derive(Default)]
struct Recorder {
    forced: Option<Config>,
    asked: Mutex<Vec<(Problem, Config)>>,
    refused: Mutex<Vec<Refusal>>,
}

impl Choices for Recorder {
    fn choose(&self, problem: &Problem, default: &Config, _: &DeviceInfo) -> Option<Config> {
        self.asked.lock().unwrap().push((problem.clone(), default.clone()));
        self.forced.clone().filter(|forced| forced.decision == problem.decision)
    }

    fn refused(&self, _: &Problem, refusal: &Refusal) {
        self.refused.lock().unwrap().push(refusal.clone());
    }
}

fn decision_named(name: &str) -> &'static Decision {
    find_decision(name).expect("a decision")
}

/// Positions of parameters and candidates.
type Values = BTreeSet<(usize, ParameterValue)>;

/// The decision under test, with the candidates that were run.
pub(super) struct Candidates {
    decision: &'static Decision,
    covered: Values,
    random: u64,
    n_runs: usize,
}

impl Candidates {
    pub(super) fn of(name: &str) -> Self {
        Self { decision: decision_named(name), covered: Values::new(), random: 1, n_runs: 0 }
    }

    fn next_random(&mut self, below: usize) -> usize {
        self.random = self.random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.random >> 33) as usize % below
    }

    fn values_of(config: &Config) -> Values {
        config.values.iter().copied().enumerate().collect()
    }

    /// A configuration that kernels can run with, with one candidate given and others taken at random.
    fn complete(
        &mut self,
        at: usize,
        value: ParameterValue,
        asked: &(Problem, Config),
        device: &DeviceInfo,
    ) -> Option<Config> {
        let (problem, default) = asked;
        let name = self.decision.parameters[at].name;
        let mut changed = default.with(name, value);
        // First few parameters are changed, then ever more.
        for attempt in 0..20_000 {
            if self.decision.check(&changed, problem, device).is_ok() {
                return Some(changed);
            }
            changed = default.with(name, value);
            for (other, parameter) in self.decision.parameters.iter().enumerate().filter(|(other, _)| *other != at) {
                if self.next_random(20_000) < 4_000 + attempt {
                    let values = &parameter.values;
                    changed.values[other] = values[self.next_random(values.len())];
                }
            }
        }
        None
    }

    /// Runs `body` with candidates that were not run yet (all in thorough runs), and compares its results with those that
    /// it has with the rule, and these with `wanted`.
    pub(super) fn run(&mut self, ctx: &Arc<ArrayContext>, wanted: &[i64], body: impl Fn() -> Vec<i64>) {
        let recorder = Arc::new(Recorder::default());
        ctx.install_choices(Some(recorder.clone()));
        assert_eq!(body(), wanted, "{} by the rule", self.decision.name);
        let asked =
            recorder.asked.lock().unwrap().iter().find(|(problem, _)| problem.decision == self.decision).cloned();
        let asked = asked.unwrap_or_else(|| panic!("{} is not decided", self.decision.name));
        let device = ctx.device_info();
        let check = self.decision.check(&asked.1, &asked.0, &device);
        assert!(check.is_ok(), "{}, chosen by the rule for {}: {check:?}", asked.1, asked.0);
        let mut here = Values::new();
        for (at, parameter) in self.decision.parameters.iter().enumerate() {
            for &value in &parameter.values {
                let known = at_depth(&self.covered, &here);
                if known.contains(&(at, value)) {
                    continue;
                }
                let Some(config) = self.complete(at, value, &asked, &device) else { continue };
                self.run_config(ctx, &config, &asked.0, wanted, &body);
                here.extend(Self::values_of(&config));
            }
        }
        for _ in 0..at_depth(0, 30) {
            let Some(config) = self.any_config(&asked.0, &device) else { continue };
            self.run_config(ctx, &config, &asked.0, wanted, &body);
        }
        ctx.install_choices(None);
    }

    /// A configuration that kernels can run with.
    fn any_config(&mut self, problem: &Problem, device: &DeviceInfo) -> Option<Config> {
        (0..100_000).find_map(|_| {
            let parameters = &self.decision.parameters;
            let values =
                parameters.iter().map(|parameter| parameter.values[self.next_random(parameter.values.len())]).collect();
            let config = Config { decision: self.decision, values };
            self.decision.check(&config, problem, device).is_ok().then_some(config)
        })
    }

    fn run_config(
        &mut self,
        ctx: &Arc<ArrayContext>,
        config: &Config,
        problem: &Problem,
        wanted: &[i64],
        body: impl Fn() -> Vec<i64>,
    ) {
        let recorder = Arc::new(Recorder { forced: Some(config.clone()), ..Recorder::default() });
        ctx.install_choices(Some(recorder.clone()));
        assert_eq!(body(), wanted, "{config} for {problem}");
        assert_eq!(*recorder.refused.lock().unwrap(), [], "{config} for {problem}");
        self.covered.extend(Self::values_of(config));
        self.n_runs += 1;
    }

    /// Checks that all candidates were run, but for those of the named values.
    pub(super) fn assert_covered(&self, exceptions: &[ParameterValue]) {
        let all = self.decision.parameters.iter().enumerate();
        let missing: Vec<_> = all
            .flat_map(|(at, parameter)| parameter.values.iter().map(move |&value| (at, parameter.name, value)))
            .filter(|(at, _, value)| !self.covered.contains(&(*at, *value)) && !exceptions.contains(value))
            .collect();
        assert!(missing.is_empty(), "{}: not run: {missing:?}", self.decision.name);
        println!("{}: {} configurations", self.decision.name, self.n_runs);
    }
}

fn product_of(
    ctx: &Arc<ArrayContext>,
    dtype: DType,
    [m, n, k]: [usize; 3],
    layouts: [&str; 2],
    candidates: &mut Candidates,
) {
    let a = matrix_with_layout(ctx, &[2], [m, k], dtype, layouts[0]);
    let b = matrix_with_layout(ctx, &[2], [k, n], dtype, layouts[1]);
    let wanted = naive_matmul(&a, &b);
    candidates.run(ctx, &wanted, || i64_values(&a.matmul(&b).unwrap()));
}

#[test]
fn routes_of_products_are_right() {
    let ctx = context_of_fake_gpu(LARGE_GPU);
    let mut candidates = Candidates::of("matmul.route");
    product_of(&ctx, DType::F64, [6, 40, 30], ["rows", "apart"], &mut candidates);
    product_of(&ctx, DType::I16, [40, 3, 30], ["columns", "rows"], &mut candidates);
    candidates.assert_covered(&[]);
}

#[test]
fn simple_tiles_of_products_are_right() {
    let old = context_of_fake_gpu(DeviceInfo { compute_capability: 70, ..LARGE_GPU });
    let mut candidates = Candidates::of("matmul.simple");
    product_of(&old, DType::F32, [70, 45, 37], ["rows", "columns"], &mut candidates);
    product_of(&old, DType::C128, [33, 140, 18], ["apart", "turned"], &mut candidates);
    candidates.assert_covered(&[]);
}

#[test]
fn tiles_of_products_are_right() {
    let tall = DeviceInfo { compute_capability: 89, ..LARGE_GPU };
    let hopper = DeviceInfo { compute_capability: 100, ..LARGE_GPU };
    let mut candidates = Candidates::of("matmul.tile");
    let problems = [
        (tall, DType::F32, [70, 45, 37], ["rows", "apart"]),
        (hopper, DType::F64, [70, 45, 37], ["columns", "turned"]),
        (tall, DType::F16, [70, 145, 67], ["apart", "columns"]),
        (tall, DType::C64, [70, 45, 21], ["turned", "rows"]),
        (hopper, DType::C128, [70, 45, 21], ["rows", "columns"]),
    ];
    for (device_info, dtype, lengths, layouts) in problems {
        product_of(&context_of_fake_gpu(device_info), dtype, lengths, layouts, &mut candidates);
    }
    // What the virtual GPU has no instructions for, and what no other unit has.
    candidates.assert_covered(&[ParameterValue::Name("wgmma"), ParameterValue::Int(256)]);
}

#[test]
fn products_in_parts_are_right() {
    let small = context_of_fake_gpu(DeviceInfo { multiprocessors: 24, ..LARGE_GPU });
    let mut candidates = Candidates::of("matmul.split_k");
    product_of(&small, DType::F32, [20, 20, 1100], ["rows", "columns"], &mut candidates);
    product_of(&small, DType::I16, [20, 18, 600], ["turned", "apart"], &mut candidates);
    candidates.assert_covered(&[]);
}

#[test]
fn skinny_products_are_right() {
    let ctx = context_of_fake_gpu(LARGE_GPU);
    let mut candidates = Candidates::of("matmul.skinny");
    product_of(&ctx, DType::F32, [64, 9, 260], ["rows", "apart"], &mut candidates);
    product_of(&ctx, DType::F32, [20, 1, 3000], ["rows", "rows"], &mut candidates);
    product_of(&ctx, DType::C64, [40, 3, 130], ["columns", "turned"], &mut candidates);
    product_of(&ctx, DType::C128, [70, 4, 50], ["columns", "columns"], &mut candidates);
    product_of(&ctx, DType::I16, [40, 2, 64], ["apart", "columns"], &mut candidates);
    candidates.assert_covered(&[]);
}

/// Sums, places of the largest elements and fused sums over an axis, whose decisions are the same.
fn reductions_of(
    ctx: &Arc<ArrayContext>,
    dtype: DType,
    [rows, columns]: [usize; 2],
    axis: usize,
    candidates: &mut Candidates,
) {
    let a = integer_array(ctx, &[rows, columns], dtype);
    let [lines, length] = if axis == 0 { [columns, rows] } else { [rows, columns] };
    let at = |line: usize, k: usize| element_value(if axis == 0 { k * columns + line } else { line * columns + k });
    let sums: Vec<i64> = (0..lines).map(|line| (0..length).map(|k| at(line, k)).sum()).collect();
    let first_largest = |line: usize| {
        let largest = (0..length).map(|k| at(line, k)).max();
        (0..length).position(|k| Some(at(line, k)) == largest).unwrap() as i64
    };
    let wanted = [sums.clone(), (0..lines).map(first_largest).collect(), sums].concat();
    let axes = [axis as isize];
    candidates.run(ctx, &wanted, || {
        let sums = reduce_over_axes(&a, ReductionOp::Sum, &axes);
        let places = reduce_over_axes(&a, ReductionOp::ArgMaximum, &axes);
        let zero = Scalar::Weak(WeakScalar::Int(0));
        let sum = || Ok(reduce_over_axes(&a.binary(Op::Add, zero)?, ReductionOp::Sum, &axes));
        [sums, places, fuse::fuse(sum).unwrap()].iter().flat_map(i64_values).collect()
    });
}

#[test]
fn partitions_of_reductions_are_right() {
    let ctx = context_of_fake_gpu(LARGE_GPU);
    let mut candidates = Candidates::of("reduce.partition");
    reductions_of(&ctx, DType::I32, [1, 100_003], 1, &mut candidates);
    reductions_of(&ctx, DType::F64, [3, 9_000], 1, &mut candidates);
    reductions_of(&ctx, DType::I16, [3000, 64], 0, &mut candidates);
    reductions_of(&ctx, DType::C128, [700, 5], 0, &mut candidates);
    reductions_of(&ctx, DType::F32, [300, 70], 1, &mut candidates);
    let small = context_of_fake_gpu(DeviceInfo { multiprocessors: 1, max_blocks: 4, ..LARGE_GPU });
    reductions_of(&small, DType::F32, [3, 1040], 0, &mut candidates);
    candidates.assert_covered(&[]);
}

#[test]
fn calls_that_are_found_again_follow_the_choices() {
    let ctx = context_of_fake_gpu(LARGE_GPU);
    let a = integer_array(&ctx, &[64, 300], DType::I32);
    let sum = || i64_values(&reduce_over_axes(&a, ReductionOp::Sum, &[0]));
    let (wanted, epoch) = (sum(), ctx.choices_epoch());
    let recorder = Arc::new(Recorder::default());
    ctx.install_choices(Some(recorder.clone()));
    assert_ne!(ctx.choices_epoch(), epoch);
    assert_eq!(sum(), wanted);
    let asked = |recorder: &Recorder| recorder.asked.lock().unwrap().len();
    assert_eq!(asked(&recorder), 1, "the call was planned anew");
    assert_eq!(sum(), wanted);
    assert_eq!(asked(&recorder), 1, "and found again");
    let default = recorder.asked.lock().unwrap()[0].1.clone();
    let kernels = ctx.kernel_cache_usage().inserted;
    let forced = default.with("threads", ParameterValue::Int(128));
    let forced = Arc::new(Recorder { forced: Some(forced), ..Recorder::default() });
    ctx.install_choices(Some(forced.clone()));
    assert_eq!(sum(), wanted);
    assert_eq!((asked(&forced), ctx.kernel_cache_usage().inserted), (1, kernels + 1), "another kernel runs");
    // What no kernel can run with is refused, and the rule's choice is taken.
    let wrong = default.with("threads", ParameterValue::Int(64)).with("threads_per_output", ParameterValue::Int(128));
    let wrong = Arc::new(Recorder { forced: Some(wrong), ..Recorder::default() });
    ctx.install_choices(Some(wrong.clone()));
    assert_eq!(sum(), wanted);
    let refused = wrong.refused.lock().unwrap().clone();
    assert_eq!(refused[0].to_string(), "reduce.partition: threads_per_output <= threads");
    ctx.install_choices(None);
    assert_eq!((sum(), ctx.kernel_cache_usage().inserted), (wanted, kernels + 1), "the rule's kernel is still loaded");
}

/// Sums along the middle axis, which `start` leaves the first elements of the last axis out of.
fn scans_of(
    ctx: &Arc<ArrayContext>,
    dtype: DType,
    [outer, n, inner]: [usize; 3],
    start: usize,
    candidates: &mut Candidates,
) {
    let whole = integer_array(ctx, &[outer, n, inner], dtype);
    let a = whole.index(&[Index::Slice(None, None, None), Index::Slice(Some(start as isize), None, None)]).unwrap();
    let values = i64_values(&a);
    let (mut sums, mut products) = (values.clone(), values);
    products.iter_mut().for_each(|value| *value = if *value > 40 { -1 } else { 1 });
    let b = a.binary(Op::Greater, 40).unwrap().astype(dtype).unwrap();
    let b = b.binary(Op::Multiply, -2).unwrap().binary(Op::Add, 1).unwrap();
    for i in (0..sums.len()).filter(|i| i / inner % (n - start) > 0) {
        sums[i] += sums[i - inner];
        products[i] *= products[i - inner];
    }
    // The second one finds memory that the first one wrote.
    let scan = |array: &GpuArray, op| i64_values(&array.cumulative(op, 1, Some(dtype)).unwrap());
    let scans = || [scan(&a, ScanOp::Sum), scan(&b, ScanOp::Product)].concat();
    candidates.run(ctx, &[sums, products].concat(), scans);
}

#[test]
fn routes_of_scans_are_right() {
    let ctx = context_of_fake_gpu(LARGE_GPU);
    let mut candidates = Candidates::of("scan.route");
    scans_of(&ctx, DType::I64, [3, 60, 7], 0, &mut candidates);
    scans_of(&ctx, DType::F32, [3, 300, 2], 1, &mut candidates);
    candidates.assert_covered(&[]);
}

#[test]
fn tiles_of_scans_are_right() {
    let ctx = context_of_fake_gpu(LARGE_GPU);
    let mut candidates = Candidates::of("scan.tiles");
    scans_of(&ctx, DType::F32, [1, 20_000, 1], 0, &mut candidates);
    scans_of(&ctx, DType::I64, [3, 1999, 2], 1, &mut candidates);
    scans_of(&ctx, DType::C128, [2, 3000, 1], 0, &mut candidates);
    let bulk = context_of_fake_gpu(DeviceInfo { multiprocessors: 1, bulk_copy_smem_bytes: 150 << 10, ..LARGE_GPU });
    scans_of(&bulk, DType::F32, [1, 70_000, 1], 0, &mut candidates);
    scans_of(&bulk, DType::I64, [20, 3000, 1], 0, &mut candidates);
    candidates.assert_covered(&[]);
}

/// Sorted rows and the places of their elements, forwards or backwards.
fn sorts_of(
    ctx: &Arc<ArrayContext>,
    dtype: DType,
    [rows, n]: [usize; 2],
    descending: bool,
    candidates: &mut Candidates,
) {
    let a = integer_array(ctx, &[rows, n], dtype);
    let wanted: Vec<(i64, i64)> = (0..rows)
        .flat_map(|row| {
            let mut keys: Vec<_> = (0..n).map(|k| (element_value(row * n + k), k as i64)).collect();
            keys.sort_by_key(|&(key, _)| if descending { -key } else { key });
            keys
        })
        .collect();
    let (keys, places): (Vec<_>, Vec<_>) = wanted.into_iter().unzip();
    candidates.run(ctx, &[keys, places].concat(), || {
        let sorted = [a.sorted(1, descending).unwrap(), a.argsort(1, descending).unwrap()];
        sorted.iter().flat_map(i64_values).collect()
    });
}

#[test]
fn routes_of_sorts_are_right() {
    let ctx = context_of_fake_gpu(LARGE_GPU);
    let mut candidates = Candidates::of("sort.route");
    sorts_of(&ctx, DType::F32, [3, 1500], false, &mut candidates);
    sorts_of(&ctx, DType::I64, [1, 2100], true, &mut candidates);
    sorts_of(&ctx, DType::C128, [2, 700], false, &mut candidates);
    candidates.assert_covered(&[]);
}

#[test]
fn tiles_of_radix_sorts_are_right() {
    let ctx = context_of_fake_gpu(LARGE_GPU);
    let mut candidates = Candidates::of("sort.radix");
    sorts_of(&ctx, DType::I16, [1, 33_001], false, &mut candidates);
    sorts_of(&ctx, DType::F64, [1, 131_080], true, &mut candidates);
    candidates.assert_covered(&[]);
}

/// The transform of waves along the middle axis: their amplitudes, times the length, in the places of their frequencies.
fn transforms_of(ctx: &Arc<ArrayContext>, dtype: DType, [outer, n, inner]: [usize; 3], candidates: &mut Candidates) {
    let waves = |i: usize| {
        [(1.0, 3), (2.0, n / 2 + 1), (-3.0, n - 1)].map(|(amplitude, frequency)| {
            let angle = 2.0 * std::f64::consts::PI * ((i * frequency) % n) as f64 / n as f64;
            [amplitude * angle.cos(), amplitude * angle.sin()]
        })
    };
    let element =
        |i: usize| waves(i / inner % n).iter().fold([0.0, 0.0], |sum, wave| [sum[0] + wave[0], sum[1] + wave[1]]);
    let bytes: Vec<u8> = (0..outer * n * inner).flat_map(element).flat_map(f64::to_ne_bytes).collect();
    let a = GpuArray::empty(ctx, &[outer, n, inner], DType::C128, Order::C).unwrap();
    a.write(&bytes, Order::C).unwrap();
    let a = a.astype(dtype).unwrap();
    let coefficient = |k: usize| {
        [(1, 3), (2, n / 2 + 1), (-3, n - 1)]
            .iter()
            .map(|&(amplitude, at)| if at == k { amplitude } else { 0 })
            .sum::<i64>()
    };
    let wanted: Vec<i64> = (0..outer * n * inner).flat_map(|i| [coefficient(i / inner % n) * n as i64, 0]).collect();
    candidates.run(ctx, &wanted, || {
        let transformed = a.fft(FftKind::Forward, 1, n, 1.0).unwrap().astype(DType::C128).unwrap();
        let numbers = array_bytes(&transformed);
        numbers.chunks_exact(8).map(|eight| f64::from_ne_bytes(eight.try_into().unwrap()).round() as i64).collect()
    });
}

#[test]
fn lengths_of_fft_passes_are_right() {
    let ctx = context_of_fake_gpu(LARGE_GPU);
    let mut candidates = Candidates::of("fft.lengths");
    transforms_of(&ctx, DType::C128, [2, 4096, 1], &mut candidates);
    transforms_of(&ctx, DType::C64, [1, 1260, 3], &mut candidates);
    candidates.assert_covered(&[]);
}

#[test]
fn fft_passes_are_right() {
    let ctx = context_of_fake_gpu(LARGE_GPU);
    let mut candidates = Candidates::of("fft.pass");
    transforms_of(&ctx, DType::C64, [3, 1024, 1], &mut candidates);
    transforms_of(&ctx, DType::C128, [5, 210, 1], &mut candidates);
    transforms_of(&ctx, DType::C64, [1, 96, 40], &mut candidates);
    transforms_of(&ctx, DType::C128, [2, 605, 3], &mut candidates);
    let cpu = context_of_fake_gpu(DeviceInfo { execution: ExecutionModel::SimdCpu, vector_bytes: 1, ..LARGE_GPU });
    transforms_of(&cpu, DType::C128, [2, 840, 1], &mut candidates);
    candidates.assert_covered(&[]);
}
