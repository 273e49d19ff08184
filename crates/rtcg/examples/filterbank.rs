//! A layer of a model of vision: filters, clip, pool, normalisation. The twin of the Python program `apps/filterbank`.
//!
//! `cargo run --release -p rtcg --example filterbank`
//!
//! The kernel is a template: sizes are literals, and so are the filters, which lie in constant memory. It is compared with
//! `rtcg::ndimage` and with float64 on the host.

#![allow(unsafe_code, reason = "launching a kernel is unsafe: it is code that the compiler has not seen")]

use rtcg::ndimage::{LocalNorm, Pool, filter_bank, local_norm, pool};
use rtcg::prelude::*;
use rtcg::source::{Template, context};

/// Rows, columns and channels of the image; filters, their rows and columns.
const IMAGE: [usize; 3] = [75, 101, 4];
const BANK: [usize; 3] = [8, 5, 5];
/// Threads of a block, and adjacent columns that each has.
const BLOCK: (u32, u32) = (16, 8);
const ITEMS: u32 = 4;

const TEXT: &str = "
enum { H = {{ h }}, W = {{ w }}, D = {{ d }}, F = {{ f }}, FH = {{ fh }}, FW = {{ fw }}, OH = H - FH + 1, OW = W - FW + 1 };
enum { BX = {{ bx }}, BY = {{ by }}, ITEMS = {{ items }}, TILE_H = BY + FH - 1, TILE_W = BX * ITEMS + FW - 1 };

__constant__ float bank[D][FH][FW][F] = { {{ numbers }} };

__global__ __launch_bounds__(BX * BY) void layer(float *out, const float *x)
{
  __shared__ float tile[TILE_H][TILE_W];
  const int row0 = blockIdx.y * BY, column0 = blockIdx.x * (BX * ITEMS);
  float sum[ITEMS][F] = {};
  for (int d = 0; d < D; d++) {
    __syncthreads();
    for (int e = threadIdx.y * BX + threadIdx.x; e < TILE_H * TILE_W; e += BX * BY) {
      const int row = row0 + e / TILE_W, column = column0 + e % TILE_W;
      tile[e / TILE_W][e % TILE_W] = row < H && column < W ? x[(row * W + column) * D + d] : 0.0f;
    }
    __syncthreads();
    for (int i = 0; i < FH; i++) {
      float pixels[ITEMS + FW - 1];
#pragma unroll
      for (int v = 0; v < ITEMS + FW - 1; v++) pixels[v] = tile[threadIdx.y + i][threadIdx.x * ITEMS + v];
#pragma unroll
      for (int j = 0; j < FW; j++)
#pragma unroll
        for (int f = 0; f < F; f++)
#pragma unroll
          for (int q = 0; q < ITEMS; q++) sum[q][f] += pixels[q + j] * bank[d][i][j][f];
    }
  }
  const int row = row0 + threadIdx.y, column = column0 + threadIdx.x * ITEMS;
  for (int q = 0; q < ITEMS; q++)
    if (row < OH && column + q < OW)
      for (int f = 0; f < F; f++) out[(row * OW + column + q) * F + f] = fminf(fmaxf(sum[q][f], -1.0f), 1.0f);
}
";

/// Numbers from -1/2 to 1/2.
fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 24) as f32 - 0.5
    };
    (0..count).map(next).collect()
}

/// Filters (filters, rows, columns, channels) in the order in which threads read them, as text.
fn bank_text(filters: &[f32]) -> String {
    let ([f, fh, fw], d) = (BANK, IMAGE[2]);
    let place = |at: usize| {
        let (filter, tap, channel) = (at % f, at / f % (fh * fw), at / f / (fh * fw));
        format!("{:e}f", filters[(filter * fh * fw + tap) * d + channel])
    };
    (0..filters.len()).map(place).collect::<Vec<_>>().join(", ")
}

/// The clipped sum of one place in float64.
fn expected(x: &[f32], w: &[f32], row: usize, column: usize, filter: usize) -> f64 {
    let ([_, columns, d], [_, fh, fw]) = (IMAGE, BANK);
    let term = |tap: usize| {
        let (channel, j, i) = (tap % d, tap / d % fw, tap / d / fw);
        f64::from(x[((row + i) * columns + column + j) * d + channel]) * f64::from(w[filter * fh * fw * d + tap])
    };
    (0..fh * fw * d).map(term).sum::<f64>().clamp(-1.0, 1.0)
}

fn main() -> anyhow::Result<()> {
    let ctx = Context::new()?;
    let ([h, w, d], [f, fh, fw]) = (IMAGE, BANK);
    let (rows, columns) = (h - fh + 1, w - fw + 1);
    let (x, filters) = (numbers(h * w * d, 1), numbers(f * fh * fw * d, 2));
    let source = Template::new(TEXT)?.render(context! {
        h, w, d, f, fh, fw, bx => BLOCK.0, by => BLOCK.1, items => ITEMS, numbers => bank_text(&filters),
    })?;
    let layer = ctx.compile_source(&source)?.function("layer")?;
    let (out, image) = (ctx.zeros::<f32>(rows * columns * f)?, ctx.to_device(&x)?);
    let grid = Grid::new(((columns as u32).div_ceil(BLOCK.0 * ITEMS), (rows as u32).div_ceil(BLOCK.1)), BLOCK);
    // SAFETY: threads write places of the result, and read the image within its borders.
    unsafe { layer.launch(grid, &[&out, &image])? };
    let found = out.to_vec()?;

    let mut worst = 0.0f64;
    for (at, &value) in found.iter().enumerate() {
        let (filter, column, row) = (at % f, at / f % columns, at / f / columns);
        worst = worst.max((f64::from(value) - expected(&x, &filters, row, column, filter)).abs());
    }
    println!("device: {}", ctx.device().name()?);
    println!("{f} filters of {fh} x {fw} x {d} on {h} x {w} pixels: largest error {worst:.1e}");
    anyhow::ensure!(worst < 1e-5, "the error is {worst:.1e}; expected less than 1e-5");

    // The library's, and the rest of a layer.
    let arrays = ArrayFactory::new(&ctx)?;
    let [image, filters] = [(&x, [h, w, d].to_vec()), (&filters, [f, fh, fw, d].to_vec())].map(|(values, shape)| {
        let shape: Vec<isize> = shape.into_iter().map(|n| n as isize).collect();
        arrays.from_slice(values)?.reshape(&shape)
    });
    let sums = filter_bank(image?.as_dyn(), filters?.as_dyn(), Some("clip(acc, -1, 1)"), None)?;
    let same = arrays.typed_from_dyn::<f32>(sums.clone())?.to_vec()?;
    let difference = found.iter().zip(&same).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    anyhow::ensure!(difference < 1e-5, "rtcg::ndimage differs by {difference:.1e}; expected less than 1e-5");
    let pooled = pool(&sums, [3, 3], [2, 2], Pool::Norm(10.0))?;
    let norm = LocalNorm { size: [5, 5], is_centered: true, stretch: 1.0, threshold: 0.1 };
    println!("after pool and normalisation: {:?}", local_norm(&pooled, norm)?.shape());
    Ok(())
}

#[test]
fn the_layer_is_that_of_float64() {
    main().unwrap();
}
