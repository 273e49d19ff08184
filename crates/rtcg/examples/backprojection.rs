//! An image of spotlight radar by backprojection: the method `fixed` of the Python program `apps/backprojection`.
//!
//! `cargo run --release -p rtcg --example backprojection`
//!
//! Sizes, spacings and carrier are literals of the kernel, which is a template. Checked against float64 on the host.

#![allow(unsafe_code, reason = "launching a kernel is unsafe: it is code that the compiler has not seen")]

use num_complex::{Complex32, Complex64};
use rtcg::prelude::*;
use rtcg::source::{Template, context};
use std::f64::consts::TAU;

const LIGHT: f64 = 299_792_458.0;
const CYCLES_OF_METRE: f64 = 2.0 * 10e9 / LIGHT;
const BANDWIDTH: f64 = 500e6;
const BINS_OF_RESOLUTION: f64 = 8.0;
const BINS_OF_METRE: f64 = BINS_OF_RESOLUTION * 2.0 * BANDWIDTH / LIGHT;
const SPACING: f64 = 0.2;

/// Threads of a block, pixels of a thread, pulses of a stage.
const BLOCK: (u32, u32) = (32, 8);
const ITEMS: u32 = 4;
const STAGE: u32 = 8;

const TEXT: &str = "
enum { WIDTH = {{ width }}, HEIGHT = {{ height }}, BINS = {{ bins }}, PULSES = {{ pulses }} };
enum { BX = {{ bx }}, BY = {{ by }}, ITEMS = {{ items }}, STAGE = {{ stage }}, THREADS = BX * BY, WINDOW = {{ window }} };
#define SPACING {{ spacing|literal('float64') }}
#define CYCLES {{ cycles|literal('float64') }}        // of phase for a metre of range
#define BINS_OF_METRE {{ bins_of_metre|literal('float64') }}
#define MAGIC 12582912.0f                             // 1.5 * 2^23: sums with it have no fraction

// The place among the bins and the phase, in units of 2^-32 cycles, as polynomials over a tile.
struct Pulse {
  float bin0, bin_x, bin_y, bin_xx, bin_xy, bin_yy;
  unsigned turn0, turn_x, turn_y, turn_xx, turn_xy, turn_yy;
  int first_bin;
};

__device__ unsigned fixed_point(double cycles)
{
  return (unsigned)(long long)rint((cycles - rint(cycles)) * 4294967296.0);
}

// The polynomials about (x, y), the middle of a tile; of the phase about its first pixel.
__device__ Pulse prepare(const double *position, double x, double y)
{
  const double px = position[0], py = position[1], pz = position[2];
  const double ux = x - px, uy = y - py, r = sqrt(ux * ux + uy * uy + pz * pz);
  const double delta = r - sqrt(px * px + py * py + pz * pz), bin = delta * BINS_OF_METRE + BINS / 2;
  const double gx = ux / r * SPACING, gy = uy / r * SPACING, scale = SPACING * SPACING / r;
  const double hxx = (1 - ux * ux / (r * r)) * scale / 2, hxy = -ux * uy / (r * r) * scale;
  const double hyy = (1 - uy * uy / (r * r)) * scale / 2;
  const double mx = (BX - 1) / 2.0, my = (BY * ITEMS - 1) / 2.0;
  const double to_first = hxx * mx * mx + hxy * mx * my + hyy * my * my - gx * mx - gy * my;
  Pulse pulse;
  pulse.first_bin = (int)floor(bin - {{ reach|literal('float64') }}) - 1;
  pulse.bin0 = bin - pulse.first_bin, pulse.bin_x = gx * BINS_OF_METRE, pulse.bin_y = gy * BINS_OF_METRE;
  pulse.bin_xx = hxx * BINS_OF_METRE, pulse.bin_xy = hxy * BINS_OF_METRE, pulse.bin_yy = hyy * BINS_OF_METRE;
  pulse.turn0 = fixed_point(CYCLES * (delta + to_first)) + 0x80000000u;  // half a cycle ahead
  pulse.turn_x = fixed_point(CYCLES * (gx - 2 * hxx * mx - hxy * my));
  pulse.turn_y = fixed_point(CYCLES * (gy - 2 * hyy * my - hxy * mx));
  pulse.turn_xx = fixed_point(CYCLES * hxx), pulse.turn_xy = fixed_point(CYCLES * hxy);
  pulse.turn_yy = fixed_point(CYCLES * hyy);
  return pulse;
}

