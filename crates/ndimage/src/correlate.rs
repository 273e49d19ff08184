//! Correlation and convolution with given weights, and filters built from them.

use crate::Mode;
use crate::kernels::{CorrelateSpec, FilterAxis, THREADS, TiledCorrelation, arithmetic};
use rtcg_array::{
    CallKey, GpuArray, Order, PythonTuple, array_args, cached_call, call_hash, is_real, normalize_axes, push_optional,
};
use rtcg_hal::{ArrayError, DType, Result};
use smallvec::SmallVec;

/// How a filter is placed on an image, and what lies beyond its borders.
#[derive(Debug, Clone, Default)]
pub struct FilterOptions<'a> {
    /// The dtype of the result; by default that of the input.
    pub dtype: Option<DType>,
    /// One mode per filtered axis, or one for all; [`Mode::Reflect`] by default.
    pub modes: &'a [Mode],
    /// The value beyond borders for [`Mode::Constant`].
    pub cval: f64,
    /// The displacement of the filter's centre, per filtered axis or for all; 0 by default. Positive numbers move the
    /// filter towards lower indices.
    pub origins: &'a [isize],
    /// The axes to filter; all by default.
    pub axes: Option<&'a [isize]>,
}

/// The value of an axis of `n`, where there is one for all, or one for each.
fn of_axis<T: Copy + Default>(name: &str, values: &[T], i: usize, n: usize) -> Result<T> {
    match values.len() {
        0 => Ok(T::default()),
        1 => Ok(values[0]),
        length if length == n => Ok(values[i]),
        length => {
            Err(ArrayError::value_error(format!("{name} has {length} values; expected 1, or {n}, one for each axis")))
        }
    }
}

impl FilterOptions<'_> {
    fn axes_of(&self, input: &GpuArray) -> Result<Vec<usize>> {
        let Some(axes) = self.axes else { return Ok((0..input.ndim()).collect()) };
        Ok(normalize_axes(axes, input.ndim())?.to_vec())
    }
}

fn require_dtype(dtype: DType) -> Result<DType> {
    if !is_real(dtype) {
        return Err(ArrayError::type_error(format!(
            "the dtype of the output is {dtype}; expected one of real numbers"
        )));
    }
    Ok(dtype)
}

/// Where the weights lie on an image of `ndim` axes.
fn filter_axes(
    ndim: usize,
    weights: &[usize],
    axes: &[usize],
    options: &FilterOptions<'_>,
    is_convolution: bool,
) -> Result<Vec<FilterAxis>> {
    let mut all = vec![FilterAxis { taps: 1, center: 0, mode: Mode::Nearest }; ndim];
    for (i, (&axis, &taps)) in axes.iter().zip(weights).enumerate() {
        let origin = of_axis("origin", options.origins, i, axes.len())?;
        if taps > i32::MAX as usize {
            return Err(ArrayError::value_error(format!(
                "the window has {taps} pixels on axis {axis}; expected at most {}",
                i32::MAX
            )));
        }
        // The middle of a reversed filter of even length is the other one of two.
        let moved = if is_convolution { -origin - isize::from(taps % 2 == 0) } else { origin };
        let center = (taps / 2) as isize + moved;
        if !(0..taps as isize).contains(&center) {
            let (low, high) = (-((taps / 2) as isize), ((taps - 1) / 2) as isize);
            let (low, high) = if is_convolution {
                (-high - isize::from(taps % 2 == 0), -low - isize::from(taps % 2 == 0))
            } else {
                (low, high)
            };
            return Err(ArrayError::value_error(format!(
                "origin is {origin} on axis {axis}; expected an integer from {low} to {high} for weights of length {taps}"
            )));
        }
        all[axis] = FilterAxis { taps, center: center as usize, mode: of_axis("mode", options.modes, i, axes.len())? };
    }
    Ok(all)
}

/// What the sum of neighbours of a pixel is made of.
#[derive(Clone, Copy)]
enum Taps<'a> {
    /// Products with weights, which may be in reverse order.
    Weights { weights: &'a GpuArray, is_reversed: bool },
    /// Neighbours; the sum is divided by their number.
    Mean { divisor: f64 },
}

