//! Doubles a 4 x 4 matrix on the device: the program of `examples/demo.py` in Rust, in its three forms.
//!
//! `cargo run --release -p rtcg --example demo`

#![allow(unsafe_code, reason = "launching a kernel is unsafe: it is code that the compiler has not seen")]

use ndarray::Array2;
use rtcg::generators::{ElementwiseKernel, GeneratedKernelArg, IndexRange};
use rtcg::prelude::*;

const SOURCE: &str = "
__global__ void twice(float *a)
{
    int idx = threadIdx.x + threadIdx.y * 4;
    a[idx] *= 2;
}
";

/// Copy in, launch, copy out.
fn with_a_kernel(ctx: &Context, a: &Array2<f32>) -> rtcg::Result<Vec<f32>> {
    let a_gpu = ctx.to_device(a.as_slice().expect("contiguous"))?;
    let twice = ctx.compile(SOURCE)?.function("twice")?;
    // SAFETY: 16 threads double the 16 elements of `a_gpu`.
    unsafe { twice.launch(Grid::new(1, (4, 4)), &[&a_gpu])? };
    a_gpu.to_vec()
}

/// Let a generator write the kernel around one statement.
fn with_a_snippet(ctx: &Context, a: &Array2<f32>) -> rtcg::Result<Vec<f32>> {
    let a_gpu = ctx.to_device(a.as_slice().expect("contiguous"))?;
    let twice = ElementwiseKernel::parse("float *a", "a[i] *= 2")?;
    // SAFETY: the snippet touches element `i` of its array.
    unsafe { twice.launch(&ctx.arrays()?, &[GeneratedKernelArg::Array(a_gpu.view())], IndexRange::All)? };
    a_gpu.to_vec()
}

/// Write no kernel at all.
fn with_an_array(ctx: &Context, a: &Array2<f32>) -> rtcg::Result<Vec<f32>> {
    let a_gpu: GpuArray<f32> = ArrayFactory::new(ctx)?.from_ndarray(a)?;
    (&a_gpu * 2.0).to_vec()
}

fn main() -> rtcg::Result<()> {
    let ctx = Context::new()?;
    let (major, minor) = ctx.device().compute_capability()?;
    println!("device: {}, compute capability {major}.{minor}", ctx.device().name()?);

    let a = Array2::from_shape_fn((4, 4), |(row, column)| (4 * row + column) as f32 - 7.5);
    println!("original:\n{a}");
    let expected: Vec<f32> = a.iter().map(|x| 2.0 * x).collect();
    type Variant = fn(&Context, &Array2<f32>) -> rtcg::Result<Vec<f32>>;
    let variants: [(&str, Variant); 3] =
        [("a kernel", with_a_kernel), ("a snippet", with_a_snippet), ("an array", with_an_array)];
    for (name, variant) in variants {
        assert_eq!(variant(&ctx, &a)?, expected, "{name}");
        println!("with {name}: equal to ndarray");
    }
    println!("doubled:\n{}", &a * 2.0);
    Ok(())
}
