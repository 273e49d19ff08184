//! Doubles a 4 x 4 matrix on the device: with a kernel from source text, then with arrays.
//!
//! Run it with `cargo run --release -p rtcg --example demo`.

// Launching a kernel is unsafe: it is code that the compiler has not seen.
#![allow(unsafe_code)]

use rtcg::array::{DType, GpuArray, Op, Order};
use rtcg::prelude::*;

fn main() -> rtcg::Result<()> {
    let ctx = Context::new()?;
    println!("device: {}", ctx.device().name()?);

    let host: Vec<f32> = (0..16).map(|i| (i as f32).sin()).collect();
    let expected: Vec<f32> = host.iter().map(|x| 2.0 * x).collect();

    let module = ctx.compile(
        "__global__ void twice(float *a)
         {
             int i = threadIdx.x + threadIdx.y * 4;
             a[i] *= 2;
         }",
    )?;
    let a = ctx.to_device(&host)?;
    // SAFETY: 16 threads double the 16 elements of `a`.
    unsafe { module.function("twice")?.launch(Grid::new(1, (4, 4)), &[&a])? };
    assert_eq!(a.to_vec()?, expected);
    println!("kernel from source: {:?} ...", &a.to_vec()?[..4]);

    let arrays = rtcg::CudaRuntime::array_context(&ctx)?;
    let a = GpuArray::empty(&arrays, &[4, 4], DType::F32, Order::C)?;
    a.write(&bytes(&host), Order::C)?;
    let doubled = a.binary(Op::Multiply, 2)?;
    let mut back = vec![0; doubled.nbytes()];
    doubled.read(&mut back, Order::C)?;
    assert_eq!(back, bytes(&expected));
    println!("array expression: equal");
    Ok(())
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}