/// The sum of weighted neighbours of each pixel.
fn launch(input: &GpuArray, taps: Taps<'_>, axes: Vec<FilterAxis>, options: &FilterOptions<'_>) -> Result<GpuArray> {
    let (ctx, dtype) = (input.context(), require_dtype(options.dtype.unwrap_or(input.dtype()))?);
    let out = GpuArray::empty(ctx, input.shape(), dtype, Order::C)?;
    if out.size() == 0 {
        return Ok(out);
    }
    let source = input.to_contiguous()?;
    let sums = arithmetic(input.dtype(), dtype);
    let (weights, is_reversed, divisor) = match taps {
        Taps::Weights { weights, is_reversed } => (Some(weights.to_dtype(sums)?.to_contiguous()?), is_reversed, 1.0),
        Taps::Mean { divisor } => (None, false, divisor),
    };
    let mut args = array_args(&[&out, &source])?;
    push_optional(&mut args, weights.as_ref())?;
    [options.cval, divisor].iter().for_each(|value| args.push_u64(value.to_bits()));
    let types = [input.dtype(), dtype];
    if let Some(tiled) = TiledCorrelation::of(types, &axes, input.shape(), ctx.device_info()) {
        tiled.lengths().iter().for_each(|&n| args.push_u32(n));
        let spec = tiled.spec(weights.is_some(), is_reversed);
        return ctx.launch_grid(&spec, [tiled.blocks(), 1, 1], spec.block(), 0, &args).map(|()| out);
    }
    let spec = CorrelateSpec {
        input: input.dtype(),
        output: dtype,
        is_weighted: weights.is_some(),
        is_reversed,
        is_small: input.size() < 1 << 31,
        axes: if axes.is_empty() { vec![FilterAxis { taps: 1, center: 0, mode: Mode::Nearest }] } else { axes },
    };
    let shape = if input.ndim() == 0 { &[1][..] } else { input.shape() };
    shape.iter().for_each(|&n| args.push_i64(n as i64));
    let blocks = out.size().div_ceil(THREADS as usize).min(ctx.device_info().max_blocks as usize) as u32;
    ctx.launch(&spec, blocks, THREADS, &args)?;
    Ok(out)
}

/// A filter, beside the image and the weights.
#[derive(Debug, PartialEq)]
struct FilterCall {
    dtype: Option<DType>,
    modes: SmallVec<[Mode; 4]>,
    cval: f64,
    origins: SmallVec<[isize; 4]>,
    axes: Option<SmallVec<[isize; 4]>>,
    is_convolution: bool,
}

impl CallKey for FilterCall {
    fn hash_seed(&self) -> usize {
        call_hash((&self.modes, &self.origins, &self.axes, self.is_convolution))
    }
}

fn filter(input: &GpuArray, weights: &GpuArray, options: &FilterOptions<'_>, is_convolution: bool) -> Result<GpuArray> {
    let &FilterOptions { dtype, modes, cval, origins, axes } = options;
    let axes = axes.map(SmallVec::from_slice);
    let call = FilterCall { dtype, modes: modes.into(), cval, origins: origins.into(), axes, is_convolution };
    let compute = || plan_filter(input, weights, options, is_convolution);
    cached_call(input.context(), call, &[input, weights], None, compute)
}

fn plan_filter(
    input: &GpuArray,
    weights: &GpuArray,
    options: &FilterOptions<'_>,
    is_convolution: bool,
) -> Result<GpuArray> {
    input.require_real("input")?;
    weights.require_real("weights")?;
    input.check_context(weights)?;
    let axes = options.axes_of(input)?;
    if weights.ndim() != axes.len() || weights.size() == 0 {
        let shape = PythonTuple(weights.shape());
        return Err(ArrayError::value_error(format!(
            "weights have shape {shape}; expected {} axes, as many as are filtered, and at least one element",
            axes.len()
        )));
    }
    // As C-ordered taps of the image's axes in order, whatever the order of `axes`.
    let mut order: Vec<isize> = (0..axes.len() as isize).collect();
    order.sort_by_key(|&i| axes[i as usize]);
    let taps = weights.transpose(Some(&order))?;
    let on_axes = filter_axes(input.ndim(), weights.shape(), &axes, options, is_convolution)?;
    launch(input, Taps::Weights { weights: &taps, is_reversed: is_convolution }, on_axes, options)
}

/// Computes the weighted sum of each pixel's neighbours: `sum(input[p - n // 2 - origin + i] * weights[i])`. Does not
/// wait.
///
/// `weights` must have one axis per filtered axis. NaN times a weight of 0 is NaN.
///
/// # Errors
/// When elements are not real numbers, `weights` is empty or has another number of axes, or an origin leaves it.
pub fn correlate(input: &GpuArray, weights: &GpuArray, options: &FilterOptions<'_>) -> Result<GpuArray> {
    filter(input, weights, options, false)
}

/// [`correlate`] with the weights in reverse order.
///
/// # Errors
/// As [`correlate`].
pub fn convolve(input: &GpuArray, weights: &GpuArray, options: &FilterOptions<'_>) -> Result<GpuArray> {
    filter(input, weights, options, true)
}

/// [`correlate`] along one axis with one-dimensional weights; ignores the axes of `options`.
///
/// # Errors
/// As [`correlate`].
pub fn correlate1d(input: &GpuArray, weights: &GpuArray, axis: isize, options: &FilterOptions<'_>) -> Result<GpuArray> {
    correlate(input, weights, &FilterOptions { axes: Some(&[axis]), ..options.clone() })
}

/// [`convolve`] along one axis with one-dimensional weights; ignores the axes of `options`.
///
/// # Errors
/// As [`correlate`].
pub fn convolve1d(input: &GpuArray, weights: &GpuArray, axis: isize, options: &FilterOptions<'_>) -> Result<GpuArray> {
    convolve(input, weights, &FilterOptions { axes: Some(&[axis]), ..options.clone() })
}

