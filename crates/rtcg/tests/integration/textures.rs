//! Images, textures and surfaces by their typed builders.

use rtcg::prelude::*;
use rtcg::textures::{AddressMode, FilterMode, Texture};

/// Reads a one-dimensional texture of floats at `n` places, `step` apart.
const SAMPLE_SOURCE: &str =
    "extern \"C\" __global__ void sample(float *out, cudaTextureObject_t image, float start, float step)
{
    out[threadIdx.x] = tex1D<float>(image, start + step * threadIdx.x);
}";

fn sample(ctx: &Context, texture: &Texture, start: f32, step: f32, n: u32) -> Vec<f32> {
    let module = ctx.compile(SAMPLE_SOURCE).unwrap();
    let out = ctx.zeros::<f32>(n as usize).unwrap();
    let function = module.function("sample").unwrap();
    // SAFETY: each thread writes its own element.
    unsafe { function.launch(Grid::new(1, n), &[&out, texture, &start, &step]).unwrap() };
    out.to_vec().unwrap()
}

#[test]
fn filter_and_address_modes_are_those_of_the_builder() {
    let ctx = Context::new().unwrap();
    let image = ctx.image(&[1.0f32, 2.0, 3.0, 4.0], &[4]).unwrap();
    let built = |builder: rtcg::textures::TextureBuilder<'_, f32>| builder.build().unwrap();
    assert_eq!(sample(&ctx, &built(image.texture()), -1.5, 1.0, 7), [1.0, 1.0, 1.0, 2.0, 3.0, 4.0, 4.0]);
    let border = built(image.texture().address(AddressMode::Border).border([9.0; 4]));
    assert_eq!(sample(&ctx, &border, -0.5, 5.0, 2)[1], 9.0);
    let linear = built(image.texture().filter(FilterMode::Linear));
    assert_eq!(sample(&ctx, &linear, 0.5, 0.5, 4), [1.0, 1.5, 2.0, 2.5]);
    let wrapped = built(image.texture().address(AddressMode::Wrap).normalized_coordinates());
    assert_eq!(sample(&ctx, &wrapped, 0.125, 0.25, 6), [1.0, 2.0, 3.0, 4.0, 1.0, 2.0]);
    let mirrored = built(image.texture().address(AddressMode::Mirror).normalized_coordinates());
    assert_eq!(sample(&ctx, &mirrored, 0.125, 0.25, 6), [1.0, 2.0, 3.0, 4.0, 4.0, 3.0]);
}

#[test]
fn integers_are_read_as_such_or_normalised() {
    let ctx = Context::new().unwrap();
    let image = ctx.image(&[0u8, 51, 255], &[3]).unwrap();
    let texture = image.texture().normalized_values().filter(FilterMode::Linear).build().unwrap();
    drop(image);
    assert_eq!(sample(&ctx, &texture, 0.5, 1.0, 3), [0.0, 0.2, 1.0]);
}

#[test]
fn images_of_each_dimension_come_back_as_written() {
    let ctx = Context::new().unwrap();
    for shape in [vec![7], vec![5, 3], vec![2, 3, 4]] {
        let n: usize = shape.iter().product();
        let texels: Vec<[u16; 2]> = (0..n as u16).map(|i| [i, 1000 - i]).collect();
        let image = ctx.image(&texels, &shape).unwrap();
        assert_eq!((image.shape(), image.n_texels()), (&shape[..], n));
        assert_eq!(image.to_vec().unwrap(), texels, "{shape:?}");
    }
}

#[test]
fn settings_that_mean_nothing_are_refused() {
    let ctx = Context::new().unwrap();
    let image = ctx.image(&[1i32, 2], &[2]).unwrap();
    let message = |result: rtcg::Result<Texture>| result.unwrap_err().to_string();
    let wrap = message(image.texture().address(AddressMode::Wrap).build());
    assert!(wrap.contains("need normalized_coordinates()"), "{wrap}");
    let linear = message(image.texture().filter(FilterMode::Linear).build());
    assert!(linear.contains("needs normalized_values()"), "{linear}");
    let normalized = message(image.texture().normalized_values().build());
    assert!(normalized.contains("8 or 16 bits"), "{normalized}");
    for (texels, shape) in [(2, vec![]), (0, vec![0]), (3, vec![2]), (1, vec![1; 4])] {
        let refused = ctx.image(&vec![0.0f32; texels], &shape).unwrap_err().to_string();
        assert!(refused.contains(&format!("shape {shape:?}")), "{refused}");
    }
}

#[test]
fn a_kernel_with_a_texture_is_tuned() {
    use rtcg::compile::CompileRequest;
    use rtcg::tune::{Budget, Config, Space, TunerOptions, strategies, tune};
    use std::ops::ControlFlow;

    let ctx = Context::new().unwrap();
    let image = ctx.image(&[1.0f32, 2.0, 3.0, 4.0], &[4]).unwrap();
    let (texture, out) = (image.texture().filter(FilterMode::Linear).build().unwrap(), ctx.zeros::<f32>(4).unwrap());
    let target = rtcg::device_compile_target(&ctx.device()).unwrap();
    let number = |config: &Config, name| config.get(name).and_then(|value| value.as_f64()).unwrap() as u32;
    let request = move |config: &Config| {
        let (block, shift) = (number(config, "block"), number(config, "shift"));
        let source = format!(
            "__global__ void shifted(float *out, cudaTextureObject_t image) {{
               const int i = blockIdx.x * {block} + threadIdx.x;
               if (i < 4) out[i] = tex1D<float>(image, i + 0.5f + 0.5f * {shift}); }}"
        );
        CompileRequest::new(source, target)
    };
    let launch = |kernel: &Function, config: &Config| {
        let block = number(config, "block");
        // SAFETY: threads write four numbers.
        unsafe { kernel.launch(Grid::new(4_u32.div_ceil(block), block), &[&out, &texture]) }
    };
    let mut kernel = rtcg::KernelTarget::new(&ctx, "shifted", request, launch).verify(|| {
        Ok(if out.to_vec()? == [1.5, 2.5, 3.5, 4.0] { Ok(()) } else { Err("not between texels".to_owned()) })
    });
    let space = Space::new().parameter("block", [1, 2, 4]).unwrap().parameter("shift", [1, 0]).unwrap();
    let options = TunerOptions { budget: Budget::of_evaluations(6), ..TunerOptions::default() };
    let strategy = strategies::by_name("exhaustive", 0).unwrap();
    let space = std::sync::Arc::new(space.enumerate().unwrap());
    let report = tune(&mut kernel, &space, strategy, Some(0), &[], &options, &mut |_| ControlFlow::Continue(()));
    let shown = report.to_string();
    assert!(
        report.trials.len() == 6 && shown.contains("3 failed (correctness), such as: not between texels"),
        "{shown}"
    );
    assert!(shown.contains("shift=1"), "{shown}");
}
