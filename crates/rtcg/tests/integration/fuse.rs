//! Fusion: one launch for an expression, no memory for what is inside of it, and the same bits.

use crate::fake_device::{DeviceRecord, FakeDevice, LARGE_GPU};
use crate::test_depth::at_depth;
use rtcg::array::{
    Arg, ArrayContext, ArrayErrorKind, DType, Device, GpuArray, Op, OpOptions, Order, ReduceOptions, ReductionOp,
    Result, Scalar, WeakScalar, apply_elementwise, fuse,
};
use rtcg::lang::Compiled;
use rtcg::lang::arguments::ArgType;
use rtcg::lang::builder::{Term, call, lambda, map, program};
use rtcg::{Context, CudaRuntime};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

struct FusionFixture {
    ctx: Arc<ArrayContext>,
    record: Arc<DeviceRecord>,
}

impl FusionFixture {
    fn new() -> Self {
        Self::on(|device| device)
    }

    fn on(change: impl FnOnce(FakeDevice) -> FakeDevice) -> Self {
        let ctx = Context::new().expect("the virtual GPU is always there");
        let device = Arc::new(CudaRuntime::new(&ctx).unwrap());
        let (ctx, record) = change(FakeDevice::on(device)).context();
        FusionFixture { ctx, record }
    }

    fn f32_array(&self, shape: &[usize], seed: f32) -> GpuArray {
        let array = GpuArray::empty(&self.ctx, shape, DType::F32, Order::C).unwrap();
        let values: Vec<u8> =
            (0..array.size()).flat_map(|i| (((i * 37 % 101) as f32 - 50.0) * seed).to_ne_bytes()).collect();
        array.write(&values, Order::C).unwrap();
        array
    }

    /// Launches and allocations of `body`, and what it gave.
    fn count_launches<T>(&self, body: impl FnOnce() -> T) -> (T, usize, usize) {
        let DeviceRecord { launches, allocations, .. } = &*self.record;
        let count = || (launches.load(Ordering::Relaxed), allocations.load(Ordering::Relaxed));
        let before = count();
        let result = body();
        let after = count();
        (result, after.0 - before.0, after.1 - before.1)
    }
}

fn array_bytes(array: &GpuArray) -> Vec<u8> {
    let mut bytes = vec![0; array.nbytes()];
    array.read(&mut bytes, Order::C).unwrap();
    bytes
}

/// `sqrt(|x * 1.1 + y|) - x * y`, where products and sums invite contraction.
fn sample_expression(x: &GpuArray, y: &GpuArray) -> Result<GpuArray> {
    let root = x.binary(Op::Multiply, 1.1)?.binary(Op::Add, y)?.unary(Op::Absolute)?.unary(Op::Sqrt)?;
    root.binary(Op::Subtract, &x.binary(Op::Multiply, y)?)
}

#[test]
fn an_expression_is_one_launch_and_one_allocation() {
    let bench = FusionFixture::new();
    let (x, y) = (bench.f32_array(&[1000], 0.173), bench.f32_array(&[1000], 0.311));
    let (apart, launches, _) = bench.count_launches(|| sample_expression(&x, &y).unwrap());
    assert_eq!(launches, 6);
    let (fused, launches, allocations) = bench.count_launches(|| fuse::fuse(|| sample_expression(&x, &y)).unwrap());
    assert_eq!((launches, allocations), (1, 1));
    assert_eq!(array_bytes(&fused), array_bytes(&apart));
}

#[test]
fn fused_operands_may_be_strided_and_broadcast() {
    let bench = FusionFixture::new();
    let (x, row) = (bench.f32_array(&[7, 5], 0.173), bench.f32_array(&[7], 0.311));
    let x = x.transpose(None).unwrap();
    let apart = sample_expression(&x, &row).unwrap();
    let (fused, launches, _) = bench.count_launches(|| fuse::fuse(|| sample_expression(&x, &row)).unwrap());
    assert_eq!(launches, 1);
    assert_eq!(fused.strides(), apart.strides());
    assert_eq!(array_bytes(&fused), array_bytes(&apart));
}

