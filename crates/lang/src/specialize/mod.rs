//! Patterns of programs that have kernels of their own.
//!
//! | file | contents |
//! |---|---|
//! | `stencil.rs` | what a stencil is, and how one is found in a program |
//! | `roll_taps.rs` | many taps of an element as loops |
//! | `stencil_source.rs` | its kernels |
//! | `rolled_source.rs` | their text where taps are loops |
//! | `stencil_choice.rs` | the choice between them |

mod roll_taps;
mod rolled_source;
mod stencil;
mod stencil_choice;
mod stencil_source;

pub use stencil::{Boundary, Halo, Mismatch, StencilField, StencilModel, find_stencils, match_stencil};
pub use stencil_choice::{StencilChoice, StencilProblem, decisions};
pub use stencil_source::{StencilKernel, StencilLaunch, number_of};
