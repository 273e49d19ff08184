//! The functions of the [interpolator](super) for the lanes of a chunk or of a warp, as compiled code calls them.

#[cfg(target_arch = "x86_64")]
use super::avx512;

/// Lanes of a chunk.
pub const LANES: usize = 8;
/// Lanes of a warp.
pub const WARP_LANES: usize = 32;

/// Defines the functions of lanes, each with that of one lane and that of vectors.
macro_rules! lane_functions {
    ($($(#[$doc:meta])+ $name:ident: $element:ty, $of_one:expr, $of_vector:ident $(, $of_warp:ident)?;)*) => {
        /// A function of eight lanes: `extern "C" fn(&mut [u32; 8])`, or of eight doubles `extern "C" fn(&mut [u64; 8])`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum LaneFunction {
            $($(#[$doc])+ $name),*
        }

        impl LaneFunction {
            /// All of them.
            pub const ALL: &[LaneFunction] = &[$(LaneFunction::$name),*];

            /// The address of the version that calls the function of one lane.
            pub fn scalar_address(self) -> usize {
                self.scalar_address_for::<LANES>()
            }

            /// The address of the version for a warp that calls the function of one lane.
            pub fn scalar_warp_address(self) -> usize {
                self.scalar_address_for::<WARP_LANES>()
            }

            fn scalar_address_for<const N: usize>(self) -> usize {
                match self {
                    $(LaneFunction::$name => {
                        extern "C" fn each_lane<const N: usize>(lanes: &mut [$element; N]) {
                            lanes.iter_mut().for_each(|lane| *lane = $of_one(*lane));
                        }
                        let entry: extern "C" fn(&mut [$element; N]) = each_lane::<N>;
                        entry as usize
                    })*
                }
            }

            /// The address of the version with vectors, where the processor has them.
            pub fn vector_address(self) -> Option<usize> {
                #[cfg(target_arch = "x86_64")]
                if avx512::is_available() {
                    return Some(match self {
                        $(LaneFunction::$name => {
                            let entry: unsafe extern "C" fn(&mut [$element; LANES]) = avx512::$of_vector;
                            entry as usize
                        })*
                    });
                }
                None
            }

            /// The address of the version for a warp with vectors, where the processor has them; doubles have none.
            pub fn vector_warp_address(self) -> Option<usize> {
                #[cfg(target_arch = "x86_64")]
                if avx512::is_available() {
                    return match self {
                        $($(LaneFunction::$name => {
                            let entry: unsafe extern "C" fn(&mut [$element; WARP_LANES]) = avx512::$of_warp;
                            Some(entry as usize)
                        })?)*
                        _ => None,
                    };
                }
                None
            }
        }
    };
}

/// A function of the upper word of a double, whose lower word does not count.
fn of_upper_word(lane: u64, function: impl Fn(u32) -> u32) -> u64 {
    u64::from(function((lane >> 32) as u32)) << 32
}

lane_functions! {
    /// `rcp.approx.f32`
    Rcp: u32, super::rcp, rcp_lanes, rcp_warp;
    /// `rcp.approx.ftz.f32`
    RcpFtz: u32, super::rcp_ftz, rcp_ftz_lanes, rcp_ftz_warp;
    /// `rsqrt.approx.f32`
    Rsqrt: u32, super::rsqrt, rsqrt_lanes, rsqrt_warp;
    /// `rsqrt.approx.ftz.f32`
    RsqrtFtz: u32, super::rsqrt_ftz, rsqrt_ftz_lanes, rsqrt_ftz_warp;
    /// `sqrt.approx.f32`
    Sqrt: u32, super::sqrt, sqrt_lanes, sqrt_warp;
    /// `sqrt.approx.ftz.f32`
    SqrtFtz: u32, super::sqrt_ftz, sqrt_ftz_lanes, sqrt_ftz_warp;
    /// `ex2.approx.f32`
    Ex2: u32, super::ex2, ex2_lanes, ex2_warp;
    /// `ex2.approx.ftz.f32`
    Ex2Ftz: u32, super::ex2_ftz, ex2_ftz_lanes, ex2_ftz_warp;
    /// `lg2.approx.f32`
    Lg2: u32, super::lg2, lg2_lanes, lg2_warp;
    /// `lg2.approx.ftz.f32`
    Lg2Ftz: u32, super::lg2_ftz, lg2_ftz_lanes, lg2_ftz_warp;
    /// `sin.approx.f32`, with and without `.ftz`
    Sin: u32, |a| super::sin_or_cos(a, false), sin_lanes, sin_warp;
    /// `cos.approx.f32`, with and without `.ftz`
    Cos: u32, |a| super::sin_or_cos(a, true), cos_lanes, cos_warp;
    /// `tanh.approx.f32`
    Tanh: u32, super::tanh, tanh_lanes, tanh_warp;
    /// `rcp.approx.ftz.f64`
    RcpF64: u64, |a| of_upper_word(a, super::rcp_upper_word), rcp_f64_lanes;
    /// `rsqrt.approx.ftz.f64`
    RsqrtF64: u64, |a| of_upper_word(a, super::rsqrt_upper_word), rsqrt_f64_lanes;
}
