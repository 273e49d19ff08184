//! Layers of vision models: filter banks, pooling and local normalisation. Images have rows, columns and channels last.

use crate::kernels::{
    BankShape, BankTile, FilterBankSpec, LargeBankSpec, LargeTile, LocalNormSpec, PoolKind, PoolSpec, THREADS,
};
use rtcg_array::{CallKey, GpuArray, Order, PythonTuple, array_args, cached_call, call_hash, check_out};
use rtcg_hal::{ArrayError, DType, DeviceInfo, KernelSpec, Result};

/// Bytes of shared memory that every device has for a block.
const SHARED_BYTES: usize = 48 << 10;
/// Columns of filters beyond which they come in pieces.
const MAX_WHOLE_WIDTH: usize = 64;
/// Pixels of images up to which sizes are arguments of kernels: one that is compiled for them is compiled longer than it
/// runs.
const MAX_SMALL_PIXELS: usize = 64 * 64;
/// Rows of filters that lie in shared memory where images are small.
const SMALL_PIECE_HEIGHT: usize = 8;

/// The lengths of images: how many there are, rows, columns, channels.
fn image_lengths(x: &GpuArray) -> Result<[usize; 4]> {
    let [outer @ .., rows, columns, channels] = x.shape() else {
        let shape = PythonTuple(x.shape());
        return Err(ArrayError::value_error(format!("x has shape {shape}; expected (..., rows, columns, channels)")));
    };
    Ok([outer.iter().product(), *rows, *columns, *channels])
}

/// Whether kernels take sizes as arguments.
fn has_small_images(x: &GpuArray) -> Result<bool> {
    let [_, rows, columns, _] = image_lengths(x)?;
    Ok(rows * columns <= MAX_SMALL_PIXELS)
}

/// Refuses windows that are larger than images.
fn require_fit(x: &GpuArray, what: &str, [height, width]: [usize; 2]) -> Result<()> {
    let [_, rows, columns, _] = image_lengths(x)?;
    if height == 0 || width == 0 || height > rows || width > columns {
        return Err(ArrayError::value_error(format!(
            "{what} is {height} x {width}; expected 1 x 1 to {rows} x {columns}, as x has shape {}",
            PythonTuple(x.shape())
        )));
    }
    Ok(())
}

/// An array for the result of windows, in images of `x`.
fn windows(x: &GpuArray, dtype: DType, [rows, columns, channels]: [usize; 3]) -> Result<GpuArray> {
    let mut shape = x.shape()[..x.ndim() - 3].to_vec();
    shape.extend_from_slice(&[rows, columns, channels]);
    GpuArray::empty(x.context(), &shape, dtype, Order::C)
}

fn bank_tile(
    device: DeviceInfo,
    itemsize: usize,
    taps: [usize; 2],
    channels: usize,
    filters: usize,
    is_small: bool,
) -> BankTile {
    let item = itemsize.max(4);
    let is_simd = device.is_simd_cpu();
    let filters = filters.next_power_of_two().min(if is_simd || item == 8 { 4 } else { 8 }) as u32;
    let (block, pixels) = match (is_simd, is_small) {
        (true, _) => ([16, 4], [4, 1]),
        (false, true) => ([8, 8], [4, 2]),
        (false, false) => ([16, 8], [4, 2]),
    };
    // Few different numbers where images are small, so that there are few kernels.
    let (channels, height) = match is_small {
        true => (if channels == 1 { 1 } else { 4 }, SMALL_PIECE_HEIGHT),
        false => (channels.min(8) as u32, taps[0]),
    };
    let mut tile =
        BankTile { block, pixels, filters, channels, piece: [height, taps[1].min(MAX_WHOLE_WIDTH)].map(|n| n as u32) };
    while shared_bytes(&tile, item) > SHARED_BYTES {
        let BankTile { channels, piece: [height, _], .. } = &mut tile;
        *if *channels > 1 { channels } else { height } = (if *channels > 1 { *channels } else { *height }).div_ceil(2);
    }
    tile
}