/// One axis after the other, each from the result of the one before, in the dtype of the result.
fn separable(
    input: &GpuArray,
    options: &FilterOptions<'_>,
    mut step: impl FnMut(&GpuArray, usize, isize, &FilterOptions<'_>) -> Result<Option<GpuArray>>,
) -> Result<GpuArray> {
    input.require_real("input")?;
    let axes = options.axes_of(input)?;
    let mut found: Option<GpuArray> = None;
    for (i, &axis) in axes.iter().enumerate() {
        let modes = [of_axis("mode", options.modes, i, axes.len())?];
        let origins = [of_axis("origin", options.origins, i, axes.len())?];
        let of_axis = FilterOptions { modes: &modes, origins: &origins, ..options.clone() };
        if let Some(next) = step(found.as_ref().unwrap_or(input), i, axis as isize, &of_axis)? {
            found = Some(next);
        }
    }
    match found {
        Some(found) => Ok(found),
        None => input.astype(require_dtype(options.dtype.unwrap_or(input.dtype()))?),
    }
}

/// Computes the mean of windows of `sizes` pixels, given per filtered axis or for all. Does not wait.
///
/// # Errors
/// When elements are not real numbers, a size is 0, or an origin leaves the window.
pub fn uniform_filter(input: &GpuArray, sizes: &[usize], options: &FilterOptions<'_>) -> Result<GpuArray> {
    let n = options.axes_of(input)?.len();
    separable(input, options, |image, i, axis, options| {
        let size = of_axis("size", sizes, i, n)?;
        if size == 0 {
            return Err(ArrayError::value_error("size is 0; expected an integer of at least 1"));
        }
        if size == 1 {
            return Ok(None);
        }
        let on_axes = filter_axes(image.ndim(), &[size], &[axis as usize], options, false)?;
        launch(image, Taps::Mean { divisor: size as f64 }, on_axes, options).map(Some)
    })
}

/// Weights of a Gaussian filter are made on the host.
const MAX_GAUSSIAN_RADIUS: usize = 1 << 24;

/// Applies a Gaussian filter with standard deviations `sigmas`, or its derivatives of `orders`, along one axis after
/// the other. Does not wait.
///
/// `sigmas`, `orders` and `radii` each have one number per filtered axis, or one for all; without `radii` the weights
/// are truncated at `truncate` standard deviations.
///
/// # Errors
/// When elements are not real numbers, a standard deviation or `truncate` is negative or NaN, or a radius is above
/// 2^24.
pub fn gaussian_filter(
    input: &GpuArray,
    sigmas: &[f64],
    orders: &[usize],
    radii: &[usize],
    truncate: f64,
    options: &FilterOptions<'_>,
) -> Result<GpuArray> {
    let n = options.axes_of(input)?.len();
    separable(input, options, |image, i, axis, options| {
        let (sigma, order) = (of_axis("sigma", sigmas, i, n)?, of_axis("order", orders, i, n)?);
        if !(0.0..f64::INFINITY).contains(&sigma) {
            return Err(ArrayError::value_error(format!("sigma is {sigma}; expected a finite number of at least 0")));
        }
        if truncate.is_nan() || truncate < 0.0 {
            return Err(ArrayError::value_error(format!("truncate is {truncate}; expected a number of at least 0")));
        }
        if sigma <= 1e-15 {
            return Ok(None);
        }
        let radius = if radii.is_empty() { (truncate * sigma + 0.5) as usize } else { of_axis("radius", radii, i, n)? };
        if radius > MAX_GAUSSIAN_RADIUS {
            return Err(ArrayError::value_error(format!(
                "the radius is {radius} (truncate * sigma, or radius); expected at most {MAX_GAUSSIAN_RADIUS}"
            )));
        }
        let mut taps = gaussian_taps(sigma, order, radius);
        // Correlation, so that odd derivatives are reversed.
        taps.reverse();
        let weights = GpuArray::empty(image.context(), &[taps.len()], DType::F64, Order::C)?;
        weights.write(&taps.iter().flat_map(|tap| tap.to_ne_bytes()).collect::<Vec<_>>(), Order::C)?;
        correlate1d(image, &weights, axis, options).map(Some)
    })
}

/// A Gaussian with the sum 1 at integers, times the polynomial of its derivative.
fn gaussian_taps(sigma: f64, order: usize, radius: usize) -> Vec<f64> {
    let places: Vec<f64> = (0..=2 * radius).map(|i| i as f64 - radius as f64).collect();
    let density: Vec<f64> = places.iter().map(|x| (-0.5 * x * x / (sigma * sigma)).exp()).collect();
    let sum: f64 = density.iter().sum();
    // (q phi)' = (q' - q x / sigma^2) phi
    let mut polynomial = vec![0.0; order + 1];
    polynomial[0] = 1.0;
    for _ in 0..order {
        let before = polynomial.clone();
        for (i, coefficient) in polynomial.iter_mut().enumerate() {
            let derived = before.get(i + 1).map_or(0.0, |next| next * (i + 1) as f64);
            let shifted = if i > 0 { before[i - 1] / (sigma * sigma) } else { 0.0 };
            *coefficient = derived - shifted;
        }
    }
    let value = |x: f64| polynomial.iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient);
    places.iter().zip(density).map(|(&x, density)| density / sum * value(x)).collect()
}
