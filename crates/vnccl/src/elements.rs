//! Elements and how they are combined: rank by rank, in the order of ranks, each step rounded to the type.

use half::{bf16, f16};
use rtcg_cuda_sys::nccl::{ncclDataType_t, ncclRedOp_t};
use rtcg_vgpu_softmath::FloatMode;
use rtcg_vgpu_softmath::convert::{e4m3_to_f16, e5m2_to_f16, to_e4m3, to_e5m2};
use rtcg_vgpu_softmath::float::FloatFormat;

/// How the elements of all ranks become one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reduction {
    Sum,
    Prod,
    Max,
    Min,
    /// The sum of integers, divided by the number of ranks. That of floating-point numbers is a [`Self::ScaledSum`].
    Average,
    /// Each rank has a factor of its own, given by its bits: the elements are multiplied, then added.
    ScaledSum(u64),
}

impl Reduction {
    /// That of a built-in operation.
    pub(crate) fn of_operation(op: ncclRedOp_t, dtype: ncclDataType_t, n_ranks: usize) -> Option<Self> {
        Some(match op {
            ncclRedOp_t::ncclSum => Self::Sum,
            ncclRedOp_t::ncclProd => Self::Prod,
            ncclRedOp_t::ncclMax => Self::Max,
            ncclRedOp_t::ncclMin => Self::Min,
            ncclRedOp_t::ncclAvg => match reciprocal_bits(dtype, n_ranks) {
                Some(bits) => Self::ScaledSum(bits),
                None => Self::Average,
            },
            _ => return None,
        })
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Prod => "prod",
            Self::Max => "max",
            Self::Min => "min",
            Self::Average => "avg",
            Self::ScaledSum(_) => "a scaled sum",
        }
    }

    /// Whether ranks that ask for these two ask for the same.
    pub(crate) fn fits(self, other: Self) -> bool {
        self == other || matches!((self, other), (Self::ScaledSum(_), Self::ScaledSum(_)))
    }
}

/// The bits of `1 / n` as a floating-point number of the type.
fn reciprocal_bits(dtype: ncclDataType_t, n: usize) -> Option<u64> {
    let value = 1.0 / n as f64;
    Some(match dtype {
        ncclDataType_t::ncclFloat16 => f16::from_f32(value as f32).to_bits().into(),
        ncclDataType_t::ncclBfloat16 => bf16::from_f32(value as f32).to_bits().into(),
        ncclDataType_t::ncclFloat32 => (value as f32).to_bits().into(),
        ncclDataType_t::ncclFloat64 => value.to_bits(),
        ncclDataType_t::ncclFloat8e4m3 => E4m3::from_half(f16::from_f32(value as f32)).0.into(),
        ncclDataType_t::ncclFloat8e5m2 => E5m2::from_half(f16::from_f32(value as f32)).0.into(),
        _ => return None,
    })
}

trait Element: Copy {
    fn add(self, other: Self) -> Self;
    fn multiply(self, other: Self) -> Self;
    fn maximum(self, other: Self) -> Self;
    fn minimum(self, other: Self) -> Self;
    fn divide(self, n: usize) -> Self;
    fn of_bits(bits: u64) -> Self;
}