#[test]
fn fused_operands_along_different_axes_go_through_tiles() {
    let bench = FusionFixture::on(|device| device.claiming(LARGE_GPU));
    let batches = bench.f32_array(&[5, 70, 99], 0.173);
    for (x, y) in [
        (bench.f32_array(&[131, 100], 0.173), bench.f32_array(&[100, 131], 0.311).transpose(None).unwrap()),
        (bench.f32_array(&[5, 99, 70], 0.311), batches.transpose(Some(&[0, 2, 1])).unwrap()),
    ] {
        let apart = sample_expression(&x, &y).unwrap();
        let (fused, launches, _) = bench.count_launches(|| fuse::fuse(|| sample_expression(&x, &y)).unwrap());
        assert_eq!((launches, array_bytes(&fused)), (1, array_bytes(&apart)));
        let sources = bench.record.sources.lock().unwrap();
        let fused = sources.iter().find(|source| source.contains("array_fused(")).expect("it was compiled");
        assert!(fused.contains("x1_tile") && !fused.contains("x0_tile"), "{fused}");
    }
}

#[test]
fn results_of_one_shape_share_a_fused_kernel() {
    let bench = FusionFixture::new();
    let (x, y) = (bench.f32_array(&[4, 6], 0.5), bench.f32_array(&[6], 0.25));
    let body = || {
        let doubled = y.binary(Op::Multiply, 2.0)?;
        let sum = x.binary(Op::Add, &doubled)?;
        let less = sum.binary(Op::Less, &x)?;
        Ok((doubled, sum, less))
    };
    let apart = body().unwrap();
    let (fused, launches, allocations) = bench.count_launches(|| fuse::fuse(body).unwrap());
    assert_eq!((launches, allocations), (2, 3));
    assert_eq!(array_bytes(&fused.0), array_bytes(&apart.0));
    assert_eq!(array_bytes(&fused.1), array_bytes(&apart.1));
    assert_eq!(array_bytes(&fused.2), array_bytes(&apart.2));
}

#[test]
fn fused_in_place_operations_keep_program_order() {
    let bench = FusionFixture::new();
    let body = |x: &GpuArray, y: &GpuArray| -> Result<(GpuArray, GpuArray)> {
        let before = x.binary(Op::Add, 1.0)?;
        x.binary_in_place(Op::Multiply, y)?;
        let after = x.binary(Op::Add, &before)?;
        x.binary_in_place(Op::Add, 3.0)?;
        Ok((before, after))
    };
    let (x, y) = (bench.f32_array(&[300], 0.5), bench.f32_array(&[300], 0.25));
    let again = x.copy(None).unwrap();
    let apart = body(&again, &y).unwrap();
    let (fused, launches, allocations) = bench.count_launches(|| fuse::fuse(|| body(&x, &y)).unwrap());
    assert_eq!((launches, allocations), (1, 2));
    for (fused, apart) in [(&fused.0, &apart.0), (&fused.1, &apart.1), (&x, &again)] {
        assert_eq!(array_bytes(fused), array_bytes(apart));
    }
}

/// Elements that are written are read under other indices: those operations cannot share a kernel.
#[test]
fn overlapping_views_do_not_share_a_fused_kernel() {
    let bench = FusionFixture::new();
    let body = |x: &GpuArray| -> Result<GpuArray> {
        let back = x.flip(None)?;
        let sum = x.binary(Op::Add, &back)?;
        x.binary_in_place(Op::Add, &back)?;
        let next = back.binary(Op::Multiply, &sum)?;
        back.binary_in_place(Op::Subtract, &next)?;
        x.binary(Op::Add, &next)
    };
    let x = bench.f32_array(&[97], 0.5);
    let again = x.copy(None).unwrap();
    let (apart, fused) = (body(&again).unwrap(), fuse::fuse(|| body(&x)).unwrap());
    assert_eq!(array_bytes(&fused), array_bytes(&apart));
    assert_eq!(array_bytes(&x), array_bytes(&again));
}

