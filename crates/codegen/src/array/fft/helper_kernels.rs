//! Kernels besides the passes of a Fourier transform: tables of twiddles and chirps, and the conversion of a complex
//! transform of half the length to one of real numbers.

use super::fft_preamble;
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;

/// The task of a helper kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FftHelper {
    /// Twiddles of a stage: for r = 1 to radix - 1 and k below `before`, exp(-2 pi i r k / (before * radix)).
    StageTwiddles,
    /// Twiddles of a long transform, for low and high parts of the exponent.
    TwiddleTable,
    /// The chirp exp(-pi i k^2 / n).
    Chirp,
    /// The conjugate chirp as a convolution filter: centred at zero, and padded with zeros.
    ChirpFilter,
    /// Computes the first half of a real transform from the transform of pairs.
    Untangle,
    /// The inverse of `Untangle`.
    Tangle,
}

/// A kernel, described by everything that determines its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FftHelperKernel {
    /// `C64` or `C128`.
    pub dtype: DType,
    /// Its task.
    pub step: FftHelper,
}

impl FftHelperKernel {
    fn kernel_prologue(&self) -> String {
        let parameters = match self.step {
            FftHelper::StageTwiddles => "C *table, U before, U radix",
            FftHelper::TwiddleTable => "C *table, U n, U bits",
            FftHelper::Chirp => "C *table, U n",
            FftHelper::ChirpFilter => "C *table, U n, U m",
            FftHelper::Untangle => REAL_FFT_UNTANGLE_PARAMETERS,
            FftHelper::Tangle => REAL_FFT_TANGLE_PARAMETERS,
        };
        format!(
            "extern \"C\" __global__ void __launch_bounds__(256) {}({parameters})\n{{\n\
             \x20 const U start = blockIdx.x * 256ull + threadIdx.x, step = gridDim.x * 256ull;\n",
            self.kernel_name()
        )
    }
}

impl KernelSpec for FftHelperKernel {
    fn kernel_name(&self) -> Cow<'static, str> {
        match self.step {
            FftHelper::StageTwiddles => "array_fft_stage_twiddles",
            FftHelper::TwiddleTable => "array_fft_twiddle_table",
            FftHelper::Chirp => "array_fft_chirp",
            FftHelper::ChirpFilter => "array_fft_chirp_filter",
            FftHelper::Untangle => "array_fft_untangle",
            FftHelper::Tangle => "array_fft_tangle",
        }
        .into()
    }

    fn source(&self) -> String {
        let body = match self.step {
            FftHelper::StageTwiddles => STAGE_TWIDDLES_SOURCE,
            FftHelper::TwiddleTable => TWIDDLE_TABLE_SOURCE,
            FftHelper::Chirp => CHIRP_SOURCE,
            FftHelper::ChirpFilter => CHIRP_FILTER_SOURCE,
            FftHelper::Untangle => REAL_FFT_UNTANGLE_SOURCE,
            FftHelper::Tangle => REAL_FFT_TANGLE_SOURCE,
        };
        let root = match self.step {
            FftHelper::Untangle | FftHelper::Tangle => "",
            _ => ROOT_OF_UNITY_SOURCE,
        };
        format!(
            "{}typedef unsigned long long U;\n{root}{}{body}\n}}\n",
            fft_preamble(self.dtype),
            self.kernel_prologue()
        )
    }
}

/// exp(-2 pi i e / n) by an angle of the first quadrant, in double precision.
const ROOT_OF_UNITY_SOURCE: &str = "\
__device__ __forceinline__ C root(U e, U n)
{
  e %= n;
  const bool below = 2 * e > n;
  if (below) e = n - e;
  const bool left = 4 * e > n;
  if (left) e = n - 2 * e;
  // Now the angle is 2 pi e / n, or pi e / n if it was reflected at the imaginary axis.
  double s, c;
  sincospi((left ? 1.0 : 2.0) * ((double)e / (double)n), &s, &c);
  if (left) c = -c;
  return C{(R)c, (R)(below ? s : -s)};
}
";

