//! A program that knows only NVIDIA's driver, through cudarc: compile, copy, launch, streams,
//! events, and an error. It panics where something is not as it must be.

use cudarc::driver::{CudaContext, DriverError, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::{CompileOptions, compile_ptx_with_opts};

const SOURCE: &str = r#"
extern "C" __global__ void axpy(float a, const float *x, float *y, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
extern "C" __global__ void sum(const float *x, float *total, size_t n) {
    __shared__ float part[256];
    float own = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) own += x[i];
    part[threadIdx.x] = own;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) atomicAdd(total, part[0]);
}
"#;

fn main() -> Result<(), DriverError> {
    let context = CudaContext::new(0)?;
    println!("{}, compute capability {:?}", context.name()?, context.compute_capability()?);
    let options = CompileOptions { arch: Some("compute_80"), ..Default::default() };
    let ptx = compile_ptx_with_opts(SOURCE, options).expect("NVRTC compiles");
    let module = context.load_module(ptx)?;
    let (axpy, sum) = (module.load_function("axpy")?, module.load_function("sum")?);

    let n = 100_000;
    let host: Vec<f32> = (0..n).map(|i| (i % 100) as f32).collect();
    let stream = context.new_stream()?;
    let x = stream.clone_htod(&host)?;
    let mut y = stream.clone_htod(&vec![1.0_f32; n])?;
    let mut total = stream.alloc_zeros::<f32>(1)?;
    let (a, count) = (2.0_f32, n);
    let mut launch = stream.launch_builder(&axpy);
    launch.arg(&a).arg(&x).arg(&mut y).arg(&count);
    // SAFETY: the arguments are those of the kernel, and each buffer has `n` elements.
    unsafe { launch.launch(LaunchConfig::for_num_elems(n as u32)) }?;
    let mut launch = stream.launch_builder(&sum);
    launch.arg(&y).arg(&mut total).arg(&count);
    let config = LaunchConfig { grid_dim: (64, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: as above; `total` has the one element that is written.
    unsafe { launch.launch(config) }?;
    let result = stream.clone_dtoh(&total)?;
    stream.synchronize()?;
    let expected: f64 = host.iter().map(|v| 1.0 + 2.0 * f64::from(*v)).sum();
    assert!((f64::from(result[0]) / expected - 1.0).abs() < 1e-4, "{} is not {expected}", result[0]);

    assert!(module.load_function("no_such_kernel").is_err());
    println!("sum of 2x + 1: {}", result[0]);
    Ok(())
}