__global__ __launch_bounds__(THREADS) void backproject(float2 *image, const float2 *data, const double *positions)
{
  __shared__ Pulse stage[STAGE];
  __shared__ float4 windows[STAGE][WINDOW];  // samples, and how they change to the next one
  const int thread = threadIdx.y * BX + threadIdx.x;
  const int column = blockIdx.x * BX + threadIdx.x, row = (blockIdx.y * BY + threadIdx.y) * ITEMS;
  const double tile_x = (blockIdx.x * BX + (BX - 1) / 2.0 - (WIDTH - 1) / 2.0) * SPACING;
  const double tile_y = (blockIdx.y * (BY * ITEMS) + (BY * ITEMS - 1) / 2.0 - (HEIGHT - 1) / 2.0) * SPACING;
  const float x = (int)threadIdx.x - (BX - 1) / 2.0f, y = (int)threadIdx.y * ITEMS - (BY * ITEMS - 1) / 2.0f;
  const unsigned ix = threadIdx.x, iy = threadIdx.y * ITEMS;
  float2 total[ITEMS] = {};
  for (int first = 0; first < PULSES; first += STAGE) {
    const int count = min(STAGE, PULSES - first);
    __syncthreads();
    for (int p = thread; p < count; p += THREADS) stage[p] = prepare(positions + 3 * (first + p), tile_x, tile_y);
    __syncthreads();
    for (int p = thread / 32; p < count; p += THREADS / 32) {
      const float2 *from = data + (size_t)(first + p) * BINS, zero = make_float2(0.0f, 0.0f);
      for (int k = thread % 32; k < WINDOW; k += 32) {
        const unsigned bin = stage[p].first_bin + k;
        const float2 a = bin < BINS ? from[bin] : zero, b = bin + 1 < BINS ? from[bin + 1] : zero;
        windows[p][k] = make_float4(a.x, a.y, b.x - a.x, b.y - a.y);
      }
    }
    __syncthreads();
    for (int p = 0; p < count; ++p) {
      const Pulse pulse = stage[p];
      const float bin_1 = pulse.bin_y + x * pulse.bin_xy, bin_first_1 = bin_1 + 2.0f * y * pulse.bin_yy;
      const float bin_first_0 = pulse.bin0 + x * (pulse.bin_x + x * pulse.bin_xx) + y * (bin_1 + y * pulse.bin_yy);
      const unsigned step_0 = pulse.turn_y + ix * pulse.turn_xy;
      unsigned phase = pulse.turn0 + ix * (pulse.turn_x + ix * pulse.turn_xx) + iy * (step_0 + iy * pulse.turn_yy);
      unsigned step = step_0 + (2 * iy + 1) * pulse.turn_yy;
#pragma unroll
      for (int i = 0; i < ITEMS; ++i) {
        const float bin = bin_first_0 + i * (bin_first_1 + i * pulse.bin_yy), whole = __fadd_rd(bin, MAGIC);
        const float weight = bin - (whole - MAGIC);
        const float4 sample = windows[p][__float_as_int(whole) - __float_as_int(MAGIC)];
        const float ahead = __uint_as_float(phase >> 9 | 0x3f800000u);  // 1 to 2 cycles, half a cycle ahead
        phase += step, step += 2 * pulse.turn_yy;
        float c, s;
        __sincosf(ahead * 6.2831853f - 9.4247780f, &s, &c);
        const float re = sample.x + weight * sample.z, im = sample.y + weight * sample.w;
        total[i].x += re * c, total[i].x -= im * s;
        total[i].y += re * s, total[i].y += im * c;
      }
    }
  }
  for (int i = 0; i < ITEMS; ++i)
    if (column < WIDTH && row + i < HEIGHT) image[(row + i) * WIDTH + column] = total[i];
}
";

/// Range of a place on the ground less that of the origin.
fn range([x, y]: [f64; 2], [px, py, pz]: [f64; 3]) -> f64 {
    (x - px).hypot(y - py).hypot(pz) - px.hypot(py).hypot(pz)
}

/// Places of the antenna: an arc about the scene, as long as makes both resolutions equal.
fn track(pulses: usize) -> Vec<[f64; 3]> {
    let angle = |p: usize| (p as f64 / (pulses - 1) as f64 - 0.5) * (BANDWIDTH / 10e9);
    (0..pulses).map(|p| [40e3 * angle(p).sin(), -40e3 * angle(p).cos(), 20e3]).collect()
}

