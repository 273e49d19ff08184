//! All decisions that the array kernels leave open.

use crate::category::CategoryChoice;
use crate::einsum::{BlockChoice, RouteChoice};
use crate::fft::{FftLengths, FftPassChoice};
use crate::linalg::{
    BisectChoice, DivideChoice, EighMethod, HessenbergChoice, PanelKernel, PanelWidth, ReflectorChoice, RotationChoice,
    SchurChoice, TriangularChoice, TridiagonalChoice, UpdateChoice,
};
use crate::matmul::{MatmulRoute, SimpleChoice, SkinnyChoice, SplitK, TileChoice};
use crate::scan::ScanRoute;
use crate::sort::{RadixChoice, SortRoute};
use rtcg_codegen::block_reduce::ReduceChoice;
use rtcg_codegen::scan::ScanChoice;
use rtcg_hal::tuning::{Decision, Tunable};

/// Lists every decision that the array kernels leave open, by family. The choices that
/// [`rtcg_hal::ArrayContext::install_choices`] installs are asked for each of them that a call meets.
pub fn decisions() -> Vec<&'static Decision> {
    vec![
        MatmulRoute::decision(),
        TileChoice::decision(),
        SplitK::decision(),
        SkinnyChoice::decision(),
        SimpleChoice::decision(),
        RouteChoice::decision(),
        BlockChoice::decision(),
        ReduceChoice::decision(),
        ScanRoute::decision(),
        ScanChoice::decision(),
        SortRoute::decision(),
        RadixChoice::decision(),
        CategoryChoice::decision(),
        FftLengths::decision(),
        FftPassChoice::decision(),
        PanelWidth::decision(),
        PanelKernel::decision(),
        TriangularChoice::decision(),
        UpdateChoice::decision(),
        ReflectorChoice::decision(),
        EighMethod::decision(),
        TridiagonalChoice::decision(),
        BisectChoice::decision(),
        DivideChoice::decision(),
        RotationChoice::decision(),
        HessenbergChoice::decision(),
        SchurChoice::decision(),
    ]
}
