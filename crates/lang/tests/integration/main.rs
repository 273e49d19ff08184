//! Tests of the compiler that need no device.

#[path = "../../../../tests/support/text_files.rs"]
mod text_files;

mod cases;
mod check;
mod evaluate;
mod problem;
mod stencil;
mod text;