/// The range-compressed pulse of point targets of amplitude 1.
fn pulse(antenna: [f64; 3], targets: &[[f64; 2]], bins: usize) -> Vec<Complex32> {
    let sample = |bin: usize| {
        let echo = |&target: &[f64; 2]| {
            let offset = range(target, antenna);
            let x = (bin as f64 - (bins / 2) as f64 - offset * BINS_OF_METRE) / BINS_OF_RESOLUTION * (TAU / 2.0);
            Complex64::cis(-TAU * CYCLES_OF_METRE * offset) * if x.abs() < 1e-9 { 1.0 } else { x.sin() / x }
        };
        let sum: Complex64 = targets.iter().map(echo).sum();
        Complex32::new(sum.re as f32, sum.im as f32)
    };
    (0..bins).map(sample).collect()
}

/// One pixel in float64.
fn expected(data: &[Complex32], positions: &[[f64; 3]], bins: usize, at: [f64; 2]) -> Complex64 {
    let of_pulse = |(samples, &antenna): (&[Complex32], &[f64; 3])| {
        let offset = range(at, antenna);
        let bin = offset * BINS_OF_METRE + (bins / 2) as f64;
        let double = |n: usize| Complex64::new(samples[n].re.into(), samples[n].im.into());
        let (a, b) = (double(bin as usize), double(bin as usize + 1));
        (a + (b - a) * bin.fract()) * Complex64::cis(TAU * CYCLES_OF_METRE * offset)
    };
    data.chunks(bins).zip(positions).map(of_pulse).sum()
}

fn image(
    ctx: &Context,
    data: &[Complex32],
    positions: &[[f64; 3]],
    shape: (u32, u32),
) -> anyhow::Result<Vec<Complex32>> {
    let (width, height) = shape;
    let tile = (BLOCK.0, BLOCK.1 * ITEMS);
    let reach = f64::from(tile.0).hypot(tile.1.into()) / 2.0 * SPACING * BINS_OF_METRE;
    let source = Template::new(TEXT)?.render(context! {
        width, height, reach, bins => data.len() / positions.len(), pulses => positions.len(), bx => BLOCK.0,
        by => BLOCK.1, items => ITEMS, stage => STAGE, window => (2.0 * reach).ceil() as u32 + 5,
        spacing => SPACING, cycles => CYCLES_OF_METRE, bins_of_metre => BINS_OF_METRE,
    })?;
    let backproject = ctx.compile_source(&source)?.function("backproject")?;
    let pixels = ctx.zeros::<Complex32>(width as usize * height as usize)?;
    let grid = Grid::new((width.div_ceil(tile.0), height.div_ceil(tile.1)), BLOCK);
    let (data, positions) = (ctx.to_device(data)?, ctx.to_device(positions.as_flattened())?);
    // SAFETY: threads write the pixels of the image, and read bins of the pulses and three numbers of each.
    unsafe { backproject.launch(grid, &[&pixels, &data, &positions])? };
    Ok(pixels.to_vec()?)
}

fn main() -> anyhow::Result<()> {
    let ctx = Context::new()?;
    let (width, height, pulses, bins) = (101_u32, 75_u32, 83, 676);
    let targets = [[0.0, 0.0], [5.2, 3.3], [-7.1, 2.0], [-4.4, -6.2], [8.3, -5.0]];
    let positions = track(pulses);
    let data: Vec<_> = positions.iter().flat_map(|&antenna| pulse(antenna, &targets, bins)).collect();
    let found = image(&ctx, &data, &positions, (width, height))?;

    let (mut signal, mut error) = (0.0, 0.0);
    for at in (0..found.len()).step_by(13) {
        let middle = [f64::from(width - 1) / 2.0, f64::from(height - 1) / 2.0];
        let (column, row) = (at % width as usize, at / width as usize);
        let place = [(column as f64 - middle[0]) * SPACING, (row as f64 - middle[1]) * SPACING];
        let exact = expected(&data, &positions, bins, place);
        signal += exact.norm_sqr();
        error += (Complex64::new(found[at].re.into(), found[at].im.into()) - exact).norm_sqr();
    }
    let ratio = 10.0 * (signal / error).log10();
    println!("device: {}", ctx.device().name()?);
    println!("{pulses} pulses to {width} x {height} pixels: signal to error {ratio:.1} dB");
    anyhow::ensure!(ratio > 101.0, "signal to error is {ratio:.1} dB; expected more than 101");
    let brightest = found.iter().enumerate().max_by(|a, b| a.1.norm().total_cmp(&b.1.norm())).map(|(at, _)| at);
    let (column, row) = brightest.map_or((0, 0), |at| (at % width as usize, at / width as usize));
    println!("the brightest pixel is column {column}, row {row}");
    Ok(())
}

#[test]
fn the_image_is_that_of_float64() {
    main().unwrap();
}
