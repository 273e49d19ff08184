//! Tests of the compiler that need no device.

mod cases;
mod check;
mod evaluate;
mod stencil;
mod text;