macro_rules! integer_elements {
    ($($ty:ty),*) => {$(
        impl Element for $ty {
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn multiply(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            fn maximum(self, other: Self) -> Self {
                self.max(other)
            }
            fn minimum(self, other: Self) -> Self {
                self.min(other)
            }
            fn divide(self, n: usize) -> Self {
                // More ranks than the type has numbers: nothing is left of the sum.
                <$ty>::try_from(n).map_or(0, |n| self / n)
            }
            fn of_bits(bits: u64) -> Self {
                bits as $ty
            }
        }
    )*};
}
integer_elements!(i8, u8, i32, u32, i64, u64);

/// Floating-point numbers, whose steps `$wide` computes exactly enough to be rounded once.
macro_rules! float_elements {
    ($($ty:ty as $wide:ty: $narrow:expr, $widen:expr, $bits:ty;)*) => {$(
        impl Element for $ty {
            fn add(self, other: Self) -> Self {
                $narrow($widen(self) + $widen(other))
            }
            fn multiply(self, other: Self) -> Self {
                $narrow($widen(self) * $widen(other))
            }
            // Of a number and a NaN the number, of two zeros that with the fitting sign, as NCCL on a GPU.
            fn maximum(self, other: Self) -> Self {
                let (a, b) = ($widen(self), $widen(other));
                let is_first = a > b || b.is_nan() || (a == b && a.is_sign_positive());
                if is_first { self } else { other }
            }
            fn minimum(self, other: Self) -> Self {
                let (a, b) = ($widen(self), $widen(other));
                let is_first = a < b || b.is_nan() || (a == b && a.is_sign_negative());
                if is_first { self } else { other }
            }
            fn divide(self, n: usize) -> Self {
                $narrow($widen(self) / n as $wide)
            }
            fn of_bits(bits: u64) -> Self {
                <$ty>::from_bits(bits as $bits)
            }
        }
    )*};
}
float_elements! {
    f32 as f32: std::convert::identity, std::convert::identity, u32;
    f64 as f64: std::convert::identity, std::convert::identity, u64;
    f16 as f32: f16::from_f32, f16::to_f32, u16;
    bf16 as f32: bf16::from_f32, bf16::to_f32, u16;
    E4m3 as f32: |x| E4m3::from_half(f16::from_f32(x)), |x: E4m3| x.to_half().to_f32(), u8;
    E5m2 as f32: |x| E5m2::from_half(f16::from_f32(x)), |x: E5m2| x.to_half().to_f32(), u8;
}

/// Numbers of 8 bits, which are combined in half precision.
macro_rules! eight_bit_floats {
    ($($ty:ident: $from:ident, $to:ident;)*) => {$(
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        struct $ty(u8);

        impl $ty {
            fn from_half(value: f16) -> Self {
                Self($from(FloatFormat::F16, FloatMode::default(), value.to_bits().into()) as u8)
            }
            fn to_half(self) -> f16 {
                f16::from_bits($to(self.0.into()) as u16)
            }
            fn from_bits(bits: u8) -> Self {
                Self(bits)
            }
        }
    )*};
}
eight_bit_floats! {
    E4m3: to_e4m3, e4m3_to_f16;
    E5m2: to_e5m2, e5m2_to_f16;
}

/// One rank's elements, and what it wants done with them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    pub(crate) address: *const u8,
    pub(crate) reduction: Reduction,
}

// SAFETY: an address, which whoever uses it answers for.
unsafe impl Send for Source {}
// SAFETY: as above.
unsafe impl Sync for Source {}

/// Where a result goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Destination(pub(crate) *mut u8);

// SAFETY: an address, which whoever uses it answers for.
unsafe impl Send for Destination {}
// SAFETY: as above.
unsafe impl Sync for Destination {}

/// Below this many bytes of sources one thread does the work.
const MIN_PARALLEL_BYTES: usize = 1 << 20;
/// Elements of a piece, which stays in the nearest cache.
const PIECE_ELEMENTS: usize = 2048;

/// Combines `count` elements of all sources, and stores them to all destinations.
///
/// # Safety
/// All addresses are good for that many elements. A destination may be a source, but does not overlap one otherwise.
pub(crate) unsafe fn combine(dtype: ncclDataType_t, sources: &[Source], destinations: &[Destination], count: usize) {
    use ncclDataType_t as T;
    if count == 0 {
        return;
    }
    // SAFETY: passed on.
    unsafe {
        match dtype {
            T::ncclInt8 => combine_in_parallel::<i8>(sources, destinations, count),
            T::ncclUint8 => combine_in_parallel::<u8>(sources, destinations, count),
            T::ncclInt32 => combine_in_parallel::<i32>(sources, destinations, count),
            T::ncclUint32 => combine_in_parallel::<u32>(sources, destinations, count),
            T::ncclInt64 => combine_in_parallel::<i64>(sources, destinations, count),
            T::ncclUint64 => combine_in_parallel::<u64>(sources, destinations, count),
            T::ncclFloat16 => combine_in_parallel::<f16>(sources, destinations, count),
            T::ncclBfloat16 => combine_in_parallel::<bf16>(sources, destinations, count),
            T::ncclFloat32 => combine_in_parallel::<f32>(sources, destinations, count),
            T::ncclFloat64 => combine_in_parallel::<f64>(sources, destinations, count),
            T::ncclFloat8e4m3 => combine_in_parallel::<E4m3>(sources, destinations, count),
            _ => combine_in_parallel::<E5m2>(sources, destinations, count),
        }
    }
}

