//! The functions of the [interpolator](super) for eight lanes, as compiled code calls them.

#[cfg(target_arch = "x86_64")]
use super::avx512;

/// Lanes of one call.
pub const LANES: usize = 8;

/// Defines the functions of lanes, each with that of one lane and that of vectors.
macro_rules! lane_functions {
    ($($(#[$doc:meta])+ $name:ident: $element:ty, $of_one:expr, $of_vector:ident;)*) => {
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
                match self {
                    $(LaneFunction::$name => {
                        type Entry = extern "C" fn(&mut [$element; LANES]);
                        extern "C" fn each_lane(lanes: &mut [$element; LANES]) {
                            lanes.iter_mut().for_each(|lane| *lane = $of_one(*lane));
                        }
                        each_lane as Entry as usize
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
        }
    };
}

/// A function of the upper word of a double, whose lower word does not count.
fn of_upper_word(lane: u64, function: impl Fn(u32) -> u32) -> u64 {
    u64::from(function((lane >> 32) as u32)) << 32
}

lane_functions! {
    /// `rcp.approx.f32`
    Rcp: u32, super::rcp, rcp_lanes;
    /// `rcp.approx.ftz.f32`
    RcpFtz: u32, super::rcp_ftz, rcp_ftz_lanes;
    /// `rsqrt.approx.f32`
    Rsqrt: u32, super::rsqrt, rsqrt_lanes;
    /// `rsqrt.approx.ftz.f32`
    RsqrtFtz: u32, super::rsqrt_ftz, rsqrt_ftz_lanes;
    /// `sqrt.approx.f32`
    Sqrt: u32, super::sqrt, sqrt_lanes;
    /// `sqrt.approx.ftz.f32`
    SqrtFtz: u32, super::sqrt_ftz, sqrt_ftz_lanes;
    /// `ex2.approx.f32`
    Ex2: u32, super::ex2, ex2_lanes;
    /// `ex2.approx.ftz.f32`
    Ex2Ftz: u32, super::ex2_ftz, ex2_ftz_lanes;
    /// `lg2.approx.f32`
    Lg2: u32, super::lg2, lg2_lanes;
    /// `lg2.approx.ftz.f32`
    Lg2Ftz: u32, super::lg2_ftz, lg2_ftz_lanes;
    /// `sin.approx.f32`, with and without `.ftz`
    Sin: u32, |a| super::sin_or_cos(a, false), sin_lanes;
    /// `cos.approx.f32`, with and without `.ftz`
    Cos: u32, |a| super::sin_or_cos(a, true), cos_lanes;
    /// `tanh.approx.f32`
    Tanh: u32, super::tanh, tanh_lanes;
    /// `rcp.approx.ftz.f64`
    RcpF64: u64, |a| of_upper_word(a, super::rcp_upper_word), rcp_f64_lanes;
    /// `rsqrt.approx.ftz.f64`
    RsqrtF64: u64, |a| of_upper_word(a, super::rsqrt_upper_word), rsqrt_f64_lanes;
}