fn shared_bytes(tile: &BankTile, item: usize) -> usize {
    let [height, width] = tile.piece;
    let rows = tile.block[1] * tile.pixels[1] + height - 1;
    let columns = (tile.block[0] * tile.pixels[0] + width - 1).next_multiple_of(4);
    (tile.channels * (rows * columns + height * width * tile.filters)) as usize * item
}

/// Correlates images with filters at all positions where a filter fits, and applies `activation` to the sums. Does not
/// wait.
///
/// `x` has the shape `(..., rows, columns, channels)`, `w` `(filters, height, width, channels)`, the result
/// `(..., rows - height + 1, columns - width + 1, filters)`. All sizes are literals in the compiled kernel; for images
/// of up to 4096 pixels, whose kernels would take longer to compile than to run, only the width of the filters is.
/// `activation` is a CUDA C expression of the sum `acc` and the filter's index `f`, such as `"clip(acc, 0, 1)"`; the
/// words `"clip"` and `"relu"` stand for `clip(acc, 0, 1)` and `relu(acc)`. float16 is summed in float32. The result is
/// written to `out` if given.
///
/// # Errors
/// When shapes do not fit, elements are not real numbers, or the expression does not compile.
pub fn filter_bank(x: &GpuArray, w: &GpuArray, activation: Option<&str>, out: Option<&GpuArray>) -> Result<GpuArray> {
    let call = LayerCall::FilterBank(activation.map(str::to_owned));
    cached_call(x.context(), call, &[x, w], out, || plan_filter_bank(x, w, activation, out))
}

/// A layer, beside its images and filters.
#[derive(Debug, PartialEq)]
enum LayerCall {
    FilterBank(Option<String>),
    Pool([usize; 2], [usize; 2], Pool),
    LocalNorm(LocalNorm),
}

impl CallKey for LayerCall {
    fn hash_seed(&self) -> usize {
        match self {
            Self::FilterBank(activation) => call_hash(activation),
            Self::Pool(size, strides, _) => call_hash((size, strides)),
            Self::LocalNorm(options) => call_hash((options.size, options.is_centered)),
        }
    }
}

fn plan_filter_bank(x: &GpuArray, w: &GpuArray, activation: Option<&str>, out: Option<&GpuArray>) -> Result<GpuArray> {
    let dtype = x.real_float_dtype("x")?.promote(w.real_float_dtype("w")?);
    x.check_context(w)?;
    out.map_or(Ok(()), |out| x.check_context(out))?;
    let [images, rows, columns, channels] = image_lengths(x)?;
    let &[filters, height, width, depth] = w.shape() else {
        let shape = PythonTuple(w.shape());
        return Err(ArrayError::value_error(format!(
            "w has shape {shape}; expected (filters, height, width, channels)"
        )));
    };
    if depth != channels {
        return Err(ArrayError::value_error(format!(
            "w has shape {}, {depth} channels; expected {channels}, as x has shape {}",
            PythonTuple(w.shape()),
            PythonTuple(x.shape())
        )));
    }
    require_fit(x, "the size of filters", [height, width])?;
    let activation = match activation.map(str::trim) {
        None => "acc",
        Some("clip") => "clip(acc, 0, 1)",
        Some("relu") => "relu(acc)",
        Some("") => {
            return Err(ArrayError::value_error("activation is empty; expected an expression of `acc` and `f`"));
        }
        Some(expression) => expression,
    };
    let found = windows(x, dtype, [rows - height + 1, columns - width + 1, filters])?;
    out.map_or(Ok(()), |out| check_out(out, found.shape(), dtype))?;
    // Images may be read when parts of the result are there already.
    let is_direct =
        |out: &&GpuArray| out.dtype() == dtype && out.is_contiguous(Order::C) && !out.overlaps(x) && !out.overlaps(w);
    let direct = out.filter(is_direct);
    let target = direct.unwrap_or(&found);
    if found.size() > 0 {
        let [x, w] = [bank_operand(x, dtype)?, bank_operand(w, dtype)?];
        let bank = BankShape { images, image: [rows, columns, channels.max(1)], taps: [height, width], filters };
        launch_bank(&bank, dtype, activation, [target, &x, &w])?;
    }
    match out {
        None => Ok(found),
        Some(out) => {
            if direct.is_none() {
                out.assign(&found)?;
            }
            Ok(out.clone())
        }
    }
}

