//! Sparse matrices and iterative solvers over the arrays of a device.
//!
//! The crate knows no driver: matrices are made of [`GpuArray`]s, kernels are [`rtcg_codegen::KernelSpec`]s, and what a
//! device may or may not have (reads that nobody waits for, graphs) are capabilities of its
//! [`rtcg_array::DeviceRuntime`]. Results do not depend on scheduling: the same bits at every run.
#![forbid(unsafe_code)]

mod cg;
mod csr;
mod dia;
pub mod gallery;
mod kernels;
mod launch;
mod operator;
mod packets;
mod structure;

pub use cg::{CgCallback, CgOptions, CgReport, Preconditioner, SolverMode, StopReason, cg};
pub use csr::{Csr, decisions};
pub use dia::Dia;
pub use operator::LinearOperator;
pub use packets::{HostPackets, HostStructure, PacketPartition, Packets};
pub use structure::{IndexElement, check_structure, order_by_row};

pub(crate) use rtcg_array::{ArrayContext, ArrayError, GpuArray, Result};
