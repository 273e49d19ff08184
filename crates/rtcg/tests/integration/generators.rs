//! Kernels from snippets: every form gives what a loop on the host gives, and mistakes are named.

use rtcg::codegen::c_declarations::{TypeRegistry, parse_arguments};
use rtcg::codegen::pointwise::{ElementwiseSnippet, IndexingMode};
use rtcg::codegen::reduction::ReductionSnippet;
use rtcg::codegen::scan::{NeighborFetch, ScanSnippet};
use rtcg::generators::{
    ArrayView, CompileSettings, ElementwiseKernel, GeneratedKernelArg, IndexRange, LaunchChoice, ReductionKernel,
    ScanKernel, TypedElementwise, scalar,
};
use rtcg::prelude::*;

fn context() -> Context {
    Context::new().expect("the virtual GPU is always there")
}

fn launch_elementwise(ctx: &Context, kernel: &ElementwiseKernel, args: &[GeneratedKernelArg<'_>]) -> rtcg::Result<()> {
    // SAFETY: the snippets of these tests stay inside their arrays.
    unsafe { Ok(kernel.launch(&ctx.arrays()?, args, IndexRange::All)?) }
}

#[test]
fn contiguous_arrays_are_computed_elementwise() {
    let ctx = context();
    let kernel = ElementwiseKernel::parse("float a, float *x, float *z", "z[i] = a * x[i] + i").unwrap();
    for n in [1usize, 255, 256, 1000, 100_003] {
        let x: Vec<f32> = (0..n).map(|i| (i % 97) as f32).collect();
        let (x_dev, z_dev) = (ctx.to_device(&x).unwrap(), ctx.zeros::<f32>(n).unwrap());
        launch_elementwise(
            &ctx,
            &kernel,
            &[scalar(&2.0f32), GeneratedKernelArg::Array(x_dev.view()), GeneratedKernelArg::Array(z_dev.view())],
        )
        .unwrap();
        let expected: Vec<f32> = x.iter().enumerate().map(|(i, x)| 2.0 * x + i as f32).collect();
        assert_eq!(z_dev.to_vec().unwrap(), expected, "{n}");
    }
}

/// The packed form on any device, with sizes that leave a tail.
#[test]
fn vectorized_kernels_compute_packs_and_tail() {
    let ctx = context();
    let arguments = parse_arguments("double *z, const unsigned char *x, float *y", &TypeRegistry::new()).unwrap();
    let spec = ElementwiseSnippet {
        name: "packed".into(),
        arguments,
        operation: "z[i] = x[i] + i; if (x[i] > 5) y[i] -= 1".into(),
        ..Default::default()
    };
    assert_eq!(spec.analyze().pack_size, 4);
    let target = rtcg::device_compile_target(&ctx.device()).unwrap();
    let mut request = rtcg::compile::CompileRequest::new(spec.source(&IndexingMode::Packed { pack_size: 4 }), target);
    request.no_extern_c = true;
    let module = ctx.compile_with(&request).unwrap();
    let function = module.function("packed").unwrap();
    for n in [3usize, 4, 1027] {
        let x: Vec<u8> = (0..n).map(|i| (i % 11) as u8).collect();
        let (x_dev, y_dev) = (ctx.to_device(&x).unwrap(), ctx.to_device(&vec![2.0f32; n]).unwrap());
        let z_dev = ctx.zeros::<f64>(n).unwrap();
        // SAFETY: the three arrays have n elements.
        unsafe { function.launch(Grid::new(2, 64), &[&z_dev, &x_dev, &y_dev, &(n as u64)]).unwrap() };
        let expected: Vec<f64> = x.iter().enumerate().map(|(i, x)| f64::from(*x) + i as f64).collect();
        assert_eq!(z_dev.to_vec().unwrap(), expected, "{n}");
        let expected: Vec<f32> = x.iter().map(|x| if *x > 5 { 1.0 } else { 2.0 }).collect();
        assert_eq!(y_dev.to_vec().unwrap(), expected, "{n}");
    }
}

#[test]
fn arrays_are_broadcast_and_strided() {
    let ctx = context();
    let kernel = ElementwiseKernel::parse("int *z, int *x, int *y", "z[i] = 100 * x[i] + y[i]").unwrap();
    let x = ctx.to_device(&[1i32, 2, 3]).unwrap();
    let y = ctx.to_device(&[0i32, 10, 20, 30, 40, 50, 60, 70]).unwrap();
    let z = ctx.zeros::<i32>(12).unwrap();
    // x is a column, y every other element from the end, z is transposed.
    let x_view = ArrayView { shape: &[3, 1], strides: &[4, 4], ..x.view() };
    let y_view = ArrayView { ptr: y.ptr() + 28, shape: &[4], strides: &[-8], ..y.view() };
    let z_view = ArrayView { shape: &[3, 4], strides: &[4, 12], ..z.view() };
    launch_elementwise(
        &ctx,
        &kernel,
        &[GeneratedKernelArg::Array(z_view), GeneratedKernelArg::Array(x_view), GeneratedKernelArg::Array(y_view)],
    )
    .unwrap();
    let mut expected = vec![0; 12];
    for row in 0..3 {
        for column in 0..4 {
            expected[column * 3 + row] = 100 * (row as i32 + 1) + 70 - 20 * column as i32;
        }
    }
    assert_eq!(z.to_vec().unwrap(), expected);
}

#[test]
fn strided_arrays_are_indexed_freely() {
    let ctx = context();
    let kernel = ElementwiseKernel::parse("int *z, int *x", "z[i] = x[n - 1 - i] + (int)n").unwrap();
    let (x, z) = (ctx.to_device(&(0..20).collect::<Vec<i32>>()).unwrap(), ctx.zeros::<i32>(10).unwrap());
    let every_other = ArrayView { shape: &[10], strides: &[8], ..x.view() };
    launch_elementwise(&ctx, &kernel, &[GeneratedKernelArg::Array(z.view()), GeneratedKernelArg::Array(every_other)])
        .unwrap();
    assert_eq!(z.to_vec().unwrap(), (0..10).map(|i| 18 - 2 * i + 10).collect::<Vec<_>>());
}

#[test]
fn freely_indexed_arrays_do_not_broadcast() {
    let ctx = context();
    let kernel = ElementwiseKernel::parse("int *z, int *x, int *table", "z[i] = table[x[i]]").unwrap();
    let table = ctx.to_device(&[5i32, 6]).unwrap();
    let (x, z) = (ctx.to_device(&[0i32, 1, 1, 0]).unwrap(), ctx.zeros::<i32>(4).unwrap());
    let square = ArrayView { shape: &[2, 2], strides: &[8, 4], ..z.view() };
    launch_elementwise(
        &ctx,
        &kernel,
        &[
            GeneratedKernelArg::Array(square),
            GeneratedKernelArg::Array(x.view()),
            GeneratedKernelArg::Array(table.view()),
        ],
    )
    .unwrap();
    assert_eq!(z.to_vec().unwrap(), [5, 6, 6, 5]);
    let short = ctx.to_device(&[0i32, 1, 0]).unwrap();
    let error = launch_elementwise(
        &ctx,
        &kernel,
        &[
            GeneratedKernelArg::Array(z.view()),
            GeneratedKernelArg::Array(short.view()),
            GeneratedKernelArg::Array(table.view()),
        ],
    )
    .unwrap_err();
    assert!(error.to_string().contains("argument 'x' has shape (3,)"), "{error}");
}

#[test]
fn index_ranges_run_forward_and_backward() {
    let ctx = context();
    let kernel = ElementwiseKernel::parse("int *z", "z[i] += i").unwrap();
    for (start, stop, step) in [(1, 10, 3), (9, -1, -2), (0, 10, 1), (5, 5, 1), (7, 3, 1)] {
        let z = ctx.zeros::<i32>(10).unwrap();
        // SAFETY: the range lies inside the array.
        unsafe {
            kernel
                .launch(
                    &ctx.arrays().unwrap(),
                    &[GeneratedKernelArg::Array(z.view())],
                    IndexRange::Range { start, stop, step },
                )
                .unwrap()
        };
        let mut expected = vec![0; 10];
        let mut i = start;
        while if step > 0 { i < stop } else { i > stop } {
            expected[i as usize] = i as i32;
            i += step;
        }
        assert_eq!(z.to_vec().unwrap(), expected, "{start} {stop} {step}");
    }
}

#[test]
fn errors_in_calls_and_snippets_are_reported() {
    let ctx = context();
    let (z, d) = (ctx.zeros::<f32>(4).unwrap(), ctx.zeros::<f64>(4).unwrap());
    let kernel = ElementwiseKernel::parse("float *z, float a", "z[i] =\n  a * undeclared").unwrap();
    for (args, expected) in [
        (vec![GeneratedKernelArg::Array(z.view())], "takes 2 arguments (float *z, float a), 1 was given"),
        (
            vec![GeneratedKernelArg::Array(d.view()), scalar(&1.0f32)],
            "argument 'z' has dtype float64; expected float32 for 'float *z'",
        ),
        (vec![scalar(&1.0f32), scalar(&1.0f32)], "argument 'z' is a value; expected an array"),
        (
            vec![GeneratedKernelArg::Array(z.view()), GeneratedKernelArg::Bytes(&[0; 8])],
            "argument 'a' has 8 bytes; 'float a' has 4",
        ),
    ] {
        let error = launch_elementwise(&ctx, &kernel, &args).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let error = launch_elementwise(&ctx, &kernel, &[GeneratedKernelArg::Array(z.view()), scalar(&1.0f32)]).unwrap_err();
    let rtcg::Error::Compile(error) = error else { panic!("{error}") };
    assert!(error.log.contains("operation(2)"), "{}", error.log);
    assert!(error.excerpt.contains("> 2 |   a * undeclared"), "{}", error.excerpt);
}

#[test]
fn scalars_are_converted_to_the_declared_type_or_refused() {
    let ctx = context();
    let z = ctx.zeros::<f64>(2).unwrap();
    for (arguments, value, expected) in [
        ("double *z, float a", scalar(&3i32), Ok(3.0)),
        ("double *z, float a", scalar(&0.5f64), Ok(0.5)),
        ("double *z, double a", scalar(&0.5f32), Ok(0.5)),
        ("double *z, double a", scalar(&(1u64 << 63)), Ok(9223372036854775808.0)),
        ("double *z, float a", scalar(&16777217i64), Ok(16777216.0)),
        ("double *z, signed char a", scalar(&-7i64), Ok(-7.0)),
        ("double *z, unsigned long a", scalar(&7i8), Ok(7.0)),
        ("double *z, int a", scalar(&3_000_000_000u32), Err("argument 'a' is 3000000000, which 'int a' cannot hold")),
        ("double *z, unsigned a", scalar(&-1i32), Err("argument 'a' is -1, which 'unsigned a' cannot hold")),
        ("double *z, float a", scalar(&1e300f64), Err("argument 'a' is 1e300, which 'float a' cannot hold")),
        (
            "double *z, int a",
            scalar(&3.0f32),
            Err("argument 'a' is a value of type float, which does not become 'int a'"),
        ),
        ("double *z, long a", scalar(&3.0f64), Err("a value of type double, which does not become 'long a'")),
    ] {
        let kernel = ElementwiseKernel::parse(arguments, "z[i] = a").unwrap();
        match (launch_elementwise(&ctx, &kernel, &[GeneratedKernelArg::Array(z.view()), value]), expected) {
            (Ok(()), Ok(expected)) => assert_eq!(z.to_vec().unwrap(), [expected; 2], "{arguments}, {value:?}"),
            (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{error}"),
            (result, _) => panic!("{arguments}, {value:?}: {result:?}"),
        }
    }
    let sum = reduction_kernel("double", "const double *z, double by", "0", "a + b", "by * z[i]");
    let out = ctx.zeros::<f64>(1).unwrap();
    z.write(&[1.0, 2.0]).unwrap();
    let args = [GeneratedKernelArg::Array(z.view()), scalar(&3u8)];
    // SAFETY: the snippets stay inside the arrays.
    unsafe { sum.launch(&ctx.arrays().unwrap(), &args, &out.view()).unwrap() };
    assert_eq!(out.to_vec().unwrap(), [9.0]);
    let spec = scan_snippet("double", "double *z, double by", "by * z[i]", "a + b", "z[i] = item");
    run_scan(&ctx, spec, &[GeneratedKernelArg::Array(z.view()), scalar(&3i16)]);
    assert_eq!(z.to_vec().unwrap(), [3.0, 9.0]);
}

fn reduction_kernel(out: &str, arguments: &str, neutral: &str, reduce: &str, map: &str) -> ReductionKernel {
    let registry = TypeRegistry::new();
    let spec = ReductionSnippet {
        name: "reduce".into(),
        arguments: parse_arguments(arguments, &registry).unwrap(),
        out: registry.lookup(out).unwrap(),
        neutral: neutral.into(),
        reduce_expr: reduce.into(),
        map_expr: map.into(),
        preamble: String::new(),
    };
    ReductionKernel::new(spec, CompileSettings::default()).unwrap()
}

#[test]
fn reductions_of_many_sizes_are_correct() {
    let ctx = context();
    let dot = reduction_kernel("double", "const float *x, const float *y", "0", "a + b", "(double)x[i] * y[i]");
    let out = ctx.zeros::<f64>(1).unwrap();
    for n in [0usize, 1, 31, 32, 255, 1000, 4096, 100_003] {
        let x: Vec<f32> = (0..n).map(|i| (i % 13) as f32).collect();
        let x_dev = ctx.to_device(&x).unwrap();
        // SAFETY: the expressions read the arrays' own elements.
        unsafe {
            dot.launch(
                &ctx.arrays().unwrap(),
                &[GeneratedKernelArg::Array(x_dev.view()), GeneratedKernelArg::Array(x_dev.view())],
                &out.view(),
            )
            .unwrap()
        };
        let expected: f64 = x.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
        assert_eq!(out.to_vec().unwrap(), [expected], "{n}");
    }
}

#[test]
fn reductions_handle_strided_arrays_and_the_index() {
    let ctx = context();
    let latest = reduction_kernel("long", "const int *x", "-1", "a > b ? a : b", "x[i] == 3 ? (long)i : -1l");
    let x = ctx.to_device(&(0..3000).map(|i| i % 5).collect::<Vec<i32>>()).unwrap();
    let out = ctx.zeros::<i64>(1).unwrap();
    let backwards = ArrayView { ptr: x.ptr() + 4 * 2999, shape: &[1500], strides: &[-8], ..x.view() };
    // SAFETY: the view lies inside the array.
    unsafe { latest.launch(&ctx.arrays().unwrap(), &[GeneratedKernelArg::Array(backwards)], &out.view()).unwrap() };
    let expected = (0..1500).filter(|k| (2999 - 2 * k) % 5 == 3).max().unwrap();
    assert_eq!(out.to_vec().unwrap(), [expected]);
}

#[test]
fn reductions_over_axes_are_correct() {
    let ctx = context();
    let sum = reduction_kernel("long", "const int *x, const int *y", "0", "a + b", "x[i] * y[i] + (long)i * 0");
    let (d0, d1, d2) = (3usize, 70, 5);
    let host: Vec<i32> = (0..d0 * d1 * d2).map(|i| (i % 17) as i32 - 8).collect();
    let x = ctx.to_device(&host).unwrap();
    let y = ctx.to_device(&[1i32, 2, 3, 4, 5]).unwrap();
    let shape = [d0, d1, d2];
    let strides = [(4 * d1 * d2) as isize, (4 * d2) as isize, 4];
    for axes in [&[0isize][..], &[1], &[2], &[-1, 0], &[0, 1], &[0, 1, 2], &[1, 2], &[]] {
        let args = [
            GeneratedKernelArg::Array(ArrayView { shape: &shape, strides: &strides, ..x.view() }),
            GeneratedKernelArg::Array(ArrayView { shape: &[5], strides: &[4], ..y.view() }),
        ];
        let result_shape = sum.result_shape(&args, axes, false).unwrap();
        let count = result_shape.iter().product::<usize>();
        let out = ctx.zeros::<i64>(count).unwrap();
        let out_strides = rtcg::array::Layout::contiguous(&result_shape, 8, rtcg::array::Order::C).strides;
        let view = ArrayView { shape: &result_shape, strides: &out_strides, ..out.view() };
        // SAFETY: the views lie inside their arrays.
        unsafe { sum.launch_axis(&ctx.arrays().unwrap(), &args, axes, &view).unwrap() };
        let mut expected = vec![0i64; count];
        for i in 0..d0 {
            for j in 0..d1 {
                for k in 0..d2 {
                    let mut at = 0;
                    for (axis, index) in [i, j, k].into_iter().enumerate() {
                        if !axes.iter().any(|a| a.rem_euclid(3) as usize == axis) {
                            at = at * shape[axis] + index;
                        }
                    }
                    expected[at] += i64::from(host[(i * d1 + j) * d2 + k]) * (k as i64 + 1);
                }
            }
        }
        assert_eq!(out.to_vec().unwrap(), expected, "{axes:?}");
    }
    let args = [GeneratedKernelArg::Array(x.view()), GeneratedKernelArg::Array(x.view())];
    let error = sum.result_shape(&args, &[1], false).unwrap_err();
    assert!(error.to_string().contains("axis 1 is out of bounds for array of dimension 1"), "{error}");
}

fn scan_snippet(item: &str, arguments: &str, input: &str, scan: &str, output: &str) -> ScanSnippet {
    let registry = TypeRegistry::new();
    ScanSnippet {
        name: "scan".into(),
        arguments: parse_arguments(arguments, &registry).unwrap(),
        item: registry.lookup(item).unwrap(),
        neutral: Some("0".into()),
        input_expr: input.into(),
        scan_expr: scan.into(),
        output_statement: output.into(),
        scatters: false,
        segment_start: None,
        fetches: vec![],
        index: "int".into(),
        preamble: String::new(),
    }
}

fn run_scan(ctx: &Context, spec: ScanSnippet, args: &[GeneratedKernelArg<'_>]) {
    let kernel = ScanKernel::new(spec, CompileSettings::default()).unwrap();
    // SAFETY: the snippets stay inside their arrays.
    unsafe { kernel.launch(&ctx.arrays().unwrap(), args, None).unwrap() };
}

#[test]
fn scans_of_many_sizes_are_correct() {
    let ctx = context();
    for item in ["int", "double", "signed char"] {
        for n in [1usize, 100, 3840, 3841, 60_000] {
            let x: Vec<i32> = (0..n).map(|i| (i % 7) as i32 - 3).collect();
            let (x_dev, y_dev, z_dev) =
                (ctx.to_device(&x).unwrap(), ctx.zeros::<i32>(n).unwrap(), ctx.zeros::<i32>(n).unwrap());
            let spec = scan_snippet(item, "int *x, int *y, int *z", "x[i]", "a + b", "y[i] = item; z[i] = prev_item");
            run_scan(
                &ctx,
                spec,
                &[
                    GeneratedKernelArg::Array(x_dev.view()),
                    GeneratedKernelArg::Array(y_dev.view()),
                    GeneratedKernelArg::Array(z_dev.view()),
                ],
            );
            let (mut inclusive, mut exclusive, mut sum) = (vec![], vec![], 0);
            for x in &x {
                exclusive.push(sum);
                sum += x;
                inclusive.push(sum);
            }
            assert!(y_dev.to_vec().unwrap() == inclusive, "{item} {n}");
            assert!(z_dev.to_vec().unwrap() == exclusive, "{item} {n}");
        }
    }
}

/// Composition of maps x -> p*x + q modulo a power of two does not commute.
#[test]
fn noncommutative_scans_keep_operand_order() {
    let ctx = context();
    let n = 20_000;
    let host: Vec<u32> = (0..n).map(|i| (2 * i as u32 + 1) * 77).collect();
    let x = ctx.to_device(&host).unwrap();
    let mut spec = scan_snippet(
        "uint2",
        "unsigned *x",
        "make_uint2(x[i], x[i] ^ 5)",
        "make_uint2(a.x * b.x, a.y * b.x + b.y)",
        "x[i] = item.y",
    );
    spec.neutral = None;
    run_scan(&ctx, spec, &[GeneratedKernelArg::Array(x.view())]);
    let mut state = (1u32, 0u32);
    let expected: Vec<u32> = host
        .iter()
        .map(|&x| {
            state = (state.0.wrapping_mul(x), state.1.wrapping_mul(x).wrapping_add(x ^ 5));
            state.1
        })
        .collect();
    assert!(x.to_vec().unwrap() == expected);
}

#[test]
fn segmented_scans_fetch_previous_and_last_items() {
    let ctx = context();
    let n = 9001usize;
    let host: Vec<i32> = (0..n).map(|i| i as i32 / 37 % 5 + i as i32 / 1000).collect();
    let (x, y, z) = (ctx.to_device(&host).unwrap(), ctx.zeros::<i32>(n).unwrap(), ctx.zeros::<i32>(n).unwrap());
    let mut spec = scan_snippet(
        "int",
        "int *x, int *y, int *z",
        "1",
        "across_seg_boundary ? b : (a + b)",
        "y[i] = 1000 * prev_item + item; z[i] = last_item + before",
    );
    spec.segment_start = Some("before != x[i]".into());
    spec.fetches = vec![NeighborFetch { name: "before".into(), array: "x".into(), offset: -1 }];
    run_scan(
        &ctx,
        spec,
        &[
            GeneratedKernelArg::Array(x.view()),
            GeneratedKernelArg::Array(y.view()),
            GeneratedKernelArg::Array(z.view()),
        ],
    );
    let (mut expected, mut run) = (vec![], 0);
    for i in 0..n {
        let starts = i == 0 || host[i - 1] != host[i];
        let previous = if starts { 0 } else { run };
        run = previous + 1;
        expected.push(1000 * previous + run);
    }
    assert!(y.to_vec().unwrap() == expected);
    let before: Vec<i32> = (0..n).map(|i| run + if i == 0 { 0 } else { host[i - 1] }).collect();
    assert!(z.to_vec().unwrap() == before);
}

#[test]
fn counter_based_numbers_depend_only_on_the_position() {
    use rtcg::codegen::DType;
    use rtcg::codegen::random::{Distribution, RandomEngine, philox};
    use rtcg::generators::{DistributionParameters, Generator};
    let ctx = context();
    let element = DType::U32.into();
    let none = DistributionParameters::Real(0.0, 1.0);
    let key = 0x0123_4567_89ab_cdef;
    let whole = Generator::new(RandomEngine::Philox, key, 3).unwrap();
    let parts = Generator::new(RandomEngine::Philox, key, 3).unwrap();
    let (a, b, c) = (ctx.zeros::<u32>(1003).unwrap(), ctx.zeros::<u32>(400).unwrap(), ctx.zeros::<u32>(603).unwrap());
    whole.fill(&ctx.arrays().unwrap(), Distribution::Bits, &element, &a.view(), none).unwrap();
    parts.fill(&ctx.arrays().unwrap(), Distribution::Bits, &element, &b.view(), none).unwrap();
    parts.fill(&ctx.arrays().unwrap(), Distribution::Bits, &element, &c.view(), none).unwrap();
    let host: Vec<u32> = (0..251u32)
        .flat_map(|k| philox::philox4x32([k, 0, 3, 0], [key as u32, (key >> 32) as u32]))
        .take(1003)
        .collect();
    assert_eq!(a.to_vec().unwrap(), host);
    assert_eq!([b.to_vec().unwrap(), c.to_vec().unwrap()].concat(), host);
    assert_eq!((whole.counter_position(), parts.counter_position()), (251, 251));
}

#[test]
fn sequential_generators_match_the_host() {
    use rtcg::codegen::DType;
    use rtcg::codegen::random::{Distribution, RandomEngine, mrg32k3a, xorwow};
    use rtcg::generators::{DistributionParameters, SequentialGenerators, SkipUnit};
    let ctx = context();
    let seeds = [5u64, 5, 5, u64::MAX - 2, 17];
    let out = ctx.zeros::<u32>(23).unwrap();
    let generators = SequentialGenerators::from_seeds(&ctx.arrays().unwrap(), RandomEngine::Xorwow, &seeds, 2).unwrap();
    generators.skip_ahead(SkipUnit::Numbers, &[10]).unwrap();
    generators
        .fill(Distribution::Bits, &DType::U32.into(), &out.view(), DistributionParameters::Real(0.0, 0.0))
        .unwrap();
    let mut states = xorwow::subsequence_states(&seeds, 12);
    let expected: Vec<u32> = (0..23).map(|k| xorwow::next_output(&mut states[k % 5])).collect();
    assert_eq!(out.to_vec().unwrap(), expected);

    let out = ctx.zeros::<f64>(23).unwrap();
    let generators =
        SequentialGenerators::from_seeds(&ctx.arrays().unwrap(), RandomEngine::Mrg32k3a, &seeds, 0).unwrap();
    generators
        .fill(Distribution::Uniform, &DType::F64.into(), &out.view(), DistributionParameters::Real(0.0, 0.0))
        .unwrap();
    let mut states = mrg32k3a::subsequence_states(&seeds, 0);
    let expected: Vec<f64> =
        (0..23).map(|k| mrg32k3a::next_output(&mut states[k % 5]) as f64 * 2.328_306_549_837_829e-10).collect();
    assert_eq!(out.to_vec().unwrap(), expected);
    let error = generators.skip_ahead(SkipUnit::Numbers, &[1, 2]).unwrap_err().to_string();
    assert!(error.contains("2 counts were given for 5 generators"), "{error}");
}

/// Every other element of a 3 x 8 array, from the end: shape (3, 4).
fn strided_view<T: rtcg::Element>(memory: &rtcg::DeviceVec<T>) -> ArrayView<'_> {
    let item = size_of::<T>();
    let strides: &'static [isize] = match item {
        4 => &[32, -8],
        _ => &[64, -16],
    };
    ArrayView { ptr: memory.ptr() + 6 * item as u64, shape: &[3, 4], strides, ..memory.view() }
}

/// The same elements on the host, in C order.
fn elements_of_strided_view<T: Copy>(host: &[T]) -> Vec<T> {
    (0..12).map(|k| host[k / 4 * 8 + 6 - k % 4 * 2]).collect()
}

#[test]
fn index_ranges_and_scans_accept_strided_arrays() {
    let ctx = context();
    let host: Vec<i32> = (0..24).collect();
    let (x, y) = (ctx.to_device(&host).unwrap(), ctx.zeros::<i32>(24).unwrap());
    let kernel = ElementwiseKernel::parse("int *y, const int *x", "y[i] = x[i] + 100 * i").unwrap();
    let args = [GeneratedKernelArg::Array(strided_view(&y)), GeneratedKernelArg::Array(strided_view(&x))];
    let region = IndexRange::Range { start: 1, stop: 12, step: 2 };
    // SAFETY: the range lies inside the arrays.
    unsafe { kernel.launch(&ctx.arrays().unwrap(), &args, region).unwrap() };
    let after = y.to_vec().unwrap();
    let expected: Vec<i32> = elements_of_strided_view(&host)
        .iter()
        .enumerate()
        .map(|(i, x)| if i % 2 == 1 { x + 100 * i as i32 } else { 0 })
        .collect();
    assert_eq!(elements_of_strided_view(&after), expected);
    assert!((0..24).filter(|i| i % 2 == 1 || i % 8 == 7).all(|i| after[i] == 0), "{after:?}");
    let twice = ElementwiseKernel::parse("int *y, int *x", "y[i] = x[11 - i] * 2").unwrap();
    let same = [GeneratedKernelArg::Array(strided_view(&x)), GeneratedKernelArg::Array(strided_view(&x))];
    // SAFETY: the snippet touches one element.
    unsafe { twice.launch(&ctx.arrays().unwrap(), &same, IndexRange::Range { start: 0, stop: 1, step: 1 }).unwrap() };
    assert_eq!(x.to_vec().unwrap()[6], 2 * 16);
    let scan = ScanSnippet {
        index: "long".into(),
        ..scan_snippet("double", "const double *x, double *y", "x[i]", "a + b", "y[i] = item")
    };
    let scan = ScanKernel::new(scan, CompileSettings::default()).unwrap();
    let host: Vec<f64> = host.iter().map(|&x| f64::from(x)).collect();
    let (x, y) = (ctx.to_device(&host).unwrap(), ctx.zeros::<f64>(24).unwrap());
    // SAFETY: the snippets touch element `i`.
    unsafe {
        scan.launch(
            &ctx.arrays().unwrap(),
            &[GeneratedKernelArg::Array(strided_view(&x)), GeneratedKernelArg::Array(strided_view(&y))],
            None,
        )
        .unwrap()
    };
    let sums: Vec<f64> = elements_of_strided_view(&host)
        .iter()
        .scan(0.0, |total, x| {
            *total += x;
            Some(*total)
        })
        .collect();
    assert_eq!(elements_of_strided_view(&y.to_vec().unwrap()), sums);
    assert_eq!(x.to_vec().unwrap(), host);
}

#[test]
fn scans_and_reductions_of_several_threads_share_a_stream() {
    let ctx = context();
    let registry = TypeRegistry::new();
    let arguments = |text| parse_arguments(text, &registry).unwrap();
    let scan = ScanSnippet {
        neutral: None,
        index: "long".into(),
        ..scan_snippet("double", "const double *x, double *y", "x[i]", "a + b", "y[i] = item")
    };
    let scan = ScanKernel::new(scan, CompileSettings::default()).unwrap();
    let sum = ReductionSnippet {
        name: "total".into(),
        out: registry.lookup("double").unwrap(),
        neutral: "0".into(),
        reduce_expr: "a + b".into(),
        map_expr: "x[i]".into(),
        arguments: arguments("const double *x"),
        preamble: String::new(),
    };
    let sum = ReductionKernel::new(sum, CompileSettings::default()).unwrap();
    let x = ctx.to_device(&vec![1.0f64; 10_000]).unwrap();
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let total = ctx.zeros::<f64>(1).unwrap();
            for _ in 0..300 {
                // SAFETY: the snippet reads element `i`, and there is room for the result.
                unsafe {
                    sum.launch(&ctx.arrays().unwrap(), &[GeneratedKernelArg::Array(x.view())], &total.view()).unwrap()
                };
            }
            assert_eq!(total.to_vec().unwrap(), [10_000.0]);
        });
        let y = ctx.zeros::<f64>(10_000).unwrap();
        for _ in 0..300 {
            // SAFETY: the snippets touch element `i`.
            unsafe {
                scan.launch(
                    &ctx.arrays().unwrap(),
                    &[GeneratedKernelArg::Array(x.view()), GeneratedKernelArg::Array(y.view())],
                    None,
                )
                .unwrap()
            };
        }
        assert_eq!(y.to_vec().unwrap()[9_999], 10_000.0);
    });
}