/// An operand as the kernels of filter banks take it. Without channels it has one of zeros, whose sums are those of
/// nothing, so that the activation is applied to them.
fn bank_operand(array: &GpuArray, dtype: DType) -> Result<GpuArray> {
    match array.shape() {
        [outer @ .., 0] => GpuArray::zeros(array.context(), &[outer, &[1]].concat(), dtype, Order::C),
        _ => array.to_dtype(dtype)?.to_contiguous(),
    }
}

/// Launches the kernel for large images, or the one for all others.
fn launch_bank(bank: &BankShape, dtype: DType, activation: &str, operands: [&GpuArray; 3]) -> Result<()> {
    let &BankShape { images, image: [rows, columns, channels], taps, filters } = bank;
    let (ctx, activation) = (operands[0].context(), activation.into());
    let device = ctx.device_info();
    let mut args = array_args(&operands)?;
    args.push_i64(images as i64);
    let is_small = has_small_images(operands[1])?;
    // Offsets within an image and within filters are integers of 32 bits there.
    let is_large = !is_small && !device.is_simd_cpu() && dtype != DType::F64;
    let is_large = is_large && (rows * columns * channels).max(operands[2].size()) < i32::MAX as usize;
    if let Some(tile) = is_large.then(|| LargeTile::for_bank(bank, device)).flatten() {
        let aligned =
            |array: &GpuArray| 1 << (array.first_element_address() / dtype.itemsize() as u64).trailing_zeros().min(2);
        let aligned = [aligned(operands[1]).min(aligned(operands[2])), aligned(operands[0])];
        let spec = LargeBankSpec { dtype, image: bank.image, taps, filters, activation, tile, aligned };
        let [x, y, layers] = tile.grid(bank);
        let grid = [x as u32, y as u32, layers.min(65535) as u32];
        return ctx.launch_grid(&spec, grid, tile.block, tile.shared_bytes(bank) as u32, &args);
    }
    [rows, columns, channels, taps[0], filters].iter().for_each(|&length| args.push_u32(length as u32));
    let tile = bank_tile(device, dtype.itemsize(), taps, channels, filters, is_small);
    let spec = match is_small {
        true => FilterBankSpec { dtype, image: [0; 3], taps: [0, taps[1]], filters: 0, activation, tile },
        false => FilterBankSpec { dtype, image: bank.image, taps, filters, activation, tile },
    };
    let across = |length: usize, axis: usize| length.div_ceil((tile.block[axis] * tile.pixels[axis]) as usize) as u32;
    let grid = [across(columns - taps[1] + 1, 0), across(rows - taps[0] + 1, 1)];
    let layers = (images * filters.div_ceil(tile.filters as usize)).min(65535) as u32;
    ctx.launch_grid(&spec, [grid[0], grid[1], layers], [tile.block[0], tile.block[1], 1], 0, &args)
}

/// The operation that pools each window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pool {
    /// The largest element; NaN if any element is NaN.
    Max,
    /// `(sum |x|^p)^(1/p)`; for infinity the largest absolute value.
    Norm(f64),
}

fn launch<S: KernelSpec>(spec: &S, out: &GpuArray, x: &GpuArray, numbers: &[u64], threads: usize) -> Result<()> {
    if out.size() == 0 {
        return Ok(());
    }
    let [images, rows, columns, channels] = image_lengths(x)?;
    let mut args = array_args(&[out, x])?;
    numbers.iter().for_each(|&number| args.push_u64(number));
    [images, rows, columns, channels].iter().for_each(|&n| args.push_i64(n as i64));
    let ctx = x.context();
    let blocks = threads.div_ceil(THREADS as usize).min(ctx.device_info().max_blocks as usize) as u32;
    ctx.launch(spec, blocks, THREADS, &args)
}

/// Pools windows of `size` rows and columns of each channel, `strides` apart, where they fit. Does not wait.
///
/// `x` has the shape `(..., rows, columns, channels)`, the result `(..., (rows - size) / stride + 1, ..., channels)`.
///
/// # Errors
/// When a window does not fit, a stride is 0, or the exponent is not above 0.
pub fn pool(x: &GpuArray, size: [usize; 2], strides: [usize; 2], pool: Pool) -> Result<GpuArray> {
    let call = LayerCall::Pool(size, strides, pool);
    cached_call(x.context(), call, &[x], None, || plan_pool(x, size, strides, pool))
}

