//! The table of what a GPU computed (`tests/recorded/README.md`), and how to run its forms here.
#![allow(dead_code, unreachable_pub, unsafe_code)]

pub mod bounds;
pub mod run;
pub mod table;