/// Every choice of a launch computes the same, and choices out of range are refused.
#[test]
fn launch_choices_change_no_result() {
    let ctx = context();
    let axpy = ElementwiseKernel::parse("float *z, const float *x", "z[i] = 2 * x[i] + 1").unwrap();
    let sum = sum_of_squares();
    for n in [1usize, 1000, 40_003] {
        let x: Vec<f32> = (0..n).map(|i| (i % 7) as f32).collect();
        let x_dev = ctx.to_device(&x).unwrap();
        let expected: Vec<f32> = x.iter().map(|x| 2.0 * x + 1.0).collect();
        let squares: f64 = x.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
        for (block, waves) in [(32, 1), (96, 3), (512, 1000), (1024, 1)] {
            for packed in [false, true] {
                let choice =
                    LaunchChoice { block: Some(block), waves: Some(waves), packed: Some(packed), items: Some(waves) };
                axpy.set_launch_choice(&ctx.arrays().unwrap(), n, choice).unwrap();
                sum.set_launch_choice(&ctx.arrays().unwrap(), n, choice).unwrap();
                let (z_dev, out) = (ctx.zeros::<f32>(n).unwrap(), ctx.zeros::<f64>(1).unwrap());
                let args = [GeneratedKernelArg::Array(z_dev.view()), GeneratedKernelArg::Array(x_dev.view())];
                launch_elementwise(&ctx, &axpy, &args).unwrap();
                assert_eq!(z_dev.to_vec().unwrap(), expected, "{n} {choice:?}");
                // SAFETY: the snippet reads element `i` only.
                unsafe { sum.launch(&ctx.arrays().unwrap(), &[GeneratedKernelArg::Array(x_dev.view())], &out.view()) }
                    .unwrap();
                assert_eq!(out.to_vec().unwrap(), [squares], "{n} {choice:?}");
            }
        }
    }
    assert_eq!(
        axpy.launch_choice(&ctx.arrays().unwrap(), 900).block,
        Some(1024),
        "the nearest number of elements decides"
    );
    axpy.set_launch_choice(&ctx.arrays().unwrap(), 1000, LaunchChoice::default()).unwrap();
    let wrong = LaunchChoice { block: Some(100), ..LaunchChoice::default() };
    let message = axpy.set_launch_choice(&ctx.arrays().unwrap(), 10, wrong).unwrap_err().to_string();
    assert!(message.contains("block is 100; expected a multiple of 32"), "{message}");
}