#[test]
fn deferred_arrays_are_computed_when_they_are_read() {
    let bench = FusionFixture::new();
    let x = bench.f32_array(&[64], 0.5);
    let fusion = fuse::begin();
    let y = x.binary(Op::Add, 1.0).unwrap();
    let head = y.index(&[rtcg::array::Index::At(3)]).unwrap();
    y.binary_in_place(Op::Multiply, 2.0).unwrap();
    let expected = (((3 * 37 % 101) as f32 - 50.0) * 0.5 + 1.0) * 2.0;
    assert_eq!(array_bytes(&head), expected.to_ne_bytes());
    let z = y.binary(Op::Add, 1.0).unwrap();
    x.fill(Scalar::Weak(WeakScalar::Int(0))).unwrap();
    fusion.finish().unwrap();
    assert_eq!(array_bytes(&z)[12..16], (expected + 1.0).to_ne_bytes());
    assert!(!fuse::is_active());
}

#[test]
fn errors_come_from_the_operation_and_reading_a_traced_array_is_one() {
    let bench = FusionFixture::new();
    let (x, y) = (bench.f32_array(&[3], 0.5), bench.f32_array(&[4], 0.5));
    let error = fuse::fuse(|| x.binary(Op::Add, &y)).unwrap_err();
    assert!(error.to_string().contains("could not be broadcast together with shapes (3,) (4,)"), "{error}");
    let traced = fuse::begin_traced();
    let sum = x.binary(Op::Add, 1.0).unwrap();
    let error = sum.read(&mut [0; 12], Order::C).unwrap_err();
    assert_eq!(error.kind(), ArrayErrorKind::Traced);
    traced.finish().unwrap();
    assert_eq!(array_bytes(&sum).len(), 12);
}

/// Long chains and many arrays are cut into kernels that a device takes.
#[test]
fn large_expressions_are_split_into_several_kernels() {
    let bench = FusionFixture::new();
    let arrays: Vec<GpuArray> = (0..60).map(|k| bench.f32_array(&[50], 0.01 * k as f32)).collect();
    let body = || {
        let mut total = arrays[0].unary(Op::Copy)?;
        for array in &arrays {
            for factor in [1.5, 0.25, 3.0] {
                total = apply_elementwise(
                    &bench.ctx,
                    Op::Axpby,
                    &[Arg::Array(&total), factor.into(), Arg::Array(array), 0.5.into()],
                    OpOptions::default(),
                )?;
            }
        }
        Ok(total)
    };
    let apart = body().unwrap();
    let (fused, launches, _) = bench.count_launches(|| fuse::fuse(body).unwrap());
    assert!((2..12).contains(&launches), "{launches}");
    assert_eq!(array_bytes(&fused), array_bytes(&apart));
}

/// The elements of an expression are added up where they are computed, in the order of the separate sum.
#[test]
fn a_reduction_is_fused_with_its_operand_expression() {
    let bench = FusionFixture::new();
    let shapes: [&[usize]; 4] = [&[20000], &[3, 500], &[500, 3], &[7, 11, 40]];
    let mut turn = 0;
    for shape in shapes {
        let (x, y) = (bench.f32_array(shape, 0.173), bench.f32_array(&shape[shape.len() - 1..], 0.311));
        for x in [x.clone(), x.transpose(None).unwrap().copy(None).unwrap().transpose(None).unwrap()] {
            for axes in [None, Some(&[0isize][..]), Some(&[-1])] {
                for reduction in [ReductionOp::Sum, ReductionOp::Maximum, ReductionOp::ArgMinimum] {
                    // Of each shape, order and axes one reduction is usual; all three are at depth.
                    turn += 1;
                    if turn % at_depth(3, 1) != 0 {
                        continue;
                    }
                    let options = ReduceOptions { axes, ..Default::default() };
                    let body = || sample_expression(&x, &y)?.reduce(reduction, options);
                    let (apart, launches, allocations) = bench.count_launches(|| body().unwrap());
                    let (fused, fused_launches, fused_allocations) = bench.count_launches(|| fuse::fuse(body).unwrap());
                    assert_eq!((fused_launches, fused_allocations), (launches - 6, allocations - 6), "{shape:?}");
                    assert_eq!(array_bytes(&fused), array_bytes(&apart), "{reduction:?} of {shape:?} over {axes:?}");
                }
            }
        }
    }
}