fn plan_pool(x: &GpuArray, size: [usize; 2], strides: [usize; 2], pool: Pool) -> Result<GpuArray> {
    let dtype = x.real_float_dtype("x")?;
    require_fit(x, "size", size)?;
    if strides.contains(&0) {
        return Err(ArrayError::value_error(format!("strides are {strides:?}; expected integers of at least 1")));
    }
    let kind = match pool {
        Pool::Max => PoolKind::Max,
        Pool::Norm(f64::INFINITY) => PoolKind::LargestMagnitude,
        // A number above 0 stays one in float32.
        Pool::Norm(exponent) if exponent > 0.0 => PoolKind::Norm(exponent.max(f32::MIN_POSITIVE.into()).to_bits()),
        Pool::Norm(exponent) => {
            return Err(ArrayError::value_error(format!("exponent is {exponent}; expected a number above 0")));
        }
    };
    let [_, rows, columns, channels] = image_lengths(x)?;
    let shape = [(rows - size[0]) / strides[0] + 1, (columns - size[1]) / strides[1] + 1, channels];
    let out = windows(x, dtype, shape)?;
    let source = x.to_dtype(dtype)?.to_contiguous()?;
    let spec = match has_small_images(x)? {
        true => PoolSpec { dtype, size: [0; 2], strides: [0; 2], kind },
        false => PoolSpec { dtype, size, strides, kind },
    };
    launch(&spec, &out, &source, &[size, strides].concat().iter().map(|&n| n as u64).collect::<Vec<_>>(), out.size())?;
    Ok(out)
}

/// Options of [`local_norm`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LocalNorm {
    /// Rows and columns of the window.
    pub size: [usize; 2],
    /// Whether the mean of the window is subtracted.
    pub is_centered: bool,
    /// The factor by which pixels are multiplied before the comparison with the threshold.
    pub stretch: f64,
    /// Pixels are divided only by norms above this.
    pub threshold: f64,
}

/// Normalises local contrast: for each window (all channels of `size` rows and columns), the middle pixel less the
/// window's mean, times `stretch`, divided by the window's norm if that is above `threshold`. Does not wait.
///
/// The norm is `stretch` times the square root of the sum of squares of the window less its mean. `x` has the shape
/// `(..., rows, columns, channels)`; there is one result for each position where a window fits. Follows N. Pinto, D.
/// Doukhan, J. J. DiCarlo and D. D. Cox, "A high-throughput screening approach to discovering good forms of
/// biologically inspired visual representation", 2009.
///
/// # Errors
/// When a window does not fit, or numbers are not finite and at least 0.
pub fn local_norm(x: &GpuArray, options: LocalNorm) -> Result<GpuArray> {
    cached_call(x.context(), LayerCall::LocalNorm(options), &[x], None, || plan_local_norm(x, options))
}

fn plan_local_norm(x: &GpuArray, options: LocalNorm) -> Result<GpuArray> {
    let (dtype, LocalNorm { size, is_centered, stretch, threshold }) = (x.real_float_dtype("x")?, options);
    require_fit(x, "size", size)?;
    for (name, value) in [("stretch", stretch), ("threshold", threshold)] {
        if !(0.0..f64::INFINITY).contains(&value) {
            return Err(ArrayError::value_error(format!("{name} is {value}; expected a finite number of at least 0")));
        }
    }
    let [_, rows, columns, channels] = image_lengths(x)?;
    let out = windows(x, dtype, [rows - size[0] + 1, columns - size[1] + 1, channels])?;
    let source = x.to_dtype(dtype)?.to_contiguous()?;
    let numbers = [stretch.to_bits(), threshold.to_bits(), size[0] as u64, size[1] as u64];
    let literal = if has_small_images(x)? { [0; 2] } else { size };
    launch(
        &LocalNormSpec { dtype, size: literal, is_centered },
        &out,
        &source,
        &numbers,
        out.size() / channels.max(1),
    )?;
    Ok(out)
}
