//! Patterns of programs that have kernels of their own.
//!
//! | file | contents |
//! |---|---|
//! | `stencil.rs` | what a stencil is, and how one is found in a program |
//! | `stencil_source.rs` | its kernels |
//! | `stencil_choice.rs` | the choice between them |

mod stencil;
mod stencil_choice;
mod stencil_source;

pub use stencil::{Boundary, Halo, Mismatch, StencilField, StencilModel, find_stencils, match_stencil};
pub use stencil_choice::{StencilChoice, StencilProblem, decisions};
pub use stencil_source::{StencilKernel, StencilLaunch, number_of};