#[test]
fn results_come_from_the_allocator_in_force_when_they_were_deferred() {
    let ctx = Context::new().expect("the virtual GPU is always there");
    let arrays = CudaRuntime::array_context(&ctx).unwrap();
    let x = GpuArray::empty(&arrays, &[10], DType::F32, Order::C).unwrap();
    x.write(&[3.0f32; 10].map(f32::to_le_bytes).concat(), Order::C).unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let (noted, inner) = (Arc::clone(&asked), CudaRuntime::new(&ctx).unwrap());
    let allocator: rtcg::Allocator = Arc::new(move |nbytes| {
        noted.fetch_add(nbytes, Ordering::Relaxed);
        inner.alloc_from(None, nbytes)
    });
    let (own, other) = fuse::fuse(|| {
        let own = rtcg::with_allocator(allocator, || x.binary(Op::Add, 1.0)?.binary(Op::Multiply, &x))?;
        assert_eq!(asked.load(Ordering::Relaxed), 0, "nothing has memory yet");
        Ok((own, x.binary(Op::Subtract, 1.0)?))
    })
    .unwrap();
    assert_eq!(asked.load(Ordering::Relaxed), 40, "one result, and neither the sum nor the difference");
    for (array, value) in [(own, 12.0f32), (other, 2.0)] {
        let mut bytes = vec![0; 40];
        array.read(&mut bytes, Order::C).unwrap();
        assert_eq!(bytes, [value; 10].map(f32::to_le_bytes).concat());
    }
}

/// The statements of the last element in a source, from the one that reads the first array on; variables are numbered
/// in order of appearance.
fn element_statements(source: &str) -> String {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let first = lines.iter().rposition(|line| line.ends_with("= x0[i];")).expect("the kernel reads an array");
    let statements: Vec<&str> = lines[first..].iter().copied().take_while(|line| line.starts_with("const ")).collect();
    let is_variable = |word: &str| word.starts_with(['v', 's', 'x']) && word[1..].parse::<u32>().is_ok();
    let mut names: Vec<&str> = Vec::new();
    let mut renamed = String::new();
    let statements = statements.join("\n");
    for part in statements.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_') {
        let word = part.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '_');
        if !is_variable(word) {
            renamed.push_str(part);
            continue;
        }
        let at = names.iter().position(|name| *name == word).unwrap_or(names.len());
        if at == names.len() {
            names.push(word);
        }
        renamed.push_str(&format!("{}_{at}{}", &word[..1], &part[word.len()..]));
    }
    renamed
}

/// Fused operations and data-parallel programs have one compiler.
#[test]
fn fused_operations_have_the_statements_of_a_core_program() {
    let bench = FusionFixture::new();
    let (x, y) = (bench.f32_array(&[100], 0.5), bench.f32_array(&[100], 0.25).astype(DType::F64).unwrap());
    fuse::fuse(|| sample_expression(&x, &y)).unwrap();
    let fused = bench.record.sources.lock().unwrap().iter().find(|text| text.contains("array_fused(")).unwrap().clone();
    let array = |dtype| ArgType::Array { dtype, ndim: 1, weak: false };
    let arguments = [array(DType::F32), array(DType::F64), ArgType::Scalar { dtype: DType::F32, weak: false }];
    let source = program("sample", |[x, y, factor]| {
        let element = |[x, y]: [Term; 2]| {
            let sum = x.clone() * factor + y.clone();
            call("sqrt", [call("abs", [sum])]) - x * y
        };
        map(lambda(element), [x, y])
    });
    let compiled = Compiled::new(&source, &arguments, false).unwrap();
    let statements = element_statements(&fused);
    assert_eq!(statements, element_statements(&compiled.sources()[0]));
    assert!(statements.ends_with("const double v_10 = v_8 - v_9;"), "{statements}");
}
