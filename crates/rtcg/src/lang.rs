//! Data-parallel programs, from a syntax tree to kernels: [`rtcg_lang`].

pub use rtcg_lang::*;