unsafe fn combine_in_parallel<T: Element>(sources: &[Source], destinations: &[Destination], count: usize) {
    let bytes = count * size_of::<T>() * sources.len();
    let n_threads = if bytes < MIN_PARALLEL_BYTES {
        1
    } else {
        std::thread::available_parallelism().map_or(1, usize::from).min(bytes / (MIN_PARALLEL_BYTES / 2))
    };
    let share = count.div_ceil(n_threads).next_multiple_of(PIECE_ELEMENTS);
    std::thread::scope(|scope| {
        for begin in (share..count).step_by(share) {
            let end = (begin + share).min(count);
            // SAFETY: the caller answers for the addresses; the pieces are disjoint.
            let work = move || unsafe { combine_range::<T>(sources, destinations, begin, end) };
            if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                // SAFETY: as above.
                unsafe { combine_range::<T>(sources, destinations, begin, end) };
            }
        }
        // SAFETY: as above.
        unsafe { combine_range::<T>(sources, destinations, 0, share.min(count)) };
    });
}

unsafe fn combine_range<T: Element>(sources: &[Source], destinations: &[Destination], begin: usize, end: usize) {
    let Some((first, others)) = sources.split_first() else { return };
    let mut piece: Vec<T> = Vec::with_capacity(PIECE_ELEMENTS);
    for at in (begin..end).step_by(PIECE_ELEMENTS) {
        let n = PIECE_ELEMENTS.min(end - at);
        // SAFETY: in the range of every source, by the contract; C programs may pass unaligned places.
        let load = |source: &Source, i: usize| unsafe { source.address.cast::<T>().add(at + i).read_unaligned() };
        piece.clear();
        match first.reduction {
            Reduction::ScaledSum(bits) => {
                let factor = T::of_bits(bits);
                piece.extend((0..n).map(|i| load(first, i).multiply(factor)));
            }
            _ => piece.extend((0..n).map(|i| load(first, i))),
        }
        for source in others {
            let loaded = (0..n).map(|i| load(source, i));
            match source.reduction {
                Reduction::Sum | Reduction::Average => accumulate(&mut piece, loaded, T::add),
                Reduction::Prod => accumulate(&mut piece, loaded, T::multiply),
                Reduction::Max => accumulate(&mut piece, loaded, T::maximum),
                Reduction::Min => accumulate(&mut piece, loaded, T::minimum),
                Reduction::ScaledSum(bits) => {
                    let factor = T::of_bits(bits);
                    accumulate(&mut piece, loaded, |sum, x| sum.add(x.multiply(factor)));
                }
            }
        }
        if first.reduction == Reduction::Average {
            piece.iter_mut().for_each(|sum| *sum = sum.divide(sources.len()));
        }
        for destination in destinations {
            for (i, value) in piece.iter().enumerate() {
                // SAFETY: as for loads.
                unsafe { destination.0.cast::<T>().add(at + i).write_unaligned(*value) };
            }
        }
    }
}