fn sum_of_squares() -> ReductionKernel {
    let registry = TypeRegistry::new();
    let spec = ReductionSnippet {
        name: "squares".into(),
        arguments: parse_arguments("const float *x", &registry).unwrap(),
        out: registry.lookup("double").unwrap(),
        neutral: "0".into(),
        reduce_expr: "a + b".into(),
        map_expr: "(double)x[i] * x[i]".into(),
        preamble: String::new(),
    };
    ReductionKernel::new(spec, CompileSettings::default()).unwrap()
}

#[test]
fn builders_have_defaults_and_name_what_is_missing() {
    let ctx = context();
    let x = ctx.to_device(&[3i32, -7, 5]).unwrap();
    let args = [GeneratedKernelArg::Array(x.view())];
    let max = ReductionKernel::builder("const int *x").reduce("a > b ? a : b").neutral("-2147483647").build().unwrap();
    assert_eq!((max.snippet().out.name.as_str(), max.snippet().map_expr.as_str()), ("int", "x[i]"));
    let out = ctx.zeros::<i32>(1).unwrap();
    // SAFETY: the expressions read the arrays' own elements.
    unsafe { max.launch(&ctx.arrays().unwrap(), &args, &out.view()).unwrap() };
    assert_eq!(out.to_vec().unwrap(), [5]);
    let sums = ScanKernel::builder("int *x").scan("a + b").output("x[i] = item").build().unwrap();
    // SAFETY: the expressions read and write the arrays' own elements.
    unsafe { sums.launch(&ctx.arrays().unwrap(), &args, None).unwrap() };
    assert_eq!(x.to_vec().unwrap(), [3, -4, 1]);
    let errors = [
        (
            ReductionKernel::builder("int *x").name("f").neutral("0").build().map(drop),
            "kernel 'f': reduce() is missing",
        ),
        (ReductionKernel::builder("int n").reduce("a + b").neutral("0").build().map(drop), "out() is missing"),
        (ReductionKernel::builder("int *x").out("quux").build().map(drop), "'quux' is no known C type"),
        (ScanKernel::builder("int *x").scan("a + b").build().map(drop), "output() is missing"),
        (
            ScanKernel::builder("int *x").scan("a + b").output("x[i] = prev_item").build().map(drop),
            "neutral is required",
        ),
        (ElementwiseKernel::builder("int *x").build().map(drop), "operation() is missing"),
        (ElementwiseKernel::parse("int *x, int i", "x[i] = i").map(drop), "the name 'i' stands for the index"),
        (
            ElementwiseKernel::builder("int *x, int *i").operation("*x = 1").build().map(drop),
            "choose another one in the declaration 'int *i'",
        ),
        (
            ReductionKernel::builder("int *x, int n").reduce("a + b").neutral("0").build().map(drop),
            "the name 'n' stands for the number of elements",
        ),
        (
            ScanKernel::builder("int *x, int item").scan("a + b").output("x[i] = item").build().map(drop),
            "the name 'item' stands for the scanned item",
        ),
        (
            TypedElementwise::parse("T x, T n", "T y", "y = x")
                .map(drop)
                .map_err(|error| rtcg::array::ArrayError::value_error(error.to_string())),
            "the name 'n' stands for",
        ),
    ];
    for (result, expected) in errors {
        let error = result.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn segments_and_fetches_are_built_step_by_step() {
    let ctx = context();
    let (x, starts) = (ctx.to_device(&[1i32, 2, 3, 4]).unwrap(), ctx.to_device(&[1u8, 0, 1, 0]).unwrap());
    let kernel = ScanKernel::builder("int *x, const unsigned char *starts")
        .input("x[i] + (i > 0 ? before : 0)")
        .fetch("before", "x", -1)
        .scan("across_seg_boundary ? b : a + b")
        .segment_start("starts[i]")
        .neutral("0")
        .output("x[i] = item")
        .build()
        .unwrap();
    let args = [GeneratedKernelArg::Array(x.view()), GeneratedKernelArg::Array(starts.view())];
    // SAFETY: both arrays have four elements.
    unsafe { kernel.launch(&ctx.arrays().unwrap(), &args, None).unwrap() };
    assert_eq!(x.to_vec().unwrap(), [1, 4, 5, 12]);
}
