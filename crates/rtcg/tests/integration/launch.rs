//! The Rust API end to end: source text to results, arrays, and what wrong calls are told.

use rtcg::array::{DType, GpuArray, Op, Order, Scalar, WeakScalar};
use rtcg::prelude::*;

const AXPY_SOURCE: &str = "__global__ void axpy(float *y, const float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}";

fn context() -> Context {
    Context::new().expect("the virtual GPU is always there")
}

#[test]
fn a_kernel_compiled_from_source_runs() {
    let ctx = context();
    let n = 1000;
    let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let (x_dev, y_dev) = (ctx.to_device(&x).unwrap(), ctx.zeros::<f32>(n).unwrap());
    let axpy = ctx.compile(AXPY_SOURCE).unwrap().function("axpy").unwrap();
    for _ in 0..2 {
        // SAFETY: the kernel stays inside n elements of both.
        unsafe { axpy.launch(Grid::for_elements(n), &[&y_dev, &x_dev, &3.0f32, &(n as i32)]).unwrap() };
    }
    let expected: Vec<f32> = x.iter().map(|x| 6.0 * x).collect();
    assert_eq!(y_dev.to_vec().unwrap(), expected);
}

#[test]
fn wrong_argument_counts_and_sizes_are_reported() {
    let ctx = context();
    let y = ctx.zeros::<f32>(4).unwrap();
    let axpy = ctx.compile(AXPY_SOURCE).unwrap().function("axpy").unwrap();
    // SAFETY: neither launch comes to pass.
    let (size, count) = unsafe {
        let size = axpy.launch(Grid::for_elements(4), &[&y, &y, &3.0f64, &4i32]).unwrap_err();
        (size, axpy.launch(Grid::for_elements(4), &[&y, &y]).unwrap_err())
    };
    assert!(size.to_string().contains("argument #2 (0-based) has 8 bytes"), "{size}");
    assert!(count.to_string().contains("takes 4 arguments, 2 were given"), "{count}");
}

#[test]
fn wrong_argument_types_are_reported() {
    let ctx = context();
    let (y, doubles) = (ctx.zeros::<f32>(4).unwrap(), ctx.zeros::<f64>(4).unwrap());
    let axpy = ctx.compile(AXPY_SOURCE).unwrap().function("axpy").unwrap();
    let launch = |args: &[&dyn KernelArgument]| {
        // SAFETY: no launch comes to pass.
        unsafe { axpy.launch(Grid::for_elements(4), args).unwrap_err().to_string() }
    };
    let text = launch(&[&y, &doubles, &3.0f32, &4i32]);
    let expected = "argument #1 (0-based) of kernel 'axpy', declared as 'const float *x', cannot be an array of double";
    assert!(text.ends_with(expected), "{text}");
    let text = launch(&[&y, &y, &3i32, &4i32]);
    assert!(text.ends_with("declared as 'float a', cannot be a value of type int"), "{text}");
    let text = launch(&[&y, &2.0f64, &3.0f32, &4i32]);
    assert!(text.ends_with("cannot be a value of type double"), "{text}");
}

#[test]
fn a_launch_takes_options_and_as_much_shared_memory_as_there_is() {
    let ctx = context();
    let source = "__global__ void last(int *out, int n) {
        extern __shared__ int cache[];
        cache[n - 1] = 7;
        __syncthreads();
        *out = cache[n - 1];
    }";
    let last = ctx.compile(source).unwrap().function("last").unwrap();
    let out = ctx.zeros::<i32>(1).unwrap();
    let options = rtcg::driver::LaunchOptions { cooperative: true, priority: Some(0), ..Default::default() };
    let n = 80 * 1024 / 4;
    // SAFETY: the kernel writes the last element of its shared memory and one integer.
    unsafe {
        last.launch(Grid::new(1, 1).shared_memory_bytes(4 * n as u32).launch_options(options), &[&out, &n]).unwrap()
    };
    assert_eq!(out.to_vec().unwrap(), [7]);
    // SAFETY: it does not come to pass.
    let error = unsafe { last.launch(Grid::new(1, 1).shared_memory_bytes(1 << 30), &[&out, &n]).unwrap_err() };
    assert!(error.to_string().contains("bytes of dynamic shared memory asked for; the device has"), "{error}");
}