#[inline]
fn accumulate<T: Copy>(piece: &mut [T], loaded: impl Iterator<Item = T>, step: impl Fn(T, T) -> T) {
    piece.iter_mut().zip(loaded).for_each(|(sum, x)| *sum = step(*sum, x));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn combined<T: Copy + Default>(dtype: ncclDataType_t, op: ncclRedOp_t, ranks: &[Vec<T>]) -> Vec<T> {
        let reduction = Reduction::of_operation(op, dtype, ranks.len()).expect("a built-in operation");
        let source = |rank: &Vec<T>| Source { address: rank.as_ptr().cast(), reduction };
        let sources: Vec<Source> = ranks.iter().map(source).collect();
        let mut result = vec![T::default(); ranks[0].len()];
        let destination = Destination(result.as_mut_ptr().cast());
        // SAFETY: the vectors have that many elements.
        unsafe { combine(dtype, &sources, &[destination], ranks[0].len()) };
        result
    }

    #[test]
    fn ranks_are_combined_in_their_order() {
        // 1 is lost beside 2^24, whatever number of threads shares the work.
        let n = 1_000_003;
        let ranks = [vec![16_777_216_f32; n], vec![1.0; n], vec![-16_777_216.0; n], vec![1.0; n]];
        let sum = combined(ncclDataType_t::ncclFloat32, ncclRedOp_t::ncclSum, &ranks);
        assert!(sum.iter().all(|x| *x == 1.0), "{:?}", &sum[..3]);
    }

    #[test]
    fn averages_of_floats_are_scaled_before_and_those_of_integers_after() {
        let big = combined(ncclDataType_t::ncclFloat32, ncclRedOp_t::ncclAvg, &[vec![f32::MAX], vec![f32::MAX]]);
        assert_eq!(big, [f32::MAX]);
        let wrapped =
            combined(ncclDataType_t::ncclInt32, ncclRedOp_t::ncclAvg, &[vec![-3, i32::MAX], vec![0, i32::MAX]]);
        assert_eq!(wrapped, [-1, -1]);
    }

    /// As NCCL 2.28.9 on two H200.
    #[test]
    fn extremes_of_floats() {
        let ranks = [vec![f32::NAN, 1.0, -0.0, 0.0], vec![1.0, f32::NAN, 0.0, -0.0]];
        let greatest = combined(ncclDataType_t::ncclFloat32, ncclRedOp_t::ncclMax, &ranks);
        assert_eq!(
            greatest.iter().map(|x| x.to_bits()).collect::<Vec<_>>(),
            [1.0_f32, 1.0, 0.0, 0.0].map(f32::to_bits)
        );
        let least = combined(ncclDataType_t::ncclFloat32, ncclRedOp_t::ncclMin, &ranks);
        assert_eq!(least.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), [1.0_f32, 1.0, -0.0, -0.0].map(f32::to_bits));
    }

    #[test]
    fn half_precision_is_rounded_at_each_step() {
        let of = |values: [f32; 3]| values.map(|v| vec![f16::from_f32(v)]);
        let sum = combined(ncclDataType_t::ncclFloat16, ncclRedOp_t::ncclSum, &of([2048.0, 1.0, 1.0]));
        assert_eq!(sum[0].to_f32(), 2048.0);
        let codes = [vec![0x7e_u8], vec![0x7e]];
        assert_eq!(
            combined(ncclDataType_t::ncclFloat8e4m3, ncclRedOp_t::ncclSum, &codes),
            [0x7e],
            "448 is the greatest"
        );
    }

    #[test]
    fn extremes_and_products_of_every_integer() {
        let ranks = [vec![-128_i8, 3], vec![127, 50]];
        assert_eq!(combined(ncclDataType_t::ncclInt8, ncclRedOp_t::ncclMax, &ranks), [127, 50]);
        assert_eq!(combined(ncclDataType_t::ncclInt8, ncclRedOp_t::ncclMin, &ranks), [-128, 3]);
        assert_eq!(combined(ncclDataType_t::ncclInt8, ncclRedOp_t::ncclProd, &ranks), [-128, -106]);
        let large = [vec![u64::MAX], vec![2]];
        assert_eq!(combined(ncclDataType_t::ncclUint64, ncclRedOp_t::ncclSum, &large), [1]);
        assert!(combined::<u64>(ncclDataType_t::ncclUint64, ncclRedOp_t::ncclSum, &[vec![], vec![]]).is_empty());
    }
}
