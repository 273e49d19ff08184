//! Vectors in the form that kernels take: checked, contiguous, with their squared lengths.

use crate::kernels::{NormsSpec, THREADS};
use rtcg_array::{GpuArray, Index, Order, PythonTuple, ReduceOptions, ReductionOp, array_args};
use rtcg_hal::{ArrayError, DType, Result};

/// Contiguous vectors, one a row, of float16, float32 or float64.
#[derive(Debug, Clone)]
pub(crate) struct Vectors {
    pub(crate) array: GpuArray,
    /// Squared lengths in float64.
    pub(crate) norms: GpuArray,
    /// The largest squared length, as bits, ~i of the first vector i with a number that is not finite, and how many
    /// vectors a search has noted.
    pub(crate) state: GpuArray,
    /// Whether numbers had another dtype.
    is_converted: bool,
}

/// Points of float16, and what is known of their distances from what they were.
#[derive(Debug, Clone)]
pub(crate) struct Fp16Points {
    pub(crate) vectors: Vectors,
    /// What a sum of products begins with so that it is an upper or a lower bound of a distance, as `round.cuh` has it;
    /// `upper` is a factor where metrics are cosines of float16.
    pub(crate) upper: GpuArray,
    pub(crate) lower: GpuArray,
    /// Sums of coordinates, whose mean is the origin.
    pub(crate) sums: Option<GpuArray>,
}

/// Queries of a part, rounded, with their squared lengths and distances from what they were.
pub(crate) struct Fp16Queries {
    pub(crate) vectors: Vectors,
    pub(crate) lengths: GpuArray,
}

impl Vectors {
    /// Converts vectors; `name` is that of errors. Integers must be those of float64, which waits for those of 64 bits.
    pub(crate) fn new(name: &str, array: &GpuArray, dtype: DType) -> Result<Self> {
        check_exact(name, array)?;
        let is_converted = array.dtype() != dtype;
        let array = array.to_dtype(dtype)?.to_contiguous()?;
        let ctx = array.context().clone();
        let &[count, dimensions] = array.shape() else { return Err(shape_error(name, &array)) };
        if count > i32::MAX as usize {
            return Err(ArrayError::value_error(format!("{name} has {count} vectors; expected at most {}", i32::MAX)));
        }
        let norms = GpuArray::empty(&ctx, &[count], DType::F64, Order::C)?;
        let state = GpuArray::zeros(&ctx, &[3], DType::U64, Order::C)?;
        let made = Self { array, norms, state, is_converted };
        if count == 0 {
            return Ok(made);
        }
        let mut args = array_args(&[&made.norms, &made.state, &made.array])?;
        args.push_u32(count as u32);
        ctx.launch(&NormsSpec { dtype, dimensions }, ctx.device_info().grid_block_count(count), THREADS, &args)?;
        Ok(made)
    }

    /// The same vectors in another array: their squared lengths and state stay.
    pub(crate) fn with_array(&self, array: GpuArray) -> Self {
        Self { array, ..self.clone() }
    }

    /// How many vectors a search has noted, on the device.
    pub(crate) fn noted_count(&self) -> Result<GpuArray> {
        self.state.index(&[Index::Slice(Some(2), None, None)])
    }

    /// Waits, refuses numbers that are not finite, and returns how many vectors a search has noted.
    pub(crate) fn check_finite(&self, name: &str) -> Result<u32> {
        let mut bytes = [0; 24];
        self.state.read(&mut bytes, Order::C)?;
        let [largest, first, noted] = [0, 1, 2].map(|i| u64::from_ne_bytes(bytes.as_chunks().0[i]));
        if first != 0 {
            let beyond =
                if self.is_converted { format!(", or a number beyond {}", self.array.dtype()) } else { String::new() };
            let message = format!("{name}[{}] has NaN or infinity{beyond}; expected finite numbers", !first);
            return Err(ArrayError::value_error(message));
        }
        if f64::from_bits(largest) > 1e307 {
            let length = f64::from_bits(largest).sqrt();
            return Err(ArrayError::value_error(format!(
                "{name} has a vector of length {length:e}; expected at most 1e153"
            )));
        }
        Ok(noted as u32)
    }

    pub(crate) fn count(&self) -> usize {
        self.array.shape()[0]
    }

    pub(crate) fn dimensions(&self) -> usize {
        self.array.shape()[1]
    }
}

fn shape_error(name: &str, array: &GpuArray) -> ArrayError {
    let shape = PythonTuple(array.shape());
    ArrayError::value_error(format!("{name} has shape {shape}; expected two axes, a vector in each row"))
}

/// Refuses integers of 64 bits that float64 may not have. Waits where there are any.
fn check_exact(name: &str, array: &GpuArray) -> Result<()> {
    if !matches!(array.dtype(), DType::I64 | DType::U64) || array.size() == 0 {
        return Ok(());
    }
    for reduction in [ReductionOp::Minimum, ReductionOp::Maximum] {
        let mut bytes = [0; 8];
        array.reduce(reduction, ReduceOptions::default())?.read(&mut bytes, Order::C)?;
        let is_signed = array.dtype() == DType::I64;
        let extreme = if is_signed { i64::from_ne_bytes(bytes).into() } else { i128::from(u64::from_ne_bytes(bytes)) };
        if extreme.unsigned_abs() > 1 << f64::MANTISSA_DIGITS {
            return Err(ArrayError::value_error(format!(
                "{name} has {extreme}; expected integers of at most 2**53, which float64 has exactly"
            )));
        }
    }
    Ok(())
}

/// The dtype in which vectors of a dtype are stored without loss.
pub(crate) fn stored_dtype(name: &str, array: &GpuArray) -> Result<DType> {
    let &[_, dimensions] = array.shape() else { return Err(shape_error(name, array)) };
    if dimensions == 0 {
        return Err(ArrayError::value_error(format!(
            "{name} has shape {}; expected vectors of at least one dimension",
            PythonTuple(array.shape())
        )));
    }
    array.real_float_dtype(name)
}