#[test]
fn a_compile_error_shows_the_line() {
    let error = context().compile("__global__ void f(int *a)\n{\n    a[0] = undeclared;\n}").unwrap_err();
    let rtcg::Error::Compile(error) = error else { panic!("{error}") };
    assert!(error.log.contains("undeclared"), "{}", error.log);
    assert!(error.excerpt.contains("a[0] = undeclared;"), "{}", error.excerpt);
}

#[test]
fn other_threads_use_the_same_context() {
    let ctx = context();
    let results: Vec<Vec<i32>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|k| {
                let ctx = &ctx;
                scope.spawn(move || ctx.to_device(&[k, 2 * k, 3 * k]).unwrap().to_vec().unwrap())
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(results, [[0, 0, 0], [1, 2, 3], [2, 4, 6], [3, 6, 9]]);
}

#[test]
fn arrays_follow_numpy_type_promotion() {
    let ctx = context();
    let arrays = rtcg::CudaRuntime::array_context(&ctx).unwrap();
    let a = GpuArray::empty(&arrays, &[2, 3], DType::I32, Order::C).unwrap();
    a.fill(Scalar::Weak(WeakScalar::Int(7))).unwrap();
    let quotient = a.binary(Op::TrueDivide, 2).unwrap();
    assert_eq!(quotient.dtype(), DType::F64);
    let mut bytes = vec![0; quotient.nbytes()];
    quotient.read(&mut bytes, Order::C).unwrap();
    assert!(bytes.chunks(8).all(|value| value == 3.5f64.to_le_bytes()));

    let other = GpuArray::zeros(&arrays, &[3, 2], DType::I32, Order::C).unwrap();
    let error = a.binary(Op::Add, &other).unwrap_err();
    assert!(error.to_string().contains("(2, 3) (3, 2)"), "{error}");
}

#[test]
fn a_fault_is_an_error_and_poisons_only_its_context() {
    rtcg::driver::init(0).unwrap();
    let device = rtcg::driver::Device::new(0).unwrap();
    if !device.is_virtual() {
        // A fault of a real device would spoil the other tests of this process.
        return;
    }
    let own = device.make_context(0).unwrap();
    let ctx = Context::from(own.clone());
    let module = ctx.compile("__global__ void wild(int *a) { a[1ull << 40] = 1; }").unwrap();
    let a = ctx.zeros::<i32>(1).unwrap();
    // SAFETY: the fault is what is tested; the virtual GPU stops it.
    unsafe { module.function("wild").unwrap().launch(Grid::new(1, 1), &[&a]).unwrap() };
    let error = ctx.synchronize().unwrap_err().to_string();
    assert!(error.contains("illegal memory access") && error.contains("wild"), "{error}");
    own.detach().unwrap();
    assert_eq!(context().to_device(&[5i32]).unwrap().to_vec().unwrap(), [5]);
}

const TEMPLATE_KERNELS_SOURCE: &str = "
namespace ns {
__device__ int value = 7;
__constant__ float table[4] = {1, 2, 3, 4};
template <class T, int N> __global__ void fill(T *a) { a[threadIdx.x] = T(N + value); }
__global__ void bump() { value += 1; }
}
template <class T> __device__ T counter = T(5);
template <class T> __global__ void count(T *a) { *a = counter<T>++; }
__global__ void plain(float *a) { a[threadIdx.x] = ns::table[threadIdx.x]; }
";

fn compile_templates(names: &[&str]) -> (Context, Module) {
    let ctx = context();
    let mut request = rtcg::compile::CompileRequest::new(
        TEMPLATE_KERNELS_SOURCE,
        rtcg::device_compile_target(&ctx.device()).unwrap(),
    );
    request.no_extern_c = true;
    request.name_expressions = names.iter().map(|name| name.to_string()).collect();
    let module = ctx.compile_with(&request).unwrap();
    (ctx, module)
}

#[test]
fn template_instances_are_found_by_cpp_name() {
    let (ctx, module) = compile_templates(&[]);
    let (floats, ints) = (ctx.zeros::<f32>(4).unwrap(), ctx.zeros::<i64>(4).unwrap());
    let none: [&dyn KernelArgument; 0] = [];
    // SAFETY: the kernels write four elements at most.
    unsafe {
        module.function("ns::fill<float, 3>").unwrap().launch(Grid::new(1, 4), &[&floats]).unwrap();
        assert_eq!(floats.to_vec().unwrap(), [10.0; 4]);
        module.function("ns::fill<long long, -7>").unwrap().launch(Grid::new(1, 4), &[&ints]).unwrap();
        assert_eq!(ints.to_vec().unwrap(), [0; 4]);
        module.function("plain").unwrap().launch(Grid::new(1, 4), &[&floats]).unwrap();
        assert_eq!(floats.to_vec().unwrap(), [1.0, 2.0, 3.0, 4.0]);
        // A variable that is no template exists once, in the program that was loaded first.
        let value = module.global_variable::<i32>("ns::value").unwrap();
        module.function("ns::bump").unwrap().launch(Grid::new(1, 1), &none).unwrap();
        assert_eq!(value.get().unwrap(), 8);
    }
    let error = module.function("ns::fill<float>").unwrap_err();
    assert!(matches!(error, rtcg::Error::Compile(_)), "{error}");
    let error = module.function("absent").unwrap_err();
    assert!(matches!(error, rtcg::Error::Driver(_)) && error.to_string().contains("'absent'"), "{error}");
}

#[test]
fn template_instances_compiled_together_share_variables() {
    let (ctx, module) = compile_templates(&["count<int>", "&counter<int>", "ns::fill<int, 1>"]);
    let a = ctx.zeros::<i32>(1).unwrap();
    let counter = module.global_variable::<i32>("&counter<int>").unwrap();
    counter.set(40).unwrap();
    // SAFETY: the kernels write one element.
    unsafe { module.function("count<int>").unwrap().launch(Grid::new(1, 1), &[&a]).unwrap() };
    assert_eq!((a.to_vec().unwrap()[0], counter.get().unwrap()), (40, 41));
    module.global_variable::<i32>("ns::value").unwrap().set(90).unwrap();
    // SAFETY: the kernel writes one element.
    unsafe { module.function("ns::fill<int, 1>").unwrap().launch(Grid::new(1, 1), &[&a]).unwrap() };
    assert_eq!(a.to_vec().unwrap(), [91]);
}

#[test]
fn module_variables_are_accessed_as_slices() {
    let (_, module) = compile_templates(&[]);
    let table = module.global_variable::<f32>("ns::table").unwrap();
    assert_eq!((table.len(), table.to_vec().unwrap()), (4, vec![1.0, 2.0, 3.0, 4.0]));
    table.write(1, &[20.0, 30.0]).unwrap();
    assert_eq!(table.to_vec().unwrap(), [1.0, 20.0, 30.0, 4.0]);
    let error = table.write(3, &[0.0, 0.0]).unwrap_err();
    assert!(error.to_string().contains("elements 3 to 5 of a variable of 4"), "{error}");
    let error = module.global_variable::<f64>("ns::value").unwrap_err();
    assert!(error.to_string().contains("has 4 bytes, which is no whole number of f64"), "{error}");
}

#[test]
fn device_vectors_are_allocated_from_a_pool() {
    let ctx = Context::new().unwrap();
    let pool = rtcg::driver::pool::DeviceMemoryPool::new();
    let module = ctx.compile("__global__ void twice(float *a) { a[threadIdx.x] *= 2; }").unwrap();
    let twice = module.function("twice").unwrap();
    for round in 0..3 {
        let a = ctx.to_device_from_pool(&pool, &[1.0f32, 2.0, round as f32]).unwrap();
        // SAFETY: the kernel writes the three elements.
        unsafe { twice.launch(Grid::new(1, 3), &[&a]).unwrap() };
        assert_eq!(a.to_vec().unwrap(), [2.0, 4.0, 2.0 * round as f32]);
        assert_eq!(ctx.zeros_from_pool::<u64>(&pool, 100).unwrap().to_vec().unwrap(), [0; 100]);
    }
    let all = pool.statistics();
    assert_eq!((all.n_taken, all.n_allocations, all.active_blocks), (2, 6, 0));
    assert!(ctx.zeros_from_pool::<i8>(&pool, 0).unwrap().is_empty());
}