const STAGE_TWIDDLES_SOURCE: &str = "\
  for (U i = start; i < before * (radix - 1); i += step) table[i] = root((i / before + 1) * (i % before), before * radix);";

const TWIDDLE_TABLE_SOURCE: &str = "\
  const U low = 1ull << bits, all = low + ((n - 1) >> bits) + 1;
  for (U i = start; i < all; i += step) table[i] = root(i < low ? i : (i - low) << bits, n);";

/// Exponents are exact: the square of k modulo 2 n.
const CHIRP_SOURCE: &str = "\
  for (U k = start; k < n; k += step) table[k] = root(k * k % (2 * n), 2 * n);";

const CHIRP_FILTER_SOURCE: &str = "\
  for (U i = start; i < m; i += step) {
    const U k = i < n ? i : m - i;
    C z = C{0, 0};
    if (k < n) {
      z = root(k * k % (2 * n), 2 * n);
      z.y = -z.y;
    }
    table[i] = z;
  }";

/// The transform of `half` pairs and that of as many real numbers lie in arrays of (outer, length, inner).
const REAL_FFT_UNTANGLE_PARAMETERS: &str =
    "const C *__restrict__ in, C *out, const C *__restrict__ twiddles, U half, U outer, U inner, U bits, double scale";

const REAL_FFT_UNTANGLE_SOURCE: &str = "\
  const U some = half / 2 + 1, total = outer * some * inner;
  for (U i = start; i < total; i += step) {
    const U x = i % inner, k = i / inner % some, o = i / inner / some, other = half - k;
    const C a = in[(o * half + k % half) * inner + x], b = in[(o * half + other % half) * inner + x];
    const C even = C{(R)0.5 * (a.x + b.x), (R)0.5 * (a.y - b.y)}, odd = C{(R)0.5 * (a.y + b.y), (R)0.5 * (b.x - a.x)};
    const C twiddled = times(odd, times(twiddles[k & ((1ull << bits) - 1)], twiddles[(1ull << bits) + (k >> bits)]));
    const R by = (R)scale;
    C *const row = out + o * (half + 1) * inner + x;
    row[k * inner] = C{by * (even.x + twiddled.x), by * (even.y + twiddled.y)};
    row[other * inner] = C{by * (even.x - twiddled.x), by * (twiddled.y - even.y)};
  }";

/// What is read has strides in bytes and `limit` elements; elements behind them are zero.
const REAL_FFT_TANGLE_PARAMETERS: &str = "\
const char *__restrict__ in, C *out, const C *__restrict__ twiddles, U half, U outer, U inner, U bits, I outer_stride, I stride, I inner_stride, U limit";

const REAL_FFT_TANGLE_SOURCE: &str = "\
  const U some = half / 2 + 1, total = outer * some * inner;
  for (U i = start; i < total; i += step) {
    const U x = i % inner, k = i / inner % some, o = i / inner / some, other = half - k;
    const char *const from = in + (I)o * outer_stride + (I)x * inner_stride;
    C a = k < limit ? *(const C *)(from + (I)k * stride) : C{0, 0};
    C b = other < limit ? *(const C *)(from + (I)other * stride) : C{0, 0};
    // The first and the last coefficient of real numbers are real.
    if (k == 0) a.y = b.y = 0;
    const C even = C{a.x + b.x, a.y - b.y}, odd = C{a.x - b.x, a.y + b.y};
    C back = times(twiddles[k & ((1ull << bits) - 1)], twiddles[(1ull << bits) + (k >> bits)]);
    back.y = -back.y;
    const C twiddled = times(odd, back);
    C *const row = out + o * half * inner + x;
    row[k % half * inner] = C{even.x - twiddled.y, even.y + twiddled.x};
    if (other != half) row[other * inner] = C{even.x + twiddled.y, twiddled.x - even.y};
  }";
