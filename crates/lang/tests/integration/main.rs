//! Tests of the compiler that need no device.

mod check;
mod text;
