//! Syntax trees of C, CUDA C++ and OpenCL C that print themselves.
//!
//! Nodes have the names of the Python package cgen and print the same text, byte for byte. [`Node::source`] first
//! checks the tree, so that a malformed tree gives an error with the path of the node, and never a wrong program;
//! [`Node::text`] prints without checking. Foreign text is a literal node or [`Expr::raw`].
//!
//! ```
//! use rtcg_cgen::dtype::Dtype::{Float32, Int32};
//! use rtcg_cgen::expr::Expr;
//! use rtcg_cgen::tree::*;
//!
//! let (a, i) = (Expr::var("a", Float32), Expr::var("i", Int32));
//! let double = FunctionBody::new(
//!     Declarator::value("void", "twice").function([Declarator::pod(Float32, "a").pointer()]).cuda_global(),
//!     [
//!         Initializer::new(Declarator::pod(Int32, "i"), "threadIdx.x").into(),
//!         Assign::new(a.clone().index(&i), a.index(&i) * 2.0_f32).into(),
//!     ],
//! );
//! let source = Node::from(double).source().unwrap();
//! assert_eq!(source, "__global__ void twice(float *a)\n{\n  int i = threadIdx.x;\n  a[i] = a[i] * 2.0f;\n}");
//! ```

mod check;
mod declarator;
mod layout;
mod literal_lines;
mod node;
mod print;

pub use check::TreeError;
pub use declarator::{Declarator, Struct, Wrapper};
pub use layout::{Layout, struct_layout};
pub use literal_lines::{literal_lines, split_lines};
pub use node::{
    ArrayInitializer, Assign, Block, Conditional, CustomLoop, DoWhile, Enum, For, FunctionBody, If, Initializer,
    Literal, Node, Position, Start, While,
};

pub use crate::expr::Expr;
